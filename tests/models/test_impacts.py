"""Impacts: velocities after contacts have closed, and runs that go on with them."""

import numpy as np
import pytest

import lgint

GRAVITY = 9.81
UP = (0, 0, 1)
FORMULATIONS = ["R3xSO3", "SE3", "euler_parameters", "tait_bryan"]


def block(half=(0.2, 0.1, 0.5), rate=1.0, formulation="R3xSO3"):
    """A block that turns about its left lower edge and lands flat."""
    b = lgint.ModelBuilder(gravity=(0, 0, -GRAVITY), formulation=formulation)
    w, d, h = half
    inertia = np.array([d * d + h * h, w * w + h * h, w * w + d * d]) / 3
    velocity = np.cross((0, rate, 0), (w, 0, h))
    b.add_body("block", mass=1.0, inertia=inertia, position=(0, 0, h), velocity=velocity, angular_velocity=(0, rate, 0))
    b.add_contact(
        "block", lgint.ground, shapes=[("box", (0, 0, 0), half), ("plane", (0, 0, 0), UP)], stiffness=0.0, name="floor"
    )
    return b.build()


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("width", [0.1, 0.2, 0.3])
def test_a_rocking_block_loses_what_housner_says(formulation, width):
    """The rate falls to 1 - 1.5 sin^2 alpha of itself, where tan alpha is the width over the height."""
    state = block((width, 0.1, 0.5), formulation=formulation).state()
    after = state.after_impact("floor", tangential="stick")
    expected = 1 - 1.5 * width**2 / (width**2 + 0.25)
    np.testing.assert_allclose(after.angular_velocity("block"), (0, expected, 0), rtol=0, atol=1e-12)
    corner = after.point_velocity("block", (width, 0.1, -0.5))
    np.testing.assert_allclose(corner, 0, atol=1e-12)
    assert after.point_velocity("block", (-width, 0.1, -0.5))[2] > 0.1 * width
    assert (after.q == state.q).all() and after.t == state.t


def test_corners_that_are_taken_as_joints_glue_a_rocking_block():
    """Rows that may pull stop it, whatever its width."""
    state = block().state()
    corners = [(x, y, -0.5) for x in (-0.2, 0.2) for y in (-0.1, 0.1)]
    rows = np.vstack([state.jacobian("block", local_point=corner)[:3] for corner in corners])
    by_rows = np.linalg.solve(state.mass_matrix(), rows.T)
    glued = state.v - by_rows @ np.linalg.pinv(rows @ by_rows) @ rows @ state.v
    assert abs(glued).max() < 1e-12 < 0.5 < abs(state.v).max()


def two_links(formulation="minimal"):
    b = lgint.ModelBuilder(gravity=(0, 0, -GRAVITY), formulation=formulation)
    for i, name in enumerate(("upper", "lower")):
        b.add_body(name, mass=1.0 + i, inertia=(0.1, 0.1, 0.01), position=(0, 0, -0.5 - i))
        parent = "upper" if i else lgint.ground
        b.add_joint("revolute", parent, name, point=(0, 0, -float(i)), axis=(0, 1, 0), name=f"pin{i}")
    return b.build()


@pytest.mark.parametrize("e", [0.0, 0.4, 1.0])
def test_constraints_hold_and_formulations_agree(e):
    """The tip of a double pendulum hits a wall; joints transmit the impact."""
    found = []
    for formulation in ("minimal", "R3xSO3", "euler_parameters"):
        state = two_links(formulation).state(rates={"pin0": 1.0, "pin1": -0.5})
        tip, wall = (0, 0, -0.5), (1, 0, 0)
        before = state.point_velocity("lower", tip)[0]
        after = state.after_impact(("lower", tip, wall), restitution=e)
        assert after.point_velocity("lower", tip)[0] == pytest.approx(-e * before, abs=1e-12)
        if state.model.nc:
            residual = np.abs(after.constraint_residual("velocity")).max()
            assert residual < 1e-12
        loss = state.energy("kinetic") - after.energy("kinetic")
        assert loss > 0.1 if e < 1 else abs(loss) < 1e-12
        found.append([after.joint_rate(f"pin{i}") for i in range(2)])
    np.testing.assert_allclose(found[1:], [found[0]] * 2, atol=1e-11)


