"""Long runs: chosen quantities, folders that grow during a run, killed processes, constant memory."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import lgint
from face import systems
from lgint._run import events

PARTS = ("t", "h", "error", "q", "v", "vdot", "lam", "mem")
RUN = {"t_end": 0.5, "h": 1e-3}


@pytest.fixture
def top():
    return lgint.models.heavy_top()


@pytest.fixture
def small_room(monkeypatch):
    """The record is emptied every 7 rows, which here need not wait for the disk."""
    monkeypatch.setattr(os, "fsync", lambda file: None)
    monkeypatch.setattr("lgint._run.keep.Keeper.room", staticmethod(lambda model: 7))


def swinging():
    """A bar on a hinge, whose angle is memory."""
    return systems.pendulum(omega=3.0)


def same(a, b, parts=PARTS):
    return all(np.array_equal(getattr(a, part), getattr(b, part), equal_nan=True) for part in parts)


# ---- save ----


@pytest.mark.parametrize("path", [None, "run"])
def test_chosen_parts(top, small_room, tmp_path, path):
    whole = lgint.integrate(top, "genalpha", **RUN)
    run = lgint.integrate(top, "genalpha", **RUN, save=["q", "lam"], path=path and tmp_path / path)
    assert same(run, whole, ("t", "h", "error", "q", "lam"))
    with pytest.raises(AttributeError, match="vdot was not kept"):
        _ = run.vdot
    assert np.array_equal(run[100:200].lam, whole.lam[100:200])
    again = lgint.integrate(top, "genalpha", t_end=0.6, h=1e-3, start=run)
    assert same(again, lgint.integrate(top, "genalpha", t_end=0.6, h=1e-3, start=whole))
    run.save(tmp_path / "run.npz")
    assert same(lgint.load(tmp_path / "run.npz"), whole, ("t", "q", "lam"))


@pytest.mark.parametrize("path", [None, "run"])
def test_chosen_quantities(top, small_room, tmp_path, path):
    whole = lgint.integrate(top, "rk44", **RUN)
    save = {"tip": lambda run: run.position("top"), "energy": lambda run: run.energy()}
    run = lgint.integrate(top, "rk44", **RUN, save=save, path=path and tmp_path / path)
    assert np.array_equal(run.saved["tip"], whole.position("top")) and np.array_equal(
        run.saved["energy"], whole.energy()
    )
    assert np.array_equal(run[::100].saved["energy"], whole.energy()[::100]) and len(run) == 501
    with pytest.raises(AttributeError, match="q was not kept"):
        run.position("top")
    run.save(tmp_path / "run.npz")
    assert np.array_equal(lgint.load(tmp_path / "run.npz").saved["tip"], run.saved["tip"])


@pytest.mark.parametrize("path", [None, "run"])
def test_a_quantity_that_raises_leaves_a_trajectory(top, small_room, tmp_path, path):
    def bad(run):
        raise RuntimeError("no")

    with pytest.raises(RuntimeError, match="no") as error:
        lgint.integrate(top, "rk44", **RUN, save={"x": bad}, path=path and tmp_path / path)
    assert len(error.value.trajectory) == 0 and error.value.trajectory.end["t"][0] > 0


def test_momenta_are_parts_too(small_room):
    model = lgint.models.spring_pendulum()
    whole = lgint.integrate(model, "mph", t_end=0.5, h=0.01)
    run = lgint.integrate(model, "mph", t_end=0.5, h=0.01, save=["p"])
    assert np.array_equal(run.extra["p"], whole.extra["p"])


@pytest.mark.parametrize(
    ("save", "text"),
    [
        ("q", "a list of names"),
        (["energy"], "part of the states 'energy'"),
        ({"a b": len}, "by identifiers"),
        ({"n": len}, "'n' has the shape"),
        ({"n": lambda run: ["x"] * len(run)}, "save: 'n' returned .* real numbers"),
        ({"n": lambda run: 1j * run.t}, "save: 'n' returned "),
        ({"n": lambda run: np.zeros((len(run), len(run)))}, "save: values of 'n' have the shape"),
    ],
)
def test_wrong_choices(top, save, text, small_room):
    with pytest.raises(ValueError, match=text):
        lgint.integrate(top, "rk44", **RUN, save=save)


@pytest.mark.parametrize("path", [3, "a\0b"])
def test_wrong_paths(top, path):
    with pytest.raises(ValueError, match="path: "):
        lgint.integrate(top, "rk44", **RUN, path=path)
    with pytest.raises(ValueError, match="path: "):
        lgint.integrate(top, "rk44", **RUN).save(path)


# ---- folders ----


@pytest.mark.parametrize("arguments", [{}, {"save_every": 3}, {"t_eval": np.linspace(0, 0.5, 77)}])
@pytest.mark.parametrize("method", ["genalpha", "dopri5"])
def test_a_folder_holds_the_run(top, small_room, tmp_path, method, arguments):
    steps = {"t_end": 0.5, "rtol": 1e-8} if method == "dopri5" else RUN
    whole = lgint.integrate(top, method, **steps, **arguments)
    run = lgint.integrate(top, method, **steps, **arguments, path=tmp_path / "run")
    loaded = lgint.load(tmp_path / "run")
    for other in (run, loaded):
        assert same(other, whole) and np.array_equal(other.energy(), whole.energy()) and other.status == 0
        assert isinstance(other.q, np.memmap) and other.stats.steps == whole.stats.steps
    assert np.array_equal(np.load(tmp_path / "run" / "q.npy"), whole.q)
    assert same(
        lgint.integrate(top, method, **{**steps, "t_end": 0.6}, start=loaded),
        lgint.integrate(top, method, **{**steps, "t_end": 0.6}, start=whole),
    )
    again = lgint.integrate(top, method, **steps, **arguments, path=tmp_path / "run")
    assert same(again, whole) and again.stats.wall_time == run.stats.wall_time  # it is read, not computed


@pytest.mark.parametrize("arguments", [{}, {"save_every": 3}, {"t_eval": np.linspace(0, 0.5, 77)}])
@pytest.mark.parametrize("method", ["genalpha", "dopri5"])
def test_an_interrupted_run_goes_on_with_the_same_bits(top, small_room, tmp_path, monkeypatch, method, arguments):
    """The run ends in the middle of a portion and is continued after the last complete one."""
    steps = {"t_end": 0.5, "rtol": 1e-8} if method == "dopri5" else RUN
    whole = lgint.integrate(top, method, **steps, **arguments)
    taken = []

    def tired(run):
        taken.append(len(run))
        if len(taken) == 3:
            raise RuntimeError("enough")
        return run.t

    save = {"t2": tired}
    with pytest.raises(RuntimeError, match="enough") as error:
        lgint.integrate(top, method, **steps, **arguments, save=save, path=tmp_path / "run")
    assert len(error.value.trajectory) >= 14
    assert lgint.load(tmp_path / "run").status == -1
    run = lgint.integrate(top, method, **steps, **arguments, save=save, path=tmp_path / "run")
    assert same(run, whole, ("t", "h", "error")) and np.array_equal(run.saved["t2"], whole.t)
    assert all(np.array_equal(run.end[part], whole.end[part], equal_nan=True) for part in PARTS)
    assert run.stats.steps < whole.stats.steps


def test_a_failed_run_keeps_its_last_state(tmp_path, small_room):
    model = lgint.models.spring_pendulum(v0=(0, 0, 300.0))
    arguments = {"t_end": 3.0, "h": 0.03, "max_iter": 3}
    with pytest.raises(lgint.ConvergenceError) as alone:
        lgint.integrate(model, "genalpha", **arguments)
    with pytest.raises(lgint.ConvergenceError) as error:
        lgint.integrate(model, "genalpha", **arguments, path=tmp_path / "run")
    assert same(error.value.trajectory, alone.value.trajectory)
    assert same(lgint.load(tmp_path / "run"), alone.value.trajectory) and error.value.trajectory.status == -1


def test_folders_that_are_refused(top, tmp_path):
    lgint.integrate(top, "rk44", **RUN, path=tmp_path / "run")
    for change, what in (
        ({"h": 2e-3}, "h=0.001, but 0.002"),
        ({"project": "both"}, "project=None, but 'both'"),
        ({"save": ["q"]}, r"save=None, but \['q'\]"),
    ):
        with pytest.raises(ValueError, match=f"path: .*run holds a run with {what} was given; .*another folder"):
            lgint.integrate(top, "rk44", **{**RUN, **change}, path=tmp_path / "run")
    with pytest.raises(ValueError, match="a different 'method'"):
        lgint.integrate(top, "dopri5", **RUN, path=tmp_path / "run")
    with pytest.raises(ValueError, match="a different 'record'"):
        lgint.integrate(top.with_parameters(mass=1.0), "rk44", **RUN, path=tmp_path / "run")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.txt").write_text("important")
    with pytest.raises(ValueError, match="a new folder"):
        lgint.integrate(top, "rk44", **RUN, path=tmp_path / "full")
    with pytest.raises(ValueError, match="dense_output: it keeps both ends of every step"):
        lgint.integrate(top, "rk44", **RUN, path=tmp_path / "new", dense_output=True)
    with pytest.raises(ValueError, match="path: it is for single runs"):
        lgint.integrate([top], "rk44", **RUN, path=tmp_path / "new")


def test_the_round_off_of_another_processor_is_not_another_model(tmp_path):
    def top(change):
        return lgint.models.heavy_top(omega0=(0, 150 * (1 + change), -4.61538))

    arguments = {"t_end": 0.02, "h": 1e-3, "path": tmp_path / "run"}
    run = lgint.integrate(top(0), "genalpha", **arguments)
    assert same(lgint.integrate(top(4e-16), "genalpha", **arguments), run)
    with pytest.raises(ValueError, match="a different 'record'"):
        lgint.integrate(top(1e-9), "genalpha", **arguments)


def test_a_damaged_description_is_named(top, tmp_path):
    folder = tmp_path / "run"
    lgint.integrate(top, "rk44", **RUN, path=folder)
    for text in ("", (folder / "about.json").read_text()[:-9], "[]", '{"format": 5}'):
        (folder / "about.json").write_text(text)
        for call in (lambda: lgint.load(folder), lambda: lgint.integrate(top, "rk44", **RUN, path=folder)):
            with pytest.raises(ValueError, match=f"{folder}.*: not a trajectory saved by"):
                call()


def test_a_folder_without_notes(top, tmp_path):
    folder = tmp_path / "run"
    lgint.integrate(top, "rk44", **RUN, path=folder)
    for note in folder.glob("*.npz"):
        note.unlink()
    with pytest.raises(ValueError, match="not written any states yet"):
        lgint.load(folder)


# ---- after a crash of the machine ----


def part(path):
    """About 60 % of the rows of a column; the last one is incomplete."""
    return path.read_bytes()[: int(0.6 * path.stat().st_size) // 8 * 8]


def cut(path):
    path.write_bytes(part(path))


def zero(path):
    size = path.stat().st_size
    path.write_bytes(part(path).ljust(size, b"\0"))


def lose(path):
    path.unlink()


def empty(path):
    path.write_bytes(bytes(path.stat().st_size))


@pytest.mark.parametrize("name", ["t", "q", "vdot", "mem", "carry"])
@pytest.mark.parametrize("crash", [cut, zero, lose, empty])
@pytest.mark.parametrize("ended", [True, False])
def test_lost_rows_are_computed_again(name, crash, ended, small_room, tmp_path):
    """`load` gives the rows that all columns hold, and the same call computes the others again, with the same bits."""
    model, folder = swinging(), tmp_path / "run"
    whole = lgint.integrate(model, "genalpha", **RUN)
    lgint.integrate(model, "genalpha", **RUN, path=folder)
    if not ended:
        (folder / "end.npz").unlink()
    crash(folder / ("resume.npz" if name == "carry" else f"{name}.npy"))
    if name == "carry":
        run = lgint.integrate(model, "genalpha", **RUN, path=folder)
    elif crash in (lose, empty):
        with pytest.raises(ValueError, match="not written any states yet"):
            lgint.load(folder)
        run = lgint.integrate(model, "genalpha", **RUN, path=folder)
        assert run.stats.steps == whole.stats.steps
    else:
        found = lgint.load(folder)
        assert found.status == -1 and same(found, whole[: len(found)]) and len(found) < len(whole)
        assert 0 <= 0.6 * len(whole) - len(found) < 10
        assert 0 < found.end["t"][0] <= found.t[-1]
        run = lgint.integrate(model, "genalpha", **RUN, path=folder)
        assert run.stats.steps < whole.stats.steps
    assert same(run, whole) and same(lgint.load(folder), whole)


def test_a_damaged_last_note_is_written_again(top, small_room, tmp_path):
    whole = lgint.integrate(top, "rk44", **RUN)
    lgint.integrate(top, "rk44", **RUN, path=tmp_path / "run")
    cut(tmp_path / "run" / "end.npz")
    assert same(lgint.integrate(top, "rk44", **RUN, path=tmp_path / "run"), whole)


@pytest.mark.parametrize("lost", range(1, 9))
@pytest.mark.parametrize("name", ["t", "q"])
def test_zeros_that_begin_inside_a_number(name, lost, top, small_room, tmp_path):
    """The row that has lost the last bytes of a number does not count, as if it had lost the whole number."""
    whole = lgint.integrate(top, "rk44", **RUN)
    lgint.integrate(top, "rk44", **RUN, path=tmp_path / "run")
    column = tmp_path / "run" / f"{name}.npy"
    row = (column.stat().st_size - 128) // len(whole)
    kept = column.read_bytes()[: 128 + 300 * row - lost]
    column.write_bytes(kept.ljust(column.stat().st_size, b"\0"))
    found = lgint.load(tmp_path / "run")
    assert len(found) == 299 and same(found, whole[:299])


def test_a_last_row_that_was_written_over_is_computed_again(top, small_room, tmp_path):
    whole = lgint.integrate(top, "rk44", **RUN, path=tmp_path / "run")
    expected = whole.q.copy()
    with open(tmp_path / "run" / "q.npy", "r+b") as file:
        file.seek(-8, os.SEEK_END)
        file.write(b"nonsense")
    assert len(lgint.load(tmp_path / "run")) == len(whole) - 1
    assert np.array_equal(lgint.integrate(top, "rk44", **RUN, path=tmp_path / "run").q, expected)


def test_columns_are_on_the_disk_before_the_note_that_counts_them(top, tmp_path, monkeypatch):
    synced, events = {}, []
    sync, replace = os.fsync, os.replace

    def note_sync(file):
        sync(file)
        synced[os.fstat(file).st_ino] = os.fstat(file).st_size

    def note_replace(source, target):
        name = os.path.basename(target)
        assert synced[os.stat(source).st_ino] == os.stat(source).st_size
        if name in ("resume.npz", "end.npz"):
            columns = [*(tmp_path / "run").glob("*.npy")]
            assert len(columns) == len(PARTS)
            assert all(synced[column.stat().st_ino] == column.stat().st_size for column in columns)
        events.append(name)
        replace(source, target)

    monkeypatch.setattr("lgint._run.keep.Keeper.room", staticmethod(lambda model: 200))
    monkeypatch.setattr(os, "fsync", note_sync)
    monkeypatch.setattr(os, "replace", note_replace)
    lgint.integrate(top, "rk44", **RUN, path=tmp_path / "run")
    assert events == ["about.json", "resume.npz", "resume.npz", "end.npz"]


def test_ever_fewer_of_the_earlier_notes_are_kept(top, small_room, tmp_path):
    lgint.integrate(top, "rk44", **RUN, path=tmp_path / "run")
    numbers = sorted(int(path.name.split(".")[1]) for path in (tmp_path / "run").glob("resume.*.npz"))
    assert numbers == [32, 48, 56, 64, 68, 69, 70]


# ---- one run in one folder ----

HOLD = """
import multiprocessing, shutil, sys, time
import lgint

