"""Sweeps: grids, lists and samples on every executor, with the bits of single runs; files, kills and failures."""

import functools
import os
import signal
import sqlite3
import subprocess
import sys
import textwrap
import threading
import time
from collections import Counter
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest

import lgint
from lgint._sweep.execute import StoppedError
from lgint._sweep.job import Job
from lgint._sweep.units import units_of

xarray = pytest.importorskip("xarray")
TOP = {"t_end": 0.05, "h": 1e-3}
OBSERVED = {"tip": lambda traj: traj.position("top")[-1], "energy": lambda traj: traj.energy()[-1]}
COMS = [(0.0, 1.0, 0.0), (0.1, 0.9, 0.0)]


class Inline(Executor):
    """An executor of no known kind, which runs each task at once in the calling thread."""

    def submit(self, fn, /, *args, **kwargs):
        future = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


def top_sweep(parameters, observables=None, **arguments):
    given = {"method": "genalpha", **TOP, **arguments}
    return lgint.sweep(lgint.models.heavy_top, parameters, observables=observables or OBSERVED, **given)


def oscillator(k=1.0):
    """A model whose runs call Python functions."""
    return lgint.LagrangianModel([1.0], [0.0], mass=lambda q: np.eye(1), potential=lambda q: k * q[0] ** 2 / 2)


# ---- what a sweep returns ----


def test_a_grid_has_the_bits_of_freshly_built_models():
    data = lgint.sweep(
        lgint.models.heavy_top,
        {"mass": [10, 15.0], "com": COMS, "h": [1e-3, 2e-3]},
        "genalpha",
        OBSERVED,
        t_end=0.05,
        rho_inf=0.8,
        formulation="SE3",
    )
    assert dict(data.sizes) == {"mass": 2, "com": 2, "h": 2, "tip_axis": 3, "com_axis": 3}
    for i, mass in enumerate([10, 15.0]):
        for j, com in enumerate(COMS):
            for k, h in enumerate([1e-3, 2e-3]):
                model = lgint.models.heavy_top(mass=mass, com=com, formulation="SE3")
                run = lgint.integrate(model, "genalpha", t_end=0.05, h=h, rho_inf=0.8)
                assert np.array_equal(data.tip[i, j, k], run.position("top")[-1])
                assert data.energy[i, j, k] == run.energy()[-1]
                assert data.report[i, j, k] == ""


def test_labels_units_and_attributes(tmp_path):
    data = top_sweep(
        {"mass": [10, 15.0], "com": COMS, "formulation": ["SE3", "R3xSO3"], "newton": ["full", None]},
        units={"energy": "J", "tip": "m"},
    )
    assert data.mass.attrs["units"] == "kg" and data.com_value.attrs["units"] == "m"
    assert data.tip.attrs["units"] == "m" and data.energy.attrs["units"] == "J"
    assert [*data.com.values] == [0, 1] and np.array_equal(data.com_value, COMS)
    chosen = data.sel(mass=15.0, formulation="SE3", newton="full").isel(com=1)
    assert np.array_equal(chosen.com_value, COMS[1]) and chosen.energy.shape == ()
    assert "h=0.001" in data.attrs["arguments"] and "heavy_top" in data.attrs["model"]
    assert data.attrs["lgint"] == lgint.__version__
    data.drop_vars("report").to_dataframe()


def test_a_list_of_runs_and_a_model_with_values():
    model = lgint.models.heavy_top()
    runs = [{"top.mass": 10.0, "gravity": (0, 0, -9.81)}, {"top.mass": 12.0, "gravity": (0, 0, -1.6)}]
    data = lgint.sweep(model, runs, "rk44", OBSERVED, **TOP)
    assert dict(data.sizes) == {"run": 2, "tip_axis": 3, "gravity_axis": 3}
    assert [*data["top.mass"].values] == [10.0, 12.0] and data["top.mass"].dims == ("run",)
    assert data["top.mass"].attrs["units"] == "kg" and data["gravity_value"].attrs["units"] == "m/s^2"
    alone = lgint.integrate(lgint.models.heavy_top(mass=12.0, gravity=(0, 0, -1.6)), "rk44", **TOP)
    assert np.array_equal(data.tip[1], alone.position("top")[-1])


