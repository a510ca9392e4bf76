"""`sweep`: many runs over parameters, whose observed values become a labelled data set."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from os import PathLike
from typing import TYPE_CHECKING, Any

from lgint._args import choice, shown, warn
from lgint._core import Interrupted
from lgint._model.model import Model
from lgint._model.names import Method
from lgint._model.system import System
from lgint._run.integrate import count
from lgint._run.progress import progress_bar
from lgint._sweep.dataset import dataset, import_xarray
from lgint._sweep.job import FAILURES, Job, Observable, Outcome
from lgint._sweep.keys import about, run_keys, title_of
from lgint._sweep.runs import Runs, runs_of
from lgint._sweep.units import units_of
from lgint._version import VERSION

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from xarray import Dataset

    from lgint._sweep.store import Store


def sweep(
    model: Callable[..., System] | System,
    parameters: Mapping[str, Iterable[Any]] | Iterable[Mapping[str, Any]],
    method: Method | None = None,
    observables: Mapping[str, Observable] | None = None,
    *,
    executor: Executor | None = None,
    workers: int | None = None,
    path: str | PathLike[str] | None = None,
    progress: bool = False,
    units: Mapping[str, str] | None = None,
    **arguments: Any,
) -> Dataset:
    """Integrates a model for many values of its parameters and returns the observed values as a labelled data set.

    Parameters
    ----------
    model : function or Model, CallableModel or LagrangianModel
        A function that makes a model, such as those of `lgint.models`, called with its parameters as keywords; or a
        model, whose parameters are those of `with_parameters`, such as "arm.mass".
    parameters : dict of lists, or list of dicts
        A dict is a grid of all combinations of its values; each parameter is a dimension of the result. A list, such as
        `lgint.sample` draws, holds single runs along the dimension "run". Names are parameters of the model, arguments
        of `integrate` ("h", "t_end", ...), options of the method, or "method". The list of a grid may be replaced by a
        dict of values by name, whose names become labels: ``{"events": {"low": f, "high": g}}``.
    method : str, optional
        One of `lgint.methods()`; it may be left out if it is among the parameters.
    observables : dict of functions
        By name: functions of a trajectory that return a number or an array of numbers. They are called after all runs
        of a portion are done. A function may have an attribute `units`.
    executor : concurrent.futures.Executor, optional
        Where the runs take place: threads, processes, `dask.distributed` (``client.get_executor()``), mpi4py
        (``MPIPoolExecutor``), ... Default: a thread for each processor for models whose runs do not call Python,
        and a process for each processor for all others.
    workers : int, optional
        How many tasks the executor works on at the same time; by default the executor says so.
    path : path, optional
        A file (an SQLite database) to which every portion of finished runs is written. The same call with the same file
        does only what is missing, whatever ended the earlier call. Functions are the same if they have the same code
        and values, including the globals and the `module.c` that they name; objects are the same if pickle stores the
        same for them. What cannot be pickled needs a name among the parameters; an observable has one.
    progress : bool
        Show a progress bar on standard error.
    units : dict of str, optional
        Units of observables and parameters, in addition to those that are known.
    **arguments
        What is the same in all runs: parameters of the model, arguments of `integrate`, options of the method.

    Returns
    -------
    xarray.Dataset
        A variable for each observable along the dimensions of the sweep, and along further axes "<name>_axis" if it is
        an array; the parameters are coordinates. A dimension whose values cannot be labels, such as vectors, has
        integer labels, and its values are the coordinate "<name>_value". Units are attributes. A failed run has NaN,
        and its `report` says why it failed; there is a warning if all runs failed.

    Raises
    ------
    Interrupted
        At Ctrl-C, without waiting for runs. Like any exception that ends a sweep, it has the data set so far as
        `trajectory`, in which the report of unfinished runs is "not done".
    ImportError
        If xarray is not installed: ``pip install 'lgint[sweep]'``.
    ValueError
        For mistakes found before the first run, a file that belongs to another sweep, and, with `path`, values that
        need names. Runs that fail, also with a ValueError of the model or of an observable, do not raise.
    """
    import_xarray()
    _check_arguments(model, observables, executor, workers, units)
    runs = runs_of(parameters)
    fixed = {**({} if method is None else {"method": method}), **arguments}
    _check_names(runs, fixed, observables or {})
    job = Job(model, fixed, dict(observables or {}))
    for name in units or {}:
        choice("observable or parameter", name, [*job.observables, *runs.names])
    job.check(runs.parameters[0])
    said = {name: function.units for name, function in job.observables.items() if hasattr(function, "units")}
    known = units_of(model, runs.names, units or {}) | said | dict(units or {})
    keys = [f"{i}" for i in range(len(runs.parameters))] if path is None else run_keys(runs)
    from lgint._sweep.store import Store  # with SQLite

    with Store(path, lambda: about(job, runs)) as store:

        def data() -> Dataset:
            return dataset(runs, [store[key] for key in keys], [*job.observables], known, _attributes(job))

        try:
            _fill(store, keys, job, runs, executor, workers, progress)
        except KeyboardInterrupt:
            raise _interrupted(data(), sum(key in store for key in keys), path) from None
        except BaseException as error:
            with suppress(ValueError):  # the data set cannot be made either
                error.trajectory = data()  # type: ignore[attr-defined]
            raise
        found = data()
    if found.report.values.all():
        warn(f"all {found.report.size} runs failed, the first one with: {found.report.values.flat[0]}")
    return found


def _interrupted(data: Dataset, done: int, path: str | PathLike[str] | None) -> Interrupted:
    """The exception for Ctrl-C: it holds the data set so far, and says how to continue."""
    advice = "the same call does the others" if path is not None else "with path=, finished runs are kept in a file"
    runs = f"{done} of {data.report.size} runs are done and in the `trajectory` of this exception"
    error = Interrupted(f"Ctrl-C: {runs}; {advice}")
    error.report = {"status": "Interrupted", "done": done, "runs": data.report.size}
    error.trajectory = data
    return error


def _check_arguments(model: object, observables: object, executor: object, workers: object, units: object) -> None:
    """ValueError for arguments of a wrong kind."""
    if not (isinstance(model, System) or callable(model)):
        raise ValueError(f"model: a model, or a function that returns one, expected, got {shown(model)}")
    if not (isinstance(observables, Mapping) and all(isinstance(name, str) for name in observables)):
        raise ValueError(f"observables: functions of a trajectory by name expected, got {shown(observables)}")
    if not (executor is None or hasattr(executor, "submit")):
        raise ValueError(
            f"executor: an executor with the interface of concurrent.futures expected, got {shown(executor)}"
        )
    if workers is not None:
        count("workers", workers)
    if not (units is None or (isinstance(units, Mapping) and all(isinstance(unit, str) for unit in units.values()))):
        raise ValueError(f"units: strings by the names of observables and parameters expected, got {shown(units)}")


def _check_names(runs: Runs, fixed: Mapping[str, Any], observables: Mapping[str, Observable]) -> None:
    for name in runs.names:
        if name in fixed:
            raise ValueError(f"{name}: given twice, as a parameter that varies and as an argument")
    if not observables:
        raise ValueError("observables: at least one function of a trajectory, by name, expected")
    for name, function in observables.items():
        if not callable(function):
            raise ValueError(f"observables: {name!r} is not a function: {shown(function)}")
        if name in runs.coordinates or name == "report":
            raise ValueError(f"observables: {name!r} is the name of a parameter or of the reports; choose another")


def _fill(
    store: Store,
    keys: Sequence[str],
    job: Job,
    runs: Runs,
    executor: Executor | None,
    workers: int | None,
    progress: bool,
) -> None:
    """Does the runs that the store does not have."""
    from lgint._sweep.execute import execute  # with executors

    missing = {key: run for key, run in zip(keys, runs.parameters, strict=True) if key not in store}
    left = [*missing]
    if not left:
        return
    with progress_bar(progress, 0, len(left), "runs") as move:
        finished = 0

        def take(numbers: Sequence[int], outcomes: list[Outcome]) -> None:
            nonlocal finished
            store.add({left[i]: outcome for i, outcome in zip(numbers, outcomes, strict=True)})
            finished += len(numbers)
            if move:
                move(finished)

        threads = executor is None and _in_threads(job, runs)
        execute(job, [*missing.values()], executor, threads, workers, take)


def _in_threads(job: Job, runs: Runs) -> bool:
    """Whether runs release the GIL: the first model that can be made is compiled and calls no Python functions."""
    events = job.arguments(runs.parameters[0]).get("events")
    for run in runs.parameters:
        try:
            model = job.model(run)
        except FAILURES:
            continue
        return isinstance(model, Model) and not model.core.needs_gil and not events
    return True


def _attributes(job: Job) -> dict[str, str]:
    return {
        "model": title_of(job.source),
        "arguments": ", ".join(f"{name}={value!r}" for name, value in job.fixed.items()),
        "lgint": VERSION,
    }
