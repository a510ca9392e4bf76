"""Rods at rest: the ring, the bend of 45 degrees, cantilevers, a buckled thread."""

import numpy as np
import pytest
from scipy.integrate import solve_bvp

import lgint


@pytest.mark.parametrize("formulation", ["S3R3", "R3xSO3", "SE3", "euler_parameters"])
@pytest.mark.parametrize("constraints", ["kirchhoff", "inextensible", None])
def test_an_end_moment_rolls_a_rod_up_into_a_ring(constraints, formulation):
    """An exact equilibrium for every number of edges, from the straight start in one step of the load."""
    for edges in (8, 16):
        model = lgint.models.roll_up(edges=edges, constraints=constraints, formulation=formulation)
        found = lgint.equilibrium(model)
        assert np.isclose(found.energy()[-1], 100 * np.pi**2, rtol=1e-13)
        assert np.abs(found.position(f"node{edges}")[-1]).max() < 1e-12
        nodes = np.array([found.position(f"node{i}")[-1] for i in range(edges)])
        circle = np.linalg.norm(nodes - nodes.mean(axis=0), axis=1)
        assert np.allclose(circle, 10 / (2 * np.pi), rtol=1e-13)


def bend(edges, constraints=None):
    """An eighth of a ring of radius 100, clamped, under a dead force normal to its plane."""
    angle = np.linspace(0, np.pi / 4, edges + 1)
    nodes = 100 * np.stack([1 - np.cos(angle), np.sin(angle), 0 * angle], axis=1)
    builder = lgint.ModelBuilder()
    rod = builder.add_rod(
        "bend",
        nodes=nodes,
        stiffness=[5e6, 5e6, 1e7, *[1e7 / 12] * 3],
        inertia=(1, 1, 1, 1),
        constraints=constraints,
        clamped=(0,),
    )
    builder.add_force(rod.nodes[-1], force=(0, 0, 600))
    return builder.build(), rod


def test_the_bend_of_45_degrees():
    """The tip is near (15.8, 47.2, 53.4), as in the literature, with an error of second order in the edges."""
    tips, reactions = [], []
    for edges in (8, 16, 32, 64):
        model, rod = bend(edges)
        found = lgint.equilibrium(model)
        tips.append(found.position(rod.nodes[-1])[-1])
        reactions.append(found.reaction(rod.nodes[0])[-1])
    steps = np.linalg.norm(np.diff(tips, axis=0), axis=1)
    assert ((3.7 < steps[:-1] / steps[1:]) & (steps[:-1] / steps[1:] < 4.3)).all()
    limit = tips[-1] + (tips[-1] - tips[-2]) / 3
    assert np.abs(limit - [15.8, 47.2, 53.4]).max() < 0.13
    for tip, reaction in zip(tips, reactions, strict=True):
        assert np.allclose(reaction[:3], [0, 0, -600], rtol=0, atol=1e-5)
        assert np.allclose(reaction[3:], -np.cross(tip, [0, 0, 600]), rtol=1e-7, atol=1e-3)


def test_the_bend_in_one_step_of_the_load_or_in_ten():
    model, rod = bend(16)
    once, often = lgint.equilibrium(model), lgint.equilibrium(model, loads=np.linspace(0.1, 1, 10))
    assert np.abs(once.position(rod.nodes[-1])[-1] - often.position(rod.nodes[-1])[-1]).max() < 1e-7
    assert (np.diff(often.position(rod.nodes[-1])[:, 2]) > 0).all()


def steel(constraints, *, edges=50, force=0.0, gravity=0.0):
    """A steel cantilever of 1 m length and 5 mm radius."""
    section = lgint.section("circle", 210e9, 80e9, 7850.0, radius=5e-3)
    builder = lgint.ModelBuilder(gravity=(0, 0, -gravity))
    rod = builder.add_rod(
        "beam",
        start=(0, 0, 0),
        end=(1, 0, 0),
        edges=edges,
        stiffness=section.stiffness,
        inertia=section.inertia,
        constraints=constraints,
        clamped=(0,),
    )
    builder.add_force(rod.nodes[-1], force=(0, 0, -force))
    return builder.build(), rod, section


