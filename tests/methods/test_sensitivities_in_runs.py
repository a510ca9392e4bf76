"""Derivatives of runs with adaptive steps, steps taken in parts, controls and rods, and closed forms of motions."""

import re

import numpy as np
import pytest

import lgint
from methods.test_sensitivities import STENCIL, distance

SHARP = {"newton_rtol": 1e-12, "newton_atol": 1e-16}


def by_differences(model, name, run_of, scale):
    """Derivatives of q and v by a value, from runs that a function makes."""
    value, middle, total = float(model.values[name]), run_of(model), [0.0, 0.0]
    step = 5e-3 * (scale or value)
    for times, weight in STENCIL:
        run = run_of(model.with_parameters(**{name: value + times * step}).with_state(project=True))
        parts = model.core.difference(middle.q, run.q), run.v
        total = [sofar + weight / step * part for sofar, part in zip(total, parts, strict=True)]
    return total


def agree(model, run, run_of, scale=None):
    """`scale`: the size of numbers that are zero."""
    for k, name in enumerate(run.sensitivity.parameters):
        q, v = by_differences(model, name, run_of, scale)
        assert np.abs(v).max() > 1e-6
        assert distance(run.sensitivity.dq[..., k], q) < 1e-7, name
        assert distance(run.sensitivity.dv[..., k], v) < 1e-7, name


def bouncing(height=0.3):
    """A ball that falls onto a floor with friction, turning."""
    builder = lgint.ModelBuilder(gravity=(0, 0, -9.81))
    still = {"position": (0, 0, height), "velocity": (0.4, 0, -1), "angular_velocity": (0, 9.0, 2.0)}
    builder.add_body("ball", mass=0.7, inertia=np.diag([2e-3, 2e-3, 3e-3]), **still)
    shapes = [("sphere", (0, 0, 0.02), 0.1), ("plane", (0, 0, 0), (0.1, 0, 1))]
    given = {"stiffness": 4e3, "damping": 0.3, "friction": 0.4, "regularization": 0.5, "name": "touch"}
    builder.add_contact("ball", lgint.ground, shapes=shapes, **given)
    return builder.build()


@pytest.mark.parametrize("method", ["genalpha", "newmark", "dopri5"])
@pytest.mark.parametrize("model", ["contact", "crank"])
def test_adaptive_steps_against_runs_on_the_recorded_steps(method, model):
    """With tolerances that accept every step, a run takes one step to each of its stops."""
    if model == "contact":
        model, names, t_end = bouncing(0.14), ["ball.mass", "touch.stiffness", "touch.friction"], 0.05
    else:
        model, names, t_end = lgint.models.slider_crank(), ["rod.mass", "slider.mass"], 0.1
    run = lgint.integrate(model, method, t_end=t_end, rtol=1e-5, atol=1e-7, sensitivity=names)
    sharp = SHARP if method != "dopri5" else {}
    steps = {"t_end": t_end, "stops": run.t[1:-1], "rtol": 1e6, "atol": 1e6, "first_step": 1.0, "max_increase": 100.0}

    def again(other):
        found = lgint.integrate(other, method, **steps, **sharp)
        np.testing.assert_array_equal(found.t, run.t)
        return found

    assert len(run) > 6 and np.ptp(np.diff(run.t)) > 1e-4
    agree(model, run, again)


def test_contacts_with_fixed_steps():
    model = bouncing(0.14)
    run = lgint.integrate(model, "genalpha", t_end=0.08, h=2e-3, sensitivity=["touch.friction", "touch.damping"])
    assert run.v[-1, 2] > 0  # it has bounced
    agree(model, run, lambda other: lgint.integrate(other, "genalpha", t_end=0.08, h=2e-3, **SHARP))


def test_steps_that_are_taken_in_parts():
    model = bouncing(0.2)
    given = {"t_end": 0.12, "h": 2e-2, "retry": 10, "max_iter": 4, "newton_rtol": 1e-12, "newton_atol": 0.0}
    run = lgint.integrate(model, "genalpha", **given, sensitivity=["ball.mass", "touch.stiffness"])
    assert run.stats.retries > 0
    agree(model, run, lambda other: lgint.integrate(other, "genalpha", **given))


