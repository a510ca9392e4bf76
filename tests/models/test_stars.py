"""Many joints on one body: the matrix stays sparse, and no pivot becomes too small."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import lgint
from kinds import FORMULATIONS

GRAVITY = np.array([0.0, 0.0, -9.81])
KINDS = ("spherical", "revolute", "cylindrical", "universal", "rigid")


def star(leaves: int, hub: str, leaf: Callable[[int], str], kind: Callable[[int], str]) -> lgint.Model:
    """A body of 5 kg at the origin with bodies of 1 kg around it, each held by a joint half-way."""
    builder = lgint.ModelBuilder(gravity=GRAVITY)
    builder.add_body("hub", mass=5.0, inertia=(1.0, 2.0, 2.5), angular_velocity=(0.3, -0.2, 0.5), formulation=hub)
    draw = np.random.default_rng(5)
    for i in range(leaves):
        place, axis, turn = draw.standard_normal((3, 3))
        place /= np.linalg.norm(place)
        axes = {} if kind(i) in ("spherical", "rigid") else {"axis": axis}
        if kind(i) == "universal":
            axes["second_axis"] = np.cross(axis, turn)
        builder.add_body(f"leaf{i}", mass=1.0, inertia=(0.1, 0.15, 0.2), position=2 * place, formulation=leaf(i))
        builder.add_joint(kind(i), "hub", f"leaf{i}", point=place, **axes)
    return builder.build(start="project")


def accelerations(model: lgint.Model) -> tuple[np.ndarray, np.ndarray, int]:
    """Accelerations of all centres of mass by differences, that of the whole, and the number of fallbacks."""
    h = 1e-4
    run = lgint.integrate(model, "genalpha", h=h, t_end=20 * h)
    velocity = np.array([run.velocity(name)[[0, -1]] for name in model.bodies])
    mass = np.array([5.0] + [1.0] * (len(model.bodies) - 1))
    rate = (velocity[:, 1] - velocity[:, 0]) / (20 * h)
    return rate, mass @ rate / mass.sum(), run.stats.dense_fallbacks


@pytest.mark.parametrize("hub", FORMULATIONS)
def test_every_formulation_as_hub_and_as_leaf(hub: str) -> None:
    """The momentum changes by the weight, and every factorisation stays sparse."""
    model = star(35, hub, lambda i: FORMULATIONS[i % len(FORMULATIONS)], lambda i: KINDS[i % len(KINDS)])
    _, whole, fallbacks = accelerations(model)
    np.testing.assert_allclose(whole, GRAVITY, atol=1e-6)
    assert fallbacks == 0


def test_formulation_does_not_matter() -> None:
    """A star in any other formulation moves as one on R^3 x SO(3) throughout."""
    one = star(14, "R3xSO3", lambda i: "R3xSO3", lambda i: KINDS[i % len(KINDS)])
    other = star(14, "euler_parameters", lambda i: FORMULATIONS[i % len(FORMULATIONS)], lambda i: KINDS[i % len(KINDS)])
    np.testing.assert_allclose(accelerations(one)[0], accelerations(other)[0], atol=1e-4)


def test_thousands_of_joints_on_one_body() -> None:
    """Each joint is eliminated after its own leaf; with all leaves coupled, the matrix would have over 10^8 entries."""
    model = star(3000, "R3xSO3", lambda i: "R3xSO3", lambda i: "spherical")
    run = lgint.integrate(model, "genalpha", h=1e-3, t_end=2e-3)
    assert run.stats.dense_fallbacks == 0


def test_leaves_about_fixed_points() -> None:
    """On a body that turns about a point, a spherical joint has rank two and is eliminated after both of its bodies."""
    builder = lgint.ModelBuilder(gravity=GRAVITY)
    builder.add_body("hub", mass=5.0, inertia=(1.0, 2.0, 2.5))
    draw = np.random.default_rng(6)
    for i in range(2):
        point = draw.standard_normal(3)
        builder.add_body(f"leaf{i}", mass=1.0, inertia=(0.1, 0.15, 0.2), pivot=2 * point, position=1.5 * point)
        builder.add_joint("spherical", "hub", f"leaf{i}", point=point)
    run = lgint.integrate(builder.build(), "genalpha", h=1e-3, t_end=0.05)
    assert run.stats.dense_fallbacks == 0
