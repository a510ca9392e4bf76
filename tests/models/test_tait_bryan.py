"""Tait-Bryan angles: reference rotations, and what happens at their singularity."""

import numpy as np
import pytest

import lgint
from face import systems


def spinning(formulation, reference=None, rotation=None, omega=(0.0, 1.0, 0.0), **keywords):
    builder = lgint.ModelBuilder(formulation=formulation)
    builder.add_body(
        "body",
        mass=2.0,
        inertia=(0.3, 0.5, 0.4),
        rotation=rotation,
        angular_velocity=omega,
        reference=reference,
        **keywords,
    )
    return builder


@pytest.mark.parametrize("pivot", [None, (0.1, 0.2, 0.3)])
def test_a_reference_rotation_changes_the_angles_and_nothing_else(pivot):
    R, reference = systems.turn(1.1, (1, 2, 3)), systems.turn(0.7, (3, -1, 1))
    times = np.array([0.0, 1.0])
    loads = [np.array([0.1, 0.2, -0.3]), (times, np.array([[0.1, 0, 0], [0, 0.2, 0.4]])), lambda t: (t, 0.2, -t)]
    runs = []
    for formulation, turn in (("tait_bryan", reference), ("tait_bryan", None), ("R3xSO3", None)):
        builder = spinning(formulation, turn, R, (1.0, -2.0, 0.5), pivot=pivot, position=(0.3, 0.1, -0.2))
        for i, load in enumerate(loads):
            builder.add_force("body", force=load, torque=load, point=(0.2, 0.2, 0.2), frame="body", name=f"load{i}")
        builder.add_spring(lgint.ground, "body", stiffness=3.0, point_b=(0.1, 0.3, -0.2))
        runs.append(lgint.integrate(builder.build(), "rk67", t_end=0.5, h=1e-2))
    for run in runs[:2]:
        for accessor in ("position", "velocity", "rotation", "angular_velocity"):
            assert np.allclose(getattr(run, accessor)("body"), getattr(runs[2], accessor)("body"), atol=1e-8)
        assert np.allclose(run.energy(), runs[2].energy(), atol=1e-9)
        assert np.allclose(run.angular_momentum(), runs[2].angular_momentum(), atol=1e-8)
    assert np.abs(runs[0].q - runs[1].q).max() > 0.1


def test_reactions_in_body_axes_do_not_know_the_reference():
    R = systems.turn(0.4, (0, 0, 1))
    wrenches = []
    for reference in (None, systems.turn(0.9, (1, 1, 0))):
        builder = spinning("tait_bryan", reference, R, (0.0, 0.0, 0.0))
        builder.add_joint("rigid", lgint.ground, "body", point=(0.5, 0.0, 0.0), name="clamp")
        builder.add_force("body", force=(1.0, 2.0, 3.0), torque=(0.5, 0.0, 0.0))
        run = lgint.integrate(builder.build(), "genalpha", t_end=0.1, h=0.1)
        wrenches.append([run.reaction("clamp", frame=frame)[-1] for frame in ("inertial", "body")])
    assert np.allclose(wrenches[0], wrenches[1], atol=1e-12)
    assert np.abs(wrenches[0][0]).max() > 1


def test_the_zero_of_the_angles_is_the_reference():
    reference = systems.turn(2.0, (1, 0, 2))
    model = spinning("tait_bryan", reference, reference).build()
    assert np.allclose(model.q0[3:], 0, atol=1e-15)


def test_a_singular_start_is_an_error_that_names_the_body():
    builder = spinning("tait_bryan", rotation=systems.turn(np.pi / 2, (0, 1, 0)))
    with pytest.raises(ValueError, match="'body'.*singular.*reference.*R3xSO3"):
        builder.build()


def test_the_singularity_is_named_when_a_run_meets_it():
    """A body turns about y at 1 rad/s, and a step ends at pi/2 exactly."""
    model = spinning("tait_bryan").build()
    with pytest.raises(lgint.SingularError, match="the angles of body are near their singularity.*R3xSO3") as caught:
        lgint.integrate(model, "rk44", t_end=np.pi, h=np.pi / 8)
    assert len(caught.value.trajectory) == 4
    through = lgint.integrate(model, "rk44", t_end=3.0, h=0.3)  # steps go past pi/2 without ending there
    assert np.allclose(through.angular_velocity("body"), [0, 1, 0], atol=1e-9)


