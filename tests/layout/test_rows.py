"""Rows of tables stay small: what one family of methods needs stands in sub-tables, or behind one pointer to data."""

import re
from pathlib import Path

import pytest

CSRC = Path(__file__).parents[2] / "csrc"
ROWS = [  # struct, most functions of its own, and most together with those of its sub-tables
    ("lg_body_type", 10, 25),
    ("lg_joint_type", 8, 15),
    ("lg_force_type", 11, 24),
    ("lg_node", 12, 22),
]
WITHOUT_SUB_TABLES = 73  # as many functions had the same rows when each was a single table
SINCE_THEN = {  # what these did not have: derivatives by parameters, and rows of further tables to which forces point
    *("lg_body_shares", "lg_joint_shares", "lg_force_shares"),
    *("lg_shapes", "lg_coordinate_type", "lg_law_type"),
}
ALL = 81  # functions with these
STEPPER = "integrator/stepper.h"
FIELDS = [  # struct with its sub-tables, file, most fields of the struct, and of all together
    (("lg_stepper_type", "lg_stepper_carry", "lg_stepper_momenta", "lg_stepper_embedded"), STEPPER, 12, 19),
    (("lg_method",), STEPPER, 7, 7),
]


def structs() -> dict[str, str]:
    """The fields of every struct of the core, without comments."""
    found = {}
    for path in CSRC.rglob("*.h"):
        text = re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.DOTALL)
        for name, body in re.findall(r"^(?:typedef )?struct (lg_\w+) {(.*?)^}", text, re.DOTALL | re.MULTILINE):
            found[name] = body
    return found


STRUCTS = structs()


def functions_in(struct: str) -> list[str]:
    """Names of the fields of a struct that are functions."""
    body = STRUCTS[struct]
    return re.findall(r"\(\*(\w+)(?:\([^()]*\))?\)\(", body) + re.findall(r"lg_between \*(\w+);", body)


def sub_tables(struct: str) -> list[str]:
    """The structs with functions, of which each has one at most, to which a row and its sub-tables point."""
    pointed = re.findall(r"const (?:struct )?(lg_\w+) \*(?!const)\w+;", STRUCTS[struct])
    own = [name for name in pointed if name in STRUCTS and name != struct and functions_in(name)]
    return own + [below for name in own for below in sub_tables(name)]


@pytest.mark.parametrize(("struct", "most", "together"), ROWS, ids=[row[0] for row in ROWS])
def test_a_row_has_few_functions(struct, most, together):
    found = functions_in(struct)
    assert 3 < len(found) <= most
    below = sum(len(functions_in(table)) for table in sub_tables(struct))
    assert len(found) + below <= together


def test_rows_with_their_sub_tables_have_fewer_functions_than_before():
    tables = {table for name, _, _ in ROWS for table in (name, *sub_tables(name))}
    assert tables > SINCE_THEN
    assert sum(len(functions_in(table)) for table in tables - SINCE_THEN) < WITHOUT_SUB_TABLES
    assert sum(len(functions_in(table)) for table in tables) <= ALL


@pytest.mark.parametrize(("names", "file", "most", "together"), FIELDS, ids=[row[0][0] for row in FIELDS])
def test_a_row_has_few_fields(names, file, most, together):
    counts = [STRUCTS[name].count(";") for name in names]
    assert 2 < counts[0] <= most
    assert sum(counts) <= together


def test_a_point_knows_no_form_and_no_method():
    """Where to evaluate: time, state with memory, weights, scratch."""
    names = ["t", "t_in", "wa", "load", "q", "v", "a", "lam", "mem", "work", "same_q"]
    fields = [name.strip(" *") for line in STRUCTS["lg_point"].split(";") for name in line.split(",")]
    assert [field.split()[-1].lstrip("*") for field in fields if field.split()] == names


def test_the_waist_stays_short():
    assert len((CSRC / "system/system.h").read_text().splitlines()) < 90