@pytest.mark.parametrize("tangential", ["free", "stick"])
def test_impulses_do_not_pull_and_energy_never_grows(tangential):
    """Random blocks that fly into a floor and a wall with any of their corners."""
    rng, touched = np.random.default_rng(5), 0
    model = block(rate=0.0)
    corners = np.array(np.meshgrid([-0.2, 0.2], [-0.1, 0.1], [-0.5])).reshape(3, -1).T
    rows = [("block", corner, UP) for corner in corners] + [("block", corner, (1, 0, 0)) for corner in corners[:2]]
    for _ in range(40):
        state = model.state(v=rng.normal(size=6))
        e = rng.uniform()
        after = state.after_impact(rows, restitution=e, tangential=tangential)
        rates = [np.dot(normal, after.point_velocity("block", corner)) for _, corner, normal in rows]
        assert min(rates) > -1e-11
        assert after.energy("kinetic") <= state.energy("kinetic") + 1e-12
        impulse = after.mass_matrix() @ (after.v - state.v)
        touched += np.abs(impulse).max() > 1e-3
        if tangential == "free":  # a cone of the normals: only upward and away from the wall
            assert impulse[0] > -1e-12 and impulse[2] > -1e-12 and abs(impulse[1]) < 1e-12
    assert touched > 20


@pytest.mark.parametrize("formulation", ["minimal", *FORMULATIONS])
@pytest.mark.parametrize("kind", ["revolute", "prismatic"])
def test_a_joint_that_holds_a_normal_takes_the_impact(kind, formulation):
    """Rows of which skew joints leave round-off alone are no rows: no impulse comes from them, and nothing sticks."""
    skew = np.array([[0.36, 0.48, -0.8], [-0.8, 0.6, 0], [0.48, 0.64, 0.6]])
    along, across = skew[:, 2], skew[:, 0]
    b = lgint.ModelBuilder(formulation=formulation)
    b.add_body("arm", mass=1.0, inertia=(0.1, 0.2, 0.25), position=skew @ (0.3, 0.2, 0.1))
    b.add_joint(kind, lgint.ground, "arm", point=(0, 0, 0), axis=along, name="joint")
    state = b.build().state(joints={"joint": 0.3}, rates={"joint": -1.0})
    points = [(0.1, 0.1, 0), (-0.1, 0.2, 0.1)]
    for normal in (along, -along) if kind == "revolute" else (across, -across):
        for tangential in ("free", "stick"):
            rows = [("arm", point, normal) for point in points]
            after = state.after_impact(rows, restitution=0.5, tangential=tangential)
            np.testing.assert_allclose(after.v, state.v, rtol=0, atol=1e-12)
    if kind == "prismatic":
        after = state.after_impact(("arm", points[0], along), restitution=0.5, tangential="stick")
        assert after.joint_rate("joint") == pytest.approx(0.5, abs=1e-12)


@pytest.mark.parametrize("formulation", ["minimal", *FORMULATIONS])
@pytest.mark.parametrize("e", [0.0, 0.5, 1.0])
def test_points_that_stick_in_more_rows_than_there_are_freedoms_stop_all(formulation, e):
    """Three links that two or four points hold: their normals are held too, and have no restitution."""
    b = lgint.ModelBuilder(formulation=formulation)
    for i, axis in enumerate([(0, 1, 0), (0, 0, 1), (0, 1, 0)]):
        b.add_body(f"link{i}", mass=1 + 0.3 * i, inertia=(0.05, 0.06, 0.07), position=(0.5 * i + 0.25, 0, 0))
        parent = f"link{i - 1}" if i else lgint.ground
        b.add_joint("revolute", parent, f"link{i}", point=(0.5 * i, 0, 0), axis=axis, name=f"pin{i}")
    rates = {"pin0": 1.0, "pin1": -0.7, "pin2": 2.0}
    state = b.build().state(joints={"pin0": 0.1, "pin1": 0.2, "pin2": 0.3}, rates=rates)
    tip = ("link2", (0.25, 0, 0), UP)
    more = [tip, ("link2", (0.25, 0, 0), (0, 0.2, 1)), ("link0", (0.1, 0, 0), (0, 0, -1), "link2")]
    for rows in ([tip, ("link1", (0, 0.1, 0), (0, 1, 0))], [tip, *more]):
        after = state.after_impact(rows, restitution=e, tangential="stick")
        np.testing.assert_allclose([after.joint_rate(name) for name in rates], 0, atol=1e-11)


