"""Force laws written in Python, and the part of the builder that takes them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lgint._args import Array
from lgint._build.parts import Ground, Partner, Parts, ground


@dataclass(frozen=True)
class ForceLaw:
    """A function together with its derivatives, None if they are to be taken by differences."""

    function: Callable[..., ArrayLike]
    tangent: Callable[..., Any] | None = None

    def __call__(self, *arguments: Any) -> ArrayLike:
        """What the function says."""
        return self.function(*arguments)


@dataclass(frozen=True)
class TurnedLaw:
    """A law on bodies whose nodes have axes of their own: it sees, and answers in, the axes of the bodies.

    `turns` (..., 3, 3) go from the axes of each body to those of its node.
    """

    law: ForceLaw
    turns: Array

    def __call__(self, t: float, x: Array, R: Array, xdot: Array, omega: Array) -> Array:
        """The wrenches in the axes of the nodes."""
        w = np.array(self.law.function(*self._seen(t, x, R, xdot, omega)), dtype=np.float64)
        w[..., 3:] = np.einsum("...ij,...j->...i", self.turns, w[..., 3:])
        return w

    @property
    def tangent(self) -> Callable[..., Array] | None:
        """The derivatives in the axes of the nodes, if the law has any."""
        return None if self.law.tangent is None else self._tangent

    def _tangent(self, t: float, x: Array, R: Array, xdot: Array, omega: Array) -> Array:
        assert self.law.tangent is not None
        given = np.array(self.law.tangent(*self._seen(t, x, R, xdot, omega)), dtype=np.float64)
        turn = np.eye(given.shape[-1])
        for i, one in enumerate(self.turns.reshape(-1, 3, 3)):
            turn[6 * i + 3 : 6 * i + 6, 6 * i + 3 : 6 * i + 6] = one
        turned: Array = turn @ given @ turn.T
        return turned

    def _seen(self, t: float, x: Array, R: Array, xdot: Array, omega: Array) -> tuple[Any, ...]:
        return t, x, R @ self.turns, xdot, np.einsum("...ji,...j->...i", self.turns, omega)


def _refuse_with(what: str, **arguments: object) -> None:
    for name, value in arguments.items():
        if value is not None:
            raise ValueError(f"{name}: a force law with {what} has no use for it")


class LawBuilder(Parts):
    """The part of `ModelBuilder` that adds force laws."""

    def add_force_law(
        self,
        function: Callable[..., ArrayLike],
        *,
        bodies: Partner | Sequence[Partner] | None = None,
        point: ArrayLike | None = None,
        local_point: ArrayLike | None = None,
        point_a: ArrayLike | None = None,
        point_b: ArrayLike | None = None,
        joint: str | None = None,
        coordinate: str | None = None,
        tangent: Callable[..., Any] | None = None,
        name: str | None = None,
    ) -> str:
        """A force law written in Python, on one or two bodies or in a joint. Runs of the model then hold the GIL.

        Parameters
        ----------
        function : callable
            On bodies: function(t, x, R, xdot, omega) with the inertial positions x and velocities xdot of their COMs
            (or of the points given below), rotations R and body angular velocities; it returns a wrench per body, the
            force at that point in inertial and the moment in body axes. Shapes of one body: (3,), (3, 3), (3,), (3,)
            and (6,); of two: the same behind an axis of length 2. In a joint: function(t, angle, rate), which returns
            the torque about the joint's axis on the second body, or function(t, slide, rate), which returns the force
            along it.
        bodies : str, lgint.ground, or two of them
        point : array_like, shape (3,) or, on two bodies, (2, 3), optional
            Where the law acts, inertial in the start configuration; of two bodies one point for both or one each.
        local_point : array_like, shape (3,), optional
            The same for one body, body-fixed, from the COM.
        point_a, point_b : array_like, shape (3,), optional
            The same for each of two bodies, body-fixed, from the COM (on the ground: inertial).
        joint : str
            A joint that has an angle or a slide.
        coordinate : str, optional
            "angle" or "slide", where the joint has both. Default: the angle if there is one.
        tangent : callable, optional
            The derivatives, for the same arguments. On bodies: (K, D), each (6 n, 6 n), of the wrenches one after the
            other by (dx, dphi) and (dxdot, domega), where dR = R hat(dphi). In a joint: by angle and rate. Default: by
            central differences.
        """
        if (bodies is None) == (joint is None):
            raise ValueError("a force law acts on bodies or in a joint: give one of both")
        law = ForceLaw(function, tangent)
        if joint is not None:
            _refuse_with("joint", point=point, local_point=local_point, point_a=point_a, point_b=point_b)
            return self._joint_force("law", joint, coordinate, name, [], law)
        _refuse_with("bodies", coordinate=coordinate)
        single = isinstance(bodies, (str, Ground))
        if not single and not isinstance(bodies, (list, tuple)):
            raise ValueError(f"bodies of a force law: a body or two of them expected, got {bodies!r}")
        partners: list[Any] = [bodies] if single else list(bodies)  # type: ignore[arg-type]
        if len(partners) not in (1, 2):
            raise ValueError(f"a force law acts on one body or on two, got {len(partners)}")
        first, second = partners[0], partners[-1] if len(partners) == 2 else ground
        name = self._force_name("law", first, second, name)
        if len(partners) == 1:
            _refuse_with("one body", point_a=point_a, point_b=point_b)
            ends = self._attachment(name, first, point, local_point), np.zeros(3)
        else:
            _refuse_with("two bodies", local_point=local_point)
            ends = self._ends(name, first, second, point, point_a, point_b, (3,), (2, 3))
        frames, _ = self._between(first, second, ends)
        self._element("force_law", name, frames, [float(len(partners))], self._turned(law, partners))
        return name

    def _turned(self, law: ForceLaw, partners: list[Any]) -> ForceLaw | TurnedLaw:
        """The law in the axes of the nodes, if these are not the bodies'."""
        found = [getattr(self._bodies.get(self._partner(who)), "reference", None) for who in partners]
        if all(turn is None for turn in found):
            return law
        turns = np.array([np.eye(3) if turn is None else turn for turn in found])
        return TurnedLaw(law, turns if len(turns) > 1 else turns[0])
