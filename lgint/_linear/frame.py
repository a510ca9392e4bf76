"""The frame in which perturbations of a system are measured: at rest, or turning at a constant rate."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

from lgint._args import Array, array, number, shown
from lgint._model.record import Ground
from lgint._state.mechanics import skew
from lgint._state.state import State

AT_REST: Final = 1e-3  # rad^2/s^2, in place of the squared rate of a body that hardly turns
STEADY: Final = 1e-6  # largest angular acceleration of a body used as a frame, relative to its squared rate


class Frame(NamedTuple):
    """Axes at one time, and how they turn.

    Attributes
    ----------
    axes : ndarray, shape (3, 3)
        Rotation from the frame to inertial axes.
    rate : ndarray, shape (3,)
        Angular velocity in its own axes, which is constant, rad/s.
    point : ndarray, shape (3,)
        A point on the axis about which it turns, in inertial axes, m.
    """

    axes: Array
    rate: Array
    point: Array

    def later(self, h: float) -> Frame:
        """The frame after a time h."""
        return self._replace(axes=self.axes @ turn(h * self.rate))


def turn(x: Array) -> Array:
    """The rotation matrix of a rotation vector."""
    angle = float(np.linalg.norm(x))
    if angle == 0.0:
        return np.eye(3)
    n = skew(x / angle)
    rotation: Array = np.eye(3) + np.sin(angle) * n + (1 - np.cos(angle)) * (n @ n)
    return rotation


def cross_matrix(x: Array) -> Array:
    """The matrices (..., 3, 3) that map y to the vector product of x (..., 3) and y."""
    matrix: Array = np.cross(np.eye(3), x[..., None, :])
    return matrix


def axis_of(name: str, value: Any) -> tuple[Array, Array, float]:
    """Unit axis, point and rate from (axis, point, rate)."""
    if not isinstance(value, (tuple, list)) or len(value) != 3:
        raise ValueError(f"{name}: (axis, point, rate) expected, got {shown(value)}")
    axis, point = array(f"axis of {name}", value[0], (3,)), array(f"point of {name}", value[1], (3,))
    length = float(np.linalg.norm(axis))
    if length == 0.0:
        raise ValueError(f"axis of {name}: a vector that is not zero expected, got {shown(value[0])}")
    return axis / length, point, number(f"rate of {name}", value[2])


def is_ground(frame: Any) -> bool:
    """Whether the frame at rest is given, as lgint.ground or by its name."""
    return isinstance(frame, Ground) or (isinstance(frame, str) and frame == "ground")


def frame_of(state: State, frame: Any) -> Frame:
    """The frame given as lgint.ground, a body, or (axis, point, rate)."""
    if is_ground(frame):
        return Frame(np.eye(3), np.zeros(3), np.zeros(3))
    state.multibody()
    if not isinstance(frame, str):
        axis, point, rate = axis_of("frame", frame)
        return Frame(np.eye(3), rate * axis, point)
    x, R, velocity = state.position(frame), state.rotation(frame), state.velocity(frame)
    omega, alpha = state.angular_velocity(frame), state.angular_acceleration(frame)
    size = float(omega @ omega)
    if np.linalg.norm(alpha) > STEADY * max(size, AT_REST):
        raise ValueError(
            f"frame: body {frame!r} does not turn at a constant rate: its angular acceleration is "
            f"{np.linalg.norm(alpha):.3g} rad/s^2 at {np.sqrt(size):.3g} rad/s; give a body that turns steadily, or "
            "(axis, point, rate)"
        )
    turning = R @ omega
    point = x + np.cross(turning, velocity) / size if size else x
    return Frame(R, omega, point)
