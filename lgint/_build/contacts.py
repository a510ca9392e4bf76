"""The part of the builder that adds contacts: forces between two shapes that touch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike

from lgint._args import Array, array, guess, number, shown
from lgint._build.elements import Where
from lgint._build.forces import ForceBuilder
from lgint._build.parts import Partner
from lgint._model.parameters import DECLARED
from lgint._model.start import FOLLOWS

Shape = Sequence[Any]  # a name and its values
SHAPES: Final = {  # by name: the shapes of their values, how they are called, and the parameters of rows
    "plane": (((3,), (3,)), "point, normal", ("origin", "normal")),
    "sphere": (((3,), ()), "center, radius", ("center", "radius")),
    "capsule": (((2, 3), ()), "ends, radius", ("end", "other_end", "radius")),
    "disc": (((3,), (3,), ()), "center, axis, radius", ("center", "axis", "radius")),
    "box": (((3,), (3,)), "center, half sizes", ("center", "half_sizes", "axes")),
}
WORDS: Final = {"half_sizes": "half sizes", "axes": "rotation"}  # what parameters are called where they differ
REGULARIZATION: Final = 1e-3  # m/s
_STEM, _BRISTLE = "contact_", "_bristle"  # of the names of rows
_ROWS: Final = [row.removeprefix(_STEM) for row in DECLARED if row.startswith(_STEM) and row not in FOLLOWS]
PAIRS: Final = [tuple(row.split("_")) for row in _ROWS]


class ContactBuilder(ForceBuilder):
    """The part of `ModelBuilder` that adds contacts."""

    def add_contact(
        self,
        a: Partner,
        b: Partner,
        *,
        shapes: Sequence[Shape],
        stiffness: float,
        exponent: float = 1.0,
        damping: float = 0.0,
        friction: float = 0.0,
        regularization: float = REGULARIZATION,
        bristle: ArrayLike | None = None,
        name: str | None = None,
    ) -> str:
        """Adds a contact: a force between two shapes, one fixed to each body, where they touch.

        With the depth d, its rate d' and the sliding velocity u at a point, the normal force is
        N = stiffness d^exponent (1 + damping d'), or zero where this is negative, and the friction is
        -friction N u/sqrt(|u|^2 + regularization^2), or that of bristles, which stick.

        Parameters
        ----------
        a, b : str or lgint.ground
            The two bodies.
        shapes : two tuples
            One for each body, in its axes from its COM (on the ground: inertial, from the origin): ("plane", point,
            normal), where the normal leads out of the body; ("sphere", center, radius); ("capsule", ends, radius) with
            ends of shape (2, 3); ("disc", center, axis, radius), which is flat; ("box", center, half sizes), along the
            axes of the body, or with a rotation matrix (3, 3) as a fourth entry. The page on contact says which pairs
            there are and where they touch. Boxes touch with their corners: two edges pass through each other. A disc
            against a box has no potential.
        stiffness : float
            N/m^exponent; with zero the contact exerts no force, and serves for `gap` and `State.after_impact`.
        exponent : float
            At least 1; 1.5 for elastic bodies with round surfaces (Hertz).
        damping : float
            s/m.
        friction : float
            Coefficient of friction.
        regularization : float
            The sliding speed at which friction has 1/sqrt(2) of its limit, m/s. A body on a slope creeps below it. Not
            with bristles.
        bristle : float or (float, float), optional
            Friction by bristles instead: their stiffness, N/m, and damping, N s/m. They bend until their force reaches
            the limit, and only then slide, so that nothing creeps. Such a contact has no potential.
        name : str, optional
            By which `Trajectory.force`, `contact` and `gap`, `Model.values` and messages refer to it. Default: made
            from the names of the bodies.

        Returns
        -------
        str
            Its name.

        Raises
        ------
        ValueError
            For unknown bodies and shapes, pairs of shapes that cannot touch, values out of range, values without
            effect, such as friction without stiffness, or bristles and a regularization without friction, and a name in
            use.
        """
        partners = [self._partner(who) for who in (a, b)]
        if partners[0] == partners[1]:
            raise ValueError(f"a contact needs two different partners, got {partners[0]!r} twice")
        if name is None:
            name = self._free_name("-".join(partners) + ".contact")
        if not isinstance(shapes, Sequence) or len(shapes) != 2:
            raise ValueError(f"shapes of {name!r}: two shapes expected, one for each body, got {shown(shapes)}")
        kinds = [_kind(name, shape) for shape in shapes]
        turned = _order(name, kinds)
        given: dict[str, Any] = _law(name, stiffness=stiffness, exponent=exponent, damping=damping, friction=friction)
        speed = number(f"regularization of {name!r}", regularization, positive=True)
        _refuse_without_effect(name, given, None if speed == REGULARIZATION else speed, bristle)
        if bristle is None:
            given["regularization"] = speed
        else:
            stiff = array(f"bristle of {name!r}", bristle, (), (2,))
            given |= dict(zip(("bristle", "bristle_damping"), (*np.ravel(stiff), 0.0), strict=False))
        order = (1, 0) if turned else (0, 1)
        kind = _STEM + "_".join(kinds[i] for i in order) + ("" if bristle is None else _BRISTLE)
        for side, i in zip("ab", order, strict=True):
            for key, value in _values(name, kinds[i], shapes[i]).items():
                what = f"{WORDS.get(key, key)} of the {kinds[i]} of {name!r}"
                given[f"{key}_{side}"] = DECLARED[kind].parameters[f"{key}_{side}"].read(what, value)
        self._declared(kind, [partners[i] for i in order], Where(), name, given)
        if turned:
            self._forces[name]["turned"] = True
        return name


def _law(name: str, **given: float) -> dict[str, Any]:
    """The values of the normal force, and the coefficient of friction."""
    law: dict[str, Any] = {key: number(f"{key} of {name!r}", value, nonnegative=True) for key, value in given.items()}
    if law["exponent"] < 1:
        raise ValueError(f"exponent of {name!r}: a number >= 1 expected, got {law['exponent']:g}")
    return law


def _refuse_without_effect(name: str, law: dict[str, Any], speed: float | None, bristle: ArrayLike | None) -> None:
    """ValueError for values that scale a force which is zero; speed: a regularization that is given."""
    friction = {"regularization": speed, "bristle": bristle}
    beside = {"damping": law["damping"] or None, "friction": law["friction"] or None, **friction}
    if law["exponent"] != 1:
        beside["exponent"] = law["exponent"]
    for key, value in (beside if law["stiffness"] == 0 else {}).items():
        if value is not None:
            raise ValueError(
                f"{key} of {name!r}: {shown(value)} has no effect, since a contact with stiffness = 0 exerts no force; "
                f"give a positive stiffness, or leave {key} out"
            )
    for key, value in (friction if law["friction"] == 0 else {}).items():
        if value is not None:
            raise ValueError(
                f"{key} of {name!r}: {shown(value)} has no effect without friction; give a positive friction, or leave "
                f"{key} out"
            )
    if speed is not None and bristle is not None:
        raise ValueError(f"regularization of {name!r}: bristles have none, got {speed:g}; leave it out")


def _kind(name: str, shape: Any) -> str:
    kind = shape[0] if isinstance(shape, Sequence) and not isinstance(shape, str) and len(shape) > 0 else shape
    if not isinstance(kind, str) or kind not in SHAPES:
        hint = guess(kind, [*SHAPES]) if isinstance(kind, str) else ""
        forms = "; ".join(f"({key!r}, {values})" for key, (_, values, _) in SHAPES.items())
        raise ValueError(f"shapes of {name!r}: one of {forms} expected{hint}, got {shown(shape)}")
    count = len(SHAPES[kind][0])
    if len(shape) - 1 not in ((count, count + 1) if kind == "box" else (count,)):
        raise ValueError(f"shapes of {name!r}: ({kind!r}, {SHAPES[kind][1]}) expected, got {shown(shape)}")
    return kind


def _order(name: str, kinds: list[str]) -> bool:
    """Whether the row of these shapes has the second one first; ValueError if no row has them."""
    if (*kinds,) in PAIRS:
        return False
    if (*reversed(kinds),) in PAIRS:
        return True
    known = ", ".join(f"{first} and {second}" for first, second in PAIRS)
    raise ValueError(f"shapes of {name!r}: a {kinds[0]} and a {kinds[1]} are no pair; pairs are {known}")


def _values(name: str, kind: str, shape: Shape) -> dict[str, Any]:
    """The values of a shape by the names of its parameters."""
    sizes, called, keys = SHAPES[kind]
    words = called.split(", ")
    values: list[Array] = [
        array(f"{word} of the {kind} of {name!r}", value, size)
        for word, value, size in zip(words, shape[1:], sizes, strict=False)
    ]
    if kind == "capsule":
        values[:1] = [*values[0]]
    elif kind == "box":
        values.append(array(f"rotation of the box of {name!r}", shape[3] if len(shape) > 3 else np.eye(3), (3, 3)))
    found = dict(zip(keys, values, strict=True))
    for key in ("normal", "axis"):
        if key in found:
            found[key] = _unit(f"{key} of the {kind} of {name!r}", found[key])
    return found


def _unit(what: str, axis: Array) -> Array:
    length = float(np.linalg.norm(axis))
    if length == 0:
        raise ValueError(f"{what}: a vector other than zero expected, got {axis}")
    unit: Array = axis / length
    return unit