def follow(state):
    """A nonlinear law, with a state of its own."""
    x = state.control("loop").states["x"]
    angle, rate = state.joint_angle("pin"), state.joint_rate("pin")
    return np.array([5 * np.sin(1 - angle) - 0.3 * rate**3 + x, 2 * (1 - angle) - x])


@pytest.mark.parametrize("formulation", ["R3xSO3", "minimal"])
def test_continuous_controls(formulation):
    builder = lgint.ModelBuilder(gravity=(0, 0, -9.81), formulation=formulation)
    builder.add_body("arm", mass=0.8, inertia=(0.02, 0.02, 0.03), position=(0.3, 0, 0))
    builder.add_joint("revolute", lgint.ground, "arm", point=(0, 0, 0), axis=(0, 1, 0), name="pin")
    builder.add_control(follow, joints="pin", states={"x": 0.3}, name="loop")
    model = builder.build(redundant="drop")
    given = {"t_end": 0.1, "h": 2e-3, "index": "stabilized"}
    run = lgint.integrate(model, "genalpha", **given, sensitivity=["arm.mass", "arm.inertia[1,1]", "gravity[2]"])
    agree(model, run, lambda other: lgint.integrate(other, "genalpha", **given, **SHARP))


@pytest.mark.parametrize("method", ["genalpha", "rk44", "herk4", "radau3"])
def test_values_of_controls_have_no_coordinates(method):
    """Their derivatives are those of velocities."""
    builder = lgint.ModelBuilder(gravity=(0, 0, -9.81), formulation="minimal")
    builder.add_body("arm", mass=0.8, inertia=(0.02, 0.02, 0.03), position=(0.3, 0, 0))
    builder.add_joint("revolute", lgint.ground, "arm", point=(0, 0, 0), axis=(0, 1, 0), name="pin")
    builder.add_control(follow, joints="pin", states={"x": 0.3}, name="loop")
    found = lgint.integrate(builder.build(), method, t_end=0.1, h=2e-3, sensitivity=["arm.mass"]).sensitivity
    assert (np.abs(found.dq[-1, :, 0]) > 1e-6).tolist() == [True, False]
    assert found.dq[-1, 1, 0] == 0.0
    assert abs(found.dv[-1, 1, 0]) > 1e-6


def arm_that_reads(read, formulation, law=False):
    builder = lgint.ModelBuilder(gravity=(0, 0, -9.81), formulation=formulation)
    builder.add_body("arm", mass=0.8, inertia=(0.02, 0.02, 0.03), position=(0.3, 0, 0))
    builder.add_joint("revolute", lgint.ground, "arm", point=(0, 0, 0), axis=(0, 1, 0), name="pin")
    if law:
        builder.add_force_law(lambda state: -float(read(state)), joint="pin", name="loop")
    else:
        builder.add_control(lambda state: np.array([-read(state)]), joints="pin", name="loop")
    return builder.build()


def height(state):
    return state.position("arm")[2]


@pytest.mark.parametrize("law", [False, True])
@pytest.mark.parametrize(
    ("read", "formulation", "names"),
    [
        (height, "minimal", ["arm.com[0]", "pin.point_b[0]"]),
        (lambda state: state.energy("total"), "R3xSO3", ["arm.mass", "gravity[2]"]),
    ],
)
def test_functions_that_read_what_depends_on_a_parameter_are_refused(read, formulation, names, law):
    model = arm_that_reads(read, formulation, law)
    for name in names:
        with pytest.raises(ValueError, match=rf"^sensitivity: {re.escape(name)}: .*'loop' reads something"):
            lgint.integrate(model, "rk44", t_end=0.1, h=0.01, sensitivity=["arm.inertia[0,1]", name])


def test_a_function_that_does_not_take_states_beside_the_start_is_called_in_the_run_alone():
    def read(state):
        if abs(state.joint_rate("pin")) < 1e-3:
            return 0.0
        raise RuntimeError("beyond the run")

    model = arm_that_reads(read, "minimal").with_state(rates={"pin": 0.0})
    run = lgint.integrate(model, "rk44", t_end=1e-5, h=1e-6, sensitivity=["arm.mass"])
    assert len(run.t) == 11


