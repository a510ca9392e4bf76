"""Rigid bodies without joints, or about a fixed point."""

from __future__ import annotations

from typing import Any

import numpy as np

from lgint._build.builder import ModelBuilder
from lgint._build.parts import ground
from lgint._linear.linearization import linearize
from lgint._run.integrate import integrate
from lgint._state.state import State
from lgint._validation.case import Number, case
from lgint._validation.roots import root

JACOBI = "closed form by Jacobi's elliptic functions"


@case("wing-nut", title="a free body that spins about its middle axis, after 30 s", source=JACOBI, published=False)
def wing_nut() -> list[Number]:
    """Angular velocities: those of the smallest and the middle moment of inertia cn and sn, that of the largest dn."""
    from scipy.special import ellipj

    J, omega = np.array([1.0, 2.0, 3.0]), np.array([0.5, 0.0, 4.0])
    builder = ModelBuilder()
    builder.add_body("nut", mass=1.0, inertia=J, angular_velocity=omega)
    run = integrate(builder.build(), "dop853", t_end=30.0, rtol=1e-13, atol=1e-13)
    twice_energy, L2 = J @ omega**2, np.sum((J * omega) ** 2)
    rate = np.sqrt((J[2] - J[1]) * (L2 - twice_energy * J[0]) / J.prod())
    k2 = (J[1] - J[0]) * (twice_energy * J[2] - L2) / ((J[2] - J[1]) * (L2 - twice_energy * J[0]))
    sn, cn, dn, _ = ellipj(rate * 30.0, k2)
    middle = -np.sqrt((twice_energy * J[2] - L2) / (J[1] * (J[2] - J[1])))
    exact = (omega[0] * cn, -middle * sn, omega[2] * dn)
    found = run.angular_velocity("nut")[-1]
    return [
        Number(f"omega {axis} / (rad/s)", f"{value:.10f}", ours)
        for axis, value, ours in zip("xyz", exact, found, strict=True)
    ]


@case(
    "euler-equations",
    title="Euler's equations of a free body, y1' = y2 y3, y2' = -y1 y3, y3' = -0.51 y1 y2, after 20 units of time",
    source="Enright and Pryce 1987, ACM TOMS algorithm 648, problem B5",
)
def euler_equations() -> list[Number]:
    """Each y is an angular velocity of a body whose moments of inertia are 2, 3 and 1, times a factor."""
    factor = np.array([1.53**-0.5, 0.51**-0.5, 3**-0.5])
    builder = ModelBuilder()
    builder.add_body("body", mass=1.0, inertia=(2, 3, 1), angular_velocity=np.array([0, 1, 1]) / factor)
    run = integrate(builder.build(), "dop853", t_end=20.0, rtol=1e-13, atol=1e-13)
    printed = ("-0.9396570798729192", "-0.3421177754000779", "0.7414126596199957")
    short_of = "the source prints sixteen digits; our tolerances are 1e-13 in each step"
    found = factor * run.angular_velocity("body")[-1]
    return [
        Number(f"y{i + 1}", p, float(y), 1e-10, short_of) for i, (p, y) in enumerate(zip(printed, found, strict=True))
    ]


def _quarter(amplitude: float) -> float:
    """The quarter period of a pendulum let go at an angle, with unit length and gravity."""
    builder = ModelBuilder(gravity=(0, 0, -1), formulation="minimal")
    start = (np.sin(amplitude), 0, -np.cos(amplitude))
    builder.add_body("bob", mass=1.0, inertia=(0, 0, 0), position=start)
    builder.add_joint("revolute", ground, "bob", point=(0, 0, 0), axis=(0, 1, 0))

    def below(state: State) -> float:
        return float(state.position("bob")[0])

    run = integrate(builder.build(), "dop853", t_end=3.0, rtol=1e-13, atol=1e-13, events=below)
    return float(run.t_events[0][0]) if run.t_events else np.nan


