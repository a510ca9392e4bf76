"""Whether a system is time-invariant in a frame: its terms are compared at a time and at two times shortly after.

The ratio of the two times is irrational, so that what is periodic cannot be the same at all three of them.

The motion in between is that with constant accelerations in the frame, body by body: a steady rotation or spin is met
exactly, however far it goes. The state that it leads to is projected onto the constraints, and its accelerations and
multipliers follow from the equations of motion, so that other motions differ from it only by terms of third order.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple, NoReturn

import numpy as np

from lgint._args import Array, listing
from lgint._core import IntegrationError
from lgint._linear.frame import Frame, turn
from lgint._linear.perturb import Bodies, Motion
from lgint._linear.terms import Rates, Terms
from lgint._model.system import System

FAR: Final = 0.1  # rad: by how much the fastest body turns meanwhile; the same part of the size of the system
AT_REST: Final = 0.05  # s, if nothing moves
SOONER: Final = (5**0.5 - 1) / 2  # the first of two later times as a fraction of the second one, irrational
CHANGE: Final = 1e-5  # largest relative change of a term
PASSES: Final = 4  # of Newton's method for coordinates from poses
NAMES: Final = {"M": "the inertia", "D": "the damping", "K": "the stiffness", "N": "the directions that joints allow"}


class Kinematics(NamedTuple):
    """Of all bodies: positions, rotations, and linear and angular velocities and accelerations in inertial axes."""

    x: Array
    R: Array
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


def span(motion: Motion, frame: Frame, bodies: Bodies | None) -> float:
    """A time in which the system moves a little, s."""
    rates: list[Any] = [np.linalg.norm(frame.rate)]
    if bodies is None:
        rates.append(max(np.abs(motion.v).max(initial=0), np.sqrt(np.abs(motion.a).max(initial=0))))
    else:
        at = kinematics(bodies, motion)
        size = float(np.ptp(at.x, axis=0).max()) or 1.0
        rates += [_longest(at.omega), np.sqrt(_longest(at.alpha))]
        rates += [_longest(at.v) / size, np.sqrt(_longest(at.a) / size)]
    fastest = float(max(rates))
    return FAR / fastest if fastest > FAR / AT_REST else AT_REST


def _longest(x: Array) -> float:
    return float(np.linalg.norm(x, axis=-1).max(initial=0))


def later(terms: Terms, h: float) -> Terms:
    """The terms after a time h, along the motion and in the frame as it has turned."""
    space, motion, frame = terms.space, terms.motion, terms.frame
    model = space.model
    moved = _moved_bodies(space.bodies, motion, frame, h) if space.bodies else _moved_coordinates(model, motion, h)
    core, t = model.core, motion.t + h
    q, v = moved
    v[space.states] = motion.v[space.states] + h * motion.a[space.states]
    if core.nrows:
        q, v = core.project(t, q, v, motion.mem)
    a, lam = core.initial(t, q, v, motion.mem, check=False, load=terms.how.load, static=terms.how.static)
    return Terms(space, Motion(t, q, v, a, motion.mem), lam, frame.later(h), terms.how, terms)


def _moved_coordinates(model: System, motion: Motion, h: float) -> tuple[Array, Array]:
    return model.core.retract(motion.q, h * motion.v + h * h / 2 * motion.a), motion.v + h * motion.a


def _moved_bodies(bodies: Bodies, motion: Motion, frame: Frame, h: float) -> tuple[Array, Array]:
    """Coordinates and velocities after a time h, with accelerations that are constant in the frame."""
    x, R, v, omega, a, alpha = kinematics(bodies, motion)
    spin, after = frame.axes @ frame.rate, turn(h * (frame.axes @ frame.rate))
    r = x - frame.point
    slip = v - np.cross(spin, r)
    pushed = a - 2 * np.cross(spin, slip) - np.cross(spin, np.cross(spin, r))
    relative = omega - spin
    sped = alpha - np.cross(spin, relative)
    goal_x = frame.point + (r + h * slip + h * h / 2 * pushed) @ after.T
    turns = h * relative + h * h / 2 * sped
    goal_R = np.stack([after @ turn(own) @ each for own, each in zip(turns, R, strict=True)])
    goal_v = np.cross(spin, goal_x - frame.point) + (slip + h * pushed) @ after.T
    goal_omega = spin + (relative + h * sped) @ after.T
    q = bodies.model.core.retract(motion.q, h * motion.v + h * h / 2 * motion.a)
    for _ in range(PASSES):
        q = towards(bodies, motion._replace(q=q), goal_x, goal_R)
    v1 = motion.v + h * motion.a
    return q, bodies.velocities(motion._replace(t=motion.t + h, q=q, v=v1), goal_v, goal_omega)


def towards(bodies: Bodies, motion: Motion, x: Array, R: Array) -> Array:
    """Coordinates after a correction towards poses."""
    own_x, own_R = bodies.pose(motion)
    off = R @ np.swapaxes(own_R, -1, -2)
    turned = np.stack([_rotation_vector(each) for each in off])
    return bodies.model.core.retract(motion.q, bodies.displacements(motion, x - own_x, turned))


def _rotation_vector(R: Array) -> Array:
    axis = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]) / 2
    sine = float(np.linalg.norm(axis))
    vector: Array = axis if sine < 1e-8 else axis / sine * np.arctan2(sine, (np.trace(R) - 1) / 2)
    return vector


def check_invariant(terms: Terms, N: Array, poses: list[int], rates: Rates | None, where: str) -> list[Terms]:
    """The terms at two times shortly after; a ValueError if they have changed on the perturbations N y."""
    space = terms.space
    h = span(terms.motion, terms.frame, space.bodies)
    return [_unchanged(terms, N, poses, rates, where, each, FAR / h) for each in (SOONER * h, h)]


def _unchanged(
    terms: Terms, N: Array, poses: list[int], rates: Rates | None, where: str, h: float, rate: float
) -> Terms:
    """The terms after a time h, compared at the rate of the motion."""
    try:
        after = later(terms, h)
    except (ValueError, IntegrationError) as error:
        raise ValueError(f"{_not_invariant(where)}: it cannot be followed for {h:.3g} s: {error}") from error
    if after.error > CHANGE or not after.holds(N, CHANGE, rates):
        _refuse(where, "N", terms, [], h)
    now, then = terms.on(N), after.on(N)
    scales = _scales(now, rate)
    for name, a, b, scale in zip("MDK", now, then, scales, strict=True):
        off = np.abs(b - a) > CHANGE * scale
        if off.any():
            i, _ = np.unravel_index(np.argmax(np.abs(b - a) / scale), a.shape)
            _refuse(where, name, terms, [*poses, *range(-len(terms.space.states), 0)][int(i) : int(i) + 1], h)
    return after


def _scales(terms: tuple[Array, Array, Array], rate: float) -> tuple[Array, Array, Array]:
    """With which entries of M, D and K are compared: forces at the rate of the motion, or those that are there."""
    M, D, K = terms
    total = np.abs(M) * rate**2 + np.abs(D) * rate + np.abs(K)
    size = np.sqrt(np.maximum(total.max(axis=1, initial=0), np.finfo(float).tiny))
    scale = np.outer(size, size)
    return scale / rate**2, scale / rate, scale


def _not_invariant(where: str) -> str:
    return f"linearize: the system is not time-invariant in {where}"


def _refuse(where: str, name: str, terms: Terms, poses: list[int], h: float) -> NoReturn:
    labels = [*terms.space.labels, *terms.space.state_labels]
    at = f" of {listing([labels[i] for i in poses])}" if poses else ""
    frame = "a frame that turns with it (frame=body, or (axis, point, rate)), or " if terms.space.bodies else ""
    raise ValueError(
        f"{_not_invariant(where)}: {NAMES[name]}{at} change{'' if name == 'N' else 's'} within {h:.3g} s along the "
        f"motion. Give {frame}a state in equilibrium or in steady motion, which lgint.equilibrium finds"
    )
