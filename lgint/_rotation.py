"""Conversions between the storages of a rotation, and checks of rotations; quaternions are scalar first."""

import functools
import math
from collections.abc import Iterable
from typing import Any, Final, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lgint import _core
from lgint._args import Array, array, warn

EXACT: Final = 1e-9  # largest error of a quaternion's length or of the entries of R^T R that is accepted
FEW: Final = 10  # from so many rotations on, NumPy's functions check them in less time than Python does
NEAR: Final = 1.001e-5  # error of a quaternion's length up to which it is normalised: 1e-5 and its rounding


class HasMatrix(Protocol):
    """An object that gives its rotation matrix, such as a SciPy Rotation."""

    def as_matrix(self) -> Any: ...


# a rotation matrix (3, 3), a unit quaternion (4,), scalar first, a rotation vector (3,), or a SciPy Rotation
RotationLike: TypeAlias = ArrayLike | HasMatrix


def matrix_of_quaternion(p: Array) -> Array:
    """Rotation matrix (3, 3) of a unit quaternion (4,)."""
    w, x, y, z = p
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def quaternion_of_matrix(R: Array) -> Array:
    """Unit quaternions (..., 4) with w >= 0 of rotation matrices (..., 3, 3), computed from the largest component."""
    d0, d1, d2 = R[..., 0, 0], R[..., 1, 1], R[..., 2, 2]
    # 4 times the outer product p p^T; its row with the largest diagonal entry is normalised
    outer = np.empty((*R.shape[:-2], 4, 4))
    outer[..., 0, 0] = 1 + d0 + d1 + d2
    outer[..., 1, 1] = 1 + d0 - d1 - d2
    outer[..., 2, 2] = 1 - d0 + d1 - d2
    outer[..., 3, 3] = 1 - d0 - d1 + d2
    for i, j, k in ((1, 2, 3), (2, 3, 1), (3, 1, 2)):
        a, b = j - 1, k - 1
        outer[..., 0, i] = outer[..., i, 0] = R[..., b, a] - R[..., a, b]
        outer[..., j, k] = outer[..., k, j] = R[..., a, b] + R[..., b, a]
    largest = np.argmax(np.diagonal(outer, axis1=-2, axis2=-1), axis=-1)
    p = np.take_along_axis(outer, largest[..., None, None], axis=-2)[..., 0, :]
    unit: Array = p / np.linalg.norm(p, axis=-1, keepdims=True)
    return unit * np.where(unit[..., :1] < 0, -1.0, 1.0)


def vector_of_matrix(R: Array) -> Array:
    """Rotation vectors (..., 3) of length <= pi of rotation matrices (..., 3, 3)."""
    p = quaternion_of_matrix(R)
    sine = np.sqrt(np.vecdot(p[..., 1:], p[..., 1:]))
    # the angle divided by the sine of its half, which tends to 2
    factor = np.divide(2 * np.arctan2(sine, p[..., 0]), sine, out=np.full_like(sine, 2.0), where=sine > 0)
    vector: Array = factor[..., None] * p[..., 1:]
    return vector


def angles_of_matrix(R: Array) -> Array:
    """Tait-Bryan angles (..., 3), a, b, c, of R = Rx(a) Ry(b) Rz(c), (..., 3, 3), with |b| <= pi/2."""
    a = np.arctan2(-R[..., 1, 2], R[..., 2, 2])
    b = np.arcsin(np.clip(R[..., 0, 2], -1, 1))
    return np.stack([a, b, np.arctan2(-R[..., 0, 1], R[..., 0, 0])], axis=-1)


def angle_rates(angles: Array, omega: Array) -> Array:
    """Rates (3,) of Tait-Bryan angles (3,) from the angular velocity omega (3,) in the rotated axes."""
    _, b, c = angles
    a_rate = (np.cos(c) * omega[0] - np.sin(c) * omega[1]) / np.cos(b)
    return np.array([a_rate, np.sin(c) * omega[0] + np.cos(c) * omega[1], omega[2] - np.sin(b) * a_rate])


def unit_quaternion(name: str, p: Array) -> Array:
    """The unit quaternion along `p` (4,); warns if its length is only nearly 1, and raises ValueError if it is not."""
    length = float(np.linalg.norm(p))
    if abs(length - 1) <= EXACT:
        return p
    if not abs(length - 1) <= NEAR:
        raise ValueError(f"{name}: a quaternion of unit length expected, got length {length:.9g}")
    warn(f"{name}: a quaternion of length {length:.9g} was normalised")
    unit: Array = p / length
    return unit


def orthogonal(name: str, R: Array) -> Array:
    """Returns `R` (3, 3) if it is a rotation matrix; otherwise a ValueError."""
    defect = float(np.abs(R.T @ R - np.eye(3)).max())
    if not defect <= EXACT or np.linalg.det(R) < 0:
        raise ValueError(
            f"{name}: an orthogonal matrix with determinant 1 expected; R^T R differs from I by {defect:.2g}, and the "
            f"determinant is {np.linalg.det(R):.9g}"
        )
    return R


