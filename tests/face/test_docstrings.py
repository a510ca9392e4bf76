"""Docstrings of public names: every parameter, result and error has its place in a section that numpydoc reads."""

import ast
import inspect
import textwrap
from types import ModuleType

import pytest
from numpydoc.validate import validate

import lgint

# missing docstring, parameters not documented, unknown, without type or meaning; results without a section or meaning
ASKED = {"GL08", "PR01", "PR02", "PR04", "PR07", "RT01", "RT03", "YD01"}
# defects of the text: lines, blank lines, sections that do not exist, stand in another order or have a wrong underline
FORM = {"GL05", "GL06", "GL07", "PR10", "SS01"}


def public_names():
    """All public names with their objects, and the members that lgint gives public classes."""
    for name in sorted(set(lgint.__all__) - {"__version__"}):
        thing = getattr(lgint, name)
        if not isinstance(thing, ModuleType):
            yield f"lgint.{name}", thing
        else:
            yield from ((f"lgint.{name}.{inner}", getattr(thing, inner)) for inner in dir(thing) if inner[0] != "_")


def own_members(cls):
    """Functions and properties of a class that are written in lgint."""
    for name in dir(cls):
        owner = next(base for base in cls.__mro__ if name in vars(base))
        member = vars(owner)[name]
        function = getattr(member, "fget", None) or getattr(member, "func", None) or getattr(member, "__func__", member)
        if name[0] != "_" and owner.__module__.startswith("lgint") and inspect.isfunction(function):
            yield name, function


def documented():
    """Names that numpydoc finds, and the function or class behind each."""
    for name, thing in public_names():
        if inspect.isclass(thing):
            yield name, thing
            yield from ((f"{name}.{member}", function) for member, function in own_members(thing))
        elif inspect.isfunction(thing):
            yield name, thing


FOUND = dict(documented())


@pytest.mark.parametrize("name", FOUND)
def test_parameters_results_and_errors_have_a_section(name):
    report = validate(name)
    made_by_the_library = inspect.isclass(FOUND[name]) and "\nAttributes\n" in (inspect.getdoc(FOUND[name]) or "")
    asked = ASKED - {"PR01"} if made_by_the_library or has_fields(FOUND[name]) else ASKED
    assert [text for code, text in report["errors"] if code in asked | FORM] == []
    if raises(FOUND[name]):
        assert "\nRaises\n---" in inspect.getdoc(FOUND[name])


def has_fields(thing):
    """Whether the parameters of a class are fields with docstrings of their own."""
    return inspect.isclass(thing) and issubclass(thing, tuple)


def raises(thing):
    """Whether the code of a function raises an error itself."""
    if not inspect.isfunction(thing) or inspect.unwrap(thing) is not thing:
        return False
    code = ast.parse(textwrap.dedent(inspect.getsource(thing)))
    return any(isinstance(part, ast.Raise) and part.exc is not None for part in ast.walk(code))


def test_names_are_found():
    assert len(FOUND) > 180
    assert {"lgint.Trajectory.reaction", "lgint.ModelBuilder.add_rod", "lgint.groups.Group.exp"} <= FOUND.keys()
    assert raises(lgint.Trajectory.at) and not raises(lgint.Trajectory.velocity)


@pytest.mark.filterwarnings("ignore:inertia of 'link")
@pytest.mark.parametrize("name", lgint.models.names())
def test_models_name_their_source(name):
    factory = lgint.models.get(name)
    assert inspect.getdoc(factory).endswith(f"References\n----------\n{factory().reference}")


def test_help_names_types_as_they_are_written(capsys):
    help(lgint.models.heavy_top)
    shown = capsys.readouterr().out
    assert "inertia: 'ArrayLike' = (0.234375" in shown and "_SupportsArray" not in shown
