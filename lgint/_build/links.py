"""The part of the builder that hangs bodies in minimal coordinates on trees."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from lgint._args import Array, array, number
from lgint._rotation import triad_about
from lgint._build.parts import Partner, Parts
from lgint._build.trees import MINIMAL, TREE_JOINTS, Joint, Tree


class LinkBuilder(Parts):
    """The part of `ModelBuilder` that makes links of bodies."""

    def _hangs_free(self, who: Partner) -> bool:
        """Whether this is a body in minimal coordinates that waits for its first joint."""
        name = self._partner(who)
        return name != "ground" and self._at(name).formulation == MINIMAL and name not in self._links

    def _check_tree_joint(self, kind: str, a: Partner, b: Partner) -> None:
        parent = self._partner(a)
        if kind not in TREE_JOINTS or (parent != "ground" and parent not in self._links):
            raise ValueError(
                f"body {self._partner(b)!r} is in minimal coordinates: its first joint must be revolute or prismatic, "
                f"with the ground or a link of a tree as first partner; got a {kind} joint with {parent!r}"
            )

    def _place(
        self, name: str, b: Partner, point: ArrayLike | None, point_a: ArrayLike | None, point_b: ArrayLike | None
    ) -> Array:
        """The inertial point of a joint of a tree."""
        if point is not None and point_a is None and point_b is None:
            return array(f"point of {name!r}", point, (3,))
        if point is not None or point_a is not None or point_b is None:
            raise ValueError(f"joint {name!r} of a tree needs point, or point_b")
        body = self._bodies[self._partner(b)]
        place: Array = body.x + body.R @ array(f"point_b of {name!r}", point_b, (3,))
        return place

    def _attach(
        self,
        kind: str,
        name: str,
        a: Partner,
        b: Partner,
        point: Array,
        axis: Array,
        coordinate: float | None,
        rate: float | None,
    ) -> str:
        """The joint that makes a body in minimal coordinates a link of a tree."""
        parent, link = self._partner(a), self._partner(b)
        q = 0.0 if coordinate is None else number(f"angle of {name!r}", coordinate)
        if kind == "revolute":
            q -= 2 * np.pi * round(q / (2 * np.pi))
        speed = None if rate is None else number(f"rate of {name!r}", rate)
        tree, above = self._links[parent] if parent in self._links else (self._new_tree(link), -1)
        self._bodies[link] = tree.add(self._bodies[link], above, Joint(kind, point, axis, q, speed))
        self._links[link] = tree, len(tree.bodies) - 1
        self._blocks[link] = tree.block
        if above < 0:
            node = self._frame(link, -self._bodies[link].com)
            self._elements[tree.element] = ("tree", tree.name, (node,), tree.parameters, None)
        self._add_weight(self._bodies[link])
        self._joints[name] = {
            "kind": kind,
            "element": tree.element,
            "first": parent,
            "second": link,
            "frames": [self._frame(who, self._local(who, point)) for who in (a, b)],
            "axes": [(self._node_rotation(who).T @ triad_about(axis)).tolist() for who in (a, b)],
            "block": tree.block,
            "part": len(tree.bodies) - 1,
        }
        self._names.add(name)
        return name

    def _new_tree(self, link: str) -> Tree:
        tree = Tree(self._free_name(f"{link}.tree"), len(self._parts), len(self._elements))
        self._parts.append(tree)
        self._element("tree", tree.name, (), [])
        return tree
