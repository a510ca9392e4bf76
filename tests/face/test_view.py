"""Views of runs: the shapes that they draw and their positions; test_browser.py shows them in a browser."""

import base64
import gzip
import json
import re
import sys

import numpy as np
import pytest

import lgint
from face import systems


def points(trace):
    return np.stack([trace.x, trace.y, trace.z], axis=1)


def build(run):
    b = lgint.ModelBuilder(gravity=systems.GRAVITY)
    run(b)
    return b.build()


@pytest.fixture(scope="module")
def pendulum():
    return lgint.integrate(systems.pendulum(omega=3.0), "rk44", t_end=0.5, h=0.01)


def test_a_box_has_the_inertia_of_its_body():
    """A homogeneous box whose edges are not parallel to the axes of the body is drawn with its true edges."""
    edges, mass, turn = np.array([0.3, 0.1, 0.7]), 2.5, systems.turn(0.7, (1, 2, 3))
    principal = mass / 12 * (np.sum(edges**2) - edges**2)

    def body(b):
        b.add_body("box", mass=mass, inertia=turn @ np.diag(principal) @ turn.T, position=(1, 2, 3))

    run = lgint.integrate(build(body), "rk44", t_end=0.1, h=0.1)
    corners = points(run.view(frames=1).figure.data[0]) - (1, 2, 3)
    assert np.allclose(np.abs(corners @ turn), edges / 2, atol=1e-6)


def test_boxes_move_with_their_bodies(pendulum):
    view = pendulum.view(frames=len(pendulum), boxes={"bar": (0.1, 0.2, 0.9)})
    corners = 0.5 * np.array([[x, y, z] for x in (-0.1, 0.1) for y in (-0.2, 0.2) for z in (-0.9, 0.9)])
    assert len(view.figure.frames) == len(pendulum)
    for i in (0, 17, 50):
        expected = [pendulum.point("bar", corner)[i] for corner in corners]
        assert np.allclose(points(view.figure.frames[i].data[0]), expected, atol=1e-6)
    faces = view.figure.data[0]
    edges = {
        frozenset(pair) for a, b, c in zip(faces.i, faces.j, faces.k, strict=True) for pair in ((a, b), (b, c), (c, a))
    }
    assert len(faces.i) == 12 and len(edges) == 18  # a closed surface: Euler's 8 - 18 + 12 = 2


def test_joints_arms_and_paths(pendulum):
    view = pendulum.view(frames=11)
    _, arm, dots, path = view.figure.data
    assert np.allclose(points(arm)[:2], [(0, 0, -0.5), (0, 0, 0)], atol=1e-7) and np.isnan(points(arm)[2]).all()
    assert list(dots.text) == ["pin"] and np.allclose(points(dots), 0, atol=1e-7)
    assert path.name == "bar" and np.allclose(points(path), pendulum.position("bar"), atol=1e-6)
    assert len(pendulum.view(frames=2, paths=False).figure.data) == 3


def test_springs_and_nodes_of_flexible_bodies():
    def masses(b):
        b.add_body("bob", mass=1.0, inertia=(1, 1, 1))
        b.add_spring(lgint.ground, "bob", point=[(0, 0, 1), (0, 0.1, 0)], stiffness=1e3, length=1.0)

    data = lgint.integrate(build(masses), "rk44", t_end=0.1, h=0.01).view(frames=3).figure
    assert np.allclose(points(data.data[1])[:2], [(0, 0, 1), (0, 0.1, 0)], atol=1e-7)
    assert points(data.frames[2].data[1])[1, 2] < -1e-3
    corners, warped = [(1, 1, 0), (-1, 1, 0), (-1, -1, 0), (1, -1, 0)], np.zeros((4, 3, 1))
    warped[:, 2, 0] = (1, -1, 1, -1)
    modes = lgint.modal.particles(np.ones(4), corners, warped, [1e3], nodes={"tip": (corners[0], warped[0])})
    flexible = build(lambda b: b.add_modal_body("beam", modes))
    dots = lgint.integrate(flexible, "rk44", t_end=0.01, h=0.01).view().figure.data[1]
    assert "beam.tip" in dots.text


@pytest.mark.parametrize("name", ["roll_up", "flying_spaghetti"])
def test_rods_are_tubes_about_their_nodes(name):
    run = lgint.integrate(getattr(lgint.models, name)(), "herk4", t_end=0.04, h=2e-3)
    rod = next(iter(run.model.rods))
    tube = run.view(frames=len(run)).figure.frames[10].data[0]
    rings = points(tube).reshape(-1, 10, 3)
    assert np.allclose(rings.mean(axis=1), run.line(rod)[10], atol=1e-5)
    radii = np.linalg.norm(rings - rings.mean(axis=1, keepdims=True), axis=2)
    assert np.ptp(radii) < 1e-5 * np.abs(rings).max() and radii.min() > 0
    along = np.gradient(rings.mean(axis=1), axis=0)
    across = np.einsum("nij,nj->ni", rings - rings.mean(axis=1, keepdims=True), along)
    assert np.abs(across).max() < 0.2 * radii.max() * np.linalg.norm(along, axis=1).max()


