"""Sweeps that are disturbed by Ctrl-C, dying processes and other programs: nothing waits, and nothing is lost."""

import multiprocessing
import os
import signal
import sqlite3
import subprocess
import sys
import textwrap
import threading
import time
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import closing, nullcontext
from pathlib import Path

import numpy as np
import pytest

import lgint

pytest.importorskip("xarray")
TOP = {"t_end": 0.01, "h": 1e-3}
MASSES = [1.0, 2.0, 3.0, 4.0, 5.0]
# Python 3.12 and 3.13 warn when a process with threads is forked, and those of pytest-xdist have threads
forks = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")


def swept(masses, observe, **arguments):
    return lgint.sweep(lgint.models.heavy_top, {"mass": masses}, "rk44", {"x": observe}, **{**TOP, **arguments})


def mass(run):
    return run.model.bodies["top"]["mass"]


# ---- Ctrl-C ----

LONG = """
import sys, time
import lgint

def model(k):
    return lgint.LagrangianModel([1.0], [0.0], lambda q: [[1.0]], lambda q: k * q[0] ** 2 / 2)

def observe(run):
    if run.t[-1] == 1.0 and run.q[0, 0] == 1.0 and run.model.given["potential"]([1.0]) > 0.75:
        time.sleep(60)
    return 1.0

if __name__ == "__main__":
    kinds = {"processes": lambda: None, "own": lambda: __import__("concurrent.futures").futures.ProcessPoolExecutor(2)}
    executor = kinds[sys.argv[2]]()
    try:
        lgint.sweep(model, {"k": [1.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0]}, "rk44", {"x": observe}, t_end=1.0, h=0.5,
                    path=sys.argv[1], executor=executor, workers=2)
    except lgint.Interrupted as error:
        print(*error.trajectory.x.values, error.report["done"], error, flush=True)
        for process in executor._processes.values() if executor else ():
            process.kill()
"""


@forks
@pytest.mark.measures
@pytest.mark.parametrize("kind", ["processes", "own"])
@pytest.mark.parametrize("everybody", [False, True])
def test_ctrl_c_waits_for_no_run(tmp_path, kind, everybody):
    """Runs take a minute. A terminal sends Ctrl-C to all processes. Finished runs are kept."""
    script, path = tmp_path / "long.py", tmp_path / "file"
    script.write_text(textwrap.dedent(LONG))
    environment = os.environ | {"PYTHONPATH": str(Path(lgint.__file__).parents[1])}
    command = [sys.executable, str(script), str(path), kind]
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        while not kept(path):
            assert process.poll() is None
            time.sleep(0.05)
        time.sleep(0.3)
        begin = time.perf_counter()
        (os.killpg if everybody and kind == "processes" else os.kill)(process.pid, signal.SIGINT)
        said = process.stdout.readline()
        assert time.perf_counter() - begin < 2
    assert said.startswith("1.0 nan nan nan nan nan nan 1 Ctrl-C: 1 of 7 runs are done") and "the same call" in said
    assert kept(path) == 1


def kept(path):
    """Runs in a file."""
    try:
        with sqlite3.connect(path) as file:
            return file.execute("SELECT count(*) FROM runs").fetchone()[0]
    except sqlite3.OperationalError:
        return 0


def test_queued_runs_of_other_executors_are_cancelled():
    class Queue(Executor):
        """It works on the first task only."""

        futures = []

        def submit(self, function, /, *args):
            self.futures.append(Future())
            if len(self.futures) == 1:
                self.futures[0].set_result(function(*args))
            elif len(self.futures) == 2:
                self.futures[1].set_running_or_notify_cancel()
            elif len(self.futures) == 3:
                threading.Timer(0.1, os.kill, [os.getpid(), signal.SIGINT]).start()
            return self.futures[-1]

    with pytest.raises(lgint.Interrupted, match=r"1 of 5 runs are done.*path=") as caught:
        swept(MASSES, mass, executor=Queue(), workers=2)
    assert caught.value.trajectory.x[0] == 1.0 and np.isnan(caught.value.trajectory.x[1:]).all()
    assert [*caught.value.trajectory.report.values] == ["", *["not done"] * 4]
    assert [future.cancelled() for future in Queue.futures[2:]] == [True] * (len(Queue.futures) - 2)


