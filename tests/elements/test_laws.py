"""Force laws given as Python functions, and drives on coordinates: their tangents, and how the functions are called."""

import sys

import numpy as np
import pytest

import lgint
from elements.rows import AXIS, OTHER, TRIAD, difference
from elements.test_elements import CHAINS
from elements.test_tree import random_links, random_state, tree

ENDS = {
    "two links": ((0, 2), (0, 4)),
    "link and body": ((0, 3), (1, 0)),
    "body and link": ((1, 0), (0, 4)),
    "body and ground": ((1, 0), (-1, 0)),
}
MOTION = (-1.0, 0.2, 0.3, 4.0)


class Law:
    """A function, and its tangent if it has one."""

    def __init__(self, function, tangent=None):
        self.function, self.tangent = function, tangent

    def __call__(self, *arguments):
        return self.function(*arguments)


def torque(t, angle, rate):
    return 3 * np.cos(t) - 2 * np.sin(angle) * rate - 0.5 * rate**2


def torque_slopes(t, angle, rate):
    return -2 * np.cos(angle) * rate, -2 * np.sin(angle) - rate


def wrenches(t, x, R, xdot, omega):
    """Wrenches on two bodies that depend smoothly on all arguments."""
    d, u = x[1] - x[0], xdot[1] - xdot[0]
    f = np.sin(d) * np.exp(-0.1 * t) - 0.3 * u * (d @ d) + R[0] @ omega[0]
    m = R[1].T @ np.cross(d, u) + np.cross(omega[0], omega[1])
    return [[*-f, *(R[0].T @ d)], [*f, *m]]


def wrench(t, x, R, xdot, omega):
    """A wrench on one body that depends smoothly on all arguments."""
    return [*(-3 * x + R @ omega - 0.1 * xdot * (xdot @ x)), *(R.T @ xdot - t * omega)]


def spring(t, x, R, xdot, omega):
    """A linear spring and damper between the origins of two frames; its tangent has a closed form."""
    f = 2 * (x[1] - x[0]) + 0.3 * (xdot[1] - xdot[0])
    return [[*f, 0, 0, 0], [*-f, 0, 0, 0]]


def spring_tangent(t, x, R, xdot, omega):
    K = np.zeros((2, 12, 12))
    for level, k in enumerate((2.0, 0.3)):
        for i, row in enumerate((-k, k)):
            for j, side in enumerate((1, -1)):
                K[level, 6 * i : 6 * i + 3, 6 * j : 6 * j + 3] = row * side * np.eye(3)
    return K


ELEMENTS = {
    "coordinate_drive": ((3.0, 20.0, 0.7, *MOTION), None, 1),
    "coordinate_law": ((), torque, 1),
    "coordinate_law with tangent": ((), Law(torque, torque_slopes), 1),
    "joint_law": ((*TRIAD, *OTHER), torque, 2),
    "joint_law with tangent": ((*TRIAD, *OTHER), Law(torque, torque_slopes), 2),
    "slide_law": (AXIS, torque, 2),
    "slide_law with tangent": (AXIS, Law(torque, torque_slopes), 2),
    "force_law of one": ((1.0,), wrench, 2),
    "force_law of two": ((2.0,), wrenches, 2),
    "force_law with tangent": ((2.0,), Law(spring, spring_tangent), 2),
}


def with_element(name, ends="two links"):
    parameters, function, slots = ELEMENTS[name]
    links = random_links([-1, 0, 1, 1, 0])
    frames = [(block, (0.0, 0, 0, 0.3, 0.5, -0.4), part) for block, part in ENDS[ends]]
    first = len(links) + 2
    element = (name.split()[0], "part", tuple(range(first, first + slots)), parameters, function)
    return tree(links, [element], frames, bodies=1)


