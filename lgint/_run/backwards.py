"""The pass backwards over the steps of a run: flight by flight, and segment by segment within each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from lgint import _core
from lgint._args import Array
from lgint._model.model import Model
from lgint._run.checkpoints import Checkpoints, Mark
from lgint._run.events import Events
from lgint._run.flights import Flights, Hit
from lgint._run.start import Start
from lgint._run.trajectory import Trajectory


class Plan(NamedTuple):
    """A run as it is given to the core."""

    model: Model
    core: _core.System
    method: str
    options: dict[str, Any]
    start: Start
    given: dict[str, Any]  # options for the core
    t_end: float
    h: float
    save_every: int
    stops: Array | None
    slopes: tuple[int, Array, Array]  # number of parameters, derivatives of the start
    watch: Events | None
    flights: Flights


class Backwards:
    """A pass backwards, from the derivatives of a number by the states of a run.

    Rows have those by q, v, vdot, lam and held values.
    """

    def __init__(self, plan: Plan, run: Trajectory, rows: Array, report: Callable[[float], None] | None) -> None:
        self._plan, self._run, self._report = plan, run, report
        self._hits = {hit.cut.t: hit for hit in plan.flights.hits}
        self._t, self._rows = run.t, rows  # those that have not been added yet
        self._found = np.zeros(plan.slopes[0])  # derivatives by the parameters
        self._state: Array | None = None  # by the state that has been reached; those that are missing are zero
        self._cut = False  # whether this is the end of a step that an event has cut

    def gradient(self, marks: Checkpoints, tape: object) -> Array:
        """The share of the states in the derivatives by the parameters."""
        steps = self._run.stats.steps
        if (hit := self._hits.get(float(self._run.end["t"][0]))) is not None:
            self._end(hit)
        for i in reversed(range(len(marks))):
            if tape is None or i == 0 or marks.times[i] in self._hits:
                mark = marks[i]
                self._go_over(mark, steps - mark.step, tape)
                steps = mark.step
        if len(self._t):
            raise ValueError(f"stops: no step ends at {self._t[-1]!r}, as another stop is too near to it")
        return self._found

    def _end(self, hit: Hit) -> None:
        """Goes back through the event that has ended the run."""
        row, by_state = self._rows_at(hit)[1], np.zeros(self._rows.shape[1])
        if hit.action is not None and row < len(self._t):
            by_state = self._restart(hit, row, self._run.mem[row])
        self._go_through(hit, by_state)

    def _go_over(self, mark: Mark, steps: int, tape: object) -> None:
        """Goes over the steps from a mark on, and through the event that has made its state."""
        count, dq, dv = self._plan.slopes
        none = np.zeros(count * self._plan.model.nv)
        hit = self._hits.get(mark.t) if mark.step else None
        first = 0 if hit is None else self._rows_at(hit)[1]
        slopes = (count, dq, dv) if mark.step == 0 else (count, none, none) if hit else (count, None, None)
        at = mark if mark.step else Mark(0, *self._plan.start)  # before a sample there
        left, state = self._adjoint(at, steps, slopes, slice(first, None), self._state, tape, self._cut)
        self._t, self._rows = self._t[: first + left], self._rows[: first + left]
        self._state, self._cut = state, False
        if hit is not None:
            self._go_through(hit, state[: self._rows.shape[1]])

    def _rows_at(self, hit: Hit) -> tuple[int, int]:
        """The row before an event, -1 if there is none, and the first one after it."""
        at, after = np.flatnonzero(self._run.t == hit.cut.t), int(np.searchsorted(self._run.t, hit.cut.t, "right"))
        if hit.action is None:
            return (int(at[0]) if len(at) else -1), after
        return (int(at[0]) if len(at) > 1 else -1), (int(at[-1]) if len(at) else after)

    def _go_through(self, hit: Hit, by_state: Array) -> None:
        """Goes back from the state after an event to the end of the step that it has cut."""
        before = self._rows_at(hit)[0]
        if hit.action is not None:
            by_state = self._share(self._plan.flights.back_across(hit, by_state))
        if (hit.inside and before >= 0) or (not hit.inside and self._restarted(hit, before)):
            by_state = self._restart(hit, before, self._run.mem[before] if hit.inside else hit.ends[5][1], by_state)
        elif before >= 0:
            by_state = by_state + self._rows[before]
        left = int(np.searchsorted(self._t, hit.cut.t))
        self._t, self._rows = self._t[:left], self._rows[:left]
        self._state, self._cut = by_state, True
        if hit.inside:
            start, self._state = self._share(self._plan.flights.back_inside(hit, by_state))
            self._add_row(hit.ends[0][0], start)

    def _share(self, found: tuple[Array, Array]) -> Array:
        """The derivatives by a state, after those by the parameters have been added."""
        self._found = self._found + found[1]
        return found[0]

    def _restarted(self, hit: Hit, row: int) -> bool:
        """Whether there is a kink at the end of the step, where accelerations, multipliers or held values are new."""
        assert hit.action is not None
        own = [(hit.action.before.mem, hit.ends[5])]
        if row >= 0:
            own += zip((self._run.vdot[row], self._run.lam[row]), hit.ends[3:5], strict=True)
        return not all(np.array_equal(new, old[1]) for new, old in own)

    def _add_row(self, t: float, by_state: Array) -> None:
        """Adds derivatives by the state at the start of a step."""
        at = int(np.searchsorted(self._t, t, "right"))
        self._t, self._rows = np.insert(self._t, at, t), np.insert(self._rows, at, by_state, axis=0)

    def _restart(self, hit: Hit, row: int, mem: Array, by_state: Array | None = None) -> Array:
        """The derivatives by a state at an event from those of its saved row, if any, and of what follows from it.

        Accelerations and multipliers follow from q and v, and held values from those in `mem` if a sample is due.
        """
        count, none = self._plan.slopes[0], np.zeros(len(self._found) * self._plan.model.nv)
        rows, at = slice(row, row + 1), (self._run.q[row], self._run.v[row])
        if row < 0:
            assert hit.action is not None
            rows, at = slice(0), (hit.action.before.q, hit.action.before.v)
        mark = Mark(0, hit.cut.t, *at, {"mem": mem, "checked": True, "kept": True})
        _, state = self._adjoint(mark, 0, (count, none, none), rows, by_state)
        return state[: self._rows.shape[1]]

    def _adjoint(
        self,
        mark: Mark,
        steps: int,
        slopes: tuple[Any, ...],
        rows: slice,
        state: Array | None = None,
        tape: object = None,
        cut: bool = False,
    ) -> tuple[int, Array]:
        """Goes over some steps; returns how many of the rows are left, and the derivatives by the state before."""
        plan = self._plan
        left, state, self._found = _core.adjoint(
            plan.core,
            plan.method,
            mark.t,
            plan.t_end,
            plan.h,
            mark.q,
            mark.v,
            mark.start,
            plan.given,
            plan.stops,
            steps,
            slopes,
            (self._t[rows], self._rows[rows]),
            state,
            self._found,
            self._report,
            tape,
            0 if tape is None else mark.step,
            cut,
        )
        return left, state
