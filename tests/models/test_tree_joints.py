"""Trees whose joints have several coordinates, and whose roots are bodies, against the same bodies with constraints."""

import numpy as np
import pytest

import lgint
from allocated import allocated
from battery import observed_order
from lgint import _core
from lgint._model.joints import TREE_JOINTS
from lgint._run import scene

pytestmark = pytest.mark.filterwarnings("ignore:inertia of:UserWarning")

AXIS = np.array([0.6, 0.0, 0.8])
ACROSS = np.array([0.0, 1.0, 0.0])
AXES = {  # arguments of each kind of joint, and the motions that it allows: whether it slides, and the axis
    "revolute": ({"axis": AXIS}, [(False, AXIS)]),
    "prismatic": ({"axis": AXIS}, [(True, AXIS)]),
    "cylindrical": ({"axis": AXIS}, [(True, AXIS), (False, AXIS)]),
    "universal": ({"axis": AXIS, "second_axis": ACROSS}, [(False, AXIS), (False, ACROSS)]),
    "planar": ({"axis": ACROSS}, [(True, AXIS), (True, np.cross(AXIS, ACROSS)), (False, ACROSS)]),
    "spherical": ({}, [(False, axis) for axis in np.eye(3)]),
    "free": ({}, [(True, axis) for axis in np.eye(3)]),
}
ROOTS = ("ground", "pivot", "R3xSO3", "R3xS3", "R3xRV", "SE3", "S3R3")
POINT, NEXT = np.array([0.3, 0.1, 0.2]), np.array([0.7, 0.5, 0.2])


def add_moving(b, name, com, point, velocity, omega):
    """Adds a body of which a point has this velocity."""
    at_com = velocity + np.cross(omega, com - point)
    b.add_body(name, mass=1.5, inertia=(0.1, 0.2, 0.15), position=com, velocity=at_com, angular_velocity=omega)


def mechanism(formulation, kind, root, load=True):
    """A root, an arm on a joint of the kind, and a hand that hangs on the arm by a ball and is held by a spring."""
    b = lgint.ModelBuilder(gravity=(0.3, 0, -9.81), formulation=formulation)
    x, velocity, omega = np.zeros(3), np.zeros(3), np.zeros(3)
    before = lgint.ground
    if root != "ground":
        before, omega = "root", np.array([0.2, 0.5, -0.4])
        if root == "pivot":
            where = {"pivot": (0, 0, 0), "position": (0.1, 0.2, -0.1), "formulation": "R3xSO3"}
        else:
            velocity = np.array([0.1, -0.2, 0.3])
            where = {"velocity": velocity, "formulation": root}
        b.add_body(before, mass=2.0, inertia=(0.3, 0.2, 0.4), angular_velocity=omega, **where)
    arguments, motions = AXES[kind]
    velocity = velocity + np.cross(omega, POINT - x)
    for rate, (slides, axis) in zip((0.7, -0.5, 0.9), motions, strict=False):
        velocity, omega = (velocity + rate * axis, omega) if slides else (velocity, omega + rate * axis)
    if kind == "free":
        omega = omega + (0.3, 0.5, -0.2)
    add_moving(b, "arm", np.array([0.5, 0.4, 0.1]), POINT, velocity, omega)
    if kind != "free" or formulation == "minimal":
        b.add_joint(kind, before, "arm", point=POINT, name="joint", **arguments)
    velocity = velocity + np.cross(omega, NEXT - POINT)
    omega = omega + (0.4, -0.3, 0.2)
    add_moving(b, "hand", np.array([0.9, 0.4, 0.3]), NEXT, velocity, omega)
    b.add_joint("spherical", "arm", "hand", point=NEXT, name="ball")
    b.add_spring(lgint.ground, "hand", stiffness=20.0, length=0.5)
    if load:
        b.add_force("hand", torque=(0.1, -0.2, 0.3), frame="body")
    return b


def coordinates_of(kind):
    return [which for which, kinds in KINDS_WITH.items() if kind in kinds]


