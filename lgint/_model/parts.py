"""The parts of a model, or of a builder, as tables for notebooks."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final

from lgint import _html
from lgint._model.record import ControlRow, ForceRow, JointRow, RodRow, partners

MOST: Final = 15  # rows of a table
Rows = Sequence[Sequence[object]]


def html(
    title: str,
    bodies: Collection[tuple[str, str, float]],
    supports: Collection[str],
    joints: Mapping[str, JointRow],
    forces: Mapping[str, ForceRow],
    rods: Mapping[str, RodRow],
    controls: Mapping[str, ControlRow],
) -> str:
    """Tables of all parts, of bodies by name, formulation and mass. What makes up a rod is one line."""
    parts = {name for rod, row in rods.items() for name in _parts_of(rod, row, forces)}
    tables: list[tuple[str, Sequence[str], Rows]] = [
        ("bodies", ("formulation", "mass / kg"), [(n, kind, f"{mass:g}") for n, kind, mass in bodies]),
        ("rods", ("nodes", "edges", ""), [(n, *_counts(row)) for n, row in rods.items()]),
        ("supports", (), [(n,) for n in supports]),
        ("joints", ("kind", "between"), [(n, row["kind"], " and ".join(partners(row))) for n, row in joints.items()]),
        ("forces", ("kind", "on"), [(n, row["kind"], _where(row)) for n, row in forces.items()]),
        ("controls", ("on",), [(n, _held(row)) for n, row in controls.items()]),
    ]
    shown = [(what, head, [row for row in rows if row[0] not in parts]) for what, head, rows in tables]
    listed = [_table(what, head, rows) for what, head, rows in shown if rows]
    return "\n".join([f"<p>{_html.escaped(title)}</p>", *listed])


def _table(what: str, head: Sequence[str], rows: Rows) -> str:
    few = [*rows] if len(rows) <= MOST else [*rows[: MOST - 1], (f"... {len(rows) - MOST + 1} more",)]
    return _html.table(f"{what}: {len(rows)}", ("name", *head), few)


def _parts_of(rod: str, row: RodRow, forces: Mapping[str, ForceRow]) -> Iterator[str]:
    """The names of the nodes that a rod added, of its edges, and of its loads and drags."""
    stem = row["edges"][0].removesuffix("edge0")
    yield from (node for i, node in enumerate(row["nodes"]) if node == f"{stem}node{i}")
    yield from row["edges"]
    yield from (name for name in forces if re.fullmatch(rf"{re.escape(rod)}\.(load|drag)\d+", name))


def _counts(row: RodRow) -> tuple[int, int, str]:
    return len(row["nodes"]), len(row["edges"]), "closed" if row["closed"] else ""


def _where(row: ForceRow) -> str:
    """The bodies, or the joint and its coordinate, on which a force acts."""
    return " and ".join(row["bodies"]) if "bodies" in row else f"{row['coordinate']} of {row['joint']}"


def _held(row: ControlRow) -> str:
    return ", ".join([f"{coordinate} of {joint}" for joint, coordinate in row["joints"]] + row["bodies"])
