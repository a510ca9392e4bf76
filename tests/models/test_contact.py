"""Contacts: where shapes touch, what they exert, and what a run makes of it."""

import pickle

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from scipy.special import beta

import lgint

GRAVITY = 9.81
LIE = ["R3xSO3", "SE3", "S3R3", "euler_parameters", "tait_bryan"]
TURN = np.array([[0.36, 0.48, -0.8], [-0.8, 0.6, 0.0], [0.48, 0.64, 0.6]])
FLOOR = ("plane", (0, 0, 0), (0, 0, 1))
SOFT = {"stiffness": 1e4, "exponent": 1.5, "damping": 0.3, "friction": 0.3, "regularization": 0.1}


def ball(formulation="R3xSO3", shape=("sphere", (0, 0, 0), 0.2), reverse=False, height=0.25, **law):
    """A ball that falls on the floor with a spin and a velocity across it."""
    b = lgint.ModelBuilder(gravity=(0, 0, -GRAVITY), formulation=formulation)
    b.add_body(
        "ball",
        mass=1.0,
        inertia=(0.02, 0.02, 0.03),
        position=(0, 0, height),
        velocity=(1, 0.3, 0),
        angular_velocity=(0.4, -1, 2),
    )
    if formulation == "minimal":
        b.add_joint("free", lgint.ground, "ball")
    pair = (lgint.ground, "ball"), (FLOOR, shape)
    if reverse:
        pair = pair[0][::-1], pair[1][::-1]
    b.add_contact(*pair[0], shapes=pair[1], name="touch", **(SOFT | law))
    return b.build()


SHAPES = [
    ("sphere", (0.02, 0, 0.01), 0.2),
    ("capsule", ((-0.1, 0, 0), (0.1, 0.05, 0)), 0.15),
    ("disc", (0, 0, 0.01), (0.1, 1, 0.2), 0.25),
    ("box", (0, 0, 0), (0.1, 0.15, 0.2), TURN),
]


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape[0])
def test_all_formulations_and_both_orders_of_the_bodies_make_the_same_run(shape):
    known = lgint.integrate(ball(shape=shape), "dopri5", t_end=0.3, rtol=1e-9, atol=1e-11)
    assert known.gap("touch").min() < -1e-3
    for formulation in LIE[1:]:
        run = lgint.integrate(ball(formulation, shape), "dopri5", t_end=0.3, rtol=1e-9, atol=1e-11)
        np.testing.assert_allclose(run.position("ball")[-1], known.position("ball")[-1], atol=2e-8)
        np.testing.assert_allclose(run.angular_velocity("ball")[-1], known.angular_velocity("ball")[-1], atol=2e-6)
    run = lgint.integrate(ball(shape=shape, reverse=True), "dopri5", t_end=0.3, rtol=1e-9, atol=1e-11)
    assert run.q.tobytes() == known.q.tobytes()
    np.testing.assert_array_equal(run.contact("touch").force, -known.contact("touch").force)
    np.testing.assert_array_equal(run.contact("touch").normal, -known.contact("touch").normal)
    np.testing.assert_array_equal(run.force("touch").values, known.force("touch", on="ground").values)


@pytest.mark.parametrize("method", ["genalpha", "radau5", "hht", "rk44", "herk4"])
def test_methods_agree_on_a_bounce(method):
    known = lgint.integrate(ball(), "dop853", t_end=0.3, rtol=1e-9, atol=1e-11)
    options = {"h": 2e-4} if method != "radau5" else {"rtol": 1e-7, "atol": 1e-9}
    run = lgint.integrate(ball(), method, t_end=0.3, **options)
    np.testing.assert_allclose(run.position("ball")[-1], known.position("ball")[-1], atol=2e-6)


def test_the_points_of_a_contact_exert_its_wrench_with_its_power():
    run = lgint.integrate(ball(shape=SHAPES[3]), "dopri5", t_end=0.25, rtol=1e-8)
    found, wrench = run.contact("touch"), run.force("touch")
    np.testing.assert_allclose(found.force.sum(axis=1), wrench.force, atol=1e-10)
    arms = found.point - run.position("ball")[:, None]
    np.testing.assert_allclose(np.cross(arms, found.force).sum(axis=1), wrench.moment, atol=1e-10)
    assert (found.normal_force >= 0).all() and found.normal_force.max() > 1
    across = np.linalg.norm(found.friction, axis=-1)
    assert (across <= 0.3 * found.normal_force + 1e-12).all()
    np.testing.assert_array_equal(found.gap.min(axis=1), run.gap("touch"))
    on = [run.force("touch", on=body).about((0, 0, 0)).values for body in ("ball", "ground")]
    np.testing.assert_allclose(on[0], -on[1], atol=1e-10)


@pytest.mark.parametrize("rate", [-2.0, 0.0, 1.0, 5.0])
def test_the_law_is_the_one_that_is_documented(rate):
    """At a depth of 1 cm and a sliding speed equal to the regularization; from 1/damping on the ball parts freely."""
    model = ball(height=0.19, regularization=0.1)
    state = model.state(v=[0.1, 0, rate, 0, 0, 0])
    N = 1e4 * 0.01**1.5 * max(0, 1 - 0.3 * rate)
    assert state.contact("touch").normal_force == pytest.approx(N, abs=1e-12)
    np.testing.assert_allclose(state.force("touch").force, (-0.3 * N / np.sqrt(2), 0, N), atol=1e-12)
    assert state.energy("potential") == pytest.approx(GRAVITY * 0.19 + 1e4 * 0.01**2.5 / 2.5)


