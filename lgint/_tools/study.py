"""`study` and `compare`: errors, observed orders and costs of methods over lists of step sizes or tolerances."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, TypeGuard

import numpy as np

from lgint._args import Array, choice, flag, for_each, functions_by_name, number, shown
from lgint._core import IntegrationError, Interrupted
from lgint._model.names import Method
from lgint._model.system import System
from lgint._run.integrate import count, integrate, method_info
from lgint._run.progress import progress_bar
from lgint._run.trajectory import Trajectory
from lgint._tools.differences import differences, indices, rows, same_space
from lgint._tools.drifts import Invariants, deviations, kind_of_energy, one_kind, quantities
from lgint._tools.results import Comparison, Study

Observables = Mapping[str, Callable[[Trajectory], Any]]
Reference = Trajectory | Mapping[str, Any] | None


def study(
    model: System,
    method: Method,
    steps: Sequence[float] | None = None,
    *,
    t_end: float,
    tolerances: Sequence[float | Mapping[str, Any]] | None = None,
    reference: Reference = None,
    maximum: bool = False,
    observables: Observables | None = None,
    invariants: Invariants = (),
    repeats: int = 1,
    failures: str = "raise",
    progress: bool | Callable[[float], None] = False,
    **options: Any,
) -> Study:
    """Integrates with every step size, or every tolerance, and compares the runs with a reference.

    Parameters
    ----------
    model : Model, CallableModel or LagrangianModel
        The model.
    method : str
        One of `lgint.methods()`.
    steps : sequence of float
        At least two step sizes, s.
    t_end : float
        End of the runs, s.
    tolerances : sequence
        Instead of steps, for methods with error control: at least two relative tolerances, which are also the absolute
        ones unless `atol` is given; or mappings of options, such as
        ``{"rtol": 1e-6, "atol": 1e-8, "max_step": 0.1}``.
    reference : Trajectory or mapping, optional
        A more accurate run of the same model to `t_end`, by any method and step size, in any formulation of the bodies.
        A mapping holds arguments of `lgint.integrate` for it, such as ``{"method": "rk67", "h": 1e-4}``; what it does
        not name, including `model`, is taken from the study. Default: the same method with an eighth of the smallest
        step.
    maximum : bool
        Also find the largest errors over the run: at multiples of the largest step, at most a thousand of them, or for
        runs with error control at 200 times, at which the solution is interpolated.
    observables : mapping, optional
        Functions of a trajectory by name, with a number or a vector for each of its states, whose errors are found as
        well: for example ``{"tip": lambda run: run.position("top")}``.
    invariants : sequence or mapping
        Quantities whose drift is found, as in `lgint.drift`; "energy" stands for the same kind in all studies of
        `compare`.
    repeats : int
        How many times each run is made; the least processor time is kept.
    failures : {"raise", "keep"}
        "keep": a run that fails leaves NaN instead of its errors, and its message in `failures`.
    progress : bool or function
        True: show a bar for the runs, including the reference, on standard error. A function is called with the number
        of runs that are done.
    **options
        Options of the method.

    Returns
    -------
    Study
        `print` it for a table, `plot` it, or read the observed orders and their `asymptotic` range.

    Raises
    ------
    ValueError
        For fewer than two steps, error control with steps, a reference with other bodies, and runs that do not reach
        `t_end`.
    Interrupted
        At Ctrl-C, with the study of the runs that are done as `trajectory`; errors are NaN if the reference had yet to
        be made.
    """
    choice("failures", failures, ("raise", "keep"))
    watched = {} if observables is None else functions_by_name("observables", observables)
    chosen, maximum, t_end = quantities(invariants), flag("maximum", maximum), number("t_end", t_end)
    _check_reference(reference)
    cases = _cases(steps, tolerances, options)
    times = _times(cases, t_end, options, wanted=maximum)
    kept: dict[str, Any] = {"save_every": _LAST} if steps is not None or not chosen else {}
    kept |= {} if times is None else {"t_eval": times}
    count("repeats", repeats)
    runs: list[_Run] = []

    def watch(case: Mapping[str, Any]) -> dict[str, Any]:
        """The times of invariants: the start and the ends of the run's own steps, as p is interpolated in between."""
        at = _times(cases if maximum else [case], t_end, options, wanted=bool(chosen and kept))
        return {} if at is None else {"t_eval": np.append(options.get("t0", 0.0), at)}

    def found(best: Trajectory | None) -> Study:
        compared = times if maximum else None
        errors = [{} if one.failure or not best else _errors(one.run, best, compared, watched) for one in runs]
        if not any(errors):
            errors = [dict.fromkeys(("q", "v", *watched), np.array([math.nan]))] * len(runs)
        kind = kind_of_energy(chosen, (one.run for one in runs))
        drifts = [{} if one.failure else deviations(one.run, chosen, kind) for one in runs]
        rtol = None if tolerances is None else np.array([float(np.max(case["rtol"])) for case in cases[: len(runs)]])
        return _study(method, options, [*zip(cases, runs, strict=False)], rtol, errors, drifts, kind, maximum)

    try:
        with progress_bar(progress, 0, len(cases) + 1, "runs") as move:
            for case in cases:
                runs.append(
                    _run(model, method, {"t_end": t_end, **kept, **watch(case), **case}, repeats, failures, t_end)
                )
                if move:
                    move(len(runs))
            best = _reference(reference, model, method, {"t_end": t_end, **kept, **cases[-1]}, cases)
    except KeyboardInterrupt as error:
        given = reference if isinstance(reference, Trajectory) else None
        raise _interrupted(error, found(given) if runs else None, len(runs), len(cases)) from None
    _check_end("reference", best, t_end)
    return found(best)


