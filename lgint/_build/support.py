"""One support as a caller described it: a frame in space, at rest or in a given motion."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from lgint import groups
from lgint._args import Array, array
from lgint._build.body import Body
from lgint._model.motion import LEVELS, WIDTH, Displacement, Spline
from lgint._model.record import LoadRow, SupportRow

Motion = Callable[[float], ArrayLike] | tuple[ArrayLike, ArrayLike]
STEP: Final = 1e-5  # s, of the differences against which the derivatives of a motion are compared
AGREEMENT: Final = 1e-3


@dataclass(frozen=True)
class Support:
    """A checked support; `start` is a massless body with its pose at t = 0."""

    start: Body
    row: SupportRow


def support(name: str, position: Array, R: Array, motion: Motion | None, kinks: ArrayLike) -> Support:
    """The support that these arguments of `ModelBuilder.add_support` describe."""
    times = array(f"kinks of {name!r}", kinks).ravel().tolist()
    source: LoadRow | None = None
    levels = np.zeros((LEVELS, WIDTH))
    if motion is not None:
        source = _source(name, motion)
        function = motion if callable(motion) else Spline(source["times"], source["values"])
        if not times and "times" in source:
            times = source["times"]
        levels = Displacement(name, function, position)(0.0)
        if callable(motion):
            check_rates(f"motion of {name!r}", Displacement(name, motion, position))
    (d, psi), (velocity, rate) = levels[0].reshape(2, 3), levels[1].reshape(2, 3)
    omega = R.T @ groups.so3.tangent(psi) @ rate
    turned = groups.so3.exp(psi) @ R
    start = Body(name, 0.0, np.zeros((3, 3)), position + d, turned, velocity, omega, "R3xSO3", None)
    row: SupportRow = {"position": position.tolist(), "rotation": R.tolist(), "motion": source, "kinks": times}
    return Support(start, row)


def _source(name: str, motion: Motion) -> LoadRow:
    """The record of a motion: a function or a table."""
    if callable(motion):
        return {"function": motion}
    if not isinstance(motion, Sequence) or len(motion) != 2:
        raise ValueError(f"motion of {name!r}: a function of time or a table (times, values) expected, got {motion!r}")
    times = array(f"times of the motion of {name!r}", motion[0])
    if times.ndim != 1 or len(times) < 2 or not (np.diff(times) > 0).all():
        raise ValueError(f"times of the motion of {name!r}: at least two, ascending, expected, got {motion[0]!r}")
    shapes = (len(times), 3), (len(times), WIDTH)
    return {"times": times.tolist(), "values": array(f"values of the motion of {name!r}", motion[1], *shapes).tolist()}


def check_rates(what: str, motion: Callable[[float], Array], first: float = STEP) -> None:
    """ValueError if, just after `first`, the second and third row of a motion are not derivatives of the first."""
    # differences are one-sided, as a motion may begin at t = 0
    start, end = motion(first), motion(first + STEP)
    for level, word in ((1, "velocity"), (2, "acceleration")):
        given = 0.5 * (start[level] + end[level])
        found = (end[level - 1] - start[level - 1]) / STEP
        if np.abs(found - given).max() > AGREEMENT * (1 + np.abs(given).max()):
            raise ValueError(
                f"{what}: rows (value, rate, second rate) expected; near t = {round(first, 4):g} the {word} is "
                f"{given}, and by differences it is {found}"
            )
