"""Invariants of the exact motion, and agreement between several descriptions of one motion."""

import numpy as np
import pytest

import lgint
from battery import slow_top
from kinds import ANGLES, BODIES, FORMULATIONS

GROUPS = [("R3xSO3", "R3xS3", "R3xRV"), ("SE3", "S3R3")]
METHODS = [
    ("rk44", {}),
    ("dopri5", {}),
    ("dop853", {}),
    ("genalpha", dict(sigma=0.0)),
    ("genalpha", dict(sigma="optimal")),
]


@pytest.mark.parametrize("constrained", [False, True])
@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_energy_and_vertical_momentum(formulation, constrained):
    top = slow_top(formulation, constrained)
    run = lgint.integrate(top, "rk67", t_end=1.0, h=2e-4 if formulation in ANGLES else 1e-3)
    energy, momentum = run.energy(), run.angular_momentum()[:, 2]
    assert np.ptp(energy) < 1e-10 * np.abs(energy).max()
    assert np.ptp(momentum) < 1e-10 * np.linalg.norm(run.angular_momentum()[0])


@pytest.mark.parametrize("frame", ["inertial", "body"])
@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_constrained_and_free_top_agree(formulation, frame):
    runs = [
        lgint.integrate(top, "rk67", t_end=0.5, h=5e-4)
        for top in (slow_top(formulation, True, constraint_frame=frame), slow_top(formulation, False))
    ]
    assert np.abs(runs[0].position("top") - runs[1].position("top")).max() < 1e-11
    assert np.abs(runs[0].angular_velocity("top") - runs[1].angular_velocity("top")).max() < 1e-10


@pytest.mark.parametrize("method, options", METHODS)
@pytest.mark.parametrize("kinds", GROUPS)
def test_storages_agree_step_by_step_through_full_turns(kinds, method, options):
    """A formulation gives the same numbers in every storage, up to round-off, over several turns of a fast top."""
    tops = [lgint.models.heavy_top(formulation=kind) for kind in kinds]
    names = {row["name"] for row in lgint.method_info(method)["options"]}
    if "newton" in names:  # the same tolerance leaves the same round-off only with the same matrices
        options = {"newton": "full", **options}
    runs = [lgint.integrate(top, method, t_end=0.2, h=1e-3, **options) for top in tops]
    assert runs[0].angular_velocity("top")[:, 1].min() > 100  # about five turns
    for other in runs[1:]:
        assert np.abs(other.rotation("top") - runs[0].rotation("top")).max() < 2e-11
        assert np.abs(other.position("top") - runs[0].position("top")).max() < 2e-11
        scale = np.abs(runs[0].v).max()
        assert np.abs(other.v - runs[0].v).max() < 2e-11 * scale


def test_index_3_holds_positions_at_round_off():
    for formulation in FORMULATIONS:
        h = 1e-4 if formulation in ANGLES else 1e-3
        top = lgint.models.heavy_top(formulation=formulation)
        run = lgint.integrate(top, "genalpha", t_end=0.2, h=h, newton_rtol=1e-11)
        bound = 1e-11 if formulation in ANGLES else 5e-14  # Newton's tolerance is relative to the angles
        assert np.abs(run.constraint_residual("position")).max() < bound


@pytest.mark.parametrize("h", [1e-3, 5e-4, 2.5e-4, 1e-4])
@pytest.mark.parametrize("sigma", [0.0, 1.0, "optimal"])
def test_full_newton_takes_two_iterations(h, sigma):
    """Section 7.1 of holzinger2025: with the full Jacobian a step takes two iterations."""
    options = dict(sigma=sigma, rho_inf=0.9, predictor="plain", newton="full")
    run = lgint.integrate(lgint.models.heavy_top(), "genalpha", t_end=0.2, h=h, **options)
    assert run.stats.newton_iterations / run.stats.steps == pytest.approx(2.0, abs=0.02)


def test_same_bits_twice():
    for method, formulation in BODIES.items():
        top = lgint.models.heavy_top(formulation=formulation)
        runs = [lgint.integrate(top, method, t_end=0.01, h=1e-4) for _ in range(2)]
        assert runs[0].q.tobytes() == runs[1].q.tobytes()
        assert runs[0].lam.tobytes() == runs[1].lam.tobytes()


def test_blow_up_is_a_named_error_with_the_trajectory():
    top = lgint.models.heavy_top()
    with pytest.raises(lgint.IntegrationError) as caught:
        lgint.integrate(top, "genalpha", t_end=10.0, h=0.2)
    so_far = caught.value.trajectory
    assert len(so_far.t) >= 1
    for values in (so_far.q, so_far.v, so_far.vdot, so_far.lam):
        assert np.isfinite(values).all()
    assert caught.value.report["h"] == pytest.approx(0.2)


def test_resumed_run_has_the_same_bits():
    for method, formulation in BODIES.items():
        top = lgint.models.heavy_top(formulation=formulation)
        whole = lgint.integrate(top, method, t_end=0.02, h=1e-4)
        first = lgint.integrate(top, method, t_end=0.02, h=1e-4, stops=[0.01])
        half = lgint.integrate(top, method, t_end=0.01, h=1e-4)
        rest = lgint.integrate(top, method, t_end=0.02, h=1e-4, start=half)
        assert rest.q[-1].tobytes() == first.q[-1].tobytes()
        assert rest.v[-1].tobytes() == first.v[-1].tobytes()
        assert np.abs(whole.q[-1] - rest.q[-1]).max() < 1e-11


@pytest.mark.parametrize("formulation", ["R3xSO3", "SE3"])
def test_rotations_stay_rotations(formulation):
    """In a steady rotation equal rounding errors in 1e5 steps would add up to 4e-12 if they were not removed."""
    builder = lgint.ModelBuilder(formulation=formulation)
    builder.add_body("body", mass=1.0, inertia=(1.0, 1.0, 1.0), angular_velocity=(1.0, 2.0, 3.0))
    run = lgint.integrate(builder.build(), "euler", t_end=1e3, h=0.01, save_every=1000)
    R = run.rotation("body")
    assert np.abs(np.swapaxes(R, 1, 2) @ R - np.eye(3)).max() < 8 * np.finfo(float).eps
