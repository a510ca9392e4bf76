"""
Car over a bump
===============

Half a car whose suspension has springs and dampers at two wheels. The road moves a
support under each wheel, under the rear one later by the time for the wheelbase.
"""

# sphinx_gallery_tags = ["springs", "support"]
import matplotlib.pyplot as plt
import numpy as np

import lgint

speed, length, size = 15.0, 2.0, 0.05  # m/s, and of the bump, m
omega = 2 * np.pi * speed / length


def road(delay):
    """Height of the road with both derivatives, over a bump that begins after `delay`."""

    def motion(t):
        a = np.clip(omega * (t - delay), 0, 2 * np.pi)
        on = 0 < a < 2 * np.pi
        rates = (1 - np.cos(a), omega * np.sin(a), omega**2 * np.cos(a) * on)
        return [(0, 0, size / 2 * value) for value in rates]

    return motion


b = lgint.ModelBuilder()  # about the state of rest under gravity
b.add_body("chassis", mass=700.0, inertia=(200, 1200, 1300), position=(0, 0, 0.6))
b.add_joint("planar", lgint.ground, "chassis", point=(0, 0, 0.6), axis=(0, 1, 0))
for name, x in (("front", 1.2), ("rear", -1.4)):
    delay = 0.2 + (1.2 - x) / speed
    kinks = (delay, delay + length / speed)
    b.add_support(f"{name} road", motion=road(delay), kinks=kinks)
    b.add_body(f"{name} wheel", mass=40.0, inertia=(1, 1, 1), position=(x, 0, 0.3))
    wheel, up = f"{name} wheel", {"point": (x, 0, 0.3), "axis": (0, 0, 1)}
    b.add_joint("prismatic", "chassis", wheel, **up, name=name)
    b.add_joint_drive(name, stiffness=2.2e4, damping=2.0e3, name=f"{name} spring")
    tyre = {"stiffness": (0, 0, 2e5), "damping": (0, 0, 200), "offset": (0, 0, 0.3)}
    centers = {"point_a": (0, 0, 0), "point_b": (0, 0, 0)}
    b.add_cartesian_spring(f"{name} road", wheel, **tyre, **centers)
run = lgint.integrate(b.build(), "genalpha", t_end=2.0, h=1e-3)

figure, (heave, force) = plt.subplots(2, 1, sharex=True, layout="constrained")
for body, rest in (("chassis", 0.6), ("front wheel", 0.3), ("rear wheel", 0.3)):
    heave.plot(run.t, 1e3 * (run.position(body)[:, 2] - rest), label=body)
for name in ("front", "rear"):
    force.plot(run.t, run.force(f"{name} spring"), label=f"{name} spring and damper")
heave.set(ylabel="heave / mm")
force.set(xlabel="t / s", ylabel="force / N")
heave.legend()
force.legend()
plt.show()
