"""Derivatives of starts by values that move them through the projection, and by start values."""

import numpy as np
import pytest

import lgint
from lgint._state.slopes import slopes_of

FORMS = ["R3xSO3", "S3R3", "euler_parameters", "tait_bryan", "minimal"]
INERTIA = np.diag([0.1, 0.2, 0.3])


def difference(f, step=2.0**-8):
    """Central difference of the sixth order."""
    return sum(w * (f(k * step) - f(-k * step)) for k, w in ((1, 45), (2, -9), (3, 1))) / (60 * step)


def motion(model, q, v):
    """Positions of points, velocities and angular velocities."""
    found = [model.kinematics(name, q, v) for name in model.bodies]
    return np.concatenate([[*x, *R @ (0.3, 0.2, -0.1), *xdot, *omega] for x, R, xdot, omega in found])


def check(model, name, at):
    """The derivatives of motions along those of the start against differences of the starts at(s)."""
    dq, dv = (part[0] for part in slopes_of(model, [name])[1:])
    along = difference(lambda s: motion(model, model.core.retract(model.q0, s * dq), model.v0 + s * dv))
    expected = difference(lambda s: motion(model, (start := at(s)).q0, start.v0))
    np.testing.assert_allclose(along, expected, rtol=0, atol=2e-9)
    assert np.abs(expected).max() > 0.05


def arms(form):
    """Two arms on the ground, the second of which turns by two angles."""
    builder = lgint.ModelBuilder(formulation=form)
    builder.add_body("arm", mass=2.0, inertia=INERTIA, position=(0.3, 0.1, -0.4))
    builder.add_body("hand", mass=1.0, inertia=INERTIA, position=(0.9, 0, -1))
    builder.add_joint("revolute", lgint.ground, "arm", point=(0, 0, 0), axis=(0, 0.8, 0.6), name="shoulder")
    axes = {"axis": (0, 1, 0), "second_axis": (1, 0, 0)}
    builder.add_joint("universal", "arm", "hand", point=(0.6, 0, -0.8), **axes, name="elbow")
    model = builder.build()
    return model.with_state(joints=JOINTS, rates=RATES)


JOINTS, RATES = {"shoulder": 0.3, "elbow": (0.2, 0.1)}, {"shoulder": 1.1, "elbow": (2.0, -0.7)}


@pytest.mark.parametrize("form", FORMS)
def test_coordinates_and_rates_of_joints(form):
    model = arms(form)
    check(model, "start.shoulder", lambda s: model.with_state(joints={"shoulder": 0.3 + s}))
    check(model, "start.elbow[1]", lambda s: model.with_state(joints={"elbow": (0.2, 0.1 + s)}))
    check(model, "start.shoulder.rate", lambda s: model.with_state(rates={"shoulder": 1.1 + s}))
    check(model, "start.elbow.rate[0]", lambda s: model.with_state(rates={"elbow": (2.0 + s, -0.7)}))


@pytest.mark.parametrize("form", FORMS)
def test_free_bodies_and_rotations_of_joints(form):
    builder = lgint.ModelBuilder(formulation=form)
    own = "R3xSO3" if form == "minimal" else form
    builder.add_body("trunk", mass=2.0, inertia=INERTIA, formulation=own)
    builder.add_body("arm", mass=1.0, inertia=INERTIA, position=(1, 0, 0))
    builder.add_joint("spherical", "trunk", "arm", point=(0.5, 0, 0), name="ball")
    rates = {"trunk": ((1, 2, 3), (0.4, -0.5, 0.6)), "ball": (0.3, 0.4, -0.5)}
    model = builder.build().with_state(rates=rates)
    state, unit = model.state(), np.eye(3)
    x, R = state.position("trunk"), state.rotation("trunk")
    v, omega = state.velocity("trunk"), state.angular_velocity("trunk")
    relative = R.T @ state.rotation("arm")
    turning = state.angular_velocity("arm") - relative.T @ omega

    def turned(A, s, i):
        return A @ lgint.groups.so3.exp(s * unit[i])

    def start(**given):
        return model.with_state(**{what: {who: value} for what, (who, value) in given.items()})

    check(model, "start.trunk.position[0]", lambda s: start(joints=("trunk", (x + s * unit[0], R))))
    check(model, "start.trunk.rotation[2]", lambda s: start(joints=("trunk", (x, turned(R, s, 2)))))
    check(model, "start.trunk.velocity[1]", lambda s: start(rates=("trunk", (v + s * unit[1], omega))))
    check(model, "start.trunk.angular_velocity[2]", lambda s: start(rates=("trunk", (v, omega + s * unit[2]))))
    check(model, "start.ball.rotation[1]", lambda s: start(joints=("ball", turned(relative, s, 1))))
    check(model, "start.ball.rate[0]", lambda s: start(rates=("ball", turning + s * unit[0])))


