"""Pictures of runs: legends beside the curves, what is left out, units, ticks, and labels of equilibria."""

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

import lgint
from lgint._run.decades import decades
from lgint._tools.axes import Slope, logarithmic, triangles

STEPS = {"t_end": 0.02, "h": 1e-3}


def drawn(figure):
    """The figure after its layout has been computed."""
    FigureCanvasAgg(figure).draw()
    return figure


def titles(run):
    return [axes.get_title().partition("\n")[0] for axes in run.plot().axes]


def frames_of(movie, count):
    """The titles of the first frames of an animation."""
    movie._draw_was_started = True  # or it would warn that nothing has shown it
    found = []
    for i in range(count):
        movie._func(i)
        found.append(movie._fig.texts[0].get_text())
    return found


def hanging(load=(0.5, 1.0)):
    """A weight on a spring and a rail, at rest."""
    builder = lgint.ModelBuilder(gravity=(0, 0, -9.81))
    builder.add_body("weight", mass=2.0, inertia=np.eye(3), position=(0, 0, -1))
    builder.add_joint("prismatic", lgint.ground, "weight", point=(0, 0, 0), axis=(0, 0, 1), name="rail")
    builder.add_spring(lgint.ground, "weight", stiffness=50.0, length=1.0)
    return lgint.equilibrium(builder.build(), load)


@pytest.mark.parametrize("name", ["crank_drive_v8", "slider_crank"])
def test_no_legend_covers_a_curve(name):
    figure = drawn(lgint.integrate(getattr(lgint.models, name)(), "genalpha", **STEPS).plot())
    legends = [(axes, axes.get_legend()) for axes in figure.axes if axes.get_legend()]
    assert len(legends) == 3
    for axes, legend in legends:
        box = legend.get_window_extent()
        assert box.x0 > axes.get_window_extent().x1 and box.x1 <= figure.bbox.x1
        assert not any(box.overlaps(other.get_window_extent()) for other in figure.axes)


def test_bodies_that_are_left_out_are_named():
    run = lgint.integrate(lgint.models.crank_drive_v8(), "genalpha", **STEPS)
    turning = {"crankshaft", *(f"conrod{i}" for i in range(1, 9))}
    for axes, bodies in zip(run.plot().axes[:2], (set(run.model.bodies), turning), strict=True):
        shown = {line.get_label().split()[0] for line in axes.lines}
        words = axes.get_title().replace("\n", " ").partition("without ")[2]
        assert shown | {*words.split(", ")} == bodies and not shown & {*words.split(", ")}
    assert "without" not in lgint.integrate(lgint.models.heavy_top(), "rk44", **STEPS).plot().axes[0].get_title()


def test_panels_without_anything_to_show_are_left_out():
    top = lgint.models.heavy_top
    whole = ["paths of the centres of mass", "angular velocity, body axes", "change of total energy"]
    assert titles(lgint.integrate(top(), "genalpha", **STEPS)) == [*whole, "largest constraint residual"]
    free = lgint.ModelBuilder()
    free.add_body("free", mass=1.0, inertia=(1, 2, 3), angular_velocity=(1, 2, 3))
    assert titles(lgint.integrate(free.build(), "rk44", **STEPS)) == whole
    assert titles(hanging()) == [whole[0], whole[2], "largest constraint residual"]
    bare = lgint.CallableModel(space="Rn", q0=[1.0], v0=[0.0], mass=lambda t, q: np.eye(1), force=lambda t, q, v: -q)
    assert titles(lgint.integrate(bare, "rk44", **STEPS)) == ["coordinates", "velocities"]


def test_every_axis_has_a_unit():
    for run in (
        lgint.integrate(lgint.models.slider_crank(), "genalpha", **STEPS),
        lgint.integrate(lgint.models.mass_spring(), "genalpha", **STEPS),
    ):
        for axes in run.plot().axes:
            assert axes.get_ylabel() and axes.get_xlabel() in ("t / s", "x / m")


@pytest.mark.parametrize(("low", "high"), [(2e-3, 2.1e-3), (0.8, 3), (2e-7, 6e-7), (1e-3, 1e3), (0.03, 0.9)])
def test_logarithmic_axes_have_two_labelled_ticks(low, high):
    figure = Figure()
    axes = figure.add_subplot()
    axes.semilogy([0, 1], [low, high])
    decades(axes, "y")
    drawn(figure)
    bottom, top = axes.get_ylim()
    labels = [label.get_text() for label in axes.get_yticklabels() if bottom <= label.get_position()[1] <= top]
    assert len([label for label in labels if label]) >= 2


def test_triangles_show_one_decimal_of_orders_that_are_not_whole():
    h = np.array([1e-3, 2e-3, 4e-3, 8e-3])
    for order, text in ((2.1, "2"), (1.9, "2"), (2.3, "2.3"), (1.84, "1.8")):
        axes = Figure().add_subplot()
        axes.plot(h, h**order)
        logarithmic(axes, "h / s", "error")
        triangles(axes, [Slope(order, h, h**order)], [(h, h**order)])
        assert [label.get_text() for label in axes.texts] == [text]


def test_a_movie_shows_the_times_of_its_states():
    """Without dense output these are the saved times nearest to equal intervals."""
    run = lgint.integrate(lgint.models.heavy_top(), "rk44", t_end=1.0, h=1e-2, save_every=25)
    assert frames_of(run.animate(seconds=1.0, fps=4), 4) == ["t = 0.000 s", "t = 0.250 s", "t = 0.750 s", "t = 1.000 s"]


def test_load_factors_are_not_called_seconds():
    rest = hanging()
    assert {axes.get_xlabel() for axes in rest.plot().axes} == {"x / m", "load factor"}
    assert frames_of(rest.animate(seconds=1.0, fps=2), 1) == ["load factor 0.500"]
    table = rest._repr_html_()
    assert "load factors" in table and "0.5 ... 1" in table and "... 1 s" not in table
    assert repr(rest) == "<lgint.Trajectory equilibrium: 2 states, load factor 0.5 ... 1>"
    assert (
        rest.to_xarray().sizes["load"] == 2
        and rest.view().figure.layout.sliders[0].currentvalue.prefix == "load factor "
    )


def test_moving_supports_of_equilibria_are_where_they_are_at_their_time():
    """They are not drawn at a time as large as the load factor."""
    builder = lgint.ModelBuilder()
    builder.add_support("lift", motion=lambda t: np.array([[0, 0, 2 * t * t], [0, 0, 4 * t], [0, 0, 4]]))
    builder.add_body("weight", mass=1.0, inertia=np.eye(3))
    builder.add_joint("rigid", "lift", "weight", point=(0, 0, 0))
    rest = lgint.equilibrium(builder.build(), (0.5, 1.0), time=0.5)
    movie = rest.animate(seconds=1.0, fps=2)
    frames_of(movie, 1)
    assert movie._stage._seen.bodies[0].points[0].mean(axis=0)[2] == pytest.approx(0.5, abs=1e-9)
