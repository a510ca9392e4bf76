"""Formulation 1: body angular velocity with Euler parameters or Tait-Bryan angles, for explicit methods."""

import numpy as np
import pytest

import lgint
from kinds import METHODS

KINDS = ("euler_parameters_omega", "tait_bryan_omega")
IMPLICIT = [name for name in METHODS if lgint.method_info(name)["stepper"] not in ("rkmk", "herk")]


@pytest.mark.parametrize("constrained", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_velocities_are_those_of_the_body(kind, constrained):
    model = lgint.models.heavy_top(formulation=kind, constrained=constrained)
    assert model.nv == (6 if constrained else 3)
    assert model.nq == model.nv + (kind == "euler_parameters_omega")
    assert model.nc == (3 if constrained else 0)
    run = lgint.integrate(model, "rk44", t_end=0.05, h=1e-4)
    assert np.allclose(run.angular_velocity("top"), run.v[:, -3:], rtol=1e-14)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("method", IMPLICIT)
def test_other_methods_refuse_and_say_what_works(method, kind):
    says = f"body: {method} cannot integrate coordinates whose rates are A\\(q\\) v; euler, .*rk44, .* can"
    with pytest.raises(ValueError, match=says):
        lgint.integrate(lgint.models.free_body(formulation=kind), method, t_end=0.1, h=0.01)


def test_the_length_drifts_with_the_order_of_the_method():
    drifts = []
    for h in (2e-3, 1e-3):
        model = lgint.models.lie_term(formulation="euler_parameters_omega")
        run = lgint.integrate(model, "midpoint", t_end=1.0, h=h)
        drifts.append(np.abs(run.unit_length_error("body")).max())
    assert drifts[0] > 1e-12
    assert drifts[0] / drifts[1] == pytest.approx(4, abs=0.1)
    kept = lgint.integrate(lgint.models.lie_term(formulation="R3xS3"), "midpoint", t_end=1.0, h=1e-3)
    assert np.abs(kept.unit_length_error("body")).max() < 1e-15 * len(kept)
    with pytest.raises(ValueError, match="not stored as a quaternion"):
        lgint.integrate(lgint.models.lie_term(), "rk44", t_end=0.1, h=0.1).unit_length_error("body")


def test_a_step_of_euler_adds_the_rates():
    model = lgint.models.lie_term(formulation="euler_parameters_omega")
    run = lgint.integrate(model, "euler", t_end=0.1, h=0.1)
    assert np.allclose(run.q[-1, 3:], [1, 0.05, 0.1, -0.025], atol=1e-16)


@pytest.mark.parametrize("kind", KINDS)
def test_adaptive_runs_meet_their_tolerance(kind):
    keywords = dict(omega0=(16.0, 1.0, -3.0))
    runs = [
        lgint.integrate(
            lgint.models.heavy_top(formulation=f, **keywords), "dopri5", t_end=0.5, h=1e-3, rtol=1e-9, atol=1e-9
        )
        for f in (kind, "R3xSO3")
    ]
    assert np.abs(runs[0].position("top")[-1] - runs[1].position("top")[-1]).max() < 1e-6


def test_formulations_may_differ_from_body_to_body():
    ends = []
    for kinds in (("R3xSO3", "R3xSO3"), KINDS, ("euler_parameters_omega", "SE3"), ("tait_bryan", "tait_bryan_omega")):
        builder = lgint.ModelBuilder(gravity=(0, 0, -9.81))
        for i, kind in enumerate(kinds):
            builder.add_body(f"bar{i}", mass=1.0, inertia=(0.1, 0.2, 0.15), position=(0.5 + i, 0, 0), formulation=kind)
        builder.add_joint("spherical", lgint.ground, "bar0", point=(0, 0, 0))
        builder.add_joint("revolute", "bar0", "bar1", point=(1, 0, 0), axis=(0, 1, 1))
        ends.append(lgint.integrate(builder.build(), "rk67", t_end=0.3, h=1e-3).position("bar1")[-1])
    assert np.ptp(np.array(ends), axis=0).max() < 1e-8
