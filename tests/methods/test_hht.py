"""HHT: first steps in closed form, the printed schemes, orders in planar and spatial motion, numerical damping."""

import functools

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import fsolve

import lgint
from battery import T_END, observed_order, rotation_error, slow_top, top_by_scipy
from kinds import FORMULATIONS, LIE

EXACT = dict(newton_rtol=0.0, newton_atol=0.0)  # iterates down to round-off
VARIANTS = {
    "modified": dict(modified=True),
    "transport": dict(modified=True, transport=True),
    "classical": dict(modified=False),
    "classical, transport": dict(modified=False, transport=True),
}


def gamma_beta(alpha):
    return 0.5 - alpha, 0.25 * (1 - alpha) ** 2


# ---- a rotation about one axis, sherif2019 3, 5, 7 ----


def first_step(h, alpha, modified, omega=100.0):
    """e_0 and the angular velocity after one step of a body with I = M = 1."""
    body = lgint.models.single_axis(omega0=omega)
    run = lgint.integrate(body, "hht", t_end=h, h=h, alpha=alpha, modified=modified, **EXACT)
    return run.q[-1, 0], run.angular_velocity("body")[-1, 0]


def equation_28(h, a, omega=100.0):
    third = (10 * a**4 + 3 * a**3 - 12 * a**2 + 11 * a - 4) / (16 * (a - 1) ** 2)
    return omega + h + 0.25 * a * omega**3 * h**2 + third * omega**2 * h**3


def test_initial_acceleration():
    """(22), (23): e'' = (-omega^2/4, M/2I, 0, 0), and no multiplier."""
    run = lgint.integrate(lgint.models.single_axis(inertia=2.0, moment=3.0), "hht", t_end=1e-3, h=1e-3)
    assert run.vdot[0] == pytest.approx([-2500.0, 0.75, 0.0, 0.0], rel=1e-14)
    assert abs(run.lam[0, 0]) < 1e-12


@pytest.mark.parametrize("transport", [False, True])
@pytest.mark.parametrize("alpha", [0.0, -0.05, -0.2, -1 / 3])
def test_first_modified_step(alpha, transport):
    """(42) gives omega' + h M/I (1 + gamma alpha (1 - e_0)); if the old moment is transported, there is no damping."""
    body, h = lgint.models.single_axis(), 1e-3
    run = lgint.integrate(body, "hht", t_end=h, h=h, alpha=alpha, modified=True, transport=transport, **EXACT)
    loss = 0.0 if transport else gamma_beta(alpha)[0] * alpha * (1 - run.q[-1, 0])
    assert run.angular_velocity("body")[-1, 0] == pytest.approx(100.0 + h * (1 + loss), abs=1e-12)


@pytest.mark.parametrize("alpha, order", [(0.0, 5), (-0.05, 4), (-0.2, 4), (-1 / 3, 4)])
def test_first_classical_step(alpha, order):
    """(28) holds with a remainder of fourth order, and of fifth order at alpha = 0."""
    remainders = [first_step(h, alpha, False)[1] - equation_28(h, alpha) for h in (2e-3, 1e-3, 5e-4)]
    assert np.log2(np.abs(remainders[:-1]) / np.abs(remainders[1:])) == pytest.approx([order, order], abs=0.15)


def test_gyroscopic_term_is_the_printed_one():
    """At alpha = 0, the exact term omega x J omega would lose half as much, -1.249e-6."""
    assert first_step(1e-3, 0.0, False)[1] - 100.001 == pytest.approx(-2.495e-6, abs=5e-10)


# ---- the printed schemes, solved independently ----

J_TOP = np.diag([15.234375, 0.46875, 15.234375])
WEIGHT, COM = np.array([0.0, 0.0, -9.81 * 15.0]), np.array([0.0, 1.0, 0.0])
OMEGA_TOP = np.array([1.0, 16.0, -4.0])


def matrix_L(e):
    return np.array([[-e[1], e[0], e[3], -e[2]], [-e[2], -e[3], e[0], e[1]], [-e[3], e[2], -e[1], e[0]]])


def rotation_of(e):
    """(2)"""
    return np.outer(e[1:], e[1:]) * 2 + (e[0] ** 2 - e[1:] @ e[1:]) * np.eye(3) + 2 * e[0] * hat(e[1:])


