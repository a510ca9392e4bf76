"""Why Newton's method takes other numbers of iterations here than in holzinger2024: an independent method in NumPy.

It runs Algorithm 5 on the heavy top of Table 5, without the tangent operator in the matrix. What ends an iteration is
the only difference: one 2-norm of all rows, which the algorithm prints, or a test of forces and constraints apart.
"""

import numpy as np
import pytest

import lgint
from lgint._papers import holzinger2024

MASS, INERTIA, ARM = 15.0, np.diag([0.234375, 0.46875, 0.234375]), np.array([0.0, 1.0, 0.0])
WEIGHT = np.array([0.0, 0.0, -9.81 * MASS])
M = np.zeros((6, 6))
M[:3, :3], M[3:, 3:] = MASS * np.eye(3), INERTIA
RTOL, ATOL = 1e-8, 1e-10


def hat(a):
    return np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])


def forces(v):
    return np.concatenate([WEIGHT, -hat(v[3:]) @ INERTIA @ v[3:]])


def jacobian(R):
    """Of the rows x - R X."""
    B = np.zeros((3, 6))
    B[:, :3], B[:, 3:] = np.eye(3), R @ hat(ARM)
    return B


def bordered(dynamic, B):
    matrix = np.zeros((9, 9))
    matrix[:6, :6], matrix[:6, 6:], matrix[6:, :6] = dynamic, B.T, B
    return matrix


def together(r, first):
    return np.linalg.norm(r) <= RTOL * np.linalg.norm(first) + ATOL


def each_kind(r, first):
    rows = np.abs(r[6:]).max() <= max(RTOL * np.abs(first[6:]).max(), 1e-16)
    return rows and np.linalg.norm(r[:6]) <= RTOL * np.linalg.norm(first[:6]) + ATOL * np.sqrt(6)


def mean_iterations(h, converged, t_end=0.25, rho=0.9):
    alpha_m, alpha_f = (2 * rho - 1) / (rho + 1), rho / (rho + 1)
    gamma = 0.5 + alpha_f - alpha_m
    beta = (gamma + 0.5) ** 2 / 4
    to_a, to_v = (1 - alpha_m) / (h**2 * beta * (1 - alpha_f)), gamma / (h * beta)

    R, omega = np.eye(3), np.array([0.0, 150.0, -4.61538])
    x, v = ARM.copy(), np.concatenate([np.cross(omega, ARM), omega])
    centripetal = hat(omega) @ hat(omega) @ ARM
    a = vdot = np.linalg.solve(bordered(M, jacobian(R)), np.concatenate([forces(v), centripetal]))[:6]
    count, steps = 0, round(t_end / h)
    for _ in range(steps):
        bar = (alpha_f * vdot - alpha_m * a) / (1 - alpha_m)
        dq, new_v = h * v + h**2 * ((0.5 - beta) * a + beta * bar), v + h * ((1 - gamma) * a + gamma * bar)
        new_vdot, lam, first = np.zeros(6), np.zeros(3), None
        while True:
            new_R, new_x = R @ lgint.groups.so3.exp(dq[3:]), x + dq[:3]
            B = jacobian(new_R)
            r = np.concatenate([M @ new_vdot - forces(new_v) + B.T @ lam, new_x - new_R @ ARM])
            first = r if first is None else first
            if converged(r, first):
                break
            w, dynamic = new_v[3:], M.copy()
            dynamic[3:, 3:] += to_v / to_a * (hat(w) @ INERTIA - hat(INERTIA @ w))
            # in units of accelerations, as constraints and forces differ by 1/h^2
            change = np.linalg.solve(bordered(dynamic, B), np.concatenate([-r[:6], -to_a * r[6:]]))
            dq, new_v = dq + change[:6] / to_a, new_v + to_v / to_a * change[:6]
            new_vdot, lam = new_vdot + change[:6], lam + change[6:]
            count += 1
        a = ((1 - alpha_f) * new_vdot + alpha_f * vdot - alpha_m * a) / (1 - alpha_m)
        R, x, v, vdot = new_R, new_x, new_v, new_vdot
    return count / steps


@pytest.mark.parametrize("n", range(2))
def test_one_norm_of_all_rows_gives_table_5(n):
    h = 2.5e-3 / 2**n
    printed = holzinger2024.ITERATIONS_5["without T, full"][n]
    assert mean_iterations(h, together) == pytest.approx(printed, abs=0.1)
    top = lgint.models.heavy_top(formulation="R3xRV")
    stats = lgint.integrate(top, t_end=0.25, h=h, save_every=10**9, **holzinger2024.GENALPHA).stats
    assert mean_iterations(h, each_kind) == pytest.approx(stats.newton_iterations / stats.steps, abs=0.1)
