"""The numbers in a record that can be changed in a model that has been built, by name: "arm.mass", "gravity", ..."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, Final, NamedTuple

import numpy as np

from lgint._args import array, number
from lgint._model.checks import inertia_matrix
from lgint._model.compile import GRAVITY
from lgint._model.parameters import Parameter, declared_by
from lgint._model.record import Record

LOAD: Final = "load"  # the constant vector of a force or torque, the constant tension of a tendon


class Value(NamedTuple):
    """Where a number, or several, stand in a record."""

    section: str  # "bodies", "joints" or "forces"; "": the record itself
    row: str
    key: str
    unit: str
    parameter: Parameter | None = None  # None: it belongs to a body, or to all, or is a load

    @property
    def owner(self) -> str:
        """The part of the model that it belongs to."""
        return self.row or self.key


def values_of(record: Record) -> dict[str, Value]:
    """All values by name: the name of a body, joint or force, and that of its entry."""
    found = {GRAVITY: Value("", "", GRAVITY, "m/s^2")}
    for section, entries in (("bodies", _of_bodies), ("joints", _declared), ("forces", _of_forces)):
        for row, entry in record[section].items():  # type: ignore[literal-required]
            found |= {f"{row}.{key}": Value(section, row, key, *rest) for key, *rest in entries(entry)}
    return found


def _of_bodies(body: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if body["modes"] is None:
        yield "mass", "kg"
        yield "inertia", "kg m^2"


def _declared(entry: Mapping[str, Any]) -> Iterator[tuple[str, str, Parameter]]:
    """The parameters of a force or a joint that its entry holds."""
    for key, parameter in declared_by(entry).items():
        if key in entry and parameter.varies:
            yield key, parameter.unit, parameter


def _of_forces(force: Mapping[str, Any]) -> Iterator[tuple[Any, ...]]:
    yield from _declared(force)
    if "vector" in force.get("load", {}):
        yield LOAD, "N m" if force["kind"] == "torque" else "N"


def value_in(record: Record, value: Value) -> Any:
    """The present value."""
    if not value.section:
        return record["gravity"]
    row = record[value.section][value.row]  # type: ignore[literal-required]
    return row[LOAD]["vector"] if value.key == LOAD else row[value.key]


def own_values(
    parameters: Mapping[str, Any],
    values: Collection[str],
    keywords: Mapping[str, Any],
    present: Callable[[], Mapping[str, Any]],
) -> list[str]:
    """Names of parameters that are values; one that is a keyword as well only if it has the shape of the value alone.

    `present` returns the present values.
    """
    both = [name for name in parameters if name in keywords and name in values]
    shapes = {name: np.shape(present()[name]) for name in both}
    keyword = {name for name in both if not _has_shape(parameters[name], shapes[name], np.shape(keywords[name]))}
    return [name for name in parameters if name in values and name not in keyword]


def _has_shape(given: Any, shape: tuple[int, ...], other: tuple[int, ...]) -> bool:
    try:
        return shape != other and np.shape(given) == shape
    except ValueError:  # lists that are no array
        return False


def changed(record: Record, value: Value, name: str, given: object) -> Record:
    """The record with another value, which is checked as in the builder; itself if the value is the present one."""
    old = value_in(record, value)
    if _equal(given, old):
        return record
    new: Any = value.parameter.read(name, given) if value.parameter else _READERS[value.key](name, given, old)
    if not value.section:
        return {**record, "gravity": new}
    rows: dict[str, Any] = record[value.section]  # type: ignore[literal-required]
    row = rows[value.row]
    entry = {LOAD: {**row[LOAD], "vector": new}} if value.key == LOAD else {value.key: new}
    return {**record, value.section: {**rows, value.row: {**row, **entry}}}  # type: ignore[misc]


def _equal(given: object, old: Any) -> bool:
    """Whether a value is the present one."""
    if isinstance(given, float) and isinstance(old, float):
        return given == old
    return np.array_equal(given, old)  # type: ignore[arg-type]


# ---- how a value is read ----


def _mass(name: str, given: Any, old: Any) -> float:
    return number(name, given, positive=True)


def _inertia(name: str, given: Any, old: Any) -> Any:
    return inertia_matrix(name.removesuffix(".inertia"), given).tolist()


def _same_shape(name: str, given: Any, old: Any) -> Any:
    """An array of the shape that the value had; a single number is accepted for an array of one."""
    shape = np.shape(old)
    values = array(name, given, shape, *([()] if shape == (1,) else []))
    return values.reshape(shape).tolist()


_READERS: Final[Mapping[str, Callable[[str, Any, Any], Any]]] = {
    "mass": _mass,
    "inertia": _inertia,
    GRAVITY: _same_shape,
    LOAD: _same_shape,
}
