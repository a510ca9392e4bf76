"""Views in a real browser, without a network: it draws them, the mouse turns them, and the slider moves the bodies."""

import io
import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.image import imread
from playwright import sync_api as playwright

import lgint
from lgint._run.scene import COLORS

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def run():
    return lgint.integrate(lgint.models.heavy_top(omega0=(0, 20, 0)), "genalpha", t_end=1.0, h=5e-3)


@pytest.fixture
def page(browser):
    """An empty page, which must not log an error or request anything but itself."""
    context = browser.new_context(offline=True, viewport={"width": 500, "height": 400})
    page = context.new_page()
    requests, errors = [], []
    page.on("request", lambda request: requests.append(request.url))
    page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: errors.append(str(error)))
    yield page
    context.close()
    assert errors == [] and all(url.startswith(("file:", "about:", "blob:", "data:")) for url in requests)


def picture(page, unlike=None):
    """The picture in the window, (height, width, 3), as soon as it no longer changes and shows a body.

    What the mouse did is drawn only later, so a picture `unlike` the one before may be asked for. Whatever there is
    after 30 s is returned, for the assertions to judge.
    """
    before, end = None, time.monotonic() + 30
    while True:
        page.wait_for_timeout(150)
        now = imread(io.BytesIO(page.screenshot()), format="png")[:, :, :3]
        still = before is not None and np.array_equal(before, now)
        awaited = share(now, COLORS[0]) > 0 and (unlike is None or changed(unlike, now) > 0.002)
        if still and awaited or time.monotonic() > end:
            return now
        before = now


def share(image, color, tolerance=0.25):
    """The share of pixels that have this colour, in any shade."""
    shade = image @ to_rgb(color) / np.dot(to_rgb(color), to_rgb(color))
    away = np.linalg.norm(image - shade[..., None] * to_rgb(color), axis=-1)
    return np.mean((away < 0.08) & (np.abs(shade - 0.85) < tolerance))


def changed(before, after):
    """The share of pixels in which two pictures differ."""
    return np.mean(np.abs(before - after).max(axis=-1) > 0.05)


def slide(page, part, frame=None):
    """Drag the slider to a part of its length; it may be in a frame of the page."""
    rail, grip = (
        (frame or page).locator(f".slider-{what}-touch-rect, .slider-{what}-rect").first for what in ("rail", "grip")
    )
    whole, knob = rail.bounding_box(), grip.bounding_box()
    page.mouse.move(knob["x"] + knob["width"] / 2, knob["y"] + knob["height"] / 2)
    page.mouse.down()
    page.mouse.move(whole["x"] + part * whole["width"], knob["y"] + knob["height"] / 2, steps=4)
    page.mouse.up()


def time_shown(page):
    return float(page.locator(".slider-label").first.text_content().removeprefix("t = ").removesuffix(" s"))


def test_a_page_is_drawn_turns_and_moves(run, page, tmp_path):
    run.view(frames=21).save(tmp_path / "view.html")
    page.goto((tmp_path / "view.html").as_uri())
    page.wait_for_selector(".slider-label")
    first = picture(page)
    assert share(first, COLORS[0]) > 0.005  # the box of the top
    assert time_shown(page) == 0.0

    slide(page, 0.6)
    later = picture(page, unlike=first)
    assert abs(time_shown(page) - 0.6) <= 0.1
    assert changed(first[:300], later[:300]) > 0.005 and share(later, COLORS[0]) > 0.005

    page.mouse.move(250, 150)
    page.mouse.down()
    page.mouse.move(350, 180, steps=4)
    page.mouse.up()
    turned = picture(page, unlike=later)
    assert changed(later[:300], turned[:300]) > 0.02 and share(turned, COLORS[0]) > 0.005

    slide(page, 0.0)  # the slider does not move the camera, which the mouse has moved
    assert time_shown(page) == 0.0
    assert changed(first[:300], picture(page, unlike=turned)[:300]) > 0.02


def test_what_a_notebook_shows(run, page, tmp_path):
    """Two views in one page do not disturb each other."""
    shown = "".join(run[first:].view(frames=3)._repr_html_() for first in (0, 100))
    (tmp_path / "page.html").write_text(f"<!doctype html><body style='margin: 0'>{shown}</body>")
    page.set_viewport_size({"width": 500, "height": 980})
    page.goto((tmp_path / "page.html").as_uri())
    for frame, start in zip(page.frames[1:], (0.0, 0.5), strict=True):
        frame.wait_for_selector(".slider-label")
        assert time_shown(frame) == start
    image = picture(page)
    assert share(image[:480], COLORS[0]) > 0.005 and share(image[500:], COLORS[0]) > 0.005


