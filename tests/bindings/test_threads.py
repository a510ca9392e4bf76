"""Many threads share one const system, and the interpreter is free while they run."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from bindings.systems import PENDULUM_START, pendulum, pushed_top, run, same_bits, top, top_start


@pytest.mark.parametrize("method", ["rk44", "dop853", "genalpha"])
@pytest.mark.parametrize(
    "make, start, h", [(top, top_start(), 1e-4), (pushed_top, top_start(), 1e-3), (pendulum, PENDULUM_START, 1e-2)]
)
def test_four_threads_get_the_same_bits_from_one_system(make, start, h, method):
    expected = run(make(), method, *start, h=h)
    shared = make()
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda _: run(shared, method, *start, h=h), range(8)))
    assert all(same_bits(result, expected) for result in results)


@pytest.mark.measures
def test_the_interpreter_runs_on_during_a_run():
    system, done = top(), threading.Event()

    def work():
        run(system, "genalpha", *top_start(), h=2e-6, every=10000)
        done.set()

    thread = threading.Thread(target=work)
    begin = time.perf_counter()
    thread.start()
    turns = 0
    while not done.is_set():
        time.sleep(0.001)
        turns += 1
    thread.join()
    elapsed = time.perf_counter() - begin
    assert turns > 100 * elapsed  # if the run held the lock, there would be one turn per poll, 20 a second
