"""Mechanisms and falling bodies with published results of other programs: Modelica's library, NASA's check-cases."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lgint import inertia
from lgint._args import Array
from lgint._build.builder import ModelBuilder
from lgint._build.parts import Partner, ground
from lgint._run.integrate import integrate
from lgint._validation.case import Number, case

SHARP: dict[str, Any] = {"rtol": 1e-11, "atol": 1e-11}
MODELICA = "Modelica Association 2020, reference results of the Modelica Standard Library 4.0.0, "
COARSE = "a hundred times the tolerance of 1e-6 with which the source ran"
STEEL, G = 7700.0, 9.80665  # density and gravity of the library, kg/m^3 and m/s^2


def _modelica(printed: dict[str, str], found: Iterable[float]) -> list[Number]:
    """Numbers that agree to a hundred times the tolerance of their source."""
    return [
        Number(what, digits, float(ours), 1e-4 * max(1.0, abs(float(digits))), COARSE)
        for (what, digits), ours in zip(printed.items(), found, strict=True)
    ]


def _box(builder: ModelBuilder, name: str, begin: ArrayLike, end: ArrayLike, width: float) -> None:
    """A steel bar in the plane x-y, with a square section."""
    begin, end = np.asarray(begin, dtype=float), np.asarray(end, dtype=float)
    along = end - begin
    length = float(np.linalg.norm(along))
    part = inertia.box(STEEL * length * width**2, (length, width, width))
    turn = (0, 0, np.arctan2(along[1], along[0]))
    builder.add_body(name, mass=part.mass, inertia=part, position=(begin + end) / 2, rotation=turn)


@case(
    "modelica-double-pendulum",
    title="a double pendulum of two steel bars with a damper, let go at 90 degrees, after 3 s",
    source=MODELICA + "Elementary.DoublePendulum",
)
def double_pendulum() -> list[Number]:
    """Two joints and no loop."""
    builder = ModelBuilder(gravity=(0, -G, 0), formulation="minimal")
    before: Partner = ground
    for i, name in enumerate(("upper", "lower")):
        _box(builder, name, (i / 2, 0, 0), ((i + 1) / 2, 0, 0), 0.06)
        builder.add_joint("revolute", before, name, point=(i / 2, 0, 0), axis=(0, 0, 1), name=f"pin{i}")
        before = name
    builder.add_joint_spring("pin0", stiffness=0.0, damping=0.1)
    run = integrate(builder.build(), "dop853", t_end=3.0, **SHARP)
    printed = {
        "upper angle / rad": "-2.317928561646287",
        "upper rate / (rad/s)": "4.0941101972782823",
        "lower angle / rad": "-1.73649166916319",
        "lower rate / (rad/s)": "-0.050376704634494347",
    }
    found = [f(name)[-1] for name in ("pin0", "pin1") for f in (run.joint_angle, run.joint_rate)]
    return _modelica(printed, found)


@case(
    "modelica-four-bar",
    title="a loop in space of three bars, six hinges and a slide, which starts at 300 degrees per second, after 5 s",
    source=MODELICA + "Loops.Fourbar1",
)
def four_bar() -> list[Number]:
    """The three hinges at one end of the coupler are a spherical joint, the two at the other one a universal joint."""
    builder = ModelBuilder(gravity=(0, -G, 0), formulation="minimal")
    corner, far, foot = np.array([0, 0.5, 0.1]), np.array([1.0, 0.2, 0]), np.array([1.0, 0, 0])
    for name, begin, end in (("crank", np.zeros(3), corner), ("post", foot, far), ("coupler", far, corner)):
        along = end - begin
        length = float(np.linalg.norm(along))
        rod = inertia.cylinder(STEEL * np.pi * 0.025**2 * length, 0.025, length, axis=along)
        builder.add_body(name, mass=rod.mass, inertia=rod, position=(begin + end) / 2)
    builder.add_joint("revolute", ground, "crank", point=(0, 0, 0), axis=(1, 0, 0), name="drive")
    builder.add_joint("prismatic", ground, "post", point=foot, axis=(1, 0, 0))
    builder.add_joint("universal", "post", "coupler", point=far, axis=(0, 1, 0), second_axis=(0, 0, 1))
    builder.add_joint("spherical", "coupler", "crank", point=corner)
    model = builder.build().with_state(rates={"drive": np.radians(300)})
    run = integrate(model, "dop853", t_end=5.0, **SHARP)
    printed = {"crank angle / rad": "40.3282362223391", "crank rate / (rad/s)": "11.739421903908035"}
    return _modelica(printed, [run.joint_angle("drive")[-1], run.joint_rate("drive")[-1]])


@case(
    "modelica-planar-four-bar",
    title="a plane four-bar linkage with a damper, let go from rest, after 1 s",
    source=MODELICA + "Loops.PlanarFourbar",
)
def planar_four_bar() -> list[Number]:
    """Its hinges are parallel, so that three of the rows that close the loop are redundant."""
    builder = ModelBuilder(gravity=(0, -G, 0), formulation="minimal")
    bearing, elbow, knee = np.array([-0.15, 1, 0]), np.array([0.4, 0, 0]), np.array([0.5, 1.1, 0])
    _box(builder, "crank", (0, 0, 0), elbow, 0.05)
    _box(builder, "coupler", elbow, knee, 0.05)
    _box(builder, "rocker", bearing, knee, 0.05)
    builder.add_joint("revolute", ground, "crank", point=(0, 0, 0), axis=(0, 0, 1), name="pin")
    builder.add_joint("revolute", "crank", "coupler", point=elbow, axis=(0, 0, 1))
    builder.add_joint("revolute", ground, "rocker", point=bearing, axis=(0, 0, 1))
    builder.add_joint("revolute", "coupler", "rocker", point=knee, axis=(0, 0, 1))
    builder.add_joint_spring("pin", stiffness=0.0, damping=0.1)
    run = integrate(builder.build(redundant="drop"), "dop853", t_end=1.0, **SHARP)
    printed = {"crank angle / rad": "-1.8210678056735194", "crank rate / (rad/s)": "12.455511010861224"}
    return _modelica(printed, [run.joint_angle("pin")[-1], run.joint_rate("pin")[-1]])


@case(
    "modelica-rolling-wheel",
    title="a wheel that rolls and tumbles on a plane, after 1 s",
    source=MODELICA + "Elementary.RollingWheel",
)
def rolling_wheel() -> list[Number]:
    """It rolls about its y-axis without slip."""
    builder = ModelBuilder(gravity=(0, 0, -G))
    motion: dict[str, Any] = {"velocity": (1.5, -0.3, 0), "angular_velocity": (1, 5, 0)}
    builder.add_body("wheel", mass=2.0, inertia=(0.12, 0.06, 0.12), position=(0.2, 0.2, 0.3), **motion)
    builder.add_rolling("wheel", radius=0.3, axis=(0, 1, 0))
    run = integrate(builder.build(), "dop853", t_end=1.0, **SHARP)
    printed = {"x / m": "0.70056889148862489", "y / m": "-0.70936221965178681"}
    return _modelica(printed, run.position("wheel")[-1, :2])


def _gravitation(t: float, x: Array, R: Array, xdot: Array, omega: Array) -> Array:
    """The earth's attraction of a unit mass with the term J2 of its flattening, ft and s."""
    mu, J2, a = 3.986004418e14 / 0.3048**3, 1.08262982e-3, 6378137.0 / 0.3048
    r = np.linalg.norm(x)
    bulge = 1.5 * J2 * (a / r) ** 2
    flat = 5 * (x[2] / r) ** 2
    pull = -mu / r**3 * x * (1 + bulge * (np.array([1.0, 1.0, 3.0]) - flat))
    return np.concatenate([pull, np.zeros(3)])


