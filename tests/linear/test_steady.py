"""Steady rotation, Campbell diagrams, buckling and flutter, against values from other sources."""

import numpy as np
import pytest
from scipy.optimize import brentq

import lgint
from lgint._linear.steady import Balance, Turning, spin_of, variant_loads
from linear.spinning import FORMULATIONS, governor, mast, rotor

pytestmark = pytest.mark.filterwarnings("ignore:inertia of:UserWarning")

ABOUT_Z = ((0, 0, 1), (0, 0, 0))
WRIGHT = {0: 3.5160, 2: 4.1373, 4: 5.5850, 6: 7.3604, 12: 13.1702}  # first flap frequency, wright1982


def blade(edges=20, rates=(1e6, 1e6, 1e6, 1, 1, 1)):
    """A beam with E I = rho A = L = 1 on a heavy hub, radially outwards."""
    b = lgint.ModelBuilder()
    b.add_body("hub", mass=1.0, inertia=(1e3, 1e3, 1e3))
    b.add_joint("revolute", lgint.ground, "hub", point=(0, 0, 0), axis=(0, 0, 1), name="bearing")
    rod = b.add_rod(
        "blade",
        start=(0, 0, 0),
        end=(1, 0, 0),
        edges=edges,
        stiffness=rates,
        inertia=(1, 1e-6, 1e-6, 2e-6),
        constraints="kirchhoff",
    )
    b.add_joint("rigid", "hub", rod.nodes[0], point=(0, 0, 0), name="root")
    return b.build()


def column(edges, frame="inertial", EI=(1.0, 1.0), load=1.0, constraints="kirchhoff", stiff=1e6):
    """A cantilever of length one under a force along its axis, dead or following the end."""
    b = lgint.ModelBuilder()
    rod = b.add_rod(
        "column",
        start=(0, 0, 0),
        end=(1, 0, 0),
        edges=edges,
        stiffness=(stiff, stiff, stiff, *EI, 1),
        inertia=(1, 1e-6, 1e-6, 2e-6),
        constraints=constraints,
        clamped=(0,),
    )
    force = (-load, 0, 0) if frame == "inertial" else (0, 0, -load)
    b.add_force(rod.nodes[-1], force=force, frame=frame, name="push")
    return b.build()


# ---- steady rotation ----


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_the_governor_finds_its_rate_and_others(formulation):
    """At 14 rad/s against the balance of moments of one arm, written down by hand."""
    model, arm, phi0 = governor(formulation), 0.3, 0.7
    same = lgint.equilibrium(model, spin=(*ABOUT_Z, 11.32527056541544))
    assert np.abs(same.q[0] - model.q0).max() < 1e-12
    assert np.abs(same.v[0] - model.v0).max() < 1e-12

    rate = 14.0
    state = lgint.equilibrium(model, spin=(*ABOUT_Z, rate)).state(-1)
    phi = np.arccos(-state.position("ball1")[2] / arm)

    def moment(phi):
        """Virtual work on the angle: centrifugal, weights of balls and sleeve, spring, and the balls' inertia."""
        centrifugal = 2 * 0.5 * rate**2 * arm**2 * np.sin(phi) * np.cos(phi)
        weights = -(2 * 0.5 * arm + 2 * arm * 1.0) * 9.81 * np.sin(phi)
        return centrifugal + weights - 400 * 4 * arm**2 * (np.cos(phi0) - np.cos(phi)) * np.sin(phi)

    assert abs(phi - brentq(moment, 0.5, 1.3, xtol=1e-14)) < 1e-11
    assert np.abs(state.velocity("ball1") - np.cross((0, 0, rate), state.position("ball1"))).max() < 1e-11
    vdot, _ = state.accelerations()
    assert np.abs(vdot - state.vdot).max() < 1e-9 * max(1.0, np.abs(vdot).max())
    turned = lgint.integrate(model.with_state(state), "dopri5", t_end=1.0, h=1e-3, rtol=1e-10, atol=1e-12)
    assert np.abs(turned.joint_position("slide") - turned.joint_position("slide")[0]).max() < 1e-8


