"""URDF files: elements one by one, what is ignored, and faults, which are named with line and element."""

import re
import time
import warnings

import numpy as np
import pytest

import lgint
from pace import slowness

GRAVITY = (0, 0, -9.81)
MOMENTS = '<inertia ixx="0.2" iyy="0.2" izz="0.01" ixy="0" ixz="0" iyz="0"/>'
BAR = f'<inertial><origin xyz="0 0 -0.5"/><mass value="2"/>{MOMENTS}</inertial>'


def robot(tmp_path, *parts):
    path = tmp_path / "robot.urdf"
    path.write_text("<robot name='r'>\n" + "\n".join(parts) + "\n</robot>\n")
    return path


def link(name, inertial=BAR):
    return f'<link name="{name}">{inertial}</link>'


def joint(name, kind, parent, child, rest="", axis="1 0 0"):
    """Without a range, unless the rest has limits."""
    if kind in ("revolute", "prismatic") and "<limit" not in rest:
        rest += "<limit/>"
    ends = f'<parent link="{parent}"/><child link="{child}"/>'
    return f'<joint name="{name}" type="{kind}">{ends}<axis xyz="{axis}"/>{rest}</joint>'


def added(path, base="fixed", **keywords):
    b = lgint.ModelBuilder(gravity=GRAVITY)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return b.add_urdf(path, base=base, **keywords), b.build()


# ---- elements ----


def test_a_pendulum_has_the_bits_of_one_that_is_built(tmp_path):
    path = robot(tmp_path, link("base", ""), link("bar"), joint("pin", "continuous", "base", "bar"))
    found, model = added(path)
    b = lgint.ModelBuilder(gravity=GRAVITY, formulation="minimal")
    b.add_body("bar", mass=2.0, inertia=(0.2, 0.2, 0.01), position=(0, 0, -0.5))
    b.add_joint("revolute", lgint.ground, "bar", point=(0, 0, 0), axis=(1, 0, 0), name="pin")
    built = b.build()
    runs = [lgint.integrate(m, "rk44", t_end=1.0, h=1e-2) for m in (model, built)]
    assert runs[0].q.tobytes() == runs[1].q.tobytes()
    assert found.base == "ground" and found.joints == {"pin": "pin"} and found.ignored == []
    assert found.links["base"].body == "ground" and np.allclose(found.links["bar"].point, (0, 0, 0.5))


def test_links_on_the_ground_are_points_that_stay(tmp_path):
    path = robot(
        tmp_path,
        *(link(name) for name in ("base", "rail", "bar")),
        joint("weld", "fixed", "base", "rail", '<origin xyz="0.1 0.2 0.3" rpy="0.3 -0.2 0.5"/>'),
        joint("pin", "continuous", "rail", "bar"),
    )
    found, model = added(path, position=(1, 0, 0))
    run, place = lgint.integrate(model, "rk44", t_end=0.1, h=1e-2), (1.1, 0.2, 0.3)
    for states in (run, run[-1], run.state(t=0.05)):
        body, point, R = found.links["rail"]
        many = np.shape(states.t)
        assert body == "ground" and np.array_equal(states.rotation(body), np.broadcast_to(np.eye(3), (*many, 3, 3)))
        assert states.point(body, point) == pytest.approx(np.broadcast_to(place, (*many, 3)))
        assert np.array_equal(states.rotation(body) @ R, np.broadcast_to(R, (*many, 3, 3)))
        for still in (states.position, states.velocity, states.angular_velocity, states.acceleration):
            assert np.array_equal(still(body), np.zeros((*many, 3)))
        hinge = states.point("bar", found.links["bar"].point)
        assert hinge == pytest.approx(states.point(body, point))


