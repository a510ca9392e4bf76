"""Order conditions of half-explicit methods for index-2 systems y' = f(y, z), 0 = g(y), in exact arithmetic.

Terms of the solution belong to trees of two kinds (Hairer, Wanner: Solving Ordinary Differential Equations II, VII.5):
y-trees, whose root stands for f and has y- and z-trees as branches, and z-trees, whose root stands for
(-g_y f_z)^-1 g_yy.. and has y-trees as branches, but not a single one whose only branch is a z-tree. The order of a
tree is the number of roots f in it minus the number of the others. A half-explicit method fulfils the constraint at the
points 3 .. s' + 1 of its tableau and takes Z_1 = z_n (Arnold, BIT 38, 1998, 415-438).
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from typing import Any, NamedTuple

import pytest

from exact import Exact, exact
from lgint import _core

Value = Exact | Fraction
Matrix = list[list[Value]]
TABLEAUX = {row["name"]: row for row in _core.method_rows() if row["tableau"] and row["tableau"]["d"]}


class Tree(NamedTuple):
    kind: str  # "y" or "z"
    branches: tuple[Tree, ...]


def forests(total: int, trees: list[tuple[int, Tree]]) -> list[tuple[Tree, ...]]:
    """All multisets of trees, given with their orders, whose orders sum up to `total`."""
    if total == 0:
        return [()]
    return [
        (tree, *rest)
        for i, (order, tree) in enumerate(trees)
        if order <= total
        for rest in forests(total - order, trees[i:])
    ]


def up_to(order: int, kinds: str) -> list[tuple[int, Tree]]:
    return [(n, tree) for n in range(1, order + 1) for kind in kinds for tree in trees(n, kind)]


@cache
def trees(order: int, kind: str) -> tuple[Tree, ...]:
    """All trees of an order."""
    if kind == "y":
        return tuple(Tree("y", forest) for forest in forests(order - 1, up_to(order - 1, "yz")))
    several = forests(order + 1, up_to(order, "y"))
    inner = up_to(order - 1, "yz") + [(order, tree) for tree in trees(order, "y")]
    single = [(Tree("y", forest),) for forest in forests(order, inner)]
    return tuple(Tree("z", forest) for forest in several + single)


@cache
def order_of(tree: Tree) -> int:
    return sum(map(order_of, tree.branches)) + (1 if tree.kind == "y" else -1)


@cache
def density(tree: Tree) -> Fraction:
    product = Fraction(1)
    for branch in tree.branches:
        product *= density(branch)
    return product * order_of(tree) if tree.kind == "y" else product / (order_of(tree) + 1)


def dot(row: list[Value], values: list[Value]) -> Value:
    return sum((a * x for a, x in zip(row, values, strict=False) if a != 0), Fraction(0))


class Method:
    """A half-explicit method with the points that are the rows of A; all but the last are stages."""

    def __init__(self, A: Matrix) -> None:
        self.A, self.stages = A, len(A) - 1
        self.known: dict[Tree, list[Value]] = {}

    def solve(self, right: list[Value]) -> list[Value]:
        """The values of stages 2, 3, ... whose sums at the next points are given."""
        values: list[Value] = []
        for i, r in enumerate(right, start=1):
            values.append((r - dot(self.A[i + 1][1:i], values)) / self.A[i + 1][i])
        return values

    def weights(self, tree: Tree) -> list[Value]:
        """The elementary weight of each stage."""
        if tree not in self.known:
            self.known[tree] = self.y_weights(tree) if tree.kind == "y" else self.z_weights(tree)
        return self.known[tree]

    def y_weights(self, tree: Tree) -> list[Value]:
        result: list[Value] = [Fraction(1)] * self.stages
        for branch in tree.branches:
            inner = self.weights(branch)
            sums = [dot(row, inner) for row in self.A[: self.stages]] if branch.kind == "y" else inner
            result = [r * x for r, x in zip(result, sums, strict=True)]
        return result

    def z_weights(self, tree: Tree) -> list[Value]:
        right: list[Value] = [Fraction(1)] * (self.stages - 1)
        for branch in tree.branches:
            inner = self.weights(branch)
            right = [r * dot(row, inner) for r, row in zip(right, self.A[2:], strict=True)]
        return [Fraction(0), *self.solve(right)]

    def holds(self, row: list[Value], tree: Tree) -> bool:
        return dot(row, self.weights(tree)) * density(tree) == 1


def numbers(tableau: dict[str, Any]) -> tuple[Matrix, list[Value], list[Value]]:
    b, d = ([exact(x) for x in tableau[name]] for name in "bd")
    return [[exact(a) for a in row] for row in tableau["A"]], b, d


def test_number_of_trees() -> None:
    """y: tau; [tau], [[tau, tau]_z], [[[tau]]_z]. z: [tau, tau]_z, [[tau]]_z."""
    assert [len(trees(n, "y")) for n in (1, 2, 3)] == [1, 3, 22] and len(trees(1, "z")) == 2


@pytest.mark.parametrize("name", TABLEAUX)
def test_orders_of_differential_and_algebraic_variables(name: str) -> None:
    """y has the order of the method. The multipliers have one less: conditions up to two less, and sum d = 1."""
    A, b, d = numbers(TABLEAUX[name]["tableau"])
    p, method = TABLEAUX[name]["order"], Method(A)
    assert all(method.holds(b, tree) for n in range(1, p + 1) for tree in trees(n, "y"))
    assert all(method.holds(d, tree) for n in range(1, p - 1) for tree in trees(n, "z"))
    assert not all(method.holds(d, tree) for tree in trees(p - 1, "z"))
    assert sum(d, Fraction(0)) == 1


@pytest.mark.parametrize("name", TABLEAUX)
def test_an_error_of_the_multipliers_is_not_handed_on(name: str) -> None:
    """The multipliers of a step do not depend on those at its start, to leading order; and each stage has a pivot."""
    A, b, d = numbers(TABLEAUX[name]["tableau"])
    assert all(A[i + 1][i] != 0 for i in range(1, len(A) - 1)) and b in A
    change = [Fraction(1), *Method(A).solve([-row[0] for row in A[2:]])]
    assert dot(d, change) == 0


@pytest.mark.parametrize("name", [name for name, row in TABLEAUX.items() if row["tableau"]["b_hat"]])
def test_order_of_the_embedded_solution(name: str) -> None:
    """The last stage is solved with b_hat in the place of its row. Without that the order would be one less."""
    tableau = TABLEAUX[name]["tableau"]
    A, _, _ = numbers(tableau)
    b_hat = [exact(x) for x in tableau["b_hat"]]
    method, order = Method([*A[:-1], b_hat]), tableau["order_hat"]
    assert all(method.holds(b_hat, tree) for n in range(1, order + 1) for tree in trees(n, "y"))
    assert not all(method.holds(b_hat, tree) for tree in trees(order + 1, "y"))
    with_old_stage = Method(A)
    assert not all(with_old_stage.holds(b_hat, tree) for tree in trees(order, "y"))


@pytest.mark.parametrize("name", [name for name in TABLEAUX if TABLEAUX[name]["order"] < 5])
def test_a_wrong_coefficient_is_noticed(name: str) -> None:
    A, b, d = numbers(TABLEAUX[name]["tableau"])
    p = TABLEAUX[name]["order"]
    for i in range(1, len(A)):
        wrong = [list(row) for row in A]
        wrong[i][0] = wrong[i][0] + Fraction(1, 10**6)
        method = Method(wrong)
        y = all(method.holds(wrong[A.index(b)], tree) for n in range(1, p + 1) for tree in trees(n, "y"))
        z = all(method.holds(d, tree) for n in range(1, p - 1) for tree in trees(n, "z"))
        assert not (y and z)
