"""Models in minimal coordinates: against absolute coordinates and SciPy; closed loops, force laws, orders."""

import functools
import itertools

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import lgint
from battery import observed_order

pytestmark = pytest.mark.filterwarnings("ignore:inertia of:UserWarning")
GRAVITY = np.array([0.0, 0.0, -9.81])


def turn(axis, angle):
    return Rotation.from_rotvec(angle * np.asarray(axis)).as_matrix()


# ---- models ----


def branching(formulation="minimal", rates=(0.7, -0.4, 1.1, 0.5), drives=True):
    """A post that turns, an arm that slides out of it, and two bars that hang on the arm."""
    b = lgint.ModelBuilder(gravity=GRAVITY, formulation=formulation)
    links = {
        "post": (lgint.ground, "revolute", (0, 0, 0), (0.1, 0.2, 1.0), (0.05, 0.0, 0.3)),
        "arm": ("post", "prismatic", (0, 0, 0.6), (1.0, 0.3, 0.1), (0.5, 0.1, 0.6)),
        "left": ("arm", "revolute", (0.9, 0.1, 0.6), (0, 1, 0), (0.9, 0.4, 0.3)),
        "right": ("arm", "revolute", (0.2, 0.1, 0.6), (0.3, 0, 1), (0.2, -0.3, 0.5)),
    }
    motion = {"ground": (np.zeros(3), np.zeros(3), np.zeros(3))}  # a point, its velocity, the angular velocity
    for (name, (before, kind, point, axis, com)), rate in zip(links.items(), rates, strict=True):
        e = np.array(axis) / np.linalg.norm(axis)
        x, v, w = motion["ground" if before is lgint.ground else before]
        v = v + np.cross(w, np.array(point) - x)
        v, w = (v + rate * e, w) if kind == "prismatic" else (v, w + rate * e)
        velocity = v + np.cross(w, np.array(com) - np.array(point))
        R = turn((0.6, 0.0, 0.8), len(motion))
        motion[name] = (np.array(com), velocity, w)
        b.add_body(
            name,
            mass=1.0 + len(motion),
            inertia=(0.2, 0.3, 0.25),
            position=com,
            rotation=R,
            velocity=velocity,
            angular_velocity=R.T @ w,
        )
        start = 0.25 if kind == "prismatic" else None
        b.add_joint(kind, before, name, point=point, axis=axis, angle=start, name=f"to {name}")
    b.add_cartesian_spring("post", "arm", stiffness=(40, 40, 40), damping=(1, 2, 3))
    if drives:
        b.add_joint_drive("to left", torque=0.3, stiffness=5.0, damping=0.2, motion=[(0, 0.1, 0.5, -1.0)])
        b.add_joint_drive("to arm", torque=-2.0, stiffness=60.0, damping=3.0, motion=[(0, 0.2, -0.3, 0.5)])
        b.add_force_law(lambda t, slide, rate: np.sin(9 * t) - 40 * slide**3 - rate, joint="to arm")
    return b.build()


def test_the_checks_hold():
    for model in (branching(), lgint.models.puma560(), closed_loop("minimal")):
        report = lgint.check(model)
        assert report.ok, str(report)


def test_a_tree_moves_as_bodies_with_constraints_do():
    runs = [
        lgint.integrate(branching(f), "rk67", t_end=0.5, h=5e-3)
        for f in ("minimal", "R3xSO3", "SE3", "euler_parameters")
    ]
    for run in runs[1:]:
        for name in run.model.bodies:
            assert np.allclose(run.position(name), runs[0].position(name), atol=1e-9)
            assert np.allclose(run.rotation(name), runs[0].rotation(name), atol=1e-9)
            assert np.allclose(run.velocity(name), runs[0].velocity(name), atol=1e-8)
            assert np.allclose(run.angular_velocity(name), runs[0].angular_velocity(name), atol=1e-8)
        assert np.allclose(run.energy(), runs[0].energy(), atol=1e-8)
        assert np.allclose(run.angular_momentum(), runs[0].angular_momentum(), atol=1e-8)
        for joint in run.angle_names:
            assert np.allclose(run.joint_angle(joint), runs[0].joint_angle(joint), atol=1e-9)
            assert np.allclose(run.joint_rate(joint), runs[0].joint_rate(joint), atol=1e-8)
        for joint in run.model.joints:
            assert np.allclose(run.joint_position(joint), runs[0].joint_position(joint), atol=1e-9)
            assert np.allclose(run.joint_rate(joint), runs[0].joint_rate(joint), atol=1e-8)
    for run in runs:
        assert np.isclose(run.joint_position("to arm")[0], 0.25, atol=1e-15)
        assert np.ptp(run.joint_position("to arm")) > 0.05


