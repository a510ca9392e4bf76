"""Events: zeros of functions of (t, q, v), or of a `State`, along a run, located on the dense output."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial, update_wrapper
from typing import Any

import numpy as np

from lgint import _core
from lgint._args import Array, checked_function, number, shown, takes_one
from lgint._model.compiled import CompiledFunction, checked, is_compiled
from lgint._model.laws import Moment
from lgint._model.system import System
from lgint._run.flights import Flights
from lgint._run.rest import Jump, explained, rests, round_off
from lgint._run.saltation import LACKING, Acting, Cut, Saltation, memory_after
from lgint._run.trajectory import Trajectory
from lgint._state.state import Parts, Shown, State

CONSISTENT = 1e-9  # of q and v: by how much more an action may violate the constraints
HALVINGS = 40  # of a step in which a function returns to the zero that an action has made it leave

Event = Callable[[float, Array, Array], float] | Callable[[State], float]
# t, q, v, a, lam and mem of both ends of a step, None, and the curve of the step if the method has one
Knots = tuple[tuple[float, float], Array, Array, Array, Array, Array, None, Array | None]
BothEnds = Callable[[], tuple[Any, ...]]  # these, and the derivatives of both ends in a run that has them


class EventFunction:
    """A function of events with its attributes. Attributes that are not given are those of the function."""

    def __init__(self, function: Any, **attributes: Any) -> None:
        if is_compiled(function):
            function = checked("events", function, "event", 1)
            self.__name__ = function.name
        else:
            update_wrapper(self, function)
        self.function = function
        vars(self).update({name: value for name, value in attributes.items() if value is not None})

    def __call__(self, *at: Any) -> Any:
        """The value of the function."""
        return self.function(*at)


def event(
    function: Any,
    *,
    terminal: bool | int | None = None,
    direction: float | None = None,
    action: Callable[[State], State] | None = None,
) -> EventFunction:
    """A function for the argument `events` of `integrate`, with the attributes that events may have.

    Functions written in Python may have them themselves; compiled ones cannot.

    Parameters
    ----------
    function : callable or compiled function
        function(t, q, v), or of a `State`; or a compiled function of the type `lgint.signatures.event`. If all events
        of a run are compiled, and none has an action, Python is only called in steps in which there is an event.
    terminal : bool or int, optional
        True, or the number of events of this function that ends the run.
    direction : float, optional
        Positive: only where the value rises; negative: only where it falls.
    action : callable, optional
        action(state) -> State, the state with which the run goes on.

    Returns
    -------
    EventFunction
        It can be called as the function.

    Raises
    ------
    ValueError
        For what is no function, compiled functions of another type, and attributes that no event can have.
    """
    if not is_compiled(function):
        checked_function("function of an event", function)
    made = EventFunction(function, terminal=terminal, direction=direction, action=action)
    _direction(made), _terminal(made), _action(made)
    return made


class Events:
    """The events of a run, which calls `on_step` with the end of every step.

    A function has an event in a step if its value is not zero at the start of the step, and is zero or has the
    opposite sign at its end. A zero at the start of the run is not an event. A function with a direction that starts a
    step at zero counts as coming from the side before its events, and may return to that side within the step.
    """

    def __init__(
        self,
        model: System,
        events: Event | Sequence[Event],
        known: Trajectory | None = None,
        start: Trajectory | None = None,
    ) -> None:
        functions = self.listed(events)
        for function in functions:
            if not callable(function):
                raise ValueError(f"events: functions of t, q, v, or of a state, expected, got {function!r}")
        self._model, self._core = model, model.core
        self.functions = functions
        self._skips = all(isinstance(getattr(each, "function", None), CompiledFunction) for each in functions)
        self._of_state = [takes_one(function) for function in functions]
        self.direction = [_direction(function) for function in functions]
        self.left = [_terminal(function) for function in functions]  # events until the run ends; below 1: it goes on
        self.actions = [_action(function) for function in functions]
        self.values: list[float] | None = None
        self._sides: dict[int, float] = {}  # from which the functions came whose actions have just made the state
        self._acting: list[int] = []  # those whose action is due
        self._acted: dict[int, float] = {}  # when they acted last
        self._jumps: dict[int, Jump] = {}  # what they did
        self._saltation: Saltation | Flights | None = None  # of a run with derivatives by parameters
        self._cut: Cut | None = None  # where the last event has cut its step
        self._resting: int | None = None  # the function that an action has left at rest at its zero
        self.found: list[list[tuple[float, Array, Array]]] = [[] for _ in functions]
        self.ended = False
        if known is not None:
            self._take_over(known)
        elif start is not None and len(start.t_events or []) == len(functions):
            self._go_on(start)

    @property
    def compiled(self) -> tuple[object, ...] | None:
        """The events as the core looks for them; None: it leaves that to `on_step`."""
        compiled = [getattr(each, "function", None) for each in self.functions]
        if self.acts or not all(isinstance(each, CompiledFunction) for each in compiled):
            return None
        return tuple(each.capsule(f"event {each.name!r}") for each in compiled if each)

    @property
    def acts(self) -> bool:
        """Whether an event may change the state."""
        return any(action is not None for action in self.actions)

    @property
    def may_end(self) -> bool:
        """Whether an event may end the run."""
        return any(left > 0 for left in self.left)

    @staticmethod
    def listed(events: Event | Sequence[Event]) -> list[Event]:
        """The functions as a list; a single function may be given as it is."""
        several = isinstance(events, (list, tuple)) and not is_compiled(events)
        listed: list[Any] = list(events) if several else [events]  # type: ignore[arg-type]
        return [EventFunction(each) if is_compiled(each) else each for each in listed]

    @classmethod
    def names(cls, events: Event | Sequence[Event] | None) -> list[str] | None:
        """The names of the functions, for the description in a folder."""
        return None if events is None else [_name(function) for function in cls.listed(events)]

    @classmethod
    def called(cls, events: Event | Sequence[Event]) -> list[Any]:
        """The functions and their actions."""
        functions = cls.listed(events)
        return [*functions, *(action for each in functions if (action := _action(each)) is not None)]

    def _take_over(self, known: Trajectory) -> None:
        """Takes over the events up to the state from which `known` is resumed; later ones will be found again."""
        columns = zip(known.t_events or [], known.q_events or [], known.v_events or [], strict=True)
        for i, events in enumerate(columns):
            self.found[i] = [event for event in zip(*events, strict=True) if event[0] <= known.end["t"][0]]
            self.left[i] -= len(self.found[i])
        self._go_on(known)

    def _go_on(self, run: Trajectory) -> None:
        """Goes on from a run that ends where an action has been."""
        (end,), (q,), (v,), (mem,) = (run.end[part] for part in ("t", "q", "v", "mem"))
        for i, times in enumerate(run.t_events or []):
            if self.actions[i] is None or not len(times) or times[-1] != end:
                continue
            if abs(self._value(i, end, q, v, mem)) <= CONSISTENT * (1 + np.abs(q).max()):
                self._sides[i], self._jumps[i] = self._side(i, run), Jump(None, None)

    def _side(self, i: int, known: Trajectory) -> float:
        """The side from which a function came to the zero at which the run `known` ends."""
        if self.direction[i]:
            return -float(np.sign(self.direction[i]))
        row = int(np.flatnonzero(known.t < known.t[-1])[-1])
        state = known.state(row)
        return float(np.sign(self._value(i, state.t, state.q, state.v, state.mem)))

    def differentiate(self, saltation: Saltation | Flights) -> None:
        """The run has derivatives by parameters, which its events change."""
        self._saltation = saltation

    def on_step(self, at: _core.Instant, both_ends: BothEnds) -> Any:
        """Records the events of a step that ends at an instant; returns the time of the one that ends the run, if any.

        In a run with derivatives, those of q, v and the memory follow, if the time lies within the step.
        """
        stop = self._watched(at, both_ends)
        if stop is None or self._saltation is None or self._resting is not None:
            return stop
        ends = both_ends()
        begin, end = ends[0]
        if self._acting and stop == begin:
            raise ValueError(
                f"sensitivity: event {_name(self.functions[self._acting[0]])}: at t = {stop:.9g} the run starts at the "
                "zero of the function, which it may not reach with other parameters; start it earlier or later"
            )
        self._cut = self._saltation.cut(ends, stop)
        slopes = self._cut.slopes
        return stop if stop == end or slopes is None else (stop, *(np.ravel(part.T) for part in slopes))

    def _watched(self, at: _core.Instant, both_ends: BothEnds) -> float | None:
        if self.values is None or self._skips:
            (begin, _), (q0, _), (v0, _), _, _, (mem0, _), *_ = both_ends()
            self.values = self._at_start(Moment(begin, q0, v0, mem0))
        old, self.values = self.values, self._values(at)
        ends = list(zip(old, self.values, self.direction, strict=True))
        passed = {i: -way for i, (begin, end, way) in enumerate(ends) if begin == 0 and end * way > 0}
        sides, self._sides = passed | self._sides, {}
        crossed = [i for i, pair in enumerate(ends) if i not in sides and _crosses(*pair)]
        back = {i: side for i, side in sides.items() if self.values[i] * side <= 0}
        return self._locate(crossed, back, old, self.values, both_ends()[:-1]) if crossed or back else None

    def on_stop(self, t: float, q: Array, v: Array, mem: Array, dmem: Array | None) -> tuple[Any, ...] | None:
        """What the actions at this time make of the state: q, v, mem, and whether the run goes on; None: nothing.

        In a run with derivatives, those of q, v and what is held in the memory follow.
        """
        if self._resting is not None:
            raise _core.IntegrationError(explained(_name(self.functions[self._resting]), t, self._jumps[self._resting]))
        if not self._acting:
            return None
        state, self.values = self._state(t, q, v, mem), None
        for i in self._acting:
            if t - self._acted.get(i, -np.inf) <= _resolution(t):
                raise ValueError(
                    f"event {_name(self.functions[i])}: it acts at t = {t:.9g}, where it has just acted; its action "
                    "must lead to a state that leaves the zero, or the event must be terminal"
                )
            self._acted[i] = t
            before, state = state, self._act(i, state)
            self._jumps[i] = Jump((t, before.q, before.v), state._hit)
        slopes = self._slopes_after(before, state, dmem) if self._saltation else ()
        return state.q, state.v, memory_after(state), not self.ended, *slopes

    def _slopes_after(self, before: State, after: State, dmem: Array | None) -> Iterator[Array]:
        """The derivatives of q, v and the memory after an action, from those of the memory before it."""
        i, name = self._acting[0], _name(self.functions[self._acting[0]])
        if len(self._acting) > 1:
            raise ValueError(
                f"sensitivity: events {name} and {_name(self.functions[self._acting[1]])} act at the same time, t = "
                f"{after.t:.9g}; which is first may change with the parameters"
            )

        def value(state: State) -> float:
            return _value(self.functions[i], state.t, *([state] if self._of_state[i] else [state.q, state.v]))

        event = Acting(name, value, self.actions[i])  # type: ignore[arg-type]
        held = None if dmem is None or not dmem.size else dmem.reshape(-1, self._core.nmem).T
        found = self._saltation.across(event, self._cut, held, before, after)  # type: ignore[union-attr, arg-type]
        return (np.ravel(part.T) for part in found)

    def _act(self, i: int, state: State) -> State:
        what = f"event {_name(self.functions[i])}: action"
        found: Any = self.actions[i](state)  # type: ignore[misc]
        if not isinstance(found, State) or found.model.core is not self._core:
            raise ValueError(f"{what}: a State of the run's model expected, got {shown(found)}")
        if found.t != state.t:
            raise ValueError(f"{what}: its state must be at t = {state.t!r}, as the event is, got t = {found.t!r}")
        before, after = (np.abs(self._core.residual(s.t, s.q, s.v, s.mem)).ravel() for s in (state, found))
        if (after > before + CONSISTENT * (1 + np.abs(found.q).max() + np.abs(found.v).max())).any():
            raise ValueError(
                f"{what}: its state violates the constraints by {after.max():.3g}, before by {before.max():.3g}"
            )
        return found

    def _values(self, at: _core.Instant | Moment) -> list[float]:
        """The values of all functions."""
        state = State(Shown(self._model, at, LACKING)) if any(self._of_state) else None
        pairs = zip(self.functions, self._of_state, strict=True)
        return [_value(function, at.t, state) if one else _value(function, at.t, at.q, at.v) for function, one in pairs]

    def _at_start(self, at: Moment) -> list[float]:
        """The values before a step; zero where a function with an action, which has not acted yet, is round-off."""
        values = self._values(at)
        for i, value in enumerate(values):
            if self.actions[i] is None or i in self._jumps or value == 0:
                continue
            if abs(value) <= 2 * round_off(partial(self._value, i, mem=at.mem), self._core, at[:3]):
                values[i] = 0.0
        return values

    def _value(self, i: int, t: float, q: Array, v: Array, mem: Array | None) -> float:
        """The value of one of them."""
        at = [self._state(t, q, v, mem)] if self._of_state[i] else [q, v]
        return _value(self.functions[i], t, *at)

    def _state(self, t: float, q: Array, v: Array, mem: Array | None) -> State:
        return State(Parts(self._model, {"t": t, "q": q, "v": v, "mem": mem}, LACKING))

    def _locate(
        self, crossed: list[int], back: dict[int, float], old: list[float], new: list[float], step: Knots
    ) -> float | None:
        """Finds the zeros of functions that change their sign in a step, or come `back` to where an action was."""
        (begin, end), *_ = step

        def at(time: float) -> tuple[Array, Array, Array]:
            found = _core.interpolate(self._core, [time], *step)
            q, v, mem = (found[name][0] for name in ("q", "v", "mem"))
            if begin < time < end:  # projected onto the constraints, as the state of a run that ends here is
                q, v = self._core.project(time, q, v, mem)
            for values in (q, v):
                values.setflags(write=False)
            return q, v, mem

        def on_curve(i: int, time: float) -> float:
            return self._value(i, time, *at(time))

        first = {i: (begin, old[i]) for i in crossed}
        for i, side in back.items():
            away = _away(partial(on_curve, i), begin, end, side)
            if away is not None and _crosses(away[1], new[i], self.direction[i]):
                first[i] = away
        times = {i: _root(partial(on_curve, i), t, end, value, new[i]) for i, (t, value) in first.items()}
        for i in [i for i in back.keys() - first.keys() - self._jumps.keys() if self.actions[i] is not None]:
            times[i], first[i] = begin, (begin, back[i])  # a run that starts at the zero of an action
        still = {}  # what stays at its zero in this step, where nothing pushes it through
        for i in back.keys() & self._jumps.keys():
            flight = on_curve(i, 0.5 * (begin + times[i])) * back[i] if i in times else 0.0
            q, v, mem = at(begin)
            f = partial(self._value, i, mem=mem)
            start, jump = (begin, q, v), self._jumps[i]
            after = jump.after or start
            if not rests(f, self._core, jump, after, side=back[i], flight=flight, step=end - begin):
                continue
            if abs(new[i]) > 2 * round_off(f, self._core, start):
                self._resting = i
                return begin
            still[i], self._jumps[i] = back[i], jump._replace(after=after)
            times.pop(i, None)
        stop = self._record(sorted((time, i) for i, time in times.items()), at)
        self._sides = still | {i: float(np.sign(first[i][1])) for i in self._acting}
        return stop

    def _record(self, hits: list[tuple[float, int]], state: Callable[[float], tuple[Array, ...]]) -> float | None:
        """Keeps the hits up to the one that stops the run, if any, and returns the time of that stop."""
        end = self._end(hits)
        self._acting = []
        for time, i in hits:
            if end is not None and time > end:
                break
            coincides = end is not None and time >= end - _resolution(end)
            at = end if coincides and end is not None else time
            q, v, _ = state(at)
            self.found[i].append((at, q, v))
            self.left[i] -= 1
            self.ended |= self.left[i] == 0
            if self.actions[i] is not None:
                self._acting.append(i)
        return end

    def _end(self, hits: list[tuple[float, int]]) -> float | None:
        """The time at which a hit ends the run or acts: the latest of all hits that coincide with it."""
        left = list(self.left)
        for time, i in hits:
            left[i] -= 1
            if left[i] == 0 or self.actions[i] is not None:
                return max(other for other, _ in hits if other <= time + _resolution(time))
        return None

    def columns(self) -> list[list[Array]]:
        """Times, coordinates and velocities of the events of each function, one array each."""
        shapes = ((-1,), (-1, self._core.nq), (-1, self._core.nv))
        return [
            [np.array([event[part] for event in events], dtype=float).reshape(shape) for events in self.found]
            for part, shape in enumerate(shapes)
        ]


def _value(function: Any, t: float, *state: Any) -> float:
    """The value of a function at a time, of q and v or of a `State`."""
    given: object = function(*state) if len(state) == 1 else function(t, *state)
    if isinstance(given, float) and given == given:
        return float(given)
    try:
        text_or_truth = isinstance(given, (str, bytes, bool, np.bool_))
        value = float("nan") if text_or_truth else float(given)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        value = float("nan")
    if np.isnan(value):
        raise ValueError(f"event {_name(function)}: a number expected at t = {t:g}, got {shown(given)}")
    return value


def _name(function: Any) -> str:
    return getattr(function, "__name__", type(function).__name__)


def _direction(function: Any) -> float:
    return number(f"event {_name(function)}: direction", getattr(function, "direction", 0.0))


def _action(function: Any) -> Callable[[State], State] | None:
    action: Callable[[State], State] | None = getattr(function, "action", None)
    if action is not None and not callable(action):
        raise ValueError(f"event {_name(function)}: action: a function of a State expected, got {shown(action)}")
    return action


def _terminal(function: Any) -> int:
    """Number of events of this function that ends the run; 0: never."""
    terminal = getattr(function, "terminal", False)
    if terminal is None or isinstance(terminal, (bool, np.bool_)):
        return int(bool(terminal))
    if isinstance(terminal, (int, np.integer)) and terminal > 0:
        return int(terminal)
    raise ValueError(
        f"event {_name(function)}: terminal: True, False or a positive number of events expected, got {terminal!r}"
    )


def _crosses(before: float, after: float, direction: float) -> bool:
    up, down = before < 0 <= after, before > 0 >= after
    return (up and direction >= 0) or (down and direction <= 0)


def _resolution(t: float) -> float:
    """Events closer than this coincide: twice the accuracy to which `_root` locates each of them."""
    return 8 * float(np.finfo(float).eps) * abs(t)


def _away(f: Callable[[float], float], a: float, b: float, side: float) -> tuple[float, float] | None:
    """A time in (a, b) at which f is on the given side, with its value there; None if none is found."""
    for halvings in range(1, HALVINGS):
        t = a + (b - a) * 0.5**halvings
        value = f(t)
        if value * side > 0:
            return t, value
    return None


def _root(f: Callable[[float], float], a: float, b: float, fa: float, fb: float) -> float:
    """The sign change of f in (a, b], to the last bits of t: regula falsi (Illinois), every third step a bisection."""
    side, step = 0, 0
    while fb != 0 and b - a > 4 * np.finfo(float).eps * max(abs(a), abs(b)):
        step += 1
        t = b - fb * (b - a) / (fb - fa)
        if step % 3 == 0 or not a < t < b:
            t = 0.5 * (a + b)
        ft = f(t)
        if ft == 0:
            return t
        if (ft < 0) == (fb < 0):
            b, fb = t, ft
            fa, side = (0.5 * fa if side == 1 else fa), 1
        else:
            a, fa = t, ft
            fb, side = (0.5 * fb if side == -1 else fb), -1
    return b
