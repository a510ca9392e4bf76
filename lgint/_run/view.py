"""A view of a run that can be turned with the mouse and has a slider for the time; needs plotly."""

from __future__ import annotations

import base64
import functools
import gzip
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from os import PathLike
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from lgint._args import Array, choice, number, shown
from lgint._model.model import Model
from lgint._model.record import RodRow
from lgint._run import scene
from lgint._run.files import path_for
from lgint._run.scene import COLORS, GREY, THIN, Box, Frames
from lgint._run.states import Abscissa, States

try:
    from plotly import graph_objects
    from plotly.offline import get_plotlyjs
except ImportError as error:
    raise ImportError("views need plotly: pip install 'lgint[view]'") from error

SIDES = 10  # corners of a tube's section
MOST = 200  # nodes of a rod that are drawn
HEIGHT = 480  # of a view in a notebook, pixels
# corners of a box, and its twelve triangles
CORNERS = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
TRIANGLES = np.array(
    [
        *([0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1]),
        *([2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3]),
    ]
)
# the corners at both ends of its twelve edges
EDGES = np.array([(a, b) for a in range(8) for b in range(a) if np.abs(CORNERS[a] - CORNERS[b]).sum() == 1])

# the library and the figure are compressed, and the browser unpacks them; this reduces a page to two fifths
PAGE = """<!doctype html>
<html>
<head>
<meta charset="utf-8">
<title>{title}</title>
<style>html, body, #view {{ height: 100%; margin: 0; overflow: hidden }}</style>
{library}
<script id="figure" type="application/gzip">{figure}</script>
</head>
<body>
<div id="view"></div>
<script type="module">
async function unpacked(element) {{
    const bytes = Uint8Array.from(atob(element.text), (letter) => letter.charCodeAt(0));
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
}}
const library = document.getElementById("plotly");
if (library) {{
    const script = document.createElement("script");
    script.text = await unpacked(library);
    document.head.append(script);
}}
const figure = JSON.parse(await unpacked(document.getElementById("figure")));
Plotly.newPlot("view", {{ ...figure, config: {{ displaylogo: false, responsive: true }} }});
</script>
</body>
</html>
"""


class View:
    """A view of a run. Notebooks show it; `save` writes it as a web page.

    Attributes
    ----------
    figure : plotly.graph_objects.Figure
        Plotly's figure, in which camera, title and colours can be changed.
    """

    def __init__(self, figure: graph_objects.Figure) -> None:
        self.figure = figure

    def save(self, path: str | PathLike[str]) -> None:
        """Writes an HTML page that needs neither a network nor any other file.

        Parameters
        ----------
        path : str or path
            Name of the file, with its suffix ".html" or ".htm", or without one.

        Raises
        ------
        ValueError
            For another suffix.
        """
        pictures = "plot().savefig(...) writes pictures and animate().save(...) films"
        with open(path_for(path, (".html", ".htm"), pictures), "w", encoding="utf-8") as file:
            file.write(self._page())

    def _page(self) -> str:
        return PAGE.format(title="View", library=library(), figure=_packed(self.figure.to_json()))

    def _repr_html_(self) -> str:
        # an iframe separates the library of the view from that of the page around it
        return (
            f'<iframe srcdoc="{escape(self._page())}" width="100%" height="{HEIGHT}" loading="lazy" '
            'style="border: none"></iframe>'
        )

    def __repr__(self) -> str:
        return f"<lgint.View: {len(self.figure.frames)} frames>"


@functools.cache
def library() -> str:
    """The part of a page that holds the library plotly.js, 1.8 MB; a script with a `src` may take its place."""
    return f'<script id="plotly" type="application/gzip">{_packed(get_plotlyjs())}</script>'


def _packed(text: str) -> str:
    return base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode()