@pytest.mark.parametrize("formulation", ["R3xSO3", "SE3", "euler_parameters", "minimal"])
def test_the_axis_of_some_bodies_moves_with_them(formulation):
    """Under gravity the mast leans, and the axis of its rotor leans with it."""
    model = mast(formulation, rate=0.0, gravity=9.81)
    turning = lgint.equilibrium(model, spin=((1, 0, 0), (0.4, 0, 1), 50.0), rotating=["rotor"])
    assert np.abs(turning.position("mast")[0] - model.state().position("mast")).max() > 1e-3
    lean = turning.rotation("mast")[0][:, 0]
    assert np.abs(turning.rotation("rotor")[0] @ turning.angular_velocity("rotor")[0] - 50 * lean).max() < 1e-9
    run = lgint.integrate(model.with_state(turning), "dopri5", t_end=0.5, h=1e-3, rtol=1e-10, atol=1e-12)
    assert np.abs(run.position("mast") - run.position("mast")[0]).max() < 1e-8
    assert lgint.linearize(model.with_state(turning).state()).frequencies.size == 2


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_an_arm_on_a_free_hub_hangs_at_the_rate_zero(formulation):
    """Nothing resists a turn of the hub: the phase is held while the arm swings until its COM is below the hinge."""
    b = lgint.ModelBuilder(gravity=(0, 0, -9.81), formulation=formulation)
    b.add_body("hub", mass=1.0, inertia=(1, 1, 1))
    b.add_joint("revolute", lgint.ground, "hub", point=(0, 0, 0), axis=(0, 0, 1))
    b.add_body("arm", mass=1.0, inertia=(0.1, 0.2, 0.3), position=(0.5, 0, -0.2))
    b.add_joint("revolute", "hub", "arm", point=(0.2, 0, 0), axis=(0, 1, 0), name="hinge")
    found = lgint.equilibrium(b.build(), spin=(*ABOUT_Z, 0.0), max_iter=20)
    assert abs(found.joint_angle("hinge")[-1] - np.arctan2(0.3, 0.2)) < 1e-12
    assert np.abs(found.rotation("hub")[-1] - np.eye(3)).max() < 1e-9


def test_the_result_is_a_trajectory_of_load_factors(tmp_path):
    model = governor("R3xSO3")
    found = lgint.equilibrium(model, (0.5, 1.0), spin=(*ABOUT_Z, 12.0))
    assert list(found.t) == [0.5, 1.0] and found.stable == [None, None] and "load" in repr(found)
    assert np.abs(found.v).max() > 1
    # under half the loads the same position takes the rate over the square root of two, without the spring
    found.save(tmp_path / "spin.npz")
    loaded = lgint.load(tmp_path / "spin.npz")
    assert (loaded.q == found.q).all() and (loaded.force("spring") == found.force("spring")).all()
    balance = sum(found.reaction(name)[-1] for name in ("bearing",))
    assert abs(balance[2] - 9.81 * 3) < 1e-9  # the bearing carries the weight


