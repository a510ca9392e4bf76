"""
Four-bar linkage
================

The curve that a point of the coupler draws. Four hinges in a plane lock more than the
linkage has; the rows that follow from others are found and dropped.
"""

# sphinx_gallery_tags = ["joints", "closed loop", "redundant"]
import matplotlib.pyplot as plt
import numpy as np

import lgint

A, B, C, D = np.array([(0.0, 0, 0), (0, 0, 0.3), (0.6, 0, 0.8), (1.0, 0, 0)])
b = lgint.ModelBuilder()
for name, P, Q in (("crank", A, B), ("coupler", B, C), ("rocker", C, D)):
    length = np.linalg.norm(Q - P)
    turn = (0, -np.arctan2(*(Q - P)[[2, 0]]), 0)
    b.add_body(
        name,
        mass=1.0,
        inertia=(1e-3, length**2 / 12, length**2 / 12),
        position=(P + Q) / 2,
        rotation=turn,
    )
pins = (
    (lgint.ground, "crank", A),
    ("crank", "coupler", B),
    ("coupler", "rocker", C),
    ("rocker", lgint.ground, D),
)
for (first, second, point), name in zip(pins, "ABCD", strict=True):
    b.add_joint("revolute", first, second, point=point, axis=(0, 1, 0), name=name)
b.add_joint_motion("A", lambda t: (np.pi * t**2, 2 * np.pi * t, 2 * np.pi))
model = b.build(redundant="drop")
print("dropped:", model.dropped_rows)
run = lgint.integrate(model, "genalpha", t_end=np.sqrt(2), h=np.sqrt(2) / 1000)

figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
for i in range(0, len(run.t), 100):
    bars = [
        run.point(name, (s, 0, 0))[i]
        for name, s in (("crank", -0.15), ("crank", 0.15), ("rocker", 0.0))
    ]
    axes.plot(*np.array(bars)[:, [0, 2]].T, color="0.8")
for s in (-0.3, 0.0, 0.3):
    curve = run.point("coupler", (s, 0, 0.2))
    axes.plot(curve[:, 0], curve[:, 2])
axes.set(xlabel="x / m", ylabel="z / m", aspect="equal")
plt.show()
