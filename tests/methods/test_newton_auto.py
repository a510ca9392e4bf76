"""Newton's method that decides itself when a matrix is kept: its cost, its solutions, its carry, beside the others."""

import itertools
import math
import os
import re
import subprocess
import sys
from functools import partial

import numpy as np
import pytest

import lgint
from lgint._tools import bench_counts


def far_chain(at, n=3):
    """A chain that starts at rest, as `pendulum_chain`, at a distance from the origin."""
    mass, inertia = 0.01, [1e-7, 8e-6, 8e-6]
    builder = lgint.ModelBuilder(gravity=(0, 0, -9.81), formulation="R3xSO3")
    for i in range(n):
        link, before, x = f"link{i}", f"link{i - 1}" if i else lgint.ground, at + 0.1 * i
        builder.add_body(link, mass=mass, inertia=inertia, position=(x + 0.05, 0, 0))
        builder.add_joint("spherical", before, link, point=(x, 0, 0))
    return builder.build()


NEWTONS = ("full", "modified", "auto")
LENGTHS = (200, 400)  # steps
EPS = np.finfo(float).eps
MODELS = [  # model, method, h, options
    ("spaghetti", lgint.models.flying_spaghetti, "genalpha", 1e-3, {}),
    (
        "minimal chain",
        partial(lgint.models.pendulum_chain, n=30, formulation="minimal", joint="revolute"),
        "genalpha",
        1e-3,
        {},
    ),
    ("rotor", lgint.models.rotor, "genalpha", 1e-5, {}),
    ("slider-crank", lgint.models.slider_crank, "genalpha", 1e-3, {}),
    ("stabilised", lgint.models.slider_crank, "newmark", 1e-3, {}),
    ("top", lgint.models.heavy_top, "genalpha", 1e-4, {}),
    ("puma", partial(lgint.models.puma560, formulation="R3xSO3"), "genalpha", 1e-3, {}),
    ("chain", partial(lgint.models.pendulum_chain, n=10), "genalpha", 1e-3, {}),
    ("chain, newmark", partial(lgint.models.pendulum_chain, n=10), "newmark", 1e-3, {}),
    ("V8", lgint.models.crank_drive_v8, "genalpha", 1e-5, {}),
    ("hht", lgint.models.heavy_top, "hht", 1e-3, {}),
    ("plain", lgint.models.heavy_top, "genalpha", 1e-3, {"predictor": "plain"}),
    ("small steps", lgint.models.slider_crank, "genalpha", 1e-5, {"newton_rtol": 1e-10}),
    ("far chain", partial(far_chain, 1e4), "genalpha", 1e-4, {}),
    ("disk", lgint.models.rolling_disk, "genalpha", 1e-3, {}),
]
IDS = [case[0] for case in MODELS]
pytestmark = pytest.mark.filterwarnings("ignore:inertia of:UserWarning")


def run(index, newton, steps, **more):
    _, make, method, h, options = MODELS[index]
    return lgint.integrate(make(), method, t_end=steps * h, h=h, newton=newton, **{**options, **more})


def parts(trajectory):
    return [getattr(trajectory, name).tobytes() for name in ("t", "q", "v", "vdot", "lam")]


@pytest.mark.parametrize("rtol", [1e-8, 1e-10])
@pytest.mark.parametrize("index", range(len(MODELS)), ids=IDS)
def test_solutions_do_not_depend_on_the_variant(index, rtol):
    """Each step leaves no more than the tolerance of Newton's method, whatever the variant, and round-off of q."""
    steps = 30
    exact = run(index, "full", steps, newton_rtol=1e-13, newton_atol=0)
    round_off = {"q": 0.0, "v": 16 * EPS * np.abs(exact.q[-1]).max() / MODELS[index][3]}
    for newton in NEWTONS:
        found = run(index, newton, steps, newton_rtol=rtol, newton_atol=0)
        for name in ("q", "v"):
            values, best = getattr(found, name)[-1], getattr(exact, name)[-1]
            most = steps * rtol * (1 + np.abs(best).max()) + round_off[name]
            assert np.abs(values - best).max() < most, (newton, name)


