"""The crank drive of a V8 engine."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lgint._args import Array, array, number
from lgint._build.builder import ModelBuilder
from lgint._build.parts import ground
from lgint._model.model import Model
from lgint.models._registry import benchmark

X_AXIS = np.array([1.0, 0.0, 0.0])
THROWS = ((0.0, -0.15), (90.0, -0.05), (270.0, 0.05), (180.0, 0.15))  # angle in degrees, position along x
BANKS = ((45.0, -0.01), (135.0, 0.01))  # angle of the cylinders, shift along x
CRANKSHAFT = (20.0, (0.24, 0.90, 0.90))
CONROD = (0.55, (1.6e-3, 1.5e-4, 1.7e-3))
PISTON = (0.45, (4.5e-4, 5.5e-4, 4.0e-4))


class Pulse:
    """Torque peak sin^2(pi t / duration) about x for 0 <= t <= duration, and none afterwards."""

    def __init__(self, peak: float, duration: float) -> None:
        self.peak = peak
        self.duration = duration

    def __call__(self, t: float) -> tuple[float, float, float]:
        """Torque at t."""
        inside = 0.0 <= t <= self.duration
        return (self.peak * float(np.sin(np.pi * t / self.duration)) ** 2 if inside else 0.0, 0.0, 0.0)


@benchmark("sherif2019 10.2 with data of lgint")
def crank_drive_v8(
    *,
    formulation: str = "euler_parameters",
    radius: float = 0.0375,
    length: float = 0.130,
    com: float = 0.036,
    crankshaft: tuple[float, ArrayLike] = CRANKSHAFT,
    conrod: tuple[float, ArrayLike] = CONROD,
    piston: tuple[float, ArrayLike] = PISTON,
    torque: float = 22.0,
    duration: float = 9.0,
    omega0: float = 0.0,
) -> Model:
    """The crank drive of a V8 engine, started from rest by a torque pulse: 17 bodies, one degree of freedom.

    Bodies: "crankshaft" along x, "conrod1" .. "conrod8", "piston1" .. "piston8"; z is up. Throws at 0, 90, 270, 180
    degrees from -x to +x; conrods 1 and 2 are on the first throw, in the banks at 45 and 135 degrees, and so on.
    Joints: "crankshaft_bearing", and for each cylinder "crank_pin1" (revolute), "piston_pin1" (inline: the small end is
    on the pin's axis), "cylinder1" (prismatic); there are no redundant rows. The torque `torque` sin^2(pi t /
    `duration`) about x drives the crankshaft.

    Parameters
    ----------
    formulation : str
        See `ModelBuilder`.
    radius, length, com : float
        Radius of the crank, length of the conrods, and distance from a conrod's big end to its COM, m.
    crankshaft, conrod, piston : tuple
        Mass in kg and inertia about the COM in kg m^2. Conrod: x along the pin, y from big to small end. Piston: x
        along the pin, y along the cylinder, COM on the pin.
    torque, duration : float
        Peak in N m and length of the pulse in s.
    omega0 : float
        Initial crank speed, rad/s.

    Returns
    -------
    Model
        It starts as described above.
    """
    r, l_rod, l_com = (number(*pair, positive=True) for pair in (("radius", radius), ("length", length), ("com", com)))
    speed = number("omega0", omega0)
    builder = ModelBuilder(formulation=formulation)
    builder.add_body("crankshaft", **_mass("crankshaft", crankshaft), angular_velocity=speed * X_AXIS)
    builder.add_joint("revolute", ground, "crankshaft", point=np.zeros(3), axis=X_AXIS, name="crankshaft_bearing")
    for i, (throw, bank) in enumerate((throw, bank) for throw in THROWS for bank in BANKS):
        big = r * _radial(throw[0]) + (throw[1] + bank[1]) * X_AXIS
        _add_cylinder(builder, i + 1, big, _radial(bank[0]), l_rod, l_com, speed, conrod, piston)
    pulse = Pulse(number("torque", torque), number("duration", duration, positive=True))
    builder.add_force("crankshaft", torque=pulse, name="drive")
    return builder.build()


def _radial(degrees: float) -> Array:
    """e(a) = (0, cos a, sin a)"""
    return np.array([0.0, np.cos(np.deg2rad(degrees)), np.sin(np.deg2rad(degrees))])


def _mass(name: str, given: tuple[float, ArrayLike]) -> dict[str, Any]:
    mass, inertia = given
    return {"mass": number(f"mass of {name}", mass, positive=True), "inertia": array(f"inertia of {name}", inertia)}


def _add_cylinder(
    builder: ModelBuilder,
    i: int,
    big: Array,
    along: Array,
    length: float,
    com: float,
    speed: float,
    conrod: tuple[float, ArrayLike],
    piston: tuple[float, ArrayLike],
) -> None:
    """Conrod from the big end to the small end on the cylinder's axis, and the piston there."""
    across = np.cross(X_AXIS, along)
    height = big @ along + np.sqrt(length**2 - (big @ across) ** 2)
    small = height * along + big[0] * X_AXIS
    rod = (small - big) / length
    # the small end moves along the cylinder: v_big + omega_rod X_AXIS x rod length is normal to `across`
    v_big = speed * np.cross(X_AXIS, big)
    omega_rod = -(v_big @ across) / (length * np.cross(X_AXIS, rod) @ across)
    v_small = v_big + omega_rod * length * np.cross(X_AXIS, rod)

    builder.add_body(
        f"conrod{i}",
        **_mass("conrod", conrod),
        position=big + com * rod,
        rotation=np.column_stack([X_AXIS, rod, np.cross(X_AXIS, rod)]),
        velocity=v_big + com * omega_rod * np.cross(X_AXIS, rod),
        angular_velocity=omega_rod * X_AXIS,
    )
    builder.add_body(
        f"piston{i}",
        **_mass("piston", piston),
        position=small,
        rotation=np.column_stack([X_AXIS, along, across]),
        velocity=v_small,
    )
    builder.add_joint("revolute", "crankshaft", f"conrod{i}", point=big, axis=X_AXIS, name=f"crank_pin{i}")
    builder.add_joint("inline", f"piston{i}", f"conrod{i}", point=small, axis=X_AXIS, name=f"piston_pin{i}")
    builder.add_joint("prismatic", ground, f"piston{i}", point=small, axis=along, name=f"cylinder{i}")
