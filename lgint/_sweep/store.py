"""The file of a sweep: what every run gave, in an SQLite database that survives the end of its process."""

from __future__ import annotations

import io
import json
import sqlite3
from collections.abc import Iterable, Mapping
from os import PathLike
from pathlib import Path
from typing import Any, Final

import numpy as np

from lgint._run.files import path_of
from lgint._sweep.job import Outcome

FORMAT: Final = "lgint sweep 2"
BY_NAME: Final = "lgint sweep 1"  # the format of files which know functions by their names only


class Store:
    """Outcomes by the keys of their runs. What a call of `add` is given is written as a whole or not at all.

    Parameters
    ----------
    path : path or None
        None: outcomes are kept in memory.
    about : dict of str
        What all runs share. A file with other contents belongs to another sweep and is refused.
    """

    def __init__(self, path: str | PathLike[str] | None, about: Mapping[str, str]) -> None:
        self._outcomes: dict[str, Outcome] = {}
        self._file: sqlite3.Connection | None = None
        if path is not None:
            self._open(path_of(path), dict(about))

    def _open(self, path: str, about: dict[str, str]) -> None:
        existed = Path(path).exists() and Path(path).stat().st_size > 0
        try:
            self._file = sqlite3.connect(path)
            if not existed:
                self._create(about)
            self._check(path, about)
            rows = self._file.execute("SELECT key, report, data FROM runs")
            self._outcomes = {key: Outcome(_unpacked(data), report) for key, report, data in rows}
        except (sqlite3.DatabaseError, ValueError) as error:
            self.close()
            if isinstance(error, ValueError):
                raise
            raise ValueError(f"path: {path} is not the file of a sweep, and cannot become one: {error}") from error

    def _create(self, about: dict[str, str]) -> None:
        assert self._file is not None
        with self._file:
            self._file.execute("CREATE TABLE about (format TEXT, about TEXT)")
            self._file.execute("CREATE TABLE runs (key TEXT PRIMARY KEY, report TEXT, data BLOB)")
            self._file.execute("INSERT INTO about VALUES (?, ?)", (FORMAT, json.dumps(about)))

    def _check(self, path: str, about: dict[str, str]) -> None:
        """ValueError for the file of another sweep; one that knows functions by their names gets to know these."""
        assert self._file is not None
        found, text = self._file.execute("SELECT format, about FROM about").fetchone()
        if found not in (FORMAT, BY_NAME):
            raise ValueError(f"path: the format of {path} is {found!r}, and this version reads {FORMAT!r}")
        other = json.loads(text)
        for name in other if found == BY_NAME else about.keys() | other.keys():
            if about.get(name) != other.get(name):
                why = " (the file knows functions by their names only)" if found == BY_NAME else ""
                raise ValueError(
                    f"path: {path} belongs to a sweep with {name} {other.get(name)}, and this one has "
                    f"{about.get(name)}{why}; choose another file"
                )
        if found == BY_NAME:
            with self._file:
                self._file.execute("UPDATE about SET format = ?, about = ?", (FORMAT, json.dumps(about)))

    def __contains__(self, key: str) -> bool:
        return key in self._outcomes

    def __getitem__(self, key: str) -> Outcome:
        return self._outcomes[key]

    def add(self, outcomes: Mapping[str, Outcome]) -> None:
        """Keeps the outcomes of runs, on the disk before it returns if there is a file."""
        self._outcomes.update(outcomes)
        if self._file is None:
            return
        rows: Iterable[Any] = [(key, found.report, _packed(found.values)) for key, found in outcomes.items()]
        with self._file:
            self._file.executemany("INSERT OR REPLACE INTO runs VALUES (?, ?, ?)", rows)

    def close(self) -> None:
        """Closes the file."""
        if self._file is not None:
            self._file.close()


def _packed(values: Mapping[str, np.ndarray[Any, Any]] | None) -> bytes | None:
    """Arrays as the bytes of an .npz file."""
    if values is None:
        return None
    file = io.BytesIO()
    np.savez(file, allow_pickle=False, **values)
    return file.getvalue()


def _unpacked(data: bytes | None) -> dict[str, np.ndarray[Any, Any]] | None:
    if data is None:
        return None
    with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
        return {name: arrays[name] for name in arrays.files}
