"""Runge-Kutta methods on rigid bodies in R^3 x SO(3), in complex arithmetic: written without lgint.

Munthe-Kaas' methods: theta_i = h sum a_ij K_j, q_i = q exp(theta_i), v_i = v + h sum a_ij k_j, K_i = T(theta_i)^-1 v_i
and the accelerations k_i of the index-1 equations.
"""

from methods.alpha_by_complex import tangent_inverse


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
