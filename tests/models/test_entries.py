"""Entries of arrays, points, curves and tables as values of models: by name, in units, and in sweeps."""

import pickle

import numpy as np
import pytest

import lgint

INERTIA = np.array([[1.0, 0.1, -0.2], [0.1, 1.5, 0.05], [-0.2, 0.05, 2.0]])
K = np.diag([100.0, 200, 300, 40, 50, 60])
PULL = ([0.4, 0.9, 1.1, 1.6], [-30.0, -4.0, 2.0, 40.0])
WIND = ([0.0, 0.3, 1.0], [(0, 0, 0), (1, 2, 0), (1, 0, 3)])


def build(inertia=INERTIA, stiffness=K, pull=PULL, wind=WIND, point=(0.1, 0.2, 0), formulation="R3xSO3"):
    b = lgint.ModelBuilder(gravity=(0, 0, -9.81), formulation=formulation)
    for i, name in enumerate(("arm", "tip")):
        b.add_body(name, mass=2.0, inertia=inertia, position=(i, 0, 0), angular_velocity=(0.3, 0.1, -0.2))
    b.add_bushing("arm", "tip", stiffness=stiffness, point=(0.5, 0, 0), name="bushing")
    b.add_spring(lgint.ground, "arm", force=pull, point_a=(-1, 0, 0), point_b=point, name="strut")
    b.add_force("tip", force=wind, local_point=(0, 0.1, 0), name="wind")
    b.add_force("arm", torque=(0.1, 0.2, 0.3), name="motor")
    return b.build()


def entry(array, *index, to):
    changed = np.array(array, dtype=float)
    changed[index] = to
    return changed


both = entry(entry(INERTIA, 0, 1, to=0.3), 1, 0, to=0.3)
coupled = entry(entry(K, 0, 4, to=7.0), 4, 0, to=7.0)
CASES = [  # a name, its present value, another one, its unit, and the arguments of the same model built with it
    ("arm.inertia[0,1]", 0.1, 0.3, "kg m^2", None),
    ("bushing.stiffness[0,4]", 0.0, 7.0, "N", {"stiffness": coupled}),
    ("bushing.stiffness[2,2]", 300.0, 310.0, "N/m", {"stiffness": entry(K, 2, 2, to=310.0)}),
    ("bushing.stiffness[5, 5]", 60.0, 61.0, "N m", {"stiffness": entry(K, 5, 5, to=61.0)}),
    ("strut.curve0[1,2]", 2.0, 3.0, "N", {"pull": (PULL[0], [-30.0, -4.0, 3.0, 40.0])}),
    ("strut.curve0[0,2]", 1.1, 1.2, "m", {"pull": ([0.4, 0.9, 1.2, 1.6], PULL[1])}),
    ("wind.load[1,0]", 1.0, 4.0, "N", {"wind": (WIND[0], [(0, 0, 0), (4, 2, 0), (1, 0, 3)])}),
    ("motor.load[2]", 0.3, 0.5, "N m", None),
    ("strut.point_b[1]", 0.2, 0.25, "m", {"point": (0.1, 0.25, 0)}),
    ("strut.point_b", [0.1, 0.2, 0.0], [0.0, 0.3, 0.1], "m", {"point": (0.0, 0.3, 0.1)}),
]


@pytest.mark.parametrize(("name", "present", "other", "unit", "same"), CASES, ids=[case[0] for case in CASES])
def test_an_entry_is_a_value(name, present, other, unit, same):
    """The changed model has the bits of one that is built with the other value, and nothing else has changed."""
    model = build()
    assert name in model.values and model.values[name] == present and model.unit(name) == unit
    changed = model.with_parameters(**{name: other})
    assert changed.values[name] == other and model.values[name] == present
    different = [key for key, value in model.values.items() if not np.array_equal(value, changed.values[key])]
    assert different == [name.partition("[")[0]]
    assert changed.record() != model.record() and changed.with_parameters(**{name: present}).record() == model.record()
    a = lgint.integrate(changed, "genalpha", t_end=0.2, h=1e-2)
    assert not np.array_equal(a.q, lgint.integrate(model, "genalpha", t_end=0.2, h=1e-2).q)
    if same:
        assert a.q.tobytes() == lgint.integrate(build(**same), "genalpha", t_end=0.2, h=1e-2).q.tobytes()
    assert pickle.loads(pickle.dumps(changed)).record() == changed.record()


