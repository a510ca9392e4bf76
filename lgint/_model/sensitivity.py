"""Numbers by which a model is differentiated, and how its elements change with each of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lgint import _core
from lgint._args import Array, guess, listing
from lgint._model.compile import Description, described, parameters_of
from lgint._model.frames import Frames
from lgint._model.model import Model
from lgint._model.parameters import declared_by
from lgint._model.record import Record
from lgint._model.values import COM, POINTS, SHAPE, Value, is_interpolated, moved, value_in

_UNIT: Final = ("unit vector", "rotation")  # parameters whose entries cannot change alone


class Direction(NamedTuple):
    """How the elements of a model change with a number."""

    size: float  # of the number, or of the array to which it belongs
    places: NDArray[np.intp]  # of parameters, in the vector of all elements
    rates: Array  # their derivatives
    ends: NDArray[np.intp]  # of elements: twice their number, and one more for the second frame
    motions: Array  # (m, 6): derivatives of base and offset of the frames there


_NOTHING: Final = Direction(1.0, np.empty(0, np.intp), np.empty(0), np.empty(0, np.intp), np.empty((0, 6)))


def differentiated(model: Model, names: Sequence[str]) -> _core.Model:
    """The model of the core with derivatives of its terms by numbers of `values`; "": by none of them."""
    found = [direction(model, name) if name else _NOTHING for name in names]
    counts = np.array([(len(one.places), len(one.ends)) for one in found], np.intc).reshape(-1, 2)
    places, rates, ends, motions = (
        np.concatenate([np.empty(0), *(np.ravel(one[i]) for one in found)]) for i in range(1, 5)
    )
    return model.core.differentiated(
        np.array([one.size for one in found]),
        counts,
        places.astype(np.intc)[:, None],
        rates,
        ends.astype(np.intc)[:, None],
        motions,
    )


def number_named(model: Model, name: str, argument: str = "sensitivity", meant: str = "") -> Value:
    """Where a number stands in the record of a model; ValueError if it has none of this name, but perhaps `meant`."""
    whole = name.partition("[")[0] if isinstance(name, str) and name not in model._values else name
    if not isinstance(whole, str) or whole not in model._values:
        known = [*model._values]
        near = f" (did you mean {meant!r}?)" if meant else guess(name, known)
        raise ValueError(f"{argument}: {name!r} is not a value of this model{near}; it has {listing(known)}")
    value = model._values[whole]
    if is_interpolated(model._record, value):
        raise ValueError(
            f"{argument}: {name}: the table of a motion has no derivatives; take differences of models by "
            "with_parameters"
        )
    shape = np.shape(value_in(model._record, value))
    if value.entry is None and (shape or name != whole):
        entries = f"has the shape {shape}; name one of its entries, such as '{whole}[{_last(shape)}]'"
        raise ValueError(f"{argument}: {name!r}: {whole} {entries if shape else 'is one number, without entries'}")
    if value.parameter and value.parameter.valid in _UNIT:
        raise ValueError(f"{argument}: {name} is part of a {value.parameter.valid}, whose entries do not change alone")
    return value


def _last(shape: tuple[int, ...]) -> str:
    """The indices of the last entry of an array."""
    return ",".join(str(n - 1) for n in shape)


def moves_start(model: Model, name: str) -> bool:
    """Whether a number is part of the centre of mass of a free body, whose coordinates are those of that point."""
    value = number_named(model, name)
    return value.key == COM and not model._starts_by_joint(value.row)


def direction(model: Model, name: str) -> Direction:
    """How the elements change with a number, of which their parameters are polynomials of the second degree at most."""
    value = number_named(model, name)
    record, size = model._record, _size(model, value)
    step = 2.0 ** np.round(np.log2(size))
    if value.key in SHAPE:
        return _of_shape(record, value, size, step, carries=value.key == POINTS or moves_start(model, name))
    if value.key == "gravity" and not any(record["gravity"]):
        raise ValueError(
            f"sensitivity: {name}: without gravity the model has no weights; give it another gravity first"
        )
    more, less = (
        parameters_of(model._compiled, model._parameters, moved(record, value, s), {value.owner}) for s in (step, -step)
    )
    return Direction(size, *_changes(more, less, step), np.empty(0, np.intp), np.empty((0, 6)))


def _size(model: Model, value: Value) -> float:
    """The size of the number, or if it is zero of the other entries of its array, or one.

    Lengths of shapes count as smaller, since they are much larger than the depths that change with them, and points of
    shapes are as large as these are.
    """
    if value.key in (POINTS, COM):  # as large as bodies are, by their points, however far the ground's are
        known = _described(model._record)
        return float(np.abs(known.points[known.frames[:, 0] >= 0]).max(initial=0) or 1.0)
    whole = np.abs(np.asarray(value_in(model._record, value), dtype=float))
    own = whole[value.entry] if value.entry is not None else whole
    size = float((own if own > 1e-6 * np.max(whole) else np.max(whole)) or 1.0)
    if value.parameter is None or not value.parameter.of_shape:
        return size
    return (size if value.entry is None else _reach(model._record["forces"][value.row]) or size) / 64


def _reach(force: Any) -> float:
    """The largest length of the shapes of a contact on its bodies, however far those on the ground are."""
    lengths = [key for key, parameter in declared_by(force).items() if parameter.of_shape]
    on = dict(zip("ab", force["bodies"], strict=True))
    return max((float(np.abs(force[key]).max()) for key in lengths if on[key[-1]] != "ground"), default=0.0)


def _changes(more: Array, less: Array, step: float) -> tuple[NDArray[np.intp], Array]:
    """The places where two arrays differ, and the differences as derivatives."""
    places = np.flatnonzero(more != less)
    return places, (more - less)[places] / (2 * step)


def _of_shape(record: Record, value: Value, size: float, step: float, *, carries: bool) -> Direction:
    """The same for a number on which the points of frames depend, and those of the joints of trees if it `carries`."""
    more, less = (_described(moved(record, value, s)) for s in (step, -step))
    places, rates = _changes(more.parameters, less.parameters, step)
    (first, there), (second, _) = _ends(more), _ends(less)
    motions = (first - second) / (2 * step)
    bodies = Frames(record).elements()[0]
    moves: Any = motions.any(axis=1)
    if carries and (places < more.numbers[:bodies, 2].sum()).any():
        moves[2 * bodies :] = True  # a joint of a tree carries what acts on its links
    acts = np.repeat([kind != "states" for kind, *_ in more.elements], 2)  # a control's own values are on no frame
    ends = np.flatnonzero(moves & there & acts)
    return Direction(size, places, rates, ends, motions[ends])


def _described(record: Record) -> Description:
    return described(record, Frames(record), {})


def _ends(description: Description) -> tuple[Array, Any]:
    """Base and offset at both ends of all elements, (2 n, 6), and where elements have that end."""
    frames = description.numbers[:, :2].ravel()
    return description.points[frames], frames >= 0
