"""ModelBuilder: the models that it builds, and an error for every bad input."""

import collections
import contextlib
import copy
import gc
import pickle
import sys
import time

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import lgint
from face import systems
from kinds import FORMULATIONS

BODY = {"mass": 1.0, "inertia": (1.0, 1.0, 1.0)}


def builder():
    b = lgint.ModelBuilder(gravity=(0, 0, -9.81))
    b.add_body("arm", **BODY)
    return b


BAD_BODIES = [
    ({"mass": -1.0}, "mass of 'x'.*positive"),
    ({"mass": 0.0}, "mass of 'x'.*positive"),
    ({"mass": np.nan}, "mass of 'x'.*finite"),
    ({"mass": "heavy"}, "mass of 'x'.*numbers"),
    ({"inertia": (1.0, 1.0)}, r"inertia of 'x'.*shape.*\(2,\)"),
    ({"inertia": (1.0, 1.0, -0.1)}, "inertia of 'x'.*semidefinite"),
    ({"inertia": (1.0, 1.0, np.inf)}, "inertia of 'x'.*finite"),
    ({"inertia": [[1, 0.1, 0], [0, 1, 0], [0, 0, 1]]}, "inertia of 'x'.*symmetric"),
    ({"position": (1.0, 2.0)}, "position of 'x'.*shape"),
    ({"velocity": (1.0, 2.0, np.nan)}, "velocity of 'x'.*finite"),
    ({"angular_velocity": 3.0}, "angular_velocity of 'x'.*shape"),
    ({"rotation": np.diag([1.0, 1.0, 1.1])}, "rotation of 'x'.*orthogonal"),
    ({"rotation": np.diag([1.0, 1.0, -1.0])}, "rotation of 'x'.*determinant"),
    ({"rotation": (1.0, 1.0, 0.0, 0.0)}, "rotation of 'x'.*unit length"),
    ({"formulation": "tait_brian"}, "formulation 'tait_brian'.*'R3xSO3'"),
    ({"com": (0, 0, 1)}, "com of 'x'.*pivot"),
    ({"pivot": (0, 0, 0), "position": (0, 0, 1), "velocity": (1, 0, 0)}, "velocity of 'x'.*pivot"),
]


@pytest.mark.parametrize(("given", "message"), BAD_BODIES)
def test_bad_bodies(given, message):
    with pytest.raises(ValueError, match=message):
        builder().add_body("x", **{**BODY, **given})


@pytest.mark.parametrize("name", ["arm", "ground", "", 3])
def test_bad_names(name):
    with pytest.raises(ValueError, match="name"):
        builder().add_body(name, **BODY)


def test_an_inertia_that_no_body_has_is_one_warning_at_the_line_of_the_caller():
    given = {"mass": 1.0, "inertia": (1.0, 1.0, 3.0)}
    for add in (
        lambda b: b.add_body("x", **given),
        lambda b: b.add_body("x", **given, formulation="minimal"),
        lambda b: b.build().with_parameters(**{"arm.inertia": (1.0, 1.0, 3.0)}),
    ):
        b = builder()
        with pytest.warns(UserWarning, match="triangle") as caught:
            add(b)
        assert [warning.filename for warning in caught] == [__file__]


def test_messages_of_python_name_the_builder():
    for call in (lambda b: b.add_body(), lambda b: b.add_joint(kind="x"), lambda b: b.add_force("arm", size=1)):
        with pytest.raises(TypeError, match=r"^ModelBuilder\.add_"):
            call(builder())
    with pytest.raises(TypeError, match=r"^ModelBuilder\.__init__"):
        lgint.ModelBuilder(gravty=(0, 0, 0))


@pytest.mark.parametrize(
    ("word", "kind"), [("hinge", "revolute"), ("ball", "spherical"), ("fixed", "rigid"), ("slider", "prismatic")]
)
def test_other_words_for_joints_are_understood(word, kind):
    with pytest.raises(ValueError, match=f"unknown joint kind '{word}' \\(did you mean '{kind}'"):
        builder().add_joint(word, "ground", "arm", point=(0, 0, 0))
    for name in (f"add_{word}", f"add_{word}_joint", f"add_{kind}_joint"):
        with pytest.raises(AttributeError, match=f"""did you mean 'add_joint\\("{kind}", ...\\)'"""):
            getattr(builder(), name)


