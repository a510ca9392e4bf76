"""Pictures and animations of trajectories; needs matplotlib."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from lgint._args import Array, choice, number
from lgint._model.model import Model
from lgint._model.record import RodRow
from lgint._run.scene import COLORS as COLORS
from lgint._run.scene import GREY, Frames, arms, curve, frames, solid_bodies
from lgint._run.states import States

try:
    from matplotlib import rc_context
    from matplotlib.animation import FuncAnimation
    from matplotlib.backend_bases import FigureCanvasBase
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.rcsetup import cycler
except ImportError as error:
    raise ImportError("plots need matplotlib: pip install 'lgint[plot]'") from error

if TYPE_CHECKING:
    from matplotlib.axes import Axes

STYLE: dict[Any, Any] = {
    "axes.formatter.limits": (-3, 4),
    "axes.formatter.use_mathtext": True,
    "axes.formatter.useoffset": False,
    "axes.grid": True,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": "medium",
    "font.size": 9,
    "grid.alpha": 0.3,
    "legend.frameon": False,
    "legend.fontsize": 8,
    "lines.linewidth": 1.3,
    "savefig.dpi": 150,
}


class Picture(Figure):
    """A figure outside pyplot, which notebooks show and which can be saved; it need not be closed."""

    def _repr_png_(self) -> bytes:
        file = io.BytesIO()
        self.savefig(file, format="png", dpi=100)
        return file.getvalue()


def style() -> Any:
    """A context with the style of all pictures."""
    return rc_context({**STYLE, "axes.prop_cycle": cycler(color=COLORS)})


def trajectory(run: States, what: str | None = None, axes: Axes | None = None) -> Figure:
    """All panels of a run, or one of them, in new axes or in those given."""
    panels = _panels(run)
    if what is not None:
        choice("what", what, panels)
    if axes is not None:
        solid = axes.name == "3d"
        name = what or ("paths" if solid and "paths" in panels else list(panels)[1])
        if (name == "paths") != solid:
            raise ValueError(f"ax: {name} need axes {'with' if name == 'paths' else 'without'} projection='3d'")
        with style():
            panels[name](axes, run)
        given: Any = axes.figure
        figure: Figure = given
        return figure

    names = list(panels) if what is None else [what]
    picture = Picture(figsize=(10, 7) if what is None else (6, 4.5), layout="constrained")
    rows = 2 if what is None else 1
    with style():
        for place, name in enumerate(names):
            shape = {"projection": "3d"} if name == "paths" else {}
            panels[name](picture.add_subplot(rows, rows, place + 1, **shape), run)
    return picture


def _panels(run: States) -> Mapping[str, Callable[[Axes, States], None]]:
    common = {"energy": _energy, "residuals": _residuals}
    if isinstance(run.model, Model):
        return {"paths": _paths, "angular_velocities": _angular_velocities, **common}
    return {"coordinates": _coordinates, "velocities": _velocities, **common}


def _shown(names: Sequence[str], count: int) -> tuple[list[str], str]:
    """At most `count` names, spread evenly, and an addition to the title if there are more."""
    chosen = [names[i] for i in np.unique(np.linspace(0, len(names) - 1, min(count, len(names))).astype(int))]
    return chosen, "" if len(chosen) == len(names) else f" ({len(chosen)} of {len(names)} bodies)"


def _paths(axes: Axes, run: States) -> None:
    model = run.multibody()
    names, left_out = _shown(solid_bodies(model), 8)
    for name in names:
        axes.plot(*run.position(name).T, label=name)
    for i, (name, rod) in enumerate(model.rods.items()):
        _shapes(axes, run, name, rod, COLORS[i % len(COLORS)])
    title = "paths of the centres of mass" if names or not model.rods else "shapes of the rods"
    axes.set(title=title + left_out, xlabel="x / m", ylabel="y / m", zlabel="z / m")
    axes.locator_params(nbins=4)
    axes.set_aspect("equal", adjustable="datalim")
    axes.legend()


def _shapes(axes: Axes, run: States, name: str, rod: RodRow, color: str, most: int = 12) -> None:
    """A rod as a curve at some times, the later the darker, and the path of its last node."""
    times = np.unique(np.linspace(0, len(run) - 1, min(most, len(run))).astype(int))
    lines = curve(run.multibody(), rod, run.q[times], run.v[times], run.t[times])
    for i, line in enumerate(lines):
        label = name if i == len(lines) - 1 else None
        axes.plot(*line.T, color=color, alpha=(i + 1) / len(lines), label=label)
    axes.plot(*run.position(rod["nodes"][-1]).T, color=color, linestyle=":", linewidth=0.8)


def _angular_velocities(axes: Axes, run: States) -> None:
    names, left_out = _shown(list(run.multibody().bodies), 2)
    for name in names:
        for component, values in zip("xyz", run.angular_velocity(name).T, strict=True):
            axes.plot(run.t, values, label=f"{name} {component}")
    axes.set(title="angular velocity, body axes" + left_out, xlabel="t / s", ylabel="rad/s")
    axes.legend(ncols=2)


def _coordinates(axes: Axes, run: States) -> None:
    _lines(axes, run.t, run.q, "coordinates")


def _velocities(axes: Axes, run: States) -> None:
    _lines(axes, run.t, run.v, "velocities")


def _lines(axes: Axes, t: Array, values: Array, title: str, most: int = 8) -> None:
    axes.plot(t, values[:, :most])
    n = values.shape[1]
    axes.set(title=title if n <= most else f"{title} (first {most} of {n})", xlabel="t / s")


def _energy(axes: Axes, run: States) -> None:
    try:
        energy = run.energy()
    except ValueError:  # a CallableModel without an energy
        axes.set(title="no energy")
        return
    axes.plot(run.t, energy - energy[0])
    axes.set(title="change of energy", xlabel="t / s", ylabel="J")


def _residuals(axes: Axes, run: States) -> None:
    axes.set(title="largest constraint residual", xlabel="t / s")
    if not run.model.nc:
        axes.text(0.5, 0.5, "no constraints", ha="center", transform=axes.transAxes)
        return
    for level in ("position", "velocity"):
        axes.semilogy(run.t, np.abs(run.constraint_residual(level)).max(axis=1, initial=1e-17), label=level)
    axes.legend()


# ---- animations ----


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


class Movie(FuncAnimation):
    """An animation that notebooks play, without a network."""

    def _repr_html_(self) -> str:
        with rc_context({"animation.embed_limit": 1000.0}):  # MB: all frames, however many were asked for
            html: str = self.to_jshtml()
        html = re.sub(r"<link[^>]*font-awesome[^>]*>", "", html)
        return re.sub(r'<i class="fa fa-([\w -]+)"></i>', lambda icon: SYMBOLS[icon[1]], html)


def animation(run: States, seconds: float, fps: float) -> Movie:
    """Rods as curves, other bodies as triads of axes, and lines that join them to the points of their joints."""
    number("seconds", seconds, positive=True)
    number("fps", fps, positive=True)
    if not len(run):
        raise ValueError("this run has no state to show")
    at = frames(run, max(round(seconds * fps), 1))
    lines = list(_segments(run.multibody(), at))
    figure = Picture(figsize=(5, 4.5))
    axes = _room(figure, np.concatenate([line.reshape(-1, 3) for line, _ in lines]))
    artists: list[Any] = [axes.plot([], [], [], color=color)[0] for _, color in lines]
    title = axes.set_title("")

    def show(i: int) -> list[Any]:
        for artist, (line, _) in zip(artists, lines, strict=True):
            artist.set_data_3d(*line[i].T)
        title.set_text(f"t = {at.label[i]:.3f} s")
        return artists

    return Movie(figure, show, frames=len(at.t), interval=1000 / fps)


def _room(figure: Any, extent: Array) -> Any:
    """Axes around all points; walls, grid and labels are drawn once, as a picture behind the moving lines."""
    centre, reach = (extent.max(0) + extent.min(0)) / 2, max(float(np.ptp(extent, axis=0).max()) / 2, 1e-6)
    axes = figure.add_axes((0.0, 0.02, 0.92, 0.93), projection="3d")
    for letter, middle in zip("xyz", centre, strict=True):
        axes.set(**{f"{letter}lim": (middle - reach, middle + reach), f"{letter}label": f"{letter} / m"})
    axes.locator_params(nbins=4)
    canvas: Any = FigureCanvasAgg(figure)
    canvas.draw()
    wall = figure.add_axes((0, 0, 1, 1), zorder=-1)
    wall.imshow(np.array(canvas.buffer_rgba()), aspect="auto", interpolation="none")
    FigureCanvasBase(figure)  # draws only when asked to
    wall.set_axis_off()
    axes.set_axis_off()
    axes.patch.set_visible(False)
    return axes


def _segments(model: Model, at: Frames) -> Iterator[tuple[Array, str]]:
    """Lines (frames, points, 3) with their colours: rods, axes of other bodies, and from these to their joints."""
    for i, rod in enumerate(model.rods.values()):
        yield curve(model, rod, at.q, at.v, at.t), COLORS[i % len(COLORS)]
    places, R, *_ = model.motions(list(model.bodies), at.q, at.v, at.t)
    size = 0.1 * float(np.ptp(places, axis=(0, 1)).max()) or 0.1
    shown = set(solid_bodies(model))
    for k, name in enumerate(model.bodies):
        for i, color in enumerate(("#d1495b", "#2e8b7a", "#3366aa")):
            if name in shown:
                yield np.stack([places[:, k], places[:, k] + size * R[:, k, :, i]], axis=1), color
    yield from ((line, GREY) for line in arms(model, at))
