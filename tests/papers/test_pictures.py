"""Pictures of artifacts: where triangles stand, which lines the legend lists, one look for each label."""

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.path import Path

from lgint._papers.pictures import over_time, picture, powers

H = np.logspace(-4, -2, 9)


def drawn(*panels):
    figure = Figure(layout="constrained")
    picture(*panels).draw(figure)
    return figure


def test_triangles_cover_no_line():
    """Between two lines there is room above the upper one and below the lower one only."""
    lines = {"one": (H, H**2), "other": (H, 0.8 * H**2)}
    axes = drawn(powers("", lines, "h / s", "error", {"one": 2, "other": 2})).axes[0]
    (triangle,) = axes.patches
    corners = np.log10(triangle.get_xy())
    fine = np.log10(np.linspace(H[0], H[-1], 5000))
    for shift in (0.0, np.log10(0.8)):
        assert not Path(corners).contains_points(np.column_stack([fine, 2 * fine + shift])).any()
    (x, y), (right, top) = corners[:2]
    assert (top - y) / (right - x) == pytest.approx(2)
    assert axes.texts[0].get_text() == "2"


def test_a_label_has_one_look_and_lone_lines_are_not_listed():
    t = np.linspace(0, 1, 5)
    figure = drawn(
        over_time("", "x", t, {"a": t, "b": -t}), over_time("", "y", t, {"b": t}), over_time("", "z", t, {"c": t})
    )
    first, second, third = figure.axes
    colors = {line.get_label(): line.get_color() for line in first.lines}
    assert second.lines[0].get_color() == colors["b"] != colors["a"]
    assert third.lines[0].get_color() == colors["a"]
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["a", "b"]


def test_constant_lines_look_constant():
    t = np.linspace(0, 1, 5)
    axes = drawn(over_time("", "E / J", t, {"E": 2500 + 1e-12 * t})).axes[0]
    low, high = axes.get_ylim()
    assert low < 2300 and high > 2700


def test_panels_have_one_size():
    panel = over_time("", "x", H, {"a": H})
    (width, height), (double, same) = picture(panel, panel).size, picture(panel, panel, panel, panel).size
    assert double == 2 * width and same == height
