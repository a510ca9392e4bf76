"""Kinds of joints, and the coordinates that they have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from lgint import _core
from lgint._args import choice


class JointKind(NamedTuple):
    """A kind of joint between two triads (e1, e2, e3), as its row describes it.

    Attributes
    ----------
    coordinates : tuple of str
        Its coordinates about and along e3: "angle", "slide", both or neither.
    axes : int
        Number of axes that a caller has to give: 0 if all directions are equivalent; 1, which is e3, if all directions
        normal to it are equivalent; otherwise 2, which are e1 and e2.
    is_point : bool
        Whether all three translations are locked.
    """

    coordinates: tuple[str, ...]
    axes: int
    is_point: bool


def _joint_kind(locked: str, pairs: str, has_angle: bool) -> JointKind:
    found = {"angle": has_angle, "slide": locked == "12"}
    is_point, normal = locked == "123", {pairs[i : i + 2] for i in range(0, len(pairs), 2)}
    turns_freely, never_turns, aligns_e3 = not normal, len(normal) == 3, normal in ({"13", "23"}, {"31", "32"})
    if (turns_freely or never_turns) and (is_point or not locked):
        axes = 0
    else:
        axes = 1 if (turns_freely or never_turns or aligns_e3) and ("1" in locked) == ("2" in locked) else 2
    return JointKind(tuple(name for name, there in found.items() if there), axes, is_point)


JOINTS: Final[Mapping[str, JointKind]] = {
    row["name"]: _joint_kind(row["locked"], row["pairs"], row["nmem"] > 0)
    for row in _core.ELEMENTS
    if row["locked"] is not None
}


# Of the joints that can hold a link of a tree: the motions that they consist of, one after the other, each along or
# about one of e1, e2, e3. Those of a node turn with the link.
TREE_JOINTS: Final[Mapping[str, tuple[tuple[str, int], ...]]] = {
    "revolute": (("turn", 2),),
    "prismatic": (("slide", 2),),
    "cylindrical": (("slide", 2), ("turn", 2)),
    "universal": (("turn", 0), ("turn", 1)),
    "planar": (("slide", 0), ("slide", 1), ("turn", 2)),
    "spherical": (("node", 0), ("node", 1), ("node", 2)),
    "free": (("slide", 0), ("slide", 1), ("slide", 2), ("node", 0), ("node", 1), ("node", 2)),
}
TREE_NODE: Final = "SO3"  # of the rotations of spherical and free joints in trees
NODES: Final[Mapping[str, Any]] = {row["name"]: row for row in _core.NODES}


def tree_width(kind: str) -> int:
    """Number of coordinates of a joint in a tree."""
    return single_motions(kind) + (int(NODES[TREE_NODE]["nq"]) if turns_as_node(kind) else 0)


def turns_as_node(kind: str) -> bool:
    """Whether a joint in a tree has a rotation of a node among its coordinates, the last ones."""
    return TREE_JOINTS[kind][-1][0] == "node"


def single_motions(kind: str) -> int:
    """Number of angles and slides of a joint in a tree."""
    return sum(motion != "node" for motion, _ in TREE_JOINTS[kind])


def joint_coordinate(name: str, kind: str, wanted: str | None) -> str:
    """The coordinate of joint `name`, "angle" or "slide": `wanted`, or by default the first that its kind has."""
    found = JOINTS[kind].coordinates if kind in JOINTS else ()
    if wanted is not None:
        choice("coordinate", wanted, ("angle", "slide"))
    if not found or (wanted is not None and wanted not in found):
        missing = f"no {wanted}" if wanted else "neither an angle nor a slide"
        kinds = [repr(other) for other, (has, *_) in JOINTS.items() if (wanted in has if wanted else has)]
        raise ValueError(f"joint {name!r} is {kind} and has {missing}; joints that have one are: {', '.join(kinds)}")
    return wanted or found[0]
