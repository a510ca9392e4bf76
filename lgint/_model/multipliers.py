"""Multipliers of all constraint rows of loops with redundant joints, and of rows in the axes of bodies."""

from __future__ import annotations

import re

import numpy as np

from lgint._args import Array
from lgint._model.joints import JOINTS
from lgint._model.loops import loops
from lgint._model.model import Model


def rows_in_bodies(model: Model) -> list[str]:
    """The names of the constraint rows where those that lock all translations of a joint are in the axes of a body."""
    names = model.row_names
    for joint, row in model.joints.items():
        if row["kind"] in JOINTS and JOINTS[row["kind"]].is_point:
            for i in model.rows(joint):
                names[i] = re.sub(" along [xyz]$", lambda found: f" along e{'xyz'.index(found[0][-1]) + 1}", names[i])
    return names


def complete_multipliers(model: Model, q: Array, v: Array, lam: Array, invariant: bool) -> Array:
    """Multipliers (n, rows of `model.complete`) of all rows for states q (n, nq), v (n, nv), lam (n, nc).

    Inactive rows have zero; with redundant="minimum_norm" the multipliers of a loop are those of least Euclidean norm
    (in N and N m) with the same effect on the bodies: lam - n (n^T lam) with B^T n = 0. `invariant`: they belong to
    rows in the axes of bodies.
    """
    whole = model.complete
    out = np.zeros((len(lam), whole.nc))
    out[:, _numbers(model, whole)] = lam
    if model.redundant != "minimum_norm":
        return out
    for loop in loops(whole):
        dropped = sum(len(model.dropped.get(joint, ())) for joint in loop.joints)
        if dropped:
            columns = np.concatenate([whole.rows(joint) for joint in loop.joints])
            rank = len(columns) - dropped
            for i, (qi, vi) in enumerate(zip(loop.part(q, 0), loop.part(v, 1), strict=True)):
                range_of_B = np.linalg.svd(loop.jacobian(qi, vi, invariant), full_matrices=False)[0][:, :rank]
                out[i, columns] = range_of_B @ (range_of_B.T @ out[i, columns])
    return out


def _numbers(model: Model, whole: Model) -> list[int]:
    """The rows of a model by their numbers among all; models of older files omit those that were dropped."""
    omitted: set[int] = set()
    for joint, rows in model.dropped.items() if model.nc < whole.nc else ():
        omitted.update(whole.rows(joint)[row] for row in rows)
    return [row for row in range(whole.nc) if row not in omitted]
