"""Edges of rods whose sections turn by more than half a turn against each other."""

import numpy as np
import pytest

import lgint
from kinds import EXPLICIT_ONLY, FORMULATIONS, METHODS, MOMENTUM
from lgint._model.record import EDGES

STIFFNESS = 10.0  # N m^2, in bending and torsion
TORSION = 5  # component of a strain
SPIN, TWIST = 5.0, 3.1  # rad/s, rad
RATE = np.sqrt(STIFFNESS / 0.01)  # rad/s, of a node on one edge, whose moment of inertia about d3 is 0.01 kg m^2
METHODS_OF_RODS = {**dict.fromkeys(METHODS, "S3R3"), **dict.fromkeys(MOMENTUM, "euler_parameters")}


def one_edge(*, twist=0.0, torque=(0, 0, 0), reference=None, stiffness=STIFFNESS, **how):
    """An edge of 1 m along z, clamped at its first end; its sections are turned by `twist` at the start."""
    builder = lgint.ModelBuilder()
    rod = builder.add_rod(
        "rod",
        start=(0, 0, 0),
        end=(0, 0, 1),
        edges=1,
        rotations=[np.eye(3), lgint.groups.so3.exp((0, 0, twist))],
        stiffness=(1e3, 1e3, 1e3, stiffness, stiffness, stiffness),
        inertia=(1.0, 0.01, 0.01, 0.02),
        clamped=[0],
        reference_strain=None if reference is None else (0, 0, 1, 0, 0, reference),
        **how,
    )
    builder.add_force(rod.nodes[-1], torque=torque, frame="body")
    return builder.build()


def spinning(**how):
    """It swings between 2.94 and 3.26 rad, about its twist without stress."""
    return one_edge(**{"twist": TWIST, "reference": TWIST, "angular_velocity": (0, 0, SPIN), **how})


def swing(t):
    return TWIST + SPIN / RATE * np.sin(RATE * t)


def wound(turns, **how):
    """A moment that winds the edge up by this part of a turn, about d3 or, with `axis`, about another director."""
    torque = np.zeros(3)
    torque[how.pop("axis", 2)] = 2 * np.pi * turns * STIFFNESS
    return one_edge(torque=torque, **how)


# ---- motion ----


@pytest.mark.parametrize("method", METHODS_OF_RODS)
def test_energy_and_motion_across_half_a_turn(method):
    """Both errors fall with the order of the method, from what they are without the half turn."""
    order = lgint.method_info(method)["order"]
    drift, error = [], []
    for steps in (40, 80):
        model = spinning(formulation=METHODS_OF_RODS[method])
        run = lgint.integrate(model, method, t_end=0.2, h=0.2 / steps)
        twist = run.strain("rod")[:, 0, TORSION]
        assert run.t[-1] == pytest.approx(0.2) and twist.max() > 3.2
        drift.append(np.ptp(run.energy("generalized" if "p" in run.extra else "total")))
        error.append(np.abs(twist - swing(run.t)).max())
    assert drift[0] < 0.06 if order > 1 else drift[0] < 0.3
    assert drift[1] < drift[0] * 2.0 ** (0.5 - order) + 1e-13
    assert error[1] < error[0] * 2.0 ** (0.5 - order) + 1e-13


@pytest.mark.parametrize("mask", EDGES)
@pytest.mark.parametrize("formulation", [*FORMULATIONS, *EXPLICIT_ONLY])
def test_every_formulation_swings_across_half_a_turn(formulation, mask):
    run = lgint.integrate(spinning(formulation=formulation, constraints=mask), "rk44", t_end=0.2, h=2e-3)
    np.testing.assert_allclose(run.strain("rod")[:, 0, TORSION], swing(run.t), rtol=0, atol=1e-6)
    np.testing.assert_allclose(run.stress("rod")[:, 0, TORSION], STIFFNESS * (swing(run.t) - TWIST), atol=1e-5)
    np.testing.assert_allclose(run.reaction("rod.node0")[:, 5], -STIFFNESS * (swing(run.t) - TWIST), atol=1e-5)
    assert np.ptp(run.energy()) < 1e-6


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_damped_motion_ends_where_the_moment_holds_the_edge(formulation):
    model = wound(0.6, formulation=formulation, damping=(10, 10, 10, 0.5, 0.5, 0.5))
    run = lgint.integrate(model, "genalpha", t_end=3.0, h=2e-3, save_every=1500)
    assert run.strain("rod")[-1, 0, TORSION] == pytest.approx(1.2 * np.pi, rel=1e-10)


