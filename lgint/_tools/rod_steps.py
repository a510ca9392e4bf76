"""The largest stable step of an explicit method on a rod, from the waves on an infinite straight rod.

On a straight rod without stress, the strains of the edge between the nodes i and i + 1 are, to first order in
displacements u and rotations theta of the nodes,

    Gamma = (u_i+1 - u_i) / ds + e3 x (theta_i + theta_i+1) / 2,    K = (theta_i+1 - theta_i) / ds.

A wave exp(j phi i), d = (u, theta), has the strains E(phi) d with a complex 6 x 6 matrix E. Its motion follows from
M d'' + 2 E^H C_d E d' + E^H C E d = 0, with M per length, where the constrained rows of E d vanish. A step h is stable
if h times each root of that equation lies in the stability region of the method (tumiotto2024 3.1 for the edge).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lgint import _core
from lgint._args import Array, array, choice, number
from lgint._model.names import Method

WAVES = 129  # wave numbers from rigid motion to neighbours in opposite phase
GROWTH = 1e-6  # relative growth per step that does not count as instability
ROWS = {"kirchhoff": 2, "inextensible": 3}  # constrained strains


def rod_step_limit(
    ds: float,
    stiffness: ArrayLike,
    inertia: ArrayLike,
    *,
    method: Method = "herk5",
    damping: ArrayLike = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
    constraints: str | None = "kirchhoff",
) -> float:
    """The largest step with which an explicit method is stable on a straight rod without stress.

    Rods with supports, joints or curvature have nearly the same limit; bodies and springs attached to them may lower
    it. With `first_stage="printed"` the limit of `herk3` is up to a fifth lower if the rod is constrained. Implicit
    methods have no such limit.

    Parameters
    ----------
    ds : float
        Length of an edge, m.
    stiffness : array_like, shape (6,) or (6, 6)
        As in `ModelBuilder.add_rod`: N for the first three strains, N m^2 for the others.
    inertia : array_like, shape (4,)
        Mass per length, kg/m, and moments of inertia per length, kg m.
    method : str
        An explicit or half-explicit Runge-Kutta method.
    damping : array_like, shape (6,)
        As in `ModelBuilder.add_rod`, N s and N m^2 s.
    constraints : "kirchhoff", "inextensible" or None
        Which strains are constrained: shear; shear and stretch; none.

    Returns
    -------
    float
        Largest step, s. Methods that are unstable on the imaginary axis, as `euler` and `midpoint` are, have a limit of
        nearly 0 without damping.

    Raises
    ------
    ValueError
        For wrong shapes, numbers that are not positive, and methods without a tableau.

    Examples
    --------
    >>> import lgint
    >>> steel = lgint.section("circle", E=210e9, G=81e9, rho=7850, radius=5e-3)
    >>> limit = lgint.rod_step_limit(0.02, steel.stiffness, steel.inertia, method="rk44")
    >>> f"{limit:.1e} s"
    '5.5e-06 s'
    """
    ds = number("ds", ds, positive=True)
    C = np.asarray(stiffness, float)
    C = np.diag(array("stiffness", C, (6,))) if C.ndim < 2 else array("stiffness", C, (6, 6))
    masses = array("inertia", inertia, (4,))
    if not (masses > 0).all():
        raise ValueError(f"inertia: four positive numbers expected, got {masses.tolist()}")
    constrained = 0 if constraints is None else ROWS[choice("constraints", constraints, ROWS)]
    roots = _roots(ds, C, np.repeat(masses, (3, 1, 1, 1)), np.diag(array("damping", damping, (6,))), constrained)
    directions, which = np.unique(np.round(np.angle(roots), 9), return_inverse=True)
    fastest = np.array([np.abs(roots[which == i]).max() for i in range(len(directions))])
    A, b = _tableau(method)
    return float((_reach(A, b, directions) / fastest).min())


def _roots(ds: float, C: Array, masses: Array, Cd: Array, constrained: int) -> Any:
    """Roots of the equation of motion for all waves: real ones, and of each complex pair the one above the axis."""
    roots = []
    for phi in np.linspace(0, np.pi, WAVES):
        E = np.zeros((6, 6), complex)
        E[:3, :3] = E[3:, 3:] = 2j * math.sin(phi / 2) / ds * np.eye(3)
        E[:2, 3:5] = math.cos(phi / 2) * np.array([[0, -1], [1, 0]])
        free = np.linalg.svd(E[:constrained])[2][constrained:].conj().T
        M, K, D = (free.conj().T @ X @ free for X in (np.diag(masses), E.conj().T @ C @ E, 2 * E.conj().T @ Cd @ E))
        n = len(M)
        first_order = np.block([[np.zeros((n, n)), np.eye(n)], [-np.linalg.solve(M, K), -np.linalg.solve(M, D)]])
        roots.append(np.linalg.eigvals(first_order))
    all_roots = np.concatenate(roots)
    all_roots = np.where(all_roots.imag < 0, all_roots.conj(), all_roots)
    return all_roots[np.abs(all_roots) > 1e-6 * np.abs(all_roots).max()]


def _tableau(method: str) -> tuple[Array, Array]:
    """A and b of a Runge-Kutta method."""
    rows = {row["name"]: row["tableau"] for row in _core.METHODS if row["explicit"]}
    tableau = rows[choice("method", method, rows)]
    return np.array([[_value(entry) for entry in row] for row in tableau["A"]]), np.array(
        list(map(_value, tableau["b"]))
    )


def _value(text: str) -> float:
    """The value of an exact number in the core's own tables, such as "(3 - 1*sqrt(3))/6"."""
    return float(eval(text, {"__builtins__": {}, "sqrt": math.sqrt}))


def _growth(A: Array, b: Array, z: Any) -> Array:
    """The modulus of 1 + z b^T (I - z A)^-1 1."""
    stages = np.ones((len(b), *z.shape), complex)
    for i in range(1, len(b)):
        stages[i] += z * np.tensordot(A[i, :i], stages[:i], 1)
    growth: Array = np.abs(1 + z * np.tensordot(b, stages, 1))
    return growth


def _reach(A: Array, b: Array, angle: Array) -> Array:
    """How far from 0 a method is stable, in each direction of the complex plane."""
    radius = np.linspace(0, 4 * len(b), 1001)[1:, None]
    stable = _growth(A, b, radius * np.exp(1j * angle)) <= 1 + GROWTH
    first = np.where(stable.all(axis=0), len(radius), np.argmin(stable, axis=0))
    low: Array = first * radius[0, 0]
    high = low + radius[0, 0]
    for _ in range(40):
        middle = (low + high) / 2
        good = _growth(A, b, middle * np.exp(1j * angle)) <= 1 + GROWTH
        low, high = np.where(good, middle, low), np.where(good, high, middle)
    return low
