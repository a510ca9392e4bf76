"""Elastic tendons: lengths by closed forms and MuJoCo, machines, energy, and what is refused."""

import pickle
import re

import numpy as np
import pytest

import lgint
from kinds import FREE, MOMENTUM

G = 9.81
UP = (0, 0, -G)


# ---- lengths ----


def one_piece(ends, pulleys, **how):
    """Two free bodies with a tendon between their centres."""
    b = lgint.ModelBuilder()
    for name, x in zip("ab", ends, strict=True):
        b.add_body(name, mass=1.0, inertia=(0.1, 0.1, 0.1), position=x)
    b.add_tendon("ab", stiffness=2.0, pulleys=pulleys, name="rope", **how)
    return b.build()


def length_of(model, q=None):
    return float(model.state(q).tendon("rope").length)


def test_length_from_a_point_to_a_drum():
    """Exact in the plane of the circle; beside it |P - c|^2 - r^2 is the square of the straight part."""
    r, wound = 0.3, 2.5
    for x in [(1.0, 0.4, 0.0), (1.0, 0.4, 0.7)]:
        found = length_of(one_piece([x, (0, 0, 0)], {1: ((0, 0, 1), r, wound)}))
        assert found == pytest.approx(np.sqrt(np.dot(x, x) - r * r) + r * wound, abs=1e-14)


@pytest.mark.parametrize("crossed", [False, True])
def test_length_of_a_belt(crossed):
    """One side of an open or a crossed belt about two wheels, on both of which it is wound."""
    ra, rb, d = 0.4, 0.25, 1.3
    pulleys = {0: ((0, 0, 1), ra, 1.5), 1: ((0, 0, -1 if crossed else 1), rb, 1.2)}
    model = one_piece([(0, 0, 0), (d, 0, 0)], pulleys)
    straight = np.sqrt(d**2 - (ra + rb if crossed else ra - rb) ** 2) + 1.5 * ra + 1.2 * rb
    assert length_of(model) == pytest.approx(straight, abs=1e-14)
    # turning a wheel about its axis winds the tendon on it or off it
    q = np.array(model.q0)
    turned = lgint.groups.so3.exp((0, 0, 0.7)).ravel()
    first = q.copy()
    first[3:12] = turned
    assert length_of(model, first) == pytest.approx(straight - 0.7 * ra, abs=1e-14)
    q[15:24] = turned
    sign = -1 if crossed else 1
    assert length_of(model, q) == pytest.approx(straight + sign * 0.7 * rb, abs=1e-14)


def test_lengths_through_sites_are_those_of_mujoco():
    mujoco = pytest.importorskip("mujoco")
    rng = np.random.default_rng(3)
    where, points = rng.normal(size=(3, 3)), rng.normal(size=(4, 3))
    bodies = "".join(
        f"<body name='b{i}' pos='{x} {y} {z}'><freejoint/><inertial pos='0 0 0' mass='1' diaginertia='1 1 1'/>"
        + "".join(f"<site name='s{k}' pos='{' '.join(map(repr, points[k].tolist()))}'/>" for k in on)
        + "</body>"
        for i, ((x, y, z), on) in enumerate(zip(where.tolist(), [(0,), (1, 2), (3,)], strict=True))
    )
    sites = "".join(f"<site site='s{k}'/>" for k in range(4))
    peer = mujoco.MjModel.from_xml_string(
        f"<mujoco><worldbody>{bodies}</worldbody><tendon><spatial>{sites}</spatial></tendon></mujoco>"
    )
    data = mujoco.MjData(peer)
    b = lgint.ModelBuilder(formulation="R3xS3")
    for i in range(3):
        b.add_body(f"b{i}", mass=1.0, inertia=(1, 1, 1), position=where[i])
    b.add_tendon(["b0", "b1", "b1", "b2"], stiffness=1.0, local_points=points, name="rope")
    model = b.build()
    for _ in range(5):
        q = rng.normal(size=(3, 7))
        q[:, 3:] /= np.linalg.norm(q[:, 3:], axis=1)[:, None]
        v = rng.normal(size=(3, 6))
        data.qpos[:], data.qvel[:] = q.ravel(), v.ravel()
        mujoco.mj_forward(peer, data)
        state = model.state(q.ravel(), v.ravel())
        assert state.tendon("rope").length == pytest.approx(data.ten_length[0], rel=1e-12)
        assert state.tendon("rope").rate == pytest.approx(data.ten_velocity[0], rel=1e-12)


