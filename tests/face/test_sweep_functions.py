"""Sweeps over functions, objects and models: a run for each of them; files and folders that recognise them."""

import functools
import json
import os
import sqlite3
import subprocess
import sys
import textwrap
import threading
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import lgint

pytest.importorskip("xarray")
TWO = [0.5, 0.9]
FALL = {"t_end": 2.0, "h": 1e-2}
END = {"q": lambda run: run.q[-1, 0]}


def oscillator(k=1.0, model=None):
    """It starts at one and falls."""
    if model is not None:
        return model
    return lgint.LagrangianModel([1.0], [0.0], lambda q: np.eye(1), lambda q: k * q[0] ** 2 / 2)


def pushed(c):
    """It ends at 1 - 2 c."""
    return lgint.LagrangianModel([1.0], [0.0], lambda q: np.eye(1), lambda q: 0.0, force=lambda t, q, v: [-c])


class Level:
    """An event that ends the run."""

    terminal = True

    def __init__(self, c):
        self.c = c

    def __call__(self, t, q, v):
        return q[0] - self.c


class Locked(Level):
    def __reduce__(self):
        raise TypeError("not to be pickled")


def closure(c):
    def event(t, q, v):
        return q[0] - c

    event.terminal = True
    return event


def partial(c):
    event = functools.partial(Level.__call__, Level(c))
    event.terminal = True
    return event


def swept(events, **arguments):
    with ThreadPoolExecutor(2) as pool:
        given = {"observables": END, **FALL, "executor": pool, **arguments}
        return lgint.sweep(oscillator, {"events": events}, "rk44", **given)


# Python 3.12 and 3.13 warn when a process with threads is forked, and those of pytest-xdist have threads
forks = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")


@forks
def test_functions_of_a_script_are_sent_to_processes():
    with ProcessPoolExecutor(1) as pool:
        data = swept([closure(c) for c in TWO], executor=pool)
    assert [*data.q.values] == pytest.approx(TWO, abs=1e-6)
    with (
        ProcessPoolExecutor(1) as pool,
        pytest.raises(ValueError, match="the values of events cannot be sent to its workers: not to be"),
    ):
        swept([Locked(c) for c in TWO], executor=pool)


@pytest.mark.parametrize("make", [closure, Level, partial, Locked])
def test_each_function_has_its_own_run(make):
    assert [*swept([make(c) for c in TWO]).q.values] == pytest.approx(TWO, abs=1e-6)


def test_each_model_and_each_dict_has_its_own_run():
    with ThreadPoolExecutor(2) as pool:
        models = lgint.sweep(oscillator, {"model": [pushed(c) for c in TWO]}, "rk44", END, **FALL, executor=pool)
        saves = [{"x": lambda run, c=c: c * run.t} for c in TWO]
        saved = lgint.sweep(
            oscillator, {"save": saves}, "rk44", {"x": lambda run: run.saved["x"][-1]}, **FALL, executor=pool
        )
    assert [*models.q.values] == pytest.approx([0.0, -0.8]) and [*saved.x.values] == pytest.approx([1.0, 1.8])


def test_values_by_name_are_labels():
    data = swept({"half": closure(0.5), "much": closure(0.9)})
    assert data.q.sel(events="much") == pytest.approx(0.9, abs=1e-6)
    vectors = lgint.sweep(
        lgint.models.heavy_top,
        {"com": {"long": (0, 1.0, 0), "short": (0, 0.5, 0)}, "mass": [1.0, 2.0]},
        "rk44",
        {"y": lambda run: run.position("top")[0, 1]},
        t_end=0.01,
        h=1e-3,
    )
    assert [*vectors.y.sel(com="short").values] == [0.5, 0.5] and vectors.com_value.shape == (2, 3)
    with pytest.raises(ValueError, match="events: strings expected as names"):
        swept({1: closure(0.5)})


# ---- files ----


def circle(c):
    """Two events that name each other."""

    def event(t, q, v):
        return q[0] - c if t >= 0 else other(t, q, v)

    def other(t, q, v):
        return event(t, q, v)

    event.terminal = other.terminal = True
    return event, other


def test_functions_that_name_each_other_have_their_own_runs_in_a_file(tmp_path):
    (a, b), (c, d) = (circle(level) for level in TWO)
    path = tmp_path / "runs.db"
    assert [*swept([a, c, b, d], path=path).q.values] == pytest.approx([*TWO, *TWO], abs=1e-6)
    again = swept([d, b], path=path)
    assert [*again.q.values] == pytest.approx(TWO[::-1], abs=1e-6)
    with sqlite3.connect(path) as file:
        assert file.execute("SELECT count(*) FROM runs").fetchone() == (4,)


