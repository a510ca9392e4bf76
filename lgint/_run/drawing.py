"""What films and views draw of a run: the surfaces of its bodies, rods, joints and planes, and the coils of springs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from lgint._args import Array, choice, shown
from lgint._model.model import Model
from lgint._model.record import JointRow, RodRow, partners
from lgint._run import scene, shapes
from lgint._run.scene import COLORS, THIN, Box, Frames
from lgint._run.shapes import Mesh

MOST: Final = 200  # nodes of a rod that are drawn
ROD_SIDES: Final = 10  # corners of a rod's section
SLENDER: Final = 3.0  # a box is a bar if its longest edge is this many times the next one
BESIDE: Final = 0.15  # of the length of a bar: if the centre of mass is farther from it, the bar has a bend there
JOINT: Final = "#4a5459"
PLANE: Final = "#8a949a"


class Solid(NamedTuple):
    """A surface in motion: points (frames, n, 3), and triangles (m, 3) as indices of points."""

    name: str
    color: str
    points: Array
    triangles: Array


class Drawing(NamedTuple):
    """Everything that is drawn of a run at some of its states.

    Attributes
    ----------
    bodies, rods, joints, planes : list of Solid
    springs : list of ndarray, shapes (frames, n, 3)
    dots : dict of ndarray, shapes (frames, 3)
        The nodes of flexible bodies.
    low, high : ndarray, shape (3,)
        The smallest and the largest coordinates, with a margin.
    """

    bodies: list[Solid]
    rods: list[Solid]
    joints: list[Solid]
    planes: list[Solid]
    springs: list[Array]
    dots: dict[str, Array]
    low: Array
    high: Array


def drawing(model: Model, at: Frames, given: Mapping[str, ArrayLike] | None) -> Drawing:
    """What is drawn of a model at some states; `given` are the edges of boxes by the names of bodies."""
    boxes = scene.boxes(model, scene.solid_bodies(model), given)
    own = _own_shapes(model)
    points = _attachments(model)
    low, high = _extent(model, at, {name: box for name, box in boxes.items() if name not in own}, own)
    size = float((high - low).max())
    springs = [_coil(ends, size) for ends in scene.springs(model, at)]
    meshes = dict(_bodies(model, at, boxes, own, points, given or {}, size))
    around = {name: box for name, box in boxes.items() if len(meshes[name].points) == len(shapes.CORNERS)}
    return Drawing(
        [_placed(model, at, name, color_of(model, name), mesh) for name, mesh in meshes.items()],
        [_rod(model, at, name, rod, COLORS[i % len(COLORS)], size) for i, (name, rod) in enumerate(model.rods.items())],
        [*_joints(model, at, around, THIN * size)],
        [*_planes(model, at, low, high)],
        springs,
        scene.nodes(model, at),
        low,
        high,
    )


def color_of(model: Model, name: str) -> str:
    """The colour of a body: that of its surface or its rod."""
    solid = scene.solid_bodies(model)
    if name in solid:
        return COLORS[solid.index(name) % len(COLORS)]
    return COLORS[next(i for i, rod in enumerate(model.rods.values()) if name in rod["nodes"]) % len(COLORS)]


def followed(model: Model, what: str, paths: bool | Sequence[str]) -> list[str]:
    """The bodies whose paths are drawn: those named, or all if there are few and the last nodes of rods."""
    if isinstance(paths, str) or not np.iterable(paths) and not isinstance(paths, (bool, np.bool_)):
        raise ValueError(f"{what}: True, False or a list of names of bodies expected, got {shown(paths)}")
    if not isinstance(paths, (bool, np.bool_)):
        return [choice("body", name, model.bodies) for name in paths]
    if not paths:
        return []
    solid = scene.solid_bodies(model)
    ends = [rod["nodes"][-1] for rod in model.rods.values() if rod["nodes"][-1] in model.bodies]
    return [*(solid if len(solid) <= len(COLORS) else []), *ends]


def _placed(model: Model, at: Frames, name: str, color: str, mesh: Mesh) -> Solid:
    """A surface that is fixed to a body, a support or the ground."""
    x, R, *_ = model.kinematics(name, at.q, at.v, at.t)
    return Solid(name, color, x[..., None, :] + mesh.points @ np.swapaxes(R, -1, -2), mesh.triangles)


def _extent(model: Model, at: Frames, boxes: Mapping[str, Box], own: Mapping[str, list[Mesh]]) -> tuple[Array, Array]:
    """The smallest and the largest coordinates (3,) of everything that is drawn, with a margin."""
    meshes = {name: shapes.box(box.size, box.axes) for name, box in boxes.items()}
    meshes |= {name: shapes.joined(parts) for name, parts in own.items()}
    solids = [_placed(model, at, name, "", mesh).points for name, mesh in meshes.items()]
    x = model.motions(list(model.bodies), at.q, at.v, at.t)[0]
    joints = [scene.joint_point(model, name, at)[:, None] for name in scene.joints(model)]
    everything = np.concatenate([x, *solids, *joints, *scene.springs(model, at)], axis=1)
    low, high = everything.min(axis=(0, 1)), everything.max(axis=(0, 1))
    margin = 0.05 * float((high - low).max())
    low, high = low - margin, high + margin
    # motions in a plane or on a line get some depth
    missing = np.maximum(0.2 * max(float((high - low).max()), 1e-6) - (high - low), 0) / 2
    return low - missing, high + missing


# ---- bodies ----


def _attachments(model: Model) -> dict[str, Array]:
    """The points (n, 3) of each body at which joints and springs hold it, in its axes; joints come first."""
    found: dict[str, list[Any]] = {name: [] for name in scene.solid_bodies(model)}
    for name in scene.joints(model):
        row = model.joints[name]
        for who, point in zip(partners(row), row["points"], strict=True):
            if who in found and row["kind"] not in ("rolling", "knife_edge"):
                found[who].append(point)
    for spring in scene.spring_rows(model):
        for who, point in zip(spring["bodies"], spring["points"], strict=True):
            if who in found:
                found[who].append(point)
    return {name: np.array(points, dtype=float).reshape(-1, 3) for name, points in found.items()}


def _bodies(
    model: Model,
    at: Frames,
    boxes: Mapping[str, Box],
    own: Mapping[str, list[Mesh]],
    points: Mapping[str, Array],
    given: Mapping[str, ArrayLike],
    size: float,
) -> Iterator[tuple[str, Mesh]]:
    """The surface of each body: its given box, the shapes of its contacts, bars between its joints, or its own box."""
    thin = THIN * size
    crowded = {*_crowded(model, at, boxes)}
    for name, box in boxes.items():
        ends = _distinct(points[name], thin / 2)
        shape = [shapes.box(np.maximum(box.size, thin), box.axes)]
        if name in own and name not in given:
            yield name, shapes.joined([*own[name], *_arms(ends, box, thin)])
        elif name not in given and len(ends) > 1 and (name in crowded or _is_slender(box)):
            yield name, shapes.joined(_bars(ends, thin))
        else:
            yield name, shapes.joined([*shape, *_arms(ends, box, thin)])


def _distinct(points: Array, near: float) -> Array:
    """The points without those that are near an earlier one."""
    kept: list[Array] = []
    for point in points:
        if all(np.linalg.norm(point - other) > near for other in kept):
            kept.append(point)
    return np.array(kept).reshape(-1, 3)


def _is_slender(box: Box) -> bool:
    shortest, middle, longest = np.sort(box.size)
    return bool(longest > SLENDER * middle)


def _bars(ends: Array, thin: float) -> list[Mesh]:
    """A bar between two points, or bars from the centre of mass to each of the points."""
    along = ends[1] - ends[0]
    off = np.linalg.norm(np.cross(along, ends[0])) / float(along @ along)  # of the centre of mass, over the length
    if len(ends) == 2 and off < BESIDE:
        return [shapes.cylinder(ends[0], ends[1], 0.6 * thin)]
    centre = np.zeros(3)
    return [shapes.cylinder(centre, end, 0.6 * thin) for end in ends if end.any()] + [shapes.ball(centre, 0.6 * thin)]


def _arms(ends: Array, box: Box, thin: float) -> list[Mesh]:
    """Thin bars from the surface of the box to the points outside it, on lines from the centre of mass."""
    ratios = (np.abs(ends @ box.axes) / (np.maximum(box.size, thin) / 2)).max(axis=1, initial=0.0)
    far = ratios > 1 + 1e-9  # the points outside, and how many times farther away than the surface they are
    return [shapes.cylinder(end / ratio, end, 0.4 * thin) for end, ratio in zip(ends[far], ratios[far], strict=True)]


def _crowded(model: Model, at: Frames, boxes: Mapping[str, Box]) -> Iterator[str]:
    """The boxes that contain centres of mass of other bodies at the start."""
    x, R = (part[0] for part in model.motions(list(boxes), at.q[:1], at.v[:1], at.t[:1])[:2])
    for i, (name, box) in enumerate(boxes.items()):
        away = np.abs((np.delete(x, i, axis=0) - x[i]) @ R[i] @ box.axes)
        if (away < box.size / 2).all(axis=1).any():
            yield name


def _own_shapes(model: Model) -> dict[str, list[Mesh]]:
    """The shapes of contacts and the rolling wheels, by the names of their bodies, in their axes."""
    found: dict[str, list[Mesh]] = {}
    for side, body, row in _contacts(model):
        if body in model.bodies and (mesh := _contact_shape(row, side)):
            found.setdefault(body, []).append(mesh)
    for joint in model.joints.values():
        if joint["kind"] == "rolling" and joint["second"] in model.bodies:
            row = dict(joint)
            wide = row["tube"] or 0.05 * row["radius"]
            centre, half = np.array(row["points"][1]), wide * np.array(row["axis"])
            wheel = shapes.cylinder(centre - half, centre + half, row["radius"] + row["tube"])
            found.setdefault(joint["second"], []).append(wheel)
    solid = scene.solid_bodies(model)
    return {name: meshes for name, meshes in found.items() if name in solid}


def _contacts(model: Model) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """Each side of each contact: "a" or "b", the body, and the row."""
    for row in model.record()["forces"].values():
        if row["kind"].startswith("contact_"):
            yield from ((side, body, row) for side, body in zip("ab", row["bodies"], strict=True))


def _contact_shape(row: Mapping[str, Any], side: str) -> Mesh | None:
    """The surface of a shape of a contact; None for a plane."""
    value = {key.removesuffix(f"_{side}"): np.array(row[key]) for key in row if key.endswith(f"_{side}")}
    if "half_sizes" in value:
        return shapes.box(2 * value["half_sizes"], value["axes"].reshape(3, 3), value["center"])
    if "other_end" in value:
        ends = value["end"], value["other_end"]
        radius = float(value["radius"])
        return shapes.joined([shapes.cylinder(ends[0], ends[1], radius), *(shapes.ball(end, radius) for end in ends)])
    if "axis" in value:
        half = 0.05 * value["radius"] * value["axis"]
        return shapes.cylinder(value["center"] - half, value["center"] + half, float(value["radius"]))
    return shapes.ball(value["center"], float(value["radius"])) if "center" in value else None


# ---- rods, joints, springs, planes ----


def _rod(model: Model, at: Frames, name: str, rod: RodRow, color: str, size: float) -> Solid:
    """A rod as a tube, whose radius is limited so that it is neither invisible nor hides other things."""
    tube = scene.tube(model, rod, at, MOST)
    angles = np.linspace(0, 2 * np.pi, ROD_SIDES, endpoint=False)
    ring = np.clip(tube.radius, 0.25 * THIN * size, THIN * size) * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    points = tube.x[:, :, None] + np.einsum("fnij,kj->fnki", tube.directors, ring)
    triangles = shapes.tube_triangles(tube.x.shape[1], ROD_SIDES, closed=False)
    return Solid(name, color, points.reshape(len(at.t), -1, 3), triangles)


def _joints(model: Model, at: Frames, boxes: Mapping[str, Box], thin: float) -> Iterator[Solid]:
    """Pins about their axes, balls, sleeves on their rails, and constant distances as bars; none inside a box."""
    for name in scene.joints(model):
        row = model.joints[name]
        if row["kind"] == "distance":
            ends = np.stack([scene.joint_point(model, name, at, slot) for slot in (0, 1)], axis=1)
            yield _strut(name, ends, 0.4 * thin)
        elif _is_inside(row, boxes, thin):
            continue
        elif "triads" in row and "of" not in row and "coupled" not in row and row["kind"] != "free":
            yield from _joint(model, at, name, thin)


def _is_inside(row: JointRow, boxes: Mapping[str, Box], thin: float) -> bool:
    """Whether the box of one of its bodies hides a joint."""
    for who, point in zip(partners(row), row["points"], strict=True):
        if who in boxes and (np.abs(np.array(point) @ boxes[who].axes) + 2 * thin < boxes[who].size / 2).all():
            return True
    return False


def _joint(model: Model, at: Frames, name: str, thin: float) -> Iterator[Solid]:
    row = model.joints[name]
    triad = np.array(row["triads"][1])
    along, kind = triad[:, 2], row["kind"]
    point = np.array(row["points"][1])
    if kind in ("prismatic", "cylindrical", "inline"):
        yield from _rail(model, at, name, 0.3 * thin)
    if kind in ("revolute", "cylindrical"):
        mesh = shapes.cylinder(point - 1.5 * thin * along, point + 1.5 * thin * along, thin)
    elif kind in ("prismatic", "rigid", "planar"):
        edges = {"prismatic": (1.8, 1.8, 4.0), "rigid": (1.4, 1.4, 1.4), "planar": (4.0, 4.0, 0.8)}[kind]
        mesh = shapes.box(thin * np.array(edges), triad, point)
    else:
        mesh = shapes.ball(point, 1.1 * thin)
    yield _placed(model, at, row["second"], JOINT, mesh)._replace(name=name)


def _rail(model: Model, at: Frames, name: str, radius: float) -> Iterator[Solid]:
    """The range of a slide along its axis, if it moves."""
    row = model.joints[name]
    x, R, *_ = model.joint_kinematics(name, 0, at.q, at.v, at.t)
    along, point = np.array(row["triads"][0])[:, 2], np.array(row["points"][0])
    way = np.einsum("fi,fij,j->f", scene.joint_point(model, name, at) - x, R, along)
    if np.ptp(way) > radius:
        mesh = shapes.cylinder(point + min(way.min(), 0.0) * along, point + max(way.max(), 0.0) * along, radius)
        yield _placed(model, at, row["first"], JOINT, mesh)._replace(name=name)


def _strut(name: str, ends: Array, radius: float) -> Solid:
    """A bar between ends (frames, 2, 3)."""
    meshes = [shapes.cylinder(start, end, radius) for start, end in ends]
    return Solid(name, JOINT, np.stack([mesh.points for mesh in meshes]), meshes[0].triangles)


def _coil(ends: Array, size: float) -> Array:
    """A spring, whose coils get narrower if it is short."""
    longest = float(np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1).max())
    return shapes.coil(ends, min(1.5 * THIN * size, 0.15 * longest))


def _planes(model: Model, at: Frames, low: Array, high: Array) -> Iterator[Solid]:
    """Rectangles of the planes of contacts and of rolling wheels, as large as the scene and each of them once."""
    seen: set[tuple[Any, ...]] = set()
    for body, point, normal in _plane_rows(model):
        key = body, *np.round(normal, 9), round(float(point @ normal), 9)
        if key in seen:
            continue
        seen.add(key)
        x, R, *_ = (part[0] for part in model.kinematics(body, at.q[:1], at.v[:1], at.t[:1]))
        e1 = np.cross(normal, np.eye(3)[np.abs(normal).argmin()])
        e1 /= np.linalg.norm(e1)
        axes = np.stack([e1, np.cross(normal, e1)])
        around = ((shapes.CORNERS + 0.5) * (high - low) + low - x) @ R - point  # the corners of the scene
        (a, b), (c, d) = (around @ axes.T).min(axis=0), (around @ axes.T).max(axis=0)
        corners = point + np.array([(a, b), (c, b), (c, d), (a, d)]) @ axes
        mesh = Mesh(corners, np.array([[0, 1, 2], [0, 2, 3]]))
        yield _placed(model, at, body, PLANE, mesh)


def _plane_rows(model: Model) -> Iterator[tuple[str, Array, Array]]:
    """The body, a point and the normal of every plane."""
    for side, body, row in _contacts(model):
        if f"normal_{side}" in row:
            yield body, np.array(row[f"origin_{side}"]), np.array(row[f"normal_{side}"])
    for joint in model.joints.values():
        if joint["kind"] == "rolling":
            row = dict(joint)
            yield joint["first"], np.array(row["points"][0]), np.array(row["plane"])[:, 2]
