r"""How coordinates, velocities and accelerations change with perturbations that are measured in one frame.

A perturbation z(t) moves every body by $\eta = (\delta x, \theta)$, the displacement of its COM and a small rotation,
both in the axes of the frame, which turn at the constant rate $\Omega$. With Q from the frame to inertial axes, R from
the body to inertial axes and its angular velocity $\omega$ in inertial axes,

    delta x'      = Q (eta_x' + Omega x eta_x),
    delta omega_b = R^T Q (eta_r' + Omega x eta_r),

in body axes, and one more derivative gives the accelerations. In terms of a formulation, the pose changes by
$P\,\delta q$ and the twist is $J(q) v$, so that

    P delta q = eta,   J delta v = delta twist - (dJ/dq delta q) v,   and likewise for accelerations.

J, linear in v, follows exactly from kinematics; derivatives by q from differences of sixth order. Bodies only depend on
the coordinates of their own block, so that one evaluation serves all blocks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

import numpy as np

from lgint import groups
from lgint._args import Array, listing
from lgint._core import SingularError
from lgint._linear.frame import Frame, cross_matrix
from lgint._model.joints import NODES
from lgint._model.model import Model
from lgint._model.record import mode_count
from lgint._model.system import System

STEP: Final = 2e-3  # of differences, rad or m
STENCIL: Final = ((1, 0.75), (2, -0.15), (3, 1 / 60))  # sixth order
REGULAR: Final = 1e-9  # least ratio of singular values of the map from velocities to twists
COMPONENTS: Final = ("x", "y", "z", "rx", "ry", "rz")


class Motion(NamedTuple):
    """A point of a motion: time, q, v, accelerations, and the memory of the system."""

    t: float
    q: Array
    v: Array
    a: Array
    mem: Array | None


class Group(NamedTuple):
    """Blocks of the same size: indices (blocks, n) of their rows, velocities and perturbations."""

    poses: Array  # rows of displacements, rotations and modal coordinates
    own: Array  # rows of their own, such as unit length
    v: Array
    z: Array
    names: list[list[str]]  # of their bodies


class Block(NamedTuple):
    """A matrix that is block diagonal: entries (blocks, rows, columns) at rows and columns."""

    rows: Array
    columns: Array
    values: Array


class Maps(NamedTuple):
    """With perturbations z: delta q = Y z, delta v = Y z' + W z, delta a = Y z'' + W1 z' + W0 z.

    `basis` has the perturbations of all poses, whose columns belong to z; `error` is by how much they are not possible.
    """

    Y: list[Block]
    W: list[Block]
    W1: list[Block]
    W0: list[Block]
    basis: list[Array]
    error: float


class Bodies:
    """The perturbations of a model's bodies, block by block."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.names = list(model.bodies)
        self.frames = [model.frame(name) for name in self.names]
        self.rows, self._modal = self._rows()
        self.labels = self._labels()
        self.count = len(self.labels)  # of poses, whose rows come first
        own = [(first, count) for *_, count, first in model.core.blocks]
        self._own = np.array([first + i for first, count in own for i in range(count)], dtype=int)
        self.own_rows = set(self._own.tolist())
        self.groups = self._groups()
        self.nz = sum(group.z.size for group in self.groups)

    def _rows(self) -> tuple[list[int], list[tuple[int, slice]]]:
        """The first row of each body, and those of modal coordinates with their velocities."""
        rows, modal, count = [], [], 0
        for name, body in self.model.bodies.items():
            rows.append(count)
            count += 6
            if body["modes"]:
                modal.append((count, self.model.modal(name)[1]))
                count += mode_count(body)
        return rows, modal

    def _labels(self) -> list[str]:
        labels: list[str] = []
        for name, body in self.model.bodies.items():
            labels += [f"{name}.{each}" for each in COMPONENTS]
            labels += [f"{name}.mode{i + 1}" for i in range(mode_count(body))]
        return labels

    def _groups(self) -> list[Group]:
        blocks = self.model.core.blocks
        ends = [*(v for _, _, _, v, *_ in blocks), self.model.nv]
        members: list[list[int]] = [[] for _ in blocks]
        for i, body in enumerate(self.model.bodies.values()):
            members[body["block"]].append(i)
        row_ends = [*self.rows[1:], self.count]
        found: dict[tuple[int, int, int], list[Any]] = {}
        own = z = 0
        for block, bodies in enumerate(members):
            poses = np.concatenate([np.arange(self.rows[i], row_ends[i]) for i in bodies])
            v, n = np.arange(ends[block], ends[block + 1]), blocks[block][4]
            rows = self.count + np.arange(own, own + n)
            entry = (poses, rows, v, np.arange(z, z + len(v) - n), [self.names[i] for i in bodies])
            found.setdefault((len(poses), n, len(v)), []).append(entry)
            own, z = own + n, z + len(v) - n
        return [
            Group(np.array(poses), np.array(rows), np.array(v), np.array(z), [*names])
            for poses, rows, v, z, names in (zip(*entries, strict=True) for entries in found.values())
        ]

    # ---- kinematics ----

    def pose(self, motion: Motion) -> tuple[Array, Array]:
        """Positions (n, 3) and rotations (n, 3, 3)."""
        x, R, _, _ = self.model.core.kinematics(self.frames, motion.q, motion.v, motion.t)
        return x, R

    def _twists(self, motion: Motion, q: Array, v: Array) -> Array:
        """Velocities and angular velocities, rates of modal coordinates and of the blocks' own rows, (states, rows)."""
        _, _, linear, angular = self.model.core.kinematics(self.frames, q, v, motion.t)
        own = self._evaluated(motion, "phidot", q, v) if self._own.size else None
        return self._stacked(linear, angular, v, own)

    def _accelerations(self, motion: Motion, q: Array, v: Array, a: Array) -> Array:
        linear, angular = self.model.core.accelerations(self.frames, q, v, a, motion.t)
        own = None
        if self._own.size:
            Ba = self._evaluated(motion, "phidot", q, a) - self._evaluated(motion, "phidot", q, 0 * a)
            own = Ba - self._evaluated(motion, "zeta", q, v)
        return self._stacked(linear, angular, a, own)

    def _evaluated(self, motion: Motion, want: str, q: Array, v: Array) -> Array:
        mem = None if motion.mem is None else np.broadcast_to(motion.mem, (*q.shape[:-1], motion.mem.size))
        return self.model.core.evaluate(motion.t, q, v, mem=mem, want=[want])[want]

    def _stacked(self, linear: Array, angular: Array, modal: Array, own: Array | None) -> Array:
        rows = np.empty((*linear.shape[:-2], self.count + self._own.size))
        at = np.add.outer(self.rows, np.arange(3))
        rows[..., at], rows[..., at + 3] = linear, angular
        for first, v in self._modal:
            rows[..., first : first + v.stop - v.start] = modal[..., v]
        if own is not None:
            rows[..., self.count :] = own[..., self._own]
        return rows

    def _columns(self) -> Array:
        """Directions (n, nv): the k-th coordinate of every block."""
        most = max(group.v.shape[1] for group in self.groups)
        directions = np.zeros((most, self.model.nv))
        for group in self.groups:
            for k in range(group.v.shape[1]):
                directions[k, group.v[:, k]] = 1
        return directions

    # ---- derivatives ----

    def jacobian(self, motion: Motion) -> Array:
        """The derivative of twists by the k-th velocity of every block, (n, rows)."""
        e = self._columns()
        q = np.broadcast_to(motion.q, (len(e) + 1, motion.q.size))
        found = self._twists(motion, q, np.concatenate([e, 0 * e[:1]]))
        J: Array = found[:-1] - found[-1]
        return J

    def _by_q(self, motion: Motion, function: Callable[[Array], Array]) -> Array:
        """The derivative of a function of q by the k-th coordinate of every block."""
        e = self._columns()
        total: Any = 0.0
        for i, weight in STENCIL:
            ahead, behind = (
                function(self.model.core.retract(np.broadcast_to(motion.q, (len(e), motion.q.size)), s * STEP * e))
                for s in (i, -i)
            )
            total = total + weight / STEP * (ahead - behind)
        by_q: Array = total
        return by_q

    def _by_v(self, motion: Motion) -> Array:
        """The derivative of accelerations, which are quadratic in v, by the k-th velocity of every block."""
        e = self._columns() * max(1.0, float(np.abs(motion.v).max(initial=0)))
        q, a = (np.broadcast_to(each, (len(e), each.size)) for each in (motion.q, motion.a))
        size = np.abs(e).max()
        ahead, behind = (self._accelerations(motion, q, motion.v + s * e, a) for s in (1, -1))
        by_v: Array = (ahead - behind) / (2 * size)
        return by_v

    def maps(self, motion: Motion, frame: Frame, basis: list[Array] | None = None) -> Maps:
        """How coordinates, velocities and accelerations change with perturbations; `basis`: those to be taken."""

        def still(x: Array, q: Array) -> Array:
            return np.broadcast_to(x, (len(q), x.size))

        J = self.jacobian(motion)
        C = self._by_q(motion, lambda q: self._twists(motion, q, still(motion.v, q)))
        G = self._by_v(motion)
        H = self._by_q(motion, lambda q: self._accelerations(motion, q, still(motion.v, q), still(motion.a, q)))
        poses = _Poses(self, motion, frame)
        parts = [
            _maps_of(group, poses, (J, C, G, H), None if basis is None else basis[i])
            for i, group in enumerate(self.groups)
        ]
        Y, W, W1, W0 = (
            [Block(group.v, group.z, part[k]) for group, part in zip(self.groups, parts, strict=True)] for k in range(4)
        )
        return Maps(Y, W, W1, W0, [part[4] for part in parts], max(part[5] for part in parts))

    def displacements(self, motion: Motion, dx: Array, turned: Array) -> Array:
        """The delta q (nv,) with which bodies are displaced by dx and turned by rotation vectors, both inertial.

        It also leads back to where the blocks' own rows are satisfied.
        """
        target = self._target(self.pose(motion)[1], dx, turned)
        if self._own.size:
            target[self.count :] = -self._evaluated(motion, "phi", motion.q, motion.v)[self._own]
        return self._solved(self.jacobian(motion), target)

    def velocities(self, motion: Motion, linear: Array, angular: Array) -> Array:
        """The velocities (nv,) with which bodies have these inertial velocities and angular velocities."""
        _, R = self.pose(motion)
        J = self.jacobian(motion)
        still = self._twists(motion, motion.q, 0 * motion.v)
        target = self._target(R, linear, angular)
        for first, v in self._modal:
            target[first : first + v.stop - v.start] = motion.v[v]
        return self._solved(J, target - still)

    def _target(self, R: Array, linear: Array, angular: Array) -> Array:
        rows, at = np.zeros(self.count + self._own.size), np.add.outer(self.rows, np.arange(3))
        rows[at], rows[at + 3] = linear, np.einsum("nji,nj->ni", R, angular)
        return rows

    def _solved(self, J: Array, target: Array) -> Array:
        found = np.zeros(self.model.nv)
        for group in self.groups:
            rows = np.concatenate([group.poses, group.own], axis=1)
            matrix = _entries(J, rows, group.v.shape[1])
            found[group.v] = np.einsum("bij,bj->bi", np.linalg.pinv(matrix), target[rows])
        return found


