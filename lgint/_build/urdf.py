"""Robots from URDF files: links and joints; links that move as one body; bodies and joints of a builder.

Links that fixed joints connect, and links without mass at the end of a chain, are parts of the body above.
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from lgint import groups
from lgint._args import Array, array, choice, listing, warn
from lgint._build.bodies import BodyBuilder
from lgint._build.body import IDENTITY, ZERO, Body
from lgint._build.couplings import CouplingBuilder
from lgint._build.joints import JointBuilder
from lgint._build.parts import Ground
from lgint._build.urdf_file import MOMENTS, MORE_LIMITS, Element, File
from lgint._model.checks import triangle
from lgint._model.formulations import FORMULATIONS
from lgint._model.names import FormulationName
from lgint._model.record import MINIMAL
from lgint._rotation import RotationLike, cross
from lgint._rotation import rotation as rotation_matrix

KINDS: Final = {
    "revolute": "revolute",
    "continuous": "revolute",
    "prismatic": "prismatic",
    "planar": "planar",
    "floating": "free",
    "fixed": "",
}
ROOT: Final = "R3xSO3"  # the formulation of a free base in a model in minimal coordinates


# ---- poses and inertias ----


class Pose(NamedTuple):
    """A frame in another one: position and rotation."""

    x: Array  # (3,)
    R: Array  # (3, 3)

    def __matmul__(self, inside: Pose) -> Pose:
        return Pose(self.x + self.R @ inside.x, self.R @ inside.R)


AT_ORIGIN: Final = Pose(ZERO, IDENTITY)


def _pose(file: File, element: Element | None) -> Pose:
    """The pose of an <origin>."""
    x = file.numbers(element, "xyz", 3, ZERO)
    roll, pitch, yaw = file.numbers(element, "rpy", 3, ZERO)
    (cr, sr), (cp, sp), (cy, sy) = ((np.cos(each), np.sin(each)) for each in (roll, pitch, yaw))
    R = np.array(
        [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ]
    )
    return Pose(x, R)


class Inertia(NamedTuple):
    """Mass, COM, and inertia about the COM, in some frame."""

    mass: float
    com: Array  # (3,)
    moments: Array  # (3, 3)

    def seen(self, pose: Pose) -> Inertia:
        """The same in the frame in which `pose` is that of this one."""
        return Inertia(self.mass, pose.x + pose.R @ self.com, pose.R @ self.moments @ pose.R.T)

    def __add__(self, other: Inertia) -> Inertia:  # type: ignore[override]
        mass = self.mass + other.mass
        if mass == 0:
            return self
        apart = other.com - self.com
        moved = self.mass * other.mass / mass * (apart @ apart * np.eye(3) - np.outer(apart, apart))
        return Inertia(mass, self.com + other.mass / mass * apart, self.moments + other.moments + moved)


NO_INERTIA: Final = Inertia(0.0, ZERO, np.zeros((3, 3)))


# ---- links and joints ----


@dataclass(eq=False, repr=False)
class Mimic:
    """The coordinate of a joint as a multiple of another one's."""

    joint: str
    multiplier: float
    offset: float


@dataclass(eq=False, repr=False)
class Joint:
    """A joint of the file."""

    name: str
    kind: str
    parent: str
    child: str
    origin: Pose
    axis: Array
    mimic: Mimic | None
    limits: tuple[float, float] | None
    element: Element


@dataclass(eq=False, repr=False)
class Link:
    """A link of the file, and the joints to its children."""

    name: str
    inertia: Inertia
    element: Element
    joints: list[Joint] = field(default_factory=list)


@dataclass(eq=False, repr=False)
class Robot:
    """What a file describes."""

    file: File
    links: dict[str, Link]
    joints: dict[str, Joint]
    root: str
    massive: set[str]  # links with mass, and those that carry such links

    def title(self, joint: str) -> str:
        """The name of a joint in a builder, where links have names of the same kind."""
        return f"{joint}.joint" if joint in self.links else joint


