"""Order conditions of every Runge-Kutta tableau, proved in exact rational arithmetic.

A method has order p if and only if sum_i b_i phi_i(tree) = 1/gamma(tree) for every rooted tree with at most p nodes
(Butcher). The trees are generated here: a tree is the sorted tuple of the trees that hang on its root.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from typing import Any

import pytest

from exact import Exact, exact
from lgint import _core

Tree = tuple[Any, ...]
Row = dict[str, Any]
Value = Exact | Fraction

TABLEAUX: dict[str, Row] = {row["name"]: row for row in _core.METHODS if row["tableau"] is not None}


@cache
def trees(nodes: int) -> tuple[Tree, ...]:
    """All rooted trees with this number of nodes."""

    def forests(total: int, largest: int) -> list[Tree]:
        if total == 0:
            return [()]
        return [
            (branch, *rest)
            for size in range(min(total, largest), 0, -1)
            for branch in trees(size)
            for rest in forests(total - size, size)
        ]

    return tuple(sorted({tuple(sorted(forest)) for forest in forests(nodes - 1, nodes - 1)}))


def size(tree: Tree) -> int:
    return 1 + sum(size(branch) for branch in tree)


def density(tree: Tree) -> int:
    """gamma(tree): the product of the sizes of all its subtrees."""
    product = size(tree)
    for branch in tree:
        product *= density(branch)
    return product


def weights(tree: Tree, A: list[list[Value]]) -> list[Value]:
    """phi_i(tree): the elementary weights of the stages."""
    result: list[Value] = [Fraction(1)] * len(A)
    for branch in tree:
        inner = weights(branch, A)
        result = [
            r * sum((a * w for a, w in zip(row, inner, strict=True)), Fraction(0))
            for r, row in zip(result, A, strict=True)
        ]
    return result


def violated(A: list[list[Value]], b: list[Value], order: int) -> list[Tree]:
    """Trees with exactly `order` nodes whose condition does not hold."""
    return [
        tree
        for tree in trees(order)
        if sum((bi * w for bi, w in zip(b, weights(tree, A), strict=True)), Fraction(0)) != Fraction(1, density(tree))
    ]


def order_of(A: list[list[Value]], b: list[Value]) -> int:
    order = 0
    while order < 7 and not violated(A, b, order + 1):
        order += 1
    return order


def numbers(tableau: Row) -> tuple[list[list[Value]], list[Value], list[Value]]:
    return [[exact(a) for a in row] for row in tableau["A"]], *([exact(x) for x in tableau[name]] for name in "bc")


def test_number_of_trees() -> None:
    """There are 1, 1, 2, 4, 9, 20, 48 rooted trees (Cayley), hence 37 conditions up to order six."""
    assert [len(trees(n)) for n in range(1, 8)] == [1, 1, 2, 4, 9, 20, 48]


def test_all_explicit_methods_are_here() -> None:
    names = "euler midpoint rk33 rk44 rk67 ode23 dopri5 herk2 herk3 herk4 herk5"
    assert set(names.split()) <= set(TABLEAUX)


@pytest.mark.parametrize("name", TABLEAUX)
def test_order(name: str) -> None:
    """The order is neither lower nor higher than the row says."""
    A, b, _ = numbers(TABLEAUX[name]["tableau"])
    assert order_of(A, b) == TABLEAUX[name]["order"]


@pytest.mark.parametrize("name", TABLEAUX)
def test_rows_are_consistent(name: str) -> None:
    """A of an explicit method is strictly lower triangular, and c holds the row sums."""
    A, _, c = numbers(TABLEAUX[name]["tableau"])
    for i, row in enumerate(A):
        assert not TABLEAUX[name]["explicit"] or all(a == 0 for a in row[i:])
        assert sum(row, Fraction(0)) == c[i]


@pytest.mark.parametrize(("name", "stages"), [("radau3", 2), ("radau5", 3)])
def test_radau_methods_are_collocation(name: str, stages: int) -> None:
    """C(s), which makes them collocation, B(2 s - 1), and the last stage is the end of the step (hairer1996, IV.5)."""
    A, b, c = numbers(TABLEAUX[name]["tableau"])
    assert len(A) == stages and A[-1] == b and c[-1] == 1
    powers: list[list[Value]] = [[Fraction(1)] * stages]
    for _ in range(2 * stages):
        powers.append([p * ci for p, ci in zip(powers[-1], c, strict=True)])
    for k in range(1, 2 * stages):
        assert sum((bi * p for bi, p in zip(b, powers[k - 1], strict=True)), Fraction(0)) == Fraction(1, k)
    for k in range(1, stages + 1):
        for row, p_end in zip(A, powers[k], strict=True):
            assert sum((a * p for a, p in zip(row, powers[k - 1], strict=True)), Fraction(0)) == p_end * Fraction(1, k)


@pytest.mark.parametrize("name", [name for name, row in TABLEAUX.items() if row["tableau"]["b_hat"] is not None])
def test_embedded_pair(name: str) -> None:
    """b_hat has the order that the row says, which is below the method's, and the last stage is at the new point."""
    tableau = TABLEAUX[name]["tableau"]
    A, b, c = numbers(tableau)
    b_hat = [exact(b) for b in tableau["b_hat"]]
    assert order_of(A, b_hat) == tableau["order_hat"] < TABLEAUX[name]["order"]
    last = max(i for i, weight in enumerate(b_hat) if weight != 0)
    assert A[last] == b and c[last] == 1 and b[last] == 0


def test_a_wrong_coefficient_is_noticed() -> None:
    A, b, _ = numbers(TABLEAUX["rk67"]["tableau"])
    for i in range(len(A)):
        for j in range(i):
            A[i][j] += Fraction(1, 10**6)
            assert order_of(A, b) < 6
            A[i][j] -= Fraction(1, 10**6)
