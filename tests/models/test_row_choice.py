"""Active rows of closed loops are chosen again where those in use become dependent as the mechanism moves."""

import numpy as np
import pytest

import lgint
from kinds import FORMULATIONS
from models.overconstrained import bennett, closure

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
    """They are those of the pseudo-inverse, and do not jump where the rows change; the multipliers in use do."""
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


def test_the_choice_is_good_wherever_the_linkage_is():
    """The least singular value of the active rows does not fall far below that of all rows."""
    model = bennett()
    run = lgint.integrate(model, "dopri5", t_end=2.0, rtol=1e-9)
    for q, v, active in zip(run.q, run.v, activity(run), strict=True):
        B = model.complete.core.evaluate(0.0, q, v, want=["B"])["B"]
        whole = np.linalg.svd(B, compute_uv=False)[16]
        assert np.linalg.svd(B[active], compute_uv=False)[-1] > 0.01 * whole


# ---- starts and restarts ----


@pytest.mark.parametrize(
    ("method", "options"), [("genalpha", {"newton": "full"}), ("genalpha", {"newton": "modified"}), ("rk44", {})]
)
def test_a_resumed_run_chooses_the_same_rows(method, options):
    """Interrupted shortly before and shortly after the change, it goes on bit for bit."""
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
