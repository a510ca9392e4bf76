"""Rods that are refused: messages, warnings, and a builder that remains unchanged."""

import warnings

import numpy as np
import pytest

import lgint
from models.test_rods import SECTION, straight

AGAIN = np.array([(0, 0, 0), (1, 0, 0), (1, 0, 0), (2, 0, 0)])
REFUSALS = {
    "needs nodes, or start, end and edges": {"start": (0, 0, 0), "end": (1, 0, 0)},
    "nodes, or start, end and edges, not both": {"nodes": np.eye(3), "edges": 2},
    r"no two neighbours at the same point expected, got \[1. 0. 0.\] for the nodes 1 and 2": {"nodes": AGAIN},
    "at least 3 expected for a closed rod, got 2": {"nodes": np.eye(3)[:2], "closed": True},
    r"shape \(n \+ 1, 3\) expected, got \(2, 2\)": {"nodes": np.eye(2)},
    "rotations of 'rod': .* turns back on itself at node 1": {"nodes": ((0, 0, 0), (1, 0, 0), (0, 0, 0))},
    "rotations of 'rod': .* turns back on itself at node 0": {"nodes": AGAIN[[0, 1, 3]], "closed": True},
    "nodes 0 and 1 of one edge are both clamped": {"nodes": np.eye(3), "clamped": (0, 1)},
    "a node number from -3 to 2 expected, got 3": {"nodes": np.eye(3), "clamped": (3,)},
    "four positive numbers expected": {"nodes": np.eye(3), "inertia": (1, 1, 1, 0)},
    "symmetric matrix without negative eigenvalues": {"nodes": np.eye(3), "stiffness": -np.ones(6)},
    "2 functions expected, got 1": {"nodes": np.eye(3), "reference_strain": [lambda t: np.zeros(6)]},
    "'kirchhoff', 'inextensible'": {"nodes": np.eye(3), "constraints": "none"},
    "positive numbers expected, got -1": {"nodes": np.eye(3), "length": -1},
    "a dict from node numbers to names of bodies expected, got ": {"nodes": np.eye(3), "attached": (0,)},
    "got 2, which is in `clamped` too": {"nodes": np.eye(3), "clamped": (2,), "attached": {-1: "ground"}},
    "prefix of 'rod': a string or None expected, got 3": {"nodes": np.eye(3), "prefix": 3},
    "closed of 'rod': True or False expected, got 'yes'": {"nodes": np.eye(3), "closed": "yes"},
    r"motion of 'rod.node1': .* shape \(3, 3\) or \(3, 6\) expected; at t = 0 the shape is \(3,\)": {
        "nodes": np.eye(3),
        "clamped": {1: lambda t: (1, 2, 3)},
    },
    "drag of 'rod': numbers >= 0 expected, got -1": {"nodes": np.eye(3), "drag": -1},
    r"damping of edge 'rod.edge0': numbers >= 0 expected, got \[ 1. +1. +1. +1. +1. -1.\]": {
        "nodes": np.eye(3),
        "damping": (1, 1, 1, 1, 1, -1),
    },
    "formulation of 'rod': one of 'R3xSO3', .* expected, got 'minimal'": {"nodes": np.eye(3), "formulation": "minimal"},
    "formulation of 'rod': .* expected, got 'SE4' .did you mean 'SE3'": {"nodes": np.eye(3), "formulation": "SE4"},
    "formulation of 'rod': .* expected, got None": {"nodes": np.eye(3), "formulation": None},
    "table cannot change constrained strains": {"nodes": np.eye(3), "reference_strain": ((0, 1), np.eye(6)[:2])},
    r"values of reference_strain of .*got the shape .* not \(2, 6\)": {
        "nodes": np.eye(3),
        "reference_strain": ((0, 1), np.eye(2)),
    },
    r"load of 'rod': shape \(3,\) expected, got \(2,\)": {"nodes": np.eye(3), "load": (1, 2)},
}


@pytest.mark.parametrize("message", REFUSALS)
def test_refusals(message):
    with pytest.raises(ValueError, match=message):
        lgint.ModelBuilder().add_rod("rod", **{**SECTION, **REFUSALS[message]})