def hat(a):
    return np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])


def printed_steps(h, steps, alpha, modified, transport):
    """e and e' at the end, for the heavy top about its fixed point, by (17), (18) or (33), (34), (20) and e.e = 1."""
    gamma, beta = gamma_beta(alpha)

    def forces(e, edot, lam):
        """The terms of (9) without accelerations."""
        L, Ldot, moment = matrix_L(e), matrix_L(edot), np.cross(COM, rotation_of(e).T @ WEIGHT)
        return 8 * L.T @ L @ Ldot.T @ J_TOP @ L @ edot + e * lam - 2 * L.T @ moment

    def new_state(acc, e, edot, old):
        L = matrix_L(e)
        e_new = e + h * edot + h**2 * ((0.5 - beta) * old + beta * acc)
        if not modified:
            return e_new, edot + h * ((1 - gamma) * old + gamma * acc)
        turned = matrix_L(e_new).T @ L @ (edot + h * (1 - gamma) * old)
        return e_new, turned + h * gamma * (acc - e_new * (e_new @ acc))

    def residual(x, e, edot, old, old_force):
        e_new, edot_new = new_state(x[:4], e, edot, old)
        L = matrix_L(e_new)
        if transport:
            old_force = L.T @ matrix_L(e) @ old_force
        balance = 4 * L.T @ J_TOP @ L @ x[:4] + (1 + alpha) * forces(e_new, edot_new, x[4]) - alpha * old_force
        return [*balance, (e_new @ e_new - 1) / h**2]

    e = np.array([1.0, 0, 0, 0])
    edot = matrix_L(e).T @ OMEGA_TOP / 2
    start = np.linalg.solve(J_TOP, np.cross(COM, WEIGHT) - np.cross(OMEGA_TOP, J_TOP @ OMEGA_TOP))
    acc, lam = matrix_L(e).T @ start / 2 - e * (edot @ edot), 0.0
    for _ in range(steps):
        x = fsolve(residual, [*acc, lam], args=(e, edot, acc, forces(e, edot, lam)), xtol=1e-12)
        (e, edot), acc, lam = new_state(x[:4], e, edot, acc), x[:4], x[4]
    return e, edot


@pytest.mark.parametrize("alpha", [0.0, -0.2])
@pytest.mark.parametrize("variant", VARIANTS)
def test_five_steps_of_the_printed_scheme(variant, alpha):
    options = dict(transport=False) | VARIANTS[variant]
    e, edot = printed_steps(5e-3, 5, alpha, **options)
    top = slow_top("euler_parameters", constrained=False)
    run = lgint.integrate(top, "hht", t_end=0.025, h=5e-3, alpha=alpha, **options, **EXACT)
    assert run.q[-1] == pytest.approx(e, abs=1e-11)
    assert run.v[-1] == pytest.approx(edot, abs=1e-9)


@pytest.mark.parametrize("alpha", [0.0, -0.2])
@pytest.mark.parametrize("constrained", [False, True])
@pytest.mark.parametrize("formulation", ["R3xSO3", "SE3"])
def test_lie_groups_have_the_scheme_of_simo_and_vu_quoc(formulation, constrained, alpha):
    """(30), (31) and (61), in which (61) is M vdot with a_n+1 = (1 + alpha) vdot_n+1 - alpha vdot_n."""
    h = 5e-3
    gamma, beta = gamma_beta(alpha)
    top = slow_top(formulation, constrained)
    run = lgint.integrate(top, "hht", t_end=0.05, h=h, alpha=alpha, sigma=0.0, **EXACT)
    a = np.empty_like(run.vdot)
    a[0] = run.vdot[0]
    for n in range(len(run.t) - 1):
        a[n + 1] = (1 + alpha) * run.vdot[n + 1] - alpha * run.vdot[n]
        v = run.v[n] + h * ((1 - gamma) * a[n] + gamma * a[n + 1])
        theta = h * run.v[n] + h**2 * ((0.5 - beta) * a[n] + beta * a[n + 1])
        turn = run.rotation("top")[n] @ lgint.groups.so3.exp(theta[-3:])
        assert run.v[n + 1] == pytest.approx(v, abs=1e-10)
        assert np.abs(run.rotation("top")[n + 1] - turn).max() < 1e-13
    # vdot satisfies the equations of motion
    for n in (1, 5, 10):
        terms = top.core.evaluate(
            run.t[n], run.q[n], run.v[n], run.vdot[n], run.lam[n], want=("Ma", "gyro", "force", "Btlam")
        )
        balance = terms["Ma"] + terms["gyro"] - terms["force"] + terms["Btlam"]
        assert np.abs(balance).max() < 1e-10 * np.abs(terms["Ma"]).max()


