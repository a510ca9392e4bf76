"""What the message of a failed run says about loops whose joints are misaligned very slightly.

If rows differ by d from what the others imply, their multipliers are of size 1 / d, and round-off of positions changes
them by a part of 1e-16 / d^2: no method finds them where d is about 1e-8.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np

from lgint import _core
from lgint._args import Array
from lgint._model.loops import BARELY, Loop, loops
from lgint._model.model import Model
from lgint._model.system import System

LEAST: Final = 1e-6  # rows with larger remainders are held with several digits
FAILURES: Final = (_core.SingularError, _core.ConvergenceError, _core.StepSizeError)


def explain(error: BaseException, model: System, end: Mapping[str, Array]) -> None:
    """Adds the rows to the message of a run's error, if there are any at its last state, which may be missing."""
    if not isinstance(error, FAILURES) or not isinstance(model, Model) or not len(end["t"]):
        return
    q, v = end["q"][-1], end["v"][-1]
    rows = [row for loop in loops(model.complete) if not loop.is_regular() for row in _held_barely(model, loop, q, v)]
    if rows:
        error.args = (
            f"{error}. Rows that differ by less than {LEAST:g} from what the other joints imply in this state: "
            f"{'; '.join(rows)}. The smaller the difference, the larger the reactions, and at 1e-8 none of their "
            "digits is left: align these joints, misalign them by more, or release rotations",
        )


def _held_barely(model: Model, loop: Loop, q: Array, v: Array) -> list[str]:
    """Names of the rows of a loop that are active at first and nearly depend on others."""
    q, v = loop.part(q, 0), loop.part(v, 1)
    if not np.isfinite(q).all():
        return []
    nearly = set(loop.dependent(q, v, LEAST)) - set(loop.dependent(q, v, BARELY))
    whole = model.complete
    split = loop.split(sorted(nearly))
    return [whole.row_names[whole.rows(joint).start + row] for joint, rows in split.items() for row in rows]