@pytest.mark.parametrize("formulation", ["minimal", "R3xSO3", "euler_parameters"])
def test_what_an_impact_has_stopped_may_be_hit_again(formulation):
    """Velocities that are round-off alone satisfy the constraints of a loop no better than that."""
    b = lgint.ModelBuilder(formulation=formulation)
    corners = np.array([(0, 0, 0), (0, 0, 1), (1.5, 0, 1.2), (1.5, 0, 0)])
    for i in range(3):
        b.add_body(f"bar{i}", mass=1.0 + i, inertia=(0.1, 0.1, 0.1), position=(corners[i] + corners[i + 1]) / 2)
    for i, pair in enumerate([(lgint.ground, "bar0"), ("bar0", "bar1"), ("bar1", "bar2"), (lgint.ground, "bar2")]):
        b.add_joint("revolute", *pair, point=corners[i], axis=(0, 1, 0), name=f"pin{i}")
    state = b.build(redundant="drop").state(rates={"pin0": 1.0})
    for rows in (
        [("bar1", (0, 0, 0), (-1, 0, 0.3)), ("bar2", (0, 0, 0), (-1, 0, 0))],
        ("bar1", (0, 0.3, 0), (-1, 1, 0)),
    ):
        for tangential in ("free", "stick"):
            still = state.after_impact(rows, tangential=tangential)
            np.testing.assert_allclose(still.v, 0, atol=1e-13)
            np.testing.assert_allclose(still.after_impact(rows, tangential=tangential).v, 0, atol=1e-13)


@pytest.mark.parametrize("tangential", ["free", "stick"])
@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_a_disc_that_lands_flat_stops(formulation, tangential):
    """Only what is along the floor goes on where the points are free."""
    b = lgint.ModelBuilder(formulation=formulation)
    moves = {"velocity": (0.3, 0.2, -2), "angular_velocity": (0.1, -0.2, 0.5)}
    b.add_body("disc", mass=1.0, inertia=(0.1, 0.1, 0.2), position=(0, 0, 0.05), **moves)
    shapes = ("disc", (0, 0, -0.05), UP, 0.4), ("plane", (0, 0, 0), UP)
    b.add_contact("disc", lgint.ground, shapes=shapes, stiffness=0.0, name="floor")
    state = b.build().state()
    after = state.after_impact("floor", tangential=tangential)
    going = np.array([0.3, 0.2, 0]) if tangential == "free" else np.zeros(3)
    spin = np.array([0, 0, 0.5]) if tangential == "free" else np.zeros(3)
    np.testing.assert_allclose(after.velocity("disc"), going, rtol=0, atol=1e-12)
    np.testing.assert_allclose(after.angular_velocity("disc"), spin, rtol=0, atol=1e-12)


def test_contacts_that_separate_have_no_impulse():
    state = block(rate=-1.0).state()
    assert (state.after_impact(("block", (0.2, 0.1, -0.5), (0, 0, 1))).v == state.v).all()


def test_newtons_cradle_passes_its_velocity_on():
    b = lgint.ModelBuilder(gravity=(0, 0, 0))
    names = [f"ball{i}" for i in range(2)]
    for i, name in enumerate(names):
        b.add_body(name, mass=1.0, inertia=(0.1, 0.1, 0.1), position=(i, 0, 0), velocity=(1.0 - i, 0, 0))
    b.add_contact(*names, shapes=[("sphere", (0, 0, 0), 0.5)] * 2, stiffness=0.0, name="touch")
    after = b.build().state().after_impact("touch", restitution=1.0)
    np.testing.assert_allclose([after.velocity(name)[0] for name in names], (0, 1), atol=1e-14)


