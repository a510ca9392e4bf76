"""Derivatives of runs by parameters: what `integrate` needs for them, and what follows from them."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from lgint import _core
from lgint._args import Array, guess, listing, shown
from lgint._model.model import Model
from lgint._model.sensitivity import direction
from lgint._model.system import System
from lgint._run.dense import DenseOutput, moved_parts
from lgint._run.methods import ROWS, control_options
from lgint._state.functions import refuse_functions
from lgint._state.mechanics import ACCESSORS
from lgint._state.slopes import CENTRAL, START, core_by, refined
from lgint._state.slopes import slopes_of as start_slopes

# forward differences of the sixth order, for values that are zero and may not become negative
FORWARD: Final = tuple(zip(range(7), np.array([-147, 360, -450, 400, -225, 72, -10]) / 60, strict=True))
CLOSED: Final = 1e-10  # m, rad and their rates: rows up to which a start counts as projected
STEP: Final = 1e-2  # by how much differences move angles, and velocities and parameters in proportion to themselves


Begin = tuple[float, Array, Array, dict[str, Any]]  # t, q and v of a start, and its memory


@dataclass(frozen=True)
class Sensitivity:
    """Derivatives of the states of a run by parameters, exact for the steps that it took.

    Attributes
    ----------
    parameters : list of str
        Their names, as given to `integrate`.
    dq : ndarray, shape (n, nv, p)
        Derivatives of the coordinates, left-trivialised: the displacement from q to q(p + dp) is q exp(dq dp), block
        by block as velocities are.
    dv : ndarray, shape (n, nv, p)
        Derivatives of the velocities.
    dvdot : ndarray, shape (n, nv, p)
        Derivatives of the accelerations.
    dlam : ndarray, shape (n, nc, p)
        Derivatives of the multipliers.
    dmem : ndarray, shape (n, nmem, p)
        Derivatives of the values that sampled controls hold in the memory and of the displacements and places of
        bristles, in the places of `mem`, and zeros for the rest of it; shape (n, 0, p) without both. The units are
        those of the efforts and states of a control, or m, over that of the parameter.
    """

    parameters: list[str]
    dq: Array
    dv: Array
    dvdot: Array
    dlam: Array
    dmem: Array


class Named(list[str]):
    """Names of parameters with the derivatives of a start by them, instead of those of its projection."""

    def __init__(self, names: Sequence[str], dq: Array, dv: Array) -> None:
        super().__init__(names)
        self.dq, self.dv = dq, dv  # (p, nv)


class Resumed(list[str]):
    """Names of parameters of a run that is resumed, whose carry has the derivatives."""


def names_of(given: Sequence[str] | None, start: Any) -> Sequence[str] | None:
    """The parameters of a run: those of the run `start`, if it resumes one; ValueError if others are given."""
    if start is None:
        return given
    own = start._parameters
    if given is None:
        return Resumed(own) if own else None
    if [*parameters_of(given)] != own:
        raise ValueError(
            f"sensitivity: the run that is resumed has derivatives by {listing(own)}, but {shown(given)} was given; "
            "leave it out, or begin a new run from model.with_state(start)"
        )
    return Resumed(own)


def sensitivity_of(names: Sequence[str], columns: Array, model: System) -> Sensitivity:
    """The derivatives in rows of the core, of which each has those of q, v, vdot, lam and memory by all parameters."""
    n, p = len(columns), len(names)
    cuts = p * np.cumsum([model.nv, model.nv, model.nv, model.nc])
    parts = (np.moveaxis(part.reshape(n, p, -1), 1, 2) for part in np.split(columns, cuts, axis=1))
    return Sensitivity([*names], *parts)


def slopes_width(model: System, count: int) -> int:
    """The width of such rows for so many parameters."""
    holds = isinstance(model, Model) and model.first_held < model.core.nmem
    return count * (3 * model.nv + model.nc + (model.core.nmem if holds else 0))


def rows_of(found: Sensitivity) -> Array:
    """The derivatives as rows of the core; the inverse of `sensitivity_of`."""
    parts = (found.dq, found.dv, found.dvdot, found.dlam, found.dmem)
    return np.concatenate([np.moveaxis(part, 2, 1).reshape(len(part), -1) for part in parts], axis=1)


def parameters_of(names: object, argument: str = "sensitivity") -> tuple[str, ...]:
    """The argument of this name; ValueError unless it is a list of different names."""
    given = [names] if isinstance(names, str) else names
    if not isinstance(given, Sequence) or not given or not all(isinstance(name, str) and name for name in given):
        raise ValueError(f"{argument}: a list of names of parameters expected, got {shown(names)}")
    if len(set(given)) < len(given):
        raise ValueError(f"{argument}: different names expected, got {shown(names)}")
    return tuple(given)


def has_curve(method: str) -> bool:
    """Whether the method has a curve of its own between its steps."""
    return bool(len((ROWS[method].get("tableau") or {}).get("curve") or []))


def options_of_steps(method: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a run with which the core takes one of its steps once more, at the same size."""
    own = options.keys() - control_options(method)
    return {name: options[name] for name in own if options[name] is not None}


