"""Artifacts of tumiotto2024: quick runs of some, and wrong coefficients that must change their verdicts."""

import copy

import pytest

from lgint._papers import tumiotto2024, tumiotto2024_rods
from lgint._run.integrate import method_info


def differing(artifact):
    return [claim.text for claim in artifact.make(True).claims if not claim.holds]


def test_quick_runs():
    assert differing(tumiotto2024.table1) == []
    assert differing(tumiotto2024.fig11) == ["roll-up: steps before 1 s over those of the flying spaghetti"]
    assert differing(tumiotto2024.fig12) == []
    assert "(w - sin w)/w^3: relative error of the function" in differing(tumiotto2024.table2)
    assert [text for text in differing(tumiotto2024.fig2) if not text.startswith("as printed, multipliers")] == []


@pytest.mark.parametrize("name", ["index1", "fig7", "fig8"])
def test_rods_and_drift(name):
    assert differing(getattr(tumiotto2024_rods, name)) == []


@pytest.mark.parametrize("space", ["R3xSO3", "SE3"])
def test_with_a_consistent_first_stage_both_statements_hold(space):
    """Multipliers of the order of the method, and on SE(3) no drift of the positions; not so as printed."""
    texts = differing({"R3xSO3": tumiotto2024.fig1, "SE3": tumiotto2024.fig2}[space])
    assert any(text.startswith("as printed, multipliers: order of p = 3") for text in texts)
    assert not any(text.startswith("consistent") for text in texts)
    drifts = [text for text in differing(tumiotto2024.fig3) if "SE(3)" in text]
    assert drifts == [f"as printed, SE(3), p = {p}: largest residual, m" for p in (2, 3)]


@pytest.mark.parametrize("name", ["herk3", "herk5"])
def test_a_wrong_coefficient_is_seen(name, monkeypatch):
    """The last digit of the first coefficient of stage three is changed."""

    def changed(method):
        row = copy.deepcopy(method_info(method))
        if method == name:
            row["tableau"]["A"][2][0] = "101/1000"
        return row

    monkeypatch.setattr(tumiotto2024, "method_info", changed)
    p = {"herk3": 3, "herk5": 5}[name]
    assert f"p = {p}, q and v: violation of conditions up to order {p}" in differing(tumiotto2024.table1)


def test_orders_turn_red_with_another_method(monkeypatch):
    monkeypatch.setitem(tumiotto2024.METHODS, "p = 4", "herk3")
    assert any("order of p = 4" in text for text in differing(tumiotto2024.fig2))