@pytest.mark.parametrize(("kind", "unit"), [("revolute", "N m"), ("prismatic", "N")])
def test_the_effort_of_a_drive_has_the_unit_of_its_coordinate(kind, unit):
    b = lgint.ModelBuilder()
    b.add_body("arm", mass=2.0, inertia=INERTIA)
    joint = b.add_joint(kind, lgint.ground, "arm", point=(0, 0, 0), axis=(0, 0, 1))
    b.add_joint_drive(joint, torque=([0, 1], [0, 2]), name="motor")
    assert b.build().unit("motor.load") == unit


@pytest.mark.parametrize("formulation", ["R3xSO3", "minimal"])
@pytest.mark.parametrize(("kind", "units"), [("revolute", ["rad", "rad/s", "N m"]), ("prismatic", ["m", "m/s", "N"])])
def test_the_points_of_a_curve_have_the_units_of_its_coordinate(kind, units, formulation):
    b, curve = lgint.ModelBuilder(formulation=formulation), ([-1, 0, 1], [-2, 0, 3])
    b.add_body("arm", mass=2.0, inertia=INERTIA)
    joint = b.add_joint(kind, lgint.ground, "arm", point=(0, 0, 0), axis=(0, 0, 1))
    b.add_joint_spring(joint, stiffness=curve, damping=curve, name="spring")
    b.add_torsion_spring(lgint.ground, "arm", axis=(0, 0, 1), stiffness=curve, name="twist")
    b.add_bushing(lgint.ground, "arm", point=(0, 0, 0), stiffness=[curve] * 6, name="rubber")
    model = b.build()
    coordinate, rate, effort = units
    assert [model.unit(f"spring.curve{i}[{row},1]") for i in (0, 1) for row in (0, 1)] == [
        coordinate, effort, rate, effort
    ]  # fmt: skip
    assert [model.unit(f"twist.curve0[{row},0]") for row in (0, 1)] == ["rad", "N m"]
    assert [model.unit(f"rubber.curve{i}[{row},0]") for row in (0, 1) for i in (2, 3)] == ["m", "rad", "N", "N m"]


def test_entries_of_one_matrix_add_up():
    changed = build().with_parameters(**{"arm.inertia[0,1]": 0.3, "arm.inertia[2,2]": 2.2, "arm.mass": 3.0})
    assert np.array_equal(changed.values["arm.inertia"], entry(both, 2, 2, to=2.2))


def test_entries_vary_in_sweeps():
    data = lgint.sweep(
        build(),
        {"arm.inertia[0,1]": [0.0, 0.3], "strut.point_b[1]": [0.1, 0.2, 0.3]},
        "genalpha",
        t_end=0.05,
        h=1e-2,
        observables={"z": lambda run: run.position("tip")[-1, 2]},
    )
    assert data["z"].shape == (2, 3) and len(np.unique(data["z"])) == 6
    assert data["arm.inertia[0,1]"].attrs["units"] == "kg m^2"


WRONG = [
    ("arm.inertia[0,3]", 1.0, "is not a value of this model"),
    ("arm.inertia[0]", 1.0, "is not a value of this model"),
    ("arm.mass[0]", 1.0, "is not a value of this model"),
    ("arm.inertia[0,1]", 9.0, "arm"),
    ("arm.inertia[0,1]", (1.0, 2.0), r"arm.inertia\[0,1\]"),
    ("strut.curve0[0,2]", 0.5, "ascending values expected in the first row"),
    ("strut.point_b", (1.0, 2.0), r"strut.point_b: shape \(3,\) expected"),
    ("arm.com", (1.0, 2.0), r"arm.com: shape \(3,\) expected"),
    ("arm.com[3]", 1.0, "is not a value of this model"),
]


@pytest.mark.parametrize(("name", "value", "message"), WRONG)
def test_bad_entries(name, value, message):
    with pytest.raises(ValueError, match=message):
        build().with_parameters(**{name: value})


# ---- centres of mass and points of joints ----

HOLDS = ["R3xSO3", "SE3", "S3R3", "R3xRV", "euler_parameters", "tait_bryan", "minimal", "pivot"]
TURN = lgint.groups.so3.exp((0.2, -0.3, 0.4))
SPIN = 1.5 * np.array((0, 0.6, 0.8))