@pytest.mark.parametrize("constraints", ["kirchhoff", "inextensible", None])
def test_a_steel_cantilever_bends_as_a_beam(constraints):
    """F L^3/(3 E I) and q L^4/(8 E I), up to terms of second order in the deflection and in 1/edges."""
    model, rod, section = steel(constraints, force=1.0)
    found = lgint.equilibrium(model)
    assert np.isclose(-found.position(rod.nodes[-1])[-1, 2], 1 / (3 * section.stiffness[3]), rtol=2e-4)
    model, rod, section = steel(constraints, gravity=9.81)
    found = lgint.equilibrium(model)
    weight = 9.81 * section.inertia[0]
    assert np.isclose(-found.position(rod.nodes[-1])[-1, 2], weight / (8 * section.stiffness[3]), rtol=1e-4)
    reaction = found.reaction(rod.nodes[0])[-1]
    assert np.isclose(reaction[2], weight * (1 - 0.5 / 50), rtol=1e-8)  # half an edge belongs to the clamp


@pytest.mark.parametrize("constraints", ["kirchhoff", "inextensible"])
def test_the_work_grows_with_the_number_of_edges(constraints):
    """Blocks of nodes without stiffness of their own are still eliminated one after the other."""
    iterations = []
    for edges in (100, 400):
        model, rod, section = steel(constraints, edges=edges, gravity=9.81)
        found = lgint.equilibrium(model)
        iterations.append(found.stats.newton_iterations)
        assert found.stats.dense_fallbacks == 0
        tip = found.position(rod.nodes[-1])[-1, 2]
        assert np.isclose(-tip, 9.81 * section.inertia[0] / (8 * section.stiffness[3]), rtol=1e-4)
    assert iterations[1] <= iterations[0] + 3


def test_a_rod_that_rests_stays_at_rest():
    model, rod, _ = steel("kirchhoff", edges=10, gravity=9.81)
    found = lgint.equilibrium(model)
    run = lgint.integrate(model.with_state(found.q[-1], found.v[-1]), "genalpha", t_end=0.1, h=1e-2)
    tip = run.position(rod.nodes[-1])
    assert np.abs(tip - tip[0]).max() < 1e-10


def test_a_thread_buckles_between_two_clamps():
    """One clamp moves by 3 cm, slightly off the axis, as time advances; the clamps carry the weight of the thread."""
    section = lgint.section("circle", 750e6, 250e6, 1300.0, radius=2e-4)
    ends = {}
    for constraints in (None, "kirchhoff"):
        builder = lgint.ModelBuilder(gravity=(0, 0, -9.81))
        rod = builder.add_rod(
            "thread",
            start=(0, 0, 0),
            end=(0.1, 0, 0),
            edges=20,
            stiffness=section.stiffness,
            inertia=section.inertia,
            damping=0.1 * section.stiffness,
            constraints=constraints,
            clamped={0: None, -1: lambda t: np.array([[0.1 - 0.03 * t, 0, -0.001 * t], [-0.03, 0, -0.001], [0, 0, 0]])},
        )
        model = builder.build(start="project")
        for time in np.linspace(0, 1, 21)[1:]:
            found = lgint.equilibrium(model, time=time)
            model = model.with_state(found.q[-1], found.v[-1])
        ends[constraints] = found.position(rod.nodes[10])[-1]
        carried = found.reaction(rod.nodes[0])[-1] + found.reaction(rod.nodes[-1])[-1]
        assert np.allclose(carried[:3], [0, 0, 9.81 * section.inertia[0] * 0.1 * 19 / 20], rtol=1e-6, atol=1e-9)
        assert found.position(rod.nodes[-1])[-1, 0] == pytest.approx(0.07)
        stress = found.stress(rod)[-1, :, 3:] if constraints else found.stress(rod)[-1]
        strain = found.strain(rod)[-1] - [0, 0, 1, 0, 0, 0]
        elastic = strain @ np.diag(section.stiffness)
        assert np.allclose(stress, elastic[:, 3:] if constraints else elastic, rtol=1e-9, atol=1e-12)
    assert np.allclose(ends[None], ends["kirchhoff"], rtol=0, atol=1e-5)
    assert ends[None][2] < -0.02 and abs(ends[None][0] - 0.035) < 2e-3


