"""ModelBuilder: bodies, joints and forces by name, checked and turned into the record of a `Model`.

Two rules hold for all functions. `point` and `axis` are inertial, in the start configuration; `local_point` and names
that end in `_a` and `_b` are in the axes of the body, the first or the second, from its centre of mass (on the ground:
inertial, from the origin).
The formulation is a property of the body: it may differ from body to body, and no joint or force depends on it.
"""

from __future__ import annotations

from types import FunctionType
from typing import TYPE_CHECKING, NoReturn

import numpy as np

from lgint._args import Array, choice, guess, largest
from lgint._build import redundancy
from lgint._build.body import START_TOLERANCE, Body, row, states
from lgint._build.flexible import ModalBody
from lgint._build.joints import MEANT
from lgint._build.rods import RodBuilder
from lgint._build.rolling import RollingBuilder
from lgint._model.collector import uncollected
from lgint._model.compile import value_count
from lgint._model.compiled import check_tangent
from lgint._model.joints import JOINTS
from lgint._model.model import Model
from lgint._model.record import BodyRow, ControlRow, Record
from lgint._model.series import model_of


class ModelBuilder(RodBuilder, RollingBuilder):
    """Collects bodies, joints, springs and forces; `build` makes the model.

    Parameters
    ----------
    gravity : array_like, shape (3,)
        Acceleration of gravity in inertial axes, m/s^2.
    formulation : str
        Of the bodies that do not name their own, see `add_body`.
    """

    if not TYPE_CHECKING:  # type checkers find the names without it

        def __getattr__(self, name: str) -> NoReturn:
            raise AttributeError(f"a ModelBuilder has no attribute {name!r}{_suggestion(name)}")

    def build(self, start: str = "check", redundant: str = "error") -> Model:
        """The model, after a check that the start agrees with the joints and that no joint is redundant.

        Parameters
        ----------
        start : str
            "check": a start that violates a joint raises. "project": the nearest consistent positions and velocities
            (in the mass metric) replace it.
        redundant : str
            Constraint rows that follow from those of joints added before: "error" names them; "drop" makes them
            inactive, with multipliers of zero, and `Model.dropped_rows` names them (a run chooses other rows where
            those in use become dependent); "minimum_norm" runs in the same way, and `Trajectory.reaction` shares the
            reactions among all rows so that the multipliers are smallest.

        Returns
        -------
        Model
            The compiled model, which no later call of the builder changes.

        Raises
        ------
        ValueError
            If there is no body, the start violates a joint, constraints are redundant or contradict each other, or a
            control reads something that does not exist, or is compiled and does not write the tangent that it should.
        """
        choice("start", start, ("check", "project"))
        if not self._bodies:
            raise ValueError("; ".join(["a model needs at least one body; see add_body", *self._grounded]))
        for name in self._bodies.keys() & self._without_joint:
            self._check_coordinates(name)
        with uncollected():
            model = redundancy.resolve(model_of(self._record(redundant)), start, redundant)
        if start == "project":
            return redundancy.closed(model)
        check_start(model)
        return model

    def _record(self, redundant: str) -> Record:
        """The record of what has been added so far."""
        q0, v0 = self._start()
        controls = self._control_rows()
        if controls:
            v0 = np.concatenate([v0, *(_starts_of(control) for control in controls.values())])
        record: Record = {
            "gravity": self._gravity.tolist(),
            "bodies": {name: self._row(name) for name in self._bodies},
            "supports": {name: support.row for name, support in self._supports.items()},
            "joints": dict(self._joints),
            "forces": dict(self._forces),
            "rods": dict(self._rods),
            "redundant": redundant,
            "dropped": {},
            "q0": q0,
            "v0": v0,
            "reference": "",
            "origin": None,
        }
        if controls:
            record["controls"] = controls
            _check_tangents(controls, q0, v0)
        return record

    def _start(self) -> tuple[Array, Array]:
        """Coordinates and velocities of all blocks."""
        rigid = states([part for part in self._parts if isinstance(part, Body)])
        q, v = list[Array](), list[Array]()
        for part in self._parts:
            coordinates, velocities = next(rigid) if isinstance(part, Body) else part.state()
            q += coordinates
            v += velocities
        return np.concatenate(q), np.concatenate(v)

    def _control_rows(self) -> dict[str, ControlRow]:
        """The records of controls, whose states are blocks behind those of bodies."""
        rows, block = dict[str, ControlRow](), len(self._parts)
        for name, control in self._controls.items():
            own = bool(control["states"]) and not control["every"]
            rows[name] = {**control, "reads": self._readable(name), "block": block if own else None}
            block += own
        return rows

    def _row(self, name: str) -> BodyRow:
        part = self._parts[self._blocks[name]]
        return (
            part.row(self._blocks[name]) if isinstance(part, ModalBody) else row(self._bodies[name], self._blocks[name])
        )


def _starts_of(row: ControlRow) -> list[float]:
    """The start values of states that are a part of v."""
    return [] if row["block"] is None else [*row["states"].values()]


def _check_tangents(controls: dict[str, ControlRow], q0: Array, v0: Array) -> None:
    """ValueError if a compiled control does not write its tangent at the start."""
    for name, control in controls.items():
        n, starts = value_count(control), [*control["states"].values()]
        check_tangent(f"control {name!r}", control["function"], 0.0, q0, v0, starts, n, 2 * n * v0.size)


def _suggestion(name: str) -> str:
    """What a name that the builder does not have may stand for: `add_revolute_joint` for a kind of `add_joint`."""
    kind = name.removeprefix("add_").removesuffix("_joint")
    kind = MEANT.get(kind, kind)
    if name.startswith("add_") and kind in JOINTS:
        return f" (did you mean 'add_joint(\"{kind}\", ...)'?)"
    return guess(name, [public for public in dir(ModelBuilder) if not public.startswith("_")])


def _rename_functions() -> None:
    """Python's messages about arguments name the class that users know, not the one that holds a function."""
    for part in ModelBuilder.__mro__[:-1]:
        for name, function in vars(part).items():
            if isinstance(function, FunctionType):
                function.__qualname__ = f"{ModelBuilder.__name__}.{name}"


_rename_functions()


def check_start(model: Model) -> None:
    """ValueError if the start of `model` is not certain or not consistent.

    It names the edge of a rod that may be turned to either side; the constraint row, the level and the residual.
    """
    if model.core.nmem:
        model.core.remember(0.0, model.q0, model.v0, np.zeros(model.nv), np.zeros(model.core.nmem))
    scales = {"position": 1.0, "velocity": 1.0 + largest(model.v0)}
    for (level, scale), residual in zip(scales.items(), model.core.residual(0.0, model.q0, model.v0), strict=True):
        if largest(residual) > START_TOLERANCE * scale:
            row = int(np.argmax(np.abs(residual)))
            raise ValueError(
                f"the start violates constraint {model.row_names[row]!r} at {level} level by {residual[row]:.3g}; "
                'give consistent values, or let build(start="project") find the nearest'
            )
