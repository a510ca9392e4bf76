"""Trees in minimal coordinates: verbs against differences and explicit formulas, and every element on link frames."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import lgint
from bindings.systems import run
from cores import core_model
from elements.rows import ON_BODIES, OTHER, ROWS, TRIAD, Element, difference, tangent_and_difference
from elements.test_elements import CHAINS

REVOLUTE, PRISMATIC = 0.0, 1.0
FORCES_WITHOUT_FUNCTIONS = {e.kind for e in ON_BODIES if e.function is None and ROWS[e.kind]["family"] == "force"}
COM, IN_LINK = (0.1, -0.3, 0.2), (0.3, 0.5, -0.4)


def random_links(parents, seed=0):
    """One link for each entry of `parents`; every third joint slides, and every other inertia is diagonal."""
    rng = np.random.default_rng(seed)
    links = []
    for i, parent in enumerate(parents):
        R, axis = Rotation.random(rng=rng).as_matrix(), rng.normal(size=3)
        A = rng.normal(size=(3, 3))
        J = A @ A.T + np.eye(3)
        if i % 2:  # the link's axes are principal axes
            J = np.diag(np.diag(J))
        links.append(
            {
                "parent": parent,
                "slides": PRISMATIC if i % 3 == 1 else REVOLUTE,
                "R": R,
                "point": rng.normal(size=3),
                "axis": axis / np.linalg.norm(axis),
                "mass": rng.uniform(0.5, 2.0),
                "com": rng.normal(size=3),
                "J": J,
            }
        )
    return links


def parameters_of(links):
    values = []
    for k in links:
        J = k["J"]
        six = (J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2])
        values += [
            k["parent"],
            k["slides"],
            k.get("inner", 0.0),
            *k["R"].ravel(),
            *k["point"],
            *k["axis"],
            k["mass"],
            *k["com"],
            *six,
        ]
    return values


def tree(links, elements=(), frames=(), bodies=0):
    """A tree on block 0, with a frame at the COM of each link; free bodies after it, with a frame at each node."""
    n = len(links)
    places = [(0, (0.0,) * 6, 0)] + [(0, (0.0, 0, 0, *k["com"]), i) for i, k in enumerate(links)]
    blocks = [("Rn", n)]
    parts = [("tree", "tree", (0,), parameters_of(links), None)]
    for i in range(bodies):
        blocks.append(("R3xSO3", 0))
        places.append((1 + i, (0.0,) * 6))
        parts.append(("rigid_body", f"body{i}", (len(places) - 1,), (1.5, 2, 3, 4, 0.1, -0.2, 0.3), None))
    return core_model(blocks, [*places, *frames], [*parts, *elements])


TREES = {
    "one link": [-1],
    "chain": [-1, 0, 1, 2, 3],
    "branches": [-1, 0, 0, 1, 1, 2, 0, 6, 6],
    "two roots": [-1, -1, 0, 1, 2, 3, 1, 4, 0, 7, 8],
}


@pytest.fixture(params=TREES, ids=TREES)
def links(request):
    return random_links(TREES[request.param])


def start_of(model):
    """Coordinates at which positions are zero and rotations the identity."""
    pieces = [np.zeros(n) if kind == "Rn" else np.r_[np.zeros(3), np.eye(3).ravel()] for kind, n, *_ in model.blocks]
    return np.concatenate(pieces)


def random_state(model, seed):
    rng = np.random.default_rng(seed)
    q = model.retract(start_of(model), rng.normal(size=model.nv))
    return q, rng.normal(size=model.nv), rng.normal(size=model.nv), rng.normal(size=model.nrows)


# ---- kinematics and dynamics by explicit formulas ----


def poses(links, q):
    """Position of the origin and rotation of every link."""
    x, R = [], []
    for k, angle in zip(links, q, strict=True):
        p = int(k["parent"])
        A, origin = (R[p], x[p]) if p >= 0 else (np.eye(3), np.zeros(3))
        A, origin = A @ k["R"], origin + A @ k["point"]
        slide = k["slides"] == PRISMATIC
        x.append(origin + (A @ k["axis"] * angle if slide else 0))
        R.append(A if slide else A @ Rotation.from_rotvec(angle * k["axis"]).as_matrix())
    return x, R


def body_motion(links, q, v, a):
    """COM position, velocity and acceleration, angular velocity and acceleration, all inertial: relative kinematics."""
    x, R = poses(links, q)
    rows = []
    origin = {-1: (np.zeros(3),) * 5}
    for i, k in enumerate(links):
        p = int(k["parent"])
        px, pv, pa, pw, pal = origin[p]
        A = (R[p] if p >= 0 else np.eye(3)) @ k["R"]
        z, slide = A @ k["axis"], k["slides"] == PRISMATIC
        d = x[i] - px
        velocity, acceleration = pv + np.cross(pw, d), pa + np.cross(pal, d) + np.cross(pw, np.cross(pw, d))
        w, al = pw, pal
        if slide:
            velocity, acceleration = velocity + z * v[i], acceleration + z * a[i] + 2 * np.cross(pw, z * v[i])
        else:
            w, al = pw + z * v[i], pal + z * a[i] + np.cross(pw, z * v[i])
        origin[i] = (x[i], velocity, acceleration, w, al)
        c = R[i] @ k["com"]
        rows.append(
            (
                x[i] + c,
                velocity + np.cross(w, c),
                acceleration + np.cross(al, c) + np.cross(w, np.cross(w, c)),
                w,
                al,
                R[i],
            )
        )
    return rows


def jacobians(links, q):
    """Linear and angular velocity of each COM per joint rate."""
    unit = np.eye(len(links))
    columns = [body_motion(links, q, e, np.zeros(len(links))) for e in unit]
    return [
        (
            np.column_stack([c[i][1] for c in columns]),
            np.column_stack([c[i][3] for c in columns]),
        )
        for i in range(len(links))
    ]


def joint_forces(links, q, v, a):
    """Forces in the joints: Newton's and Euler's equations of each body, projected onto the joint's motion."""
    tau = np.zeros(len(links))
    motion = body_motion(links, q, v, a)
    for k, (Jv, Jw), (_, _, acceleration, w, al, R) in zip(links, jacobians(links, q), motion, strict=True):
        inertia = R @ k["J"] @ R.T
        tau += Jv.T @ (k["mass"] * acceleration) + Jw.T @ (inertia @ al + np.cross(w, inertia @ w))
    return tau


