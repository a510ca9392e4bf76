"""The line of a rod: positions of its nodes, directions of its sections, lengths of its edges."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from lgint import groups
from lgint._args import Array, array, flag, number
from lgint._rotation import RotationLike, cross, stored
from lgint._rotation import rotation as rotation_matrix

STRAIGHT = 1e-12  # two directions count as opposite if 1 + cos of their angle is below this


@dataclass(frozen=True)
class Line:
    """A rod at the start.

    Attributes
    ----------
    x, R : ndarray, shapes (count, 3) and (count, 3, 3)
        Positions and rotations of the sections.
    ds : ndarray, shape (edges,)
        Unstrained lengths of the edges.
    """

    x: Array
    R: Array
    ds: Array

    @property
    def count(self) -> int:
        """Number of nodes."""
        return len(self.x)

    @property
    def edges(self) -> int:
        """Number of edges."""
        return len(self.ds)

    def lumped(self, per_length: Array) -> Array:
        """Sums at the nodes, (count, k), of densities per length of edges, (edges, k): half goes to each end."""
        halves = 0.5 * self.ds[:, None] * per_length
        sums = np.zeros((self.count, per_length.shape[1]))
        sums[: self.edges] += halves
        sums[1:] += halves[: self.count - 1]
        if self.edges == self.count:
            sums[0] += halves[-1]
        return sums

    def strains(self) -> Array:
        """Strains of the edges, (edges, 6)."""
        strains: Array = _screws(self.x, self.R, self.edges == self.count) / self.ds[:, None]
        return strains


def line(
    name: str,
    nodes: ArrayLike | None,
    rotations: RotationLike | None,
    start: ArrayLike | None,
    end: ArrayLike | None,
    edges: int | None,
    length: ArrayLike | None,
    closed: bool,
) -> Line:
    """The line that the arguments of `add_rod` describe."""
    flag(f"closed of {name!r}", closed)
    x = _straight(name, start, end, edges) if nodes is None else _given(name, nodes, start, end, edges)
    chords = np.diff(x, axis=0, append=x[:1]) if closed else np.diff(x, axis=0)
    _check_chords(name, x, chords, closed)
    if rotations is None:
        R = _without_twist(name, chords / np.linalg.norm(chords, axis=1, keepdims=True), closed)
    else:
        R = _rotations(f"rotations of {name!r}", rotations, len(x))
    return Line(x, R, _lengths(f"length of {name!r}", length, np.linalg.norm(_screws(x, R, closed)[:, :3], axis=1)))


def _check_chords(name: str, x: Array, chords: Array, closed: bool) -> None:
    """ValueError if there are too few nodes, or two neighbours at the same point."""
    if len(x) < 2 + closed:
        rod = "a closed rod" if closed else "a rod"
        raise ValueError(f"nodes of {name!r}: at least {2 + closed} expected for {rod}, got {len(x)}")
    lengths = np.linalg.norm(chords, axis=1)
    if lengths.min() == 0:
        i = int(np.argmin(lengths))
        raise ValueError(
            f"nodes of {name!r}: no two neighbours at the same point expected, got {x[i]} for the nodes {i} and "
            f"{(i + 1) % len(x)}"
        )


def _straight(name: str, start: ArrayLike | None, end: ArrayLike | None, edges: int | None) -> Array:
    if start is None or end is None or edges is None:
        raise ValueError(f"rod {name!r} needs nodes, or start, end and edges")
    if isinstance(edges, bool) or not isinstance(edges, (int, np.integer)) or edges < 1:
        raise ValueError(f"edges of {name!r}: a whole number >= 1 expected, got {edges!r}")
    a, b = array(f"start of {name!r}", start, (3,)), array(f"end of {name!r}", end, (3,))
    s = np.arange(edges + 1)[:, None] / edges
    x: Array = a + s * (b - a)
    return x


def _given(name: str, nodes: ArrayLike, *straight: object) -> Array:
    if any(value is not None for value in straight):
        raise ValueError(f"rod {name!r}: nodes, or start, end and edges, not both")
    x = array(f"nodes of {name!r}", nodes)
    if x.ndim != 2 or x.shape[1] != 3:
        raise ValueError(f"nodes of {name!r}: shape (n + 1, 3) expected, got {x.shape}")
    return x


def _rotations(what: str, rotations: RotationLike, count: int) -> Array:
    given = array(what, stored(rotations), (count, 3, 3), (count, 4))
    return np.array([rotation_matrix(f"{what}[{i}]", R) for i, R in enumerate(given)])


def _lengths(what: str, length: ArrayLike | None, found: Array) -> Array:
    """Unstrained lengths of the edges; `found` are their lengths at the start."""
    if length is None:
        return found
    given = array(what, length, (), (len(found),))
    if given.min() <= 0:
        raise ValueError(f"{what}: positive numbers expected, got {length!r}")
    return given if given.ndim else number(what, given) * found / found.sum()


def _screws(x: Array, R: Array, closed: bool) -> Array:
    """Logarithms (edges, 6) of the poses of nodes relative to their predecessors."""
    poses = np.zeros((len(x), 4, 4))
    poses[:, :3, :3], poses[:, :3, 3], poses[:, 3, 3] = R, x, 1
    after = np.roll(poses, -1, axis=0) if closed else poses[1:]
    before = poses if closed else poses[:-1]
    return groups.se3.log(groups.se3.compose(groups.se3.inverse(before), after))


# ---- sections that turn with the line ----


def _without_twist(name: str, chords: Array, closed: bool) -> Array:
    """Rotations (nodes, 3, 3) with d3 along the line.

    At a node the tangent halves the angle between both chords; at an end it makes the same angle with the chord as at
    the other node of the edge, so that the edge has no shear.
    """
    tangents = chords + np.roll(chords, 1, axis=0) if closed else chords[1:] + chords[:-1]
    length = np.linalg.norm(tangents, axis=1, keepdims=True)
    tangents = np.divide(tangents, length, out=np.zeros_like(tangents), where=length > 0)
    if length.size and length.min() < STRAIGHT:
        node = int(np.argmin(length)) + (not closed)
        raise ValueError(
            f"rotations of {name!r}: a rotation for each node expected, since the line turns back on itself at node "
            f"{node} and gives no direction there"
        )
    if not closed:
        inner = tangents if len(tangents) else chords
        ends = [2 * (c @ t) * c - t for c, t in ((chords[0], inner[0]), (chords[-1], inner[-1]))]
        tangents = np.concatenate([ends[:1], tangents, ends[1:]])
    turn = _shortest(np.array([0.0, 0.0, 1.0]), tangents[0])
    turns = [turn]
    for before, after in zip(tangents[:-1], tangents[1:], strict=True):
        turn = _shortest(before, after) @ turn
        turns.append(turn)
    return np.array(turns)


def _shortest(a: Array, b: Array) -> Array:
    """The rotation by the smallest angle from the unit vector a to b; a half turn about x if they are opposite."""
    cosine = float(a @ b)
    if 1 + cosine < STRAIGHT:
        return np.diag([1.0, -1.0, -1.0])
    hat = groups.so3.hat(cross(a, b))
    turn: Array = np.eye(3) + hat + hat @ hat / (1 + cosine)
    return turn
