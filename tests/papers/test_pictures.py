"""Pictures of artifacts: where triangles stand, which lines the legend lists, one look for each label."""

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.path import Path

from lgint._papers.pictures import errors, over_time, picture, plane, powers, sizes
from lgint._tools.results import Study

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


def crosses(axes):
    return [line.get_xydata()[0].tolist() for line in axes.lines if line.get_marker() == "x"]


def test_a_cross_marks_where_a_curve_ends_early():
    t = np.linspace(0, 1, 5)
    lines = {"all": (t, t), "short": (t[:3], 2 * t[:3])}
    assert crosses(drawn(plane("", "t / s", "E / J", lines)).axes[0]) == [[0.5, 1.0]]
    assert crosses(drawn(sizes("", "t / s", "E / J", lines)).axes[0]) == [[0.5, 1.0]]
    assert crosses(drawn(plane("", "x / m", "y / m", lines)).axes[0]) == []


def test_a_cross_marks_the_run_beside_those_that_failed():
    h = np.array([4e-3, 2e-3, 1e-3, 5e-4])
    whole = Study("rk44", {}, 4, h, {"x": h**4}, ())
    part = Study("rk44", {}, 4, h, {"x": np.array([np.nan, np.nan, 1e-9, 1e-10])}, ())
    axes = drawn(errors("", {"whole": whole, "part": part}, "x", "error")).axes[0]
    assert crosses(axes) == [[1e-3, 1e-9]]


def test_panels_stand_in_rows():
    panel = over_time("", "x", H, {"a": H})
    figure = Figure()
    grid = picture(*[panel] * 6, columns=3)
    grid.draw(figure)
    assert {axes.get_subplotspec().get_geometry()[:2] for axes in figure.axes} == {(2, 3)}
    assert grid.size[0] == picture(*[panel] * 3).size[0]