def test_a_collision_after_hertz_takes_its_time():
    """Half the time of a collision is the integral of dx/sqrt(1 - x^2.5) times depth/speed."""
    mass, stiffness, speed = 2.0, 3e5, 0.7
    b = lgint.ModelBuilder(gravity=(0, 0, 0))
    for name, at, v in (("one", 0.0, 0.0), ("other", 0.201, -speed)):
        b.add_body(name, mass=mass, inertia=(0.01, 0.01, 0.01), position=(at, 0, 0), velocity=(v, 0, 0))
    shapes = [("sphere", (0, 0, 0), 0.1), ("sphere", (0, 0, 0), 0.1)]
    b.add_contact("one", "other", shapes=shapes, stiffness=stiffness, exponent=1.5, name="hertz")

    def touch(state):
        return state.gap("hertz")

    run = lgint.integrate(b.build(), "dop853", t_end=0.04, rtol=1e-11, atol=1e-14, events=touch)
    depth = (1.25 * mass / 2 * speed**2 / stiffness) ** 0.4
    expected = 2 * depth / speed * 0.4 * beta(0.4, 0.5)
    assert len(run.t_events[0]) == 2
    np.testing.assert_allclose(np.diff(run.t_events[0]), expected, rtol=1e-9)
    np.testing.assert_allclose(run.velocity("one")[-1], (-speed, 0, 0), atol=1e-9)
    assert np.ptp(run.energy()) < 1e-10


PAIRS = [
    (("sphere", (0.1, 0, 0), 0.3), ("sphere", (0, 0.1, 0), 0.4), 0.7),
    (("capsule", ((-1, 0, 0), (1, 0, 0)), 0.2), ("sphere", (0.3, 0, 0), 0.4), 0.6),
    (("disc", (0, 0, 0), (0, 0, 2), 0.5), ("sphere", (0.2, 0, 0), 0.4), 0.4),
    (("box", (0, 0, 0), (0.5, 0.6, 0.7)), ("sphere", (0, 0, 0), 0.4), 1.1),
    (("box", (0, 0, 0), (0.5, 0.6, 0.7)), ("capsule", ((0, 0, 0), (0, 0, 1)), 0.4), 1.1),
    (("box", (0, 0, 0), (0.1, 0.1, 0.2)), ("box", (0, 0, 0), (0.5, 0.6, 0.7)), 0.9),
    (("disc", (0, 0, 0), (0, 1, 0), 0.2), ("box", (0, 0, 0), (0.5, 0.6, 0.7)), 0.9),
    (("box", (0, 0, 0), (0.5, 0.6, 0.7)), ("disc", (0, 0, 0.1), (0, 0, 1), 0.2), 0.6),
]


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: f"{pair[0][0]}-{pair[1][0]}")
def test_the_gap_is_the_distance_of_the_surfaces(pair):
    """The second body is at z = 2 above the first, and what is left is the gap, along z if both are centred there."""
    b = lgint.ModelBuilder()
    b.add_body("low", mass=1.0, inertia=(1, 1, 1))
    b.add_body("high", mass=1.0, inertia=(1, 1, 1), position=(0, 0, 2))
    b.add_contact("low", "high", shapes=pair[:2], stiffness=1.0, name="touch")
    state = b.build().state()
    expected = 2 - pair[2]
    if (pair[0][0], pair[1][0]) == ("sphere", "sphere"):
        expected = np.linalg.norm((0.1, -0.1, 2)) - 0.7
    np.testing.assert_allclose(state.gap("touch"), expected, rtol=1e-14)
    found = state.contact("touch")
    nearest = np.isclose(found.gap, expected, rtol=1e-12)
    assert nearest.any() and (found.normal[nearest] @ (0, 0, 1) > 0.99).all()


def agrees_with_differences(model, rng, tolerance, v=None):
    """Tangents of the forces by q and by v, along random directions from the model's start."""
    core, q, zero, lam = model.core, model.q0, np.zeros(model.nv), np.zeros(model.nc)
    v = model.v0 if v is None else v
    for k in ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0)):
        S = core.evaluate(0.0, q, v, zero, lam, want=("S",), k=k)["S"]
        du = rng.normal(size=len(zero))

        def residual(s, k=k, du=du):
            moved = core.retract(q, s * k[0] * du), v + s * k[1] * du
            found = core.evaluate(0.0, *moved, zero, lam, want=("gyro", "force"))
            return found["gyro"] - found["force"]

        expected = (8 * (residual(1e-6) - residual(-1e-6)) - (residual(2e-6) - residual(-2e-6))) / 12e-6
        np.testing.assert_allclose(S @ du, expected, atol=tolerance * np.abs(expected).max())


BOXES = {"small": (0.1, 0.12, 0.05), "large": (0.3, 0.25, 0.07)}


def stacked(high, low, formulation="R3xSO3", order=1, tilt=(0, 0, 0), overlap=0.0, **law):
    """A box over another one that is held, as the first or the second body of their contact."""
    b = lgint.ModelBuilder(gravity=(0, 0, -GRAVITY), formulation=formulation)
    height = BOXES[high][2] + BOXES[low][2] - overlap
    b.add_body("low", mass=1.0, inertia=(0.1, 0.1, 0.1))
    turned = Rotation.from_rotvec(tilt).as_matrix()
    b.add_body("high", mass=1.0, inertia=(0.1, 0.2, 0.3), position=(0.02, 0.01, height), rotation=turned)
    b.add_joint("rigid", lgint.ground, "low", point=(0, 0, 0), name="held")
    names, shapes = ("high", "low"), [("box", (0, 0, 0), BOXES[high]), ("box", (0, 0, 0), BOXES[low])]
    b.add_contact(*names[::order], shapes=shapes[::order], **{"stiffness": 1e4, "damping": 300.0, **law}, name="face")
    return b.build()


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize(("high", "low"), [("large", "small"), ("small", "large")])
def test_a_box_rests_on_another_one_of_any_size(high, low, order):
    run = lgint.integrate(stacked(high, low, order=order), "genalpha", t_end=0.5, h=2e-3)
    contact = run.contact("face")
    bearing = contact.normal_force[-1] > 0
    assert bearing.sum() == 4 and contact.normal_force[-1].sum() == pytest.approx(GRAVITY, rel=1e-3)
    assert -1e-3 < contact.gap[-1].min() < 0 and np.abs(run.angular_velocity("high")[-1]).max() < 1e-3