def _study(
    method: str,
    options: Mapping[str, Any],
    runs: Sequence[tuple[Mapping[str, Any], _Run]],
    rtol: Array | None,
    errors: Sequence[Mapping[str, Array]],
    drifts: Sequence[Mapping[str, Array]],
    energy_kind: str | None,
    maximum: bool,
) -> Study:
    return Study(
        method,
        dict(options),
        method_info(method)["order"],
        h=np.array([_step_of(case, one.run) for case, one in runs]),
        errors=_collected(errors, lambda values: values[-1]),
        trajectories=tuple(one.run for _, one in runs),
        tolerance=rtol,
        maxima=_collected(errors, np.max) if maximum else {},
        drifts=_collected(drifts, np.max),
        seconds=np.array([one.seconds for _, one in runs]),
        failures={i: one.failure for i, (_, one) in enumerate(runs) if one.failure},
        energy_kind=energy_kind,
    )


def _interrupted(error: KeyboardInterrupt, so_far: Study | None, done: int, wanted: int) -> Interrupted:
    """The exception for Ctrl-C: it holds the study of the runs that are done."""
    runs = f"{done} of {wanted} runs of the study are done and in the `trajectory` of this exception"
    interrupted = Interrupted(f"Ctrl-C: {runs}; continue with the other steps or tolerances")
    interrupted.report = getattr(error, "report", None) or {"status": "Interrupted", "done": done, "runs": wanted}
    interrupted.trajectory = so_far
    return interrupted


def compare(
    settings: Mapping[str, str | Mapping[str, Any]], *, reference: Reference = None, **common: Any
) -> Comparison:
    """Studies of several methods, settings or formulations, against one reference.

    Parameters
    ----------
    settings : mapping
        For each label the arguments of `lgint.study` that differ from the common ones (a string is a method): for
        example ``{"rk44": "rk44", "damped": {"method": "genalpha", "rho_inf": 0.5}}``.
    reference : Trajectory or mapping, optional
        The reference of all studies, as in `lgint.study`. The run that a mapping describes is made once; it needs a
        method, and a model unless all settings have the same.
    **common
        Arguments of `lgint.study` for all settings that do not have their own, such as model, steps and t_end.

    Returns
    -------
    Comparison
        `print` it for a table, or `plot` it.

    Raises
    ------
    ValueError
        Without any setting, and for a reference without a model if each setting has its own. With
        ``failures="keep"`` a setting that does not suit the model leaves its message in `failures` of the comparison.
    Interrupted
        At Ctrl-C, with the studies so far as `trajectory`.
    """
    if not isinstance(settings, Mapping):
        raise ValueError(f"settings: arguments of lgint.study by labels expected, got {shown(settings)}")
    arguments = {label: _setting(label, own, common) for label, own in settings.items()}
    if not arguments:
        raise ValueError("settings: at least one setting expected, got none")
    _check_reference(reference)
    if isinstance(reference, Mapping):
        times = [_times_of(given) for given in arguments.values()]
        wanted = [t for t in times if t is not None]
        kept: dict[str, Any] = {"t_eval": np.unique(np.concatenate(wanted))} if wanted else {"save_every": _LAST}
        first = next(iter(arguments.values()))
        shared: dict[str, Any] = {
            name: first[name]
            for name in ("model", "t_end")
            if name in first and all(given.get(name) is first[name] for given in arguments.values())
        }
        shared |= {name: common[name] for name in ("model", "t_end") if name in common}
        if "model" not in {**shared, **reference}:
            raise ValueError("reference: a model is required, since each setting has its own")
        if "method" not in reference:
            raise ValueError("reference: a method is required, since each setting has its own")
        reference = integrate(**{**shared, **kept, **reference})
    return _compared(arguments, reference)


