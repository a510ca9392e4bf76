"""Arguments that may vary with time, read in the same way wherever the builder takes them.

A value, such as a force, is a number or a vector; a table as (times, values), linear between its times and constant
outside; or a function of time. A motion, which has a rate and a second rate, is a number or a vector, at rest; a table,
the cubic spline through its values that rests before and after them; quadratic pieces, rows (t, value, rate, second
rate); or a function that returns value, rate and second rate. Both have `kinks` where a function is not smooth.
Functions may be compiled: of the type `lgint.signatures.load` for values, and `motion` for motions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike

from lgint._args import Array, array, is_numeric, shown
from lgint._model.compiled import CompiledFunction, function_of_time
from lgint._model.motion import LEVELS, WIDTH
from lgint._model.record import LoadRow, Matrix
from lgint._model.shared import Single, as_array

Load = ArrayLike | tuple[ArrayLike, ArrayLike] | Callable[[float], ArrayLike]
Motion = float | ArrayLike | tuple[ArrayLike, ArrayLike] | Callable[[float], ArrayLike]

STEP: Final = 1e-5  # s, of the differences with which the rates of a function are compared
AGREEMENT: Final = 1e-3
SAMPLES: Final = 0.13, 0.5, 1.0  # s, where they are compared, besides t = 0


def value_in_time(what: str, given: Load, n: int) -> LoadRow:
    """The record of a value of n components: a vector, a table or a function; a compiled strain has derivatives."""
    given = function_of_time(what, given, "load" if n < WIDTH else "motion", n)
    if isinstance(given, CompiledFunction):
        return {"function": given}
    if callable(given):
        function = Single(given) if n == 1 else given
        _check_value(what, function, *([(n,)] if n < WIDTH else [(n,), (LEVELS, n)]))
        return {"function": function}
    if is_table(given, lists=n == 1):
        return _table(what, given, (n,))
    return {"vector": array(what, given, (n,), *([()] if n == 1 else [])).reshape(n).tolist()}


def motion_in_time(what: str, given: Motion, *widths: int) -> LoadRow:
    """The record of a motion of one of `widths` components: pieces, a table or a function; a vector is one piece."""
    given = function_of_time(what, given, "motion", max(widths))
    if callable(given):
        return {"function": given}
    if is_table(given):
        return _table(what, given, widths)
    try:
        pieces = array(what, given)
    except ValueError as error:
        raise ValueError(f"{what}: {_forms(widths)} expected; {error}") from error
    if pieces.shape in [(n,) for n in widths] or (pieces.ndim == 0 and 1 in widths):
        still = np.zeros(1 + 3 * pieces.size)
        still[1 : 1 + pieces.size] = pieces
        return {"pieces": [still.tolist()]}
    if pieces.ndim != 2 or pieces.shape[1] not in [1 + 3 * n for n in widths] or not _ascend(pieces[:, 0], 1):
        raise ValueError(f"{what}: {_forms(widths)} expected, got the shape {pieces.shape}")
    return {"pieces": pieces.tolist()}


def set_kinks(label: str, kinks: ArrayLike, *given: LoadRow) -> None:
    """Enters the times at which functions are not smooth; ValueError if there is no function."""
    times = np.unique(array(f"kinks of {label}", kinks)).tolist()
    functions = [each for each in given if "function" in each]
    if times and not functions:
        raise ValueError(f"kinks of {label}: they belong to functions; numbers, tables and pieces have their own")
    for each in functions if times else []:
        each["kinks"] = times


def is_table(given: object, *, lists: bool = False) -> bool:
    """Whether an argument is a table: a tuple of two, or a list of two whose values have rows; or, with `lists`, any.

    Two vectors, as a list, are two vectors.
    """
    if not isinstance(given, Sequence) or len(given) != 2:
        return False
    axes = [_axes(part) for part in given]
    return axes == [1, 2] or (axes[0] > 0 and (lists or isinstance(given, tuple)))


# ---- checks of functions ----


def _check_value(what: str, function: Callable[[float], Any], *shapes: tuple[int, ...]) -> None:
    """ValueError if a function returns something else than numbers of one of these shapes at t = 0."""
    try:
        returned = function(0.0)
    except Exception:
        return  # the function may begin later, which a run that gets there before reports
    expected = "one number" if shapes == ((1,),) else f"numbers of the shape {' or '.join(map(str, shapes))}"
    value = as_array(returned)
    if is_numeric(value) and value.shape in shapes:
        return
    found = f"the shape is {value.shape}" if is_numeric(value) else f"it returns {shown(value.tolist())}"
    raise ValueError(f"{what}: a function that returns {expected} expected; at t = 0 {found}")


def check_course(what: str, motion: Callable[[float], Array], *, jumps: bool) -> None:
    """ValueError if a function's rates are not derivatives of its values, at t = 0 and at later samples."""
    _check_rates(what, motion, STEP)  # differences are one-sided, as a motion may begin at t = 0
    for t in SAMPLES:
        first = t + STEP if jumps else t - STEP / 2  # a difference across the sample detects a jump there
        try:
            motion(first), motion(first + STEP)
        except Exception:
            return  # the function may end earlier, which a run that gets here reports
        _check_rates(what, motion, first)


