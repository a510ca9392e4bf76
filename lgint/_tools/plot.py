"""Pictures of trajectories and studies; needs matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from lgint._args import Array

if TYPE_CHECKING:
    from matplotlib.animation import FuncAnimation
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from lgint._run.trajectory import Trajectory
    from lgint._tools.study import Study

COLORS = ("#3366aa", "#d1495b", "#2e8b7a", "#e2a33c", "#7a5195", "#5b6770", "#9c6b30", "#1f9bcf")
STYLE: dict[Any, Any] = {
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
MARKERS = "osD^vP*X"


def _figure(*args: Any, **keywords: Any) -> Figure:
    """A figure that no window manager knows: it can be saved anywhere and needs no closing."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError("plots need matplotlib: pip install 'lgint[plot]'") from error
    return Figure(*args, layout="constrained", **keywords)


def _context() -> Any:
    from matplotlib import cycler, rc_context  # type: ignore[attr-defined]

    return rc_context({**STYLE, "axes.prop_cycle": cycler(color=COLORS)})


def trajectory(run: Trajectory) -> Figure:
    """Paths of the bodies, angular velocities, change of energy and constraint residuals.

    Without bodies (a `CallableModel`): coordinates and velocities in place of the first two.
    """
    from lgint._model.model import Model

    figure = _figure(figsize=(10, 7))
    with _context():
        if isinstance(run.model, Model):
            _paths(figure.add_subplot(2, 2, 1, projection="3d"), run)
            _angular_velocities(figure.add_subplot(2, 2, 2), run)
        else:
            _lines(figure.add_subplot(2, 2, 1), run.t, run.q, "coordinates")
            _lines(figure.add_subplot(2, 2, 2), run.t, run.v, "velocities")
        _energy(figure.add_subplot(2, 2, 3), run)
        _residuals(figure.add_subplot(2, 2, 4), run)
    return figure


def _shown(names: Sequence[str], count: int = 8) -> list[str]:
    """At most `count` names, spread evenly."""
    return [names[i] for i in np.unique(np.linspace(0, len(names) - 1, min(count, len(names))).astype(int))]


def _paths(axes: Axes, run: Trajectory) -> None:
    for name in _shown(list(run.multibody().bodies)):
        axes.plot(*run.position(name).T, label=name)
    axes.set(title="paths of the centres of mass", xlabel="x / m", ylabel="y / m", zlabel="z / m")
    axes.locator_params(nbins=4)
    axes.set_aspect("equal", adjustable="datalim")
    axes.legend()


def _angular_velocities(axes: Axes, run: Trajectory) -> None:
    for name in _shown(list(run.multibody().bodies), 2):
        for component, values in zip("xyz", run.angular_velocity(name).T, strict=True):
            axes.plot(run.t, values, label=f"{name} {component}")
    axes.set(title="angular velocity, body axes", xlabel="t / s", ylabel="rad/s")
    axes.legend(ncols=2)


def _lines(axes: Axes, t: Array, values: Array, title: str) -> None:
    axes.plot(t, values[:, :8])
    axes.set(title=title, xlabel="t / s")


def _energy(axes: Axes, run: Trajectory) -> None:
    try:
        energy = run.energy()
    except ValueError:  # a CallableModel without an energy
        axes.set(title="no energy")
        return
    axes.plot(run.t, energy - energy[0])
    axes.set(title="change of energy", xlabel="t / s", ylabel="J")


def _residuals(axes: Axes, run: Trajectory) -> None:
    axes.set(title="largest constraint residual", xlabel="t / s")
    if not run.model.nc:
        axes.text(0.5, 0.5, "no constraints", ha="center", transform=axes.transAxes)
        return
    for level in ("position", "velocity"):
        axes.semilogy(run.t, np.abs(run.constraint_residual(level)).max(axis=1, initial=1e-17), label=level)
    axes.legend()


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
    figure = _figure(figsize=(12, 8.5))
    with _context():
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


def animation(run: Trajectory, seconds: float) -> FuncAnimation:
    """Bodies as triads of axes, moved through at most 200 states of the run; joints join the bodies to their points."""
    from matplotlib import pyplot
    from matplotlib.animation import FuncAnimation

    model = run.multibody()
    states = np.unique(np.linspace(0, len(run) - 1, min(200, len(run))).astype(int))
    lines = list(_segments(run, states))
    extent = np.concatenate([line.reshape(-1, 3) for line, _ in lines])
    centre, reach = (extent.max(0) + extent.min(0)) / 2, max(float(np.ptp(extent, axis=0).max()) / 2, 1e-6)

    figure, axes = pyplot.subplots(subplot_kw={"projection": "3d"})
    for letter, middle in zip("xyz", centre, strict=True):
        axes.set(**{f"{letter}lim": (middle - reach, middle + reach), f"{letter}label": f"{letter} / m"})
    artists: list[Any] = [axes.plot([], [], [], color=color)[0] for _, color in lines]
    title = axes.set_title(", ".join(_shown(list(model.bodies), 4)))

    def show(i: int) -> list[Any]:
        for artist, (line, _) in zip(artists, lines, strict=True):
            artist.set_data_3d(*line[i].T)
        title.set_text(f"t = {run.t[states[i]]:.3f} s")
        return artists

    return FuncAnimation(figure, show, frames=len(states), interval=1000 * seconds / len(states))


def _segments(run: Trajectory, states: Array) -> Any:
    """Line segments (states, 2, 3) with their colours: body axes, and from bodies to their joints."""
    model = run.multibody()
    places = [model.kinematics(name, run.q[states], run.v[states]) for name in model.bodies]
    spread = np.concatenate([x for x, _, _, _ in places])
    size = 0.1 * float(np.ptp(spread, axis=0).max()) or 0.1
    for x, R, _, _ in places:
        for i, color in enumerate(("#d1495b", "#2e8b7a", "#3366aa")):
            yield np.stack([x, x + size * R[:, :, i]], axis=1), color
    for joint in model.joints.values():
        for who, frame in zip((joint["first"], joint["second"]), joint["frames"], strict=True):
            if who != "ground":
                x = model.kinematics(who, run.q[states], run.v[states])[0]
                point = model.core.kinematics(frame, run.q[states], run.v[states])[0]
                yield np.stack([x, point], axis=1), "#5b6770"
