"""Rods at rest and in motion."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from lgint import models
from lgint._args import Array
from lgint._build.builder import ModelBuilder
from lgint._model.rod import Rod
from lgint._run.equilibrium import equilibrium
from lgint._validation.case import Number, case


def limit(solve: Callable[[int], Array], edges: Sequence[int]) -> Array:
    """The limit of values for many edges: the errors of the last refinements are even powers of their lengths."""
    rows = [solve(n) for n in edges]
    for k in range(1, len(rows)):
        rows = [b + (b - a) / (4.0**k - 1) for a, b in zip(rows, rows[1:], strict=False)]
    return rows[0]


def tip_displacement(rod_of: Callable[[ModelBuilder, int], Rod], force: Sequence[float], edges: int) -> Array:
    """The displacement of the last node of a rod at rest under a dead force there."""
    builder = ModelBuilder()
    rod = rod_of(builder, edges)
    builder.add_force(rod.nodes[-1], force=force)
    rest = equilibrium(builder.build(), loads=np.linspace(0, 1, 6))
    tip = rest.position(rod.nodes[-1])
    return np.asarray(tip[-1] - tip[0])


def _bent(end: Sequence[float], force: Sequence[float]) -> Array:
    """The tip displacement of an inextensible cantilever from the origin, with a bending stiffness of one."""

    def strip(builder: ModelBuilder, edges: int) -> Rod:
        return builder.add_rod(
            "strip",
            start=(0, 0, 0),
            end=end,
            edges=edges,
            stiffness=(1, 1, 1, 1, 1, 1),
            inertia=(1, 1, 1, 1),
            constraints="inextensible",
            clamped=(0,),
        )

    return limit(lambda n: tip_displacement(strip, force, n), (16, 32, 64))


@case(
    "elastica",
    title="a cantilever under a transverse force at its tip, P L^2/(E I) = 1, 5 and 10",
    source="Mattiasson 1981, table 1",
)
def elastica() -> list[Number]:
    """By elliptic integrals in the source."""
    numbers = []
    for load, u, w in ((1, "0.05643", "0.30172"), (5, "0.38763", "0.71379"), (10, "0.55500", "0.81061")):
        shortened, _, raised = _bent((1, 0, 0), (0, 0, load))
        numbers += [Number(f"{load}: tip, u / L", u, -shortened), Number(f"{load}: tip, w / L", w, raised)]
    return numbers


@case(
    "buckled-column",
    title="a cantilever under a dead force along its axis beyond the critical load, tip at 60, 100 and 140 degrees",
    source="Timoshenko and Gere 1961, table 2-4",
)
def buckled_column() -> list[Number]:
    """The load is that of the elastica, of which the table has three decimals; a small transverse force starts it."""
    from scipy.special import ellipk

    table = {60: ("0.741", "0.593"), 100: ("0.349", "0.792"), 140: ("-0.107", "0.750")}
    numbers = []
    for angle, (height, across) in table.items():
        load = ellipk(np.sin(np.radians(angle) / 2) ** 2) ** 2
        moved = _bent((0, 0, 1), (1e-6 * load, 0, -load))
        numbers += [
            Number(f"{angle} degrees: height / L", height, 1 + moved[2]),
            Number(f"{angle} degrees: deflection / L", across, abs(moved[0])),
        ]
    return numbers


def _arc(builder: ModelBuilder, edges: int) -> Rod:
    """An eighth of a circle of radius 100 in the plane x-y, from the origin along x."""
    angle = np.linspace(0, np.pi / 4, edges + 1)
    nodes = 100 * np.stack([np.sin(angle), 1 - np.cos(angle), 0 * angle], axis=1)
    stiffness = (41.6667e5, 41.6667e5, 100e5, 8.333e5, 8.333e5, 8.333e5)
    return builder.add_rod(
        "arc", nodes=nodes, stiffness=stiffness, inertia=(1, 1, 1, 1), constraints=None, clamped=(0,)
    )


@case(
    "bend-45",
    title="a bend of 45 degrees under a force of 600 lb normal to its plane",
    source="Bathe and Bolourchi 1979; Kynema, Static bending of a curved beam (18 nodes)",
)
def bend() -> list[Number]:
    """Kynema's axis interpolates a few points of the arc, and is no arc."""
    x, y, z = limit(lambda n: tip_displacement(_arc, (0, 0, 600), n), (16, 32, 64, 128))
    coarse = "the source has eight straight elements; BeamDyn prints 13.5, and Abaqus 13.62 to 13.74"
    other = "Kynema's polynomial axis is no arc: its tip differs in the third digit for every number of its nodes"
    return [
        Number("tip, along the clamped tangent / in", "-23.5", x),
        Number("tip, away from the centre / in", "13.4", -y, wrong=True, why=coarse),
        Number("tip, normal / in", "53.4", z),
        Number("Kynema, along the clamped tangent / in", "-23.64597160090480", x, wrong=True, why=other),
        Number("Kynema, normal / in", "53.57764506269890", z, wrong=True, why=other),
    ]


