"""`lgint bench --stiff`: processor time at equal error, beside SUNDIALS IDA and SciPy's Radau on the same equations.

The peers solve our own redundant, stabilised equations of index 2 in Euler parameters: see `bench_ggl`. Our methods run
on R^3xSO(3), their default, and `radau5` in Euler parameters as well. In minimal coordinates SciPy's Radau integrates
the accelerations of the core, as a user of SciPy would write it.

Every code runs a ladder of tolerances or steps. The least processor time of several repetitions counts, all in one
process; the call of a residual by Python is taken off the peers' times. The error is the largest difference of the
positions, attitudes, velocities and angular velocities of all bodies at the end from those of a fine run, each relative
to the largest value of its kind. Times at given errors are interpolated between the runs of a ladder, and NaN where a
ladder does not reach an error within its time.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any, Final

import numpy as np

from lgint import models
from lgint._args import Array, choice
from lgint._model.model import Model
from lgint._run.integrate import integrate, method_info, methods
from lgint._tools import bench_ggl
from lgint._tools.bench_file import append
from lgint._tools.ladder import Ladder
from lgint.models._stiff_chain import stiff_chain

LEVELS: Final = tuple(10.0**-k for k in range(4, 11))  # errors at which times are compared
TOLERANCES: Final = tuple(10.0 ** (-k / 2) for k in range(4, 27))
OURS: Final = ("genalpha", "herk5", "dop853", "radau5")  # those that this version has
ALSO_BY_PARAMETERS: Final = "radau5"  # the method that runs in the coordinates of the peers as well
BUDGET: Final = 2.0  # s: a ladder ends with the first run that takes longer


@dataclass(frozen=True, eq=False)
class Case:
    """A model by its formulation, the end of its runs, and its fine run."""

    name: str
    model: Callable[..., Model]
    t_end: float
    fine: tuple[str, dict[str, Any]]
    stiff: bool = False
    minimal: bool = False  # whether runs in minimal coordinates stand beside the others


CASES: Final = (
    Case("constrained top", models.heavy_top, 0.25, ("dop853", {"h": 2.5e-5, "project": "both"})),
    Case("slider-crank", models.slider_crank, 1.0, ("dop853", {"h": 1e-3, "project": "both"})),
    Case(
        "stiff pair", partial(stiff_chain, 2), 1.0, ("herk5", {"h": 4e-6, "project": "both"}), stiff=True, minimal=True
    ),
    Case("stiff chain", stiff_chain, 1.0, ("herk5", {"h": 4e-6, "project": "both"}), stiff=True, minimal=True),
)


@dataclass(frozen=True)
class Result:
    """A row of the table and of the file: milliseconds at an error; NaN if it was not reached."""

    case: str
    code: str
    error: float
    ms: float


def kinds_of(model: Model, q: Array, v: Array) -> list[Array]:
    """Positions, attitudes, velocities and angular velocities of all bodies."""
    state = model.state(q=q, v=v)
    return [
        np.concatenate([np.ravel(getattr(state, kind)(body)) for body in model.bodies])
        for kind in ("position", "rotation", "velocity", "angular_velocity")
    ]


def distance(found: Sequence[Array], best: Sequence[Array]) -> float:
    """The largest difference, relative to the largest value of its kind."""
    return max(
        float(np.abs(a - b).max() / np.abs(b).max()) for a, b in zip(found, best, strict=True) if np.abs(b).max() > 0
    )


@cache
def reference(case: Case) -> list[Array]:
    method, options = case.fine
    model = case.model()
    more: dict[str, Any] = {"save_every": 10**9, **options}
    run = integrate(model, method, t_end=case.t_end, **more)
    return kinds_of(model, run.q[-1], run.v[-1])


# ---- the codes ----


def ours(case: Case, method: str, formulation: str) -> Iterator[Callable[[], tuple[Model, Array, Array, float]]]:
    """Runs of one of our methods, from coarse to fine."""
    model = case.model(formulation=formulation)
    named = {row["name"] for row in method_info(method)["options"]}
    more: dict[str, Any] = {"index": "stabilized"} if "index" in named and model.nc else {}
    adaptive = "rtol" in named and method not in ("genalpha",)
    knobs = (
        [{"rtol": x, "atol": x} for x in TOLERANCES] if adaptive else [{"h": case.t_end / 2**k} for k in range(5, 20)]
    )

    def run(knob: dict[str, Any]) -> tuple[Model, Array, Array, float]:
        found = integrate(model, method, t_end=case.t_end, save_every=10**9, **knob, **more)
        return model, found.q[-1], found.v[-1], 0.0

    return (partial(run, knob) for knob in knobs)


def on_equations(
    case: Case, solve: Callable[..., tuple[Array, int]], solver: str, library: Any
) -> Iterator[Callable[[], tuple[Model, Array, Array, float]]]:
    """Runs of a peer on the redundant equations, with the seconds that its calls through Python take."""
    model = case.model(formulation="euler_parameters")
    problem = bench_ggl.Problem(model, library)
    overhead = problem.overhead()

    def run(rtol: float) -> tuple[Model, Array, Array, float]:
        y, calls = solve(problem, solver, rtol, case.t_end)
        q, v = y[: model.nv].copy(), y[model.nv : 2 * model.nv]
        for attitude in q.reshape(-1, 7)[:, 3:]:  # of unit length up to the tolerance
            attitude /= np.linalg.norm(attitude)
        return model, q, v, calls * overhead

    return (partial(run, rtol) for rtol in TOLERANCES)


def in_minimal_coordinates(case: Case) -> Iterator[Callable[[], tuple[Model, Array, Array, float]]]:
    """Runs of SciPy's Radau on the accelerations of the core."""
    from scipy.integrate import solve_ivp

    model = case.model(formulation="minimal")
    nv, mem, accelerations = model.nv, model.mem0, model.core.initial

    def rate(t: float, y: Array) -> Array:
        return np.concatenate([y[nv:], accelerations(t, y[:nv], y[nv:], mem)[0]])

    start = np.concatenate([model.q0, model.v0])

    def run(rtol: float) -> tuple[Model, Array, Array, float]:
        y = solve_ivp(rate, (0.0, case.t_end), start, method="Radau", rtol=rtol, atol=rtol, t_eval=[case.t_end]).y[
            :, -1
        ]
        return model, y[:nv], y[nv:], 0.0

    return (partial(run, rtol) for rtol in TOLERANCES)