MISTAKES = [
    ((("block", (0, 0, -0.5), UP),), {"restitution": 1.5}, "restitution: a number from 0 to 1"),
    (("floor",), {"tangential": "glue"}, "tangential"),
    (("flor",), {}, "flor"),
    ((("block", (0, 0, 0), (0, 0, 0)),), {}, "other than zero"),
    ((("block", (0, 0), UP),), {}, "point of the contact of 'block'"),
    (([("block", (0, 0, 0))],), {}, "tuples .body, local_point, normal"),
    ((("block", (0, 0)),), {}, r"tuples .body, local_point, normal.* got \('block', \(0, 0\)\)"),
    (([],), {}, "at least one expected"),
    ((3,), {}, "contacts: names, tuples"),
    ((("block", (0, 0, 0), UP, 3),), {}, "unknown body 3"),
    (([("block", (0, 0, 0), UP, "block")],), {}, "two different bodies"),
]


@pytest.mark.parametrize(("contacts", "options", "message"), MISTAKES, ids=lambda value: str(value)[:20])
def test_mistakes_are_named(contacts, options, message):
    with pytest.raises(ValueError, match=message):
        block().state().after_impact(*contacts, **options)


def test_a_model_without_contacts_says_how_they_come_into_it():
    b = lgint.ModelBuilder()
    b.add_body("ball", mass=1.0, inertia=(1, 1, 1))
    with pytest.raises(ValueError, match="unknown contact 'floor': the model has no contacts; .*add_contact"):
        b.build().state().after_impact("floor")


def test_the_ground_may_be_named_as_the_other_body():
    state = block().state()
    bare = ("block", (0.2, 0.1, -0.5), UP)
    for ground in ("ground", lgint.ground):
        assert (state.after_impact((*bare, ground)).v == state.after_impact(bare).v).all()


def test_a_contact_that_is_open_is_named():
    model = block()
    q = model.q0.copy()
    q[2] += 0.1
    with pytest.raises(ValueError, match="'floor' is open by 0.1 m"):
        model.state(q=q).after_impact("floor")


# ---- runs ----


def ball(formulation="R3xSO3", height=1.0):
    b = lgint.ModelBuilder(gravity=(0, 0, -GRAVITY), formulation=formulation)
    spin = {"angular_velocity": (0.3, 0.2, 0.1)}
    b.add_body("ball", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0, 0, height), velocity=(0.3, 0, 0), **spin)
    return b.build()


def bounces(e, **attributes):
    def floor(state):
        return state.position("ball")[2]

    floor.direction = -1
    floor.action = lambda state: state.after_impact(("ball", (0, 0, 0), UP), restitution=e)
    vars(floor).update(attributes)
    return floor


def closed_form(e, n, height=1.0):
    """Times of bounces, and the velocities after them."""
    speeds = np.sqrt(2 * GRAVITY * height) * e ** np.arange(n)
    times = np.sqrt(2 * height / GRAVITY) + np.concatenate([[0], np.cumsum(2 * speeds[1:] / GRAVITY)])
    return times, speeds * e


@pytest.mark.parametrize("method", ["rk44", "genalpha", "dopri5"])
def test_a_bouncing_ball_follows_its_closed_form_through_20_bounces(method):
    e, n = 0.9, 20
    times, speeds = closed_form(e, n)
    step = {"rtol": 1e-10, "max_step": 0.05} if method == "dopri5" else {"h": 0.04}
    run = lgint.integrate(ball(), method, t_end=times[-1] + 0.02, events=bounces(e), **step)
    np.testing.assert_allclose(run.t_events[0], times, rtol=0, atol=1e-12)
    twice = np.flatnonzero(np.diff(run.t) == 0)
    assert len(twice) == n
    np.testing.assert_allclose(run.t[twice], times, rtol=0, atol=1e-12)
    np.testing.assert_allclose(run.velocity("ball")[twice + 1, 2], speeds, rtol=0, atol=1e-11)
    np.testing.assert_allclose(run.velocity("ball")[twice, 2], -speeds / e, rtol=0, atol=1e-11)
    left = run.t[-1] - times[-1]
    assert run.position("ball")[-1, 2] == pytest.approx(left * speeds[-1] - GRAVITY / 2 * left**2, abs=1e-12)


