"""States of a run and their diagnostics, which mean the same in every formulation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import ArrayLike

from lgint import _core, _html
from lgint._args import Array, array, choice, listing
from lgint._model.joints import JOINTS, joint_coordinate
from lgint._model.model import Kinematics, Model, System
from lgint._model.multipliers import complete_multipliers
from lgint._model.record import JointRow, partners
from lgint._model.rod import Rod
from lgint._rotation import attitudes, continuous, quaternion_of_matrix
from lgint._run.dense import DenseOutput
from lgint._run.methods import ROWS
from lgint._run.momenta import momenta
from lgint.modal import COM

EQUILIBRIUM: Final = "equilibrium"  # the method of trajectories whose times are load factors


PARTS: Final = tuple(_core.state_parts())
AT_A_TIME = 100_000  # bodies times states whose kinematics are held at once


@dataclass(frozen=True)
class Stats:
    """The cost of a run.

    Attributes
    ----------
    steps : int
        Accepted steps.
    rejected : int
        Steps that error control rejected.
    failed : int
        Those of them that could not be carried out.
    newton_iterations : int
        Linear solves of Newton's method.
    jacobians : int
        Evaluations of tangents.
    factorisations : int
        Factorisations of matrices.
    force_evaluations : int
        Evaluations of the forces.
    dense_fallbacks : int
        Factorisations that were left to LAPACK's dense one.
    midpoint_gradients : int
        Steps of an energy-momentum method in which a midpoint gradient stood in for a discrete one, so that the energy
        is not exact; see the page of these methods.
    gradients_formed : int
        Gradients that a LagrangianModel was not given: by complex step or by differences.
    wall_time : float
        s.
    h_used : float
        The largest step taken, s.
    newton : str or None
        How Newton's method solved the steps, "full" or "modified"; None if nothing was to be solved.
    """

    steps: int = 0
    rejected: int = 0
    failed: int = 0
    newton_iterations: int = 0
    jacobians: int = 0
    factorisations: int = 0
    force_evaluations: int = 0
    dense_fallbacks: int = 0
    midpoint_gradients: int = 0
    gradients_formed: int = 0
    wall_time: float = 0.0
    h_used: float = 0.0
    newton: str | None = None


class States:
    """States of a run at its saved times, and what follows from them. The attributes are explained in `Trajectory`."""

    q: Array
    v: Array
    vdot: Array
    lam: Array
    mem: Array

    def __init__(self, model: System, method: str, options: Mapping[str, Any], result: Mapping[str, Any]) -> None:
        self.model = model
        self.method = method
        self.options = dict(options)
        self.t: Array = result["t"]
        self.h: Array = result["h"]
        self.error: Array = result["error"]
        for name in PARTS:
            if name in result:
                setattr(self, name, result[name])
        self.saved: dict[str, Array] = result.get("saved", {})
        self.carry: Array = result["carry"]
        self.extra: dict[str, Array] = _extra(method, result.get("extra"))
        self.end: dict[str, Array] = result["end"]
        knots = result["knots"]
        self.sol = DenseOutput(model, knots, float(self.end["t"][-1])) if knots and len(knots["t"]) else None
        events = result.get("events") or (None, None, None)
        self.t_events: list[Array] | None = events[0]
        self.q_events: list[Array] | None = events[1]
        self.v_events: list[Array] | None = events[2]
        self.status: int = result.get("status", 0)
        self.stats = _stats(result["stats"], self.h)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            if name in PARTS:
                raise AttributeError(f"{name} was not kept: this run has an argument `save` without it")
            raise AttributeError(f"a trajectory has no attribute {name!r}")

    def __len__(self) -> int:
        return len(self.t)

    def __repr__(self) -> str:
        times = f", t = {self.t[0]:g} ... {self.t[-1]:g}" if len(self) else ""
        return f"<lgint.Trajectory {self.method}: {len(self)} states{times}>"

    def _repr_html_(self) -> str:
        options = ", ".join(f"{name}={value!r}" for name, value in self.options.items())
        ends = {0: "at its end", 1: "at an event", -1: "by a failure"}
        rows: list[tuple[str, object]] = [
            ("model", repr(self.model)),
            ("options", options or "defaults"),
            ("states", len(self)),
            ("times", f"{self.t[0]:g} s ... {self.t[-1]:g} s" if len(self) else "none"),
            ("ended", ends[self.status]),
            ("steps", f"{self.stats.steps}, {self.stats.rejected} rejected, at most {self.stats.h_used:g} s"),
            ("evaluations", self.stats.force_evaluations),
            ("Newton iterations", f"{self.stats.newton_iterations}, {self.stats.newton or 'no'} Newton"),
            ("wall time", f"{self.stats.wall_time:.3g} s"),
        ]
        return _html.table(f"Trajectory by {self.method}", (), rows)

    @property
    def row_names(self) -> list[str]:
        """Names of the constraint rows, in the order of `lam`."""
        return self.model.row_names

    @property
    def _invariant(self) -> bool:
        """Whether multipliers are those of rows in the axes of the bodies that they join."""
        return bool(self.options.get("equivariant", False))

    @property
    def _static(self) -> bool:
        """Whether the states are equilibria, with load factors in the place of times."""
        return self.method == EQUILIBRIUM

    @property
    def _times(self) -> Array:
        """Times (n,) at which the states see whatever depends on time."""
        return np.full(len(self), float(self.options["time"])) if self._static else self.t

    @property
    def _loads(self) -> Array:
        """Factors (n,) of the loads under which the states are."""
        return self.t if self._static else np.ones(len(self))

    # ---- bodies ----

    def multibody(self) -> Model:
        """The model, if it has bodies and joints; ValueError for a system of functions."""
        if not isinstance(self.model, Model):
            raise ValueError(
                f"a {type(self.model).__name__} has no bodies or joints; its trajectory has t, q, v, vdot, lam, "
                "energy and constraint_residual"
            )
        return self.model

    def _kinematics(self, name: str) -> tuple[Array, Array, Array, Array]:
        return self.multibody().kinematics(name, self.q, self.v, self._times)

    def position(self, name: str) -> Array:
        """Inertial position of the COM of body `name`, or of a support, (n, 3), m.

        Of a flexible body: of the origin of its floating frame; "name.node" is one of its nodes, "name.com" its COM.
        """
        return self._kinematics(name)[0]

    def rotation(self, name: str) -> Array:
        """Rotation from body to inertial axes, (n, 3, 3)."""
        return self._kinematics(name)[1]

    def quaternion(self, name: str) -> Array:
        """The rotation as unit quaternions, scalar first, (n, 4); w >= 0 at the start, then without jumps of sign."""
        return continuous(quaternion_of_matrix(self.rotation(name)))

    def unit_length_error(self, name: str) -> Array:
        """|e| - 1 (n,) of the four parameters that store the rotation of a body as a quaternion.

        It stays at round-off if the storage is kept on the unit sphere or a constraint row requires unit length, and
        drifts with "euler_parameters_omega". ValueError if the body's rotation is stored otherwise.
        """
        model = self.multibody()
        body = model.body(name)
        kind, _, begin, *_ = model.core.blocks[body["block"]]
        offset, count = attitudes()[kind]
        if count != 4:
            raise ValueError(f"the rotation of {name!r} is not stored as a quaternion: {body['formulation']!r}")
        first = begin + offset
        length: Array = np.linalg.norm(self.q[:, first : first + 4], axis=1)
        return length - 1

    def velocity(self, name: str) -> Array:
        """Inertial velocity of the COM, (n, 3), m/s."""
        return self._kinematics(name)[2]

    def angular_velocity(self, name: str) -> Array:
        """Angular velocity in body axes, (n, 3), rad/s."""
        return self._kinematics(name)[3]

    def modal(self, name: str) -> Array:
        """Modal coordinates (n, modes) of a flexible body."""
        return self.q[:, self.multibody().modal(name)[0]]

    def modal_rates(self, name: str) -> Array:
        """Rates (n, modes) of the modal coordinates of a flexible body."""
        return self.v[:, self.multibody().modal(name)[1]]

    def point(self, name: str, X: ArrayLike) -> Array:
        """Inertial position (n, 3) of the body-fixed point `X` (3,), given in body axes from the COM, m."""
        x, R, _, _ = self._kinematics(name)
        return x + R @ array("X", X, (3,))

    def point_velocity(self, name: str, X: ArrayLike) -> Array:
        """Inertial velocity (n, 3) of the body-fixed point `X` (3,), m/s."""
        _, R, xdot, omega = self._kinematics(name)
        return xdot + _rotate(R, np.cross(omega, array("X", X, (3,))))

    # ---- the whole system ----

    def energy(self, kind: str = "total") -> Array:
        """Energy (n,), J.

        Parameters
        ----------
        kind : str
            "total", "kinetic" or "potential" (of gravity and springs); "generalized": p.v - T + V with the momentum p
            of the state, and by Hamilton's methods ("emh", "mph"), whose v is the inverse of the mass times p,
            p.v/2 + V; energy-momentum methods conserve it where nothing but the potential acts.
        """
        choice("kind of energy", kind, ("total", "kinetic", "potential", "generalized"))
        kinetic, potential = self.model.core.energy(self._times, self.q, self.v, self._loads)
        if kind == "generalized":
            work: Array = np.einsum("ni,ni->n", self._momenta(), self.v)
            return potential + (work / 2 if ROWS[self.method]["momentum"] == "hamilton" else work - kinetic)
        return {"total": kinetic + potential, "kinetic": kinetic, "potential": potential}[kind]

    def _momenta(self) -> Array:
        if "p" not in self.extra:
            names = [name for name, row in ROWS.items() if row["extra"] == "p"]
            raise ValueError(f"the states of {self.method!r} have no momentum; those of {listing(names)} do")
        return self.extra["p"]

    def momentum(self) -> Array:
        """Linear momentum of all bodies, inertial, (n, 3), kg m/s.

        Of states with a momentum p (`extra["p"]`): that of p, also where p is not M v.
        """
        if "p" in self.extra:
            return momenta(self.multibody(), self.q, self.extra["p"])[0]
        bodies = self.multibody().bodies
        masses = np.array([body["mass"] for body in bodies.values()])
        coms = [f"{name}.{COM}" if body["modes"] else name for name, body in bodies.items()]
        total = np.zeros((len(self), 3))
        for states, (_, _, xdot, _) in self._motions(coms):
            total[states] = np.einsum("b,nbi->ni", masses, xdot)
        return total

    def angular_momentum(self) -> Array:
        """Angular momentum of all bodies about the origin, inertial, (n, 3), kg m^2/s.

        Of states with a momentum p (`extra["p"]`): that of p, also where p is not M v.
        """
        if "p" in self.extra:
            return momenta(self.multibody(), self.q, self.extra["p"])[1]
        bodies = self.multibody().bodies
        rigid = {name: body for name, body in bodies.items() if not body["modes"]}
        masses = np.array([body["mass"] for body in rigid.values()])
        inertia = np.reshape([body["inertia"] for body in rigid.values()], (-1, 3, 3))
        total = np.zeros((len(self), 3))
        for states, (x, R, xdot, omega) in self._motions(list(rigid)):
            total[states] = np.einsum("b,nbi->ni", masses, np.cross(x, xdot))
            total[states] += np.einsum("nbij,nbj->ni", R, np.einsum("bjk,nbk->nbj", inertia, omega))
        for name in bodies.keys() - rigid.keys():
            total += self._modal_angular_momentum(name)
        return total

    def _motions(self, names: Sequence[str]) -> Iterator[tuple[slice, Kinematics]]:
        """Kinematics of bodies, so many states at a time that their arrays stay small."""
        many = max(AT_A_TIME // max(len(names), 1), 1)
        for first in range(0, len(self), many):
            states = slice(first, first + many)
            yield states, self.multibody().motions(names, self.q[states], self.v[states], self._times[states])

    def _modal_angular_momentum(self, name: str) -> Array:
        model = self.multibody()
        x, R, xdot, omega = self._kinematics(name)
        own = model.modes(name).angular_momentum(
            _rotate(np.swapaxes(R, 1, 2), xdot), omega, self.modal(name), self.modal_rates(name)
        )
        total: Array = model.bodies[name]["mass"] * np.cross(x, self.velocity(f"{name}.{COM}")) + _rotate(R, own)
        return total

    def constraint_residual(self, level: str = "position") -> Array:
        """Residuals of all constraint rows, (n, nc), at "position" or "velocity" level."""
        levels = ("position", "velocity")
        choice("level", level, levels)
        return self.model.core.residual(self._times, self.q, self.v)[levels.index(level)]

    # ---- rods ----

    def strain(self, rod: str | Rod) -> Array:
        """Strains (n, edges, 6) of a rod, by name or as `add_rod` returned it.

        In section axes: shear along d1 and d2 and stretch (1 at the unstrained length), then bending about d1 and d2
        and torsion, 1/m.
        """
        return self._edges(rod)[0]

    def stress(self, rod: str | Rod) -> Array:
        """Forces (N) and moments (N m) in the edges of a rod, (n, edges, 6), in the order of `strain`.

        Those against constrained strains are the constraint forces.
        """
        return self._edges(rod)[1]

    def line(self, rod: str | Rod) -> Array:
        """Inertial positions of the nodes of a rod, (n, nodes, 3), m."""
        model = self.multibody()
        return model.motions(model.rod(rod)["nodes"], self.q, self.v, self._times)[0]

    def _edges(self, rod: str | Rod) -> tuple[Array, Array]:
        """Strains and stresses of a rod."""
        model = self.multibody()
        elements = [model.joint_place(edge).element for edge in model.rod(rod)["edges"]]
        return model.core.strain(elements, self._times, self.q, self.v, self.lam, self._static)

    # ---- joints ----

    @property
    def angle_names(self) -> list[str]:
        """Joints that have an angle (revolute, cylindrical, planar), in the order of `joint_angles`."""
        return [name for name, joint in self.multibody().joints.items() if _has_angle(joint)]

    def joint_angle(self, name: str) -> Array:
        """Angle (n,) of the second body relative to the first about the joint's axis, rad, through full turns.

        At the start of the model it has the value given to `add_joint`, by default zero.
        """
        return self.joint_position(name, "angle")

    def joint_position(self, name: str, coordinate: str | None = None) -> Array:
        """Angle (n,) of a joint, rad, or its slide (n,), m: the distance of the second body along the axis.

        `coordinate` is "angle" (revolute, cylindrical, planar) or "slide" (prismatic, cylindrical, inline). Default:
        the one that the joint has, the angle if it has both. The axis of a slide is fixed in the first body.
        """
        model = self.multibody()
        joint = model.joint(name)
        which = joint_coordinate(name, joint["kind"], coordinate)
        if joint.get("holds"):
            return self.q[:, _coordinate(model, name, 0)]
        if which == "angle":
            _, _, place, _ = model.core.rows(model.joint_place(name).element)
            return self.mem[:, place]
        axis, _, apart, _ = self._slide(model, name)
        return _dot(axis, apart)

    def joint_rate(self, name: str, coordinate: str | None = None) -> Array:
        """Rate (n,) of what `joint_position` gives, rad/s or m/s."""
        model = self.multibody()
        joint = model.joint(name)
        which = joint_coordinate(name, joint["kind"], coordinate)
        if joint.get("holds"):
            return self.v[:, _coordinate(model, name, 1)]
        if which == "slide":
            axis, turning, apart, velocity = self._slide(model, name)
            return _dot(axis, velocity - np.cross(turning, apart))
        first, second = (model.joint_kinematics(name, slot, self.q, self.v, self._times) for slot in (0, 1))
        axis = first[1] @ model.joint_triad(name, 0)[:, 2]
        return _dot(axis, _rotate(second[1], second[3]) - _rotate(first[1], first[3]))

    def _slide(self, model: Model, name: str) -> tuple[Array, Array, Array, Array]:
        """The axis of a joint on its first body, the body's angular velocity, and the second point from the first.

        All inertial and (n, 3); the last is the velocity of the second point against the first.
        """
        place = model.joint_place(name)
        first, second = (model.core.kinematics(frame, self.q, self.v, self._times) for frame in place.slide)
        axis = model.joint_kinematics(name, 0, self.q, self.v, self._times)[1] @ model.joint_triad(name, 0)[:, 2]
        return axis, _rotate(first[1], first[3]), second[0] - first[0], second[2] - first[2]

    def joint_angles(self) -> Array:
        """Angles of all joints that have one, (n, joints), rad; columns as in `angle_names`."""
        angles = [self.joint_angle(name) for name in self.angle_names]
        return np.stack(angles, axis=1) if angles else np.empty((len(self), 0))

    def all_multipliers(self) -> Array:
        """Multipliers (n, rows) of all rows of `model.complete`, including those that were left out as redundant.

        They are zero for rows that were dropped. For a model built with redundant="minimum_norm" they have the least
        Euclidean norm (with N and N m alike) among all multipliers with the same effect on the bodies as `lam`.
        """
        model = self.multibody()
        return complete_multipliers(model, self.q, self.v, self.lam) if model.dropped else self.lam

    def reaction(self, name: str, frame: str = "inertial", on: str = "second") -> Array:
        """Force (N) and moment (N m) of a joint, (n, 6), at the joint's point of the body they act on.

        Of a support: those with which it acts on all that is attached to it, at its position.

        Parameters
        ----------
        name : str
            Joint or support.
        frame : str
            "inertial"; "body": axes of the body acted on, or of the support; "joint": the joint's axes e1, e2, e3 on
            that body, of which e3 is the axis of the joint.
        on : str
            "second" (the second partner of the joint) or "first".
        """
        model = self.multibody()
        if name in model.supports:
            return self._supporting(model, name, choice("frame", frame, ("inertial", "body")))
        joint = model.joint(name)
        choice("frame", frame, ("inertial", "body", "joint"))
        slot = ("first", "second").index(choice("side", on, ("first", "second")))
        if joint.get("holds"):
            return self._held(model, name, frame, slot)
        # the core gives the force in inertial axes and the moment in those of the body's node
        lam = self.all_multipliers()
        whole, place = model.complete, model.joint_place(name)
        element = whole.joint_place(name).element
        wrench = whole.core.reaction(element, slot, self._times, self.q, self.v, lam, self._static, self._invariant)
        R = model.core.kinematics(place.frames[slot], self.q, self.v, self._times)[1]
        inertial = np.concatenate([wrench[:, :3], _rotate(R, wrench[:, 3:])], axis=1)
        return self._turned(model, name, inertial, frame, slot)

    def _held(self, model: Model, name: str, frame: str, slot: int) -> Array:
        """The reaction in the joint that holds a link of a tree."""
        place = model.joint_place(name)
        wrench = self._transmitted(model, place.element, place.link or 0)
        if slot == 0:
            first, link = (model.joint_kinematics(name, end, self.q, self.v, self._times)[0] for end in (0, 1))
            moment = wrench[:, 3:] + np.cross(link - first, wrench[:, :3])
            wrench = -np.concatenate([wrench[:, :3], moment], axis=1)
        return self._turned(model, name, wrench, frame, slot)

    def _transmitted(self, model: Model, element: int, link: int) -> Array:
        """Force and moment, inertial, (n, 6), in the joint of a link of a tree, or of a support."""
        state = (self._times, self.q, self.v, self.vdot, self.lam, self.mem)
        return model.core.transmitted(element, link, *state, self._loads, self._static)

    def _supporting(self, model: Model, name: str, frame: str) -> Array:
        """The reaction of a support."""
        wrench = self._transmitted(model, model.supports[name], 0)
        return wrench if frame == "inertial" else _seen_from(self.rotation(name), wrench)

    def _turned(self, model: Model, name: str, wrench: Array, frame: str, slot: int) -> Array:
        """A wrench in inertial axes, seen from a joint's frame or from the body in its slot."""
        body = partners(model.joint(name))[slot]
        if frame == "inertial" or (frame == "body" and body == "ground"):
            return wrench
        if frame == "body":
            R = model.kinematics(body, self.q, self.v, self._times)[1]
        else:
            R = model.joint_kinematics(name, slot, self.q, self.v, self._times)[1] @ model.joint_triad(name, slot)
        return _seen_from(R, wrench)