def wait(t):
    if t > 0.1:
        if sys.argv[2] == "copy":
            shutil.copytree(sys.argv[1], sys.argv[1] + "_copy")
        else:
            pool = multiprocessing.get_context(sys.argv[2]).Pool(1)  # which has begun once it has done a task
            pool.map(abs, [1])
            print(*(process.pid for process in pool._pool), flush=True)
        print("holds", flush=True)
        time.sleep(100)

if __name__ == "__main__":
    lgint.integrate(lgint.models.heavy_top(), "genalpha", t_end=3000.0, h=1e-3, path=sys.argv[1], progress=wait)
"""


@pytest.mark.parametrize("does", ["copy", "fork", "spawn"])
def test_a_folder_belongs_to_one_process_at_a_time(does, top, tmp_path):
    """The lock also holds while the process copies the folder. Workers that outlive a killed parent do not keep it."""
    script, folder = tmp_path / "hold.py", tmp_path / "run"
    script.write_text(HOLD)
    environment = os.environ | {"PYTHONPATH": str(Path(lgint.__file__).parents[1])}
    command = [sys.executable, str(script), str(folder), does]
    run = {"t_end": 3000.0, "h": 1e-3, "path": folder}
    workers = []
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        while (line := process.stdout.readline()) != "holds\n":
            workers = [int(word) for word in line.split()]
        with pytest.raises(ValueError, match=rf"path: .*run is in use by a run \(process {process.pid} on"):
            lgint.integrate(top, "genalpha", **run)
        process.send_signal(signal.SIGKILL)
    try:
        for worker in workers:
            os.kill(worker, 0)  # it is still there
        with pytest.raises(RuntimeError, match="far enough"):
            lgint.integrate(top, "genalpha", **run, progress=far_enough)
    finally:
        for worker in workers:
            os.kill(worker, signal.SIGKILL)


def far_enough(t):
    if t > 0.2:
        raise RuntimeError("far enough")


def test_a_folder_belongs_to_one_run_of_a_process(top, tmp_path):
    """Only until the run has ended, in any way."""
    run = {"t_end": 3000.0, "h": 1e-3, "path": tmp_path / "run"}

    def again(t):
        lgint.integrate(top, "rk44", **run)

    for _ in range(2):
        with pytest.raises(ValueError, match="is in use by a run .this process."):
            lgint.integrate(top, "rk44", **run, progress=again)
    with pytest.raises(RuntimeError, match="far enough"):
        lgint.integrate(top, "rk44", **run, progress=far_enough)


def test_nothing_is_written_through_a_link(top, tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "thesis.txt").write_text("important")
    for name in ("lock", "q.npy", "about.json"):
        lgint.integrate(top, "rk44", **RUN, path=tmp_path / "run")
        (tmp_path / "run" / "end.npz").unlink()
        (tmp_path / "run" / name).unlink()
        (tmp_path / "run" / name).symlink_to(tmp_path / "thesis.txt")
        with pytest.raises(ValueError, match="is a symbolic link"):
            lgint.integrate(top, "rk44", **RUN, path=tmp_path / "run")
        assert (tmp_path / "thesis.txt").read_text() == "important"
        (tmp_path / "run" / name).unlink()
        for file in (tmp_path / "run").iterdir():
            file.unlink()


LONG = """
import sys
import lgint