def test_a_run_with_actions_is_resumed_bit_for_bit(tmp_path):
    e, event = 0.9, bounces(0.9)
    times, _ = closed_form(e, 3)
    whole = lgint.integrate(ball(), "genalpha", t_end=2.0, h=0.04, stops=[1.0], events=event)
    first = lgint.integrate(ball(), "genalpha", t_end=1.0, h=0.04, events=event)
    second = lgint.integrate(ball(), "genalpha", t_end=2.0, h=0.04, start=first, events=event)
    assert second.q[-1].tobytes() == whole.q[-1].tobytes() and second.v[-1].tobytes() == whole.v[-1].tobytes()
    whole.save(tmp_path / "run.npz")
    again = lgint.load(tmp_path / "run.npz")
    assert again.t.tobytes() == whole.t.tobytes() and again.v.tobytes() == whole.v.tobytes()
    ends = lgint.integrate(ball(), "genalpha", t_end=2.0, h=0.04, events=bounces(e, terminal=2))
    assert ends.t[-1] == ends.t[-2] == pytest.approx(times[1], abs=1e-12) and ends.velocity("ball")[-1, 2] > 0
    on = lgint.integrate(ball(), "genalpha", t_end=1.5, h=0.04, start=ends, events=event)
    assert not len(on.t_events[0]) and on.position("ball")[-1, 2] > 0


def test_a_folder_holds_both_rows(tmp_path):
    event = bounces(0.9)
    known = lgint.integrate(ball(), "rk44", t_end=2.0, h=0.04, events=event)
    run = lgint.integrate(ball(), "rk44", t_end=2.0, h=0.04, events=event, path=tmp_path / "run")
    assert np.array(run.t).tobytes() == known.t.tobytes() and np.array(run.v).tobytes() == known.v.tobytes()
    assert lgint.load(tmp_path / "run").t_events[0].tobytes() == known.t_events[0].tobytes()


def test_times_of_t_eval_and_save_every_go_on_after_an_action():
    event = bounces(0.9)
    times = np.linspace(0, 2, 41)
    run = lgint.integrate(ball(), "rk44", t_end=2.0, h=0.04, events=event, t_eval=times)
    assert (run.t == times).all() and run.position("ball")[:, 2].min() > -1e-12
    sparse = lgint.integrate(ball(), "rk44", t_end=2.0, h=0.04, events=event, save_every=1000)
    assert len(sparse.t) == 2 + 2 * len(sparse.t_events[0])


def failing(state):
    raise ZeroDivisionError("on purpose")


BAD_ACTIONS = [
    (lambda state: None, ValueError, "action: a State of the run's model"),
    (lambda state: state.model.state(), ValueError, "its state must be at t ="),
    (lambda state: state, ValueError, "has just acted|acts at t"),
    (failing, ZeroDivisionError, "on purpose"),
    (3, ValueError, "action: a function of a State"),
]


@pytest.mark.parametrize(("action", "kind", "message"), BAD_ACTIONS[:2] + BAD_ACTIONS[3:])
def test_bad_actions_leave_the_run_up_to_their_event(action, kind, message):
    with pytest.raises(kind, match=message) as caught:
        lgint.integrate(ball(), "rk44", t_end=1.0, h=0.04, events=bounces(0.9, action=action))
    if callable(action):
        run = caught.value.trajectory
        assert run.t[-1] == pytest.approx(np.sqrt(2 / GRAVITY), abs=1e-12) and np.diff(run.t).min() > 0


