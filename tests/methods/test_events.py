"""Events are found, located to 1e-10, selected by direction, and end a run."""

import numpy as np
import pytest
from scipy.optimize import brentq

import lgint
from battery import slow_top
from lgint import _core

W = 2.0


def oscillator(force=lambda t, q, v: -(W**2) * q, **given):
    return lgint.CallableModel("Rn", [1.0], [0.0], mass=lambda t, q: np.eye(1), force=force, **given)


def event(function, terminal=False, direction=0.0):
    def watched(t, q, v):
        return function(t, q, v)

    watched.terminal, watched.direction = terminal, direction
    return watched


def place(t, q, v):
    return q[0]


RUNS = [("rk67", {"h": 0.01}), ("dopri5", {"rtol": 1e-12}), ("dopri5", {"h": 0.01}), ("dop853", {"rtol": 1e-12})]


@pytest.mark.parametrize(("method", "options"), RUNS)
def test_zeros_of_an_oscillator(method, options):
    """The motion is q = cos 2t."""
    events = [place, event(place, direction=1), event(place, direction=-1), event(lambda t, q, v: v[0])]
    run = lgint.integrate(oscillator(), method, t_end=6.0, events=events, **options)
    zeros = (np.pi / 2 + np.pi * np.arange(4)) / W
    expected = [zeros[zeros < 6], zeros[1::2], zeros[::2], np.pi / W * np.arange(1, 4)]
    for found, times in zip(run.t_events, expected, strict=True):
        assert np.allclose(found, times[times < 6], rtol=0, atol=1e-10)
    assert np.abs(run.q_events[0]).max() < 1e-14 and np.allclose(np.abs(run.v_events[0]), W, atol=1e-9)
    assert run.q_events[0].shape == (4, 1) and run.status == 0 and run.t[-1] == 6.0


def test_events_do_not_change_the_steps():
    model = slow_top("R3xSO3")
    for options in (
        {"method": "dopri5", "rtol": 1e-6},
        {"method": "dop853", "rtol": 1e-6},
        {"method": "genalpha", "h": 5e-3},
    ):
        plain = lgint.integrate(model, t_end=0.5, **options)
        watched = lgint.integrate(model, t_end=0.5, events=place, **options)
        assert plain.q.tobytes() == watched.q.tobytes() and plain.t_events is None
        none = lgint.integrate(model, t_end=0.5, events=[], **options)
        assert none.t_events == []


@pytest.mark.parametrize("formulation", ["R3xSO3", "SE3", "euler_parameters"])
def test_an_event_on_the_group(formulation):
    """The height of the top passes a level at the time that a root search with runs up to a stop finds."""
    model = slow_top(formulation)
    best = lgint.integrate(model, "rk67", t_end=0.5, h=1e-3)
    height = best.position("top")[:, 2]
    level = 0.5 * (height.min() + height.max())

    def above(t, q, v):
        return model.kinematics("top", q, v)[0][2] - level

    run = lgint.integrate(model, "rk67", t_end=0.5, h=1e-3, events=above)
    t = run.t_events[0][0]
    i = int(np.searchsorted(best.t, t))

    def miss(time):
        start = model.with_state(best.q[i - 1], best.v[i - 1])
        run = lgint.integrate(start, "rk67", t0=best.t[i - 1], t_end=time, h=1.0)
        return run.position("top")[-1, 2] - level

    assert abs(t - brentq(miss, best.t[i - 1] + 1e-9, best.t[i], xtol=1e-14)) < 1e-10
    assert abs(above(t, run.q_events[0][0], run.v_events[0][0])) < 1e-13


@pytest.mark.parametrize(("method", "options"), RUNS)
def test_a_terminal_event_ends_the_run(method, options):
    run = lgint.integrate(oscillator(), method, t_end=6.0, events=event(place, terminal=True), **options)
    assert run.status == 1
    assert run.t[-1] == run.t_events[0][0] == pytest.approx(np.pi / 2 / W, abs=1e-10)
    assert np.array_equal(run.q[-1], run.q_events[0][0]) and np.array_equal(run.v[-1], run.v_events[0][0])
    assert run.vdot[-1] == pytest.approx(-(W**2) * run.q[-1], abs=1e-12)
    rest = lgint.integrate(oscillator(), method, t_end=6.0, start=run, events=place, **options)
    assert rest.t[0] == run.t[-1]
    assert np.allclose(rest.t_events[0], (np.pi / 2 + np.pi * np.arange(1, 4)) / W, atol=1e-10)
    assert rest.q[-1, 0] == pytest.approx(np.cos(12.0), abs=1e-9)


