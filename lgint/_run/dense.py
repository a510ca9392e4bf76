"""Dense output: the solution at any time of a run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from lgint import _core
from lgint._args import Array, array
from lgint._model.model import System


class DenseState(NamedTuple):
    """The solution at one time, or at many, which then are the first axes."""

    q: Array
    """Coordinates (..., nq)."""
    v: Array
    """Velocities (..., nv)."""
    vdot: Array
    """Accelerations (..., nv)."""
    lam: Array
    """Multipliers (..., nc)."""


KNOT = ("t", *DenseState._fields)  # what is kept of both ends of every step


class DenseOutput:
    """The solution between the steps of a run; call it with a time or an array of times, s.

    In a step q = q_n exp(theta) with a polynomial theta of degree five that has the values, rates and second
    derivatives of both ends, and v is the velocity of that curve: exact at the ends, with errors O(h^6) in q and
    O(h^5) in v, beside those of the method. vdot is the derivative of the cubic through the v and vdot of both ends,
    O(h^3), lam a straight line, O(h^2).

    Attributes
    ----------
    t_min, t_max : float
        Times outside of this interval raise ValueError.
    """

    def __init__(self, model: System, knots: Mapping[str, Array], t_max: float) -> None:
        self._model = model
        self.knots = {name: knots[name] for name in KNOT}
        self.t_min = float(knots["t"][0])
        self.t_max = t_max

    def __call__(self, t: ArrayLike) -> DenseState:
        """The state at times `t` (...)."""
        times = array("t", t)
        flat = times.ravel()
        if flat.size and not (flat.min() >= self.t_min and flat.max() <= self.t_max):
            raise ValueError(f"t: times between {self.t_min:g} and {self.t_max:g} expected, got {t!r}")
        found = _core.interpolate(self._model.core, flat, *self.knots.values())
        return DenseState(*(values.reshape(*times.shape, values.shape[1]) for values in found))

    def __repr__(self) -> str:
        return (
            f"<lgint.DenseOutput: t = {self.t_min:g} ... {self.t_max:g}, {np.unique(self.knots['t']).size - 1} steps>"
        )