def slopes_of(
    model: System, given: Sequence[str], start: Begin
) -> tuple[_core.System, Begin, tuple[int, Array, Array]]:
    """The system of the core with derivatives by these parameters, its start, and what it is given of that."""
    names = parameters_of(given)
    if not isinstance(model, Model):
        raise ValueError(
            f"sensitivity: the terms of a {type(model).__name__} are functions, which have no derivatives by "
            "parameters; build the model of bodies, joints and forces"
        )
    if isinstance(given, Resumed):
        none = np.zeros(len(names) * model.nv)
        return core_by(model, names), start, (len(names), none, none)
    t0, _, _, memory = start
    model = _closed(model, t0)
    if isinstance(given, Named):
        core, dq, dv = core_by(model, names), given.dq, given.dv
    else:
        core, dq, dv = start_slopes(model, names, t0)
    checked = bool(memory.get("checked") or "carry" in memory)
    begin = t0, model.q0, model.v0, {"mem": model.mem0, "checked": checked}
    values = [name for name in names if not name.startswith(START)]
    refuse_functions(model, values, t0, model.q0, model.v0, "sensitivity")
    return core, begin, (len(names), dq.ravel(), dv.ravel())


def _closed(model: Model, t: float) -> Model:
    """The model with its start on the constraints, as the velocities of index 3 need not be."""
    rows = model.core.evaluate(t, model.q0, model.v0, mem=model.start_memory, want=["phi", "phidot"])
    if all(np.abs(row).max(initial=0) <= CLOSED for row in rows.values()):
        return model
    return model.with_state(*model.core.project(t, model.q0, model.v0, model.mem0))


def stencil(model: Model, name: str) -> tuple[tuple[int, float], ...]:
    """Multiples of the step of differences by a parameter, and weights."""
    return CENTRAL if name.startswith(START) or float(model.values[name]) else FORWARD


def largest_step(model: Model, name: str) -> float:
    """The largest step of differences by a parameter."""
    return STEP if name.startswith(START) else STEP * direction(model, name).size


def varied_by(model: Model, name: str, change: float) -> Model:
    """The model with another value, without warnings about it; accessors of a state do not depend on the start."""
    if name.startswith(START):
        return model
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.with_parameters(**{name: float(model.values[name]) + change})


