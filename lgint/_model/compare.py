"""Comparison of the records of two models."""

from __future__ import annotations

from collections.abc import Mapping
from types import FunctionType
from typing import Any

import numpy as np

from lgint._model.compiled import CompiledFunction
from lgint._model.missing import MissingFunction


def same_record(a: Any, b: Any) -> bool:
    """Whether two records are equal; lists, tuples and arrays of the same items count as equal.

    Functions are equal if they are the same object, or have the same code and captured values. A function that a file
    could not hold counts as equal to any other, except to a compiled one whose name is not the one in the file.
    """
    return _same(a, b, set())


def _same(a: Any, b: Any, seen: set[tuple[int, int]]) -> bool:
    if a is b or (id(a), id(b)) in seen:
        return True
    if callable(a) or callable(b):
        seen.add((id(a), id(b)))  # a function may refer to itself
        return _same_function(a, b, seen)
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        return a.keys() == b.keys() and all(_same(value, b[key], seen) for key, value in a.items())
    first, second = _items(a), _items(b)
    if first is None or second is None:
        return isinstance(a, _PLAIN) and isinstance(b, _PLAIN) and bool(a == b)
    return len(first) == len(second) and all(_same(x, y, seen) for x, y in zip(first, second, strict=True))


_PLAIN = (bool, int, float, complex, str, np.generic)


def _items(value: Any) -> list[Any] | tuple[Any, ...] | None:
    if isinstance(value, np.ndarray):
        listed: list[Any] | Any = value.tolist()
        return listed if isinstance(listed, list) else [listed]
    return value if isinstance(value, (list, tuple)) else None


def _same_function(a: Any, b: Any, seen: set[tuple[int, int]]) -> bool:
    if isinstance(a, MissingFunction) or isinstance(b, MissingFunction):
        return callable(a) and callable(b) and len({_compiled_name(a), _compiled_name(b)} - {""}) < 2
    if isinstance(a, FunctionType) and isinstance(b, FunctionType):
        return a.__code__ == b.__code__ and _same(_captured(a), _captured(b), seen)
    return type(a) is type(b) and bool(a == b)


def _compiled_name(function: Any) -> str:
    """The name of a compiled function, as far as it is known."""
    if isinstance(function, CompiledFunction):
        return function.name
    return function.compiled or "" if isinstance(function, MissingFunction) else ""


def _captured(function: FunctionType) -> list[Any]:
    """The values that belong to a function: those of its closure, and its defaults."""
    cells = [cell.cell_contents for cell in function.__closure__ or ()]
    return [*cells, function.__defaults__, function.__kwdefaults__]
