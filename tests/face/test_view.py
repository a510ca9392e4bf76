"""Views of runs: the shapes that they draw and their positions; test_browser.py shows them in a browser."""

import base64
import gzip
import json
import re
import sys

import numpy as np
import pytest
from PIL import Image

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
    view = pendulum.view(frames=len(pendulum), boxes={"bar": (0.1, 0.2, 1.1)})  # it contains the pin
    corners = 0.5 * np.array([[x, y, z] for x in (-0.1, 0.1) for y in (-0.2, 0.2) for z in (-1.1, 1.1)])
    assert len(view.figure.frames) == len(pendulum)
    for i in (0, 17, 50):
        expected = [pendulum.point("bar", corner)[i] for corner in corners]
        assert np.allclose(points(view.figure.frames[i].data[0]), expected, atol=1e-6)
    faces = view.figure.data[0]
    edges = {
        frozenset(pair) for a, b, c in zip(faces.i, faces.j, faces.k, strict=True) for pair in ((a, b), (b, c), (c, a))
    }
    assert len(faces.i) == 12 and len(edges) == 18  # a closed surface: Euler's 8 - 18 + 12 = 2


def test_joints_and_paths(pendulum):
    view = pendulum.view(frames=11)
    _, joint, path = view.figure.data
    assert {*joint.text} == {"pin"} and np.allclose(points(joint).mean(axis=0), 0, atol=1e-7)
    assert path.name == "bar" and np.allclose(points(path), pendulum.position("bar"), atol=1e-6)
    assert len(pendulum.view(frames=2, paths=False).figure.data) == 2


def test_springs_and_nodes_of_flexible_bodies():
    def masses(b):
        b.add_body("bob", mass=1.0, inertia=(1, 1, 1))
        b.add_spring(lgint.ground, "bob", point=[(0, 0, 1), (0, 0.1, 0)], stiffness=1e3, length=1.0)

    data = lgint.integrate(build(masses), "rk44", t_end=0.1, h=0.01).view(frames=3).figure
    coil = points(data.data[1])
    assert np.allclose(coil[[0, -2]], [(0, 0, 1), (0, 0.1, 0)], atol=1e-7) and np.isnan(coil[-1]).all()
    assert points(data.frames[2].data[1])[-2, 2] < -1e-3
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


def played(run, **given):
    """The seconds in which a page plays a run, and the number of its states."""
    view = run.view(**given)
    return json.loads(re.search(r"const settings = (.*);", view._page())[1])["seconds"], len(view.figure.frames)


def test_a_view_plays_in_real_time():
    """It takes as long as the run, but at least 1 s and at most 60 s, with 25 states per second, from 51 to 201."""

    def lasting(seconds):
        return lgint.integrate(systems.pendulum(), "rk44", t_end=seconds, h=seconds / 400)

    assert played(lasting(4.0)) == (4.0, 101)
    assert played(lasting(0.1)) == (1.0, 51)
    assert played(lasting(100.0)) == (60.0, 201)
    assert played(lasting(4.0), seconds=2.5, frames=7) == (2.5, 7)


def test_the_side_from_which_a_view_is_seen(pendulum):
    """An azimuth of 90 degrees looks along -y; a plane fills the picture with its axes, the second one upwards."""

    def camera(**given):
        found = pendulum.view(frames=2, **given).figure.layout.scene.camera
        eye, up = (np.array([v.x, v.y, v.z]) for v in (found.eye, found.up))
        return eye / np.linalg.norm(eye), up / np.linalg.norm(up), found.projection.type

    eye, up, kind = camera(camera=(30, 90))
    assert np.allclose(eye, (0, np.cos(np.pi / 6), 0.5)) and np.allclose(up, (0, 0, 1)) and kind == "perspective"
    for plane, normal, second in (
        ("xy", (0, 0, 1), (0, 1, 0)),
        ("xz", (0, -1, 0), (0, 0, 1)),
        ("yz", (1, 0, 0), (0, 0, 1)),
    ):
        eye, up, kind = camera(plane=plane)
        assert np.allclose(eye, normal) and np.allclose(up, second) and kind == "orthographic"
    assert pendulum.view(frames=2, plane="xz").figure.layout.scene.yaxis.visible is False


def test_a_dark_view(pendulum):
    light, dark = (pendulum.view(frames=2, dark=dark).figure.layout for dark in (False, True))
    assert light.paper_bgcolor == "white" and dark.paper_bgcolor == "#131416"
    assert light.scene.xaxis.color != dark.scene.xaxis.color
    for given, written in ((None, "null"), (True, "true"), (False, "false")):
        assert f'"dark": {written}' in pendulum.view(frames=2, dark=given)._page()


def test_a_view_is_saved_as_a_film(pendulum, tmp_path):
    """It has the options of the view; 1 s has 25 pictures."""
    told = []
    pendulum.view(seconds=1.0, plane="yz", dark=True, paths=False).save(tmp_path / "film.gif", progress=told.append)
    with Image.open(tmp_path / "film.gif") as film:
        assert film.n_frames == 25 and np.allclose(told, np.arange(1, 26) / 25)
        assert film.convert("RGB").getpixel((2, 2)) == (0x13, 0x14, 0x16)


def test_equilibria_have_a_slider_of_loads():
    def hanging(b):
        b.add_body("bob", mass=1.0, inertia=(1, 1, 1))
        b.add_spring(lgint.ground, "bob", point=[(0, 0, 1), (0, 0, 0)], stiffness=1e3, length=1.0)
        b.add_joint("prismatic", lgint.ground, "bob", point=(0, 0, 0), axis=(0, 0, 1))

    slider = lgint.equilibrium(build(hanging), loads=[0.5, 1.0]).view().figure.layout.sliders[0]
    assert slider.currentvalue.prefix == "load factor " and [step.label for step in slider.steps] == ["0.5", "1"]


def unpacked(page, element):
    packed = re.search(f'<script id="{element}" type="application/gzip">([^<]*)</script>', page)[1]
    return gzip.decompress(base64.b64decode(packed)).decode()


def test_a_page_needs_nothing_else(pendulum, tmp_path):
    """The library and the figure are in the page, compressed; nothing refers to another place."""
    view = pendulum.view(frames=3)
    view.save(tmp_path / "view.html")
    with pytest.raises(ValueError, match=r"path: a name that ends in \.html, \.htm, \.gif or \.mp4 expected.*savefig"):
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
        ({"camera": (100, 0)}, "camera: an elevation from -90 to 90"),
        ({"camera": 3}, "camera: shape"),
        ({"plane": "zx"}, "plane 'zx'"),
        ({"plane": "xz", "camera": (10, 20)}, "camera: a plane is seen along its normal"),
        ({"dark": "yes"}, "dark: True, False or None"),
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
