"""Differences between the states of two runs: of coordinates, or of the bodies' motions if coordinates differ."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from lgint._args import Array, listing
from lgint._model.model import Model
from lgint._model.record import mode_count
from lgint._model.start import space_names
from lgint._model.system import System
from lgint._rotation import vector_of_matrix
from lgint._run.trajectory import Trajectory


class Rows(NamedTuple):
    """Some states of a run."""

    model: System
    t: Array
    q: Array
    v: Array
    lam: Array


def rows(name: str, run: Trajectory, times: Array | None) -> Rows:
    """The states of a run at the given times, which it must have, or the state at its end."""
    if times is None:
        return Rows(run.model, run.end["t"][-1:], run.end["q"][-1:], run.end["v"][-1:], run.end["lam"][-1:])
    at = indices(name, run, times)
    return Rows(run.model, run.t[at], run.q[at], run.v[at], run.lam[at])


def indices(name: str, run: Trajectory, times: Array | None) -> Any:
    """The indices of the states of a run at the given times; None: that of the last state."""
    if times is None:
        return slice(-1, None)
    after = np.clip(np.searchsorted(run.t, times), 1, max(len(run) - 1, 1))
    at = np.where(times - run.t[after - 1] < run.t[after] - times, after - 1, after) if len(run) > 1 else 0 * after
    far = np.abs(run.t[at] - times) > 1e-9 * np.abs(times[-1])
    if far.any():
        raise ValueError(
            f"{name}: it has no state at t = {times[far][0]:g}; errors over the run need states at all multiples "
            "of the largest step; make the run with t_eval, or give arguments of lgint.integrate as reference"
        )
    return at


Differences = Callable[[Rows, Rows], dict[str, Array]]


def differences(model: System, other: System) -> Differences:
    """The function that compares states of the two models; its values have a row for each state."""
    if same_space(model, other):
        return _of_coordinates
    if not (isinstance(model, Model) and isinstance(other, Model)):
        raise ValueError(
            "reference: the run of a system of functions can only be compared with runs on the same space; its blocks "
            f"are {_kinds(other)}, those of the model are {_kinds(model)}"
        )
    if _bodies(model) != _bodies(other):
        raise ValueError(f"reference: its bodies are {listing(list(other.bodies))}, not {listing(list(model.bodies))}")
    return _of_bodies


def same_space(model: System, other: System) -> bool:
    """Whether the coordinates of two models have the same meaning."""
    if not (isinstance(model, Model) and isinstance(other, Model)):
        return _kinds(model) == _kinds(other)
    return _kinds(model) == _kinds(other) and _blocks(model) == _blocks(other)


def _blocks(model: Model) -> list[Any]:
    """The block of each body, and the rotation at which its angles are zero, if it has any."""
    return [(name, body["block"], body["reference"]) for name, body in model.bodies.items()]


def _kinds(model: System) -> str:
    return ", ".join(space_names(model))


def _bodies(model: Model) -> dict[str, int]:
    return {name: mode_count(body) for name, body in model.bodies.items()}


def _of_coordinates(states: Rows, best: Rows) -> dict[str, Array]:
    q = [states.model.core.difference(q0, q) for q0, q in zip(best.q, states.q, strict=True)]
    return {"q": np.array(q), "v": states.v - best.v}


def _of_bodies(states: Rows, best: Rows) -> dict[str, Array]:
    """Position and rotation vector of each body relative to the reference, and the differences of both velocities."""
    q, v = [], []
    for name in _multibody(states).bodies:
        (x, R, xdot, omega), (x0, R0, xdot0, omega0) = (_body(run, name) for run in (states, best))
        turns = [vector_of_matrix(back.T @ there) for back, there in zip(R0, R, strict=True)]
        q += [x - x0, np.array(turns)]
        v += [xdot - xdot0, omega - omega0]
        (eta, eta_rate), (eta0, eta_rate0) = (_modal(run, name) for run in (states, best))
        q.append(eta - eta0)
        v.append(eta_rate - eta_rate0)
    return {"q": np.concatenate(q, axis=1), "v": np.concatenate(v, axis=1)}


def _multibody(states: Rows) -> Model:
    assert isinstance(states.model, Model)
    return states.model


def _body(states: Rows, name: str) -> tuple[Array, Array, Array, Array]:
    return _multibody(states).kinematics(name, states.q, states.v, states.t)


def _modal(states: Rows, name: str) -> tuple[Array, Array]:
    """Modal coordinates and rates of a body; none if it is rigid."""
    model = _multibody(states)
    q, v = model.modal(name) if mode_count(model.bodies[name]) else (slice(0), slice(0))
    return states.q[:, q], states.v[:, v]
