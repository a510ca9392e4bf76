"""Models that a function makes one after the other: those of one shape take it from the first of them.

Models have one shape if their records differ only in the start, in gravity, and in numbers that nothing but parameters
of elements hold, such as masses. Records are compared as bytes, so that the signs of zeros count. A model with
functions of the user is always compiled.
"""

from __future__ import annotations

import marshal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final, NamedTuple

from lgint import _core
from lgint._model.compile import GRAVITY
from lgint._model.model import Model
from lgint._model.record import Record
from lgint._model.values import LOAD

_SECTIONS: Final = ("bodies", "supports", "joints", "forces")
_EQUAL: Final = ("rods", "redundant", "dropped", "reference", "origin")  # parts that are equal in models of one shape
_SHAPE: Final = (*_SECTIONS, GRAVITY, *_EQUAL)
_START: Final = ("q0", "v0")
_PARTS: Final = (*_SHAPE, *_START)
_HELD: Final = ("mass", "inertia", LOAD)  # what only parameters hold, besides what the rows of elements declare
_FORMAT: Final = 2  # of the bytes: the last one without references, so that equal values have equal bytes

_running: ContextVar[Series | None] = ContextVar("_running", default=None)


def model_of(record: Record) -> Model:
    """The model of a record, with the bits that `Model` gives it."""
    series = _running.get()
    return series.model(record) if series else Model(record)


class _Compiled(NamedTuple):
    """A model that was compiled."""

    model: Model  # a copy, which nobody else has
    record: Mapping[str, Any]
    parts: dict[str, bytes]  # of the record
    held: frozenset[tuple[str, str, str]]  # section, row and key of numbers that only parameters hold

    def owners(self, record: Mapping[str, Any], parts: dict[str, bytes]) -> set[str] | None:
        """The parts of the model whose numbers another record changes; None if it changes anything else."""
        owners = set[str]()
        for part in [part for part in _SHAPE if parts[part] != self.parts[part]]:
            rows, others = record[part], self.record[part]
            if part == GRAVITY and any(rows) == any(others):  # both models have weights, or neither
                owners.add(part)
            elif part not in _SECTIONS or [*rows] != [*others]:
                return None
            else:
                found = {(part, name, key) for name in rows for key in _differing(rows[name], others[name])}
                if not found <= self.held:
                    return None
                owners |= {name for _, name, _ in found}
        return owners


class Series:
    """Models that are built one after the other; threads may share it."""

    def __init__(self) -> None:
        self._last: _Compiled | None = None  # what was compiled last

    @contextmanager
    def running(self) -> Iterator[None]:
        """All models that are built inside belong to the series."""
        token = _running.set(self)
        try:
            yield
        finally:
            _running.reset(token)

    def model(self, record: Record) -> Model:
        """The model of a record."""
        parts = _bytes_of(record)
        if not parts:
            return Model(record)
        found = _alike(self._last, record, parts) if self._last else None
        if found is None:
            found = Model(record)
            values = found._values.values()
            held = frozenset((v.section, v.row, v.key) for v in values if v.parameter or v.key in _HELD)
            self._last = _Compiled(found._copy(), record, parts, held)
        return found

    def __reduce__(self) -> tuple[type[Series], tuple[()]]:
        return Series, ()  # another process begins a series of its own


def _alike(last: _Compiled, record: Record, parts: dict[str, bytes]) -> Model | None:
    """The model of a record with the shape of the last one; None if it has another shape or is not valid."""
    owners = last.owners(record, parts)
    if owners is None:
        return None
    same_start = all(parts[part] == last.parts[part] for part in _START)
    try:
        return last.model.alike(record, owners, same_start=same_start)
    except (ValueError, _core.IntegrationError):
        return None  # compiling it says what is wrong


def _bytes_of(record: Mapping[str, Any]) -> dict[str, bytes]:
    """The parts of a record as bytes; none if it has functions of the user, or parts that few records have."""
    if len(record) != len(_PARTS):
        return {}
    try:
        return {part: marshal.dumps(record[part], _FORMAT) for part in _PARTS}
    except (ValueError, KeyError):
        return {}


def _differing(row: Mapping[str, Any], other: Mapping[str, Any]) -> Iterator[str]:
    """Keys under which two entries differ; "" if their keys differ, or how many values there are under one."""
    if row.keys() != other.keys():
        yield ""
    for key in [key for key in row.keys() & other.keys() if row[key] is not other[key]]:
        here, there = marshal.dumps(row[key], _FORMAT), marshal.dumps(other[key], _FORMAT)
        if here != there:
            yield key if len(here) == len(there) else ""
