"""Modal bodies: kinematics and dynamics against sums over particles, verbs against differences, elements on nodes."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from cores import core_model, node_and_modes
from elements.rows import JOINTS, ON_BODIES, difference, random_links, start_of, tangent_and_difference
from elements.test_elements import CHAINS
from kinds import FORMULATIONS, NODES

MODES, PARTICLES = 3, 6
IN_FRAME = (0.2, -0.3, 0.4)


class Particles:
    """Particles of mass m at X with mode shapes Phi (particles, 3, modes), and nodes with shapes Phi and Psi."""

    def __init__(self, seed=0):
        rng = np.random.default_rng(seed)
        self.m = rng.uniform(0.5, 1.5, PARTICLES)
        self.X = rng.normal(size=(PARTICLES, 3))
        self.Phi = rng.normal(size=(PARTICLES, 3, MODES))
        A, D = rng.normal(size=(2, MODES, MODES))
        self.K, self.D = A @ A.T, D @ D.T
        self.node_X = rng.normal(size=(2, 3))
        self.node_Phi, self.node_Psi = rng.normal(size=(2, 2, 3, MODES))
        self.node_Psi[1] = 0  # a node without rotation

    def parameters(self):
        m, X, Phi = self.m, self.X, self.Phi
        nodes = [
            [*X, *P.T.ravel(), *S.T.ravel()] for X, P, S in zip(self.node_X, self.node_Phi, self.node_Psi, strict=True)
        ]
        return [
            m.sum(),
            *(m @ X),
            *np.einsum("p,pi,pj->ij", m, X, X).ravel(),
            *np.einsum("p,pik->ki", m, Phi).ravel(),
            *np.einsum("p,pi,pjk->kij", m, X, Phi).ravel(),
            *np.einsum("p,pik,pjl->klij", m, Phi, Phi).ravel(),
            *self.K.ravel(),
            *self.D.ravel(),
            *np.concatenate(nodes),
        ]


BODY = Particles()


def system(kind, elements=(), frames=()):
    """A modal body of some kind on block 0, and a rigid body.

    The frames of the modal body are 0 (floating), 1 and 2 (nodes) and 3 (a rigid point), those of the rigid body
    4 (node) and 5 (offset)."""
    places = [(0, (0.0,) * 6, part) for part in range(3)] + [(0, (0.0, 0, 0, *IN_FRAME), 0)]
    places += [(1, (0.0,) * 6), (1, (0.0, 0, 0, -0.3, 0.2, 0.1))]
    parts = [
        ("modal_body", "body", (0,), BODY.parameters(), None),
        ("rigid_body", "other", (4,), (1.5, 2.0, 3.0, 4.0, 0.1, -0.2, 0.3), None),
    ]
    return core_model([node_and_modes(kind, MODES), ("SE3", 0)], [*places, *frames], [*parts, *elements])


@pytest.fixture(params=FORMULATIONS)
def kind(request):
    return request.param


def random_point(model, seed):
    rng = np.random.default_rng(seed)
    kind = model.blocks[0][0]
    q = model.retract(start_of(model), 0.6 * rng.normal(size=model.nv))
    v, a, lam = rng.normal(size=model.nv), rng.normal(size=model.nv), rng.normal(size=model.nrows)
    q, v = system(kind).project(0.0, q, v)  # own rows
    return q, v, a, lam


def modal_slices(model):
    """The slices of q and of v that hold eta and its rates."""
    kind = model.blocks[0][0]
    nq, nv = NODES[kind]["nq"], NODES[kind]["nv"]
    return slice(nq, nq + MODES), slice(nv, nv + MODES)


def along(model, q, v):
    return lambda s: model.retract(q, s * v)


# ---- against particles ----


def particle_velocities(model, q, v):
    """Inertial velocities of the particles, (particles, 3), from the velocities of the modal body."""
    in_q, in_v = modal_slices(model)
    _, R, xdot, omega = model.kinematics(0, q, v)
    r = BODY.X + BODY.Phi @ q[in_q]
    return xdot + (np.cross(omega, r) + BODY.Phi @ v[in_v]) @ R.T


def test_kinetic_energy_and_momentum_are_those_of_the_particles(kind):
    model = system(kind)
    q, v, a, _ = random_point(model, 1)
    v[-6:] = 0
    u = particle_velocities(model, q, v)
    T, V = model.energy(0.0, q, v)
    assert np.isclose(T, 0.5 * BODY.m @ (u * u).sum(1), rtol=1e-13)
    eta = q[modal_slices(model)[0]]
    assert np.isclose(V, 0.5 * eta @ BODY.K @ eta, rtol=1e-13)
    M = model.evaluate(0.0, q, v, want=("S",))["S"]
    assert np.isclose(0.5 * v @ M @ v, T, rtol=1e-13)
    assert np.allclose(M, M.T, rtol=0, atol=1e-12)
    assert np.allclose(M @ a, model.evaluate(0.0, q, v, a, want=("Ma",))["Ma"], rtol=1e-12, atol=1e-12)


def test_inertia_forces_are_those_of_the_particles(kind):
    """By d'Alembert's principle, w . (M a + gyro) = sum m a_p . u_p(w) for every virtual velocity w."""
    model = system(kind)
    q, v, a, _ = random_point(model, 2)
    v[-6:] = a[-6:] = 0
    # along q(s) = q o (s v) the velocities are T(s v) v, whose rate is zero at s = 0
    acceleration = difference(lambda s: particle_velocities(model, along(model, q, v)(s), v + s * a))
    got = model.evaluate(0.0, q, v, a, want=("Ma", "gyro"))
    for seed in range(3):
        w = np.random.default_rng(seed).normal(size=model.nv)
        w[-6:] = 0
        work = BODY.m @ (acceleration * particle_velocities(model, q, w)).sum(1)
        assert np.isclose((got["Ma"] + got["gyro"]) @ w, work, rtol=1e-8, atol=1e-8)


def test_elastic_force_is_minus_K_eta_minus_D_rates(kind):
    model = system(kind)
    q, v, _, _ = random_point(model, 3)
    in_q, in_v = modal_slices(model)
    force = model.evaluate(0.0, q, v, want=("force",))["force"]
    assert np.allclose(force[in_v], -BODY.K @ q[in_q] - BODY.D @ v[in_v], rtol=1e-13)
    assert not np.delete(force, np.arange(model.nv)[in_v]).any()


@pytest.mark.parametrize("node", [0, 1])
def test_nodes_are_displaced_and_turned(kind, node):
    model = system(kind)
    q, v, _, _ = random_point(model, 4)
    eta = q[modal_slices(model)[0]]
    x, R, _, _ = model.kinematics(0, q, v)
    got_x, got_R, xdot, omega = model.kinematics(1 + node, q, v)
    psi = BODY.node_Psi[node] @ eta
    turned = Rotation.from_quat([*(psi / 2), 1.0]).as_matrix()
    assert np.allclose(got_x, x + R @ (BODY.node_X[node] + BODY.node_Phi[node] @ eta), atol=1e-14)
    assert np.allclose(got_R, R @ turned, atol=1e-14)
    rigid = model.kinematics(3, q, v)[0]
    assert np.allclose(rigid, x + R @ np.array(IN_FRAME), atol=1e-14)

    move = along(model, q, v)
    assert np.allclose(xdot, difference(lambda s: model.kinematics(1 + node, move(s), v)[0]), atol=1e-8)
    rate = difference(lambda s: got_R.T @ model.kinematics(1 + node, move(s), v)[1])
    assert np.allclose(omega, [rate[2, 1], rate[0, 2], rate[1, 0]], atol=1e-8)


# ---- every element on the nodes ----

# with translation rows in inertial axes or in those of the first body
CASES = [element for element in ON_BODIES if element not in JOINTS or element.parameters[0] != 2]


def with_element(kind, element, first):
    """The element between frame `first` of the modal body and the rigid body; if `first` is 2, between both nodes."""
    return system(kind, [element.on((first, 5) if first != 2 else (2, 1))])


@pytest.fixture(params=[1, 2, 3], ids=["node", "two nodes", "rigid point"])
def first(request):
    return request.param


@pytest.mark.parametrize("element", [element for element in CASES if element in JOINTS], ids=str)
def test_rows_and_their_derivatives(element, kind, first):
    model = with_element(kind, element, first)
    q, v, _, _ = random_point(model, 5)
    got = model.evaluate(0.0, q, v, want=("B", "phidot", "zeta", "Z"))
    driven = model.evaluate(0.0, q, 0 * v, want=("phidot",))["phidot"]  # by motions that are prescribed
    assert np.allclose(got["phidot"], got["B"] @ v + driven, rtol=1e-12, atol=1e-12)
    for seed in range(2):
        w = np.random.default_rng(seed).normal(size=model.nv)
        move = along(model, q, w)
        phi = difference(lambda s, move=move: model.evaluate(0.0, move(s), v, want=("phi",))["phi"])
        rate = difference(lambda s, move=move: model.evaluate(0.0, move(s), v, want=("phidot",))["phidot"])
        phi[model.nonholonomic] += (got["B"] @ w)[model.nonholonomic]  # theirs is zero
        assert np.allclose(got["B"] @ w, phi, rtol=1e-7, atol=1e-7)
        assert np.allclose(got["Z"] @ w, rate, rtol=1e-7, atol=1e-7)
    move = along(model, q, v)
    rate = difference(lambda s: model.evaluate(s, move(s), v, want=("phidot",))["phidot"])
    assert np.allclose(got["zeta"], -rate, rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("k", [CHAINS[0], CHAINS[1], CHAINS[3]], ids=["q", "v", "all"])
@pytest.mark.parametrize("element", CASES, ids=str)
def test_tangent_is_the_derivative_of_the_residual(element, kind, first, k):
    model = with_element(kind, element, first)
    rng = np.random.default_rng(7)
    X, du = random_links(model, rng), rng.normal(size=model.nv)
    got, expected, _ = tangent_and_difference(model, random_point(model, 6), k, X, du)
    assert np.abs(got - expected).max() < 1e-7 * (1 + np.abs(expected).max())


# ---- descriptions that are refused ----


def test_blocks_and_data_that_do_not_fit_are_refused():
    values, frame = BODY.parameters(), [(0, (0.0,) * 6, 0)]
    element = [("modal_body", "body", (0,), values, None)]
    for blocks in ([("R3xSO3", 0)], [("Rn", MODES)], [node_and_modes("SO3", MODES)]):
        with pytest.raises(ValueError, match="free rigid block with modes"):
            core_model(blocks, frame, element)
    with pytest.raises(ValueError, match="needs a modal body"):
        core_model([node_and_modes("R3xSO3", 1)], frame, [("rigid_body", "body", (0,), (1.0, 1, 1, 1, 0, 0, 0), None)])
    with pytest.raises(ValueError, match="does not fit"):
        core_model([node_and_modes("R3xSO3", MODES)], frame, [("modal_body", "body", (0,), values[:-1], None)])
    with pytest.raises(ValueError, match="mass: a positive number expected"):
        core_model([node_and_modes("R3xSO3", MODES)], frame, [("modal_body", "body", (0,), [0.0, *values[1:]], None)])
    with pytest.raises(ValueError, match="no such part"):
        core_model([node_and_modes("R3xSO3", MODES)], [*frame, (0, (0.0,) * 6, 3)], element)
