"""All artifacts, paper by paper in the order of the modules below."""

from __future__ import annotations

from lgint._args import choice
from lgint._papers import (
    beyond,
    beyond_methods,
    beyond_mixed,
    beyond_momentum,
    beyond_sigma,
    holzinger2024,
    holzinger2024_details,
    holzinger2024_mechanisms,
    holzinger2025,
    holzinger2025_flexible,
    kinon2024,
    kinon2024_motion,
    sherif2019,
    sherif2019_newton,
    tumiotto2024,
    tumiotto2024_rods,
)
from lgint._papers.registry import Artifact

MODULES = (
    holzinger2024,
    holzinger2024_mechanisms,
    holzinger2024_details,
    tumiotto2024,
    tumiotto2024_rods,
    sherif2019,
    sherif2019_newton,
    holzinger2025,
    holzinger2025_flexible,
    kinon2024,
    kinon2024_motion,
    beyond,
    beyond_methods,
    beyond_mixed,
    beyond_momentum,
    beyond_sigma,
)


def artifacts() -> list[Artifact]:
    """Every artifact."""
    return [row for module in MODULES for row in vars(module).values() if isinstance(row, Artifact)]


def select(which: str) -> list[Artifact]:
    """The artifacts selected by "all", by the key of a paper or by KEY/ARTIFACT; ValueError for anything else."""
    rows = artifacts()
    known = {"all": rows}
    for row in rows:
        known.setdefault(row.paper, []).append(row)
        known[row.key] = [row]
    paper = which.split("/")[0]
    near = known if "/" not in which else [key for key in known if key.startswith(f"{paper}/")] or known
    return known[choice("artifact", which, [*near])]
