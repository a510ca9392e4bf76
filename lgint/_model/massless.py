"""What a singular matrix has to do with a flexible body that has no inertia about an axis, as a line of mass has."""

from __future__ import annotations

from typing import Final

import numpy as np

from lgint import _core
from lgint._model.model import Model
from lgint._model.system import System
from lgint.modal import Modes

NONE: Final = 1e-12  # of the largest moment of inertia


def explain(error: BaseException, model: System) -> None:
    """Adds the axis, and what would help, to the message about a matrix that is singular in such a body's velocity."""
    if not isinstance(error, _core.SingularError) or not isinstance(model, Model):
        return
    for name, body in model.bodies.items():
        if body["modes"] is None or error.report["block"] != body["block"]:
            continue
        moments, axes = np.linalg.eigh(Modes.of(body["modes"], body["mass"]).inertia)
        if moments[0] <= NONE * moments[-1]:
            axis = ", ".join(f"{abs(x):.3g}" if abs(x) < NONE else f"{x:.3g}" for x in axes[:, 0])
            error.args = (
                f"{error}. {name!r} has no inertia about its axis ({axis}): give it some, as section= of "
                "lgint.modal.beam does, or attach it by a joint that holds this rotation",
            )
            return
