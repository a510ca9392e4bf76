"""Gradients that were not given: by complex steps if the function allows it, otherwise by differences."""

from __future__ import annotations

import itertools
import threading
import warnings
from collections.abc import Callable
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike

from lgint._args import Array

Function = Callable[[Array], ArrayLike]

COMPLEX_STEP: Final = 1e-50  # f(x + i h) = f(x) + i h f'(x): nothing is subtracted, so that h can be arbitrarily small
STEP: Final = 1e-4  # for four-point differences, relative to coordinates above 1: truncation 1e-17, round-off 1e-12
STENCIL: Final = ((1, 8 / 12), (-1, -8 / 12), (2, -1 / 12), (-2, 1 / 12))
AGREEMENT: Final = 1e-6  # relative difference between both up to which the complex step is trusted
ROUND_OFF: Final = 1e-10  # round-off of differences, relative to the function itself
STEPS: Final = np.logspace(-1.5, -9, 16)  # whatever its curvature and noise, one of these suits a function
CONTRADICTION: Final = 1e-4  # with a larger relative difference, a gradient is not that of its function
MARGIN: Final = 10.0  # factor of estimated errors


class _Formed(threading.local):
    """The number of gradients that this thread has formed."""

    count = 0


_formed = _Formed()


def gradients_formed() -> int:
    """The number of gradients that this thread has formed so far; a run calls all functions in one thread."""
    return _formed.count


def gradient_of(function: Function, points: list[Array]) -> tuple[Callable[[Array], Array], str]:
    """The gradient of a function of q (n,) with values of any shape (...), as a function q -> (..., n), and its kind.

    The kind is "complex step" if complex steps give the same gradient as differences at all `points`, otherwise
    "differences". A function that takes a modulus or a complex conjugate, converts its argument to real numbers or
    stores values in an array of real numbers does not pass this test.
    """
    kind = "complex step" if all(_takes_complex(function, q) for q in points) else "differences"
    slope = by_complex_step if kind == "complex step" else by_differences

    def gradient(q: Array) -> Array:
        _formed.count += 1
        return slope(function, q)

    return gradient, kind


def by_complex_step(function: Function, q: Array) -> Array:
    """d(function)/dq (..., n), exact to round-off for functions that are analytic in q."""
    columns = []
    for k in range(q.size):
        moved: Any = q.astype(complex)
        moved[k] += 1j * COMPLEX_STEP
        columns.append(np.imag(function(moved)) / COMPLEX_STEP)
    return np.stack(columns, axis=-1)


def by_differences(function: Function, q: Array, size: float = STEP) -> Array:
    """d(function)/dq (..., n) by four-point differences with steps of this size."""
    columns = []
    for k in range(q.size):
        step = size * max(1.0, abs(q[k]))
        column: Any = 0.0
        for shift, weight in STENCIL:
            moved = q.copy()
            moved[k] += shift * step
            column = column + weight / step * np.asarray(function(moved))
        columns.append(column)
    return np.stack(columns, axis=-1)


def contradiction(gradient: Function, function: Function, q: Array) -> Array | None:
    """The gradient by differences if it proves that a given one at `q` is not that of its function; otherwise None."""
    found: Array = np.asarray(gradient(q.copy()))
    floor = ROUND_OFF * float(np.abs(function(q.copy())).max(initial=0.0))
    if _agree(found, by_differences(function, q), floor):
        return None
    expected, error = _with_error(function, q)
    return None if _agree(found, expected, floor + MARGIN * error) else expected


def _agree(found: Array, expected: Array, floor: float) -> bool:
    size = np.maximum(np.abs(found), np.abs(expected))
    return bool((np.abs(found - expected) <= CONTRADICTION * size + floor).all())


def _with_error(function: Function, q: Array) -> tuple[Array, float]:
    """The gradient by differences that deviates least from those of the next larger and the next smaller step.

    Where all differences are zero, the values may have been rounded, to float32 for example, which proves nothing.
    """
    with np.errstate(all="ignore"):
        slopes = [_differences_if_defined(function, q, size) for size in STEPS]
        distances = np.array([np.abs(a - b).max(initial=0.0) for a, b in itertools.pairwise(slopes)])
    sizes = np.array([np.abs(slope).max(initial=0.0) for slope in slopes])
    errors = np.maximum(distances[:-1], distances[1:])
    errors = np.nan_to_num(np.where(sizes[1:-1] == 0, np.nanmax(sizes, initial=0.0), errors), nan=np.inf)
    best = int(np.argmin(errors))
    return slopes[best + 1], float(errors[best])


def _differences_if_defined(function: Function, q: Array, size: float) -> Array:
    """The gradient by differences, or NaN if the function raises an exception: a large step may leave its domain."""
    try:
        return by_differences(function, q, size)
    except Exception:  # whatever the function raises
        return np.full(1, np.nan)


def _takes_complex(function: Function, q: Array) -> bool:
    size = float(np.abs(function(q)).max(initial=0.0))
    real = by_differences(function, q)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about discarded imaginary parts, which the comparison detects
            found = by_complex_step(function, q)
    except Exception:  # whatever the function raises for complex numbers
        return False
    bound = AGREEMENT * float(np.abs(real).max(initial=0.0)) + ROUND_OFF * size
    return found.shape == real.shape and bool(np.abs(found - real).max(initial=0.0) <= bound)
