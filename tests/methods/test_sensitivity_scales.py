"""Derivatives of runs of small mechanisms, of ones far from the origin, and of what changes within a short way."""

import numpy as np
import pytest

import lgint


def by_differences(model, name, value_of, step):
    """The derivative by a number of what runs of other models, with projected starts, give."""
    at = float(model.values[name])
    more, less = (value_of(model.with_parameters(**{name: at + s}).with_state(project=True)) for s in (step, -step))
    return (more - less) / (2 * step)


def distance(found, expected):
    return np.abs(found - expected).max() / np.abs(expected).max()


@pytest.mark.parametrize("method", ["rk44", "genalpha"])
@pytest.mark.parametrize("length", [0.01, 1.0])
def test_a_short_pendulum_by_its_length(method, length):
    builder = lgint.ModelBuilder(gravity=(0, 0, -9.81))
    still = {"position": (0.6 * length, 0, -0.8 * length), "velocity": (0, np.sqrt(9.81 * length), 0)}
    builder.add_body("bob", mass=1e-3, inertia=(1e-9,) * 3, **still)
    builder.add_distance(lgint.ground, "bob", point_a=(0, 0, 0), point_b=(0, 0, 0), length=length, name="rod")
    model, t_end = builder.build(), 0.5 * np.sqrt(length)

    def motion(other, **more):
        options = {"index": 2, "newton_rtol": 1e-12, "newton_atol": 1e-16} if method == "genalpha" else {}
        return lgint.integrate(other, method, t_end=t_end, h=t_end / 50, **options, **more)

    run = motion(model, sensitivity=["rod.length"])
    v = by_differences(model, "rod.length", lambda other: motion(other).v, 1e-4 * length)
    lam = by_differences(model, "rod.length", lambda other: motion(other).lam, 1e-4 * length)
    assert distance(run.sensitivity.dv[..., 0], v) < 1e-6
    assert distance(run.sensitivity.dlam[..., 0], lam) < 1e-5


@pytest.mark.parametrize("name", ["spring.point_a[0]", "pin.point[0]", "spring.point_b[2]"])
def test_points_far_from_the_origin(name):
    far = 1000.0
    builder = lgint.ModelBuilder(gravity=(0, 0, -9.81))
    builder.add_body("arm", mass=1.0, inertia=(0.01, 0.02, 0.03), position=(far + 0.3, 0, 0))
    ends = {"point_a": (far, 0, 0), "point_b": (0.1, 0, 6e-17)}
    builder.add_spring(lgint.ground, "arm", stiffness=50.0, length=0.25, name="spring", **ends)
    builder.add_joint("spherical", lgint.ground, "arm", point=(far, 0, 0.4), name="pin")
    model = builder.build()

    def motion(other, **more):
        return lgint.integrate(other, "rk44", t_end=0.1, h=2e-3, **more)

    found = motion(model, sensitivity=[name]).sensitivity.dv[..., 0]
    assert distance(found, by_differences(model, name, lambda other: motion(other).v, 1e-5)) < 1e-6


def test_a_shallow_contact_of_a_tree_by_a_point_of_a_joint():
    """The foot is 0.3 mm deep in the floor, and lower by as much as the leg is longer."""
    builder = lgint.ModelBuilder(gravity=(0, 0, -9.81), formulation="minimal")
    builder.add_body("hip", mass=5.0, inertia=(0.05,) * 3, position=(0, 0, 1))
    builder.add_body("leg", mass=1.0, inertia=(0.02, 0.02, 0.002), position=(0.1, 0, 0.5))
    builder.add_joint("prismatic", lgint.ground, "hip", point=(0, 0, 1), axis=(0, 0, 1), name="rail")
    builder.add_joint("revolute", "hip", "leg", point=(0, 0, 1), axis=(0, 1, 0), name="pin")
    shapes = ("sphere", (0, 0, -0.4503), 0.05), ("plane", (0, 0, 0), (0, 0, 1))
    builder.add_contact("leg", lgint.ground, shapes=shapes, stiffness=1e5, damping=0.1, name="foot")
    model = builder.build()

    def motion(other, **more):
        return lgint.integrate(other, "rk44", t_end=5e-3, h=5e-4, **more)

    found = motion(model, sensitivity=["pin.point_a[2]"]).sensitivity.dv[..., 0]
    expected = by_differences(model, "pin.point_a[2]", lambda other: motion(other).v, 1e-6)
    assert np.abs(expected).max() > 10 and distance(found, expected) < 1e-7


def test_the_energy_of_a_shallow_contact():
    """The contact is 0.1 mm deep, less than the steps by which smooth accessors are differentiated."""
    builder = lgint.ModelBuilder(gravity=(0, 0, -9.81))
    still = {"position": (0, 0, 0.2499), "velocity": (0.01, 0, -0.02)}
    builder.add_body("ball", mass=1.2, inertia=(0.01, 0.02, 0.025), **still)
    shapes = ("plane", (0, 0, 0), (0, 0, 1)), ("sphere", (0, 0, 0), 0.25)
    builder.add_contact(lgint.ground, "ball", shapes=shapes, stiffness=1e5, name="floor")
    model, options = builder.build(), {"t_end": 5e-3, "h": 2e-4}
    names = ["ball.mass", "floor.stiffness"]

    def last(t, energy):
        return float(energy[-1]), [np.r_[0 * energy[:-1], 1.0]]

    _, gradient, _ = lgint.gradient(model, "genalpha", last, names, outputs=[("energy",)], **options)
    run = lgint.integrate(model, "genalpha", sensitivity=names, **options)

    def energy(other):
        return lgint.integrate(other, "genalpha", newton_rtol=1e-13, newton_atol=1e-16, **options).energy()[-1]

    expected = [by_differences(model, name, energy, step) for name, step in zip(names, (1e-5, 1.0), strict=True)]
    np.testing.assert_allclose(gradient, expected, rtol=1e-5)
    np.testing.assert_allclose(run.derivative("energy")[-1], expected, rtol=1e-5)


@pytest.mark.parametrize(
    ("method", "options", "multipliers"),
    [
        ("genalpha", {"index": 3}, 1e-7),  # round-off of positions over h^2
        ("genalpha", {"index": 2}, 1e-9),
        ("genalpha", {"index": "stabilized"}, 1e-9),
        ("newmark", {}, 1e-9),
        ("hht", {}, 1e-7),
        ("radau5", {}, 1e-9),
    ],
)
def test_tolerances_of_steps_leave_little_in_derivatives(method, options, multipliers):
    """Compared with steps solved to round-off."""
    model, names = lgint.models.slider_crank(), ["crank.mass", "rod.mass", "slider.mass"]
    given = {"t_end": 0.05, "h": 1e-3, "sensitivity": names, **options}
    found = lgint.integrate(model, method, **given).sensitivity
    sharp = lgint.integrate(model, method, **given, newton_rtol=1e-16).sensitivity
    assert distance(found.dq, sharp.dq) < 1e-9
    assert distance(found.dv, sharp.dv) < 1e-9
    assert distance(found.dlam, sharp.dlam) < multipliers
