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


KNOT = (
    "t",
    *DenseState._fields,
    "mem",
)  # the data of both ends of every step; "extra" follows if the method has it


class DenseOutput:
    """The solution between the steps of a run; call it with a time or an array of times, s.

    In a step q = q_n exp(theta) with a polynomial theta of degree five that has the values, rates and second
    derivatives of both ends, and v is the velocity of that curve: exact at the ends, with errors O(h^6) in q and
    O(h^5) in v, beside those of the method. vdot is the derivative of the cubic through the v and vdot of both ends,
    O(h^3), lam a straight line, O(h^2).

    Attributes
    ----------
    t_min : float
        The first time; an earlier one raises ValueError.
    t_max : float
        The last time; a later one raises ValueError.
    """

    def __init__(self, model: System, knots: Mapping[str, Array], t_max: float) -> None:
        self._model = model
        self.knots = {name: knots[name] for name in (*KNOT, *({"extra"} & knots.keys()))}
        self.t_min = float(knots["t"][0])
        self.t_max = t_max

    def __call__(self, t: ArrayLike) -> DenseState:
        """The state at any times of the run.

        Parameters
        ----------
        t : array_like, shape (...)
            Times, s.

        Returns
        -------
        DenseState
            With arrays of shape (..., nq), (..., nv), (..., nv) and (..., nc).

        Raises
        ------
        ValueError
            For times outside of the run.
        """
        times = array("t", t)
        found = self.states(times.ravel())
        return DenseState(*(found[part].reshape(*times.shape, found[part].shape[1]) for part in DenseState._fields))

    def states(self, t: Array) -> dict[str, Array]:
        """All parts of the states at some times, by name.

        Parameters
        ----------
        t : ndarray, shape (n,)
            Times, s.

        Returns
        -------
        dict of ndarray
            The parts, "t", and the sizes "h" of the steps in which the times lie.

        Raises
        ------
        ValueError
            For times outside of the run.
        """
        if t.size and not (t.min() >= self.t_min and t.max() <= self.t_max):
            raise ValueError(f"t: times between {self.t_min:g} and {self.t_max:g} expected, got {t}")
        found = _core.interpolate(self._model.core, t, *self.knots.values())
        ends = np.unique(self.knots["t"])
        later = np.searchsorted(ends, t)
        return {**found, "h": np.where(later > 0, ends[later] - ends[later - 1], 0.0)}

    def __repr__(self) -> str:
        return (
            f"<lgint.DenseOutput: t = {self.t_min:g} ... {self.t_max:g}, {np.unique(self.knots['t']).size - 1} steps>"
        )
