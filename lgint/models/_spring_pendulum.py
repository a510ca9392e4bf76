"""A point mass on a nonlinear spring in spherical coordinates, with a mass matrix that depends on them."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from lgint._args import Array, array, number
from lgint._model.lagrangian import LagrangianModel
from lgint.models._registry import benchmark


@benchmark("kinon2024 5.2")
def spring_pendulum(
    *,
    mass: float = 1.0,
    axial_stiffness: float = 300.0,
    rest_length: float = 1.0,
    q0: ArrayLike = (1.05, np.pi / 2, 0.0),
    v0: ArrayLike = (0.0, 1.0, 1.0),
) -> LagrangianModel:
    """A point mass on a nonlinear spring in spherical coordinates.

    It swings about the origin, without gravity; q = (r, theta, phi).

    r is the distance from the origin, theta the angle to the z axis, and phi the longitude. The energy of the spring is
    EA eps^2 / 2 with the Green-Lagrange strain eps = (r^2 - l0^2) / (2 l0^2). Since nothing depends on phi, the angular
    momentum about z, m r^2 sin(theta)^2 phi', is constant.

    Parameters
    ----------
    mass : float
        Mass, kg.
    axial_stiffness : float
        EA, N m in this potential.
    rest_length : float
        Rest length l0, m.
    q0, v0 : array_like, shape (3,)
        Coordinates in m and rad and velocities in m/s and rad/s at the start.

    Returns
    -------
    LagrangianModel
        It starts as described above.
    """
    m, EA = number("mass", mass, positive=True), number("axial_stiffness", axial_stiffness, nonnegative=True)
    length = number("rest_length", rest_length, positive=True)

    def strain(r: float) -> float:
        return (r**2 - length**2) / (2 * length**2)

    def mass_matrix(q: Array) -> Array:
        return m * np.diag([1.0, q[0] ** 2, (q[0] * np.sin(q[1])) ** 2])

    def mass_gradient(q: Array) -> Array:
        gradient = np.zeros((3, 3, 3))
        r, sin, cos = q[0], np.sin(q[1]), np.cos(q[1])
        gradient[1, 1, 0] = 2 * m * r
        gradient[2, 2] = 2 * m * r * sin**2, 2 * m * r**2 * sin * cos, 0.0
        return gradient

    return LagrangianModel(
        array("q0", q0, (3,)),
        array("v0", v0, (3,)),
        mass=mass_matrix,
        potential=lambda q: EA * strain(q[0]) ** 2 / 2,
        mass_gradient=mass_gradient,
        potential_gradient=lambda q: [EA * strain(q[0]) * q[0] / length**2, 0.0, 0.0],
    )
