"""Motions that joints leave free or lock, shown by moving the second body."""

import numpy as np
import pytest

import lgint
from face import systems
from lgint import _core
from lgint._model.joints import JOINTS

ROWS = {row["name"]: row for row in _core.ELEMENTS if row["locked"] is not None}

# free translations along and rotations about the axes of the joint: 0 and 1 are normal to its axis, which is 2
LOWER_PAIRS = {
    "spherical": ("", "012"),
    "revolute": ("", "2"),
    "prismatic": ("2", ""),
    "cylindrical": ("2", "2"),
    "inline": ("2", "012"),
    "planar": ("01", "2"),
    "rigid": ("", ""),
}
POINT, AXIS = np.array([0.5, 0.1, 0.2]), np.array([1.0, 2.0, -1.0]) / np.sqrt(6)
NORMALS = [np.array([2.0, -1.0, 0.0]) / np.sqrt(5)]
TRIAD = np.array([NORMALS[0], np.cross(AXIS, NORMALS[0]), AXIS])


def free(kind):
    """The motions that the mask of a joint leaves free; a pair of normal axes locks the rotation about the third."""
    pairs = ROWS[kind]["pairs"]
    held = {6 - int(i) - int(j) for i, j in zip(pairs[::2], pairs[1::2], strict=True)}
    locked = {int(i) for i in ROWS[kind]["locked"]}
    return tuple("".join(str(i) for i in range(3) if i + 1 not in axes) for axes in (locked, held))


def pair(kind):
    """Two bodies in general position with a joint at POINT."""
    b = lgint.ModelBuilder()
    body = {"mass": 1.0, "inertia": (1, 1, 1)}
    b.add_body("first", **body, position=(0.1, -0.2, 0.3), rotation=systems.turn(0.9, (1, -1, 2)))
    b.add_body("second", **body, position=(0.9, 0.4, -0.3), rotation=systems.turn(-1.7, (0, 1, 2)))
    e3, (e1, e2) = 3 * AXIS, TRIAD[:2]
    axes = systems.axes_of(kind, e1, 2 * e2) if JOINTS[kind].axes == 2 else systems.axes_of(kind, e3, None)
    b.add_joint(kind, "first", "second", point=POINT, name="joint", **axes)
    return b.build()


def residual(model, shift, R):
    """Largest residual of the rows after the second body has been turned about POINT by R and then shifted."""
    q = model.q0.copy()
    q[12:15] = POINT + R @ (q[12:15] - POINT) + shift
    q[15:24] = (R @ q[15:24].reshape(3, 3)).ravel()
    return np.abs(model.core.residual(0.0, q, model.v0)[0]).max(initial=0.0)


def test_the_rows_of_lower_pairs_say_what_these_leave_free():
    assert {kind: free(kind) for kind in LOWER_PAIRS} == LOWER_PAIRS


@pytest.mark.parametrize("kind", ROWS)
def test_translations(kind):
    model = pair(kind)
    for i, direction in enumerate(TRIAD):
        moved = residual(model, 0.3 * direction, np.eye(3))
        assert moved < 1e-14 if str(i) in free(kind)[0] else moved > 0.1


@pytest.mark.parametrize("kind", ROWS)
def test_rotations(kind):
    model = pair(kind)
    for i, axis in enumerate(TRIAD):
        moved = residual(model, np.zeros(3), systems.turn(0.5, axis))
        assert moved < 1e-14 if str(i) in free(kind)[1] else moved > 0.1


def test_universal():
    """It turns about its axis in the first body and about that in the second one, but not about their common normal."""
    b = lgint.ModelBuilder()
    body = {"mass": 1.0, "inertia": (1, 1, 1)}
    b.add_body("first", **body)
    b.add_body("second", **body, position=(1, 0, 0))
    b.add_joint("universal", "first", "second", point=POINT, axis=TRIAD[0], second_axis=TRIAD[1], name="joint")
    model = b.build()
    both = systems.turn(0.7, TRIAD[0]) @ systems.turn(-0.4, TRIAD[1])
    assert residual(model, np.zeros(3), both) < 1e-14
    assert residual(model, np.zeros(3), systems.turn(0.4, TRIAD[2])) > 0.1
    for direction in TRIAD:
        assert residual(model, 0.3 * direction, np.eye(3)) > 0.1


