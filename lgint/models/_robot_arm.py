"""An arm of six revolute joints, in the proportions of common collaborative robots."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from lgint._args import array
from lgint._build.builder import ModelBuilder
from lgint._build.parts import Ground, ground
from lgint._model.model import Model
from lgint.models._registry import benchmark


class Link(NamedTuple):
    """A tube between two joints, of the stretched arm along +x: its joint, and where its tube ends."""

    axis: tuple[float, float, float]
    joint: tuple[float, float, float]
    end: tuple[float, float, float]
    mass: float
    radius: float


LINKS = (
    Link((0, 0, 1), (0.0, 0.0, 0.0), (0.0, 0.0, 0.1), 3.5, 0.06),
    Link((0, 1, 0), (0.0, 0.1, 0.1), (0.4, 0.1, 0.1), 8.0, 0.06),
    Link((0, 1, 0), (0.4, 0.0, 0.1), (0.8, 0.0, 0.1), 2.5, 0.05),
    Link((0, 1, 0), (0.8, 0.1, 0.1), (0.8, 0.2, 0.1), 1.2, 0.04),
    Link((0, 0, 1), (0.8, 0.1, 0.1), (0.8, 0.1, 0.0), 1.2, 0.04),
    Link((0, 1, 0), (0.8, 0.1, 0.0), (0.8, 0.2, 0.0), 0.2, 0.04),
)


@benchmark("lgint: tubes with masses of our own")
def robot_arm(
    *,
    formulation: str = "minimal",
    stiffness: float = 0.0,
    damping: ArrayLike = (5.0, 5.0, 3.0, 0.5, 0.5, 0.2),
    gravity: ArrayLike = (0.0, 0.0, -9.81),
) -> Model:
    """An arm of six links that falls from its stretched position.

    Bodies: "link1" ... "link6", tubes of constant thickness; joints: "joint1" ... "joint6".

    Parameters
    ----------
    formulation : str
        See `ModelBuilder`.
    stiffness : float
        Of drives that hold the stretched position, N m/rad.
    damping : array_like, shape (6,)
        In the joints, N m s/rad.
    gravity : array_like, shape (3,)
        Acceleration in inertial axes, m/s^2.

    Returns
    -------
    Model
        At rest.
    """
    damping = array("damping", damping, (6,))
    builder = ModelBuilder(gravity=array("gravity", gravity, (3,)), formulation=formulation)
    before: str | Ground = ground
    for i, link in enumerate(LINKS, 1):
        start, end = np.array(link.joint), np.array(link.end)
        along = (end - start) / np.linalg.norm(end - start)
        across = link.mass * (link.radius**2 / 2 + (end - start) @ (end - start) / 12)
        inertia = across * np.eye(3) + (link.mass * link.radius**2 - across) * np.outer(along, along)
        name, joint = f"link{i}", f"joint{i}"
        builder.add_body(name, mass=link.mass, inertia=inertia, position=(start + end) / 2)
        builder.add_joint("revolute", before, name, point=start, axis=link.axis, name=joint)
        builder.add_joint_drive(joint, stiffness=stiffness, damping=damping[i - 1], name=f"drive{i}")
        before = name
    return builder.build()
