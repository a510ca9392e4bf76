"""Systems and steppers of the core exist complete or not at all, as long as anything refers to them."""

import contextlib
import copy
import gc
import pickle

import numpy as np
import pytest

from bindings.systems import BODY, model, oscillator, run, top, top_start
from cores import described
from lgint import _core

KINDS = [_core.Model, _core.CallableSystem, _core.Stepper]
DESCRIPTION = described([("R3xSO3", 0)], [(0, [0.0] * 6)], [BODY])


@pytest.mark.parametrize("kind", KINDS)
def test_no_object_is_made_without_its_arguments(kind):
    for make in (kind, lambda: kind.__new__(kind), lambda: object.__new__(kind), lambda: _core.System.__new__(kind)):
        with pytest.raises(TypeError, match="missing|not safe|not a subtype"):
            make()


def test_the_base_class_makes_no_objects():
    class Own(_core.System):
        pass

    for kind in (_core.System, Own):
        with pytest.raises(TypeError, match=f"{kind.__name__} is a base class; create a Model or a CallableSystem"):
            kind()
        with pytest.raises(TypeError):
            object.__new__(kind)


def test_objects_are_neither_copied_nor_pickled():
    system = top()
    for make in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError):
            make(system)
        with pytest.raises(TypeError):
            make(_core.Stepper(system, "genalpha", 0.0, *top_start(), None, {}))


def test_a_subclass_is_complete_without_calling_init():
    class Named(_core.Model):
        def __init__(self, *description):
            self.name = "body"

    named = Named(*DESCRIPTION)
    assert (named.name, named.nv) == ("body", 6)
    assert isinstance(named.varied(DESCRIPTION.parameters), Named)


def test_a_later_init_changes_nothing():
    system = top()
    system.__init__([("SO3", 0)], [], [])
    assert system.nq == 12 and len(run(system, "genalpha", *top_start())["t"]) == 101


def test_arguments_are_copied():
    """A list that is emptied and arrays that are overwritten after the creation change nothing."""
    blocks, elements = [*DESCRIPTION.blocks], [*DESCRIPTION.elements]
    arrays = {name: getattr(DESCRIPTION, name).copy() for name in ("frames", "points", "numbers", "parameters")}
    system = _core.Model(blocks=blocks, elements=elements, **arrays)
    blocks.clear(), elements.clear()
    for array in arrays.values():
        array[:] = 9
    gc.collect()
    assert system.varied(DESCRIPTION.parameters).evaluate(0.0, *top_start(), np.ones(6), want=["Ma"])["Ma"][0] == 2.0


CALLS = {
    "integrate": lambda thing, x: _core.integrate(thing, "rk44", 0.0, 1.0, 0.1, 1, x, x, None, {}),
    "ensemble": lambda thing, x: _core.ensemble([thing], "rk44", 0.0, 1.0, 0.1, 1, [x], [x], [[]], {}),
    "equilibrium": lambda thing, x: _core.equilibrium(thing, 0.0, [1.0], x, x, [], 1e-6, 1e-9, 10, True, True, None),
    "interpolate": lambda thing, x: _core.interpolate(thing, x, x, *[[x, x]] * 4),
    "Stepper": lambda thing, x: _core.Stepper(thing, "rk44", 0.0, x, x, None, {}),
}


@pytest.mark.parametrize("thing", [3, None, "text", [], _core.Model])
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_what_is_no_system_is_refused(call, thing):
    with pytest.raises(TypeError, match="System"):
        call(thing, np.zeros(2))


def test_a_variant_outlives_its_shape():
    system = _core.Model(*DESCRIPTION)
    made = system.varied(DESCRIPTION.parameters)
    del system
    gc.collect()
    assert len(run(made, "genalpha", *top_start())["t"]) == 101


@pytest.mark.parametrize("thing", [top(), oscillator(), _core.Stepper(top(), "rk44", 0.0, *top_start(), None, {})])
@pytest.mark.parametrize("count", [0, 1, 2, 3, 6, 8])
def test_no_method_crashes_on_zeros(thing, count):
    for name in dir(type(thing)):
        if not name.startswith("__") and callable(getattr(thing, name)):
            with contextlib.suppress(ValueError, TypeError):
                getattr(thing, name)(*([0] * count))


# ---- garbage ----


class Rescued(list):
    """A list that makes itself reachable again when the garbage collector has found it."""

    found: list["Rescued"] = []

    def __del__(self):
        Rescued.found.append(self)


def rescued(make, value):
    """The object that `make` creates from a function, after the garbage collector has found both in a cycle."""

    def leave_a_cycle():
        box = Rescued([None])
        box[0] = make(lambda *state: box and value)

    leave_a_cycle()
    gc.collect()
    return Rescued.found.pop()[0]


def test_a_system_that_comes_back_from_the_garbage_still_calls_its_functions():
    system = rescued(lambda function: oscillator(force=function), [0.0, 0.0])
    assert len(run(system, "rk44", [1.0, 0.0], [0.0, 1.0])["t"]) == 101
    system = rescued(lambda function: model(("force", "push", [0], [0.0, 2.0], function)), [0.0, 0.0, 1.0])
    assert len(run(system, "rk44", *top_start())["t"]) == 101


def test_a_stepper_that_comes_back_from_the_garbage_still_steps():
    def make(function):
        return _core.Stepper(oscillator(force=function), "rk44", 0.0, [1.0, 0.0], [0.0, 1.0], None, {})

    stepper = rescued(make, [0.0, 0.0])
    stepper.step(0.1)
    assert stepper.q == pytest.approx([1.0, 0.1])


def test_a_stepper_cannot_be_found_before_it_is_complete():
    def steppers():
        return sum(isinstance(thing, _core.Stepper) for thing in gc.get_objects())

    def force(t, q, v):
        seen.append(steppers())
        return -q

    before, seen = steppers(), []
    stepper = _core.Stepper(oscillator(force=force), "genalpha", 0.0, [1.0, 0.0], [0.0, 1.0], None, {})
    assert set(seen) == {before} and steppers() == before + 1 and gc.is_tracked(stepper)
