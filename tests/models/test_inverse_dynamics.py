"""Inverse dynamics: the forces and the efforts of actuators that a motion takes."""

import numpy as np
import pytest

import lgint
from lgint._state.inverse import coordinates_of, rates_of
from lgint._state.state import Parts, State
from models.overconstrained import bennett
from models.robots import BASE, LEGS, TOP, stewart, tree_of_7
from models.test_redundant import parallelogram, parallelogram_q
from pace import least, slowness

pytestmark = pytest.mark.filterwarnings("ignore:inertia of:UserWarning")

JOINTS = [f"joint{i + 1}" for i in range(7)]


@pytest.fixture(scope="module")
def tree():
    return tree_of_7()


def test_leading_axes(tree, rng):
    """One call for many motions gives what a call for each gives, with q, v or t in common."""
    q, v, a = rng.standard_normal((3, 4, 5, 7))
    all_at_once = tree.inverse_dynamics(q, v, a)
    assert all_at_once.shape == (4, 5, 7)
    assert np.array_equal(all_at_once[2, 3], tree.inverse_dynamics(q[2, 3], v[2, 3], a[2, 3]))
    common = tree.inverse_dynamics(q[0, 0], v[0, 0], a, np.linspace(0, 1, 20).reshape(4, 5))
    assert np.array_equal(common[1, 1], tree.inverse_dynamics(q[0, 0], v[0, 0], a[1, 1]))
    derivatives = tree.inverse_dynamics_derivatives(q, v, a)
    assert [each.shape for each in derivatives] == [(4, 5, 7, 7)] * 3


def test_named_joints_pick_their_forces(tree, rng):
    q, v, a = rng.standard_normal((3, 6, 7))
    forces = tree.inverse_dynamics(q, v, a)
    found = tree.inverse_dynamics(q, v, a, actuators=["joint3.slide", *JOINTS[:2], *JOINTS[3:]])
    assert np.allclose(found, forces[:, [2, 0, 1, 3, 4, 5, 6]], rtol=1e-12, atol=1e-12)


def test_what_makes_no_sense_is_refused_by_name(tree):
    functions = lgint.models.mass_spring()
    zero = np.zeros(7)
    for names in (3, {"joint1": 1}, [], ["joint1", 3], "joint1"):
        with pytest.raises(ValueError, match="actuators: a list of names of joints expected, got"):
            tree.inverse_dynamics(zero, zero, zero, actuators=names)
    with pytest.raises(ValueError, match="redundant='least_norm': .*give actuators as well"):
        tree.inverse_dynamics(zero, zero, zero, redundant="least_norm")
    nothing = functions.q0, functions.v0, functions.v0
    with pytest.raises(ValueError, match=r"actuators: a \w+ has no joints"):
        functions.inverse_dynamics(*nothing, actuators=3)
    with pytest.raises(ValueError, match=r"mobility: a \w+ has no bodies and joints; it has \d+ velocities"):
        functions.mobility()


@pytest.mark.parametrize("formulation", ["minimal", "R3xSO3", "SE3", "R3xRV", "euler_parameters", "tait_bryan"])
def test_efforts_of_a_motion_under_given_efforts(formulation):
    """The motion of a tree under constant efforts takes these efforts, in minimal and maximal coordinates."""
    efforts = np.sin(1 + np.arange(7.0))
    run = lgint.integrate(tree_of_7(formulation, efforts), "dopri5", t_end=0.3, h=1e-2)
    model = tree_of_7(formulation)
    found = model.inverse_dynamics(run.q, run.v, run.vdot, run.t, actuators=JOINTS)
    assert np.allclose(found, efforts, rtol=0, atol=1e-9)
    driven = run.model.inverse_dynamics(run.q, run.v, run.vdot, run.t, actuators=JOINTS)
    assert np.allclose(driven, 0, rtol=0, atol=1e-9)  # the elements of the model stay in force


def test_efforts_belong_to_the_rates_of_coordinates(rng):
    """S v is the rate of the coordinates, even where the constraints are violated."""
    model = tree_of_7("R3xSO3")
    q, v = model.core.retract(model.q0, 0.3 * rng.standard_normal(model.nv)), rng.standard_normal(model.nv)
    state = State(Parts(model, {"t": 0.0, "q": q, "v": v}, "it is not needed"))
    for name, which in coordinates_of(model):
        assert np.isclose(rates_of(model, name, which, np.zeros(()), q) @ v, state.joint_rate(name), rtol=1e-12)
    assert len(coordinates_of(model)) == 7


@pytest.mark.parametrize("redundant", ["error", "least_norm"])
def test_efforts_around_closed_loops(redundant):
    efforts = 40 + 5 * np.sin(np.arange(6.0))
    run = lgint.integrate(stewart(held=False, efforts=efforts), "dopri5", t_end=0.1, h=1e-2)
    model = stewart(held=False)
    found = model.inverse_dynamics(run.q, run.v, run.vdot, run.t, actuators=LEGS, redundant=redundant)
    assert np.allclose(found, efforts, rtol=1e-10)