def test_kinds_places_prefixes_and_bases(tmp_path):
    turned = '<origin xyz="0.1 0.2 0.3" rpy="0.3 -0.2 0.5"/>'
    path = robot(
        tmp_path,
        *(link(name) for name in "abcdef"),
        joint("slide", "prismatic", "a", "b", turned, "0 0 2"),
        joint("weld", "fixed", "b", "c", turned),
        joint("hinge", "revolute", "c", "d", turned + '<limit lower="-1" upper="1" effort="1" velocity="1"/>', "0 1 1"),
        joint("plane", "planar", "d", "e", turned, "0 0 1"),
        joint("loose", "floating", "e", "f", turned),
    )
    b = lgint.ModelBuilder(gravity=GRAVITY)
    with pytest.warns(UserWarning, match=r"robot.urdf: ignored are effort in <limit> \(1\), velocity in <limit> \(1\)"):
        left = b.add_urdf(path, prefix="left ", base="free", position=(1, 0, 0))
    b.add_support("rail", position=(0, 1, 0))
    with pytest.warns(UserWarning):
        b.add_urdf(path, prefix="right ", base="rail", rotation=(0, 0, 0, 1))
    model = b.build()
    assert model.forces["left hinge.limits"]["limits"] == [-1.0, 1.0]
    assert left.links["c"].body == "left b" and left.base == "left a"
    assert model.mobility().degrees_of_freedom == 2 * (1 + 1 + 3 + 6) + 6
    assert model.joints["left loose"]["kind"] == "free"
    a, welded = (model.bodies[f"left {name}"]["mass"] for name in "ab")
    assert (a, welded) == (2.0, 4.0)
    with pytest.raises(ValueError, match="name 'left a' is in use"):
        b.add_urdf(path, prefix="left ")
    maximal = lgint.ModelBuilder(gravity=GRAVITY)
    with pytest.warns(UserWarning):
        maximal.add_urdf(path, formulation="SE3")
    both = [maximal.build(), added(path)[1]]
    runs = [lgint.integrate(m, "dop853", t_end=0.2, h=2e-3) for m in both]
    for name in "bdef":
        assert np.allclose(runs[0].position(name)[-1], runs[1].position(name)[-1], rtol=0, atol=1e-9)


@pytest.mark.parametrize("formulation", ["minimal", "SE3"])
def test_robots_move_with_their_base_at_the_start(formulation, tmp_path):
    path = robot(tmp_path, link("a"), link("b"), joint("j", "continuous", "a", "b", '<origin xyz="0.1 0.2 -1"/>'))
    b = lgint.ModelBuilder(gravity=GRAVITY)
    motion = {"velocity": (1.0, 2.0, 3.0), "angular_velocity": (0.3, -0.2, 0.5)}
    b.add_body("ship", mass=9.0, inertia=(1, 1, 1), rotation=(0.6, 0.8, 0.0, 0.0), **motion)
    b.add_urdf(path, base="ship", position=(1, 0, 0), formulation=formulation)
    model = b.build()
    state = model.state()
    omega = state.rotation("ship") @ motion["angular_velocity"]
    for name in ("a", "b"):
        assert np.allclose(state.velocity(name), motion["velocity"] + np.cross(omega, state.position(name)), atol=1e-12)
        assert np.allclose(state.rotation(name) @ state.angular_velocity(name), omega, atol=1e-12)
    assert state.joint_rate("j") == pytest.approx(0, abs=1e-12)


def test_an_unknown_base_is_refused(tmp_path):
    path = robot(tmp_path, link("a"))
    for base in ("nope", None):
        with pytest.raises(ValueError, match=f"base: 'fixed', 'free' or a body expected; unknown body {base!r}"):
            lgint.ModelBuilder().add_urdf(path, base=base)


@pytest.mark.parametrize("kind", ["continuous", "planar", "floating", "fixed"])
def test_limits_of_joints_that_take_none_are_listed(kind, tmp_path):
    limit = '<limit lower="-1" upper="1" effort="5" velocity="2" jerk="9" drake:acceleration="3"/>'
    path = robot(tmp_path, link("a"), link("b"), joint("j", kind, "a", "b", limit))
    with pytest.warns(UserWarning, match="ignored are"):
        found = lgint.ModelBuilder().add_urdf(path)
    names = ("drake:acceleration", "effort", "velocity", "jerk", f"the range in <limit> of a {kind} joint")
    assert found.ignored == [f"{name} in <limit> (1)" for name in names[:-1]] + [f"{names[-1]} (1)"]


