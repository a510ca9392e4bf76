"""Trees in minimal coordinates: what a builder collects of their links; Denavit-Hartenberg tables."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from lgint._args import Array, array, choice
from lgint._build.bodies import Body

MINIMAL: Final = "minimal"
TREE_JOINTS: Final = ("revolute", "prismatic")
START_TOLERANCE: Final = 1e-8


@dataclass(frozen=True)
class Joint:
    """The joint by which a link hangs on its parent, in the start configuration."""

    kind: str
    point: Array  # inertial
    axis: Array  # inertial, unit length
    coordinate: float
    rate: float | None  # None: what the velocities of both bodies say


@dataclass
class Tree:
    """The links of one tree, parents first, and where it stands in the model."""

    name: str
    block: int
    element: int
    bodies: list[Body] = field(default_factory=list)  # their pivots are the joints' points
    parameters: list[float] = field(default_factory=list)
    q: list[float] = field(default_factory=list)
    v: list[float] = field(default_factory=list)

    @property
    def node(self) -> str:
        """Node kind of the block."""
        return "Rn"

    @property
    def n(self) -> int:
        """Its dimension."""
        return len(self.q)

    def state(self) -> tuple[Array, Array]:
        """Coordinates and rates of all joints at the start."""
        return np.array(self.q), np.array(self.v)

    def add(self, body: Body, parent: int, joint: Joint) -> Body:
        """Hangs `body` on link `parent` (-1: the ground) and returns it with the velocities that follow."""
        R, origin, motion = self._parent(parent)
        slides = joint.kind == "prismatic"
        rate = _rate(body, joint, motion) if joint.rate is None else joint.rate
        velocity, omega = _follow(body, joint, rate, motion)
        scale = 1 + np.abs(velocity).max() + np.abs(omega).max()
        if (
            joint.rate is None
            and max(np.abs(velocity - body.velocity).max(), np.abs(omega - body.R @ body.omega).max())
            > START_TOLERANCE * scale
        ):
            raise ValueError(
                f"the velocities of {body.name!r} violate its {joint.kind} joint: with the rate {rate:.6g} its COM "
                f"moves with {velocity} and it turns with {omega} (inertial); or give the joint's rate"
            )

        # pose at the coordinate zero
        R0 = body.R if slides else turn(joint.axis, -joint.coordinate) @ body.R
        point = joint.point - joint.coordinate * joint.axis if slides else joint.point
        body = replace(body, pivot=joint.point, velocity=velocity, omega=body.R.T @ omega, reference=None)
        six = body.inertia[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]
        pieces = ((R.T @ R0).ravel(), R.T @ (point - origin), body.R.T @ joint.axis, (body.mass,), body.com, six)
        self.parameters += [float(parent), float(slides), *np.concatenate(pieces).tolist()]
        self.bodies.append(body)
        self.q.append(joint.coordinate)
        self.v.append(rate)
        return body

    def _parent(self, parent: int) -> tuple[Array, Array, Body | None]:
        if parent < 0:
            return np.eye(3), np.zeros(3), None
        body = self.bodies[parent]
        assert body.pivot is not None
        return body.R, body.pivot, body


def _at_point(body: Body | None, point: Array) -> tuple[Array, Array]:
    """Inertial velocity of a body's point and its angular velocity, inertial; of the ground if there is none."""
    if body is None:
        return np.zeros(3), np.zeros(3)
    omega = body.R @ body.omega
    return body.velocity + np.cross(omega, point - body.x), omega


def _rate(body: Body, joint: Joint, parent: Body | None) -> float:
    """The rate of the joint that the velocities of both bodies tell."""
    level = 0 if joint.kind == "prismatic" else 1
    return float(joint.axis @ (_at_point(body, joint.point)[level] - _at_point(parent, joint.point)[level]))


def _follow(body: Body, joint: Joint, rate: float, parent: Body | None) -> tuple[Array, Array]:
    """Inertial velocity of the COM and angular velocity, inertial, of a link whose joint has this rate."""
    velocity, omega = _at_point(parent, joint.point)
    if joint.kind == "prismatic":
        velocity = velocity + rate * joint.axis
    else:
        omega = omega + rate * joint.axis
    return velocity + np.cross(omega, body.x - joint.point), omega