def test_frames_move_as_the_bodies_do(links):
    model = tree(links)
    q, v, a, _ = random_state(model, 1)
    for i, (x, xdot, _, w, _, R) in enumerate(body_motion(links, q, v, a)):
        gx, gR, gxdot, gomega = model.kinematics(1 + i, q, v)
        assert np.allclose(gx, x, atol=1e-13) and np.allclose(gR, R, atol=1e-13)
        assert np.allclose(gxdot, xdot, atol=1e-12) and np.allclose(gomega, R.T @ w, atol=1e-12)


def test_inverse_dynamics_is_newton_and_euler_on_every_body(links):
    model = tree(links)
    q, v, a, _ = random_state(model, 2)
    got = model.evaluate(0.0, q, v, a, want=("Ma", "gyro"))
    rest = joint_forces(links, q, np.zeros_like(v), a)
    expected = joint_forces(links, q, v, a)
    scale = np.abs(expected).max()
    assert np.abs(got["Ma"] - rest).max() < 1e-13 * scale
    assert np.abs(got["Ma"] + got["gyro"] - expected).max() < 1e-13 * scale


def test_mass_matrix_is_the_sum_over_bodies(links):
    model = tree(links)
    q, v, _, _ = random_state(model, 3)
    M = model.evaluate(0.0, q, v, want=("S",))["S"]
    motion = body_motion(links, q, v, v)
    expected = sum(
        k["mass"] * Jv.T @ Jv + Jw.T @ (row[5] @ k["J"] @ row[5].T) @ Jw
        for k, (Jv, Jw), row in zip(links, jacobians(links, q), motion, strict=True)
    )
    assert np.allclose(M, expected, rtol=1e-13, atol=1e-13 * np.abs(expected).max())
    assert np.array_equal(M, M.T)
    assert np.isclose(v @ M @ v / 2, model.energy(0.0, q, v)[0], rtol=1e-13)


