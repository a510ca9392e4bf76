"""Functions that all parts of the builder use: names, bodies and points on them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from lgint._args import Array, array, choice
from lgint._build.body import IDENTITY, ZERO, Body
from lgint._build.flexible import ModalBody
from lgint._build.support import Support
from lgint._build.trees import Tree
from lgint._model import parts
from lgint._model.formulations import FORMULATIONS
from lgint._model.names import FormulationName
from lgint._model.record import MINIMAL, ControlRow, ForceRow, JointRow, Matrix, RodRow
from lgint._model.record import Ground as Ground
from lgint._model.record import ground as ground
from lgint._model.rod import Rod

GROUND: Final = Body("ground", 0.0, np.zeros((3, 3)), ZERO, IDENTITY, ZERO, ZERO, "R3xSO3", None)

Partner = str | Ground


class Ends(NamedTuple):
    """The points at which a joint or a force attaches to two bodies."""

    names: list[str]
    points: list[list[float]]  # body-fixed, from the COMs
    bodies: tuple[Body, Body]

    @property
    def first(self) -> Array:
        """The first point (3,), inertial, at the start."""
        return self.bodies[0].inertial_point(np.array(self.points[0]))

    @property
    def second(self) -> Array:
        """The second point (3,), inertial, at the start."""
        return self.bodies[1].inertial_point(np.array(self.points[1]))

    @property
    def apart(self) -> Array:
        """The vector (3,) from the first point to the second, inertial."""
        return self.second - self.first

    @property
    def length(self) -> float:
        """The distance of the points; zero if it is the round-off of their positions."""
        length = float(np.linalg.norm(self.apart))
        sizes = float(np.abs(np.array([self.first, self.second, *self.points])).sum())
        return length if length > 16 * np.finfo(float).eps * sizes else 0.0


class Parts:
    """The bodies, joints, forces and names that a builder has collected so far."""

    def __init__(self, gravity: ArrayLike = (0.0, 0.0, 0.0), formulation: FormulationName = "R3xSO3") -> None:
        self._gravity = array("gravity", gravity, (3,))
        self._formulation = choice("formulation", formulation, (*FORMULATIONS, MINIMAL))
        self._bodies: dict[str, Body] = {}
        self._blocks: dict[str, int] = {}
        self._parts: list[Body | Tree | ModalBody] = []  # one per block
        self._nodes: dict[str, Body] = {}  # nodes of flexible bodies, as if they were bodies
        self._supports: dict[str, Support] = {}
        self._without_joint: set[str] = set()  # bodies in minimal coordinates that have no joint yet
        self._links: dict[str, Tree] = {}  # those that have one
        self._grounded: list[str] = []  # why files of robots have added no body, with their lines
        self._names: dict[str, None] = {}  # in the order in which they were taken
        self._numbers: dict[str, int] = {}  # by stem: the last number that was appended to make a name
        self._joints: dict[str, JointRow] = {}
        self._forces: dict[str, ForceRow] = {}
        self._controls: dict[str, ControlRow] = {}
        self._rods: dict[str, RodRow] = {}
        self._identity: Matrix = IDENTITY.tolist()

    def __repr__(self) -> str:
        bodies, joints = len(self._bodies), len(self._joints)
        counts = f"{bodies} {'body' if bodies == 1 else 'bodies'}, {joints} {'joint' if joints == 1 else 'joints'}"
        return f"<lgint.{type(self).__name__}: {counts}>"

    def _repr_html_(self) -> str:
        bodies = [(name, body.formulation, body.mass) for name, body in self._bodies.items()]
        collected = self._supports, self._joints, self._forces, self._rods, self._controls
        return parts.html(repr(self), bodies, *collected)

    @contextmanager
    def _all_or_nothing(self, changed: Iterable[str]) -> Iterator[None]:
        """If the block raises, takes out what it added and restores bodies that it `changed`, whose names are given.

        It must not add bodies in minimal coordinates, nor links to trees.
        """
        sizes = {name: len(value) for name, value in vars(self).items() if isinstance(value, (dict, list))}
        before = {name: self._bodies[name] for name in changed if name in self._bodies}
        try:
            yield
        except BaseException:
            for name, size in sizes.items():
                collected = vars(self)[name]
                while len(collected) > size:
                    collected.popitem() if isinstance(collected, dict) else collected.pop()
            for name, body in before.items():
                if self._bodies[name] is not body:
                    self._bodies[name] = self._parts[self._blocks[name]] = body
            self._numbers.clear()  # names are looked for from the first number on again
            raise

    def _partner(self, who: Partner) -> str:
        """The name of a body, a node, a support or the ground; all functions below take names."""
        if isinstance(who, str) and who in self._bodies:
            return who
        if isinstance(who, Ground) or who == "ground":
            return "ground"
        if isinstance(who, str) and (who in self._nodes or who in self._supports):
            return who
        if isinstance(who, Rod):
            raise ValueError(
                f"body: a rod is a chain of bodies; give one of its nodes, such as rod.nodes[-1] = {who.nodes[-1]!r}, "
                f"got the rod {who.name!r}"
            )
        return choice("body", who, [*self._bodies, *self._nodes, *self._supports])

    def _at(self, name: str) -> Body:
        """A body, or a node of a modal body, a support or the ground as if it were a body."""
        if name in self._bodies:
            return self._bodies[name]
        if name in self._supports:
            return self._supports[name].start
        return GROUND if name == "ground" else self._nodes[name]

    def _moving(self, what: str, who: Partner) -> str:
        """The name of a body or a node; ValueError for the ground and supports, on which forces have no effect."""
        name = self._partner(who)
        if name == "ground" or name in self._supports:
            raise ValueError(
                f"{what}: a body expected, got {'the ground' if name == 'ground' else f'the support {name!r}'}"
            )
        return name

    def _point(self, name: str, offset: Array) -> list[float]:
        """A point at `offset` from the COM (ground: from the origin) as an entry of the record."""
        self._check_coordinates(name)
        if name in self._nodes and np.abs(offset).max() > 1e-9:
            raise ValueError(f"a point cannot be offset from the node {name!r}, got {offset}; give the body more nodes")
        point: list[float] = offset.tolist()
        return point

    def _check_coordinates(self, name: str) -> None:
        if name in self._without_joint:
            raise ValueError(f"body {name!r} is in minimal coordinates and needs a joint before anything else")

    def _attachment(self, name: str, who: str, point: ArrayLike | None, local_point: ArrayLike | None) -> list[float]:
        """Where `name` attaches to one body; `point` is inertial, `local_point` body-fixed. Default: the COM."""
        if point is not None and local_point is not None:
            raise ValueError(f"{name!r}: point (inertial) or local_point (body-fixed), not both")
        if point is not None:
            return self._point(who, self._at(who).local(array(f"point of {name!r}", point, (3,))))
        return self._point(who, ZERO if local_point is None else array(f"local_point of {name!r}", local_point, (3,)))

    def _ends(
        self,
        name: str,
        a: str,
        b: str,
        point: ArrayLike | None,
        point_a: ArrayLike | None,
        point_b: ArrayLike | None,
        *shapes: tuple[int, ...],
    ) -> Ends:
        """The points at which `name` attaches to two bodies.

        `point` is inertial and has one of `shapes`: (3,) for both bodies, (2, 3) for one each. The others are
        body-fixed. Default: the COMs.
        """
        if point is not None:
            if point_a is not None or point_b is not None:
                raise ValueError(f"{name!r}: point (inertial), or point_a and point_b (body-fixed), not both")
            given = array(f"point of {name!r}", point, *shapes)
            return self._ends_at(a, b, *((given, given) if given.ndim == 1 else given))
        first, second = (
            ZERO if given is None else array(f"point_{letter} of {name!r}", given, (3,))
            for letter, given in (("a", point_a), ("b", point_b))
        )
        return Ends([a, b], [self._point(a, first), self._point(b, second)], (self._at(a), self._at(b)))

    def _ends_at(self, a: str, b: str, first: Array, second: Array) -> Ends:
        """The same at an inertial point (3,) for each body."""
        bodies = self._at(a), self._at(b)
        points = [self._point(a, bodies[0].local(first)), self._point(b, bodies[1].local(second))]
        return Ends([a, b], points, bodies)

    # ---- names ----

    def _new_name(self, what: str, name: str) -> None:
        if not isinstance(name, str) or not name:
            raise ValueError(f"name of a {what}: a string expected, got {name!r}")
        if "\0" in name or (not name.isascii() and any("\ud800" <= character <= "\udfff" for character in name)):
            raise ValueError(f"name of a {what}: no NUL characters and no lone surrogates expected, got {name!r}")
        if name in self._names or name == "ground":
            raise ValueError(f"the name {name!r} is in use; a {what} needs a name of its own")

    def _free_name(self, stem: str) -> str:
        name, number = stem, self._numbers.get(stem, 1)
        while name in self._names:
            number += 1
            name = f"{stem}{number}"
        self._numbers[stem] = number
        return name
