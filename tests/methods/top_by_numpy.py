"""The heavy top by (12)-(15) of tumiotto2024 in NumPy, with separate switches for the two doubtful parts.

Written without lgint, from the equations of motion: x and R, Phi = R^T x - X = 0, on SO(3)xR^3 with v = (x', omega) or
on SE(3) with v = (R^T x', omega).
"""

import numpy as np

MASS, INERTIA, X = 15.0, np.diag([0.234375, 0.46875, 0.234375]), np.array([0.0, 1.0, 0.0])
M = np.diag([MASS] * 3 + list(np.diag(INERTIA)))
GRAVITY, OMEGA = np.array([0.0, 0.0, -9.81]), np.array([0.0, 150.0, -4.61538])


def hat(a):
    return np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])


def cross(a, b):
    return hat(a) @ b  # np.cross takes ten times as long


def series(A, first):
    """The sum of A^k / (first (first + 1) ... (first + k - 1)) over k = 0, 1, ..., 12; the norm of A is below 0.2."""
    total = term = np.eye(len(A))
    for k in range(first, first + 12):
        term = term @ A / k
        total = total + term
    return total


def ad(space, theta):
    blocks = np.zeros((6, 6))
    blocks[3:, 3:] = hat(theta[3:])
    if space == "SE3":
        blocks[:3, :3], blocks[:3, 3:] = blocks[3:, 3:], hat(theta[:3])
    return blocks


def moved(space, x, R, theta):
    """(x, R) exp(theta)."""
    if space == "R3xSO3":
        return x + theta[:3], R @ series(hat(theta[3:]), 1)
    motion = np.zeros((4, 4))
    motion[:3, :3], motion[:3, 3] = hat(theta[3:]), theta[:3]
    motion = series(motion, 1)
    return x + R @ motion[:3, 3], R @ motion[:3, :3]


def rate(space, theta, v):
    """T^-1(theta) v, with T = sum (-ad)^k / (k + 1)!."""
    return np.linalg.solve(series(-ad(space, theta), 2), v)


def equations(space, x, R, v):
    """force - gyro, B and zeta."""
    u, w, arm = v[:3], v[3:], R.T @ x
    body = u if space == "SE3" else R.T @ u  # the velocity in the axes of the body
    turning = -cross(w, INERTIA @ w)
    if space == "SE3":
        force, B = np.concatenate([MASS * (R.T @ GRAVITY - cross(w, u)), turning]), np.hstack([np.eye(3), hat(arm)])
    else:
        force, B = np.concatenate([MASS * GRAVITY, turning]), np.hstack([R.T, hat(arm)])
    zeta = -cross(body - cross(w, arm), w)
    return force, B, zeta if space == "SE3" else zeta + cross(w, body)


def solved(B, B_next, force, zeta):
    """a and lam of M a + B^T lam = force, B_next a = zeta."""
    matrix = np.zeros((9, 9))
    matrix[:6, :6], matrix[:6, 6:], matrix[6:, :6] = M, B.T, B_next
    solution = np.linalg.solve(matrix, np.concatenate([force, zeta]))
    return solution[:6], solution[6:]


def index_1(space, x, R, v):
    force, B, zeta = equations(space, x, R, v)
    return solved(B, B, force, zeta)


def top(space, A, b, d, n, t_end, *, consistent_stage):
    """x, R, v; lambda by (15) and by the index-1 equations at the end; the largest residual of the constraint."""
    stages, end, h = len(A) - 1, A.index(b) if b in A else len(A) - 1, t_end / n
    x, R = X.copy(), np.eye(3)
    v = np.concatenate([cross(OMEGA, X), OMEGA])
    slope, lam = index_1(space, x, R, v)
    residual = 0.0
    for _ in range(n):
        if consistent_stage:
            slope, first = index_1(space, x, R, v)
        else:
            force, B, _ = equations(space, x, R, v)
            slope, first = np.linalg.solve(M, force - B.T @ lam), lam
        rates, slopes, multipliers = [v], [slope], [first]
        V = v + h * A[1][0] * slope
        points = {1: (*moved(space, x, R, h * A[1][0] * v), V)}
        for i in range(1, stages):
            theta = h * sum(a * K for a, K in zip(A[i], rates, strict=False))
            x_i, R_i, V_i = points[i]
            rates.append(rate(space, theta, V_i))
            row = A[i + 1]
            nearby = moved(space, x, R, h * sum(a * K for a, K in zip(row, rates, strict=False)))
            known = v + h * sum(a * k for a, k in zip(row, slopes, strict=False))
            (force, B, _), (_, B_next, _) = equations(space, x_i, R_i, V_i), equations(space, *nearby, known)
            slope, multiplier = solved(B, B_next, force, -B_next @ known / (h * row[i]))
            slopes.append(slope), multipliers.append(multiplier)
            points[i + 1] = (*nearby, known + h * row[i] * slope)
        x, R, v = points[end]
        lam = sum(weight * Lam for weight, Lam in zip(d, multipliers, strict=False))
        residual = max(residual, np.abs(R.T @ x - X).max())
    return {"x": x, "R": R, "v": v, "(15)": lam, "index 1": index_1(space, x, R, v)[1], "residual": residual}
