"""Where the pieces of elastic tendons run at the start: no place is inside the pulley at the next one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from lgint import _core
from lgint._args import Array
from lgint._model.record import Record
from lgint._model.values import COM, PIECES, POINTS, RADIUS, Value, pieces_at, pieces_of

Pose = Callable[[str], tuple[Array, Array]]  # the position and the rotation of a body at the start
RADII = ("radius_a", "radius_b")


class Piece(NamedTuple):
    """A piece between two places, which are points or circles round which the tendon runs with the right hand."""

    d: Array  # from the centre of the first circle to that of the second one, inertial
    triads: tuple[Array, Array]  # inertial; the third axis is that of the circle, and angles count from the first one
    radii: tuple[float, float]  # 0: a point

    def meet(self) -> tuple[float, float, float]:
        """The angles at which it leaves the first circle and meets the second one, and its length, NaN if it cannot."""
        return _core.wrapped(self.d, np.ravel(self.triads), self.radii)

    @property
    def runs(self) -> bool:
        """Whether its places are apart, and none is inside the circle at the other."""
        return self.meet()[2] > 0

    def largest(self, end: int, radius: float) -> float:
        """The largest radius at an end with which it runs, below one with which it does not."""
        low, high = 0.0, radius
        while high - low > 1e-9 * high:
            middle = (low + high) / 2
            other = self._replace(radii=(middle, self.radii[1]) if end == 0 else (self.radii[0], middle))
            low, high = (middle, high) if other.runs else (low, middle)
        return low


def check_places(
    record: Record, before: Record, names: Mapping[str, Value], given: Mapping[str, Any], pose: Pose
) -> None:
    """ValueError naming a point or a radius among `names` by which a piece of an elastic tendon has no way any more."""
    for name, value in names.items():
        pieces = _at_place(record, value)
        now = [(_piece(record, before, piece, pose), end) for piece, end in pieces]
        was = [_piece(before, before, piece, pose) for piece, _ in pieces]
        for (piece, end), old in zip(now, was, strict=True):
            if piece.runs or not old.runs:
                continue
            if value.key == RADIUS:
                most = min(each.largest(end, each.radii[end]) for each, end in now)
                expected = f"a radius below {most:.6g} expected, since the places next to the pulley are outside of it"
            else:
                first = (value.place or 0) - end
                expected = (
                    f"a point expected with which the places {first} and {first + 1} are apart, and none is inside the "
                    "pulley at the other"
                )
            raise ValueError(f"{name}: {expected} at the start, got {given[name]}")


def _at_place(record: Record, value: Value) -> list[tuple[str, int]]:
    """The pieces that end at a place of an elastic tendon, with their ends there, if that is where a value is."""
    if value.section != "forces" or value.key not in (POINTS, RADIUS):
        return []
    is_piece = record["forces"][value.row]["kind"] in PIECES
    return pieces_at(pieces_of(record, value.row), value.place or 0) if is_piece else []


def _piece(record: Record, before: Record, name: str, pose: Pose) -> Piece:
    """A piece whose bodies lie where they did with the values `before`, also if their COMs have moved in them."""
    row: Any = record["forces"][name]
    places, triads = [], []
    for who, point, side in zip(row["bodies"], row[POINTS], "ab", strict=True):
        x, R = pose(who)
        places.append(x + R @ (np.array(point) + _com(record, who) - _com(before, who)))
        triads.append(R @ np.array(row.get(f"axes_{side}", np.eye(3))))
    return Piece(places[1] - places[0], (triads[0], triads[1]), tuple(row.get(key, 0.0) for key in RADII))


def _com(record: Record, who: str) -> Array:
    return np.array(record["bodies"][who].get(COM, np.zeros(3)) if who in record["bodies"] else np.zeros(3))