# ---- machines ----


def atwood(drum=False, radius=0.2, formulation="R3xSO3", **how):
    """Two weights on a rope over a wheel, or one on a drum."""
    b = lgint.ModelBuilder(gravity=UP, formulation=formulation)
    b.add_body("wheel", mass=1.0, inertia=(0.03, 0.04, 0.03), position=(0, 0, 0), formulation="R3xSO3")
    b.add_joint("revolute", lgint.ground, "wheel", point=(0, 0, 0), axis=(0, 1, 0), name="hub")
    for name, mass, x in [("a", 2.0, (-radius, 0, -1)), ("b", 3.0, (radius, 0, -1.3))][drum:]:
        b.add_body(name, mass=mass, inertia=(0.1, 0.1, 0.1), position=x)
    if drum:
        b.add_tendon(["wheel", "b"], pulleys={0: ((0, 1, 0), radius, 9.0)}, name="rope", **how)
    else:
        b.add_tendon(["a", "wheel", "b"], pulleys={1: ((0, 1, 0), radius)}, name="rope", **how)
    return b.build()


def test_atwood_machine():
    """With the tension 2 m1 m2 g/(m1 + m2) the weights move as on an inextensible rope; the wheel does not turn."""
    T, k = 2 * 2 * 3 / 5 * G, 1e4
    length = 1 + 1.3 + np.pi * 0.2
    state = atwood(stiffness=k, rest_length=length - T / k).state()
    assert state.tendon("rope").length == pytest.approx(length, abs=1e-14)
    assert state.force("rope") == pytest.approx(-T, rel=1e-11)
    a = G / 5
    assert np.abs(state.acceleration("a") - (0, 0, a)).max() < 1e-9
    assert np.abs(state.acceleration("b") + (0, 0, a)).max() < 1e-9
    assert np.abs(state.angular_acceleration("wheel")).max() < 1e-10
    # the wheel bears twice the tension at its axle
    assert np.abs(state.force("rope", "wheel").values - (0, 0, -2 * T, 0, 0, 0)).max() < 1e-9


def test_a_drum_is_turned():
    """The weight on a drum falls with m g/(m + I/r^2), through several turns."""
    a, r = 3 * G / (3 + 0.04 / 0.2**2), 0.2
    T = 3 * (G - a)
    model = atwood(drum=True, stiffness=1e5, rest_length=1.3 + 9 * r - T / 1e5)
    state = model.state()
    assert state.acceleration("b")[2] == pytest.approx(-a, rel=1e-9)
    assert state.angular_acceleration("wheel")[1] == pytest.approx(a / r, rel=1e-9)
    run = lgint.integrate(model, "dopri5", t_end=0.6, rtol=1e-9, atol=1e-9)
    angle = run.joint_angle("hub")
    assert angle[-1] > 2 * np.pi
    x = run.position("b")
    straight = np.sqrt((x**2).sum(axis=1) - r**2)
    lean = np.arctan2(x[:, 0], -x[:, 2]) - np.arcsin(r / np.linalg.norm(x, axis=1))
    assert np.abs(run.tendon("rope").length - (straight + r * (9 - angle + lean))).max() < 1e-9
    assert np.abs(run.tendon("rope").length - (1.3 + 9 * r)).max() < 1e-3