def test_loads_that_do_not_turn_are_named():
    def wheel(**changed):
        b = lgint.ModelBuilder(gravity=changed.get("gravity", (0, 0, -9.81)))
        b.add_body("wheel", mass=1.0, inertia=(1, 1, 2))
        b.add_joint("revolute", lgint.ground, "wheel", point=(0, 0, 0), axis=(0, 0, 1), name="bearing")
        if "push" in changed:
            b.add_force("wheel", force=changed["push"], local_point=(0.1, 0, 0), frame="inertial", name="push")
        if "drive" in changed:
            b.add_joint_drive("bearing", torque=changed["drive"], name="motor")
        if "side" in changed:
            b.add_body("side", mass=0.1, inertia=(1, 1, 1), position=(0.5, 0, 0))
            b.add_joint("spherical", "wheel", "side", point=(0.4, 0, 0), name="ball")
            b.add_spring(lgint.ground, "side", stiffness=5.0, length=0.1, point=((0, 0.3, 0), (0.5, 0, 0)), name="tie")
        return b.build()

    spin = (*ABOUT_Z, 10.0)
    assert lgint.equilibrium(wheel(), spin=spin).v[0, 5] == 10
    with pytest.raises(ValueError, match="net torque of 3 N m .* 'motor' does work"):
        lgint.equilibrium(wheel(drive=3.0), spin=spin)
    with pytest.raises(ValueError, match="'push' changes as the bodies turn|net torque.*'push'"):
        lgint.equilibrium(wheel(push=(0, 2.0, 0)), spin=spin)
    with pytest.raises((ValueError, lgint.ConvergenceError), match="'tie'|no steady rotation"):
        lgint.equilibrium(wheel(side=True), spin=spin)
    with pytest.raises(ValueError, match="bearing: .* do not move while these bodies turn"):
        lgint.equilibrium(wheel(), spin=((1, 0, 0), (0, 0, 0), 10.0))
    leaning = lgint.ModelBuilder(gravity=(0, -9.81, 0))
    leaning.add_body("wheel", mass=1.0, inertia=(1, 1, 2), position=(0.2, 0, 0))
    leaning.add_joint("revolute", lgint.ground, "wheel", point=(0, 0, 0), axis=(0, 0, 1), name="bearing")
    with pytest.raises(ValueError, match="'gravity' changes|net torque"):
        lgint.equilibrium(leaning.build(start="project"), spin=spin)


@pytest.mark.parametrize("formulation", ["R3xSO3", "minimal"])
@pytest.mark.parametrize("load", ["drive", "torque"])
def test_a_net_torque_is_named_where_nothing_is_found(load, formulation):
    """The arm on a ball finds no place as long as the torque acts, wherever the search goes."""
    b = lgint.ModelBuilder(gravity=(0, 0, -9.81), formulation=formulation)
    b.add_body("hub", mass=1.0, inertia=(0.1, 0.1, 0.2))
    b.add_joint("revolute", lgint.ground, "hub", point=(0, 0, 0), axis=(0, 0, 1), name="bearing")
    b.add_body("arm", mass=2.0, inertia=(0.1, 0.1, 0.01), position=(0.3, 0, -0.4))
    b.add_joint("spherical", "hub", "arm", point=(0.1, 0, 0))
    if load == "drive":
        b.add_joint_drive("bearing", torque=1.5, name="motor")
    else:
        b.add_force("arm", torque=(1.0, 0, 2.0), frame="body", name="motor")
    with pytest.raises(ValueError, match=r"no steady rotation was found; .* net torque of .* N m .*'motor' does work"):
        lgint.equilibrium(b.build(), spin=(*ABOUT_Z, 8.0), max_iter=20)


def test_a_support_in_one_direction_only_is_named():
    b = lgint.ModelBuilder()
    b.add_body("rotor", mass=10.0, inertia=(0.5, 0.3, 0.3), position=(0, 0.01, 0))
    for x in (-0.5, 0.4):
        b.add_cartesian_spring(
            lgint.ground, "rotor", stiffness=(1e6, 1e5, 3e5), point=(x, 0, 0), name=f"at{x:g}", offset=(0, 0, 0)
        )
    with pytest.raises(ValueError, match="'at-0.5', 'at0.4' change as the bodies turn"):
        lgint.equilibrium(b.build(), spin=((1, 0, 0), (0, 0, 0), 30.0))


