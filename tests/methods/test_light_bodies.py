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


def bar(inertia):
    """A pendulum with this moment of inertia about its own axis, which stands still."""
    builder = lgint.ModelBuilder(gravity=(0, 0, -9.81))
    builder.add_body("bar", mass=1.0, inertia=(inertia, 0.1, 0.1), position=(1, 0, 0))
    builder.add_joint("revolute", lgint.ground, "bar", point=(0, 0, 0), axis=(0, 1, 0))
    return builder.build()


@pytest.mark.parametrize("method", ["rk44", "dopri5", "herk4", "herk5"])
def test_a_bar_without_inertia_about_its_axis(method):
    """M is singular, [M B^T; B 0] is not: LAPACK takes over, and the hinge takes the moments about that axis."""

    def swing(inertia):
        tolerances = {"rtol": 1e-6, "control": "none"} if "5" in method else {}
        return lgint.integrate(bar(inertia), method, t_end=0.1, h=1e-2, **tolerances)

    thin, thick = swing(0.0), swing(0.05)
    assert thin.stats.dense_fallbacks == thin.stats.factorisations and thick.stats.dense_fallbacks == 0
    assert thin.stats.factorisations == thick.stats.factorisations
    for part in ("q", "v", "lam"):
        np.testing.assert_allclose(getattr(thin, part), getattr(thick, part), rtol=0, atol=1e-11)


@pytest.mark.parametrize(
    ("method", "options"),
    [("genalpha", {}), ("genalpha", {"index": 2}), ("genalpha", {"index": "stabilized"}), ("radau5", {})],
)
def test_derivatives_of_a_bar_without_inertia_about_its_axis(method, options):
    """Fronts of its matrices are singular, also of those that are factored in place; forwards and backwards."""

    def swing(inertia):
        given = {"t_end": 0.05, "h": 1e-2, **options}
        forward = lgint.integrate(bar(inertia), method, sensitivity=["bar.mass"], **given)
        return forward, lgint.gradient(bar(inertia), method, end, ["bar.mass"], outputs=[("position", "bar")], **given)

    def end(t, x):
        weights = np.zeros_like(x)
        weights[-1] = 1, 2, 3
        return np.sum(weights * x), [weights]

    (thin, back), (thick, _) = swing(0.0), swing(0.05)
    plain = lgint.integrate(bar(0.0), method, t_end=0.05, h=1e-2, **options)
    assert thin.stats.dense_fallbacks >= plain.stats.dense_fallbacks + thin.stats.steps
    assert thick.stats.dense_fallbacks == 0
    for part in ("dq", "dv", "dlam"):
        found, expected = getattr(thin.sensitivity, part), getattr(thick.sensitivity, part)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-11)
    assert abs(back[1] - [1, 2, 3] @ thick.sensitivity.dq[-1, :3]) < 1e-13
