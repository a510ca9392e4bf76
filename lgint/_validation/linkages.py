"""Problems of IFToMM's library, linkages that close and some that move by their geometry alone, and Bennett's."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from lgint import inertia
from lgint._args import Array
from lgint._build.builder import ModelBuilder
from lgint._build.parts import Partner, ground
from lgint._model.model import Model
from lgint._run.integrate import integrate
from lgint._validation.case import Number, case

SHARP: dict[str, Any] = {"rtol": 1e-12, "atol": 1e-12}
LIBRARY = "IFToMM Library of Computational Benchmark Problems, "
SOLUTION = "its solution as drawn by Tagliapietra, Vivian, Ceseracciu and Reggiani 2015"
G = 9.81


@case(
    "iftomm-pendulum",
    title="a pendulum of 1 m let go at 90 degrees, after 10 s",
    source=f"{LIBRARY}A01, and {SOLUTION}; closed form by Jacobi's elliptic functions",
)
def simple_pendulum() -> list[Number]:
    """The half of its angle has the sine k sn(K - omega t), with k^2 = 1/2."""
    from scipy.special import ellipj, ellipk

    builder = ModelBuilder(gravity=(0, -G, 0), formulation="minimal")
    builder.add_body("bob", mass=1.0, inertia=(0, 0, 0), position=(-1, 0, 0))
    builder.add_joint("revolute", ground, "bob", point=(0, 0, 0), axis=(0, 0, 1))
    run = integrate(builder.build(), "dop853", t_end=10.0, **SHARP)
    sine = np.sqrt(0.5) * ellipj(ellipk(0.5) - np.sqrt(G) * 10.0, 0.5)[0]
    exact = (-2 * sine * np.sqrt(1 - sine**2), 2 * sine**2 - 1)
    found = [float(x) for x in run.position("bob")[-1]]
    drawn = [
        Number(f"{axis} / m", digits, x)
        for axis, digits, x in zip("xy", ("-0.275087", "-0.961419"), found, strict=False)
    ]
    return drawn + [
        Number(f"{axis}, closed form / m", f"{e:.9f}", x) for axis, e, x in zip("xy", exact, found, strict=False)
    ]


def _windows(n: int) -> Model:
    """Upright links on the ground, joined by n links at their tops, all of 1 m and 1 kg, which start at 1 m/s."""
    builder = ModelBuilder(gravity=(0, -G, 0), formulation="minimal")
    bar: dict[str, Any] = {"mass": 1.0, "inertia": (1 / 12, 1 / 12, 1 / 12)}
    for i in range(n + 1):
        builder.add_body(f"post{i}", position=(i, 0.5, 0), velocity=(0.5, 0, 0), angular_velocity=(0, 0, -1), **bar)
        builder.add_joint("revolute", ground, f"post{i}", point=(i, 0, 0), axis=(0, 0, 1))
    for i in range(n):
        builder.add_body(f"beam{i}", position=(i + 0.5, 1, 0), velocity=(1, 0, 0), **bar)
        builder.add_joint("revolute", f"post{i}", f"beam{i}", point=(i, 1, 0), axis=(0, 0, 1))
        builder.add_joint("revolute", f"beam{i}", f"post{i + 1}", point=(i + 1, 1, 0), axis=(0, 0, 1))
    return builder.build(redundant="drop")


@case(
    "iftomm-four-bars",
    title="two and 40 four-bar windows in a row, which pass positions where every window could move alone, after 10 s",
    source=f"{LIBRARY}A02, and {SOLUTION} for 40 windows; closed form of a pendulum that turns round",
)
def four_bars() -> list[Number]:
    """All windows move as one pendulum, theta'' = w2 sin(theta), which starts upright at 1 rad/s."""
    from scipy.special import ellipj, ellipk

    numbers = []
    for n in (2, 40):
        w2 = G * ((n + 1) / 2 + n) / ((n + 1) / 3 + n)
        rate, k2 = np.sqrt(0.25 + w2), w2 / (0.25 + w2)
        sn, cn, _, _ = ellipj(rate * 10.0 - ellipk(k2), k2)
        exact = (-2 * sn * cn, 2 * sn**2 - 1)
        run = integrate(_windows(n), "radau5", t_end=10.0, rtol=1e-9, atol=1e-9)
        x, y, _ = run.point("post0", (0, 0.5, 0))[-1]
        pairs = zip("xy", exact, (x, y), strict=True)
        numbers += [Number(f"{n} windows, {axis}, closed form / m", f"{e:.7f}", float(f)) for axis, e, f in pairs]
    drawn = zip("xy", ("0.180513", "0.983573"), (x, y), strict=True)
    return numbers + [Number(f"40 windows, {axis} / m", digits, float(f)) for axis, digits, f in drawn]


def _bricard() -> Model:
    """Five slender rods and the ground along edges of a cube, with hinges across."""
    corners = np.array([(0, 0, 0), (1, 0, 0), (1, -1, 0), (1, -1, 1), (0, -1, 1), (0, 0, 1)], dtype=float)
    builder = ModelBuilder(gravity=(0, -G, 0), formulation="minimal")
    before: Partner = ground
    for i, (begin, end) in enumerate(pairwise(corners)):
        slender = np.where(end != begin, 0.0, 1 / 12)
        builder.add_body(f"bar{i}", mass=1.0, inertia=slender, position=(begin + end) / 2)
        builder.add_joint("revolute", before, f"bar{i}", point=begin, axis=np.eye(3)[(i + 1) % 3], name=f"hinge{i}")
        before = f"bar{i}"
    builder.add_joint("revolute", before, ground, point=corners[5], axis=(1, 0, 0), name="hinge5")
    return builder.build(redundant="drop")


@case(
    "bricard",
    title="Bricard's linkage of six hinges along edges of a cube, which moves by its geometry alone, for 10 s",
    source=f"{LIBRARY}A04, and {SOLUTION}; closed form of the angles: Chen, You and Tarnai 2005",
)
def bricard() -> list[Number]:
    """The corner P3; and hinges that follow each other: cos a + cos b + cos a cos b = 0, both at first 90 degrees."""
    run = integrate(_bricard(), "dop853", t_end=10.0, t_eval=[1.0, 10.0], **SHARP)
    first, second, third = (float(run.joint_angle(f"hinge{i}")[-2]) for i in range(3))
    sine = np.sin(first)
    energy = run.energy()
    corner = run.point("bar2", (0, 0, -0.5))
    drawn = {1: ("0.273334", "-0.886544", "-0.462644"), 10: ("0.999265", "-1.000000", "-0.000735")}
    return [
        Number(f"{axis} after {t} s / m", digits, float(x))
        for (t, printed), at in zip(drawn.items(), corner[-2:], strict=True)
        for axis, digits, x in zip("xyz", printed, at, strict=True)
    ] + [
        Number("second hinge / rad", f"{-np.arcsin(sine / (1 + sine)):.10f}", second),
        Number("third hinge less the first / rad", "0.0000000000", third - first),
        Number("change of energy in 10 s / J", "0.0000000000", float(energy[-1] - energy[0])),
    ]


def _governor() -> Model:
    """A shaft that turns at 2 pi rad/s, two rods with masses at their ends, and a slider that springs lift by them."""
    builder = ModelBuilder(gravity=(0, 0, -G), formulation="minimal")
    shaft, slider = inertia.box(0.3, (0.01, 0.01, 1)), inertia.box(3.0, (0.1, 0.1, 0.1))
    builder.add_body("shaft", mass=shaft.mass, inertia=shaft, position=(0, 0, 0.5))
    builder.add_joint("revolute", ground, "shaft", point=(0, 0, 0), axis=(0, 0, 1), name="axle")
    builder.add_body("slider", mass=slider.mass, inertia=slider, position=(0, 0, 0.5))
    builder.add_joint("prismatic", "shaft", "slider", point=(0, 0, 0.5), axis=(0, 0, 1))
    bar = inertia.box(0.3, (1, 0.01, 0.01))
    for name, side in (("right", 1), ("left", -1)):
        pin, along = np.array([side * 0.05, 0, 1]), np.array([side * np.cos(np.pi / 6), 0, -0.5])
        turn = (0, np.pi / 6 if side > 0 else np.pi * 5 / 6, 0)
        rod = inertia.combined(bar, inertia.from_points([5.0], [(0.5, 0, 0)]))
        builder.add_body(name, mass=rod.mass, inertia=rod, position=pin + (0.5 + rod.com[0]) * along, rotation=turn)
        builder.add_joint("revolute", "shaft", name, point=pin, axis=(0, 1, 0))
        ends = np.array([(side * 0.05, 0, 0.5), pin + 0.5 * along])
        builder.add_spring("slider", name, point=ends, stiffness=8e5, damping=4e4, length=0.5)
    return builder.build().with_state(rates={"axle": 2 * np.pi})


@case(
    "flyball-governor",
    title="a governor with a slider on two stiff springs with dampers: the height of the slider",
    source=f"{LIBRARY}A05, and {SOLUTION}",
)
def governor() -> list[Number]:
    """The springs stand for rods: `radau5` takes 320 steps in 10 s at tolerances of 1e-6, `dop853` 7648."""
    printed = {0.5: "0.743249", 1.0: "0.501420", 1.5: "0.740684", 2.0: "0.505909", 2.5: "0.735602", 3.0: "0.513246"}
    run = integrate(_governor(), "radau5", t_end=3.0, t_eval=[*printed], rtol=1e-9, atol=1e-9)
    height = run.position("slider")[-len(printed) :, 2]
    return [
        Number(f"after {t} s / m", digits, float(z)) for (t, digits), z in zip(printed.items(), height, strict=True)
    ]


TWIST = np.radians([40.0, 75.0])  # of the short and of the long links, which are as long as their sines
BEGIN = np.radians(70.0)  # of the first hinge


def _second(first: float) -> float:
    """The angle of the second hinge of Bennett's linkage from that of the first one."""
    ratio = np.sin((TWIST[1] + TWIST[0]) / 2) / np.sin((TWIST[1] - TWIST[0]) / 2)
    return float(2 * np.arctan2(ratio, np.tan(first / 2)))


