"""A free rigid body that tumbles."""

from __future__ import annotations

from numpy.typing import ArrayLike

from lgint._build.builder import ModelBuilder
from lgint._model.model import Model
from lgint.models._registry import benchmark


@benchmark("kinon2024 5.3")
def free_body(
    *,
    formulation: str = "euler_parameters",
    mass: float = 1.0,
    inertia: ArrayLike = (6.0, 8.0, 3.0),
    omega0: ArrayLike = (10.0, 20.0, 20.0),
    velocity: ArrayLike = (0.0, 0.0, 0.0),
    gravity: ArrayLike = (0.0, 0.0, 0.0),
) -> Model:
    """A free rigid body that spins about all its axes.

    The body "body" starts at the origin with R = I.

    Parameters
    ----------
    formulation : str
        See `ModelBuilder`.
    mass : float
        Mass, kg.
    inertia : array_like
        Inertia about the COM in body axes, kg m^2.
    omega0 : array_like, shape (3,)
        Initial angular velocity, body axes, rad/s.
    velocity : array_like, shape (3,)
        Initial velocity of the COM, inertial axes, m/s.
    gravity : array_like, shape (3,)
        Acceleration in inertial axes, m/s^2.

    Returns
    -------
    Model
        It starts as described above.
    """
    builder = ModelBuilder(gravity=gravity, formulation=formulation)
    builder.add_body("body", mass=mass, inertia=inertia, angular_velocity=omega0, velocity=velocity)
    return builder.build()