# ---- orders ----

# The default weights accelerations and is of second order in every formulation. (20) weights forces and adds M a and
# F_n in different frames: it is of first order unless alpha = 0 or forces are transported. The classical formula slows
# rotations down in any case, by (28).
TO_ROUND_OFF = dict(newton_rtol=1e-12)
SPATIAL = [
    *[(kind, dict(alpha=alpha), 2) for kind in FORMULATIONS for alpha in (0.0, -0.2)],
    ("euler_parameters", dict(alpha=-0.2, modified=True), 1),
    ("euler_parameters", dict(alpha=-0.2, modified=True, transport=True), 2),
    ("euler_parameters", dict(alpha=0.0, modified=True), 2),
    ("euler_parameters", dict(alpha=-0.2, modified=False), 1),
    ("euler_parameters", dict(alpha=-0.2, modified=False, transport=True), 1),
    ("euler_parameters", dict(alpha=0.0, modified=False), 2),
]


@pytest.mark.parametrize("formulation, options, order", SPATIAL)
def test_order_of_the_top_about_its_fixed_point(formulation, options, order):
    R, w, *_ = top_by_scipy()
    top, errors = slow_top(formulation, constrained=False), []
    # the top passes the singularity of the angles, where errors are large
    steps = np.array([400, 800, 1600, 3200]) * (4 if formulation == "tait_bryan" else 1)
    for n in steps:
        run = lgint.integrate(top, "hht", t_end=T_END, h=T_END / n, **TO_ROUND_OFF, **options)
        errors.append([rotation_error(run.rotation("top")[-1], R), np.linalg.norm(run.angular_velocity("top")[-1] - w)])
    for e in np.transpose(errors):
        assert observed_order(steps, e) == pytest.approx(order, abs=0.06), errors


def test_first_order_of_the_fast_top():
    """The error of omega integrated over 0.2 s on the top of sherif2019 10.1; the slope +1 of Fig. 2 is order one."""
    errors = []
    for every in (1, 2, 4, 8):
        tops = [lgint.models.heavy_top(formulation=kind, constrained=False) for kind in ("euler_parameters", "R3xSO3")]
        run = lgint.integrate(tops[0], "hht", t_end=0.2, h=1e-3 / every, alpha=-0.2, modified=True)
        exact = lgint.integrate(tops[1], "rk67", t_end=0.2, h=1e-3 / every)
        error = np.abs(run.angular_velocity("top") - exact.angular_velocity("top")).sum(axis=1)
        errors.append(error.sum() * 1e-3 / every)
    assert errors == pytest.approx([0.395, 0.218, 0.115, 0.0591], rel=2e-3)


@pytest.mark.parametrize(
    "options", [dict(alpha=-0.2), dict(alpha=0.0, modified=True), dict(alpha=-0.2, modified=True, transport=True)]
)
def test_accelerations_are_of_second_order(options):
    """`vdot` holds at the end of the step, whereas a of the algorithm lags by alpha h."""
    wdot = top_by_scipy()[2]
    top, steps, errors = slow_top("euler_parameters", constrained=False), [400, 800, 1600], []
    for n in steps:
        run = lgint.integrate(top, "hht", t_end=T_END, h=T_END / n, **options)
        errors.append(np.linalg.norm(2 * matrix_L(run.q[-1]) @ run.vdot[-1] - wdot))
    assert observed_order(steps, errors) == pytest.approx(2, abs=0.05), errors


CONSTRAINED = [
    *[(kind, dict(alpha=-0.2), 2) for kind in FORMULATIONS],
    ("euler_parameters", dict(alpha=-0.2, modified=True, transport=True), 2),
    ("euler_parameters", dict(alpha=-0.2, modified=True), 1),
    ("euler_parameters", dict(alpha=-0.2, modified=False), 1),
]