def valid_rotations(factors: Iterable[tuple[str, int, int, int, int]], q: Array) -> Array:
    """Checks the rotations of all `factors` in q (nq,) and normalises quaternions near unit length; returns q."""
    places = attitudes()
    stored = [(begin + places[kind][0], places[kind][1]) for kind, _, begin, *_ in factors]
    matrices = [first for first, n in stored if n == 9]
    for i in matrices if len(matrices) < FEW else _improper(q, np.array(matrices)):
        if not _rotates(*q[i : i + 9].tolist()):
            orthogonal(f"q[{i}:{i + 9}]", q[i : i + 9].reshape(3, 3))
    quaternions = np.array([first for first, n in stored if n == 4], dtype=int)
    if quaternions.size:
        p = q[quaternions[:, None] + np.arange(4)]
        for i in quaternions[np.abs(np.linalg.norm(p, axis=1) - 1) > EXACT]:
            q[i : i + 4] = unit_quaternion(f"q[{i}:{i + 4}]", q[i : i + 4])
    return q


def _improper(q: Array, matrices: NDArray[np.int_]) -> NDArray[np.int_]:
    """Those indices of `matrices` in q at which no rotation matrix begins."""
    R = q[matrices[:, None] + np.arange(9)].reshape(-1, 3, 3)
    off = np.abs(np.swapaxes(R, 1, 2) @ R - np.eye(3)).max(axis=(1, 2)) > EXACT
    found: NDArray[np.int_] = matrices[off | (np.linalg.det(R) < 0)]
    return found


def _rotates(a: float, b: float, c: float, d: float, e: float, f: float, g: float, h: float, i: float) -> bool:
    """Whether a matrix, by rows, is a rotation; NumPy's functions take ten times as long for one."""
    return (
        abs(a * a + d * d + g * g - 1) <= EXACT
        and abs(b * b + e * e + h * h - 1) <= EXACT
        and abs(c * c + f * f + i * i - 1) <= EXACT
        and abs(a * b + d * e + g * h) <= EXACT
        and abs(a * c + d * f + g * i) <= EXACT
        and abs(b * c + e * f + h * i) <= EXACT
        and a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g) >= 0
    )


@functools.cache
def attitudes() -> dict[str, tuple[int, int]]:
    """For each node kind, the index of the rotation in its coordinates and how many numbers store it."""
    rows = {row["name"]: (row["position"], row["nq"]) for row in _core.NODES}
    return {kind: (3, nq - 3) if position in ("inertial", "body") else (0, nq) for kind, (position, nq) in rows.items()}


def stored(value: object) -> object:
    """The matrix, or matrices, of a SciPy Rotation; other values as they are."""
    return value.as_matrix() if hasattr(value, "as_matrix") else value


def rotation(name: str, value: object) -> Array:
    """A rotation matrix (3, 3) from one, a unit quaternion (4,), a rotation vector (3,) or a SciPy Rotation.

    ValueError if it is not a rotation.
    """
    given = array(name, stored(value), (3, 3), (4,), (3,))
    if given.shape == (3, 3):
        return orthogonal(name, given)
    if given.shape == (3,):
        p = np.append(math.cos(0.5 * norm(given)), 0.5 * np.sinc(0.5 * norm(given) / math.pi) * given)
        return matrix_of_quaternion(p)
    p = unit_quaternion(name, given)
    return matrix_of_quaternion(p / np.linalg.norm(p))


def continuous(p: Array) -> Array:
    """The same rotations, where each quaternion of p (n, ..., 4) has the sign that is closer to its predecessor."""
    signs = np.ones(p.shape[:-1])
    signs[1:] = np.where(np.einsum("...j,...j->...", p[1:], p[:-1]) < 0, -1.0, 1.0)
    return p * np.cumprod(signs, axis=0)[..., None]


def cross(a: Array, b: Array) -> Array:
    """The vector product of two vectors (3,); np.cross takes ten times as long for one pair."""
    (a0, a1, a2), (b0, b1, b2) = a.tolist(), b.tolist()
    return np.array([a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0])


def norm(a: Array) -> float:
    """The length of a vector, as from np.linalg.norm, which takes four times as long for a short one."""
    return math.sqrt(a.dot(a))


def direction(what: str, value: ArrayLike) -> Array:
    vector = array(what, value, (3,))
    length = math.hypot(*vector.tolist())
    if length == 0:
        raise ValueError(f"{what}: a direction expected, got the zero vector")
    return vector / length


def triad_about(e: Array) -> Array:
    """A right-handed triad of columns, the third of which is the unit vector `e`."""
    x, y, z = e.tolist()
    sizes = abs(x), abs(y), abs(z)
    farthest = sizes.index(min(sizes))  # the coordinate axis that is farthest from e gives e1
    a, b, c = ((0.0, z, 0.0 - y), (0.0 - z, 0.0, x), (y, 0.0 - x, 0.0))[farthest]
    length = math.hypot(a, b, c)
    a, b, c = a / length, b / length, c / length
    return np.array([[a, y * c - z * b, x], [b, z * a - x * c, y], [c, x * b - y * a, z]])