def tackle(strands, weight=2.0, **how):
    """A weight on a block of half as many pulleys as strands, which end on the ground."""
    b, r = lgint.ModelBuilder(gravity=UP, formulation="minimal"), 0.1
    width = 2 * r * strands
    b.add_body("block", mass=weight, inertia=(0.1, 0.1, 0.1), position=(width / 2, 0, -1))
    b.add_joint("prismatic", lgint.ground, "block", point=(width / 2, 0, -1), axis=(0, 0, 1), name="guide")
    bodies, points, pulleys = [lgint.ground], [(0.0, 0, 0)], {}
    for i in range(strands - 1):
        low = i % 2 == 0
        bodies.append("block" if low else lgint.ground)
        points.append((r + 2 * r * i, 0, -1 if low else 0))
        pulleys[i + 1] = ((0, -1 if low else 1, 0), r)
    bodies.append(lgint.ground)
    points.append((2 * r * (strands - 1), 0, 0))
    b.add_tendon(bodies, points=points, pulleys=pulleys, name="rope", **how)
    return b.build()


@pytest.mark.parametrize("strands", [2, 4])
def test_block_and_tackle(strands):
    """At rest each of the strands bears its part of the weight, and the stretch is shared."""
    model = tackle(strands, stiffness=1e3)
    rest = lgint.equilibrium(model)
    tension = 2.0 * G / strands
    assert rest.force("rope")[-1] == pytest.approx(-tension, rel=1e-9)
    assert model.state().position("block")[2] - rest.position("block")[-1, 2] == pytest.approx(
        tension / 1e3 / strands, rel=1e-9
    )
    assert all(rest.stable)


def finger(formulation="minimal", pulleys=True, **how):
    """Two phalanges in a vertical plane, a tendon over a pulley at their joint and through points of both."""
    b = lgint.ModelBuilder(gravity=UP, formulation=formulation)
    for name, mass, x in [("near", 0.4, 0.2), ("far", 0.2, 0.55)]:
        b.add_body(name, mass=mass, inertia=(0.001, 0.002, 0.002), position=(x, 0, 0))
    b.add_joint("revolute", lgint.ground, "near", point=(0, 0, 0), axis=(0, 1, 0), name="base")
    b.add_joint("revolute", "near", "far", point=(0.4, 0, 0), axis=(0, 1, 0), name="knuckle")
    points = [(-0.1, 0, 0.1), (0.15, 0, 0.05), (0.4, 0, 0), (0.5, 0, 0.03)]
    round_joint = {2: ((0, 1, 0), 0.03)} if pulleys else None
    if not pulleys:
        points[2] = (0.35, 0, 0.04)
    b.add_tendon([lgint.ground, "near", "near", "far"], points=points, pulleys=round_joint, name="flexor", **how)
    return b.build()


@pytest.mark.parametrize("pulleys", [False, True])
def test_torques_of_a_finger_are_virtual_work(pulleys):
    """Q = -T dL/dq: by differences of the length, and through points by the jacobians there."""
    model = finger(pulleys=pulleys, stiffness=200.0, damping=0.3, rest_length=0.5)
    angles, rates = np.array([0.2, 0.35]), np.array([0.4, -0.6])
    state = model.state(angles, rates)
    flexor = state.tendon("flexor")
    assert flexor.tension == pytest.approx(200 * (flexor.length - 0.5) + 0.3 * flexor.rate, rel=1e-12)
    slack = finger(pulleys=pulleys, stiffness=1.0, rest_length=10.0).state(angles, rates)
    torque = state.generalized_force() - slack.generalized_force()
    eps = 1e-6
    gradient = [
        (model.state(angles + d).tendon("flexor").length - model.state(angles - d).tendon("flexor").length) / (2 * eps)
        for d in eps * np.eye(2)
    ]
    assert np.abs(torque + flexor.tension * np.array(gradient)).max() < 1e-8
    assert flexor.rate == pytest.approx(gradient @ rates, abs=1e-9)
    if not pulleys:
        places = [("near", (-0.05, 0, 0.05)), ("near", (0.15, 0, 0.04)), ("far", (-0.05, 0, 0.03))]
        x = [np.array((-0.1, 0, 0.1)), *(state.point(*place) for place in places)]
        J = [np.zeros((3, 2)), *(state.jacobian(*place)[:3] for place in places)]
        by_points = sum((J[i] - J[i + 1]).T @ (x[i + 1] - x[i]) / np.linalg.norm(x[i + 1] - x[i]) for i in range(3))
        assert np.abs(torque - flexor.tension * by_points).max() < 1e-10


