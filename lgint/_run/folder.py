"""Folders of long runs: a NumPy file for each column, which grows during the run, and the states that resume it.

`about.json` describes the run. `resume.npz` is a note of the number of complete rows and of the state from which the
run goes on after them; it is replaced as a whole each time rows have been added and are on the disk. `end.npz` is the
same for a run that has ended. Rows beyond that number, which a killed process may have left, do not count. Where a
column has lost rows that a note counts, as in a crash of the machine, there are the rows that all columns hold, and the
run goes on from an earlier note: `resume.1.npz` and so on, of which ever fewer are kept the older they are.
"""

from __future__ import annotations

import math
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Final, NamedTuple, NoReturn

import numpy as np

from lgint._args import Array, shown
from lgint._run import files, older
from lgint._run.columns import HEADER, checksum, column, header, row_shape, rows_held
from lgint._run.lock import LOCK, FolderLock, unlinked
from lgint._run.memory import Layout
from lgint._run.methods import contradicted

ABOUT, RESUME, END = "about.json", "resume.npz", "end.npz"
FUNCTIONS: Final = "functions"  # the entry with their keys, by their places in the run
FREE: Final = ("newton",)  # options that may change while a run is interrupted: they decide on its work alone
ROUND_OFF: Final = 1e-12  # of the largest number in an array

Found = tuple[dict[str, Any], dict[str, Array]]  # a description, and arrays by name


