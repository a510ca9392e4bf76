"""Artifacts of tumiotto2024: quick runs of some, and wrong coefficients that must change their verdicts."""

import copy

import pytest

from lgint._papers import tumiotto2024
from lgint._run.integrate import method_info


def differing(artifact):
    return [claim.text for claim in artifact.make(True).claims if not claim.holds]


def test_quick_runs():
    assert differing(tumiotto2024.table1) == []
    assert differing(tumiotto2024.fig11) == []
    assert "(w - sin w)/w^3: relative error of the function" in differing(tumiotto2024.table2)
    assert [text for text in differing(tumiotto2024.fig2) if not text.startswith("multipliers")] == []


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
    assert any(text.startswith("order of p = 4") for text in differing(tumiotto2024.fig2))
