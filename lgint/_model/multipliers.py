"""Multipliers of all constraint rows of loops with redundant joints, and of rows in the axes of bodies."""

from __future__ import annotations

from typing import Final

import numpy as np

from lgint._args import Array
from lgint._model.joints import JOINTS
from lgint._model.loops import loops
from lgint._model.model import Model
from lgint._model.record import partners

_AXES: Final = {"x": "e1", "y": "e2", "z": "e3", "e1": "e1", "e2": "e2", "e3": "e3"}


def rows_in_bodies(model: Model) -> list[str]:
    """The names of the constraint rows where those that lock all translations of a joint are in the axes of a body.

    Axes of the ground or a support, which a row cannot keep, are replaced by those of the other body, which is named.
    """
    names, still = model.row_names, {"ground", *model.record()["supports"]}
    for joint, row in model.joints.items():
        if row["kind"] not in JOINTS or not JOINTS[row["kind"]].is_point or "carrier" not in row:
            continue
        slot = 1 if row["carrier"] == "second" else 0
        moved = row["carrier"] != "inertial" and partners(row)[slot] in still
        of = f" of {partners(row)[1 - slot]}" if moved else ""
        for i in model.rows(joint):
            stem, along, axis = names[i].rpartition(" along ")
            names[i] = f"{stem}{along}{_AXES[axis]}{of}" if along else names[i]
    return names


def complete_multipliers(model: Model, q: Array, v: Array, lam: Array, body_axes: bool) -> Array:
    """Multipliers (..., rows of `model.complete`) of all rows for states q (..., nq), v (..., nv), lam (..., nc).

    Inactive rows have zero; with redundant="minimum_norm" the multipliers of a loop are those of least Euclidean norm
    (in N and N m) with the same effect on the bodies: lam - n (n^T lam) with B^T n = 0. `body_axes`: they belong to
    rows in the axes of bodies.
    """
    whole = model.complete
    out = np.zeros((*lam.shape[:-1], whole.nc))
    out[..., _numbers(model, whole)] = lam
    if model.redundant != "minimum_norm":
        return out
    for loop in loops(whole):
        dropped = sum(len(model.dropped.get(joint, ())) for joint in loop.joints)
        if dropped:
            columns = [row for joint in loop.joints for row in whole.rows(joint)]
            rank = len(columns) - dropped
            qs, vs = loop.part(q, 0), loop.part(v, 1)
            for i in np.ndindex(lam.shape[:-1]):
                range_of_B = np.linalg.svd(loop.jacobian(qs[i], vs[i], body_axes), full_matrices=False)[0][:, :rank]
                out[i][columns] = range_of_B @ (range_of_B.T @ out[i][columns])
    return out


def _numbers(model: Model, whole: Model) -> list[int]:
    """The rows of a model by their numbers among all; models of older files omit those that were dropped."""
    omitted: set[int] = set()
    for joint, rows in model.dropped.items() if model.nc < whole.nc else ():
        omitted.update(whole.rows(joint)[row] for row in rows)
    return [row for row in range(whole.nc) if row not in omitted]
