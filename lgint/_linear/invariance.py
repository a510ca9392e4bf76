"""Whether a system is time-invariant in a frame: its terms are compared at a time and at two times shortly after.

The ratio of the two times is irrational, so that no periodic term can be the same at all three of them.

`course` follows the motion in between, and meets a steady rotation or spin exactly over any angle.
"""

from __future__ import annotations

from typing import Any, Final, NoReturn

import numpy as np

from lgint._args import Array, listing
from lgint._core import IntegrationError
from lgint._linear.course import held, kinematics, later
from lgint._linear.terms import Rates, Terms

FAR: Final = 0.1  # rad: by how much the fastest body turns until then, or moves as a fraction of the system's size
AT_REST: Final = 0.05  # s, if nothing moves
SOONER: Final = (5**0.5 - 1) / 2  # the first of two later times as a fraction of the second one, irrational
CHANGE: Final = 1e-5  # largest relative change of a term
NAMES: Final = {"M": "the inertia", "D": "the damping", "K": "the stiffness", "N": "the directions that joints allow"}


def span(terms: Terms) -> float:
    """A time in which the system moves a little, s."""
    bodies, motion = terms.space.bodies, held(terms, AT_REST)
    rates: list[Any] = [np.linalg.norm(terms.frame.rate)]
    if bodies is None:
        rates.append(max(np.abs(motion.v).max(initial=0), np.sqrt(np.abs(motion.a).max(initial=0))))
    else:
        at = kinematics(bodies, motion)
        size = float(np.ptp(at.x, axis=0).max()) or 1.0
        rates += [_longest(at.omega), np.sqrt(_longest(at.alpha))]
        rates += [_longest(at.v) / size, np.sqrt(_longest(at.a) / size)]
    fastest = float(max(rates))
    return FAR / fastest if fastest > FAR / AT_REST else AT_REST


def _longest(x: Array) -> float:
    return float(np.linalg.norm(x, axis=-1).max(initial=0))


def check_invariant(terms: Terms, N: Array, poses: list[int], rates: Rates | None, where: str) -> list[Terms]:
    """Compares the terms at two times shortly after; ValueError if they have changed on the perturbations N y."""
    h = span(terms)
    return [_unchanged(terms, N, poses, rates, where, each, FAR / h) for each in (SOONER * h, h)]


def _unchanged(
    terms: Terms, N: Array, poses: list[int], rates: Rates | None, where: str, h: float, rate: float
) -> Terms:
    """Compares the terms after a time h, at the rate of the motion."""
    try:
        after = later(terms, h)
    except (ValueError, IntegrationError) as error:
        raise ValueError(f"{_not_invariant(where)}: it cannot be followed for {h:.3g} s: {error}") from error
    if after.error > CHANGE or not after.holds(N, CHANGE, rates):
        _refuse(where, "N", terms, [], h)
    now, then = terms.on(N), after.on(N)
    scales = _scales(now, rate)
    for name, a, b, scale in zip("MDK", now, then, scales, strict=True):
        off = np.abs(b - a) > CHANGE * scale
        if off.any():
            i, _ = np.unravel_index(np.argmax(np.abs(b - a) / scale), a.shape)
            _refuse(where, name, terms, [*poses, *range(-len(terms.space.states), 0)][int(i) : int(i) + 1], h)
    return after


def _scales(terms: tuple[Array, Array, Array], rate: float) -> tuple[Array, Array, Array]:
    """The scales of changes of M, D and K: forces at the rate of the motion, or the entries themselves."""
    M, D, K = terms
    total = np.abs(M) * rate**2 + np.abs(D) * rate + np.abs(K)
    size = np.sqrt(np.maximum(total.max(axis=1, initial=0), np.finfo(float).tiny))
    scale = np.outer(size, size)
    return scale / rate**2, scale / rate, scale


def _not_invariant(where: str) -> str:
    return f"linearize: the system is not time-invariant in {where}"


def _refuse(where: str, name: str, terms: Terms, poses: list[int], h: float) -> NoReturn:
    labels = [*terms.space.labels, *terms.space.state_labels]
    at = f" of {listing([labels[i] for i in poses])}" if poses else ""
    frame = "a frame that turns with it (frame=body, or (axis, point, rate)), or " if terms.space.bodies else ""
    raise ValueError(
        f"{_not_invariant(where)}: {NAMES[name]}{at} change{'' if name == 'N' else 's'} within {h:.3g} s along the "
        f"motion. Give {frame}a state in equilibrium or in steady motion, which lgint.equilibrium finds"
    )
