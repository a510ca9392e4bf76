"""Steps that pass a contact: in touch between their ends alone, they are taken in parts or end the run."""

import re

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import lgint

GRAVITY = 9.81


def thrown(aside=0.0, other=("sphere", (0, 0, 0), 0.1), stiffness=1e5):
    """A ball that flies past or at a body of the same mass, 0.8 m away, with 20 m/s."""
    b = lgint.ModelBuilder()
    b.add_body("ball", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(-1, aside, 0), velocity=(20, 0, 0))
    b.add_body("other", mass=1.0, inertia=(0.1, 0.1, 0.1))
    b.add_contact("ball", "other", shapes=(("sphere", (0, 0, 0), 0.1), other), stiffness=stiffness, name="hit")
    return b.build()


OTHERS = [
    (("sphere", (0, 0, 0), 0.1), 1e5),
    (("capsule", [(0, -1, 0), (0, 1, 0)], 0.1), 1e5),
    (("box", (0, 0, 0), (0.005, 1, 1)), 1e8),
]
ADAPTIVE = [name for name in lgint.methods() if "rtol" in {row["name"] for row in lgint.method_info(name)["options"]}]


@pytest.mark.parametrize("other, stiffness", OTHERS)
def test_a_fixed_step_that_passes_a_contact_ends_the_run(other, stiffness):
    model = thrown(other=other, stiffness=stiffness)
    where = r"the contact hit is in touch at t = 0\.0(4|5)\d* and apart at both ends .*, at t = 0\.03 in step 2"
    with pytest.raises(lgint.IntegrationError, match=where):
        lgint.integrate(model, "genalpha", t_end=0.3, h=0.03)
    parts = lgint.integrate(model, "genalpha", t_end=0.3, h=0.03, retry=10)
    assert parts.velocity("other")[-1, 0] > 0.1
    past = thrown(aside=10.0, other=("sphere", (0, 0, 0), 0.1))
    assert lgint.integrate(past, "genalpha", t_end=0.3, h=0.03).velocity("ball")[-1, 0] == pytest.approx(20)


@pytest.mark.parametrize("method", ADAPTIVE)
@pytest.mark.parametrize("other, stiffness", OTHERS)
def test_adaptive_steps_pass_no_contact(method, other, stiffness):
    """The bodies exchange their velocities."""
    model = thrown(other=other, stiffness=stiffness)
    run = lgint.integrate(model, method, t_end=0.3, rtol=1e-5)
    assert run.velocity("other")[-1, 0] == pytest.approx(20, rel=5e-3)
    assert run.contact("hit").gap.min() < -1e-3


def test_what_only_grazes_or_exerts_nothing_is_passed():
    for model in (thrown(aside=0.19999), thrown(stiffness=0.0)):
        run = lgint.integrate(model, "genalpha", t_end=0.3, h=0.03)
        assert run.velocity("ball")[-1, 0] == pytest.approx(20, rel=1e-12)


def test_balls_on_arms_do_not_pass_each_other():
    """The way of a point on a body that turns is no straight line: both meet, although they never do along lines."""
    b = lgint.ModelBuilder()
    for name, rate in (("a", 12.0), ("b", -12.0)):
        b.add_body(name, mass=1.0, inertia=(0.1, 0.1, 0.1), formulation="R3xSO3", angular_velocity=(0, 0, rate))
        b.add_joint("revolute", lgint.ground, name, point=(0, 0, 0), axis=(0, 0, 1), name=f"hub_{name}")
    shapes = ("sphere", (0, 1, 0), 0.02), ("sphere", (0, -1, 0), 0.02)
    b.add_contact("a", "b", shapes=shapes, stiffness=1e6, name="hit")
    with pytest.raises(lgint.IntegrationError, match=r"the contact hit is in touch at t = 0\.13"):
        lgint.integrate(b.build(), "genalpha", t_end=0.3, h=0.025)


def test_a_bar_that_turns_far_in_a_step_passes_nothing():
    b = lgint.ModelBuilder()
    b.add_body("bar", mass=1.0, inertia=(0.1,) * 3, angular_velocity=(0, 0, 30.0))
    b.add_joint("revolute", lgint.ground, "bar", point=(0, 0, 0), axis=(0, 0, 1))
    shapes = ("capsule", ((0, 0, 0), (1, 0, 0)), 0.02), ("sphere", (0.432, 0.673, 0), 0.03)
    b.add_contact("bar", lgint.ground, shapes=shapes, stiffness=1e5, name="stop")
    run = lgint.integrate(b.build(), "radau5", t_end=0.1, rtol=1e-3, atol=1e-3)
    assert run.angular_velocity("bar")[-1, 2] == pytest.approx(-30, rel=1e-2)


