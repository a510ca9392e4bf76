"""
Bouncing ball
=============

An event finds the floor, and its action is the impact: a point mass without friction,
and a ball that grips.
"""

# sphinx_gallery_tags = ["impact", "events"]
import matplotlib.pyplot as plt

import lgint

shapes = (("sphere", (0, 0, 0), 0.05), ("plane", (0, 0, 0), (0, 0, 1)))
b = lgint.ModelBuilder(gravity=(0, 0, -9.81))
ball = lgint.inertia.sphere(0.1, radius=0.05)
start = {"position": (0, 0, 1), "velocity": (1, 0, 0), "angular_velocity": (0, -60, 0)}
b.add_body("ball", mass=0.1, inertia=ball, **start)
b.add_contact("ball", lgint.ground, shapes=shapes, stiffness=0, name="floor")
model = b.build()


def flight(tangential):
    """A run with impacts in which the point that touches slides freely, or sticks."""

    def bounce(state):
        return state.after_impact("floor", restitution=0.85, tangential=tangential)

    touch = lgint.event(lambda state: state.gap("floor"), direction=-1, action=bounce)
    return lgint.integrate(model, "rk44", t_end=3.0, h=0.01, events=touch)


figure, axes = plt.subplots(figsize=(7, 3), layout="constrained")
for tangential in ("free", "stick"):
    x = flight(tangential).position("ball")
    axes.plot(x[:, 0], x[:, 2], label=tangential)
axes.set(xlabel="x / m", ylabel="z / m", aspect="equal")
axes.legend()
plt.show()
