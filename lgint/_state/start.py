"""Methods of models that need states: a state that belongs to no run, inverse dynamics, and mobility."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numpy.typing import ArrayLike

from lgint._args import array, number
from lgint._model.model import Model
from lgint._model.system import FROM_HIGHER_LAYERS, System
from lgint._rotation import valid_rotations
from lgint._state.inverse import inverse_dynamics, inverse_dynamics_derivatives
from lgint._state.mobility import mobility
from lgint._state.poses import joints_given, placed_by, velocities_of
from lgint._state.state import Independent, State, state_inside


def state_of(
    model: System,
    q: ArrayLike | None,
    v: ArrayLike | None,
    t: float,
    joints: Mapping[str, Any] | None,
    rates: Mapping[str, Any] | None,
) -> State:
    """The state with these coordinates and velocities; what is None is that of the model's start."""
    at = number("t", t)
    if q is None and v is None and joints is None and rates is None:
        return State(Independent(model, at, model.q0, model.v0, model.mem0, check=model._taken is None))
    own_q = model.q0 if q is None else valid_rotations(model.core.factors, array("q", q, (model.nq,)))
    own_v = model.v0 if v is None else array("v", v, (model.nv,))
    mem, start = model.mem0, own_q
    if joints is not None or rates is not None:
        if not isinstance(model, Model):
            raise ValueError(f"joints, rates: a {type(model).__name__} has no joints; give q and v")
        if rates is not None and v is not None:
            raise ValueError("rates: they replace v; give only one of them")
        if joints is not None:
            start, (own_q, mem) = own_q, placed_by(model, at, own_q, joints_given(model, "joints", joints))
        if v is None:
            own_v = velocities_of(model, at, (start, own_v), own_q, mem, joints_given(model, "rates", rates or {}))
    return State(Independent(model, at, own_q, own_v, mem))


FROM_HIGHER_LAYERS["state"] = state_of
FROM_HIGHER_LAYERS["state_inside"] = state_inside
FROM_HIGHER_LAYERS["inverse_dynamics"] = inverse_dynamics
FROM_HIGHER_LAYERS["inverse_dynamics_derivatives"] = inverse_dynamics_derivatives
FROM_HIGHER_LAYERS["mobility"] = mobility
