"""Closed loops of hinges that move although they have too many rows, with one degree of freedom.

Bennett's linkage has three rows too many, the trihedral one of Bricard one.
"""

import numpy as np
from scipy.optimize import least_squares

import lgint

SHORT, LONG, TWIST = 1.0, 1.4, 0.6
OTHER_TWIST = np.arcsin(LONG / SHORT * np.sin(TWIST))
CLOSURE = np.sin((OTHER_TWIST + TWIST) / 2) / np.sin((OTHER_TWIST - TWIST) / 2)  # tan(first/2) tan(second/2)
START = 1.0  # the first angle, rad


def second_angle(first):
    return 2 * np.arctan(CLOSURE / np.tan(first / 2))


def _link(angle, length, twist):
    """The axes and the place of the next hinge in those of a hinge, after Denavit and Hartenberg."""
    c, s, ct, st = np.cos(angle), np.sin(angle), np.cos(twist), np.sin(twist)
    return np.array([[c, -s * ct, s * st, length * c], [s, c * ct, -c * st, length * s], [0, st, ct, 0], [0, 0, 0, 1]])


def hinges(first):
    """Poses of the four hinges, and of the first one again."""
    second = second_angle(first)
    sizes = zip((first, second, -first, -second), (SHORT, LONG) * 2, (TWIST, OTHER_TWIST) * 2, strict=True)
    poses = [np.eye(4)]
    for size in sizes:
        poses.append(poses[-1] @ _link(*size))
    return poses


def bennett(formulation="R3xSO3", redundant="drop", rate=3.0, carrier=None):
    """The linkage under its weight; `rate` is that of the first angle."""
    b = lgint.ModelBuilder(gravity=(0, 0, -9.81), formulation=formulation)
    at, after, before = (hinges(START + d) for d in (0, 1e-6, -1e-6))
    places = []
    for i in range(3):
        change = (after[i] + after[i + 1] - before[i] - before[i + 1]) / 4e-6 * rate
        turn = at[i + 1][:3, :3].T @ (after[i + 1] - before[i + 1])[:3, :3] / 2e-6 * rate
        places.append((at[i] + at[i + 1])[:3, 3] / 2)
        b.add_body(
            f"link{i}",
            mass=1.0 + i,
            inertia=(0.02, 0.1 + 0.02 * i, 0.11 + 0.02 * i),
            position=places[-1],
            rotation=at[i + 1][:3, :3],
            velocity=change[:3, 3],
            angular_velocity=(turn[2, 1], turn[0, 2], turn[1, 0]),
        )
    bodies = [lgint.ground, "link0", "link1", "link2", lgint.ground]
    for i in range(4):
        pose = at[i]
        b.add_joint(
            "revolute", *bodies[i : i + 2], point=pose[:3, 3], axis=pose[:3, 2], name=f"hinge{i}", carrier=carrier
        )
    return b.build(start="project", redundant=redundant)


def closure(run):
    """The deviation of tan(first/2) tan(second/2) from its value, times the cosines of both halves."""
    first = START + run.joint_angle("hinge0")
    second = second_angle(START) + run.joint_angle("hinge1")
    return np.sin(first / 2) * np.sin(second / 2) - CLOSURE * np.cos(first / 2) * np.cos(second / 2)


def bricard(formulation="SE3", rate=5.0):
    """Six links at right angles, and the fastest velocity `rate`."""
    lengths = [1.0, 0.8, 0.9, 1.1, 0.85]
    lengths.append(np.sqrt(lengths[0] ** 2 + lengths[2] ** 2 + lengths[4] ** 2 - lengths[1] ** 2 - lengths[3] ** 2))

    def poses(angles):
        chain = [np.eye(4)]
        for i, angle in enumerate((START, *angles)):
            chain.append(chain[-1] @ _link(angle, lengths[i], np.pi / 2 * (-1) ** i))
        return chain

    near = [-1.829, 0.978, -1.954, 1.07, -1.988]
    angles = least_squares(lambda x: (poses(x)[-1] - np.eye(4)).ravel(), near, xtol=1e-15, ftol=1e-15, gtol=1e-15).x
    at = poses(angles)
    b = lgint.ModelBuilder(gravity=(0, 0, -9.81), formulation=formulation)
    for i in range(5):
        b.add_body(f"link{i}", mass=1 + i / 2, inertia=(0.05, 0.1, 0.11), position=(at[i] + at[i + 1])[:3, 3] / 2)
    bodies = [lgint.ground, *(f"link{i}" for i in range(5)), lgint.ground]
    for i in range(6):
        b.add_joint("revolute", *bodies[i : i + 2], point=at[i][:3, 3], axis=at[i][:3, 2], name=f"hinge{i}")
    model = b.build(start="project", redundant="drop")
    v = np.linalg.svd(model.complete.core.evaluate(0.0, model.q0, model.v0, want=["B"])["B"])[2][-1]
    return model.with_state(model.q0, rate / v[np.argmax(np.abs(v))] * v, project=True)