def test_distance():
    b = lgint.ModelBuilder()
    b.add_body("ball", mass=1.0, inertia=(1, 1, 1), position=(2, 0, 0))
    b.add_joint("distance", lgint.ground, "ball", point_b=(0, 0, 1), name="rod")
    model = b.build()
    on_sphere = model.with_state(q=[0, -np.sqrt(5), -1, *np.eye(3).ravel()])
    assert np.abs(model.core.residual(0.0, on_sphere.q0, model.v0)[0]).max() < 1e-14
    off = model.core.residual(0.0, model.with_state(q=[3, 0, 0, *np.eye(3).ravel()]).q0, model.v0)[0]
    assert np.abs(off).max() > 0.1


@pytest.mark.parametrize("kind", ["revolute", "cylindrical", "planar"])
def test_joint_angles_follow_the_axis(kind):
    """The angle is zero at the start and grows when the second body turns about the axis relative to the first."""
    b = lgint.ModelBuilder()
    R = systems.turn(1.1, (1, 1, 0))
    b.add_body("rotor", mass=1.0, inertia=(1, 1, 1), rotation=R, angular_velocity=R.T @ (7 * AXIS))
    b.add_joint(kind, lgint.ground, "rotor", point=(0, 0, 0), axis=AXIS, name="joint")
    run = lgint.integrate(b.build(), "rk44", t_end=3.0, h=1e-2)
    assert np.allclose(run.joint_angle("joint"), 7 * run.t, atol=1e-6)


def test_springs_and_dampers():
    """Forces on two bodies at rest and in motion, compared with explicit formulas."""
    b = lgint.ModelBuilder()
    body = {"mass": 2.0, "inertia": (1, 1, 1)}
    b.add_body("first", **body)
    b.add_body("second", **body, position=(3, 4, 0), velocity=(1, 0, 2))
    b.add_spring("first", "second", stiffness=10.0, damping=5.0, length=4.5)
    b.add_cartesian_spring(
        lgint.ground, "second", stiffness=(1, 2, 3), damping=(0.5, 0, 0.25), offset=(2, 0, -1), point_a=(0.5, 0, 0)
    )
    model = b.build()
    force = model.core.evaluate(0.0, model.q0, model.v0, want=["force"])["force"]
    line = -(10 * 0.5 + 5 * 0.6) * np.array([0.6, 0.8, 0])  # the length is 5 and its rate 0.6
    own = -np.array([1 * (2.5 - 2) + 0.5 * 1, 2 * 4, 3 * 1 + 0.25 * 2])
    assert np.allclose(force, [*-line, 0, 0, 0, *(line + own), 0, 0, 0], atol=1e-13)
    spring_energy = 0.5 * 10 * 0.5**2 + 0.5 * (0.5**2 + 2 * 4**2 + 3 * 1)
    assert model.core.energy(0.0, model.q0, model.v0)[1] == pytest.approx(spring_energy)


@pytest.mark.parametrize("frame", ["inertial", "body"])
def test_loads_in_both_frames(frame):
    """A force off the COM and a torque on a turned body."""
    R, x, point = systems.turn(0.8, (1, 2, 3)), np.array([1.0, 2, 3]), np.array([1.5, 2, 2])
    F, M = np.array([1.0, -2, 3]), np.array([0.5, 0.1, -0.2])
    b = lgint.ModelBuilder()
    b.add_body("body", mass=1.0, inertia=(1, 1, 1), position=x, rotation=R)
    b.add_force("body", force=F, torque=M, point=point, frame=frame)
    model = b.build()
    force = model.core.evaluate(0.0, model.q0, model.v0, want=["force"])["force"]
    F, M = (R @ F, R @ M) if frame == "body" else (F, M)
    assert np.allclose(force, [*F, *(R.T @ (M + np.cross(point - x, F)))], atol=1e-14)


def test_a_table_is_linear_between_its_times_and_constant_outside():
    b = lgint.ModelBuilder()
    b.add_body("body", mass=1.0, inertia=(1, 1, 1))
    b.add_force("body", force=([1.0, 2.0, 4.0], [[0, 1, 0], [2, 1, 0], [2, -1, 4]]))
    model = b.build()
    times = [0.0, 1.0, 1.25, 2.0, 3.0, 4.0, 9.0]
    force = [model.core.evaluate(t, model.q0, model.v0, want=["force"])["force"][:3] for t in times]
    expected = [[0, 1, 0], [0, 1, 0], [0.5, 1, 0], [2, 1, 0], [2, 0, 2], [2, -1, 4], [2, -1, 4]]
    assert np.allclose(force, expected, atol=1e-14)


