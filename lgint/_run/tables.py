"""Trajectories as labelled tables: an xarray Dataset or a pandas DataFrame."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from lgint._args import Array
from lgint._model.missing import MissingFunctionError
from lgint._model.model import Model
from lgint._model.record import MINIMAL
from lgint._model.system import System
from lgint._rotation import continuous, quaternion_of_matrix
from lgint._run.methods import shown_options
from lgint._run.states import States
from lgint._state.bodies import UNSTABLE

if TYPE_CHECKING:
    from pandas import DataFrame
    from xarray import Dataset

AXES = {"axis": list("xyz"), "quaternion_part": list("wxyz")}


class Quantity(NamedTuple):
    """A quantity at every state, (n, ...), with the names of its axes after the first."""

    name: str
    values: Array
    axes: tuple[str, ...]
    units: str  # "" where they differ along an axis
    about: str


def dataset(run: States) -> Dataset:
    """The run as a Dataset."""
    try:
        import xarray
    except ImportError as error:
        raise ImportError("to_xarray needs xarray: pip install 'lgint[tables]'") from error

    found = list(_quantities(run))
    rows, row_attributes = _rows(run)
    used = {axis for quantity in found for axis in quantity.axes}
    labels = {axis: np.array(names, dtype=str) for axis, names in _labels(run).items() if axis in used}
    variables = {q.name: ((rows, *q.axes), q.values, _attributes(q)) for q in found}
    about = {"model": repr(run.model), "reference": run.model.reference}
    about |= {"method": run.method, "options": shown_options(run.method, run.options)}
    return xarray.Dataset(variables, {rows: (rows, run.t, row_attributes), **labels}, about)


def frame(run: States) -> DataFrame:
    """The run as a DataFrame."""
    try:
        import pandas
    except ImportError as error:
        raise ImportError("to_pandas needs pandas: pip install 'lgint[tables]'") from error

    found, labels, (rows, _) = list(_quantities(run)), _labels(run), _rows(run)
    columns = [(q.name, *label) for q in found for label in _column_labels(q, labels)]
    values = np.concatenate([q.values.reshape(len(run), -1) for q in found], axis=1)
    table = pandas.DataFrame(
        values,
        index=pandas.Index(run.t, name=rows),
        columns=pandas.MultiIndex.from_tuples(columns, names=["quantity", "name", "component"]),
    )
    table.attrs["units"] = {q.name: q.units for q in found if q.units}
    return table


def _rows(run: States) -> tuple[str, dict[str, str]]:
    """The name of the first axis and its attributes."""
    return run.abscissa.name, {"units": run.abscissa.units, "long_name": run.abscissa.about}


def _attributes(quantity: Quantity) -> dict[str, str]:
    units = {"units": quantity.units} if quantity.units else {}
    return {"long_name": quantity.about, **units}


def _column_labels(quantity: Quantity, labels: dict[str, list[str]]) -> list[tuple[str, str]]:
    """The name and the component of each column of a quantity; "" for axes that it does not have."""
    if not quantity.axes:
        return [("", "")]
    numbers = [[*map(str, range(length))] for length in quantity.values.shape[1:]]
    names, *components = (labels.get(axis, given) for axis, given in zip(quantity.axes, numbers, strict=True))
    return [(name, ",".join(component)) for name in names for component in product(*components)]


# ---- quantities ----


PARTS = {
    "q": ("coordinate", "coordinates"),
    "v": ("speed", "velocities"),
    "vdot": ("speed", "accelerations"),
    "lam": ("row", "multipliers of the constraint rows"),
}


def _quantities(run: States) -> Iterator[Quantity]:
    """Saved parts of the states, and quantities computed from them."""
    yield Quantity("h", run.h, (), "s", "size of the step that ended here")
    yield Quantity("error", run.error, (), "1", "error of that step divided by the tolerance")
    for name, (axis, about) in PARTS.items():
        if name in vars(run):
            yield Quantity(name, getattr(run, name), (axis,), "", f"{about}, in the formulation of the model")
    if "p" in run.extra:
        yield Quantity("p", run.extra["p"], ("speed",), "", "momenta, in the formulation of the model")
    if UNSTABLE in run.extra:
        about = "number of directions in which the equilibrium is unstable, -1 if it is not known"
        yield Quantity(UNSTABLE, run.extra[UNSTABLE][:, 0], (), "1", about)
    for name, values in run.saved.items():
        yield Quantity(name, values, tuple(f"{name}_axis{i}" for i in range(1, values.ndim)), "", "saved by the run")
    if "q" in vars(run) and "v" in vars(run):
        yield from _energies(run)
    if isinstance(run.model, Model) and "q" in vars(run) and "v" in vars(run):
        yield from _of_bodies(run, run.model)
    if "mem" in vars(run) and isinstance(run.model, Model) and "q" in vars(run):
        yield from _of_joints(run)


def _of_bodies(run: States, model: Model) -> Iterator[Quantity]:
    axes = ("body", "axis")
    x, R, xdot, omega = model.motions(list(model.bodies), run.q, run.v, run.clock)
    turns = continuous(quaternion_of_matrix(R))
    yield Quantity("position", x, axes, "m", "position of the centre of mass, inertial")
    yield Quantity("quaternion", turns, ("body", "quaternion_part"), "1", "rotation from body to inertial axes")
    yield Quantity("velocity", xdot, axes, "m/s", "velocity of the centre of mass, inertial")
    yield Quantity("angular_velocity", omega, axes, "rad/s", "angular velocity in body axes")


def _energies(run: States) -> Iterator[Quantity]:
    """The energies; none if the system has no energy, or defines it by a function that its file does not hold."""
    with suppress(ValueError, MissingFunctionError):
        kinetic, potential = run.energy("kinetic"), run.energy("potential")
        yield Quantity("kinetic_energy", kinetic, (), "J", "kinetic energy")
        yield Quantity("potential_energy", potential, (), "J", "potential energy, of gravity and springs")


def _of_joints(run: States) -> Iterator[Quantity]:
    if run.angle_names:
        yield Quantity("joint_angle", run.joint_angles(), ("joint",), "rad", "angles of joints, counting full turns")


# ---- labels ----


def _labels(run: States) -> dict[str, list[str]]:
    """The names along every axis."""
    labels = {"coordinate": _coordinates(run.model, 0), "speed": _coordinates(run.model, 1), "row": run.row_names}
    if isinstance(run.model, Model):
        labels |= {"body": list(run.model.bodies), "joint": run.angle_names}
    return labels | AXES


def _coordinates(model: System, level: int) -> list[str]:
    """Names of the coordinates (`level` 0) or velocities (1): joints of trees, states of controls, else the body and a
    number.
    """
    width = (model.nq, model.nv)[level]
    if not isinstance(model, Model):
        return [f"{'qv'[level]}[{i}]" for i in range(width)]
    names = [""] * width
    begins = [block[2:4][level] for block in model.core.blocks]
    for name, body in model.bodies.items():
        if body["formulation"] == MINIMAL:
            continue
        first = begins[body["block"]]
        last = min((begin for begin in begins if begin > first), default=width)
        names[first:last] = [f"{name}[{i}]" for i in range(last - first)]
    for name, joint in model.joints.items():
        if joint.get("holds"):
            indices = model.joint_indices(name)
            first, width = indices.held[level]
            first += begins[indices.blocks[1]]
            names[first : first + width] = [name] if width == 1 else [f"{name}[{i}]" for i in range(width)]
    for name, own in model.control_states.items() if level else ():
        names[own] = [f"{name}.{state}" for state in model.controls[name]["states"]]
    return names
