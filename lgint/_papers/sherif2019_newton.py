"""Sherif et al. 2019: what the modified scheme costs, and where it fails."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from lgint import models
from lgint._args import Array
from lgint._core import IntegrationError
from lgint._model.model import Model
from lgint._papers.claims import above, below
from lgint._papers.pictures import picture, sizes
from lgint._papers.registry import Result, artifact
from lgint._papers.sherif2019 import ALPHA_V8, CLASSICAL, MODIFIED, PAPER
from lgint._run.integrate import integrate
from lgint._run.trajectory import Trajectory

SCHEMES = {"classical": CLASSICAL, "modified": MODIFIED}


class Case(NamedTuple):
    """A model with its steps, s, and how long it runs, s."""

    name: str
    model: Model
    steps: tuple[float, ...]
    t_end: float


def _cases(quick: bool) -> list[Case]:
    drive = models.crank_drive_v8(formulation="euler_parameters", omega0=300.0)
    return [
        Case("heavy top", models.heavy_top(formulation="euler_parameters"), (1e-3, 5e-4, 1e-4), 0.1),
        Case("crank drive", drive, (5e-4, 1e-4), 0.02 if quick else 0.1),
    ]


def _run(case: Case, h: float, **scheme: Any) -> Trajectory:
    return integrate(case.model, "hht", t_end=case.t_end, h=h, alpha=ALPHA_V8, save_every=10**9, **scheme)


TIGHT = {"newton_rtol": 1e-12, "newton_atol": 1e-12}


@artifact(
    PAPER,
    "newton",
    shows="Newton iterations per step of both schemes on the heavy top and the crank drive.",
    reproduced="The modified scheme converges faster, the paper's explanation of its shorter computing times.",
    ours="h, alpha = -0.3, and Newton's tolerance 1e-12; the drive turns at 300 rad/s",
)
def newton(quick: bool) -> Result:
    rows = [(case, h) for case in _cases(quick) for h in case.steps]
    counts = np.array([[_iterations(case, h, scheme) for scheme in SCHEMES.values()] for case, h in rows])
    why = (
        "with every derivative in the Jacobian, as in (65), both schemes converge quadratically, so that neither is "
        "faster; at tolerances from 1e-4 to 1e-10 they take the same number, 1 or 2"
    )
    return _compared(rows, counts, "iterations of the modified over those of the classical scheme, mean", why)


def _iterations(case: Case, h: float, scheme: Mapping[str, Any]) -> float:
    stats = _run(case, h, **{**scheme, **TIGHT}).stats
    return stats.newton_iterations / stats.steps


@artifact(
    PAPER,
    "times",
    shows="Processor time per step, in microseconds, of both schemes on the heavy top and the crank drive.",
    reproduced="The modified scheme takes less time than the classical one.",
    ours="h, alpha = -0.3; the drive turns at 300 rad/s; the least of several runs",
    timed=True,
)
def times(quick: bool) -> Result:
    rows = [(case, h) for case in _cases(quick) for h in case.steps]
    micros = np.array([1e6 * _seconds(case, h, 3 if quick else 9) * h / case.t_end for case, h in rows])
    why = "the modified scheme also evaluates (69) in every iteration, and takes no fewer iterations"
    return _compared(rows, micros, "time of the modified over that of the classical scheme, mean", why)


def _seconds(case: Case, h: float, repeats: int) -> Array:
    """Least processor time of the run by each scheme, s; they take turns."""

    def time_of(scheme: Mapping[str, Any]) -> float:
        begin = time.process_time()
        _run(case, h, **scheme)
        return time.process_time() - begin

    taken = np.array([[time_of(scheme) for scheme in SCHEMES.values()] for _ in range(repeats)])
    return np.asarray(taken.min(axis=0))


def _compared(rows: list[tuple[Case, float]], values: Array, text: str, why: str) -> Result:
    """A table of numbers for both schemes, and a claim for each model that the modified one has a smaller number."""
    claims = []
    for name in dict.fromkeys(case.name for case, _ in rows):
        mine = np.array([case.name == name for case, _ in rows])
        mean = float(np.exp(np.mean(np.log(values[mine, 1] / values[mine, 0]))))
        claims.append(below(f"{name}: {text}", mean, 0.99, why))
    columns: dict[str, ArrayLike] = {"model": [case.name for case, _ in rows], "h (s)": [h for _, h in rows]}
    return Result(columns | dict(zip(SCHEMES, values.T, strict=True)), claims)


# ---- small alpha ----

ALPHAS = (0.0, -0.02, -0.05, -0.1, -0.2, -0.3)


@artifact(
    PAPER,
    "small_alpha",
    shows="How long the modified scheme runs on the constrained heavy top with small |alpha|, and the reaction.",
    reproduced="The scheme can be used without damping, alpha = 0, and with little of it.",
    ours="h = 1e-3 s, t_end = 0.5 s, the values of alpha",
)
def small_alpha(quick: bool) -> Result:
    top = models.heavy_top(formulation="euler_parameters")
    runs = {alpha: _as_far_as_possible(top, alpha) for alpha in ALPHAS}
    why = (
        "the joint's multipliers change by (1 + alpha)/(1 - alpha) (1 + sqrt(phi/2)) in each step, where phi is the "
        "angle of the step, here 0.15 rad: they grow until Newton's method fails, unless alpha damps them"
    )
    claims = [above(f"alpha = {a:g}: end of the run, s", float(run.t[-1]), 0.5 - 1e-9, why) for a, run in runs.items()]
    columns: dict[str, ArrayLike] = {"alpha": ALPHAS, "end of the run (s)": [run.t[-1] for run in runs.values()]}
    lines = {f"alpha = {a:g}": (run.t, np.linalg.norm(run.lam[:, :3], axis=1)) for a, run in runs.items()}
    panel = sizes("modified scheme, reaction of the joint", "t / s", r"$|\lambda|$ / N", lines)
    return Result(columns, claims, picture(panel))


def _as_far_as_possible(top: Model, alpha: float) -> Trajectory:
    """The run, or its part up to the time at which Newton's method fails."""
    try:
        return integrate(top, "hht", t_end=0.5, h=1e-3, alpha=alpha, **MODIFIED)
    except IntegrationError as error:
        short: Trajectory = error.trajectory
        return short
