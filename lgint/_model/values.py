"""The numbers in a record that can be changed in a model that has been built, by name: "arm.mass", "gravity", ...

An entry of an array has a name as well, "arm.inertia[0,1]"; in a symmetric matrix it stands for both of its places.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, Final, Generic, NamedTuple, TypeVar

import numpy as np

from lgint._args import Array, array, number
from lgint._model.checks import inertia_matrix
from lgint._model.compile import GRAVITY
from lgint._model.parameters import DATA, MATRICES, Parameter, declared_by
from lgint._model.record import EDGES, Record, partners

LOAD: Final = "load"  # the vector or the table of a force or torque, the tension of a tendon
POINTS: Final = "points"  # of an element on its bodies, which stand in the shape of a model
COM: Final = "com"  # of a body, from where it was when the model was built; all points of the body count from it
RADIUS: Final = "radius"  # of a pulley, which both pieces of a tendon there have
SHAPE: Final = frozenset({POINTS, COM, RADIUS})
_NOWHERE: Final = ("torque", "joint_spring")  # moments alone, on bodies, whose points have no effect
BOTH: Final = -1  # both points of a joint, which move together
CURVES: Final = "curves"
LIMITS: Final = "limits"  # of the coordinate of a joint
NO_LIMIT: Final = float(np.finfo(float).max)  # stands for one on a side where there is none
MOTION: Final = "motion"  # of a drive in pieces, or the values of a table that moves a coordinate or a support
TENSE: Final = "tension"  # a piece of a tendon with a given tension
PIECES: Final = ("elastic_tendon", "wrapped_tendon")
TENDON: Final = ("stiffness", "damping", "length")  # the values of a tendon, which its first piece has
TURNS: Final = 3  # the first entry of a vector (6,) that belongs to a rotation
_ENTRY: Final = re.compile(r"(.+)\[(\d+(?:, ?\d+)*)\]")
T = TypeVar("T")


class Value(NamedTuple):
    """Where a number, or several, stand in a record."""

    section: str  # "bodies", "joints" or "forces"; "": the record itself
    row: str
    key: str
    unit: str
    parameter: Parameter | None = None  # None: it belongs to a body, or to all, or is a load, a point or a curve
    place: int | None = None  # in a list of points or curves
    entry: tuple[int, ...] | None = None  # of the array; None: all of it

    @property
    def owner(self) -> str:
        """The part of the model that it belongs to."""
        return self.row or self.key


class Entries(dict[str, T], Generic[T]):
    """Values by name, with those of entries of arrays, over which it does not iterate."""

    def __contains__(self, name: object) -> bool:
        if super().__contains__(name):
            return True
        try:
            self[name]  # type: ignore[index]
        except (KeyError, IndexError):
            return False
        return True

    def __missing__(self, name: str) -> Any:
        found = _ENTRY.fullmatch(name) if isinstance(name, str) else None
        if found is None or not super().__contains__(found[1]):
            raise KeyError(name)
        return self.entry(self[found[1]], tuple(map(int, found[2].split(","))))

    def entry(self, whole: Any, index: tuple[int, ...]) -> Any:
        """What stands for an entry."""
        array = np.asarray(whole)
        if len(index) != array.ndim:
            raise KeyError(index)
        return float(array[index])


class Names(Entries[Value]):
    """Where values stand in a record."""

    def __init__(self, record: Record) -> None:
        super().__init__(_values_of(record))
        self._record = record

    def entry(self, whole: Value, index: tuple[int, ...]) -> Value:
        """Where an entry stands."""
        super().entry(value_in(self._record, whole), index)
        return whole._replace(entry=index, unit=_unit_of(whole, index))


def _unit_of(whole: Value, index: tuple[int, ...]) -> str:
    """The unit of an entry: of one row of a curve, of one column of pieces or of a table, or of an array that begins
    with translations and ends with turns.
    """
    units = whole.unit.split(", ")
    number = {CURVES: index[0], MOTION: index[-1]}.get(whole.key, sum(i >= TURNS for i in index))
    return units[min(number, len(units) - 1)]


def _values_of(record: Record) -> dict[str, Value]:
    """All values by name: the name of a body, joint or force, and that of its entry."""
    found = {GRAVITY: Value("", "", GRAVITY, "m/s^2")}
    sections = ("bodies", _of_bodies), ("supports", _of_supports), ("joints", _of_joints), ("forces", _of_forces)
    for section, entries in sections:
        for row, entry in record[section].items():  # type: ignore[literal-required]
            found |= {f"{row}.{name}": Value(section, row, *rest) for name, *rest in entries(entry)}
    found = {name: value for name, value in found.items() if value.key != POINTS or not _on_node(record, value)}
    return found | _of_tendons(record)


def _on_node(record: Record, value: Value) -> bool:
    """Whether a point is a node of a flexible body, or one of both, which does not move on its body."""
    entry: Any = record[value.section][value.row]  # type: ignore[literal-required]
    bodies = partners(entry) if value.section == "joints" else entry["bodies"]
    return any(_is_node(record, who) for who in (bodies if value.place == BOTH else [bodies[value.place or 0]]))


def _is_node(record: Record, who: str) -> bool:
    return who != "ground" and who not in record["bodies"] and who not in record["supports"]


def _of_bodies(body: Mapping[str, Any]) -> Iterator[tuple[Any, ...]]:
    if body["modes"] is None:
        yield "mass", "mass", "kg"
        yield "inertia", "inertia", "kg m^2"
        yield COM, COM, "m"


def _of_supports(support: Mapping[str, Any]) -> Iterator[tuple[Any, ...]]:
    if _is_table(support[MOTION]):
        yield MOTION, MOTION, ", ".join(["m"] * TURNS + ["rad"] * TURNS)


def _is_table(motion: Any) -> bool:
    return isinstance(motion, dict) and "values" in motion


def _of_joints(joint: Mapping[str, Any]) -> Iterator[tuple[Any, ...]]:
    """The parameters of a joint and its points; those of motions, couplings and edges are the ones of other parts."""
    yield from _declared(joint)
    if _is_table(joint.get(MOTION)):
        yield MOTION, MOTION, "rad" if joint["kind"] == "angle_motion" else "m"
    if "of" in joint or "coupled" in joint or joint["kind"] in EDGES.values():
        return
    if "triads" in joint:
        yield "point", POINTS, "m", None, BOTH
    for i, name in enumerate(("point_a", "point_b")[: len(joint["points"])]):
        if (joint["kind"], i) != ("knife_edge", 0):  # of the ground, where a knife edge is nowhere
            yield name, POINTS, "m", None, i


def _side(entry: Mapping[str, Any], key: str) -> str:
    """The name of a parameter; a contact whose shapes the core has in the other order has them as they were given."""
    return key[:-1] + "ba"[key[-1] == "b"] if entry.get("turned") and key[-2:] in ("_a", "_b") else key


def _declared(entry: Mapping[str, Any]) -> Iterator[tuple[Any, ...]]:
    """The parameters of a force or a joint that its entry holds; the first piece of a tendon has those of all."""
    held = entry if entry["kind"] not in PIECES else TENDON if entry["piece"] == "first" else ()
    for key, parameter in declared_by(entry).items():
        if key in held and parameter.varies:
            yield _side(entry, key), key, parameter.unit, parameter


def _of_forces(force: Mapping[str, Any]) -> Iterator[tuple[Any, ...]]:
    yield from _declared(force)
    if {"vector", "values"} & force.get("load", {}).keys():
        yield "wind" if force["kind"] == "wind_drag" else LOAD, LOAD, declared_by(force)[DATA].unit
    for i, points in enumerate(force.get(CURVES, ())):
        if points:
            yield f"curve{i}", CURVES, _units_of_curve(force, i), None, i
    unit = "rad" if force.get("coordinate") == "angle" else "m"
    for i, limit in enumerate(force.get(LIMITS, ())):
        if abs(limit) < NO_LIMIT:
            yield ("lower", "upper")[i], LIMITS, unit, None, i
    if isinstance(force.get(MOTION), list) and force[MOTION]:
        yield MOTION, MOTION, f"s, {unit}, {unit}/s, {unit}/s^2"
    elif _is_table(force.get(MOTION)):
        yield MOTION, MOTION, unit
    ends = () if force["kind"] in (*_NOWHERE, TENSE, *PIECES) else force.get(POINTS, ())  # pieces share places
    for i in range(len(ends)):
        yield "point" if len(ends) == 1 else _side(force, ("point_a", "point_b")[i]), POINTS, "m", None, i


def _of_tendons(record: Record) -> dict[str, Value]:
    """The places of tendons and the radii of their pulleys, by the tendon's name and the number of a place."""
    found = {}
    for row in record["forces"]:
        pieces = pieces_of(record, row)
        name = row.removesuffix(".0") if pieces and record["forces"][row]["kind"] == TENSE else row
        for place in range(len(pieces) + 1 if pieces else 0):
            piece, end = pieces_at(pieces, place)[0]
            if not _is_node(record, record["forces"][piece]["bodies"][end]):
                found[f"{name}.point{place}"] = Value("forces", row, POINTS, "m", None, place)
            if _radii(record, piece, end):
                found[f"{name}.radius{place}"] = Value("forces", row, RADIUS, "m", None, place)
    return found


