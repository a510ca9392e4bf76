"""Rods: what the builder makes of them, and facts about their motion."""

import numpy as np
import pytest

import lgint

SECTION = {"stiffness": (4e3, 4e3, 1e4, 30.0, 20.0, 15.0), "inertia": (0.5, 2e-3, 3e-3, 5e-3)}


def straight(builder, name="rod", edges=4, **how):
    return builder.add_rod(name, start=(0, 0, 0), end=(1, 0, 0), edges=edges, **{**SECTION, **how})


# ---- the builder ----


def test_names_never_change():
    b = lgint.ModelBuilder()
    first, second = straight(b), straight(b, "other", prefix="")
    assert first.nodes == tuple(f"rod.node{i}" for i in range(5))
    assert second.nodes == tuple(f"node{i}" for i in range(5))
    assert first.edges[0] == "rod.edge0" and second.edges[-1] == "edge3"
    assert set(b.build().bodies) == {*first.nodes, *second.nodes}


def test_masses_are_halved_at_the_ends():
    b = lgint.ModelBuilder()
    straight(b, inertia=(0.5, 0.2, 0.3, 0.4), edges=4)
    bodies = b.build().bodies
    masses = [bodies[f"rod.node{i}"]["mass"] for i in range(5)]
    assert masses == pytest.approx([0.0625, 0.125, 0.125, 0.125, 0.0625], rel=1e-15)
    assert np.diag(bodies["rod.node2"]["inertia"]) == pytest.approx([0.05, 0.075, 0.1])


@pytest.mark.parametrize("edges", [4, 8, 16])
def test_momenta_and_energy_of_the_spaghetti(edges):
    """For every number of edges: what the loads give, and nothing else, ends up in the rod (MODELS of the paper)."""
    run = lgint.integrate(lgint.models.flying_spaghetti(edges=edges), "herk5", t_end=5.4, h=5e-4 * 16 / edges)
    after = run.t >= 5
    np.testing.assert_allclose(run.momentum()[after], np.tile((50, 0, 0), (after.sum(), 1)), atol=1e-8)
    assert np.abs(run.angular_momentum()[:, 0]).max() < 1e-7
    energy = run.energy()[after]
    assert np.ptp(energy) < 1e-6 * energy[0]
    masses = np.array([body["mass"] for body in run.model.bodies.values()])
    places = np.stack([run.position(name) for name in run.model.bodies])
    centre = np.einsum("b,bnx->nx", masses, places)[after] / masses.sum()
    expected = np.array([[15.5 + 5 * (t - 5), 4, 0] for t in run.t[after]])
    np.testing.assert_allclose(centre, expected, atol=1e-7)


@pytest.mark.parametrize("edges", [3, 8, 20])
def test_ring_is_an_exact_equilibrium(edges):
    """K = (0, 2 pi / L, 0) closes the rod and the end moment holds it, with V = 2 pi^2 C_K / L, for every N."""
    model = lgint.models.roll_up(edges=edges)
    q, v = ring(model, edges)
    verbs = model.core.evaluate(0.0, q, v, want=["force", "phi"])
    assert np.abs(verbs["phi"]).max() < 1e-12 and np.abs(verbs["force"]).max() < 1e-10
    assert model.core.energy(0.0, q, v)[1] == pytest.approx(100 * np.pi**2, rel=1e-13)


def ring(model, edges):
    """The closed ring of roll_up."""
    b = lgint.ModelBuilder()
    angle = 2 * np.pi * np.arange(edges + 1) / edges
    radius = 10 / (2 * np.pi)
    nodes = np.stack([radius * np.sin(angle), 0 * angle, radius * (np.cos(angle) - 1)], axis=1)
    turns = lgint.groups.so3.exp(np.outer(angle + np.pi / 2, (0, 1, 0)))
    b.add_rod("rod", nodes=nodes, rotations=turns, clamped=(0,), stiffness=np.ones(6), inertia=np.ones(4), length=10.0)
    bent = b.build()
    return bent.q0, np.zeros(model.nv)
