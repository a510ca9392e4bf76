"""Holzinger et al. 2025: what the conclusion says about flexible bodies, and the transients at the start of a run."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lgint import modal, models
from lgint._args import Array
from lgint._build.builder import ModelBuilder
from lgint._build.parts import ground
from lgint._model.model import Model
from lgint._papers.claims import Claim, close, fitted, slope, within_factor
from lgint._papers.holzinger2025 import EULER, INDEX_3, NEWTON, PAPER, Example
from lgint._papers.pictures import errors, picture, powers, sizes
from lgint._papers.registry import Result, artifact
from lgint._papers.runs import halved
from lgint._papers.studies import apart, columns, errors_of, orders
from lgint._run.integrate import integrate

# ---- flexible bodies on a floating frame ----


def _pendulum(formulation: str) -> Model:
    """A beam with two bending modes in each direction that tumbles about a spherical joint at its end."""
    beam = modal.beam(
        1.0, mass=1.0, bending=(400.0, 300.0), support="clamped", section=(0.1, 0.08),
        modes={"bending_y": 2, "bending_z": 2},
    )  # fmt: skip
    builder = ModelBuilder(gravity=(0.0, 0.0, -9.81), formulation=formulation)
    builder.add_modal_body("beam", beam, angular_velocity=(20.0, 4.0, 6.0))
    builder.add_joint("spherical", ground, "beam", point=(0.0, 0.0, 0.0))
    return builder.build()


PENDULUM = Example(
    make=_pendulum,
    t_end=0.5,
    rho_inf=lambda index: 0.9,
    settings=NEWTON,
    finest=2e-5,
    observables={"position": lambda run: run.position("beam.end"), "modes": lambda run: run.modal("beam")},
)


@artifact(
    PAPER,
    "flexible",
    shows="Errors of the end of a flexible beam that tumbles about a spherical joint, over h.",
    reproduced="On flexible bodies, floating frames, the sigma methods are comparable to geom1 and Euler parameters.",
    ours="the beam, as the paper shows no flexible example; rho = 0.9; 'comparable' is within a factor 3.2",
)
def flexible(quick: bool) -> Result:
    found = PENDULUM.compare([*INDEX_3, EULER], halved(2e-3, 4 if quick else 6))
    claims = orders(found, "position", {curve.name: 2 for curve in (*INDEX_3, EULER)})
    for curve in INDEX_3[1:]:
        for other in (INDEX_3[0], EULER):
            ratio = apart(found[curve.name], found[other.name], errors_of("position"))
            claims.append(within_factor(f"mean error of {curve.name} over that of {other.name}", 1.0, ratio))
    panels = (
        errors("end of the beam", found, "position", "error of the end / m"),
        errors("modal coordinates", found, "modes", "error of the modal coordinates"),
    )
    return Result(columns(found, "error_position", "error_modes"), claims, picture(*panels))


# ---- transients at the start ----

STARTS = ("plain", "optimal")
EARLY, LATE = 4, 0.5  # steps; s


def _errors(steps: Array, start: str) -> list[Array]:
    """Errors of the multipliers after each step of the runs, N."""
    top = models.heavy_top(formulation="R3xSO3", constrained=True)
    finest = float(steps[-1]) / 2
    best = integrate(top, "rk67", t_end=LATE, h=finest, project="none").lam
    options: dict[str, Any] = {**NEWTON, "t_end": LATE, "rho_inf": 0.65, "index": 3, "sigma": 0.0, "start": start}
    runs = (integrate(top, "genalpha", h=h, **options).lam for h in steps)
    return [np.linalg.norm(lam - best[:: round(h / finest)], axis=1)[1:] for h, lam in zip(steps, runs, strict=True)]


@artifact(
    PAPER,
    "transient",
    shows="Errors of the heavy top's multipliers over time, geom1 with index 3, from two starts.",
    reproduced="From a plain start there is an error of first order that is damped out rapidly; with appropriate "
    "starting values all is of second order.",
    ours="rho = 0.65; appropriate: a_0 shifted and v_0 perturbed; early: the first four steps, late: at t = 0.5 s",
)
def transient(quick: bool) -> Result:
    h = halved(1e-3, 4 if quick else 5)
    off = {start: _errors(h, start) for start in STARTS}
    early = {start: np.array([float(error[:EARLY].max()) for error in off[start]]) for start in STARTS}
    late = {start: np.array([float(error[-1]) for error in off[start]]) for start in STARTS}
    same = late["plain"][-1] / late["optimal"][-1]
    claims: list[Claim] = [
        slope("plain start: order of the multipliers in the first steps", 1, fitted(h[-3:], early["plain"][-3:])),
        slope("plain start: order of the multipliers at the end", 2, fitted(h[-3:], late["plain"][-3:])),
        slope("optimal start: order of the multipliers in the first steps", 2, fitted(h[-3:], early["optimal"][-3:])),
        close("finest step, t = 0.5 s: error from the plain start over that from the other", 1.0, same, 0.1),
    ]
    table: dict[str, ArrayLike] = {"h (s)": h}
    for start in STARTS:
        table |= {f"{start}: early error (N)": early[start], f"{start}: late error (N)": late[start]}
    t = h[-1] * np.arange(1, SHOWN + 1)
    over_time = {f"{start} start": (t, off[start][-1][:SHOWN]) for start in STARTS}
    over_h = {f"{start} start": (h, early[start]) for start in STARTS}
    panels = (
        sizes(f"h = {h[-1]:.3g} s", "t / s", ERROR, over_time),
        powers("first four steps", over_h, "h / s", ERROR, {"plain start": 1, "optimal start": 2}),
    )
    return Result(table, claims, picture(*panels))


ERROR, SHOWN = r"error of $\lambda$ / N", 100
