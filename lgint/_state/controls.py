"""The states and efforts of controls."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

import numpy as np

from lgint._args import Array, choice
from lgint._model.compile import value_count
from lgint._model.compiled import CompiledFunction
from lgint._model.joints import JOINTS
from lgint._model.laws import Moment
from lgint._model.model import Model
from lgint._model.record import ControlRow
from lgint._model.system import FROM_HIGHER_LAYERS
from lgint._state.contacts import ContactAccessors
from lgint._state.joints import dot


class ControlValues:
    """What `control` returns.

    Attributes
    ----------
    states : mapping of str to ndarray, shape (...)
        The control's own states, by name.
    efforts : mapping of str to ndarray, shape (...) or (..., 6)
        By joint the torque (N m) or force (N), and by body the force (N, inertial axes) and the moment (N m, body
        axes). They are computed when they are first read, by calls of the control's function unless it is sampled.
        Inside functions that are called with a state during an evaluation, only those of sampled controls are known.
    """

    def __init__(self, at: ControlAccessors, name: str) -> None:
        self._at, self._name = at, name
        row = at.multibody().controls[name]
        own = row["states"]
        values = at.v if row["every"] is None else at._held_values(name)
        if row["block"] is not None:
            values = values[..., at.multibody().control_states[name]]
        first = np.shape(values)[-1] - len(own)
        self.states: Mapping[str, Array] = {state: values[..., first + i] for i, state in enumerate(own)}

    @functools.cached_property
    def efforts(self) -> Mapping[str, Array]:
        """The efforts by joint and by body."""
        row, found = self._at.multibody().controls[self._name], dict[str, Array]()
        values = self._at._control_values(self._name)
        for i, joint in enumerate(effort_names(self._at.multibody(), row)):
            found[joint] = values[..., i]
        for i, body in enumerate(row["bodies"]):
            first = len(row["joints"]) + 6 * i
            found[body] = values[..., first : first + 6]
        return found

    def __repr__(self) -> str:
        return f"<control {self._name!r}: states {self.states}>"


class ControlAccessors(ContactAccessors):
    """The accessors of bodies, joints and forces, and those of controls."""

    __slots__ = ()

    def control(self, name: str) -> ControlValues:
        """The states and efforts of a control.

        Parameters
        ----------
        name : str
            Control, as `add_control` returned it.

        Returns
        -------
        ControlValues
            `states` and `efforts`, by name.

        Raises
        ------
        ValueError
            For an unknown name.
        """
        return ControlValues(self, choice("control", name, self.multibody().controls))

    def _power_of_control(self, name: str) -> Array:
        """The power of all efforts: of those in joints on both bodies, and of forces and moments on bodies."""
        row = self.multibody().controls[name]
        efforts, total = [*self.control(name).efforts.values()], np.zeros(np.shape(self.t))
        for (joint, coordinate), effort in zip(row["joints"], efforts, strict=False):
            total = total + effort * self.joint_rate(joint, coordinate)
        for body, wrench in zip(row["bodies"], efforts[len(row["joints"]) :], strict=True):
            velocity, omega = self.velocity(body), self.angular_velocity(body)
            total = total + dot(wrench[..., :3], velocity) + dot(wrench[..., 3:], omega)
        return total

    def _held_values(self, name: str) -> Array:
        """The values of a sampled control."""
        held: Array = self.mem[..., self.multibody().held[name]]
        return held

    def _control_values(self, name: str) -> Array:
        """All values of a control, by calls of its function if they are not held."""
        model = self.multibody()
        row = model.controls[name]
        if row["every"] is not None and np.all(self.mem[..., model.held[name].start - 1] != 0):
            return self._held_values(name)
        self._need_forces(f"efforts of control {name!r}")
        q, v = np.asarray(self.q), np.asarray(self.v)
        lead, count = q.shape[:-1], value_count(row)
        mem = np.zeros((*lead, model.core.nmem)) if self._memory is None else self._memory
        clock = np.broadcast_to(self.clock, lead)
        called: Any
        if isinstance(row["function"], CompiledFunction):
            own = np.array([*self.control(name).states.values()]).reshape(-1, *lead)
            at = ((float(clock[i]), q[i], v[i], own[(slice(None),) + i]) for i in np.ndindex(lead))
            called = [row["function"].values(*one, count, None)[0] for one in at]
            return np.reshape(called, (*lead, count))
        inside = FROM_HIGHER_LAYERS["state_inside"]
        states = (inside(model, Moment(float(clock[i]), q[i], v[i], mem[i])) for i in np.ndindex(lead))
        called = [np.asarray(row["function"](state), dtype=float) for state in states]
        return np.reshape(called, (*lead, count))

    def _need_forces(self, what: str) -> None:
        """AttributeError inside a function on whose value the forces depend: it would call itself endlessly."""


def effort_names(model: Model, row: ControlRow) -> list[str]:
    """Names of the coordinates on which a control acts: of joints, with "angle" or "slide" where they have both."""
    both = (len(JOINTS[model.joints[joint]["kind"]].coordinates) > 1 for joint, _ in row["joints"])
    return [f"{joint}.{which}" if two else joint for (joint, which), two in zip(row["joints"], both, strict=True)]
