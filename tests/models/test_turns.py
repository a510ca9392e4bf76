"""Angles of joints through any number of turns, even if a step turns them by more than half a turn."""

import numpy as np
import pytest

import lgint

FREE = ("R3xSO3", "SE3", "R3xS3", "S3R3", "R3xRV", "tait_bryan")
JOINTED = (*FREE, "euler_parameters")
INERTIA = 0.1


def hinge(formulation="R3xSO3", rate=100.0, stiffness=0.0, angle=0.0, torque=None):
    """A rotor that turns about its centre of mass."""
    b = lgint.ModelBuilder()
    b.add_body(
        "rotor",
        mass=1.0,
        inertia=(INERTIA, INERTIA, INERTIA),
        angular_velocity=(0, 0, rate),
        formulation=formulation,
    )
    b.add_joint("revolute", lgint.ground, "rotor", point=(0, 0, 0), axis=(0, 0, 1), angle=angle, name="hinge")
    if stiffness:
        b.add_joint_drive("hinge", stiffness=stiffness, name="spring")
    if torque:
        b.add_force_law(torque, joint="hinge", name="law")
    return b.build()


def energies(run, stiffness):
    return 0.5 * (INERTIA * run.joint_rate("hinge") ** 2 + stiffness * run.joint_angle("hinge") ** 2)


@pytest.mark.parametrize("formulation", [*FREE, "minimal"])
def test_a_step_may_take_many_turns(formulation):
    """Free rotation costs dopri5 seven steps for 160 turns; dense output is as exact as the steps."""
    model, times = hinge(formulation), np.linspace(0, 10, 37)
    run = lgint.integrate(model, "dopri5", t_end=10.0, rtol=1e-6, dense_output=True)
    assert len(run) < 20
    assert np.abs(run.joint_angle("hinge") - 100 * run.t).max() < 1e-9
    between = lgint.integrate(model, "dopri5", t_end=10.0, rtol=1e-6, t_eval=times)
    assert np.abs(between.joint_angle("hinge") - 100 * times).max() < 1e-9
    assert np.abs(between.rotation("rotor")[:, 0, 0] - np.cos(100 * times)).max() < 1e-9
    assert np.abs(between.v - model.v0).max() < 1e-9
    if formulation != "minimal":
        assert np.abs(run.sol.states(times)["mem"][:, 0] - 100 * times).max() < 1e-9


@pytest.mark.parametrize("formulation", JOINTED)
def test_a_joint_spring_keeps_its_energy_while_it_is_wound_up(formulation):
    run = lgint.integrate(hinge(formulation, stiffness=0.01), "dopri5", t_end=12.0, rtol=1e-8)
    assert energies(run, 0.01) == pytest.approx(500.0, abs=1e-3)
    assert run.joint_angle("hinge").max() > 100 * np.pi


@pytest.mark.parametrize("formulation", FREE)
@pytest.mark.parametrize("method", ["rk44", "herk4", "genalpha", "newmark", "hht"])
def test_fixed_steps_of_more_than_half_a_turn(formulation, method):
    """At 320 rad/s a step of 0.01 s turns the hinge by 3.2 rad; angles are those of minimal coordinates."""
    options = {"genalpha": {"rho_inf": 1.0}, "hht": {"alpha": 0.0}}.get(method, {})
    run, minimal = (
        lgint.integrate(hinge(form, rate=320.0, stiffness=0.01), method, t_end=6.0, h=1e-2, **options)
        for form in (formulation, "minimal")
    )
    assert energies(run, 0.01) == pytest.approx(5120.0, rel=1e-6)
    assert run.joint_angle("hinge") == pytest.approx(minimal.joint_angle("hinge"), abs=1e-6)


@pytest.mark.parametrize("method", ["emh", "eml"])
def test_long_steps_of_energy_momentum_methods(method):
    """A step turns by 2 atan(h omega/2), or 4 atan(h omega/4) as printed, in any number of turns."""
    for equivariant, turn in ((True, 2 * np.arctan(1.6)), (False, 4 * np.arctan(0.8))):
        run = lgint.integrate(hinge("euler_parameters", rate=320.0), method, t_end=1.0, h=1e-2, equivariant=equivariant)
        assert run.joint_angle("hinge") == pytest.approx(np.arange(101) * turn, rel=1e-9)
    wound = lgint.integrate(hinge("euler_parameters", rate=100.0, stiffness=0.01), method, t_end=12.0, h=1e-2)
    assert energies(wound, 0.01) == pytest.approx(500.0, rel=0.02)


