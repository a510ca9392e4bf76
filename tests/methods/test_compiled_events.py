"""Compiled events against the same events in Python."""

import ctypes
import math
import pickle

import numpy as np
import pytest
from scipy import LowLevelCallable

import lgint
from compiled import compiled
from lgint._run.events import Events


def ball():
    builder = lgint.ModelBuilder(gravity=(0, 0, -9.81))
    builder.add_body("ball", mass=1.0, inertia=(1, 1, 1), position=(0, 0, 0.1), velocity=(0.5, 0, 3.0))
    return builder.build()


def height(t, q, v):
    return math.sin(6 * q[2])


def run(events, method="rk44", **options):
    return lgint.integrate(ball(), method, t_end=1.5, h=0.01, events=events, **options)


@pytest.mark.parametrize("method", ["rk44", "genalpha", "dopri5"])
@pytest.mark.parametrize("attributes", [{}, {"terminal": 2}, {"terminal": True, "direction": 1}, {"direction": -1}])
def test_a_compiled_event_is_found_where_the_same_event_in_python_is(method, attributes):
    own, twin = (run(lgint.event(one, **attributes), method) for one in (compiled("height", "event"), height))
    assert np.array_equal(own.t_events[0], twin.t_events[0])
    assert np.array_equal(own.q_events[0], twin.q_events[0])
    assert np.array_equal(own.t, twin.t) and own.status == twin.status
    assert len(own.t_events[0]) >= 1


def test_compiled_events_beside_others_and_bare():
    function = compiled("height", "event")
    several = run([function, height, LowLevelCallable(function)])
    assert all(np.array_equal(times, several.t_events[0]) for times in several.t_events)
    assert np.array_equal(run(function).t_events[0], several.t_events[0])
    half = lgint.integrate(ball(), "rk44", t_end=0.75, h=0.01, events=function)
    found = np.concatenate([half.t_events[0], run(function, start=half).t_events[0]])
    assert np.array_equal(found, several.t_events[0])


def test_python_is_called_in_steps_with_an_event_only(monkeypatch):
    steps, plain, calls = [], Events.on_step, ctypes.c_long(0)
    monkeypatch.setattr(Events, "on_step", lambda self, *at: steps.append(at[0]) or plain(self, *at))
    pointer = ctypes.cast(ctypes.pointer(calls), ctypes.c_void_p)
    found = run(LowLevelCallable(compiled("height", "event"), pointer)).t_events[0]
    assert len(steps) == len(found) > 1
    assert calls.value > 150  # one for each step, and those that locate the events


def test_an_action_sees_the_compiled_event():
    def up(state):
        return state.model.state(state.q, -0.9 * state.v, state.t)

    own, twin = (run(lgint.event(one, direction=-1, action=up)) for one in (compiled("height", "event"), height))
    assert np.array_equal(own.q, twin.q) and len(own.t_events[0]) >= 1


def test_failures_and_refusals():
    with pytest.raises(lgint.IntegrationError, match=r"^event 'lost' returned the status 4 at t = 0\.06") as failed:
        run(compiled("lost", "event"))
    assert failed.value.trajectory.t[-1] > 0.04
    with pytest.raises(ValueError, match=r"events: .*signatures\.event\), got int \(double, double \*, void \*\)"):
        run(compiled("push", "load"))
    with pytest.raises(ValueError, match="function of an event: a function expected, got 3"):
        lgint.event(3)


def test_attributes_of_functions_in_python():
    def late(state):
        return state.t - 0.5

    late.terminal = True
    assert run(lgint.event(late)).t[-1] == 0.5
    assert run(lgint.event(late, terminal=False)).t[-1] == 1.5
    assert pickle.loads(pickle.dumps(lgint.event(height, direction=1))).direction == 1