def test_a_mistake_in_a_program_leaves_what_was_found(tmp_path):
    def observe(run):
        return run.no_such_thing if mass(run) == 3.0 else mass(run)

    with ThreadPoolExecutor(1) as pool, pytest.raises(AttributeError) as caught:
        swept(MASSES, observe, executor=pool, workers=1, path=tmp_path / "file")
    assert [*caught.value.trajectory.x.values[:2]] == [1.0, 2.0] and np.isnan(caught.value.trajectory.x[2])


# ---- processes that die ----


@forks
@pytest.mark.parametrize("executor", [None, "pool"])
def test_a_run_whose_process_dies_has_failed(tmp_path, executor):
    """The others are done, and none of them twice by a later call."""
    log, here = tmp_path / "log", os.getpid()

    def model(k):
        if k in (2.0, 4.0) and os.getpid() != here:
            os.kill(os.getpid(), signal.SIGKILL)
        return lgint.LagrangianModel([k], [0.0], lambda q: np.eye(1), lambda q: 0.0)

    def observe(run):
        with open(log, "a") as file:
            file.write(f"{run.q[0, 0]}\n")
        return run.q[0, 0]

    def run():
        pool = executor and ProcessPoolExecutor(2)
        arguments = {"path": tmp_path / "file", "executor": pool, "workers": 2}
        return lgint.sweep(model, {"k": MASSES}, "rk44", {"x": observe}, **TOP, **arguments)

    data = run()
    assert [*data.x.values[[0, 2, 4]]] == [1.0, 3.0, 5.0] and np.isnan(data.x.values[[1, 3]]).all()
    for report in data.report.values[[1, 3]]:
        assert "its process died: SIGKILL" in report
    done = log.read_text()
    assert run().equals(data) and log.read_text() == done
    assert not multiprocessing.active_children()


# ---- files that others use as well ----


def test_an_empty_table_is_new(tmp_path):
    """A file whose creation was interrupted when files were not yet written in one piece."""
    for statements in ([], ["CREATE TABLE about (format TEXT, about TEXT)"]):
        path = tmp_path / f"{len(statements)}"
        with sqlite3.connect(path) as file:
            for statement in statements:
                file.execute(statement)
        assert [*swept(MASSES, mass, path=path).x.values] == MASSES and kept(path) == 5


def test_the_database_of_another_program_is_left_alone(tmp_path):
    with sqlite3.connect(tmp_path / "file") as file:
        file.execute("CREATE TABLE thesis (text TEXT)")
    before = (tmp_path / "file").read_bytes()
    with pytest.raises(ValueError, match="is not the file of a sweep: it has other tables"):
        swept(MASSES, mass, path=tmp_path / "file")
    assert (tmp_path / "file").read_bytes() == before


@pytest.mark.parametrize("about", ["[]", "no JSON", "", None, '{"model": 3}', "3"])
def test_a_damaged_description_is_named(tmp_path, about):
    path = tmp_path / "file"
    swept(MASSES, mass, path=path)
    with closing(sqlite3.connect(path)) as file, file:
        file.execute("UPDATE about SET about = ?", (about,))
    with pytest.raises(ValueError, match=r"path: .*file is damaged: the description of its sweep, .*another file"):
        swept(MASSES, mass, path=path)


@pytest.mark.parametrize(
    ("column", "value"),
    [("data", b""), ("data", b"PK\x03\x04 cut"), ("data", "text"), ("data", "short"), ("data", 3), ("report", None)],
)
def test_a_damaged_row_is_named_and_done_again_without_it(tmp_path, column, value):
    path = tmp_path / "file"
    swept(MASSES, mass, path=path)
    with closing(sqlite3.connect(path)) as file, file:
        if value == "short":
            value = file.execute("SELECT data FROM runs WHERE rowid = 2").fetchone()[0][:-40]
        file.execute(f"UPDATE runs SET {column} = ? WHERE rowid = 2", (value,))
    with pytest.raises(ValueError, match=r"path: .*file is damaged: the outcome of a run cannot be read") as refused:
        swept(MASSES, mass, path=path)
    statement = str(refused.value).split('"')[1]
    with closing(sqlite3.connect(path)) as file, file:
        file.execute(statement)
    assert [*swept(MASSES, mass, path=path).x.values] == MASSES and kept(path) == 5


