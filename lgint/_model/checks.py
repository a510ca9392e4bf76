"""Checks of numbers that describe bodies and sections, for the builder and for changes of models."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from lgint._args import Array, array, warn


def inertia_matrix(name: str, value: ArrayLike) -> Array:
    """The inertia matrix (3, 3), positive semidefinite; warns if it violates the triangle inequality."""
    given = array(f"inertia of {name!r}", value, (3,), (6,), (3, 3))
    if given.shape == (3,):
        principal = given.tolist()
        given = np.zeros((3, 3))
        given[0, 0], given[1, 1], given[2, 2] = principal
        principal.sort()
    else:
        given = given if given.shape == (3, 3) else given[[[0, 3, 4], [3, 1, 5], [4, 5, 2]]]
        if np.abs(given - given.T).max() > 1e-12 * np.abs(given).max():
            raise ValueError(f"inertia of {name!r}: a symmetric matrix expected")
        principal = np.linalg.eigvalsh(given).tolist()
    if principal[0] < 0 and principal[0] < -1e-12 * np.abs(given).max():
        raise ValueError(
            f"inertia of {name!r}: a positive semidefinite matrix expected, got principal values {np.array(principal)}"
        )
    if not triangle(principal):
        warn(
            f"inertia of {name!r}: the principal values {np.array(principal)} violate the triangle inequality, which "
            "holds for every body"
        )
    return given


def triangle(principal: Sequence[float] | Array) -> bool:
    """Whether three moments of inertia in ascending order obey the triangle inequality, up to round-off."""
    return bool(principal[0] + principal[1] >= principal[2] * (1 - 1e-9))
