"""`check`: compares the functions of a model with each other and with differences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

import numpy as np

from lgint import _core, _html
from lgint._args import Array, number, shown
from lgint._model.callable import CallableModel
from lgint._model.gradients import by_differences
from lgint._model.lagrangian import GRADIENTS, LagrangianModel
from lgint._model.model import Model
from lgint._model.system import System, checked


@dataclass(frozen=True)
class CheckItem:
    """One comparison: its worst relative error over all points, and the exception that ended it, if any."""

    name: str
    error: float
    tolerance: float
    failure: str = ""

    @property
    def ok(self) -> bool:
        """Whether the error is within the tolerance."""
        return not self.failure and self.error <= self.tolerance

    def __str__(self) -> str:
        verdict = "ok  " if self.ok else "FAIL"
        return f"{verdict} {self.name:<58} {self.failure or f'{self.error:.1e}'}"


@dataclass(frozen=True, repr=False)
class CheckReport:
    """All comparisons; `ok` says whether all of them hold, and `str()` gives a table."""

    items: tuple[CheckItem, ...]

    @property
    def ok(self) -> bool:
        """Whether every comparison holds."""
        return all(item.ok for item in self.items)

    def __str__(self) -> str:
        return "\n".join(str(item) for item in self.items)

    def __repr__(self) -> str:
        return f"<lgint.CheckReport: {self._verdict()}>"

    def _repr_html_(self) -> str:
        rows = [(item.name, item.failure or f"{item.error:.1e}", "ok" if item.ok else "FAIL") for item in self.items]
        return _html.table(f"Check: {self._verdict()}", ("comparison", "worst relative error", ""), rows)

    def _verdict(self) -> str:
        good = sum(item.ok for item in self.items)
        return f"{good} of {len(self.items)} comparisons hold"


@dataclass(frozen=True)
class _Point:
    t: float
    q: Array
    v: Array
    a: Array
    lam: Array
    mem: Array  # memory of joints and rods in this state, so that differences stay on one branch


class _Probe:
    """A model, random points near its start, and the model's functions evaluated at such a point."""

    def __init__(self, model: System, rng: np.random.Generator, tolerance: float) -> None:
        self.model, self.core, self.rng, self.tolerance = model, model.core, rng, tolerance

    def point(self) -> _Point:
        """A state near the start, with coordinates moved by up to 0.3 and random velocities added."""
        nv, nc = self.core.nv, self.core.nrows
        q = self.core.retract(self.model.q0, self.own_null(self.model.q0) @ (0.3 * self.random(nv)))
        q = self._unit_length(q)
        v = self.own_null(q) @ (self.model.v0 + self.random(nv))
        t, a, lam = float(self.rng.uniform(0.1, 1.0)), self.random(nv), self.random(nc)
        return _Point(t, q, v, a, lam, self.core.remember(t, q, v, a, np.zeros(self.core.nmem)))

    def random(self, n: int) -> Array:
        return self.rng.uniform(-1.0, 1.0, n)

    def _unit_length(self, q: Array) -> Array:
        """Normalises the quaternion in the last four coordinates of every block with a row of its own."""
        q = q.copy()
        for kind, _, first, _, own, _ in self.core.blocks:
            if own:
                end = first + (4 if kind.endswith("fixed") else 7)
                q[end - 4 : end] /= np.linalg.norm(q[end - 4 : end])
        return q

    def own_null(self, q: Array) -> Array:
        """Projector (nv, nv) onto the directions that the blocks' own rows allow; the identity without such rows."""
        P = np.eye(self.core.nv)
        own = sum(block[4] for block in self.core.blocks)
        if own:
            B = self.core.evaluate(0.5, q, np.zeros(self.core.nv), want=["B"])["B"][-own:]
            P -= np.linalg.pinv(B) @ B
        return P

    def chain_link(self) -> Array:
        """A random matrix (nv, nv): diagonal in the blocks' factors, diag(I, X_r) where positions add.

        It is the identity for R^n beside other factors.
        """
        X = np.eye(self.core.nv)
        positions = {row["name"]: row["position"] for row in _core.NODES}
        starts = [factor[3] for factor in self.core.factors] + [self.core.nv]
        sizes = Counter(block for *_, block in self.core.factors)
        for (kind, n, *_, block), (i, j) in zip(self.core.factors, pairwise(starts), strict=True):
            i += 3 if positions[kind] == "inertial" else 0
            if not n or sizes[block] == 1:
                X[i:j, i:j] = self.rng.uniform(-1.0, 1.0, (j - i, j - i))
        return X

    def verb(self, name: str, point: _Point) -> Array:
        """One function of the model at a point."""
        p = point
        return self.core.evaluate(p.t, p.q, p.v, p.a, p.lam, mem=p.mem, want=[name])[name]

    def residual(self, point: _Point) -> Array:
        """M a + gyro - force + B^T lam"""
        p, want = point, ["Ma", "gyro", "force"] + (["Btlam"] if self.core.nrows else [])
        terms = self.core.evaluate(p.t, p.q, p.v, p.a, p.lam, mem=p.mem, want=want)
        return terms["Ma"] + terms["gyro"] - terms["force"] + terms.get("Btlam", 0.0)