@pytest.mark.parametrize("loads", [(1.0,), (0.5, 1.0)])
@pytest.mark.parametrize("formulation", ["tait_bryan", "tait_bryan_omega"])
def test_a_search_goes_around_singular_angles(formulation, loads):
    """At a middle angle of 90 degrees the residual has no component along the angles, though moments do not balance."""
    moment = 0.6 * 2 * np.pi * 10 * np.array([0.6, 0, -0.8])
    section = {"stiffness": (1e3, 1e3, 1e3, 10, 10, 10), "inertia": (1, 0.1, 0.1, 0.2), "constraints": None}
    builder = lgint.ModelBuilder(formulation=formulation)
    rod = builder.add_rod("rod", start=(0, 0, 0), end=(1, 0, 0), edges=1, clamped=(0,), **section)
    builder.add_force(rod.nodes[-1], torque=moment, frame="body")
    found = lgint.equilibrium(builder.build(), loads)
    assert np.allclose(found.stress(rod)[-1, 0], [0, 0, 0, *moment], rtol=0, atol=1e-11)


# ---- columns above the buckling load ----


def column(load, sideways, *, edges=20, constraints="inextensible", bending=(500, 500), formulation="S3R3"):
    """A clamped column of 1 m under a dead load, as a multiple of its buckling load, and a part of it sideways."""
    force = load * np.pi**2 / 4 * 500
    builder = lgint.ModelBuilder()
    rod = builder.add_rod(
        "column",
        start=(0, 0, 0),
        end=(0, 0, 1),
        edges=edges,
        stiffness=(1e7, 1e7, 1e7, *bending, 400),
        inertia=(1, 0.1, 0.1, 0.1),
        constraints=constraints,
        formulation=formulation,
        clamped=(0,),
    )
    builder.add_force(rod.nodes[-1], force=(sideways * force, 0, -force))
    return builder.build(), rod.nodes[-1]


def elastica(load, sideways):
    """The tip of the inextensible column, bent with the load: angle'' = -P/EI (sin angle + sideways cos angle)."""
    s, k = np.linspace(0, 1, 101), load * np.pi**2 / 4
    found = solve_bvp(
        lambda s, y: np.array([y[1], -k * (np.sin(y[0]) + sideways * np.cos(y[0])), np.sin(y[0]), np.cos(y[0])]),
        lambda start, end: np.array([start[0], end[1], start[2], start[3]]),
        s,
        np.array([1.5 * np.sin(np.pi * s / 2), 0.75 * np.pi * np.cos(np.pi * s / 2), s / 2, s / 2]),
        tol=1e-8,
    )
    assert found.success
    return np.array([found.y[2, -1], 0, found.y[3, -1]])


@pytest.mark.parametrize("steps", [1, 10])
@pytest.mark.parametrize("constraints", ["inextensible", "kirchhoff", None])
def test_a_column_above_its_buckling_load_bends_with_the_load(constraints, steps):
    """The straight branch, and the one that is bent against the load, are saddles."""
    for load in (1.064, 1.885):
        for sideways in (1e-3, 1e-2, 3e-2):
            model, tip = column(load, sideways, constraints=constraints)
            rest = lgint.equilibrium(model, np.linspace(1 / steps, 1, steps))
            assert rest.stable == [True] * steps
            assert np.abs(rest.position(tip)[-1] - elastica(load, sideways)).max() < 2e-3


@pytest.mark.parametrize("constraints", ["inextensible", "kirchhoff", None])
@pytest.mark.parametrize("load", [1.064, 1.885])
def test_a_column_of_80_edges_is_the_elastica(load, constraints):
    for sideways in (1e-3, 1e-2, 3e-2):
        model, tip = column(load, sideways, constraints=constraints, edges=80)
        assert np.abs(lgint.equilibrium(model).position(tip)[-1] - elastica(load, sideways)).max() < 1e-3


