"""Runge-Kutta methods on rigid bodies in R^3 x SO(3), in complex arithmetic: written without lgint.

Munthe-Kaas' methods: theta_i = h sum a_ij K_j, q_i = q exp(theta_i), v_i = v + h sum a_ij k_j, K_i = T(theta_i)^-1 v_i
and the accelerations k_i of the index-1 equations.
"""

import numpy as np

from methods.alpha_by_complex import jacobian, solved, tangent_inverse


def total(weights, slopes, h):
    return h * sum(w * slope for w, slope in zip(weights, slopes, strict=False))


def munthe_kaas(mechanism, q, v, h, steps, A, b, project=False):
    """q and v at the end."""
    for _ in range(steps):
        K, k = [], []
        for row in A:
            theta, vi = total(row, K, h) + 0 * v, v + total(row, k, h)
            K.append(tangent_inverse(theta) @ vi)
            k.append(mechanism.accelerations(mechanism.moved(q, theta), vi))
        q, v = mechanism.moved(q, total(b, K, h)), v + total(b, k, h)
        if project:
            q, v = mechanism.projected(q, v)
    return q, v


def half_explicit(mechanism, q, v, h, steps, A, end, d=None):
    """The same with k_i for which row i + 1 of the tableau ends at a point with B v = 0; the step ends at row `end`.

    The first slope is the acceleration of the index-1 equations. With weights d of the multipliers it is that of the
    last stage instead if this lies at the end, or it follows from the multipliers of the step.
    """
    n, lam = len(v), None
    for _ in range(steps):
        if lam is None or d is None:
            a, lam = multipliers(mechanism, q, v)
        points, K, k, lams = [(q, v)], [v], [a], [lam]
        for row in A[1 : end + 1] if d is None else A[1:]:
            moved = mechanism.moved(q, theta := total(row, K, h) + 0 * v)
            if len(K) > 1:
                known, pivot = v + total(row, k, h), h * row[len(k)]
                at = points[-1]
                top, bottom = mechanism.force(*at), -(B := rows(mechanism, moved)) @ known / pivot
                matrix = np.block([[mechanism.M, rows(mechanism, at[0]).T], [B, np.zeros((len(B), len(B)))]])
                x = np.linalg.solve(matrix, np.concatenate([top, bottom]))
                k, lams = [*k, x[:n]], [*lams, x[n:]]
            points.append((moved, vi := v + total(row, k, h)))
            K.append(tangent_inverse(theta) @ vi)
        q, v = points[end]
        if d is not None:
            lam, a = total(d, lams, 1), k[-1]
            if end == len(k):
                a = np.linalg.solve(mechanism.M, mechanism.force(q, v) - rows(mechanism, q).T @ lam)
    return q, v


def rows(mechanism, q):
    return mechanism.constraints(q, np.zeros(6 * len(q)))[1]


def multipliers(mechanism, q, v):
    """The accelerations and multipliers of the index-1 equations."""
    B, rate = mechanism.constraints(q, v)[1:]
    matrix = np.block([[mechanism.M, B.T], [B, np.zeros((len(B), len(B)))]])
    x = np.linalg.solve(matrix, np.concatenate([mechanism.force(q, v), -rate]))
    return x[: len(v)], x[len(v) :]


def radau(mechanism, q, v, h, steps, A, known):
    """Radau IIA methods: equations of index 2 at every stage for K_i and lam_i; the end is projected.

    The first run leaves its solutions and Jacobians in `known`; Newton's method begins with these in neighbouring runs.
    """
    A, n, s = np.array(A), len(v), len(A)
    for step in range(steps):
        guess = np.concatenate([np.tile(v, s), np.tile(multipliers(mechanism, q, v)[1], s)])

        def stages(x, q=q):
            for theta, rate in zip(h * A @ x[: n * s].reshape(s, n), x[: n * s].reshape(s, n), strict=True):
                yield mechanism.moved(q, theta), np.linalg.solve(tangent_inverse(theta), rate)

        def residual(x, v=v, stages=stages):
            at = [*stages(x)]
            accelerations = np.linalg.solve(A, np.array([vi - v for _, vi in at])) / h
            parts = []
            for (qi, vi), a, lam in zip(at, accelerations, x[n * s :].reshape(s, -1), strict=True):
                B = rows(mechanism, qi)
                parts += [mechanism.M @ a - mechanism.force(qi, vi) + B.T @ lam, B @ vi / h]
            return np.concatenate(parts)

        if step == len(known):
            x = solved(residual, guess).real
            known.append((x, jacobian(residual, x)))
        x, J = known[step]
        for _ in range(4):
            x = x - np.linalg.solve(J, residual(x))
        *_, end = stages(x)
        q, v = mechanism.projected(*end)
    return q, v
