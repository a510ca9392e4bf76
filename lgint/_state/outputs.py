"""What follows from states: forces, their power and work, and accelerations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from lgint._args import Array, array, choice, guess
from lgint._model.model import Model
from lgint._model.record import ForceRow, JointRow, couplings, is_motion, partners
from lgint._model.values import PIECES
from lgint._state.bodies import EQUILIBRIUM, rotate
from lgint._state.joints import JointAccessors, dot

ALONG_LINES: Final = frozenset({"spring", "distance_spring", "distance_law", "tension"})  # between two points
AT_A_TIME: Final = 200_000  # coordinates, of all states together, for which powers are computed at once


class Wrench(NamedTuple):
    """A force and a moment on a body, and the point of the body to which they refer.

    Attributes
    ----------
    values : ndarray, shape (..., 6)
        Force, N, and moment about the point, N m, in inertial axes.
    point : ndarray, shape (..., 3)
        Inertial position of the point, m.
    """

    values: Array
    point: Array

    @property
    def force(self) -> Array:
        """The force (..., 3) in inertial axes, N."""
        return self.values[..., :3]

    @property
    def moment(self) -> Array:
        """The moment (..., 3) about the point in inertial axes, N m."""
        return self.values[..., 3:]

    def about(self, point: ArrayLike) -> Wrench:
        """The same force, with its moment about another point.

        Parameters
        ----------
        point : array_like, shape (..., 3)
            Inertial position, m.

        Returns
        -------
        Wrench
            Its point is the given one.
        """
        other = np.broadcast_to(np.asarray(point, dtype=float), self.point.shape)
        moment = self.moment + np.cross(self.point - other, self.force)
        return Wrench(np.concatenate([self.force, moment], axis=-1), other)


class Tendon(NamedTuple):
    """An elastic tendon.

    Attributes
    ----------
    tension : ndarray, shape (...)
        N; never negative.
    length : ndarray, shape (...)
        Of all pieces and of the arcs on pulleys and drums, m.
    rate : ndarray, shape (...)
        Of the length, m/s.
    """

    tension: Array
    length: Array
    rate: Array


class _Part(NamedTuple):
    """A row of the record that is a force or, as with tendons, a part of one."""

    element: int
    row: ForceRow
    bodies: tuple[str, ...]  # on which it acts
    in_tree: bool  # it acts on a coordinate of a tree, and the core knows its wrench on the second body alone


class OutputAccessors(JointAccessors):
    """The accessors of bodies, rods and joints, and those of forces and accelerations."""

    __slots__ = ()

    # ---- forces ----

    @property
    def force_names(self) -> list[str]:
        """Names that `force`, `power` and `work` accept: springs, loads, ..., then supports, motions, couplings."""
        model = self.multibody()
        return [*_parts_of_forces(model), *model.supports, *_motions(model), *couplings(model.joints)]

    def force(self, name: str, on: str | None = None) -> Any:
        """The force of a spring, drive, law, tendon, load or support.

        ======================================  ================================================================
        kind                                    result
        ======================================  ================================================================
        spring, tendon                          number along its length: positive if it pushes the ends apart
        drive, spring, law, motion in a joint   number along the joint's coordinate, as `add_joint_drive` says
        coupling of joints                      multiplier of its row, as `add_coupling` says
        force and torque on a body, drag        wrench on the body
        law on one body                         wrench on the body
        Cartesian spring, bushing, contact      wrench on the second body
        law on two bodies                       wrench on the second body, as of other elements of two bodies
        support                                 wrench on everything attached to the support, as in `reaction`
        ======================================  ================================================================

        A number times the rate of its coordinate is the power of the force. With `on` the result is a wrench for all
        kinds. What joints exert by their constraints, and rods by their stresses, is given by `reaction`.

        Parameters
        ----------
        name : str
            Force, or support; `force_names` lists them. A force and a torque that were added by one call of `add_force`
            are one wrench; "name.force" and "name.torque" are its parts.
        on : str, optional
            A body on which it acts, or "ground": the wrench that it exerts there. It refers to the point of the force
            on this body and, for a drive or a law on the coordinate of a tree, to that on the second body. If a tendon
            runs through several points of the body, it refers to the first one.

        Returns
        -------
        ndarray, shape (...)
            For forces along a coordinate: N, or N m along an angle.
        Wrench
            Otherwise: `values` (..., 6), with the parts `force` and `moment`, and `point` (..., 3), in inertial axes.

        Raises
        ------
        ValueError
            For an unknown name, for joints and bodies, and for a body on which it does not act.
        AttributeError
            Inside a function that is called with a `State` during a run.
        """
        model = self._with_force(name)
        if name in model.supports:
            if on is not None:
                raise ValueError(f"on: support {name!r} acts on all that is attached to it; leave out `on`")
            return Wrench(self.reaction(name), self.position(name))
        if name in _motions(model):
            return self._of_motion(model, name, on)
        if name in (coupled := couplings(model.joints)):
            return self._of_coupling(model, coupled[name], on)
        parts = _parts(model, name)
        if on is not None:
            choice(f"body of {name!r}", on, [*dict.fromkeys(body for part in parts for body in part.bodies)])
            return _sum(
                self._on_body(part, slot) for part in parts for slot, who in enumerate(part.bodies) if who == on
            )
        row = parts[0].row
        if "joint" in row:
            efforts = [self._in_joint(model, part) for part in parts]
            return efforts[0] if len(efforts) == 1 else sum(efforts[1:], efforts[0])
        if row["kind"] in PIECES:
            return -self._tendon(parts[0]).tension
        if row["kind"] in ALONG_LINES:
            return self._along_line(parts[0])
        second = 0 if row.get("turned") else len(parts[0].bodies) - 1
        return _sum(self._on_body(part, second) for part in parts)

    def tendon(self, name: str) -> Tendon:
        """The tension, the length and its rate of an elastic tendon.

        As functions of `events`, ``state.tendon(name).length - rest_length`` finds where a tendon becomes taut
        (`direction` 1) or slack (-1).

        Parameters
        ----------
        name : str
            A tendon that `add_tendon` has added with a stiffness.

        Returns
        -------
        Tendon
            Numbers for each state.

        Raises
        ------
        ValueError
            For an unknown name.
        """
        model = self.multibody()
        elastic = [key for key, row in model.forces.items() if row["kind"] in PIECES and row["piece"] == "first"]
        return self._tendon(_parts(model, choice("elastic tendon", name, elastic))[0])

    def power(self, name: str) -> Array:
        """The power of a force on all bodies on which it acts, or of a support on what is attached to it.

        It is negative if the force takes energy from the bodies, as dampers do. That of a control is the sum over all
        of its efforts.

        Parameters
        ----------
        name : str
            As in `force`, or a control.

        Returns
        -------
        ndarray, shape (...)
            W.

        Raises
        ------
        ValueError
            For an unknown name, and for joints and bodies.
        AttributeError
            As in `force`.
        """
        model = self._with_force(name)
        if name in model.controls:
            return self._power_of_control(name)
        if name in model.supports:
            _, R, xdot, omega = self._kinematics(name)
            wrench = self.reaction(name)
            on_support: Array = dot(wrench[..., :3], xdot) + dot(wrench[..., 3:], rotate(R, omega))
            return on_support
        if name in _motions(model):
            moved = model.joint(name)
            rate = self.joint_rate(moved["of"], moved["kind"].removesuffix("_motion"))
            effort: Array = self._of_motion(model, name, None) * rate
            return effort
        if name in (coupled := couplings(model.joints)):
            rates = (row["factor"] * self._rate_of(row) for row in coupled[name].values())
            of_all: Array = self._of_coupling(model, coupled[name], None) * sum(rates)
            return of_all
        total = np.zeros(np.shape(self.t))
        for part in _parts(model, name):
            for slot in range(1 if part.in_tree else len(part.bodies)):
                total = total + self._exerted(part, slot)[2]
        return total

    def work(self, name: str) -> Array:
        """The work of a force or a control since the start of the run: the integral of `power` over dense output.

        Each step is integrated by a Gauss rule of order 8, so that the error is that of the run and its dense output.

        Parameters
        ----------
        name : str
            As in `power`.

        Returns
        -------
        ndarray, shape (...)
            J.

        Raises
        ------
        ValueError
            For an unknown name, for joints and bodies, and without dense output.
        """
        model = self._with_force(name)
        if name not in (*model.supports, *_motions(model), *couplings(model.joints), *model.controls):
            _parts(model, name)
        run = self._integrable()
        times = np.asarray(self.t)
        ends = np.unique(np.concatenate([run.sol.knots["t"], times.ravel()]))
        ends = ends[ends <= times.max(initial=ends[0])]
        done = np.zeros(len(ends))
        points, weights = np.polynomial.legendre.leggauss(4)
        many = max(AT_A_TIME // (len(points) * max(self.model.nq, 1)), 1)
        for first in range(0, len(ends) - 1, many):
            last = min(first + many, len(ends) - 1)
            half = np.diff(ends[first : last + 1]) / 2
            at = (ends[first:last] + half)[:, None] + half[:, None] * points
            powers = run.at(at.ravel()).power(name).reshape(at.shape)
            done[first + 1 : last + 1] = done[first] + np.cumsum(half * (powers @ weights))
        return done[np.searchsorted(ends, times)]

    def _with_force(self, name: object) -> Model:
        """The model; a ValueError if the name is not a string."""
        if not isinstance(name, str):
            choice("force", name, self.force_names)
        return self.multibody()

    def _of_motion(self, model: Model, name: str, on: str | None) -> Any:
        """The effort of a prescribed motion, which is its multiplier; with `on` its wrench on a body."""
        ends = partners(model.joint(name))
        if on is not None:
            side = ("first", "second")[ends.index(choice(f"body of {name!r}", on, list(ends)))]
            slot = ("first", "second").index(side)
            point = model.joint_kinematics(name, slot, self.q, self.v, self.clock)[0]
            return Wrench(self.reaction(name, on=side), point)
        (row,) = model.complete.rows(name)
        return self.all_multipliers()[..., row]

    def _of_coupling(self, model: Model, terms: Mapping[str, JointRow], on: str | None) -> Any:
        """The multiplier of a coupling; with `on` the wrench of its terms on a body."""
        if on is None:
            return self._of_motion(model, next(iter(terms)), None)
        ends = {name: partners(row) for name, row in terms.items()}
        choice(f"body of {next(iter(terms))!r}", on, [*dict.fromkeys(who for both in ends.values() for who in both)])
        return _sum(self._of_motion(model, name, on) for name, both in ends.items() if on in both)

    def _rate_of(self, row: JointRow) -> Array:
        return self.joint_rate(row["coupled"], row["kind"].removesuffix("_coupling"))

    def _power_of_control(self, name: str) -> Array:
        raise NotImplementedError

    def _integrable(self) -> Any:
        """The run to which the states belong, which must have dense output."""
        if self.method == EQUILIBRIUM:
            raise ValueError("work: equilibria do not follow each other in time")
        run = vars(self).get("_source", self)
        if getattr(run, "sol", None) is None:
            raise ValueError("work: dense output of a run expected; integrate with dense_output=True")
        return run

    @property
    def _without_forces(self) -> str:
        """Why the states have no forces; "" if they do. A law that asked for them would call itself endlessly."""
        return ""

    def _exerted(self, part: _Part, slot: int) -> tuple[Array, Array, Array]:
        """The inertial wrench of a force on its frame in a slot, the position of the frame, and the power there."""
        if self._without_forces:
            raise AttributeError(f"this state has no force: {self._without_forces}")
        state = self.clock, self.q, self.v, self.mem, self._loads, self._static
        return self.multibody().core.exerted(part.element, slot, *state)

    def _on_body(self, part: _Part, slot: int) -> Wrench:
        """What a force exerts on one of its bodies."""
        values, point, _ = self._exerted(part, 0 if part.in_tree else slot)
        return Wrench(-values if part.in_tree and slot == 0 else values, point)

    def _in_joint(self, model: Model, part: _Part) -> Array:
        """A force along the coordinate of a joint."""
        name = part.row["joint"]
        axis = model.joint_kinematics(name, 0, self.q, self.v, self.clock)[1] @ model.joint_triad(name, 0)[:, 2]
        on_second = self._on_body(part, 1)
        return dot(axis, on_second.moment if part.row["coordinate"] == "angle" else on_second.force)

    def _tendon(self, piece: _Part) -> Tendon:
        return Tendon(*self.multibody().core.tendon(piece.element, self.clock, self.q, self.v, self.mem))

    def _along_line(self, part: _Part) -> Array:
        """A force along the line between two points; if these coincide, it resists their motion."""
        first, second = self._on_body(part, 0), self._on_body(part, 1)
        apart = second.point - first.point
        length = np.linalg.norm(apart, axis=-1)
        along: Array = np.where(
            length > 0,
            dot(second.force, apart) / np.where(length > 0, length, 1.0),
            -np.linalg.norm(second.force, axis=-1),
        )
        return along

    # ---- accelerations ----

    def acceleration(self, name: str, X: ArrayLike | None = None) -> Array:
        """Inertial acceleration of a body's COM or of a point fixed to it, with the accelerations `vdot` of the states.

        Parameters
        ----------
        name : str
            Body, support, or "name.node", a node of a flexible body; "name.com" is its COM, and the name alone stands
            for the origin of its floating frame.
        X : array_like, shape (3,), optional
            A point in body axes from the COM, m, as in `point`.

        Returns
        -------
        ndarray, shape (..., 3)
            In inertial axes, m/s^2.

        Raises
        ------
        ValueError
            For an unknown name, and for a model without bodies.
        """
        linear, angular = self._accelerations(name)
        if X is None:
            return linear
        (_, R, _, omega), X = self._kinematics(name), array("X", X, (3,))
        return linear + rotate(R, np.cross(angular, X) + np.cross(omega, np.cross(omega, X)))

    def angular_acceleration(self, name: str) -> Array:
        """Angular acceleration of a body in its own axes: the rate of `angular_velocity`.

        Parameters
        ----------
        name : str
            Body, support, "ground", or "name.node", a node of a flexible body; "name.com" is its COM.

        Returns
        -------
        ndarray, shape (..., 3)
            In body axes, rad/s^2.

        Raises
        ------
        ValueError
            For an unknown name, and for a model without bodies.
        """
        return self._accelerations(name)[1]

    def _accelerations(self, name: str) -> tuple[Array, Array]:
        return self.multibody().accelerations(name, self.q, self.v, self.vdot, self.clock)


# ---- names ----


def _motions(model: Model) -> list[str]:
    """The prescribed motions of coordinates."""
    return [name for name, joint in model.joints.items() if is_motion(joint)]


def _parts_of_forces(model: Model) -> dict[str, list[_Part]]:
    """The parts of all forces, by the names that the builder returned."""
    forces = model.forces
    first = model.elements - len(forces)
    found: dict[str, list[_Part]] = {}
    for number, (name, row) in enumerate(forces.items()):
        found.setdefault(_whole(name, forces), []).append(_part(model, first + number, row))
    return found


def _whole(name: str, forces: Mapping[str, ForceRow]) -> str:
    """The name of the force of which a row is a part: a tendon, a force with a torque, or a drive with one."""
    row, (stem, _, last) = forces[name], name.rpartition(".")
    if row["kind"] == "load" and row.get("beside") == stem:
        return stem
    pair = {"force": "torque", "torque": "force"}.get(last)
    paired = pair is not None and forces.get(f"{stem}.{pair}", row)["kind"] == pair
    return stem if row["kind"] == "tension" or row.get("piece") == "next" or (paired and row["kind"] == last) else name


def _part(model: Model, element: int, row: ForceRow) -> _Part:
    if "joint" not in row:
        return _Part(element, row, (*row["bodies"],), False)
    joint = model.joint(row["joint"])
    return _Part(element, row, partners(joint), bool(joint.get("holds")))


def _parts(model: Model, name: str) -> list[_Part]:
    """The parts of a force; a ValueError that says what to ask instead if there is no such force."""
    forces = model.forces
    if name in forces and forces[name]["kind"] in PIECES and forces[name]["piece"] == "first":
        return _parts_of_forces(model)[name]
    if name in forces:
        number = model.elements - len(forces) + [*forces].index(name)
        own = [name, *(other for other in [f"{name}.torque"] if other in forces and _whole(other, forces) == name)]
        return [_part(model, number + i, forces[part]) for i, part in enumerate(own)]
    found = _parts_of_forces(model)
    if name in found:
        return found[name]
    if name in model.joints:
        inside = [own for own, parts in found.items() if parts[0].row.get("joint") == name]
        drives = f"; the forces in it are {', '.join(map(repr, inside))}" if inside else ""
        raise ValueError(f"joint {name!r} has no force of its own: reaction({name!r}) gives what it exerts{drives}")
    if name in model.controls:
        instead = f"control({name!r}).efforts gives them, and power and work their sums"
        raise ValueError(f"control {name!r} has efforts in joints and on bodies: {instead}")
    if name in model.bodies:
        listed = f"forces{guess(name, [*found])} are: {', '.join(found) or 'none'}"
        raise ValueError(f"body {name!r} is not a force; {listed}")
    choice("force", name, [*found, *model.supports])
    raise AssertionError


def _sum(wrenches: Any) -> Wrench:
    """The sum of wrenches about the point of the first one."""
    first, *others = wrenches
    return Wrench(sum((other.about(first.point).values for other in others), first.values), first.point)
