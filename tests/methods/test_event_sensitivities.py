"""Derivatives of runs by parameters, through events that act on the state or end the run."""

import numpy as np
import pytest

import lgint
from lgint._state.state import Independent, State
from methods.test_alpha_by_complex import SPRUNG, sprung_crank
from methods.test_gradients import Weighted, difference_to_forward
from methods.test_sensitivities import STENCIL, distance, dragged
from methods.test_sensitivities_in_runs import by_differences

UP = (0, 0, 1)
GRAVITY, HEIGHT, BOUNCE = 9.81, 1.0, 0.8
NAMES = ["gravity[2]", "start.ball.position[2]"]


def ball(speed=0.0):
    builder = lgint.ModelBuilder(gravity=(0, 0, -GRAVITY))
    inertia = (1e-3, 1e-3, 1e-3)
    builder.add_body("ball", mass=0.7, inertia=inertia, position=(0, 0, HEIGHT), velocity=(0.3, 0, speed))
    return builder.build()


def bounces(state):
    return state.after_impact(("ball", (0, 0, 0), UP), restitution=BOUNCE)


def floor(action=bounces, **attributes):
    return lgint.event(lambda state: state.position("ball")[2], direction=-1, action=action, **attributes)


def after_bounces(gravity, height, t, count):
    """Height and speed of a ball that has bounced so often."""
    hit, speed = np.sqrt(2 * height / gravity), np.sqrt(2 * gravity * height)
    for i in range(count):
        speed *= BOUNCE
        hit += 2 * speed / gravity if i < count - 1 else 0
    return np.array([speed * (t - hit) - gravity * (t - hit) ** 2 / 2, speed - gravity * (t - hit)])


def slopes_after_bounces(t, count):
    """The derivatives of both by the third entry of gravity, and by the height."""
    found = np.zeros((2, 2))
    for s, w in STENCIL:
        found[:, 0] -= w / 1e-3 * after_bounces(GRAVITY + s * 1e-3, HEIGHT, t, count)
        found[:, 1] += w / 1e-3 * after_bounces(GRAVITY, HEIGHT + s * 1e-3, t, count)
    return found


def vertical(run, row=-1):
    return np.array([run.derivative(name, "ball")[row, 2] for name in ("position", "velocity")])


@pytest.mark.parametrize(
    ("method", "options"),
    [
        ("genalpha", {"h": 0.02}),
        ("newmark", {"h": 0.02}),
        ("radau5", {"h": 0.05}),
        ("herk4", {"h": 0.02}),
        ("dopri5", {"rtol": 1e-6}),
        ("dop853", {"rtol": 1e-6}),
    ],
)
def test_a_bouncing_ball_has_the_derivatives_of_the_closed_form(method, options):
    run = lgint.integrate(ball(), method, t_end=1.9, events=floor(), sensitivity=NAMES, **options)
    assert len(run.t_events[0]) == 3
    assert run.position("ball")[-1, 2] == pytest.approx(after_bounces(GRAVITY, HEIGHT, 1.9, 3)[0], abs=1e-11)
    expected = slopes_after_bounces(1.9, 3)
    np.testing.assert_allclose(vertical(run), expected, rtol=0, atol=1e-11 * np.abs(expected).max())


def test_both_rows_of_an_action_have_derivatives_at_its_time():
    run = lgint.integrate(ball(), "genalpha", t_end=0.5, h=0.02, events=floor(), sensitivity=NAMES)
    (hit,) = run.t_events[0]
    before, after = np.flatnonzero(run.t == hit)
    np.testing.assert_allclose(vertical(run, before), [[hit**2 / 2, 1], [hit, 0]], rtol=0, atol=1e-11)
    np.testing.assert_allclose(vertical(run, after), slopes_after_bounces(hit, 1), rtol=0, atol=1e-9)
    np.testing.assert_allclose(run.sensitivity.dvdot[after, 2], [1, 0], rtol=0, atol=1e-11)


