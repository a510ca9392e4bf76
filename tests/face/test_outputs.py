"""Forces, power, work and accelerations: what moves every body, and where its energy comes from."""

import numpy as np
import pytest

import lgint
from face import systems
from kinds import EXPLICIT_ONLY, FORMULATIONS

GRAVITY = np.array([1.0, -2.0, -9.0])
BODY = {"mass": 1.3, "inertia": (0.3, 0.4, 0.5, 0.02, -0.03, 0.01)}


def sway(t):
    """A motion of a support, with its derivatives."""
    c, s = 0.1 * np.cos(2 * t), 0.1 * np.sin(2 * t)
    return np.array(
        [[s, 0, 1 + c, c, 0, s], [2 * c, 0, -2 * s, -2 * s, 0, 2 * c], [-4 * s, 0, -4 * c, -4 * c, 0, -4 * s]]
    )


def twisted(t, x, R, xdot, omega):
    """A law on two bodies whose wrenches do not balance each other."""
    pull = 4 * (x[0] - x[1]) - 0.2 * xdot[1]
    return np.stack([np.concatenate([-pull, -0.3 * omega[0]]), np.concatenate([0.5 * pull, R[1].T @ pull])])


def add_forces(builder):
    """Forces of every kind between the bodies and in the joints of `everything`."""
    builder.add_joint_drive("pin", torque=3.0, stiffness=20.0, damping=0.5, motion=[(0, 0.2, 1.0, 0)], name="motor")
    builder.add_joint_drive("guide", coordinate="slide", stiffness=30.0, damping=0.3, name="jack")
    builder.add_force_law(lambda t, x, rate: 2 - 3 * x - t, joint="guide", coordinate="angle", name="twist")
    builder.add_spring("three", "four", stiffness=25.0, damping=0.7, length=1.0, point_a=(0, 0.1, 0), name="spring")
    builder.add_cartesian_spring(
        lgint.ground, "four", stiffness=(30, 40, 50), damping=(1, 2, 3), point_b=(0.1, 0, 0), name="bed"
    )
    builder.add_drag("two", drag=(1, 2, 3), local_point=(0, 0.2, 0), name="air")
    builder.add_force(
        "three", force=(1, 2, 3), torque=lambda t: (t, 0, 1), local_point=(1, 0, 0), frame="body", name="gust"
    )
    builder.add_force("four", force=([0.0, 2.0], [[0, 0, 0], [1, 2, -1]]), name="push")
    builder.add_tendon(
        [lgint.ground, "one", "two", "four", "two"], tension=lambda t: 5 + t, local_points=np.eye(5, 3), name="tendon"
    )
    builder.add_force_law(
        lambda t, x, R, v, w: [*(-0.4 * v), *(-w)], bodies="four", local_point=(0, 0, 1), name="brake"
    )
    builder.add_force_law(twisted, bodies=["three", "four"], name="law")


def everything(formulation="R3xSO3", rod="kirchhoff"):
    """Four bodies or, with a tree, five, and a rod with joints, forces of every kind and a moving support."""
    builder = lgint.ModelBuilder(gravity=GRAVITY, formulation=formulation)
    tree = formulation == "minimal"
    base = builder.add_support("crane", motion=sway)
    if tree:  # its root is a body that the support carries
        support, base = base, builder.add_body("root", **BODY, position=(-0.2, 0.3, 1.2), formulation="R3xSO3")
        axes = {"axis": (1, 0, 0), "second_axis": (0, 1, 0)}
        builder.add_joint("universal", support, base, point=(0, 0, 1), name="hook", **axes)
    turn = systems.turn
    builder.add_body("one", **BODY, position=(0.4, 0.1, 1.0), rotation=turn(0.9, (1, -1, 2)))
    angles = {"reference": turn(2.0, (1, 0, 2))} if formulation.startswith("tait_bryan") else {}
    builder.add_body("two", **BODY, position=(1.2, -0.1, 1.3), rotation=turn(-1.1, (0, 1, 2)), **angles)
    builder.add_body("three", **BODY, position=(1.9, 0.2, 1.1), rotation=turn(0.3, (2, 1, 2)))
    free = "R3xSO3" if tree else None
    builder.add_body("four", **BODY, position=(2.0, 1.5, 0.5), rotation=turn(0.5, (0, 0, 1)), formulation=free)
    builder.add_joint("revolute", base, "one", point=(0, 0, 1), axis=(1, 3, 0), name="pin")
    builder.add_joint("cylindrical", "one", "two", point=(0.9, 0.2, 1), axis=(1, -1, 2), name="guide")
    builder.add_joint("spherical", "two", "three", point=(1.5, 0, 1.2), name="ball")
    add_forces(builder)
    if rod is not False:
        nodes = builder.add_rod(
            "rod", start=(2.0, 1.5, 0.5), end=(2.0, 2.5, 0.5), edges=2, stiffness=(10.0, 10.0, 10.0, 10.0, 15.0, 12.0),
            inertia=(1.0, 1e-2, 1e-2, 2e-2), damping=(1, 1, 1, 0.1, 0.1, 0.1), constraints=rod, clamped=(),
        ).nodes  # fmt: skip
        builder.add_joint("rigid", "four", nodes[0], point=(2.0, 1.5, 0.5), name="weld")
    return builder.build(start="project")


