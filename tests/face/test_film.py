"""Films of runs: their options, their files, and what is where in their pictures."""

import stat
import sys

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from PIL import Image

import lgint
from face import systems
from lgint._run import film
from lgint._run.scene import COLORS


@pytest.fixture(scope="module")
def run():
    return lgint.integrate(systems.double_pendulum(), "rk44", t_end=0.1, h=1e-2)


@pytest.fixture(scope="module")
def flying():
    """A ball that moves from the origin along x and z."""
    b = lgint.ModelBuilder()
    b.add_body("ball", mass=1.0, inertia=(0.01, 0.01, 0.01), velocity=(2, 0, 1))
    return lgint.integrate(b.build(), "rk44", t_end=1.0, h=1e-2)


def picture(run, i=0, **given):
    """A picture of a film, (height, width, 3) from 0 to 1."""
    movie = run.animate(1.0, fps=5, **given)
    return np.array([*movie.pictures()][i]) / 255


def opened(path):
    """The number of pictures in a file, their size, and the time of one, ms."""
    with Image.open(path) as image:
        return image.n_frames, image.size, image.info.get("duration")


def colored(image, color):
    """Where pixels have this colour in some shade, as rows and columns."""
    rgb = np.array(to_rgb(color))
    shade = image @ rgb / (rgb @ rgb)
    away = np.linalg.norm(image - shade[..., None] * rgb, axis=-1)
    return np.nonzero((away < 0.08) & (shade > 0.4) & (shade < 1.2))


def test_a_film_has_its_size_in_pixels(run, tmp_path):
    for given, size in (({}, film.SIZE), ({"size": (320, 240)}, (320, 240))):
        movie = run.animate(0.2, fps=10, **given)
        movie.save(tmp_path / "film.gif")
        assert opened(tmp_path / "film.gif") == (2, size, 100)
        assert [*movie.pictures()][0].size == size


def test_resolution_scales_a_film(run, tmp_path):
    movie = run.animate(0.2, fps=10, size=(320, 240))
    movie.save(tmp_path / "film.gif", dpi=2 * film.DOTS, fps=5)
    assert opened(tmp_path / "film.gif") == (2, (640, 480), 200)
    assert [*movie.pictures()][0].size == (320, 240)


def test_a_plane_has_its_first_axis_to_the_right_and_its_second_one_upwards(flying):
    """The ball moves by 2 m along x and 1 m along z."""
    for plane, right, up in (("xz", 2, 1), ("xy", 2, 0), ("yz", 0, 1)):
        (y0, x0), (y1, x1) = (
            np.mean(colored(picture(flying, i, plane=plane, trail=False), COLORS[0]), axis=1) for i in (0, 4)
        )
        if right:
            assert x1 - x0 > 100 and (y0 - y1) / (x1 - x0) == pytest.approx(up / right, abs=0.02)
        else:
            assert abs(x1 - x0) < 3 and y0 - y1 > 100


def test_the_side_from_which_a_film_is_seen(flying):
    """From the side of -y, x is to the right; from the side of y, it is to the left."""
    for azimuth, sign in ((-90, 1), (90, -1)):
        x0, x1 = (colored(picture(flying, i, camera=(0, azimuth), trail=False), COLORS[0])[1].mean() for i in (0, 4))
        assert sign * (x1 - x0) > 100


def test_a_trail_ends_at_its_body(flying):
    """It begins at the origin and covers no more of the picture than the body has passed."""
    shares = []
    for i in range(5):
        with_trail, without = (picture(flying, i, plane="xz", trail=trail) for trail in (True, False))
        columns = np.flatnonzero((with_trail != without).any(axis=(0, 2)))
        shares.append(np.ptp(columns) if columns.size else 0)
    assert shares[0] == 0 and (np.diff(shares) > 60).all()
    named = picture(flying, 4, plane="xz", trail=["ball"])
    assert np.array_equal(named, picture(flying, 4, plane="xz"))


