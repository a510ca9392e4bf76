"""
Belt and gears
==============

A motor drives a shaft by a belt of ratio 2, and the shaft a wheel by gears of ratio 3.
"""

# sphinx_gallery_tags = ["couplings", "minimal coordinates"]
import matplotlib.pyplot as plt

import lgint

b = lgint.ModelBuilder(formulation="minimal")
for i, (name, J) in enumerate({"motor": 1e-3, "shaft": 2e-3, "wheel": 2e-2}.items()):
    b.add_body(name, mass=1.0, inertia=(J, J, J), position=(0.2 * i, 0, 0))
    b.add_joint(
        "revolute",
        lgint.ground,
        name,
        point=(0.2 * i, 0, 0),
        axis=(0, 1, 0),
        name=name + " axis",
    )
b.add_coupling({"motor axis": 1, "shaft axis": -2}, name="belt")
b.add_coupling(
    {"shaft axis": 1, "wheel axis": 3}, name="gears"
)  # they turn in opposite directions
b.add_joint_drive("motor axis", torque=([0, 0.5, 0.500001, 2], [0.5, 0.5, 0.0, 0.0]))
b.add_joint_drive("wheel axis", damping=0.05)
run = lgint.integrate(b.build(), "rk44", t_end=2.0, h=1e-3)

figure, (rates, forces) = plt.subplots(
    2, 1, figsize=(6, 5), sharex=True, layout="constrained"
)
for name in ("motor axis", "shaft axis", "wheel axis"):
    rates.plot(run.t, run.joint_rate(name), label=name)
for name in ("belt", "gears"):
    forces.plot(run.t, run.force(name), label=name)
rates.set(ylabel="rate / rad/s")
forces.set(xlabel="t / s", ylabel="torque / N m")
rates.legend()
forces.legend()
plt.show()
