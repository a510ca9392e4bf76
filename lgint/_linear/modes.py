"""Eigenvalues and shapes of linearised systems."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from lgint._args import Array
from lgint._linear.perturb import COMPONENTS
from lgint._linear.terms import Space, Terms

ROUND_OFF: Final = 1e-7  # eigenvalues below this fraction of the largest cannot be told from zero
ZERO: Final = 1e-3  # the same, found by shift and invert, as a fraction of the shift
NO_MOTION: Final = 1e-9  # ratio of motion to values of first-order equations below which a mode has no motion
EQUAL: Final = 1e-9  # relative difference of absolute values that do not order eigenvalues
SHIFT: Final = 1e-3  # of sparse eigenvalue problems, relative to the root of stiffness over inertia


class Mode:
    """An eigenvalue and its shape.

    Attributes
    ----------
    eigenvalue : complex
        1/s.
    values : ndarray, shape (perturbations,)
        The shape: complex perturbations of all bodies in the axes of the frame, named by `labels`. The largest is one.
    states : ndarray
        Values of first-order equations in this mode.
    z : ndarray
        The shape in the perturbations of blocks.
    """

    def __init__(self, space: Space, poses: Any, eigenvalue: complex, z: Any) -> None:
        values, states = np.asarray(poses @ z[: space.nz]), z[space.nz :]
        largest = values if np.abs(values).max(initial=0) > NO_MOTION * np.abs(states).max(initial=0) else states
        at = int(np.argmax(np.abs(largest)))
        self.eigenvalue = complex(eigenvalue)
        self.z, self.states, self.values = (each / largest[at] for each in (z[: space.nz], states, values))
        self.labels = space.labels
        self.largest = (self.labels if largest is values else space.state_labels)[at]
        self._bodies = space.bodies

    @property
    def frequency(self) -> float:
        """The imaginary part of the eigenvalue, rad/s."""
        return self.eigenvalue.imag

    @property
    def damping_ratio(self) -> float:
        """Minus the real part of the eigenvalue divided by its absolute value; zero for the eigenvalue zero."""
        size = abs(self.eigenvalue)
        return -self.eigenvalue.real / size if size else 0.0

    def displacement(self, body: str) -> Any:
        """The displacement of a body's COM.

        Parameters
        ----------
        body : str
            Body.

        Returns
        -------
        ndarray, shape (3,)
            Complex, in the axes of the frame.

        Raises
        ------
        ValueError
            For an unknown body, and for a system of functions.
        """
        return self._of(body)[:3]

    def rotation(self, body: str) -> Any:
        """The small rotation of a body.

        Parameters
        ----------
        body : str
            Body.

        Returns
        -------
        ndarray, shape (3,)
            Complex, in the axes of the frame.

        Raises
        ------
        ValueError
            For an unknown body, and for a system of functions.
        """
        return self._of(body)[3:]

    def _of(self, body: str) -> Any:
        if self._bodies is None:
            raise ValueError("a system of functions has no bodies; its shapes are in `values`")
        self._bodies.model.body(body)
        first = self._bodies.rows[self._bodies.names.index(body)]
        return self.values[first : first + len(COMPONENTS)]

    def __repr__(self) -> str:
        value = self.eigenvalue
        return f"<lgint.Mode {value.real:.6g} {value.imag:+.6g}i 1/s, largest at {self.largest}>"


def order(values: Any) -> Any:
    """The order that sorts eigenvalues by absolute value, conjugate pairs side by side."""
    sizes = np.abs(values)
    found = np.argsort(sizes, kind="stable")
    group, groups = 0, np.zeros(len(values), dtype=int)
    for before, at in zip(found[:-1], found[1:], strict=True):
        group += bool(sizes[at] > (1 + EQUAL) * sizes[before])
        groups[at] = group
    return np.lexsort((-values.imag, np.abs(values.imag), values.real.round(9), groups))


def sorted_values(values: Any) -> Any:
    """Eigenvalues sorted by absolute value, conjugate pairs side by side."""
    return values[order(values)].astype(complex)


def dense_modes(terms: Terms, A: Array, least: float) -> list[Mode]:
    """All modes, one of each conjugate pair; those with eigenvalues below `least` are rigid motions."""
    values, vectors = np.linalg.eig(A)
    N, V = terms.free[0], terms.rates.V
    n = N.shape[1]
    parts = np.concatenate([N @ vectors[:n], vectors[n + V.shape[1] :]])
    return _modes(terms, values, parts, least)


def hidden(second_order: tuple[Array, Array, Array], n: int, count: int) -> int:
    """How many of the lowest eigenvalues oscillate, by shift and invert of M, D and K, whose first n rows have z."""
    M, D, K = second_order
    size, inertia = len(M), float(np.abs(np.diag(M)).mean())
    shift = SHIFT * float(np.sqrt(np.abs(np.diag(K)).mean() / inertia)) if inertia else 0.0
    if not shift:
        return 0
    scale = np.where(np.arange(size) < n, shift, 1.0)
    found = np.linalg.solve(K + D * scale + shift * M * scale, -np.concatenate([(D + shift * M)[:, :n], M], axis=1))
    rates = scale[:, None] * found
    rates[:, :n] += np.eye(size, n)
    inverse = np.linalg.eigvals(np.concatenate([found[:n], rates]))
    values = shift + 1 / inverse[inverse != 0]
    lowest = values[np.argsort(np.abs(values))][:count]
    return int((lowest.imag > ZERO * shift).sum())


def _modes(terms: Terms, values: Any, vectors: Any, least: float) -> list[Mode]:
    """Modes from eigenvalues and the positions of eigenvectors.

    Rigid motions have the eigenvalue zero twice, which round-off splits into values below `least`; they are one mode
    each.
    """
    zero = np.abs(values) <= least
    space, poses = terms.space, terms.poses
    rigid = [Mode(space, poses, 0.0, z) for z in _independent(vectors[:, zero])]
    rest = [i for i in order(values) if values[i].imag >= 0 and not zero[i]]
    return rigid + [Mode(space, poses, values[i], vectors[:, i]) for i in rest]


def _independent(vectors: Any) -> list[Array]:
    """As many real directions as half the vectors, rounded up, that span most of these complex vectors."""
    count = -(-vectors.shape[1] // 2)
    unit = vectors / np.maximum(np.linalg.norm(vectors, axis=0), np.finfo(float).tiny)
    axes = np.linalg.svd(np.concatenate([unit.real, unit.imag], axis=1), full_matrices=False)[0]
    return list(axes.T[:count])


class sparse_modes:
    """Modes of large systems, by shift and invert on the perturbations that the constraints allow.

    With z' = w, and multipliers that keep B z = 0, (A - shift)^-1 applied to (z1, w1) is (z2, w2) with

        (K + shift D + shift^2 M) z2 + B^T mu = -M w1 - (D + shift M) z1,   B z2 = 0,   w2 = shift z2 + z1.

    Values of first-order equations are entries of w without any in z; their columns have D + shift M.
    """

    def __init__(self, terms: Terms) -> None:
        self._terms = terms

    def projected(self, z: Array) -> Array:
        """Orthonormal directions (nz, n) that the constraints allow, near those given."""
        from scipy.sparse import eye_array

        q: Array = np.linalg.qr(self.solved(eye_array(self._terms.space.nz), z))[0]
        return q

    def solved(self, S: Any, push: Array) -> Array:
        """The z (nz, ...) allowed by the constraints that solves S z = push along all allowed directions."""
        found = self._saddle(S).solve(np.concatenate([push, np.zeros((len(self._terms.rows), *push.shape[1:]))]))
        z: Array = found[: len(push)]
        return z

    def _saddle(self, S: Any) -> Any:
        from scipy.sparse import block_array, csr_array
        from scipy.sparse.linalg import splu

        B = self._terms.B
        if S.shape[0] > B.shape[1]:
            B = csr_array((B.data, B.indices, B.indptr), shape=(B.shape[0], S.shape[0]))
        matrix = block_array([[S, B.T], [B, None]]) if B.shape[0] else S
        return splu(matrix.tocsc())

    def lowest(self, count: int) -> list[Mode]:
        """The modes whose eigenvalues are nearest to zero."""
        from scipy.sparse.linalg import LinearOperator, eigs

        terms = self._terms
        M, D, K, n = terms.M, terms.D, terms.K, terms.space.nz
        size = M.shape[0]
        shift = SHIFT * float(np.sqrt(abs(K.diagonal()).mean() / abs(M.diagonal()).mean()))
        shift = min(shift, 1.0) if shift > 0 else 1.0
        scale = np.where(np.arange(size) < n, shift, 1.0)
        factored = self._saddle(K + D * scale[None, :] + M * (shift * scale)[None, :])
        rows = np.zeros(len(terms.rows))

        def invert(x: Array) -> Array:
            z, w = np.concatenate([x[:n], np.zeros(size - n)]), x[n:]
            found = factored.solve(np.concatenate([-(M @ w) - D @ z - shift * (M @ z), rows]))[:size]
            return np.concatenate([found[:n], scale * found + z])

        random = np.random.default_rng(2)
        start = np.append(self.projected(random.standard_normal((n, 2))).T.ravel(), random.standard_normal(size - n))
        wanted = min(2 * count + 2, n + size - 2 - 2 * len(rows))
        operator = LinearOperator((n + size, n + size), matvec=invert, dtype=float)
        found, vectors = eigs(operator, k=wanted, which="LM", v0=start)
        parts = np.concatenate([vectors[:n], vectors[2 * n :]])
        return _modes(terms, shift + 1 / found, parts, ZERO * shift)[:count]
