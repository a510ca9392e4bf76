"""A view of a run that can be turned with the mouse and has a slider for the time; needs plotly."""

from __future__ import annotations

import base64
import functools
import gzip
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from html import escape
from os import PathLike
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from lgint._args import Array, number, shown
from lgint._run import cameras, scene
from lgint._run.cameras import Plane, Side
from lgint._run.drawing import JOINT, Drawing, Solid, color_of, drawing, followed
from lgint._run.files import path_for
from lgint._run.progress import progress_bar
from lgint._run.scene import COLORS, Frames
from lgint._run.states import TIME, Abscissa, States

try:
    from plotly import graph_objects
    from plotly.offline import get_plotlyjs
except ImportError as error:
    raise ImportError("views need plotly: pip install 'lgint[view]'") from error

PLAY, STOP = "\u25b6", "\u25a0"  # labels of buttons
HEIGHT = 480  # of a view in a notebook, pixels
GRID, NIGHT = "#dfe3e6", "#131416"  # of the walls; what is behind everything in dark mode
RATE = 25  # states per second by default, and
FEWEST, MOST = 51, 201  # their numbers
SHORTEST, LONGEST = 1.0, 60.0  # s, of the time that a view takes by default
UNITLESS = 5.0  # s, of one over load factors
DISTANCE, FLAT = 2.1, 1.3  # of the camera, also of one without perspective, where the scene has about the size 1

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
const view = document.getElementById("view");
const settings = {settings};

// the theme of the page around this one, or that of the system
const media = window.matchMedia("(prefers-color-scheme: dark)");
function isDark() {{
    if (settings.dark !== null) return settings.dark;
    let around = {{}};
    try {{ around = window.parent.document.body.dataset; }} catch (error) {{ /* of another origin */ }}
    if (around.jpThemeLight) return around.jpThemeLight === "false";
    return around.theme && around.theme !== "auto" ? around.theme === "dark" : media.matches;
}}
let dark = isDark();
document.documentElement.style.background = settings.themes[+dark].paper_bgcolor;

// the play button keeps to the clock: it leaves out states that come too late to be drawn
const names = figure.frames.map((frame) => frame.name);
for (const menu of figure.layout.updatemenus) for (const button of menu.buttons) button.method = "skip";
let playing = 0;
function show(name) {{
    const turn = {{ mode: "immediate", frame: {{ duration: 0, redraw: true }}, transition: {{ duration: 0 }} }};
    return Plotly.animate(view, [name], turn);
}}
async function play() {{
    const mine = ++playing, last = names.length - 1;
    const from = (view.layout.sliders[0].active ?? 0) % Math.max(last, 1);
    const begin = performance.now() - (1000 * settings.seconds * from) / Math.max(last, 1);
    let i = -1;
    while (mine === playing && i < last) {{
        const now = Math.floor(((performance.now() - begin) / 1000 / settings.seconds) * last);
        if (now > i) await show(names[(i = Math.min(now, last))]);
        await new Promise(requestAnimationFrame);
    }}
}}
const config = {{ displaylogo: false, responsive: true }};
await Plotly.newPlot(view, {{ ...figure, config }});
if (dark) await Plotly.relayout(view, settings.themes[1]);
view.on("plotly_buttonclicked", (event) => (event.button.label === "{play}" ? play() : playing++));
view.on("plotly_sliderstart", () => playing++);

