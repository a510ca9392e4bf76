"""
Slider-crank: torque over crank angle
=====================================

The torque that turns a crank at constant speed: the effort of the prescribed motion.
"""

# sphinx_gallery_tags = ["joints", "inverse dynamics"]
import matplotlib.pyplot as plt
import numpy as np

import lgint

b = lgint.ModelBuilder(gravity=(0, 0, -9.81))
rate, crank, rod = 2 * np.pi * 5, 0.1, 0.3
b.add_body(
    "crank",
    mass=1.0,
    inertia=lgint.inertia.rod(1.0, crank),
    position=(crank / 2, 0, 0),
    angular_velocity=(0, rate, 0),
)
b.add_body(
    "rod", mass=1.5, inertia=lgint.inertia.rod(1.5, rod), position=(crank + rod / 2, 0, 0)
)
b.add_body("piston", mass=0.8, inertia=(1e-3,) * 3, position=(crank + rod, 0, 0))
pin = {"axis": (0, 1, 0)}
b.add_joint("revolute", lgint.ground, "crank", point=(0, 0, 0), **pin, name="shaft")
b.add_joint("revolute", "crank", "rod", point=(crank, 0, 0), **pin)
b.add_joint("revolute", "rod", "piston", point=(crank + rod, 0, 0), **pin)
b.add_joint(
    "prismatic", lgint.ground, "piston", point=(crank + rod, 0, 0), axis=(1, 0, 0)
)
b.add_joint_motion("shaft", lambda t: (rate * t, rate, 0.0), name="motor")
run = lgint.integrate(
    b.build(start="project", redundant="drop"), "genalpha", t_end=0.2, h=2e-4, rho_inf=0.6
)

figure, axes = plt.subplots(figsize=(6, 3.5), layout="constrained")
axes.plot(np.degrees(run.joint_angle("shaft")), run.force("motor"))
axes.set(xlabel="crank angle / degrees", ylabel="torque / N m", xticks=range(0, 361, 90))
plt.show()