@pytest.mark.parametrize("formulation, options, order", CONSTRAINED)
def test_order_of_the_constrained_top(formulation, options, order):
    R, w, _, force = top_by_scipy()
    top, steps, errors = slow_top(formulation), [400, 800, 1600, 3200], []
    for n in steps:
        run = lgint.integrate(top, "hht", t_end=T_END, h=T_END / n, newton_rtol=1e-11, **options)
        error_w = np.linalg.norm(run.angular_velocity("top")[-1] - w)
        errors.append([rotation_error(run.rotation("top")[-1], R), error_w, np.linalg.norm(run.lam[-1, :3] - force)])
        assert np.abs(run.constraint_residual("position")).max() < 2e-13
    for e in np.transpose(errors):
        assert observed_order(steps, e) == pytest.approx(order, abs=0.1), errors


def planar_pendulum(formulation):
    """Two bars on parallel axes that turn at 12 rad/s."""
    builder = lgint.ModelBuilder(gravity=(0.0, 0.0, -9.81), formulation=formulation)
    for i in (1, 2):
        x = i - 0.5
        start = dict(position=(x, 0.0, 0.0), velocity=(0.0, 0.0, -12.0 * x), angular_velocity=(0.0, 12.0, 0.0))
        builder.add_body(f"bar{i}", mass=1.0, inertia=(0.01, 0.09, 0.09), **start)
    builder.add_joint("revolute", lgint.ground, "bar1", point=(0.0, 0.0, 0.0), axis=(0.0, 1.0, 0.0), name="pivot")
    builder.add_joint("revolute", "bar1", "bar2", point=(1.0, 0.0, 0.0), axis=(0.0, 1.0, 0.0), name="knee")
    return builder.build()


@functools.cache
def planar_reference():
    run = lgint.integrate(planar_pendulum("R3xSO3"), "rk67", t_end=0.5, h=1e-3)
    return np.concatenate([run.position("bar2")[-1], run.angular_velocity("bar2")[-1]])


PLANAR = [
    ("R3xSO3", dict(alpha=-0.2), 2),
    ("SE3", dict(alpha=-0.2), 2),
    ("euler_parameters", dict(alpha=-0.2), 2),
    ("euler_parameters", dict(alpha=-0.2, modified=True), 2),
    ("euler_parameters", dict(alpha=-0.2, modified=True, transport=True), 2),
    ("euler_parameters", dict(alpha=-0.2, modified=False), 1),
]


@pytest.mark.parametrize("formulation, options, order", PLANAR)
def test_order_in_planar_motion(formulation, options, order):
    model, steps, errors = planar_pendulum(formulation), np.array([200, 400, 800, 1600]) * (16 if order == 1 else 1), []
    for n in steps:
        run = lgint.integrate(model, "hht", t_end=0.5, h=0.5 / n, **options)
        end = np.concatenate([run.position("bar2")[-1], run.angular_velocity("bar2")[-1]])
        errors.append(np.linalg.norm(end - planar_reference()))
    assert observed_order(steps, errors) == pytest.approx(order, abs=0.1), errors


def test_no_energy_is_gained_where_the_mass_depends_on_the_coordinates():
    """A triple pendulum in joint angles swings for 20 s; weighted forces add energy until Newton's method fails."""
    chain = lgint.models.pendulum_chain(n=3, joint="revolute", formulation="minimal")
    run = lgint.integrate(chain, "hht", t_end=20.0, h=5e-3, alpha=-0.2)
    swing = 9.81 * np.ptp(run.position("link3")[:, 2])  # energy of lifting the last link, of 1 kg, through its range
    assert swing > 2.5
    assert np.abs(run.energy() - run.energy()[0]).max() < 1e-3 * swing


