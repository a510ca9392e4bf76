"""States from coordinates of joints and poses of bodies."""

import numpy as np
import pytest

import lgint
from face import systems
from kinds import FREE, NODES
from models import overconstrained

FORMULATIONS = [*(name for name in FREE if not NODES[name]["explicit_only"]), "minimal"]
R = systems.turn(0.8, (1, 2, -1))

# values of joints: numbers or a rotation, and their rates
VALUES = {
    "revolute": (0.7, -1.5),
    "prismatic": (0.7, -1.5),
    "cylindrical": ([0.3, -2.0], [1.0, 2.0]),
    "universal": ([0.6, -0.5], [1.0, -2.0]),
    "planar": ([0.3, -0.2, 2.5], [1.0, 2.0, -3.0]),
    "spherical": (R, [1.0, -2.0, 0.5]),
}


def hanging(kind, formulation):
    """Two bodies in general position; the second one hangs on the first by a joint of this kind."""
    builder = lgint.ModelBuilder(gravity=systems.GRAVITY, formulation=formulation)
    body = {"mass": 1.3, "inertia": (0.3, 0.4, 0.5, 0.02, -0.03, 0.01)}
    builder.add_body("first", **body, position=(0.1, -0.2, 0.3), rotation=systems.turn(0.9, (1, -1, 2)))
    builder.add_body("second", **body, position=(0.9, 0.4, -0.3), rotation=systems.turn(-1.7, (0, 1, 2)))
    builder.add_joint("revolute", lgint.ground, "first", point=(0, 0, 0), axis=(0, 1, 1), name="base")
    axes = systems.axes_of(kind, (1, 2, -1), (1, 0, 1))
    builder.add_joint(kind, "first", "second", point=(0.5, 0.1, 0), name="joint", **axes)
    return builder.build()


def motion(state):
    bodies = ("first", "second")
    names = ("position", "rotation", "velocity", "angular_velocity")
    return np.concatenate([np.ravel(getattr(state, name)(body)) for name in names for body in bodies])


@pytest.mark.parametrize("kind", VALUES)
def test_values_of_joints_mean_the_same_in_every_formulation(kind):
    value, rate = VALUES[kind]
    found = {}
    for formulation in FORMULATIONS:
        model = hanging(kind, formulation)
        state = model.state(joints={"joint": value, "base": 0.4}, rates={"joint": rate, "base": 3.0})
        assert np.abs(state.constraint_residual()).max(initial=0) < 1e-11
        assert np.abs(state.constraint_residual("velocity")).max(initial=0) < 1e-10
        assert state.joint_angle("base") == pytest.approx(0.4, abs=1e-11)
        assert state.joint_rate("base") == pytest.approx(3.0, abs=1e-10)
        assert np.isfinite(state.vdot).all()
        found[formulation] = motion(state)
    for formulation, own in found.items():
        assert np.allclose(own, found["minimal"], rtol=0, atol=1e-9), formulation


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("kind", ["revolute", "prismatic", "cylindrical", "planar"])
def test_accessors_return_the_values_that_were_given(kind, formulation):
    value, rate = (np.atleast_1d(given) for given in VALUES[kind])
    state = hanging(kind, formulation).state(joints={"joint": value}, rates={"joint": rate})
    last = "slide" if kind == "prismatic" else "angle"
    assert state.joint_position("joint", last) == pytest.approx(value[-1], abs=1e-11)
    assert state.joint_rate("joint", last) == pytest.approx(rate[-1], abs=1e-10)
    if kind == "cylindrical":
        assert state.joint_position("joint", "slide") == pytest.approx(value[0], abs=1e-11)
        assert state.joint_rate("joint", "slide") == pytest.approx(rate[0], abs=1e-10)
    assert state.joint_angle("base") == pytest.approx(0, abs=1e-11)  # the other joint stays


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_a_spherical_joint_takes_the_rotation_from_body_to_body(formulation):
    state = hanging("spherical", formulation).state(joints={"joint": R}, rates={"joint": (1, -2, 0.5)})
    between = state.rotation("first").T @ state.rotation("second")
    assert np.allclose(between, R, atol=1e-11)
    turning = state.angular_velocity("second") - between.T @ state.angular_velocity("first")
    assert np.allclose(turning, (1, -2, 0.5), atol=1e-10)


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_angles_keep_the_turns_that_are_given_and_other_joints_their_rates(formulation):
    model = systems.double_pendulum(formulation, formulation)
    state = model.state(joints={"shoulder": -7.0})
    assert state.joint_angle("shoulder") == pytest.approx(-7.0, abs=1e-11)
    assert state.joint_angle("elbow") == pytest.approx(0, abs=1e-11)
    start = model.state()
    for name in ("shoulder", "elbow"):
        assert state.joint_rate(name) == pytest.approx(start.joint_rate(name), abs=1e-10)
    run = lgint.integrate(model.with_state(state), "genalpha", t_end=1e-2, h=1e-3)
    assert run.joint_angle("shoulder")[0] == pytest.approx(-7.0, abs=1e-11)
    again = model.with_state(joints={"shoulder": -7.0})
    assert np.array_equal(again.q0, state.q) and np.array_equal(again.mem0, state.mem)


