"""The labelled result of a sweep."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from lgint._sweep.job import Outcome
from lgint._sweep.runs import Runs

if TYPE_CHECKING:
    from types import ModuleType

    from xarray import Dataset


def import_xarray() -> ModuleType:
    """The package xarray; an ImportError that says what to install."""
    try:
        import xarray
    except ImportError as error:
        raise ImportError("lgint.sweep needs the package xarray: pip install 'lgint[sweep]'") from error
    module: ModuleType = xarray
    return module


def dataset(
    runs: Runs,
    outcomes: Sequence[Outcome],
    observables: Sequence[str],
    units: Mapping[str, str],
    attrs: Mapping[str, str],
) -> Dataset:
    """The observed values by name, along the dimensions of the sweep; a failed run has NaN and a report."""
    dims, shape = tuple(runs.shape), tuple(runs.shape.values())
    data: dict[str, Any] = {}
    for name in observables:
        values = _stacked(name, [outcome.values[name] if outcome.values else None for outcome in outcomes])
        axes = tuple(f"{name}_axis{'' if values.ndim == 2 else i}" for i in range(values.ndim - 1))
        data[name] = ((*dims, *axes), values.reshape(*shape, *values.shape[1:]), _unit(name, units))
    reports = np.array([outcome.report for outcome in outcomes], dtype=object).reshape(shape)
    data["report"] = (dims, reports, {"long_name": "why a run failed"})
    coordinates = {
        name: (axes, values, _unit(name.removesuffix("_value"), units))
        for name, (axes, values) in runs.coordinates.items()
    }
    made: Dataset = import_xarray().Dataset(data, coordinates, dict(attrs))
    return made


def _unit(name: str, units: Mapping[str, str]) -> dict[str, str]:
    return {"units": units[name]} if name in units else {}


def _stacked(name: str, values: Sequence[Any]) -> Any:
    """The arrays of all runs as one, with NaN for missing ones and beyond the end of shorter ones."""
    found = [value for value in values if value is not None]
    depth = max((value.ndim for value in found), default=0)
    if any(value.ndim != depth for value in found):
        depths = sorted({value.ndim for value in found})
        raise ValueError(
            f"observables: {name!r} has {' or '.join(map(str, depths))} axes; the same number expected in all runs"
        )
    shape = [max(value.shape[axis] for value in found) for axis in range(depth)]
    whole = len(found) == len(values) and all(value.shape == (*shape,) for value in found)
    kind = np.result_type(*found) if found else np.dtype(float)
    if not whole and kind.kind in "biu":
        kind = np.dtype(float)
    stacked = np.full((len(values), *shape), np.nan if kind.kind in "fc" else 0, kind)
    for i, value in enumerate(values):
        if value is not None:
            stacked[i, ...][tuple(map(slice, value.shape))] = value
    return stacked
