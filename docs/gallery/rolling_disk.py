"""
Rolling disk
============

A coin rolls without slipping; its contact draws loops on the floor, and its energy
stays.
"""

# sphinx_gallery_tags = ["rolling", "nonholonomic"]
import matplotlib.pyplot as plt
import numpy as np

import lgint

disk = lgint.models.rolling_disk(lean=0.9, precession=1.0, spin=-2.0)
run = lgint.integrate(disk, "dopri5", t_end=12.0, rtol=1e-10, atol=1e-10)
print("energy changes by", np.ptp(run.energy()), "J")
figure, (path, energy) = plt.subplots(1, 2, figsize=(8, 4), layout="constrained")
x = run.position("disk")
path.plot(x[:, 0], x[:, 1])
path.set(xlabel="x / m", ylabel="y / m", aspect="equal")
for kind in ("kinetic", "potential", "total"):
    energy.plot(run.t, run.energy(kind), label=kind)
energy.set(xlabel="t / s", ylabel="energy / J")
energy.legend()
plt.show()