# ---- runs ----


@pytest.mark.parametrize("formulation", [*FREE, "minimal"])
def test_tangent_with_several_bodies(formulation):
    """Three bodies and the ground share one tension; `check` compares S with differences."""
    b = lgint.ModelBuilder(formulation=formulation)
    for i, name in enumerate("abc"):
        x = (i + 1.0, 0.2 * i, 0.4 * (i % 2))
        b.add_body(name, mass=1.0, inertia=(0.1, 0.2, 0.25), position=x)
        if formulation == "minimal":
            b.add_joint("free", lgint.ground, name, point=x, name=f"root {name}")
    local = [(0, 0, 0), (0.1, 0, 0.1), (0, 0.1, 0), (0.1, 0.1, 0)]
    pulleys = {1: ((0.1, 1, 0), 0.2), 3: ((0, 1, 0.2), 0.1, 1.0)}
    b.add_tendon(
        [lgint.ground, *"abc"], stiffness=20.0, damping=1.0, rest_length=1.0, local_points=local, pulleys=pulleys
    )
    report = lgint.check(b.build(), points=1)
    assert report.ok, report


def drift(run):
    return np.ptp(run.energy()) / np.ptp(run.energy("kinetic"))


@pytest.mark.parametrize("pulleys", [False, True])
def test_energy_is_kept(pulleys):
    """Without pulleys the tendon becomes slack."""
    model = finger(pulleys=pulleys, stiffness=300.0, rest_length=0.55)
    run = lgint.integrate(model, "dop853", t_end=0.15, rtol=1e-12, atol=1e-12)
    assert drift(run) < 1e-10
    assert (run.tendon("flexor").tension == 0).any() == (not pulleys)


@pytest.mark.parametrize("pulleys", [False, True])
@pytest.mark.parametrize("method", [name for name in MOMENTUM if not name.startswith("mp")])
def test_momentum_methods_keep_the_energy(method, pulleys):
    """At coarse steps, by tensions that do the work of the whole tendon; also where it becomes slack."""
    model = finger("euler_parameters", pulleys=pulleys, stiffness=300.0, rest_length=0.55)
    run = lgint.integrate(model, method, t_end=0.15, h=5e-3, newton_rtol=1e-12)
    assert drift(run) < 1e-9
    assert (run.tendon("flexor").tension == 0).any() == (not pulleys)


def test_dampers_take_energy():
    for formulation in ("minimal", "euler_parameters"):
        method = "eml" if formulation == "euler_parameters" else "genalpha"
        model = finger(formulation, stiffness=300.0, damping=5.0, rest_length=0.55)
        run = lgint.integrate(model, method, t_end=0.1, h=1e-3)
        assert run.energy("total")[-1] < run.energy("total")[0] - 1e-4


def test_a_slack_tendon_exerts_nothing():
    """A ball on a rope flies freely until the rope is taut, which an event finds."""
    b = lgint.ModelBuilder()
    b.add_body("ball", mass=1.0, inertia=(1, 1, 1), position=(0.5, 0, 0), velocity=(2.0, 0, 0))
    b.add_tendon([lgint.ground, "ball"], stiffness=100.0, damping=3.0, rest_length=1.0, name="rope")
    model = b.build()

    def taut(state):
        return state.tendon("rope").length - 1.0

    run = lgint.integrate(model, "dopri5", t_end=0.8, rtol=1e-10, atol=1e-10, events=[taut])
    assert run.t_events[0][0] == pytest.approx(0.25, abs=1e-9)
    tension = run.tendon("rope").tension
    assert (tension[run.t < 0.25] == 0).all()
    assert (tension >= 0).all()
    assert tension.max() > 10
    assert run.velocity("ball")[-1, 0] < 0