def pieces_of(record: Record, first: str) -> list[str]:
    """The forces that are pieces of the tendon that begins with this one; none if it begins no tendon."""
    forces: Mapping[str, Any] = record["forces"]
    if forces[first]["kind"] not in (TENSE, *PIECES):
        return []
    name = first
    if forces[first]["kind"] == TENSE:
        name = first.removesuffix(".0")
        if name == first:
            return []
    elif forces[first]["piece"] != "first":
        return []
    found = [first]
    while forces.get(f"{name}.{len(found)}", {}).get("kind") in (TENSE, *PIECES):
        found.append(f"{name}.{len(found)}")
    return found


def pieces_at(pieces: Sequence[str], place: int) -> list[tuple[str, int]]:
    """The pieces that end at a place of a tendon, with their ends there."""
    return [(pieces[i], end) for i, end in ((place - 1, 1), (place, 0)) if 0 <= i < len(pieces)]


def _radii(record: Record, piece: str, end: int) -> float:
    return float(record["forces"][piece].get(("radius_a", "radius_b")[end], 0.0))  # type: ignore[arg-type]


def _units_of_curve(force: Mapping[str, Any], number: int) -> str:
    """The units of both rows of one of the curves of a force, among which the declared units are shared equally."""
    units = declared_by(force)[CURVES].unit.split("; ")
    return units[number * len(units) // len(force[CURVES])]


def value_in(record: Record, value: Value) -> Any:
    """The present value."""
    if not value.section:
        return record["gravity"]
    row = record[value.section][value.row]  # type: ignore[literal-required]
    if value.key == COM:
        return row.get(COM, [0.0] * 3)
    if _is_place(row, value):
        piece, end = pieces_at(pieces_of(record, value.row), value.place or 0)[0]
        return _radii(record, piece, end) if value.key == RADIUS else record["forces"][piece][POINTS][end]
    found = row[value.key]
    if value.key == LOAD:
        return found["vector" if "vector" in found else "values"]
    if value.key == MOTION and _is_table(found):
        return found["values"]
    return found if value.place is None else found[max(value.place, 0)]


def is_interpolated(record: Record, value: Value) -> bool:
    """Whether a value is that of a table through which a smooth curve moves something, which is made anew."""
    return value.key == MOTION and _is_table(record[value.section][value.row][MOTION])  # type: ignore[literal-required]


def _is_place(row: Mapping[str, Any], value: Value) -> bool:
    """Whether a value is the point or the radius of a place of a tendon."""
    return value.section == "forces" and value.key in (POINTS, RADIUS) and row["kind"] in (TENSE, *PIECES)


def own_values(
    parameters: Mapping[str, Any],
    values: Collection[str],
    keywords: Mapping[str, Any],
    present: Callable[[], Mapping[str, Any]],
) -> list[str]:
    """Names of parameters that are values; one that is a keyword as well only if it has the shape of the value alone.

    `present` returns the present values.
    """
    both = [name for name in parameters if name in keywords and name in values]
    shapes = {name: np.shape(present()[name]) for name in both}
    keyword = {name for name in both if not _has_shape(parameters[name], shapes[name], np.shape(keywords[name]))}
    return [name for name in parameters if name in values and name not in keyword]


def _has_shape(given: Any, shape: tuple[int, ...], other: tuple[int, ...]) -> bool:
    try:
        return shape != other and np.shape(given) == shape
    except ValueError:  # lists that form no array
        return False


def order_of(value: Value) -> tuple[bool, bool]:
    """The order in which values are changed, so that each becomes what was given: points count from the COM."""
    return value.key != COM, value.place != BOTH


def changed(record: Record, value: Value, name: str, given: object) -> Record:
    """The record with another value, which is checked as in the builder; itself if the value is the present one."""
    old = value_in(record, value)
    if value.entry is not None:
        given = _with_entry(old, value, number(name, given))
    if _equal(given, old):
        return record
    new: Any = value.parameter.read(name, given) if value.parameter else _READERS[value.key](name, given, old)
    return replaced(record, value, new)


def check_limits(record: Record, names: Mapping[str, Value]) -> None:
    """ValueError naming a limit of a joint that is among `names` and has left no range."""
    for name, value in names.items():
        if value.key == LIMITS:
            lower, upper = record["forces"][value.row]["limits"]
            if not lower < upper:
                raise ValueError(f"{name}: a lower limit below the upper one expected, got {lower:g} and {upper:g}")


def replaced(record: Record, value: Value, new: Any) -> Record:
    """The record with another value, or array, which is not checked."""
    if not value.section:
        return {**record, "gravity": new}
    if value.key == COM:
        return _with_com(record, value.row, new)
    if value.key == POINTS and value.section == "joints":
        return _with_joint(record, value, new)
    rows: dict[str, Any] = record[value.section]  # type: ignore[literal-required]
    row = rows[value.row]
    if _is_place(row, value):
        return _with_place(record, value, new)
    if value.key == LOAD:
        new = {**row[LOAD], "vector" if "vector" in row[LOAD] else "values": new}
    elif value.key == MOTION and _is_table(row[MOTION]):
        new = {**row[MOTION], "values": new}
    elif value.place is not None:
        new = [new if i == value.place else other for i, other in enumerate(row[value.key])]
    return {**record, value.section: {**rows, value.row: {**row, value.key: new}}}  # type: ignore[misc]


def _with_com(record: Record, name: str, new: Any) -> Record:
    """The record with another centre of mass of a body, from which all points of the body count."""
    body = record["bodies"][name]
    change = np.subtract(new, body.get(COM, [0.0] * 3))
    pivot = body["pivot"]
    pivot = pivot and {**pivot, "com": (pivot["com"] + change).tolist()}
    bodies = {**record["bodies"], name: {**body, "com": [*new], "pivot": pivot}}
    shift = {name: -change}
    joints = {key: _shifted(row, partners(row), shift) for key, row in record["joints"].items()}
    forces = {key: _shifted(row, row.get("bodies", ()), shift) for key, row in record["forces"].items()}
    return {**record, "bodies": bodies, "joints": joints, "forces": forces}  # type: ignore[typeddict-item]


def _shifted(row: Any, bodies: Sequence[str], shift: Mapping[str, Array]) -> Any:
    """A joint or a force whose points on some bodies have moved; itself if it has none there."""
    if POINTS not in row or not shift.keys() & {*bodies}:
        return row
    ends = zip(bodies, row[POINTS], strict=False)
    points = [(np.add(x, shift[who]) if who in shift else np.array(x)).tolist() for who, x in ends]
    found = {**row, POINTS: points}
    if "slide_point" in row and bodies[0] in shift:
        found["slide_point"] = np.add(row["slide_point"], shift[bodies[0]]).tolist()
    return found


def _with_joint(record: Record, value: Value, new: Any) -> Record:
    """The record with another point of a joint, also of its motions and in couplings.

    Both points of a joint move together as they do where its angles are zero and its triads agree.
    """
    joint = record["joints"][value.row]
    bodies, change = partners(joint), np.subtract(new, value_in(record, value))
    shift = {bodies[max(value.place or 0, 0)]: change}
    if value.place == BOTH:
        first, second = np.array(joint["triads"])
        shift[bodies[1]] = second @ first.T @ change
    joints = {
        name: _shifted(row, bodies, shift) if value.row in (name, row.get("of"), row.get("coupled")) else row
        for name, row in record["joints"].items()
    }
    return {**record, "joints": joints}


def _with_place(record: Record, value: Value, new: Any) -> Record:
    """The record with another point or radius of a place of a tendon, in the pieces that end there.

    On a drum it stays fastened where it was, and its length without tension stays.
    """
    forces: Any = {**record["forces"]}
    for piece, end in pieces_at(pieces_of(record, value.row), value.place or 0):
        row = forces[piece]
        if value.key == RADIUS:
            forces[piece] = {**row, ("radius_a", "radius_b")[end]: new}
        else:
            forces[piece] = {**row, POINTS: [new if i == end else point for i, point in enumerate(row[POINTS])]}
    return {**record, "forces": forces}


def moved(record: Record, value: Value, change: float) -> Record:
    """The record with a number that is greater by `change`, which is not checked."""
    old = value_in(record, value)
    if value.entry is None:
        return replaced(record, value, old + change)
    return replaced(record, value, _with_entry(old, value, np.asarray(old)[value.entry] + change).tolist())


def _with_entry(old: Any, value: Value, new: float) -> Any:
    """An array with another entry; two in a symmetric matrix."""
    values = np.array(old, dtype=float)
    values[value.entry or ()] = new
    if value.key == "inertia" or (value.parameter and value.parameter.valid in MATRICES):
        values[(value.entry or ())[::-1]] = new
    return values


def _equal(given: object, old: Any) -> bool:
    """Whether a value is the present one."""
    if isinstance(given, float) and isinstance(old, float):
        return given == old
    return np.array_equal(given, old)  # type: ignore[arg-type]


# ---- how a value is read ----


def _positive(name: str, given: Any, old: Any) -> float:
    return number(name, given, positive=True)


def _inertia(name: str, given: Any, old: Any) -> Any:
    return inertia_matrix(name.removesuffix(".inertia"), given).tolist()


def _same_shape(name: str, given: Any, old: Any) -> Any:
    """An array of the shape that the value had; a single number is accepted for an array of one."""
    shape = np.shape(old)
    values = array(name, given, shape, *([()] if shape == (1,) else []))
    return values.reshape(shape).tolist()


def _curve(name: str, given: Any, old: Any) -> Any:
    values = array(name, given, np.shape(old))
    if not (np.diff(values[0]) > 0).all():
        raise ValueError(f"{name}: ascending values expected in the first row, got {values[0]}")
    return values.tolist()


def _motion(name: str, given: Any, old: Any) -> Any:
    """Pieces with ascending times; the values of a table, whose rows are no pieces."""
    if np.shape(old)[1] in (1, TURNS, 2 * TURNS):
        return _same_shape(name, given, old)
    values = array(name, given, np.shape(old))
    if not (np.diff(values[:, 0]) > 0).all():
        raise ValueError(f"{name}: ascending times expected in the first column, got {values[:, 0]}")
    return values.tolist()


def _number(name: str, given: Any, old: Any) -> float:
    return number(name, given)


_READERS: Final[Mapping[str, Callable[[str, Any, Any], Any]]] = {
    "mass": _positive,
    RADIUS: _positive,
    "inertia": _inertia,
    GRAVITY: _same_shape,
    LOAD: _same_shape,
    POINTS: _same_shape,
    COM: _same_shape,
    CURVES: _curve,
    LIMITS: _number,
    MOTION: _motion,
}
