"""The matrices and forces of the equations of motion, and the Jacobians of bodies."""

import numpy as np
import pinocchio
import pytest

import lgint
from kinds import FREE
from lgint._state.state import Parts, State
from lgint._tools.bench_trees import Pinocchio
from models.overconstrained import bennett
from models.robots import tree_of_7
from models.test_redundant import parallelogram, parallelogram_q
from pace import least, slowness

pytestmark = pytest.mark.filterwarnings("ignore:inertia of:UserWarning")

STEP = 1e-5
FORMULATIONS = [*FREE, "minimal"]


def puma():
    """The robot without the drives in its joints."""
    return lgint.models.puma560(stiffness=np.zeros(6), damping=np.zeros(6))


TREES = {"puma560": puma, "tree of 7": tree_of_7}


def relative(found, expected):
    """The largest difference, relative to the largest entry."""
    return np.abs(found - expected).max() / np.abs(expected).max()


@pytest.mark.parametrize("name", TREES)
def test_pinocchio_finds_the_same(name, rng):
    """Mass matrix, forces, inverse dynamics with its derivatives, and accelerations."""
    model = TREES[name]()
    peer = Pinocchio(pinocchio, model).model
    data = peer.createData()
    for q, v, a in rng.standard_normal((20, 3, model.nv)):
        state = model.state(q, v)
        M = pinocchio.crba(peer, data, q)
        M = np.triu(M) + np.triu(M, 1).T
        assert relative(state.mass_matrix(), M) < 1e-12
        assert relative(-state.generalized_force(), pinocchio.nonLinearEffects(peer, data, q, v)) < 1e-12
        assert relative(model.inverse_dynamics(q, v, a), pinocchio.rnea(peer, data, q, v, a)) < 1e-12
        expected = pinocchio.computeRNEADerivatives(peer, data, q, v, a)
        for found, other in zip(model.inverse_dynamics_derivatives(q, v, a), expected, strict=True):
            other = np.triu(other) + np.triu(other, 1).T if other is expected[2] else other
            assert relative(found, other) < 1e-12
        assert relative(state.accelerations()[0], pinocchio.aba(peer, data, q, v, np.zeros(model.nv))) < 1e-10


# ---- in every formulation ----


def carried(t):
    """The motion of a support: positions and rotation vector with both derivatives."""
    return [[t, t**2, 0, 0.1 * t, 0, t], [1, 2 * t, 0, 0.1, 0, 1], [0, 2, 0, 0, 0, 0]]


def arm(formulation):
    """Two bodies on a moving support, with a spring, a load in body axes and a drive."""
    b = lgint.ModelBuilder(gravity=(0, 0, -9.81), formulation=formulation)
    first = lgint.ground
    if formulation != "minimal":
        first = b.add_support("base", motion=carried)
    turn = lgint.groups.so3.exp((0.3, -0.2, 0.4))
    b.add_body("upper", mass=2.0, inertia=(0.2, 0.3, 0.25), position=(0.4, 0.1, 0.2), rotation=turn)
    b.add_body("lower", mass=1.0, inertia=(0.05, 0.1, 0.12), position=(0.9, 0.3, 0.1), rotation=turn.T)
    b.add_joint("revolute", first, "upper", point=(0, 0, 0), axis=(0.6, 0, 0.8), name="shoulder")
    b.add_joint("revolute", "upper", "lower", point=(0.7, 0.2, 0.1), axis=(0, 1, 0), name="elbow")
    b.add_joint_drive("elbow", stiffness=3.0, damping=0.5, name="drive")
    b.add_spring(lgint.ground, "lower", stiffness=30.0, damping=0.2, length=0.5, name="spring")
    b.add_force("lower", force=(1, 2, 3), torque=(0.3, 0.1, -0.2), frame="body", name="push")
    return b.build(start="project")


@pytest.fixture(scope="module", params=FORMULATIONS)
def moved(request):
    """A state away from the start, with random rates and accelerations."""
    rng = np.random.default_rng(7)
    model = arm(request.param)
    q = model.core.retract(model.q0, 0.2 * rng.standard_normal(model.nv))
    v, a, lam = rng.standard_normal(model.nv), rng.standard_normal(model.nv), rng.standard_normal(model.nc)
    return model, q, v, a, lam


def at(model, q, v, t=0.3, **motion):
    """A state as given, even if it does not satisfy the constraints."""
    mem = model.core.remember(t, q, v, 0 * v, model.mem0)
    return State(Parts(model, {"t": t, "q": q, "v": v, "mem": mem, **motion}, "it is not needed"))


def along(model, q, v, a, s):
    """The state at t = 0.3 + s of a motion that has q, v and v' = a at t = 0.3."""
    return at(model, model.core.retract(q, s * v + s**2 / 2 * a), v + s * a, 0.3 + s)