@pytest.mark.parametrize("alpha, order_v", [(0.0, 3), (-0.2, 2)])
def test_one_step_errors(alpha, order_v):
    """(55), (56): errors of one step are of third order in e and of second order in e', or of third if alpha = 0."""
    top, errors, steps = slow_top("euler_parameters", constrained=False), [], [0.002, 0.001, 0.0005]
    for h in steps:
        run = lgint.integrate(top, "hht", t_end=h, h=h, alpha=alpha, modified=True, **EXACT)
        exact = lgint.integrate(top, "rk67", t_end=h, h=h / 4)
        errors.append([np.linalg.norm(run.q[-1] - exact.q[-1]), np.linalg.norm(run.v[-1] - exact.v[-1])])
    orders = [observed_order([1 / h for h in steps], e) for e in np.transpose(errors)]
    assert orders == pytest.approx([3, order_v], abs=0.1), errors


def test_order_is_kept_when_the_step_size_changes():
    R, w, *_ = top_by_scipy()
    top, errors, steps = slow_top("euler_parameters", constrained=False), [], [200, 400, 800]
    for n in steps:
        stepper = lgint.Stepper(top, "hht", alpha=-0.2, modified=True, transport=True)
        for _ in range(n):
            stepper.step(0.4 * T_END / n)
            stepper.step(0.6 * T_END / n)
        errors.append(np.linalg.norm(2 * matrix_L(stepper.q) @ stepper.v - w))
    assert observed_order(steps, errors) == pytest.approx(2, abs=0.1), errors


# ---- numerical damping ----


def test_fast_free_rotation():
    """100 rad/s for 2 s at alpha = -0.2.

    On Euler parameters the default loses speed of order h^3, as its error in the frequency of the parameters is of
    second order; the modified formula and Lie groups lose none."""

    def loss(h, formulation="euler_parameters", **options):
        builder = lgint.ModelBuilder(formulation=formulation)
        builder.add_body("body", mass=1.0, inertia=(1, 1, 1), pivot=(0, 0, 0), angular_velocity=(100.0, 0, 0))
        run = lgint.integrate(builder.build(), "hht", t_end=2.0, h=h, alpha=-0.2, **options)
        return 100 - run.angular_velocity("body")[-1, 0]

    losses = np.array([loss(h) for h in (2e-3, 1e-3, 5e-4)])
    assert losses[0] == pytest.approx(0.335, abs=0.005)
    assert np.log2(losses[:-1] / losses[1:]) == pytest.approx([2.7, 2.6], abs=0.25), losses
    assert abs(loss(2e-3, modified=True)) < 1e-7
    assert abs(loss(2e-3, formulation="R3xSO3")) < 1e-10


@pytest.mark.parametrize("h", [1e-3, 5e-4])
@pytest.mark.parametrize("alpha", [-0.1, -0.3])
def test_classical_method_stalls_on_a_rotation(alpha, h):
    """By (28), omega' = M/I + alpha h/4 omega^3; the modified method reaches 800 rad/s."""
    body = lgint.models.single_axis(moment=200.0, omega0=0.0)
    stalled, t = lgint.integrate(body, "hht", t_end=4.0, h=h, alpha=alpha, modified=False), np.linspace(0, 4, 9)
    law = solve_ivp(lambda t, w: 200 + alpha * h / 4 * w**3, (0, 4), [0.0], rtol=1e-9, atol=1e-9, t_eval=t).y[0]
    speed = np.interp(t, stalled.t, stalled.angular_velocity("body")[:, 0])
    assert np.abs(speed - law).max() < 2e-3 * law.max()
    assert speed[-1] < 260

    modified = lgint.integrate(body, "hht", t_end=4.0, h=h, alpha=alpha, modified=True)
    assert modified.angular_velocity("body")[-1, 0] == pytest.approx(800.0, rel=4e-3)


@functools.cache
def final_speed(h, alpha):
    """Final speed of a body with the mean inertia of the V8 under its torque; the exact one is 99/I."""
    builder = lgint.ModelBuilder(formulation="euler_parameters")
    builder.add_body("rotor", mass=1.0, inertia=(0.24785, 0.24785, 0.24785), pivot=(0.0, 0.0, 0.0))
    builder.add_force("rotor", torque=lambda t: (22 * np.sin(np.pi * t / 9) ** 2, 0.0, 0.0))
    run = lgint.integrate(builder.build(), "hht", t_end=9.0, h=h, alpha=alpha, modified=True)
    return run.angular_velocity("rotor")[-1, 0]