def with_coordinates(core: _core.System) -> Array:
    """One for each velocity that moves coordinates, zero for those that have none: (nv,)."""
    kinds = {row["name"] for row in _core.NODES if row["position"] == "none"}
    starts = [factor[3] for factor in core.factors] + [core.nv]
    return np.concatenate(
        [
            np.full(j - i, kind not in kinds, dtype=float)
            for (kind, *_), (i, j) in zip(core.factors, pairwise(starts), strict=True)
        ]
    )


def _error(found: Array, expected: Array, floor: float = 0.0) -> float:
    """Largest difference divided by the largest entry (at least `floor`, below which differences are round-off)."""
    found, expected = np.asarray(found), np.asarray(expected)
    if not found.size:
        return 0.0
    scale = max(float(np.abs(expected).max()), float(np.abs(found).max()), floor, 1e-12)
    return float(np.abs(found - expected).max()) / scale


def _speed(x: Array) -> float:
    return float(np.abs(x).max(initial=0.0))


STEPS: Final = (1e-3, 1e-4, 1e-5, 1e-6)  # from the one with the least round-off to the one that sees the least


def _slopes(function: Callable[[float], Array], size: float) -> Iterator[Array]:
    """Derivatives by s at 0, differences of fourth order to either side; `size` is the rate of the arguments in s.

    The first one is the most accurate where the function is smooth. Near a kink, as where shapes touch or a curve has
    its next piece, shorter steps stay on one side of it. A difference across a kink would be the mean of both sides,
    which is the derivative on neither.
    """
    start = function(0.0)
    for step in STEPS:
        for s in (step / max(1.0, size), -step / max(1.0, size)):
            f = [function(k * s) for k in (1, 2, 3, 4)]
            yield (48 * f[0] - 36 * f[1] + 16 * f[2] - 3 * f[3] - 25 * start) / (12 * s)


def _mismatch(
    found: Array, function: Callable[[float], Array], tolerance: float, size: float = 1.0, floor: float = 0.0
) -> float:
    """The error of a derivative beside a difference: the first within the tolerance, else the best.

    A derivative that is wrong agrees with none of them.
    """
    least = np.inf
    for slope in _slopes(function, size):
        least = min(least, _error(found, slope, floor))
        if least <= tolerance:
            break
    return least


# ---- the comparisons: each yields (name, error) at one point ----

Errors = Iterator[tuple[str, float]]


def _space(probe: _Probe, p: _Point) -> Errors:
    theta = 0.5 * probe.random(probe.core.nv) * with_coordinates(probe.core)
    found = probe.core.difference(p.q, probe.core.retract(p.q, theta))
    yield "difference(q, retract(q, theta)) = theta", _error(found, theta)


