"""Rods: the bodies and edges that the builder makes, and their motion."""

import itertools
import os
import subprocess
import sys
import time

import numpy as np
import pytest

import lgint
from lgint import _core

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


@pytest.mark.parametrize("edges", [4, 7, 12])
def test_momenta_and_energy_of_the_spaghetti(edges):
    """For every number of edges the rod has exactly the momenta and the energy that the loads supply."""
    run = lgint.integrate(lgint.models.flying_spaghetti(edges=edges), "herk5", t_end=5.2, h=1e-3 * 16 / edges)
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


# ---- ends ----


def hanging(attach):
    """A run in which the rod that `attach` adds falls from the horizontal."""
    b = lgint.ModelBuilder(gravity=(0, 0, -9.81))
    attach(b)
    return lgint.integrate(b.build(), "herk4", t_end=0.2, h=5e-4)


def test_clamped_by_the_ground_is_held_by_a_rigid_joint():
    def clamp(b):
        straight(b, clamped=(0,), damping=np.full(6, 0.01))

    def weld(b):
        rod = straight(b, damping=np.full(6, 0.01))
        b.add_joint("rigid", lgint.ground, rod.nodes[0], point=(0, 0, 0), name="weld")

    clamped, welded = hanging(clamp), hanging(weld)
    for node in ("rod.node0", "rod.node1", "rod.node4"):
        np.testing.assert_allclose(clamped.position(node), welded.position(node), atol=1e-9)
        np.testing.assert_allclose(clamped.rotation(node), welded.rotation(node), atol=1e-9)
        np.testing.assert_allclose(clamped.velocity(node), welded.velocity(node), atol=1e-8)
    np.testing.assert_allclose(clamped.strain("rod"), welded.strain("rod"), atol=1e-9)
    np.testing.assert_allclose(clamped.stress("rod"), welded.stress("rod"), atol=1e-5)
    # the rigid joint also carries the first half of an edge, which does not accelerate
    weight = np.array([0, 0, 0.5 * 0.125 * 9.81, 0, 0, 0])
    np.testing.assert_allclose(clamped.reaction("rod.node0") + weight, welded.reaction("weld"), atol=1e-5)
    np.testing.assert_allclose(clamped.point("rod.node0", (0, 0, 1)), np.tile((1, 0, 0), (len(clamped), 1)), atol=1e-15)


def test_two_rods_joined_in_the_middle_are_one():
    def one(b):
        straight(b, edges=4, clamped=(0,))

    def two(b):
        half = {"stiffness": SECTION["stiffness"], "inertia": SECTION["inertia"], "edges": 2}
        first = b.add_rod("a", start=(0, 0, 0), end=(0.5, 0, 0), clamped=(0,), **half)
        second = b.add_rod("b", start=(0.5, 0, 0), end=(1, 0, 0), attached={0: first.nodes[-1]}, **half)
        assert second.nodes[0] == "a.node2"

    def welded(b):
        half = {"stiffness": SECTION["stiffness"], "inertia": SECTION["inertia"], "edges": 2}
        first = b.add_rod("a", start=(0, 0, 0), end=(0.5, 0, 0), clamped=(0,), **half)
        second = b.add_rod("b", start=(0.5, 0, 0), end=(1, 0, 0), **half)
        b.add_joint("rigid", first.nodes[-1], second.nodes[0], point=(0.5, 0, 0))

    single = hanging(one)
    for joined in (hanging(two), hanging(welded)):
        np.testing.assert_allclose(joined.position("a.node2"), single.position("rod.node2"), atol=1e-9)
        np.testing.assert_allclose(joined.position("b.node2"), single.position("rod.node4"), atol=1e-9)
        np.testing.assert_allclose(joined.strain("b"), single.strain("rod")[:, 2:], atol=1e-8)


