"""Observed orders of convergence, and the step sizes for which they hold."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from lgint._args import Array

SPREAD = 0.1  # allowed distance of orders between neighbours from the order of their range, divided by max(1, order)
LEAST = 0.5  # below this order errors do not converge: they are saturated, or round-off
SHORTEST = 3  # least number of step sizes in a range, so that at least two orders agree


class Asymptotic(NamedTuple):
    """The order of convergence that a list of errors shows, and where.

    The asymptotic range is the longest sequence of at least three neighbouring step sizes between which every
    observed order differs by at most 10 % (0.1 for orders below one) from the order of the whole range. Coarser steps
    do not show the order yet, and with finer ones round-off or the error of the reference dominates. Of ranges of
    equal length, the one with the smaller steps is taken.
    """

    order: float
    """Slope of the least-squares line through the range, NaN without one."""
    h: Array
    """The step sizes of the range, s, largest first; empty if there is no range."""

    def __str__(self) -> str:
        return f"{self.order:.2f} for h = {self.h[0]:.3g} ... {self.h[-1]:.3g}" if len(self.h) else "no range"


def between(h: Array, error: Array) -> Array:
    """Orders between neighbours (n - 1,): log of the ratio of errors divided by log of the ratio of steps."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.diff(np.log(error)) / np.diff(np.log(h)))


def asymptotic(h: Array, error: Array) -> Asymptotic:
    """The asymptotic range of errors (n,) as a function of step sizes (n,)."""
    down = np.argsort(-h, kind="stable")
    h, error = h[down], error[down]
    found = Asymptotic(np.nan, h[:0])
    for first in range(len(h) - SHORTEST + 1):
        for end in range(len(h), first + SHORTEST - 1, -1):
            order = _agreed(h[first:end], error[first:end])
            if order and end - first >= len(found.h):
                found = Asymptotic(order, h[first:end])
    return found


def _agreed(h: Array, error: Array) -> float | None:
    """The slope of these errors if all orders between them agree with it."""
    orders = between(h, error)
    if not np.isfinite(orders).all():
        return None
    slope = float(np.polyfit(np.log(h), np.log(error), 1)[0])
    agree = np.abs(orders - slope).max() <= SPREAD * max(1.0, slope)
    return slope if slope >= LEAST and agree else None
