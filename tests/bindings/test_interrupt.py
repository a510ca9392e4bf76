"""Ctrl-C and progress."""

import os
import signal
import threading
import time

import pytest

from bindings.systems import oscillator, pushed_top, run, top, top_start
from lgint import _core

LONG = {
    "compiled": (top, top_start(), dict(h=1e-6)),
    "function of time": (pushed_top, top_start(), dict(h=1e-6)),
    "callable": (oscillator, ([1.0, 0.0], [0.0, 1.0]), dict(h=1e-6)),
}


@pytest.mark.parametrize("method", ["rk44", "genalpha"])
@pytest.mark.parametrize("name", LONG)
def test_ctrl_c_returns_control_with_what_was_computed(name, method):
    system, (q, v), settings = LONG[name]
    sent = []

    def interrupt():
        time.sleep(0.3)
        sent.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    try:
        with pytest.raises(_core.Interrupted) as caught:
            run(system(), method, q, v, t_end=1e3, every=1000, **settings)
        elapsed = time.perf_counter() - sent[0]
    finally:
        thread.join()

    assert elapsed < 0.2
    assert isinstance(caught.value, KeyboardInterrupt) and not isinstance(caught.value, Exception)
    assert caught.value.report["status"] == "INTERRUPTED"
    result = caught.value.result
    assert result["stats"]["steps"] > 100
    assert result["t"][-1] == pytest.approx(1e-6 * result["stats"]["steps"])


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