def test_attached_to_a_body_away_from_its_centre():
    """The node keeps its own mass and a rigid joint holds it, at any angle."""
    b = lgint.ModelBuilder(gravity=(0, 0, -9.81))
    b.add_body("hub", mass=2.0, inertia=(0.1, 0.1, 0.1), rotation=lgint.groups.so3.exp((0.3, 0.2, -0.4)))
    rod = b.add_rod("arm", start=(0.2, 0, 0), end=(0.2, 0, -1), edges=3, attached={0: "hub"}, **SECTION)
    run = lgint.integrate(b.build(), "herk4", t_end=0.3, h=1e-3)
    assert rod.nodes[0] == "arm.node0" and "arm.node0.joint" in run.model.joints
    # in free fall the rod does not bend
    np.testing.assert_allclose(run.strain(rod), np.tile((0, 0, 1, 0, 0, 0), (len(run), 3, 1)), atol=1e-10)
    np.testing.assert_allclose(run.position("hub")[-1], (0, 0, -0.5 * 9.81 * 0.09), atol=1e-10)


@pytest.mark.parametrize("kind", ["spherical", "revolute"])
def test_hinged_ends(kind):
    """A stiff straight rod on a hinge swings as a rigid bar of the same masses."""
    axis = (0, 1, 0) if kind == "revolute" else None

    def rods(b):
        rod = straight(b, edges=2, stiffness=(1e5, 1e5, 1e5, 1e3, 1e3, 1e3), damping=np.full(6, 0.01))
        b.add_joint(kind, lgint.ground, rod.nodes[0], point=(0, 0, 0), axis=axis)

    def bar(b):
        masses = np.array([0.125, 0.25, 0.125])
        turning = (masses * np.array([0.25, 0, 0.25])).sum()
        about = (0.5 * 5e-3, turning + 0.5 * 3e-3, turning + 0.5 * 2e-3)  # d3, d2 and -d1 are x, y and z
        b.add_body("bar", mass=0.5, inertia=about, position=(0.5, 0, 0))
        b.add_joint(kind, lgint.ground, "bar", point=(0, 0, 0), axis=axis)

    tip = hanging(bar).point("bar", (0.5, 0, 0))
    np.testing.assert_allclose(hanging(rods).position("rod.node2"), tip, atol=2e-3)


def test_moving_clamp():
    """A rod whose clamp moves with it as a rigid body has no strain; one that is shaken bends."""
    a = np.array([0.0, 0.0, 3.0])

    def moved(gravity):
        b = lgint.ModelBuilder(gravity=gravity)
        rod = straight(b, clamped={0: lambda t: (0.5 * a * t**2, a * t, a)}, velocity=(0, 0, 0))
        return lgint.integrate(b.build(), "herk4", t_end=0.2, h=1e-3), rod

    run, rod = moved(a)  # the rod falls with the clamp
    np.testing.assert_allclose(run.strain(rod), np.tile((0, 0, 1, 0, 0, 0), (len(run), 4, 1)), atol=1e-9)
    np.testing.assert_allclose(run.position("rod.node0"), 0.5 * np.outer(run.t**2, a), atol=1e-14)
    np.testing.assert_allclose(run.velocity("rod.node0"), np.outer(run.t, a), atol=1e-14)
    shaken, _ = moved((0, 0, 0))
    assert np.abs(shaken.strain(rod)[-1, :, 3:5]).max() > 0.01
    seen = shaken.position("rod.node4") - shaken.position("rod.node0")
    b = lgint.ModelBuilder(gravity=-a)
    straight(b, clamped=(0,))
    still = lgint.integrate(b.build(), "herk4", t_end=0.2, h=1e-3)
    np.testing.assert_allclose(seen, still.position("rod.node4"), atol=1e-7)


# ---- shapes ----