def test_legs_of_a_stewart_platform():
    """They move the platform as a support would, and together they exert what the support exerts."""
    run = lgint.integrate(stewart(), "herk4", t_end=0.4, h=1e-2)
    model = stewart(held=False)
    legs = model.inverse_dynamics(run.q, run.v, run.vdot, run.t, actuators=LEGS)
    R, x = run.rotation("platform"), run.position("platform")
    arms = np.einsum("nij,kj->nki", R, TOP)
    along = x[:, None] + arms - BASE
    along /= np.linalg.norm(along, axis=-1, keepdims=True)
    wrench = np.concatenate([along, np.cross(arms, along)], axis=-1)
    together = np.einsum("nk,nki->ni", legs, wrench)
    grip = run.reaction("grip")
    assert np.abs(together - grip).max() < 1e-8 * np.abs(grip).max()


def test_efforts_that_do_the_same():
    """Each of the four hinges of a loop can move it: an error names them, and efforts of least norm share."""
    model = bennett()
    state = model.state()
    motion = state.q, state.v, state.vdot + 0 * state.v
    assert abs(model.inverse_dynamics(*motion, actuators=["hinge0"])[0]) < 1e-9
    faster = state.q, state.v, np.array(state.vdot) + np.array(state.v)
    single = [model.inverse_dynamics(*faster, actuators=[f"hinge{i}"])[0] for i in range(4)]
    names = [f"hinge{i}" for i in range(4)]
    with pytest.raises(ValueError, match="the efforts of 'hinge.', 'hinge.', 'hinge.' do the same"):
        model.inverse_dynamics(*faster, actuators=names)
    shared = model.inverse_dynamics(*faster, actuators=names, redundant="least_norm")
    gains = 1 / np.array(single)  # power of each hinge per effort, up to a common factor
    assert np.allclose(shared, gains / (gains @ gains), rtol=1e-8)


def root_and_arm(formulation):
    b = lgint.ModelBuilder(gravity=(0, 0, -9.81), formulation=formulation)
    b.add_body("trunk", mass=3.0, inertia=(0.2, 0.3, 0.4), formulation="R3xSO3")
    b.add_body("arm", mass=1.0, inertia=(0.05, 0.1, 0.1), position=(0.5, 0, 0))
    b.add_joint("revolute", "trunk", "arm", point=(0.2, 0, 0), axis=(0, 1, 0), name="hinge")
    return b.build()


@pytest.mark.parametrize("formulation", ["minimal", "R3xSO3"])
def test_motions_out_of_reach(formulation, tree, rng):
    model = root_and_arm(formulation)
    state = model.state()
    assert np.allclose(model.inverse_dynamics(state.q, state.v, state.vdot, actuators=["hinge"]), 0, atol=1e-12)
    with pytest.raises(ValueError, match="'hinge' cannot give this motion: .* left at body .*'trunk'"):
        model.inverse_dynamics(state.q, state.v, 0 * state.v, actuators=["hinge"])
    with pytest.raises(ValueError, match="cannot give this motion: .* left at joint 'joint7.angle'. Name more"):
        tree.inverse_dynamics(*rng.standard_normal((3, 7)), actuators=JOINTS[:6])


def test_singular_positions_and_locked_joints():
    model = parallelogram(0.7).build()
    with pytest.raises(ValueError, match="singular constraints: .*(last|bar.|bar.-bar.): (translation|rotation)"):
        model.inverse_dynamics(parallelogram_q(0.0), model.v0, model.v0, actuators=["ground-bar0"])
    held = stewart()
    with pytest.raises(ValueError, match="actuators: 'leg1', 'leg2' cannot move here, since the constraints lock them"):
        held.inverse_dynamics(held.q0, held.v0, held.v0, actuators=LEGS[:2])


BAD = [
    ({"q": np.zeros(6)}, r"q: shape \(..., 7\) expected, got \(6,\)"),
    ({"v": np.zeros((2, 7)), "vdot": np.zeros((3, 7))}, "the same leading axes expected"),
    ({"vdot": np.full(7, np.nan)}, "vdot: finite numbers expected"),
    ({"actuators": ["jiont1"]}, r"unknown joint 'jiont1' \(did you mean 'joint1'\?\)"),
    ({"actuators": ["joint1.slide"]}, "joint 'joint1' is revolute and has no slide"),
    ({"actuators": ["joint1", "joint1.angle"]}, "each joint once expected"),
    ({"actuators": "joint1"}, "actuators: a list of names of joints expected, got 'joint1'"),
    ({"redundant": "share"}, "unknown redundant 'share'"),
]


@pytest.mark.parametrize(("given", "words"), BAD)
def test_bad_arguments(given, words, tree):
    with pytest.raises(ValueError, match=words):
        tree.inverse_dynamics(**{"q": np.zeros(7), "v": np.zeros(7), "vdot": np.zeros(7), **given})


def test_systems_with_rows_need_actuators():
    model = lgint.models.slider_crank()
    with pytest.raises(ValueError, match="inverse_dynamics: the model has 17 constraint rows.*name the joints"):
        model.inverse_dynamics(model.q0, model.v0, model.v0)
    with pytest.raises(ValueError, match="inverse_dynamics_derivatives: the model has 17 constraint rows"):
        model.inverse_dynamics_derivatives(model.q0, model.v0, model.v0)


@pytest.mark.measures
def test_time_of_many_motions(tree, rng):
    """At most 0.15 us of processor time per joint and 0.2 us per motion."""
    motions = rng.standard_normal((3, 2_000, 7))
    taken = least(lambda: tree.inverse_dynamics(*motions), repeat=50) / 2_000
    assert taken < (0.15e-6 * 7 + 0.2e-6) * slowness()
