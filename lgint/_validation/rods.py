"""Rods at rest and in motion."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from lgint._args import Array
from lgint._build.builder import ModelBuilder
from lgint._run.equilibrium import equilibrium
from lgint._validation.case import Number, case


def limit(solve: Callable[[int], Array], edges: Sequence[int]) -> Array:
    """The limit of values for many edges: the errors of the last refinements are even powers of their lengths."""
    rows = [solve(n) for n in edges]
    for k in range(1, len(rows)):
        rows = [b + (b - a) / (4.0**k - 1) for a, b in zip(rows, rows[1:], strict=False)]
    return rows[0]


def _cantilever(edges: int) -> Array:
    """Tip of a clamped elastica of length and bending stiffness 1 under a transverse dead force of 10 at its end."""
    builder = ModelBuilder()
    rod = builder.add_rod(
        "strip",
        start=(0, 0, 0),
        end=(1, 0, 0),
        edges=edges,
        stiffness=(1, 1, 1, 1, 1, 1),
        inertia=(1, 1, 1, 1),
        constraints="inextensible",
        clamped=(0,),
    )
    builder.add_force(rod.nodes[-1], force=(0, 0, 10))
    rest = equilibrium(builder.build(), loads=np.linspace(0.1, 1, 10))
    x, _, z = rest.position(rod.nodes[-1])[-1]
    return np.array([1 - x, z])


@case(
    "elastica",
    title="a cantilever under a transverse force at its tip, P L^2/(E I) = 10",
    source="Mattiasson 1981, table 1",
)
def elastica() -> list[Number]:
    """By elliptic integrals in the source."""
    shortened, raised = limit(_cantilever, (16, 32, 64))
    return [Number("tip, u / L", "0.55500", shortened), Number("tip, w / L", "0.81061", raised)]