def test_names_that_do_not_exist_are_guessed():
    with pytest.raises(AttributeError, match="no attribute 'add_sprng' \\(did you mean 'add_spring'"):
        builder().add_sprng  # noqa: B018
    with pytest.raises(AttributeError, match="no attribute 'simulate' \\(did you mean 'integrate'"):
        lgint.simulate  # noqa: B018
    assert not hasattr(builder(), "anything_else") and not hasattr(lgint, "anything_else")


BAD_JOINTS = [
    (("hinge", "ground", "arm"), {"point": (0, 0, 0)}, "joint kind 'hinge'.*'revolute'"),
    (("spherical", "ground", "leg"), {"point": (0, 0, 0)}, "body 'leg'.*'arm'"),
    (("spherical", "arm", "arm"), {"point": (0, 0, 0)}, "two different partners"),
    (("spherical", "ground", "arm"), {}, "needs point"),
    (("spherical", "ground", "arm"), {"point": (0, 0, 0), "point_a": (0, 0, 0)}, "not both"),
    (("spherical", "ground", "arm"), {"point": (0, 0, 0), "axis": (0, 0, 1)}, "takes no axis"),
    (("spherical", "ground", "arm"), {"point": (0, 0, 0), "length": 1.0}, "takes no length"),
    (("spherical", "ground", "arm"), {"point": (0, 0, np.nan)}, "point of 'ground-arm'.*finite"),
    (("spherical", "ground", "arm"), {"point": (0, 0, 0), "carrier": "third"}, "carrier 'third'.*'second'"),
    (("revolute", "ground", "arm"), {"point": (0, 0, 0)}, "needs an axis"),
    (("revolute", "ground", "arm"), {"point": (0, 0, 0), "axis": (0, 0, 0)}, "axis.*zero vector"),
    (("universal", "ground", "arm"), {"point": (0, 0, 0), "axis": (0, 0, 1)}, "second_axis"),
    (
        ("universal", "ground", "arm"),
        {"point": (0, 0, 0), "axis": (0, 0, 1), "second_axis": (0, 1, 1)},
        "perpendicular",
    ),
    (("distance", "ground", "arm"), {}, "a positive number"),
    (("distance", "ground", "arm"), {"point": (0, 0, 0)}, r"point of 'ground-arm'.*\(2, 3\)"),
    (("distance", "ground", "arm"), {"point": np.eye(2, 3), "point_b": (0, 0, 0)}, "not both"),
    (("distance", "ground", "arm"), {"length": 1.0, "rate": 1.0}, "takes no rate"),
    (("spherical", "ground", "arm"), {"point": (0, 0, 0), "angle": 1.0}, "takes no angle"),
    (("distance", "ground", "arm"), {"length": -1.0}, "a positive number"),
    (("spherical", "ground", "arm"), {"point": (0, 0, 0), "name": "arm"}, "'arm' is in use"),
]


@pytest.mark.parametrize(("partners", "given", "message"), BAD_JOINTS)
def test_bad_joints(partners, given, message):
    with pytest.raises(ValueError, match=message):
        builder().add_joint(*partners, **given)


BAD_FORCES = [
    ({}, "force, torque or both"),
    ({"force": (1.0, 2.0)}, "force of 'arm.load'.*shape"),
    ({"torque": (1.0, 2.0, np.inf)}, "torque of 'arm.load'.*finite"),
    ({"force": ([0.0, 0.0], np.zeros((2, 3)))}, "times of force.*ascending"),
    ({"force": ([0.0, 1.0], np.zeros((3, 3)))}, "values of force.*shape"),
    ({"force": (0, 0, 1), "frame": "world"}, "frame 'world'.*'inertial'"),
    ({"force": (0, 0, 1), "point": (0, 0, 1), "local_point": (0, 0, 1)}, "point .* or local_point .* not both"),
    ({"force": (0, 0, 1), "local_point": (0, 1)}, "local_point of 'arm.load'.*shape"),
]


@pytest.mark.parametrize(("given", "message"), BAD_FORCES)
def test_bad_forces(given, message):
    with pytest.raises(ValueError, match=message):
        builder().add_force("arm", **given)


