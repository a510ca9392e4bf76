"""Folders of long runs: a NumPy file for each column, which grows during the run, and the states that resume it.

`about.json` describes the run. `resume.npz` is a note of the number of complete rows and of the state from which the
run continues after them; it is replaced as a whole after each batch of rows has reached the disk. `end.npz` is the same
for a run that has ended. Rows beyond that number, which a killed process may have left, are ignored. If a column has
lost rows that a note counts, as in a crash of the machine, only the rows that all columns hold are used, and the run
continues from an earlier note: `resume.1.npz` and so on. The older these notes are, the fewer of them are kept.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from os import PathLike
from types import TracebackType
from typing import IO, TYPE_CHECKING, Any, Final, NamedTuple, NoReturn

import numpy as np

from lgint._args import Array, path_of, shown
from lgint._run import files, older
from lgint._run.columns import HEADER, checksum, column, header, row_shape, rows_held
from lgint._run.lock import LOCK, FolderLock, unlinked
from lgint._run.memory import Layout
from lgint._run.methods import contradicted

if TYPE_CHECKING:
    from pathlib import Path

ABOUT, RESUME, END = "about.json", "resume.npz", "end.npz"
FUNCTIONS: Final = "functions"  # the entry with the keys of functions, by what the run uses them for
FREE: Final = ("newton",)  # options that may change when a run is resumed: they only affect the amount of work
ROUND_OFF: Final = 1e-12  # relative to the largest number in an array

Found = tuple[dict[str, Any], dict[str, Array]]  # a description, and arrays by name


class Folder:
    """The folder of one run. It is created if it does not exist, and locked until the context ends.

    Parameters
    ----------
    path : path
    about : dict
        A description of the run, with the value of every option. A folder with a different description is refused; of
        the options only those in `given` are compared, as a resumed run inherits the others.
    given : dict
        The options that the call gives.
    memory : list of tuples
        The layout of the memory that the run writes.
    functions : function
        Returns the present keys of the run's functions. A folder with different keys is refused. Functions may keep
        values that change during the run: their keys may be those from its beginning or those from its end.
    """

    def __init__(
        self,
        path: str | PathLike[str],
        about: Mapping[str, Any],
        given: Mapping[str, Any],
        memory: Layout,
        functions: Callable[[], dict[str, str]],
    ) -> None:
        from pathlib import Path

        self.path = Path(path_of(path))
        self._memory = memory
        self._functions = functions
        self.options: dict[str, Any] = {}  # of the run in the folder, which is resumed with them
        self.rows = 0
        self._files: dict[str, IO[bytes]] = {}
        self._tails: dict[str, int] = {}  # the checksum of each column's last row
        if self.path.exists() and not (self.path.is_dir() and self._may_be_of_a_run()):
            raise ValueError(f"path: a new folder, or the folder of the same run, expected; {self.path} is neither")
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

    # ---- is it the folder of this run? ----

    def _may_be_of_a_run(self) -> bool:
        """Whether the folder has a description, or only files that are written before the description."""
        names = {path.name for path in self.path.iterdir()}
        return ABOUT in names or all(name == LOCK or name.startswith(ABOUT) for name in names)

    def _begin(self, about: Mapping[str, Any], given: Mapping[str, Any]) -> None:
        for path in self.path.iterdir():
            if path.is_symlink():
                raise ValueError(f"path: {path} is a symbolic link; nothing is written through links")
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
        """ValueError if the run in the folder differs from the one that is described."""
        if older.lacks_rows(found.get("record", {}), about["record"]):
            raise ValueError(
                f"path: {self.path} holds a run of an older version, which removed redundant rows permanently; "
                "continue with that model, lgint.load(path).model, or choose another folder"
            )
        for name in about.keys() - {"options", "arguments"}:
            if not _agree(found.get(name), about[name]):
                raise ValueError(f"path: {self.path} holds a run with a different {name!r}; choose another folder")
        for name in contradicted(found["options"], given, given.keys() - set(FREE)):
            self._refuse(name, found["options"][name], given[name], f"leave {name} out to continue that run, or ")
        arguments = found.get("arguments", {})
        for name, value in about["arguments"].items():
            if arguments.get(name) != value:
                self._refuse(name, arguments.get(name), value)

    def _refuse(self, name: str, found: object, given: object, advice: str = "") -> NoReturn:
        raise ValueError(
            f"path: {self.path} holds a run with {name}={shown(found)}, but {shown(given)} was given; {advice}choose "
            "another folder"
        )

    def _check_functions(self, found: dict[str, str] | None, given: dict[str, str]) -> None:
        left = next((note.about.get(FUNCTIONS) for note in _notes(self.path) if note.path.name == END), None)
        if given in (found or {}, left):
            return
        if found is None:
            raise ValueError(
                f"path: {self.path} was made by an older version, which did not record what functions compute, and "
                f"this run has functions ({', '.join(given)}); lgint.load reads it, and start= continues it in another "
                "folder"
            )
        names = ", ".join(sorted(name for name in found.keys() | given.keys() if found.get(name) != given.get(name)))
        raise ValueError(f"path: {self.path} holds a run with a different function {names}; choose another folder")

    # ---- reading ----

    def read(self) -> Found | None:
        """Reads the run like the function `read`; None if there are no rows."""
        return _read(self.path)

    def resume(self) -> Found | None:
        """The last row after which the run can continue, as `read` returns it; everything later is discarded.

        None: there is no such row, and the run starts afresh.
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
        """Rewrites a column whose rows have become longer; `values` is None if the run does not keep it."""
        path = self.path / f"{name}.npy"
        if values is None or row_shape(path) == values.shape[1:]:
            return
        with files.replacing(str(path)) as file:
            file.write(header(len(values), values.shape[1:]))
            file.write(values.tobytes())

    # ---- writing ----

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
        """Writes RESUME or END, from which on all rows so far count as complete."""
        for file in self._files.values():
            file.flush()
            os.fsync(file.fileno())
        noted = {"rows": self.rows, "tails": self._tails, "memory": self._memory, **about}
        if name == END:
            with suppress(ValueError):  # a function may have stored something that has no key
                noted[FUNCTIONS] = self._functions()
        else:
            self._set_aside()
        files.write(self.path / name, noted, arrays)

    def _set_aside(self) -> None:
        """Keeps a copy of the note that is about to be replaced, and thins out the earlier ones."""
        if not (self.path / RESUME).exists():
            return
        import shutil

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
    """The numbers in a value and in its lists; None if it holds anything else."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return [value]
    parts = [_numbers(part) for part in value] if isinstance(value, list) else [None]
    return None if None in parts else [number for part in parts for number in part or []]


def _agree(found: object, own: object) -> bool:
    """Whether two descriptions are equal up to round-off, which depends on the processor."""
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
    """Reads a folder as `files.read` reads a file; the arrays stay on the disk until they are used."""
    from pathlib import Path

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
    """How many of the rows that a note counts all columns hold."""
    return rows_held(folder, noted["rows"], noted.get("tails") or dict.fromkeys(_column_files(folder)))


# ---- notes ----


class Note(NamedTuple):
    """A note that is not damaged."""

    path: Path
    about: dict[str, Any]
    arrays: dict[str, Array]


def _note_paths(folder: Path) -> list[Path]:
    """The paths of all notes, the latest first."""
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
    """The latest note from which a run can continue, because all rows that it counts exist."""
    held = next((_rows_held(folder, note.about) for note in _notes(folder)), 0)
    return next((note for note in _notes(folder) if note.path.name != END and 0 < note.about["rows"] <= held), None)