@pytest.mark.parametrize("k", CHAINS, ids=lambda k: f"{k[0]:g},{k[1]:g},{k[2]:g}")
@pytest.mark.parametrize(
    ("name", "ends"),
    [(n, e) for n in ELEMENTS for e in ENDS if not n.startswith("coordinate") or e == "two links"],
)
def test_tangent(name, ends, k):
    model = with_element(name, ends)
    q, v, a, _ = random_state(model, 1)
    S = model.evaluate(0.7, q, v, a, want=("S",), k=k)["S"]
    du = np.random.default_rng(2).normal(size=model.nv)

    def residual(s):
        q1, v1, a1 = model.retract(q, s * k[0] * du), v + s * k[1] * du, a + s * k[2] * du
        r = model.evaluate(0.7, q1, v1, a1, want=("Ma", "gyro", "force"))
        return r["Ma"] + r["gyro"] - r["force"]

    expected = difference(residual)
    assert np.abs(S @ du - expected).max() < 1e-7 * (1 + np.abs(expected).max())


@pytest.mark.parametrize("name", ["coordinate_drive", "coordinate_law"])
def test_a_coordinate_takes_the_torque_of_its_law(name):
    """The torque only acts on the third joint: a drive exerts that of its formula, a law what its function returns."""
    model = with_element(name)
    q, v, _, _ = random_state(model, 3)
    t = 0.7
    s = t - MOTION[0]
    wish, rate = MOTION[1] + MOTION[2] * s + MOTION[3] * s**2 / 2, MOTION[2] + MOTION[3] * s
    drive = 3.0 + 20.0 * (wish - q[2]) + 0.7 * (rate - v[2])
    expected = np.zeros(model.nv)
    expected[2] = drive if name == "coordinate_drive" else torque(t, q[2], v[2])
    force = model.evaluate(t, q, v, want=("force",))["force"]
    assert np.allclose(force, expected, rtol=1e-14)


@pytest.mark.parametrize("ends", ENDS)
def test_a_law_along_a_slide_does_its_work(ends):
    """Its power is F(t, s, s') s' with s = e . R_a^T (x_b - x_a), wherever the two points are; s' is a difference."""
    model = with_element("slide_law", ends)
    q, v, _, _ = random_state(model, 6)
    first = 5 + 2

    def slide(h):
        (xa, Ra, *_), (xb, *_) = (model.kinematics(f, model.retract(q, h * v), v) for f in (first, first + 1))
        return np.array(AXIS) @ Ra.T @ (xb - xa)

    rate = difference(slide)
    power = model.evaluate(0.7, q, v, want=("force",))["force"] @ v
    assert abs(rate) > 0.1
    assert np.isclose(power, torque(0.7, slide(0.0), rate) * rate, rtol=1e-8)


def test_a_law_sees_poses_and_twists():
    seen = []

    def look(t, x, R, xdot, omega):
        seen.append((t, x, R, xdot, omega))
        assert not any(array.flags.writeable for array in (x, R, xdot, omega))
        return np.zeros((2, 6))

    parameters, _, _ = ELEMENTS["force_law of two"]
    links = random_links([-1, 0])
    frames = [(0, (0.0, 0, 0, 0.1, 0.2, 0.3), 1), (1, (0.0,) * 6)]
    model = tree(links, [("force_law", "look", (4, 5), parameters, look)], frames, bodies=1)
    q, v, _, _ = random_state(model, 4)
    model.evaluate(0.5, q, v, want=("force",))
    t, *arrays = seen[0]
    assert t == 0.5
    for i, frame in enumerate((4, 5)):
        for got, expected in zip(arrays, model.kinematics(frame, q, v), strict=True):
            assert np.array_equal(got[i], expected)


@pytest.mark.parametrize("name", ["coordinate_law", "joint_law", "slide_law", "force_law of one"])
def test_what_a_law_raises_arrives_unchanged(name):
    error = ZeroDivisionError("mine")

    def raises(*_):
        raise error

    parameters, _, slots = ELEMENTS[name]
    element = (name.split()[0], "part", (0, 3)[:slots], parameters, raises)
    model = tree(random_links([-1, 0]), [element], bodies=1)
    q, v, _, _ = random_state(model, 5)
    with pytest.raises(ZeroDivisionError) as caught:
        model.evaluate(0.0, q, v, want=("force",))
    assert caught.value is error


NOT_A_NUMBER = {"force_law of one": np.full(6, np.nan), "force_law of two": np.full((2, 6), np.nan)}


