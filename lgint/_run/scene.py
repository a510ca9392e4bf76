"""The shapes in pictures of a run: bodies as boxes, rods as curves, joints and springs, at some of its times."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from lgint._args import Array, array, choice, shown
from lgint._model.model import Model
from lgint._model.parameters import DECLARED
from lgint._model.record import BodyRow, RodRow, partners
from lgint._run.states import States

# the colours of Okabe and Ito with grey and brown; readers with red-green blindness can tell any two of them apart
COLORS = ("#0072b2", "#d55e00", "#009e73", "#e69f00", "#cc79a7", "#5b6770", "#56b4e9", "#7f3b08")
GREY = COLORS[5]
THIN = 0.02  # the least thickness of a box, as a fraction of the size of the scene


class Frames(NamedTuple):
    """States to draw: their labels, coordinates, velocities and times, each with the frames as first axis."""

    label: Array
    q: Array
    v: Array
    t: Array


def frames(run: States, count: int) -> Frames:
    """`count` states at equal time intervals: from dense output, or the nearest saved ones with their own labels."""
    t = np.linspace(run.t[0], run.t[-1], count)
    if run.sol is not None:
        state = run.sol(np.clip(t, run.sol.t_min, run.sol.t_max))
        return Frames(t, state.q, state.v, t)
    later = np.clip(np.searchsorted(run.t, t), 1, max(len(run) - 1, 1))
    nearest = np.where(t - run.t[later - 1] <= run.t[later] - t, later - 1, later) if len(run) > 1 else 0 * later
    return Frames(run.t[nearest], run.q[nearest], run.v[nearest], run.clock[nearest])


def some(run: States) -> Array:
    """The numbers of the states, or of at most 2000 of them, through which paths are drawn."""
    chosen: Array = np.unique(np.linspace(0, len(run) - 1, min(2000, len(run))).astype(int))
    return chosen


def curve(model: Model, rod: RodRow, q: Array, v: Array, t: Array) -> Array:
    """A rod at some states, (states, nodes, 3)."""
    nodes = rod["nodes"] + rod["nodes"][:1] * rod["closed"]
    return model.motions(nodes, q, v, t)[0]


def solid_bodies(model: Model) -> list[str]:
    """Names of the bodies that are not nodes of rods."""
    nodes = {node for rod in model.rods.values() for node in rod["nodes"]}
    return [name for name in model.bodies if name not in nodes]


def joints(model: Model) -> list[str]:
    """Names of the joints that are not edges of rods."""
    edges = {edge for rod in model.rods.values() for edge in rod["edges"]}
    return [name for name in model.joints if name not in edges]


def joint_point(model: Model, name: str, at: Frames, slot: int = 1) -> Array:
    """The point of a joint on one of its bodies, (frames, 3)."""
    return model.joint_kinematics(name, slot, at.q, at.v, at.t)[0]


def nodes(model: Model, at: Frames) -> dict[str, Array]:
    """The nodes (frames, 3) of flexible bodies, by name."""
    flexible = [name for name, body in model.bodies.items() if body["modes"]]
    names = [f"{name}.{node}" for name in flexible for node in model.modes(name).nodes]
    return {name: model.kinematics(name, at.q, at.v, at.t)[0] for name in names}


def spring_rows(model: Model) -> Iterator[Mapping[str, Any]]:
    """The forces between two points that are neither contacts nor functions of the user."""
    for row in model.record()["forces"].values():
        is_contact = row["kind"].startswith("contact_")
        if row["kind"] in DECLARED and len(row.get("points", ())) == 2 and not is_contact:
            yield row


def springs(model: Model, at: Frames) -> Iterator[Array]:
    """Lines (frames, 2, 3) between the points of these forces."""
    for row in spring_rows(model):
        ends = (_point(model, who, point, at) for who, point in zip(row["bodies"], row["points"], strict=True))
        yield np.stack([*ends], axis=1)


def _point(model: Model, who: str, point: ArrayLike, at: Frames) -> Array:
    """A body-fixed point, or one of the ground, (frames, 3)."""
    if who == "ground":
        return np.broadcast_to(np.array(point), (len(at.t), 3))
    x, R, _, _ = model.kinematics(who, at.q, at.v, at.t)
    position: Array = x + R @ np.array(point)
    return position


# ---- boxes ----


class Box(NamedTuple):
    """A box in body axes around the centre of mass: its edges (3,) and their directions, columns (3, 3)."""

    size: Array
    axes: Array


def boxes(model: Model, names: Sequence[str], given: Mapping[str, ArrayLike] | None) -> dict[str, Box]:
    """The boxes of bodies: of the given sizes, otherwise with the mass and the inertia of the body."""
    found = {name: _equal_box(model.bodies[name]) for name in names}
    if not isinstance(given, (Mapping, type(None))):
        raise ValueError(f"boxes: edges by the names of bodies expected, got {shown(given)}")
    for name, size in (given or {}).items():
        edges = array(f"boxes of {choice('body', name, found)!r}", size, (3,))
        if not (edges > 0).all():
            raise ValueError(f"boxes of {name!r}: three positive lengths expected, got {size!r}")
        found[name] = Box(edges, np.eye(3))
    return found


def _equal_box(body: BodyRow) -> Box:
    """A homogeneous box with edges a, b, c has the principal moment of inertia J_a = m (b^2 + c^2)/12, and so on.

    Its edge a is therefore the root of 6 (J_b + J_c - J_a)/m. A flexible body has no constant inertia; its box shows
    the floating frame.
    """
    if body["inertia"] is None or not body["mass"] > 0:
        return Box(np.zeros(3), np.eye(3))
    principal, axes = np.linalg.eigh(np.array(body["inertia"]))
    squares = 6 * (principal.sum() - 2 * principal) / body["mass"]
    return Box(np.sqrt(np.maximum(squares, 0)), axes)


# ---- rods ----


class Tube(NamedTuple):
    """A rod through some nodes: positions (frames, n, 3), directors d1, d2 as columns (frames, n, 3, 2), radius."""

    x: Array
    directors: Array
    radius: float


def tube(model: Model, rod: RodRow, at: Frames, most: int) -> Tube:
    """A rod through at most `most` of its nodes and, if it is closed, the first one again."""
    edges = rod["edges"]
    count = len(edges) + 1
    x, directors = [], []
    for i in np.unique(np.linspace(0, count - 1, min(most, count)).astype(int)):
        edge, slot = (edges[i], 0) if i < len(edges) else (edges[-1], 1)
        position, R, _, _ = model.joint_kinematics(edge, slot, at.q, at.v, at.t)
        x.append(position)
        directors.append(R @ model.joint_triad(edge, slot)[:, :2])
    return Tube(np.stack(x, axis=1), np.stack(directors, axis=1), _radius(model, rod))


def _radius(model: Model, rod: RodRow) -> float:
    """The radius of a round section with the mass and the polar inertia of a node: J = m r^2/2."""
    for edge in rod["edges"]:
        for slot, who in enumerate(partners(model.joints[edge])):
            if who in model.bodies and model.bodies[who]["inertia"] is not None:
                along = model.joint_triad(edge, slot)[:, 2]
                polar = along @ np.array(model.bodies[who]["inertia"]) @ along
                return float(np.sqrt(2 * polar / model.bodies[who]["mass"]))
    return 0.0
