"""`buckling`: the loads under which the tangent stiffness of a structure becomes singular."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from lgint import _html
from lgint._args import Array, array, shown
from lgint._core import ConvergenceError, IntegrationError
from lgint._linear.modes import Mode
from lgint._linear.rotation import start_multipliers
from lgint._linear.steady import Balance, Corrections, Spin, Turning
from lgint._linear.terms import kernel
from lgint._model.model import Model
from lgint._model.system import refuse_samples

STEPS: Final = 20  # between no load and a single given factor
FARTHEST: Final = 0.1  # rad, or of the size: longer steps are halved, so that no other branch is taken for the path
SHORTEST: Final = 1e-9  # step, as a fraction of that between two factors
NARROW: Final = 1e-10  # relative width to which a factor is enclosed
SAME: Final = 1e-6  # part of the change of an eigenvalue, below which it is zero together with another one
REAL: Final = 1e-7  # largest imaginary part of a real eigenvalue, relative to the largest eigenvalue
NEUTRAL: Final = 1e-13  # an eigenvalue below this fraction of the largest is that of a direction in which nothing acts
NEAR: Final = 1e-3  # part of the way to the next state, after which neutral directions are looked at again
LIMIT: Final = 1e-2  # an eigenvalue that has fallen below this fraction belongs to a limit point
CORRECTIONS: Final = 25
SUBSPACE: Final = 24  # dimension for large models, of which half of the eigenvalues are used
PASSES: Final = 200
GUESSES: Final = 10  # iterations for the largest eigenvalue
CONVERGED: Final = 1e-9  # relative change of eigenvalues in the last pass
BESIDE: Final = (
    1e-13  # shift of eigenvalues, as a fraction of the largest, so that neutral directions can be solved for
)


class Point(NamedTuple):
    """A state on the path and its real eigenvalues of K z = mu M z, in increasing order, with their shapes."""

    at: Balance
    values: Array
    shapes: Array
    largest: float  # absolute value of an eigenvalue, complex ones included; an estimate for large models
    neutral: Array = np.zeros((0, 0))  # shapes of the neutral directions that have been left out

    def zeros(self, tolerance: float) -> int:
        """How many eigenvalues cannot be told from zero."""
        return int((np.abs(self.values) <= tolerance).sum())

    def without(self, neutral: int, near: Array | None = None) -> Point:
        """The point without the eigenvalues nearest to zero, which belong to neutral directions.

        Where further eigenvalues cannot be told from zero, the neutral directions are the combinations of their shapes
        that come nearest to those of a neighbouring point, `near`.
        """
        if not neutral:
            return self
        order = np.argsort(np.abs(self.values), kind="stable")
        small = order[: max(self.zeros(NEUTRAL * self.largest), neutral)]
        shapes, kept = self.shapes.copy(), np.sort(order[neutral:])
        if near is not None and len(small) > neutral:
            of_neutral = np.linalg.lstsq(shapes[:, small], near, rcond=None)[0]
            shapes[:, small] = shapes[:, small] @ np.linalg.qr(of_neutral, mode="complete")[0]
        return self._replace(values=self.values[kept], shapes=shapes[:, kept], neutral=shapes[:, order[:neutral]])

    @property
    def negative(self) -> int:
        """How many eigenvalues are negative."""
        return int((self.values < 0).sum())


class Buckling:
    """Factors of the loads at which the tangent is singular; `lgint.buckling` returns it.

    It unpacks into two: ``factors, shapes = lgint.buckling(...)``.

    Attributes
    ----------
    factors : ndarray, shape (k,)
        At most as many as were asked for, in the order of the path; empty if there is none.
    shapes : list of Mode
        The directions in which the structure gives way.
    reached : float
        The factor up to which the path was followed.
    """

    def __init__(self, factors: Array, shapes: list[Mode], reached: float) -> None:
        self.factors, self.shapes, self.reached = factors, shapes, reached

    def __iter__(self) -> Iterator[Any]:
        return iter((self.factors, self.shapes))

    def _text(self) -> str:
        if not len(self.factors):
            return f"none up to the factor {self.reached:g}"
        return ", ".join(f"{each:.6g}" for each in self.factors)

    def __repr__(self) -> str:
        return f"<lgint.Buckling: {self._text()}>"

    def _repr_html_(self) -> str:
        rows = [(f"{factor:.6g}", shape.largest) for factor, shape in zip(self.factors, self.shapes, strict=True)]
        return _html.table(f"Singular tangents: {self._text()}", ("load factor", "largest"), rows)


def buckling(model: Model, loads: ArrayLike, *, n: int = 1) -> Buckling:
    """The first factors of the loads at which the tangent stiffness is singular, along the nonlinear path.

    The equilibria are followed from the model's start under increasing loads, stable or not. Between two factors at
    which the number of negative eigenvalues of the tangent differs, the factor at which it changes is enclosed. Where
    the path turns back, at a limit point, it ends. Under follower loads the tangent is not symmetric, and only real
    eigenvalues count: a structure that only flutters has no singular tangent.

    Directions in which nothing acts under any factor, such as the spin of a link between two spherical joints, are
    neutral and left out. A direction in which nothing acts under the first factor alone is left out there too; if the
    structure gives way in that direction under every greater factor, the model is refused.

    Parameters
    ----------
    model : Model
        Its start is near the equilibrium under the first factor; its velocities `v0` are ignored.
    loads : array_like, shape (k,) or ()
        Increasing factors of all loads, as in `lgint.equilibrium`; two eigenvalues that change their signs in opposite
        directions between two factors cancel out. One number: the last of 20 equal steps from no load.
    n : int
        How many factors are wanted.

    Returns
    -------
    Buckling
        `factors` and `shapes`; its repr says "none" if no factor was found.

    Raises
    ------
    ValueError
        For factors that do not increase, and for systems of functions. Also if nothing holds a body in some direction
        under the first factor and it gives way under greater ones, as an inverted pendulum does; the message names
        both.
    SingularError
        Naming rows, if constraints depend on each other.
    ConvergenceError
        If the path cannot be followed, unless it ends at a limit point.
    """
    if not isinstance(model, Model):
        raise ValueError(f"model: a model with bodies expected, got {shown(model)}")
    if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or n < 1:
        raise ValueError(f"n: a positive whole number expected, got {shown(n)}")
    refuse_samples(model, "buckling")
    path = _Path(model)
    factors = _factors(loads)
    found: list[tuple[float, Mode]] = []
    point = path.first(float(factors[0]))
    for factor in factors[1:]:
        steps = path.towards(point, float(factor))
        for after in steps:
            found += path.between(point, after)
            point = after
            if len(found) >= n:
                break
        if len(found) >= n or point.at.load < factor:
            break
    found += path.limit if len(found) < n else []
    found = found[:n]
    return Buckling(np.array([each for each, _ in found]), [shape for _, shape in found], point.at.load)


def _factors(loads: ArrayLike) -> Array:
    given = array("loads", loads)
    if given.ndim == 0 and given > 0:
        return np.linspace(0.0, float(given), STEPS + 1)
    if given.ndim != 1 or given.size < 2 or (np.diff(given) <= 0).any():
        raise ValueError(f"loads: two or more increasing factors, or the last one alone, expected, got {shown(loads)}")
    return given


class _Path:
    """The equilibria of a model under increasing loads."""

    def __init__(self, model: Model) -> None:
        nobody = np.zeros(len(model.bodies), dtype=bool)
        self._turning = Turning(model, Spin(np.array([0.0, 0, 1]), np.zeros(3), 0.0, nobody, None), 0.0)
        self._least: float | None = None
        self._neutral: int | None = None  # directions; known from the second state on
        self._largest = 0.0  # eigenvalue of a large model
        self._subspace: Array | None = None  # the eigenvalues nearest to zero in the last state
        self.limit: list[tuple[float, Mode]] = []

    def first(self, load: float) -> Point:
        """The equilibrium near the start."""
        model = self._turning.model
        motion = self._turning.moving(model.q0, model.mem0 if model.core.nmem else None)
        begin = Balance(motion, start_multipliers(self._turning, motion, load), load)
        point = self._point(self._turning.solved(begin, 10 * CORRECTIONS)[0])
        self._note_least(point, NEUTRAL * point.largest)
        return point

    def _note_least(self, point: Point, tolerance: float) -> None:
        """Notes the eigenvalue with which that at a limit point is compared."""
        least = float(np.abs(point.values).min(initial=np.inf))
        self._least = least if least > tolerance else None

    def _point(self, at: Balance) -> Point:
        system = Corrections(self._turning, at)
        if self._turning.space.sparse and (point := self._nearest(at, system)):
            return point
        names = self._turning.model.row_names
        N = kernel(system.B, [names[row] for row in system.rows])
        Y = np.asarray(system.X @ N)
        K, M = N.T @ (system.K @ N), Y.T @ (system.derivatives.M @ Y)
        L = np.linalg.inv(np.linalg.cholesky((M + M.T) / 2))
        S = L @ K @ L.T
        symmetric = np.abs(S - S.T).max(initial=0) <= REAL * np.abs(S).max(initial=0)
        values, vectors = np.linalg.eigh((S + S.T) / 2) if symmetric else np.linalg.eig(S)
        real = np.abs(values.imag) <= REAL * np.abs(values).max(initial=0)
        order = np.argsort(values[real].real, kind="stable")
        shapes = (N @ L.T @ vectors[:, real])[:, order].real
        return Point(at, values[real].real[order], shapes, float(np.abs(values).max(initial=0)))

    def _nearest(self, at: Balance, system: Corrections) -> Point | None:
        """The point with only the eigenvalues nearest to zero, by inverse iteration of a subspace.

        None if most of these are zero.
        """
        from scipy.sparse import block_array
        from scipy.sparse.linalg import splu

        K, M, B = system.K, (system.X.T @ system.derivatives.M @ system.X).tocsr(), system.B
        n = K.shape[0]

        def solver(A: Any) -> Any:
            factors = splu((block_array([[A, B.T], [B, None]]) if B.shape[0] else A).tocsc())
            return lambda x: factors.solve(np.vstack([x, np.zeros((B.shape[0], x.shape[1]))]))[:n]

        X = self._subspace if self._subspace is not None else np.random.default_rng(0).normal(size=(n, SUBSPACE))
        self._largest = largest = self._largest or _largest(solver(M), K, X[:, :1])
        K = K + BESIDE * largest * M
        solve = solver(K)
        before = np.zeros(0)
        for _ in range(PASSES):
            Y = solve(M @ X)
            Y = Y / np.linalg.norm(Y, axis=0) if len(before) else np.linalg.qr(Y)[0]
            L = np.linalg.inv(np.linalg.cholesky(Y.T @ (M @ Y)))
            S, X = L @ (Y.T @ (K @ Y)) @ L.T, Y @ L.T
            symmetric = np.abs(S - S.T).max() <= REAL * np.abs(S).max()
            values, vectors = np.linalg.eigh((S + S.T) / 2) if symmetric else np.linalg.eig(S)
            near = np.argsort(np.abs(values), kind="stable")[: SUBSPACE // 2]
            found = np.abs(values[near])
            if len(before) == len(found) and (np.abs(found - before) <= CONVERGED * found + NEUTRAL * largest).all():
                break
            before = found
        else:
            raise ConvergenceError("the eigenvalues nearest to zero were not found")
        if (np.abs(values[near] - BESIDE * largest) <= NEUTRAL * largest).sum() > SUBSPACE // 4:
            return None
        self._subspace = X
        near = near[np.abs(values[near].imag) <= REAL * np.abs(values[near]).max()]
        near = near[np.argsort(values[near].real, kind="stable")]
        return Point(at, values[near].real - BESIDE * largest, (X @ vectors[:, near]).real, largest)

    def _at(self, begin: Point, load: float) -> Point:
        """The equilibrium under another load, near a known one; ConvergenceError if there is none."""
        at, _ = self._turning.solved(begin.at._replace(load=load), CORRECTIONS)
        before, after = (self._turning.bodies.pose(each.motion) for each in (begin.at, at))
        moved = np.abs(after[0] - before[0]).max() / self._turning.size
        if not max(moved, np.abs(after[1] - before[1]).max()) <= FARTHEST:
            raise ConvergenceError("the step is too long")
        return self._point(at)

    def towards(self, begin: Point, load: float) -> Iterator[Point]:
        """States up to a factor, or up to a limit point before it."""
        whole = load - begin.at.load
        step, point = whole, begin
        while point.at.load < load:
            goal = min(point.at.load + step, load)
            goal = load if load - goal < SHORTEST * whole else goal
            try:
                point = self._at(point, goal)
            except IntegrationError as error:
                step /= 2
                if step < SHORTEST * whole:
                    self._end(point, error)
                    return
                continue
            yield point
            step *= 2

    def _end(self, point: Point, error: IntegrationError) -> None:
        """Notes a limit point; raises the error if the path ends for another reason."""
        point = point.without(self._neutral or 0)
        if not len(point.values) or self._least is None:
            raise error
        at = int(np.argmin(np.abs(point.values)))
        if np.abs(point.values[at]) > LIMIT * self._least:
            raise ConvergenceError(
                f"the equilibria could not be followed beyond the factor {point.at.load:.6g}: {error}"
            ) from error
        self.limit = [(point.at.load, self._mode(point, at))]

    def _mode(self, point: Point, i: int) -> Mode:
        system = Corrections(self._turning, point.at)
        return Mode(self._turning.space, system.maps.F, 0.0, point.shapes[:, i])

    def between(self, a: Point, b: Point) -> list[tuple[float, Mode]]:
        """The factors between two states at which an eigenvalue changes its sign, with their shapes."""
        a, b = self._held(a, b)
        counts = sorted((a.negative, b.negative))
        found: list[tuple[float, Mode]] = []
        point: Point | None = None
        for i in range(*counts):
            if point is None or abs(_value(point, i)) > SAME * abs(_value(b, i) - _value(a, i)):
                point = self._enclosed(a, b, i)  # otherwise several eigenvalues vanish together
            if point is not None:
                found.append((point.at.load, self._mode(point, min(i, len(point.values) - 1))))
        if not found and (counts[1] - counts[0]) % 2 and (point := self._enclosed(a, b, counts[0], parity=True)):
            found.append((point.at.load, self._mode(point, int(np.argmin(np.abs(point.values))))))
        return sorted(found, key=lambda each: each[0])

    def _held(self, a: Point, b: Point) -> tuple[Point, Point]:
        """Two states without their neutral directions."""
        if self._neutral is None:
            self._neutral = a.zeros(NEUTRAL * max(a.largest, b.largest))
            if self._neutral:
                before, a = a, self._at(a, a.at.load + NEAR * (b.at.load - a.at.load))
                self._check_held(before, a)
                self._note_least(a.without(self._neutral), 0.0)
        if self._neutral:
            self._check_held(a, b)
        return a.without(self._neutral), b.without(self._neutral)

    def _check_held(self, a: Point, b: Point) -> None:
        """A ValueError that names a direction that was neutral and now gives way."""
        before = a.without(self._neutral or 0).negative
        neutral = min(self._neutral or 0, b.zeros(NEUTRAL * max(a.largest, b.largest)))
        if neutral == self._neutral:
            return
        self._neutral, after = neutral, b.without(neutral)
        if after.negative > before:
            raise ValueError(
                f"loads: under the factor {a.at.load:g} nothing holds the model in the direction of "
                f"{self._mode(after, 0).largest}, and under greater factors it gives way; hold it there, or give a "
                "first factor under which it is held"
            )

    def _enclosed(self, a: Point, b: Point, i: int, parity: bool = False) -> Point | None:
        """The state in which eigenvalue i is zero; None if two become negative that were complex before.

        With `parity`, the state in which the determinant changes its sign.
        """

        def side(point: Point) -> bool:
            return bool(point.negative % 2) if parity else point.negative > i

        sign, turn = side(a), 0
        low, high, ends = a, b, [_value(a, i), _value(b, i)]
        width = NARROW * (high.at.load - low.at.load)
        while high.at.load - low.at.load > max(NARROW * abs(high.at.load), width):
            share = ends[0] / (ends[0] - ends[1]) if turn % 3 else 0.5
            share = share if 0.01 < share < 0.99 else (0.01 if share <= 0.01 else 0.99) if 0 <= share <= 1 else 0.5
            point = self._at(low, low.at.load + share * (high.at.load - low.at.load))
            point = point.without(self._neutral or 0, low.neutral)
            turn += 1
            if side(point) == sign:
                low, ends[0] = point, _value(point, i)
            else:
                high, ends[1] = point, _value(point, i)
        return low if len(low.values) and len(low.values) == len(high.values) else None


def _largest(invert: Callable[[Array], Array], K: Any, x: Array) -> float:
    """An estimate of the largest absolute value of an eigenvalue, by iteration; `invert` applies M^-1 on ker B."""
    size = 0.0
    for _ in range(GUESSES):
        x = invert(K @ (x / np.linalg.norm(x)))
        size = float(np.linalg.norm(x))
    return size


def _value(point: Point, i: int) -> float:
    return float(point.values[i]) if i < len(point.values) else 1.0
