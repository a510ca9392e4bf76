"""The largest stable step of explicit methods on rods, tested by runs just below and above it and by closed forms."""

import numpy as np
import pytest

import lgint

DS = 0.05
SECTION = lgint.section("circle", E=1e7, G=4e6, rho=1000, radius=1e-2)


def limit(method, constraints, relaxation=0.0):
    return lgint.rod_step_limit(
        DS,
        SECTION.stiffness,
        SECTION.inertia,
        method=method,
        constraints=constraints,
        damping=relaxation * SECTION.stiffness,
    )


def growth(method, constraints, factor, relaxation=0.0):
    """Energy of a free rod with small random velocities after 1500 steps over that at the start; inf if it fails."""
    builder = lgint.ModelBuilder()
    shape = {"start": (0, 0, 0), "end": (12 * DS, 0, 0), "edges": 12, "constraints": constraints}
    builder.add_rod(
        "rod", **shape, stiffness=SECTION.stiffness, inertia=SECTION.inertia, damping=relaxation * SECTION.stiffness
    )
    model = builder.build()
    model = model.with_state(v=1e-6 * np.random.default_rng(0).standard_normal(model.nv), project=True)
    h = factor * limit(method, constraints, relaxation)
    try:
        energy = lgint.integrate(model, method, t_end=1500 * h, h=h, save_every=1500).energy()
    except lgint.IntegrationError:
        return np.inf
    return energy[-1] / energy[0]


@pytest.mark.parametrize("constraints", ["kirchhoff", "inextensible", None])
@pytest.mark.parametrize(
    ("method", "relaxation"), [("rk44", 0.0), ("herk3", 1e-5), ("herk4", 0.0), ("herk5", 1e-5), ("herk5", 1e-4)]
)
def test_runs_are_stable_below_the_limit_and_unstable_above(method, relaxation, constraints):
    assert growth(method, constraints, 0.97, relaxation) < 1
    assert growth(method, constraints, 1.04, relaxation) > 1e3


def test_the_limit_of_an_inextensible_rod_in_closed_form():
    """Neighbouring sections rotate against each other with the frequency 2 c / ds, c^2 = E / rho."""
    assert limit("rk44", "inextensible") == pytest.approx(np.sqrt(8) * DS / (2 * np.sqrt(1e7 / 1000)), rel=1e-4)
    assert limit("rk44", "kirchhoff") == pytest.approx(limit("rk44", "inextensible"), rel=1e-6)
    assert limit("euler", None) < 1e-3 * limit("rk44", None)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"method": "genalpha"}, "unknown method 'genalpha'"),
        ({"constraints": "shear"}, "unknown constraints 'shear'"),
        ({"inertia": (1, 1, 0, 1)}, "inertia: four positive numbers"),
        ({"ds": 0}, "ds: a positive number"),
        ({"stiffness": (1, 2)}, "stiffness"),
    ],
)
def test_refusals(given, message):
    with pytest.raises(ValueError, match=message):
        lgint.rod_step_limit(**{"ds": DS, "stiffness": SECTION.stiffness, "inertia": SECTION.inertia} | given)


@pytest.mark.parametrize("turning", [0.5, 0.1])
def test_shear_waves_in_closed_form(turning):
    """Without bending stiffness: omega^2 = GA (4 sin^2(phi/2)/(rhoA ds^2) + cos^2(phi/2)/rhoJ), largest at an end."""
    shear, mass, ds = 7.0, 2.0, 1.5
    stiffness, inertia = (shear, shear, 1e-9, 1e-9, 1e-9, 1e-9), (mass, turning, turning, 2 * turning)
    fastest = np.sqrt(shear * max(4 / (mass * ds**2), 1 / turning))
    found = lgint.rod_step_limit(ds, stiffness, inertia, method="rk44", constraints=None)
    assert found == pytest.approx(2 * np.sqrt(2) / fastest, rel=1e-3)
