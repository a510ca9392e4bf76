"""Order conditions of half-explicit methods for index-2 systems y' = f(y, z), 0 = g(y).

Terms of the solution belong to trees of two kinds (Hairer, Wanner: Solving Ordinary Differential Equations II, VII.5):
y-trees, whose root stands for f and has y- and z-trees as branches, and z-trees, whose root stands for
(-g_y f_z)^-1 g_yy.. and has y-trees as branches, but not a single one whose only branch is a z-tree. The order of a
tree is the number of roots f in it minus the number of the others. A half-explicit method fulfils the constraint at the
points 3 .. s' + 1 of its tableau and takes Z_1 = z_n (Arnold, BIT 38, 1998, 415-438). Numbers may be floats, fractions
or of any other type with arithmetic.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from typing import Any, NamedTuple


class Tree(NamedTuple):
    """A root and its branches."""

    kind: str  # "y" or "z"
    branches: tuple[Tree, ...]


def _forests(total: int, trees: list[tuple[int, Tree]]) -> list[tuple[Tree, ...]]:
    """All multisets of trees, given with their orders, whose orders sum up to `total`."""
    if total == 0:
        return [()]
    return [
        (tree, *rest)
        for i, (order, tree) in enumerate(trees)
        if order <= total
        for rest in _forests(total - order, trees[i:])
    ]


def _up_to(order: int, kinds: str) -> list[tuple[int, Tree]]:
    """All trees of these kinds up to an order, with their orders."""
    return [(n, tree) for n in range(1, order + 1) for kind in kinds for tree in trees(n, kind)]


@cache
def trees(order: int, kind: str) -> tuple[Tree, ...]:
    """All trees of an order."""
    if kind == "y":
        return tuple(Tree("y", forest) for forest in _forests(order - 1, _up_to(order - 1, "yz")))
    several = _forests(order + 1, _up_to(order, "y"))
    inner = _up_to(order - 1, "yz") + [(order, tree) for tree in trees(order, "y")]
    single = [(Tree("y", forest),) for forest in _forests(order, inner)]
    return tuple(Tree("z", forest) for forest in several + single)


@cache
def order_of(tree: Tree) -> int:
    """The number of roots f minus the number of the others."""
    return sum(map(order_of, tree.branches)) + (1 if tree.kind == "y" else -1)


@cache
def density(tree: Tree) -> Fraction:
    """The inverse of the elementary weight required by the order condition of a tree."""
    product = Fraction(1)
    for branch in tree.branches:
        product *= density(branch)
    return product * order_of(tree) if tree.kind == "y" else product / (order_of(tree) + 1)


def dot(row: Sequence[Any], values: Sequence[Any]) -> Any:
    """The sum of products; the row may be longer than the values."""
    return sum((a * x for a, x in zip(row, values, strict=False) if a != 0), Fraction(0))


class Method:
    """A half-explicit method whose points are the rows of A; all but the last are stages."""

    def __init__(self, A: Sequence[Sequence[Any]]) -> None:
        self.A, self.stages = A, len(A) - 1
        self.known: dict[Tree, list[Any]] = {}

    def solve(self, right: list[Any]) -> list[Any]:
        """The values of stages 2, 3, ... from their given sums at the next points."""
        values: list[Any] = []
        for i, r in enumerate(right, start=1):
            values.append((r - dot(self.A[i + 1][1:i], values)) / self.A[i + 1][i])
        return values

    def weights(self, tree: Tree) -> list[Any]:
        """The elementary weight of each stage."""
        if tree not in self.known:
            self.known[tree] = self._y_weights(tree) if tree.kind == "y" else self._z_weights(tree)
        return self.known[tree]

    def _y_weights(self, tree: Tree) -> list[Any]:
        result: list[Any] = [Fraction(1)] * self.stages
        for branch in tree.branches:
            inner = self.weights(branch)
            sums = [dot(row, inner) for row in self.A[: self.stages]] if branch.kind == "y" else inner
            result = [r * x for r, x in zip(result, sums, strict=True)]
        return result

    def _z_weights(self, tree: Tree) -> list[Any]:
        right: list[Any] = [Fraction(1)] * (self.stages - 1)
        for branch in tree.branches:
            inner = self.weights(branch)
            right = [r * dot(row, inner) for r, row in zip(right, self.A[2:], strict=True)]
        return [Fraction(0), *self.solve(right)]

    def condition(self, row: Sequence[Any], tree: Tree) -> Any:
        """A number that is one if the order condition of the tree holds."""
        return dot(row, self.weights(tree)) * density(tree)
