"""`Model.state`: a state of a system that belongs to no run."""

from __future__ import annotations

from numpy.typing import ArrayLike

from lgint._args import array, number
from lgint._model.system import UPPER, System
from lgint._rotation import valid_rotations
from lgint._state.state import Start, State


def state_of(model: System, q: ArrayLike | None, v: ArrayLike | None, t: float) -> State:
    """The state with these coordinates and velocities; what is None is that of the model's start."""
    own_q = model.q0 if q is None else valid_rotations(model.core.factors, array("q", q, (model.nq,)))
    own_v = model.v0 if v is None else array("v", v, (model.nv,))
    check = q is not None or v is not None or model._taken is None
    return State(Start(model, number("t", t), own_q, own_v, check=check))


UPPER["state"] = state_of