@case(
    "pendulum",
    title="a pendulum let go at 90 degrees: the quarter period, omega_0 T/4",
    source="Abramowitz and Stegun 1964, table 17.1 (K at the parameter 1/2)",
)
def pendulum() -> list[Number]:
    """The complete elliptic integral of the first kind."""
    return [Number("quarter period", "1.8540746773", _quarter(np.pi / 2))]


@case(
    "pendulum-amplitudes",
    title="a pendulum let go at 60 and at 120 degrees: the quarter period, omega_0 T/4",
    source="Abramowitz and Stegun 1964, table 17.1 (K at the parameters 1/4 and 3/4)",
)
def amplitudes() -> list[Number]:
    """The parameter is the square of the sine of half of the angle."""
    printed = {60: "1.6857503548", 120: "2.1565156475"}
    return [Number(f"{angle} degrees", digits, _quarter(np.radians(angle))) for angle, digits in printed.items()]


def _top(spin: float) -> float:
    """The greatest growth of a top that spins upright about a fixed point, with unit mass, distance and gravity."""
    builder = ModelBuilder(gravity=(0, 0, -1))
    builder.add_body("top", mass=1.0, inertia=(1, 1, 0.5), position=(0, 0, 1), angular_velocity=(0, 0, spin))
    builder.add_joint("spherical", ground, "top", point=(0, 0, 0))
    return float(linearize(builder.build().state()).eigenvalues.real.max())


@case(
    "sleeping-top",
    title="the slowest spin at which a top stays upright",
    source="Routh 1905; closed form 2 sqrt(m g l A)/C, with A = 2 and C = 1/2",
    published=False,
)
def sleeping_top() -> list[Number]:
    """Two frequencies meet there."""
    spin = root(lambda w: _top(w) - 1e-4, 5.0, 6.0, xtol=1e-9)
    return [Number("spin", "5.65685", spin)]


@case(
    "earth-wobble",
    title="a free body nearly as round as the earth, (C - A)/A = 0.00327: turns until its axis has wobbled once",
    source="Euler 1765; closed form A/(C - A)",
    published=False,
)
def earth_wobble() -> list[Number]:
    """Seen from the body, which turns once while its axis turns C/A times in space."""
    builder = ModelBuilder()
    builder.add_body("earth", mass=1.0, inertia=(1, 1, 1.00327), angular_velocity=(0, 0, 1))
    nutation = float(np.abs(linearize(builder.build().state()).eigenvalues).max())
    return [Number("turns", "305.810", 1 / (nutation - 1))]


def _lift(rate: float) -> float:
    """The acceleration upwards of a top that leans by 60 degrees, precesses, and has 3 as its C n."""
    s, c = np.sqrt(0.75), 0.5
    builder = ModelBuilder(gravity=(0, 0, -1))
    place: dict[str, Any] = {"position": (0, -s, c), "rotation": (np.pi / 3, 0, 0)}
    motion: dict[str, Any] = {"velocity": (rate * s, 0, 0), "angular_velocity": (0, rate * s, 6)}
    builder.add_body("top", mass=1.0, inertia=(1, 1, 0.5), **place, **motion)
    builder.add_joint("spherical", ground, "top", point=(0, 0, 0))
    return float(builder.build().state().vdot[2])


@case(
    "steady-precession",
    title="a top that leans by 60 degrees: the slow and the fast precession that keep it there",
    source="closed form: the roots of A p^2 cos(theta) - C n p + m g l = 0, with A = 2, C n = 3 and m g l = 1",
    published=False,
)
def precession() -> list[Number]:
    """C n is the angular momentum about the axis of the top."""
    slow, fast = (root(_lift, *between, xtol=1e-13) for between in ((0.1, 1), (2, 4)))
    return [Number("slow / (rad/s)", "0.3819660113", slow), Number("fast / (rad/s)", "2.6180339887", fast)]