@pytest.mark.parametrize("formulation", FREE)
def test_rates_that_vary_within_a_step(formulation):
    """The torque turns the rotor forth and back, by up to 40 rad and 9 rad in a step."""
    model = hinge(formulation, rate=0.0, torque=lambda t, angle, rate: INERTIA * 800 * 3 * np.cos(3 * t))
    exact = 800 / 3 * (1 - np.cos(3 * np.linspace(0, 4, 101)))
    for method in ("rk44", "genalpha"):
        run = lgint.integrate(model, method, t_end=4.0, h=0.04)
        assert np.abs(run.joint_angle("hinge") - exact).max() < (1e-2 if method == "rk44" else 3.0)
    run = lgint.integrate(model, "dopri5", t_end=4.0, rtol=1e-7, t_eval=np.linspace(0, 4, 101))
    assert np.abs(run.joint_angle("hinge") - exact).max() < 1e-3


@pytest.mark.parametrize("formulation", ["R3xSO3", "SE3", "tait_bryan"])
def test_turns_of_two_bodies_that_tumble(formulation):
    """A spring winds up between a rotor and its frame; long steps agree with short ones of another formulation."""

    def end(form, method, **options):
        b = lgint.ModelBuilder(formulation=form)
        b.add_body("frame", mass=1.0, inertia=(0.3, 0.4, 0.5), angular_velocity=(1.0, 2.0, 0.5))
        b.add_body("rotor", mass=1.0, inertia=(0.01, 0.01, 0.02), angular_velocity=(1.0, 2.0, 300.5))
        b.add_joint("revolute", "frame", "rotor", point=(0, 0, 0), axis=(0, 0, 1), name="hinge")
        b.add_joint_drive("hinge", stiffness=0.05)
        return lgint.integrate(b.build(), method, t_end=0.5, **options).joint_angle("hinge")[-1]

    assert end(formulation, "genalpha", h=1e-2) == pytest.approx(end("euler_parameters", "dopri5", rtol=1e-8), abs=1)


def test_a_support_that_turns():
    """Its motion is given, so that no displacement tells how far it has turned in a step."""
    b = lgint.ModelBuilder()
    b.add_support("shaft", motion=lambda t: [[0, 0, 0, 0, 0, 320 * t], [0, 0, 0, 0, 0, 320], [0] * 6])
    b.add_body("rotor", mass=1.0, inertia=(1, 1, 1), angular_velocity=(0, 0, 5))
    b.add_joint("revolute", "shaft", "rotor", point=(0, 0, 0), axis=(0, 0, 1), name="hinge")
    run = lgint.integrate(b.build(), "rk44", t_end=1.0, h=1e-2)
    assert run.joint_angle("hinge") == pytest.approx(-315 * run.t, abs=1e-6)


@pytest.mark.parametrize("rho_inf", [0.0, 0.5, 0.9, 1.0])
def test_stiff_drives_do_not_count_turns_that_only_their_rates_make(rho_inf):
    """In steps of 30 periods the rates of a stiff drive that begins away from its target are meaningless."""
    runs = [
        lgint.integrate(hinge(form, 0.0, stiffness=1e6, angle=0.1), "genalpha", t_end=0.5, h=1e-2, rho_inf=rho_inf)
        for form in ("R3xSO3", "minimal")
    ]
    assert runs[0].joint_angle("hinge") == pytest.approx(runs[1].joint_angle("hinge"), abs=1e-7)
    assert np.abs(runs[0].joint_angle("hinge")).max() < 0.11


def shaken(t, angle, rate):
    return 1e4 * np.sin(300 * t)


def test_a_turn_that_the_rates_deny_ends_fixed_steps():
    model = hinge(rate=100.0, torque=shaken)
    with pytest.raises(lgint.IntegrationError, match=r"the angle of (law|hinge) turned .* take smaller steps") as e:
        lgint.integrate(model, "euler", t_end=1.0, h=1e-2)
    assert e.value.report["status"] == "TURNED"
    assert e.value.trajectory.t[-1] == pytest.approx(e.value.report["t"])


def test_a_turn_that_the_rates_deny_makes_smaller_steps():
    """With a tolerance that accepts any step, only the angle limits the steps."""
    model = hinge(torque=shaken)
    options = {"rtol": 1e9, "first_step": 0.2, "max_step": 0.2}
    run = lgint.integrate(model, "dopri5", t_end=1.0, **options)
    assert run.stats.rejected > 0
    turn, rate, second, h = np.diff(run.joint_angle("hinge")), run.joint_rate("hinge"), run.vdot[:, -1], run.h[1:]
    by_rates = h / 2 * (rate[:-1] + rate[1:]) + h**2 / 12 * (second[:-1] - second[1:])
    far = np.abs(turn) > np.pi
    assert far.any()
    assert np.abs(turn - by_rates)[far].max() <= np.pi / 2


def test_a_step_that_fails_for_its_turn_leaves_the_state():
    stepper = lgint.Stepper(hinge(rate=100.0, torque=shaken), "euler")
    with pytest.raises(lgint.IntegrationError):
        for _ in range(100):
            before = stepper.q.copy(), stepper.t
            stepper.step(1e-2)
    assert np.array_equal(stepper.q, before[0])
    assert stepper.t == before[1]


