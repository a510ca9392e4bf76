"""Robots from URDF files: those of packages against Pinocchio."""

import warnings
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import lgint
from lgint._build.urdf import read

GRAVITY = (0, 0, -9.81)
FILES = {
    "ur5e": ("airo_models", "arms/ur5e/ur5e.urdf"),  # an arm with links without mass at its end
    "ur3e": ("airo_models", "arms/ur3e/ur3e.urdf"),
    "robotiq": ("airo_models", "grippers/robotiq_2f_85/urdf/robotiq_2f_85.urdf"),  # five joints that mimic one
    "upkie": ("upkie_description", "urdf/upkie.urdf"),  # a robot on two wheels, which are continuous joints
    "jvrc": ("jvrc_description", "urdf/jvrc1.urdf"),  # a humanoid of 44 joints, of which ten mimic others
}


def path_of(name):
    package, file = FILES[name]
    spec = find_spec(package)
    if spec is None:
        pytest.skip(f"the package {package} is not installed")
    return str(Path(spec.origin).parent / file)


def added(path, base="fixed", **keywords):
    b = lgint.ModelBuilder(gravity=GRAVITY)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return b.add_urdf(path, base=base, **keywords), b.build()


def without_limits(model):
    """The model with stops too soft to be felt, as Pinocchio has none."""
    return model.with_parameters(**{name: 1e-200 for name in model.values if name.endswith(".limits.stiffness")})


class Peer:
    """The robot in Pinocchio, and its coordinates in those of the model. All joints have one coordinate."""

    def __init__(self, path, robot, model, free):
        self.pin = pin = pytest.importorskip("pinocchio")
        self.model = pin.buildModelFromUrdf(path, *([pin.JointModelFreeFlyer()] if free else []))
        self.data, self.free, self.ours, self.robot = self.model.createData(), free, model, robot
        self.names = [name for name in self.model.names if name in robot.joints]
        self.root = robot.base

    def _com(self):
        point = self.robot.links[self._root_link()].point
        return -point  # from the origin of the root link to the COM, in link axes

    def _root_link(self):
        return next(name for name, link in self.robot.links.items() if link.body == self.root)

    def state(self, rng):
        """A random state of both."""
        angles = {name: rng.uniform(-1, 1) for name in self.names}
        rates = {name: rng.uniform(-1, 1) for name in self.names}
        x, R, xdot, omega = rng.normal(size=3), Rotation.random(rng=rng), rng.normal(size=3), rng.normal(size=3)
        return angles, rates, (x, R, xdot, omega)

    def coordinates(self, angles, base):
        q = self.pin.neutral(self.model)
        for name, angle in angles.items():
            joint = self.model.joints[self.model.getJointId(name)]
            q[joint.idx_q : joint.idx_q + joint.nq] = [np.cos(angle), np.sin(angle)] if joint.nq == 2 else angle
        if self.free:
            x, R, *_ = base
            q[:3], q[3:7] = x - R.apply(self._com()), R.as_quat()
        return q

    def along(self, values, linear, angular):
        """A vector of velocities: by joints, and of the origin of the root link in its axes."""
        v = np.zeros(self.model.nv)
        for name, value in values.items():
            v[self.model.joints[self.model.getJointId(name)].idx_v] = value
        if self.free:
            v[:3], v[3:6] = linear, angular
        return v

    def velocity(self, rates, base):
        _, R, xdot, omega = base
        return self.along(rates, R.inv().apply(xdot) - np.cross(omega, self._com()), omega)

    def by_joints(self, v):
        return {name: v[self.model.joints[self.model.getJointId(name)].idx_v] for name in self.names}


def pair(name, free, seed=1):
    path = path_of(name)
    robot, model = added(path, "free" if free else "fixed")
    model = without_limits(model)
    peer = Peer(path, robot, model, free)
    return robot, model, peer, peer.state(np.random.default_rng(seed))


def at(model, peer, angles, rates, base):
    """q and v of the model in a state, whatever its couplings say."""
    q, v = model.q0.copy(), np.zeros(model.nv)
    if peer.free:
        x, R, xdot, omega = base
        first_q, first_v = next((q0, v0) for kind, _, q0, v0, *_ in model.core.blocks if kind == "R3xSO3")
        q[first_q : first_q + 12] = [*x, *R.as_matrix().ravel()]
        v[first_v : first_v + 6] = [*xdot, *omega]
    starts = [(q0, v0) for _, _, q0, v0, *_ in model.core.blocks]
    for name in peer.names:
        joint = model.joint_indices(name)
        (iq, _), (iv, _) = joint.held
        q[starts[joint.blocks[1]][0] + iq] = angles[name]
        v[starts[joint.blocks[1]][1] + iv] = rates[name]
    return q, v