@pytest.mark.parametrize("number", ["1e-200", "1e200"])
def test_an_axis_may_have_any_length(number, tmp_path):
    """Also where its square is zero or infinite."""
    found = []
    for axis in ("0 1 1", f"0 {number} {number}"):
        path = robot(tmp_path, link("a"), link("b"), joint("j", "revolute", "a", "b", axis=axis))
        found.append(added(path)[1].state(rates={"j": 1.0}).angular_velocity("b"))
    assert np.allclose(found[0], found[1], rtol=1e-15, atol=1e-15)


def test_moments_of_inertia_that_no_body_has_are_used_and_named_once(tmp_path):
    odd = BAR.replace('izz="0.01"', 'izz="9"')
    parts = joint("j", "revolute", "a", "b"), joint("k", "revolute", "b", "c")
    path = robot(tmp_path, link("a"), link("b", odd), link("c", odd), *parts)
    b = lgint.ModelBuilder()
    with pytest.warns(UserWarning, match="robot.urdf: the moments of inertia of 'b', 'c' are used although") as warned:
        assert b.add_urdf(path).ignored == []
    assert len(warned) == 1
    assert b.build().values["b.inertia[2,2]"] == 9


def test_other_attributes_of_links_and_joints_are_listed(tmp_path):
    path = robot(tmp_path, link("a").replace("<link", "<link type='x'"))
    with pytest.warns(UserWarning, match=r"ignored are type in <link> \(1\)"):
        lgint.ModelBuilder().add_urdf(path)


def test_a_joint_may_have_the_name_of_a_link(tmp_path):
    mimic = '<mimic joint="b" multiplier="2" offset="0.3"/>'
    path = robot(
        tmp_path,
        *(link(name) for name in "abc"),
        joint("b", "continuous", "a", "b"),
        joint("c", "continuous", "b", "c", mimic),
    )
    found, model = added(path, prefix="left ")
    assert found.joints == {"b": "left b.joint", "c": "left c.joint"}
    assert found.joints["b"] in model.joints
    run = lgint.integrate(model, "dop853", t_end=0.2, h=1e-2)
    one, two = (run.joint_angle(found.joints[name]) for name in "bc")
    assert np.allclose(two, 2 * one + 0.3, rtol=0, atol=1e-10) and abs(one[-1]) > 1e-3


def test_starts_outside_limits_are_named(tmp_path):
    limit = '<limit lower="0.5" upper="1"/>'
    path = robot(
        tmp_path,
        *(link(name) for name in "abc"),
        joint("j", "revolute", "a", "b", limit),
        joint("k", "prismatic", "b", "c", limit + '<mimic joint="j" offset="0.7"/>'),
    )
    with pytest.warns(UserWarning) as caught:
        b = lgint.ModelBuilder(gravity=GRAVITY)
        b.add_urdf(path)
    (text,) = (str(each.message) for each in caught)
    assert "robot.urdf, line 5: joint 'j' starts at 0, outside its limits 0.5 and 1," in text
    state = b.build().state(joints={"j": 0.5})
    assert "model.state(joints={'j': 0.5})" in text and state.joint_angle("j") == pytest.approx(0.5, abs=1e-12)


def test_links_without_mass(tmp_path):
    path = robot(
        tmp_path,
        link("base", ""),
        link("cross", ""),
        link("bar"),
        link("tip", ""),
        joint("first", "continuous", "base", "cross", axis="1 0 0"),
        joint("second", "continuous", "cross", "bar", axis="0 1 0"),
        joint("last", "revolute", "bar", "tip", '<origin xyz="0 0 -1"/>'),
    )
    with pytest.warns(UserWarning, match="joints that move no mass, such as 'last'"):
        found = lgint.ModelBuilder().add_urdf(path)
    assert found.links["tip"].body == "bar" and list(found.joints) == ["first", "second"]
    run = lgint.integrate(added(path)[1], "dop853", t_end=1.0, h=1e-2)
    b = lgint.ModelBuilder(gravity=GRAVITY, formulation="minimal")
    b.add_body("bar", mass=2.0, inertia=(0.2, 0.2, 0.01), position=(0, 0, -0.5))
    b.add_joint("universal", lgint.ground, "bar", point=(0, 0, 0), axis=(1, 0, 0), second_axis=(0, 1, 0))
    again = lgint.integrate(b.build(), "dop853", t_end=1.0, h=1e-2)
    assert np.allclose(run.position("bar"), again.position("bar"), rtol=0, atol=1e-12)
    with pytest.raises(ValueError, match=r"robot.urdf, line 3, <link name='cross'>: a link inside a chain needs mass"):
        lgint.ModelBuilder().add_urdf(path, formulation="SE3")


