"""Derivatives of explicit runs: whatever they project onto, with adaptive steps, and in trees."""

import numpy as np
import pytest

import lgint
from kinds import EXPLICIT_ONLY
from methods.test_sensitivities import STENCIL, M, arm, by_differences, distance

EXPLICIT = [
    name
    for name in lgint.methods()
    if lgint.method_info(name)["explicit"] and lgint.method_info(name)["differentiated"]
]
ADAPTIVE = [name for name in EXPLICIT if any(row["name"] == "rtol" for row in lgint.method_info(name)["options"])]
pytestmark = pytest.mark.filterwarnings("ignore:inertia of")
STATE = ("q", "v", "vdot", "lam")


def agree(model, method, names, h, bound=1e-8, **options):
    """Derivatives agree with differences, and the run has the bits of one without them."""
    run = lgint.integrate(model, method, t_end=20 * h, h=h, sensitivity=names, **options)
    plain = lgint.integrate(model, method, t_end=20 * h, h=h, **options)
    assert all(np.array_equal(getattr(run, part), getattr(plain, part)) for part in STATE)
    for k, name in enumerate(names):
        found = run.sensitivity
        expected = by_differences(model, method, name, 20 * h, h, **options)
        for part, other in zip((found.dq, found.dv, found.dlam), expected, strict=True):
            assert not part.size or distance(part[..., k], other) < bound


@pytest.mark.parametrize("project", ["none", "position", "velocity", "both"])
@pytest.mark.parametrize("method", EXPLICIT)
def test_every_projection(method, project):
    agree(M.heavy_top(formulation="SE3"), method, ["top.mass", "top.inertia[1,1]"], 1e-3, project=project)
    for formulation in ("euler_parameters", *EXPLICIT_ONLY):
        agree(M.slider_crank(formulation=formulation), method, ["rod.mass"], 1e-3, project=project)


@pytest.mark.parametrize("method", ["rk67", "herk3", "herk4"])
def test_velocity_rows_trees_and_points(method):
    agree(M.rolling_disk(), method, ["disk.mass", "gravity[1]"], 1e-3, project="both")
    agree(M.pendulum_chain(n=4, formulation="minimal"), method, ["link3.mass"], 1e-3)
    agree(arm("minimal"), method, ["upper.mass", "shoulder.point[0]", "elbow.point_a[0]"], 2e-3)
    agree(arm("R3xSO3"), method, ["lower.mass", "shoulder.point_a[0]"], 2e-3, project="both")
    agree(M.flying_spaghetti(edges=3), method, ["edge1.stiffness[4,4]", "node2.mass"], 1e-3)


@pytest.mark.parametrize("first", ["consistent", "printed"])
@pytest.mark.parametrize("method", [name for name in EXPLICIT if name.startswith("herk")])
def test_half_explicit_methods_with_every_first_stage(method, first):
    for formulation in ("SE3", "euler_parameters"):
        agree(M.heavy_top(formulation=formulation), method, ["top.mass"], 1e-3, first_stage=first, project="velocity")
    agree(closed_tree(), method, ["link3.mass", "rope.length"], 1e-3, 3e-8, first_stage=first)


@pytest.mark.parametrize("project", ["position", "both"])
def test_rows_that_depend_on_time(project):
    """With long steps, so that corrections are long as well."""
    builder = lgint.ModelBuilder(gravity=(0, 0, -9.81))
    rate = 9.0

    def sway(t):
        s, c = 0.2 * np.sin(rate * t), 0.2 * np.cos(rate * t)
        return np.outer([s, rate * c, -rate * rate * s], [1, 0.3, 0.5])

    crane = builder.add_support("crane", motion=sway)
    builder.add_body("bob", mass=1.3, inertia=(0.02, 0.03, 0.04), position=(0.8, 0.1, 0))
    builder.add_distance(crane, "bob", length=0.8, point_a=(0, 0, 0), point_b=(0, 0.1, 0), name="rope")
    agree(builder.build(start="project"), "midpoint", ["bob.mass", "rope.length"], 0.01, 1e-7, project=project)