def test_arguments_of_spin_are_checked():
    model, spin = governor("R3xSO3"), (*ABOUT_Z, 11.0)
    for arguments, text in (
        ({"spin": 3.0}, r"spin: \(axis, point, rate\) expected"),
        ({"spin": ((0, 0, 0), (0, 0, 0), 1.0)}, "not zero expected"),
        ({"spin": spin, "rotating": ["spindel"]}, "did you mean 'spindle'"),
        ({"spin": spin, "rotating": "spindle"}, "names of bodies expected"),
        ({"rotating": ["spindle"]}, "needs spin"),
        ({"spin": spin, "newton_rtol": 1e-6}, "newton_rtol: it has no meaning"),
        ({"spin": spin, "leave_saddles": False}, "leave_saddles: it has no meaning"),
        ({"spin": spin, "progress": True}, "progress: it has no meaning"),
    ):
        with pytest.raises(ValueError, match=text):
            lgint.equilibrium(model, **arguments)
    functions = lgint.models.mass_spring()
    with pytest.raises(ValueError, match="has no bodies to turn"):
        lgint.equilibrium(functions, spin=spin)


# ---- Campbell diagrams ----


def test_a_turning_blade_flaps_as_wright_found():
    found = lgint.campbell(blade(), list(WRIGHT), axis=(0, 0, 1), frame="hub", n=4)
    for modes, expected in zip(found.modes, WRIGHT.values(), strict=True):
        flap = next(mode for mode in modes if np.abs(mode.displacement("blade.node20")[2]) > 0.1)
        assert abs(flap.frequency / expected - 1) < 1e-3
    lag = found.frequencies[-1, 0]  # in the plane the centrifugal force stiffens less, by the square of the rate
    assert abs(lag - np.sqrt(13.1702**2 - 144)) < 2e-2
    assert found.frequencies.shape == found.damping_ratios.shape == (5, 4)
    figure = found.plot(orders=(1, 2))
    assert len(figure.axes[0].lines) == 3 and "12" in found._repr_html_() and "5 rates" in repr(found)


def test_the_rotor_splits_its_frequencies_with_the_rate():
    """Against the roots of the closed form, at each rate."""
    rates = [0.0, 100.0, 300.0]
    found = lgint.campbell(rotor("SE3", rate=0.0), rates, axis=(1, 0, 0), rotating=["rotor"], n=8)
    K11, K12, K22 = 2e5, -1e4, 0.41e5
    for rate, row in zip(rates, found.frequencies, strict=True):
        # (10 w^2 - K11)(0.3 w^2 - 0.5 rate w - K22) = K12^2, for whirl forwards and backwards
        roots = np.abs(np.roots([3.0, -5 * rate, -10 * K22 - 0.3 * K11, 0.5 * rate * K11, K11 * K22 - K12**2]).real)
        assert np.abs(row[: len(roots) + 1] - np.sort([*roots, np.sqrt(1e5)])).max() < 1e-6
    with pytest.raises(ValueError, match="n: a positive"):
        lgint.campbell(rotor("SE3"), rates, axis=(1, 0, 0), n=0)
    with pytest.raises(ValueError, match="rates"):
        lgint.campbell(rotor("SE3"), [], axis=(1, 0, 0))


@pytest.mark.parametrize("formulation", ["R3xSO3", "euler_parameters", "minimal"])
def test_messages_do_not_blame_springs_without_load(formulation):
    """Their forces are round-off, which has no direction."""

    def idling(gravity=(0, 0, 0), deflection=0.0, torque=0.0):
        b = lgint.ModelBuilder(gravity=gravity, formulation=formulation)
        b.add_body("arm", mass=1.0, inertia=(0.1, 0.1, 0.2), position=(0.01, 0.02, 0.5))
        b.add_joint("revolute", lgint.ground, "arm", point=(0, 0, 0), axis=(0, 0, 1), name="axle")
        side = {"stiffness": 100.0, "length": 0.3 - deflection, "point": ((0.3, 0, 1.0), (0, 0, 1.0))}
        b.add_spring(lgint.ground, "arm", **side, name="bearing")
        b.add_cartesian_spring(lgint.ground, "arm", stiffness=(70, 70, 70), point=(0, 0, 0), name="idle")
        b.add_spring(lgint.ground, "arm", stiffness=100.0, point=((0, 0, -0.3), (0, 0, 0.4)), name="idle too")
        b.add_joint_drive("axle", torque=torque, name="motor")
        return b.build()

    for model, names in (
        (idling(), []),
        (idling(deflection=0.01), ["bearing"]),
        (idling((0, -9.81, 0)), ["gravity"]),
    ):
        turning = Turning(model, spin_of(model, (*ABOUT_Z, 3.0), None), 0.0)
        motion = turning.moving(model.q0, model.mem0 if model.core.nmem else None)
        assert variant_loads(turning, Balance(motion, np.zeros(model.nc), 1.0)) == names
    if formulation == "R3xSO3":
        for model, name in ((idling(torque=2.0), "motor"), (idling((0, -9.81, 0)), "gravity")):
            with pytest.raises(ValueError, match=f"'{name}' does work"):
                lgint.equilibrium(model, spin=(*ABOUT_Z, 3.0))