def test_a_clamped_node_has_no_unknowns_but_a_known_state():
    """Position, velocity, rotation and points follow the motion; the reaction accelerates the rest of the rod."""

    def motion(t):
        return ((0, 0, 0.1 * t**2), (0, 0, 0.2 * t), (0, 0, 0.2))

    b = lgint.ModelBuilder(gravity=(0, 0, -9.81))
    rod = straight(b, clamped={0: motion})
    run = lgint.integrate(b.build(), "genalpha", t_end=0.1, h=1e-3)
    assert run.v.shape[1] == 24 and run.q.shape[1] == 28
    root, t = rod.nodes[0], run.t
    np.testing.assert_allclose(run.position(root), np.stack([0 * t, 0 * t, 0.1 * t**2], axis=1), atol=1e-16)
    np.testing.assert_allclose(run.velocity(root), np.stack([0 * t, 0 * t, 0.2 * t], axis=1), atol=1e-16)
    np.testing.assert_allclose(run.rotation(root)[:, :, 2], np.tile([1.0, 0, 0], (len(t), 1)), atol=1e-15)
    np.testing.assert_allclose(run.angular_velocity(root), 0, atol=1e-15)
    np.testing.assert_allclose(run.point(root, (0, 0, 0.3)) - run.position(root), [[0.3, 0, 0]] * len(t), atol=1e-15)
    momentum = run.momentum()
    force = (momentum[2:] - momentum[:-2]) / 2e-3 + (0, 0, 9.81 * 0.5 * 0.875)
    np.testing.assert_allclose(run.reaction(root)[21:-1, :3], force[20:], atol=2e-2 * np.abs(force).max())


def test_the_start_is_free_of_stress_by_default():
    """If no reference strain is given, the shape at the start is the natural one."""
    rng = np.random.default_rng(2)
    b = lgint.ModelBuilder()
    rod = b.add_rod("rod", nodes=np.cumsum((0.3, 0, 0) + 0.1 * rng.normal(size=(7, 3)), axis=0), **SECTION)
    model = b.build()
    verbs = model.core.evaluate(0.0, model.q0, model.v0, want=["force", "phi"])
    assert np.abs(verbs["force"]).max() < 1e-9 and np.abs(verbs["phi"]).max() < 1e-14
    assert len(rod.edges) == 6


def test_sections_follow_the_line_without_twist():
    """On a circle the edges have the curvature of the arc, no shear and no torsion."""
    angle = np.linspace(0, 1.2, 7)
    b = lgint.ModelBuilder()
    nodes = np.stack([np.sin(angle), np.zeros(7), np.cos(angle)], axis=1)
    b.add_rod("arc", nodes=2 * nodes, **SECTION)
    model = b.build()
    run = lgint.integrate(model, "herk2", t_end=1e-6, h=1e-6)
    strain = run.strain("arc")[0]
    np.testing.assert_allclose(strain[:, [0, 1, 5]], 0, atol=1e-13)
    np.testing.assert_allclose(strain[:, 2], 1, atol=1e-13)
    np.testing.assert_allclose(np.hypot(strain[:, 3], strain[:, 4]), 0.5, rtol=1e-12)
    first = run.rotation("arc.node3")[0][:, 2]
    np.testing.assert_allclose(first, (np.cos(0.6), 0, -np.sin(0.6)), atol=1e-13)


def test_helix_of_a_constant_reference_strain():
    """Bending k and torsion w make a helix of radius k / (k^2 + w^2), whatever the number of edges."""
    k, w, n = 1.5, 2.0, 9
    reference = np.array([0, 0, 1.0, 0, k, w])
    ds = 0.2
    steps = lgint.groups.se3.exp(np.tile(ds * reference, (n, 1)))
    poses = [np.eye(4)]
    for step in steps:
        poses.append(poses[-1] @ step)
    poses = np.array(poses)
    b = lgint.ModelBuilder()
    nodes = {"nodes": poses[:, :3, 3], "rotations": poses[:, :3, :3]}
    b.add_rod("rod", **nodes, length=n * ds, reference_strain=reference, **SECTION)
    model = b.build()
    assert np.abs(model.core.evaluate(0.0, model.q0, model.v0, want=["force"])["force"]).max() < 1e-9
    # the axis is along the Darboux vector (0, k, w), and the nodes all have the same distance from it
    darboux = np.array([0, k, w]) / np.hypot(k, w)
    radius = k / (k**2 + w**2)
    centre = radius * np.array([1.0, 0, 0])  # towards the centre of curvature, d2 x d3
    apart = poses[:, :3, 3] - centre
    apart -= np.outer(apart @ darboux, darboux)
    np.testing.assert_allclose(np.linalg.norm(apart, axis=1), radius, rtol=1e-12)