def slab():
    """A slab that turns and hits the ground with its ends."""
    builder = lgint.ModelBuilder(gravity=(0, 0, -GRAVITY))
    start = {"position": (0, 0, 0.6), "velocity": (0.4, 0.1, 0), "angular_velocity": (0.3, 2.0, 1.0)}
    turn = lgint.groups.so3.exp(np.array([0.2, 0.5, 0]))
    builder.add_body("slab", mass=0.7, inertia=np.diag([2e-2, 3e-2, 2e-2]), rotation=turn, **start)
    shapes = [("sphere", (0.3, 0, 0), 0.05), ("plane", (0, 0, 0), UP)]
    builder.add_contact("slab", lgint.ground, shapes=shapes, stiffness=0.0, name="end")
    return builder.build()


def end_hits():
    hits = lambda state: state.after_impact("end", restitution=0.7, tangential="stick")  # noqa: E731
    return lgint.event(lambda state: state.gap("end"), direction=-1, action=hits)


def arm():
    """An arm on a skew pin, with all its constraints, that hits a stop."""
    builder = lgint.ModelBuilder(gravity=(0, 0, -GRAVITY))
    builder.add_body("arm", mass=1.0, inertia=(0.1, 0.12, 0.03), position=(0.5, 0, 0))
    builder.add_joint("revolute", lgint.ground, "arm", point=(0, 0, 0), axis=(0, 1, 0.2), name="pin")
    return builder.build()


def arm_hits():
    tip = (0.5, 0, 0)
    hits = lambda state: state.after_impact(("arm", tip, UP), restitution=0.6)  # noqa: E731
    return lgint.event(lambda state: state.point("arm", tip)[2] + 0.7, direction=-1, action=hits)


STRUCK = {
    "slab": (slab(), end_hits(), ["slab.inertia[1,1]", "gravity[2]", "end.radius_a"]),
    "arm": (arm(), arm_hits(), ["arm.mass", "gravity[2]"]),
}
PARTS = ("dq", "dv")


@pytest.mark.parametrize(("model", "method"), [("slab", "dopri5"), ("arm", "radau5"), ("arm", "dop853")])
def test_impacts_agree_with_differences_of_runs(model, method):
    model, event, names = STRUCK[model]
    options = {"t_end": 0.8, "h": 0.005, "events": event}
    run = lgint.integrate(model, method, sensitivity=names, **options)
    assert len(run.t_events[0]) >= 1

    def again(other):
        return lgint.integrate(other, method, t_eval=[0.8], **options)

    for k, name in enumerate(names):
        q, v = by_differences(model, name, again, None)
        assert distance(run.sensitivity.dq[-1:, :, k], q) < 1e-7, name
        assert distance(run.sensitivity.dv[-1:, :, k], v) < 1e-7, name


@pytest.mark.parametrize(
    ("method", "options"), [("genalpha", {"index": 3}), ("genalpha", {"index": "stabilized"}), ("hht", {})]
)
@pytest.mark.parametrize("model", ["slab", "arm"])
def test_derivatives_after_impacts_have_the_order_of_the_method(model, method, options):
    """The steps after an event begin at its time, whose change with parameters their sizes do not follow."""
    model, event, names = STRUCK[model]
    given = {"t_end": 0.8, "events": event, "sensitivity": names}
    exact = lgint.integrate(model, "dopri5", h=0.002, **given)

    def errors(h):
        run = lgint.integrate(model, method, h=h, **given, **options)
        assert len(run.t_events[0]) == len(exact.t_events[0]) >= 1
        return [distance(getattr(run.sensitivity, part)[-1], getattr(exact.sensitivity, part)[-1]) for part in PARTS]

    coarse, fine = errors(0.01), errors(0.00125)
    assert max(fine) < 20 * 0.00125**2
    assert 1.85 < np.log(coarse[1] / fine[1]) / np.log(8) < 2.15  # of velocities; those of q hit a zero by chance


