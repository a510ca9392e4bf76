"""Energy-momentum and midpoint schemes on rigid bodies in Euler parameters, against the formulas of kinon2024."""

import numpy as np
import pytest
from scipy.optimize import root

import lgint

MIDPOINT = [("mpl", {}), ("mph", {}), ("mph", {"hamiltonian": "exact"}), ("mph", {"hamiltonian": "published"})]
IDS = ["mpl", "mph polynomial", "mph exact", "mph published"]


def midpoint(test):
    return pytest.mark.parametrize(("method", "options"), MIDPOINT, ids=IDS)(test)


# ---- the printed formulas, in quaternion products ----


def left(a):
    """Q_l(a) of (33a)"""
    w, x, y, z = a
    return np.array([[w, -x, -y, -z], [x, w, -z, y], [y, z, w, -x], [z, -y, x, w]])


def right(b):
    """Q_r(b) of (33b)"""
    w, x, y, z = b
    return np.array([[w, -x, -y, -z], [x, w, z, -y], [y, -z, w, x], [z, y, -x, w]])


CONJUGATE = np.diag([1.0, -1.0, -1.0, -1.0])


class Top:
    """The steady top: its inertia about the tip, with J_0 (a multiple of tr J / 2), and its weight, normalised."""

    def __init__(self, extension=1.0):
        self.model = lgint.models.steady_top()
        body = self.model.body("body")
        self.com = body["pivot"]["com"][2]
        self.weight = body["mass"] * 9.81 * self.com
        J = np.array(body["inertia"]) + body["mass"] * self.com**2 * np.diag([1, 1, 0])
        self.singular, self.regular = np.zeros((2, 4, 4))
        self.singular[1:, 1:] = self.regular[1:, 1:] = J
        self.regular[0, 0] = extension * np.trace(J) / 2

    def pull(self, e, normalised):
        """The gradient of m g l R_33, with R quadratic in e (116) or that of e/|e|."""
        n, signs = e @ e, np.array([1.0, -1.0, -1.0, 1.0])
        if not normalised:
            return 2 * self.weight * signs * e
        return 2 * self.weight * (signs * e / n - (signs * e @ e) / n**2 * e)


def fibre_and_slope(top, kind, start, q1, h):
    """p_mid and the derivative of the kinetic energy by q of one step, from (86) to (88), (132), (133) or (146)."""
    q0, v0, p0 = start
    q_m, v_m = (q0 + q1) / 2, (q1 - q0) / h
    if kind in ("eml", "mpl"):
        ends = (left(q0).T @ v0 + left(q1).T @ (2 * v_m - v0)) / 2
        rates = ends if kind == "eml" else left(q_m).T @ v_m
        y = 4 * top.singular @ rates
        return left(q_m) @ y, right(y).T @ v_m
    J, inverse, n = top.regular, np.linalg.inv(top.regular), q_m @ q_m
    if kind == "emh":
        t_m = 4 / h * J @ np.linalg.solve(left(q_m), q1 - q0)
        p1 = np.linalg.solve(left(q1).T, 2 * t_m - left(q0).T @ p0)
        p_m = (p0 + p1) / 2
    else:
        mass = 4 * left(q_m) @ J @ left(q_m).T
        p_m = mass @ v_m / (n**2 if kind == "polynomial" else 1)
        t_m = left(q_m).T @ p_m
    if kind == "exact":  # T* = t.J4^-1 t / (8 |q|^4)
        return p_m, -(right(p_m) @ CONJUGATE).T @ inverse @ t_m / 4 / n**2 + t_m @ inverse @ t_m / 2 * q_m / n**3
    return p_m, -(right(p_m) @ CONJUGATE).T @ inverse @ t_m / 4


def printed_step(top, kind, start, h, normalised, guess):
    """q, v, p, lam at the end of a step."""
    q0, v0, p0 = start

    def equations(x):
        q, lam = x[:4], x[4]
        p_m, slope = fibre_and_slope(top, kind, start, q, h)
        pull = top.pull((q0 + q) / 2, normalised)
        return np.append(2 * (p_m - p0) / h - slope + pull + lam * (q0 + q) / 2, (q @ q - 1) / 2)

    found = root(equations, guess, tol=1e-14)
    q1 = found.x[:4]
    p1 = 2 * fibre_and_slope(top, kind, start, q1, h)[0] - p0
    v1 = 2 * (q1 - q0) / h - v0
    if kind not in ("eml", "mpl"):
        v1 = left(q1) @ np.linalg.inv(top.regular) @ left(q1).T @ p1 / 4
    return q1, v1, p1, found.x[4]


def check_steps(top, kind, method, normalised, h=0.01, n=4, **options):
    run = lgint.integrate(top.model, method, t_end=n * h, h=h, equivariant=normalised, **options)
    for i in range(n):
        start = (run.q[i], run.v[i], run.extra["p"][i])
        guess = np.append(run.q[i + 1], run.lam[i + 1]) + 1e-4
        q, v, p, lam = printed_step(top, kind, start, h, normalised, guess)
        scale = np.abs(v).max()
        assert np.abs(run.q[i + 1] - q).max() < 1e-12 and np.abs(run.v[i + 1] - v).max() < 1e-10 * scale
        assert np.abs(run.extra["p"][i + 1] - p).max() < 1e-11 * scale
        assert abs(run.lam[i + 1, 0] - lam) < 1e-9 * max(1, abs(lam))
        assert np.allclose(run.vdot[i + 1], (run.v[i + 1] - run.v[i]) / h, atol=1e-9 * scale)