@pytest.mark.parametrize("name", ["coordinate_law", "joint_law", "slide_law", *NOT_A_NUMBER])
def test_a_force_that_is_not_finite_is_named(name):
    parameters, _, slots = ELEMENTS[name]
    element = (name.split()[0], "part", (0, 3)[:slots], parameters, lambda *_: NOT_A_NUMBER.get(name, np.nan))
    model = tree(random_links([-1, 0]), [element], bodies=1)
    q, v, _, _ = random_state(model, 5)
    with pytest.raises(lgint.ConvergenceError, match="the force of part"):
        model.evaluate(0.0, q, v, want=("force",))


@pytest.mark.parametrize(
    ("name", "answer", "text"),
    [
        ("coordinate_law", (1.0, 2.0), "element part must have shape"),
        ("force_law of one", np.zeros(5), r"must have shape \(6,\)"),
        ("force_law of two", np.zeros(12), r"must have shape \(2, 6\)"),
    ],
)
def test_what_a_law_may_not_return(name, answer, text):
    parameters, _, slots = ELEMENTS[name]
    element = (name.split()[0], "part", (0, 3)[:slots], parameters, lambda *_: answer)
    model = tree(random_links([-1, 0]), [element], bodies=1)
    q, v, _, _ = random_state(model, 5)
    with pytest.raises(ValueError, match=text):
        model.evaluate(0.0, q, v, want=("force",))


@pytest.mark.parametrize(
    ("element", "text"),
    [
        (("coordinate_law", "part", (1,), (), None), "function of time, coordinate and rate is missing"),
        (("joint_law", "part", (1, 3), (*TRIAD, *OTHER), None), "function of time, coordinate and rate is missing"),
        (("joint_law", "part", (1, 3), (*TRIAD, *np.ones(9)), torque), "axes_b: a rotation matrix"),
        (("slide_law", "part", (1, 3), AXIS, None), "function of time, coordinate and rate is missing"),
        (("slide_law", "part", (1, 3), np.ones(3), torque), "axis: a unit vector"),
        (("force_law", "part", (1, 3), (1.0,), None), "function of time, poses and twists is missing"),
        (("force_law", "part", (1, 3), (3.0,), wrench), "one or two bodies"),
        (("coordinate_law", "part", (3,), (), torque), "needs a joint of a tree"),
        (("coordinate_drive", "part", (1,), (0.0, 1.0, 1.0, 2.0), None), "each piece of the motion needs four values"),
    ],
)
def test_laws_that_make_no_sense(element, text):
    with pytest.raises(ValueError, match=text):
        tree(random_links([-1, 0]), [element], bodies=1)


@pytest.mark.parametrize("given", [3.0, "text"])
def test_what_cannot_be_called_is_refused_when_it_is_added(given):
    builder = lgint.ModelBuilder()
    builder.add_body("bar", mass=1.0, inertia=(1, 1, 1))
    builder.add_joint("revolute", lgint.ground, "bar", point=(0, 0, 0), axis=(0, 0, 1), name="pin")
    for place, words in (({"bodies": "bar"}, "the law on 'bar'"), ({"joint": "pin"}, "the law in 'pin'")):
        with pytest.raises(ValueError, match=f"function of {words}: a function expected, got "):
            builder.add_force_law(given, **place)
        with pytest.raises(ValueError, match="tangent of 'pull': a function expected, got "):
            builder.add_force_law(lambda *_: 0.0, tangent=given, name="pull", **place)
    assert not builder.build().record()["forces"]


@pytest.mark.parametrize("where", ["bodies", "joint"])
def test_the_core_calls_a_law_once_an_evaluation_and_nothing_is_between_them(where):
    callers = []

    def law(*state):
        callers.append(sys._getframe(1).f_code.co_name)
        return np.zeros(6) if where == "bodies" else 0.0

    builder = lgint.ModelBuilder(gravity=(0, 0, -9.81))
    builder.add_body("bar", mass=1.0, inertia=(1.0, 1.0, 1.0), position=(1, 0, 0))
    builder.add_joint("revolute", lgint.ground, "bar", point=(0, 0, 0), axis=(0, 1, 0), name="hinge")
    builder.add_force_law(law, **{where: {"bodies": "bar", "joint": "hinge"}[where]})
    model = builder.build()
    callers.clear()
    lgint.integrate(model, "rk44", t_end=0.1, h=0.01)
    assert len(callers) == 4 * 10 + 1
    assert set(callers) == {"_run"}  # of lgint.integrate