KINDS_WITH = {"angle": ("revolute", "cylindrical", "planar"), "slide": ("prismatic", "cylindrical")}


def both(kind, root):
    """The mechanism in minimal coordinates, and with constraints."""
    built = [mechanism(formulation, kind, root) for formulation in ("minimal", "R3xSO3")]
    for b in built:
        for which in coordinates_of(kind):
            b.add_joint_drive("joint", torque=0.3, stiffness=2.0, damping=0.1, coordinate=which)
    return [b.build() for b in built]


@pytest.mark.parametrize("root", ROOTS)
@pytest.mark.parametrize("kind", AXES)
def test_a_tree_moves_as_bodies_with_constraints_do(kind, root):
    """States, reactions and coordinates of joints, by an explicit method."""
    tree, bodies = both(kind, root)
    assert tree.nc == 0 and bodies.nc > 0 and len(tree.core.blocks) == 1
    one, other = (lgint.integrate(model, "rk44", t_end=0.1, h=1e-3) for model in (tree, bodies))
    for name in tree.bodies:
        assert np.allclose(one.position(name), other.position(name), rtol=0, atol=1e-10)
        assert np.allclose(one.rotation(name), other.rotation(name), rtol=0, atol=1e-10)
        assert np.allclose(one.velocity(name), other.velocity(name), rtol=0, atol=1e-9)
    if kind == "free":
        assert np.abs(one.reaction("joint")).max() < 1e-9
    for joint in other.model.joints:
        expected = other.reaction(joint)
        assert np.allclose(one.reaction(joint), expected, rtol=0, atol=1e-8 * np.abs(expected).max())
    for which in coordinates_of(kind):
        assert np.allclose(one.joint_position("joint", which), other.joint_position("joint", which), atol=1e-10)
        assert np.allclose(one.joint_rate("joint", which), other.joint_rate("joint", which), atol=1e-9)


@pytest.mark.parametrize("root", ["ground", "R3xSO3", "SE3"])
@pytest.mark.parametrize("kind", ["universal", "planar", "spherical", "free"])
def test_implicit_steps(kind, root):
    """Generalized-alpha has the order two, and meets the explicit method."""
    tree, _ = both(kind, root)
    exact = lgint.integrate(tree, "rk67", t_end=0.1, h=1e-3)
    steps, errors = (25, 50, 100), []
    for n in steps:
        run = lgint.integrate(tree, "genalpha", t_end=0.1, h=0.1 / n, rho_inf=0.8)
        errors.append(np.abs(run.position("hand")[-1] - exact.position("hand")[-1]).max())
    assert abs(observed_order(steps, errors) - 2) < 0.15, errors


@pytest.mark.parametrize("root", ROOTS)
@pytest.mark.parametrize("kind", AXES)
def test_what_the_model_says_of_itself(kind, root):
    """Mass, forces, energies and tangents against differences; accelerations against the mass matrix."""
    model = mechanism("minimal", kind, root).build()
    assert lgint.check(model)
    got = model.core.evaluate(0.0, model.q0, model.v0, want=("S", "force", "gyro"))
    expected = np.linalg.solve(got["S"], got["force"] - got["gyro"])
    a = model.core.initial(0.0, model.q0, model.v0)[0]
    assert np.abs(a - expected).max() < 1e-12 * np.abs(expected).max()


