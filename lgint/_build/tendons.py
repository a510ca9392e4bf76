"""The part of the builder that adds tendons: with a given tension, and elastic ones over points and pulleys."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from lgint._args import Array, array, number, shown
from lgint._build.parts import Partner
from lgint._build.springs import SpringBuilder
from lgint._build.timed import Load, set_kinks, value_in_time
from lgint._model.record import ForceRow
from lgint._model.tendons import Piece
from lgint._rotation import direction, triad_about

Pulley = tuple[ArrayLike, float] | tuple[ArrayLike, float, float]
FULL: Final = 2 * np.pi


class Circle(NamedTuple):
    """A place of a tendon at the start: a point, or a circle round which it runs with the right hand."""

    x: Array  # its centre, inertial
    radius: float  # 0: a point
    triad: Array  # inertial; the third axis is that of the circle, and angles count from the first one
    wound: float  # at an end: the angle by which it is wound on the circle


class TendonBuilder(SpringBuilder):
    """The part of `ModelBuilder` that adds tendons."""

    def add_tendon(
        self,
        bodies: Sequence[Partner],
        *,
        tension: Load | None = None,
        stiffness: float | None = None,
        damping: float = 0.0,
        rest_length: float | None = None,
        points: ArrayLike | None = None,
        local_points: ArrayLike | None = None,
        pulleys: Mapping[int, Pulley] | None = None,
        kinks: ArrayLike = (),
        name: str | None = None,
    ) -> str:
        """A tendon that runs without friction through points of bodies and over pulleys.

        Everywhere it has one tension: a given one, or that of its length L, stiffness (L - rest_length) + damping L',
        which never pushes: it is zero where L is not above the rest length, and where the sum is negative.

        Parameters
        ----------
        bodies : sequence of str or lgint.ground
            At least two, in the order in which the tendon meets them, such as the nodes of a rod.
        tension : float, table or function of time, optional
            N; a table (times (m,), values (m,)); or a function that returns one number. A load factor scales it. It is
            an applied force: where it is negative, it pushes along the same lines.
        stiffness, damping : float
            Of an elastic tendon instead: N/m and N s/m of the whole length.
        rest_length : float, optional
            Of an elastic tendon: the length without tension, m. Default: that of the start.
        points : array_like, shape (k, 3), optional
            Where it runs through each body, inertial in the start configuration.
        local_points : array_like, shape (3,) or (k, 3), optional
            The same, body-fixed: in body axes from the COM. Default: the COMs.
        pulleys : dict, optional
            Of an elastic tendon: by the number of a place, from 0 on, (axis, radius) of a pulley whose centre is the
            point there. It is a circle fixed to the body; the tendon runs round it in the sense of the right hand
            about the axis, which is inertial in the start configuration. It slides, so that it turns no pulley. At the
            first or last place the circle is a drum on which the tendon is fixed, and which it turns: (axis, radius,
            angle), with the angle (rad) by which it is wound there at the start. A run in which the tendon would leave
            a pulley ends with an error.
        kinks : array_like, shape (k,)
            Times at which a function is not smooth; steps end there.
        name : str, optional
            By which `Model.values` and messages refer to it. Default: made from the names of the bodies.

        Returns
        -------
        str
            Its name.

        Raises
        ------
        ValueError
            For unknown bodies, wrong shapes, also of what a function returns at t = 0, a place inside a pulley, a
            tension and a stiffness or neither, and a name in use.
        """
        if not isinstance(bodies, Collection):
            raise ValueError(f"bodies of a tendon: a sequence of names expected, got {shown(bodies)}")
        count = len(bodies)
        if count < 2:
            raise ValueError(f"bodies of a tendon: at least two expected, got {count}")
        partners = [self._partner(who) for who in bodies]
        label = "a tendon" if name is None else repr(name)
        if (tension is None) == (stiffness is None):
            raise ValueError(f"{label}: give a tension or a stiffness")
        if stiffness is None and (damping != 0 or rest_length is not None or pulleys is not None):
            raise ValueError(f"{label}: damping, rest_length and pulleys belong to a stiffness, not to a tension")
        name = self._force_name("tendon", partners[0], partners[-1], name)
        if points is not None and local_points is not None:
            raise ValueError(f"{name!r}: points (inertial) or local_points (body-fixed), not both")
        given: Any = [None] * count if points is None else array(f"points of {name!r}", points, (count, 3))
        local: Any = [None] * count
        if local_points is not None:
            local = np.broadcast_to(array(f"local_points of {name!r}", local_points, (3,), (count, 3)), (count, 3))
        at = [self._attachment(name, *where) for where in zip(partners, given, local, strict=True)]
        if tension is not None:
            return self._tense(name, partners, at, tension, kinks)
        set_kinks(repr(name), kinks)
        own = {
            "stiffness": number(f"stiffness of {name!r}", stiffness, positive=True),
            "damping": number(f"damping of {name!r}", damping, nonnegative=True),
        }
        return self._elastic(name, partners, at, {} if pulleys is None else pulleys, own, rest_length)

    def _tense(self, name: str, partners: list[str], at: list[Any], tension: Load, kinks: ArrayLike) -> str:
        """Adds a tendon with a given tension."""
        load = value_in_time(f"tension of {name!r}", tension, 1)
        set_kinks(repr(name), kinks, load)
        rows: dict[str, ForceRow] = {
            f"{name}.{i}": {
                "kind": "tension",
                "bodies": partners[i : i + 2],
                "points": at[i : i + 2],
                "load": load,
            }
            for i in range(len(partners) - 1)
        }
        return self._add_parts("tendon", name, rows)

    def _elastic(
        self,
        name: str,
        partners: list[str],
        at: list[Any],
        pulleys: Mapping[int, Pulley],
        own: dict[str, float],
        rest: float | None,
    ) -> str:
        """Adds an elastic tendon: its first piece has the parameters of all."""
        if all(who == "ground" or who in self._supports for who in partners):
            raise ValueError(f"{name!r}: a body that moves expected among its bodies")
        circles = self._circles(name, partners, at, pulleys)
        angles, length = _along(name, circles)
        own["length"] = length if rest is None else number(f"rest_length of {name!r}", rest, nonnegative=True)
        rows: dict[str, Any] = {}
        for i in range(len(partners) - 1):
            ends, bodies = circles[i : i + 2], partners[i : i + 2]
            row = {"bodies": bodies, "points": at[i : i + 2], **(own if i == 0 else dict.fromkeys(own, 0.0))}
            if any(end.radius for end in ends):
                row["kind"] = "wrapped_tendon"
                row["angles"] = angles[i]
                for side, who, end in zip("ab", bodies, ends, strict=True):
                    row[f"axes_{side}"] = self._at(who).components(end.triad).tolist()
                    row[f"radius_{side}"] = end.radius
            else:
                row["kind"] = "elastic_tendon"
            rows[f"{name}.{i}" if i else name] = {**row, "piece": "next" if i else "first"}
        return self._add_parts("tendon", name, rows)

    def _circles(self, name: str, partners: list[str], at: list[Any], pulleys: Mapping[int, Pulley]) -> list[Circle]:
        last = len(partners) - 1
        if not isinstance(pulleys, Mapping):
            raise ValueError(f"pulleys of {name!r}: a dict by numbers of places expected, got {shown(pulleys)}")
        for place in pulleys:
            if place not in range(last + 1):
                raise ValueError(f"pulleys of {name!r}: numbers of places from 0 to {last} expected, got {place!r}")
        found = []
        for place, (who, point) in enumerate(zip(partners, at, strict=True)):
            x = self._at(who).inertial_point(np.array(point))
            label = f"pulley {place} of {name!r}"
            axis, radius, *wound = _pulley(label, pulleys[place]) if place in pulleys else ((0.0, 0.0, 1.0), 0.0)
            if place in pulleys:
                axis, radius = direction(f"axis of {label}", axis), number(f"radius of {label}", radius, positive=True)
            if wound and 0 < place < last:
                raise ValueError(f"{label}: only a drum at the first or last place has an angle wound on it")
            angle = number(f"angle of {label}", *wound, nonnegative=True) if wound else 0.0
            found.append(Circle(x, radius, triad_about(np.asarray(axis, dtype=float)), angle))
        for i, (a, b) in enumerate(pairwise(found)):
            if not np.isfinite(_meet(a, b)[2]):
                raise ValueError(_no_piece(name, i, a, b))
        return _fasten(found)


def _pulley(label: str, given: Any) -> Any:
    if not isinstance(given, (tuple, list)) or len(given) not in (2, 3):
        raise ValueError(f"{label}: (axis, radius) or (axis, radius, angle) expected, got {shown(given)}")
    return given


def _fasten(circles: list[Circle]) -> list[Circle]:
    """The circles of which a drum has its first axis where the tendon is fixed to it."""
    first, last = circles[0], circles[-1]
    begin, end = _meet(first, circles[1])[0], _meet(circles[-2], last)[1]
    circles[0] = first._replace(triad=_turned(first, begin - first.wound))
    circles[-1] = last._replace(triad=_turned(last, end + last.wound))
    return circles


def _turned(circle: Circle, angle: float) -> Array:
    cosine, sine = np.cos(angle), np.sin(angle)
    turned: Array = circle.triad @ np.array([[cosine, -sine, 0], [sine, cosine, 0], [0, 0, 1]])
    return turned


def _meet(a: Circle, b: Circle) -> tuple[float, float, float]:
    """The angles at which a piece leaves the first circle and meets the second one, and its length."""
    return Piece(b.x - a.x, (a.triad, b.triad), (a.radius, b.radius)).meet()


def _along(name: str, circles: list[Circle]) -> tuple[list[list[float]], float]:
    """The angles at both ends of each piece, with all turns, and the length at the start, arcs included."""
    angles: list[list[float]] = []
    length, arrival = 0.0, 0.0
    for i, (a, b) in enumerate(zip(circles, circles[1:], strict=False)):
        leave, arrive, piece = _meet(a, b)
        arc = (leave - arrival) % FULL if i else a.wound  # less than a full turn round a pulley
        leave = arrival + arc if a.radius else 0.0
        if i == len(circles) - 2 and b.radius:
            arrive = -b.wound
        if not piece > 0:
            raise ValueError(f"{name!r}: its places {i} and {i + 1} coincide")
        length += piece + a.radius * arc
        angles.append([leave, arrive])
        arrival = arrive
    return angles, length + circles[-1].radius * circles[-1].wound


def _no_piece(name: str, i: int, a: Circle, b: Circle) -> str:
    """Why no straight piece leads from a place to the next one."""
    if not (a.radius and b.radius):
        return f"{name!r}: of its places {i} and {i + 1} one is inside the pulley at the other"
    return (
        f"{name!r}: no straight piece leads from its pulley {i} to its pulley {i + 1}, since their circles overlap: "
        f"their radii are {a.radius:g} and {b.radius:g} m and their centres {np.linalg.norm(b.x - a.x):g} m apart; "
        "give smaller radii or another place or, where the tendon runs round them in opposite senses, the same sense"
    )
