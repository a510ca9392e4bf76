"""Redundant constraint rows: found at the start, named, left out, and given their share of the reactions.

Rows can depend on one another only around a closed loop of bodies and joints. The loops are the biconnected components
of the graph whose vertices are the blocks and the ground and whose edges are the joints: what hangs on one body or one
joint alone can turn as a whole without straining anything else. An open tree costs no algebra at all, and a model of
many small loops costs as much as their sum. In each loop the rows of B, scaled to length one, are factored joint by
joint, with pivoting inside a joint, so that it is the joints added last that turn out to be redundant.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from lgint import _core
from lgint._args import Array, choice
from lgint._model.model import Model

TOLERANCE = 1e-7  # of a row of length one: what the tolerance of a start cannot tell from dependence
RESIDUAL = 1e-8  # of a consistent start, as in `build`
NEARBY = 1e-2  # how far the mechanism is moved to see whether a dependence lasts, rad
LARGE = 500  # rows of a loop from which on the sparse factorisation is asked first

Dropped = dict[int, list[int]]  # numbers of rows by element


def resolve(model: Model, start: str, redundant: str) -> Model:
    """The model as it is, or without its redundant rows; see `ModelBuilder.build`.

    Raises
    ------
    ValueError
        Naming the joints and rows, if they contradict each other, if they depend on each other at the start only, or if
        they are redundant and `redundant` is "error".
    """
    choice("redundant", redundant, ("error", "drop", "minimum_norm"))
    dropped: Dropped = {}
    for loop in loops(model):
        dropped.update(_dependent(loop, start))
    if not dropped:
        return model
    if redundant == "error":
        raise ValueError(
            f"redundant constraints: {describe(model, dropped)}; the joints added before imply them. Take these joints "
            'apart, or let build(redundant="drop") leave the rows out, or build(redundant="minimum_norm") share the '
            "reactions as well"
        )
    elements = [(*row[:5], dropped[i]) if i in dropped else row for i, row in enumerate(model.record()["elements"])]
    return Model({**model.record(), "elements": elements, "redundant": redundant})


def describe(model: Model, dropped: Mapping[int, Sequence[int]]) -> str:
    """The rows by joint: "bc: translation along z, rotation about e1; cd: ..."."""
    elements, parts = model.record()["elements"], []
    for element, rows in dropped.items():
        name, first = elements[element][1], model.core.rows(element)[0]
        labels = [model.row_names[first + row].removeprefix(f"{name}: ").removeprefix(name) for row in rows]
        parts.append(f"{name}: {', '.join(labels)}")
    return "; ".join(parts)


# ---- the loops of a model ----


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


# ---- the rows of a loop ----


def _dependent(loop: Loop, start: str) -> Dropped:
    """Rows of the loop that follow from the others, by element; ValueError if they contradict these or do not last."""
    if loop.nrows > LARGE and _regular(loop):
        return {}
    q = _onto(loop.core, loop.q, loop.v) if start == "project" else loop.q
    rows = dependent_rows(loop.jacobian(q, loop.v), loop.groups())
    dropped = loop.split(rows)
    if not rows:
        return {}
    kept, text = loop.compile(dropped), describe(loop.model, dropped)
    q, v = kept.project(0.0, q, loop.v)
    violated = _violation(loop.core, q, v) > RESIDUAL
    elsewhere = _onto(loop.core, _moved(kept, q, v), v) if violated else q
    if _violation(loop.core, elsewhere, v) > RESIDUAL:
        raise ValueError(
            f"contradictory constraints: {text}; no position of the bodies was found that satisfies these rows and "
            "those of the joints added before. Check the points and axes of these joints"
        )
    if violated or not _lasts(loop.core, kept, q, v):
        raise ValueError(
            f"singular start: {text}; these rows depend on those of the other joints in this configuration, but not in "
            "configurations next to it. Start from another one"
        )
    return dropped


def dependent_rows(B: Array, groups: Iterator[range]) -> list[int]:
    """Rows of B that are combinations of others: QR of the rows, group by group, with pivoting inside a group."""
    length = np.linalg.norm(B, axis=1, keepdims=True)
    unit = B / np.where(length > 0, length, 1.0)
    basis, count = np.empty((min(B.shape), B.shape[1])), 0
    dependent: list[int] = []
    for group in groups:
        left, rest = list(group), unit[group.start : group.stop].copy()
        for _ in range(2):  # twice is enough (Kahan and Parlett)
            rest -= (rest @ basis[:count].T) @ basis[:count]
        while left:
            size = np.linalg.norm(rest, axis=1)
            best = int(np.argmax(size))
            if size[best] < TOLERANCE:
                break
            direction = rest[best] / size[best]
            direction -= (direction @ basis[:count].T) @ basis[:count]
            basis[count] = direction / np.linalg.norm(direction)
            rest = np.delete(rest, best, axis=0)
            rest -= np.outer(rest @ basis[count], basis[count])
            count += 1
            del left[best]
        dependent += left
    return sorted(dependent)


def _regular(loop: Loop) -> bool:
    """Is B of full rank as far as the sparse factorisation can tell?"""
    try:
        loop.core.project(0.0, loop.q, loop.v, position=False)
    except _core.SingularError:
        return False
    return loop.core.solve_dense_count() == 0


def _violation(core: _core.Model, q: Array, v: Array) -> float:
    """Largest residual at position level against the size of the coordinates."""
    return float(np.abs(core.residual(0.0, q, v)[0]).max() / (1 + np.abs(q).max()))


def _onto(core: _core.Model, q: Array, v: Array) -> Array:
    """A configuration next to q that satisfies all rows as well as can be, dependent or not: Gauss and Newton."""
    best, least = q, np.inf
    for _ in range(50):
        phi = core.residual(0.0, q, v)[0]
        size = float(np.abs(phi).max())
        if size < least:
            best, least = q, size
        if least < 1e-14:
            break
        B = core.evaluate(0.0, q, v, want=["B"])["B"]
        q = core.retract(q, np.linalg.lstsq(B, -phi, rcond=TOLERANCE)[0])
    return best


def _moved(kept: _core.Model, q: Array, v: Array) -> Array:
    """Where a short motion leads in some direction that the rows of `kept` leave free; q if there is none."""
    _, direction = kept.project(0.0, q, np.random.default_rng(0).standard_normal(kept.nv), position=False)
    size = float(np.abs(direction).max())
    return kept.retract(q, NEARBY / size * direction) if size > RESIDUAL else q


def _lasts(complete: _core.Model, kept: _core.Model, q: Array, v: Array) -> bool:
    """Are all rows still satisfied where the mechanism comes to when it moves a little under the rows of `kept`?"""
    try:
        q, v = kept.project(0.0, _moved(kept, q, v), v)
    except _core.IntegrationError:
        return False
    return _violation(complete, q, v) < 1e-10


# ---- multipliers of all rows ----


def complete_multipliers(model: Model, q: Array, v: Array, lam: Array) -> Array:
    """Multipliers (n, rows of `model.complete`) of all rows for states q (n, nq), v (n, nv), lam (n, nc).

    Rows that were dropped have zero; with redundant="minimum_norm" the multipliers of a loop are those of least
    Euclidean norm (in N and N m) that press on the bodies alike: lam - n (n^T lam) with B^T n = 0.
    """
    whole = model.complete
    kept = np.ones(whole.nc, dtype=bool)
    for element, rows in model.dropped.items():
        kept[whole.core.rows(element)[0] + np.array(rows)] = False
    out = np.zeros((len(lam), whole.nc))
    out[:, kept] = lam
    if model.redundant != "minimum_norm":
        return out
    for loop in loops(whole):
        dropped = sum(len(model.dropped.get(joint, ())) for joint in loop.joints)
        if dropped:
            columns = np.concatenate([np.arange(*_span(whole, joint)) for joint in loop.joints])
            rank = len(columns) - dropped
            for i, (qi, vi) in enumerate(zip(loop.part(q, 0), loop.part(v, 1), strict=True)):
                range_of_B = np.linalg.svd(loop.jacobian(qi, vi), full_matrices=False)[0][:, :rank]
                out[i, columns] = range_of_B @ (range_of_B.T @ out[i, columns])
    return out


def _span(model: Model, element: int) -> tuple[int, int]:
    first, count, _, _ = model.core.rows(element)
    return first, first + count