# ---- elements on link frames ----

ENDS = {
    "two links": ((0, IN_LINK, 8), (0, COM, 7)),
    "link and its ancestor": ((0, IN_LINK, 0), (0, COM, 8)),
    "link and ground": ((0, IN_LINK, 5), (-1, COM, 0)),
    "body and link": ((1, IN_LINK, 0), (0, COM, 5)),
}


def element_on_links(element, ends):
    frames = [(block, (0.0, 0, 0, *offset), part) for block, offset, part in ENDS[ends]]
    links = random_links(TREES["branches"])
    first = len(links) + 2
    return tree(links, [element.on((first, first + 1))], frames, bodies=1)


@pytest.mark.parametrize("ends", ["two links", "link and its ancestor", "link and ground", "body and link"])
@pytest.mark.parametrize("element", ON_BODIES, ids=str)
def test_constraints_on_link_frames(element, ends):
    model = element_on_links(element, ends)
    q, v, _, _ = random_state(model, 4)
    got = model.evaluate(0.0, q, v, want=("B", "phidot", "zeta", "Z"))

    def phidot(w, passing=0.0):
        return difference(lambda s: model.evaluate(passing * s, model.retract(q, s * w), v, want=("phidot",))["phidot"])

    driven = model.evaluate(0.0, q, 0 * v, want=("phidot",))["phidot"]  # by motions that are prescribed
    scale = 1 + np.abs(got["zeta"]).max(initial=0)
    w = np.random.default_rng(5).normal(size=model.nv)
    slope = difference(lambda s: model.evaluate(0.0, model.retract(q, s * w), v, want=("phi",))["phi"])
    slope[model.nonholonomic] += (got["B"] @ w)[model.nonholonomic]  # theirs is zero
    assert np.allclose(got["B"] @ w, slope, rtol=0, atol=1e-8 * scale)
    assert np.allclose(got["phidot"], got["B"] @ v + driven, rtol=1e-12, atol=1e-12 * scale)
    assert np.allclose(got["zeta"], -phidot(v, 1.0), rtol=0, atol=1e-8 * scale)
    assert np.allclose(got["Z"] @ w, phidot(w), rtol=0, atol=1e-8 * scale)


@pytest.mark.parametrize("linked", [False, True], ids=["identity", "matrices"])
@pytest.mark.parametrize("k", CHAINS, ids=lambda k: f"{k[0]:g},{k[1]:g},{k[2]:g}")
@pytest.mark.parametrize("ends", ["two links", "link and its ancestor", "link and ground", "body and link"])
@pytest.mark.parametrize("element", ON_BODIES, ids=str)
def test_tangent_on_link_frames(element, ends, k, linked):
    model = element_on_links(element, ends)
    rng = np.random.default_rng(7)
    X = [np.eye(model.nv) for _ in range(3)]
    for matrix in X if linked else ():
        for i, j in ((0, 9), (12, 15)):  # the tree; the body's rotation
            matrix[i:j, i:j] += 0.3 * rng.normal(size=(j - i, j - i))
    point, du = random_state(model, 6), rng.normal(size=model.nv)
    got, expected, residual = tangent_and_difference(model, point, k, X, du)
    assert np.abs(got - expected).max() < 3e-8 * (1 + np.abs(expected).max() + np.abs(residual).max())
    if not linked:
        alone = model.evaluate(0.0, *point, want=("S",), k=k, wa=0.8)["S"]
        assert np.abs(alone @ du - got).max() < 1e-13 * (1 + np.abs(got).max())


