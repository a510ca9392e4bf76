"""Rigid bodies without joints, or about a fixed point."""

from __future__ import annotations

import numpy as np
from scipy.special import ellipj

from lgint._build.builder import ModelBuilder
from lgint._run.integrate import integrate
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
