"""Derivatives of a model's start by numbers: by values of the model, which may move it, and by start values."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from lgint import _core, groups
from lgint._args import Array, listing
from lgint._model.joints import TREE_JOINTS
from lgint._model.model import Model
from lgint._model.sensitivity import differentiated, moves_start, number_named
from lgint._state.poses import Mechanism, coordinates, counts, displaced, twist

START: Final = "start."
RATES: Final = ("velocity", "angular_velocity", "rate")
_PART: Final = re.compile(r"(.+?)(?:\.(position|rotation|velocity|angular_velocity|rate))?(?:\[(\d+)\])?")
# central differences of the sixth order: multiples of the step, and weights
CENTRAL: Final = tuple((sign * k, sign * w / 60) for k, w in ((1, 45), (2, -9), (3, 1)) for sign in (1, -1))
STEP: Final = 2.0**-7  # m, rad
CONVERGED, FAIR = 1e-12, 1e-9  # changes with the next shorter step, relative to the largest entry


def refined(slope: Any, step: float, kinks: bool = False) -> Array:
    """slope(step), where the step is divided by 8 until the slope no longer changes, entry by entry.

    Each entry has the longest step that suffices. Changes below FAIR may be round-off; shorter steps are tried as long
    as each of them reduces the change. If the next change is larger, both are round-off, and the longer step has less.
    With `kinks`, longer steps may have passed one, and no longer count as soon as changes are below FAIR.
    """
    best = last = longer = np.asarray(slope(step))
    error, better = np.full(best.shape, np.inf), np.zeros(best.shape, dtype=bool)
    for _ in range(6):
        step /= 8
        now = np.asarray(slope(step))
        change, size = np.abs(now - last), np.abs(best).max(initial=0)
        best = np.where(better & (change > error), longer, best)
        if kinks:
            best = np.where((error > FAIR * size) & (change <= FAIR * size), last, best)
        better = (change > CONVERGED * size) & (change < error)
        longer, best = np.where(better, best, longer), np.where(better, now, best)
        error, last = np.fmin(error, change), now
        if not (error > (CONVERGED if better.any() else FAIR) * size).any():
            break
    return best


def state_slopes(
    core: _core.Model,
    base: Sequence[Array],
    other: Callable[[float], Sequence[Array]],
    step: float,
    points: Any,
    kinks: bool = False,
) -> tuple[Array, Array]:
    """The derivatives of q and v from `base` to other(change), by differences with these points and weights."""

    def slope(step: float) -> Array:
        total = np.zeros((2, len(base[1])))
        for times, weight in points:
            q, v = other(times * step)[:2]
            total += weight / step * np.array([core.difference(base[0], q), v - base[1]])
        return total

    dq, dv = refined(slope, step, kinks)
    return dq, dv


class Slopes(NamedTuple):
    """A model that is differentiated by numbers, and the derivatives of its start by each of them."""

    core: _core.Model
    dq: Array  # (p, nv), left-trivialised
    dv: Array  # (p, nv)


def slopes_of(model: Model, names: Sequence[str], t: float = 0.0) -> Slopes:
    """The derivatives of the start that `with_state(project=True)` gives, at a consistent start at time t."""
    for name in names:
        if not _is_start(name):
            check_name(model, name, "sensitivity")
    core = core_by(model, names)
    found = [
        _by_start(model, name, t)
        if _is_start(name)
        else _by_com(model, name, t)
        if moves_start(model, name)
        else _by_value(model, core, i, t)
        for i, name in enumerate(names)
    ]
    dq, dv = (np.array([one[i] for one in found]).reshape(len(names), model.nv) for i in (0, 1))
    return Slopes(core, dq, dv)


def core_by(model: Model, names: Sequence[str]) -> _core.Model:
    """The model with derivatives of its terms by these numbers; those of its start change no terms."""
    return differentiated(model, ["" if _is_start(name) else name for name in names])


def _is_start(name: str) -> bool:
    return isinstance(name, str) and name.startswith(START)


def _by_value(model: Model, core: _core.Model, number: int, t: float) -> tuple[Array, Array]:
    """The implicit function theorem for the projection, which moves nothing at the present value."""
    if not model.nc:
        return np.zeros(model.nv), np.zeros(model.nv)
    rows = core.derivative(number, t, model.q0, model.v0, mem=model.start_memory, want=("phi", "phidot"))
    return model.core.project_slopes(t, model.q0, model.v0, np.stack([rows["phi"], rows["phidot"]]), model.mem0)


def _by_com(model: Model, name: str, t: float) -> tuple[Array, Array]:
    """Differences of the start in which the body lies where it did, with its coordinates at another point of it."""
    value = float(model.values[name])

    def other(change: float) -> Sequence[Array]:
        at = model.with_parameters(**{name: value + change})
        return at.core.project(t, at.q0, at.v0, at.mem0)

    return state_slopes(model.core, (model.q0, model.v0), other, STEP, CENTRAL)


# ---- start values ----


class StartNumber(NamedTuple):
    """A number of a start."""

    who: str  # a joint or a free body
    part: str | None  # of a body or of a joint's node; None: a coordinate of a joint
    number: int  # of the part

    @property
    def is_rate(self) -> bool:
        return self.part in RATES

    @property
    def is_second(self) -> bool:
        """Whether it belongs to the second of a pair: to a rotation, or to an angular velocity."""
        return self.part in ("rotation", "angular_velocity")


def start_value(model: Model, name: str, argument: str = "sensitivity") -> StartNumber:
    """The number of the start to which a name refers; ValueError if there is none."""
    found = _PART.fullmatch(name.removeprefix(START))
    who, part, index = found.groups() if found else ("", None, None)
    known = [*model.joints, *_free(model)]
    if who not in known and who.rpartition(".")[0] in known:
        who, _, part = who.rpartition(".")
    if who not in known:
        raise ValueError(
            f"{argument}: {name!r}: {who!r} is neither a joint nor a free body of this model{_guessed(model, name)}; "
            f"these are {listing(known)}"
        )
    parts = _parts_of(model, who)
    if part not in parts:
        expected = [_shown(who, *each) for each in parts.items()]
        raise ValueError(
            f"{argument}: {name!r}: the start of {who!r} has {listing(expected)}{_guessed(model, name) if part else ''}"
        )
    if (index is None and parts[part] > 1) or int(index or 0) >= parts[part]:
        raise ValueError(f"{argument}: {name!r}: an index expected as in {_shown(who, part, parts[part])}")
    return StartNumber(who, part, int(index or 0))


def check_name(model: Model, name: str, argument: str) -> None:
    """ValueError, with a guess, unless a name means a value of the model or a number of its start."""
    if _is_start(name):
        start_value(model, name, argument)
    elif name in model._values or name.partition("[")[0] in model._values:
        number_named(model, name, argument)
    else:
        number_named(model, name, argument, _meant(model, name))


def _guessed(model: Model, name: str) -> str:
    """A suggestion for a misspelt number of the start."""
    meant = _meant(model, name)
    return f" (did you mean {meant!r}?)" if meant else ""


def _meant(model: Model, name: str) -> str:
    """The number of the start that a misspelt name seems to mean, or an empty string.

    Its first word is misspelt or missing, or its joint or body, or the part of it. A body stands for the joint by which
    a tree holds it.
    """
    first, _, rest = name.partition(".")
    owners = {joint["second"]: who for who, joint in model.joints.items() if joint["second"] in model.bodies}
    owners |= {who: who for who in (*model.joints, *_free(model))}
    whole = rest if _near(first, [START[:-1], *owners]) == START[:-1] else name
    path, _, entry = whole.partition("[")
    who, _, part = path.rpartition(".") if path not in owners and "." in path else (path, "", "")
    owner = owners.get(_near(who, owners))
    parts = {} if owner is None else _parts_of(model, owner)
    if owner is None or not parts or (whole is name and (who not in owners or (part or None) not in parts)):
        return ""
    found = _near(part, [each or "" for each in parts]) or (None if part == "" and None in parts else next(iter(parts)))
    count, number = parts[found], entry.rstrip("]")
    shown = _shown(owner, found, count)
    return shown.replace(f"[{count - 1}]", f"[{number}]") if number.isdigit() and int(number) < count else shown


def _near(word: str, words: Collection[str]) -> str:
    """The one of these words that a misspelt one is closest to, or an empty string."""
    from difflib import get_close_matches

    return word if word in words else next(iter(get_close_matches(word, [*words], n=1)), "")


def _shown(who: str, part: str | None, count: int) -> str:
    entry = f"[{count - 1}]" if count > 1 else ""
    return f"{START}{who}{f'.{part}' if part else ''}{entry}"


def _free(model: Model) -> list[str]:
    """The bodies that no joint holds to the ground or to a support, one for each part of the model."""
    bodies = [*model.bodies]
    return [bodies[i] for i in Mechanism(model, 0.0).roots({})]


def _parts_of(model: Model, who: str) -> dict[str | None, int]:
    """The parts of the start of a joint or a body, and how many numbers each has."""
    kind = model.joints[who]["kind"] if who in model.joints else ""
    if who in model.joints and not _turns(kind):
        return {None: counts(kind), "rate": counts(kind)} if counts(kind) else {}
    if _turns(kind) and not counts(kind):
        return {"rotation": 3, "rate": 3}
    return {"position": 3, "rotation": 3, "velocity": 3, "angular_velocity": 3}


def _turns(kind: str) -> bool:
    """Whether a joint turns by a rotation instead of angles."""
    return kind in TREE_JOINTS and TREE_JOINTS[kind][-1][0] == "node"


def _by_start(model: Model, name: str, t: float) -> tuple[Array, Array]:
    """Differences of the start: it changes by the number alone, and is projected."""
    value, core = start_value(model, name), model.core
    base = present(model, value, t)

    def other(change: float) -> Sequence[Array]:
        moved = {value.who: changed(base, value, change)}
        state = model.state(t=t, rates=moved) if value.is_rate else model.state(t=t, joints=moved)
        return core.project(t, state.q, state.v, state.mem)

    def beside(change: float) -> Sequence[Array]:
        q, v = near(change)
        return core.project(t, q, v, core.remember(t, q, v, v, model.mem0))

    start = model.q0, model.v0
    try:
        return state_slopes(core, start, other, STEP, CENTRAL)
    except ValueError:  # the loops of the model forbid this value alone
        near = displaced(model, t, start, value.who, _direction(model, value, t), rate=value.is_rate)
        return state_slopes(core, start, beside, STEP, CENTRAL)


def _direction(model: Model, value: StartNumber, t: float) -> Array:
    """How the pose of a joint or a body (6,), or its rates, move with a number of the start."""
    at = _present(model, value.who, t)[0]
    if value.part is None or (value.part == "rate" and not _turns(model.joints[value.who]["kind"])):
        return twist(model.joints[value.who]["kind"], at, np.eye(len(at))[value.number])
    turns = value.is_second or not isinstance(at, tuple)
    unit, second = np.eye(3)[value.number], np.eye(3)
    if turns and value.who in model.joints:
        second = np.array(model.joints[value.who]["triads"][1])
    return np.concatenate([np.zeros(3), second.T @ unit] if turns else [unit, np.zeros(3)])


def present(model: Model, value: StartNumber, t: float) -> Any:
    """The coordinates of a joint, the pose of a body, or their rates, as `Model.state` takes them."""
    return _present(model, value.who, t)[value.is_rate]


def _present(model: Model, who: str, t: float) -> tuple[Any, Any]:
    """The coordinates of a joint, or the pose of a body, and their rates."""
    mechanism = Mechanism(model, t)
    x, R, rates = mechanism.poses(model.q0, model.v0)
    if who not in model.joints:
        i = len(mechanism.joints) + [*model.bodies].index(who)
        return (x[i], R[i]), (rates[i, :3], rates[i, 3:])
    i, kind = [*mechanism.joints].index(who), model.joints[who]["kind"]
    if _turns(kind):
        first, second = (np.array(triad) for triad in model.joints[who]["triads"])
        turned, omega = first @ R[i] @ second.T, second @ rates[i, 3:]
        return ((x[i], turned), (rates[i, :3], omega)) if counts(kind) else (turned, omega)
    at = coordinates(model.state(t=t), who, kind, x[i], R[i])
    columns = np.array([twist(kind, at, unit) for unit in np.eye(len(at))]).T
    return at, np.linalg.lstsq(columns, rates[i], rcond=None)[0]


def changed(given: Any, value: StartNumber, s: float) -> Any:
    """The same with one number increased by s; a rotation is turned by s about an axis of the body."""
    if isinstance(given, tuple):
        return tuple(changed(part, value, s) if i == value.is_second else part for i, part in enumerate(given))
    change = s * np.eye(len(given))[value.number]
    return given @ groups.so3.exp(change) if given.ndim == 2 else given + change
