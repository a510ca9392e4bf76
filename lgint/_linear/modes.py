"""Eigenvalues and shapes of linearised systems."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from lgint._args import Array
from lgint._linear.perturb import COMPONENTS
from lgint._linear.terms import Space, Terms

ROUND_OFF: Final = 1e-7  # eigenvalues below this fraction of the largest cannot be told from zero
ZERO: Final = 1e-3  # the same, found by shift and invert, as a fraction of the shift
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
    z : ndarray
        The same in the perturbations of blocks.
    """

    def __init__(self, space: Space, poses: Any, eigenvalue: complex, z: Any) -> None:
        values = np.asarray(poses @ z)
        at = int(np.argmax(np.abs(values)))
        self.eigenvalue = complex(eigenvalue)
        self.z = z / values[at]
        self.values = values / values[at]
        self.labels = space.labels
        self.largest = self.labels[at]
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
    """The order of eigenvalues by absolute values, conjugate pairs side by side."""
    sizes = np.abs(values)
    found = np.argsort(sizes, kind="stable")
    group, groups = 0, np.zeros(len(values), dtype=int)
    for before, at in zip(found[:-1], found[1:], strict=True):
        group += bool(sizes[at] > (1 + EQUAL) * sizes[before])
        groups[at] = group
    return np.lexsort((-values.imag, np.abs(values.imag), values.real.round(9), groups))


def sorted_values(values: Any) -> Any:
    """Eigenvalues by their absolute values, conjugate pairs side by side."""
    return values[order(values)].astype(complex)


def dense_modes(terms: Terms, A: Array) -> list[Mode]:
    """All modes, of conjugate pairs those with positive imaginary parts."""
    values, vectors = np.linalg.eig(A)
    N = terms.free[0]
    return _modes(terms, values, N @ vectors[: N.shape[1]], ROUND_OFF * float(np.abs(values).max(initial=0)))


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
    """Half of so many real directions, rounded up, which together span the most of these vectors."""
    count = -(-vectors.shape[1] // 2)
    unit = vectors / np.maximum(np.linalg.norm(vectors, axis=0), np.finfo(float).tiny)
    axes = np.linalg.svd(np.concatenate([unit.real, unit.imag], axis=1), full_matrices=False)[0]
    return list(axes.T[:count])


class sparse_modes:
    """Modes of large systems, by shift and invert on the perturbations that the constraints allow.

    With z' = w, and multipliers that keep B z = 0, (A - shift)^-1 applied to (z1, w1) is (z2, w2) with

        (K + shift D + shift^2 M) z2 + B^T mu = -M w1 - (D + shift M) z1,   B z2 = 0,   w2 = shift z2 + z1.
    """

    def __init__(self, terms: Terms) -> None:
        self._terms = terms

    def projected(self, z: Array) -> Array:
        """Orthonormal directions near those given, (nz, n), that the constraints allow."""
        from scipy.sparse import eye_array

        n = self._terms.space.nz
        found = self._saddle(eye_array(n)).solve(np.concatenate([z, np.zeros((len(self._terms.rows), z.shape[1]))]))
        q: Array = np.linalg.qr(found[:n])[0]
        return q

    def _saddle(self, S: Any) -> Any:
        from scipy.sparse import block_array
        from scipy.sparse.linalg import splu

        B = self._terms.B
        matrix = block_array([[S, B.T], [B, None]]) if B.shape[0] else S
        return splu(matrix.tocsc())

    def lowest(self, count: int) -> list[Mode]:
        """The modes whose eigenvalues are nearest to zero."""
        from scipy.sparse.linalg import LinearOperator, eigs

        terms = self._terms
        M, D, K, n = terms.M, terms.D, terms.K, terms.space.nz
        shift = SHIFT * float(np.sqrt(abs(K.diagonal()).mean() / abs(M.diagonal()).mean()))
        shift = min(shift, 1.0) if shift > 0 else 1.0
        factored = self._saddle(K + shift * D + shift**2 * M)
        rows = np.zeros(len(terms.rows))

        def invert(x: Array) -> Array:
            z, w = x[:n], x[n:]
            found = factored.solve(np.concatenate([-(M @ w) - D @ z - shift * (M @ z), rows]))[:n]
            return np.concatenate([found, shift * found + z])

        start = self.projected(np.random.default_rng(2).standard_normal((n, 2))).T.ravel()
        wanted = min(2 * count + 2, 2 * n - 2 - 2 * len(rows))
        operator = LinearOperator((2 * n, 2 * n), matvec=invert, dtype=float)
        found, vectors = eigs(operator, k=wanted, which="LM", v0=start)
        return _modes(terms, shift + 1 / found, vectors[:n], ZERO * shift)[:count]
