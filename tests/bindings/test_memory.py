"""The record of a run is handed over, not copied, and what has been recorded is returned when memory runs out."""

import _testcapi
import re
import subprocess
import sys

import numpy as np
import pytest

import lgint
from bindings.systems import top, top_start
from lgint import _core

COLUMNS = ("t", "h", "error", "q", "v", "vdot", "lam", "mem")


@pytest.mark.parametrize("options", [{"h": 1e-3}, {"rtol": 1e-3}], ids=str)
def test_arrays_belong_to_the_caller(options):
    kept = lgint.integrate(lgint.models.heavy_top(), "ode23", t_end=0.2, dense_output=True, **options)
    arrays = {name: getattr(kept, name) for name in COLUMNS}
    arrays |= {f"knots {name}": array for name, array in kept.sol.knots.items()}
    arrays |= {f"end {name}": array for name, array in kept.end.items()}
    before = {name: array.copy() for name, array in arrays.items()}
    del kept
    lgint.integrate(lgint.models.heavy_top(), "ode23", t_end=0.2, dense_output=True, **options)
    for name, array in arrays.items():
        assert array.flags.c_contiguous and array.flags.writeable and array.dtype == np.float64, name
        assert np.array_equal(array, before[name], equal_nan=True), name
        array[...] = 7.0
    assert all((array == 7.0).all() for array in arrays.values())


MEASURE = """
import gc, sys
import lgint

def status(key):
    return next(1024 * int(line.split()[1]) for line in open("/proc/self/status") if line.startswith(key))

model = lgint.models.free_body(formulation="R3xSO3")
given = dict(eval(sys.argv[1]))
lgint.integrate(model, t_end=0.01, **given)
gc.collect()
before = status("VmRSS")
with open("/proc/self/clear_refs", "w") as file:
    file.write("5")
run = lgint.integrate(model, t_end=float(sys.argv[2]), **given)
peak = status("VmHWM") - before
arrays = [run.t, run.h, run.error, run.q, run.v, run.vdot, *(run.sol.knots.values() if run.sol else ())]
print(sum(array.nbytes for array in arrays), peak)
"""

RUNS = {
    "fixed steps": ({"method": "euler", "h": 1e-4}, 35.0),
    "every second": ({"method": "euler", "h": 1e-4, "save_every": 2}, 70.0),
    "dense": ({"method": "euler", "h": 1e-4, "dense_output": True}, 19.0),
    "adaptive": ({"method": "ode23", "rtol": 1e-9, "max_step": 1e-4}, 35.0),
}


@pytest.mark.measures
@pytest.mark.parametrize("name", RUNS)
def test_the_peak_is_the_trajectory(name):
    """While about 80 MB are recorded, resident memory grows by little more than what is returned."""
    given, t_end = RUNS[name]
    found = subprocess.run(
        [sys.executable, "-c", MEASURE, repr(given), str(t_end)], capture_output=True, text=True, check=True
    )
    size, peak = map(int, found.stdout.split())
    assert 6e7 < size < 2e8
    assert 0.98 * size < peak < 1.1 * size


LIMITED = """
import resource, sys
import numpy as np
import lgint

def never(t, q, v):
    return 1.0

never.terminal = True
model = lgint.models.free_body(formulation="R3xSO3")
given = dict(eval(sys.argv[1]))
expected = lgint.integrate(model, t_end=0.01, **given)
used = next(1024 * int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmSize"))
resource.setrlimit(resource.RLIMIT_AS, (used + 50_000_000, resource.RLIM_INFINITY))
try:
    lgint.integrate(model, t_end=1e5, **given)
except MemoryError as error:
    run = error.trajectory
    n = len(expected) - 3  # the last steps of the short run are landings
    assert run.q[:n].tobytes() == expected.q[:n].tobytes() and run.status == -1
    taken = "save" in given  # memory runs out in Python, which takes the rows
    assert error.report["status"] == ("CALLBACK" if taken else "NO_MEMORY"), error.report
    print(sum(a.nbytes for a in (run.t, run.q, run.v, run.vdot)))
"""


UNKNOWN = {
    "chosen parts": "{'method': 'ode23', 'rtol': 1e-9, 'max_step': 1e-4, 'save': ['q', 'v', 'vdot']}",
    "adaptive": repr(RUNS["adaptive"][0]),
    "it may end earlier": "{'method': 'euler', 'h': 1e-4, 'events': never}",
}