function follow() {{
    if (isDark() === dark) return;
    dark = !dark;
    document.documentElement.style.background = settings.themes[+dark].paper_bgcolor;
    Plotly.relayout(view, settings.themes[+dark]);
}}
media.addEventListener("change", follow);
try {{
    const attributeFilter = ["data-theme", "data-jp-theme-light"];
    new MutationObserver(follow).observe(window.parent.document.body, {{ attributeFilter }});
}} catch (error) {{ /* of another origin */ }}
</script>
</body>
</html>
"""


def theme(dark: bool) -> dict[str, Any]:
    """The colours of a figure, by the paths of its layout."""
    back, ink, grid = (NIGHT, "#d8dde1", "#3a4046") if dark else ("white", "#33393d", GRID)
    colors: dict[str, Any] = {"paper_bgcolor": back, "font.color": ink, "legend.bgcolor": "rgba(0,0,0,0)"}
    for axis in ("scene.xaxis", "scene.yaxis", "scene.zaxis"):
        colors |= {f"{axis}.backgroundcolor": back, f"{axis}.gridcolor": grid, f"{axis}.zerolinecolor": grid}
        colors |= {f"{axis}.color": ink, f"{axis}.showbackground": True}
    for control in ("sliders[0]", "updatemenus[0]"):
        colors |= {f"{control}.bgcolor": "#2a2f33" if dark else "#f3f5f6", f"{control}.bordercolor": grid}
    return colors


class View:
    """A view of a run. Notebooks show it; `save` writes it as a web page or as a film.

    Attributes
    ----------
    figure : plotly.graph_objects.Figure
        Plotly's figure, in which camera, title and colours can be changed.
    """

    def __init__(self, figure: graph_objects.Figure, seconds: float, dark: bool | None, film: Callable[[], Any]):
        self.figure = figure
        self._settings = {"seconds": seconds, "dark": dark, "themes": [theme(False), theme(True)]}
        self._film = film

    def save(self, path: str | PathLike[str], *, progress: bool | Callable[[float], None] = False) -> None:
        """Writes an HTML page that needs neither a network nor any other file, or a film.

        A film is that of `Trajectory.animate` with the options of the view: it shows the same bodies from the same
        side, but not what the mouse or changes of `figure` have done.

        Parameters
        ----------
        path : str or path
            Name of the file, with its suffix ".html", ".htm", ".gif" or ".mp4"; a name without one is that of a page.
            An ".mp4" needs the program ffmpeg.
        progress : bool or callable
            While a film is written: True shows a progress bar; a function is called with the seconds written.

        Raises
        ------
        ValueError
            For another suffix, and for an ".mp4" without ffmpeg.
        """
        text = path_for(path, (".html", ".htm", ".gif", ".mp4"), "plot().savefig(...) writes pictures")
        if os.path.splitext(text)[1].lower() in (".gif", ".mp4"):
            self._film().save(text, progress=progress)
            return
        with progress_bar(progress, 0.0, 1.0, "pages"), open(text, "w", encoding="utf-8") as file:
            file.write(self._page())

    def _page(self) -> str:
        settings = json.dumps(self._settings)
        return PAGE.format(
            title="View", library=library(), figure=_packed(self.figure.to_json()), settings=settings, play=PLAY
        )

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


class Options(NamedTuple):
    """The options of `Trajectory.view`."""

    seconds: float | None
    frames: int | None
    boxes: Mapping[str, ArrayLike] | None
    paths: bool | Sequence[str]
    camera: ArrayLike | None
    plane: Plane | None
    dark: bool | None


def view(run: States, options: Options) -> View:
    """The view of a run; see `Trajectory.view`."""
    seconds, count = _length(run, options.seconds), options.frames
    if count is None:
        count = int(np.clip(RATE * seconds + 1, FEWEST, MOST))
    elif isinstance(count, bool) or not isinstance(count, (int, np.integer)) or count < 1:
        raise ValueError(f"frames: a whole number >= 1 expected, got {count!r}")
    if not (options.dark is None or isinstance(options.dark, (bool, np.bool_))):
        raise ValueError(f"dark: True, False or None expected, got {shown(options.dark)}")
    side = cameras.side(options.camera, options.plane)
    model = run.multibody()
    if not len(run):
        raise ValueError("this run has no state to show")
    at = _distinct(scene.frames(run, int(count)))
    seen = drawing(model, at, options.boxes)
    drawn = [one for one in _traces(seen) if one.points.size]
    moving = [i for i, one in enumerate(drawn) if np.ptp(one.points, axis=0).any(where=~np.isnan(one.points[0]))]
    figure = graph_objects.Figure(
        data=[*(one.trace(0) for one in drawn), *_paths(run, followed(model, "paths", options.paths))],
        frames=[
            graph_objects.Frame(data=[drawn[k].points_at(i) for k in moving], traces=moving, name=str(i))
            for i in range(len(at.t))
        ],
    )
    figure.update_layout(
        scene=_axes(seen.low, seen.high, side, options.plane),
        legend={"x": 0, "y": 1},
        margin={"l": 0, "r": 0, "t": 0, "b": 0},
        uirevision="kept",  # the camera stays where the mouse has moved it
        template="none",
        **_controls(at, run.abscissa, 1000 * seconds / len(at.t)),
    )
    dark = None if options.dark is None else bool(options.dark)
    for path, color in theme(bool(dark)).items():
        figure.layout[path] = color
    return View(figure, seconds, dark, lambda: _film(run, seconds, options))


def _length(run: States, seconds: float | None) -> float:
    """How long a view takes: as long as the run by default, within limits."""
    if seconds is not None:
        return number("seconds", seconds, positive=True)
    if run.abscissa is not TIME or len(run) < 2:
        return UNITLESS
    return float(np.clip(run.t[-1] - run.t[0], SHORTEST, LONGEST))


def _film(run: States, seconds: float, options: Options) -> Any:
    """The film of a view."""
    from lgint._run import film

    _, _, boxes, paths, camera, plane, dark = options
    chosen = film.Options(seconds, RATE, paths, camera, film.SIZE, plane, bool(dark), boxes)
    return film.animation(run, chosen)


def _distinct(at: Frames) -> Frames:
    """Every state once, labelled with its own time."""
    labels, rows = np.unique(at.label, return_index=True)
    return Frames(labels, at.q[rows], at.v[rows], at.t[rows])


# ---- moving shapes ----


class Trace(NamedTuple):
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


def _traces(seen: Drawing) -> Iterator[Trace]:
    yield _surfaces(seen.bodies, flatshading=True)
    for rod in seen.rods:
        yield _surfaces([rod], flatshading=False)
    yield _surfaces(seen.joints, flatshading=True)
    yield _lines(seen.springs, {"color": COLORS[3], "width": 3})
    yield _surfaces(seen.planes, flatshading=True, opacity=0.3)
    looks = {"mode": "markers", "marker": {"size": 4, "color": JOINT}, "text": [*seen.dots], "hoverinfo": "text"}
    points = np.stack([*seen.dots.values()] or [np.empty((0, 3))], axis=1)
    yield Trace(graph_objects.Scatter3d, points, looks | {"showlegend": False})


def _surfaces(solids: Sequence[Solid], **looks: Any) -> Trace:
    """Surfaces as one mesh."""
    starts = np.cumsum([0, *(solid.points.shape[1] for solid in solids)])
    triangles = [solid.triangles + start for solid, start in zip(solids, starts, strict=False)]
    i, j, k = np.concatenate(triangles or [np.empty((0, 3), int)]).T
    mesh = {
        **{"i": i, "j": j, "k": k, "hoverinfo": "text"},
        "text": [solid.name for solid in solids for _ in range(solid.points.shape[1])],
        "facecolor": [solid.color for solid in solids for _ in solid.triangles],
        "lighting": {"ambient": 0.75, "diffuse": 0.45, "specular": 0.05, "roughness": 0.9},
    }
    points = np.concatenate([solid.points for solid in solids] or [np.empty((1, 0, 3))], axis=1)
    return Trace(graph_objects.Mesh3d, points, mesh | looks)


def _lines(lines: Iterable[Array], look: dict[str, Any]) -> Trace:
    """Lines (frames, n, 3) as one trace, with gaps between them."""
    with_gaps = [np.concatenate([line, np.full_like(line[:, :1], np.nan)], axis=1) for line in lines]
    points = np.concatenate(with_gaps or [np.empty((1, 0, 3))], axis=1)
    looks = {"mode": "lines", "line": look, "hoverinfo": "skip", "showlegend": False}
    return Trace(graph_objects.Scatter3d, points, looks)


# ---- paths ----


def _paths(run: States, names: Sequence[str]) -> list[Any]:
    """The paths of the centres of mass of bodies, through at most 2000 states."""
    model, some = run.multibody(), scene.some(run)
    found = []
    for name in names:
        x, y, z = run.position(name)[some].T.astype(np.float32)
        line = {"width": 2, "color": color_of(model, name)}
        found.append(graph_objects.Scatter3d(x=x, y=y, z=z, mode="lines", name=name, line=line, hoverinfo="name"))
    return found


# ---- axes and controls ----


def _axes(low: Array, high: Array, side: Side, plane: Plane | None) -> dict[str, Any]:
    """Axes of equal scale, whose size is chosen by the length of their diagonal, seen from a side."""
    span = high - low
    ratio = span / np.linalg.norm(span) * np.sqrt(3)
    ranges = zip("xyz", low.tolist(), high.tolist(), strict=True)
    axes = {f"{x}axis": {"range": [a, b], "title": {"text": f"{x} / m"}, "nticks": 6} for x, a, b in ranges}
    if plane is not None:
        (unseen,) = {*"xyz"} - {*plane}
        axes[f"{unseen}axis"]["visible"] = False
    is_tilted = plane is None and abs(side.eye[2]) < 0.999  # the mouse turns it about the vertical
    eye, up = (DISTANCE if plane is None else FLAT) * side.eye, np.array([0.0, 0.0, 1.0]) if is_tilted else side.up
    return {
        **axes,
        "aspectmode": "manual",
        "aspectratio": dict(zip("xyz", ratio.tolist(), strict=True)),
        "camera": {
            "eye": dict(zip("xyz", eye.tolist(), strict=True)),
            "up": dict(zip("xyz", up.tolist(), strict=True)),
            "center": dict(zip("xyz", (-0.1 * up).tolist(), strict=True)),
            "projection": {"type": "perspective" if plane is None else "orthographic"},
        },
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
        {"method": "animate", "args": jump(None, duration), "label": PLAY},
        {"method": "animate", "args": jump([None], 0), "label": STOP},
    ]
    low = {"y": 0, "yanchor": "bottom", "pad": {"b": 10, "t": 0, "l": 10, "r": 10}}
    slider = {
        **low,
        "x": 0.2,
        "len": 0.78,
        "steps": steps,
        "currentvalue": {"prefix": axis.before, "suffix": axis.after},
    }
    play = {**low, "type": "buttons", "direction": "left", "x": 0, "xanchor": "left", "buttons": buttons}
    return {"sliders": [slider], "updatemenus": [{**play, "showactive": False}]}
