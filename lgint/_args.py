"""Checks of arguments: every message names the argument, what was given and what would work."""

import inspect
import math
import os
import sys
import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

_FLOAT: Final = np.dtype(np.float64)
_PLAIN: Final = (tuple, list, np.ndarray)  # types of values without a mask


def array(name: str, value: object, *shapes: tuple[int, ...]) -> Array:
    """A float64 copy of `value`, finite and of one of `shapes`; ValueError otherwise."""
    try:
        result = np.array(value)
        if result.dtype is not _FLOAT or type(value) not in _PLAIN and _is_masked(value):
            result = _floats(value, result)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"{name}: numbers expected, got {shown(value)}") from error
    if shapes and result.shape not in shapes:
        expected = " or ".join(str(shape) for shape in shapes)
        raise ValueError(f"{name}: shape {expected} expected, got {result.shape}")
    if not _finite(result):
        raise ValueError(f"{name}: finite numbers expected, got {shown(value)}")
    return result


def _finite(values: Array) -> bool:
    """Whether all numbers are finite; for a few of them Python takes less time than a call of NumPy's function."""
    if values.size > 9:
        return bool(np.isfinite(values).all())
    few = values.tolist() if values.ndim == 1 else values.ravel().tolist()
    return math.isfinite(sum(few)) or all(map(math.isfinite, few))  # the sum may have overflowed


def largest(values: Array) -> float:
    """The largest absolute value, 0 of none; for a few of them Python takes less time than NumPy's functions."""
    return float(np.abs(values).max()) if values.size > 9 else max(map(abs, values.tolist()), default=0.0)


def _floats(value: object, given: NDArray[Any]) -> Array:
    """The copy `given` as float64; TypeError for text, dates, complex and masked values."""
    if type(value) not in _PLAIN and _is_masked(value) or not _holds_numbers(given):
        raise TypeError("text, dates, complex or masked values")
    return given if given.dtype == _FLOAT else given.astype(np.float64)


def _is_masked(value: object) -> bool:
    """Whether some of the values are masked; a program that has such arrays has imported their module."""
    return "numpy.ma" in sys.modules and np.ma.is_masked(value)


def _holds_numbers(given: NDArray[Any]) -> bool:
    if given.dtype.kind == "O":
        return not any(isinstance(item, (str, bytes)) for item in given.flat)
    return is_numeric(given)


def is_numeric(given: NDArray[Any]) -> bool:
    """Whether the entries of an array are of a type of real numbers."""
    return given.dtype.kind in "biuf"


def shown(value: object) -> str:
    """A value as text for an error message, shortened if it is long."""
    try:
        text = repr(value)
    except ValueError:  # an integer of more digits than Python prints
        text = f"a huge {type(value).__name__}"
    return text if len(text) <= 200 else f"{text[:200]}..."


def number(name: str, value: object, *, positive: bool = False, nonnegative: bool = False) -> float:
    """A finite float, optionally > 0 or >= 0."""
    result = float(value if isinstance(value, float) and math.isfinite(value) else array(name, value, ()))
    if positive and not result > 0:
        raise ValueError(f"{name}: a positive number expected, got {result:g}")
    if nonnegative and result < 0:
        raise ValueError(f"{name}: a number >= 0 expected, got {result:g}")
    return result


def for_each(name: str, value: object, count: int) -> Array:
    """What the function `name` returned, (count, ...) with a value for each state; ValueError for anything else."""
    result = np.asarray(value)
    if result.dtype.kind not in "biuf":
        raise ValueError(f"{name} returned {shown(value)}; real numbers expected")
    if result.shape[:1] != (count,):
        raise ValueError(f"{name} has the shape {result.shape}; a value for each of {count} states expected")
    return result.astype(np.float64)


def flag(name: str, value: object) -> bool:
    """`value` if it is True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise ValueError(f"{name}: True or False expected, got {shown(value)}")
    return bool(value)


def checked_function(name: str, value: Any) -> Callable[..., Any]:
    """`value` if it can be called."""
    if not callable(value):
        raise ValueError(f"{name}: a function expected, got {shown(value)}")
    called: Callable[..., Any] = value
    return called


def takes_one(function: Callable[..., Any]) -> bool:
    """Whether a function has exactly one positional parameter; False if its signature cannot be read."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return False
    kinds = [p.kind for p in parameters if p.kind != p.KEYWORD_ONLY and p.kind != p.VAR_KEYWORD]
    return len(kinds) == 1 and kinds[0] != inspect.Parameter.VAR_POSITIONAL


def takes(name: str, function: Callable[..., Any], *arguments: str) -> None:
    """ValueError if a function cannot be called with as many arguments; their names stand in the message."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # it cannot be read
        return
    try:
        signature.bind(*arguments)
    except TypeError as error:
        raise ValueError(f"{name}: a function of {', '.join(arguments)} expected, got one of {signature}") from error


def path_of(path: object) -> str:
    """The argument `path` as text; ValueError if it is not a path."""
    try:
        text = os.fsdecode(path)  # type: ignore[arg-type]
    except TypeError as error:
        raise ValueError(f"path: the name of a file or folder expected, got {shown(path)}") from error
    if "\0" in text:
        raise ValueError(f"path: a name without NUL characters expected, got {shown(path)}")
    return text


def functions_by_name(name: str, value: Any) -> Mapping[str, Callable[..., Any]]:
    """`value` if it maps strings to functions."""
    if isinstance(value, Mapping) and all(isinstance(own, str) and callable(item) for own, item in value.items()):
        return value
    raise ValueError(f"{name}: functions of a trajectory by name expected, got {shown(value)}")


def choice(name: str, value: object, choices: Collection[str], meant: Mapping[str, str] = MappingProxyType({})) -> str:
    """`value` if it is one of `choices`, or a ValueError that lists them and suggests one; for `meant` see `guess`."""
    if isinstance(value, str) and value in choices:
        return value
    listed = list(choices)
    raise ValueError(f"unknown {name} {value!r}{guess(value, listed, meant)}; choose from {listing(listed)}")


def guess(value: object, choices: Collection[str], meant: Mapping[str, str] = MappingProxyType({})) -> str:
    """A suggestion for an unknown name, or an empty string; `meant` maps other words to some of the `choices`."""
    import difflib

    near = difflib.get_close_matches(str(value), choices, n=1)
    best = meant.get(str(value), near[0] if near else "")
    return f" (did you mean {best!r}?)" if best in choices else ""


def warn(text: str) -> None:
    """Warns at the line outside the package from which the call came."""
    package, frame, level = __name__.partition(".")[0], sys._getframe(1), 2
    while frame.f_back is not None and str(frame.f_globals.get("__name__")).partition(".")[0] == package:
        frame, level = frame.f_back, level + 1
    warnings.warn(text, stacklevel=level)


def listing(names: Sequence[str]) -> str:
    """Names for an error message, shortened if there are many."""
    if not names:
        return "none"
    first = ", ".join(repr(name) for name in names[:12])
    return first if len(names) <= 12 else f"{first}, ... ({len(names)} in all)"