@case(
    "nasa-dropped-sphere",
    title="a sphere dropped above the equator of a rotating, flattened earth, after 30 s",
    source="NASA/TM-2015-218675, atmospheric check-case 1, inertial data of simulation 4",
)
def dropped_sphere() -> list[Number]:
    """It falls without air; the term J2 of the earth's gravity counts."""
    start, speed = 2.09556463255e7, 1528.10982905
    builder = ModelBuilder()
    builder.add_body("sphere", mass=1.0, inertia=(1, 1, 1), position=(start, 0, 0), velocity=(0, speed, 0))
    builder.add_force_law(_gravitation, bodies="sphere")
    run = integrate(builder.build(), "dop853", t_end=30.0, rtol=1e-12, atol=1e-6)
    printed = {
        "x / ft": "2.09411950742E7",
        "y / ft": "45832.753467",
        "velocity x / (ft/s)": "-963.637539981",
        "velocity y / (ft/s)": "1527.05530171",
    }
    found = [*run.position("sphere")[-1, :2], *run.velocity("sphere")[-1, :2]]
    apart = "the simulations of the source differ from each other by 3e-9 ft/s"
    limits: list[dict[str, Any]] = [{}, {}, {"within": 1e-8, "why": apart}, {}]
    return [
        Number(what, p, float(x), **limit) for (what, p), x, limit in zip(printed.items(), found, limits, strict=True)
    ]


@case(
    "nasa-tumbling-brick",
    title="a brick that tumbles freely, after 30 s",
    source="NASA/TM-2015-218675, atmospheric check-case 2, data of simulation 4",
)
def tumbling_brick() -> list[Number]:
    """Rates about the axes of the body, in degrees per second."""
    builder = ModelBuilder()
    J = (0.00189422, 0.006211019, 0.007194665)  # slug ft^2
    builder.add_body("brick", mass=0.155404754, inertia=J, angular_velocity=np.radians((10, 20, 30)))
    run = integrate(builder.build(), "dop853", t_end=30.0, rtol=1e-13, atol=1e-13)
    printed = ("12.6183907757", "-17.3974747619", "31.1195888868")
    found = np.degrees(run.angular_velocity("brick")[-1])
    steps = "the steps of the source: 30-digit arithmetic gives 12.61839077591, -17.39747476161 and 31.11958888694"
    return [
        Number(f"{axis} / (deg/s)", p, float(x), 1e-9, steps)
        for axis, p, x in zip(("roll", "pitch", "yaw"), printed, found, strict=True)
    ]