def _compared(arguments: Mapping[str, Mapping[str, Any]], reference: Reference) -> Comparison:
    """The comparison; if failures are kept, it leaves out studies that cannot be made, unless none can."""
    studies: dict[str, Study] = {}
    refused: dict[str, ValueError] = {}
    for label, given in arguments.items():
        try:
            studies[label] = study(reference=reference, **given)
        except ValueError as error:
            if given.get("failures") != "keep":
                raise
            refused[label] = error
        except Interrupted as error:
            last = {} if error.trajectory is None else {label: error.trajectory}
            error.trajectory = _comparison(studies | last)
            raise
    if not studies:
        raise next(iter(refused.values()))
    return _comparison(studies, {label: f"{error}" for label, error in refused.items()})


def _comparison(studies: Mapping[str, Study], failures: Mapping[str, str] | None = None) -> Comparison:
    """The comparison of studies, in which "energy" has one kind: the one that all conserve, or the total one."""
    kind = one_kind(study.energy_kind for study in studies.values() if study.energy_kind)
    return Comparison({label: _measured_by(kind, study) for label, study in studies.items()}, dict(failures or {}))


def _measured_by(kind: str, study: Study) -> Study:
    if study.energy_kind in (None, kind):
        return study
    runs = enumerate(study.trajectories)
    drifts = [{} if i in study.failures else deviations(run, {}, kind) for i, run in runs]
    return replace(study, drifts=study.drifts | _collected(drifts, np.max), energy_kind=kind)


