"""Wheels and knife edges in inverse dynamics, linear analysis and statics."""

import numpy as np
import pytest
from scipy.linalg import expm

import lgint

EFFORTS = [0.7, -0.4]


def cart(formulation, efforts=None):
    """A frame on two wheels with motors, which drive it in curves, and a blade in front of them; it leans."""
    b = lgint.ModelBuilder(gravity=(0.5, -0.2, -9.81))
    b.add_body("frame", mass=5.0, inertia=(0.2, 0.3, 0.4), position=(0.1, 0.2, 0.3), velocity=(0.5, 0, 0))
    for i, side in enumerate((-0.4, 0.4)):
        at, moving = (0, side, 0.25), {"velocity": (0.5, 0, 0), "angular_velocity": (0, 2, 0)}
        moving = {} if formulation == "minimal" else moving
        b.add_body(f"wheel{i}", mass=0.8, inertia=(0.01, 0.02, 0.01), position=at, formulation=formulation, **moving)
        rate = {"rate": 2.0} if formulation == "minimal" else {}
        b.add_joint("revolute", "frame", f"wheel{i}", point=at, axis=(0, 1, 0), name=f"axle{i}", **rate)
        b.add_rolling(f"wheel{i}", radius=0.25, axis=(0, 1, 0))
    for i, effort in enumerate(efforts or []):
        b.add_joint_drive(f"axle{i}", torque=effort)
    return b.build(redundant="drop")


def scooter(formulation, efforts=None):
    """A body on a plane with a blade behind its COM, and a rotor that its motor turns: a sleigh that can steer."""
    b = lgint.ModelBuilder(gravity=(0, 0, -9.81))
    b.add_body("body", mass=1.0, inertia=(0.1, 0.1, 0.2), velocity=(1.0, 1.6, 0), angular_velocity=(0, 0, 4.0))
    b.add_joint("planar", lgint.ground, "body", point=(0, 0, 0), axis=(0, 0, 1), name="floor")
    moving = (
        {} if formulation == "minimal" else {"velocity": (1.0 - 0.8, 1.6 + 0.4, 0), "angular_velocity": (0, 0, 4.0)}
    )
    b.add_body("rotor", mass=0.5, inertia=(0.1, 0.1, 0.2), position=(0.1, 0.2, 0), formulation=formulation, **moving)
    rate = {"rate": 0.0} if formulation == "minimal" else {}
    b.add_joint("revolute", "body", "rotor", point=(0.1, 0.2, 0), axis=(0, 0, 1), name="axle0", **rate)
    b.add_knife_edge("body", local_point=(-0.4, 0, 0), normal=(0, 1, 0))
    for i, effort in enumerate((efforts or [])[:1]):
        b.add_joint_drive(f"axle{i}", torque=effort)
    return b.build(start="project")


@pytest.mark.parametrize("formulation", ["R3xSO3", "minimal", "euler_parameters"])
@pytest.mark.parametrize("vehicle", [cart, scooter])
def test_inverse_dynamics_finds_the_motors_of_a_motion(vehicle, formulation):
    """The efforts of the states of a run that they drive, where slip is prevented by rows of velocity alone."""
    driven, free = vehicle(formulation, EFFORTS), vehicle(formulation)
    motors = [name for name in free.joints if name.startswith("axle")]
    run = lgint.integrate(driven, "dopri5", t_end=0.5, h=5e-3, save_every=20)
    found = free.inverse_dynamics(run.q, run.v, run.accelerations()[0], run.t, actuators=motors)
    assert np.allclose(found, EFFORTS[: len(motors)], rtol=0, atol=1e-9)
    assert np.ptp(run.v, axis=0).max() > 0.1


def test_inverse_dynamics_refuses_what_motors_and_wheels_cannot_do():
    """A cart does not move across, and without motors its generalized forces do not follow from its motion."""
    model = cart("minimal")
    vdot = np.zeros(model.nv)
    vdot[1] = 1.0
    with pytest.raises(ValueError, match="cannot give this motion: .* are left at body .frame., .wheel0., .wheel1."):
        model.inverse_dynamics(model.q0, model.v0, vdot, actuators=["axle0", "axle1"])
    with pytest.raises(ValueError, match="constraint rows"):
        model.inverse_dynamics(model.q0, model.v0, np.zeros(model.nv))
    with pytest.raises(ValueError, match="constraint rows"):
        model.inverse_dynamics_derivatives(model.q0, model.v0, np.zeros(model.nv))


def response(model, found, body, size, t_end):
    """Outputs after a constant force on a body: of the linear system, and by differences of runs."""
    n, m = found.A.shape[0], found.B.shape[1]
    whole = np.zeros((n + m, n + m))
    whole[:n, :n], whole[:n, n:] = found.A, found.B
    forces = np.array([0.4, -0.7, 0.2])[:m]
    linear = found.C @ expm(whole * t_end)[:n, n:] @ forces
    ends = []
    for sign in (1, -1):
        builder = model()
        builder.add_force(body, force=sign * size * forces)
        run = lgint.integrate(builder.build(), "dop853", t_end=t_end, h=2e-3)
        ends.append(np.concatenate([run.velocity(body)[-1], run.position(body)[-1]]))
    return linear, (ends[0] - ends[1]) / (2 * size)


def disk():
    """A thin disk that rolls upright along x."""
    b = lgint.ModelBuilder(gravity=(0, 0, -9.81))
    b.add_body(
        "disk",
        mass=1.0,
        inertia=(0.06, 0.12, 0.06),
        position=(0, 0, 0.5),
        velocity=(3, 0, 0),
        angular_velocity=(0, 6, 0),
    )
    b.add_rolling("disk", radius=0.5, axis=(0, 1, 0))
    return b


def sleigh():
    """Chaplygin's sleigh, which moves along its blade."""
    b = lgint.ModelBuilder(gravity=(0, 0, -9.81))
    b.add_body("disk", mass=1.0, inertia=(0.1, 0.1, 0.2), velocity=(2, 0, 0))
    b.add_joint("planar", lgint.ground, "disk", point=(0, 0, 0), axis=(0, 0, 1))
    b.add_knife_edge("disk", local_point=(-0.4, 0, 0), normal=(0, 1, 0))
    return b


@pytest.mark.parametrize("model", [disk, sleigh])
def test_linear_responses_are_the_derivatives_of_runs(model):
    """To a force at the COM, in velocities and positions, while the wheel rolls or the blade cuts along."""
    outputs = [("velocity", "disk"), ("position", "disk")]
    found = lgint.linearize(model().build().state(), inputs=[("force", "disk")], outputs=outputs)
    linear, runs = response(model, found, "disk", 1e-4, 0.4)
    assert np.allclose(linear, runs, rtol=0, atol=1e-7)
    assert np.abs(linear[:2]).min() > 0.01


def test_the_rest_of_a_wheel_that_nothing_holds_is_refused_by_its_velocity():
    b = lgint.ModelBuilder(gravity=(0, 0, -9.81))
    b.add_body("wheel", mass=1.0, inertia=(0.06, 0.12, 0.06), position=(0, 0, 0.5))
    b.add_rolling("wheel", radius=0.5, axis=(0, 1, 0))
    with pytest.raises(lgint.SingularError, match="no unique equilibrium: velocity . of wheel"):
        lgint.equilibrium(b.build())
    with pytest.raises(ValueError, match="spin: 'disk.rolling: slip"):
        lgint.equilibrium(disk().build(), spin=((0, 0, 1), (1, 0, 0), 1.0))
