"""Derivatives of eigenvalues by parameters: closed forms, and differences of linearisations."""

import numpy as np
import pytest

import lgint
from lgint._state.state import Independent, State

FORMS = ["R3xSO3", "S3R3", "euler_parameters", "minimal"]
MASS, J, G = 2.0, 0.3, 9.81


def pendulum(form, length=0.7):
    builder = lgint.ModelBuilder(gravity=(0, 0, -G), formulation=form)
    builder.add_body("bob", mass=MASS, inertia=np.diag([0.2, J, 0.1]), position=(0, 0, -length))
    builder.add_joint("revolute", lgint.ground, "bob", point=(0, 0, 0), axis=(0, 1, 0), name="pin")
    return builder.build()


@pytest.mark.parametrize("form", FORMS)
def test_pendulum_by_length(form):
    """omega^2 = m g L / (J + m L^2); the COM moves with the point of the joint."""
    length = 0.7
    model = pendulum(form, length)
    linear = lgint.linearize(model.state())
    inertia = J + MASS * length**2
    omega = np.sqrt(MASS * G * length / inertia)
    by_length = (MASS * G / inertia - 2 * MASS * length * omega**2 / inertia) / (2 * omega)
    by_mass = (G * length / inertia - length**2 * omega**2 / inertia) / (2 * omega)
    by_inertia = -omega / (2 * inertia)
    for name, expected in (
        ("pin.point_b[2]", by_length),
        ("bob.mass", by_mass),
        ("bob.inertia[1,1]", by_inertia),
        ("gravity[2]", -omega / (2 * G)),
    ):
        found = linear.derivative(name)
        np.testing.assert_allclose(found, 1j * np.sign(linear.eigenvalues.imag) * expected, rtol=0, atol=1e-10)


@pytest.mark.parametrize("form", FORMS[:-1])
def test_mass_on_a_spring_by_stiffness_and_damping(form):
    k, c = 30.0, 1.5
    builder = lgint.ModelBuilder(gravity=(0, 0, -G), formulation=form)
    builder.add_body("block", mass=MASS, inertia=np.eye(3), position=(0, 0, -1))
    builder.add_joint("prismatic", lgint.ground, "block", point=(0, 0, -1), axis=(0, 0, 1), name="guide")
    builder.add_spring(lgint.ground, "block", stiffness=k, damping=c, length=0.5, name="spring", point_a=(0, 0, 0))
    rest = lgint.equilibrium(builder.build())
    linear = lgint.linearize(rest.state(-1))
    s = linear.eigenvalues
    np.testing.assert_allclose(MASS * s**2 + c * s + k, 0, rtol=0, atol=1e-9)
    for name, change in (("spring.stiffness", 1), ("spring.damping", s), ("block.mass", s**2), ("spring.length", 0)):
        np.testing.assert_allclose(linear.derivative(name), -change / (2 * MASS * s + c), rtol=0, atol=1e-10)


@pytest.mark.parametrize("form", FORMS)
def test_buckling_load_by_stiffness(form):
    """A bar of length L on a spring k buckles under P = k / L: where s = 0, dP/dk = -(ds/dk) / (ds/dP)."""
    length, k, load = 0.7, 30.0, 40.0
    builder = lgint.ModelBuilder(gravity=(0, 0, 0), formulation=form)
    builder.add_body("bar", mass=MASS, inertia=np.diag([0.2, J, 0.1]), position=(0, 0, length / 2))
    builder.add_joint("revolute", lgint.ground, "bar", point=(0, 0, 0), axis=(0, 1, 0), name="pin")
    builder.add_joint_spring("pin", stiffness=k, name="spring")
    builder.add_force("bar", force=(0, 0, -load), local_point=(0, 0, length / 2), name="top")
    linear = lgint.linearize(lgint.equilibrium(builder.build()).state(-1))
    s, inertia = linear.eigenvalues, J + MASS * length**2 / 4
    np.testing.assert_allclose(s**2, -(k - load * length) / inertia, rtol=1e-9)
    by_stiffness, by_load = linear.derivative("spring.stiffness"), -linear.derivative("top.load[2]")
    np.testing.assert_allclose(-by_stiffness / by_load, 1 / length, rtol=1e-9)


