"""Rows of tables stay small: what one family of methods needs stands in sub-tables, or behind one pointer to data."""

import re
from pathlib import Path

import pytest

CSRC = Path(__file__).parents[2] / "csrc"
ROWS = [  # struct, file, most functions
    ("lg_body_type", "model/body/body.h", 14),
    ("lg_joint_type", "model/joint/joint.h", 9),
    ("lg_force_type", "model/force/force.h", 13),
    ("lg_node", "group/node.h", 14),
]
STEPPER = "integrator/stepper.h"
FIELDS = [  # struct with its sub-tables, file, most fields of the struct, and of all together
    (("lg_stepper_type", "lg_stepper_carry", "lg_stepper_momenta"), STEPPER, 12, 18),
    (("lg_method",), STEPPER, 7, 7),
]


def body_of(text: str, struct: str) -> str:
    """The fields of a struct, without comments."""
    body = re.search(rf"struct {struct} {{.*?\n(.*?)\n}}", text, re.DOTALL).group(1)
    return re.sub(r"/\*.*?\*/", "", body, flags=re.DOTALL)


def functions_in(text: str, struct: str) -> list[str]:
    """Names of the fields of a struct that are functions."""
    body = body_of(text, struct)
    return re.findall(r"\(\*(\w+)(?:\([^()]*\))?\)\(", body) + re.findall(r"lg_between \*(\w+);", body)


@pytest.mark.parametrize(("struct", "file", "most"), ROWS, ids=[row[0] for row in ROWS])
def test_a_row_has_few_functions(struct, file, most):
    found = functions_in((CSRC / file).read_text(), struct)
    assert 3 < len(found) <= most


@pytest.mark.parametrize(("structs", "file", "most", "together"), FIELDS, ids=[row[0][0] for row in FIELDS])
def test_a_row_has_few_fields(structs, file, most, together):
    text = (CSRC / file).read_text()
    counts = [body_of(text, name).count(";") for name in structs]
    assert 2 < counts[0] <= most
    assert sum(counts) <= together