@pytest.mark.parametrize("formulation", ["R3xSO3", "SE3", "euler_parameters"])
@pytest.mark.parametrize(("high", "low"), [("large", "small"), ("small", "large")])
def test_the_corners_of_both_boxes_meet_alike(high, low, formulation):
    """In either order there are the same forces, and their tangents are the derivatives."""
    law = {"exponent": 1.5, "friction": 0.3, "regularization": 0.1, "tilt": (0.1, -0.05, 0.2), "overlap": 0.04}
    rng = np.random.default_rng(3)
    models = [stacked(high, low, formulation, order, **law) for order in (1, -1)]
    zero, lam = np.zeros(models[0].nv), np.zeros(models[0].nc)
    q, v = models[0].q0, 0.1 * rng.normal(size=len(zero))
    one, other = (m.core.evaluate(0.0, q, v, zero, lam, want=("force",))["force"] for m in models)
    np.testing.assert_allclose(one, other, rtol=0, atol=1e-12 * np.abs(one).max())
    bearing = models[0].state(v=models[0].v0).contact("face").normal_force > 1
    assert (bearing[:8] if high == "small" else bearing[8:]).any()
    agrees_with_differences(models[0], rng, 1e-7, v)


# ---- flat discs ----

RADIUS = 0.1


TABLE = ("box", (0, 0, -0.1), (3.0, 2.0, 0.1))


def coin(tilt=0.0, height=0.05, formulation="R3xSO3", velocity=(0, 0, 0), angular_velocity=(0, 0, 0), on=FLOOR, **law):
    b = lgint.ModelBuilder(gravity=(0, 0, -GRAVITY), formulation=formulation)
    motion = {"rotation": (tilt, 0, 0), "velocity": velocity, "angular_velocity": angular_velocity}
    b.add_body("coin", mass=1.0, inertia=(2.5e-3, 2.5e-3, 5e-3), position=(0, 0, height), **motion)
    given = {"stiffness": 1e4, "damping": 5.0, "name": "touch"} | law
    b.add_contact("coin", lgint.ground, shapes=[("disc", (0, 0, 0), (0, 0, 1), RADIUS), on], **given)
    return b.build()


LAWS = [{}, {"exponent": 1.5}, {"friction": 0.3, "bristle": (1e4, 30.0)}, {"on": TABLE}]


@pytest.mark.parametrize("law", LAWS, ids=str)
@pytest.mark.parametrize("tilt", [0.0, 0.1])
@pytest.mark.parametrize("method", ["genalpha", "radau5"])
def test_a_coin_comes_to_rest_on_four_points(method, tilt, law):
    """It falls flat or on its edge, turns and slides, and at last lies flat."""
    options = {"h": 1e-3, "retry": 10} if method == "genalpha" else {"rtol": 1e-6, "atol": 1e-8}
    model = coin(tilt, 0.5, velocity=(0.3, 0, 0), angular_velocity=(0, 0, 2), **{"friction": 0.3} | law)
    run = lgint.integrate(model, method, t_end=2.0, **options)
    np.testing.assert_allclose(run.contact("touch").normal_force[-1], GRAVITY / 4, rtol=1e-5)
    assert run.rotation("coin")[-1, 2, 2] > 1 - 1e-12 and np.abs(run.v[-1]).max() < 1e-5


def test_a_tilted_disc_touches_with_its_lowest_point():
    tilt = 0.1
    contact = coin(tilt, RADIUS * np.sin(tilt) - 1e-3).state().contact("touch")
    height = RADIUS * np.sin(tilt)
    np.testing.assert_allclose(contact.gap, -1e-3 + height * np.array([0, 1, 2, 1]), atol=1e-15)
    assert contact.normal_force[0] == pytest.approx(10.0) and not contact.normal_force[1:].any()


def test_a_coin_rolls_on_a_box_as_on_a_plane():
    moves = {"velocity": (1, 0, 0), "angular_velocity": (0, 10, 0), "friction": 0.3, "regularization": 1e-2}
    models = [coin(1.4, 0.1, on=on, **moves) for on in (FLOOR, TABLE)]
    one, other = (lgint.integrate(model, "radau5", t_end=0.5, rtol=1e-8, atol=1e-10) for model in models)
    assert one.force("touch").force[:, 2].any() and one.position("coin")[-1, 0] > 0.1
    np.testing.assert_allclose(one.position("coin")[-1], other.position("coin")[-1], rtol=1e-9)


@pytest.mark.parametrize("angle", [0.2, 0.6, 1.0, 1.4])
def test_a_wheel_touches_an_edge_with_the_nearest_point_of_its_rim(angle):
    """Upright across the edge of a box, with its centre at an angle from the vertical above it."""
    b = lgint.ModelBuilder()
    along = np.array([np.sin(angle), 0, np.cos(angle)])
    b.add_body("wheel", mass=1.0, inertia=(1, 1, 1), position=(3, 0.3, 0) + 0.099 * along)
    b.add_contact(
        "wheel", lgint.ground, shapes=[("disc", (0, 0, 0), (0, 1, 0), RADIUS), TABLE], stiffness=1.0, name="t"
    )
    contact = b.build().state().contact("t")
    lowest = (3, 0.3, 0) - 1e-3 * along
    np.testing.assert_allclose(contact.gap[0], max(lowest[0] - 3, lowest[2]), rtol=1e-12)
    np.testing.assert_allclose(contact.point[0] - 0.5 * contact.gap[0] * contact.normal[0], lowest, atol=1e-15)
    assert (contact.gap[1:] > 0).all()


