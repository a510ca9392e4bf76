"""Robots: a branched tree of seven links, and a Stewart platform."""

import numpy as np

import lgint

AXES = [(0, 0, 1), (0, 1, 0), (1, 0, 0), (0, 0, 1), (1, 0, 0), (0, 1, 0), (0.6, 0, 0.8)]
KINDS = ["revolute", "revolute", "prismatic", "revolute", "revolute", "prismatic", "revolute"]
PARENTS = [None, 0, 1, 2, 0, 4, 5]


def tree_of_7(formulation="minimal", efforts=None):
    """A column that turns, with an arm of three links and one of two, and sliding joints in both."""
    b = lgint.ModelBuilder(gravity=(0.3, -0.2, -9.81), formulation=formulation)
    point = np.zeros((7, 3))
    for i, (kind, axis, parent) in enumerate(zip(KINDS, AXES, PARENTS, strict=True)):
        if parent is not None:
            point[i] = point[parent] + (0.3, 0.1 * i - 0.3, 0.2)
        inertia = np.diag([0.02, 0.03, 0.025]) * (1 + 0.2 * i) + 0.002 * (1 - np.eye(3))
        com = point[i] + (0.15, 0.05, 0.1 - 0.02 * i)
        b.add_body(f"link{i + 1}", mass=1.5 - 0.15 * i, inertia=inertia, position=com)
        before = lgint.ground if parent is None else f"link{parent + 1}"
        b.add_joint(kind, before, f"link{i + 1}", point=point[i], axis=axis, name=f"joint{i + 1}")
    add_efforts(b, [f"joint{i + 1}" for i in range(7)], efforts)
    return b.build()


def add_efforts(builder, joints, efforts):
    """Adds constant torques and forces in joints."""
    for joint, effort in zip(joints, [] if efforts is None else efforts, strict=efforts is not None):
        builder.add_joint_drive(joint, torque=effort, name=f"effort in {joint}")


# ---- a Stewart platform ----

BASE = np.array([(np.cos(a), np.sin(a), 0.0) for a in np.radians([-10, 10, 110, 130, 230, 250])])
TOP = np.array([(0.5 * np.cos(a), 0.5 * np.sin(a), 0.0) for a in np.radians([-50, 50, 70, 170, 190, 290])])
HEIGHT = np.array([0.0, 0.0, 0.9])
LEGS = [f"leg{i + 1}" for i in range(6)]


def motion(t):
    """A motion of the platform's centre in three directions and about three axes, with both derivatives."""
    w = np.array([2.0, 3.0, 1.5, 2.5, 1.0, 2.0])
    size = np.array([0.1, 0.08, 0.06, 0.15, 0.1, 0.2])
    value = size * np.sin(w * t)
    value[:3] += HEIGHT
    return np.stack([value, size * w * np.cos(w * t), -size * w**2 * np.sin(w * t)])


def stewart(held=True, efforts=None, motions=None):
    """Six legs of two bodies each: universal joint to the base, slide, ball to the platform.

    `held`: by a support. `motions`: the slides of all legs and their derivatives, (3, 6), a function of time.
    """
    b = lgint.ModelBuilder(gravity=(0, 0, -9.81))
    rates = motion(0.0)[1]
    b.add_body("platform", mass=20.0, inertia=(1.0, 1.2, 2.0), position=HEIGHT, velocity=rates[:3])
    for i, leg in enumerate(LEGS):
        foot, head = BASE[i], HEIGHT + TOP[i]
        along = (head - foot) / np.linalg.norm(head - foot)
        across = np.cross(along, (0, 0, 1))
        R = np.column_stack([across / np.linalg.norm(across), np.cross(along, across / np.linalg.norm(across)), along])
        for part, mass, place in (("lower", 2.0, 0.25), ("upper", 1.5, 0.75)):
            position = foot + place * (head - foot)
            b.add_body(f"{part}{i}", mass=mass, inertia=(0.05, 0.05, 0.002), position=position, rotation=R)
        b.add_joint("universal", lgint.ground, f"lower{i}", point=foot, axis=R[:, 0], second_axis=R[:, 1])
        b.add_joint("prismatic", f"lower{i}", f"upper{i}", point=(foot + head) / 2, axis=along, name=leg)
        b.add_joint("spherical", f"upper{i}", "platform", point=head)
    add_efforts(b, LEGS, efforts)
    for i, leg in enumerate(LEGS if motions else []):
        b.add_joint_motion(leg, lambda t, i=i: motions(t)[:, i])
    if held:
        b.add_support("hand", motion=motion)
        b.add_joint("rigid", "hand", "platform", point=HEIGHT, name="grip")
    return b.build(start="project")
