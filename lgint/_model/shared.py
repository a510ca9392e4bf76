"""Functions of time that many elements of a model share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from lgint._args import Array


class Shared:
    """A function of time that remembers its last value, because all edges of a rod need it at the same time."""

    def __init__(self, function: Callable[[float], ArrayLike]) -> None:
        self.function = function
        self._last: tuple[float, ArrayLike] | None = None

    def __call__(self, t: float) -> ArrayLike:
        """The value at a time."""
        last = self._last
        if last is None or last[0] != t:
            last = self._last = (t, np.array(self.function(t), dtype=np.float64))
        return last[1]


@dataclass(frozen=True)
class Scaled:
    """The load on a part of a rod, from a load per length."""

    load: Callable[[float], ArrayLike]
    length: float

    def __call__(self, t: float) -> Array:
        """The load on this part."""
        return self.length * np.asarray(self.load(t), dtype=np.float64)


@dataclass(frozen=True)
class Single:
    """A function of time that returns one number, as the core takes it."""

    function: Callable[[float], ArrayLike]

    def __call__(self, t: float) -> Array:
        """The number as an array with one entry."""
        return np.reshape(np.asarray(self.function(t), dtype=np.float64), (1,))