def test_dense_output_of_a_state_that_jumps_is_refused():
    with pytest.raises(ValueError, match="dense_output"):
        lgint.integrate(ball(), "rk44", t_end=1.0, h=0.04, events=bounces(0.9), dense_output=True)


def test_a_state_that_violates_constraints_is_refused():
    def at_once(t, q, v):
        return t - 0.05

    def broken(state):
        return lgint._state.state.State(
            lgint._state.state.Independent(state.model, state.t, state.q, state.v + 1.0, state.mem, check=False)
        )

    at_once.action = broken
    with pytest.raises(ValueError, match="violates the constraints"):
        lgint.integrate(two_links("R3xSO3"), "genalpha", t_end=0.1, h=0.01, events=at_once)


def test_an_action_that_lets_the_state_pass_is_called_once():
    """A counter, whose action returns the state as it is."""

    def height(state):
        return state.position("ball")[2] - 0.5

    calls = []
    height.action = lambda state: calls.append(state.t) or state
    run = lgint.integrate(ball(), "rk44", t_end=0.44, h=0.04, events=height)
    np.testing.assert_allclose(calls, np.sqrt(1 / GRAVITY), atol=1e-12)
    bare = lgint.integrate(ball(), "rk44", t_end=0.44, h=0.04)
    np.testing.assert_allclose(run.position("ball")[-1], bare.position("ball")[-1], atol=1e-13)


# ---- what rests ----


@pytest.mark.parametrize("method", ["rk44", "genalpha", "dopri5"])
@pytest.mark.parametrize("e", [0.0, 0.5, 0.9])
def test_a_run_stops_where_bounces_have_died_out(method, e):
    """It keeps what was computed up to there, above the floor, and cannot be resumed through the floor either."""
    step = {"rtol": 1e-8} if method == "dopri5" else {"h": 0.04}
    event = bounces(e)
    with pytest.raises(
        lgint.IntegrationError, match=r"event floor: at t = .* the impact of 'ball' has left it"
    ) as caught:
        lgint.integrate(ball(), method, t_end=20.0, events=event, **step)
    run = caught.value.trajectory
    dies_out = np.sqrt(2 / GRAVITY) * (1 + e) / (1 - e)
    assert run.t[-1] == pytest.approx(dies_out, rel=1e-6) and run.status == -1
    assert run.position("ball")[:, 2].min() > -1e-12 and abs(run.velocity("ball")[-1, 2]) < 1e-6
    with pytest.raises(lgint.IntegrationError, match="has left it at rest"):
        lgint.integrate(ball(), method, t_end=20.0, events=event, start=run, **step)


def test_a_bounce_of_the_users_own_rests_too():
    def stopped(state):
        return state.model.state(state.q, state.v * (1, 1, -0.1, 1, 1, 1), state.t)

    with pytest.raises(lgint.IntegrationError, match="its action has left it at rest"):
        lgint.integrate(ball(), "rk44", t_end=2.0, h=0.04, events=bounces(0.0, action=stopped))


@pytest.mark.parametrize("kept", [1.0, 0.5])
def test_what_an_action_lets_pass_does_not_rest(kept):
    """A membrane that slows a ball, an impact at a given time, and one where a velocity vanishes."""

    def slowed(state):
        return state.model.state(state.q, kept * state.v, state.t)

    def clock(t, q, v):
        return t - 0.1

    def turning(t, q, v):
        return v[2] + GRAVITY / 5

    hit = ("ball", (0, 0, 0), (1, 0, 0) if kept == 1 else (-1, 0, 0))
    clock.action = turning.action = lambda state: state.after_impact(hit)
    events = [bounces(0.0, action=slowed), clock, turning]
    run = lgint.integrate(ball(), "rk44", t_end=0.6, h=0.04, events=events)
    assert [len(times) for times in run.t_events] == [1, 1, 1] and run.position("ball")[-1, 2] < -0.1
    assert run.velocity("ball")[-1, 0] == (pytest.approx(0.3) if kept == 1 else 0)


