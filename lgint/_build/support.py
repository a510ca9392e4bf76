"""One support as a caller described it: a frame in space, at rest or in a given motion."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from lgint import groups
from lgint._args import Array
from lgint._build.body import Body
from lgint._build.timed import Motion, check_course, check_smooth, motion_in_time, set_kinks
from lgint._model.motion import LEVELS, WIDTH, Displacement, course_of, kinks_of
from lgint._model.record import LoadRow, SupportRow


@dataclass(frozen=True)
class Support:
    """A checked support; `start` is a massless body with its pose at t = 0."""

    start: Body
    row: SupportRow


def support(name: str, position: Array, R: Array, motion: Motion | None, kinks: ArrayLike) -> Support:
    """The support that these arguments of `ModelBuilder.add_support` describe."""
    source: LoadRow = {} if motion is None else motion_in_time(f"motion of {name!r}", motion, 3, WIDTH)
    set_kinks(repr(name), kinks, source)
    levels = np.zeros((LEVELS, WIDTH))
    if source:
        course = Displacement(name, course_of(source), position)
        levels = course(0.0)
        if "pieces" in source:
            check_smooth(f"motion of {name!r}", source["pieces"])
        if "function" in source:
            check_course(f"motion of {name!r}", course, jumps=False)
    (d, psi), (velocity, rate) = levels[0].reshape(2, 3), levels[1].reshape(2, 3)
    omega = R.T @ groups.so3.tangent(psi) @ rate
    turned = groups.so3.exp(psi) @ R
    start = Body(name, 0.0, np.zeros((3, 3)), position + d, turned, velocity, omega, "R3xSO3", None)
    if len(source.get("pieces", ())) == 1 and not levels[1:].any():
        position, R, source = start.x, start.R, {}  # it is at rest there
    row: SupportRow = {
        "position": position.tolist(),
        "rotation": R.tolist(),
        "motion": source or None,
        "kinks": kinks_of(source),
    }
    return Support(start, row)
