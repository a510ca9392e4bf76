"""What a notebook shows of trajectories and models: pictures, animations, short texts and tables."""

import re
from xml.etree import ElementTree

import numpy as np
import pytest
from IPython.core.formatters import DisplayFormatter
from matplotlib import pyplot

import lgint
from face import systems
from face.tops import functions


@pytest.fixture(scope="module")
def run():
    return lgint.integrate(systems.double_pendulum(), "rk44", t_end=0.1, h=1e-2)


@pytest.fixture(scope="module")
def crank_drive():
    return lgint.integrate(lgint.models.crank_drive_v8(), "genalpha", t_end=2e-4, h=1e-4)


def shown(thing):
    """The representations of an object that a notebook asks for, by MIME type."""
    return DisplayFormatter().format(thing)[0]


# ---- plots ----


def test_a_plot_is_shown_without_a_window(run, tmp_path):
    figure = run.plot()
    assert shown(figure)["image/png"].startswith(b"\x89PNG")
    assert len(figure.axes) == 4 and pyplot.get_fignums() == []
    figure.savefig(tmp_path / "run.pdf")
    assert (tmp_path / "run.pdf").read_bytes().startswith(b"%PDF")


@pytest.mark.parametrize("what", ["paths", "angular_velocities", "energy", "residuals"])
def test_one_panel_in_axes_of_the_caller(run, what):
    figure, axes = pyplot.subplots(subplot_kw={"projection": "3d"} if what == "paths" else {})
    try:
        assert run.plot(what, ax=axes) is figure
        whole = run.plot().axes[["paths", "angular_velocities", "energy", "residuals"].index(what)]
        alone = run.plot(what).axes[0]
        assert len(axes.lines) == len(whole.lines) == len(alone.lines) > 0
        assert axes.get_title() == whole.get_title() == alone.get_title()
    finally:
        pyplot.close(figure)


def test_the_panel_that_axes_are_for(run):
    figure = pyplot.figure()
    try:
        flat, solid = figure.add_subplot(1, 2, 1), figure.add_subplot(1, 2, 2, projection="3d")
        run.plot(ax=flat)
        run.plot(ax=solid)
        assert flat.get_title().startswith("angular velocity") and solid.get_title().startswith("paths")
        with pytest.raises(ValueError, match="ax: axes with projection='3d' expected for 'paths'"):
            run.plot("paths", ax=flat)
        with pytest.raises(ValueError, match="ax: axes without projection='3d' expected for 'energy'"):
            run.plot("energy", ax=solid)
        with pytest.raises(ValueError, match="what 'enrgy' .did you mean 'energy'"):
            run.plot("enrgy")
    finally:
        pyplot.close(figure)


def test_a_plot_tells_which_bodies_it_leaves_out(run, crank_drive):
    titles = [axes.get_title() for axes in crank_drive.plot().axes]
    assert titles[0].split("\n")[1].startswith("without conrod1") and "without" in titles[1]
    assert len(crank_drive.plot("paths").axes[0].lines) == 8
    assert not any("bodies)" in axes.get_title() for axes in run.plot().axes)


def test_plots_without_bodies_energy_or_constraints():
    model = lgint.CallableModel("R3xSO3", **{**functions(), "energy": None})
    titles = [axes.get_title() for axes in lgint.integrate(model, "rk44", t_end=0.01, h=1e-3).plot().axes]
    assert titles == ["coordinates (first 8 of 12)", "velocities", "largest constraint residual"]
    free = lgint.models.free_body(formulation="SE3")
    axes = lgint.integrate(free, "rk44", t_end=0.1, h=1e-2).plot().axes
    assert [a.get_title() for a in axes][2:] == ["change of total energy"]


# ---- animations ----


def test_an_animation_has_as_many_frames_as_its_time_takes(run):
    movie = run.animate(0.7, fps=10)
    html = shown(movie)["text/html"]
    assert len(set(re.findall(r"frames\[(\d+)\] = ", html))) == 7
    assert "new Animation(frames, img_id, slider_id, 100" in html  # milliseconds per frame
    assert "image/png" not in shown(movie) and pyplot.get_fignums() == []
    assert "<link" not in html and 'class="fa' not in html and "\u25b6" in html  # nothing is loaded from a network


@pytest.mark.parametrize("dense", [True, False])
def test_frames_are_at_equal_steps_of_time(dense):
    """A body moves at 2 m/s. Frames show it at equal times with dense output, otherwise at the nearest saved states."""
    b = lgint.ModelBuilder()
    b.add_body("ball", mass=1.0, inertia=(1, 1, 1), velocity=(2, 0, 0))
    run = lgint.integrate(b.build(), "dopri5", t_end=1.0, rtol=1e-6, stops=[0.1, 0.35], dense_output=dense)
    movie = run.animate(1.0, fps=11)
    seen = [movie._stage._seen.bodies[0].points[i].mean(axis=0)[0] for i in range(11)]
    times = np.linspace(0, 1, 11)
    nearest = run.t[np.abs(times[:, None] - run.t).argmin(axis=1)]
    assert np.allclose(seen, 2 * (times if dense else nearest), atol=1e-12)
    movie.to_jshtml()  # otherwise matplotlib warns that the animation was never used


