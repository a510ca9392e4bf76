"""Whole mechanisms in every formulation, against reduced models that share no code with the library."""

import numpy as np
import pytest

import lgint
from kinds import FORMULATIONS, FREE, LIE
from models import mechanisms

pytestmark = pytest.mark.filterwarnings("ignore:inertia of:UserWarning")  # the Puma's published inertias


def crank_state(run):
    rate = run.angular_velocity("crank")[-1, 0]
    return np.array([run.joint_angle("A")[-1], rate, run.position("slider")[-1, 0], run.velocity("slider")[-1, 0]])


def v8_state(run):
    return np.array([run.joint_angle("crankshaft_bearing")[-1], run.angular_velocity("crankshaft")[-1, 0]])


def puma_state(run):
    return run.joint_angles()[-1]


V8 = dict(torque=22.0, duration=0.5)
MECHANISMS = {
    # model, keywords, t_end, compared quantities, reference, error of rk67 at h = 5e-4, error of genalpha at h = 1e-3
    "slider_crank": ("slider_crank", {}, 1.0, crank_state, lambda: mechanisms.slider_crank(1.0), 1e-9, 1e-2),
    "pivot": (
        "slider_crank",
        dict(crank_com="pivot"),
        0.5,
        crank_state,
        lambda: mechanisms.slider_crank(0.5, "pivot"),
        1e-9,
        1e-2,
    ),
    "v8": ("crank_drive_v8", V8, 0.5, v8_state, lambda: mechanisms.crank_drive_v8(0.5, **V8), 1e-8, 1e-3),
    "puma": ("puma560", {}, 0.6, puma_state, lambda: mechanisms.puma560(0.6)[0], 1e-8, 1e-5),
}


@pytest.fixture(params=MECHANISMS)
def mechanism(request):
    return MECHANISMS[request.param]


@pytest.mark.parametrize("formulation", FREE)
def test_explicit_runs_meet_the_reduced_model(mechanism, formulation):
    name, keywords, t_end, state, reference, bound, _ = mechanism
    model = lgint.models.get(name)(formulation=formulation, **keywords)
    run = lgint.integrate(model, "rk67", t_end=t_end, h=5e-4, save_every=10_000)
    assert np.abs(state(run) - reference()).max() < bound
    assert run.stats.dense_fallbacks == 0


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_generalized_alpha_meets_the_reduced_model(mechanism, formulation):
    """The error is of second order in the step, and positions satisfy their constraints to round-off."""
    name, keywords, t_end, state, reference, _, bound = mechanism
    model = lgint.models.get(name)(formulation=formulation, **keywords)
    errors = []
    for h in (1e-3, 5e-4):
        run = lgint.integrate(model, "genalpha", t_end=t_end, h=h, rho_inf=0.8, save_every=50)
        errors.append(np.abs(state(run) - reference()).max())
        assert np.abs(run.constraint_residual("position")).max() < 1e-12
        assert run.stats.dense_fallbacks == 0
        assert run.stats.newton_iterations <= 3 * run.stats.steps
    assert errors[0] < bound
    assert 3.4 < errors[0] / errors[1] < 4.6


# ---- slider-crank ----


def test_slider_crank_starts_as_printed():
    """The velocity and the inertial angular velocity of the rod are those of Table 8 of holzinger2024."""
    run = lgint.integrate(lgint.models.slider_crank(), "rk44", t_end=1e-3, h=1e-3)
    assert np.allclose(run.velocity("rod")[0], [0.12, -0.24, 0.0], atol=1e-15)
    assert np.allclose(run.rotation("rod")[0] @ run.angular_velocity("rod")[0], [1.92, -0.96, 0.48], atol=1e-15)
    assert np.allclose(run.velocity("slider")[0], [0.24, 0.0, 0.0], atol=1e-15)
    assert (run.model.nv, run.model.nc) == (18, 17)


def test_slider_crank_meets_the_deviation_of_the_papers():
    """At 5 s it is 8.6e-3 m from the benchmark's value 0.2493498, unless the crank has its COM at the pivot."""
    deviations = {}
    for com in ("middle", "pivot"):
        run = lgint.integrate(lgint.models.slider_crank(crank_com=com), "rk67", t_end=5.0, h=1e-3, save_every=5000)
        deviations[com] = abs(run.position("slider")[-1, 0] - 0.2493498)
    assert deviations["middle"] == pytest.approx(8.6e-3, abs=5e-5)
    assert abs(deviations["pivot"] - 8.6e-3) > 3e-3


# ---- V8 ----


def test_v8_has_the_papers_size_and_full_rank_over_a_turn():
    model = lgint.models.crank_drive_v8(torque=0.0, omega0=10.0)
    assert (model.nq, model.nv, model.nc) == (119, 119, 118)
    run = lgint.integrate(model, "rk44", t_end=0.66, h=1e-3, save_every=20)
    assert run.joint_angle("crankshaft_bearing")[-1] > 2 * np.pi
    for q, v in zip(run.q, run.v, strict=True):
        singular = np.linalg.svd(model.core.evaluate(0.0, q, v, want=["B"])["B"], compute_uv=False)
        assert len(singular) == 118 and singular[-1] > 1e-3 * singular[0]
    assert run.stats.dense_fallbacks == 0