def test_forces_and_springs_need_known_bodies():
    with pytest.raises(ValueError, match="the ground"):
        builder().add_force(lgint.ground, force=(0, 0, 1))
    with pytest.raises(ValueError, match="body 'arn'.*did you mean 'arm'"):
        builder().add_spring(lgint.ground, "arn", stiffness=1.0)


def test_an_empty_model():
    with pytest.raises(ValueError, match="at least one body"):
        lgint.ModelBuilder().build()


def test_bad_builder():
    with pytest.raises(ValueError, match="gravity"):
        lgint.ModelBuilder(gravity=9.81)
    with pytest.raises(ValueError, match="formulation 'SO4'"):
        lgint.ModelBuilder(formulation="SO4")


# ---- the start ----


def hung(position=(0.0, 0.0, -1.0), velocity=(0.0, 0.0, 0.0)):
    b = lgint.ModelBuilder(gravity=(0, 0, -9.81))
    b.add_body("arm", **BODY, position=position, velocity=velocity)
    b.add_joint("spherical", lgint.ground, "arm", point_a=(0, 0, 0), point_b=(0, 0, 1), name="hook")
    return b


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"position": (0.1, 0.0, -1.0)}, "'hook.*position level by 0.1"),
        ({"velocity": (0.0, 0.2, 0.0)}, "'hook.*velocity level by 0.2"),
    ],
)
def test_an_inconsistent_start_is_named_and_can_be_projected(given, message):
    with pytest.raises(ValueError, match=message + ".*project"):
        hung(**given).build()
    model = hung(**given).build(start="project")
    phi, phidot = model.core.residual(0.0, model.q0, model.v0)
    assert np.abs(phi).max() < 1e-12
    assert np.abs(phidot).max() < 1e-12
    assert np.abs(model.q0 - hung().build().q0).max() < 0.2


def test_bad_start_option():
    with pytest.raises(ValueError, match="start 'force'"):
        hung().build(start="force")


# ---- the state of a body, in every formulation ----


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("pivot", [None, (0.3, 0.2, -0.5)])
def test_the_start_is_what_was_given(formulation, pivot):
    R, omega, x = systems.turn(2.5, (1, -2, 0.5)), np.array([0.3, -1.0, 2.0]), np.array([1.0, 2.0, 3.0])
    velocity = np.array([-1.0, 0.5, 0.2]) if pivot is None else np.cross(R @ omega, x - np.array(pivot))
    b = lgint.ModelBuilder(formulation=formulation)
    inertia = np.array([[2.0, 0.1, 0.2], [0.1, 3.0, -0.3], [0.2, -0.3, 2.5]])
    body = {"position": x, "rotation": R, "velocity": velocity, "angular_velocity": omega, "pivot": pivot}
    b.add_body("body", mass=1.7, inertia=inertia, **body)
    model = b.build()
    traj = lgint.integrate(model, "rk44", t_end=1e-6, h=1e-6)
    assert np.allclose(traj.position("body")[0], x, rtol=0, atol=1e-14)
    assert np.allclose(traj.rotation("body")[0], R, rtol=0, atol=1e-14)
    assert np.allclose(traj.velocity("body")[0], velocity, rtol=0, atol=1e-14)
    assert np.allclose(traj.angular_velocity("body")[0], omega, rtol=0, atol=1e-14)
    kinetic = 0.5 * 1.7 * velocity @ velocity + 0.5 * omega @ inertia @ omega
    assert traj.energy("kinetic")[0] == pytest.approx(kinetic, rel=1e-14)


TURN = Rotation.from_rotvec((0.3, -0.4, 1.2))
TURNS = {"matrix": TURN.as_matrix(), "quaternion": TURN.as_quat(scalar_first=True), "vector": TURN.as_rotvec()}


@pytest.mark.parametrize("rotation", [*TURNS.values(), TURN], ids=[*TURNS, "SciPy"])
def test_a_rotation_has_four_forms(rotation):
    b = lgint.ModelBuilder()
    b.add_body("body", **BODY, rotation=rotation)
    b.add_support("frame", rotation=rotation)
    b.add_bushing(lgint.ground, "body", stiffness=np.ones(6), point=(0, 0, 0), rotation=rotation, name="bushing")
    model = b.build()
    (link,) = lgint.dh_links([(0, 0, 0, 0)], rotation=rotation)
    found = [model.state().rotation("body"), model.state().rotation("frame"), link.rotation]
    found += [model.values["bushing.axes_a"], TURN.as_matrix() @ model.values["bushing.axes_b"]]
    assert np.allclose(found, TURN.as_matrix(), rtol=0, atol=1e-14)


