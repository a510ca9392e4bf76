"""Edges of rods: elastic joints between two sections, each of them fixed to a body or to the ground."""

from __future__ import annotations

from typing import cast

import numpy as np
from numpy.typing import ArrayLike

from lgint._args import Array, array, listing
from lgint._build.body import IDENTITY
from lgint._build.joints import JointBuilder
from lgint._build.parts import Partner
from lgint._build.timed import Load, set_kinks, value_in_time
from lgint._model.compile import ROWS
from lgint._model.parameters import DECLARED
from lgint._model.record import EDGES, JointRow
from lgint._rotation import orthogonal


def add_edge(
    builder: JointBuilder,
    body0: Partner,
    body1: Partner,
    rotation0: ArrayLike,
    rotation1: ArrayLike,
    offset0: ArrayLike,
    offset1: ArrayLike,
    length: float,
    stiffness: ArrayLike,
    damping: ArrayLike,
    reference_strain: Load,
    mask: str | None,
    name: str,
    kinks: ArrayLike = (),
) -> str:
    """Adds the edge `name` between a section on `body0` and one on `body1`, and returns its name.

    The order of strains is always: shear along d1 and d2, stretch along d3 (1 at the given length), bending about d1
    and d2, torsion about d3.

    Parameters
    ----------
    rotation0, rotation1 : array_like, shape (3, 3)
        Directors d1, d2, d3 of the sections as columns, in body axes (on the ground: inertial).
    offset0, offset1 : array_like, shape (3,)
        From the COM of the body to the centre of its section, body axes (on the ground: from the origin, inertial).
    length : float
        Of the unstrained edge, m.
    stiffness : array_like, shape (6, 6)
        Symmetric: N, N m, N m^2.
    damping : array_like, shape (6,)
        Half of the coefficients of viscous damping, not negative: the stress is stiffness (strain - reference) +
        2 damping rate.
    reference_strain : array_like (6,), table or function of time
        The strain without stress; tables as for loads. A table cannot change the reference of constrained strains; a
        function that does returns (3, 6), the strain and its first two derivatives.
    mask : None, "kirchhoff" or "inextensible"
        Which strains are constrained to their reference: none, shear, shear and stretch.
    kinks : array_like, shape (k,)
        Times at which a function is not smooth; steps end there.
    """
    what = f"edge {name!r}"
    if mask not in [*EDGES]:
        raise ValueError(
            f"constraints of {what}: None, {listing([key for key in EDGES if key])} expected, got {mask!r}"
        )
    kind = EDGES[mask]
    parameters, numbers = DECLARED[kind].parameters, {"length": length, "stiffness": stiffness, "damping": damping}
    reference = value_in_time(f"reference_strain of {what}", reference_strain, 6)
    set_kinks(what, kinks, reference)
    if "values" in reference and np.ptp(np.array(reference["values"])[:, : ROWS[kind]], axis=0).any():
        raise ValueError(
            f"reference_strain of {what}: a table cannot change constrained strains; give a function of time that "
            "returns (3, 6), the strain and its first two derivatives"
        )
    turns = [array(f"rotation{i} of {what}", R, (3, 3)) for i, R in enumerate((rotation0, rotation1))]
    offsets = [array(f"offset{i} of {what}", x, (3,)) for i, x in enumerate((offset0, offset1))]
    first, second = builder._partner(body0), builder._partner(body1)
    row = {
        "kind": kind,
        "first": first,
        "second": second,
        "points": [builder._point(first, offsets[0]), builder._point(second, offsets[1])],
        "triads": [_directors(f"rotation{i} of {what}", R).tolist() for i, R in enumerate(turns)],
        **{key: parameters[key].read(f"{key} of {what}", value) for key, value in numbers.items()},
        "reference": reference,
    }
    builder._new_name("edge", name)
    return builder._enter(builder._joints, name, cast(JointRow, row))


def _directors(what: str, R: Array) -> Array:
    """The rotation matrix R, or exactly the identity if R differs from it by round-off only."""
    near = float(np.abs(R - IDENTITY).max()) < 8 * np.finfo(float).eps
    return IDENTITY if near else orthogonal(what, R)
