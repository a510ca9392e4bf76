"""Surfaces of simple bodies as triangles, seen from outside counter-clockwise, and the curve of a coil spring."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from lgint._args import Array

SIDES: Final = 12  # corners of a circle
CORNERS: Final = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
BOX: Final = np.array(
    [
        *([0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1]),
        *([2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3]),
    ]
)
COIL: Final = np.linspace(0, 1, 97)  # points of a coil, from end to end
TURNS: Final = 8
STRAIGHT: Final = 0.12  # part of a coil that is straight, at each end


class Mesh(NamedTuple):
    """Corners (n, 3) and triangles (m, 3), as indices of corners."""

    points: Array
    triangles: Array


def joined(meshes: Sequence[Mesh]) -> Mesh:
    """Several surfaces as one."""
    starts = np.cumsum([0, *(len(mesh.points) for mesh in meshes)])
    triangles = [mesh.triangles + start for mesh, start in zip(meshes, starts, strict=False)]
    points = [mesh.points for mesh in meshes]
    return Mesh(
        np.concatenate(points or [np.empty((0, 3))]), np.concatenate(triangles or [np.empty((0, 3), int)]).astype(int)
    )


def box(size: Array, axes: Array | None = None, centre: Array | None = None) -> Mesh:
    """A box with these edges (3,) along the columns of `axes` (3, 3)."""
    points = CORNERS * size @ (np.eye(3) if axes is None else axes).T
    return Mesh(points if centre is None else points + centre, BOX)


def cylinder(start: Array, end: Array, radius: float) -> Mesh:
    """A cylinder between the centres of its ends."""
    ring = radius * circle(end - start)
    points = np.concatenate([start + ring, end + ring, [start, end]])
    near, caps = np.arange(SIDES), [np.full(SIDES, 2 * SIDES), np.full(SIDES, 2 * SIDES + 1)]
    beside = np.roll(near, -1)
    ends = [[caps[0], beside, near], [caps[1], near + SIDES, beside + SIDES]]
    triangles = np.array([*tube_triangles(2, SIDES, closed=False), *np.moveaxis(np.array(ends), 1, -1).reshape(-1, 3)])
    return Mesh(points, triangles)


def ball(centre: Array, radius: float) -> Mesh:
    """A ball of rings between two poles."""
    heights = np.linspace(0, np.pi, 7)[1:-1]
    ring = circle(np.array([0.0, 0.0, 1.0]))
    rings = [np.sin(a) * ring - [0, 0, np.cos(a)] for a in heights]
    points = np.concatenate([*rings, [[0, 0, -1], [0, 0, 1]]])
    near, last, south = np.arange(SIDES), SIDES * (len(rings) - 1), SIDES * len(rings)
    beside = np.roll(near, -1)
    poles = [[np.full(SIDES, south), beside, near], [np.full(SIDES, south + 1), near + last, beside + last]]
    triangles = [*tube_triangles(len(rings), SIDES, closed=False), *np.moveaxis(np.array(poles), 1, -1).reshape(-1, 3)]
    return Mesh(centre + radius * points, np.array(triangles))


def circle(normal: Array) -> Array:
    """Points (SIDES, 3) of the unit circle about a direction, counter-clockwise."""
    e3 = normal / (np.linalg.norm(normal) or 1.0)
    e1 = np.cross(e3, np.eye(3)[np.abs(e3).argmin()])
    e1 /= np.linalg.norm(e1) or 1.0
    angles = np.linspace(0, 2 * np.pi, SIDES, endpoint=False)
    points: Array = np.outer(np.cos(angles), e1) + np.outer(np.sin(angles), np.cross(e3, e1))
    return points


def tube_triangles(rings: int, sides: int, *, closed: bool) -> Array:
    """The triangles (m, 3) of a surface through rings of `sides` points; `closed`: the last ring joins the first."""
    near = np.arange(sides) + sides * np.arange(rings - (not closed))[:, None]
    beside = np.roll(near, -1, axis=1)
    count = rings * sides
    quads = np.array([[near, beside, near + sides], [beside, beside + sides, near + sides]]) % count
    triangles: Array = np.moveaxis(quads, 1, -1).reshape(-1, 3)
    return triangles


def coil(ends: Array, radius: float) -> Array:
    """Coils (frames, n, 3) between ends (frames, 2, 3), with straight pieces at both."""
    start, along = ends[:, 0], ends[:, 1] - ends[:, 0]
    length = np.linalg.norm(along, axis=1, keepdims=True)
    e3 = np.divide(along, length, out=np.tile([0.0, 0.0, 1.0], (len(ends), 1)), where=length > 0)
    e1 = np.cross(e3, np.eye(3)[np.abs(e3).max(axis=0).argmin()])
    norm = np.linalg.norm(e1, axis=1, keepdims=True)
    e1 = np.divide(e1, norm, out=np.zeros_like(e1), where=norm > 0)
    wound = np.clip((COIL - STRAIGHT) / (1 - 2 * STRAIGHT), 0, 1)
    angle = 2 * np.pi * TURNS * wound
    size = radius * ((wound > 0) & (wound < 1))
    around = (size * np.cos(angle))[:, None] * e1[:, None] + (size * np.sin(angle))[:, None] * np.cross(e3, e1)[:, None]
    curve: Array = start[:, None] + COIL[:, None] * along[:, None] + around
    return curve