@pytest.mark.parametrize("form", [Rotation.as_matrix, lambda R: R.as_quat(scalar_first=True), lambda R: R])
def test_one_rotation_for_each_frame_and_each_node(form):
    turns = Rotation.from_rotvec([(0, 0, 0.1), (0, 0, 0.2)])
    b = lgint.ModelBuilder()
    size = {"stiffness": [1e3] * 6, "inertia": [1.0] * 4, "constraints": None}
    rod = b.add_rod("rod", nodes=[(0, 0, 0), (0, 0, 1)], rotations=form(turns), **size)
    b.add_bushing(*rod.nodes, stiffness=np.ones(6), point=(0, 0, 1), rotation=form(turns), name="bushing")
    model = b.build()
    assert np.allclose([model.state().rotation(node) for node in rod.nodes], turns.as_matrix(), rtol=0, atol=1e-14)
    axes = [model.values[f"bushing.axes_{end}"] for end in "ab"]
    assert np.allclose(axes, np.eye(3), rtol=0, atol=1e-14)  # each in the axes of its node


def test_six_numbers_and_matrix_are_one_inertia():
    six, matrix = (2, 3, 4, 0.1, 0.2, 0.3), [[2, 0.1, 0.2], [0.1, 3, 0.3], [0.2, 0.3, 4]]
    masses = []
    for inertia in (six, matrix):
        b = lgint.ModelBuilder()
        b.add_body("body", mass=1.0, inertia=inertia)
        model = b.build()
        masses.append(model.core.evaluate(0.0, model.q0, model.v0, want=["S"])["S"])
    assert np.array_equal(*masses)
    assert np.allclose(masses[0][3:, 3:], matrix)


# ---- records ----


def test_models_pickle_and_copy():
    model = lgint.models.pendulum_chain(n=2, joint="revolute").with_state(v=np.full(12, 0.25))
    twin = pickle.loads(pickle.dumps(model))
    assert np.array_equal(twin.q0, model.q0)
    assert np.array_equal(twin.v0, model.v0)
    assert twin.row_names == model.row_names
    assert copy.deepcopy(model) is model
    args = (0.3, model.q0, model.v0)
    assert np.array_equal(*(m.core.evaluate(*args, want=["force"])["force"] for m in (model, twin)))


def test_a_model_with_a_lambda_does_not_pickle():
    b = builder()
    b.add_force("arm", force=lambda t: (0, 0, t))
    with pytest.raises((AttributeError, pickle.PicklingError)):
        pickle.dumps(b.build())


def test_with_state():
    model = lgint.models.heavy_top(constrained=False)
    other = model.with_state(v=(1, 2, 3))
    assert np.array_equal(other.v0, [1, 2, 3])
    assert np.array_equal(other.q0, model.q0)
    assert np.array_equal(model.v0, [0, 150, -4.61538])
    with pytest.raises(ValueError, match=r"v: shape \(3,\) expected"):
        model.with_state(v=(1, 2))
    with pytest.raises(ValueError, match="read-only"):
        model.q0[0] = 3.0


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_with_state_projects(formulation):
    """After a push, q and v are brought back onto the constraints; the part of the velocity along them is kept."""
    model = lgint.models.heavy_top(formulation=formulation)
    push = np.zeros(model.nv)
    push[:3] = (0.3, 0.4, 0.0)
    moved = model.with_state(q=model.core.retract(model.q0, 0.01 * push), v=model.v0 + push, project=True)
    phi, phidot = model.core.residual(0.0, moved.q0, moved.v0)
    assert np.abs(phi).max() < 1e-12
    assert np.abs(phidot).max() < 1e-11
    assert 0 < np.abs(moved.q0 - model.q0).max() < 0.02
    assert 0 < np.abs(moved.v0 - model.v0).max() < 3