class Folder:
    """The folder of one run, which is locked until it is left. It is made if it does not exist.

    Parameters
    ----------
    path : path
    about : dict
        A description of the run, with the value of every option. A folder with another description is refused; of the
        options only those that are `given` count, as a run that goes on inherits the others.
    given : dict
        The options that the call gives.
    memory : list of tuples
        The layout of the memory that the run writes.
    functions : function
        The keys of the run's functions, as they are at the time. A folder with others is refused. Functions may keep
        values that change during the run: their keys are good as they were when it began, and as it left them.
    """

    def __init__(
        self,
        path: str | PathLike[str],
        about: Mapping[str, Any],
        given: Mapping[str, Any],
        memory: Layout,
        functions: Callable[[], dict[str, str]],
    ) -> None:
        self.path = Path(files.path_of(path))
        self._memory = memory
        self._functions = functions
        self.options: dict[str, Any] = {}  # of the run that is there, with which it goes on
        self.rows = 0
        self._files: dict[str, IO[bytes]] = {}
        self._tails: dict[str, int] = {}  # of each column the checksum of its last row
        if self.path.exists() and not (self.path.is_dir() and self._may_be_of_a_run()):
            raise ValueError(f"path: a new folder, or that of the same run, expected; {self.path} is something else")
        self.path.mkdir(parents=True, exist_ok=True)
        self._lock = FolderLock(self.path)
        try:
            self._begin(about, given)
        except BaseException:
            self._lock.release()
            raise

    def __enter__(self) -> Folder:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()
        self._lock.release()

    # ---- whose it is ----

    def _may_be_of_a_run(self) -> bool:
        """Whether the folder has a description, or no more than what is there before it has one."""
        names = {path.name for path in self.path.iterdir()}
        return ABOUT in names or all(name == LOCK or name.startswith(ABOUT) for name in names)

    def _begin(self, about: Mapping[str, Any], given: Mapping[str, Any]) -> None:
        for path in self.path.iterdir():
            if path.is_symlink():
                raise ValueError(f"path: {path} is a symbolic link, through which nothing is written")
        keys = self._functions()
        if not (self.path / ABOUT).exists():
            with files.replacing(str(self.path / ABOUT)) as file:
                file.write(files.text_of({**about, FUNCTIONS: keys}).encode())
            return
        with files.defects(self.path / ABOUT):
            found = files.load_text(_text(self.path))
            self.options = dict(found["options"])
        self._check(found, files.load_text(files.text_of(about)), files.load_text(files.text_of(given)))
        self._check_functions(found.get(FUNCTIONS), keys)

    def _check(self, found: dict[str, Any], about: dict[str, Any], given: dict[str, Any]) -> None:
        """ValueError for anything in which the run that is there differs from the one that is described."""
        if older.lacks_rows(found.get("record", {}), about["record"]):
            raise ValueError(
                f"path: {self.path} holds a run of an older version, which left out redundant rows for good; go on "
                "with that model, lgint.load(path).model, or choose another folder"
            )
        for name in about.keys() - {"options", "arguments"}:
            if not _agree(found.get(name), about[name]):
                raise ValueError(f"path: {self.path} holds a run with a different {name!r}; choose another folder")
        for name in contradicted(found["options"], given, given.keys() - set(FREE)):
            self._refuse(name, found["options"][name], given[name], f"leave {name} out to go on with that run, or ")
        arguments = found.get("arguments", {})
        for name, value in about["arguments"].items():
            if arguments.get(name) != value:
                self._refuse(name, arguments.get(name), value)

    def _refuse(self, name: str, found: object, given: object, advice: str = "") -> NoReturn:
        raise ValueError(
            f"path: {self.path} holds a run with {name}={shown(found)}, and {shown(given)} was given; {advice}choose "
            "another folder"
        )

    def _check_functions(self, found: dict[str, str] | None, given: dict[str, str]) -> None:
        left = next((note.about.get(FUNCTIONS) for note in _notes(self.path) if note.path.name == END), None)
        if given in (found or {}, left):
            return
        if found is None:
            raise ValueError(
                f"path: {self.path} was made by an older version, which did not note what functions compute, and this "
                f"run has some ({', '.join(given)}); lgint.load reads it, and start= goes on from it in another folder"
            )
        names = ", ".join(sorted(name for name in found.keys() | given.keys() if found.get(name) != given.get(name)))
        raise ValueError(f"path: {self.path} holds a run with a different function {names}; choose another folder")

    # ---- what it has ----

    def read(self) -> Found | None:
        """What the function `read` returns; None if there are no rows."""
        return _read(self.path)

    def resume(self) -> Found | None:
        """The last row after which the run can go on, as `read` returns it; all that is later is discarded.

        None: there is none, and the run begins anew.
        """
        last, paths = _last(self.path), _note_paths(self.path)
        for path in paths[: paths.index(last.path)] if last else paths:
            path.unlink()
        if last is None:
            return None
        os.replace(last.path, self.path / RESUME)
        self.options |= last.about.get("options", {})
        self.rows, self._tails = last.about["rows"], last.about.get("tails", {})
        row = {name: np.array(values[-1:]) for name, values in _columns(self.path, self.rows).items()}
        return {**files.about_of(_text(self.path)), **last.about}, last.arrays | row

    def widen(self, name: str, values: Array | None) -> None:
        """Replaces a column whose rows have become longer; None: the run does not keep it."""
        path = self.path / f"{name}.npy"
        if values is None or row_shape(path) == values.shape[1:]:
            return
        with files.replacing(str(path)) as file:
            file.write(header(len(values), values.shape[1:]))
            file.write(values.tobytes())

    # ---- what is added ----

    def add(self, columns: Mapping[str, Array]) -> None:
        """Appends rows to the files of all columns."""
        count = len(next(iter(columns.values())))
        for name, values in columns.items():
            if name not in self._files:
                self._files[name] = self._open(name, values)
            file = self._files[name]
            file.seek(0, os.SEEK_END)
            file.write(np.ascontiguousarray(values, dtype=np.float64).tobytes())
            file.seek(0)
            file.write(header(self.rows + count, values.shape[1:]))
            file.flush()
        self.rows += count
        if count:
            self._tails = {name: checksum(values) for name, values in columns.items()}

    def _open(self, name: str, values: Array) -> IO[bytes]:
        """The file of a column, cut after its complete rows."""
        file = open(self.path / f"{name}.npy", "r+b" if self.rows else "w+b", opener=unlinked)
        file.write(header(self.rows, values.shape[1:]))
        file.truncate(HEADER + 8 * self.rows * int(np.prod(values.shape[1:])))
        return file

    def note(self, name: str, about: Mapping[str, Any], arrays: Mapping[str, Array]) -> None:
        """Writes RESUME or END: all rows so far count from now on."""
        for file in self._files.values():
            file.flush()
            os.fsync(file.fileno())
        noted = {"rows": self.rows, "tails": self._tails, "memory": self._memory, **about}
        if name == END:
            with suppress(ValueError):  # what a function keeps by now has no key
                noted[FUNCTIONS] = self._functions()
        else:
            self._set_aside()
        files.write(self.path / name, noted, arrays)

    def _set_aside(self) -> None:
        """Keeps a copy of the note that is about to be replaced, and thins out the earlier ones."""
        if not (self.path / RESUME).exists():
            return
        earlier = {_number(note): note for note in _earlier(self.path)}
        newest = max(earlier, default=0) + 1
        shutil.copyfile(self.path / RESUME, self.path / f"resume.{newest}.npz")
        for number, note in earlier.items():
            if newest - number >= 2 * (number & -number):
                note.unlink()

    def close(self) -> None:
        """Closes all files."""
        for file in self._files.values():
            file.close()
        self._files.clear()


