r"""The linearised equations of motion in one frame.

With perturbations z of all bodies, the residual $r = M a + g - f + B^T \lambda$ changes by

    Y^T delta r = M_z z'' + D_z z' + K_z z + B_z^T delta lam,      B_z z = 0,

where M_z, D_z and K_z combine the derivatives of r by q, v and a with the maps of `perturb`. On the perturbations
z = N y that the constraints allow, the multipliers drop out. Nonholonomic rows, B v = 0 without positions, become
G z' + C z = 0 instead and leave y free: y' = V u + Q y, where u are as many of the rates y' as are independent.
"""

from __future__ import annotations

from functools import cached_property
from importlib.util import find_spec
from typing import Any, Final, NamedTuple

import numpy as np

from lgint._args import Array, listing
from lgint._core import SingularError
from lgint._linear.frame import Frame
from lgint._linear.perturb import Block, Bodies, Motion, Parts, brackets, rates_in
from lgint._model.joints import NODES
from lgint._model.loops import TOLERANCE, dependent_rows
from lgint._model.model import Model
from lgint._model.system import System

LARGE: Final = 600  # number of velocities from which matrices are sparse and solved as such
MANY: Final = 240  # number of velocities from which the matrices of corrections are sparse, if SciPy is installed
TIE: Final = 1e-6  # relative difference of lengths that counts as equal when coordinates are chosen

Matrix = Any  # ndarray or csr_array


class How(NamedTuple):
    """Under which loads, and in which form, the core evaluates."""

    load: float = 1.0
    static: bool = False


class Rates(NamedTuple):
    """The rates y' = V u + Q y that nonholonomic rows allow, where u are the rates with the numbers `chosen`."""

    V: Array
    Q: Array
    chosen: list[int]


class Derivatives(NamedTuple):
    """The derivatives of the residual by q, v and a, and B."""

    K: Matrix
    D: Matrix
    M: Matrix
    B: Matrix


def first_order(model: System) -> Any:
    """The velocities that are values of first-order equations, without coordinates."""
    ends = [*(v for _, _, _, v, _ in model.core.factors), model.nv]
    found = [
        np.arange(ends[i], ends[i + 1])
        for i, (kind, *_) in enumerate(model.core.factors)
        if NODES[kind]["position"] == "none"
    ]
    return np.concatenate([np.zeros(0, dtype=int), *found])


def _labels(model: System) -> list[str]:
    """The names of the states of controls, in the order in which they are in v."""
    controls = model.controls if isinstance(model, Model) else {}
    return [f"{name}.{state}" for name, row in controls.items() if row["block"] is not None for state in row["states"]]


class Space:
    """The perturbations of a system: what does not depend on its state.

    Attributes
    ----------
    states : ndarray
        Velocities that are values of first-order equations, which have no coordinates; E chooses them, and `moving` the
        others.
    """

    def __init__(self, model: System, many: int = LARGE) -> None:
        self.model = model
        self.bodies = Bodies(model) if isinstance(model, Model) else None
        holonomic = not model.core.nonholonomic
        self.large = model.nv >= LARGE and holonomic
        self.sparse = self.large or (model.nv >= many and holonomic and find_spec("scipy") is not None)
        if self.large:
            _need_scipy()
        self.states = first_order(model)
        moving = np.setdiff1d(np.arange(model.nv), self.states)
        self.nz = self.bodies.nz if self.bodies else len(moving)
        self.labels = self.bodies.labels if self.bodies else [f"q[{i}]" for i in moving]
        self.state_labels = _labels(model) or [f"state[{i}]" for i in range(len(self.states))]
        self.moving, self.E = self._chosen(moving), self._chosen(self.states)
        rows, columns, B_rows, B_columns = model.core.sparsity()
        self._places = {"K": (rows, columns), "D": (rows, columns), "M": (rows, columns), "B": (B_rows, B_columns)}

    def derivatives(self, motion: Motion, lam: Array, how: How) -> Derivatives:
        """The derivatives of the residual at a point of a motion."""
        core, n = self.model.core, self.model.nv
        values = core.sparse(
            *motion[:4], lam, mem=motion.mem, want=("K", "D", "M", "B"), load=how.load, static=how.static
        )
        shapes = {"K": (n, n), "D": (n, n), "M": (n, n), "B": (core.nrows, n)}
        return Derivatives(*(self._matrix(values[name], *self._places[name], shapes[name]) for name in "KDMB"))

    def _chosen(self, velocities: Any) -> Matrix:
        """The matrix (nv, n) whose columns are these velocities."""
        n = len(velocities)
        return self._matrix(np.ones(n), velocities, np.arange(n), (self.model.nv, n))

    def beside(self, left: Matrix, right: Matrix) -> Matrix:
        """Two matrices side by side."""
        if not self.sparse:
            return np.concatenate([left, right], axis=1)
        from scipy.sparse import hstack

        return hstack([left, right]).tocsr()

    def scattered(self, blocks: list[Block], shape: tuple[int, int]) -> Matrix:
        """The matrix of blocks."""
        rows, columns, values = [], [], []
        for block in blocks:
            size = block.values.shape
            rows.append(np.broadcast_to(block.rows[:, :, None], size).ravel())
            columns.append(np.broadcast_to(block.columns[:, None, :], size).ravel())
            values.append(block.values.ravel())
        return self._matrix(np.concatenate(values), np.concatenate(rows), np.concatenate(columns), shape)

    def _matrix(self, values: Array, rows: Any, columns: Any, shape: tuple[int, int]) -> Matrix:
        if self.sparse:
            from scipy.sparse import coo_array

            return coo_array((values, (rows, columns)), shape=shape).tocsr()
        dense = np.zeros(shape)
        np.add.at(dense, (rows, columns), values)
        return dense


