"""Edges of rods: strain and stress, their derivatives at all strains, and the bodies that edges attach to."""

import numpy as np
import pytest
from scipy.linalg import expm

import lgint
from cores import bits, core_model
from elements.rows import ROWS, difference, random_links, tangent_and_difference
from face.systems import COUPLED, add_example_edge, turn
from kinds import FORMULATIONS
from lgint._build.edges import add_edge
from lgint._model.loops import loops
from lgint._model.record import EDGES

BODY = {"mass": 1.3, "inertia": (0.3, 0.4, 0.5, 0.02, -0.03, 0.01)}
DAMPING = np.array([1, 2, 0.5, 0.4, 0.3, 0.2])
LENGTH = 1.25
REFERENCE = np.array([0.1, -0.2, 1.0, 0.4, 0.2, -0.3])
AXIS = np.array([0.6, -0.64, 0.48])
EYE = np.eye(3)
PLACE = np.array([[1, 0, 0, 0.3], [0, 1, 0, -0.4], [0, 0, 1, 0.5], [0, 0, 0, 1]])


def matrix(xi):
    """exp of (U, Omega), 4 x 4, by SciPy."""
    (a, b, c), U = xi[3:], xi[:3]
    return expm(np.array([[0, -c, b, U[0]], [c, 0, -a, U[1]], [-b, a, 0, U[2]], [0, 0, 0, 0]]))


INERTIA = (1.5, 2.0, 3.0, 4.0, 0.1, -0.2, 0.3)


def edge_parameters(damping, source, turns, stiffness):
    return (*turns[0].ravel(), *turns[1].ravel(), LENGTH, *stiffness.ravel(), *damping, *source)


def edge_model(
    kind,
    damping=DAMPING,
    source=(0, *REFERENCE),
    function=None,
    kinds=("S3R3", "S3R3"),
    turns=(EYE, EYE),
    stiffness=COUPLED,
):
    """An edge between the nodes of two bodies; `turns` rotate the axes of the sections to those of their bodies."""
    parameters = edge_parameters(damping, source, turns, stiffness)
    elements = [("rigid_body", f"body{i}", (i,), INERTIA, None) for i in range(2)]
    elements.append((kind, "edge", (0, 1), parameters, function))
    return core_model([(name, 0) for name in kinds], [(0, (0.0,) * 6), (1, (0.0,) * 6)], elements)


def state(xi, seed=0):
    """Coordinates of two nodes on S3R3 whose relative pose is exp(xi)."""
    base = np.eye(4)
    base[:3, :3], base[:3, 3] = turn(2.0, (1, 2, 3)), (0.3, -0.4, 0.5)
    poses = base, base @ matrix(xi)
    return np.concatenate([[*g[:3, 3], *lgint._rotation.quaternion_of_matrix(g[:3, :3])] for g in poses])


by_kind = pytest.mark.parametrize("kind", EDGES.values())

# ---- what follows from the parameters ----


@by_kind
@pytest.mark.parametrize("turned", [EYE, turn(0.4, AXIS)], ids=["own axes", "turned sections"])
@pytest.mark.parametrize("stiffness", [COUPLED, np.diag(np.diag(COUPLED))], ids=["coupled", "diagonal"])
def test_variants_find_out_anew_what_their_parameters_mean(kind, turned, stiffness):
    """Damping, axes of sections and zeros of the stiffness decide what is evaluated, in variants as in new models."""
    plain = (0 * DAMPING, EYE, np.diag(np.diag(COUPLED)))
    q, source, edges, models = state(LENGTH * REFERENCE), (0, *REFERENCE), [], []
    for damping, axes, values in (plain, (DAMPING, turned, stiffness)):
        edges.append(edge_parameters(damping, source, (axes, axes), values))
        models.append(edge_model(kind, damping, source, turns=(axes, axes), stiffness=values))
    for one, other, edge in ((*models, edges[1]), (*models[::-1], edges[0])):
        assert bits(one.varied(np.array([*INERTIA, *INERTIA, *edge])), q) == bits(other, q)
        assert bits(one, q) != bits(other, q)