def test_angles_run_through_full_turns():
    def wheel(formulation):
        b = lgint.ModelBuilder(formulation=formulation)
        b.add_body("wheel", mass=1.0, inertia=(1, 1, 1), angular_velocity=(0, 0, 7))
        b.add_joint("revolute", lgint.ground, "wheel", point=(0, 0, 0), axis=(0, 0, 2), angle=7.0, name="axle")
        return lgint.integrate(b.build(), "rk44", t_end=3.0, h=1e-2)

    runs = [wheel("minimal"), wheel("R3xSO3")]
    expected = 7.0 + 7 * runs[0].t
    for run in runs:
        assert np.allclose(run.joint_angle("axle"), expected, atol=1e-9)
        assert np.allclose(run.joint_rate("axle"), 7, atol=1e-9)


# ---- the Puma against recursive dynamics and SciPy ----


@functools.cache
def puma_by_scipy(t_end):
    """Joint angles and rates by SciPy, from the recursive Newton-Euler algorithm in link frames."""
    quarter = np.pi / 2
    rows = [
        (0.0, 0.0, quarter, 20.0, (0, 0, 0), (1e-8, 0.35, 1e-8)),
        (0.0, 0.4318, 0.0, 17.4, (-0.3638, 0.006, 0.2275), (0.13, 0.524, 0.539)),
        (0.15005, 0.0203, -quarter, 4.8, (-0.0203, -0.0141, 0.07), (0.066, 0.086, 0.0125)),
        (0.4318, 0.0, quarter, 0.82, (0, 0.019, 0), (0.0018, 0.0013, 0.0018)),
        (0.0, 0.0, -quarter, 0.34, (0, 0, 0), (0.0003, 0.0004, 0.0003)),
        (0.0, 0.0, 0.0, 0.09, (0, 0, 0.032), (0.00015, 0.00015, 0.00004)),
    ]
    P = np.array([40000.0, 40000, 40000, 100, 100, 10])
    D = np.array([400.0, 400, 100, 1, 1, 0.1])
    a = 4 * np.deg2rad([-120.0, 60, -200, 90, 90, 45])

    def cross(x, y):  # faster than numpy.cross
        return np.array([x[1] * y[2] - x[2] * y[1], x[2] * y[0] - x[0] * y[2], x[0] * y[1] - x[1] * y[0]])

    def inverse_dynamics(q, v, acc, gravity):
        w = al = np.zeros(3)
        linear, ez = -gravity, np.array([0.0, 0, 1])
        steps = []
        for (d, length, alpha, *_), qi, vi, ai in zip(rows, q, v, acc, strict=True):
            c, s, ca, sa = np.cos(qi), np.sin(qi), np.cos(alpha), np.sin(alpha)
            A = np.array([[c, -s * ca, s * sa], [s, c * ca, -c * sa], [0, sa, ca]])  # axes seen from the link before
            al = A.T @ (al + ai * ez + cross(w, vi * ez))
            w = A.T @ (w + vi * ez)
            r = A.T @ np.array([length * c, length * s, d])
            linear = A.T @ linear + cross(al, r) + cross(w, cross(w, r))
            steps.append((A, r, w, al, linear))
        f = n = np.zeros(3)
        tau = np.zeros(6)
        for i in reversed(range(6)):
            A, r, w, al, linear = steps[i]
            _, _, _, mass, com, inertia = rows[i]
            c, J = np.array(com), np.array(inertia)
            own = mass * (linear + cross(al, c) + cross(w, cross(w, c)))
            # f, n: from the next joint, at this link's origin
            n = n + cross(c, own) + J * al + cross(w, J * w)
            f = f + own
            n = n + cross(r, f)  # to the joint
            f, n = A @ f, A @ n
            tau[i] = n[2]
        return tau

    def rhs(t, y):
        q, v = y[:6], y[6:]
        wish = a * t**2 / 2 if t <= 0.5 else a * (0.25 - (1 - t) ** 2 / 2)
        wish_rate = a * t if t <= 0.5 else a * (1 - t)
        tau = P * (wish - q) + D * (wish_rate - v)
        M = np.column_stack([inverse_dynamics(q, np.zeros(6), e, np.zeros(3)) for e in np.eye(6)])
        return np.concatenate([v, np.linalg.solve(M, tau - inverse_dynamics(q, v, np.zeros(6), GRAVITY))])

    y = np.zeros(12)
    for begin, end in itertools.pairwise([0.0, min(0.5, t_end), t_end]):
        if end > begin:
            y = solve_ivp(rhs, (begin, end), y, method="DOP853", rtol=1e-11, atol=1e-14).y[:, -1]
    return y[:6], y[6:]


