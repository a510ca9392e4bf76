"""Inputs and outputs of a linearised system."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from lgint._args import Array, choice, shown
from lgint._linear.frame import Frame
from lgint._linear.perturb import STENCIL, STEP, Motion
from lgint._model.model import Model
from lgint._model.record import is_motion
from lgint._model.system import System
from lgint._state.controls import ControlValues, effort_names
from lgint._state.inverse import coordinate, rates_of
from lgint._state.outputs import Wrench
from lgint._state.state import State, enter

INPUTS: Final = ("joint", "force", "torque", "motion", "control")
AXES: Final = ("x", "y", "z")
FORCES, MOMENTS = slice(3), slice(3, 6)  # in a Jacobian


class Input:
    """Forces from outside.

    Attributes
    ----------
    names : list of str
        The names of its components.
    """

    def __init__(self, given: Any, state: State) -> None:
        if isinstance(given, str) or not isinstance(given, Sequence) or len(given) < 2:
            raise ValueError(f'inputs: pairs such as ("joint", "shoulder") expected, got {shown(given)}')
        self._kind = choice("kind of input", given[0], INPUTS)
        if not isinstance(state.model, Model):
            raise ValueError(f"inputs: a {type(state.model).__name__} has no joints or bodies")
        if len(given) > (3 if self._kind == "force" else 2):
            raise ValueError(f"inputs: too many entries in {shown(given)}")
        self._name, self._point = given[1], given[2] if len(given) == 3 else None
        stem = f"{self._kind} {self._name}"
        self.names = [stem] if self._kind in ("joint", "motion") else [f"{stem} {axis}" for axis in AXES]
        self.motion: str | None = None
        if self._kind == "motion":
            motions = [name for name, joint in state.model.joints.items() if is_motion(joint)]
            self.motion = choice("motion", self._name, motions)
        if self._kind == "control":
            row = state.model.controls[choice("control", self._name, state.model.controls)]
            if not row["joints"] and not row["bodies"]:
                raise ValueError(f"inputs: control {self._name!r} has no efforts")
            on_bodies = [
                f"{body} {kind} {axis}" for body in row["bodies"] for kind in ("force", "torque") for axis in AXES
            ]
            self.names = [f"{stem} {one}" for one in (*effort_names(state.model, row), *on_bodies)]

    def forces(self, state: State, frame: Frame) -> Array:
        """The generalized forces (nv, components) of one unit of each component; none of motions."""
        if self.motion:
            return np.zeros((state.model.nv, 1))
        if self._kind == "joint":
            return _in_joint(state, *coordinate(state.multibody(), self._name))
        if self._kind == "control":
            row = state.multibody().controls[self._name]
            in_joints = [_in_joint(state, joint, which) for joint, which in row["joints"]]
            on_bodies = [
                _on_body(state, frame, body, None, rows) for body in row["bodies"] for rows in (FORCES, MOMENTS)
            ]
            return np.hstack([*in_joints, *on_bodies])
        return _on_body(state, frame, self._name, self._point, FORCES if self._kind == "force" else MOMENTS)


def _in_joint(state: State, joint: str, which: str) -> Array:
    """The generalized force (nv, 1) of an effort of one in a joint."""
    return rates_of(state.multibody(), joint, which, np.asarray(state.clock), state.q)[:, None]


def _on_body(state: State, frame: Frame, body: str, point: Any, rows: slice) -> Array:
    """The generalized forces (nv, 3) of forces or moments of one on a body along the axes of the frame."""
    found: Array = state.jacobian(body, point)[rows].T @ frame.axes
    return found


def rate_row(state: State, motion: str) -> Array:
    """The derivative (nv,) by v of the rate of a prescribed coordinate."""
    model = state.multibody()
    row = model.joints[motion]
    return rates_of(model, row["of"], row["kind"].removesuffix("_motion"), np.asarray(state.clock), state.q)


class Output:
    """An accessor of a state with its arguments."""

    def __init__(self, given: Any, state: State) -> None:
        if isinstance(given, str):
            given = (given,)
        if not isinstance(given, Sequence) or not given:
            raise ValueError(f'outputs: accessors with arguments, ("position", "arm"), expected, got {shown(given)}')
        self.accessor = choice("output", given[0], accessors())
        self.arguments = list(given[1:])
        self._model = state.model
        shape = np.shape(self.of(state))
        label = " ".join(map(str, given))
        self.names = [label + "".join(f"[{i}]" for i in at) for at in np.ndindex(shape)]

    @property
    def balances_forces(self) -> bool:
        """Whether it follows from a balance of the model's own forces, which does not include inputs."""
        if not isinstance(self._model, Model) or self.accessor != "reaction" or not self.arguments:
            return False
        joint = self._model.joints.get(self.arguments[0])
        return joint is not None and bool(joint.get("holds"))

    def of(self, state: Any) -> Array:
        """The value in a state."""
        found = getattr(state, self.accessor)
        if callable(found):
            try:
                found = found(*self.arguments)
            except TypeError as error:
                raise ValueError(f"outputs: {self.accessor}: {error}") from error
        value = np.asarray(_numbers(found))
        if value.dtype.kind not in "fiu":
            raise ValueError(f"outputs: {self.accessor} gives no numbers")
        return value.astype(float)


