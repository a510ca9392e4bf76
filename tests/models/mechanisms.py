"""Independent models of the mechanisms: equations of motion in one coordinate, and recursive dynamics of robots."""

import functools

import numpy as np
from scipy.integrate import solve_ivp

TIGHT = dict(method="DOP853", rtol=1e-12, atol=1e-13)


def cross(a, b):
    """a x b for three numbers each, without the overhead of NumPy's."""
    return np.array([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


def one_dof(inertia, potential, torque, state, t_end):
    """(x, x') at t_end of I(x) x'' + I'(x) x'^2 / 2 + V'(x) = torque(t), with derivatives by complex steps."""
    step = 1e-40

    def rhs(t, y):
        x, rate = y
        dI, dV = inertia(x + 1j * step).imag / step, potential(x + 1j * step).imag / step
        return [rate, (torque(t) - dI * rate**2 / 2 - dV) / inertia(x).real]

    return solve_ivp(rhs, (0, t_end), state, **TIGHT).y[:, -1]


# ---- slider-crank: velocities for a unit rate of the crank ----

EX = np.array([1.0, 0.0, 0.0])


def slider_crank_rates(theta, crank_com):
    """COM positions and rates of crank and rod, axes and angular velocity of the rod, place and rate of the slider."""
    s, c = np.sin(theta), np.cos(theta)
    arm, turned = 0.08 * np.array([0, -s, c]), 0.08 * np.array([0, -c, -s])
    B = np.array([0, 0.1, 0.12]) + arm
    place = np.sqrt(0.09 - B[1] ** 2 - B[2] ** 2)
    rate = -(B[1] * turned[1] + B[2] * turned[2]) / place
    x = (place * EX - B) / 0.3
    xdot = (rate * EX - turned) / 0.3
    y = np.array([0, -x[2], x[1]]) / np.sqrt(x[1] ** 2 + x[2] ** 2)  # normal to e_x and to x
    z = cross(x, y)
    # omega = x cross x' + w x, with omega normal to e_x cross y, so that y stays normal to e_x
    across, normal = cross(x, xdot), cross(y, EX)
    omega = across - (normal @ across) / (normal @ x) * x
    share = 0.5 if crank_com == "middle" else 0.0
    crank = (np.array([0, 0.1, 0.12]) + share * arm, share * turned)
    rod = ((B + place * EX) / 2, (turned + rate * EX) / 2)
    return crank, rod, np.array([x, y, z]), omega, place, rate


def slider_crank_inertia(theta, crank_com):
    crank, rod, axes, omega, _, rate = slider_crank_rates(theta, crank_com)
    body = axes @ omega
    turning = np.array([4e-4, 4e-3, 4e-3]) @ body**2 + 1e-4
    return 0.12 * crank[1] @ crank[1] + 0.5 * rod[1] @ rod[1] + turning + 2.0 * rate**2


def slider_crank_potential(theta, crank_com):
    crank, rod, *_ = slider_crank_rates(theta, crank_com)
    return 9.81 * (0.12 * crank[0][2] + 0.5 * rod[0][2])


@functools.cache
def slider_crank(t_end, crank_com="middle"):
    """Crank angle, crank rate, slider position and slider velocity at t_end."""
    theta, rate = one_dof(
        lambda x: slider_crank_inertia(x, crank_com),
        lambda x: slider_crank_potential(x, crank_com),
        lambda t: 0.0,
        [0.0, 6.0],
        t_end,
    )
    *_, place, share = slider_crank_rates(theta, crank_com)
    return np.array([theta, rate, place, share * rate])


# ---- V8 ----


def v8_inertia(theta, r=0.0375, length=0.130, com=0.036):
    total = 0.24 + 0j
    for throw in (0, 90, 270, 180):
        for bank in (45, 135):
            s, c = np.sin(theta + np.deg2rad(throw - bank)), np.cos(theta + np.deg2rad(throw - bank))
            root = np.sqrt(length**2 - (r * s) ** 2)
            root_rate = -(r**2) * s * c / root
            piston = -r * s + root_rate
            conrod = (-r * s + com / length * root_rate) ** 2 + (r * c * (1 - com / length)) ** 2
            total += 0.45 * piston**2 + 0.55 * conrod + 1.6e-3 * (r * c / root) ** 2
    return total


@functools.cache
def crank_drive_v8(t_end, torque=22.0, duration=9.0):
    """Crank angle and crank speed at t_end <= duration."""
    return one_dof(v8_inertia, lambda x: 0 * x, lambda t: torque * np.sin(np.pi * t / duration) ** 2, [0.0, 0.0], t_end)


# ---- Puma 560: mass matrix from Jacobians, bias forces from a forward recursion ----

PUMA = [  # d, a, quarter turns of alpha, mass, COM, diagonal of J
    (0, 0, 1, 20.0, (0, 0, 0), (1e-8, 0.35, 1e-8)),
    (0, 0.4318, 0, 17.4, (-0.3638, 0.006, 0.2275), (0.13, 0.524, 0.539)),
    (0.15005, 0.0203, -1, 4.8, (-0.0203, -0.0141, 0.07), (0.066, 0.086, 0.0125)),
    (0.4318, 0, 1, 0.82, (0, 0.019, 0), (0.0018, 0.0013, 0.0018)),
    (0, 0, -1, 0.34, (0, 0, 0), (0.0003, 0.0004, 0.0003)),
    (0, 0, 0, 0.09, (0, 0, 0.032), (0.00015, 0.00015, 0.00004)),
]
GOAL = np.deg2rad([-120.0, 60.0, -200.0, 90.0, 90.0, 45.0])
P = np.array([40000.0, 40000, 40000, 100, 100, 10])
D = np.array([400.0, 400, 100, 1, 1, 0.1])


def puma_terms(q, qd, gravity=9.81):
    """Mass matrix (6, 6), and bias forces (6,) including gravity."""
    M, bias = np.zeros((6, 6)), np.zeros(6)
    R, p, w, wd, a = np.eye(3), np.zeros(3), np.zeros(3), np.zeros(3), np.array([0, 0, gravity])
    axes, origins = np.zeros((6, 3)), np.zeros((6, 3))
    for i, (d, length, quarter, m, com, J) in enumerate(PUMA):
        axes[i], origins[i] = R[:, 2], p
        wd = wd + cross(w, axes[i] * qd[i])
        w = w + axes[i] * qd[i]
        c, s = np.cos(q[i]), np.sin(q[i])
        R = R @ np.array([[c, -s, 0], [s, c, 0], [0, 0, 1.0]])
        step = d * R[:, 2] + length * R[:, 0]
        if quarter:
            R = R @ np.array([[1.0, 0, 0], [0, 0, -quarter], [0, quarter, 0]])
        a = a + cross(wd, step) + cross(w, cross(w, step))
        p = p + step
        arm = R @ np.array(com)
        a_com = a + cross(wd, arm) + cross(w, cross(w, arm))
        inertia = R @ np.diag(J) @ R.T
        Jv, Jw = np.zeros((3, 6)), np.zeros((3, 6))
        Jw[:, : i + 1] = axes[: i + 1].T
        Jv[:, : i + 1] = cross(axes[: i + 1].T, (p + arm - origins[: i + 1]).T)
        M += m * Jv.T @ Jv + Jw.T @ inertia @ Jw
        bias += Jv.T @ (m * a_com) + Jw.T @ (inertia @ wd + cross(w, inertia @ w))
    return M, bias


@functools.cache
def puma560(t_end):
    """Joint angles and rates at t_end, as two rows."""

    def motion(t, braking):
        if not braking:
            return 2 * GOAL * t**2, 4 * GOAL * t
        return GOAL * (0.5 + 2 * (t - 0.5) - 2 * (t - 0.5) ** 2), GOAL * (2 - 4 * (t - 0.5))

    def rhs(t, y, braking):
        angle, rate = motion(t, braking)
        M, bias = puma_terms(y[:6], y[6:])
        tau = P * (angle - y[:6]) + D * (rate - y[6:])
        return np.concatenate([y[6:], np.linalg.solve(M, tau - bias)])

    stiff = {**TIGHT, "method": "LSODA"}
    y = solve_ivp(rhs, (0, min(t_end, 0.5)), np.zeros(12), args=(False,), **stiff).y[:, -1]
    if t_end > 0.5:
        y = solve_ivp(rhs, (0.5, t_end), y, args=(True,), **stiff).y[:, -1]
    return y.reshape(2, 6)
