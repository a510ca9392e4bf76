"""Couplings of joints: gears, belts, screws and differentials as one row over coordinates."""

import warnings

import numpy as np
import pytest

import lgint
from lgint._tools import bench_exudyn

FORMULATIONS = ["R3xSO3", "R3xS3", "R3xRV", "SE3", "S3R3", "euler_parameters", "tait_bryan", "minimal"]
METHODS = [method for method in lgint.methods() if not lgint.method_info(method)["momentum"]]
MOMENTUM = [method for method in lgint.methods() if lgint.method_info(method)["momentum"]]
RATIO, TORQUE = 3.0, 0.7
INERTIA = 0.15, 0.05  # of both gears about their axes
G = 9.81
Z = (0, 0, 1)


def body(b, name, formulation, position, inertia, rates=(0.0, 0.0)):
    """A body with a speed along z and an angular velocity about it; in minimal coordinates its joint has them."""
    tree = formulation == "minimal"
    moving = {} if tree else {"velocity": (0, 0, rates[0]), "angular_velocity": (0, 0, rates[1])}
    return b.add_body(name, mass=2.0, inertia=inertia, position=position, **moving)


def gears(formulation, rate=2.0, offset=0.0, load=TORQUE):
    b = lgint.ModelBuilder(gravity=(0, 0, -G), formulation=formulation)
    for name, x, omega, inertia in (("wheel", 0.0, rate, INERTIA[0]), ("pinion", 1.0, -RATIO * rate, INERTIA[1])):
        body(b, name, formulation, (x, 0, 0), (0.1, 0.1, inertia), (0.0, omega))
        along = {"rate": omega} if formulation == "minimal" else {}
        b.add_joint("revolute", lgint.ground, name, point=(x, 0, 0), axis=Z, name=f"{name} axle", **along)
    b.add_joint_drive("wheel axle", torque=load, name="motor")
    assert b.add_coupling({"wheel axle": RATIO, "pinion axle": 1}, offset=offset, name="mesh") == "mesh"
    return b