@pytest.mark.parametrize("free", [False, True], ids=["fixed", "free"])
@pytest.mark.parametrize("name", FILES)
def test_masses_kinematics_and_inverse_dynamics_are_those_of_pinocchio(name, free):
    robot, model, peer, (angles, rates, base) = pair(name, free)
    pin, (q, v) = peer.pin, at(*(robot, model)[1:], peer, angles, rates, base)
    total = sum(body["mass"] for body in model.bodies.values())
    assert total == pytest.approx(pin.computeTotalMass(peer.model), rel=1e-12)
    theirs, vel = peer.coordinates(angles, base), peer.velocity(rates, base)
    pin.forwardKinematics(peer.model, peer.data, theirs, vel)
    pin.updateFramePlacements(peer.model, peer.data)
    for link, (body, point, R) in robot.links.items():
        frame = peer.data.oMf[peer.model.getFrameId(link)]
        x, Q, *_ = model.kinematics(body, q, v)
        place, turned = x + Q @ point, Q @ R
        assert np.allclose(place, frame.translation, rtol=0, atol=1e-12)
        assert np.allclose(turned, frame.rotation, rtol=0, atol=1e-12)

    rng = np.random.default_rng(2)
    second = {joint: rng.uniform(-1, 1) for joint in peer.names}
    linear, angular = rng.normal(size=3), rng.normal(size=3)  # of the COM of the base, inertial, and in its axes
    a = at(model, peer, angles, second, (base[0], base[1], linear, angular))[1]
    c, omega, turn = peer._com() if free else np.zeros(3), base[3], base[1].inv()
    origin = turn.apply(linear) - np.cross(angular, c) - np.cross(omega, np.cross(omega, c))
    speed = turn.apply(base[2]) - np.cross(omega, c)
    expected = pin.rnea(
        peer.model, peer.data, theirs, vel, peer.along(second, origin - np.cross(omega, speed), angular)
    )
    found = model.core.evaluate(0.0, q, v, a, np.zeros(model.nc), want=("Ma", "gyro", "force"))
    tau = found["Ma"] + found["gyro"] - found["force"]
    size = np.abs(expected).max()
    for joint in peer.names:
        index = at(
            model, peer, angles, dict.fromkeys(peer.names, 0.0) | {joint: 1.0}, (base[0], base[1], c * 0, c * 0)
        )[1]
        assert tau @ index == pytest.approx(peer.by_joints(expected)[joint], abs=1e-12 * size)
    if free:
        first = next(v0 for kind, _, _, v0, *_ in model.core.blocks if kind == "R3xSO3")
        force, moment = expected[:3], expected[3:6]
        assert np.allclose(tau[first : first + 3], base[1].apply(force), rtol=0, atol=1e-12 * size)
        assert np.allclose(tau[first + 3 : first + 6], moment - np.cross(c, force), rtol=0, atol=2e-12 * size)


def reduction(path, peer):
    """The coordinates of all joints as G x + g of those that mimic none."""
    joints = {name: each.mimic for name, each in read(path).joints.items() if each.mimic and name in peer.names}
    mimics = {name: (mimic.joint, mimic.multiplier, mimic.offset) for name, mimic in joints.items()}
    own = [name for name in peer.names if name not in mimics]
    G, g = np.zeros((len(peer.names), len(own))), np.zeros(len(peer.names))
    for i, name in enumerate(peer.names):
        factor, at_zero = 1.0, 0.0
        while name in mimics:
            name, times, plus = mimics[name]
            at_zero, factor = at_zero + factor * plus, factor * times
        G[i, own.index(name)], g[i] = factor, at_zero
    return own, G, g