@pytest.mark.parametrize("formulation", ["R3xSO3", "SE3", "euler_parameters", "tait_bryan"])
def test_a_cylindrical_joint_has_two_coordinates(formulation):
    """Springs act on its angle and along its slide while the first body turns: two oscillators in closed form."""
    b = lgint.ModelBuilder(formulation=formulation)
    axis, turn = AXIS, systems.turn(0.9, (1, -1, 2))
    b.add_body("rod", mass=2.0, inertia=(0.5, 0.5, 0.5), position=POINT + 0.3 * AXIS, rotation=turn)
    b.add_joint("cylindrical", lgint.ground, "rod", point=POINT, axis=axis, angle=0.4, name="sleeve")
    b.add_joint_drive("sleeve", stiffness=8.0)
    b.add_joint_drive("sleeve", coordinate="slide", stiffness=50.0, motion=[(0.0, 0.1, 0.0, 0.0)])
    b.add_force_law(lambda t, slide, rate: 2.0, joint="sleeve", coordinate="slide")
    run = lgint.integrate(b.build(), "rk67", t_end=2.0, h=1e-2)
    angle, slide = 0.4 * np.cos(4 * run.t), 0.14 * (1 - np.cos(5 * run.t))
    assert np.allclose(run.joint_position("sleeve"), angle, atol=1e-9)
    assert np.allclose(run.joint_rate("sleeve"), -1.6 * np.sin(4 * run.t), atol=1e-8)
    assert np.allclose(run.joint_position("sleeve", "slide"), slide, atol=1e-9)
    assert np.allclose(run.joint_rate("sleeve", "slide"), 0.7 * np.sin(5 * run.t), atol=1e-8)
    assert np.array_equal(run.joint_angle("sleeve"), run.joint_position("sleeve", "angle"))


@pytest.mark.parametrize("method", ["rk67", "genalpha"])
@pytest.mark.parametrize("kind", ["prismatic", "inline"])
def test_a_slide_on_a_turning_body(kind, method):
    """A bead on a spring slides along a line of a rotor whose angular velocity w is given: s'' = (w^2 - k/m) s."""
    w, k = 3.0, 25.0
    b = lgint.ModelBuilder()
    b.add_body("rotor", mass=1.0, inertia=(1e9,) * 3, angular_velocity=(0, 0, w))
    b.add_joint("revolute", lgint.ground, "rotor", point=(0, 0, 0), axis=(0, 0, 1))
    b.add_body(
        "bead",
        mass=1.0,
        inertia=(1e-3,) * 3,
        position=(0.2, 0, 0),
        velocity=(0, 0.2 * w, 0),
        angular_velocity=(0, 0, w),
    )
    b.add_joint(kind, "rotor", "bead", point=(0.2, 0, 0), axis=(1, 0, 0), angle=0.2, name="rail")
    b.add_joint_drive("rail", stiffness=k)
    run = lgint.integrate(b.build(), method, t_end=1.0, h=1e-3)
    atol = 1e-7 if method == "rk67" else 1e-5
    assert np.allclose(run.joint_position("rail"), 0.2 * np.cos(4 * run.t), atol=atol)
    assert np.allclose(run.joint_rate("rail"), -0.8 * np.sin(4 * run.t), atol=5 * atol)


def test_joints_without_the_coordinate_asked_for():
    b = lgint.ModelBuilder()
    b.add_body("slider", mass=1.0, inertia=(1, 1, 1))
    b.add_joint("prismatic", lgint.ground, "slider", point=(0, 0, 0), axis=(1, 0, 0), name="rail")
    run = lgint.integrate(b.build(), "rk44", t_end=0.01, h=0.01)
    with pytest.raises(ValueError, match="'rail' is prismatic and has no angle; .*'revolute'"):
        run.joint_angle("rail")
    with pytest.raises(ValueError, match="coordinate 'length'"):
        run.joint_position("rail", "length")
    with pytest.raises(ValueError, match="'rail' is prismatic and has no angle"):
        b.add_joint_drive("rail", coordinate="angle", torque=1.0)
