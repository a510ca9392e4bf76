r"""How a system moves on for a short time from a state near a steady motion.

Every body moves on with constant accelerations in a frame, so that a steady rotation or spin is met exactly. The
accelerations of the state itself are of no use here: where something stiff holds a small inertia, they are large by
round-off in the forces alone. The constant ones lead as far as one step of the trapezoidal rule for the linearised
equations, from rest in the frame:

    (4 M + 2 h D + h^2 K) z = 2 h^2 M a + B^T mu,      B (z - a h^2/2) = 0.

This is $z = a h^2/2$ up to terms of third order, and moves stiff parts no further than they vibrate. The state at the
end is projected onto the constraints; its accelerations and multipliers follow from the equations of motion.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

from lgint._args import Array
from lgint._linear.frame import Frame, turn
from lgint._linear.modes import sparse_modes
from lgint._linear.perturb import Bodies, Motion
from lgint._linear.terms import Terms
from lgint._model.system import System

PASSES: Final = 4  # of Newton's method for coordinates from poses


class Kinematics(NamedTuple):
    """Positions, rotations, velocities and accelerations of all bodies, linear and angular, in inertial axes."""

    x: Array
    R: Array
    v: Array
    omega: Array
    a: Array
    alpha: Array


class Relative(NamedTuple):
    """Positions, velocities and accelerations of all bodies relative to a frame and its point, in inertial axes."""

    r: Array
    v: Array
    omega: Array
    a: Array
    alpha: Array


def kinematics(bodies: Bodies, motion: Motion) -> Kinematics:
    """The kinematics of all bodies at a point of a motion."""
    core, at = bodies.model.core, (bodies.frames, motion.q, motion.v)
    x, R, v, omega = core.kinematics(*at, motion.t)
    a, alpha = core.accelerations(*at, motion.a, motion.t)
    return Kinematics(x, R, v, _turned(R, omega), a, _turned(R, alpha))


def _turned(R: Array, x: Array) -> Array:
    turned: Array = np.einsum("nij,nj->ni", R, x)
    return turned


def relative(at: Kinematics, frame: Frame) -> Relative:
    """The motion of bodies relative to a frame."""
    spin, r = frame.axes @ frame.rate, at.x - frame.point
    v, omega = at.v - np.cross(spin, r), at.omega - spin
    a = at.a - 2 * np.cross(spin, v) - np.cross(spin, np.cross(spin, r))
    return Relative(r, v, omega, a, at.alpha - np.cross(spin, omega))


def held(terms: Terms, h: float) -> Motion:
    """The point of the motion, with the constant accelerations that lead as far as the step h."""
    a = _accelerations(terms)
    if not a.any():
        return terms.motion
    n = len(a)
    M, D, K = (each[:n, :n] for each in (terms.M, terms.D, terms.K))
    push = -(2 * h * (D @ a) + h * h * (K @ a))
    change = _solved(terms, 4 * M + 2 * h * D + h * h * K, push)
    return terms.motion._replace(a=terms.motion.a + terms.Y @ change)


def _accelerations(terms: Terms) -> Array:
    """The accelerations z'' (nz,) relative to the frame."""
    space, motion, frame = terms.space, terms.motion, terms.frame
    if space.bodies is None:
        own: Array = space.moving.T @ motion.a
        return own
    against = relative(kinematics(space.bodies, motion), frame)
    rows = space.bodies.stacked(against.a @ frame.axes, against.alpha @ frame.axes, motion.a)
    a: Array = terms.poses.T @ rows[: space.bodies.count]
    return a


def _solved(terms: Terms, S: Any, push: Array) -> Array:
    """The z (nz,) allowed by the constraints that solves S z = push along all allowed directions."""
    if terms.space.sparse:
        return sparse_modes(terms).solved(S, push)
    N = terms.free[0] @ terms.rates.V
    found: Array = N @ np.linalg.solve(N.T @ S @ N, N.T @ push)
    return found


def later(terms: Terms, h: float) -> Terms:
    """The terms after a time h, along the motion and in the frame as it has turned."""
    space, motion, frame = terms.space, held(terms, h), terms.frame
    core, t = space.model.core, motion.t + h
    q, v = _moved_bodies(space.bodies, motion, frame, h) if space.bodies else _moved_coordinates(space.model, motion, h)
    v[space.states] = motion.v[space.states] + h * motion.a[space.states]
    if core.nrows:
        q, v = core.project(t, q, v, motion.mem)
    a, lam = core.initial(t, q, v, motion.mem, check=False, load=terms.how.load, static=terms.how.static)
    return Terms(space, Motion(t, q, v, a, motion.mem), lam, frame.later(h), terms.how, terms)


def _moved_coordinates(model: System, motion: Motion, h: float) -> tuple[Array, Array]:
    return model.core.retract(motion.q, h * motion.v + h * h / 2 * motion.a), motion.v + h * motion.a


def _moved_bodies(bodies: Bodies, motion: Motion, frame: Frame, h: float) -> tuple[Array, Array]:
    """Coordinates and velocities after a time h of accelerations that are constant in the frame."""
    at, spin, after = kinematics(bodies, motion), frame.axes @ frame.rate, turn(h * (frame.axes @ frame.rate))
    r, v, omega, a, alpha = relative(at, frame)
    goal_x = frame.point + (r + h * v + h * h / 2 * a) @ after.T
    turns = h * omega + h * h / 2 * alpha
    goal_R = np.stack([after @ turn(own) @ each for own, each in zip(turns, at.R, strict=True)])
    goal_v = np.cross(spin, goal_x - frame.point) + (v + h * a) @ after.T
    goal_omega = spin + (omega + h * alpha) @ after.T
    q = bodies.model.core.retract(motion.q, h * motion.v + h * h / 2 * motion.a)
    for _ in range(PASSES):
        q = towards(bodies, motion._replace(q=q), goal_x, goal_R)
    v1 = motion.v + h * motion.a
    return q, bodies.velocities(motion._replace(t=motion.t + h, q=q, v=v1), goal_v, goal_omega)


def towards(bodies: Bodies, motion: Motion, x: Array, R: Array) -> Array:
    """Coordinates after one correction towards given poses."""
    own_x, own_R = bodies.pose(motion)
    off = R @ np.swapaxes(own_R, -1, -2)
    turned = np.stack([_rotation_vector(each) for each in off])
    return bodies.model.core.retract(motion.q, bodies.displacements(motion, x - own_x, turned))


def _rotation_vector(R: Array) -> Array:
    axis = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]) / 2
    sine = float(np.linalg.norm(axis))
    vector: Array = axis if sine < 1e-8 else axis / sine * np.arctan2(sine, (np.trace(R) - 1) / 2)
    return vector
