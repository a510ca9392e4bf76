"""Compiled loads and motions against the same functions in Python."""

import numpy as np
import pytest

import compiled
import lgint
from compiled import compiled as c_function

TYPES = {"push": "load", "pull": "load", "swing": "motion", "travel": "motion"}


def pendulum(formulation="R3xSO3", **rotated):
    builder = lgint.ModelBuilder(gravity=(0, 0, -9.81), formulation=formulation)
    builder.add_body("arm", mass=1.0, inertia=(0.1, 0.2, 0.25), position=(0.5, 0, 0), **rotated)
    builder.add_joint("revolute", lgint.ground, "arm", point=(0, 0, 0), axis=(0, 1, 0), name="hinge")
    return builder


def with_force(push, frame="inertial", formulation="R3xSO3"):
    R = lgint.groups.so3.exp((0.0, 0.4, 0.0))
    builder = pendulum(formulation, **({"reference": R} if formulation == "tait_bryan" else {"rotation": R}))
    builder.add_force("arm", force=push, frame=frame, name="push")
    return builder.build()


def with_torque(pull):
    builder = pendulum()
    builder.add_joint_drive("hinge", torque=pull, damping=0.1)
    return builder.build()


def with_tendon(pull):
    builder = pendulum()
    builder.add_tendon(["arm", lgint.ground], tension=pull, points=[(1, 0, 0), (1, 0, 2)])
    return builder.build()


def with_drive(swing):
    builder = pendulum()
    builder.add_joint_drive("hinge", motion=swing, stiffness=50.0, damping=1.0)
    return builder.build()


def with_motion(swing):
    builder = lgint.ModelBuilder(formulation="minimal")
    builder.add_body(
        "arm",
        mass=1.0,
        inertia=(0.1, 0.2, 0.25),
        position=(0.5, 0, 0),
        angular_velocity=(0, 0.6, 0),
        velocity=(0, 0, -0.3),
    )
    builder.add_joint("revolute", lgint.ground, "arm", point=(0, 0, 0), axis=(0, 1, 0), name="hinge")
    builder.add_joint_motion("hinge", swing)
    return builder.build()


def with_support(travel):
    builder = lgint.ModelBuilder(gravity=(0, 0, -9.81))
    builder.add_support("base", position=(0.1, 0.2, 0.3), motion=travel)
    builder.add_body("bob", mass=1.0, inertia=(0.1, 0.2, 0.25), position=(0, 0, -1))
    builder.add_spring("base", "bob", stiffness=30.0, damping=0.2)
    return builder.build()


def rod(constraints=None, **given):
    builder = lgint.ModelBuilder()
    rest = {"stiffness": (50, 50, 100, 1, 1, 1), "inertia": (1, 0.1, 0.1, 0.2), "damping": (0.1,) * 6}
    builder.add_rod(
        "rod", start=(0, 0, 0), end=(0, 0, 1), edges=3, clamped=(0,), constraints=constraints, **rest, **given
    )
    return builder.build(start="project")


def with_rod_load(push):
    return rod(load=push)


def with_strain(travel):
    """Without constraints a function in Python returns the strain alone."""
    python = isinstance(travel, type(with_strain))
    return rod(reference_strain=(lambda t: travel(t)[0]) if python else travel)


CASES = [
    ("push", with_force),
    ("push", lambda push: with_force(push, "body")),
    ("push", lambda push: with_force(push, "body", "tait_bryan")),  # the axes of the node are others
    ("pull", with_torque),
    ("pull", with_tendon),
    ("swing", with_drive),
    ("swing", with_motion),
    ("travel", with_support),
    ("push", with_rod_load),
    ("travel", with_strain),
    ("travel", lambda travel: rod("kirchhoff", reference_strain=travel)),
]


@pytest.mark.parametrize("name, make", CASES)
def test_a_compiled_function_of_time_has_the_bits_of_the_same_function_in_python(name, make):
    own, twin = make(c_function(name, TYPES[name])), make(getattr(compiled, name))
    assert not own.core.needs_gil and twin.core.needs_gil
    own, twin = (lgint.integrate(model, "genalpha", t_end=0.1, h=5e-3) for model in (own, twin))
    assert np.abs(own.q - twin.q).max() < 1e-13  # sines of NumPy and of C may differ in the last bit
    assert np.abs(own.q[-1] - own.q[0]).max() > 1e-4


def test_a_failing_load_names_itself_and_the_time():
    with pytest.raises(
        lgint.IntegrationError, match=r"the function of 'push' returned the status -1 at t = 0\.05"
    ) as failed:
        lgint.integrate(with_force(c_function("late", "load")), "rk44", t_end=0.1, h=5e-3)
    assert failed.value.trajectory.t[-1] == pytest.approx(0.05, abs=6e-3)


def test_wrong_types_are_refused():
    with pytest.raises(
        ValueError, match=r"force of 'push': .*signatures\.load\), got int \(double, int, double \*, double \*, "
    ):
        with_force(c_function("swing", "motion"))
    with pytest.raises(ValueError, match=r"motion of .*signatures\.motion\), got int \(double, double \*, void \*\)"):
        with_motion(c_function("push", "load"))
    with pytest.raises(ValueError, match=r"reference_strain of 'rod': .*signatures\.motion"):
        rod(reference_strain=c_function("push", "load"))
    with pytest.raises(ValueError, match=r"load of 'rod': .*signatures\.load"):
        rod(load=c_function("swing", "motion"))
