"""What a worker of a sweep does: builds models, integrates them in ensembles, and evaluates what is observed."""

from __future__ import annotations

import functools
import inspect
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from lgint import _core
from lgint._args import choice, guess
from lgint._model.collector import uncollected
from lgint._model.keys import UnnamedError, key_of
from lgint._model.model import Model
from lgint._model.series import Series
from lgint._model.system import System
from lgint._run.ensemble import Ensemble
from lgint._run.integrate import integrate, methods
from lgint._run.methods import OPTIONS
from lgint._run.options import check_options
from lgint._run.trajectory import Trajectory

# exceptions with which a run may fail; any other one is a mistake in a program and ends the sweep
FAILURES = (_core.IntegrationError, ValueError, ArithmeticError, LookupError)
ALONE = (
    "events",
    "dense_output",
    "start",
    "save",
    "path",
    "sensitivity",
)  # arguments with which a run is not part of an ensemble
ARGUMENTS = [p.name for p in inspect.signature(integrate).parameters.values() if p.kind == p.KEYWORD_ONLY]

Observable = Callable[[Trajectory], Any]


class Outcome(NamedTuple):
    """The outcome of one run: what was observed, or why it failed."""

    values: dict[str, np.ndarray[Any, Any]] | None
    report: str


class Failure(NamedTuple):
    """Why a run failed."""

    error: BaseException