def view(
    run: States, seconds: float, count: int, given: Mapping[str, ArrayLike] | None, paths: bool | Sequence[str]
) -> View:
    """The view of a run; see `Trajectory.view`."""
    number("seconds", seconds, positive=True)
    if isinstance(count, bool) or not isinstance(count, (int, np.integer)) or count < 1:
        raise ValueError(f"frames: a whole number >= 1 expected, got {count!r}")
    model = run.multibody()
    if not len(run):
        raise ValueError("this run has no state to show")
    at = _distinct(scene.frames(run, int(count)))
    boxes = scene.boxes(model, scene.solid_bodies(model), given)
    low, high = _extent(model, at, boxes)
    parts = [part for part in _parts(model, at, boxes, given or {}, float((high - low).max())) if part.points.size]
    traces = [*(part.trace(0) for part in parts), *_paths(run, _followed(model, paths))]
    figure = graph_objects.Figure(
        data=traces,
        frames=[
            graph_objects.Frame(data=[part.points_at(i) for part in parts], traces=[*range(len(parts))], name=str(i))
            for i in range(len(at.t))
        ],
    )
    figure.update_layout(
        scene=_axes(low, high),
        legend={"x": 0, "y": 1},
        margin={"l": 0, "r": 0, "t": 0, "b": 0},
        uirevision="kept",  # the camera stays where the mouse has moved it
        **_controls(at, run.abscissa, 1000 * seconds / len(at.t)),
    )
    return View(figure)


def _distinct(at: Frames) -> Frames:
    """Every state once, labelled with its own time."""
    labels, rows = np.unique(at.label, return_index=True)
    return Frames(labels, at.q[rows], at.v[rows], at.t[rows])


def _extent(model: Model, at: Frames, boxes: Mapping[str, Box]) -> tuple[Array, Array]:
    """The smallest and largest coordinates (3,) of everything that is drawn, with a margin."""
    x = model.motions(list(model.bodies), at.q, at.v, at.t)[0]
    corners = _corners(model, at, boxes, 0.0).reshape(len(at.t), -1, 3)
    points = [x, corners, *(dot[:, None] for dot in scene.dots(model, at).values()), *scene.springs(model, at)]
    everything = np.concatenate(points, axis=1)
    low, high = everything.min(axis=(0, 1)), everything.max(axis=(0, 1))
    margin = 0.05 * float((high - low).max())
    low, high = low - margin, high + margin
    # motions in a plane or on a line get some depth
    missing = np.maximum(0.2 * max(float((high - low).max()), 1e-6) - (high - low), 0) / 2
    return low - missing, high + missing


# ---- moving shapes ----


class Part(NamedTuple):
    """A trace that changes from frame to frame: its kind, its points (frames, n, 3), and how it looks."""

    kind: Any
    points: Array
    looks: dict[str, Any]

    def points_at(self, i: int) -> Any:
        """The points of frame i as a trace, without its looks."""
        x, y, z = self.points[i].T.astype(np.float32)
        return self.kind(x=x, y=y, z=z)

    def trace(self, i: int) -> Any:
        """The whole trace of frame i."""
        return self.points_at(i).update(self.looks)


def _parts(
    model: Model, at: Frames, boxes: Mapping[str, Box], given: Mapping[str, ArrayLike], size: float
) -> Iterator[Part]:
    corners = dict(zip(boxes, np.moveaxis(_corners(model, at, boxes, THIN * size), 1, 0), strict=True))
    hollow = [name for name in _hollow(model, at, boxes) if name not in given]
    yield _boxes({name: points for name, points in corners.items() if name not in hollow}, model)
    for name in hollow:
        edges = (corners[name][:, pair] for pair in EDGES)
        yield _lines(edges, {"color": _color_of(model, name), "width": 4})
    for i, (name, rod) in enumerate(model.rods.items()):
        yield _tube(model, at, name, rod, COLORS[i % len(COLORS)], size)
    yield _lines(scene.arms(model, at), {"color": GREY, "width": 5})
    yield _lines(scene.springs(model, at), {"color": COLORS[3], "width": 3})
    dots = scene.dots(model, at)
    looks = {"mode": "markers", "marker": {"size": 4, "color": "#222222"}, "text": [*dots], "hoverinfo": "text"}
    points = np.stack([*dots.values()] or [np.empty((0, 3))], axis=1)
    yield Part(graph_objects.Scatter3d, points, looks | {"showlegend": False})


