"""Mass, centre of mass and moments of inertia of simple parts, and of what is put together from them.

A part stands wherever an array of moments of inertia is expected, so that `inertia=box(...)` works in
`ModelBuilder.add_body`, and its `mass` and `com` are the mass and the position of such a body.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lgint._args import Array, array, number
from lgint._rotation import RotationLike, direction
from lgint._rotation import rotation as rotation_matrix

__all__ = ["Part", "box", "combined", "cylinder", "from_points", "rod", "shifted", "sphere"]


def __dir__() -> list[str]:
    return __all__


@dataclass(frozen=True, eq=False)
class Part:
    """A rigid part in axes of the user's choice, in most cases those of the body that it belongs to.

    Attributes
    ----------
    mass : float
        kg.
    com : ndarray, shape (3,)
        The centre of mass, m.
    inertia : ndarray, shape (3, 3)
        About the centre of mass, kg m^2. `numpy.asarray(part)` is this matrix.
    """

    mass: float
    com: Array
    inertia: Array

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        given: Array = np.array(self.inertia, dtype=dtype)
        return given


def box(mass: float, size: ArrayLike) -> Part:
    """A homogeneous box around the origin.

    Parameters
    ----------
    mass : float
        kg.
    size : array_like, shape (3,)
        Lengths of the edges along x, y and z, not negative, m.

    Returns
    -------
    Part
        The box.

    Raises
    ------
    ValueError
        For a mass that is not positive and lengths that are negative.

    Examples
    --------
    >>> import lgint
    >>> lgint.inertia.box(12.0, (1, 2, 3)).inertia.diagonal()
    array([13., 10.,  5.])
    """
    squares = _lengths("size", size) ** 2
    return _part(mass, np.diag(squares.sum() - squares) / 12)


def cylinder(
    mass: float, radius: float, length: float, *, inner_radius: float = 0.0, axis: ArrayLike = (0.0, 0.0, 1.0)
) -> Part:
    """A homogeneous cylinder, disc or tube around the origin.

    Parameters
    ----------
    mass : float
        kg.
    radius, length : float
        m; a length of 0 gives a disc.
    inner_radius : float
        Of a tube, at most `radius`, m.
    axis : array_like, shape (3,)
        Of the cylinder; need not be of unit length.

    Returns
    -------
    Part
        The cylinder.

    Raises
    ------
    ValueError
        For a mass that is not positive, lengths that are negative, an inner radius beyond the outer one and an axis of
        length zero.
    """
    outer, inner = _radii(radius, inner_radius)
    squares = outer**2 + inner**2
    across = squares / 4 + number("length", length, nonnegative=True) ** 2 / 12
    return _part(mass, _about(direction("axis", axis), squares / 2, across))


def sphere(mass: float, radius: float, *, inner_radius: float = 0.0) -> Part:
    """A homogeneous ball around the origin, or a shell.

    Parameters
    ----------
    mass : float
        kg.
    radius : float
        m.
    inner_radius : float
        Of a shell, at most `radius`, m.

    Returns
    -------
    Part
        The ball or shell.

    Raises
    ------
    ValueError
        For a mass that is not positive, lengths that are negative and an inner radius beyond the outer one.
    """
    outer, inner = _radii(radius, inner_radius)
    # (R^5 - r^5)/(R^3 - r^3) without the common factor R - r
    fifths = sum(outer ** (4 - k) * inner**k for k in range(5))
    thirds = sum(outer ** (2 - k) * inner**k for k in range(3))
    return _part(mass, 0.4 * fifths / thirds * np.eye(3) if outer > 0 else np.zeros((3, 3)))


def rod(mass: float, length: float, *, axis: ArrayLike = (1.0, 0.0, 0.0)) -> Part:
    """A thin homogeneous rod, with the origin in its middle.

    Parameters
    ----------
    mass : float
        kg.
    length : float
        m.
    axis : array_like, shape (3,)
        Of the rod; need not be of unit length.

    Returns
    -------
    Part
        The rod.

    Raises
    ------
    ValueError
        For a mass that is not positive, a negative length and an axis of length zero.
    """
    across = number("length", length, nonnegative=True) ** 2 / 12
    return _part(mass, _about(direction("axis", axis), 0.0, across))


def from_points(masses: ArrayLike, points: ArrayLike) -> Part:
    """Particles that are rigidly connected.

    Parameters
    ----------
    masses : float or array_like, shape (n,)
        Not negative, kg; one number is the mass of each.
    points : array_like, shape (n, 3)
        m.

    Returns
    -------
    Part
        All particles as one part.

    Raises
    ------
    ValueError
        For shapes that do not match, negative masses and masses that are all zero.
    """
    X = array("points", points)
    if X.ndim != 2 or X.shape[1] != 3 or len(X) == 0:
        raise ValueError(f"points: shape (n, 3) expected, got {X.shape}")
    m = np.broadcast_to(array("masses", masses, (), (len(X),)), len(X))
    if not (m >= 0).all() or not m.sum() > 0:
        raise ValueError(f"masses: numbers that are not negative, and not all zero, expected, got {m.tolist()}")
    com = m @ X / m.sum()
    return Part(float(m.sum()), com, _spread(m, X - com))


def shifted(part: Part, by: ArrayLike = (0.0, 0.0, 0.0), rotation: RotationLike | None = None) -> Part:
    """A part turned about the origin, and then moved.

    Parameters
    ----------
    part : Part
        In axes of its own.
    by : array_like, shape (3,)
        Displacement, m.
    rotation : array_like, shape (3, 3), (4,) or (3,), or a SciPy Rotation, optional
        Matrix, unit quaternion (scalar first) or rotation vector (rad).

    Returns
    -------
    Part
        The part in its new place.

    Raises
    ------
    ValueError
        For what is not a part, wrong shapes and an invalid rotation.
    """
    part = _checked("part", part)
    R = np.eye(3) if rotation is None else rotation_matrix("rotation", rotation)
    return replace(part, com=R @ part.com + array("by", by, (3,)), inertia=R @ part.inertia @ R.T)


def combined(*parts: Part) -> Part:
    """Parts that are rigidly connected, all in the same axes: mass, centre of mass and inertia of the whole.

    Parameters
    ----------
    *parts : Part
        One or more.

    Returns
    -------
    Part
        The whole.

    Raises
    ------
    ValueError
        Without parts, and for what is not a part.

    Examples
    --------
    >>> import lgint
    >>> hub = lgint.inertia.cylinder(2.0, radius=0.1, length=0.05)
    >>> blade = lgint.inertia.box(0.5, (0.6, 0.05, 0.01))
    >>> blades = [lgint.inertia.shifted(blade, (x, 0, 0)) for x in (-0.4, 0.4)]
    >>> wheel = lgint.inertia.combined(hub, *blades)
    >>> wheel.mass, wheel.com
    (3.0, array([0., 0., 0.]))
    """
    if not parts:
        raise ValueError("parts: one or more expected, got none")
    checked = [_checked(f"part {i}", part) for i, part in enumerate(parts)]
    points = from_points([part.mass for part in checked], [part.com for part in checked])
    return replace(points, inertia=points.inertia + sum(part.inertia for part in checked))


def _part(mass: float, inertia_per_mass: Array) -> Part:
    """A part around the origin."""
    m = number("mass", mass, positive=True)
    return Part(m, np.zeros(3), m * inertia_per_mass)


def _lengths(name: str, value: ArrayLike) -> Array:
    lengths = array(name, value, (3,))
    if not (lengths >= 0).all():
        raise ValueError(f"{name}: lengths that are not negative expected, got {lengths.tolist()}")
    return lengths


def _radii(radius: float, inner_radius: float) -> tuple[float, float]:
    """The outer and the inner radius."""
    outer, inner = number("radius", radius, nonnegative=True), number("inner_radius", inner_radius, nonnegative=True)
    if inner > outer:
        raise ValueError(f"inner_radius: at most the radius {outer:g} expected, got {inner:g}")
    return outer, inner


def _about(axis: Array, along: float, across: float) -> Array:
    """The matrix with the moment `along` about an axis and `across` about all axes normal to it."""
    return across * np.eye(3) + (along - across) * np.outer(axis, axis)


def _spread(m: Array, X: Array) -> Array:
    """Moments of inertia (3, 3) of particles about the origin."""
    second = np.einsum("p,pi,pj->ij", m, X, X)
    matrix: Array = np.trace(second) * np.eye(3) - second
    return matrix


def _checked(name: str, part: object) -> Part:
    if not isinstance(part, Part):
        raise ValueError(f"{name}: a part of lgint.inertia expected, got {part!r}")
    return part
