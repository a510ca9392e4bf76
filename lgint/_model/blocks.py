"""The blocks of the configuration of a model, and the trees of bodies that share one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from lgint._model.formulations import FORMULATIONS
from lgint._model.joints import NODES, TREE_JOINTS, TREE_NODE, single_motions, tree_width, turns_as_node
from lgint._model.record import BodyRow, JointRow, Record, holders, mode_count

# A block of the configuration: a factor, which is a node kind and the dimension of R^n, or a product of factors.
Factor = tuple[str, int]
Block = Factor | tuple[Factor, ...]


FIRST_ORDER: Final = "first_order"  # states of a control


def blocks_of(record: Record) -> list[Block]:
    """The blocks: kinds of nodes, modal bodies with their modal coordinates, products for trees, states of controls."""
    blocks: dict[int, Block] = {}
    held = holders(record["joints"])
    trees = trees_of(record, held)
    for body in record["bodies"].values():
        block = body["block"]
        if block in trees:
            continue
        modes = mode_count(body)
        blocks[block] = (_node(body), ("Rn", modes)) if modes else _node(body)
    for block, links in trees.items():
        blocks[block] = _factors(record, links, held)
    for control in record.get("controls", {}).values():
        if control["block"] is not None:
            blocks[control["block"]] = FIRST_ORDER, len(control["states"])
    return [blocks[block] for block in sorted(blocks)]


def _node(body: BodyRow) -> tuple[str, int]:
    return _SINGLE[body["formulation"]][body["pivot"] is not None]


def _factors(record: Record, links: list[str], held: Mapping[str, str]) -> Block:
    """The factors of a tree: nodes of its root and of rotations, and R^n of angles and slides between them."""
    factors: list[tuple[str, int]] = []
    for name in links:
        if name not in held:
            factors.append(_node(record["bodies"][name]))
            continue
        kind = record["joints"][held[name]]["kind"]
        if (count := single_motions(kind)) and factors and factors[-1][0] == "Rn":
            factors[-1] = "Rn", factors[-1][1] + count
        elif count:
            factors.append(("Rn", count))
        if turns_as_node(kind):
            factors.append((TREE_NODE, 0))
    return factors[0] if len(factors) == 1 else tuple(factors)


def first_velocities(blocks: Sequence[Block]) -> list[int]:
    """The first velocity of each block, and their number."""
    starts = [0]
    for block in blocks:
        factors: Any = (block,) if isinstance(block[0], str) else block
        starts.append(starts[-1] + sum(n or NODES[kind]["nv"] for kind, n in factors))
    return starts


# by formulation: the node of a body, and of one with a pivot
_SINGLE: Final = {name: ((row.node, 0), (row.pivot, 0)) for name, row in FORMULATIONS.items()}


class Link(NamedTuple):
    """The links of a tree on which a body is, of which those before the last belong to its joint."""

    first: int
    last: int
    q: int  # their first coordinate in the block


def trees_of(record: Record, held: Mapping[str, str]) -> dict[int, list[str]]:
    """The bodies of each tree by block: its root, if that is a body, and the links `held` by joints, parents first."""
    trees: dict[int, list[str]] = {}
    for name in held:
        trees.setdefault(record["bodies"][name]["block"], []).append(name)
    for name, body in record["bodies"].items():
        if body["block"] in trees and name not in held:
            trees[body["block"]].insert(0, name)
    return trees


def widths(body: BodyRow, holder: JointRow | None) -> tuple[int, int]:
    """Numbers of velocities and of coordinates of a body of a tree."""
    if holder is not None:
        return len(TREE_JOINTS[holder["kind"]]), tree_width(holder["kind"])
    return len(root_motions(body)), NODES[_node(body)[0]]["nq"]


def root_motions(body: BodyRow) -> Sequence[tuple[str, int]]:
    """The motions of the root of a tree on its node: its position, unless the node is a pivot, and its rotation."""
    along = "node" if FORMULATIONS[body["formulation"]].body_velocity else "slide"
    return [*(() if body["pivot"] else ((along, i) for i in range(3))), *(("node", i) for i in range(3))]
