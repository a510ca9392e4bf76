"""Elements between two bodies depend on where these are relative to each other alone, wherever both are in space."""

import numpy as np
import pytest

from elements.rows import ON_BODIES, ROWS, random_point, rigid

FAR = 2.0**20  # m
GRID = 2.0**-20  # m, of positions of nodes, which are exact at both places
TERMS = ("phi", "phidot", "zeta", "B", "force", "Btlam")
SEES_POSITIONS, NEEDS_A_CONTROL = {"force_law"}, {"joint_effort", "slide_effort"}
BETWEEN = [
    element
    for element in ON_BODIES
    if ROWS[element.kind]["nframes"] == 2 and element.kind not in SEES_POSITIONS | NEEDS_A_CONTROL
]


@pytest.mark.parametrize("element", BETWEEN, ids=str)
@pytest.mark.parametrize("kind", ["SE3", "R3xS3", "euler_parameters"])
def test_terms_are_the_same_far_away(element, kind):
    """To the last bit: positions are differences of those of nodes and of arms, and not of sums of both."""
    model = rigid((kind, kind), element)
    q, v, a, lam = random_point(model, rigid((kind, kind)), 1)
    here = q.reshape(2, -1).copy()
    here[:, :3] = GRID * np.round(here[:, :3] / GRID)
    there = here.copy()
    there[:, :3] += FAR
    near, far = (model.evaluate(0.1, at.ravel(), v, a, lam, want=TERMS) for at in (here, there))
    for term in TERMS:
        assert np.array_equal(near[term], far[term]), term
