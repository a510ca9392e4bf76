"""The heavy top by (12)-(15) of tumiotto2024 in NumPy, with separate switches for the two doubtful parts.

Written without lgint, from the equations of motion: x and R, Phi = R^T x - X = 0, on SO(3)xR^3 with v = (x', omega) or
on SE(3) with v = (R^T x', omega).
"""

import numpy as np
from scipy.linalg import expm

MASS, INERTIA, X = 15.0, np.diag([0.234375, 0.46875, 0.234375]), np.array([0.0, 1.0, 0.0])
M = np.diag([MASS] * 3 + list(np.diag(INERTIA)))
GRAVITY, OMEGA = np.array([0.0, 0.0, -9.81]), np.array([0.0, 150.0, -4.61538])


def hat(a):
    return np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])


def ad(space, theta):
    blocks = np.zeros((6, 6))
    blocks[3:, 3:] = hat(theta[3:])
    if space == "SE3":
        blocks[:3, :3], blocks[:3, 3:] = hat(theta[3:]), hat(theta[:3])
    return blocks


def moved(space, x, R, theta):
    """(x, R) exp(theta)."""
    if space == "R3xSO3":
        return x + theta[:3], R @ expm(hat(theta[3:]))
    motion = expm(np.block([[hat(theta[3:]), theta[:3, None]], [np.zeros((1, 4))]]))
    return x + R @ motion[:3, 3], R @ motion[:3, :3]


def rate(space, theta, v):
    """T^-1(theta) v, with T = sum (-ad)^k / (k + 1)!."""
    T, term = np.eye(6), np.eye(6)
    for k in range(1, 14):
        term = -term @ ad(space, theta) / (k + 1)
        T = T + term
    return np.linalg.solve(T, v)


def equations(space, x, R, v):
    """force - gyro, B and zeta."""
    u, w, arm = v[:3], v[3:], R.T @ x
    body = u if space == "SE3" else R.T @ u  # the velocity in the axes of the body
    turning = -np.cross(w, INERTIA @ w)
    if space == "SE3":
        force, B = np.concatenate([MASS * (R.T @ GRAVITY - np.cross(w, u)), turning]), np.hstack([np.eye(3), hat(arm)])
    else:
        force, B = np.concatenate([MASS * GRAVITY, turning]), np.hstack([R.T, hat(arm)])
    zeta = -np.cross(body - np.cross(w, arm), w)
    return force, B, zeta if space == "SE3" else zeta + np.cross(w, body)


def index_1(space, x, R, v):
    force, B, zeta = equations(space, x, R, v)
    solution = np.linalg.solve(np.block([[M, B.T], [B, np.zeros((3, 3))]]), np.concatenate([force, zeta]))
    return solution[:6], solution[6:]


def top(space, A, b, d, n, t_end, *, consistent_stage):
    """x, R, v; lambda by (15) and by the index-1 equations at the end; the largest residual of the constraint."""
    stages, end, h = len(A) - 1, A.index(b) if b in A else len(A) - 1, t_end / n
    x, R = X.copy(), np.eye(3)
    v = np.concatenate([np.cross(OMEGA, X), OMEGA])
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
            matrix = np.block([[M, B.T], [B_next, np.zeros((3, 3))]])
            solution = np.linalg.solve(matrix, np.concatenate([force, -B_next @ known / (h * row[i])]))
            slopes.append(solution[:6]), multipliers.append(solution[6:])
            points[i + 1] = (*nearby, known + h * row[i] * solution[:6])
        x, R, v = points[end]
        lam = sum(weight * Lam for weight, Lam in zip(d, multipliers, strict=False))
        residual = max(residual, np.abs(R.T @ x - X).max())
    return {"x": x, "R": R, "v": v, "(15)": lam, "index 1": index_1(space, x, R, v)[1], "residual": residual}
