r"""Steady rotation: all bodies, or some of them, turn at a constant rate about an axis.

Positions then determine velocities and accelerations, so that

    r(z, lam) = M a(q) + gyro - s force + B^T lam = 0,    phi(q) = 0

are as many equations as unknowns, and Newton's method finds their solution as it finds an equilibrium: its matrix K is
the derivative of the residual by perturbations under which every body keeps turning as it does, with the centrifugal
and gyroscopic terms. If all bodies turn, the axis is at rest, and K is the stiffness in a frame that turns with them.
If only some do, the axis is fixed in the first of them that is attached to anything else, its hub, and moves with it.

Nothing resists a rotation of all turning bodies about the axis, in which K is singular. It is held by one more row, and
its multiplier is the torque that is left over.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from lgint._args import Array, choice, listing, shown
from lgint._core import ConvergenceError
from lgint._linear.course import towards
from lgint._linear.frame import axis_of, cross_matrix, turn
from lgint._linear.perturb import Block, Bodies, Motion
from lgint._linear.terms import MANY, Derivatives, How, Maps, Space, kernel
from lgint._model.model import Model
from lgint._model.record import partners

STEP: Final = 0.3  # largest rotation, rad, or displacement relative to the size of the system, of one correction
ROUGH: Final = 1e-6  # corrections below this fraction of the size may stagnate at round-off
FINE: Final = 1e-13
RANK: Final = 1e-11  # curvatures below this fraction are zero
LEFT: Final = 1e-6  # largest part of the forces that may be left over
ROUND_OFF: Final = 1e-11  # of all forces: less than this part of them is zero
ANGLE: Final = 0.1  # rad: after which the rotation has to be the same
PASSES: Final = 4


class Spin(NamedTuple):
    """A rotation: axis, point and rate in the start, which bodies turn, and the body in which the axis is fixed."""

    axis: Array
    point: Array
    rate: float
    turning: Array  # (bodies,), True or False
    hub: int | None  # None: the axis is at rest


class Balance(NamedTuple):
    """A state on the way to a steady rotation."""

    motion: Motion
    lam: Array
    load: float


def spin_of(model: Model, spin: Any, rotating: Any) -> Spin:
    """The rotation given by (axis, point, rate) and the names of bodies."""
    axis, point, rate = axis_of("spin", spin)
    names = list(model.bodies)
    if rotating is None:
        return Spin(axis, point, rate, np.ones(len(names), dtype=bool), None)
    if isinstance(rotating, str) or not isinstance(rotating, Sequence) or not len(rotating):
        raise ValueError(f"rotating: names of bodies expected, got {shown(rotating)}")
    chosen = [choice("body", name, model.bodies) for name in rotating]
    turning = np.array([name in chosen for name in names])
    return Spin(axis, point, rate, turning, names.index(_hub(model, chosen)))


def _hub(model: Model, chosen: Sequence[str]) -> str:
    """The first body attached to one that does not turn, or else the first body."""
    pairs: list[tuple[str, ...]] = [partners(joint) for joint in model.joints.values()]
    pairs += [tuple(row["bodies"]) for row in model.forces.values() if len(row.get("bodies", ())) == 2]
    return next(
        (name for name in chosen if any(name in pair and not set(pair) <= set(chosen) for pair in pairs)), chosen[0]
    )


class Turning:
    """The equations of a steady rotation of one model."""

    def __init__(self, model: Model, spin: Spin, time: float) -> None:
        self.model, self.spin, self.time = model, spin, time
        self.space = Space(model, MANY)
        self.factored = self.space.sparse  # corrections are found by sparse factors, which need a regular matrix
        bodies = self.space.bodies
        assert bodies is not None
        self.bodies: Bodies = bodies
        x, R = bodies.pose(Motion(time, model.q0, 0 * model.v0, 0 * model.v0, None))
        self.size = float(np.ptp(x, axis=0).max()) or 1.0
        self._axis, self._point = spin.axis, spin.point
        if spin.hub is not None:
            self._axis = R[spin.hub].T @ spin.axis
            self._point = R[spin.hub].T @ (spin.point - x[spin.hub])

    def line(self, x: Array, R: Array) -> tuple[Array, Array]:
        """The angular velocity and a point of the axis, where bodies are at x and R."""
        hub = self.spin.hub
        if hub is None:
            return self.spin.rate * self._axis, self._point
        return self.spin.rate * R[hub] @ self._axis, x[hub] + R[hub] @ self._point

    def moving(self, q: Array, mem: Array | None, values: Array | None = None) -> Motion:
        """The steady motion in which the bodies are where q puts them; `values`: those of first-order equations."""
        still = np.zeros(self.model.nv)
        at = Motion(self.time, q, still, still, mem)
        x, R = self.bodies.pose(at)
        s, p = self.line(x, R)
        on = self.spin.turning[:, None]
        rate = np.cross(s, x - p) * on
        v = self.bodies.velocities(at, rate, np.tile(s, (len(x), 1)) * on)
        v[self.space.states] = self.model.v0[self.space.states] if values is None else values
        a = self.bodies.speeding(at._replace(v=v), np.cross(s, rate))
        if mem is not None:
            mem = self.model.core.remember(self.time, q, v, still, mem)
        return Motion(self.time, q, v, a, mem)

    def rates(self, motion: Motion) -> tuple[list[Block], list[Block]]:
        """The changes of twists and of accelerations with the poses."""
        x, R = self.bodies.pose(motion)
        s, p = self.line(x, R)
        back, S, n = np.swapaxes(R, -1, -2), cross_matrix(s), len(x)
        on = self.spin.turning[:, None, None]
        twists, pushes = np.zeros((n, 6, 6)), np.zeros((n, 6, 6))
        twists[:, :3, :3], pushes[:, :3, :3] = S * on, S @ S * on
        twists[:, 3:, 3:] = back @ S * on
        hub = self.spin.hub
        if hub is None:
            return self.bodies.by_body(twists), self.bodies.by_body(pushes)
        # the axis moves: its direction by theta x s, and the point by the displacement of the hub
        arm, out = cross_matrix(p - x[hub]), cross_matrix(x - p)
        of_hub, push = np.zeros((n, 6, 6)), np.zeros((n, 6, 6))
        of_hub[:, :3, :3] = -S * on
        of_hub[:, :3, 3:] = (S @ arm + out @ S) * on
        of_hub[:, 3:, 3:] = -back @ S * on
        push[:, :3, :3] = -S @ S * on
        push[:, :3, 3:] = (S @ S @ arm + cross_matrix(np.cross(s, x - p)) @ S + S @ out @ S) * on
        rows = np.add.outer(self.bodies.rows, np.arange(6))
        columns = np.tile(rows[hub], (n, 1))
        first, second = (Block(rows, columns, each) for each in (of_hub, push))
        return [*self.bodies.by_body(twists), first], [*self.bodies.by_body(pushes), second]

    def about_axis(self, motion: Motion) -> Array:
        """The perturbation of poses that turns all turning bodies about the axis, at a rate of one."""
        x, R = self.bodies.pose(motion)
        _, p = self.line(x, R)
        e = self._axis if self.spin.hub is None else R[self.spin.hub] @ self._axis
        on = self.spin.turning[:, None]
        d, at = np.zeros(self.bodies.count), np.add.outer(self.bodies.rows, np.arange(3))
        d[at], d[at + 3] = np.cross(e, x - p) * on, np.tile(e, (len(x), 1)) * on
        return d

    # ---- Newton's method ----

    def solved(self, begin: Balance, most: int) -> tuple[Balance, int]:
        """The steady rotation near a state, and the number of corrections."""
        try:
            return self._corrected(begin, most)
        except (ConvergenceError, RuntimeError):  # the latter of sparse factors
            if not self.factored or self.space.large:
                raise
        self.factored = False
        try:
            return self._corrected(begin, most)
        except ConvergenceError:
            self.factored = True
            raise

    def _corrected(self, begin: Balance, most: int) -> tuple[Balance, int]:
        at, before = begin, np.inf
        for iteration in range(1, most + 1):
            with np.errstate(all="ignore"):  # what overflows is found below
                system = Corrections(self, at)
                try:
                    dz, dlam = system.step()
                except np.linalg.LinAlgError:
                    break
                length = self._length(system, dz)
            if not np.isfinite(length):
                break
            at = self._moved(system, at, dz * min(1.0, STEP / max(length, FINE)), dlam)
            if length < FINE or (length < ROUGH and length > before / 2):
                return at, iteration
            before = length
        raise ConvergenceError(
            f"no steady rotation was found in {most} corrections, the last of {before:.3g}; give a start nearer to it, "
            "smaller steps of the rate (campbell and model.with_state follow it), or a larger max_iter"
        )

    def _length(self, system: Corrections, dz: Array) -> float:
        moved = np.abs(system.maps.F @ dz[: self.space.nz])
        at = np.add.outer(self.bodies.rows, np.arange(3))
        return float(max(moved[at].max() / self.size, moved[at + 3].max()))

    def _moved(self, system: Corrections, at: Balance, dz: Array, dlam: Array) -> Balance:
        q = self.model.core.retract(at.motion.q, system.maps.Y @ dz[: self.space.nz])
        values = at.motion.v[self.space.states] + dz[self.space.nz :]
        if self.bodies.own_rows:
            nothing = np.zeros((len(self.bodies.names), 3))
            still = at.motion._replace(q=q, v=0 * at.motion.v)
            q = self.model.core.retract(q, self.bodies.displacements(still, nothing, nothing))
        return Balance(self.moving(q, at.motion.mem, values), at.lam + dlam, at.load)


class Corrections:
    """The linear equations for one correction of a steady rotation.

    Attributes
    ----------
    maps : Maps
        With F, whose columns belong to z.
    K, B : matrices
        The derivatives of the residual and of the active constraints by z.
    residual, phi : ndarray
        Of both; `size` is with what forces are compared.
    """

    def __init__(self, turning: Turning, at: Balance) -> None:
        space, bodies = turning.space, turning.bodies
        core, motion = space.model.core, at.motion
        self._turning, self._at = turning, at
        self.derivatives: Derivatives = space.derivatives(motion, at.lam, How(at.load))
        self.maps = Maps(space, bodies, bodies.parts(motion, np.eye(3)))
        W, W0 = self._changes(motion)
        K, D, M, B = self.derivatives
        self.X = space.beside(self.maps.Y, space.E)
        Y = self.X.T
        self.K = Y @ space.beside(M @ W0 + D @ W + K @ self.maps.Y, D @ space.E)
        active = np.flatnonzero(abs(B).sum(axis=1))
        self.rows = np.array([row for row in active if row not in bodies.own_rows], dtype=int)
        self.B = space.beside((B @ self.maps.Y)[self.rows], 0 * (B @ space.E)[self.rows])
        found = core.evaluate(
            *motion[:4], at.lam, mem=motion.mem, want=("Ma", "gyro", "force", "Btlam", "phi"), load=at.load
        )
        terms = [Y @ found[name] for name in ("Ma", "gyro", "force", "Btlam")]
        self.residual: Array = terms[0] + terms[1] - terms[2] + terms[3]
        self.size = float(sum(np.abs(each).max(initial=0) for each in terms) + ROUGH * abs(self.K).max())
        self.phi: Array = found["phi"][self.rows]
        spun = self.maps.F.T @ turning.about_axis(motion)
        self.spun: Array = np.append(spun, np.zeros(len(space.states)))
        if not self._may_turn():
            self.spun = 0 * self.spun

    def _changes(self, motion: Motion) -> tuple[Any, Any]:
        twists, pushes = (self.maps.poses(each) for each in self._turning.rates(motion))
        W = self.maps.velocities(twists)
        return W, self.maps.accelerations(pushes, W)

    def _may_turn(self) -> bool:
        """Whether the constraints allow a rotation of the turning bodies about the axis.

        While they are not satisfied, the rotation may change them by their remaining residual.
        """
        if not self.B.shape[0]:
            return True
        slip = np.abs(self.B @ self.spun)
        left = 2 * float(np.linalg.norm(self.phi))
        return bool(slip.max() <= LEFT * (abs(self.B) @ np.abs(self.spun)).max() + left)

    def step(self) -> tuple[Array, Array]:
        """The correction of z, and that of the multipliers."""
        dz, dlam = self._sparse() if self._turning.factored else self._dense(*map(_dense, (self.K, self.B)))
        all_rows = np.zeros(self._turning.model.nc)
        all_rows[self.rows] = dlam
        return dz, all_rows

    def _dense(self, whole: Array, B: Array) -> tuple[Array, Array]:
        N = kernel(B, [self._turning.model.row_names[row] for row in self.rows])
        particular = -np.linalg.lstsq(B, self.phi, rcond=None)[0] if len(self.rows) else 0 * self.residual
        right = -N.T @ (self.residual + whole @ particular)
        c = N.T @ self.spun
        on = bool(np.abs(c).max(initial=0) > 0)
        K = N.T @ whole @ N
        size = np.sqrt(np.maximum(np.abs(K).max(axis=1, initial=0), RANK * max(np.abs(K).max(initial=0), 1e-300)))
        scaled = K / np.outer(size, size)
        if on:
            c = c / size / np.linalg.norm(c / size)
            scaled = np.block([[scaled, c[:, None]], [c[None, :], np.zeros((1, 1))]])
        found = np.linalg.lstsq(scaled, np.append(right / size, np.zeros(int(on))), rcond=RANK)[0]
        dz: Array = particular + N @ (found[: len(size)] / size)
        dlam: Array = -np.linalg.lstsq(B.T, self.residual + whole @ dz, rcond=None)[0]
        return dz, dlam

    def _sparse(self) -> tuple[Array, Array]:
        from scipy.sparse import block_array, csr_array
        from scipy.sparse.linalg import splu

        border = [csr_array(self.spun[None, :])] if np.abs(self.spun).max() > 0 else []
        rows = [each for each in (self.B, *border) if each.shape[0]]
        n, count = len(self.residual), sum(each.shape[0] for each in rows)
        right = np.concatenate([-self.residual, -self.phi, np.zeros(len(border))])
        blocks = [[self.K, *(each.T for each in rows)], *([each, *([None] * len(rows))] for each in rows)]
        found = splu(block_array(blocks).tocsc()).solve(right) if count else splu(self.K.tocsc()).solve(right)
        return found[:n], found[n : n + len(self.rows)]


# ---- whether the rotation stays as it is ----


def variant_loads(turning: Turning, at: Balance) -> list[str]:
    """The loads that change as the bodies turn on from a state, if there are any."""
    return _variant(turning, at, after(turning, at, ANGLE)) if turning.spin.rate else []


def net_torque(turning: Turning, at: Balance) -> str:
    """The net torque about the axis and the forces that cause it; "" if there is none.

    A steady rotation changes no angular momentum about its axis, wherever the bodies are.
    """
    system = Corrections(turning, at)
    torque = float(system.spun @ system.residual)
    size = float(np.abs(system.spun) @ np.abs(system.X.T) @ _forces(turning, at)) + system.size
    if abs(torque) <= LEFT * size:
        return ""
    names = _with_power(turning, at, torque)
    return (
        f"a net torque of {-torque:.6g} N m about the axis is left, with which the bodies would not turn steadily; "
        f"{listing(names)} {'does' if len(names) == 1 else 'do'} work on the rotation"
    )


def check_steady(turning: Turning, at: Balance) -> None:
    """A ValueError that names what does not allow the rotation to go on as it is."""
    model, rate = turning.model, turning.spin.rate
    if left := net_torque(turning, at):
        raise ValueError(f"spin: {left}")
    _, phidot = model.core.residual(at.motion.t, at.motion.q, at.motion.v, at.motion.mem)
    _refuse_rows(model, phidot, abs(rate) * turning.size, "do not move while these bodies turn")
    if rate:
        _check_later(turning, at, Corrections(turning, at).size)


def _check_later(turning: Turning, at: Balance, size: float) -> None:
    model = turning.model
    moved = after(turning, at, ANGLE)
    phi, _ = model.core.residual(moved.t, moved.q, moved.v, moved.mem)
    _refuse_rows(model, phi, turning.size, "are not satisfied after the bodies have turned on")
    system = Corrections(turning, Balance(moved, 0 * at.lam, at.load))
    left = system.residual
    if len(system.rows):
        lam = np.linalg.lstsq(_dense(system.B).T, left, rcond=None)[0]
        left = left - system.B.T @ lam
    if np.abs(left).max() > LEFT * size:
        raise ValueError(
            f"spin: {_changes(_variant(turning, at, moved) or ['the shape of the bodies'])} as the bodies turn, so "
            "that they do not turn steadily; loads and supports have to be the same in every direction about the axis"
        )


def after(turning: Turning, at: Balance, angle: float) -> Motion:
    """The motion when the bodies have turned on by an angle."""
    x, R = turning.bodies.pose(at.motion)
    s, p = turning.line(x, R)
    rotation = turn(s * (angle / np.linalg.norm(s)))
    on = turning.spin.turning
    goal_x = np.where(on[:, None], p + (x - p) @ rotation.T, x)
    goal_R = np.where(on[:, None, None], rotation @ R, R)
    time = at.motion.t + angle / turning.spin.rate
    q = turning.model.core.retract(at.motion.q, angle / turning.spin.rate * at.motion.v)
    for _ in range(PASSES):
        q = towards(turning.bodies, at.motion._replace(t=time, q=q), goal_x, goal_R)
    return turning.moving(q, at.motion.mem, at.motion.v[turning.space.states])._replace(t=time)


def _refuse_rows(model: Model, values: Array, size: float, what: str) -> None:
    bad = np.flatnonzero(np.abs(values) > LEFT * max(size, 1e-12))
    if bad.size:
        raise ValueError(
            f"spin: {listing([model.row_names[row] for row in bad])} {what}; leave out or change the joint"
        )


def _forces(turning: Turning, at: Balance) -> Array:
    found = turning.model.core.evaluate(*at.motion[:3], mem=at.motion.mem, want=["force"], load=at.load)["force"]
    return np.abs(found)


def _with_power(turning: Turning, at: Balance, torque: float) -> list[str]:
    """The forces that do work on the rotation, beyond round-off."""
    from lgint._linear.ports import state_at

    state = state_at(turning.model, at.motion, at.lam)
    powers = {name: abs(float(state.power(name))) for name in state.force_names if name in turning.model.forces}
    gravity = np.array(turning.model.record()["gravity"])
    weights = (row["mass"] * gravity @ state.velocity(name) for name, row in turning.model.bodies.items())
    powers["gravity"] = abs(float(sum(weights)))
    powers |= {name: abs(float(state.power(name))) for name in turning.model.controls}
    most = max([abs(torque * turning.spin.rate), *powers.values()])
    return [name for name, power in powers.items() if power > 1e-3 * most] or ["inertia"]


def _variant(turning: Turning, at: Balance, moved: Motion) -> list[str]:
    """The loads that change as bodies turn: wrenches in the axes of what they act on, and weights."""
    from lgint._linear.ports import state_at

    model, names, size = turning.model, [], Corrections(turning, at).size
    first, second = state_at(model, at.motion, at.lam), state_at(model, moved, at.lam)
    for name, row in model.forces.items():
        body = (row.get("bodies") or [model.joints[row["joint"]]["second"]])[-1]
        own = [s.rotation(body).T @ s.force(name, on=body).values.reshape(2, 3).T for s in (first, second)]
        if _differ(own, size):
            names.append(name)
    for name in model.controls:
        if _differ([np.hstack(_efforts(each, name, own=True)) for each in (first, second)], size):
            names.append(name)
    gravity = np.array(model.record()["gravity"])
    s, _ = turning.line(*turning.bodies.pose(at.motion))
    if np.linalg.norm(np.cross(gravity, s)) > LEFT * np.linalg.norm(gravity) * np.linalg.norm(s):
        names.insert(0, "gravity")
    return names


def _efforts(state: Any, name: str, own: bool = False) -> list[Array]:
    """The efforts of a control in joints, and its force and moment on each body; `own`: forces in body axes, too."""
    row = state.multibody().controls[name]
    values = [*state.control(name).efforts.values()]
    found = [np.zeros(0), *values[: len(row["joints"])]]
    for body, wrench in zip(row["bodies"], values[len(row["joints"]) :], strict=True):
        found += [state.rotation(body).T @ wrench[:3] if own else wrench[:3], wrench[3:]]
    return found


def _differ(values: Sequence[Array], size: float) -> bool:
    """Whether forces differ at two times; those that are zero up to round-off have no direction."""
    change, most = np.abs(values[1] - values[0]).max(initial=0), np.abs(values).max(initial=0)
    return bool(change > LEFT * most and change > ROUND_OFF * size)


def _changes(names: list[str]) -> str:
    return f"{listing(names)} {'changes' if len(names) == 1 else 'change'}"


def _dense(matrix: Any) -> Array:
    dense: Array = matrix if isinstance(matrix, np.ndarray) else matrix.toarray()
    return dense