@pytest.mark.parametrize("index", range(len(MODELS)), ids=IDS)
def test_decisions_are_carried(index):
    """A run that is resumed after any step makes the same decisions, and so does a second run."""
    whole = run(index, "auto", 24)
    assert parts(whole) == parts(run(index, "auto", 24))
    _, _, method, h, options = MODELS[index]
    for stop in (1, 2, 3, 7, 16, 17, 18, 23):
        first = lgint.integrate(whole.model, method, t_end=float(whole.t[stop]), h=h, newton="auto", **options)
        rest = lgint.integrate(whole.model, method, t_end=24 * h, h=h, start=first)
        assert rest.options["newton"] == "auto"
        assert rest.q.tobytes() == whole.q[stop:].tobytes() and rest.lam.tobytes() == whole.lam[stop:].tobytes()
        assert first.stats.jacobians + rest.stats.jacobians >= whole.stats.jacobians  # one that is kept is formed again


def test_a_matrix_that_is_not_used_again_is_not_kept():
    """On the top nearly every step has a matrix of its own, which is in the carry only before it is tried again."""
    top = IDS.index("top")
    nv, nrows = 6, 3
    place = nv + 2 + 15 + 2 * nv + nrows  # after a, h, steps, Newton's memory, w of two steps, lam of one
    kept = [run(top, "auto", steps).carry[place] for steps in range(10, 40)]
    assert set(kept) == {0.0, 1.0} and 0 < sum(kept) < 10
    assert all(run(top, "modified", steps).carry[place] for steps in range(10, 40))


@pytest.mark.parametrize("name", ["small steps", "far chain"])
def test_an_old_matrix_is_kept_where_rows_are_round_off(name):
    """First corrections that mostly remove round-off of rows leave the forces no better, but second ones do."""
    found = run(IDS.index(name), "auto", 200, save_every=200)
    assert found.stats.jacobians < 50 and found.stats.newton_iterations < 400


@pytest.mark.parametrize(
    ("make", "h", "most"), [(lgint.models.slider_crank, 1e-3, 3), (lgint.models.heavy_top, 1e-3, 2)]
)
def test_a_step_that_fails_with_an_old_matrix_is_made_with_new_ones(make, h, most):
    """With as few iterations as full Newton needs, an old matrix does not converge, and the steps succeed."""
    free, found, full = (
        lgint.integrate(make(), "genalpha", t_end=100 * h, h=h, **options)
        for options in ({}, {"max_iter": most}, {"max_iter": most, "newton": "full"})
    )
    assert free.stats.newton_iterations > found.stats.steps * 1.5
    assert found.stats.steps == full.stats.steps == 100 and found.stats.jacobians < full.stats.jacobians
    assert np.allclose(found.q, full.q, rtol=0, atol=1e-7)


@pytest.mark.measures
def test_it_costs_no_more_than_the_better_of_the_others(tmp_path):
    """Instructions of whole runs of 200 and of 400 steps, counted, at most 5 % above those of the better variant."""
    for steps, spent in zip(LENGTHS, counted(tmp_path), strict=True):
        ratios = {name: auto / min(full, modified) for name, (full, modified, auto) in zip(IDS, spent, strict=True)}
        assert max(ratios.values()) <= 1.05, (steps, {name: round(float(ratio), 3) for name, ratio in ratios.items()})


def counted(folder):
    """The instructions that runs take: of each length, model and variant, with a profile for each call of the loop."""
    environment = os.environ | {"GLIBC_TUNABLES": bench_counts.GLIBC, "OPENBLAS_NUM_THREADS": "1"}
    tool = ["valgrind", "--tool=callgrind", f"--toggle-collect={bench_counts.ENTRY}"]
    out = [f"--dump-after={bench_counts.ENTRY}", f"--callgrind-out-file={folder}/profile"]
    subprocess.run([*tool, *out, sys.executable, __file__], check=True, env=environment)
    shape = (len(LENGTHS), len(MODELS), len(NEWTONS))
    profiles = ((folder / f"profile.{i + 1}").read_text() for i in range(math.prod(shape)))
    totals = [int(re.search(r"^(?:totals|summary): (\d+)", text, re.MULTILINE)[1]) for text in profiles]
    return np.reshape(totals, shape)


if __name__ == "__main__":  # what runs under valgrind
    for length, case, variant in itertools.product(LENGTHS, range(len(MODELS)), NEWTONS):
        run(case, variant, length, save_every=length)