def test_projection_of_velocities_is_in_the_mass_metric():
    model = lgint.models.heavy_top(omega0=(0, 0, 0))
    v = model.with_state(v=[1.0, 0, 0, 0, 0, 0], project=True).v0
    # v_given is one along x, normal to the arm; M (v - v_given) has to be an impulse of the pivot
    M = np.diag([15.0, 15, 15, 0.234375, 0.46875, 0.234375])
    B = model.core.evaluate(0.0, model.q0, v, want=["B"])["B"]
    impulse = M @ (v - [1.0, 0, 0, 0, 0, 0])
    assert np.allclose(B.T @ np.linalg.lstsq(B.T, impulse)[0], impulse, atol=1e-12)
    assert v[0] == pytest.approx(15 / 15.234375, rel=1e-12)


def test_with_parameters():
    model = lgint.models.heavy_top(formulation="SE3").with_parameters(mass=7.0, constrained=False)
    assert model.parameters["formulation"] == "SE3"
    assert model.parameters["mass"] == 7.0
    assert model.nv == 3
    assert "holzinger2024" in model.reference
    with pytest.raises(ValueError, match="parameter 'masss'.*'mass'"):
        model.with_parameters(masss=7.0)
    with pytest.raises(ValueError, match=r"lgint\.models"):
        builder().build().with_parameters(mass=1.0)


def test_models_reject_what_they_do_not_know():
    with pytest.raises(ValueError, match="model 'heavytop'.*did you mean 'heavy_top'"):
        lgint.models.get("heavytop")
    with pytest.raises(ValueError, match="parameter of heavy_top 'weight'"):
        lgint.models.heavy_top(weight=3.0)
    with pytest.raises(ValueError, match="constraint_frame 'top'"):
        lgint.models.heavy_top(constraint_frame="top")
    with pytest.raises(ValueError, match="whole number >= 1"):
        lgint.models.pendulum_chain(n=0)
    with pytest.raises(ValueError, match="joint 'rigid'"):
        lgint.models.pendulum_chain(joint="rigid")
    with pytest.raises(ValueError, match="mass of 'top'"):
        lgint.models.heavy_top(mass=-15.0)


# ---- where things attach ----

X, R = np.array([0.3, -0.2, 0.5]), systems.turn(0.8, (1, 2, -1))
OTHER_X, OTHER_R = np.array([1.3, 0.2, -0.5]), systems.turn(-0.4, (0, 1, 2))
AT, OTHER_AT = np.array([0.7, 0.1, -0.4]), np.array([0.2, 0.9, 0.6])  # inertial
LOCAL, OTHER_LOCAL = R.T @ (AT - X), OTHER_R.T @ (OTHER_AT - OTHER_X)
CARTESIAN = {"stiffness": (3, 4, 5), "damping": (0.3, 0.2, 0.1)}


def acceleration(attach, formulation):
    """Accelerations of two free bodies, one of them in motion, under what `attach` adds to them."""
    b = lgint.ModelBuilder(formulation=formulation)
    inertia = {"mass": 2.0, "inertia": (0.3, 0.4, 0.5)}
    moving = {"velocity": (0.5, -1.0, 0.2), "angular_velocity": (0.3, 2.0, -1.0)}
    b.add_body("one", **inertia, **moving, position=X, rotation=R, reference=systems.turn(0.5, (0, 1, 0)))
    b.add_body("other", **inertia, position=OTHER_X, rotation=OTHER_R)
    attach(b)
    model = b.build()
    return lgint.integrate(model, "rk44", t_end=1e-3, h=1e-3).vdot[0]


def pull(t, x, R, xdot, omega):
    """A wrench that depends on the point at which the law acts."""
    return [*(-3 * x - xdot), *omega]


def pull_two(t, x, R, xdot, omega):
    return [[*(x[1] - x[0]), *omega[0]], [*(-x[0] - xdot[1]), 0, 0, 1]]