def accelerations(peer, B, q, v, reduced):
    """Those of the rates u in v = B u: by Pinocchio's ABA, or in its mass matrix where joints mimic others."""
    pin = peer.pin
    if not reduced:
        return B.T @ pin.aba(peer.model, peer.data, q, v, np.zeros(peer.model.nv))
    M = pin.crba(peer.model, peer.data, q)
    M = np.triu(M) + np.triu(M, 1).T
    return np.linalg.solve(B.T @ M @ B, -B.T @ pin.rnea(peer.model, peer.data, q, v, 0 * v))


@pytest.mark.parametrize(
    ("name", "free"),
    [*((name, False) for name in FILES), ("ur5e", True), ("upkie", True), ("jvrc", True)],
    ids=lambda value: {True: "free", False: "fixed"}.get(value, value),
)
def test_a_second_of_motion_is_that_of_forward_dynamics_by_pinocchio(name, free):
    """A free base has the position, quaternion and velocity of Pinocchio's free flyer in front."""
    path = path_of(name)
    robot, model = added(path, "free" if free else "fixed")
    model = without_limits(model)
    peer = Peer(path, robot, model, free)
    own, G, g = reduction(path, peer)
    rng, n, first = np.random.default_rng(3), len(own), 6 * free
    index = [peer.model.joints[peer.model.getJointId(joint)].idx_v for joint in peer.names]
    B = np.zeros((peer.model.nv, first + n))
    B[:first, :first] = np.eye(first)
    B[index, first:] = G
    c = peer._com() if free else None

    def base_of(y, u):
        """x, R, xdot and omega of the COM of the base."""
        R = Rotation.from_quat(y[3:7])
        return y[:3] + R.apply(c), R, R.apply(u[:3] + np.cross(u[3:6], c)), u[3:6]

    def named(values):
        return dict(zip(peer.names, values, strict=True))

    def rhs(_, y):
        x, u = np.split(y, [-len(B.T)])
        q = peer.coordinates(named(G @ x[-n:] + g), base_of(x, u) if free else None)
        y_rate = [u[first:]]
        if free:
            y_rate = [rate_of_base(x[3:7], u[:3], u[3:6]), *y_rate]
        return np.concatenate([*y_rate, accelerations(peer, B, q, B @ u, n < len(peer.names))])

    u = rng.uniform(-0.2, 0.2, n)
    start = [[0.3, -0.2, 1.0], Rotation.random(rng=rng).as_quat()] if free else []
    u = np.concatenate([rng.uniform(-1, 1, first), u])
    y0 = np.concatenate([*start, np.zeros(n), u])
    x, u = np.split(solve_ivp(rhs, (0, 1), y0, method="DOP853", rtol=1e-12, atol=1e-13).y[:, -1], [-len(B.T)])
    base = base_of(*np.split(y0, [-len(B.T)])) if free else None
    q, v = at(model, peer, named(g), named(G @ y0[len(y0) - n :]), base)
    run = lgint.integrate(model.with_state(q, v), "dop853", t_end=1.0, rtol=1e-12, atol=1e-13)
    compare_joints(run, model, peer.names, G @ x[-n:] + g, G @ u[first:])
    if free:
        compare_bodies(run, robot.base, base_of(x, u))


def rate_of_base(quaternion, xdot, omega):
    """The rates of position and quaternion of a free flyer."""
    vector = (quaternion[3] * omega + np.cross(quaternion[:3], omega)) / 2
    return np.concatenate([Rotation.from_quat(quaternion).apply(xdot), vector, [-quaternion[:3] @ omega / 2]])


def compare_joints(run, model, names, values, rates):
    for joint, value, rate in zip(names, values, rates, strict=True):
        found = run.joint_position(joint, "slide" if model.joints[joint]["kind"] == "prismatic" else "angle")[-1]
        assert found == pytest.approx(value, abs=1e-9)
        assert run.joint_rate(joint)[-1] == pytest.approx(rate, abs=1e-9 * np.linalg.norm(rates))


def compare_bodies(run, body, expected):
    place, R, xdot, omega = expected
    assert np.allclose(run.position(body)[-1], place, rtol=0, atol=1e-9 * np.linalg.norm(place))
    assert np.allclose(run.rotation(body)[-1], R.as_matrix(), rtol=0, atol=1e-9)
    assert np.allclose(run.velocity(body)[-1], xdot, rtol=0, atol=1e-9 * np.linalg.norm(xdot))
    assert np.allclose(run.angular_velocity(body)[-1], omega, rtol=0, atol=1e-9 * np.linalg.norm(omega))
