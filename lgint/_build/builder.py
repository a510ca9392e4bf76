"""ModelBuilder: bodies, joints and forces by name, checked and turned into the record of a `Model`.

Two rules hold throughout. `point` and `axis` are inertial, in the start configuration; `local_point` and names that end
in `_a` and `_b` are in the axes of the body, the first or the second, from its centre of mass (on the ground: inertial,
from the origin).
Formulation is a property of the body: it may differ from body to body, and no joint or force knows it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike

from lgint._build import redundancy
from lgint._args import Array, array, choice, number
from lgint._rotation import rotation as rotation_matrix
from lgint._rotation import triad_about
from lgint._build.bodies import FORMULATIONS, Body, inertia_matrix, place
from lgint._build.laws import LawBuilder
from lgint._build.links import LinkBuilder
from lgint._build.flexible import ModalBody
from lgint.modal import COM, Modes
from lgint._model.model import Model
from lgint._build.parts import Ground, Partner, ground
from lgint._model.joints import JOINTS
from lgint._build.trees import MINIMAL

__all__ = ["CARRIERS", "JOINTS", "Ground", "ModelBuilder", "Partner", "check_start", "ground"]

CARRIERS: Final = ("inertial", "first", "second")
START_TOLERANCE: Final = 1e-8


Load = ArrayLike | tuple[ArrayLike, ArrayLike] | Callable[[float], ArrayLike]


class ModelBuilder(LinkBuilder, LawBuilder):
    """Collects bodies, joints, springs and forces; `build` makes the model.

    Parameters
    ----------
    gravity : array_like, shape (3,)
        Acceleration of gravity in inertial axes, m/s^2.
    formulation : str
        Of the bodies that do not name their own, see `add_body`.
    """

    # ---- bodies ----

    def add_body(
        self,
        name: str,
        *,
        mass: float,
        inertia: ArrayLike,
        position: ArrayLike | None = None,
        rotation: ArrayLike | None = None,
        velocity: ArrayLike | None = None,
        angular_velocity: ArrayLike = (0.0, 0.0, 0.0),
        formulation: str | None = None,
        pivot: ArrayLike | None = None,
        com: ArrayLike | None = None,
        reference: ArrayLike | None = None,
    ) -> str:
        """Adds a rigid body and returns its name, by which joints and forces refer to it.

        Parameters
        ----------
        mass : float
            kg, positive.
        inertia : array_like, shape (3,), (6,) or (3, 3)
            About the COM in body axes, kg m^2: the diagonal; (xx, yy, zz, xy, xz, yz); or the matrix.
        position, velocity : array_like, shape (3,)
            Of the COM, inertial axes, m and m/s. Default zero.
        rotation : array_like, shape (3, 3) or (4,)
            Matrix or unit quaternion (scalar first) from body to inertial axes. Default: the identity.
        angular_velocity : array_like, shape (3,)
            Body axes, rad/s.
        formulation : str, optional
            How the body is stored, see `conventions`: "R3xSO3", "R3xS3", "R3xRV", "SE3", "S3R3", "euler_parameters",
            "tait_bryan", or "minimal", where a joint says what it can do. Default: the builder's.
        pivot : array_like, shape (3,), optional
            Inertial point about which the body turns. It has rotational coordinates only then, and its velocity
            follows.
        com : array_like, shape (3,), optional
            With `pivot`: from the pivot to the COM in body axes, in place of `position`.
        reference : array_like, shape (3, 3) or (4,), optional
            Rotation from body to inertial axes at which Tait-Bryan angles are zero; the singularity is a quarter turn
            away. Default: the identity. Other formulations have no use for it.

        Raises
        ------
        ValueError
            For a name in use, wrong shapes, NaN, a mass that is not positive, an inertia that is not symmetric positive
            semidefinite, a rotation that is none. An inertia that violates the triangle inequality is a warning.
        """
        self._new_name("body", name)
        R = np.eye(3) if rotation is None else rotation_matrix(f"rotation of {name!r}", rotation)
        omega = array(f"angular_velocity of {name!r}", angular_velocity, (3,))
        x, fixed = place(name, R, position, pivot, com)
        v = np.zeros(3) if velocity is None else array(f"velocity of {name!r}", velocity, (3,))
        if fixed is not None:
            turning = np.cross(R @ omega, x - fixed)
            if velocity is not None and np.abs(v - turning).max() > START_TOLERANCE * (1 + np.abs(turning).max()):
                raise ValueError(f"velocity of {name!r}: about its pivot the COM moves with {turning}, got {v}")
            v = turning
        self._bodies[name] = Body(
            name,
            number(f"mass of {name!r}", mass, positive=True),
            inertia_matrix(name, inertia),
            x,
            R,
            v,
            omega,
            self._formulation if formulation is None else choice("formulation", formulation, (*FORMULATIONS, MINIMAL)),
            fixed,
            None if reference is None else rotation_matrix(f"reference of {name!r}", reference),
        )
        self._names.add(name)
        if self._bodies[name].formulation != MINIMAL:
            self._blocks[name] = len(self._parts)
            self._parts.append(self._bodies[name])
            self._add_inertia(self._bodies[name])
        elif pivot is not None:
            raise ValueError(f"pivot of {name!r}: in minimal coordinates a body's joint says about what it turns")
        return name

    def _add_inertia(self, body: Body) -> None:
        """rigid_body about the node's point, and gravity at the COM."""
        six = body.inertia_about_node()[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]
        node = self._frame(body.name, -body.com)
        parameters = [body.mass, *body.to_node(body.com), *six]
        self._element("rigid_body", body.name, (node,), parameters)
        self._add_weight(body)

    def add_modal_body(
        self,
        name: str,
        modes: Modes,
        *,
        position: ArrayLike = (0.0, 0.0, 0.0),
        rotation: ArrayLike | None = None,
        velocity: ArrayLike = (0.0, 0.0, 0.0),
        angular_velocity: ArrayLike = (0.0, 0.0, 0.0),
        eta: ArrayLike | None = None,
        eta_rate: ArrayLike | None = None,
        formulation: str | None = None,
    ) -> str:
        """Adds a flexible body in modal coordinates and returns its name.

        Joints and forces on `name` act on the floating frame, those on "name.node" on a node of `modes`, which moves
        with the deformation ("name.com" is the centre of mass).

        Parameters
        ----------
        modes : lgint.modal.Modes
            From `lgint.modal.beam` or `lgint.modal.particles`.
        position, velocity : array_like, shape (3,)
            Of the origin of the floating frame, inertial axes, m and m/s.
        rotation : array_like, shape (3, 3) or (4,)
            Matrix or unit quaternion (scalar first) from floating to inertial axes. Default: the identity.
        angular_velocity : array_like, shape (3,)
            Of the floating frame in its axes, rad/s.
        eta, eta_rate : array_like, shape (n,)
            Modal coordinates and their rates at the start. Default: zero.
        formulation : str, optional
            Of the floating frame. Default: the builder's.

        Raises
        ------
        ValueError
            For a name in use, wrong shapes, NaN, a rotation that is none, formulation "minimal".
        """
        self._new_name("body", name)
        if not isinstance(modes, Modes):
            raise ValueError(f"modes of {name!r}: what lgint.modal.beam or particles returns expected, got {modes!r}")
        zero = np.zeros(modes.n)
        flexible = ModalBody(
            Body(
                name,
                modes.mass,
                modes.inertia,
                array(f"position of {name!r}", position, (3,)),
                np.eye(3) if rotation is None else rotation_matrix(f"rotation of {name!r}", rotation),
                array(f"velocity of {name!r}", velocity, (3,)),
                array(f"angular_velocity of {name!r}", angular_velocity, (3,)),
                choice("formulation", self._formulation if formulation is None else formulation, FORMULATIONS),
                None,
            ),
            modes,
            zero if eta is None else array(f"eta of {name!r}", eta, (modes.n,)),
            zero if eta_rate is None else array(f"eta_rate of {name!r}", eta_rate, (modes.n,)),
        )
        for node in modes.nodes:
            self._new_name("node", f"{name}.{node}")
        self._bodies[name], self._blocks[name] = flexible.frame, len(self._parts)
        for part, node in enumerate(modes.nodes, 1):
            self._nodes[f"{name}.{node}"] = flexible.at(node), len(self._parts), part
        self._names |= {name, *(f"{name}.{node}" for node in modes.nodes)}
        self._parts.append(flexible)
        self._element("modal_body", name, (self._frame(name, np.zeros(3)),), modes.parameters())
        if self._gravity.any():
            weight = (self._frame(f"{name}.{COM}", np.zeros(3)),)
            self._element("gravity", f"{name}.gravity", weight, [modes.mass, *self._gravity])
        return name

    # ---- joints ----

    def add_joint(
        self,
        kind: str,
        a: Partner,
        b: Partner,
        *,
        point: ArrayLike | None = None,
        axis: ArrayLike | None = None,
        second_axis: ArrayLike | None = None,
        point_a: ArrayLike | None = None,
        point_b: ArrayLike | None = None,
        length: float | None = None,
        carrier: str | None = None,
        angle: float | None = None,
        rate: float | None = None,
        name: str | None = None,
    ) -> str:
        """Adds a joint between bodies `a` and `b` (names, or `lgint.ground`) and returns its name.

        Parameters
        ----------
        kind : str
            "spherical", "revolute", "prismatic", "cylindrical", "universal", "inline" (a point of `b` stays on a line
            of `a`), "planar" (on a plane of `a`, the normals aligned), "rigid" or "distance".
        point : array_like, shape (3,)
            Where the joint is, inertial, in the start configuration. Distance: shape (2, 3), a point of each body.
        axis : array_like, shape (3,)
            Axis of revolute, prismatic, cylindrical; line of inline; normal of planar; the axis of universal that is
            fixed in `a`. Inertial, any length but zero.
        second_axis : array_like, shape (3,)
            Universal: the axis fixed in `b`, perpendicular to `axis`.
        point_a, point_b : array_like, shape (3,), optional
            Both together in place of `point`: the joint's point in the bodies' own axes, from the COM. The start may
            then violate the joint, see `build`.
        length : float, optional
            Distance only, m; default: that of the start.
        carrier : str, optional
            In whose axes the translation rows are written: "inertial", "first", "second". Default: inertial where all
            three translations are locked, else first.
        angle : float, optional
            Revolute, cylindrical, planar: what the joint's angle is at the start, rad; default 0. Prismatic, inline:
            what the slide is, m; default: how far the point of `b` is from that of `a` along the axis, which is 0 where
            `point` is given.
        rate : float, optional
            Of a joint that hangs a body in minimal coordinates, rad/s or m/s. Default: what the velocities of both
            bodies say. The velocities of the second body follow.

        The first joint of a body in minimal coordinates is revolute or prismatic, its first partner the ground or a
        body that hangs already: the joint's angle (or slide) is the body's only coordinate. All other joints are
        constraints.

        Raises
        ------
        ValueError
            For unknown kinds and names, an axis of length zero, an argument that the kind needs or has no use for.
        """
        if kind == "distance":
            _refuse(kind, axis=axis, second_axis=second_axis, carrier=carrier, angle=angle, rate=rate)
            return self.add_distance(a, b, point=point, point_a=point_a, point_b=point_b, length=length, name=name)
        choice("joint kind", kind, (*JOINTS, "distance"))
        _refuse(kind, length=length)
        name = self._joint_name(kind, a, b, name)
        if self._hangs_free(b):
            self._check_tree_joint(kind, a, b)
            _refuse(kind, second_axis=second_axis, carrier=carrier)
            e = _triad(kind, name, axis, None)[:, 2]
            return self._attach(kind, name, a, b, self._place(name, b, point, point_a, point_b), e, angle, rate)
        _refuse(kind, rate=rate)
        if point is None and (point_a is None or point_b is None):
            raise ValueError(f"joint {name!r} needs point, or point_a and point_b")
        ends = self._ends(name, a, b, point, point_a, point_b, (3,))
        triad = _triad(kind, name, axis, second_axis)
        usual = "inertial" if JOINTS[kind].is_point else "first"
        where = usual if carrier is None else choice("carrier", carrier, CARRIERS)
        if angle is not None and not JOINTS[kind].coordinates:
            _refuse(kind, angle=angle)
        start = None if angle is None else number(f"angle of {name!r}", angle)
        turned = triad if start is None or "angle" not in JOINTS[kind].coordinates else triad @ _turn_about_z(start)
        axes_a, axes_b = self._node_rotation(a).T @ triad, self._node_rotation(b).T @ turned
        values = [CARRIERS.index(where), *axes_a.ravel(), *axes_b.ravel()]
        frames, apart = self._between(a, b, ends)
        self._add_joint(kind, name, a, b, frames, values, [axes_a.tolist(), axes_b.tolist()])
        if start is not None and "angle" not in JOINTS[kind].coordinates:
            # the slide is measured from where it makes `start`
            e = triad[:, 2]
            zero = self._place_of(a, ends[0]) + (e @ apart - start) * e
            self._joints[name]["slide"] = [self._frame(a, self._local(a, zero)), frames[1]]
        return name

    def add_distance(
        self,
        a: Partner,
        b: Partner,
        *,
        point: ArrayLike | None = None,
        point_a: ArrayLike | None = None,
        point_b: ArrayLike | None = None,
        length: float | None = None,
        name: str | None = None,
    ) -> str:
        """Keeps two points at a distance, `length` (m; default: that of the start).

        The points are `point_a` and `point_b`, (3,) each, in body axes from the COM (on the ground: inertial), or the
        rows of `point`, (2, 3), inertial in the start configuration. Default: the COMs.
        """
        name = self._joint_name("distance", a, b, name)
        frames, distance = self._between(a, b, self._ends(name, a, b, point, point_a, point_b, (2, 3)))
        given = float(np.linalg.norm(distance)) if length is None else number(f"length of {name!r}", length)
        if not given > 0:
            raise ValueError(f"length of {name!r}: a positive distance expected, got {given:g}")
        self._add_joint("distance", name, a, b, frames, [given])
        return name

    def _joint_name(self, kind: str, a: Partner, b: Partner, name: str | None) -> str:
        first, second = self._partner(a), self._partner(b)
        if first == second:
            raise ValueError(f"a {kind} joint needs two different partners, got {first!r} twice")
        name = self._free_name(f"{first}-{second}") if name is None else name
        self._new_name("joint", name)
        return name

    def _add_joint(
        self,
        kind: str,
        name: str,
        a: Partner,
        b: Partner,
        frames: tuple[int, int],
        values: list[float],
        axes: list[Any] | None = None,
    ) -> None:
        self._joints[name] = {
            "kind": kind,
            "element": len(self._elements),
            "first": self._partner(a),
            "second": self._partner(b),
            "frames": list(frames),
            "axes": axes,
        }
        self._element(kind, name, frames, values)

    # ---- forces ----

    def add_spring(
        self,
        a: Partner,
        b: Partner,
        *,
        stiffness: float,
        damping: float = 0.0,
        length: float | None = None,
        point: ArrayLike | None = None,
        point_a: ArrayLike | None = None,
        point_b: ArrayLike | None = None,
        name: str | None = None,
    ) -> str:
        """A spring-damper (N/m, N s/m) along the line between two points.

        `length` is the unstretched length in m; default: the distance at the start. The points are `point_a` and
        `point_b`, (3,) each, in body axes from the COM (on the ground: inertial), or the rows of `point`, (2, 3),
        inertial in the start configuration. Default: the COMs.
        """
        name = self._force_name("spring", a, b, name)
        frames, distance = self._between(a, b, self._ends(name, a, b, point, point_a, point_b, (2, 3)))
        rest = np.linalg.norm(distance) if length is None else number(f"length of {name!r}", length, nonnegative=True)
        values = [number(f"stiffness of {name!r}", stiffness), number(f"damping of {name!r}", damping), float(rest)]
        self._element("spring", name, frames, values)
        return name

    def add_cartesian_spring(
        self,
        a: Partner,
        b: Partner,
        *,
        stiffness: ArrayLike,
        damping: ArrayLike = (0.0, 0.0, 0.0),
        offset: ArrayLike | None = None,
        point: ArrayLike | None = None,
        point_a: ArrayLike | None = None,
        point_b: ArrayLike | None = None,
        name: str | None = None,
    ) -> str:
        """Three springs and dampers along the inertial axes: force on `b` = -(k (d - offset) + c d'), d = x_b - x_a.

        `stiffness`, `damping`, `offset` have shape (3,); `offset` defaults to d at the start. The points are `point_a`
        and `point_b`, (3,) each, in body axes from the COM (on the ground: inertial), or `point`, inertial in the start
        configuration: (3,), one for both bodies, or (2, 3), one each. Default: the COMs.
        """
        name = self._force_name("spring", a, b, name)
        frames, distance = self._between(a, b, self._ends(name, a, b, point, point_a, point_b, (3,), (2, 3)))
        rest = distance if offset is None else array(f"offset of {name!r}", offset, (3,))
        k, c = array(f"stiffness of {name!r}", stiffness, (3,)), array(f"damping of {name!r}", damping, (3,))
        self._element("cartesian_spring", name, frames, [*k, *c, *rest])
        return name

    def add_force(
        self,
        body: str,
        *,
        force: Load | None = None,
        torque: Load | None = None,
        point: ArrayLike | None = None,
        local_point: ArrayLike | None = None,
        frame: str = "inertial",
        name: str | None = None,
    ) -> str:
        """A force (N) and a torque (N m) on a body.

        Parameters
        ----------
        force, torque : array_like (3,), table or function
            A constant vector; a table (times (m,), values (m, 3)), linear between its times, constant outside; or a
            function of time that returns three numbers.
        point : array_like, shape (3,), optional
            Where the force acts, inertial in the start configuration; it moves with the body. Default: the COM.
        local_point : array_like, shape (3,), optional
            The same point, body-fixed: in body axes from the COM.
        frame : str
            "inertial", or "body": the vectors turn with the body.
        """
        partner = self._partner(body)
        if partner == "ground":
            raise ValueError("body of a force: a body expected, got the ground")
        if force is None and torque is None:
            raise ValueError(f"force on {partner!r}: give force, torque or both")
        axes = float(("inertial", "body").index(choice("frame", frame, ("inertial", "body"))))
        name = self._free_name(f"{partner}.load") if name is None else name
        self._new_name("force", name)
        self._names.add(name)
        offset = self._attachment(name, body, point, local_point)
        for kind, load in (("force", force), ("torque", torque)):
            if load is not None:
                turn = self._at(partner).reference if axes else None
                values, function = _source(f"{kind} of {name!r}", load, turn)
                label = name if force is None or torque is None else f"{name}.{kind}"
                at = self._frame(body, offset)
                self._element(kind, label, (at,), [axes, *values], function)
        return name

    def add_joint_drive(
        self,
        joint: str,
        *,
        coordinate: str | None = None,
        torque: float = 0.0,
        stiffness: float = 0.0,
        damping: float = 0.0,
        motion: ArrayLike | None = None,
        name: str | None = None,
    ) -> str:
        """A motor in a joint with the coordinate phi: torque + stiffness (phi_d - phi) + damping (phi_d' - phi').

        This torque (N m) about the joint's axis, or force (N) along it, acts on the second body, the opposite on the
        first.

        Parameters
        ----------
        joint : str
            Name of a joint that has an angle, through full turns (revolute, cylindrical, planar), or a slide along its
            axis (prismatic, cylindrical, inline), as `Trajectory.joint_position` gives it.
        coordinate : str, optional
            "angle" or "slide", where the joint has both. Default: the angle if there is one.
        torque, stiffness, damping : float
            N m, N m/rad, N m s/rad; along a slide N, N/m, N s/m.
        motion : array_like, shape (pieces, 4), optional
            The desired coordinate phi_d(t), quadratic in pieces; a row is (t, phi_d, phi_d', phi_d'') at a piece's begin.
            The first piece holds before, the last after its time as well. Default: phi_d = 0.
        """
        label = f"the drive of {joint!r}" if name is None else repr(name)
        gains = [
            number(f"{key} of {label}", value)
            for key, value in (("torque", torque), ("stiffness", stiffness), ("damping", damping))
        ]
        pieces = np.empty((0, 4)) if motion is None else array(f"motion of {label}", motion)
        if pieces.ndim != 2 or pieces.shape[1] != 4 or not (np.diff(pieces[:, 0]) > 0).all():
            raise ValueError(f"motion of {label}: rows (t, angle, rate, second rate) with ascending t expected")
        return self._joint_force("drive", joint, coordinate, name, [*gains, *pieces.ravel()])

    # ---- the model ----

    def build(self, start: str = "check", redundant: str = "error") -> Model:
        """The model, after a check that the start agrees with the joints and that no joint is redundant.

        Parameters
        ----------
        start : str
            "check": a start that violates a joint raises. "project": the nearest consistent positions and velocities
            (in the mass metric) replace it.
        redundant : str
            Constraint rows that follow from those of joints added before: "error" names them; "drop" leaves them out,
            `Model.dropped_rows` tells which; "minimum_norm" leaves them out of the run as well, and
            `Trajectory.reaction` shares the reactions among all rows so that the multipliers are smallest.

        Raises
        ------
        ValueError
            If there is no body, the start violates a joint, or constraints are redundant or contradict each other.
        """
        choice("start", start, ("check", "project"))
        if not self._bodies:
            raise ValueError("a model needs at least one body; see add_body")
        for name in self._bodies:
            self._frame(name, np.zeros(3))
        nodes = {name: self._frame(name, np.zeros(3)) for name in self._nodes}
        states = [part.state() for part in self._parts]
        bodies = {name: self._body_record(body) for name, body in self._bodies.items()}
        model = Model(
            {
                "blocks": [(part.node, part.n) for part in self._parts],
                "frames": list(self._frames),
                "elements": list(self._elements),
                "bodies": bodies,
                "nodes": nodes,
                "joints": dict(self._joints),
                "q0": np.concatenate([q for q, _ in states]),
                "v0": np.concatenate([v for _, v in states]),
                "reference": "",
                "origin": None,
            }
        )
        model = redundancy.resolve(model, start, redundant)
        if start == "project":
            return model.with_state(project=True)
        check_start(model)
        return model

    def _body_record(self, body: Body) -> dict[str, Any]:
        part = self._parts[self._blocks[body.name]]
        return {
            "frame": self._frame(body.name, np.zeros(3)),
            "modes": part.n if isinstance(part, ModalBody) else 0,
            "block": self._blocks[body.name],
            "formulation": body.formulation,
            "mass": body.mass,
            "inertia": body.inertia.tolist(),
            "reference": None if body.reference is None else body.reference.tolist(),
        }


