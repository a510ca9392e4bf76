"""Values of first-order equations, blocks that have velocities and no coordinates: z' = f(z) by every method."""

import numpy as np
import pytest
from scipy.linalg import expm

import lgint
from methods.battery import observed_order

A, START = np.array([[-1.0, 2.0], [-3.0, -0.5]]), np.array([1.0, 0.5])
EXACT = expm(A) @ START
METHODS = [method for method in lgint.methods() if not lgint.method_info(method)["momentum"]]


def linear():
    """z' = A z, on two velocities without coordinates."""
    return lgint.CallableModel(
        space=[("first_order", 2)], q0=[], v0=START, mass=lambda t, q: np.eye(2), force=lambda t, q, v: A @ v
    )


def with_integral(target=0.2):
    """A mass on a spring, which a PI controller moves to a target."""

    def force(t, q, v):
        error = q[0] - target
        return np.array([3.0 - 10 * q[0] - 0.5 * v[0] - 4 * v[1] - 2 * error, error])

    return lgint.CallableModel(
        space=[("Rn", 1), ("first_order", 1)],
        q0=[0.0],
        v0=[0.0, 0.0],
        mass=lambda t, q: np.diag([2.0, 1.0]),
        force=force,
    )


@pytest.mark.parametrize("method", METHODS)
def test_a_method_has_its_order(method):
    model, order = linear(), lgint.method_info(method)["order"]
    steps = [{5: 24, 6: 6, 8: 2}.get(order, 40) * 2**i for i in range(4)]
    fine = {"newton_rtol": 1e-14} if method == "radau5" else {}
    errors = [np.abs(lgint.integrate(model, method, t_end=1.0, h=1 / n, **fine).v[-1] - EXACT).max() for n in steps]
    observed = observed_order(steps, errors)
    assert observed == pytest.approx(order, abs=0.15) or (order == 6 and observed == pytest.approx(6.6, abs=0.3))


@pytest.mark.parametrize("method", ["ode23", "dopri5", "herk5"])
def test_tolerances_hold_for_velocities_alone(method):
    model = linear()
    errors, counts = [], []
    for rtol in (1e-5, 1e-7, 1e-9):
        run = lgint.integrate(model, method, t_end=1.0, rtol=rtol)
        errors.append(np.abs(run.v[-1] - EXACT).max())
        counts.append(len(run))
    assert all(error < 20 * rtol for error, rtol in zip(errors, (1e-5, 1e-7, 1e-9), strict=True))
    assert counts[0] < counts[1] < counts[2]


@pytest.mark.parametrize("method", ["rk44", "genalpha"])
def test_dense_output_is_of_order_four_between_the_ends(method):
    errors = []
    for n in (10, 20, 40):
        times = (np.arange(n) + 0.37) / n
        run = lgint.integrate(linear(), method, t_end=1.0, h=1 / n, dense_output=True)
        nodes = np.array([expm(A * t) @ START for t in run.t])
        found, exact = run.at(times).v, np.array([expm(A * t) @ START for t in times])
        errors.append(np.abs(found - exact).max() if method == "rk44" else np.abs(run.v - nodes).max())
    expected = 4 if method == "rk44" else 2
    assert np.log2(errors[1] / errors[2]) == pytest.approx(expected, abs=0.3)


@pytest.mark.parametrize("method", METHODS)
def test_a_run_resumes_bit_for_bit(method):
    model = with_integral()
    whole = lgint.integrate(model, method, t_end=1.0, h=0.01)
    half = lgint.integrate(model, method, t_end=0.5, h=0.01)
    assert np.array_equal(lgint.integrate(model, method, t_end=1.0, h=0.01, start=half).v[-1], whole.v[-1])


def test_the_rates_vanish_in_equilibrium():
    found = lgint.equilibrium(with_integral())
    assert np.allclose(found.q, 0.2, rtol=1e-12) and np.allclose(found.v, [0, 0.25], rtol=0, atol=1e-12)
    start = with_integral(-0.3).with_state([0.4], [0.0, -2.0])
    assert np.allclose(lgint.equilibrium(start).v[-1], [0, (3 + 3) / 4], rtol=0, atol=1e-12)


def test_the_checks_pass():
    report = lgint.check(with_integral())
    assert report.ok, report


@pytest.mark.parametrize("space", [["first_order"], [("first_order", 0)], [("first_order", 2)]])
def test_spaces_that_do_not_fit_are_refused(space):
    with pytest.raises(ValueError, match="space|q0"):
        lgint.CallableModel(space=space, q0=[1.0], v0=[0.0], mass=lambda t, q: np.eye(1), force=lambda t, q, v: 0 * v)


@pytest.mark.parametrize("method", ["eml", "mph"])
def test_methods_with_momenta_refuse_them(method):
    with pytest.raises(ValueError, match=method):
        lgint.integrate(linear(), method, t_end=1.0, h=0.1)
