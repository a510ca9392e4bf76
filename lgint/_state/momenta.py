"""Linear and angular momentum of bodies in Euler parameters, from the momenta p that belong to their coordinates."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from lgint._args import Array
from lgint._model.model import Model
from lgint._model.record import BodyRow

HELD: Final = "euler_parameters_fixed"  # the kind of block of a body with a fixed point


def momenta(model: Model, q: Array, p: Array) -> tuple[Array, Array]:
    """Linear (..., 3) and angular momentum (..., 3) about the origin of all bodies at q (..., nq), p (..., nv)."""
    linear, angular = np.zeros((2, *q.shape[:-1], 3))
    for linear_part, angular_part in _of_bodies(model, q, p):
        linear += linear_part
        angular += angular_part
    return linear, angular


def _of_bodies(model: Model, q: Array, p: Array) -> Iterator[tuple[Array, Array]]:
    for body in model.bodies.values():
        kind, _, first_q, first_v, *_ = model.core.blocks[body["block"]]
        x, y = q[..., first_q:], p[..., first_v:]
        if kind == HELD:
            yield _held(body, x[..., :4], y[..., :4])
        else:
            yield y[..., :3], np.cross(x[..., :3], y[..., :3]) + _spin(x[..., 3:7], y[..., 3:7])


def _held(body: BodyRow, e: Array, p: Array) -> tuple[Array, Array]:
    """Momenta of a body that turns about its pivot; the COM moves with the angular velocity that p gives."""
    assert body["pivot"] is not None and body["inertia"] is not None
    com, mass = np.array(body["pivot"]["com"]), body["mass"]
    about_pivot = np.array(body["inertia"]) + mass * (com @ com * np.eye(3) - np.outer(com, com))
    spin = _spin(e, p)
    omega = _convective(e, p) @ np.linalg.pinv(about_pivot, hermitian=True)
    linear = mass * _rotate(e, np.cross(omega, com))
    return linear, spin + np.cross(body["pivot"]["point"], linear)


def _spin(e: Array, p: Array) -> Array:
    """E(e) p / 2, inertial: the vector part of p e* / 2 (kinon2024 (64))."""
    spin: Array = (e[..., :1] * p[..., 1:] - p[..., :1] * e[..., 1:] + np.cross(e[..., 1:], p[..., 1:])) / 2
    return spin


def _convective(e: Array, p: Array) -> Array:
    """G(e) p / 2, the same in body axes."""
    spin: Array = (e[..., :1] * p[..., 1:] - p[..., :1] * e[..., 1:] - np.cross(e[..., 1:], p[..., 1:])) / 2
    return spin


def _rotate(e: Array, x: Array) -> Array:
    """R(e) x for rows."""
    across = np.cross(e[..., 1:], x)
    turned: Array = x + 2 * (e[..., :1] * across + np.cross(e[..., 1:], across))
    return turned
