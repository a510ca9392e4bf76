"""Projection onto the constraints: its residuals, its cost, and the order of projected methods."""

import numpy as np
import pytest

import lgint
from battery import end_error, observed_order, rotation_error, slow_top, top_by_scipy
from lgint import _core

ROWS = {name: lgint.method_info(name) for name in lgint.methods()}
PAIRS = [name for name, row in ROWS.items() if {"rtol", "project"} <= {option["name"] for option in row["options"]}]


@pytest.mark.parametrize("levels", ["none", "position", "velocity", "both"])
def test_projection_holds_what_it_says(levels):
    model = slow_top("R3xSO3")
    for options in ({"method": "rk44", "h": 0.01}, {"method": "dopri5", "rtol": 1e-4}):
        run = lgint.integrate(model, t_end=0.5, project=levels, **options)
        position = np.abs(run.constraint_residual("position")).max()
        velocity = np.abs(run.constraint_residual("velocity")).max()
        assert (position < 1e-14) == (levels in ("position", "both"))
        assert (velocity < 1e-13) == (levels in ("velocity", "both"))
        assert position < 1e-2 and velocity < 1e-1


@pytest.mark.parametrize("method", PAIRS)
def test_projection_by_itself(method):
    """By default both levels are projected with adaptive steps, and none with fixed steps."""
    model = slow_top("R3xSO3")
    (default,) = [row["default"] for row in lgint.method_info(method)["options"] if row["name"] == "project"]
    assert default is None
    for options, levels in (({"rtol": 1e-4}, "both"), ({"atol": 1e-4}, "both"), ({"h": 0.01}, "none")):
        run = lgint.integrate(model, method, t_end=0.3, **options)
        same = lgint.integrate(model, method, t_end=0.3, project=levels, **options)
        assert run.q.tobytes() == same.q.tobytes() and run.v.tobytes() == same.v.tobytes()
        given = lgint.integrate(model, method, t_end=0.3, project=None, **options)
        assert run.q.tobytes() == given.q.tobytes()


def test_projection_costs_evaluations_not_steps():
    """On the slider-crank it takes the same steps and a fifth more evaluations, for a tenth of the error."""
    crank = lgint.models.slider_crank()
    best = lgint.integrate(crank, "rk67", t_end=2.0, h=5e-4, project="both").rotation("rod")[-1]
    runs = {p: lgint.integrate(crank, "dopri5", t_end=2.0, rtol=1e-6, project=p) for p in (None, "none", "velocity")}
    error = {p: rotation_error(run.rotation("rod")[-1], best) for p, run in runs.items()}
    assert 1e-5 < error[None] < 5e-4 and error["none"] > 8 * error[None]
    assert runs[None].stats.steps == pytest.approx(runs["none"].stats.steps, rel=0.02)
    stats = runs[None].stats
    stages = 6 * (stats.steps + stats.rejected)
    assert 1.1 < stats.force_evaluations / stages < 1.3


@pytest.mark.parametrize("method", PAIRS)
def test_what_earlier_steps_have_left_does_not_count(method):
    """A run with another tolerance goes on from one that has drifted; no step size could reduce this initial drift."""
    model = slow_top("R3xSO3")
    coarse = {"rtol": 1.0, "h": 0.3} if method == "dop853" else {"rtol": 1e-3}
    drifted = lgint.integrate(model, method, t_end=0.3, project="none", **coarse)
    assert np.abs(drifted.constraint_residual("position")[-1]).max() > 1e-4
    from_there = lgint.integrate(model, "rk44", t_end=0.3, h=0.01, project="both")
    counts = []
    for start in (drifted, from_there):
        state = model.core, method, 0.3, 0.4, np.nan, 1, start.q[-1], start.v[-1]
        rows = np.zeros(1 + 2 * start.lam.shape[1])  # residuals at the start, which the run finds itself
        carry = np.append(rows, drifted.carry[len(rows) :])
        memory = {"vdot": start.vdot[-1], "lam": start.lam[-1], "mem": [], "carry": carry}
        for project in ("none", "position", "velocity", "both"):
            result = _core.integrate(*state, memory, {"rtol": 1e-6, "project": project, "first_step": 1e-3}, None)
            counts.append(result["stats"]["steps"] + result["stats"]["rejected"])
    assert max(counts) < 1.7 * min(counts)  # the first steps include the way back onto the constraints


@pytest.mark.parametrize("formulation", ["R3xSO3", "SE3", "euler_parameters"])
@pytest.mark.parametrize("method", ["midpoint", "rk33", "rk44", "dopri5", "dop853"])
def test_projection_keeps_the_order(method, formulation):
    order = lgint.method_info(method)["order"]
    steps = {2: [400, 800, 1600], 3: [120, 240, 480], 4: [60, 120, 240], 5: [50, 100, 200], 8: [7, 14, 28]}[order]
    R, w, _, force = top_by_scipy()
    errors = []
    for n in steps:
        run = lgint.integrate(slow_top(formulation), method, t_end=0.5, h=0.5 / n, project="both")
        q, v = end_error(run)
        errors.append((q, v, np.linalg.norm(run.lam[-1, :3] - force)))
    for column in np.transpose(errors):
        assert observed_order(steps, column) > order - 0.25


@pytest.mark.parametrize("tol", [1e-4, 1e-8])
def test_projection_with_error_control(tol):
    run = lgint.integrate(slow_top("R3xSO3"), "dopri5", t_end=0.5, rtol=tol, project="both")
    assert 0.05 * tol < end_error(run)[0] < 5 * tol
    q, v, again = run.q[-1], run.v[-1], run.model.core.initial(0.5, run.q[-1], run.v[-1])
    assert np.allclose(run.vdot[-1], again[0], rtol=1e-12) and np.allclose(run.lam[-1], again[1], rtol=1e-12)
    assert np.isfinite(q).all() and np.isfinite(v).all()


@pytest.mark.parametrize(
    ("options", "evaluations"),
    [
        ({}, 12),
        ({"project": "velocity"}, 13),
        ({"project": "both"}, 13),
        ({"project": "both", "rtol": 1e-6, "control": "none"}, 13),
    ],
)
@pytest.mark.parametrize("model", [lgint.models.heavy_top, lgint.models.slider_crank], ids=["top", "slider-crank"])
def test_what_a_step_of_dop853_evaluates(model, options, evaluations):
    """docs/runge_kutta.md; the start of a run and a second correction of positions here and there add a little."""
    stats = lgint.integrate(model(), "dop853", t_end=0.2, h=4e-3, **options).stats
    assert evaluations <= stats.force_evaluations / stats.steps < evaluations + 0.1