class _Poses:
    """What perturbations of poses and their rates do to twists and accelerations, body by body, (n, 6, 6)."""

    def __init__(self, bodies: Bodies, motion: Motion, frame: Frame) -> None:
        Q, W = frame.axes, cross_matrix(frame.rate)
        self.R = bodies.pose(motion)[1]
        _, _, _, omega = bodies.model.core.kinematics(bodies.frames, motion.q, motion.v, motion.t)
        spin = cross_matrix(np.einsum("nij,nj->ni", self.R, omega)) @ Q
        back = np.swapaxes(self.R, -1, -2)
        n = len(self.R)
        self.rows = bodies.rows
        self.count = bodies.count
        self.L0 = _pairs(n, Q, Q)
        self.T1, self.T0 = _pairs(n, Q, back @ Q), _pairs(n, Q @ W, back @ Q @ W)
        self.S1 = _pairs(n, 2 * Q @ W, back @ (2 * Q @ W - spin))
        self.S0 = _pairs(n, Q @ W @ W, back @ (Q @ W @ W - spin @ W))

    def of(self, group: Group, matrices: Array, on_modes: float) -> Array:
        """The matrices (blocks, poses, poses) of a group."""
        count = group.poses.shape[1]
        found = np.zeros((len(group.poses), count, count))
        found[:, range(count), range(count)] = on_modes
        first = {row: i for i, row in enumerate(self.rows)}
        for block, rows in enumerate(group.poses):
            for at, row in enumerate(rows):
                if (body := first.get(int(row))) is not None:
                    found[block, at : at + 6, at : at + 6] = matrices[body]
        return found

    def turned(self, group: Group, J: Array) -> Array:
        """The derivative of poses in inertial axes from that of twists, whose rotations are in body axes."""
        back = self.of(group, _pairs(len(self.R), np.eye(3), self.R), 1.0)
        return back @ J


