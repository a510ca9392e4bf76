"""The verb `pair` of compiled models, for every row of elements: a step between two states in Euler parameters."""

import numpy as np
import pytest

from elements.rows import ON_BODIES, random_point, rigid
from elements.test_elements import difference

MIDPOINT = 1
KINDS = [("euler_parameters", "euler_parameters"), ("euler_parameters_fixed", "euler_parameters")]
TERMS = ("force", "Gtlam", "phi", "G", "B")


@pytest.fixture(params=KINDS, ids=lambda k: "+".join(k))
def kinds(request):
    return request.param


def random_step(model, bare, seed, length=0.1):
    """q0, q1 and lam, both ends with unit quaternions, and the size of the step."""
    q0, v, _, lam = random_point(model, bare, seed)
    q1, _ = bare.project(0.0, q0 + length * v, v)
    return q0, q1, lam, 0.3


@pytest.mark.parametrize("element", ON_BODIES, ids=str)
def test_the_midpoint_rule_is_an_evaluation_at_the_middle(element, kinds):
    model = rigid(kinds, element)
    q0, q1, lam, h = random_step(model, rigid(kinds), 1)
    got = model.evaluate_pair(0.2, h, q0, q1, lam=lam, rule=MIDPOINT, want=TERMS)
    middle = model.evaluate(0.2 + h / 2, (q0 + q1) / 2, (q1 - q0) / h, lam=lam, want=("force", "Btlam", "B"))
    end = model.evaluate(0.2 + h, q1, q1, want=("phi", "B"), t_in=0.2 + h / 2)
    assert all(np.array_equal(got[key], middle[of]) for key, of in [("force", "force"), ("Gtlam", "Btlam"), ("G", "B")])
    assert all(np.array_equal(got[key], end[key]) for key in ("phi", "B"))
    assert np.allclose(got["Gtlam"], got["G"].T @ lam, rtol=1e-12, atol=1e-12)


def check_tangent(model, step, rule, **form):
    """S is the derivative of Gtlam - force by q1."""
    q0, q1, lam, h = step

    def residual(q):
        got = model.evaluate_pair(0.2, h, q0, q, lam=lam, rule=rule, want=("force", "Gtlam"), **form)
        return got["Gtlam"] - got["force"]

    S = model.evaluate_pair(0.2, h, q0, q1, lam=lam, rule=rule, want=("S",), **form)["S"]
    for seed in range(2):
        du = np.random.default_rng(seed).normal(size=model.nv)
        expected = difference(lambda s, du=du: residual(q1 + s * du))
        assert np.abs(S @ du - expected).max() < 2e-8 * (np.abs(expected).max() + 1)


@pytest.mark.parametrize("element", ON_BODIES, ids=str)
def test_tangent_of_the_midpoint_rule(element, kinds):
    model = rigid(kinds, element)
    check_tangent(model, random_step(model, rigid(kinds), 2), MIDPOINT)