@pytest.mark.parametrize("formulation", ["R3xSO3", "minimal"])
def test_controls_that_disturb_a_rotation_are_named(formulation):
    def refused(text, **control):
        b = lgint.ModelBuilder(formulation=formulation)
        b.add_body("arm", mass=1.0, inertia=(0.1, 0.1, 0.2), position=(0.3, 0, 0))
        b.add_joint("revolute", lgint.ground, "arm", point=(0, 0, 0), axis=(0, 0, 1), name="axle")
        b.add_control(lambda state: [0.0], states=["unused"], name="idle")
        b.add_control(**control, name="motor")
        with pytest.raises(ValueError, match=text):
            lgint.equilibrium(b.build(), spin=(*ABOUT_Z, 3.0))

    changes = "spin: 'motor' changes as the bodies turn"
    refused(changes, function=lambda state: [-4 * np.sin(state.joint_angle("axle"))], joints="axle")
    refused(changes, function=lambda state: [1.0, 0, 0, 0, 0, 0], bodies="arm")
    if formulation == "R3xSO3":
        refused("'motor' does work", function=lambda state: [2.0], joints="axle")
        refused("'motor' does work", function=lambda state: [0, 0, 0, 0, 0, 2.0], bodies="arm")


# ---- buckling and flutter ----


def test_a_column_buckles_under_the_load_of_euler():
    """Second order in the edges, about both axes."""
    expected = np.pi**2 / 4 * np.array([1.0, 1.5])
    errors = []
    for edges in (3, 6, 12):
        found = lgint.buckling(column(edges, EI=(1.0, 1.5)), 4.0, n=2)
        errors.append(found.factors - expected)
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert np.abs(orders - 2).max() < 0.03
    assert np.abs(errors[-1] / expected).max() < 1e-2
    factors, shapes = found
    assert [shape.largest[-2:] for shape in shapes] == ["rz", "ry"]  # d1 is the axis of the weaker bending
    sway = np.array([shapes[0].displacement(f"column.node{i}")[1].real for i in range(1, 13)])
    assert np.abs(sway / sway[-1] - (1 - np.cos(np.pi / 24 * np.arange(1, 13)))).max() < 2e-3


def test_a_round_column_has_two_shapes_at_one_load():
    found = lgint.buckling(column(8), [0.5, 1.5, 2.4, 2.6], n=2)
    assert abs(found.factors[0] / found.factors[1] - 1) < 1e-8
    assert abs(np.vdot(found.shapes[0].values, found.shapes[1].values)) < 1e-3 * 8


def test_a_long_column_takes_its_smallest_eigenvalues_alone():
    """Second order as before, and the same shapes and follower loads, where matrices are sparse."""
    expected = np.pi**2 / 4 * np.array([1.0, 1.5])
    errors, shapes = [], []
    for edges in (30, 60):
        factors, modes = lgint.buckling(column(edges, EI=(1.0, 1.5), stiff=1e8), [2.0, 3.0, 4.0], n=2)
        errors.append(factors - expected)
        shapes.append([mode.displacement(f"column.node{edges // 2}") for mode in modes])
    assert np.abs(np.log2(errors[0] / errors[1]) - 2).max() < 0.03
    assert np.abs(np.abs(shapes[1]) - np.abs(shapes[0])).max() < 1e-3
    assert list(lgint.buckling(column(48, "body"), [0.0, 8.0, 16.0]).factors) == []