def read(path: str | os.PathLike[str]) -> Robot:
    """The robot of a file."""
    file = File(path)
    links, joints = dict[str, Link](), dict[str, Joint]()
    for element in file.children(file.root):
        name = file.text(element, "name")
        if name in (links if element.tag == "link" else joints):
            file.refuse(element, f"another {element.tag} has this name")
        if element.tag == "link":
            links[name] = Link(name, _inertia(file, element), element)
        else:
            joints[name] = _joint(file, name, element)
    if not links:
        file.refuse(file.root, "a robot with a <link> expected")
    return Robot(file, links, joints, _connect(file, links, joints), _massive(links, joints))


def _inertia(file: File, link: Element) -> Inertia:
    given = file.one(link, "inertial")
    for _ in file.children(link):
        pass
    if given is None:
        return NO_INERTIA
    for _ in file.children(given):
        pass
    mass = file.one(given, "mass")
    if mass is None:
        file.refuse(given, "a <mass> expected")
    value = float(file.numbers(mass, "value", 1)[0])
    if value < 0:
        file.refuse(mass, f"value: a mass that is not negative expected, got {value:g}")
    moments = file.one(given, "inertia")
    if moments is not None and (missing := [name for name in MOMENTS if name not in moments.attributes]):
        file.refuse(moments, f"all of {', '.join(MOMENTS)} expected; {', '.join(missing)} missing")
    xx, yy, zz, xy, xz, yz = (float(file.numbers(moments, name, 1, [0.0])[0]) for name in MOMENTS)
    matrix = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    if moments is not None and np.linalg.eigvalsh(matrix)[0] < -1e-9 * np.abs(matrix).max():
        file.refuse(moments, f"a positive semidefinite matrix expected, got the moments {np.linalg.eigvalsh(matrix)}")
    if value == 0:
        if matrix.any():
            file.ignore("<inertia> without mass")
        return NO_INERTIA
    return Inertia(value, ZERO, matrix).seen(_pose(file, file.one(given, "origin")))


def _joint(file: File, name: str, element: Element) -> Joint:
    kind = file.text(element, "type")
    if kind not in KINDS:
        file.refuse(element, f"type: one of {', '.join(KINDS)} expected, got {kind!r}")
    for _ in file.children(element):
        pass
    ends = list[str]()
    for tag in ("parent", "child"):
        end = file.one(element, tag)
        if end is None:
            file.refuse(element, f"a <{tag}> expected")
        ends.append(file.text(end, "link"))
    given = file.one(element, "axis")
    axis = file.numbers(given, "xyz", 3, (1.0, 0.0, 0.0))
    length = math.hypot(*axis)
    if length == 0:
        if kind in ("revolute", "continuous", "prismatic", "planar"):
            file.refuse(given or element, "xyz: an axis other than zero expected")
        length = 1.0
    parent, child = ends
    origin, mimic = _pose(file, file.one(element, "origin")), _mimic(file, element)
    return Joint(name, kind, parent, child, origin, axis / length, mimic, _limits(file, kind, element), element)


def _limits(file: File, kind: str, joint: Element) -> tuple[float, float] | None:
    """The limits of a joint, if it has a range; those of revolute and prismatic joints have to be there."""
    given, is_bounded = file.one(joint, "limit"), kind in ("revolute", "prismatic")
    if given is None:
        if is_bounded:
            file.refuse(joint, "a <limit> expected, or type='continuous' for a joint that turns without limits")
        return None
    for name in MORE_LIMITS:
        if name in given.attributes:
            file.ignore(f"{name} in <limit>")
    lower, upper = (float(file.numbers(given, name, 1, [0.0])[0]) for name in ("lower", "upper"))
    if lower > upper:
        file.refuse(given, f"a lower limit below the upper one expected, got {lower:g} and {upper:g}")
    has_range = bool({"lower", "upper"} & given.attributes.keys())
    if not is_bounded:
        if has_range:
            file.ignore(f"the range in <limit> of a {kind} joint")
        return None
    if lower == upper and has_range:
        file.ignore("<limit> without a range")
    return (lower, upper) if lower < upper else None


