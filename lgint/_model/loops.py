"""The closed loops of a model.

Constraint rows can depend on one another only around a closed loop of bodies and joints. The loops are the biconnected
components of the graph whose vertices are the blocks and the ground and whose edges are the joints: a part that is
connected to the rest by one rigid body or one joint alone can move as a whole without affecting the rows of the rest.
Components that share a block with freedoms of its own, a tree of several bodies or a flexible body, are one loop.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence, Set
from itertools import chain
from typing import Final, NamedTuple, cast

import numpy as np

from lgint import _core
from lgint._args import Array
from lgint._model.compile import ROWS, compiled
from lgint._model.model import Model
from lgint._model.record import BodyRow, Record

# kinds of nodes that move freely
FREE: Final = {row["name"] for row in _core.NODES if row["position"] in ("inertial", "body")}

Dropped = dict[str, list[int]]  # numbers of rows by joint

# A row of length one with a smaller remainder counts as dependent, and a row as zero that is shorter than this part of
# the longest one, as rows are in coordinates in which a joint moves nothing; starts are not more accurate.
TOLERANCE: Final = 1e-7
BARELY: Final = 1e-10  # this remainder is enough where joints that are hardly misaligned hold each other
SHORT: Final = 1e-3  # of the longest row: shorter ones are taken last in a group, since their errors grow in the others
ROUND_OFF: Final = 16 * np.finfo(float).eps  # of a row, relative to the longest one
LARGE: Final = 500  # number of rows of a loop above which the sparse factorisation is tried first


class _Whole(NamedTuple):
    """A model, and what is computed once for all of its loops."""

    model: Model
    ends: tuple[list[int], list[int]]  # the first index of each block in q and in v, and the end of the last one
    bodies: list[list[str]]  # by block
    hanging: list[list[str]]  # by block: the joints that hold the links of a tree
    bare: Record  # the record without forces and controls

    @classmethod
    def of(cls, model: Model) -> _Whole:
        starts = [(q, v) for _, _, q, v, *_ in model.core.blocks]
        bodies: list[list[str]] = [[] for _ in starts]
        for name, body in model.bodies.items():
            bodies[body["block"]].append(name)
        hanging: list[list[str]] = [[] for _ in starts]
        for name, joint in model.joints.items():
            if joint.get("holds"):
                hanging[model.bodies[joint["second"]]["block"]].append(name)
        ends = [*(q for q, _ in starts), model.nq], [*(v for _, v in starts), model.nv]
        return cls(
            model, ends, bodies, hanging, {**model.record(), "forces": {}, "controls": {}, "gravity": [0.0, 0.0, 0.0]}
        )


class Loop:
    """A part of a model: the joints of one loop, the blocks between them, and these blocks' inertia.

    Attributes
    ----------
    model : Model
        The whole model, with all of its rows.
    joints : list of str
        In the order in which they were added.
    core : _core.Model
        The compiled loop.
    q, v : ndarray
        Its start.
    """

    def __init__(self, whole: _Whole, joints: list[str], blocks: list[int]) -> None:
        self.model, self.joints, self._blocks, self._whole = whole.model, joints, blocks, whole
        self._rows = [len(self.model.rows(joint)) for joint in joints]
        self.nrows = sum(self._rows)
        self._size = np.repeat([self._factor(joint) for joint in joints], self._rows)[:, None]
        self.core = self.compile({})
        self.q, self.v = self.part(self.model.q0, 0), self.part(self.model.v0, 1)

    def compile(self, dropped: Dropped) -> _core.Model:
        """The loop without these rows, and without forces and controls."""
        bodies: dict[str, BodyRow] = {}
        for i, block in enumerate(self._blocks):
            for name in self._whole.bodies[block]:
                bodies[name] = {**self.model.bodies[name], "block": i}
        hanging = [name for block in self._blocks for name in self._whole.hanging[block]]
        joints = {name: self.model.joints[name] for name in (*hanging, *self.joints)}
        loops = dict.fromkeys(self.joints, 1)
        own = {**self._whole.bare, "bodies": bodies, "joints": joints, "dropped": dropped, "loops": loops}
        return compiled(cast(Record, own)).core

    def part(self, x: Array, level: int) -> Array:
        """The loop's coordinates (level 0) or velocities (level 1) among those of the model, (..., nq) or (..., nv)."""
        ends = self._whole.ends[level]
        return np.concatenate([x[..., ends[i] : ends[i + 1]] for i in self._blocks], axis=-1)

    def jacobian(self, q: Array, v: Array, body_axes: bool = False) -> Array:
        """B of the joints' rows, dense; `body_axes`: of rows in the axes of bodies."""
        return self.core.evaluate(0.0, q, v, want=["B"], body_axes=body_axes)["B"][: self.nrows]

    def dependent(self, q: Array, v: Array, tolerance: float = TOLERANCE) -> list[int]:
        """Rows that are combinations of others at q. Factors of couplings do not count for the lengths of rows."""
        return dependent_rows(self.jacobian(q, v) / self._size, self.groups(), tolerance)

    def size(self, q: Array, v: Array) -> float:
        """The largest coordinate and 1, or the longest arm of a row, m: in minimal coordinates no q has a length."""
        arms = np.abs(self.jacobian(q, v) / self._size)
        return float(max(1 + np.abs(q).max(), arms.max(initial=0.0)))

    def _factor(self, joint: str) -> float:
        """The largest factor of a coupling, 1 for other joints."""
        if not (name := self.model.joints[joint].get("coupling")):
            return 1.0
        return max(abs(row["factor"]) for row in self.model.joints.values() if row.get("coupling") == name)

    def row_names(self) -> list[str]:
        """The names of the loop's rows, and of the own rows of its blocks."""
        names = self.model.row_names
        of_joints = [names[row] for joint in self.joints for row in self.model.rows(joint)]
        return [*of_joints, *self.core.row_names[self.nrows :]]

    def split(self, rows: Sequence[int]) -> Dropped:
        """Rows of the loop as rows of joints."""
        owner = [(joint, row) for joint, count in zip(self.joints, self._rows, strict=True) for row in range(count)]
        split: Dropped = {}
        for joint, row in (owner[i] for i in rows):
            split.setdefault(joint, []).append(row)
        return split

    def is_regular(self) -> bool:
        """Whether the loop is large and, according to the sparse factorisation, has independent rows at its start."""
        if self.nrows <= LARGE:
            return False
        try:
            self.core.project(0.0, self.q, self.v, position=False)
        except _core.SingularError:
            return False
        return self.core.solve_dense_count() == 0

    def groups(self) -> Iterator[range]:
        """The loop's rows, joint by joint."""
        ends = np.concatenate([[0], np.cumsum(self._rows)])
        return (range(*pair) for pair in zip(ends[:-1], ends[1:], strict=True))


