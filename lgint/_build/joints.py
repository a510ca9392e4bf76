"""The part of the builder that adds joints, as constraints or as joints that hold the links of a tree."""

from __future__ import annotations

from typing import Any, Final, cast

import numpy as np
from numpy.typing import ArrayLike

from lgint._args import Array, array, choice, number
from lgint._build.body import IDENTITY, START_TOLERANCE, Body
from lgint._build.elements import ElementBuilder, Where
from lgint._build.parts import Ends, Partner
from lgint._build.trees import Joint, Tree
from lgint._model.formulations import FORMULATIONS
from lgint._model.joints import JOINTS, NODES, TREE_JOINTS, joint_coordinate, turns_as_node
from lgint._model.names import JointName
from lgint._model.parameters import CARRIERS
from lgint._model.record import ForceRow, JointRow, Matrix
from lgint._rotation import cross, direction, triad_about

LARGEST: Final = float(np.finfo(float).max)  # stands for a missing limit
STOP: Final = 1e4  # N m/rad or N/m
KINDS: Final = (*JOINTS, "distance", "free")
# other words for joints, and what they are called here
MEANT = {
    **dict.fromkeys(("hinge", "pin", "pivot", "rotary"), "revolute"),
    **dict.fromkeys(("ball", "socket", "ball_and_socket"), "spherical"),
    **dict.fromkeys(("fixed", "weld", "fix", "clamp"), "rigid"),
    **dict.fromkeys(("slider", "slide", "translational"), "prismatic"),
    **dict.fromkeys(("cardan", "hooke"), "universal"),
}


