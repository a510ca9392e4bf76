"""A chain of bars that swings from the origin, to measure how costs grow with the number of bodies."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from lgint._args import array, choice, number
from lgint._build.builder import ModelBuilder
from lgint._build.parts import ground
from lgint._model.model import Model
from lgint.models._registry import benchmark

AXES = ((0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


@benchmark("lgint: bars of 0.1 x 0.01 x 0.01 m and density 1000 kg/m^3")
def pendulum_chain(
    *,
    n: int = 10,
    joint: str = "spherical",
    formulation: str = "R3xSO3",
    length: float = 0.1,
    width: float = 0.01,
    density: float = 1000.0,
    gravity: ArrayLike = (0.0, 0.0, -9.81),
) -> Model:
    """A chain of equal bars that hang from one another, of any number.

    The `n` bars "link1" ... lie along +x from the origin, at rest, with the joints "joint1" ... at their inner ends.

    Parameters
    ----------
    n : int
        Number of bars.
    joint : str
        "spherical", or "revolute" with axes along y, z, y, ...
    formulation : str
        See `ModelBuilder`.
    length, width : float
        Length of a bar and side of its square section, m.
    density : float
        Density, kg/m^3.
    gravity : array_like, shape (3,)
        Acceleration in inertial axes, m/s^2.

    Returns
    -------
    Model
        It starts as described above.
    """
    choice("joint", joint, ("spherical", "revolute"))
    if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or n < 1:
        raise ValueError(f"n: a whole number >= 1 expected, got {n!r}")
    long, wide = number("length", length, positive=True), number("width", width, positive=True)
    mass = number("density", density, positive=True) * long * wide**2
    inertia = mass / 12 * np.array([2 * wide**2, long**2 + wide**2, long**2 + wide**2])
    builder = ModelBuilder(gravity=array("gravity", gravity, (3,)), formulation=formulation)
    for i in range(n):
        link, before = f"link{i + 1}", f"link{i}" if i else ground
        builder.add_body(link, mass=mass, inertia=inertia, position=((i + 0.5) * long, 0.0, 0.0))
        axis = AXES[i % 2] if joint == "revolute" else None
        builder.add_joint(joint, before, link, point=(i * long, 0.0, 0.0), axis=axis, name=f"joint{i + 1}")
    return builder.build()
