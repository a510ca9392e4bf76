"""Motions of supports and of coordinates: functions of time, and smooth curves through the values of tables."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from lgint._args import Array, shown
from lgint._model.compiled import CompiledFunction
from lgint._model.record import LoadRow, Matrix, SupportRow

WIDTH = 6  # entries of a motion: three coordinates of the position, three of the rotation vector
LEVELS = 3  # value and first two derivatives


def motion(name: str, support: SupportRow) -> Callable[[float], Array] | None:
    """The motion of a support as the core takes it: displacement, rotation vector and their two derivatives, (3, 6)."""
    source = support["motion"]
    if not source:
        return None
    course = course_of(source)
    if isinstance(course, CompiledFunction):
        return course.shifted(support["position"])
    return Displacement(name, course, np.array(support["position"]))


def coordinate_motion(name: str, motion: Matrix | LoadRow) -> tuple[Matrix, Callable[[float], Array] | None]:
    """The motion of a coordinate as the core takes it: pieces, or times at which it kinks with a function, (3,)."""
    if not isinstance(motion, dict):
        return motion, None
    if "times" in motion and "kinks" not in motion:  # of an older file, whose runs land on the ends alone
        motion = {**motion, "kinks": [motion["times"][0], motion["times"][-1]]}
    course, kinks = course_of(motion), [[kink, 0.0, 0.0, 0.0] for kink in kinks_of(motion)]
    return kinks, course if isinstance(course, CompiledFunction) else Coordinate(name, course)


def course_of(source: LoadRow) -> Callable[[float], ArrayLike]:
    """A motion as a function of time that returns value, rate and second rate."""
    if "function" in source:
        return source["function"]
    return Pieces(source["pieces"]) if "pieces" in source else Spline(source["times"], source["values"])


def kinks_of(source: LoadRow) -> list[float]:
    """Times at which a motion is not smooth, on which steps end."""
    if "pieces" in source:
        return [row[0] for row in source["pieces"][1:]]
    return source.get("kinks", source.get("times", []))


@dataclass(frozen=True)
class Coordinate:
    """The motion of a coordinate."""

    name: str  # of the motion or drive
    motion: Callable[[float], ArrayLike]

    def __call__(self, t: float) -> Array:
        """Coordinate, rate and second rate, (3,)."""
        returned = self.motion(t)
        try:
            given = np.asarray(returned, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise self._refusal(t, shown(returned)) from error
        if given.size != LEVELS:
            raise self._refusal(t, f"an array of the shape {given.shape}")
        return given.reshape(LEVELS)

    def _refusal(self, t: float, what: str) -> ValueError:
        return ValueError(
            f"motion of {self.name!r}: a function that returns the coordinate, its rate and its second rate expected; "
            f"at t = {t:g} it returns {what}"
        )


@dataclass(frozen=True)
class Displacement:
    """A motion relative to the position at rest."""

    name: str  # name of the support
    motion: Callable[[float], ArrayLike]
    rest: Array  # (3,)

    def __call__(self, t: float) -> Array:
        """Displacement and rotation vector with their first two derivatives, (3, 6)."""
        returned = self.motion(t)
        try:
            given = np.asarray(returned, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise self._refusal(t, f"it returns {shown(returned)}") from error
        if given.shape not in ((LEVELS, 3), (LEVELS, WIDTH)):
            raise self._refusal(t, f"the shape is {given.shape}")
        moved = np.zeros((LEVELS, WIDTH))
        moved[:, : given.shape[1]] = given
        moved[0, :3] -= self.rest
        return moved

    def _refusal(self, t: float, what: str) -> ValueError:
        return ValueError(
            f"motion of {self.name!r}: a function that returns an array of shape (3, 3) or (3, 6) expected; at "
            f"t = {t:g} {what}"
        )


class Pieces:
    """Quadratic pieces, of which the first also holds before its time and the last one has no end.

    Parameters
    ----------
    pieces : array_like, shape (m, 1 + 3 k)
        Of each: the time at which it begins, ascending, and there k values, their rates and their second rates.
    """

    def __init__(self, pieces: ArrayLike) -> None:
        given = np.array(pieces, dtype=float)
        self._times, self._levels = given[:, 0], given[:, 1:].reshape(len(given), LEVELS, -1)

    def __call__(self, t: float) -> Array:
        """Values and their first two derivatives, (3, k)."""
        i = max(int(np.searchsorted(self._times, t, side="right")) - 1, 0)
        r, (value, rate, second) = t - self._times[i], self._levels[i]
        return np.array([value + r * (rate + r * second / 2), rate + r * second, second])


class Spline:
    """The cubic spline through a table, at rest at both ends and constant outside.

    Parameters
    ----------
    times : array_like, shape (m,)
        Ascending, s.
    values : array_like, shape (m, k)
    """

    def __init__(self, times: ArrayLike, values: ArrayLike) -> None:
        self._times, self._values = np.array(times, dtype=float), np.array(values, dtype=float)
        self._rates = _rates(self._times, self._values)

    def __call__(self, t: float) -> Array:
        """Values and their first two derivatives, (3, k)."""
        times, values, rates = self._times, self._values, self._rates
        if not times[0] <= t < times[-1]:
            rest = values[0] if t < times[0] else values[-1]
            return np.array([rest, 0 * rest, 0 * rest])
        i = int(np.searchsorted(times, t, side="right")) - 1
        h = times[i + 1] - times[i]
        slope, r0, r1 = (values[i + 1] - values[i]) / h, rates[i], rates[i + 1]
        second = (6 * slope - 4 * r0 - 2 * r1) / h
        third = 6 * (r0 + r1 - 2 * slope) / h**2
        s = t - times[i]
        return np.array(
            [
                values[i] + s * (r0 + s * (second / 2 + s * third / 6)),
                r0 + s * (second + s * third / 2),
                second + s * third,
            ]
        )


def _rates(times: Array, values: Array) -> Array:
    """Rates of a cubic spline at rest at both ends, at its times, by elimination of a tridiagonal system."""
    h = np.diff(times)
    slopes = np.diff(values, axis=0) / h[:, None]
    rates = np.zeros_like(values)
    pivots = np.empty(len(times))
    # h_i r_i-1 + 2 (h_i-1 + h_i) r_i + h_i-1 r_i+1 = 3 (h_i slope_i-1 + h_i-1 slope_i)
    for i in range(1, len(h)):
        pivots[i] = 2 * (h[i - 1] + h[i])
        rates[i] = 3 * (h[i] * slopes[i - 1] + h[i - 1] * slopes[i])
        if i > 1:
            factor = h[i] / pivots[i - 1]
            pivots[i] -= factor * h[i - 2]
            rates[i] -= factor * rates[i - 1]
    for i in range(len(h) - 1, 0, -1):
        rates[i] = (rates[i] - h[i - 1] * rates[i + 1]) / pivots[i]
    return rates
