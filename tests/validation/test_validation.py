"""Every case of the validation page, and the page."""

import csv
from pathlib import Path

import pytest

from lgint._validation import catalogue, table
from lgint._validation.case import Case, Number, last_digit

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.mark.parametrize("row", catalogue.cases(), ids=lambda row: row.name)
def test_case(row):
    numbers = row.run()
    assert numbers
    assert [table.line(number) for number in numbers if not number.holds] == []


def test_names_are_different():
    names = [row.name for row in catalogue.cases()]
    assert len(set(names)) == len(names)


def test_the_committed_table_has_every_case_and_agrees():
    lines = list(table.read(DOCS / table.FILE))
    assert list(dict.fromkeys(line["case"] for line in lines)) == [row.name for row in catalogue.cases()]
    assert {line["verdict"] for line in lines} <= {"agrees", "reference is wrong"}


@pytest.mark.parametrize("printed, unit", [("0.55500", 1e-5), ("15.8", 0.1), ("-1.20e-3", 1e-5), ("7", 1.0)])
def test_a_number_agrees_up_to_one_unit_in_its_last_digit(printed, unit):
    assert last_digit(printed) == unit
    near, far = float(printed) + 0.9 * unit, float(printed) - 1.1 * unit
    assert Number("x", printed, near).holds and not Number("x", printed, far).holds
    assert Number("x", printed, far, wrong=True, why="misprint").holds
    assert not Number("x", printed, near, wrong=True, why="misprint").holds
    with pytest.raises(ValueError, match="why"):
        Number("x", printed, near, within=1.0)


@pytest.mark.parametrize("ours, status, verdict", [(1.001, 0, "agrees"), (1.02, 1, "differs")])
def test_the_command_prints_and_writes_what_it_found(ours, status, verdict, tmp_path, capsys):
    row = Case("one", "A title.", "Someone 1999", True, lambda: [Number("x / m", "1.00", ours)])
    assert table.run([row], tmp_path) == status
    assert f"{verdict}: x / m: 1.00, here {ours}" in capsys.readouterr().out
    with (tmp_path / table.FILE).open(newline="") as file:
        assert [line["verdict"] for line in csv.DictReader(file)] == [verdict]


def test_a_case_that_fails_does_not_end_the_others(tmp_path, capsys):
    def fails():
        raise RuntimeError("no motion")

    rows = [Case("bad", "", "", True, fails), Case("good", "", "", True, lambda: [Number("x", "1", 1.0)])]
    assert table.run(rows, tmp_path) == 1
    printed = capsys.readouterr()
    assert "1 of 2 cases agree: not bad" in printed.out and "no motion" in printed.err


def test_an_unknown_case_is_refused():
    with pytest.raises(ValueError, match=r"did you mean 'validation/elastica'"):
        catalogue.select("validation/elastca")
