"""The closed loops of a model.

Constraint rows can depend on one another only around a closed loop of bodies and joints. The loops are the biconnected
components of the graph whose vertices are the blocks and the ground and whose edges are the joints: what hangs on one
body or one joint alone can turn as a whole without straining anything else.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from lgint import _core
from lgint._args import Array
from lgint._model.model import Model

Dropped = dict[int, list[int]]  # numbers of rows by element


class _Whole(NamedTuple):
    """A model with what all of its loops read."""

    model: Model
    record: dict[str, Any]
    ends: tuple[list[int], list[int]]  # where the blocks begin in q and in v, and where the last one ends

    @classmethod
    def of(cls, model: Model) -> _Whole:
        starts = [(q, v) for _, _, q, v, *_ in model.core.blocks]
        return cls(model, model.record(), ([*(q for q, _ in starts), model.nq], [*(v for _, v in starts), model.nv]))


class Loop:
    """A part of a model: the joints of one loop, the blocks between them, and these blocks' inertia.

    Attributes
    ----------
    model : Model
        The whole, with all of its rows.
    joints : list of int
        Its elements, in the order in which they were added.
    core : _core.Model
        The loop alone.
    q, v : ndarray
        Its start.
    """

    def __init__(self, whole: _Whole, joints: list[int], blocks: list[int], others: list[int]) -> None:
        model = whole.model
        self.model, self.joints, self._blocks, self._others = model, joints, blocks, others
        self._whole = whole
        self._rows = [model.core.rows(joint)[1] for joint in joints]
        self.nrows = sum(self._rows)
        self.core = self.compile({})
        self.q, self.v = self.part(model.q0, 0), self.part(model.v0, 1)

    def compile(self, dropped: Dropped) -> _core.Model:
        """The loop without these rows."""
        record = self._whole.record
        renumbered = {block: i for i, block in enumerate(self._blocks)} | {-1: -1}
        chosen = [(*record["elements"][i][:5], dropped.get(i, [])) for i in self.joints + self._others]
        used = sorted({frame for element in chosen for frame in element[2]})
        place = {frame: i for i, frame in enumerate(used)}
        frames = [(renumbered[record["frames"][i][0]], *record["frames"][i][1:]) for i in used]
        elements = [(kind, name, [place[i] for i in at], *rest) for kind, name, at, *rest in chosen]
        return _core.Model([record["blocks"][i] for i in self._blocks], frames, elements)

    def part(self, x: Array, level: int) -> Array:
        """The loop's coordinates (level 0) or velocities (1) out of those of the whole, (..., nq) or (..., nv)."""
        ends = self._whole.ends[level]
        return np.concatenate([x[..., ends[i] : ends[i + 1]] for i in self._blocks], axis=-1)

    def jacobian(self, q: Array, v: Array) -> Array:
        """B of the joints' rows, dense."""
        return self.core.evaluate(0.0, q, v, want=["B"])["B"][: self.nrows]

    def split(self, rows: Sequence[int]) -> Dropped:
        """Rows of the loop as rows of elements."""
        owner = [(joint, row) for joint, count in zip(self.joints, self._rows, strict=True) for row in range(count)]
        split: Dropped = {}
        for joint, row in (owner[i] for i in rows):
            split.setdefault(joint, []).append(row)
        return split

    def groups(self) -> Iterator[range]:
        """The loop's rows, joint by joint."""
        ends = np.concatenate([[0], np.cumsum(self._rows)])
        return (range(*pair) for pair in zip(ends[:-1], ends[1:], strict=True))


def loops(model: Model) -> list[Loop]:
    """The closed loops of the joints of `model`, those over the ground included."""
    whole = _Whole.of(model)
    record, ground = whole.record, len(whole.ends[0]) - 1
    has_rows = {row["name"] for row in _core.element_rows() if row["nrows"] > 0}
    free = {row["name"] for row in _core.node_rows() if row["place"] in ("inertial", "body")}
    joints: list[int] = []
    others: dict[int, list[int]] = {block: [] for block in range(ground)}
    for i, (kind, _, at, *_) in enumerate(record["elements"]):
        if kind in has_rows:
            joints.append(i)
        elif len(at) == 1:
            others[record["frames"][at[0]][0]].append(i)

    # a block that is not free by itself is held by the ground
    ends = [
        [ground if (b := record["frames"][frame][0]) < 0 else b for frame in record["elements"][i][2]] for i in joints
    ]
    held = [[ground, i] for i, (kind, _) in enumerate(record["blocks"]) if kind not in free]
    found = []
    for component in biconnected(ground + 1, ends + held):
        edges = sorted(edge for edge in component if edge < len(joints))
        blocks = sorted({end for edge in edges for end in ends[edge]} - {ground})
        about = [i for block in blocks for i in others[block]]
        found.append(Loop(whole, [joints[edge] for edge in edges], blocks, about))
    return found


def biconnected(vertices: int, edges: Sequence[Sequence[int]]) -> list[list[int]]:
    """Biconnected components of a multigraph with more than one edge, or with one from a vertex to itself.

    Edges are numbered as given. Depth first, with a stack of its own (Hopcroft and Tarjan, 1973): linear in time.
    """
    at: list[list[int]] = [[] for _ in range(vertices)]
    for number, (a, b) in enumerate(edges):
        at[a].append(number)
        at[b].append(number)
    found = [[number] for number, (a, b) in enumerate(edges) if a == b]
    used = [a == b for a, b in edges]
    order, low, count = [0] * vertices, [0] * vertices, 0
    for root in range(vertices):
        if order[root]:
            continue
        count += 1
        order[root] = low[root] = count
        path, trail = [(root, -1, iter(at[root]))], []
        while path:
            here, via, rest = path[-1]
            for edge in rest:
                if used[edge]:
                    continue
                used[edge] = True
                trail.append(edge)
                there = edges[edge][0] + edges[edge][1] - here
                if not order[there]:
                    count += 1
                    order[there] = low[there] = count
                    path.append((there, edge, iter(at[there])))
                    break
                low[here] = min(low[here], order[there])
            else:
                path.pop()
                if not path:
                    continue
                before = path[-1][0]
                low[before] = min(low[before], low[here])
                if low[here] >= order[before]:
                    component = [trail.pop()]
                    while component[-1] != via:
                        component.append(trail.pop())
                    if len(component) > 1:
                        found.append(component)
    return found
