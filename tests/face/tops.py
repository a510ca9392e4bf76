"""The heavy top on R3xSO3 in Python functions, for `lgint.CallableModel`."""

import numpy as np

MASS, COM, GRAVITY = 15.0, np.array([0.0, 1.0, 0.0]), np.array([0.0, 0.0, -9.81])
J = np.diag([0.234375, 0.46875, 0.234375])
OMEGA = np.array([0.0, 150.0, -4.61538])


def hat(a):
    """The matrix of the cross product."""
    return np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])


def split(q):
    """Position and rotation matrix."""
    return q[:3], q[3:].reshape(3, 3)


def functions():
    """Keywords of `lgint.CallableModel`: the start and every function."""
    mass = np.zeros((6, 6))
    mass[:3, :3], mass[3:, 3:] = MASS * np.eye(3), J
    force = np.concatenate([MASS * GRAVITY, np.zeros(3)])

    def jacobian(t, q):
        return np.hstack([np.eye(3), split(q)[1] @ hat(COM)])

    def tangent(t, q, v, a, lam):
        R, omega = split(q)[1], v[3:]
        K, D = np.zeros((6, 6)), np.zeros((6, 6))
        # moment of the multipliers (R X^)^T lam = -X^ R^T lam
        K[3:, 3:] = -hat(COM) @ hat(R.T @ lam)
        D[3:, 3:] = hat(omega) @ J - hat(J @ omega)
        return K, D

    return {
        "q0": np.concatenate([COM, np.eye(3).ravel()]),
        "v0": np.concatenate([np.cross(OMEGA, COM), OMEGA]),
        "mass": lambda t, q: mass,
        "force": lambda t, q, v: force,
        "gyro": lambda t, q, v: np.concatenate([np.zeros(3), np.cross(v[3:], J @ v[3:])]),
        "constraint": lambda t, q: split(q)[0] - split(q)[1] @ COM,
        "constraint_jacobian": jacobian,
        "constraint_acceleration": lambda t, q, v: split(q)[1] @ np.cross(v[3:], np.cross(v[3:], COM)),
        "tangent": tangent,
        "energy": lambda t, q, v: (0.5 * v @ mass @ v, -MASS * GRAVITY @ q[:3]),
    }
