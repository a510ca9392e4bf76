"""Other parameters of every row of elements: a variant has the bits of a model made with them, or refuses them."""

import numpy as np
import pytest

from cores import bits
from elements.rows import (
    AXIS,
    INERTIA,
    ON_BODIES,
    ON_TREES,
    OTHER,
    ROWS,
    SUPPORTS,
    TRIAD,
    bodies,
    body_on,
    rigid,
    start_of,
    tree,
)

BODIES = [1.5, *INERTIA, 2.5, *INERTIA]


def changed(parameters):
    """Parameters that differ in one number, in one unit vector, or in one triad."""
    for i, value in enumerate(parameters):
        for other in {value * 1.25 if value else 0.25, 0.0, 1.0, 2.0} - {value}:
            yield (*parameters[:i], other, *parameters[i + 1 :])
    triads = (tuple(map(float, TRIAD)), tuple(map(float, OTHER)))
    for i in range(len(parameters) - 2):
        if parameters[i : i + 3] == AXIS:
            yield (*parameters[:i], 0.6, 0.0, 0.8, *parameters[i + 3 :])
    for i in range(len(parameters) - 8):
        if parameters[i : i + 9] in triads:
            other = triads[parameters[i : i + 9] == triads[0]]
            yield (*parameters[:i], *other, *parameters[i + 9 :])


def compare(make, element, before):
    """`before`: the parameters of the elements before this one. Returns how many variants there are."""
    base, found = make(element), 0
    for parameters in changed(element.parameters):
        flat = np.array([*before, *parameters])
        try:
            new = bits(make(element._replace(parameters=parameters)), start_of(base))
        except ValueError as error:
            with pytest.raises(ValueError, match=str(error).partition(":")[0]):
                base.varied(flat)
            continue
        try:
            assert bits(base.varied(flat), start_of(base)) == new
        except ValueError as error:
            assert "one of these parameters belongs to the shape of the model" in str(error)
            continue
        found += 1
    return found


@pytest.mark.parametrize("kinds", [("SE3", "R3xS3"), ("euler_parameters", "euler_parameters"), ("R3xSO3", "R3xSO3")])
@pytest.mark.parametrize("element", ON_BODIES, ids=str)
def test_elements_between_bodies(element, kinds):
    found = compare(lambda element: rigid(kinds, element), element, BODIES)
    assert found or element.kind.endswith(("law", "effort"))


@pytest.mark.parametrize("element", ON_TREES, ids=str)
def test_elements_on_trees(element):
    assert compare(tree, element, ROWS["tree"]["example"]) or element.kind.endswith(("law", "effort"))


@pytest.mark.parametrize("element", SUPPORTS, ids=str)
def test_supports(element):
    assert compare(lambda element: rigid(("SE3", "R3xS3"), element, support=True), element, BODIES)


@pytest.mark.parametrize(("element", "block"), [*bodies()], ids=lambda given: str(given))
def test_bodies(element, block):
    assert compare(lambda element: body_on(block, element), element, ()) or ROWS[element.kind]["control"]


@pytest.mark.parametrize("kind", ["spherical", "revolute", "force", "torque"])
def test_parameters_that_belong_to_the_shape_are_refused(kind):
    """The carrier of a joint's rows, which couples bodies and names rows; the axes of loads that bodies bear."""
    element = next(element for element in ON_BODIES if element.kind == kind and element.parameters[0] == 0)
    base = rigid(("SE3", "R3xS3"), element)
    with pytest.raises(ValueError, match="part: one of these parameters belongs to the shape of the model"):
        base.varied(np.array([*BODIES, 1.0, *element.parameters[1:]]))
