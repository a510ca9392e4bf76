"""The file of a sweep: the outcomes of its runs, in an SQLite database that survives the end of the process."""

from __future__ import annotations

import io
import json
import sqlite3
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from os import PathLike
from types import TracebackType
from typing import Any, Final

import numpy as np

from lgint._args import path_of, shown
from lgint._sweep.job import Outcome, numbers

FORMAT: Final = "lgint sweep 2"
BY_NAME: Final = "lgint sweep 1"  # the format of files that identify functions by their names only
TABLES: Final = {"about", "runs"}
PATIENCE: Final = 60.0  # s to wait for another program's lock before the first run and after the last one
SHORT: Final = 0.2  # s to wait for it between runs and after an exception

NOT_DONE: Final = "not done"  # the report of a run that has not been done

About = dict[str, str]


class Store:
    """Outcomes by the keys of their runs. Each call of `add` is written as a whole or not at all.

    Several processes may create and write the same file. Outcomes wait in memory while another program locks it.

    Parameters
    ----------
    path : path or None
        None: outcomes are kept in memory.
    about : function
        Returns what all runs share at present. A file with different contents belongs to another sweep and is refused.
        Functions may keep values that change during the runs: a file records how they were when it was created, and
        how the last sweep left them.
    """

    def __init__(self, path: str | PathLike[str] | None, about: Callable[[], About]) -> None:
        self._outcomes: dict[str, Outcome] = {}
        self._waiting: dict[str, Outcome] = {}  # for the file
        self._about = about
        self._file: sqlite3.Connection | None = None
        self._path = ""
        if path is not None:
            self._path = path_of(path)
            self._open(about())

    def _open(self, about: About) -> None:
        try:
            self._file = sqlite3.connect(self._path, timeout=SHORT, isolation_level=None)
            _patiently(lambda: self._begin(about), PATIENCE)
            self._outcomes = dict(self._kept())
        except (sqlite3.DatabaseError, ValueError) as error:
            if self._file:
                self._file.close()
            if isinstance(error, ValueError):
                raise
            if _is_locked(error):
                what = "is locked by another program; wait until it ends, or choose another file"
            else:
                what = "is not the file of a sweep and cannot become one; choose another file"
            raise ValueError(f"path: {self._path} {what}: {error}") from error

    # ---- what all runs share ----

    def _begin(self, about: About) -> None:
        """Reads the file's description, or writes it if there is none yet."""
        if not self._said():
            with self._writing() as file:
                if not self._said():  # still, so that no other process has written it meanwhile
                    file.execute("CREATE TABLE IF NOT EXISTS about (format TEXT, about TEXT)")
                    file.execute("CREATE TABLE IF NOT EXISTS runs (key TEXT PRIMARY KEY, report TEXT, data BLOB)")
                    file.execute("INSERT INTO about VALUES (?, ?)", (FORMAT, json.dumps(about)))
        self._check(about)

    def _said(self) -> list[tuple[str, About]]:
        """The descriptions with their formats: that of the first sweep, and what the last one left; empty if new."""
        assert self._file is not None
        tables = {name for (name,) in self._file.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if not tables <= TABLES:
            raise ValueError(f"path: {self._path} is not the file of a sweep: it has other tables")
        rows = self._file.execute("SELECT format, about FROM about") if "about" in tables else []
        return [(found, self._about_of(found, text)) for found, text in rows]

    def _about_of(self, found: Any, text: Any) -> About:
        """The description in a file of the format `found`."""
        if found not in (FORMAT, BY_NAME):
            raise ValueError(f"path: the format of {self._path} is {found!r}; this version reads {FORMAT!r}")
        try:
            about: Any = json.loads(text)
        except (TypeError, ValueError):  # no text, or no JSON
            about = None
        if not isinstance(about, dict) or not all(isinstance(words, str) for words in about.values()):
            raise ValueError(
                f"path: {self._path} is damaged: the description of its sweep, {shown(text)}, cannot be read; restore "
                "the file from a copy, or choose another file"
            )
        return about

    def _check(self, about: About) -> None:
        """ValueError for the file of another sweep; a file that knew functions by name now records their keys."""
        said = self._said()
        found, begun = said[0]
        if about in (other for _, other in said):
            return
        for name in begun if found == BY_NAME else about.keys() | begun.keys():
            if about.get(name) != begun.get(name):
                why = " (the file identifies functions by their names only)" if found == BY_NAME else ""
                raise ValueError(
                    f"path: {self._path} belongs to a sweep with {name} {begun.get(name)}, but this one has "
                    f"{about.get(name)}{why}; choose another file"
                )
        with self._writing() as file:
            file.execute("UPDATE about SET format = ?, about = ?", (FORMAT, json.dumps(about)))

    def _leave(self) -> None:
        """Records how functions have changed during the runs."""
        left = self._about()
        if left not in (about for _, about in self._said()):
            with self._writing() as file:
                file.execute("DELETE FROM about WHERE rowid > (SELECT min(rowid) FROM about)")
                file.execute("INSERT INTO about VALUES (?, ?)", (FORMAT, json.dumps(left)))

    # ---- outcomes ----

    def _kept(self) -> Iterator[tuple[str, Outcome]]:
        """The outcomes that the file holds."""
        assert self._file is not None
        for row, key, report, data in self._file.execute("SELECT rowid, key, report, data FROM runs"):
            try:
                yield key, _outcome(report, data)
            except Exception as error:  # of many kinds, from the layers of an .npz file
                raise ValueError(
                    f"path: {self._path} is damaged: the outcome of a run cannot be read ({error}); delete it with the "
                    f'SQL statement "DELETE FROM runs WHERE rowid = {row}", and the run will be repeated'
                ) from error

    def __contains__(self, key: str) -> bool:
        return key in self._outcomes

    def __getitem__(self, key: str) -> Outcome:
        """The outcome of a run; its report is NOT_DONE if there is none yet."""
        return self._outcomes.get(key, Outcome(None, NOT_DONE))

    def add(self, outcomes: Mapping[str, Outcome]) -> None:
        """Keeps the outcomes of runs; they are in the file when it returns, unless another program locks that."""
        self._outcomes.update(outcomes)
        if self._file is not None:
            self._waiting.update(outcomes)
            self._write(SHORT)

    def _write(self, patience: float) -> None:
        rows = [(key, found.report, _packed(found.values)) for key, found in self._waiting.items()]

        def write() -> None:
            with self._writing() as file:
                file.executemany("INSERT OR REPLACE INTO runs VALUES (?, ?, ?)", rows)
            self._waiting.clear()

        try:
            _patiently(write, patience)
        except sqlite3.OperationalError as error:
            if not _is_locked(error):
                raise

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """A transaction, which begins when no other process writes."""
        assert self._file is not None
        self._file.execute("BEGIN IMMEDIATE")
        with self._file:  # commits, or rolls back
            yield self._file

    # ---- the end ----

    def __enter__(self) -> Store:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        if self._file is None:
            return
        with closing(self._file):
            if self._waiting:
                self._write(PATIENCE if kind is None else SHORT)
            with suppress(ValueError, sqlite3.OperationalError):  # functions that no longer have a key, or a lock
                self._leave()
        if self._waiting:
            warnings.warn(
                f"path: {self._path} is locked by another program; it lacks {len(self._waiting)} of the finished runs",
                RuntimeWarning,
                stacklevel=2,
            )


def _patiently(write: Callable[[], None], seconds: float) -> None:
    """Repeats the call while the file is locked, for at most so many seconds."""
    end = time.monotonic() + seconds
    while True:
        try:
            return write()
        except sqlite3.OperationalError as error:
            if not _is_locked(error) or time.monotonic() > end:
                raise
            time.sleep(0.01)


def _is_locked(error: Exception) -> bool:
    return "locked" in str(error)


def _packed(values: Mapping[str, np.ndarray[Any, Any]] | None) -> bytes | None:
    """Arrays as the bytes of an .npz file."""
    if values is None:
        return None
    file = io.BytesIO()
    np.savez(file, allow_pickle=False, **values)
    return file.getvalue()


def _outcome(report: Any, data: bytes | None) -> Outcome:
    """Reads what `_packed` has written."""
    if not isinstance(report, str):
        raise ValueError(f"its report is {shown(report)}")
    if data is None:
        return Outcome(None, report)
    with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
        return Outcome({name: numbers(name, arrays[name]) for name in arrays.files}, report)
