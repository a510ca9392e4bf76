"""The build: the LAPACK it takes, programs that link with its flags, and the package imported from any folder."""

import ast
import importlib
import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
from datetime import date
from pathlib import Path

import pytest

import lgint

ROOT = Path(__file__).parents[2]
PROGRAM = """
#include <lapacke.h>
#define PASTE(prefix, name) prefix##name
#define NAME(prefix, name) PASTE(prefix, name)
#ifndef LG_LAPACK_PREFIX
#define LG_LAPACK_PREFIX
#endif
int main(void)
{
    double a[4] = {2, 0, 0, 3};
    lapack_int pivots[2];
    return NAME(LG_LAPACK_PREFIX, LAPACKE_dgetrf_work)(LAPACK_COL_MAJOR, 2, 2, a, 2, pivots) || a[3] != 3;
}
"""


def lapack_flags(**environment):
    """Run `python setup.py lapack_flags`."""
    command = [sys.executable, "setup.py", "lapack_flags"]
    return subprocess.run(command, cwd=ROOT, env=os.environ | environment, capture_output=True, text=True)


def test_a_program_links_with_the_printed_flags_and_runs_anywhere(tmp_path):
    run = lapack_flags()
    cflags, libs = map(shlex.split, run.stdout.splitlines())
    assert "LAPACK from scipy-openblas32" in run.stderr

    source, program = tmp_path / "a.c", tmp_path / "a"
    source.write_text(PROGRAM)
    compiler = shlex.split(os.environ.get("CC") or sysconfig.get_config_var("CC"))
    subprocess.run([*compiler, *cflags, str(source), "-o", str(program), *libs], check=True)
    subprocess.run([str(program)], cwd=tmp_path, check=True)


def test_a_copy_of_openblas_has_its_licence_beside_it(tmp_path):
    code = f"import setup; setup.copy_licence({str(tmp_path)!r})"
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)
    text = (tmp_path / "LICENSE.openblas.txt").read_text()
    assert "OpenBLAS" in text and "Redistribution and use in source and binary forms" in text


@pytest.mark.parametrize("module", ["lgint", "lgint._cli"])
def test_importing_leaves_out_what_only_some_need(module):
    extras = ["dask", "matplotlib", "pandas", "plotly", "scipy", "tqdm", "xarray"]
    code = f"import sys, {module}; print(*(name for name in {extras} if name in sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "\n"


def test_importing_lgint_takes_little_more_than_numpy():
    """What most programs do not need is imported where it is used."""
    slow = {"concurrent", "difflib", "hashlib", "html", "multiprocessing", "pathlib", "socket", "sqlite3", "xml"}
    own = {f"lgint.{name}" for name in ("_cli", "_linear", "_papers", "_sweep", "_tools", "_validation")}
    alone, added = modules_of("import numpy"), modules_of("import numpy, lgint")
    assert (added - alone) & {*slow, *own, "zipfile", "numpy.ma", "numpy.polynomial"} == set()


def modules_of(program):
    """The modules that a program imports."""
    code = f"{program}; import sys; print(*sys.modules)"
    return set(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split())


def test_names_imported_when_they_are_used_are_those_that_type_checkers_see():
    tree = ast.parse((ROOT / "lgint" / "__init__.py").read_text())
    checked = [node for node in tree.body if isinstance(node, ast.If) and isinstance(node.test, ast.Name)]
    seen = {name.name: node.module for node in checked[0].body for name in node.names}
    assert seen == {name: f"lgint.{module}" for name, module in lgint._LATER.items()}
    assert seen.keys() <= {*lgint.__all__}


def test_the_environment_overrides_and_a_wrong_override_is_an_error():
    found = shlex.split(lapack_flags().stdout.replace("\n", " "))
    cflags = " ".join(flag for flag in found if flag.startswith("-I"))
    libs = " ".join(flag for flag in found if flag.startswith(("-L", "-l")))
    chosen = lapack_flags(LGINT_LAPACK_CFLAGS=cflags, LGINT_LAPACK_LIBS=libs, LGINT_LAPACK_PREFIX="scipy_")
    assert "LAPACK from the environment" in chosen.stderr
    assert "-DLG_LAPACK_PREFIX=scipy_" in chosen.stdout

    wrong = lapack_flags(LGINT_LAPACK_LIBS="-lthere_is_no_such_library")
    assert wrong.returncode == 1
    assert "no LAPACKE found (tried the environment)" in wrong.stderr