@pytest.mark.parametrize("turns", [0.4, 1.5, 2.6, 7.3])
@pytest.mark.parametrize("first", ["bar", "ball"])
def test_a_bar_may_turn_through_revolutions_in_a_step(turns, first):
    """A ball at rest in its way is seen, however far it turns, and one above it is not touched."""
    h = 0.05

    def spinning(height):
        b = lgint.ModelBuilder()
        b.add_body("bar", mass=1.0, inertia=(0.1,) * 3, angular_velocity=(0, 0, 2 * np.pi * turns / h))
        b.add_joint("revolute", lgint.ground, "bar", point=(0, 0, 0), axis=(0, 0, 1))
        b.add_body("ball", mass=1.0, inertia=(0.1,) * 3, position=(0.8 * np.cos(2.0), 0.8 * np.sin(2.0), height))
        shapes = {"bar": ("capsule", ((0, 0, 0), (1, 0, 0)), 0.02), "ball": ("sphere", (0, 0, 0), 0.03)}
        last = "ball" if first == "bar" else "bar"
        b.add_contact(first, last, shapes=(shapes[first], shapes[last]), stiffness=1e5, name="hit")
        return b.build()

    with pytest.raises(lgint.IntegrationError, match="the contact hit is in touch at t = 0.0"):
        lgint.integrate(spinning(0.0), "genalpha", t_end=h, h=h)
    assert lgint.integrate(spinning(0.06), "genalpha", t_end=h, h=h).v[-1, 0] == 0


@pytest.mark.parametrize("arm", ["of a body about its COM", "of a body about its end"])
def test_two_arms_that_both_turn_far_in_a_step_meet_or_do_not(arm):
    """As their ways on two circles tell, whichever of them turns farther."""
    rng, h, found = np.random.default_rng(0), 1e-2, {True: 0, False: 0}
    offset = 0.0 if arm.endswith("COM") else 0.3
    hubs, s = np.array([0.0, 1.0]), np.linspace(0, 1, 20001)
    while min(found.values()) < 20:
        angles, turns = rng.uniform(0, 2 * np.pi, 2), rng.uniform(-1, 1, 2) * rng.choice([0.3, 1.0, 3.0])
        ways = [hub + 0.5 * np.exp(1j * (a + 2 * np.pi * n * s)) for hub, a, n in zip(hubs, angles, turns, strict=True)]
        gap = np.abs(ways[0] - ways[1]) - 0.1
        if min(gap[0], gap[-1]) < 0 or abs(gap.min()) < 0.03:
            continue
        b = lgint.ModelBuilder(formulation="minimal")
        for name, hub, angle, n in zip("ab", hubs, angles, turns, strict=True):
            along, rate = np.array([np.cos(angle), np.sin(angle), 0]), 2 * np.pi * n / h
            motion = {"angular_velocity": (0, 0, rate), "velocity": np.cross((0, 0, rate), offset * along)}
            place = {"position": (hub, 0, 0) + offset * along, "rotation": (0, 0, angle)}
            b.add_body(name, mass=1.0, inertia=(0.1,) * 3, **place, **motion)
            b.add_joint("revolute", lgint.ground, name, point=(hub, 0, 0), axis=(0, 0, 1))
        ball = ("sphere", (0.5 - offset, 0, 0), 0.05)
        b.add_contact("a", "b", shapes=(ball, ball), stiffness=1e5, name="hit")
        found[bool(gap.min() < 0)] += 1
        if gap.min() > 0:
            lgint.integrate(b.build(), "euler", t_end=h, h=h)
            continue
        with pytest.raises(lgint.IntegrationError, match="the contact hit is in touch at t = 0.0"):
            lgint.integrate(b.build(), "euler", t_end=h, h=h)


FLATS = [("box", (0, 0, -0.05), (50, 50, 0.05)), ("disc", (0, 0, 0), (0, 0, 1), 50.0), ("sphere", (0, 0, -50), 50.0)]