def _extra(method: str, values: Array | None) -> dict[str, Array]:
    """What the states of a method have beside q, v, vdot and lam, by name."""
    name = ROWS[method]["extra"] if method in ROWS else None
    return {name: values} if name and values is not None else {}


def _stats(given: Mapping[str, Any], h: Array) -> Stats:
    known = {field.name for field in fields(Stats)}
    values = {name: value for name, value in given.items() if name in known}
    values.setdefault("force_evaluations", given.get("evaluations", 0))
    values.setdefault("h_used", float(h.max(initial=0.0)))
    return Stats(**values)


def _has_angle(joint: JointRow) -> bool:
    return joint["kind"] in JOINTS and "angle" in JOINTS[joint["kind"]].coordinates


def _coordinate(model: Model, name: str, level: int) -> int:
    """Place in q (`level` 0) or v (1) of the coordinate of a joint that holds a link of a tree."""
    place = model.joint_place(name)
    starts = model.core.blocks[place.blocks[1]][2:4]
    return starts[level] + (place.link or 0)


def _dot(x: Array, y: Array) -> Array:
    """Scalar products of rows."""
    product: Array = np.einsum("ni,ni->n", x, y)
    return product


def _seen_from(R: Array, wrench: Array) -> Array:
    """Inertial wrenches (n, 6) in the axes R (n, 3, 3)."""
    back = np.swapaxes(R, 1, 2)
    return np.concatenate([_rotate(back, wrench[:, :3]), _rotate(back, wrench[:, 3:])], axis=1)


def _rotate(R: Array, x: Array) -> Array:
    """R x for rows: (n, 3, 3), (n, 3) -> (n, 3)."""
    rotated: Array = np.einsum("nij,nj->ni", R, x)
    return rotated
