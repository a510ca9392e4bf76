"""Steppers: which attributes can be changed, and copies."""

import copy

import numpy as np
import pytest

import lgint
from face import systems

CASES = {
    "genalpha": (lambda: systems.pendulum(omega=20.0), "genalpha", {}),
    "modified": (lgint.models.heavy_top, "genalpha", {"newton": "modified"}),
    "stabilized": (lgint.models.heavy_top, "genalpha", {"index": "stabilized", "rho_inf": 1.0}),
    "hht": (lambda: lgint.models.heavy_top(formulation="euler_parameters"), "hht", {"modified": True, "alpha": -0.3}),
    "eml": (lgint.models.four_bar, "eml", {}),
    "rk44": (lambda: systems.pendulum(omega=20.0), "rk44", {"project": "both"}),
    "herk3": (lgint.models.heavy_top, "herk3", {}),
    "a start without accelerations": (lgint.models.spring_pendulum, "null_eml", {}),
}
PARTS = ("t", "q", "v", "vdot", "lam")


def advance(stepper, steps, h=2e-3):
    for _ in range(steps):
        stepper.step(h)


def same(a, b):
    return all(np.array_equal(getattr(a, part), getattr(b, part), equal_nan=True) for part in PARTS)


@pytest.mark.parametrize("twin_of", [copy.copy, copy.deepcopy])
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("done", [0, 7])
def test_a_copy_goes_on_by_itself_with_the_same_bits(name, twin_of, done):
    make, method, options = CASES[name]
    first, undisturbed = (lgint.Stepper(make(), method, **options) for _ in range(2))
    advance(first, done)
    second = twin_of(first)
    assert same(first, second) and second.model is first.model and second.method == method
    before = [np.copy(getattr(first, part)) for part in PARTS]
    advance(second, 5)
    assert all(np.array_equal(getattr(first, part), x, equal_nan=True) for part, x in zip(PARTS, before, strict=True))
    advance(first, 5)
    advance(undisturbed, done + 5)
    assert same(first, second) and same(first, undisturbed)


def test_a_copy_of_a_resumed_stepper_has_its_options():
    run = lgint.integrate(lgint.models.heavy_top(), "genalpha", t_end=0.02, h=2e-3, rho_inf=0.5, sigma=0.0)
    first = lgint.Stepper(run.model, "genalpha", start=run)
    second = copy.copy(first)
    advance(first, 5)
    advance(second, 5)
    assert same(first, second)


@pytest.mark.parametrize("part", PARTS[1:])
def test_arrays_of_a_stepper_are_read_only(part):
    stepper = lgint.Stepper(lgint.models.heavy_top(), "rk44")
    with pytest.raises(ValueError, match="read-only"):
        getattr(stepper, part)[2] = 5.0
    with pytest.raises(ValueError, match="read-only"):
        getattr(stepper, part)[...] += 1.0


@pytest.mark.parametrize("name", ["model", "method", "t", *PARTS[1:], "h", "anything"])
def test_attributes_of_a_stepper_are_fixed(name):
    stepper = lgint.Stepper(lgint.models.heavy_top(), "rk44")
    with pytest.raises(AttributeError):
        setattr(stepper, name, lgint.models.heavy_top(mass=1.0))