@pytest.mark.parametrize(
    "wrong",
    [
        {"stiffness": -np.ones(6)},
        {"damping": -np.ones(6)},
        {"reference_strain": np.ones(3)},
        {"constraints": "none"},
        {"constraints": []},
        {"clamped": (1, 2)},
        {"clamped": {0: None, -1: lambda t: np.zeros(2)}},
        {"load": np.ones(2)},
        {"drag": -1},
        {"attached": {2: "free"}},
        {"prefix": "", "edges": 5},
    ],
)
def test_a_refused_rod_leaves_the_builder_as_it_was(wrong):
    """Names, bodies and the mass of a hub that becomes the first node are as before, and a second attempt succeeds."""

    def hub():
        b = lgint.ModelBuilder()
        b.add_body("hub", mass=1, inertia=(1, 1, 1))
        b.add_body("free", mass=1, inertia=(1, 1, 1), formulation="minimal")
        b.add_body("edge4", mass=1, inertia=(1, 1, 1))
        return b

    b, untouched = hub(), hub()
    on_hub = {} if 0 in dict.fromkeys(wrong.get("clamped", ())) else {0: "hub"}
    with pytest.raises(ValueError, match=r"expected|clamped|minimal|in use"):
        straight(b, **{**wrong, "attached": {**on_hub, **wrong.get("attached", {})}})
    assert repr(vars(b)) == repr(vars(untouched))
    assert len(straight(b, attached={0: "hub"}).nodes) == 5


def test_a_reference_strain_of_the_wrong_shape_is_refused_with_both_shapes():
    b = lgint.ModelBuilder()
    message = r"reference_strain of edge 'rod.edge0': .* shape \(6,\) or \(3, 6\) expected; .* is \(5,\)"
    with pytest.raises(ValueError, match=message):
        straight(b, clamped=[0], reference_strain=lambda t: np.ones(5))


def test_a_rod_in_place_of_a_node_is_refused_with_a_hint():
    b = lgint.ModelBuilder()
    rod = straight(b)
    with pytest.raises(ValueError, match=r"one of its nodes, such as rod.nodes\[-1\] = 'rod.node4', got the rod 'rod'"):
        straight(b, "other", attached={0: rod})
    with pytest.raises(ValueError, match="one of its nodes"):
        b.add_joint("spherical", "rod.node0", rod, point=(0, 0, 0))


def test_one_warning_for_moments_that_no_section_has():
    """The warning names the rod and points to the caller; if warnings are errors, the names of the rod remain free."""
    b = lgint.ModelBuilder()
    with pytest.warns(UserWarning, match=r"inertia of 'rod': no section has moments of inertia \[1. 1. 5.\]") as caught:
        b.add_rod("rod", start=(0, 0, 0), end=(1, 0, 0), edges=4, stiffness=np.ones(6), inertia=(1, 1, 1, 5))
    assert [warning.filename for warning in caught] == [__file__]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match="triangle"):
            straight(b, "other", inertia=(1, 1, 1, 5))
        assert len(straight(b, "other").nodes) == 5


def test_a_table_of_reference_strains_is_the_function_between_its_values():
    """A table holds for all edges; two strains for two edges are still one for each edge."""

    def strain(t):
        return np.array((0, 0, 1, 0, 4 * t, 0))

    tables = ([0, 1], [strain(0), strain(1)]), (np.array([0.0, 1.0]), np.array([strain(0), strain(1)]))
    runs = []
    for reference in (strain, *tables):
        b = lgint.ModelBuilder()
        rod = straight(b, clamped=[0], edges=2, damping=np.full(6, 0.5), reference_strain=reference)
        runs.append(lgint.integrate(b.build(), "genalpha", t_end=0.2, h=0.01))
    for run in runs[1:]:
        np.testing.assert_allclose(run.line(rod), runs[0].line(rod), rtol=0, atol=1e-6)
    assert np.abs(runs[0].line(rod)[-1] - runs[0].line(rod)[0]).max() > 1e-2
    b = lgint.ModelBuilder()
    straight(b, edges=2, reference_strain=[tuple(strain(0)), tuple(strain(1))])
    assert b.build().joints["rod.edge1"]["reference"] == {"vector": strain(1).tolist()}