def test_neutral_directions_of_a_long_chain_have_no_factors():
    assert list(lgint.buckling(links("R3xSO3", 45), [0.5, 1.0], n=3).factors) == []


def test_a_flat_truss_snaps_through_at_its_limit():
    """Two bars: the greatest load of the path, in closed form, where the path turns back."""
    width, height, k = 1.0, 0.2, 1e3
    b = lgint.ModelBuilder()
    b.add_body("top", mass=1.0, inertia=(1, 1, 1), position=(0, 0, height))
    b.add_joint("prismatic", lgint.ground, "top", point=(0, 0, height), axis=(0, 0, 1), name="guide")
    for side in (-1, 1):
        b.add_spring(
            lgint.ground,
            "top",
            stiffness=k,
            length=np.hypot(width, height),
            point=((side * width, 0, 0), (0, 0, height)),
        )
    b.add_force("top", force=(0, 0, -1.0))
    z = np.linspace(0, height, 200001)
    length, free = np.hypot(width, z), np.hypot(width, height)
    limit = (2 * k * (free - length) * z / length).max()
    found = lgint.buckling(b.build(), np.linspace(0, 2 * limit, 9))
    assert abs(found.factors[0] / limit - 1) < 1e-7
    assert found.shapes[0].largest == "top.z"


def test_the_column_of_beck_only_flutters():
    assert list(lgint.buckling(column(8, "body"), 30.0).factors) == []
    assert "none up to the factor 30" in repr(lgint.buckling(column(8, "body"), 30.0))
    growth = []
    for load in (19.5, 20.5):
        rest = lgint.equilibrium(column(12, "body", load=load))
        growth.append(lgint.linearize(rest.state(-1)).eigenvalues.real.max())
    assert abs(growth[0]) < 1e-3 and growth[1] > 0.5


def links(formulation, n=3):
    """A chain of links on spherical joints, hanging."""
    b, before = lgint.ModelBuilder(gravity=(0, 0, -9.81), formulation=formulation), lgint.ground
    for i in range(n):
        b.add_body(f"link{i}", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0, 0, -(i + 0.5)))
        b.add_joint("spherical", before, f"link{i}", point=(0, 0, -i))
        before = f"link{i}"
    return b.build()


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_neutral_directions_have_no_factors(formulation):
    """Every link may spin about its own axis under any load; without loads nothing acts in any direction."""
    for loads in (3.0, [0.5, 1.0, 3.0]):
        assert list(lgint.buckling(links(formulation), loads, n=3).factors) == []


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_a_link_that_may_spin_buckles_where_its_spring_gives_way(formulation):
    """Upside down on springs of the stiffness k at its top: m g / 2 = k under the factor, in both directions."""
    b = lgint.ModelBuilder(gravity=(0, 0, -9.81), formulation=formulation)
    b.add_body("link", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0, 0, 0.5))
    b.add_joint("spherical", lgint.ground, "link", point=(0, 0, 0))
    b.add_cartesian_spring(lgint.ground, "link", stiffness=(10.0, 20.0, 0.0), point=(0, 0, 1.0))
    found = lgint.buckling(b.build(), 5.0, n=3)
    assert found.factors == pytest.approx([20 / 9.81, 40 / 9.81], rel=1e-9)
    assert [shape.largest for shape in found.shapes] == ["link.ry", "link.rx"]


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_a_pendulum_upside_down_is_refused_by_name(formulation):
    b = lgint.ModelBuilder(gravity=(0, 0, -9.81), formulation=formulation)
    b.add_body("bar", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0, 0, 0.5))
    b.add_joint("revolute", lgint.ground, "bar", point=(0, 0, 0), axis=(0, 1, 0))
    with pytest.raises(ValueError, match="under the factor 0 nothing holds the model in the direction of bar.ry"):
        lgint.buckling(b.build(), 3.0)
    found = lgint.buckling(b.build(), [-1.0, 0.7])  # it hangs under negative factors
    assert found.factors == pytest.approx([0.0], abs=1e-9)


