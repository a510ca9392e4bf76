"""
Campbell diagram
================

The frequencies of a rotor between two elastic bearings, over its speed: forward and
backward whirl part, and a line of the speed itself crosses them at critical speeds.
"""

# sphinx_gallery_tags = ["rotor", "linear analysis"]
import matplotlib.pyplot as plt
import numpy as np

import lgint

b = lgint.ModelBuilder()
b.add_body("rotor", mass=10.0, inertia=(0.5, 0.3, 0.3))
for x, along in ((-0.5, 1e6), (0.4, 0.0)):
    b.add_cartesian_spring(
        lgint.ground, "rotor", stiffness=(along, 1e5, 1e5), point=(x, 0, 0)
    )
found = lgint.campbell(
    b.build(), np.linspace(0, 300, 31), axis=(1, 0, 0), rotating=["rotor"], n=5
)

figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
found.plot(orders=(1,), ax=axes)
plt.show()