def _setting(label: str, own: object, common: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments of the study of a setting."""
    if not isinstance(own, str) and not _is_of_arguments(own):
        raise ValueError(f"settings: {label!r}: a method, or arguments of lgint.study, expected, got {shown(own)}")
    given = {**common, **({"method": own} if isinstance(own, str) else own)}
    for name in ("model", "method", "t_end"):
        if name not in given:
            raise ValueError(f"{name}: required in settings[{label!r}], or for all settings")
    return given


def _is_of_arguments(value: object) -> TypeGuard[Mapping[str, Any]]:
    return isinstance(value, Mapping) and all(isinstance(name, str) for name in value)


def _check_reference(value: object) -> None:
    if not (value is None or isinstance(value, Trajectory) or _is_of_arguments(value)):
        raise ValueError(
            'reference: a trajectory, or arguments of lgint.integrate such as {"method": "rk67", "h": 1e-4}, expected, '
            f"got {shown(value)}"
        )


def _times_of(given: Mapping[str, Any]) -> Array | None:
    cases = _cases(given.get("steps"), given.get("tolerances"), {})
    return _times(cases, number("t_end", given["t_end"]), given, wanted=bool(given.get("maximum")))


# ---- the runs ----

_LAST = 10**9  # a save_every that keeps only the start and the end
_MOST = 1000  # largest number of times at which errors over a run are found, with steps
_ADAPTIVE = 200  # number of these times with error control


def _cases(
    steps: Sequence[float] | None, tolerances: Sequence[float | Mapping[str, Any]] | None, options: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """Step size and options of each run, or tolerances and options."""
    if (steps is None) == (tolerances is None):
        raise ValueError("steps: a list of step sizes, or `tolerances` instead, expected")
    if tolerances is not None:
        if not np.iterable(tolerances) or len(tolerances) < 2:
            raise ValueError(f"tolerances: a list of at least two expected, got {shown(tolerances)}")
        return [{**options, **_tolerances(entry, options)} for entry in tolerances]
    assert steps is not None
    if not np.iterable(steps):
        raise ValueError(f"steps: a list of step sizes expected, got {shown(steps)}")
    h = [number("steps", step, positive=True) for step in steps]
    if len(set(h)) < max(2, len(h)):
        raise ValueError(f"steps: at least two different step sizes expected, got {shown(h)}")
    if "h" in options:
        raise ValueError(f"h: the step sizes of a study are its `steps`; leave out h, got {shown(options['h'])}")
    _check_steps(options)
    return [{**options, "h": step} for step in h]


def _tolerances(entry: float | Mapping[str, Any], options: Mapping[str, Any]) -> dict[str, Any]:
    if isinstance(entry, Mapping):
        if entry.get("rtol") is None:
            raise ValueError(f"tolerances: every mapping needs rtol, got {dict(entry)}")
        return dict(entry)
    rtol = number("tolerances", entry, positive=True)
    return {"rtol": rtol, "atol": options.get("atol", rtol)}


def _check_steps(options: Mapping[str, Any]) -> None:
    """ValueError for options with which `h` is not the size of all steps."""
    for name in ("rtol", "atol"):
        if options.get(name) is not None and options.get("control") != "none":
            raise ValueError(
                f"{name}: a study compares fixed steps; with {name} the steps would follow the error "
                "(give `tolerances` instead of steps)"
            )


def _times(cases: Sequence[Mapping[str, Any]], t_end: float, options: Mapping[str, Any], wanted: bool) -> Array | None:
    """Times at which runs are compared, including the end: multiples of the largest step if steps are fixed."""
    if not wanted:
        return None
    t0 = number("t0", options.get("t0", 0.0))
    steps = [case["h"] for case in cases if "rtol" not in case and "h" in case]
    parts = max(1, math.ceil((t_end - t0) / max(steps) * (1 - 1e-12))) if steps else _ADAPTIVE
    every = math.ceil(parts / _MOST)
    chosen = np.unique(np.append(np.arange(every, parts + 1, every), parts))
    return np.asarray(t0 + (t_end - t0) * chosen / parts)


class _Run(NamedTuple):
    """A run, the least of its processor times, s, and the message of its failure, empty if it reached its end."""

    run: Trajectory
    seconds: float
    failure: str = ""


def _run(model: System, method: str, arguments: dict[str, Any], repeats: int, failures: str, t_end: float) -> _Run:
    seconds = math.inf
    try:
        for _ in range(repeats):
            begin = time.thread_time()
            run = integrate(model, method, **arguments)
            seconds = min(seconds, time.thread_time() - begin)
    except IntegrationError as error:
        if failures == "raise":
            raise
        return _Run(error.trajectory, math.nan, str(error))
    _check_end("events", run, t_end)
    return _Run(run, seconds)


def _step_of(case: Mapping[str, Any], run: Trajectory) -> float:
    """The size of a run's steps: the largest one if they are fixed, the mean if the method chose them."""
    if "rtol" in case and case.get("control") != "none":
        return float(run.end["t"][-1] - case.get("t0", 0.0)) / run.stats.steps if run.stats.steps else math.nan
    h = float(case["h"])
    return h if math.isclose(run.stats.h_used, h, rel_tol=1e-12) or not run.stats.steps else run.stats.h_used


def _reference(
    given: Reference,
    model: System,
    method: str,
    arguments: Mapping[str, Any],
    cases: Sequence[Mapping[str, Any]],
) -> Trajectory:
    """The run with which the others are compared: the given one, or one made as described."""
    if isinstance(given, Trajectory):
        return given
    if given is not None:
        kept = {name: arguments[name] for name in ("t_end", "t0", "t_eval", "save_every") if name in arguments}
        best: Trajectory = integrate(**{"model": model, "method": method, **kept, **given})
        return best
    steps = [case["h"] for case in cases if "h" in case]
    if not steps or "rtol" in cases[0]:
        raise ValueError('reference: a study of tolerances needs one, such as {"method": "rk67", "h": 1e-4}')
    return integrate(model, method, **{**arguments, "h": min(steps) / 8})


def _check_end(name: str, trajectory: Trajectory, t_end: float) -> None:
    end = trajectory.end["t"]
    if not len(end) or abs(end[-1] - t_end) > 1e-12 * abs(t_end):
        ended = f"this one ends at {end[-1]:g}" if len(end) else "this one has no state"
        raise ValueError(f"{name}: a run to t = {t_end:g} expected, {ended}")


# ---- their errors ----


def _errors(run: Trajectory, best: Trajectory, times: Array | None, observables: Observables) -> dict[str, Array]:
    """The error of each quantity at each of the given times, or at the end."""
    states, right = rows("runs", run, times), rows("reference", best, times)
    found = differences(run.model, best.model)(states, right)
    if same_space(run.model, best.model) and run.row_names == best.row_names:
        found["lam"] = states.lam - right.lam
    errors = {name: np.abs(error).max(axis=1) for name, error in found.items() if error.size}
    for name, function in observables.items():
        values, expected = (
            for_each(f"observables: {name!r}", function(one), len(one))[indices(who, one, times)]
            for who, one in (("runs", run), ("reference", best))
        )
        errors[name] = np.linalg.norm((values - expected).reshape(len(values), -1), axis=1)
    return errors


def _collected(runs: Sequence[Mapping[str, Array]], number_of: Callable[[Array], float]) -> dict[str, Array]:
    """One number for each quantity and each run, NaN for runs without that quantity."""
    names = dict.fromkeys(name for run in runs for name in run)
    return {
        name: np.array([float(number_of(run[name])) if name in run else math.nan for run in runs]) for name in names
    }