@pytest.mark.parametrize("formulation", EXPLICIT_ONLY)
def test_damped_motion_by_explicit_steps(formulation):
    model = wound(0.6, formulation=formulation, damping=(10, 10, 10, 0.5, 0.5, 0.5))
    run = lgint.integrate(model, "rk44", t_end=3.0, h=2e-3, save_every=1500)
    assert run.strain("rod")[-1, 0, TORSION] == pytest.approx(1.2 * np.pi, rel=1e-10)


def test_long_steps_across_half_a_turn():
    """Steps that turn a soft edge by more than a quarter turn are rejected if they adapt."""
    soft = 1e-3
    model = one_edge(stiffness=soft, angular_velocity=(0, 0, 1.6))
    run = lgint.integrate(model, "dopri5", t_end=5.0, rtol=1e-9, first_step=3.8)
    rate = np.sqrt(soft / 0.01)
    exact = 1.6 / rate * np.sin(rate * run.t)
    assert exact.max() > 5.0 and run.stats.failed > 0
    np.testing.assert_allclose(run.strain("rod")[:, 0, TORSION], exact, rtol=0, atol=1e-7)


def test_states_inside_steps_files_and_resumed_runs_know_the_turn(tmp_path):
    model = spinning()
    run = lgint.integrate(model, "genalpha", t_end=0.2, h=2e-3, dense_output=True)
    inside = run.at(np.linspace(0.001, 0.199, 150))
    np.testing.assert_allclose(inside.energy(), 0.125, rtol=2e-3)
    np.testing.assert_allclose(inside.strain("rod")[:, 0, TORSION], swing(inside.t), rtol=0, atol=1e-3)

    run.save(tmp_path / "run.npz")
    np.testing.assert_array_equal(lgint.load(tmp_path / "run.npz").energy(), run.energy())

    half = lgint.integrate(model, "genalpha", t_end=0.05, h=2e-3)  # beyond half a turn there
    assert half.strain("rod")[-1, 0, TORSION] > np.pi
    rest = lgint.integrate(model, "genalpha", t_end=0.2, h=2e-3, start=half)
    np.testing.assert_array_equal(rest.q[-1], run.q[-1])
    np.testing.assert_array_equal(rest.mem[-1], run.mem[-1])

    stepper = lgint.Stepper(model, "genalpha")
    for _ in range(100):
        stepper.step(2e-3)
    np.testing.assert_array_equal(stepper.q, run.q[-1])


@pytest.mark.parametrize("axis", [0, 1])
def test_projected_states_stay_on_their_branch(axis):
    """The rows of a bent edge depend on the branch of its turn: those of a start, and those where an event is."""
    model = wound(0.6, axis=axis, constraints="inextensible")
    rest = lgint.equilibrium(model)
    for state in (model.with_state(rest, project=True), model.with_state(rest).with_state(project=True)):
        np.testing.assert_allclose(state.q0, rest.q[-1], rtol=0, atol=1e-12)

    still = model.with_state(rest)
    run = lgint.integrate(still, "rk44", t_end=0.02, h=1e-3, events=lambda t, q, v: t - 0.0105)
    np.testing.assert_allclose(run.q_events[0], rest.q[-1:], rtol=0, atol=1e-12)
    a, lam = still.core.initial(0.0, still.q0, still.v0, still.mem0)
    np.testing.assert_allclose(a, 0, atol=1e-6)
    np.testing.assert_allclose(lam, rest.lam[-1], atol=1e-8)


# ---- statics ----


@pytest.mark.parametrize("mask", EDGES)
@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_equilibrium_under_a_moment_of_more_than_half_a_turn(formulation, mask):
    for axis in (0, 2):
        for turns in (0.6, 0.9):
            rest = lgint.equilibrium(wound(turns, axis=axis, formulation=formulation, constraints=mask))
            strain = rest.strain("rod")[-1, 0]
            assert strain[3 + axis] == pytest.approx(2 * np.pi * turns, rel=1e-10)
            assert rest.energy("potential")[-1] == pytest.approx(STIFFNESS * (2 * np.pi * turns) ** 2 / 2, rel=1e-9)