def test_an_animation_of_one_state():
    run = lgint.integrate(systems.pendulum(), "rk44", t_end=0.1, h=0.1, t_eval=[0.05])
    assert "text/html" in shown(run.animate(0.1, fps=20))


@pytest.mark.parametrize("given", [{"seconds": 0.0}, {"fps": -1.0}, {"seconds": np.inf}])
def test_bad_animations(run, given):
    with pytest.raises(ValueError, match=next(iter(given))):
        run.animate(**given)


# ---- texts and tables ----


def things():
    top = lgint.models.heavy_top()
    b = lgint.ModelBuilder()
    b.add_body("arm", mass=1.0, inertia=(1, 1, 1))
    stepper = lgint.Stepper(top, "rk44")
    stepper.step(0.25)
    return {
        "trajectory": lgint.integrate(top, "genalpha", t_end=0.01, h=1e-3, rho_inf=0.8),
        "study": lgint.study(top, "rk44", [2e-3, 1e-3], t_end=0.01),
        "report": lgint.check(top, points=1),
        "model": top,
        "builder": b,
        "stepper": stepper,
        "modes": lgint.modal.particles([1.0, 1.0, 1.0], np.eye(3), np.ones((3, 3, 1)), [1.0]),
    }


def test_texts_are_short_and_tables_well_formed():
    for name, thing in things().items():
        assert len(repr(thing)) < 120 and repr(thing).startswith("<lgint."), name
        if name in ("trajectory", "study", "report"):
            table = ElementTree.fromstring(shown(thing)["text/html"])
            widths = {len(row) for row in table.iter("tr")}
            assert len(widths) == 1 and len(list(table.iter("tr"))) >= 3


def test_tables_say_what_texts_say():
    found = things()
    study = found["study"]
    cells = [cell.text for cell in ElementTree.fromstring(shown(study)["text/html"]).iter("td")]
    assert [cell for cell in cells if cell] == [word for line in str(study).splitlines()[2:] for word in line.split()]
    report = found["report"]
    cells = [cell.text for cell in ElementTree.fromstring(shown(report)["text/html"]).iter("td")]
    assert cells[::3] == [item.name for item in report.items] and set(cells[2::3]) == {"ok"}
    assert f"{len(report.items)} of {len(report.items)} comparisons hold" in repr(report)
    assert "rho_inf=0.8" in shown(found["trajectory"])["text/html"]


def tables(thing):
    """The tables that a notebook shows of a model or a builder: by caption the cells of their rows."""
    html = ElementTree.fromstring(f"<div>{shown(thing)['text/html']}</div>")
    assert html.findtext("p") == repr(thing)
    return {t.findtext("caption"): [[cell.text or "" for cell in row] for row in t.iter("tr")] for t in html[1:]}


def test_models_and_builders_list_their_parts():
    builder = lgint.ModelBuilder(formulation="SE3")
    assert tables(builder) == {}
    builder.add_body("<arm>", mass=2.5, inertia=(1, 1, 1))
    builder.add_support("wall & co", position=(0, 0, 1))
    builder.add_body("link", mass=1, inertia=(1, 1, 1), position=(1, 0, 0), formulation="minimal")
    before = tables(builder)
    assert before["bodies: 2"] == [
        ["name", "formulation", "mass / kg"],
        ["<arm>", "SE3", "2.5"],
        ["link", "minimal", "1"],
    ]
    builder.add_joint("revolute", "<arm>", "link", point=(0.5, 0, 0), axis=(0, 0, 1), name="elbow")
    builder.add_spring("wall & co", "<arm>", stiffness=1.0, name="spring")
    builder.add_joint_drive("elbow", stiffness=1.0, name="drive")
    builder.add_control(lambda state: [0.0], joints=["elbow"], name="servo")
    found = tables(builder)
    assert found == tables(builder.build())
    assert {name: rows[1:] for name, rows in found.items() if not name.startswith("bodies")} == {
        "supports: 1": [["wall & co"]],
        "joints: 1": [["elbow", "revolute", "<arm> and link"]],
        "forces: 2": [["spring", "spring", "wall & co and <arm>"], ["drive", "drive", "angle of elbow"]],
        "controls: 1": [["servo", "angle of elbow"]],
    }


def test_a_rod_is_one_line():
    builder = lgint.ModelBuilder()
    builder.add_body("tip", mass=1.0, inertia=(1, 1, 1), position=(1, 0, 0))
    rod = {"start": (0, 0, 0), "end": (1, 0, 0), "edges": 4, "stiffness": (1,) * 6, "inertia": (1,) * 4}
    builder.add_rod("whip", **rod, clamped=[0], attached={-1: "tip"}, load=(0, 0, -1), drag=0.1)
    found = tables(builder)
    assert [*found] == ["bodies: 1", "rods: 1"] and [row[0] for row in found["bodies: 1"]] == ["name", "tip"]
    assert found["rods: 1"][1] == ["whip", "5", "4", ""] and tables(builder.build()) == found


def test_tables_of_large_models_end_early(crank_drive):
    found = tables(crank_drive.model)
    assert [*found] == ["bodies: 17", "joints: 25", "forces: 1"]
    assert found["bodies: 17"][-1] == ["... 3 more"] and len(found["bodies: 17"]) == 16
    assert found["joints: 25"][-2:] == [["crank_pin5", "revolute", "crankshaft and conrod5"], ["... 11 more"]]