def acting(run, name):
    """Everything that acts on a body, about its COM: terms (k, n, 6)."""
    model, com = run.model, run.position(name)
    terms = [np.broadcast_to([*(model.bodies[name]["mass"] * GRAVITY), 0, 0, 0], (len(run), 6))]
    for force, row in ((force, run.model.forces) for force in run.force_names):
        try:
            terms.append(run.force(force, on=name).about(com).values)
        except ValueError as error:
            assert "unknown body of" in str(error) or "attached" in str(error), row
    for joint, row in model.joints.items():
        for slot, side in enumerate(("first", "second")):
            if row[side] == name:
                wrench = run.reaction(joint, on=side)
                terms.append(lgint.Wrench(wrench, run.point(name, row["points"][slot])).about(com).values)
    return np.stack(terms)


def moved(run, name):
    """Mass times acceleration, and the rate of the angular momentum about the COM, (n, 6)."""
    body, R, omega = run.model.bodies[name], run.rotation(name), run.angular_velocity(name)
    J = np.array(body["inertia"])
    torque = run.angular_acceleration(name) @ J + np.cross(omega, omega @ J)
    return np.concatenate([body["mass"] * run.acceleration(name), np.einsum("nij,nj->ni", R, torque)], axis=1)


def imbalance(run):
    """The largest difference of what acts on a body and what it does, relative to the largest term."""
    worst = 0.0
    for name in run.model.bodies:
        terms = acting(run, name)
        difference = terms.sum(0) - moved(run, name)
        worst = max(worst, np.abs(difference).max() / np.abs(terms).max())
    return worst


# ---- forces and accelerations close the balance of every body ----


@pytest.mark.parametrize("formulation", [*FORMULATIONS, "minimal"])
def test_what_acts_on_a_body_moves_it_in_implicit_methods(formulation):
    run = lgint.integrate(everything(formulation), "genalpha", t_end=0.05, h=1e-3, newton_rtol=1e-13, newton_atol=1e-12)
    assert imbalance(run) < 1e-10


@pytest.mark.parametrize(("method", "options"), [("newmark", {}), ("hht", {"alpha": -0.1}), ("genalpha", {"index": 2})])
def test_other_implicit_methods_balance_bodies_as_well(method, options):
    run = lgint.integrate(everything(), method, t_end=0.01, h=1e-3, newton_rtol=1e-13, newton_atol=1e-12, **options)
    assert imbalance(run) < 1e-10


@pytest.mark.parametrize("formulation", [*FORMULATIONS, *EXPLICIT_ONLY, "minimal"])
def test_what_acts_on_a_body_moves_it_in_explicit_methods(formulation):
    run = lgint.integrate(everything(formulation), "rk44", t_end=0.01, h=1e-3)
    assert imbalance(run) < 64 * np.finfo(float).eps  # 48 on some processors, whose sines differ in the last digit


@pytest.mark.parametrize("method", ["dopri5", "herk3", "herk5"])
def test_other_explicit_methods_balance_bodies_as_well(method):
    assert imbalance(lgint.integrate(everything(), method, t_end=0.01, h=1e-3)) < 1e-14


@pytest.mark.parametrize("constraints", ["inextensible", None])
def test_edges_of_rods_are_part_of_the_balance(constraints):
    assert imbalance(lgint.integrate(everything(rod=constraints), "rk44", t_end=0.01, h=1e-3)) < 1e-14