def test_a_tendon_that_leaves_its_pulley_ends_the_run():
    b = lgint.ModelBuilder()
    b.add_body("a", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(1, 0, 0.2), velocity=(0, 0, 2.0))
    ends = [(-1, 0, 0.2), (0, 0, 0.25), (1, 0, 0.2)]
    b.add_tendon(
        [lgint.ground, lgint.ground, "a"], points=ends, stiffness=1.0, pulleys={1: ((0, 1, 0), 0.1)}, name="rope"
    )
    with pytest.raises(lgint.IntegrationError, match="'?rope'? has left the pulley at its place 1") as failed:
        lgint.integrate(b.build(), "rk44", t_end=1.0, h=1e-2)
    assert 0.05 < failed.value.trajectory.t[-1] < 0.3


@pytest.mark.parametrize(
    ("method", "options"),
    [*((method, {"h": 1e-2}) for method in ("rk44", "genalpha", "hht", "eml")), ("dopri5", {"rtol": 1e-6})],
)
def test_pulleys_that_meet_end_the_run_with_their_own_advice(method, options):
    """Not with that of Newton's method, of another method or of a blow-up; also where they just touch."""
    b = lgint.ModelBuilder(formulation="euler_parameters")
    b.add_body("a", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(1, 0, 0), velocity=(-2.0, 0, 0))
    places = [(-1, 0, 0.2), (0, 0, 0), (1, 0, 0), (3, 0, 0.2)]
    pulleys = {1: ((0, 1, 0), 0.1), 2: ((0, 1, 0), 0.1)}
    bodies = [lgint.ground, lgint.ground, "a", lgint.ground]
    b.add_tendon(bodies, points=places, stiffness=1.0, pulleys=pulleys, name="rope")
    met = "whose pulleys at places 1 and 2 touch, at t = .*; keep them apart by limits .* or try a smaller h$"
    with pytest.raises(lgint.ConvergenceError, match=met):
        lgint.integrate(b.build(), method, t_end=1.0, **options)


def test_runs_are_resumed_and_saved(tmp_path):
    """The turns round a drum are memory: a resumed run and a loaded one have the same bits."""
    model = atwood(drum=True, stiffness=1e3, damping=2.0)
    whole = lgint.integrate(model, "genalpha", t_end=0.6, h=1e-2)
    half = lgint.integrate(model, "genalpha", t_end=0.5, h=1e-2)
    half.save(tmp_path / "half.npz")
    loaded = lgint.load(tmp_path / "half.npz")
    again = lgint.integrate(loaded.model, "genalpha", t_end=0.6, h=1e-2, start=loaded)
    assert again.q[-1].tobytes() == whole.q[-1].tobytes()
    assert again.tendon("rope").length[-1] == whole.tendon("rope").length[-1]
    other = pickle.loads(pickle.dumps(model))
    assert lgint.integrate(other, "genalpha", t_end=0.6, h=1e-2).q[-1].tobytes() == whole.q[-1].tobytes()