def test_the_build_and_the_run_use_one_openblas():
    ranges = re.findall(r'scipy-openblas32[^"]*', (ROOT / "pyproject.toml").read_text())
    assert len(ranges) == 2
    assert len(set(ranges)) == 1


def test_the_package_imports_from_another_directory(tmp_path):
    code = "import lgint; print(lgint.__version__)"
    run = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert run.stdout.strip() == lgint.__version__


def test_the_changelog_and_the_citation_name_the_version_and_its_day():
    changelog = re.findall(r"^## (.*)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    released = [title.split(", ") for title in changelog if title != "Unreleased"]
    assert all(re.fullmatch(r"\d+\.\d+\.\d+", number) and date.fromisoformat(day) for number, day in released)
    assert released == sorted(released, key=lambda row: date.fromisoformat(row[1]), reverse=True)
    citation = dict(re.findall(r"^([a-z-]+): (.*)$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE))
    assert [citation["version"], citation["date-released"]] == released[0]
    assert released[0][0] == lgint.__version__


def test_the_example_of_the_readme_runs_in_the_source_folder(tmp_path):
    example = re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL).group(1)
    code = f"import lgint, os\nos.chdir({str(tmp_path)!r})\n{example}"
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert (tmp_path / "swing.npz").exists()


def test_sources_without_the_extension_say_so(tmp_path):
    shutil.copytree(ROOT / "lgint", tmp_path / "lgint", ignore=shutil.ignore_patterns("*.so", "*.pyd", "__pycache__"))
    # -S hides installed packages: an editable installation would offer the extension in this folder
    run = subprocess.run([sys.executable, "-S", "-c", "import lgint"], cwd=tmp_path, capture_output=True, text=True)
    assert run.returncode == 1
    assert f"ImportError: {tmp_path / 'lgint'} has the sources of lgint, but not its compiled part" in run.stderr


@pytest.fixture(scope="module")
def pages():
    """The module that writes tables into the pages."""
    sys.path.insert(0, str(ROOT / "docs"))
    yield importlib.import_module("pages")
    sys.path.remove(str(ROOT / "docs"))


def test_the_tables_in_the_pages_are_those_of_the_code(pages):
    assert {path.name for path in pages.outdated(pages.tables())} == set(), "make tables"
    text = "\n".join(path.read_text() for path in (ROOT / "docs").glob("*.md"))
    assert set(re.findall("<!-- table (.*) -->", text)) >= {"methods", "elements", "nodes", "papers", "validation"}
    assert "{include}" not in text


def test_the_tables_of_the_docs_name_every_row(pages):
    from lgint import _core
    from lgint._papers import catalogue

    known = pages.tables()
    for table, rows in (
        ("methods", _core.METHODS),
        ("elements", _core.ELEMENTS),
        ("nodes", _core.NODES),
    ):
        assert [row["name"] for row in rows if row["name"] not in known[table]] == []
    assert "[Holzinger, Arnold and Gerstmayr (2024)](references.md#holzinger2024)" in known["methods"]
    assert [row.key for row in catalogue.artifacts() if f"`{row.name}`" not in known["papers"]] == []


def test_a_wheel_has_no_benchmarks_and_the_sources_have_them():
    code = (
        "import setup, setuptools; command = setup.BuildPython(setuptools.Distribution({'script_name': 'setup.py'})); "
        "print(*(name for _, name, _ in command.find_package_modules('lgint._tools', 'lgint/_tools')))"
    )
    environment = {name: value for name, value in os.environ.items() if name != "LGINT_SANITIZE"}
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True)
    found = {path.stem for path in (ROOT / "lgint" / "_tools").glob("*.py")}
    names = "clock counts exudyn file ggl long rods stiff trees"
    left_out = {"bench", *(f"bench_{name}" for name in names.split())}
    assert found - set(run.stdout.split()) == left_out
    assert "include lgint/_tools/bench*.py" in (ROOT / "MANIFEST.in").read_text()
