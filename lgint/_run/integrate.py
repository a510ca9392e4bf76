"""`integrate`: runs of a model by a method."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from functools import partial
from os import PathLike
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import ArrayLike

from lgint import _core
from lgint._args import Array, array, choice, number, shown
from lgint._model import massless
from lgint._model.gradients import gradients_formed
from lgint._model.names import Method, MethodOptions
from lgint._model.system import System
from lgint._run import ensemble, log
from lgint._run.events import Event, Events
from lgint._run.grown import warn_of_angles, warn_of_rates
from lgint._run.info import MethodInfo
from lgint._run.keep import Keeper, Save, folder_of, keeper_of
from lgint._run.methods import ROWS
from lgint._run.misaligned import explain
from lgint._run.options import all_options, check_options, inherited, left_over, steps_of, takes_own_steps
from lgint._run.progress import progress_bar
from lgint._run.saltation import Saltation, inside_of
from lgint._run.sensitivity import names_of, parameters_of, slopes_of
from lgint._run.start import Start, start_of, start_option
from lgint._run.trajectory import SLOPES, Trajectory

if TYPE_CHECKING:
    from typing_extensions import Unpack

MOST = 2**31 - 1  # largest number of steps between two saved states


def methods() -> list[str]:
    """Names of the methods.

    Returns
    -------
    list of str
        What `integrate` takes as `method`.
    """
    return [*ROWS]


def method_info(name: Method) -> MethodInfo:
    """Describes a method.

    Parameters
    ----------
    name : str
        One of `methods()`.

    Returns
    -------
    dict
        "name", "order" (of q and v), "reference" (papers with equations), "doc", "options" (a list of dicts with name,
        type, default, range and meaning), the "tableau" of a Runge-Kutta method, and what the method needs. The dict
        prints as a table.

    Raises
    ------
    ValueError
        For an unknown name.
    """
    return MethodInfo(copy.deepcopy(ROWS[choice("method", name, ROWS)]))


@overload
def integrate(
    model: System,
    method: Method,
    *,
    t_end: float,
    h: float | None = ...,
    t0: float = ...,
    save_every: int = ...,
    t_eval: ArrayLike | None = ...,
    stops: ArrayLike | None = ...,
    events: Event | Sequence[Event] | None = ...,
    dense_output: bool = ...,
    start: Trajectory | str | None = ...,
    save: Save | None = ...,
    path: str | PathLike[str] | None = ...,
    progress: bool | Callable[[float], None] = ...,
    sensitivity: Sequence[str] | None = ...,
    **options: Unpack[MethodOptions],
) -> Trajectory: ...
@overload
def integrate(model: Sequence[System], method: Method, *, t_end: float, **arguments: Any) -> ensemble.Ensemble: ...
def integrate(
    model: System | Sequence[System],
    method: Method,
    *,
    t_end: float,
    h: float | None = None,
    t0: float = 0.0,
    save_every: int = 1,
    t_eval: ArrayLike | None = None,
    stops: ArrayLike | None = None,
    events: Event | Sequence[Event] | None = None,
    dense_output: bool = False,
    start: Trajectory | str | None = None,
    save: Save | None = None,
    path: str | PathLike[str] | None = None,
    progress: bool | Callable[[float], None] = False,
    sensitivity: Sequence[str] | None = None,
    **options: Any,
) -> Trajectory | ensemble.Ensemble:
    """Integrates a model from `t0` to `t_end`.

    Parameters
    ----------
    model : Model, CallableModel, LagrangianModel or a list of them
        The models of a list run one after the other in a single call of the core, without Python between the runs;
        `Model.variants` makes such lists from many values or starts. With `events`, `dense_output`, `save` or
        `sensitivity`, and for models of different sizes or of functions, Python loops over the runs. `path`, and a
        trajectory as `start`, are for single runs only.
    method : str
        One of `lgint.methods()`.
    t_end : float
        Later than `t0`, s.
    h : float
        Step size, s. Each interval between stops (`t0`, `stops`, the model's kinks, `t_end`) is cut into
        ceil(length / h) equal steps, so the steps taken are at most `h`. With adaptive steps, `h` is the first step
        and may be omitted.
    t0 : float
        Start time, s. With `start` the run continues from the end of that trajectory instead.
    save_every : int
        Every `save_every`-th step is kept, and always the start and the end.
    t_eval : array_like, optional
        Ascending times from the start to `t_end` whose states are kept instead. They are taken from dense output, so
        that the steps do not depend on them.
    stops : array_like, optional
        Times between `t0` and `t_end` at which a step ends.
    events : function or sequence of functions, optional
        event(t, q, v) -> float, with read-only arrays; or event(state) -> float with a `State`, for a function with
        exactly one positional parameter: it has `position`, `joint_angle` and all other accessors, but no `vdot`, `lam`
        and what follows from these, such as `reaction`. Where a value changes sign, the event is located on the dense
        output, to round-off, and recorded in `t_events`, `q_events` and `v_events`. Functions may have attributes, as
        in SciPy's `solve_ivp`: `terminal`, True or the number of events of this function that ends the run; and
        `direction`: if it is positive, only zeros with rising values count, if negative, only those with falling ones.
        The attribute `action` is a function that is called with the `State` at the event and returns the one with which
        the run goes on, such as `state.after_impact(...)`; both are rows of the trajectory, with the same time.
        A run that an event ends has the state of the dense output there, projected onto the constraints, with
        accelerations and multipliers of the index-1 equations; it can be resumed.
    dense_output : bool
        Keep the data that `trajectory.sol` needs.
    start : Trajectory or str, optional
        Resume this run from its last state and with its memory, bit for bit, wherever it ended. The model must have
        the same bodies, joints and formulations. If its parameters differ from those of the run, accelerations and
        multipliers jump as at a kink, and the state may violate its constraints by at most 1e-8 more than those of the
        run's own model. Options that are not given are inherited from that run, except for its error control if the
        call gives `h` alone. Options that affect the meaning of multipliers cannot change. A string is the option
        `start` of methods that have one.
    save : list of str, or dict of functions, optional
        What is kept of the states besides `t`, `h` and `error`: some of "q", "v", "vdot", "lam", "mem", and "p" for
        methods that carry momenta. Or quantities by name: functions of a trajectory that return an array with a value
        for each of its states; they are called with the states in portions, and `trajectory.saved` has the results.
        Default: all states.
    path : path, optional
        A folder to which the states are written during the run, so that it needs a constant amount of memory. The
        arrays of the trajectory then stay on the disk; `lgint.load` reads the folder, also during the run and after it
        was killed. No other run can use the folder during the run. The same call with the same folder resumes the run,
        bit for bit, or returns its result if it has ended; options that the call leaves out are inherited from the
        folder's run. An option that contradicts that run is refused by name, since the states of a folder belong to
        one run; only `newton` may change, which only affects the amount of work. Functions of the model, of `events`
        and of `save` are the same if they have the same code and values (constants, defaults, what they capture, the
        globals and `module.c` that they name), whatever file they are in; a folder with different functions is
        refused. It cannot be combined with `dense_output`, which keeps every step in memory.
    progress : bool or function
        True: show a progress bar on standard error (with tqdm, if it is installed). A function is called about every
        50 ms with the time, or for an ensemble with the number of runs done; if it raises, the run ends.
    sensitivity : list of str, optional
        Names of parameters, of `model.values` or of its start, by which every state is differentiated:
        `trajectory.sensitivity` has the derivatives of the states, and `trajectory.derivative` those of any accessor.
        They are the exact derivatives of the steps taken, at fixed step sizes; see the page on gradients. Newton's
        method solves such steps more tightly. A run that resumes one with sensitivities goes on with them,
        and functions of `save` may use them. They continue through events with actions.
    **options
        Options of the method; see `lgint.method_info`. With `rtol` or `atol` (numbers, arrays of length nv for
        coordinates and velocities alike, or arrays of length 2 nv, coordinates first) a method that has them chooses
        its steps; with `control="none"` it keeps `h` and only records the error of each step in `trajectory.error`.

    Returns
    -------
    Trajectory or Ensemble
        An ensemble of trajectories for a sequence of models; its `errors` holds the exceptions of its runs.

    Raises
    ------
    ValueError
        For mistakes found before the run: unknown methods and options, values out of range, an inconsistent start.
    ConvergenceError, SingularError, StepSizeError, Interrupted
        During the run, with `.report` and the `.trajectory` up to the last accepted state.

    A warning names the body and the time if Tait-Bryan angles have come near their singularity, where the cosine of the
    middle angle is below 1e-2.

    An exception in a function of the model or in an event reaches the caller unchanged, with the same two attributes.
    """
    choice("method", method, methods())
    check_options(method, options, integrate)
    start = start_option(start, options)
    end = number("t_end", t_end)
    landings = None if stops is None else np.unique(times_of("stops", stops))
    every = count("save_every", save_every)
    wanted = None if t_eval is None else times_of("t_eval", t_eval)
    if not isinstance(model, System):
        models = _models(model, start=start, path=path)
        step, given = steps_of(method, h, options, {})
        schedule = (end, step, every, wanted, landings, dense_output)
        chosen = all_options(method, options, {})
        with progress_bar(progress, 0, len(models), "run") as move:
            return _together(models, method, chosen, number("t0", t0), given, schedule, move, events, save, sensitivity)

    state = start_of(model, method, t0, start, all_options(method, options, {}))
    kept = inherited(start, options, own_steps=takes_own_steps(start, h, options))
    if path is not None:
        _refuse_dense_output(dense_output)
    names = names_of(sensitivity, start)
    own = None if start is None else {"t": state.t, "q": state.q, "v": state.v}
    plan = {"t0": t0, "t_end": end, "h": h, "save_every": every, "t_eval": wanted, "stops": landings, "start": own}
    asked = {**plan, "sensitivity": None if names is None else [*parameters_of(names)]}
    with folder_of(path, model, method, options, kept, asked, events, save) as (folder, known):
        if known is not None and known.status >= 0:
            return known
        if known is not None:
            state, names = start_of(model, method, t0, known), names_of(names, known)
        if folder is not None and folder.options:
            kept = left_over(method, folder.options, options)
        wanted = _after(wanted, known)
        chosen = all_options(method, options, kept)
        watch = None if events is None else Events(model, events, known, start)
        skip = known is not None and wanted is None
        keeper = keeper_of(model, method, chosen, save, folder, skip, watch, names or ())
        step, given = steps_of(method, h, options, kept)
        schedule = (end, step, every, wanted, landings, dense_output)
        with progress_bar(progress, state.t, end, "s") as report:
            begin = state.inheriting(kept)
            return _run(model, method, chosen, begin, given, schedule, report, watch, keeper, names=names)


def _together(
    models: list[System],
    method: str,
    options: dict[str, Any],
    begin: float,
    given: dict[str, Any],
    schedule: tuple[Any, ...],
    move: Callable[[float], None] | None,
    events: Event | Sequence[Event] | None,
    save: Save | None,
    names: Sequence[str] | None,
) -> ensemble.Ensemble:
    """Runs an ensemble in a single call of the core, or run by run if Python has something to do in each run."""
    *times, dense = schedule
    if events is None and save is None and names is None and not dense and ensemble.loops_in_core(models):
        end, step, every, *rest = times
        whole = None if move is None else lambda done: move(int(done))
        return ensemble.run(models, method, options, begin, end, step, every, given, whole, *rest)

    def single(model: System, report: Callable[[float], None] | None, others: int) -> Trajectory:
        watch = None if events is None else Events(model, events)
        keeper = keeper_of(model, method, options, save, parameters=names or ())
        start = start_of(model, method, begin, None, options)
        return _run(model, method, options, start, given, schedule, report, watch, keeper, others, names)

    return ensemble.one_by_one(models, method, options, single, move)


def _run(
    model: System,
    method: str,
    options: dict[str, Any],
    start: Start,
    given: dict[str, Any],
    schedule: tuple[Any, ...],
    report: Callable[[float], None] | None,
    watch: Events | None,
    keeper: Keeper | None,
    others: int = 0,
    names: Sequence[str] | None = None,
) -> Trajectory:
    """Runs a model in the core; exceptions have the trajectory so far. `others` runs of the same size will follow."""
    end, step, every, wanted, landings, dense = schedule
    on_step = watch.on_step if watch else None
    on_stop = watch.on_stop if watch and watch.acts else None
    knots = _needs_knots(schedule, names is not None, on_stop is not None, keeper is not None)
    on_rows, room, kept = (keeper.take, keeper.room(model), keeper.kept(model)) if keeper else (None, 0, 0)
    ends = watch is not None and watch.may_end
    core, given_start, slopes = (model.core, start, None) if names is None else slopes_of(model, names, start)
    begin, q, v, memory = given_start
    if watch is not None and names is not None:
        watch.differentiate(Saltation(model, parameters_of(names), inside_of(method, options)))  # type: ignore[arg-type]
    arguments = core, method, begin, end, step, every, q, v, memory, given, report
    further = wanted, on_step, knots, landings, on_rows, room, ends, kept, others, on_stop, slopes
    compiled: dict[str, Any] = {"watch": watch.compiled} if watch and watch.compiled is not None else {}
    formed = gradients_formed()
    result: dict[str, Any] = {}
    found = partial(_trajectory, model, method, options, watch=watch, keeper=keeper, names=names, dense=dense)
    log.begins(method, begin, end)
    try:
        result = _core.integrate(*arguments, *further, **compiled)
        _count_gradients(result, formed)
        run = found(result)
    except BaseException as error:
        so_far = result or getattr(error, "result", None)
        if isinstance(so_far, dict):
            _count_gradients(so_far, formed)
            error.trajectory = found(so_far, failed=True)  # type: ignore[attr-defined]
            explain(error, model, so_far["end"])
        massless.explain(error, model)
        log.fails(method, error)
        raise
    warn_of_angles([result])
    warn_of_rates(method, [result])
    log.ends(method, run)
    return run


def times_of(name: str, given: ArrayLike) -> Array:
    """The argument `name`, which is a list of times, or a single one."""
    times = np.atleast_1d(array(name, given))
    if times.ndim > 1:
        raise ValueError(f"{name}: a list of times expected, got an array of shape {times.shape}")
    return times


def _refuse_dense_output(wanted: bool) -> None:
    if wanted:
        raise ValueError(
            "dense_output: it keeps both ends of every step in memory, and path is for runs that are too long for "
            "that; give the times you need as t_eval, or leave out path"
        )


def _needs_knots(schedule: tuple[Any, ...], slopes: bool, jumps: bool, keeps: bool) -> bool:
    """Whether a run keeps both ends of its steps: for dense output, or for derivatives at times of t_eval."""
    *_, wanted, _, dense = schedule
    inside = slopes and wanted is not None
    if dense and jumps:
        raise ValueError("dense_output: an action makes the state jump, which it cannot show; give times as t_eval")
    if inside and (jumps or keeps):
        why = "an action makes the state jump" if jumps else "it follows from all steps, which `save` and `path` let go"
        raise ValueError(f"t_eval: derivatives are known at steps only, since {why}; give the times as stops")
    return dense or inside


def _after(wanted: Array | None, known: Trajectory | None) -> Array | None:
    """The times of t_eval that a resumed run has not saved yet."""
    if wanted is None or known is None or not len(known):
        return wanted
    left: Array = wanted[wanted > known.t[-1]]
    return left


def _models(models: Sequence[System], **refused: object) -> list[System]:
    """The models of an ensemble; ValueError for anything else, and for arguments that belong to one run."""
    if not isinstance(models, (list, tuple)):
        raise ValueError(f"model: a model, or a list of models, expected, got {shown(models)}")
    if not models:
        raise ValueError("model: a model, or a list of at least one model, expected, got an empty list")
    for i, model in enumerate(models):
        if not isinstance(model, System):
            raise ValueError(f"model: a model, or a list of models, expected; item {i} of the list is {shown(model)}")
    for name, value in refused.items():
        if value is not None:
            raise ValueError(
                f"{name}: it is for single runs, but a list of models was given; integrate them one by one"
            )
    return list(models)


def _count_gradients(result: dict[str, Any], before: int) -> None:
    result["stats"]["gradients_formed"] = gradients_formed() - before


def _trajectory(
    model: System,
    method: str,
    options: dict[str, Any],
    result: dict[str, Any],
    *,
    watch: Events | None,
    keeper: Keeper | None,
    names: Sequence[str] | None,
    dense: bool,
    failed: bool = False,
) -> Trajectory:
    status = -1 if failed else int(watch is not None and watch.ended)
    if keeper:
        result = keeper.complete(result, status)
    result["status"] = status
    if names is not None:
        result["parameters"] = [*parameters_of(names)]
    if watch:
        result["events"] = watch.columns()
    run = Trajectory(model, method, options, result)
    if names is not None and SLOPES not in result:
        run._add_slopes()
        run.sol = run.sol if dense else None
    return run


def count(name: str, value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not 1 <= value <= MOST:
        raise ValueError(f"{name}: a whole number from 1 to {MOST} expected, got {shown(value)}")
    return int(value)
