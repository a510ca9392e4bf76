"""Supports: frames in space, at rest or in prescribed motion, to which bodies attach."""

import numpy as np
import pytest

import lgint
from lgint import groups

STEP = 1e-5
REST = groups.so3.exp((0.4, -0.2, 0.7))


def motion(t):
    """A position and a rotation vector beyond a full turn, with both derivatives."""
    s, c = np.sin(3 * t), np.cos(3 * t)
    value = [0.3 * s, 1 + 0.1 * t**2, 0.2 * c, 7 * t, 0.5 * s, 1 - t]
    rate = [0.9 * c, 0.2 * t, -0.6 * s, 7.0, 1.5 * c, -1.0]
    return value, rate, [-2.7 * s, 0.2, -1.8 * c, 0.0, -4.5 * s, 0.0]


def hung(kind="universal", given=motion, **axes):
    """One body on a moving support."""
    b = lgint.ModelBuilder(gravity=(0, 0, -9.81))
    b.add_support("carriage", rotation=REST, motion=given)
    start = np.array(given(0.0))
    b.add_body("bob", mass=2.0, inertia=(0.2, 0.3, 0.4), position=start[0, :3] + (0.5, 0.1, -1.0))
    b.add_joint(kind, "carriage", "bob", point=start[0, :3] + (0.1, 0.2, 0.0), name="pin", **axes)
    return b.build(start="project")


UNIVERSAL = {"axis": (1, 0, 0), "second_axis": (0, 1, 0)}


def test_twist_is_the_derivative_of_the_pose():
    model = hung(**UNIVERSAL)
    frame = model.joint_indices("pin").frames[0]
    t = np.array([0.0, 0.3, 1.7])
    q, v = np.tile(model.q0, (3, 1)), np.tile(model.v0, (3, 1))
    _, R, xdot, omega = model.core.kinematics(frame, q, v, t)
    (xm, Rm, *_), (xp, Rp, *_) = (model.core.kinematics(frame, q, v, t + s) for s in (-STEP, STEP))
    np.testing.assert_allclose(xdot, (xp - xm) / (2 * STEP), atol=1e-8)
    turning = np.swapaxes(R, 1, 2) @ (Rp - Rm) / (2 * STEP)
    np.testing.assert_allclose(omega, groups.so3.vee(0.5 * (turning - np.swapaxes(turning, 1, 2))), atol=1e-7)


@pytest.mark.parametrize(("kind", "axes"), [("universal", UNIVERSAL), ("planar", {"axis": (0, 1, 1)}), ("rigid", {})])
def test_rows_include_the_motion(kind, axes):
    """phidot and zeta are compared with differences in time along a motion of the body."""
    model = hung(kind, **axes)
    rng = np.random.default_rng(3)
    v, a, t = rng.normal(size=model.nv), rng.normal(size=model.nv), 0.6

    def at(s):
        q = model.core.retract(model.q0, s * v + 0.5 * s**2 * a)  # v' = a at s = 0, where the Lie bracket vanishes
        verbs = model.core.evaluate(t + s, q, v + s * a, want=["phi", "phidot", "zeta", "B"])
        return verbs["phi"], verbs["phidot"], verbs["B"] @ a - verbs["zeta"]

    minus, here, plus = at(-STEP), at(0.0), at(STEP)
    for level in (0, 1):
        np.testing.assert_allclose(here[level + 1], (plus[level] - minus[level]) / (2 * STEP), atol=2e-8)


def test_accelerated_pivot_is_gravity():
    """Seen from a carriage with acceleration a, a pendulum hangs in the gravity g - a."""
    a = np.array([2.0, 0.5, -1.0])

    def run(gravity, given):
        b = lgint.ModelBuilder(gravity=gravity)
        b.add_support("carriage", motion=given)
        b.add_body("bob", mass=1.0, inertia=(0.1, 0.2, 0.2), position=(1.0, 0, 0), angular_velocity=(1, 2, 3),
                   velocity=np.cross((1, 2, 3), (1, 0, 0)))  # fmt: skip
        b.add_joint("spherical", "carriage", "bob", point=(0, 0, 0), name="pin")
        return lgint.integrate(b.build(), "dopri5", t_end=1.0, rtol=1e-11, atol=1e-11)

    moving = run((0, 0, -9.81), lambda t: (0.5 * a * t**2, a * t, a))
    still = run(np.array((0, 0, -9.81)) - a, None)
    np.testing.assert_allclose(moving.rotation("bob")[-1], still.rotation("bob")[-1], atol=1e-9)
    shifted = moving.position("bob")[-1] - moving.position("carriage")[-1]
    np.testing.assert_allclose(shifted, still.position("bob")[-1], atol=1e-9)
    np.testing.assert_allclose(moving.reaction("pin")[-1], still.reaction("pin")[-1], atol=1e-7)
    np.testing.assert_allclose(moving.reaction("carriage")[-1], moving.reaction("pin")[-1], atol=1e-9)


