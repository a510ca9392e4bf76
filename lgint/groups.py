"""The Lie groups of the library and their operations, on single elements or on whole batches.

======== ====================== ============================= ======================================================
group    element                algebra vector v              meaning
======== ====================== ============================= ======================================================
so3      (..., 3, 3)            (..., 3) rotation vector      rotation matrices
s3       (..., 4)               (..., 3) rotation vector      unit quaternions, scalar first (w, x, y, z)
se3      (..., 4, 4)            (..., 6) = (U, Omega)         rigid motions [R, x; 0, 1]
s3r3     (..., 7) = (x, quat)   (..., 6) = (U, Omega)         the same motions, stored as position and quaternion
r3xso3   (..., 12) = (x, R)     (..., 6) = (u, Omega)         direct product, R row by row
r3xs3    (..., 7) = (x, quat)   (..., 6) = (u, Omega)         direct product with quaternions
======== ====================== ============================= ======================================================

Angles are in radians. Omega is in body axes; the linear part is in body axes for the semidirect products (U) and in
inertial axes for the direct ones (u). Everything is left-trivialised: g' = g hat(v).

Inputs are anything that NumPy turns into real numbers; leading axes broadcast against each other; NaN in gives NaN
out. A wrong shape raises ValueError, and numbers that are not real raise TypeError; both name the argument. Elements
are not checked: a matrix that is not orthogonal or a quaternion that is not of unit length gives a meaningless result.

Sources: holzinger2024 (direct products, App. A), tumiotto2024 (quaternions and semidirect products, Sect. 2.3).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lgint import _core

__all__ = ["Group", "RotationVector", "r3xs3", "r3xso3", "rotvec", "s3", "s3r3", "se3", "so3"]


def __dir__() -> list[str]:
    return __all__


Array = NDArray[np.float64]


def _real(name: str, value: ArrayLike, shape: tuple[int, ...]) -> Array:
    """`value` as float64, whose last axes must have the given shape."""
    try:
        given = np.asarray(value)
    except ValueError as error:
        raise ValueError(f"{name}: shape {_batch(shape)} expected, got a ragged sequence") from error
    if given.dtype.kind not in "biuf":
        raise TypeError(f"{name}: real numbers expected, got {given.dtype}")
    if given.ndim < len(shape) or given.shape[given.ndim - len(shape) :] != shape:
        raise ValueError(f"{name}: shape {_batch(shape)} expected, got {given.shape}")
    return given.astype(np.float64, copy=False)


def _batch(shape: tuple[int, ...]) -> str:
    return f"(..., {', '.join(map(str, shape))})"


def _apply(
    operation: str,
    arguments: dict[str, tuple[ArrayLike, tuple[int, ...]]],
    core: tuple[int, ...],
    out: Array | None,
) -> Array:
    """Checks the arguments {name: (value, shape of one)} and calls the gufunc; `core` is the shape of one result."""
    values = {name: _real(name, value, shape) for name, (value, shape) in arguments.items()}
    batches = [value.shape[: value.ndim - len(arguments[name][1])] for name, value in values.items()]
    try:
        batch = np.broadcast_shapes(*batches)
    except ValueError as error:
        given = " and ".join(f"{name} {value.shape}" for name, value in values.items())
        raise ValueError(f"leading axes do not broadcast: {given}") from error
    if out is not None:
        _check_out(out, batch + core)
    gufunc = getattr(_core, operation)
    result: Array = gufunc(*values.values()) if out is None else gufunc(*values.values(), out=out)
    return result


def _check_out(out: object, shape: tuple[int, ...]) -> None:
    if not isinstance(out, np.ndarray) or out.dtype != np.float64:
        raise TypeError(f"out: an array of float64 expected, got {getattr(out, 'dtype', type(out).__name__)}")
    if out.shape != shape:
        raise ValueError(f"out: shape {shape} expected, got {out.shape}")
    if not out.flags.writeable:
        raise ValueError("out: the array is read-only")


@dataclass(frozen=True, repr=False)
class Group:
    """One group: its operations act on the last axes and broadcast over all others.

    Every operation takes `out`, an array of float64 of exactly the result's shape, which it fills and returns.

    Attributes
    ----------
    name : str
    dim : int
        Dimension of the algebra: 3 or 6.
    shape : tuple of int
        Shape of an element.
    hat_shape : tuple of int
        Shape of `hat(v)`.
    """

    name: str
    dim: int
    shape: tuple[int, ...]
    hat_shape: tuple[int, ...]

    def __repr__(self) -> str:
        return f"lgint.groups.{self.name}"

    def exp(self, v: ArrayLike, out: Array | None = None) -> Array:
        """Exponential map.

        so3: I + sinc(x) v^ + cosc(x) v^^2 with x = |v| (holzinger2024, App. A.1); s3: (cos(x/2), sin(x/2) v/x);
        semidirect products: the position is V(Omega) U, where V is T(Omega)^T of so3 (tumiotto2024 (16)-(18)); direct
        products: the position is u itself.

        Parameters
        ----------
        v : array_like, shape (..., dim)
            Algebra vector.
        out : ndarray, optional
            Array of float64 of exactly the result's shape, which is filled and returned.

        Returns
        -------
        ndarray, shape (..., *shape)
            Elements.

        Raises
        ------
        ValueError
            For wrong shapes.
        TypeError
            If the numbers are not real.
        """
        return self._call("exp", self.shape, out, v=(v, (self.dim,)))

    def log(self, g: ArrayLike, out: Array | None = None) -> Array:
        """Logarithm: the v with exp(v) = g and a rotation angle of at most pi.

        Accurate from the identity to half turns, where the sign of the axis is arbitrary; q and -q give the same v.

        Parameters
        ----------
        g : array_like, shape (..., *shape)
            Elements.
        out : ndarray, optional
            Array of float64 of exactly the result's shape, which is filled and returned.

        Returns
        -------
        ndarray, shape (..., dim)
            Algebra vector, angles in rad.

        Raises
        ------
        ValueError
            For wrong shapes.
        TypeError
            If the numbers are not real.
        """
        return self._call("log", (self.dim,), out, g=(g, self.shape))

    def compose(self, a: ArrayLike, b: ArrayLike, out: Array | None = None) -> Array:
        """Product a b; direct products add positions, holzinger2024 (17).

        Parameters
        ----------
        a, b : array_like, shapes (..., *shape)
            Elements.
        out : ndarray, optional
            Array of float64 of exactly the result's shape, which is filled and returned.

        Returns
        -------
        ndarray, shape (..., *shape)
            Elements.

        Raises
        ------
        ValueError
            For wrong shapes.
        TypeError
            If the numbers are not real.
        """
        return self._call("compose", self.shape, out, a=(a, self.shape), b=(b, self.shape))

    def inverse(self, g: ArrayLike, out: Array | None = None) -> Array:
        """Inverse elements.

        Parameters
        ----------
        g : array_like, shape (..., *shape)
            Elements.
        out : ndarray, optional
            Array of float64 of exactly the result's shape, which is filled and returned.

        Returns
        -------
        ndarray, shape (..., *shape)
            The elements whose product with `g` is the identity.

        Raises
        ------
        ValueError
            For wrong shapes.
        TypeError
            If the numbers are not real.
        """
        return self._call("inverse", self.shape, out, g=(g, self.shape))

    def identity(self) -> Array:
        """The identity.

        Returns
        -------
        ndarray
            One element, of the shape `shape`.
        """
        return self.exp(np.zeros(self.dim))

    def act(self, g: ArrayLike, x: ArrayLike, out: Array | None = None) -> Array:
        """Takes points from body to inertial axes: position + R x, or R x for so3 and s3.

        On direct products this gives the position of a point of the body, but it is not a group action:
        act(compose(a, b), x) differs from act(a, act(b, x)).

        Parameters
        ----------
        g : array_like, shape (..., *shape)
            Elements.
        x : array_like, shape (..., 3)
            Points in body axes.
        out : ndarray, optional
            Array of float64 of exactly the result's shape, which is filled and returned.

        Returns
        -------
        ndarray, shape (..., 3)
            The same points in inertial axes.

        Raises
        ------
        ValueError
            For wrong shapes.
        TypeError
            If the numbers are not real.
        """
        return self._call("act", (3,), out, g=(g, self.shape), x=(x, (3,)))

    def rotation(self, g: ArrayLike, out: Array | None = None) -> Array:
        """Rotation matrices of elements.

        Parameters
        ----------
        g : array_like, shape (..., *shape)
            Elements.
        out : ndarray, optional
            Array of float64 of exactly the result's shape, which is filled and returned.

        Returns
        -------
        ndarray, shape (..., 3, 3)
            Matrices from body to inertial axes.

        Raises
        ------
        ValueError
            For wrong shapes.
        TypeError
            If the numbers are not real.
        """
        return self._call("rotation", (3, 3), out, g=(g, self.shape))

    def hat(self, v: ArrayLike, out: Array | None = None) -> Array:
        """The derivative of exp(t v) at t = 0.

        so3: the skew matrix of v; se3: [Omega^, U; 0, 0]; quaternion storages: the derivative of the stored numbers,
        (0, v/2) for s3 and (U, 0, Omega/2) with a position; r3xso3: the 7 x 7 matrix diag(Omega^, [0, u; 0, 0]) of
        holzinger2024 (20), whose middle block is zero (the paper prints I).

        Parameters
        ----------
        v : array_like, shape (..., dim)
            Algebra vector.
        out : ndarray, optional
            Array of float64 of exactly the result's shape, which is filled and returned.

        Returns
        -------
        ndarray, shape (..., *hat_shape)
            The matrix, or the numbers, of each vector.

        Raises
        ------
        ValueError
            For wrong shapes.
        TypeError
            If the numbers are not real.
        """
        return self._call("hat", self.hat_shape, out, v=(v, (self.dim,)))

    def vee(self, m: ArrayLike, out: Array | None = None) -> Array:
        """The inverse of `hat`.

        Parameters
        ----------
        m : array_like, shape (..., *hat_shape)
            What `hat` gives; of a matrix Omega^ only the skew part is used.
        out : ndarray, optional
            Array of float64 of exactly the result's shape, which is filled and returned.

        Returns
        -------
        ndarray, shape (..., dim)
            Algebra vector.

        Raises
        ------
        ValueError
            For wrong shapes.
        TypeError
            If the numbers are not real.
        """
        return self._call("vee", (self.dim,), out, m=(m, self.hat_shape))

    def ad(self, v: ArrayLike, out: Array | None = None) -> Array:
        """Adjoint of the algebra: the matrix of w -> [v, w], with hat([v, w]) = hat(v) hat(w) - hat(w) hat(v).

        Parameters
        ----------
        v : array_like, shape (..., dim)
            Algebra vector.
        out : ndarray, optional
            Array of float64 of exactly the result's shape, which is filled and returned.

        Returns
        -------
        ndarray, shape (..., dim, dim)
            The matrix.

        Raises
        ------
        ValueError
            For wrong shapes.
        TypeError
            If the numbers are not real.
        """
        return self._call("ad", (self.dim, self.dim), out, v=(v, (self.dim,)))

    def Ad(self, g: ArrayLike, out: Array | None = None) -> Array:
        """Adjoint of the group: the matrix of w -> vee(g hat(w) g^-1), so that g exp(w) g^-1 = exp(Ad(g) w).

        Parameters
        ----------
        g : array_like, shape (..., *shape)
            Elements.
        out : ndarray, optional
            Array of float64 of exactly the result's shape, which is filled and returned.

        Returns
        -------
        ndarray, shape (..., dim, dim)
            The matrix.

        Raises
        ------
        ValueError
            For wrong shapes.
        TypeError
            If the numbers are not real.
        """
        return self._call("Ad", (self.dim, self.dim), out, g=(g, self.shape))

    def tangent(self, v: ArrayLike, out: Array | None = None) -> Array:
        """Tangent operator T(v): d/dt exp(v) = exp(v) hat(T(v) v').

        It is left-trivialised, is also called the right Jacobian, and is the series of (1 - exp(-ad v)) / ad v.
        Closed forms are holzinger2024 (A2) and tumiotto2024 (20).

        Parameters
        ----------
        v : array_like, shape (..., dim)
            Algebra vector.
        out : ndarray, optional
            Array of float64 of exactly the result's shape, which is filled and returned.

        Returns
        -------
        ndarray, shape (..., dim, dim)
            The matrix T(v).

        Raises
        ------
        ValueError
            For wrong shapes.
        TypeError
            If the numbers are not real.
        """
        return self._call("tangent", (self.dim, self.dim), out, v=(v, (self.dim,)))

    def tangent_inv(self, v: ArrayLike, out: Array | None = None) -> Array:
        """Inverse of the tangent operator, singular at full turns (2 pi, 4 pi, ...); see holzinger2024, App. A.

        Parameters
        ----------
        v : array_like, shape (..., dim)
            Algebra vector.
        out : ndarray, optional
            Array of float64 of exactly the result's shape, which is filled and returned.

        Returns
        -------
        ndarray, shape (..., dim, dim)
            The matrix with T_inv(v) T(v) = I.

        Raises
        ------
        ValueError
            For wrong shapes.
        TypeError
            If the numbers are not real.
        """
        return self._call("tangent_inv", (self.dim, self.dim), out, v=(v, (self.dim,)))

    def random(self, rng: np.random.Generator, size: int | tuple[int, ...] | None = None) -> Array:
        """Random elements with uniformly distributed rotations and standard normal positions.

        Parameters
        ----------
        rng : numpy.random.Generator
            Source of the random numbers.
        size : int or tuple of int, optional
            Leading axes; one element by default.

        Returns
        -------
        ndarray, shape (*size, *shape)
            Elements.
        """
        batch = () if size is None else tuple(np.atleast_1d(size))
        turn, shift = np.zeros((2, *batch, self.dim))
        turn[..., -3:] = s3.log(rng.standard_normal((*batch, 4)))  # log normalises the quaternion
        if self.dim == 3:
            return self.exp(turn)
        shift[..., :3] = rng.standard_normal((*batch, 3))
        return self.compose(self.exp(shift), self.exp(turn))

    def _call(
        self, operation: str, core: tuple[int, ...], out: Array | None, **arguments: tuple[ArrayLike, Any]
    ) -> Array:
        return _apply(f"{self.name}_{operation}", arguments, core, out)


@dataclass(frozen=True, repr=False)
class RotationVector:
    """Rotation vectors, which store rotations; their product needs no history and is regular through full turns."""

    def __repr__(self) -> str:
        return "lgint.groups.rotvec"

    def compose(self, psi0: ArrayLike, dpsi: ArrayLike, out: Array | None = None) -> Array:
        """Rotation vector psi with exp(psi) = exp(psi0) exp(dpsi).

        This is holzinger2024 (A10)-(A13), computed by the quaternion product, as (A10) is misprinted. Of the two
        vectors of a rotation, the one with |psi| <= pi is returned.

        Parameters
        ----------
        psi0, dpsi : array_like, shapes (..., 3)
            Rotation vectors, rad.
        out : ndarray, optional
            Array of float64 of exactly the result's shape, which is filled and returned.

        Returns
        -------
        ndarray, shape (..., 3)
            Rotation vectors of length at most pi.

        Raises
        ------
        ValueError
            For wrong shapes.
        TypeError
            If the numbers are not real.
        """
        return _apply("rotvec_compose", {"psi0": (psi0, (3,)), "dpsi": (dpsi, (3,))}, (3,), out)


_GROUPS = {row["name"]: Group(**row) for row in _core.GROUPS}
so3 = _GROUPS["so3"]
s3 = _GROUPS["s3"]
se3 = _GROUPS["se3"]
r3xso3 = _GROUPS["r3xso3"]
r3xs3 = _GROUPS["r3xs3"]
s3r3 = _GROUPS["s3r3"]
rotvec = RotationVector()