def test_rates_of_a_free_joint_and_what_it_cannot_do():
    """Rates are along the axes of the second body, then about them; a free joint between other bodies is an error."""
    b = lgint.ModelBuilder(formulation="minimal")
    turned = lgint.groups.so3.exp((0.3, -0.4, 0.2))
    b.add_body("first", mass=1.0, inertia=(1, 2, 3), position=(1, 0, 0))
    b.add_joint("revolute", lgint.ground, "first", point=(0, 0, 0), axis=(0, 0, 1), rate=2.0)
    b.add_body("second", mass=1.0, inertia=(1, 2, 3), position=(1, 1, 0), rotation=turned)
    b.add_joint("free", "first", "second", point=(1, 1, 0), rate=(1, 2, 3, 4, 5, 6))
    with pytest.raises(ValueError, match="a free joint constrains nothing"):
        b.add_joint("free", "first", "second", point=(1, 1, 0))
    with pytest.raises(ValueError, match="a free joint takes no axis"):
        b.add_body("third", mass=1.0, inertia=(1, 2, 3))
        b.add_joint("free", "first", "third", point=(0, 0, 0), axis=(0, 0, 1))
    b.add_joint("free", "second", "third", point=(0, 0, 0))
    model = b.build()
    run = lgint.integrate(model, "rk44", t_end=1e-3, h=1e-3)
    assert np.allclose(run.velocity("second")[0], np.cross((0, 0, 2), (1, 1, 0)) + turned @ (1, 2, 3))
    assert np.allclose(run.angular_velocity("second")[0], turned.T @ (0, 0, 2) + (4, 5, 6))
    assert model.nv == 13 and model.nq == 25


def test_energy_is_conserved():
    run = lgint.integrate(mechanism("minimal", "universal", "SE3", load=False).build(), "rk67", t_end=0.5, h=1e-3)
    assert np.ptp(run.energy()) < 1e-10


def test_other_parameters_and_files(tmp_path):
    changes = {"arm.mass": 2.0, "hand.mass": 0.4, "root.mass": 3.0}
    tree, bodies = (model.with_parameters(**changes) for model in both("spherical", "SE3"))
    one, other = (lgint.integrate(model, "rk44", t_end=0.05, h=1e-3) for model in (tree, bodies))
    assert np.allclose(one.position("hand"), other.position("hand"), rtol=0, atol=1e-10)
    one.save(tmp_path / "run.npz")
    again = lgint.load(tmp_path / "run.npz")
    assert np.array_equal(again.position("hand"), one.position("hand"))
    assert np.array_equal(lgint.integrate(again.model, "rk44", t_end=0.05, h=1e-3).q, one.q)


def loop_through_a_root(formulation):
    b = mechanism(formulation, "universal", "R3xSO3")
    b.add_joint("distance", "root", "hand", point=[(0, 0.3, 0), (0.9, 0.4, 0.3)], name="rod")
    return b.build(start="project")


def test_a_loop_through_a_tree_with_a_free_root():
    """Explicit steps are those of bodies with constraints; implicit ones meet them with the order two."""
    tree, bodies = (loop_through_a_root(formulation) for formulation in ("minimal", "R3xSO3"))
    exact, other = (lgint.integrate(model, "rk67", t_end=0.1, h=1e-3) for model in (tree, bodies))
    assert np.allclose(exact.position("hand"), other.position("hand"), rtol=0, atol=1e-9)
    assert np.allclose(exact.reaction("rod"), other.reaction("rod"), rtol=0, atol=1e-8)
    steps, errors = (25, 50, 100), []
    for n in steps:
        run = lgint.integrate(tree, "genalpha", t_end=0.1, h=0.1 / n, rho_inf=0.8)
        ends = [(one.position("hand")[-1], one.velocity("hand")[-1]) for one in (run, exact)]
        errors.append(np.abs(np.subtract(*ends)).max(axis=1))
    for error in np.transpose(errors):
        assert abs(observed_order(steps, error) - 2) < 0.15, errors


# ---- loops and motions, which explicit methods solve by the inverse mass of the tree ----

LINKS = 24
JOINTS = ("revolute", "universal", "prismatic", "spherical", "cylindrical", "planar")


def corner(i):
    return np.array([0.2 * i, 0.05 * (i % 3), 0.04 * (i * i % 5)])


