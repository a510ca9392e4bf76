"""Notebooks are kept without output, take the number of steps in their first cell, and are listed in the docs."""

import json
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_has_no_output_and_reads_its_steps_first(path):
    notebook = json.loads(path.read_text())
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    for cell in code:
        assert cell["outputs"] == [] and cell["execution_count"] is None
    first = "".join(code[0]["source"])
    assert first.startswith("import os\n") and 'int(os.environ.get("LGINT_STEPS", ' in first
    assert "".join(notebook["cells"][0]["source"]).startswith("# ")
    assert notebook["metadata"]["kernelspec"]["name"] == "python3"


def test_the_docs_list_all_notebooks():
    listed = [line for line in (ROOT / "docs/index.md").read_text().splitlines() if line.startswith("notebooks/")]
    assert sorted(listed) == [f"notebooks/{path.stem}" for path in NOTEBOOKS] and NOTEBOOKS
