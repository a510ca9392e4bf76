"""Runs: the states that are saved, reproducible bits, resumed runs, steppers."""

from functools import partial
from itertools import product

import numpy as np
import pytest

from bindings.systems import (
    PENDULUM_START,
    last,
    oscillator,
    pendulum,
    pushed_top,
    run,
    same_bits,
    top,
    top_start,
    top_start_in_euler_parameters,
)
from kinds import METHODS, MOMENTUM
from lgint import _core

CASES = {
    "compiled": (top, top_start()),
    "function of time": (pushed_top, top_start()),
    "callable": (pendulum, PENDULUM_START),
}
EULER = {
    "compiled, Euler parameters": (partial(top, "euler_parameters"), top_start_in_euler_parameters()),
    "function of time, Euler parameters": (partial(pushed_top, "euler_parameters"), top_start_in_euler_parameters()),
}
RUNS = [*product(CASES, METHODS), *product(EULER, MOMENTUM)]
CASES |= EULER


@pytest.mark.parametrize(("name", "method"), RUNS)
def test_the_same_bits_twice(name, method):
    make, start = CASES[name]
    assert same_bits(run(make(), method, *start, h=5e-3), run(make(), method, *start, h=5e-3))


@pytest.mark.parametrize(("name", "method"), RUNS)
def test_a_resumed_run_gives_the_same_bits(name, method):
    make, start = CASES[name]
    system = make()
    whole = run(system, method, *start, h=5e-3, stops=[0.5])
    first = run(system, method, *start, h=5e-3, t_end=0.5)
    q, v, memory = last(first)
    second = run(system, method, q, v, h=5e-3, t0=0.5, start=memory)
    fields = {"t", "q", "v", "vdot", "lam", "extra"} & whole.keys()
    assert ("extra" in fields) == (method in MOMENTUM)
    for field in fields:
        assert np.concatenate([first[field], second[field][1:]]).tobytes() == whole[field].tobytes()


def test_the_top_in_euler_parameters_is_the_same():
    kinds = [(top, *top_start()), (partial(top, "euler_parameters"), *top_start_in_euler_parameters())]
    positions = [run(make(), "rk67", q, v, h=1e-3, t_end=0.1)["q"][-1, :3] for make, q, v in kinds]
    assert np.abs(positions[0] - positions[1]).max() < 1e-10


@pytest.mark.parametrize(
    ("name", "method"),
    [("compiled", "rk44"), ("compiled", "genalpha"), *product(["compiled, Euler parameters"], MOMENTUM)],
)
def test_a_stepper_goes_as_a_run_does(name, method):
    make, (q, v) = CASES[name]
    h = 2.0**-7
    result = run(make(), method, q, v, h=h, t_end=16 * h)
    stepper = _core.Stepper(make(), method, 0.0, q, v, None, {})
    for i in range(1, 17):
        stepper.step(h)
        for field in ("t", "q", "v", "vdot", "lam"):
            assert np.array_equal(getattr(stepper, field), result[field][i])
    assert stepper.stats == {name: n for name, n in result["stats"].items() if name != "wall_time"}


def test_a_stepper_can_be_resumed():
    q, v = top_start()
    one = _core.Stepper(top(), "genalpha", 0.0, q, v, None, {})
    one.step(0.01)
    start = {"vdot": one.vdot, "lam": one.lam, "mem": one.mem, "carry": one.carry}
    two = _core.Stepper(top(), "genalpha", one.t, one.q, one.v, start, {})
    one.step(0.01)
    two.step(0.01)
    assert one.q.tobytes() == two.q.tobytes() and one.lam.tobytes() == two.lam.tobytes()


@pytest.mark.parametrize("h", [0, -1, np.nan, np.inf])
def test_a_stepper_refuses_bad_steps(h):
    stepper = _core.Stepper(top(), "rk44", 0.0, *top_start(), None, {})
    with pytest.raises(ValueError, match="h must be a positive number"):
        stepper.step(h)


def test_shapes_and_statistics():
    result = run(pendulum(), "genalpha", *PENDULUM_START, h=0.01, every=8, newton="full")
    n = 1 + 100 // 8 + 1
    shapes = {"t": (n,), "h": (n,), "q": (n, 2), "v": (n, 2), "vdot": (n, 2), "lam": (n, 1), "mem": (n, 0)}
    assert {name: result[name].shape for name in shapes} == shapes
    assert result["t"][0] == 0 and result["t"][-1] == 1 and result["t"][1] == pytest.approx(0.08)
    assert all(result[name].flags.c_contiguous and result[name].dtype == float for name in shapes)
    stats = result["stats"]
    assert stats["steps"] == 100 and stats["rejected"] == 0 and stats["dense_fallbacks"] == 0
    assert 100 <= stats["newton_iterations"] <= 300
    assert stats["wall_time"] > 0


def test_many_states_are_saved():
    result = run(oscillator(), "euler", [1.0, 0.0], [0.0, 0.0], h=1e-3, t_end=3.0)
    assert result["t"] == pytest.approx(np.arange(3001) * 1e-3)
    assert result["q"][1:, 0] == pytest.approx(result["q"][:-1, 0] + 1e-3 * result["v"][:-1, 0])


@pytest.mark.parametrize("method", ["rk44", "genalpha"])
@pytest.mark.parametrize("on", [lambda t: t > 0.333, lambda t: t >= 0.333])
def test_kinks_and_stops_are_landed_on(on, method):
    system = oscillator(force=lambda t, q, v: [0.0, 2.0 * on(t)], kinks=[5.0, 0.333], constant_mass=True)
    result = run(system, method, [0.0, 0.0], [0.0, 0.0], h=0.1, stops=[0.5])
    t, q, vdot = result["t"], result["q"][:, 1], result["vdot"][:, 1]
    assert {0.333, 0.5, 1.0} <= set(t)
    assert result["h"].max() <= 0.1 + 1e-15
    assert vdot == pytest.approx(2.0 * (t >= 0.333), abs=1e-7)  # at a kink, vdot is the value after it
    if method == "rk44":
        assert q == pytest.approx(np.where(t > 0.333, (t - 0.333) ** 2, 0.0), abs=1e-14)


def test_fixed_points_of_the_calendar():
    result = run(pendulum(), "rk44", *PENDULUM_START, t0=3.0, t_end=4.0)
    again = run(pendulum(), "rk44", *PENDULUM_START)
    assert result["t"][0] == 3 and result["t"][-1] == 4
    assert result["q"] == pytest.approx(again["q"], abs=1e-12)
