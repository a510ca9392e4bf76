"""Tolerances of single entries, and entries that have none."""

import numpy as np
import pytest

import lgint

PAIRS = [m for m in lgint.methods() if any(o["name"] == "rtol" for o in lgint.method_info(m)["options"])]


@pytest.mark.parametrize("method", PAIRS)
def test_a_fall_from_rest_needs_no_absolute_tolerance(method):
    """A velocity that is zero at the start has no scale yet, and gets one in the first step."""
    builder = lgint.ModelBuilder(gravity=(0, 0, -9.81))
    builder.add_body("stone", mass=1.0, inertia=(1, 1, 1), velocity=(1, 0, 0))
    run = lgint.integrate(builder.build(), method, t_end=0.1, rtol=1e-6, atol=0.0)
    assert run.velocity("stone")[-1] == pytest.approx([1, 0, -0.981], rel=1e-6)
    assert run.h[1] > 1e-7 and run.stats.steps < 100


@pytest.mark.parametrize("method", ["genalpha", "newmark", "hht", "radau3", "radau5", "ode23"])
def test_an_error_without_a_scale_asks_for_an_absolute_tolerance(method):
    """The pivot of a top stays where it is but for round-off; no size of steps makes that smaller than zero."""
    model = lgint.models.heavy_top(omega0=(0, 16, 0))
    with pytest.raises(
        lgint.StepSizeError, match="the error is infinite in terms of the tolerance.*; give a positive atol"
    ):
        lgint.integrate(model, method, t_end=0.02, rtol=1e-5, atol=0.0)


def test_newton_follows_the_tolerance_of_each_entry():
    """A strict tolerance for a direction in which nothing happens costs Radau methods no iterations."""
    builder = lgint.ModelBuilder()
    builder.add_body("b", mass=1.0, inertia=(1, 1, 1), velocity=(1, 0, 0))
    builder.add_force_law(lambda t, x, *_: [-40 * np.sin(x[0]) ** 3, 0, 0, 0, 0, 0], bodies="b")
    model = builder.build()
    loose, mixed = np.full(6, 1e-5), np.full(6, 1e-5)
    mixed[1] = 1e-13
    counts = []
    for atol in (loose, mixed):
        run = lgint.integrate(model, "radau5", t_end=2.0, atol=atol, rtol=0.0, max_step=0.05)
        counts.append(run.stats.newton_iterations)
    assert counts[0] == counts[1]
