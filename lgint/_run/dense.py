"""Dense output: the solution at any time of a run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from lgint import _core
from lgint._args import Array, array
from lgint._model.system import System

LATER = ("vdot", "lam")  # parts of a state that are computed when they are read
KNOT = ("t", "q", "v", *LATER, "mem")  # the data of both ends of every step
OWN = frozenset(("extra", "curve", "derivatives"))  # further ones, if the run has them


class DenseState(Sequence[Array]):
    """The solution at one time or at an array of times, whose axes come first. It unpacks into q, v, vdot and lam.

    vdot and lam are computed when one of them is read for the first time.

    Attributes
    ----------
    q : ndarray, shape (..., nq)
        Coordinates.
    v : ndarray, shape (..., nv)
        Velocities.
    vdot : ndarray, shape (..., nv)
        Accelerations.
    lam : ndarray, shape (..., nc)
        Multipliers.
    """

    _fields = ("q", "v", *LATER)

    def __init__(self, q: Array, v: Array, later: Callable[[], Sequence[Array]]) -> None:
        self.q = q
        self.v = v
        self._later = later

    @cached_property
    def _rest(self) -> Sequence[Array]:
        return self._later()

    @property
    def vdot(self) -> Array:
        """Accelerations (..., nv)."""
        return self._rest[0]

    @property
    def lam(self) -> Array:
        """Multipliers (..., nc)."""
        return self._rest[1]

    def __len__(self) -> int:
        return len(self._fields)

    def __getitem__(self, index):  # type: ignore[no-untyped-def]
        return (self.q, self.v, self.vdot, self.lam)[index]

    def __repr__(self) -> str:
        return f"DenseState({', '.join(f'{name}={getattr(self, name)!r}' for name in self._fields)})"


class DenseOutput:
    """The solution at any time of a run; call it with a time or an array of times, s.

    Within a step q = q_n exp(theta), where theta is the polynomial of degree five with the values and the first and
    second derivatives at both ends, and v is the velocity of that curve. They are exact at the ends; in between they
    add errors O(h^6) in q and O(h^5) in v to those of the method. With explicit methods vdot and lam solve the index-1
    equations at this q and v, with errors O(h^5); they are computed when they are read. With implicit and
    energy-momentum methods they are interpolated, because their steps pass over vibrations that no interpolation can
    follow: vdot is the derivative of the cubic through v and vdot at both ends, O(h^3), and lam is linear, O(h^2).
    "dop853" has a curve of its own, with errors O(h^8) in q, v, vdot and lam.

    Runs create it; with `index_1=False` vdot and lam are interpolated.

    Attributes
    ----------
    t_min : float
        The first time; an earlier one raises ValueError.
    t_max : float
        The last time; a later one raises ValueError.
    """

    def __init__(self, model: System, knots: Mapping[str, Array], t_max: float, *, index_1: bool = False) -> None:
        self._model = model
        self._index_1 = index_1
        self.knots = {name: knots[name] for name in (*KNOT, *sorted(OWN & knots.keys()))}
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
            For times outside the run.
        """
        times = array("t", t)
        found = self.states(times.ravel())

        def shaped(values: Array) -> Array:
            return values.reshape(*times.shape, values.shape[1])

        def later() -> Sequence[Array]:
            rest = self.later(times.ravel())
            return [shaped(rest[name]) for name in LATER]

        return DenseState(shaped(found["q"]), shaped(found["v"]), later)

    def states(self, t: ArrayLike) -> dict[str, Array]:
        """The parts of the states at the given times, by name, except those that `later` gives.

        Parameters
        ----------
        t : array_like, shape (n,) or ()
            Times, s.

        Returns
        -------
        dict of ndarray
            The parts, "t", and the sizes "h" of the steps in which the times lie.

        Raises
        ------
        ValueError
            For times outside the run.
        """
        times = self._times(t)
        found = self._found(times, index_1=False)
        ends = np.unique(self.knots["t"])
        step = np.searchsorted(ends, times)
        found["h"] = np.where(step > 0, ends[step] - ends[step - 1], 0.0)
        return {name: values for name, values in found.items() if name not in LATER}

    def later(self, t: ArrayLike) -> dict[str, Array]:
        """Accelerations and multipliers at the given times within the run.

        Parameters
        ----------
        t : array_like, shape (n,) or ()
            Times, s.

        Returns
        -------
        dict of ndarray
            "vdot" and "lam".
        """
        found = self._found(self._times(t), index_1=self._index_1)
        return {name: found[name] for name in LATER}

    def _times(self, t: ArrayLike) -> Array:
        """Times (n,) within the run."""
        times = np.atleast_1d(array("t", t))
        if times.ndim != 1:
            raise ValueError(f"t: times of shape (n,) expected, got {times.shape}")
        if times.size and not (times.min() >= self.t_min and times.max() <= self.t_max):
            raise ValueError(f"t: times between {self.t_min:g} and {self.t_max:g} expected, got {times}")
        return times

    def _found(self, t: Array, *, index_1: bool) -> dict[str, Array]:
        known = self.knots
        ends, q, v, vdot, lam, mem = (known[name] for name in KNOT)
        own = known.get("extra"), known.get("curve")
        return _core.interpolate(self._model.core, t, ends, q, v, vdot, lam, mem, *own, index_1)

    def __repr__(self) -> str:
        return (
            f"<lgint.DenseOutput: t = {self.t_min:g} ... {self.t_max:g}, {np.unique(self.knots['t']).size - 1} steps>"
        )


def moved_parts(sol: DenseOutput, model: System, knots: Mapping[str, Array], t: Array) -> dict[str, Array]:
    """All parts of the states that a run gives with another model and other ends of its steps."""
    other = DenseOutput(model, knots, sol.t_max, index_1=sol._index_1)
    return other._found(t, index_1=sol._index_1)