# ---- strain and stress ----


@by_kind
def test_strain_stress_and_potential(kind):
    """w = log(relative pose)/ds, s = C (w - w0) + 2 C_d w'; constrained strains act through multipliers only."""
    core, n = edge_model(kind), ROWS[kind]["nrows"]
    w = np.array([0.2, 0.1, 1.3, 0.8, -0.6, 0.9])
    q, v = state(LENGTH * w), np.random.default_rng(1).normal(size=12)
    lam = np.arange(1.0, n + 1)
    strain, stress = core.strain([2], 0.0, q, v, lam)
    np.testing.assert_allclose(strain, [w], rtol=1e-13, atol=1e-14)
    rate = difference(lambda s: core.strain([2], 0.0, core.retract(q, s * v), v, lam)[0][0], 1e-4)
    free = np.arange(6) >= n
    expected = COUPLED @ (free * (w - REFERENCE)) + 2 * DAMPING * rate
    np.testing.assert_allclose(stress[0], np.where(free, expected, [*lam, *np.zeros(6 - n)]), rtol=1e-9)
    e = free * (w - REFERENCE)
    assert core.energy(0.0, q, v)[1] == pytest.approx(LENGTH / 2 * e @ COUPLED @ e, rel=1e-13)
    np.testing.assert_allclose(core.residual(0.0, q, v)[0][:n], LENGTH * (w - REFERENCE)[:n], rtol=1e-12)


def test_strain_of_many_states_and_edges():
    core = edge_model("edge")
    q = np.stack([state(LENGTH * np.array([0, 0, 1.0 + 0.1 * i, 0, 0, 0.2 * i])) for i in range(5)])
    strain, stress = core.strain([2, 2], np.zeros(5), q, np.zeros((5, 12)), np.zeros((5, 0)))
    assert strain.shape == stress.shape == (5, 2, 6)
    np.testing.assert_allclose(strain[:, 0, 2], 1.0 + 0.1 * np.arange(5), rtol=1e-14)
    np.testing.assert_array_equal(strain[:, 0], strain[:, 1])
    with pytest.raises(ValueError):
        core.strain([0], 0.0, q[0], np.zeros(12), np.zeros(0))
    with pytest.raises(ValueError, match="element must be from 0 to 2, given 3"):
        core.strain([3], 0.0, q[0], np.zeros(12), np.zeros(0))


@by_kind
def test_rigid_motions_cause_no_stress(kind):
    """A common displacement of both nodes, or a common twist, causes no stress, however large, even with damping."""
    core, n = edge_model(kind), ROWS[kind]["nrows"]
    for seed in range(3):
        rng = np.random.default_rng(seed)
        g = matrix(rng.normal(size=6))
        poses = g, g @ matrix(LENGTH * REFERENCE)
        q = np.concatenate([[*h[:3, 3], *lgint._rotation.quaternion_of_matrix(h[:3, :3])] for h in poses])
        xdot, omega = rng.normal(size=3), rng.normal(size=3)  # inertial
        v = np.concatenate([[*h[:3, :3].T @ (xdot + np.cross(omega, h[:3, 3])), *h[:3, :3].T @ omega] for h in poses])
        _, stress = core.strain([2], 0.0, q, v, np.zeros(n))
        assert np.abs(stress).max() < 1e-12 and core.energy(0.0, q, v)[1] < 1e-25
        assert all(np.abs(level).max(initial=0) < 1e-14 for level in core.residual(0.0, q, v))


ANGLES = [0.0, 1e-9, 1e-4, 0.3, 0.36, 1.5, 3.1, 3.3, 4.7, 5.7]
TURNS = turn(0.5, (1, 0, 2)), turn(2.0, (1, 1, -1))


def memory_of(angle):
    """The memory of an edge whose sections are turned by this angle about AXIS."""
    return np.array([np.cos(angle / 2), *np.sin(angle / 2) * AXIS, 0, 0, 0])