@pytest.mark.parametrize("formulation", ["R3xSO3", "SE3", "tait_bryan"])
def test_tangents_of_discs_against_boxes(formulation):
    """Wherever the centre of the disc is: over a face, beside an edge, beside a corner, or inside."""
    seen = set()
    for seed in range(60):
        rng = np.random.default_rng(seed)
        b = lgint.ModelBuilder(formulation=formulation)
        center = rng.uniform(-0.6, 0.6, 3)
        b.add_body("box", mass=1.0, inertia=(0.1, 0.2, 0.3), angular_velocity=rng.normal(size=3))
        turned = Rotation.random(random_state=seed).as_matrix()
        b.add_body(
            "disc", mass=1.0, inertia=(0.1, 0.2, 0.3), position=center, rotation=turned, velocity=(0.3, -0.2, 0.4)
        )
        shapes = ("box", (0, 0, 0), (0.3, 0.4, 0.2)), ("disc", (0, 0, 0), rng.normal(size=3), 0.5)
        law = {"exponent": 1.5, "damping": 0.05, "friction": 0.4, "regularization": 0.3}
        b.add_contact("box", "disc", shapes=shapes, stiffness=10.0, name="touch", **law)
        model = b.build()
        if not model.state().contact("touch").normal_force.any():
            continue
        seen.add(int((np.abs(center) > (0.3, 0.4, 0.2)).sum()))
        agrees_with_differences(model, rng, 1e-6)
    assert seen == {0, 1, 2, 3}


