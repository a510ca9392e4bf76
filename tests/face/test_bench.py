"""`lgint bench` without a peer, and what its table and file say with one."""

import csv
import math

import numpy as np
import pytest

from lgint._tools import bench, bench_exudyn, cli


@pytest.fixture(autouse=True)
def _no_peer(monkeypatch):
    monkeypatch.setattr(bench_exudyn, "load", lambda: None)


@pytest.mark.parametrize("case", bench.CASES, ids=[case.name for case in bench.CASES])
def test_every_case_runs_and_is_near_its_fine_run(case):
    result = bench.measure(case, None, 1, 20)
    assert math.isfinite(result.lgint_us)
    assert 0 < result.lgint_error < 1e-3
    assert math.isnan(result.exudyn_us)
    assert result.verdict == ""


def test_the_command_writes_rows_with_the_name_of_the_machine(tmp_path, capsys):
    file = tmp_path / "new" / "results.csv"
    arguments = ["bench", "--only", "free top", "--repeat", "1", "--machine", "abacus", "-o", str(file)]
    assert cli.main(arguments) == 0
    assert cli.main(arguments) == 0
    table = capsys.readouterr().out
    assert "abacus; lgint against nobody" in table
    assert "free top, rk67" in table
    with file.open(newline="") as rows:
        read = list(csv.DictReader(rows))
    assert [row["case"] for row in read] == ["free top, rk44", "free top, rk67"] * 2
    assert {row["machine"] for row in read} == {"abacus"}
    assert all(float(row["lgint_us"]) > 0 for row in read)


def test_an_unknown_case_is_bad_usage(capsys):
    assert cli.main(["bench", "--only", "pendulum of Foucault"]) == 2
    assert "pendulum of Foucault" in capsys.readouterr().err


def test_verdicts():
    row = {"case": "", "method": "", "h": 1.0, "steps": 1, "lgint_us": 1.0, "lgint_error": 0.0, "lgint_iterations": 0.0}
    peer = {"exudyn_us": 4.0, "exudyn_error": 0.0, "ratio": 4.0, "equal": 8.0}
    assert bench.Result(**row, **peer, target=5.0).verdict == "reached"
    assert bench.Result(**row, **peer, target=10.0).verdict == "missed by 1.25"


def test_a_step_costs_what_is_left_without_the_start(monkeypatch):
    """A clock that a run sets forward by 7 s and 0.25 s a step; another by 0.5 s a step."""
    clock = np.zeros(1)
    monkeypatch.setattr(bench.time, "process_time", lambda: clock[0])

    def run(fixed, a_step):
        return lambda count: clock.__iadd__(fixed + a_step * count)

    assert bench._seconds_a_step([run(7, 0.25), run(0, 0.5)], 100, 3) == [0.25, 0.5]