def test_the_third_event_ends_the_run():
    run = lgint.integrate(oscillator(), "rk67", t_end=9.0, h=0.01, events=[event(place, terminal=3), place])
    assert len(run.t_events[0]) == 3 and run.t[-1] == run.t_events[0][-1]
    assert len(run.t_events[1]) in (2, 3)
    with pytest.raises(ValueError, match="terminal: True, False or a positive number"):
        lgint.integrate(oscillator(), "rk67", t_end=9.0, h=0.01, events=event(place, terminal="yes"))


@pytest.mark.parametrize("formulation", ["R3xSO3", "euler_parameters"])
@pytest.mark.parametrize(
    ("method", "options"),
    [
        ("dopri5", {"rtol": 1e-6}),
        ("dopri5", {"rtol": 1e-6, "project": "none"}),
        ("dop853", {"rtol": 1e-6}),
        ("rk44", {"h": 0.01}),
        ("genalpha", {"h": 5e-3, "index": 3}),
        ("genalpha", {"h": 5e-3, "index": 2}),
    ],
)
def test_a_state_at_an_event_satisfies_the_constraints(formulation, method, options):
    """It does so even if the steps do not, and a run that continues from there does not find the same event again."""
    model = slow_top(formulation)

    def height(t, q, v):
        return model.kinematics("top", q, v)[0][2] + 0.1

    height.terminal = True
    run = lgint.integrate(model, method, t_end=1.0, events=height, **options)
    assert run.status == 1 and abs(height(run.t[-1], run.q[-1], run.v[-1])) < 1e-14
    for level in ("position", "velocity"):
        assert np.abs(run.constraint_residual(level)[-1]).max() < 1e-13
    assert run.q[-1].tobytes() == run.q_events[0][-1].tobytes()
    assert run.v[-1].tobytes() == run.v_events[0][-1].tobytes()
    model.with_state(run.q_events[0][-1], run.v_events[0][-1])
    rest = lgint.integrate(model, method, t_end=1.0, events=height, start=run, **options)
    assert rest.status == 0 or rest.t[-1] > run.t[-1] + 0.01


def test_events_of_one_step_come_in_order():
    """Two zeros lie in one long step; after the terminal one nothing is reported."""
    early, late = event(lambda t, q, v: t - 0.61), event(lambda t, q, v: t - 0.64, terminal=True)
    never = event(lambda t, q, v: t - 0.65)
    run = lgint.integrate(oscillator(), "rk67", t_end=1.0, h=0.1, events=[never, late, early])
    assert [len(times) for times in run.t_events] == [0, 1, 1]
    assert run.t_events[2][0] == pytest.approx(0.61, abs=1e-14) and run.t[-1] == pytest.approx(0.64, abs=1e-14)
    assert run.h[-1] == pytest.approx(0.04)


def test_with_t_eval():
    times = np.linspace(0, 2, 21)
    run = lgint.integrate(oscillator(), "rk67", t_end=2.0, h=0.03, t_eval=times, events=event(place, terminal=True))
    assert np.array_equal(run.t, times[times < np.pi / 4]) and run.status == 1
    assert run.end["t"][0] == run.t_events[0][0]
    assert run.q[:, 0] == pytest.approx(np.cos(2 * run.t), abs=1e-10)


def test_a_zero_at_the_start_is_no_event_and_one_at_a_step_is_one():
    run = lgint.integrate(oscillator(), "rk67", t_end=1.0, h=0.125, events=[lambda t, q, v: t, lambda t, q, v: t - 0.5])
    assert len(run.t_events[0]) == 0 and run.t_events[1].tolist() == [0.5]


def test_a_bounce():
    """A ball on the floor: each run ends at an event, and the next one starts from there with the velocity reversed."""
    floor = event(place, terminal=True, direction=-1)
    model = lgint.CallableModel("Rn", [1.0], [0.0], mass=lambda t, q: np.eye(1), force=lambda t, q, v: [-2.0])
    t = 0.0
    for bounce in range(3):
        run = lgint.integrate(model, "dopri5", t0=t, t_end=t + 10.0, rtol=1e-10, events=floor)
        t = run.t[-1]
        assert t == pytest.approx(1.0 + 2 * bounce, abs=1e-9)
        model = model.with_state(run.q[-1], -run.v[-1])


@pytest.mark.parametrize("model", [oscillator(), slow_top("R3xSO3")], ids=["callable", "compiled"])
def test_a_failing_event(model):
    def broken(t, q, v):
        if t > 0.1:
            raise ArithmeticError("no")
        return 1.0

    with pytest.raises(ArithmeticError, match="no") as caught:
        lgint.integrate(model, "rk44", t_end=1.0, h=0.01, events=broken)
    assert caught.value.trajectory.t[-1] == pytest.approx(0.11) and caught.value.trajectory.status == -1
    with pytest.raises(ValueError, match="event .*: a number expected at t = 0"):
        lgint.integrate(model, "rk44", t_end=1.0, h=0.01, events=lambda t, q, v: np.nan)


