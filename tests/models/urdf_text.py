"""URDF files of bars, as text."""

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
