"""The examples of the README, of the docs and of docstrings run as they are printed."""

import contextlib
import doctest
import importlib
import os
import pkgutil
import re
import shlex
from pathlib import Path

import pytest

import lgint
from lgint import _cli

ROOT = Path(__file__).parents[2]
MADE = {"benchmark_models", "notebooks", "_build"}  # with the docs, which run them
FOUND = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("benchmarks/*.md")]
PAGES = {page: page.read_text() for page in FOUND if not MADE & {*page.relative_to(ROOT).parts}}
COMMANDS = [
    (page.name, command)
    for page, text in PAGES.items()
    for block in re.findall(r"```console\n(.*?)```", text, re.DOTALL)
    for command in re.findall(r"^\$ (lgint .*)$", block.replace("\\\n", ""), re.MULTILINE)
]
MODULES = ["lgint", *(module.name for module in pkgutil.walk_packages(lgint.__path__, "lgint."))]


def name(page):
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", [page for page in PAGES if "```python" in PAGES[page]], ids=name)
def test_examples_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {}
    for block in re.findall(r"```python\n(.*?)```", PAGES[page], re.DOTALL):
        exec(compile(block, page.name, "exec"), names)  # the examples of a page build on each other
    assert names


@pytest.mark.parametrize(("page", "command"), COMMANDS)
def test_commands_run(page, command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere):
        assert _cli.main(shlex.split(command, comments=True)[1:]) == 0


def test_there_are_commands():
    assert len(COMMANDS) >= 3


def test_examples_of_docstrings():
    found = {module: doctest.testmod(importlib.import_module(module)) for module in MODULES if "__main__" not in module}
    assert sum(result.attempted for result in found.values()) >= 4
    assert not any(result.failed for result in found.values())
