"""The runs of a sweep: a grid of values, or a list of them, with a dimension of the result for each."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from lgint._args import shown

RUN: Final = "run"  # the only dimension of a list of runs
RESERVED: Final = (RUN, "report")

Coordinate = tuple[tuple[str, ...], Any]  # its dimensions, and its values


@dataclass(frozen=True)
class Runs:
    """Parameters of every run, in the order of the result's dimensions, the last of which varies fastest."""

    parameters: list[dict[str, Any]]
    shape: dict[str, int]  # length of each dimension
    coordinates: dict[str, Coordinate]
    names: list[str]  # of the parameters
    labels: list[dict[str, str]]  # for every run the names of its values, if they were given by name


def runs_of(parameters: Mapping[str, Iterable[Any]] | Iterable[Mapping[str, Any]]) -> Runs:
    """The grid of a dict of lists, or the runs of a list of dicts."""
    runs = _grid(parameters) if isinstance(parameters, Mapping) else _listed(parameters)
    for name in runs.names:
        if not isinstance(name, str) or name in RESERVED:
            raise ValueError(f"parameters: names of parameters expected, other than {RESERVED}, got {name!r}")
    if not (runs.parameters and runs.names):
        raise ValueError("parameters: at least one run expected, got none")
    return runs


def _grid(parameters: Mapping[str, Iterable[Any]]) -> Runs:
    named = {name: _labels(name, given) for name, given in parameters.items() if isinstance(given, Mapping)}
    values = {name: _values(name, _unnamed(given)) for name, given in parameters.items()}
    coordinates: dict[str, Coordinate] = {}
    for name, given in values.items():
        coordinates |= _coordinates(name, given, name)
    coordinates |= {name: ((name,), np.array(labels, dtype=object)) for name, labels in named.items()}
    shape = {name: len(given) for name, given in values.items()}
    points = [dict(zip(shape, point, strict=True)) for point in itertools.product(*map(range, shape.values()))]
    made = [{name: values[name][i] for name, i in point.items()} for point in points]
    labels = [{name: names[point[name]] for name, names in named.items()} for point in points]
    return Runs(made, shape, coordinates, [*values], labels)


def _labels(name: str, given: Mapping[str, Any]) -> list[str]:
    for label in given:
        if not isinstance(label, str):
            raise ValueError(f"{name}: strings expected as names of the values, got {shown(label)}")
    return [*given]


def _unnamed(given: Any) -> Any:
    return given.values() if isinstance(given, Mapping) else given


def _listed(parameters: Iterable[Mapping[str, Any]]) -> Runs:
    made: list[dict[str, Any]] = []
    for run in _values("parameters", parameters):
        if not isinstance(run, Mapping) or (made and run.keys() != made[0].keys()):
            raise ValueError(
                f"parameters: a dict of lists (a grid), or a list of dicts with the same keys (one for each run), "
                f"expected; run {len(made)} is {shown(run)}"
            )
        made.append(dict(run))
    names = [*made[0]] if made else []
    coordinates: dict[str, Coordinate] = {RUN: ((RUN,), np.arange(len(made)))}
    for name in names:
        coordinates |= _coordinates(name, [run[name] for run in made], RUN)
    return Runs(made, {RUN: len(made)}, coordinates, names, [{}] * len(made))


def _values(name: str, given: Iterable[Any]) -> list[Any]:
    if isinstance(given, (str, bytes, Mapping)) or not np.iterable(given):
        raise ValueError(
            f"{name}: a list of values, or a dict of values by name, expected, got {shown(given)}; give what does not "
            "vary as an argument of sweep"
        )
    return [_plain(value) for value in given]


def _plain(value: Any) -> Any:
    """NumPy's numbers as Python's."""
    return value.item() if isinstance(value, np.generic) else value


# ---- labels ----


def _coordinates(name: str, values: Sequence[Any], dimension: str) -> dict[str, Coordinate]:
    """A parameter as coordinates of the result: its values, or numbers from 0 with the values as `<name>_value`."""
    own: dict[str, Coordinate] = {dimension: ((dimension,), np.arange(len(values)))} if dimension == name else {}
    if all(isinstance(value, (bool, int, float)) for value in values):
        return {name: ((dimension,), np.array(values))}
    if all(isinstance(value, str) or value is None for value in values):
        return {name: ((dimension,), np.array([str(value) for value in values], dtype=object))}
    arrays = _arrays(values)
    if arrays is None:
        return own | {f"{name}_value": ((dimension,), np.array([_named(value) for value in values], dtype=object))}
    axes = [f"{name}_axis{'' if arrays.ndim == 2 else i}" for i in range(arrays.ndim - 1)]
    return own | {f"{name}_value": ((dimension, *axes), arrays)}


def _arrays(values: Sequence[Any]) -> Any:
    """The values as one array of numbers, or None if they are not numbers or have different shapes."""
    try:
        arrays = np.array(values)
    except ValueError:
        return None
    return arrays if arrays.dtype.kind in "biuf" else None


def _named(value: Any) -> str:
    return str(getattr(value, "__qualname__", None) or repr(value))