class JointBuilder(ElementBuilder):
    """The part of `ModelBuilder` that adds joints."""

    def add_joint(
        self,
        kind: JointName,
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
        rate: ArrayLike | None = None,
        limits: tuple[float | None, float | None] | None = None,
        limit_stiffness: float | None = None,
        limit_damping: float = 0.0,
        name: str | None = None,
    ) -> str:
        """Adds a joint between two bodies, or between a body and the ground.

        The first joint of a body in minimal coordinates defines the body's coordinates. It is revolute, prismatic,
        cylindrical, universal, planar, spherical or free, and its first partner is the ground, a body that is part of a
        tree, or a rigid body in a Lie formulation, which becomes the root of a tree. All other joints are constraints.

        Parameters
        ----------
        kind : str
            "spherical", "revolute", "prismatic", "cylindrical", "universal", "inline" (a point of `b` stays on a line
            of `a`), "planar" (on a plane of `a`, the normals aligned), "rigid" or "distance". A "free" joint allows
            all motions; it only attaches a body in minimal coordinates to another one.
        a, b : str or lgint.ground
            The two bodies.
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
            The axes in which the translation rows are written: "inertial", or those of the "first" or "second" body.
            Default: inertial if all three translations are locked, else first.
        angle : float, optional
            Revolute, cylindrical, planar: the joint's angle at the start with full turns, rad; default 0. Prismatic,
            inline: the slide at the start, m; default: the distance of the point of `b` from that of `a` along the
            axis, which is 0 if `point` is given.
        rate : float or array_like, optional
            Only for a joint that defines the coordinates of a body in minimal coordinates, rad/s or m/s: cylindrical
            (slide, turn); universal (about `axis`, about `second_axis`); planar (two slides, turn); spherical (the
            relative angular velocity in axes of `b`); free (three slides, along axes of `a` that are those of `b` at
            the start, and the relative angular velocity in axes of `b`). The velocities of the second body follow from
            it. Default: the rates that follow from the velocities of both bodies.
        limits : pair of float, optional
            Lower and upper limit of the joint's angle or, if it has none, of its slide, rad or m; None: there is none
            on this side. Beyond a limit an elastic stop pushes back, and never pulls; `Trajectory.force` gives its
            torque or force by the joint's name with ".limits", and its energy is a part of the potential energy.
        limit_stiffness : float, optional
            Of the stops, N m/rad or N/m, positive. Default: 1e4. A stop makes the equations stiff: a time step should
            resolve its period 2 pi sqrt(inertia/stiffness), unless the method is implicit.
        limit_damping : float
            Of the stops, N m s/rad or N s/m; default: none.
        name : str, optional
            By which drives and accessors refer to it. Default: made from the names of the bodies.

        Returns
        -------
        str
            Its name.

        Raises
        ------
        ValueError
            For unknown kinds and names, an axis of length zero, and arguments that the kind lacks or does not take.
        """
        if kind == "distance":
            refused = {"axis": axis, "second_axis": second_axis, "carrier": carrier, "angle": angle, "rate": rate}
            damping = limit_damping if limit_damping != 0 else None
            _refuse_all(kind, **refused, limits=limits, limit_stiffness=limit_stiffness, limit_damping=damping)
            return self.add_distance(a, b, point=point, point_a=point_a, point_b=point_b, length=length, name=name)
        choice("joint kind", kind, KINDS, MEANT)
        _refuse(kind, "length", length)
        a, b = self._partner(a), self._partner(b)
        name = self._joint_name(kind, a, b, name)
        stops = limits is not None or limit_stiffness is not None or limit_damping != 0
        stop = self._stop_of(kind, name, limits, limit_stiffness, limit_damping) if stops else None
        if b in self._without_joint:
            self._check_tree_joint(kind, a, b)
            _refuse(kind, "carrier", carrier)
            axes = _triad(kind, name, axis, second_axis)
            triad = self._at(b).R if turns_as_node(kind) else axes
            in_tree = self._tree_point(name, b, point, point_a, point_b)
            self._hang(name, a, b, Joint(kind, in_tree, triad, *_start(kind, name, angle, rate)))
            return name if stop is None else self._add_stop(name, stop)
        _refuse(kind, "rate", rate)
        if kind not in JOINTS:
            raise ValueError(
                f"a {kind} joint constrains nothing: it only attaches a body in minimal coordinates, as its first "
                f"joint; {b!r} has coordinates already"
            )
        if point is None and (point_a is None or point_b is None):
            raise ValueError(f"joint {name!r} needs point, or point_a and point_b")
        ends = self._ends(name, a, b, point, point_a, point_b, (3,))
        triad = _triad(kind, name, axis, second_axis)
        if not JOINTS[kind].coordinates:
            _refuse(kind, "angle", angle)
        start = None if angle is None else number(f"angle of {name!r}", angle)
        usual = "inertial" if JOINTS[kind].is_point else "first"
        where = usual if carrier is None else choice("carrier", carrier, CARRIERS)
        row = self._lower_pair(kind, ends, triad, start)
        row["carrier"] = where
        if start is not None and "angle" in JOINTS[kind].coordinates and abs(start) > np.pi - START_TOLERANCE:
            row["angle"] = start  # attitudes do not determine it, and at half a turn not even its sign
        self._enter(self._joints, name, row)
        return name if stop is None else self._add_stop(name, stop)

    def _stop_of(
        self,
        kind: str,
        name: str,
        limits: Any,
        stiffness: float | None,
        damping: float,
    ) -> ForceRow:
        """The record of the stops of a joint that is about to be added."""
        if limits is None:
            word = "limit_damping" if stiffness is None else "limit_stiffness"
            raise ValueError(f"a {kind} joint takes no {word} without limits")
        coordinate = joint_coordinate(name, kind, None)
        if np.shape(limits) != (2,):
            raise ValueError(f"limits of {name!r}: a lower and an upper limit expected, got {limits!r}")
        if all(limit is None for limit in limits):
            raise ValueError(f"limits of {name!r}: a limit on one side at least expected; leave them out for none")
        both = [
            side * LARGEST if given is None else number(f"limits of {name!r}", given)
            for side, given in zip((-1, 1), limits, strict=True)
        ]
        if not both[0] < both[1]:
            raise ValueError(f"limits of {name!r}: a lower and a higher upper limit expected, got {limits!r}")
        k = STOP if stiffness is None else number(f"limit_stiffness of {name!r}", stiffness, positive=True)
        c = number(f"limit_damping of {name!r}", damping)
        if c < 0:
            raise ValueError(f"limit_damping of {name!r}: a number >= 0 expected, got {c:g}")
        self._new_name("stop", f"{name}.limits")
        row = {"kind": "stop", "joint": name, "coordinate": coordinate, "stiffness": k, "damping": c, "limits": both}
        return cast(ForceRow, row)

    def _add_stop(self, joint: str, stop: ForceRow) -> str:
        self._enter(self._forces, f"{joint}.limits", stop)
        return joint

    def _lower_pair(self, kind: str, ends: Ends, triad: Array, start: float | None) -> JointRow:
        """The record of a joint whose triads are `triad`, inertial, at the start, where its coordinate is `start`."""
        row = _between(kind, ends)
        turns = start is not None and "angle" in _coordinates(kind)
        first, second = ends.bodies
        axes = self._triad_on(first, triad)
        if turns and start:
            row["triads"] = [axes, self._triad_on(second, triad @ _turn_about_z(start))]
        else:
            row["triads"] = [axes, axes if first.R is second.R else self._triad_on(second, triad)]
        if start is not None and not turns:
            # the slide is measured from the point that gives it the value `start` at the start
            e = triad[:, 2]
            zero = ends.first + (e @ ends.apart - start) * e
            row["slide_point"] = self._point(ends.names[0], first.local(zero))
        return row

    def _triad_on(self, body: Body, triad: Array) -> Matrix:
        """An inertial triad in the axes of a body; all that are the identity are one list."""
        if body.R is IDENTITY and triad is IDENTITY:
            return self._identity
        axes: Matrix = body.components(triad).tolist()
        return axes

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
        """Keeps two points of two bodies at a distance.

        Parameters
        ----------
        a, b : str or lgint.ground
            The two bodies.
        point : array_like, shape (2, 3), optional
            The two points, inertial, in the start configuration.
        point_a, point_b : array_like, shape (3,), optional
            The same points in body axes from the COM (on the ground: inertial). Default: the COMs.
        length : float, optional
            m; default: that of the start.
        name : str, optional
            By which drives and accessors refer to it. Default: made from the names of the bodies.

        Returns
        -------
        str
            Its name.

        Raises
        ------
        ValueError
            For unknown bodies, wrong shapes, and a length that is not positive.
        """
        return self._declared("distance", (a, b), Where(point, None, point_a, point_b), name, {"length": length})

    # ---- links of trees ----

    def _check_tree_joint(self, kind: str, parent: str, link: str) -> None:
        if kind not in TREE_JOINTS or not (parent == "ground" or parent in self._links or self._can_be_root(parent)):
            kinds = ", ".join(TREE_JOINTS)
            raise ValueError(
                f"body {link!r} is in minimal coordinates: its first joint must be one of {kinds}, with the ground, a "
                f"link of a tree or a rigid body in a Lie formulation as first partner; got a {kind} joint with "
                f"{parent!r}"
            )

    def _can_be_root(self, name: str) -> bool:
        """Whether a body can be the root of a tree: it is rigid, and its velocities are those of a body."""
        if name not in self._blocks or not isinstance(self._parts[self._blocks[name]], Body):
            return False
        row = NODES[FORMULATIONS[self._bodies[name].formulation].node]
        return not (row["nown"] or row["rates"] or row["explicit_only"])

    def _tree_point(
        self, name: str, link: str, point: ArrayLike | None, point_a: ArrayLike | None, point_b: ArrayLike | None
    ) -> Array:
        """The inertial point of a joint of a tree."""
        if point is not None and point_a is None and point_b is None:
            return array(f"point of {name!r}", point, (3,))
        if point is not None or point_a is not None or point_b is None:
            raise ValueError(f"joint {name!r} of a tree needs point, or point_b")
        return self._at(link).inertial_point(array(f"point_b of {name!r}", point_b, (3,)))

    def _hang(self, name: str, parent: str, link: str, joint: Joint) -> str:
        """Makes a body in minimal coordinates a link of its parent's tree, or the first link of a new tree."""
        tree = self._links[parent] if parent in self._links else self._new_tree(parent)
        above = self._bodies[parent] if parent in self._links else None
        self._bodies[link] = tree.add(self._bodies[link], above, joint)
        self._links[link], self._blocks[link] = tree, tree.block
        self._without_joint.remove(link)
        ends = self._ends_at(parent, link, joint.point, joint.point)
        start = joint.coordinate if _coordinates(joint.kind) else None
        row: JointRow = {**self._lower_pair(joint.kind, ends, joint.triad, start), "holds": True}
        return self._enter(self._joints, name, row)

    def _new_tree(self, parent: str) -> Tree:
        """A tree on the ground, or one whose root is a body, which keeps its block."""
        if parent == "ground":
            tree = Tree(len(self._parts))
            self._parts.append(tree)
            return tree
        tree = Tree(self._blocks[parent], self._bodies[parent])
        self._parts[tree.block] = self._links[parent] = tree
        return tree