def _about(axis: int, angle: float) -> Array:
    """The rotation about a coordinate axis."""
    i, j = (axis + 1) % 3, (axis + 2) % 3
    R = np.eye(3)
    R[[i, j], [i, j]], R[i, j], R[j, i] = np.cos(angle), -np.sin(angle), np.sin(angle)
    return R


def _bennett() -> Model:
    """Four links, of which the last one stays, and hinges whose axes follow from angles, lengths and twists in turn."""
    R, x = np.eye(3), np.zeros(3)
    axes = []
    for angle, twist in zip((BEGIN, _second(BEGIN), -BEGIN, -_second(BEGIN)), (*TWIST, *TWIST), strict=True):
        axes.append((x, R[:, 2]))
        R = R @ _about(2, angle)
        x, R = x + np.sin(twist) * R[:, 0], R @ _about(0, twist)
    builder = ModelBuilder(formulation="minimal")
    links: list[Partner] = [f"link{i}" for i in range(3)]
    for i, link in enumerate(links):
        middle = (axes[i][0] + axes[i + 1][0]) / 2
        builder.add_body(str(link), mass=1.0, inertia=(0.1, 0.2, 0.25), position=middle)
    for i, (before, after) in enumerate(pairwise([ground, *links, ground])):
        builder.add_joint("revolute", before, after, point=axes[i][0], axis=axes[i][1], name=f"hinge{i}")
    return builder.build(redundant="drop").with_state(rates={"hinge0": 1.0})


@case(
    "bennett",
    title="Bennett's linkage of four hinges in space, twisted by 40 and 75 degrees, which turns freely for 2 s",
    source="Bennett 1903; closed form tan(a/2) tan(b/2) = sin((B + A)/2)/sin((B - A)/2), with the twists A and B",
    published=False,
)
def bennett() -> list[Number]:
    """Angles a and b of hinges that follow each other; those opposite are the same but for their sign."""
    run = integrate(_bennett(), "dop853", t_end=2.0, **SHARP)
    turned = [float(run.joint_angle(f"hinge{i}")[-1]) for i in range(3)]
    return [
        Number("second hinge / rad", f"{_second(BEGIN + turned[0]):.10f}", _second(BEGIN) + turned[1]),
        Number("third hinge plus the first / rad", "0.0000000000", turned[2] + turned[0]),
    ]
