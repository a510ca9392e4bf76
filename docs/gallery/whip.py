"""
Whip
====

The handle of a tapered whip makes half a turn; a bend runs along the rod, and the tip
arrives last and fastest.
"""

# sphinx_gallery_tags = ["rod", "prescribed motion"]
import matplotlib.pyplot as plt
import numpy as np

import lgint

edges, length = 40, 1.5
radii = np.linspace(6e-3, 2e-3, edges)
parts = [
    lgint.section("circle", E=2e7, G=8e6, rho=1000, radius=r, relaxation=5e-3)
    for r in radii
]


def hand(t):
    """A half turn about y within 0.15 s."""
    s = min(t / 0.15, 1.0)
    angle = np.pi * (s - np.sin(2 * np.pi * s) / (2 * np.pi))
    rate = np.pi / 0.15 * (1 - np.cos(2 * np.pi * s))
    second = np.pi / 0.15**2 * 2 * np.pi * np.sin(2 * np.pi * s)
    return np.array([(0, 0, 0, 0, value, 0) for value in (angle, rate, second)])


b = lgint.ModelBuilder()
b.add_rod(
    "whip",
    start=(0, 0, 0),
    end=(-length, 0, 0),
    edges=edges,
    stiffness=[part.stiffness for part in parts],
    inertia=[part.inertia for part in parts],
    damping=[part.damping for part in parts],
    clamped={0: hand},
    kinks=(0.15,),
)
run = lgint.integrate(
    b.build(), "radau5", t_end=0.35, rtol=1e-4, atol=1e-5, t_eval=np.linspace(0, 0.35, 81)
)
nodes = np.array([run.position(f"whip.node{i}") for i in range(edges + 1)])
speeds = np.linalg.norm(run.velocity(f"whip.node{edges}"), axis=1)
print("fastest tip", speeds.max(), "m/s")
figure, (shape, speed) = plt.subplots(2, 1, figsize=(7, 5), layout="constrained")
for k in range(0, 81, 8):
    shape.plot(nodes[:, k, 0], nodes[:, k, 2], color=plt.cm.viridis(k / 80))
shape.set(xlabel="x / m", ylabel="z / m", aspect="equal")
speed.plot(run.t, speeds)
speed.set(xlabel="t / s", ylabel="speed of the tip / m/s")
plt.show()
