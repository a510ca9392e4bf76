"""Generalized-alpha methods on rigid bodies in R^3 x SO(3), in complex arithmetic: written without lgint.

Where all of it is analytic, an imaginary step of 1e-30 in a parameter gives the derivatives of whole runs without a
difference. The equations are those of holzinger2025 with sigma = 0, which is geom1 of Bruels and Cardona (2010): with
(1 - alpha_m) a' + alpha_m a = (1 - alpha_f) w + alpha_f vdot and theta = h v + h^2 ((1/2 - beta) a + beta a'),
q' = q exp(theta); the same with vdot' for w gives v'; vdot' = w + T(theta)^-1 B(q)^T mu.
"""

import numpy as np

GROUND = -1


def hat(a):
    return np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])


def series(A, first):
    """The sum of A^k / (first (first + 1) ... (first + k - 1)) over k = 0, 1, ..., 16."""
    total = term = np.eye(len(A), dtype=A.dtype)
    for k in range(first, first + 16):
        term = term @ A / k
        total = total + term
    return total


class Mechanism:
    """Bodies with masses, inertias and gravity; rows; and forces(q, v) -> (body, force, moment in body axes), ....

    Rows: ("point", a, X, b, Y), where points coincide; ("along", a, n, b, Y, p), where n (Y - p) = 0 in inertial axes;
    ("normal", a, e, b, f), where directions are normal.
    """

    def __init__(self, mass, inertia, gravity, rows, forces=None):
        self.mass, self.inertia, self.gravity, self.rows = mass, inertia, gravity, rows
        self.forces = forces or (lambda q, v: [])
        n = 6 * len(mass)
        self.M = np.zeros((n, n), dtype=complex)
        for i, (m, J) in enumerate(zip(mass, inertia, strict=True)):
            self.M[6 * i : 6 * i + 3, 6 * i : 6 * i + 3] = m * np.eye(3)
            self.M[6 * i + 3 : 6 * i + 6, 6 * i + 3 : 6 * i + 6] = J

    def moved(self, q, theta):
        return [(x + t[:3], R @ series(hat(t[3:]), 1)) for (x, R), t in zip(q, theta.reshape(-1, 6), strict=True)]

    def force(self, q, v):
        """Forces without those of constraints, minus gyroscopic terms."""
        found = np.zeros(len(v), dtype=complex)
        for i, (m, J) in enumerate(zip(self.mass, self.inertia, strict=True)):
            w = v[6 * i + 3 : 6 * i + 6]
            found[6 * i : 6 * i + 3] = m * self.gravity
            found[6 * i + 3 : 6 * i + 6] = -hat(w) @ (J @ w)
        for i, force, moment in self.forces(q, v):
            found[6 * i : 6 * i + 3] += force
            found[6 * i + 3 : 6 * i + 6] += moment
        return found

    def constraints(self, q, v):
        """phi, B, and the rate of B times v."""
        phi, B, rate = [], [], []
        at = {GROUND: (np.zeros(3), np.eye(3)), **dict(enumerate(q))}
        for kind, a, first, b, second, *more in self.rows:
            spin = {i: v[6 * i + 3 : 6 * i + 6] if i >= 0 else np.zeros(3) for i in (a, b)}
            (x, R), (y, S) = at[a], at[b]
            row = {i: np.zeros((1 if kind != "point" else 3, 6), dtype=complex) for i in (a, b)}
            if kind == "normal":
                u, s = R.T @ S @ second, S.T @ R @ first
                phi.append([first @ u])
                row[a][0, 3:], row[b][0, 3:] = hat(first) @ u, hat(second) @ s
                du = -hat(spin[a]) @ u + R.T @ S @ hat(spin[b]) @ second
                ds = -hat(spin[b]) @ s + S.T @ R @ hat(spin[a]) @ first
                rate.append([spin[a] @ hat(first) @ du + spin[b] @ hat(second) @ ds])
            else:
                n = np.eye(3) if kind == "point" else np.array([first])
                start = x + R @ first if kind == "point" else more[0]
                phi.append(n @ (y + S @ second - start))
                row[b][:, :3], row[b][:, 3:] = n, -n @ S @ hat(second)
                turning = S @ hat(spin[b]) @ hat(spin[b]) @ second
                if kind == "point":
                    row[a][:, :3], row[a][:, 3:] = -n, R @ hat(first)
                    turning = turning - R @ hat(spin[a]) @ hat(spin[a]) @ first
                rate.append(n @ turning)
            whole = np.zeros((len(row[b]), len(v)), dtype=complex)
            for i in (a, b):
                if i >= 0:
                    whole[:, 6 * i : 6 * i + 6] = row[i]
            B.append(whole)
        return np.concatenate(phi), np.concatenate(B), np.concatenate(rate)

    def saddle(self, B, top, bottom):
        """x of M x + B^T lam = top, B x = bottom."""
        matrix = np.block([[self.M, B.T], [B, np.zeros((len(B), len(B)))]])
        return np.linalg.solve(matrix, np.concatenate([top, bottom]))[: len(top)]

    def accelerations(self, q, v):
        _, B, rate = self.constraints(q, v)
        return self.saddle(B, self.force(q, v), -rate)

    def projected(self, q, v):
        """The nearest consistent state in the mass metric, positions first."""
        for _ in range(8):
            phi, B, _ = self.constraints(q, v)
            q = self.moved(q, self.saddle(B, np.zeros(len(v)), -phi))
        B = self.constraints(q, v)[1]
        return q, v + self.saddle(B, np.zeros(len(v)), -B @ v)