@pytest.mark.parametrize("other", FLATS, ids=lambda shape: shape[0])
def test_a_bounce_inside_a_step_is_no_passing(other):
    """Thrown aslant, and spinning, on something so stiff that it is in touch for a part of a step only."""
    rng = np.random.default_rng(0)
    inside = 0
    for _ in range(60):
        b = lgint.ModelBuilder(gravity=(0, 0, -GRAVITY))
        thrown = {"velocity": 5 * rng.normal(size=3) * (1, 1, 0) - (0, 0, 5), "angular_velocity": rng.normal(size=3)}
        thrown["angular_velocity"] *= 200
        b.add_body("ball", mass=0.5, inertia=(2e-3,) * 3, position=(0, 0, rng.uniform(0.3, 0.6)), **thrown)
        b.add_contact("ball", lgint.ground, shapes=[("sphere", (0, 0, 0), 0.1), other], stiffness=1e5, name="touch")
        run = lgint.integrate(b.build(), "rk44", t_end=0.3, h=1e-2)
        gap = run.gap("touch")
        inside += gap.min() > 0 and run.velocity("ball")[-1, 2] > 0
        assert gap.min() > -0.05
    assert inside > 5


def cube_at_a_cube(seed):
    """A cube thrown at another one: its faces and corners bounce, and its edges are no part of the contact."""
    rng = np.random.default_rng(seed)
    along = rng.normal(size=3)
    along /= np.linalg.norm(along)
    b = lgint.ModelBuilder()
    turned = lgint.groups.so3.exp(rng.normal(size=3))
    b.add_body("cube", mass=1.0, inertia=(0.01,) * 3, position=0.6 * along, rotation=turned, velocity=-along)
    shapes = ("box", (0, 0, 0), (0.1,) * 3), ("box", (0, 0, 0), (0.2,) * 3)
    b.add_contact("cube", lgint.ground, shapes=shapes, stiffness=1e5, name="hit")
    return b.build()


@pytest.mark.parametrize("seed", [0, 5, 14, 61])
def test_boxes_keep_their_energy_or_end_where_edges_pass(seed):
    try:
        run = lgint.integrate(cube_at_a_cube(seed), "dopri5", t_end=1.5, rtol=1e-7, atol=1e-9)
    except lgint.IntegrationError as error:
        assert "edges of the contact hit have passed through each other" in str(error)
        assert "spheres along an edge" in str(error) and "smaller" not in str(error)
        run = error.trajectory
    else:
        assert seed != 5  # it would leave with 100 times its energy
    assert np.ptp(run.energy("total")) < 1e-3


@pytest.mark.parametrize(
    "method, options", [("genalpha", {"h": 1e-3}), ("dopri5", {"rtol": 1e-6}), ("radau5", {"rtol": 1e-6})]
)
def test_where_edges_have_passed_no_smaller_steps_are_tried(method, options):
    """A retry changes nothing, and steps with error control do not shrink to nothing first."""
    ends = []
    for retry in [{}, {"retry": 10}] if method != "dopri5" else [{}]:
        with pytest.raises(lgint.IntegrationError, match="edges of the contact hit") as error:
            lgint.integrate(cube_at_a_cube(5), method, t_end=1.5, **options, **retry)
        ends.append(str(error.value))
    size = re.search("of size h = ([^,;]*)", ends[0])
    assert len({*ends}) == 1 and size and float(size[1]) > 1e-5


def test_an_attempt_that_lands_deep_in_a_box_is_tried_again():
    """A step from the flight above a table, too long for the contact, has moved as far as it is deep."""
    rng = np.random.default_rng(31)
    b = lgint.ModelBuilder(gravity=(0, 0, -9.81))
    turned, velocity = Rotation.random(rng=rng).as_matrix(), (*rng.normal(size=2) * 0.5, -rng.uniform(0, 3))
    start = {"position": (0, 0, 0.6), "rotation": turned, "velocity": velocity}
    b.add_body("box", mass=1.0, inertia=(0.01,) * 3, angular_velocity=5 * rng.normal(size=3), **start)
    shapes = ("box", (0, 0, 0), (0.1, 0.15, 0.2)), ("box", (0, 0, 0), (3, 3, 0.2))
    b.add_contact("box", lgint.ground, shapes=shapes, stiffness=2e4, damping=0.3, name="hit")
    run = lgint.integrate(b.build(), "dopri5", t_end=1.0, rtol=1e-6)
    assert run.position("box")[-1, 2] == pytest.approx(0.302, abs=1e-3)  # it stands on its side, 0.1 above the table
