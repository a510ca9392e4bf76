"""Artifacts of holzinger2024: quick runs of some, and wrong numbers that must change their verdicts."""

import pytest

import lgint
from lgint._papers import holzinger2024, holzinger2024_details, holzinger2024_mechanisms
from lgint._papers.claims import fitted
from lgint._papers.studies import time_for


def differing(artifact):
    return [claim.text for claim in artifact.make(True).claims if not claim.holds]


def test_quick_runs():
    assert differing(holzinger2024.fig6) == []
    assert differing(holzinger2024_mechanisms.fig15) == []
    assert differing(holzinger2024_details.eq_a7) == ["(A8): relative error of the function"]
    assert differing(holzinger2024.table5) == ["modified: iterations with T over those without, farthest from 1"]


def test_printed_tolerances_give_the_order_of_the_method():
    """ODE23 with automatic steps; the estimate has the order of the higher solution, not one more, as (B19) has it."""
    for study in holzinger2024._top_automatic(True).values():
        assert fitted(study.h, study.errors["x"]) == pytest.approx(3, abs=0.15)
    texts = differing(holzinger2024_details.appB)
    assert texts == ["ODE23: order of the estimate", "DOPRI5: order of the estimate"]


def test_a_wrong_coefficient_is_seen(monkeypatch):
    right = holzinger2024_details.COEFFICIENTS["(A7)"]
    first, second, third = right.series
    wrong = {"(A7)": right._replace(series=[first, -second, third])}
    monkeypatch.setattr(holzinger2024_details, "COEFFICIENTS", wrong)
    assert "(A7): relative error of the function" in differing(holzinger2024_details.eq_a7)


def test_a_wrong_setting_is_seen(monkeypatch):
    monkeypatch.setitem(holzinger2024.GENALPHA, "newton_rtol", 1e-3)
    assert "with T, full: iterations per step, each row within 5%" in differing(holzinger2024.table5)


def test_table_4_is_met_without_the_derivative_of_the_weight():
    printed = holzinger2024.ITERATIONS_4["RV"][2]
    settings = {**holzinger2024.GENALPHA, "h": 2.5e-4, "t_end": 1.0, "save_every": 10**9}
    counts = []
    for top in (holzinger2024._top_with_bare_weight(), holzinger2024._tops(False)["RV"]):
        stats = lgint.integrate(top, **settings).stats
        counts.append(stats.newton_iterations / stats.steps)
    assert counts == [pytest.approx(printed, abs=0.01), 1.0]


def test_the_time_for_an_error_lies_between_runs():
    study = holzinger2024._constrained(True)["RV"]
    study.seconds[:] = study.errors["x"] ** -0.5
    assert time_for(study, "x", 1e-3) == pytest.approx(1e-3**-0.5, rel=1e-6)
    assert time_for(study, "x", 1e-30) != time_for(study, "x", 1e-30)