def test_the_force_on_a_flat_disc_does_not_depend_on_where_it_is_lowest():
    """A tilt of 1e-3 rad in any direction, with its moment about the axis of the tilt alone."""
    model = coin(0.0, -1e-3)
    for angle in np.linspace(0, np.pi, 9):
        axis = np.array([np.cos(angle), np.sin(angle), 0])
        q = model.core.retract(model.q0, np.concatenate([np.zeros(3), 1e-3 * axis]))
        wrench = model.state(q=q, v=np.zeros(6)).force("touch", on="coin")
        np.testing.assert_allclose(wrench.force, (0, 0, 40), rtol=1e-12)
        np.testing.assert_allclose(wrench.moment, -2e4 * RADIUS**2 * 1e-3 * axis, rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize("formulation", ["R3xSO3", "SE3", "tait_bryan"])
@pytest.mark.parametrize("tilt", [0.0, 1e-12, 1e-8, 1e-6, 1e-3, 0.1])
@pytest.mark.parametrize("exponent", [1.0, 1.5])
def test_tangents_of_discs_that_lie_flat(exponent, tilt, formulation):
    height = RADIUS * np.sin(tilt) * (tilt > 0.01) - 1e-3
    moves = {"velocity": (0.1, 0.2, -0.1), "angular_velocity": (0.1, 0.2, 0.3)}
    model = coin(tilt, height, formulation, exponent=exponent, **moves)
    agrees_with_differences(model, np.random.default_rng(2), 1e-8)


def test_energy_momentum_methods_conserve_in_contact():
    """Two bodies that meet in space; every method either conserves or is refused by name."""
    b = lgint.ModelBuilder(gravity=(0, 0, 0), formulation="euler_parameters")
    b.add_body("one", mass=1.0, inertia=(0.1, 0.15, 0.2), angular_velocity=(1, 2, -1))
    b.add_body("other", mass=2.0, inertia=(0.2, 0.3, 0.4), position=(0.9, 0.2, 0), velocity=(-2, 0, 0.3))
    shapes = [("sphere", (0.1, 0, 0), 0.4), ("sphere", (0, 0.05, 0.1), 0.4)]
    b.add_contact("one", "other", shapes=shapes, stiffness=2e3, exponent=1.5, name="touch")
    model = b.build()
    conserved = 0
    for method in ("eml", "reml", "null_eml", "emh", "mpl", "mph"):
        run = lgint.integrate(model, method, t_end=0.3, h=2e-3)
        assert run.gap("touch").min() < -0.02 and run.gap("touch")[-1] > 0
        L = run.angular_momentum()
        assert np.abs(L - L[0]).max() < 1e-9, method
        if method in ("eml", "reml", "null_eml", "emh"):
            assert np.ptp(run.energy()) < 1e-9 * run.energy()[0], method
            conserved += 1
    assert conserved == 4


def test_values_vary_and_a_model_is_kept():
    model = ball(reverse=True)
    names = {name for name in model.values if name.startswith("touch.")}
    assert names >= {f"touch.{name}" for name in ("stiffness", "damping", "friction", "radius_a", "origin_b")}
    other = model.with_parameters(**{"touch.radius_a": 0.1, "touch.origin_b": (0, 0, 0.05)})
    assert other.state().gap("touch") == pytest.approx(0.25 - 0.1 - 0.05)
    first = lgint.integrate(model, "genalpha", t_end=0.15, h=1e-3)
    whole = lgint.integrate(model, "genalpha", t_end=0.3, h=1e-3)
    again = lgint.integrate(pickle.loads(pickle.dumps(model)), "genalpha", t_end=0.3, h=1e-3, start=first)
    assert again.q[-1].tobytes() == whole.q[-1].tobytes()


@pytest.mark.parametrize("first", [0, 1])
def test_values_are_named_after_the_bodies_in_the_order_given(first):
    """A changed model is the one that is built so, and derivatives are differences, in either order of the shapes."""
    capsule, name = ("capsule", ((-0.1, 0, 0), (0.1, 0.05, 0))), f"touch.radius_{'ab'[first]}"

    def build(radius):
        b = lgint.ModelBuilder(gravity=(0, 0, -GRAVITY))
        b.add_body("low", mass=1.0, inertia=(0.02, 0.03, 0.04))
        b.add_body("high", mass=1.0, inertia=(0.02, 0.03, 0.04), position=(0, 0, 0.25))
        bodies, shapes = ("high", "low"), [("sphere", (0, 0, 0), radius), (*capsule, 0.12)]
        order = slice(None, None, -1 if first else 1)
        b.add_contact(*bodies[order], shapes=shapes[order], stiffness=1e4, name="touch")
        return b.build()

    model, rebuilt = build(0.15), build(0.16)
    assert model.values[name] == 0.15 and model.values[f"touch.radius_{'ba'[first]}"] == 0.12
    assert model.with_parameters(**{name: 0.16}).values == rebuilt.values
    assert model.with_parameters(**{name: 0.16}).state().gap("touch") == rebuilt.state().gap("touch")
    run = lgint.integrate(model, "genalpha", t_end=0.02, h=1e-3, sensitivity=[name])
    ends = [lgint.integrate(build(0.15 + by), "genalpha", t_end=0.02, h=1e-3).v[-1] for by in (-1e-5, 1e-5)]
    expected = (ends[1] - ends[0]) / 2e-5
    np.testing.assert_allclose(run.sensitivity.dv[-1, :, 0], expected, atol=1e-3 * np.abs(expected).max())


def test_a_ball_rests_where_its_weight_is_borne():
    b = lgint.ModelBuilder(gravity=(0, 0, -GRAVITY))
    b.add_body("ball", mass=1.0, inertia=(1, 1, 1), position=(0, 0, 0.195))
    b.add_joint("prismatic", lgint.ground, "ball", point=(0, 0, 0), axis=(0, 0, 1))
    shapes = [("sphere", (0, 0, 0), 0.2), FLOOR]
    b.add_contact("ball", lgint.ground, shapes=shapes, stiffness=1e4, exponent=1.5, name="touch")
    rest = lgint.equilibrium(b.build())
    assert rest.gap("touch")[-1] == pytest.approx(-((GRAVITY / 1e4) ** (2 / 3)), rel=1e-9)


# ---- bristles ----


def on_a_slope(angle, shape=("box", (0, 0, 0), (0.1, 0.1, 0.05)), formulation="R3xSO3", on=FLOOR, **law):
    """A block of 1 kg at rest on a slope; its face is at z = 0."""
    b = lgint.ModelBuilder(gravity=GRAVITY * np.array([np.sin(angle), 0, -np.cos(angle)]), formulation=formulation)
    b.add_body("block", mass=1.0, inertia=(0.01, 0.01, 0.01), position=(0, 0, 0.05))
    given = {"stiffness": 1e5, "damping": 100.0, "friction": 0.5, "bristle": (1e5, 300.0), "name": "touch"} | law
    b.add_contact("block", lgint.ground, shapes=[shape, on], **given)
    return b.build()


@pytest.mark.parametrize("method", ["genalpha", "radau5", "rk44", "eml"])
def test_bristles_hold_a_block_on_a_slope_for_10_s(method):
    options = {"rtol": 1e-6, "atol": 1e-8} if method == "radau5" else {"h": 5e-4 if method == "rk44" else 1e-3}
    model = on_a_slope(0.3, formulation="euler_parameters" if method == "eml" else "R3xSO3")
    run = lgint.integrate(model, method, t_end=10.0, stops=[1.0], **options)
    x = run.position("block")[:, 0]
    assert np.abs(x - x[-1])[run.t >= 1].max() < 1e-10 and abs(x[-1]) < 2e-5
    holds = np.linalg.norm(run.contact("touch").friction[-1].sum(axis=0))
    assert holds == pytest.approx(GRAVITY * np.sin(0.3), abs=1e-6)


def test_bristles_slide_beyond_their_limit():
    run = lgint.integrate(on_a_slope(0.6), "genalpha", t_end=1.0, h=1e-3, retry=8)
    a = GRAVITY * (np.sin(0.6) - 0.5 * np.cos(0.6))
    assert run.position("block")[-1, 0] == pytest.approx(a / 2, rel=1e-4)


LYING = [
    ("box", (0, 0, 0), (0.1, 0.1, 0.05)),
    ("disc", (0, 0, -0.05), (0, 0, 1), 0.1),
    ("capsule", ((0, -0.1, 0.01), (0, 0.1, 0.01)), 0.06),
]


@pytest.mark.parametrize("angle", [0.3, 0.6])
@pytest.mark.parametrize("shape", LYING, ids=lambda shape: shape[0])
def test_bristles_on_the_face_of_a_box_are_those_on_a_plane(shape, angle):
    """A block that stays, and one that slides; a capsule across the slope rolls."""
    one, other = (
        lgint.integrate(on_a_slope(angle, shape, on=on), "genalpha", t_end=0.5, h=1e-3, retry=8)
        for on in (FLOOR, TABLE)
    )
    np.testing.assert_allclose(other.position("block"), one.position("block"), rtol=0, atol=1e-9)
    assert np.linalg.norm(other.contact("touch").friction[-1].sum(axis=0)) > 0.2


@pytest.mark.parametrize("order", [1, -1])
def test_bristles_at_the_corners_of_a_lower_box_stop_a_larger_one(order):
    """It slides until its energy is spent, and then stays, in either order of the bodies."""
    model = stacked("large", "small", order=order, friction=0.5, bristle=(1e5, 300.0))
    rest = lgint.integrate(model, "genalpha", t_end=0.5, h=1e-3, retry=8).state(-1)
    v = rest.v.copy()
    v[6] += 0.3
    run = lgint.integrate(model.with_state(q=rest.q, v=v), "genalpha", t_end=0.5, h=1e-3, retry=8)
    way = run.position("high")[:, 0] - rest.position("high")[0]
    assert way[-1] == pytest.approx(0.3**2 / GRAVITY, rel=1e-2)
    assert np.ptp(way[run.t > 0.4]) < 1e-5


BALL = ("sphere", (0, 0, 0), 0.05)
ROLLED_ON = [("capsule", ((-9, 0, -1), (9, 0, -1)), 1.0), ("disc", (0, 0, 0), (0, 0, 1), 9.0), TABLE]


@pytest.mark.parametrize("on", ROLLED_ON, ids=lambda shape: shape[0])
def test_bristles_let_a_ball_roll_along_other_shapes_as_on_a_plane(on):
    one, other = (
        lgint.integrate(on_a_slope(0.3, BALL, on=shape), "genalpha", t_end=0.5, h=1e-3) for shape in (FLOOR, on)
    )
    assert one.position("block")[-1, 0] > 0.05
    np.testing.assert_allclose(other.position("block"), one.position("block"), rtol=0, atol=1e-9)


def test_bristles_that_have_slid_do_not_pull_back():
    """A block with a velocity slides until its energy is spent, and rests where it stops."""
    rest = lgint.integrate(on_a_slope(0.0), "genalpha", t_end=0.1, h=1e-3).state(-1)
    model = on_a_slope(0.0).with_state(q=rest.q, v=[0.5, 0, 0, 0, 0, 0])
    run = lgint.integrate(model, "genalpha", t_end=1.0, h=5e-4, retry=8)
    assert run.position("block")[-1, 0] - rest.position("block")[0] == pytest.approx(0.5**2 / GRAVITY, rel=2e-3)
    assert np.abs(run.velocity("block")[-1]).max() < 1e-6


def test_bristles_let_a_ball_roll():
    run = lgint.integrate(on_a_slope(0.3, ("sphere", (0, 0, 0), 0.05)), "genalpha", t_end=1.0, h=1e-3)
    a = GRAVITY * np.sin(0.3) / (1 + 0.01 / 0.05**2)
    assert run.position("block")[-1, 0] == pytest.approx(a / 2, rel=2e-3)
    assert run.angular_velocity("block")[-1, 1] * 0.05 == pytest.approx(run.velocity("block")[-1, 0], rel=2e-3)


BENT = [
    *((SHAPES[3], FLOOR, formulation, 0.25) for formulation in ("R3xSO3", "SE3", "tait_bryan")),
    *((shape, TABLE, "SE3", 0.05) for shape in LYING),
    (LYING[0], ("box", (0, 0, -0.1), (0.05, 0.06, 0.1)), "R3xSO3", 0.05),
    *((BALL, on, "R3xSO3", 0.05) for on in ROLLED_ON[:2]),
]


@pytest.mark.parametrize(
    ("shape", "on", "formulation", "t"), BENT, ids=lambda given: given[0] if isinstance(given, tuple) else str(given)
)
@pytest.mark.parametrize("friction", [0.5, 5e-2])
def test_tangents_with_bent_bristles(shape, on, formulation, t, friction):
    """With the memory of a run, of bristles that stick and of those that slide."""
    rng = np.random.default_rng(2)
    law = {"friction": friction, "stiffness": 1e3, "bristle": (1e3, 3.0)}
    model = on_a_slope(0.3, shape, formulation, on=on, **law)
    start = lgint.integrate(model, "rk44", t_end=t, h=1e-3)
    core, mem = model.core, start.mem[-1]
    q, v = core.retract(start.q[-1], 1e-3 * rng.normal(size=model.nv)), start.v[-1] + 1e-2 * rng.normal(size=model.nv)
    assert mem[1::10].any()
    zero = np.zeros(model.nv)
    for k in ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0)):
        S = core.evaluate(0.0, q, v, zero, np.zeros(model.nc), mem=mem, want=("S",), k=k)["S"]
        du = rng.normal(size=model.nv)

        def residual(s, k=k, du=du):
            moved = core.retract(q, s * k[0] * du), v + s * k[1] * du
            found = core.evaluate(0.0, *moved, zero, np.zeros(model.nc), mem=mem, want=("gyro", "force"))
            return found["gyro"] - found["force"]

        expected = (8 * (residual(1e-7) - residual(-1e-7)) - (residual(2e-7) - residual(-2e-7))) / 12e-7
        assert np.abs(expected).max() > 10
        np.testing.assert_allclose(S @ du, expected, atol=1e-6 * np.abs(expected).max())


