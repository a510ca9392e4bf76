"""Beyond the papers: processor time over error of all method families, on which docs/index_choice.md is based."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike

from lgint import models
from lgint._args import Array
from lgint._build.builder import ModelBuilder
from lgint._model.model import Model
from lgint._papers.claims import Claim, less
from lgint._papers.pictures import errors, picture
from lgint._papers.registry import Result, artifact
from lgint._run.integrate import integrate, method_info, methods
from lgint._tools.ladder import Ladder
from lgint._tools.results import Study
from lgint._tools.study import compare
from lgint.models._stiff_chain import stiff_chain

ALPHA: Final = ("genalpha", "newmark", "hht")  # also run with tolerances; the smallest one takes 10 000 steps
LEAST_OF_ALPHA: Final = 1e-7
STIFFNESS: Final = 1e6  # of the contact, N/m


def bouncing_ball() -> Model:
    """A ball of 1 kg that falls 0.2 m onto a unilateral spring and rebounds."""

    def push(t: float, x: Array, R: Array, xdot: Array, omega: Array) -> Array:
        return np.array([0.0, 0.0, STIFFNESS * max(-x[2], 0.0), 0.0, 0.0, 0.0])

    builder = ModelBuilder(gravity=(0.0, 0.0, -9.81))
    builder.add_body("ball", mass=1.0, inertia=(0.01, 0.01, 0.01), position=(0.0, 0.0, 0.2), velocity=(0.1, 0.0, 0.0))
    builder.add_force_law(push, bodies="ball", name="floor")
    return builder.build()


@dataclass(frozen=True)
class Problem:
    """A system, its methods and a fine run; times and step sizes are in s, the latter for runs without tolerances."""

    make: Callable[[], Model]
    t_end: float
    fine: Mapping[str, Any]
    methods: tuple[str, ...]
    first: float
    count: int
    least: float = 1e-10  # the smallest tolerance
    stable: tuple[float, ...] = ()  # step sizes at which explicit methods are stable, if that requires small ones


PROBLEMS: Final = {
    "free top": Problem(
        lambda: models.heavy_top(constrained=False),
        0.2,
        {"method": "dop853", "h": 1e-4},
        ("rk44", "dopri5", "dop853", "genalpha", "radau5"),
        1e-3,
        8,
    ),
    "constrained top": Problem(
        models.heavy_top,
        0.2,
        {"method": "dop853", "h": 1e-4},
        ("rk44", "dopri5", "dop853", "herk5", "genalpha", "radau5"),
        1e-3,
        8,
    ),
    "slider-crank": Problem(
        models.slider_crank,
        1.0,
        {"method": "dop853", "h": 5e-4, "project": "both"},
        ("rk44", "dopri5", "dop853", "herk5", "genalpha", "radau5"),
        1e-2,
        8,
    ),
    "spaghetti": Problem(
        lambda: models.flying_spaghetti(edges=8),
        1.0,
        {"method": "dop853", "h": 1e-3, "project": "both"},
        ("dopri5", "dop853", "herk5", "genalpha", "radau5"),
        1e-2,
        6,
    ),
    "stiff chain": Problem(
        lambda: stiff_chain(4),
        0.1,
        {"method": "herk5", "h": 2e-6},
        ("herk5", "genalpha", "radau5"),
        1e-2,
        9,
        1e-8,
        (4e-6, 3e-6),
    ),
    "contact": Problem(
        bouncing_ball,
        0.35,
        {"method": "dop853", "rtol": 1e-12, "atol": 1e-12},
        ("rk44", "dopri5", "dop853", "genalpha", "radau5"),
        1e-2,
        8,
        1e-8,
    ),
}


def _studies(problem: Problem, quick: bool) -> dict[str, Study]:
    """Studies of all methods of this version, over tolerances for methods with error control."""
    model = problem.make()
    best = integrate(model, t_end=problem.t_end, save_every=10**9, **problem.fine)
    exponents = np.arange(3, -np.log10(problem.least) + 0.5, 2 if quick else 1)
    steps = problem.first * 0.5 ** np.arange(problem.count - 3 if quick else problem.count)
    settings: dict[str, dict[str, Any]] = {}
    for method in problem.methods:
        if method not in methods():
            continue
        named = {row["name"] for row in method_info(method)["options"]}
        more: dict[str, Any] = {"index": "stabilized"} if "index" in named and model.nc else {}
        if problem.stable and method_info(method)["explicit"]:
            more["steps"] = list(problem.stable)
        elif "rtol" in named and method != "genalpha":
            more["tolerances"] = list(10.0**-exponents)
        else:
            more["steps"] = list(steps)
        settings[method] = {"method": method, **more}
    loose = list(10.0 ** -exponents[exponents <= -np.log10(LEAST_OF_ALPHA)])
    settings |= {f"{method}, tolerances": {"method": method, "tolerances": loose} for method in ALPHA}
    return dict(
        compare(
            settings, model=model, t_end=problem.t_end, reference=best, repeats=1 if quick else 3, failures="keep"
        ).studies
    )


def seconds_at(study: Study, error: float) -> float:
    """Processor time at an error of v; NaN if no run is that accurate."""
    errors = np.asarray(study.errors["v"])
    kept = np.isfinite(errors) & (errors > 0)
    return Ladder(study.method, list(study.seconds[kept]), list(errors[kept])).at(error)


# problem, faster method, slower method, least ratio of their times, error of v
FASTER: Final = (
    ("free top", "dop853", "dopri5", 1.5, 1e-7),
    ("free top", "dopri5", "genalpha", 3.0, 1e-3),
    ("constrained top", "dop853", "herk5", 1.3, 1e-7),
    ("slider-crank", "dopri5", "genalpha", 2.0, 1e-3),
    ("slider-crank", "dop853", "herk5", 1.2, 1e-7),
    ("spaghetti", "dop853", "dopri5", 1.2, 1e-6),
    ("stiff chain", "genalpha", "herk5", 10.0, 1e-4),
    ("stiff chain", "radau5", "genalpha", 1.5, 1e-6),
    ("contact", "dopri5", "rk44", 2.0, 1e-2),
)


def _claims(found: Mapping[str, Mapping[str, Study]]) -> list[Claim]:
    claims = []
    for problem, first, second, times, error in FASTER:
        if {first, second} <= found[problem].keys():
            ours, others = (seconds_at(found[problem][method], error) for method in (first, second))
            claims.append(
                less(f"{problem}: seconds of {first} and of {second} at an error of {error:g}", ours, others, times)
            )
    return claims


@artifact(
    "beyond",
    "which_method",
    shows="Processor time over the error of the velocities, for all families of methods on six systems.",
    reproduced="What the page on choosing a method says: which method takes less time, and by what factor at least.",
    timed=True,
    ours="systems, tolerances and step sizes; adaptive methods have tolerances, the others step sizes, genalpha both",
)
def which_method(quick: bool) -> Result:
    found = {name: _studies(problem, quick) for name, problem in PROBLEMS.items()}
    columns: dict[str, ArrayLike] = {}
    for problem, studies in found.items():
        for method, study in studies.items():
            columns[f"{problem}, {method}: seconds"] = study.seconds
            columns[f"{problem}, {method}: error of v"] = study.errors["v"]
    panels = (errors(name, studies, "v", "error of v", "seconds") for name, studies in found.items())
    return Result(columns, _claims(found), picture(*panels, columns=3))
