"""What the tests of methods share: systems on which every method runs, references, observed orders."""

import functools

import numpy as np
from scipy.integrate import solve_ivp

import lgint
from kinds import ANGLES

# A top that spins slowly enough for coarse steps to be asymptotic, and fast enough for every term to matter.
SLOW = dict(omega0=(1.0, 16.0, -4.0))
T_END = 0.5

# Steps (per T_END) from which three halvings are asymptotic, by the method's order.
COARSEST = {1: 6400, 2: 400, 3: 120, 4: 60, 5: 50, 6: 24, 8: 8}


def slow_top(formulation, constrained=True, **parameters):
    return lgint.models.heavy_top(formulation=formulation, constrained=constrained, **{**SLOW, **parameters})


def quaternion_matrix(p):
    w, x, y, z = p
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


@functools.cache
def top_by_scipy(omega0=SLOW["omega0"], t_end=T_END):
    """SciPy's solution of the heavy top in quaternions about its fixed point: R, omega, omega', force on the pivot."""
    m, X, g = 15.0, np.array([0.0, 1.0, 0.0]), np.array([0.0, 0.0, -9.81])
    J = np.diag([0.234375, 0.46875, 0.234375]) + m * (X @ X * np.eye(3) - np.outer(X, X))

    def acceleration(R, w):
        return np.linalg.solve(J, np.cross(X, R.T @ (m * g)) - np.cross(w, J @ w))

    def rhs(t, y):
        p, w = y[:4], y[4:]
        pdot = 0.5 * np.array(
            [
                -p[1:] @ w,
                *(p[0] * w + np.cross(p[1:], w)),
            ]
        )
        return np.concatenate([pdot, acceleration(quaternion_matrix(p / np.linalg.norm(p)), w)])

    y0 = np.array([1.0, 0, 0, 0, *omega0])
    y = solve_ivp(rhs, (0, t_end), y0, method="DOP853", rtol=1e-13, atol=1e-14).y[:, -1]
    R, w = quaternion_matrix(y[:4] / np.linalg.norm(y[:4])), y[4:]
    wdot = acceleration(R, w)
    xdd = R @ (np.cross(wdot, X) + np.cross(w, np.cross(w, X)))
    return R, w, wdot, m * (g - xdd)  # lambda: force of the constraint x - R X = 0 is -lambda on the body


def rotation_error(R, R_ref):
    return np.linalg.norm(lgint.groups.so3.log(R_ref.T @ R))


def end_error(run):
    R, w, _, _ = top_by_scipy()
    return rotation_error(run.rotation("top")[-1], R), np.abs(run.angular_velocity("top")[-1] - w).max()


def observed_order(steps, errors):
    """Slope of the straight line through log(error) over log(h) of all points."""
    h = 1.0 / np.asarray(steps, dtype=float)
    return np.polyfit(np.log(h), np.log(errors), 1)[0]


def start_of(formulation, order):
    """An initial angular velocity that keeps angles away from their singularity and has no vanishing leading error.

    Order eight needs a faster motion: its errors are above round-off for fewer halvings.
    """
    if order == 8:
        return (20.0, 1.0, -1.0) if formulation in ANGLES else (2.0, 24.0, -6.0)
    if formulation == "tait_bryan_omega":
        return (8.0, 1.0, -6.0) if order == 5 else (14.0, 2.0, -3.0)
    return (16.0, 1.0, -3.0) if formulation == "tait_bryan" else SLOW["omega0"]


def halvings(order, formulation=None):
    if order not in COARSEST:
        raise ValueError(
            f"the number of steps from which a method of order {order} is asymptotic is not known; add it to COARSEST"
        )
    n = 36 if formulation in ANGLES and order == 5 else COARSEST[order]
    return [n * 2**i for i in range(3 if order == 8 else 4)]


def precession_error(axis, t):
    """The error (121) of kinon2024 of the axis (3,) of `steady_top` at a time, against its steady precession (120)."""
    s, c, angle = np.sin(np.pi / 3), np.cos(np.pi / 3), 10 * t
    return np.linalg.norm(axis - [s * np.sin(angle), -s * np.cos(angle), c])
