"""
Shooting problem
================

The torque, given at eleven times, that swings a pendulum up to rest at the top in two
seconds with the least effort.
"""

# sphinx_gallery_tags = ["optimal control"]
import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import minimize

import lgint

knots = np.linspace(0, 2, 11)


def swing(torques):
    b = lgint.ModelBuilder(gravity=(0, 0, -9.81), formulation="minimal")
    b.add_body("bar", mass=1.0, inertia=(0.02, 0.02, 0.01), position=(0, 0, -0.5))
    b.add_joint(
        "revolute", lgint.ground, "bar", point=(0, 0, 0), axis=(0, 1, 0), name="pin"
    )
    b.add_joint_drive("pin", torque=(knots, torques), name="motor")
    return lgint.integrate(b.build(), "rk44", t_end=2.0, h=0.02)


def end(torques):
    run = swing(torques)
    return [run.joint_angle("pin")[-1] - np.pi, run.joint_rate("pin")[-1]]


found = minimize(
    lambda u: u @ u,
    np.ones(11),
    constraints={"type": "eq", "fun": end},
    options={"maxiter": 200},
)
print("the pendulum misses the top by", *end(found.x))
run = swing(found.x)
figure, (angle, torque) = plt.subplots(
    2, 1, figsize=(6, 4.5), sharex=True, layout="constrained"
)
angle.plot(run.t, run.joint_angle("pin"))
torque.plot(knots, found.x, "o-")
torque.axhline(9.81 * 0.5, color="k", linestyle=":", label="holds the bar level")
angle.set(ylabel="angle / rad")
torque.set(xlabel="t / s", ylabel="torque / N m")
torque.legend()
plt.show()