def _mimic(file: File, joint: Element) -> Mimic | None:
    given = file.one(joint, "mimic")
    if given is None:
        return None
    multiplier, offset = (
        file.numbers(given, name, 1, [value])[0] for name, value in (("multiplier", 1), ("offset", 0))
    )
    return Mimic(file.text(given, "joint"), float(multiplier), float(offset))


def _connect(file: File, links: dict[str, Link], joints: dict[str, Joint]) -> str:
    """Enters joints in their parents, and returns the name of the root."""
    above: dict[str, Joint] = {}
    for joint in joints.values():
        for tag, name in (("parent", joint.parent), ("child", joint.child)):
            if name not in links:
                file.refuse(file.one(joint.element, tag) or joint.element, f"there is no link {name!r}")
        if joint.child in above:
            file.refuse(joint.element, f"link {joint.child!r} is the child of {above[joint.child].name!r} already")
        above[joint.child] = joint
        links[joint.parent].joints.append(joint)
        if joint.mimic is not None:
            _check_mimic(file, joints, joint)
    roots = [name for name in links if name not in above]
    if len(roots) > 1:
        file.refuse(links[roots[1]].element, f"one root expected; no joint leads to the links {listing(roots)}")
    reached = set[str]()
    waiting = list(roots)
    while waiting:
        name = waiting.pop()
        reached.add(name)
        waiting += [joint.child for joint in links[name].joints]
    if lost := [name for name in links if name not in reached]:
        file.refuse(above[lost[0]].element, f"a tree expected; the links {listing(lost)} form a loop")
    return roots[0]


def _massive(links: dict[str, Link], joints: dict[str, Joint]) -> set[str]:
    above = {joint.child: joint.parent for joint in joints.values()}
    found = set[str]()
    for name, link in links.items():
        at: str | None = name if link.inertia.mass else None
        while at is not None and at not in found:
            found.add(at)
            at = above.get(at)
    return found


def _check_mimic(file: File, joints: dict[str, Joint], joint: Joint) -> None:
    """Follows a joint that mimics another one to the last of them."""
    chain = [joint.name]
    while joint.mimic is not None:
        element = file.one(joint.element, "mimic") or joint.element
        other = joints.get(joint.mimic.joint)
        if other is None:
            file.refuse(element, f"there is no joint {joint.mimic.joint!r}")
        for each in (joint, other):
            if each.kind not in ("revolute", "continuous", "prismatic"):
                file.refuse(element, f"joints of one coordinate expected; {each.name!r} is {each.kind}")
        if other.name in chain:
            file.refuse(element, f"the joints {listing([*chain, other.name])} mimic each other")
        chain.append(other.name)
        joint = other


# ---- links that move as one ----


@dataclass(eq=False, repr=False)
class Group:
    """Links that move as one body, seen in the frame of the first one."""

    first: str
    poses: dict[str, Pose]
    inertia: Inertia
    joints: list[Joint]  # to the groups below


def _group(robot: Robot, first: str) -> Group:
    """The link with all links that are fixed to it, or that hang on it and have no mass."""
    group = Group(first, {first: AT_ORIGIN}, NO_INERTIA, [])
    waiting = [first]
    while waiting:
        name = waiting.pop(0)
        link, pose = robot.links[name], group.poses[name]
        group.inertia = group.inertia + link.inertia.seen(pose)
        for joint in link.joints:
            is_fixed = not KINDS[joint.kind]
            if not is_fixed and joint.child not in robot.massive:
                robot.file.ignore(f"joints that move no mass, such as {joint.name!r}")
                is_fixed = True
            if is_fixed:
                group.poses[joint.child] = pose @ joint.origin
                waiting.append(joint.child)
            else:
                group.joints.append(joint)
    return group


# ---- the builder ----


class LinkFrame(NamedTuple):
    """Where a link of a file is: on which body, at which point, and its axes."""

    body: str  # "ground" if it is fixed there
    point: Array  # (3,), of its origin, in body axes from the COM (on the ground: inertial)
    rotation: Array  # (3, 3), from its axes to those of the body


