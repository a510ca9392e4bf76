"""
Parameter fit
=============

Damping and inertia of a pendulum from a noisy measurement of its angle, by least
squares with the exact derivatives of the runs.
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
true = {"bar.inertia[1,1]": 0.083, "friction.damping": 0.15}
times = np.linspace(0, 6, 121)
real = lgint.integrate(
    model.with_parameters(**true), "genalpha", t_end=6.0, h=0.01, t_eval=times
)
noise = 0.02 * np.random.default_rng(1).normal(size=121)
measured = real.joint_angle("pin") + noise

problem = lgint.fit_problem(
    model,
    "genalpha",
    (times, measured),
    list(true),
    outputs=[("joint_angle", "pin")],
    h=0.01,
)
fit = least_squares(problem.fun, problem.x0, problem.jac, x_scale="jac")
error = np.sqrt(np.diag(problem.covariance(fit.x)))
for name, value, deviation in zip(true, fit.x, error, strict=True):
    print(f"{name} {value:.5f} +- {deviation:.5f}")
guess, fitted = (problem.run(x).joint_angle("pin") for x in (problem.x0, fit.x))
figure, axes = plt.subplots(figsize=(7, 3), layout="constrained")
axes.plot(times, measured, ".", color="0.6", label="measured")
axes.plot(times, guess, ":", label="first guess")
axes.plot(times, fitted, label="fitted")
axes.set(xlabel="t / s", ylabel="angle / rad")
axes.legend()
plt.show()
