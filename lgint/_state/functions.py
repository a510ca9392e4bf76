"""Functions of states, in controls and force laws, beside the parameters by which a model is differentiated."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import numpy as np

from lgint import _core
from lgint._args import Array, takes_one
from lgint._model.compiled import CompiledFunction
from lgint._model.laws import Moment
from lgint._model.model import Model
from lgint._model.sensitivity import direction
from lgint._state.state import state_inside

SHIFT: Final = 2.0**-7  # m, rad and their rates: by how much to leave a state in which something may be zero by chance
STEP: Final = 1e-2  # change of a parameter, relative to its size
SAME: Final = 1e-9  # relative change of a function's values that counts as none


def refuse_functions(model: Model, names: Sequence[str], t: float, q: Array, v: Array, argument: str) -> None:
    """ValueError if a function of states depends on one of these values of the model itself.

    Functions are differentiated by coordinates and velocities alone. Other things that they read, such as an energy or
    the position of a link of a tree, may depend on a parameter even if coordinates and velocities stay the same.
    """
    functions = [*_functions_of(model)]
    if not functions:
        return
    at = Moment(t, *_beside(model, t, q, v), model.mem0)
    for name in names:
        varied = _varied(model, name)
        for label, function in functions:
            now, then = (_value(function, state_inside(each, at)) for each in (model, varied))
            again = _value(function, state_inside(model, at))
            if again.shape == now.shape and not np.array_equal(again, now, equal_nan=True):
                raise ValueError(
                    f"{argument}: {label} returns other values when it is called again with the same state, so it "
                    "has no derivatives by the state; give what it remembers as states of the control"
                )
            if then.shape == now.shape and np.abs(then - now).max(initial=0) > SAME * np.abs(now).max(initial=0):
                raise ValueError(
                    f"{argument}: {name}: {label} reads something that depends on this parameter even at fixed "
                    "coordinates and velocities, but functions of a state are differentiated by these alone; read "
                    "coordinates of joints, or leave this parameter out"
                )


def _varied(model: Model, name: str) -> Model:
    """The model with a larger value, or with a smaller one if the larger one is not valid."""
    value, change = float(model.values[name]), STEP * direction(model, name).size
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return model.with_parameters(**{name: value + change})
        except ValueError:
            return model.with_parameters(**{name: value - change})


def _value(function: Callable[[Any], Any], state: Any) -> Array:
    """What a function returns; an empty array if it fails at this state, which a run may never reach."""
    try:
        return np.asarray(function(state), dtype=float)
    except Exception:
        return np.zeros(0)


def _beside(model: Model, t: float, q: Array, v: Array) -> tuple[Array, Array]:
    """A state near this one, on the constraints if they can be reached from there."""
    wave = SHIFT * np.cos(np.arange(model.nv))
    at = model.core.retract(q, wave), v + wave
    try:
        projected, rates, *_ = model.core.project(t, *at, model.mem0)
    except _core.IntegrationError:
        return at
    return projected, rates


def _functions_of(model: Model) -> Iterator[tuple[str, Callable[[Any], Any]]]:
    """Python functions that are called with a state, and what messages call them."""
    for name, control in model.controls.items():
        if not isinstance(control["function"], CompiledFunction):
            yield f"control {name!r}", control["function"]
    for name, force in model.forces.items():
        if force["kind"] == "law" and takes_one(function := force["function"]):
            yield f"the law {name!r}", function