ALPHA = TORQUE / (INERTIA[0] + RATIO**2 * INERTIA[1])
MESH = -RATIO * INERTIA[1] * ALPHA  # the torque on the pinion


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_gears_turn_as_one_rotor(formulation, method):
    run = lgint.integrate(gears(formulation).build(), method, t_end=0.5, h=5e-3)
    exact = 2 * run.t + ALPHA * run.t**2 / 2
    off = {"euler": 0.05, "euler_parameters": 2e-3, "tait_bryan": 2e-3}
    atol = max(off.get(method, 1e-10), off.get(formulation, 1e-10))
    assert np.allclose(run.joint_angle("wheel axle"), exact, rtol=0, atol=atol)
    phase = RATIO * run.joint_angle("wheel axle") + run.joint_angle("pinion axle")
    assert np.allclose(phase, 0, atol=atol)
    late = slice(len(run.t) // 2, None)
    assert np.allclose(run.force("mesh")[late], MESH, rtol=0, atol=1e-2 if atol > 1e-3 else 1e-6)


@pytest.mark.parametrize("equivariant", [True, False])
@pytest.mark.parametrize("method", MOMENTUM)
def test_energy_momentum_methods_keep_the_phase_and_the_energy(method, equivariant):
    model = gears("euler_parameters", load=0.0).build()
    run = lgint.integrate(model, method, t_end=1.0, h=1e-2, equivariant=equivariant)
    phase = RATIO * run.joint_angle("wheel axle") + run.joint_angle("pinion axle")
    assert np.allclose(phase, 0, atol=1e-12) and run.joint_angle("wheel axle")[-1] == pytest.approx(2.0, abs=1e-3)
    assert np.ptp(run.energy()) < (1e-6 if method in ("mpl", "mph") else 1e-9)  # midpoint gradients do not conserve


def test_fast_gears_keep_their_phase_and_energy_by_the_hamiltonian_rule():
    """The pinion turns by 0.6 rad in a step, and through 95 turns."""
    run = lgint.integrate(gears("euler_parameters", rate=20.0, load=0.0).build(), "emh", t_end=10.0, h=1e-2)
    phase = RATIO * run.joint_angle("wheel axle") + run.joint_angle("pinion axle")
    assert np.abs(phase).max() < 1e-12 and abs(run.joint_angle("pinion axle")[-1]) > 180 * np.pi
    assert np.ptp(run.energy()) < 1e-11 * run.energy()[0]


@pytest.mark.parametrize("equivariant", [True, False])
@pytest.mark.parametrize("method", ["eml", "null_eml"])
def test_where_fast_gears_make_a_step_fail_the_hamiltonian_rule_is_named(method, equivariant):
    """Also where Newton's method has gone so far astray that a matrix is singular."""
    model = gears("euler_parameters", rate=20.0, load=0.0).build()
    with pytest.raises(lgint.IntegrationError, match="for tumbling or fast bodies emh conserves"):
        lgint.integrate(model, method, t_end=3.0, h=1e-2, equivariant=equivariant)


@pytest.mark.parametrize(
    ("formulation", "method", "options"),
    [
        ("minimal", "rk44", {}),
        ("minimal", "dop853", {"h": 1e-2}),
        ("minimal", "radau5", {}),
        ("minimal", "genalpha", {"newton_rtol": 1e-13}),
        ("R3xSO3", "genalpha", {"newton_rtol": 1e-13}),
        ("SE3", "newmark", {"newton_rtol": 1e-13}),
    ],
)
def test_gears_keep_their_phase_for_ten_seconds(formulation, method, options):
    """The wheel swings under a spring; the pinion turns through many turns. The reduced system has one coordinate."""
    b = gears(formulation, load=0.0, rate=12.0)
    b.add_joint_drive("wheel axle", stiffness=2.0, name="spring")
    options = {"t_end": 10.0, "h": 2e-3, **options}
    run = lgint.integrate(b.build(), method, **options)
    phase = RATIO * run.joint_angle("wheel axle") + run.joint_angle("pinion axle")
    assert np.abs(run.joint_angle("pinion axle")).max() > 4 * np.pi
    assert np.abs(phase).max() < 1e-12

    one = lgint.ModelBuilder(formulation="minimal")
    one.add_body("rotor", mass=1.0, inertia=(0.4, 0.4, INERTIA[0] + RATIO**2 * INERTIA[1]))
    one.add_joint("revolute", lgint.ground, "rotor", point=(0, 0, 0), axis=Z, rate=12.0, name="axle")
    one.add_joint_drive("axle", stiffness=2.0)
    alone = lgint.integrate(one.build(), method, **options)
    assert np.allclose(run.joint_angle("wheel axle"), alone.joint_angle("axle"), rtol=0, atol=1e-9)


# ---- screws and differentials ----

LEAD = 0.02 / (2 * np.pi)  # m/rad


def screw(formulation, drive=False):
    b = lgint.ModelBuilder(gravity=(0, 0, -G), formulation=formulation)
    body(b, "nut", formulation, (0, 0, 0), (0.01, 0.01, 0.015), (LEAD * 3.0, 3.0))
    along = {"rate": (LEAD * 3.0, 3.0)} if formulation == "minimal" else {}
    b.add_joint("cylindrical", lgint.ground, "nut", point=(0, 0, 0), axis=Z, name="screw", **along)
    b.add_coupling({"screw.slide": 1, "screw.angle": -LEAD}, name="thread")
    if drive:
        b.add_joint_drive("screw", torque=0.2)
    return b.build()


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_a_nut_on_a_screw_falls_as_its_lead_allows(formulation):
    run = lgint.integrate(screw(formulation), "rk44", t_end=2.0, h=5e-3)
    a = -G * 2.0 / (2.0 + 0.015 / LEAD**2)
    exact = LEAD * 3.0 * run.t + a * run.t**2 / 2
    loose = formulation in ("euler_parameters", "tait_bryan")
    assert np.allclose(run.joint_position("screw", "slide"), exact, rtol=0, atol=1e-6 if loose else 1e-12)
    assert np.allclose(run.joint_angle("screw"), exact / LEAD, rtol=0, atol=1e-5 if loose else 1e-9)
    # the thread carries the weight but for m a, and its torque turns the nut
    assert np.allclose(run.force("thread"), 2.0 * (G + a), rtol=0, atol=1e-3 if loose else 1e-10)
    assert np.allclose(run.power("thread"), 0, atol=1e-5 if loose else 1e-9)
    on = run.force("thread", on="nut")
    assert np.allclose(on.force[:, 2], run.force("thread")) and np.allclose(
        on.moment[:, 2], -LEAD * run.force("thread")
    )
    assert lgint.check(run.model).ok


def differential(formulation, friction=0.0):
    """A cage whose rate is the mean of those of two shafts."""
    b = lgint.ModelBuilder(formulation=formulation)
    for name, inertia in (("cage", 0.2), ("left", 0.05), ("right", 0.1)):
        body(b, name, formulation, (0, 0, 0), (0.15, 0.15, inertia))
        b.add_joint("revolute", lgint.ground, name, point=(0, 0, 0), axis=Z, name=name + " shaft")
    b.add_coupling({"cage shaft": 2, "left shaft": -1, "right shaft": -1}, name="bevels")
    b.add_joint_drive("cage shaft", torque=1.0)
    b.add_joint_drive("left shaft", torque=-0.3)
    return b.build()


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_a_differential_shares_the_torque(formulation):
    model = differential(formulation)
    run = lgint.integrate(model, "rk44", t_end=1.0, h=1e-2)
    # M a = f + c lam, c a = 0
    c, mass, f = np.array([2, -1, -1.0]), np.array([0.2, 0.05, 0.1]), np.array([1, -0.3, 0])
    lam = -(c @ (f / mass)) / (c @ (c / mass))
    a = (f + c * lam) / mass
    loose = formulation in ("euler_parameters", "tait_bryan")
    assert np.allclose(run.force("bevels"), lam, rtol=0, atol=1e-5 if loose else 1e-12)
    for shaft, each in zip(("cage", "left", "right"), a, strict=True):
        assert run.joint_rate(f"{shaft} shaft")[-1] == pytest.approx(each, rel=1e-5 if loose else 1e-12)
    mobility = model.mobility()
    assert mobility.degrees_of_freedom == 2 and mobility.joints["bevels"] == 1 and "bevels.1" not in mobility.joints
    assert lgint.check(model).ok


def planetary(formulations, start="check"):
    """A planet on a carrier that rolls inside a fixed ring: both terms of its coupling are on the carrier."""
    b = lgint.ModelBuilder(gravity=(0, 0, -G))
    inertia = {"carrier": (0.1, 0.1, 0.15), "planet": (0.02, 0.02, 0.03)}
    for name, formulation in zip(("carrier", "planet"), formulations, strict=True):
        b.add_body(
            name, mass=1.0, inertia=inertia[name], position=(0.5 * (name == "planet"), 0, 0), formulation=formulation
        )
    axis = (0, 0.6, 0.8)
    b.add_joint("revolute", lgint.ground, "carrier", point=(0, 0, 0), axis=axis, name="axle")
    b.add_joint("revolute", "carrier", "planet", point=(0.5, 0, 0), axis=axis, name="pin")
    b.add_coupling({"axle": 4.0, "pin": 1.0}, name="ring")
    return b.build(start=start)


@pytest.mark.parametrize(
    "pair", [("R3xSO3", "R3xSO3"), ("SE3", "R3xS3"), ("S3R3", "R3xRV"), ("R3xSO3", "minimal"), ("minimal", "minimal")]
)
def test_terms_on_one_body_add_up_in_every_formulation(pair):
    model = planetary(pair)
    assert lgint.check(model).ok
    reference = lgint.integrate(planetary(("minimal", "minimal")), "dop853", t_end=1.0, h=1e-2)
    for method in ("dop853", "genalpha", "radau5"):
        run = lgint.integrate(model, method, t_end=1.0, h=1e-2)
        atol = 2e-3 if method == "genalpha" else 1e-9
        assert np.allclose(run.joint_angle("pin"), -4 * run.joint_angle("axle"), rtol=0, atol=1e-9)
        assert np.allclose(run.joint_angle("axle"), reference.joint_angle("axle"), rtol=0, atol=atol)
        if method != "genalpha":
            assert np.allclose(run.force("ring"), reference.force("ring"), rtol=0, atol=1e-7)
    assert np.ptp(reference.energy()) < 1e-9


# ---- statics, linear analysis, inverse dynamics ----


def sprung(formulation, offset=0.2):
    b = gears(formulation, rate=0.0, offset=offset)
    b.add_joint_drive("wheel axle", stiffness=4.0, motion=0.1, name="spring")
    b.add_joint_drive("pinion axle", stiffness=5.0, motion=-0.4, name="other")
    return b.build(start="project")


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_equilibrium_and_linear_analysis_are_those_of_the_reduced_system(formulation):
    rest = lgint.equilibrium(sprung(formulation)).state(-1)
    # k1 (x - 0.1) - T + 3 L = 0 with L = k2 (0.2 - 3 x + 0.4)
    x = (4.0 * 0.1 + TORQUE + RATIO * 5.0 * 0.6) / (4.0 + RATIO**2 * 5.0)
    assert rest.joint_angle("wheel axle") == pytest.approx(x, abs=1e-12)
    assert rest.joint_angle("pinion axle") == pytest.approx(0.2 - RATIO * x, abs=1e-12)
    assert rest.force("mesh") == pytest.approx(5.0 * (0.6 - RATIO * x), abs=1e-11)
    found = lgint.linearize(rest).frequencies
    omega = np.sqrt((4.0 + RATIO**2 * 5.0) / (INERTIA[0] + RATIO**2 * INERTIA[1]))
    assert found == pytest.approx([omega], rel=1e-7) or found == pytest.approx([omega / (2 * np.pi)], rel=1e-7)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # Exudyn's own
@pytest.mark.parametrize("formulation", ["R3xSO3", "minimal"])
def test_the_multiplier_is_that_of_exudyn(formulation):
    if bench_exudyn.load() is None:
        pytest.skip("Exudyn is not installed")
    found, multiplier = by_exudyn()
    rest = lgint.equilibrium(sprung(formulation)).state(-1)
    assert np.allclose([rest.joint_angle(f"{name} axle") for name in ("wheel", "pinion")], found, rtol=0, atol=1e-10)
    assert abs(rest.force("mesh")) == pytest.approx(abs(multiplier), abs=1e-10)


def by_exudyn():
    """The angles of the gears at rest and the multiplier of a constraint on coordinates with a factor."""
    import exudyn
    from exudyn import itemInterface as items

    mbs = exudyn.SystemContainer().AddSystem()
    ground = mbs.AddMarker(items.MarkerNodeCoordinate(nodeNumber=mbs.AddNode(items.NodePointGround()), coordinate=0))
    markers = []
    for inertia, stiffness, rest in zip(INERTIA, (4.0, 5.0), (0.1, -0.4), strict=True):
        node = mbs.AddNode(items.Node1D(referenceCoordinates=[0]))
        mbs.AddObject(items.ObjectRotationalMass1D(physicsInertia=inertia, nodeNumber=node))
        markers.append(mbs.AddMarker(items.MarkerNodeCoordinate(nodeNumber=node, coordinate=0)))
        ends = [ground, markers[-1]]
        mbs.AddObject(items.ObjectConnectorCoordinateSpringDamper(markerNumbers=ends, stiffness=stiffness, offset=rest))
    mbs.AddLoad(items.LoadCoordinate(markerNumber=markers[0], load=TORQUE))
    mbs.AddObject(items.ObjectConnectorCoordinate(markerNumbers=markers[::-1], factorValue1=-RATIO, offset=-0.2))
    mbs.Assemble()
    settings = exudyn.SimulationSettings()
    settings.solutionSettings.writeSolutionToFile = False
    settings.staticSolver.verboseMode = 0
    settings.staticSolver.newton.relativeTolerance = 1e-13
    exudyn.SolveStatic(mbs, settings)
    return mbs.systemData.GetODE2Coordinates(), mbs.systemData.GetAECoordinates()[0]


@pytest.mark.parametrize("formulation", ["R3xSO3", "minimal"])
def test_inverse_dynamics_and_states(formulation):
    model = gears(formulation).build()
    run = lgint.integrate(model, "rk44", t_end=1.0, h=1e-2)
    effort = model.inverse_dynamics(run.q, run.v, run.vdot, run.t, actuators=["pinion axle"])[:, 0]
    assert np.allclose(effort, 0, rtol=0, atol=1e-10)  # in addition to the motor
    effort = model.inverse_dynamics(run.q, run.v, 0 * run.vdot, run.t, actuators=["pinion axle"])[:, 0]
    assert np.allclose(effort, TORQUE / RATIO, rtol=0, atol=1e-10)
    state = model.state(joints={"wheel axle": 0.3}, rates={"wheel axle": 1.0})
    assert state.joint_angle("pinion axle") == pytest.approx(-0.9, abs=1e-12)
    assert state.joint_rate("pinion axle") == pytest.approx(-3.0, abs=1e-12)


# ---- values, files, starts ----


def test_factors_and_offsets_are_values_and_runs_are_saved(tmp_path):
    model = gears("minimal").build()
    assert {name for name in model.values if name.startswith("mesh")} == {
        "mesh.factor",
        "mesh.offset",
        "mesh.1.factor",
        "mesh.1.offset",
    }
    run = lgint.integrate(model, "rk44", t_end=0.2, h=1e-2)
    run.save(tmp_path / "run.npz")
    read = lgint.load(tmp_path / "run.npz")
    assert read.force("mesh").tobytes() == run.force("mesh").tobytes()
    again = lgint.integrate(read.model, "rk44", t_end=0.2, h=1e-2)
    assert again.q.tobytes() == run.q.tobytes()
    slower = model.with_parameters(**{"mesh.factor": 2.0})
    with pytest.raises(ValueError, match="mesh: sum"):
        lgint.integrate(slower, "rk44", t_end=0.1, h=1e-2)
    with pytest.raises(ValueError, match="factor"):
        model.with_parameters(**{"mesh.factor": 0.0})


def test_a_start_in_many_turns_is_projected_or_refused():
    b = gears("R3xSO3", rate=0.0, offset=0.3)
    with pytest.raises(ValueError, match="violates constraint 'mesh: sum' at position level"):
        b.build()
    model = b.build(start="project")
    state = model.state()
    assert RATIO * state.joint_angle("wheel axle") + state.joint_angle("pinion axle") == pytest.approx(0.3, abs=1e-12)
    run = lgint.integrate(gears("R3xSO3", rate=40.0).build(), "rk44", t_end=2.0, h=2e-3)
    resumed = lgint.integrate(run.model, "rk44", t_end=2.5, h=2e-3, start=run)
    whole = lgint.integrate(run.model, "rk44", t_end=2.5, h=2e-3)
    assert abs(whole.joint_angle("pinion axle")[-1]) > 40 * np.pi
    assert resumed.q[-1].tobytes() == whole.q[-1].tobytes()


# ---- redundant rows ----


@pytest.mark.parametrize("formulation", ["R3xSO3", "minimal"])
def test_redundant_and_contradictory_couplings_are_named(formulation):
    b = gears(formulation)
    b.add_coupling({"pinion axle": 2, "wheel axle": 2 * RATIO}, name="again")
    with pytest.raises(ValueError, match="redundant constraints: again: sum"):
        b.build()
    run = lgint.integrate(b.build(redundant="drop"), "genalpha", t_end=0.2, h=1e-2)
    assert np.allclose(run.force("again"), 0) and np.allclose(run.force("mesh")[10:], MESH, atol=1e-5)
    run = lgint.integrate(b.build(redundant="minimum_norm"), "genalpha", t_end=0.2, h=1e-2)
    assert np.allclose((run.force("mesh") + 2 * run.force("again"))[10:], MESH, atol=1e-5)
    assert np.allclose(run.force("again"), 2 * run.force("mesh"))
    b = gears(formulation, rate=0.0)
    b.add_coupling({"wheel axle": RATIO, "pinion axle": 1}, offset=0.1, name="other")
    with pytest.raises(ValueError, match="contradictory constraints: other: sum"):
        b.build(start="project")


@pytest.mark.parametrize("formulation", ["R3xSO3", "minimal"])
def test_couplings_that_only_together_are_redundant(formulation):
    b = lgint.ModelBuilder(formulation=formulation)
    for i in range(3):
        body(b, f"gear{i}", formulation, (i, 0, 0), (0.1, 0.1, 0.1))
        b.add_joint("revolute", lgint.ground, f"gear{i}", point=(i, 0, 0), axis=Z, name=f"axle{i}")
    for i in range(3):
        b.add_coupling({f"axle{i}": 1, f"axle{(i + 1) % 3}": -1 if i == 2 else 1}, name=f"mesh{i}")
    with pytest.raises(ValueError, match="redundant constraints: mesh2: sum"):
        b.build()
    locked = lgint.ModelBuilder(formulation=formulation)
    for i in range(3):  # three gears in a circle cannot turn, and no row is redundant
        body(locked, f"gear{i}", formulation, (i, 0, 0), (0.1, 0.1, 0.1))
        locked.add_joint("revolute", lgint.ground, f"gear{i}", point=(i, 0, 0), axis=Z, name=f"axle{i}")
    for i in range(3):
        locked.add_coupling({f"axle{i}": 1, f"axle{(i + 1) % 3}": 1}, name=f"mesh{i}")
    model = locked.build()
    assert model.nv - model.nc == 0


# ---- what is refused ----


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "coordinates: factors by the names of coordinates expected"),
        ([("wheel axle", 1)], "coordinates: factors by the names"),
        ({"axle": 1}, "name of a joint.* got 'axle'; joints are: 'wheel axle'"),
        ({"wheel axle.slide": 1}, "'wheel axle' is revolute and has no slide"),
        ({"ball": 1}, "'ball' is spherical and has neither an angle nor a slide"),
        ({"wheel axle": 0.0}, "factor of 'wheel axle': a number other than zero expected, got 0"),
        ({"wheel axle": np.nan}, "factor of 'wheel axle'"),
        ({"wheel axle": 1, "wheel axle.angle": 2}, "the angle of 'wheel axle' is named twice"),
        ({3: 1}, "name of a joint.* got 3"),
    ],
)
def test_bad_couplings_are_refused(given, message):
    b = gears("R3xSO3")
    b.add_body("bob", mass=1.0, inertia=(0.1, 0.1, 0.1))
    b.add_joint("spherical", lgint.ground, "bob", point=(0, 0, 1), name="ball")
    count = len(b._joints)
    with pytest.raises(ValueError, match=message):
        b.add_coupling(given)
    with pytest.raises(ValueError, match="the name 'mesh' is in use"):
        b.add_coupling({"wheel axle": 1}, name="mesh")
    with pytest.raises(ValueError, match="offset of 'other'"):
        b.add_coupling({"wheel axle": 1}, offset=np.inf, name="other")
    assert len(b._joints) == count
    assert b.add_coupling({"wheel axle": 1, "pinion axle": 2}) == "wheel axle-pinion axle.coupling"