def state_of(kinds, xi):
    """Coordinates of two bodies whose sections have the relative pose exp(xi), half of which moves each of them."""
    builder, half = lgint.ModelBuilder(), matrix(0.5 * xi)
    for name, kind, side, section in zip("ab", kinds, (np.linalg.inv(half), half), TURNS, strict=True):
        pose = PLACE @ side
        builder.add_body(name, **BODY, position=pose[:3, 3], rotation=pose[:3, :3] @ section.T, formulation=kind)
    return builder.build().q0


@by_kind
@pytest.mark.parametrize("angle", ANGLES)
def test_derivatives_at_all_strains(kind, angle):
    """The rotation in one edge goes from none to 327 degrees; every formulation occurs at both ends."""
    shift = ANGLES.index(angle)
    for i, first in enumerate(FORMULATIONS):
        check_derivatives(kind, (first, FORMULATIONS[(i + shift) % len(FORMULATIONS)]), angle)


def check_derivatives(kind, kinds, angle):
    """Check the force, the rows, zeta, Z and the tangent against differences."""
    core, rng = edge_model(kind, kinds=kinds, turns=TURNS), np.random.default_rng(3)
    q = state_of(kinds, np.array([*0.5 * rng.normal(size=3), *angle * AXIS]))
    v, a, lam, w = (rng.normal(size=size) for size in (core.nv, core.nv, core.nrows, core.nv))
    mem = memory_of(angle)
    step = 1e-3 if angle < 3 else 1e-4

    def verbs(q, v, want):
        return core.evaluate(0.0, q, v, mem=mem, want=want)

    def slope(verb, direction, v=v):
        return difference(lambda s: verbs(core.retract(q, s * direction), v, (verb,))[verb], step)

    got = verbs(q, v, ("force", "B", "phidot", "zeta", "Z"))
    at_rest = verbs(q, 0 * v, ("force",))["force"]
    power = difference(lambda s: core.energy(0.0, core.retract(q, s * w), v, mem=mem)[1], step)
    assert np.isclose(-power, at_rest @ w, rtol=1e-8)
    assert np.allclose(got["B"] @ w, slope("phi", w), rtol=1e-8, atol=1e-9)
    alone = verbs(q, v, ("B",))["B"]  # if Z is not wanted, rows are formed by other code
    assert np.allclose(got["B"], alone, rtol=1e-13, atol=1e-13)
    assert np.allclose(got["phidot"], got["B"] @ v, rtol=1e-13, atol=1e-13)
    assert np.allclose(got["zeta"], -slope("phidot", v), rtol=1e-7, atol=1e-8)
    assert np.allclose(got["Z"] @ w, slope("phidot", w), rtol=1e-7, atol=1e-8)

    k, X = (0.3, -0.7, 1.9), random_links(core, rng)
    tangent, expected, _ = tangent_and_difference(core, (q, v, a, lam), k, X, w, step, mem)
    assert np.abs(tangent - expected).max() < 1e-7 * np.abs(expected).max()


def test_strains_up_to_330_degrees():
    """The strain is accurate to the last bits around half a turn and beyond."""
    core = edge_model("edge")
    for angle in (3.0, np.pi - 1e-9, np.pi, np.pi + 1e-9, 3.3, 4.5, 5.5, np.radians(330)):
        w = np.array([0.2, 0.1, 1.3, *angle / LENGTH * AXIS])
        strain, _ = core.strain([2], 0.0, state(LENGTH * w), np.zeros(12), np.zeros(0), mem=memory_of(angle))
        np.testing.assert_allclose(strain[0], w, rtol=0, atol=4e-15 / np.sin(angle / 2))


@pytest.mark.parametrize("axis", range(3))
def test_sections_that_are_turned_by_half_a_turn_in_their_bodies(axis):
    """Two components of both parts of the strain change their signs."""
    turned = -np.eye(3)
    turned[axis, axis] = 1
    w, v, lam = np.array([0.2, 0.1, 1.3, 0.8, -0.6, 0.9]), np.zeros(12), np.zeros(0)
    strain, _ = edge_model("edge", turns=(turned, turned)).strain([2], 0.0, state(LENGTH * w), v, lam)
    np.testing.assert_allclose(strain[0], [*turned @ w[:3], *turned @ w[3:]], rtol=1e-13)


