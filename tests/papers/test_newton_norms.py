"""Newton's method of holzinger2024 beside an independent one in NumPy, by the numbers of iterations in Table 5.

It runs Algorithm 5 on the heavy top, without the tangent operator in the matrix. One 2-norm of all rows ends an
iteration, forces in N and N m beside constraints in m. The modified method keeps its matrix until an iteration, from
the third of a step on, leaves more than half of the residual, or until the step has taken many iterations.
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
    """Jacobian of the rows x - R X."""
    B = np.zeros((3, 6))
    B[:, :3], B[:, 3:] = np.eye(3), R @ hat(ARM)
    return B


def bordered(dynamic, B):
    matrix = np.zeros((9, 9))
    matrix[:6, :6], matrix[:6, 6:], matrix[6:, :6] = dynamic, B.T, B
    return matrix


class Newton:
    """When to stop and when to form a new matrix; `most`: None forms one in each iteration."""

    def __init__(self, most=None):
        self.most, self.matrix, self.iterations = most, None, 0

    def begin(self, r):
        self.bound = max(RTOL * np.linalg.norm(r), ATOL)
        self.last, self.count, self.renewed = np.linalg.norm(r), 0, False
        self.full = self.most is None

    def is_done(self, r):
        self.error = np.linalg.norm(r)
        return self.error <= self.bound

    def solve(self, rows, form):
        slow = self.count >= 3 and self.error > 0.5 * self.last
        due = self.count > 0 and self.most is not None and (slow or self.count > self.most)
        self.full |= due and self.renewed
        if self.full or due or self.matrix is None:
            self.matrix, self.renewed = form(), True
        self.last, self.count, self.iterations = self.error, self.count + 1, self.iterations + 1
        return np.linalg.solve(self.matrix, rows)


def mean_iterations(h, newton, t_end=0.25, rho=0.9):
    alpha_m, alpha_f = (2 * rho - 1) / (rho + 1), rho / (rho + 1)
    gamma = 0.5 + alpha_f - alpha_m
    beta = (gamma + 0.5) ** 2 / 4
    to_a, to_v = (1 - alpha_m) / (h**2 * beta * (1 - alpha_f)), gamma / (h * beta)

    R, omega = np.eye(3), np.array([0.0, 150.0, -4.61538])
    x, v = ARM.copy(), np.concatenate([np.cross(omega, ARM), omega])
    centripetal = hat(omega) @ hat(omega) @ ARM
    a = vdot = np.linalg.solve(bordered(M, jacobian(R)), np.concatenate([forces(v), centripetal]))[:6]
    steps = round(t_end / h)
    for _ in range(steps):
        bar = (alpha_f * vdot - alpha_m * a) / (1 - alpha_m)
        dq, new_v = h * v + h**2 * ((0.5 - beta) * a + beta * bar), v + h * ((1 - gamma) * a + gamma * bar)
        new_vdot, lam, begun = np.zeros(6), np.zeros(3), False
        while True:
            new_R, new_x = R @ lgint.groups.so3.exp(dq[3:]), x + dq[:3]
            B, w = jacobian(new_R), new_v[3:]
            r = np.concatenate([M @ new_vdot - forces(new_v) + B.T @ lam, new_x - new_R @ ARM])
            if not begun:
                newton.begin(r)
                begun = True
            if newton.is_done(r):
                break
            dynamic = M.copy()
            dynamic[3:, 3:] += to_v / to_a * (hat(w) @ INERTIA - hat(INERTIA @ w))
            # in units of accelerations, as constraints and forces differ by 1/h^2
            rows = np.concatenate([-r[:6], -to_a * r[6:]])
            change = newton.solve(rows, lambda dynamic=dynamic, B=B: bordered(dynamic, B))
            dq, new_v = dq + change[:6] / to_a, new_v + to_v / to_a * change[:6]
            new_vdot, lam = new_vdot + change[:6], lam + change[6:]
        a = ((1 - alpha_f) * new_vdot + alpha_f * vdot - alpha_m * a) / (1 - alpha_m)
        R, x, v, vdot = new_R, new_x, new_v, new_vdot
    return newton.iterations / steps


def ours(h, **options):
    top = lgint.models.heavy_top(formulation="R3xRV")
    stats = lgint.integrate(top, t_end=0.25, h=h, save_every=10**9, **{**holzinger2024.GENALPHA, **options}).stats
    return stats.newton_iterations / stats.steps


@pytest.mark.parametrize("n", range(3))
def test_one_norm_of_all_rows_gives_table_5(n):
    h = 2.5e-3 / 2**n
    there = mean_iterations(h, Newton())
    assert there == pytest.approx(holzinger2024.ITERATIONS_5["without T, full"][n], abs=0.1)
    assert ours(h) == pytest.approx(there, abs=0.005)


@pytest.mark.parametrize("n", [0, 2])
def test_renewal_of_the_modified_method(n):
    """Table 5 has the numbers of a limit of ten iterations; holzinger2025 has eight, the default."""
    h = 2.5e-3 / 2**n
    printed = holzinger2024.ITERATIONS_5["without T, modified"][n]
    assert mean_iterations(h, Newton(most=10)) == pytest.approx(printed, abs=0.1)
    for most in (8, 10):
        found = ours(h, newton="modified", renew_after=most)
        assert found == pytest.approx(mean_iterations(h, Newton(most=most)), abs=0.005)
