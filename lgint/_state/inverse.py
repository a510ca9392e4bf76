"""Inverse dynamics: the efforts that a motion requires."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from lgint._args import Array, array, choice, listing
from lgint._model.joints import JOINTS, joint_coordinate
from lgint._model.loops import TOLERANCE, dependent_rows
from lgint._model.model import Model
from lgint._model.record import is_motion
from lgint._model.system import System

REACH: Final = 1e-6  # largest fraction of the forces of a motion that the efforts may fail to balance
COORDINATES: Final = ("angle", "slide")


class Balance(NamedTuple):
    """The terms of the equations of motion at a motion, each (..., nv): M vdot + gyro - force is to be balanced."""

    inertia: Array
    gyro: Array
    force: Array

    @property
    def rest(self) -> Array:
        """What constraints and efforts have to balance."""
        return self.inertia + self.gyro - self.force


def inverse_dynamics(
    model: System,
    q: ArrayLike,
    v: ArrayLike,
    vdot: ArrayLike,
    t: ArrayLike,
    actuators: Sequence[str] | None,
    redundant: str,
) -> Array:
    """See `Model.inverse_dynamics`."""
    choice("redundant", redundant, ("error", "least_norm"))
    motion = _motion(model, q, v, vdot, t)
    if actuators is None:
        _refuse_rows(model, "inverse_dynamics")
        if redundant != "error":
            raise ValueError(f"redundant={redundant!r}: it says how actuators share a motion; give actuators as well")
        return _terms(model, *motion).rest
    joints = _Actuators(model, actuators)
    terms = _terms(model, *motion)
    return joints.efforts(terms, motion, redundant)


def inverse_dynamics_derivatives(
    model: System, q: ArrayLike, v: ArrayLike, vdot: ArrayLike, t: ArrayLike
) -> tuple[Array, Array, Array]:
    """See `Model.inverse_dynamics_derivatives`."""
    _refuse_rows(model, "inverse_dynamics_derivatives")
    time, x, xdot, a = _motion(model, q, v, vdot, t)
    return model.core.linearise(time, x, xdot, a, mem=_memory(model, time, x, xdot))


# ---- the motion ----


def _motion(model: System, q: ArrayLike, v: ArrayLike, vdot: ArrayLike, t: ArrayLike) -> tuple[Array, ...]:
    """t, q, v and vdot, with the same leading axes in all of them that have any."""
    given = {"t": array("t", t), "q": array("q", q), "v": array("v", v), "vdot": array("vdot", vdot)}
    for name, n in (("q", model.nq), ("v", model.nv), ("vdot", model.nv)):
        if given[name].shape[-1:] != (n,):
            raise ValueError(f"{name}: shape (..., {n}) expected, got {given[name].shape}")
    leading = {name: each.shape if name == "t" else each.shape[:-1] for name, each in given.items()}
    if len({shape for shape in leading.values() if shape}) > 1:
        raise ValueError(f"q, v, vdot, t: the same leading axes expected in all that have any, got {leading}")
    return tuple(given.values())


def _memory(model: System, t: Array, q: Array, v: Array) -> Array | None:
    """The memory of a state, whose angles are the nearest to those of the model's start."""
    return model.core.remember(t, q, v, np.zeros(model.nv), model.mem0) if model.core.nmem else None


def _terms(model: System, t: Array, q: Array, v: Array, a: Array) -> Balance:
    mem = _memory(model, t, q, v)
    found = model.core.evaluate(t, q, v, a, mem=mem, want=("Ma", "gyro", "force"))
    return Balance(found["Ma"], found["gyro"], found["force"])


def _refuse_rows(model: System, what: str) -> None:
    if model.nc:
        named = 'name the joints that have actuators: actuators=["shoulder", ...]'
        raise ValueError(
            f"{what}: the model has {model.nc} constraint rows, so that generalized forces do not follow from its "
            f"motion; {named if what == 'inverse_dynamics' else 'build it as a tree in minimal coordinates'}"
        )


# ---- actuators ----


