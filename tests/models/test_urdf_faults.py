"""URDF files with a fault: errors that name the line and the element, and what is ignored."""

import re
import warnings

import numpy as np
import pytest

import lgint
from urdf_text import BAR, joint, link, robot

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
