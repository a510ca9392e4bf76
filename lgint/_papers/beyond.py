"""Beyond the papers: SE(3) and R^3 x SO(3), half-explicit methods with projection, work-precision of all families."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from lgint import models
from lgint._args import Array
from lgint._model.model import Model
from lgint._papers.claims import Claim, above, below, needs_full_run
from lgint._papers.holzinger2024 import EXPLICIT, GENALPHA, ORDERS
from lgint._papers.pictures import costs, errors, picture
from lgint._papers.registry import Artifact, Result, artifact
from lgint._papers.runs import halved
from lgint._papers.studies import apart, columns, costs_of, errors_of, flat, orders
from lgint._run.trajectory import Trajectory
from lgint._tools.results import Comparison, Study
from lgint._tools.study import compare

PAPER = "beyond"

# ---- SE(3) compared with R^3 x SO(3) on the examples of holzinger2024 ----


class Example(NamedTuple):
    """An example of holzinger2024: its model in each formulation, the observed quantities, and settings of runs."""

    title: str
    make: Callable[[str], Model]
    observe: Callable[[Trajectory], Array]
    unit: str
    t_end: float
    first: float  # largest step of generalized-alpha, s
    steps: int
    reference: Mapping[str, Any]
    explicit: float = 0.0  # largest step of explicit methods, s; 0 with constraints


def _puma(formulation: str) -> Model:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # links 1 and 3 have no physical inertia in the data of the paper
        return models.puma560(formulation=formulation)


EXAMPLES = {
    "top": Example(
        "heavy top without constraints",
        lambda kind: models.heavy_top(constrained=False, formulation=kind),
        lambda run: run.position("top"),
        "m", 1.0, 1e-3, 6, {"method": "rk67", "h": 1e-5}, 1e-3,
    ),
    "constrained_top": Example(
        "heavy top with constraints",
        lambda kind: models.heavy_top(formulation=kind),
        lambda run: run.position("top"),
        "m", 1.0, 2.5e-3, 7, {"method": "rk67", "h": 1e-5},
    ),
    "rotor": Example(
        "rotor",
        lambda kind: models.rotor(formulation=kind),
        lambda run: run.point("rotor", (-0.11, 0.0, 0.0)),
        "m", 0.25, 5e-6, 6, {"method": "rk67", "h": 2.5e-6}, 2.5e-5,
    ),
    "slider_crank": Example(
        "slider-crank",
        lambda kind: models.slider_crank(formulation=kind),
        lambda run: run.position("slider")[:, 0],
        "m", 5.0, 4e-3, 7, {"method": "herk5", "h": 2.5e-4, "project": "both"},
    ),
    "robot": Example(
        "Puma 560",
        _puma,
        lambda run: run.joint_angles(),
        "rad", 1.0, 1.25e-2, 6, {"method": "rk67", "h": 2.5e-4, "project": "both"},
    ),
}  # fmt: skip
KINDS = {"R3xSO3": "R3xSO3", "SE(3)": "SE3"}


def _se3(name: str, example: Example) -> Artifact:
    """Both groups on one example: errors and iterations of generalized-alpha, and explicit methods if they run."""

    @artifact(
        PAPER,
        f"se3_{name}",
        shows=f"SE(3) compared with R^3xSO(3): {example.title}, generalized-alpha and explicit methods.",
        reproduced="Both have their orders; SE(3) takes no more Newton iterations, as holzinger2024 expects, and "
        "is as accurate.",
        ours="settings of holzinger2024 with RV replaced; as accurate: mean ratio of the errors between 1/2 and 2",
    )
    def make(quick: bool) -> Result:
        implicit, explicit = _both_groups(example, quick)
        both = implicit["SE(3)"], implicit["R3xSO3"]
        ratio = apart(*both, errors_of("x"))
        why = (
            "the body-fixed velocities of SE(3) turn with a fast spin, the inertial ones of R^3xSO(3) do not"
            if ratio > 1
            else "on SE(3) a step is a screw, which suits bodies that turn about a distant axis"
        )
        why += f"; errors of q, rotations included, have the ratio {apart(*both, errors_of('q')):.2g}"
        claims = [
            *orders(implicit, "x", {"R3xSO3": 2, "SE(3)": 2}),
            below(
                "iterations of SE(3) over those of R^3xSO(3), mean",
                apart(*both, costs_of("newton_iterations")),
                1.02,
                why="the matrix lacks the tangent operator, which on SE(3) depends on displacements too",
            ),
            below("generalized-alpha: error of SE(3) over that of R^3xSO(3), mean", ratio, 2.0, why),
            above("the same", ratio, 0.5, why),
        ]
        for method in explicit and EXPLICIT:
            expected = {f"{method}, {kind}": ORDERS[method] for kind in KINDS}
            claims += orders(explicit, "x", expected) if method in ("RK44", "DOPRI5") else []
        label = f"error at t = {example.t_end:g} s / {example.unit}"
        panels = [
            errors("generalized-alpha", implicit, "x", label),
            costs("Newton's method", implicit, "newton_iterations", "iterations per step"),
        ]
        groups = {"generalized-alpha": implicit}
        if explicit:
            panels, groups = [*panels, errors("explicit", explicit, "x", label)], {**groups, "explicit": explicit}
        return Result(columns(flat(groups), "error_x", "newton_iterations"), claims, picture(*panels))

    return make


def _both_groups(example: Example, quick: bool) -> tuple[Comparison, Comparison]:
    """Generalized-alpha and, without constraints, explicit methods on both groups."""
    made = {kind: example.make(formulation) for kind, formulation in KINDS.items()}
    count = example.steps - (1 if quick else 0)
    common: dict[str, Any] = {
        "t_end": example.t_end,
        "failures": "keep",
        "observables": {"x": example.observe},
        "reference": {"model": made["R3xSO3"], "project": "none", **example.reference},
    }
    implicit = compare(
        {kind: {"model": model, **GENALPHA} for kind, model in made.items()},
        steps=halved(example.first, count),
        **common,
    )
    if not example.explicit:
        return implicit, Comparison({})
    settings = {
        f"{name}, {kind}": {"model": model, "method": method, "project": "none"}
        for kind, model in made.items()
        for name, method in EXPLICIT.items()
    }
    return implicit, compare(settings, steps=halved(example.explicit, count), **common)


se3_top = _se3("top", EXAMPLES["top"])
se3_constrained_top = _se3("constrained_top", EXAMPLES["constrained_top"])
se3_rotor = _se3("rotor", EXAMPLES["rotor"])
se3_slider_crank = _se3("slider_crank", EXAMPLES["slider_crank"])
se3_robot = _se3("robot", EXAMPLES["robot"])

# ---- half-explicit methods with and without projection ----

PROJECTION = "both"
HALF_EXPLICIT = {"p = 2": "herk2", "p = 3": "herk3", "p = 4": "herk4", "p = 5": "herk5"}
PROJECTED: dict[str, Any] = {
    "heavy_top": (
        lambda: models.heavy_top(constraint_frame="body"),
        lambda run: run.position("top"),
        1.0,
        {"p = 2": 12, "p = 3": 10, "p = 4": 11, "p = 5": 10},
    ),
    "slider_crank": (
        models.slider_crank,
        lambda run: run.position("slider")[:, 0],
        1.0,
        {"p = 2": 12, "p = 3": 10, "p = 4": 9, "p = 5": 8},
    ),
    "roll_up": (
        lambda: models.roll_up(edges=8),
        lambda run: run.position("node8"),
        1.0,
        {"p = 2": 10, "p = 3": 11, "p = 4": 9, "p = 5": 8},
    ),
}


def _projection(name: str) -> Artifact:
    """Errors and residuals of half-explicit methods with and without projection on one system."""

    @artifact(
        PAPER,
        f"projection_{name}",
        shows=f"Half-explicit methods with and without projection onto the constraints: {name.replace('_', ' ')}.",
        reproduced="Projection keeps the orders and the constraints to round-off, and changes the errors by less "
        "than a factor of five.",
        ours="future work of tumiotto2024; the steps, t_end = 1 s; reference: RK67 with projection, h = 2^-14 s",
    )
    def make(quick: bool) -> Result:
        model, observe, t_end, first = PROJECTED[name]
        settings = {
            f"{label}{mark}": {
                "method": method,
                "project": project,
                "steps": 2.0 ** -np.arange(first[label], first[label] + (3 if quick else 4)),
            }
            for label, method in HALF_EXPLICIT.items()
            for mark, project in (("", "none"), (", projected", PROJECTION))
        }
        own = {"observables": {"x": observe}, "invariants": ["position_residual"], "t_end": t_end, "model": model()}
        studies = compare(settings, reference={"method": "rk67", "h": 2.0**-14, "project": "both"}, **own)
        claims: list[Claim] = []
        for p, label in enumerate(HALF_EXPLICIT, start=2):
            free, held = studies[label], studies[f"{label}, projected"]
            ratio = apart(held, free, errors_of("x"))
            claims += [
                *orders(studies, "x", {label: p}, FASTER),
                _order_kept(label, free, held),
                below(
                    f"{label}: largest residual with projection, m",
                    float(held.drifts["position_residual"].max()),
                    1e-10,
                ),
                below(f"{label}: error with projection over that without, mean", ratio, 5.0, SPIN),
                above("the same", ratio, 0.2, why="the drift of the constraints was most of the error"),
            ]
        panels = (
            errors("errors", studies, "x", f"error of the position at t = {t_end:g} s / m"),
            errors("residuals", studies, "position_residual", "largest residual of the constraints / m"),
        )
        return Result(columns(studies, "error_x", "drift_position_residual"), claims, picture(*panels))

    return make


SPIN = (
    "without projection the direction of the top's axis is 150 times as good as its spin; projection turns some of the "
    "spin's error into it, and the error of the whole attitude grows by a factor of 1.7"
)
FASTER = "the leading term is small on this system: errors fall faster until they reach round-off"


def _order_kept(label: str, free: Study, held: Study) -> Claim:
    """The claim that projection lowers the observed order by no more than such orders may differ."""
    expected, found = (study.asymptotic["x"].order for study in (free, held))
    return above(f"{label}: order with projection, at least nine tenths of that without", found, 0.9 * expected, FASTER)


projection_heavy_top = _projection("heavy_top")
projection_slider_crank = _projection("slider_crank")
projection_roll_up = _projection("roll_up")

# ---- work and precision of all method families ----

WORK: dict[str, Any] = {
    "constrained heavy top": (models.heavy_top, lambda run: run.position("top"), 1.0, 1e-3),
    "slider-crank": (models.slider_crank, lambda run: run.position("slider")[:, 0], 1.0, 4e-3),
    "roll-up": (models.roll_up, lambda run: run.position("node8"), 1.0, 2.0**-8),
}
FAMILIES: dict[str, dict[str, Any]] = {
    "RK44": {"method": "rk44", "project": "none"},
    "RK67": {"method": "rk67", "project": "none"},
    "HERK3": {"method": "herk3", "project": "none"},
    "HERK5": {"method": "herk5", "project": "none"},
    "generalized-alpha": {"method": "genalpha", "rho_inf": 0.9, "sigma": 1.0, "index": 3, "newton": "full"},
    "generalized-alpha, stabilised": {
        "method": "genalpha",
        "rho_inf": 0.9,
        "sigma": 1.0,
        "index": "stabilized",
        "newton": "full",
    },
    "HHT": {"method": "hht", "alpha": -0.1, "newton": "full"},
}
ADAPTIVE = {"DOPRI5 automatic": "dopri5", "HERK5 automatic": "herk5"}
TOLERANCES = (1e-4, 1e-6, 1e-8, 1e-10)
CONSERVING: dict[str, dict[str, Any]] = {  # on Euler parameters
    "midpoint (mph)": {"method": "mph", "hamiltonian": "exact"},
    "energy-momentum (eml)": {"method": "eml", "equivariant": True},
}


def _families(name: str, quick: bool) -> Comparison:
    make, observe, t_end, first = WORK[name]
    steps = halved(first, 4 if quick else 6)
    settings: dict[str, dict[str, Any]] = {label: {**own, "steps": steps} for label, own in FAMILIES.items()}
    for label, method in ADAPTIVE.items():
        settings[label] = {"method": method, "tolerances": TOLERANCES[: 3 if quick else 4]}
    if name != "roll-up":
        classical = make(formulation="euler_parameters")
        settings |= {label: {"model": classical, "steps": steps, **o} for label, o in CONSERVING.items()}
    model = make()
    own = {"model": model, "t_end": t_end, "failures": "keep", "repeats": 3, "observables": {"x": observe}}
    best = {"model": model, "method": "rk67", "h": first / 64, "project": "both"}
    return compare(settings, reference=best, **own)


@artifact(
    PAPER,
    "work_precision",
    shows="Work-precision diagrams of all method families on the constrained top, the slider-crank and a rod.",
    reproduced="For an error of 1e-5 the methods of order 5 and 6 beat those of order 2, and automatic steps cost at "
    "most twice as much as the best fixed ones.",
    ours="t_end = 1 s, rho_inf = 0.9, alpha = -0.1; reference: RK67 with projection and h/64",
    timed=True,
)
def work_precision(quick: bool) -> Result:
    made = {name: _families(name, quick) for name in WORK}
    claims: list[Claim] = []
    for name, studies in made.items():
        cheapest = {label: _cheapest(study, 1e-5) for label, study in studies.items()}
        second = min(cheapest[label] for label in ("generalized-alpha", "generalized-alpha, stabilised", "HHT"))
        high = min(cheapest[label] for label in ("RK67", "HERK5"))
        automatic = min(cheapest[label] for label in ADAPTIVE) / min(cheapest.values())
        claims += [
            below(f"{name}: time for 1e-5, best of order 5 and 6 over best of order 2", high / second, 1.0),
            below(f"{name}: time for 1e-5, best automatic over best of all", automatic, 2.0),
        ]
    panels = (errors(name, studies, "x", "error of the position / m", "seconds") for name, studies in made.items())
    return Result(columns(flat(made), "error_x", "seconds"), claims, picture(*panels))


def _cheapest(study: Any, error: float) -> float:
    """Time of the cheapest run that is at least as accurate; infinite if there is none."""
    good = study.errors["x"] <= error
    return float(study.seconds[good].min()) if good.any() else float("inf")


@artifact(
    PAPER,
    "work_precision_orders",
    shows="Orders of all method families on the constrained top, the slider-crank and a rod.",
    reproduced="Each method has its order on each system.",
    ours="t_end = 1 s, rho_inf = 0.9, alpha = -0.1; reference: RK67 with projection and h/64",
)
def work_precision_orders(quick: bool) -> Result:
    made = {name: _families(name, quick) for name in WORK}
    expected = {"RK44": 4, "RK67": 6, "HERK3": 3, "HERK5": 5, "generalized-alpha": 2, "HHT": 2}
    why = "the leading term is small on this system"
    claims = needs_full_run(
        *(claim for name, studies in made.items() for claim in orders(studies, "x", expected, why, f"{name}: "))
    )
    fixed = {name: {k: s for k, s in studies.items() if s.tolerance is None} for name, studies in made.items()}
    panels = (errors(name, studies, "x", "error of the position / m") for name, studies in fixed.items())
    return Result(columns(flat(made), "error_x"), claims, picture(*panels))