def test_all_that_is_attached_to_a_support_is_what_it_exerts():
    run = lgint.integrate(everything(), "rk44", t_end=0.01, h=1e-3)
    on_pin = run.reaction("pin") + np.pad(run.force("motor", on="one").values[:, 3:], ((0, 0), (3, 0)))
    pin = lgint.Wrench(on_pin, run.point("one", run.model.joints["pin"]["points"][1]))
    support = run.force("crane")
    np.testing.assert_allclose(pin.about(support.point).values, support.values, atol=1e-11)
    with pytest.raises(ValueError, match="support 'crane' acts on all that is attached"):
        run.force("crane", on="one")


@pytest.mark.parametrize("method", ["eml", "reml", "emh", "mpl", "mph"])
def test_steps_of_energy_momentum_methods_are_balanced_by_the_forces_of_the_step(method):
    model = lgint.models.four_bar()
    run = lgint.integrate(model, method, t_end=0.2, h=0.05)
    p, equivariant = run.extra["p"], run.options["equivariant"]
    for i in range(1, len(run)):
        got = model.core.evaluate_pair(
            run.t[i - 1], run.h[i], run.q[i - 1], run.q[i], lam=run.lam[i], mem=run.mem[i - 1],
            midpoint=method in ("mpl", "mph"), equivariant=equivariant, want=("force", "Gtlam"),
        )  # fmt: skip
        change = run.h[i] * (got["force"] - got["Gtlam"])
        for _, _, _, v, *_ in model.core.blocks:
            np.testing.assert_allclose(p[i, v : v + 3] - p[i - 1, v : v + 3], change[v : v + 3], atol=1e-11)


@pytest.mark.parametrize("formulation", [*FORMULATIONS, *EXPLICIT_ONLY, "minimal"])
def test_accelerations_are_the_rates_of_velocities(formulation):
    model = everything(formulation, rod=None)
    run = lgint.integrate(model, "dopri5", t_end=0.1, rtol=1e-12, atol=1e-12, dense_output=True)
    h, X = 1e-4, (0.3, -0.2, 0.1)
    states = run.at(0.05 + h * np.arange(-2, 3))

    def slope(values):
        return (8 * (values[3] - values[1]) - (values[4] - values[0])) / (12 * h)

    for name in (*model.bodies, *model.supports):
        expected = [slope(values) for values in (states.velocity(name), states.angular_velocity(name))]
        got = [states.acceleration(name)[2], states.angular_acceleration(name)[2]]
        np.testing.assert_allclose(got, expected, atol=1e-6)
        np.testing.assert_allclose(states.acceleration(name, X)[2], slope(states.point_velocity(name, X)), atol=1e-6)


def test_accelerations_of_flexible_bodies_and_of_supports():
    beam = lgint.modal.beam(length=2.0, mass=3.0, bending=(500.0, 100.0), modes={"bending_y": 2}, elements=4)
    builder = lgint.ModelBuilder(gravity=GRAVITY)
    builder.add_modal_body("beam", beam, angular_velocity=(0, 1, 2))
    builder.add_support("crane", motion=sway)
    builder.add_joint("spherical", "crane", "beam", point=(0, 0, 1.1))
    run = lgint.integrate(
        builder.build(start="project"), "dopri5", t_end=0.1, rtol=1e-12, atol=1e-12, dense_output=True
    )
    h, tip = 1e-4, f"beam.{[*beam.nodes][-1]}"
    states = run.at(0.05 + h * np.arange(-2, 3))
    for name in ("beam", "beam.com", tip, "crane"):
        for rate, value in (
            (states.acceleration, states.velocity),
            (states.angular_acceleration, states.angular_velocity),
        ):
            v = value(name)
            np.testing.assert_allclose(rate(name)[2], (8 * (v[3] - v[1]) - (v[4] - v[0])) / (12 * h), atol=1e-6)
    np.testing.assert_allclose(states.acceleration("crane"), [sway(t)[2, :3] for t in states.t], atol=1e-12)


# ---- forces by kind ----


@pytest.fixture(scope="module")
def run():
    return lgint.integrate(everything(), "genalpha", t_end=0.05, h=1e-3, dense_output=True)