def _numbers(value: object) -> list[float] | None:
    """The numbers in a value and in its lists, None if anything else is there."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return [value]
    parts = [_numbers(part) for part in value] if isinstance(value, list) else [None]
    return None if None in parts else [number for part in parts for number in part or []]


def _agree(found: object, own: object) -> bool:
    """Whether two descriptions are the same but for round-off, in which processors differ."""
    if isinstance(found, dict) and isinstance(own, dict):
        return found.keys() == own.keys() and all(_agree(found[key], own[key]) for key in own)
    mine, theirs = _numbers(own), _numbers(found)
    if mine is not None and theirs is not None and len(mine) == len(theirs):
        bound = ROUND_OFF * max((abs(number) for number in mine if math.isfinite(number)), default=0.0)
        return all(a == b or abs(a - b) <= bound for a, b in zip(theirs, mine, strict=True))
    if isinstance(found, list) and isinstance(own, list) and len(found) == len(own):
        return all(map(_agree, found, own))
    return found == own


def read(path: str | PathLike[str]) -> Found:
    """What `files.read` returns for a file; the arrays stay on the disk until they are used."""
    with files.defects(path):
        found = _read(Path(path))
        if found is None:
            raise ValueError("the run has not written any states yet")
    return found


def _read(folder: Path) -> Found | None:
    about = files.about_of(_text(folder))
    latest = next(_notes(folder), None)
    held = _rows_held(folder, latest.about) if latest else 0
    if latest is None or not held:
        return None
    if held == latest.about["rows"]:
        return {**about, **latest.about}, latest.arrays | _columns(folder, held)
    last = _last(folder)
    noted = last.about if last else {**latest.about, "status": -1}
    ends = last.arrays if last else {name: values[:0] for name, values in latest.arrays.items()}
    return {**about, **noted}, ends | _columns(folder, held)


def _text(folder: Path) -> str:
    return (folder / ABOUT).read_text()


# ---- columns ----


def _column_files(folder: Path) -> dict[str, Path]:
    return {path.stem: path for path in sorted(folder.glob("*.npy"))}


def _columns(folder: Path, rows: int) -> dict[str, Array]:
    return {name: column(path, rows) for name, path in _column_files(folder).items()}


def _rows_held(folder: Path, noted: Mapping[str, Any]) -> int:
    """How many of the rows that a note counts are there."""
    return rows_held(folder, noted["rows"], noted.get("tails") or dict.fromkeys(_column_files(folder)))


# ---- notes ----


class Note(NamedTuple):
    """A note that is not damaged."""

    path: Path
    about: dict[str, Any]
    arrays: dict[str, Array]


def _note_paths(folder: Path) -> list[Path]:
    """Where there are notes, the latest first."""
    latest = [folder / name for name in (END, RESUME) if (folder / name).exists()]
    return latest + sorted(_earlier(folder), key=_number, reverse=True)


def _earlier(folder: Path) -> list[Path]:
    """The notes that RESUME has replaced."""
    return [path for path in folder.glob("resume.*.npz") if path.name.split(".")[1].isdecimal()]


def _number(note: Path) -> int:
    return int(note.name.split(".")[1])


def _notes(folder: Path) -> Iterator[Note]:
    """The notes that can be read, the latest first."""
    for path in _note_paths(folder):
        try:
            yield Note(path, *files.read(path))
        except ValueError:
            continue


def _last(folder: Path) -> Note | None:
    """The latest note from which a run can go on: all rows that it counts are there."""
    held = next((_rows_held(folder, note.about) for note in _notes(folder)), 0)
    return next((note for note in _notes(folder) if note.path.name != END and 0 < note.about["rows"] <= held), None)
