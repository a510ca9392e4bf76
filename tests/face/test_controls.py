"""Controls: functions of the state that give efforts, with states of their own; the mechanics against other sources."""

import numpy as np
import pytest

import lgint
from face.controlled import (
    GRAVITY,
    INERTIA,
    LENGTH,
    MASS,
    OPTIONS,
    SIDES,
    STIFFNESS,
    arm,
    bodies,
    ends,
    held_arm,
    pid,
    reference,
    roll_bar,
)
from kinds import FORMULATIONS, METHODS

# ---- against other sources ----


@pytest.mark.parametrize("formulation", SIDES)
@pytest.mark.parametrize("method", ["dopri5", "radau5"])
def test_pid_is_that_of_scipy(method, formulation):
    model = held_arm(formulation, reads="pin")
    run = lgint.integrate(model, method, t_end=0.4, rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(ends(run), reference(0.4), atol=1e-8)


@pytest.mark.parametrize("method", METHODS)
def test_every_method_runs_controls(method):
    run = lgint.integrate(held_arm("R3xSO3"), method, t_end=0.1, h=1e-3)
    error = np.abs(ends(run) - reference(0.1)).max()
    assert error < (2e-2 if method == "euler" else 5e-5)


@pytest.mark.parametrize(("method", "order", "h"), [("genalpha", 2, 0.02), ("rk44", 4, 0.02), ("radau5", 5, 0.1)])
@pytest.mark.parametrize("formulation", ["minimal", "SE3"])
def test_order_with_states_of_controls(method, order, h, formulation):
    model, exact = held_arm(formulation, reads="pin"), reference(0.8)
    options = {"newton_rtol": 1e-12} if method != "rk44" else {}
    runs = [lgint.integrate(model, method, t_end=0.8, h=h / n, **options) for n in (1, 2)]
    errors = [np.linalg.norm(ends(run) - exact) for run in runs]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.25)


def test_lag_of_an_actuator_has_a_closed_form():
    """T u' = command - u on a bar without gravity: the angle is (command/J) (t^2/2 - T t + T^2 (1 - e^(-t/T)))."""
    b = lgint.ModelBuilder(formulation="SE3")
    b.add_body("bar", mass=MASS, inertia=(INERTIA, INERTIA, 0.01), position=(0, 0, -LENGTH))
    b.add_joint("revolute", lgint.ground, "bar", point=(0, 0, 0), axis=(1, 0, 0), name="pin")

    def lag(state):
        (torque,) = state.control("motor").states.values()
        return [torque, (3.0 - torque) / 0.05]

    b.add_control(lag, joints="pin", states={"torque": 1.0}, reads=[], name="motor")
    run = lgint.integrate(b.build(), "dopri5", t_end=0.3, **OPTIONS)
    decay = 0.05 * (1 - np.exp(-run.t / 0.05))  # the integral of the decaying part
    angle = (3 * run.t**2 / 2 - 2 * 0.05 * (run.t - decay)) / (INERTIA + MASS * LENGTH**2)
    np.testing.assert_allclose(run.joint_angle("pin"), angle, atol=1e-10)
    np.testing.assert_allclose(run.control("motor").efforts["pin"], 3 - 2 * np.exp(-run.t / 0.05), atol=1e-9)


@pytest.mark.parametrize("formulation", SIDES)
def test_an_integral_finds_its_equilibrium_and_linearises(formulation):
    model = held_arm(formulation)
    rest = lgint.equilibrium(model)
    assert rest.joint_angle("pin")[-1] == pytest.approx(1.0, abs=1e-9)
    assert rest.control("pid").efforts["pin"][-1] == pytest.approx(MASS * GRAVITY * LENGTH * np.sin(1.0), rel=1e-9)
    lin = lgint.linearize(model.with_state(rest).state(), [("control", "pid"), ("joint", "pin")])
    J, slope = INERTIA + MASS * LENGTH**2, MASS * GRAVITY * LENGTH * np.cos(1.0)
    by_hand = np.linalg.eigvals([[0, 1, 0], [-(30 + slope) / J, -6 / J, 20 / J], [-1, 0, 0]])
    np.testing.assert_allclose(np.sort_complex(lin.eigenvalues), np.sort_complex(by_hand), rtol=1e-6)
    np.testing.assert_array_equal(lin.B[:, 0], lin.B[:, 1])
    assert lin.input_names == ["control pid pin", "joint pin"]
    assert lin.state_names == ["bar.rx", "d/dt bar.rx", "pid.integral"]


