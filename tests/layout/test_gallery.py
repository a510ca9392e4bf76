"""Programs of the gallery: each is short, runs as it stands, and shows a picture."""

import ast
import io
import re
import runpy
import tokenize
import warnings
from pathlib import Path

import matplotlib.pyplot as plt
import pytest

GALLERY = Path(__file__).parents[2] / "docs" / "gallery"
PROGRAMS = sorted(GALLERY.glob("*.py"))


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_a_program_shows_a_picture(path, monkeypatch):
    shown = []
    monkeypatch.setattr(plt, "show", lambda: shown.extend(plt.get_fignums()))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            runpy.run_path(str(path), run_name="__main__")
        assert len(shown) == 1
        for axes in plt.figure(shown[0]).axes:
            assert axes.has_data() and (axes.get_xlabel() or axes.get_ylabel())
    finally:
        plt.close("all")


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_a_program_has_a_title_tags_and_a_thumbnail(path):
    text = path.read_text()
    title, line, blank, *sentences = ast.get_docstring(ast.parse(text)).splitlines()
    assert title and set(line) == {"="} and len(line) == len(title) and not blank and sentences
    assert re.search(r'^# sphinx_gallery_tags = \["', text, re.MULTILINE)
    assert 0 < (GALLERY.parent / "images" / "gallery" / f"{path.stem}.webp").stat().st_size < 9000


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_a_program_has_15_to_40_lines_of_code(path):
    assert 15 <= lines_of_code(path.read_text()) <= 40


def lines_of_code(text):
    """How many lines hold code: neither blank, nor a comment, nor a docstring."""
    layout = (tokenize.NL, tokenize.COMMENT, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)
    documented = (ast.Module, ast.FunctionDef, ast.ClassDef)
    owners = [node for node in ast.walk(ast.parse(text)) if isinstance(node, documented) and ast.get_docstring(node)]
    docs = {i for node in owners for i in range(node.body[0].lineno, node.body[0].end_lineno + 1)}
    tokens = [token for token in tokenize.generate_tokens(io.StringIO(text).readline) if token.type not in layout]
    return len({i for token in tokens for i in range(token.start[0], token.end[0] + 1)} - docs)


def test_what_counts_as_code():
    assert lines_of_code('"""A\n\nB\n"""\n\n# c\nx = [\n    1,  # d\n]\ndef f():\n    """D."""\n    return x\n') == 5


def test_there_are_programs():
    assert len(PROGRAMS) >= 24