def test_ring_without_ends():
    """A closed rod in free flight keeps its shape, its momentum and its number of edges."""
    angle = 2 * np.pi * np.arange(8) / 8
    b = lgint.ModelBuilder()
    spin = np.array([0.0, 0.0, 2.0])
    nodes = np.stack([np.cos(angle), np.sin(angle), 0 * angle], axis=1)
    rod = b.add_rod("ring", nodes=nodes, closed=True, velocity=np.cross(spin, nodes) + (1, 0, 0), **SECTION)
    assert len(rod.edges) == len(rod.nodes) == 8
    run = lgint.integrate(b.build(start="project"), "herk4", t_end=0.3, h=1e-3)
    assert run.momentum()[-1] == pytest.approx(run.momentum()[0], abs=1e-9)
    assert run.angular_momentum()[-1] == pytest.approx(run.angular_momentum()[0], abs=1e-9)
    assert np.ptp(run.energy()) < 1e-6 * run.energy()[0]
    assert run.strain(rod).shape == (len(run), 8, 6)


# ---- actuation, loads and drag ----


def test_reference_strain_as_a_function_of_time():
    """An actuated rod in a viscous medium follows its reference strain; of n functions, each acts on one edge."""

    def bent(t):
        return 0, 0, 1, 0, 2 * min(t, 1.0), 0

    def rest(t):
        return 0, 0, 1, 0, 0, 0

    section = {"stiffness": (100, 100, 100, 1, 1, 1), "inertia": (0.1, 1e-2, 1e-2, 1e-2), "damping": np.full(6, 0.05)}
    for functions, expected in ((bent, (2, 2, 2, 2)), ([rest, bent, rest, rest], (0, 2, 0, 0))):
        b = lgint.ModelBuilder()
        rod = straight(b, **section, clamped=(0,), reference_strain=functions)
        run = lgint.integrate(b.build(), "dopri5", t_end=6.0, rtol=1e-5, atol=1e-7)
        np.testing.assert_allclose(run.strain(rod)[-1, :, 4], expected, atol=5e-3)


def test_tendon_bends_a_rod():
    """A tendon at a distance e from the axis bends every edge with the moment T e, if both are small."""
    section = {"stiffness": (1e3, 1e3, 1e3, 2, 2, 2), "inertia": (0.1, 1e-2, 1e-2, 1e-2), "damping": np.full(6, 0.1)}
    b = lgint.ModelBuilder()
    rod = straight(b, **section, clamped=(0,))
    tension = ((0.0, 1.0), (0.0, 0.05))
    b.add_tendon(rod.nodes, tension=tension, local_points=(0.02, 0, 0), name="tendon")
    run = lgint.integrate(b.build(), "dopri5", t_end=8.0, rtol=1e-6, atol=1e-9)
    # the force -T d3 at e d1 has the moment T e d2
    np.testing.assert_allclose(run.strain(rod)[-1, :, 4], 0.05 * 0.02 / 2, rtol=2e-2)


def test_loads_per_length():
    """A dead load acts as gravity does, and drag slows a rod down at the rate given by its coefficients."""
    rhoA = SECTION["inertia"][0]

    def fall(**how):
        b = lgint.ModelBuilder(gravity=(0, 0, 0) if "load" in how else (0, 0, -9.81))
        straight(b, clamped=(0,), **how)
        return lgint.integrate(b.build(), "herk4", t_end=0.2, h=1e-3).position("rod.node4")[-1]

    np.testing.assert_allclose(fall(load=(0, 0, -9.81 * rhoA)), fall(), atol=1e-10)
    np.testing.assert_allclose(fall(load=lambda t: (0, 0, -9.81 * rhoA)), fall(), atol=1e-10)
    b = lgint.ModelBuilder()
    rod = straight(b, velocity=(1, 1, 0), drag=(0.3, 0.3, 0.1))
    run = lgint.integrate(b.build(), "herk4", t_end=1.0, h=2e-3)
    along, across = np.exp(-np.array([0.1, 0.3]) / rhoA)
    np.testing.assert_allclose(run.velocity(rod.nodes[2])[-1, :2], (along, across), rtol=1e-6)


