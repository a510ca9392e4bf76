"""
Heat map of a sweep
===================

A pendulum on a support that shakes up and down stands upright if the shaking is fast
enough: how far it falls, over frequency and amplitude.
"""

# sphinx_gallery_tags = ["sweep", "support"]
import matplotlib.pyplot as plt
import numpy as np

import lgint


def pendulum(frequency, amplitude):
    def shake(t):
        s, c = np.sin(frequency * t), np.cos(frequency * t)
        return amplitude * np.array([1 - c, frequency * s, frequency**2 * c])

    b = lgint.ModelBuilder(gravity=(0, 0, -9.81), formulation="minimal")
    b.add_body("hand", mass=1.0, inertia=(1, 1, 1))
    up, across = ({"point": (0, 0, 0), "axis": e} for e in ((0, 0, 1), (0, 1, 0)))
    b.add_joint("prismatic", lgint.ground, "hand", **up, name="slide")
    b.add_joint_motion("slide", shake)
    rod = lgint.inertia.rod(0.1, 0.4, axis=(0, 0, 1))
    b.add_body("bar", mass=0.1, inertia=rod, position=(0, 0, 0.2))
    b.add_joint("revolute", "hand", "bar", **across, name="pin")
    model = b.build()
    return model.with_state(model.state(joints={"pin": 0.1}))


table = lgint.sweep(
    pendulum,
    {"frequency": np.linspace(50, 200, 13), "amplitude": np.linspace(0.005, 0.04, 8)},
    "rk44",
    observables={"fall": lambda run: np.degrees(np.abs(run.joint_angle("pin")).max())},
    t_end=2.0,
    h=2e-3,
)
figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
shown = axes.pcolormesh(
    table["frequency"], table["amplitude"] * 1e3, table["fall"].T, vmin=0, vmax=180
)
w = np.linspace(50, 200, 100)
axes.plot(w, 1e3 * np.sqrt(2 * 9.81 * 0.4 * 2 / 3) / w, "r", label="Kapitza's limit")
axes.set(xlabel="frequency / rad/s", ylabel="amplitude / mm", ylim=(2.5, 42.5))
axes.legend()
figure.colorbar(shown, label="largest angle / degrees")
plt.show()
