"""A body whose angular velocity is linear in time, so that only the Lie group term causes an error of the rotation."""

from __future__ import annotations

from numpy.typing import ArrayLike

from lgint._build.builder import ModelBuilder
from lgint._model.model import Model
from lgint.models._registry import benchmark


@benchmark("lgint: a test of the Lie group term of holzinger2025")
def lie_term(
    *,
    formulation: str = "R3xSO3",
    mass: float = 1.0,
    inertia: ArrayLike = (1.0, 1.0, 1.0),
    omega0: ArrayLike = (1.0, 2.0, -0.5),
    torque: ArrayLike = (0.3, -0.5, 0.8),
) -> Model:
    """A free body under a body-fixed torque, whose error comes from the Lie group term alone.

    The body "body" starts at the origin with R = I, without gravity.

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
    torque : array_like, shape (3,)
        Constant torque in body axes, N m.

    Returns
    -------
    Model
        It starts as described above.
    """
    builder = ModelBuilder(formulation=formulation)
    builder.add_body("body", mass=mass, inertia=inertia, angular_velocity=omega0)
    builder.add_force("body", torque=torque, frame="body", name="torque")
    return builder.build()
