"""A robot of four legs with three joints each."""

from __future__ import annotations

from itertools import product
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from lgint._args import array
from lgint._build.builder import ModelBuilder
from lgint._model.model import Model
from lgint.models._registry import benchmark

TRUNK: Final = (0.4, 0.2, 0.1)  # m
LEG: Final = (0.08, 0.2, 0.2)  # lengths of hip, thigh and shank, m
MASSES: Final = 6.0, 0.5, 0.8, 0.2  # trunk, hip, thigh, shank, kg


@benchmark("lgint: boxes and rods with masses of our own")
def quadruped(
    *,
    formulation: str = "minimal",
    bend: float = 0.8,
    stiffness: float = 60.0,
    damping: float = 2.0,
    gravity: ArrayLike = (0.0, 0.0, -9.81),
) -> Model:
    """A trunk with four legs that falls freely while drives hold its legs.

    Bodies: "trunk", and "front left hip", "... thigh", "... shank" of four legs; each has a joint of its own name with
    ".joint". The feet are at the ends of the shanks, 0.1 m from their COMs.

    Parameters
    ----------
    formulation : str
        See `ModelBuilder`. With "minimal" the trunk is a free body on R^3 x SO(3).
    bend : float
        Angle of the thighs from the vertical, rad; the shanks are bent back by twice as much.
    stiffness, damping : float
        Of the drives in all joints, N m/rad and N m s/rad.
    gravity : array_like, shape (3,)
        Acceleration in inertial axes, m/s^2.

    Returns
    -------
    Model
        At rest, the trunk at a height of 0.4 m.
    """
    builder = ModelBuilder(gravity=array("gravity", gravity, (3,)), formulation=formulation)
    trunk = np.array([0.0, 0.0, 0.4])
    sides = MASSES[0] / 12 * np.array(TRUNK) ** 2
    whole = {"formulation": "R3xSO3"} if formulation == "minimal" else {}
    builder.add_body("trunk", mass=MASSES[0], inertia=sides.sum() - sides, position=trunk, **whole)
    for (end, x), (side, y) in product((("front", 1), ("hind", -1)), (("left", 1), ("right", -1))):
        before, point = "trunk", trunk + (x * TRUNK[0] / 2, y * TRUNK[1] / 2, 0)
        directions = (0, y, 0), (-np.sin(bend), 0, -np.cos(bend)), (np.sin(bend), 0, -np.cos(bend))
        axes = (1, 0, 0), (0, 1, 0), (0, 1, 0)
        parts = zip(("hip", "thigh", "shank"), LEG, MASSES[1:], directions, axes, strict=True)
        for part, length, mass, direction, axis in parts:
            name, along = f"{end} {side} {part}", np.array(direction)
            inertia = mass * (length**2 / 12 * (np.eye(3) - np.outer(along, along)) + 1e-4 * np.eye(3))
            builder.add_body(name, mass=mass, inertia=inertia, position=point + length / 2 * along)
            builder.add_joint("revolute", before, name, point=point, axis=axis, name=f"{name}.joint")
            builder.add_joint_drive(f"{name}.joint", stiffness=stiffness, damping=damping, name=f"{name}.drive")
            before, point = name, point + length * along
    return builder.build()
