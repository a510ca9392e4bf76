"""The conserving form of energy-momentum methods: the work of supports that move, and of drives and laws in joints."""

import numpy as np
import pytest

import lgint
from face import systems
from lgint._build.edges import add_edge
from test_conserve_bodies import AXIS, DISCRETE, KINDS, NORMAL

H, STEPS = 0.01, 30
COORDINATES = ("revolute", "prismatic", "cylindrical", "planar", "inline")  # that a drive may act on
METHODS = pytest.mark.parametrize("method", DISCRETE)


def hand(spin):
    """A builder with a support that moves and turns."""

    def motion(t):
        return (
            (0.3 * np.sin(2 * t), 0.1 * t, 0, 0, 0, spin * t),
            (0.6 * np.cos(2 * t), 0.1, 0, 0, 0, spin),
            (-1.2 * np.sin(2 * t), 0, 0, 0, 0, 0),
        )

    b = lgint.ModelBuilder(formulation="euler_parameters")
    b.add_support("hand", motion=motion)
    return b


def carried(spin):
    """A body on an edge and a spring."""
    b = hand(spin)
    b.add_body("body", mass=1.3, inertia=(0.1, 0.2, 0.25), position=(1.0, 0.2, 0), angular_velocity=(1, 2, spin))
    b.add_spring("hand", "body", point_a=(0, 0.1, 0), point_b=(0.1, 0, 0.2), stiffness=30.0, length=0.5)
    frames = (np.eye(3), np.eye(3), (0.1, -0.1, 0.1), (0.1, 0.1, 0.2))
    add_edge(b, "hand", "body", *frames, 0.8, systems.COUPLED, np.zeros(6), (0, 0, 1.0, 0, 0, 0), None, "edge")
    return b.build()


def held(spin, kind, more=lambda builder: None, ends=("hand", "body")):
    """A body on a joint, with another one on a spring."""
    b = hand(spin)
    b.add_body("body", mass=1.3, inertia=(0.1, 0.2, 0.25), position=(0.5, 0.2, 0.1), angular_velocity=(0.5, 1, spin))
    b.add_body("tail", mass=0.7, inertia=(0.1, 0.2, 0.15), position=(1.0, 0.3, 0.3), angular_velocity=(1, 2, spin))
    b.add_spring("body", "tail", point_a=(0, 0.1, 0), point_b=(0.1, 0, 0.2), stiffness=30.0, length=0.5)
    if kind == "distance":
        b.add_joint(kind, *ends)
    else:
        axes = (NORMAL, AXIS) if kind == "universal" else (AXIS, None)
        b.add_joint(kind, *ends, point=(0.3, 0.1, 0.1), **systems.axes_of(kind, *axes), name="hold")
    more(b)
    return b.build(start="project")


def wrench_on_bodies(model, run, i):
    """The sum of forces and reactions in a step, about the origin."""
    q0, q1 = run.q[i], run.q[i + 1]
    form = {"lam": run.lam[i + 1], "equivariant": True, "want": ("force", "Gtlam")}
    got = model.core.evaluate_pair(run.t[i], H, q0, q1, **form)
    force, moment = np.zeros(3), np.zeros(3)
    for on_body, q in zip((got["force"] - got["Gtlam"]).reshape(-1, 7), (0.5 * (q0 + q1)).reshape(-1, 7), strict=True):
        w, v = q[3], q[4:]
        turns = 0.5 * np.hstack([-v[:, None], w * np.eye(3) + lgint.groups.so3.hat(v)])
        force += on_body[:3]
        moment += turns @ on_body[3:] + np.cross(q[:3], on_body[:3])
    return force, moment


def work_of_support(model, run, spin):
    """By balance its wrench is the negative of that on the bodies: the work is -(F . dp + M . theta), in every step."""
    p, theta, work = run.position("hand"), np.array([0, 0, 2 * np.tan(spin * H / 2)]), []
    for i in range(STEPS):
        force, moment = wrench_on_bodies(model, run, i)
        arm = 0.5 * (p[i] + p[i + 1])
        work.append(force @ (p[i + 1] - p[i]) + (moment - np.cross(arm, force)) @ theta)
    return np.array(work)


def check(model, method, spin, given=lambda run: 0.0):
    """Check that the energy changes by the work of the support and by the other given work, and that both are large."""
    run = lgint.integrate(model, method, t_end=STEPS * H, h=H, equivariant=True)
    E, work, other = run.energy("generalized"), work_of_support(model, run, spin), given(run)
    assert np.abs(np.diff(E) - work - other).max() < 1e-13 * np.abs(E).max() and np.abs(work).max() > 1e-3
    assert np.isscalar(other) or np.abs(other).max() > 1e-4


@METHODS
@pytest.mark.parametrize("spin", [0.0, 1.5])
def test_a_support_does_the_work_of_an_edge_and_a_spring(spin, method):
    check(carried(spin), method, spin)


@METHODS
@pytest.mark.parametrize("ends", [("hand", "body"), ("body", "hand")], ids="-".join)
@pytest.mark.parametrize("kind", KINDS)
def test_a_support_does_the_work_of_reactions(kind, ends, method):
    check(held(1.5, kind, ends=ends), method, 1.5)


