"""Four bars in a closed loop, free in space, under a pulse of force and moment."""

import numpy as np

from lgint._args import choice, number
from lgint._build.builder import ModelBuilder
from lgint._model.model import Model
from lgint.models._registry import benchmark

# force and moment on the first bar as multiples of the pulse
LOADS = {
    "default": ((8.0, 0.0, 0.0), (6.0, 0.0, 0.0)),
    "mild": ((0.8, 0.4, 0.2), (0.6, 0.05, 0.4)),
    "generic": ((8.0, 4.0, 2.0), (6.0, 5.0, 4.0)),
}


@benchmark("kinon2024 5.5")
def four_bar(
    *,
    formulation: str = "euler_parameters",
    load: str = "default",
    peak: float = 100.0,
    length: float = 10.0,
    width: float = 1.0,
    density: float = 1.0,
) -> Model:
    """Four bars in a closed loop, free in space, under a pulse.

    The bars "bar1" ... form a square in the x-y plane, at rest, with spherical joints "joint1" ... at its corners.

    "joint1" connects "bar1" and "bar2", and "joint4" connects "bar4" and "bar1". Bars 1 and 3 lie along y with their
    COM at x = `length` / 2 and -`length` / 2, and bars 2 and 4 lie along x with their COM at y = `length` / 2 and
    -`length` / 2; at the start all body axes are parallel to the inertial ones. There is no gravity. A force at the COM
    of bar 1 and a moment on it, both in inertial axes, rise from zero to `peak` times their vectors at t = 0.5 s and
    fall back to zero at t = 1 s; afterwards linear momentum, angular momentum and energy are constant.

    Parameters
    ----------
    formulation : str
        See `ModelBuilder`.
    load : str
        "default": force (8, 0, 0), moment (6, 0, 0), as in the paper; no bar turns about its long axis. "generic":
        force (8, 4, 2), moment (6, 5, 4), which spins a bar at 150 rad/s and needs h <= 0.005 s. "mild": force
        (0.8, 0.4, 0.2), moment (0.6, 0.05, 0.4).
    peak : float
        Largest factor of these vectors, which are in N and N m.
    length, width : float
        Length of a bar and side of its square section, m.
    density : float
        Density, kg/m^3.

    Returns
    -------
    Model
        It starts as described above.
    """
    force, moment = LOADS[choice("load", load, LOADS)]
    highest = number("peak", peak)
    long, wide = number("length", length, positive=True), number("width", width, positive=True)
    mass = number("density", density, positive=True) * long * wide**2
    across, along = mass / 12 * (long**2 + wide**2), mass / 12 * 2 * wide**2
    builder = ModelBuilder(formulation=formulation)
    half = long / 2
    for i, position in enumerate(((half, 0.0, 0.0), (0.0, half, 0.0), (-half, 0.0, 0.0), (0.0, -half, 0.0))):
        inertia = (along, across, across) if i % 2 else (across, along, across)
        builder.add_body(f"bar{i + 1}", mass=mass, inertia=inertia, position=position)
    for i, (x, y) in enumerate(((half, half), (-half, half), (-half, -half), (half, -half))):
        builder.add_joint("spherical", f"bar{i + 1}", f"bar{(i + 1) % 4 + 1}", point=(x, y, 0.0), name=f"joint{i + 1}")
    times, pulse = np.array([0.0, 0.5, 1.0]), highest * np.array([0.0, 1.0, 0.0])
    tables = [(times, np.outer(pulse, vector)) for vector in (force, moment)]
    builder.add_force("bar1", force=tables[0], torque=tables[1], name="pulse")
    return builder.build()
