"""What energy-momentum methods keep on bodies in Euler parameters."""

import numpy as np
import pytest

import lgint
from face import systems
from lgint._model.joints import JOINTS

KINDS = [*JOINTS, "distance"]
AXIS, NORMAL = np.array([1.0, 2.0, -1.0]) / np.sqrt(6), np.array([2.0, -1.0, 0.0]) / np.sqrt(5)


def spread(values):
    """The largest change, relative to the largest value."""
    return float(np.abs(values - values[0]).max() / (np.abs(values).max() or 1))


def linear_momentum(run):
    starts = [first for kind, _, _, first, *_ in run.model.core.blocks if kind == "euler_parameters"]
    return sum(run.extra["p"][:, first : first + 3] for first in starts)


def chain(kind, speed):
    """Three free bodies with two joints of a kind: they move and turn together, and at a speed against each other."""
    b = lgint.ModelBuilder(formulation="euler_parameters")
    rng, spin, common = np.random.default_rng(5), np.array([0.7, -0.4, 1.1]), np.array([0.3, 0.2, -0.5])
    for i in range(3):
        R, x = systems.turn(0.9 * i, (1, -1, 2)), np.array([0.8 * i, 0.1 * i, -0.2 * i])
        b.add_body(
            f"body{i}",
            mass=1.0 + i,
            inertia=(0.3, 0.4, 0.5 + 0.1 * i),
            position=x,
            rotation=R,
            velocity=common + np.cross(spin, x) + speed * rng.normal(size=3),
            angular_velocity=R.T @ (spin + speed * rng.normal(size=3)),
        )
    for i in range(2):
        if kind == "distance":
            b.add_joint(kind, f"body{i}", f"body{i + 1}")
            continue
        axes = systems.axes_of(kind, NORMAL, AXIS) if JOINTS[kind].axes == 2 else systems.axes_of(kind, AXIS, None)
        b.add_joint(kind, f"body{i}", f"body{i + 1}", point=(0.8 * i + 0.5, 0.1, 0.2), **axes)
    return b.build(start="project")


@pytest.mark.parametrize("speed", [0.0, 0.2, 5.0])
@pytest.mark.parametrize("kind", KINDS)
def test_free_chains_keep_momenta_and_energy(kind, speed):
    model = chain(kind, speed)
    run = lgint.integrate(model, "reml", t_end=0.2, h=0.01, equivariant=True)
    assert spread(linear_momentum(run)) < 1e-12
    assert spread(run.angular_momentum()) < 1e-11
    energy = spread(run.energy("generalized"))
    assert energy < (1e-12 if run.stats.midpoint_gradients == 0 else 1e-5)
    if kind == "rigid":
        assert run.stats.midpoint_gradients > 0