POINTS = {
    "force": [
        lambda b: b.add_force("one", force=(1, 2, 3), point=AT),
        lambda b: b.add_force("one", force=(1, 2, 3), local_point=LOCAL),
        lambda b: b.add_force("one", force=(1, 2, 3), torque=np.cross(AT - X, (1, 2, 3))),
    ],
    "law": [
        lambda b: b.add_force_law(pull, bodies="one", point=AT),
        lambda b: b.add_force_law(pull, bodies="one", local_point=LOCAL),
        lambda b: b.add_force_law(pull, bodies=["one"], point=AT),
    ],
    "law of two": [
        lambda b: b.add_force_law(pull_two, bodies=("one", "other"), point=AT),
        lambda b: b.add_force_law(pull_two, bodies=("one", "other"), point=(AT, AT)),
        lambda b: b.add_force_law(pull_two, bodies=("one", "other"), point_a=LOCAL, point_b=OTHER_R.T @ (AT - OTHER_X)),
    ],
    "spring": [
        lambda b: b.add_spring("one", "other", stiffness=7.0, length=0.4, point=(AT, OTHER_AT)),
        lambda b: b.add_spring("one", "other", stiffness=7.0, length=0.4, point_a=LOCAL, point_b=OTHER_LOCAL),
    ],
    "spring to the ground": [
        lambda b: b.add_spring(lgint.ground, "one", stiffness=7.0, length=0.4, point=(OTHER_AT, AT)),
        lambda b: b.add_spring(lgint.ground, "one", stiffness=7.0, length=0.4, point_a=OTHER_AT, point_b=LOCAL),
    ],
    "bushing": [
        lambda b: b.add_cartesian_spring("one", "other", **CARTESIAN, offset=(0.1, 0, 0), point=AT),
        lambda b: b.add_cartesian_spring("one", "other", **CARTESIAN, offset=(0.1, 0, 0), point=(AT, AT)),
        lambda b: b.add_cartesian_spring(
            "one", "other", **CARTESIAN, offset=(0.1, 0, 0), point_a=LOCAL, point_b=OTHER_R.T @ (AT - OTHER_X)
        ),
    ],
    "distance": [
        lambda b: b.add_distance(lgint.ground, "other", point=(AT, OTHER_AT)),
        lambda b: b.add_joint("distance", lgint.ground, "other", point=(AT, OTHER_AT)),
        lambda b: b.add_distance(lgint.ground, "other", point_a=AT, point_b=OTHER_LOCAL),
    ],
}


@pytest.mark.parametrize("formulation", ["R3xSO3", "S3R3", "tait_bryan"])
@pytest.mark.parametrize("attached", POINTS)
def test_a_point_is_inertial_and_a_local_one_body_fixed(attached, formulation):
    """Each attachment by `point` equals one by `local_point`, which is `point` in the axes of the body."""
    first, *others = (acceleration(attach, formulation) for attach in POINTS[attached])
    assert np.abs(first).max() > 0.1
    for other in others:
        assert np.allclose(other, first, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"bodies": "arm", "point_a": (0, 0, 1)}, "point_a: a force law with one body"),
        ({"bodies": ("arm", lgint.ground), "local_point": (0, 0, 1)}, "local_point: a force law with two bodies"),
        ({"bodies": "arm", "coordinate": "angle"}, "coordinate: a force law with bodies"),
        ({"joint": "hook", "point": (0, 0, 1)}, "point: a force law with joint"),
        ({"joint": "hook"}, "joint 'hook' is spherical and has neither an angle nor a slide"),
        ({"joint": "hock"}, "joint 'hock'.*did you mean 'hook'"),
    ],
)
def test_bad_force_laws(given, message):
    b = builder()
    b.add_joint("spherical", lgint.ground, "arm", point=(0, 0, 0), name="hook")
    with pytest.raises(ValueError, match=message):
        b.add_force_law(lambda *_: np.zeros(6), **given)


def test_joints_without_a_name_on_the_same_bodies():
    b = builder()
    b.add_body("leg", **BODY)
    names = [b.add_joint("inline", "arm", "leg", point=(0, y, 0), axis=(1, 0, 0)) for y in range(2)]
    names.append(b.add_distance("arm", "leg", length=1.0))
    assert names == ["arm-leg", "arm-leg2", "arm-leg3"]
    with pytest.raises(ValueError, match="'arm-leg' is in use"):
        b.add_distance("arm", "leg", length=1.0, name="arm-leg")


# ---- large models ----


def chain(n):
    lgint.models.pendulum_chain(n=n, joint="revolute").record()


def unnamed_loads(n):
    b = builder()
    for _ in range(4 * n):
        b.add_force("arm", force=(1.0, 0.0, 0.0))
    b.build()