def test_values_of_a_model_that_a_factory_makes():
    data = top_sweep({"top.inertia": [(0.2, 0.4, 0.2), (0.3, 0.5, 0.3)], "mass": [5.0, 6.0]})
    model = lgint.models.heavy_top(mass=6.0).with_parameters(**{"top.inertia": (0.3, 0.5, 0.3)})
    assert data.energy[1, 1] == lgint.integrate(model, "genalpha", **TOP).energy()[-1]


def test_the_method_may_vary():
    data = lgint.sweep(lgint.models.heavy_top, {"method": ["rk44", "genalpha"]}, observables=OBSERVED, **TOP)
    assert data.energy.sel({"method": "rk44"}) == lgint.integrate(lgint.models.heavy_top(), "rk44", **TOP).energy()[-1]


def test_runs_may_keep_quantities_only():
    save = {"z": lambda run: run.position("top")[:, 2]}
    data = top_sweep({"mass": [10.0, 11.0]}, {"lowest": lambda run: run.saved["z"].min()}, save=save)
    assert (
        data.lowest[1]
        == lgint.integrate(lgint.models.heavy_top(mass=11.0), "genalpha", **TOP).position("top")[:, 2].min()
    )


def test_arrays_of_different_lengths_are_filled_with_nan():
    data = lgint.sweep(
        lgint.models.heavy_top, {"h": [2.5e-2, 1e-2]}, "rk44", {"t": lambda traj: traj.t, "n": len}, t_end=0.05
    )
    assert data.t.shape == (2, 6) and np.isnan(data.t[0, 3:]).all() and data.t[1, 5] == 0.05
    assert [*data.n.values] == [3, 6] and data.n.dtype == int


# ---- samples ----


def test_samples():
    runs = lgint.sample({"mass": (10, 20), "com": ((0, 0.5, 0), (0, 1.0, 0.1))}, 40, seed=3)
    assert len(runs) == 40
    again = lgint.sample({"mass": (10, 20), "com": ((0, 0.5, 0), (0, 1.0, 0.1))}, 40, seed=3)
    assert all(a["mass"] == b["mass"] and np.array_equal(a["com"], b["com"]) for a, b in zip(runs, again, strict=True))
    masses, coms = np.array([run["mass"] for run in runs]), np.array([run["com"] for run in runs])
    assert 10 < masses.min() < 12 and 18 < masses.max() < 20 and not coms[:, 0].any() and np.ptp(coms[:, 1]) > 0.4
    assert top_sweep(lgint.sample({"mass": (10, 20)}, 3)).sizes["run"] == 3
    with pytest.raises(ValueError, match="mass: a range"):
        lgint.sample({"mass": 10}, 3)


def test_samples_of_scipy():
    stats = pytest.importorskip("scipy.stats")
    runs = lgint.sample({"a": stats.norm(5, 2), "b": (0, 1)}, 64, engine=stats.qmc.LatinHypercube, seed=1)
    strata = np.sort([int(64 * run["b"]) for run in runs])
    assert [*strata] == [*range(64)]
    assert np.mean([run["a"] for run in runs]) == pytest.approx(5, abs=0.2)


def test_each_number_of_a_sample_is_its_own_and_follows_from_the_seed():
    ranges = {"a": (0, 1), "b": ((0, 0), (1, 1)), "c": (0, 1)}
    run = lgint.sample(ranges, 3, seed=5)[1]
    numbers = [run["a"], *run["b"], run["c"]]
    assert numbers == np.random.default_rng(5).random((3, 4))[1].tolist() and len(set(numbers)) == 4


