"""What is drawn of a run: surfaces that are closed and look outwards, and where they are."""

import numpy as np
import pytest

import lgint
from face import systems
from lgint._run import scene, shapes
from lgint._run.drawing import drawing

X, Y, Z = np.eye(3)


def drawn(model):
    """The drawing of a run of 0.2 s at its start and its end, and the run."""
    run = lgint.integrate(model, "genalpha", t_end=0.2, h=1e-2)
    return drawing(run.model, scene.frames(run, 2), None), run


def volume(mesh):
    """The volume inside a closed surface, by the theorem of Gauss: positive if its triangles look outwards."""
    a, b, c = (mesh.points[mesh.triangles[:, i]] for i in range(3))
    return np.einsum("ni,ni->", a, np.cross(b, c)) / 6


def is_closed(mesh):
    """Whether every edge has two triangles, which pass it in opposite directions."""
    pairs = [(t[i], t[i - 2]) for t in mesh.triangles.tolist() for i in range(3)]
    return len({*pairs}) == len(pairs) and {*pairs} == {(b, a) for a, b in pairs}


N = shapes.SIDES
AREA = N / 2 * np.sin(2 * np.pi / N)  # of a regular polygon in the unit circle


@pytest.mark.parametrize(
    ("mesh", "expected"),
    [
        (shapes.box(np.array([1.0, 2.0, 3.0]), systems.turn(0.7, (1, 2, 3)), X), 6.0),
        (shapes.cylinder(X, X + 3 * Y, 2.0), 12 * AREA),
        (shapes.cylinder(Z, 2 * Z, 0.5), 0.25 * AREA),
        (shapes.joined([shapes.box(np.ones(3)), shapes.box(np.ones(3), None, 3 * X)]), 2.0),
    ],
)
def test_volumes_of_surfaces(mesh, expected):
    assert is_closed(mesh) and volume(mesh) == pytest.approx(expected, rel=1e-12)


def test_a_ball():
    mesh = shapes.ball(X, 2.0)
    assert is_closed(mesh) and np.allclose(np.linalg.norm(mesh.points - X, axis=1), 2.0)
    assert 0.8 < volume(mesh) / (32 * np.pi / 3) < 1


def test_a_coil_winds_about_the_line_between_its_ends():
    ends = np.array([[X, X + 2 * Z], [X, X + 3 * Y]])
    for i, curve in enumerate(shapes.coil(ends, 0.1)):
        along = (ends[i, 1] - ends[i, 0]) / np.linalg.norm(ends[i, 1] - ends[i, 0])
        away = np.linalg.norm(np.cross(curve - ends[i, 0], along), axis=1)
        assert np.allclose(curve[[0, -1]], ends[i], atol=1e-15) and away.max() == pytest.approx(0.1)
        beside = np.cross(along, np.eye(3)[np.abs(along).argmin()])
        turns = np.count_nonzero(np.diff(np.sign(np.round((curve - ends[i, 0]) @ beside, 9))) == 2)
        assert turns in (shapes.TURNS, shapes.TURNS + 1)
    assert np.isfinite(shapes.coil(np.zeros((1, 2, 3)), 0.1)).all()


def test_bars_connect_joints():
    """The rods of a slider-crank are bars from joint to joint; its slider is a box."""
    run = lgint.integrate(lgint.models.slider_crank(), "genalpha", t_end=0.1, h=1e-3)
    at = scene.frames(run, 3)
    seen = drawing(run.model, at, None)
    rod = next(solid for solid in seen.bodies if solid.name == "rod")
    ends = [
        name
        for name in scene.joints(run.model)
        if "rod" in (run.model.joints[name]["first"], run.model.joints[name]["second"])
    ]
    for centre in rod.points[:, -2:].swapaxes(0, 1):  # of the ends of the cylinder
        assert any(np.allclose(centre, scene.joint_point(run.model, name, at), atol=1e-12) for name in ends)
    slider = next(solid for solid in seen.bodies if solid.name == "slider")
    assert slider.points.shape[1] == 8


