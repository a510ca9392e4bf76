"""
Stewart platform
================

The forces in six legs that heave, tilt and turn a platform of 20 kg: inverse dynamics
of closed loops.
"""

# sphinx_gallery_tags = ["inverse dynamics", "closed loop"]
import matplotlib.pyplot as plt
import numpy as np

import lgint


def circle(radius, degrees, z):
    angles = np.radians(degrees)
    return np.stack([radius * np.cos(angles), radius * np.sin(angles), np.full(6, z)], 1)


def heave(t):
    size, rate = np.array([0.02, 0, 0.06, 0.1, 0, 0.2]), 2.0
    s, c = np.sin(rate * t), np.cos(rate * t)
    return [size * s + (0, 0, 0.9, 0, 0, 0), size * rate * c, -size * rate**2 * s]


def stewart(held):
    b = lgint.ModelBuilder(gravity=(0, 0, -9.81))
    top, v = (0, 0, 0.9), heave(0.0)[1]
    moving = {"velocity": v[:3], "angular_velocity": v[3:]}
    b.add_body("platform", mass=20.0, inertia=(1, 1.2, 2), position=top, **moving)
    feet = circle(1.0, [-10, 10, 110, 130, 230, 250], 0.0)
    heads = circle(0.5, [-50, 50, 70, 170, 190, 290], 0.9)
    for i, (foot, head) in enumerate(zip(feet, heads, strict=True)):
        lower, upper, leg = f"lower{i}", f"upper{i}", head - foot
        x = np.cross(leg, (0, 0, 1)) / np.linalg.norm(np.cross(leg, (0, 0, 1)))
        y = np.cross(leg, x) / np.linalg.norm(leg)
        for part, s in ((lower, 0.25), (upper, 0.75)):
            R, at = np.stack([x, y, np.cross(x, y)], axis=1), foot + s * leg
            b.add_body(part, mass=2.0, inertia=(0.1, 0.1, 0.01), position=at, rotation=R)
        b.add_joint("universal", lgint.ground, lower, point=foot, axis=x, second_axis=y)
        b.add_joint("prismatic", lower, upper, point=foot, axis=leg, name=f"leg{i}")
        b.add_joint("spherical", upper, "platform", point=head)
    if held:
        b.add_support("hand", motion=heave)
        b.add_joint("rigid", "hand", "platform", point=top)
    return b.build(start="project")


held, free = stewart(held=True), stewart(held=False)
run = lgint.integrate(held, "herk4", t_end=np.pi, h=0.02)
legs = [f"leg{i}" for i in range(6)]
forces = free.inverse_dynamics(run.q, run.v, run.vdot, run.t, actuators=legs)
figure, axes = plt.subplots(figsize=(6, 3.5), layout="constrained")
axes.plot(run.t, forces, label=legs)
axes.set(xlabel="t / s", ylabel="force of the leg / N")
axes.legend(ncols=2)
plt.show()