def derivative(run: Any, accessor: str, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Array:
    """The derivatives of what an accessor gives, by differences along those of the states."""
    found = run.sensitivity
    if found is None:
        raise ValueError("derivative: this run has no derivatives; integrate with sensitivity=[...]")
    if not isinstance(accessor, str) or accessor not in ACCESSORS:
        near = guess(accessor, ACCESSORS) if isinstance(accessor, str) else ""
        raise ValueError(f"derivative: the name of a method of a trajectory expected, got {shown(accessor)}{near}")

    def value(other: Any) -> Array:
        given = getattr(other, accessor)(*arguments, **keywords)
        try:
            return np.asarray(given, dtype=float)
        except (TypeError, ValueError):
            raise ValueError(f"derivative: {accessor} gives no array of numbers, but {type(given).__name__}") from None

    shape = value(run).shape
    if shape[:1] != run.t.shape:
        raise ValueError(f"derivative: {accessor} has no value for each state")
    run, factor = stretched(run)
    if found.dmem.shape[1]:
        found = replace(found, dmem=factor[..., None] * found.dmem)
    return np.stack([_along(run, found, k, value) for k in range(len(found.parameters))], axis=-1)


def stretched(run: Any) -> tuple[Any, Array]:
    """The run with bristles that slide bent further, where forces are the same and have no kink, and the factors."""
    core = run.model.core
    if not run.model.bristles.any() or "mem" not in run._parts:
        return run, np.ones((len(run.t), core.nmem))
    factor = core.stretch(run.clock, run.q, run.v, run.mem)
    columns = {name: getattr(run, name) for name in run._parts}
    return run._with({**columns, "mem": factor * run.mem, **run.extra}), factor


def _along(run: Any, found: Sensitivity, k: int, value: Callable[[Any], Array]) -> Array:
    """The derivative by parameter k."""
    step = step_along(run.model, run.v, getattr(run, "mem", None), found, k)
    points = stencil(run.model, found.parameters[k])

    def slope(step: float) -> Any:
        return sum(weight / step * value(_displaced(run, found, k, times * step)) for times, weight in points)

    return refined(slope, step, run.model.has_kinks)


def step_along(model: Model, v: Array, mem: Array | None, found: Sensitivity, k: int) -> float:
    """The change of parameter k that moves neither a state too far nor the parameter by more than a fraction."""
    most = within(largest_step(model, found.parameters[k]), v, found.dq[..., k], found.dv[..., k])
    return most if mem is None else held_within(most, mem, found.dmem[..., k])


def within(most: float, v: Array, dq: Array, *rates: Array) -> float:
    """The change of a parameter, at most this, that moves no coordinate or relative velocity by more than STEP."""
    speed = 1 + np.abs(v).max(initial=0)
    largest = max(np.abs(dq).max(initial=0), *(np.abs(dv).max(initial=0) / speed for dv in rates))
    return min(most, STEP / largest) if largest else most


def held_within(most: float, mem: Array, dmem: Array) -> float:
    """The change of a parameter, at most this, that moves no held value by more than this fraction."""
    largest = (np.abs(dmem) / (1 + np.abs(mem))).max() if dmem.size else 0.0
    return min(most, STEP / largest) if largest else most


def _displaced(run: Any, found: Sensitivity, k: int, change: float) -> Any:
    """The states that the run would have with another value of parameter k, to the first order."""
    model = varied_by(run.model, found.parameters[k], change)
    parts = {name: getattr(run, name) for name in run._parts}
    columns = {**parts_along(model, {**parts, "t": run.clock}, found, k, change), "t": run.t}
    other = run._with({**columns, **run.extra})
    other.model = model
    return other


def remembered(model: Model, t: Array, q: Array, v: Array, vdot: Array, mem: Array) -> Array:
    """The memory of states that have been displaced with it, in which angles follow coordinates."""
    return np.where(model.bristles, mem, model.core.remember(t, q, v, vdot, mem))


def parts_along(
    model: Model, parts: Mapping[str, Array], found: Sensitivity, k: int, change: float
) -> dict[str, Array]:
    """Parts of states along their derivatives by parameter k, with the angles and held values in the memory."""
    other = dict(parts)
    if "q" in parts:
        other["q"] = model.core.retract(parts["q"], change * found.dq[..., k])
    for name, slope in (("v", found.dv), ("vdot", found.dvdot), ("lam", found.dlam)):
        if name in parts:
            other[name] = parts[name] + change * slope[..., k]
    if found.dmem.shape[1] and "mem" in parts:
        other["mem"] = parts["mem"] + change * found.dmem[..., k]
    needed = ("t", "q", "v", "vdot", "mem")
    if model.core.nmem and parts.keys() >= {*needed}:
        other["mem"] = remembered(model, *(other[name] for name in needed))
    return other


def slopes_inside(run: Any, sol: DenseOutput, times: Array) -> Array:
    """Derivatives of dense output at times of the run, in rows of the core: those of the curve between the ends.

    If the method has a curve of its own, the steps are taken once more from displaced starts.
    """
    model, names = run.model, run._parameters
    found = sensitivity_of(names, sol.knots["derivatives"], model)
    middle = sol.states(times)["q"]

    def along(k: int) -> list[Array]:
        step = step_along(model, sol.knots["v"], sol.knots["mem"], found, k)
        total: list[Any] = [0.0] * 5
        for multiple, weight in stencil(model, names[k]):
            change = multiple * step
            varied = varied_by(model, names[k], change)
            knots = parts_along(varied, sol.knots, found, k, change)
            if "curve" in knots:
                knots["curve"] = _curves(run, varied, knots, times)
            at = moved_parts(sol, varied, knots, times)
            apart = model.core.difference(middle, at["q"])
            held = at["mem"][:, : found.dmem.shape[1]]
            for i, part in enumerate((apart, at["v"], at["vdot"], at["lam"], held)):
                total[i] = total[i] + weight / step * part
        return total

    columns = zip(*map(along, range(len(names))), strict=True)
    return rows_of(Sensitivity([*names], *(np.stack(column, axis=-1) for column in columns)))


def _curves(run: Any, model: Model, knots: Mapping[str, Array], times: Array) -> Array:
    """The curves of those steps, taken once more, in which the times lie."""
    found, given = np.zeros_like(knots["curve"]), options_of_steps(run.method, run.options)
    t, q, v, mem = (knots[name] for name in ("t", "q", "v", "mem"))
    for end in np.unique(np.searchsorted(t, times[~np.isin(times, t)])):
        row = end - 1
        span, start = (t[row], t[end], t[end] - t[row]), {"mem": mem[row], "checked": True}
        step = _core.integrate(model.core, run.method, *span, 1, q[row], v[row], start, given, dense=True)
        found[end] = step["knots"]["curve"][1]
    return found