def test_forces_are_minus_the_gradient_of_their_potential():
    """A wrench on a frame acts on every joint between its link and the root; at rest dampers exert no force."""
    found = set()
    for element in ON_BODIES:
        model = element_on_links(element, "link and its ancestor")
        q, v, _, _ = random_state(model, 8)
        if model.energy(0.0, q, v)[1] != 0:
            found.add(element.kind)
            force = model.evaluate(0.0, q, 0 * v, want=("force",))["force"]
            power = difference(lambda s, model=model, q=q, v=v: model.energy(0.0, model.retract(q, s * v), 0 * v)[1])
            assert np.isclose(-power, force @ v, rtol=1e-8, atol=1e-8), element
    assert found >= {"gravity", "spring", "cartesian_spring"}


def test_where_nothing_presses_there_is_no_force(links):
    """A tree without forces keeps its energy in a run, where work arrays hold old values before each evaluation."""
    model = tree(links)
    q, v, a, lam = random_state(model, 10)
    got = model.evaluate(0.0, q, v, a, lam, want=("force", "Btlam"))
    assert not got["force"].any() and not got["Btlam"].any()
    end = run(model, "rk44", q, 0.1 * v, t_end=0.02, h=1e-3)
    before, after = (model.energy(0.0, end["q"][i], end["v"][i])[0] for i in (0, -1))
    assert np.isclose(after, before, rtol=1e-8)


def test_reactions_on_link_frames():
    model = element_on_links(Element("revolute", (1.0, *TRIAD, *OTHER)), "two links")
    q, v, a, lam = random_state(model, 9)
    Btlam = model.evaluate(0.0, q, v, a, lam, want=("Btlam", "B"))
    assert np.allclose(Btlam["Btlam"], Btlam["B"].T @ lam, rtol=0, atol=1e-12 * np.abs(Btlam["Btlam"]).max())
    power = 0.0
    for slot in (0, 1):
        wrench = model.reaction(2, slot, 0.0, q, v, lam)
        _, _, xdot, omega = model.kinematics(11 + slot, q, v)
        power += wrench[:3] @ xdot + wrench[3:] @ omega
    assert np.isclose(power, -Btlam["Btlam"] @ v, rtol=1e-12, atol=1e-12)


# ---- articulated bodies ----


def dense_accelerations(model, q, v):
    """From the mass matrix, with a factorisation."""
    got = model.evaluate(0.0, q, v, want=("force", "gyro", "S"))
    return np.linalg.solve(got["S"], got["force"] - got["gyro"])


def check_accelerations(model, q, v):
    a, expected = model.initial(0.0, q, v)[0], dense_accelerations(model, q, v)
    assert np.abs(a - expected).max() < 1e-12 * np.abs(expected).max()


def test_accelerations_are_those_of_the_mass_matrix(links):
    model = tree(links)
    check_accelerations(model, *random_state(model, 12)[:2])


@pytest.mark.parametrize("seed", range(8))
def test_accelerations_under_loads_drives_and_springs(seed):
    """A random tree of 12 links, with a wrench, weights, springs between links, a damper, and drives in some joints."""
    rng = np.random.default_rng(seed)
    parents = [-1, *(int(rng.integers(-1 if i % 5 == 0 else max(i - 3, 0), i)) for i in range(1, 12))]
    frames = [(0, (0.0, 0, 0, *rng.normal(size=3)), i) for i in range(12)]
    frames.append((-1, (0.0, 0, 0, *rng.normal(size=3))))
    of = {name: 13 + i for i, name in enumerate(range(13))}
    elements = [("gravity", f"weight{i}", (of[i],), (1.5, 0.3, -0.2, -9.81), None) for i in range(12)]
    elements += [("spring", f"spring{i}", (of[i], of[i + 3]), (30.0, 0.4, 1.1), None) for i in range(9)]
    elements.append(("spring", "to ground", (of[11], of[12]), (30.0, 0.4, 1.1), None))
    elements += [("coordinate_drive", f"drive{i}", (of[i],), (3.0, 20.0, 0.7, -1, 0.2, 0.3, 4), None) for i in (1, 5)]
    elements += [element.on((of[2], of[7])) for element in ON_BODIES if element.kind in FORCES_WITHOUT_FUNCTIONS]
    model = tree(random_links(parents, seed), elements, frames)
    check_accelerations(model, *random_state(model, seed)[:2])