def test_an_engine_gets_the_seed():
    qmc = pytest.importorskip("scipy.stats").qmc
    first, again, other = (lgint.sample({"a": (0, 1), "b": (0, 1)}, 4, engine=qmc.Sobol, seed=s) for s in (3, 3, 4))
    assert first == again != other
    expected = qmc.Sobol(2, rng=np.random.default_rng(3)).random(4)
    assert [[run["a"], run["b"]] for run in first] == expected.tolist()


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"parameters": [("a", (0, 1))]}, "parameters: ranges or distributions by name"),
        ({"parameters": {"a": "ab"}}, "a: a range"),
        ({"parameters": {"a": ((0, 1), (0, 1, 2))}}, "a: low and high of the same shape"),
        ({"n": 2.5}, "n: a whole number"),
        ({"n": -1}, "n: a whole number"),
        ({"seed": "now"}, "seed: a whole number"),
        ({"engine": "Sobol"}, "engine: a class of scipy.stats.qmc"),
    ],
)
def test_samples_that_are_refused(arguments, text):
    with pytest.raises(ValueError, match=text):
        lgint.sample(**{"parameters": {"a": (0, 1)}, "n": 2, **arguments})


# ---- executors ----


# Python 3.12 and 3.13 warn when a process with threads is forked, and those of pytest-xdist have threads
forks = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")


@forks
@pytest.mark.parametrize("executor", [None, Inline(), "threads", "processes"])
def test_every_executor_gives_the_same_bits(executor):
    parameters = {"mass": np.linspace(5, 20, 7)}
    single = [
        lgint.integrate(lgint.models.heavy_top(mass=m), "genalpha", **TOP).energy()[-1] for m in parameters["mass"]
    ]
    kinds = {"threads": ThreadPoolExecutor, "processes": ProcessPoolExecutor}
    if executor in kinds:
        with kinds[executor](2) as pool:
            data = top_sweep(parameters, executor=pool)
            assert pool.submit(int, 3).result() == 3  # an executor given by the caller stays open
    else:
        data = top_sweep(parameters, executor=executor)
    assert [*data.energy.values] == single


@forks
def test_models_in_python_run_in_processes_by_default():
    data = lgint.sweep(
        oscillator,
        {"k": [1.0, 4.0]},
        "genalpha",
        {"q": lambda traj: traj.q[-1, 0], "pid": lambda traj: os.getpid()},
        t_end=0.5,
        h=0.05,
    )
    assert [*data.q.values] == [
        lgint.integrate(oscillator(k), "genalpha", t_end=0.5, h=0.05).q[-1, 0] for k in (1.0, 4.0)
    ]
    assert os.getpid() not in data.pid.values


def test_compiled_models_run_in_threads_of_this_process_by_default():
    data = top_sweep(
        {"mass": [10.0, 11.0]}, {"pid": lambda traj: os.getpid(), "thread": lambda traj: threading.get_ident()}
    )
    assert {*data.pid.values} == {os.getpid()} and threading.get_ident() not in data.thread.values


def test_dask_distributed():
    distributed = pytest.importorskip("distributed")
    parameters = {"mass": [10.0, 12.0, 14.0], "com": COMS}
    observed = OBSERVED | {"pid": lambda traj: os.getpid()}
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, processes=True, dashboard_address=None, worker_dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        data = top_sweep(parameters, observed, executor=client.get_executor())
    assert os.getpid() not in data.pid.values
    here = top_sweep(parameters)
    assert data.energy.equals(here.energy) and data.tip.equals(here.tip)


def test_tasks_are_portions_of_runs():
    class Counting(Inline):
        sizes = []

        def submit(self, fn, /, *args, **kwargs):
            self.sizes.append(len(args[-1]))
            return super().submit(fn, *args, **kwargs)

    executor = Counting()
    data = top_sweep({"mass": np.linspace(5, 20, 300)}, executor=executor, workers=1)
    assert sum(executor.sizes) == 300 == data.energy.size and len(executor.sizes) < 40
    assert executor.sizes[0] == 1 and max(executor.sizes) > 10 and executor.sizes[-1] < max(executor.sizes)


# ---- failures ----


def test_failed_runs_are_nan_beside_their_report():
    def choosy(traj):
        if traj.model.values["top.mass"] == 11.0:
            raise ValueError("no eleven")
        return traj.energy()[-1]

    data = top_sweep({"mass": [10.0, -1.0, 11.0, 12.0]}, {"energy": choosy, "n": len})
    assert [*np.isnan(data.energy.values)] == [False, True, True, False]
    assert "positive number" in data.report.values[1] and data.report.values[2] == "ValueError: no eleven"
    assert data.n.dtype == float and data.n[0] == 51 and np.isnan(data.n[1])


