"""The heavy top: a body that turns about a fixed point under gravity."""

from __future__ import annotations

import functools

import numpy as np
from numpy.typing import ArrayLike

from lgint._args import array, choice
from lgint._build.builder import ModelBuilder
from lgint._build.parts import ground
from lgint._model.model import Model
from lgint._model.parameters import CARRIERS
from lgint._rotation import cross
from lgint.models._registry import benchmark


@benchmark("holzinger2024 4.1; tumiotto2024 2.4; sherif2019 10.1; holzinger2025 7.1")
def heavy_top(
    *,
    constrained: bool = True,
    constraint_frame: str = "inertial",
    formulation: str = "R3xSO3",
    mass: float = 15.0,
    inertia: ArrayLike = (0.234375, 0.46875, 0.234375),
    com: ArrayLike = (0.0, 1.0, 0.0),
    gravity: ArrayLike = (0.0, 0.0, -9.81),
    omega0: ArrayLike = (0.0, 150.0, -4.61538),
) -> Model:
    """A fast heavy top that turns about a fixed point.

    The body "top" starts from R = I with the consistent velocity.

    Parameters
    ----------
    constrained : bool
        True: six coordinates of the COM's frame and a spherical joint "fixed_point" at the origin, x - R com = 0.
        False: only the rotation about the fixed point.
    constraint_frame : str
        "inertial": the rows are x - R com; "body": they are R^T x - com.
    formulation : str
        See `ModelBuilder`.
    mass : float
        Mass, kg.
    inertia : array_like
        Inertia about the COM in body axes, kg m^2.
    com : array_like, shape (3,)
        Vector from the fixed point to the COM in body axes, m.
    gravity : array_like, shape (3,)
        Acceleration in inertial axes, m/s^2.
    omega0 : array_like, shape (3,)
        Initial angular velocity, body axes, rad/s.

    Returns
    -------
    Model
        It starts as described above.
    """
    frames = {"inertial": CARRIERS[0], "body": CARRIERS[2]}
    carrier = frames[choice("constraint_frame", constraint_frame, frames)]
    X, omega = array("com", com, (3,)), array("omega0", omega0, (3,))
    builder = ModelBuilder(gravity=gravity, formulation=formulation)
    add_top = functools.partial(builder.add_body, "top", mass=mass, inertia=inertia, angular_velocity=omega)
    if not constrained:
        add_top(pivot=np.zeros(3), com=X)
        return builder.build()
    add_top(position=X, velocity=cross(omega, X))
    builder.add_joint("spherical", ground, "top", point=np.zeros(3), carrier=carrier, name="fixed_point")
    return builder.build()
