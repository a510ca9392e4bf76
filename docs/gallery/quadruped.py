"""
Quadruped
=========

A robot with four legs drops onto the ground from 20 cm. Drives hold its joints.
"""

# sphinx_gallery_tags = ["robot", "contact", "minimal coordinates"]
import matplotlib.pyplot as plt
import numpy as np

import lgint

links = (("hip", 0.6, 5e-4, 0.0), ("thigh", 0.9, 4e-3, -0.2), ("shank", 0.2, 6e-4, -0.18))
b = lgint.ModelBuilder(gravity=(0, 0, -9.81), formulation="minimal")
b.add_body("trunk", mass=6.0, inertia=(0.03, 0.1, 0.11), position=(0, 0, 0.6))
b.add_joint("free", lgint.ground, "trunk", point=(0, 0, 0.6))
for leg, (sx, sy) in enumerate([(1, 1), (1, -1), (-1, 1), (-1, -1)]):
    before, joint = "trunk", np.array([0.2 * sx, 0.08 * sy, 0.6])
    for part, mass, moment, down in links:
        end = joint + (0, 0 if down else 0.05 * sy, down)
        size = {"mass": mass, "inertia": (moment,) * 3}
        b.add_body(f"{part}{leg}", **size, position=(joint + end) / 2)
        at = {"point": joint, "axis": (0, 1, 0) if down else (1, 0, 0)}
        b.add_joint("revolute", before, f"{part}{leg}", **at, name=f"{part}{leg}.joint")
        b.add_joint_drive(f"{part}{leg}.joint", stiffness=100.0, damping=3.0)
        before, joint = f"{part}{leg}", end
    foot = (("sphere", (0, 0, -0.09), 0.02), ("plane", (0, 0, 0), (0, 0, 1)))
    law = {"stiffness": 2e4, "damping": 1.0, "friction": 0.8, "regularization": 1e-2}
    b.add_contact(before, lgint.ground, shapes=foot, **law, name=f"foot{leg}")
run = lgint.integrate(b.build(), "genalpha", t_end=1.0, h=5e-4, retry=10)

figure, (height, force) = plt.subplots(2, 1, sharex=True, layout="constrained")
height.plot(run.t, run.position("trunk")[:, 2])
feet = [run.contact(f"foot{leg}").normal_force.sum(axis=-1) for leg in range(4)]
force.plot(run.t, sum(feet))
force.axhline(9.81 * (6 + 4 * 1.7), color="k", linestyle=":", label="weight")
height.set(ylabel="height of the trunk / m")
force.set(xlabel="t / s", ylabel="force on the feet / N")
force.legend()
plt.show()