def pulled(force):
    """A ball that does not roll, on a floor with bristles, under a force that depends on time."""
    b = lgint.ModelBuilder(gravity=(0, 0, -GRAVITY))
    b.add_body("ball", mass=1.0, inertia=(10, 10, 10), position=(0, 0, 0.1 - GRAVITY / 1e5), velocity=(0.2, 0, 0))
    b.add_force("ball", force=force)
    law = {"stiffness": 1e5, "damping": 1.0, "friction": 0.3, "bristle": (1e4, 20.0)}
    b.add_contact("ball", lgint.ground, shapes=[("sphere", (0, 0, 0), 0.1), FLOOR], name="touch", **law)
    return b.build()


PULLS = {
    "round": lambda t: (6 * np.cos(6 * t), 6 * np.sin(6 * t), 3 * np.sin(11 * t)),
    "to and fro": lambda t: (6 * np.cos(20 * t), 0, 2 * np.sin(11 * t)),
}


def frictions(pull, method, **options):
    run = lgint.integrate(pulled(PULLS[pull]), method, t_end=0.4, stops=np.arange(1, 8) / 20, **options)
    rows = np.abs(run.t[:, None] - np.arange(1, 9) / 20).argmin(axis=0)
    return run.contact("touch").friction[rows, 0]


SEEN = [("round", "dopri5"), ("round", "radau5"), ("round", "genalpha"), ("to and fro", "dopri5")]


@pytest.mark.parametrize(("pull", "method"), [*SEEN, ("to and fro", "radau5")])
def test_tolerances_govern_bristles(pull, method):
    """The force of bristles that turn or stick again is as accurate as the tolerances ask for."""
    coarse, fine = (frictions(pull, "rk44", h=h) for h in (4e-5, 2e-5))
    exact = fine + (fine - coarse) / 3
    assert np.abs(fine - coarse).max() < 1e-5
    errors = [np.abs(frictions(pull, method, rtol=rtol) - exact).max() for rtol in (1e-5, 1e-6, 1e-7, 1e-8)]
    assert errors[3] < errors[2] < errors[1] < errors[0] and errors[3] < errors[0] / 100