def _corners(model: Model, at: Frames, boxes: Mapping[str, Box], thin: float) -> Array:
    """The corners of all boxes, (frames, boxes, 8, 3)."""
    x, R, _, _ = model.motions(list(boxes), at.q, at.v, at.t)
    corners = np.reshape([CORNERS * np.maximum(box.size, thin) @ box.axes.T for box in boxes.values()], (-1, 8, 3))
    placed: Array = x[:, :, None] + np.einsum("fbij,bkj->fbki", R, corners)
    return placed


def _hollow(model: Model, at: Frames, boxes: Mapping[str, Box]) -> Iterator[str]:
    """The boxes that contain centres of mass of other bodies at the start; only their edges are shown."""
    x, R = (part[0] for part in model.motions(list(boxes), at.q[:1], at.v[:1], at.t[:1])[:2])
    for i, (name, box) in enumerate(boxes.items()):
        away = np.abs((np.delete(x, i, axis=0) - x[i]) @ R[i] @ box.axes)
        if (away < box.size / 2).all(axis=1).any():
            yield name


def _boxes(corners: Mapping[str, Array], model: Model) -> Part:
    """Boxes (frames, 8, 3) as one mesh."""
    triangles = np.concatenate([TRIANGLES + 8 * b for b in range(len(corners))] or [TRIANGLES[:0]])
    colors = [_color_of(model, name) for name in corners for _ in TRIANGLES]
    text = [name for name in corners for _ in CORNERS]
    points = np.concatenate([*corners.values()] or [np.empty((1, 0, 3))], axis=1)
    return Part(graph_objects.Mesh3d, points, _mesh(triangles, text) | {"facecolor": colors, "opacity": 0.85})


def _tube(model: Model, at: Frames, name: str, rod: RodRow, color: str, size: float) -> Part:
    """A rod as a tube, whose radius is limited so that it is neither invisible nor hides other things."""
    tube = scene.tube(model, rod, at, MOST)
    angles = np.linspace(0, 2 * np.pi, SIDES, endpoint=False)
    ring = np.clip(tube.radius, 0.25 * THIN * size, THIN * size) * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    points = tube.x[:, :, None] + np.einsum("fnij,kj->fnki", tube.directors, ring)
    count = tube.x.shape[1]
    near = np.arange(SIDES) + SIDES * np.arange(count - 1)[:, None]
    beside = np.roll(near, -1, axis=1)
    triangles = [[near, beside, near + SIDES], [beside, beside + SIDES, near + SIDES]]
    looks = _mesh(np.reshape(np.moveaxis(np.array(triangles), 1, -1), (-1, 3)), [name] * (count * SIDES))
    return Part(graph_objects.Mesh3d, points.reshape(len(at.t), -1, 3), looks | {"color": color, "flatshading": False})


def _mesh(triangles: Array, text: list[str]) -> dict[str, Any]:
    i, j, k = triangles.T
    return {"i": i, "j": j, "k": k, "text": text, "hoverinfo": "text", "flatshading": True}


def _lines(lines: Iterable[Array], look: dict[str, Any]) -> Part:
    """Lines (frames, 2, 3) as one trace, with gaps between them."""
    with_gaps = [np.concatenate([line, np.full_like(line[:, :1], np.nan)], axis=1) for line in lines]
    points = np.concatenate(with_gaps or [np.empty((1, 0, 3))], axis=1)
    looks = {"mode": "lines", "line": look, "hoverinfo": "skip", "showlegend": False}
    return Part(graph_objects.Scatter3d, points, looks)