# ---- starts ----


def crank(formulation="R3xSO3", angle=0.0, stiffness=1.0, target=10.0):
    """A crank in the horizontal plane, on a hinge beside its centre of mass; its drive has the angle `target`."""
    b = lgint.ModelBuilder(gravity=(0, 0, 0))
    c, s = np.cos(angle), np.sin(angle)
    R = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
    start = {} if formulation == "minimal" else {"position": R @ (0.5, 0, 0), "rotation": R}
    b.add_body("crank", mass=1.0, inertia=(0.1, 0.1, 0.1), formulation=formulation, **start)
    ends = {"point": (0, 0, 0)} if start else {"point_b": (-0.5, 0, 0)}
    b.add_joint("revolute", lgint.ground, "crank", axis=(0, 0, 1), angle=angle, name="hinge", **ends)
    b.add_joint_drive("hinge", stiffness=stiffness, motion=[(0.0, target, 0.0, 0.0)])
    return b.build()


@pytest.mark.parametrize("formulation", [*JOINTED, "minimal"])
def test_an_angle_of_many_turns_at_the_start(formulation):
    model = crank(formulation, angle=12.0, target=12.0)
    for system in (model, lgint.Model(model.record())):
        run = lgint.integrate(system, "genalpha", t_end=0.1, h=0.05)
        assert run.joint_angle("hinge") == pytest.approx(12.0, abs=1e-12)
        assert lgint.equilibrium(system).joint_angle("hinge") == pytest.approx(12.0, abs=1e-12)
    stepper = lgint.Stepper(model, "genalpha")
    stepper.step(0.05)
    assert np.abs(stepper.v).max() < 1e-12
    ensemble = lgint.integrate([model, model], "genalpha", t_end=0.1, h=0.05)
    assert [run.joint_angle("hinge")[-1] for run in ensemble] == pytest.approx([12.0, 12.0], abs=1e-12)


@pytest.mark.parametrize("formulation", [*JOINTED, "minimal"])
def test_half_a_turn_at_the_start_has_the_sign_that_it_is_given(formulation):
    """The attitudes of the bodies have no such sign."""
    for angle in (np.pi, -np.pi, 3 * np.pi, -3 * np.pi, np.nextafter(np.pi, 0), np.nextafter(-np.pi, 0), 0.0):
        run = lgint.integrate(crank(formulation, angle=angle, target=angle), "genalpha", t_end=0.1, h=0.05)
        assert run.joint_angle("hinge") == pytest.approx(angle, abs=1e-12)
        assert np.abs(run.v).max() < 1e-12


@pytest.mark.parametrize("formulation", JOINTED)
@pytest.mark.parametrize("kind", ["revolute", "cylindrical", "planar"])
@pytest.mark.parametrize("sign", [-1, 1])
def test_half_a_turn_between_bodies_about_any_axis(formulation, kind, sign):
    b = lgint.ModelBuilder(formulation=formulation)
    for name, turn in (("a", (0.96, 0.0, 0.28, 0.0)), ("b", (0.6, 0.48, 0.0, 0.64))):
        b.add_body(name, mass=1.0, inertia=(1, 1, 1), rotation=turn)
    for name, axis in (("x", (1, 0, 0)), ("diagonal", (1, 2, 3))):
        b.add_body(name, mass=1.0, inertia=(1, 1, 1))
        b.add_joint(kind, "a", name, point=(0, 0, 0), axis=axis, angle=sign * np.pi, name=name + "_joint")
    b.add_joint(kind, "a", "b", point=(0, 0, 0), axis=(0, 1, 0), angle=sign * np.pi, name="b_joint")
    run = lgint.integrate(b.build(), "rk44", t_end=0.1, h=0.1)
    assert np.array([*run.joint_angles()[-1]]) == pytest.approx([sign * np.pi] * 3, abs=1e-9)


@pytest.mark.filterwarnings("ignore:inertia of:UserWarning")
@pytest.mark.parametrize("formulation", ["R3xSO3", "minimal"])
def test_the_puma_starts_at_rest_at_angles_of_any_size(formulation):
    """Its drives have their target angles, so that without gravity it does not move."""
    angles = (np.pi, -np.pi, 4.0, -1.0, 7.0, 0.5)
    model = lgint.models.puma560(formulation=formulation, initial_angles=angles, goal_angles=angles, gravity=(0, 0, 0))
    run = lgint.integrate(model, "genalpha", t_end=0.02, h=1e-3)
    assert np.abs(run.v).max() < 1e-9
    assert run.joint_angles()[0] == pytest.approx(angles, abs=1e-9)


