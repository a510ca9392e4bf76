"""
Gyroscope
=========

A top that is released with its axis nearly horizontal nods while it precesses: its tip
draws cusps.
"""

# sphinx_gallery_tags = ["rigid body", "Lie group"]
import matplotlib.pyplot as plt
import numpy as np

import lgint

b = lgint.ModelBuilder(gravity=(0, 0, -9.81), formulation="R3xSO3")
b.add_body(
    "top",
    mass=1.0,
    inertia=lgint.inertia.cylinder(1.0, radius=0.15, length=0.02, axis=(1, 0, 0)),
    position=(0.3, 0, 0.1),
    rotation=(0, -np.arctan(1 / 3), 0),
    angular_velocity=(90.0, 0, 0),
)
b.add_joint("spherical", lgint.ground, "top", point=(0, 0, 0))
run = lgint.integrate(b.build(start="project"), "rk44", t_end=6.0, h=1e-3)

x = run.position("top")
figure = plt.figure(figsize=(5, 5), layout="constrained")
axes = figure.add_subplot(projection="3d")
axes.plot(*x.T)
axes.plot(*np.transpose([(0, 0, 0), x[-1]]), "ko-")
axes.set(xlabel="x / m", ylabel="y / m", zlabel="z / m", zlim=(-0.1, 0.3))
plt.show()