def test_a_body_with_one_joint_outside_its_box_has_an_arm():
    seen, _ = drawn(lgint.models.heavy_top())
    (top,) = seen.bodies
    assert top.points.shape[1] == 8 + 2 * N + 2
    assert np.allclose(top.points[:, -1], 0, atol=1e-12)  # the pivot is the origin


def joints(kind, **given):
    b = lgint.ModelBuilder(gravity=(0, 0, -9.81))
    b.add_body("bob", mass=1.0, inertia=(0.01, 0.01, 0.01), position=(1, 0, 0))
    b.add_joint(kind, lgint.ground, "bob", **given)
    return drawn(b.build())


def test_a_pin_lies_along_the_axis_of_its_joint():
    (pin,) = joints("revolute", point=(0, 0, 0), axis=Y)[0].joints
    assert np.allclose(pin.points.mean(axis=1), 0, atol=1e-12)
    assert np.ptp(pin.points[0] @ Y) == pytest.approx(1.5 * np.ptp(pin.points[0] @ X), rel=0.2)


def test_a_sleeve_moves_along_its_rail():
    seen, run = joints("prismatic", point=(0, 0, 0), axis=Z)
    rail, sleeve = seen.joints
    way = run.position("bob")[-1, 2]
    assert np.allclose(rail.points[0], rail.points[1]) and np.ptp(rail.points[0] @ Z) == pytest.approx(-way)
    assert np.allclose(sleeve.points.mean(axis=1), [(0, 0, 0), (0, 0, way)], atol=1e-12)


def test_a_distance_is_a_bar():
    seen, run = joints("distance", point_a=(0, 0, 0), point_b=(0, 0, 0))
    (bar,) = seen.joints
    assert np.allclose(bar.points[:, -2], 0) and np.allclose(bar.points[:, -1], run.position("bob")[[0, -1]])


def contact(shape, **given):
    b = lgint.ModelBuilder(gravity=(0, 0, -9.81))
    b.add_body("one", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(1, 2, 3))
    plane = ("plane", (0, 0, 1), (0, 0, 1))
    b.add_contact("one", lgint.ground, shapes=[shape, plane], stiffness=1e4, **given)
    return drawn(b.build())


@pytest.mark.parametrize(
    ("shape", "spans"),
    [
        (("sphere", (0, 0, 1), 0.5), (1, 1, 1)),
        (("capsule", ((0, 0, -1), (0, 0, 1)), 0.5), (1, 1, 3)),
        (("disc", (0, 0, 0), (0, 0, 1), 0.5), (1, 1, 0.05)),
        (("box", (0, 0, 0), (0.5, 1, 1.5)), (1, 2, 3)),
    ],
)
def test_bodies_have_the_shapes_of_their_contacts(shape, spans):
    seen, _ = contact(shape)
    (one,) = seen.bodies
    assert np.allclose(np.ptp(one.points[0], axis=0), spans, rtol=0.05)
    (plane,) = seen.planes
    assert np.allclose(plane.points[..., 2], 1.0)
    assert np.allclose(plane.points[0].min(axis=0)[:2], seen.low[:2]) and seen.springs == []


def test_a_wheel_rolls_on_its_plane():
    b = lgint.ModelBuilder(gravity=(0, 0, -9.81))
    b.add_body(
        "wheel", mass=1.0, inertia=(1, 2, 1), position=(0, 0, 0.5), velocity=(1, 0, 0), angular_velocity=(0, 2, 0)
    )
    b.add_rolling("wheel", axis=(0, 1, 0), radius=0.5)
    seen, run = drawn(b.build())
    (wheel,), (plane,) = seen.bodies, seen.planes
    assert np.abs(wheel.points[..., [0, 2]] - run.position("wheel")[[0, -1], None][..., [0, 2]]).max() == pytest.approx(
        0.5
    )
    assert np.allclose(plane.points[..., 2], 0, atol=1e-12)


def test_joints_inside_boxes_are_not_drawn():
    run = lgint.integrate(systems.pendulum(), "rk44", t_end=0.1, h=1e-2)
    at = scene.frames(run, 2)
    assert [solid.name for solid in drawing(run.model, at, None).joints] == ["pin"]
    assert drawing(run.model, at, {"bar": (0.5, 0.5, 2.0)}).joints == []