@pytest.mark.parametrize("law", [False, True])
@pytest.mark.parametrize(("formulation", "name"), [("R3xSO3", "pin.point_b[0]"), ("minimal", "arm.mass")])
def test_functions_of_places_agree_with_differences(formulation, name, law):
    model, given = arm_that_reads(height, formulation, law), {"t_end": 0.1, "h": 2e-3}
    run = lgint.integrate(model, "rk44", **given, sensitivity=[name])
    agree(model, run, lambda other: lgint.integrate(other, "rk44", **given))


def test_rods_with_a_stiffness_for_each_edge():
    builder = lgint.ModelBuilder(gravity=(0, 0, -9.81))
    stiffness = [np.diag([5e3, 4e3, 4e3, 30.0, 20.0, 10.0 + 5 * i]) for i in range(3)]
    given = {"edges": 3, "stiffness": stiffness, "inertia": (1.0, 0.01, 0.01, 0.02), "clamped": (0,)}
    builder.add_rod("rod", start=(0, 0, 0), end=(1, 0, 0), **given)
    model = builder.build()
    names = ["rod.edge0.stiffness[4,4]", "rod.edge2.stiffness[4,4]", "rod.node2.mass"]
    steps = {"t_end": 0.05, "h": 1e-3, "index": "stabilized"}
    run = lgint.integrate(model, "genalpha", **steps, sensitivity=names)
    agree(model, run, lambda other: lgint.integrate(other, "genalpha", **steps, **SHARP))


@pytest.mark.parametrize("method", ["genalpha", "rk44"])
def test_a_flexible_body_falls_as_a_whole(method):
    """However it is bent, its weight bends it no further."""
    builder = lgint.ModelBuilder(gravity=(0, 0, -9.81))
    beam = lgint.modal.beam(1.0, mass=2.0, bending=20.0, section=(0.01, 0.01), modes=2, damping=0.1)
    bent = {"eta": (0.02, -0.03), "eta_rate": (0.3, 0.1), "angular_velocity": (0.3, 0.2, 1)}
    builder.add_modal_body("beam", beam, **bent)
    run = lgint.integrate(builder.build(), method, t_end=0.02, h=1e-3, sensitivity=["gravity[2]"])
    falls = np.outer(run.t, np.eye(run.model.nv)[2])
    np.testing.assert_allclose(run.sensitivity.dv[..., 0], falls, rtol=0, atol=1e-13)
    np.testing.assert_allclose(run.sensitivity.dq[..., 0], run.t[:, None] / 2 * falls, rtol=0, atol=1e-13)


@pytest.mark.parametrize("formulation", ["R3xSO3", "SE3", "euler_parameters"])
def test_centres_of_mass_of_free_bodies(formulation):
    """Their coordinates are those of that point, and the start lies where it did."""
    model = lgint.models.slider_crank(formulation=formulation)
    given = {"t_end": 0.02, "h": 1e-3, "index": 2}
    run = lgint.integrate(model, "genalpha", **given, sensitivity=["rod.com[0]", "crank.com[2]"])
    agree(model, run, lambda other: lgint.integrate(other, "genalpha", **given, **SHARP), scale=0.1)


@pytest.mark.parametrize("method", ["genalpha", "rk44"])
def test_the_centre_of_mass_of_a_free_body_that_carries_a_tree(method):
    """The links of the tree, and what acts on them, move relative to that point."""
    builder = lgint.ModelBuilder(gravity=(0.2, -0.4, -9.81), formulation="minimal")
    builder.add_body("trunk", mass=3.0, inertia=(0.1, 0.2, 0.3), formulation="R3xSO3")
    builder.add_body("arm", mass=1.0, inertia=(0.1, 0.05, 0.08), position=(0.5, 0, 0))
    builder.add_joint("revolute", "trunk", "arm", point=(0.3, 0, 0), axis=(0, 1, 0), name="pin")
    builder.add_spring(lgint.ground, "arm", stiffness=20.0, length=0.5, point_a=(1, 0, 1), point_b=(0.9, 0, 0))
    model = builder.build().with_state(rates={"pin": 0.7, "trunk": ((0.1, 0.2, 0.3), (0.3, 0.4, 0.5))})
    given, sharp = {"t_end": 0.02, "h": 1e-3}, SHARP if method == "genalpha" else {}
    run = lgint.integrate(model, method, **given, sensitivity=["trunk.com[0]", "trunk.com[1]"])
    agree(model, run, lambda other: lgint.integrate(other, method, **given, **sharp), scale=0.5)


