"""Formulations of bodies: which node kinds they use, and how they store a rotation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Formulation:
    """How a body's coordinates are stored: node kinds of a free body and of one fixed at a point."""

    node: str
    pivot: str
    storage: str  # of the rotation: "matrix", "quaternion", "vector", "angles"
    body_velocity: bool = False  # the velocity of the COM is in body axes
    rates: bool = False  # time derivatives of the quaternion or the angles take the place of the angular velocity


FORMULATIONS: Final[Mapping[str, Formulation]] = {
    "R3xSO3": Formulation("R3xSO3", "SO3", "matrix"),
    "R3xS3": Formulation("R3xS3", "S3", "quaternion"),
    "R3xRV": Formulation("R3xRV", "RV", "vector"),
    "SE3": Formulation("SE3", "SO3", "matrix", body_velocity=True),
    "S3R3": Formulation("S3R3", "S3", "quaternion", body_velocity=True),
    "euler_parameters": Formulation("euler_parameters", "euler_parameters_fixed", "quaternion", rates=True),
    "tait_bryan": Formulation("tait_bryan", "tait_bryan_fixed", "angles", rates=True),
    "euler_parameters_omega": Formulation("euler_parameters_omega", "euler_parameters_omega_fixed", "quaternion"),
    "tait_bryan_omega": Formulation("tait_bryan_omega", "tait_bryan_omega_fixed", "angles"),
}