def long_tree(formulation, root, closing):
    """A chain of links on joints of all kinds, with a branch, which `closing` joins to something else."""
    b = lgint.ModelBuilder(gravity=(0.3, 0, -9.81), formulation=formulation)
    before = lgint.ground
    if root != "ground":
        before = "root"
        b.add_body("root", mass=2.0, inertia=(0.3, 0.2, 0.4), formulation=root)
    for i in range(LINKS):
        if i == LINKS - 4:
            before = "link10"
        kind = JOINTS[i % len(JOINTS)]
        name = f"link{i}"
        b.add_body(name, mass=1.0, inertia=(0.02, 0.03, 0.025), position=(corner(i) + corner(i + 1)) / 2)
        b.add_joint(kind, before, name, point=corner(i), name=f"joint{i}", **AXES[kind][0])
        if kind in KINDS_WITH["slide"]:
            b.add_joint_drive(f"joint{i}", stiffness=200.0, coordinate="slide")
        before = name
    closing(b)
    return b.build(start="project")


def joined(kind, first, last):
    """Joins two links, or a link and the ground, by a joint."""
    arguments = AXES[kind][0] if kind in AXES else {}

    def close(b):
        b.add_joint(kind, first, last, point=corner(LINKS), name="closing", **arguments)

    return close


def moved(kind, last):
    """Moves a link by a support: along a curve, and turning."""

    def motion(t):
        s, c = np.sin(5 * t), np.cos(5 * t)
        value = np.array([0.1 * s, 0.05 * t**2, 0.02 * (1 - c), 0.3 * s, 0, 0])
        return value, [0.5 * c, 0.1 * t, 0.1 * s, 1.5 * c, 0, 0], [-2.5 * s, 0.1, 0.5 * c, -7.5 * s, 0, 0]

    def close(b):
        b.add_support("hand", motion=motion)
        b.add_joint(kind, "hand", last, point=corner(LINKS), name="closing", **(AXES[kind][0] if kind in AXES else {}))

    return close


def tied(b):
    """Two closings: a rod between two branches, and a ball."""
    b.add_joint("distance", "link15", "link23", point=[corner(15), corner(24)], name="closing")
    b.add_joint("spherical", lgint.ground, "link19", point=corner(20), name="second")


CLOSINGS = {
    "ball to the ground": joined("spherical", lgint.ground, "link23"),
    "hinge to the ground": joined("revolute", lgint.ground, "link23"),
    "slide between branches": joined("cylindrical", "link18", "link23"),
    "weld between branches": joined("rigid", "link18", "link23"),
    "ball on a moving support": moved("spherical", "link23"),
    "universal joint on a moving support": moved("universal", "link23"),
    "weld to a moving support": moved("rigid", "link23"),
    "a rod and a ball": tied,
}


@pytest.mark.parametrize("closing", CLOSINGS)
@pytest.mark.parametrize("root", ["ground", "R3xSO3"])
def test_loops_and_motions_of_a_long_tree(root, closing):
    """States and reactions, those that motions need included, by explicit and by half-explicit methods."""
    models = [long_tree(formulation, root, CLOSINGS[closing]) for formulation in ("minimal", "R3xSO3")]
    for method in ("rk44", "herk5"):
        one, other = (lgint.integrate(model, method, t_end=0.01, h=2e-4) for model in models)
        assert np.ptp(one.position("link12"), axis=0).max() > 1e-4
        for name in one.model.bodies:
            assert np.allclose(one.position(name), other.position(name), rtol=0, atol=1e-8)
            assert np.allclose(one.rotation(name), other.rotation(name), rtol=0, atol=1e-8)
            assert np.allclose(one.velocity(name), other.velocity(name), rtol=0, atol=1e-8)
        for joint in (*models[0].joints, *(["hand"] if "support" in closing else [])):
            expected = other.reaction(joint)
            assert np.allclose(one.reaction(joint), expected, rtol=0, atol=1e-8 * (1 + np.abs(expected).max())), joint