# ---- closed forms: the derivatives of the method are those of the motion, with errors of second order ----


def orders(value, exact, h):
    errors = [np.abs(value(h / 2**i) - exact).max() for i in range(2)]
    assert errors[1] < 1e-3 * np.abs(exact).max()
    assert 3.7 < errors[0] / errors[1] < 4.3, errors


def test_a_mass_on_a_spring_by_stiffness_and_mass():
    k, m, x0 = 50.0, 2.0, 0.1
    w, t = np.sqrt(k / m), 1.5
    builder = lgint.ModelBuilder(gravity=(0, 0, 0))
    builder.add_body("block", mass=m, inertia=np.eye(3), position=(1 + x0, 0, 0))
    builder.add_joint("prismatic", lgint.ground, "block", point=(0, 0, 0), axis=(1, 0, 0))
    ends = {"point_a": (0, 0, 0), "point_b": (0, 0, 0)}
    builder.add_spring(lgint.ground, "block", stiffness=k, length=1.0, name="spring", **ends)
    model, by_w = builder.build(redundant="drop"), -x0 * t * np.sin(w * t)
    exact = by_w * np.array([w / (2 * k), -w / (2 * m)])

    def value(h):
        run = lgint.integrate(model, "genalpha", t_end=t, h=h, sensitivity=["spring.stiffness", "block.mass"])
        return run.derivative("position", "block")[-1, 0]

    orders(value, exact, 0.01)


def test_a_pendulum_by_its_length():
    """phi = a cos(w t), w^2 = g/l, for a point mass in a tree; of small amplitude."""
    g, length, a, t = 9.81, 0.7, 1e-5, 1.3
    builder = lgint.ModelBuilder(gravity=(0, 0, -g), formulation="minimal")
    builder.add_body("bob", mass=1.0, inertia=np.zeros((3, 3)), position=(length, 0, 0))
    builder.add_joint("revolute", lgint.ground, "bob", point=(0, 0, 0), axis=(0, 1, 0), name="pin", angle=0.0)
    model = builder.build().with_state(joints={"pin": np.pi / 2 + a})
    w = np.sqrt(g / length)
    exact = a * t * np.sin(w * t) * w / (2 * length)

    def value(h):
        run = lgint.integrate(model, "genalpha", t_end=t, h=h, sensitivity=["pin.point_b[0]"])
        return -run.derivative("joint_angle", "pin")[-1]  # the pivot is at -l in the axes of the bob

    orders(value, exact, 0.01)


@pytest.mark.parametrize("method", ["genalpha", "rk44"])
def test_a_start_from_the_end_of_a_run_of_index_3_is_projected(method):
    """Its velocities violate the rows of velocities, whose derivatives would be off by as much."""
    model = lgint.models.slider_crank()
    model = model.with_state(lgint.integrate(model, "genalpha", t_end=0.1, h=1e-3))
    closed = model.with_state(project=True)
    assert 1e-7 < np.abs(closed.v0 - model.v0).max() < 1e-3
    options = {"t_end": 0.02, "h": 1e-3}
    run = lgint.integrate(model, method, sensitivity=["rod.mass", "B.point_b[0]"], **options)
    np.testing.assert_allclose(run.v[0], closed.v0, rtol=0, atol=1e-12)
    agree(closed, run, lambda other: lgint.integrate(other, method, **options))


def test_the_last_evaluation_of_a_step_linearises_it():
    """Steps are evaluated once before each iteration and once at their end, where derivatives need no further pass."""
    model = lgint.models.pendulum_chain(n=5)
    run = lgint.integrate(model, "genalpha", t_end=0.1, h=1e-3, newton="full", sensitivity=["link3.mass"])
    assert run.stats.force_evaluations - run.stats.newton_iterations - run.stats.steps < 20
