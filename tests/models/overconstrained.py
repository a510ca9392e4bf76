"""Bennett's linkage: three links and the ground, four hinges, one degree of freedom, and three rows too many."""

import numpy as np

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
    """How far tan(first/2) tan(second/2) is from its value, times the cosines of both halves."""
    first = START + run.joint_angle("hinge0")
    second = second_angle(START) + run.joint_angle("hinge1")
    return np.sin(first / 2) * np.sin(second / 2) - CLOSURE * np.cos(first / 2) * np.cos(second / 2)
