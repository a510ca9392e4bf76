"""Artifacts of kinon2024: only known differences occur, and wrong schemes and models change the verdicts."""

import functools

import numpy as np
import pytest

import lgint
from lgint._papers import kinon2024 as paper
from lgint._papers import kinon2024_motion as motion


def differing(artifact):
    return [claim.text for claim in artifact.make(True).claims if not claim.holds]


@pytest.mark.parametrize("name", [f"fig{i}" for i in (1, 2, 3, 4, 6, 7, 8, 10, 11, 12)])
def test_reproduced(name):
    assert differing(getattr(paper, name)) == []


@pytest.mark.parametrize("name", ["fig5", "fig14", "fig15", "remark48"])
def test_motion_is_reproduced(name):
    assert differing(getattr(motion, name)) == []


def test_with_the_exact_hamiltonian_the_midpoint_rules_are_one():
    """Fig. 13 has MPL below MPH, and EML as well: with the exact inverse MPH is MPL."""
    assert differing(paper.fig13) == [
        f"error of {one} over that of MPH, exact, largest ratio" for one in ("MPL", "EML")
    ]


@pytest.mark.parametrize(("h", "t_end"), [(0.1, 10.0), (0.02, 10.0), (0.1, 1000.0)])
@pytest.mark.parametrize("method", ["eml", "reml"])
def test_the_energies_of_a_constant_mass_differ_by_what_round_off_explains(method, h, t_end):
    """Prop. 4.6 holds up to a random walk, which grows as sqrt(n)/h; the bound has the largest q and v of the run."""
    run = lgint.integrate(lgint.models.mass_spring(), method, t_end=t_end, h=h, equivariant=False)
    apart = np.abs(run.energy("total") - run.energy("generalized")).max()
    assert 0.01 < apart / paper._wandering(run) < 0.5


def test_the_angular_momentum_of_the_printed_scheme_drifts():
    (claim,) = (claim for claim in paper.fig16.make(True).claims if not claim.holds)
    assert "angular momentum" in claim.text
    assert 1e-6 < float(claim.ours) < 1e-2
    assert "equivariant=True keeps the momentum" in claim.why


def test_a_midpoint_rule_does_not_pass_for_an_energy_momentum_scheme(monkeypatch):
    monkeypatch.setitem(paper.SCHEMES, "EML", ("mpl", {}))
    assert "largest increment of the generalized energy, EML over its size" in differing(paper.fig10)
    assert any(text.startswith("error of MPL over that of EML") for text in differing(paper.fig13))
    monkeypatch.setitem(paper.SCHEMES, "EML", ("mph", {"hamiltonian": "published"}))
    assert "largest increment of the vertical angular momentum over its size" in differing(paper.fig11)
    assert any(text.startswith("error of EML over that of MPH") for text in differing(paper.fig13))


@pytest.mark.parametrize(
    ("artifact", "model", "wrong", "claim"),
    [
        (paper.fig13, "steady_top", {"precession": 10.1}, "order of EML"),
        (motion.fig14, "four_bar", {"peak": 102.0}, "largest difference of f"),
    ],
)
def test_a_wrong_parameter_is_seen(artifact, model, wrong, claim, monkeypatch):
    right = getattr(lgint.models, model)
    monkeypatch.setattr(lgint.models, model, lambda **given: functools.partial(right, **given)(**wrong))
    motion._loop.cache_clear()
    assert any(text.startswith(claim) for text in differing(artifact))
    motion._loop.cache_clear()