def test_an_event_that_ends_a_run_leaves_the_derivatives_at_its_time():
    event = floor(None, terminal=True)
    run = lgint.integrate(ball(), "genalpha", t_end=2, h=0.02, events=event, sensitivity=NAMES, dense_output=True)
    t = run.t[-1]
    assert run.status == 1 and t == pytest.approx(np.sqrt(2 * HEIGHT / GRAVITY), abs=1e-14)
    np.testing.assert_allclose(vertical(run), [[t**2 / 2, 1], [t, 0]], rtol=0, atol=1e-11)
    inside = run.at([t - 0.003])
    np.testing.assert_allclose(vertical(inside), [[(t - 0.003) ** 2 / 2, 1], [t - 0.003, 0]], rtol=0, atol=1e-10)
    further = lgint.integrate(ball(), "genalpha", t_end=2, h=0.02, start=run)
    np.testing.assert_allclose(vertical(further), [[2, 1], [2, 0]], rtol=0, atol=1e-10)


def test_an_event_within_a_long_step_has_the_derivatives_of_the_curve_of_the_method():
    """The curve between both ends of so long a step would be off by 1e-3."""
    model, given = slab(), {"t_end": 0.8, "h": 0.8}
    event = lgint.event(lambda state: state.t - 0.47, terminal=True)
    names = ["slab.inertia[1,1]", "slab.inertia[2,2]"]
    run = lgint.integrate(model, "dop853", events=event, sensitivity=names, **given)
    for k, name in enumerate(names):
        q, v = by_differences(model, name, lambda other: lgint.integrate(other, "dop853", t_eval=[0.47], **given), None)
        assert distance(run.sensitivity.dq[-1:, :, k], q) < 1e-9
        assert distance(run.sensitivity.dv[-1:, :, k], v) < 1e-9


@pytest.mark.parametrize("model", ["slab", "arm"])
def test_times_within_long_steps_have_the_derivatives_of_the_curve_of_the_method(model):
    model, _, names = STRUCK[model]
    times, given = [0.0, 0.1, 0.4, 0.47, 0.8], {"t_end": 0.8, "h": 0.4}
    run = lgint.integrate(model, "dop853", t_eval=times, sensitivity=names[:2], **given)
    dense = lgint.integrate(model, "dop853", dense_output=True, sensitivity=names[:2], **given).at(times)
    for k, name in enumerate(names[:2]):
        q, v = by_differences(model, name, lambda other: lgint.integrate(other, "dop853", t_eval=times, **given), None)
        for found in (run.sensitivity, dense.sensitivity):
            assert distance(found.dq[..., k], q) < 1e-9
            assert distance(found.dv[..., k], v) < 1e-9


def test_a_run_that_is_resumed_between_impacts_has_the_bits_of_one_run(tmp_path):
    options = {"h": 0.02, "events": floor()}
    whole = lgint.integrate(ball(), "genalpha", t_end=1.5, stops=[0.8], sensitivity=NAMES, **options)
    half = lgint.integrate(ball(), "genalpha", t_end=0.8, sensitivity=NAMES, **options)
    half.save(tmp_path / "half.npz")
    rest = lgint.integrate(ball(), "genalpha", t_end=1.5, start=lgint.load(tmp_path / "half.npz"), **options)
    for part in ("dq", "dv", "dvdot"):
        np.testing.assert_array_equal(
            getattr(rest.sensitivity, part), getattr(whole.sensitivity, part)[len(half) - 1 :]
        )


# ---- bristles ----

DRAGGED = ["touch.bristle_damping", "touch.radius_a", "ball.mass", "bar.mass"]


def passes(action):
    """A ball that slides on bristles passes a place, where the run ends without an action."""
    return lgint.event(lambda state: state.position("ball")[0] - 0.012, action=action, terminal=action is None)


