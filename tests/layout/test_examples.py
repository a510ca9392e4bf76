"""The examples of the README, of the docs and of docstrings run as they are printed."""

import contextlib
import csv
import doctest
import importlib
import io
import os
import pkgutil
import re
import shlex
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from scipy import LowLevelCallable

import lgint
from lgint import _cli, _core
from lgint._model.compile import Description

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
with (ROOT / "docs" / "examples.csv").open(newline="") as file:
    EXAMPLES = {row["element"]: ROOT / "docs" / row["example"] for row in csv.DictReader(file)}
WITHOUT_EXAMPLE = {"point"}  # only for systems made of elements directly; the builder does not add it


def name(page):
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", [page for page in PAGES if "```python" in PAGES[page]], ids=name)
def test_examples_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names, built = {}, elements_built(monkeypatch)
    for section, text in sections(page):
        built.clear()
        for block, shown in re.findall(r"```python\n(.*?)```(?:\n\n```text\n(.*?)```)?", text, re.DOTALL):
            if page.stem == "wishes":
                names = {}  # each program stands alone; those of other pages build on each other
            with contextlib.redirect_stdout(io.StringIO()) as printed:
                exec(compile(block, page.name, "exec"), names)
            if shown:
                assert_same(printed.getvalue(), shown)
        assert {element for element, example in EXAMPLES.items() if example == section} - built == set(), section
    assert names


def sections(page):
    """The sections of a page with their texts; the first one, before all headings but the title, is the page."""
    first, *others = re.split(r"^## ", PAGES[page], flags=re.MULTILINE)
    yield page, first
    for text in others:
        heading = text.split("\n")[0].lower()
        anchor = re.sub(r"[^\w\- ]", "", heading).replace(" ", "-")
        yield page.with_name(f"{page.name}#{anchor}"), text


def elements_built(monkeypatch):
    """A set in which the elements of each model are entered that is built."""
    built, make = set(), Description.of

    def described(*parts):
        description = make(*parts)
        built.update(element[0] for element in description.elements)
        return description

    monkeypatch.setattr(Description, "of", described)
    return built


def test_every_element_has_an_example():
    """In a section that runs, with an output or an assertion; the test of pages compares it with what it builds."""
    assert {*EXAMPLES} == {row["name"] for row in _core.ELEMENTS} - WITHOUT_EXAMPLE
    there = {section: text for page in PAGES if "```python" in PAGES[page] for section, text in sections(page)}
    texts = {section.name: there.get(section, "") for section in EXAMPLES.values()}
    assert [section for section, text in texts.items() if not re.search("```text|^assert ", text, re.MULTILINE)] == []


def test_every_page_of_the_reference_begins_with_a_program_and_its_output():
    pages = {page.stem: text for page, text in PAGES.items() if page.parent == ROOT / "docs" / "api"}
    assert [
        page for page, text in pages.items() if not re.search(r"```python\n.*?```\n\n```text", text, re.DOTALL)
    ] == ["index"]


def test_each_wish_has_a_short_program_with_its_output_and_figure():
    _, *wishes = re.split(r"^## \d+\. ", PAGES[ROOT / "docs" / "wishes.md"], flags=re.MULTILINE)
    assert len(wishes) == 10
    for wish in wishes:
        program, path = re.search(
            r"```python\n(.*?)```\n\n```text\n.*?```\n\n!\[[^]]+\]\((.*?)\)\n", wish, re.DOTALL
        ).groups()
        assert len(program.splitlines()) <= 25 and (ROOT / "docs" / path).stat().st_size < 50_000


def assert_same(printed, shown):
    """The same words, and numbers that agree to two per cent or are both round-off."""
    number = r"(?<![\w.])-?\d+(?:\.\d*)?(?:e[+-]?\d+)?"
    assert re.sub(rf"{number}|\s+", "", printed) == re.sub(rf"{number}|\s+", "", shown)
    there = [float(found) for found in re.findall(number, shown)]
    assert [float(found) for found in re.findall(number, printed)] == pytest.approx(there, rel=2e-2, abs=1e-10)


def test_the_example_in_cython_runs(tmp_path, monkeypatch):
    """It is the law that the page writes in Numba."""
    page = PAGES[ROOT / "docs" / "compiled.md"]
    monkeypatch.chdir(tmp_path)
    (source,) = re.findall(r"```cython\n(.*?)```", page, re.DOTALL)
    Path("laws.pyx").write_text(source)
    subprocess.run([sys.executable, "-m", "cython", "-3", "laws.pyx"], check=True)
    compiler = shlex.split(os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc")
    flags = ["-O0", "-w", "-shared", "-fPIC", f"-I{sysconfig.get_path('include')}"]
    subprocess.run([*compiler, *flags, "laws.c", "-o", "laws" + sysconfig.get_config_var("EXT_SUFFIX")], check=True)
    monkeypatch.syspath_prepend(tmp_path)
    law = LowLevelCallable.from_cython(importlib.import_module("laws"), "friction")
    runs = [pendulum_with(friction) for friction in (law, lambda t, angle, rate: -0.2 * rate - 0.1 * rate**3)]
    assert abs(runs[0].q - runs[1].q).max() < 1e-12
    assert abs(runs[0].q - pendulum_with(lambda *_: 0.0).q).max() > 1e-3


def pendulum_with(law):
    b = lgint.ModelBuilder(gravity=(0, 0, -9.81), formulation="minimal")
    b.add_body("arm", mass=1.0, inertia=(0.01, 0.1, 0.1), position=(0.5, 0, 0))
    b.add_joint("revolute", lgint.ground, "arm", point=(0, 0, 0), axis=(0, 1, 0), name="hinge")
    b.add_force_law(law, joint="hinge")
    return lgint.integrate(b.build(), "genalpha", t_end=0.3, h=1e-2)


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
