"""What every part of a builder needs: bodies by name, frames, elements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike

from lgint._args import Array, array, choice
from lgint._build.bodies import FORMULATIONS, Body
from lgint._build.flexible import ModalBody
from lgint._model.joints import joint_coordinate, slide_frames
from lgint._build.trees import MINIMAL, Tree


class Ground:
    """The inertial frame, as the first or second partner of a joint or spring."""

    def __repr__(self) -> str:
        return "lgint.ground"


ground: Final = Ground()


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
        self._numbers: dict[str, int] = {}  # by stem: the last number that made a free name
        self._joints: dict[str, dict[str, Any]] = {}

    def __repr__(self) -> str:
        return f"<lgint.{type(self).__name__}: {len(self._bodies)} bodies, {len(self._joints)} joints>"

    # ---- names ----

    def _force_name(self, kind: str, a: Partner, b: Partner, name: str | None) -> str:
        first, second = self._partner(a), self._partner(b)
        name = self._free_name(f"{first}-{second}.{kind}") if name is None else name
        self._new_name(kind, name)
        return name

    def _joint_force(
        self,
        family: str,
        joint: str,
        coordinate: str | None,
        name: str | None,
        values: Sequence[float],
        function: Callable[..., ArrayLike] | None = None,
    ) -> str:
        """Adds the element of a `family`, "drive" or "law", that acts on a coordinate of a joint, and returns its name."""
        row = self._joints[choice("joint", joint, self._joints)]
        which = joint_coordinate(joint, row["kind"], coordinate)
        name = self._force_name(family, row["first"], row["second"], name)
        if "part" in row:
            self._element(f"coordinate_{family}", name, (row["frames"][1],), [*values], function)
        elif which == "slide":
            axis = np.array(row["axes"][0])[:, 2]
            self._element(f"slide_{family}", name, tuple(slide_frames(row)), [*axis, *values], function)
        else:
            triads = np.ravel(row["axes"])
            self._element(f"joint_{family}", name, tuple(row["frames"]), [*triads, *values], function)
        return name

    def _partner(self, who: Partner) -> str:
        if isinstance(who, Ground) or who == "ground":
            return "ground"
        if isinstance(who, str) and (who in self._bodies or who in self._nodes):
            return who
        return choice("body", who, [*self._bodies, *self._nodes])

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

    def _attachment(self, name: str, who: Partner, point: ArrayLike | None, local_point: ArrayLike | None) -> Array:
        """Where `name` attaches to one body, in its axes from the COM; `point` is inertial. Default: the COM."""
        if point is not None and local_point is not None:
            raise ValueError(f"{name!r}: point (inertial) or local_point (body-fixed), not both")
        if point is not None:
            return self._local(who, array(f"point of {name!r}", point, (3,)))
        return np.zeros(3) if local_point is None else array(f"local_point of {name!r}", local_point, (3,))

    def _ends(
        self,
        name: str,
        a: Partner,
        b: Partner,
        point: ArrayLike | None,
        point_a: ArrayLike | None,
        point_b: ArrayLike | None,
        *shapes: tuple[int, ...],
    ) -> tuple[Array, Array]:
        """Where `name` attaches to two bodies, in their axes from the COM.

        `point` is inertial and has one of `shapes`: (3,) for both bodies, (2, 3) for one each. Default: the COMs.
        """
        if point is not None:
            if point_a is not None or point_b is not None:
                raise ValueError(f"{name!r}: point (inertial), or point_a and point_b (body-fixed), not both")
            first, second = np.broadcast_to(array(f"point of {name!r}", point, *shapes), (2, 3))
            return self._local(a, first), self._local(b, second)
        first, second = (
            np.zeros(3) if given is None else array(f"point_{letter} of {name!r}", given, (3,))
            for letter, given in (("a", point_a), ("b", point_b))
        )
        return first, second

    def _between(self, a: Partner, b: Partner, ends: tuple[Array, Array]) -> tuple[tuple[int, int], Array]:
        """Frames at two points in body axes, and the vector from the first to the second at the start."""
        frames = self._frame(a, ends[0]), self._frame(b, ends[1])
        return frames, self._place_of(b, ends[1]) - self._place_of(a, ends[0])

    def _place_of(self, who: Partner, local: Array) -> Array:
        """The inertial place at the start of a point in body axes from the COM."""
        name = self._partner(who)
        place: Array = local if name == "ground" else self._at(name).x + self._at(name).R @ local
        return place

    def _new_name(self, what: str, name: str) -> None:
        if not isinstance(name, str) or not name:
            raise ValueError(f"name of a {what}: a text expected, got {name!r}")
        if "\0" in name or any("\ud800" <= character <= "\udfff" for character in name):
            raise ValueError(f"name of a {what}: no NUL characters and no lone surrogates expected, got {name!r}")
        if name in self._names or name == "ground":
            raise ValueError(f"the name {name!r} is in use; a {what} needs one of its own")

    def _free_name(self, stem: str) -> str:
        name, number = stem, self._numbers.get(stem, 1)
        while name in self._names:
            number += 1
            name = f"{stem}{number}"
        self._numbers[stem] = number
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