@pytest.mark.parametrize("closing", CLOSINGS)
def test_accelerations_and_multipliers_solve_the_index_1_equations(closing):
    model = long_tree("minimal", "SE3", CLOSINGS[closing])
    v = model.core.project(0.0, model.q0, np.random.default_rng(2).normal(size=model.nv))[1]
    a, lam = model.core.initial(0.0, model.q0, v)
    got = model.core.evaluate(0.0, model.q0, v, want=("S", "force", "gyro", "B", "zeta"))
    matrix = np.block([[got["S"], got["B"].T], [got["B"], np.zeros((model.nc, model.nc))]])
    expected = np.linalg.solve(matrix, np.concatenate([got["force"] - got["gyro"], got["zeta"]]))
    assert np.allclose(np.concatenate([a, lam]), expected, rtol=0, atol=1e-9 * np.abs(expected).max())


def chain(n, closed, needle=False):
    """Links on hinges; `closed`: a rod holds the last one; `needle`: one more has no inertia about its axis."""
    b = lgint.ModelBuilder(gravity=(0.3, 0, -9.81), formulation="minimal")
    for i in range(n):
        b.add_body(f"link{i}", mass=1.0, inertia=(0.02, 0.03, 0.025), position=(corner(i) + corner(i + 1)) / 2)
        before = f"link{i - 1}" if i else lgint.ground
        b.add_joint("revolute", before, f"link{i}", point=corner(i), axis=np.roll(AXIS, i))
    if closed:
        b.add_distance(lgint.ground, f"link{n - 1}", point=[corner(n) + (0, 0, 1), corner(n)])
    if needle:
        b.add_body("needle", mass=1.0, inertia=(0, 0.02, 0.02), position=corner(n))
        b.add_joint("revolute", f"link{n - 1}", "needle", point=corner(n), axis=(1, 0, 0))
    return b.build()


@pytest.mark.parametrize("closed", [False, True])
@pytest.mark.parametrize("method", ["rk44", "herk5"])
def test_a_joint_that_moves_no_inertia_is_found(method, closed):
    with pytest.raises(lgint.SingularError, match=r"velocity 40 of link0\.tree"):
        lgint.integrate(chain(40, closed, needle=True), method, t_end=0.01, h=1e-3)


@pytest.mark.measures
@pytest.mark.usefixtures("no_collection")
@pytest.mark.parametrize("closed", [False, True])
@pytest.mark.parametrize("method", ["rk44", "herk5", "dopri5"])
def test_the_memory_of_explicit_runs_grows_linearly(method, closed):
    taken = []
    for n in (100, 200, 400):
        model = chain(n, closed)
        _core.Stepper(model.core, method, 0.0, model.q0, model.v0, None, {})  # the model makes its plans
        before = allocated()
        stepper = _core.Stepper(model.core, method, 0.0, model.q0, model.v0, None, {})
        taken.append(allocated() - before)
        del stepper
    assert 1.9 < (taken[2] - taken[1]) / (taken[1] - taken[0]) < 2.1


# ---- random trees, whose branches a joint closes, and in which a joint is moved ----

LOOPS = ("spherical", "universal", "cylindrical", "planar", "revolute")
VELOCITIES = ("velocity", "angular_velocity")


def draw_root(b, root, start):
    """Adds the root of a random tree, whose velocities are those of `start` if there is one; returns its name."""
    if root == "ground":
        return lgint.ground
    v, omega = start or ((0.1, -0.2, 0.3), (0.2, 0.5, -0.4))
    where = {"pivot": (0, 0, 0), "position": (0.1, 0.2, -0.1)} if root == "pivot" else {"velocity": v}
    node = "R3xSO3" if root == "pivot" else root
    return b.add_body("root", mass=2.0, inertia=(0.3, 0.2, 0.4), angular_velocity=omega, **where, formulation=node)


