"""Derivatives of Radau methods: both ways of solving, trees and velocity rows, stiff rods, adaptive steps."""

import numpy as np
import pytest

import lgint
from methods.test_explicit_sensitivities import closed_tree
from methods.test_sensitivities import STENCIL, M, arm, by_differences, distance

pytestmark = pytest.mark.filterwarnings("ignore:inertia of")
RADAU = [name for name in lgint.methods() if lgint.method_info(name)["stepper"] == "radau"]


def agree(model, method, names, h, steps=20, bound=1e-7, **options):
    run = lgint.integrate(model, method, t_end=steps * h, h=h, sensitivity=names, **options)
    for k, name in enumerate(names):
        found = run.sensitivity
        expected = by_differences(model, method, name, steps * h, h, **options)
        for part, other in zip((found.dq, found.dv, found.dlam), expected, strict=True):
            assert not part.size or distance(part[..., k], other) < bound


@pytest.mark.parametrize("sweeps", ["splitting", "eigenbasis"])
@pytest.mark.parametrize("method", RADAU)
def test_both_ways_of_solving(method, sweeps):
    agree(M.heavy_top(formulation="SE3"), method, ["top.mass", "top.inertia[1,1]"], 1e-3, sweeps=sweeps)


@pytest.mark.parametrize("method", RADAU)
def test_velocity_rows_and_trees(method):
    agree(M.rolling_disk(), method, ["disk.mass", "gravity[1]"], 1e-3)
    agree(M.pendulum_chain(n=4, formulation="minimal"), method, ["link3.mass"], 1e-3)
    agree(arm("minimal"), method, ["upper.mass", "shoulder.point[0]", "elbow.point_a[0]"], 2e-3)
    agree(closed_tree(), method, ["link3.mass", "rope.length"], 1e-3)


@pytest.mark.parametrize("method", RADAU)
def test_motion_that_does_not_depend_on_the_place(method):
    """All that the derivatives of velocities are is round-off."""
    names = ["start.disk.position[0]", "start.disk.position[1]"]
    found = lgint.integrate(M.rolling_disk(), method, t_end=0.1, h=0.01, sensitivity=names).sensitivity
    assert np.abs(found.dv).max() < 1e-13
    places = found.dq[:, :3] if found.dq.shape[1] == 6 else found.dq
    np.testing.assert_allclose(np.linalg.norm(places, axis=1), 1.0, rtol=0, atol=1e-13)


@pytest.mark.parametrize("method", RADAU)
def test_reactions_alone_that_depend_on_a_parameter(method):
    """A product of inertia of a body that turns about a fixed axis: J_xy times the acceleration, as a moment."""
    builder = lgint.ModelBuilder(gravity=(0, 0, -9.81))
    inertia = [[0.3, 0.02, 0], [0.02, 0.4, 0.03], [0, 0.03, 0.25]]
    builder.add_body("arm", mass=2.0, inertia=inertia, position=(0.1, 0, 0))
    builder.add_joint("revolute", lgint.ground, "arm", point=(0, 0, 0), axis=(0, 1, 0), name="pin")
    run = lgint.integrate(builder.build(), method, t_end=0.1, h=0.01, sensitivity=["arm.inertia[0,1]"])
    assert np.abs(run.sensitivity.dv).max() < 1e-13
    moment = run.derivative("reaction", "pin")[0, 3:, 0]
    np.testing.assert_allclose(np.abs(moment), [9.81 * 0.2 / (0.4 + 2 * 0.01), 0, 0], rtol=0, atol=1e-9)


@pytest.mark.parametrize("formulation", ["R3xSO3", "euler_parameters", "minimal"])
@pytest.mark.parametrize("method", RADAU)
def test_what_cannot_move_but_as_prescribed(method, formulation):
    """Only its reactions depend on masses and gravity, linearly."""
    builder = lgint.ModelBuilder(gravity=(0.3, 0, -9.81), formulation=formulation)
    builder.add_body("upper", mass=1.3, inertia=(0.1, 0.12, 0.13), position=(0.5, 0, 0))
    builder.add_body("lower", mass=0.7, inertia=(0.1, 0.05, 0.07), position=(1.2, 0, 0))
    builder.add_joint("revolute", lgint.ground, "upper", point=(0, 0, 0), axis=(0, 1, 0), name="shoulder")
    builder.add_joint("revolute", "upper", "lower", point=(1, 0, 0), axis=(0, 1, 0), name="elbow")
    builder.add_joint_motion("shoulder", lambda t: [np.sin(3 * t), 3 * np.cos(3 * t), -9 * np.sin(3 * t)])
    builder.add_joint_motion("elbow", lambda t: [t * t, 2 * t, 2.0])
    model = builder.build(redundant="drop", start="project")
    names, given = ["lower.mass", "gravity[2]"], {"t_end": 0.02, "h": 2e-3}

    def reaction(name, change):
        other = model.with_parameters(**{name: model.values[name] + change})
        return lgint.integrate(other, method, **given).reaction("shoulder")

    run = lgint.integrate(model, method, **given, sensitivity=names)
    assert np.abs(run.sensitivity.dv).max() < 1e-13
    expected = [reaction(name, 0.5) - reaction(name, -0.5) for name in names]
    found = run.derivative("reaction", "shoulder")
    np.testing.assert_allclose(np.moveaxis(found, 2, 0), expected, rtol=0, atol=1e-9)

    def total(t, values):
        return float(values.sum()), [np.ones_like(values)]

    gradient = lgint.gradient(model, method, total, names, outputs=[("reaction", "shoulder")], **given)[1]
    np.testing.assert_allclose(gradient, found.sum(axis=(0, 1)), rtol=1e-10)


@pytest.mark.parametrize("method", RADAU)
def test_stiff_rods_with_long_steps(method):
    """A step is 5 and more periods of the fastest vibrations."""
    agree(M.flying_spaghetti(edges=4), method, ["edge1.stiffness[4,4]", "edge1.stiffness[0,0]", "node2.mass"], 0.05, 10)


@pytest.mark.parametrize("formulation", ["S3R3", "euler_parameters"])
@pytest.mark.parametrize("method", RADAU)
def test_adaptive_steps_are_those_of_the_record(method, formulation):
    model, name = M.heavy_top(formulation=formulation), "top.inertia[0,0]"
    run = lgint.integrate(model, method, t_end=0.02, rtol=1e-5, atol=1e-5, sensitivity=[name])
    q, v, step = 0.0, 0.0, 1e-2 * model.values[name]
    for times, weight in STENCIL:
        other = model.with_parameters(**{name: model.values[name] + times * step}).with_state(project=True)
        end = lgint.integrate(other, method, t_end=0.02, h=1.0, stops=run.t[1:-1], newton_rtol=1e-13)
        q, v = q + weight / step * model.core.difference(run.q, end.q), v + weight / step * end.v
    assert len(run.t) > 4
    assert distance(run.sensitivity.dq[..., 0], q) < 1e-7 and distance(run.sensitivity.dv[..., 0], v) < 1e-7


@pytest.mark.parametrize("method", RADAU)
def test_parameters_do_not_depend_on_each_other(method):
    """What one parameter leaves behind does not enter another one's sweeps."""
    model = M.slider_crank()
    both = lgint.integrate(model, method, t_end=0.01, h=1e-3, sensitivity=["rod.mass", "slider.mass"]).sensitivity
    for k, name in enumerate(both.parameters):
        alone = lgint.integrate(model, method, t_end=0.01, h=1e-3, sensitivity=[name]).sensitivity
        np.testing.assert_array_equal(both.dv[..., k], alone.dv[..., 0])
