"""
The turning wing nut
====================

A body that spins about its middle axis turns over again and again. The dotted line is
one period of the closed form by elliptic functions.
"""

# sphinx_gallery_tags = ["rigid body", "closed form"]
import matplotlib.pyplot as plt
import numpy as np
from scipy.special import ellipk

import lgint

J, omega = np.array([1.0, 2.0, 3.0]), np.array([1e-3, 5.0, 0.0])
b = lgint.ModelBuilder()
b.add_body("nut", mass=1.0, inertia=J, angular_velocity=omega)
run = lgint.integrate(
    b.build(), "dop853", t_end=30.0, rtol=1e-12, atol=1e-12, max_step=0.05
)

T, L = (
    J @ omega**2,
    np.sum((J * omega) ** 2),
)  # twice the energy, and the square of the angular momentum
rate = np.sqrt((J[2] - J[1]) * (L - T * J[0]) / J.prod())
k2 = (J[1] - J[0]) * (T * J[2] - L) / ((J[2] - J[1]) * (L - T * J[0]))
period = 4 * ellipk(min(k2, 1 / k2)) / (rate if k2 < 1 else rate * np.sqrt(k2))
print("period", period, "s")

figure, axes = plt.subplots(figsize=(7, 3), layout="constrained")
for i, label in enumerate("xyz"):
    axes.plot(run.t, run.angular_velocity("nut")[:, i], label=rf"$\omega_{label}$")
turning = np.interp(period, run.t, run.angular_velocity("nut")[:, 1])
print("after one period the rate is", turning, "again")
axes.axvline(period, color="k", linestyle=":", label="one period")
axes.set(xlabel="t / s", ylabel="angular velocity / rad/s")
figure.legend(*axes.get_legend_handles_labels(), loc="outside right")
plt.show()
