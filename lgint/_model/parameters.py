"""The parameters of forces and joints, as the rows of the core declare them: how they are named, read and checked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import numpy as np

from lgint import _core
from lgint._args import Array, array, choice

MATRICES: Final = ("symmetric", "semidefinite")
DATA: Final = "data"  # of the values that are constant or change with time, which a record has as `load`
SOURCE: Final = ("source", DATA)
ROUNDED: Final = 1e-12  # asymmetry of a matrix, as a part of its largest entry, that counts as round-off


class Parameter(NamedTuple):
    """A parameter of an element."""

    indices: tuple[int, int]  # of the element among all, and in its row
    name: str
    unit: str
    doc: str
    shape: tuple[int, ...] | None  # None: any number of values
    valid: str  # "any", "positive", "nonnegative", "unit vector", "rotation", "symmetric", "semidefinite" or "choice"
    axes: str  # in which it is given: "inertial", or those of the "first" or "second" body
    default: str  # "required", "zero", or what has no effect at the start: "distance", "separation" or "axes"
    choices: list[str]
    of_shape: bool  # a length of a shape, much larger than the depths that change with it

    @property
    def varies(self) -> bool:
        """Whether a model that has been built can take another value."""
        return self.shape is not None and self.valid != "choice"

    def read(self, what: str, given: Any) -> Any:
        """A value as the record holds it: a number, a list, or the name of a choice.

        A symmetric matrix may be given by its diagonal, and by one number if all its values have one unit.
        """
        if self.valid == "choice":
            return choice(what, given, self.choices)
        if self.shape is None:  # what a function of the builder has checked
            return given
        values = array(what, given, *self._shapes)
        if values.shape != self.shape:
            values = np.diag(np.broadcast_to(values, self._shapes[1]))
        if self.valid in MATRICES and np.abs(values - values.T).max() <= ROUNDED * np.abs(values).max():
            values = (values + values.T) / 2
        expected = _core.expected(*self.indices, values.ravel())
        if expected:
            got = np.asarray(given, dtype=float)
            raise ValueError(f"{what}: {expected} expected, got {f'{got:g}' if got.ndim == 0 else got}")
        return values.tolist()

    def turned(self, value: Any, turn: Array) -> Array:
        """A value in other axes: `turn` (3, 3) leads to them."""
        given = np.array(value)
        T = np.kron(np.eye(len(given) // 3), turn)
        if given.ndim == 1 or self.valid == "rotation":
            vectors: Array = T @ given
            return vectors
        turned: Array = T @ given @ T.T
        return (turned + turned.T) / 2 if self.valid in MATRICES else turned

    @property
    def _shapes(self) -> list[tuple[int, ...]]:
        shape = self.shape or ()
        if self.valid not in MATRICES or not shape:
            return [shape]
        return [shape, shape[:1], *([()] if "," not in self.unit else [])]


class Declared(NamedTuple):
    """An element of the core, as its row declares it."""

    family: str  # "body", "force" or "joint"
    frames: int  # on how many bodies it acts
    parameters: Mapping[str, Parameter]
    whole: bool  # whether its parameters alone determine it, without a function, a control, a table or a joint


def _declared(element: int, row: Mapping[str, Any]) -> Declared:
    parameters = {
        entry["name"]: Parameter((element, i), **{key: entry[key] for key in Parameter._fields[1:]})
        for i, entry in enumerate(row["parameters"])
    }
    needs_more = (
        row["law"] or row["control"] or row["continues"] or row["locked"] is not None or row["family"] == "body"
    )
    whole = not needs_more and all(entry.shape is not None for entry in parameters.values())
    return Declared(row["family"], row["nframes"], parameters, whole)


DECLARED: Final = {row["name"]: _declared(i, row) for i, row in enumerate(_core.ELEMENTS)}
WHOLE: Final = [name for name, declared in DECLARED.items() if declared.whole]
CARRIERS: Final = DECLARED["spherical"].parameters["carrier"].choices
AXES: Final = DECLARED["force"].parameters["axes"].choices


def row_of(entry: Mapping[str, Any]) -> str:
    """The name of the row of a force or a joint of the record; for one on a joint of a link, of its parameters."""
    kind: str = entry["kind"]
    if "joint" in entry:
        return f"slide_{kind}" if entry["coordinate"] == "slide" else f"joint_{kind}"
    return "force_law" if kind == "law" else kind


def declared_by(entry: Mapping[str, Any]) -> Mapping[str, Parameter]:
    """The parameters of a force or a joint of the record; joints that are in trees alone have no row, and none."""
    row = DECLARED.get(row_of(entry))
    return row.parameters if row else {}
