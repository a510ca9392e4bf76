"""
Arm from URDF
=============

A URDF file gives an arm of two links, and a sampled controller moves it by computed
torque: every millisecond it asks the model for the torques that the wanted
accelerations need.
"""

# sphinx_gallery_tags = ["robot", "URDF", "control", "inverse dynamics"]
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import lgint

SIZE = '<mass value="2"/><inertia ixx=".1" iyy=".1" izz=".1" ixy="0" ixz="0" iyz="0"/>'
LINK = f'<link name="{{}}"><inertial><origin xyz="0.25 0 0"/>{SIZE}</inertial></link>'
JOINT = (
    '<joint name="{}" type="continuous"><parent link="{}"/><child link="{}"/>'
    '<axis xyz="0 1 0"/><origin xyz="{} 0 0"/></joint>'
)
links = f'<link name="base"/>{LINK.format("upper")}{LINK.format("fore")}'
shoulder = JOINT.format("shoulder", "base", "upper", 0)
elbow = JOINT.format("elbow", "upper", "fore", 0.5)
file = Path(tempfile.mkdtemp()) / "arm.urdf"
file.write_text(f"<robot name='arm'>{links}{shoulder}{elbow}</robot>")
joints = ["shoulder", "elbow"]


def wanted(t):
    s = np.clip(t, 0, 1)
    x, rate = s**3 * (10 - 15 * s + 6 * s**2), 30 * s**2 * (1 - s) ** 2
    return np.outer((-1.0, 1.5), (x, rate, 60 * s * (1 - s) * (1 - 2 * s)))


def computed_torque(state):
    x, rate, second = wanted(state.t).T
    error = x - [state.joint_angle(name) for name in joints]
    second += 100 * error + 20 * (rate - [state.joint_rate(name) for name in joints])
    return state.model.inverse_dynamics(state.q, state.v, second, state.t)


b = lgint.ModelBuilder(gravity=(0, 0, -9.81))
b.add_urdf(file)
b.add_control(computed_torque, joints=joints, every=1e-3, name="control")
run = lgint.integrate(b.build(), "rk44", t_end=1.2, h=1e-3)

figure, (angle, torque) = plt.subplots(2, 1, sharex=True, layout="constrained")
for i, name in enumerate(joints):
    angle.plot(run.t, run.joint_angle(name), label=name)
    angle.plot(run.t, [wanted(t)[i, 0] for t in run.t], "k:")
    torque.plot(run.t, run.control("control").efforts[name])
angle.set(ylabel="angle / rad")
angle.legend()
torque.set(xlabel="t / s", ylabel="torque / N m")
plt.show()