def test_the_puma_against_recursive_dynamics():
    t_end = 0.005
    q, v = puma_by_scipy(t_end)
    run = lgint.integrate(lgint.models.puma560(), "rk67", t_end=t_end, h=1e-4)
    assert np.abs(run.joint_angles()[-1] - q).max() < 1e-12
    assert np.abs(run.v[-1] - v).max() < 1e-10
    implicit = lgint.integrate(lgint.models.puma560(), "genalpha", t_end=t_end, h=1e-5)
    assert np.abs(implicit.joint_angles()[-1] - q).max() < 1e-8


def test_the_puma_in_absolute_coordinates():
    runs = [
        lgint.integrate(lgint.models.puma560(formulation=f), "rk67", t_end=1.0, h=1e-3)
        for f in ("minimal", "SE3", "R3xSO3")
    ]
    for run in runs[1:]:
        assert np.allclose(run.joint_angles(), runs[0].joint_angles(), atol=1e-6)
        assert np.allclose(run.position("link6"), runs[0].position("link6"), atol=1e-6)
    assert runs[0].model.nq == 6 and runs[0].model.nc == 0


def test_the_chain_of_pendulums():
    runs = [
        lgint.integrate(lgint.models.pendulum_chain(n=5, joint="revolute", formulation=f), "genalpha", t_end=0.2, h=h)
        for f, h in (("minimal", 1e-4), ("SE3", 1e-4), ("minimal", 2e-4))
    ]
    size = np.abs(runs[0].position("link5")[-1] - runs[2].position("link5")[-1]).max()
    assert np.abs(runs[0].position("link5") - runs[1].position("link5")).max() < 20 * size + 1e-9


# ---- closed loops ----


def closed_loop(formulation):
    """A four-bar in space: three revolute bars in a tree, a ball joint to the ground on a line at the far end.

    The bars have skew axes, so that the two rows of the inline joint are independent.
    """
    b = lgint.ModelBuilder(gravity=GRAVITY, formulation=formulation)
    points = np.array([(0, 0, 0), (0.0, 0.1, 0.5), (0.8, 0.2, 0.7), (1.0, 0.0, 0.0)])
    axes = [(0.1, 1.0, 0.0), (0.0, 1.0, 0.2), (0.3, 1.0, -0.2)]
    before = lgint.ground
    for i, axis in enumerate(axes):
        middle = (points[i] + points[i + 1]) / 2
        b.add_body(f"bar{i}", mass=1.0, inertia=(0.02, 0.03, 0.04), position=middle)
        b.add_joint("revolute", before, f"bar{i}", point=points[i], axis=axis, name=f"joint{i}")
        before = f"bar{i}"
    b.add_joint("inline", lgint.ground, before, point=points[3], axis=(0.2, 1.0, 0.1), name="end")
    return b.build()


@pytest.mark.parametrize("method", ["rk44", "genalpha"])
def test_a_loop_closed_by_a_joint(method):
    h = 1e-3
    runs = [lgint.integrate(closed_loop(f), method, t_end=0.4, h=h) for f in ("minimal", "SE3")]
    assert runs[0].model.nv == 3 and runs[0].model.nc == 2
    tolerance = 2e-5 if method == "genalpha" else 1e-7
    for name in ("bar0", "bar1", "bar2"):
        assert np.allclose(runs[0].position(name), runs[1].position(name), atol=tolerance)
    assert np.abs(runs[0].constraint_residual()).max() < (1e-12 if method == "genalpha" else 1e-8)
    assert np.allclose(runs[0].reaction("end")[1:, :3], runs[1].reaction("end")[1:, :3], atol=2e4 * tolerance)
    assert np.abs(runs[0].energy() - runs[0].energy()[0]).max() < 1e2 * tolerance


