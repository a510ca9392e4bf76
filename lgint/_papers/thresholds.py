"""Coefficients of tangent operators for which a paper uses a polynomial below a threshold, the closed form above."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from lgint._args import Array
from lgint._papers.pictures import Picture, picture, sizes

INTERVALS = 120  # intervals of the angle, in each of which the largest error is drawn


class Switched(NamedTuple):
    """A function of the angle, switched between a polynomial and its closed form.

    Attributes
    ----------
    closed : function
    threshold : float
        Below it the polynomial replaces the closed form.
    series : list of float
        The printed polynomial, in powers of the angle squared.
    more : list of float
        Its next terms, which make it exact to round-off.
    """

    closed: Callable[[Array], Array]
    threshold: float
    series: list[float]
    more: list[float]

    def polynomial(self, x: Array) -> Array:
        """The polynomial as printed."""
        return np.asarray(np.polynomial.polynomial.polyval(x**2, self.series))

    def exact(self, x: Array) -> Array:
        """The function by the longer series."""
        return np.asarray(np.polynomial.polynomial.polyval(x**2, [*self.series, *self.more]))

    def relative_error(self, x: Array) -> Array:
        """Error of the function as printed: the polynomial below the threshold, the closed form above."""
        return np.abs(np.where(x < self.threshold, self.polynomial(x), self.closed(x)) / self.exact(x) - 1)


def drawn(title: str, x: Array, errors: Mapping[str, Array]) -> Picture:
    """The largest errors, by label, in small intervals of the angle."""
    edges = np.linspace(0, len(x), INTERVALS + 1).astype(int)[:-1]
    lines = {label: (x[edges], np.maximum.reduceat(values, edges)) for label, values in errors.items()}
    return picture(sizes(title, "angle / rad", "largest relative error", lines, logarithmic=True))