@METHODS
@pytest.mark.parametrize("kind", KINDS)
def test_the_reaction_of_a_support_is_that_of_its_joint(kind, method):
    """Multipliers are in the axes of the body, however the joint has them."""
    run = lgint.integrate(held(1.5, kind), method, t_end=0.1, h=H)
    name = next(iter(run.model.joints))
    on_body, by_support = run.reaction(name), run.reaction("hand")
    assert np.abs(on_body[:, :3] - by_support[:, :3]).max() < 1e-13 * np.abs(on_body).max()


@METHODS
@pytest.mark.parametrize("kind", COORDINATES)
def test_drives_do_the_work_of_their_torque(kind, method):
    """They are evaluated at the middle of the time and of the angle or slide; the rate is the change divided by h."""

    def drive(b):
        b.add_joint_drive("hold", torque=0.7, stiffness=2.0, damping=0.3, motion=[(0, 0.2, 0.5, -0.3)])

    def work(run):
        x, t = run.joint_position("hold"), run.t[:-1] + H / 2
        change, middle = np.diff(x), 0.5 * (x[1:] + x[:-1])
        return change * (0.7 + 2.0 * (0.2 + 0.5 * t - 0.15 * t**2 - middle) + 0.3 * (0.5 - 0.3 * t - change / H))

    check(held(1.5, kind, drive), method, 1.5, work)


@METHODS
@pytest.mark.parametrize("kind", COORDINATES)
def test_laws_in_joints_do_the_work_of_their_torque(kind, method):
    def law(t, x, rate):
        return 0.4 * np.cos(3 * x + t) - 0.2 * rate * abs(rate)

    def work(run):
        x = run.joint_position("hold")
        change = np.diff(x)
        return change * [law(*at) for at in zip(run.t[:-1] + H / 2, 0.5 * (x[1:] + x[:-1]), change / H, strict=True)]

    check(held(1.5, kind, lambda b: b.add_force_law(law, joint="hold")), method, 1.5, work)


# ---- arguments of laws in the middle of a step ----


@pytest.mark.parametrize("spin", [0.0, 100.0])
def test_laws_on_bodies_see_the_middle_of_a_step(spin):
    """Positions and times are means, attitudes half-way; velocities times h are the change and the Cayley vector."""
    seen = []

    def law(*given):
        seen[:] = given
        return np.zeros((2, 6))

    b = hand(spin)
    b.add_body("body", mass=1.3, inertia=(0.1, 0.2, 0.25), position=(1.0, 0.2, 0), angular_velocity=(100, 20, 30))
    b.add_force_law(law, bodies=("hand", "body"))
    model = b.build()
    run = lgint.integrate(model, "emh", t_end=H, h=H)
    model.core.evaluate_pair(0.0, H, run.q[0], run.q[1], equivariant=True, want=("force",))
    t, x, R, xdot, omega = seen
    assert t == H / 2
    for i, name in enumerate(("hand", "body")):
        start, end = run.rotation(name)
        change = end @ start.T
        theta = 4 * lgint.groups.so3.vee(0.5 * (change - change.T)) / (1 + np.trace(change))
        near = {"rtol": 0, "atol": 1e-13}
        np.testing.assert_allclose(x[i], run.position(name).mean(axis=0), **near)
        np.testing.assert_allclose(R[i] @ start.T, end @ R[i].T, **near)
        np.testing.assert_allclose(xdot[i] * H, np.diff(run.position(name), axis=0)[0], **near)
        np.testing.assert_allclose(R[i] @ omega[i] * H, theta, **near)


def test_a_support_that_turns_too_far_against_a_body_is_named():
    """The body turns by 2 atan(h omega/2), less than a quarter turn, and the other way."""
    b = lgint.ModelBuilder(gravity=(0, 0, 0), formulation="euler_parameters")
    b.add_support("hand", motion=lambda t: ((0, 0, 0, 0, 0, 2.5 * t), (0, 0, 0, 0, 0, 2.5), np.zeros(6)))
    b.add_body("body", mass=1.0, inertia=(0.1, 0.2, 0.25), angular_velocity=(0, 0, -1.1))
    b.add_joint("revolute", "hand", "body", point=(0, 0, 0), axis=(0, 0, 1), name="hinge")
    model = b.build()
    assert lgint.integrate(model, "emh", t_end=0.8, h=0.8).status == 0
    with pytest.raises(lgint.IntegrationError, match="in one step hinge turns by half a turn or more"):
        lgint.integrate(model, "emh", t_end=1.0, h=1.0)


def test_what_sees_a_distance_alone_lets_bodies_turn_against_each_other():
    """They turn relative to each other by more than half a turn in a step, in which each of them turns by less."""
    b = lgint.ModelBuilder(formulation="euler_parameters")
    for i, spin in enumerate((5.0, -5.0)):
        b.add_body(f"body{i}", mass=1.0, inertia=(1.0, 2.0, 2.5), position=(i, 0, 0), angular_velocity=(0, 0, spin))
    b.add_spring("body0", "body1", point_a=(0, 0.1, 0), point_b=(0, 0.1, 0), stiffness=2.0, length=0.9)
    run = lgint.integrate(b.build(), "emh", t_end=4.2, h=0.42)
    E = run.energy("generalized")
    assert np.ptp(E) < 1e-13 * E[0] and np.ptp(run.energy("potential")) > 1e-4 * E[0]
