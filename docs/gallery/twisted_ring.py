"""
Twisted ring
============

A rod whose ends were turned against each other by two turns is closed to a ring. With
equal stiffness against bending and torsion a plane ring is stable up to sqrt(3) turns;
this one snaps into a figure of eight, passes through itself, as nothing lets it touch
itself, and opens again without any twist.
"""

# sphinx_gallery_tags = ["rod", "stability"]
import matplotlib.pyplot as plt
import numpy as np

import lgint

edges, radius, turns = 48, 0.2, 2.0
phi = 2 * np.pi * np.arange(edges) / edges
line = radius * np.column_stack([np.cos(phi), np.sin(phi), 0.002 * np.sin(2 * phi)])
wire = lgint.section("circle", E=70e9, G=35e9, rho=2700, radius=1e-3, relaxation=1e-2)
b = lgint.ModelBuilder()
twist = turns / radius  # rad/m
b.add_rod(
    "ring",
    nodes=line,
    closed=True,
    section=wire,
    reference_strain=(0, 0, 1, 0, 0, -twist),
    constraints=None,
)
run = lgint.integrate(b.build(), "radau5", t_end=2.0, rtol=1e-4, atol=1e-5, max_step=0.05)

figure = plt.figure(figsize=(5, 5), layout="constrained")
axes = figure.add_subplot(projection="3d")
nodes = np.array([run.position(f"ring.node{i}") for i in [*range(edges), 0]])
energy = run.energy()
for level in np.linspace(0, 1, 7):
    k = np.argmin(abs(energy - energy[0] + level * np.ptp(energy)))
    axes.plot(*nodes[:, k].T, color=plt.cm.viridis(level))
axes.set(xlabel="x / m", ylabel="y / m", zlabel="z / m", aspect="equal")
plt.show()