def test_loss_of_speed_is_linear_in_alpha_and_saturates():
    """Errors are in the ratio of those of Fig. 10, 0.0175, 0.0342, 0.0802, 0.2139: linear at first, then less."""
    alphas = [-0.01, -0.02, -0.05, -0.2]
    loss = np.array([99 / 0.24785 - final_speed(1e-3, alpha) for alpha in alphas])
    assert (loss / loss[-1]) == pytest.approx(np.array([0.0175, 0.0342, 0.0802, 0.2139]) / 0.2139, rel=5e-3)
    assert loss[1] / loss[0] == pytest.approx(2, abs=0.05)
    assert 99 / 0.24785 - final_speed(1e-3, -0.3) < 1.01 * loss[-1]


V8 = dict(torque=50.0, duration=1.0)


def v8_inertia(theta, r=0.0375, length=0.130, com=0.036):
    """Inertia of the whole drive about the axis of the crank."""
    total = 0.24
    for angle in np.deg2rad([throw - bank for throw in (0, 90, 270, 180) for bank in (45, 135)]):
        s, c = np.sin(theta + angle), np.cos(theta + angle)
        root = np.sqrt(length**2 - (r * s) ** 2)
        piston, rod = -r * s - r**2 * s * c / root, -r * s - com / length * r**2 * s * c / root
        total += 0.45 * piston**2 + 0.55 * (rod**2 + (r * c * (1 - com / length)) ** 2) + 1.6e-3 * (r * c / root) ** 2
    return total


def v8_speed(h, modified):
    model = lgint.models.crank_drive_v8(**V8)
    run = lgint.integrate(model, "hht", t_end=1.0, h=h, alpha=-0.3, save_every=10, modified=modified)
    assert run.stats.dense_fallbacks == 0
    return run.angular_velocity("crankshaft")[-1, 0]


@functools.cache
def v8_reference():
    """Except for 3e-4 of its inertia the drive is a rotor, so that one equation of first order gives the angle."""

    def rhs(t, y):
        d = 1e-6
        slope = (v8_inertia(y[0] + d) - v8_inertia(y[0] - d)) / (2 * d)
        return [y[1], (50 * np.sin(np.pi * t) ** 2 - slope * y[1] ** 2 / 2) / v8_inertia(y[0])]

    return solve_ivp(rhs, (0, 1), [0.0, 0.0], method="DOP853", rtol=1e-11, atol=1e-11).y[1, -1]


def test_modified_method_follows_the_v8_with_order_two():
    errors = [abs(v8_speed(h, modified=True) - v8_reference()) for h in (2e-3, 1e-3, 5e-4)]
    assert errors[-1] < 1e-3 * v8_reference()
    assert np.log2(np.array(errors[:-1]) / errors[1:]) == pytest.approx([2.0, 2.0], abs=0.25), errors


def test_classical_method_stalls_on_the_v8():
    """The loss alpha h/4 omega^3 acts on the part of the inertia that makes full turns, that of the crankshaft."""
    h, inertia = 4e-3, np.mean([v8_inertia(angle) for angle in np.linspace(0, 2 * np.pi, 200, endpoint=False)])

    def rhs(t, w):
        return 50 * np.sin(np.pi * t) ** 2 / inertia - 0.24 / inertia * 0.3 * h / 4 * w**3

    law = solve_ivp(rhs, (0, 1), [0.0], rtol=1e-9, atol=1e-9).y[0, -1]
    assert law < 0.7 * v8_reference()
    assert v8_speed(h, modified=False) == pytest.approx(law, rel=0.01)


# ---- Newton's method ----


def residuals_of_a_step(model, h, **options):
    """Residuals after one, two, ... iterations of the first step, until they are round-off."""
    found = []
    for n in range(1, 8):
        try:
            lgint.integrate(model, "hht", t_end=h, h=h, max_iter=n, **EXACT, **options)
        except lgint.ConvergenceError as error:
            found.append(error.report["residual"])
    return np.array([*found, 0.0, 0.0])


