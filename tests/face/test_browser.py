"""Views in a real browser, without a network: it draws them, the mouse turns them, and the slider moves the bodies."""

import io

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.image import imread

import lgint
from lgint._run.scene import COLORS

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def run():
    return lgint.integrate(lgint.models.heavy_top(omega0=(0, 20, 0)), "genalpha", t_end=1.0, h=5e-3)


@pytest.fixture
def page(browser):
    """An empty page, which must neither log an error nor ask for anything but itself."""
    context = browser.new_context(offline=True, viewport={"width": 500, "height": 400})
    page = context.new_page()
    requests, errors = [], []
    page.on("request", lambda request: requests.append(request.url))
    page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: errors.append(str(error)))
    yield page
    context.close()
    assert errors == [] and all(url.startswith(("file:", "about:", "blob:", "data:")) for url in requests)


def picture(page):
    """The picture in the window, (height, width, 3), as soon as it no longer changes."""
    page.wait_for_timeout(150)
    before, now = None, page.screenshot()
    while before != now:
        page.wait_for_timeout(100)
        before, now = now, page.screenshot()
    return imread(io.BytesIO(now), format="png")[:, :, :3]


def share(image, color, tolerance=0.25):
    """The share of pixels that have this colour, in whatever shade."""
    shade = image @ to_rgb(color) / np.dot(to_rgb(color), to_rgb(color))
    away = np.linalg.norm(image - shade[..., None] * to_rgb(color), axis=-1)
    return np.mean((away < 0.08) & (np.abs(shade - 0.85) < tolerance))


def changed(before, after):
    """The share of pixels in which two pictures differ."""
    return np.mean(np.abs(before - after).max(axis=-1) > 0.05)


def slide(page, part):
    """Drag the slider to this part of its length."""
    rail, grip = (page.locator(f".slider-{what}-touch-rect, .slider-{what}-rect").first for what in ("rail", "grip"))
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
    later = picture(page)
    assert abs(time_shown(page) - 0.6) <= 0.1
    assert changed(first[:300], later[:300]) > 0.005 and share(later, COLORS[0]) > 0.005

    page.mouse.move(250, 150)
    page.mouse.down()
    page.mouse.move(350, 180, steps=4)
    page.mouse.up()
    turned = picture(page)
    assert changed(later[:300], turned[:300]) > 0.02 and share(turned, COLORS[0]) > 0.005

    slide(page, 0.0)  # the slider does not move the camera, which the mouse has moved
    assert time_shown(page) == 0.0
    assert changed(first[:300], picture(page)[:300]) > 0.02


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