def test_saved_and_loaded(tmp_path):
    run = lgint.integrate(oscillator(), "rk67", t_end=6.0, h=0.01, events=[place, lambda t, q, v: 1.0])
    run.save(tmp_path / "run.npz")
    loaded = lgint.load(tmp_path / "run.npz")
    for name in ("t_events", "q_events", "v_events"):
        for a, b in zip(getattr(run, name), getattr(loaded, name), strict=True):
            assert a.shape == b.shape and np.array_equal(a, b)


@pytest.mark.parametrize(("method", "options"), RUNS)
@pytest.mark.parametrize("last", [0, 1, 2])
def test_events_that_coincide_with_a_terminal_one_are_kept(method, options, last):
    """Three events with the same zero are scaled so that its location differs in the last bits; any may be terminal."""
    functions = [
        event(lambda t, q, v, s=s: s * (q[0] + 0 * v[0]), terminal=i == last) for i, s in enumerate((1, 3, -7))
    ]
    run = lgint.integrate(oscillator(), method, t_end=6.0, events=functions, **options)
    assert run.status == 1
    assert [times.tolist() for times in run.t_events] == [[run.t[-1]]] * 3
    rest = lgint.integrate(oscillator(), method, t_end=2.0, start=run, events=functions, **options)
    assert [len(times) for times in rest.t_events] == [0, 0, 0]


def test_events_a_little_behind_a_terminal_one_are_left_to_the_next_run():
    t = 0.613
    first, second = event(lambda time, q, v: time - t, terminal=True), event(lambda time, q, v: time - t - 1e-13)
    run = lgint.integrate(oscillator(), "rk67", t_end=1.0, h=0.1, events=[first, second])
    rest = lgint.integrate(oscillator(), "rk67", t_end=1.0, h=0.1, events=[first, second], start=run)
    assert [len(times) for times in run.t_events] == [1, 0] and [len(times) for times in rest.t_events] == [0, 1]


@pytest.mark.parametrize("place", [1, 2])
def test_events_cannot_change_the_run(place):
    """Neither the states at the ends of a step nor those of its dense output can be written to."""

    def greedy(*state):
        if state[0] > 0:
            state[place][0] = 7.0
        return -1.0

    def greedy_inside(*state):
        if 0 < state[0] < 0.1 - 1e-9:
            state[place][0] = 7.0
        return state[0] - 0.05

    for function in (greedy, greedy_inside):
        with pytest.raises(ValueError, match="read-only"):
            lgint.integrate(oscillator(), "rk67", t_end=1.0, h=0.1, events=function)


def test_a_state_of_t_eval_that_is_not_finite():
    """The ends of a step are just finite, while the polynomial between them overflows."""
    free = lgint.CallableModel("Rn", [0.0], [1e308], mass=lambda t, q: np.eye(1), force=lambda t, q, v: [0.0])
    assert np.isfinite(lgint.integrate(free, "rk44", t_end=1.0, h=0.5).q).all()
    with pytest.raises(lgint.ConvergenceError) as caught:
        lgint.integrate(free, "rk44", t_end=1.0, h=0.5, t_eval=[0.0, 0.01, 0.25, 0.5])
    assert caught.value.report["status"] == "NOT_FINITE"
    assert np.isfinite(caught.value.trajectory.q).all() and 1 <= len(caught.value.trajectory) <= 2


def test_an_event_is_called_once_a_step_with_arrays_that_it_may_keep():
    kept = []

    def watched(t, q, v):
        kept.append((t, q, v))
        return 1.0

    run = lgint.integrate(lgint.models.heavy_top(), "rk44", t_end=0.05, h=1e-3, events=watched)
    assert [t for t, _, _ in kept] == run.t.tolist()
    np.testing.assert_array_equal([q for _, q, _ in kept], run.q)
    np.testing.assert_array_equal([v for _, _, v in kept], run.v)
    assert not any(array.flags.writeable for _, *arrays in kept for array in arrays)


def test_both_ends_of_a_step_are_there_while_its_observer_asks_for_them():
    top = lgint.models.heavy_top()
    asked = []

    def on_step(at, both_ends):
        (begin, end), qs, vs, *others, extra, curve, derivatives = both_ends()
        assert begin < end == at.t
        np.testing.assert_array_equal(qs[1], at.q)
        np.testing.assert_array_equal(vs[1], at.v)
        assert [part.shape for part in others] == [(2, top.nv), (2, top.nc), (2, top.core.nmem)]
        assert extra is None and curve is None and derivatives is None
        asked.append((qs[0], both_ends))

    def run():
        start = {"mem": top.mem0}
        return _core.integrate(top.core, "rk44", 0.0, 5e-3, 1e-3, 1, top.q0, top.v0, start, {}, on_step=on_step)

    result = run()
    np.testing.assert_array_equal([q for q, _ in asked], result["q"][:-1])
    with pytest.raises(ValueError, match="incorrect name"):
        asked[0][1]()