class UrdfRobot(NamedTuple):
    """What `ModelBuilder.add_urdf` has added.

    Attributes
    ----------
    base : str
        The body of the root link, or "ground".
    links : dict of str to LinkFrame
        By the names of the file: the body that a link is a part of, and its frame there.
    joints : dict of str to str
        By the names of the file: the joints that move.
    couplings : dict of str to str
        By the names of joints that mimic another one.
    ignored : list of str
        What of the file has no effect.
    """

    base: str
    links: dict[str, LinkFrame]
    joints: dict[str, str]
    couplings: dict[str, str]
    ignored: list[str]


class _Adding(NamedTuple):
    """What is needed on the way down the tree."""

    robot: Robot
    prefix: str
    formulation: str
    start: dict[str, float]  # coordinates of joints that mimic others
    carrier: Body | None  # the base, if it moves
    found: UrdfRobot
    odd: list[str]  # links whose moments of inertia no body has

    def motion(self, x: Array, R: Array) -> tuple[Array, Array]:
        """The velocity of a COM and the angular velocity of its body, which moves with the base at the start."""
        if self.carrier is None:
            return ZERO, ZERO
        omega = self.carrier.R @ self.carrier.omega
        return self.carrier.velocity + cross(omega, x - self.carrier.x), R.T @ omega


