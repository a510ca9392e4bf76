"""The zero of a function of one variable, by SciPy, which only the cases that need it import."""

from __future__ import annotations

from collections.abc import Callable


def root(function: Callable[[float], float], low: float, high: float, *, xtol: float) -> float:
    """Where the function, whose signs at `low` and `high` differ, is zero, to `xtol` by Brent's method."""
    from scipy.optimize import brentq

    return float(brentq(function, low, high, xtol=xtol))