def counted(log):
    """An observable that writes a line for every run."""

    def note(run):
        with open(log, "a") as file:
            file.write("x\n")
        return run.q[-1, 0]

    return {"q": note}


@pytest.mark.parametrize("make", [closure, Level, partial])
def test_a_file_tells_changed_functions_from_the_same(tmp_path, make):
    path, log = tmp_path / "file", tmp_path / "log"
    for levels, count in ((TWO, 2), (TWO, 2), ([0.9, 0.7], 3)):
        data = swept([make(c) for c in levels], path=path, observables=counted(log))
        assert [*data.q.values] == pytest.approx(levels, abs=1e-6)
        assert len(log.read_text().splitlines()) == count
    named = swept({"half": make(0.2)}, path=path, observables=counted(log))
    assert named.q.sel(events="half") == pytest.approx(0.2, abs=1e-6)
    changed = swept({"half": make(0.3)}, path=path, observables=counted(log))
    assert changed.q.sel(events="half") == pytest.approx(0.3, abs=1e-6)


def test_values_that_nothing_tells_apart_need_names(tmp_path):
    path, log = tmp_path / "file", tmp_path / "log"
    with pytest.raises(ValueError, match=r'events: with path.*not to be pickled.*\{"events": \{"some name": value'):
        swept([Locked(c) for c in TWO], path=path)
    assert not path.exists()
    for names, count in (("ab", 2), ("ab", 2), ("bc", 3)):
        given = {name: Locked({"a": 0.5, "b": 0.9, "c": 0.7}[name]) for name in names}
        data = swept(given, path=path, observables=counted(log))
        assert [*data.q.values] == pytest.approx([event.c for event in given.values()], abs=1e-6)
        assert len(log.read_text().splitlines()) == count


def test_arguments_and_the_model_are_recognised_too(tmp_path):
    def run(path, *, c=0.5, k=1.0, more=None):
        source = functools.partial(lambda k, more, x0: oscillator(k), k, more)
        with ThreadPoolExecutor(1) as pool:
            return lgint.sweep(source, {"x0": [1.0]}, "rk44", END, **FALL, events=closure(c), path=path, executor=pool)

    first = run(tmp_path / "a")
    assert run(tmp_path / "a").equals(first)
    with pytest.raises(ValueError, match="a sweep with arguments"):
        run(tmp_path / "a", c=0.9)
    with pytest.raises(ValueError, match="a sweep with model"):
        run(tmp_path / "a", k=2.0)
    with pytest.raises(ValueError, match="model: with path.*__getstate__"):
        run(tmp_path / "b", more=Locked(1))


def test_a_changed_observable_is_noticed(tmp_path):
    def run(path, observe):
        return swept([closure(0.5)], path=tmp_path / path, observables={"q": observe})

    for _ in range(2):
        run("a", lambda run, factor=2.0: factor * run.q[-1, 0])
    with pytest.raises(ValueError, match="a sweep with the observable 'q' as function"):
        run("a", lambda run, factor=3.0: factor * run.q[-1, 0])
    lock = threading.Lock()  # with which there is no key: the observable is known by its name
    for factor in (2.0, 3.0):
        found = run("b", lambda run, factor=factor: factor * run.q[-1, 0] if lock else 0.0)
        assert found.q.values == pytest.approx([1.0], abs=1e-5)


SCRIPT = """
import sys
import lgint

def level(c):
    def event(t, q, v):
        return q[2] - c
    return event

if __name__ == "__main__":
    log = sys.argv[2]

    def note(run):
        with open(log, "a") as file:
            file.write("x\\n")
        return len(run.t_events[0])

    events = [level(c) for c in (0.5, 0.9)]
    lgint.sweep(lgint.models.heavy_top, {"events": events}, "rk44", {"n": note}, t_end=0.1, h=1e-3, path=sys.argv[1])
"""


def test_a_script_resumes_in_another_process(tmp_path):
    """This also holds after lines have moved, in a file of another name."""
    path, log = tmp_path / "file", tmp_path / "log"
    environment = os.environ | {"PYTHONPATH": str(Path(lgint.__file__).parents[1])}
    for name, text, count in (
        ("a.py", SCRIPT, 2),
        ("b.py", "\n\n" + SCRIPT, 2),
        ("a.py", SCRIPT.replace("0.9", "0.8"), 3),
    ):
        (tmp_path / name).write_text(textwrap.dedent(text))
        subprocess.run([sys.executable, str(tmp_path / name), str(path), str(log)], env=environment, check=True)
        assert len(log.read_text().splitlines()) == count


# ---- files of versions that knew functions by their names ----


def aged(path, **about):
    """Turns the file of a sweep into what an earlier version would have written."""
    with sqlite3.connect(path) as file:
        known = json.loads(file.execute("SELECT about FROM about").fetchone()[0])
        known = {name: text for name, text in known.items() if not name.startswith("the observable")}
        file.execute("UPDATE about SET format = 'lgint sweep 1', about = ?", (json.dumps(known | about),))


