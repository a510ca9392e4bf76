"""Holzinger, Arnold and Gerstmayr 2024: coefficients of the tangent operator, and nodes of mixed types."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from lgint import groups
from lgint._args import Array
from lgint._build.builder import ModelBuilder
from lgint._build.parts import ground
from lgint._model.model import Model
from lgint._papers.claims import below
from lgint._papers.diagrams import orders
from lgint._papers.holzinger2024 import KINDS, PAPER, both, explicit, implicit
from lgint._papers.registry import Result, artifact
from lgint._papers.runs import halved
from lgint._run.integrate import integrate
from lgint._run.trajectory import Trajectory
from lgint._tools import axes as look

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# ---- appendix A.2: thresholds of the tangent operator's coefficients ----


def _f1(x: Array) -> Array:
    return (np.cos(x) - 1) / x**2


def _f2(x: Array) -> Array:
    return (x - np.sin(x)) / x**3


def _f3(x: Array) -> Array:
    return (1 - x / 2 / np.tan(x / 2)) / x**2


# name: closed form, threshold, and the series in x^2, whose first three terms are the printed polynomial
COEFFICIENTS: dict[str, tuple[Callable[[Array], Array], float, list[float]]] = {
    "(A7)": (_f1, 1e-2, [-1 / 2, 1 / 24, -1 / 720, 1 / 40320, -1 / 3628800]),
    "(A8)": (_f2, 1e-4, [1 / 6, -1 / 120, 1 / 5040, -1 / 362880, 1 / 39916800]),
    "(A9)": (_f3, 1e-2, [1 / 12, 1 / 720, 1 / 30240, 1 / 1209600, 1 / 47900160]),
}


def _ours(name: str, x: Array) -> Array:
    """A coefficient out of the library's tangent operator or its inverse, along (1, 1, 0)."""
    v = np.outer(x, [1.0, 1.0, 0.0]) / np.sqrt(2)
    if name == "(A7)":
        return np.asarray(groups.so3.tangent(v)[:, 0, 2] * np.sqrt(2) / x)
    operator = groups.so3.tangent if name == "(A8)" else groups.so3.tangent_inv
    return np.asarray(operator(v)[:, 0, 1] * 2 / x**2)


@artifact(
    PAPER,
    "eq_a7",
    shows="Errors of the coefficients of the tangent operator as (A7)-(A9) switch between polynomial and closed form.",
    reproduced="Absolute errors of the polynomials of about 1e-16, and relative errors of the functions of about "
    "1e-10.",
    ours="reference: two more terms of the series; angles from 1e-6 to 0.1; 'about' is read as four times",
)
def eq_a7(quick: bool) -> Result:
    x = np.logspace(-6, -1, 500 if quick else 5000)
    table: dict[str, Array] = {"angle": x}
    claims = []
    for name, (closed, threshold, series) in COEFFICIENTS.items():
        right = np.polynomial.polynomial.polyval(x**2, series)
        polynomial = np.polynomial.polynomial.polyval(x**2, series[:3])
        printed = np.where(x < threshold, polynomial, closed(x))
        off, mine = np.abs(printed / right - 1), np.abs(_ours(name, x) / right - 1)
        table |= {f"{name} relative error": off, f"{name} here": mine}
        claims += [
            below(
                f"{name}: absolute error of the polynomial",
                float(np.abs(polynomial - right)[x < threshold].max()),
                4e-16,
            ),
            below(
                f"{name}: relative error of the function",
                float(off.max()),
                4e-10,
                why="just above the threshold the closed form has lost what 1/x^3 magnifies",
            ),
            below(f"{name}: relative error of the library's own function", float(mine.max()), 4e-15),
        ]

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        for name in COEFFICIENTS:
            axes.plot(x, np.maximum(table[f"{name} relative error"], 1e-17), label=f"{name} as printed", linewidth=0.8)
        worst = np.max([table[f"{name} here"] for name in COEFFICIENTS], axis=0)
        axes.plot(x, np.maximum(worst, 1e-17), color="0.3", linewidth=0.8, label="lgint, all three")
        look.logarithmic(axes, "angle / rad", "relative error")
        axes.legend()

    return Result(table, claims, draw, (6.5, 4.8))


# ---- 3.1: formulations mixed in one system ----


def _mixed(*kinds: str) -> Model:
    """Three bars that hang on each other by spherical joints, each in a formulation of its own."""
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
    PAPER,
    "sec31",
    shows="Convergence of a chain of three bars whose nodes are of different types, as Algorithm 1 allows.",
    reproduced="A chain of mixed nodes converges with the order of the method to the same motion as chains of one "
    "type.",
    ours="a chain of our own, steps, and formulations (angles, rotation vector, Euler parameters); reference: "
    "RK67 on RV",
)
def sec31(quick: bool) -> Result:
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
        *orders(left, "x", {"ODE23, mixed": 3, "RK44, mixed": 4, "DOPRI5, mixed": 5}, 0.4),
        below("error of the mixed chain over the larger one of the chains of one type", _ratio(right), 1.5),
    ]
    return both(left, right, "x", "error of the last bar at t = 0.5 s / m", claims)


def _ratio(studies: Mapping[str, Any]) -> float:
    pure = np.maximum(studies["RV"].errors["x"], studies["EP"].errors["x"])
    return float(np.max(studies["mixed"].errors["x"] / pure))
