"""
Chaplygin's sleigh
==================

A sleigh on one knife edge, which cannot slip sideways, turns until it moves straight
ahead. The dots mark its place every half a second.
"""

# sphinx_gallery_tags = ["rolling", "nonholonomic"]
import matplotlib.pyplot as plt
import numpy as np

import lgint

figure, (path, rate) = plt.subplots(1, 2, figsize=(8, 4), layout="constrained")
for turning in (2.0, 4.0, 8.0):
    sleigh = lgint.models.chaplygin_sleigh(speed=0.5, turning=turning)
    run = lgint.integrate(
        sleigh, "dopri5", t_end=3, rtol=1e-9, atol=1e-9, dense_output=True
    )
    x = run.position("sleigh")
    (line,) = path.plot(x[:, 0], x[:, 1])
    marks = run.at(np.arange(0, 3.1, 0.5)).position("sleigh")
    path.plot(marks[:, 0], marks[:, 1], "o", color=line.get_color(), markersize=4)
    rate.plot(run.t, run.angular_velocity("sleigh")[:, 2], label=f"{turning:g} rad/s")
path.set(xlabel="x / m", ylabel="y / m", aspect="equal")
rate.set(xlabel="t / s", ylabel="rate of turning / rad/s")
rate.legend(title="at the start")
plt.show()
