"""Ctrl-C and progress."""

import contextlib
import os
import signal
import threading
import time

import numpy as np
import pytest

import lgint
from bindings.systems import last, oscillator, pushed_top, run, top, top_start
from lgint import _core

LONG = {
    "compiled": (top, top_start(), dict(h=1e-6)),
    "function of time": (pushed_top, top_start(), dict(h=1e-6)),
    "callable": (oscillator, ([1.0, 0.0], [0.0, 1.0]), dict(h=1e-6)),
}


@contextlib.contextmanager
def ctrl_c_after(seconds):
    """Sends SIGINT to this process after a delay; the list holds the processor time at which it was sent."""
    sent = []

    def interrupt():
        time.sleep(seconds)
        sent.append(time.process_time())
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    try:
        yield sent
    finally:
        thread.join()


@pytest.mark.measures
@pytest.mark.parametrize("method", ["rk44", "genalpha"])
@pytest.mark.parametrize("name", LONG)
def test_ctrl_c_returns_control_with_what_was_computed(name, method):
    system, (q, v), settings = LONG[name]
    with ctrl_c_after(0.3) as sent, pytest.raises(_core.Interrupted) as caught:
        run(system(), method, q, v, t_end=1e3, every=1000, **settings)
    elapsed = time.process_time() - sent[0]

    assert elapsed < 0.2
    assert isinstance(caught.value, KeyboardInterrupt) and not isinstance(caught.value, Exception)
    assert caught.value.report["status"] == "INTERRUPTED"
    result = caught.value.result
    assert result["stats"]["steps"] > 100
    assert result["t"][-1] == pytest.approx(1e-6 * result["stats"]["steps"])


def test_ctrl_c_in_one_run_ends_the_ensemble():
    """Later runs do not begin: the last one would fail at once."""
    model = lgint.models.heavy_top()
    long, last = model, model.with_state(v=model.v0 + 1e200)
    with ctrl_c_after(0.2), pytest.raises(KeyboardInterrupt) as caught:
        lgint.integrate([long, last], "rk44", t_end=3.0, h=1e-6, save_every=10**6)
    assert len(caught.value.trajectory) < 2


def test_another_signal_handler_decides_itself():
    def handler(number, frame):
        raise LookupError("mine")

    old = signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, 0.1)
    try:
        with pytest.raises(LookupError, match="mine"):
            run(top(), "rk44", *top_start(), t_end=1e3, h=1e-6, every=1000)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)


def test_a_keyboard_interrupt_inside_a_function_is_an_interruption():
    def force(t, q, v):
        if t > 0.5:
            raise KeyboardInterrupt
        return -q

    with pytest.raises(_core.Interrupted) as caught:
        run(oscillator(force=force), "rk44", [1.0, 0.0], [0.0, 1.0])
    assert caught.value.result["t"][-1] == pytest.approx(0.5, abs=0.011)


@pytest.mark.measures
@pytest.mark.parametrize("name", LONG)
def test_progress_is_told_the_time(name):
    class Enough(Exception):
        pass

    times = []

    def progress(t):
        times.append(t)
        if len(times) == 3:
            raise Enough

    system, (q, v), settings = LONG[name]
    begin = time.perf_counter()
    with pytest.raises(Enough):
        run(system(), "rk44", q, v, t_end=1e3, every=1000, progress=progress, **settings)
    assert 0.1 < time.perf_counter() - begin < 2
    assert 0 < times[0] < times[1] < times[2]


# ---- long steps ----


@pytest.fixture(scope="module")
def tree():
    """A chain of 800 links in minimal coordinates: each factorisation takes tens of milliseconds."""
    return lgint.models.pendulum_chain(n=800, joint="revolute", formulation="minimal")


def stopping_after(calls):
    """A progress function that interrupts the run at its last call, and the list of the times it was called with."""
    times = []

    def progress(t):
        times.append(t)
        if len(times) == calls:
            raise KeyboardInterrupt

    return progress, times


@pytest.mark.parametrize("options", [{}, {"rtol": 1e-8, "atol": 1e-8}], ids=["fixed", "adaptive"])
def test_a_long_step_is_interrupted_inside_and_made_anew(options):
    """Wherever a run was interrupted, the resumed run has the same bits as an uninterrupted one."""
    n = 1200  # a step takes seven factorisations, several times as long as it takes until the function is called again
    mass = np.eye(n) + np.full((n, n), 1 / n)
    system = _core.CallableSystem([("Rn", n)], 0, {"mass": lambda t, q: mass, "force": lambda t, q, v: -q}, (), False)
    start = np.linspace(0, 1, n), np.zeros(n)
    whole = run(system, "dopri5", *start, t_end=3e-3, h=1e-3, **options)
    progress, times = stopping_after(3)
    with pytest.raises(_core.Interrupted) as caught:
        run(system, "dopri5", *start, t_end=3e-3, h=1e-3, progress=progress, **options)
    first = caught.value.result
    assert len(set(times)) < len(times)  # the function was called more than once inside a step

    q, v, resumed = last(first)
    rest = run(system, "dopri5", q, v, t0=first["t"][-1], t_end=3e-3, h=1e-3, start=resumed, **options)
    assert rest["t"].tobytes() == whole["t"][len(first["t"]) - 1 :].tobytes()
    assert rest["q"].tobytes() == whole["q"][len(first["q"]) - 1 :].tobytes()


@pytest.mark.measures
@pytest.mark.parametrize("method", ["rk44", "genalpha"])
def test_ctrl_c_in_long_steps(tree, method):
    with ctrl_c_after(0.2) as sent, pytest.raises(KeyboardInterrupt):
        lgint.integrate(tree, method, h=1e-3, t_end=1e3)
    elapsed = time.process_time() - sent[0]
    assert elapsed < 0.2