def test_joints_that_mimic_start_at_their_offsets(tmp_path):
    path = robot(
        tmp_path,
        *(link(name) for name in "abcd"),
        joint("one", "continuous", "a", "b"),
        joint("two", "continuous", "a", "c", '<mimic joint="one" multiplier="-2" offset="0.3"/>'),
        joint("three", "prismatic", "c", "d", '<mimic joint="two" multiplier="0.5"/>'),
    )
    for formulation in ("minimal", "R3xSO3"):
        b = lgint.ModelBuilder(gravity=GRAVITY)
        found = b.add_urdf(path, formulation=formulation)
        run = lgint.integrate(b.build(), "dop853", t_end=1.0, h=1e-2)
        one, two = run.joint_angle("one"), run.joint_angle("two")
        assert np.allclose(two, -2 * one + 0.3, rtol=0, atol=1e-10)
        assert np.allclose(run.joint_position("three"), 0.5 * two, rtol=0, atol=1e-10)
        assert found.couplings == {"two": "two.mimic", "three": "three.mimic"}
        assert two[0] == pytest.approx(0.3, abs=1e-14) and np.abs(one[-1]) > 0.01


def test_a_loop_is_closed_by_a_joint(tmp_path):
    """A parallelogram, whose bars stay parallel."""
    path = robot(
        tmp_path,
        *(link(name) for name in ("base", "left", "right")),
        link("top", BAR.replace("0 0 -0.5", "0.25 0 0")),
        joint("a", "continuous", "base", "left", axis="0 1 0"),
        joint("b", "continuous", "base", "right", '<origin xyz="0.5 0 0"/>', axis="0 1 0"),
        joint("c", "continuous", "left", "top", '<origin xyz="0 0 -1"/>', axis="0 1 0"),
    )
    b = lgint.ModelBuilder(gravity=(1, 0, -9.81))
    b.add_urdf(path)
    b.add_joint("revolute", "top", "right", point=(0.5, 0, -1), axis=(0, 1, 0), name="loop")
    with pytest.raises(ValueError, match="redundant constraints: loop: "):
        b.build()
    run = lgint.integrate(b.build(redundant="drop"), "radau5", t_end=1.0, rtol=1e-9, atol=1e-9)
    assert np.allclose(run.joint_angle("a"), run.joint_angle("b"), rtol=0, atol=1e-10)
    assert np.abs(run.joint_angle("a")[-1]) > 0.05


@pytest.mark.measures
def test_thirty_joints_load_and_build_in_twenty_milliseconds(tmp_path):
    parts = [link("link0")]
    for i in range(1, 31):
        place = '<origin xyz="0 0 -1" rpy="0.1 0.2 0.3"/>'
        parts += [link(f"link{i}"), joint(f"joint{i}", "revolute", f"link{i - 1}", f"link{i}", place, "0 1 0")]
    path, times = robot(tmp_path, *parts), []
    for _ in range(20):
        begin = time.process_time()
        b = lgint.ModelBuilder(gravity=GRAVITY)
        b.add_urdf(path)
        assert b.build().nv == 30
        times.append(time.process_time() - begin)
    assert min(times) < 0.02 * max(slowness(), 1)


# ---- files with a fault ----