def turn(axis: Array, angle: float) -> Array:
    """Rotation matrix (3, 3) about an axis of unit length."""
    x, y, z = axis
    hat = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    rotation: Array = np.eye(3) + np.sin(angle) * hat + 2 * np.sin(angle / 2) ** 2 * (hat @ hat)
    return rotation


# ---- Denavit-Hartenberg ----


class DHLink(NamedTuple):
    """A link's frame and its joint, inertial."""

    kind: str  # "revolute" or "prismatic"
    point: Array  # of the joint
    axis: Array
    coordinate: float  # of the joint: angle or slide
    origin: Array  # of the link's frame
    rotation: Array  # its axes

    def position(self, com: ArrayLike) -> Array:
        """Inertial place of a point given in the link's frame."""
        place: Array = self.origin + self.rotation @ array("com", com, (3,))
        return place


def dh_links(
    table: ArrayLike,
    *,
    convention: str = "standard",
    joints: str | None = None,
    coordinates: ArrayLike | None = None,
    origin: ArrayLike = (0.0, 0.0, 0.0),
    rotation: ArrayLike | None = None,
) -> list[DHLink]:
    """The frames and joints of a serial robot from its Denavit-Hartenberg table, ready for `add_body` and `add_joint`.

    Parameters
    ----------
    table : array_like, shape (n, 4)
        Rows (theta, d, a, alpha), rad and m. The joint's coordinate is added to theta, or to d where it slides.
    convention : str
        "standard": a link's frame follows from the one before by Rz(theta) Tz(d) Tx(a) Rx(alpha), its joint is about
        the z axis before. "modified" (Craig): by Rx(alpha) Tx(a) Rz(theta) Tz(d), its joint is about its own z axis.
    joints : str, optional
        A letter per joint, "r" or "p". Default: all revolute.
    coordinates : array_like, shape (n,), optional
        Of the joints. Default: zero.
    origin : array_like, shape (3,)
        Of the base frame.
    rotation : array_like, shape (3, 3), optional
        From the base frame to inertial axes. Default: the identity.

    Examples
    --------
    >>> before = lgint.ground
    >>> for i, link in enumerate(lgint.dh_links(table)):
    ...     name = builder.add_body(f"link{i}", position=link.position(com[i]), rotation=link.rotation, ...)
    ...     builder.add_joint(link.kind, before, name, point=link.point, axis=link.axis, angle=link.coordinate)
    ...     before = name
    """
    rows = array("table", table)
    if rows.ndim != 2 or rows.shape[1] != 4:
        raise ValueError(f"table: rows (theta, d, a, alpha) expected, got shape {rows.shape}")
    choice("convention", convention, ("standard", "modified"))
    kinds = joints or "r" * len(rows)
    if len(kinds) != len(rows) or set(kinds) - {"r", "p"}:
        raise ValueError(f"joints: a letter r or p for each of {len(rows)} rows expected, got {joints!r}")
    q = np.zeros(len(rows)) if coordinates is None else array("coordinates", coordinates, (len(rows),))
    R = np.eye(3) if rotation is None else array("rotation", rotation, (3, 3))
    return _frames(rows, kinds, q, array("origin", origin, (3,)), R, convention == "standard")


def _frames(rows: Array, kinds: str, q: Array, x: Array, R: Array, standard: bool) -> list[DHLink]:
    links = []
    ex, ez = np.eye(3)[0], np.eye(3)[2]
    for (theta, d, a, alpha), kind, coordinate in zip(rows, kinds, q, strict=True):
        slides = kind == "p"
        angle, along = (theta, d + coordinate) if slides else (theta + coordinate, d)
        if not standard:
            x, R = x + a * R[:, 0], R @ turn(ex, alpha)
        point, axis = x, R[:, 2]
        R = R @ turn(ez, angle)
        x = x + along * R[:, 2]
        if standard:
            x, R = x + a * R[:, 0], R @ turn(ex, alpha)
        links.append(DHLink(("revolute", "prismatic")[slides], point, axis, float(coordinate), x, R))
    return links