def codes(case: Case, chosen: Sequence[str]) -> Iterator[tuple[str, Iterator[Callable[..., Any]]]]:
    """All codes that run a case: ours, the peers that are installed, and those in minimal coordinates."""
    implicit = [m for m in chosen if not method_info(m)["explicit"]]
    for method in implicit if case.stiff else chosen:
        yield method, ours(case, method, "R3xSO3")
        if method == ALSO_BY_PARAMETERS:
            yield f"{method}, Euler parameters", ours(case, method, "euler_parameters")
    unknowns = 2 * (case.model(formulation="euler_parameters").nv + case.model(formulation="euler_parameters").nc)
    peers = (("IDA", "sksundae", bench_ggl.ida), ("scipy_dae Radau", "scipy_dae", bench_ggl.radau))
    for name, package, solve in peers:
        if bench_ggl.load(package):
            solver = "dense" if unknowns <= bench_ggl.DENSE[name] else "sparse"
            yield f"{name}, {solver}", on_equations(case, solve, solver, bench_ggl.compiled())
    for method in implicit if case.minimal else ():
        yield f"{method}, minimal", ours(case, method, "minimal")
    if case.minimal and bench_ggl.load("scipy"):
        yield "SciPy Radau, minimal", in_minimal_coordinates(case)


def climb(case: Case, code: str, runs: Iterator[Callable[..., Any]], repeat: int) -> Ladder:
    """Runs a ladder until it has reached the least error, or a run takes too long."""
    ladder = Ladder(code)
    for run in runs:
        least = np.inf
        try:
            for _ in range(repeat):
                begin = time.process_time()
                model, q, v, overhead = run()
                least = min(least, time.process_time() - begin - overhead)
                if least > BUDGET / repeat:
                    break
        except (RuntimeError, ValueError, ArithmeticError):
            continue  # too coarse, or too fine for round-off
        ladder.seconds.append(max(least, 1e-9))
        ladder.errors.append(max(distance(kinds_of(model, q, v), reference(case)), 1e-16))
        if least > BUDGET or ladder.errors[-1] < 0.3 * LEVELS[-1]:
            break
    return ladder


# ---- the table ----


def run(
    only: str = "", repeat: int = 3, machine: str = "", out: Path | None = None, chosen: Sequence[str] = ()
) -> list[Result]:
    """Runs the cases whose names contain `only`, prints a table of each, and appends the rows to `out`."""
    found = [case for case in CASES if only in case.name]
    if not found:
        choice("case", only, [case.name for case in CASES])
    have = [method for method in chosen or OURS if chosen or method in methods()]
    results = []
    for case in found:
        print(f"{case.name}: milliseconds at an error of")
        print(f"{'':<26}" + "".join(f"{level:>10.0e}" for level in LEVELS), flush=True)
        for code, runs in codes(case, have):
            ladder = climb(case, code, runs, repeat)
            row = [Result(case.name, code, level, 1e3 * ladder.at(level)) for level in LEVELS]
            print(f"{code:<26}" + "".join(f"{result.ms:10.2f}" for result in row), flush=True)
            results += row
    if out is not None:
        append(results, out, machine)
    return results
