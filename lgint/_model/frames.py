"""The points of a model that its elements attach to, and where bodies are in trees."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Final

import numpy as np

from lgint._args import Array
from lgint._model.blocks import Link, trees_of, widths
from lgint._model.joints import JOINTS, TREE_JOINTS, tree_width
from lgint._model.record import BodyRow, JointRow, Record, holders

# A point that elements attach to: its block (-1: the ground; -2 and less: a support), the part of the body on the block
# (a node, or a link of a tree), the three coordinates of its base and the three of its offset.
Frame = tuple[float, ...]

ZERO: Final = (0.0, 0.0, 0.0)


class Frames:
    """The points of a model that elements attach to; equal ones are shared."""

    def __init__(self, record: Record) -> None:
        self._bodies, self._weigh = record["bodies"], any(record["gravity"])
        self._supports = {name: -2 - i for i, name in enumerate(record["supports"])}
        self._nodes = {
            f"{name}.{node}": (body["block"], part)
            for name, body in self._bodies.items()
            if body["modes"]
            for part, node in enumerate(body["modes"]["nodes"], 1)
        }
        self.holders = holders(record["joints"])
        self._held = {body: record["joints"][joint] for body, joint in self.holders.items()}
        self.coms = {name: _com(record, name, self.holders.get(name)) for name in self._bodies}
        self.trees = trees_of(record, self.holders)
        self.links: dict[str, Link] = {}
        for links in self.trees.values():
            v, q = 0, 0
            for name in links:
                holder = self.holders.get(name)
                width, wide = widths(self._bodies[name], record["joints"][holder] if holder else None)
                self.links[name] = Link(v, v + width - 1, q)
                v, q = v + width, q + wide
        self._found: dict[Frame, int] = {}
        self._coms: dict[str, int] = {}

    def at(self, who: str, point: Sequence[float]) -> int:
        """Number of the frame at a point of a body, of a support or of the ground, or at a node."""
        return self._number(self._on_body(who, point) if who in self._bodies else self._elsewhere(who, point))

    def block(self, who: str) -> int:
        """The block of a body or a node, -1 for the ground and for supports."""
        if who in self._bodies:
            return self._bodies[who]["block"]
        return self._nodes[who][0] if who in self._nodes else -1

    def com(self, name: str) -> int:
        """Number of the frame at the COM of a body, at a node or at a support."""
        found = self._coms.get(name)
        if found is None:
            found = self._coms[name] = self.at(name, ZERO)
        return found

    def origin(self, name: str) -> int:
        """Number of the frame at the point of a body that its coordinates describe."""
        com = self.coms[name]
        return self.at(name, [-x for x in com]) if any(com) else self.com(name)

    def span(self, joint: JointRow) -> tuple[tuple[int, int], tuple[int, int]]:
        """The first index and the number of the coordinates of a joint that holds a link, and of its velocities."""
        link, kind = self.links[joint["second"]], joint["kind"]
        return (link.q, tree_width(kind)), (link.first, len(TREE_JOINTS[kind]))

    def states(self, block: int) -> int:
        """Number of a frame that stands for a block without a position."""
        return self._number((block, 0, *ZERO, *ZERO))

    def path(self, who: str) -> list[str]:
        """A link of a tree and those that carry it up to the root of the tree."""
        found, joints = [who], {second: row["first"] for second, row in self._held.items()}
        while found[-1] in joints and joints[found[-1]] in self.links:
            found.append(joints[found[-1]])
        return found

    def coordinates(self, joint: JointRow, at: int) -> dict[str, tuple[int, int, int]]:
        """The coordinates of a joint that holds the link on which the frame `at` is, as in `JointIndices`."""
        link = self.links[joint["second"]]
        found: dict[str, tuple[int, int, int]] = {}
        if joint["kind"] not in JOINTS:
            return found
        for i, (kind, axis) in enumerate(TREE_JOINTS[joint["kind"]]):
            if axis == 2 and kind != "node":
                v = link.first + i
                own = at if v == link.last else self._number((self.block(joint["second"]), v, *ZERO, *ZERO))
                found["angle" if kind == "turn" else "slide"] = own, link.q + i, v
        return found

    def _number(self, frame: Frame) -> int:
        return self._found.setdefault(frame, len(self._found))

    def elements(self) -> tuple[int, int]:
        """Number of elements of supports and bodies, and of weights."""
        rigid = len(self._bodies) - len(self.links)
        return len(self._supports) + len(self.trees) + rigid, len(self._bodies) if self._weigh else 0

    def __iter__(self) -> Iterator[Frame]:
        """The frames in the order of their numbers, those of all COMs, nodes and supports among them."""
        _ = self.named
        return iter(self._found)

    @cached_property
    def named(self) -> dict[str, int]:
        """Frames of the COMs of all bodies, of all nodes and of all supports."""
        return {name: self.com(name) for name in (*self._bodies, *self._nodes, *self._supports)}

    def _on_body(self, who: str, point: Sequence[float]) -> Frame:
        body, (x, y, z), (a, b, c) = self._bodies[who], point, self.coms[who]
        if body["reference"] is None:
            x, y, z = x + a, y + b, z + c
        else:
            x, y, z = in_node(body, np.array([x + a, y + b, z + c])).tolist()
        base = body["pivot"]["point"] if body["pivot"] else ZERO
        return (
            body["block"],
            self.links[who].last if who in self.links else 0,
            *base,
            x + 0.0,
            y + 0.0,
            z + 0.0,
        )  # without negative zeros

    def _elsewhere(self, who: str, point: Sequence[float]) -> Frame:
        if who == "ground":
            return -1, 0, *point, *ZERO
        if who in self._supports:
            return self._supports[who], 0, *ZERO, *point
        return *self._nodes[who], *ZERO, *ZERO


def _com(record: Record, name: str, holder: str | None) -> Sequence[float]:
    """The vector (3,) in body axes from the point that the coordinates describe to the COM.

    `holder` is the joint that holds the body if it is a link.
    """
    if holder is not None:
        return [-x for x in record["joints"][holder]["points"][1]]
    pivot = record["bodies"][name]["pivot"]
    return pivot["com"] if pivot else ZERO


def in_node(body: BodyRow, x: Array) -> Array:
    """Components (..., 3) in the axes of the body's node of vectors given in body axes."""
    turned: Array = x if body["reference"] is None else x @ np.array(body["reference"]).T
    return turned
