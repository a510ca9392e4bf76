"""Films of runs: shaded bodies, rods and joints on axes of equal scale; needs matplotlib."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from os import PathLike
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lgint._args import Array, array, number, shown
from lgint._run import cameras, scene
from lgint._run.cameras import Plane, Side
from lgint._run.drawing import Drawing, Solid, color_of, drawing, followed
from lgint._run.files import path_for
from lgint._run.plot import Picture, style
from lgint._run.progress import progress_bar
from lgint._run.scene import COLORS
from lgint._run.states import States

try:
    from matplotlib import rc_context
    from matplotlib.animation import FFMpegWriter, FuncAnimation
    from matplotlib.backend_bases import FigureCanvasBase
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.collections import LineCollection, PolyCollection
    from matplotlib.colors import to_rgb
    from matplotlib.transforms import Bbox
    from mpl_toolkits.mplot3d import proj3d
    from PIL import Image
except ImportError as error:
    raise ImportError("animations need matplotlib: pip install 'lgint[plot]'") from error

DOTS: Final = 160  # per inch of a film, with which letters are sharp
SIZE: Final = (800, 640)  # pixels
FILLED: Final = (0.92, 0.8)  # parts of the width and the height of a film that axes with their labels take
SUFFIXES: Final = (".gif", ".mp4", ".html", ".htm")
HUES: Final = 255  # colours of a .gif besides the transparent one
LIGHT: Final = (0.45, 0.75, 0.55)  # from the right, from above and from the eye
AMBIENT: Final = 0.62  # brightness of a surface that is turned away from the light


class Options(NamedTuple):
    """The options of `Trajectory.animate`, and the edges of boxes by the names of bodies."""

    seconds: float
    fps: float
    trail: bool | Sequence[str]
    camera: ArrayLike | None
    size: ArrayLike
    plane: Plane | None
    dark: bool
    boxes: Mapping[str, ArrayLike] | None


# ---- the file of a film ----

# symbols of the buttons, for which matplotlib would load a font from the network
SYMBOLS = {
    "minus": "\u2212",
    "fast-backward": "\u23ee",
    "step-backward": "\u2039",
    "play fa-flip-horizontal": "\u25c0",
    "pause": "\u23f8",
    "play": "\u25b6",
    "step-forward": "\u203a",
    "fast-forward": "\u23ed",
    "plus": "+",
}
PAGE = """<!doctype html>
<html>
<head><meta charset="utf-8"><title>Film</title></head>
<body>{film}</body>
</html>
"""


class Movie(FuncAnimation):
    """An animation that notebooks can play without a network, and that `save` writes to a file."""

    _stage: Stage

    def save(
        self,
        filename: str | PathLike[str],
        writer: Any = None,
        fps: float | None = None,
        dpi: float | None = None,
        *,
        progress: bool | Callable[[float], None] = False,
        **more: Any,
    ) -> None:
        """Writes the film.

        Parameters
        ----------
        filename : str or path
            Name of the file, which ends in ".gif", ".mp4" or ".html"; an ".mp4" needs the program ffmpeg.
        writer : str or matplotlib.animation.MovieWriter, optional
            One of matplotlib's writers, which may write other formats.
        fps : float, optional
            Pictures per second. Default: those of the film.
        dpi : float, optional
            Dots per inch. Default: those of the film's figure, with which it has its size in pixels.
        progress : bool or callable
            True shows a progress bar; a function is called with the seconds of the film that are written.
        **more
            What `matplotlib.animation.Animation.save` accepts.

        Raises
        ------
        ValueError
            For another suffix without a writer, and for an ".mp4" without ffmpeg.
        """
        rate = self._stage.fps if fps is None else number("fps", fps, positive=True)
        with self._at(dpi), progress_bar(progress, 0.0, self._count / rate, "s") as move:

            def show(i: int, count: int | None = None) -> None:
                if move is not None:
                    move((i + 1) / rate)

            if writer is not None:
                super().save(os.fspath(filename), writer, fps, progress_callback=show, **more)
                return
            path = path_for(filename, SUFFIXES, "a writer of matplotlib, given as writer, may write other formats")
            suffix = os.path.splitext(path)[1].lower()
            if not suffix:
                raise ValueError(f"path: a name that ends in .gif, .mp4 or .html expected, got {shown(path)}")
            if suffix == ".mp4":
                if not FFMpegWriter.isAvailable():
                    raise ValueError("path: an .mp4 needs the program ffmpeg, which was not found; a .gif does not")
                super().save(path, "ffmpeg", rate, progress_callback=show, **more)
            elif suffix == ".gif":
                _refuse(more)
                _write_gif(path, self.pictures(show), rate)
            else:
                _refuse(more)
                with open(path, "w", encoding="utf-8") as file:
                    file.write(PAGE.format(film=self._repr_html_()))
                show(self._count - 1)

    def pictures(self, show: Callable[[int], None] | None = None) -> Iterator[Any]:
        """The pictures of the film one after the other, as Pillow's images."""
        self._draw_was_started = True  # or matplotlib would warn that nothing has shown it
        for i, picture in enumerate(self._stage.pictures(self._count)):
            yield picture
            if show is not None:
                show(i)

    @property
    def _count(self) -> int:
        return self._stage.count

    @contextmanager
    def _at(self, dpi: float | None) -> Iterator[None]:
        """Draws with this resolution for a while."""
        usual = self._stage.figure.dpi
        self._stage.resolve(usual if dpi is None else number("dpi", dpi, positive=True))
        try:
            yield
        finally:
            self._stage.resolve(usual)

    def _repr_html_(self) -> str:
        with rc_context({"animation.embed_limit": 1000.0}):  # MB, enough for any number of frames
            html: str = self.to_jshtml()
        html = re.sub(r"<link[^>]*font-awesome[^>]*>", "", html)
        return re.sub(r'<i class="fa fa-([\w -]+)"></i>', lambda icon: SYMBOLS[icon[1]], html)


