"""The state in which a run begins: the start of its model, or the end of another run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import numpy as np

from lgint import _core
from lgint._args import Array, listing, number
from lgint._model.compare import same_record
from lgint._model.missing import MissingFunctionError
from lgint._model.model import Model, same_shape
from lgint._model.record import BodyRow, mode_count
from lgint._model.start import space_names
from lgint._model.system import System
from lgint._run import older
from lgint._run.trajectory import Trajectory

_FIXED: Final = {row["name"] for row in _core.NODES if row["position"] == "fixed"}
TOLERANCE = 1e-8  # m, rad, and their rates: additional violation of the constraints of another model that is accepted


class Start(NamedTuple):
    """A state, and the data with which the core resumes a run; for a fresh start only the memory."""

    t: float
    q: Array
    v: Array
    memory: dict[str, Any]

    def inheriting(self, options: dict[str, Any]) -> Start:
        """The same start with the options of the resumed run, which the core takes as defaults."""
        return self._replace(memory={**self.memory, "options": options}) if options else self


def start_option(start: Trajectory | str | None, options: dict[str, Any]) -> Trajectory | None:
    """Moves a `start` that is a string to the method's options; returns the run to resume, if any."""
    if isinstance(start, str):
        options["start"] = start
        return None
    return start


def start_of(
    model: System, method: str, t0: float, start: Trajectory | None, options: Mapping[str, Any] | None = None
) -> Start:
    """The model's start at `t0`, or the end of the run `start`, which must have used this method and model.

    The model may have other parameters than it had in that run. Then accelerations and multipliers are computed afresh,
    as at a kink; q and v are kept and have to satisfy the constraints. If the model's start is the end of a run that
    had this method and these `options`, that run continues.
    """
    if start is None:
        begin = number("t0", t0)
        return Start(begin, model.q0, model.v0, _memory_of(model, begin, method, options or {}))
    if not isinstance(start, Trajectory):
        raise ValueError(f"start: a trajectory expected, got {type(start).__name__}")
    if start.method != method:
        raise ValueError(
            f"start: a run by {start.method!r} cannot be resumed by {method!r}; model.with_state(start) gives a model "
            "from which another method can start"
        )
    if not len(start.end["t"]):
        raise ValueError("start: this trajectory has no state")
    _check_shape(model, start.model)
    end = {name: values[-1] for name, values in start.end.items()}
    changed = not _is_same(model, start.model)
    if changed:
        _check_constraints(model, start.model, end)
        _check_rotations(model, start.model, end)
    return Start(float(end["t"]), end["q"], end["v"], {**end, "carry": start.carry, "changed": changed})