def check_start(model: Model) -> None:
    """ValueError naming the constraint row, the level and the size if the start of `model` is not consistent."""
    for level, residual in zip(("position", "velocity"), model.core.residual(0.0, model.q0, model.v0), strict=True):
        scale = 1.0 if level == "position" else 1.0 + float(np.abs(model.v0).max())
        if residual.size and np.abs(residual).max() > START_TOLERANCE * scale:
            row = int(np.argmax(np.abs(residual)))
            raise ValueError(
                f"the start violates constraint {model.row_names[row]!r} at {level} level by {residual[row]:.3g}; "
                'give consistent values, or let build(start="project") find the nearest'
            )


# ---- joints and loads ----


def _refuse(kind: str, **arguments: object) -> None:
    for name, value in arguments.items():
        if value is not None:
            raise ValueError(f"a {kind} joint takes no {name}")


def _unit(what: str, value: ArrayLike) -> Array:
    vector = array(what, value, (3,))
    norm = float(np.linalg.norm(vector))
    if norm == 0:
        raise ValueError(f"{what}: a direction expected, got the zero vector")
    return vector / norm


def _triad(kind: str, name: str, axis: ArrayLike | None, second_axis: ArrayLike | None) -> Array:
    """Joint axes e1, e2, e3 as columns, inertial: `axis` is e3; where two axes are needed, they are e1 and e2."""
    needed = JOINTS[kind].axes
    if needed == 0:
        _refuse(kind, axis=axis, second_axis=second_axis)
        return np.eye(3)
    if axis is None:
        raise ValueError(f"{kind} joint {name!r} needs an axis")
    e = _unit(f"axis of {name!r}", axis)
    if needed == 1:
        _refuse(kind, second_axis=second_axis)
        return triad_about(e)
    if second_axis is None:
        raise ValueError(f"{kind} joint {name!r} needs a second_axis, fixed in the second body")
    f = _unit(f"second_axis of {name!r}", second_axis)
    if abs(e @ f) > START_TOLERANCE:
        raise ValueError(f"{kind} joint {name!r}: perpendicular axes expected, their cosine is {e @ f:.3g}")
    return np.column_stack([e, f, np.cross(e, f)])