GOOD = [link("a"), link("b"), joint("j", "revolute", "a", "b")]
FAULTS = [
    (["<link"], r"line 3, <robot name='r'>: not well-formed"),
    ([*GOOD, "</link>"], r"line 5.*mismatched tag"),
    ([link("a"), link("a")], r"line 3, <link name='a'>: another link has this name"),
    ([*GOOD, joint("j", "fixed", "a", "b")], r"line 5, <joint name='j'>: another joint has this name"),
    (["<link/>"], r"line 2, <link>: the attribute 'name' expected"),
    (["<material/>"], r"line 1, <robot name='r'>: a robot with a <link> expected"),
    ([link("a"), link("b")], r"line 3, <link name='b'>: one root expected; no joint leads to the links 'a', 'b'"),
    ([link("a"), joint("j", "fixed", "a", "b")], r"line 3, <child>: there is no link 'b'"),
    ([link("a"), joint("j", "fixed", "b", "a")], r"line 3, <parent>: there is no link 'b'"),
    ([*GOOD, joint("k", "fixed", "a", "b")], r"line 5, <joint name='k'>: link 'b' is the child of 'j' already"),
    (
        [*GOOD, link("c"), link("d"), joint("k", "fixed", "c", "d"), joint("l", "fixed", "d", "c")],
        r"line 8, <joint name='l'>: a tree expected; the links 'c', 'd' form a loop",
    ),
    (
        [link("a"), link("b"), joint("j", "helical", "a", "b")],
        r"line 4, <joint name='j'>: type: one of revolute,.*'heli",
    ),
    (
        [link("a"), link("b"), joint("j", "revolute", "a", "b", axis="0 0 0")],
        r"line 4, <axis>: xyz: an axis other than",
    ),
    ([link("a"), link("b"), joint("j", "revolute", "a", "b", axis="0 1")], r"line 4, <axis>: xyz: 3 numbers.*'0 1'"),
    (
        [link("a"), link("b"), joint("j", "fixed", "a", "b", '<origin rpy="0 nan 0"/>')],
        r"line 4, <origin>: rpy: 3 numb",
    ),
    (
        [*GOOD[:2], '<joint name="j" type="fixed"><parent link="a"/></joint>'],
        r"line 4, <joint name='j'>: a <child> exp",
    ),
    ([*GOOD[:2], joint("j", "revolute", "a", "b", '<mimic joint="k"/>')], r"line 4, <mimic>: there is no joint 'k'"),
    (
        [*GOOD[:2], joint("j", "revolute", "a", "b", '<mimic joint="j"/>')],
        r"line 4, <mimic>: the joints 'j', 'j' mimic",
    ),
    ([*GOOD[:2], joint("j", "revolute", "a", "b", "<origin/><origin/>")], r"line 4, <origin>: one <origin> expected"),
    (
        [*GOOD[:2], joint("j", "revolute", "a", "b", '<limit lower="1" upper="0"/>')],
        r"line 4, <limit>: a lower",
    ),
    (
        [*GOOD[:2], GOOD[2].replace("<limit/>", "")],
        r"line 4, <joint name='j'>: a <limit> expected, or type='continuous'",
    ),
    (
        [*GOOD[:2], joint("j", "prismatic", "a", "b").replace("<limit/>", "")],
        r"line 4, <joint name='j'>: a <limit> expected",
    ),
    ([link("a", BAR.replace('"2"', '"-2"'))], r"line 2, <mass>: value: a mass that is not negative expected, got -2"),
    ([link("a", BAR.replace('"2"', '"two"'))], r"line 2, <mass>: value: a number expected, got 'two'"),
    ([link("a", BAR.replace('<mass value="2"/>', ""))], r"line 2, <inertial>: a <mass> expected"),
    ([link("a", BAR.replace(' ixy="0"', ""))], r"line 2, <inertia>: all of ixx, .*; ixy missing"),
    ([link("a", BAR.replace("xyz", "xzy"))], r"line 2, <origin>: unknown attribute 'xzy' \(did you mean 'xyz'\?\)"),
    ([link("a", BAR.replace("value", "Value"))], r"line 2, <mass>: unknown attribute 'Value' \(did you mean 'value'"),
    ([*GOOD[:2], GOOD[2].replace("axis xyz", "axis xyx")], r"line 4, <axis>: unknown attribute 'xyx'.*known are 'xyz'"),
    ([*GOOD[:2], GOOD[2].replace("<limit", "<limit uper='1'")], r"line 4, <limit>: unknown attribute 'uper' .*'upper'"),
    ([*GOOD[:2], joint("j", "revolute", "a", "b", '<mimic jont="k"/>')], r"line 4, <mimic>: unknown attribute 'jont'"),
    (
        [*GOOD[:2], joint("j", "fixed", "a", "b", '<origin quat_xyzw="0 0 0 1"/>')],
        r"line 4, <origin>: quat_xyzw.*; rpy",
    ),
    ([*GOOD[:2], GOOD[2].replace("<child", "<child lnk='b'")], r"line 4, <child>: unknown attribute 'lnk'"),
    ([link("ground")], r"line 2, <link name='ground'>: the name 'ground' is in use; .*, or another prefix"),
    (
        [link("a"), link("a.joint"), joint("a", "fixed", "a", "a.joint")],
        r"line 4, <joint name='a'>: the name 'a.joint' is in use",
    ),
    ([link("a", BAR.replace('"0.01"', '"-0.1"'))], r"line 2, <inertia>: a positive semidefinite matrix expected"),
    *(
        ([*GOOD[:2], joint("j", "fixed", "a", "b", f"<origin xyz='{text}'/>")], rf"line 4, <origin>: xyz: 3 .*'{text}'")
        for text in ("1_0 0 0", "0x1 0 0", "1,0,0", "\u0661 0 0", "1e 0 0", ". 0 0", "0 0 inf")
    ),
    ([link("a", BAR.replace("2", "${2*m}", 1))], r"line 2, <mass>: value: '\${2\*m}' is of xacro; expand the file"),
    (['<xacro:include filename="x"/>', *GOOD], r"line 2, <xacro:include>: an element of xacro; expand the file first"),
    (['<macro name="x"/>', *GOOD], r"line 2, <macro name='x'>: an element of xacro; expand the file first"),
    ([*GOOD[:2], joint("j", "fixed", "a", "b", "<orign/>")], r"line 4, <orign>: unknown in <joint> .*<origin>\?"),
    ([link("a", "<Inertial/>")], r"line 2, <Inertial>: unknown in <link> \(did you mean <inertial>\?\)"),
    (["<lnk name='a'/>"], r"line 2, <lnk name='a'>: unknown in <robot> \(did you mean <link>\?\)"),
    ([link("a", '<mass value="2"/>')], r"line 2, <mass>: expected in <inertial>, not in <link>"),
    (
        [*GOOD[:2], joint("j", "fixed", "a", "b", "<origin>1 0 0</origin>")],
        r"line 4, <origin>: attributes expected \(xyz, rpy\), got the text '1 0 0'",
    ),
    (
        [*GOOD[:2], joint("j", "fixed", "a", "b", "<origin><xyz/></origin>")],
        r"line 4, <xyz>: <origin> has attributes \(xyz, rpy\) and no elements",
    ),
]


