"""
Crane
=====

A trolley moves a hanging load by two metres. If the acceleration lasts for one period
of the load's swing it hangs still afterwards.
"""

# sphinx_gallery_tags = ["prescribed motion", "minimal coordinates"]
import matplotlib.pyplot as plt
import numpy as np

import lgint


def crane(ramp, cruise):
    a = 2.0 / (ramp * (ramp + cruise))  # m/s^2, from rest to rest over 2 m
    pieces = [(0, 0, 0, a), (ramp, a * ramp**2 / 2, a * ramp, 0)]
    stop = ramp + cruise
    pieces += [
        (stop, a * ramp**2 / 2 + a * ramp * cruise, a * ramp, -a),
        (stop + ramp, 2.0, 0, 0),
    ]
    b = lgint.ModelBuilder(gravity=(0, 0, -9.81), formulation="minimal")
    b.add_body("trolley", mass=50.0, inertia=(1, 1, 1))
    b.add_body("load", mass=200.0, inertia=(10, 10, 10), position=(0, 0, -4))
    b.add_joint(
        "prismatic", lgint.ground, "trolley", point=(0, 0, 0), axis=(1, 0, 0), name="rail"
    )
    b.add_joint(
        "revolute", "trolley", "load", point=(0, 0, 0), axis=(0, 1, 0), name="swing"
    )
    b.add_joint_motion("rail", pieces, name="drive")
    return b.build()


period = 2 * np.pi * np.sqrt((4 + 10 / 200 / 4) / 9.81)
figure, (angle, force) = plt.subplots(
    2, 1, figsize=(6, 5), sharex=True, layout="constrained"
)
for label, ramp in (("half a period", period / 2), ("one period", period)):
    run = lgint.integrate(crane(ramp, 1.0), "rk44", t_end=15.0, h=5e-3)
    angle.plot(run.t, np.degrees(run.joint_angle("swing")), label=label)
    force.plot(run.t, run.force("drive"))
angle.set(ylabel="swing / degrees")
force.set(xlabel="t / s", ylabel="force on the trolley / N")
angle.legend(title="acceleration for")
plt.show()