top = lgint.models.heavy_top(formulation=sys.argv[2])
lgint.integrate(top, sys.argv[3], t_end=3000.0, h=1e-3, save_every=10, path=sys.argv[1])
"""


@pytest.mark.parametrize(
    ("formulation", "method"), [("R3xSO3", "genalpha"), ("euler_parameters", "emh"), ("euler_parameters", "reml")]
)
def test_a_killed_run_is_resumed(formulation, method, tmp_path):
    """After `kill -9` in the middle of a run, the same call gives the bits of an undisturbed run."""
    top, options = lgint.models.heavy_top(formulation=formulation), {"h": 1e-3, "save_every": 10}
    script, folder = tmp_path / "long.py", tmp_path / "run"
    script.write_text(textwrap.dedent(LONG))
    environment = os.environ | {"PYTHONPATH": str(Path(lgint.__file__).parents[1])}
    command = [sys.executable, str(script), str(folder), formulation, method]
    with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL) as process:
        while not (folder / "resume.npz").exists():
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
    killed = lgint.load(folder)
    rows, last = len(killed), float(killed.t[-1])
    assert killed.status == -1 and 0 < last < 3000 and rows == round(last * 100) + 1
    assert killed.end["t"][0] == last

    seen = []
    stop = threading.Event()

    def ask(t):
        seen.append(t)
        if t > last + 2:
            stop.set()
            raise RuntimeError("far enough")

    with pytest.raises(RuntimeError, match="far enough"):
        lgint.integrate(top, method, t_end=3000.0, **options, path=folder, progress=ask)
    assert stop.is_set() and min(seen) >= last
    resumed, t_end = lgint.load(folder), round(last) + 1.0
    whole = lgint.integrate(top, method, t_end=t_end, **options)
    assert same(resumed[: len(whole)], whole)
    assert all(np.array_equal(resumed.extra[name][: len(whole)], values) for name, values in whole.extra.items())


# ---- events ----


def low(t, q, v):
    return v[2] + 0.5


def turned(t, q, v):
    return v[3]


MIDDLES = np.arange(0.5e-3, 0.25, 1e-3)  # of all steps


@pytest.mark.parametrize("arguments", [{}, {"save_every": 3}, {"t_eval": MIDDLES}])
@pytest.mark.parametrize("terminal", [False, True])
def test_a_folder_holds_events(top, tmp_path, monkeypatch, arguments, terminal):
    """This includes a run that was interrupted twice, once just after an event; a run that has ended is only read.

    From a row inside a step the run goes on from the start of the step, and finds an event in it for the second time.
    """
    monkeypatch.setattr("lgint._run.keep.Keeper.room", staticmethod(lambda model: 1))
    monkeypatch.setattr(os, "fsync", lambda file: None)
    monkeypatch.setattr(turned, "terminal", 10 if terminal else False, raising=False)
    given = {**RUN, "t_end": 0.25, **arguments, "events": [low, turned]}
    whole = lgint.integrate(top, "genalpha", **given)
    for stop in (0.0225, 0.21):

        def kill(function, t, q, v, stop=stop, value=events._value):
            if t > stop:
                raise RuntimeError("killed")
            return value(function, t, q, v)

        with monkeypatch.context() as patch, pytest.raises(RuntimeError, match="killed"):
            patch.setattr(events, "_value", kill)
            lgint.integrate(top, "genalpha", **given, path=tmp_path / "run")
    for _ in range(2):
        run = lgint.integrate(top, "genalpha", **given, path=tmp_path / "run")
        for found in (run, lgint.load(tmp_path / "run")):
            assert same(found, whole) and found.status == whole.status == terminal
            for kind in ("t_events", "q_events", "v_events"):
                pairs = [*zip(getattr(found, kind), getattr(whole, kind), strict=True)]
                assert len(pairs) == 2 and all(np.array_equal(*pair) for pair in pairs)
    assert [len(times) for times in whole.t_events] == ([1, 10] if terminal else [1, 11])
    with pytest.raises(ValueError, match="holds a run with events=.*'low', 'turned'"):
        lgint.integrate(top, "genalpha", **given | {"events": [turned, low]}, path=tmp_path / "run")


# ---- memory ----

MEMORY = """
import gc, sys
import lgint