@pytest.mark.parametrize("constrained", [False, True])
@pytest.mark.parametrize("variant", VARIANTS)
def test_newton_converges_quadratically(variant, constrained):
    """The matrix has the derivatives of (69), of the printed gyroscopic term and of the transported old forces."""
    r = residuals_of_a_step(slow_top("euler_parameters", constrained), 0.03, alpha=-0.2, **VARIANTS[variant])
    assert r[0] > 1e-3
    # 1e-3, 1e-7, 1e-13 instead of 1e-3, 1e-5, 1e-7: each reduction is the square of the one before
    assert r[1] < 0.05 * r[0] and r[2] < max(20 * (r[1] / r[0]) ** 2 * r[1], 1e-9), r


@pytest.mark.parametrize("variant", ["modified", "classical"])
def test_iterations_on_the_v8(variant):
    """At the same speed both formulas take the same number; the paper reports fewer for the modified one."""
    model = lgint.models.crank_drive_v8(omega0=100.0)
    run = lgint.integrate(model, "hht", t_end=0.05, h=5e-4, alpha=-0.3, **VARIANTS[variant])
    assert run.stats.newton_iterations / run.stats.steps == pytest.approx(2.0, abs=0.02)


# ---- runs ----


@pytest.mark.parametrize("variant", VARIANTS)
def test_resumed_run_has_the_same_bits(variant):
    """The run goes across a kink of the torque and carries old forces and accelerations."""
    builder = lgint.ModelBuilder(formulation="euler_parameters", gravity=(0.0, 0.0, -9.81))
    builder.add_body("body", mass=2.0, inertia=(0.1, 0.2, 0.3), pivot=(0.0, 0.0, 0.0), com=(0.1, 0.0, 0.2))
    builder.add_force("body", torque=([0.0, 0.0175, 0.1], [[0.0, 0, 0], [1.0, 2, 3], [-1.0, 0, 1]]))
    model, options = builder.build(), dict(alpha=-0.2, **VARIANTS[variant])
    whole = lgint.integrate(model, "hht", t_end=0.05, h=1e-3, stops=[0.03], **options)
    first = lgint.integrate(model, "hht", t_end=0.03, h=1e-3, **options)
    rest = lgint.integrate(model, "hht", t_end=0.05, h=1e-3, start=first, **options)
    for name in ("q", "v", "vdot", "lam"):
        assert getattr(whole, name)[-1].tobytes() == getattr(rest, name)[-1].tobytes()


def test_kink_keeps_the_order():
    """The old forces are taken just after the kink; under a force that is linear in time, the velocity is exact."""
    errors = []
    for h in (2e-3, 1e-3, 5e-4):
        builder = lgint.ModelBuilder(formulation="R3xSO3")
        builder.add_body("body", mass=1.0, inertia=(1.0, 1.0, 1.0))
        builder.add_force("body", force=([0.0, 0.1, 0.2], [[0.0, 0, 0], [10.0, 0, 0], [0.0, 0, 0]]))
        run = lgint.integrate(builder.build(), "hht", t_end=0.2, h=h, alpha=-0.3)
        assert run.velocity("body")[-1, 0] == pytest.approx(1.0, abs=1e-13)
        errors.append(run.position("body")[-1, 0] - 0.1)
    assert np.log2(np.array(errors[:-1]) / errors[1:]) == pytest.approx([2.0, 2.0], abs=0.01)


@pytest.mark.parametrize(("h", "alpha"), [(1e-4, 0.0), (2e-4, 0.0), (2e-4, -0.02), (4e-4, -0.05), (8e-4, -0.1)])
def test_joints_need_more_damping_the_larger_the_angle_of_a_step(h, alpha):
    """Multipliers grow by (1 + alpha)/(1 - alpha) (1 + sqrt(angle / 2)) from step to step: the double root splits."""
    top, angle = lgint.models.heavy_top(formulation="euler_parameters"), 150 * h
    with pytest.raises(lgint.ConvergenceError, match="alpha further below zero") as caught:
        lgint.integrate(top, "hht", t_end=400 * h, h=h, alpha=alpha, modified=True)
    size = np.linalg.norm(caught.value.trajectory.lam, axis=1)
    grown = np.flatnonzero(size > 20 * size[0])
    factor = (size[grown[-5]] / size[grown[0]]) ** (1 / (grown[-5] - grown[0]))
    assert 0.7 < (factor * (1 - alpha) / (1 + alpha) - 1) / np.sqrt(angle) < 0.86  # 1/sqrt(2) for small angles
    enough = -1.2 * np.sqrt(angle / 2) / (2 + np.sqrt(angle / 2))
    run = lgint.integrate(top, "hht", t_end=400 * h, h=h, alpha=enough, modified=True)
    assert np.linalg.norm(run.lam, axis=1).max() < 5 * size[0]


