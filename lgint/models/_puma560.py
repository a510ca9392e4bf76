"""The Puma 560 robot under control of its joint angles."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from lgint._args import Array, array
from lgint._build.builder import ModelBuilder
from lgint._build.parts import Ground, ground
from lgint._model.model import Model
from lgint.models._registry import benchmark


class Link(NamedTuple):
    """Standard Denavit-Hartenberg parameters; COM and inertia in the frame after the transform, SI units."""

    d: float
    a: float
    alpha: float  # in quarter turns
    mass: float
    com: tuple[float, float, float]
    inertia: tuple[float, float, float]


LINKS = (
    Link(0.0, 0.0, 1, 20.0, (0.0, 0.0, 0.0), (1e-8, 0.35, 1e-8)),  # printed 0, 0.35, 0; a body needs a regular inertia
    Link(0.0, 0.4318, 0, 17.4, (-0.3638, 0.006, 0.2275), (0.13, 0.524, 0.539)),
    Link(0.15005, 0.0203, -1, 4.8, (-0.0203, -0.0141, 0.07), (0.066, 0.086, 0.0125)),
    Link(0.4318, 0.0, 1, 0.82, (0.0, 0.019, 0.0), (0.0018, 0.0013, 0.0018)),
    Link(0.0, 0.0, -1, 0.34, (0.0, 0.0, 0.0), (0.0003, 0.0004, 0.0003)),
    Link(0.0, 0.0, 0, 0.09, (0.0, 0.0, 0.032), (0.00015, 0.00015, 0.00004)),
)
# printed in degrees: -120, 60, -200, 90, 90, 45
GOAL = (-2 * np.pi / 3, np.pi / 3, -10 * np.pi / 9, np.pi / 2, np.pi / 2, np.pi / 4)
HALF_TIME = 0.5  # s, when the desired motion begins to decelerate


@benchmark("holzinger2024 4.4")
def puma560(
    *,
    formulation: str = "minimal",
    initial_angles: ArrayLike = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
    goal_angles: ArrayLike = GOAL,
    stiffness: ArrayLike = (40000.0, 40000.0, 40000.0, 100.0, 100.0, 10.0),
    damping: ArrayLike = (400.0, 400.0, 100.0, 1.0, 1.0, 0.1),
    gravity: ArrayLike = (0.0, 0.0, -9.81),
) -> Model:
    """The robot Puma 560 with controlled joints.

    Bodies: "link1" .. "link6" in their Denavit-Hartenberg frames; joints: "joint1" .. "joint6".

    "minimal" has the six joint angles as coordinates; every other formulation has 36 velocities and 30 constraints.

    Each joint has the torque P (phi_d - phi) + D (phi_d' - phi'). The desired motion phi_d starts from rest at the
    initial angles with phi_d'' = +a up to 0.5 s and -a afterwards; with a = 4 (goal - initial)/s^2 it reaches the goal
    at rest after 1 s.

    Tait-Bryan angles are measured from the links' axes at zero joint angles, so that |cos b| stays above 0.0526.

    Parameters
    ----------
    formulation : str
        See `ModelBuilder`.
    initial_angles, goal_angles : array_like, shape (6,)
        First and last joint angles of the desired motion, rad. The robot starts on it, at rest.
    stiffness, damping : array_like, shape (6,)
        P in N m/rad and D in N m s/rad.
    gravity : array_like, shape (3,)
        Acceleration in inertial axes, m/s^2.

    Returns
    -------
    Model
        It starts as described above.

    Warns
    -----
    UserWarning
        The published inertias of links 1 and 3 violate the triangle inequality.
    """
    begin, goal = array("initial_angles", initial_angles, (6,)), array("goal_angles", goal_angles, (6,))
    P, D = array("stiffness", stiffness, (6,)), array("damping", damping, (6,))
    builder = ModelBuilder(gravity=array("gravity", gravity, (3,)), formulation=formulation)
    R, origin, zero = np.eye(3), np.zeros(3), np.eye(3)
    before: str | Ground = ground
    for i, link in enumerate(LINKS):
        axis, point = R[:, 2], origin
        R, origin = after_link(link, begin[i], R, origin)
        zero, _ = after_link(link, 0.0, zero, origin)
        name, joint = f"link{i + 1}", f"joint{i + 1}"
        builder.add_body(
            name, mass=link.mass, inertia=link.inertia, position=origin + R @ link.com, rotation=R, reference=zero
        )
        builder.add_joint("revolute", before, name, point=point, axis=axis, angle=begin[i], name=joint)
        motion = desired_motion(begin[i], goal[i] - begin[i])
        builder.add_joint_drive(joint, stiffness=P[i], damping=D[i], motion=motion, name=f"drive{i + 1}")
        before = name
    return builder.build()


def after_link(link: Link, angle: float, R: Array, origin: Array) -> tuple[Array, Array]:
    """Axes and origin of the frame Rz(angle) Tz(d) Tx(a) Rx(alpha) after (R, origin)."""
    c, s = np.cos(angle), np.sin(angle)
    turned = R @ np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    ca, sa = (1.0, 0.0) if link.alpha == 0 else (0.0, float(link.alpha))
    end = origin + link.d * turned[:, 2] + link.a * turned[:, 0]
    return turned @ np.array([[1.0, 0.0, 0.0], [0.0, ca, -sa], [0.0, sa, ca]]), end


def desired_motion(begin: float, change: float) -> Array:
    """Pieces (t, angle, rate, acceleration) of a motion that accelerates for half a second, then decelerates."""
    a = change / HALF_TIME**2
    return np.array([[0.0, begin, 0.0, a], [HALF_TIME, begin + change / 2, a * HALF_TIME, -a]])
