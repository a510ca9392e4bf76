"""Kinon et al. 2024: snapshots of two examples, the load of the second, and the velocity constraint of Remark 4.8."""

from __future__ import annotations

from functools import cache
from itertools import product

import numpy as np
from numpy.typing import ArrayLike

from lgint import models
from lgint._args import Array
from lgint._papers.claims import above, below, close
from lgint._papers.kinon2024 import PAPER, ROUND_OFF, free_body, largest, printed_run
from lgint._papers.pictures import Lines, Panel, picture, plane, sizes
from lgint._papers.registry import Result, artifact
from lgint._run.trajectory import Trajectory

# ---- free rotation ----

SHOWN = (0.0, 0.25, 0.75, 1.25, 1.75, 2.0)  # s
SEMIAXES = np.sqrt([2.5, 0.5, 5.5]) / 3  # of a box with moments of inertia in the ratio 6 : 8 : 3
CORNERS = np.array([*product((-1, 1), repeat=3)]) * SEMIAXES
EDGES = [(i, j) for i in range(8) for j in range(i) if np.sum(CORNERS[i] != CORNERS[j]) == 1]


def _seen(points: Array) -> tuple[Array, Array]:
    """Points (..., 3) viewed from the direction (1, 1, 1), with the third axis pointing up."""
    x, y, z = np.moveaxis(points, -1, 0)
    return (y - x) / np.sqrt(2), (2 * z - x - y) / np.sqrt(6)


def _outline(points: Array) -> tuple[Array, Array]:
    """All edges of a box as one line with gaps."""
    lines = np.full((len(EDGES), 3, 3), np.nan)
    for line, (i, j) in zip(lines, EDGES, strict=True):
        line[:2] = points[[i, j]]
    return _seen(lines.reshape(-1, 3))


def _indices(run: Trajectory, times: ArrayLike) -> list[int]:
    """The indices of the states at these times."""
    return [int(np.argmin(np.abs(run.t - t))) for t in np.atleast_1d(times)]


def _snapshot(t: float, span: float, lines: Lines) -> Panel:
    return plane(f"t = {t:g} s", "", "", lines, equal=True, span=span)


@artifact(
    PAPER,
    "fig5",
    shows="Snapshots of the free rigid body, drawn as a box with its moments of inertia, EML.",
    reproduced="Attitudes are rotations: the configuration space is preserved.",
    ours="the view, and the box with no units, which the paper does not describe",
)
def fig5(quick: bool) -> Result:
    run = free_body()
    at = _indices(run, SHOWN)
    R = run.rotation("body")[at]
    off = largest(np.linalg.norm(run.q[at, -4:], axis=1) - 1)
    table: dict[str, ArrayLike] = {"t (s)": run.t[at]}
    table |= {f"e{i}": run.q[at, i - 4] for i in range(4)}
    panels = (
        _snapshot(
            t, 2.0, {"box": _outline(CORNERS @ turned.T), "first axis": _seen(np.outer([0, 1], 2 * turned[:, 0]))}
        )
        for t, turned in zip(SHOWN, R, strict=True)
    )
    claims = [below("largest deviation of the Euler parameters from unit length", off, ROUND_OFF)]
    return Result(table, claims, picture(*panels, columns=3))


@artifact(
    PAPER,
    "remark48",
    shows="The velocity constraint (41), q.v = 0, of the free rigid body at the ends and in the middle of steps, EML.",
    reproduced="It holds in the middle of each step and not at the ends, which does not harm the energy.",
)
def remark48(quick: bool) -> Result:
    run = free_body()
    q, v, E = run.q[:, -4:], run.v[:, -4:], run.energy("generalized")
    middle = np.sum((q[1:] + q[:-1]) * (v[1:] + v[:-1]), axis=1) / 4
    ends = np.sum(q * v, axis=1)[1:]
    scale = largest(np.linalg.norm(v, axis=1))
    claims = [
        below("(94): largest q.v in the middle of a step over |v|", largest(middle) / scale, ROUND_OFF),
        above("(95): largest q.v at the end of a step over |v|", largest(ends) / scale, 1e-3),
        below("largest increment of the generalized energy over its size", largest(np.diff(E)) / E[0], ROUND_OFF),
    ]
    lines = {"end of the step": (run.t[1:], ends), "middle": (run.t[1:] - run.h[1:] / 2, middle)}
    table = {"t (s)": run.t[1:], "q.v at the end (1/s)": ends, "q.v in the middle (1/s)": middle}
    return Result(table, claims, picture(sizes("free body", "t / s", "q.v / (1/s)", lines, marker=".")))


# ---- the closed loop ----

STOPS = np.arange(0.0, 10.1, 2.0)
HALF = 5.0  # half a bar's length, m
ENDS = [(0, HALF, 0), (-HALF, 0, 0), (0, -HALF, 0), (HALF, 0, 0)]  # of bars 1 to 4, where the next one begins


@cache
def _loop() -> Trajectory:
    return printed_run(models.four_bar(load="default"), "eml", 10.0, 0.1)


def _pulse(t: Array) -> Array:
    """F of (127)."""
    return np.clip(200.0 * np.minimum(t, 1 - t), 0, None)


@artifact(
    PAPER,
    "fig14",
    shows="The function of time of the loads on the closed loop: (127), and as the momentum of the run tells it.",
    reproduced="The run's momentum changes by the impulse of the printed force in each step.",
)
def fig14(quick: bool) -> Result:
    run = _loop()
    part = run.t <= 2 + 1e-9
    t, P = run.t[part], run.momentum()[part, 0]
    middle, force = (t[1:] + t[:-1]) / 2, np.diff(P) / np.diff(t) / 8
    exact = np.array([np.mean(_pulse(np.linspace(a, b, 2001))) for a, b in zip(t[:-1], t[1:], strict=True)])
    claims = [
        below("largest difference of f from its mean over the step, over its peak", largest(force - exact) / 100, 1e-2),
        close("linear momentum after the load, the printed impulse (kg m/s)", 400.0, P[-1], 1e-2),
    ]
    fine = np.linspace(0, 2, 201)
    panel = plane(
        "closed loop, load", "t / s", "f", {"run": (middle, force)}, reference={"(127)": (fine, _pulse(fine))}
    )
    return Result({"t (s)": middle, "f of the run": force, "mean of (127)": exact}, claims, picture(panel))


@artifact(
    PAPER,
    "fig15",
    shows="Snapshots of the closed loop of four bars, EML.",
    reproduced="The loop stays closed: the constraints are fulfilled exactly.",
    ours="the view, which moves with the centre of the loop (axes in m), and where the linkage starts",
)
def fig15(quick: bool) -> Result:
    run = _loop()
    at = _indices(run, STOPS)
    corners = np.array([run.point(f"bar{i + 1}", end)[at] for i, end in enumerate(ENDS)])
    shape = corners - corners.mean(axis=0)
    closed = np.concatenate([shape, shape[:1]])
    gap = largest(run.constraint_residual("position"))
    table: dict[str, ArrayLike] = {"t (s)": run.t[at]}
    table |= {f"corner {i + 1}: {c} (m)": corners[i, :, k] for i in range(4) for k, c in enumerate("xyz")}
    panels = (
        _snapshot(t, 8.0, {"loop": _seen(closed[:, i]), "start": _seen(closed[:, 0])}) for i, t in enumerate(STOPS)
    )
    claims = [below("largest residual of a constraint over the length of a bar", gap / (2 * HALF), ROUND_OFF)]
    return Result(table, claims, picture(*panels, columns=3))