def _coordinates(kind: str) -> tuple[str, ...]:
    """The coordinates of a joint about and along its axis."""
    return JOINTS[kind].coordinates if kind in JOINTS else ()


def _start(kind: str, name: str, angle: float | None, rate: ArrayLike | None) -> tuple[float, Array | None]:
    """The coordinate about or along the axis, and all rates, of a joint of a tree at the start."""
    if not _coordinates(kind):
        _refuse(kind, "angle", angle)
    q = 0.0 if angle is None else number(f"angle of {name!r}", angle)
    many = len(TREE_JOINTS[kind])
    if rate is None:
        return q, None
    return q, array(f"rate of {name!r}", rate, (many,) if many > 1 else (), (many,)).reshape(many)


def _between(kind: str, ends: Ends) -> JointRow:
    """The entries that the records of all joints have."""
    return {"kind": kind, "first": ends.names[0], "second": ends.names[1], "points": ends.points}


def _refuse_all(kind: str, **values: object) -> None:
    for name, value in values.items():
        _refuse(kind, name, value)


def _refuse(kind: str, name: str, value: object) -> None:
    if value is not None:
        raise ValueError(f"a {kind} joint takes no {name}")


def _triad(kind: str, name: str, axis: ArrayLike | None, second_axis: ArrayLike | None) -> Array:
    """Joint axes e1, e2, e3 as columns, inertial: one axis is e3; if a kind needs two axes, they are e1 and e2."""
    needed = JOINTS[kind].axes if kind in JOINTS else 0
    if needed == 0:
        _refuse(kind, "axis", axis)
        _refuse(kind, "second_axis", second_axis)
        return IDENTITY
    if axis is None:
        raise ValueError(f"{kind} joint {name!r} needs an axis")
    e = direction(f"axis of {name!r}", axis)
    if needed == 1:
        _refuse(kind, "second_axis", second_axis)
        return triad_about(e)
    if second_axis is None:
        raise ValueError(f"{kind} joint {name!r} needs a second_axis, fixed in the second body")
    f = direction(f"second_axis of {name!r}", second_axis)
    if abs(e @ f) > START_TOLERANCE:
        raise ValueError(f"{kind} joint {name!r}: perpendicular axes expected, their cosine is {e @ f:.3g}")
    triad: Array = np.array([e, f, cross(e, f)]).T
    return triad


def _turn_about_z(angle: float) -> Array:
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
