"""Exact numbers a + b sqrt(3) with rational a and b, in which the tableaux are written."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

SURD = re.compile(r"\((-?\d+) ([+-]) (\d+)\*sqrt\(3\)\)/(\d+)")


@dataclass(frozen=True, slots=True)
class Exact:
    a: Fraction
    b: Fraction = Fraction(0)

    def __add__(self, other: Number) -> Exact:
        x = number(other)
        return Exact(self.a + x.a, self.b + x.b)

    def __neg__(self) -> Exact:
        return Exact(-self.a, -self.b)

    def __sub__(self, other: Number) -> Exact:
        return self + -number(other)

    def __mul__(self, other: Number) -> Exact:
        x = number(other)
        return Exact(self.a * x.a + 3 * self.b * x.b, self.a * x.b + self.b * x.a)

    def __truediv__(self, other: Number) -> Exact:
        x = number(other)
        norm = x.a**2 - 3 * x.b**2  # not zero: sqrt(3) is irrational
        return self * Exact(x.a / norm, -x.b / norm)

    def __rsub__(self, other: Number) -> Exact:
        return -self + other

    __radd__ = __add__
    __rmul__ = __mul__

    def __eq__(self, other: object) -> bool:
        x = number(other) if isinstance(other, (Exact, Fraction, int)) else None
        return x is not None and self.a == x.a and self.b == x.b

    def __float__(self) -> float:
        return float(self.a) + float(self.b) * 3**0.5


Number = Exact | Fraction | int


def number(value: Number) -> Exact:
    return value if isinstance(value, Exact) else Exact(Fraction(value))


def exact(text: str) -> Exact | Fraction:
    """The number that a row of the core writes as "1/3" or as "(3 - 1*sqrt(3))/6"; a `Fraction` if it has no root."""
    surd = SURD.fullmatch(text)
    if not surd:
        return Fraction(text)
    a, sign, b, divisor = surd.groups()
    return Exact(Fraction(int(a), int(divisor)), Fraction(int(sign + b), int(divisor)))
