"""Systems in steady rotation, with values of their eigenvalues from other sources."""

import numpy as np

import lgint
from kinds import FREE

FORMULATIONS = [*FREE, "minimal"]
GOVERNOR = -1.553684 + 18.834320j  # of the sleeve, by a two-coordinate model in the turning frame
ROTOR = (138.9389, 140.7905, 198.2129, 696.3612)  # rad/s at 300 rad/s, roots of the closed form
MAST = (33.50, 43.54)  # rad/s, measured on runs


def governor(formulation, rate=11.32527056541544):
    """Watt's governor: two balls on a turning spindle lift a sleeve against a spring."""
    arm, phi, spin = 0.3, 0.7, (0, 0, rate)
    b = lgint.ModelBuilder(gravity=(0, 0, -9.81), formulation=formulation)
    low = (0, 0, -2 * arm * np.cos(phi))
    b.add_body("spindle", mass=1.0, inertia=(0.01, 0.01, 0.005), position=(0, 0, 0), angular_velocity=spin)
    b.add_joint("revolute", lgint.ground, "spindle", point=(0, 0, 0), axis=(0, 0, 1), name="bearing")
    b.add_body("sleeve", mass=1.0, inertia=(0.002, 0.002, 0.004), position=low, angular_velocity=spin)
    b.add_joint("prismatic", "spindle", "sleeve", point=low, axis=(0, 0, 1), name="slide")
    b.add_joint_drive("slide", stiffness=400.0, damping=5.0, name="spring")
    for i, side in enumerate((-1, 1)):
        x = np.array([side * arm * np.sin(phi), 0, -arm * np.cos(phi)])
        name = f"ball{i + 1}"
        b.add_body(name, mass=0.5, inertia=(5e-4,) * 3, position=x, velocity=np.cross(spin, x), angular_velocity=spin)
        b.add_joint("revolute", "spindle", name, point=(0, 0, 0), axis=(0, 1, 0), name=f"hinge{i + 1}")
        b.add_distance(name, "sleeve", point=(x, low), length=arm, name=f"rod{i + 1}")
    return b.build(redundant="drop")


def rotor(formulation, rate=300.0, damping=0.0):
    """A rigid rotor on two isotropic springs."""
    b = lgint.ModelBuilder(formulation=formulation)
    b.add_body("rotor", mass=10.0, inertia=(0.5, 0.3, 0.3), angular_velocity=(rate, 0, 0))
    if formulation == "minimal":
        b.add_joint("free", lgint.ground, "rotor", point=(0, 0, 0), name="free")
    for x, k in ((-0.5, 1e6), (0.4, 0.0)):
        b.add_cartesian_spring(
            lgint.ground, "rotor", stiffness=(k, 1e5, 1e5), damping=(damping,) * 3, point=(x, 0, 0), name=f"at{x:g}"
        )
    return b.build()


def mast(formulation, rate=50.0, gravity=0.0):
    """A mast on a spherical joint, held by a spring, with a rotor that turns on it."""
    b = lgint.ModelBuilder(gravity=(0, 0, -gravity), formulation=formulation)
    b.add_body("mast", mass=2.0, inertia=(0.5, 0.4, 0.3), position=(0, 0, 1))
    b.add_joint("spherical", lgint.ground, "mast", point=(0, 0, 0), name="foot")
    b.add_cartesian_spring(lgint.ground, "mast", stiffness=(3e3, 5e3, 4e3), point=(0.3, 0.2, 1), name="guy")
    b.add_body("rotor", mass=1.0, inertia=(0.2, 0.1, 0.1), position=(0.4, 0, 1), angular_velocity=(rate, 0, 0))
    b.add_joint("revolute", "mast", "rotor", point=(0.4, 0, 1), axis=(1, 0, 0), name="bearing")
    return b.build()
