"""Chaplygin's sleigh: a body that slides on a plane on a knife edge, whose motion is known in closed form."""

from __future__ import annotations

from lgint._args import number
from lgint._build.builder import ModelBuilder
from lgint._model.model import Model
from lgint.models._registry import benchmark


@benchmark("neimark1972")
def chaplygin_sleigh(
    *,
    formulation: str = "R3xSO3",
    mass: float = 1.0,
    inertia: float = 0.2,
    distance: float = 0.4,
    speed: float = 0.5,
    turning: float = 3.0,
) -> Model:
    """Chaplygin's sleigh: a body that slides on a plane, with a knife edge behind its COM; a nonholonomic system.

    The body "sleigh" moves in the plane z = 0 without gravity; its COM starts at the origin. The point of the knife
    edge, `distance` behind the COM along the x axis of the body, does not move along the y axis of the body. With
    J = `inertia` + `mass` distance^2, its velocity along x and the angular velocity are

        v = V tanh(tau)      omega = V sqrt(m/J) / cosh(tau)      tau = tau_0 + m distance V / J t,

    so that the sleigh ends moving straight ahead with the speed V = sqrt(v_0^2 + omega_0^2 J / m).

    Parameters
    ----------
    formulation : str
        See `ModelBuilder`.
    mass, inertia : float
        kg, and kg m^2 about the COM.
    distance : float
        m.
    speed, turning : float
        v, m/s, and omega, rad/s, at the start.

    Returns
    -------
    Model
        It starts as described above.
    """
    m, about = number("mass", mass, positive=True), number("inertia", inertia, positive=True)
    behind, rate = number("distance", distance), number("turning", turning)
    builder = ModelBuilder(formulation=formulation)
    builder.add_body(
        "sleigh",
        mass=m,
        inertia=(about / 2, about / 2, about),
        velocity=(number("speed", speed), rate * behind, 0.0),
        angular_velocity=(0.0, 0.0, rate),
    )
    builder.add_joint("planar", "ground", "sleigh", point=(0.0, 0.0, 0.0), axis=(0.0, 0.0, 1.0), name="plane")
    builder.add_knife_edge("sleigh", local_point=(-behind, 0.0, 0.0), normal=(0.0, 1.0, 0.0), name="blade")
    return builder.build()
