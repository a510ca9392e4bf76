"""
Newton's cradle
===============

Five balls on strings with Hertzian contacts, of which one is let go.
"""

# sphinx_gallery_tags = ["contact", "minimal coordinates"]
import matplotlib.pyplot as plt
import numpy as np

import lgint

radius, length = 0.02, 0.3
b = lgint.ModelBuilder(gravity=(0, 0, -9.81), formulation="minimal")
for i in range(5):
    x = 2.001 * radius * i
    ball = lgint.inertia.sphere(0.25, radius)
    b.add_body(f"ball{i}", mass=0.25, inertia=ball, position=(x, 0, 0))
    b.add_joint(
        "revolute",
        lgint.ground,
        f"ball{i}",
        point=(x, 0, length),
        axis=(0, 1, 0),
        name=f"string{i}",
    )
    if i:
        spheres = (("sphere", (0, 0, 0), radius),) * 2
        b.add_contact(
            f"ball{i - 1}", f"ball{i}", shapes=spheres, stiffness=1e10, exponent=1.5
        )
model = b.build()
model = model.with_state(model.state(joints={"string0": 0.5}))
run = lgint.integrate(model, "dopri5", t_end=2.5, rtol=1e-8, atol=1e-10)

figure, axes = plt.subplots(figsize=(7, 3), layout="constrained")
for i in range(5):
    axes.plot(run.t, np.degrees(-run.joint_angle(f"string{i}")), label=f"ball {i + 1}")
axes.set(xlabel="t / s", ylabel="angle of the string / degrees")
axes.legend(loc="upper right")
plt.show()
