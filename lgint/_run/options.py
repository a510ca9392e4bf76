"""Options of methods: what a call gives, what a resumed run keeps, and the defaults."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping
from typing import Any, Final

import numpy as np

from lgint._args import array, guess, number
from lgint._run.methods import OPTIONS, contradicted, control_options, defaults
from lgint._run.trajectory import Trajectory

# the meaning of multipliers, momenta and the data of a run depends on these, so that a resumed run keeps them
KEPT: Final = ("equivariant", "first_stage", "form", "modified")

# options whose default was None in older versions; runs of these that are resumed keep it, with its old meaning
ONCE_NONE: Final = ("newton",)

# names that other programs use for the arguments of `integrate`
_MEANT = {
    **dict.fromkeys(("dt", "step", "step_size", "stepsize", "timestep"), "h"),
    **dict.fromkeys(("tf", "tmax", "t_final", "t_stop", "t_span"), "t_end"),
    **{"tol": "rtol", "rho": "rho_inf", "save_at": "t_eval"},
}


def check_options(method: str, options: Collection[str], function: Callable[..., object]) -> None:
    """ValueError for options that no method has, with a suggestion: an option or an argument of `function`."""
    own = [*defaults(method)]
    for name in options:
        if name not in OPTIONS:
            arguments = [p.name for p in inspect.signature(function).parameters.values() if p.kind == p.KEYWORD_ONLY]
            meant = guess(name, [*own, *arguments], _MEANT)
            raise ValueError(f"method {method!r} has no option {name!r}{meant}; its options are: {', '.join(own)}")


def all_options(method: str, given: Mapping[str, Any], inherited: Mapping[str, Any]) -> dict[str, Any]:
    """The value of every option of a run: as given, as inherited, or the default, with the index that it stands for."""
    options = {**defaults(method), **inherited, **given}
    if "index" in options and options["index"] is None and options.get("modified") is None:
        options["index"] = "stabilized" if _adapts(options) else 3
    return options


def _adapts(options: Mapping[str, Any]) -> bool:
    """Whether tolerances choose the steps."""
    return options.get("control") != "none" and any(options.get(name) is not None for name in ("rtol", "atol"))


def inherited(run: Trajectory | None, given: Mapping[str, Any], *, own_steps: bool) -> dict[str, Any]:
    """The options that are inherited when `run` is resumed: all that are not `given`.

    Those of error control are left out if the call itself determines the steps (`own_steps`).
    """
    if run is None:
        return {}
    for name in contradicted(run.options, given, KEPT):
        raise ValueError(
            f"{name}: the run that is resumed has {name}={run.options[name]!r}, on which the meaning of its "
            f"multipliers depends, but {given[name]!r} was given; leave {name} out, or start afresh from its last "
            "state by model.with_state"
        )
    return left_over(run.method, run.options, {*given, *(control_options(run.method) if own_steps else ())})


def left_over(method: str, options: Mapping[str, Any], given: Collection[str]) -> dict[str, Any]:
    """The values in `options` of all options that are not among the `given` ones."""
    names = defaults(method).keys() & options.keys() - given
    kept = {name: options[name] for name in names if options[name] is not None or name in ONCE_NONE}
    return {name: np.array(value) if isinstance(value, list) else value for name, value in kept.items()}


def takes_own_steps(run: Trajectory | None, h: float | None, given: Mapping[str, Any]) -> bool:
    """Whether a call that resumes `run` itself determines the steps, by tolerances or by `h` alone."""
    if run is None or any(given.get(name) is not None for name in control_options(run.method)):
        return True
    return h is not None and run.options.get("control") != "none"


def _step(h: float | None) -> float:
    if h is None:
        raise ValueError("h: a step size is required, or rtol or atol for a method that chooses its steps")
    return number("h", h)


def steps_of(
    method: str, h: float | None, options: Mapping[str, Any], kept: Mapping[str, Any]
) -> tuple[float, dict[str, Any]]:
    """Step size and options for the core; `kept` are inherited options.

    The step size is NaN with adaptive steps, where `h` becomes the first step.
    """
    tolerances = [name for name in ("rtol", "atol") if options.get(name) is not None]
    if not tolerances and kept.keys() & {"rtol", "atol"}:
        if kept.get("control") == "none":
            return _step(h), dict(options)
        return np.nan, {**options, **({} if h is None else {"first_step": number("h", h, positive=True)})}
    if not tolerances:
        for name in control_options(method):
            if options.get(name) is not None:
                raise ValueError(f"{name}: it belongs to error control; give rtol or atol to turn that on")
        return _step(h), dict(options)

    given = {**options, **{name: array(name, options[name]) for name in tolerances}}
    for name in tolerances:
        given[name] = float(given[name]) if given[name].ndim == 0 else given[name]
    if options.get("control") == "none":
        _refuse_adaptation(method, options)
        return _step(h), given
    if h is not None:
        if options.get("first_step") is not None:
            raise ValueError("first_step: h gives the first step as well; give only one of them")
        given["first_step"] = number("h", h, positive=True)
    return np.nan, given


def _refuse_adaptation(method: str, options: Mapping[str, Any]) -> None:
    """ValueError for options that belong to adaptive steps alone."""
    for name in control_options(method):
        if name not in ("rtol", "atol", "control") and options.get(name) is not None:
            raise ValueError(f'{name}: with control="none" the steps do not adapt; leave it out, or choose a control')
