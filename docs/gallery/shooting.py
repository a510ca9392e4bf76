"""
Shooting problem
================

The torque, given at 21 times, that swings a pendulum up to rest at the top in two
seconds with the least effort, by the exact derivatives of the runs.
"""

# sphinx_gallery_tags = ["optimal control"]
import matplotlib.pyplot as plt
import numpy as np

import lgint

knots = np.linspace(0, 2, 21)
b = lgint.ModelBuilder(gravity=(0, 0, -9.81), formulation="minimal")
b.add_body("bar", mass=1.0, inertia=(0.02, 0.02, 0.01), position=(0, 0, -0.5))
b.add_joint("revolute", lgint.ground, "bar", point=(0, 0, 0), axis=(0, 1, 0), name="pin")
b.add_joint_drive("pin", torque=(knots, np.ones(21)), name="motor")
misses = lgint.fit_problem(
    b.build(),
    "genalpha",
    ([2.0], [np.pi], [0.0]),
    [f"motor.load[{i},0]" for i in range(21)],
    outputs=[("joint_angle", "pin"), ("joint_rate", "pin")],
    h=0.02,
)

torque, change = misses.x0, np.inf
while np.abs(change).max() > 1e-3:
    # of all torques that hit the top, to first order, the smallest one
    J = misses.jac(torque)
    change = np.linalg.pinv(J) @ (J @ torque - misses.fun(torque)) - torque
    torque = torque + change
print("the pendulum misses the top by", *misses.fun(torque))
run = lgint.integrate(misses.run(torque).model, "genalpha", t_end=2.0, h=0.02)
figure, (angle, effort) = plt.subplots(
    2, 1, figsize=(6, 4.5), sharex=True, layout="constrained"
)
angle.plot(run.t, run.joint_angle("pin"))
effort.plot(knots, torque, "o-")
effort.axhline(9.81 * 0.5, color="k", linestyle=":", label="holds the bar level")
angle.set(ylabel="angle / rad")
effort.set(xlabel="t / s", ylabel="torque / N m")
effort.legend()
plt.show()