@pytest.mark.parametrize("formulation", [*JOINTED, "minimal"])
def test_a_run_starts_where_another_one_ended_with_its_turns(formulation):
    """From its equilibrium at 10 rad a drive does not move; nor from a state inside a run, or from a loaded one."""
    model = crank(formulation)
    rest = lgint.equilibrium(model)
    assert rest.joint_angle("hinge")[-1] == pytest.approx(10.0, abs=1e-9)
    again = model.with_state(rest)
    run = lgint.integrate(again, "genalpha", t_end=1.0, h=1e-2)
    assert run.joint_angle("hinge") == pytest.approx(10.0, abs=1e-8)
    assert lgint.equilibrium(again).joint_angle("hinge") == pytest.approx(10.0, abs=1e-9)
    copy = lgint.Model(again.record())
    assert np.array_equal(copy.mem0, again.mem0)

    swing = lgint.integrate(model, "newmark", t_end=2.0, h=1e-2)
    part = model.with_state(swing[100])
    rest_of_it = lgint.integrate(part, "newmark", t0=1.0, t_end=2.0, h=1e-2)
    assert rest_of_it.joint_angle("hinge") == pytest.approx(swing.joint_angle("hinge")[100:], abs=1e-3)
    assert np.array_equal(part.v0, swing.v[100])
    kept = lgint.integrate(model, "newmark", t_end=2.0, h=1e-2, save=["q"])
    assert np.array_equal(model.with_state(kept).mem0, model.with_state(swing).mem0)
    assert np.array_equal(model.with_state(rest, np.ones(model.nv)).v0, np.ones(model.nv))


def test_a_start_from_a_state_that_was_not_kept():
    model = crank()
    run = lgint.integrate(model, "newmark", t_end=0.5, h=1e-2, save=["q", "v"])
    with pytest.raises(
        ValueError, match="q: this run has not kept 'mem' of its state at t = 0.1; name it in the run's"
    ):
        model.with_state(run[10])
    only_q = lgint.integrate(model, "newmark", t_end=0.5, h=1e-2, save=["q"])
    with pytest.raises(ValueError, match="q: this run has not kept 'v', 'mem' of its state at t = 0;"):
        model.with_state(only_q[0])
    top = lgint.models.heavy_top()
    run = lgint.integrate(top, "rk44", t_end=0.05, h=1e-2, save=["q", "v"])
    assert np.array_equal(top.with_state(run[2]).q0, run.q[2])  # nothing in it has a memory


def test_a_start_from_dense_output():
    model = crank()
    run = lgint.integrate(model, "dopri5", t_end=1.0, rtol=1e-6, dense_output=True)
    for wrong in (run.sol(0.5), run.sol([0.5, 0.6]), run.sol.states([0.5]), run.sol):
        with pytest.raises(
            ValueError, match=r"q: a run, one of its states, .* \(for a state between steps give run.at\(t\)\)"
        ):
            model.with_state(wrong)
    assert np.array_equal(model.with_state(run.at(0.5)).mem0, run.at(0.5).mem[-1])


def test_a_start_from_a_run_of_another_system():
    rest = lgint.equilibrium(crank())
    with pytest.raises(ValueError, match="q: this state belongs to a system with other coordinates"):
        crank("SE3").with_state(rest)
    with pytest.raises(ValueError, match="q: this state belongs to a system with other joints, drives or rods"):
        hinge().with_state(rest)
    with pytest.raises(ValueError, match="q: this run has no state"):
        crank().with_state(rest[:0])


def pair(names, chain, state="z"):
    """Two equal bodies, free or in a tree that begins with the first of `chain`, and the state of a control."""
    builder = lgint.ModelBuilder(formulation="minimal" if chain else "R3xSO3")
    for x, name in enumerate(names):
        builder.add_body(name, mass=1.0, inertia=(1, 1, 1), position=(x, 0, 0))
    for i, name in enumerate(chain):
        before = chain[i - 1] if i else lgint.ground
        builder.add_joint("revolute", before, name, point=(0.5, 0, 0), axis=(0, 1, 0), name=f"pin {name}")
    builder.add_control(lambda state: [0.0], states=[state], name="pid")
    return builder.build()


@pytest.mark.parametrize(
    ("what", "other"),
    [
        ("bodies", ("cd", "")),
        ("bodies", ("ba", "")),
        ("trees", ("ab", "ba")),
        ("controls", ("ab", "", "other")),
    ],
)
def test_a_state_of_other_bodies_in_the_same_space_is_refused(what, other):
    """Otherwise its coordinates would silently be those of other bodies, links or controls."""
    state = pair("ab", "ab" if what == "trees" else "").state()
    model = pair(*other)
    for start in (model.with_state, lgint.Stepper(model, "rk44").set):
        with pytest.raises(ValueError, match=f"q: this state belongs to a system with other {what}"):
            start(state)
