"""
Chaplygin's sleigh
==================

A sleigh on one knife edge, which cannot slip sideways, turns until it moves straight
ahead.
"""

# sphinx_gallery_tags = ["rolling", "nonholonomic"]
import matplotlib.pyplot as plt

import lgint

figure, axes = plt.subplots(figsize=(5, 4), layout="constrained")
for turning in (2.0, 4.0, 8.0):
    sleigh = lgint.models.chaplygin_sleigh(speed=0.5, turning=turning)
    run = lgint.integrate(sleigh, "dopri5", t_end=3.0, rtol=1e-9, atol=1e-9)
    x = run.position("sleigh")
    axes.plot(x[:, 0], x[:, 1], label=f"{turning:g} rad/s")
axes.set(xlabel="x / m", ylabel="y / m", aspect="equal")
axes.legend(title="at the start")
plt.show()
