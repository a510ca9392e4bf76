"""Functions that the papers' runs share."""

from __future__ import annotations

import numpy as np

from lgint._args import Array


def halved(first: float, count: int) -> Array:
    """`count` step sizes, each half the previous one, s."""
    return np.asarray(first / 2.0 ** np.arange(count), float)