def _pairs(n: int, linear: Array, angular: Array) -> Array:
    found = np.zeros((n, 6, 6))
    found[:, :3, :3], found[:, 3:, 3:] = linear, angular
    return found


def _entries(columns: Array, rows: Array, count: int) -> Array:
    """The blocks (blocks, rows, count) of a matrix whose columns are given for all blocks at once."""
    return np.moveaxis(columns[:count][:, rows], 0, -1)


def _maps_of(group: Group, poses: _Poses, derivatives: tuple[Array, ...], basis: Array | None) -> tuple[Any, ...]:
    """Y, W, W1, W0, the basis of the perturbations and the error of a group of blocks."""
    count, width, nz = group.poses.shape[1], group.v.shape[1], group.z.shape[1]
    rows = np.concatenate([group.poses, group.own], axis=1)
    J, C, G, H = (_entries(each, rows, width) for each in derivatives)
    own = J[:, count:]
    P = np.concatenate([poses.turned(group, J[:, :count]), own], axis=1)
    _check_regular(group, P)
    L0 = poses.of(group, poses.L0, 1.0)
    if basis is None:
        basis = _basis(L0, P, count, nz)

    def extended(matrix: Array) -> Array:
        whole: Array = np.concatenate([matrix @ basis, np.zeros((len(matrix), own.shape[1], nz))], axis=1)
        return whole

    inverse = np.linalg.pinv(J)
    Y = np.linalg.pinv(P) @ extended(L0)
    error = float(np.abs(P @ Y - extended(L0)).max(initial=0))
    W = inverse @ (extended(poses.of(group, poses.T0, 0.0)) - C @ Y)
    W1 = inverse @ (extended(poses.of(group, poses.S1, 0.0)) - G @ Y)
    W0 = inverse @ (extended(poses.of(group, poses.S0, 0.0)) - G @ W - H @ Y)
    return Y, W, W1, W0, basis, error


