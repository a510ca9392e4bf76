"""Stiff and slender rods in motion, against beam theory and catenaries.

Time steps are far above the stable ones of explicit codes.
"""

import numpy as np
import pytest
from scipy.optimize import brentq

import lgint

STEEL = {"E": 210e9, "G": 81e9, "rho": 7850}


# ---- a slender steel beam ----


def beam():
    """The cantilever with its bending stiffness and its mass per length."""
    section = lgint.section("circle", **STEEL, radius=5e-3)
    b = lgint.ModelBuilder(gravity=(0, 0, -9.81))
    shape = {"stiffness": section.stiffness, "inertia": section.inertia}
    b.add_rod("beam", start=(0, 0, 0), end=(1, 0, 0), edges=50, clamped=(0,), **shape)
    return b.build(), section.stiffness[3], section.inertia[0]


def test_vibration_of_a_steel_beam():
    """The first frequency, and twice the static deflection under a sudden load, with steps of a millisecond."""
    model, EI, rhoA = beam()
    run = lgint.integrate(model, "genalpha", t_end=1.0, h=1e-3, newton="full")
    assert run.stats.steps == 1000 and run.stats.newton_iterations < 4000
    z = run.position("beam.node50")[:, 2]
    about = z + rhoA * 9.81 / (8 * EI)
    i = np.nonzero(np.diff(np.sign(about)))[0]
    crossings = run.t[i] - about[i] * 1e-3 / (about[i + 1] - about[i])
    frequency = (len(crossings) - 1) / (2 * (crossings[-1] - crossings[0]))
    assert frequency == pytest.approx(1.875104**2 / (2 * np.pi) * np.sqrt(EI / rhoA), rel=3e-3)
    assert z.min() == pytest.approx(-2 * rhoA * 9.81 / (8 * EI), rel=0.03)


# ---- a suture thread ----


def test_suture_thread():
    """One end moves 3 cm closer within half a second: the thread buckles, swings, and comes to rest."""
    section = lgint.section("circle", E=750e6, G=270e6, rho=1300, radius=2e-4, relaxation=2e-3)

    def hand(t):
        s = min(t / 0.5, 1.0)  # the motion goes from rest to rest with two continuous derivatives
        way = (s**3 * (10 - 15 * s + 6 * s**2), 30 * (s * (1 - s)) ** 2 / 0.5, 60 * s * (1 - s) * (1 - 2 * s) / 0.25)
        d = np.array([-0.03, 0.001, 0.0])
        return (0.1, 0, 0) + way[0] * d, way[1] * d, way[2] * d

    b = lgint.ModelBuilder(gravity=(0, 0, -9.81))
    shape = {"stiffness": section.stiffness, "inertia": section.inertia, "damping": section.damping}
    rod = b.add_rod("thread", start=(0, 0, 0), end=(0.1, 0, 0), edges=100, clamped={0: None, -1: hand}, **shape)
    run = lgint.integrate(b.build(), "genalpha", t_end=2.0, h=2e-3, rho_inf=0.6)
    middle = run.position("thread.node50")
    np.testing.assert_allclose(run.position(rod.nodes[-1])[-1], (0.07, 0.001, 0), atol=1e-12)
    np.testing.assert_allclose(middle[-1], (0.035, 0.0005, -0.0314), atol=2e-4)
    assert np.abs(run.velocity("thread.node50")[-1]).max() < 1e-3 < np.abs(run.velocity("thread.node50")).max()
    # it hardly stretches
    stretch = np.linalg.norm(run.strain(rod)[-1, :, :3], axis=1)
    length = stretch.mean() * 0.1
    assert length == pytest.approx(0.1, rel=2e-3)
    weight = section.inertia[0] * 0.1 * 9.81
    held = run.reaction(rod.nodes[0])[-1, 2] + run.reaction(rod.nodes[-1])[-1, 2]
    assert held == pytest.approx(weight * 0.99, rel=2e-3)  # half an edge belongs to each clamp


# ---- a cable between two moving supports ----


def catenary(span, length):
    """Parameter a of z = a cosh(x / a) for a cable of this length between two points."""
    return brentq(lambda a: 2 * a * np.sinh(span / (2 * a)) - length, 0.05 * length, 1e3 * length)


def test_cable_between_moving_supports():
    """The supports move apart; the cable swings and comes to rest as another catenary."""
    length, rhoA, edges = 10.0, 0.5, 40
    a = catenary(8.0, length)
    s = np.linspace(-length / 2, length / 2, edges + 1)
    x = a * np.arcsinh(s / a)
    nodes = np.stack([x, 0 * x, a * np.cosh(x / a) - a * np.cosh(4 / a)], axis=1)
    section = lgint.section("circle", E=2e8, G=8e7, rho=rhoA / (np.pi * 0.01**2), radius=0.01, relaxation=5e-3)

    b = lgint.ModelBuilder(gravity=(0, 0, -9.81))
    for name, side in (("left", -1), ("right", 1)):
        b.add_support(name, motion=((0.0, 2.0), ((4.0 * side, 0, 0), (4.5 * side, 0, 0))))
    shape = {"stiffness": section.stiffness, "inertia": section.inertia, "damping": section.damping}
    rod = b.add_rod("cable", nodes=nodes, drag=0.5, **shape)
    b.add_joint("spherical", "left", rod.nodes[0], point=nodes[0], name="pin")
    b.add_joint("spherical", "right", rod.nodes[-1], point=nodes[-1])
    run = lgint.integrate(b.build(start="project"), "genalpha", t_end=16.0, h=1e-2, rho_inf=0.5)

    after = catenary(9.0, length)
    sag = after * (np.cosh(4.5 / after) - 1)
    assert run.position("cable.node20")[-1, 2] == pytest.approx(-sag, rel=0.01)
    along, _, up = run.reaction("pin")[-1, :3]
    assert up == pytest.approx(rhoA * length * 9.81 / 2, rel=1e-3)
    assert -along == pytest.approx(rhoA * 9.81 * after, rel=0.02)
    np.testing.assert_allclose(run.reaction("left"), run.reaction("pin"), atol=1e-9)