def four_bars(n):
    """n / 8 closed loops, each of which the build examines for redundant rows."""
    b = lgint.ModelBuilder()
    for i in range(n // 8):
        points = np.array([(0, 0, i), (0, 1, i), (1, 1, i), (1, 0, i)], dtype=float)
        bars = [b.add_body(f"{i}.{k}", **BODY, position=points[k : k + 2].mean(axis=0)) for k in range(3)]
        ends = ["ground", *bars, "ground"]
        b.add_joint("revolute", *ends[0:2], point=points[0], axis=(0, 0, 1), name=f"first {i}")
        for k in (1, 2):
            b.add_joint("spherical", *ends[k : k + 2], point=points[k], name=f"{k} of {i}")
        b.add_joint("universal", *ends[3:5], point=points[3], axis=(0, 0, 1), second_axis=(1, 0, 0), name=f"last {i}")
    b.build()


@pytest.mark.measures
@pytest.mark.parametrize("build", [chain, unnamed_loads, four_bars])
def test_building_takes_linear_time(build):
    """16 times the size takes 17 times as long; if each body were searched for among all, it would be 45."""

    def took(n):
        gc.disable()  # passes over all objects of the test process would be counted as time of the builder
        start = time.process_time()
        build(n)
        gc.enable()
        return time.process_time() - start

    small = min(took(500) for _ in range(5))
    assert min(took(8000) for _ in range(2)) < 28 * small


TREE = {"joint": "revolute", "formulation": "minimal"}


@pytest.mark.parametrize(("options", "most"), [({}, 172), ({"joint": "revolute"}, 191), (TREE, 195)])
def test_a_link_takes_few_calls(options, most):
    """Calls of functions for each further link, in add_body, add_joint and build: they are what building costs."""

    def calls(n):
        events = collections.Counter()
        sys.setprofile(lambda frame, event, function: events.update([event]))
        try:
            lgint.models.pendulum_chain(n=n, **options)
        finally:
            sys.setprofile(None)
        return events["call"] + events["c_call"]

    calls(1)  # what is imported and cached once
    assert (calls(60) - calls(20)) / 40 < most


@pytest.mark.parametrize("enabled", [True, False])
@pytest.mark.parametrize("place", [0.0, 1.0])
def test_building_leaves_the_garbage_collector_as_it_was(enabled, place):
    """Also where it fails, as it does at a start with a body off its joint."""
    builder = lgint.ModelBuilder()
    builder.add_body("a", mass=1.0, inertia=(1, 1, 1))
    builder.add_joint("spherical", lgint.ground, "a", point_a=(0, 0, 0), point_b=(place, 0, 0))
    before, refused = gc.isenabled(), pytest.raises(ValueError, match="start") if place else contextlib.nullcontext()
    try:
        gc.enable() if enabled else gc.disable()
        with refused:
            builder.build()
        assert gc.isenabled() == enabled
    finally:
        gc.enable() if before else gc.disable()


@pytest.mark.measures
def test_a_link_leaves_few_objects_to_the_garbage_collector():
    """Its passes over the objects of a long chain are a third of the time of building it if there are twice as many."""

    def tracked():
        gc.collect()
        return len(gc.get_objects())

    kept = [lgint.models.pendulum_chain(n=100)]
    before = tracked()
    kept.append(lgint.models.pendulum_chain(n=600))
    assert (tracked() - before) / 600 < 12


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda b: b.add_force("arm", torque=(1, 0, 0), point=(1, 0, 0)), "point of the torque on 'arm'"),
        (lambda b: b.add_force("arm", torque=(1, 0, 0), local_point=(1, 0, 0)), "local_point of the torque on 'arm'"),
        (
            lambda b: b.add_joint("distance", lgint.ground, "arm", point_b=(0, 0, 1), limit_damping=1.0),
            "limit_damping",
        ),
    ],
)
def test_what_would_have_no_effect_is_refused(call, message):
    b = lgint.ModelBuilder()
    b.add_body("arm", mass=1.0, inertia=(1, 1, 1), position=(1, 0, 0))
    b.add_joint("revolute", lgint.ground, "arm", point=(0, 0, 0), axis=(0, 0, 1), name="hinge")
    with pytest.raises(ValueError, match=message):
        call(b)
    assert not b._forces and [*b._joints] == ["hinge"]