def _basis(L0: Array, P: Array, count: int, nz: int) -> Array:
    """The perturbations of poses that the coordinates allow, (blocks, poses, z): all of them, or orthonormal ones."""
    if nz == count:
        all_of_them: Array = np.tile(np.eye(count), (len(P), 1, 1))
        return all_of_them
    free = P[:, :count]
    if P.shape[1] > count:
        _, _, axes = np.linalg.svd(P[:, count:])
        free = free @ np.swapaxes(axes[:, P.shape[1] - count :], -1, -2)
    U, _, _ = np.linalg.svd(np.swapaxes(L0, -1, -2) @ free, full_matrices=False)
    found: Array = U[..., :nz]
    return found


def _check_regular(group: Group, P: Array) -> None:
    sizes = np.linalg.svd(P, compute_uv=False)
    bad = sizes[:, -1] < REGULAR * sizes[:, 0]
    if bad.any():
        names = [name for block in np.flatnonzero(bad) for name in group.names[block]]
        raise SingularError(f"linearize: the coordinates of {listing(names)} are singular in this position")


# ---- systems of functions ----


def brackets(model: System, v: Array) -> Array:
    """The matrix V (nv, nv) with delta v = z' + V z for perturbations z in local coordinates."""
    matrix = np.zeros((model.nv, model.nv))
    for kind, n, _, first, _ in model.core.factors:
        row = NODES[kind]
        width = n or row["nv"]
        if row["linear"]:
            continue
        at = slice(first, first + width)
        if row["position"] == "body":
            matrix[at, at] = groups.se3.ad(v[at])
        else:
            turning = slice(first + width - 3, first + width)
            matrix[turning, turning] = groups.so3.ad(v[turning])
    return matrix
