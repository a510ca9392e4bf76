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


class LawBuilder(Parts):
    """The part of `ModelBuilder` that adds force laws."""

    def add_force_law(
        self,
        function: Callable[..., ArrayLike],
        *,
        bodies: Partner | Sequence[Partner] | None = None,
        joint: str | None = None,
        tangent: Callable[..., Any] | None = None,
        name: str | None = None,
    ) -> str:
        """A force law written in Python, on one or two bodies or in a joint. Runs of the model then hold the GIL.

        Parameters
        ----------
        function : callable
            On bodies: function(t, x, R, xdot, omega) with the inertial positions x of their COMs, rotations R,
            inertial velocities and body angular velocities; it returns a wrench per body, the force in inertial and
            the moment in body axes. Shapes of one body: (3,), (3, 3), (3,), (3,) and (6,); of two: the same behind an
            axis of length 2. In a joint: function(t, angle, rate), which returns the torque about the joint's axis on
            the second body.
        bodies : str, lgint.ground, or two of them
        joint : str
            A joint that has an angle, or any of a tree (where it slides, the torque is a force).
        tangent : callable, optional
            The derivatives, for the same arguments. On bodies: (K, D), each (6 n, 6 n), of the wrenches one after the
            other by (dx, dphi) and (dxdot, domega), where dR = R hat(dphi). In a joint: by angle and rate. Default: by
            central differences.
        """
        if (bodies is None) == (joint is None):
            raise ValueError("a force law acts on bodies or in a joint: give one of both")
        law = ForceLaw(function, tangent)
        if joint is not None:
            return self._add_joint_law(law, joint, name)
        single = isinstance(bodies, (str, Ground))
        partners: list[Any] = [bodies] if single else list(bodies)  # type: ignore[arg-type]
        if len(partners) not in (1, 2):
            raise ValueError(f"a force law acts on one body or on two, got {len(partners)}")
        first, second = partners[0], partners[-1] if len(partners) == 2 else ground
        name = self._force_name("law", first, second, name)
        frames = self._frame(first, np.zeros(3)), self._frame(second, np.zeros(3))
        self._element("force_law", name, frames, [float(len(partners))], self._turned(law, partners))
        return name

    def _add_joint_law(self, law: ForceLaw, joint: str, name: str | None) -> str:
        row = self._driven(joint)
        name = self._force_name("law", row["first"], row["second"], name)
        if "part" in row:
            self._element("coordinate_law", name, (row["frames"][1],), [], law)
        else:
            triads = self._elements[row["element"]][3][1:19]
            self._element("joint_law", name, tuple(row["frames"]), list(triads), law)
        return name

    def _turned(self, law: ForceLaw, partners: list[Any]) -> ForceLaw | TurnedLaw:
        """The law in the axes of the nodes, if these are not the bodies'."""
        found = [getattr(self._bodies.get(self._partner(who)), "reference", None) for who in partners]
        if all(turn is None for turn in found):
            return law
        turns = np.array([np.eye(3) if turn is None else turn for turn in found])
        return TurnedLaw(law, turns if len(turns) > 1 else turns[0])
