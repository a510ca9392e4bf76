"""Trees in minimal coordinates: the start of their joints, and the velocities that follow from it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import numpy as np

from lgint._args import Array
from lgint._build.body import START_TOLERANCE, ZERO, Body, State
from lgint._rotation import cross

TREE_JOINTS: Final = ("revolute", "prismatic")


@dataclass(frozen=True)
class Joint:
    """The joint between a link and its parent, in the start configuration."""

    kind: str
    point: Array  # inertial
    axis: Array  # inertial, unit length
    coordinate: float
    rate: float | None  # None: follows from the velocities of both bodies


@dataclass
class Tree:
    """Coordinates and rates of the joints of one tree, parents first."""

    block: int
    q: list[float] = field(default_factory=list)
    v: list[float] = field(default_factory=list)

    def state(self) -> State:
        """Coordinates and rates of all joints at the start."""
        return (np.array(self.q),), (np.array(self.v),)

    def add(self, body: Body, parent: Body | None, joint: Joint) -> Body:
        """Adds `body` to a link (None: the ground) and returns it with the velocities that its joint allows."""
        rate = _rate(body, joint, parent) if joint.rate is None else joint.rate
        velocity, omega = _follow(body, joint, rate, parent)
        scale = 1 + np.abs(velocity).max() + np.abs(omega).max()
        error = max(np.abs(velocity - body.velocity).max(), np.abs(omega - body.R @ body.omega).max())
        if joint.rate is None and error > START_TOLERANCE * scale:
            raise ValueError(
                f"the velocities of {body.name!r} violate its {joint.kind} joint: with the rate {rate:.6g} its COM "
                f"moves with {velocity} and it turns with {omega} (inertial); or give the rate of the joint"
            )
        self.q.append(joint.coordinate)
        self.v.append(rate)
        return body._replace(velocity=velocity, omega=body.R.T @ omega, reference=None)


def _at_point(body: Body | None, point: Array) -> tuple[Array, Array]:
    """Inertial velocity of a point of a body and its inertial angular velocity; zero if `body` is None."""
    if body is None:
        return ZERO, ZERO
    omega = body.R @ body.omega
    return body.velocity + cross(omega, point - body.x), omega


def _rate(body: Body, joint: Joint, parent: Body | None) -> float:
    """The rate of the joint that follows from the velocities of both bodies."""
    level = 0 if joint.kind == "prismatic" else 1
    return float(joint.axis @ (_at_point(body, joint.point)[level] - _at_point(parent, joint.point)[level]))


def _follow(body: Body, joint: Joint, rate: float, parent: Body | None) -> tuple[Array, Array]:
    """Inertial velocity of the COM and angular velocity, inertial, of a link whose joint has this rate."""
    velocity, omega = _at_point(parent, joint.point)
    if joint.kind == "prismatic":
        velocity = velocity + rate * joint.axis
    else:
        omega = omega + rate * joint.axis
    return velocity + cross(omega, body.x - joint.point), omega