def test_it_warns_if_no_run_was_a_success():
    with pytest.warns(UserWarning, match="all 2 runs failed, the first one with: .*positive number"):
        data = top_sweep({"mass": [-1.0, 0.0]}, {"n": len})
    assert np.isnan(data.n).all()


def test_a_run_that_does_not_converge_is_reported():
    data = lgint.sweep(
        lgint.models.rotor, {"omega0": [(0, 0, 1e200), (0, 0, 1.0)]}, "rk44", {"n": len}, t_end=0.01, h=1e-3
    )
    assert data.report.values[0].startswith(("ConvergenceError", "ValueError", "IntegrationError"))
    assert np.isnan(data.n[0]) and data.n[1] == 11


def test_mistakes_in_programs_end_the_sweep():
    with pytest.raises(AttributeError, match="positon"):
        top_sweep({"mass": [10.0, 11.0]}, {"tip": lambda traj: traj.positon("top")})


@pytest.mark.parametrize(
    ("parameters", "arguments", "text"),
    [
        ({"masss": [1.0]}, {}, "masss: neither a parameter.*did you mean 'mass'"),
        ({"mass": 1.0}, {}, "mass: a list of values"),
        ({"mass": "abc"}, {}, "mass: a list of values"),
        ({"mass": []}, {}, "at least one run"),
        ([{"mass": 1.0}, {"com": 2.0}], {}, "run 1 is"),
        ({"mass": [1.0]}, {"mass": 2.0}, "mass: given twice"),
        ({"mass": [1.0]}, {"rho": 2.0}, "rho: neither"),
        ({"mass": [1.0]}, {"method": None}, "method: a name"),
        ({"report": [1.0]}, {}, "other than"),
        ({"mass": [1.0]}, {"observables": {}}, "at least one function"),
        ({"mass": [1.0]}, {"observables": {"mass": len}}, "'mass' is the name of a parameter"),
        ({"mass": [1.0]}, {"observables": {"n": 3}}, "'n' is not a function"),
        ({"mass": [1.0]}, {"observables": len}, "observables: functions of a trajectory by name"),
        ({"mass": [1.0]}, {"observables": {3: len}}, "observables: functions of a trajectory by name"),
        ({"mass": [1.0]}, {"model": 3}, "model: a model, or a function"),
        ({"mass": [1.0]}, {"method": "genalfa"}, "unknown method 'genalfa'"),
        ({"mass": [1.0]}, {"executor": "threads"}, "executor: .* interface of concurrent.futures"),
        ({"mass": [1.0]}, {"workers": 0}, "workers: a whole number"),
        ({"mass": [1.0]}, {"units": "kg"}, "units: strings by the names"),
        ({"mass": [1.0]}, {"units": {"tipp": "m"}}, "observable or parameter 'tipp'.*did you mean 'tip'"),
        ({"mass": [1.0]}, {"path": 3}, "path: the name of a file"),
        ({"mass": [1.0]}, {"path": "/nowhere/at/all"}, "path: /nowhere/at/all is not the file of a sweep"),
        (
            {"mass": [1.0]},
            {"executor": Inline(), "observables": {"lock": threading.Lock().acquire}},
            "executor: the model, an argument or an observable cannot be sent",
        ),
    ],
)
def test_mistakes_are_found_before_the_first_run(parameters, arguments, text):
    given = {"method": "genalpha", "observables": OBSERVED, "model": lgint.models.heavy_top, **TOP, **arguments}
    with pytest.raises(ValueError, match=text):
        lgint.sweep(parameters=parameters, **given)


@pytest.mark.parametrize("missing", ["t_end", "h"])
def test_a_sweep_needs_an_end_and_a_step(missing):
    arguments = {name: value for name, value in TOP.items() if name != missing}
    with pytest.raises(ValueError, match=f"{missing}: .* is required, as an argument or as a parameter"):
        lgint.sweep(lgint.models.heavy_top, {"mass": [1.0]}, "genalpha", OBSERVED, **arguments)


def test_an_observable_has_the_same_number_of_axes_in_all_runs():
    observed = {"some": lambda run: run.q[-1] if run.model.bodies["top"]["mass"] > 10.5 else 1.0}
    with pytest.raises(ValueError, match="observables: 'some' has 0 or 1 axes"):
        top_sweep({"mass": [10.0, 11.0]}, observed)