# ---- paths ----


def _followed(model: Model, paths: bool | Sequence[str]) -> list[str]:
    """The bodies whose paths are drawn: those named, or all if there are few and the last nodes of rods."""
    if isinstance(paths, str) or not np.iterable(paths) and not isinstance(paths, (bool, np.bool_)):
        raise ValueError(f"paths: True, False or a list of names of bodies expected, got {shown(paths)}")
    if not isinstance(paths, (bool, np.bool_)):
        return [choice("body", name, model.bodies) for name in paths]
    if not paths:
        return []
    solid = scene.solid_bodies(model)
    ends = [rod["nodes"][-1] for rod in model.rods.values() if rod["nodes"][-1] in model.bodies]
    return [*(solid if len(solid) <= len(COLORS) else []), *ends]


def _color_of(model: Model, name: str) -> str:
    """The colour of a body: that of its box or its rod."""
    solid = scene.solid_bodies(model)
    if name in solid:
        return COLORS[solid.index(name) % len(COLORS)]
    return COLORS[next(i for i, rod in enumerate(model.rods.values()) if name in rod["nodes"]) % len(COLORS)]


def _paths(run: States, names: Sequence[str]) -> list[Any]:
    """The paths of the centres of mass of bodies, through at most 2000 states."""
    model = run.multibody()
    some = np.unique(np.linspace(0, len(run) - 1, min(2000, len(run))).astype(int))
    found = []
    for name in names:
        x, y, z = run.position(name)[some].T.astype(np.float32)
        line = {"width": 2, "color": _color_of(model, name)}
        found.append(graph_objects.Scatter3d(x=x, y=y, z=z, mode="lines", name=name, line=line, hoverinfo="name"))
    return found


# ---- axes and controls ----


def _axes(low: Array, high: Array) -> dict[str, Any]:
    """Axes of equal scale, whose size is chosen by the length of their diagonal."""
    span = high - low
    ratio = span / np.linalg.norm(span) * np.sqrt(3)
    ranges = zip("xyz", low.tolist(), high.tolist(), strict=True)
    axes = {f"{x}axis": {"range": [a, b], "title": {"text": f"{x} / m"}, "nticks": 6} for x, a, b in ranges}
    return {
        **axes,
        "aspectmode": "manual",
        "aspectratio": dict(zip("xyz", ratio.tolist(), strict=True)),
        "camera": {"eye": {"x": 1.05, "y": -1.6, "z": 0.64}, "center": {"x": 0.05, "y": 0, "z": -0.12}},
        "domain": {"x": [0, 1], "y": [0.15, 1]},  # above the slider
    }


def _controls(at: Frames, axis: Abscissa, duration: float) -> dict[str, Any]:
    """A slider through the frames, and buttons to play and to stop."""

    def jump(to: list[Any] | None, pause: float) -> list[Any]:
        turn = {"frame": {"duration": pause, "redraw": True}, "mode": "immediate", "transition": {"duration": 0}}
        return [to, {**turn, "fromcurrent": True}]

    steps = [
        {"method": "animate", "args": jump([str(i)], 0), "label": f"{label:.4g}"} for i, label in enumerate(at.label)
    ]
    buttons = [
        {"method": "animate", "args": jump(None, duration), "label": "play"},
        {"method": "animate", "args": jump([None], 0), "label": "stop"},
    ]
    low = {"y": 0, "yanchor": "bottom", "pad": {"b": 10, "t": 0, "l": 10, "r": 10}}
    slider = {
        **low,
        "x": 0.16,
        "len": 0.82,
        "steps": steps,
        "currentvalue": {"prefix": axis.before, "suffix": axis.after},
    }
    play = {**low, "type": "buttons", "direction": "left", "x": 0, "xanchor": "left", "buttons": buttons}
    return {"sliders": [slider], "updatemenus": [{**play, "showactive": False}]}