@pytest.mark.measures
@pytest.mark.parametrize("name", UNKNOWN)
def test_what_was_recorded_is_kept_when_memory_runs_out(name):
    """The number of states is not known, and 50 MB are available: the error carries the states that fitted."""
    found = subprocess.run([sys.executable, "-c", LIMITED, UNKNOWN[name]], capture_output=True, text=True)
    assert found.returncode == 0, found.stderr
    assert 1.5e7 < int(found.stdout) < 5e7


TOO_MANY = {  # arguments, states, and bytes of t, h, error, q, v, vdot and lam of each
    "every step": ({"h": 1e-6}, "1e+15 states would take 2.4e+08 GB"),
    "some steps": ({"h": 1e-6, "save_every": 10**5}, "1e+10 states would take 2.4e+03 GB"),
    "dense": (
        {"h": 1e-6, "save_every": 2**31 - 1, "dense_output": True},
        "465663 states and the dense output would take 2.24e+08 GB",
    ),
}


@pytest.mark.parametrize("name", TOO_MANY)
def test_a_record_that_does_not_fit_is_refused_before_the_run(name):
    given, message = TOO_MANY[name]
    advice = "save fewer states with save_every or t_eval"
    with pytest.raises(MemoryError, match=f"{re.escape(message)}; {advice}") as caught:
        lgint.integrate(lgint.models.heavy_top(), "euler", t_end=1e9, **given)
    assert caught.value.report["status"] == "NO_MEMORY" and caught.value.trajectory.stats.steps == 0


def chosen(run):
    return run.q[:, 0]


@pytest.mark.parametrize(("save", "size"), [(["q", "v"], "1.68e+08"), ({"x": chosen}, "3.2e+07")], ids=["names", "x"])
def test_what_is_saved_of_states_counts(save, size, tmp_path):
    """t, h, error, q and v are 21 numbers; states that are written to a folder need no memory."""
    given = {"t_end": 1e9, "h": 1e-6, "save": save}
    with pytest.raises(MemoryError, match=f"1e\\+15 states would take {re.escape(size)} GB; save fewer"):
        lgint.integrate(lgint.models.heavy_top(), "euler", **given)

    def stop(t):
        raise InterruptedError

    with pytest.raises(InterruptedError):
        lgint.integrate(lgint.models.heavy_top(), "euler", **given, path=tmp_path / "run", progress=stop)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"method": "euler", "h": 1e-6}, "1.5e+11 states would take 3.6e+04 GB"),
        ({"method": "dopri5", "rtol": 1e-6, "t_eval": np.linspace(0, 15, 10**6)}, "1e+10 states would take 2.4e+03 GB"),
        ({"method": "euler", "h": 1e-6, "save": ["q"]}, "1.5e+11 states would take 1.8e+04 GB"),
        (
            {"method": "euler", "h": 1e-6, "dense_output": True, "save_every": 10},
            "1.5e+10 states and the dense output would take 3.72e+04 GB",
        ),
    ],
    ids=["all", "at times", "chosen", "dense"],
)
def test_the_records_of_an_ensemble_are_counted_together(given, message):
    """Each of the runs would fit, with at most 15 million states of 30 numbers."""
    with pytest.raises(MemoryError, match=f"{re.escape(message)}; save fewer"):
        lgint.integrate([lgint.models.heavy_top()] * 10_000, t_end=15.0, **given)


def outcomes(function, count):
    """The error of a call in which the first, second, ... allocation by Python fails, or None if the call succeeds."""
    found = []
    for i in range(count):
        error = None
        _testcapi.set_nomemory(i, i + 1)
        try:
            function()
        except MemoryError as caught:
            error = caught
        finally:
            _testcapi.remove_mem_hooks()
        found.append(error)
    return found


def test_a_result_survives_a_failing_allocation():
    """A failure before the run has no result to keep; every failure after it carries the complete result."""
    system, (q, v) = top(), top_start()
    arguments = (system, "rk44", 0.0, 0.05, 0.01, 1, q, v, None, {}, None, None, None, True)
    whole = _core.integrate(*arguments)
    errors = [error for error in outcomes(lambda: _core.integrate(*arguments), 300) if error]
    kept = [error.result for error in errors if getattr(error, "result", None)]
    assert len(kept) > 20 and all(getattr(error, "result", None) for error in errors[-len(kept) :])
    for result in kept:
        assert all(result[name].tobytes() == whole[name].tobytes() for name in (*COLUMNS, "carry"))
        assert result["knots"]["q"].tobytes() == whole["knots"]["q"].tobytes()