def test_parameters_are_values():
    model = finger(stiffness=100.0, damping=1.0, rest_length=0.5)
    own = {f"flexor.{name}" for name in ("stiffness", "damping", "length", "radius2")}
    places = {f"flexor.point{place}" for place in range(4)}
    assert {name for name in model.values if name.startswith("flexor")} == own | places
    other = model.with_parameters(**{"flexor.stiffness": 200.0, "flexor.length": 0.55})
    length = model.state().tendon("flexor").length
    assert other.state().force("flexor") == pytest.approx(-200 * (length - 0.55), rel=1e-12)
    data = lgint.sweep(
        model,
        {"flexor.length": [0.5, 0.55, 0.9]},
        "genalpha",
        t_end=0.01,
        h=1e-3,
        observables={"tension": lambda run: run.tendon("flexor").tension[0]},
    )
    assert np.abs(data["tension"].values - 100 * np.maximum(length - np.array([0.5, 0.55, 0.9]), 0)).max() < 1e-10
    assert model.unit("flexor.length") == "m"


def over_a_pulley(x=0.0, radius=0.1, **how):
    """Two weights on a rope through an eye on the ground, over a pulley and through a point of the first weight."""
    b = lgint.ModelBuilder(gravity=UP)
    b.add_body("a", mass=2.0, inertia=(0.1, 0.2, 0.3), position=(-1, 0, -1), angular_velocity=(0.1, 0.2, 0.3))
    b.add_body("b", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(1, 0, -1))
    points = [(-1 + x, 0.1, -0.9), (-0.8, 0.1, 0), (0.4, 0, 0.2), (1, 0, -1)]
    bodies = ["a", lgint.ground, lgint.ground, "b"]
    if "tension" in how:  # without a pulley
        del bodies[2], points[2]
    else:
        how["pulleys"] = {2: ((0, 1, 0), radius)}
    b.add_tendon(bodies, points=points, name="rope", **how)
    return b.build()


@pytest.mark.parametrize("how", [{"tension": 15.0}, {"stiffness": 50.0, "damping": 2.0, "rest_length": 2.5}])
def test_places_are_values(how):
    model, built = over_a_pulley(**how), over_a_pulley(x=0.2, **how)
    other = model.with_parameters(**{"rope.point0[0]": model.values["rope.point0[0]"] + 0.2})
    for name in "ab":
        assert np.abs(other.state().acceleration(name) - built.state().acceleration(name)).max() < 1e-12
    eye = model.with_parameters(**{"rope.point1": (-0.7, 0.2, 0.1)})
    assert eye.values["rope.point1"] == [-0.7, 0.2, 0.1] and model.unit("rope.point1") == "m"
    assert np.abs(eye.state().acceleration("a") - model.state().acceleration("a")).max() > 1e-3
    assert ("rope.radius2" in model.values) == ("stiffness" in how) and "rope.radius1" not in model.values


def test_radii_are_values():
    how = {"stiffness": 50.0, "rest_length": 2.5}
    model, built = over_a_pulley(**how), over_a_pulley(radius=0.15, **how)
    other = model.with_parameters(**{"rope.radius2": 0.15})
    assert other.state().tendon("rope").length == pytest.approx(built.state().tendon("rope").length, abs=1e-14)
    data = lgint.sweep(
        model,
        {"rope.radius2": [0.1, 0.15]},
        "genalpha",
        t_end=0.01,
        h=1e-3,
        observables={"length": lambda run: run.tendon("rope").length[0]},
    )
    lengths = [m.state().tendon("rope").length for m in (model, built)]
    assert np.abs(data["length"].values - lengths).max() < 1e-14
    with pytest.raises(ValueError, match=r"rope\.radius2: a positive number expected, got -1"):
        model.with_parameters(**{"rope.radius2": -1.0})


def test_a_radius_that_swallows_the_next_place_is_refused():
    b = lgint.ModelBuilder()
    for name, x in (("left", -0.1), ("right", 0.1)):
        b.add_body(name, mass=1.0, inertia=(1, 1, 1), position=(x, 0, -1))
    places = [(-0.1, 0, -1), (0, 0, 0), (0.1, 0, -1)]
    pulley = {1: ((0, 1, 0), 0.1)}
    b.add_tendon(["left", lgint.ground, "right"], points=places, pulleys=pulley, stiffness=1e4, name="rope")
    model = b.build()
    with pytest.raises(ValueError, match=r"rope\.radius1: a radius below 1\.00499 expected, .*, got 2"):
        model.with_parameters(**{"rope.radius1": 2.0})
    assert model.with_parameters(**{"rope.radius1": 1.0049}).values["rope.radius1"] == 1.0049


