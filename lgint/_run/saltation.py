"""Derivatives of runs at events: at the time where a step is cut, and through what an action does there.

An event is a zero g = 0 of a function, at a time t* that moves with the parameters. With the rates x' before it and X'
after it, the derivatives at a fixed time change by the action A from dx to

    A' (dx + x' dt*) - X' dt*,   dt* = -(derivative of g by the parameter at a fixed time) / (rate of g).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from lgint import _core
from lgint._args import Array
from lgint._model.model import Model
from lgint._run.sensitivity import (
    STEP,
    Sensitivity,
    largest_step,
    parts_along,
    sensitivity_of,
    stencil,
    step_along,
    varied_by,
    within,
)
from lgint._state.slopes import CENTRAL, state_slopes
from lgint._state.state import Parts, State

GRAZING: Final = 1e-3  # of how far a function would turn within half a step: with less rate it touches its zero
SHARE: Final = 0.3  # of steps of other differences, as times of events are less like polynomials
PART: Final = 0.5  # of the last step, within which the rate of a function is found
CORRECTIONS: Final = 8  # of the time at which a displaced state is at the zero

Slopes = tuple[Array, Array]  # derivatives of q and v, (nv, p)
LACKING: Final = "functions of events are called with t, q and v, before accelerations and multipliers are known"


class Cut(NamedTuple):
    """Where an event has cut a step."""

    t: float
    length: float  # of the step before it
    slopes: Slopes | None  # None: they are found backwards


class Acting(NamedTuple):
    """An event with an action."""

    name: str
    value: Callable[[State], float]
    action: Callable[[State], State]

    def act(self, at: State) -> State:
        """What the action makes of a displaced state."""
        found: Any = self.action(at)
        if not isinstance(found, State) or found.model.core is not at.model.core or found.t != at.t:
            raise ValueError(
                f"event {self.name}: action: with `sensitivity` it is also called with states of models with other "
                "values, and must make the state that it returns of the one that it is given, by its methods or by its "
                "`model`"
            )
        return found


class Motion(NamedTuple):
    """A state with its accelerations, which displaces it in time."""

    model: Model
    state: State
    vdot: Array

    def moved(self, model: Model, dq: Array, dv: Array, dt: float) -> State:
        """The state of another model that is displaced, and after that moves on for a time."""
        at, core = self.state, model.core
        v, vdot = at.v + dv, self.vdot
        q = core.retract(core.retract(at.q, dq), dt * v + 0.5 * dt**2 * vdot)
        parts = {"t": at.t + dt, "q": q, "v": v + dt * vdot, "mem": at.mem}
        if core.nmem:
            parts["mem"] = core.remember(*(np.array([x]) for x in (parts["t"], q, parts["v"], vdot, at.mem)))[0]
        return State(Parts(model, parts, LACKING))


class Saltation:
    """The derivatives of a run where its events cut steps, by the parameters of these names."""

    def __init__(self, model: Model, names: Sequence[str]) -> None:
        self.model, self.names = model, [*names]

    def cut(self, ends: Sequence[Any], time: float) -> Cut:
        """The cut of a step at a time, from both ends of the step, which also have the derivatives of the run."""
        *step, rows = ends
        begin, end = step[0]
        return Cut(time, end - begin, self.inside(step, sensitivity_of(self.names, rows, self.model.nv), time))

    def inside(self, step: Sequence[Any], found: Sensitivity, time: float) -> Slopes:
        """The derivatives at a fixed time of a step of what the run takes there as its state."""
        (begin, end), q, v, a, lam, mem, *_ = step
        if time in (begin, end):
            row = int(time == end)
            return found.dq[row], found.dv[row]
        parts = {"t": np.array([begin, end]), "q": q, "v": v, "vdot": a, "lam": lam, "mem": mem}
        middle = _state_of(self.model, time, parts)
        columns = [self._along(parts, found, k, time, middle) for k in range(len(self.names))]
        dq, dv = (np.stack(part, axis=-1) for part in zip(*columns, strict=True))
        return dq, dv

    def _along(self, parts: dict[str, Array], found: Sensitivity, k: int, time: float, middle: Slopes) -> Slopes:
        model, name = self.model, self.names[k]

        def other(change: float) -> Slopes:
            varied = varied_by(model, name, change)
            return _state_of(varied, time, parts_along(varied, parts, found, k, change))

        return state_slopes(model.core, middle, other, step_along(model, parts["v"], found, k), stencil(model, name))

    def across(self, event: Acting, cut: Cut, *ends: State) -> Slopes:
        """The derivatives after an action that has made the second of these states of the first."""
        before, after = (Motion(self.model, state, state.accelerations()[0]) for state in ends)
        rate = self.rate(event, before, cut)
        columns = [self._through(k, event, cut, (before, after), rate) for k in range(len(self.names))]
        dq, dv = (np.stack(part, axis=-1) for part in zip(*columns, strict=True))
        return dq, dv

    def rate(self, event: Acting, before: Motion, cut: Cut) -> float:
        """The rate of a function at its zero; IntegrationError where it only touches it."""
        zero, half = np.zeros(self.model.nv), PART * cut.length

        def at(dt: float) -> float:
            return event.value(before.moved(self.model, zero, zero, dt))

        near = STEP * half
        rate = float(sum(weight / near * at(times * near) for times, weight in CENTRAL))
        if abs(rate) * half <= GRAZING * abs(at(half) + at(-half) - 2 * at(0.0)) / 2:
            raise _core.IntegrationError(
                f"sensitivity: event {event.name}: at t = {cut.t:.9g} its function only touches its zero (rate "
                f"{rate:.3g}), where the time of the event has no derivative by parameters; leave out sensitivity, or "
                "begin the run elsewhere"
            )
        return rate

    def _through(self, k: int, event: Acting, cut: Cut, ends: tuple[Motion, Motion], rate: float) -> Slopes:
        """The derivatives by parameter k."""
        (_, before, a), (_, after, a_after) = ends
        assert cut.slopes is not None
        name, (dq, dv) = self.names[k], (part[:, k] for part in cut.slopes)
        points, step = stencil(self.model, name), self._step(name, before.v, dq, dv)

        def at(change: float, dt: float) -> State:
            return ends[0].moved(varied_by(self.model, name, change), change * dq, change * dv, change * dt)

        dt = -sum(weight / step * event.value(at(times * step, 0.0)) for times, weight in points) / rate
        step = min(step, self._step(name, before.v, dq + dt * before.v, dv + dt * a))

        def other(change: float) -> Slopes:
            found = event.act(_at_zero(event, at, change, dt, rate))
            return found.q, found.v

        new_q, new_v = state_slopes(self.model.core, (after.q, after.v), other, step, points)
        return new_q - after.v * dt, new_v - a_after * dt

    def _step(self, name: str, *motion: Array) -> float:
        """The change of a parameter for differences along the motion of a state with it, v, dq and dv."""
        return SHARE * within(largest_step(self.model, name), *motion)


def _at_zero(event: Acting, at: Callable[[float, float], State], change: float, dt: float, rate: float) -> State:
    """The displaced state at the zero of the function, so that what touches there touches here."""
    state = at(change, dt)
    for _ in range(CORRECTIONS if change else 0):
        dt -= event.value(state) / (rate * change)
        state = at(change, dt)
    return state


def _state_of(model: Model, time: float, parts: dict[str, Array]) -> Slopes:
    """The coordinates and velocities of a run within a step, moved onto the constraints."""
    t, q, v, a, lam, mem = (parts[name] for name in ("t", "q", "v", "vdot", "lam", "mem"))
    found = _core.interpolate(model.core, [time], t, q, v, a, lam, mem)
    at: Slopes = model.core.project(time, *(found[name][0] for name in ("q", "v", "mem")))
    return at