@pytest.mark.parametrize("short", [1e-11, 1e-14])
def test_bristles_slide_through_the_shortest_steps(short):
    """Between two stops: their damped force is no rate of round-off, at which steps would shrink to nothing."""
    b = lgint.ModelBuilder(gravity=(0, 0, -GRAVITY))
    spin = {"velocity": (2, 1, 0), "angular_velocity": (3, -2, 1)}
    b.add_body("ball", mass=1.0, inertia=(0.01, 0.01, 0.01), position=(3, 2, 0.1), **spin)
    law = {"stiffness": 1e4, "damping": 10.0, "friction": 0.5, "bristle": (300.0, 1.0)}
    b.add_contact("ball", lgint.ground, shapes=[("sphere", (0, 0, 0), 0.1), FLOOR], **law)
    run = lgint.integrate(b.build(), "dopri5", t_end=0.06, rtol=1e-9, atol=1e-11, stops=[0.05, 0.05 + short])
    assert run.stats.rejected < 50


def test_bristles_are_kept_in_files_and_resumed_bit_for_bit(tmp_path):
    model, given = on_a_slope(0.3), {"h": 1e-3, "sensitivity": ["touch.bristle", "block.mass"]}
    whole = lgint.integrate(model, "genalpha", t_end=0.2, **given)
    lgint.integrate(model, "genalpha", t_end=0.1, **given).save(tmp_path / "run.npz")
    again = lgint.integrate(model, "genalpha", t_end=0.2, h=1e-3, start=lgint.load(tmp_path / "run.npz"))
    assert len({b"".join(x[-1].tobytes() for x in (r.q, r.mem, r.sensitivity.dmem)) for r in (again, whole)}) == 1
    at = lgint.integrate(model, "genalpha", t_end=0.2, t_eval=[0.1, 0.1505], **given).contact("touch").force
    np.testing.assert_array_equal(at[0], whole.contact("touch").force[100])


# ---- beside others ----


class Pair:
    """Two spheres on bodies that turn and slide; `friction` is their coefficient."""

    X, V = [(0, 0, 0), (0.5, 0.3, 0.55)], [(0.1, 0.2, 0.3), (-1, 0.5, -2)]
    W, R = [(0.3, -0.2, 0.5), (-0.4, 0.6, 0.1)], [TURN, TURN.T]
    inertia, centers, radii = (0.1, 0.2, 0.3), [(0.05, 0.02, -0.03), (-0.04, 0.01, 0.02)], [0.5, 0.4]
    stiffness, exponent, speed = 1000.0, 1.5, 1e-9  # the last one below which friction is not full

    def __init__(self, friction):
        self.friction = friction

    def state(self):
        b = lgint.ModelBuilder()
        for name, x, v, w, R in zip(("one", "other"), self.X, self.V, self.W, self.R, strict=True):
            b.add_body(name, mass=1.0, inertia=self.inertia, position=x, rotation=R, velocity=v, angular_velocity=w)
        law = {"stiffness": self.stiffness, "exponent": self.exponent, "friction": self.friction}
        law |= {"regularization": self.speed} if self.friction else {}
        shapes = [("sphere", center, radius) for center, radius in zip(self.centers, self.radii, strict=True)]
        b.add_contact("one", "other", shapes=shapes, name="touch", **law)
        return b.build().state()

    def by_exudyn(self, exudyn, items, utilities):
        """The generalized forces, seven for each body."""
        mbs, markers = exudyn.SystemContainer().AddSystem(), []
        for x, v, w, R, center in zip(self.X, self.V, self.W, self.R, self.centers, strict=True):
            start = {"referencePosition": list(x), "initialVelocity": list(v), "initialAngularVelocity": list(R @ w)}
            inertia = utilities.RigidBodyInertia(1.0, np.diag(self.inertia))
            body = mbs.CreateRigidBody(inertia=inertia, referenceRotationMatrix=R, **start)
            markers.append(mbs.AddMarker(items.MarkerBodyRigid(bodyNumber=body, localPosition=list(center))))
        data = mbs.AddNode(items.NodeGenericData(initialCoordinates=[-0.1, 1.0, 0, 0], numberOfDataCoordinates=4))
        law = {"contactStiffness": self.stiffness, "contactStiffnessExponent": self.exponent}
        law |= {"dynamicFriction": self.friction, "frictionProportionalZone": self.speed}
        where = {"markerNumbers": markers, "nodeNumber": data, "spheresRadii": self.radii}
        mbs.AddObject(items.ObjectContactSphereSphere(**where, **law))
        mbs.Assemble()
        solver, settings = exudyn.MainSolverImplicitSecondOrder(), exudyn.SimulationSettings()
        settings.timeIntegration.numberOfSteps, settings.timeIntegration.endTime = 1, 1e-9
        settings.solution.file.write = False
        solver.InitializeSolver(mbs, settings)
        solver.ComputeODE2RHS(mbs)
        return np.array(solver.GetSystemResidual())[:14].reshape(2, 7)


@pytest.mark.parametrize("friction", [0.0, 0.3])
def test_forces_are_those_of_exudyn_at_equal_states(friction):
    exudyn = pytest.importorskip("exudyn")
    from exudyn import itemInterface, utilities

    pair = Pair(friction)
    state, expected = pair.state(), pair.by_exudyn(exudyn, itemInterface, utilities)
    for name, forces in zip(("one", "other"), expected, strict=True):
        wrench = state.force("touch", on=name)
        np.testing.assert_allclose(wrench.force, forces[:3], rtol=1e-10)
        assert np.linalg.norm(wrench.force) > 10