@pytest.mark.parametrize("frame", ["inertial", "body"])
@pytest.mark.parametrize("point", [None, (0.2, -0.1, 0.3)])
def test_jacobians_give_velocities_and_accelerations(moved, point, frame):
    """Velocities are those of the kinematics; accelerations are compared with differences of velocities."""
    model, q, v, a, _ = moved
    state, still = at(model, q, v), at(model, q, 0 * v)
    X = point or (0, 0, 0)

    def twist(state):
        R = state.rotation("lower")
        return np.concatenate([state.point_velocity("lower", X), R @ state.angular_velocity("lower")])

    back = np.eye(3) if frame == "inertial" else state.rotation("lower").T
    J = state.jacobian("lower", point, frame)
    assert np.allclose((J @ v).reshape(2, 3), (twist(state) - twist(still)).reshape(2, 3) @ back.T, atol=1e-12)
    slope = (twist(along(model, q, v, a, STEP)) - twist(along(model, q, v, a, -STEP))) / (2 * STEP)
    acceleration = (J @ a + state.jacobian_bias("lower", point, frame)).reshape(2, 3)
    assert np.allclose(acceleration, slope.reshape(2, 3) @ back.T, rtol=1e-7, atol=1e-7)


def test_stiffness_and_damping_are_derivatives_of_the_residual(moved):
    model, q, v, a, lam = moved

    def residual(q, v):
        state = at(model, q, v)
        return state.mass_matrix() @ a - state.generalized_force() + lam @ state.constraint_matrix()

    def slope(moved):
        return np.column_stack([(moved(STEP * e) - moved(-STEP * e)) / (2 * STEP) for e in np.eye(model.nv)])

    state = at(model, q, v, vdot=a, lam=lam)
    K, D = state.stiffness_matrix(), state.damping_matrix()
    assert relative(K, slope(lambda x: residual(model.core.retract(q, x), v))) < 1e-7
    assert relative(D, slope(lambda x: residual(q, v + x))) < 1e-7


def test_sparse_matrices_are_the_dense_ones(moved):
    model, q, v, _, _ = moved
    start = model.state()
    for state in (start, lgint.integrate(model, "rk44", t_end=2e-3, h=1e-3)):
        for name in ("mass_matrix", "constraint_matrix", "stiffness_matrix", "damping_matrix"):
            dense, sparse = getattr(state, name)(), getattr(state, name)(sparse=True)
            single = [sparse] if state is start else sparse
            assert np.allclose([each.toarray() for each in single], [dense] if state is start else dense, atol=1e-12)


# ---- the terms together ----


def residual(states):
    """M vdot - generalized force + B^T lam of states with their own accelerations and multipliers."""
    vdot, lam = states.accelerations()
    M, B = states.mass_matrix(), states.constraint_matrix()
    inertia = np.einsum("...ij,...j->...i", M, vdot)
    return inertia - states.generalized_force() + np.einsum("...ji,...j->...i", B, lam), np.abs(inertia).max()


@pytest.mark.parametrize("method", ["dopri5", "herk4", "genalpha"])
def test_accelerations_solve_the_equations_of_motion(method):
    """At the states of runs; those of methods that solve the same equations are the same."""
    run = lgint.integrate(lgint.models.slider_crank(), method, t_end=0.1, h=2e-3)
    left, size = residual(run)
    assert np.abs(left).max() < 1e-12 * size
    vdot, lam = run.accelerations()
    single = run.state(7).accelerations()
    assert np.array_equal(vdot[7], single[0]) and np.array_equal(lam[7], single[1])
    if method == "dopri5":
        assert np.allclose(vdot, run.vdot, rtol=1e-9, atol=1e-9 * np.abs(vdot).max())


def test_momentum_methods_have_rows_in_body_axes():
    run = lgint.integrate(lgint.models.four_bar(load="mild"), "reml", t_end=0.5, h=0.05)
    assert np.abs(residual(run)[0]).max() < 1e-10
    B, other = run.state(-1).constraint_matrix(), at(run.model, run.q[-1], run.v[-1]).constraint_matrix()
    assert np.abs(B - other).max() > 0.1
    assert np.linalg.matrix_rank(np.vstack([B, other])) == run.model.nc


def test_terms_of_equilibria_have_the_load_factor():
    """A hanging arm with a spring: the generalized force is balanced under every factor."""
    rest = lgint.equilibrium(arm("R3xSO3"), loads=(0.25, 0.5, 1.0))
    balance = rest.generalized_force() - np.einsum("nji,nj->ni", rest.constraint_matrix(), rest.lam)
    assert np.abs(balance).max() < 1e-6
    slope = np.einsum("nij,j->ni", rest.stiffness_matrix(), np.ones(12))
    assert np.abs(slope[0] - slope[-1]).max() > 0.1


def test_matrices_of_dropped_rows():
    """Inactive rows of a closed loop are zero, and B has the rank of the others."""
    state = bennett().state()
    B = state.constraint_matrix()
    assert np.linalg.matrix_rank(B) == (np.abs(B).max(axis=1) > 0).sum() == 17
    assert np.allclose(B @ state.v, 0, atol=1e-7)