def closed_tree(n=14):
    """A tree whose last link a rope holds: M^-1 takes the place of a matrix."""
    builder = lgint.ModelBuilder(gravity=(0.3, 0, -9.81), formulation="minimal")
    last, place = lgint.ground, [np.array([i, 0.05 * i * (n - i), 0]) for i in range(n + 1)]
    for i in range(n):
        builder.add_body(f"link{i}", mass=1 + 0.1 * i, inertia=(0.02, 0.03, 0.04), position=place[i] + (0.5, 0, 0))
        builder.add_joint("revolute", last, f"link{i}", point=place[i], axis=(0, 1, 0.3 * (i % 2)))
        last = f"link{i}"
    ends = {"point_a": (0, 0, 1.0), "point_b": place[n]}
    builder.add_distance(lgint.ground, last, length=np.hypot(n, 1), **ends, name="rope")
    return builder.build(start="project")


@pytest.mark.parametrize("formulation", ["S3R3", "euler_parameters", *EXPLICIT_ONLY])
@pytest.mark.parametrize("method", ADAPTIVE)
def test_adaptive_steps_are_those_of_the_record(method, formulation):
    """Runs of fixed steps with stops at the recorded times are the same, and so are their derivatives."""
    model, name = M.heavy_top(formulation=formulation), "top.inertia[0,0]"
    run = lgint.integrate(model, method, t_end=0.03, rtol=1e-6, atol=1e-6, sensitivity=[name])
    plain = lgint.integrate(model, method, t_end=0.03, rtol=1e-6, atol=1e-6)
    assert np.array_equal(run.t, plain.t) and np.array_equal(run.q, plain.q) and len(run.t) > 4

    def again(change):
        other = model.with_parameters(**{name: model.values[name] + change}).with_state(project=True)
        return lgint.integrate(other, method, t_end=0.03, h=1.0, stops=run.t[1:-1], project="both")

    q, v, step = 0.0, 0.0, 1e-2 * model.values[name]
    for times, weight in STENCIL:
        end = again(times * step)
        q, v = q + weight / step * model.core.difference(run.q, end.q), v + weight / step * end.v
    assert distance(run.sensitivity.dq[..., 0], q) < 1e-8 and distance(run.sensitivity.dv[..., 0], v) < 1e-8


def test_work_grows_with_steps_and_parameters_alone():
    model, names = M.heavy_top(), ["top.mass", "gravity[0]", "gravity[1]"]

    def evaluations(steps, p):
        run = lgint.integrate(model, "rk44", t_end=steps * 1e-3, h=1e-3, sensitivity=names[:p])
        return run.stats.force_evaluations

    counts = [[evaluations(steps, p) for p in (1, 2, 3)] for steps in (10, 20, 30)]
    each = np.diff(counts, axis=0)  # of ten steps
    assert (each[0] == each[1]).all() and np.ptp(np.diff(each[0])) == 0


def test_a_run_that_fails_says_why_and_keeps_its_derivatives():
    model, options = M.pendulum_chain(n=3, formulation="SE3"), {"t_end": 20, "h": 0.1, "project": "velocity"}
    with pytest.raises(lgint.ConvergenceError, match="coordinates of link1, at t = 1 in step 11") as plain:
        lgint.integrate(model, "euler", **options)
    with pytest.raises(lgint.ConvergenceError) as caught:
        lgint.integrate(model, "euler", sensitivity=["link2.mass"], **options)
    assert str(caught.value) == str(plain.value)
    run = caught.value.trajectory
    assert run.sensitivity.dq.shape == (11, 18, 1)


@pytest.mark.parametrize("method", ["rk44", "herk4", "radau5"])
def test_progress_stops_runs(method):
    class Enough(Exception):
        pass

    def progress(t):
        times.append(t)
        if len(times) == 2:
            raise Enough

    times = []
    with pytest.raises(Enough):
        lgint.integrate(M.heavy_top(), method, t_end=1e3, h=1e-3, sensitivity=["top.mass"], progress=progress)
    assert times[0] < times[1] < 1e3
