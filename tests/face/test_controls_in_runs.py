"""Controls in runs: samples, files, steppers, and what is refused."""

import pickle

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
    arm,
    bodies,
    held_arm,
    pid,
    reference,
    roll_bar,
)
from kinds import METHODS, MOMENTUM

# ---- samples ----


def sampled_law(state):
    return 12.0 * (1.0 - state.joint_angle("pin")) - 4.0 * state.joint_rate("pin") + 8.0


@pytest.mark.parametrize("method", METHODS)
def test_samples_are_those_of_a_loop_of_steps(method):
    b = arm()
    plain = b.build()
    called = []

    def control(state):
        called.append(state.t)
        return [sampled_law(state)]

    b.add_control(control, joints="pin", every=0.01, name="loop")
    run = lgint.integrate(b.build(), method, t_end=0.1, h=0.005)
    stepper, angles = lgint.Stepper(plain, method), [0.0]
    for _ in range(10):
        efforts = [sampled_law(stepper.state)]
        for _ in range(2):
            stepper.step(0.005, efforts)
        angles.append(stepper.state.joint_angle("pin"))
    np.testing.assert_allclose(run.joint_angle("pin")[::2], angles, rtol=0, atol=1e-14)
    assert called == [pytest.approx(0.01 * k, abs=1e-15) for k in range(11)]
    held = run.control("loop").efforts["pin"]
    np.testing.assert_array_equal(held[::2][:-1], held[1::2])
    np.testing.assert_allclose(held[::2], [sampled_law(run.state(i)) for i in range(0, 21, 2)], rtol=1e-14)


def test_steps_end_on_samples_and_states_hold_new_values():
    def counter(state):
        return [0.0, state.control("pid").states["integral"] + 1]

    model = held_arm(function=counter, every=0.03)
    run = lgint.integrate(model, "dopri5", t_end=0.1, dense_output=True, **OPTIONS)
    for sample in (0.03, 0.06, 0.09):
        assert np.abs(run.t - sample).min() < 1e-15
    np.testing.assert_array_equal(run.control("pid").states["integral"], 1 + np.floor(run.t / 0.03 + 1e-9))
    at = run.at([0.0299, 0.0301, 0.0899, 0.095])
    np.testing.assert_array_equal(at.control("pid").states["integral"], [1, 2, 3, 4])


def test_sampled_controls_at_one_time_see_the_values_before_it():
    b = arm()
    b.add_control(lambda state: [state.control("second").states["x"] + 1], states=["x"], every=0.1, name="first")
    b.add_control(lambda state: [state.control("first").states["x"]], states={"x": 10}, every=0.1, name="second")
    run = lgint.integrate(b.build(), "rk44", t_end=0.1, h=0.1)
    np.testing.assert_array_equal(run.control("first").states["x"], [11, 1])
    np.testing.assert_array_equal(run.control("second").states["x"], [0, 11])


def test_a_start_between_samples_is_sampled_at_once():
    called = []
    b = arm()
    b.add_control(lambda state: [called.append(state.t) or 0.0], joints="pin", every=0.1)
    lgint.integrate(b.build(), "rk44", t0=0.25, t_end=0.45, h=0.05)
    np.testing.assert_allclose(called, [0.25, 0.3, 0.4], atol=1e-15)


@pytest.mark.parametrize("formulation", ["minimal", "R3xSO3"])
@pytest.mark.parametrize("every", [None, 0.01])
def test_inverse_dynamics_gives_the_held_efforts_of_sampled_controls_alone(formulation, every):
    model = held_arm(formulation, every=every)
    run = lgint.integrate(model, "rk44", t_end=0.1, h=0.005)
    found = model.inverse_dynamics(run.q, run.v, run.vdot, run.t, actuators=["pin"])[:, 0]
    expected = run.control("pid").efforts["pin"] if every else np.zeros(len(run))
    assert not every or np.abs(expected).min() > 1
    between = slice(1, None, 2)  # at samples the efforts jump
    np.testing.assert_allclose(found[between], expected[between], rtol=0, atol=1e-9)