def test_tendon_and_drag_take_bodies():
    b = lgint.ModelBuilder()
    rod = straight(b, clamped=(0,))
    with pytest.raises(ValueError, match="at least two expected, got 1"):
        b.add_tendon(rod.nodes[:1], tension=1.0)
    with pytest.raises(ValueError, match="not both"):
        b.add_tendon(rod.nodes, tension=1.0, points=np.zeros((5, 3)), local_points=(0, 0, 0))
    with pytest.raises(ValueError, match="a body expected, got the support 'rod.node0'"):
        b.add_drag(rod.nodes[0], drag=1.0)
    with pytest.raises(ValueError, match="drag of .*without negative eigenvalues expected, got -1"):
        b.add_drag(rod.nodes[1], drag=-1.0)


def test_a_function_of_time_pulls_a_tendon():
    """One segment between two free bodies pulls each with the given force; the sum of both forces vanishes."""
    b = lgint.ModelBuilder()
    for name, x in (("a", 0.0), ("c", 2.0)):
        b.add_body(name, mass=1.0, inertia=(1, 1, 1), position=(x, 0, 0))
    b.add_tendon(["a", "c"], tension=lambda t: 0.3 * t)
    run = lgint.integrate(b.build(), "rk44", t_end=1.0, h=0.05)
    assert run.velocity("a")[-1, 0] == pytest.approx(0.15, rel=1e-12)
    np.testing.assert_allclose(run.momentum()[-1], 0, atol=1e-14)


# ---- values per edge, the stiffer rod, files and pictures ----


def test_values_per_edge():
    """A stiff edge in a soft rod stays straight, and the mass of a heavy one is in its nodes."""
    soft, stiff = np.array(SECTION["stiffness"]), 1e3 * np.array(SECTION["stiffness"])
    b = lgint.ModelBuilder(gravity=(0, 0, -9.81))
    inertia = np.tile(SECTION["inertia"], (4, 1))
    inertia[3] *= 3
    rod = straight(b, stiffness=[soft, stiff, soft, soft], inertia=inertia, clamped=(0,))
    model = b.build()
    masses = [model.bodies[node]["mass"] for node in rod.nodes[1:]]
    assert masses == pytest.approx([0.125, 0.125, 0.25, 0.1875])
    bent = np.abs(lgint.equilibrium(model).strain(rod)[-1, :, 4])
    assert bent[1] < 0.01 * bent[0] < 0.01 * 2 * bent[0] and bent[0] > bent[2] > bent[3] > 0


def test_the_stiffer_roll_up():
    """The moment is proportional to the bending stiffness, which gives the same ring and a hundred times the energy."""
    model = lgint.models.roll_up(bending_stiffness=5e4)
    row = model.record()["forces"]["moment"]
    assert row["load"]["vector"] == pytest.approx((0, 1e4 * np.pi, 0))
    assert lgint.models.roll_up().record()["forces"]["moment"]["load"]["vector"] == pytest.approx((0, 100 * np.pi, 0))


def test_steps_of_the_paper():
    """Error control as in (22) of the paper takes about 1000 steps to t = 5 and rejects none."""
    control = {"control": "I", "safety": 0.8, "max_decrease": 0.2, "max_increase": 5.0, "first_step": 1e-3}
    run = lgint.integrate(lgint.models.roll_up(), "herk5", t_end=5.0, atol=1e-8, rtol=1e-6, **control)
    assert 950 < run.stats.steps < 1050 and run.stats.rejected == 0


