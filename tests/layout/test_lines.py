"""No line of text or comment is longer than 120 columns, except for what cannot be broken."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = (".", "docs", "docs/api", "docs/gallery", "notebooks", "benchmarks")
PAGES = [page for folder in FOLDERS for page in (ROOT / folder).glob("*.md")]
SOURCES = [*ROOT.glob("csrc/**/*.[ch]"), *ROOT.glob("csrc/**/*.def"), *ROOT.glob("tests/c/*.[ch]")]
WIDTH = 120


def prose(text: str) -> str:
    """The text without what a program writes, code, formulas that stand by themselves, tables and HTML."""
    text = re.sub("<!-- table .*?<!-- end of table -->", "", text, flags=re.DOTALL)
    text = re.sub(r"^(`{3,}).*?^\1`*$", "", text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"\$\$.*?\$\$", "", text, flags=re.DOTALL)
    return re.sub(r"^\s*[|<].*$", "", text, flags=re.MULTILINE)


def long_lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if len(line) > WIDTH and " " in line.strip()]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_pages(page):
    assert long_lines(prose(page.read_text())) == []


def test_sources():
    assert {str(path): lines for path in SOURCES if (lines := long_lines(path.read_text()))} == {}


def test_what_counts_as_long():
    long = "word " * 30
    kept = f"```text\n{long}\n```\n$$\n{long}\n$$\n| {long} |\n<p>{long}</p>\n"
    assert long_lines(prose(kept)) == [] and long_lines(prose(f"{kept}\n{long}\n")) == [long]
