"""Two-sided bounds of the observed order of every method, from a reference that shares no code with the library."""

import numpy as np
import pytest

import lgint
from battery import T_END, halvings, observed_order, rotation_error, slow_top, start_of, top_by_scipy
from kinds import EXPLICIT_ONLY, FORMULATIONS, LIE

EXPLICIT = [name for name in lgint.methods() if lgint.method_info(name)["stepper"] == "rkmk"]
SIGMAS = (0.0, 1.0, "optimal")


def errors_of(model, method, steps, reference=None, **options):
    R, w, wdot, force = reference or top_by_scipy()
    rows = []
    for n in steps:
        run = lgint.integrate(model, method, t_end=T_END, h=T_END / n, **options)
        row = [rotation_error(run.rotation("top")[-1], R), np.linalg.norm(run.angular_velocity("top")[-1] - w)]
        if run.lam.shape[1] >= 3:
            row.append(np.linalg.norm(run.lam[-1, :3] - force))
        rows.append(row)
    return np.array(rows).T


def assert_order(name, expected, steps, errors):
    observed = observed_order(steps, errors)
    assert abs(observed - expected) < (0.15 if expected < 8 else 0.25), (
        f"{name}: order {observed:.3f}, expected {expected}, errors {errors}"
    )


@pytest.mark.parametrize("constrained", [False, True], ids=["free", "constrained"])
@pytest.mark.parametrize("formulation", (*FORMULATIONS, *EXPLICIT_ONLY))
@pytest.mark.parametrize("method", EXPLICIT)
def test_explicit(method, formulation, constrained):
    order = lgint.method_info(method)["order"]
    steps, omega0 = halvings(order, formulation), start_of(formulation, order)
    errors = errors_of(slow_top(formulation, constrained, omega0=omega0), method, steps, top_by_scipy(omega0))
    for name, e in zip(("q", "v", "lam"), errors, strict=False):
        assert_order(f"{method} {formulation} {name}", order, steps, e)


@pytest.mark.parametrize("sigma", SIGMAS)
@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_generalized_alpha_index_3(formulation, sigma):
    if formulation not in LIE and sigma != 0.0:
        sigma = 0.0  # on linear node kinds sigma has no effect: test_sigma_is_lie
    steps = [200, 400, 800, 1600]
    errors = errors_of(slow_top(formulation), "genalpha", steps, rho_inf=0.8, sigma=sigma)
    for name, e in zip(("q", "v", "lam"), errors, strict=True):
        assert_order(f"genalpha sigma={sigma} {formulation} {name}", 2, steps, e)


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_generalized_alpha_unconstrained(formulation):
    steps = [200, 400, 800, 1600]
    errors = errors_of(slow_top(formulation, constrained=False), "genalpha", steps, rho_inf=0.8)
    for name, e in zip(("q", "v"), errors, strict=False):
        assert_order(f"genalpha {formulation} {name}", 2, steps, e)


def test_sigma_is_lie():
    """On linear node kinds T is the identity, and every sigma gives the classical method, bit for bit."""
    model = slow_top("euler_parameters")
    runs = [lgint.integrate(model, "genalpha", t_end=0.05, h=1e-3, sigma=s) for s in SIGMAS]
    assert np.array_equal(runs[0].q, runs[1].q) and np.array_equal(runs[0].q, runs[2].q)