def test_the_strain_does_not_depend_on_the_sign_of_quaternions():
    """After a full turn of a closed ring the quaternion is -p, but the last edge has the strain of the others."""
    core = edge_model("edge")
    q = state(LENGTH * REFERENCE)
    other = np.concatenate([q[:10], -q[10:]])
    for name in ("force",):
        first, second = (core.evaluate(0.0, x, np.zeros(12), want=(name,))[name] for x in (q, other))
        np.testing.assert_allclose(first, second, rtol=0, atol=1e-13)


# ---- reference strains as functions of time ----


def course(t):
    """A reference strain with its two derivatives; all of its components change."""
    size = np.array([0.3, -0.2, 0.1, 0.4, 0.5, -0.6])
    return np.array([REFERENCE + size * np.sin(3 * t), 3 * size * np.cos(3 * t), -9 * size * np.sin(3 * t)])


@pytest.mark.parametrize("mask", ["kirchhoff", "inextensible"])
def test_constrained_strains_follow_a_function_of_time(mask):
    builder = lgint.ModelBuilder()
    builder.add_body("a", **BODY)
    builder.add_body("b", **BODY, position=(1, 0, 0), rotation=turn(0.4, (1, 2, 0)), formulation="S3R3")
    add_example_edge(builder, "a", "b", mask, "edge", reference=course)
    report = lgint.check(builder.build(start="project"))
    assert report.ok, f"\n{report}"


def test_actuation_without_constraints():
    """Reference strains may be functions, tables or constants; damping acts on the rate of the strain itself."""
    w = np.array([0.2, 0.1, 1.3, 0.8, -0.6, 0.9])
    q, zero = state(LENGTH * w), np.zeros(12)

    def stress(t, **how):
        return edge_model("edge", **how).strain([2], t, q, zero, np.zeros(0))[1][0]

    for t in (0.1, 0.7):
        by_function = stress(t, function=lambda t: course(t)[0], source=(2,))
        np.testing.assert_allclose(by_function, COUPLED @ (w - course(t)[0]), rtol=1e-12)
    times, values = (0.0, 0.5, 2.0), np.array([course(t)[0] for t in (0.0, 0.5, 2.0)])
    table = {"source": (1, 3, *times, *values.ravel())}
    np.testing.assert_allclose(stress(0.25, **table), COUPLED @ (w - values[:2].mean(axis=0)), rtol=1e-12)
    np.testing.assert_allclose(stress(5.0, **table), stress(2.0, **table), rtol=1e-14)


def test_adaptive_steps_land_on_the_times_of_a_table():
    table = ((0.0, 0.013, 0.05), ((0, 0, 1, 0, 0, 0), (0, 0, 1, 0.1, 0, 0), (0, 0, 1, -0.3, 0, 0)))
    for mask in EDGES:
        run = lgint.integrate(arm(mask, reference=table), "dopri5", t_end=0.06, rtol=1e-4, atol=1e-6)
        assert {0.013, 0.05} <= set(run.t)


def test_bending_actuated_on_a_rod_without_shear():
    """A function may return the strain alone if constrained components are constant; else derivatives are needed."""

    def bend(t):
        return (0, 0, 1, t, 0, 0)

    def shear(t):
        return (t, 0, 1, 0, 0, 0)

    model = arm("kirchhoff", reference=bend, damping=(0.3,) * 6, gravity=(0, 0, 0))
    run = lgint.integrate(model, "genalpha", t_end=1.0, h=2e-3)
    edges = [model.joint_indices(name).element for name in model.joints]
    w, _ = model.core.strain(edges, run.t[-1], run.q[-1], run.v[-1], run.lam[-1])
    lag = 2 * 0.3 / 30.0  # by which damping makes the strain lag at the rate 1
    assert np.abs(w[:, 3] - (1 - lag)).max() < 1e-3 and np.abs(w[:, 0]).max() < 1e-10
    with pytest.raises(ValueError, match=r"also return its first two derivatives: shape \(3, 6\) expected"):
        lgint.integrate(arm("kirchhoff", reference=shear), "genalpha", t_end=0.1, h=2e-3)


