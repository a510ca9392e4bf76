"""The figures of docs/wishes.md, drawn from what its programs have computed."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from PIL import Image
from programs import PROGRAM, run

import lgint

HERE = Path(__file__).parent
IMAGES = HERE / "images" / "wishes"
Names = dict[str, Any]


def linkage(axes: Axes, run: lgint.Trajectory, ends: list[tuple[str, Any]]) -> None:
    """Draw points of bodies at six times, connected, and the path of the third one."""
    points = np.stack([run.point(body, at) for body, at in ends], axis=1)
    for i, shade in zip(
        np.linspace(0, len(run.t) - 1, 6, dtype=int), shades(6), strict=True
    ):
        axes.plot(points[i, :, 0], points[i, :, 2], "o-", color=shade, markersize=4)
    axes.plot(points[:, 2, 0], points[:, 2, 2], "C1", linewidth=1)
    axes.set(xlabel="x / m", ylabel="z / m", aspect="equal")


def shades(count: int) -> list[str]:
    """Return greys, from light to dark."""
    return [f"{shade:.2f}" for shade in np.linspace(0.85, 0.2, count)]


def closed_loop(figure: Figure, names: Names) -> None:
    """Draw the four-bar linkage, and how far its joints open."""
    left, right = figure.subplots(1, 2)
    run = names["run"]
    halves = {
        body: (b - a) / 2
        for body, a, b in zip(
            names["bodies"][1:], names["points"], names["points"][1:], strict=False
        )
    }
    ends = [("crank", -halves["crank"])]
    ends += [(body, halves[body]) for body in ("crank", "coupler", "rocker")]
    linkage(left, run, ends)
    right.plot(run.t, abs(run.constraint_residual()).max(axis=1))
    right.set(xlabel="t / s", ylabel="largest opening / m")


def stiff_chain(figure: Figure, names: Names) -> None:
    """Draw the heights of the links, and the steps of radau5."""
    left, right = figure.subplots(1, 2)
    fine = names["fine"]
    for link in names["links"][1:]:
        left.plot(fine.t, fine.position(link)[:, 2], label=link)
    left.set(xlabel="t / s", ylabel="z / m")
    left.legend()
    right.semilogy(fine.t[1:], fine.h[1:], ".", markersize=2)
    right.set(xlabel="t / s", ylabel="steps of radau5 to 1e-12 / s")


def gradients(figure: Figure, names: Names) -> None:
    """Draw the derivatives over time, each per change of its parameter by itself."""
    axes = figure.subplots()
    run, model = names["run"], names["model"]
    slopes = run.derivative("position", "rod")[:, 2]
    for i, name in enumerate(names["names"]):
        axes.plot(run.t, slopes[:, i] * model.values[name], label=name)
    axes.set(xlabel="t / s", ylabel="p dz/dp / m")
    axes.legend(title="p")


def stiff_wire(figure: Figure, names: Names) -> None:
    """Draw the deflection of the end, and where it crosses zero."""
    axes = figure.subplots()
    axes.plot(names["run"].t, 1e3 * names["z"])
    axes.plot(names["crossing"], 0 * names["crossing"], "o", markersize=4)
    axes.set(xlabel="t / s", ylabel="deflection / mm")


def cantilever(figure: Figure, names: Names) -> None:
    """Draw the rod under each load."""
    axes = figure.subplots()
    line = np.stack([names["rest"].position(node) for node in names["rod"].nodes], 1)
    for shape, shade in zip(line, shades(len(line)), strict=True):
        axes.plot(shape[:, 0], shape[:, 2], color=shade)
    axes.plot(1 - 0.55500, -0.81061, "C1o", label="Mattiasson")
    axes.set(xlabel="x / m", ylabel="z / m", aspect="equal")
    axes.legend()


def many_tops(figure: Figure, names: Names) -> None:
    """Draw the ends of all runs."""
    axes = figure.subplots()
    mass = [model.values["top.mass"] for model in names["tops"]]
    for i, label in enumerate("xyz"):
        axes.plot(mass, names["ends"][:, i], label=label)
    axes.set(xlabel="mass / kg", ylabel="position at 0.1 s / m")
    axes.legend()


def conservation(figure: Figure, names: Names) -> None:
    """Draw what changes in energy and angular momentum."""
    axes = figure.subplots()
    L, E = names["L"], names["E"]
    t = np.linspace(0, 50, len(E))
    axes.plot(t, E / E[0] - 1, label="energy")
    axes.plot(
        t, np.linalg.norm(L - L[0], axis=1) / np.linalg.norm(L[0]), label="momentum"
    )
    axes.set(xlabel="t / s", ylabel="relative change")
    axes.legend()


def door(figure: Figure, names: Names) -> None:
    """Draw the door, its centre, and the forces of its hinges."""
    axes = figure.subplots()
    axes.plot([0, 0.8, 0.8, 0, 0], [-1.1, -1.1, 1.1, 1.1, -1.1], color="0.6")
    axes.plot(0.4, 0, "ko", markersize=4)
    for name, z in (("upper", 1.0), ("lower", -1.0)):
        force = names["run"].reaction(name)[-1, :3]
        axes.annotate(
            "",
            (force[0] / 200, z + force[2] / 200),
            (0, z),
            arrowprops={"arrowstyle": "->", "color": "C1", "linewidth": 2},
        )
        axes.text(0.05, z + 0.15, f"{name} hinge: {np.linalg.norm(force):.1f} N")
    axes.set(xlabel="x / m", ylabel="z / m", aspect="equal", xlim=(-0.6, 1.2))
    axes.set(ylim=(-1.3, 2.0))


def urdf_loop(figure: Figure, names: Names) -> None:
    """Draw the bar and its two links."""
    axes = figure.subplots()
    ends = [("left", (0, 0, 0.5)), ("bar", (-0.75, 0, 0)), ("bar", (0.75, 0, 0))]
    linkage(axes, names["run"], [*ends, ("right", (0, 0, 0.5))])


def same_bits(figure: Figure, names: Names) -> None:
    """Draw the whole run, and its continuation."""
    axes = figure.subplots()
    for label, part, look in (
        ("without a break", names["whole"], "-"),
        ("from a file", names["rest"], "--"),
    ):
        axes.plot(part.t, part.position("slider")[:, 0], look, label=label, linewidth=2)
    axes.set(xlabel="t / s", ylabel="slider / m")
    axes.legend()


FIGURES: list[Callable[[Figure, Names], None]] = [
    closed_loop,
    stiff_chain,
    gradients,
    stiff_wire,
    cantilever,
    many_tops,
    conservation,
    door,
    urdf_loop,
    same_bits,
]


def main() -> None:
    """Run each program by itself, and write its figure."""
    page = HERE / "wishes.md"
    IMAGES.mkdir(exist_ok=True)
    for code, draw in zip(PROGRAM.findall(page.read_text()), FIGURES, strict=True):
        names: Names = {}
        run(code, page.name, names)
        figure = Figure(figsize=(6.4, 3.2), layout="constrained")
        draw(figure, names)
        path = IMAGES / f"{draw.__name__}.png"
        figure.savefig(path, dpi=160)
        with Image.open(path) as image:
            image.convert("RGB").save(path.with_suffix(".webp"), lossless=True, method=6)
        path.unlink()


if __name__ == "__main__":
    main()