@midpoint
def test_steps_are_those_of_the_printed_formulas(method, options):
    kind = options.get("hamiltonian", "polynomial") if method == "mph" else method
    check_steps(Top(), kind, method, True, **options)


# ---- the steady top ----


def precession_error(run):
    """(121)"""
    s, c, angle = np.sin(np.pi / 3), np.cos(np.pi / 3), 10 * run.t[-1]
    return np.linalg.norm(run.rotation("body")[-1][:, 2] - [s * np.sin(angle), -s * np.cos(angle), c])


def steady(method, h=0.01, t_end=0.1, **options):
    return lgint.integrate(lgint.models.steady_top(), method, t_end=t_end, h=h, **options)


ERRORS = [  # of normalised attitudes
    ("mpl", {}, 0.00885),
    ("mph", {}, 0.155),
    ("mph", {"hamiltonian": "exact"}, 0.00885),
    ("mph", {"hamiltonian": "published"}, 0.577),
]


@pytest.mark.parametrize(("method", "options", "error"), ERRORS)
def test_errors_of_the_steady_top_with_normalised_attitudes(method, options, error):
    """The paper's t_end and h; order two."""
    runs = [steady(method, h, equivariant=True, **options) for h in (0.01, 0.0025, 0.00125)]
    errors = [precession_error(run) for run in runs]
    assert errors[0] == pytest.approx(error, rel=5e-3) and 1.9 < np.log2(errors[1] / errors[2]) < 2.1


# ---- a free body ----


@midpoint
def test_momenta_of_a_free_body(method, options):
    """Angular momentum is a quadratic invariant, but not of the published rule, whose gradients are of two energies."""
    run = lgint.integrate(lgint.models.free_body(velocity=(1, 2, 3)), method, t_end=2.0, h=0.05, **options)
    assert np.ptp(run.momentum(), axis=0).max() < 1e-13
    loss = np.ptp(run.angular_momentum(), axis=0).max() / np.abs(run.angular_momentum()).max()
    assert loss < 1e-13 if options.get("hamiltonian") != "published" else loss > 1e-3
    assert np.abs(run.constraint_residual()).max() < 1e-14


@midpoint
def test_quaternions_are_normal_to_their_rates_at_the_middle(method, options):
    """(94)"""
    run = steady(method, t_end=1.0, **options)
    middle = np.einsum("ni,ni->n", run.q[1:] + run.q[:-1], np.diff(run.q, axis=0))
    assert np.abs(middle).max() < 1e-15


def test_momenta_of_a_start_are_those_of_its_velocities():
    """In every formulation, about the origin, for a body with a fixed point anywhere."""
    builder = lgint.ModelBuilder(formulation="euler_parameters")
    pivot = {"pivot": (1.0, -2.0, 0.5), "com": (0.1, 0.2, -0.3)}
    builder.add_body(
        "held", mass=2.0, inertia=(1, 2, 1.5), angular_velocity=(1, 2, 3), rotation=(0, 0.6, 0, 0.8), **pivot
    )
    builder.add_body(
        "free", mass=3.0, inertia=(1, 2, 1.5), angular_velocity=(3, 1, 2), velocity=(1, 0, 2), position=(1, 2, 3)
    )
    model = builder.build()
    livens, other = (lgint.integrate(model, method, t_end=0.01, h=0.01) for method in ("mpl", "rk44"))
    for quantity in ("momentum", "angular_momentum"):
        assert np.allclose(getattr(livens, quantity)()[0], getattr(other, quantity)()[0], atol=1e-13)


# ---- what does not work ----


def test_messages_name_the_body_and_the_formulation():
    for method in ("mpl", "mph"):
        with pytest.raises(
            ValueError, match=f'{method}: needs .*formulation="euler_parameters", and top is neither; genalpha'
        ):
            lgint.integrate(lgint.models.heavy_top(formulation="R3xSO3"), method, t_end=1.0, h=0.1)
        with pytest.raises(ValueError, match="and arm.tree is neither"):
            lgint.integrate(tree(), method, t_end=1.0, h=0.1)


def tree():
    builder = lgint.ModelBuilder(formulation="minimal")
    builder.add_body("arm", mass=1.0, inertia=(1, 1, 1), position=(1, 0, 0))
    builder.add_joint("revolute", "ground", "arm", point=(0, 0, 0), axis=(0, 0, 1))
    return builder.build()


def test_hamilton_s_rules_need_inertia_about_every_axis():
    thin = lgint.models.free_body(inertia=(2.0, 2.0, 0.0), omega0=(1.0, 2.0, 0.0))
    with pytest.raises(ValueError, match="mph: the mass matrix is singular; eml, reml and mpl"):
        lgint.integrate(thin, "mph", t_end=0.1, h=0.01)