def loaded(form, **values):
    """A bent arm on springs, whose equilibrium depends on everything."""
    builder = lgint.ModelBuilder(gravity=(0.3, 0.2, -G), formulation=form)
    builder.add_body("arm", mass=MASS, inertia=np.diag([0.2, J, 0.1]), position=(0.4, 0, 0))
    builder.add_body("hand", mass=1.0, inertia=np.diag([0.2, 0.1, 0.1]), position=(1.1, 0, 0))
    builder.add_joint("revolute", lgint.ground, "arm", point=(0, 0, 0), axis=(0, 1, 0.2), name="shoulder")
    builder.add_joint("revolute", "arm", "hand", point=(0.8, 0, 0), axis=(0, 1, 0), name="elbow")
    for joint, k in (("shoulder", 30.0), ("elbow", 14.0)):
        builder.add_joint_spring(joint, stiffness=k, damping=0.8, name=f"{joint}_spring")
    builder.add_force("hand", force=(1.0, -2.0, 3.0), local_point=(0.2, 0.1, 0), name="pull")
    model = builder.build()
    return lgint.equilibrium(model.with_parameters(**values))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "name", ["hand.mass", "elbow_spring.stiffness", "shoulder_spring.damping", "pull.load[2]", "pull.point[0]"]
)
def test_eigenvalues_along_an_equilibrium_that_moves(form, name):
    rest = loaded(form)
    linear = lgint.linearize(rest.state(-1))
    value, step = rest.model.values[name], 1e-3
    assert abs(value) > 0.05

    def at(s):
        return lgint.linearize(loaded(form, **{name: value + s}).state(-1)).eigenvalues

    expected = sum(w * (at(k * step) - at(-k * step)) for k, w in ((1, 8), (2, -1))) / (12 * step)
    found = linear.derivative(name)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-7 * (1 + np.abs(expected).max()))
    assert np.abs(found).max() > 1e-3


def test_what_has_no_derivative():
    model = pendulum("R3xSO3")
    linear = lgint.linearize(model.state())
    with pytest.raises(ValueError, match="parameter: 'bob.mas' .*did you mean 'bob.mass'"):
        linear.derivative("bob.mas")
    with pytest.raises(ValueError, match="an equilibrium does not depend on the start"):
        linear.derivative("start.pin")


def on_rails(*stiffness):
    """Blocks on springs, each by itself, linearised."""
    builder = lgint.ModelBuilder(formulation="minimal")
    for name, k in zip("abc", stiffness, strict=False):
        builder.add_body(name, mass=2.0, inertia=(0.1, 0.1, 0.1))
        builder.add_joint("prismatic", lgint.ground, name, point=(0, 0, 0), axis=(0, 0, 1), name=f"rail_{name}")
        builder.add_joint_drive(f"rail_{name}", stiffness=k, damping=4.0, name=f"spring_{name}")
    return lgint.linearize(builder.build().state())


def test_equal_eigenvalues_have_the_derivatives_of_those_into_which_they_split():
    lin = on_rails(50.0, 50.0)
    s = -1 + 1j * np.sqrt(24)
    slope = -1 / (2 * 2.0 * s + 4)  # of m s^2 + d s + k = 0 by k
    np.testing.assert_allclose(lin.eigenvalues[lin.eigenvalues.imag > 0], s, rtol=1e-12)
    upper = lin.derivative("spring_a.stiffness")[lin.eigenvalues.imag > 0]
    np.testing.assert_allclose(upper, [0, slope], rtol=0, atol=1e-13)
    lower = lin.derivative("spring_b.stiffness")[lin.eigenvalues.imag < 0]
    np.testing.assert_allclose(lower, [0, slope.conjugate()], rtol=0, atol=1e-13)


@pytest.mark.parametrize("apart", [1e-7, 3e-7, 1e-6, 1e-5])
def test_eigenvalues_that_are_nearly_equal_have_their_own_derivatives(apart):
    """Two are equal, and a third one differs from these by up to 2e-7 of itself."""
    lin = on_rails(50.0, 50.0, 50.0 + apart)
    upper = lin.eigenvalues.imag > 0
    slope = -1 / (2 * 2.0 * (-1 + 1j * np.sqrt(24)) + 4)
    last = np.arange(3) == lin.eigenvalues[upper].imag.argmax()
    np.testing.assert_allclose(lin.derivative("spring_c.stiffness")[upper], slope * last, rtol=0, atol=1e-7)
    of_a = lin.derivative("spring_a.stiffness")[upper]
    np.testing.assert_allclose(of_a[last], 0, rtol=0, atol=1e-7)
    np.testing.assert_allclose(of_a[~last], [0, slope], rtol=0, atol=1e-7)


