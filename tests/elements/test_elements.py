"""One battery for every element and joint in every formulation: the verbs against each other and differences."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import lgint
from lgint import _core

FORMULATIONS = ("R3xSO3", "R3xS3", "R3xRV", "SE3", "S3R3", "euler_parameters", "tait_bryan")
BODY_RATES = ("euler_parameters_omega", "tait_bryan_omega")
JOINTS = ("spherical", "revolute", "prismatic", "cylindrical", "universal", "inline", "planar", "rigid")
TRIAD = Rotation.from_rotvec([0.3, -0.5, 0.8]).as_matrix().ravel()
AXIS = (0.48, -0.6, 0.64)
OTHER = Rotation.from_rotvec([-0.7, 0.2, 0.4]).as_matrix().ravel()

PARAMETERS = {name: [(carrier, *TRIAD, *OTHER) for carrier in (0.0, 1.0, 2.0)] for name in JOINTS}
PARAMETERS |= {
    "distance": [(1.7,)],
    "spring": [(30.0, 0.4, 1.1)],
    "cartesian_spring": [(10.0, 20.0, 30.0, 0.1, 0.2, 0.3, 0.5, -0.4, 0.3)],
    "gravity": [(2.0, 1.0, -2.0, -9.81)],
    "force": [(0.0, 0.0, 1.0, 2.0, 3.0), (1.0, 0.0, 1.0, 2.0, 3.0)],
    "torque": [(0.0, 0.0, 1.0, 2.0, 3.0), (1.0, 0.0, 1.0, 2.0, 3.0)],
    "joint_drive": [(*TRIAD, *OTHER, 3.0, 20.0, 0.7, -1.0, 0.2, 0.3, 4.0)],
    "slide_drive": [(*AXIS, 0.3, 2.0, 0.7, -1.0, 0.2, 0.3, 4.0)],
}
BODIES = ("rigid_body", "tree", "modal_body", "point")  # the others: test_tree.py, test_modal.py, test_points.py
LAWS = ("coordinate_drive", "coordinate_law", "force_law", "joint_law", "slide_law")  # test_laws.py
TWO_FRAMES = {row["name"] for row in _core.element_rows() if row["nframes"] == 2}


def system(element, parameters, kinds):
    """Two bodies with offset frames and the element between them (or on the first)."""
    blocks = [(kind, 0) for kind in kinds]
    frames, elements = [], []
    for i in range(2):
        frames += [(i, (0.0,) * 6), (i, (0.0, 0.0, 0.0, 0.3 - i, -0.2, 0.5 * i + 0.1))]
        inertia = (2.0, 3.0, 4.0, 0.1, -0.2, 0.3)
        elements.append(("rigid_body", f"body{i}", (2 * i,), (1.5 + i, 0.0, 0.0, 0.0, *inertia), None))
    ends = (1, 3) if element in TWO_FRAMES else (1,)
    elements.append((element, "part", ends, parameters, None))
    return _core.Model(blocks, frames, elements)


def random_point(model, seed):
    rng = np.random.default_rng(seed)
    q = np.concatenate([start_of(kind) for kind, *_ in model.blocks])
    q = model.retract(q, rng.normal(size=model.nv))
    v, a, lam = rng.normal(size=model.nv), rng.normal(size=model.nv), rng.normal(size=model.nrows)
    for kind, _, first_q, first_v, *_ in model.blocks:  # Euler parameters: on the unit sphere, rates along it
        if kind == "euler_parameters":
            e = slice(first_q + 3, first_q + 7)
            rates = slice(first_v + 3, first_v + 7)
            q[e] /= np.linalg.norm(q[e])
            v[rates] -= q[e] * (q[e] @ v[rates])
    return q, v, a, lam


def start_of(kind):
    if kind in ("R3xSO3", "SE3"):
        return np.concatenate([np.zeros(3), np.eye(3).ravel()])
    if kind in ("R3xRV", "tait_bryan", "tait_bryan_omega"):
        return np.zeros(6)
    return np.array([0.0, 0, 0, 1, 0, 0, 0])


def along(model, q, w, s):
    return model.retract(q, s * w)


def difference(f, eps=1e-6):
    """Fourth-order central difference of f at 0."""
    return (8 * (f(eps) - f(-eps)) - (f(2 * eps) - f(-2 * eps))) / (12 * eps)


CASES = [(name, p) for name, choices in PARAMETERS.items() for p in choices]
IDS = [f"{name}-{p[0]:g}" if name in JOINTS or name in ("force", "torque") else name for name, p in CASES]
KINDS = [(k, k) for k in (*FORMULATIONS, *BODY_RATES)] + [("SE3", "euler_parameters"), ("R3xRV", "S3R3")]


@pytest.fixture(params=KINDS, ids=lambda k: "+".join(k))
def kinds(request):
    return request.param


@pytest.mark.parametrize("element, parameters", CASES, ids=IDS)
def test_constraint_jacobian_is_the_derivative_of_phi(element, parameters, kinds):
    model = system(element, parameters, kinds)
    q, v, a, lam = random_point(model, 1)
    got = model.evaluate(0.0, q, v, want=("B", "phidot"))
    for seed in range(3):
        w = np.random.default_rng(seed).normal(size=model.nv)
        expected = difference(lambda s, w=w: model.evaluate(0.0, along(model, q, w, s), v, want=("phi",))["phi"])
        assert np.allclose(got["B"] @ w, expected, rtol=1e-8, atol=1e-8)
    assert np.allclose(got["phidot"], got["B"] @ v, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("element, parameters", CASES, ids=IDS)
def test_zeta_and_Z_are_derivatives_of_phidot(element, parameters, kinds):
    model = system(element, parameters, kinds)
    q, v, a, lam = random_point(model, 2)
    got = model.evaluate(0.0, q, v, want=("zeta", "Z"))

    def phidot(w):
        return difference(lambda s: model.evaluate(0.0, along(model, q, w, s), v, want=("phidot",))["phidot"])

    assert np.allclose(got["zeta"], -phidot(v), rtol=1e-8, atol=1e-8)
    for seed in range(3):
        w = np.random.default_rng(seed).normal(size=model.nv)
        assert np.allclose(got["Z"] @ w, phidot(w), rtol=1e-8, atol=1e-8)


CHAINS = [(1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0), (0.3, -0.7, 1.9)]


@pytest.mark.parametrize("k", CHAINS, ids=lambda k: f"{k[0]:g},{k[1]:g},{k[2]:g}")
@pytest.mark.parametrize("element, parameters", CASES, ids=IDS)
def test_tangent_is_the_derivative_of_the_residual(element, parameters, kinds, k):
    model = system(element, parameters, kinds)
    q, v, a, lam = random_point(model, 3)
    rng = np.random.default_rng(4)
    X = [np.zeros((model.nv, model.nv)) for _ in range(3)]
    for kind, _, _, first, *_ in model.blocks:
        n = 7 if kind == "euler_parameters" else 6
        for matrix in X:
            block = np.eye(n) + 0.3 * rng.normal(size=(n, n))
            if kind not in ("SE3", "S3R3"):  # chains respect the direct product
                block[:3] = np.eye(3, n)
                block[3:, :3] = 0
            matrix[first : first + n, first : first + n] = block
    wa = 0.8
    S = model.evaluate(0.0, q, v, a, lam, want=("S",), k=k, X=X, wa=wa)["S"]

    def residual(du, s):
        q1 = model.retract(q, s * k[0] * (X[0] @ du))
        v1, a1 = v + s * k[1] * (X[1] @ du), a + s * k[2] * (X[2] @ du)
        r = model.evaluate(0.0, q1, v1, a1, lam, want=("Ma", "gyro", "force", "Btlam"))
        return wa * r["Ma"] + r["gyro"] - r["force"] + r["Btlam"]

    for seed in range(2):
        du = np.random.default_rng(seed).normal(size=model.nv)
        expected = difference(lambda s, du=du: residual(du, s))
        scale = np.abs(expected).max() + 1
        assert np.abs(S @ du - expected).max() < 2e-8 * scale


@pytest.mark.parametrize("element", ["gravity", "spring", "cartesian_spring"])
def test_force_is_minus_the_gradient_of_the_potential(element, kinds):
    parameters = list(PARAMETERS[element][0])
    if element != "gravity":  # no damping
        parameters = [0.0 if 1 <= i <= 1 and element == "spring" else p for i, p in enumerate(parameters)]
        if element == "cartesian_spring":
            parameters[3:6] = [0.0] * 3
    model = system(element, parameters, kinds)
    q, v, a, lam = random_point(model, 5)
    force = model.evaluate(0.0, q, v, want=("force",))["force"]
    w = np.random.default_rng(6).normal(size=model.nv)
    power = difference(lambda s: model.energy(0.0, along(model, q, w, s), v)[1])
    assert np.isclose(-power, force @ w, rtol=1e-8, atol=1e-8)


def test_kinetic_energy_has_the_mass_matrix(kinds):
    model = system("gravity", PARAMETERS["gravity"][0], kinds)
    q, v, a, lam = random_point(model, 7)
    M = model.evaluate(0.0, q, v, want=("S",))["S"]
    assert np.allclose(M, M.T, rtol=1e-14, atol=1e-14)
    assert np.isclose(0.5 * v @ M @ v, model.energy(0.0, q, v)[0], rtol=1e-13)


@pytest.mark.parametrize("element", [*JOINTS, "distance"])
def test_reactions_do_no_work_and_balance(element):
    """The wrenches of a joint on its two bodies: B^T lam is their sum of powers; forces are opposite."""
    parameters = PARAMETERS[element][0]
    model = system(element, parameters, ("SE3", "R3xS3"))
    q, v, a, lam = random_point(model, 8)
    Btlam = model.evaluate(0.0, q, v, a, lam, want=("Btlam",))["Btlam"]
    wrenches = [model.reaction(2, slot, 0.0, q, v, lam) for slot in (0, 1)]
    power = 0.0
    for frame, wrench in zip((1, 3), wrenches, strict=True):
        _, _, xdot, omega = model.kinematics(frame, q, v)
        power += wrench[:3] @ xdot + wrench[3:] @ omega
    assert np.isclose(power, -Btlam @ v, rtol=1e-12, atol=1e-12)
    assert np.allclose(wrenches[0][:3], -wrenches[1][:3], rtol=0, atol=1e-13)


def test_every_row_is_covered():
    assert {row["name"] for row in _core.element_rows()} == {*PARAMETERS, *BODIES, *LAWS}
    assert lgint.__version__