@pytest.mark.parametrize("form", FORMS[:-1])
def test_a_length_moves_the_start(form):
    builder = lgint.ModelBuilder(formulation=form)
    builder.add_body("bob", mass=2.0, inertia=INERTIA, position=(0.6, 0.2, -0.8), angular_velocity=(0.4, -0.5, 0.6))
    points = {"point_a": (0, 0, 0), "point_b": (-0.1, 0.1, 0.1)}
    builder.add_joint("distance", lgint.ground, "bob", **points, name="rope")
    model = builder.build(start="project")
    length = model.values["rope.length"]

    def at(s):
        return model.with_parameters(**{"rope.length": length + s}).with_state(project=True)

    check(model, "rope.length", at)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("start.sholder", "did you mean 'start.shoulder'"),
        ("start.arm.position[0]", "'arm' is neither a joint nor a free body"),
        ("start.elbow", r"an index expected as in start.elbow\[1\]"),
        ("start.elbow.rate[2]", r"an index expected as in start.elbow.rate\[1\]"),
        ("start.shoulder.velocity[0]", "the start of 'shoulder' has 'start.shoulder', 'start.shoulder.rate'"),
        ("start.", "is neither a joint nor a free body"),
        ("arm.mas", "did you mean 'arm.mass'"),
        ("arm.inertia", r"name one of its entries, such as 'arm.inertia\[2,2\]'"),
    ],
)
def test_names_that_a_model_does_not_have(name, message):
    with pytest.raises(ValueError, match=message):
        slopes_of(arms("R3xSO3"), [name])


@pytest.mark.parametrize("form", FORMS)
def test_points_of_joints_move_the_start(form):
    model = arms(form)
    for name in ("elbow.point_a[2]", "elbow.point_b[0]", "shoulder.point_b[1]"):
        value = model.values[name]

        def at(s, name=name, value=value):
            return model.with_parameters(**{name: value + s}).with_state(project=True)

        dq, dv = (part[0] for part in slopes_of(model, [name])[1:])
        expected = difference(lambda s, at=at: model.core.difference(model.q0, at(s).q0))
        np.testing.assert_allclose(dq, expected, rtol=0, atol=2e-9)
        np.testing.assert_allclose(dv, difference(lambda s, at=at: at(s).v0), rtol=0, atol=2e-8)
        assert (np.abs(dq).max() > 0.05) == (form != "minimal")


@pytest.mark.parametrize("form", FORMS)
def test_terms_by_points_of_joints(form):
    """In trees the points of joints are those of links; the derivatives are those of the whole model."""
    model = arms(form)
    names = ["elbow.point_a[2]", "elbow.point_b[0]", "shoulder.point_b[1]", "hand.mass"]
    core = slopes_of(model, names).core
    rng = np.random.default_rng(1)
    v, a, lam = rng.normal(size=model.nv), rng.normal(size=model.nv), rng.normal(size=model.nc)
    for i, name in enumerate(names):
        found = core.derivative(i, 0.0, model.q0, v, a, lam)

        def at(s, name=name):
            other = model.with_parameters(**{name: model.values[name] + s}).core
            terms = other.evaluate(0.0, model.q0, v, a, lam)
            return np.concatenate([terms[term].ravel() for term in terms])

        own = np.concatenate([found[term].ravel() for term in found])
        np.testing.assert_allclose(own, difference(at), rtol=0, atol=2e-10)
        assert np.abs(own).max() > 0.05
