"""Active rows of closed loops are chosen again if they become dependent as the mechanism moves."""

import functools

import numpy as np
import pytest

import lgint
from allocated import allocated
from kinds import FORMULATIONS
from lgint import _core
from models.overconstrained import bennett, bricard, closure

LINKAGES = {"Bennett": lambda: bennett("SE3", rate=5.0), "Bricard": bricard}
BODIES = [kind for kind in FORMULATIONS if kind != "minimal"]


def activity(run):
    """Which multipliers of the hinges are not zero, (n, rows)."""
    return run.lam[:, : len([name for name in run.model.row_names if name.startswith("hinge")])] != 0


def changes(run):
    """The states that are the first ones with other active rows."""
    active = activity(run)
    return np.nonzero((active[1:] != active[:-1]).any(axis=1))[0] + 1


# ---- the motion ----


@pytest.mark.parametrize("formulation", [*BODIES, "minimal"])
def test_half_explicit_steps_pass_the_configuration_where_the_first_rows_are_singular(formulation):
    run = lgint.integrate(bennett(formulation), "herk5", t_end=2.0, rtol=1e-10)
    assert run.t[-1] == 2.0
    assert np.abs(closure(run)).max() < 1e-10
    assert len(changes(run)) > 0 and run.stats.dense_fallbacks == 0
    assert np.ptp(run.energy()) < 1e-8


@pytest.mark.parametrize(
    ("method", "options"),
    [
        ("dopri5", {"rtol": 1e-9}),
        ("rk44", {"h": 2e-3, "project": "both"}),
        ("genalpha", {"h": 2e-3}),
        ("genalpha", {"h": 2e-3, "newton": "modified"}),
        ("genalpha", {"h": 2e-3, "index": "stabilized"}),
        ("newmark", {"h": 2e-3, "newton": "modified"}),
        ("hht", {"h": 2e-3}),
        ("hht", {"h": 2e-3, "modified": True}),
        ("mpl", {"h": 2e-3}),
        ("eml", {"h": 2e-3}),
        ("reml", {"h": 2e-3}),
        ("null_eml", {"h": 2e-3}),
        ("emh", {"h": 2e-3, "equivariant": True}),
    ],
    ids=str,
)
def test_every_method_passes_it(method, options):
    """All of these keep the constraints of position, and so the relation between the angles."""
    run = lgint.integrate(bennett("euler_parameters"), method, t_end=2.0, **options)
    assert run.t[-1] == 2.0
    assert np.abs(closure(run)).max() < 1e-10
    assert len(changes(run)) > 0


def test_energy_is_kept_through_a_change_of_rows():
    run = lgint.integrate(bennett("euler_parameters"), "eml", t_end=2.0, h=2e-3)
    energy = run.energy("generalized")
    assert len(changes(run)) > 0 and np.ptp(energy) < 1e-11 * np.abs(energy).max()


# ---- the multipliers ----


@pytest.mark.parametrize("redundant", ["drop", "minimum_norm"])
def test_every_row_has_its_multiplier_all_the_time(redundant):
    model = bennett(redundant=redundant)
    run = lgint.integrate(model, "dopri5", t_end=2.0, rtol=1e-9)
    assert run.lam.shape[1] == len(model.row_names) == model.nc == 20
    assert model.row_names == model.complete.row_names
    assert np.all(activity(run).sum(axis=1) == 17)
    assert [name for name, active in zip(model.row_names, activity(run)[0], strict=True) if not active] == (
        model.dropped_rows
    )


def test_reactions_of_least_norm_go_on_through_a_change_of_rows():
    """They are those of the pseudo-inverse and do not jump when the rows change, unlike the multipliers in use."""
    model = bennett(redundant="minimum_norm")
    run = lgint.integrate(model, "rk44", t_end=2.0, h=1e-3, project="both")
    (i, *_) = changes(run)
    least, used = run.all_multipliers(), run.lam
    for k in (i - 1, i, -1):
        B = model.complete.core.evaluate(0.0, run.q[k], run.v[k], want=["B"])["B"]
        expected = np.linalg.pinv(B.T, rcond=1e-8) @ (B.T @ used[k])
        assert np.allclose(least[k], expected, rtol=0, atol=1e-8 * np.abs(expected).max())
    jump, usual = np.abs(least[i] - least[i - 1]).max(), np.abs(least[i - 1] - least[i - 2]).max()
    assert jump < 2 * usual
    assert np.abs(used[i] - used[i - 1]).max() > 100 * usual


@pytest.mark.parametrize("linkage", LINKAGES)
@pytest.mark.parametrize(("method", "options"), [("dopri5", {"rtol": 1e-9}), ("rk44", {"h": 2e-3})])
def test_the_choice_is_good_wherever_the_linkage_is(linkage, method, options):
    """The least singular value of the active rows does not fall far below that of all rows."""
    model = LINKAGES[linkage]()
    run = lgint.integrate(model, method, t_end=3.0, **options)
    for q, v, active in zip(run.q, run.v, activity(run), strict=True):
        B = model.complete.core.evaluate(0.0, q, v, want=["B"])["B"]
        whole = np.linalg.svd(B, compute_uv=False)[active.sum() - 1]
        assert np.linalg.svd(B[active], compute_uv=False)[-1] > 0.01 * whole


