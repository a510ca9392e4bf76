"""Orders of energy-momentum methods on bodies in Euler parameters, in both forms, against fine runs of rk67."""

import functools

import numpy as np
import pytest

import lgint
from battery import observed_order
from kinds import MOMENTUM
from methods.test_conserve_bodies import KINDS, chain

EULER = {"formulation": "euler_parameters"}
CASES = {  # model, end, steps of the coarsest run
    "heavy_top": (functools.partial(lgint.models.heavy_top, **EULER), 0.05, 50),
    "slider_crank": (functools.partial(lgint.models.slider_crank, **EULER), 0.04, 20),
    "four_bar": (functools.partial(lgint.models.four_bar, load="mild"), 1.0, 20),
    **{f"chain, {kind}": (functools.partial(chain, kind, 5.0), 0.25, 40) for kind in KINDS},
    "chain, revolute": (functools.partial(chain, "revolute", 5.0), 0.06, 20),  # at 0.084 a hinge turns round
}


@functools.cache
def exact(name):
    """The model, and its q, v and p = M v at the end from steps so short that only round-off remains."""
    make, t_end, _ = CASES[name]
    model = make()
    run = lgint.integrate(model, "rk67", t_end=t_end, h=t_end / 1000, save_every=1000)
    p = model.core.evaluate(t_end, run.q[-1], run.v[-1], run.v[-1], want=("Ma",))["Ma"]
    return model, (run.q[-1], run.v[-1], p)


@pytest.mark.parametrize("equivariant", [False, True], ids=["printed", "equivariant"])
@pytest.mark.parametrize("method", MOMENTUM)
@pytest.mark.parametrize("name", CASES)
def test_order_two_in_q_v_and_p(name, method, equivariant):
    model, ends = exact(name)
    _, t_end, coarsest = CASES[name]
    errors = []
    for n in coarsest * 2 ** np.arange(4):
        run = lgint.integrate(model, method, t_end=t_end, h=t_end / n, save_every=n, equivariant=equivariant)
        found = (run.q[-1], run.v[-1], run.extra["p"][-1])
        errors.append([np.abs(a - b).max() for a, b in zip(found, ends, strict=True)])
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert np.abs(orders - 2).max() < 0.15, f"{errors}: {orders}"
    assert errors[-1][0] < 1e-4


@pytest.mark.parametrize("method", ["reml", "emh"])
@pytest.mark.parametrize("kind", KINDS)
def test_order_two_from_rest_against_each_other(kind, method):
    """A few steps take midpoint gradients or have large corrections: error/h^2 is bounded but not smooth in h."""
    model, steps, errors = chain(kind, 0.0), 20 * 4 ** np.arange(4), []
    best = lgint.integrate(model, "rk67", t_end=0.5, h=1e-3, save_every=500)
    for n in steps:
        run = lgint.integrate(model, method, t_end=0.5, h=0.5 / n, save_every=n, equivariant=True)
        errors.append(np.abs(run.q[-1] - best.q[-1]).max())
    constants = np.array(errors) * steps**2
    assert constants.max() < 2.5 * constants.min() and abs(observed_order(steps, errors) - 2) < 0.15, constants
