"""Beams in space and in mechanisms: three of the four benchmarks of Bauchau et al. 2016, and a beam that spins up."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lgint._args import Array
from lgint._build.builder import ModelBuilder
from lgint._build.parts import Partner, ground
from lgint._model.model import Model
from lgint._model.rod import Rod
from lgint._run.integrate import integrate
from lgint._validation.case import Number, case
from lgint._validation.rods import limit, tip_displacement

BENCHMARKS = "Bauchau et al. 2016; digits of MB-SEF, Sonneville 2021, "

HIGH, THIN, ALUMINIUM, SHEAR = 12.3777e-3, 3.2024e-3, 71.7e9, 71.7e9 / 2.62  # m, m, Pa, Pa: the Princeton beam
SERIES = sum(np.tanh(k * np.pi * HIGH / (2 * THIN)) / k**5 for k in range(1, 20, 2))
RECTANGLE = HIGH * THIN**3 / 3 * (1 - 192 / np.pi**5 * THIN / HIGH * SERIES)  # torsion constant of its section
CELLS = 1.0333  # that of four quadratic elements, by which the source has it, over that of the rectangle
COARSE = "the source has 10 to 199 elements"


def _cantilever(builder: ModelBuilder, length: float, edges: int, **section: Any) -> Rod:
    """A beam from the origin along x; the axes of its section are y and z."""
    return builder.add_rod(
        "beam",
        nodes=np.linspace((0, 0, 0), (length, 0, 0), edges + 1),
        rotations=np.broadcast_to(np.roll(np.eye(3), 1, axis=0), (edges + 1, 3, 3)),
        constraints=None,
        clamped=(0,),
        **section,
    )


def _strip(builder: ModelBuilder, edges: int) -> Rod:
    """The Princeton beam along x, with its high side along y."""
    area, G = HIGH * THIN, SHEAR
    stiffness = (
        *2 * (5 / 6 * G * area,),
        ALUMINIUM * area,
        ALUMINIUM * HIGH * THIN**3 / 12,
        ALUMINIUM * THIN * HIGH**3 / 12,
        G * CELLS * RECTANGLE,
    )
    return _cantilever(builder, 0.508, edges, stiffness=stiffness, inertia=(1, 1, 1, 1))


PRINCETON = {  # load / N, angle / degrees: displacements of the tip along the high and the thin side / m
    (8.896, 0): ("1.071417630E-002", ""),
    (8.896, 30): ("1.011169630E-002", "7.939482948E-002"),
    (8.896, 60): ("6.604665004E-003", "0.129887616"),
    (8.896, 90): ("", "0.146245978"),
    (13.345, 0): ("1.606423724E-002", ""),
    (13.345, 30): ("1.665873206E-002", "0.117735994"),
    (13.345, 60): ("1.157837500E-002", "0.181861627"),
    (13.345, 90): ("", "0.200677707"),
}


@case(
    "princeton-beam",
    title="the Princeton beam, a cantilever of aluminium that weights at its tip bend and twist: the tip",
    source="Dowell and Traybar 1975; digits of Ansys, Obrezkov et al. 2022, as the tests of Exudyn have them",
)
def princeton() -> list[Number]:
    """The angle is that between the load and the high side of the section, 12.3777 by 3.2024 mm."""
    numbers = []
    for (load, angle), printed in PRINCETON.items():
        for along, digits, ours in zip(("high", "thin"), printed, _deflected(load, np.radians(angle)), strict=True):
            if digits:
                what = f"{load} N at {angle} degrees, along the {along} side / m"
                numbers.append(Number(what, digits, ours, 1e-5, COARSE))
    return numbers


def _deflected(load: float, angle: float) -> tuple[float, float]:
    """Of the tip, along the high and the thin side."""
    force = (0, -load * np.cos(angle), load * np.sin(angle))
    tip = limit(lambda edges: tip_displacement(_strip, force, edges), (8, 16, 32))
    return float(-tip[1]), float(tip[2])


def _bar(builder: ModelBuilder, name: str, ends: ArrayLike, edges: int, section: Sequence[float]) -> Rod:
    """A straight rod of a square section: stiffness in shear, tension, bending and torsion; mass and inertia."""
    shear, tension, bending, torsion, mass, inertia = section
    start, end = np.asarray(ends, dtype=float)
    stiffness = (shear, shear, tension, bending, bending, torsion)
    about: dict[str, Any] = {"stiffness": stiffness, "inertia": (mass, inertia, inertia, 2 * inertia)}
    return builder.add_rod(name, start=start, end=end, edges=edges, constraints=None, **about)


THICK = (16.88e6, 52.99e6, 1131, 733.5, 1.997, 42.6e-6)  # sections of the four-bar linkage
SLIM = (4.22e6, 13.25e6, 70.66, 45.84, 0.4992, 2.662e-6)


def _four_bar(edges: int) -> tuple[Model, str]:
    """A crank, a coupler and a rocker, and the end of the coupler, whose hinge is turned by five degrees about it."""
    builder = ModelBuilder()
    corners = np.array([(0, 0, 0), (0, 0.12, 0), (0.24, 0.12, 0), (0.24, 0, 0)])
    bars = [
        _bar(builder, name, corners[i : i + 2], edges, section)
        for i, (name, section) in enumerate((("crank", THICK), ("coupler", THICK), ("rocker", SLIM)))
    ]
    askew = (0, -np.sin(np.radians(5)), np.cos(np.radians(5)))
    ends: list[Partner] = [ground, *(node for bar in bars for node in (bar.nodes[0], bar.nodes[-1])), ground]
    for i, axis in enumerate(((0, 0, 1), (0, 0, 1), askew, (0, 0, 1))):
        builder.add_joint("revolute", ends[2 * i], ends[2 * i + 1], point=corners[i], axis=axis, name=f"hinge{i}")
    builder.add_joint_motion("hinge0", [(0.0, 0.0, -0.6, 0.0)])
    return builder.build(start="project"), bars[1].nodes[-1]


FOUR_BAR = {  # time / s: displacements of the end of the coupler / m
    3: ("0.094468132", "-0.046122089", "-0.0033349972"),
    6: ("-0.11011721", "-0.072314397", "-0.00051684782"),
    9: ("-0.092731163", "-0.043856755", "-0.0015768477"),
    12: ("0.095225349", "-0.047003873", "-0.0015141995"),
}


@case(
    "bauchau-four-bar",
    title="a four-bar linkage of beams with a hinge askew by five degrees, turned at 0.6 rad/s: the coupler's end",
    source=BENCHMARKS + "beam_fourbar",
)
def four_bar() -> list[Number]:
    """Were the hinges parallel, it would stay in its plane."""

    def moved(edges: int) -> Array:
        model, end = _four_bar(edges)
        run = integrate(model, "genalpha", t_end=12.0, h=0.02, rho_inf=0.0, save_every=50)
        x = run.position(end)
        return np.asarray(x - x[0])

    found = limit(moved, (4, 8))
    coarse = "what eight elements of the source leave: eight edges of ours leave as much"
    return [
        Number(f"{axis} after {t} s / m", digits, float(u), 2e-5, coarse)
        for t, printed in FOUR_BAR.items()
        for axis, digits, u in zip("xyz", printed, found[t], strict=True)
    ]


STRIP: dict[str, Any] = {
    "stiffness": (5.025e6, 23.40e6, 73e6, 60830, 608.3, 877.2),
    "inertia": (2.68, 2.233e-3, 2.233e-5, 2.2553e-3),
}
LINK = (10.81e6, 33.02e6, 1189, 914.5, 1.212, 43.65e-6)
CRANK = (43.22e6, 132.1e6, 19020, 14630, 4.85, 698.3e-6)
TURN = 0.4  # s, in which the crank makes half a turn


def _turned(t: float) -> tuple[float, float, float]:
    """The angle of the crank and its derivatives."""
    w = np.pi / TURN
    return -np.pi / 2 * (1 - np.cos(w * t)), -np.pi / 2 * w * np.sin(w * t), -np.pi / 2 * w**2 * np.cos(w * t)


def _lifted(edges: int) -> tuple[Model, str]:
    """A narrow beam whose tip a crank lifts by a link, and the node in its middle."""
    builder = ModelBuilder()
    beam = _cantilever(builder, 1.0, 2 * edges, **STRIP)
    tip, pin, shaft = np.array([1.0, 0, 0]), np.array([1.0, 0, -0.25]), np.array([0.95, 0, -0.25])
    link = _bar(builder, "link", (tip, pin), edges, LINK)
    crank = _bar(builder, "crank", (shaft, pin), edges // 2, CRANK)
    builder.add_joint("spherical", beam.nodes[-1], link.nodes[0], point=tip)
    builder.add_joint("revolute", link.nodes[-1], crank.nodes[-1], point=pin, axis=(0, 1, 0))
    builder.add_joint("revolute", ground, crank.nodes[0], point=shaft, axis=(0, 1, 0), name="shaft")
    builder.add_joint_motion("shaft", _turned)
    return builder.build(), beam.nodes[edges]


@case(
    "bauchau-crank-and-beam",
    title="a narrow beam whose tip a crank lifts by a link, before it buckles: the middle of the beam",
    source=BENCHMARKS + "beam_lateralbuckling",
)
def crank_and_beam() -> list[Number]:
    """When it buckles depends on imperfections, and the stored run has none but round-off."""

    def middle(edges: int) -> Array:
        model, node = _lifted(edges)
        run = integrate(model, "genalpha", t_end=0.15, h=1e-3, rho_inf=0.9, save_every=50)
        return np.asarray(run.position(node)[1:, 2])

    found = limit(middle, (6, 12))
    printed = {0.05: "0.0018653317", 0.10: "0.0069325943", 0.15: "0.012644534"}
    coarse = "what the elements of the source leave: ten edges over the beam leave as much"
    return [
        Number(f"z after {t} s / m", digits, float(z), 2e-5, coarse)
        for (t, digits), z in zip(printed.items(), found, strict=True)
    ]


def _spun(t: float) -> tuple[float, float, float]:
    """The angle of the hub, which reaches 4 rad/s after 15 s, and its derivatives."""
    rate, s = 4.0, t / 15
    angle = 15 * rate * (s**2 / 2 + (np.cos(2 * np.pi * s) - 1) / (2 * np.pi) ** 2)
    return angle, rate * (s - np.sin(2 * np.pi * s) / (2 * np.pi)), rate / 15 * (1 - np.cos(2 * np.pi * s))


SPIN_UP = {  # time / s: position of the tip / m
    3: ("7.936064", "1.006643"),
    6: ("-3.2391071", "7.3123226"),
    9: ("-1.129463", "7.9182563"),
    12: ("6.022895", "-5.265317"),
}


@case(
    "spin-up",
    title="a slender beam of 8 m whose hub spins up to 4 rad/s within 15 s: its tip",
    source="MB-SEF, Sonneville 2021, beam_haug",
)
def spin_up() -> list[Number]:
    """It bends back by half a metre, and its tension straightens it."""

    def tip(edges: int) -> Array:
        builder = ModelBuilder()
        blade = _bar(builder, "blade", ((0, 0, 0), (8, 0, 0)), edges, (1.94e6, 5.03e6, 566, 566, 0.201, 22.7e-6))
        builder.add_joint("revolute", ground, blade.nodes[0], point=(0, 0, 0), axis=(0, 0, 1), name="hub")
        builder.add_joint_motion("hub", _spun)
        run = integrate(builder.build(), "genalpha", t_end=12.0, h=0.01, rho_inf=0.0, save_every=300)
        return np.asarray(run.position(blade.nodes[-1])[1:, :2])

    coarse = "what ten elements of the source leave: ten edges of ours leave as much"
    return [
        Number(f"{axis} after {t} s / m", digits, float(x), 2e-3, coarse)
        for (t, printed), position in zip(SPIN_UP.items(), limit(tip, (10, 20)), strict=True)
        for axis, digits, x in zip("xy", printed, position, strict=True)
    ]
