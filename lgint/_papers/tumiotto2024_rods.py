"""Tumiotto and Arnold 2024: pictures of the rods, and the drift of index 1 compared with that of index 2."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lgint import groups, models
from lgint._args import Array
from lgint._model.model import Model
from lgint._papers.claims import above, below, less
from lgint._papers.pictures import DOTS, Panel, picture, plane, sizes
from lgint._papers.registry import Result, artifact
from lgint._papers.tumiotto2024 import PAPER, PLAIN, PRINTED, SPACES, top
from lgint._run.equilibrium import equilibrium
from lgint._run.integrate import integrate
from lgint._run.trajectory import Trajectory

# ---- drift ----

PLAIN_RUN: dict[str, Any] = {"project": "none"}
INDEX_1, INDEX_2 = {"RK44": "rk44", "DOPRI5": "dopri5"}, {"p = 4": "herk4", "p = 5": "herk5"}


@artifact(
    PAPER,
    "index1",
    shows="Residual of the top's position constraint by methods of orders 4 and 5 for index 1 and for index 2.",
    reproduced="The drift of index 1 is greater, and grows.",
    ours="h = 2^-10 s, t_end = 5 s; index 1: RK44 and DOPRI5 on accelerations, without projection; growth: the last "
    "second's largest residual over the first second's, at least 10",
)
def index1(quick: bool) -> Result:
    spaces = ("R3xSO3", "SE3")
    settings: dict[str, Any] = {"h": 2.0**-10, "save_every": 4}
    runs = {
        (space, label): integrate(top(space), name, t_end=5.0, **settings, **form)
        for space in spaces
        for methods, form in ((INDEX_1, PLAIN_RUN), (INDEX_2, PRINTED))
        for label, name in methods.items()
    }
    t = next(iter(runs.values())).t
    size = {key: np.linalg.norm(run.constraint_residual("position"), axis=1) for key, run in runs.items()}
    claims = []
    for space in spaces:
        for one, two in zip(INDEX_2, INDEX_1, strict=True):
            text = f"{PLAIN[space]}: largest residual, m, of {one} with index 2, then of {two} with index 1"
            claims.append(less(text, float(size[space, one].max()), float(size[space, two].max()), 10.0))
    for label in INDEX_1:
        first, last = (float(size["R3xSO3", label][part].max()) for part in (t <= 1, t >= 4))
        claims.append(above(f"{PLAIN['R3xSO3']}, {label}: growth of the residual", last / first, 10.0))
    labels = {**dict.fromkeys(INDEX_1, "index 1"), **dict.fromkeys(INDEX_2, "index 2")}
    panels = (
        sizes(
            SPACES[space],
            "t / s",
            "residual of the position constraint / m",
            {f"{label}, {index}": (t, size[space, label]) for label, index in labels.items()},
            **DOTS,
        )
        for space in spaces
    )
    table = {"t (s)": t} | {f"{PLAIN[space]}, {label} (m)": values for (space, label), values in size.items()}
    return Result(table, claims, picture(*panels))


# ---- rods ----

LENGTH = 10.0  # of both rods, like their data


def _seen(points: Array) -> tuple[Array, Array]:
    """Points (..., 3) viewed from the direction (1, 1, 1), with the third axis pointing up."""
    x, y, z = np.moveaxis(points, -1, 0)
    return (y - x) / np.sqrt(2), (2 * z - x - y) / np.sqrt(6)


def _nodes(run: Trajectory) -> tuple[Array, Array]:
    """Positions (k, n, 3) and rotation matrices (k, n, 3, 3) of the nodes that move."""
    names = list(run.multibody().bodies)
    positions, rotations = ([read(name) for name in names] for read in (run.position, run.rotation))
    return np.stack(positions, axis=1), np.stack(rotations, axis=1)


def _strains(x: Array, R: Array) -> Array:
    """(23): strains (n - 1, 6) of the edges between the nodes, turning after shear and stretch."""
    poses = np.tile(np.eye(4), (len(x), 1, 1))
    poses[:, :3, :3], poses[:, :3, 3] = R, x
    edge = LENGTH / len(x)  # x does not include the clamped node
    return np.asarray(groups.se3.log(groups.se3.compose(groups.se3.inverse(poses[:-1]), poses[1:])) / edge)


@artifact(
    PAPER,
    "fig7",
    shows="The Cosserat rod: its centreline with the cross sections at the nodes, rolled up to a ring.",
    reproduced="The edges of the ring have the strains (23) of a circle, and the constraints (25) hold.",
    ours="the rod of the roll-up in equilibrium, 8 edges",
)
def fig7(quick: bool) -> Result:
    rest = equilibrium(models.roll_up(edges=8))
    x, R = (values[-1] for values in _nodes(rest))
    strain = _strains(x, R)
    bending = np.linalg.norm(strain[:, 3:5], axis=1) - 2 * np.pi / LENGTH
    claims = [
        below("largest difference of the bending from 2 pi/L over that", float(np.abs(bending).max()), 1e-9),
        below("largest shear", float(np.abs(strain[:, :2]).max()), 1e-9),
        below("distance of the ends over the length", float(np.linalg.norm(x[-1])) / LENGTH, 1e-9),
    ]
    table: dict[str, ArrayLike] = {f"x{i} (m)": x[:, i] for i in range(3)}
    lines: dict[str, tuple[Array, Array]] = {"centreline": _seen(np.concatenate([np.zeros((1, 3)), x]))}
    for i, name in enumerate(("first director", "second director", "third director")):
        ends = np.stack([x, x + 0.8 * R[..., i], np.full_like(x, np.nan)], axis=1)
        lines[name] = _seen(ends.reshape(-1, 3))
    panel = plane("roll-up at rest", "", "", lines, equal=True)
    return Result(table, claims, picture(panel))


@artifact(
    PAPER,
    "fig8",
    shows="The test cases: shapes of the roll-up and of the flying spaghetti over time.",
    reproduced="The closed ring is an equilibrium of the roll-up, which it approaches; the flying spaghetti has none.",
    ours="t_end = 10 s; approached: the distance of the ends falls below 10 % of the length; none: the kinetic energy "
    "after 5 s stays above 10 % of its largest value",
)
def fig8(quick: bool) -> Result:
    rods: dict[str, Model] = {"roll-up": models.roll_up(edges=8), "flying spaghetti": models.flying_spaghetti(edges=16)}
    times = {"roll-up": np.array([0.0, 0.5, 1, 2, 4, 10]), "flying spaghetti": np.arange(0.0, 10.1, 2.0)}
    own: dict[str, Any] = {"t_end": 10.0, "h": 2.0**-9, **PRINTED}
    runs = {name: integrate(rod, "herk5", t_eval=times[name], **own) for name, rod in rods.items()}
    ends = float(np.linalg.norm(runs["roll-up"].position("node8")[-1])) / LENGTH
    free = runs["flying spaghetti"]
    kinetic = free.energy("kinetic")
    least = float(kinetic[free.t > 5].min() / kinetic.max())
    claims = [
        below("roll-up: distance of the ends over the length at t = 10 s", ends, 0.1),
        above(
            "flying spaghetti: least kinetic energy after 5 s over the largest",
            least,
            0.1,
        ),
    ]
    table: dict[str, ArrayLike] = {}
    for name, run in runs.items():
        x = _nodes(run)[0]
        for t, shape in zip(times[name], x, strict=True):
            table |= {f"{name}, t = {t:g} s: x{i} (m)": shape[:, i] for i in range(3)}
    panels = (
        _shapes("roll-up", runs["roll-up"], (0, 2), clamped=True),
        _shapes("flying spaghetti", runs["flying spaghetti"], (0, 1), clamped=False),
    )
    return Result(table, claims, picture(*panels))


def _shapes(name: str, run: Trajectory, axes: tuple[int, int], clamped: bool) -> Panel:
    """Centrelines in a plane."""
    lines: dict[str, tuple[Array, Array]] = {}
    for t, x in zip(run.t, _nodes(run)[0], strict=True):
        line = np.concatenate([np.zeros((1, 3)), x]) if clamped else x
        lines[f"{t:g} s"] = line[:, axes[0]], line[:, axes[1]]
    across, up = (f"{'xyz'[axis]} / m" for axis in axes)
    return plane(name, across, up, lines, equal=True)