def test_v8_starts_consistently_at_speed():
    run = lgint.integrate(lgint.models.crank_drive_v8(torque=0.0, omega0=30.0), "rk67", t_end=0.1, h=2e-4)
    energy = run.energy()
    assert np.abs(run.constraint_residual("velocity")[0]).max() < 1e-13
    assert np.ptp(energy) < 1e-10 * energy[0]


# ---- Puma ----


def test_puma_warns_of_its_inertias():
    with pytest.warns(UserWarning, match="link1"):
        lgint.models.puma560()


def test_puma_counts_angles_from_its_start():
    begin, goal = np.deg2rad((0, 22.5, 90, 10, 22.5, -200)), np.deg2rad((1, 20, 90, 10, 20, -190))
    model = lgint.models.puma560(initial_angles=begin, goal_angles=goal)
    run = lgint.integrate(model, "genalpha", t_end=1e-2, h=1e-3)
    assert np.allclose(np.rad2deg(run.joint_angles()[0]), [0, 22.5, 90, 10, 22.5, -200], atol=1e-9)
    held = lgint.models.puma560(initial_angles=(0.1,) * 6, goal_angles=(0.1,) * 6, gravity=(0, 0, 0))
    still = lgint.integrate(held, "genalpha", t_end=0.1, h=1e-2)
    assert np.abs(still.joint_angles() - 0.1).max() < 1e-13


# ---- rotor ----


@pytest.mark.parametrize("formulation", LIE)
def test_rotor_is_stable_at_large_steps(formulation):
    """As in holzinger2024 4.2, it turns by one radian per step; direct products follow the slow motion as well."""
    run = lgint.integrate(lgint.models.rotor(formulation=formulation), "genalpha", t_end=0.2, h=5e-5, rho_inf=0.9)
    fine = lgint.integrate(lgint.models.rotor(), "rk44", t_end=0.2, h=2e-6, save_every=50_000)
    size = np.linalg.norm(fine.position("rotor")[-1])
    assert np.linalg.norm(run.position("rotor"), axis=1).max() < 3 * size
    assert np.abs(run.angular_velocity("rotor")[:, 0] - 20944).max() < 0.1
    if formulation.startswith("R3x"):
        assert np.linalg.norm(run.position("rotor")[-1] - fine.position("rotor")[-1]) < 0.1 * size


def test_rotor_nutation():
    """It is at 39750 rad/s in inertial axes, the rate in the body plus the spin, and decays with 128/s."""
    model = lgint.models.rotor(omega0=(20944.0, 1.0, 0.0), torque_sign=0.0)
    run = lgint.integrate(model, "rk44", t_end=0.01, h=1e-6)
    omega = run.angular_velocity("rotor")
    signal = omega[:, 1] + 1j * omega[:, 2]
    decay = np.polyfit(run.t, np.log(np.abs(signal)), 1)[0]
    rate = np.polyfit(run.t, np.unwrap(np.angle(signal)), 1)[0]
    assert -decay == pytest.approx(128, abs=1)
    assert rate + 20944 == pytest.approx(39750, rel=1e-4)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_rotor_precession(sign):
    """The axis moves on circles about its equilibrium with a period of 2.535 s, by a fit of p' = a + b p to the run."""
    run = lgint.integrate(lgint.models.rotor(torque_sign=sign), "rk44", t_end=0.6, h=2e-6, save_every=1000)
    R = run.rotation("rotor")
    p = R[:, 1, 0] + 1j * R[:, 2, 0]
    rows = np.stack([np.ones_like(p), p], axis=1)[5:-5]
    b = np.linalg.lstsq(rows, np.gradient(p, run.t)[5:-5], rcond=None)[0][1]
    assert 2 * np.pi / abs(b.imag) == pytest.approx(2.535, abs=2e-3)
    turned = -1.0 if sign > 0 else 1.0
    assert turned * p.imag[1] > 0 or turned * p.real[1] < 0


def test_rotor_mass_option():
    model = lgint.models.rotor(consistent_mass=True)
    assert model.bodies["rotor"]["mass"] == 1.233075
    torque = model.core.evaluate(0.0, model.q0, model.v0, want=["force"])["force"][5]
    assert torque == pytest.approx(-0.01 * 1.233075 * 9.81, rel=1e-12)
    printed = lgint.models.rotor()
    assert printed.core.evaluate(0.0, printed.q0, printed.v0, want=["force"])["force"][5] == pytest.approx(-0.1199763)


# ---- one body ----


def test_lie_term_spins_up_linearly():
    run = lgint.integrate(lgint.models.lie_term(), "rk44", t_end=1.0, h=0.05)
    expected = np.array([1.0, 2.0, -0.5]) + run.t[:, None] * [0.3, -0.5, 0.8]
    assert np.allclose(run.angular_velocity("body"), expected, atol=1e-13)


@pytest.mark.parametrize("formulation", FREE)
def test_single_axis(formulation):
    """By (22) and (23) of sherif2019, e'' follows from omega' = M/I, and the multiplier of the unit length vanishes."""
    model = lgint.models.single_axis(formulation=formulation, inertia=2.0, moment=3.0, omega0=10.0)
    run = lgint.integrate(model, "rk67", t_end=0.5, h=1e-3)
    assert np.allclose(run.angular_velocity("body")[:, 0], 10 + 1.5 * run.t, atol=1e-9)
    if formulation == "euler_parameters":
        assert np.allclose(run.vdot[0], [-25.0, 0.75, 0.0, 0.0], atol=1e-12)
        assert np.abs(run.lam[0]).max() < 1e-10
