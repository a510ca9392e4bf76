"""All validation cases, field by field in the order of the modules below."""

from __future__ import annotations

from types import ModuleType

from lgint._args import choice
from lgint._validation import (
    columns,
    contact,
    flexible,
    frames,
    linkages,
    mechanisms,
    orbits,
    programs,
    rigid,
    rods,
    stability,
)
from lgint._validation.case import Case

MODULES = (rigid, orbits, mechanisms, linkages, programs, contact, rods, flexible, frames, stability, columns)
KEY = "validation"  # for all of them; validation/NAME for one


def cases() -> list[Case]:
    """Every case."""
    return [row for module in MODULES for row in cases_of(module)]


def cases_of(module: ModuleType) -> list[Case]:
    """The cases of a module, in its order."""
    return [row for row in vars(module).values() if isinstance(row, Case)]


def select(which: str) -> list[Case]:
    """The cases for which "validation" or "validation/NAME" stands; ValueError for anything else."""
    known = {KEY: cases(), **{f"{KEY}/{row.name}": [row] for row in cases()}}
    return known[choice("case", which, [*known])]