@pytest.mark.parametrize(("parts", "message"), FAULTS, ids=range(len(FAULTS)))
def test_faults_are_named_with_line_and_element(parts, message, tmp_path):
    b = lgint.ModelBuilder()
    path = robot(tmp_path, *parts)
    with pytest.raises(ValueError, match=re.escape(str(path)) + ", " + message):
        b.add_urdf(path)
    assert not b._bodies and not b._joints


def test_plain_xml_alone_is_read(tmp_path):
    path = tmp_path / "robot.urdf"
    for text in (
        '<?xml version="1.0"?>\n<!DOCTYPE robot [<!ENTITY a "b">]>\n<robot name="&a;"><link name="a"/></robot>',
        '<!DOCTYPE robot SYSTEM "file:///etc/passwd">\n<robot name="r"><link name="a"/></robot>',
    ):
        path.write_text(text)
        with pytest.raises(ValueError, match=r"line \d, <!DOCTYPE robot>: a document type or an entity; plain XML"):
            lgint.ModelBuilder().add_urdf(path)
    for text, what in (
        ("not XML", "line 1: syntax error; the root element <robot> expected"),
        ('<robot name="r">\n<link name="&a;"/></robot>', "line 2, <robot name='r'>: undefined entity"),
        ('<robot name="r">\n<link name="a">', "line 2, <link name='a'>: the file ends inside <link>"),
        ('<robot name="r"/>\n<robot/>', "line 2, <robot name='r'>: junk after document element"),
    ):
        path.write_text(text)
        with pytest.raises(ValueError, match=what):
            lgint.ModelBuilder().add_urdf(path)
    path.write_text("<sdf/>")
    with pytest.raises(ValueError, match=r"line 1, <sdf>: the root element <robot> expected"):
        lgint.ModelBuilder().add_urdf(path)
    path.write_bytes(b"")
    with pytest.raises(ValueError, match=r"robot.urdf, line 1: no element found; the root element <robot> expected"):
        lgint.ModelBuilder().add_urdf(path)
    with pytest.raises(FileNotFoundError):
        lgint.ModelBuilder().add_urdf(tmp_path / "none.urdf")


