"""Memory of joints, drives and rods in files: how many values each element keeps, and how older files are completed.

An element has a fixed number of values, to which a later version may append others. These are zero until the element
has seen a state. In this way the memory of an older file is completed, state by state.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np

from lgint._args import Array
from lgint._model.start import memory_of
from lgint._model.system import System
from lgint._run import older

Layout = Sequence[tuple[str, int]]  # kind and number of values of each element that has any, in the order of `mem`
AT_ONCE: Final = 10_000  # states that are completed at once


def layout_of(model: System) -> list[tuple[str, int]]:
    """The memory of a model's elements."""
    return memory_of(model)


def completed(model: System, layout: Layout | None, states: Mapping[str, Any]) -> Array:
    """The memory `states["mem"]` of a file in the model's layout; `layout` is the file's own, None for format 4."""
    found: Array = states["mem"]
    if found.shape[1:] == (model.core.nmem,):
        return found
    taken = list(_columns(layout_of(model), layout))
    if found.shape[1:] != (sum(column is not None for column in taken),):
        raise ValueError(f"mem: numbers of shape (n, {model.core.nmem}) expected, got {found.shape}")
    mem = np.zeros((len(found), len(taken)))
    for column, source in enumerate(taken):
        if source is not None:
            mem[:, column] = found[:, source]
    return _with_states(model, mem, states) if "q" in states else mem


def _columns(own: Layout, layout: Layout | None) -> Iterator[int | None]:
    """For each value of the model's memory its column in the file, None if the file lacks it."""
    if layout is None:
        layout = [(kind, older.MEMORY[kind]) for kind, _ in own if kind in older.MEMORY]
    left, column = list(layout), 0
    for kind, count in own:
        known = left.pop(0)[1] if left and left[0][0] == kind else 0
        yield from range(column, column + min(known, count))
        yield from [None] * (count - known)
        column += known


def _with_states(model: System, mem: Array, states: Mapping[str, Any]) -> Array:
    """Memory whose appended values are computed from the states, whose velocities the file may lack."""
    core = model.core
    for first in range(0, len(mem), AT_ONCE):
        rows = slice(first, first + AT_ONCE)
        t, q = (np.asarray(states[name][rows]) for name in ("t", "q"))
        v, a = (
            np.nan_to_num(states[name][rows]) if name in states else np.zeros((len(q), core.nv))
            for name in ("v", "vdot")
        )
        mem[rows] = core.remember(t, q, v, a, mem[rows])
    return mem
