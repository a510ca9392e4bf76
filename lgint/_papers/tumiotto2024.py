"""Tumiotto and Arnold 2024: half-explicit Runge-Kutta methods on Lie groups, the heavy top and Cosserat rods.

The methods run as they are printed: without projection, from the multipliers of the index-1 equations at t = 0; on the
top also with a consistent first stage. The top's constraint is in the body's axes. Automatic steps follow (22) with the
typical factors of the text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np

from lgint import models
from lgint._args import Array
from lgint._model.model import Model
from lgint._papers.claims import Claim, above, below, less, needs_full_run, ratio, within_factor
from lgint._papers.pictures import DOTS, errors, picture, sizes
from lgint._papers.registry import Artifact, Result, artifact
from lgint._papers.studies import apart, columns, errors_of, flat, orders
from lgint._papers.thresholds import Switched, drawn
from lgint._papers.trees import Method, trees
from lgint._run.integrate import integrate, method_info
from lgint._run.trajectory import Trajectory
from lgint._tools.results import Comparison
from lgint._tools.study import compare

PAPER = "tumiotto2024"
METHODS = {"p = 2": "herk2", "p = 3": "herk3", "p = 4": "herk4", "p = 5": "herk5"}
ORDERS = {"p = 2": 2, "p = 3": 3, "p = 4": 4, "p = 5": 5}
PRINTED: dict[str, Any] = {"project": "none", "first_stage": "printed"}
CONSISTENT: dict[str, Any] = {"project": "none", "first_stage": "consistent"}
FORMS = {"as printed": PRINTED, "consistent first stage": CONSISTENT}

# ---- table 1: order conditions ----


def _float(text: str) -> float:
    """A number of a tableau, such as "1/3" or "(3 - 1*sqrt(3))/6"."""
    surd = re.fullmatch(r"\((-?\d+) ([+-]) (\d+)\*sqrt\(3\)\)/(\d+)", text)
    if not surd:
        over, _, under = text.partition("/")
        return float(over) / float(under or 1)
    a, sign, b, under = surd.groups()
    return (float(a) + (1 if sign == "+" else -1) * float(b) * 3**0.5) / float(under)


def _violation(method: Method, row: list[float], order: int, kind: str) -> float:
    """The largest violation of the conditions of all trees of an order."""
    return max(abs(float(method.condition(row, tree)) - 1) for tree in trees(order, kind))


@artifact(
    PAPER,
    "table1",
    shows="The order conditions for index-2 systems that the printed coefficients satisfy.",
    reproduced="Both q and v meet all conditions up to order p, the multipliers up to theirs, and the embedded "
    "solution up to 4.",
    ours="trees of differential and algebraic variables; the scrambled scan of the table is read with their help",
)
def table1(quick: bool) -> Result:
    rows: dict[str, list[Any]] = {"method": [], "solution": [], "order of the trees": [], "largest violation": []}
    claims = []

    def check(label: str, solution: str, worst: Mapping[int, float], order: int) -> None:
        for n, value in worst.items():
            for column, cell in zip(rows, (label, solution, n, value), strict=True):
                rows[column].append(cell)
        held = max(value for n, value in worst.items() if n <= order)
        claims.append(below(f"{label}, {solution}: violation of conditions up to order {order}", held, 1e-9))

    for label, name in METHODS.items():
        tableau, p = _rows(name)["tableau"], ORDERS[label]
        A, b, d = ([[_float(x) for x in row] for row in tableau["A"]], *([_float(x) for x in tableau[k]] for k in "bd"))
        method = Method(A)
        check(label, "q and v", {n: _violation(method, b, n, "y") for n in range(1, p + 1)}, p)
        if p > 2:
            check(label, "multipliers", {n: _violation(method, d, n, "z") for n in range(1, p - 1)}, p - 2)
        if tableau["b_hat"]:
            row = [_float(x) for x in tableau["b_hat"]]
            embedded = Method([*A[:-1], row])
            check(label, "embedded", {n: _violation(embedded, row, n, "y") for n in range(1, 5)}, 4)
    return Result(rows, claims)


def _rows(name: str) -> dict[str, Any]:
    return method_info(name)


# ---- table 2: thresholds ----


def _f4(w: Array) -> Array:
    return np.asarray((2 - 2 * np.cos(w) - w * np.sin(w)) / w**4)


def _f5(w: Array) -> Array:
    return np.asarray((w * (2 + np.cos(w)) - 3 * np.sin(w)) / w**5)


FUNCTIONS = {
    "sin w/w": Switched(lambda w: np.sin(w) / w, 1e-4, [1, -1 / 6], [1 / 120, -1 / 5040, 1 / 362880]),
    "(cos w - 1)/w^2": Switched(
        lambda w: (np.cos(w) - 1) / w**2, 1e-2, [-1 / 2, 1 / 24, -1 / 720], [1 / 40320, -1 / 3628800]
    ),
    "(w - sin w)/w^3": Switched(
        lambda w: (w - np.sin(w)) / w**3, 1e-4, [1 / 6, -1 / 120, 1 / 5040], [-1 / 362880, 1 / 39916800]
    ),
    "(2 - 2 cos w - w sin w)/w^4": Switched(
        _f4, 1e-1, [1 / 12, -1 / 180, 1 / 6720, -1 / 453600], [1 / 47900160, -1 / 7264857600]
    ),
    "(w (2 + cos w) - 3 sin w)/w^5": Switched(
        _f5, 1e-1, [1 / 60, -1 / 1260, 1 / 60480, -1 / 4989600], [1 / 622702080, -1 / 108972864000]
    ),
}
LEFT_OUT = "at the threshold the first term that is left out is more than round-off"
CANCELLED = "just above the threshold the numerator cancels up to the power of w by which its round-off is divided"


@artifact(
    PAPER,
    "table2",
    shows="Errors of the functions of the tangent operator with the thresholds and polynomials as printed.",
    reproduced="Nothing is lost: relative errors stay below 1e-10, and those of the polynomials below 1e-15.",
    ours="reference: two or three more terms of the series; angles from 1e-6 to 0.2; bounds",
)
def table2(quick: bool) -> Result:
    w = np.logspace(-6, np.log10(0.2), 400 if quick else 4000)
    error = {name: function.relative_error(w) for name, function in FUNCTIONS.items()}
    claims = []
    for name, function in FUNCTIONS.items():
        small = float(error[name][w < function.threshold].max())
        claims += [
            below(f"{name}: relative error of the polynomial below its threshold", small, 1e-15, LEFT_OUT),
            below(f"{name}: relative error of the function", float(error[name].max()), 1e-10, CANCELLED),
        ]
    return Result({"angle": w, **error}, claims, drawn("functions of Table 2 as printed", w, error))


# ---- 2.4 heavy top ----

SPACES = {"R3xSO3": r"SO(3)$\times$R$^3$", "SE3": "SE(3)", "R3xS3": r"S$^3\times$R$^3$", "S3R3": r"S$^3\ltimes$R$^3$"}
PLAIN = {"R3xSO3": "SO(3)xR^3", "SE3": "SE(3)", "R3xS3": "S^3xR^3", "S3R3": "S^3|xR^3"}
STEPS = 2.0 ** -np.arange(9, 17)  # s; the top shows orders from 2^-12 (p = 2) to 2^-9 (p = 5) on


def top(space: str) -> Model:
    return models.heavy_top(formulation=space, constraint_frame="body")


def _top_studies(space: str, form: Mapping[str, Any]) -> Comparison:
    """All methods on the top over 1 s, against RK67 in the same space."""
    best = {"method": "rk67", "h": 2e-5, "project": "none"}
    return compare(METHODS, model=top(space), steps=STEPS, t_end=1.0, reference=best, **form)


MULTIPLIERS = (
    "(15) has order p - 1 whatever the first stage is, and p only for p = 4, 5 on semidirect products; the index-1 "
    "solution at the end of a step has order p"
)
TOP = (
    "the steps, t_end = 1 s; reference: RK67 with h = 2e-5 s; errors of q in local coordinates; beside the printed "
    "form one whose first stage and multipliers are those of the index-1 equations"
)


def _convergence(number: int, space: str, twin: str | None = None) -> Artifact:
    """Figs. 1, 2, 4, 5: orders of q and of the multipliers in one space."""
    larger = " Errors are slightly larger than with rotation matrices." if twin else ""

    @artifact(
        PAPER,
        f"fig{number}",
        shows=f"Convergence of positions and multipliers of the heavy top on {PLAIN[space]}.",
        reproduced=f"Both have the order of the method.{larger}",
        ours=TOP,
    )
    def make(quick: bool) -> Result:
        studies = {form: _top_studies(space, options) for form, options in FORMS.items()}
        claims = []
        for form, made in studies.items():
            claims += orders(made, "q", ORDERS, of=f"{form}: ")
            claims += orders(made, "lam", ORDERS, MULTIPLIERS, f"{form}, multipliers: ")
        if twin:
            mine, others = studies["as printed"], _top_studies(twin, PRINTED)
            most = max(apart(mine[label], others[label], errors_of("q")) for label in METHODS)
            why = (
                "measured on the group, both take the same steps, because quaternions and matrices store the same "
                "rotation"
            )
            claims.append(above(f"largest mean ratio of the errors to those on {PLAIN[twin]}", most, 1.01, why))
        panels = (
            errors(f"{title}, {form}", made, what, ylabel)
            for form, made in studies.items()
            for title, what, ylabel in (
                ("positions", "q", "error of q at t = 1 s (local coordinates: m, rad)"),
                ("multipliers", "lam", r"error of $\lambda$ at t = 1 s / N"),
            )
        )
        return Result(columns(flat(studies), "error_q", "error_lam"), claims, picture(*panels, columns=2))

    return make


fig1 = _convergence(1, "R3xSO3")
fig2 = _convergence(2, "SE3")
fig4 = _convergence(4, "R3xS3", "R3xSO3")
fig5 = _convergence(5, "S3R3", "SE3")


DRIFTS = (
    "with the old multiplier in the first stage the second stage violates the constraint: orders 2 and 3 drift with "
    "h^2 and h^4"
)


def _drift_claims(size: Mapping[tuple[str, str, str], Array], t: Array, form: str, label: str) -> list[Claim]:
    """Claims that residuals grow on the direct product, given first, and stay at round-off on the semidirect one."""
    (direct, grows), (semidirect, stays) = (
        (f"{form}, {PLAIN[space]}, {label}", values) for (*key, space), values in size.items() if key == [form, label]
    )
    first, last = (float(grows[part].max()) for part in (t <= 1, t >= 4))
    swings = "the residual oscillates at the spin rate of the top with a constant amplitude"
    return [
        above(f"{direct}: largest residual, m, is above round-off", last, 1e-12),
        above(f"{direct}: residual of the last second over that of the first", last / first, 1.5, swings),
        below(f"{semidirect}: largest residual, m", float(stays.max()), 1e-12, DRIFTS),
    ]


def _drift(number: int, direct: str, semidirect: str) -> Artifact:
    """Figs. 3 and 6: residuals of the positions on a direct and a semidirect product."""

    @artifact(
        PAPER,
        f"fig{number}",
        shows=f"Residual of the position constraint over time on {PLAIN[direct]} and {PLAIN[semidirect]}.",
        reproduced="It grows on the direct product, and stays at round-off on the semidirect one.",
        ours="h = 2^-10 s, t_end = 5 s; round-off: 1e-12 m; growth: the last second's largest residual is at least 1.5 "
        "times the first second's; beside the printed form one with a consistent first stage",
    )
    def make(quick: bool) -> Result:
        runs = {
            (form, label, space): integrate(top(space), name, t_end=5.0, h=2.0**-10, save_every=4, **options)
            for form, options in FORMS.items()
            for label, name in METHODS.items()
            for space in (direct, semidirect)
        }
        size = {key: np.linalg.norm(run.constraint_residual("position"), axis=1) for key, run in runs.items()}
        t = next(iter(runs.values())).t
        claims = [claim for form in FORMS for label in METHODS for claim in _drift_claims(size, t, form, label)]
        table = {"t (s)": t} | {
            f"{form}, {PLAIN[space]}, {label} (m)": values for (form, label, space), values in size.items()
        }
        panels = (
            sizes(
                f"{SPACES[space]}, {form}",
                "t / s",
                RESIDUAL,
                {label: (t, size[form, label, space]) for label in METHODS},
                **DOTS,
            )
            for form in FORMS
            for space in (direct, semidirect)
        )
        return Result(table, claims, picture(*panels, columns=2))

    return make


RESIDUAL = "residual of the position constraint / m"
fig3 = _drift(3, "R3xSO3", "SE3")
fig6 = _drift(6, "R3xS3", "S3R3")

# ---- 4 Cosserat rods ----

AUTOMATIC: dict[str, Any] = {
    **PRINTED,
    "rtol": 1e-6,
    "atol": 1e-8,
    "control": "I",
    "safety": 0.8,
    "max_increase": 5.0,
    "max_decrease": 0.2,
}


@cache
def _rods() -> dict[str, Model]:
    roll_up = {"roll-up": 100.0, DAMPED_LESS: 50.0}
    return {
        **{name: models.roll_up(edges=8, damping=damping) for name, damping in roll_up.items()},
        "flying spaghetti": models.flying_spaghetti(edges=16),
    }


DAMPED_LESS = "roll-up, damping 50"
DAMPINGS = "the roll-up's damping is 100 as in Table 3, and 50 as in some of the authors' runs"
MEAN = "the mean in (21) is over the 12 (N + 1) entries of theta and v, for the printed 6 (N + 1)"


def _line(run: Trajectory) -> Array:
    return np.concatenate([run.position(name) for name in run.multibody().bodies], axis=1)


@artifact(
    PAPER,
    "fig9",
    shows="Convergence of the positions of both rods.",
    reproduced="Each method has its order.",
    ours="t_end = 1 s, the steps; reference: HERK5 with h = 2^-15 s in place of 1e-6 s; positions over the norm "
    f"of all of them; {DAMPINGS}",
)
def fig9(quick: bool) -> Result:
    made, steps = {}, 2.0 ** -np.arange(8, 13 if quick else 14)
    for name, model in _rods().items():
        best = integrate(model, "herk5", t_end=1.0, h=steps[-1] / 4, save_every=10**9, **PRINTED)
        size = float(np.linalg.norm(_line(best)[-1]))
        own: dict[str, Any] = {"observables": {"x": lambda run, size=size: _line(run) / size}, "failures": "keep"}
        made[name] = compare(METHODS, model=model, steps=steps, t_end=1.0, reference=best, **own, **PRINTED)
    claims = [claim for name, studies in made.items() for claim in orders(studies, "x", ORDERS, of=f"{name}: ")]
    panels = (errors(name, studies, "x", "relative error of the positions") for name, studies in made.items())
    return Result(columns(flat(made), "error_x"), needs_full_run(*claims), picture(*panels))


@artifact(
    PAPER,
    "fig10",
    shows="The local error indicator (21) over time for three step sizes.",
    reproduced="Halving the step divides it by 2^5, and on the roll-up it falls as the rod comes to rest.",
    ours=f"h = 2^-9, 2^-10, 2^-11 s; t_end = 5 s (quick: 2 s); within 35 %; {MEAN}; {DAMPINGS}",
)
def fig10(quick: bool) -> Result:
    t_end, steps = (2.0 if quick else 5.0), 2.0 ** -np.array([9, 10, 11])
    own = {**PRINTED, "rtol": 1e-6, "atol": 1e-8, "control": "none", "t_end": t_end}
    runs = {
        name: [integrate(model, "herk5", h=h, save_every=round(2.0**-7 / h), **own) for h in steps]
        for name, model in _rods().items()
    }
    table: dict[str, Array] = {"t (s)": runs["roll-up"][0].t[1:]}
    claims = []
    for name, made in runs.items():
        error = [run.error[1:] for run in made]
        table |= {f"{name}, h = {h:.3g} s": e for h, e in zip(steps, error, strict=True)}
        for i in (0, 1):
            claims.append(
                ratio(
                    f"{name}: median of err at h = {steps[i]:.3g} s over that at half the step",
                    32.0, float(np.median(error[i] / error[i + 1])), 1.0, 0.35,
                )
            )  # fmt: skip
    for name in ("roll-up", DAMPED_LESS):
        still = table[f"{name}, h = {steps[1]:.3g} s"]
        fall = float(still[:10].max() / still[-1])
        claims.append(above(f"{name}: err at the start over that at the end", fall, 10.0))

    panels = (
        sizes(
            name,
            "t / s",
            "err",
            {f"h = {h:.3g} s": (run.t[1:], run.error[1:]) for h, run in zip(steps, made, strict=True)},
        )
        for name, made in runs.items()
    )
    return Result(table, claims, picture(*panels))


def _automatic(model: Model, t_end: float) -> Trajectory:
    return integrate(model, "herk5", t_end=t_end, **AUTOMATIC)


def _part(run: Trajectory, begin: float, end: float) -> Array:
    """The step sizes between two times."""
    return np.asarray(run.h[1:][(run.t[1:] > begin) & (run.t[1:] <= end)])


def _histories(runs: Mapping[str, Trajectory], claims: list[Claim]) -> Result:
    """The error indicator above the step size of each accepted step."""
    table: dict[str, Array] = {}
    for name, run in runs.items():
        table |= {f"{name}: t (s)": run.t[1:], f"{name}: err": run.error[1:], f"{name}: h (s)": run.h[1:]}
    upper = sizes("", "t / s", "err", {name: (run.t[1:], run.error[1:]) for name, run in runs.items()})
    lower = sizes("", "t / s", "h / s", {name: (run.t[1:], run.h[1:]) for name, run in runs.items()})
    return Result(table, claims, picture(upper, lower, stacked=True))


@artifact(
    PAPER,
    "fig11",
    shows="Error indicator and step size of automatic steps on both rods.",
    reproduced="Steps are comparable up to t = 1 s; then those of the roll-up grow, those of the other rod do not.",
    ours="comparable: medians before 1 s within a factor 1.5; growth: medians after 4 s and before 1 s; t_end = 5 s; "
    f"{MEAN}; {DAMPINGS}",
)
def fig11(quick: bool) -> Result:
    runs = {name: _automatic(model, 5.0) for name, model in _rods().items()}
    free = runs["flying spaghetti"]
    early = {name: float(np.median(_part(run, 0, 1)) / np.median(_part(free, 0, 1))) for name, run in runs.items()}
    why = f"with the damping 50 of some of the authors' runs the ratio is {early[DAMPED_LESS]:.2f}"
    claims = []
    for name in ("roll-up", DAMPED_LESS):
        text = f"{name}: steps before 1 s over those of the flying spaghetti"
        claims += [
            within_factor(text, 1.0, early[name], 1.5, why),
            above(f"{name}: steps after 4 s over those before 1 s", _growth(runs[name]), 2.0),
        ]
    claims.append(below("flying spaghetti: steps after 4 s over those before 1 s", _growth(free), 1.5))
    return _histories(runs, claims)


@artifact(
    PAPER,
    "fig12",
    shows="Step sizes of the roll-up with two bending stiffnesses.",
    reproduced="Steps grow towards the end; the stiffer rod takes smaller steps, which vary more and fall more often "
    "and by more.",
    ours="t_end = 5 s; variation: standard deviation of the logarithm of neighbours' ratio; falls: to less than 90 %; "
    f"both without the first ramp and the two steps that land on t_end; {MEAN}; {DAMPINGS}",
)
def fig12(quick: bool) -> Result:
    runs: dict[str, Trajectory] = {}
    claims: list[Claim] = []
    for damping in (100.0, 50.0):
        pair = {
            f"C_K = {k:g}, damping {damping:g}": _automatic(
                models.roll_up(edges=8, bending_stiffness=k, damping=damping), 5.0
            )
            for k in (5e2, 5e4)
        }
        claims += [
            *(above(f"{name}: steps after 4 s over those before 1 s", _growth(run), 1.5) for name, run in pair.items()),
            *_stiffer(f"damping {damping:g}", *pair.values()),
        ]
        runs |= pair
    return _histories(runs, claims)


def _stiffer(of: str, soft: Trajectory, stiff: Trajectory) -> list[Claim]:
    """What the paper says about the steps of the stiffer rod."""
    calm, restless = _changes(soft), _changes(stiff)
    falls = [int(np.sum(changes < FALL)) for changes in (calm, restless)]
    return [
        above(f"{of}: number of steps, stiff over soft", stiff.stats.steps / soft.stats.steps, 1.0),
        above(f"{of}: variation of the step, stiff over soft", float(np.std(restless) / np.std(calm)), 1.5),
        less(f"{of}: falls of the step, soft and stiff", falls[0], falls[1], 3.0),
        above(f"{of}: largest fall of the step, stiff over soft", float(np.exp(calm.min() - restless.min())), 1.0),
    ]


FALL = np.log(0.9)


def _changes(run: Trajectory) -> Array:
    """Logarithms of the ratios of consecutive steps, without the growth of the first steps and the last, cut step."""
    changes = np.diff(np.log(run.h[1:-2]))
    return np.asarray(changes[int(np.argmax(changes < 0)) :])


def _growth(run: Trajectory) -> float:
    """The median step after 4 s over that before 1 s."""
    return float(np.median(_part(run, 4, 5)) / np.median(_part(run, 0, 1)))
