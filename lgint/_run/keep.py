"""What a run saves: chosen parts of its states, or quantities computed from them, in memory or in a folder."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from os import PathLike
from typing import Any, Final

import numpy as np

from lgint._args import Array, choice, for_each, shown
from lgint._model.keys import function_keys
from lgint._model.system import System
from lgint._run import files
from lgint._run.events import Event, Events
from lgint._run.folder import END, RESUME, Folder, read
from lgint._run.memory import layout_of
from lgint._run.methods import ROWS
from lgint._run.options import all_options
from lgint._run.sensitivity import slopes_width
from lgint._run.trajectory import SAVED, SLOPES, STATE, STEP, Trajectory, event_arrays, loaded

Save = Sequence[str] | Mapping[str, Callable[[Trajectory], Any]]
BYTES: Final = 2**22  # size of the rows that the core collects before it passes them on


class Rows:
    """Rows of several columns in memory. Arrays grow in place, so that nothing has to be copied at the end."""

    def __init__(self) -> None:
        self._count = 0
        self._arrays: dict[str, Array] = {}

    def add(self, columns: Mapping[str, Array]) -> None:
        """Appends rows to all columns; if memory runs out, to none."""
        count = self._count + len(next(iter(columns.values())))
        for name, values in columns.items():
            array = self._arrays.setdefault(name, np.empty((0, *values.shape[1:])))
            if len(array) < count:
                array.resize((max(count, len(array) + len(array) // 16), *values.shape[1:]), refcheck=False)
            array[self._count : count] = values
        self._count = count

    def arrays(self) -> dict[str, Array]:
        """The columns, which then belong to the caller."""
        for array in self._arrays.values():
            array.resize((self._count, *array.shape[1:]), refcheck=False)
        return self._arrays


class Keeper:
    """Receives the rows of a run.

    Parameters
    ----------
    model, method, options
        Of the run, with the value of every option.
    save : names or functions, optional
    folder : Folder, optional
    skip : bool
        Whether the first row is already stored.
    watch : Events, optional
        The detection of events, which are stored in the folder as well.
    parameters : list of str
        By which the run is differentiated.
    """

    def __init__(
        self,
        model: System,
        method: str,
        options: dict[str, Any],
        save: Save | None,
        folder: Folder | None,
        skip: bool,
        watch: Events | None,
        parameters: Sequence[str],
    ) -> None:
        self._run = model, method, options
        self._parameters = [*parameters]
        self._extra: str | None = ROWS[method]["extra"]
        self._save = _checked(save, self._extra)
        self._folder = folder
        self._skip = skip
        self._watch = watch
        self._taken = Rows()
        self._parts: list[str] = []  # the parts of the states that are kept
        self._shapes: dict[str, tuple[int, ...]] = {}  # of one value of each quantity

    def room(self, model: System) -> int:
        """How many rows the core collects before it passes them on."""
        slopes = slopes_width(model, len(self._parameters)) if self._parameters else 0
        width = len(STEP) + sum(model.core.widths.values()) + slopes
        return int(np.clip(BYTES // (8 * width), 1, 2**16))

    def kept(self, model: System) -> int:
        """How many bytes of each state stay in memory, as a lower bound."""
        if self._folder or self._save is None:
            return 0
        chosen = [1 if isinstance(self._save, Mapping) else model.core.widths.get(name, 0) for name in self._save]
        return 8 * (len(STEP) + sum(chosen))

    def take(self, rows: dict[str, Any]) -> None:
        """Keeps rows, with the state from which the run continues after them."""
        self._add(rows)
        if self._folder:
            self._note(self._folder, RESUME, rows, -1)

    def complete(self, result: dict[str, Any], status: int) -> dict[str, Any]:
        """The result with all rows that were kept, instead of only the last ones.

        If the run failed, rows at its end that cannot be kept are left out.
        """
        with suppress(Exception) if status < 0 else nullcontext():
            self._add(result)
        rest = {name: result[name] for name in ("end", "carry", "stats", "knots")}
        none = {name: result[name][:0] for name in STEP}
        if self._folder is None:
            return rest | _parts(none | self._taken.arrays())
        if not self._folder.rows:
            return rest | _parts(none)
        self._note(self._folder, END, result, status)
        self._folder.close()
        return rest | _parts(read(self._folder.path)[1])

    def _note(self, folder: Folder, name: str, rows: Mapping[str, Any], status: int) -> None:
        """Writes the note that belongs to all rows so far."""
        events = self._watch.columns() if self._watch else None
        about = {"stats": rows["stats"], "status": status, "parts": self._parts, "events": events and len(events[0])}
        about["options"] = self._run[2]
        folder.note(name, about, _end(rows) | event_arrays(events or ([], [], [])))

    def _add(self, rows: dict[str, Any]) -> None:
        columns = {name: rows[name] for name in (*STATE, "extra", SLOPES) if name in rows}
        if self._skip and len(rows["t"]):
            self._skip = False
            columns = {name: values[1:] for name, values in columns.items()}
        chosen = self._chosen(columns, rows)
        self._parts = [name for name in STATE if name in chosen]
        if self._folder:
            self._folder.add(chosen)
            return
        self._taken.add(chosen)

    def _chosen(self, columns: dict[str, Array], rows: dict[str, Any]) -> dict[str, Array]:
        """Columns by the names of their files."""
        named = {f"extra_{self._extra}" if name == "extra" else name: values for name, values in columns.items()}
        if self._save is None:
            return named
        chosen = {name: named[name] for name in STEP}
        if not isinstance(self._save, Mapping):
            wanted = [name if name in STATE else f"extra_{name}" for name in self._save]
            wanted += [SLOPES] if SLOPES in named else []
            return chosen | {name: named[name] for name in wanted}
        trajectory = Trajectory(*self._run, {**rows, **columns, "knots": None, "parameters": self._parameters})
        for name, function in self._save.items():
            chosen[SAVED + name] = self._values(name, function(trajectory), len(chosen["t"]))
        return chosen

    def _values(self, name: str, given: Any, count: int) -> Array:
        """What a function of `save` returned for `count` states."""
        values = for_each(f"save: {name!r}", given, count)
        shape = self._shapes.setdefault(name, values.shape[1:])
        if values.shape[1:] != shape:
            raise ValueError(f"save: values of {name!r} have the shape {values.shape[1:]}; earlier ones had {shape}")
        return values


def keeper_of(
    model: System,
    method: str,
    options: dict[str, Any],
    save: Save | None,
    folder: Folder | None = None,
    skip: bool = False,
    watch: Events | None = None,
    parameters: Sequence[str] = (),
) -> Keeper | None:
    """A keeper, or None if the run does not need one."""
    if save is None and folder is None:
        return None
    return Keeper(model, method, options, save, folder, skip, watch, parameters)


@contextmanager
def folder_of(
    path: str | PathLike[str] | None,
    model: System,
    method: str,
    given: Mapping[str, Any],
    kept: Mapping[str, Any],
    arguments: Mapping[str, Any],
    events: Event | Sequence[Event] | None,
    save: Save | None,
) -> Iterator[tuple[Folder | None, Trajectory | None]]:
    """The folder of a run, if it has one, and the part of the run that it already holds.

    `kept` are inherited options.
    """
    if path is None:
        yield None, None
        return
    about = {"method": method, "options": all_options(method, given, kept)}
    names = {"save": saved_names(save), "events": Events.names(events)}
    about |= {"model": type(model).__name__, "record": model.record(), "arguments": {**arguments, **names}}
    functions = {"events": None if events is None else Events.called(events), "save": save}
    functions["model"] = model.origin["parameters"] if model.origin else model.record()
    with Folder(path, about, given, layout_of(model), lambda: function_keys(**functions)) as folder:
        yield folder, _known(folder, model)


def _known(folder: Folder, model: System) -> Trajectory | None:
    """The run in a folder if it has ended, otherwise the part from which it continues."""
    with files.defects(folder.path):
        found = folder.read()
        whole = None if found is None else loaded(*found, model)
    if whole is not None:
        if whole.status >= 0:
            return whole
        folder.widen("mem", getattr(whole, "mem", None))
    last = folder.resume()
    return None if last is None else loaded(*last, model)


def saved_names(save: Save | None) -> list[str] | None:
    """Names of what is saved, for the description in the folder."""
    return None if save is None else sorted(save)


def _checked(save: Save | None, extra: str | None) -> Save | None:
    if save is None:
        return None
    if isinstance(save, Mapping):
        for name, function in save.items():
            if not (isinstance(name, str) and name.isidentifier() and callable(function)):
                raise ValueError(f"save: functions by identifiers expected, got {shown(function)} by {name!r}")
        return save
    if isinstance(save, str) or not isinstance(save, Sequence):
        raise ValueError(f"save: a list of names, or a dict of functions of a trajectory, expected, got {shown(save)}")
    for name in save:
        choice("part of the states", name, [*STATE, *([extra] if extra else [])])
    return save


def _end(rows: Mapping[str, Any]) -> dict[str, Array]:
    return {"carry": rows["carry"]} | {f"end_{name}": values for name, values in rows["end"].items() if name in STATE}


def _parts(columns: Mapping[str, Array]) -> dict[str, Any]:
    """Columns of files as entries of a result."""
    result: dict[str, Any] = {name: values for name, values in columns.items() if name in (*STATE, SLOPES)}
    extra = [values for name, values in columns.items() if name.startswith("extra_")]
    saved = {name[len(SAVED) :]: values for name, values in columns.items() if name.startswith(SAVED)}
    return result | ({"extra": extra[0]} if extra else {}) | {"saved": saved}
