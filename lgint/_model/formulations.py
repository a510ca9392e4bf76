"""Formulations of bodies: which node kinds they use, and how they store a rotation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from lgint import _core


@dataclass(frozen=True)
class Formulation:
    """How a body's coordinates are stored: node kinds of a free body and of one fixed at a point."""

    node: str
    pivot: str
    storage: str  # how the rotation is stored: "matrix", "quaternion", "vector" or "angles"
    body_velocity: bool = False  # the velocity of the COM is in body axes
    rates: bool = False  # velocities are time derivatives of the quaternion or the angles


FORMULATIONS: Final[Mapping[str, Formulation]] = {
    row["name"]: Formulation(row["name"], row["pivot"], row["storage"], row["position"] == "body", row["rates"])
    for row in _core.NODES
    if row["position"] in ("inertial", "body") and row["pivot"]
}
