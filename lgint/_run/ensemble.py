"""Ensembles: the trajectories of many models, which the core has run without Python between them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, overload

import numpy as np

from lgint import _core
from lgint._args import Array, choice
from lgint._model.model import System
from lgint._run.trajectory import Trajectory

PARTS = ("t", "h", "error", "q", "v", "vdot", "lam")


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
        The options given to `integrate`.
    errors : list
        For each run None, or the exception that `integrate` would have raised for it.
    """

    def __init__(
        self, models: Sequence[System], method: str, options: Mapping[str, Any], results: Sequence[dict[str, Any]]
    ) -> None:
        self.models = list(models)
        self.method = method
        self.options = dict(options)
        self.errors: list[Exception | None] = [result["error"] for result in results]
        self._results = results
        self._made: dict[int, Trajectory] = {}
        for i, error in enumerate(self.errors):
            if error is not None:
                error.trajectory = self[i]  # type: ignore[attr-defined]

    def __len__(self) -> int:
        return len(self._results)

    @overload
    def __getitem__(self, index: int) -> Trajectory: ...
    @overload
    def __getitem__(self, index: slice) -> list[Trajectory]: ...
    def __getitem__(self, index: int | slice) -> Trajectory | list[Trajectory]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        i = range(len(self))[index]
        if i not in self._made:
            result = {**self._results[i], "status": -1 if self.errors[i] else 0}
            self._made[i] = Trajectory(self.models[i], self.method, self.options, result)
        return self._made[i]

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
            Of "t", "h" and "error" without the last axis.

        Raises
        ------
        ValueError
            If the runs have different numbers of states, because steps adapt or a run failed.
        """
        choice("part", part, PARTS)
        if len({len(result["t"]) for result in self._results}) > 1:
            raise ValueError(f"{part}: the runs have different numbers of states; t_eval gives all the same times")
        return np.stack([result[part] for result in self._results])


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
    """The runs of all models; `rest`: options for the core, progress, t_eval and stops."""
    given, *others = rest
    q, v = (np.stack([getattr(model, name) for model in models]) for name in ("q0", "v0"))
    arguments = ([model.core for model in models], method, begin, end, step, every, q, v, given, *others)
    try:
        return Ensemble(models, method, options, _core.ensemble(*arguments))
    except BaseException as error:
        so_far = getattr(error, "result", None)
        if isinstance(so_far, list):
            error.trajectory = Ensemble(models, method, options, so_far)  # type: ignore[attr-defined]
        raise
