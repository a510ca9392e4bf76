"""Trees whose joints have several coordinates, and whose roots are bodies, against the same bodies with constraints."""

import numpy as np
import pytest

import lgint
from battery import observed_order

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
    add_moving(b, "arm", np.array([0.5, 0.4, 0.1]), POINT, velocity, omega)
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
    assert tree.nc == 0 and bodies.nc > 0
    one, other = (lgint.integrate(model, "rk44", t_end=0.1, h=1e-3) for model in (tree, bodies))
    for name in tree.bodies:
        assert np.allclose(one.position(name), other.position(name), rtol=0, atol=1e-10)
        assert np.allclose(one.rotation(name), other.rotation(name), rtol=0, atol=1e-10)
        assert np.allclose(one.velocity(name), other.velocity(name), rtol=0, atol=1e-9)
    for joint in ("joint", "ball"):
        expected = other.reaction(joint)
        assert np.allclose(one.reaction(joint), expected, rtol=0, atol=1e-8 * np.abs(expected).max())
    for which in coordinates_of(kind):
        assert np.allclose(one.joint_position("joint", which), other.joint_position("joint", which), atol=1e-10)
        assert np.allclose(one.joint_rate("joint", which), other.joint_rate("joint", which), atol=1e-9)


@pytest.mark.parametrize("root", ["ground", "R3xSO3", "SE3"])
@pytest.mark.parametrize("kind", ["universal", "planar", "spherical"])
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


@pytest.mark.parametrize("method", ["rk44", "genalpha"])
def test_a_loop_through_a_tree_with_a_free_root(method):
    ends = []
    for formulation in ("minimal", "R3xSO3"):
        b = mechanism(formulation, "universal", "R3xSO3")
        b.add_joint("distance", "root", "hand", point=[(0, 0.3, 0), (0.9, 0.4, 0.3)], name="rod")
        model = b.build(start="project")
        ends.append(lgint.integrate(model, method, t_end=0.05, h=5e-4).position("hand")[-1])
    assert np.allclose(*ends, rtol=0, atol=2e-3 if method == "genalpha" else 1e-8)
