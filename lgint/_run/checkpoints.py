"""States from which parts of a run are repeated: in memory, or in the files of a folder."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from lgint._args import Array, shown


class Mark(NamedTuple):
    """A state before a step, with all that later steps depend on."""

    step: int
    t: float
    q: Array
    v: Array
    start: dict[str, Any]  # what the core takes as `start`


class Checkpoints:
    """The marks of one run, in the order of time."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._marks: list[Mark] = []
        self.times: list[float] = []

    def add(self, step: int, t: float, q: Array, v: Array, start: dict[str, Array]) -> None:
        """What the core calls."""
        if self._folder is None:
            self._marks.append(Mark(step, t, q, v, start))
        else:
            arrays: dict[str, Any] = {"step": step, "t": t, "q": q, "v": v, **start}
            np.savez(self._file(len(self)), **arrays)
        self.times.append(t)

    def __len__(self) -> int:
        return len(self.times)

    def __getitem__(self, i: int) -> Mark:
        if self._folder is None:
            return self._marks[i]
        with np.load(self._file(i)) as data:
            rest = {name: data[name] for name in data.files if name not in Mark._fields}
            return Mark(int(data["step"]), float(data["t"]), data["q"], data["v"], rest)

    def _file(self, i: int) -> Path:
        assert self._folder is not None
        return self._folder / f"{i}.npz"


@contextmanager
def checkpoints_in(path: str | PathLike[str] | None) -> Iterator[Checkpoints]:
    """In memory, or in a folder of their own inside this one, which is removed at the end."""
    if path is None:
        yield Checkpoints(None)
        return
    import tempfile

    if not isinstance(path, (str, PathLike)):
        raise ValueError(f"checkpoints: a path of a folder expected, got {shown(path)}")
    try:
        Path(path).mkdir(parents=True, exist_ok=True)
        folder = tempfile.TemporaryDirectory(prefix="checkpoints-", dir=path)
    except OSError as error:
        raise ValueError(f"checkpoints: no folder can be made at {str(path)!r}: {error.strerror}") from error
    with folder as name:
        yield Checkpoints(Path(name))
