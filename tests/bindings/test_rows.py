"""The rows from which names, docs and error texts are made, and the stub `_core.pyi` compared with the module."""

import ast
import inspect
from pathlib import Path

import pytest

import lgint
from bindings.systems import oscillator, run
from exact import exact
from lgint import _core

METHODS = {row["name"]: row for row in _core.METHODS}
STUB = ast.parse((Path(lgint.__file__).parent / "_core.pyi").read_text())


@pytest.mark.parametrize("rows", [_core.METHODS, _core.ELEMENTS, _core.NODES])
def test_rows_have_unique_names_and_a_reference(rows):
    names = [row["name"] for row in rows]
    assert len(set(names)) == len(names) > 5
    assert all(row["reference"] for row in rows)


def test_elements_and_their_parameters_are_explained():
    for row in _core.ELEMENTS:
        assert row["doc"].endswith(".") and row["nframes"] in (1, 2) and row["nrows"] <= 6
        assert all(p["name"] and p["doc"] and (p["count"] > 0 or p["count"] == -1) for p in row["parameters"])


def example(name):
    """A system that the method can run, and its start: an oscillator, or a body if the method is for bodies only."""
    needs = METHODS[name]["needs"]
    if needs is None or "LagrangianModel" in needs:
        return oscillator(), name, [1.0, 0.0], [0.0, 1.0]
    body = lgint.models.free_body(omega0=(1.0, 2.0, 3.0))
    return body.core, name, body.q0, body.v0


@pytest.mark.parametrize("name", METHODS)
def test_the_default_of_an_option_is_accepted(name):
    options = METHODS[name]["options"]
    types = ("number", "integer", "flag", "choice", "vector")
    assert all(o["doc"].endswith(".") and o["type"] in types for o in options)
    given = {option["name"]: option["default"] for option in options}
    expected = run(*example(name))
    assert run(*example(name), **given)["q"].tobytes() == expected["q"].tobytes()


@pytest.mark.parametrize("name", METHODS)
def test_choices_are_accepted_by_name(name):
    for option in METHODS[name]["options"]:
        for choice in option["choices"]:
            assert run(*example(name), **{option["name"]: choice})["t"][-1] == 1


def test_tableaux_are_exact_numbers():
    """Or decimals, which are rounded at the last digit of their source."""
    rows = [row for row in METHODS.values() if row["tableau"]]
    assert len(rows) >= 7
    for row in rows:
        tableau = row["tableau"]
        b, c = ([exact(x) for x in tableau[name]] for name in "bc")
        A = [[exact(x) for x in stage] for stage in tableau["A"]]
        sums = [(sum(b), 1), *zip(map(sum, A), c, strict=True)]
        sums += [(sum(map(exact, tableau[name])), 1) for name in ("b_hat", "b_low", "d") if tableau[name]]
        decimal = any("." in text for text in tableau["b"])
        for found, expected in sums:
            assert found == expected or (decimal and abs(found - expected) < 1e-26)
    assert {row["name"] for row in rows if row["tableau"]["d"]} == {"herk2", "herk3", "herk4", "herk5"}


def test_node_kinds():
    rows = {row["name"]: row for row in _core.NODES}
    assert (rows["SE3"]["nv"], rows["SE3"]["position"], rows["SE3"]["linear"]) == (6, "body", False)
    assert (rows["euler_parameters"]["nq"], rows["euler_parameters"]["nown"]) == (7, 1)
    assert rows["first_order"]["nq"] == 0 and rows["first_order"]["position"] == "none"
    assert rows["Rn"]["nq"] == 0 and rows["Rn"]["position"] == "no_body" and rows["Rn"]["linear"] is True


# ---- the stub ----


def test_the_stub_names_what_the_module_has():
    defined = {node.name for node in STUB.body if isinstance(node, (ast.ClassDef, ast.FunctionDef))}
    defined |= {node.target.id for node in STUB.body if isinstance(node, ast.AnnAssign)}
    groups = {name for name in vars(_core) if type(getattr(_core, name)).__name__ == "ufunc"}
    assert {name for name in vars(_core) if not name.startswith("_")} - groups == defined


@pytest.mark.parametrize("kind", ["System", "Model", "CallableSystem", "Stepper"])
def test_the_stub_names_the_members_of_a_class(kind):
    (node,) = [n for n in STUB.body if isinstance(n, ast.ClassDef) and n.name == kind]
    named = {item.target.id for item in node.body if isinstance(item, ast.AnnAssign)}
    named |= {item.name for item in node.body if isinstance(item, ast.FunctionDef)}
    assert {name for name in vars(getattr(_core, kind)) if not name.startswith("__")} == named - {"__new__"}


def arguments_of(node):
    """Names of the arguments of a function of the stub, without `self` and `cls`."""
    names = [argument.arg for argument in [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]]
    return [name for name in names if name not in ("self", "cls")]


def test_the_stub_names_the_arguments():
    pairs = [(node, _core) for node in STUB.body if isinstance(node, ast.FunctionDef)]
    for node in STUB.body:
        if isinstance(node, ast.ClassDef):
            pairs += [(item, getattr(_core, node.name)) for item in node.body if isinstance(item, ast.FunctionDef)]
    for node, owner in pairs:
        target = owner if node.name == "__new__" else getattr(owner, node.name)
        signature = [name for name in inspect.signature(target).parameters if name != "self"]
        assert signature == arguments_of(node), node.name
