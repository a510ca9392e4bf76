"""Models: an immutable compiled system, its start, and the plain record from which both can be rebuilt."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from lgint import _core
from lgint._args import Array, array, choice, flag, guess, listing, shown
from lgint._model.compile import JointPlace, compiled, parameters_of, start_memory
from lgint._model.record import BodyRow, JointRow, Origin, Record, RodRow, mode_count, partners
from lgint._model.rod import Rod
from lgint._model.start import coordinates, last_state
from lgint._model.values import Value, changed, own_values, value_in, values_of
from lgint._rotation import valid_rotations
from lgint.modal import Modes

Kinematics = tuple[Array, Array, Array, Array]  # position, rotation, both velocities
S = TypeVar("S", bound="System")


def checked(model: object) -> System:
    """`model` if it is a model; ValueError otherwise."""
    if not isinstance(model, System):
        raise ValueError(f"model: a model expected, got {shown(model)}")
    return model


class System:
    """A system of the core and its start, as `integrate` takes it. Base class of `Model` and `CallableModel`.

    Attributes
    ----------
    core : _core.System
        It has the functions: residual, energy, retract, difference, evaluate, ...
    q0, v0 : ndarray, shapes (nq,) and (nv,)
        The start, read-only.
    mem0 : ndarray
        The memory of joints, drives and rods at the start, such as full turns of angles; read-only.
    reference : str
        The source of the system, "" if unknown.
    origin : dict or None
        The function of `lgint.models` that made the system ("factory") and its arguments ("parameters").
    """

    core: _core.System
    q0: Array
    v0: Array
    mem0: Array
    reference: str
    origin: Origin | None = None

    def _set_start(self, q: ArrayLike, v: ArrayLike, memory: ArrayLike = ()) -> None:
        self.q0 = valid_rotations(self.core.factors, array("q", q, (self.nq,)))
        self.v0 = array("v", v, (self.nv,))
        self.mem0 = array("mem0", memory, (self.core.nmem,))
        for part in (self.q0, self.v0, self.mem0):
            part.setflags(write=False)

    @property
    def nq(self) -> int:
        """Number of coordinates."""
        return self.core.nq

    @property
    def nv(self) -> int:
        """Number of velocities."""
        return self.core.nv

    @property
    def nc(self) -> int:
        """Number of constraint rows, including the blocks' own rows."""
        return self.core.nrows

    @property
    def has_potential(self) -> bool:
        """Whether all forces at rest are known to have a potential, which `energy` may contain only in part."""
        return self.core.has_potential

    @property
    def row_names(self) -> list[str]:
        """Names of the constraint rows, in the order of the multipliers."""
        return list(self.core.row_names)

    def record(self) -> Mapping[str, Any]:
        """Plain data (numbers, strings, lists, functions) from which the system can be rebuilt.

        Returns
        -------
        mapping
            The data.
        """
        raise NotImplementedError

    def with_state(self: S, q: Any = None, v: ArrayLike | None = None, *, project: bool = False) -> S:
        """The same system with another start; what is None stays as it is. The compiled system is shared.

        Parameters
        ----------
        q : Trajectory or array_like, shape (nq,), optional
            A run of this system or of one like it, or some of its states (`run[10]`), of which the last one is taken,
            with its velocities and the memory of joints and rods, so that angles keep their turns. Or coordinates in
            the formulation of the system; angles are then the nearest to those of the previous start.
        v : array_like, shape (nv,), optional
            Velocities.
        project : bool
            Take the nearest start, in the mass metric, that satisfies the constraints.

        Returns
        -------
        Model, CallableModel or LagrangianModel
            The system with the other start.

        Raises
        ------
        ValueError
            For wrong shapes, NaN and invalid rotations (a matrix that is not orthogonal or a quaternion that is not of
            unit length; one whose length is off by less than 1e-5 is normalised with a warning). Also for a run of a
            system with other coordinates or another memory, for a run without states, and for a run whose `save` has
            left out what is needed of a state.
        """
        flag("project", project)
        other = self._copy()
        start: tuple[Any, ...] = (self.q0, self.v0, self.mem0)
        if q is not None:
            start = last_state(self, q) if hasattr(q, "end") else (coordinates(q), self.v0, self.mem0)
        q, rates, memory = start
        v = rates if v is None else v
        if project:
            q, v = self.core.project(0.0, q, v, memory)
        other._set_start(q, v, memory)
        return other

    def _copy(self: S) -> S:
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        other.__dict__.pop("complete", None)
        return other

    @property
    def parameters(self) -> dict[str, Any]:
        """Keywords of the function of `lgint.models` that made the model; empty for all other models."""
        return dict(self.origin["parameters"]) if self.origin else {}

    @functools.cached_property
    def _values(self) -> dict[str, Value]:
        return {}

    @property
    def values(self) -> dict[str, Any]:
        """Numbers that `with_parameters` can change, such as "arm.mass"; empty for systems of functions."""
        return {}

    def with_parameters(self: S, **parameters: Any) -> S:
        """The model with other parameters.

        Parameters
        ----------
        **parameters
            Keywords of the function of `lgint.models` that made the model; it is called again and determines the start.
            Or, for every model with bodies, names of `values`: the model then keeps its start and its compiled shape,
            so that this takes some microseconds:
            ``model.with_parameters(**{"arm.mass": 2.0, "gravity": (0, 0, -1.62)})``. A name that is both is taken as
            the keyword, unless what is given only has the shape of the value.

        Returns
        -------
        Model, CallableModel or LagrangianModel
            The new model; this one does not change.

        Raises
        ------
        ValueError
            If the model has no such parameter, or its value does not make sense.
        """
        own = own_values(parameters, self._values, self.parameters, lambda: self.values)
        keywords = {name: value for name, value in parameters.items() if name not in own}
        model = self._made_again(keywords) if keywords else self
        return model._with_values({name: parameters[name] for name in own})

    def _made_again(self: S, keywords: Mapping[str, Any]) -> S:
        """The model that this model's factory makes from other keywords."""
        if self.origin is None:
            name = next(iter(keywords))
            raise ValueError(
                f"with_parameters: {name!r} is not a value of this model{guess(name, [*self._values])}; its values are "
                f"{listing([*self._values])}. The keywords of a function of lgint.models are accepted "
                "only by models as that function made them; build this model again to change anything else"
            )
        for name in keywords:
            choice("parameter", name, list(dict.fromkeys([*self.origin["parameters"], *self.values])))
        factory = FACTORIES[choice("model", self.origin["factory"], FACTORIES)]
        made: S = factory(**{**self.origin["parameters"], **keywords})
        return made

    def _with_values(self: S, values: Mapping[str, Any]) -> S:
        return self

    def variants(
        self: S,
        values: Mapping[str, Iterable[Any]] | None = None,
        *,
        q: ArrayLike | None = None,
        v: ArrayLike | None = None,
    ) -> list[S]:
        """Models of the same shape, which `integrate` runs one after the other in a single call.

        Parameters
        ----------
        values : dict of lists or arrays, optional
            For names of `with_parameters`, n values each, along the first axis of an array.
        q, v : array_like, shapes (n, nq) and (n, nv), optional
            Starts, as in `with_state`.

        Returns
        -------
        list of Model, CallableModel or LagrangianModel
            One for each of the n values.

        Raises
        ------
        ValueError
            Without any name, and for different numbers of values.
        """
        if not isinstance(values, (Mapping, type(None))):
            raise ValueError(f"values: lists by the names of with_parameters expected, got {shown(values)}")
        given = {name: _several(name, each) for name, each in (values or {}).items()}
        states = {name: array(name, state) for name, state in (("q", q), ("v", v)) if state is not None}
        for name, state in states.items():
            if state.ndim != 2:
                raise ValueError(f"{name}: shape (n, n{name}) expected, got {state.shape}")
        counts = {name: len(each) for name, each in given.items()} | {name: len(q) for name, q in states.items()}
        if len(set(counts.values())) != 1:
            raise ValueError(f"variants: at least one name, and equally many values for all, expected, got {counts}")
        made = []
        for i in range(next(iter(counts.values()))):
            model = self.with_parameters(**{name: each[i] for name, each in given.items()})
            made.append(model.with_state(**{name: state[i] for name, state in states.items()}) if states else model)
        return made

    def with_origin(self: S, factory: str, parameters: Mapping[str, Any], reference: str) -> S:
        """The same model with a record of the function of `lgint.models` that made it.

        Parameters
        ----------
        factory : str
            Name of the function.
        parameters : mapping
            Its arguments.
        reference : str
            Paper and section from which the model comes.

        Returns
        -------
        Model, CallableModel or LagrangianModel
            The model with this record.
        """
        other = self._copy()
        other.origin = {"factory": factory, "parameters": dict(parameters)}
        other.reference = reference
        return other

    def __copy__(self: S) -> S:
        return self

    def __deepcopy__(self: S, memo: dict[int, Any]) -> S:
        return self


