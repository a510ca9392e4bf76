"""A spatial slider-crank, the benchmark of the IFToMM library."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from lgint._args import Array, array, choice, number
from lgint._build.builder import ModelBuilder
from lgint._build.parts import ground
from lgint._model.model import Model
from lgint.models._registry import benchmark

X_AXIS = np.array([1.0, 0.0, 0.0])
A = np.array([0.0, 0.1, 0.12])  # the crank's pivot
ARM = np.array([0.0, 0.0, 0.08])  # from A to B at the start
B = A + ARM
C = np.array([0.2, 0.0, 0.0])
COM = {"middle": ARM / 2, "pivot": np.zeros(3)}


@benchmark("holzinger2024 4.3; holzinger2025 7.3")
def slider_crank(
    *,
    formulation: str = "R3xSO3",
    crank_com: str = "middle",
    crank_speed: float = 6.0,
    crank_mass: float = 0.12,
    crank_inertia: ArrayLike = (1e-4, 1e-5, 1e-4),
    rod_mass: float = 0.5,
    rod_inertia: ArrayLike = (4e-4, 4e-3, 4e-3),
    slider_mass: float = 2.0,
    slider_inertia: ArrayLike = (1e-4, 1e-4, 1e-4),
    gravity: ArrayLike = (0.0, 0.0, -9.81),
) -> Model:
    """The spatial slider-crank of the IFToMM library.

    Bodies: "crank", "rod", "slider"; joints: "A" (revolute about x), "B" (spherical), "C" (universal), "guide".

    The crank turns about A = (0, 0.1, 0.12), and its arm of 0.08 m is upright at the start; the rod of 0.3 m leads from
    B to C = (0.2, 0, 0) on the slider, which moves along x. At joint C the points coincide, and the slider's x axis
    stays normal to the rod's y axis. The mechanism has one degree of freedom.

    Parameters
    ----------
    formulation : str
        See `ModelBuilder`.
    crank_com : str
        "middle" of the crank (the benchmark's value) or at the "pivot" (the papers' table read literally).
    crank_speed : float
        Initial angular velocity about x, rad/s.
    crank_mass, rod_mass, slider_mass : float
        Masses, kg.
    crank_inertia, rod_inertia, slider_inertia : array_like
        Inertia about the COM in body axes, kg m^2. The rod's x axis leads from B to C, and its y axis is
        (0, 2, -1)/sqrt(5) at the start.
    gravity : array_like, shape (3,)
        Acceleration in inertial axes, m/s^2.

    Returns
    -------
    Model
        It starts as described above.
    """
    speed = number("crank_speed", crank_speed)
    com = COM[choice("crank_com", crank_com, COM)]
    R_rod = np.column_stack(
        [(C - B) / 0.3, np.array([0.0, 2.0, -1.0]) / np.sqrt(5), np.array([5.0, 2, 4]) / np.sqrt(45)]
    )
    # B turns with the crank; C moves so that the rod keeps its length
    v_B = np.cross(speed * X_AXIS, ARM)
    v_C = (C - B) @ v_B / (C - B)[0] * X_AXIS
    omega_rod = _rod_velocity(v_C - v_B, R_rod)

    builder = ModelBuilder(gravity=array("gravity", gravity, (3,)), formulation=formulation)
    builder.add_body(
        "crank",
        mass=crank_mass,
        inertia=crank_inertia,
        position=A + com,
        velocity=np.cross(speed * X_AXIS, com),
        angular_velocity=speed * X_AXIS,
    )
    builder.add_body(
        "rod",
        mass=rod_mass,
        inertia=rod_inertia,
        position=(B + C) / 2,
        rotation=R_rod,
        velocity=(v_B + v_C) / 2,
        angular_velocity=R_rod.T @ omega_rod,
    )
    builder.add_body("slider", mass=slider_mass, inertia=slider_inertia, position=C, velocity=v_C)
    builder.add_joint("revolute", ground, "crank", point=A, axis=X_AXIS, name="A")
    builder.add_joint("spherical", "crank", "rod", point=B, name="B")
    builder.add_joint("universal", "slider", "rod", point=C, axis=X_AXIS, second_axis=R_rod[:, 1], name="C")
    builder.add_joint("prismatic", ground, "slider", point=C, axis=X_AXIS, name="guide")
    return builder.build()


def _rod_velocity(rate: Array, R: Array) -> Array:
    """omega, inertial: omega x (C - B) = rate, and (omega x y_rod) . e_x = 0 as joint C requires."""
    x, y = R[:, 0], R[:, 1]
    across = np.cross(x, rate) / 0.3
    normal = np.cross(y, X_AXIS)
    omega: Array = across - (normal @ across) / (normal @ x) * x
    return omega