def dependent_rows(B: Array, groups: Iterator[range], tolerance: float = TOLERANCE) -> list[int]:
    """Rows of B that are combinations of others, by QR of the rows, group by group, with pivoting inside a group."""
    length = np.linalg.norm(B, axis=1, keepdims=True)
    unit = np.where(length > tolerance * length.max(initial=0.0), B / np.where(length > 0, length, 1.0), 0.0)
    weight = np.minimum(1.0, length[:, 0] / (SHORT * length.max(initial=1e-300)))
    noise = ROUND_OFF * length.max(initial=0.0) / np.maximum(length[:, 0], 1e-300)
    least = np.maximum(tolerance, noise)  # the remainder of an independent row
    basis, count = np.empty((min(B.shape), B.shape[1])), 0
    dependent: list[int] = []
    for group in groups:
        left, rest = list(group), unit[group.start : group.stop].copy()
        for _ in range(2):  # twice is enough (Kahan and Parlett)
            rest -= (rest @ basis[:count].T) @ basis[:count]
        while left:
            size = np.linalg.norm(rest, axis=1)
            best = int(np.argmax(np.where(size < least[left], 0.0, size * weight[left])))
            if size[best] < least[left[best]]:
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


def loops(model: Model) -> list[Loop]:
    """The closed loops of those joints of `model` that have rows, including loops through the ground."""
    kinds = [kind for kind, *_ in model.core.blocks]
    ground = len(kinds)
    joints = [name for name, row in model.joints.items() if not row.get("holds") and ROWS[row["kind"]]]

    # a block that is not free by itself counts as joined to the ground
    held = [(ground, i) for i, kind in enumerate(kinds) if kind not in FREE]
    pairs = (model.joint_indices(name).blocks for name in joints)
    if is_forest(ground + 1, chain(pairs, held)):
        return []
    ends = [[ground if block < 0 else block for block in model.joint_indices(name).blocks] for name in joints]
    whole = _Whole.of(model)
    found = []
    components = ([edge for edge in part if edge < len(joints)] for part in biconnected(ground + 1, [*ends, *held]))
    jointed = _jointed(model)
    shared: list[set[str | int]] = [{*(jointed & {*pair})} for pair in ends]
    for keys, name in zip(shared, joints, strict=True):
        if coupling := model.joints[name].get("coupling"):
            keys.add(coupling)
    for edges in _merged(components, shared):
        blocks = sorted({end for edge in edges for end in ends[edge]} - {ground})
        found.append(Loop(whole, [joints[edge] for edge in edges], blocks))
    return found


def _jointed(model: Model) -> Set[int]:
    """The blocks whose bodies move against each other, or deform."""
    count = Counter(body["block"] for body in model.bodies.values())
    return {body["block"] for body in model.bodies.values() if body["modes"] or count[body["block"]] > 1}


def _merged(components: Iterable[list[int]], shared: Sequence[Set[str | int]]) -> list[list[int]]:
    """Components as sorted edges; those that share a coupling or a jointed block are one. `shared`: by edge."""
    found: dict[int, list[int]] = {}
    known: dict[str | int, int] = {}  # by what is shared: the number of the component that has it
    for number, edges in enumerate(components):
        merged = list(edges)
        keys = {key for edge in edges for key in shared[edge]}
        for other in {known[key] for key in keys if key in known}:
            merged += found.pop(other)
        found[number] = merged
        known |= dict.fromkeys((key for edge in merged for key in shared[edge]), number)
    return [sorted(edges) for edges in found.values()]


def is_forest(vertices: int, edges: Iterable[Sequence[int]]) -> bool:
    """Whether no edges of a multigraph form a circle: each joins two parts that those before it leave apart.

    The last vertex is also -1.
    """
    above = list(range(vertices))
    for a, b in edges:
        while above[a] != a:
            above[a] = a = above[above[a]]
        while above[b] != b:
            above[b] = b = above[above[b]]
        if a == b:
            return False
        above[a] = b
    return True


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