@pytest.mark.measures
def test_a_long_rod_has_matrices_in_linear_time():
    """2000 edges in 0.05 s of processor time, and the entries of a band."""
    b = lgint.ModelBuilder(formulation="S3R3")
    b.add_rod(
        "rod", start=(0, 0, 0), end=(20, 0, 0), edges=2000, stiffness=[1e4] * 3 + [500] * 3, inertia=[1, 10, 10, 10]
    )
    state = b.build().state()
    assert np.abs(state.vdot).max() < 1e-9
    K = state.stiffness_matrix(sparse=True)
    assert K.shape == (12006, 12006) and K.nnz <= 36 * (3 * 2001)
    assert least(lambda: state.stiffness_matrix(sparse=True)) < 0.05 * slowness()


# ---- mobility and bad input ----


def test_mobility_says_who_takes_the_freedoms():
    found = lgint.models.slider_crank().mobility()
    assert found.degrees_of_freedom == 1
    assert found.bodies == {"crank": 6, "rod": 6, "slider": 6} and sum(found.joints.values()) == 17
    assert "1 degree of freedom" in repr(found) and "crank: +6" in repr(found)
    assert "<table>" in found._repr_html_()
    loop = bennett().mobility()
    assert loop.degrees_of_freedom == 1 and len(loop.redundant) == len(bennett().dropped_rows)
    euler = lgint.models.heavy_top(formulation="euler_parameters").mobility()
    assert euler.degrees_of_freedom == 3 and euler.bodies == {"top": 6}
    tree = tree_of_7().mobility()
    assert tree.degrees_of_freedom == 7 and not tree.joints and set(tree.bodies.values()) == {1}


def test_mobility_at_another_position():
    """A parallelogram that is folded flat has one freedom more."""
    model = parallelogram(0.7).build()
    assert model.mobility().degrees_of_freedom == 4
    flat = model.with_state(parallelogram_q(0.0)).mobility()
    assert flat.degrees_of_freedom == 5 and len(flat.redundant) == 1


BAD = [
    (lambda state: state.jacobian("uper"), r"unknown body 'uper' \(did you mean 'upper'\?\)"),
    (lambda state: state.jacobian("upper", (1, 2)), r"local_point: shape \(3,\) expected, got \(2,\)"),
    (lambda state: state.jacobian("upper", frame="joint"), "unknown frame 'joint'"),
    (lambda state: state.mass_matrix(sparse="yes"), "sparse: True or False expected"),
]


@pytest.mark.parametrize(("ask", "words"), BAD)
def test_bad_arguments(ask, words):
    with pytest.raises(ValueError, match=words):
        ask(arm("R3xSO3").state())


def test_systems_of_functions_have_matrices_and_no_bodies():
    model = lgint.models.mass_spring()
    M = model.state().mass_matrix()
    assert np.allclose(M, M.T) and M.shape == (model.nv, model.nv)
    with pytest.raises(ValueError, match="has no bodies or joints"):
        model.state().jacobian("body")


@pytest.mark.parametrize("joint", ["spherical", "revolute"])
def test_tangents_of_rows_in_body_axes_are_derivatives(joint):
    """Such rows couple the two bodies of a joint where rows in inertial axes do not."""
    model = lgint.models.pendulum_chain(n=3, joint=joint)
    core, q, v = model.core, model.q0, model.v0
    a, lam = np.zeros(core.nv), np.random.default_rng(0).normal(size=core.nrows)

    def residual(q):
        f = core.evaluate(0.0, q, v, a, lam, want=("gyro", "force", "Btlam"), body_axes=True)
        return f["gyro"] - f["force"] + f["Btlam"]

    h = 1e-6
    columns = [
        (residual(core.retract(q, h * e)) - residual(core.retract(q, -h * e))) / (2 * h) for e in np.eye(core.nv)
    ]
    dense = core.evaluate(0.0, q, v, a, lam, want="S", k=(1.0, 0.0, 0.0), body_axes=True)["S"]
    sparse = np.zeros_like(dense)
    np.add.at(sparse, core.sparsity()[:2], core.sparse(0.0, q, v, a, lam, want="K", body_axes=True)["K"])
    assert np.abs(np.transpose(columns)).max() > 0.1
    assert np.abs(dense - np.transpose(columns)).max() < 1e-8
    assert np.array_equal(sparse, dense)


def test_the_ground_has_a_jacobian_of_zeros():
    run = lgint.integrate(lgint.models.heavy_top(), "rk44", t_end=2e-3, h=1e-3)
    for states, leading in ((run, (3,)), (run.state(0), ())):
        for frame in ("inertial", "body"):
            assert np.array_equal(states.jacobian("ground", (1, 2, 3), frame), np.zeros((*leading, 6, run.model.nv)))
            assert np.array_equal(states.jacobian_bias("ground", (1, 2, 3), frame), np.zeros((*leading, 6)))