def _refuse(more: Mapping[str, Any]) -> None:
    if more:
        raise ValueError(f"{next(iter(more))}: only matplotlib's writers know it; give one as writer, or leave it out")


def _write_gif(path: str, pictures: Iterator[Any], fps: float) -> None:
    """Writes a .gif whose pictures share the colours of the first one and those that turn up."""
    first = next(pictures)
    palette = first.quantize(HUES, method=Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
    rest = (picture.quantize(palette=palette, dither=Image.Dither.NONE) for picture in pictures)
    palette.save(path, "GIF", save_all=True, append_images=rest, duration=1000 / fps, loop=0, disposal=1)


# ---- drawing ----


def animation(run: States, options: Options) -> Movie:
    """The film of a run; see `Trajectory.animate`."""
    seconds = number("seconds", options.seconds, positive=True)
    fps = number("fps", options.fps, positive=True)
    width, height = array("size", options.size, (2,)).tolist()
    if not (width >= 100 and height >= 100):
        raise ValueError(f"size: width and height of at least 100 pixels expected, got {shown(options.size)}")
    if not isinstance(options.dark, (bool, np.bool_)):
        raise ValueError(f"dark: True or False expected, got {shown(options.dark)}")
    side = cameras.side(options.camera, options.plane)
    if not len(run):
        raise ValueError("this run has no state to show")
    model = run.multibody()
    names = followed(model, "trail", options.trail)
    at = scene.frames(run, max(round(seconds * fps), 1))
    seen = drawing(model, at, options.boxes)
    some = scene.some(run)
    ends = np.searchsorted(run.t[some], at.label, side="right")
    trails = [Trail(run.position(name)[some], ends, color_of(model, name)) for name in names]
    times = [f"{run.abscissa.before}{label:.3f}{run.abscissa.after}" for label in at.label]
    stage = Stage(seen, trails, times, side, options.plane, (width, height), fps, bool(options.dark))
    movie = Movie(stage.figure, stage.show, frames=stage.count, interval=1000 / fps)
    movie._stage = stage
    return movie


class Trail(NamedTuple):
    """The path (n, 3) of a body, and how many of its points each picture shows."""

    points: Array
    ends: NDArray[np.intp]
    color: str


class Stage:
    """The figure of a film. Walls and grid are drawn once, as a picture behind everything that moves."""

    def __init__(
        self,
        seen: Drawing,
        trails: Sequence[Trail],
        times: Sequence[str],
        side: Side,
        plane: Plane | None,
        size: tuple[float, float],
        fps: float,
        dark: bool,
    ) -> None:
        self._seen, self._trails, self._times, self._side, self.fps = seen, trails, times, side, fps
        self._ink, self._back = ("#d8dde1", "#131416") if dark else ("#33393d", "white")
        self._solids = [*seen.bodies, *seen.rods, *seen.joints]
        self._colors = np.concatenate(
            [np.tile(_visible(solid, dark), (len(solid.triangles), 1)) for solid in self._solids] or [np.empty((0, 3))]
        )
        with style():
            self.figure = Picture(figsize=(size[0] / DOTS, size[1] / DOTS), dpi=DOTS, facecolor=self._back)
            self._wall = self.figure.add_axes((0, 0, 1, 1), zorder=-2)
            self._axes = self._room(plane)
            self._project = _onto(plane) if plane is not None else _perspective(self._axes)
            self._artists = self._add_artists()
        self.resolve(DOTS)

    @property
    def count(self) -> int:
        """The number of pictures."""
        return len(self._times)

    def resolve(self, dpi: float) -> None:
        """Draws what stays at rest with this resolution."""
        self.figure.set_dpi(dpi)
        self._wall.clear()
        self._wall.set_axis_off()
        for artist in self._artists:
            artist.set_visible(False)
        self._axes.set_visible(True)
        canvas: Any = FigureCanvasAgg(self.figure)
        canvas.draw()
        self._behind = np.array(canvas.buffer_rgba())
        self._wall.imshow(self._behind, aspect="auto", interpolation="none")
        FigureCanvasBase(self.figure)  # draws only when asked to
        for artist in self._artists:
            artist.set_visible(True)
        self._axes.set_visible(False)

    def show(self, i: int) -> list[Any]:
        """Moves everything to state i."""
        surfaces, sheets, coils, trails, title = self._artists
        polygons, colors = self._polygons(i)
        surfaces.set_verts(polygons)
        surfaces.set_facecolor(colors)
        surfaces.set_edgecolor(colors)
        sheets.set_verts([self._project(plane.points[i])[0] for plane in self._seen.planes])
        coils.set_segments([self._project(spring[i])[0] for spring in self._seen.springs])
        trails.set_segments([self._project(trail.points[: trail.ends[i]])[0] for trail in self._trails])
        title.set_text(self._times[i])
        return self._artists

    def pictures(self, count: int) -> Iterator[Any]:
        """The pictures, as Pillow's images."""
        canvas: Any = FigureCanvasAgg(self.figure)
        self._wall.set_visible(False)
        self.figure.patch.set_visible(False)
        renderer = canvas.get_renderer()
        try:
            for i in range(count):
                self.show(i)
                buffer = np.asarray(canvas.buffer_rgba())
                buffer[:] = self._behind
                for artist in sorted(self._artists, key=lambda one: one.get_zorder()):
                    artist.draw(renderer)
                yield Image.fromarray(buffer[:, :, :3].copy())
        finally:
            self._wall.set_visible(True)
            self.figure.patch.set_visible(True)
            FigureCanvasBase(self.figure)

    def _add_artists(self) -> list[Any]:
        where = {"transform": self._axes.transData, "clip_on": False}
        looks = [trail.color for trail in self._trails]
        title = self.figure.text(0.03, 0.97, "", va="top", color=self._ink, fontsize=9, zorder=6)
        artists: list[Any] = [
            PolyCollection([], linewidths=0.3, zorder=3, **where),
            PolyCollection([], facecolors="#8a949a40", edgecolors="#8a949a80", linewidths=0.5, zorder=1, **where),
            LineCollection([], colors=COLORS[3], linewidths=0.9, zorder=4, **where),
            LineCollection([], colors=looks, linewidths=0.8, alpha=0.6, zorder=2, **where),
        ]
        for artist in artists:
            self.figure.add_artist(artist)
        return [*artists, title]

    def _polygons(self, i: int) -> tuple[Array, Array]:
        """The triangles (m, 3, 2) that face the eye, the farthest first, with their colours (m, 3)."""
        corners = [solid.points[i][solid.triangles] for solid in self._solids]
        world = np.concatenate(corners or [np.empty((0, 3, 3))])
        flat, depth = self._project(world.reshape(-1, 3))
        flat, depth = flat.reshape(-1, 3, 2), depth.reshape(-1, 3).mean(axis=1)
        one, other = flat[:, 1] - flat[:, 0], flat[:, 2] - flat[:, 0]
        seen = np.flatnonzero(one[:, 0] * other[:, 1] - one[:, 1] * other[:, 0] > 0)
        seen = seen[np.argsort(-depth[seen], kind="stable")]
        normals = np.cross(world[seen, 1] - world[seen, 0], world[seen, 2] - world[seen, 0])
        normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-300)
        light = np.array(LIGHT) @ np.stack([self._side.right, self._side.up, self._side.eye])
        bright = AMBIENT + (1.12 - AMBIENT) * np.maximum(normals @ light / np.linalg.norm(light), 0)
        return flat[seen], np.clip(self._colors[seen] * bright[:, None], 0, 1)

    def _room(self, plane: Plane | None) -> Any:
        """Axes around everything."""
        low, high = self._seen.low, self._seen.high
        if plane is None:
            axes: Any = self.figure.add_axes((0.0, 0.02, 0.97, 0.96), projection="3d")
            axes.view_init(*self._side.angles)
            axes.set_box_aspect(high - low)
            for letter, *ends in zip("xyz", low, high, strict=True):
                axes.set(**{f"{letter}lim": ends})
                wall = getattr(axes, f"{letter}axis")
                wall.set_pane_color((*to_rgb(self._back), 0.0))
                wall._axinfo["grid"].update(color=(*to_rgb(self._ink), 0.15), linewidth=0.6)
                wall.line.set_color((*to_rgb(self._ink), 0.4))
        else:
            axes = self.figure.add_axes(self._beside_labels())
            axes.set(
                **dict(zip(("xlim", "ylim"), self._limits(plane, axes.bbox.width / axes.bbox.height), strict=True))
            )
            for spine in axes.spines.values():
                spine.set_color(self._ink)
        for letter, name in zip(plane or "xyz", "xyz", strict=False):
            getattr(axes, f"set_{name}label")(f"{letter} / m", color=self._ink, fontsize=8)
        axes.patch.set_visible(False)
        axes.tick_params(colors=self._ink, labelsize=7)
        axes.locator_params(nbins=5)
        if plane is None:
            self._fill(axes, high - low)
        axes.apply_aspect()
        return axes

    def _beside_labels(self) -> tuple[float, float, float, float]:
        """The part of the figure that labels leave to the axes; their size does not depend on that of the figure."""
        width, height = self.figure.get_size_inches()
        left, bottom = min(0.6 / width, 0.3), min(0.48 / height, 0.3)
        return left, bottom, 1 - left - min(0.15 / width, 0.1), 1 - bottom - min(0.32 / height, 0.2)

    def _limits(self, plane: Plane, ratio: float) -> list[tuple[float, float]]:
        """Limits of both axes with equal scales, on axes with this ratio of width and height."""
        some = ["xyz".index(letter) for letter in plane]
        low, high = self._seen.low[some], self._seen.high[some]
        half = (high - low) / 2
        half = np.maximum(half, half[::-1] * (ratio, 1 / ratio))
        middle = (low + high) / 2
        return [*zip((middle - half).tolist(), (middle + half).tolist(), strict=True)]

    def _fill(self, axes: Any, span: Array) -> None:
        """Scales and moves the axes so that they fill the picture below the time."""
        taken = self._taken(axes)
        axes.set_box_aspect(span, zoom=min(FILLED[0] / taken.width, FILLED[1] / taken.height))
        taken = self._taken(axes)
        now = axes.get_position(original=True)
        axes.set_position(now.translated(0.5 - (taken.x0 + taken.x1) / 2, 0.47 - (taken.y0 + taken.y1) / 2))

    def _taken(self, axes: Any) -> Any:
        """The part of the figure that the axes take with their labels."""
        canvas: Any = FigureCanvasAgg(self.figure)
        axes.apply_aspect()
        canvas.draw()
        boxes = [axis.get_tightbbox(canvas.get_renderer()) for axis in (axes.xaxis, axes.yaxis, axes.zaxis)]
        return Bbox.union(boxes).transformed(self.figure.transFigure.inverted())


def _visible(solid: Solid, dark: bool) -> Array:
    """The colour (3,) of a surface, which is lighter in dark mode."""
    rgb = np.array(to_rgb(solid.color))
    return rgb + (1 - rgb) * (0.25 if dark else 0.0)


Projection = Callable[[Array], tuple[Array, Array]]


def _onto(plane: Plane) -> Projection:
    """Projects points (n, 3) onto a plane: coordinates (n, 2), and the depth (n,) behind it."""
    i, k = ("xyz".index(letter) for letter in plane)
    away = -np.cross(np.eye(3)[i], np.eye(3)[k])
    return lambda points: (points[:, [i, k]], points @ away)


def _perspective(axes: Any) -> Projection:
    """Projects points as the axes do."""
    matrix = axes.get_proj()

    def project(points: Array) -> tuple[Array, Array]:
        x, y, depth = proj3d.proj_transform(*points.T, matrix)
        return np.stack([x, y], axis=1), np.asarray(depth)

    return project
