"""Loads under which columns, strips and rings buckle or flutter, and frequencies of beams."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from lgint._args import Array
from lgint._build.builder import ModelBuilder
from lgint._build.parts import Partner, ground
from lgint._linear.buckling import buckling
from lgint._linear.campbell import campbell
from lgint._linear.linearization import linearize
from lgint._linear.modes import Mode
from lgint._model.model import Model
from lgint._run.equilibrium import equilibrium
from lgint._validation.case import Number, case
from lgint._validation.rods import limit
from lgint._validation.roots import root

STIFF = 1e6  # what cannot stretch or shear, beside a bending stiffness of one
THIN = 1e-8  # moments of inertia of sections per length, which the references leave out


def column(
    edges: int,
    *,
    EI: tuple[float, float] = (1.0, 1.0),
    GJ: float = 1.0,
    load: Sequence[float] | None = None,
    frame: str = "inertial",
    weight: float = 0.0,
) -> Model:
    """An upright cantilever of length and mass one, under a force at its end or its own weight."""
    builder = ModelBuilder(gravity=(0, 0, -weight))
    rod = builder.add_rod(
        "column",
        start=(0, 0, 0),
        end=(0, 0, 1),
        edges=edges,
        stiffness=(STIFF, STIFF, STIFF, *EI, GJ),
        inertia=(1, THIN, THIN, 2 * THIN),
        clamped=(0,),
    )
    if load is not None:
        builder.add_force(rod.nodes[-1], force=load, frame=frame)
    return builder.build()


def _critical(of_edges: Callable[[int], Model], greatest: float) -> float:
    """The first critical factor of the loads up to the greatest one."""
    loads = np.linspace(0, greatest, 5)
    return float(limit(lambda edges: np.array(buckling(of_edges(edges), loads).factors), (4, 8, 16))[0])


@case(
    "euler-column",
    title="a cantilever under a dead force along its axis, P L^2/(E I)",
    source="Euler 1744; closed form pi^2/4",
    published=False,
)
def euler() -> list[Number]:
    """A quarter of pi squared."""
    return [Number("critical load", "2.467", _critical(lambda n: column(n, load=(0, 0, -1)), 3.0))]


@case(
    "heavy-column",
    title="a column that buckles under its own weight, q L^3/(E I)",
    source="Greenhill 1881; Timoshenko and Gere 1961, chap. 2 (7.837)",
)
def greenhill() -> list[Number]:
    """By a zero of a Bessel function."""
    return [Number("critical weight", "7.837", _critical(lambda n: column(n, weight=1.0), 9.0))]


@case(
    "lateral-buckling",
    title="lateral buckling of a narrow strip that a force at its tip bends in its stiff plane, P L^2/sqrt(E I G J)",
    source="Michell 1899 and Prandtl 1899; Timoshenko and Gere 1961, chap. 6 (4.013)",
)
def lateral() -> list[Number]:
    """Bending in the stiff plane is small in the source: the stiff plane is a thousand times as stiff."""
    found = _critical(lambda n: column(n, EI=(1.0, 1e4), load=(1, 0, 0)), 5.0)
    return [Number("critical load", "4.013", found)]


def _flutter(edges: int) -> Array:
    """The follower load from which a perturbation of a column grows."""

    def growth(load: float) -> float:
        rest = equilibrium(column(edges, load=(0, 0, -load), frame="body"))
        return float(np.abs(linearize(rest.state(-1)).eigenvalues.real).max()) - 1e-2

    return np.array([root(growth, 19.0, 21.0, xtol=1e-3)])


@case(
    "beck-column",
    title="a cantilever under a force that follows its end, P L^2/(E I): flutter",
    source="Beck 1952 (20.05)",
)
def beck() -> list[Number]:
    """The first two frequencies meet."""
    return [Number("critical load", "20.05", float(limit(_flutter, (8, 16))[0]))]


@case(
    "cantilever-frequencies",
    title="frequencies of a cantilever, omega sqrt(rho A L^4/(E I))",
    source="Blevins 1979, table 8-1 (squares of its lambda)",
)
def frequencies() -> list[Number]:
    """Of a beam without rotary inertia and shear."""

    def first(edges: int) -> Array:
        rest = equilibrium(column(edges, EI=(1.0, 900.0)))
        return np.sort(linearize(rest.state(-1)).frequencies)[:3]

    found = limit(first, (5, 10, 20, 40))
    printed = ("3.51602", "22.0345", "61.6972")
    return [Number(f"mode {i + 1}", p, w) for i, (p, w) in enumerate(zip(printed, found, strict=True))]


def _rises(mode: Mode, node: str) -> bool:
    return bool(np.abs(mode.displacement(node)[2]) > 0.1)


@case(
    "rotating-beam",
    title="flapping frequencies of a turning cantilever of hub radius zero, omega sqrt(rho A L^4/(E I))",
    source="Wright, Smith, Thresher and Wang 1982, as later papers on rotating beams quote it",
)
def rotating_beam() -> list[Number]:
    """The rate is made dimensionless in the same way; the blade flaps out of the plane in which it turns."""
    rates = {0.0: "3.5160", 2.0: "4.1373", 4.0: "5.5850", 6.0: "7.3604", 12.0: "13.1702"}

    def flapping(edges: int) -> Array:
        builder = ModelBuilder()
        builder.add_body("hub", mass=1.0, inertia=(1e3, 1e3, 1e3))
        builder.add_joint("revolute", ground, "hub", point=(0, 0, 0), axis=(0, 0, 1))
        rod = builder.add_rod(
            "blade",
            start=(0, 0, 0),
            end=(1, 0, 0),
            edges=edges,
            stiffness=(STIFF, STIFF, STIFF, 1, 1, 1),
            inertia=(1, 1e-7, 1e-7, 2e-7),
        )
        builder.add_joint("rigid", "hub", rod.nodes[0], point=(0, 0, 0))
        turning = campbell(builder.build(), list(rates), axis=(0, 0, 1), frame="hub", n=2)
        return np.array([next(m.frequency for m in modes if _rises(m, rod.nodes[-1])) for modes in turning.modes])

    found = limit(flapping, (8, 16, 32))
    why = "ours stretches by 7e-5 at the greatest rate, and the section has an inertia"
    return [Number(f"rate {r:g}", p, w, 2e-4, why) for (r, p), w in zip(rates.items(), found, strict=True)]


def _ziegler(load: float, damping: float) -> float:
    """The greatest growth of two bars without mass, whose end a force follows: 2 m at the elbow, m at the end."""
    builder = ModelBuilder(formulation="minimal")
    small = (1e-9,) * 3
    builder.add_body("elbow", mass=2.0, inertia=small, position=(1, 0, 0))
    builder.add_body("end", mass=1.0, inertia=small, position=(2, 0, 0))
    builder.add_joint("revolute", ground, "elbow", point=(0, 0, 0), axis=(0, 0, 1), name="first")
    builder.add_joint("revolute", "elbow", "end", point=(1, 0, 0), axis=(0, 0, 1), name="second")
    for joint in ("first", "second"):
        builder.add_joint_spring(joint, stiffness=1.0, damping=damping)
    builder.add_force("end", force=(-load, 0, 0), frame="body")
    return float(linearize(builder.build().state()).eigenvalues.real.max())


@case(
    "ziegler-pendulum",
    title="a double pendulum under a force that follows it, P l/k: flutter, sooner with a little damping",
    source="Ziegler 1952 (2.086 and 1.464)",
)
def ziegler() -> list[Number]:
    """7/2 - sqrt(2) without damping, 41/28 in the limit of equal dampers."""
    undamped = root(lambda load: _ziegler(load, 0.0) - 1e-5, 2.0, 2.2, xtol=1e-9)
    damped = root(lambda load: _ziegler(load, 1e-3), 1.2, 1.8, xtol=1e-9)
    return [Number("undamped", "2.086", undamped), Number("damped", "1.464", damped)]


@case(
    "ring-frequencies",
    title="bending of a free ring in its plane and out of it, omega sqrt(rho A R^4/(E I))",
    source="Hoppe 1871 and Michell 1890, in Love 1927, sect. 293; closed form n (n^2 - 1)/sqrt(n^2 + 1)",
    published=False,
)
def ring() -> list[Number]:
    """Both are the same where G J = E I: n (n^2 - 1)/sqrt(n^2 + 1)."""

    def bending(edges: int) -> Array:
        angle = 2 * np.pi * np.arange(edges) / edges
        builder = ModelBuilder()
        builder.add_rod(
            "ring",
            nodes=np.stack([np.cos(angle), np.sin(angle), 0 * angle], axis=1),
            closed=True,
            stiffness=(1e5, 1e5, 1e5, 1, 1, 1),
            inertia=(1, 1e-6, 1e-6, 2e-6),
        )
        frequencies = linearize(builder.build().state()).frequencies
        return np.asarray(frequencies[frequencies > 1])[[0, 3, 4, 7]]

    found = limit(bending, (16, 32, 64))
    names = ("two waves, lowest", "two waves, highest", "three waves, lowest", "three waves, highest")
    printed = ("2.683", "2.683", "7.589", "7.589")
    return [Number(n, p, w) for n, p, w in zip(names, printed, found, strict=True)]


@case(
    "hanging-chain",
    title="a chain that hangs and sways, omega sqrt(L/g)",
    source="Daniel Bernoulli 1733; Abramowitz and Stegun 1964, table 9.5 (half of the zeros of J0)",
)
def chain() -> list[Number]:
    """Of n slender links on hinges, the limit of many."""

    def sway(links: int) -> Array:
        builder = ModelBuilder(gravity=(0, 0, -1), formulation="minimal")
        before: Partner = ground
        mass = length = 1 / links
        inertia = mass * length**2 / 12
        for i in range(links):
            name = f"link{i}"
            builder.add_body(name, mass=mass, inertia=(inertia, inertia, 1e-9), position=(0, 0, -(i + 0.5) * length))
            builder.add_joint("revolute", before, name, point=(0, 0, -i * length), axis=(0, 1, 0))
            before = name
        return linearize(builder.build().state()).frequencies[:3]

    found = limit(sway, (8, 16, 32, 64))
    printed = ("1.2024", "2.7600", "4.3269")
    return [Number(f"mode {i + 1}", p, w) for i, (p, w) in enumerate(zip(printed, found, strict=True))]
