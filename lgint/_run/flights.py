"""Events of runs whose derivatives are found backwards: what is kept of them, and how derivatives go back there.

The maps are those of runs with derivatives (`saltation`), along every coordinate of the state and every parameter.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from lgint._args import Array
from lgint._model.model import Model
from lgint._run.saltation import Acting, Cut, EventMaps, Inside, Moving
from lgint._run.sensitivity import Sensitivity
from lgint._state.slopes import START
from lgint._state.state import State


class Action(NamedTuple):
    """What an event with an action has done."""

    event: Acting
    before: State
    after: State


class Hit(NamedTuple):
    """An event at which a flight ends."""

    cut: Cut
    ends: Sequence[Any]  # both ends of the step that it has cut
    action: Action | None  # None: it has only ended the run

    @property
    def inside(self) -> bool:
        """Whether it is before the end of the step."""
        return bool(self.cut.t < self.ends[0][1])


class Flights:
    """The events at which the flights of a run end, and their transposed maps."""

    def __init__(self, model: Model, names: Sequence[str], inside: Inside, *, retakes: bool) -> None:
        self.model, self.names = model, names
        self._inside, self._retakes = inside, retakes  # whether a state in a step depends on its start alone
        self._hits: list[Hit] = []

    @property
    def hits(self) -> list[Hit]:
        """The events, in the order of time."""
        return [hit for hit in self._hits if hit.action or hit.inside]

    def cut(self, ends: Sequence[Any], time: float) -> Cut:
        """The cut of a step at a time, from both ends of the step."""
        begin, end = ends[0]
        cut = Cut(time, end - begin, None)
        self._hits.append(Hit(cut, ends[:-1], None))
        return cut

    def across(self, event: Acting, cut: Cut, _held: Array | None, before: State, after: State) -> tuple[Array, ...]:
        """Keeps an action that has made the second of these states of the first; it has no derivatives yet."""
        self._along(0).rate(event, Moving.of(before), cut)
        self._hits[-1] = self._hits[-1]._replace(action=Action(event, before, after))
        return ()

    def back_across(self, hit: Hit, by_state: Array) -> tuple[Array, Array]:
        """The derivatives of a number by the state before an action, and by parameters, from those by the one after it.

        These are by q, v and held values; those by accelerations and multipliers are zero.
        """
        assert hit.action is not None
        event, before, after = hit.action
        count, units = self._units(before.mem)
        dq, dv, dmem = self._along(count).across(event, hit.cut._replace(slopes=units), before, after)
        found = by_state[self._own(by_state)] @ np.concatenate([dq, dv, dmem[self.model.first_held :]])
        return self._parted(found, before.mem, by_state)

    def _units(self, mem: Array) -> tuple[int, tuple[Array, ...]]:
        """Directions along each coordinate, velocity and held value of a state, of q, v and mem, and their number."""
        n, first = self.model.nv, self.model.first_held
        count, scale = 2 * n + len(mem) - first, 1 + np.abs(mem[first:])
        units = np.eye(count, count + len(self.names))
        held = np.pad(scale[:, None] * units[2 * n :], ((first, 0), (0, 0))) if count > 2 * n else units[:0]
        return count, (units[:n], units[n : 2 * n], held)

    def _own(self, by_state: Array) -> Array:
        """The indices of these derivatives among those by a state."""
        n, rest = self.model.nv, 3 * self.model.nv + self.model.nc
        return np.concatenate([np.arange(2 * n), np.arange(rest, len(by_state))])

    def _parted(self, found: Array, mem: Array, by_state: Array) -> tuple[Array, Array]:
        """The derivatives by a state and by parameters, from those along such directions."""
        own, by_before = self._own(by_state), np.zeros(len(by_state))
        by_before[own] = found[: len(own)]
        by_before[own[2 * self.model.nv :]] /= 1 + np.abs(mem[self.model.first_held :])
        return by_before, found[len(own) :]

    def back_inside(self, hit: Hit, by_state: Array) -> tuple[Array, Array]:
        """The derivatives by both ends of the step, (2, ...), accelerations included, from those where the step is cut.

        The directions move coordinates and their differences over h, on which velocities depend in a short step.
        """
        if self._retakes:
            return self._back_to_start(hit, by_state)
        n, p, h, mem = self.model.nv, len(self.names), hit.cut.length, hit.ends[5][0]
        bristles = np.flatnonzero(self.model.bristles)
        count, first = 6 * n + len(bristles), self.model.first_held
        along = self._along(count)
        every = np.eye(count, count + p)
        units, bent = every[: 6 * n].reshape(2, 3, n, -1), every[6 * n :]
        units[1, 0] = units[0, 0] + h * units[1, 0]
        units[:, 2] /= h
        dmem = np.zeros((2, len(mem) if first < len(mem) else 0, count + p))
        dmem[0, bristles] = (1 + np.abs(mem[bristles, None])) * bent
        none = np.zeros((2, self.model.nc, count + p))
        directions = Sensitivity(along.names, units[:, 0], units[:, 1], units[:, 2], none, dmem)
        dq, dv, dmem = along.inside(hit.ends, directions, hit.cut.t)
        found = by_state[self._own(by_state)] @ np.concatenate([dq, dv, dmem[first:]])
        by_ends = found[: 6 * n].reshape(2, 3, n)
        by_ends[:, 2] *= h
        by_ends[1, 0] /= h
        by_ends[0, 0] -= by_ends[1, 0]
        both = self._with_held(by_state)
        both[:, : 3 * n] = by_ends.reshape(2, -1)
        both[0, self._own(by_state)[2 * n :][bristles - first]] = found[6 * n : count] / (1 + np.abs(mem[bristles]))
        return both, found[count:]

    def _back_to_start(self, hit: Hit, by_state: Array) -> tuple[Array, Array]:
        """The same for a state that depends on the start of the step alone, from which accelerations follow."""
        n, mem = self.model.nv, hit.ends[5][0]
        count, units = self._units(mem)
        dq, dv, dmem = (np.stack([rows, 0 * rows]) for rows in units)
        along, none = self._along(count), np.zeros((2, self.model.nc, count + len(self.names)))
        directions = Sensitivity(along.names, dq, dv, 0 * dq, none, dmem)
        dq, dv, dmem = along.inside(hit.ends, directions, hit.cut.t)
        bent = dmem[self.model.bristles] if dmem.size else dmem
        of_bristles = self._own(by_state)[2 * n :][np.flatnonzero(self.model.bristles) - self.model.first_held]
        found = by_state[: 2 * n] @ np.concatenate([dq, dv]) + by_state[of_bristles] @ bent
        both = self._with_held(by_state)
        both[0], by_parameters = self._parted(found, mem, by_state)
        return both, by_parameters

    def _with_held(self, by_state: Array) -> Array:
        """Derivatives by both ends of a step with those by what is held through it, for which the end stands."""
        both = np.zeros((2, len(by_state)))
        both[1, 3 * self.model.nv :] = by_state[3 * self.model.nv :]
        bristles = np.flatnonzero(self.model.bristles)
        both[1, self._own(by_state)[2 * self.model.nv :][bristles - self.model.first_held]] = 0
        return both

    def _along(self, count: int) -> EventMaps:
        """The maps along so many directions in which parameters do not change, and along the parameters."""
        return EventMaps(self.model, [START] * count + [*self.names], self._inside)