def _constraints(probe: _Probe, p: _Point) -> Errors:
    core = probe.core
    if not core.nrows:
        return
    w, tolerance = probe.own_null(p.q) @ probe.random(core.nv), probe.tolerance
    alone = np.isin(np.arange(core.nrows), core.nonholonomic)  # rows of velocity alone, whose phi is zero
    B, Z, zeta, phidot = (probe.verb(name, p) for name in ("B", "Z", "zeta", "phidot"))

    def phi(t: float, theta: Array) -> Array:
        return core.residual(t, core.retract(p.q, theta), p.v, p.mem)[0]

    def rate(t: float, theta: Array) -> Array:
        return core.residual(t, core.retract(p.q, theta), p.v, p.mem)[1]

    Bw, Bv, speed = B @ w, B @ p.v, _speed(p.v)
    most = max(1.0, speed)
    yield "B = d(phi)/dq", _mismatch(Bw, lambda s: phi(p.t, s * w) + s * alone * Bw, tolerance, floor=1.0)
    yield (
        "phidot = d(phi)/dt",
        _mismatch(phidot, lambda s: phi(p.t + s, s * p.v) + s * alone * Bv, tolerance, speed, speed),
    )
    yield (
        "zeta = -d(phidot)/dt at constant v",
        _mismatch(zeta, lambda s: -rate(p.t + s, s * p.v), tolerance, speed, most**2),
    )
    yield "Z = d(phidot)/dq", _mismatch(Z @ w, lambda s: rate(p.t, s * w), tolerance, floor=most)
    yield "Btlam = B^T lam", _error(probe.verb("Btlam", p), B.T @ p.lam)


def _mass(probe: _Probe, p: _Point) -> Errors:
    core = probe.core
    M = core.evaluate(p.t, p.q, p.v, np.zeros(core.nv), np.zeros(core.nrows), want=["S"])["S"]
    yield "mass is symmetric", _error(M, M.T)
    yield "mass is positive semidefinite", max(0.0, -float(np.linalg.eigvalsh((M + M.T) / 2)[0])) / _speed(M)
    yield "Ma = M a", _error(probe.verb("Ma", p), M @ p.a)


def _tangent(probe: _Probe, p: _Point) -> Errors:
    core, P, one = probe.core, probe.own_null(p.q), np.eye(probe.core.nv)
    X = [P @ probe.chain_link(), probe.chain_link(), probe.chain_link()]
    chains = [
        ("S along q", (1.0, 0.0, 0.0), (P, one, one)),
        ("S along v", (0.0, 1.0, 0.0), (one, one, one)),
        ("S along a", (0.0, 0.0, 1.0), (one, one, one)),
        ("S along q, v and a, scaled", (0.01, 0.3, 7.0), (P, one, one)),
        ("S along q, v and a by matrices", (0.5, 0.7, 1.3), tuple(X)),
    ]
    u = probe.random(core.nv)
    size = _speed(probe.residual(p))
    for name, k, chain in chains:
        S = core.evaluate(p.t, p.q, p.v, p.a, p.lam, mem=p.mem, want=["S"], k=k, X=chain)["S"]
        dq, dv, da = (ki * (Xi @ u) for ki, Xi in zip(k, chain, strict=True))

        def moved(s: float, dq: Array = dq, dv: Array = dv, da: Array = da) -> Array:
            return probe.residual(replace(p, q=core.retract(p.q, s * dq), v=p.v + s * dv, a=p.a + s * da))

        yield name, _mismatch(S @ u, moved, probe.tolerance, floor=1e-6 * size)


def _energy(probe: _Probe, p: _Point) -> Errors:
    core = probe.core
    rest, kinetic = np.zeros(core.nv), probe.verb("Ma", replace(p, a=p.v))
    moving = p.v * with_coordinates(core)  # first-order equations have no energy
    yield "T = v^T M v / 2", _error(core.energy(p.t, p.q, p.v, mem=p.mem)[0], moving @ kinetic / 2)

    def T(s: float) -> Array:
        return core.energy(p.t, core.retract(p.q, s * p.v), p.v + s * p.a, mem=p.mem)[0]

    power = moving @ (probe.verb("Ma", p) + probe.verb("gyro", p))
    scale = float(core.energy(p.t, p.q, p.v, mem=p.mem)[0])
    yield "dT/dt = v . (M a + gyro)", _mismatch(power, T, probe.tolerance, _speed(p.v), scale)
    if _only_potential_forces(probe.model):
        w = probe.own_null(p.q) @ probe.random(core.nv)
        force = probe.verb("force", replace(p, v=rest))

        def V(s: float) -> Array:
            return core.energy(p.t, core.retract(p.q, s * w), rest, mem=p.mem)[1]

        yield "force at rest = -dV/dq", _mismatch(-force @ w, V, probe.tolerance, floor=1e-6 * _speed(force))


