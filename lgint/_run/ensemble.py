"""Ensembles: the trajectories of many models, run in a single call of the core where that is possible."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, overload

import numpy as np

from lgint import _core
from lgint._args import Array, choice
from lgint._model.model import Model
from lgint._model.system import System
from lgint._run.grown import warn_of_angles, warn_of_rates
from lgint._run.trajectory import STATE, Trajectory

PARTS = tuple(name for name in STATE if name != "mem")


class Ensemble(Sequence[Trajectory]):
    """The trajectories of an ensemble, in the order of its models: ``ensemble[3].position("top")``.

    A run that fails does not stop the others. Its trajectory ends where it failed, with `status` -1.

    Attributes
    ----------
    models : list of Model, CallableModel or LagrangianModel
        As they were given to `integrate`.
    method : str
        Name of the method.
    options : dict
        The value of every option of the method.
    errors : list
        For each run None, or the exception that `integrate` would have raised for it.
    """

    def __init__(
        self,
        models: Sequence[System],
        method: str,
        options: Mapping[str, Any],
        runs: Sequence[Trajectory | dict[str, Any]],
        errors: Sequence[Exception | None],
    ) -> None:
        self.models = list(models)
        self.method = method
        self.options = dict(options)
        self.errors = list(errors)
        self._runs = list(runs)  # trajectories, or results of the core that become trajectories when they are read
        for i, error in enumerate(self.errors):
            if error is not None:
                error.trajectory = self[i]  # type: ignore[attr-defined]

    def __len__(self) -> int:
        return len(self._runs)

    @overload
    def __getitem__(self, index: int) -> Trajectory: ...
    @overload
    def __getitem__(self, index: slice) -> list[Trajectory]: ...
    def __getitem__(self, index: int | slice) -> Trajectory | list[Trajectory]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        i = range(len(self))[index]
        run = self._runs[i]
        if not isinstance(run, Trajectory):
            status = -1 if self.errors[i] else 0
            run = self._runs[i] = Trajectory(self.models[i], self.method, self.options, {**run, "status": status})
        return run

    def __repr__(self) -> str:
        failed = sum(error is not None for error in self.errors)
        return f"<lgint.Ensemble {self.method}: {len(self)} runs, {failed} failed>"

    def stacked(self, part: str) -> Array:
        """The same part of all trajectories as one array.

        Parameters
        ----------
        part : str
            "t", "h", "error", "q", "v", "vdot" or "lam".

        Returns
        -------
        ndarray, shape (runs, states, width)
            "t", "h" and "error" have no last axis.

        Raises
        ------
        ValueError
            If the runs have different numbers of states, because steps adapt or a run failed.
        """
        choice("part", part, PARTS)
        if len({len(run) for run in self}) > 1:
            raise ValueError(f"{part}: the runs have different numbers of states; with t_eval all have the same times")
        return np.stack([getattr(run, part) for run in self])


def _sizes(model: System) -> tuple[int, int, int]:
    return model.nq, model.nv, model.core.nmem


def loops_in_core(models: Sequence[System]) -> bool:
    """Whether the core can run all models in one call: they must have bodies, be of one size, and start afresh."""
    fresh = all(isinstance(model, Model) and model._taken is None for model in models)
    return fresh and len({_sizes(model) for model in models}) == 1


def run(
    models: Sequence[System],
    method: str,
    options: dict[str, Any],
    begin: float,
    end: float,
    step: float,
    every: int,
    *rest: Any,
) -> Ensemble:
    """Runs all models in one call of the core; `rest` are the core's options, progress, t_eval and stops."""
    given, *others = rest
    start = [np.stack([getattr(model, name) for model in models]) for name in ("q0", "v0", "mem0")]
    arguments = ([model.core for model in models], method, begin, end, step, every, *start, given, *others)
    try:
        pairs = _core.ensemble(*arguments)
        warn_of_angles([result for result, _ in pairs])
        warn_of_rates(method, [result for result, _ in pairs])
        return _of(models, method, options, pairs)
    except BaseException as error:
        so_far = getattr(error, "result", None)
        if isinstance(so_far, list):
            _attach(error, _of(models, method, options, so_far))
        raise


def _of(
    models: Sequence[System], method: str, options: Mapping[str, Any], pairs: Sequence[tuple[dict[str, Any], Any]]
) -> Ensemble:
    return Ensemble(models, method, options, [result for result, _ in pairs], [error for _, error in pairs])


def one_by_one(
    models: Sequence[System],
    method: str,
    options: Mapping[str, Any],
    integrate: Callable[[System, Callable[[float], None] | None, int], Trajectory],
    move: Callable[[float], None] | None,
) -> Ensemble:
    """Runs the models one after the other.

    `integrate` takes a model, a function that shows its progress, and how many models of the same size follow.
    """
    runs: list[Trajectory | dict[str, Any]] = []
    left = Counter(map(_sizes, models))
    errors: list[Exception | None] = []

    def ensemble() -> Ensemble:
        return Ensemble(models, method, options, runs, errors)

    def report(t: float) -> None:
        if move:
            move(len(runs))

    try:
        for model in models:
            left[_sizes(model)] -= 1
            try:
                runs.append(integrate(model, report if move else None, left[_sizes(model)]))
                errors.append(None)
            except _core.IntegrationError as error:
                runs.append(error.trajectory)
                errors.append(error)
    except BaseException as error:
        _attach(error, ensemble(), getattr(error, "trajectory", None))
        raise
    return ensemble()


def _size(run: Trajectory) -> int:
    """Bytes of the states of a run."""
    kept = [getattr(run, name) for name in STATE if hasattr(run, name)]
    kept += [*run.extra.values(), *run.saved.values(), *(run.sol.knots.values() if run.sol else ())]
    return sum(values.nbytes for values in kept)


def _attach(error: BaseException, ensemble: Ensemble, last: Trajectory | None = None) -> None:
    """Attaches the ensemble so far to an exception.

    The message of a MemoryError also says how much memory the runs take so far and how much all would take. `last` is
    the unfinished run, which is not part of the ensemble.
    """
    sizes = [1e-9 * _size(run) for run in (*ensemble, last) if run and len(run) > 1]  # with one state: it has not begun
    if isinstance(error, MemoryError) and sizes:
        count = len(ensemble.models)
        error.args = (
            f"{str(error) or 'out of memory'}; {len(sizes)} of {count} runs so far take {sum(sizes):.3g} GB, "
            f"all would take about {count * max(sizes):.3g} GB or more",
        )
    error.trajectory = ensemble  # type: ignore[attr-defined]