def _several(name: str, given: Iterable[Any]) -> list[Any]:
    """The values of a parameter as a list."""
    if isinstance(given, (str, bytes)) or not np.iterable(given):
        raise ValueError(f"{name}: a list of values expected, got {shown(given)}")
    return [*given]


class Model(System):
    """A compiled, immutable multibody model. `ModelBuilder.build` and the functions of `lgint.models` make it.

    Parameters
    ----------
    record : dict
        What `Model.record()` of another model returned.

    Attributes
    ----------
    bodies : mapping of str to dict
        By name: mass, inertia, formulation, and the body's block of coordinates.
    joints : mapping of str to dict
        By name: kind, the two bodies, and the joint's position on each.
    rods : mapping of str to dict
        By name: nodes, edges, and whether the rod is closed.
    q0 : ndarray, shape (nq,)
        Coordinates at the start, read-only.
    v0 : ndarray, shape (nv,)
        Velocities at the start, read-only.
    reference : str
        Paper and section from which the model comes, "" if there is none.
    origin : dict or None
        The function of `lgint.models` that made the model ("factory") and its arguments ("parameters").
    """

    def __init__(self, record: Record) -> None:
        self._compiled = compiled(record)
        self._parameters = self._compiled.parameters
        self.core: _core.Model = self._compiled.core
        self._set_record(record)
        self.reference = record["reference"]
        self.origin = record["origin"]
        self._set_start(record["q0"], record["v0"], record.get("mem0", start_memory(self._compiled, record)))

    def _set_record(self, record: Record) -> None:
        self._record = record
        self.bodies: Mapping[str, BodyRow] = MappingProxyType(record["bodies"])
        self.joints: Mapping[str, JointRow] = MappingProxyType(record["joints"])
        self.rods: Mapping[str, RodRow] = MappingProxyType(record["rods"])

    def record(self) -> Record:
        """Plain data (numbers, strings, lists, functions) from which `Model` rebuilds the model.

        Returns
        -------
        dict
            Its keys are those of a saved trajectory's record.
        """
        start = {"q0": self.q0.tolist(), "v0": self.v0.tolist()}
        if self.mem0.tolist() != start_memory(self._compiled, self._record).tolist():
            start["mem0"] = self.mem0.tolist()
        note = {"reference": self.reference, "origin": self.origin}
        return {**self._record, **note, **start}  # type: ignore[typeddict-item]

    # ---- other values ----

    @functools.cached_property
    def _values(self) -> dict[str, Value]:
        return values_of(self._record)

    @property
    def values(self) -> dict[str, Any]:
        """Numbers of the model that `with_parameters` can change, by name.

        They are "gravity" (m/s^2); for bodies "<name>.mass" (kg) and "<name>.inertia" (kg m^2, about the COM); for
        springs, drives and edges of rods "<name>.stiffness", "<name>.damping", "<name>.length", "<name>.offset" and
        "<name>.torque"; for drags "<name>.drag"; for distance joints "<name>.length"; and "<name>.load", the
        constant vector of a force or torque, or the constant tension of a tendon.
        """
        return {name: value_in(self._record, value) for name, value in self._values.items()}

    def unit(self, name: str) -> str:
        """Unit of one of `values`.

        Parameters
        ----------
        name : str
            One of the keys of `values`.

        Returns
        -------
        str
            SI unit, "" for a pure number.
        """
        return self._values[choice("value", name, self._values)].unit

    def _with_values(self, values: Mapping[str, Any]) -> Model:
        """The model with other values and the same start and shape; it is no longer a model of `lgint.models`."""
        record = self._record
        for name, value in values.items():
            record = changed(record, self._values[name], name, value)
        if record is self._record:
            return self
        if any(record["gravity"]) != any(self._record["gravity"]):  # without gravity the shape has no weights
            note = {"q0": self.q0.tolist(), "v0": self.v0.tolist(), "origin": None}
            return Model({**record, **note})  # type: ignore[typeddict-item]
        other = self._copy()
        owners = {self._values[name].owner for name in values}
        other._parameters = parameters_of(self._compiled, self._parameters, record, owners)
        other.core = self.core.varied(other._parameters)
        other._set_record(record)
        other.origin = None
        return other

    # ---- redundant rows ----

    @property
    def redundant(self) -> str:
        """The argument `redundant` of `build`: "error", "drop" or "minimum_norm"."""
        return self._record["redundant"]

    @property
    def dropped(self) -> dict[str, list[int]]:
        """Redundant constraint rows, which are inactive at first: their numbers within a joint, by the joint's name."""
        return self._record["dropped"]

    @property
    def dropped_rows(self) -> list[str]:
        """Names of the redundant constraint rows, which are inactive at first; each contains its joint's name."""
        whole = self.complete
        return [whole.row_names[whole.rows(joint).start + i] for joint, rows in self.dropped.items() for i in rows]

    @functools.cached_property
    def complete(self) -> Model:
        """The model with all of its constraint rows active; the model itself if none is redundant."""
        return Model({**self._record, "dropped": {}}) if self.dropped else self

    # ---- bodies ----

    def body(self, name: str) -> BodyRow:
        """Record of a body.

        Parameters
        ----------
        name : str
            Body.

        Returns
        -------
        dict
            "block", "formulation", "mass", "inertia", "pivot", "reference" (of Tait-Bryan angles) and "modes".
        """
        return self.bodies[choice("body", name, self.bodies)]

    def kinematics(self, name: str, q: Array, v: Array, t: ArrayLike = 0.0) -> Kinematics:
        """Pose and velocities of a body at given states.

        Parameters
        ----------
        name : str
            Body or support; "name.node" is a node of a flexible body, "name.com" its COM.
        q : array_like, shape (..., nq)
            Coordinates.
        v : array_like, shape (..., nv)
            Velocities.
        t : array_like, shape (...)
            Times, s, which only matter for supports.

        Returns
        -------
        position : ndarray, shape (..., 3)
            Position of the COM in inertial axes, m.
        rotation : ndarray, shape (..., 3, 3)
            Rotation from body to inertial axes.
        velocity : ndarray, shape (..., 3)
            Velocity of the COM in inertial axes, m/s.
        angular_velocity : ndarray, shape (..., 3)
            Angular velocity in body axes, rad/s.
        """
        frames = self._compiled.frames
        return self._in_body_axes(name, frames[choice("body", name, frames)], q, v, t)

    def _in_body_axes(self, name: str, frame: int, q: Array, v: Array, t: ArrayLike) -> Kinematics:
        """Kinematics of a frame on a body, a node, a support or the ground, in the axes of the body."""
        x, R, xdot, omega = self.core.kinematics(frame, q, v, t)
        body = self.bodies.get(name)
        if body is None or body["reference"] is None:
            return x, R, xdot, omega
        turn = np.array(body["reference"])  # from body to node axes
        return x, R @ turn, xdot, omega @ turn

    def modal(self, name: str) -> tuple[slice, slice]:
        """Slices of q and v that hold the modal coordinates of a flexible body and their rates.

        Parameters
        ----------
        name : str
            Flexible body.

        Returns
        -------
        coordinates, rates : slice
            Of the last axes of q and v.

        Raises
        ------
        ValueError
            If the body is rigid.
        """
        body = self.body(name)
        n = mode_count(body)
        if not n:
            raise ValueError(f"body {name!r} is rigid and has no modal coordinates")
        ends = [*((q, v) for _, _, q, v, *_ in self.core.blocks[1:]), (self.nq, self.nv)]
        q, v = ends[body["block"]]
        return slice(q - n, q), slice(v - n, v)

    def modes(self, name: str) -> Modes:
        """The inertia, stiffness and nodes of a flexible body.

        Parameters
        ----------
        name : str
            Flexible body.

        Returns
        -------
        lgint.modal.Modes
            The modes from which the body was made.
        """
        self.modal(name)
        body = self.bodies[name]
        return Modes.of(body["modes"] or {}, body["mass"])

    # ---- rods ----

    def rod(self, rod: str | Rod) -> RodRow:
        """Record of a rod.

        Parameters
        ----------
        rod : str or Rod
            The rod's name, or what `add_rod` returned.

        Returns
        -------
        dict
            "nodes" and "edges" (names), and whether it is "closed".
        """
        return self.rods[choice("rod", rod.name if isinstance(rod, Rod) else rod, self.rods)]

    # ---- joints ----

    def joint(self, name: str) -> JointRow:
        """Record of a joint.

        Parameters
        ----------
        name : str
            Joint.

        Returns
        -------
        dict
            "kind", the first and the second body, the points, and the entries of its kind.
        """
        return self.joints[choice("joint", name, self.joints)]

    def joint_place(self, name: str) -> JointPlace:
        """The indices of a joint in the core.

        Parameters
        ----------
        name : str
            Joint.

        Returns
        -------
        JointPlace
            Its element, blocks and frames.
        """
        return self._compiled.joints[choice("joint", name, self.joints)]

    def motions(self, names: Sequence[str], q: Array, v: Array, t: ArrayLike = 0.0) -> Kinematics:
        """Pose and velocities of several bodies in one pass, as `kinematics` gives them for one.

        Parameters
        ----------
        names : sequence of str
            n bodies or supports.
        q : array_like, shape (..., nq)
            Coordinates.
        v : array_like, shape (..., nv)
            Velocities.
        t : array_like, shape (...)
            Times, s, which only matter for supports.

        Returns
        -------
        position, rotation, velocity, angular_velocity : ndarray
            Shapes (..., n, 3), (..., n, 3, 3), (..., n, 3) and (..., n, 3).
        """
        frames = self._compiled.frames
        x, R, xdot, omega = self.core.kinematics([frames[choice("body", name, frames)] for name in names], q, v, t)
        for i, name in enumerate(names):
            body = self.bodies.get(name)
            if body is not None and body["reference"] is not None:
                turn = np.array(body["reference"])  # from body to node axes
                R[..., i, :, :], omega[..., i, :] = R[..., i, :, :] @ turn, omega[..., i, :] @ turn
        return x, R, xdot, omega

    def joint_kinematics(self, name: str, slot: int, q: Array, v: Array, t: ArrayLike = 0.0) -> Kinematics:
        """Pose and velocities, as `kinematics` gives them, at a joint's point on one of its bodies.

        Parameters
        ----------
        name : str
            Joint.
        slot : int
            0 for the first body, 1 for the second.
        q : array_like, shape (..., nq)
            Coordinates.
        v : array_like, shape (..., nv)
            Velocities.
        t : array_like, shape (...)
            Times, s, which only matter for supports.

        Returns
        -------
        position, rotation, velocity, angular_velocity : ndarray
            Shapes (..., 3), (..., 3, 3), (..., 3) and (..., 3).
        """
        return self._in_body_axes(partners(self.joint(name))[slot], self.joint_place(name).frames[slot], q, v, t)

    @property
    def supports(self) -> Mapping[str, int]:
        """Supports, to which bodies attach, and the indices of their elements in the core."""
        return self._compiled.supports

    def rows(self, joint: str) -> range:
        """The constraint rows of a joint.

        Parameters
        ----------
        joint : str
            Joint.

        Returns
        -------
        range
            Indices of rows, as in `lam` and `row_names`.
        """
        first, count, _, _ = self.core.rows(self.joint_place(joint).element)
        return range(first, first + count)

    def joint_triad(self, name: str, slot: int) -> Array:
        """Axes e1, e2, e3 of a joint on one of its bodies.

        Parameters
        ----------
        name : str
            Joint.
        slot : int
            0 for the first body, 1 for the second.

        Returns
        -------
        ndarray, shape (3, 3)
            The axes as columns, in body axes (in inertial axes on the ground).

        Raises
        ------
        ValueError
            If the joint has no axes, like a distance joint.
        """
        joint = self.joint(name)
        if "triads" not in joint:
            raise ValueError(f"joint {name!r} is of the kind {joint['kind']!r} and has no axes")
        return np.array(joint["triads"][slot])

    def __reduce__(self) -> tuple[Any, ...]:
        return Model, (self.record(),)

    def __repr__(self) -> str:
        name = f"{self.origin['factory']}: " if self.origin else ""
        bodies, joints = len(self.bodies), len(self.joints)
        counts = f"{bodies} {'body' if bodies == 1 else 'bodies'}, {joints} {'joint' if joints == 1 else 'joints'}"
        return f"<lgint.Model {name}{counts}, nq={self.nq} nv={self.nv} nc={self.nc}>"


# functions that make models, by name, for `System.with_parameters`; `lgint.models` adds its own
FACTORIES: Final[dict[str, Callable[..., Any]]] = {}


class MissingFunctionError(RuntimeError):
    """A function was called that could not be saved to a file."""


class MissingFunction:
    """Replaces a Python function that could not be saved to a file; raises when it is called."""

    def __init__(self, what: str) -> None:
        self.what = what

    def __call__(self, *args: object) -> Array:
        """Raises MissingFunctionError, a RuntimeError."""
        raise MissingFunctionError(f"{self.what} is a Python function and was not saved; rebuild the model to run it")


def same_shape(a: System, b: System) -> bool:
    """Whether one model was made from the other, so that their states have the same meaning."""
    return isinstance(a, Model) and isinstance(b, Model) and a._compiled is b._compiled
