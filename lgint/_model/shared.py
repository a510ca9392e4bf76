"""Functions of time that many elements of a model share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lgint._args import is_numeric


def as_array(value: ArrayLike) -> NDArray[Any]:
    """What a function has returned as a new array, of objects if it is ragged."""
    try:
        return np.array(value)
    except ValueError:
        return np.array(value, dtype=object)


class Shared:
    """A function of time that remembers its last value, because all edges of a rod need it at the same time."""

    def __init__(self, function: Callable[[float], ArrayLike]) -> None:
        self.function = function
        self._last: tuple[float, ArrayLike] | None = None

    def __call__(self, t: float) -> ArrayLike:
        """The value at a time."""
        last = self._last
        if last is None or last[0] != t:
            last = self._last = (t, as_array(self.function(t)))
        return last[1]


@dataclass(frozen=True)
class Scaled:
    """The load on a part of a rod, from a load per length."""

    load: Callable[[float], ArrayLike]
    length: float

    def __call__(self, t: float) -> NDArray[Any]:
        """The load on this part."""
        value = as_array(self.load(t))
        return self.length * value if is_numeric(value) else value


@dataclass(frozen=True)
class Single:
    """A function of time that returns one number, as the core takes it."""

    function: Callable[[float], ArrayLike]

    def __call__(self, t: float) -> NDArray[Any]:
        """The number as an array with one entry."""
        value = as_array(self.function(t))
        return value.reshape(1) if value.size == 1 and is_numeric(value) else value
