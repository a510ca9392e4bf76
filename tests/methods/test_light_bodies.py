"""Bodies of nearly no mass do not shorten the steps: errors of multipliers are not divided by their mass."""

import numpy as np
import pytest

import lgint


def chain(formulation, light=1e-8):
    """Three links that fall from the horizontal, the middle one light."""
    builder = lgint.ModelBuilder(gravity=(0, 0, -9.81))
    last = lgint.ground
    for i, mass in enumerate((1.0, light, 1.0)):
        inertia = (0.002 * mass, 0.08 * mass, 0.08 * mass)
        builder.add_body(f"link{i}", mass=mass, inertia=inertia, position=(0.5 + i, 0, 0), formulation=formulation)
        builder.add_joint("revolute", last, f"link{i}", point=(i, 0, 0), axis=(0, 1, 0))
        last = f"link{i}"
    return builder.build()


@pytest.mark.parametrize("rtol", [1e-6, 1e-8])
@pytest.mark.parametrize("formulation", ["R3xSO3", "SE3"])
@pytest.mark.parametrize("method", ["dopri5", "herk5"])
def test_a_light_link_takes_the_steps_of_minimal_coordinates(method, formulation, rtol):
    def tried(model):
        stats = lgint.integrate(model, method, t_end=1.0, rtol=rtol, atol=rtol / 100).stats
        return stats.steps + stats.rejected

    assert tried(chain(formulation)) < 1.5 * tried(chain("minimal"))


@pytest.mark.parametrize("method", ["rk44", "dopri5", "herk4", "herk5"])
def test_a_bar_without_inertia_about_its_axis(method):
    """M is singular, [M B^T; B 0] is not: LAPACK takes over, and the hinge takes the moments about that axis."""

    def swing(inertia):
        builder = lgint.ModelBuilder(gravity=(0, 0, -9.81))
        builder.add_body("bar", mass=1.0, inertia=(inertia, 0.1, 0.1), position=(1, 0, 0))
        builder.add_joint("revolute", lgint.ground, "bar", point=(0, 0, 0), axis=(0, 1, 0))
        tolerances = {"rtol": 1e-6, "control": "none"} if "5" in method else {}
        return lgint.integrate(builder.build(), method, t_end=0.1, h=1e-2, **tolerances)

    thin, thick = swing(0.0), swing(0.05)
    assert thin.stats.dense_fallbacks == thin.stats.factorisations and thick.stats.dense_fallbacks == 0
    assert thin.stats.factorisations == thick.stats.factorisations
    for part in ("q", "v", "lam"):
        np.testing.assert_allclose(getattr(thin, part), getattr(thick, part), rtol=0, atol=1e-11)
