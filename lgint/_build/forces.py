"""The part of the builder that adds forces: loads, drives, and laws written in Python."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from numpy.typing import ArrayLike

from lgint._args import choice, number, shown, takes_one
from lgint._build.elements import Where
from lgint._build.parts import Ground, Partner, ground
from lgint._build.tendons import TendonBuilder
from lgint._build.timed import (
    Load,
    Motion,
    check_course,
    check_smooth,
    motion_in_time,
    set_kinks,
    value_in_time,
)
from lgint._model.compiled import check_tangent, user_function
from lgint._model.joints import joint_coordinate
from lgint._model.motion import Coordinate
from lgint._model.parameters import AXES
from lgint._model.record import ForceRow, JointRow, LoadRow, Matrix, partners


class ForceBuilder(TendonBuilder):
    """The part of `ModelBuilder` that adds forces."""

    # ---- on one body ----

    def add_force(
        self,
        body: str,
        *,
        force: Load | None = None,
        torque: Load | None = None,
        point: ArrayLike | None = None,
        local_point: ArrayLike | None = None,
        frame: str = "inertial",
        kinks: ArrayLike = (),
        name: str | None = None,
    ) -> str:
        """Adds a force (N), a torque (N m) or both to a body.

        Parameters
        ----------
        body : str
            On which it acts.
        force, torque : array_like (3,), table or function
            A constant vector; a table (times (m,), values (m, 3)), linear between its times, constant outside; or a
            function of time that returns three numbers.
        point : array_like, shape (3,), optional
            Where the force acts, inertial in the start configuration; it moves with the body. Default: the COM.
        local_point : array_like, shape (3,), optional
            The same point, body-fixed: in body axes from the COM.
        frame : str
            "inertial", or "body": the vectors turn with the body.
        kinks : array_like, shape (k,)
            Times at which functions are not smooth; steps end there.
        name : str, optional
            By which `Model.values` and messages refer to it. Default: made from the names of the bodies.

        Returns
        -------
        str
            Its name.

        Raises
        ------
        ValueError
            For unknown bodies, wrong shapes, also of what a function returns at t = 0, and a name in use.
        """
        partner = self._moving("body of a force", body)
        if force is None and torque is None:
            raise ValueError(f"force on {partner!r}: give force, torque or both")
        if force is None and (point is not None or local_point is not None):
            what = "local_point" if point is None else "point"
            raise ValueError(f"{what} of the torque on {partner!r}: a torque alone acts on no point; leave it out")
        choice("frame", frame, AXES)
        name = self._free_name(f"{partner}.load") if name is None else name
        self._new_name("force", name)
        at = self._attachment(name, partner, point, local_point)
        rows: dict[str, ForceRow] = {}
        for kind, load in (("force", force), ("torque", torque)):
            if load is not None:
                given = value_in_time(f"{kind} of {name!r}", load, 3)
                key = name if force is None or torque is None else f"{name}.{kind}"
                rows[key] = {"kind": kind, "bodies": [partner], "points": [at], "axes": frame, "load": given}
        set_kinks(repr(name), kinks, *(row["load"] for row in rows.values()))
        return self._add_parts("force", name, rows)

    def add_drag(
        self,
        body: str,
        *,
        drag: ArrayLike,
        wind: Load | None = None,
        kinks: ArrayLike = (),
        point: ArrayLike | None = None,
        local_point: ArrayLike | None = None,
        name: str | None = None,
    ) -> str:
        """Viscous drag on a body: the force is -drag times the velocity, component by component in body axes.

        Parameters
        ----------
        body : str
            On which it acts.
        drag : float or array_like, shape (3,) or (3, 3)
            N s/m: one for all directions, one for each axis of the body, or a symmetric matrix in body axes.
        wind : array_like (3,), table or function, optional
            The velocity of the medium, m/s, inertial, from which that of the body counts: a vector, or what varies with
            time, as in `add_force`. Default: the medium rests.
        kinks : array_like, shape (k,)
            Times at which a function is not smooth; steps end there.
        point, local_point : array_like, shape (3,), optional
            Where the force acts and the velocity is taken, as in `add_force`. Default: the COM.
        name : str, optional
            By which `Model.values` and messages refer to it. Default: made from the names of the bodies.

        Returns
        -------
        str
            Its name.

        Raises
        ------
        ValueError
            For unknown bodies, wrong shapes, also of what a function returns at t = 0, and a name in use.
        """
        where = Where(point, local_point)
        if wind is None:
            set_kinks("drag" if name is None else repr(name), kinks)
            return self._declared("drag", (body,), where, name, {"drag": drag})
        label = "a drag" if name is None else repr(name)
        load = value_in_time(f"wind of {label}", wind, 3)
        set_kinks(label, kinks, load)
        name = self._declared("wind_drag", (body,), where, name, {"drag": drag}, "drag")
        self._forces[name]["load"] = load
        return name

    # ---- in joints, and by functions ----

    def add_joint_drive(
        self,
        joint: str,
        *,
        coordinate: str | None = None,
        torque: Load | None = None,
        stiffness: float | None = None,
        damping: float | None = None,
        motion: Motion | None = None,
        saturation: float | None = None,
        kinks: ArrayLike = (),
        name: str | None = None,
    ) -> str:
        """A motor in a joint with the coordinate phi: torque + stiffness (phi_d - phi) + damping (phi_d' - phi').

        This torque (N m) about the joint's axis, or force (N) along it, acts on the second body, and the opposite one
        on the first.

        Parameters
        ----------
        joint : str
            Name of a joint that has an angle, through full turns (revolute, cylindrical, planar), or a slide along its
            axis (prismatic, cylindrical, inline), as `Trajectory.joint_position` gives it.
        coordinate : str, optional
            "angle" or "slide", where the joint has both. Default: the angle if there is one.
        torque : float, table or function, optional
            N m, or N along a slide: a number, a table (times, values), linear between times and constant outside, or a
            function of time. Equilibria multiply it by the factor of the loads. Default: 0.
        stiffness, damping : float, optional
            N m/rad, N m s/rad; along a slide N/m, N s/m. Default: 0. At least one of these three is given; a zero
            stands for a value that `Model.with_parameters` will change.
        motion : float, array_like, shape (pieces, 4), table or function, optional
            The desired coordinate phi_d(t), as in `add_joint_motion`: a constant; quadratic pieces, rows (t, phi_d,
            phi_d', phi_d'') at the beginning of each, as a list or an array; a table, as a tuple (times, values); or a
            function of time. Here the rate may jump. Default: phi_d = 0.
        saturation : float, optional
            The largest torque or force, at which the sum is cut off on both sides; not with a torque that varies with
            time. Default: none.
        kinks : array_like, shape (k,)
            Times at which functions that are given as torque or motion are not smooth; steps end there.
        name : str, optional
            By which `Model.values` and messages refer to it. Default: made from the names of the bodies.

        Returns
        -------
        str
            Its name.

        Raises
        ------
        ValueError
            For a joint that is unknown or has no such coordinate, for wrong shapes, for a drive of which nothing is
            given, for a motion without stiffness and damping, or without a rate where only a damping is given, for a
            saturation of nothing, and for a function whose rates are not its derivatives; they are compared as in
            `add_joint_motion`, but not across a time.
        """
        label = f"the drive of {joint!r}" if name is None else repr(name)
        if torque is None and stiffness is None and damping is None and motion is None and saturation is None:
            raise ValueError(f"{label}: nothing is given; give a torque, a stiffness or a damping")
        load = value_in_time(f"torque of {label}", 0.0 if torque is None else torque, 1)
        course: LoadRow = {} if motion is None else motion_in_time(f"motion of {label}", motion, 1)
        set_kinks(label, kinks, load, course)
        if "function" in course:
            check_course(f"motion of {label}", Coordinate(name or joint, course["function"]), jumps=True)
        row: ForceRow = {
            "kind": "drive",
            "torque": load["vector"][0] if "vector" in load else 0.0,
            "stiffness": 0.0 if stiffness is None else number(f"stiffness of {label}", stiffness),
            "damping": 0.0 if damping is None else number(f"damping of {label}", damping),
            "motion": _coordinate_row(course),
        }
        if motion is not None and stiffness is None:
            _refuse_without_effect(label, course, damping)
        if saturation is not None:
            if stiffness is None and damping is None and row["torque"] == 0 and "vector" in load:
                raise ValueError(
                    f"saturation of {label}: {shown(saturation)} has nothing to cut off; give a torque, a "
                    "stiffness or a damping"
                )
            if "vector" not in load:
                raise ValueError(f"saturation of {label}: its torque varies with time; cut off its own values")
            limit = number(f"saturation of {label}", saturation, positive=True)
            row = {**row, "kind": "saturated_drive", "saturation": limit}
        if "vector" in load:
            return self._add_joint_force(joint, coordinate, name, row)
        beside: ForceRow = {"kind": "load", "load": load}
        if row["stiffness"] == row["damping"] == 0:
            return self._add_joint_force(joint, coordinate, name, beside)
        name = self._add_joint_force(joint, coordinate, name, row)
        self._add_joint_force(joint, coordinate, f"{name}.torque", {**beside, "beside": name})
        return name

    def add_joint_motion(
        self,
        joint: str,
        motion: Motion,
        *,
        coordinate: str | None = None,
        kinks: ArrayLike = (),
        name: str | None = None,
    ) -> str:
        """Prescribes the coordinate of a joint: a constraint row, whose multiplier is the effort of the actuator.

        The effort is the torque (N m) about the joint's axis on the second body, or the force (N) along it, in addition
        to drives and laws in the joint; `Trajectory.force` gives it by the name of the motion.

        Parameters
        ----------
        joint : str
            Name of a joint that has an angle, through full turns (revolute, cylindrical, planar), or a slide along its
            axis (prismatic, cylindrical, inline), in maximal or minimal coordinates.
        motion : float, array_like, shape (pieces, 4), table or function
            The coordinate phi(t) as `Trajectory.joint_position` gives it. A constant. Or quadratic pieces, a list of
            rows or an array: a row is (t, phi, phi', phi'') at the beginning of a piece; the first piece also holds
            before its time, and the last one has no end. Or a table, a tuple of two sequences (times, values) of the
            shapes (m,) and (m,) or (m, 1): the cubic spline through its values, at rest at both ends and constant
            outside. A tuple of two is always a table. Or a function of time that returns phi, phi' and phi''.
        coordinate : str, optional
            "angle" or "slide", where the joint has both. Default: the angle if there is one.
        kinks : array_like, shape (k,)
            Times at which phi'' of a function jumps; steps end there.
        name : str, optional
            By which results and messages refer to it. Default: the name of the joint with ".motion".

        Returns
        -------
        str
            Its name.

        Raises
        ------
        ValueError
            For a joint that is unknown or has no such coordinate, or whose coordinate has a motion already, for wrong
            shapes, and for pieces between which the coordinate or its rate jumps. Also for a function whose rates are
            not its derivatives: they are compared with differences just after t = 0 and across t = 0.13, 0.5 and 1 s,
            if it is defined there, so that a jump is found at these times but not at others. `build` refuses a start
            whose coordinate or rate differs from the motion.
        """
        there = self._joints[choice("joint", joint, self._joints)]
        which = joint_coordinate(joint, there["kind"], coordinate)
        for other, known in self._joints.items():
            if known["kind"] == f"{which}_motion" and known["of"] == joint:
                raise ValueError(f"joint {joint!r}: motion {other!r} prescribes its {which} already")
        name = self._free_name(f"{joint}.motion") if name is None else name
        self._new_name("motion", name)
        course = motion_in_time(f"motion of {name!r}", motion, 1)
        set_kinks(repr(name), kinks, course)
        if "pieces" in course:
            check_smooth(f"motion of {name!r}", course["pieces"])
        if "function" in course:
            check_course(f"motion of {name!r}", Coordinate(name, course["function"]), jumps=False)
        moved = _coordinate_row(course)
        row: JointRow = {**self._along(joint, which), "kind": f"{which}_motion", "of": joint, "motion": moved}
        return self._enter(self._joints, name, row)

    def add_force_law(
        self,
        function: Callable[..., ArrayLike],
        *,
        bodies: Partner | Sequence[Partner] | None = None,
        point: ArrayLike | None = None,
        local_point: ArrayLike | None = None,
        point_a: ArrayLike | None = None,
        point_b: ArrayLike | None = None,
        joint: str | None = None,
        coordinate: str | None = None,
        tangent: Callable[..., Any] | bool | None = None,
        reads: str | Sequence[str] | None = None,
        name: str | None = None,
    ) -> str:
        """A force law of the user, on one or two bodies or in a joint. Runs with a law written in Python hold the GIL.

        A function with exactly one positional parameter is called with a `State`, in which it can read everything but
        what follows from forces: `vdot`, `lam`, `reaction`, `force`, `power`, `generalized_force`, `accelerations` and
        the matrices of stiffness and damping raise an AttributeError. The function may keep the state. All other
        functions, and those whose signature cannot be read, are called as described below.

        A compiled function of the type `lgint.signatures.law`, or `joint_law` in a joint, takes the same arguments and
        runs without the GIL: a `scipy.LowLevelCallable`, a `numba.cfunc`, a function of ctypes, or a capsule. Files and
        pickles keep its name only.

        Parameters
        ----------
        function : callable or compiled function
            On bodies: function(t, x, R, xdot, omega) with the inertial positions x and velocities xdot of their COMs
            (or of the points given below), rotations R and body angular velocities; it returns a wrench per body, the
            force at that point in inertial and the moment in body axes. Shapes of one body: (3,), (3, 3), (3,), (3,)
            and (6,); of two: the same behind an axis of length 2. In a joint: function(t, angle, rate), which returns
            the torque about the joint's axis on the second body, or function(t, slide, rate), which returns the force
            along it. Or function(state), which returns the same.
        bodies : str, lgint.ground, or two of them
            On which it acts; not together with `joint`.
        point : array_like, shape (3,) or, on two bodies, (2, 3), optional
            Where the law acts, inertial in the start configuration; for two bodies one point for both or one each.
        local_point : array_like, shape (3,), optional
            The same for one body, body-fixed, from the COM.
        point_a, point_b : array_like, shape (3,), optional
            The same for each of two bodies, body-fixed, from the COM (on the ground: inertial).
        joint : str
            A joint that has an angle or a slide.
        coordinate : str, optional
            "angle" or "slide", where the joint has both. Default: the angle if there is one.
        tangent : callable or bool, optional
            The derivatives, for the same arguments; True if a compiled function writes them. On bodies: (K, D), each
            (6 n, 6 n), of the wrenches one after the other by (dx, dphi) and (dxdot, domega), where dR = R hat(dphi).
            In a joint: by angle and rate. Default: by central differences. A law of a state has tangent(state), if any,
            and depends on these alone.
        reads : str or sequence of str, optional
            Of a law of a state without a tangent: bodies, and joints whose bodies are meant, on which it depends. The
            differences take two calls for each displacement and velocity of these bodies, and implicit methods solve
            for all of them together. Default: all bodies, which is too much for large models.
        name : str, optional
            By which `Model.values` and messages refer to it. Default: made from the names of the bodies.

        Returns
        -------
        str
            Its name.

        Raises
        ------
        ValueError
            For bodies and a joint together or neither, unknown names, wrong shapes, what cannot be called, compiled
            functions of another type, and those that do not write the tangent that they should.
        """
        if (bodies is None) == (joint is None):
            raise ValueError("a force law acts either on bodies or in a joint: give bodies or joint")
        label = f"the law {f'on {bodies!r}' if joint is None else f'in {joint!r}'}" if name is None else repr(name)
        function, tangent = user_function(label, function, "law" if joint is None else "joint_law", tangent)
        row: ForceRow = {"kind": "law", "function": function, "tangent": tangent}
        self._set_reads(label, row, reads)
        if joint is not None:
            _refuse_with("joint", point=point, local_point=local_point, point_a=point_a, point_b=point_b)
            return self._add_joint_force(joint, coordinate, name, row)
        _refuse_with("bodies", coordinate=coordinate)
        single = isinstance(bodies, (str, Ground))
        if not single and not isinstance(bodies, (list, tuple)):
            raise ValueError(f"bodies of a force law: a body or two of them expected, got {bodies!r}")
        partners: list[Any] = [bodies] if single else list(bodies)  # type: ignore[arg-type]
        if len(partners) not in (1, 2):
            raise ValueError(f"a force law acts on one body or on two, got {len(partners)}")
        first, second = (self._partner(who) for who in (*partners, ground)[:2])
        self._check_slopes(label, function, (first, second)[: len(partners)])
        name = self._force_name("law", first, second, name)
        if len(partners) == 1:
            _refuse_with("one body", point_a=point_a, point_b=point_b)
            row["bodies"] = [first]
            row["points"] = [self._attachment(name, first, point, local_point)]
        else:
            _refuse_with("two bodies", local_point=local_point)
            ends = self._ends(name, first, second, point, point_a, point_b, (3,), (2, 3))
            row["bodies"], row["points"] = ends.names, ends.points
        return self._enter(self._forces, name, row)

    # ---- what they share ----

    def _check_slopes(self, label: str, function: Any, bodies: Sequence[str]) -> None:
        """ValueError if a compiled law with a tangent does not write it, at the start of its bodies."""
        starts = [self._at(who) for who in bodies]
        state = ([body.x for body in starts], [body.R for body in starts])
        rates = ([body.velocity for body in starts], [body.omega for body in starts])
        check_tangent(label, function, 0.0, *state, *rates, 6 * len(bodies), 2 * (6 * len(bodies)) ** 2)

    def _set_reads(self, label: str, row: ForceRow, reads: str | Sequence[str] | None) -> None:
        """Enters what a law that is called with a state reads, and checks that it is one, and so is its tangent."""
        of_state, tangent = takes_one(row["function"]), row["tangent"]
        if tangent is not None and takes_one(tangent) != of_state:
            kind = "a function of a state" if of_state else "the arguments of the law"
            raise ValueError(f"tangent of {label}: {kind} expected, as the law itself is called")
        if reads is None:
            return
        if not of_state or tangent is not None:
            why = "it has a tangent" if of_state else "it is not a function of a state, and depends on its bodies alone"
            raise ValueError(f"reads of {label}: {why}")
        row["reads"] = sorted(self._read(f"reads of {label}", reads))

    def _read(self, what: str, names: str | Sequence[str]) -> set[str]:
        """The bodies that are meant by names of bodies, nodes and joints; supports and the ground have no state."""
        if not isinstance(names, (str, list, tuple)):
            raise ValueError(f"{what}: names of bodies and joints expected, got {shown(names)}")
        found = set[str]()
        for name in [names] if isinstance(names, str) else names:
            if isinstance(name, str) and name in self._joints:
                found |= self._read(what, partners(self._joints[name]))
            elif name not in ("ground", *self._supports):
                of = choice(what, name, [*self._bodies, *self._nodes, *self._joints])
                found.add(of if of in self._bodies else of.rpartition(".")[0])
        return found

    def _add_joint_force(self, joint: str, coordinate: str | None, name: str | None, row: ForceRow) -> str:
        """Adds a drive or a law on a coordinate of a joint and returns its name."""
        there = self._joints[choice("joint", joint, self._joints)]
        row["joint"], row["coordinate"] = joint, joint_coordinate(joint, there["kind"], coordinate)
        return self._enter(self._forces, self._force_name(row["kind"], there["first"], there["second"], name), row)


def _refuse_with(what: str, **arguments: object) -> None:
    for name, value in arguments.items():
        if value is not None:
            raise ValueError(f"{name}: a force law with {what} does not take it")


def _refuse_without_effect(label: str, course: LoadRow, damping: float | None) -> None:
    """ValueError for the motion of a drive whose stiffness is not given, where nothing else makes it act."""
    if damping is None:
        raise ValueError(f"motion of {label}: it has no effect without stiffness and damping; give one of them")
    if "pieces" in course and not any(any(piece[2:]) for piece in course["pieces"]):
        raise ValueError(f"motion of {label}: it has no rate, and thus no effect on damping; give a stiffness as well")


def _coordinate_row(course: LoadRow) -> Matrix | LoadRow:
    """The motion of a coordinate as the record stores it: pieces alone; no pieces mean rest at zero."""
    if "times" in course:
        return {**course, "kinks": course["times"]}
    return course.get("pieces", []) if "function" not in course else course
