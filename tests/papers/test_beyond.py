"""Quick runs of some artifacts that go beyond the papers."""

import pytest

from lgint._papers import beyond, beyond_methods, beyond_momentum


def differing(artifact):
    return [claim.text for claim in artifact.make(True).claims if not claim.holds]


def test_quick_runs():
    assert differing(beyond.se3_top) == []
    assert differing(beyond.projection_heavy_top) == ["p = 3: error with projection over that without, mean"]


@pytest.mark.measures
def test_the_page_on_choosing_a_method_is_true(monkeypatch):
    """Every row on time is a claim, which holds in one of five runs; one that is turned round fails in all."""
    claims = beyond_methods.which_method.make(True).claims
    failing = {claim.text for claim in claims if not claim.holds}
    for _ in range(4 if failing else 0):
        failing.intersection_update(differing(beyond_methods.which_method))
    assert failing == set() and len(claims) == len(beyond_methods.FASTER)
    problem, first, second, times, error = beyond_methods.FASTER[0]
    monkeypatch.setattr(beyond_methods, "FASTER", [(problem, second, first, times, error)])
    monkeypatch.setattr(beyond_methods, "PROBLEMS", {problem: beyond_methods.PROBLEMS[problem]})
    assert len(differing(beyond_methods.which_method)) == 1


def test_a_projection_that_does_nothing_is_seen(monkeypatch):
    monkeypatch.setattr(beyond, "PROJECTION", "velocity")
    assert "p = 2: largest residual with projection, m" in differing(beyond.projection_heavy_top)


@pytest.mark.parametrize("name", ["heavy_top", "slider_crank"])
def test_energy_momentum_methods_on_the_examples_of_the_other_papers(name, monkeypatch):
    """All claims hold; those about energies and momenta fail if the midpoint rule or the other form is used instead."""
    artifact = getattr(beyond_momentum, name)
    assert differing(artifact) == []
    monkeypatch.setitem(beyond_momentum.SETTINGS, "EML, printed", beyond_momentum.SETTINGS["MPL, printed"])
    monkeypatch.setitem(beyond_momentum.SETTINGS, "EML, equivariant", beyond_momentum.SETTINGS["EMH, printed"])
    wrong = differing(artifact)
    assert "EML, printed: drift of the energy over its size" in wrong
    momentum = "EML, equivariant: drift of the vertical angular momentum over its size"
    assert (momentum in wrong) == (name == "heavy_top")