def test_what_is_refused():
    builder = lgint.ModelBuilder()
    builder.add_body("a", **BODY)
    eye, zero = np.eye(3), np.zeros(3)

    def edge(mask=None, stiffness=COUPLED, reference=REFERENCE, length=1.0, rotation=eye):
        return add_edge(
            builder, lgint.ground, "a", rotation, eye, zero, zero, length, stiffness, DAMPING, reference, mask, "e"
        )

    table = ((0.0, 1.0), np.array([REFERENCE, 2 * REFERENCE]))
    for how, text in {
        "mask": ({"mask": "rigid"}, "constraints of edge 'e': None, 'kirchhoff', 'inextensible' expected, got 'rigid'"),
        "sides": ({"stiffness": COUPLED + np.eye(6, k=1)}, "a symmetric matrix without negative eigenvalues"),
        "sign": ({"stiffness": -COUPLED}, "a symmetric matrix without negative eigenvalues"),
        "table": ({"mask": "kirchhoff", "reference": table}, "a table cannot change constrained strains"),
        "length": ({"length": 0.0}, "length of edge 'e': a positive number expected, got 0"),
        "directors": ({"rotation": 2 * eye}, "rotation0 of edge 'e': an orthogonal matrix"),
    }.values():
        with pytest.raises(ValueError, match=text.replace("(", r"\(")):
            edge(**how)
    assert edge(mask=None, reference=table) == "e"


def test_descriptions_that_make_no_sense():
    """The core refuses descriptions that the builder never writes."""
    table = (1, 2, 0.0, 1.0, *REFERENCE, *(2 * REFERENCE))
    assert edge_model("edge", source=table)
    with pytest.raises(ValueError, match="edge: a table cannot change the reference of a constrained strain"):
        edge_model("kirchhoff_edge", source=table)
    with pytest.raises(ValueError, match="edge: a function of time is missing"):
        edge_model("edge", source=(2,))
    with pytest.raises(ValueError, match="edge: constant data need six values"):
        edge_model("edge", source=(0, 1, 2, 3))
    with pytest.raises(ValueError, match="edge: the times of a table must ascend"):
        edge_model("edge", source=(1, 2, 1.0, 1.0, *REFERENCE, *REFERENCE))


# ---- chains of edges ----


def arm(
    mask=None, edges=4, end="ground", reference=(0, 0, 1, 0, 0, 0), damping=(0.0,) * 6, gravity=(0, 0, -9.81), **sizes
):
    """A rod of length 1 along x, at rest; the ground, or a body welded to the ground, holds its first end."""
    builder = lgint.ModelBuilder(gravity=gravity, formulation=sizes.get("formulation", "S3R3"))
    R, ds = turn(np.pi / 2, (0, 1, 0)), 1.0 / edges
    stiffness = np.diag(sizes.get("stiffness", (4e3, 4e3, 1e4, 30.0, 20.0, 15.0)))
    last, R_last, x_last = lgint.ground, R, np.zeros(3)
    if end == "body":
        builder.add_body("node0", mass=0.1, inertia=(1e-3,) * 3, rotation=R)
        builder.add_joint("rigid", lgint.ground, "node0", point=(0, 0, 0))
        last, R_last = "node0", np.eye(3)
    for i in range(1, edges + 1):
        m = 0.5 * ds * (1 if i < edges else 0.5)
        builder.add_body(f"node{i}", mass=m, inertia=(2e-3 * m,) * 3, position=(i * ds, 0, 0), rotation=R)
        where = (last, f"node{i}", R_last, np.eye(3), x_last, (0, 0, 0))
        add_edge(builder, *where, ds, stiffness, damping, reference, mask, f"edge{i}")
        last, R_last = f"node{i}", np.eye(3)
    return builder.build()


