"""Exact numbers a + b sqrt(n) with rational a and b and n = 3 or 6, in which the tableaux are written."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

SURD = re.compile(r"\((-?\d+) ([+-]) (\d+)\*sqrt\((\d)\)\)/(\d+)")


@dataclass(frozen=True, slots=True)
class Exact:
    a: Fraction
    b: Fraction = Fraction(0)
    root: int = 3  # n; of any number if b is zero

    def _root(self, other: Exact) -> int:
        """The n of a sum or product of the two, whose roots must be the same."""
        roots = {x.root for x in (self, other) if x.b}
        assert len(roots) < 2, "numbers with different roots"
        return roots.pop() if roots else self.root

    def __add__(self, other: Number) -> Exact:
        x = number(other)
        return Exact(self.a + x.a, self.b + x.b, self._root(x))

    def __neg__(self) -> Exact:
        return Exact(-self.a, -self.b, self.root)

    def __sub__(self, other: Number) -> Exact:
        return self + -number(other)

    def __mul__(self, other: Number) -> Exact:
        x = number(other)
        root = self._root(x)
        return Exact(self.a * x.a + root * self.b * x.b, self.a * x.b + self.b * x.a, root)

    def __truediv__(self, other: Number) -> Exact:
        x = number(other)
        norm = x.a**2 - x.root * x.b**2  # not zero: the root is irrational
        return self * Exact(x.a / norm, -x.b / norm, x.root)

    def __rsub__(self, other: Number) -> Exact:
        return -self + other

    __radd__ = __add__
    __rmul__ = __mul__

    def __eq__(self, other: object) -> bool:
        x = number(other) if isinstance(other, (Exact, Fraction, int)) else None
        return x is not None and self.a == x.a and self.b == x.b and (self.b == 0 or self.root == x.root)

    def __float__(self) -> float:
        return float(self.a) + float(self.b) * self.root**0.5


Number = Exact | Fraction | int


def number(value: Number) -> Exact:
    return value if isinstance(value, Exact) else Exact(Fraction(value))


def exact(text: str) -> Exact | Fraction:
    """The number that a row of the core writes as "1/3" or as "(3 - 1*sqrt(3))/6"; a `Fraction` if it has no root."""
    surd = SURD.fullmatch(text)
    if not surd:
        return Fraction(text)
    a, sign, b, root, divisor = surd.groups()
    return Exact(Fraction(int(a), int(divisor)), Fraction(int(sign + b), int(divisor)), int(root))