def test_a_coupling_over_many_bodies_has_one_row():
    b = lgint.ModelBuilder()
    n = 12
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for i in range(n):
            b.add_body(f"gear{i}", mass=1.0, inertia=(0.1, 0.1, 0.15), position=(i, 0, 0))
            b.add_joint("revolute", lgint.ground, f"gear{i}", point=(i, 0, 0), axis=Z, name=f"axle{i}")
    b.add_joint_drive("axle0", torque=1.0)
    b.add_coupling({f"axle{i}": i + 1.0 for i in range(n)}, name="sum")
    model = b.build()
    assert model.nc == 5 * n + 1
    c = np.arange(1.0, n + 1)
    for method in ("rk44", "genalpha"):
        run = lgint.integrate(model, method, t_end=0.2, h=1e-2)
        assert run.force("sum")[-1] == pytest.approx(-1 / (c @ c), abs=1e-8)


@pytest.mark.parametrize("formulation", ["minimal", "R3xSO3"])
@pytest.mark.parametrize(("method", "options"), [("rk44", {"project": "both"}), ("radau5", {})])
def test_large_factors_are_projected_to_their_round_off(formulation, method, options):
    """The residual of a row with factors of 1e5 does not fall below 1e-12."""
    b = lgint.ModelBuilder(formulation=formulation)
    for i, rate in enumerate((1.0, 1 / 3)):
        b.add_body(f"w{i}", mass=1.0, inertia=(0.1, 0.1, 0.2), position=(i, 0, 0), angular_velocity=(0, 0, rate))
        b.add_joint("revolute", lgint.ground, f"w{i}", point=(i, 0, 0), axis=(0, 0, 1), name=f"j{i}")
    b.add_coupling({"j0": 1e5, "j1": -3e5})
    run = lgint.integrate(b.build(), method, t_end=0.5, h=1e-2, **options)
    assert np.allclose(run.joint_angle("j0"), 3 * run.joint_angle("j1"), rtol=0, atol=1e-14)


