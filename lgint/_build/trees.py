"""Trees in minimal coordinates: the start of their joints, and the velocities that follow from it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple, cast

import numpy as np

from lgint._args import Array, largest
from lgint._build.body import IDENTITY, START_TOLERANCE, ZERO, Body, State, states
from lgint._model.joints import TREE_JOINTS, single_motions, turns_as_node
from lgint._rotation import cross


class Joint(NamedTuple):
    """The joint between a link and its parent, in the start configuration."""

    kind: str
    point: Array  # inertial
    triad: Array  # inertial, e1, e2, e3 as columns; of a spherical or free joint the axes of the link
    coordinate: float  # about e3, or along it if that is its only coordinate
    rates: Array | None  # of all coordinates; None: they follow from the velocities of both bodies

    @property
    def motions(self) -> list[tuple[bool, Array]]:
        """Whether each coordinate slides, and its axis."""
        return [(motion == "slide", self.triad[:, axis]) for motion, axis in TREE_JOINTS[self.kind]]

    def start(self) -> list[float]:
        """The coordinates at the start."""
        if turns_as_node(self.kind):
            return [0.0] * single_motions(self.kind) + cast(list[float], IDENTITY.ravel().tolist())
        return [0.0] * (len(TREE_JOINTS[self.kind]) - 1) + [self.coordinate]


@dataclass
class Tree:
    """The root of a tree, if that is a body, and coordinates and rates of its joints, parents first."""

    block: int
    root: Body | None = None
    q: list[float] = field(default_factory=list)
    v: list[float] = field(default_factory=list)

    def state(self) -> State:
        """Coordinates and rates of the root and of all joints at the start."""
        q, v = next(states([self.root])) if self.root else ((), ())
        return (*q, np.array(self.q)), (*v, np.array(self.v))

    def add(self, body: Body, parent: Body | None, joint: Joint) -> Body:
        """Adds `body` to a link (None: the ground) and returns it with the velocities that its joint allows."""
        if joint.rates is None and body.stands and (parent is None or parent.stands):
            self.q += joint.start()
            self.v += [0.0] * len(TREE_JOINTS[joint.kind])
            return body if body.reference is None else body._replace(reference=None)
        at_parent = _at_point(parent, joint.point)
        rates = _rates(body, joint, at_parent) if joint.rates is None else joint.rates
        velocity, omega = _follow(body, joint, rates, at_parent)
        if joint.rates is None:
            _check(body, joint, rates, velocity, omega)
        self.q += joint.start()
        self.v += rates.tolist()
        return body._replace(velocity=velocity, omega=body.R.T @ omega, reference=None)


def _at_point(body: Body | None, point: Array) -> tuple[Array, Array]:
    """Inertial velocity of a point of a body and its inertial angular velocity; zero if `body` is None."""
    if body is None:
        return ZERO, ZERO
    omega = body.R @ body.omega
    return body.velocity + cross(omega, point - body.x), omega


def _rates(body: Body, joint: Joint, at_parent: tuple[Array, Array]) -> Array:
    """The rates of the joint that follow from the velocities of both bodies."""
    velocity, omega = _at_point(body, joint.point)
    slide, turn = velocity - at_parent[0], omega - at_parent[1]
    return np.array([axis @ (slide if slides else turn) for slides, axis in joint.motions])


def _follow(body: Body, joint: Joint, rates: Array, at_parent: tuple[Array, Array]) -> tuple[Array, Array]:
    """Inertial velocity of the COM and angular velocity, inertial, of a link whose joint has these rates."""
    velocity, omega = at_parent
    for rate, (slides, axis) in zip(rates, joint.motions, strict=True):
        if slides:
            velocity = velocity + rate * axis
        else:
            omega = omega + rate * axis
    return velocity + cross(omega, body.x - joint.point), omega


def _check(body: Body, joint: Joint, rates: Array, velocity: Array, omega: Array) -> None:
    """A ValueError if the velocities that a caller gave to a body are not those that its joint allows."""
    scale = 1 + largest(velocity) + largest(omega)
    error = max(largest(velocity - body.velocity), largest(omega - body.R @ body.omega))
    if error > START_TOLERANCE * scale:
        given = f"rate {rates[0]:.6g}" if len(rates) == 1 else f"rates {rates}"
        raise ValueError(
            f"the velocities of {body.name!r} violate its {joint.kind} joint: with the {given} its COM "
            f"moves with {velocity} and it turns with {omega} (inertial); or give the rate of the joint"
        )
