"""Mass, centre of mass and inertia of parts, against integrals over points and against one another."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import lgint
from lgint import inertia


def halves(part, by, mirrored):
    """Two parts on both sides of the origin, put together."""
    return inertia.combined(inertia.shifted(part, by), inertia.shifted(part, mirrored))


def test_a_box_is_made_of_two_boxes():
    half = inertia.box(1.0, (0.5, 2.0, 3.0))
    whole = halves(half, (0.25, 0, 0), (-0.25, 0, 0))
    assert np.allclose(whole.inertia, inertia.box(2.0, (1.0, 2.0, 3.0)).inertia, rtol=1e-15, atol=0)
    assert whole.mass == 2 and not whole.com.any()


def test_a_cylinder_is_made_of_two_cylinders():
    axis = np.array([1.0, 2.0, -2.0]) / 3
    half = inertia.cylinder(1.0, 0.3, 0.5, axis=axis)
    whole = halves(half, 0.25 * axis, -0.25 * axis)
    assert np.allclose(whole.inertia, inertia.cylinder(2.0, 0.3, 1.0, axis=3 * axis).inertia, rtol=1e-14, atol=1e-16)


@pytest.mark.parametrize("shape", ["tube", "shell"])
def test_what_is_hollow_fills_up(shape):
    if shape == "tube":
        volumes = np.array([0.5**2, 1.0 - 0.5**2])
        inner = inertia.cylinder(volumes[0], 0.5, 2.0)
        outer = inertia.cylinder(volumes[1], 1.0, 2.0, inner_radius=0.5)
        whole = inertia.cylinder(1.0, 1.0, 2.0)
    else:
        volumes = np.array([0.5**3, 1.0 - 0.5**3])
        inner = inertia.sphere(volumes[0], 0.5)
        outer = inertia.sphere(volumes[1], 1.0, inner_radius=0.5)
        whole = inertia.sphere(1.0, 1.0)
    assert np.allclose(inertia.combined(inner, outer).inertia, whole.inertia, rtol=1e-15, atol=0)


def test_thin_limits():
    assert np.allclose(inertia.sphere(3.0, 2.0, inner_radius=2.0).inertia, 8.0 * np.eye(3), rtol=1e-15)  # 2/3 m r^2
    assert np.allclose(inertia.cylinder(3.0, 2.0, 0.0, inner_radius=2.0).inertia, np.diag([6.0, 6, 12]), rtol=1e-15)
    assert np.allclose(inertia.rod(12.0, 2.0).inertia, np.diag([0.0, 4, 4]))
    assert np.allclose(inertia.rod(12.0, 2.0).inertia, inertia.box(12.0, (2, 0, 0)).inertia)


def test_points(rng):
    X, m = rng.normal(size=(7, 3)), rng.uniform(1, 2, 7)
    part = inertia.from_points(m, X)
    far = X - m @ X / m.sum()
    assert np.allclose(part.com, m @ X / m.sum(), rtol=1e-14)
    assert np.allclose(part.inertia, sum(k * (x @ x * np.eye(3) - np.outer(x, x)) for k, x in zip(m, far, strict=True)))
    turn = Rotation.from_rotvec([0.3, -0.4, 0.5])
    moved = inertia.from_points(m, turn.apply(X) + [1, 2, 3])
    again = inertia.shifted(part, (1, 2, 3), rotation=turn)
    assert np.allclose(moved.com, again.com, rtol=1e-14) and np.allclose(moved.inertia, again.inertia, rtol=1e-13)
    vector = inertia.shifted(part, (1, 2, 3), rotation=(0.3, -0.4, 0.5))
    assert np.allclose(vector.inertia, again.inertia, rtol=1e-14)
    two = inertia.combined(inertia.from_points(m[:3], X[:3]), inertia.from_points(m[3:], X[3:]))
    assert np.allclose(two.com, part.com, rtol=1e-14) and np.allclose(two.inertia, part.inertia, rtol=1e-13)
    assert inertia.from_points(0.5, [[0, 0, 0], [2, 0, 0]]).mass == 1


def test_a_part_stands_for_its_matrix_in_a_builder():
    part = inertia.shifted(inertia.box(2.0, (0.1, 0.2, 0.3)), (0.5, 0, 0), rotation=(0, 0, 0.4))
    tops = []
    for given in (part, part.inertia):
        builder = lgint.ModelBuilder()
        builder.add_body("box", mass=part.mass, inertia=given, position=part.com, rotation=(0.1, 0.2, 0.3))
        tops.append(builder.build())
    same, other = (model.state().mass_matrix() for model in tops)
    assert np.array_equal(same, other)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: inertia.box(0.0, (1, 1, 1)), "mass: a positive number"),
        (lambda: inertia.box(1.0, (1, -1, 1)), "size: lengths that are not negative"),
        (lambda: inertia.cylinder(1.0, 0.1, 1.0, inner_radius=0.2), "inner_radius: at most the radius 0.1"),
        (lambda: inertia.cylinder(1.0, 0.1, -1.0), "length: a number >= 0"),
        (lambda: inertia.rod(1.0, 1.0, axis=(0, 0, 0)), "axis: a direction expected"),
        (lambda: inertia.from_points(1.0, (1, 2, 3)), r"points: shape \(n, 3\) expected"),
        (lambda: inertia.from_points([0.0], [[1, 2, 3]]), "masses: numbers that are not negative"),
        (lambda: inertia.shifted(np.eye(3)), "part: a part of lgint.inertia expected"),
        (lambda: inertia.combined(), "parts: one or more"),
        (lambda: inertia.combined(inertia.sphere(1.0, 1.0), 3), "part 1: a part of lgint.inertia"),
    ],
)
def test_refusals(make, message):
    with pytest.raises(ValueError, match=message):
        make()