def pendulum(holds, com=(0, 0, 0), point=(0, 0, 0)):
    """A turned body that swings about an axis, whose mass is somewhere in it; a spring pulls at one of its points."""
    b = lgint.ModelBuilder(gravity=(0, 0, -9.81), formulation="R3xSO3" if holds == "pivot" else holds)
    x = np.array((0.5, 0.1, 0)) + TURN @ com
    pose = {"position": x, "rotation": TURN, "angular_velocity": TURN.T @ SPIN}
    inertia = {"mass": 2.0, "inertia": (0.1, 0.2, 0.25)}
    if holds == "pivot":
        b.add_body("arm", **inertia, **pose, pivot=point)
    else:
        b.add_body("arm", **inertia, **pose, velocity=np.cross(SPIN, x - point))
        b.add_joint("revolute", lgint.ground, "arm", point=point, axis=SPIN, name="shoulder")
    b.add_spring(lgint.ground, "arm", stiffness=30.0, length=0.1, point=[(1, 1, 1), (0.7, 0.2, 0.1)], name="spring")
    return b.build()


def same_motion(one, other):
    a, b = (lgint.integrate(model, "genalpha", t_end=0.1, h=2e-3) for model in (one, other))
    assert np.abs(a.position("arm") - b.position("arm")).max() < 1e-12
    assert np.abs(a.rotation("arm") - b.rotation("arm")).max() < 1e-12
    assert np.abs(a.force("spring") - b.force("spring")).max() < 1e-10


@pytest.mark.parametrize("holds", HOLDS)
def test_a_centre_of_mass_is_a_value(holds):
    """The mass moves in the body, which starts where it did, with its points and with its joint."""
    com = (0.05, -0.1, 0.2)
    model = pendulum(holds).with_parameters(**{"arm.com": com})
    same_motion(model, pendulum(holds, com))
    same_motion(
        pendulum(holds, com).with_parameters(**{"arm.com[0]": -0.05, "arm.com[1]": 0.1}), pendulum(holds, (0, 0, 0.2))
    )
    assert model.values["arm.com"] == [*com] and model.unit("arm.com[1]") == "m"
    assert np.abs(np.add(model.values["spring.point_b"], com) - pendulum(holds).values["spring.point_b"]).max() < 1e-15
    back = model.with_parameters(**{"arm.com": (0, 0, 0)})
    assert np.abs(back.q0 - pendulum(holds).q0).max() < 1e-15 and np.abs(back.v0 - pendulum(holds).v0).max() < 1e-15
    assert pickle.loads(pickle.dumps(model)).values["arm.com"] == [*com]


@pytest.mark.parametrize("holds", HOLDS[:-1])
def test_points_of_a_joint_are_values(holds):
    """Both points move together, as where the triads agree; the start is kept, and made consistent on demand."""
    model, moved = pendulum(holds), (0.1, 0.05, 0.2)
    other = model.with_parameters(**{"shoulder.point": moved})
    assert np.abs(other.state().point("arm", other.values["shoulder.point_b"]) - moved).max() < 1e-15
    if holds != "minimal":
        with pytest.raises(ValueError, match=r"the start violates the constraints: shoulder.*\(velocity level\)"):
            lgint.integrate(other, "genalpha", t_end=0.1, h=1e-2)
        other = other.with_state(pendulum(holds, point=moved).q0, pendulum(holds, point=moved).v0)
    same_motion(other, pendulum(holds, point=moved))
    assert model.unit("shoulder.point[2]") == "m"
    one = model.with_parameters(**{"shoulder.point_b[0]": -0.6})
    if holds != "minimal":
        one = one.with_state(project=True)
    assert np.abs(one.state().constraint_residual()).max(initial=0) < 1e-10
    # a run takes the model from its file as it is
    assert lgint.integrate(one, "genalpha", t_end=0.01, h=2e-3).model.values["shoulder.point_b[0]"] == -0.6


def test_values_are_those_that_were_given_together():
    """In any order, although points count from the centre of mass, and both points of a joint have a common name."""
    given = {"shoulder.point_b": (-0.4, 0, 0), "shoulder.point": (0, 0.1, 0), "arm.com": (0.1, 0, 0.2)}
    for names in (given, reversed(given)):
        model = pendulum("minimal").with_parameters(**{name: given[name] for name in names})
        assert {name: tuple(model.values[name]) for name in given} == given


@pytest.mark.parametrize("name", ["arm.com[2]", "shoulder.point_b[0]", "spring.point_a[1]"])
def test_another_shape_keeps_the_turns_of_a_start(name):
    model = pendulum("R3xSO3")
    turned = model.with_state(model.state(joints={"shoulder": 20.0}))
    other = turned.with_parameters(**{name: model.values[name] + 1e-3})
    assert other.state().joint_angle("shoulder") == pytest.approx(20.0, abs=1e-2)


