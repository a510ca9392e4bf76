"""Sections of rods against textbook values."""

import re

import numpy as np
import pytest

import lgint

MATERIAL = {"E": 2.6e9, "G": 1e9, "rho": 1200.0}  # nu = 0.3


def test_circle():
    found = lgint.section("circle", **MATERIAL, radius=0.1, relaxation=0.02)
    area, second = np.pi * 0.01, np.pi * 1e-4 / 4
    shear = 6 * 1.3 / (7 + 6 * 0.3) * 1e9 * area
    expected = (shear, shear, 2.6e9 * area, 2.6e9 * second, 2.6e9 * second, 2e9 * second)
    np.testing.assert_allclose(found.stiffness, expected, rtol=1e-14)
    np.testing.assert_allclose(found.inertia, 1200 * np.array([area, second, second, 2 * second]), rtol=1e-14)
    np.testing.assert_allclose(found.damping, 0.01 * found.stiffness, rtol=1e-14)
    assert found.area == pytest.approx(area)


def test_tube():
    """A thin tube: area 2 pi r t, second moment pi r^3 t, and Cowper's 2 (1 + nu) / (4 + 3 nu)."""
    r, t = 0.1, 1e-5
    found = lgint.section("tube", **MATERIAL, radius=r + t / 2, inner_radius=r - t / 2)
    area = 2 * np.pi * r * t
    assert found.area == pytest.approx(area, rel=1e-9)
    assert found.stiffness[0] == pytest.approx(2 * 1.3 / (4 + 0.9) * 1e9 * area, rel=1e-6)
    assert found.stiffness[3] == pytest.approx(2.6e9 * np.pi * r**3 * t, rel=1e-6)
    assert found.stiffness[5] == pytest.approx(2e9 * np.pi * r**3 * t, rel=1e-6)
    hollow = lgint.section("tube", **MATERIAL, radius=0.1, inner_radius=1e-9)
    np.testing.assert_allclose(hollow.stiffness, lgint.section("circle", **MATERIAL, radius=0.1).stiffness, rtol=1e-12)


@pytest.mark.parametrize(("ratio", "factor"), [(1, 0.140577), (2, 0.228682), (4, 0.280813), (10, 0.312325)])
def test_torsion_of_a_rectangle(ratio, factor):
    """Saint-Venant's I_t = factor a b^3 with the longer side a, whether that is the width or the height."""
    for sides in ({"width": 0.02 * ratio, "height": 0.02}, {"width": 0.02, "height": 0.02 * ratio}):
        found = lgint.section("rectangle", **MATERIAL, **sides)
        assert found.stiffness[5] / 1e9 == pytest.approx(factor * ratio * 0.02**4, rel=3e-6)
        assert found.stiffness[3] == pytest.approx(2.6e9 * sides["width"] * sides["height"] ** 3 / 12)
        assert found.stiffness[4] == pytest.approx(2.6e9 * sides["height"] * sides["width"] ** 3 / 12)
        assert found.inertia[3] == pytest.approx(found.inertia[1] + found.inertia[2])


@pytest.mark.parametrize(
    ("shape", "sizes", "message"),
    [
        ("square", {}, "unknown shape of a section 'square'"),
        ("circle", {}, "section 'circle' needs a radius"),
        ("circle", {"radius": 1, "width": 1}, "section 'circle' takes no width, only radius"),
        ("tube", {"radius": 1, "inner_radius": 2}, "less than the radius 1 expected, got 2"),
        ("rectangle", {"width": -1, "height": 1}, "width: a positive number expected, got -1"),
    ],
)
def test_refusals(shape, sizes, message):
    with pytest.raises(ValueError, match=message):
        lgint.section(shape, **MATERIAL, **sizes)


@pytest.mark.parametrize("radius", [1e308, 1e80, 1e-200])
def test_sizes_beyond_the_range_of_numbers(radius):
    with pytest.raises(ValueError, match=f"section 'circle': .*radius={re.escape(repr(radius))}"):
        lgint.section("circle", 1e9, 4e8, 1e3, radius=radius)