@pytest.mark.parametrize("turns", [0.93, 1.3])
def test_no_equilibrium_close_to_a_full_turn(turns):
    """The edge is named; smaller steps of the loads would not help."""
    with pytest.raises(lgint.IntegrationError, match="sections of rod.edge0 have turned by more than 330") as caught:
        lgint.equilibrium(wound(turns))
    assert "more edges" in str(caught.value) and "loads" not in str(caught.value)


# ---- limits ----


@pytest.mark.parametrize(("method", "how"), [("rk44", {}), ("newmark", {}), ("dopri5", {"rtol": 1e-8}), ("emh", {})])
@pytest.mark.parametrize("spin", [5.0, 100.0, np.radians(8200)])  # the last from 328 to 410 degrees in one step
def test_the_run_ends_close_to_a_full_turn(method, how, spin):
    model = one_edge(stiffness=1e-9, angular_velocity=(0, 0, spin), formulation=METHODS_OF_RODS[method])
    with pytest.raises(lgint.IntegrationError, match="sections of rod.edge0 have turned by more than 330") as caught:
        lgint.integrate(model, method, t_end=2.0, h=1e-2, **how)
    run = caught.value.trajectory
    twist, limit = run.strain("rod")[:, 0, TORSION], np.radians(330)
    assert np.all(np.diff(twist) > 0)
    assert limit - spin * 1e-2 < twist[-1] < limit + 1e-12
    if how:  # adaptive steps find the limit itself
        assert twist[-1] == pytest.approx(limit, abs=1e-9)


@pytest.mark.parametrize("turns", [0.3, 0.9, 1.0, 2.0, 3.1])
def test_fixed_steps_that_turn_an_edge_too_far(turns):
    """A whole number of turns in a step leaves the pose as it was; the rates tell."""
    model = one_edge(stiffness=1e-9, angular_velocity=(0, 0, 200 * np.pi * turns))
    with pytest.raises(lgint.IntegrationError, match="in one step the sections of rod.edge0 turn by") as caught:
        lgint.integrate(model, "rk44", t_end=0.1, h=1e-2)
    assert "smaller steps" in str(caught.value) and caught.value.trajectory.t[-1] == 0
    stepper = lgint.Stepper(model, "rk44")
    with pytest.raises(lgint.IntegrationError):
        stepper.step(1e-2)
    assert stepper.t == 0 and np.array_equal(stepper.q, model.q0)


# ---- starts ----


@pytest.mark.parametrize(
    ("twist", "reference", "strain"),
    [
        (3.1, 0.0, 3.1),
        (3.2, 0.0, 3.2 - 2 * np.pi),
        (3.2, 1e-3, 3.2 - 2 * np.pi),
        (3.2, 0.1, 3.2),
        (-2.8, TWIST, 2 * np.pi - 2.8),
        (5.7, 5.0, 5.7),
        (-5.7, -5.0, -5.7),
        (0.0, 4.0, 0.0),  # the full turn itself is out of the question
        (np.pi, 1e-8, np.pi),
        (np.pi, -1e-8, -np.pi),
    ],
)
def test_starts_on_the_branch_nearest_to_the_reference(twist, reference, strain):
    run = lgint.integrate(one_edge(twist=twist, reference=reference), "rk44", t_end=1e-5, h=1e-5)
    assert run.strain("rod")[0, 0, TORSION] == pytest.approx(strain, abs=1e-13)
    assert run.energy()[0] == pytest.approx(STIFFNESS * (strain - reference) ** 2 / 2, rel=1e-12)


@pytest.mark.parametrize("nearby", [0.0, 4e-10, -4e-10])
def test_a_start_between_both_branches_is_refused(nearby):
    with pytest.raises(ValueError, match="rod.edge0 starts half a turn from its reference strain, in either direction"):
        one_edge(twist=np.pi + nearby, reference=0.0)
    with pytest.raises(ValueError, match="of 'rod': a strain expected, since the sections 0 and 1 are half a turn"):
        one_edge(twist=np.pi + nearby)
    model = one_edge(twist=np.pi - 1e-3, reference=0.0)
    q, v = one_edge(twist=np.pi + nearby, reference=1.0).q0, model.v0
    with pytest.raises(ValueError, match="rod.edge0 starts half a turn"):
        lgint.integrate(model.with_state(q, v), "rk44", t_end=0.1, h=1e-3)
    with pytest.raises(ValueError, match="rod.edge0 starts half a turn"):
        lgint.equilibrium(model.with_state(q, v))
