"""Kinon et al. 2024: energy-momentum methods from Livens' principle.

Every run is a scheme as it is printed, with `equivariant` off, unless a curve is named otherwise. Newton's method
iterates to round-off, since the paper's tolerance of 1e-9 is too coarse for the increments in its figures.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lgint import models
from lgint._args import Array
from lgint._core import IntegrationError
from lgint._model.system import System
from lgint._papers.claims import Claim, above, below, fitted, less, ratio, slope, within_factor
from lgint._papers.pictures import DOTS, Panel, over_time, picture, plane, powers, sizes
from lgint._papers.registry import Result, artifact
from lgint._papers.runs import halved
from lgint._run.integrate import integrate
from lgint._run.trajectory import Trajectory

PAPER = "kinon2024"
PRINTED: dict[str, Any] = {"equivariant": False, "guess": "euler", "newton_rtol": 0.0, "newton_atol": 0.0}
ROUND_OFF = 1e-14  # of an increment, relative to the largest value
ENERGY, INCREMENT = "generalized energy / J", r"$E^{n+1} - E^n$ / J"


def printed_run(model: System, method: str, t_end: float, h: float, **options: Any) -> Trajectory:
    return integrate(model, method, t_end=t_end, h=h, **PRINTED | options)


def largest(values: Array) -> float:
    return float(np.max(np.abs(values)))


def _moved(values: Array) -> float:
    """Difference between the largest and the smallest value over the largest magnitude."""
    return float(np.ptp(values)) / largest(values)


def increments(what: str, values: Array, scale: float | None = None) -> Claim:
    """The claim that a quantity is constant up to round-off in each step, relative to its largest value or a scale."""
    size = largest(values) if scale is None else scale
    return below(f"largest increment of {what} over its size", largest(np.diff(values, axis=0)) / size, ROUND_OFF)


def _wandering(run: Trajectory) -> float:
    """Bound from round-off for v . (M v - p), which is the total minus the generalized energy if M is constant.

    A step has v1 = 2 (q1 - q0)/h - v0, while p1 follows from the balance of forces, which hardly depends on the last
    digit of q1. Rounding q1 by at most u |q|, u = eps/2, therefore adds up to (2/h) |M| u |q| to M v - p, with random
    sign in each of n steps: the sum is of the size of sqrt(n) such terms, here with the largest q and v of the run.
    """
    accelerations = np.eye(run.model.nv)
    M = [run.model.core.evaluate(0.0, run.q[0], run.v[0], a, want=("Ma",))["Ma"] for a in accelerations]
    q, v = (float(np.linalg.norm(values, axis=1).max()) for values in (run.q, run.v))
    term = 2 / float(run.h[-1]) * float(np.linalg.norm(M, 2)) * np.finfo(float).eps / 2 * q
    return float(np.sqrt(len(run.t) - 1)) * term * v


# ---- springs: sections 5.1 and 5.2 ----


def _masses() -> Trajectory:
    return printed_run(models.mass_spring(variant="paper"), "eml", 10.0, 0.1)


def _pendulum() -> Trajectory:
    return printed_run(models.spring_pendulum(), "eml", 1.0, 0.01)


def _energies(run: Trajectory) -> dict[str, Array]:
    kinds = {"kinetic": "kinetic", "potential": "potential", "total": "total", "generalized": "generalized"}
    return {label: run.energy(kind) for label, kind in kinds.items()}


def _exchange(run: Trajectory, title: str, claims: list[Claim]) -> Result:
    """Energies over time, with the claim that kinetic and potential energy are converted into each other."""
    energies = _energies(run)
    least = min(float(np.ptp(energies[kind])) for kind in ("kinetic", "potential"))
    claims = [
        above("kinetic and potential energy vary: the smaller range over the total", least / energies["total"][0], 0.1),
        below("range of the generalized energy over its size", _moved(energies["generalized"]), ROUND_OFF),
        *claims,
    ]
    columns = {"t (s)": run.t} | {f"{kind} energy (J)": values for kind, values in energies.items()}
    lines = {kind: energies[kind] for kind in ("kinetic", "potential", "generalized")}
    return Result(columns, claims, picture(over_time(title, "energy / J", run.t, lines)))


@artifact(
    PAPER,
    "fig1",
    shows="Energies of the mass-spring system with redundant coordinates and a singular mass matrix, EML.",
    reproduced="Kinetic and potential energy are exchanged, their sum is constant and is the generalized energy.",
)
def fig1(quick: bool) -> Result:
    run = _masses()
    apart = largest(run.energy("total") - run.energy("generalized"))
    claims = [
        below("Prop. 4.6: total less generalized energy over its size", apart / 0.5, _wandering(run) / 0.5),
    ]
    return _exchange(run, "mass-spring system", claims)


@artifact(
    PAPER,
    "fig2",
    shows="Constraint (107) and increments of the generalized energy of the mass-spring system, EML.",
    reproduced="Both are of the size of round-off.",
)
def fig2(quick: bool) -> Result:
    run = _masses()
    E, g = run.energy("generalized"), np.ravel(run.constraint_residual())
    claims = [
        below("largest constraint residual (m^2)", largest(g), ROUND_OFF),
        increments("the generalized energy", E),
    ]
    columns = {"t (s)": run.t, "g (m^2)": g, "E^n+1 - E^n (J)": np.diff(E)}
    parts = (
        over_time("constraint (107)", r"g / m$^2$", run.t, {"g": g}),
        over_time("energy increments", INCREMENT, run.t, {"E": np.diff(E)}),
    )
    return Result(columns, claims, picture(*parts))


@artifact(
    PAPER,
    "fig3",
    shows="Energies of the spring pendulum in spherical coordinates, EML.",
    reproduced="Kinetic and potential energy are exchanged, and the generalized energy is constant.",
)
def fig3(quick: bool) -> Result:
    return _exchange(_pendulum(), "spring pendulum", [])


@artifact(
    PAPER,
    "fig4",
    shows="Increments of the total energy (80) and of the generalized energy (74) of the spring pendulum, EML.",
    reproduced="Those of the total energy are of the order 1e-4 J, those of the generalized one are round-off.",
)
def fig4(quick: bool) -> Result:
    run = _pendulum()
    total, E = np.diff(run.energy("total")), run.energy("generalized")
    claims = [
        within_factor("largest increment of the total energy (J)", 1e-4, largest(total)),
        increments("the generalized energy", E),
    ]
    columns = {"t (s)": run.t, "total energy, increment (J)": total, "generalized energy, increment (J)": np.diff(E)}
    parts = (
        over_time("total energy (80)", INCREMENT, run.t, {"total": total}),
        over_time("generalized energy (74)", INCREMENT, run.t, {"generalized": np.diff(E)}),
    )
    return Result(columns, claims, picture(*parts))


# ---- free rotation: section 5.3 ----


def free_body() -> Trajectory:
    return printed_run(models.free_body(), "eml", 2.0, 0.05)


@artifact(
    PAPER,
    "fig6",
    shows="Generalized energy of the free rigid body and its increments, EML.",
    reproduced="The increments are of the size of round-off.",
)
def fig6(quick: bool) -> Result:
    run = free_body()
    E = run.energy("generalized")
    claims = [increments("the generalized energy", E)]
    columns = {"t (s)": run.t, "E (J)": E, "E^n+1 - E^n (J)": np.diff(E)}
    parts = (
        over_time("free body", ENERGY, run.t, {"E": E}),
        over_time("increments", INCREMENT, run.t, {"E": np.diff(E)}),
    )
    return Result(columns, claims, picture(*parts))


@artifact(
    PAPER,
    "fig7",
    shows="Unit length of the Euler parameters and total energy (80) of the free rigid body, EML.",
    reproduced="The unit length is kept to round-off, the total energy is not kept.",
)
def fig7(quick: bool) -> Result:
    run = free_body()
    g, total = np.ravel(run.constraint_residual()), run.energy("total")
    claims = [
        below("largest residual of the unit length", largest(g), ROUND_OFF),
        above("range of the total energy over its size", _moved(total), 1e-3),
    ]
    columns = {"t (s)": run.t, "unit length": g, "total energy (J)": total}
    parts = (
        over_time("unit length (30)", "g", run.t, {"g": g}),
        over_time("total energy (80)", "energy / J", run.t, {"E": total}),
    )
    return Result(columns, claims, picture(*parts))


def _components(L: Array) -> dict[str, Array]:
    return {f"$L_{i + 1}$": L[:, i] for i in range(3)}


def _momentum_columns(t: Array, L: Array) -> dict[str, ArrayLike]:
    columns: dict[str, ArrayLike] = {"t (s)": t}
    columns |= {f"L_{i + 1} (kg m^2/s)": L[:, i] for i in range(3)}
    return columns | {f"L_{i + 1}^n+1 - L_{i + 1}^n (kg m^2/s)": np.diff(L[:, i]) for i in range(3)}


MOMENTUM, STEP = r"angular momentum / (kg m$^2$/s)", r"increment / (kg m$^2$/s)"


@artifact(
    PAPER,
    "fig8",
    shows="Angular momentum of the free rigid body and its increments, EML.",
    reproduced="The increments of all components are of the size of round-off.",
)
def fig8(quick: bool) -> Result:
    run = free_body()
    L = run.angular_momentum()
    claims = [increments("the angular momentum", L)]
    parts = (
        over_time("free body", MOMENTUM, run.t, _components(L)),
        over_time("increments", STEP, run.t, _components(np.diff(L, axis=0))),
    )
    return Result(_momentum_columns(run.t, L), claims, picture(*parts))


REDUCED = {"EML": "eml", "REML": "reml", "Null-EML": "null_eml"}


@artifact(
    PAPER,
    "fig9",
    shows="Processor time of EML, of its reduced form REML and of Null-EML, free rigid body over 10 s.",
    reproduced="REML takes nearly 50 % less time than EML, and Null-EML takes at least 10 % less than REML.",
    timed=True,
    ours="h, as the printed scheme fails before 10 s at the step of the other figures; the least of several runs",
)
def fig9(quick: bool) -> Result:
    h = np.array([2e-3] if quick else [1e-2, 5e-3, 2e-3, 1e-3])
    seconds = np.array([_least_times(x, 3 if quick else 15) for x in h]).T
    full, reduced, null = seconds.sum(axis=1)
    why = "the condensed matrix of EML is that of REML here, and a matrix this small costs little in any form"
    claims = [
        ratio("time of REML over that of EML, all steps", 0.5, reduced, full, 0.2, why),
        less("time (s) of Null-EML, then of REML, all steps", null, reduced, 1.1, why),
    ]
    columns: dict[str, ArrayLike] = {"h (s)": h}
    columns |= {f"{label} (s)": row for label, row in zip(REDUCED, seconds, strict=True)}

    lines = {label: (h, row) for label, row in zip(REDUCED, seconds, strict=True)}
    return Result(columns, claims, picture(powers("free body, 10 s", lines, "h / s", "processor time / s")))


def _least_times(h: float, repeats: int) -> Array:
    """Least processor time of each scheme, s; they take turns."""
    model = models.free_body()
    seconds = np.array([[_seconds(model, method, h) for method in REDUCED.values()] for _ in range(repeats)])
    least: Array = seconds.min(axis=0)
    return least


def _seconds(model: System, method: str, h: float) -> float:
    begin = time.process_time()
    printed_run(model, method, 10.0, h)
    return time.process_time() - begin


# ---- the heavy top in steady precession: section 5.4 ----

SCHEMES: dict[str, tuple[str, dict[str, Any]]] = {
    "EML": ("eml", {}),
    "EMH": ("emh", {}),
    "MPL": ("mpl", {}),
    "MPH": ("mph", {"hamiltonian": "polynomial"}),
    "MPH, published code": ("mph", {"hamiltonian": "published"}),
    "MPH, exact": ("mph", {"hamiltonian": "exact"}),
}
MPH_FORMS = (
    "MPH has (139) in the middle of a step, without the 1/|q|^4 of the exact inverse; the published code has it in part"
)


def _top(label: str, t_end: float = 2.0, h: float = 0.01) -> Trajectory:
    method, options = SCHEMES[label]
    return printed_run(models.steady_top(), method, t_end, h, **options)


def _analytic(t: ArrayLike) -> Array:
    """(120): centre of mass in steady precession, m."""
    angle, nutation, arm = 10 * np.asarray(t, float), np.pi / 3, 0.75 * 0.1
    wide = arm * np.sin(nutation)
    return np.stack([wide * np.sin(angle), -wide * np.cos(angle), np.full_like(angle, arm * np.cos(nutation))], axis=-1)


def _centre(run: Trajectory) -> Array:
    """Centre of mass of the cone, on its axis, m."""
    return run.position("body")


@artifact(
    PAPER,
    "fig10",
    shows="Increments of the generalized energy of the top in steady precession: EML, EMH, MPL and MPH.",
    reproduced="EML and EMH keep the energy to round-off; the midpoint rules are worse by a factor of 1e6 at least.",
    ours=MPH_FORMS,
)
def fig10(quick: bool) -> Result:
    runs = {label: _top(label) for label in SCHEMES}
    energy = {label: run.energy("generalized") for label, run in runs.items()}
    most = {label: largest(np.diff(E)) for label, E in energy.items()}
    claims = [increments(f"the generalized energy, {label}", energy[label]) for label in ("EML", "EMH")]
    claims += [
        less(f"largest increment (J) of EML, then of {label}", most["EML"], most[label], 1e6)
        for label in SCHEMES
        if label.startswith("MP")
    ]
    t = runs["EML"].t
    columns = {"t (s)": t} | {f"{label}: E^n+1 - E^n (J)": np.diff(E) for label, E in energy.items()}
    lines = {label: (t[1:], np.diff(E)) for label, E in energy.items()}
    return Result(
        columns, claims, picture(sizes("steady precession", "t / s", r"$|E^{n+1} - E^n|$ / J", lines, **DOTS))
    )


@artifact(
    PAPER,
    "fig11",
    shows="Angular momentum of the top in steady precession, and increments of its vertical component, EML.",
    reproduced="The vertical component is kept to round-off, the others are not constant.",
)
def fig11(quick: bool) -> Result:
    run = _top("EML")
    L = run.angular_momentum()
    size = largest(np.linalg.norm(L, axis=1))
    claims = [
        increments("the vertical angular momentum", L[:, 2], size),
        above("range of horizontal components over the size", float(np.ptp(L[:, :2], axis=0).min()) / size, 0.1),
    ]
    parts = (
        over_time("steady precession", MOMENTUM, run.t, _components(L)),
        over_time("vertical component", STEP, run.t, {"$L_3$": np.diff(L[:, 2])}),
    )
    return Result(_momentum_columns(run.t, L), claims, picture(*parts))


@artifact(
    PAPER,
    "fig12",
    shows="Vertical and horizontal position of the top's centre of mass, EML and EMH and the analytic solution (120).",
    reproduced="Vertically EML and EMH err alike, within a factor of 2 of each other; horizontally EML errs less.",
)
def fig12(quick: bool) -> Result:
    runs = {label: _top(label) for label in ("EML", "EMH")}
    t = runs["EML"].t
    exact, found = _analytic(t), {label: _centre(run) for label, run in runs.items()}
    error = {label: np.sqrt(np.mean((x - exact) ** 2, axis=0)) for label, x in found.items()}
    claims = [
        within_factor(
            "vertical: mean error (m) of EML beside that of EMH",
            error["EMH"][2],
            error["EML"][2],
            2,
        ),
        less("horizontal: mean error (m) of EML, then of EMH", error["EML"][0], error["EMH"][0]),
    ]
    curves = found | {"analytic": exact}
    columns = {"t (s)": t}
    columns |= {f"{label}: {name} (m)": x[:, i] for label, x in curves.items() for i, name in ((2, "z"), (0, "x"))}
    parts = [
        over_time(title, f"{name} / m", t, {label: x[:, i] for label, x in found.items()}, reference=_part(exact, i))
        for i, name, title in ((2, "z", "vertical"), (0, "x", "horizontal"))
    ]
    return Result(columns, claims, picture(*parts))


def _part(exact: Array, i: int) -> dict[str, Array]:
    return {"analytic": exact[:, i]}


@artifact(
    PAPER,
    "fig13",
    shows="Error (121) of the top's centre of mass after 0.1 s over h: EML, EMH, MPL and MPH.",
    reproduced="All have order two; at equal steps MPL errs least, and EML errs less than EMH and MPH.",
    ours=f"the steps; {MPH_FORMS}; lower: by 1 % at least",
)
def fig13(quick: bool) -> Result:
    h = halved(0.01, 4 if quick else 7)
    errors = {label: np.array([_precession_error(_top(label, 0.1, x)) for x in h]) for label in SCHEMES}
    claims = [slope(f"order of {label}", 2, fitted(h[-3:], error[-3:])) for label, error in errors.items()]
    pairs = [("MPL", other) for other in SCHEMES if other != "MPL"]
    pairs += [("EML", other) for other in SCHEMES if "H" in other]
    claims += [
        below(
            f"error of {one} over that of {other}, largest ratio",
            float(np.max(errors[one] / errors[other])),
            LOWER,
            "with the exact inverse in the middle of a step the Hamiltonian midpoint rule is the same method as MPL",
        )
        for one, other in pairs
    ]
    columns: dict[str, ArrayLike] = {"h (s)": h}
    columns |= {f"{label}: error": error for label, error in errors.items()}

    lines = {label: (h, error) for label, error in errors.items()}
    panel = powers("steady precession, t = 0.1 s", lines, "h / s", "relative error (121)", {"MPL": 2})
    return Result(columns, claims, picture(panel))


LOWER = 0.99  # largest ratio of two errors of which the first is claimed to be lower


def _precession_error(run: Trajectory) -> float:
    exact = _analytic(run.t[-1])
    return float(np.linalg.norm(_centre(run)[-1] - exact) / np.linalg.norm(exact))


# ---- the closed loop of four bars: section 5.5 ----


@artifact(
    PAPER,
    "fig16",
    shows="Generalized energy and angular momentum of the four-bar linkage, EML as printed and with equivariant=True.",
    reproduced="After the load has ended, energy and angular momentum of the printed scheme are constant.",
    ours="where the linkage starts, and the additional run with equivariant=True",
)
def fig16(quick: bool) -> Result:
    run, other = (_as_far_as_possible(equivariant) for equivariant in (False, True))
    E, L = run.energy("generalized"), run.angular_momentum()
    free = run.t > END_OF_LOAD
    kept = _range(other.angular_momentum()[other.t > END_OF_LOAD])
    why = (
        "the joints' equations (125) turn with the bodies, so that the moments of their midpoint forces do not cancel: "
        f"{_range(L[free & (run.t < 4)]):.0e} of it up to t = 4 s, more as q.v grows at the ends of steps; "
        f"equivariant=True keeps the momentum within {kept:.0e} of it up to t = {other.t[-1]:.3g} s, "
        "where Newton's method fails"
    )
    claims = [
        below("range of the generalized energy over its size, t >= 1 s", _moved(E[free]), 1e-12),
        below("range of the angular momentum over its size, t >= 1 s", _range(L[free]), 1e-12, why),
    ]
    return Result(_both_forms(run, other), claims, picture(*_four_bar_panels(run, other)))


def _four_bar_panels(run: Trajectory, other: Trajectory) -> list[Panel]:
    """Energies and angular momenta of the printed and the other form."""
    energy = {"printed": (run.t, run.energy("generalized")), "equivariant": (other.t, other.energy("generalized"))}
    L, turned = run.angular_momentum(), other.angular_momentum()
    lines = {f"$L_{i + 1}$, printed": (run.t, L[:, i]) for i in range(3)}
    lines[r"$L_1$, equivariant"] = (other.t, turned[:, 0])
    return [plane("energy", "t / s", ENERGY, energy), plane("angular momentum", "t / s", MOMENTUM, lines)]


END_OF_LOAD = 1 - 1e-9  # s


def _as_far_as_possible(equivariant: bool) -> Trajectory:
    """The run of 10 s, or its part up to the time at which Newton's method fails."""
    try:
        return printed_run(models.four_bar(load="default"), "eml", 10.0, 0.1, equivariant=equivariant)
    except IntegrationError as error:
        short: Trajectory = error.trajectory
        return short


def _range(L: Array) -> float:
    """Largest range of a component over the largest magnitude."""
    return float(np.ptp(L, axis=0).max()) / largest(L)


def _both_forms(run: Trajectory, other: Trajectory) -> dict[str, ArrayLike]:
    columns: dict[str, ArrayLike] = {"t (s)": run.t}
    for label, one in (("printed", run), ("equivariant", other)):
        columns[f"{label}: generalized energy (J)"] = one.energy("generalized")
        columns |= {f"{label}: L_{i + 1} (kg m^2/s)": one.angular_momentum()[:, i] for i in range(3)}
    return columns