def is_hit(state):
    return state.after_impact(("ball", (0, 0, 0), (-1, 0, 0)), restitution=0.5)


def begins_anew(state):
    return state.model.state(t=state.t, q=state.q, v=-0.5 * state.v)


@pytest.mark.parametrize("action", [begins_anew, is_hit, lambda state: state])
def test_bristles_through_events_agree_with_differences_of_runs(action):
    """They stick where the ball turns back, until they slide again."""
    model, given = dragged("R3xSO3"), {"t_end": 0.022, "h": 1.25e-5, "events": passes(action)}
    names = ["gravity[0]"]
    run = lgint.integrate(model, "genalpha", sensitivity=names, **given)
    found, point = run.sensitivity, slice(11, 14)
    assert len(run.t_events[0]) == 1
    for k, name in enumerate(names):
        step = 1e-4 * model.values[name]
        others = (model.with_parameters(**{name: model.values[name] + s}) for s in (-step, step))
        less, more = (lgint.integrate(other, "genalpha", **given).end for other in others)
        q, v = model.core.difference(less["q"], more["q"]), more["v"] - less["v"]
        assert distance(found.dq[-1:, :, k], q / (2 * step)) < 2e-4
        assert distance(found.dv[-1:, :, k], v / (2 * step)) < 2e-4
        bent = (more["mem"] - less["mem"])[:, point] / (2 * step)
        assert distance(found.dmem[-1:, point, k], bent) < 2e-3


def test_the_memory_of_bristles_where_an_event_ends_a_run():
    """It is that after a shorter step to this time."""
    model, h = dragged("SE3"), 2e-4
    run = lgint.integrate(model, "radau5", t_end=0.04, h=h, events=passes(None), sensitivity=DRAGGED)
    before = lgint.integrate(model, "radau5", t_end=run.t[-2], h=h, sensitivity=DRAGGED)
    stopped = lgint.integrate(model, "radau5", t_end=run.t[-1], h=h, start=before)
    np.testing.assert_allclose(run.mem[-1], stopped.mem[-1], rtol=0, atol=1e-9)
    for part, size in ("dq", 1e-8), ("dv", 1e-7), ("dmem", 1e-6):
        found, expected = (getattr(each.sensitivity, part)[-1] for each in (run, stopped))
        assert np.all(np.abs(found - expected) < size * np.abs(expected).max(axis=0))


@pytest.mark.parametrize(
    ("method", "formulation", "action"),
    [
        ("genalpha", "R3xSO3", is_hit),
        ("genalpha", "minimal", None),
        ("radau5", "SE3", begins_anew),
        ("dopri5", "SE3", is_hit),
        ("dop853", "R3xSO3", is_hit),
        ("dop853", "SE3", None),
        ("herk4", "minimal", lambda state: state),
    ],
)
def test_bristles_through_events_backwards(method, formulation, action):
    outputs = [("position", "ball"), ("velocity", "ball"), ("power", "touch")]
    given = {"t_end": 0.04, "h": 2e-4, "events": passes(action)}
    assert difference_to_forward(dragged(formulation), method, DRAGGED[:3], outputs, **given) < 1e-10


# ---- backwards ----

SEEN = [("position", "ball"), ("velocity", "ball"), ("acceleration", "ball")]
WEIGHED = [*NAMES, "ball.mass"]


@pytest.mark.parametrize(
    ("method", "options"),
    [
        ("genalpha", {"h": 0.02}),
        ("radau5", {"h": 0.05}),
        ("dopri5", {"rtol": 1e-6}),
        ("herk4", {"h": 0.02}),
    ],
)
@pytest.mark.parametrize("attributes", [{}, {"terminal": 2}, {"action": None, "terminal": True}])
def test_bounces_backwards_agree_with_forward_derivatives(method, options, attributes):
    given = {"t_end": 1.9, "events": floor(**attributes), **options}
    assert difference_to_forward(ball(0.2), method, WEIGHED, SEEN, **given) < 1e-12