def test_forces_along_coordinates_are_numbers(run):
    np.testing.assert_allclose(run.force("tendon"), -(5 + run.t), rtol=1e-13)
    apart = run.position("four") - run.point("three", (0, 0.1, 0))
    rate = run.velocity("four") - run.point_velocity("three", (0, 0.1, 0))
    length = np.linalg.norm(apart, axis=1)
    stretching = (rate * apart).sum(1) / length
    np.testing.assert_allclose(run.force("spring"), -25 * (length - 1) - 0.7 * stretching, rtol=1e-12)
    np.testing.assert_allclose(run.power("spring"), run.force("spring") * stretching, atol=1e-12)
    slide, angle = run.joint_position("guide", "slide"), run.joint_angle("guide")
    np.testing.assert_allclose(run.force("jack"), -30 * slide - 0.3 * run.joint_rate("guide", "slide"), atol=1e-12)
    np.testing.assert_allclose(run.force("twist"), 2 - 3 * angle - run.t, rtol=1e-12)
    motor = 3 + 20 * (0.2 + run.t - run.joint_angle("pin")) + 0.5 * (1 - run.joint_rate("pin"))
    np.testing.assert_allclose(run.force("motor"), motor, rtol=1e-12)
    np.testing.assert_allclose(run.power("motor"), motor * run.joint_rate("pin"), atol=1e-12)


def test_numbers_are_the_same_in_trees():
    tree = lgint.integrate(everything("minimal"), "rk44", t_end=0.01, h=1e-3)
    for name, coordinate in (("motor", "pin angle"), ("jack", "guide slide"), ("twist", "guide angle")):
        joint, which = coordinate.split()
        rate = tree.joint_rate(joint, which)
        np.testing.assert_allclose(tree.power(name), tree.force(name) * rate, atol=1e-13)
        assert abs(tree.force(name)).min() > 1e-3 or name == "jack"
    motor = 3 + 20 * (0.2 + tree.t - tree.joint_angle("pin")) + 0.5 * (1 - tree.joint_rate("pin"))
    np.testing.assert_allclose(tree.force("motor"), motor, rtol=1e-12)


def test_other_forces_are_wrenches_at_their_points(run):
    R = run.rotation("three")
    gust = run.force("gust")
    np.testing.assert_allclose(gust.force, R @ (1, 2, 3), atol=1e-12)
    np.testing.assert_allclose(
        gust.moment, np.einsum("nij,nj->ni", R, np.stack([run.t, 0 * run.t, 1 + 0 * run.t], 1)), atol=1e-12
    )
    np.testing.assert_allclose(gust.point, run.point("three", (1, 0, 0)), atol=1e-12)
    alone = run.force("gust.force")
    np.testing.assert_allclose(alone.values, np.concatenate([gust.force, 0 * gust.force], 1), atol=1e-12)
    bed = run.force("bed")
    np.testing.assert_allclose(bed.point, run.point("four", (0.1, 0, 0)), atol=1e-12)
    other = run.force("bed", on="ground")
    np.testing.assert_allclose(other.values, -bed.values, atol=1e-12)
    assert np.ptp(other.point, axis=0).max() == 0
    x, v = (
        np.stack([run.position(n) for n in ("three", "four")]),
        np.stack([run.velocity(n) for n in ("three", "four")]),
    )
    pull = 4 * (x[0] - x[1]) - 0.2 * v[1]
    np.testing.assert_allclose(run.force("law").values, np.concatenate([0.5 * pull, pull], 1), atol=1e-12)
    np.testing.assert_allclose(run.force("law", on="three").force, -pull, atol=1e-12)
    values, point = run.force("air")
    local = np.einsum("nji,nj->ni", run.rotation("two"), run.point_velocity("two", (0, 0.2, 0)))
    drag = -np.einsum("nij,nj->ni", run.rotation("two"), local * (1, 2, 3))
    np.testing.assert_allclose(values, np.pad(drag, ((0, 0), (0, 3))), atol=1e-12)
    np.testing.assert_allclose(point, run.point("two", (0, 0.2, 0)), atol=1e-12)


def test_names_of_forces(run):
    assert run.force_names == [
        "motor", "jack", "twist", "spring", "bed", "air", "gust", "push", "tendon", "brake", "law", "crane"
    ]  # fmt: skip