def test_a_sampled_control_can_compute_torques():
    def computed(state):
        wanted = 40.0 * (0.5 - state.joint_angle("pin")) - 9.0 * state.joint_rate("pin")
        torque = state.model.inverse_dynamics(state.q, state.v, [wanted], state.t)[0]
        by_hand = (INERTIA + MASS * LENGTH**2) * wanted + MASS * GRAVITY * LENGTH * np.sin(state.joint_angle("pin"))
        assert torque == pytest.approx(by_hand, abs=1e-12)
        return [torque]

    b = arm()
    b.add_control(computed, joints="pin", every=1e-3, name="computed")
    run = lgint.integrate(b.build(), "rk44", t_end=3.0, h=1e-3)
    assert run.joint_angle("pin")[-1] == pytest.approx(0.5, abs=1e-4)


@pytest.mark.parametrize("what", ["equilibrium", "linearize", "buckling"])
def test_sampled_controls_have_no_equilibrium(what):
    model = held_arm(every=0.1)
    call = {
        "equilibrium": lambda: lgint.equilibrium(model),
        "linearize": lambda: lgint.linearize(model.state()),
        "buckling": lambda: lgint.buckling(model, [1.0, 2.0]),
    }[what]
    with pytest.raises(ValueError, match=f"{what}: control 'pid' is sampled"):
        call()


@pytest.mark.parametrize("formulation", SIDES)
@pytest.mark.parametrize("every", [None, 0.02])
def test_states_of_controls_stay_where_joints_are_given(formulation, every):
    b = arm(formulation)
    b.add_control(pid, joints="pin", states={"integral": 0.3}, every=every, name="pid")
    model = b.build()

    def kept(at, angle, rate, z):
        values = at.joint_angle("pin"), at.joint_rate("pin"), at.control("pid").states["integral"]
        np.testing.assert_allclose(values, [angle, rate, z], rtol=0, atol=1e-10)

    kept(model.state(joints={"pin": 0.4}), 0.4, 0.0, 0.3)
    kept(model.state(rates={"pin": 2.0}), 0.0, 2.0, 0.3)
    for project in (False, True):
        other = model.with_state(joints={"pin": 0.4}, rates={"pin": 2.0}, project=project)
        kept(other.state(), 0.4, 2.0, 0.3)
    end = lgint.integrate(model, "rk44", t_end=0.1, h=0.01).state(-1)
    z = end.control("pid").states["integral"]
    assert abs(z - 0.3) > 0.01
    kept(model.with_state(end).with_state(joints={"pin": 0.4}).state(), 0.4, end.joint_rate("pin"), z)


# ---- runs, files, steppers ----

EVERY = [None, 0.02]


@pytest.mark.parametrize("every", EVERY)
@pytest.mark.parametrize("method", ["genalpha", "rk44", "radau5", "dopri5"])
def test_runs_resume_bit_for_bit(method, every):
    model = held_arm("R3xSO3", every=every)
    whole = lgint.integrate(model, method, t_end=0.1, h=0.01)
    for cut in (0.04, 0.05):
        first = lgint.integrate(model, method, t_end=cut, h=0.01)
        rest = lgint.integrate(model, method, t_end=0.1, h=0.01, start=first)
        for part in ("q", "v", "vdot", "mem"):
            np.testing.assert_array_equal(getattr(rest, part)[-1], getattr(whole, part)[-1])


