"""The demo: the heavy top under several methods, a convergence table and its picture."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lgint import models
from lgint._run.integrate import integrate
from lgint._tools import convergence
from lgint._tools.results import Comparison, Study
from lgint._tools.study import compare

T_END = 0.1
STEPS = tuple(1e-3 / 2**i for i in range(4))
REFERENCE_STEP = 1.25e-5
METHODS: dict[str, str | dict[str, Any]] = {
    **{name: name for name in ("euler", "rk33", "rk44", "dopri5", "rk67")},
    **{f"genalpha sigma={sigma}": {"method": "genalpha", "sigma": sigma} for sigma in (0.0, 1.0, "optimal")},
}
FORMULATIONS = ("R3xSO3", "SE3")


def run(out: Path) -> Path:
    """Prints the table, writes `heavy_top.png` into `out` and returns its path."""
    studies = {formulation: _studies(formulation) for formulation in FORMULATIONS}
    for formulation, entries in studies.items():
        print(_table(formulation, entries))
    top = models.heavy_top()
    path = integrate(top, "rk44", t_end=1.0, h=5e-4).position("top")
    parts = [
        ("configuration, R3xSO3", "R3xSO3", "q"),
        ("configuration, SE3", "SE3", "q"),
        ("multipliers, R3xSO3", "R3xSO3", "lam"),
    ]
    panels = [
        (title, name, [study.curve(label, name) for label, study in studies[formulation].items()])
        for title, formulation, name in parts
    ]
    out.mkdir(parents=True, exist_ok=True)
    picture = out / "heavy_top.png"
    convergence.demo(path, panels).savefig(picture)
    return picture


def _studies(formulation: str) -> Comparison:
    """Every method on the constrained top, compared with one fine run of order six."""
    top = models.heavy_top(formulation=formulation)
    best = {"method": "rk67", "h": REFERENCE_STEP}
    return compare(METHODS, model=top, steps=STEPS, t_end=T_END, reference=best)


def _table(formulation: str, entries: Comparison) -> str:
    """One line per method: the error in q for every step, the observed orders and the cost of a step."""
    lines = [
        f"\nheavy top, constrained, {formulation}: error of the configuration at t = {T_END:g} s",
        f"{'method':<24}"
        + "".join(f"{f'h={h:g}':>12}" for h in STEPS)
        + f"{'order q':>9}{'order lam':>11}{'us/step':>9}",
    ]
    for label, entry in entries.items():
        errors = "".join(f"{error:12.2e}" for error in entry.errors["q"])
        q, lam = (entry.asymptotic[name].order for name in ("q", "lam"))
        lines.append(f"{label:<24}{errors}{q:9.2f}{lam:11.2f}{_cost(entry):9.2f}")
    return "\n".join(lines)


def _cost(entry: Study) -> float:
    """Microseconds per step, the least of the runs."""
    return min(float(1e6 * seconds / steps) for seconds, steps in zip(entry.seconds, entry.steps, strict=True))
