"""Editors complete the names that arguments take: their types list what the core has."""

import inspect
from typing import get_args, get_overloads, get_type_hints

import pytest

import lgint
from lgint._build.joints import KINDS
from lgint._model import names
from lgint._model.formulations import FORMULATIONS

LISTS = {
    "Method": lgint.methods(),
    "JointName": KINDS,
    "FormulationName": [*FORMULATIONS, "minimal"],
}
TYPES = {"method": "Method", "formulation": "FormulationName"}
FUNCTIONS = {
    **{name: value for name, value in vars(lgint).items() if inspect.isfunction(value) and name in lgint.__all__},
    **{name: value for name, value in inspect.getmembers(lgint.ModelBuilder, inspect.isfunction) if name[0] != "_"},
    "Stepper": lgint.Stepper.__init__,
    "ModelBuilder": lgint.ModelBuilder.__init__,
}
ARGUMENTS = [(name, own) for name, value in FUNCTIONS.items() for own in TYPES if own in value.__annotations__]


@pytest.mark.parametrize("name", LISTS)
def test_types_list_every_name(name):
    *literals, text = get_args(getattr(names, name))
    assert text is str
    assert sorted(value for part in literals for value in get_args(part)) == sorted(LISTS[name])


@pytest.mark.parametrize(("name", "argument"), ARGUMENTS)
def test_arguments_have_these_types(name, argument):
    assert FUNCTIONS[name].__annotations__[argument].removesuffix(" | None") == TYPES[argument]


def test_types_list_every_option_with_its_choices():
    listed = {name: literals(form) for name, form in get_type_hints(names.MethodOptions).items()}
    found = {}
    for method in lgint.methods():
        for option in lgint.method_info(method)["options"]:
            found[option["name"]] = {*option["choices"]}
    del found["start"]  # an argument of `integrate`, which is also a run
    assert listed == found


def literals(form):
    """The strings in a type."""
    parts = get_args(form)
    return {form} if isinstance(form, str) else {own for part in parts for own in literals(part)}


def test_runs_and_steppers_have_typed_options():
    one, _ = get_overloads(lgint.integrate)
    assert one.__annotations__["options"] == "Unpack[MethodOptions]"
    assert lgint.Stepper.__init__.__annotations__["options"] == "Unpack[MethodOptions]"


def test_arguments_for_rotations_have_their_type():
    functions = {**FUNCTIONS, "shifted": lgint.inertia.shifted}
    found = {
        (name, own): value.__annotations__[own].removesuffix(" | None")
        for name, value in functions.items()
        for own in ("rotation", "rotations", "reference")
        if own in value.__annotations__
    }
    assert {*found.values()} == {"RotationLike"} and len(found) >= 9


def test_the_arguments_are_found():
    assert {("integrate", "method"), ("Stepper", "method"), ("add_body", "formulation")} < {*ARGUMENTS}
    assert FUNCTIONS["add_joint"].__annotations__["kind"] == "JointName"
    assert FUNCTIONS["method_info"].__annotations__["name"] == "Method"
