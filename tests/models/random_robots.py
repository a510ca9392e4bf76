"""Random robots as URDF files: trees of links with joints of all types, limits, dummy links and joints that mimic."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import lgint

TYPES = ("revolute", "continuous", "prismatic", "fixed", "floating", "planar")
TURNS = ("revolute", "continuous")


def words(values: Any) -> str:
    return " ".join(repr(float(value)) for value in values)


def origin(rng: np.random.Generator, scale: float = 1.0) -> str:
    return f'<origin xyz="{words(rng.uniform(-scale, scale, 3))}" rpy="{words(rng.uniform(-3, 3, 3))}"/>'


def link(rng: np.random.Generator, name: str) -> str:
    a, b, c = 0.1 * rng.uniform(1, 1.5, 3)
    moments = f'<inertia ixx="{a}" iyy="{b}" izz="{c}" ixy="0.01" ixz="-0.01" iyz="0.02"/>'
    mass = f'<mass value="{rng.uniform(0.5, 2)}"/>'
    return f'<link name="{name}"><inertial>{origin(rng, 0.3)}{mass}{moments}</inertial></link>'


def joint(rng: np.random.Generator, i: int, kinds: tuple[str, ...], mimicked: list[str], chain: bool) -> str:
    """Joint i leads to link i; one that mimics another one does so without an offset, so that the start holds."""
    kind, parent = str(rng.choice(kinds)), i - 1 if chain else rng.integers(i)
    rest = '<limit lower="-3" upper="3"/>' if kind in ("revolute", "prismatic") else ""
    if kind in TURNS:
        if mimicked and rng.random() < 0.3:
            rest += f'<mimic joint="{rng.choice(mimicked)}" multiplier="{rng.uniform(-2, -0.5)}"/>'
        else:
            mimicked.append(f"joint{i}")
    ends = f'<parent link="link{parent}"/><child link="link{i}"/>'
    axis = "" if kind in ("fixed", "floating") else f'<axis xyz="{words(rng.normal(size=3))}"/>'
    return f'<joint name="joint{i}" type="{kind}">{origin(rng)}{ends}{axis}{rest}</joint>'


def text(
    rng: np.random.Generator, count: int, kinds: tuple[str, ...] = TYPES, chain: bool = False, mass: bool = True
) -> str:
    """A robot of `count` links behind its base, which has a mass or not, in a chain or branched."""
    mimicked: list[str] = []
    base = link(rng, "link0") if mass else '<link name="link0"/>'
    parts = [base, *(link(rng, f"link{i}") for i in range(1, count + 1))]
    parts += [joint(rng, i, kinds, mimicked, chain) for i in range(1, count + 1)]
    return "<robot name='random'>\n" + "\n".join(parts) + "\n</robot>\n"


def add(b: lgint.ModelBuilder, folder: Path, robot: str, **arguments: Any) -> Any:
    """The robot of this text in a builder."""
    path = folder / "robot.urdf"
    path.write_text(robot)
    return b.add_urdf(path, **arguments)
