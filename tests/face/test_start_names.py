"""Guesses for misspelt numbers of a start, in models with all constraints and in trees."""

import pytest

import lgint


def walker(formulation):
    builder = lgint.ModelBuilder(formulation=formulation)
    builder.add_body("trunk", mass=1, inertia=(1, 1, 1))
    builder.add_body("leg", mass=1, inertia=(1, 1, 1), position=(1, 0, 0))
    if formulation == "minimal":
        builder.add_joint("free", lgint.ground, "trunk", point=(0, 0, 0), name="root")
    builder.add_joint("revolute", "trunk", "leg", point=(0.5, 0, 0), axis=(0, 0, 1), name="shoulder")
    return builder.build()


@pytest.mark.parametrize(("formulation", "base"), [("R3xSO3", "trunk"), ("minimal", "root")])
@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("start.trunc.position[0]", "start.{}.position[0]"),
        ("start.trunk.postion[1]", "start.{}.position[1]"),
        ("start.trunc.postion[9]", "start.{}.position[2]"),
        ("strat.trunk.velocity[0]", "start.{}.velocity[0]"),
        ("trunk.angular_velocity[0]", "start.{}.angular_velocity[0]"),
        ("start.sholder", "start.shoulder"),
        ("star.shoulder", "start.shoulder"),
        ("start.shoulder.rat", "start.shoulder.rate"),
        ("shoulder.rate", "start.shoulder.rate"),
        ("start.leg.rate", "start.shoulder.rate"),
        ("trunk.mas", "trunk.mass"),
    ],
)
def test_every_part_of_a_name_gets_a_guess(formulation, base, given, meant):
    with pytest.raises(ValueError, match="did you mean") as refused:
        lgint.integrate(walker(formulation), "genalpha", t_end=0.1, h=0.1, sensitivity=[given])
    assert f"{given!r}" in str(refused.value)
    assert f"(did you mean '{meant.format(base)}'?)" in str(refused.value)
