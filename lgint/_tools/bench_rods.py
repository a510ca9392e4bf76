"""`lgint bench --rods`: rods of many edges, compared with PyElastica if it is installed.

For each case, code and step the table has the processor time of a step and of the whole run, and the error in time: the
distance of the rod's end from that of a run of the same code with the same edges and much finer steps. Errors in space,
of second order in the number of edges for both codes, are left out.
"""

from __future__ import annotations

import importlib
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np

from lgint import models
from lgint._args import Array, choice
from lgint._model.model import Model
from lgint._run.integrate import integrate
from lgint._tools.bench_file import append
from lgint.models._falling_bar import DENSITY, GRAVITY, LENGTH, RADIUS, SHEAR, YOUNG, falling_bar

WAVE: Final = math.sqrt(DENSITY / YOUNG)  # time that a wave of stretch takes per length, s/m
FINE: Final = 8  # steps of the reference per step of the finest run


@dataclass(frozen=True)
class Run:
    """A code and its step size; `end` makes a number of steps and returns the position of the rod's end."""

    code: str
    h: float
    steps: int
    end: Callable[[float, int], Array]


@dataclass(frozen=True)
class Result:
    """A row of the table and of the file."""

    case: str
    edges: int
    code: str
    h: float  # s
    us: float  # microseconds per step
    seconds: float  # of the whole run
    error: float  # m


def ours(model: Model, edges: int, method: str, h: float, steps: int) -> Array:
    """The end of a rod after this number of steps of lgint."""
    run = integrate(model, method, t_end=steps * h, h=h, save_every=steps)
    end: Array = run.position(f"node{edges}")[-1]
    return end


def elastica_bar(elastica: Any, edges: int, clamped: bool, h: float, steps: int) -> Array:
    """The end of the same bar after this number of steps of PyElastica's position Verlet method."""

    class Simulator(elastica.BaseSystemCollection, elastica.Constraints, elastica.Forcing):  # type: ignore[misc]
        pass

    simulator = Simulator()
    rod = elastica.CosseratRod.straight_rod(
        edges,
        np.zeros(3),
        np.array([1.0, 0.0, 0.0]),
        np.array([0.0, 0.0, 1.0]),
        LENGTH,
        RADIUS,
        DENSITY,
        youngs_modulus=YOUNG,
        shear_modulus=SHEAR,
    )
    simulator.append(rod)
    held = {"constrained_position_idx": (0,)}
    if clamped:
        simulator.constrain(rod).using(elastica.OneEndFixedBC, **held, constrained_director_idx=(0,))
    else:
        selector = np.array([True, True, True])
        simulator.constrain(rod).using(elastica.GeneralConstraint, **held, translational_constraint_selector=selector)
    simulator.add_forcing_to(rod).using(elastica.GravityForces, acc_gravity=np.array([0.0, 0.0, -GRAVITY]))
    simulator.finalize()
    stepper, t = elastica.PositionVerlet(), np.float64(0.0)
    for _ in range(steps):
        t = stepper.step(simulator, t, np.float64(h))
    end: Array = rod.position_collection[:, -1].copy()
    return end


def cases(elastica: Any) -> Iterator[tuple[str, int, list[list[Run]]]]:
    """For each case its name, its number of edges, and for each code its runs, of which the finest is the last."""
    for edges in (16, 128, 1024):
        model = models.flying_spaghetti(edges=edges)
        t_end = 16.0 / edges
        stable = 2e-3 * 16 / edges
        yield (
            "flying_spaghetti",
            edges,
            [
                _runs(method, partial(ours, model, edges, method), t_end, h)
                for method, h in (("herk5", stable), ("genalpha", 4 * stable))
            ],
        )
    for clamped, name in ((True, "cantilever"), (False, "pendulum")):
        for edges in (16, 64):
            model = falling_bar(edges, clamped)
            wave = WAVE * LENGTH / edges
            runs = [
                _runs("genalpha", partial(ours, model, edges, "genalpha"), 0.5, 4 * wave),
                _runs("herk4", partial(ours, model, edges, "herk4"), 0.5, 0.3 * wave),
            ]
            if elastica:
                runs.append(_runs("PyElastica", partial(elastica_bar, elastica, edges, clamped), 0.5, 0.3 * wave))
            yield name, edges, runs


def _runs(code: str, end: Callable[[float, int], Array], t_end: float, h: float) -> list[Run]:
    """A run with steps of about h, and one with steps of half that size."""
    steps = math.ceil(t_end / h)
    return [Run(code, t_end / n, n, end) for n in (steps, 2 * steps)]


def run(only: str = "", repeat: int = 3, machine: str = "", out: Path | None = None) -> list[Result]:
    """Runs the cases whose names contain `only`, prints the table, and appends it to `out` if that is given."""
    try:
        elastica = importlib.import_module("elastica")
    except ImportError:
        elastica = None
    names = ("flying_spaghetti", "cantilever", "pendulum")
    if not any(only in name for name in names):
        choice("case", only, names)
    print(f"rods; PyElastica is {'' if elastica else 'not '}installed")
    print(f"{'':<18} {'edges':>5} {'code':<11} {'step / s':>9} {'us a step':>9} {'seconds':>8} {'error / m':>9}")
    results = []
    for name, edges, codes in cases(elastica):
        for runs in codes if only in name else []:
            for result in _measure(name, edges, runs, repeat):
                results.append(result)
                print(_line(result), flush=True)
    if out is not None:
        append(results, out, machine)
    return results


def _measure(name: str, edges: int, runs: list[Run], repeat: int) -> Iterator[Result]:
    finest = runs[-1]
    exact = finest.end(finest.h / FINE, FINE * finest.steps)
    for one in runs:
        least, end = np.inf, exact
        for _ in range(repeat):
            start = time.process_time()
            end = one.end(one.h, one.steps)
            least = min(least, time.process_time() - start)
        error = float(np.linalg.norm(end - exact))
        yield Result(name, edges, one.code, one.h, 1e6 * least / one.steps, least, error)


def _line(r: Result) -> str:
    return f"{r.case:<18} {r.edges:5d} {r.code:<11} {r.h:9.2e} {r.us:9.1f} {r.seconds:8.3f} {r.error:9.1e}"
