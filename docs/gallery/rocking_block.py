"""
Rocking block
=============

A block that is tilted and let go rocks from edge to edge on a hard floor with friction.
In Housner's model an impact takes the rate times 1 - 1.5 sin² α, where tan α is the
width over the height.
"""

# sphinx_gallery_tags = ["contact", "friction"]
import matplotlib.pyplot as plt
import numpy as np

import lgint

width, height, tilt = 0.3, 1.2, 0.15
alpha = np.arctan(width / height)
edge = np.array([np.sin(tilt - alpha), 0, np.cos(tilt - alpha)])  # to the centre
centre = np.hypot(width, height) / 2 * edge
size = np.array([width, width, height])
b = lgint.ModelBuilder(gravity=(0, 0, -9.81))
b.add_body(
    "block",
    mass=50.0,
    inertia=lgint.inertia.box(50.0, size),
    position=centre,
    rotation=(0, tilt, 0),
)
shapes = (("box", (0, 0, 0), size / 2), ("plane", (0, 0, 0), (0, 0, 1)))
friction = {"friction": 0.9, "bristle": (1e7, 1e4)}
b.add_contact(
    "block",
    lgint.ground,
    shapes=shapes,
    stiffness=1e7,
    damping=100.0,
    **friction,
    name="floor",
)
run = lgint.integrate(b.build(), "radau5", t_end=4.0, rtol=1e-6, atol=1e-8, max_step=5e-3)

R = run.rotation("block")
angle = np.degrees(np.arctan2(R[:, 0, 2], R[:, 2, 2]))
figure, axes = plt.subplots(figsize=(7, 3), layout="constrained")
axes.plot(run.t, angle)
axes.set(xlabel="t / s", ylabel="tilt / degrees")
plt.show()