def free_pair(formulation):
    builder = lgint.ModelBuilder(gravity=systems.GRAVITY, formulation=formulation)
    body = {"mass": 1.3, "inertia": (0.3, 0.4, 0.5)}
    builder.add_body("hull", **body, velocity=(1, 0, 0), formulation="SE3" if formulation == "minimal" else None)
    builder.add_body("arm", **body, position=(1, 0, 0), velocity=(1, 0, 0))
    builder.add_joint("revolute", "hull", "arm", point=(0.5, 0, 0), axis=(0, 0, 1), name="hinge")
    return builder.build()


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_free_bodies_take_poses(formulation):
    model = free_pair(formulation)
    pose, rates = ((1.0, 2.0, 3.0), R), ((0.1, 0.2, 0.3), (1.0, 2.0, -1.0))
    state = model.state(joints={"hull": pose, "hinge": 0.5}, rates={"hull": rates, "hinge": -2.0})
    assert np.allclose(state.position("hull"), pose[0], atol=1e-11)
    assert np.allclose(state.rotation("hull"), R, atol=1e-11)
    assert np.allclose(state.velocity("hull"), rates[0], atol=1e-10)
    assert np.allclose(state.angular_velocity("hull"), rates[1], atol=1e-10)
    assert np.allclose(state.rotation("arm"), R @ systems.turn(0.5, (0, 0, 1)), atol=1e-11)
    assert state.joint_rate("hinge") == pytest.approx(-2.0, abs=1e-10)
    moved = model.state(joints={"hull": ((1, 2, 3), np.eye(3))})  # the rest follows as a whole
    assert np.allclose(moved.position("arm"), (2, 2, 3), atol=1e-11)
    bent = model.state(joints={"hinge": 0.5})  # and nothing else moves the first body
    assert np.allclose(bent.position("hull"), 0, atol=1e-12) and np.allclose(bent.velocity("hull"), (1, 0, 0))


@pytest.mark.parametrize("formulation", ["R3xSO3", "SE3", "euler_parameters", "tait_bryan"])
def test_loops_are_closed_from_the_start(formulation):
    model = lgint.models.slider_crank(formulation=formulation)
    for angle in (1.0, -2.0, 5.0):
        state = model.state(joints={"A": angle}, rates={"A": 2.0})
        assert state.joint_angle("A") == pytest.approx(angle, abs=1e-11)
        assert state.joint_rate("A") == pytest.approx(2.0, abs=1e-10)
        assert np.abs(state.constraint_residual()).max() < 1e-11
        assert np.abs(state.constraint_residual("velocity")).max() < 1e-10
    slide = model.state(joints={"A": 1.0}).joint_position("guide")
    assert model.state(joints={"guide": slide}).joint_position("guide") == pytest.approx(slide, abs=1e-11)


def test_redundant_loops_and_moving_supports():
    linkage = overconstrained.bennett()
    name = linkage.state().angle_names[0]
    state = linkage.state(joints={name: 0.5}, rates={name: 1.0})
    assert np.abs(linkage.complete.core.residual(0.0, state.q, state.v)).max() < 1e-9
    builder = lgint.ModelBuilder()
    still = np.zeros((3, 6))
    crane = builder.add_support("crane", motion=lambda t: still + [[t, 0, 0, 0, 0, 0], [1, 0, 0, 0, 0, 0], [0] * 6])
    builder.add_body("load", mass=1.0, inertia=(1, 1, 1), position=(0, 0, -1), velocity=(1, 0, 0))
    builder.add_joint("revolute", crane, "load", point=(0, 0, 0), axis=(0, 1, 0), name="pin")
    state = builder.build().state(t=2.0, joints={"pin": np.pi / 2}, rates={"pin": 1.0})
    assert np.allclose(state.position("load"), (1, 0, 0), atol=1e-10)
    assert np.allclose(state.velocity("load"), (1, 0, 1), atol=1e-10)


@pytest.mark.parametrize(
    "arguments, text",
    [
        ({"joints": {"shouldr": 1.0}}, r"unknown joint or body in joints 'shouldr' \(did you mean 'shoulder'\?\)"),
        ({"rates": {"elbo": 1.0}}, r"in rates 'elbo' \(did you mean 'elbow'\?\)"),
        ({"joints": {"elbow": [1.0, 2.0]}}, r"'elbow' is revolute and has 1 coordinates \(angle\), got \[1.0, 2.0\]"),
        ({"joints": {"elbow": "far"}}, "joints: 'elbow': numbers expected"),
        ({"joints": {"elbow": np.nan}}, "joints: 'elbow': finite numbers expected"),
        ({"joints": {"upper": 1.0}}, r"joints: 'upper': a position \(3,\) and a rotation"),
        ({"rates": {"upper": (1, 2)}}, "rates: 'upper': shape"),
        ({"joints": [1.0]}, "joints: values by the names of joints and free bodies expected"),
        ({"joints": {"upper": ((5.0, 5.0, 5.0), np.eye(3))}}, "no position was found in which 'upper'"),
        ({"rates": {"upper": ((5.0, 5.0, 5.0), (0, 0, 0))}}, "do not allow the given rates of 'upper'"),
        ({"rates": {"elbow": 1.0}, "v": np.zeros(12)}, "rates: they replace v"),
    ],
)
def test_values_that_make_no_sense(arguments, text):
    with pytest.raises(ValueError, match=text):
        systems.double_pendulum().state(**arguments)


def test_joints_without_coordinates_and_systems_without_joints():
    model = lgint.models.heavy_top()
    name = next(iter(model.joints))
    builder = lgint.ModelBuilder()
    builder.add_body("bob", mass=1.0, inertia=(1, 1, 1), position=(0, 0, -1))
    builder.add_joint("distance", lgint.ground, "bob", point_a=(0, 0, 0), point_b=(0, 0, 0), name="wire")
    with pytest.raises(ValueError, match="'wire' is distance and has no coordinates; joints that have some are"):
        builder.build().state(joints={"wire": 1.0})
    assert np.allclose(model.state(joints={name: R}).rotation("top"), R, atol=1e-11)
    with pytest.raises(ValueError, match="a LagrangianModel has no joints; give q and v"):
        lgint.models.spring_pendulum().state(joints={"a": 1.0})
