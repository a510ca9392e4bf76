"""Wheels that roll and knife edges: rows of velocity alone in every family of methods."""

import functools

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import lgint
from battery import observed_order

LIVELY = dict(lean=0.4, precession=3.0, spin=-5.0)  # no steady circle
TURNING = dict(speed=-1.0, turning=4.0)
T_END = 1.0
AT = np.linspace(0.0, T_END, 9)[1:]  # errors are means over these times, so that they vanish nowhere by chance
INDICES = [("genalpha", {"index": index}) for index in (3, 2, "stabilized")]
STEPPER = {name: lgint.method_info(name)["stepper"] for name in lgint.methods()}
CONSISTENT = {"first_stage": "consistent"}
PLAIN = [(name, CONSISTENT if kind == "herk" else {}) for name, kind in STEPPER.items() if kind != "conserve"] + INDICES
CONSERVING = [name for name, kind in STEPPER.items() if kind == "conserve"]


def ids(case):
    return "-".join(map(str, (case[0], *case[1].values())))


# ---- the two models without the library ----


def sleigh(t, m=1.0, inertia=0.2, b=0.4, v0=0.5, w0=3.0):
    """The speed of the knife edge, angular velocity and heading of Chaplygin's sleigh."""
    J = inertia + m * b**2
    V = np.hypot(v0, w0 * np.sqrt(J / m))
    start = np.arctanh(v0 / V)
    tau = start + m * b * V / J * t
    heading = np.sqrt(J / m) / b * 2 * (np.arctan(np.tanh(tau / 2)) - np.arctan(np.tanh(start / 2)))
    return V * np.tanh(tau), V * np.sqrt(m / J) / np.cosh(tau), heading


def disk_terms(R, w, m=1.0, r=0.5, g=9.81):
    """Angular acceleration of a rolling disk and the force of the plane: with the arm r e from the contact,

    v = w x r e,  m v' = F - m g z,  H' = -r e x F.
    """
    z, u = np.array([0.0, 0.0, 1.0]), R[:, 1]
    s = u @ z
    e = (z - s * u) / np.sqrt(1 - s**2)
    u_rate = np.cross(w, u)
    s_rate = u_rate @ z
    e_rate = -(s_rate * u + s * u_rate) / np.sqrt(1 - s**2) + e * s * s_rate / (1 - s**2)
    inertia = R @ np.diag([0.25, 0.5, 0.25]) @ R.T * m * r**2
    hat = lgint.groups.so3.hat(r * e)
    known = m * np.cross(w, r * e_rate) + m * g * z  # F = m w' x r e + known
    left = inertia - m * hat @ hat
    w_rate = np.linalg.solve(left, -np.cross(w, inertia @ w) - np.cross(r * e, known))
    return w_rate, -m * hat @ w_rate + known, np.cross(w, r * e)


@functools.cache
def disk():
    """x, R, body angular velocity, and the force of the plane on the disk at the times AT, by SciPy."""
    start = lgint.models.rolling_disk(**LIVELY).state()
    R, x = start.rotation("disk"), start.position("disk")
    w = R @ start.angular_velocity("disk")

    def rhs(t, y):
        R, w = y[3:12].reshape(3, 3), y[12:]
        w_rate, _, v = disk_terms(R, w)
        return np.concatenate([v, (lgint.groups.so3.hat(w) @ R).ravel(), w_rate])

    y0 = np.concatenate([x, R.ravel(), w])
    y = solve_ivp(rhs, (0, T_END), y0, method="DOP853", t_eval=AT, rtol=1e-13, atol=1e-14).y.T
    R = y[:, 3:12].reshape(-1, 3, 3)
    force = [disk_terms(*each)[1] for each in zip(R, y[:, 12:], strict=True)]
    return y[:, :3], R, np.einsum("nji,nj->ni", R, y[:, 12:]), np.array(force)


# ---- orders ----


def disk_errors(run):
    x, R, omega, force = disk()
    at = run.t.searchsorted(AT - 1e-9)
    turned = lgint.groups.so3.log(np.swapaxes(R, 1, 2) @ run.rotation("disk")[at])
    errors = run.position("disk")[at] - x, turned, run.angular_velocity("disk")[at] - omega
    errors = *errors, -run.lam[at][:, [1, 2, 0]] - force
    return [np.linalg.norm(each) for each in errors]


def sleigh_errors(run):
    at = run.t.searchsorted(AT - 1e-9)
    v, omega, heading = sleigh(AT, v0=-1.0, w0=4.0)
    R = run.rotation("sleigh")[at]
    speed = np.einsum("ni,ni->n", R[:, :, 0], run.point_velocity("sleigh", (-0.4, 0.0, 0.0))[at])
    turned = np.angle(np.exp(1j * (np.arctan2(R[:, 1, 0], R[:, 0, 0]) - heading)))
    return [np.linalg.norm(each) for each in (turned, run.angular_velocity("sleigh")[at, 2] - omega, speed - v)]


MODELS = {
    "disk": (functools.partial(lgint.models.rolling_disk, **LIVELY), disk_errors),
    "sleigh": (functools.partial(lgint.models.chaplygin_sleigh, **TURNING), sleigh_errors),
}
COARSEST = {1: 1600, 2: 200, 3: 120, 4: 64, 5: 80, 6: 24, 8: 8}


def observed(model, errors, method, coarsest=None, count=None, **options):
    first = coarsest or COARSEST[lgint.method_info(method)["order"]]
    steps = [first * 2**i for i in range(3)]
    rows = [errors(lgint.integrate(model, method, t_end=T_END, h=T_END / n, **options))[:count] for n in steps]
    return [observed_order(steps, column) for column in np.array(rows).T]


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("case", PLAIN, ids=ids)
def test_orders_of_coordinates_velocities_and_multipliers(case, name):
    (method, options), (model, errors) = case, MODELS[name]
    order = lgint.method_info(method)["order"]
    for found in observed(model(), errors, method, 24 if method == "radau5" else None, **options):
        assert abs(found - order) < (0.15 if order < 5 else 0.5 if order < 8 else 0.7)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("method", CONSERVING)
def test_orders_of_methods_with_momenta(method, name):
    model, errors = MODELS[name]
    made = model(formulation="euler_parameters")
    for found in observed(made, errors, method, 128, 3, equivariant=True):
        assert abs(found - 2) < 0.15


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("method", [name for name in CONSERVING if name not in ("mpl", "mph")])
def test_methods_with_discrete_gradients_keep_the_energy(method, name):
    run = lgint.integrate(
        MODELS[name][0](formulation="euler_parameters"), method, t_end=T_END, h=0.02, equivariant=True
    )
    assert np.ptp(run.energy()) < 1e-12


@pytest.mark.parametrize("method", ["mpl", "mph", "eml", "hht"])
def test_schemes_as_printed_refuse_rows_of_velocity_alone(method):
    options = {"modified": True} if method == "hht" else {"equivariant": False}
    with pytest.raises(ValueError, match="nonholonomic rows, as rolling: slip along e1 is; take"):
        lgint.integrate(lgint.models.rolling_disk(formulation="euler_parameters"), method, t_end=1.0, h=0.1, **options)
