"""Functions that pictures of studies share: logarithmic axes, and order triangles that cover no curves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from lgint._args import Array
from lgint._run.decades import decades as decades

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MARKERS = "osD^vP*X"


def logarithmic(axes: Axes, xlabel: str, ylabel: str) -> None:
    """Makes both axes logarithmic, with ticks at powers of ten and thin lines between them; see `decades`."""
    axes.set(xscale="log", yscale="log", xlabel=xlabel, ylabel=ylabel)
    decades(axes, "x")
    decades(axes, "y")


# ---- order triangles ----


class Slope(NamedTuple):
    """An order, and the part of a line, (n,) each, that shows it."""

    order: float
    x: Array
    y: Array


class _Triangle(NamedTuple):
    """A triangle in powers of ten: its left and right end, the heights of both, and its side of the line."""

    left: float
    right: float
    start: float
    rise: float
    below: bool


ROUNDED = 0.15  # the largest distance between an order and the whole number that is shown for it
# fractions of the axes' size: from line to triangle, width of a triangle, of its number, margin of the axes
GAP, WIDEST, LABEL, EDGE = 0.03, 0.16, 0.035, 0.01


def triangles(axes: Axes, slopes: Sequence[Slope], lines: Sequence[tuple[ArrayLike, ArrayLike]]) -> None:
    """Draws a triangle for each slope beside its line, where it hides least of `lines`, each (x, y), and triangles.

    The limits of the axes have to be final.
    """
    taken: list[Array] = []
    curves = [_dense(axes, x, y) for x, y in lines]
    for slope in slopes:
        candidates = _candidates(axes, slope)
        boxes = [_box(axes, triangle) for triangle in candidates]
        if boxes:
            best = int(np.argmin([_covered(box, curves, taken) for box in boxes]))
            taken.append(boxes[best])
            _draw(axes, candidates[best], f"{slope.order:.0f}" if whole(slope.order) else f"{slope.order:.1f}")


def whole(order: float) -> bool:
    """Whether an order is shown as the nearest whole number."""
    return abs(order - round(order)) <= ROUNDED


def _candidates(axes: Axes, slope: Slope) -> list[_Triangle]:
    """Triangles below and above the line, sorted from its middle to its ends; none of them crosses the line."""
    points = np.log10(positive(slope.x, slope.y))
    if points.shape[1] < 2:
        return []
    x, y = points[:, np.argsort(points[0])]
    (wide, tall), middle = _sizes(axes), (x[0] + x[-1]) / 2
    width = min(WIDEST * wide, 0.6 * float(np.ptp(x)), 0.3 * tall / slope.order)
    found = []
    for below in (True, False):
        for left in sorted(np.linspace(x[0], x[-1] - width, 15), key=lambda left: abs(left + width / 2 - middle)):
            beside = np.linspace(0, width, 9)
            above = np.interp(left + beside, x, y) - slope.order * beside
            start = float(above.min() - GAP * tall if below else above.max() + GAP * tall)
            found.append(_Triangle(float(left), float(left + width), start, start + slope.order * width, below))
    return found


def _sizes(axes: Axes) -> tuple[float, float]:
    """Width and height of the axes in powers of ten."""
    return float(np.ptp(np.log10(axes.get_xlim()))), float(np.ptp(np.log10(axes.get_ylim())))


def _scaled(axes: Axes, x: ArrayLike, y: ArrayLike) -> Array:
    """Points (n, 2) given in powers of ten, as fractions of the axes."""
    low = np.log10([axes.get_xlim()[0], axes.get_ylim()[0]])
    return (np.column_stack([x, y]) - low) / _sizes(axes)


def _box(axes: Axes, triangle: _Triangle) -> Array:
    """The lower left and the upper right corner (2, 2) of a triangle with its number, as fractions of the axes."""
    box = _scaled(axes, [triangle.left, triangle.right], [triangle.start, triangle.rise])
    if triangle.below:
        box[1, 0] += LABEL
    else:
        box[0, 0] -= LABEL
    return box


def _dense(axes: Axes, x: ArrayLike, y: ArrayLike) -> Array:
    """Closely spaced points (n, 2) of a line, as fractions of the axes."""
    x, y = positive(x, y)
    if len(x) < 2:
        return _scaled(axes, np.log10(x), np.log10(y))
    fine = np.linspace(0, len(x) - 1, 40 * len(x))
    return _scaled(axes, *(np.interp(fine, np.arange(len(x)), np.log10(values)) for values in (x, y)))


def _covered(box: Array, curves: Sequence[Array], taken: Sequence[Array]) -> float:
    """How much a box hides of curves and other boxes, and how far it lies outside the axes."""
    outside = float(np.maximum(EDGE - box, 0).sum() + np.maximum(box - (1 - EDGE), 0).sum())
    hidden = sum(int(np.all((points > box[0] - 0.005) & (points < box[1] + 0.005), axis=1).sum()) for points in curves)
    others = sum(bool(np.all((box[0] < other[1]) & (other[0] < box[1]))) for other in taken)
    return hidden + 50 * others + 1e4 * outside


def _draw(axes: Axes, triangle: _Triangle, text: str) -> None:
    left, right, start, rise, below = triangle
    corner = (right, start) if below else (left, rise)
    points = 10 ** np.array([(left, start), (right, rise), corner])
    axes.fill(*points.T, facecolor="0.9", edgecolor="0.35", linewidth=0.8)
    look: dict[str, Any] = {"ha": "left", "xytext": (3, 0)} if below else {"ha": "right", "xytext": (-3, 0)}
    middle = (10 ** corner[0], 10 ** ((start + rise) / 2))
    axes.annotate(text, middle, textcoords="offset points", fontsize=8, va="center", **look)


def positive(x: ArrayLike, y: ArrayLike) -> tuple[Array, Array]:
    """The points that logarithmic axes can show."""
    x, y = np.broadcast_arrays(np.asarray(x, float), np.asarray(y, float))
    shown = np.isfinite(x) & np.isfinite(y) & (x > 0) & (y > 0)
    return x[shown], y[shown]
