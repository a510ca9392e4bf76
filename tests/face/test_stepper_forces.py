"""Steppers under held forces, moved to other states, and returned to snapshots."""

import copy
import pickle
import time

import numpy as np
import pytest

import lgint
from face import systems
from models.robots import tree_of_7
from pace import slowness

PARTS = ("t", "q", "v", "vdot", "lam")
METHODS = lgint.methods()


def model_for(method):
    """A model with joints, drives, turns of joints and, where the method runs it, minimal coordinates."""
    if method in ("hht", "newmark", "genalpha"):
        return lgint.models.crank_drive_v8()
    return lgint.models.four_bar() if lgint.method_info(method)["momentum"] else lgint.models.slider_crank()


def bits(stepper):
    return [np.copy(getattr(stepper, part)) for part in PARTS]


def same(a, b):
    return all(np.array_equal(x, y, equal_nan=True) for x, y in zip(a, b, strict=True))


def efforts_at(model, i):
    return np.sin(np.arange(model.nv) + i) * 1e-3


CARRIES = {
    **{method: (method, {}) for method in METHODS},
    "modified": ("genalpha", {"newton": "modified"}),
    "full": ("genalpha", {"newton": "full"}),
    "stabilized": ("genalpha", {"index": "stabilized", "rho_inf": 1.0}),
    "stabilized, modified": ("newmark", {"index": "stabilized", "newton": "modified"}),
    "printed": ("hht", {"modified": True}),
}


