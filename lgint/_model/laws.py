"""Wrappers of a model's Python functions for the core: force laws, and loads and laws in the axes of a body's node."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from lgint import _core
from lgint._args import Array, takes_one


@dataclass(frozen=True)
class ForceLaw:
    """A force law: a function, and a function for its derivatives, or None for differences."""

    function: Callable[..., ArrayLike]
    tangent: Callable[..., Any] | None = None

    @property
    def of_state(self) -> bool:
        """Whether the functions are called with a `State`."""
        return takes_one(self.function)


class Moment(NamedTuple):
    """What an `Instant` of the core has, with arrays of its own."""

    t: float
    q: Array
    v: Array
    mem: Array | None
    age: float = 0.0
    theta: Array | None = None


class StateMaker:
    """Makes the states with which the functions of a model are called inside its evaluations.

    A model enters the function `of` that makes them, since it is younger than its core.
    """

    of: Callable[[_core.Instant], Any]

    def __call__(self, at: _core.Instant) -> Any:
        """The state."""
        return self.of(at)


@dataclass(frozen=True)
class ReadTangent:
    """The tangent of a control, whose values may depend on some velocities and their displacements alone."""

    name: str
    tangent: Callable[..., Any]
    reads: tuple[int, ...]

    def __call__(self, state: Any) -> Any:
        """The derivatives, after a check."""
        given = np.asarray(self.tangent(state), dtype=np.float64)
        rest = np.delete(given, [i for i in self.reads if i < given.shape[-1]], axis=-1) if given.ndim else given
        if given.ndim == 3 and rest.any():
            raise ValueError(
                f"tangent of control {self.name!r}: derivatives that are not zero by velocities which `reads` does not "
                "name; leave out `reads`, or name all on which the control depends"
            )
        return given


@dataclass(frozen=True)
class TurnedLaw:
    """A law in body axes, for bodies whose nodes have other axes.

    `turns` (..., 3, 3) take vectors from the axes of each body to those of its node.
    """

    law: ForceLaw
    turns: Array

    @property
    def of_state(self) -> bool:
        """Whether the functions are called with a `State`."""
        return self.law.of_state

    def __call__(self, *at: Any) -> Array:
        """The wrenches in the axes of the nodes."""
        w = np.array(self.law.function(*self._seen(at)), dtype=np.float64)
        w[..., 3:] = np.einsum("...ij,...j->...i", self.turns, w[..., 3:])
        return w

    @property
    def tangent(self) -> Callable[..., Array] | None:
        """The derivatives in the axes of the nodes, if the law has any."""
        return None if self.law.tangent is None else self._tangent

    def _tangent(self, *at: Any) -> Array:
        assert self.law.tangent is not None
        given = np.array(self.law.tangent(*self._seen(at)), dtype=np.float64)
        turn = np.eye(given.shape[-1])
        for i, one in enumerate(self.turns.reshape(-1, 3, 3)):
            turn[6 * i + 3 : 6 * i + 6, 6 * i + 3 : 6 * i + 6] = one
        turned: Array = turn @ given @ turn.T
        return turned

    def _seen(self, at: tuple[Any, ...]) -> tuple[Any, ...]:
        """The arguments in body axes; those of a state are in body axes anyway."""
        if len(at) == 1:
            return at
        t, x, R, xdot, omega = at
        return t, x, R @ self.turns, xdot, np.einsum("...ji,...j->...i", self.turns, omega)


@dataclass(frozen=True)
class TurnedLoad:
    """A load as a function of time, whose vectors are turned to the axes of the node."""

    load: Callable[[float], ArrayLike]
    turn: Array

    def __call__(self, t: float) -> Array:
        """The vector at a time."""
        turned: Array = self.turn @ np.asarray(self.load(t), dtype=np.float64)
        return turned


@dataclass(frozen=True)
class StrainLaw:
    """The reference strain, a function of time, of an edge whose first strains are constrained.

    The function returns (3, 6), the strain and its first two derivatives, or (6,) if the reference of the constrained
    strains is always that of t = 0.
    """

    edge: str
    strain: Callable[[float], ArrayLike]
    constrained: int  # number of constrained strains

    def __call__(self, t: float) -> Array:
        """Strain and its first two derivatives at a time, (3, 6)."""
        given = np.asarray(self.strain(t), dtype=np.float64)
        if given.shape == (3, 6):
            return given
        if given.shape != (6,):
            raise ValueError(
                f"reference_strain of edge {self.edge!r}: a function that returns the strain, shape (6,), or the "
                f"strain and its first two derivatives, (3, 6), expected; at t = {t:g} the shape is {given.shape}"
            )
        if not np.array_equal(given[: self.constrained], self._held):
            raise ValueError(
                "a reference strain that changes constrained strains must also return its first two derivatives: "
                f"shape (3, 6) expected, got {given} at t = {t:g}"
            )
        return np.array([given, 0 * given, 0 * given])

    @cached_property
    def _held(self) -> Array:
        return np.asarray(self.strain(0.0), dtype=np.float64)[: self.constrained]
