"""Quick runs of some artifacts that go beyond the papers."""

from lgint._papers import beyond


def differing(artifact):
    return [claim.text for claim in artifact.make(True).claims if not claim.holds]


def test_quick_runs():
    assert differing(beyond.se3_top) == []
    assert differing(beyond.projection_heavy_top) == []


def test_a_projection_that_does_nothing_is_seen(monkeypatch):
    monkeypatch.setattr(beyond, "PROJECTION", "velocity")
    assert "p = 2: largest residual with projection, m" in differing(beyond.projection_heavy_top)
