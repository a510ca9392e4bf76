"""Folders of long runs: a NumPy file for each column, which grows during the run, and the state that resumes it.

`about.json` describes the run. `resume.npz` has the number of complete rows and the state from which the run goes on
after them; it is replaced as a whole each time rows have been added. `end.npz` has the same for a run that has ended.
Rows beyond that number, which a killed process may have left, do not count.
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from os import PathLike
from pathlib import Path
from typing import IO, Any, Final

import numpy as np

from lgint._args import Array
from lgint._run import files
from lgint._run.memory import Layout

ABOUT, RESUME, END = "about.json", "resume.npz", "end.npz"
FUNCTIONS: Final = "functions"  # the entry with their keys, by their places in the run
HEADER: Final = 128  # bytes; NumPy leaves room in a header for the number of rows to grow


class Folder:
    """The folder of one run. It is made if it does not exist.

    Parameters
    ----------
    path : path
    about : dict
        A description of the run. A folder with another description is refused; only options that are not given may
        differ, as a run that goes on inherits them.
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
        memory: Layout,
        functions: Callable[[], dict[str, str]],
    ) -> None:
        self.path = Path(files.path_of(path))
        self._memory = memory
        self._functions = functions
        self.rows = 0
        self._files: dict[str, IO[bytes]] = {}
        if (self.path / ABOUT).exists():
            self._check(about)
            self._check_functions(functions())
        elif self.path.exists() and (not self.path.is_dir() or any(self.path.iterdir())):
            raise ValueError(f"path: a new folder, or that of the same run, expected; {self.path} is something else")
        self.path.mkdir(parents=True, exist_ok=True)
        if not (self.ended or self.resumable):
            self._describe({**about, FUNCTIONS: functions()})

    def _describe(self, about: Mapping[str, Any]) -> None:
        with files.replacing(str(self.path / ABOUT)) as file:
            file.write(files.text_of(about).encode())

    def _check(self, about: Mapping[str, Any]) -> None:
        found, given = files.load_text(_text(self.path)), files.load_text(files.text_of(about))
        for name in (found.keys() | given.keys()) - {"options", FUNCTIONS}:
            if found.get(name) != given.get(name):
                what = "options" if name == "given" else name
                raise ValueError(f"path: {self.path} holds a run with a different {what!r}; choose another folder")

    def _check_functions(self, given: dict[str, str]) -> None:
        found = files.load_text(_text(self.path)).get(FUNCTIONS)
        left = files.read(self.path / END)[0].get(FUNCTIONS) if (self.path / END).exists() else None
        if given in (found or {}, left):
            return
        if found is None:
            raise ValueError(
                f"path: {self.path} was made by an older version, which did not note what functions compute, and this "
                f"run has some ({', '.join(given)}); lgint.load reads it, and start= goes on from it in another folder"
            )
        names = ", ".join(sorted(name for name in found.keys() | given.keys() if found.get(name) != given.get(name)))
        raise ValueError(f"path: {self.path} holds a run with a different function {names}; choose another folder")

    @property
    def ended(self) -> bool:
        """Whether the run has reached its end."""
        return (self.path / END).exists() and files.read(self.path / END)[0]["status"] >= 0

    @property
    def resumable(self) -> bool:
        """Whether there are complete rows, after which the run can go on."""
        return (self.path / RESUME).exists()

    def resume(self) -> tuple[dict[str, Any], dict[str, Array]]:
        """What `read` returns for the last complete row, from which the run goes on; later rows are discarded."""
        (self.path / END).unlink(missing_ok=True)
        about, arrays = read(self.path)
        self.rows = about["rows"]
        columns = {path.stem for path in self.path.glob("*.npy")}
        return about, {name: np.array(values[-1:] if name in columns else values) for name, values in arrays.items()}

    def widen(self, name: str, values: Array | None) -> None:
        """Replaces a column whose rows have become longer; None: the run does not keep it."""
        path = self.path / f"{name}.npy"
        if values is None or _shape(path)[1:] == values.shape[1:]:
            return
        with files.replacing(str(path)) as file:
            file.write(_header(len(values), values.shape[1:]))
            file.write(values.tobytes())

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
            file.write(_header(self.rows + count, values.shape[1:]))
            file.flush()
        self.rows += count

    def _open(self, name: str, values: Array) -> IO[bytes]:
        """The file of a column, cut after its complete rows."""
        path = self.path / f"{name}.npy"
        file = open(path, "r+b" if self.rows else "w+b")
        file.write(_header(self.rows, values.shape[1:]))
        file.truncate(HEADER + 8 * self.rows * int(np.prod(values.shape[1:])))
        return file

    def note(self, name: str, about: Mapping[str, Any], arrays: Mapping[str, Array]) -> None:
        """Writes RESUME or END: all rows so far count from now on."""
        functions: dict[str, Any] = {}
        if name == END:
            with suppress(ValueError):  # what a function keeps by now has no key
                functions[FUNCTIONS] = self._functions()
        files.write(self.path / name, {"rows": self.rows, "memory": self._memory, **functions, **about}, arrays)

    def close(self) -> None:
        """Closes all files."""
        for file in self._files.values():
            file.close()
        self._files.clear()


def read(path: str | PathLike[str]) -> tuple[dict[str, Any], dict[str, Array]]:
    """What `files.read` returns for a file; the arrays stay on the disk until they are used."""
    folder = Path(path)
    with files.defects(path):
        about = files.about_of(_text(folder))
        last = END if (folder / END).exists() else RESUME
        if not (folder / last).exists():
            raise ValueError("the run has not written any states yet")
        noted, arrays = files.read(folder / last)
        return {**about, **noted}, arrays | dict(_columns(folder, noted["rows"]))


def _text(folder: Path) -> str:
    return (folder / ABOUT).read_text()


def _columns(folder: Path, rows: int) -> Iterator[tuple[str, Array]]:
    for path in sorted(folder.glob("*.npy")):
        shape = _shape(path)
        if shape[0] < rows:
            raise ValueError(f"{path.name} has {shape[0]} rows, and {rows} are expected")
        shape = (rows, *shape[1:])
        empty = 0 in shape
        yield path.stem, np.empty(shape) if empty else np.memmap(path, np.float64, "r", HEADER, shape)


def _shape(path: Path) -> tuple[int, ...]:
    """The shape of a column, as its header has it."""
    with open(path, "rb") as file:
        np.lib.format.read_magic(file)
        shape, _, dtype = np.lib.format.read_array_header_1_0(file)
    if dtype != np.float64:
        raise ValueError(f"{path.name} has values of {dtype}, and float64 is expected")
    return shape


def _header(rows: int, shape: tuple[int, ...]) -> bytes:
    """The first bytes of an .npy file."""
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(file, {"descr": "<f8", "fortran_order": False, "shape": (rows, *shape)})
    assert file.tell() == HEADER
    return file.getvalue()