@pytest.mark.parametrize("method", ["herk4", "genalpha", "dopri5"])
@pytest.mark.parametrize("mask", EDGES)
def test_a_clamp_equals_a_weld(mask, method):
    """The first section may be the ground, or a body that a rigid joint holds there, with the same motion."""
    runs = [lgint.integrate(arm(mask, end=end), method, t_end=0.05, h=5e-4) for end in ("ground", "body")]
    places = [run.position("node4")[-1] for run in runs]
    assert abs(places[0][2]) > 3e-3
    np.testing.assert_allclose(*places, rtol=0, atol=1e-10)


@pytest.mark.parametrize("mask", ["kirchhoff", "inextensible"])
def test_constrained_forms_are_the_stiff_limit(mask):
    """Under a weight the equilibria approach each other as one over the stiffness, so that both have the same limit."""
    load = {"gravity": (2.0, -1.0, -9.81)}
    exact = lgint.equilibrium(arm(mask, **load)).position("node4")[-1]
    distance = []
    for stiff in (1e5, 1e6, 1e7):
        shear, stretch = (stiff, stiff), stiff if mask == "inextensible" else 1e4
        soft = arm(None, stiffness=(*shear, stretch, 30.0, 20.0, 15.0), **load)
        distance.append(np.linalg.norm(lgint.equilibrium(soft).position("node4")[-1] - exact))
    assert distance[0] < 1e-3
    np.testing.assert_allclose(np.divide(distance[:-1], distance[1:]), 10, rtol=0.02)


def test_multipliers_are_the_stresses_of_stiff_edges():
    """Shear forces of a hanging arm are lam if shear is excluded, and C (w - w0) if it is only small."""
    forms = {
        mask: lgint.equilibrium(arm(mask, stiffness=(1e8, 1e8, 1e4, 30.0, 20.0, 15.0))) for mask in (None, "kirchhoff")
    }
    found = {}
    for mask, run in forms.items():
        edges = [run.model.joint_indices(f"edge{i}").element for i in range(1, 5)]
        found[mask] = run.model.core.strain(edges, 0.0, run.q[-1], run.v[-1], run.lam[-1])[1]
    assert np.abs(found[None][:, 0]).max() > 1
    np.testing.assert_allclose(found[None], found["kirchhoff"], rtol=0, atol=1e-5)


def test_edges_at_an_angle_and_away_from_the_centre_of_mass():
    """A bent chain of bodies of several formulations in general position: lgint.check compares all functions."""
    builder = lgint.ModelBuilder(gravity=(0, 1, -9.81))
    kinds = ["S3R3", "R3xSO3", "euler_parameters", "tait_bryan"]
    for i, formulation in enumerate(kinds):
        R = turn(0.4 * i, (1, i, 2))
        builder.add_body(f"b{i}", **BODY, position=(i, 0.1 * i, 0), rotation=R, formulation=formulation)
    for i, mask in enumerate(EDGES):
        add_example_edge(builder, f"b{i}", f"b{i + 1}", mask, f"edge{i}")
    add_example_edge(builder, lgint.ground, "b0", "kirchhoff", "clamp")
    report = lgint.check(builder.build(start="project"))
    assert report.ok, f"\n{report}"


def test_reaction_of_a_clamp_carries_the_weight():
    """At rest the first edge holds the weight and its moment by stress and multipliers."""
    for mask in EDGES:
        run = lgint.equilibrium(arm(mask))
        core, place = run.model.core, run.model.joint_indices("edge1")
        wrench = -core.reaction(place.element, 0, 0.0, run.q[-1], run.v[-1], run.lam[-1])  # wrench on the ground
        bodies = run.model.bodies
        masses = np.array([body["mass"] for body in bodies.values()])
        places = np.array([run.position(name)[-1] for name in bodies])
        weight = np.outer(masses, (0, 0, -9.81))
        np.testing.assert_allclose(-wrench[:3], weight.sum(axis=0), atol=1e-8)
        np.testing.assert_allclose(-wrench[3:], np.cross(places, weight).sum(axis=0), atol=1e-8)