def coupled_chain(factor, formulation, last=0.0):
    """Three bars on hinges that are not parallel; a coupling ties two of them, or all."""
    b = lgint.ModelBuilder(gravity=(0, 0, -9.81), formulation=formulation)
    carrier = lgint.ground
    for i in range(3):
        b.add_body(f"bar{i}", mass=1.0, inertia=(0.1, 0.2, 0.3), position=(0.5 + i, 0.1, 0.05 * i))
        b.add_joint("revolute", carrier, f"bar{i}", point=(i, 0, 0), axis=(0, 1, 0.1 * i), name=f"j{i}")
        carrier = f"bar{i}"
    b.add_coupling({"j0": factor, "j1": -3 * factor, **({"j2": last} if last else {})})
    return b.build()


def observed_orders(model, exact, method, steps, **options):
    """The orders of the angles between successive halvings of h."""
    runs = [lgint.integrate(model, method, t_end=0.5, h=0.5 / n, **options) for n in steps]
    errors = [np.abs(run.joint_angles()[-1] - exact).max() for run in runs]
    return np.log2(np.divide(errors[:-1], errors[1:])), runs[0]


@pytest.mark.parametrize("equivariant", [True, False])
@pytest.mark.parametrize("method", MOMENTUM)
def test_a_coupling_of_three_joints_under_energy_momentum_methods(method, equivariant):
    """Order two from both sides; energy and row to round-off, the energy where gradients are discrete."""
    exact = lgint.integrate(coupled_chain(1.0, "minimal", 0.5), "dop853", t_end=0.5, h=1e-2).joint_angles()[-1]
    model = coupled_chain(1.0, "euler_parameters", 0.5)
    orders, run = observed_orders(model, exact, method, (25, 50, 100), equivariant=equivariant)
    assert np.abs(orders - 2).max() < 0.05
    assert np.abs(run.constraint_residual("position")).max() < 1e-13
    assert method in ("mpl", "mph") or np.ptp(run.energy()) < 1e-12
    assert run.stats.newton_iterations < 5 * run.stats.steps  # as with an exact tangent


