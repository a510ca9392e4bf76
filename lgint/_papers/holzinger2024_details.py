"""Holzinger, Arnold and Gerstmayr 2024: coefficients of the tangent operator, and nodes of mixed types."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from lgint import groups
from lgint._args import Array
from lgint._build.builder import ModelBuilder
from lgint._build.parts import ground
from lgint._model.model import Model
from lgint._papers.claims import below
from lgint._papers.holzinger2024 import KINDS, PAPER, both, explicit, implicit
from lgint._papers.registry import Result, artifact
from lgint._papers.runs import halved
from lgint._papers.studies import orders
from lgint._papers.thresholds import Switched, drawn
from lgint._run.integrate import integrate
from lgint._run.trajectory import Trajectory

# ---- appendix A.2: thresholds of the tangent operator's coefficients ----


def _f1(x: Array) -> Array:
    return (np.cos(x) - 1) / x**2


def _f2(x: Array) -> Array:
    return (x - np.sin(x)) / x**3


def _f3(x: Array) -> Array:
    return (1 - x / 2 / np.tan(x / 2)) / x**2


COEFFICIENTS = {
    "(A7)": Switched(_f1, 1e-2, [-1 / 2, 1 / 24, -1 / 720], [1 / 40320, -1 / 3628800]),
    "(A8)": Switched(_f2, 1e-4, [1 / 6, -1 / 120, 1 / 5040], [-1 / 362880, 1 / 39916800]),
    "(A9)": Switched(_f3, 1e-2, [1 / 12, 1 / 720, 1 / 30240], [1 / 1209600, 1 / 47900160]),
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
    printed = {name: function.relative_error(x) for name, function in COEFFICIENTS.items()}
    library = {name: np.abs(_ours(name, x) / function.exact(x) - 1) for name, function in COEFFICIENTS.items()}
    claims = []
    for name, function in COEFFICIENTS.items():
        apart = np.abs(function.polynomial(x) - function.exact(x))[x < function.threshold]
        claims += [
            below(f"{name}: absolute error of the polynomial", float(apart.max()), 4e-16),
            below(f"{name}: relative error of the function", float(printed[name].max()), 4e-10, why=CANCELLED),
            below(f"{name}: relative error of the library's own function", float(library[name].max()), 4e-15),
        ]
    table = {"angle": x}
    table |= {f"{name} relative error": error for name, error in printed.items()}
    table |= {f"{name} here": error for name, error in library.items()}
    shown = {f"{name} as printed": error for name, error in printed.items()}
    shown["lgint, all three"] = np.max(list(library.values()), axis=0)
    return Result(table, claims, drawn("coefficients of the tangent operator", x, shown))


CANCELLED = "just above the threshold the terms of the closed form cancel up to x^3, which then divides their round-off"


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
        *orders(left, "x", {"ODE23, mixed": 3, "RK44, mixed": 4, "DOPRI5, mixed": 5}),
        below("error of the mixed chain over the larger one of the chains of one type", _ratio(right), 1.5),
    ]
    return both(left, right, "x", "error of the last bar at t = 0.5 s / m", claims)


def _ratio(studies: Mapping[str, Any]) -> float:
    pure = np.maximum(studies["RV"].errors["x"], studies["EP"].errors["x"])
    return float(np.max(studies["mixed"].errors["x"] / pure))