class UrdfBuilder(BodyBuilder, JointBuilder, CouplingBuilder):
    """The part of `ModelBuilder` that reads robots."""

    def add_urdf(
        self,
        path: str | os.PathLike[str],
        *,
        base: str | Ground = "fixed",
        prefix: str = "",
        position: ArrayLike | None = None,
        rotation: RotationLike | None = None,
        formulation: FormulationName = MINIMAL,
    ) -> UrdfRobot:
        """Adds the links and joints of a robot from a URDF file, with all joints at zero and at rest.

        Bodies and joints have the names of the file; a joint "arm" beside a link "arm" is "arm.joint". The axes of a
        body are those of its link. Links that fixed joints connect are one body, with the name of the first one, and a
        link without mass at the end of a chain is part of the body above it. A link without mass inside a chain is a
        body without mass, in minimal coordinates. A joint that mimics another one is coupled to it, and starts at its
        offset. Limits are stops with the default stiffness of `add_joint`, a value of the model
        ("elbow.limits.stiffness"). Joints that close loops, which URDF cannot describe, can be added with `add_joint`.

        Parameters
        ----------
        path : str or path-like
            The file, plain XML.
        base : str or lgint.ground
            "fixed": the root link is fixed to the ground. "free": it is a free body. Or a body, node or support to
            which the root link is fixed.
        prefix : str
            Before all names.
        position : array_like, shape (3,), optional
            Of the root link's origin, inertial, m. Default: the origin.
        rotation : array_like, shape (3, 3), (4,) or (3,), or a SciPy Rotation, optional
            From the axes of the root link to inertial ones. Default: the identity.
        formulation : str
            Of all links. In a model in minimal coordinates a free root link is a body on R^3 x SO(3).

        Returns
        -------
        UrdfRobot
            With `links`, `joints`, `couplings`: where everything is, by the names of the file.

        Raises
        ------
        ValueError
            For a file that is not plain XML or not a robot, with the line and the element; for names in use, unknown
            bodies and invalid arguments.
        FileNotFoundError
            If there is no file.

        Warns
        -----
        UserWarning
            Once, with all that is ignored: geometry, transmissions, friction, ...; once, with all links whose moments
            of inertia violate the triangle inequality; and for each joint that starts outside its limits.
        """
        robot = read(path)
        at = Pose(
            ZERO if position is None else array("position", position, (3,)),
            IDENTITY if rotation is None else rotation_matrix("rotation", rotation),
        )
        if not isinstance(prefix, str):
            raise ValueError(f"prefix: a string expected, got {prefix!r}")
        choice("formulation", formulation, (*FORMULATIONS, MINIMAL))
        partner = self._base(base)
        self._check_names(robot, prefix)
        group = _group(robot, robot.root)
        carrier = self._at(partner) if partner else None
        moves = carrier is not None and (carrier.velocity.any() or carrier.omega.any())
        found = UrdfRobot("", {}, {}, {}, [])
        adding = _Adding(robot, prefix, formulation, _starts(robot), carrier if moves else None, found, [])
        body = self._add_root(adding, group, partner, at)
        self._add_below(adding, group, body, at)
        if body == "ground" and not group.joints:
            self._grounded.append(_why_grounded(robot))
        for joint in robot.joints.values():
            if joint.mimic is not None:
                self._add_mimic(adding, joint)
        adding.found.ignored.extend(f"{what} ({count})" for what, count in robot.file.ignored.items())
        _warn_of_all(adding)
        return adding.found._replace(base=body)

    def _check_names(self, robot: Robot, prefix: str) -> None:
        """Refuses names that are in use, with the lines of the links and joints that have them."""
        named = [("body", link.name, link.element) for link in robot.links.values()]
        named += [("joint", robot.title(joint.name), joint.element) for joint in robot.joints.values()]
        taken = set[str]()
        for kind, name, element in named:
            if name in taken:
                robot.file.refuse(element, f"the name {name!r} is in use; a {kind} needs a name of its own")
            taken.add(name)
            try:
                self._new_name(kind, prefix + name)
            except ValueError as error:
                robot.file.refuse(element, f"{error}, or another prefix")

    def _base(self, base: str | Ground) -> str:
        """What the root link is fixed to; "" if it is free."""
        if isinstance(base, str) and base in ("free", "fixed"):
            return "" if base == "free" else "ground"
        try:
            return self._partner(base)
        except ValueError as error:
            raise ValueError(f"base: 'fixed', 'free' or a body expected; {error}") from None

    def _add_root(self, adding: _Adding, group: Group, partner: str, at: Pose) -> str:
        """Adds the root link, unless it is fixed to the ground or has no mass, and returns the body that carries it."""
        has_mass = group.inertia.mass > 0
        if partner == "ground" or (partner and not has_mass):
            self._place(adding, group, partner, at)
            return partner
        if not has_mass:
            adding.robot.file.refuse(adding.robot.links[group.first].element, "base: a free root link needs mass")
        formulation = ROOT if adding.formulation == MINIMAL else adding.formulation
        body = self._add_link(adding, group, at, formulation)
        if partner:
            self.add_joint("rigid", partner, body, point=at.x, name=self._free_name(f"{body}.base"))
        return body

    def _add_below(self, adding: _Adding, group: Group, body: str, at: Pose) -> None:
        """Adds the groups that hang on one, which is at a pose and is part of a body, and those below them."""
        waiting = [(joint, group, body, at) for joint in group.joints]
        while waiting:
            joint, above, partner, pose = waiting.pop(0)
            place = pose @ above.poses[joint.parent] @ joint.origin
            axis, value = place.R @ joint.axis, adding.start.get(joint.name, 0.0)
            moved = place @ _moved(joint, value)
            below = _group(adding.robot, joint.child)
            child = self._add_link(adding, below, moved, adding.formulation)
            self._add_moving(adding, joint, (partner, child), place, axis, value)
            waiting += [(each, below, child, moved) for each in below.joints]

    def _add_link(self, adding: _Adding, group: Group, at: Pose, formulation: str) -> str:
        """Adds the body of a group whose first link is at a pose."""
        robot, inertia = adding.robot, group.inertia
        name, element = adding.prefix + group.first, robot.links[group.first].element
        x = at.x + at.R @ inertia.com
        velocity, omega = adding.motion(x, at.R)
        if inertia.mass == 0:
            if formulation != MINIMAL:
                robot.file.refuse(element, "a link inside a chain needs mass, or formulation='minimal'")
            self._add_body(Body(name, 0.0, inertia.moments, x, at.R, velocity, omega, formulation, None))
        else:
            if not triangle(np.linalg.eigvalsh(inertia.moments).tolist()):
                adding.odd.append(group.first)
            self._add_body(Body(name, inertia.mass, inertia.moments, x, at.R, velocity, omega, formulation, None))
        self._place(adding, group, name, at)
        return name

    def _place(self, adding: _Adding, group: Group, body: str, at: Pose) -> None:
        """Notes where the links of a group are."""
        carrier = self._at(body)
        for link, pose in group.poses.items():
            place = at @ pose
            frame = LinkFrame(body, carrier.R.T @ (place.x - carrier.x), carrier.R.T @ place.R)
            adding.found.links[link] = frame

    def _add_moving(
        self, adding: _Adding, joint: Joint, ends: tuple[str, str], at: Pose, axis: Array, value: float
    ) -> None:
        """Adds a joint that moves, in its coordinate's start."""
        kind, name, (a, b) = KINDS[joint.kind], adding.prefix + adding.robot.title(joint.name), ends
        if kind == "free" and adding.formulation != MINIMAL:
            return
        along: dict[str, Any] = {} if kind == "free" else {"axis": axis}
        if joint.limits:
            along["limits"] = joint.limits
            _warn_outside(adding.robot.file, joint, name, value)
        if kind == "prismatic" and adding.formulation != MINIMAL:
            first, second = self._at(a).local(at.x), self._at(b).local(at.x + value * axis)
            self.add_joint(kind, a, b, point_a=first, point_b=second, **along, name=name)
        else:
            point = at.x + value * axis if kind == "prismatic" else at.x
            angle: dict[str, Any] = {"angle": value} if value else {}
            self.add_joint(kind, a, b, point=point, **along, **angle, name=name)
        adding.found.joints[joint.name] = name

    def _add_mimic(self, adding: _Adding, joint: Joint) -> None:
        mimic, found = joint.mimic, adding.found
        if mimic is None or not {joint.name, mimic.joint} <= found.joints.keys():
            adding.robot.file.ignore("<mimic> of a joint that moves no mass")
            return
        terms = {found.joints[joint.name]: 1.0}
        if mimic.multiplier:
            terms[found.joints[mimic.joint]] = -mimic.multiplier
        name = self._free_name(f"{found.joints[joint.name]}.mimic")
        found.couplings[joint.name] = self.add_coupling(terms, offset=mimic.offset, name=name)