def test_the_button_plays_to_the_end(run, page, tmp_path):
    """It shows the states at their times, in real time: the states that come too late are left out."""
    run.view(frames=21).save(tmp_path / "view.html")
    page.goto((tmp_path / "view.html").as_uri())
    page.wait_for_selector(".slider-label")
    first = picture(page)
    page.get_by_text("\u25b6", exact=True).click()
    page.get_by_text("t = 1 s", exact=True).wait_for()
    assert changed(first[:300], picture(page, unlike=first)[:300]) > 0.005


@pytest.mark.parametrize("given", [None, True, False])
def test_a_page_follows_the_theme_of_its_reader(run, page, tmp_path, given):
    """Unless it is told whether to be dark."""
    run.view(frames=2, dark=given).save(tmp_path / "view.html")
    page.emulate_media(color_scheme="dark")
    page.goto((tmp_path / "view.html").as_uri())
    page.wait_for_selector(".slider-label")
    dark = given is not False
    image = picture(page)
    assert (image[5, 250].max() < 0.1) == dark
    page.emulate_media(color_scheme="light")
    if given is None:
        assert picture(page, unlike=image)[5, 250].min() == 1.0


# ---- JupyterLab itself ----


@pytest.fixture
def lab(tmp_path):
    """The address of a JupyterLab on this machine that serves `tmp_path`, and knows nothing of its user's settings."""
    settings = tmp_path / "settings"
    (settings / "labconfig").mkdir(parents=True)
    quiet = {"disabledExtensions": {"@jupyterlab/apputils-extension:announcements": True}}
    (settings / "labconfig" / "page_config.json").write_text(json.dumps(quiet))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    paths = {f"JUPYTER_{kind}_DIR": str(settings) for kind in ("CONFIG", "DATA", "RUNTIME")}
    package = str(Path(lgint.__file__).parents[1])
    options = [f"--port={port}", "--ip=127.0.0.1", "--no-browser", "--allow-root", "--IdentityProvider.token="]
    with open(tmp_path / "server.log", "wb") as log:
        server = subprocess.Popen(
            [sys.executable, "-m", "jupyterlab", *options, f"--ServerApp.root_dir={tmp_path}"],
            env=os.environ | paths | {"LGINT_STEPS": "200", "PYTHONPATH": package},
            stdout=log,
            stderr=log,
        )
    try:
        yield f"http://127.0.0.1:{port}/"
    finally:
        server.terminate()
        server.wait()


def opened(page, address):
    """Opens an address, whose server may still be starting."""
    for _ in range(600):
        try:
            return page.goto(address)
        except playwright.Error:
            page.wait_for_timeout(100)
    raise TimeoutError(address)


def test_a_notebook_in_jupyterlab(browser, lab, tmp_path):
    """The first notebook, up to its view, is run by the menu; the slider of the view moves the picture."""
    notebook = json.loads((Path(__file__).parents[2] / "notebooks" / "start_here.ipynb").read_text())
    last = next(i for i, cell in enumerate(notebook["cells"]) if "".join(cell["source"]) == "run.view()")
    notebook["cells"] = notebook["cells"][: last + 1]
    (tmp_path / "start.ipynb").write_text(json.dumps(notebook))
    with browser.new_context(viewport={"width": 1100, "height": 900}) as context:
        page = context.new_page()
        page.set_default_timeout(120_000)
        requests = []
        page.on("request", lambda request: requests.append(request.url))
        opened(page, f"{lab}lab/tree/start.ipynb")
        page.get_by_text("Python 3 (ipykernel) | Idle").wait_for()
        page.get_by_role("menuitem", name="Run", exact=True).click()
        page.get_by_text("Run All Cells", exact=True).click()
        page.locator("iframe").scroll_into_view_if_needed()
        view = page.frame_locator("iframe")
        view.locator(".slider-label").first.wait_for()
        first = picture(page)
        assert share(first, COLORS[0]) > 0.002 and time_shown(view) == 0.0
        slide(page, 0.6, view)
        assert abs(time_shown(view) - 1.2) <= 0.2  # the run lasts 2 s
        assert changed(first, picture(page, unlike=first)) > 0.002
        assert all(url.startswith((lab, "data:", "blob:", "about:")) for url in requests)
