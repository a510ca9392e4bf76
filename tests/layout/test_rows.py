"""Rows of tables stay small: what one family of methods needs stands in sub-tables."""

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


def functions_in(text: str, struct: str) -> list[str]:
    """Names of the fields of a struct that are functions."""
    body = re.search(rf"struct {struct} {{\n(.*?)\n}}", text, re.DOTALL).group(1)
    body = re.sub(r"/\*.*?\*/", "", body, flags=re.DOTALL)
    return re.findall(r"\(\*(\w+)(?:\([^()]*\))?\)\(", body) + re.findall(r"lg_between \*(\w+);", body)


@pytest.mark.parametrize(("struct", "file", "most"), ROWS, ids=[row[0] for row in ROWS])
def test_a_row_has_few_functions(struct, file, most):
    found = functions_in((CSRC / file).read_text(), struct)
    assert 3 < len(found) <= most