@pytest.mark.parametrize("encoding", ["foo-8", "base64", "gbk", "utf-32", "idna"])
def test_encodings_that_cannot_be_read_are_named_with_their_line(encoding, tmp_path):
    path = tmp_path / "robot.urdf"
    path.write_text(f'<?xml version="1.0" encoding="{encoding}"?>\n<robot name="r"><link name="a"/></robot>')
    with pytest.raises(ValueError, match=rf"robot.urdf, line 1: encoding: one of UTF-8, .* expected, got '{encoding}'"):
        lgint.ModelBuilder().add_urdf(path)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "iso-8859-1", "cp1252"])
def test_names_are_read_in_the_encoding_of_the_file(encoding, tmp_path):
    path = tmp_path / "robot.urdf"
    path.write_bytes(
        f'<?xml version="1.0" encoding="{encoding}"?>\n<robot name="r"><link name="ä"/></robot>'.encode(encoding)
    )
    assert list(lgint.ModelBuilder().add_urdf(path).links) == ["ä"]


def test_elements_of_other_formats_and_stray_text_are_listed(tmp_path):
    path = robot(tmp_path, link("a", BAR + "<contact><mass/></contact>stray"), "<ros2_control/>")
    with pytest.warns(UserWarning, match="ignored are"):
        found = lgint.ModelBuilder().add_urdf(path, base="free")
    assert found.ignored == [
        "text in <link> (1)",
        "<contact>, unknown in <link> (1)",
        "<ros2_control>, unknown in <robot> (1)",
    ]


@pytest.mark.parametrize(
    ("kind", "why"),
    [
        ("fixed", "line 1, <robot name='r'>: all links are fixed"),
        ("revolute", "line 3, <link name='b'>: an <inertial>"),
    ],
)
def test_a_model_without_moving_mass_names_its_file(kind, why, tmp_path):
    path = robot(tmp_path, link("a"), link("b", ""), joint("j", kind, "a", "b"))
    b = lgint.ModelBuilder()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert b.add_urdf(path).links["b"].body == "ground"
    with pytest.raises(ValueError, match=f"needs at least one body; see add_body; .*robot.urdf, {why}"):
        b.build()


def test_files_cut_off_or_changed_anywhere_are_read_or_named(tmp_path):
    """A file with a deleted piece is read, or refused with its path; no other error escapes."""
    path = robot(
        tmp_path, *GOOD, link("c"), joint("k", "prismatic", "b", "c", '<mimic joint="j" multiplier="2" offset="0.1"/>')
    )
    text, rng = path.read_text(), np.random.default_rng(5)
    refused = 0
    for _ in range(300):
        first, count = rng.integers(len(text)), rng.integers(1, 25)
        path.write_text(text[:first] + text[first + count :])
        b = lgint.ModelBuilder()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                b.add_urdf(path, base="free")
            except ValueError as error:
                assert str(error).startswith(f"{path}, line "), error
                refused += 1
            else:
                b.build(start="project")
    assert 100 < refused < 300
