"""Systems that several tests of the Python face use."""

import numpy as np

import lgint
from lgint._build.edges import add_edge
from lgint._model.joints import JOINTS
from lgint._model.record import EDGES

GRAVITY = np.array([0.0, 0.0, -9.81])


def turn(angle, axis):
    """Rotation matrix of a turn by an angle about an axis, which may have any length."""
    x, y, z = np.asarray(axis) / np.linalg.norm(axis)
    hat = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * hat + (1 - np.cos(angle)) * hat @ hat


def pendulum(formulation="R3xSO3", omega=0.0, gravity=GRAVITY):
    """A bar that hangs down from a revolute joint "pin" about x at the origin, half a metre above its COM."""
    builder = lgint.ModelBuilder(gravity=gravity, formulation=formulation)
    builder.add_body(
        "bar",
        mass=2.0,
        inertia=(0.2, 0.2, 0.01),
        position=(0, 0, -0.5),
        velocity=(0, 0.5 * omega, 0),
        angular_velocity=(omega, 0, 0),
    )
    builder.add_joint("revolute", lgint.ground, "bar", point=(0, 0, 0), axis=(1, 0, 0), name="pin")
    return builder.build()


def double_pendulum(upper="R3xSO3", lower="R3xSO3"):
    """Two bars, in motion, on two revolute joints with skew axes."""
    R1, R2 = turn(0.4, (1, 2, 3)), turn(-0.7, (3, 0, 1))
    axis1, axis2, elbow = np.array([0, 1.0, 0]), np.array([1.0, 1, 0]) / np.sqrt(2), np.array([0.6, 0, -0.8])
    x1, x2 = 0.5 * elbow, elbow + np.array([0.3, 0.1, -0.2])
    spin1 = 3.0 * axis1
    spin2 = spin1 + 2.0 * axis2
    builder = lgint.ModelBuilder(gravity=GRAVITY)
    builder.add_body(
        "upper",
        mass=1.5,
        inertia=(0.05, 0.06, 0.04, 0.01, 0.0, -0.005),
        position=x1,
        rotation=R1,
        velocity=np.cross(spin1, x1),
        angular_velocity=R1.T @ spin1,
        formulation=upper,
    )
    builder.add_body(
        "lower",
        mass=0.7,
        inertia=(0.02, 0.03, 0.025),
        position=x2,
        rotation=R2,
        velocity=np.cross(spin1, elbow) + np.cross(spin2, x2 - elbow),
        angular_velocity=R2.T @ spin2,
        formulation=lower,
    )
    builder.add_joint("revolute", lgint.ground, "upper", point=(0, 0, 0), axis=axis1, name="shoulder")
    builder.add_joint("revolute", "upper", "lower", point=elbow, axis=axis2, name="elbow")
    return builder.build()


def axes_of(kind, axis, second_axis):
    """The keywords of `add_joint` for the axes that this kind of joint needs: none, one or both of the directions."""
    return dict(list({"axis": axis, "second_axis": second_axis}.items())[: JOINTS[kind].axes])


COUPLED = np.array(
    [
        [90, 3, 0, 0, 2, 1],
        [3, 80, 0, 1, 0, 0],
        [0, 0, 120, 0, 4, 0],
        [0, 1, 0, 15, 2, 3],
        [2, 0, 4, 2, 12, -2],
        [1, 0, 0, 3, -2, 9],
    ]
)  # a stiffness that couples strains of all kinds


def add_example_edge(
    builder, a, b, mask, name, reference=(0.1, -0.2, 1.0, 0.4, 0.2, -0.3), damping=(1, 2, 0.5, 0.4, 0.3, 0.2)
):
    """An edge between sections beside the COMs of two bodies, with axes of their own."""
    R0, R1 = turn(0.5, (1, 0, 2)), turn(2.0, (1, 1, -1))
    return add_edge(builder, a, b, R0, R1, (0.1, 0.2, 0), (0, 0, 0.3), 1.25, COUPLED, damping, reference, mask, name)


def two_bodies(kind, upper="R3xSO3", lower="R3xSO3", carrier=None):
    """Two bodies at rest in general position with a joint of any kind between them; springs hold the first one."""
    builder = lgint.ModelBuilder(gravity=GRAVITY)
    body = {"mass": 1.3, "inertia": (0.3, 0.4, 0.5, 0.02, -0.03, 0.01)}
    builder.add_body("first", **body, position=(0.1, -0.2, 0.3), rotation=turn(0.9, (1, -1, 2)), formulation=upper)
    builder.add_body("second", **body, position=(0.9, 0.4, -0.3), rotation=turn(-1.7, (0, 1, 2)), formulation=lower)
    builder.add_cartesian_spring(lgint.ground, "first", stiffness=(30, 40, 50), damping=(1, 2, 3), point_b=(0.1, 0, 0))
    builder.add_spring("first", "second", stiffness=25.0, damping=0.7, length=0.5, point_a=(0, 0.1, 0))
    builder.add_force("second", force=(1, 2, 3), torque=lambda t: (t, 0.0, 1.0), point=(1, 0, 0), frame="body")
    builder.add_force("first", force=([0.0, 2.0], [[0, 0, 0], [1, 2, -1]]), torque=(0.1, 0.2, -0.3))
    if kind in EDGES.values():
        add_example_edge(builder, "first", "second", next(mask for mask in EDGES if EDGES[mask] == kind), "joint")
    elif kind == "distance":
        builder.add_joint(kind, "first", "second", point_a=(0.1, 0.2, 0), point_b=(0, 0, 0.3), name="joint")
    else:
        axes = axes_of(kind, (1, 2, -1), (1, 0, 1))
        builder.add_joint(kind, "first", "second", point=(0.5, 0.1, 0), carrier=carrier, name="joint", **axes)
    return builder.build(start="project" if kind in EDGES.values() else "check")
