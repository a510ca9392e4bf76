"""A thin disk that rolls without slip on a plane, in a steady circle unless it starts upright or with another spin."""

from __future__ import annotations

import numpy as np

from lgint._args import number
from lgint._build.builder import ModelBuilder
from lgint._model.model import Model
from lgint.models._registry import benchmark


@benchmark("oreilly1996")
def rolling_disk(
    *,
    formulation: str = "R3xSO3",
    mass: float = 1.0,
    radius: float = 0.5,
    lean: float = 0.3,
    precession: float = 2.0,
    spin: float | None = None,
    gravity: float = 9.81,
) -> Model:
    """A thin disk that rolls without slip on the plane z = 0: a nonholonomic system.

    The body "disk" has its axis along its y axis; its COM starts above the origin of the plane.

    Parameters
    ----------
    formulation : str
        See `ModelBuilder`.
    mass, radius : float
        kg and m; the inertia is that of a homogeneous thin disk.
    lean : float
        The angle between the disk and the vertical, from a rotation about the x axis, less than pi / 2, rad.
    precession : float
        The angular velocity about the vertical, rad/s.
    spin : float, optional
        The angular velocity of the disk about its axis, that of the precession included, rad/s. Default: the one
        with which the disk rolls in a steady circle; upright and without precession it has to be given.
    gravity : float
        Acceleration along -z, m/s^2.

    Returns
    -------
    Model
        It starts as described above.
    """
    m, r = number("mass", mass, positive=True), number("radius", radius, positive=True)
    angle, turning, g = number("lean", lean), number("precession", precession), number("gravity", gravity)
    if not abs(angle) < np.pi / 2:
        raise ValueError(f"lean: an angle between -pi/2 and pi/2 expected, got {angle}")
    across, along, c, s = m * r**2 / 4, m * r**2 / 2, np.cos(angle), np.sin(angle)
    if spin is not None:
        about_axis = number("spin", spin)
    elif turning != 0:
        about_axis = (across * turning**2 * s * c - m * g * r * s) / ((along + m * r**2) * turning * c)
    else:
        raise ValueError("spin: a disk without precession rolls in no circle; its angular velocity has to be given")
    axis, up = np.array([0.0, c, s]), np.array([0.0, -s, c])
    omega = about_axis * axis + turning * c * up
    builder = ModelBuilder(gravity=(0.0, 0.0, -g), formulation=formulation)
    builder.add_body(
        "disk",
        mass=m,
        inertia=(across, along, across),
        position=r * c * np.array([0.0, 0.0, 1.0]),
        rotation=(np.cos(angle / 2), np.sin(angle / 2), 0.0, 0.0),
        velocity=np.cross(omega, r * up),
        angular_velocity=(0.0, about_axis, turning * c),
    )
    builder.add_rolling("disk", radius=r, axis=(0.0, 1.0, 0.0), name="rolling")
    return builder.build()
