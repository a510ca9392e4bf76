"""`gradient`: the derivatives of one number by many parameters of a run, by one pass backwards."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from os import PathLike
from typing import Any, Final

import numpy as np

from lgint import _core
from lgint._args import Array, checked_function, flag, number, shown
from lgint._model.model import Model
from lgint._model.names import Method
from lgint._run.backwards import Backwards, Plan
from lgint._run.checkpoints import Checkpoints, checkpoints_in
from lgint._run.events import Events
from lgint._run.flights import Flights
from lgint._run.integrate import count, integrate, times_of
from lgint._run.numbers import Numbers
from lgint._run.options import all_options, check_options, inherited, steps_of
from lgint._run.outputs import Output, outputs_of
from lgint._run.progress import progress_bar
from lgint._run.pullback import pull_back
from lgint._run.saltation import inside_of
from lgint._run.sensitivity import has_curve, parameters_of, slopes_of
from lgint._run.start import Start, start_of, start_option
from lgint._run.trajectory import Trajectory

Cost = Callable[..., tuple[float, Any]]
TAKEN: Final = ("t_end", "h", "t0", "save_every", "stops", "events", "start", "progress")  # arguments of integrate
_TAPE: Final = 2.0**28  # bytes of memory in which all steps are kept, if they take no more


def gradient(
    model: Model,
    method: Method,
    cost: Cost,
    parameters: Sequence[str],
    *,
    outputs: Sequence[Sequence[Any]],
    every_state: bool = True,
    checkpoints: str | PathLike[str] | None = None,
    **arguments: Any,
) -> tuple[float, Array, Trajectory]:
    """Computes a number from a run, and the derivatives of this number with respect to parameters.

    After the run, a single backward pass over its steps yields all derivatives. It takes about as long for a thousand
    parameters as for one. As with `sensitivity` of `integrate`, the derivatives are those of the discrete method.

    Parameters
    ----------
    model : Model
        A model of bodies, joints and forces.
    method : str
        A method for which `method_info(method)["differentiated"]` is true.
    cost : function
        cost(t, *arrays) -> (value, derivatives). It is called once, with the times t (n,) and one array (n, ...) for
        each output. It returns the number, and a list of the derivatives of the number with respect to these arrays,
        each in the shape of its array.
    parameters : list of str
        Names of parameters, as for `sensitivity` of `integrate`.
    outputs : list of tuples
        In each tuple the name of a method of `Trajectory`, followed by its arguments: ("position", "tip").
    every_state : bool
        True: the cost sees all states that `integrate` would save, which are the start and every accepted step or,
        with `save_every`, some of them, and the states before and after each action of an event. False: the cost sees
        only the states at `stops` and at `t_end`, as far as the run goes, and the run that is returned has no others.
    checkpoints : path, optional
        A folder for checkpoints, which are states from which the backward pass repeats parts of the run. The folder is
        created if it does not exist, and its files are removed at the end. Neither the number of checkpoints nor the
        number of steps between two of them exceeds the square root of twice the number of steps. Default: nothing is
        written; all steps are kept in memory if they need at most 256 MB, and otherwise only the checkpoints are.
    **arguments
        `t_end`, `h`, `t0`, `save_every`, `stops`, `events`, `progress` and options of the method, as for `integrate`.
        `save_every` requires `every_state=True`. Progress is shown again on the way back; a function is then called
        with times from the end to the start.

    Returns
    -------
    value : float
        The number that `cost` returned.
    gradient : ndarray, shape (p,)
        The derivatives of this number with respect to the parameters.
    run : Trajectory
        The run, with the states that the cost saw.

    Raises
    ------
    ValueError
        For mistakes found before the run, as for `integrate`; for a method without derivatives; and for a cost that
        returns anything but a number and derivatives in the right shapes.
    ConvergenceError, SingularError, StepSizeError, Interrupted
        As for `integrate`.
    """
    if not isinstance(model, Model):
        raise ValueError(f"model: a model of bodies expected, got {shown(model)}")
    checked_function("cost", cost)
    flag("every_state", every_state)
    wanted, names = outputs_of(outputs), parameters_of(parameters, "parameters")
    Numbers(model, names, 0.0)  # the model has all of these
    _check_outputs(model, wanted)
    plan = _plan(model, method, names, every_state, arguments)
    progress = arguments.get("progress", False)
    with checkpoints_in(checkpoints) as marks:
        with progress_bar(progress, plan.start.t, plan.t_end, "s") as report:
            run, tape = _forwards(plan, marks, every_state, 0.0 if checkpoints is not None else _TAPE, report)
        values = [_values(output, run) for output in wanted]
        value, weights = _cost(cost, run, wanted, values)
        rows, found = pull_back(run, names, wanted, weights)
        try:
            with _progress_back(progress, run) as report:
                return value, found + Backwards(plan, run, rows, report).gradient(marks, tape), run
        except BaseException as error:
            error.trajectory = run  # type: ignore[attr-defined]
            raise


def _check_outputs(model: Model, outputs: list[Output]) -> None:
    """ValueError, before the run, for arguments that an accessor refuses at the start of the model."""
    for output in outputs:
        getattr(model.state(), output.accessor)(*output.arguments)


def _plan(model: Model, method: str, parameters: Sequence[str], every_state: bool, arguments: dict[str, Any]) -> Plan:
    known = inspect.signature(integrate).parameters
    options = {name: value for name, value in arguments.items() if name not in known}
    for name in arguments.keys() & known.keys() - {*TAKEN}:
        raise ValueError(f"{name}: gradient does not have this argument of integrate; it has {', '.join(TAKEN)}")
    if "t_end" not in arguments:
        raise ValueError("t_end: the time at which the run ends is missing")
    if not every_state and "save_every" in arguments:
        raise ValueError("save_every: with every_state=False the cost sees the states at stops and at t_end only")
    check_options(method, options, gradient)
    if start_option(arguments.get("start"), options) is not None:
        raise ValueError("start: gradient begins at the start of a model; give model.with_state(run)")
    t0, h = arguments.get("t0", 0.0), arguments.get("h")
    chosen = all_options(method, options, inherited(None, options, own_steps=False))
    start = start_of(model, method, t0, None, chosen)
    core, begin, slopes = slopes_of(model, parameters, start)
    step, given = steps_of(method, h, options, {})
    watch = None if arguments.get("events") is None else Events(model, arguments["events"])
    flights = Flights(model, parameters, inside_of(method, chosen), retakes=has_curve(method))
    if watch is not None:
        watch.differentiate(flights)
    return Plan(
        model,
        core,
        method,
        chosen,
        Start(*begin),
        given,
        number("t_end", arguments["t_end"]),
        step,
        count("save_every", arguments.get("save_every", 1)),
        None if arguments.get("stops") is None else np.unique(times_of("stops", arguments["stops"])),
        slopes,
        watch,
        flights,
    )


# ---- forwards ----


def _forwards(
    plan: Plan, marks: Checkpoints, every_state: bool, most: float, report: Callable[[float], None] | None
) -> tuple[Trajectory, object]:
    """The run, whose checkpoints `marks` gets, and a tape of all steps if that takes no more than `most` bytes."""
    stops = np.empty(0) if plan.stops is None else plan.stops
    only = None if every_state else np.unique([*stops, plan.t_end])
    begin, q, v, memory = plan.start
    arguments = (plan.core, plan.method, begin, plan.t_end, plan.h, plan.save_every, q, v, memory, plan.given)
    watch: dict[str, Any] = {}
    if plan.watch is not None:
        watch = {"on_step": plan.watch.on_step, "ends": plan.watch.may_end}
        watch |= {"on_stop": plan.watch.on_stop} if plan.watch.acts else {}
        watch |= {} if plan.watch.compiled is None else {"watch": plan.watch.compiled}
    try:
        result = _core.integrate(
            *arguments,
            report,
            only,
            stops=plan.stops,
            slopes=(plan.slopes[0], None, None),
            on_mark=marks.add,
            tape=most,
            **watch,
        )
    except BaseException as error:
        so_far = getattr(error, "result", None)
        if isinstance(so_far, dict):
            error.trajectory = _trajectory(plan, so_far, -1)  # type: ignore[attr-defined]
        raise
    tape = result.pop("tape", None)
    return _trajectory(plan, result, int(plan.watch is not None and plan.watch.ended)), tape


def _trajectory(plan: Plan, result: dict[str, Any], status: int) -> Trajectory:
    result["stats"]["gradients_formed"] = 0
    if plan.watch is not None:
        result["events"] = plan.watch.columns()
    return Trajectory(plan.model, plan.method, plan.options, {**result, "status": status})


@contextmanager
def _progress_back(wanted: bool | Callable[[float], None], run: Trajectory) -> Iterator[Callable[[float], None] | None]:
    """A function of the time on the way back, which moves a bar of its own or calls the caller's function."""
    if callable(wanted):
        yield wanted
        return
    end = float(run.end["t"][0])
    with progress_bar(wanted, 0.0, end - float(run.t[0]), "s back") as report:
        gone = [0.0]

        def move(t: float) -> None:
            gone[0] = max(gone[0], end - t)  # segments are taken once more on the way
            report(gone[0])  # type: ignore[misc]

        yield None if report is None else move


