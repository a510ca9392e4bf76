"""A fast rotor on two elastic supports."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from lgint._args import array, number
from lgint._build.builder import ModelBuilder
from lgint._build.parts import ground
from lgint._model.model import Model
from lgint.models._registry import benchmark

CONSISTENT_MASS = 1.233075  # kg; the mass that matches the printed inertia and damping


@benchmark("holzinger2024 4.2; holzinger2025 7.2")
def rotor(
    *,
    formulation: str = "R3xSO3",
    mass: float = 1.223,
    inertia: ArrayLike = (0.001541, 0.000812, 0.000812),
    stiffness: float = 4000.0,
    damping: float = 5.165093,
    omega0: ArrayLike = (20944.0, 0.0, 0.0),
    left: float = 0.11,
    right: float = 0.09,
    gravity: float = 9.81,
    torque_sign: float = 1.0,
    consistent_mass: bool = False,
) -> Model:
    """A fast rotor on two elastic supports.

    The body "rotor" has its axis along x, and its COM is at the origin.

    The left support acts along x, y and z, the right one along y and z; both are unstretched at t = 0. Instead of
    gravity there is the constant inertial torque torque_sign (L/2 - left) m g about z, with L = left + right.

    Parameters
    ----------
    formulation : str
        See `ModelBuilder`.
    mass : float
        Mass, kg.
    inertia : array_like
        Inertia about the COM in body axes, kg m^2.
    stiffness, damping : float
        Constants of each support along each of its axes in N/m and N s/m.
    omega0 : array_like, shape (3,)
        Initial angular velocity, body axes, rad/s.
    left, right : float
        Distances from the COM to the supports, m.
    gravity : float
        Acceleration g in the torque, m/s^2.
    torque_sign : float
        +1 as in holzinger2024, -1 as in holzinger2025.
    consistent_mass : bool
        Use the mass 1.233075 kg, to which the printed inertia and damping belong, instead of `mass`.

    Returns
    -------
    Model
        It starts as described above.
    """
    m = CONSISTENT_MASS if consistent_mass else number("mass", mass, positive=True)
    L_left, L_right = number("left", left, positive=True), number("right", right, positive=True)
    k, d = number("stiffness", stiffness), number("damping", damping)
    tau = number("torque_sign", torque_sign) * ((L_left + L_right) / 2 - L_left) * m * number("gravity", gravity)

    builder = ModelBuilder(formulation=formulation)
    builder.add_body("rotor", mass=m, inertia=inertia, angular_velocity=array("omega0", omega0, (3,)))
    supports = {"left": ((-L_left, 0.0, 0.0), np.ones(3)), "right": ((L_right, 0.0, 0.0), np.array([0.0, 1.0, 1.0]))}
    for name, (point, axes) in supports.items():
        builder.add_cartesian_spring(
            ground, "rotor", stiffness=k * axes, damping=d * axes, point_a=point, point_b=point, name=name
        )
    builder.add_force("rotor", torque=(0.0, 0.0, tau), name="weight")
    return builder.build()
