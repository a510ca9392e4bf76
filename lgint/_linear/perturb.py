r"""How coordinates, velocities and accelerations change with perturbations that are measured in one frame.

A perturbation z(t) moves every body by $\eta = (\delta x, \theta)$, the displacement of its COM and a small rotation,
both in the axes of the frame, which turn at the constant rate $\Omega$. With Q from the frame to inertial axes, R from
the body to inertial axes and its angular velocity $\omega$ in inertial axes,

    delta x'      = Q (eta_x' + Omega x eta_x),
    delta omega_b = R^T Q (eta_r' + Omega x eta_r),

in body axes, and one more derivative gives the accelerations. In terms of a formulation, the pose changes by
$P\,\delta q$ and the twist is $J(q) v$, so that

    P delta q = eta,   J delta v = delta twist - (dJ/dq delta q) v,   and likewise for accelerations.

The twist is linear in v, so that J follows exactly from kinematics; derivatives by q come from differences of sixth
order. Bodies depend only on the coordinates of their own block, so that one evaluation serves all blocks.
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
from lgint._state.slopes import CENTRAL

STEP: Final = 2e-3  # of differences, rad or m
STENCIL: Final = tuple((k, weight) for k, weight in CENTRAL if k > 0)  # the other half is opposite
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


class Parts(NamedTuple):
    """The effect of perturbations z, under which poses change by F z, on coordinates, velocities and accelerations:

    delta q = Y z, delta v = T delta twist - C delta q, delta a = T delta acceleration - G delta v - H delta q.

    `F` is kept in place of what it was computed from, so that z means the same later; `error` is by how much the
    perturbations F z are not possible.
    """

    Y: list[Block]
    T: list[Block]
    C: list[Block]
    G: list[Block]
    H: list[Block]
    F: list[Block]
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
            if not bodies:  # values of first-order equations
                continue
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
        return self.stacked(linear, angular, v, own)

    def _accelerations(self, motion: Motion, q: Array, v: Array, a: Array) -> Array:
        linear, angular = self.model.core.accelerations(self.frames, q, v, a, motion.t)
        own = None
        if self._own.size:
            Ba = self._evaluated(motion, "phidot", q, a) - self._evaluated(motion, "phidot", q, 0 * a)
            own = Ba - self._evaluated(motion, "zeta", q, v)
        return self.stacked(linear, angular, a, own)

    def _evaluated(self, motion: Motion, want: str, q: Array, v: Array) -> Array:
        mem = None if motion.mem is None else np.broadcast_to(motion.mem, (*q.shape[:-1], motion.mem.size))
        return self.model.core.evaluate(motion.t, q, v, mem=mem, want=[want])[want]

    def stacked(self, linear: Array, angular: Array, modal: Array, own: Array | None = None) -> Array:
        """Rows of poses, and of the blocks' own, from those of bodies and all modal coordinates."""
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

    def parts(self, motion: Motion, axes: Array, basis: list[Block] | None = None) -> Parts:
        """The effect of perturbations in these axes; `basis`: F of earlier parts, in which z is measured."""
        derivatives = self._derivatives(motion)
        R = self.pose(motion)[1]
        found = [
            _parts_of(
                group,
                (self._turning(group, R), self._turning(group, np.tile(axes, (len(R), 1, 1)), both=True)),
                derivatives,
                None if basis is None else basis[i].values,
            )
            for i, group in enumerate(self.groups)
        ]
        rows = {
            "Y": ("v", "z"),
            "T": ("v", "poses"),
            "C": ("v", "v"),
            "G": ("v", "v"),
            "H": ("v", "v"),
            "F": ("poses", "z"),
        }
        Y, T, C, G, H, F = (
            [
                Block(getattr(group, row), getattr(group, column), part[k])
                for group, part in zip(self.groups, found, strict=True)
            ]
            for k, (row, column) in enumerate(rows.values())
        )
        return Parts(Y, T, C, G, H, F, max(part[6] for part in found))

    def _derivatives(self, motion: Motion) -> tuple[Array, Array, Array, Array]:
        """J, and the derivatives of twists by q, of accelerations by v, and of these by q."""

        def tiled(x: Array, q: Array) -> Array:
            return np.broadcast_to(x, (len(q), x.size))

        J = self.jacobian(motion)
        if not (motion.v.any() or motion.a.any() or self.model.supports):
            return J, 0 * J, 0 * J, 0 * J
        C = self._by_q(motion, lambda q: self._twists(motion, q, tiled(motion.v, q)))
        H = self._by_q(motion, lambda q: self._accelerations(motion, q, tiled(motion.v, q), tiled(motion.a, q)))
        return J, C, self._by_v(motion), H

    def by_body(self, matrices: Array) -> list[Block]:
        """A matrix of poses from one matrix (6, 6) of each body."""
        at = np.add.outer(self.rows, np.arange(6))
        return [Block(at, at, matrices)]

    def _turning(self, group: Group, rotations: Array, both: bool = False) -> Array:
        """The matrices (blocks, poses, poses) that turn rotations of bodies, or displacements as well."""
        count = group.poses.shape[1]
        found = np.tile(np.eye(count), (len(group.poses), 1, 1))
        first = {row: i for i, row in enumerate(self.rows)}
        for block, rows in enumerate(group.poses):
            for at, row in enumerate(rows):
                if (body := first.get(int(row))) is not None:
                    found[block, at + 3 : at + 6, at + 3 : at + 6] = rotations[body]
                    if both:
                        found[block, at : at + 3, at : at + 3] = rotations[body]
        return found

    def displacements(self, motion: Motion, dx: Array, turned: Array) -> Array:
        """The delta q (nv,) with which bodies are displaced by dx and turned by rotation vectors, both inertial.

        It also leads back to the blocks' own rows, such as unit length.
        """
        target = self._target(self.pose(motion)[1], dx, turned)
        if self._own.size:
            target[self.count :] = -self._evaluated(motion, "phi", motion.q, motion.v)[self._own]
        return self._solved(self.jacobian(motion), target)

    def velocities(self, motion: Motion, linear: Array, angular: Array) -> Array:
        """The velocities (nv,) that give bodies these inertial velocities and angular velocities."""
        _, R = self.pose(motion)
        J = self.jacobian(motion)
        still = self._twists(motion, motion.q, 0 * motion.v)
        target = self._target(R, linear, angular)
        for first, v in self._modal:
            target[first : first + v.stop - v.start] = motion.v[v]
        return self._solved(J, target - still)

    def speeding(self, motion: Motion, linear: Array) -> Array:
        """The accelerations (nv,) that give bodies these inertial accelerations and no angular ones."""
        still = self._accelerations(motion, motion.q, motion.v, 0 * motion.v)
        target = self._target(self.pose(motion)[1], linear, 0 * linear)
        return self._solved(self.jacobian(motion), target - still)

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


