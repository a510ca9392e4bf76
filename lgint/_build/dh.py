"""Serial robots from their Denavit-Hartenberg tables."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from lgint._args import Array, array, choice
from lgint._rotation import RotationLike
from lgint._rotation import rotation as rotation_matrix


class DHLink(NamedTuple):
    """The frame and the joint of a link, in inertial axes."""

    kind: str  # "revolute" or "prismatic"
    point: Array  # of the joint
    axis: Array
    coordinate: float  # of the joint: angle or slide
    origin: Array  # of the link's frame
    rotation: Array  # its axes

    def position(self, com: ArrayLike) -> Array:
        """Inertial position of a point given in the link's frame."""
        position: Array = self.origin + self.rotation @ array("com", com, (3,))
        return position


def dh_links(
    table: ArrayLike,
    *,
    convention: str = "standard",
    joints: str | None = None,
    coordinates: ArrayLike | None = None,
    origin: ArrayLike = (0.0, 0.0, 0.0),
    rotation: RotationLike | None = None,
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
    rotation : array_like, shape (3, 3), (4,) or (3,), or a SciPy Rotation, optional
        From the base frame to inertial axes, as in `add_body`. Default: the identity.

    Returns
    -------
    list of DHLink
        For each link the inertial `rotation` (3, 3) and `origin` (3,) of its frame, and of its joint the `kind`,
        `point` (3,), `axis` (3,) and `coordinate`; `position(com)` is the inertial position of a point of the link.

    Raises
    ------
    ValueError
        For wrong shapes, another convention, and letters other than r and p.

    Examples
    --------
    Two links of a planar arm, with their centres of mass in the middle:

    >>> import lgint
    >>> builder = lgint.ModelBuilder(formulation="minimal")
    >>> before = lgint.ground
    >>> for i, link in enumerate(lgint.dh_links([(0, 0, 0.4, 0), (0, 0, 0.3, 0)])):
    ...     com = link.position((-0.2, 0, 0))
    ...     pose = {"position": com, "rotation": link.rotation}
    ...     body = builder.add_body(f"link{i}", mass=1, inertia=(1, 2, 2), **pose)
    ...     joint = {"axis": link.axis, "angle": link.coordinate}
    ...     name = builder.add_joint(link.kind, before, body, point=link.point, **joint)
    ...     before = body
    >>> builder.build().nq
    2
    """
    rows = array("table", table)
    if rows.ndim != 2 or rows.shape[1] != 4:
        raise ValueError(f"table: rows (theta, d, a, alpha) expected, got shape {rows.shape}")
    choice("convention", convention, ("standard", "modified"))
    kinds = joints or "r" * len(rows)
    if len(kinds) != len(rows) or set(kinds) - {"r", "p"}:
        raise ValueError(f"joints: a letter r or p for each of {len(rows)} rows expected, got {joints!r}")
    q = np.zeros(len(rows)) if coordinates is None else array("coordinates", coordinates, (len(rows),))
    R = np.eye(3) if rotation is None else rotation_matrix("rotation", rotation)
    return _frames(rows, kinds, q, array("origin", origin, (3,)), R, convention == "standard")


def _frames(rows: Array, kinds: str, q: Array, x: Array, R: Array, standard: bool) -> list[DHLink]:
    links = []
    ex, ez = np.eye(3)[0], np.eye(3)[2]
    for (theta, d, a, alpha), kind, coordinate in zip(rows, kinds, q, strict=True):
        slides = kind == "p"
        angle, along = (theta, d + coordinate) if slides else (theta + coordinate, d)
        if not standard:
            x, R = x + a * R[:, 0], R @ _turn(ex, alpha)
        point, axis = x, R[:, 2]
        R = R @ _turn(ez, angle)
        x = x + along * R[:, 2]
        if standard:
            x, R = x + a * R[:, 0], R @ _turn(ex, alpha)
        links.append(DHLink(("revolute", "prismatic")[slides], point, axis, float(coordinate), x, R))
    return links


def _turn(axis: Array, angle: float) -> Array:
    """Rotation matrix (3, 3) about an axis of unit length."""
    x, y, z = axis
    hat = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    rotation: Array = np.eye(3) + np.sin(angle) * hat + 2 * np.sin(angle / 2) ** 2 * (hat @ hat)
    return rotation
