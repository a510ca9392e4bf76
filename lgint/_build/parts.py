"""What every part of a builder needs: bodies by name, frames, elements."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike

from lgint import _core
from lgint._args import Array, array, choice
from lgint._build.bodies import FORMULATIONS, Body
from lgint.modal import ModalBody
from lgint._build.trees import MINIMAL, Tree


class Ground:
    """The inertial frame, as the first or second partner of a joint or spring."""

    def __repr__(self) -> str:
        return "lgint.ground"


ground: Final = Ground()


def _joint_kinds() -> dict[str, bool]:
    """The joints that are masks over a pair of triads, and whether each has an angle."""
    rows = [row for row in _core.element_rows() if row["nrows"] > 0]
    masks = [row for row in rows if row["nrows"] > 0 and any(p["name"] == "axes_a" for p in row["parameters"])]
    return {row["name"]: row["nmem"] > 0 for row in masks}


JOINTS: Final[Mapping[str, bool]] = _joint_kinds()

Partner = str | Ground


class Parts:
    """The bodies, frames, elements and names that a builder has collected so far."""

    def __init__(self, gravity: ArrayLike = (0.0, 0.0, 0.0), formulation: str = "R3xSO3") -> None:
        self._gravity = array("gravity", gravity, (3,))
        self._formulation = choice("formulation", formulation, (*FORMULATIONS, MINIMAL))
        self._bodies: dict[str, Body] = {}
        self._blocks: dict[str, int] = {}
        self._parts: list[Body | Tree | ModalBody] = []  # one per block
        self._nodes: dict[str, tuple[Body, int, int]] = {}  # of modal bodies: place, block, part
        self._links: dict[str, tuple[Tree, int]] = {}
        self._frames: dict[tuple[Any, ...], int] = {}
        self._elements: list[tuple[str, str, tuple[int, ...], list[float], Callable[..., ArrayLike] | None]] = []
        self._names: set[str] = set()
        self._joints: dict[str, dict[str, Any]] = {}

    # ---- names ----

    def _force_name(self, kind: str, a: Partner, b: Partner, name: str | None) -> str:
        first, second = self._partner(a), self._partner(b)
        name = self._free_name(f"{first}-{second}.{kind}") if name is None else name
        self._new_name(kind, name)
        return name

    def _driven(self, joint: str) -> dict[str, Any]:
        """Record of a joint that has an angle, or a coordinate of its own."""
        known = [name for name, row in self._joints.items() if JOINTS.get(row["kind"], False) or "part" in row]
        return self._joints[choice("joint", joint, known)]

    def _partner(self, who: Partner) -> str:
        if isinstance(who, Ground) or who == "ground":
            return "ground"
        return choice("body", who, {**self._bodies, **self._nodes})

    def _at(self, name: str) -> Body:
        """A body, or the node of a modal body as if it were one."""
        return self._nodes[name][0] if name in self._nodes else self._bodies[name]

    def _node_rotation(self, who: Partner) -> Array:
        name = self._partner(who)
        return np.eye(3) if name == "ground" else self._at(name).node_R

    def _local(self, who: Partner, x: Array) -> Array:
        """An inertial point of the start in the body's axes, from its COM."""
        name = self._partner(who)
        return x if name == "ground" else self._at(name).R.T @ (x - self._at(name).x)

    def _frame(self, who: Partner, offset: Array) -> int:
        """Index of the frame at `offset` from the COM (ground: from the origin); equal frames are shared."""
        name = self._partner(who)
        if name == "ground":
            key = (-1, (*map(float, offset), 0.0, 0.0, 0.0))
        elif name in self._nodes:
            _, block, part = self._nodes[name]
            if np.abs(offset).max() > 1e-9:
                raise ValueError(f"{name!r} is a node: {offset} beside it is no point of it; give the body more nodes")
            return self._frames.setdefault((block, (0.0,) * 6, part), len(self._frames))
        else:
            body = self._bodies[name]
            if body.formulation == MINIMAL:
                if name not in self._links:
                    raise ValueError(f"body {name!r} is in minimal coordinates and needs a joint before anything else")
                tree, part = self._links[name]
                link = (tree.block, (0.0, 0.0, 0.0, *map(float, offset + body.com + 0.0)), part)
                return self._frames.setdefault(link, len(self._frames))
            base = np.zeros(3) if body.pivot is None else body.pivot
            key = (self._blocks[name], (*map(float, base), *map(float, body.to_node(offset + body.com) + 0.0)))
        return self._frames.setdefault(key, len(self._frames))

    def _two_points(
        self, name: str, a: Partner, b: Partner, point_a: ArrayLike | None, point_b: ArrayLike | None
    ) -> tuple[tuple[int, int], Array]:
        """Frames of two points in body axes, and the vector from the first to the second at the start."""
        frames, places = [], []
        for letter, who, point in (("a", a, point_a), ("b", b, point_b)):
            local = np.zeros(3) if point is None else array(f"point_{letter} of {name!r}", point, (3,))
            partner = self._partner(who)
            frames.append(self._frame(who, local))
            places.append(local if partner == "ground" else self._at(partner).x + self._at(partner).R @ local)
        return (frames[0], frames[1]), places[1] - places[0]

    def _new_name(self, what: str, name: str) -> None:
        if not isinstance(name, str) or not name:
            raise ValueError(f"name of a {what}: a text expected, got {name!r}")
        if name in self._names or name == "ground":
            raise ValueError(f"the name {name!r} is in use; a {what} needs one of its own")

    def _free_name(self, stem: str) -> str:
        name, count = stem, 1
        while name in self._names:
            count += 1
            name = f"{stem}{count}"
        return name

    def _element(
        self,
        kind: str,
        name: str,
        frames: tuple[int, ...],
        values: list[float],
        function: Callable[..., ArrayLike] | None = None,
    ) -> None:
        self._names.add(name)
        self._elements.append((kind, name, frames, [float(value) for value in values], function))

    def _add_weight(self, body: Body) -> None:
        if self._gravity.any():
            frame = self._frame(body.name, np.zeros(3))
            self._element("gravity", f"{body.name}.gravity", (frame,), [body.mass, *self._gravity])