# ---- loops, files ----


def ring(mask, edges=6):
    """A closed chain of nodes on a circle, free of stress."""
    builder = lgint.ModelBuilder(formulation="S3R3")
    angles = 2 * np.pi * np.arange(edges) / edges
    for i, angle in enumerate(angles):
        R = turn(-angle, (0, 0, 1)).T @ np.array([[0, 1, 0], [0, 0, 1], [1, 0, 0]]).T
        builder.add_body(
            f"n{i}", mass=1.0, inertia=(0.1,) * 3, position=(np.sin(angle), 1 - np.cos(angle), 0), rotation=R
        )
    relative = builder.build()
    for i in range(edges):
        (x0, R0, *_), (x1, R1, *_) = (
            relative.kinematics(f"n{k % edges}", relative.q0, relative.v0) for k in (i, i + 1)
        )
        pose = np.concatenate([R0.T @ (x1 - x0), lgint._rotation.quaternion_of_matrix(R0.T @ R1)])
        w0 = lgint.groups.s3r3.log(pose)
        add_edge(
            builder,
            f"n{i}",
            f"n{(i + 1) % edges}",
            np.eye(3),
            np.eye(3),
            (0, 0, 0),
            (0, 0, 0),
            1.0,
            COUPLED,
            DAMPING,
            w0,
            mask,
            f"e{i}",
        )
    return builder.build()


def test_closed_rings_and_redundant_rows():
    """Rows of edges in a ring are checked as those of joints are; edges without rows close no loop."""
    assert loops(ring(None)) == []
    for mask, rows in (("kirchhoff", 2), ("inextensible", 3)):
        model = ring(mask)
        found = loops(model)
        assert [loop.nrows for loop in found] == [6 * rows] and model.dropped == {}
        B = found[0].jacobian(found[0].q, found[0].v)
        assert np.linalg.matrix_rank(B) == 6 * rows


def test_an_edge_beside_a_weld_is_redundant_by_its_own_rows_only():
    """If two bodies have a rigid joint and an edge, the shear rows of the edge are redundant, and nothing else is."""
    for mask, count in ((None, 0), ("kirchhoff", 2), ("inextensible", 3)):
        builder = lgint.ModelBuilder()
        builder.add_body("a", **BODY)
        builder.add_body("b", **BODY, position=(0, 0, 1))
        builder.add_joint("rigid", "a", "b", point=(0, 0, 0.5), name="weld")
        where = ("a", "b", np.eye(3), np.eye(3), (0, 0, 0), (0, 0, 0))
        add_edge(builder, *where, 1.0, COUPLED, DAMPING, (0, 0, 1, 0, 0, 0), mask, "edge")
        model = builder.build(redundant="drop")
        assert model.dropped == ({"edge": list(range(count))} if count else {})
        assert len(model.dropped_rows) == count
        report = lgint.check(model)
        assert report.ok, f"\n{report}"


def test_files_keep_edges(tmp_path):
    run = lgint.integrate(arm("kirchhoff"), "genalpha", t_end=0.01, h=1e-3)
    run.save(tmp_path / "run.npz")
    again = lgint.load(tmp_path / "run.npz")
    np.testing.assert_array_equal(
        again.model.core.evaluate(0.0, again.q[-1], again.v[-1], want=("force",))["force"],
        run.model.core.evaluate(0.0, run.q[-1], run.v[-1], want=("force",))["force"],
    )
    moved = lgint.integrate(arm(None, reference=lambda t: (0, 0, 1, t, 0, 0)), "dopri5", t_end=0.01, h=1e-3)
    moved.save(tmp_path / "moved.npz")
    with pytest.raises(Exception, match="the function of 'edge1' is a Python function and was not saved"):
        lgint.load(tmp_path / "moved.npz").energy()
