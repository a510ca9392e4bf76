"""Systems with controls: an arm that is held by a PID controller, and two bars on a chassis."""

import numpy as np
from scipy.integrate import solve_ivp

import lgint
from kinds import FORMULATIONS

GRAVITY, LENGTH, MASS, INERTIA = 9.81, 0.5, 2.0, 0.2
SIDES = ["minimal", *FORMULATIONS]
OPTIONS = {"rtol": 1e-10, "atol": 1e-12}


def pid(state, name="pid"):
    error = 1.0 - state.joint_angle("pin")
    integral = state.control(name).states["integral"]
    return [30 * error - 6 * state.joint_rate("pin") + 20 * integral, error]


def arm(formulation="minimal"):
    b = lgint.ModelBuilder(gravity=(0, 0, -GRAVITY), formulation=formulation)
    b.add_body("bar", mass=MASS, inertia=(INERTIA, INERTIA, 0.01), position=(0, 0, -LENGTH))
    b.add_joint("revolute", lgint.ground, "bar", point=(0, 0, 0), axis=(1, 0, 0), name="pin")
    return b


def held_arm(formulation="minimal", function=pid, **more):
    b = arm(formulation)
    b.add_control(function, joints="pin", states=["integral"], name="pid", **more)
    return b.build()


def reference(t_end, integral=0.0):
    def rhs(t, y):
        angle, rate, z = y
        torque = 30 * (1 - angle) - 6 * rate + 20 * z - MASS * GRAVITY * LENGTH * np.sin(angle)
        return [rate, torque / (INERTIA + MASS * LENGTH**2), 1 - angle]

    return solve_ivp(rhs, (0, t_end), [0.0, 0.0, integral], "DOP853", rtol=1e-12, atol=1e-14).y[:, -1]


def ends(run):
    return np.array([run.joint_angle("pin")[-1], run.joint_rate("pin")[-1], run.control("pid").states["integral"][-1]])


def bodies(formulation, function=None, reads=None, **more):
    """Two bars at angles of their own on one chassis, which is free."""
    b = lgint.ModelBuilder(gravity=(0, 0, -GRAVITY), formulation=formulation)
    b.add_body("chassis", mass=20.0, inertia=(2.0, 3.0, 4.0), velocity=(0.1, 0, 0), angular_velocity=(0.2, 0.1, 0))
    for side, y, rate in (("left", 0.5, 1.0), ("right", -0.5, -0.4)):
        velocity = {"angular_velocity": (0.2, 0.1 + rate, 0), "velocity": (0.1, 0, -0.4 * rate)}
        b.add_body(side, mass=MASS, inertia=(0.1, 0.2, 0.15), position=(0.4, y, 0), **velocity)
        b.add_joint("revolute", "chassis", side, point=(0, y, 0), axis=(0, 1, 0), name=f"{side} arm")
    if function:
        b.add_control(function, reads=reads, name="bar", **more)
    return b


STIFFNESS = 40.0


def roll_bar(state):
    torque = STIFFNESS * (state.joint_angle("left arm") - state.joint_angle("right arm"))
    return [-torque, torque]
