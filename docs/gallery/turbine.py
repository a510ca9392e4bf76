"""
Wind turbine with pitch control
===============================

A gust meets a rotor; a controller pitches the blades, and the speed returns to its
nominal value.
"""

# sphinx_gallery_tags = ["control", "rotor"]
import matplotlib.pyplot as plt
import numpy as np

import lgint

nominal, J = 1.2, 4e7  # rad/s, kg m^2


def wind(t):
    return 12.0 + 3.0 * (1 - np.cos(2 * np.pi * np.clip((t - 10) / 10, 0, 1))) / 2


def control(state):
    """Torque on the shaft; the pitch follows a PI law through a lag of 0.3 s."""
    speed = state.joint_rate("shaft")
    pitch, integral = state.control("pitch").states.values()
    aero = 2.4e4 * wind(state.t) ** 2 * (1.2 - 2.0 * pitch)
    error = speed - nominal
    return [
        aero - 4.1e6 * nominal / max(speed, 0.1),
        (3.0 * error + 0.5 * integral - pitch) / 0.3,
        error,
    ]


b = lgint.ModelBuilder(formulation="minimal")
b.add_body("rotor", mass=1e5, inertia=(J, J / 2, J / 2))
b.add_joint(
    "revolute",
    lgint.ground,
    "rotor",
    point=(0, 0, 0),
    axis=(1, 0, 0),
    rate=nominal,
    name="shaft",
)
b.add_control(
    control, joints="shaft", states=["angle", "integral"], reads="shaft", name="pitch"
)
run = lgint.integrate(b.build(), "radau5", t_end=60.0, rtol=1e-6, atol=1e-8, max_step=0.5)

figure, axes = plt.subplots(3, 1, figsize=(6, 6), sharex=True, layout="constrained")
axes[0].plot(run.t, [wind(t) for t in run.t])
axes[1].plot(run.t, run.joint_rate("shaft"))
axes[2].plot(run.t, np.degrees(run.control("pitch").states["angle"]))
labels = ("wind / m/s", "speed / rad/s", "pitch / degrees")
for panel, label in zip(axes, labels, strict=True):
    panel.set(ylabel=label)
axes[2].set(xlabel="t / s")
plt.show()
