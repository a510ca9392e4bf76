"""Beyond the papers: the energy-momentum methods of kinon2024 on the examples of the other papers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from lgint import models
from lgint._args import Array
from lgint._model.model import Model
from lgint._papers.claims import Claim, above, below, fitted, slope
from lgint._papers.pictures import Panel, errors, picture
from lgint._papers.registry import Artifact, Result, artifact
from lgint._papers.runs import halved
from lgint._papers.studies import columns
from lgint._run.trajectory import Trajectory
from lgint._tools.results import Comparison, Study
from lgint._tools.study import compare

FORMS = {"printed": False, "equivariant": True}
NEWTON: dict[str, Any] = {"newton_rtol": 0.0, "newton_atol": 0.0}
SETTINGS: dict[str, dict[str, Any]] = {
    f"{method.upper()}, {form}": {"method": method, "equivariant": equivariant, **NEWTON}
    for method in ("eml", "emh", "mpl")
    for form, equivariant in FORMS.items()
} | {"generalized-alpha": {"method": "genalpha", "rho_inf": 0.9, "index": 2, "newton": "full"}}
CONSERVING = [label for label in SETTINGS if label.startswith("EM")]
TURNING = [label for label in SETTINGS if label.endswith("equivariant")]
KEPT = 1e-12  # largest drift of a conserved energy or momentum, relative to its size
ENERGY, MOMENTUM = "energy", "vertical angular momentum"


class Example(NamedTuple):
    """A model, the observed body, the longest step (s), the invariants, and settings of the reference."""

    title: str
    model: Callable[..., Model]
    body: str
    first: float
    invariants: tuple[str, ...]
    reference: Callable[[], Mapping[str, Any]]


EXAMPLES = {
    "heavy_top": Example(
        "heavy top",
        models.heavy_top,
        "top",
        2e-3,
        (ENERGY, MOMENTUM),
        lambda: {"model": models.heavy_top(constrained=False), "method": "rk67", "h": 5e-5, "project": "none"},
    ),
    "slider_crank": Example(
        "slider-crank",
        models.slider_crank,
        "slider",
        1e-2,
        (ENERGY,),
        lambda: {"model": models.slider_crank(), "method": "herk5", "h": 6.25e-4, "project": "none"},
    ),
}


def _energy(run: Trajectory) -> Array:
    """The energy that the method conserves, if any, relative to its size."""
    energy = run.energy()
    return np.asarray(energy / np.abs(energy).max())


def _momentum(run: Trajectory) -> Array:
    vertical = run.angular_momentum()[:, 2]
    return np.asarray(vertical / np.abs(vertical).max())


INVARIANTS = {ENERGY: _energy, MOMENTUM: _momentum}


def _compared(example: Example, count: int) -> Comparison:
    return compare(
        SETTINGS,
        model=example.model(formulation="euler_parameters"),
        steps=list(halved(example.first, count)),
        t_end=1.0,
        reference=example.reference(),
        observables={"position": lambda run: run.position(example.body)},
        invariants={name: INVARIANTS[name] for name in example.invariants},
    )


def _claims(example: Example, studies: Comparison) -> list[Claim]:
    conserved = {ENERGY: CONSERVING, MOMENTUM: TURNING}
    claims = [
        below(f"{label}: drift of the {name} over its size", _most(studies[label], name), KEPT)
        for name in example.invariants
        for label in conserved[name]
    ]
    for label, study in studies.items():
        claims.append(slope(f"order of {label}", 2, fitted(study.h[-3:], study.errors["position"][-3:])))
        if label.startswith("MP"):
            falls = fitted(study.h[-3:], study.drifts[ENERGY][-3:])
            claims.append(above(f"order of the drift of energy, {label}", falls, 1.85))
    return claims


def _most(study: Study, name: str) -> float:
    return float(study.drifts[name].max())


def _panels(example: Example, studies: Comparison) -> list[Panel]:
    position = errors(example.title, studies, "position", f"error of the position of the {example.body} / m")
    drifts = [errors(f"drift of the {name}", studies, name, "drift over size") for name in example.invariants]
    return [position, *drifts]


def _artifact(name: str, example: Example) -> Artifact:
    momenta = " The equivariant forms conserve the vertical angular momentum." if MOMENTUM in example.invariants else ""

    @artifact(
        "beyond",
        f"energy_momentum_{name}",
        shows=f"Energy-momentum methods in both forms, midpoint rule and generalized-alpha: {example.title}.",
        reproduced=f"EML and EMH conserve the energy to round-off, and all have order two.{momenta}",
        ours="one second; rho_inf = 0.9, index 2; errors at the end, drifts over the run",
    )
    def make(quick: bool) -> Result:
        studies = _compared(example, 4 if quick else 6)
        names = ("error_position", *(f"drift_{invariant}" for invariant in example.invariants))
        parts = _panels(example, studies)
        return Result(columns(studies, *names), _claims(example, studies), picture(*parts))

    return make


heavy_top = _artifact("heavy_top", EXAMPLES["heavy_top"])
slider_crank = _artifact("slider_crank", EXAMPLES["slider_crank"])
