"""Derivatives of runs by parameters where sampled controls hold their values from one call to the next."""

import numpy as np
import pytest
from scipy.linalg import expm

import lgint
from methods.test_gradients import Weighted, difference_to_forward
from methods.test_sensitivities import distance
from methods.test_sensitivities_in_runs import SHARP, agree, by_differences

MASS, STIFFNESS, PERIOD, SAMPLES = 1.3, 7.0, 0.05, 12
PLACE = {"mass": MASS, "inertia": (0.1, 0.1, 0.1), "position": (0.4, 0, 0)}


def slide(control, **given):
    """A mass on a slide with a spring to its start, and a sampled control of its force."""
    builder = lgint.ModelBuilder(formulation="minimal")
    builder.add_body("cart", **PLACE)
    builder.add_joint("prismatic", lgint.ground, "cart", point=(0, 0, 0), axis=(1, 0, 0), name="rail", rate=0.7)
    builder.add_joint_drive("rail", stiffness=STIFFNESS, name="spring")
    builder.add_control(control, joints="rail", every=PERIOD, name="loop", **given)
    return builder.build()


def proportional(state):
    return [6 * (0.5 - state.joint_position("rail")) - 2 * state.joint_rate("rail")]


def sampled_map(mass, stiffness, rate):
    """Position and velocity of the cart after all periods, by exponentials of matrices."""
    flow = expm(PERIOD * np.array([[0, 1, 0], [-stiffness / mass, 0, 1 / mass], [0, 0, 0]]))
    x = np.array([0.0, rate])
    for _ in range(SAMPLES):
        force = 6 * (0.5 - x[0]) - 2 * x[1]
        x = (flow @ [*x, force])[:2]
    return x


def test_a_mass_on_a_slide_has_the_derivatives_of_its_discrete_map():
    names, at = ["cart.mass", "spring.stiffness", "start.rail.rate"], np.array([MASS, STIFFNESS, 0.7])
    run = lgint.integrate(slide(proportional), "rk67", t_end=SAMPLES * PERIOD, h=PERIOD / 5, sensitivity=names)
    assert np.allclose([run.q[-1, 0], run.v[-1, 0]], sampled_map(*at), rtol=0, atol=1e-12)
    for k, unit in enumerate(np.eye(3)):
        step = 1e-2 * unit
        points = [sampled_map(*(at + i * step)) for i in (-2, -1, 1, 2)]
        exact = np.array([1, -8, 8, -1]) @ points / 12e-2
        found = run.sensitivity.dq[-1, 0, k], run.sensitivity.dv[-1, 0, k]
        assert np.allclose(found, exact, rtol=0, atol=1e-8)


def integral(state):
    """A nonlinear law with a state of its own."""
    x, angle = state.control("loop").states["x"], state.joint_angle("pin")
    return [5 * np.sin(1 - angle) - 0.3 * state.joint_rate("pin") ** 3 + 20 * x, x + 0.02 * (1 - angle)]


def arm(formulation):
    builder = lgint.ModelBuilder(gravity=(0, 0, -9.81), formulation=formulation)
    builder.add_body("arm", mass=0.8, inertia=(0.02, 0.02, 0.03), position=(0.3, 0, 0))
    builder.add_joint("revolute", lgint.ground, "arm", point=(0, 0, 0), axis=(0, 1, 0), name="pin")
    builder.add_control(integral, joints="pin", states={"x": 0.3}, every=0.02, name="loop")
    return builder.build(redundant="drop")


@pytest.mark.parametrize("formulation", ["R3xSO3", "minimal"])
@pytest.mark.parametrize(
    ("method", "sharp"),
    [("genalpha", SHARP), ("hht", SHARP), ("radau3", {"newton_rtol": 1e-12}), ("herk4", {}), ("rk44", {})],
)
def test_methods_agree_with_differences(method, sharp, formulation):
    model, given = arm(formulation), {"t_end": 0.1, "h": 4e-3}
    given |= {"index": "stabilized"} if method == "genalpha" else {}
    run = lgint.integrate(model, method, **given, sensitivity=["arm.mass", "gravity[2]"])
    agree(model, run, lambda other: lgint.integrate(other, method, **given, **sharp))