def test_a_joint_between_two_links_of_one_tree():
    """A distance binds the two slides of a fork together, so that they move as one."""

    def fork(formulation):
        b = lgint.ModelBuilder(gravity=GRAVITY, formulation=formulation)
        for name, side in (("left", -0.2), ("right", 0.2)):
            b.add_body(name, mass=1.0 + side, inertia=(0.1, 0.1, 0.1), position=(side, 0.0, -0.5))
            if name == "left":
                b.add_joint("revolute", lgint.ground, "left", point=(0, 0, 0), axis=(0, 1, 0), name="hinge")
            else:
                b.add_joint("revolute", "left", "right", point=(0.1, 0, 0), axis=(0, 1, 0.3), name="second")
        b.add_distance("left", "right", point_a=(0, 0.3, 0), name="rod")
        b.add_spring("left", "right", stiffness=10.0, point_b=(0, 0.1, 0))
        return b.build()

    runs = [lgint.integrate(fork(f), "rk44", t_end=0.5, h=2e-3) for f in ("minimal", "R3xSO3")]
    for name in ("left", "right"):
        assert np.allclose(runs[0].position(name), runs[1].position(name), atol=1e-8)
    assert np.allclose(runs[0].lam[:, 0], runs[1].lam[:, runs[1].row_names.index(runs[0].row_names[0])], atol=1e-6)


@pytest.mark.parametrize("frame", ["inertial", "body"])
@pytest.mark.parametrize("on", ["first", "second"])
def test_joints_of_trees_have_reactions(frame, on):
    """They are the wrenches that multipliers give in absolute coordinates, even with drives and loops."""
    for build, h in ((branching, 5e-3), (closed_loop, 1e-3)):
        runs = [lgint.integrate(build(f), "rk67", t_end=20 * h, h=h) for f in ("minimal", "R3xSO3")]
        for joint in runs[0].model.joints:
            one, other = (run.reaction(joint, frame=frame, on=on) for run in runs)
            assert np.allclose(one, other, atol=1e-6 * (1 + np.abs(other).max())), joint


# ---- force laws ----


def spring_pair(formulation, compiled, tangent=False):
    b = lgint.ModelBuilder(gravity=GRAVITY, formulation=formulation)
    b.add_body("bar", mass=1.0, inertia=(0.1, 0.2, 0.3), position=(0.5, 0, 0))
    b.add_body("free", mass=2.0, inertia=(0.1, 0.2, 0.3), position=(1.5, 0.3, 0), formulation="SE3")
    b.add_joint("revolute", lgint.ground, "bar", point=(0, 0, 0), axis=(0, 1, 0.2), name="hinge")
    if compiled:
        b.add_cartesian_spring("bar", "free", stiffness=(9, 9, 9), damping=(0.5, 0.5, 0.5), offset=(0, 0, 0))
        b.add_joint_drive("hinge", torque=0.3, stiffness=2.0, damping=0.1)
        return b.build()

    def law(t, x, R, xdot, omega):
        f = 9 * (x[1] - x[0]) + 0.5 * (xdot[1] - xdot[0])
        return [[*f, 0, 0, 0], [*-f, 0, 0, 0]]

    def slopes(t, x, R, xdot, omega):
        pattern = np.kron([[-1, 1], [1, -1]], np.diag([1.0, 1, 1, 0, 0, 0]))
        return 9 * pattern, 0.5 * pattern

    b.add_force_law(law, bodies=("bar", "free"), tangent=slopes if tangent else None)
    b.add_force_law(
        lambda t, angle, rate: 0.3 - 2.0 * angle - 0.1 * rate,
        joint="hinge",
        tangent=(lambda t, angle, rate: (-2.0, -0.1)) if tangent else None,
    )
    return b.build()


@pytest.mark.parametrize("tangent", [False, True], ids=["differences", "tangent"])
@pytest.mark.parametrize("method", ["rk44", "genalpha"])
@pytest.mark.parametrize("formulation", ["minimal", "R3xSO3", "tait_bryan"])
def test_a_law_in_python_is_the_compiled_spring(formulation, method, tangent):
    models = [spring_pair(formulation, compiled, tangent) for compiled in (True, False)]
    runs = [lgint.integrate(model, method, t_end=0.1, h=1e-2) for model in models]
    assert np.allclose(runs[0].q, runs[1].q, atol=1e-11) and np.allclose(runs[0].v, runs[1].v, atol=1e-9)
    if tangent:
        assert runs[0].stats.newton_iterations == runs[1].stats.newton_iterations


