"""Impacts, sliding and rolling."""

from __future__ import annotations

from typing import Any

import numpy as np

from lgint._build.builder import ModelBuilder
from lgint._build.parts import ground
from lgint._run.events import event
from lgint._run.integrate import integrate
from lgint._state.state import State
from lgint._validation.case import Number, case

FLOOR = ("plane", (0, 0, 0), (0, 0, 1))


@case(
    "hertz-impact",
    title="an elastic sphere that hits a plane: how long they touch, and how deep it goes",
    source="Landau and Lifshitz 1959, Theory of Elasticity, sect. 9 (2.94); Johnson 1985, sect. 11.4 (2.87)",
)
def hertz() -> list[Number]:
    """The force is 4/3 E sqrt(R) d^1.5."""
    m, v, R, E = 0.5, 2.0, 0.1, 1e6
    builder = ModelBuilder()
    builder.add_body("ball", mass=m, inertia=(2e-3,) * 3, position=(0, 0, R + 1e-3), velocity=(0, 0, -v))
    shapes = (FLOOR, ("sphere", (0, 0, 0), R))
    builder.add_contact(ground, "ball", shapes=shapes, stiffness=4 / 3 * E * R**0.5, exponent=1.5, name="floor")

    def touch(state: State) -> float:
        return float(state.gap("floor"))

    run = integrate(builder.build(), "dop853", t_end=0.03, rtol=1e-10, atol=1e-12, events=touch)
    begin, end = run.t_events[0] if run.t_events else (np.nan, np.nan)
    depth = (15 * m * v**2 / (16 * E * R**0.5)) ** 0.4
    return [
        Number("duration, by depth and speed", "2.94", (end - begin) * v / depth),
        Number("duration, by (m^2/(R E^2 v))^(1/5)", "2.87", (end - begin) / (m**2 / (R * E**2 * v)) ** 0.2),
    ]


@case(
    "sliding-ball",
    title="a ball that is thrown along a rough floor without spin slides and then rolls",
    source="Coriolis 1835; closed form: it rolls at 5/7 of its first speed, from the time 2 v/(7 mu g) on",
    published=False,
)
def sliding_ball() -> list[Number]:
    """The friction that lets it slide is regularised, and vanishes once it rolls."""
    m, v, R, mu, g = 1.0, 7.0, 0.1, 0.2, 10.0
    builder = ModelBuilder(gravity=(0, 0, -g))
    depth = m * g / 1e7
    J = 0.4 * m * R**2
    builder.add_body("ball", mass=m, inertia=(J,) * 3, position=(0, 0, R - depth), velocity=(v, 0, 0))
    shapes = (FLOOR, ("sphere", (0, 0, 0), R))
    builder.add_contact(ground, "ball", shapes=shapes, stiffness=1e7, friction=mu, regularization=1e-3)
    run = integrate(builder.build(), "dopri5", t_end=1.2, rtol=1e-8, atol=1e-9, t_eval=[0.5, 1.2])
    speed = run.velocity("ball")[:, 0]
    return [
        Number("speed after half of the time / (m/s)", "6.000", float(speed[-2])),
        Number("speed in the end / (m/s)", "5.000", float(speed[-1])),
    ]


@case(
    "bouncing-ball",
    title="a ball that falls 1 m on a floor of restitution 0.5 with g = 9.81 m/s^2: when it hits the fifth time",
    source="closed form: sqrt(2 h/g) (1 + 2 (e + e^2 + e^3 + e^4))",
    published=False,
)
def bouncing_ball() -> list[Number]:
    """An event whose action is the impact."""
    builder = ModelBuilder(gravity=(0, 0, -9.81))
    builder.add_body("ball", mass=1.0, inertia=(0.1,) * 3, position=(0, 0, 1))

    def height(state: State) -> float:
        return float(state.position("ball")[2])

    def bounce(state: State) -> State:
        return state.after_impact(("ball", (0, 0, 0), (0, 0, 1)), restitution=0.5)

    touch: Any = event(height, direction=-1, action=bounce)
    run = integrate(builder.build(), "rk44", t_end=1.3, h=0.02, events=touch)
    return [Number("time / s", "1.2981304678", float(run.t_events[0][4]) if run.t_events else np.nan)]


@case(
    "rocking-block",
    title="a block that rocks from one edge to the other, 2 by 5: the rate after the impact by that before",
    source="Housner 1963; closed form 1 - 3/2 sin^2 alpha, with tan alpha = 2/5",
    published=False,
)
def rocking_block() -> list[Number]:
    """It lands flat and neither slides nor bounces."""
    half = np.array([0.2, 0.1, 0.5])
    moments = (np.sum(half**2) - half**2) / 3
    motion: dict[str, Any] = {"velocity": (0.5, 0, -0.2), "angular_velocity": (0, 1, 0)}
    builder = ModelBuilder()
    builder.add_body("block", mass=1.0, inertia=moments, position=(0, 0, 0.5), **motion)
    shapes = (FLOOR, ("box", (0, 0, 0), half))
    builder.add_contact(ground, "block", shapes=shapes, stiffness=0.0, name="floor")
    after = builder.build().state().after_impact("floor", tangential="stick")
    return [Number("ratio", "0.7931034483", float(after.angular_velocity("block")[1]))]
