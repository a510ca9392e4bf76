"""What `method_info` returns: the row of a method, which prints as a table."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping
from typing import Any, Final

from lgint import _html

HEAD: Final = ("option", "default", "values", "meaning")
FACTS: Final = {
    "order": "order",
    "explicit": "explicit",
    "differentiated": "derivatives by parameters",
    "needs": "needs",
    "extra": "states also have",
    "energy": "energy",
    "steadier": "steadier method",
    "reference": "source",
}
WIDTH: Final = 70  # of the last column


class MethodInfo(dict[str, Any]):
    """A method by the keys that `method_info` names; it prints as a table."""

    def __repr__(self) -> str:
        wide = max(len(name) for name in FACTS.values())
        facts = [f"  {name.ljust(wide)}  {value}" for name, value in _facts(self)]
        return "\n".join([f"{self['name']}: {self['doc']}", *facts, "", *_lines([HEAD, *_options(self)])])

    def _repr_html_(self) -> str:
        return _html.table(f"{self['name']}: {self['doc']}", (), _facts(self)) + _html.table(
            "Options", HEAD, _options(self)
        )


def _facts(row: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """What is said of a method in one line each; what it does not have is left out."""
    for key, name in FACTS.items():
        value = row[key]
        if isinstance(value, bool):
            yield name, "yes" if value else "no"
        elif value:
            yield name, str(value)
    if row["tableau"]:
        yield "stages", f'{len(row["tableau"]["c"])}, see ["tableau"]'


def _options(row: Mapping[str, Any]) -> list[tuple[str, str, str, str]]:
    return [(own["name"], repr(own["default"]), _values(own), own["doc"]) for own in row["options"]]


def _values(option: Mapping[str, Any]) -> str:
    """What an option may be."""
    if option["type"] == "flag":
        return "True, False"
    names = [repr(name) for name in option["choices"]]
    if option["type"] == "choice":
        return ", ".join(names)
    return " or ".join([f"{option['low']:g} ... {option['high']:g}", *names])


def _lines(rows: list[tuple[str, str, str, str]]) -> Iterator[str]:
    """Rows as text, whose last cells are wrapped."""
    wide = [max(len(row[i]) for row in rows) for i in range(3)]
    for row in rows:
        cells = "  ".join(cell.ljust(width) for cell, width in zip(row, wide, strict=False))
        yield textwrap.fill(
            row[3], len(cells) + 4 + WIDTH, initial_indent=f"  {cells}  ", subsequent_indent=" " * (len(cells) + 4)
        )
