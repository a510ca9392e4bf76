"""
Foucault's pendulum
===================

A pendulum on a platform that turns once in two minutes, as the Earth does in a day, at
50 degrees of latitude. Seen from the platform its plane turns by the sine of the
latitude times as fast.
"""

# sphinx_gallery_tags = ["support", "rotating frame"]
import matplotlib.pyplot as plt
import numpy as np

import lgint

turn, latitude = 2 * np.pi / 120, np.radians(50)
axis = turn * np.array([np.cos(latitude), 0, np.sin(latitude)])
still = np.zeros(6)


def platform(t):
    return [[0, 0, 0, *(t * axis)], [0, 0, 0, *axis], still]


def weight(state):
    return [*(state.rotation("platform") @ (0, 0, -9.81)), 0, 0, 0]


b = lgint.ModelBuilder()
b.add_support("platform", motion=platform)
b.add_body(
    "bob",
    mass=1.0,
    inertia=(1e-4,) * 3,
    position=(0.2, 0, -2),
    velocity=np.cross(axis, (0.2, 0, -2)),
    angular_velocity=axis,
)
b.add_joint("spherical", "platform", "bob", point=(0, 0, 0))
b.add_force_law(weight, bodies="bob")
run = lgint.integrate(b.build(), "rk44", t_end=60.0, h=0.01)

seen = np.einsum("nji,nj->ni", run.rotation("platform"), run.position("bob"))
along = np.linalg.svd(seen[-300:, :2])[2][0]  # of the last swing
missing = np.degrees(np.arctan2(along[1], along[0]) + 60 * turn * np.sin(latitude))
print("turned by 138 degrees and", -((missing + 90) % 180 - 90), "more")
figure, axes = plt.subplots(figsize=(4.5, 4.5), layout="constrained")
axes.plot(seen[:, 0], seen[:, 1], linewidth=0.6)
axes.set(xlabel="x / m", ylabel="y / m", aspect="equal")
plt.show()