@pytest.mark.parametrize("formulation", SIDES)
def test_states_of_controls_have_no_energy_in_check(formulation):
    report = lgint.check(held_arm(formulation))
    assert report.ok, f"\n{report}"
    assert any("dT/dt" in item.name for item in report.items)


@pytest.mark.parametrize("formulation", ["R3xSO3", "SE3", "R3xS3"])
def test_a_roll_bar_is_one_control_on_two_joints(formulation):
    """On the bodies it is the same as the moments of the difference of two angles, and conserves its own energy."""
    names = ["left arm", "right arm"]
    model = bodies(formulation, roll_bar, names, joints=names).build(start="project")
    run = lgint.integrate(model, "dopri5", t_end=0.5, **OPTIONS)
    twist = run.joint_angle("left arm") - run.joint_angle("right arm")
    energy = run.energy() + STIFFNESS / 2 * twist**2
    assert np.ptp(twist) > 0.2
    np.testing.assert_allclose(energy, energy[0], rtol=1e-8)
    np.testing.assert_allclose(run.control("bar").efforts["left arm"], -STIFFNESS * twist, atol=1e-12)
    implicit = lgint.integrate(model, "genalpha", t_end=0.5, h=1e-3)
    assert implicit.joint_angle("left arm")[-1] == pytest.approx(run.joint_angle("left arm")[-1], abs=1e-5)


def drag(state):
    return np.concatenate(
        [-3 * state.velocity("left") - 8 * state.position("left"), -0.4 * state.angular_velocity("left")]
    )


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("method", ["genalpha", "rk44"])
def test_forces_on_bodies_are_those_of_a_law(method, formulation):
    controlled = bodies(formulation, drag, ["left"], bodies="left").build(start="project")
    b = bodies(formulation)
    b.add_force_law(
        lambda t, x, R, xdot, omega: np.concatenate([-3 * xdot - 8 * x, -0.4 * omega]), bodies="left", name="law"
    )
    one, other = (lgint.integrate(model, method, t_end=0.1, h=5e-3) for model in (controlled, b.build(start="project")))
    np.testing.assert_allclose(one.q[-1], other.q[-1], rtol=0, atol=1e-9)


def four_bar(formulation):
    b = lgint.ModelBuilder(gravity=(0, 0, -GRAVITY), formulation=formulation)
    corners = np.array([(0, 0, 0), (0, 0, 1), (2, 0, 1), (2, 0, 0)])
    chain = [lgint.ground, "crank", "coupler", "rocker", lgint.ground]
    for i, bar in enumerate(chain[1:-1]):
        b.add_body(bar, mass=1.0, inertia=(0.1, 0.1, 0.1), position=corners[i : i + 2].mean(0))
        b.add_joint("revolute", chain[i], bar, point=corners[i], axis=(0, 1, 0), name=("pin", "b", "c")[i])
    b.add_joint("revolute", "rocker", lgint.ground, point=corners[3], axis=(0, 1, 0), name="d")
    b.add_control(pid, joints="pin", states=["integral"], name="pid")
    return b.build(redundant="drop")


@pytest.mark.parametrize("formulation", ["R3xSO3", "SE3"])
def test_closed_loops_have_controls_as_trees_have(formulation):
    """Two of the rows of a planar loop of revolute joints are chosen; in minimal coordinates it is cut once."""
    one, other = (lgint.integrate(four_bar(f), "rk44", t_end=0.2, h=5e-3) for f in (formulation, "minimal"))
    np.testing.assert_allclose(ends(one), ends(other), atol=1e-9)
    assert np.abs(ends(one)).min() > 1e-2


# ---- derivatives ----


@pytest.mark.parametrize("formulation", ["minimal", "R3xSO3", "euler_parameters"])
def test_damping_and_stiffness_contain_the_control(formulation):
    model = held_arm(formulation)
    state, core = model.state(joints={"pin": 0.7}, rates={"pin": 1.3}), model.core
    q, v, mem = state.q, state.v, np.array(state.mem)
    for i in range(model.nv):
        step = 1e-6 * np.eye(model.nv)[i]
        for matrix, (above, below) in (
            (state.stiffness_matrix(), [(core.retract(q, s * step), v) for s in (1, -1)]),
            (state.damping_matrix(), [(q, v + s * step) for s in (1, -1)]),
        ):
            high, low = (
                core.evaluate(0.0, *at, state.vdot, state.lam, mem=mem, want=("Ma", "gyro", "force", "Btlam"))
                for at in (above, below)
            )
            slope = sum(sign * (high[k] - low[k]) / 2e-6 for k, sign in zip(high, (1, 1, -1, 1), strict=True))
            np.testing.assert_allclose(matrix[:, i], slope, atol=2e-7 * (1 + np.abs(matrix).max()))


