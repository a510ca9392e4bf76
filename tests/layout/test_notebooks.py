"""Notebooks are kept with their outputs, take the number of steps in their first cell, and are listed in the docs."""

import ast
import importlib
import json
import re
import sys
from pathlib import Path

import nbformat
import pytest

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
each_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


@pytest.fixture
def runner():
    sys.path.insert(0, str(ROOT / "docs"))
    yield importlib.import_module("run_notebooks")
    sys.path.remove(str(ROOT / "docs"))


def code_of(notebook):
    """The code cells of a notebook."""
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def shows(source):
    """Whether a cell shows something: its last line is an expression, or it prints or draws."""
    body = ast.parse(source).body
    return "print(" in source or bool(body) and isinstance(body[-1], ast.Expr)


def kinds(cell):
    """What a cell shows: the words that it prints without their numbers, and the types of its pictures and tables."""
    words = "".join("".join(out["text"]) for out in cell["outputs"] if out["output_type"] == "stream")
    return re.sub(r"[-+.\de]+| +", " ", words), [sorted(out["data"]) for out in cell["outputs"] if "data" in out]


@each_notebook
def test_a_notebook_reads_its_steps_first(path):
    notebook = json.loads(path.read_text())
    first = "".join(code_of(notebook)[0]["source"])
    assert first.startswith("import os\n") and 'int(os.environ.get("LGINT_STEPS", ' in first
    assert "".join(notebook["cells"][0]["source"]).startswith("# ")
    assert notebook["metadata"]["kernelspec"]["name"] == "python3"


@each_notebook
def test_a_notebook_has_the_outputs_of_its_code(runner, path):
    notebook = json.loads(path.read_text())
    assert notebook["metadata"]["lgint"] == {"sources": runner.digest(notebook)}, "run `make notebooks`"
    cells = code_of(notebook)
    assert [cell["execution_count"] for cell in cells] == [*range(1, len(cells) + 1)]
    assert {output["output_type"] for cell in cells for output in cell["outputs"]} <= {
        "stream",
        "display_data",
        "execute_result",
    }
    assert [cell["source"] for cell in cells if shows("".join(cell["source"])) and not cell["outputs"]] == []
    assert any("image/png" in output.get("data", {}) for cell in cells for output in cell["outputs"])


@each_notebook
def test_outputs_say_nothing_of_the_machine(path):
    notebook = json.loads(path.read_text())
    for cell in code_of(notebook):
        assert "execution" not in cell["metadata"]
        text = re.sub(r'"image/png": "[^"]*"', "", json.dumps(cell["outputs"]))
        assert len(text) < 50_000 and not re.search(r"0x[0-9a-f]{6}|/(home|root|tmp|usr|work)/|site-packages", text)
    assert notebook["metadata"]["language_info"] == {"name": "python"}


def test_notebooks_stay_small():
    assert sum(path.stat().st_size for path in NOTEBOOKS) < 4e6


@pytest.mark.slow
@each_notebook
def test_a_notebook_still_shows_what_is_stored(runner, path, monkeypatch):
    for name in ("LGINT_STEPS", "MPLBACKEND"):  # all steps, and pictures in the notebook
        monkeypatch.delenv(name, raising=False)
    stored, notebook = nbformat.read(path, 4), nbformat.read(path, 4)
    runner.run(notebook, path.parent)
    for new, old in zip(code_of(notebook), code_of(stored), strict=True):
        (words, types), (old_words, old_types) = kinds(new), kinds(old)
        assert words == old_words
        for now, before in zip(types, old_types, strict=True):
            assert now == before or "text/html" in now and before == ["image/png", "text/plain"]


def test_the_docs_list_all_notebooks():
    listed = [line for line in (ROOT / "docs/index.md").read_text().splitlines() if line.startswith("notebooks/")]
    assert sorted(listed) == [f"notebooks/{path.stem}" for path in NOTEBOOKS] and NOTEBOOKS
