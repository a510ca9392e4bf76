"""States from coordinates of joints and poses of bodies, in every formulation: Newton's method on the configuration.

Every joint has a relative displacement d (6,) of its second body from a target, along and about the axes of the joint,
and every body one from a target in space; both are zero where the pose is the target. Wanted are zeros of d for joints
and bodies that a caller gives, and of the constraints; the d of all other joints, from their poses in the model's
start, are made as small as that allows. They are zero unless the joints form closed loops, whose joints have to move.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

import numpy as np

from lgint import groups
from lgint._args import Array, array, choice, listing, shown
from lgint._model.joints import JOINTS, TREE_JOINTS
from lgint._model.model import Kinematics, Model
from lgint._model.record import JointRow, mode_count, partners
from lgint._rotation import rotation, vector_of_matrix
from lgint._state.state import Independent, State

STEP: Final = 0.25  # largest motion of a target at a time, rad and m
TIGHT: Final = 1e-11  # m and rad
COARSE: Final = 1e-4  # the same for poses on the way to the wanted ones
FURTHEST: Final = 0.5  # m or rad of a single correction
RANK: Final = 1e-10  # singular values below this, relative to the largest one, are zero
MOST: Final = 50  # iterations for one target

Pose = tuple[Array, Array]  # position (3,) and rotation (3, 3)


class Given(NamedTuple):
    """What a caller gives: coordinates of joints and poses of bodies, or their rates, by name."""

    joints: dict[str, Any]
    bodies: dict[str, Any]


class Mechanism:
    """A model at a time with its joints, as this file sees them."""

    def __init__(self, model: Model, t: float) -> None:
        self.model, self.t = model, t
        self.joints = {name: row for name, row in model.joints.items() if "triads" in row}
        self._names = [*self.joints]
        ends = [(joint.frames[0], joint.frames[1], *joint.slide) for joint in map(model.joint_indices, self._names)]
        self._frames = [frame for four in ends for frame in four]
        self._triads = np.array([row["triads"] for row in self.joints.values()]).reshape(-1, 2, 3, 3)
        for i, row in enumerate(self.joints.values()):
            for end, body in enumerate(partners(row)):
                reference = model.bodies[body]["reference"] if body in model.bodies else None
                if reference is not None:
                    self._triads[i, end] = np.array(reference) @ self._triads[i, end]
        slices = [model.modal(name) for name, body in model.bodies.items() if mode_count(body)]
        self.modal = [[i for pair in slices for i in range(pair[k].start, pair[k].stop)] for k in (0, 1)]
        self.kept = [*self.modal[1], *(i for own in model.control_states.values() for i in range(own.start, own.stop))]

    def _of_joints(self, q: Array, v: Array) -> Kinematics:
        """The motion of the second axes of each joint in its first axes; the angular velocity is in the second axes."""
        x, R, xdot, omega = self.model.core.kinematics(self._frames, q, v, np.full(q.shape[:-1], self.t))
        spin = np.einsum("...ij,...j->...i", R, omega)
        first, second = R[..., 0::4, :, :] @ self._triads[:, 0], R[..., 1::4, :, :] @ self._triads[:, 1]
        back = np.swapaxes(first, -1, -2)
        apart, speed = x[..., 3::4, :] - x[..., 2::4, :], xdot[..., 3::4, :] - xdot[..., 2::4, :]
        speed = speed - np.cross(spin[..., 0::4, :], apart)
        turning = spin[..., 1::4, :] - spin[..., 0::4, :]
        position, velocity = (np.einsum("...ij,...j->...i", back, value) for value in (apart, speed))
        return position, back @ second, velocity, np.einsum("...ji,...j->...i", second, turning)

    def roots(self, named: Mapping[str, Any]) -> list[int]:
        """The first body of each part that no joint holds to the ground or a support, unless a pose there is given."""
        bodies = [*self.model.bodies]
        above = {name: name for name in ("ground", *bodies)}

        def top(name: str) -> str:
            while above[name] != name:
                name = above[name]
            return name

        for row in self.joints.values():
            one, other = (top(self._holder(body)) for body in partners(row))
            above[one if other == "ground" else other] = other if other == "ground" else one
        placed = {"ground", *map(top, named)}
        found = {top(name): i for i, name in reversed([*enumerate(bodies)])}
        return [i for name, i in found.items() if name not in placed]

    def _holder(self, partner: str) -> str:
        """The body of a partner of a joint, which may be one of its nodes."""
        if partner in self.model.bodies:
            return partner
        return "ground" if partner == "ground" or partner in self.model.supports else partner.rpartition(".")[0]

    def poses(self, q: Array, v: Array) -> tuple[Array, Array, Array]:
        """Positions, rotations and rates (..., 6) of the poses of all joints, followed by those of all bodies."""
        model = self.model
        motion = model.motions([*model.bodies], q, v, np.full(q.shape[:-1], self.t))
        pairs = zip(self._of_joints(q, v), motion, strict=True)
        x, R, xdot, omega = (np.concatenate(pair, axis=q.ndim - 1) for pair in pairs)
        return x, R, np.concatenate([xdot, omega], axis=-1)

    def rates(self, q: Array) -> tuple[Array, Array]:
        """The derivatives (n, 6, nv) of the rates of all poses by v, and the rates (n, 6) at v = 0."""
        nv = self.model.nv
        *_, rates = self.poses(np.repeat(q[None], nv + 1, axis=0), np.eye(nv + 1, nv, -1))
        return np.moveaxis(rates[1:] - rates[0], 0, -1), rates[0]


def _rows_of(kind: str) -> list[int]:
    """The rows of d that the coordinates of a joint of this kind determine, with those that its constraints lock."""
    return [*range(6)] if kind in TREE_JOINTS else [2]


def counts(kind: str) -> int:
    """Number of the coordinates of a joint that are numbers: angles and slides."""
    if kind in TREE_JOINTS:
        return sum(motion != "node" for motion, _ in TREE_JOINTS[kind])
    return len(JOINTS[kind].coordinates) if kind in JOINTS else 0


def _motions(kind: str) -> tuple[tuple[str, int], ...]:
    return TREE_JOINTS.get(kind, (("slide", 2),))


# ---- what a caller gives ----


def joints_given(model: Model, what: str, values: Mapping[str, Any]) -> Given:
    """The values of `joints` or `rates`, checked."""
    if not isinstance(values, Mapping):
        raise ValueError(f"{what}: values by the names of joints and free bodies expected, got {shown(values)}")
    found = Given({}, {})
    for name, value in values.items():
        choice(f"joint or body in {what}", name, [*model.joints, *model.bodies])
        label = f"{what}: {name!r}"
        if name in model.joints:
            found.joints[name] = _of_joint(label, model.joints[name]["kind"], value, rate=what == "rates")
        else:
            found.bodies[name] = _pair(label, value, rate=what == "rates")
    return found


def _of_joint(label: str, kind: str, value: Any, *, rate: bool) -> Any:
    n, turns = counts(kind), kind in TREE_JOINTS and TREE_JOINTS[kind][-1][0] == "node"
    if not n and not turns:
        kinds = [other for other in (*TREE_JOINTS, *JOINTS) if counts(other) or other == "spherical"]
        raise ValueError(f"{label} is {kind} and has no coordinates; joints that have some are {listing(kinds)}")
    if n and turns:
        return _pair(label, value, rate=rate)
    if turns:
        return array(label, value, (3,)) if rate else rotation(label, value)
    numbers = np.atleast_1d(array(label, value))
    if numbers.shape != (n,):
        words = ", ".join("slide" if motion == "slide" else "angle" for motion, _ in _motions(kind))
        raise ValueError(f"{label} is {kind} and has {n} coordinates ({words}), got {shown(value)}")
    return numbers


def _pair(label: str, value: Any, *, rate: bool) -> Pose:
    words = (
        "a velocity (3,) and an angular velocity (3,)"
        if rate
        else "a position (3,) and a rotation (3, 3), (4,) or (3,)"
    )
    if not isinstance(value, (tuple, list)) or len(value) != 2:
        raise ValueError(f"{label}: {words} expected, got {shown(value)}")
    second = array(label, value[1], (3,)) if rate else rotation(label, value[1])
    return array(label, value[0], (3,)), second


# ---- coordinates of joints as poses ----


def _pose(kind: str, x: Any) -> Pose:
    """The pose of the second axes of a joint in its first axes at the coordinates x."""
    position, R = np.zeros(3), np.eye(3)
    for (motion, axis), value in zip(_motions(kind), x, strict=True):
        if motion == "slide":
            position = position + value * R[:, axis]
        else:
            R = R @ groups.so3.exp(value * np.eye(3)[axis])
    return position, R


def twist(kind: str, x: Any, rates: Any) -> Array:
    """The rate (6,) of that pose, its angular velocity in the second axes."""
    speed, spin, R = np.zeros(3), np.zeros(3), np.eye(3)
    for (motion, axis), value, rate in zip(_motions(kind), x, rates, strict=True):
        unit = np.eye(3)[axis]
        if motion == "slide":
            speed = speed + rate * R[:, axis]
        else:
            turn = groups.so3.exp(value * unit)
            R, spin = R @ turn, turn.T @ spin + rate * unit
    return np.concatenate([speed, spin])


# ---- the state ----


class _Wanted(NamedTuple):
    """Which displacements of the poses of joints and bodies have to vanish, and which to be small; (n, 6) each."""

    zero: Array
    small: Array


def _wanted(mechanism: Mechanism, named: Given) -> _Wanted:
    joints = [*mechanism.joints]
    zero = np.zeros((len(joints) + len(mechanism.model.bodies), 6), dtype=bool)
    small = zero.copy()
    small[: len(joints)] = True
    small[[len(joints) + i for i in mechanism.roots(named.bodies)]] = True
    for name in named.joints:
        zero[joints.index(name), _rows_of(mechanism.joints[name]["kind"])] = True
    for name in named.bodies:
        zero[len(joints) + [*mechanism.model.bodies].index(name)] = True
    return _Wanted(zero, small & ~zero)


def _solved(hard: Array, wanted: Array, soft: Array, near: Array) -> Array:
    """The x with hard x = wanted for which soft x is nearest to `near`; least squares where there is none."""
    if not len(hard):
        return np.asarray(np.linalg.lstsq(soft, near, rcond=RANK)[0], dtype=np.float64)
    U, size, V = np.linalg.svd(hard)
    rank = int((size > RANK * size[0]).sum())
    x: Array = V[:rank].T @ ((U[:, :rank].T @ wanted) / size[:rank])
    rest = V[rank:].T
    nearest: Array = x + rest @ np.linalg.lstsq(soft @ rest, near - soft @ x, rcond=RANK)[0]
    return nearest


class Path(NamedTuple):
    """The poses of joints and bodies that are given, on their way from a start."""

    number: int  # among the poses of all joints and bodies
    kind: str | None  # of a joint with numbers as coordinates
    start: Any  # these, or a pose
    end: Any

    def at(self, s: float) -> Pose:
        """The pose at s from 0 to 1."""
        if self.kind is not None:
            return _pose(self.kind, (1 - s) * self.start + s * self.end)
        (x, R), (y, S) = self.start, self.end
        return (1 - s) * x + s * y, R @ groups.so3.exp(s * vector_of_matrix(R.T @ S))

    @property
    def turn(self) -> float:
        """The largest angle on the way."""
        if self.kind is None:
            return float(np.linalg.norm(vector_of_matrix(self.start[1].T @ self.end[1])))
        turns = [motion == "turn" for motion, _ in _motions(self.kind)]
        return float(np.abs(self.end - self.start)[turns].max(initial=0))


def placed_by(model: Model, t: float, q: Array, named: Given) -> tuple[Array, Array]:
    """Coordinates q and memory in which joints and bodies are as given, the others near where they are at q."""
    mechanism, v = Mechanism(model, t), np.zeros(model.nv)
    wanted, core = _wanted(mechanism, named), model.core
    x0, R0, _ = mechanism.poses(q, v)
    paths = _paths(mechanism, State(Independent(model, t, q, v, model.mem0)), x0, R0, named)
    mem, eta = model.mem0, q[mechanism.modal[0]]
    count = max([1, *(int(np.ceil(path.turn / STEP)) for path in paths)])
    x, R = x0.copy(), R0.copy()
    for s in np.arange(1, count + 1) / count:
        for path in paths:
            x[path.number], R[path.number] = path.at(float(s))
        q, error = _nearest(mechanism, q, mem, wanted, (x, R), eta, TIGHT if s == 1 else COARSE)
        mem = core.remember(t, q, v, v, mem)
    if not error <= TIGHT * (1 + np.abs(q).max(initial=0)):
        raise ValueError(
            f"joints: no position was found in which {listing([*named.joints, *named.bodies])} have the given values "
            f"and all joints are closed; they are off by {error:.3g}. Give fewer of them, or values that are closer "
            "to those of the start"
        )
    return q, mem


def _nearest(
    mechanism: Mechanism, q: Array, mem: Array, wanted: _Wanted, targets: Pose, eta: Array, tight: float
) -> tuple[Array, float]:
    """The solution for some targets, from a q nearby, and the largest displacement that should have vanished."""
    model, v = mechanism.model, np.zeros(mechanism.model.nv)
    for _ in range(MOST):
        terms = model.core.evaluate(mechanism.t, q, v, mem=mem, want=["B", "phi"])
        x, R, _ = mechanism.poses(q, v)
        d = np.concatenate([x - targets[0], vector_of_matrix(np.swapaxes(targets[1], 1, 2) @ R)], axis=1)
        J, _ = mechanism.rates(q)
        rows = np.delete(np.arange(model.nc), model.core.nonholonomic)
        hard = np.concatenate([terms["B"][rows], J[wanted.zero]])
        off = np.concatenate([terms["phi"][rows], d[wanted.zero]])
        soft = np.concatenate([J[wanted.small], np.eye(model.nv)[mechanism.modal[1]]])
        near = np.concatenate([d[wanted.small], q[mechanism.modal[0]] - eta])
        theta = _solved(hard, -off, soft, -near)
        largest, error = np.abs(theta).max(initial=0), float(np.abs(off).max(initial=0))
        q = model.core.retract(q, theta * min(1.0, FURTHEST / max(largest, FURTHEST)))
        if largest <= tight and error <= tight:
            break
    return q, error


def velocities_of(model: Model, t: float, start: tuple[Array, Array], q: Array, mem: Array, named: Given) -> Array:
    """Velocities at q with which joints and bodies move as given, and the others nearly as at `start`, its q and v."""
    mechanism, still = Mechanism(model, t), np.zeros(model.nv)
    wanted, joints = _wanted(mechanism, named), [*mechanism.joints]
    *_, rates = mechanism.poses(*start)
    x, R, _ = mechanism.poses(q, still)
    state = State(Independent(model, t, q, still, mem))
    for name, value in named.joints.items():
        i, row = joints.index(name), mechanism.joints[name]
        rates[i] = _rates(row, value, coordinates(state, name, row["kind"], x[i], R[i]))
    for name, (velocity, omega) in named.bodies.items():
        rates[len(joints) + [*model.bodies].index(name)] = *velocity, *omega
    terms = model.core.evaluate(t, q, still, mem=mem, want=["B", "phidot"])
    J, at_rest = mechanism.rates(q)
    hard = np.concatenate([terms["B"], J[wanted.zero]])
    targets = np.concatenate([-terms["phidot"], (rates - at_rest)[wanted.zero]])
    soft = np.concatenate([J[wanted.small], np.eye(model.nv)[mechanism.kept]])
    near = np.concatenate([(rates - at_rest)[wanted.small], start[1][mechanism.kept]])
    found = _solved(hard, targets, soft, near)
    error = np.abs(hard @ found - targets).max(initial=0)
    if not error <= 1e-8 * (1 + np.abs(targets).max(initial=0)):
        raise ValueError(
            f"rates: the joints do not allow the given rates of {listing([*named.joints, *named.bodies])} together; "
            f"they are off by {error:.3g}. Give fewer of them"
        )
    return found


def displaced(
    model: Model, t: float, start: tuple[Array, Array], name: str, change: Array, *, rate: bool
) -> Callable[[float], tuple[Array, Array]]:
    """The q and v near `start` at which the pose of one joint or body, or its rate, differs by s times a change (6,).

    The others stay nearly as they are. Joints may open.
    """
    mechanism, joint = Mechanism(model, t), name in model.joints
    wanted = _wanted(mechanism, Given({name: None}, {}) if joint else Given({}, {name: None}))
    number = [*mechanism.joints].index(name) if joint else len(mechanism.joints) + [*model.bodies].index(name)
    moved, unit = np.zeros(wanted.zero.shape), np.eye(model.nv)
    moved[number] = change
    *_, rates = mechanism.poses(*start)
    J, _ = mechanism.rates(start[0])
    soft = np.concatenate([J[wanted.small], unit[mechanism.modal[1]]])
    theta = _solved(J[wanted.zero], moved[wanted.zero], soft, np.zeros(len(soft)))

    def at(s: float) -> tuple[Array, Array]:
        q = start[0] if rate else model.core.retract(start[0], s * theta)
        J, at_rest = mechanism.rates(q)
        targets = rates - at_rest + (s * moved if rate else 0.0)
        soft = np.concatenate([J[wanted.small], unit[mechanism.kept]])
        near = np.concatenate([targets[wanted.small], start[1][mechanism.kept]])
        return q, _solved(J[wanted.zero], targets[wanted.zero], soft, near)

    return at


def _paths(mechanism: Mechanism, state: State, x: Array, R: Array, named: Given) -> list[Path]:
    joints, bodies, paths = [*mechanism.joints], [*mechanism.model.bodies], []
    for name, value in named.joints.items():
        i, row = joints.index(name), mechanism.joints[name]
        kind = row["kind"]
        if kind in TREE_JOINTS and TREE_JOINTS[kind][-1][0] == "node":
            first, second = (np.array(triad) for triad in row["triads"])
            position, turned = value if isinstance(value, tuple) else (np.zeros(3), value)
            paths.append(Path(i, None, (x[i], R[i]), (position, first.T @ turned @ second)))
        else:
            paths.append(Path(i, kind, coordinates(state, name, kind, x[i], R[i]), value))
    for name, pose in named.bodies.items():
        i = len(joints) + bodies.index(name)
        paths.append(Path(i, None, (x[i], R[i]), pose))
    return paths


def coordinates(state: State, name: str, kind: str, x: Array, R: Array) -> Array:
    """Angles and slides of a joint, from its pose and, where it counts turns, from the state."""
    if kind == "universal":
        return np.array([np.arctan2(R[2, 1], R[1, 1]), np.arctan2(R[0, 2], R[0, 0])])
    return np.array(
        [
            x[axis] if motion == "slide" else state.joint_position(name, "angle") if motion == "turn" else 0.0
            for motion, axis in _motions(kind)
        ]
    )


def _rates(row: JointRow, value: Any, x: Array) -> Array:
    """The rate (6,) of the pose of a joint whose coordinates x have the rates `value`."""
    kind = row["kind"]
    if kind in TREE_JOINTS and TREE_JOINTS[kind][-1][0] == "node":
        speed, omega = value if isinstance(value, tuple) else (np.zeros(3), value)
        return np.concatenate([speed, np.array(row["triads"][1]).T @ omega])
    return twist(kind, x, value)
