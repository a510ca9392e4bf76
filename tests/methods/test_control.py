"""Error control: errors follow the tolerance; laws of the step size, landings, resumed runs, failures."""

import numpy as np
import pytest
from scipy.integrate._ivp import dop853_coefficients as dop
from scipy.optimize import brentq

import lgint
from battery import end_error, observed_order, rotation_error, slow_top
from kinds import BODIES, FORMULATIONS, MOMENTUM

ROWS = {name: lgint.method_info(name) for name in lgint.methods()}


def has_option(method, name):
    return any(option["name"] == name for option in ROWS[method]["options"])


PAIRS = [name for name in ROWS if has_option(name, "rtol")]
INDEX_1 = [name for name in PAIRS if ROWS[name]["stepper"] == "rkmk"]
# Measured errors of the attitude at the end over the tolerance; tests that compare with given numbers run these methods
WINDOW = {"ode23": (0.5, 20), "dopri5": (0.04, 6), "dop853": (0.1, 4), "herk5": (0.04, 20)}
WINDOW |= {"radau3": (0.2, 20), "radau5": (0.01, 6)}
ALPHA = [name for name in PAIRS if ROWS[name]["stepper"] == "genalpha"]
WINDOW |= dict.fromkeys(ALPHA, (0.1, 5))
LAWS = ("I", "PI", "paper")
ORDER = {name: row["order"] for name, row in ROWS.items()}
ERROR_ORDER = {name: row["error_order"] for name, row in ROWS.items()}
# The error of a run is O(tol^this): methods that know their own error make it equal to the tolerance in each step
POWER = {name: min(1, ORDER[name] / ERROR_ORDER[name]) for name in PAIRS}


def oscillator(force=lambda t, q, v: -q, **given):
    return lgint.CallableModel("Rn", [1.0, 0.0], [0.0, 0.5], mass=lambda t, q: np.eye(2), force=force, **given)


def pulse(t, q, v):
    """The force of an oscillator that is pushed between two times, which are not declared as kinks."""
    return -q + 500.0 * (0.5 < t < 0.52)


# ---- tolerance and error ----

TOLERANCES = {
    2: (1e-4, 1e-5, 1e-6, 1e-7),
    3: (1e-5, 1e-6, 1e-7, 1e-8),
    5: (1e-7, 1e-8, 1e-9, 1e-10),
    8: (1e-8, 1e-9, 1e-10, 1e-11),
}  # by the order of the method


@pytest.mark.parametrize("constrained", [False, True], ids=["free", "constrained"])
@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("method", WINDOW)
def test_error_and_steps_follow_the_tolerance(method, formulation, constrained):
    """The estimate is O(h^k): the number of steps grows as tol^(-1/k), and the error at the end falls as tol."""
    model, tolerances = slow_top(formulation, constrained), TOLERANCES[ORDER[method]]
    runs = [lgint.integrate(model, method, t_end=0.5, rtol=tol, atol=tol) for tol in tolerances]
    q, v = np.transpose([end_error(run) for run in runs])
    (low, high), power = WINDOW[method], POWER[method]
    aim = np.array(tolerances) ** power
    assert (low * aim < q).all() and (q < high * aim).all()
    assert (v < 5 * high * aim).all()
    assert observed_order(tolerances, q) == pytest.approx(-1.1 * power, abs=0.15)
    k = max(ORDER[method], ERROR_ORDER[method])
    assert observed_order(tolerances, [run.stats.steps for run in runs]) == pytest.approx(1 / k, abs=0.015)
    most = 0.025 if ORDER[method] < 8 else 0.1  # of few steps
    assert all(run.stats.rejected <= most * run.stats.steps for run in runs)


@pytest.mark.parametrize(
    ("method", "tol"), [(m, tol) for m in PAIRS for tol in ((1e-6, 1e-8) if m in [*INDEX_1, *ALPHA] else (1e-8, 1e-10))]
)
def test_every_law_keeps_the_tolerance_on_the_fast_top(method, tol):
    """In steady motion "I" and "paper" keep the error of a step at f^k, "PI" at f^(k / 0.3); final errors follow."""
    model, t_end = lgint.models.heavy_top(), 0.5 if ORDER[method] == 8 else 0.1  # in either case over 40 steps
    best = lgint.integrate(model, "rk67", t_end=t_end, h=5e-5)
    errors = {}
    for law in LAWS:
        run = lgint.integrate(model, method, t_end=t_end, rtol=tol, control=law)
        errors[law] = rotation_error(run.rotation("top")[-1], best.rotation("top")[-1])
        assert run.t[-1] == t_end
    aim = tol ** POWER[method]
    assert 0.05 * aim < 0.1 / t_end * errors["I"] < 0.5 * aim
    assert errors["paper"] == pytest.approx(errors["I"], rel=0.01)
    p = ORDER[method]
    assert errors["PI"] == pytest.approx(0.9 ** (p / 0.3 - p) * errors["I"], rel=0.15)