def test_springs_whose_ends_meet_and_loads_of_statics():
    builder = lgint.ModelBuilder()
    builder.add_body("ball", mass=1.0, inertia=np.eye(3), velocity=(2.0, 0, 0))
    builder.add_spring(lgint.ground, "ball", stiffness=3.0, damping=0.5, name="spring")
    run = lgint.integrate(builder.build(), "rk44", t_end=0.01, h=1e-3)
    assert run.force("spring")[0] == -1.0 and run.power("spring")[0] == -2.0
    assert abs(np.diff(run.force("spring"))).max() < 0.01

    builder = lgint.ModelBuilder(gravity=(0, 0, -10))
    builder.add_body("bar", mass=2.0, inertia=np.eye(3), position=(0.5, 0, 0))
    builder.add_joint("revolute", lgint.ground, "bar", point=(0, 0, 0), axis=(0, 1, 0), name="pin")
    builder.add_joint_drive("pin", stiffness=20.0, damping=5.0, motion=[(0, 0.3, 2.0, 0)], name="drive")
    rest = lgint.equilibrium(builder.build(), loads=(0.5, 1.0))
    lever = rest.position("bar")[:, 0]
    np.testing.assert_allclose(rest.force("drive"), -rest.t * 20 * lever, rtol=1e-9)
    assert not rest.power("drive").any()


# ---- work ----


def test_the_kinetic_energy_changes_by_the_work():
    model = everything(rod=False)
    run = lgint.integrate(model, "dopri5", t_end=1.0, rtol=1e-12, atol=1e-12, dense_output=True)
    works = np.stack([run.work(name) for name in run.force_names])
    weight = sum(
        body["mass"] * (run.position(name) - run.position(name)[0]) @ GRAVITY for name, body in model.bodies.items()
    )
    kinetic = run.energy("kinetic")
    assert np.abs(works).max(1).min() > 1e-3  # every force does work
    np.testing.assert_allclose(works.sum(0) + weight, kinetic - kinetic[0], atol=1e-8 * np.abs(works).max())
    some = run[::7]
    np.testing.assert_allclose(some.work("motor"), run.work("motor")[::7], rtol=1e-13)
    np.testing.assert_allclose(run.state(t=0.5).work("jack"), run.at([0.5]).work("jack")[0], rtol=1e-13)
    between = run.at([0.1234, 0.5])
    slope = (run.at([0.1233, 0.1235]).work("motor") @ (-1, 1)) / 2e-4
    np.testing.assert_allclose(between.power("motor")[0], slope, rtol=1e-5)


@pytest.mark.parametrize("formulation", [*FORMULATIONS, *EXPLICIT_ONLY, "minimal"])
def test_bodies_have_the_energy_of_the_system_between_them(formulation):
    builder = lgint.ModelBuilder(gravity=GRAVITY, formulation=formulation)
    for i, name in enumerate(("one", "two")):
        builder.add_body(name, **BODY, position=(i, 0.3, 0), rotation=systems.turn(0.5 + i, (1, 2, 3)))
        builder.add_joint("spherical", "one" if i else lgint.ground, name, point=(i - 0.3, 0, 0.2 * i))
    run = lgint.integrate(builder.build(), "rk44", t_end=0.3, h=1e-2)
    for kind in ("kinetic", "potential", "total", None):
        np.testing.assert_allclose(run.energy(kind, "one") + run.energy(kind, body="two"), run.energy(kind), rtol=1e-12)
    assert np.ptp(run.energy("kinetic", "two")) > 1


def test_energy_of_a_flexible_body_and_under_a_load_factor():
    builder = lgint.ModelBuilder(gravity=GRAVITY)
    beam = lgint.modal.beam(length=2.0, mass=3.0, bending=(500.0, 100.0), modes={"bending_y": 2}, elements=4)
    builder.add_modal_body("beam", beam, angular_velocity=(0, 1, 2))
    builder.add_joint("revolute", lgint.ground, "beam", point=(0, 0, 0), axis=(0, 1, 0))
    model = builder.build(start="project")
    run = lgint.integrate(model, "rk44", t_end=0.2, h=1e-3)
    assert abs(run.modal("beam")).max() > 1e-3
    for kind in ("kinetic", "potential"):
        np.testing.assert_allclose(run.energy(kind, "beam"), run.energy(kind), rtol=1e-12, atol=1e-12)
    rest = lgint.equilibrium(model, loads=(0.5, 1.0))
    np.testing.assert_allclose(rest.energy("potential", "beam"), rest.energy("potential"), rtol=1e-9)


