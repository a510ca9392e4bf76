"""Random models of all rows: they are built, evaluated, run by every family of methods, saved and resumed.

`make fuzz` draws many more of them, from the last seed of the suite on, under the sanitizers.
"""

import os

import numpy as np
import pytest

import lgint
from elements.rows import difference, tangent_and_difference
from lgint import _core
from models.random_models import BUILT_FROM_C_ALONE, REACHED, random_model, recipe, rows_of

FAMILIES = {}
for row in _core.METHODS:
    FAMILIES.setdefault(row["stepper"], []).append(row["name"])

COUNT = len(REACHED)
MANY = int(os.environ.get("LGINT_FUZZ", "8"))  # how many times as many models the slow test draws
STEPS = {"h": 1e-3, "t_end": 4e-3}
PARTS = ("q", "v", "vdot", "lam")


def test_every_row_has_a_recipe():
    """A new row that needs more than its parameters needs a recipe as well."""
    assert [name for name in REACHED if recipe(name) is None] == []
    assert recipe("no_such_row") is None
    built = [rows_of(random_model(seed)) for seed in range(COUNT)]
    assert [row for row, found in zip(REACHED, built, strict=True) if row not in found] == []
    assert set().union(*built) == {row["name"] for row in _core.ELEMENTS} - BUILT_FROM_C_ALONE


def point_of(model, rng):
    """A state near the start that satisfies the own rows of blocks, with its memory."""
    core = model.core
    own = core.nrows - sum(block[4] for block in core.blocks)
    q, v = core.retract(model.q0, 0.1 * rng.uniform(-1, 1, core.nv)), model.v0 + rng.uniform(-1, 1, core.nv)
    for kind, _, first, *_ in core.blocks:
        if kind.startswith("euler_parameters"):
            e = slice(first, first + 4) if kind.endswith("fixed") else slice(first + 3, first + 7)
            q[e] /= np.linalg.norm(q[e])
    a, lam = rng.uniform(-1, 1, core.nv), rng.uniform(-1, 1, core.nrows)
    lam[own:] = 0
    return q, v, a, lam, core.remember(0.0, q, v, a, np.zeros(core.nmem))


def check_derivatives(model, rng):
    """S along a random chain, and the forces of a potential, against differences."""
    core = model.core
    q, v, a, lam, mem = point_of(model, rng)
    du = rng.uniform(-1, 1, core.nv)
    for k in ((1, 0, 0), (0, 1, 0), (0, 0, 1), (0.5, 0.7, 1.3)):
        errors = []
        for eps in (1e-4, 1e-5, 1e-6):
            S, expected, r = tangent_and_difference(core, (q, v, a, lam), k, [np.eye(core.nv)] * 3, du, eps, mem)
            errors.append(np.abs(S - expected).max() / max(np.abs(S).max(), 1e-3 * np.abs(r).max(), 1.0))
        assert min(errors) < 1e-6, (k, errors)
    if core.conservative and not any(row["motion"] for row in model.record()["supports"].values()):
        still = np.zeros(core.nv)
        force = core.evaluate(0.0, q, still, still, lam, mem=mem, want=("force",))["force"] @ du
        slopes = [
            difference(lambda s: core.energy(0.0, core.retract(q, s * du), still, mem=mem)[1], eps)
            for eps in (1e-4, 1e-5)
        ]
        assert min(abs(force + slope) for slope in slopes) < 1e-6 * max(1.0, abs(force))


def check_evaluation(model):
    """Whatever may be asked of a state is finite."""
    state = model.state()
    for found in (state.vdot, state.lam, state.energy(), state.mass_matrix(), state.stiffness_matrix()):
        assert np.isfinite(found).all()


def check_runs(model, rng, path):
    """A method of each family runs, or refuses the model by a name; a run that is saved and resumed has its bits."""
    refused = 0
    for names in FAMILIES.values():
        method = str(rng.choice(names))
        try:
            whole = lgint.integrate(model, method, **STEPS)
        except ValueError as error:
            refused += 1
            assert any(name in str(error) for name in (*model.bodies, *model.joints, *model.forces, method)), error
            continue
        assert all(np.isfinite(getattr(whole, part)).all() for part in PARTS)
        half = lgint.integrate(model, method, h=1e-3, t_end=2e-3)
        half.save(path)
        rest = lgint.integrate(model, method, **STEPS, start=lgint.load(path))
        for part in PARTS:
            assert getattr(rest, part)[-1].tobytes() == getattr(whole, part)[-1].tobytes(), (method, part)
    assert refused < len(FAMILIES) - 1  # explicit methods run everything


def check_model(seed, path):
    model, rng = random_model(seed), np.random.default_rng([seed, 9])
    check_evaluation(model)
    check_derivatives(model, rng)
    check_runs(model, rng, path)


@pytest.mark.parametrize("seed", range(COUNT))
def test_models_of_all_rows(seed, tmp_path):
    check_model(seed, tmp_path / "run.npz")


@pytest.mark.slow
@pytest.mark.parametrize("share", range(8))
def test_many_models_of_all_rows(share, tmp_path):
    for seed in range(COUNT + share, (1 + MANY) * COUNT, 8):
        try:
            check_model(seed, tmp_path / "run.npz")
        except Exception as error:
            error.add_note(f"the seed of the model is {seed}")
            raise