def random_tree(seed, start=None, motion=None):
    """Six links with their loop: in minimal coordinates, or as bodies with velocities by name and constraints."""
    rng = np.random.default_rng(seed)
    b = lgint.ModelBuilder(gravity=rng.normal(size=3))
    names = [draw_root(b, ROOTS[seed % len(ROOTS)], start and start.get("root"))]
    for i, kind in enumerate(rng.permutation([*AXES][:6])):
        before, name = names[rng.integers(len(names))], f"link{i}"
        x, point, rate = rng.normal(size=3), rng.normal(size=3), 0.5 * rng.normal(size=6)
        R, axes = (np.linalg.qr(rng.normal(size=(3, 3)))[0] for _ in range(2))
        how = {"formulation": "minimal"} if start is None else dict(zip(VELOCITIES, start[name], strict=True))
        rotation = R * np.linalg.det(R)
        b.add_body(name, mass=1.0, inertia=(0.2, 0.25, 0.3), position=x, rotation=rotation, **how)
        along = dict(zip(AXES[kind][0], axes, strict=False))
        width = len(TREE_JOINTS[kind])
        along |= {"rate": rate[:width] if width > 1 else rate[0]} if start is None else {}
        b.add_joint(kind, before, name, point=point, **along, name=f"{kind} joint")
        names.append(name)
    kind = LOOPS[seed % len(LOOPS)]
    along = dict(zip(AXES[kind][0], axes, strict=False))
    b.add_joint(kind, names[seed % 2], names[-1], point=rng.normal(size=3), **along, name="loop")
    if motion is not None:
        b.add_joint_motion("revolute joint", motion, name="motor")
    return b.build(start="project")


@pytest.mark.parametrize("seed", [0, 2, 4, 5, 6, 10, 13, 15, 21, 23])  # of loops that are not redundant
def test_random_trees_with_a_loop_and_a_motion(seed):
    """Branches, roots and joints of all kinds: states, reactions and the effort of the motion."""
    rate = float(random_tree(seed).state().joint_rate("revolute joint"))

    def motion(t):
        return rate * t + 0.3 * (1 - np.cos(4 * t)), rate + 1.2 * np.sin(4 * t), 4.8 * np.cos(4 * t)

    tree = random_tree(seed, motion=motion)
    state = tree.state()
    start = {name: [getattr(state, which)(name) for which in VELOCITIES] for name in tree.bodies}
    models = tree, random_tree(seed, start, motion)
    one, other = (lgint.integrate(model, "rk44", t_end=0.01, h=2e-4) for model in models)
    for name in tree.bodies:
        for what in ("position", "rotation", *VELOCITIES):
            assert np.allclose(getattr(one, what)(name), getattr(other, what)(name), rtol=0, atol=1e-8), (name, what)
    for joint in other.model.joints:
        expected = other.reaction(joint)
        assert np.allclose(one.reaction(joint), expected, rtol=0, atol=1e-8 * (1 + np.abs(expected).max())), joint
    effort = other.force("motor")
    assert np.ptp(effort) > 1e-4 and np.allclose(
        one.force("motor"), effort, rtol=0, atol=1e-8 * (1 + abs(effort).max())
    )


# ---- pictures ----


@pytest.mark.parametrize("root", ["ground", "R3xSO3", "SE3"])
@pytest.mark.parametrize("kind", ["universal", "planar", "spherical", "free"])
def test_pictures_show_what_the_trajectory_says(kind, root):
    tree, bodies = both(kind, root)
    one, other = (lgint.integrate(model, "rk44", t_end=0.1, h=1e-3) for model in (tree, bodies))
    at, reference = scene.frames(one, 11), scene.frames(other, 11)
    for name in tree.bodies:
        x, R = tree.kinematics(name, at.q, at.v, at.t)[:2]
        assert np.allclose(x, one.position(name)[::10]) and np.allclose(R, one.rotation(name)[::10])
    assert {*scene.joints(tree)} == {"joint", "ball"}
    for name in scene.joints(bodies):
        points, expected = (scene.joint_point(model, name, when) for model, when in ((tree, at), (bodies, reference)))
        assert np.allclose(points, expected, rtol=0, atol=1e-9)
    x, R = one.position("arm")[::10], one.rotation("arm")[::10]
    assert np.allclose(scene.joint_point(tree, "joint", at), x + R @ (POINT - (0.5, 0.4, 0.1)))
    assert len(list(scene.springs(tree, at))) == 1