class Maps:
    """The parts of `Parts` as matrices, and the maps that follow from them."""

    def __init__(self, space: Space, bodies: Bodies, parts: Parts) -> None:
        nv, nz, count = space.model.nv, space.nz, bodies.count
        self._space, self._count = space, count
        self.Y = space.scattered(parts.Y, (nv, nz))
        self.T = space.scattered(parts.T, (nv, count))
        self.C, self.G, self.H = (space.scattered(each, (nv, nv)) for each in (parts.C, parts.G, parts.H))
        self.F = space.scattered(parts.F, (count, nz))

    def poses(self, blocks: list[Block]) -> Matrix:
        """A matrix of poses."""
        return self._space.scattered(blocks, (self._count, self._count))

    def velocities(self, twists: Matrix) -> Matrix:
        """The change of v with z, if twists change by a matrix times poses."""
        return self.T @ (twists @ self.F) - self.C @ self.Y

    def accelerations(self, accelerations: Matrix, velocities: Matrix) -> Matrix:
        """The same for accelerations; `velocities` is the change of v."""
        return self.T @ (accelerations @ self.F) - self.G @ velocities - self.H @ self.Y


class Terms:
    """M, D, K and B by the perturbations z of a system at one point of a motion.

    Attributes
    ----------
    Y, W, W1, W0 : matrices, shapes (nv, nz)
        delta q = Y z, delta v = Y z' + W z, delta a = Y z'' + W1 z' + W0 z.
    M, D, K : matrices, shapes (nz + states, nz + states)
        Of the linearised equations M w' + D w + K z = 0 with w = (z', s), where s are values of first-order equations;
        K has zeros in their columns.
    B : matrix, shape (rows, nz)
        Of the active constraints; `rows` are their numbers.
    C : matrix, shape (slips, nz)
        Of the nonholonomic rows among these, whose numbers in `rows` are `slips`.
    basis : list of Block
        The perturbations of poses that belong to z.
    """

    def __init__(self, space: Space, motion: Motion, lam: Array, frame: Frame, how: How, like: Any = None) -> None:
        self.space, self.motion, self.lam, self.frame, self.how = space, motion, lam, frame, how
        self.derivatives = space.derivatives(motion, lam, how)
        self.error = 0.0
        self.basis: list[Block] = []
        if space.bodies is None:
            self.Y: Matrix = space.moving
            self.W = self.W1 = brackets(space.model, motion.v) @ self.Y
            self.W0 = brackets(space.model, motion.a) @ self.Y
        else:
            self._set_maps(space.bodies, None if like is None else like.basis)
        self._set()

    def _set_maps(self, bodies: Bodies, basis: list[Block] | None) -> None:
        parts = bodies.parts(self.motion, self.frame.axes, basis)
        maps = Maps(self.space, bodies, parts)
        T0, S1, S0 = (maps.poses(each) for each in rates_in(bodies, self.motion, self.frame))
        self.Y, self.basis, self.error = maps.Y, parts.F, parts.error
        self.W = maps.velocities(T0)
        self.W1 = maps.T @ (S1 @ maps.F) - maps.G @ maps.Y
        self.W0 = maps.accelerations(S0, self.W)

    def _set(self) -> None:
        K, D, M, B = self.derivatives
        E, beside = self.space.E, self.space.beside
        self.X = beside(self.Y, E)
        self.M = self.X.T @ (M @ self.X)
        self.D = self.X.T @ beside(M @ self.W1 + D @ self.Y, D @ E)
        self.K = self.X.T @ beside(M @ self.W0 + D @ self.W + K @ self.Y, 0 * E)
        own = set() if self.space.bodies is None else self.space.bodies.own_rows
        active = np.flatnonzero(abs(B).sum(axis=1))
        self.rows = np.array([row for row in active if row not in own], dtype=int)
        self.B = (B @ self.Y)[self.rows]
        self.slips = np.flatnonzero(np.isin(self.rows, self.space.model.core.nonholonomic))
        self.C = self._slopes(B) if len(self.slips) else np.zeros((0, self.space.nz))

    def _slopes(self, B: Matrix) -> Array:
        """The derivatives of B v by z for nonholonomic rows."""
        at, rows = self.motion, self.rows[self.slips]
        Z = self.space.model.core.evaluate(*at[:3], mem=at.mem, want=["Z"])["Z"]
        found: Array = Z[rows] @ self.Y + B[rows] @ self.W
        return found

    @cached_property
    def poses(self) -> Matrix:
        """The perturbations of poses that belong to z, (poses, nz)."""
        bodies = self.space.bodies
        if bodies is None:
            return np.eye(self.space.nz)
        return self.space.scattered(self.basis, (bodies.count, bodies.nz))

    @cached_property
    def free(self) -> tuple[Array, list[int]]:
        """N (nz, n), whose columns are perturbations that the constraints allow, and n poses, which are y in z = N y.

        The poses are chosen one at a time, each time the one that the others determine least; the choice does not
        depend on the formulation.
        """
        kept = np.delete(np.arange(len(self.rows)), self.slips)
        N = kernel(self.B[kept], [self.space.model.row_names[row] for row in self.rows[kept]])
        left = np.asarray(self.poses @ N)
        F, chosen = left.copy(), []
        for _ in range(N.shape[1]):
            lengths = np.einsum("ij,ij->i", left, left)
            at = int(np.flatnonzero(lengths >= (1 - TIE) * lengths.max())[0])
            direction = left[at] / np.sqrt(lengths[at])
            left -= np.outer(left @ direction, direction)
            chosen.append(at)
        chosen.sort()
        return N @ np.linalg.inv(F[chosen]), chosen

    @cached_property
    def rates(self) -> Rates:
        """The rates of y that nonholonomic rows allow; SingularError naming rows that depend on the others."""
        N, count = self.free[0], len(self.slips)
        n = N.shape[1]
        if not count:
            return Rates(np.eye(n), np.zeros((n, n)), list(range(n)))
        G, C = self.B[self.slips] @ N, self.C @ N
        kernel(G, [self.space.model.row_names[row] for row in self.rows[self.slips]])
        left, dependent = G.copy(), []
        for _ in range(count):
            lengths = np.linalg.norm(left, axis=0)
            at = int(np.flatnonzero(lengths >= (1 - TIE) * lengths.max())[-1])
            direction = left[:, at] / lengths[at]
            left -= np.outer(direction, direction @ left)
            dependent.append(at)
        chosen = [i for i in range(n) if i not in dependent]
        V, Q = np.zeros((n, n - count)), np.zeros((n, n))
        V[chosen] = np.eye(n - count)
        V[dependent] = -np.linalg.solve(G[:, dependent], G[:, chosen])
        Q[dependent] = -np.linalg.solve(G[:, dependent], C)
        return Rates(V, Q, chosen)

    def holds(self, N: Array, tolerance: float, rates: Rates | None = None) -> bool:
        """Whether the constraints allow perturbations z = N y, and given rates of y, up to a relative tolerance."""
        if not self.B.shape[0] or not N.shape[1]:
            return True
        off = self.B @ N
        least = tolerance * max(1.0, float(abs(self.B).max()), float(abs(self.C).max(initial=0))) * np.abs(N).max()
        if rates is None or not len(self.slips):
            return bool(np.abs(off).max() <= least)
        slip = np.concatenate([off[self.slips] @ rates.V, off[self.slips] @ rates.Q + self.C @ N], axis=1)
        off = np.delete(off, self.slips, axis=0)
        size = max(1.0, float(np.abs(rates.V).max(initial=0)), float(np.abs(rates.Q).max()))
        return bool(np.abs(off).max(initial=0) <= least and np.abs(slip).max() <= least * size)

    def on(self, N: Array) -> tuple[Array, Array, Array]:
        """M, D and K on perturbations z = N y and the values of first-order equations."""
        count = len(self.space.states)
        both = np.block([[N, np.zeros((len(N), count))], [np.zeros((count, N.shape[1])), np.eye(count)]])
        return both.T @ (self.M @ both), both.T @ (self.D @ both), both.T @ (self.K @ both)


def kernel(B: Matrix, names: list[str]) -> Array:
    """An orthonormal basis of ker B; SingularError naming rows that depend on the others."""
    B = B if isinstance(B, np.ndarray) else B.toarray()
    if not len(B):
        return np.eye(B.shape[1])
    length = np.linalg.norm(B, axis=1, keepdims=True)
    _, sizes, axes = np.linalg.svd(B / np.where(length > 0, length, 1.0), full_matrices=True)
    if len(B) > B.shape[1] or sizes[-1] < TOLERANCE * sizes[0]:
        dependent = [names[i] for i in dependent_rows(B, iter([range(len(B))]))]
        raise SingularError(
            f"singular constraints: in this position these rows depend on the others: {listing(dependent)}"
        )
    found: Array = axes[len(B) :].T
    return found


def _need_scipy() -> None:
    try:
        import scipy.sparse  # noqa: F401
    except ImportError as error:
        raise ImportError("the linear analysis of large systems needs SciPy: pip install scipy") from error