@dataclass(frozen=True)
class Job:
    """Everything that all runs of a sweep share.

    Attributes
    ----------
    source : function or System
        A function that makes a model, or a model.
    fixed : dict
        Parameters of the model, arguments of `integrate` and options that do not vary; "method" is one of them.
    observables : dict
        Functions of a trajectory.
    """

    source: Callable[..., System] | System
    fixed: Mapping[str, Any]
    observables: Mapping[str, Observable]

    # ---- names ----

    @functools.cached_property
    def accepted(self) -> list[str] | None:
        """Names of the model's parameters; None: the factory takes any."""
        if isinstance(self.source, System):
            return [*self.source.parameters, *self.source.values]
        parameters = inspect.signature(self.source).parameters.values()
        if any(p.kind == p.VAR_KEYWORD for p in parameters):
            return None
        return [p.name for p in parameters if p.kind in (p.KEYWORD_ONLY, p.POSITIONAL_OR_KEYWORD)]

    def of_model(self, name: str) -> bool:
        """Whether a name is a parameter of the model; all others are arguments of `integrate` and options."""
        if self.accepted is not None and name in self.accepted:
            return True
        if isinstance(self.source, System) and name in self.source.values:
            return True
        return name not in ("method", *ARGUMENTS, *OPTIONS) and (self.accepted is None or "." in name)

    def check(self, run: Mapping[str, Any]) -> None:
        """ValueError for names and options that no run could have."""
        given = {**self.fixed, **run}
        method = given.get("method")
        if method is None:
            raise ValueError("method: a name is required, as an argument or as a parameter")
        options = {name for name in given if not self.of_model(name) and name not in ("method", *ARGUMENTS)}
        for name in options - OPTIONS:
            known = [*(self.accepted or ()), *ARGUMENTS, *OPTIONS]
            raise ValueError(
                f"{name}: neither a parameter of the model{guess(name, known)}, nor an argument of integrate, nor an "
                "option of the method"
            )
        if "method" not in run:
            check_options(choice("method", method, methods()), options, integrate)
        if "t_end" not in given:
            raise ValueError("t_end: the end of the runs is required, as an argument or as a parameter")
        if not given.keys() & {"h", "rtol", "atol"}:
            raise ValueError("h: a step size, or rtol or atol, is required, as an argument or as a parameter")

    def model(self, run: Mapping[str, Any]) -> System:
        """The model of a run."""
        parameters = self._fixed[0] | self._split(run)[0]
        if isinstance(self.source, System):
            return self.source.with_parameters(**parameters)
        changes = {name: value for name, value in parameters.items() if self.accepted is not None and "." in name}
        for name in changes:
            del parameters[name]
        model = self.source(**parameters)
        if not isinstance(model, System):
            raise ValueError(f"the first argument of sweep: a function that returns a model expected, got {model!r}")
        return model.with_parameters(**changes) if changes else model

    def arguments(self, run: Mapping[str, Any]) -> dict[str, Any]:
        """Method, arguments of `integrate` and options of a run."""
        return self._fixed[1] | self._split(run)[1]

    @functools.cached_property
    def _fixed(self) -> tuple[dict[str, Any], dict[str, Any]]:
        return self._split(self.fixed)

    def _split(self, given: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """Parameters of the model, and arguments of `integrate` and options."""
        parts: tuple[dict[str, Any], dict[str, Any]] = {}, {}
        for name, value in given.items():
            parts[not self.of_model(name)][name] = value
        return parts

    # ---- the runs ----

    @functools.cached_property
    def _series(self) -> Series:
        return Series()

    def __call__(
        self, runs: Sequence[Mapping[str, Any]], check_stop: Callable[[float], None] | None = None
    ) -> tuple[float, list[Outcome]]:
        """Wall time in s, and the outcome of each run. `check_stop` is called repeatedly and may raise to end them."""
        begin = time.perf_counter()
        outcomes: dict[int, Outcome] = {}
        groups: dict[Any, list[int]] = {}
        for i, run in enumerate(runs):
            groups.setdefault(self._group_of(i, run), []).append(i)
        for group in groups.values():
            outcomes |= self._group([(i, runs[i]) for i in group], check_stop)
        return time.perf_counter() - begin, [outcomes[i] for i in range(len(runs))]

    def _group_of(self, i: int, run: Mapping[str, Any]) -> str | int:
        """A common key for runs that differ only in their models and may be done together, otherwise the number `i`."""
        varying = self._split(run)[1]
        if is_alone(self._fixed[1] | varying):
            return i
        try:
            return key_of(varying) if varying else ""
        except UnnamedError:
            return i

    def _group(
        self, runs: Sequence[tuple[int, Mapping[str, Any]]], check_stop: Callable[[float], None] | None
    ) -> dict[int, Outcome]:
        """Outcomes of runs with the same arguments, by the numbers of the runs."""
        with uncollected(), self._series.running():
            models = {i: attempt(self.model, run) for i, run in runs}
        made = {i: model for i, model in models.items() if not isinstance(model, Failure)}
        found = trajectories([*made.values()], self.arguments(runs[0][1]), check_stop) if made else []
        done = models | dict(zip(made, found, strict=True))
        return {i: self._observe(trajectory) for i, trajectory in done.items()}

    def _observe(self, trajectory: Any) -> Outcome:
        found = trajectory if isinstance(trajectory, Failure) else attempt(self._values, trajectory)
        if isinstance(found, Failure):
            return Outcome(None, f"{type(found.error).__name__}: {found.error}")
        return Outcome(found, "")

    def _values(self, trajectory: Trajectory) -> dict[str, np.ndarray[Any, Any]]:
        return {name: numbers(name, observe(trajectory)) for name, observe in self.observables.items()}


def attempt(function: Callable[[Any], Any], argument: Any) -> Any:
    """The value of a function, or a Failure."""
    try:
        return function(argument)
    except FAILURES as error:
        return Failure(error)


def is_alone(arguments: Mapping[str, Any]) -> bool:
    """Whether a run with these arguments cannot be part of an ensemble."""
    return any(arguments.get(name) for name in ALONE if not isinstance(arguments.get(name), str))


def trajectories(
    models: Sequence[System], arguments: Mapping[str, Any], check_stop: Callable[[float], None] | None
) -> list[Trajectory | Failure]:
    """Runs of models by the same method with the same arguments, as an ensemble if the core can do that."""
    given: dict[str, Any] = {"progress": check_stop or False, **arguments}
    shapes = {(model.nq, model.nv) for model in models}
    if (
        is_alone(arguments)
        or len(models) == 1
        or len(shapes) > 1
        or not all(isinstance(model, Model) for model in models)
    ):
        return [attempt(lambda model: integrate(model, **given), model) for model in models]
    ensemble = attempt(lambda all_models: integrate(all_models, **given), [*models])
    if isinstance(ensemble, Failure):
        return [ensemble] * len(models)
    return _each(ensemble)


def _each(ensemble: Ensemble) -> list[Trajectory | Failure]:
    return [
        Failure(error) if error is not None else trajectory
        for trajectory, error in zip(ensemble, ensemble.errors, strict=True)
    ]


def numbers(name: str, value: Any) -> np.ndarray[Any, Any]:
    """What an observable returned, as an array of numbers."""
    found = np.asarray(value)
    if found.dtype.kind not in "biufc":
        raise ValueError(f"observable {name!r}: numbers expected, got {value!r}")
    copied: np.ndarray[Any, Any] = found.copy()
    return copied
