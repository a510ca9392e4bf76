"""The record of a model: plain data from which it is compiled. Every entry has a name, every fact stands there once.

Points are body-fixed, from the centre of mass of the body in its axes (on the ground: from the origin, inertial; on a
node of a flexible body: from the node). Vectors and matrices are lists of numbers, matrices row by row.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypedDict

import numpy as np
from numpy.typing import NDArray

MINIMAL: Final = "minimal"  # the formulation of links of trees
EDGES: Final = {None: "edge", "kirchhoff": "kirchhoff_edge", "inextensible": "inextensible_edge"}

Vector = list[float]
Matrix = list[list[float]]


class Ground:
    """The inertial frame, as the first or second partner of a joint or spring, and as a frame at rest."""

    def __repr__(self) -> str:
        return "lgint.ground"


ground: Final = Ground()


class PivotRow(TypedDict):
    """The point about which a body turns."""

    point: Vector  # (3,), inertial
    com: Vector  # (3,), from the pivot to the COM, body axes


class _BodyRow(TypedDict):
    block: int  # of the configuration; the links of a tree share one
    formulation: str
    mass: float
    inertia: Matrix | None  # (3, 3), about the COM, body axes; None: the body is flexible, and its modes determine it
    pivot: PivotRow | None
    reference: Matrix | None  # (3, 3), from body to inertial axes where Tait-Bryan angles are zero; None: the identity
    modes: dict[str, Any] | None  # what `Modes.record` returns; None: the body is rigid


class BodyRow(_BodyRow, total=False):
    """A body: rigid, a link of a tree, or flexible with a floating frame."""

    com: Vector  # (3,), by which the COM was moved in the body since the model was built, body axes


class SupportRow(TypedDict):
    """A frame in space at rest, or in a given motion."""

    position: Vector  # (3,), at rest; the values of a motion are positions, not displacements
    rotation: Matrix  # (3, 3), to inertial axes, before the motion turns it
    motion: LoadRow | None  # position and rotation vector: a table, pieces, or a function with both derivatives
    kinks: Vector


class RodRow(TypedDict):
    """A rod: names of its nodes and of its edges; edge i connects the nodes i and i + 1."""

    nodes: list[str]  # bodies and supports
    edges: list[str]  # joints
    closed: bool  # whether the last edge ends at the first node


class _JointRow(TypedDict):
    kind: str
    first: str  # body, node or "ground"
    second: str
    points: list[Vector]  # on the first and on the second


class JointRow(_JointRow, total=False):
    """A joint. All kinds but distances have triads; e3 is the axis, and both triads agree at the angle zero.

    The edge of a rod is a joint with compliance (`EDGES`); its triads are the directors d1, d2, d3 of its sections.
    """

    triads: list[Matrix]  # axes e1, e2, e3 as columns, on the first and on the second, in body axes
    angle: float  # at the start, from half a turn on
    of: str  # of a motion: the joint whose coordinate it prescribes, from which it has points and triads
    motion: Matrix | LoadRow  # of a motion, as in a drive
    coupling: str  # of a term of a coupling: the name of the coupling, which is that of its first term
    coupled: str  # of such a term: the joint from which it has points and triads
    factor: float  # of such a term, and
    offset: float  # the value of the sum in the first term, zero in the others
    row: str  # of such a term: "own", or "shared" with the term before it
    carrier: str  # whose axes the translation rows are written in: "inertial", "first" or "second"
    slide_point: Vector  # on the first: the point from which the slide is measured, if that is not its point
    holds: bool  # True: the second body is a link of a tree, and this joint's coordinate is its only one
    length: float  # of a distance, or of an edge without strain
    stiffness: Matrix  # of an edge, (6, 6): shear along d1 and d2, stretch, bending about d1 and d2, torsion
    damping: Vector  # of an edge, (6,)
    reference: (
        LoadRow  # of an edge: its strain without stress, six values, or (3, 6) with its derivatives from a function
    )


class _ForceRow(TypedDict):
    kind: str  # a row of the core; "drive" or "law", of which the core has one for each kind of coordinate


class ForceRow(_ForceRow, total=False):
    """A force: on bodies at points, or in a joint along a coordinate.

    An entry also has the parameters that its row in the core declares, by their names; those with functions of time,
    and the ones in joints, have some of the entries below instead.
    """

    bodies: list[str]
    points: list[Vector]
    joint: str
    coordinate: str  # "angle" or "slide"
    axes: str  # of a load: "inertial" or "body"
    load: LoadRow
    torque: float
    saturation: float  # of a drive that is limited
    stiffness: float
    damping: float
    rest: float  # of a spring: its coordinate without force
    curves: list[
        Matrix
    ]  # points, each curve as two rows or empty: of a bushing for each axis; of a spring and a damper
    motion: Matrix | LoadRow  # of a drive: rows (t, phi, phi', phi''), a table of one value, or a function of three
    function: Callable[..., Any]  # of a law
    limits: Vector  # of a stop in a joint: of its coordinate
    beside: str  # of a load in a joint: the drive of which it is the torque
    tangent: Callable[..., Any] | None
    reads: list[str]  # of a law that is called with a state: the bodies on which it depends, if not on all
    piece: str  # of an elastic tendon: "first" or "next"
    angles: Vector  # of a piece of a tendon: where it leaves the circles at its ends, at the start
    turned: bool  # of a contact: True if its bodies were given in the other order


class ControlRow(TypedDict):
    """A control: its values are the efforts in joints, six values for each body, and the rates of its states."""

    function: Callable[..., Any]
    tangent: Callable[..., Any] | None
    joints: list[list[str]]  # name and coordinate, "angle" or "slide"
    bodies: list[str]
    states: dict[str, float]  # with their values at the start
    every: float | None  # the period of samples
    reads: list[str] | None  # joints, bodies and controls on which it depends; None: everything
    block: int | None  # of its states; None: it has none, or they are held between samples


class LoadRow(TypedDict, total=False):
    """A vector, a table of vectors, pieces of a motion, or a function of time.

    It has one value, three, or six for a strain and for position and rotation of a support.
    """

    vector: Vector
    times: Vector
    values: Matrix
    pieces: Matrix  # of a motion: rows of a time, values, rates and second rates
    function: Callable[..., Any]
    kinks: Vector  # of a function, and of the table of a motion, where its record has any


class Origin(TypedDict):
    """The function of `lgint.models` that made a model, and its arguments."""

    factory: str
    parameters: dict[str, Any]


class _Record(TypedDict, total=False):
    """What not every record has."""

    loops: dict[str, int]  # by joint: number of its loop, from 1 on, if rows are dropped there; not in older files
    controls: dict[str, ControlRow]  # if there are any
    mem0: Vector  # the memory of the start, if it does not follow from the angles of joints
    exact: bool  # whether q0 has the bits of a state, whose quaternions may not have unit length; if so, True


class Record(_Record):
    """A model. Bodies, joints and forces stand in the order in which they were added, by name."""

    gravity: Vector
    bodies: dict[str, BodyRow]
    supports: dict[str, SupportRow]
    joints: dict[str, JointRow]
    forces: dict[str, ForceRow]
    rods: dict[str, RodRow]
    redundant: str  # what `build` does with redundant rows: "error", "drop" or "minimum_norm"
    dropped: dict[str, list[int]]  # by joint: numbers of the rows that others imply, which are inactive at first
    q0: Vector | NDArray[np.float64]  # an array while a model is built
    v0: Vector | NDArray[np.float64]
    reference: str  # the paper
    origin: Origin | None


def is_motion(joint: JointRow) -> bool:
    """Whether a joint prescribes the motion of another one's coordinate."""
    return "of" in joint


def couplings(joints: Mapping[str, JointRow]) -> dict[str, dict[str, JointRow]]:
    """The terms of each coupling by their names, in their order."""
    found: dict[str, dict[str, JointRow]] = {}
    for name, row in joints.items():
        if "coupling" in row:
            found.setdefault(row["coupling"], {})[name] = row
    return found


def mode_count(body: BodyRow) -> int:
    """Number of modes of a body, 0 if it is rigid."""
    return len(body["modes"]["shapes"]) if body["modes"] else 0


def partners(joint: JointRow) -> tuple[str, str]:
    """Both bodies of a joint, which may be nodes or "ground"."""
    return joint["first"], joint["second"]


def holders(joints: dict[str, JointRow]) -> dict[str, str]:
    """For each link of a tree the joint that holds it, parents first."""
    return {row["second"]: name for name, row in joints.items() if "holds" in row and row["holds"]}