def _turn_about_z(angle: float) -> Array:
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


@dataclass(frozen=True)
class _Turned:
    """A load in the axes of the node."""

    load: Callable[[float], ArrayLike]
    turn: Array

    def __call__(self, t: float) -> Array:
        turned: Array = self.turn @ np.asarray(self.load(t), dtype=np.float64)
        return turned


def _source(
    what: str, load: Load, turn: Array | None = None
) -> tuple[list[float], Callable[[float], ArrayLike] | None]:
    """Parameters of a load's source: 0 and the vector; 1, m, times and rows of a table; 2 for a function of time.

    `turn` goes from the axes of the load to those of the node.
    """
    if callable(load):
        return [2.0], load if turn is None else _Turned(load, turn)
    turn = np.eye(3) if turn is None else turn
    if isinstance(load, Sequence) and len(load) == 2 and np.ndim(load[0]) > 0:
        times = array(f"times of {what}", load[0])
        if times.ndim != 1 or len(times) < 2 or not (np.diff(times) > 0).all():
            raise ValueError(f"times of {what}: at least two, ascending, expected, got {load[0]!r}")
        values = array(f"values of {what}", load[1], (len(times), 3))
        return [1.0, float(len(times)), *times, *(values @ turn.T).ravel()], None
    return [0.0, *(turn @ array(what, load, (3,)))], None