@pytest.mark.parametrize("every", EVERY)
def test_files_and_pickles_hold_controls(tmp_path, every):
    model = held_arm("R3xSO3", every=every)
    run = lgint.integrate(model, "genalpha", t_end=0.1, h=0.01)
    run.save(tmp_path / "run.npz")
    known = lgint.load(tmp_path / "run.npz")
    np.testing.assert_array_equal(known.control("pid").states["integral"], run.control("pid").states["integral"])
    if every:
        np.testing.assert_array_equal(known.control("pid").efforts["pin"], run.control("pid").efforts["pin"])
    else:
        with pytest.raises(RuntimeError, match="the function of 'pid' is a Python function and was not saved"):
            known.control("pid").efforts  # noqa: B018
    with pytest.raises(RuntimeError, match="the function of 'pid'"):
        lgint.integrate(known.model, "genalpha", t_end=0.1, h=0.01)
    other = pickle.loads(pickle.dumps(model))
    again = lgint.integrate(other, "genalpha", t_end=0.1, h=0.01)
    np.testing.assert_array_equal(again.q, run.q)
    assert other.controls["pid"]["states"] == {"integral": 0.0}


@pytest.mark.parametrize("every", EVERY)
def test_steppers_step_back_and_go_on(every):
    model = held_arm("SE3", every=every)
    stepper = lgint.Stepper(model, "genalpha")
    for _ in range(3):
        stepper.step(0.01)
    before = stepper.snapshot()
    stepper.step(0.01)
    after = stepper.state
    stepper.restore(before)
    stepper.step(0.01)
    np.testing.assert_array_equal(stepper.v, after.v)
    continued = lgint.integrate(model.with_state(after), "genalpha", t0=0.04, t_end=0.06, h=0.01)
    for _ in range(2):
        stepper.step(0.01)
    np.testing.assert_array_equal(continued.v[-1], stepper.v)
    run = lgint.integrate(model, "genalpha", t_end=0.06, h=0.01)
    np.testing.assert_array_equal(run.v[-1], stepper.v)
    assert stepper.state.control("pid").efforts["pin"] == run.control("pid").efforts["pin"][-1]


def test_other_values_and_sweeps_have_the_control_see_their_own_model():
    def weigh(state):
        return [state.model.values["bar.mass"] * GRAVITY * LENGTH * np.sin(state.joint_angle("pin")), 0.0]

    model = held_arm(function=weigh).with_state(joints={"pin": 0.3})
    data = lgint.sweep(
        model,
        {"bar.mass": [1.0, 3.0]},
        "rk44",
        t_end=0.1,
        h=0.01,
        observables={"end": lambda run: run.joint_angle("pin")[-1]},
    )
    np.testing.assert_allclose(data["end"], 0.3, atol=1e-14)  # the weight is balanced


@pytest.mark.parametrize("every", EVERY)
@pytest.mark.parametrize("method", ["genalpha", "rk44"])
def test_a_failing_function_leaves_the_state(method, every):
    trouble = []

    def fails(state):
        if trouble and state.t > 0.035:
            raise ZeroDivisionError("no")
        return pid(state)

    model = held_arm("R3xSO3", fails, every=every)
    whole = lgint.integrate(model, method, t_end=0.06, h=0.01)
    trouble.append(1)
    with pytest.raises(ZeroDivisionError) as failure:
        lgint.integrate(model, method, t_end=0.06, h=0.01)
    error = failure.value
    assert error.report["t"] == pytest.approx(0.04 if every else 0.03)
    notes = getattr(error, "__notes__", ["This is the function of control pid at t = 0.04"])
    assert notes[0].startswith("This is the function of control pid at t = 0.0")
    np.testing.assert_array_equal(error.trajectory.q, whole.q[: len(error.trajectory)])
    stepper = lgint.Stepper(model, method)
    for _ in range(3):
        stepper.step(0.01)
    with pytest.raises(ZeroDivisionError):
        stepper.step(0.01)
    np.testing.assert_array_equal(stepper.v, whole.v[3])
    trouble.clear()
    for _ in range(3):
        stepper.step(0.01)
    np.testing.assert_array_equal(stepper.v, whole.v[-1])
    rest = lgint.integrate(model, method, t_end=0.06, h=0.01, start=error.trajectory)
    np.testing.assert_array_equal(rest.v[-1], whole.v[-1])


