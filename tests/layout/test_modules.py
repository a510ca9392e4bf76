"""The Python package keeps its layers, and the checks find violations."""

import contextlib
import inspect
from pathlib import Path

import pytest

import lgint
from layout import modules

ROOT = Path(__file__).parents[2]
CHECKS = [modules.arrow_violations, modules.circle_violations, modules.shadow_violations]


@pytest.mark.parametrize("check", CHECKS)
def test_the_package_keeps_the_rules(check):
    assert check(ROOT) == []


def test_every_module_stands_in_a_room():
    assert {modules.room(module) for module in modules.modules(ROOT)} == set(modules.MAY_IMPORT)
    names = {module.split(".")[1] for module in modules.modules(ROOT) if modules.room(module) == "base"}
    assert names == modules.BASE


@pytest.mark.parametrize(
    "text", ["import lgint._tools.a", "from lgint._tools import a", "from lgint._tools.a import b"]
)
@pytest.mark.parametrize("place", ["{}", "if TYPE_CHECKING:\n    {}", "def f():\n    {}"])
def test_an_arrow_against_the_order_is_found(text, place, tmp_path):
    tree(tmp_path, {"_tools/a": "", "_model/b": place.format(text)})
    assert modules.arrow_violations(tmp_path) == ["lgint._model.b imports lgint._tools.a"]


def test_a_circle_is_found(tmp_path):
    chain = {"a": "from lgint._run import b", "b": "from lgint._run.c import x", "c": "import lgint._run.a"}
    tree(tmp_path, {f"_run/{name}": text for name, text in chain.items()} | {"_run/d": "from lgint._run import a"})
    assert modules.circle_violations(tmp_path) == [f"lgint._run.{name} imports itself" for name in "abc"]


@pytest.mark.parametrize("text", ["from lgint.models.top import top", "def top():\n    pass"])
def test_a_shadow_is_found(text, tmp_path):
    tree(tmp_path, {"models/__init__": text, "models/top": ""})
    assert modules.shadow_violations(tmp_path) == ["lgint.models: top hides a module"]


@pytest.mark.parametrize("check", CHECKS)
def test_a_clean_package_passes(check, tmp_path):
    files = {
        "__init__": "from lgint import groups\nfrom lgint._run.a import run",
        "_run/a": "from lgint import _core\nfrom lgint._run import b",
        "_run/b": "from lgint._run.c import c",
        "_run/c": "import numpy",
        "groups": "from lgint import _core",
    }
    tree(tmp_path, files)
    assert check(tmp_path) == []


def test_only_public_names_are_shown():
    assert sorted(lgint.__all__) == dir(lgint)
    assert [name for name in dir(lgint) if name.startswith("_")] == ["__version__"]
    assert sorted(lgint.models.__all__) == dir(lgint.models)
    assert [name for name in dir(lgint.models) if name.startswith("_")] == []


def tree(root, files):
    """A package of these files, in which every folder is a package."""
    for name, text in files.items():
        path = root / "lgint" / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        for folder in (root / "lgint", path.parent):
            (folder / "__init__.py").touch()
        path.write_text(text)


def test_help_shows_types_as_they_are_written():
    """Aliases such as ArrayLike are not expanded, which would fill a screen."""
    for module in (lgint, lgint.groups, lgint.models, lgint.modal):
        for name in dir(module):
            found = getattr(module, name)
            parts = [getattr(found, part) for part in dir(found) if part[0] != "_"] if inspect.isclass(found) else []
            for function in filter(callable, [found, *parts]):
                with contextlib.suppress(ValueError):  # of builtins that have no signature
                    assert "numpy." not in str(inspect.signature(function)), function