def _memory_of(model: System, t0: float, method: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """The memory with which a model starts, and that of the run from which its start was taken, if any."""
    memory, known = {"mem": model.mem0}, model._taken
    if known is None or not _is_within(model, t0, known.residual):
        return memory
    if known.end is not None and known.method == method and _are_same(known.options, options):
        if model.core is known.core or (known.record and same_record(_parameters(model), _without_start(known.record))):
            return {**known.end, "changed": False}
    return {**memory, "checked": True}


def _is_within(model: System, t0: float, known: Array) -> bool:
    """Whether the start violates no constraint by more than a state did, besides what any start may do."""
    if known.shape != (2, model.nc):
        return False
    residual = np.abs(np.stack(model.core.residual(t0, model.q0, model.v0, model.mem0)))
    sizes = [[1 + np.abs(part).max(initial=0)] for part in (model.q0, model.v0)]
    return bool((residual <= known + TOLERANCE * np.array(sizes)).all())


def _are_same(options: Mapping[str, Any], given: Mapping[str, Any]) -> bool:
    """Whether two runs have the same options."""
    return options.keys() == given.keys() and all(np.array_equal(options[name], given[name]) for name in given)


# ---- the same model? ----


def _is_same(model: System, other: System) -> bool:
    """Whether two models of the same shape have the same parameters; their starts may differ."""
    return model.core is other.core or same_record(_parameters(model), _parameters(other))


def _parameters(model: System) -> dict[str, Any]:
    return _without_start(model.record())


def _without_start(record: Mapping[str, Any]) -> dict[str, Any]:
    start = ("q0", "v0", "mem0", "exact", "reference", "origin")
    return {name: value for name, value in record.items() if name not in start}


def _check_shape(model: System, other: System) -> None:
    """ValueError unless q, v, lam and the memory have the same meaning in both models."""
    if model.core is other.core or same_shape(model, other):
        return
    here, there = _shape(model), _shape(other)
    for what, mine in here.items():
        if mine != there[what]:
            if what == "constraint rows" and older.lacks_rows(other.record(), model.record()):
                raise ValueError(
                    "start: this trajectory is of an older version, which removed redundant rows permanently; continue "
                    "with its own model, start.model, or start afresh from model.with_state(start, project=True)"
                )
            raise ValueError(
                f"start: this trajectory belongs to another model; its {what} are {_shown(there[what])}, those of the "
                f"model given are {_shown(mine)}"
            )


def _shape(model: System) -> dict[str, list[str]]:
    blocks = model.core.blocks
    shape = {"kinds of models": [type(model).__name__]}
    if isinstance(model, Model):
        kinds = {name: blocks[body["block"]][0] for name, body in model.bodies.items()}
        shape["bodies"] = [f"{name} ({_coordinates(model.bodies[name], kind)})" for name, kind in kinds.items()]
        shape["joints"] = [
            f"{name} ({joint['kind']}, {joint['first']}, {joint['second']})" for name, joint in model.joints.items()
        ]
        shape["offsets of the bodies in q"] = [f"{blocks[body['block']][2]}" for body in model.bodies.values()]
    else:
        shape["blocks"] = space_names(model)
    return {**shape, "constraint rows": model.row_names, "memory sizes": [str(model.core.nmem)]}


def _coordinates(body: BodyRow, kind: str) -> str:
    """The formulation of a body, whether it is fixed at a point, and how many modal coordinates it has."""
    modes = mode_count(body)
    words = [body["formulation"], "fixed at a point" if kind in _FIXED else "", f"{modes} modes" if modes else ""]
    return ", ".join(filter(None, words))


def _shown(items: list[str]) -> str:
    return ", ".join(items) if len(items) < 4 else listing(items)


# ---- a state under other parameters ----


def _check_constraints(model: System, other: System, end: dict[str, Array]) -> None:
    """ValueError if the state violates a constraint of `model` by more than it did in the model of its own run."""
    here = _residuals(model, end)
    try:
        there = _residuals(other, end)
    except MissingFunctionError:
        there = np.full_like(here, np.nan)
    excess = np.abs(here) - np.abs(np.nan_to_num(there))
    if excess.size == 0 or excess.max() <= TOLERANCE:
        return
    level, row = np.unravel_index(np.argmax(excess), excess.shape)
    own = f"{abs(there[level, row]):.3g} under the run's own model"
    if np.isnan(there[level, row]):
        own = "unknown under the run's own model, whose functions were not saved"
    raise ValueError(
        f"start: with the changed parameters the last state violates {model.row_names[row]!r} by "
        f"{abs(here[level, row]):.3g} at {('position', 'velocity')[level]} level ({own}); "
        "model.with_state(q, v, project=True) makes a consistent start of it"
    )


def _residuals(model: System, end: dict[str, Array]) -> Array:
    """Residuals of the rows at position and velocity level, (2, nc)."""
    found = model.core.evaluate(float(end["t"]), end["q"], end["v"], mem=end["mem"], want=["phi", "phidot"])
    return np.stack([found["phi"], found["phidot"]])


def _check_rotations(model: System, other: System, end: dict[str, Array]) -> None:
    """ValueError if the coordinates mean different rotations, like angles from another reference rotation."""
    if not (isinstance(model, Model) and isinstance(other, Model)) or same_shape(model, other):
        return
    names = list(model.bodies)
    here, there = (m.motions(names, end["q"], end["v"])[1] for m in (model, other))
    for name, apart in zip(names, np.abs(here - there).max(axis=(1, 2)), strict=True):
        if apart > TOLERANCE:
            raise ValueError(
                f"start: with the changed parameters the coordinates of {name!r} mean a different rotation; keep its "
                "reference rotation, or start afresh from model.with_state"
            )