@pytest.mark.parametrize("size", [(300, 240), (600, 400), (800, 640), (1200, 400)])
def test_films_in_a_plane_have_room_for_the_labels_of_their_axes(flying, size):
    """They leave the outermost pixels of a picture of any size as they are."""
    shown = picture(flying, plane="xz", trail=False, size=size)
    edges = np.concatenate([shown[:2].reshape(-1, 3), shown[-2:].reshape(-1, 3), shown[:, :2].reshape(-1, 3)])
    assert (edges == 1).all() and shown.shape[:2] == size[::-1]


def test_dark_films(flying):
    light, dark = (picture(flying, dark=dark) for dark in (False, True))
    assert (light[:4, :4] == 1).all() and dark[:4, :4].max() < 0.1
    assert len(colored(dark, to_rgb(COLORS[0]) + 0.25 * (1 - np.array(to_rgb(COLORS[0]))))[0]) > 50


def test_boxes_of_a_film(flying):
    small, large = (
        len(colored(picture(flying, boxes={"ball": 3 * [a]}, trail=False), COLORS[0])[0]) for a in (0.2, 0.5)
    )
    assert large > 2 * small > 100


def test_what_a_film_is_saved_as(run, tmp_path):
    movie = run.animate(0.3, fps=10)
    told = []
    movie.save(tmp_path / "film.gif", progress=told.append)
    assert np.allclose(told, (0.1, 0.2, 0.3))
    movie.save(tmp_path / "film.html")
    page = (tmp_path / "film.html").read_text()
    assert page.startswith("<!doctype html>") and "<link" not in page and "frames[2] = " in page
    movie.save(tmp_path / "film.webp", writer="pillow", dpi=70)
    assert opened(tmp_path / "film.webp")[0] == 3
    for name in ("film.png", "film"):
        with pytest.raises(ValueError, match=r"path: a name that ends in \.gif, \.mp4"):
            movie.save(tmp_path / name)
    with pytest.raises(ValueError, match="bitrate: only matplotlib's writers know it"):
        movie.save(tmp_path / "film.gif", bitrate=100)


def test_an_mp4_needs_ffmpeg(run, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    movie = run.animate(0.3, fps=10, size=(200, 100))
    with pytest.raises(ValueError, match=r"path: an \.mp4 needs the program ffmpeg"):
        movie.save(tmp_path / "film.mp4")
    # a program that takes the pictures as ffmpeg does, and writes them to its last argument
    program = tmp_path / "ffmpeg"
    program.write_text(
        f"#!{sys.executable}\nimport sys\nif '-version' not in sys.argv:\n"
        "    open(sys.argv[-1], 'wb').write(sys.stdin.buffer.read())\n"
    )
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    movie.save(tmp_path / "film.mp4")
    assert (tmp_path / "film.mp4").stat().st_size == 3 * 200 * 100 * 4


def test_pictures_of_writers_are_those_of_films(run, tmp_path):
    """Matplotlib's writers draw the whole figure; here only what moves is drawn anew."""
    movie = run.animate(0.2, fps=10)
    fast = [np.array(one) for one in movie.pictures()]
    for i in range(2):
        movie._func(i)
        movie._fig.savefig(tmp_path / "one.png", dpi=film.DOTS, facecolor=movie._fig.get_facecolor())
        with Image.open(tmp_path / "one.png") as image:
            whole = np.array(image.convert("RGB"), dtype=int)
        assert np.mean(np.abs(whole - fast[i]).max(axis=-1) > 32) < 2e-3


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"size": (800, 10)}, "size: width and height of at least 100 pixels"),
        ({"size": 800}, "size: shape"),
        ({"trail": ["foot"]}, "unknown body 'foot'"),
        ({"trail": "ball"}, "trail: True, False or a list"),
        ({"plane": "x"}, "plane 'x'"),
        ({"plane": "xz", "camera": (0, 0)}, "camera: a plane is seen along its normal"),
        ({"camera": (0, 0, 0)}, "camera: shape"),
        ({"dark": None}, "dark: True or False"),
        ({"boxes": {"ball": (0, 1, 1)}}, "boxes of 'ball': three positive lengths"),
    ],
)
def test_films_that_are_refused(flying, given, message):
    with pytest.raises(ValueError, match=message):
        flying.animate(**given)