class _Actuators:
    """Joints whose coordinates have efforts, and S, whose rows are the derivatives of the coordinates' rates by v."""

    def __init__(self, model: System, names: Sequence[str]) -> None:
        if not isinstance(model, Model):
            raise ValueError(f"actuators: a {type(model).__name__} has no joints")
        if not isinstance(names, (list, tuple)) or not names or not all(isinstance(name, str) for name in names):
            raise ValueError(f"actuators: a list of names of joints expected, got {names!r}")
        self.model = model
        self.names = list(names)
        self.coordinates = [coordinate(model, name) for name in self.names]
        if len(set(self.coordinates)) < len(self.names):
            raise ValueError(f"actuators: each joint once expected, got {listing(self.names)}")

    def efforts(self, terms: Balance, motion: tuple[Array, ...], redundant: str) -> Array:
        """The efforts (..., n) that balance the terms of the motion together with the constraints."""
        t, q, v, _ = motion
        rest, shape = terms.rest, terms.rest.shape[:-1]
        t, q, v = (np.broadcast_to(x, (*shape, *x.shape[x.ndim - k :])) for x, k in ((t, 0), (q, 1), (v, 1)))
        free = free_directions(self.model, t, q, v, self._motions())
        S = np.stack([rates_of(self.model, *each, t, q) for each in self.coordinates], axis=-2)
        found = np.empty((*shape, len(self.names)))
        for i in np.ndindex(shape):
            N = free[i]
            size = sum(float(np.linalg.norm(term[i] @ N)) for term in terms)
            found[i], left = self._solved((S[i] @ N).T, np.linalg.norm(S[i], axis=-1), rest[i] @ N, redundant)
            if np.linalg.norm(left) > REACH * size:
                self._raise_out_of_reach(N @ left, size, t[i], q[i])
        return found

    def _motions(self) -> list[str]:
        """The prescribed motions of these coordinates, which the efforts replace."""
        motions = {name: joint for name, joint in self.model.joints.items() if is_motion(joint)}
        prescribed = {name: (row["of"], row["kind"].removesuffix("_motion")) for name, row in motions.items()}
        return [name for name, moved in prescribed.items() if moved in self.coordinates]

    def _solved(self, P: Array, lengths: Array, rest: Array, redundant: str) -> tuple[Array, Array]:
        """The solution of P efforts = rest, and its residual."""
        if redundant == "error":
            self._check_columns(P, lengths)
        efforts = np.asarray(np.linalg.lstsq(P, rest, rcond=TOLERANCE)[0], dtype=float)
        return efforts, rest - P @ efforts

    def _check_columns(self, P: Array, lengths: Array) -> None:
        locked = [name for name, column, n in zip(self.names, P.T, lengths, strict=True) if _is_zero(column, n)]
        if locked:
            raise ValueError(
                f"actuators: {listing(locked)} cannot move here, since the constraints lock them; leave them out, or "
                'take redundant="least_norm"'
            )
        extra = dependent_rows(P.T, iter([range(len(self.names))]))
        if extra:
            raise ValueError(
                f"actuators: the efforts of {listing([self.names[i] for i in extra])} do the same as those of the "
                'others, so that many efforts give this motion; leave them out, or take redundant="least_norm", the '
                "efforts of least norm"
            )

    def _raise_out_of_reach(self, force: Array, size: float, t: Array, q: Array) -> None:
        others = [each for each in coordinates_of(self.model) if each not in self.coordinates]
        powers = [_cosine(rates_of(self.model, *each, t, q), force) for each in others]
        strong = [f"joint {shown(*each)!r}" for each, power in zip(others, powers, strict=True) if power > 0.1]
        where = ", ".join(strong[:12]) or self._body(force)
        raise ValueError(
            f"inverse_dynamics: the efforts of {listing(self.names)} cannot give this motion: "
            f"{np.linalg.norm(force):.3g} N or N m of {size:.3g} are left at {where}. Name more "
            "actuators, or give accelerations that the mechanism can have with these"
        )

    def _body(self, force: Array) -> str:
        """The bodies of the block on which a generalized force is largest."""
        largest = int(np.argmax(np.abs(force)))
        starts = [v for _, _, _, v, *_ in self.model.core.blocks]
        block = int(np.searchsorted(starts, largest, side="right")) - 1
        return f"body {listing([name for name, body in self.model.bodies.items() if body['block'] == block])}"


def _is_zero(column: Array, length: float) -> bool:
    return bool(np.linalg.norm(column) <= TOLERANCE * length)


