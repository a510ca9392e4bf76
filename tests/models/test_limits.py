"""Elastic stops at the limits of joints."""

import numpy as np
import pytest

import lgint

FORMULATIONS = ["R3xSO3", "R3xS3", "R3xRV", "SE3", "S3R3", "euler_parameters", "tait_bryan", "minimal"]
K, G = 500.0, 9.81


def bar(formulation, limits=(-0.5, None), damping=0.0, **keywords):
    """A bar that falls about the x axis from the horizontal, onto a stop at -0.5 rad."""
    b = lgint.ModelBuilder(gravity=(0, 0, -G), formulation=formulation)
    b.add_body("bar", mass=2.0, inertia=(0.2, 0.2, 0.01), position=(0, 0.5, 0))
    stop = {"limits": limits, "limit_stiffness": K, "limit_damping": damping, **keywords}
    b.add_joint("revolute", lgint.ground, "bar", point=(0, 0, 0), axis=(1, 0, 0), name="pin", **stop)
    return b.build()


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_a_bar_bounces_on_its_stop(formulation):
    """Energy is kept, and the stop only pushes, in proportion to the angle beyond the limit."""
    run = lgint.integrate(bar(formulation), "dop853", t_end=2.0, rtol=1e-10, atol=1e-12)
    angle, force = run.joint_angle("pin"), run.force("pin.limits")
    assert np.ptp(run.energy()) < 1e-6
    assert np.allclose(force, np.maximum(0, K * (-0.5 - angle)), rtol=0, atol=1e-9)
    assert force.max() > 50 and (force == 0).any() and angle.min() < -0.6
    assert lgint.check(run.model).ok


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("method", ["genalpha", "radau5", "rk44"])
def test_methods_agree_and_dampers_never_pull(formulation, method):
    model = bar(formulation, damping=8.0)
    run = lgint.integrate(model, method, t_end=1.5, h=1e-3)
    angle, rate, force = run.joint_angle("pin"), run.joint_rate("pin"), run.force("pin.limits")
    exact = np.where(angle < -0.5, np.maximum(0, -K * (angle + 0.5) - 8.0 * rate), 0)
    assert np.allclose(force, exact, rtol=0, atol=1e-9) and (force >= 0).all() and force.max() > 40
    assert ((angle < -0.5) & (force == 0)).any()  # on the way out the stop would pull
    if method == "rk44":
        return
    rest = lgint.equilibrium(model.with_state(run.q[-1], run.v[-1])).state(-1)
    assert rest.force("pin.limits") == pytest.approx(2 * G * 0.5 * np.cos(rest.joint_angle("pin")), abs=1e-9)


def test_energy_momentum_methods_conserve():
    run = lgint.integrate(bar("euler_parameters"), "reml", t_end=1.0, h=2e-3)
    assert np.ptp(run.energy()) < 1e-8 and run.force("pin.limits").max() > 50


@pytest.mark.parametrize("formulation", ["R3xSO3", "SE3", "minimal"])
def test_a_slide_between_two_stops(formulation):
    b = lgint.ModelBuilder(gravity=(0, 0, -G), formulation=formulation)
    b.add_body("cart", mass=2.0, inertia=(0.1, 0.1, 0.1), position=(0, 0, 0))
    b.add_joint("prismatic", lgint.ground, "cart", point=(0, 0, 0), axis=(0, 0, 1), limits=(-1.0, -0.5), name="rail")
    run = lgint.integrate(b.build(), "dop853", t_end=1.0, rtol=1e-10, atol=1e-12)
    z, force = run.joint_position("rail"), run.force("rail.limits")
    assert np.allclose(force, -1e4 * np.maximum(0, z + 0.5) + 1e4 * np.maximum(0, -1 - z), rtol=0, atol=1e-8)
    assert force[0] == -5000.0 and force.max() > 1000 and np.ptp(run.energy()) < 1e-7 * run.energy()[0]


def test_limits_count_through_full_turns_and_are_saved(tmp_path):
    b = lgint.ModelBuilder(formulation="R3xSO3")
    b.add_body("wheel", mass=1.0, inertia=(0.1, 0.1, 0.1), angular_velocity=(20, 0, 0))
    axle = {"point": (0, 0, 0), "axis": (1, 0, 0), "name": "axle"}
    b.add_joint("revolute", lgint.ground, "wheel", **axle, limits=(None, 12.0), limit_stiffness=100.0)
    run = lgint.integrate(b.build(), "rk44", t_end=1.0, h=1e-3)
    angle = run.joint_angle("axle")
    assert angle.max() == pytest.approx(12 + 20 * np.sqrt(0.1 / 100), abs=1e-3) and angle[-1] < 12
    run.save(tmp_path / "run.npz")
    read = lgint.load(tmp_path / "run.npz")
    assert read.force("axle.limits").tobytes() == run.force("axle.limits").tobytes()
    harder = run.model.with_parameters(**{"axle.limits.stiffness": 400.0})
    assert lgint.integrate(harder, "rk44", t_end=1.0, h=1e-3).joint_angle("axle").max() < angle.max() - 0.2


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"limits": (1.0, 0.5)}, "limits of 'pin': a lower and a higher upper limit expected"),
        ({"limits": (1.0, 1.0)}, "limits of 'pin': a lower and a higher upper limit expected"),
        ({"limits": 1.0}, "limits of 'pin': a lower and an upper limit expected, got 1.0"),
        ({"limits": (None, None), "limit_stiffness": 5.0}, "limits of 'pin': a limit on one side at least expected"),
        ({"limits": (0.0, np.nan)}, "limits of 'pin'"),
        ({"limits": (0, 1), "limit_stiffness": 0.0}, "limit_stiffness of 'pin'"),
        ({"limits": (0, 1), "limit_damping": -1.0}, "limit_damping of 'pin': a number >= 0 expected, got -1"),
        ({"limit_damping": 1.0}, "limit_damping without limits"),
        ({"limit_stiffness": 1.0}, "limit_stiffness without limits"),
    ],
)
def test_bad_limits_are_refused(keywords, message):
    for formulation in ("R3xSO3", "minimal"):
        b = lgint.ModelBuilder(formulation=formulation)
        b.add_body("bar", mass=2.0, inertia=(0.2, 0.2, 0.01))
        with pytest.raises(ValueError, match=message):
            b.add_joint("revolute", lgint.ground, "bar", point=(0, 0, 0), axis=(1, 0, 0), name="pin", **keywords)
        assert not b._joints and not b._forces
        with pytest.raises(ValueError, match="'ball' is spherical and has neither an angle nor a slide"):
            b.add_joint("spherical", lgint.ground, "bar", point=(0, 0, 0), limits=(0, 1), name="ball")
