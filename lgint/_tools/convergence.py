"""Pictures of studies; needs matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from lgint._args import Array
from lgint._run.plot import COLORS, Picture, style
from lgint._tools.axes import MARKERS
from lgint._tools.study import Study

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def convergence(axes: Axes, studies: Sequence[tuple[str, Study]], quantity: str) -> None:
    """Errors over step sizes, double logarithmic, one line per labelled study; implicit methods are dashed."""
    for i, (label, study) in enumerate(studies):
        look = {"color": COLORS[i % len(COLORS)], "marker": MARKERS[i % len(MARKERS)], "markersize": 4.5}
        implicit = study.trajectories[-1].stats.newton_iterations > 0
        axes.loglog(study.h, study.errors[quantity], label=label, linestyle="--" if implicit else "-", **look)
    axes.set(xlabel="h / s", ylabel=f"error in {quantity}")
    axes.set_xticks(studies[0][1].h, [f"{h:g}" for h in studies[0][1].h])
    axes.minorticks_off()


def demo(path: Array, panels: Sequence[tuple[str, str, Sequence[tuple[str, Study]]]]) -> Figure:
    """The demo's picture: the path of the top and a convergence panel for each (title, quantity, studies)."""
    figure = Picture(figsize=(12, 8.5), layout="constrained")
    with style():
        _top(figure.add_subplot(2, 2, 1, projection="3d"), path)
        for i, (title, quantity, studies) in enumerate(panels):
            axes = figure.add_subplot(2, 2, i + 2)
            convergence(axes, studies, quantity)
            axes.set_title(title)
        handles, labels = axes.get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=4, fontsize=9)
    return figure


def _top(axes: Axes, path: Array) -> None:
    """The path of the top's centre of mass, with the top at its start and its end."""
    axes.plot(*path.T, color=COLORS[0])
    for place, color in ((path[0], COLORS[5]), (path[-1], COLORS[1])):
        axes.plot(*np.stack([np.zeros(3), place]).T, color=color, linewidth=2, marker="o", markersize=4)
    axes.set(title="path of the centre of mass, start grey, end red", xlabel="x / m", ylabel="y / m", zlabel="z / m")
    axes.locator_params(nbins=4)
    axes.set_aspect("equal")