DYING = """
import os, sys
from lgint._sweep import store

store.json.dumps = lambda about: os._exit(9)  # between the first table and the last row
store.Store(sys.argv[1], lambda: {"model": "x"})
"""


def test_a_process_that_dies_while_it_creates_the_file(tmp_path):
    environment = os.environ | {"PYTHONPATH": str(Path(lgint.__file__).parents[1])}
    died = subprocess.run([sys.executable, "-c", DYING, str(tmp_path / "file")], env=environment, check=False)
    assert died.returncode == 9
    assert [*swept(MASSES, mass, path=tmp_path / "file").x.values] == MASSES


STARTER = """
import sys
from lgint._sweep.store import Store

sys.stdin.read(1)
with Store(sys.argv[1], lambda: {"model": "x"}) as store:
    print("begun", flush=True)
"""


def test_several_processes_may_begin_the_same_file(tmp_path):
    environment = os.environ | {"PYTHONPATH": str(Path(lgint.__file__).parents[1])}
    for attempt in range(3):
        command = [sys.executable, "-c", STARTER, str(tmp_path / f"{attempt}")]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        starters = [subprocess.Popen(command, env=environment, text=True, **pipes) for _ in range(4)]
        for starter in starters:
            starter.stdin.write("x")
            starter.stdin.flush()
        assert [starter.communicate()[0] for starter in starters] == ["begun\n"] * 4
        with sqlite3.connect(tmp_path / f"{attempt}") as file:
            assert file.execute("SELECT count(*) FROM about").fetchone() == (1,)


@pytest.mark.parametrize("released", [True, False])
def test_outcomes_wait_for_a_lock(tmp_path, monkeypatch, released):
    """Another program locks the file during the runs: all are in it in the end, or a warning says how many are not."""
    monkeypatch.setattr("lgint._sweep.store.SHORT", 0.01)
    monkeypatch.setattr("lgint._sweep.store.PATIENCE", 60.0 if released else 0.1)
    path = tmp_path / "file"
    other = sqlite3.connect(path, check_same_thread=False, isolation_level=None)

    def lock(finished):
        if not other.in_transaction:
            other.execute("BEGIN EXCLUSIVE")
        if finished == 5 and released:
            threading.Timer(0.3, other.execute, ["ROLLBACK"]).start()

    with nullcontext() if released else pytest.warns(RuntimeWarning, match="locked by another program; it lacks 4"):
        data = swept(MASSES, mass, path=path, progress=lock, workers=1)
    assert [*data.x.values] == MASSES
    if other.in_transaction:
        other.execute("ROLLBACK")
    assert kept(path) == (5 if released else 1)


def test_a_file_that_stays_locked_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr("lgint._sweep.store.PATIENCE", 0.1)
    with sqlite3.connect(tmp_path / "file", isolation_level=None) as other:
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(ValueError, match="path: .*file is locked by another program"):
            swept(MASSES, mass, path=tmp_path / "file")


def test_functions_may_keep_what_they_have_seen(tmp_path):
    """A later call recognises them as they were when the sweep began, and as they were at its end."""

    def counting():
        seen = []

        def observe(run):
            seen.append(mass(run))
            return mass(run)

        return seen, observe

    seen, observe = counting()
    for function in (observe, observe, counting()[1], observe):
        swept(MASSES, function, path=tmp_path / "file")
        assert sorted(seen) == MASSES
    seen.append(0.0)
    with pytest.raises(ValueError, match="the observable 'x'"):
        swept(MASSES, observe, path=tmp_path / "file")