def _values(output: Output, run: Trajectory) -> Array:
    values = output.of(run)
    if values.shape[:1] != run.t.shape:
        raise ValueError(f"outputs: {output} has no value for each state")
    return values


def _cost(cost: Cost, run: Trajectory, outputs: list[Output], values: list[Array]) -> tuple[float, list[Array]]:
    """What the cost function returns, checked."""
    found = cost(run.t, *(array.copy() for array in values))
    if not isinstance(found, tuple) or len(found) != 2:
        raise ValueError(f"cost: a pair (value, derivatives) expected, got {shown(found)}")
    value, derivatives = found
    if np.ndim(value) or np.asarray(value).dtype.kind not in "iuf" or not np.isfinite(value):
        raise ValueError(f"cost: a finite number expected as value, got {shown(value)}")
    if len(outputs) == 1 and isinstance(derivatives, np.ndarray) and derivatives.shape == values[0].shape:
        derivatives = [derivatives]
    if not isinstance(derivatives, Sequence) or len(derivatives) != len(outputs):
        raise ValueError(
            f"cost: a list of {len(outputs)} arrays of derivatives expected, one for each output, got "
            f"{shown(derivatives)}"
        )
    return float(value), [_weights(*each) for each in zip(outputs, values, derivatives, strict=True)]


def _weights(output: Output, values: Array, given: Any) -> Array:
    weights = np.asarray(given)
    if weights.dtype.kind not in "iuf":
        raise ValueError(f"cost: real derivatives by {output} expected, got {shown(given)}")
    weights = weights.astype(float)
    if weights.shape != values.shape:
        raise ValueError(
            f"cost: derivatives by {output} of shape {values.shape} expected, as its values have, got an array of "
            f"shape {weights.shape}"
        )
    if not np.isfinite(weights).all():
        raise ValueError(f"cost: finite derivatives by {output} expected")
    return weights