def test_a_law_sees_bodies_in_their_own_axes():
    """A law is given rotations of the body, even if its Tait-Bryan angles count from a reference rotation."""

    def law(t, x, R, xdot, omega):
        return [*np.zeros(3), *(R.T @ np.array([0, 0, 1.0]) - 0.3 * omega)]

    def slopes(t, x, R, xdot, omega):
        K, D = np.zeros((6, 6)), np.zeros((6, 6))
        z = R.T @ np.array([0, 0, 1.0])
        K[3:, 3:] = [[0, -z[2], z[1]], [z[2], 0, -z[0]], [-z[1], z[0], 0]]
        D[3:, 3:] = -0.3 * np.eye(3)
        return K, D

    runs = []
    for formulation, tangent in (("R3xSO3", None), ("tait_bryan", None), ("tait_bryan", slopes)):
        b = lgint.ModelBuilder(formulation=formulation)
        reference = turn((0, 0, 1), 0.5) if formulation == "tait_bryan" else None
        b.add_body("body", mass=1, inertia=(1, 2, 2.5), angular_velocity=(0.3, 0.5, 1), reference=reference)
        b.add_force_law(law, bodies="body", tangent=tangent)
        model = b.build()
        report = lgint.check(model)
        assert report.ok, str(report)
        runs.append(lgint.integrate(model, "rk44", t_end=0.5, h=5e-3))
    for run in runs[1:]:
        assert np.allclose(run.rotation("body"), runs[0].rotation("body"), atol=1e-8)


def test_an_exception_in_a_law_arrives_with_the_run():
    def law(t, angle, rate):
        if t > 0.05:
            raise KeyError("enough")
        return 0.0

    b = lgint.ModelBuilder(formulation="minimal")
    b.add_body("wheel", mass=1.0, inertia=(1, 1, 1))
    b.add_joint("revolute", lgint.ground, "wheel", point=(0, 0, 0), axis=(0, 0, 1), name="axle")
    b.add_force_law(law, joint="axle")
    with pytest.raises(KeyError, match="enough"):
        lgint.integrate(b.build(), "rk44", t_end=1.0, h=1e-2)


# ---- orders ----


@functools.cache
def reference_of_branching():
    run = lgint.integrate(branching(drives=False), "rk67", t_end=0.5, h=0.5 / 1000)
    return run.q[-1], run.v[-1]


ORDERS = [
    ("rk33", {}, 3, (80, 160, 320)),
    ("rk44", {}, 4, (40, 80, 160)),
    ("genalpha", {"rho_inf": 0.8}, 2, (100, 200, 400)),
    ("hht", {"alpha": -0.2}, 2, (100, 200, 400)),
]


@pytest.mark.parametrize(("method", "options", "order", "steps"), ORDERS, ids=[row[0] for row in ORDERS])
def test_orders(method, options, order, steps):
    q, v = reference_of_branching()
    errors = []
    for n in steps:
        run = lgint.integrate(branching(drives=False), method, t_end=0.5, h=0.5 / n, **options)
        errors.append((np.abs(run.q[-1] - q).max(), np.abs(run.v[-1] - v).max()))
    for error in np.array(errors).T:
        assert abs(observed_order(steps, error) - order) < 0.15, errors


# ---- Denavit-Hartenberg ----


def test_both_conventions_describe_one_robot():
    """A table in the standard convention, rewritten in the modified one, has the same joints with shifted frames."""
    rng = np.random.default_rng(3)
    theta, d, a, alpha = rng.uniform(-1, 1, (4, 4))
    q = rng.uniform(-1, 1, 4)
    base = turn((0, 0.6, 0.8), 1.0)
    common = dict(coordinates=q, origin=(1, 2, 3), rotation=base, joints="rprr")
    standard = lgint.dh_links(np.column_stack([theta, d, a, alpha]), **common)
    shifted = np.column_stack([theta, d, np.r_[0, a[:-1]], np.r_[0, alpha[:-1]]])
    modified = lgint.dh_links(shifted, convention="modified", **common)
    for one, other in zip(standard, modified, strict=True):
        assert np.allclose(one.axis, other.axis, atol=1e-14) and one.kind == other.kind
        away = one.point - other.point
        assert np.allclose(np.cross(away, one.axis), 0, atol=1e-14)  # both points lie on the axis
    last = modified[-1]
    end = last.origin + a[-1] * last.rotation[:, 0]
    assert np.allclose(end, standard[-1].origin, atol=1e-14)
    assert np.allclose(last.rotation @ turn((1, 0, 0), alpha[-1]), standard[-1].rotation, atol=1e-14)