def test_results_of_an_ensemble_survive_a_failing_allocation():
    """The same holds for an ensemble: what has become arrays before the failure is not lost either."""
    system, (q, v) = top(), top_start()
    arguments = ([system] * 4, "rk44", 0.0, 0.05, 0.01, 1, [q] * 4, [v] * 4, [[]] * 4, {})
    whole = _core.ensemble(*arguments)
    errors = [error for error in outcomes(lambda: _core.ensemble(*arguments), 600) if error]
    kept = [error.result for error in errors if getattr(error, "result", None)]
    assert len(kept) > 40 and all(getattr(error, "result", None) for error in errors[-len(kept) :])
    for results in kept:
        assert len(results) == 4 and all(error is None for _, error in results)
        for (result, _), (expected, _) in zip(results, whole, strict=True):
            assert all(result[name].tobytes() == expected[name].tobytes() for name in (*COLUMNS, "carry"))


def test_a_trajectory_survives_a_failing_allocation(monkeypatch):
    """An allocation fails while the trajectory is put together: the error carries a trajectory of the same states."""
    model, made = lgint.models.heavy_top(), []
    whole = lgint.integrate(model, "rk44", t_end=0.05, h=0.01)
    init = lgint.Trajectory.__init__

    def fails_once(self, *arguments):
        made.append(self)
        if len(made) == 1:
            raise MemoryError
        init(self, *arguments)

    monkeypatch.setattr(lgint.Trajectory, "__init__", fails_once)
    with pytest.raises(MemoryError) as caught:
        lgint.integrate(model, "rk44", t_end=0.05, h=0.01)
    assert caught.value.trajectory.q.tobytes() == whole.q.tobytes()


def available():
    """Bytes that the core believes to be free."""

    def first(path, label=""):
        try:
            with open(path) as file:
                found = next((line for line in file if line.startswith(label)), "")
        except OSError:
            return np.inf
        words = found.removeprefix(label).split()
        return float(words[0]) if words and words[0].isdecimal() else np.inf

    limits = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")
    return min(1024 * first("/proc/meminfo", "MemAvailable:"), *map(first, limits))


def test_rows_that_are_taken_away_are_counted_together():
    """Each call delivers a few states that fit; at the end all of them have to fit."""
    taken = []
    (q, v), options = top_start(), {"rtol": 1e-6, "max_step": 1e-3}
    arguments = (top(), "dopri5", 0.0, 1.0, np.nan, 1, q, v, None, options, None, None, None, False, None)
    kept = 0.05 * min(available(), 1e15)
    with pytest.raises(MemoryError):
        _core.integrate(*arguments, lambda rows: taken.append(len(rows["t"])), 2, False, kept)
    assert 2 < len(taken) < 30 and set(taken) == {2}


ENSEMBLE = """
import resource, sys
import lgint

model = lgint.models.free_body(formulation="R3xSO3")
given = {"rtol": 1e-9, "max_step": 1e-4, **eval(sys.argv[1])}
lgint.integrate([model] * 2, "ode23", t_end=0.01, **given)
used = next(1024 * int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmSize"))
resource.setrlimit(resource.RLIMIT_AS, (used + 50_000_000, resource.RLIM_INFINITY))
try:
    lgint.integrate([model] * 10, "ode23", t_end=6.0, **given)
except MemoryError as error:
    runs = error.trajectory
    print(sum(part.nbytes for run in runs for part in (run.t, run.h, run.error, run.q, run.v, run.vdot)))
    print(*[run.status for run in runs])
    print(error)
"""
ONE_BY_ONE = {"events": "{'events': lambda t, q, v: 1.0}", "save": "{'save': ['q', 'v', 'vdot']}"}


@pytest.mark.measures
@pytest.mark.parametrize("given", ["{}", *ONE_BY_ONE.values()], ids=["in the core", *ONE_BY_ONE])
def test_an_ensemble_ends_where_memory_runs_out(given):
    """The other runs would have none either; the message says what ten runs with 60 000 states of 27 numbers take."""
    found = subprocess.run([sys.executable, "-c", ENSEMBLE, given], capture_output=True, text=True)
    assert found.returncode == 0, found.stderr
    taken, statuses, message = found.stdout.splitlines()
    done = statuses.split()
    assert 2 <= len(done) <= 4 and done[:-1] == ["0"] * (len(done) - 1) and done[-1] == ("-1" if given == "{}" else "0")
    found = re.search(r"; (\d+) of 10 runs so far take (\S+) GB, all would take about (\S+) GB", message).groups()
    begun, so_far, whole = map(float, found)
    assert 0 <= begun - len(done) <= (given != "{}")  # the last one, which the ensemble does not have
    assert 1e-9 * int(taken) == pytest.approx(so_far, rel=0.01) or begun > len(done)
    assert whole == pytest.approx(10 * 60_300 * 27 * 8e-9, rel=0.01)