def test_a_resumed_run_goes_on_with_the_derivatives_of_held_values():
    model, names = arm("minimal"), ["arm.mass", "start.pin.rate"]
    given = {"h": 4e-3, "sensitivity": names}
    whole = lgint.integrate(model, "rk44", t_end=0.1, **given)
    part = lgint.integrate(model, "rk44", t_end=0.048, **given)
    rest = lgint.integrate(model, "rk44", t_end=0.1, h=4e-3, start=part)
    assert np.array_equal(rest.sensitivity.dv[-1], whole.sensitivity.dv[-1])


WAYS = [("genalpha", {}), ("hht", {}), ("radau3", {}), ("herk4", {}), ("rk44", {}), ("dopri5", {"rtol": 1e-7})]
NUMBERS, SEEN = ["arm.mass", "gravity[2]", "start.pin.rate"], [("position", "arm"), ("angular_velocity", "arm")]


@pytest.mark.parametrize("formulation", ["R3xSO3", "minimal"])
@pytest.mark.parametrize(("method", "options"), WAYS)
def test_derivatives_go_back_over_samples(method, options, formulation):
    """The control is differentiated by central differences along other directions than forwards."""
    given = {"t_end": 0.1, "h": 4e-3, **options}
    assert difference_to_forward(arm(formulation), method, NUMBERS, SEEN, **given) < 1e-10


def test_linear_controls_go_back_to_round_off():
    names, outputs = ["cart.mass", "spring.stiffness", "start.rail.rate"], [("joint_position", "rail")]
    found = difference_to_forward(slide(proportional), "rk67", names, outputs, t_end=SAMPLES * PERIOD, h=PERIOD / 5)
    assert found < 5e-12


def test_checkpoints_hold_what_goes_back_to_held_values(tmp_path):
    given = {"outputs": SEEN, "t_end": 0.1, "h": 4e-3}
    kept, on_disk = (
        lgint.gradient(arm("minimal"), "genalpha", Weighted(), NUMBERS, checkpoints=folder, **given)[1]
        for folder in (None, tmp_path)
    )
    assert np.array_equal(kept, on_disk)


def pushed_ball():
    """A ball under a sampled thrust, which has a state of its own."""
    builder = lgint.ModelBuilder(gravity=(0, 0, -9.81))
    builder.add_body("ball", mass=0.7, inertia=(1e-3, 1e-3, 1e-3), position=(0, 0, 0.1))

    def thrust(state):
        z, x = state.position("ball")[2], state.control("loop").states["x"]
        return [0, 0, 3 - 2 * z - 0.8 * state.velocity("ball")[2] + 40 * x, 0, 0, 0, x + 0.02 * np.sin(0.1 - z)]

    builder.add_control(thrust, bodies="ball", states={"x": 0.01}, every=0.03, name="loop")
    return builder.build()


def height(state):
    return state.position("ball")[2]


def above_what_is_held(state):
    """Lower by what the control remembers."""
    return height(state) - 0.3 * state.control("loop").states["x"]


def at_a_sample(state):
    return state.t - 0.15


def bounces(state):
    return state.after_impact(("ball", (0, 0, 0), (0, 0, 1)), restitution=0.8)


def slows_by_what_is_held(state):
    """Stops the fall, and lets the control begin anew."""
    speed = (0.3 + state.control("loop").states["x"]) * np.abs(state.v)
    return state.model.state(t=state.t, q=state.q, v=speed)


STRUCK = [
    {"function": height, "direction": -1, "action": bounces},
    {"function": above_what_is_held, "direction": -1, "action": bounces},
    {"function": height, "direction": -1, "action": slows_by_what_is_held},
    {"function": at_a_sample, "action": slows_by_what_is_held},
    {"function": at_a_sample, "action": bounces, "terminal": True},
    {"function": height, "direction": -1, "terminal": True},
]
OF_BALL = ["ball.mass", "gravity[2]", "start.ball.velocity[2]"]


@pytest.mark.parametrize("event", STRUCK[:4])
def test_values_are_held_through_an_action(event):
    """Between two samples, or at one, where the control is called before the action."""
    model, given = pushed_ball(), {"t_end": 0.3, "h": 2e-3, "events": lgint.event(**event)}
    run = lgint.integrate(model, "rk44", **given, sensitivity=OF_BALL[:2])
    assert len(run.t_events[0]) >= 1 and np.abs(run.sensitivity.dmem[-1]).max() > 0.1
    for k, name in enumerate(OF_BALL[:2]):
        q, v = by_differences(model, name, lambda other: lgint.integrate(other, "rk44", t_eval=[0.3], **given), None)
        assert distance(run.sensitivity.dq[-1:, :, k], q) < 1e-7
        assert distance(run.sensitivity.dv[-1:, :, k], v) < 1e-7