def status(key):
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith(key))

top = lgint.models.heavy_top(constrained=False)
arguments = {{"h": 1e-4, "save_every": {every}, "path": sys.argv[1] or None}}
lgint.integrate(top, "rk44", t_end=1.0, h=1e-4, save_every={every})
gc.collect()
before = status("VmRSS")
with open("/proc/self/clear_refs", "w") as file:
    file.write("5")  # the peak begins anew
run = lgint.integrate(top, "rk44", t_end={t_end}, **arguments)
print(len(run), status("VmHWM") - before)
"""


def peak(tmp_path, every, t_end, path):
    """The number of states of a run, and the growth of the peak memory during it, kB."""
    script = tmp_path / "memory.py"
    script.write_text(MEMORY.format(every=every, t_end=t_end))
    environment = os.environ | {"PYTHONPATH": str(Path(lgint.__file__).parents[1])}
    run = subprocess.run(
        [sys.executable, str(script), str(path or "")], env=environment, capture_output=True, text=True, check=True
    )
    return [int(number) for number in run.stdout.split()]


@pytest.mark.measures
def test_memory_does_not_grow_with_the_run(tmp_path):
    """A million steps with few states; 35 MB of states in a folder, 4 MB of them in memory; the same in memory."""
    states, growth = peak(tmp_path, 1000, 100.0, None)
    assert states == 1001 and growth < 2000
    states, growth = peak(tmp_path, 2, 50.0, tmp_path / "run")
    size = sum(file.stat().st_size for file in (tmp_path / "run").iterdir()) / 1024
    assert states == 250_001 and size > 35_000 and growth < 15_000
    states, whole = peak(tmp_path, 2, 50.0, None)
    assert whole > 0.9 * size
