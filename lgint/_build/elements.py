"""The part of the builder that adds a force or a joint by the name of its row, whose parameters the row declares."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike

from lgint._args import Array, choice
from lgint._build.body import Body
from lgint._build.parts import Ends, Partner, Parts
from lgint._model.parameters import DECLARED, SOURCE, WHOLE, Parameter
from lgint._model.record import ForceRow, JointRow

Row = TypeVar("Row", ForceRow, JointRow)


class Where(NamedTuple):
    """Where an element acts, as `add_element` takes it."""

    point: ArrayLike | None = None
    local_point: ArrayLike | None = None
    point_a: ArrayLike | None = None
    point_b: ArrayLike | None = None


class ElementBuilder(Parts):
    """The part of `ModelBuilder` that adds an element by the name of its row."""

    def add_element(
        self,
        kind: str,
        *bodies: Partner,
        point: ArrayLike | None = None,
        local_point: ArrayLike | None = None,
        point_a: ArrayLike | None = None,
        point_b: ArrayLike | None = None,
        name: str | None = None,
        **parameters: Any,
    ) -> str:
        """Adds a force or a joint of any kind that its parameters determine.

        Parameters
        ----------
        kind : str
            The name of an element, such as "spring", "drag" or "distance"; the page on elements lists them with their
            parameters, units and defaults.
        *bodies : str or lgint.ground
            The body or the two bodies that it acts on.
        point : array_like, shape (3,) or, with two bodies, (2, 3), optional
            Where it acts, inertial in the start configuration: one point for both bodies, or one each.
        local_point : array_like, shape (3,), optional
            With one body: the same point in body axes from the COM. Default: the COM.
        point_a, point_b : array_like, shape (3,), optional
            With two bodies: the same points in body axes from the COM (on the ground: inertial). Default: the COMs.
        name : str, optional
            By which `Model.values` and messages refer to it. Default: made from the names of the bodies.
        **parameters
            By the names of the row. A symmetric matrix may be given by its diagonal or, if its values have one unit, by
            one number. Vectors, matrices and triads are in the axes that the row says, those of a body being its own.

        Returns
        -------
        str
            Its name.

        Raises
        ------
        ValueError
            For unknown kinds, bodies and parameters, missing or invalid ones, wrong shapes, and a name in use.
        """
        choice("kind of element", kind, WHOLE)
        return self._declared(kind, bodies, Where(point, local_point, point_a, point_b), name, parameters)

    def _declared(
        self,
        kind: str,
        bodies: Sequence[Partner],
        where: Where,
        name: str | None,
        given: Mapping[str, Any],
        stem: str = "",
    ) -> str:
        """Adds an element with the parameters of its row; its name is made from `stem`, by default its kind."""
        declared = DECLARED[kind]
        if len(bodies) != declared.frames:
            raise ValueError(f"{kind}: {_bodies(declared.frames)} expected, got {len(bodies)}")
        for key in given:
            choice(f"parameter of a {kind}", key, declared.parameters)
        if declared.frames == 1:
            return self._on_one(kind, bodies[0], where, name, given, stem or kind)
        a, b = (self._partner(who) for who in bodies)
        joins = declared.family == "joint"
        name = self._joint_name(kind, a, b, name) if joins else self._force_name(stem or kind, a, b, name)
        _refuse(kind, local_point=where.local_point)
        along = any(parameter.default == "distance" for parameter in declared.parameters.values())
        shapes = [(2, 3)] if along else [(3,), (2, 3)]
        ends = self._ends(name, a, b, where.point, where.point_a, where.point_b, *shapes)
        values = _values(kind, name, given, ends)
        if joins:
            joint = {"kind": kind, "first": a, "second": b, "points": ends.points, **values}
            return self._enter(self._joints, name, cast(JointRow, joint))
        force = {"kind": kind, "bodies": [a, b], "points": ends.points, **values}
        return self._enter(self._forces, name, cast(ForceRow, force))

    def _on_one(
        self, kind: str, body: Partner, where: Where, name: str | None, given: Mapping[str, Any], stem: str
    ) -> str:
        partner = self._moving(f"body of a {kind}", body)
        name = self._free_name(f"{partner}.{stem}") if name is None else name
        self._new_name(kind, name)
        _refuse(kind, point_a=where.point_a, point_b=where.point_b)
        at = self._attachment(name, partner, where.point, where.local_point)
        row = {"kind": kind, "bodies": [partner], "points": [at], **_values(kind, name, given, None)}
        return self._enter(self._forces, name, cast(ForceRow, row))

    def _along(self, joint: str, coordinate: str) -> JointRow:
        """The entries of a row along a coordinate of a joint: its ends and triads, and its angle at the start."""
        there = self._joints[joint]
        first, second = there["points"]
        row: JointRow = {
            "kind": there["kind"],
            "first": there["first"],
            "second": there["second"],
            "points": [there.get("slide_point", first) if coordinate == "slide" else first, second],
            "triads": there["triads"],
        }
        if "angle" in there:
            row["angle"] = there["angle"]
        return row

    # ---- names ----

    def _force_name(self, kind: str, a: str, b: str, name: str | None) -> str:
        name = self._free_name(f"{a}-{b}.{kind}") if name is None else name
        self._new_name(kind, name)
        return name

    def _joint_name(self, kind: str, a: str, b: str, name: str | None) -> str:
        if a == b:
            raise ValueError(f"a {kind} joint needs two different partners, got {a!r} twice")
        name = self._free_name(f"{a}-{b}") if name is None else name
        self._new_name("joint", name)
        return name

    def _enter(self, rows: dict[str, Row], name: str, row: Row) -> str:
        """Adds a force or a joint under a name that is free."""
        self._names[name] = None
        rows[name] = row
        return name

    def _add_parts(self, what: str, name: str, rows: dict[str, ForceRow]) -> str:
        """Adds the rows that make up one force, once all of them are known, and returns its name."""
        for part in rows:
            self._new_name(what, part)
        for part, row in rows.items():
            self._enter(self._forces, part, row)
        self._names[name] = None
        return name


def _bodies(count: int) -> str:
    return "one body" if count == 1 else "two bodies"


def _refuse(kind: str, **arguments: object) -> None:
    for name, value in arguments.items():
        if value is not None:
            raise ValueError(f"{name}: a {kind} acts on {_bodies(DECLARED[kind].frames)} and does not take it")


def _values(kind: str, name: str, given: Mapping[str, Any], ends: Ends | None) -> dict[str, Any]:
    """All parameters of an element as the record holds them, those that are not given by their defaults.

    Without values that may change with time, which the builder's functions enter as `load`.
    """
    parameters = {key: parameter for key, parameter in DECLARED[kind].parameters.items() if key not in SOURCE}
    values = {
        key: parameter.read(f"{key} of {name!r}", given[key])
        for key, parameter in parameters.items()
        if given.get(key) is not None
    }
    for key in parameters.keys() - values.keys():
        values[key] = parameters[key].read(f"{key} of {name!r}", _default(kind, name, key, values, ends))
    return {key: values[key] for key in parameters}


def _default(kind: str, name: str, key: str, given: Mapping[str, Any], ends: Ends | None) -> Any:
    """The default of a parameter that is not given: zero, or a value that has no effect at the start."""
    parameter = DECLARED[kind].parameters[key]
    if parameter.default == "zero":
        return np.zeros(parameter.shape or ())
    if parameter.default == "distance" and ends:
        return ends.length
    if parameter.default == "separation" and ends:
        return ends.apart if parameter.axes == "inertial" else _body(parameter, ends).components(ends.apart)
    if parameter.default == "axes" and ends:
        return _agreeing(kind, parameter, given, ends)
    unit = f" ({parameter.unit})" if parameter.unit else ""
    raise ValueError(f"{kind} {name!r} needs {key}: {parameter.doc}, shape {parameter.shape}{unit}")


def _agreeing(kind: str, own: Parameter, given: Mapping[str, Any], ends: Ends) -> Array:
    """The triad on one body that agrees at the start with that on the other one; inertial axes if that has none."""
    inertial = np.eye(3)
    for key, other in DECLARED[kind].parameters.items():
        if other.default == "axes" and other is not own and key in given:
            inertial = _body(other, ends).R @ np.array(given[key])
    return _body(own, ends).components(inertial)


def _body(parameter: Parameter, ends: Ends) -> Body:
    """The body in whose axes a parameter is given."""
    return ends.bodies[parameter.axes == "second"]