@pytest.mark.parametrize(
    ("method", "event"),
    [("genalpha", event) for event in STRUCK] + [("radau5", STRUCK[2]), ("dopri5", STRUCK[1]), ("dop853", STRUCK[1])],
)
def test_derivatives_go_back_through_actions_with_held_values(method, event):
    given = {
        "t_end": 0.3,
        "events": lgint.event(**event),
        **({"rtol": 1e-7} if method.startswith("dop") else {"h": 5e-3}),
    }
    seen = [("position", "ball"), ("acceleration", "ball"), ("power", "loop")]
    assert difference_to_forward(pushed_ball(), method, OF_BALL, seen, **given) < 1e-11


@pytest.mark.parametrize("event", STRUCK[1:5:2])
def test_checkpoints_hold_what_goes_back_through_actions(event, tmp_path):
    given = {"outputs": [("position", "ball")], "t_end": 0.3, "h": 5e-3, "events": lgint.event(**event)}
    kept, on_disk = (
        lgint.gradient(pushed_ball(), "genalpha", Weighted(), OF_BALL, checkpoints=folder, **given)[1]
        for folder in (None, tmp_path)
    )
    assert np.array_equal(kept, on_disk)


def test_states_between_actions_need_not_be_saved():
    """A sample at the time of an action counts where the cost does not see the state between both."""
    event, cost = lgint.event(**STRUCK[3]), Weighted()
    given = {"t_end": 0.3, "h": 5e-3, "events": event, "stops": [0.1]}
    outputs = [("position", "ball")]
    _, found, run = lgint.gradient(pushed_ball(), "rk44", cost, OF_BALL, outputs=outputs, every_state=False, **given)
    assert run.t.tolist() == [0.1, 0.3]
    forward = lgint.integrate(pushed_ball(), "rk44", sensitivity=OF_BALL, **given)
    slopes = forward.derivative("position", "ball")[np.isin(forward.t, run.t)]
    np.testing.assert_allclose(found, np.einsum("ni,nip->p", cost.weights[0], slopes), rtol=1e-9)


def test_what_has_no_derivatives_is_refused_by_name():
    calls, given = [], {"t_end": 0.1, "h": 0.01}

    def counts(state):
        calls.append(state.t)
        return [float(len(calls))]

    with pytest.raises(ValueError, match=r"control 'loop' returns other values .* states of the control"):
        lgint.integrate(slide(counts), "rk44", **given, sensitivity=["cart.mass"])


@pytest.mark.parametrize("given", [{}, {"t_eval": [0.0, 0.03, 0.05, 0.085, 0.1]}])
def test_accessors_of_held_values_have_derivatives(given, tmp_path):
    """At samples, between them and, with t_eval, inside steps; the power is the held force times the rate."""
    model, names, given = slide(proportional), ["cart.mass", "spring.stiffness"], {"t_end": 0.1, "h": 0.01, **given}
    run = lgint.integrate(model, "rk44", **given, sensitivity=names)
    run.save(tmp_path / "run.npz")
    rate, force = run.joint_rate("rail"), run.power("loop") / run.joint_rate("rail")
    for k, (name, value) in enumerate(zip(names, (MASS, STIFFNESS), strict=True)):
        runs = [lgint.integrate(model.with_parameters(**{name: value + x}), "rk44", **given) for x in (1e-4, -1e-4)]
        expected = (runs[0].power("loop") - runs[1].power("loop")) / 2e-4
        for each in (run, lgint.load(tmp_path / "run.npz")):
            assert distance(each.derivative("power", "loop")[:, k], expected) < 1e-7
        found = run.sensitivity.dmem[:, 1, k] * rate + force * run.derivative("joint_rate", "rail")[:, k]
        assert distance(found, expected) < 1e-7


def test_files_without_derivatives_of_held_values_are_refused(tmp_path):
    path = tmp_path / "run.npz"
    lgint.integrate(slide(proportional), "rk44", t_end=0.1, h=0.01, sensitivity=["cart.mass"]).save(path)
    with np.load(path) as file:
        arrays = dict(file)
    np.savez(path, **{**arrays, "derivatives": arrays["derivatives"][:, :3]})
    with pytest.raises(ValueError, match="lacks the derivatives of the values that sampled controls hold"):
        lgint.load(path)