MISTAKES = [
    ({"shapes": [FLOOR]}, "two shapes expected"),
    ({"shapes": [FLOOR, FLOOR]}, "a plane and a plane are no pair"),
    ({"shapes": [("disc", (0, 0, 0), (0, 0, 1), 1.0), ("capsule", np.eye(2, 3), 1.0)]}, "a disc and a capsule are no"),
    ({"shapes": [FLOOR, ("shpere", (0, 0, 0), 1.0)]}, "'sphere'"),
    ({"shapes": [FLOOR, ("sphere", (0, 0, 0))]}, "center, radius"),
    ({"shapes": [("plane", (0, 0, 0), (0, 0, 0)), ("sphere", (0, 0, 0), 1.0)]}, "other than zero"),
    ({"shapes": [FLOOR, ("sphere", (0, 0, 0), -1.0)]}, "^radius of the sphere of 'touch': a positive number expected"),
    ({"shapes": [("box", (0, 0, 0), (1, 0, 1)), ("sphere", (0, 0, 0), 1.0)]}, "^half sizes of the box of 'touch': "),
    ({"shapes": [FLOOR, ("box", (0, 0, 0), (1, 1, 1), 2 * np.eye(3))]}, "^rotation of the box of 'touch': "),
    ({"stiffness": -1.0}, "stiffness"),
    ({"exponent": 0.5}, "^exponent of 'touch': a number >= 1 expected, got 0.5"),
    ({"regularization": 0.0}, "regularization"),
    ({"friction": -0.1}, "friction"),
    ({"regularization": 0.1, "bristle": 1e3, "friction": 0.3}, "regularization of 'touch': bristles have none"),
    ({"bristle": 1e3}, "^bristle of 'touch': 1000.0 has no effect without friction; give a positive friction"),
    ({"regularization": 0.1}, "^regularization of 'touch': 0.1 has no effect without friction"),
    *(
        ({"stiffness": 0, key: value}, f"^{key} of 'touch': {value} has no effect, since .* give a positive stiffness")
        for key, value in {
            "damping": 2.0,
            "friction": 0.3,
            "exponent": 1.5,
            "bristle": 5.0,
            "regularization": 0.1,
        }.items()
    ),
]


@pytest.mark.parametrize(("change", "message"), MISTAKES, ids=lambda value: value if isinstance(value, str) else "")
def test_mistakes_are_named(change, message):
    b = lgint.ModelBuilder()
    b.add_body("ball", mass=1.0, inertia=(1, 1, 1))
    given = {"shapes": [FLOOR, ("sphere", (0, 0, 0), 1.0)], "stiffness": 1.0, "name": "touch"} | change
    with pytest.raises(ValueError, match=message):
        b.add_contact(lgint.ground, "ball", **given)


def test_spheres_with_one_centre_have_no_normal():
    b = lgint.ModelBuilder(gravity=(0, 0, 0))
    for name in ("one", "other"):
        b.add_body(name, mass=1.0, inertia=(1, 1, 1))
    b.add_contact("one", "other", shapes=[("sphere", (0, 0, 0), 1.0)] * 2, stiffness=1.0, name="touch")
    with pytest.raises(lgint.IntegrationError, match="touch"):
        lgint.integrate(b.build(), "rk44", t_end=0.1, h=0.1)


@pytest.mark.parametrize(("method", "options"), [("genalpha", {"newton": "full", "max_iter": 8}), ("radau5", {})])
def test_a_step_that_smooth_friction_fails_is_taken_in_parts(method, options):
    """The message names the option with which the run goes on."""
    b = lgint.ModelBuilder(gravity=(0, 0, -GRAVITY))
    b.add_body("ball", mass=0.5, inertia=(2e-3, 2e-3, 2e-3), position=(0, 0, 0.1), velocity=(1, 0, 0))
    law = {"stiffness": 1e5, "friction": 0.5, "name": "floor"}
    b.add_contact("ball", lgint.ground, shapes=(("sphere", (0, 0, 0), 0.1), FLOOR), **law)
    with pytest.raises(lgint.ConvergenceError, match="retry=10 repeats a failed step in smaller parts"):
        lgint.integrate(b.build(), method, t_end=0.1, h=1e-3, **options)
    run = lgint.integrate(b.build(), method, t_end=0.1, h=1e-3, retry=10, **options)
    assert run.velocity("ball")[-1, 0] == pytest.approx(5 / 7, rel=2e-2)


@pytest.mark.parametrize("newton", ["auto", "full"])
@pytest.mark.parametrize("seed", [5, 11])
def test_a_box_that_tumbles_and_slides_needs_no_second_try(seed, newton):
    """Smooth friction levels off: whole corrections go to and fro between both of its sides."""
    rng = np.random.default_rng(seed)
    b = lgint.ModelBuilder(gravity=(0, 0, -GRAVITY))
    turned = Rotation.from_rotvec(rng.normal(size=3)).as_matrix()
    motion = {"velocity": (*rng.normal(size=2), 0), "angular_velocity": 3 * rng.normal(size=3)}
    b.add_body("box", mass=1.0, inertia=(0.01, 0.012, 0.015), position=(0, 0, 0.3), rotation=turned, **motion)
    law = {"stiffness": rng.choice([1e4, 1e5]), "damping": rng.choice([0, 5.0]), "friction": 0.3, "name": "touch"}
    b.add_contact("box", lgint.ground, shapes=(("box", (0, 0, 0), (0.1, 0.12, 0.1)), FLOOR), **law)
    model, failures = b.build(), 0
    for h in (1e-3, 5e-4, 2e-4):
        assert lgint.integrate(model, "genalpha", t_end=0.5, h=h, newton=newton).t[-1] == 0.5
        try:
            lgint.integrate(model, "genalpha", t_end=0.5, h=h, newton=newton, max_iter=8)
        except lgint.ConvergenceError:
            failures += 1
    assert failures > 0
