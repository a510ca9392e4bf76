"""
Watt's governor
===============

Two balls lift a sleeve. The root locus, over the damper of the sleeve, shows when the
governor stops hunting.
"""

# sphinx_gallery_tags = ["linear analysis", "closed loop"]
import matplotlib.pyplot as plt
import numpy as np

import lgint


def governor(damping, arm=0.3, phi=0.7, spin=(0, 0, 11.32527056541544)):
    b = lgint.ModelBuilder(gravity=(0, 0, -9.81))
    low = (0, 0, -2 * arm * np.cos(phi))
    b.add_body("spindle", mass=1.0, inertia=(0.01, 0.01, 0.005), angular_velocity=spin)
    b.add_joint("revolute", lgint.ground, "spindle", point=(0, 0, 0), axis=(0, 0, 1))
    b.add_body(
        "sleeve",
        mass=1.0,
        inertia=(2e-3, 2e-3, 4e-3),
        position=low,
        angular_velocity=spin,
    )
    b.add_joint("prismatic", "spindle", "sleeve", point=low, axis=(0, 0, 1), name="slide")
    b.add_joint_drive("slide", stiffness=400.0, damping=damping)
    for name, side in (("left", -1), ("right", 1)):
        x = np.array([side * arm * np.sin(phi), 0, -arm * np.cos(phi)])
        motion = {"velocity": np.cross(spin, x), "angular_velocity": spin}
        b.add_body(name, mass=0.5, inertia=(5e-4,) * 3, position=x, **motion)
        b.add_joint("revolute", "spindle", name, point=(0, 0, 0), axis=(0, 1, 0))
        b.add_distance(name, "sleeve", point=(x, low), length=arm)
    return b.build(redundant="drop")


figure, axes = plt.subplots(figsize=(5, 4), layout="constrained")
for damping in np.linspace(0, 60, 61):
    roots = lgint.linearize(governor(damping).state(), frame="spindle").eigenvalues
    axes.scatter(roots.real, roots.imag, s=8, color=plt.cm.viridis(damping / 60))
axes.set(xlabel=r"Re $\lambda$ / 1/s", ylabel=r"Im $\lambda$ / rad/s")
axes.grid()
plt.show()
