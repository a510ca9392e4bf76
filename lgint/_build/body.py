"""One rigid body as a caller described it, and the coordinates in which a model stores its start."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from lgint._args import Array, array
from lgint._model.formulations import FORMULATIONS
from lgint._model.record import BodyRow, PivotRow
from lgint._rotation import angle_rates, angles_of_matrix, cross, quaternion_of_matrix, vector_of_matrix

START_TOLERANCE: Final = 1e-8  # tolerance of a start, in m, rad or their rates, relative if velocities are large
IDENTITY: Final = np.eye(3)
ZERO: Final = np.zeros(3)
for _constant in (IDENTITY, ZERO):
    _constant.setflags(write=False)
REGULAR: Final = 1e-6  # Tait-Bryan angles count as singular if |cos b| is below this


State = tuple[tuple[Array, ...], tuple[Array, ...]]  # parts of coordinates and velocities, one after the other


class Body(NamedTuple):
    """A body as a caller described it, checked.

    The rotation of a body's node is R = R_node reference. The axes of node and body differ where the angles of a
    Tait-Bryan node count from a reference rotation; a vector with body components b has node components reference b.
    """

    name: str
    mass: float
    inertia: Array  # (3, 3), about the COM, body axes
    x: Array  # of the COM
    R: Array
    velocity: Array  # of the COM, inertial
    omega: Array  # body axes
    formulation: str
    pivot: Array | None
    reference: Array | None = None  # None: the identity

    @property
    def stands(self) -> bool:
        """Whether it was given no velocities."""
        return self.velocity is ZERO and self.omega is ZERO

    @property
    def node_R(self) -> Array:
        """Rotation from the node's to inertial axes."""
        return self.R if self.reference is None else self.R @ self.reference.T

    @property
    def com(self) -> Array:
        """The vector from the point that the coordinates describe (the pivot, or the COM) to the COM, body axes."""
        return ZERO if self.pivot is None else self.R.T @ (self.x - self.pivot)

    def components(self, b: Array) -> Array:
        """Components in body axes of an inertial vector (3,), or of vectors that are columns (3, 3)."""
        turned: Array = b if self.R is IDENTITY else self.R.T @ b
        return turned

    def local(self, point: Array) -> Array:
        """An inertial point (3,) of the start in body axes, from the COM."""
        return self.components(point - self.x)

    def inertial_point(self, local: Array) -> Array:
        """The inertial position (3,) at the start of a point that is given in body axes from the COM."""
        point: Array = self.x + self.R @ local
        return point

    def in_node(self, b: Array) -> Array:
        """Components (3,) in the axes of the node of a vector in body axes."""
        return b if self.reference is None else self.reference @ b


def states(bodies: Sequence[Body]) -> Iterator[State]:
    """Coordinates and velocities of bodies at the start, each in its formulation."""
    return map(_state, bodies, _attitudes(bodies))


def _attitudes(bodies: Sequence[Body]) -> list[Array]:
    """The rotation of each body as its formulation stores it; those stored in the same way are converted together."""
    kinds = [FORMULATIONS[body.formulation].storage for body in bodies]
    found: list[Array] = [ZERO] * len(bodies)
    for storage in set(kinds):
        own = [i for i, kind in enumerate(kinds) if kind == storage]
        for i, attitude in zip(own, _STORAGES[storage](np.array([bodies[i].node_R for i in own])), strict=True):
            found[i] = attitude
    return found


def _state(body: Body, attitude: Array) -> State:
    row = FORMULATIONS[body.formulation]
    turning = body.in_node(body.omega)
    if row.storage == "angles" and abs(np.cos(attitude[1])) < REGULAR:
        raise ValueError(
            f"the Tait-Bryan angles of {body.name!r} are singular at the start (|cos b| < {REGULAR:g}); give "
            "add_body another reference rotation, or use a Lie formulation such as 'R3xSO3'"
        )
    if row.rates:
        turning = _RATES[row.storage](attitude, turning)
    if body.pivot is not None:
        return (attitude,), (turning,)
    velocity = body.R.T @ body.velocity if row.body_velocity else body.velocity
    return (body.x, attitude), (velocity, turning)


def _quaternion_rate(p: Array, omega: Array) -> Array:
    """Rates of the quaternion, p' = p o (0, omega) / 2."""
    return 0.5 * np.concatenate([[-p[1:] @ omega], p[0] * omega + cross(p[1:], omega)])


_STORAGES: Final[Mapping[str, Callable[[Array], Array]]] = {
    "matrix": lambda R: R.reshape(-1, 9),
    "quaternion": quaternion_of_matrix,
    "vector": vector_of_matrix,
    "angles": angles_of_matrix,
}
_RATES: Final[Mapping[str, Callable[[Array, Array], Array]]] = {"quaternion": _quaternion_rate, "angles": angle_rates}


def com_and_pivot(
    name: str, R: Array, position: ArrayLike | None, pivot: ArrayLike | None, com: ArrayLike | None
) -> tuple[Array, Array | None]:
    """Position of the COM and the fixed point, if there is one."""
    if com is not None and (pivot is None or position is not None):
        raise ValueError(f"com of {name!r}: it goes with pivot and replaces position")
    x = ZERO if position is None else array(f"position of {name!r}", position, (3,))
    if pivot is None:
        return x, None
    fixed = array(f"pivot of {name!r}", pivot, (3,))
    return (x if com is None else fixed + R @ array(f"com of {name!r}", com, (3,))), fixed


def row(body: Body, block: int) -> BodyRow:
    """The record of a rigid body."""
    pivot: PivotRow | None = None
    if body.pivot is not None:
        pivot = {"point": body.pivot.tolist(), "com": body.com.tolist()}
    return {
        "block": block,
        "formulation": body.formulation,
        "mass": body.mass,
        "inertia": body.inertia.tolist(),
        "pivot": pivot,
        "reference": None if body.reference is None else body.reference.tolist(),
        "modes": None,
    }