@pytest.mark.parametrize("method", ["genalpha", "rk44", "herk2", "herk3", "herk4"])
def test_order_with_a_moving_support(method):
    """Methods keep their order on rows that depend on time."""
    model, order = hung(**UNIVERSAL), lgint.method_info(method)["order"]
    reference = lgint.integrate(model, "dopri5", t_end=0.5, rtol=1e-12, atol=1e-12).rotation("bob")[-1]
    errors = [np.abs(lgint.integrate(model, method, t_end=0.5, h=h).rotation("bob")[-1] - reference).max()
              for h in (0.5 / 64, 0.5 / 128)]  # fmt: skip
    assert order - 0.25 < np.log2(errors[0] / errors[1]) < order + 0.4


def test_reaction_of_a_support_carries_the_weight():
    """At rest, the reaction of a support is the weight of all that hangs on it, and acts at its position."""
    b = lgint.ModelBuilder(gravity=(0, 0, -10))
    b.add_support("wall", position=(1, 2, 3), rotation=REST)
    b.add_body("arm", mass=3.0, inertia=(1, 1, 1), position=(2, 2, 3))
    b.add_joint("rigid", "wall", "arm", point=(1.5, 2, 3), name="weld")
    run = lgint.integrate(b.build(), "genalpha", t_end=0.01, h=0.005)
    np.testing.assert_allclose(run.reaction("wall")[-1], (0, 0, 30, 0, -30, 0), atol=1e-10)
    inside = run.reaction("wall", frame="body")[-1]
    np.testing.assert_allclose(REST @ inside[:3], (0, 0, 30), atol=1e-10)


def test_table_of_a_motion(tmp_path):
    """A table gives a smooth curve through its values that is at rest outside and survives saving."""
    times, values = (0.0, 0.1, 0.4), ((0, 0, 0), (0.1, 0, 0), (0.3, 0.2, 0))
    model = lgint.ModelBuilder()
    model.add_support("hand", motion=(times, values))
    model.add_body("ball", mass=1.0, inertia=(1, 1, 1))
    model.add_joint("spherical", "hand", "ball", point=(0, 0, 0))
    run = lgint.integrate(model.build(), "genalpha", t_end=0.5, h=0.01)
    run.save(tmp_path / "run.npz")
    run = lgint.load(tmp_path / "run.npz")
    for t, value in zip(times, values, strict=True):
        i = np.argmin(np.abs(run.t - t))
        np.testing.assert_allclose(run.position("hand")[i], value, atol=1e-13)
    np.testing.assert_allclose(run.velocity("hand")[[0, -1]], 0, atol=1e-13)
    np.testing.assert_allclose(run.position("hand"), run.position("ball"), atol=1e-8)
    slopes = np.gradient(run.position("hand")[:, 0], run.t)
    np.testing.assert_allclose(slopes[15:30], run.velocity("hand")[15:30, 0], atol=2e-3)


def test_refusals():
    b = lgint.ModelBuilder()
    with pytest.raises(ValueError, match="near t = 0 the velocity is"):
        b.add_support("s", motion=lambda t: ((t, 0, 0), (2, 0, 0), (0, 0, 0)))
    with pytest.raises(ValueError, match=r"'s': .* \(3, 3\) or \(3, 6\) expected; at t = 0 the shape is \(3,\)"):
        b.add_support("s", motion=lambda t: (t, 0, 0))
    with pytest.raises(ValueError, match="at least two, ascending"):
        b.add_support("s", motion=((0, 0), ((0, 0, 0), (1, 0, 0))))
    b.add_support("wall")
    with pytest.raises(ValueError, match="a body expected, got the support 'wall'"):
        b.add_force("wall", force=(1, 0, 0))
    b.add_body("body", mass=1.0, inertia=(1, 1, 1))
    b.add_joint("spherical", "wall", lgint.ground, point=(0, 0, 0), name="nothing")
    with pytest.raises(ValueError, match="nothing: neither end can move"):
        b.build()


def test_a_failing_motion_ends_the_run():
    def given(t):
        if t > 0.05:
            raise RuntimeError("off the table")
        return np.zeros((3, 3))

    model = hung("spherical", given)
    with pytest.raises(RuntimeError, match="off the table"):
        lgint.integrate(model, "genalpha", t_end=0.1, h=0.01)


@pytest.mark.parametrize("value", [((0, 0, 0), (1, 0)), "abc", None], ids=str)
def test_a_motion_that_returns_no_array_is_named(value):
    builder = lgint.ModelBuilder()
    with pytest.raises(ValueError, match="motion of 'arm': a function that returns an array of shape .*at t = 0"):
        builder.add_support("arm", motion=lambda t: value)
