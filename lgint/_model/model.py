"""Models: an immutable compiled system with the plain record from which it can be rebuilt."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence, Set
from types import MappingProxyType
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike

from lgint import _core
from lgint._args import Array, choice, listing
from lgint._model import parts
from lgint._model.compile import JointIndices, compiled, element_count, held_values, parameters_of, start_memory
from lgint._model.frames import ZERO
from lgint._model.joints import JOINTS
from lgint._model.laws import StateMaker
from lgint._model.record import (
    BodyRow,
    ControlRow,
    ForceRow,
    Ground,
    JointRow,
    Record,
    RodRow,
    holders,
    mode_count,
    partners,
)
from lgint._model.rod import Rod
from lgint._model.start import bristle_points
from lgint._model.system import FROM_HIGHER_LAYERS, System
from lgint._model.tendons import check_places
from lgint._model.values import COM, SHAPE, Entries, Names, changed, check_limits, is_interpolated, order_of, value_in
from lgint.modal import Modes

GROUND: Final = "ground"
Kinematics = tuple[Array, Array, Array, Array]  # position, rotation, both velocities


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
    forces : mapping of str to dict
        By name: kind, and the bodies or the joint on which they act. Tendons have an entry for each of their segments.
    rods : mapping of str to dict
        By name: nodes, edges, and whether the rod is closed.
    controls : mapping of str to dict
        By name: the joints and bodies on which it acts, its states, and the period of samples, if any.
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
        self._make(self._compiled.states)
        self._set_record(record)
        self.reference = record["reference"]
        self.origin = record["origin"]
        memory = record.get("mem0", start_memory(self._compiled, record))
        self._set_start(record["q0"], record["v0"], memory, exact=record.get("exact", False))

    def _make(self, states: StateMaker | None) -> StateMaker | None:
        """Lets the core of this model make states of it for laws that are called with them."""
        if states is not None:
            states.of = functools.partial(FROM_HIGHER_LAYERS["state_inside"], self)
        return states

    def _set_record(self, record: Record) -> None:
        self._record = record
        self.bodies: Mapping[str, BodyRow] = MappingProxyType(record["bodies"])
        self.joints: Mapping[str, JointRow] = MappingProxyType(record["joints"])
        self.forces: Mapping[str, ForceRow] = MappingProxyType(record["forces"])
        self.rods: Mapping[str, RodRow] = MappingProxyType(record["rods"])
        self.controls: Mapping[str, ControlRow] = MappingProxyType(record.get("controls", {}))

    def record(self) -> Record:
        """Plain data (numbers, strings, lists, functions) from which `Model` rebuilds the model.

        Returns
        -------
        dict
            Its keys are those of a saved trajectory's record.
        """
        start: dict[str, Any] = {"q0": self.q0.tolist(), "v0": self.v0.tolist()}
        if self._exact:
            start["exact"] = True
        if self.mem0.tolist() != start_memory(self._compiled, self._record).tolist():
            start["mem0"] = self.mem0.tolist()
        note = {"reference": self.reference, "origin": self.origin}
        return {**self._record, **note, **start}  # type: ignore[typeddict-item]

    # ---- other values ----

    @functools.cached_property
    def _values(self) -> Names:
        return Names(self._record)

    @property
    def values(self) -> dict[str, Any]:
        """Numbers of the model that `with_parameters` can change, by name.

        They are "gravity" (m/s^2); for bodies "<name>.mass" (kg), "<name>.inertia" (kg m^2, about the COM) and
        "<name>.com" (m, body axes), by which the COM has been moved in the body since the model was built; for
        springs, bushings, drives and edges of rods "<name>.stiffness", "<name>.damping", "<name>.length",
        "<name>.offset" and "<name>.torque", with the number or the pieces of a drive's motion, "<name>.motion"; for the
        limits of a joint "<joint>.limits.lower", "<joint>.limits.upper", "<joint>.limits.stiffness" and
        "<joint>.limits.damping"; for drags "<name>.drag"; for distance joints "<name>.length"; and
        "<name>.load", the constant vector of a force or torque, or the constant tension of a tendon, or the values of
        its table. The curves of springs and bushings are "<name>.curve0", ..., two rows of points, and the points of
        forces and joints "<name>.point", or "<name>.point_a" and "<name>.point_b" (m, body axes from the COM, on the
        ground inertial). "<name>.point" of a joint is that on its first body, and the one on the second body moves with
        it as where the angles of the joint are zero. The places of tendons are "<name>.point0", "<name>.point1", ...,
        with "<name>.radius1" (m) where there is a pulley; a drum keeps the places where the tendon is fastened, and the
        tendon its length without tension. Motions of drives, joints and supports that are given by tables have the
        values of these as "<name>.motion". A model with another COM, point, radius or table of a motion is compiled
        again; its start keeps its coordinates, except that a free body stays where it was when its COM moves in it.

        Entries have names as well, over which one does not iterate: "arm.inertia[0,1]", "wind.load[2]",
        "strut.curve0[1,3]". In a symmetric matrix such a name stands for both of its places.
        """
        return Entries({name: value_in(self._record, value) for name, value in self._values.items()})

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
        names = self._values
        return names[name if name in names else choice("value", name, names)].unit

    def _with_values(self, values: Mapping[str, Any]) -> Model:
        """The model with other values and the same start and shape; it is no longer a model of `lgint.models`."""
        record = self._record
        for name in sorted(values, key=lambda name: order_of(self._values[name])):
            record = changed(record, self._values[name], name, values[name])
        if record is self._record:
            return self
        names = {name: self._values[name] for name in values}
        check_limits(record, names)
        weighs = any(record["gravity"]) != any(self._record["gravity"])  # without gravity the shape has no weights
        if weighs or any(value.key in SHAPE or is_interpolated(record, value) for value in names.values()):
            check_places(record, self._record, names, values, lambda who: self.kinematics(who, self.q0, self.v0)[:2])
            note = {"q0": self.q0.tolist(), "v0": self.v0.tolist(), "origin": None}
            other = Model({**record, **note})  # type: ignore[typeddict-item]
            kept = sum(count for _, count in self._compiled.memory)
            other._set_start(self.q0, self.v0, np.append(self.mem0[:kept], other.mem0[kept:]))
            for name, body in record["bodies"].items():
                change: Any = np.subtract(body.get(COM, ZERO), self.bodies[name].get(COM, ZERO))
                if change.any() and not self._starts_by_joint(name):
                    other = other._with_com_at_start(name, change)
            return other
        other = self._varied(record, {value.owner for value in names.values()})
        other.origin = None
        return other

    def _varied(self, record: Record, owners: Set[str]) -> Model:
        """The model with another record, in which only parameters that depend on some owners differ."""
        other = self._copy()
        other._parameters = parameters_of(self._compiled, self._parameters, record, owners)
        other.core = self.core.varied(other._parameters, other._make(self._compiled.states and StateMaker()))
        other._set_record(record)
        return other

    def alike(self, record: Record, owners: Set[str], *, same_start: bool) -> Model:
        """The model of a record that differs from this model's in the start and in parameters of some owners.

        Parameters
        ----------
        record : dict
            As `Model` takes it, with the same memory at the start.
        owners : set of str
            Parts of the model whose parameters differ; "gravity" stands for all weights.
        same_start : bool
            Whether the start of the record is the one from which this model was made.

        Returns
        -------
        Model
            With the bits of `Model(record)`.

        Raises
        ------
        ValueError, SingularError
            If a parameter is not valid, or belongs to the shape of the model.
        """
        other = self._varied(record, owners)
        if not same_start:
            other._set_start(record["q0"], record["v0"], self.mem0)
        return other

    def _with_com_at_start(self, name: str, change: Array) -> Model:
        """The model with a start in which a body whose COM has moved in it lies where it did."""
        _, R, _, omega = self.kinematics(name, self.q0, self.v0)
        frame = self.frame(name)

        def along(q: Array, twist: Array) -> Array:
            found: Any = np.linalg.lstsq(self.core.jacobian(frame, q, self.v0)[0], twist, rcond=None)[0]
            return np.asarray(found)

        q: Array = self.core.retract(self.q0, along(self.q0, np.concatenate([R @ change, ZERO])))
        v = self.v0 + along(q, np.concatenate([R @ np.cross(omega, change), ZERO]))
        return self.with_state(q, v)

    def _starts_by_joint(self, name: str) -> bool:
        """Whether the coordinates of a body are those of a joint or about a pivot, and so do not describe its COM."""
        return self.bodies[name]["pivot"] is not None or name in holders(self._record["joints"])

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

    def frame(self, name: str) -> int:
        """The index of a body's frame in the core.

        Parameters
        ----------
        name : str
            Body or support; "name.node" is a node of a flexible body, "name.com" its COM.

        Returns
        -------
        int
            Its index among the frames.

        Raises
        ------
        ValueError
            For an unknown name, and for the ground, which has no frame.
        """
        frames = self._compiled.frames
        if name == GROUND or isinstance(name, Ground):
            raise ValueError(f"the ground has no frame: it is at rest at the origin; choose from {listing([*frames])}")
        return frames[choice("body", name, frames)]

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
            Body, support or "ground"; "name.node" is a node of a flexible body, "name.com" its COM.
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
        if name == GROUND:
            return _at_rest(np.shape(q)[:-1])
        frame = self._compiled.frames.get(name) if isinstance(name, str) else None
        return self._in_body_axes(name, self.frame(name) if frame is None else frame, q, v, t)

    def positions(self, name: str, q: Array, v: Array, t: ArrayLike = 0.0) -> Array:
        """Positions of a body at given states, the first of what `kinematics` gives.

        Parameters
        ----------
        name : str
            Body, support or "ground"; "name.node" is a node of a flexible body, "name.com" its COM.
        q : array_like, shape (..., nq)
            Coordinates.
        v : array_like, shape (..., nv)
            Velocities.
        t : array_like, shape (...)
            Times, s, which only matter for supports.

        Returns
        -------
        ndarray, shape (..., 3)
            Of the COM in inertial axes, m.
        """
        if name == GROUND:
            return _at_rest(np.shape(q)[:-1])[0]
        frame = self._compiled.frames.get(name) if isinstance(name, str) else None
        return self.core.positions(self.frame(name) if frame is None else frame, q, v, t)

    def accelerations(self, name: str, q: Array, v: Array, vdot: Array, t: ArrayLike = 0.0) -> tuple[Array, Array]:
        """Acceleration and angular acceleration of a body at given states.

        Parameters
        ----------
        name : str
            Body, support or "ground"; "name.node" is a node of a flexible body, "name.com" its COM.
        q : array_like, shape (..., nq)
            Coordinates.
        v, vdot : array_like, shape (..., nv)
            Velocities and accelerations.
        t : array_like, shape (...)
            Times, s, which only matter for supports.

        Returns
        -------
        acceleration : ndarray, shape (..., 3)
            Of the COM, in inertial axes, m/s^2.
        angular_acceleration : ndarray, shape (..., 3)
            In body axes, rad/s^2.
        """
        if name == GROUND:
            _, _, linear, angular = _at_rest(np.shape(q)[:-1])
            return linear, angular
        frames = self._compiled.frames
        linear, angular = self.core.accelerations(frames[choice("body", name, frames)], q, v, vdot, t)
        body = self.bodies.get(name)
        if body is None or body["reference"] is None:
            return linear, angular
        return linear, angular @ np.array(body["reference"])

    def _in_body_axes(self, name: str, frame: int, q: Array, v: Array, t: ArrayLike) -> Kinematics:
        """Kinematics of a frame on a body, a node, a support or the ground, in the axes of the body."""
        found = self.core.kinematics(frame, q, v, t)
        body = self._record["bodies"].get(name)
        if body is None or body["reference"] is None:
            return found
        x, R, xdot, omega = found
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

    def joint_indices(self, name: str) -> JointIndices:
        """The indices of a joint in the core.

        Parameters
        ----------
        name : str
            Joint.

        Returns
        -------
        JointIndices
            Its element, blocks and frames.
        """
        return self._compiled.joints[choice("joint", name, self.joints)]

    def coordinate_of(self, name: str, which: str, level: int) -> int:
        """The index in q or v of a coordinate of a joint that holds a link of a tree.

        Parameters
        ----------
        name : str
            Joint.
        which : str
            "angle" or "slide".
        level : int
            0 for q, 1 for v.

        Returns
        -------
        int
            Its index.
        """
        indices = self.joint_indices(name)
        _, _, *starts = self.core.blocks[indices.blocks[1]][:4]
        return int(starts[level]) + indices.coordinates[which][1 + level]

    @functools.cached_property
    def with_angle(self) -> tuple[str, ...]:
        """Joints that have an angle (revolute, cylindrical, planar)."""
        kinds = {kind for kind, row in JOINTS.items() if "angle" in row.coordinates}
        return tuple(name for name, joint in self.joints.items() if joint["kind"] in kinds)

    @functools.cached_property
    def angle_indices(self) -> tuple[Array, Array] | None:
        """The indices in q and in v of all angles of joints; None unless all of these joints are in trees."""
        names = self.with_angle
        if not names or not all(self.joints[name].get("holds") for name in names):
            return None
        return tuple(np.array([self.coordinate_of(name, "angle", i) for name in names]) for i in (0, 1))  # type: ignore

    @functools.cached_property
    def angle_places(self) -> dict[str, tuple[str, int]]:
        """Of each joint with an angle the part of a state that holds it, "q" or "mem", and its index there."""
        found = {}
        for name in self.with_angle:
            if self.joints[name].get("holds"):
                found[name] = "q", self.coordinate_of(name, "angle", 0)
            else:
                found[name] = "mem", self.core.rows(self.joint_indices(name).element)[2]
        return found

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
        return self._in_body_axes(partners(self.joint(name))[slot], self.joint_indices(name).frames[slot], q, v, t)

    @property
    def elements(self) -> int:
        """Number of elements in the core without those of controls; those of forces are the last."""
        return len(self._compiled.starts) - 1 - sum(map(element_count, self.controls.values()))

    @property
    def sampled(self) -> Sequence[str]:
        """Names of sampled controls."""
        return tuple(self.held)

    @functools.cached_property
    def held(self) -> dict[str, slice]:
        """By sampled control, where its values are in the memory; the number before them is 0 until it is sampled."""
        return held_values(self._compiled, self._record)

    @property
    def first_held(self) -> int:
        """From where on numbers of the memory may have derivatives: all where there are bristles, else the sampled."""
        return 0 if self.bristles.any() else self.first_sampled

    @property
    def first_sampled(self) -> int:
        """From where on the memory is that of sampled controls, with which it ends."""
        return min((held.start - 1 for held in self.held.values()), default=int(self.core.nmem))

    @functools.cached_property
    def bristles(self) -> Array:
        """Which numbers of the memory are those of bristles."""
        return np.asarray(bristle_points(self) >= 0)

    @property
    def has_kinks(self) -> bool:
        """Whether some force, or its slope, jumps somewhere along a motion."""
        return self._compiled.has_kinks

    @property
    def control_states(self) -> dict[str, slice]:
        """By control that is not sampled and has states, where these are in v."""
        blocks = {name: row["block"] for name, row in self.controls.items() if row["block"] is not None}
        begins = {name: self.core.blocks[block][3] for name, block in blocks.items()}
        return {name: slice(v, v + len(self.controls[name]["states"])) for name, v in begins.items()}

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
        first, count, _, _ = self.core.rows(self.joint_indices(joint).element)
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
        return Model, (self.record(),), self._pickled()

    def __repr__(self) -> str:
        name = f"{self.origin['factory']}: " if self.origin else ""
        bodies, joints = len(self.bodies), len(self.joints)
        counts = f"{bodies} {'body' if bodies == 1 else 'bodies'}, {joints} {'joint' if joints == 1 else 'joints'}"
        return f"<lgint.Model {name}{counts}, nq={self.nq} nv={self.nv} nc={self.nc}>"

    def _repr_html_(self) -> str:
        bodies = [(name, body["formulation"], body["mass"]) for name, body in self.bodies.items()]
        supports = self._record["supports"]
        return parts.html(repr(self), bodies, supports, self.joints, self.forces, self.rods, self.controls)


def same_shape(a: System, b: System) -> bool:
    """Whether one model was made from the other, so that their states have the same meaning."""
    return isinstance(a, Model) and isinstance(b, Model) and a._compiled is b._compiled


def _at_rest(shape: tuple[int, ...]) -> Kinematics:
    """The ground, with the axes (...,) in front."""
    zeros = np.zeros((3, *shape, 3))
    return zeros[0], np.broadcast_to(np.eye(3), (*shape, 3, 3)).copy(), zeros[1], zeros[2]