def test_critical_damping_has_no_derivatives():
    builder = lgint.ModelBuilder(formulation="minimal")
    builder.add_body("a", mass=2.0, inertia=(0.1, 0.1, 0.1))
    builder.add_joint("prismatic", lgint.ground, "a", point=(0, 0, 0), axis=(0, 0, 1), name="rail")
    builder.add_joint_drive("rail", stiffness=50.0, damping=20.0, name="spring")
    assert np.isnan(lgint.linearize(builder.build().state()).derivative("spring.stiffness")).all()


# ---- contacts ----

FLOOR = ("plane", (0, 0, 0), (0, 0, 1))


def test_a_ball_on_a_floor_by_its_mass_and_stiffness():
    """With the force k d^1.5, m g = k d^1.5 and omega^2 = 1.5 k d^0.5/m."""
    mass, k = 2.0, 1e6
    depth = (mass * G / k) ** (2 / 3)
    builder = lgint.ModelBuilder(gravity=(0, 0, -G))
    builder.add_body("ball", mass=mass, inertia=(1, 1, 1), position=(0, 0, 0.1 - depth))
    builder.add_joint("prismatic", lgint.ground, "ball", point=(0, 0, 0), axis=(0, 0, 1))
    shapes = [("sphere", (0, 0, 0), 0.1), FLOOR]
    builder.add_contact("ball", lgint.ground, shapes=shapes, stiffness=k, exponent=1.5, name="touch")
    linear = lgint.linearize(lgint.equilibrium(builder.build()).state(-1))
    omega = np.sqrt(1.5 * k * np.sqrt(depth) / mass)
    for name, expected in ("ball.mass", -omega / (3 * mass)), ("touch.stiffness", omega / (3 * k)):
        found = linear.derivative(name).imag / np.sign(linear.eigenvalues.imag)
        np.testing.assert_allclose(found, expected, rtol=1e-7)


def on_a_slope(spring=40.0, height=0.0999):
    """A block that bristles and a spring hold on a slope."""
    builder = lgint.ModelBuilder(gravity=(2.9, 0, -9.4))
    builder.add_body("block", mass=2.0, inertia=(0.02, 0.03, 0.04), position=(0, 0, height))
    law = {"stiffness": 1e5, "damping": 5.0, "friction": 0.5, "bristle": (2e4, 30.0)}
    shapes = [("box", (0, 0, 0), (0.2, 0.15, 0.1)), FLOOR]
    builder.add_contact("block", lgint.ground, shapes=shapes, name="touch", **law)
    ends = {"point_a": (0.5, 0, 0.1), "point_b": (0.2, 0, 0.1)}
    builder.add_spring(lgint.ground, "block", stiffness=spring, length=0.3, name="spring", **ends)
    return builder.build()


@pytest.mark.parametrize("name", ["block.mass", "touch.bristle", "touch.stiffness", "touch.half_sizes_a[2]"])
def test_bristles_that_stick_bend_with_the_equilibrium(name):
    rest = lgint.equilibrium(on_a_slope())
    model, found = rest.model.with_state(rest), lgint.linearize(rest.state(-1)).derivative(name)
    step = 1e-6 * model.values[name]
    more, less = (
        lgint.linearize(
            lgint.equilibrium(model.with_parameters(**{name: model.values[name] + s})).state(-1)
        ).eigenvalues
        for s in (step, -step)
    )
    np.testing.assert_allclose(found, (more - less) / (2 * step), rtol=0, atol=1e-5 * np.abs(found).max())


def test_bristles_that_are_about_to_slide_are_refused():
    builder = lgint.ModelBuilder()
    builder.add_body("sled", mass=2.0, inertia=(1, 1, 1), position=(0, 0, 0.099), velocity=(0.1, 0, 0))
    builder.add_joint("prismatic", lgint.ground, "sled", point=(0, 0, 0), axis=(1, 0, 0))
    builder.add_force("sled", force=(50.0, 0, 0))
    shapes = [("sphere", (0, 0, 0), 0.1), FLOOR]
    builder.add_contact("sled", lgint.ground, shapes=shapes, stiffness=1e5, friction=0.5, bristle=1e4, name="touch")
    end = lgint.integrate(builder.build(), "genalpha", t_end=0.1, h=1e-3).state(-1)
    rest = State(Independent(end.model, end.t, end.q, 0 * end.v, end.mem))
    with pytest.raises(ValueError, match="some bristles are bent to their limit"):
        lgint.linearize(rest).derivative("sled.mass")