def test_tables_name_states_of_controls():
    pytest.importorskip("pandas")
    model = held_arm("R3xSO3")
    run = lgint.integrate(model, "rk44", t_end=0.02, h=0.01)
    table = run.to_pandas()
    np.testing.assert_array_equal(table["v", "pid.integral", ""], run.control("pid").states["integral"])
    np.testing.assert_array_equal(table["vdot", "pid.integral", ""], run.vdot[:, -1])
    assert "" not in {name for quantity, name, _ in table.columns if quantity in ("q", "v", "vdot")}


@pytest.mark.parametrize("formulation", ["minimal", "R3xSO3", "euler_parameters"])
def test_a_control_is_an_output_of_a_linear_system(formulation):
    """Of its function 30 (1 - angle) - 6 rate + 20 z and z, in the order of the function's values."""
    model = held_arm(formulation)
    rest = model.with_state(lgint.equilibrium(model)).state()
    values = [("control", "pid"), ("joint_angle", "pin"), ("joint_rate", "pin")]
    lin = lgint.linearize(rest, inputs=[("joint", "pin")], outputs=values)
    assert lin.output_names[:2] == ["control pid[0]", "control pid[1]"]
    effort, z, angle, rate = lin.C
    np.testing.assert_allclose(effort, -30 * angle - 6 * rate + 20 * z, rtol=0, atol=1e-6)
    np.testing.assert_allclose(z, [name == "pid.integral" for name in lin.state_names], rtol=0, atol=1e-9)
    np.testing.assert_allclose(lin.D_feed, 0, rtol=0, atol=1e-9)


def test_events_see_controls():
    model = held_arm()
    event = lambda state: state.control("pid").states["integral"] - 0.1  # noqa: E731
    run = lgint.integrate(model, "dopri5", t_end=1.0, events=event, **OPTIONS)
    assert run.sol is None
    (found,) = run.t_events[0]
    assert reference(found)[2] == pytest.approx(0.1, abs=1e-6)


# ---- what is refused ----


@pytest.mark.parametrize("method", MOMENTUM)
def test_methods_that_conserve_refuse_controls_by_name(method):
    b = bodies("euler_parameters", roll_bar, joints=["left arm", "right arm"])
    with pytest.raises(ValueError, match=f"{method} does not support controls, such as bar"):
        lgint.integrate(b.build(start="project"), method, t_end=0.1, h=0.01)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"joints": ["pim"]}, "joint of control 'c' 'pim' .did you mean 'pin'"),
        ({"joints": ["pin.slide"]}, "joint 'pin' is revolute and has no slide"),
        ({"bodies": ["baz"]}, "did you mean 'bar'"),
        ({"bodies": [lgint.ground]}, "a body expected, got the ground"),
        ({"joints": ["pin", "pin.angle"]}, "each joint once"),
        ({"joints": "pin", "every": 0.0}, "every of control 'c': .*positive"),
        ({"joints": "pin", "every": -1.0}, "every of control 'c': .*positive"),
        ({"joints": "pin", "reads": 3}, "reads of control 'c': a list of names"),
        ({"joints": "pin", "states": ["x", "x"]}, "each name once"),
        ({"joints": "pin", "states": {"x": np.inf}}, "state 'x' of control 'c'"),
        ({"joints": "pin", "tangent": 3}, "tangent of control 'c'"),
        ({"joints": "pin", "every": 0.1, "reads": ["pin"]}, "reads of control 'c': .*held"),
        ({}, "neither acts nor has states"),
    ],
)
def test_bad_arguments_are_named(given, message):
    with pytest.raises(ValueError, match=message):
        arm().add_control(lambda state: [0.0], name="c", **given)