def test_the_straight_branch_is_unstable_in_as_many_directions_as_its_sections_are_weak():
    for bending, directions in (((500, 500), 2), ((2000, 500), 1), ((500, 2000), 1), ((2000, 2000), 0)):
        model, tip = column(1.885, 0, bending=bending)
        rest = lgint.equilibrium(model, leave_saddles=False)
        assert rest.extra["unstable"].tolist() == [[directions]] and rest.position(tip)[-1, 2] == 1
    model, tip = column(1.885, 0, bending=(2000, 500))
    bent = lgint.equilibrium(model)
    assert bent.stable == [True] and abs(bent.position(tip)[-1, 0]) == pytest.approx(0.8031, abs=1e-3)


@pytest.mark.parametrize(("bending", "stays"), [((500, 500), False), ((50000, 500), True)])
def test_a_column_bent_against_the_load_swings_over(bending, stays):
    """A turn about its axis leads down, unless the section is too stiff in the other plane."""
    against, tip = column(1.885, -1e-2, bending=bending)
    rest = lgint.equilibrium(against)
    model, _ = column(1.885, 1e-2, bending=bending)
    found = lgint.equilibrium(model.with_state(rest.q[-1], rest.v[-1]))
    assert found.stable == [True] and (found.position(tip)[-1, 0] < 0) == stays


@pytest.mark.parametrize("formulation", ["S3R3", "R3xSO3", "SE3", "euler_parameters"])
@pytest.mark.parametrize("constraints", ["inextensible", "kirchhoff", None])
def test_a_round_column_bends_to_any_side_and_is_neutral(constraints, formulation):
    """A turn about its axis takes no work; round-off of its curvature decides nothing."""
    for load, loads in ((1.2, (1.0,)), (1.885, (0.6, 0.8, 1.0)), (2.5, (1.0,))):
        model, tip = column(load, 0, constraints=constraints, formulation=formulation)
        rest = lgint.equilibrium(model, loads)
        x, y, z = rest.position(tip)[-1]
        assert rest.stable == [None] * len(loads) and (rest.extra["unstable"] == -1).all()
        assert np.abs(np.array([np.hypot(x, y), 0, z]) - elastica(load, 1e-9)).max() < 2e-3
        run = lgint.integrate(model.with_state(rest), "genalpha", t_end=1e-3, h=1e-4)
        assert np.abs(run.v).max() < 1e-5


@pytest.mark.parametrize("constraints", ["inextensible", "kirchhoff", None])
def test_a_bent_column_is_neutral_once_its_load_along_the_axis_is_alone(constraints):
    pushed, _ = column(1.885, 1e-2, constraints=constraints)
    model, tip = column(1.885, 0, constraints=constraints)
    rest = lgint.equilibrium(model.with_state(lgint.equilibrium(pushed)))
    assert rest.stable == [None] and np.abs(rest.position(tip)[-1] - elastica(1.885, 1e-9)).max() < 2e-3


def test_a_soft_rod_of_many_edges_is_not_neutral():
    """The least curvature is 1e-10 of the largest entries of K; as many edges as this must not hide it."""
    for constraints in ("inextensible", None):
        model, rod, _ = steel(constraints, edges=800, gravity=9.81)
        rest = lgint.equilibrium(model)
        assert rest.stable == [True] and rest.stats.dense_fallbacks == 0


def test_the_load_factor_multiplies_loads_on_rods():
    """Gravity, dead loads and tendons, but neither the reference strain nor a stiffness."""

    def found(factor, loads):
        builder = lgint.ModelBuilder(gravity=(0, 0, -9.81 * factor))
        shape = {"stiffness": (1e4, 1e4, 1e4, 50, 50, 50), "inertia": (1, 0.1, 0.1, 0.1), "clamped": (0,)}
        bent = (0, 0, 1, 0, 0.3, 0)
        rod = builder.add_rod(
            "rod", start=(0, 0, 0), end=(1, 0, 0), edges=4, load=(0, 2 * factor, 0), reference_strain=bent, **shape
        )
        builder.add_tendon(rod.nodes, tension=20.0 * factor, local_points=(0.02, 0, 0))
        return lgint.equilibrium(builder.build(), loads).position(rod.nodes[-1])

    half, whole = found(1.0, (0.5, 1.0))
    np.testing.assert_allclose(half, found(0.5, (1.0,))[-1], atol=1e-12)
    assert np.abs(whole - half).max() > 1e-2
