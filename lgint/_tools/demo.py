"""The demo: the heavy top under several methods, a convergence table and its picture."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from lgint import models
from lgint._run.integrate import integrate
from lgint._tools import convergence
from lgint._tools.study import Study, study

T_END = 0.1
STEPS = tuple(1e-3 / 2**i for i in range(4))
REFERENCE_STEP = 1.25e-5
METHODS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("euler", "euler", {}),
    ("rk33", "rk33", {}),
    ("rk44", "rk44", {}),
    ("dopri5", "dopri5", {}),
    ("rk67", "rk67", {}),
    ("genalpha sigma=0", "genalpha", {"sigma": 0.0}),
    ("genalpha sigma=1", "genalpha", {"sigma": 1.0}),
    ("genalpha sigma=optimal", "genalpha", {"sigma": "optimal"}),
)
FORMULATIONS = ("R3xSO3", "SE3")


def run(out: Path) -> Path:
    """Prints the table, writes `heavy_top.png` into `out` and returns its path."""
    studies = {formulation: _studies(formulation) for formulation in FORMULATIONS}
    for formulation, entries in studies.items():
        print(_table(formulation, entries))
    top = models.heavy_top()
    path = integrate(top, "rk44", t_end=1.0, h=5e-4).position("top")
    panels = [
        ("configuration, R3xSO3", "q", studies["R3xSO3"]),
        ("configuration, SE3", "q", studies["SE3"]),
        ("multipliers, R3xSO3", "lam", studies["R3xSO3"]),
    ]
    out.mkdir(parents=True, exist_ok=True)
    picture = out / "heavy_top.png"
    convergence.demo(path, panels).savefig(picture)
    return picture


def _studies(formulation: str) -> list[tuple[str, Study]]:
    """Every method on the constrained top against one fine run of order six."""
    top = models.heavy_top(formulation=formulation)
    best = integrate(top, "rk67", t_end=T_END, h=REFERENCE_STEP, save_every=1000)
    return [
        (label, study(top, name, STEPS, t_end=T_END, reference=best, **options)) for label, name, options in METHODS
    ]


def _table(formulation: str, entries: list[tuple[str, Study]]) -> str:
    """One line per method: the error in q for every step, the observed orders and the cost of a step."""
    lines = [
        f"\nheavy top, constrained, {formulation}: error of the configuration at t = {T_END:g} s",
        f"{'method':<24}"
        + "".join(f"{f'h={h:g}':>12}" for h in STEPS)
        + f"{'order q':>9}{'order lam':>11}{'us/step':>9}",
    ]
    for label, entry in entries:
        errors = "".join(f"{error:12.2e}" for error in entry.errors["q"])
        q, lam = (_best_order(entry, name) for name in ("q", "lam"))
        lines.append(f"{label:<24}{errors}{q:9.2f}{lam:11.2f}{_cost(entry):9.2f}")
    return "\n".join(lines)


def _best_order(entry: Study, name: str) -> float:
    """The order between the two smallest steps whose errors are clear of round-off."""
    clear = entry.errors[name][1:] > 1e-11 * (1e3 if name == "lam" else 1.0)
    orders = entry.orders[name]
    return float(orders[np.flatnonzero(clear)[-1]] if clear.any() else orders[0])


def _cost(entry: Study) -> float:
    """Microseconds per step, the least of the runs."""
    return min(1e6 * run.stats.wall_time / run.stats.steps for run in entry.trajectories)
