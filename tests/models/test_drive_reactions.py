"""Reactions with the drives and laws in a joint: momentum balances of bodies that are cut free at their joints."""

import numpy as np
import pytest

import lgint
from face import systems

GRAVITY = np.array([1.0, -2.0, -9.0])
MASS, INERTIA = 2.0, np.array([0.3, 0.4, 0.2])
ELBOW = (0.9, 0.2, -0.1)
H = 1e-3


def arm(kind, formulation):
    """Two bodies: one on a driven hinge, the other on a joint with drives and laws along all its coordinates."""
    builder = lgint.ModelBuilder(gravity=GRAVITY)
    body = {"mass": MASS, "inertia": INERTIA, "formulation": formulation}
    builder.add_body("upper", **body, position=(0.4, 0.1, 0), rotation=systems.turn(0.7, (1, 2, 2)))
    builder.add_body("lower", **body, position=(1.2, -0.1, 0.3), rotation=systems.turn(-1.1, (0, 1, 2)))
    builder.add_joint("revolute", lgint.ground, "upper", point=(0, 0, 0), axis=(1, 3, 0), name="shoulder")
    builder.add_joint(kind, "upper", "lower", point=ELBOW, axis=(1, -1, 2), name="elbow")
    builder.add_joint_drive("shoulder", torque=3.0, stiffness=20.0, damping=0.5, motion=[(0, 0.2, 1.0, 0)])
    for coordinate in {"revolute": ["angle"], "prismatic": ["slide"], "cylindrical": ["angle", "slide"]}[kind]:
        builder.add_joint_drive("elbow", coordinate=coordinate, torque=-4.0, damping=0.3)
        builder.add_force_law(lambda t, x, rate: 2 - 30 * x - t, coordinate=coordinate, joint="elbow")
    return builder.build()


def slope(values):
    """Derivatives by central differences, without the first and the last two rows."""
    return (8 * (values[3:-1] - values[1:-3]) - (values[4:] - values[:-4])) / (12 * H)


def balance(run, name):
    """The force, and the moment about its centre of mass, that move a body, without its weight."""
    turned = run.rotation(name)
    spin = np.einsum("nij,nj->ni", turned, run.angular_velocity(name) * INERTIA)
    return np.concatenate([MASS * (slope(run.velocity(name)) - GRAVITY), slope(spin)], axis=1)


def at(run, wrench, point, name):
    """A wrench at an inertial point (n, 3) about the centre of mass of a body."""
    arm = point - run.position(name)
    return np.concatenate([wrench[:, :3], wrench[:, 3:] + np.cross(arm, wrench[:, :3])], axis=1)


def elbow(run, name):
    """The point of the elbow on a body."""
    start = run.rotation(name)[0].T @ (ELBOW - run.position(name)[0])
    return run.point(name, start)


@pytest.mark.parametrize(
    ("kind", "formulation"),
    [(kind, f) for kind in ("revolute", "prismatic") for f in ("R3xSO3", "SE3", "euler_parameters", "minimal")]
    + [("cylindrical", "R3xSO3"), ("cylindrical", "tait_bryan")],
)
def test_reactions_with_drives_move_the_bodies(kind, formulation):
    run = lgint.integrate(arm(kind, formulation), "rk44", t_end=0.2, h=H)
    lower = at(run, run.reaction("elbow", drives=True), elbow(run, "lower"), "lower")
    other = run.reaction("elbow", on="first", drives=True)
    upper = at(run, other, elbow(run, "upper"), "upper")
    upper += at(run, run.reaction("shoulder", drives=True), np.zeros((len(run), 3)), "upper")
    for name, wrench in (("lower", lower), ("upper", upper)):
        needed = balance(run, name)
        np.testing.assert_allclose(wrench[2:-2], needed, rtol=0, atol=1e-6 * np.abs(needed).max())


@pytest.mark.parametrize("formulation", ["R3xSO3", "minimal"])
def test_constraints_do_not_act_along_the_axis_and_drives_act_nowhere_else(formulation):
    run = lgint.integrate(arm("revolute", formulation), "rk44", t_end=0.1, h=H)
    alone, driven = (run.reaction("elbow", frame="joint", drives=drives) for drives in (False, True))
    angle, rate = run.joint_angle("elbow"), run.joint_rate("elbow")
    np.testing.assert_allclose(alone[:, 5], 0, atol=1e-9)
    np.testing.assert_allclose(driven[:, 5], -4 - 0.3 * rate + 2 - 30 * angle - run.t, atol=1e-9)
    np.testing.assert_allclose(driven[:, :5], alone[:, :5], atol=1e-9)


def test_the_torque_of_a_drive_follows_the_load_factor_of_statics():
    """At half the loads a drive exerts half its torque; its spring, which a load factor does not scale, the rest."""
    builder = lgint.ModelBuilder(gravity=(0, 0, -9.81))
    builder.add_body("bar", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(1, 0, 0))
    builder.add_joint("revolute", lgint.ground, "bar", point=(0, 0, 0), axis=(0, 1, 0), name="pin")
    builder.add_joint_drive("pin", torque=5.0, stiffness=40.0)
    rest = lgint.equilibrium(builder.build(), [0.5, 1.0])
    lever = np.cross(rest.position("bar"), rest.t[:, None] * np.array([0, 0, -9.81]))[:, 1]
    np.testing.assert_allclose(rest.reaction("pin", drives=True)[:, 4], -lever, atol=1e-7)
    assert np.abs(rest.reaction("pin")[:, 4]).max() < 1e-7