def test_blow_up_is_a_named_error_with_the_trajectory():
    with pytest.raises(lgint.IntegrationError) as caught:
        lgint.integrate(lgint.models.heavy_top(formulation="euler_parameters"), "hht", t_end=10.0, h=0.2, modified=True)
    assert np.isfinite(caught.value.trajectory.q).all()


@pytest.mark.parametrize("alpha", [0.01, -0.34, np.nan])
def test_alpha_has_a_range(alpha):
    with pytest.raises(ValueError, match="alpha"):
        lgint.integrate(lgint.models.heavy_top(), "hht", t_end=0.1, h=1e-2, alpha=alpha)


# ---- which scheme ----


@pytest.mark.parametrize("formulation", [*LIE, "tait_bryan"])
@pytest.mark.parametrize("modified", [True, False])
def test_printed_schemes_need_euler_parameters(formulation, modified):
    with pytest.raises(ValueError, match='modified needs formulation="euler_parameters", but top has'):
        lgint.integrate(lgint.models.heavy_top(formulation=formulation), "hht", t_end=0.1, h=1e-2, modified=modified)


def test_printed_schemes_need_euler_parameters_of_all_bodies():
    for formulation in ("minimal", "SE3"):
        builder = lgint.ModelBuilder(formulation="euler_parameters")
        start = dict(mass=1.0, inertia=(1.0, 1.0, 1.0))
        builder.add_body("free", position=(5.0, 0, 0), **start)
        builder.add_body("other", formulation=formulation, **start)
        builder.add_joint("revolute", lgint.ground, "other", point=(0, 0, 0), axis=(0, 0, 1.0))
        with pytest.raises(ValueError, match=r'"euler_parameters", but other(\.tree)? has'):
            lgint.integrate(builder.build(), "hht", t_end=0.1, h=1e-2, modified=True)


@pytest.mark.parametrize("option", [dict(sigma=1.0), dict(index=3), dict(newton="full"), dict(start="plain")], ids=str)
@pytest.mark.parametrize("modified", [True, False])
def test_options_of_the_other_scheme_are_refused(modified, option):
    """They are refused even if the value given is their default."""
    top = lgint.models.heavy_top(formulation="euler_parameters")
    with pytest.raises(ValueError, match=f"{next(iter(option))}: the scheme chosen by modified"):
        lgint.integrate(top, "hht", t_end=0.1, h=1e-2, modified=modified, **option)


@pytest.mark.parametrize("transport", [True, False])
def test_transport_belongs_to_the_printed_schemes(transport):
    top = lgint.models.heavy_top(formulation="euler_parameters")
    with pytest.raises(ValueError, match="transport: needs modified=True or modified=False"):
        lgint.integrate(top, "hht", t_end=0.1, h=1e-2, transport=transport)
    lgint.integrate(top, "hht", t_end=1e-2, h=1e-3, transport=None, modified=None)


@pytest.mark.parametrize("formulation", ["R3xSO3", "SE3", "euler_parameters", "tait_bryan"])
def test_it_is_generalized_alpha(formulation):
    """It has alpha_m = 0, alpha_f = -alpha, sigma and index, and the same bits as newmark at alpha = 0."""
    top, common = slow_top(formulation), dict(t_end=0.1, h=1e-3, index=2, sigma=0.3, newton="modified")
    one = lgint.integrate(top, "hht", alpha=0.0, **common)
    other = lgint.integrate(top, "newmark", **common)
    assert np.array_equal(one.q, other.q) and np.array_equal(one.lam, other.lam)
    info = {
        name: {row["name"]: row["default"] for row in lgint.method_info(name)["options"]} for name in lgint.methods()
    }
    shared = info["genalpha"].keys() - {"rho_inf"}
    assert {name: info["hht"][name] for name in shared} == {name: info["genalpha"][name] for name in shared}
    assert info["hht"]["modified"] is None and info["hht"]["transport"] is None