@pytest.mark.parametrize("formulation", ["minimal", "R3xSO3"])
@pytest.mark.parametrize(
    ("gain", "loads", "expected"),
    [
        ((-5, 1, 0), 10.0, []),  # an integral: the determinant is 5 under every load
        ((-5, 1, -1), 10.0, [25.0]),  # a lag, which adds its gain to the stiffness
        ((5, -1, 1), [0.0, 10.0], [15.0]),  # beyond this factor two eigenvalues meet and become negative together
    ],
)
def test_a_bar_upside_down_buckles_under_its_control(formulation, gain, loads, expected):
    def held(state):
        angle, z = state.joint_angle("pin"), state.control("holder").states["z"]
        return [-20 * angle + gain[0] * z, gain[1] * angle + gain[2] * z]

    b = lgint.ModelBuilder(gravity=(0, 0, -9.81), formulation=formulation)
    b.add_body("bar", mass=2.0, inertia=(0.2, 0.2, 0.01), position=(0, 0, 0.5))
    b.add_joint("revolute", lgint.ground, "bar", point=(0, 0, 0), axis=(1, 0, 0), name="pin")
    b.add_control(held, joints="pin", states=["z"], name="holder")
    found = lgint.buckling(b.build(), loads)
    np.testing.assert_allclose(found.factors, np.array(expected) / 9.81, rtol=1e-6)
    assert [shape.largest for shape in found.shapes] == ["bar.rx"] * len(expected)


def test_arguments_of_buckling_are_checked():
    for loads in ((1.0,), (2.0, 1.0), -1.0, "all"):
        with pytest.raises(ValueError, match="loads"):
            lgint.buckling(column(2), loads)
    with pytest.raises(ValueError, match="n: a positive"):
        lgint.buckling(column(2), 1.0, n=0)
    with pytest.raises(ValueError, match="a model with bodies"):
        lgint.buckling(lgint.models.mass_spring(), 1.0)


# ---- beams ----


def timoshenko(GA, J):
    """The first frequency of a cantilever with E I = rho A = L = 1, from its boundary conditions."""

    def boundary(w):
        # GA (y' - psi)' + w^2 y = 0 and psi'' + GA (y' - psi) + J w^2 psi = 0, with y = exp(r s)
        roots = np.roots([1.0, 0, w**2 * (J + 1 / GA), 0, w**2 * (w**2 * J / GA - 1)])
        psi, end = (roots**2 + w**2 / GA) / roots, np.exp(roots)
        found = np.linalg.det(np.array([np.ones(4), psi, psi * roots * end, (roots - psi) * end]))
        return found.real if abs(found.real) > abs(found.imag) else found.imag

    return brentq(boundary, 2.8, 3.5, xtol=1e-13)


def test_a_cantilever_of_timoshenko_has_its_frequencies_at_second_order():
    EA, GA, J = 100.0, 40.0, 0.01
    expected = timoshenko(GA, J)
    errors = []
    for edges in (8, 16, 32):
        b = lgint.ModelBuilder()
        b.add_rod(
            "beam",
            start=(0, 0, 0),
            end=(1, 0, 0),
            edges=edges,
            stiffness=(GA, GA, EA, 1, 1, 0.8),
            inertia=(1, J, J, 2 * J),
            constraints=None,
            clamped=(0,),
        )
        errors.append(lgint.linearize(b.build().state()).frequencies[0] - expected)
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert np.abs(orders - 2).max() < 0.05
    assert abs(errors[-1]) < 5e-3
