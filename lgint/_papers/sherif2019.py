"""Sherif et al. 2019: a modified HHT method for rigid body rotations with Euler parameters.

Every run is a scheme as it is printed: `modified` is True or False and `transport` is off, as (20) and (61) have it.
Newton's method iterates to round-off where one step is studied, since the paper gives no tolerance.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lgint import models
from lgint._args import Array
from lgint._papers.claims import Claim, above, below, close, fitted, slope
from lgint._papers.registry import Result, artifact
from lgint._papers.runs import halved
from lgint._run.integrate import integrate
from lgint._run.trajectory import Trajectory
from lgint._tools import axes as look

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PAPER = "sherif2019"
CLASSICAL: dict[str, Any] = {"modified": False, "transport": False}
MODIFIED: dict[str, Any] = {"modified": True, "transport": False}
EXACT = 1e-13  # newton_rtol: to round-off

# ---- one body about one axis: sections 3, 5 and 7 ----

SPEED = 100.0  # omega', rad/s
ALPHAS = (0.0, -0.1, -0.2, -0.3)
STEP_LIST = "omega' = 100 rad/s, I = M = 1, alpha and h"


def _one_step(h: float, alpha: float, **scheme: Any) -> Trajectory:
    body = models.single_axis(inertia=1.0, moment=1.0, omega0=SPEED)
    return integrate(body, "hht", t_end=h, h=h, alpha=alpha, newton_rtol=EXACT, **scheme)


def _speed_after(h: float, alpha: float, **scheme: Any) -> float:
    return float(_one_step(h, alpha, **scheme).angular_velocity("body")[-1, 0])


@artifact(
    PAPER,
    "eq22",
    shows="The consistent start (22), (23) of a rotation about one axis: accelerations of Euler parameters and lambda.",
    reproduced="The start that the solver computes has these values to round-off.",
    ours="I = 2, M = 3, omega' = 100 rad/s",
)
def eq22(quick: bool) -> Result:
    body = models.single_axis(inertia=2.0, moment=3.0, omega0=SPEED)
    start = integrate(body, "hht", t_end=1e-3, h=1e-3, alpha=-0.2, **MODIFIED)
    found = np.concatenate([start.q[0, :2], start.v[0, :2], start.vdot[0, :2], start.lam[0]])
    paper = np.array([1.0, 0.0, 0.0, SPEED / 2, -(SPEED**2) / 4, 3.0 / (2 * 2.0), 0.0])
    names = ["e0", "e1", "e0' (1/s)", "e1' (1/s)", "e0'' (1/s^2)", "e1'' (1/s^2)", "lambda"]
    scale = np.maximum(np.abs(paper), 1.0)
    claims = [
        close("e0'' = -omega'^2/4", paper[4], found[4], 1e-13),
        close("e1'' = M/(2 I)", paper[5], found[5], 1e-13),
        below(
            "largest deviation from (22), (23), lambda = 0 included", float(np.max(abs(found - paper) / scale)), 1e-13
        ),
    ]
    return Result({"quantity": names, "paper": paper, "ours": found}, claims)


@artifact(
    PAPER,
    "eq28",
    shows="One step of the classical scheme from a fast rotation: the new speed against the expansion (28).",
    reproduced="What (28) leaves over falls with h^4 at least, and the terms with h^2 and h^3 have its coefficients.",
    ours=STEP_LIST,
)
def eq28(quick: bool) -> Result:
    h = halved(5e-4, 3) if quick else halved(2e-3, 5)
    gains = {a: np.array([_speed_after(x, a, **CLASSICAL) for x in h]) - SPEED - h for a in ALPHAS}
    left = {a: np.abs(gains[a] - a / 4 * SPEED**3 * h**2 - _cubic(a) * SPEED**2 * h**3) for a in ALPHAS}
    claims = [above(f"order of what (28) leaves over, alpha = {a:g}", fitted(h, left[a]), 3.9) for a in ALPHAS]
    second = gains[-0.2] / (SPEED**3 * h**2)
    third = gains[0.0] / (SPEED**2 * h**3)
    claims += [
        close("coefficient of omega'^3 h^2 at alpha = -0.2 is alpha/4", -0.05, _limit(h, second), 1e-3),
        close("coefficient of omega'^2 h^3 M/I at alpha = 0 is -1/4", -0.25, third[-1], 1e-3),
    ]
    columns: dict[str, Array] = {"h (s)": h}
    for a in ALPHAS:
        columns |= {f"speed gained (rad/s), alpha={a:g}": gains[a] + h, f"left over (rad/s), alpha={a:g}": left[a]}

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        look.curves(axes, {rf"$\alpha = {a:g}$": (h, left[a]) for a in ALPHAS})
        look.triangle(axes, 4, h[1:3], left[-0.1][1:3])
        look.logarithmic(axes, "h / s", "speed after one step less (28) / (rad/s)", "classical scheme, one step")
        look.legend(axes)

    return Result(columns, claims, draw)


def _cubic(alpha: float) -> float:
    """Coefficient of omega'^2 h^3 M/I in (28)."""
    polynomial = 10 * alpha**4 + 3 * alpha**3 - 12 * alpha**2 + 11 * alpha - 4
    return polynomial / (16 * (alpha - 1) ** 2)


def _limit(h: Array, values: Array) -> float:
    """The value at h = 0 of the line through the last two points."""
    return float(values[-1] + h[-1] * (values[-1] - values[-2]) / (h[-2] - h[-1]))


@artifact(
    PAPER,
    "eq42",
    shows="One step of the modified scheme from a fast rotation: the new speed against (42).",
    reproduced="(42) holds to round-off; at alpha = 0 the speed is exact; the damping is of third order in h.",
    ours=STEP_LIST,
)
def eq42(quick: bool) -> Result:
    h = halved(5e-4, 3) if quick else halved(2e-3, 5)
    steps = {a: [_one_step(x, a, **MODIFIED) for x in h] for a in ALPHAS}
    speed = {a: np.array([run.angular_velocity("body")[-1, 0] for run in steps[a]]) for a in ALPHAS}
    e0 = {a: np.array([run.q[-1, 0] for run in steps[a]]) for a in ALPHAS}
    damping = {a: h * (0.5 - a) * a * (1 - e0[a]) for a in ALPHAS}
    worst = max(float(np.max(abs(speed[a] - SPEED - h - damping[a]))) for a in ALPHAS)
    claims: list[Claim] = [
        below("(42): largest deviation of the speed over omega'", worst / SPEED, 1e-13),
        below("alpha = 0: error of the speed over omega'", float(np.max(abs(speed[0.0] - SPEED - h))) / SPEED, 1e-14),
        *(slope(f"order of the damping in h, alpha = {a:g}", 3, fitted(h, -damping[a]), 0.05) for a in ALPHAS[1:]),
    ]
    columns: dict[str, Array] = {"h (s)": h}
    for a in ALPHAS:
        columns |= {f"speed (rad/s), alpha={a:g}": speed[a], f"speed lost by (42) (rad/s), alpha={a:g}": -damping[a]}

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        look.curves(axes, {rf"$\alpha = {a:g}$": (h, SPEED + h - speed[a]) for a in ALPHAS[1:]})
        for a in ALPHAS[1:]:
            axes.plot(h, -damping[a], color="0.3", linestyle=":", label="(42)" if a == ALPHAS[1] else None)
        look.triangle(axes, 3, h[1:3], -damping[-0.1][1:3])
        look.logarithmic(axes, "h / s", "speed lost in one step / (rad/s)", "modified scheme, one step")
        look.legend(axes)

    return Result(columns, claims, draw)
