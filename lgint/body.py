"""One rigid body: its formulation, and the coordinates in which a model stores its start."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from lgint._args import Array, array
from lgint._rotation import quaternion_of_matrix, vector_of_matrix


@dataclass(frozen=True)
class Formulation:
    """How a body's coordinates are stored: node kinds of a free body and of one fixed at a point."""

    node: str
    pivot: str
    storage: str  # of the rotation: "matrix", "quaternion", "vector"
    body_velocity: bool = False  # velocity of the COM in body axes
    rates: bool = False  # time derivatives of the quaternion for the angular velocity


FORMULATIONS: Final[Mapping[str, Formulation]] = {
    "R3xSO3": Formulation("R3xSO3", "SO3", "matrix"),
    "R3xS3": Formulation("R3xS3", "S3", "quaternion"),
    "R3xRV": Formulation("R3xRV", "RV", "vector"),
    "SE3": Formulation("SE3", "SO3", "matrix", body_velocity=True),
    "S3R3": Formulation("S3R3", "S3", "quaternion", body_velocity=True),
    "euler_parameters": Formulation("euler_parameters", "euler_parameters_fixed", "quaternion", rates=True),
}


@dataclass(frozen=True)
class Body:
    """What a caller said about a body, checked."""

    name: str
    mass: float
    inertia: Array  # (3, 3), about the COM, body axes
    x: Array  # of the COM
    R: Array
    velocity: Array  # of the COM, inertial
    omega: Array  # body axes
    formulation: str
    pivot: Array | None

    @property
    def com(self) -> Array:
        """From the node point to the COM, body axes."""
        return np.zeros(3) if self.pivot is None else self.R.T @ (self.x - self.pivot)

    @property
    def node(self) -> str:
        """Node kind of the body's block."""
        row = FORMULATIONS[self.formulation]
        return row.node if self.pivot is None else row.pivot

    def inertia_about_node(self) -> Array:
        """Inertia (3, 3) about the node point, by the parallel-axis theorem."""
        com = self.com
        shifted: Array = self.inertia + self.mass * (com @ com * np.eye(3) - np.outer(com, com))
        return shifted

    def state(self) -> tuple[Array, Array]:
        """Coordinates and velocities in the body's formulation."""
        row = FORMULATIONS[self.formulation]
        if row.storage == "matrix":
            attitude = self.R.ravel()
        elif row.storage == "quaternion":
            attitude = quaternion_of_matrix(self.R)
        else:
            attitude = vector_of_matrix(self.R)
        turning = _quaternion_rate(attitude, self.omega) if row.rates else self.omega
        if self.pivot is not None:
            return attitude, turning
        velocity = self.R.T @ self.velocity if row.body_velocity else self.velocity
        return np.concatenate([self.x, attitude]), np.concatenate([velocity, turning])


def _quaternion_rate(p: Array, omega: Array) -> Array:
    """Rates of the quaternion, p' = p o (0, omega) / 2."""
    return 0.5 * np.concatenate([[-p[1:] @ omega], p[0] * omega + np.cross(p[1:], omega)])


def place(
    name: str, R: Array, position: ArrayLike | None, pivot: ArrayLike | None, com: ArrayLike | None
) -> tuple[Array, Array | None]:
    """Position of the COM and the fixed point, if there is one."""
    if com is not None and (pivot is None or position is not None):
        raise ValueError(f"com of {name!r}: it goes with pivot and replaces position")
    x = np.zeros(3) if position is None else array(f"position of {name!r}", position, (3,))
    if pivot is None:
        return x, None
    fixed = array(f"pivot of {name!r}", pivot, (3,))
    return (x if com is None else fixed + R @ array(f"com of {name!r}", com, (3,))), fixed


def inertia_matrix(name: str, value: ArrayLike) -> Array:
    """The inertia matrix, checked: symmetric, positive semidefinite, and a warning for the triangle inequality."""
    given = array(f"inertia of {name!r}", value, (3,), (6,), (3, 3))
    if given.shape == (3,):
        given = np.diag(given)
    elif given.shape == (6,):
        given = given[[[0, 3, 4], [3, 1, 5], [4, 5, 2]]]
    scale = float(np.abs(given).max())
    if np.abs(given - given.T).max() > 1e-12 * scale:
        raise ValueError(f"inertia of {name!r}: a symmetric matrix expected")
    principal = np.linalg.eigvalsh(given)
    if principal[0] < -1e-12 * scale:
        raise ValueError(f"inertia of {name!r}: positive semidefinite expected, principal values are {principal}")
    if principal[0] + principal[1] < principal[2] * (1 - 1e-9):
        warnings.warn(
            f"inertia of {name!r}: no body has principal values {principal} (triangle inequality)", stacklevel=3
        )
    return given