def _entries(columns: Array, rows: Array, count: int) -> Array:
    """The blocks (blocks, rows, count) of a matrix whose columns are given for all blocks at once."""
    return np.moveaxis(columns[:count][:, rows], 0, -1)


def _parts_of(
    group: Group, turning: tuple[Array, Array], derivatives: tuple[Array, ...], basis: Array | None
) -> tuple[Any, ...]:
    """Y, T, C, G, H, F and the error of a group of blocks."""
    count, width, nz = group.poses.shape[1], group.v.shape[1], group.z.shape[1]
    rows = np.concatenate([group.poses, group.own], axis=1)
    J, C, G, H = (_entries(each, rows, width) for each in derivatives)
    own = J[:, count:]
    P = np.concatenate([turning[0] @ J[:, :count], own], axis=1)
    _check_regular(group, P)
    if basis is None:
        basis = _basis(turning[1], P, count, nz)
    wanted = np.concatenate([turning[1] @ basis, np.zeros((len(P), own.shape[1], nz))], axis=1)
    Y = np.linalg.pinv(P) @ wanted
    inverse = np.linalg.pinv(J)
    error = float(np.abs(P @ Y - wanted).max(initial=0))
    return Y, inverse[:, :, :count], inverse @ C, inverse @ G, inverse @ H, basis, error


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


# ---- what perturbations in a frame do to twists and accelerations ----


class RateMaps(NamedTuple):
    """delta twist = T1 eta' + T0 eta, delta acceleration = T1 eta'' + S1 eta' + S0 eta, as matrices of poses.

    T1 is contained in the map from eta to delta q, and is not stored.
    """

    T0: list[Block]
    S1: list[Block]
    S0: list[Block]


def rates_in(bodies: Bodies, motion: Motion, frame: Frame) -> RateMaps:
    """The matrices for perturbations that are measured in a frame."""
    Q, W = frame.axes, cross_matrix(frame.rate)
    _, R, _, omega = bodies.model.core.kinematics(bodies.frames, motion.q, motion.v, motion.t)
    spin = cross_matrix(np.einsum("nij,nj->ni", R, omega)) @ Q
    back = np.swapaxes(R, -1, -2)
    n = len(R)
    T0 = pairs(n, Q @ W, back @ Q @ W)
    S1 = pairs(n, 2 * Q @ W, back @ (2 * Q @ W - spin))
    S0 = pairs(n, Q @ W @ W, back @ (Q @ W @ W - spin @ W))
    return RateMaps(*(bodies.by_body(each) for each in (T0, S1, S0)))


def pairs(n: int, linear: Array, angular: Array) -> Array:
    """Matrices (n, 6, 6) of n bodies that act on displacements and on rotations."""
    found = np.zeros((n, 6, 6))
    found[:, :3, :3], found[:, 3:, 3:] = linear, angular
    return found


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
