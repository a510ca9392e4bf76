"""Long models: implicit methods, with every index, on a chain and on a rod of 70 bodies; round-off of positions;
subnormal numbers; memory per link."""

import functools
import gc

import numpy as np
import pytest

import lgint
from allocated import allocated
from kinds import BODIES

N, H, STEPS = 70, 2e-4, 10
MODELS = {
    "chain": functools.partial(lgint.models.pendulum_chain, n=N),
    "rod": functools.partial(lgint.models.flying_spaghetti, edges=N),
}
ERRORS = {"chain": 1e-5, "rod": 1e-2}  # of methods of second order, in the distance moved: the rod is stiff


def options_of(method):
    return {option["name"] for option in lgint.method_info(method)["options"]}


CASES = [
    (method, {"index": index} if index else {})
    for method in BODIES
    if not lgint.method_info(method)["explicit"]
    for index in ((2, 3, "stabilized") if "index" in options_of(method) else (None,))
]


def moved(model, run):
    """By which displacement each body has moved in the run."""
    return np.array([run.position(body)[-1] - run.position(body)[0] for body in model.bodies])


@functools.cache
def by_explicit_method(name, formulation):
    model = MODELS[name](formulation=formulation)
    return model, moved(model, lgint.integrate(model, "herk5", t_end=STEPS * H, h=H))


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize(("method", "options"), CASES)
def test_long_models_move_as_by_an_explicit_method(method, options, name):
    """With a matrix that is formed in every iteration, and with one that is kept."""
    model, exact = by_explicit_method(name, BODIES[method])
    for newton in ("full", "modified") if "newton" in options_of(method) else (None,):
        chosen = {**options, "newton": newton} if newton else options
        found = moved(model, lgint.integrate(model, method, t_end=STEPS * H, h=H, **chosen))
        assert np.abs(found - exact).max() < ERRORS[name] * np.abs(exact).max()


@pytest.mark.parametrize("method", ["rk44", "herk5"])
def test_chains_at_rest_have_no_subnormal_numbers(method):
    """The fixed end moves each link less than the one before, which ends in zero before processors become slow."""
    run = lgint.integrate(lgint.models.pendulum_chain(n=700), method, t_end=3e-4, h=1e-4)
    for part in ("q", "v", "vdot", "lam"):
        sizes = np.abs(getattr(run, part)[-1])
        assert sizes[sizes > 0].min() > 1e-100, part
    assert np.allclose(run.velocity("link700")[-1, 1:], [0, -9.81 * 3e-4], rtol=1e-14, atol=0)


def test_multipliers_do_not_see_how_far_out_a_joint_is():
    """Round-off of positions of 300 m would be multiplied by beta' and by the mass of all links farther out.

    If joints saw it as gaps, multipliers of index 3 would oscillate by more than twice their size here.
    """
    n, length, speed = 3000, 0.1, 10.0
    v = np.zeros((n, 6))
    v[:, 1], v[:, 5] = speed * (np.arange(n) + 0.5) / n, speed / (n * length)
    model = lgint.models.pendulum_chain(n=n, length=length).with_state(v=v.ravel())
    runs = (lgint.integrate(model, method, t_end=2e-3, h=1e-4) for method in ("genalpha", "rk44"))
    found, expected = (run.lam[5:, 0] for run in runs)  # the axial force at the fixed end
    assert np.abs(found - expected).max() < 0.002 * np.abs(expected).max()


# ---- memory ----

LINKS = 4000
MODEL = 2800  # B per link
RUNS = [("genalpha", {"newton": "full"}, 5200), ("genalpha", {}, 5600), ("rk44", {}, 3800), ("herk5", {}, 4600)]


def used():
    gc.collect()
    return allocated()


@pytest.mark.measures
def test_memory_of_a_chain_per_link():
    """Of the core, which Python's objects for the record of a model come on top of."""
    lgint.Stepper(lgint.models.pendulum_chain(n=10), "genalpha")  # makes what is made once
    before = used()
    model = lgint.models.pendulum_chain(n=LINKS)
    assert 0.7 * MODEL < (used() - before) / LINKS < MODEL
    for method, options, most in RUNS:
        lgint.Stepper(model, method, **options)  # makes the plans, which the model keeps
        before = used()
        stepper = lgint.Stepper(model, method, **options)
        assert 0.7 * most < (used() - before) / LINKS < most
        del stepper
