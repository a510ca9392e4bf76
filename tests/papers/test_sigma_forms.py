"""Why the sigma algorithms of holzinger2025 differ from their equations: an independent calculation in NumPy.

A free body with unit inertia under a constant body-fixed torque has exact velocities, and the error of its rotation is
that of the Lie group alone. One step then is one line: R exp(theta), with what Algorithm 1 makes of theta.
"""

import numpy as np
import pytest

import lgint
from lgint.groups import so3

OMEGA, TORQUE, RHO = np.array([1.0, 2.0, -0.5]), np.array([0.3, -0.5, 0.8]), 0.9
ALPHA_M, ALPHA_F = (2 * RHO - 1) / (RHO + 1), RHO / (RHO + 1)
GAMMA = 0.5 + ALPHA_F - ALPHA_M
BETA = (GAMMA + 0.5) ** 2 / 4


def line_6(v, theta, h, factor):
    return theta - factor * h * BETA / GAMMA * np.cross(v, theta)


def algorithm_1(v, h, factor):
    """Line 6 at zero accelerations, then the correction that makes the acceleration that of the torque."""
    bar = (ALPHA_F - ALPHA_M) / (1 - ALPHA_M) * TORQUE
    first_v = v + h * ((1 - GAMMA) * TORQUE + GAMMA * bar)
    first = h * v + h**2 * ((0.5 - BETA) * TORQUE + BETA * bar)
    correction = (1 - ALPHA_F) / (1 - ALPHA_M) * h**2 * BETA * TORQUE
    return so3.exp(line_6(first_v, first, h, factor)) @ so3.exp(correction)


def at_the_solution(v, h, factor):
    """Line 6 at the accelerations of the solution, which leaves nothing to correct."""
    return so3.exp(line_6(v + h * TORQUE, h * v + h**2 / 2 * TORQUE, h, factor))


def rotation(step, h, factor):
    R = np.eye(3)
    for n in range(round(1 / h)):
        R = R @ step(OMEGA + n * h * TORQUE, h, factor)
    return R


H = 0.1 / 32
BODY = lgint.models.lie_term(formulation="R3xSO3", omega0=OMEGA, torque=TORQUE)
EXACT = lgint.integrate(BODY, "rk67", t_end=1.0, h=1e-3).rotation("body")[-1]


def error(R):
    return np.max(np.abs(R - EXACT))


GEOM1 = error(rotation(at_the_solution, H, 0.0))


@pytest.mark.parametrize("form, factor", [("printed", 1.0), ("printed_half", 0.5)])
def test_algorithm_1(form, factor):
    run = lgint.integrate(BODY, "genalpha", t_end=1.0, h=H, rho_inf=RHO, sigma=1.0, form=form)
    here, there = error(run.rotation("body")[-1]), error(rotation(algorithm_1, H, factor))
    assert here == pytest.approx(there, rel=1e-6)
    assert there > 2 * abs(1 - 3 * BETA / GAMMA) * GEOM1


@pytest.mark.parametrize("sigma", [1.0, GAMMA / (3 * BETA)])
def test_line_6_at_the_solution_gives_what_equation_40_says(sigma):
    ratio = error(rotation(at_the_solution, H, 0.5 * sigma)) / GEOM1
    assert ratio == pytest.approx(abs(1 - 3 * sigma * BETA / GAMMA), abs=1e-4)
