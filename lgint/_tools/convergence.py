"""Diagrams of studies: errors on logarithmic axes with order triangles, drifts over time; needs matplotlib."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from lgint._args import Array, shown
from lgint._run.plot import COLORS, Picture, style
from lgint._tools.axes import MARKERS, Slope, logarithmic, triangles, whole

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


class Curve(NamedTuple):
    """A line of a diagram: its points, and the order that it shows from the abscissa `range[0]` to `range[-1]`."""

    label: str
    x: Array
    y: Array
    dashed: bool = False
    order: float = np.nan
    range: Array = np.empty(0)
    look: int | None = None  # index in the list of colours and markers; None: the curve's index in the diagram


def errors(axes: Axes, curves: Sequence[Curve], xlabel: str, ylabel: str) -> None:
    """Draws curves on logarithmic axes, and triangles for the orders that they show."""
    for i, curve in enumerate(curves):
        y = np.where(curve.y > 0, curve.y, np.nan)
        look = marked(i if curve.look is None else curve.look)
        axes.loglog(curve.x, y, label=curve.label, linestyle="--" if curve.dashed else "-", **look)
    logarithmic(axes, xlabel, ylabel)
    triangles(axes, [_slope(curve) for curve in _lowest(curves)], [(curve.x, curve.y) for curve in curves])


def marked(i: int) -> dict[str, Any]:
    """Colour and marker of the line with this index; lines of one colour have different markers."""
    marker = MARKERS[(i + i // len(COLORS)) % len(MARKERS)]
    return {"color": COLORS[i % len(COLORS)], "marker": marker, "markersize": 4.5}


def _lowest(curves: Sequence[Curve]) -> list[Curve]:
    """For each whole order that curves show, the one with the smallest errors; the highest order first."""
    chosen: dict[int, Curve] = {}
    for curve in curves:
        order = round(curve.order) if np.isfinite(curve.order) else 0
        if order and (order not in chosen or np.nanmin(curve.y) < np.nanmin(chosen[order].y)):
            chosen[order] = curve
    return [chosen[order] for order in sorted(chosen, reverse=True)]


def _slope(curve: Curve) -> Slope:
    """The part of a curve that shows its order."""
    shown = (curve.x >= curve.range.min()) & (curve.x <= curve.range.max())
    order = round(curve.order) if whole(curve.order) else curve.order
    return Slope(order, curve.x[shown], curve.y[shown])


def panels(names: Sequence[str], draw: Callable[[Axes, str], None], axes: Axes | None) -> Figure:
    """A figure with a panel for each name and one legend below them, or one panel in the given axes."""
    if axes is not None:
        if not hasattr(axes, "semilogy"):
            raise ValueError(f"ax: axes of matplotlib expected, got {shown(axes)}")
        if len(names) != 1:
            raise ValueError(f"ax: given axes show a single panel; choose one of {', '.join(names)}")
        with style():
            draw(axes, names[0])
            axes.legend()
        given: Any = axes.figure
        figure: Figure = given
        return figure
    columns = min(3, len(names))
    lines = -(-len(names) // columns)
    picture = Picture(figsize=(1.0 + 4.2 * columns, 0.6 + 3.6 * lines), layout="constrained")
    with style():
        for i, name in enumerate(names):
            draw(picture.add_subplot(lines, columns, i + 1), name)
        legend(picture)
    return picture


def legend(figure: Figure, side: str = "lower", listed: Iterable[str] | None = None) -> None:
    """Adds one legend of all panels' lines, or of those listed, below or above, in as many columns as fit."""
    found: dict[str, Any] = {}
    for axes in figure.axes:
        handles, labels = axes.get_legend_handles_labels()
        found |= {label: handle for label, handle in zip(labels, handles, strict=True) if label not in found}
    found = found if listed is None else {label: found[label] for label in listed}
    if found:
        columns = legend_columns(found, figure.get_figwidth())
        figure.legend(list(found.values()), list(found), loc=f"outside {side} center", ncols=columns, fontsize=8)


def legend_columns(labels: Iterable[str], width: float) -> int:
    """The number of columns of a legend of this width, inches; all rows are about equally full."""
    lengths = [len(re.sub(r"\\[a-z]+|[${}\\^_]", "", label)) for label in labels]
    most = max(1, min(len(lengths), int(width / (0.6 + 0.065 * max(lengths)))))
    rows = -(-len(lengths) // most)
    return -(-len(lengths) // rows)


def over_time(
    t: Mapping[str, Array], values: Mapping[str, Mapping[str, Array]], titles: Mapping[str, str], axes: Axes | None
) -> Figure:
    """Drifts of invariants on a logarithmic axis: a panel for each invariant with its title, a line for each run."""

    def draw(panel: Axes, name: str) -> None:
        for i, (label, run) in enumerate(values.items()):
            if name in run:
                drift = np.where(run[name] > 0, run[name], np.nan)
                panel.semilogy(t[label], drift, label=label, color=COLORS[i % len(COLORS)], linewidth=1.0)
        panel.set(title=titles[name], xlabel="t / s", ylabel="drift")

    return panels(list(titles), draw, axes)


# ---- the demo ----


def demo(path: Array, parts: Sequence[tuple[str, str, Sequence[Curve]]]) -> Figure:
    """The demo's picture: the path of the top and a diagram of errors for each (title, quantity, curves)."""
    figure = Picture(figsize=(12, 8.5), layout="constrained")
    with style():
        _top(figure.add_subplot(2, 2, 1, projection="3d"), path)
        for i, (title, quantity, curves) in enumerate(parts):
            axes = figure.add_subplot(2, 2, i + 2)
            errors(axes, curves, "h / s", f"error in {quantity}")
            axes.set_title(title)
        legend(figure)
    return figure


def _top(axes: Axes, path: Array) -> None:
    """The path of the top's centre of mass, with the top at its start and its end."""
    axes.plot(*path.T, color=COLORS[0])
    for com, color in ((path[0], COLORS[5]), (path[-1], COLORS[1])):
        axes.plot(*np.stack([np.zeros(3), com]).T, color=color, linewidth=2, marker="o", markersize=4)
    axes.set(title="path of the centre of mass, start grey, end orange", xlabel="x / m", ylabel="y / m", zlabel="z / m")
    axes.locator_params(nbins=4)
    axes.set_aspect("equal")
