"""Functions that pictures of studies share: logarithmic axes, curves with markers, order triangles, on given axes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from lgint._args import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MARKERS = "osD^vP*X"


def logarithmic(axes: Axes, xlabel: str, ylabel: str, title: str = "") -> None:
    """Both axes logarithmic, ticks at powers of ten, thin lines between; limits near a power of ten move there."""
    from matplotlib.ticker import LogLocator, NullFormatter

    axes.set(xscale="log", yscale="log", xlabel=xlabel, ylabel=ylabel, title=title)
    for axis, limits, set_limits in (
        (axes.xaxis, axes.get_xlim, axes.set_xlim),
        (axes.yaxis, axes.get_ylim, axes.set_ylim),
    ):
        low, high = np.log10(limits())
        while high - low < 0.5 or np.ceil(low) > np.floor(high):
            low, high = low - 0.1, high + 0.1
        down, up = np.floor(low), np.ceil(high)
        set_limits(10 ** (down - 0.02 if low - down < 0.2 else low), 10 ** (up + 0.02 if up - high < 0.2 else high))
        axis.set_major_locator(LogLocator(base=10, numticks=9))
        axis.set_minor_locator(LogLocator(base=10, subs=tuple(range(2, 10)), numticks=99))
        axis.set_minor_formatter(NullFormatter())
    axes.grid(which="minor", alpha=0.12)


def curves(axes: Axes, lines: Mapping[str, tuple[ArrayLike, ArrayLike]], **look: Any) -> None:
    """One line with markers for each label: (x, y). Values that are not positive and finite are left out."""
    for i, (label, (x, y)) in enumerate(lines.items(), len(axes.lines)):
        x, y = _positive(x, y)
        axes.plot(x, y, **{"label": label, "marker": MARKERS[i % len(MARKERS)], "markersize": 4.5, **look})


def triangle(axes: Axes, order: float, x: ArrayLike, y: ArrayLike, *, shift: float = 0.4) -> None:
    """A triangle of slope `order` beside the line (x, y): below it for `shift` < 1, above it for `shift` > 1.

    It spans the part of the line that is given; pass two or three of its points.
    """
    x, y = _positive(x, y)
    if len(x) < 2:
        return
    left, right = x.min(), x.max()
    start = y[np.argmin(x)] * shift
    rise = start * (right / left) ** order
    corner = (right, start) if shift < 1 else (left, rise)
    axes.fill(*zip((left, start), (right, rise), corner, strict=True), facecolor="0.9", edgecolor="0.35", linewidth=0.8)
    place: dict[str, Any] = {"ha": "left", "va": "center", "xytext": (3, 0)}
    if shift >= 1:
        place |= {"ha": "right", "xytext": (-3, 0)}
    axes.annotate(f"{order:g}", (corner[0], np.sqrt(start * rise)), textcoords="offset points", fontsize=8, **place)


def legend(axes: Axes, *, outside: bool = False, **look: Any) -> None:
    """The legend of the axes, inside where it covers least or to their right."""
    place = {"loc": "center left", "bbox_to_anchor": (1.0, 0.5)} if outside else {}
    axes.legend(**{**place, **look})


def panels(figure: Any, rows: int, columns: int, **shared: Any) -> Sequence[Axes]:
    """Axes row by row."""
    return list(np.ravel(figure.subplots(rows, columns, **shared)))


def _positive(x: ArrayLike, y: ArrayLike) -> tuple[Array, Array]:
    """The points that logarithmic axes can show."""
    x, y = np.broadcast_arrays(np.asarray(x, float), np.asarray(y, float))
    shown = np.isfinite(x) & np.isfinite(y) & (x > 0) & (y > 0)
    return x[shown], y[shown]
