"""Derivatives of eigenvalues by parameters, at rest: those of the matrices along the change of the equilibrium.

With P(s) = [[s^2 M + s D + K, B^T], [B, 0]], P x = 0 and y^H P = 0, a simple eigenvalue changes by
ds = -(y^H dP x) / (y^H P'(s) x). A multiple one with as many vectors, the columns of X and Y, splits into the
eigenvalues of -(Y^H P'(s) X)^-1 (Y^H dP X).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from lgint import _core
from lgint._args import Array
from lgint._linear.modes import ROUND_OFF
from lgint._model.model import Model
from lgint._model.sensitivity import differentiated, number_named
from lgint._model.values import POINTS
from lgint._state.functions import refuse_functions
from lgint._state.rest import Rest, slopes_at_rest
from lgint._state.slopes import CENTRAL, START, refined

_VANISHES: Final = 1e-9  # of terms: singular values below which a multiple eigenvalue has a vector
_EQUAL: Final = 1e-15  # relative difference
_MEET: Final = 1e-6  # of its terms: y^H P' x below which an eigenvalue is about to meet another one of the same vector
_STEP: Final = 1e-2  # step of differences by the state, m or rad
_LEAST: Final = 1e-8  # of displacements per unit of a number: others may be round-off


def eigenvalue_slopes(model: Model, rest: Rest, eigenvalues: Any, parameter: str) -> Any:
    """The derivative of each eigenvalue; NaN for those without as many vectors, or that cannot be told from zero."""
    if isinstance(parameter, str) and parameter.startswith(START):
        raise ValueError(f"parameter: {parameter!r}: an equilibrium does not depend on the start; give one of `values`")
    if len(model.core.nonholonomic):
        raise ValueError("parameter: under nonholonomic constraints eigenvalues have no derivatives here")
    number_named(model, parameter, "parameter")
    if model.controls and parameter in model._values and model._values[parameter].key == POINTS:
        raise ValueError("parameter: eigenvalues under controls have no derivatives by points")
    still = np.zeros(model.nv)
    refuse_functions(model, [parameter], rest.t, rest.q, still, "parameter")
    if rest.mem is not None and (model.core.stretch(rest.t, rest.q, still, rest.mem) != 1).any():
        raise ValueError("parameter: some bristles are bent to their limit, where eigenvalues have no derivatives")
    core = differentiated(model, [parameter])
    dq, dlam = (part[0] for part in slopes_at_rest(core, 1, rest))
    now, by = _matrices(core, rest), _slopes(core, rest, dq, dlam, model.has_kinks)
    N = _free(now[3])
    size = np.abs(eigenvalues).max(initial=0)
    found = np.full(len(eigenvalues), complex(np.nan, np.nan))
    known = np.abs(eigenvalues) > ROUND_OFF * size
    for group in _groups(eigenvalues[known], ROUND_OFF * size):
        rows = np.flatnonzero(known)[group]
        found[rows] = _of_near(eigenvalues[rows], ROUND_OFF * size, N, now, by)
    return found


def _groups(values: Any, apart: float) -> Iterator[Any]:
    """Groups of values, as numbers of them, within this distance of the first one of their group."""
    left = np.ones(len(values), dtype=bool)
    while left.any():
        same = left & (np.abs(values - values[left.argmax()]) <= apart)
        yield np.flatnonzero(same)
        left &= ~same


def _of_near(values: Any, apart: float, N: Array, now: list[Array], by: list[Array], alone: bool = True) -> Any:
    """The derivatives of eigenvalues within this distance: of one that is multiple, or else of closer ones apart.

    `alone`: no others are near.
    """
    found = _of_group(values.mean(), len(values), N, now, by, alone)
    if len(values) == 1 or apart < _EQUAL * np.abs(values).max() or not np.isnan(found).any():
        return found
    for group in _groups(values, apart / 10):
        found[group] = _of_near(values[group], apart / 10, N, now, by, alone=False)
    return found


def _matrices(core: _core.System, rest: Rest, parameter: int | None = None) -> list[Array]:
    """M, D, K and B, or their derivatives."""
    chains = ((0.0, 0.0, 1.0), (0.0, 1.0, 0.0), (1.0, 0.0, 0.0))
    found = [rest.terms(core, "S", parameter=parameter, k=k)["S"] for k in chains]
    return [*found, rest.terms(core, "B", parameter=parameter)["B"]]


def _slopes(core: _core.System, rest: Rest, dq: Array, dlam: Array, kinks: bool) -> list[Array]:
    """Their derivatives by a parameter, with which the equilibrium changes."""
    total = _matrices(core, rest, 0)
    largest = np.abs(dq).max(initial=0)
    if not largest and not np.abs(dlam).max(initial=0):
        return total

    dmem = rest.bristles(core, dq, 0)

    def along(step: float) -> Array:
        """The derivatives along the change of the equilibrium, one matrix after the other."""
        total = np.zeros(0)
        for times, weight in CENTRAL:
            moved = rest.moved(core, *(times * step * part for part in (dq, dlam, dmem)))
            parts = weight / step * np.concatenate([np.ravel(part) for part in _matrices(core, moved)])
            total = total + parts if total.size else parts
        return total

    step = _STEP / max(largest, _LEAST) if largest else _STEP
    found = refined(along, step, kinks) if kinks else along(step)
    for part, slope in zip(total, np.split(found, np.cumsum([part.size for part in total])[:-1]), strict=True):
        part += slope.reshape(part.shape)
    return total


def _free(B: Array) -> Array:
    """An orthonormal basis of the displacements that the constraints allow."""
    if not len(B):
        return np.eye(B.shape[1])
    _, size, V = np.linalg.svd(B)
    free: Array = V[(size > 1e-12 * size[0]).sum() :].T
    return free


def _of_group(s: complex, count: int, N: Array, now: list[Array], by: list[Array], alone: bool) -> Any:
    """The derivatives of an eigenvalue of this multiplicity; NaN if it does not have as many vectors."""
    M, D, K, B = now
    dM, dD, dK, dB = by
    S = s * s * M + s * D + K
    left, size, right = np.linalg.svd(N.T @ S @ N)
    X, Y = N @ right[-count:].conj().T, N @ left[:, -count:]
    rate = Y.conj().T @ (2 * s * M + D) @ X
    largest = max(np.abs(part).max(initial=0) for part in (s * s * M, s * D, K))
    terms = np.abs(Y).T @ (np.abs(2 * s * M) + np.abs(D)) @ np.abs(X)
    if count > 1:
        missing = count > len(size) or size[-count] > _VANISHES * largest or np.linalg.cond(rate) > 1 / _VANISHES
    else:
        missing = not alone and np.abs(rate).item() < _MEET * terms.item()
    if missing:
        return np.full(count, complex(np.nan, np.nan))
    lam, nu = (
        -np.linalg.lstsq(B.T, each, rcond=1e-12)[0] if len(B) else np.zeros((0, count))
        for each in (S @ X, S.conj().T @ Y)
    )
    change = Y.conj().T @ ((s * s * dM + s * dD + dK) @ X + dB.T @ lam) + nu.conj().T @ (dB @ X)
    found = np.linalg.eigvals(-np.linalg.solve(rate, change))
    return found[np.argsort(found.imag * np.sign(s.imag) + found.real)]