def test_without_xarray(monkeypatch):
    monkeypatch.setitem(sys.modules, "xarray", None)
    with pytest.raises(ImportError, match=r"lgint\[sweep\]"):
        top_sweep({"mass": [1.0]})


def test_an_interrupted_sweep_stops_its_runs(monkeypatch):
    """Ctrl-C arrives while the calling thread waits: the sweep stops its runs, each of which would take minutes."""
    stopped = []

    def interrupt(*args, **kwargs):
        time.sleep(0.2)
        raise KeyboardInterrupt

    monkeypatch.setattr("lgint._sweep.execute.wait", interrupt)
    monkeypatch.setattr(
        "lgint._sweep.execute.StoppedError", type("Noted", (StoppedError,), {"__init__": lambda s: stopped.append(1)})
    )
    with pytest.raises(KeyboardInterrupt):
        top_sweep({"mass": [10.0, 11.0]}, t_end=1e4, h=1e-4, save_every=10**6)
    assert stopped


# ---- files ----


def counted(log):
    """Observables that write a line to a file for every run."""

    def note(traj):
        with open(log, "a") as file:
            file.write(f"{traj.model.parameters['mass']}\n")
        return traj.energy()[-1]

    return {"energy": note}


def test_a_file_keeps_what_was_done(tmp_path):
    log, path = tmp_path / "log", tmp_path / "sweep.db"
    first = top_sweep({"mass": [10.0, 11.0, -1.0]}, counted(log), path=path)
    again = top_sweep({"mass": [10.0, 11.0, -1.0]}, counted(log), path=path)
    assert again.equals(first) and len(log.read_text().splitlines()) == 2
    more = top_sweep({"mass": [9.0, 10.0, 11.0]}, counted(log), path=path)
    assert log.read_text().splitlines()[2:] == ["9.0"] and more.energy[1] == first.energy[0]


def test_a_file_of_another_sweep_is_refused(tmp_path):
    path = tmp_path / "sweep.db"
    top_sweep({"mass": [10.0]}, path=path)
    for other in ({"h": 2e-3}, {"method": "rk44"}, {"observables": {"n": len}}):
        with pytest.raises(ValueError, match="belongs to a sweep with"):
            top_sweep({"mass": [10.0]}, path=path, **other)
    for formulation in ("SE3", "R3xS3"):
        factory = functools.partial(lgint.models.heavy_top, formulation=formulation)
        with nullcontext() if formulation == "SE3" else pytest.raises(ValueError, match="a sweep with model"):
            lgint.sweep(factory, {"mass": [10.0]}, "rk44", OBSERVED, **TOP, path=tmp_path / "partial")
    (tmp_path / "text").write_text("no database" * 100)
    with pytest.raises(ValueError, match="is not the file of a sweep"):
        top_sweep({"mass": [10.0]}, path=tmp_path / "text")


KILLED = """
import sys, time
import lgint

def note(traj):
    with open(sys.argv[2], "a") as file:
        file.write(f"{traj.model.parameters['mass']}\\n")
    time.sleep(float(sys.argv[3]))
    return traj.energy()[-1]

if __name__ == "__main__":
    data = lgint.sweep(
        lgint.models.heavy_top, {"mass": [float(m) for m in range(5, 45)]}, "genalpha", {"energy": note},
        t_end=0.05, h=1e-3, path=sys.argv[1], workers=1)
    print(*data.energy.values)
"""


