"""Loads that are constant in inertial axes, which rigid bodies take without a frame: they act as the same loads do when
they come as functions of time, through frames."""

import numpy as np
import pytest

from cores import core_model
from elements.test_points import BODY, NODE, OFF_NODE, state

GRAVITY = np.array([0.3, -0.4, -9.81])
FORCES = {1: np.array([3.0, -2.0, 5.0]), 2: np.array([-1.0, 4.0, 2.0])}  # by frame
TORQUE = np.array([0.7, 0.2, -0.5])
KINDS = ("R3xSO3", "R3xS3", "R3xRV", "SO3", "S3", "RV")


def load(kind, frame, value, constant):
    """A force or torque in inertial axes, constant or as a function of time."""
    parameters, function = ((0.0, 0.0, *value), None) if constant else ((0.0, 2.0), lambda t: value)
    return (kind, f"{kind} {frame}", (frame,), parameters, function)


def loaded(kind, constant, *more):
    """A body under its weight, two forces at points of it, one of them beside the node, and a torque."""
    weight = ("gravity", "weight", (2,), (2.0, *GRAVITY), None) if constant else load("force", 3, 2.0 * GRAVITY, False)
    loads = [load("force", frame, value, constant) for frame, value in FORCES.items()]
    body = ("rigid_body", "body", (0,), BODY, None)
    elements = [body, *loads, weight, load("torque", 2, TORQUE, constant), *more]
    return core_model([(kind, 0)], [(0, NODE), (0, NODE), (0, OFF_NODE), (0, OFF_NODE)], elements)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("factor", [1.0, 0.6])
def test_dead_loads_act_as_functions_of_time_with_the_same_values_do(kind, factor):
    taken, exerted = loaded(kind, True), loaded(kind, False)
    q, v, a, _ = state(taken, 5)
    how = {"want": ("force", "gyro", "S"), "k": (0.7, 0.3, 1.0), "load": factor}
    ours, theirs = taken.evaluate(0.2, q, v, a, **how), exerted.evaluate(0.2, q, v, a, **how)
    for name in ours:
        np.testing.assert_allclose(ours[name], theirs[name], rtol=1e-14, atol=1e-13, err_msg=name)
    assert np.linalg.norm(ours["force"]) > 1.0


def test_dead_loads_act_in_a_step_as_functions_of_time_with_the_same_values_do():
    """Also in the tangent, in which arms turn, and while parameters are not of unit length.

    As printed, the gradient of a weight beside the node is corrected, and a force that depends on time is not.
    """
    taken, exerted = loaded("euler_parameters", True), loaded("euler_parameters", False)
    (q0, *_), (q1, *_) = state(taken, 5), state(taken, 6)
    q1 = q0 + 0.1 * q1
    form = {"equivariant": True, "want": ("force", "Gtlam", "S")}
    ours, theirs = (model.evaluate_pair(0.2, 0.3, q0, q1, lam=np.zeros(1), **form) for model in (taken, exerted))
    for name in ours:
        np.testing.assert_allclose(ours[name], theirs[name], rtol=1e-14, atol=1e-13, err_msg=name)
    assert np.linalg.norm(ours["force"]) > 1.0 and np.linalg.norm(ours["S"]) > 1.0


def test_a_frame_with_a_dead_load_can_carry_other_forces():
    follower = ("force", "follower", (2,), (1.0, 0.0, 1.0, 2.0, 3.0), None)  # in body axes: it turns with the body
    both, alone = loaded("R3xSO3", True, follower), loaded("R3xSO3", True)
    q, v, a, _ = state(both, 5)
    only = core_model(
        [("R3xSO3", 0)],
        [(0, NODE), (0, NODE), (0, OFF_NODE)],
        [("rigid_body", "body", (0,), BODY, None), follower],
    )
    force = [model.evaluate(0.0, q, v, a, want=("force",))["force"] for model in (both, alone, only)]
    np.testing.assert_allclose(force[0], force[1] + force[2], rtol=1e-14, atol=1e-13)


def test_the_weight_of_a_body_that_nothing_else_acts_on_has_a_potential():
    weight = ("gravity", "weight", (1,), (2.0, *GRAVITY), None)
    model = core_model([("R3xSO3", 0)], [(0, NODE), (0, OFF_NODE)], [("rigid_body", "body", (0,), BODY, None), weight])
    q, v, _, _ = state(model, 5)
    x = q[:3] + q[3:].reshape(3, 3) @ np.array(OFF_NODE[3:])
    assert model.energy(0.0, q, v)[1] == pytest.approx(-2.0 * GRAVITY @ x, rel=1e-14)
