"""The moving picture at the head of the README, light and dark: six systems at once."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from matplotlib.animation import FuncAnimation, PillowWriter
from matplotlib.figure import Figure

import lgint

IMAGES = Path(__file__).parent / "images"
SECONDS, FPS, FINE = 4.0, 20, 6  # points of a path for each picture
LIGHT = {"back": "#ffffff", "text": "#24292f", "bar": "#57606a", "line": "#0969da"}
DARK = {"back": "#0d1117", "text": "#e6edf3", "bar": "#9198a1", "line": "#58a6ff"}
PATH = "#d29922"
PIN = {"axis": (0, 1, 0)}
Array = np.ndarray[Any, Any]


class Panel(NamedTuple):
    """A system: lines at all times, of shape (times, points, 3), and a path."""

    title: str
    bars: Array
    soft: bool  # drawn as a rod
    path: Array


def frames(model: lgint.Model, method: str, speed: float = 1.0, **options: Any) -> Any:
    """Return a run at the times of the path, `speed` times as fast as in truth."""
    end = SECONDS * speed
    run = lgint.integrate(model, method, t_end=end, dense_output=True, **options)
    return run.at(np.linspace(0, end, round(SECONDS * FPS * FINE)))


def bars(run: Any, *ends: tuple[str, float]) -> Array:
    """Return points on bodies, each on its x axis at this distance from its centre."""
    return np.stack([run.point(body, (at, 0, 0)) for body, at in ends], axis=1)


def linked(points: list[tuple[float, float]], **joint: Any) -> lgint.ModelBuilder:
    """Return bars between points of the plane x-z, with hinges between them."""
    builder = lgint.ModelBuilder(gravity=(0, 0, -9.81))
    before: Any = lgint.ground
    places = [np.array((x, 0, z)) for x, z in points]
    for i, (a, b) in enumerate(zip(places, places[1:], strict=False)):
        size = float(np.linalg.norm(b - a))
        turn = (0, np.arctan2(a[2] - b[2], b[0] - a[0]), 0)
        rod = lgint.inertia.rod(size, size)
        builder.add_body(
            f"bar{i}", mass=size, inertia=rod, position=(a + b) / 2, rotation=turn
        )
        builder.add_joint("revolute", before, f"bar{i}", point=a, **PIN, name=f"pin{i}")
        before = f"bar{i}"
    return builder


def double_pendulum() -> Panel:
    """Return two bars that fall from above."""
    run = frames(linked([(0, 0), (0.3, 0.95), (1.3, 0.9)]).build(), "dop853", rtol=1e-9)
    lines = bars(run, ("bar0", -0.498), ("bar0", 0.498), ("bar1", 0.5))
    return Panel("double pendulum", lines, False, lines[:, -1])


def four_bar() -> Panel:
    """Return a closed loop whose crank turns at constant speed."""
    builder = linked([(0, 0), (0, 0.5), (1.6, 1.1), (1.5, 0)])
    builder.add_joint("revolute", "bar2", lgint.ground, point=(1.5, 0, 0), **PIN)
    builder.add_joint_motion("pin0", lambda t: (np.pi * t, np.pi, 0.0))
    model = builder.build(redundant="drop", start="project")
    run = frames(model, "genalpha", h=1e-3)
    half = [np.hypot(1.6, 0.6) / 2, np.hypot(0.1, 1.1) / 2]
    ends = [("bar0", -0.25), ("bar0", 0.25), ("bar1", half[0]), ("bar2", half[1])]
    path = run.point("bar1", (0, 0, 0.4))
    return Panel("four-bar linkage", bars(run, *ends), False, path)


def slider_crank() -> Panel:
    """Return a crank that drives a piston."""
    builder = linked([(0, 0), (0.5, 0), (2.0, 0)])
    builder.add_body("piston", mass=1.0, inertia=(0.1,) * 3, position=(2, 0, 0))
    builder.add_joint("revolute", "bar1", "piston", point=(2, 0, 0), **PIN)
    builder.add_joint(
        "prismatic", lgint.ground, "piston", point=(2, 0, 0), axis=(1, 0, 0)
    )
    builder.add_joint_motion("pin0", lambda t: (np.pi * t, np.pi, 0.0))
    model = builder.build(redundant="drop", start="project")
    run = frames(model, "genalpha", h=1e-3, rho_inf=0.6)
    ends = [("bar0", -0.25), ("bar0", 0.25), ("bar1", 0.75)]
    return Panel("slider-crank", bars(run, *ends), False, run.point("bar1", (0.1, 0, 0)))


def gyroscope() -> Panel:
    """Return the axle of a top, seen from the side and a little from above."""
    builder = lgint.ModelBuilder(gravity=(0, 0, -9.81))
    wheel = lgint.inertia.cylinder(1.0, radius=0.15, length=0.02, axis=(1, 0, 0))
    place = {"position": (0.3, 0, 0.1), "rotation": (0, -np.arctan(1 / 3), 0)}
    builder.add_body(
        "top", mass=1.0, inertia=wheel, angular_velocity=(60.0, 0, 0), **place
    )
    builder.add_joint("spherical", lgint.ground, "top", point=(0, 0, 0))
    run = frames(builder.build(start="project"), "dop853", rtol=1e-9)
    tip = run.position("top")
    tip = np.stack([tip[:, 0], tip[:, 1], tip[:, 2] + 0.35 * tip[:, 1]], axis=1)
    return Panel("gyroscope", np.stack([0 * tip, tip], axis=1), False, tip)


def cable() -> Panel:
    """Return a cable that falls from a horizontal start."""
    builder = lgint.ModelBuilder(gravity=(0, 0, -9.81))
    round_bar = lgint.section(
        "circle", E=1e6, G=4e5, rho=1200, radius=1e-2, relaxation=0.01
    )
    builder.add_rod("cable", start=(0, 0, 0), end=(2, 0, 0), edges=24, section=round_bar)
    builder.add_joint("spherical", lgint.ground, "cable.node0", point=(0, 0, 0))
    run = frames(builder.build(), "genalpha", h=2e-3)
    line = run.line("cable")
    return Panel("cable", line, True, line[:, -1])


def roll_up() -> Panel:
    """Return a soft rod with a moment at its end."""
    model = lgint.models.roll_up(edges=24)
    run = frames(model, "herk5", 2.0, rtol=1e-6, atol=1e-8)
    line = run.line(next(iter(model.rods)))
    line = line[..., flat(line)]
    return Panel("rod that rolls up", line, True, line[:, -1])


def flat(line: Array) -> list[int]:
    """Return the axes of the plane in which a line moves, each before the normal."""
    x, z = sorted(np.argsort(np.ptp(line.reshape(-1, 3), axis=0))[1:])
    return [int(x), 3 - int(x) - int(z), int(z)]


def film(panels: list[Panel], colors: dict[str, str]) -> FuncAnimation:
    """Return the systems side by side."""
    figure = Figure(figsize=(9, 5), facecolor=colors["back"], layout="constrained")
    draw = [
        panel_in(figure.add_subplot(2, 3, i + 1), panel, colors)
        for i, panel in enumerate(panels)
    ]
    pictures = range(round(SECONDS * FPS))
    return FuncAnimation(figure, lambda i: [step(i) for step in draw], frames=pictures)


def panel_in(axes: Any, panel: Panel, colors: dict[str, str]) -> Callable[[int], None]:
    """Draw a system, and return what draws its state in a picture."""
    every = np.concatenate([panel.bars.reshape(-1, 3), panel.path])[:, [0, 2]]
    low, high = every.min(axis=0), every.max(axis=0)
    middle, half = (low + high) / 2, 0.56 * (high - low).max()
    axes.set(xlim=middle[0] + half * np.array([-1.2, 1.2]))
    axes.set(ylim=middle[1] + half * np.array([-1, 1]), aspect="equal")
    axes.axis("off")
    axes.set_title(panel.title, color=colors["text"], fontsize=12)
    (path,) = axes.plot([], [], color=PATH, linewidth=1.2)
    look: dict[str, Any] = {"color": colors["line"], "linewidth": 3}
    if not panel.soft:
        look = {"color": colors["bar"], "linewidth": 5, "marker": "o"}
        look |= {"markersize": 9, "markerfacecolor": colors["line"]}
    (line,) = axes.plot([], [], solid_capstyle="round", **look)

    def draw(i: int) -> None:
        line.set_data(panel.bars[FINE * i, :, 0], panel.bars[FINE * i, :, 2])
        path.set_data(panel.path[: FINE * i + 1, 0], panel.path[: FINE * i + 1, 2])

    return draw


def main() -> None:
    """Write the film in both looks."""
    systems = (double_pendulum, four_bar, slider_crank, gyroscope, cable, roll_up)
    panels = [system() for system in systems]
    for look, colors in {"light": LIGHT, "dark": DARK}.items():
        name = IMAGES / f"mechanisms_{look}.gif"
        film(panels, colors).save(name, writer=PillowWriter(FPS), dpi=100)


if __name__ == "__main__":
    main()