# ---- bad input ----


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda run: run.force("sprng"), r"unknown force 'sprng' \(did you mean 'spring'\?\); choose from 'motor'"),
        (lambda run: run.force(["spring"]), r"unknown force \['spring'\]"),
        (lambda run: run.power(["spring"]), r"unknown force \['spring'\]"),
        (lambda run: run.work(["spring"]), r"unknown force \['spring'\]"),
        (lambda run: run.reaction(["guide"]), r"unknown joint \['guide'\]"),
        (lambda run: run.power("crana"), r"did you mean 'crane'"),
        (lambda run: run.force("guide"), r"reaction\('guide'\) gives what it exerts; .* 'jack', 'twist'"),
        (lambda run: run.work("weld"), r"joint 'weld' has no force of its own"),
        (lambda run: run.force("one"), "body 'one' is not a force"),
        (lambda run: run.force("spring", on="thre"), r"unknown body of 'spring' 'thre' \(did you mean 'three'"),
        (lambda run: run.acceleration("fuor"), r"unknown body 'fuor' \(did you mean 'four'"),
        (lambda run: run.angular_acceleration("nobody"), "unknown body 'nobody'"),
        (lambda run: run.energy(body="fuor"), r"unknown body 'fuor' \(did you mean 'four'"),
        (lambda run: run.energy("generalized", "four"), "unknown kind of energy of a body 'generalized'"),
        (lambda run: run.acceleration("four", (1, 2)), r"X: shape \(3,\) expected"),
        (lambda run: run.plot("reaction"), r"unknown what 'reaction' \(did you mean 'reactions'"),
        (lambda run: run.plot(figsize=(3, -1)), "figsize: positive width and height"),
        (lambda run: run.plot(figsize=3), r"figsize: shape \(2,\) expected"),
        (lambda run: run.plot("energy", ax=run.plot("energy").axes[0], figsize=(3, 3)), "leave out figsize or ax"),
    ],
)  # fmt: skip
def test_bad_input(run, call, text):
    with pytest.raises(ValueError, match=text):
        call(run)


def test_work_needs_dense_output_and_time():
    short = lgint.integrate(everything(), "genalpha", t_end=2e-3, h=1e-3)
    with pytest.raises(ValueError, match="integrate with dense_output=True"):
        short.work("spring")
    builder = lgint.ModelBuilder()
    builder.add_body("ball", mass=1.0, inertia=np.eye(3))
    builder.add_cartesian_spring(lgint.ground, "ball", stiffness=(1, 1, 1), point_b=(0.1, 0.2, 0.3), name="spring")
    builder.add_joint("prismatic", lgint.ground, "ball", point=(0, 0, 0), axis=(0, 0, 1))
    with pytest.raises(ValueError, match="equilibria do not follow each other in time"):
        lgint.equilibrium(builder.build()).work("spring")
    with pytest.raises(ValueError, match="dense output of a run expected"):
        builder.build().state().work("spring")
    spring = lgint.integrate(lgint.models.mass_spring(), "rk44", t_end=0.1, h=0.1)
    with pytest.raises(ValueError, match="LagrangianModel has no bodies"):
        spring.force("spring")


@pytest.mark.parametrize("name", ["spring", "crane"])
@pytest.mark.parametrize("ask", ["force", "power"])
def test_states_in_functions_have_no_forces(name, ask):
    with pytest.raises(AttributeError, match=r"this state has no (force|vdot): functions of events are called"):
        lgint.integrate(everything(), "rk44", t_end=2e-3, h=1e-3, events=lambda state: getattr(state, ask)(name))


# ---- pictures ----


@pytest.mark.parametrize(
    ("what", "labels"),
    [
        ("joint_angles", {"pin", "guide"}),
        ("reactions", {"ball", *(n + kind for n in ("pin", "guide", "weld", "crane") for kind in ("", ", moment"))}),
        ("energy", {"_child0"}),
    ],
)  # fmt: skip
def test_panels_on_request(run, what, labels):
    figure = run.plot(what, figsize=(5, 3))
    assert [*figure.get_size_inches()] == [5, 3] and len(figure.axes) == 1
    assert {line.get_label() for line in figure.axes[0].lines} == labels


def test_the_panel_of_forces_shows_what_force_returns(run):
    axes = run.plot("forces").axes[0]
    lines = {line.get_label(): line.get_ydata() for line in axes.lines}
    np.testing.assert_array_equal(lines["motor"], run.force("motor"))
    assert axes.get_ylabel() == "N, N m" and "without" in axes.get_title()
    assert "forces" not in axes.get_title() or len(run.plot().axes) == 4


def test_panels_of_models_without_joints_and_forces():
    free = lgint.integrate(lgint.models.free_body(), "rk44", t_end=0.01, h=1e-3)
    for what in ("reactions", "forces", "joint_angles"):
        assert [text.get_text() for text in free.plot(what).axes[0].texts] == ["none"]