def between_drums(centre=(0.0, 0.0, 0.0)):
    """A rope that is wound on a drum of a body, from a point over a pulley."""
    b = lgint.ModelBuilder()
    b.add_body("drum", mass=1.0, inertia=(1, 1, 1), position=(1.0, 0, 0))
    pulleys = {1: ((0, 1, 0), 0.2), 2: ((0, 1, 0), 0.3, 1.0)}
    places = [(-1, 0, -1), centre, (1, 0, 0)]
    b.add_tendon([lgint.ground, lgint.ground, "drum"], points=places, pulleys=pulleys, stiffness=1e4, name="rope")
    return b.build()


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("rope.point0", (0.1, 0, -0.1), "a point expected with which the places 0 and 1 are apart"),
        ("rope.point0[2]", 5.0, None),
        ("rope.point1", (-0.9, 0.4, -0.9), "a point expected with which the places 0 and 1 are apart"),
        ("rope.point1", (1, 0, 0.05), "a point expected with which the places 1 and 2 are apart"),
        ("rope.point2", (-1.05, 0, 0), "a point expected with which the places 1 and 2 are apart"),
        ("rope.point2[0]", -1.05, "a point expected .*, got -1.05"),
        ("rope.radius1", 2.0, r"a radius below 0\.953939 expected"),
        ("rope.radius2", 1.5, r"a radius below 0\.979796 expected"),
        ("drum.com", (-1.05, 0, 0), None),
    ],
)
def test_a_place_that_comes_into_a_pulley_is_refused(name, value, message):
    """As by the builder; a COM moves no place."""
    model = between_drums()
    if message is None:
        assert np.isfinite(model.with_parameters(**{name: value}).state().energy("potential"))
        return
    with pytest.raises(ValueError, match=f"^{re.escape(name)}: {message}"):
        model.with_parameters(**{name: value})


def test_places_and_radii_that_change_together_are_judged_together():
    model = between_drums()
    both = {"rope.point0": (0.1, 0, -0.1), "rope.radius1": 0.05}
    assert model.with_parameters(**both).values["rope.radius1"] == 0.05
    model.with_parameters(**{"drum.com": (-1.05, 0, 0), "rope.point2": (1.05, 0, 0)})  # where it was
    with pytest.raises(ValueError, match=r"^rope\.point2"):
        model.with_parameters(**{"drum.com": (-1.05, 0, 0), "rope.point2": (0, 0, 0)})


@pytest.mark.parametrize("name", ["rope.point0[0]", "rope.point1[2]", "rope.point2[0]", "rope.radius2"])
def test_runs_have_derivatives_by_places(name):
    model = over_a_pulley(stiffness=50.0, damping=2.0, rest_length=2.5)
    options = {"t_end": 0.05, "h": 2e-3, "newton_rtol": 1e-13}
    run = lgint.integrate(model, "genalpha", sensitivity=[name], **options)
    h, v = 1e-3, []
    for side in (-2, -1, 1, 2):
        other = model.with_parameters(**{name: model.values[name] + side * h})
        v.append(lgint.integrate(other, "genalpha", **options).v)
    expected = (8 * (v[2] - v[1]) - (v[3] - v[0])) / (12 * h)
    assert np.abs(expected).max() > 1e-2
    assert np.abs(run.sensitivity.dv[..., 0] - expected).max() < 1e-7 * np.abs(expected).max()