def test_rods_in_files_and_pictures(tmp_path):
    run = lgint.integrate(lgint.models.roll_up(edges=3), "herk4", t_end=0.1, h=5e-3)
    run.save(tmp_path / "rod.npz")
    back = lgint.load(tmp_path / "rod.npz")
    np.testing.assert_array_equal(back.strain("rod"), run.strain("rod"))
    np.testing.assert_array_equal(back.reaction("node0"), run.reaction("node0"))
    (axes,) = back.plot("paths").axes
    assert axes.get_title() == "shapes of the rods"
    last = next(line for line in axes.lines if line.get_label() == "rod")
    x, y, z = last.get_data_3d()
    nodes = np.stack([run.position(f"node{i}")[-1] for i in range(4)])
    np.testing.assert_allclose(np.stack([x, y, z], axis=1), nodes)
    np.testing.assert_array_equal(run.line("rod")[-1], nodes)
    run.animate(seconds=0.1).save(tmp_path / "rod.gif", writer="pillow")
    assert (tmp_path / "rod.gif").stat().st_size > 1000
    with pytest.raises(ValueError, match="unknown rod 'rope'"):
        run.strain("rope")


# ---- agreement ----


def test_second_order_in_the_number_of_edges():
    def tip(edges):
        model = lgint.models.roll_up(edges=edges, damping=0.0)
        return lgint.integrate(model, "herk4", t_end=0.6, h=8e-3 * 4 / edges).position(f"node{edges}")[-1]

    tips = [tip(edges) for edges in (4, 8, 16, 32)]
    errors = [np.linalg.norm(a - b) for a, b in zip(tips[:-1], tips[1:], strict=True)]
    orders = np.log2(np.divide(errors[:-1], errors[1:]))
    assert 1.7 < orders[1] < 2.3


def test_methods_and_forms_agree():
    """Half-explicit methods, generalized-alpha, and the limit of a stiff rod without constraints agree."""
    from_start = {"t_end": 3.0}
    reference = lgint.integrate(lgint.models.flying_spaghetti(edges=8), "herk5", h=4e-3, **from_start)
    settings = {"h": 4e-3, "rho_inf": 0.9, **from_start}
    stabilized = lgint.integrate(reference.model, "genalpha", index="stabilized", **settings)
    stiff = lgint.models.flying_spaghetti(edges=8, constraints=None, shear_stiffness=(1e8, 1e8, 1e4))
    free = lgint.integrate(stiff, "genalpha", **settings)
    inextensible = lgint.models.flying_spaghetti(edges=8, constraints="inextensible")
    limit = lgint.models.flying_spaghetti(edges=8, shear_stiffness=(1e4, 1e4, 1e8))
    pairs = [
        (reference, stabilized),
        (reference, free),
        (lgint.integrate(inextensible, "herk5", h=4e-3, **from_start), lgint.integrate(limit, "genalpha", **settings)),
    ]
    for first, second in pairs:
        for node in ("node0", "node8"):
            np.testing.assert_allclose(second.position(node)[-1], first.position(node)[-1], atol=1e-3)
    apart = np.abs(pairs[2][0].position("node8")[-1] - reference.position("node8")[-1]).max()
    assert apart > 4e-3  # stretch does matter


FORMS = [
    *(("genalpha", {"index": index}) for index in (3, 2, "stabilized")),
    *(("genalpha", {"index": index, "sigma": 0.0}) for index in (3, "stabilized")),
    ("newmark", {"index": 3}),
    ("hht", {"alpha": -0.1, "index": 2}),
    ("midpoint", {}),
    ("rk33", {}),
    ("rk44", {}),
]


@pytest.mark.parametrize(("method", "options"), FORMS)
def test_all_methods_run_rods_with_their_order(method, options):
    """Compared with herk5 are the free end and the bending stress of an edge, which depends on rates of strain."""
    model = lgint.models.roll_up(edges=4, damping=20.0)
    order = lgint.method_info(method)["order"]

    def end(method, steps, **options):
        run = lgint.integrate(model, method, t_end=0.5, h=0.5 / steps, **options)
        return np.append(run.position("node4")[-1], 1e-2 * run.stress("rod")[-1, 0, 3:])

    best, steps = end("herk5", 1024), (256, 512)
    errors = [np.linalg.norm(end(method, n, **options) - best) for n in steps]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.3)


