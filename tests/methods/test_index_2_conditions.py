"""Order conditions of half-explicit methods for index-2 systems (`lgint._papers.trees`), in exact arithmetic."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from exact import Exact, exact
from lgint import _core
from lgint._papers.trees import Method, dot, trees

Value = Exact | Fraction
Matrix = list[list[Value]]
TABLEAUX = {row["name"]: row for row in _core.METHODS if row["tableau"] and row["tableau"]["d"]}


def numbers(tableau: dict[str, Any]) -> tuple[Matrix, list[Value], list[Value]]:
    b, d = ([exact(x) for x in tableau[name]] for name in "bd")
    return [[exact(a) for a in row] for row in tableau["A"]], b, d


def test_number_of_trees() -> None:
    """Trees for y are tau, then [tau], [[tau, tau]_z], [[[tau]]_z]; those for z are [tau, tau]_z, [[tau]]_z."""
    assert [len(trees(n, "y")) for n in (1, 2, 3)] == [1, 3, 22] and len(trees(1, "z")) == 2


@pytest.mark.parametrize("name", TABLEAUX)
def test_orders_of_differential_and_algebraic_variables(name: str) -> None:
    """y has the order of the method. Multipliers have one less, by conditions up to two less and sum d = 1."""
    A, b, d = numbers(TABLEAUX[name]["tableau"])
    p, method = TABLEAUX[name]["order"], Method(A)
    assert all(method.condition(b, tree) == 1 for n in range(1, p + 1) for tree in trees(n, "y"))
    assert all(method.condition(d, tree) == 1 for n in range(1, p - 1) for tree in trees(n, "z"))
    assert not all(method.condition(d, tree) == 1 for tree in trees(p - 1, "z"))
    assert sum(d, Fraction(0)) == 1


@pytest.mark.parametrize("name", TABLEAUX)
def test_an_error_of_the_multipliers_is_not_handed_on(name: str) -> None:
    """To leading order, multipliers of a step do not depend on those at its start; each stage has a nonzero pivot."""
    A, b, d = numbers(TABLEAUX[name]["tableau"])
    assert all(A[i + 1][i] != 0 for i in range(1, len(A) - 1)) and b in A
    change = [Fraction(1), *Method(A).solve([-row[0] for row in A[2:]])]
    assert dot(d, change) == 0


@pytest.mark.parametrize("name", [name for name, row in TABLEAUX.items() if row["tableau"]["b_hat"]])
def test_order_of_the_embedded_solution(name: str) -> None:
    """The last stage is solved with b_hat instead of its row; otherwise the order would be one less."""
    tableau = TABLEAUX[name]["tableau"]
    A, _, _ = numbers(tableau)
    b_hat = [exact(x) for x in tableau["b_hat"]]
    method, order = Method([*A[:-1], b_hat]), tableau["order_hat"]
    assert all(method.condition(b_hat, tree) == 1 for n in range(1, order + 1) for tree in trees(n, "y"))
    assert not all(method.condition(b_hat, tree) == 1 for tree in trees(order + 1, "y"))
    with_old_stage = Method(A)
    assert not all(with_old_stage.condition(b_hat, tree) == 1 for tree in trees(order, "y"))


@pytest.mark.parametrize("name", [name for name in TABLEAUX if TABLEAUX[name]["order"] < 5])
def test_a_wrong_coefficient_is_noticed(name: str) -> None:
    A, b, d = numbers(TABLEAUX[name]["tableau"])
    p = TABLEAUX[name]["order"]
    for i in range(1, len(A)):
        wrong = [list(row) for row in A]
        wrong[i][0] = wrong[i][0] + Fraction(1, 10**6)
        method = Method(wrong)
        y = all(method.condition(wrong[A.index(b)], tree) == 1 for n in range(1, p + 1) for tree in trees(n, "y"))
        z = all(method.condition(d, tree) == 1 for n in range(1, p - 1) for tree in trees(n, "z"))
        assert not (y and z)
