"""Models that a function makes one after the other: each has the bits of a model that is made by itself."""

import gc
import re
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import lgint
from cores import bits
from lgint._model.collector import uncollected
from lgint._model.series import Series
from lgint.models import get, names, parameters

# parameters that change more of a model than its start and numbers of its elements; None: all of them
OF_SHAPE = {
    "chaplygin_sleigh": {"distance"},
    "crank_drive_v8": None,  # its torque is a function of time
    "flying_spaghetti": {"length"},
    "four_bar": {"length"},
    "free_body": {"gravity"},  # is zero by itself, and then there are no weights
    "heavy_top": {"com"},
    "pendulum_chain": {"length"},
    "puma560": {"goal_angles", "initial_angles"},
    "quadruped": {"bend"},
    "rotor": {"left", "right"},
    "steady_top": {"height", "nutation"},
}
COMPILED = [name for name in names() if name not in ("mass_spring", "spring_pendulum")]  # systems of functions


def others(name):
    """Each parameter of a factory that consists of floats, with other values."""
    for key, value in parameters(name).items():
        if {type(number) for number in (value if type(value) is tuple else [value])} == {float}:
            given = np.array(value)
            yield key, (1.01 * given if given.any() else given + 0.01).tolist()


def everything(model):
    """The record, parameters, start and evaluation of a model, with the signs of zeros."""
    start = [getattr(model, part).tobytes() for part in ("q0", "v0", "mem0", "_parameters")]
    record = re.sub(" at 0x[0-9a-f]+", "", repr(model.record()))  # where functions are in memory
    return record, start, bits(model.core, model.q0, model.mem0)


def top(**changes):
    """A top that is not one of `lgint.models`, with a force on it."""
    given = {
        "mass": 15.0,
        "force": (0.0, 0.0, 1.0),
        "gravity": (0, 0, -9.81),
        "point": (0, 0, 0),
        "velocity": (0, 0, 0),
    }
    given |= changes
    b = lgint.ModelBuilder(gravity=given["gravity"])
    b.add_body("top", mass=given["mass"], inertia=(0.2, 0.4, 0.2), position=(0, 1, 0), velocity=given["velocity"])
    b.add_joint("spherical", lgint.ground, "top", point=given["point"])
    b.add_force("top", force=given["force"])
    return b.build()


@pytest.mark.filterwarnings("ignore:inertia of")  # published values
@pytest.mark.parametrize("name", COMPILED)
def test_every_parameter_of_a_function_has_the_bits_of_a_new_model(name):
    make, compiled_anew = get(name), set()
    for key, value in others(name):
        with Series().running():
            first, model = make(), make(**{key: value})
        assert everything(model) == everything(make(**{key: value})), key
        if model._compiled is not first._compiled:
            compiled_anew.add(key)
    of_shape = OF_SHAPE.get(name, set())
    assert compiled_anew == ({key for key, _ in others(name)} if of_shape is None else of_shape)


@pytest.mark.parametrize(
    "change",
    [
        {"force": (0.0, -0.0, 1.0)},
        {"force": lambda t: (0.0, 0.0, t)},
        {"force": ([0.0, 1.0], [(0.0, 0.0, 1.0), (0.0, 1.0, 1.0)])},
        {"gravity": (0, 0, 0)},
        {"gravity": (0, -0.0, -9.81)},
        {"point": (-0.0, 0, 0)},
        {"mass": 1.0, "force": (3.0, 0.0, 1.0), "gravity": (1, 0, 0)},
    ],
    ids=["zero in force", "law", "table", "no gravity", "zero in gravity", "zero in point", "three"],
)
def test_models_of_other_shapes_and_signs_of_zeros(change):
    with Series().running():
        found = [everything(top(**each)) for each in ({}, change, {}, change)]
    assert found == [everything(top()), everything(top(**change))] * 2


@pytest.mark.parametrize("change", [{"mass": -1.0}, {"velocity": (0, 0.1, 0)}, {"force": (0, 0)}, {"gravity": np.nan}])
def test_errors_are_those_of_a_model_by_itself(change):
    with pytest.raises(ValueError) as alone:
        top(**change)
    with Series().running():
        top()
        with pytest.raises(ValueError) as found:
            top(**change)
        later = everything(top(mass=2.0))
    assert later == everything(top(mass=2.0))
    assert str(found.value) == str(alone.value)


def test_what_is_set_on_a_model_stays_on_it():
    with Series().running():
        first = top()
        first.reference, first.note = "a paper", 1
        later = top(mass=2.0)
    assert later._compiled is first._compiled
    assert not hasattr(later, "note")
    assert everything(later) == everything(top(mass=2.0))


def test_the_garbage_collector_runs_again_however_threads_overlap(monkeypatch):
    outer, enabled = uncollected(), gc.isenabled

    def while_the_other_ends():
        found = enabled()
        outer.__exit__()
        return found

    with pytest.raises(KeyError), uncollected(), uncollected():
        raise KeyError
    assert gc.isenabled()
    outer.__enter__()
    monkeypatch.setattr(gc, "isenabled", while_the_other_ends)
    with uncollected():
        pass
    assert enabled()


def test_sweeps_over_a_function_in_threads_have_the_bits_of_single_runs():
    masses, gravities = [10.0, 11.0, 12.0], [(0.0, 0.0, -9.81), (0.0, 0.0, 0.0), (0.0, 0.0, -1.0)]
    run = {"method": "genalpha", "t_end": 0.02, "h": 1e-3}
    with ThreadPoolExecutor(3) as pool:
        data = lgint.sweep(
            top, {"mass": masses, "gravity": gravities}, observables={"q": lambda sol: sol.q[-1]}, executor=pool, **run
        )
    expected = [[lgint.integrate(top(mass=m, gravity=g), **run).q[-1] for g in gravities] for m in masses]
    assert data.q.values.tobytes() == np.array(expected).tobytes()
