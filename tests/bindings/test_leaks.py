"""Runs, failed runs and discarded systems leave no memory behind."""

import gc
import sys
import tracemalloc
import weakref
from pathlib import Path

import numpy as np
import pytest

from bindings.systems import ball_joint, model, oscillator, run, top, top_start
from lgint import _core


def resident():
    """Bytes of resident memory of this process."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


def short_runs(count):
    """Successful and failing runs, explicit and implicit, compiled and callable."""
    q, v = top_start()
    compiled, calls = top(), oscillator(force=lambda t, q, v: -q if t < 0.015 else 1 / 0)
    for _ in range(count):
        run(compiled, "genalpha", q, v, t_end=0.01, h=0.005)
        run(compiled, "rk44", q, v, t_end=0.01, h=0.005)
        with pytest.raises(ZeroDivisionError):
            run(calls, "rk44", [1.0, 0.0], [0.0, 1.0], t_end=0.05)
        with pytest.raises(ValueError):
            run(compiled, "genalpha", q, v, rho_inf=2)


@pytest.mark.measures
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_ten_thousand_runs_do_not_grow():
    short_runs(500)
    gc.collect()
    before = resident()
    short_runs(2500)
    gc.collect()
    assert resident() - before < 1 << 20


def growth(repeat, few, many):
    """Bytes of Python objects that `repeat(many)` leaves behind, after `repeat(few)` has filled all caches."""
    repeat(few)
    gc.collect()
    tracemalloc.start()
    try:
        repeat(few)
        gc.collect()
        before = tracemalloc.get_traced_memory()[0]
        repeat(many)
        gc.collect()
        return tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()


def test_python_objects_are_let_go():
    assert growth(short_runs, 20, 200) < 4096


def test_singular_runs_do_not_grow():
    twice, (q, v) = model(ball_joint("a"), ball_joint("b")), top_start()

    def fail(count):
        for _ in range(count):
            with pytest.raises(_core.SingularError):
                run(twice, "genalpha", q, v)
            with pytest.raises(_core.SingularError):
                _core.Stepper(twice, "rk44", 0.0, q, v, None, {})

    assert growth(fail, 50, 300) < 8192


def test_queries_do_not_grow():
    core, (q, v) = top(), top_start()
    bad = [
        lambda: core.evaluate(0.0, q, v, want=["Ma", "S", "nothing"]),
        lambda: core.kinematics([0, 1, 99], q, v),
        lambda: core.kinematics([0, 1.5], q, v),
        lambda: core.retract(np.zeros((2, 12)), np.zeros((3, 6))),
        lambda: core.initial(0.0, q, v + 1.0),
        lambda: core.rows(99),
    ]

    def ask(count):
        for _ in range(count):
            core.evaluate(0.0, q, v, v), core.evaluate(0.0, q, v, want="B"), core.kinematics([0, 1], q, v)
            core.energy(0.0, [q, q], [v, v]), core.initial(0.0, q, v), core.project(0.0, q, v), core.rows(1)
            for call in bad:
                with pytest.raises(ValueError):
                    call()

    assert growth(ask, 20, 100) < 8192


def test_reference_counts_are_flat():
    def force(t, q, v):
        return -q

    q, v, options = np.array([1.0, 0.0]), np.array([0.0, 1.0]), {"rho_inf": 0.5}
    system = oscillator(force=force)
    things = (system, force, q, v, options, _core.CallableSystem)

    def use():
        result = _core.integrate(system, "genalpha", 0.0, 1.0, 0.1, 1, q, v, None, options)
        start = {"vdot": result["vdot"][-1], "lam": [], "mem": [], "carry": result["carry"]}
        _core.integrate(system, "genalpha", 1.0, 2.0, 0.1, 1, q, v, start, options)
        _core.Stepper(system, "rk44", 0.0, q, v, None, {}).step(0.1)
        system.evaluate(0.0, q, v, q, [], want=["Ma", "force", "S"], k=(1, 1, 1), X=np.ones((3, 2, 2)))
        system.initial(0.0, q, v), system.project(0.0, q, v), system.retract(q, v)

    use()
    before = [sys.getrefcount(thing) for thing in things]
    for _ in range(50):
        use()
    assert [sys.getrefcount(thing) for thing in things] == before


class Marker:
    """An object that weak references can refer to."""


def test_cycles_through_functions_are_collected():
    def cycle(make):
        marker, box = Marker(), []
        box.append(make(lambda *arguments: (marker, box)))
        return weakref.ref(marker)

    makers = [
        lambda function: oscillator(force=function),
        lambda function: model(("force", "push", [0], [0.0, 2.0], function)),
    ]
    for make in makers:
        alive = cycle(make)
        gc.collect()
        assert alive() is None


def test_a_stepper_keeps_its_system_alive():
    stepper = _core.Stepper(top(), "genalpha", 0.0, *top_start(), None, {})
    gc.collect()
    stepper.step(1e-3)
    assert stepper.t == 1e-3