def test_no_body_of_a_tree_waits_for_others():
    """A spring between a tree and a free body: every body finds its accelerations by itself."""
    model = element_on_links(Element("spring", (30.0, 0.4, 1.1)), "body and link")
    check_accelerations(model, *random_state(model, 13)[:2])


def weightless(links, *which):
    return [k | {"mass": 0.0, "J": np.zeros((3, 3))} if i in which else k for i, k in enumerate(links)]


def test_links_without_mass():
    """Between other links they move with these; at the end of a branch the joint that holds them is named."""
    links = [k | {"slides": REVOLUTE} for k in random_links(TREES["branches"])]
    model = tree(weightless(links, 0, 1))
    check_accelerations(model, *random_state(model, 14)[:2])
    for last in (8, 3):
        model = tree(weightless(links, last))
        with pytest.raises(lgint.SingularError, match=f"velocity {last} of tree"):
            model.initial(0.0, *random_state(model, 15)[:2])


def test_joints_that_turn_about_one_axis_around_a_link_without_mass():
    links = random_links([-1, 0, 1])
    same = {"slides": REVOLUTE, "R": np.eye(3), "axis": np.array([0.0, 0.6, 0.8])}
    links[1] |= same
    links[2] |= same | {"point": np.zeros(3)}
    model = tree(weightless(links, 1))
    with pytest.raises(lgint.SingularError, match="velocity [12] of tree"):
        model.initial(0.0, *random_state(model, 16)[:2])


# ---- invalid descriptions ----


def broken(**changes):
    links = random_links([-1, 0])
    links[1] |= changes
    return links


@pytest.mark.parametrize(
    ("links", "text"),
    [
        (broken(parent=1), "parent must come before"),
        (broken(parent=0.5), "parent must come before"),
        (broken(slides=3), "joint must be 0"),
        (broken(slides=2), "joints of links must be those of the block"),
        (broken(inner=1.0), "an inner link of a joint must have no mass"),
        (broken(axis=np.array([1.0, 1, 0])), "not orthonormal"),
        (broken(R=2 * np.eye(3)), "not orthonormal"),
        (broken(mass=-1.0), "mass is negative"),
    ],
)
def test_links_that_make_no_sense(links, text):
    with pytest.raises(ValueError, match=text):
        tree(links)


@pytest.mark.parametrize("kind", [row["name"] for row in lgint._core.NODES if row["nown"] or row["explicit_only"]])
def test_nodes_with_rows_of_their_own_cannot_be_in_trees(kind):
    (nv,) = (row["nv"] for row in lgint._core.NODES if row["name"] == kind)
    links = parameters_of(random_links(range(-1, nv - 1)))
    with pytest.raises(ValueError, match="nodes inside trees must be rotations"):
        core_model([(kind, 0)], [(0, (0.0,) * 6)], [("tree", "t", (0,), links, None)])


def test_frames_that_make_no_sense():
    with pytest.raises(ValueError, match="no such part"):
        tree(random_links([-1]), frames=[(0, (0.0,) * 6, 1)])
    with pytest.raises(ValueError, match="a block has no inertia"):
        core_model([("Rn", 1)], [(0, (0.0,) * 6)], [("gravity", "g", (0,), (1.0, 0, 0, 0), None)])
    with pytest.raises(ValueError, match="number of links must be that of the block's coordinates"):
        core_model([("Rn", 2)], [(0, (0.0,) * 6)], [("tree", "t", (0,), parameters_of(random_links([-1])), None)])
    with pytest.raises(ValueError, match="another body on its block"):
        tree(random_links([-1]), [("rigid_body", "b", (0,), (1.0, 1, 1, 1, 0, 0, 0), None)])
    with pytest.raises(ValueError, match="same body"):
        spring = ("spring", "s", (1, 2), (30.0, 0.4, 1.1), None)
        tree(random_links([-1]), [spring], [(0, (0.0, 0, 0, 1, 1, 1), 0)])
