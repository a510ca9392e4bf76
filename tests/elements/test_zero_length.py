"""Springs, dampers and tendons whose points coincide: the limit if there is one, otherwise an error that names them."""

import numpy as np
import pytest
from scipy.linalg import expm

import lgint

APART = np.array([0.3, -0.4, 1.2])  # m/s


def pair(add):
    """Two bodies of 2 kg at one place, without gravity, that move apart."""
    builder = lgint.ModelBuilder(gravity=(0, 0, 0))
    for name, velocity in (("a", -APART / 2), ("b", APART / 2)):
        builder.add_body(name, mass=2.0, inertia=(0.1, 0.2, 0.3), position=(0.5, 0, 0), velocity=velocity)
    add(builder)
    return builder.build()


RUNS = {"dopri5": {"rtol": 1e-9}, "genalpha": {"h": 2e-4}}


@pytest.mark.parametrize("method", RUNS)
@pytest.mark.parametrize(
    ("k", "c", "length"), [(50.0, 0.0, None), (50.0, 3.0, None), (50.0, 3.0, 0.0), (0.0, 3.0, None), (0.0, 3.0, 0.5)]
)
def test_a_spring_without_preload_starts_at_length_zero(k, c, length, method):
    """Along the line of the motion it is linear: d'' = -(k d + c d')/m, m = 1 kg reduced, also through zero again."""
    model = pair(lambda b: b.add_spring("a", "b", stiffness=k, damping=c, length=length))
    run = lgint.integrate(model, method, t_end=0.3, **RUNS[method])
    d, rate = expm(0.3 * np.array([[0, 1], [-k, -c]])) @ [0, 1]
    assert np.allclose((run.position("b") - run.position("a"))[-1], d * APART, rtol=0, atol=1e-6)
    assert np.allclose((run.velocity("b") - run.velocity("a"))[-1], rate * APART, rtol=0, atol=1e-5)


def test_points_that_coincide_but_for_round_off_have_no_preload():
    """On bodies in any attitude; the joint there keeps them together."""
    rng = np.random.default_rng(3)
    for _ in range(20):
        builder, point = lgint.ModelBuilder(), rng.normal(size=3)
        for name in ("a", "b"):
            e = rng.normal(size=4)
            place = rng.normal(size=3)
            builder.add_body(name, mass=1.0, inertia=(0.1, 0.2, 0.3), position=place, rotation=e / np.linalg.norm(e))
        builder.add_joint("spherical", "a", "b", point=point)
        builder.add_spring("a", "b", stiffness=50.0, point=(point, point), name="spring")
        model = builder.build()
        assert model.values["spring.length"] == 0.0
        assert lgint.integrate(model, "genalpha", t_end=0.1, h=0.01).status == 0


@pytest.mark.parametrize("method", RUNS)
def test_a_preload_at_length_zero_has_no_direction(method):
    model = pair(lambda b: b.add_spring("a", "b", stiffness=50.0, length=0.2, name="strut"))
    with pytest.raises(lgint.IntegrationError, match="the force of strut; look there for a spring of length zero"):
        lgint.integrate(model, method, t_end=0.3, **RUNS[method])


def test_a_tendon_without_tension_starts_at_length_zero():
    for tension, fails in ((0.0, False), (1.0, True)):
        model = pair(lambda b, tension=tension: b.add_tendon(["a", "b"], tension=tension, name="rope"))
        if fails:
            with pytest.raises(lgint.IntegrationError, match=r"the force of rope"):
                lgint.integrate(model, "dopri5", t_end=0.1, rtol=1e-6)
        else:
            assert np.allclose(lgint.integrate(model, "dopri5", t_end=0.1, rtol=1e-6).v[-1], model.v0)
