"""Diagrams of trajectories; needs matplotlib."""

from __future__ import annotations

import io
import textwrap
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from lgint._args import Array, array, choice, shown
from lgint._model.model import Model
from lgint._model.record import EDGES, RodRow
from lgint._run.decades import decades
from lgint._run.scene import COLORS as COLORS
from lgint._run.scene import curve, solid_bodies
from lgint._run.states import States
from lgint._state.outputs import Wrench

try:
    from matplotlib import rc_context
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


MOST_NAMED = 12  # bodies that a panel's title names because the panel does not show them


class Picture(Figure):
    """A figure outside pyplot, which notebooks show and which can be saved; it need not be closed."""

    def _repr_png_(self) -> bytes:
        file = io.BytesIO()
        self.savefig(file, format="png", dpi=100)
        return file.getvalue()


def style() -> Any:
    """A context with the style of all pictures."""
    return rc_context({**STYLE, "axes.prop_cycle": cycler(color=COLORS)})


def trajectory(
    run: States, what: str | None = None, axes: Axes | None = None, figsize: ArrayLike | None = None
) -> Figure:
    """The panels of a run that have something to show, or the requested one, in new axes or in the given ones."""
    shown_first = _panels(run)
    panels: dict[str, Callable[[Axes, Any], None]] = {**shown_first, **_on_request(run)}
    if what is not None:
        choice("what", what, panels)
    if axes is not None:
        if figsize is not None:
            raise ValueError("figsize: given axes have the size of their figure; leave out figsize or ax")
        solid = axes.name == "3d"
        name = what or ("paths" if solid and "paths" in panels else list(panels)[1])
        if (name == "paths") != solid:
            kind = "with" if name == "paths" else "without"
            raise ValueError(f"ax: axes {kind} projection='3d' expected for {name!r}")
        with style():
            panels[name](axes, run)
            _add_legend(axes)
        given: Any = axes.figure
        figure: Figure = given
        return figure

    names = [name for name in shown_first if _has_something(run, name)] if what is None else [what]
    columns = 1 if len(names) == 1 else 2
    rows = -(-len(names) // columns)
    picture = Picture(figsize=_size(figsize, (6 * columns, 3.7 * rows + 0.3)), layout="constrained")
    with style():
        for number, name in enumerate(names):
            shape = {"projection": "3d"} if name == "paths" else {}
            panel = picture.add_subplot(rows, columns, number + 1, **shape)
            panels[name](panel, run)
            _add_legend(panel, loc="upper left", bbox_to_anchor=(1.25 if shape else 1.01, 1.0), borderaxespad=0.0)
    return picture


def _size(given: ArrayLike | None, default: tuple[float, float]) -> tuple[float, float]:
    """Width and height of a figure in inches."""
    if given is None:
        return default
    width, height = array("figsize", given, (2,)).tolist()
    if not (width > 0 and height > 0):
        raise ValueError(f"figsize: positive width and height in inches expected, got {shown(given)}")
    return width, height


def _add_legend(axes: Axes, **where: Any) -> None:
    """Adds a legend of the lines that have names; in our own pictures it is beside the axes and covers no curve."""
    if axes.get_legend_handles_labels()[0]:
        axes.legend(**where)


def _panels(run: States) -> Mapping[str, Callable[[Axes, States], None]]:
    common = {"energy": _energy, "residuals": _residuals}
    if isinstance(run.model, Model):
        return {"paths": _paths, "angular_velocities": _angular_velocities, **common}
    return {"coordinates": _coordinates, "velocities": _velocities, **common}


def _on_request(run: States) -> Mapping[str, Callable[[Axes, States], None]]:
    """The panels that are only drawn if they are asked for."""
    if isinstance(run.model, Model):
        return {"reactions": _reactions, "forces": _forces, "joint_angles": _joint_angles}
    return {}


def _has_something(run: States, name: str) -> bool:
    """Whether a panel would show anything other than zeros."""
    if name == "angular_velocities":
        return bool(_turning(run))
    if name == "velocities":
        return bool(run.v.any())
    if name == "energy":
        return _energies(run) is not None
    return name != "residuals" or run.model.nc > 0


def _shown(names: Sequence[str], count: int) -> tuple[list[str], str]:
    """At most `count` names, evenly spread over all, and a line of the title that lists the others."""
    chosen = [names[i] for i in np.unique(np.linspace(0, len(names) - 1, min(count, len(names))).astype(int))]
    others = [name for name in names if name not in chosen]
    if not others:
        return chosen, ""
    named = others if len(others) <= MOST_NAMED else [*others[: MOST_NAMED - 1], f"{len(others) - MOST_NAMED + 1} more"]
    return chosen, "\n" + textwrap.fill("without " + ", ".join(named), 60)


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


def _shapes(axes: Axes, run: States, name: str, rod: RodRow, color: str, most: int = 12) -> None:
    """Draws a rod as a curve at some times, later ones darker, and the path of its last node."""
    times = np.unique(np.linspace(0, len(run) - 1, min(most, len(run))).astype(int))
    lines = curve(run.multibody(), rod, run.q[times], run.v[times], run.clock[times])
    for i, line in enumerate(lines):
        label = name if i == len(lines) - 1 else None
        axes.plot(*line.T, color=color, alpha=(i + 1) / len(lines), label=label)
    axes.plot(*run.position(rod["nodes"][-1]).T, color=color, linestyle=":", linewidth=0.8)


def _turning(run: States) -> list[str]:
    """Names of the bodies that turn, faster than the round-off of the fastest one."""
    fastest = {name: np.abs(run.angular_velocity(name)).max(initial=0) for name in run.multibody().bodies}
    return [name for name, speed in fastest.items() if speed > 1e-9 * max(fastest.values())]


def _angular_velocities(axes: Axes, run: States) -> None:
    names, left_out = _shown(_turning(run), 2)
    for name in names:
        for component, values in zip("xyz", run.angular_velocity(name).T, strict=True):
            axes.plot(run.t, values, label=f"{name} {component}")
    axes.set(title="angular velocity, body axes" + left_out, xlabel=run.abscissa.label, ylabel="rad/s")


def _coordinates(axes: Axes, run: States) -> None:
    _lines(axes, run, run.q, "coordinates", "q")


def _velocities(axes: Axes, run: States) -> None:
    _lines(axes, run, run.v, "velocities", "v")


def _lines(axes: Axes, run: States, values: Array, title: str, letter: str, most: int = 8) -> None:
    for i, line in enumerate(values.T[:most]):
        axes.plot(run.t, line, label=f"{letter}[{i}]")
    n = values.shape[1]
    title = title if n <= most else f"{title} (first {most} of {n})"
    axes.set(title=title, xlabel=run.abscissa.label, ylabel=f"{letter} / units of the model")


def _energies(run: States) -> Array | None:
    """The energies (n,); None for a CallableModel without an energy."""
    try:
        return run.energy()
    except ValueError:
        return None


def _energy(axes: Axes, run: States) -> None:
    energy = _energies(run)
    if energy is None:
        axes.set(title="no energy")
        return
    axes.plot(run.t, energy - energy[0])
    axes.set(title=f"change of {run.energy_kind} energy", xlabel=run.abscissa.label, ylabel="J")


def _residuals(axes: Axes, run: States) -> None:
    axes.set(title="largest constraint residual", xlabel=run.abscissa.label, ylabel="m, rad or 1, and per second")
    if not run.model.nc:
        axes.text(0.5, 0.5, "no constraints", ha="center", transform=axes.transAxes)
        return
    for level in ("position", "velocity"):
        residual = np.abs(run.constraint_residual(level)).max(axis=1, initial=1e-17)
        if residual.max() > 1e-17:
            axes.semilogy(run.t, residual, label=level)
    if axes.lines:
        decades(axes, "y")


def _reactions(axes: Axes, run: States) -> None:
    model = run.multibody()
    joints = [name for name, joint in model.joints.items() if joint["kind"] not in EDGES.values()]
    _wrenches(axes, run, "reactions", [*joints, *model.supports], run.reaction)


def _forces(axes: Axes, run: States) -> None:
    def values(name: str) -> Array:
        force = run.force(name)
        return force.values if isinstance(force, Wrench) else force

    supports = run.multibody().supports
    _wrenches(axes, run, "forces", [name for name in run.force_names if name not in supports], values)


def _wrenches(
    axes: Axes, run: States, title: str, names: Sequence[str], values: Callable[[str], Array], most: int = 8
) -> None:
    """Draws forces along coordinates, and the magnitudes of forces and, dashed, of moments."""
    some, left_out = _shown(names, most) if names else ([], "")
    for i, name in enumerate(some):
        found, color = values(name), COLORS[i % len(COLORS)]
        if found.ndim == 1:
            axes.plot(run.t, found, color=color, label=name)
            continue
        force, moment = (np.linalg.norm(part, axis=1) for part in (found[:, :3], found[:, 3:]))
        largest = max(force.max(initial=0), moment.max(initial=0))
        if force.max(initial=0) > 1e-9 * largest or not largest:
            axes.plot(run.t, force, color=color, label=name)
        if moment.max(initial=0) > 1e-9 * largest:
            axes.plot(run.t, moment, color=color, linestyle="--", label=f"{name}, moment")
    axes.set(title=title + left_out, xlabel=run.abscissa.label, ylabel="N, N m")
    if not names:
        axes.text(0.5, 0.5, "none", ha="center", transform=axes.transAxes)


def _joint_angles(axes: Axes, run: States) -> None:
    names, left_out = _shown(run.angle_names, 8) if run.angle_names else ([], "")
    for name in names:
        axes.plot(run.t, run.joint_angle(name), label=name)
    axes.set(title="angles of joints" + left_out, xlabel=run.abscissa.label, ylabel="rad")
    if not names:
        axes.text(0.5, 0.5, "none", ha="center", transform=axes.transAxes)