TABLEAUX = {
    "ode23": (
        [[], [1 / 2], [0, 3 / 4], [2 / 9, 1 / 3, 4 / 9]],
        [7 / 24, 1 / 4, 1 / 3, 1 / 8],
    ),
    "dopri5": (
        [
            [],
            [1 / 5],
            [3 / 40, 9 / 40],
            [44 / 45, -56 / 15, 32 / 9],
            [19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729],
            [9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656],
            [35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84],
        ],
        [5179 / 57600, 0, 7571 / 16695, 393 / 640, -92097 / 339200, 187 / 2100, 1 / 40],
    ),
}  # Bogacki and Shampine (1989), Dormand and Prince (1980): A with b as its last row, and the embedded weights
TABLEAUX["herk5"] = TABLEAUX["dopri5"]  # they are the same without constraints
TABLEAUX["dop853"] = ([row[:i] for i, row in enumerate(dop.A[:13])], np.append(dop.B, 0) - dop.E5)  # by SciPy
COARSE = {"dop853": np.append(dop.B, 0) - dop.E3}  # the weights of a second embedded solution


def combined(fine, coarse=None):
    """The norm of an error, or what it gives with that of a coarser solution."""
    return fine if coarse is None else fine**2 / np.hypot(fine, 0.1 * coarse)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("method", TABLEAUX)