def check_smooth(what: str, pieces: Matrix) -> None:
    """ValueError if a value or its rate jumps from one piece to the next."""
    n = (len(pieces[0]) - 1) // 3
    for before, after in pairwise(np.array(pieces)):
        r = after[0] - before[0]
        value, rate, second = before[1:].reshape(3, n)
        ends = value + r * (rate + r * second / 2), rate + r * second
        for word, left, right in zip(("coordinate", "rate"), ends, after[1:].reshape(3, n), strict=False):
            jumps = np.abs(left - right) > 1e-9 * (1 + np.abs(left) + np.abs(right))
            if jumps.any():
                i = int(np.argmax(jumps))
                raise ValueError(
                    f"{what}: its {word} jumps at t = {after[0]:g} from {left[i]:g} to {right[i]:g}, which would take "
                    "infinite forces; give pieces that join, or a drive with stiffness, which may have such a motion"
                )


def _check_rates(what: str, motion: Callable[[float], Array], first: float) -> None:
    """ValueError if, just after `first`, rates and second rates are not derivatives."""
    start, end = motion(first), motion(first + STEP)
    for level, word in ((1, "velocity"), (2, "acceleration")):
        given = 0.5 * (start[level] + end[level])
        found = (end[level - 1] - start[level - 1]) / STEP
        if np.abs(found - given).max() > AGREEMENT * (1 + np.abs(given).max()):
            raise ValueError(
                f"{what}: rows (value, rate, second rate) expected; near t = {round(first, 4):g} the {word} is "
                f"{given}, and by differences it is {found}"
            )


# ---- tables and shapes ----


def _table(what: str, given: Any, widths: Sequence[int]) -> LoadRow:
    times, values = array(f"times of {what}", given[0]), array(f"values of {what}", given[1])
    if times.ndim != 1 or not _ascend(times, 2):
        raise ValueError(f"times of {what}: at least two, ascending, expected, got {given[0]!r}")
    m = len(times)
    if values.shape == (m,) and 1 in widths:
        values = values.reshape(m, 1)
    if values.shape not in [(m, n) for n in widths]:
        shapes = " or ".join(f"({m}, {n})" if n > 1 else f"({m},)" for n in widths)
        raise ValueError(
            f"values of {what}: one for each of the {m} times expected, got the shape {values.shape} and not {shapes}; "
            "a tuple of two is a table (times, values)"
        )
    return {"times": times.tolist(), "values": values.tolist()}


def _ascend(times: Array, least: int) -> bool:
    return len(times) >= least and bool((np.diff(times) > 0).all())


def _axes(part: object) -> int:
    """The number of axes of numbers, also of rows that are not equally long."""
    return np.array(part, dtype=object).ndim


def _forms(widths: Sequence[int]) -> str:
    if 1 in widths:
        still, row = "a number", "(t, value, rate, second rate)"
    else:
        still = f"a vector of {' or '.join(map(str, widths))} numbers"
        row = f"of {' or '.join(str(1 + 3 * n) for n in widths)} numbers, t, values, rates and second rates,"
    return f"{still}, a list of rows {row} with ascending t, a table as a tuple (times, values), or a function of time"
