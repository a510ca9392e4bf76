"""study and compare: errors, observed orders and costs of methods over lists of step sizes or tolerances."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from lgint import _html
from lgint._args import Array, choice, number
from lgint._core import IntegrationError
from lgint._model.model import System
from lgint._run.integrate import count, integrate, method_info
from lgint._run.trajectory import Trajectory
from lgint._tools import tables
from lgint._tools.differences import differences, places, rows, same_space
from lgint._tools.drifts import Invariants, deviations
from lgint._tools.orders import Asymptotic, asymptotic, between

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from pandas import DataFrame

    from lgint._tools.convergence import Curve

Observables = Mapping[str, Callable[[Trajectory], Any]]
Reference = Trajectory | Mapping[str, Any] | None
ABSCISSAE = {"h": "h / s", "steps": "steps", "seconds": "processor time / s", "tolerance": "rtol"}


@dataclass(frozen=True, repr=False)
class Study:
    """Errors, observed orders and costs of one method with several step sizes or tolerances.

    Attributes
    ----------
    method : str
        Name of the method.
    options : dict
        Its options.
    order : int
        What the method promises for q, v and the multipliers.
    h : ndarray, shape (n,)
        Step sizes, s; of runs with error control their mean.
    tolerance : ndarray, shape (n,), or None
        The relative tolerances of runs with error control.
    errors : dict of ndarray, shape (n,)
        At the end of the runs. Largest component of the error of "q" (in local coordinates), "v" and "lam". If the
        reference stores its bodies otherwise, "q" is their position and rotation vector, m and rad, and "v" their
        inertial velocity and angular velocity in body axes; "lam" is there only if formulations and rows are the same.
        By their names the Euclidean norms of the errors of observables. NaN for runs that failed.
    maxima : dict of ndarray, shape (n,)
        The largest such error over the run, if it was asked for.
    drifts : dict of ndarray, shape (n,)
        How far each invariant moved away at most over the run.
    seconds : ndarray, shape (n,)
        Processor time of the runs, s.
    trajectories : tuple of Trajectory
        Of a run that failed what was computed.
    failures : dict of int to str
        Place of each run that failed, and its message.
    """

    method: str
    options: dict[str, Any]
    order: int
    h: Array
    errors: dict[str, Array]
    trajectories: tuple[Trajectory, ...]
    tolerance: Array | None = None
    maxima: dict[str, Array] = field(default_factory=dict)
    drifts: dict[str, Array] = field(default_factory=dict)
    seconds: Array = field(default_factory=lambda: np.empty(0))
    failures: dict[int, str] = field(default_factory=dict)

    @property
    def orders(self) -> dict[str, Array]:
        """Observed orders (n - 1,) between neighbours: log of the ratio of errors over log of the ratio of steps."""
        return {name: between(self.h, error) for name, error in self.errors.items()}

    @property
    def asymptotic(self) -> dict[str, Asymptotic]:
        """The order (`.order`) of each quantity in its asymptotic range, and the step sizes of that range (`.h`)."""
        return {name: asymptotic(self.h, error) for name, error in self.errors.items()}

    @property
    def steps(self) -> Array:
        """Steps (n,) that the runs took."""
        return np.array([run.stats.steps for run in self.trajectories])

    @property
    def newton_iterations(self) -> Array:
        """Mean number of Newton iterations (n,) per step."""
        return np.array([run.stats.newton_iterations / max(run.stats.steps, 1) for run in self.trajectories])

    def __str__(self) -> str:
        return tables.text(self._caption(), self._head(), self._rows())

    def __repr__(self) -> str:
        return f"<lgint.Study {self._title()}: h = {self.h[0]:.3g} ... {self.h[-1]:.3g}>"

    def _repr_html_(self) -> str:
        return _html.table(self._caption(), self._head(), self._rows())

    def _title(self) -> str:
        shown = ", ".join(f"{key}={value}" for key, value in self.options.items())
        return f"{self.method}({shown}), order {self.order}"

    def _caption(self) -> str:
        found = [f"{name} {order}" for name, order in self.asymptotic.items() if len(order.h)]
        return self._title() + ("; observed " if found else "") + ", ".join(found)

    def _head(self) -> list[str]:
        head = ["h"] if self.tolerance is None else ["rtol"]
        for name in self.errors:
            head += [f"error in {name}", "order"] + ([f"most in {name}"] if name in self.maxima else [])
        return [*head, *(f"drift of {name}" for name in self.drifts), "steps", "time / s"]

    def _rows(self) -> list[list[str]]:
        first = self.h if self.tolerance is None else self.tolerance
        return [[f"{value:.3g}", *self._cells(i)] for i, value in enumerate(first)]

    def _cells(self, i: int) -> Iterator[str]:
        for name, orders in self.orders.items():
            yield f"{self.errors[name][i]:.3e}"
            yield f"{orders[i - 1]:.2f}" if i else ""
            if name in self.maxima:
                yield f"{self.maxima[name][i]:.3e}"
        yield from (f"{drift[i]:.3e}" for drift in self.drifts.values())
        yield f"{self.steps[i]}"
        yield f"{self.seconds[i]:.3g}"

    def to_pandas(self) -> DataFrame:
        """A row for each run with its errors, drifts and costs; needs pandas.

        Returns
        -------
        pandas.DataFrame
            With the index "h".
        """
        return tables.frame(self.columns(), ["h"])

    def columns(self) -> dict[str, Array]:
        """What `to_pandas` holds, as arrays.

        Returns
        -------
        dict of ndarray, shape (n,)
            By name.
        """
        found = {"h": self.h, **({} if self.tolerance is None else {"tolerance": self.tolerance})}
        for title, values in (("error", self.errors), ("maximum", self.maxima), ("drift", self.drifts)):
            found |= {f"{title}_{name}": column for name, column in values.items()}
        return found | {"steps": self.steps, "newton_iterations": self.newton_iterations, "seconds": self.seconds}

    def plot(
        self, what: str | None = None, *, against: str = "h", maximum: bool = False, ax: Axes | None = None
    ) -> Figure:
        """The errors on logarithmic axes, with triangles for the observed orders; needs matplotlib.

        Parameters
        ----------
        what : str, optional
            One quantity: "q", "v", "lam", or the name of an observable or an invariant. Default: all of them.
        against : {"h", "steps", "seconds", "tolerance"}
            The other axis: with "seconds" this is a work-precision diagram.
        maximum : bool
            The largest error over the run in place of that at its end.
        ax : matplotlib axes, optional
            Where to draw one quantity.

        Returns
        -------
        matplotlib.figure.Figure
            The figure, which notebooks show and `savefig` saves.

        Raises
        ------
        ValueError
            For a quantity that was not found, and for `ax` with several quantities.
        """
        return Comparison({self.method: self}).plot(what, against=against, maximum=maximum, ax=ax)

    def curve(self, label: str, what: str, *, against: str = "h", maximum: bool = False) -> Curve:
        """One quantity as a line of a diagram.

        Parameters
        ----------
        label : str
            Of the line.
        what : str
            One quantity: "q", "v", "lam", or the name of an observable or an invariant.
        against : {"h", "steps", "seconds", "tolerance"}
            The other axis: with "seconds" this is a work-precision diagram.
        maximum : bool
            The largest error over the run in place of that at its end.

        Returns
        -------
        Curve
            Its points, and the range in which it shows its order.
        """
        from lgint._tools.convergence import Curve

        y = self.drifts[what] if what in self.drifts else (self.maxima if maximum else self.errors)[what]
        found = asymptotic(self.h, y) if against == "h" else Asymptotic(np.nan, self.h[:0])
        implicit = any(run.stats.newton_iterations for run in self.trajectories)
        return Curve(label, self._abscissa(against), y, implicit, found.order, found.h)

    def _abscissa(self, against: str) -> Array:
        choice("against", against, ABSCISSAE)
        if against == "tolerance" and self.tolerance is None:
            raise ValueError('against: a study of fixed steps has no tolerances; "h", "steps" and "seconds" work')
        return np.asarray(getattr(self, against), float)


@dataclass(frozen=True, repr=False)
class Comparison(Mapping[str, Study]):
    """Several studies with labels: `comparison[label]` is one of them.

    Attributes
    ----------
    studies : dict of Study
        The studies by their labels.
    """

    studies: dict[str, Study]

    def __getitem__(self, label: str) -> Study:
        return self.studies[label]

    def __iter__(self) -> Iterator[str]:
        return iter(self.studies)

    def __len__(self) -> int:
        return len(self.studies)

    def __repr__(self) -> str:
        return f"<lgint.Comparison of {len(self)} studies>"

    def __str__(self) -> str:
        return "\n\n".join(f"{label}: {study}" for label, study in self.items())

    def _repr_html_(self) -> str:
        return "\n".join(
            _html.table(f"{label}: {study._caption()}", study._head(), study._rows()) for label, study in self.items()
        )

    def to_pandas(self) -> DataFrame:
        """A row for each run with its errors, drifts and costs; needs pandas.

        Returns
        -------
        pandas.DataFrame
            With the index (setting, h).
        """
        return tables.frame(self.columns(), ["setting", "h"])

    def columns(self) -> dict[str, Any]:
        """What `to_pandas` holds, as arrays.

        Returns
        -------
        dict of ndarray or list
            By name; NaN where a study does not have a quantity.
        """
        parts = [study.columns() for study in self.values()]
        names = dict.fromkeys(name for part in parts for name in part)
        found: dict[str, Any] = {"setting": [label for label, study in self.items() for _ in study.h]}
        for name in names:
            found[name] = np.concatenate([part.get(name, np.full(len(part["h"]), np.nan)) for part in parts])
        return found

    def plot(
        self, what: str | None = None, *, against: str = "h", maximum: bool = False, ax: Axes | None = None
    ) -> Figure:
        """Errors on logarithmic axes, a line for each study, with triangles for the observed orders; needs matplotlib.

        Implicit methods are dashed. A triangle has the slope of a whole order which the line above it shows in its
        asymptotic range.

        Parameters
        ----------
        what : str, optional
            One quantity: "q", "v", "lam", or the name of an observable or an invariant. Default: all of them.
        against : {"h", "steps", "seconds", "tolerance"}
            The other axis: with "seconds" this is a work-precision diagram.
        maximum : bool
            The largest error over the run in place of that at its end.
        ax : matplotlib axes, optional
            Where to draw one quantity.

        Returns
        -------
        matplotlib.figure.Figure
            The figure, which notebooks show and `savefig` saves.

        Raises
        ------
        ValueError
            For a quantity that was not found, and for `ax` with several quantities.
        """
        from lgint._tools import convergence

        known = self._quantities(maximum)
        names = list(known) if what is None else [choice("what", what, known)]

        def draw(panel: Axes, name: str) -> None:
            curves = [
                study.curve(label, name, against=against, maximum=maximum)._replace(look=look)
                for look, (label, study) in enumerate(self.items())
                if name in study.errors or name in study.drifts
            ]
            convergence.errors(panel, curves, ABSCISSAE[choice("against", against, ABSCISSAE)], known[name])

        return convergence.panels(names, draw, ax)

    def _quantities(self, maximum: bool) -> dict[str, str]:
        """Name and label of everything that some study has."""
        kind = "largest error" if maximum else "error"
        found: dict[str, str] = {}
        for study in self.values():
            found |= {name: f"{kind} in {name}" for name in (study.maxima if maximum else study.errors)}
            found |= {name: f"drift of {name.replace('_', ' ')}" for name in study.drifts}
        if not found:
            raise ValueError("maximum: these studies were not asked for errors over the run (maximum=True)")
        return found


def study(
    model: System,
    method: str,
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
    **options: Any,
) -> Study:
    """Integrates with every step size, or every tolerance, and compares with a reference.

    Parameters
    ----------
    model : Model, CallableModel or LagrangianModel
        What moves.
    method : str
        One of `lgint.methods()`.
    steps : sequence of float
        At least two step sizes, s.
    t_end : float
        End of the runs, s.
    tolerances : sequence
        In place of steps, for methods with error control: at least two relative tolerances, which are the absolute
        ones as well unless `atol` is given; or mappings of options, such as
        ``{"rtol": 1e-6, "atol": 1e-8, "max_step": 0.1}``.
    reference : Trajectory or mapping, optional
        A more accurate run of the same model to `t_end`, by any method and step size, in any formulation of the bodies.
        A mapping holds arguments of `lgint.integrate` for it, such as ``{"method": "rk67", "h": 1e-4}``; what it does
        not name, `model` included, is that of the study. Default: the same method with an eighth of the smallest step.
    maximum : bool
        Also find the largest errors over the run: at the multiples of the largest step, of which a thousand at most
        are looked at, or at 200 times of runs with error control, between whose steps the solution is interpolated.
    observables : mapping, optional
        Names and functions of a trajectory, with a number or a vector for each of its states, whose errors are found
        as well: for example ``{"tip": lambda run: run.position("top")}``.
    invariants : sequence or mapping
        Quantities whose drift is found, as in `lgint.drift`.
    repeats : int
        Each run is made this number of times, and the least processor time counts.
    failures : {"raise", "keep"}
        "keep": a run that fails leaves NaN in place of its errors, and its message in `failures`.
    **options
        Of the method.

    Returns
    -------
    Study
        `print` it for a table, `plot` it, or ask for the observed orders and their `asymptotic` range.

    Raises
    ------
    ValueError
        For fewer than two steps, error control with steps, a reference of other bodies, and runs that do not reach
        `t_end`.
    """
    choice("failures", failures, ("raise", "keep"))
    cases = _cases(steps, tolerances, options)
    times = _times(cases, t_end, options, wanted=maximum or bool(invariants and steps is not None))
    kept: dict[str, Any] = {"save_every": _LAST} if steps is not None or not invariants else {}
    kept |= {} if times is None else {"t_eval": times}
    runs = [
        _run(model, method, {"t_end": t_end, **kept, **case}, count("repeats", repeats), failures) for case in cases
    ]
    failed = {i: message for i, (_, _, message) in enumerate(runs) if message}
    arrived = [run for i, (run, *_) in enumerate(runs) if i not in failed]
    for run in arrived:
        _check_end("events", run, t_end)

    best = _reference(reference, model, method, {"t_end": t_end, **kept, **cases[-1]}, cases)
    _check_end("reference", best, t_end)
    compared = times if maximum else None
    found = [{} if i in failed else _errors(run, best, compared, observables or {}) for i, (run, *_) in enumerate(runs)]
    if len(failed) == len(runs):
        found = [dict.fromkeys(("q", "v", *(observables or {})), np.array([math.nan]))] * len(runs)
    drifts = [{} if i in failed else deviations(run, invariants) for i, (run, *_) in enumerate(runs)]
    return Study(
        method,
        dict(options),
        method_info(method)["order"],
        np.array([_step_of(case, run) for case, (run, *_) in zip(cases, runs, strict=True)]),
        _collected(found, lambda errors: errors[-1]),
        tuple(run for run, *_ in runs),
        None if steps is not None else np.array([float(np.max(case["rtol"])) for case in cases]),
        _collected(found, np.max) if maximum else {},
        _collected(drifts, np.max),
        np.array([seconds for _, seconds, _ in runs]),
        failed,
    )


def compare(
    settings: Mapping[str, str | Mapping[str, Any]], *, reference: Reference = None, **common: Any
) -> Comparison:
    """Studies of several methods, settings or formulations, against one reference.

    Parameters
    ----------
    settings : mapping
        Labels, and for each the arguments of `lgint.study` that are its own (a string is a method): for example
        ``{"rk44": "rk44", "damped": {"method": "genalpha", "rho_inf": 0.5}}``.
    reference : Trajectory or mapping, optional
        For all studies, as in `lgint.study`. The run that a mapping describes is made once; it needs a method, and a
        model unless all settings have the same.
    **common
        Arguments of `lgint.study` for all settings that do not have their own, such as model, steps and t_end.

    Returns
    -------
    Comparison
        `print` it for a table, `plot` it.

    Raises
    ------
    ValueError
        Without any setting, and for a reference without a model where each setting has its own.
    """
    arguments = {label: {**common, **_setting(own)} for label, own in settings.items()}
    if not arguments:
        raise ValueError("settings: one setting expected at least, got none")
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
            raise ValueError("reference: a model is needed, since each setting has its own")
        reference = integrate(**{**shared, **kept, **reference})
    return Comparison({label: study(reference=reference, **given) for label, given in arguments.items()})


def _setting(own: str | Mapping[str, Any]) -> dict[str, Any]:
    return {"method": own} if isinstance(own, str) else dict(own)


def _times_of(given: Mapping[str, Any]) -> Array | None:
    cases = _cases(given.get("steps"), given.get("tolerances"), {})
    return _times(cases, given["t_end"], given, wanted=bool(given.get("maximum")))


# ---- the runs ----

_LAST = 10**9  # save_every that keeps the start and the end only
_MOST = 1000  # times at which errors over a run are looked at, with steps
_ADAPTIVE = 200  # the same with error control


def _cases(
    steps: Sequence[float] | None, tolerances: Sequence[float | Mapping[str, Any]] | None, options: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """Step size and options of each run, or tolerances and options."""
    if (steps is None) == (tolerances is None):
        raise ValueError("steps: a list of step sizes expected, or `tolerances` in place of it")
    if tolerances is not None:
        if len(tolerances) < 2:
            raise ValueError(f"tolerances: at least two expected, got {len(tolerances)}")
        return [{**options, **_tolerances(entry, options)} for entry in tolerances]
    assert steps is not None
    h = [number("steps", step, positive=True) for step in steps]
    if len(h) < 2:
        raise ValueError(f"steps: at least two step sizes expected, got {len(h)}")
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
                "(give `tolerances` in place of steps)"
            )


def _times(cases: Sequence[Mapping[str, Any]], t_end: float, options: Mapping[str, Any], wanted: bool) -> Array | None:
    """Times at which runs are compared, the end included: multiples of the largest step if steps are fixed."""
    if not wanted:
        return None
    t0 = float(options.get("t0", 0.0))
    steps = [case["h"] for case in cases if "rtol" not in case and "h" in case]
    parts = max(1, math.ceil((t_end - t0) / max(steps) * (1 - 1e-12))) if steps else _ADAPTIVE
    every = math.ceil(parts / _MOST)
    chosen = np.unique(np.append(np.arange(every, parts + 1, every), parts))
    return np.asarray(t0 + (t_end - t0) * chosen / parts)


def _run(
    model: System, method: str, arguments: dict[str, Any], repeats: int, failures: str
) -> tuple[Trajectory, float, str]:
    """A run, its processor time, and the message of its failure if it failed."""
    seconds = math.inf
    try:
        for _ in range(repeats):
            begin = time.thread_time()
            run = integrate(model, method, **arguments)
            seconds = min(seconds, time.thread_time() - begin)
        return run, seconds, ""
    except IntegrationError as error:
        if failures == "raise":
            raise
        return error.trajectory, math.nan, str(error)


def _step_of(case: Mapping[str, Any], run: Trajectory) -> float:
    """The step size of a run, or the mean of those it chose."""
    if "rtol" not in case:
        return float(case["h"])
    return float(run.end["t"][-1] - case.get("t0", 0.0)) / run.stats.steps if run.stats.steps else math.nan


def _reference(
    given: Reference,
    model: System,
    method: str,
    arguments: Mapping[str, Any],
    cases: Sequence[Mapping[str, Any]],
) -> Trajectory:
    """The run that others are compared with: as it is given, or made as described."""
    if isinstance(given, Trajectory):
        return given
    if given is not None:
        kept = {name: arguments[name] for name in ("t_end", "t0", "t_eval", "save_every") if name in arguments}
        best: Trajectory = integrate(**{"model": model, "method": method, **kept, **given})
        return best
    steps = [case["h"] for case in cases if "h" in case]
    if not steps or "rtol" in cases[0]:
        raise ValueError('reference: runs with tolerances need one, such as {"method": "rk67", "h": 1e-4}')
    return integrate(model, method, **{**arguments, "h": min(steps) / 8})


def _check_end(name: str, trajectory: Trajectory, t_end: float) -> None:
    end = trajectory.end["t"]
    if not len(end) or abs(end[-1] - t_end) > 1e-12 * abs(t_end):
        ended = f"this one ends at {end[-1]:g}" if len(end) else "this one has no state"
        raise ValueError(f"{name}: a run to t = {t_end:g} expected, {ended}")


# ---- their errors ----


def _errors(run: Trajectory, best: Trajectory, times: Array | None, observables: Observables) -> dict[str, Array]:
    """The error of each quantity at each of some times, or at the end."""
    states, right = rows("runs", run, times), rows("reference", best, times)
    found = differences(run.model, best.model)(states, right)
    if same_space(run.model, best.model) and run.row_names == best.row_names:
        found["lam"] = states.lam - right.lam
    errors = {name: np.abs(error).max(axis=1) for name, error in found.items() if error.size}
    for name, function in observables.items():
        values, expected = (
            np.asarray(function(one), dtype=float)[places(who, one, times)]
            for who, one in (("runs", run), ("reference", best))
        )
        errors[name] = np.linalg.norm((values - expected).reshape(len(values), -1), axis=1)
    return errors


def _collected(runs: Sequence[Mapping[str, Array]], number_of: Callable[[Array], float]) -> dict[str, Array]:
    """One number of each quantity of each run, NaN for runs without it."""
    names = dict.fromkeys(name for run in runs for name in run)
    return {
        name: np.array([float(number_of(run[name])) if name in run else math.nan for run in runs]) for name in names
    }