@pytest.mark.parametrize("method, options", [("genalpha", {"h": 5e-3}), ("dopri5", {"rtol": 1e-6})])
def test_a_body_that_flies_into_a_pulley_ends_the_run(method, options):
    b = lgint.ModelBuilder()
    for name, x, v in [("a", (-1, 0, -0.05), (3, 0, 0)), ("b", (0.1, 0, -1), (0, 0, 0))]:
        b.add_body(name, mass=1.0, inertia=(0.1, 0.1, 0.1), position=x, velocity=v)
    b.add_tendon(["a", lgint.ground, "b"], stiffness=10.0, name="rope", pulleys={1: ((0, 1, 0), 0.1)})
    message = r"the tendon rope, whose place 0 lies inside its pulley at place 1, at t = 0\.3"
    with pytest.raises(lgint.ConvergenceError, match=message) as caught:
        lgint.integrate(b.build(), method, t_end=1.0, **options)
    assert np.linalg.norm(caught.value.trajectory.position("a")[-1]) == pytest.approx(0.1, abs=0.02)


REFUSED = [
    ({}, "give a tension or a stiffness"),
    ({"stiffness": 1.0, "tension": 2.0}, "give a tension or a stiffness"),
    ({"tension": 1.0, "rest_length": 2.0}, "belong to a stiffness"),
    ({"stiffness": 0.0}, "stiffness of 'rope': a positive number expected"),
    ({"stiffness": 1.0, "damping": -1.0}, "damping of 'rope': a number >= 0 expected"),
    ({"stiffness": 1.0, "pulleys": {5: ((0, 0, 1), 0.1)}}, "numbers of places from 0 to 2 expected, got 5"),
    ({"stiffness": 1.0, "pulleys": {1: ((0, 0, 1), -0.1)}}, "radius of pulley 1 of 'rope': a positive number"),
    ({"stiffness": 1.0, "pulleys": {1: ((0, 0, 1), 2.0)}}, "one is inside the pulley at the other"),
    (
        {"stiffness": 1.0, "pulleys": {1: ((0, 0, 1), 0.6), 2: ((0, 0, -1), 0.5)}},
        "no straight piece leads from its pulley 1 to its pulley 2, .* 0.6 and 0.5 m .* 1.04403 m apart; give smaller",
    ),
    ({"stiffness": 1.0, "pulleys": {1: ((0, 0, 1), 0.1, 1.0)}}, "only a drum at the first or last place"),
    ({"stiffness": 1.0, "pulleys": {1: 0.1}}, r"pulley 1 of 'rope': \(axis, radius\) or .* expected, got 0.1"),
    ({"stiffness": 1.0, "pulleys": {0: ((0, 0, 1), 0.1, 1.0, 2.0)}}, "pulley 0 of 'rope': .* expected"),
    ({"stiffness": 1.0, "pulleys": [((0, 0, 1), 0.1)]}, "a dict by numbers of places expected"),
    ({"stiffness": 1.0, "points": [(0, 0, 0), (0, 0, 0), (1, 0, 0)]}, "places 0 and 1 coincide"),
    ({"stiffness": 1.0, "kinks": (1.0,)}, "kinks"),
]


@pytest.mark.parametrize(("how", "message"), REFUSED)
def test_what_is_refused(how, message):
    b = lgint.ModelBuilder()
    for i, name in enumerate("abc"):
        b.add_body(name, mass=1.0, inertia=(1, 1, 1), position=(i, 0.1 * i * i, 0))
    with pytest.raises(ValueError, match=message):
        b.add_tendon("abc", name="rope", **how)
    b.add_tendon("abc", stiffness=1.0, name="rope")  # the name is free


def test_the_ground_alone_has_no_tendon():
    b = lgint.ModelBuilder()
    b.add_body("a", mass=1.0, inertia=(1, 1, 1), position=(0, 0, 0))
    with pytest.raises(ValueError, match="a body that moves expected"):
        b.add_tendon([lgint.ground] * 2, points=np.eye(2, 3), stiffness=1.0)
    with pytest.raises(ValueError, match="a sequence of names expected, got None"):
        b.add_tendon(None, stiffness=1.0)
