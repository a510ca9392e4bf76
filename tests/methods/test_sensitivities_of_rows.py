"""Derivatives of runs by numbers of random models that have every row of elements, against differences of runs."""

import numpy as np
import pytest

import lgint
from lgint._model.sensitivity import direction
from methods.test_sensitivities import METHODS, STENCIL
from models.random_models import REACHED, random_model

STEPS = {"t_end": 1e-2, "h": 1e-3}
TIGHT = {"newton_rtol": 1e-13, "newton_atol": 1e-14}
STEPS_OF_NUMBERS = (5e-3, 2e-4, 1e-2)  # shorter where the first passes an edge of a shape; longer for small entries
ROUNDS = 24  # so many models are drawn at most for a row
# Every fourth model may have coordinates for explicit methods alone. What index 3 leaves of round-off in velocities is
# too much for such short runs, so that hht is left to test_sensitivities.py.
IMPLICIT = ["genalpha", "newmark"]
EXPLICIT = [name for name in METHODS if name not in (*IMPLICIT, "hht")]


def method_of(row):
    i = REACHED.index(row)
    own = EXPLICIT if i % 4 == 3 else IMPLICIT
    return own[i // 4 % len(own)]


def options_of(method):
    """Without the round-off of multipliers that index 3 has, and with the tolerances of Newton's method."""
    rows = {row["name"] for row in lgint.method_info(method)["options"]}
    index = {"index": "stabilized"} if method == "genalpha" else {}
    return index, {name: value for name, value in TIGHT.items() if name in rows}


def accepted(model, name, relative=0.01):
    """Whether a number may be a little greater and smaller, and has derivatives."""
    value = float(model.values[name])
    try:
        direction(model, name)
        for sign in (3, -3):
            model.with_parameters(**{name: value * (1 + sign * relative)})
    except ValueError:
        return False
    return value != 0


def numbers(model, rng, count=3):
    """Some of a model's numbers, entries of arrays among them."""
    found = []
    for key in map(str, rng.permutation([*model.values])):
        entries = np.argwhere(np.asarray(model.values[key], dtype=float))
        if not len(entries):
            continue
        entry = entries[rng.integers(len(entries))]
        name = f"{key}[{','.join(map(str, entry))}]" if len(entry) else key
        if accepted(model, name):
            found.append(name)
        if len(found) == count:
            break
    return found


def differentiated(row, method):
    """The first random model of a row whose run has derivatives, with names of numbers, and that run."""
    index, _ = options_of(method)
    for seed in range(REACHED.index(row), ROUNDS * len(REACHED), len(REACHED)):
        model = random_model(seed)
        names = numbers(model, np.random.default_rng([seed, 3]))
        try:
            return model, names, lgint.integrate(model, method, **STEPS, **index, sensitivity=names)
        except ValueError as error:
            assert "A(q) v" in str(error), error
    raise AssertionError(f"no random model with {row} has derivatives")


def difference(model, name, middle, relative, **options):
    value, total = float(model.values[name]), np.zeros((2, *middle.v.shape))
    for times, weight in STENCIL:
        step = relative * min(abs(value), 1.0)
        other = model.with_parameters(**{name: value + times * step}).with_state(project=True)
        run = lgint.integrate(other, middle.method, **STEPS, **options)
        total += weight / step * np.array([model.core.difference(middle.q, run.q), run.v])
    return total


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("row", REACHED)
def test_numbers_of_models_of_all_rows(row):
    method = method_of(row)
    model, names, run = differentiated(row, method)
    index, tight = options_of(method)
    middle = lgint.integrate(model, method, **STEPS, **index, **tight)
    for k, name in enumerate(names):
        own = np.array([run.sensitivity.dq[..., k], run.sensitivity.dv[..., k]])
        for relative in STEPS_OF_NUMBERS:
            expected = difference(model, name, middle, relative, **index, **tight)
            sizes = np.maximum(np.abs(expected).max(axis=(1, 2)), 1e-2)
            if np.all(np.abs(own - expected).max(axis=(1, 2)) <= 1e-7 * sizes):
                break
        else:
            raise AssertionError(f"{method}: {name}: {np.abs(own - expected).max(axis=(1, 2)) / sizes}")
