"""Beyond the papers: formulations mixed in one system, as Algorithm 1 of holzinger2024 allows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from lgint._args import Array
from lgint._build.builder import ModelBuilder
from lgint._build.parts import ground
from lgint._model.model import Model
from lgint._papers.claims import below
from lgint._papers.holzinger2024 import KINDS, both, explicit, implicit
from lgint._papers.registry import Result, artifact
from lgint._papers.runs import halved
from lgint._papers.studies import orders
from lgint._run.integrate import integrate
from lgint._run.trajectory import Trajectory


def _mixed(*kinds: str) -> Model:
    """A chain of three hanging bars with spherical joints, each bar in its own formulation."""
    builder = ModelBuilder(gravity=(0.0, 0.0, -9.81))
    before: Any = ground
    for i, kind in enumerate(kinds):
        bar = builder.add_body(
            f"bar{i}", mass=1.0, inertia=(0.01, 0.1, 0.1), position=(i + 0.5, 0, 0), formulation=kind,
            velocity=(0.0, 0.0, 0.0), angular_velocity=(0.0, 0.0, 0.0),
        )  # fmt: skip
        builder.add_joint("spherical", before, bar, point=(float(i), 0, 0), name=f"joint{i}")
        before = bar
    return builder.build()


def _end(run: Trajectory) -> Array:
    return run.position("bar2")


@artifact(
    "beyond",
    "mixed_nodes",
    shows="A chain of three bars whose nodes are of different types, as Algorithm 1 of holzinger2024 allows.",
    reproduced="A chain of mixed nodes converges with the order of the method to the same motion as chains with nodes "
    "of one type.",
    ours="a chain of our own, steps, and formulations (angles, rotation vector, Euler parameters); reference: "
    "RK67 on RV",
)
def mixed_nodes(quick: bool) -> Result:
    kinds = tuple(KINDS.values())
    pure = {name: _mixed(kind, kind, kind) for name, kind in KINDS.items()}
    best = integrate(pure["RV"], "rk67", t_end=0.5, h=1e-3, save_every=10**9, project="none")
    of = {"mixed": _mixed(*kinds), "RV": pure["RV"], "EP": pure["EP"]}
    own: dict[str, Any] = {"observables": {"x": _end}}
    steps = halved(1e-2, 4 if quick else 6)
    right = implicit(of, steps, 0.5, best, **own)
    left = explicit({"mixed": of["mixed"]}, halved(1e-2, 4 if quick else 5), 0.5, best, **own)
    claims = [
        *orders(right, "x", {"mixed": 2, "RV": 2}),
        *orders(left, "x", {"ODE23, mixed": 3, "RK44, mixed": 4, "DOPRI5, mixed": 5}),
        below("error of the mixed chain over the larger one of the chains of one type", _ratio(right), 1.5),
    ]
    return both(left, right, "x", "error of the last bar at t = 0.5 s / m", claims)


def _ratio(studies: Mapping[str, Any]) -> float:
    pure = np.maximum(studies["RV"].errors["x"], studies["EP"].errors["x"])
    return float(np.max(studies["mixed"].errors["x"] / pure))