@pytest.mark.parametrize(
    ("model", "method"),
    [
        ("slab", "genalpha"),
        ("arm", "herk3"),
        ("arm", "radau5"),
        ("arm", "genalpha"),
        ("arm", "dop853"),
    ],
)
def test_impacts_backwards_agree_with_forward_derivatives(model, method):
    """Differences along coordinates and along derivatives have other round-off."""
    body, (model, event, names) = model, STRUCK[model]
    outputs = [("position", body), ("angular_velocity", body)]
    given = {"t_end": 0.8, "h": 0.01, "events": event}
    assert difference_to_forward(model, method, names, outputs, **given) < 2e-12


STOP, SPRUNG_NAMES = 0.225, ["rod.mass", "B.point_b[0]", *SPRUNG]


def crank_stops(action):
    """A slider-crank whose slider, held by links of 8 and 30 cm, hits a stop."""
    return lgint.event(lambda state: state.position("slider")[0] - STOP, action=action, terminal=action is None)


def slider_hits(state):
    return state.after_impact(("slider", (0, 0, 0), (-1, 0, 0)), restitution=0.6)


def turns_back(state):
    return state.model.state(t=state.t, q=state.q, v=-BOUNCE * state.v)


@pytest.mark.parametrize(
    ("method", "options", "action"),
    [
        ("genalpha", {}, None),
        ("genalpha", {}, slider_hits),
        ("genalpha", {"index": 2}, slider_hits),
        ("genalpha", {"index": "stabilized"}, turns_back),
        ("newmark", {}, turns_back),
        ("radau5", {}, slider_hits),
        ("dop853", {"project": "velocity"}, slider_hits),
    ],
)
def test_stops_of_a_slider_crank_backwards(method, options, action):
    """A damping of the spring, a length of a link and a mass have terms of other sizes, each of which is compared."""
    outputs = [("position", "slider"), ("angular_velocity", "rod")]
    given = {"t_end": 0.12, "h": 0.01, "events": crank_stops(action), **options}
    assert difference_to_forward(sprung_crank(), method, SPRUNG_NAMES, outputs, **given) < 1e-12


@pytest.mark.parametrize("index", [3, 2, "stabilized"])
def test_velocities_that_turn_back_have_the_derivatives_of_the_closed_form(index):
    """Where v becomes -e v at a place of the slider, at whose time t* the coordinates are those before."""
    options = {"index": index, "t_end": 0.1, "h": 0.01, "events": crank_stops(turns_back)}
    run = lgint.integrate(sprung_crank(), "genalpha", sensitivity=SPRUNG_NAMES, **options)
    before, after = np.flatnonzero(run.t == run.t_events[0][0])
    found = run.sensitivity
    place = run.state(before).jacobian("slider")[0]
    dt = -(place @ found.dq[before]) / (place @ run.v[before])
    a, b = (run.state(row).accelerations()[0] for row in (before, after))
    q = found.dq[before] + np.outer(run.v[before] - run.v[after], dt)
    v = -BOUNCE * (found.dv[before] + np.outer(a, dt)) - np.outer(b, dt)
    for slopes, expected in ((found.dq[after], q), (found.dv[after], v)):
        assert np.all(np.abs(slopes - expected) <= 1e-11 * np.abs(expected).max(0))


