"""Flexible bodies in modal coordinates: shapes with all their inertia integrals, from particles or from a beam.

A body's particles are at X + Phi eta in the axes of its floating frame, where eta are the modal coordinates. Inertia is
exact, and elasticity is linear: the effect of a large axial force on the bending stiffness (centrifugal stiffening,
buckling) is not included.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from lgint._args import Array, array, choice, number, shown

__all__ = ["Modes", "Node", "beam", "particles"]


def __dir__() -> list[str]:
    return __all__


SUPPORTS: Final = ("clamped", "free", "pinned")
FIELDS: Final = ("axial", "torsion", "bending_y", "bending_z")
COM: Final = "com"


class Node(NamedTuple):
    """A point to which joints and forces attach: position (3,), and displacement and rotation per mode (3, modes)."""

    X: Array
    Phi: Array
    Psi: Array


@dataclass(frozen=True, repr=False)
class Modes:
    """A flexible body, made by `particles` or `beam` for `ModelBuilder.add_modal_body`.

    Attributes
    ----------
    mass : float
        Mass, kg.
    first : ndarray, shape (3,)
        sum m X, kg m.
    second : ndarray, shape (3, 3)
        sum m X X^T, kg m^2.
    shapes, mixed, products : ndarray, shapes (n, 3), (n, 3, 3), (n, n, 3, 3)
        sum m Phi_k; sum m X Phi_k^T; sum m Phi_k Phi_l^T.
    stiffness, damping : ndarray, shape (n, n)
        Matrices for the modal coordinates.
    nodes : dict of Node
        The named points; "com" is the centre of mass.
    """

    mass: float
    first: Array
    second: Array
    shapes: Array
    mixed: Array
    products: Array
    stiffness: Array
    damping: Array
    nodes: Mapping[str, Node]

    def __repr__(self) -> str:
        return f"<lgint.modal.Modes: {self.n} modes, {self.mass:g} kg, nodes {', '.join(self.nodes) or 'none'}>"

    @property
    def n(self) -> int:
        """Number of modes."""
        return len(self.shapes)

    @property
    def modal_mass(self) -> Array:
        """Mass matrix of the modal coordinates (n, n)."""
        mass: Array = np.trace(self.products, axis1=2, axis2=3)
        return mass

    @property
    def frequencies(self) -> Array:
        """Angular frequencies (n,) with a fixed floating frame, ascending, rad/s."""
        inverse = np.linalg.inv(np.linalg.cholesky(self.modal_mass))
        squares = np.linalg.eigvalsh(inverse @ self.stiffness @ inverse.T)
        roots: Array = np.sqrt(np.maximum(squares, 0.0))
        return roots

    @property
    def inertia(self) -> Array:
        """Inertia (3, 3) of the undeformed body about the origin of its floating frame, kg m^2."""
        moment: Array = np.trace(self.second) * np.eye(3) - self.second
        return moment

    def angular_momentum(self, u: Array, omega: Array, eta: Array, rates: Array) -> Array:
        """Angular momentum about the origin of the floating frame.

        Parameters
        ----------
        u : ndarray, shape (..., 3)
            Velocity of the origin in the axes of the floating frame, m/s.
        omega : ndarray, shape (..., 3)
            Angular velocity in these axes, rad/s.
        eta, rates : ndarray, shape (..., n)
            Modal coordinates and their rates.

        Returns
        -------
        ndarray, shape (..., 3)
            In the axes of the floating frame, kg m^2/s.
        """
        mixed = self.mixed + np.einsum("...k,klij->...lij", eta, self.products)  # sum m r Phi_l^T
        linear = np.einsum("...l,lij->...ij", eta, self.mixed)
        quadratic = np.einsum("...l,...lij->...ij", eta, mixed)
        moments = self.second + np.swapaxes(linear, -1, -2) + quadratic
        s = self.first + eta @ self.shapes
        outer = np.einsum("...lij,...l->...ij", mixed, rates)  # sum m r r'^T
        axial = np.stack(
            [outer[..., j, k] - outer[..., k, j] for j, k in ((1, 2), (2, 0), (0, 1))], axis=-1
        )  # sum m r x r'
        trace = np.trace(moments, axis1=-2, axis2=-1)[..., None]
        spin = trace * omega - np.einsum("...ij,...j->...i", moments, omega)
        momentum: Array = np.cross(s, u) + spin + axial
        return momentum

    @classmethod
    def of(cls, record: Mapping[str, Any], mass: float) -> Modes:
        """The modes that a record describes.

        Parameters
        ----------
        record : mapping
            What `record` returned.
        mass : float
            Mass of the body, kg.

        Returns
        -------
        Modes
            With the same arrays.
        """
        nodes = {name: Node(*(np.array(node[key]) for key in Node._fields)) for name, node in record["nodes"].items()}
        return cls(mass=mass, nodes=nodes, **{name: np.array(record[name]) for name in _ARRAYS})

    def record(self) -> dict[str, Any]:
        """All arrays as plain data.

        Returns
        -------
        dict
            Lists by the names of the attributes; the mass is part of the body's own record.
        """
        nodes = {
            name: {key: value.tolist() for key, value in node._asdict().items()} for name, node in self.nodes.items()
        }
        return {**{name: getattr(self, name).tolist() for name in _ARRAYS}, "nodes": nodes}


_ARRAYS: Final = ("first", "second", "shapes", "mixed", "products", "stiffness", "damping")


def particles(
    mass: ArrayLike,
    points: ArrayLike,
    shapes: ArrayLike,
    stiffness: ArrayLike,
    damping: ArrayLike | None = None,
    nodes: Mapping[str, tuple[ArrayLike, ...]] | None = None,
) -> Modes:
    """A flexible body from the masses of its nodes or integration points and its mode shapes at these points.

    Parameters
    ----------
    mass : array_like, shape (p,)
        Mass of each point, kg.
    points : array_like, shape (p, 3)
        Positions in the axes of the floating frame, from its origin, m.
    shapes : array_like, shape (p, 3, n)
        Displacement of each point per modal coordinate.
    stiffness, damping : array_like, shape (n, n) or (n,)
        Symmetric matrices; a vector stands for a diagonal matrix. Default: no damping.
    nodes : mapping of name to (X (3,), Phi (3, n)) or (X, Phi, Psi (3, n)), optional
        Points to which joints and forces attach; Psi is the rotation per modal coordinate.

    Returns
    -------
    Modes
        Its nodes are "com" and those in `nodes`.

    Raises
    ------
    ValueError
        For wrong shapes, a mass that is not positive, matrices that are not symmetric, a node called "com".
    """
    m = array("mass", mass)
    if m.ndim != 1 or not len(m) or not (m > 0).all():
        raise ValueError(f"mass: one positive number per particle expected, got {mass!r}")
    X = array("points", points, (len(m), 3))
    Phi = array("shapes", shapes)
    if Phi.ndim != 3 or Phi.shape[:2] != X.shape or Phi.shape[2] < 1:
        raise ValueError(f"shapes: shape ({len(m)}, 3, n) expected, got {Phi.shape}")
    n = Phi.shape[2]
    total = float(m.sum())
    first, sums = m @ X, np.einsum("p,pik->ki", m, Phi)
    named = {COM: Node(first / total, sums.T / total, np.zeros((3, n)))}
    if not isinstance(nodes, (Mapping, type(None))):
        raise ValueError(f"nodes: a mapping of names to (X, Phi) or (X, Phi, Psi) expected, got {shown(nodes)}")
    for name, values in (nodes or {}).items():
        if not isinstance(name, str) or name == COM:
            raise ValueError(f"nodes: strings other than {COM!r} expected as names, got {shown(name)}")
        if not isinstance(values, (tuple, list)) or len(values) not in (2, 3):
            raise ValueError(f"node {name!r}: (X, Phi) or (X, Phi, Psi) expected, got {shown(values)}")
        Psi = np.zeros((3, n)) if len(values) == 2 else array(f"Psi of node {name!r}", values[2], (3, n))
        named[name] = Node(
            array(f"X of node {name!r}", values[0], (3,)), array(f"Phi of node {name!r}", values[1], (3, n)), Psi
        )
    return Modes(
        total,
        first,
        np.einsum("p,pi,pj->ij", m, X, X),
        sums,
        np.einsum("p,pi,pjk->kij", m, X, Phi),
        np.einsum("p,pik,pjl->klij", m, Phi, Phi, optimize=True),
        _symmetric("stiffness", stiffness, n),
        np.zeros((n, n)) if damping is None else _symmetric("damping", damping, n),
        named,
    )


def _symmetric(name: str, value: ArrayLike, n: int) -> Array:
    given = array(name, value, (n,), (n, n))
    matrix = np.diag(given) if given.ndim == 1 else given
    if np.abs(matrix - matrix.T).max() > 1e-9 * np.abs(matrix).max():
        raise ValueError(f"{name}: a symmetric matrix expected")
    return matrix


# ---- beams ----


def _gauss() -> tuple[Array, Array]:
    """Points and weights between 0 and 1, exact for products of two cubic shapes."""
    points, weights = np.polynomial.legendre.leggauss(4)
    return (points + 1) / 2, weights / 2


def beam(
    length: float,
    *,
    mass: float,
    bending: float | tuple[float, float],
    axial: float | None = None,
    torsion: float | None = None,
    section: tuple[float, float] = (0.0, 0.0),
    support: str = "clamped",
    modes: int | Mapping[str, int] = 4,
    elements: int = 20,
    damping: float = 0.0,
) -> Modes:
    """An Euler-Bernoulli beam along the x axis of its floating frame, from x = 0 to `length`.

    Parameters
    ----------
    length : float
        Length, m.
    mass : float
        Mass per length, kg/m.
    bending : float or two floats
        E I about y and about z, N m^2.
    axial, torsion : float, optional
        E A, N, and G J, N m^2. Without one of them there are no modes of that kind.
    section : two floats
        Inertia of the cross-sections about y and about z per length, kg m. With zeros the beam is a line, which has no
        inertia about its own axis.
    support : str
        How the shapes are supported in the floating frame: "clamped" at x = 0; "free" (free modes, about mean axes); or
        "pinned", at both ends in bending and at x = 0 in the other fields.
    modes : int or mapping
        Number of lowest modes, or the number of each of "axial", "torsion", "bending_y" (displacement along y) and
        "bending_z".
    elements : int
        Number of elements, which are cubic in bending and linear in the other fields.
    damping : float
        Damping ratio of each mode, relative to critical damping.

    Returns
    -------
    Modes
        It has modal masses of 1, and nodes "0", "1", ... at the ends of the elements, "start" and "end".

    Raises
    ------
    ValueError
        For numbers that are not positive, torsion without inertia of the cross-sections, and more modes than there are.
    """
    L, count = number("length", length, positive=True), _count("elements", elements)
    rho = number("mass", mass, positive=True)
    EIy, EIz = (bending, bending) if isinstance(bending, (int, float)) else bending
    Iy, Iz = (number("section", value, nonnegative=True) for value in section)
    choice("support", support, SUPPORTS)
    grid = np.linspace(0.0, L, count + 1)
    rigidity = {"axial": axial, "torsion": torsion, "bending_y": EIz, "bending_z": EIy}
    inertia = {"axial": (rho, 0.0), "torsion": (Iy + Iz, 0.0), "bending_y": (rho, Iz), "bending_z": (rho, Iy)}
    if torsion is not None and Iy + Iz == 0:
        raise ValueError("torsion: modes of torsion need the inertia of the cross-sections; give it as section")
    found = []
    for name, stiffness in rigidity.items():
        if stiffness is not None:
            value = number(name, stiffness, positive=True)
            found += [(w2, name, shape) for w2, shape in _field(name, grid, value, *inertia[name], support)]
    chosen = _choose(found, modes)
    squares = np.array([w2 for w2, _, _ in chosen])

    # integration points, four in each cross-section that has inertia
    s, weights = _gauss()
    x = (grid[:-1, None] + np.diff(grid)[:, None] * s).ravel()
    m = rho * (np.diff(grid)[:, None] * weights).ravel()
    a, b = np.sqrt(Iz / rho), np.sqrt(Iy / rho)
    corners = [(a, b), (a, -b), (-a, b), (-a, -b)] if a or b else [(0.0, 0.0)]
    motion = _motion(chosen, grid, x)
    points = np.concatenate([np.column_stack([x, np.full_like(x, y), np.full_like(x, z)]) for y, z in corners])
    shapes = np.concatenate([_displacement(motion, y, z) for y, z in corners])

    at_nodes = _motion(chosen, grid, grid)
    nodes: dict[str, tuple[ArrayLike, ...]] = {}
    for i in range(count + 1):
        node = (np.array([grid[i], 0.0, 0.0]), at_nodes[i, :3], at_nodes[i, 3:])
        nodes |= {name: node for name in (str(i), *(["start"] if i == 0 else ["end"] if i == count else []))}
    ratio = 2 * number("damping", damping, nonnegative=True) * np.sqrt(squares)
    return particles(np.tile(m / len(corners), len(corners)), points, shapes, squares, ratio, nodes)


def _count(name: str, value: int) -> int:
    if not isinstance(value, (int, np.integer)) or value < 1:
        raise ValueError(f"{name}: a positive integer expected, got {value!r}")
    return int(value)


def _shape(order: int, h: float, s: Array) -> Array:
    """Shapes of one element (points, unknowns) at s in [0, 1]: linear, or cubic with slopes; or their derivatives."""
    one = np.ones_like(s)
    return {
        10: np.stack([1 - s, s], axis=-1),
        11: np.stack([-one, one], axis=-1) / h,
        30: np.stack([1 - 3 * s**2 + 2 * s**3, h * (s - 2 * s**2 + s**3), 3 * s**2 - 2 * s**3, h * (s**3 - s**2)], -1),
        31: np.stack([6 * (s**2 - s) / h, 1 - 4 * s + 3 * s**2, 6 * (s - s**2) / h, 3 * s**2 - 2 * s], -1),
        32: np.stack([(12 * s - 6) / h**2, (6 * s - 4) / h, (6 - 12 * s) / h**2, (6 * s - 2) / h], -1),
    }[order]


def _field(
    name: str, grid: Array, stiffness: float, mass: float, rotary: float, support: str
) -> list[tuple[float, Array]]:
    """Squared frequencies and shapes (all unknowns, modal mass 1) of one field without its rigid motions."""
    cubic = name.startswith("bending")
    per, degree = (2, 30) if cubic else (1, 10)
    size = per * len(grid)
    M, K = np.zeros((2, size, size))
    s, weights = _gauss()
    for i, h in enumerate(np.diff(grid)):
        at = slice(per * i, per * (i + 2))
        N, dN, strain = _shape(degree, h, s), _shape(degree + 1, h, s), _shape(degree + per, h, s)
        M[at, at] += h * (mass * (N.T * weights) @ N + rotary * (dN.T * weights) @ dN)
        K[at, at] += h * stiffness * (strain.T * weights) @ strain
    held = {"free": [], "clamped": [*range(per)], "pinned": [0, size - 2] if cubic else [0]}[support]
    kept = np.setdiff1d(np.arange(size), held)
    rigid = per if support == "free" else 0
    inverse = np.linalg.inv(np.linalg.cholesky(M[np.ix_(kept, kept)]))
    squares, vectors = np.linalg.eigh(inverse @ K[np.ix_(kept, kept)] @ inverse.T)
    shapes = np.zeros((size, len(kept)))
    shapes[kept] = inverse.T @ vectors
    return [(float(squares[k]), shapes[:, k]) for k in range(rigid, len(kept))]


def _choose(found: list[tuple[float, str, Array]], modes: int | Mapping[str, int]) -> list[tuple[float, str, Array]]:
    if isinstance(modes, Mapping):
        chosen = []
        for field, count in modes.items():
            choice("field of modes", field, FIELDS)
            chosen += [row for row in found if row[1] == field][: _count(f"modes of {field}", count)]
        wanted = sum(modes.values())
    else:
        wanted = _count("modes", modes)
        chosen = sorted(found, key=lambda row: row[0])[:wanted]
    if len(chosen) < wanted:
        raise ValueError(f"modes: {wanted} wanted, but the discretisation has only {len(chosen)}")
    return chosen


def _motion(chosen: list[tuple[float, str, Array]], grid: Array, x: Array) -> Array:
    """Displacement and rotation (points, 6, modes) of the beam's axis at x."""
    motion = np.zeros((len(x), 6, len(chosen)))
    i = np.clip(np.searchsorted(grid, x, side="right") - 1, 0, len(grid) - 2)
    h = float(grid[1] - grid[0])
    s = (x - grid[i]) / h
    for k, (_, name, shape) in enumerate(chosen):
        per, degree = (2, 30) if name.startswith("bending") else (1, 10)
        unknowns = shape[per * i[:, None] + np.arange(2 * per)]
        value = (_shape(degree, h, s) * unknowns).sum(1)
        slope = (_shape(degree + 1, h, s) * unknowns).sum(1)
        if name == "bending_y":
            motion[:, 1, k], motion[:, 5, k] = value, slope
        elif name == "bending_z":
            motion[:, 2, k], motion[:, 4, k] = value, -slope
        else:
            motion[:, 0 if name == "axial" else 3, k] = value
    return motion


def _displacement(motion: Array, y: float, z: float) -> Array:
    """Displacements of the points (y, z) of the cross-sections: u + theta x (0, y, z)."""
    arm = np.array([0.0, y, z])[None, :, None]
    moved: Array = motion[:, :3] + np.cross(motion[:, 3:], arm, axis=1)
    return moved
