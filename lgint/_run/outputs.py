"""Outputs of runs by name: a method of trajectories, and its arguments."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from lgint._args import Array, guess, shown
from lgint._run.trajectory import Trajectory
from lgint._state.mechanics import ACCESSORS


class Output(NamedTuple):
    """A method of trajectories that gives a value for each state."""

    accessor: str
    arguments: tuple[Any, ...]

    def of(self, run: Trajectory) -> Array:
        """Its values (n, ...)."""
        found = getattr(run, self.accessor)(*self.arguments)
        try:
            return np.asarray(found, dtype=float)
        except (TypeError, ValueError):
            raise ValueError(f"outputs: an array of numbers expected, but {self} is {shown(found)}") from None

    def slopes(self, run: Trajectory) -> Array:
        """Their derivatives (n, ..., p) by the parameters of the run."""
        return run.derivative(self.accessor, *self.arguments)

    def __str__(self) -> str:
        return f"{self.accessor}({', '.join(map(repr, self.arguments))})"


def outputs_of(given: Sequence[Any]) -> list[Output]:
    """The argument `outputs`: tuples of a name and arguments, or names alone; ValueError for anything else."""
    if isinstance(given, str) or not isinstance(given, Sequence) or not given:
        raise ValueError(
            f'outputs: a list of methods with arguments, [("position", "tip")], expected, got {shown(given)}'
        )
    return [_output(item) for item in given]


def _output(item: Any) -> Output:
    accessor, *arguments = (item,) if isinstance(item, str) else item if isinstance(item, tuple) and item else (None,)
    if not isinstance(accessor, str):
        raise ValueError(f'outputs: a tuple such as ("position", "tip") expected, got {shown(item)}')
    if accessor not in ACCESSORS:
        raise ValueError(f"outputs: trajectories have no method {accessor!r} of states{guess(accessor, ACCESSORS)}")
    try:
        inspect.signature(getattr(Trajectory, accessor)).bind(None, *arguments)
    except TypeError as error:
        raise ValueError(f"outputs: {accessor}: {error}") from None
    return Output(accessor, tuple(arguments))