@pytest.mark.parametrize("end", [0.1, 0.3])  # at a kink of the load, and at a stop
def test_an_action_at_the_end_of_a_step_backwards(end):
    builder = lgint.ModelBuilder(gravity=(0, 0, -GRAVITY))
    builder.add_body("ball", mass=0.7, inertia=(1e-3, 1e-3, 1e-3), position=(0, 0, HEIGHT), velocity=(0.3, 0, 0))
    builder.add_force("ball", force=([0, 0.1, 0.5, 1], [[0, 0, 0], [0, 0, 3], [0, 0, -2], [0, 0, 1]]), name="push")
    brake = lambda state: state.model.state(t=state.t, q=state.q, v=0.5 * state.v)  # noqa: E731
    event = lgint.event(lambda state: state.t - end, action=brake)
    given = {"t_end": 0.6, "h": 0.02, "stops": [0.3], "events": event}
    names = ["ball.mass", "gravity[2]"]
    assert difference_to_forward(builder.build(), "genalpha", names, SEEN, **given) < 1e-13


def test_checkpoints_of_every_flight_give_the_bits_of_a_tape(tmp_path, monkeypatch):
    def found(**given):
        options = {"t_end": 1.9, "h": 0.02, "events": floor(), "outputs": SEEN, **given}
        return lgint.gradient(ball(), "genalpha", Weighted(), WEIGHED, **options)[1]

    kept, on_disk = found(), found(checkpoints=tmp_path)
    monkeypatch.setattr("lgint._run.gradient._TAPE", 1e4)
    np.testing.assert_array_equal(on_disk, kept)
    np.testing.assert_array_equal(found(), kept)


def test_only_stops_and_the_end_are_seen_through_events():
    given = {"t_end": 1.9, "h": 0.02, "events": floor(), "stops": [0.3, 1.2]}
    cost = Weighted()
    _, found, run = lgint.gradient(ball(), "genalpha", cost, NAMES, outputs=SEEN[:1], every_state=False, **given)
    assert run.t.tolist() == [0.3, 1.2, 1.9]
    forward = lgint.integrate(ball(), "genalpha", sensitivity=NAMES, **given)
    slopes = forward.derivative("position", "ball")[np.isin(forward.t, run.t)]
    np.testing.assert_allclose(found, np.einsum("ni,nip->p", cost.weights[0], slopes), rtol=1e-10)


# ---- what is refused ----


def failing(match, model=None, error=ValueError, method="genalpha", **options):
    with pytest.raises(error, match=match) as caught:
        lgint.integrate(model or ball(), method, t_end=0.9, h=0.01, sensitivity=NAMES, **options)
    return caught.value


def test_an_event_that_only_touches_its_zero_ends_the_run():
    top = 2.0 / GRAVITY

    def height(state):
        return state.position("ball")[2] - HEIGHT - top + 1e-13

    options = {"events": lgint.event(height, action=lambda state: state), "stops": [top]}
    error = failing("event height: at t = 0.2038.* only touches", ball(2.0), lgint.IntegrationError, **options)
    assert error.trajectory.t[-1] == pytest.approx(top, abs=1e-6) and error.trajectory.sensitivity.dq.shape[2] == 2
    assert len(lgint.integrate(ball(2.0), "genalpha", t_end=0.9, h=0.01, **options).t_events[0]) == 2


def test_what_events_cannot_do_is_refused_by_name():
    own = ball()
    fixed = floor(lambda state: own.state(t=state.t, q=state.q, v=-state.v))
    failing("act at the same time", own, events=[floor(lambda state: state), floor()])
    failing("with states of models with other values", own, events=fixed)
    failing("t_eval: derivatives are known at steps only", events=floor(), t_eval=[0.5])
    low = own.with_state(q=own.q0 - np.array([0, 0, HEIGHT, *np.zeros(len(own.q0) - 3)]), v=own.v0 - np.eye(6)[2])
    failing("starts at the zero", low, events=floor())
    bent = lambda state: State(Independent(state.model, state.t, state.q, state.v, 0.5 * state.mem))  # noqa: E731
    with pytest.raises(ValueError, match="event <lambda>: action: .* the bristles of contacts must be those"):
        lgint.integrate(dragged("R3xSO3"), "genalpha", t_end=0.04, h=2e-4, events=passes(bent), sensitivity=DRAGGED)