def test_motions_and_couplings_follow_their_joint():
    b = lgint.ModelBuilder(formulation="R3xSO3")
    for i, name in enumerate("ab"):
        b.add_body(name, mass=1.0, inertia=(1, 1, 1), position=(i, 0.3, 0))
        b.add_joint("prismatic", lgint.ground, name, point=(i, 0, 0), axis=(1, 0, 0), name=f"rail {name}")
    b.add_joint_motion("rail a", [(0.0, 0.0, 0.0, 2.0)], name="drive")
    b.add_coupling({"rail a": 1, "rail b": 2}, name="belt")
    model = b.build().with_parameters(**{"rail a.point": (0.0, 0.2, 0.1), "rail b.point_a[1]": 0.0})
    record = model.record()["joints"]
    for name in ("drive", "belt"):
        assert record[name]["points"] == record["rail a"]["points"]
    run = lgint.integrate(model, "genalpha", t_end=0.2, h=1e-2)
    assert np.abs(run.position("b")[:, 0] - 1 + run.t**2 / 2).max() < 1e-9
    assert not {"drive.point", "belt.point_a"} & {*model.values}


def test_centres_and_points_vary_in_sweeps(tmp_path):
    """Also where a sweep is taken up again from its file."""

    def again(values):
        return lgint.sweep(
            pendulum("R3xSO3"),
            {"arm.com[2]": values, "spring.point_b[0]": [0.1, 0.2]},
            "genalpha",
            t_end=0.05,
            h=1e-2,
            observables={"z": lambda run: run.position("arm")[-1, 2]},
            path=tmp_path / "sweep",
        )["z"].values

    first = again([0.0, 0.1])
    assert len(np.unique(first)) == 4 and np.array_equal(again([0.0, 0.1]), first)
    minimal = lgint.sweep(
        pendulum("minimal"),
        {"shoulder.point[2]": [0.0, 0.1]},
        "genalpha",
        t_end=0.05,
        h=1e-2,
        observables={"z": lambda run: run.position("arm")[-1, 2]},
    )
    other = lgint.integrate(pendulum("minimal", point=(0, 0, 0.1)), "genalpha", t_end=0.05, h=1e-2)
    assert abs(minimal["z"].values[1] - other.position("arm")[-1, 2]) < 1e-12


def swing(lower=-0.2, upper=None, motion=((0.0, 0.1, 0.2, 0.0), (0.1, 0.12, 0.2, 0.3)), formulation="R3xSO3"):
    """A pendulum that falls onto a stop, with a drive."""
    b = lgint.ModelBuilder(gravity=(0, 0, -9.81), formulation=formulation)
    b.add_body("arm", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(1, 0, 0))
    stop = {"limits": (lower, upper), "limit_stiffness": 500.0, "limit_damping": 2.0}
    b.add_joint("revolute", lgint.ground, "arm", point=(0, 0, 0), axis=(0, -1, 0), name="hinge", **stop)
    b.add_joint_drive("hinge", stiffness=3.0, motion=[*motion], name="motor")
    return b.build()


@pytest.mark.parametrize("formulation", ["R3xSO3", "minimal"])
@pytest.mark.parametrize(
    ("name", "other", "unit", "same"),
    [
        ("hinge.limits.lower", -0.15, "rad", {"lower": -0.15}),
        ("motor.motion[0,1]", 0.3, "rad", {"motion": ((0, 0.3, 0.2, 0), (0.1, 0.12, 0.2, 0.3))}),
        ("motor.motion[1,0]", 0.2, "s", {"motion": ((0, 0.1, 0.2, 0), (0.2, 0.12, 0.2, 0.3))}),
        ("motor.motion[1,3]", 0.7, "rad/s^2", {"motion": ((0, 0.1, 0.2, 0), (0.1, 0.12, 0.2, 0.7))}),
    ],
)
def test_limits_and_motions_of_drives_are_values(name, other, unit, same, formulation):
    model, built = swing(formulation=formulation), swing(formulation=formulation, **same)
    assert model.unit(name) == unit
    changed = model.with_parameters(**{name: other})
    assert changed.record() == built.record()
    runs = [lgint.integrate(each, "genalpha", t_end=0.4, h=5e-3).q.tobytes() for each in (model, changed, built)]
    assert runs[0] != runs[1] == runs[2]


