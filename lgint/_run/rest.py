"""Whether an action has left a function of events at its zero for good: an impact cannot hold a body at rest."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

import numpy as np

from lgint import _core
from lgint._args import Array

NEARBY: Final = 1e-4  # fraction of a step over which the rate of a function is found
PASSING: Final = 1e-2  # fraction of its rate before an action: a function with a larger rate afterwards passes its zero
ROUND_OFF: Final = 1e-15  # of coordinates, against 1 or the largest of them

At = tuple[float, Array, Array]  # t, q, v
Function = Callable[[float, Array, Array], float]


class Jump(NamedTuple):
    """What an action has done."""

    before: At | None  # None: not known
    hit: str | None  # what an impact has hit
    after: At | None = None  # the state that it has left, if the function has stayed at its zero since


def rests(f: Function, core: _core.System, jump: Jump, after: At, *, side: float, flight: float, step: float) -> bool:
    """Whether a function from one side passes its zero because it rests there, not because an action let it pass.

    `flight`: how far it has come after the action before it was back at its zero. What depends on velocities does not
    rest, nor does what an action lets pass. `step`: the length of the step after the action.
    """
    t, q, v = after
    noise = round_off(f, core, after)
    if flight > 2 * noise or abs(f(t, q, v + _tiny(core, q)) - f(*after)) > noise:
        return False
    near = NEARBY * step
    rate, was = (side * _rate(f, core, at, near) if at else 0.0 for at in (after, jump.before))
    unsure = 2 * noise / near
    passes = rate < -max(unsure, PASSING * abs(was))
    return not passes and (jump.hit is not None or jump.before is None or was < -unsure)


def round_off(f: Function, core: _core.System, at: At) -> float:
    """By how much round-off of the coordinates changes a function."""
    t, q, v = at
    value, tiny = f(*at), _tiny(core, q)
    return max(abs(f(t, core.retract(q, way * tiny), v) - value) for way in (-1, 1))


def _tiny(core: _core.System, q: Array) -> Array:
    return np.full(core.nv, ROUND_OFF * (1 + np.abs(q).max()))


def _rate(f: Function, core: _core.System, at: At, near: float) -> float:
    """The rate of a function along the velocities."""
    t, q, v = at
    back, forth = (f(t + dt, core.retract(q, dt * v), v) for dt in (-near, near))
    return (forth - back) / (2 * near)


def explained(name: str, t: float, jump: Jump) -> str:
    """The message of a run that stops where a function rests."""
    what = "its action" if jump.hit is None else f"the impact of {jump.hit}"
    return (
        f"event {name}: at t = {t:.9g} {what} has left it at rest at its zero, which it would now pass unseen; an "
        "impact cannot hold a body at rest: let the action return slow states unchanged, so that a contact with "
        "stiffness holds it, or end the run there (`terminal`)"
    )
