"""
Elastica
========

A clamped strip under a growing force at its tip: the loads are steps of one equilibrium
after another.
"""

# sphinx_gallery_tags = ["rod", "statics"]
import matplotlib.pyplot as plt
import numpy as np

import lgint

strip = lgint.section("rectangle", E=210e9, G=81e9, rho=7850, width=0.02, height=5e-4)
b = lgint.ModelBuilder()
b.add_rod("strip", start=(0, 0, 0), end=(0.5, 0, 0), edges=40, section=strip, clamped=[0])
bending = strip.stiffness[3:5].min()
b.add_force("strip.node40", force=(0, 0, 20 * bending / 0.5**2))
rest = lgint.equilibrium(b.build(), loads=np.linspace(0, 1, 11))

figure, axes = plt.subplots(figsize=(5, 4), layout="constrained")
nodes = np.array([rest.position(f"strip.node{i}") for i in range(41)])
for k in range(len(rest.t)):
    axes.plot(nodes[:, k, 0], nodes[:, k, 2], color=plt.cm.viridis(k / 10))
axes.set(xlabel="x / m", ylabel="z / m", aspect="equal")
plt.show()
