"""Derivatives of runs at events: at the time where a step is cut, and through what an action does there.

An event is a zero g = 0 of a function, at a time t* that moves with the parameters. With the rates x' before it and X'
after it, the derivatives at a fixed time change by the action A from dx to

    A' (dx + x' dt*) - X' dt*,   dt* = -(derivative of g by the parameter at a fixed time) / (rate of g).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache, cached_property
from typing import Any, Final, NamedTuple

import numpy as np

from lgint import _core
from lgint._args import Array
from lgint._model.model import Model
from lgint._model.start import bristle_points
from lgint._run.sensitivity import (
    CLOSED,
    FORWARD,
    STEP,
    Sensitivity,
    has_curve,
    held_within,
    largest_step,
    options_of_steps,
    parts_along,
    sensitivity_of,
    stencil,
    varied_by,
    within,
)
from lgint._state.slopes import CENTRAL, START, core_by, refined, state_slopes
from lgint._state.state import Parts, State

GRAZING: Final = 1e-3  # of the change of a rate in half a step: a function with less rate only touches its zero
SHARE: Final = 0.3  # fraction of the steps of other differences, as times of events are less like polynomials
PART: Final = 0.5  # fraction of the last step over which the rate of a function is found
CORRECTIONS: Final = 8  # of the time at which a displaced state is at the zero
BEND: Final = 2.0**-17  # m or rad: the motion over which the rates of bristles are found, as long as they do not slip

Slopes = tuple[Array, ...]  # derivatives of q and v, (nv, p), and of the memory, (nmem, p), or (0, p) without any
Point = tuple[Array, Array, Array]  # q, v and the memory of a state
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


class Guess(NamedTuple):
    """A memory from which that of bristles follows as at a start, and the share of it that depends on parameters."""

    mem: Array
    share: float


def memory_after(state: State) -> Array:
    """The memory with which a run goes on from what an action has made: controls that begin anew are sampled."""
    model, mem = state.model, state.mem
    if isinstance(model, Model) and any(mem[held.start - 1] == 0 for held in model.held.values()):
        mem = model.core.sample(state.t, state.q, state.v, mem)
    return mem


def bristle_rates(model: Model, state: State, v: Array, vdot: Array) -> Array:
    """The rates (nmem,) of bristles that touch, which bend or slide as the motion goes on; zeros for other memory."""
    core, mem = model.core, state.mem
    touching = model.bristles & (mem[bristle_points(model)] != 0)
    size = np.abs(v).max(initial=0) + np.sqrt(BEND * np.abs(vdot).max(initial=0))
    if not touching.any():
        return np.zeros(core.nmem)

    def slope(step: float) -> Array:
        times, weights = np.array(FORWARD).T
        s = step * times[:, None]
        q = core.retract(np.tile(state.q, (len(s), 1)), s * v + s**2 / 2 * vdot)
        moved = core.remember(state.t + s[:, 0], q, v + s * vdot, 0 * s * v, np.tile(mem, (len(s), 1)))
        rates: Array = touching * (weights / step @ moved)
        return rates

    return refined(slope, BEND / size if size else BEND, kinks=True)


class Moving(NamedTuple):
    """A state with its accelerations and the rates of its bristles, which displaces it in time."""

    model: Model
    state: State
    vdot: Array
    bending: Array  # (nmem,)
    factor: Array  # (nmem,): by which bristles that slide are bent further, where forces have no kink

    @classmethod
    def of(cls, state: State) -> Moving:
        """The state, with what follows from it."""
        model, vdot = state.multibody(), state.accelerations()[0]
        if not model.bristles.any():
            return cls(model, state, vdot, np.zeros(model.core.nmem), np.ones(model.core.nmem))
        factor = model.core.stretch(state.t, state.q, state.v, state.mem)
        return cls(model, state, vdot, bristle_rates(model, state, state.v, vdot), factor)

    def moved(self, model: Model, dq: Array, dv: Array, dmem: Array, dt: float) -> State:
        """The state of another model that is displaced, and after that moves on for a time."""
        at, core = self.state, model.core
        v, vdot = at.v + dv, self.vdot
        q = core.retract(core.retract(at.q, dq), dt * v + 0.5 * dt**2 * vdot)
        mem = at.mem + dmem if dmem.size else at.mem
        parts = {"t": at.t + dt, "q": q, "v": v + dt * vdot, "mem": mem}
        if core.nmem:
            bent = self.factor * (mem + dt * self.bending)
            follows = core.remember(*(np.array([x]) for x in (parts["t"], q, parts["v"], vdot, mem)))[0]
            parts["mem"] = np.where(model.bristles, bent, follows)
        return State(Parts(model, parts, LACKING))


Inside = Callable[[Model, float, dict[str, Array]], Point]  # the state at a time in a step, from both ends of it


def inside_of(method: str, options: Mapping[str, Any]) -> Inside:
    """The state of a run within a step: on the curve between both ends, or on one of the method's own.

    For the latter the step is taken once more from its start, with these options of the run.
    """
    if not has_curve(method):
        return _on_curve
    given = options_of_steps(method, options)

    def retaken(model: Model, time: float, parts: dict[str, Array]) -> Point:
        (begin, end), q, v, mem = (parts[name] for name in ("t", "q", "v", "mem"))
        start, span = {"mem": mem[0], "checked": True}, (begin, end, end - begin)
        found = _core.integrate(model.core, method, *span, 1, q[0], v[0], start, given, None, [time])
        q, v, mem = (found[name][0] for name in ("q", "v", "mem"))
        return *model.core.project(time, q, v, mem), mem

    return retaken


class Saltation:
    """The derivatives of a run where its events cut steps, by the parameters of these names."""

    def __init__(self, model: Model, names: Sequence[str], inside: Inside) -> None:
        self._names, self._model = [*names], model
        self._maps = EventMaps(model, [START] * len(names) + self._names, inside)

    def cut(self, ends: Sequence[Any], time: float) -> Cut:
        """The cut of a step at a time, from both ends of the step, which also have the derivatives of the run."""
        *step, rows = ends
        begin, end = step[0]
        found = sensitivity_of(self._names, rows, self._model)
        if time in (begin, end):
            row = int(time == end)
            return Cut(time, end - begin, (found.dq[row], found.dv[row], found.dmem[row]))
        columns = (_apart(part) for part in (found.dq, found.dv, found.dvdot, found.dlam, found.dmem))
        return Cut(time, end - begin, _together(self._maps.inside(step, Sensitivity(self._maps.names, *columns), time)))

    def across(self, event: Acting, cut: Cut, held: Array | None, *ends: State) -> Slopes:
        """The derivatives after an action that has made the second of these states of the first.

        `held` has those of the memory before it, if that has any.
        """
        assert cut.slopes is not None
        dmem = np.zeros((0, len(self._names))) if held is None else held
        slopes = tuple(map(_apart, (*cut.slopes[:2], dmem)))
        return _together(self._maps.across(event, cut._replace(slopes=slopes), *ends))


def _apart(columns: Array) -> Array:
    """Derivatives of states, followed by zeros for the parameters alone."""
    return np.concatenate([columns, np.zeros_like(columns)], axis=-1)


def _together(found: Slopes) -> Slopes:
    """The sums of the derivatives along states and by the parameters alone."""
    return tuple(part[:, : part.shape[1] // 2] + part[:, part.shape[1] // 2 :] for part in found)


class EventMaps:
    """The maps of derivatives at events: along each direction, the state moves or a parameter changes alone.

    Each of them has differences with a step of its own, so that a parameter that moves the state little has little
    round-off, too.

    Attributes
    ----------
    names : list of str
        The parameters, or START for directions of the state.
    """

    def __init__(self, model: Model, names: Sequence[str], inside: Inside) -> None:
        self._state_of = inside
        self._has_bristles = bool(model.bristles.any())
        self._model, self._samples = model, np.arange(model.core.nmem) >= model.first_sampled
        self.names = [START if name.startswith(START) else name for name in names]

    def inside(self, step: Sequence[Any], found: Sensitivity, time: float) -> Slopes:
        """The derivatives at a fixed time within a step of what the run takes there as its state."""
        times, q, v, a, lam, mem, *_ = step
        parts = {"t": np.array(times), "q": q, "v": v, "vdot": a, "lam": lam, "mem": mem}
        middle = self._state_of(self._model, time, parts)
        columns = [self._along(parts, found, k, time, middle) for k in range(len(self.names))]
        dq, dv = self._closed(_stacked(columns), time, *middle)
        if not self._has_bristles:
            return dq, dv, found.dmem[0]
        ends = np.stack([found.dq[0], found.dv[0], dq, dv])
        start = {"t_from": times[0], "q_from": q[0], "v_from": v[0]}
        dmem = [
            self._terms.follow(self._number(k), time, *middle, mem[0], ends[..., k], found.dmem[0, :, k], **start)
            for k in range(len(self.names))
        ]
        return dq, dv, np.stack(dmem, axis=-1)

    def _number(self, k: int) -> int:
        """The number of the parameter of a direction among those of the terms; -1: there is none."""
        return -1 if self.names[k] == START else k

    def _along(self, parts: dict[str, Array], found: Sensitivity, k: int, time: float, middle: Point) -> Slopes:
        name, h = self.names[k], parts["t"][1] - parts["t"][0]

        def other(change: float) -> Point:
            varied = varied_by(self._model, name, change)
            return self._state_of(varied, time, parts_along(varied, parts, found, k, change))

        most = held_within(np.inf, parts["mem"], found.dmem[..., k])
        step = self._step(name, parts["v"], found.dq[..., k], found.dv[..., k], h * found.dvdot[..., k], most=most)
        return self._slopes(name, middle[:2], other, step)

    def across(self, event: Acting, cut: Cut, *ends: State) -> Slopes:
        """The derivatives after an action that has made the second of these states of the first.

        Those of the cut are of q, v and the memory, which has none unless it holds values.
        """
        before, after = map(Moving.of, ends)
        rate, guess = self.rate(event, before, cut), self._guess(event, *ends) if self._has_bristles else None
        columns = [self._through(k, event, cut, (before, after), rate, guess) for k in range(len(self.names))]
        at = after.state
        *moves, dmem = _stacked(columns)
        return *self._closed(moves, at.t, at.q, at.v, at.mem), dmem

    def rate(self, event: Acting, before: Moving, cut: Cut) -> float:
        """The rate of a function at its zero; IntegrationError where it only touches it."""
        zero, none, half = np.zeros(self._model.nv), np.zeros(0), PART * cut.length

        def at(dt: float) -> float:
            return event.value(before.moved(self._model, zero, zero, none, dt))

        near = STEP * half
        rate = float(sum(weight / near * at(times * near) for times, weight in CENTRAL))
        if abs(rate) * half <= GRAZING * abs(at(half) + at(-half) - 2 * at(0.0)) / 2:
            raise _core.IntegrationError(
                f"sensitivity: event {event.name}: at t = {cut.t:.9g} its function only touches its zero (rate "
                f"{rate:.3g}), where the time of the event has no derivative by parameters; leave out sensitivity, or "
                "begin the run elsewhere"
            )
        return rate

    def _guess(self, event: Acting, before: State, after: State) -> Guess | None:
        """The guess from which the memory of bristles after an action follows; None: it is that before it."""
        bristles, still = self._model.bristles, np.zeros(self._model.nv)
        for guess in (Guess(before.mem, 1.0), Guess(self._model.mem0, 0.0)):
            found = self._model.core.remember(after.t, after.q, after.v, still, guess.mem)
            if np.array_equal(found[bristles], after.mem[bristles]):
                return guess
        if np.array_equal(before.mem[bristles], after.mem[bristles]):
            return None
        raise ValueError(
            f"event {event.name}: action: with `sensitivity` the bristles of contacts must be those of the state that "
            "it is given, or begin anew; make the state that it returns by the methods of that one, or by its `model`"
        )

    def _bristles(
        self, k: int, dmem: Array, moved: Slopes, ends: tuple[Moving, Moving], dt: float, guess: Guess | None
    ) -> Array:
        """The derivatives of bristles after an action, from those before it and those of q and v that it has made."""
        before, after = ends
        at, still = after.state, np.zeros(self._model.nv)
        dmem = dmem + dt * before.bending
        if guess is not None:
            change = np.stack([still, still, *moved])
            where = at.t, at.q, at.v, at.mem, guess.mem
            dmem = self._terms.follow(self._number(k), *where, change, guess.share * dmem)
            if self._model.supports:
                dmem = dmem + dt * bristle_rates(self._model, at, still, still)
        return dmem - dt * after.bending

    def _through(
        self, k: int, event: Acting, cut: Cut, ends: tuple[Moving, Moving], rate: float, guess: Guess | None
    ) -> Slopes:
        before, a, after, a_after = ends[0].state, ends[0].vdot, ends[1].state, ends[1].vdot
        assert cut.slopes is not None
        name, (dq, dv, dmem) = self.names[k], (part[:, k] for part in cut.slopes)
        most = held_within(np.inf, before.mem, dmem)
        if not (step := SHARE * self._step(name, before.v, dq, dv, most=most)):
            return dq, dv, dmem

        def at(change: float, dt: float) -> State:
            varied = varied_by(self._model, name, change)
            return ends[0].moved(varied, change * dq, change * dv, change * dmem, change * dt)

        points = stencil(self._model, name)
        dt = -float(self._refined(lambda h: sum(w / h * event.value(at(x * h, 0.0)) for x, w in points), step)) / rate
        step = min(step, SHARE * self._step(name, before.v, dq + dt * before.v, dv + dt * a, most=most))

        @cache
        def other(change: float) -> tuple[Array, Array, Array]:
            found = event.act(_at_zero(event, at, change, dt, rate))
            return found.q, found.v, memory_after(found) if dmem.size else dmem

        new_q, new_v = self._slopes(name, (after.q, after.v), other, step)
        if dmem.size:
            held = self._of_memory(name, memory_after(after), other, step)
            bent = self._bristles(k, dmem, (new_q, new_v), ends, dt, guess) if self._has_bristles else held
            dmem = np.where(self._model.bristles, bent, held)
        return new_q - after.v * dt, new_v - a_after * dt, dmem

    def _refined(self, slope: Callable[[float], Any], step: float) -> Any:
        """The slope of a function of a state, with shorter steps where forces have kinks."""
        return refined(slope, step, kinks=True) if self._model.has_kinks else slope(step)

    def _of_memory(self, name: str, base: Array, other: Callable[[float], Sequence[Array]], step: float) -> Array:
        """The derivatives of the values that the memory holds."""
        points = stencil(self._model, name)
        return self._samples * refined(lambda h: sum(w / h * (other(x * h)[2] - base) for x, w in points), step)

    def _step(self, name: str, *motion: Array, most: float = np.inf) -> float:
        """The step of differences along a motion of a state with it, v, dq and rates; 0 if nothing changes."""
        step = within(most if name == START else min(most, largest_step(self._model, name)), *motion)
        return step if np.isfinite(step) else 0.0

    def _slopes(
        self, name: str, base: Sequence[Array], other: Callable[[float], Sequence[Array]], step: float
    ) -> Slopes:
        if not step:
            return np.zeros(self._model.nv), np.zeros(self._model.nv)
        return state_slopes(self._model.core, base, other, step, stencil(self._model, name), self._model.has_kinks)

    def _closed(self, found: Sequence[Array], t: float, *point: Array) -> Slopes:
        """Derivatives moved onto the constraints, if the state is there: index 3 would amplify their errors."""
        core, (dq, dv), (q, v, mem) = self._model.core, found[:2], point
        if not core.nrows or np.abs(core.residual(t, q, v, mem)).max() > CLOSED:
            return dq, dv
        of = core.evaluate(t, q, v, mem=mem, want=["B", "Z"])
        rows = np.stack([of["B"] @ dq, of["Z"] @ dq + of["B"] @ dv])
        for k in (k for k, name in enumerate(self.names) if name != START):
            own = self._terms.derivative(k, t, q, v, mem=mem, want=["phi", "phidot"])
            rows[..., k] += [own["phi"], own["phidot"]]
        rows[0, core.nonholonomic] = 0
        more_q, more_v = core.project_slopes(t, q, v, np.moveaxis(rows, -1, 0), mem)
        return dq + more_q.T, dv + more_v.T

    @cached_property
    def _terms(self) -> _core.Model:
        return core_by(self._model, self.names)


def _stacked(columns: Sequence[Slopes]) -> Slopes:
    return tuple(np.stack(part, axis=-1) for part in zip(*columns, strict=True))


def _at_zero(event: Acting, at: Callable[[float, float], State], change: float, dt: float, rate: float) -> State:
    """The displaced state at the zero of the function, so that contacts that touch there touch here."""
    state = at(change, dt)
    for _ in range(CORRECTIONS if change else 0):
        dt -= event.value(state) / (rate * change)
        state = at(change, dt)
    return state


def _on_curve(model: Model, time: float, parts: dict[str, Array]) -> Point:
    """The coordinates and velocities of a run within a step, moved onto the constraints, and its memory."""
    t, q, v, a, lam, mem = (parts[name] for name in ("t", "q", "v", "vdot", "lam", "mem"))
    found = _core.interpolate(model.core, [time], t, q, v, a, lam, mem)
    q, v, mem = (found[name][0] for name in ("q", "v", "mem"))
    return *model.core.project(time, q, v, mem), mem