def _numbers(found: Any) -> Any:
    """The numbers in what an accessor returns; for a control, efforts and then states."""
    if isinstance(found, ControlValues):
        return np.hstack([*found.efforts.values(), *found.states.values()])
    return found.values if isinstance(found, Wrench) else found


def accessors() -> list[str]:
    """The names of accessors that give numbers."""
    left_out = {"model", "method", "options", "clock", "multibody", "work", "row_names", "mem", "carry", "extra"}
    return [name for name in dir(State) if not name.startswith("_") and name not in left_out]


class Perturbed:
    """The source of a state that has been moved by a perturbation."""

    method: Final = None
    options: Final[Mapping[str, Any]] = {}

    def __init__(self, model: System, motion: Motion, lam: Array) -> None:
        self.model = model
        self._parts = {**dict(zip("tqv", motion[:3], strict=True)), "vdot": motion.a, "lam": lam, "extra": {}}
        self._parts["mem"] = np.zeros(0)
        if motion.mem is not None:
            self._parts["mem"] = model.core.remember(motion.t, motion.q, motion.v, 0 * motion.v, motion.mem)

    def _part(self, row: int, name: str) -> Any:
        """A part of the state."""
        if name not in self._parts:
            raise AttributeError(f"a perturbed state has no {name}")
        return self._parts[name]

    def _enter(self, row: int, known: dict[str, Any]) -> None:
        """Enters time, coordinates and velocities."""
        enter(self, self._parts, known)

    def _single(self, row: int) -> Perturbed:
        """The source itself."""
        return self


class Direction:
    """Changes of q, v, accelerations and multipliers, (n, columns) each."""

    def __init__(self, q: Array, v: Array, a: Array, lam: Array) -> None:
        self.q, self.v, self.a, self.lam = q, v, a, lam


def derivatives(outputs: list[Output], model: System, motion: Motion, lam: Array, along: Direction) -> Array:
    """The derivatives (values, columns) of outputs along directions, by differences of sixth order."""
    columns = []
    for dq, dv, da, dlam in zip(along.q.T, along.v.T, along.a.T, along.lam.T, strict=True):
        size = STEP / max(np.abs(dq).max(initial=0), 1e-3)
        total: Any = 0.0
        for i, weight in STENCIL:
            ahead, behind = (
                np.concatenate([each.of(_moved(model, motion, lam, s, dq, dv, da, dlam)).ravel() for each in outputs])
                for s in (i * size, -i * size)
            )
            total = total + weight / size * (ahead - behind)
        columns.append(total)
    count = sum(len(each.names) for each in outputs)
    return np.stack(columns, axis=1) if columns else np.zeros((count, 0))


def state_at(model: System, motion: Motion, lam: Array) -> State:
    """The state at a point of a motion."""
    return State(Perturbed(model, motion, lam))


def _moved(model: System, motion: Motion, lam: Array, s: float, dq: Array, dv: Array, da: Array, dlam: Array) -> State:
    q = model.core.retract(motion.q, s * dq)
    moved = motion._replace(q=q, v=motion.v + s * dv, a=motion.a + s * da)
    return state_at(model, moved, lam + s * dlam)
