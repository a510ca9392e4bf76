"""Order conditions of every Runge-Kutta tableau, proved in exact rational arithmetic.

Those of a tableau in decimals of 30 digits hold to the last of these.

A method has order p if and only if sum_i b_i phi_i(tree) = 1/gamma(tree) for every rooted tree with at most p nodes
(Butcher). The trees are generated here: a tree is the sorted tuple of the trees that hang on its root. Weights b(s) of
a place s inside the step have order p there if sum_i b_i(s) phi_i(tree) = s^n/gamma(tree), with n nodes.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy.integrate._ivp import dop853_coefficients as dop

from exact import Exact, exact
from lgint import _core

Tree = tuple[Any, ...]
Row = dict[str, Any]
Value = Exact | Fraction

TABLEAUX: dict[str, Row] = {row["name"]: row for row in _core.METHODS if row["tableau"] is not None}
DECIMALS = {name for name, row in TABLEAUX.items() if any("." in b for b in row["tableau"]["b"])}
ROUNDED = Fraction(1, 10**26)  # what the rounding of decimals may add to a sum


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


def weights(tree: Tree, A: list[list[Value]], known: dict[Tree, list[Value]]) -> list[Value]:
    """phi_i(tree): the elementary weights of the stages; `known` has A phi of the branches met so far."""
    result: list[Value] = [Fraction(1)] * len(A)
    for branch in tree:
        if branch not in known:
            phi = weights(branch, A, known)
            known[branch] = [sum((a * w for a, w in zip(row, phi, strict=True)), Fraction(0)) for row in A]
        result = [r * sums for r, sums in zip(result, known[branch], strict=True)]
    return result


def violated(
    A: list[list[Value]], b: list[Value], order: int, rounded: Fraction = Fraction(0), s: Fraction = Fraction(1)
) -> list[Tree]:
    """Trees with exactly `order` nodes whose condition for the weights at s does not hold."""
    result, known = [], {}
    for tree in trees(order):
        excess = sum((bi * w for bi, w in zip(b, weights(tree, A, known), strict=True)), -(s**order) / density(tree))
        if excess != 0 and not (isinstance(excess, Fraction) and abs(excess) <= rounded):
            result.append(tree)
    return result


def order_of(A: list[list[Value]], b: list[Value], rounded: Fraction = Fraction(0), s: Fraction = Fraction(1)) -> int:
    order = 0
    while order < 9 and not violated(A, b, order + 1, rounded, s):
        order += 1
    return order


def rounding(name: str) -> Fraction:
    return ROUNDED if name in DECIMALS else Fraction(0)


def numbers(tableau: Row) -> tuple[list[list[Value]], list[Value], list[Value]]:
    return [[exact(a) for a in row] for row in tableau["A"]], *([exact(x) for x in tableau[name]] for name in "bc")


def test_number_of_trees() -> None:
    """Their numbers are those of Cayley: 37 conditions up to order six, 200 up to order eight."""
    assert [len(trees(n)) for n in range(1, 10)] == [1, 1, 2, 4, 9, 20, 48, 115, 286]


def test_all_explicit_methods_are_here() -> None:
    names = "euler midpoint rk33 rk44 rk67 ode23 dopri5 dop853 herk2 herk3 herk4 herk5"
    assert set(names.split()) <= set(TABLEAUX)


@pytest.mark.parametrize("name", TABLEAUX)
def test_order(name: str) -> None:
    """The order is neither lower nor higher than the row says."""
    A, b, _ = numbers(TABLEAUX[name]["tableau"])
    assert order_of(A, b, rounding(name)) == TABLEAUX[name]["order"]


@pytest.mark.parametrize("name", TABLEAUX)
def test_rows_are_consistent(name: str) -> None:
    """A of an explicit method is strictly lower triangular, and c holds the row sums."""
    A, _, c = numbers(TABLEAUX[name]["tableau"])
    for i, row in enumerate(A):
        assert not TABLEAUX[name]["explicit"] or all(a == 0 for a in row[i:])
        excess = sum(row, Fraction(0)) - c[i]
        assert excess == 0 or abs(excess) <= rounding(name)


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
    """b_hat has the order that the row says, which is below the method's.

    A last stage that only b_hat weights is at the new point. A second solution is coarser still.
    """
    tableau = TABLEAUX[name]["tableau"]
    A, b, c = numbers(tableau)
    b_hat = [exact(b) for b in tableau["b_hat"]]
    assert order_of(A, b_hat, rounding(name)) == tableau["order_hat"] < TABLEAUX[name]["order"]
    last = max(i for i, weight in enumerate(b_hat) if weight != 0)
    assert b[last] != 0 or (A[last] == b and c[last] == 1)
    if tableau["b_low"]:
        low = [exact(b) for b in tableau["b_low"]]
        assert order_of(A, low, rounding(name)) == tableau["order_low"] < tableau["order_hat"]


def curve_weights(tableau: Row, s: Fraction) -> tuple[list[list[Value]], list[Value]]:
    """All stages of the curve through a step, and their weights in y(s) - y(0) = h sum_i b_i(s) y_i'.

    y(s) - y(0) = s (F_0 + (1 - s) (F_1 + s (F_2 + ...))) with F_0 = y_1 - y_0, F_1 = h y_0' - F_0,
    F_2 = 2 F_0 - h (y_0' + y_1') and the others by the rows of D.
    """
    A, b, _ = numbers(tableau)
    points, end = len(tableau["curve"]["A"][0]), len(b)
    rows = [*A, b, *([exact(a) for a in row] for row in tableau["curve"]["A"])]
    rows = [row + [Fraction(0)] * (points - len(row)) for row in rows]

    def unit(i: int) -> list[Value]:
        return [Fraction(int(i == j)) for j in range(points)]

    step = b + [Fraction(0)] * (points - end)
    first, last = unit(0), unit(end)
    F = [
        step,
        [x - y for x, y in zip(first, step, strict=True)],
        [2 * z - x - y for x, y, z in zip(first, last, step, strict=True)],
        *([exact(d) for d in row] for row in tableau["curve"]["D"]),
    ]
    weights: list[Value] = [Fraction(0)] * points
    for k in reversed(range(len(F))):
        weights = [(s if k % 2 == 0 else 1 - s) * (w + f) for w, f in zip(weights, F[k], strict=True)]
    return rows, weights


@pytest.mark.parametrize("name", [name for name, row in TABLEAUX.items() if row["tableau"]["curve"]])
@pytest.mark.parametrize("s", [Fraction(1, 10), Fraction(1, 3), Fraction(4, 5)])
def test_the_curve_through_a_step_has_order_seven(name: str, s: Fraction) -> None:
    A, b = curve_weights(TABLEAUX[name]["tableau"], s)
    assert order_of(A, b, rounding(name), s) == 7


def test_dop853_is_that_of_scipy() -> None:
    """SciPy has the decimals of the authors' own code as well, and combines the same two errors."""
    tableau = TABLEAUX["dop853"]["tableau"]
    A, b, c = ([[float(x) for x in row] for row in rows] for rows in (tableau["A"], [tableau["b"]], [tableau["c"]]))
    assert np.array_equal(A, dop.A[:12, :12]) and np.array_equal(b[0], dop.B) and np.array_equal(c[0], dop.C[:12])
    for name, weights in (("b_hat", dop.E5), ("b_low", dop.E3)):
        assert np.allclose(dop.B - [float(x) for x in tableau[name]], weights[:12], rtol=0, atol=1e-15)
    curve = tableau["curve"]
    for name, found in (("A", dop.A[13:]), ("D", dop.D), ("c", dop.C[13:])):
        assert np.array_equal(np.array(curve[name], dtype=float), found)


@pytest.mark.parametrize(("name", "least"), [("rk67", Fraction(1, 10**6)), ("dop853", Fraction(1, 10**22))])
def test_a_wrong_coefficient_is_noticed(name: str, least: Fraction) -> None:
    A, b, _ = numbers(TABLEAUX[name]["tableau"])
    for i in range(len(A)):
        for j in range(i):
            A[i][j] += least
            assert order_of(A, b, rounding(name)) < TABLEAUX[name]["order"]
            A[i][j] -= least
