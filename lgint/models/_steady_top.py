"""A heavy top in steady precession, whose motion is known in closed form."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from lgint._args import array, number
from lgint._build.builder import ModelBuilder
from lgint._model.model import Model
from lgint.models._registry import benchmark


@benchmark("kinon2024 5.4")
def steady_top(
    *,
    formulation: str = "euler_parameters",
    height: float = 0.1,
    density: float = 2700.0,
    nutation: float = np.pi / 3,
    precession: float = 10.0,
    gravity: ArrayLike = (0.0, 0.0, -9.81),
) -> Model:
    """A cone in steady precession about its tip, whose motion is known in closed form.

    The body "body" turns about its tip at the origin, with rotational coordinates only.

    Its base has the radius `height` / 2. The spin is the one of steady precession, (118), so that the COM moves on
    the circle l (sin(nutation) sin(precession t), -sin(nutation) cos(precession t), cos(nutation)) with l = 3/4
    `height`.

    Parameters
    ----------
    formulation : str
        See `ModelBuilder`.
    height : float
        Height of the cone, m.
    density : float
        Density, kg/m^3.
    nutation : float
        Angle between the axis of the cone and the vertical, from a rotation about the x axis, rad.
    precession : float
        Angular velocity of the axis about the vertical, rad/s.
    gravity : array_like, shape (3,)
        Acceleration along -z, m/s^2.

    Returns
    -------
    Model
        It starts as described above.
    """
    a, g = number("height", height, positive=True), array("gravity", gravity, (3,))
    if g[0] or g[1] or not g[2] < 0:
        raise ValueError(f"gravity: a vector along -z expected, as the precession is about z, got {g.tolist()}")
    turn, rate = number("nutation", nutation), number("precession", precession)
    if rate == 0:
        raise ValueError("precession: a rate other than 0 expected")
    r, com = a / 2, np.array([0.0, 0.0, 0.75 * a])
    mass = number("density", density, positive=True) * np.pi * r**2 * a / 3
    across, along = 3 / 80 * mass * (4 * r**2 + a**2), 3 / 10 * mass * r**2
    about_tip = across + mass * com[2] ** 2
    spin = -mass * g[2] * com[2] / (along * rate) + (about_tip - along) / along * rate * np.cos(turn)
    builder = ModelBuilder(gravity=g, formulation=formulation)
    builder.add_body(
        "body",
        mass=mass,
        inertia=(across, across, along),
        rotation=(np.cos(turn / 2), np.sin(turn / 2), 0.0, 0.0),
        angular_velocity=(0.0, rate * np.sin(turn), rate * np.cos(turn) + spin),
        pivot=np.zeros(3),
        com=com,
    )
    return builder.build()