def test_the_puma_from_its_table():
    """Frames are products of the transforms Rz Tz Tx Rx."""
    quarter = np.pi / 2
    table = [
        (0, 0, 0, quarter),
        (0, 0, 0.4318, 0),
        (0, 0.15005, 0.0203, -quarter),
        (0, 0.4318, 0, quarter),
        (0, 0, 0, -quarter),
        (0, 0, 0, 0),
    ]
    q = np.deg2rad([10.0, -20, 30, 40, -50, 60])
    model = lgint.models.puma560(initial_angles=q)
    links = lgint.dh_links(table, coordinates=q)
    for i, link in enumerate(links):
        x, R, *_ = model.joint_kinematics(f"joint{i + 1}", 1, model.q0, model.v0)
        assert np.allclose(R, link.rotation, atol=1e-14) and np.allclose(x, link.point, atol=1e-14)


# ---- what the builder refuses ----


def minimal_body(**arguments):
    b = lgint.ModelBuilder(formulation="minimal")
    b.add_body("link", **{"mass": 1.0, "inertia": (1, 1, 1), "position": (1, 0, 0), **arguments})
    return b


def test_what_a_tree_does_not_take():
    hinge = dict(point=(0, 0, 0), axis=(0, 0, 1))
    with pytest.raises(ValueError, match="needs a joint"):
        minimal_body().build()
    with pytest.raises(ValueError, match="needs a joint"):
        minimal_body().add_spring(lgint.ground, "link", stiffness=1.0)
    with pytest.raises(ValueError, match="one of revolute, prismatic, cylindrical"):
        minimal_body().add_joint("rigid", lgint.ground, "link", point=(0, 0, 0))
    with pytest.raises(ValueError, match="takes no angle"):
        minimal_body().add_joint("spherical", lgint.ground, "link", point=(0, 0, 0), angle=1.0)
    with pytest.raises(ValueError, match=r"rate of 'ball': .*\(3,\)"):
        minimal_body().add_joint("spherical", lgint.ground, "link", point=(0, 0, 0), rate=1.0, name="ball")
    with pytest.raises(ValueError, match="takes no carrier"):
        minimal_body().add_joint("revolute", lgint.ground, "link", carrier="first", **hinge)
    with pytest.raises(ValueError, match="violate its revolute joint"):
        minimal_body(velocity=(1, 0, 0)).add_joint("revolute", lgint.ground, "link", **hinge)
    with pytest.raises(ValueError, match="takes no rate"):
        b = minimal_body(formulation="SE3")
        b.add_joint("revolute", lgint.ground, "link", rate=1.0, **hinge)
    with pytest.raises(ValueError, match="pivot"):
        minimal_body(pivot=(0, 0, 0))
    b = minimal_body()
    for formulation in ("euler_parameters", "tait_bryan"):
        b.add_body(formulation, mass=1.0, inertia=(1, 1, 1), formulation=formulation)
        with pytest.raises(ValueError, match="rigid body in a Lie formulation"):
            b.add_joint("revolute", formulation, "link", **hinge)
    for wrong in ({}, {"bodies": "link", "joint": "hinge"}):
        with pytest.raises(ValueError, match="give bodies or joint"):
            b.add_force_law(lambda *_: 0.0, **wrong)


def test_rates_of_joints_give_the_velocities():
    b = minimal_body()
    b.add_joint("revolute", lgint.ground, "link", point=(0, 0, 0), axis=(0, 0, 1), rate=2.0, name="hinge")
    b.add_body("slider", mass=1.0, inertia=(1, 1, 1), position=(2, 0, 0))
    b.add_joint("prismatic", "link", "slider", point=(2, 0, 0), axis=(1, 0, 0), angle=0.5, rate=0.25, name="slide")
    run = lgint.integrate(b.build(), "rk44", t_end=1e-3, h=1e-3)
    assert np.allclose(run.velocity("slider")[0], (0.25, 4.0, 0), atol=1e-14)
    assert np.allclose(run.angular_velocity("slider")[0], (0, 0, 2), atol=1e-14)
    assert np.allclose(run.q[0], (0.0, 0.5)) and np.isclose(run.joint_rate("slide")[0], 0.25)
