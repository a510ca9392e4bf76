"""Rigid bodies without joints, or about a fixed point."""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq
from scipy.special import ellipj

from lgint._build.builder import ModelBuilder
from lgint._build.parts import ground
from lgint._linear.linearization import linearize
from lgint._run.integrate import integrate
from lgint._state.state import State
from lgint._validation.case import Number, case

JACOBI = "closed form by Jacobi's elliptic functions"


@case("wing-nut", title="a free body that spins about its middle axis, after 30 s", source=JACOBI, published=False)
def wing_nut() -> list[Number]:
    """Angular velocities: those of the smallest and the middle moment of inertia cn and sn, that of the largest dn."""
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
    "pendulum",
    title="a pendulum let go at 90 degrees: the quarter period, omega_0 T/4",
    source="Abramowitz and Stegun 1964, table 17.1 (K at the parameter 1/2)",
)
def pendulum() -> list[Number]:
    """The complete elliptic integral of the first kind."""
    builder = ModelBuilder(gravity=(0, 0, -1), formulation="minimal")
    builder.add_body("bob", mass=1.0, inertia=(0, 0, 0), position=(1, 0, 0))
    builder.add_joint("revolute", ground, "bob", point=(0, 0, 0), axis=(0, 1, 0))

    def below(state: State) -> float:
        return float(state.position("bob")[0])

    run = integrate(builder.build(), "dop853", t_end=2.0, rtol=1e-13, atol=1e-13, events=below)
    quarter = run.t_events[0][0] if run.t_events else np.nan
    return [Number("quarter period", "1.8540746773", float(quarter))]


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
    spin = brentq(lambda w: _top(w) - 1e-4, 5.0, 6.0, xtol=1e-9)
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