def test_frames_of_dense_output_and_of_saved_states(pendulum):
    labels = [step.label for step in pendulum.view(frames=6).figure.layout.sliders[0].steps]
    assert labels == ["0", "0.1", "0.2", "0.3", "0.4", "0.5"]
    few = lgint.integrate(systems.pendulum(), "rk44", t_end=0.3, h=0.1)
    assert len(few.view(frames=100).figure.frames) == 4  # one frame for each saved state
    dense = lgint.integrate(systems.pendulum(), "rk44", t_end=0.3, h=0.1, dense_output=True)
    assert len(dense.view(frames=100).figure.frames) == 100


def test_equilibria_have_a_slider_of_loads():
    def hanging(b):
        b.add_body("bob", mass=1.0, inertia=(1, 1, 1))
        b.add_spring(lgint.ground, "bob", point=[(0, 0, 1), (0, 0, 0)], stiffness=1e3, length=1.0)
        b.add_joint("prismatic", lgint.ground, "bob", point=(0, 0, 0), axis=(0, 0, 1))

    slider = lgint.equilibrium(build(hanging), loads=[0.5, 1.0]).view().figure.layout.sliders[0]
    assert slider.currentvalue.prefix == "load factor " and [step.label for step in slider.steps] == ["0.5", "1"]


def test_boxes_around_other_bodies_show_their_edges():
    """The box of the slider-crank's rod holds the centre of mass of the crank."""
    run = lgint.integrate(lgint.models.slider_crank(), "genalpha", t_end=0.1, h=1e-3)
    solid, rod = run.view(frames=3).figure.data[:2]
    assert {*solid.text} == {"crank", "slider"} and len(solid.x) == 16
    edges = points(rod).reshape(12, 3, 3)  # from corner to corner, and a gap
    assert np.isnan(edges[:, 2]).all()
    lengths = np.linalg.norm(edges[:, 1] - edges[:, 0], axis=1)
    box = lgint._run.scene.boxes(run.model, ["rod"], None)["rod"]
    assert np.allclose(np.sort(lengths), np.sort(np.repeat(box.size, 4)), rtol=1e-5)
    assert {*run.view(frames=3, boxes={"rod": (0.1, 0.1, 0.3)}).figure.data[0].text} == {"crank", "rod", "slider"}


def unpacked(page, element):
    packed = re.search(f'<script id="{element}" type="application/gzip">([^<]*)</script>', page)[1]
    return gzip.decompress(base64.b64decode(packed)).decode()


def test_a_page_needs_nothing_else(pendulum, tmp_path):
    """The library and the figure are in the page, compressed; nothing refers to another place."""
    view = pendulum.view(frames=3)
    view.save(tmp_path / "view.html")
    with pytest.raises(ValueError, match=r"path: a name that ends in \.html expected.*savefig"):
        view.save(tmp_path / "view.png")
    page = (tmp_path / "view.html").read_text()
    assert re.findall(r"<(?:script|link|img)[^>]*(?:src|href)=", page) == []
    assert len(page) < 2.5e6 and "Plotly" in unpacked(page, "plotly") and "http" not in page
    assert json.loads(unpacked(page, "figure")) == json.loads(view.figure.to_json())
    html = view._repr_html_()
    assert html.startswith("<iframe srcdoc=") and html.count("<") == 2 and "3 frames" in repr(view)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"seconds": 0.0}, "seconds: "),
        ({"frames": 0}, "frames: a whole number >= 1"),
        ({"frames": 2.5}, "frames: "),
        ({"boxes": {"bra": (1, 1, 1)}}, "unknown body 'bra'.*did you mean 'bar'"),
        ({"boxes": {"bar": (1, 0, 1)}}, "boxes of 'bar': three positive lengths"),
        ({"boxes": {"bar": (1, 1)}}, "boxes of 'bar': shape"),
        ({"boxes": ["bar"]}, "boxes: edges by the names"),
        ({"paths": ["foot"]}, "unknown body 'foot'"),
        ({"paths": "bar"}, "paths: True, False or a list"),
        ({"paths": 3}, "paths: True, False or a list"),
    ],
)
def test_views_that_are_refused(pendulum, given, message):
    with pytest.raises(ValueError, match=message):
        pendulum.view(**given)


def test_systems_and_runs_that_have_nothing_to_show(pendulum):
    with pytest.raises(ValueError, match="has no bodies"):
        lgint.integrate(lgint.models.spring_pendulum(), "rk44", t_end=0.1, h=0.05).view()
    with pytest.raises(ValueError, match="no state to show"):
        pendulum[:0].view()


def test_what_to_install(pendulum, monkeypatch):
    monkeypatch.setitem(sys.modules, "plotly", None)
    monkeypatch.delitem(sys.modules, "lgint._run.view", raising=False)
    monkeypatch.delattr("lgint._run.view", raising=False)
    with pytest.raises(ImportError, match=r"views need plotly: pip install 'lgint\[view\]'"):
        pendulum.view()