def test_what_is_read_is_checked_when_the_model_is_built():
    b = arm()
    b.add_control(pid, joints="pin", states=["integral"], reads=["pn"], name="pid")
    with pytest.raises(ValueError, match="reads of control 'pid' 'pn' .did you mean 'pin'"):
        b.build()


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([1.0, 2.0, 3.0], r"returned by the function of control pid must have shape \(2,\), given \(3,\)"),
        (1.0, "must have shape"),
        ("text", "returned by the function of control pid"),
    ],
)
def test_what_a_function_returns_is_checked(value, message):
    model = held_arm(function=lambda state: value)
    with pytest.raises(ValueError, match=message):
        lgint.integrate(model, "rk44", t_end=0.1, h=0.1)


@pytest.mark.parametrize("method", ["genalpha", "rk44"])
def test_values_that_are_not_finite_fail_the_step_by_name(method):
    def turns_bad(state):
        return [np.inf if state.t > 0.035 else 0.0, 0.0]

    with pytest.raises(lgint.ConvergenceError, match="pid") as failure:
        lgint.integrate(held_arm(function=turns_bad), method, t_end=0.1, h=0.01)
    assert failure.value.trajectory.t[-1] == pytest.approx(0.03)
    with pytest.raises(ValueError, match="must be finite, but its value at index 0 is inf"):
        lgint.integrate(held_arm(function=turns_bad, every=0.01), method, t_end=0.1, h=0.01)


@pytest.mark.parametrize("formulation", ["minimal", "R3xSO3"])
def test_a_relay_that_stops_newton_is_suspected(formulation):
    def relay(state):
        return [-60 * np.sign(state.joint_angle("pin") - 0.02) - 30 * np.sign(state.joint_rate("pin")), 0.0]

    model = held_arm(formulation, relay).with_state(joints={"pin": 0.5}, rates={"pin": 1.0})
    with pytest.raises(lgint.ConvergenceError, match="the law pid jumps near this state"):
        lgint.integrate(model, "genalpha", t_end=1.0, h=0.01)


def test_a_tangent_is_checked():
    def wide(state):
        return np.ones((2, 2, state.model.nv))

    with pytest.raises(ValueError, match="tangent of control 'pid': derivatives that are not zero by velocities"):
        lgint.integrate(held_arm("R3xSO3", tangent=wide, reads=[]), "genalpha", t_end=0.1, h=0.1)
    with pytest.raises(ValueError, match="returned by the tangent of control pid must have shape"):
        lgint.integrate(held_arm(tangent=lambda state: [1.0]), "genalpha", t_end=0.1, h=0.1)


def test_inside_a_function_there_are_no_forces():
    def looks(state):
        with pytest.raises(AttributeError, match="efforts of control 'pid'"):
            state.control("pid").efforts  # noqa: B018
        with pytest.raises(AttributeError, match="vdot"):
            state.vdot  # noqa: B018
        return pid(state)

    lgint.integrate(held_arm(function=looks), "rk44", t_end=0.01, h=0.01)
    state = held_arm().state()
    with pytest.raises(ValueError, match="did you mean 'pid'"):
        state.control("pd")
    with pytest.raises(ValueError, match=r"control\('pid'\).efforts gives them"):
        state.force("pid")


@pytest.mark.parametrize("formulation", ["minimal", "R3xSO3"])
def test_a_control_that_evaluates_its_own_model_is_refused_by_name(formulation):
    def computed(state):
        return state.model.inverse_dynamics(state.q, state.v, 0 * state.v, state.t, actuators=["pin"])

    b = arm(formulation)
    b.add_control(computed, joints="pin", name="computed")
    model = b.build()
    with pytest.raises(
        ValueError, match="the function of computed at t = 0.0: .* calls it again: .* `every=`"
    ) as failure:
        lgint.integrate(model, "rk44", t_end=0.1, h=0.01)
    assert len(getattr(failure.value, "__notes__", [""])) == 1  # not one for each call
