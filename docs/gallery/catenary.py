"""
Catenary
========

A soft rod between two supports at rest, beside the curve of a chain of the same length.
"""

# sphinx_gallery_tags = ["rod", "statics", "closed form"]
import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import brentq

import lgint

span, length = 1.0, 1.6
rope = lgint.section("circle", E=1e7, G=4e6, rho=1200, radius=3e-3)
a = brentq(lambda a: 2 * a * np.sinh(span / 2 / a) - length, 0.1, 10)
s = np.linspace(-length / 2, length / 2, 41)
line = np.column_stack(
    [a * np.arcsinh(s / a), 0 * s, np.hypot(a, s) - np.hypot(a, length / 2)]
)
b = lgint.ModelBuilder(gravity=(0, 0, -9.81))
b.add_rod(
    "rope", nodes=line, section=rope, reference_strain=(0, 0, 1, 0, 0, 0), length=length
)
for end in (0, 40):
    b.add_joint("spherical", lgint.ground, f"rope.node{end}", point=line[end])
rest = lgint.equilibrium(b.build(start="project"))

x = np.array([rest.position(f"rope.node{i}")[-1] for i in range(41)])
print("sag", x[:, 2].min(), "m; of a chain", line[:, 2].min(), "m")
figure, axes = plt.subplots(figsize=(5, 4), layout="constrained")
axes.plot(x[:, 0], x[:, 2], "o", markersize=4, label="rod")
axes.plot(line[:, 0], line[:, 2], "k", linewidth=0.8, label="chain")
axes.set(xlabel="x / m", ylabel="z / m", aspect="equal")
axes.legend()
plt.show()
