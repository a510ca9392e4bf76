"""The appendices of Holzinger, Arnold and Gerstmayr 2024: coefficients of the tangent operator, automatic steps."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lgint import groups, models
from lgint._args import Array
from lgint._model.model import Model
from lgint._papers.claims import below, fitted, slope
from lgint._papers.holzinger2024 import EXPLICIT, KINDS, ORDERS, PAPER, top_reference
from lgint._papers.pictures import picture, powers, sizes
from lgint._papers.registry import Result, artifact
from lgint._papers.runs import halved
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
    """A coefficient, taken from the library's tangent operator or its inverse along (1, 1, 0)."""
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
        difference = np.abs(function.polynomial(x) - function.exact(x))[x < function.threshold]
        claims += [
            below(f"{name}: absolute error of the polynomial", float(difference.max()), 4e-16),
            below(f"{name}: relative error of the function", float(printed[name].max()), 4e-10, why=CANCELLED),
        ]
    table = {"angle": x}
    table |= {f"{name} relative error": error for name, error in printed.items()}
    table |= {f"{name} here": error for name, error in library.items()}
    shown = {f"{name} as printed": error for name, error in printed.items()}
    shown["lgint, all three"] = np.max(list(library.values()), axis=0)
    return Result(table, claims, drawn("coefficients of the tangent operator", x, shown))


CANCELLED = "just above the threshold the terms of the closed form cancel up to x^3, which then divides their round-off"


# ---- appendix B: automatic step size control ----

TOLERANCES = {"ODE23": (1e-5, 1e-7, 1e-9), "DOPRI5": (1e-5, 1e-8, 1e-11)}
ESTIMATED = halved(1e-3, 4)


def _estimate(model: Model, name: str, h: float) -> float:
    """Median of the recorded error (B18) over 0.1 s with fixed steps."""
    own: dict[str, Any] = {"rtol": 1.0, "atol": 1e-2, "control": "none", "project": "none"}
    return float(np.median(integrate(model, EXPLICIT[name], t_end=0.1, h=h, **own).error[1:]))


@artifact(
    PAPER,
    "appB",
    shows="Automatic steps of appendix B on the top without constraints: step sizes, and the estimate (B18) over h.",
    reproduced="The estimate is of order p + 1, as (B19) says, and rejected steps are not frequent.",
    ours="tolerances; p: the higher order; atol = rtol/100, f_sfty = 0.9, f_maxInc = 5; not frequent: less than 5 % at "
    "the strictest tolerance; reference: RK67 with h = 1e-5 s",
)
def appB(quick: bool) -> Result:
    tops = {kind: models.heavy_top(constrained=False, formulation=KINDS[kind]) for kind in ("RV", "Rxyz")}
    exact = top_reference(False).position("top")[-1]
    estimates = {name: np.array([_estimate(tops["RV"], name, h) for h in ESTIMATED]) for name in TOLERANCES}
    why = "the difference of the two solutions is of the order of the lower one's error, O(h^p): the exponent is 1/p"
    claims = [
        slope(f"{name}: order of the estimate", ORDERS[name] + 1, fitted(ESTIMATED, error), 0.3, why)
        for name, error in estimates.items()
    ]
    shown: dict[str, tuple[Array, Array]] = {}
    table: dict[str, ArrayLike] = {"h (s)": ESTIMATED} | {f"{name}: err": error for name, error in estimates.items()}
    for name, tolerances in TOLERANCES.items():
        for kind, model in tops.items():
            runs = [_controlled(model, name, rtol) for rtol in tolerances]
            off = np.array([float(np.linalg.norm(run.position("top")[-1] - exact)) for run in runs])
            stats = runs[-1].stats
            text = f"{name}, {kind}: rejected steps over accepted ones, rtol = {tolerances[-1]:g}"
            claims.append(below(text, stats.rejected / stats.steps, 0.05))
            table |= {f"{name}, {kind}: rtol": tolerances, f"{name}, {kind}: error (m)": off}
            shown[f"{name}, {kind}"] = runs[1].t[1:], runs[1].h[1:]
    over_h = {name: (ESTIMATED, error) for name, error in estimates.items()}
    panels = (
        sizes(f"rtol = {TOLERANCES['ODE23'][1]:g} and {TOLERANCES['DOPRI5'][1]:g}", "t / s", "h / s", shown),
        powers("error estimate, RV", over_h, "h / s", "err", ORDERS),
    )
    return Result(table, claims, picture(*panels))


def _controlled(model: Model, name: str, rtol: float) -> Trajectory:
    own: dict[str, Any] = {"rtol": rtol, "atol": 1e-2 * rtol, "control": "paper", "project": "none"}
    return integrate(model, EXPLICIT[name], t_end=1.0, **own)