def _cosine(a: Array, b: Array) -> float:
    lengths = float(np.linalg.norm(a) * np.linalg.norm(b))
    return abs(float(a @ b)) / lengths if lengths else 0.0


# ---- coordinates of joints ----


def coordinate(model: Model, name: object) -> tuple[str, str]:
    """A joint and its coordinate from "joint", "joint.angle" or "joint.slide"."""
    joint, _, which = name.rpartition(".") if isinstance(name, str) else ("", "", "")
    if joint not in model.joints or which not in COORDINATES or name in model.joints:
        joint, which = choice("joint", name, model.joints), ""
    return joint, joint_coordinate(joint, model.joints[joint]["kind"], which or None)


def shown(joint: str, which: str) -> str:
    """The name of a coordinate, as `coordinate` takes it."""
    return f"{joint}.{which}"


def coordinates_of(model: Model) -> list[tuple[str, str]]:
    """All coordinates of joints."""
    return [
        (name, which)
        for name, joint in model.joints.items()
        if joint["kind"] in JOINTS
        for which in JOINTS[joint["kind"]].coordinates
    ]


def rates_of(model: Model, name: str, which: str, t: Array, q: Array) -> Array:
    """The derivative (..., nv) of the rate of a joint's coordinate by v."""
    if model.joints[name].get("holds"):
        row = np.zeros((*q.shape[:-1], model.nv))
        row[..., model.coordinate_of(name, which, 1)] = 1
        return row
    indices = model.joint_indices(name)
    frames = indices.slide if which == "slide" else indices.frames
    still = np.zeros((*q.shape[:-1], model.nv))
    (x0, R0, J0), (x1, R1, J1) = (_motion_of(model, frame, t, q, still) for frame in frames)
    axis = model.joint_kinematics(name, 0, q, still, t)[1] @ model.joint_triad(name, 0)[:, 2]
    turn0, turn1 = R0 @ J0[..., 3:, :], R1 @ J1[..., 3:, :]
    if which == "angle":
        return _along(axis, turn1 - turn0)
    return _along(axis, J1[..., :3, :] - J0[..., :3, :]) - _along(np.cross(x1 - x0, axis), turn0)


def _motion_of(model: Model, frame: int, t: Array, q: Array, v: Array) -> tuple[Array, Array, Array]:
    """Position, rotation and Jacobian of a frame."""
    x, R, _, _ = model.core.kinematics(frame, q, v, t)
    return x, R, model.core.jacobian(frame, q, v, t)[0]


def _along(axis: Array, J: Array) -> Array:
    row: Array = np.einsum("...i,...ij->...j", axis, J)
    return row


# ---- constraints ----


def free_directions(model: Model, t: Array, q: Array, v: Array, released: Sequence[str] = ()) -> Array:
    """An orthonormal basis (..., nv, n) of the velocities that all constraints but those `released` allow at rest.

    A ValueError names rows if there are more such velocities than at other positions.
    """
    if not model.nc:
        return np.broadcast_to(np.eye(model.nv), (*q.shape[:-1], model.nv, model.nv))
    whole: Any = model.complete
    kept = [row for row in range(whole.nc) if not any(row in whole.rows(name) for name in released)]
    known = set(model.dropped_rows)
    B = whole.core.evaluate(t, q, v, want=["B"])["B"][..., kept, :]
    rank = sum(whole.row_names[row] not in known for row in kept)
    if not rank:
        return np.broadcast_to(np.eye(model.nv), (*q.shape[:-1], model.nv, model.nv))
    length = np.linalg.norm(B, axis=-1, keepdims=True)
    unit = B / np.where(length > 0, length, 1.0)
    _, sizes, axes = np.linalg.svd(unit, full_matrices=True)
    for i in np.ndindex(q.shape[:-1]):
        if sizes[i][rank - 1] < TOLERANCE * sizes[i][0]:
            rows = [whole.row_names[kept[row]] for row in dependent_rows(B[i], iter([range(len(kept))]))]
            raise ValueError(
                "singular constraints: in this position these rows depend on the others: "
                f"{listing([row for row in rows if row not in known] or rows)}"
            )
    return np.swapaxes(axes[..., rank:, :], -1, -2)
