"""Torques and forces of drives that are tables and functions of time, and kinks of functions."""

import pickle

import numpy as np
import pytest

import lgint

TABLE = ([0.0, 0.3, 0.7], [0.0, 2.0, -1.0])
FORMULATIONS = ["R3xSO3", "SE3", "euler_parameters", "minimal"]
FINE = {"rtol": 1e-9, "atol": 1e-11}


def ramp(t):
    return np.interp(t, *TABLE)


def driven(formulation, coordinate="angle", gravity=9.81, **drive):
    """A bar on a hinge or a slide, with a drive."""
    b = lgint.ModelBuilder(gravity=(0, 0, -gravity), formulation=formulation)
    b.add_body("bar", mass=2.0, inertia=(0.1, 0.1, 0.1), position=(0.5, 0, 0))
    kind = "revolute" if coordinate == "angle" else "prismatic"
    b.add_joint(
        kind, lgint.ground, "bar", point=(0, 0, 0), axis=(0, 1, 0) if coordinate == "angle" else (0, 0, 1), name="pin"
    )
    b.add_joint_drive("pin", name="motor", **drive)
    return b.build()


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("coordinate", ["angle", "slide"])
@pytest.mark.parametrize("control", [{}, {"stiffness": 3.0, "damping": 0.1, "motion": [(0.0, 0.0, 0.5, 0.0)]}])
def test_tables_and_functions_do_what_a_law_does(formulation, coordinate, control):
    given = ({"torque": TABLE}, {"torque": ramp, "kinks": TABLE[0]})
    runs = [
        lgint.integrate(driven(formulation, coordinate, **each, **control), "dopri5", t_end=1.0, **FINE)
        for each in given
    ]
    assert np.isin(TABLE[0], runs[1].t).all()
    np.testing.assert_allclose(runs[1].q[-1], runs[0].q[-1], atol=1e-7)
    for run in runs:
        x, rate, effort = run.joint_position("pin"), run.joint_rate("pin"), ramp(run.t)
        if control:
            effort = effort + 3 * (0.5 * run.t - x) + 0.1 * (0.5 - rate)
        assert run.force_names == ["motor"]
        np.testing.assert_allclose(run.force("motor"), effort, atol=1e-9)
        np.testing.assert_allclose(run.power("motor"), effort * rate, atol=1e-8)
        implicit = lgint.integrate(run.model, "radau5", t_end=1.0, **FINE)
        np.testing.assert_allclose(implicit.joint_position("pin")[-1], x[-1], atol=1e-7)


def test_such_a_drive_is_a_load_with_values_and_a_record():
    model = driven("minimal", torque=TABLE, stiffness=4.0)
    assert model.with_parameters(**{"motor.stiffness": 5.0}).values["motor.stiffness"] == 5.0
    again = pickle.loads(pickle.dumps(model))
    runs = [lgint.integrate(each, "rk44", t_end=0.5, h=0.01) for each in (model, again)]
    assert runs[0].q.tobytes() == runs[1].q.tobytes()
    found = lgint.equilibrium(driven("R3xSO3", gravity=0.0, torque=ramp, stiffness=4.0), loads=(0.5, 1.0), time=0.15)
    np.testing.assert_allclose(found.joint_angle("pin"), [0.125, 0.25], atol=1e-9)


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_motions_of_joints_may_kink(formulation):
    """The second rate jumps at 0.4 s: steps end there, and the effort is exact on both sides."""

    def course(t):
        s = max(t - 0.4, 0.0)
        return 2 * s**2, 4 * s, 4.0 if t >= 0.4 else 0.0

    b = lgint.ModelBuilder(formulation=formulation)
    b.add_body("bar", mass=2.0, inertia=(0.1, 0.1, 0.1))
    b.add_joint("prismatic", lgint.ground, "bar", point=(0, 0, 0), axis=(0, 0, 1), name="guide")
    b.add_joint_motion("guide", course, kinks=0.4, name="feed")
    run = lgint.integrate(b.build(), "dopri5", t_end=1.0, **FINE)
    assert 0.4 in run.t and run.stats.rejected == 0
    np.testing.assert_allclose(run.force("feed")[run.t > 0.4], 8.0, atol=1e-9)
    np.testing.assert_allclose(run.joint_position("guide"), 2 * np.maximum(run.t - 0.4, 0) ** 2, atol=1e-9)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"torque": 3.0, "kinks": [0.4]}, "kinks of 'motor': they belong to functions"),
        ({"torque": TABLE, "kinks": [0.4]}, "kinks of 'motor': they belong to functions"),
        ({"torque": ([0.0, 0.0], [1, 2])}, "times of torque of 'motor': at least two, ascending"),
        ({"torque": ([0.0, 1.0], [1, 2, 3])}, "values of torque of 'motor'"),
        ({"torque": "3"}, "torque of 'motor'"),
        ({"torque": ramp, "kinks": [np.nan]}, "kinks of 'motor': finite numbers"),
    ],
)
def test_bad_arguments_are_refused(given, message):
    with pytest.raises(ValueError, match=message):
        driven("minimal", **given)