ROUNDING = "the last digits are those of round-off"


def _beam(stiffness: Array, twist: float) -> Callable[[ModelBuilder, int], Rod]:
    """A straight beam of length 10 along x, whose section turns about it by `twist`; stiffness by x, y, z."""
    order = np.ix_(*2 * ([1, 2, 0, 4, 5, 3],))

    def add(builder: ModelBuilder, edges: int) -> Rod:
        angle = np.linspace(0, twist, edges + 1)
        zero, one = 0 * angle, 1 + 0 * angle
        d1 = np.stack([zero, np.cos(angle), np.sin(angle)], axis=1)
        d2 = np.stack([zero, -np.sin(angle), np.cos(angle)], axis=1)
        d3 = np.stack([one, zero, zero], axis=1)
        return builder.add_rod(
            "beam",
            nodes=np.linspace((0, 0, 0), (10, 0, 0), edges + 1),
            rotations=np.stack([d1, d2, d3], axis=2),
            stiffness=stiffness[order],
            inertia=(1, 1, 1, 1),
            constraints=None,
            clamped=(0,),
        )

    return add


@case(
    "composite-beam",
    title="a composite beam whose bending and torsion are coupled, under 150 lb at its tip",
    source="Wang et al. 2017; digits of Kynema, Static bending of a straight composite beam (15 nodes)",
)
def composite() -> list[Number]:
    """The section is that of BeamDyn's paper."""
    stiffness = np.diag([1368.17e3, 88.56e3, 38.78e3, 16.96e3, 59.12e3, 141.47e3])
    stiffness[3, 4] = stiffness[4, 3] = 17.61e3
    stiffness[3, 5] = stiffness[5, 3] = -0.351e3
    stiffness[4, 5] = stiffness[5, 4] = -0.370e3
    tip = limit(lambda n: tip_displacement(_beam(stiffness, 0), (0, 0, 150), n), (16, 32, 64, 128))
    printed = ("-9.02726627566299e-02", "-6.47488486259036e-02", "1.22973648292371")
    return [Number(f"tip, {axis} / in", p, u, 1e-13, ROUNDING) for axis, p, u in zip("xyz", printed, tip, strict=True)]


@case(
    "twisted-beam",
    title="a straight beam twisted by 90 degrees, under 4000 kN at its tip",
    source="Wang et al. 2017; digits of Kynema, Static bending of a twisted beam (18 nodes), and its solid elements",
)
def twisted() -> list[Number]:
    """Also a model of solid elements in the source, which is a per cent stiffer."""
    stiffness = np.diag([2.5e10, 8.2604167e9, 8.2604167e9, 1.41872656e8, 5.20833e8, 1.30208333e8])
    tip = limit(lambda n: tip_displacement(_beam(stiffness, np.pi / 2), (0, 0, -4e6), n), (16, 32, 64, 128))
    printed = ("-1.141525999540470", "-1.718053346464930", "-3.593213240271990")
    beams = [Number(f"tip, {axis} / m", p, u, 1e-12, ROUNDING) for axis, p, u in zip("xyz", printed, tip, strict=True)]
    solid = "a beam's section stays plane, and that of solid elements does not"
    return [*beams, Number("tip, z, solid elements / m", "-3.58423", tip[2], 0.01, solid)]


@case(
    "roll-up",
    title="a straight rod under a moment 2 pi E I/L at its end, which makes it a ring",
    source="Simo and Vu-Quoc 1986; Kynema, Static rollup of an isotropic beam (exact: -10)",
)
def roll_up() -> list[Number]:
    """The end meets the clamp; the strain energy is 2 pi^2 E I/L."""
    model = models.roll_up(edges=16, constraints=None)
    rest = equilibrium(model)
    away = float(np.linalg.norm(rest.position("node16")[-1]))
    energy = rest.energy()[-1] / np.pi**2
    return [
        Number("tip displacement / m", "-10.0000000000", away - 10),
        Number("strain energy / (pi^2 J)", "100.0000000000", float(energy)),
    ]
