"""No line of a page or a source is longer than 120 columns, except for a word that is longer itself."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = (".", "docs", "docs/api", "docs/gallery", "notebooks", "benchmarks")
PAGES = [page for folder in FOLDERS for page in (ROOT / folder).glob("*.md")]
SOURCES = [*ROOT.glob("csrc/**/*.[ch]"), *ROOT.glob("csrc/**/*.def"), *ROOT.glob("tests/c/*.[ch]")]
WIDTH = 120


def long_lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if len(line) > WIDTH and " " in line.strip()]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_pages(page):
    assert long_lines(page.read_text()) == []


def test_sources():
    assert {str(path): lines for path in SOURCES if (lines := long_lines(path.read_text()))} == {}


def test_what_counts_as_long():
    long, url = "word " * 30, "https://example.org/" + "path/" * 30
    assert long_lines(f"{long}\n| {long} |\n<p>{long}</p>\n  {url}\n") == [long, f"| {long} |", f"<p>{long}</p>"]
