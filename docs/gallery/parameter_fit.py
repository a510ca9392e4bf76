"""
Parameter fit
=============

Damping and inertia of a pendulum from a noisy measurement of its angle, by least
squares.
"""

# sphinx_gallery_tags = ["fit", "study"]
import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import least_squares

import lgint

b = lgint.ModelBuilder(gravity=(0, 0, -9.81), formulation="minimal")
b.add_body("bar", mass=1.0, inertia=(0.1, 0.1, 0.03), position=(0, 0, -0.5))
b.add_joint("revolute", lgint.ground, "bar", point=(0, 0, 0), axis=(0, 1, 0), name="pin")
b.add_joint_drive("pin", damping=0.1, name="friction")
model = b.build()
model = model.with_state(model.state(joints={"pin": 1.2}))
times = np.linspace(0, 6, 121)


def angle(parameters):
    inertia, damping = parameters
    variant = model.with_parameters(
        **{"bar.inertia[1,1]": inertia, "friction.damping": damping}
    )
    run = lgint.integrate(
        variant, "dopri5", t_end=6.0, rtol=1e-8, atol=1e-8, t_eval=times
    )
    return run.joint_angle("pin")


measured = angle((0.083, 0.15)) + 0.02 * np.random.default_rng(1).normal(size=121)
fit = least_squares(lambda p: angle(p) - measured, (0.1, 0.1), x_scale=(0.1, 0.1))
error = np.sqrt(np.diag(np.linalg.inv(fit.jac.T @ fit.jac))) * np.std(fit.fun)
for name, value, deviation in zip(("inertia", "damping"), fit.x, error, strict=True):
    print(f"{name} {value:.5f} +- {deviation:.5f}")
figure, axes = plt.subplots(figsize=(7, 3), layout="constrained")
axes.plot(times, measured, ".", color="0.6", label="measured")
axes.plot(times, angle((0.1, 0.1)), ":", label="first guess")
axes.plot(times, angle(fit.x), label="fitted")
axes.set(xlabel="t / s", ylabel="angle / rad")
axes.legend()
plt.show()
