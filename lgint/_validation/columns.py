"""Columns that buckle and beams that vibrate, with different supports of their ends."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from lgint._args import Array
from lgint._build.builder import ModelBuilder
from lgint._build.parts import ground
from lgint._linear.buckling import buckling
from lgint._linear.linearization import linearize
from lgint._model.model import Model
from lgint._validation.case import Number, case
from lgint._validation.rods import limit
from lgint._validation.stability import STIFF, THIN

UP = (0, 0, 1)


def held(edges: int, foot: str, head: str, *, load: float = 0.0) -> Model:
    """An upright rod of length and mass one, which bends in the plane x-z, under a dead load down at its head.

    The foot is clamped, hinged or free; the head may be clamped or hinged on a line along z, or free.
    """
    builder = ModelBuilder()
    rod = builder.add_rod(
        "column",
        start=(0, 0, 0),
        end=UP,
        edges=edges,
        stiffness=(STIFF, STIFF, STIFF, 900, 1, 900),
        inertia=(1, THIN, THIN, 2 * THIN),
        clamped=(0,) if foot == "clamped" else (),
    )
    if foot == "hinged":
        builder.add_joint("revolute", ground, rod.nodes[0], point=(0, 0, 0), axis=(0, 1, 0))
    if head != "free":
        kind = {"clamped": "prismatic", "hinged": "inline"}[head]
        builder.add_joint(kind, ground, rod.nodes[-1], point=UP, axis=UP)
    if load:
        builder.add_force(rod.nodes[-1], force=(0, 0, -load))
    return builder.build()


def _critical(of_edges: Callable[[int], Model], loads: Sequence[float], edges: Sequence[int] = (4, 8, 16)) -> float:
    """The first critical factor of the loads."""
    return float(limit(lambda n: np.array(buckling(of_edges(n), loads).factors), edges)[0])


@case(
    "clamped-hinged-column",
    title="a column with one end clamped and the other one hinged, P L^2/(E I)",
    source="Timoshenko and Gere 1961, chap. 2 (20.19)",
)
def clamped_hinged() -> list[Number]:
    """The square of the first root of tan u = u."""
    found = _critical(lambda n: held(n, "clamped", "hinged", load=1.0), (0, 12, 24))
    return [Number("critical load", "20.19", found)]


def _frequencies(foot: str, head: str, edges: Sequence[int] = (10, 20, 40)) -> Array:
    """The first two frequencies of bending that are not zero."""

    def first(n: int) -> Array:
        found = np.sort(linearize(held(n, foot, head).state()).frequencies)
        return np.asarray(found[found > 1.0][:2])

    return limit(first, edges)


@case(
    "free-beam-frequencies",
    title="frequencies of a free beam, omega sqrt(rho A L^4/(E I))",
    source="Blevins 1979, table 8-1 (squares of its lambda)",
)
def free_beam() -> list[Number]:
    """A beam that floats: its rigid motions have the frequency zero."""
    first, second = _frequencies("free", "free")
    left = "what the limit of 10, 20 and 40 edges leaves"
    return [Number("mode 1", "22.3733", float(first)), Number("mode 2", "61.6728", float(second), 5e-4, left)]


@case(
    "clamped-hinged-frequencies",
    title="frequencies of a beam with one end clamped and the other one hinged, omega sqrt(rho A L^4/(E I))",
    source="Blevins 1979, table 8-1 (squares of its lambda)",
)
def clamped_hinged_frequencies() -> list[Number]:
    """A row of positions holds the end on its line."""
    printed = ("15.4182", "49.9649")
    found = _frequencies("clamped", "hinged")
    return [Number(f"mode {i + 1}", p, w) for i, (p, w) in enumerate(zip(printed, found, strict=True))]


@case(
    "hinged-beam-frequencies",
    title="frequencies of a beam with both ends hinged, omega sqrt(rho A L^4/(E I))",
    source="Blevins 1979, table 8-1 (squares of its lambda)",
)
def hinged_frequencies() -> list[Number]:
    """The squares of pi and of 2 pi."""
    printed = ("9.8696", "39.478")
    found = _frequencies("hinged", "hinged")
    return [Number(f"mode {i + 1}", p, w) for i, (p, w) in enumerate(zip(printed, found, strict=True))]