RESUMED = [
    *((name, {"h": 2.0**-9}) for name in lgint.methods() if lgint.method_info(name)["stepper"] == "herk"),
    *(("herk5", {"rtol": 1e-6, "atol": 1e-8, "project": project}) for project in ("none", "both")),
    *((method, {"h": 2.0**-8, **options}) for method, options in FORMS),
    ("genalpha", {"h": 2.0**-8, "newton": "modified"}),
]


@pytest.mark.parametrize(("method", "options"), RESUMED)
def test_a_resumed_run_gives_the_same_bits(method, options):
    """Runs are resumed after the first step and later, whether the stop is on the grid of steps or not."""
    model = lgint.models.roll_up(edges=4)
    for stop in (2.0**-9, 0.07, 0.125):
        whole = lgint.integrate(model, method, t_end=0.2, stops=[stop], **options)
        first = lgint.integrate(model, method, t_end=stop, **options)
        rest = lgint.integrate(model, method, t_end=0.2, start=first, **options)
        for name in ("t", "q", "v", "vdot", "lam", "h"):
            joined = np.concatenate([getattr(first, name), getattr(rest, name)[1:]])
            assert joined.tobytes() == getattr(whole, name).tobytes(), (stop, name)


def test_stiffness_that_couples_bending_and_torsion():
    """Under an end moment every edge has the strain C^-1 (0, m)."""
    C = np.diag([1e3, 1e3, 1e3, 2.0, 2.0, 1.0])
    C[4, 5] = C[5, 4] = 0.6
    b = lgint.ModelBuilder()
    rod = straight(b, stiffness=C, inertia=(0.1, 1e-2, 1e-2, 1e-2), damping=np.full(6, 0.1), clamped=(0,))
    moment = 1e-3
    b.add_force(rod.nodes[-1], torque=((0.0, 1.0), ((0, 0, 0), (0, moment, 0))))  # d2 is y
    run = lgint.integrate(b.build(), "dopri5", t_end=10.0, rtol=1e-6, atol=1e-9)
    expected = np.linalg.solve(C, (0, 0, 0, 0, moment, 0)) + (0, 0, 1, 0, 0, 0)
    np.testing.assert_allclose(run.strain(rod)[-1], np.tile(expected, (4, 1)), atol=3e-6)
    np.testing.assert_allclose(run.stress(rod)[-1, :, 4], moment, rtol=5e-3)


def test_beam_on_a_moving_base_follows_its_modes():
    """The base of a cantilever moves as A (1 - cos W t); its small motion is that of three modes in closed form."""
    section = lgint.section("circle", E=210e9, G=81e9, rho=7850, radius=5e-3)
    A, W = 1e-3, 2 * np.pi * 4

    def shaken(t):
        return (0, 0, A * (1 - np.cos(W * t))), (0, 0, A * W * np.sin(W * t)), (0, 0, A * W**2 * np.cos(W * t))

    b = lgint.ModelBuilder()
    shape = {"stiffness": section.stiffness, "inertia": section.inertia, "constraints": "inextensible"}
    b.add_rod("beam", start=(0, 0, 0), end=(1, 0, 0), edges=16, clamped={0: shaken}, **shape)
    run = lgint.integrate(b.build(), "genalpha", t_end=0.5, h=5e-4)
    tip = run.position("beam.node16")[:, 2] - run.position("beam.node0")[:, 2]
    wave = np.sqrt(section.stiffness[3] / section.inertia[0])
    expected = 0
    for root, part in ((1.875104, 1.566), (4.694091, -0.8679), (7.854757, 0.5088)):
        w = root**2 * wave
        expected -= part * A * W**2 * (np.cos(W * run.t) - np.cos(w * run.t)) / (w**2 - W**2)
    assert np.abs(tip - expected).max() < 0.02 * np.abs(expected).max()


# ---- linear cost ----


def test_numbers_in_the_factors_grow_linearly():
    """Each further edge adds the same count of numbers, for the mass alone and with tangents."""
    counts = {n: lgint.models.flying_spaghetti(edges=n).core for n in (16, 128, 1024)}
    for tangents in (False, True):
        values = {n: core.matrix_values(tangents=tangents) for n, core in counts.items()}
        early, late = (values[128] - values[16]) / 112, (values[1024] - values[128]) / 896
        assert early == pytest.approx(late, rel=1e-2)
        assert late < (100 if not tangents else 165)