def test_a_harmonic_motion_is_known_beforehand(method, law):
    """A step multiplies z = q + i v by a polynomial R of -i h, the embedded one by R^, and the motion by exp(-i h).

    With |z| = 1 and atol alone the error of a step is |R - R^| / (sqrt(2) atol). The laws "I" and "paper" lead it to
    f^k and "PI" to f^(k / 0.3), which determines h. The error after n steps is n |R exp(i h) - 1|.
    """
    A, b_hat = TABLEAUX[method]
    f, k, atol, t_end = 0.8, ORDER[method], 1e-6, 150.0 if ORDER[method] == 8 else 50.0

    def polynomials(h):
        slopes = []
        for row in A:
            slopes.append(-1j * (1 + h * np.dot(row, slopes)))
        embedded = [1 + h * np.dot(weights, slopes) for weights in (b_hat, COARSE.get(method)) if weights is not None]
        return 1 + h * np.dot(A[-1], slopes[:-1]), *embedded

    def estimate(h):
        R, *embedded = polynomials(h)
        return combined(*(abs(R - R_hat) / (np.sqrt(2) * atol) for R_hat in embedded))

    model = lgint.CallableModel("Rn", [1.0], [0.0], mass=lambda t, q: np.eye(1), force=lambda t, q, v: -q)
    run = lgint.integrate(model, method, t_end=t_end, atol=atol, control=law, safety=f)
    steady = slice(len(run.t) // 4, 3 * len(run.t) // 4)
    aim = f ** (k / 0.3 if law == "PI" else k)
    h = brentq(lambda h: estimate(h) - aim, 1e-4, 1.0)
    assert np.allclose(run.error[steady], aim, rtol=0.01) and np.allclose(run.h[steady], h, rtol=0.003)
    error = abs(run.q[-1, 0] + 1j * run.v[-1, 0] - np.exp(-1j * t_end))
    assert error == pytest.approx(t_end / h * abs(polynomials(h)[0] * np.exp(1j * h) - 1), rel=0.05)


# ---- the documented formula, evaluated independently ----

MASS, INERTIA, COM = 15.0, np.diag([0.234375, 0.46875, 0.234375]), np.array([0.0, 1.0, 0.0])
so3 = lgint.groups.so3


class Top:
    """The constrained heavy top on R^3 x SO(3), with x - R com = 0 in inertial axes; states are (x, R, v), v (6,)."""

    @staticmethod
    def matrix(R):
        B = np.hstack([np.eye(3), R @ so3.hat(COM)])
        M = np.zeros((6, 6))
        M[:3, :3], M[3:, 3:] = MASS * np.eye(3), INERTIA
        return np.block([[M, B.T], [B, np.zeros((3, 3))]])

    @staticmethod
    def acceleration(state):
        _, R, v = state
        w = v[3:]
        force = np.concatenate([[0, 0, -9.81 * MASS], -np.cross(w, INERTIA @ w), R @ np.cross(w, np.cross(w, COM))])
        return np.linalg.solve(Top.matrix(R), force)[:6]

    @staticmethod
    def residual(state):
        x, R, v = state
        return x - R @ COM, v[:3] - R @ np.cross(v[3:], COM)

    @staticmethod
    def shortest_change(state, residual):
        return np.linalg.solve(Top.matrix(state[1]), np.concatenate([np.zeros(6), -residual]))[:6]

    @staticmethod
    def moved(state, theta, dv):
        return state[0] + theta[:3], state[1] @ so3.exp(theta[3:]), state[2] + dv

    @staticmethod
    def difference(a, b):
        return np.concatenate([b[0] - a[0], so3.log(a[1].T @ b[1])])

    @staticmethod
    def rate(theta, v):
        return np.concatenate([v[:3], so3.tangent_inv(theta[3:]) @ v[3:]])

    @staticmethod
    def states(run):
        return list(zip(run.position("top"), run.rotation("top"), run.v, strict=True))


def error_of_step(method, before, after, h, rtol, atol):
    """The error of the step between two states of a run by docs/step_control.md, whether or not the run projects."""
    A, b_hat = TABLEAUX[method]
    K, k = [before[2]], [Top.acceleration(before)]
    for row in A[1:]:
        theta, dv = h * np.dot(row, K), h * np.dot(row, k)
        end = Top.moved(before, theta, dv)
        is_last = len(K) == len(b_hat) - 1
        K.append(Top.rate(theta, after[2] if is_last else end[2]))
        k.append(Top.acceleration(after if is_last else end))
    (phi0, phidot0), (phi1, phidot1) = Top.residual(before), Top.residual(end)
    way = np.concatenate([np.abs(Top.difference(before, after)), np.maximum(np.abs(before[2]), np.abs(after[2]))])

    def norm(weights):
        embedded = Top.moved(before, h * np.dot(weights, K), h * np.dot(weights, k))
        turn = Top.difference(embedded, end) + Top.shortest_change(after, phi1 - phi0 - h * phidot0)
        change = end[2] - embedded[2] + Top.shortest_change(after, phidot1 - phidot0)
        return np.sqrt(np.mean((np.append(turn, change) / (atol + rtol * way)) ** 2))

    return combined(norm(b_hat), norm(COARSE[method]) if method in COARSE else None)


@pytest.mark.parametrize("project", [None, "none", "position", "velocity", "both"])
@pytest.mark.parametrize("method", [name for name in INDEX_1 if name in WINDOW])
def test_the_error_is_that_of_the_documented_formula(method, project):
    strict = 1e-3 if ORDER[method] == 8 else 1  # or there would be too few steps
    rtol, atol = (strict * np.geomspace(*ends, 12) for ends in ((1e-4, 1e-2), (3e-3, 1e-4)))
    run = lgint.integrate(slow_top("R3xSO3"), method, t_end=0.5, rtol=rtol, atol=atol, project=project)
    states = Top.states(run)
    errors = [error_of_step(method, states[i], states[i + 1], run.h[i + 1], rtol, atol) for i in range(len(states) - 1)]
    assert len(errors) > 8
    assert np.allclose(run.error[1:], errors, rtol=1e-7)


@pytest.mark.parametrize("method", PAIRS)
@pytest.mark.parametrize("rtol", [1e-3, 1e-6, 1e-9])
def test_the_first_step_is_that_of_the_documented_formula(method, rtol):
    """It follows from the first two derivatives: docs/step_control.md (Hairer, Norsett, Wanner, II.4)."""
    atol, k, p = 0.1 * rtol, ERROR_ORDER[method], ORDER[method]
    run = lgint.integrate(slow_top("R3xSO3"), method, t_end=0.5, rtol=rtol, atol=atol)
    state = Top.states(run)[0]
    v, a = state[2], Top.acceleration(state)
    factor = (rtol / 1e-5) ** min(
        0, (k - p) / p
    )  # tolerances are rescaled if the error is of another order than the method
    rtol, atol = factor * rtol, factor * atol
    scale = atol + rtol * np.concatenate([np.zeros(6), np.abs(v)])

    def norm(x, y):
        return np.sqrt(np.mean((np.concatenate([x, y]) / scale) ** 2))

    size, rate = norm(np.zeros(6), v), norm(v, a)
    h0 = 0.01 * size / rate
    there = Top.moved(state, h0 * v, h0 * a)
    bend = norm(h0 * a, Top.acceleration(there) - a) / h0
    h = min(100 * h0, (0.01 / max(rate, bend)) ** (1 / k))
    assert run.h[1] == pytest.approx(h, rel=1e-9)


def test_storages_take_the_same_steps():
    runs = [lgint.integrate(slow_top(f), "dopri5", t_end=0.5, rtol=1e-6) for f in ("R3xSO3", "R3xS3", "R3xRV")]
    for run in runs[1:]:
        assert np.allclose(run.t, runs[0].t, rtol=1e-9)


def test_tolerances_do_not_depend_on_the_place():
    """A body that moves far from the origin takes the steps of one that moves near it."""

    def thrown(x):
        b = lgint.ModelBuilder(gravity=(0, 0, -9.81))
        b.add_body("b", mass=1.0, inertia=(1, 2, 3), position=x, angular_velocity=(1, 5, 0.1), velocity=(1, 0, 2))
        return lgint.integrate(b.build(), "dopri5", t_end=2.0, rtol=1e-6)

    near, far = thrown((0, 0, 0)), thrown((1e4, 0, 0))
    assert np.allclose(near.t, far.t, rtol=1e-6)


def test_tolerance_per_entry():
    """Two oscillators of different frequency: the error of each follows its own tolerance."""
    omega = np.array([2.0, 3.0])
    model = oscillator(force=lambda t, q, v: -(omega**2) * q)
    exact = np.array([np.cos(2.0 * 3), 0.5 / 3 * np.sin(3.0 * 3)])

    def errors(atol):
        run = lgint.integrate(model, "dopri5", t_end=3.0, rtol=0.0, atol=atol)
        return np.abs(run.q[-1] - exact), run.stats.steps

    both, many = errors(1e-9)
    first, _ = errors([1e-9, 1e3])
    same, n = errors([1e-9, 1e-9, 1e-9, 1e-9])
    neither, few = errors([1e-3, 1e-3])
    assert np.array_equal(both, same) and n == many and few < many / 3
    assert first[0] < 1e-7 < neither[0]


def test_only_one_tolerance():
    model = slow_top("R3xSO3")
    relative = lgint.integrate(model, "dopri5", t_end=0.1, rtol=1e-6)
    both = lgint.integrate(model, "dopri5", t_end=0.1, rtol=1e-6, atol=1e-6)
    absolute = lgint.integrate(model, "dopri5", t_end=0.1, atol=1e-6)
    zero = lgint.integrate(model, "dopri5", t_end=0.1, atol=1e-6, rtol=0.0)
    assert np.array_equal(relative.q, both.q) and np.array_equal(absolute.q, zero.q)
    assert absolute.stats.steps > relative.stats.steps


# ---- laws in the history of steps and errors ----


@pytest.mark.parametrize("method", PAIRS)
def test_error_and_step_history(method):
    run = lgint.integrate(slow_top("R3xSO3"), method, t_end=0.5, rtol=1e-6)
    assert run.h[0] == 0 and np.isnan(run.error[0])
    assert np.allclose(np.diff(run.t), run.h[1:], rtol=1e-12)
    assert (run.error[1:] > 0).all() and (run.error[1:] <= 1).all()
    fixed = lgint.integrate(slow_top("R3xSO3"), method, t_end=0.5, h=0.01)
    assert np.isnan(fixed.error).all() and fixed.stats.rejected == 0


# options that depend on whether the steps adapt, unless they are given
NOT_BY_STEPS = {"project": "none", "newton_rtol": 1e-12, "index": "stabilized"}


@pytest.mark.parametrize("constrained", [False, True], ids=["free", "constrained"])
@pytest.mark.parametrize("method", PAIRS)
def test_fixed_steps_may_record_their_error(method, constrained):
    """The steps are those of a run without tolerances, and the error is that of an adaptive step of the same size."""
    model, rtol = slow_top("R3xSO3", constrained), np.geomspace(1e-5, 1e-3, slow_top("R3xSO3", constrained).nv)
    plain = lgint.integrate(model, method, t_end=0.1, h=0.005)
    assert np.isnan(plain.error).all()
    for more in ({}, {"t_eval": [0.03, 0.1]}, {"dense_output": True}, {"save_every": 2}):
        run = lgint.integrate(model, method, t_end=0.1, h=0.005, rtol=rtol, control="none", **more)
        assert run.q[-1].tobytes() == plain.q[-1].tobytes() and run.lam[-1].tobytes() == plain.lam[-1].tobytes()
        assert np.isfinite(run.error[1:]).all() and run.stats.steps == 20 and run.stats.rejected == 0
    same = {name: value for name, value in NOT_BY_STEPS.items() if has_option(method, name)}
    chosen = lgint.integrate(model, method, t_end=0.005, first_step=0.005, rtol=1e3 * rtol, **same)
    assert chosen.stats.steps == 1
    once = lgint.integrate(model, method, t_end=0.005, h=0.005, rtol=1e3 * rtol, control="none", **same)
    assert once.error[-1] == chosen.error[-1] > 0


@pytest.mark.parametrize("method", PAIRS)
def test_the_recorded_error_falls_with_the_order(method):
    """The error of a step is O(h^k), k one above the order of the embedded solution."""
    model, sizes = slow_top("SE3"), np.array([4e-3, 2e-3, 1e-3]) * (10 if ORDER[method] == 8 else 1)
    errors = [lgint.integrate(model, method, t_end=h, h=h, atol=1.0, control="none").error[-1] for h in sizes]
    assert np.polyfit(np.log(sizes), np.log(errors), 1)[0] == pytest.approx(ERROR_ORDER[method], abs=0.15)


def test_fixed_steps_have_no_options_of_a_law():
    model = slow_top("R3xSO3")
    with pytest.raises(ValueError, match="h: a step size is required"):
        lgint.integrate(model, "dopri5", t_end=0.1, rtol=1e-6, control="none")
    with pytest.raises(ValueError, match="control: it belongs to error control; give rtol or atol to turn that on"):
        lgint.integrate(model, "dopri5", t_end=0.1, h=0.01, control="none")
    with pytest.raises(ValueError, match='max_step: with control="none" the steps do not adapt'):
        lgint.integrate(model, "dopri5", t_end=0.1, h=0.01, rtol=1e-6, control="none", max_step=0.1)


def history(law, **options):
    """Sizes and errors of the steps between the first and the last, of a run without rejected steps."""
    run = lgint.integrate(slow_top("R3xSO3"), "dopri5", t_end=0.5, rtol=1e-7, control=law, safety=0.6, **options)
    assert run.stats.rejected == 0
    return run.h[1:-3], run.error[1:-3]


def test_law_of_the_last_error():
    h, error = history("I")
    assert np.allclose(h[1:], h[:-1] * np.clip(0.6 * error[:-1] ** -0.2, 0.2, 5), rtol=1e-9)


def test_law_of_the_last_two_errors():
    h, error = history("PI")
    old = np.maximum(error[:-2], 1e-4)
    factor = 0.6 * error[1:-1] ** (-0.7 / 5) * old ** (0.4 / 5)
    assert np.allclose(h[2:], h[1:-1] * np.clip(factor, 0.2, 5), rtol=1e-9)


def test_law_of_the_paper():
    """holzinger2024 (B19), (B20) with the exponent 1/p."""
    most, increase = 0.007, 1.3
    h, error = history("paper", max_step=most, max_increase=increase)
    optimal = h[:-1] * error[:-1] ** (-1 / 5)
    assert np.allclose(h[1:], np.minimum(np.minimum(most, h[:-1] * increase), 0.6 * optimal), rtol=1e-9)
    assert np.isclose(h, most).any() and (h < 0.99 * most).any()


@pytest.mark.parametrize("law", LAWS)
def test_bounds_of_the_step(law):
    model = slow_top("R3xSO3")
    run = lgint.integrate(model, "dopri5", t_end=0.5, rtol=1e-4, control=law, max_step=4e-3, first_step=1e-5)
    assert run.h.max() <= 4e-3 * (1 + 1e-12) and run.h[1] == pytest.approx(1e-5)
    assert (run.h[2:] / run.h[1:-1]).max() < 5 * (1 + 1e-9)
    coarse = lgint.integrate(model, "dopri5", t_end=0.5, rtol=1e-2, control=law, h=1e-5)
    assert coarse.h[1] == pytest.approx(1e-5)


# ---- the first step ----


def test_a_body_at_rest_gets_going():
    b = lgint.ModelBuilder()
    b.add_body("b", mass=1.0, inertia=(1, 1, 1))
    b.add_force("b", force=lambda t: (0, 0, np.sin(t)))
    run = lgint.integrate(b.build(), "dopri5", t_end=3.0, rtol=1e-8)
    assert run.velocity("b")[-1, 2] == pytest.approx(1 - np.cos(3.0), abs=1e-7)
    assert run.stats.steps < 100


# ---- landings ----


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("method", PAIRS)
def test_landings_without_tiny_steps(method, law):
    model = slow_top("R3xSO3")
    rtol = 1e-9 if ORDER[method] == 8 else 1e-5  # many steps, with the same law
    free = lgint.integrate(model, method, t_end=1.0, rtol=rtol, control=law)
    least = free.h[3:].min()
    for n in range(1, 13):  # each end lies just after a step of the longer run, so that almost nothing is left
        t_end = free.t[n + 4] * (1 + 1e-9)
        run = lgint.integrate(model, method, t_end=t_end, rtol=rtol, control=law)
        assert run.t[-1] == t_end
        assert run.h[3:].min() > 0.45 * least
    stops = free.t[[5, 9]] * (1 + 1e-7)
    run = lgint.integrate(model, method, t_end=0.5, rtol=rtol, control=law, stops=stops)
    assert set(stops) <= set(run.t) and run.h[3:].min() > 0.45 * least


def test_a_requested_tiny_interval_leaves_no_trace():
    """Two stops are close to each other; the step after them is as large as the one before."""
    run = lgint.integrate(slow_top("R3xSO3"), "dopri5", t_end=0.5, rtol=1e-6, stops=[0.25, 0.25 + 1e-7])
    i = int(np.flatnonzero(run.t == 0.25 + 1e-7)[0])
    assert run.h[i] < 2e-7 and run.h[i + 1] > 0.4 * np.median(run.h[1:])


def ramp(kinks=True):
    """A body pushed by a table: piecewise linear, with corners from 0.25 to 0.65."""
    b = lgint.ModelBuilder()
    b.add_body("b", mass=1.0, inertia=(1.0, 2.0, 3.0), angular_velocity=(1.0, 2.0, 0.3))
    table = ([0.0, 0.25, 0.4, 0.6, 0.65], [[0, 0, 0], [4, 0, 0], [-3, 5, 0], [-3, 5, 9], [0, 0, 0]])
    push = table if kinks else lambda t: np.array([np.interp(t, table[0], x) for x in np.transpose(table[1])])
    b.add_force("b", torque=push, frame="body")
    return b.build()


@pytest.mark.parametrize("method", WINDOW)
def test_kinks_are_landed_on(method):
    run = lgint.integrate(ramp(), method, t_end=1.0, rtol=1e-8)
    assert {0.25, 0.4, 0.6, 0.65, 1.0} <= set(run.t)
    blind = lgint.integrate(ramp(kinks=False), method, t_end=1.0, rtol=1e-8)
    best = lgint.integrate(ramp(), "rk67", t_end=1.0, h=1e-3)
    assert np.abs(run.v[-1] - best.v[-1]).max() < (1e-6 if POWER[method] == 1 else 1e-8 ** POWER[method])
    assert run.stats.rejected < blind.stats.rejected  # the other run has to find the corners


@pytest.mark.parametrize(("method", "order"), [("rk33", 3), ("rk44", 4), ("dopri5", 5), ("genalpha", 2)])
def test_a_kink_does_not_spoil_the_order(method, order):
    exact = lgint.integrate(ramp(), "rk67", t_end=1.0, h=5e-4)
    errors, steps = [], [20, 40, 80] if order > 2 else [160, 320, 640]
    for n in steps:
        run = lgint.integrate(ramp(), method, t_end=1.0, h=1.03 / n)
        errors.append(np.abs(run.v[-1] - exact.v[-1]).max())
    assert observed_order(steps, errors) > order - 0.3


def test_a_stepper_splits_its_step_at_kinks():
    stepper = lgint.Stepper(ramp(), "rk44")
    run = lgint.integrate(ramp(), "rk44", t_end=1.0, h=1.0)
    stepper.step(1.0)
    assert stepper.t == 1.0
    assert np.array_equal(stepper.q, run.q[-1]) and np.array_equal(stepper.v, run.v[-1])
    with pytest.raises(ValueError, match="rtol: a Stepper takes the steps it is given"):
        lgint.Stepper(ramp(), "dopri5", rtol=1e-6)


def test_equal_steps_of_a_stepper_do_not_drift():
    stepper = lgint.Stepper(oscillator(), "rk44", t0=0.7)
    for h, origin in ((1e-3, 0.7), (0.1, 0.7 + 1000 * 1e-3)):
        for n in range(1, 1001):
            stepper.step(h)
            assert stepper.t == origin + n * h


def test_a_stepper_that_fails_behind_a_kink_stays_where_it_was():
    def force(t, q, v):
        if t > 0.6:
            raise ArithmeticError
        return -q

    stepper = lgint.Stepper(oscillator(force, kinks=[0.5]), "rk44")
    stepper.step(0.1)
    q = stepper.q
    with pytest.raises(ArithmeticError):
        stepper.step(0.9)
    assert stepper.t == 0.1 and np.array_equal(stepper.q, q)


# ---- rejected steps ----


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("method", WINDOW)
def test_rejected_steps_are_counted(method, law):
    run = lgint.integrate(oscillator(pulse), method, t_end=1.0, rtol=1e-6, control=law, max_step=0.01)
    assert run.stats.rejected > 2 and run.stats.failed == 0
    again = lgint.integrate(oscillator(pulse, kinks=[0.5, 0.52]), "rk67", t_end=1.0, h=1e-3)
    assert np.abs(run.q[-1] - again.q[-1]).max() < 1e-3
    if law != "paper":  # the step after a rejected one does not grow
        small = np.flatnonzero(run.h[2:] < 0.25 * run.h[1:-1]) + 2
        assert small.size and (run.h[small + 1] <= run.h[small] * (1 + 1e-9)).all()


def test_a_step_that_cannot_be_carried_out_is_tried_smaller():
    """The mass is singular beyond a position that only steps which are too long reach."""

    def mass(t, q):
        return np.eye(2) * (abs(q[0]) < 1.05)

    model = lgint.CallableModel("Rn", [0.0, 0.0], [1.0, 0.0], mass=mass, force=lambda t, q, v: -q)
    run = lgint.integrate(model, "dopri5", t_end=3.0, rtol=1e-6, h=8.0)
    assert run.stats.failed > 0 and run.stats.rejected >= run.stats.failed
    assert run.q[-1, 0] == pytest.approx(np.sin(3.0), abs=1e-4)


def test_the_least_step_ends_the_run():
    with pytest.raises(lgint.StepSizeError, match="times the tolerance") as caught:
        lgint.integrate(oscillator(pulse), "ode23", t_end=1.0, rtol=1e-9, min_step=1e-2)
    error = caught.value
    assert error.report["status"] == "STEP_SIZE" and error.report["h"] >= 1e-2 * (1 - 1e-9)
    assert 0 <= error.trajectory.t[-1] < 1 and error.trajectory.status == -1

    model = lgint.CallableModel("Rn", [1.0], [0.0], mass=lambda t, q: [[float(t < 0.7)]], force=lambda t, q, v: -q)
    with pytest.raises(lgint.SingularError, match="singular: velocity 0") as caught:
        lgint.integrate(model, "dopri5", t_end=1.0, rtol=1e-6)
    assert caught.value.trajectory.t[-1] == pytest.approx(0.7, abs=1e-12)
    assert caught.value.trajectory.stats.failed > 3


# ---- jumps, round-off of the time ----


def pushed(t_jump):
    """A body at rest that is pushed from a given time on, which is not declared as a kink."""
    b = lgint.ModelBuilder()
    b.add_body("b", mass=1.0, inertia=(1, 1, 1))
    b.add_force("b", force=lambda t: (0.0, 0.0, 50.0 * (t > t_jump)))
    return b.build()


@pytest.mark.parametrize("t0", [0.0, 17.0, 1e3, 1e6])
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("method", WINDOW)
def test_steps_grow_again_behind_a_jump(method, law, t0):
    """However small the step at the jump was: by factors of 5, 1e-12 is back at 1 after 17 steps, by two after 40."""
    rng = np.random.default_rng(3)
    for rtol in (1e-6, 1e-9, 1e-10, 1e-12):
        if 50 * np.spacing(t0) > rtol:  # times cannot resolve the beginning of the push
            continue
        jump = t0 + rng.uniform(1, 9)
        run = lgint.integrate(pushed(jump), method, t0=t0, t_end=t0 + 10, rtol=rtol, control=law)
        most = 150 * np.log(5) / np.log(run.options["max_increase"])
        assert run.stats.steps < most and run.stats.rejected < 150
        exact = 50 * (t0 + 10 - jump)
        assert run.velocity("b")[-1, 2] == pytest.approx(exact, rel=1e2 * rtol ** POWER[method], abs=1e-13 * t0)


@pytest.mark.parametrize("t0", [0.0, -3.0, 1e6, 1e12])
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("method", PAIRS)
def test_a_tolerance_below_round_off_ends_the_run(method, law, t0):
    for model in (lgint.models.heavy_top(), lgint.models.heavy_top(omega0=(0, 0, 0)), oscillator()):
        with pytest.raises(lgint.StepSizeError, match="times the tolerance|last 1000 steps") as caught:
            lgint.integrate(model, method, t0=t0, t_end=t0 + 1, atol=1e-300, control=law)
        assert caught.value.trajectory.stats.steps <= 1000
        assert (np.diff(caught.value.trajectory.t) > 0).all()


@pytest.mark.parametrize("method", PAIRS)
def test_every_step_advances_the_time(method):
    """At 1e12 s the spacing of times is 1.2e-4 s: a shorter step is lengthened to that, or the run ends."""
    spacing = np.spacing(1e12)
    model = lgint.models.heavy_top()
    run = lgint.integrate(model, method, t0=1e12, t_end=1e12 + 0.01, rtol=1e-3, h=spacing / 100)
    assert np.diff(run.t).min() >= spacing and run.t[-1] == 1e12 + 0.01
    late = 1e14 if ORDER[method] == 8 else 1e12  # order eight is exact to round-off with steps of 1.2e-4 s
    with pytest.raises(lgint.StepSizeError):
        lgint.integrate(model, method, t0=late, t_end=late + 1, rtol=1e-14)


def test_a_rejected_step_becomes_smaller_whatever_the_resolution_of_the_time():
    """At 1e12 s a step of two spacings is followed by one of a single spacing; 1.8 would be rounded to two again."""
    run = lgint.integrate(lgint.models.heavy_top(), "herk5", t0=1e12, t_end=1e12 + 0.2, rtol=9e-13)
    assert run.stats.rejected > 0 and np.diff(run.t)[0] == np.spacing(1e12)


@pytest.mark.parametrize("method", ["rk44", "genalpha"])
def test_a_fixed_step_below_the_round_off_of_the_time(method):
    model = lgint.models.heavy_top()
    with pytest.raises(lgint.StepSizeError, match="h = 1e-05 is below the round-off of t = 1000000000000"):
        lgint.integrate(model, method, t0=1e12, t_end=1e12 + 1, h=1e-5)
    stepper = lgint.Stepper(model, method, t0=1e12)
    with pytest.raises(lgint.StepSizeError, match="below the round-off of t"):
        stepper.step(1e-5)
    assert stepper.t == 1e12


@pytest.mark.parametrize(("method", "options"), [("dopri5", {"rtol": 1e-6}), ("rk44", {"h": 0.01})])
def test_stops_an_ulp_apart_are_one(method, options):
    model = slow_top("R3xSO3")
    plain = lgint.integrate(model, method, t_end=0.5, stops=[0.25], **options)
    for stops in ([np.nextafter(0.25, 0), 0.25], [np.nextafter(0.0, 1), 0.25], [0.25, np.nextafter(0.5, 0)]):
        run = lgint.integrate(model, method, t_end=0.5, stops=stops, **options)
        assert run.q.tobytes() == plain.q.tobytes() and run.t[-1] == 0.5


def test_a_time_one_ulp_behind_the_end_is_the_end():
    times = np.arange(4) * 0.1
    assert times[-1] > 0.3
    model = slow_top("R3xSO3")
    plain = lgint.integrate(model, "rk44", t_end=0.3, h=0.01, stops=[0.1, 0.2])
    run = lgint.integrate(model, "rk44", t_end=0.3, h=0.01, t_eval=times)
    assert run.t[-1] == 0.3 and len(run.t) == 4 and np.array_equal(run.q[-1], plain.q[-1])
    stopped = lgint.integrate(model, "rk44", t_end=0.3, h=0.01, stops=times[1:])
    assert stopped.t[-1] == 0.3 and np.array_equal(stopped.q[-1], plain.q[-1])
    for late in ({"t_eval": [0.1, 0.3 + 1e-14]}, {"stops": [0.3 + 1e-14]}):
        with pytest.raises(ValueError, match="from 0 to 0.3, given 0.30000000000001 at index"):
            lgint.integrate(model, "rk44", t_end=0.3, h=0.01, **late)


# ---- resumed, interrupted and failed runs ----


def interrupted_at(model, calls, limit, error, **arguments):
    """The trajectory up to the failure of a run whose force raises at its `limit`-th call."""
    calls[0], calls[1] = 0, limit
    with pytest.raises(error) as caught:
        lgint.integrate(model, **arguments)
    calls[1] = np.inf
    return caught.value.trajectory


@pytest.mark.parametrize("law", [*LAWS, None])
@pytest.mark.parametrize("method", PAIRS)
def test_a_resumed_run_gives_the_same_bits_at_any_step(method, law):
    calls = [0, np.inf]

    def force(t, q, v):
        calls[0] += 1
        if calls[0] >= calls[1]:
            raise KeyboardInterrupt
        return pulse(t, q, v)

    model = oscillator(force)
    options = {"rtol": 1e-4, "control": law} if law else {"h": 0.02}
    arguments = {"method": method, "t_end": 1.0, "stops": [0.31], **options}
    whole = lgint.integrate(model, **arguments)
    count = calls[0]
    for limit in range(3, count, max(1, count // 40)):
        first = interrupted_at(model, calls, limit, lgint.Interrupted, **arguments)
        stops = [0.31] if first.t[-1] < 0.31 else None
        second = lgint.integrate(model, **{**arguments, "stops": stops}, start=first)
        for name in ("t", "q", "v", "vdot", "h", "error"):
            a, b = getattr(first, name), getattr(second, name)
            assert np.concatenate([a, b[1:]]).tobytes() == getattr(whole, name).tobytes()


def body_under_a_law(force):
    """A body of unit mass in Euler parameters with a force that depends on its position and velocity."""
    builder = lgint.ModelBuilder(formulation="euler_parameters")
    builder.add_body("body", mass=1.0, inertia=(1, 2, 1.5), position=(1, 0, 0), angular_velocity=(1, 2, 3))
    builder.add_force_law(lambda t, x, R, xdot, omega: np.append(force(t, x, xdot), np.zeros(3)), bodies="body")
    return builder.build()


@pytest.mark.parametrize("method", BODIES)
def test_a_failing_function_leaves_a_trajectory(method, tmp_path):
    calls = [0, np.inf]

    def force(t, q, v):
        calls[0] += 1
        if calls[0] >= calls[1]:
            raise ArithmeticError("enough")
        return -q

    model = body_under_a_law(force) if method in MOMENTUM else oscillator(force)
    so_far = interrupted_at(model, calls, 200, ArithmeticError, method=method, t_end=3.0, h=0.01)
    assert 0 < so_far.t[-1] < 3 and so_far.status == -1
    so_far.save(tmp_path / "run.npz")
    loaded = lgint.load(tmp_path / "run.npz")
    assert np.array_equal(loaded.q, so_far.q) and loaded.status == -1
    rest = lgint.integrate(model, method, t_end=3.0, h=0.01, start=so_far)
    whole = lgint.integrate(model, method, t_end=3.0, h=0.01)
    assert rest.q[-1].tobytes() == whole.q[-1].tobytes()
    assert method not in MOMENTUM or rest.extra["p"][-1].tobytes() == whole.extra["p"][-1].tobytes()
