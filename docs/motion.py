"""Pictures of the README, the first page and getting started: `make pictures`."""

import os
import re
import tempfile
from pathlib import Path

from matplotlib.animation import FuncAnimation, PillowWriter
from matplotlib.figure import Figure

import lgint

ROOT = Path(__file__).parents[1]
IMAGES = ROOT / "docs" / "images"


def main() -> None:
    """Write a mechanism and a rod in motion, and what the README's example does."""
    crank = lgint.integrate(
        lgint.models.slider_crank(), "genalpha", t_end=2.0, h=1e-3, dense_output=True
    )
    rod = lgint.integrate(
        lgint.models.roll_up(edges=24),
        "herk5",
        t_end=8.0,
        rtol=1e-6,
        atol=1e-8,
        dense_output=True,
    )
    for name, run in {"slider_crank": crank, "roll_up": rod}.items():
        film = run.animate(4, fps=15, size=(480, 384))
        film.save(IMAGES / f"{name}.gif")
    (run,) = runs(ROOT / "README.md", "run")
    swing(run).save(IMAGES / "swing.gif", writer=PillowWriter(25), dpi=90)
    top, *_, arm = runs(ROOT / "docs" / "getting_started.md", "trajectory")
    top.plot().savefig(IMAGES / "first_run.png", dpi=75)
    film = arm.animate(2, fps=15, size=(480, 384), plane="xz")
    film.save(IMAGES / "own_system.gif")


def runs(page: Path, name: str) -> list[lgint.Trajectory]:
    """What has this name after each program of a page."""
    names: dict[str, lgint.Trajectory] = {}
    found, before = [], Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)  # they save their runs
        for code in re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL):
            exec(code, names)
            found.append(names[name])
        os.chdir(before)
    return found


def swing(run: lgint.Trajectory) -> FuncAnimation:
    """The arm, the cable and the path of its end, in real time."""
    frames = run[::40]
    arm, cable, end = (
        frames.position("arm"),
        frames.line("cable"),
        run.position("cable.node20"),
    )
    figure = Figure(figsize=(5, 4), layout="constrained")
    axes = figure.add_subplot(aspect="equal", xlabel="x / m", ylabel="z / m")
    axes.set(xlim=(-2.1, 2.1), ylim=(-2.3, 0.6))
    axes.plot(0, 0, "o", color="0.3", markersize=8)
    (path,) = axes.plot([], [], color="C1", linewidth=1, alpha=0.6)
    (bar,) = axes.plot([], [], color="0.3", linewidth=5, solid_capstyle="round")
    (line,) = axes.plot([], [], color="C0", linewidth=2.5, solid_capstyle="round")

    def draw(i: int) -> None:
        bar.set_data([0, 2 * arm[i, 0]], [0, 2 * arm[i, 2]])
        line.set_data(cable[i, :, 0], cable[i, :, 2])
        path.set_data(end[: 40 * i + 1, 0], end[: 40 * i + 1, 2])

    return FuncAnimation(figure, draw, frames=len(frames.t))


if __name__ == "__main__":
    main()