def test_an_old_file_without_functions_is_resumed(tmp_path):
    path, log = tmp_path / "file", tmp_path / "log"

    def run(masses):
        observables = counted(log)
        return lgint.sweep(lgint.models.heavy_top, {"mass": masses}, "rk44", observables, t_end=0.1, h=1e-3, path=path)

    first = run([1.0, 2.0])
    aged(path)
    assert json.loads(sqlite3.connect(path).execute("SELECT about FROM about").fetchone()[0]) == {
        "model": '"lgint.models._heavy_top.heavy_top"',
        "arguments": '{"h": 0.001, "method": "rk44", "t_end": 0.1}',
        "parameters": "mass",
        "observables": "q",
    }
    assert run([1.0, 2.0]).equals(first) and len(log.read_text().splitlines()) == 2
    with pytest.raises(ValueError, match="the observable 'q' as function"):
        lgint.sweep(lgint.models.heavy_top, {"mass": [1.0]}, "rk44", END, t_end=0.1, h=1e-3, path=path)


def test_an_old_file_with_functions_is_told_apart(tmp_path):
    path = tmp_path / "file"

    def run():
        with ThreadPoolExecutor(1) as pool:
            return lgint.sweep(oscillator, {"k": [1.0]}, "rk44", END, **FALL, path=path, executor=pool)

    run()
    aged(path, model=f'"{oscillator.__module__}.oscillator"')
    with pytest.raises(ValueError, match="a sweep with model.*by their names"):
        run()


# ---- folders of runs ----


def folder(path, c, **arguments):
    return lgint.integrate(oscillator(), "rk44", **FALL, events=closure(c), path=path, **arguments)


def test_a_folder_tells_changed_functions_from_the_same(tmp_path):
    first = folder(tmp_path / "a", 0.5)
    again = folder(tmp_path / "a", 0.5)
    assert again.q[-1, 0] == first.q[-1, 0] == pytest.approx(0.5, abs=1e-6)
    with pytest.raises(ValueError, match=r"path: .*a run with a different function events\.0"):
        folder(tmp_path / "a", 0.9)
    folder(tmp_path / "b", 0.5, save={"x": lambda run, c=1.0: c * run.t})
    with pytest.raises(ValueError, match=r"a different function save\.x"):
        folder(tmp_path / "b", 0.5, save={"x": lambda run, c=2.0: c * run.t})
    for c in TWO[:1] * 2:
        lgint.integrate(pushed(c), "rk44", **FALL, path=tmp_path / "c")
    with pytest.raises(ValueError, match=r"a different function model\.force"):
        lgint.integrate(pushed(TWO[1]), "rk44", **FALL, path=tmp_path / "c")
    with pytest.raises(ValueError, match=r"events\.0: with path.*__getstate__"):
        lgint.integrate(oscillator(), "rk44", **FALL, events=Locked(0.5), path=tmp_path / "d")


def test_a_function_may_keep_what_it_has_seen(tmp_path):
    """A later call recognises it as it was when the run began, and as it was at its end."""

    def watched():
        seen = []

        def event(t, q, v):
            seen.append(t)
            return q[0] - 0.5

        return seen, event

    seen, event = watched()
    first = lgint.integrate(oscillator(), "rk44", **FALL, events=event, path=tmp_path / "run")
    count = len(seen)
    for function in (event, watched()[1]):
        again = lgint.integrate(oscillator(), "rk44", **FALL, events=function, path=tmp_path / "run")
        assert np.array_equal(again.t_events[0], first.t_events[0]) and len(seen) == count
    seen.append(0.0)
    with pytest.raises(ValueError, match="a different function"):
        lgint.integrate(oscillator(), "rk44", **FALL, events=event, path=tmp_path / "run")


def test_folders_of_versions_that_knew_functions_by_their_names(tmp_path):
    def run(path, **events):
        return lgint.integrate(lgint.models.heavy_top(), "rk44", t_end=0.1, h=1e-3, path=path, **events)

    def age(path):
        about = json.loads((path / "about.json").read_text())
        (path / "about.json").write_text(json.dumps({name: about[name] for name in about if name != "functions"}))

    first = run(tmp_path / "a")
    run(tmp_path / "b", events=closure(0.5))
    age(tmp_path / "a")
    assert np.array_equal(run(tmp_path / "a").q, first.q)
    age(tmp_path / "b")
    (tmp_path / "b" / "end.npz").unlink()
    with pytest.raises(ValueError, match=r"older version.*\(events\.0\).*start="):
        run(tmp_path / "b", events=closure(0.5))