def _gradients(probe: _Probe, p: _Point) -> Errors:
    for gradient, name in GRADIENTS.items():
        given = probe.model.given if isinstance(probe.model, LagrangianModel) else {}
        if given.get(gradient) is not None:
            yield f"{gradient} = d({name})/dq", _error(given[gradient](p.q), by_differences(given[name], p.q))


def _only_potential_forces(model: System) -> bool:
    """Whether V accounts for all forces at rest: for compiled models without loads, Lagrangian ones without `force`.

    Where a support moves, dampers push bodies at rest.
    """
    if isinstance(model, LagrangianModel):
        return model.given["force"] is None
    moving = isinstance(model, Model) and any(row["motion"] for row in model.record()["supports"].values())
    return model.core.conservative and not moving


def _has_energy(model: System) -> bool:
    return not isinstance(model, CallableModel) or model.functions["energy"] is not None


def _has_tangent(model: System) -> bool:
    return not isinstance(model, CallableModel) or model.functions["tangent"] is not None


def check(model: System, *, points: int = 3, seed: int = 0, tolerance: float = 1e-6) -> CheckReport:
    """Compares a model's functions with each other and with differences at random points near its start.

    B, phidot, zeta and Z are compared with differences of the constraints, S along several chains with differences of
    the residual, the mass with the kinetic energy and its rate, conservative forces with the potential, and the
    gradients of a `LagrangianModel` with differences. These are to one side, to the other one if they disagree there,
    and shorter near a kink, as where a contact closes.

    Parameters
    ----------
    model : Model, CallableModel or LagrangianModel
        The model to check.
    points : int
        Number of random points.
    seed : int
        Seed of the random points.
    tolerance : float
        Largest relative error that counts as agreement.

    Returns
    -------
    CheckReport
        With `.ok` and `.items`; `print` it for a table. Exceptions inside a function are reported, not raised.

    Raises
    ------
    ValueError
        If `points` is not a whole number >= 1, `seed` not a whole number >= 0, or `tolerance` not a number >= 0.
    """
    if isinstance(model := checked(model), Model):
        model = model.complete.with_state(model.q0, model.v0)  # inactive rows are compared as well
    if not isinstance(points, (int, np.integer)) or points < 1:
        raise ValueError(f"points: a whole number >= 1 expected, got {shown(points)}")
    if not isinstance(seed, (int, np.integer)) or seed < 0:
        raise ValueError(f"seed: a whole number >= 0 expected, got {shown(seed)}")
    number("tolerance", tolerance, nonnegative=True)
    comparisons = [_space, _constraints, _mass]
    comparisons += [_tangent] if _has_tangent(model) else []
    comparisons += [_gradients] if isinstance(model, LagrangianModel) else []
    comparisons += [_energy] if _has_energy(model) else []
    worst: dict[str, float] = {}
    failures: list[CheckItem] = []
    rng = np.random.default_rng(seed)
    for _ in range(points):
        for compare in comparisons:
            try:
                probe = _Probe(model, rng, tolerance)
                for name, error in compare(probe, probe.point()):
                    worst[name] = max(worst.get(name, 0.0), error if np.isfinite(error) else np.inf)
            except Exception as error:
                failures.append(CheckItem(compare.__name__[1:], np.inf, tolerance, f"{type(error).__name__}: {error}"))
    return CheckReport(tuple([CheckItem(name, error, tolerance) for name, error in worst.items()] + failures))