def tangent_inverse(theta):
    """T^-1 of all bodies, with T = sum (-theta^)^k / (k + 1)! on rotations."""
    found = np.eye(len(theta), dtype=complex)
    for i in range(3, len(theta), 6):
        found[i : i + 3, i : i + 3] = np.linalg.inv(series(-hat(theta[i : i + 3]), 2))
    return found


def jacobian(f, x, step=1e-6):
    return np.array([(f(x + e) - f(x - e)).real / (2 * step) for e in step * np.eye(len(x))]).T


def solved(f, x):
    """The zero of an analytic f near x, by Newton's method with the Jacobian of its real part."""
    for _ in range(2):
        J = jacobian(f, x.real)
        for _ in range(6):
            x = x - np.linalg.solve(J, f(x))
    return x


def run(mechanism, q, v, h, steps, rho, index):
    """q and v at the end."""
    am, af = (2 * rho - 1) / (1 + rho), rho / (1 + rho)
    gamma = 0.5 - am + af
    beta = (gamma + 0.5) ** 2 / 4
    vdot = a = mechanism.accelerations(q, v)
    n = len(v)
    for _ in range(steps):
        B0 = mechanism.constraints(q, v)[1]
        rows = len(B0)

        def end(u, q=q, v=v, a=a, vdot=vdot, B0=B0):
            w, mu = u[:n], u[n + len(B0) :]
            after = ((1 - af) * w + af * vdot - am * a) / (1 - am)
            theta = h * v + h * h * ((0.5 - beta) * a + beta * after)
            extra = tangent_inverse(theta) @ (B0.T @ mu) if len(mu) else 0 * w
            vdot1 = w + extra
            a1 = after + (1 - af) / (1 - am) * extra
            return mechanism.moved(q, theta), v + h * ((1 - gamma) * a + gamma * a1), a1, vdot1

        def residual(u, end=end, rows=rows):
            q1, v1, _, vdot1 = end(u)
            phi, B, _ = mechanism.constraints(q1, v1)
            balance = mechanism.M @ vdot1 - mechanism.force(q1, v1) + B.T @ u[n : n + rows]
            parts = {3: [phi], 2: [B @ v1], "stabilized": [phi, B @ v1]}[index]
            scale = {3: 1 / (h * h), 2: 1 / h}
            return np.concatenate([balance, *(part * scale.get(index, 1 / (h * h)) for part in parts)])

        guess = np.concatenate([vdot, np.zeros(rows * (2 if index == "stabilized" else 1))])
        q, v, a, vdot = end(solved(residual, guess))
    return q, v