@pytest.mark.parametrize("options", [{"modified": False, "alpha": 0.0}, {"modified": True, "transport": True}])
def test_a_coupling_of_three_joints_under_hht_as_printed(options):
    exact = lgint.integrate(coupled_chain(1.0, "minimal", 0.5), "dop853", t_end=0.5, h=1e-2).joint_angles()[-1]
    model = coupled_chain(1.0, "euler_parameters", 0.5)
    orders, run = observed_orders(model, exact, "hht", (50, 100, 200), **options)
    assert np.abs(orders - 2).max() < 0.15
    assert np.abs(run.constraint_residual("position")).max() < 1e-12


@pytest.mark.parametrize("formulation", ["minimal", "R3xSO3"])
@pytest.mark.parametrize("factor", [1e5, 1e7])
@pytest.mark.parametrize(("method", "options"), [("genalpha", {}), ("genalpha", {"index": "stabilized"}), ("hht", {})])
def test_implicit_methods_solve_rows_of_large_factors_to_their_round_off(method, options, factor, formulation):
    """The motion does not depend on the factor, and takes at most twice the iterations."""
    runs = [
        lgint.integrate(coupled_chain(each, formulation), method, t_end=0.5, h=1e-2, newton_rtol=1e-10, **options)
        for each in (1.0, factor)
    ]
    assert np.abs(runs[1].joint_angles() - runs[0].joint_angles()).max() < 1e-9
    assert np.abs(runs[1].constraint_residual("position")).max() < 4e-15 * factor
    assert runs[1].stats.newton_iterations <= 2 * runs[0].stats.newton_iterations


@pytest.mark.parametrize("equivariant", [True, False])
@pytest.mark.parametrize("method", MOMENTUM)
def test_energy_momentum_methods_solve_rows_of_large_factors_to_their_round_off(method, equivariant):
    runs = [
        lgint.integrate(coupled_chain(each, "euler_parameters"), method, t_end=0.5, h=1e-2, equivariant=equivariant)
        for each in (1.0, 1e5, 1e7)
    ]
    for factor, run in zip((1e5, 1e7), runs[1:], strict=True):
        assert np.abs(run.joint_angles() - runs[0].joint_angles()).max() < 1e-9
        assert np.abs(run.constraint_residual("position")).max() < 4e-15 * factor
        assert run.stats.newton_iterations <= 1.5 * runs[0].stats.newton_iterations
