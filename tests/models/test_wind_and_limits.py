"""Drag in a wind, and drives whose effort is limited: closed forms, values, files, refusals."""

import numpy as np
import pytest

import lgint
from kinds import FREE

WIND = np.array([3.0, -1.0, 2.0])


def sail(wind, formulation="R3xSO3", drag=0.8, **how):
    b = lgint.ModelBuilder(formulation=formulation)
    b.add_body("sail", mass=2.0, inertia=(0.1, 0.2, 0.3), angular_velocity=(0.3, 0.5, -0.2))
    if formulation == "minimal":
        b.add_joint("free", lgint.ground, "sail", point=(0, 0, 0), name="root")
    b.add_drag("sail", drag=drag, wind=wind, name="air", **how)
    return b.build()


@pytest.mark.parametrize("formulation", [*FREE, "minimal"])
def test_a_body_takes_the_velocity_of_the_wind(formulation):
    run = lgint.integrate(sail(WIND, formulation), "rk44", t_end=1.0, h=1e-2)
    expected = WIND * (1 - np.exp(-0.4 * run.t))[:, None]
    assert np.allclose(run.velocity("sail"), expected, rtol=0, atol=1e-9)
    assert np.allclose(run.force("air").force, 0.8 * (WIND - expected), rtol=0, atol=1e-9)
    assert run.model.unit("air.wind") == "m/s" and run.model.values["air.wind[1]"] == -1


@pytest.mark.parametrize("kind", ["table", "function"])
def test_a_wind_that_varies(kind, tmp_path):
    """A ramp: m v' = c (a t - v), v = a (t - T (1 - exp(-t/T))) with T = m/c."""
    T, run = 2.5, None
    for drag in (0.8, (0.8, 0.8, 0.8), 0.8 * np.eye(3)):
        wind = ([0.0, 2.0], [np.zeros(3), 2 * WIND]) if kind == "table" else lambda t: t * WIND
        run = lgint.integrate(sail(wind, drag=drag), "genalpha", t_end=1.0, h=5e-3)
        expected = WIND * (run.t - T * (1 - np.exp(-run.t / T)))[:, None]
        assert np.allclose(run.velocity("sail"), expected, rtol=0, atol=1e-5)
    assert lgint.check(run.model).ok
    if kind == "table":
        run.save(tmp_path / "run.npz")
        assert lgint.load(tmp_path / "run.npz").model.record() == run.model.record()


def test_drag_in_axes_that_turn():
    """Anisotropic, in the axes of bodies whose Tait-Bryan angles count from a rotation of their own, as in others."""
    runs = []
    for formulation in ("R3xSO3", "tait_bryan", "euler_parameters"):
        b = lgint.ModelBuilder(formulation=formulation)
        extra = {"reference": (0.8, 0, 0.36, 0.48)} if formulation == "tait_bryan" else {}
        b.add_body("sail", mass=2.0, inertia=(0.1, 0.2, 0.3), angular_velocity=(0.3, 0.5, -0.2), **extra)
        b.add_drag("sail", drag=(2.0, 0.1, 0.5), wind=WIND, local_point=(0.1, 0, 0.2), name="air")
        runs.append(lgint.integrate(b.build(), "dopri5", t_end=1.0, rtol=1e-10, atol=1e-11))
    for run in runs[1:]:
        assert np.allclose(run.velocity("sail")[-1], runs[0].velocity("sail")[-1], rtol=0, atol=1e-8)


# ---- saturation ----


def driven(kind, formulation, **drive):
    b = lgint.ModelBuilder(formulation=formulation)
    b.add_body("part", mass=0.5, inertia=(0.5, 0.5, 0.5))
    b.add_joint(kind, lgint.ground, "part", point=(0, 0, 0), axis=(0, 0, 1), name="joint")
    b.add_joint_drive("joint", stiffness=100.0, damping=2.0, motion=1.0, name="motor", **drive)
    return b.build()


@pytest.mark.parametrize("kind", ["revolute", "prismatic"])
@pytest.mark.parametrize("formulation", ["R3xSO3", "euler_parameters", "tait_bryan", "minimal"])
def test_an_effort_is_cut_off(formulation, kind):
    """While it is saturated the acceleration is constant, 4/0.5; later the drive is the unlimited one."""
    run = lgint.integrate(driven(kind, formulation, saturation=4.0), "genalpha", t_end=3.0, h=1e-3)
    effort, x, rate = run.force("motor"), run.joint_position("joint"), run.joint_rate("joint")
    assert np.abs(effort).max() <= 4.0 + 1e-12 and effort.min() < -3.9
    early = run.t < 0.4
    assert np.allclose(x[early], 4 * run.t[early] ** 2, rtol=0, atol=1e-6)
    assert np.allclose(effort, np.clip(100 * (1 - x) - 2 * rate, -4, 4), rtol=0, atol=1e-9)
    assert run.model.values["motor.saturation"] == 4.0
    free = lgint.integrate(driven(kind, formulation), "genalpha", t_end=0.1, h=1e-3)
    loose = lgint.integrate(driven(kind, formulation, saturation=1e9), "genalpha", t_end=0.1, h=1e-3)
    assert free.q.tobytes() == loose.q.tobytes()


@pytest.mark.parametrize("saturation", [0.0, -1.0, np.nan, "much"])
def test_bad_limits(saturation):
    with pytest.raises(ValueError, match="saturation of 'motor'"):
        driven("revolute", "R3xSO3", saturation=saturation)


def test_a_torque_in_time_has_limits_of_its_own():
    with pytest.raises(ValueError, match="saturation of 'motor': its torque varies with time"):
        driven("revolute", "R3xSO3", saturation=1.0, torque=lambda t: t)


def test_bad_winds():
    for wind, message in (((1, 2), "wind of 'air'"), (([0, 0], np.zeros((2, 3))), "wind of 'air'")):
        with pytest.raises(ValueError, match=message):
            sail(wind)