@pytest.mark.parametrize("h", [0.02, 0.01])
def test_what_nothing_pushes_stays_where_an_impact_has_left_it(h):
    """A ball slides along a wall without gravity, at a gap of round-off, until a load pushes it in."""
    b = lgint.ModelBuilder()
    b.add_body("ball", mass=0.5, inertia=(2e-3, 2e-3, 2e-3), position=(0, 0, 1), velocity=(1, 0, -1))
    event = bounces(0.0)
    run = lgint.integrate(b.build(), "rk44", t_end=3.0, h=h, events=event)
    np.testing.assert_allclose(run.position("ball")[-1], (3, 0, 0), atol=1e-14)
    b.add_force("ball", force=lambda t: (0, 0, -max(0.0, t - 2)), kinks=[2.0])
    with pytest.raises(lgint.IntegrationError, match="has left it at rest") as caught:
        lgint.integrate(b.build(), "rk44", t_end=3.0, h=h, events=event)
    assert caught.value.trajectory.t[-1] == pytest.approx(2.0)


def test_slow_bounces_pass_to_a_contact_with_stiffness():
    b = lgint.ModelBuilder(gravity=(0, 0, -GRAVITY))
    b.add_body("ball", mass=0.5, inertia=(2e-3, 2e-3, 2e-3), position=(0, 0, 0.3))
    shapes = ("sphere", (0, 0, 0), 0.1), ("plane", (0, 0, 0), UP)
    b.add_contact("ball", lgint.ground, shapes=shapes, stiffness=1e4, damping=50.0, name="floor")

    def gap(state):
        return state.gap("floor")

    def bounce(state):
        slow = state.velocity("ball")[2] > -0.05
        return state if slow else state.after_impact("floor", restitution=0.5)

    gap.direction, gap.action = -1, bounce
    run = lgint.integrate(b.build(), "genalpha", t_end=1.5, h=1e-3, events=gap)
    assert run.gap("floor")[-1] == pytest.approx(-0.5 * GRAVITY / 1e4, rel=1e-6) and len(run.t_events[0]) > 5


def test_a_function_that_starts_at_zero_may_return_within_the_first_step():
    b = lgint.ModelBuilder(gravity=(0, 0, -GRAVITY))
    b.add_body("ball", mass=1.0, inertia=(0.1, 0.1, 0.1), velocity=(0, 0, 0.05))
    event = bounces(1.0)
    run = lgint.integrate(b.build(), "rk44", t_end=0.1, h=0.04, events=event)
    np.testing.assert_allclose(run.t_events[0], 0.1 / GRAVITY * np.arange(1, 10), atol=1e-12)
    event.action = None
    bare = lgint.integrate(b.build(), "rk44", t_end=0.1, h=0.04, events=event)
    np.testing.assert_allclose(bare.t_events[0], 0.1 / GRAVITY, atol=1e-12)


@pytest.mark.parametrize("noise", [0.0, 5e-17, -5e-17])
@pytest.mark.parametrize("method", ["rk44", "genalpha"])
def test_an_action_acts_where_a_run_starts_at_its_zero(method, noise):
    """What falls from there bounces at once, and what rests there ends the run: neither sinks."""
    touching, run = bounces(0.8), {"t_end": 0.3, "h": 1e-2}
    model = ball(height=0.0)
    fell = model.with_state(v=np.where(np.arange(6) == 2, -1.0, 0.0), q=model.q0 + noise * (np.arange(12) == 2))
    found = lgint.integrate(fell, method, events=touching, **run)
    assert found.t_events[0][0] == 0.0 and found.t[:2].tolist() == [0.0, 0.0]
    assert found.velocity("ball")[1, 2] == pytest.approx(0.8, rel=1e-12)
    assert found.position("ball")[:, 2].min() > -1e-12
    rests = model.with_state(q=fell.q0)
    with pytest.raises(lgint.IntegrationError, match=r"at t = (0|3\.\d*e-09) the impact of 'ball' has left it"):
        lgint.integrate(rests, method, events=touching, **run)