MEMORY = """
import gc, sys
import lgint
from lgint import _core
from lgint import _core

EDGES = 600
model = lgint.models.flying_spaghetti(edges=EDGES)

def resident():
    return next(1024 * int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmRSS"))

def run_of(method, options):
    run = _core.Stepper(model.core, method, 0.0, model.q0, model.v0, None, options)
    run.step(1e-3 / EDGES)
    return run

def bytes_per_edge(method, options):
    run_of(method, options)  # makes what the model keeps for further runs
    gc.collect()
    before = resident()
    run = run_of(method, options)
    return (resident() - before) / EDGES

print([bytes_per_edge(*case) for case in eval(sys.argv[1])])
"""


def values_of(option):
    """The values of an option that could need additional memory."""
    if option["name"] == "index":
        return [2, 3, "stabilized"]
    if option["name"] == "rtol":
        return [1e-3]
    return option["choices"] if option["type"] == "choice" else [True, False] if option["type"] == "flag" else []


def settings_of(method):
    """Settings that change one option, or combine both Newton methods with every index and every form of the step."""
    values = {option["name"]: values_of(option) for option in lgint.method_info(method)["options"]}
    yield {}
    for name, given in values.items():
        yield from ({name: value} for value in given)
    for name in ("index", "form"):
        for value, newton in itertools.product(values.get(name, []), values.get("newton", [])):
            yield {name: value, "newton": newton}


def runs_rods(method, options):
    rod = lgint.models.flying_spaghetti(edges=2)
    try:
        _core.Stepper(rod.core, method, 0.0, rod.q0, rod.v0, None, options)
    except ValueError:  # some methods need Euler parameters or other kinds of systems
        return False
    return True


@pytest.mark.measures
def test_memory_of_a_run_per_edge():
    """At most 6 kB, whatever the settings, 15 kB with a matrix for each stage; error control keeps one more state.

    Of both, 64 bytes are what round-off of the rows does to forces.
    """
    cases = [
        (method, options) for method in lgint.methods() for options in settings_of(method) if runs_rods(method, options)
    ]
    assert len(cases) > 60 and {"herk5", "dopri5", "genalpha", "newmark", "hht"} <= {method for method, _ in cases}
    fixed = {**os.environ, "MALLOC_MMAP_THRESHOLD_": "65536"}  # the memory of finished runs is returned to the system
    found = subprocess.run(
        [sys.executable, "-c", MEMORY, repr(cases)], capture_output=True, text=True, check=True, env=fixed
    )
    sizes = dict(zip(map(repr, cases), eval(found.stdout), strict=True))
    stages = {"radau3": 5000, "radau5": 8800}
    most = {repr((m, o)): (7600 if "rtol" in o else 6000) + stages.get(m, 0) for m, o in cases}
    assert {case: size for case, size in sizes.items() if not 2000 < size < most[case]} == {}


def seconds_per_edge_and_step(method, edges, steps):
    """Processor time, the least of three."""
    options = {"newton": "full"} if method == "genalpha" else {}  # so that all steps do the same work
    stepper = lgint.Stepper(lgint.models.flying_spaghetti(edges=edges), method, **options)
    stepper.step(1e-2 / edges)
    taken = []
    for _ in range(3):
        begin = time.process_time()
        for _ in range(steps):
            stepper.step(1e-2 / edges)
        taken.append((time.process_time() - begin) / steps / edges)
    return min(taken)


@pytest.mark.measures
@pytest.mark.parametrize("method", ["herk5", "genalpha"])
def test_time_per_edge_out_of_the_cache(method):
    """A rod of 10 000 edges, whose 50 MB fit no cache, takes at most 3 times as long per step and edge as one of 64."""
    small, large = seconds_per_edge_and_step(method, 64, 100), seconds_per_edge_and_step(method, 10000, 2)
    assert 0.5 < large / small < 3
