"""Bodies of nearly no mass do not shorten the steps: errors of multipliers are not divided by their mass."""

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
