"""Derivatives of a number by the states of a run, from those by the values of accessors.

An accessor is a function of a state that has no derivatives of its own. Differences of the sixth order give them, for
all states at once, along the coordinates of the state on which it depends; halving finds these. The steps are so long
that about 1e-13 remains.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from lgint._args import Array
from lgint._model.model import Model
from lgint._run.outputs import Output
from lgint._run.sensitivity import largest_step, remembered, stencil, stretched, varied_by
from lgint._run.trajectory import Trajectory
from lgint._state.slopes import CENTRAL, START, refined

_STEP: Final = 2.0**-7  # rad, m; of velocities, accelerations and multipliers relative to their size
_NEAR: Final = 2.0**-13  # rad, m: the same of coordinates where bristles are about to slide or to stick
_PARTS: Final = ("q", "v", "vdot", "lam", "mem")


def pull_back(
    run: Trajectory, names: Sequence[str], outputs: list[Output], weights: list[Array]
) -> tuple[Array, Array]:
    """The derivatives of sum(weights * outputs) by each state, and by parameters at these.

    A state consists of q, v, vdot, lam and the numbers of the memory that have derivatives.
    """
    model: Model = run.model  # type: ignore[assignment]
    sizes = [model.nv, model.nv, model.nv, model.nc, model.core.nmem - model.first_held]
    rows, found = np.zeros((len(run.t), sum(sizes))), np.zeros(len(names))
    smooth, factor = stretched(run)
    for output, weight in zip(outputs, weights, strict=True):
        for part, size, first in zip(_PARTS, sizes, np.cumsum([0, *sizes]), strict=False):
            _add_part(smooth, output, weight, part, rows[:, first : first + size])
        found += [_by_parameter(smooth, output, weight, name) for name in names]
    if sizes[-1]:
        rows[:, -sizes[-1] :] *= factor[:, model.first_held :]
    return rows, found


def _contracted(weight: Array, values: Array) -> Array:
    """The sum over the values of each state."""
    product: Array = (weight * values).reshape(len(weight), -1).sum(axis=1)
    return product


def _add_part(run: Trajectory, output: Output, weight: Array, part: str, rows: Array) -> None:
    """Adds the derivatives by a part of the state."""
    model: Model = run.model  # type: ignore[assignment]
    size = rows.shape[1]
    moves_bristles = model.bristles.any() and part in ("q", "mem")
    scale = _NEAR if moves_bristles else _STEP
    scale *= 1.0 if part == "q" else 1 + np.abs(getattr(run, part)).max(initial=0)
    present = output.of(run)

    def value(direction: Array, change: float) -> Array:
        return output.of(_displaced(run, part, change * direction))

    def counts(numbers: range) -> bool:
        """Whether the output changes with any of these coordinates."""
        direction = np.zeros(size)
        direction[numbers] = 1 + np.sqrt(np.arange(2, 2 + len(numbers))) % 1
        return not np.array_equal(value(direction, scale), present, equal_nan=True)

    for i in _those(counts, range(size)):
        unit = np.eye(1, size, i)[0]

        def slope(step: float, unit: Array = unit) -> Array:
            return np.asarray(sum(share / step * value(unit, times * step) for times, share in CENTRAL))

        rows[:, i] += _contracted(weight, refined(slope, scale, model.has_kinks))


def _those(counts: Callable[[range], bool], numbers: range) -> list[int]:
    """The numbers that count, found by halving the range."""
    if not len(numbers) or not counts(numbers):
        return []
    if len(numbers) == 1:
        return [*numbers]
    half = len(numbers) // 2
    return [*_those(counts, numbers[:half]), *_those(counts, numbers[half:])]


def _displaced(run: Trajectory, part: str, change: Array) -> Trajectory:
    """The run with a part of all states changed, coordinates along the local ones, and memory with them."""
    model: Model = run.model  # type: ignore[assignment]
    core = model.core
    columns = {name: getattr(run, name) for name in run._parts}
    moved = np.broadcast_to(change, (len(run.t), len(change)))
    if part == "mem":
        moved = np.pad(moved, ((0, 0), (core.nmem - len(change), 0)))
    columns[part] = core.retract(run.q, moved) if part == "q" else columns[part] + moved
    if core.nmem:
        columns["mem"] = remembered(model, run.clock, *(columns[name] for name in ("q", "v", "vdot", "mem")))
    return run._with({**columns, **run.extra})


def _by_parameter(run: Trajectory, output: Output, weight: Array, name: str) -> float:
    """The derivative by a parameter of the model at fixed states."""
    model: Model = run.model  # type: ignore[assignment]
    step = largest_step(model, name)
    columns = {part: getattr(run, part) for part in run._parts}

    def value(change: float) -> Array:
        other = run._with({**columns, **run.extra})
        other.model = varied_by(model, name, change)
        return output.of(other)

    if name.startswith(START) or np.array_equal(value(step), output.of(run), equal_nan=True):
        return 0.0
    points = stencil(model, name)

    def slope(step: float) -> Array:
        return np.asarray(sum(share / step * value(times * step) for times, share in points))

    found = refined(slope, step, kinks=True) if model.has_kinks else slope(step)
    return float(_contracted(weight, found).sum())
