"""Pictures of artifacts: panels side by side under one legend, all of one size and style."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from lgint._args import Array
from lgint._tools.results import ABSCISSAE, Study

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from lgint._tools.convergence import Curve

COSTS = ("newton_iterations", "seconds")
PANEL = (4.8, 4.0)  # inches
LONE = 1.25  # factor by which a picture of one panel is wider
FLAT = 1e-9  # if its range divided by its largest magnitude is below this, a line is shown as constant
Lines = Mapping[str, tuple[ArrayLike, ArrayLike]]


class Panel(NamedTuple):
    """One diagram.

    Attributes
    ----------
    title : str
    labels : tuple of str
        Labels of the lines in the order of the legend. A label has the same look in all panels of a picture.
    paint : function of axes and looks
        Draws the lines; the looks are numbers by label.
    """

    title: str
    labels: tuple[str, ...]
    paint: Callable[[Axes, Mapping[str, int]], None]


@dataclass(frozen=True)
class Picture:
    """Panels side by side, in rows of `columns` panels, or one below the other, with one legend above them."""

    panels: tuple[Panel, ...]
    stacked: bool = False
    columns: int | None = None

    @property
    def size(self) -> tuple[float, float]:
        """Width and height, inches: panels have one size; a single panel is wider, and stacked ones are flatter."""
        width, height = PANEL
        if self.stacked:
            return 1.5 * width, 0.7 * height * len(self.panels)
        rows, columns = self._grid()
        return width * (LONE if len(self.panels) == 1 else columns), height * rows + 0.18 * self._legend_rows()

    def _grid(self) -> tuple[int, int]:
        """Rows and columns of panels."""
        columns = 1 if self.stacked else self.columns or len(self.panels)
        return -(-len(self.panels) // columns), columns

    def _legend_rows(self) -> int:
        """Approximate number of rows of the legend."""
        return len(self._listed()) // 4

    def _listed(self) -> dict[str, int]:
        """Looks of the labels in the legend: of all lines except those that are alone in all of their panels."""
        labels = dict.fromkeys(label for panel in self.panels if len(panel.labels) > 1 for label in panel.labels)
        return {label: i for i, label in enumerate(labels)}

    def draw(self, figure: Figure) -> None:
        """Draws everything on an empty figure."""
        from lgint._tools import convergence  # it needs matplotlib, which is not needed to list the artifacts

        listed = self._listed()
        looks = {label: listed.get(label, 0) for panel in self.panels for label in panel.labels}
        for i, panel in enumerate(self.panels, 1):
            axes = figure.add_subplot(*self._grid(), i)
            panel.paint(axes, looks)
            axes.set_title(panel.title)
        convergence.legend(figure, "upper", listed)


def picture(*panels: Panel, stacked: bool = False, columns: int | None = None) -> Picture:
    """A picture of these panels."""
    return Picture(panels, stacked, columns)


# ---- kinds of panels ----


def errors(title: str, studies: Mapping[str, Study], what: str, ylabel: str, against: str = "h") -> Panel:
    """Errors of studies over step sizes or costs, with triangles for the orders that they show."""

    def paint(axes: Axes, looks: Mapping[str, int]) -> None:
        curves = [study.curve(label, what, against=against) for label, study in studies.items()]
        _paint_curves(axes, curves, looks, ABSCISSAE[against], ylabel)
        for curve in curves:
            for i in _last_before_failures(curve.y):
                _mark_end(axes, curve.x[i], curve.y[i])

    return Panel(title, tuple(studies), paint)


def _last_before_failures(y: Array) -> list[int]:
    """The indices of numbers next to missing ones, whose runs have failed."""
    there = np.isfinite(y)
    complete = np.append(there[1:], True) & np.append(True, there[:-1])  # both neighbours are there
    return [int(i) for i in np.flatnonzero(there & ~complete)]


def _mark_end(axes: Axes, x: float, y: float) -> None:
    """Draws a cross at the end of a curve that ends before the others."""
    axes.plot([x], [y], marker="x", color="k", markersize=9, markeredgewidth=1.2, linestyle="", zorder=4)


def costs(title: str, studies: Mapping[str, Study], what: str, ylabel: str) -> Panel:
    """Newton iterations or processor times over step sizes, of the runs that reached their ends."""

    def paint(axes: Axes, looks: Mapping[str, int]) -> None:
        from lgint._tools import axes as look
        from lgint._tools.convergence import marked

        for label, study in studies.items():
            axes.plot(study.h, arrived(study, what), label=label, **marked(looks[label]))
        if what == "seconds":
            look.logarithmic(axes, "h / s", ylabel)
        else:
            axes.set(xscale="log", xlabel="h / s", ylabel=ylabel)
            look.decades(axes, "x")

    return Panel(title, tuple(studies), paint)


def arrived(study: Study, what: str) -> Array:
    """A cost of each run that reached its end, NaN for the others."""
    values = np.array(getattr(study, what), float)
    values[list(study.failures)] = np.nan
    return values


def powers(title: str, lines: Lines, xlabel: str, ylabel: str, orders: Mapping[str, float] | None = None) -> Panel:
    """Lines on logarithmic axes, with a triangle at each line for which an order is given."""

    def paint(axes: Axes, looks: Mapping[str, int]) -> None:
        from lgint._tools.convergence import Curve

        curves = []
        for label, (x, y) in lines.items():
            points = np.asarray(x, float)
            curves.append(
                Curve(label, points, np.asarray(y, float), order=(orders or {}).get(label, np.nan), range=points)
            )
        _paint_curves(axes, curves, looks, xlabel, ylabel)

    return Panel(title, tuple(lines), paint)


def _paint_curves(axes: Axes, curves: list[Curve], looks: Mapping[str, int], xlabel: str, ylabel: str) -> None:
    from lgint._tools import convergence

    convergence.errors(axes, [curve._replace(look=looks[curve.label]) for curve in curves], xlabel, ylabel)


def over_time(title: str, ylabel: str, t: ArrayLike, lines: Mapping[str, Array], **more: Mapping[str, Any]) -> Panel:
    """Lines over time; increments, which have one value less, are at the ends of their steps. More: see `plane`."""
    times = np.asarray(t, float)
    over: dict[str, Any] = {
        kind: {label: (times[-len(y) :], y) for label, y in given.items()} for kind, given in more.items()
    }
    return plane(title, TIME, ylabel, {label: (times[-len(y) :], y) for label, y in lines.items()}, **over)


def plane(
    title: str,
    xlabel: str,
    ylabel: str,
    lines: Lines,
    *,
    reference: Lines | None = None,
    dotted: Lines | None = None,
    equal: bool = False,
    span: float | None = None,
) -> Panel:
    """Lines on linear axes, each (n,) or (n, m); references are broad and pale, and dotted lines are black and on top.

    Both axes show the interval from -span to span if `span` is given.
    """
    behind, above = reference or {}, dotted or {}

    def paint(axes: Axes, looks: Mapping[str, int]) -> None:
        from lgint._tools.convergence import marked

        for label, line in behind.items():
            _plot(axes, label, line, color="0.75", linewidth=4.5)
        for label, line in lines.items():
            _plot(axes, label, line, color=marked(looks[label])["color"])
        for label, line in above.items():
            _plot(axes, label, line, color="k", linestyle=":", linewidth=1.0)
        if xlabel == TIME:
            _mark_early_ends(axes, [*lines.values(), *behind.values()])
        axes.set(xlabel=xlabel, ylabel=ylabel, aspect="equal" if equal else "auto")
        if span is not None:
            axes.set(xlim=(-span, span), ylim=(-span, span))
            return
        _show_constants(axes, [np.asarray(values, float) for _, values in lines.values()])

    return Panel(title, (*lines, *above, *behind), paint)


TIME = "t / s"


def _mark_early_ends(axes: Axes, lines: list[tuple[ArrayLike, ArrayLike]]) -> None:
    """Draws crosses where lines over time end before the longest one, because the run has failed."""
    ends = [(np.asarray(x, float)[-1], np.asarray(y, float)[-1]) for x, y in lines]
    latest = max(x for x, _ in ends)
    for x, y in ends:
        if x < (1 - LATE) * latest:
            for value in np.atleast_1d(y):
                _mark_end(axes, x, value)


LATE = 0.03  # a line ends early if it is shorter than the longest one by this fraction of it


def _plot(axes: Axes, label: str, line: tuple[ArrayLike, ArrayLike], **look: Any) -> None:
    """One or several columns of values as lines of one look."""
    x, values = (np.asarray(part, float) for part in line)
    several = values.reshape(len(x), -1)
    axes.plot(x, several, label=[label, *[None] * (several.shape[1] - 1)], **look)


def _show_constants(axes: Axes, values: list[Array]) -> None:
    """Sets limits with which lines that are constant up to round-off look constant."""
    low, high = min(float(np.nanmin(v)) for v in values), max(float(np.nanmax(v)) for v in values)
    size = max(abs(low), abs(high))
    if high - low < FLAT * size and size > 1e-6:
        axes.set_ylim(low - 0.1 * size, high + 0.1 * size)


def sizes(title: str, xlabel: str, ylabel: str, lines: Lines, *, logarithmic: bool = False, **look: Any) -> Panel:
    """Magnitudes on a logarithmic axis, without zeros, over time or over an axis that is logarithmic as well."""

    def paint(axes: Axes, looks: Mapping[str, int]) -> None:
        from lgint._tools import axes as scales
        from lgint._tools.convergence import marked

        for label, (x, values) in lines.items():
            shown = np.abs(np.asarray(values, float))
            shown[shown == 0] = np.nan
            axes.semilogy(x, shown, color=marked(looks[label])["color"], label=label, **look)
        if xlabel == TIME:
            _mark_early_ends(axes, [(x, np.abs(np.asarray(values, float))) for x, values in lines.values()])
        if logarithmic:
            scales.logarithmic(axes, xlabel, ylabel)
        else:
            axes.set(xlabel=xlabel, ylabel=ylabel)
            scales.decades(axes, "y")

    return Panel(title, tuple(lines), paint)


DOTS: dict[str, Any] = {"linestyle": "", "marker": ".", "markersize": 3.0}  # for values that are often zero