def test_a_killed_sweep_is_resumed(tmp_path):
    """After `kill -9`, runs that are in the file are not repeated, and the result is that of an undisturbed sweep."""
    script, log, path = tmp_path / "killed.py", tmp_path / "log", tmp_path / "sweep.db"
    script.write_text(textwrap.dedent(KILLED))
    environment = os.environ | {"PYTHONPATH": str(Path(lgint.__file__).parents[1])}
    command = [sys.executable, str(script), str(path), str(log)]
    with subprocess.Popen([*command, "0.05"], env=environment, stdout=subprocess.DEVNULL) as process:
        while not (log.exists() and len(log.read_text().splitlines()) > 12):
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
    with sqlite3.connect(path) as file:
        kept = file.execute("SELECT count(*) FROM runs").fetchone()[0]
    assert 0 < kept < 40
    before = len(log.read_text().splitlines())

    resumed = subprocess.run([*command, "0"], env=environment, capture_output=True, text=True, check=True)
    assert len(log.read_text().splitlines()) - before == 40 - kept
    whole = top_sweep({"mass": [float(m) for m in range(5, 45)]}, {"energy": lambda traj: traj.energy()[-1]})
    assert [float(value) for value in resumed.stdout.split()] == [*whole.energy.values]


# ---- units, progress, time ----


def test_units_of_models_in_the_library():
    def units(name):
        model = getattr(lgint.models, name)
        return units_of(model, [*lgint.models.parameters(name), "h"], {})

    assert units("heavy_top") == {
        "mass": "kg",
        "inertia": "kg m^2",
        "com": "m",
        "gravity": "m/s^2",
        "omega0": "rad/s",
        "h": "s",
    }
    assert units("slider_crank")["rod_mass"] == "kg" and units("slider_crank")["crank_inertia"] == "kg m^2"
    assert "stiffness" not in units("rotor") and units("flying_spaghetti")["bending_stiffness"] == "N m^2"


def test_progress_is_shown(capsys):
    top_sweep({"mass": [10.0, 11.0]}, progress=True)
    assert "2/2 runs" in capsys.readouterr().err


def ready_time():
    """Seconds for which this thread has been running or, while others had the processor, ready to run."""
    text = Path(f"/proc/self/task/{threading.get_native_id()}/schedstat").read_text()
    running, waiting, _ = map(int, text.split())
    return 1e-9 * (running + waiting)


@pytest.mark.measures
@pytest.mark.skipif(not Path("/proc/self/schedstat").exists(), reason="Linux only")
def test_two_threads_are_nearly_twice_as_fast():
    """Two threads are ready to run 95 % of the time, so that two free processors make the sweep 1.9 times as fast.

    Waiting for a processor counts as being ready, waiting for the GIL does not: other programs have no influence.
    """

    def share():
        ready = {}

        def note(traj):
            ready[threading.get_native_id()] = ready_time()
            return 0.0

        with ThreadPoolExecutor(2) as pool:
            begin = time.perf_counter()
            top_sweep({"mass": np.linspace(5, 20, 64)}, {"x": note}, t_end=10.0, save_every=100, executor=pool)
            seconds = time.perf_counter() - begin
        assert len(ready) == 2
        return sum(ready.values()) / seconds

    assert any(share() > 1.9 for _ in range(8))


@pytest.mark.measures
def test_a_sweep_over_values_costs_little_more_than_its_steps():
    steps = []

    def spent(traj):
        steps.append(traj.stats.wall_time)
        return traj.q[-1, 0]

    ratios = []
    for _ in range(3):
        steps.clear()
        begin = time.perf_counter()
        with ThreadPoolExecutor(1) as pool:
            lgint.sweep(
                lgint.models.heavy_top(),
                {"top.mass": np.linspace(5, 20, 1000)},
                "genalpha",
                {"x": spent},
                t_end=1.0,
                h=1e-3,
                executor=pool,
            )
        ratios.append((time.perf_counter() - begin) / sum(steps))
    assert min(ratios) < 1.2


def test_a_run_of_a_sweep_takes_few_calls():
    """Calls of functions for each further run, which are what it costs beside its steps: a tenth of 1000 of `rk44`."""
    arguments = {"method": "rk44", "t_end": 0.01, "h": 1e-3}
    job = Job(lgint.models.heavy_top(constrained=False), arguments, {"q": lambda run: run.q[-1]})

    def calls(n):
        events, runs = Counter(), [{"top.mass": mass} for mass in np.linspace(5, 20, n)]
        sys.setprofile(lambda frame, event, function: events.update([event]))
        try:
            job(runs)
        finally:
            sys.setprofile(None)
        return events["call"] + events["c_call"]

    calls(1)  # what is imported and cached once
    assert (calls(60) - calls(20)) / 40 < 160