# ---- fixed steps without projection ----


@functools.cache
def reference(linkage, t_end):
    return lgint.integrate(LINKAGES[linkage](), "rk67", t_end=t_end, h=5e-4, project="both")


@pytest.mark.parametrize("linkage", LINKAGES)
@pytest.mark.parametrize(
    ("method", "order", "h"), [("midpoint", 2, 1e-3), ("rk44", 4, 2e-3), ("herk2", 2, 1e-3), ("herk4", 4, 4e-3)]
)
def test_steps_without_projection_keep_their_order_on_both_sides_of_changes(linkage, method, order, h):
    """The drift from rows that were implied by others is not multiplied when these rows become active."""
    exact = reference(linkage, 3.0)
    runs = [lgint.integrate(LINKAGES[linkage](), method, t_end=3.0, h=h / n) for n in (1, 2, 4)]
    first, last = (runs[-1].t[changes(runs[-1])[i]] for i in (0, -1))
    assert len(changes(runs[-1])) > 1 and last < 2.98
    for t in (0.02 * np.floor(first / 0.02), 3.0):  # a time that all of them have
        q = exact.q[np.argmin(np.abs(exact.t - t))]
        errors = [np.abs(run.q[np.argmin(np.abs(run.t - t))] - q).max() for run in runs]
        assert np.log2(errors[1] / errors[2]) == pytest.approx(order, abs=0.5)


@pytest.mark.parametrize("linkage", LINKAGES)
def test_long_runs_without_projection_stay_on_the_rows(linkage):
    """After many changes the error is still that of the method."""
    run = lgint.integrate(LINKAGES[linkage](), "rk44", t_end=10.0, h=1e-3)
    other = lgint.integrate(LINKAGES[linkage](), "herk4", t_end=10.0, h=1e-3, project="both")
    assert len(changes(run)) > 3
    assert np.abs(run.q[-1] - other.q[-1]).max() < 1e-7 and np.ptp(run.energy()) < 1e-6


# ---- memory ----


@pytest.mark.measures
@pytest.mark.usefixtures("no_collection")
@pytest.mark.parametrize("method", ["rk44", "herk5", "genalpha", "eml"])
def test_a_change_of_rows_takes_no_memory(method):
    """A run has all the memory that it needs before its first step."""
    model, taken = bennett("euler_parameters"), np.zeros(1000)
    stepper = _core.Stepper(model.core, method, 0.0, model.q0, model.v0, None, {})
    active = stepper.lam != 0
    for i in range(len(taken)):
        stepper.step(2e-3)
        taken[i] = allocated()
    assert np.any((stepper.lam != 0) != active)
    assert np.ptp(taken[10:]) == 0  # the first calls take memory of Python


# ---- starts and restarts ----


@pytest.mark.parametrize(
    ("method", "options"), [("genalpha", {"newton": "full"}), ("genalpha", {"newton": "modified"}), ("rk44", {})]
)
def test_a_resumed_run_chooses_the_same_rows(method, options):
    """If it is interrupted shortly before or shortly after the change, it continues bit for bit."""
    model = bennett()
    whole = lgint.integrate(model, method, t_end=1.8, h=2e-3, **options)
    (i, *_) = changes(whole)
    for k in (i - 1, i, i + 1):
        first = lgint.integrate(model, method, t_end=whole.t[k], h=2e-3, **options)
        rest = lgint.integrate(model, method, t_end=1.8, h=2e-3, start=first, **options)
        assert np.array_equal(rest.q[-1], whole.q[-1]) and np.array_equal(rest.lam[-1], whole.lam[-1])


def test_a_start_where_the_first_rows_are_singular():
    """The state of a run just where the rows that were chosen at build are dependent."""
    model = bennett()
    run = lgint.integrate(model, "dopri5", t_end=2.0, rtol=1e-9, dense_output=True)
    built = np.array([name not in model.dropped_rows for name in model.row_names])
    times = np.linspace(1.70, 1.73, 2001)
    q, v = run.sol(times)[:2]
    B = [model.complete.core.evaluate(0.0, *state, want=["B"])["B"] for state in zip(q, v, strict=True)]
    worst = int(np.argmin([np.linalg.svd(each[built], compute_uv=False)[-1] for each in B]))
    start = model.with_state(q[worst], v[worst], project=True)
    later = lgint.integrate(start, "herk5", t_end=2.0 - times[worst], rtol=1e-9)
    assert np.all(activity(later)[0].sum() == 17) and not np.array_equal(activity(later)[0], built)
    assert np.allclose(later.q[-1], run.q[-1], rtol=0, atol=1e-7)


def test_runs_of_one_model_do_not_share_their_choice():
    model = bennett()
    before = lgint.integrate(model, "genalpha", t_end=0.1, h=2e-3)
    lgint.integrate(model, "genalpha", t_end=2.0, h=2e-3)
    after = lgint.integrate(model, "genalpha", t_end=0.1, h=2e-3)
    assert np.array_equal(before.lam, after.lam)
