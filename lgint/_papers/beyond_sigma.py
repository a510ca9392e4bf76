"""Beyond the papers: the sigma algorithms of holzinger2025, as printed and with their equations solved exactly."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from lgint import models
from lgint._args import Array
from lgint._model.model import Model
from lgint._papers.claims import Claim, below, close, fitted, slope
from lgint._papers.pictures import picture, powers
from lgint._papers.registry import Result, artifact
from lgint._papers.runs import halved
from lgint._run.integrate import integrate
from lgint._run.trajectory import Trajectory

NEWTON: dict[str, Any] = {
    "newton": "full",
    "newton_rtol": 1e-8,
    "newton_atol": 1e-10,
    "predictor": "plain",
    "start": "plain",
    "index": 3,
}
SIGMAS: dict[str, float | str] = {r"$\sigma = 1$": 1.0, r"$\sigma = \gamma/(3\beta)$": "optimal"}
FORMS = {"exact": "exact", "printed": "as printed", "printed_half": "with the factor 1/2"}
RHO = 0.9


class Case(NamedTuple):
    """A model, its body, and the run: end, spectral radius, longest step, step of the reference (s)."""

    make: Callable[[], Model]
    body: str
    t_end: float
    rho_inf: float
    first: float
    finest: float


CASES = {
    "free body": Case(lambda: models.lie_term(formulation="R3xSO3"), "body", 1.0, RHO, 0.1, 1e-3),
    "heavy top": Case(lambda: models.heavy_top(formulation="R3xSO3"), "top", 1.0, 0.65, 1e-3, 2.5e-5),
    "rotor": Case(lambda: models.rotor(formulation="R3xSO3", torque_sign=-1.0), "rotor", 0.2, RHO, 1e-4, 2.5e-6),
}


def _error(run: Trajectory, best: Trajectory, name: str) -> float:
    """Largest difference of the rotation matrices at the end, which for small angles is the angle between them."""
    return float(np.max(np.abs(run.rotation(name)[-1] - best.rotation(name)[-1])))


def _curves(case: Case, count: int) -> tuple[Array, dict[tuple[float | str, str], Array]]:
    """Errors of geom1 (sigma = 0) and of both sigmas in the three forms, for each step size."""
    model, end = case.make(), case.t_end
    best = integrate(model, "rk67", t_end=end, h=case.finest, save_every=10**9, project="none")
    h = halved(case.first, count)

    def errors(sigma: float | str, form: str) -> Array:
        options = {"rho_inf": case.rho_inf, "sigma": sigma, "form": form, "save_every": 10**9, **NEWTON}
        return np.array([_error(integrate(model, "genalpha", t_end=end, h=x, **options), best, case.body) for x in h])

    pairs = [(0.0, "exact"), *((sigma, form) for sigma in SIGMAS.values() for form in FORMS)]
    return h, {pair: errors(*pair) for pair in pairs}


def _beta_over_gamma(rho: float) -> float:
    gamma = 0.5 + (1 - rho) / (1 + rho)
    return (gamma + 0.5) ** 2 / 4 / gamma


@artifact(
    "beyond",
    "sigma_forms",
    shows="The sigma algorithms of holzinger2025: as printed, with the factor 1/2 of line 6, and solved exactly.",
    reproduced="The Lie group part of the error is |1 - 3 sigma beta/gamma| times geom1's, as (40) says; order two.",
    ours="rho = 0.9, on the top 0.65; a free body whose only error is the Lie group term; errors at the end",
)
def sigma_forms(quick: bool) -> Result:
    found = {name: _curves(case, 4 if quick else 6) for name, case in CASES.items()}
    claims = _lie_claims(found["free body"][1])
    for case, (h, errors) in found.items():
        for sigma in (0.0, 1.0):
            text = f"{case}: order of the rotation, sigma = {sigma:g} solved exactly"
            claims.append(slope(text, 2, fitted(h[-3:], errors[sigma, "exact"][-3:])))
    columns: dict[str, ArrayLike] = {}
    for case, (h, errors) in found.items():
        columns[f"{case}: h (s)"] = h
        columns |= {f"{case}: error, sigma={s}, {form}": error for (s, form), error in errors.items()}

    panels = (
        powers(case, _lines(h, errors), "h / s", "error of the rotation / rad", {GEOM1: 2})
        for case, (h, errors) in found.items()
    )
    return Result(columns, claims, picture(*panels))


GEOM1 = r"geom1 ($\sigma = 0$)"


def _lines(h: Array, errors: dict[tuple[float | str, str], Array]) -> dict[str, tuple[Array, Array]]:
    """geom1, and each sigma in each form, by their labels."""
    named: dict[tuple[float | str, str], str] = {(0.0, "exact"): GEOM1}
    named |= {(s, form): f"{label}, {text}" for label, s in SIGMAS.items() for form, text in FORMS.items()}
    return {label: (h, errors[pair]) for pair, label in named.items()}


def _lie_claims(errors: dict[tuple[float | str, str], Array]) -> list[Claim]:
    """Errors on the free body at the finest step, relative to those of geom1, compared with (40)."""
    geom1 = errors[0.0, "exact"][-1]
    expected = abs(1 - 3 * _beta_over_gamma(RHO))
    why = (
        "line 6 is evaluated at zero accelerations, and corrections leave out the derivative of T; each changes the "
        "result by as much as the error. With the accelerations of the solution and a factor 1/2 that line gives what "
        "(40) says"
    )
    claims = []
    for form, label in FORMS.items():
        one, best = (errors[sigma, form][-1] / geom1 for sigma in SIGMAS.values())
        claims += [
            close(f"free body, sigma = 1 {label}: error over geom1's", expected, one, 0.02, why),
            below(f"free body, optimal sigma {label}: error over geom1's", best, 0.02, why),
        ]
    return claims