def test_reads_and_a_tangent_save_calls():
    calls = {}

    def counted(name):
        def function(state):
            calls[name] = calls.get(name, 0) + 1
            return pid(state)

        return function

    def slopes(state):
        by = np.zeros((2, 2, state.model.nv))
        pin = state.model.coordinate_of("pin", "angle", 1)
        by[0, :, pin] = -30, -1
        by[1, 0, pin], by[1, 0, -1] = -6, 20
        return by

    ends_of, counts = [], {}
    for name, more in {"all": {}, "pin": {"reads": "pin"}, "tangent": {"reads": "pin", "tangent": slopes}}.items():
        b = arm()
        for i in (1, 2):  # bodies that the control does not read; they come before the pin in none of the velocities
            b.add_body(f"other{i}", mass=1.0, inertia=(1.0, 1.0, 1.0), position=(i, 0, 0))
        for i in (1, 2):
            b.add_joint("revolute", lgint.ground, f"other{i}", point=(i, 0, 0.1), axis=(1, 0, 0), name=f"pin{i}")
        b.add_control(counted(name), joints="pin", states=["integral"], name="pid", **more)
        run = lgint.integrate(b.build(), "genalpha", t_end=0.2, h=1e-2, newton="full")
        counts[name] = (calls[name] - run.stats.force_evaluations) / run.stats.jacobians
        ends_of.append(ends(run))
    np.testing.assert_allclose(ends_of[1:], ends_of[:1] * np.ones((2, 1)), atol=1e-12)
    # two calls for each displacement and each velocity: 3 angles and 3 rates, or 1 and 1, and the state
    assert counts["all"] - counts["pin"] == pytest.approx(2 * 4, abs=0.5)
    assert counts["pin"] - counts["tangent"] == pytest.approx(2 * 3, abs=0.5)


@pytest.mark.parametrize("formulation", ["minimal", "R3xSO3"])
def test_two_controls_read_each_other(formulation):
    """And a control its own states; the matrices are those with everything read."""

    def build(declared):
        b = arm(formulation)
        for name, other in (("one", "two"), ("two", "one")):

            def function(state, name=name, other=other):
                own, its = (state.control(each).states["z"] for each in (name, other))
                return [np.sin(its), state.joint_angle("pin") - own * its]

            reads = ["pin", name, other] if declared else None
            b.add_control(function, joints="pin", states={"z": 0.3}, reads=reads, name=name)
        return b.build()

    declared, whole = (build(each).state(joints={"pin": 0.4}) for each in (True, False))
    for matrix in ("stiffness_matrix", "damping_matrix"):
        np.testing.assert_array_equal(getattr(declared, matrix)(), getattr(whole, matrix)())
    coupling = declared.damping_matrix()[-2:, -2:]
    np.testing.assert_allclose(coupling, 0.3, rtol=1e-8)


# ---- power and work ----


@pytest.mark.parametrize("every", [None, 0.05])
@pytest.mark.parametrize("formulation", ["minimal", "R3xSO3"])
def test_the_energy_gains_what_a_control_works(formulation, every):
    model = held_arm(formulation, every=every)
    run = lgint.integrate(model, "dopri5", t_end=0.4, rtol=1e-12, atol=1e-14, dense_output=True)
    work, gained = run.work("pid"), run.energy() - run.energy()[0]
    assert gained[-1] > 1
    np.testing.assert_allclose(work, gained, rtol=0, atol=1e-8 * gained.max())
    i = len(run) // 2
    assert run.state(i).power("pid") == pytest.approx(run.power("pid")[i], rel=1e-12)


@pytest.mark.parametrize("formulation", ["R3xSO3", "SE3", "euler_parameters"])
def test_the_energy_gains_what_a_control_works_on_bodies(formulation):
    def push(state):
        on_joint, on_body = 0.4 * state.joint_rate("right arm"), 3.0 - state.velocity("left")
        return [on_joint, *on_body, *(0.3 - state.angular_velocity("left"))]

    b = bodies(formulation)
    b.add_control(push, joints="right arm", bodies="left", name="push")
    model = b.build(start="project")
    run = lgint.integrate(model, "dopri5", t_end=0.3, rtol=1e-12, atol=1e-14, dense_output=True)
    gained = run.energy() - run.energy()[0]
    np.testing.assert_allclose(run.work("push"), gained, rtol=0, atol=1e-8 * np.abs(gained).max())
    with pytest.raises(ValueError, match=r"control\('push'\).efforts gives them, and power and work their sums"):
        run.force("push")
