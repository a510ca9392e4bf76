"""Kinds of joints, and the coordinates that they have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from lgint import _core
from lgint._args import choice


def _joint_kinds() -> dict[str, tuple[str, ...]]:
    """The joints that are masks over a pair of triads, and which coordinates each has about and along its axis e3."""
    coordinates = {}
    for row in _core.element_rows():
        if row["locked"] is not None:
            has = {"angle": row["nmem"] > 0, "slide": row["locked"] == "12"}
            coordinates[row["name"]] = tuple(name for name, there in has.items() if there)
    return coordinates


JOINTS: Final[Mapping[str, tuple[str, ...]]] = _joint_kinds()
LOCKED: Final = tuple(row["name"] for row in _core.element_rows() if row["locked"] == "123")  # all translations


def slide_frames(joint: Mapping[str, Any]) -> list[int]:
    """The two frames between which the slide of a joint's record is measured, along the axis of the first."""
    frames: list[int] = joint.get("slide", joint["frames"])
    return frames


def joint_coordinate(name: str, kind: str, wanted: str | None) -> str:
    """The coordinate of joint `name` that is meant, "angle" or "slide"; by default the first that its kind has."""
    found = JOINTS.get(kind, ())
    if wanted is not None:
        choice("coordinate", wanted, ("angle", "slide"))
    if not found or (wanted is not None and wanted not in found):
        missing = f"no {wanted}" if wanted else "neither an angle nor a slide"
        kinds = [repr(other) for other, has in JOINTS.items() if (wanted in has if wanted else has)]
        raise ValueError(f"joint {name!r} is {kind} and has {missing}; of the joints these have: {', '.join(kinds)}")
    return wanted or found[0]
