"""Rods, as `add_rod` returns and trajectories accept them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Rod:
    """A rod of a builder; joints, springs and forces attach to its nodes as to any body.

    Attributes
    ----------
    name : str
    nodes : tuple of str
        Names of its nodes: bodies, supports where it is clamped, and the bodies or nodes to which it is attached.
    edges : tuple of str
        Names of its edges, which are joints; edge i is between nodes i and i + 1.
    """

    name: str
    nodes: tuple[str, ...]
    edges: tuple[str, ...]
