"""Programs of the gallery: each is short, runs as it stands, and shows a picture."""

import ast
import re
import runpy
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
def test_a_program_has_a_title_tags_and_few_lines(path):
    text = path.read_text()
    title, line, blank, *sentences = ast.get_docstring(ast.parse(text)).splitlines()
    assert title and set(line) == {"="} and len(line) == len(title) and not blank and sentences
    assert re.search(r'^# sphinx_gallery_tags = \["', text, re.MULTILINE)
    code = text.split('"""\n', 2)[2].splitlines()
    assert sum(bool(each.strip()) for each in code) <= 50


def test_there_are_programs():
    assert len(PROGRAMS) >= 24