@pytest.mark.parametrize("name", ["hinge.limits.lower", "hinge.limits.damping", "motor.motion[0,1]"])
def test_runs_are_differentiated_by_limits_and_motions(name):
    """The stop is touched all the time, so that the run is smooth."""
    model, d = swing(lower=0.1), 1e-5
    options = {"method": "genalpha", "t_end": 0.2, "h": 5e-3, "newton_rtol": 1e-13}
    slope = lgint.integrate(model, sensitivity=[name], **options).derivative("position", "arm")[-1].ravel()
    there = [model.with_parameters(**{name: model.values[name] + s * d}) for s in (1, -1)]
    ends = [lgint.integrate(each, **options).position("arm")[-1] for each in there]
    assert np.abs(slope).max() > 1e-4
    assert slope == pytest.approx((ends[0] - ends[1]) / (2 * d), rel=1e-6, abs=1e-9)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"hinge.limits.lower": 0.6}, "hinge.limits.lower: a lower limit below the upper one expected, got 0.6"),
        ({"motor.motion[1,0]": 0.0}, "motor.motion.*: ascending times expected in the first column"),
    ],
)
def test_bad_limits_and_motions(values, message):
    model = swing(upper=0.5)
    assert "hinge.limits.upper" not in swing().values
    assert model.with_parameters(**{"hinge.limits.lower": 0.6, "hinge.limits.upper": 0.7})
    with pytest.raises(ValueError, match=message):
        model.with_parameters(**values)


def test_moments_alone_have_no_points():
    """Where a torque or a torsion spring is on its bodies has no effect, and so is no value."""
    b = lgint.ModelBuilder()
    b.add_body("arm", mass=1.0, inertia=(1, 1, 1))
    b.add_force("arm", torque=(1, 0, 0), name="turn")
    b.add_force("arm", force=(1, 0, 0), torque=(1, 0, 0), point=(1, 0, 0), name="both")
    b.add_torsion_spring(lgint.ground, "arm", axis=(0, 0, 1), stiffness=1.0, name="coil")
    points = [name for name in b.build().values if "point" in name]
    assert points == ["both.force.point"]


def test_a_knife_edge_has_its_point_on_the_body_alone():
    """On the ground it is nowhere."""
    b = lgint.ModelBuilder()
    b.add_body("sled", mass=1.0, inertia=(1, 1, 1))
    b.add_knife_edge("sled", local_point=(0.1, 0, 0), normal=(0, 1, 0), name="blade")
    assert [name for name in b.build().values if "blade" in name] == ["blade.normal", "blade.point_b"]


def with_motion(way, table):
    """A body that a table moves: through a joint, by a drive, or by a spring from a support."""
    b = lgint.ModelBuilder()
    b.add_body("p", mass=1.0, inertia=(0.1, 0.2, 0.3))
    if way == "support":
        b.add_support("m", motion=table)
        b.add_spring("m", "p", stiffness=3.0, length=0.0, point_a=(0, 0, 1.0))
        return b.build()
    b.add_joint("revolute", lgint.ground, "p", point=(0, 0, 0), axis=(0, 0, 1), name="pin")
    if way == "joint":
        b.add_joint_motion("pin", table, name="m")
    else:
        b.add_joint_drive("pin", stiffness=5.0, damping=0.1, motion=table, name="m")
    return b.build()


@pytest.mark.parametrize(
    ("way", "width", "entry", "unit"), [("joint", 1, 0, "rad"), ("drive", 1, 0, "rad"), ("support", 6, 2, "m")]
)
def test_entries_of_tables_of_motions_are_values(way, width, entry, unit):
    """A model with another entry runs as the one that is built with it, in every bit."""
    times, values = [0.0, 0.4, 1.0], np.zeros((3, width))
    values[1] = 0.3
    other = values.copy()
    other[1, entry] = 0.7
    model, name = with_motion(way, (times, values)), f"m.motion[1,{entry}]"
    assert model.values["m.motion"] == values.tolist() and model.unit(name) == unit
    changed, built = model.with_parameters(**{name: 0.7}), with_motion(way, (times, other))
    assert changed.values[name] == 0.7 and model.values[name] == 0.3
    runs = [lgint.integrate(each, "genalpha", t_end=1.0, h=1e-2) for each in (changed, built, model)]
    assert runs[0].q.tobytes() == runs[1].q.tobytes() != runs[2].q.tobytes()
    for given in ("m.motion[1,0]", "m.motion"):
        with pytest.raises(ValueError, match=r"m.motion.*: the table of a motion has no derivatives; take differences"):
            lgint.integrate(model, "rk44", t_end=0.1, h=1e-2, sensitivity=[given])
    with pytest.raises(ValueError, match="m.motion"):
        model.with_parameters(**{"m.motion": values[1:]})
