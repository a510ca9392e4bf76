"""
Double pendulum
===============

Two double pendulums that start one millionth of a radian apart, in minimal coordinates.
After some seconds they have nothing in common, although each keeps its energy to eleven
digits.
"""

# sphinx_gallery_tags = ["chaos", "minimal coordinates"]
import matplotlib.pyplot as plt

import lgint


def pendulum(angle):
    b = lgint.ModelBuilder(gravity=(0, 0, -9.81), formulation="minimal")
    for name, z in (("upper", 0.0), ("lower", -1.0)):
        rod = lgint.inertia.rod(1.0, 1.0, axis=(0, 0, 1))
        b.add_body(name, mass=1.0, inertia=rod, position=(0, 0, z - 0.5))
    b.add_joint(
        "revolute",
        lgint.ground,
        "upper",
        point=(0, 0, 0),
        axis=(0, 1, 0),
        name="shoulder",
    )
    b.add_joint(
        "revolute", "upper", "lower", point=(0, 0, -1), axis=(0, 1, 0), name="elbow"
    )
    model = b.build()
    return model.with_state(model.state(joints={"shoulder": angle, "elbow": 0.5}))


figure, (path, energy) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
for angle in (2.5, 2.5 + 1e-6):
    run = lgint.integrate(pendulum(angle), "dop853", t_end=12.0, rtol=1e-12, atol=1e-12)
    tip = run.point("lower", (0, 0, -0.5))
    path.plot(tip[:, 0], tip[:, 2], linewidth=0.8, label=f"from {angle:.6f} rad")
    energy.plot(run.t, run.energy() - run.energy()[0], linewidth=0.8)
path.set(xlabel="x / m", ylabel="z / m", aspect="equal")
path.legend()
energy.set(xlabel="t / s", ylabel="change of the energy / J")
plt.show()
