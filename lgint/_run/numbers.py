"""A model as a function of numbers: of its values, and of its start."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from lgint._args import Array
from lgint._model.model import Model
from lgint._run.sensitivity import Named, largest_step, stencil
from lgint._state.slopes import CENTRAL, START, STEP, changed, check_name, present, slopes_of, start_value, state_slopes


class Numbers:
    """Numbers of a model. Those of rotations are angles about axes of the body, applied in turn."""

    def __init__(self, model: Model, names: Sequence[str], t: float) -> None:
        self.names = tuple(names)
        self._model, self._t = model, t
        self._values = [name for name in names if not name.startswith(START)]
        for name in names:
            check_name(model, name, "parameters")
        self._starts = {name: start_value(model, name, "parameters") for name in names if name.startswith(START)}

    def present(self) -> Array:
        """Their values in the model."""
        return np.array([self._present(name) for name in self.names], dtype=float)

    def _present(self, name: str) -> float:
        if name not in self._starts:
            return float(self._model.values[name])
        value = self._starts[name]
        base = present(self._model, value, self._t)
        own = base[value.is_second] if isinstance(base, tuple) else base
        return 0.0 if own.ndim == 2 else float(own[value.number])

    def model(self, x: Array) -> Model:
        """The model with other values, whose start is projected onto its constraints."""
        given = dict(zip(self.names, x.tolist(), strict=True))
        model = self._model.with_parameters(**{name: given[name] for name in self._values})
        if self._starts:
            poses, rates = (self._placed(given, rates=which) for which in (False, True))
            model = model.with_state(model.state(t=self._t, joints=poses, rates=rates))
        return model.with_state(*model.core.project(self._t, model.q0, model.v0, model.mem0)) if model.nc else model

    def _placed(self, given: dict[str, float], *, rates: bool) -> dict[str, Any]:
        """The coordinates of joints and poses of bodies with the given numbers, or their rates."""
        found: dict[str, Any] = {}
        for name, value in self._starts.items():
            if value.is_rate == rates:
                base = found[value.who] if value.who in found else present(self._model, value, self._t)
                found[value.who] = changed(base, value, given[name] - self._present(name))
        return found

    def named(self, x: Array, model: Model) -> Named:
        """Their names with the derivatives of the start of `model`, which is that at x."""
        _, dq, dv = slopes_of(model, self._values, self._t)
        moves = {name: bool(dq[k].any() or dv[k].any()) for k, name in enumerate(self._values)}
        still = np.zeros((2, model.nv))
        found = [
            self._start_slopes(x, model, k) if moves.get(name, True) else still for k, name in enumerate(self.names)
        ]
        return Named(self.names, *np.stack(found, axis=1))

    def _start_slopes(self, x: Array, model: Model, k: int) -> Array:
        """The derivatives of q and v at the start by number k, by differences."""
        name = self.names[k]
        step, points = (STEP, CENTRAL) if name in self._starts else (largest_step(model, name), stencil(model, name))

        def other(change: float) -> tuple[Array, Array]:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                at = self.model(x + change * np.eye(len(x))[k])
            return at.q0, at.v0

        return np.array(state_slopes(model.core, (model.q0, model.v0), other, step, points))