@pytest.mark.parametrize("name", CARRIES)
def test_a_stepper_returns_to_a_snapshot_bit_for_bit(name):
    method, options = CARRIES[name]
    model = lgint.models.four_bar() if name == "printed" else model_for(method)
    stepper = lgint.Stepper(model, method, **options)
    for i in range(4):
        stepper.step(1e-4, efforts_at(model, i // 2))
    before, snapshot = bits(stepper), stepper.snapshot()

    def go_on():
        states = []
        for i, h in enumerate((1e-4, 1e-4, 7e-5, 1e-4)):
            stepper.step(h, efforts_at(model, 1) if i < 3 else None)
            states += bits(stepper)
        return states

    first = go_on()
    stepper.restore(snapshot)
    assert same(bits(stepper), before) and same([snapshot.state.q, snapshot.state.v], before[1:3])
    assert same(go_on(), first)
    stepper.set(q=before[1], v=before[2], project=True)
    stepper.step(3e-4)
    stepper.restore(snapshot)
    assert same(go_on(), first)
    other = lgint.Stepper(model, method, **options)
    other.restore(snapshot)
    twin = copy.copy(other)
    stepper = other
    assert same(go_on(), first)
    stepper = twin
    assert same(go_on(), first)


def test_a_snapshot_of_another_stepper_is_refused():
    model = lgint.models.heavy_top()
    stepper, snapshot = lgint.Stepper(model, "rk44"), lgint.Stepper(model, "rk33").snapshot()
    with pytest.raises(ValueError, match="it belongs to 'rk33'.* this stepper to 'rk44'"):
        stepper.restore(snapshot)
    ahead = lgint.Stepper(lgint.models.heavy_top(), "rk44")
    ahead.step(0.01)
    for other in (ahead.snapshot(), pickle.loads(pickle.dumps(ahead.snapshot()))):
        with pytest.raises(ValueError, match=r"its model, .*, is another object than .*`set\(snapshot.state\)` starts"):
            stepper.restore(other)
        stepper.set(other.state)
        assert stepper.t == ahead.t and np.array_equal(stepper.q, ahead.q)
    with pytest.raises(ValueError, match="it belongs to 'genalpha'"):
        lgint.Stepper(model, "genalpha", rho_inf=0.5).restore(lgint.Stepper(model, "genalpha").snapshot())
    with pytest.raises(ValueError, match="snapshot: what"):
        stepper.restore(stepper.state)
    with pytest.raises(AttributeError):
        snapshot.state.t = 1.0


# ---- held forces ----


@pytest.mark.parametrize("method", METHODS)
def test_held_forces_act_as_loads_do(method):
    """A force and a torque on a free body: in Euler parameters for the methods that need them."""
    formulation = "euler_parameters" if lgint.method_info(method)["momentum"] else "R3xSO3"
    force, torque = np.array([1.0, -2.0, 0.5]), np.array([0.03, 0.01, -0.02])

    def stepper_of(loaded):
        b = lgint.ModelBuilder(formulation=formulation)
        b.add_body("body", mass=2.0, inertia=(0.2, 0.3, 0.1), angular_velocity=(0.3, -0.2, 0.5))
        if loaded:
            b.add_force("body", force=force)
            b.add_force("body", torque=torque, frame="body")
        return lgint.Stepper(b.build(), method)

    held, loaded = stepper_of(False), stepper_of(True)
    for _ in range(20):
        J, K = (held.state.jacobian("body", frame=frame) for frame in ("inertial", "body"))
        held.step(0.01, J[:3].T @ force + (K[3:].T @ torque if formulation == "R3xSO3" else 0))
        loaded.step(0.01)
    for name in ("position", "velocity") + (("rotation", "angular_velocity") if formulation == "R3xSO3" else ()):
        a, b = (getattr(stepper.state, name)("body") for stepper in (held, loaded))
        assert np.allclose(a, b, rtol=1e-11, atol=1e-12), name


@pytest.mark.parametrize("method", ["rk44", "herk4", "dopri5", "genalpha", "newmark", "hht"])
@pytest.mark.parametrize("formulation", ["minimal", "R3xSO3"])
def test_held_torques_in_joints_act_as_drives_do(method, formulation):
    torques = np.array([0.4, -0.2, 1.0, 0.1, 0.3, -2.0, 0.05])
    plain, driven = tree_of_7(formulation), tree_of_7(formulation, torques)
    held, reference = lgint.Stepper(plain, method), lgint.Stepper(driven, method)
    names = list(plain.joints)
    for _ in range(10):
        # the transposed rates of the joints: in minimal coordinates the efforts themselves
        force = lgint.Stepper(driven, method).state.generalized_force() * 0
        for name, torque in zip(names, torques, strict=True):
            force += torque * row_of_rate(held.state, name)
        held.step(1e-3, force)
        reference.step(1e-3)
    for name in names:
        assert np.isclose(held.state.joint_position(name), reference.state.joint_position(name), rtol=0, atol=1e-7)
    if formulation == "minimal":
        assert np.allclose(held.state.v, reference.state.v, rtol=0, atol=1e-11)


def row_of_rate(state, joint):
    """The derivative of a joint's rate by v, which is linear in it."""
    model = state.model
    rates = [model.state(state.q, v, state.t).joint_rate(joint) for v in (np.zeros(model.nv), *np.eye(model.nv))]
    return np.array(rates[1:]) - rates[0]


@pytest.mark.parametrize("method", ["rk44", "dopri5", "genalpha", "herk3", "eml"])
def test_no_forces_and_forces_of_zero_are_the_same_bit_for_bit(method):
    model = lgint.models.four_bar()
    plain, zero = (lgint.Stepper(model, method) for _ in range(2))
    run = lgint.integrate(model, method, t_end=5e-3, h=1e-3)
    for _ in range(5):
        plain.step(1e-3)
        zero.step(1e-3, np.zeros(model.nv))
    assert same(bits(plain), bits(zero)) and np.array_equal(run.q[-1], plain.q)


def test_forces_that_change_are_of_the_methods_order():
    """m x'' = u with u held: the solution is exact for every method of order two, whatever u does."""
    b = lgint.ModelBuilder()
    b.add_body("mass", mass=2.0, inertia=(1, 1, 1))
    for method in ("rk44", "genalpha", "newmark"):
        stepper, x, v = lgint.Stepper(b.build(), method), 0.0, 0.0
        for i in range(30):
            u = np.sin(i) + (i % 3)
            stepper.step(0.1, [u, 0, 0, 0, 0, 0])
            x, v = x + 0.1 * v + 0.1**2 * u / 4, v + 0.1 * u / 2
        assert np.allclose([stepper.q[0], stepper.v[0]], [x, v], rtol=1e-12)
        assert np.isclose(stepper.vdot[0], u / 2, rtol=1e-12)


@pytest.mark.parametrize("efforts", [[1.0], np.full(6, np.nan), "torque", [[0.0] * 6]])
def test_wrong_efforts_are_refused(efforts):
    stepper = lgint.Stepper(systems.pendulum(), "rk44")
    with pytest.raises(ValueError, match="efforts"):
        stepper.step(0.1, efforts)


@pytest.mark.parametrize("method", ["genalpha", "eml"])
def test_a_step_that_fails_leaves_the_state_and_the_held_forces(method):
    model = lgint.models.four_bar()
    stepper, other = (lgint.Stepper(model, method, max_iter=6) for _ in range(2))
    force = efforts_at(model, 0)
    for each in (stepper, other):
        each.step(1e-3, force)
    before = bits(stepper)
    with pytest.raises(lgint.IntegrationError):
        stepper.step(1e-3, 1e12 * np.ones(model.nv))
    assert same(bits(stepper), before)
    for each in (stepper, other):
        each.step(1e-3, force)
    assert same(bits(stepper), bits(other))


# ---- other states ----


def test_a_stepper_continues_from_a_state_of_a_run():
    model = systems.pendulum(omega=20.0)
    run = lgint.integrate(model, "genalpha", t_end=1.0, h=2e-3)
    stepper = lgint.Stepper(model, "genalpha")
    stepper.set(run)
    assert stepper.t == 1.0 and np.isclose(stepper.state.joint_angle("pin"), run.joint_angle("pin")[-1])
    whole = lgint.integrate(model, "genalpha", t_end=1.1, h=2e-3)
    for _ in range(50):
        stepper.step(2e-3)
    assert np.array_equal(stepper.q, whole.q[-1])
    stepper.set(run.state(100))
    assert stepper.t == run.t[100] and np.array_equal(stepper.q, run.q[100])


def test_a_stepper_continues_from_coordinates_at_its_time():
    model = tree_of_7()
    stepper = lgint.Stepper(model, "rk44")
    for _ in range(10):
        stepper.step(1e-3)
    q = stepper.q + 0.1
    stepper.set(q=q)
    assert np.isclose(stepper.t, 0.01) and np.array_equal(stepper.q, q)
    v = stepper.v
    stepper.set(v=2 * v)
    assert np.array_equal(stepper.q, q) and np.array_equal(stepper.v, 2 * v)


def test_set_projects_at_the_present_time():
    model = systems.pendulum()
    stepper = lgint.Stepper(model, "rk44")
    q = np.array(stepper.q)
    q[:3] += 1e-3
    with pytest.raises(ValueError, match="constraint"):
        stepper.set(q=q)
    stepper.set(q=q, project=True)
    assert np.abs(stepper.state.constraint_residual()).max() < 1e-12


def test_set_refuses_what_makes_no_sense():
    stepper = lgint.Stepper(systems.pendulum(), "rk44")
    with pytest.raises(ValueError, match="either a state, or q"):
        stepper.set()
    with pytest.raises(ValueError, match="either a state, or q"):
        stepper.set(stepper.state, q=stepper.q)
    with pytest.raises(ValueError, match="state: a State or a Trajectory expected"):
        stepper.set(stepper.q)
    with pytest.raises(ValueError, match="other coordinates"):
        stepper.set(tree_of_7().state())


# ---- time ----


@pytest.mark.measures
def test_a_control_loop_of_12_joints_costs_30_us_beyond_its_steps():
    model = chain(12)
    gains = np.linspace(1, 2, 12)
    given = []

    def loop(stepper):
        for _ in range(200):
            state = stepper.state
            efforts = -gains * state.joint_angles() - 0.1 * state.joint_rates()
            given.append(efforts)
            stepper.step(1e-3, efforts)

    def steps(stepper):
        for efforts in given[-200:]:
            stepper.step(1e-3, efforts)

    def seconds(run):
        best = np.inf
        for _ in range(10):
            stepper = lgint.Stepper(model, "genalpha")
            begin = time.process_time()
            run(stepper)
            best = min(best, time.process_time() - begin)
        return best / 200

    beyond = seconds(loop) - seconds(steps)
    assert beyond < 30e-6 * max(slowness(), 1)


def chain(n):
    b = lgint.ModelBuilder(gravity=(0, 0, -9.81), formulation="minimal")
    for i in range(n):
        body = b.add_body(f"link{i}", mass=1.0, inertia=(0.02, 0.02, 0.01), position=(0.2 * i + 0.1, 0, 0))
        b.add_joint(
            "revolute",
            lgint.ground if i == 0 else f"link{i - 1}",
            body,
            point=(0.2 * i, 0, 0),
            axis=(0, 1, 0),
            name=f"joint{i}",
        )
    return b.build()
