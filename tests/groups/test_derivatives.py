"""Derivatives of T^-1(theta) v and T^-T(theta) s on SE(3) against their power series in extended precision."""

import mpmath as mp
import numpy as np
import pytest

from lgint import _core, groups

TERMS = 90  # the series converges as (|Omega| / 2 pi)^n
# T^-1 = sum_n B_n ad^n / n! with B_1 = 1/2
SERIES = np.array([mp.nstr((-1) ** n * mp.bernoulli(n) / mp.factorial(n), 25) for n in range(TERMS)], np.longdouble)
AD = groups.se3.ad(np.eye(6)).astype(np.longdouble)  # ad(theta) = sum_j theta_j AD[j]
OPERATORS = {"tangent": AD, "transposed": AD.transpose(0, 2, 1)}
# from no rotation to almost a half turn, including the switch from series to closed forms
ANGLES = [0.0, 1e-150, 1e-9, 1e-3, 0.1, 1.0, 2.0, 2.9, 3.1, 3.1622, 3.1623]

each_operator = pytest.mark.parametrize("name", OPERATORS)


def by_series(basis, theta, v):
    """Derivative of sum_n SERIES[n] A^n v with A = sum_j theta_j basis[j]."""
    A = np.einsum("jab,j->ab", basis, theta)
    power, derivative = v, np.zeros((6, 6), np.longdouble)
    total = np.zeros((6, 6), np.longdouble)
    for coefficient in SERIES:
        total += coefficient * derivative
        derivative = A @ derivative + np.einsum("jab,b->aj", basis, power)
        power = A @ power
    return total


def blocks(D):
    return D.reshape(2, 3, 2, 3).swapaxes(1, 2).reshape(4, 3, 3)


def random_theta(rng, angle):
    theta = rng.normal(size=6)
    theta[3:] *= angle / np.linalg.norm(theta[3:])
    return theta


@each_operator
@pytest.mark.parametrize("angle", ANGLES)
def test_against_the_series(name, angle):
    rng = np.random.default_rng(0)
    for scale in (1.0, 1e-6, 1e6):  # size of the translation
        theta, v = random_theta(rng, angle), rng.normal(size=6)
        theta[:3] *= scale
        exact = by_series(OPERATORS[name], theta.astype(np.longdouble), v.astype(np.longdouble))
        computed = getattr(_core, f"se3_{name}_solve_d")(theta, v)
        for ours, theirs in zip(blocks(computed), blocks(exact), strict=True):
            assert abs(ours - theirs).max() <= 1e-13 * abs(theirs).max()


@each_operator
def test_at_zero(name):
    """T^-1 v = v + ad(theta) v / 2 + ..."""
    v = np.arange(1.0, 7.0)
    computed = getattr(_core, f"se3_{name}_solve_d")(np.zeros(6), v)
    np.testing.assert_allclose(computed, 0.5 * np.einsum("jab,b->aj", OPERATORS[name].astype(float), v), atol=1e-15)


@each_operator
def test_against_differences(name):
    """The derivative is that of the operator in `lgint.groups`."""
    rng = np.random.default_rng(1)
    theta, v, h = random_theta(rng, 2.5), rng.normal(size=6), 1e-5

    def product(theta):
        Tinv = groups.se3.tangent_inv(theta)
        return (Tinv if name == "tangent" else Tinv.T) @ v

    differences = [(product(theta + h * e) - product(theta - h * e)) / (2 * h) for e in np.eye(6)]
    computed = getattr(_core, f"se3_{name}_solve_d")(theta, v)
    np.testing.assert_allclose(computed, np.transpose(differences), atol=1e-9)