def _why_grounded(robot: Robot) -> str:
    """Why no link of a robot is a body."""
    for joint in robot.joints.values():
        if KINDS[joint.kind]:
            return f"{robot.file.place(robot.links[joint.child].element)}: an <inertial> with mass expected"
    return f"{robot.file.place(robot.file.root)}: all links are fixed to the ground"


def _warn_of_all(adding: _Adding) -> None:
    """The warnings that a file gives once."""
    path = os.fspath(adding.robot.file.path)
    if adding.found.ignored:
        warn(f"{path}: ignored are {', '.join(adding.found.ignored)}")
    if adding.odd:
        warn(
            f"{path}: the moments of inertia of {listing(adding.odd)} are used although they violate the triangle"
            " inequality, which holds for every body"
        )


def _warn_outside(file: File, joint: Joint, name: str, value: float) -> None:
    lower, upper = joint.limits or (value, value)
    if not lower <= value <= upper:
        inside = min(max(value, lower), upper)
        warn(
            f"{os.fspath(file.path)}, line {joint.element.line}: joint {name!r} starts at {value:g}, outside its limits"
            f" {lower:g} and {upper:g}, where its stop pushes; model.state(joints={{{name!r}: {inside:g}}}) is inside"
        )


def _moved(joint: Joint, value: float) -> Pose:
    """The pose of the child in the frame of the joint."""
    if joint.kind == "prismatic":
        return Pose(value * joint.axis, IDENTITY)
    return Pose(ZERO, groups.so3.exp(value * joint.axis) if value else IDENTITY)


def _starts(robot: Robot) -> dict[str, float]:
    """The coordinates of joints that mimic others, where these are at zero."""

    def start(name: str) -> float:
        mimic = robot.joints[name].mimic
        return 0.0 if mimic is None else mimic.multiplier * start(mimic.joint) + mimic.offset

    return {name: start(name) for name, joint in robot.joints.items() if joint.mimic is not None}