@pytest.mark.parametrize(("method", "h"), [("genalpha", 1e-3), ("radau5", 5e-4), ("radau5", 2e-3)])
def test_a_failed_solve_near_the_singularity_is_put_down_to_it(method, h):
    """And not to the turn of 9 rad in a step that the angles seem to take."""
    with pytest.raises(lgint.IntegrationError, match="the angles of top are near their singularity.*R3xSO3") as caught:
        lgint.integrate(lgint.models.heavy_top(formulation="tait_bryan"), method, t_end=1.0, h=h)
    assert "with residual 2.2" not in str(caught.value)  # that of the projection before


@pytest.mark.parametrize("constrained", [False, True])
def test_the_top_runs_down_to_a_cosine_of_0_0225(constrained):
    run, other = (
        lgint.integrate(lgint.models.heavy_top(formulation=f, constrained=constrained), "rk44", t_end=0.95, h=2e-5)
        for f in ("tait_bryan", "R3xSO3")
    )
    cosine = np.abs(np.cos(run.q[:, -2]))
    assert cosine.min() == pytest.approx(0.0225, abs=2e-4)
    assert run.t[np.argmin(cosine)] == pytest.approx(0.918, abs=1e-3)
    assert np.abs(run.position("top")[-1] - other.position("top")[-1]).max() < 1e-3


def test_puma_stays_away_from_the_singularity():
    with pytest.warns(UserWarning, match="link"):
        model = lgint.models.puma560(formulation="tait_bryan")
    run = lgint.integrate(model, "rk44", t_end=1.0, h=2e-4)
    cosine = np.abs(np.cos(run.q[:, 4::6]))
    assert cosine.min() == pytest.approx(0.0526, abs=1e-3)


def swinging(cosine, formulation="tait_bryan"):
    """A body that turns about y at 1 rad/s, from where a step of 0.1 s ends at this cosine of the middle angle."""
    begin = np.arccos(cosine) - 0.1
    return spinning(formulation, rotation=systems.turn(begin, (0, 1, 0))).build()


@pytest.mark.parametrize(
    "formulation, method", [("tait_bryan", "rk44"), ("tait_bryan_omega", "rk44"), ("tait_bryan", "genalpha")]
)
def test_a_run_near_the_singularity_warns_once(formulation, method):
    """The state with the least cosine is not saved; the warning points at this file."""
    with pytest.warns(
        UserWarning, match=r"angles of body come near.* at t = 0\.1 \(cosine 4\.\de-03\).*R3xSO3"
    ) as caught:
        run = lgint.integrate(swinging(4.5e-3, formulation), method, t_end=0.4, h=0.1, save_every=4)
    assert len(caught) == 1 and caught[0].filename == __file__
    assert run.stats.least_cosine == pytest.approx(4.5e-3, abs=1e-4) and len(run) == 2


def test_farther_from_the_singularity_there_is_no_warning():
    """Warnings are errors in this suite. The top of the papers reaches a cosine of 0.0225."""
    assert lgint.integrate(swinging(1.2e-2), "rk44", t_end=0.4, h=0.1).stats.least_cosine == pytest.approx(1.2e-2)
    assert lgint.integrate(lgint.models.free_body(), "rk44", t_end=0.1, h=0.1).stats.least_cosine == 1


def test_the_least_cosine_is_that_of_all_accepted_steps():
    model = spinning("tait_bryan", omega=(1.0, 0.5, 2.0)).build()
    run = lgint.integrate(model, "dopri5", t_end=3.0, rtol=1e-9, h=1.0)
    assert run.stats.rejected > 0
    assert run.stats.least_cosine == pytest.approx(np.abs(np.cos(run.q[:, 4])).min(), rel=1e-12)
    assert run.stats.least_cosine < 0.9


def test_an_ensemble_warns_of_its_nearest_run():
    models = [swinging(cosine) for cosine in (0.3, 4e-3, 8e-3)]
    with pytest.warns(UserWarning, match=r"angles of body of run 1 come near.*cosine 4\.0e-03") as caught:
        runs = lgint.integrate(models, "rk44", t_end=0.1, h=0.1)
    assert len(caught) == 1
    assert [run.stats.least_cosine for run in runs] == pytest.approx([0.3, 4e-3, 8e-3], rel=1e-3)
