"""Impacts: the velocities after contacts have closed, in the metric of the mass.

Velocities that the constraints leave free are v = N u, where N is a basis of the null space of B. With N^T M N = L L^T,
a change of them is x = L^T du, of the energy |x|^2/2. An impulse on the rows J of contacts gives x = A impulse with
A = L^-1 N^T J^T, and changes their rates by A^T x. The normal impulses of the compression are those with

    impulses >= 0,   rates >= 0,   impulses . rates = 0,

which is the projection onto a cone, with one solution x; restitution e adds e times these impulses. The rows of
contacts that stick are equations beside these, and eliminated first.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from lgint._args import Array, array, choice, number, shown
from lgint._model.record import Ground
from lgint._state.mechanics import MechanicsAccessors

CLOSED: Final = 1e-6  # m: a point of a contact takes part if its gap is at most this
SMALL: Final = 1e-12  # singular values and impulses below this, relative to the largest one, are zero
ROUND_OFF: Final = 1e-9  # relative to rows and speeds: below this, points that stick or constraints hold a row
SLOW: Final = 1e-3  # m/s: round-off is relative to at least this speed, so that bodies at rest may be hit
TANGENTIAL: Final = ("free", "stick")

Contacts = str | Sequence[Any]


class Row(NamedTuple):
    """A point at which two bodies touch."""

    normal: Array  # (nv,), the derivative of the gap's rate by v
    across: Array  # (2, nv)
    rate: float  # of the gap
    slip: Array  # (2,), velocities across the normal
    size: float  # of the terms of `normal` and `across`, which may cancel up to round-off, m
    speed: float  # the same of `rate` and `slip`, m/s


def velocities_after(state: MechanicsAccessors, contacts: Contacts, restitution: float, tangential: str) -> Array:
    """The velocities (nv,) after an impact."""
    e = number("restitution", restitution)
    if not 0 <= e <= 1:
        raise ValueError(f"restitution: a number from 0 to 1 expected, got {restitution!r}")
    choice("tangential", tangential, TANGENTIAL)
    rows = _rows(state, contacts)
    N = _null_space(state.constraint_matrix())
    L = np.linalg.cholesky(N.T @ state.mass_matrix() @ N)
    W = np.linalg.solve(L, N.T)
    A = np.hstack([_columns(W, row.normal[None], row.size) for row in rows])
    T = [_columns(W, row.across, row.size) for row in rows]
    rate, slip = np.array([row.rate for row in rows]), [row.slip for row in rows]
    speed = max(SLOW, *(row.speed for row in rows))
    x = _impact(A, rate, T if tangential == "stick" else [], slip, e, speed)
    after: Array = state.v + N @ np.linalg.solve(L.T, x)
    return after


def _null_space(B: Array) -> Array:
    """An orthonormal basis (nv, n) of the velocities that the constraints leave free."""
    _, sizes, V = np.linalg.svd(B)
    rank = int((sizes > SMALL * sizes.max(initial=0)).sum())
    free: Array = V[rank:].T
    return free


def _columns(W: Array, rows: Array, size: float) -> Array:
    """W J^T for rows J of this size; columns of which joints leave only round-off become zero."""
    columns: Array = W @ rows.T
    columns[:, np.linalg.norm(columns, axis=0) <= SMALL * np.linalg.norm(W) * size] = 0
    return columns


# ---- in the metric of the mass ----


def _impact(A: Array, rate: Array, T: list[Array], slip: list[Array], e: float, speed: float) -> Array:
    """The change x under compression and restitution; contacts without an impulse do not stick.

    If the points that stick also prevent motion along a normal, the impulse along it is not determined; a point that
    closes counts as having one.
    """
    sticking, size = list(range(len(T))), np.linalg.norm(A, axis=0)
    while True:
        Q, still = _stick([T[i] for i in sticking], [slip[i] for i in sticking], len(A))
        free = A - Q @ (Q.T @ A)
        held = np.linalg.norm(free, axis=0) <= ROUND_OFF * size
        free[:, held] = 0
        impulses = _compress(free, rate + A.T @ still, speed)
        pressed = (impulses > SMALL * impulses.max(initial=0)) | (held & (size > 0) & (rate < SMALL * speed))
        pulling = [i for i in sticking if not pressed[i]]
        if not pulling:
            break
        sticking = [i for i in sticking if i not in pulling]
    x: Array = still + free @ ((1 + e) * impulses)
    again = rate + A.T @ x
    if e > 0 and again.min(initial=0) < -SMALL * speed:  # some are driven into contact by others
        x += free @ _compress(free, again, speed)
    return x


def _stick(T: list[Array], slip: list[Array], n: int) -> tuple[Array, Array]:
    """An orthonormal basis Q of the impulses across the normals, and the least change that stops the sliding."""
    if not T:
        return np.zeros((n, 0)), np.zeros(n)
    rows, rates = np.hstack(T), np.concatenate(slip)
    U, sizes, V = np.linalg.svd(rows, full_matrices=False)
    kept = sizes > SMALL * sizes.max(initial=0)
    Q = U[:, kept]
    still: Array = -Q @ ((V[kept] @ rates) / sizes[kept])
    return Q, still


def _compress(A: Array, rate: Array, speed: float) -> Array:
    """The impulses >= 0 that leave no rate negative: the least |A impulse + c| for the c with A^T c = rate."""
    rate = np.where(A.any(axis=0) | (np.abs(rate) > ROUND_OFF * speed), rate, 0.0)
    c, *_ = np.linalg.lstsq(A.T, rate, rcond=SMALL)
    if np.abs(A.T @ c - rate)[rate < 0].max(initial=0) > ROUND_OFF * speed:
        raise ValueError(
            "contacts: an impulse cannot stop some of them, because constraints or supports prescribe their rate"
        )
    return _least(A, -c)


def _least(A: Array, b: Array) -> Array:
    """The x >= 0 with the least |A x - b|, by the active sets of Lawson and Hanson."""
    x, free = np.zeros(A.shape[1]), np.zeros(A.shape[1], dtype=bool)
    small = SMALL * max(float(np.abs(A).max(initial=0)), 1e-300) * float(np.linalg.norm(b))
    for _ in range(3 * A.shape[1] + 3):
        gain = np.where(free, -np.inf, A.T @ (b - A @ x))
        if not len(gain) or gain.max() <= small:
            break
        free[np.argmax(gain)] = True
        while True:
            best = np.zeros_like(x)
            best[free] = np.linalg.lstsq(A[:, free], b, rcond=SMALL)[0]
            down = free & (best <= 0)
            if not down.any():
                break
            step = np.min(x[down] / np.maximum(x[down] - best[down], 1e-300))
            x = x + step * (best - x)
            free &= x > SMALL * np.abs(x).max(initial=0)
            x[~free] = 0
        x = best
    return x


# ---- rows of contacts ----


def _rows(state: MechanicsAccessors, contacts: Contacts) -> list[Row]:
    rows: list[Row] = []
    for each in _listed(contacts):
        rows += _of_name(state, each) if isinstance(each, str) else [_of_point(state, each)]
    return rows


def _listed(contacts: Contacts) -> Sequence[Any]:
    if not isinstance(contacts, (str, tuple, list)):
        raise ValueError(f"contacts: names, tuples or a sequence of them expected, got {shown(contacts)}")
    if not len(contacts):
        raise ValueError("contacts: at least one expected, got none")
    single = isinstance(contacts, str) or not all(map(_names, contacts))
    return [contacts] if single else contacts


def named(contacts: Contacts) -> str:
    """The names of the contacts of an impact, or of their bodies."""
    return ", ".join(repr(each if isinstance(each, str) else each[0]) for each in _listed(contacts))


def _names(item: Any) -> bool:
    """Whether an item of a sequence is the name of a contact or a body, and not a point."""
    return isinstance(item, str) or (isinstance(item, (tuple, list)) and len(item) > 0 and isinstance(item[0], str))


def _of_name(state: MechanicsAccessors, name: str) -> list[Row]:
    """The points of a contact that are closed."""
    found = state.contact(name)
    row: Any = state.multibody().forces[name]
    first, second = row["bodies"][::-1] if row.get("turned") else row["bodies"]
    closed = np.flatnonzero(found.gap <= CLOSED)
    if not len(closed):
        raise ValueError(
            f"contacts: {name!r} is open by {found.gap.min():.3g} m; an impact takes place where shapes touch"
        )
    return [_row(state, first, second, found.point[k], found.normal[k]) for k in closed]


def _of_point(state: MechanicsAccessors, given: Any) -> Row:
    if not isinstance(given, (tuple, list)) or len(given) not in (3, 4):
        raise ValueError(
            "contacts: names of contacts, or tuples (body, local_point, normal) or (body, local_point, normal, other "
            f"body), expected, got {shown(given)}"
        )
    body, other = given[0], given[3] if len(given) == 4 else "ground"
    if isinstance(other, Ground):
        other = "ground"
    normal = array(f"normal of the contact of {body!r}", given[2], (3,))
    if not normal.any():
        raise ValueError(f"normal of the contact of {body!r}: a vector other than zero expected, got {normal}")
    if other == body:
        raise ValueError(f"contacts: two different bodies expected, got {body!r} twice")
    point = state.point(body, array(f"point of the contact of {body!r}", given[1], (3,)))
    return _row(state, other, body, point, normal / np.linalg.norm(normal))


def _row(state: MechanicsAccessors, first: str, second: str, point: Array, normal: Array) -> Row:
    """The row of a point, with the normal from the first body to the second one."""
    axes = np.linalg.svd(normal[None])[2][1:]
    ends = [_motion(state, who, point) for who in (first, second)]
    J, velocity = ends[1][0] - ends[0][0], ends[1][1] - ends[0][1]
    size, speed = ends[0][2] + ends[1][2], ends[0][3] + ends[1][3]
    return Row(normal @ J, axes @ J, float(normal @ velocity), axes @ velocity, size, speed)


def _motion(state: MechanicsAccessors, who: str, point: ArrayLike) -> tuple[Array, Array, float, float]:
    """For the point of a body at this inertial position: the Jacobian (3, nv), the velocity (3,), and their sizes."""
    model = state.multibody()
    if who == "ground":
        return np.zeros((3, len(state.v))), np.zeros(3), 0.0, 0.0
    X = state.rotation(who).T @ (np.asarray(point) - state.position(who))
    J = np.zeros((6, len(state.v))) if who in model.supports else state.jacobian(who, X)
    arm = float(np.linalg.norm(X) + np.linalg.norm(state.position(who)))
    turning = arm * float(np.linalg.norm(state.angular_velocity(who)))
    size = float(np.linalg.norm(J[:3])) + arm * float(np.linalg.norm(J[3:]))
    return J[:3], state.point_velocity(who, X), size, turning + float(np.linalg.norm(state.velocity(who)))
