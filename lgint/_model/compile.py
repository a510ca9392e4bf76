"""From the record of a model to the system of the core: blocks, frames and elements."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import accumulate, chain
from typing import Any, Final, NamedTuple, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lgint import _core
from lgint._args import Array, takes_one
from lgint._model.blocks import Block, blocks_of, first_velocities, root_motions
from lgint._model.compiled import CompiledFunction
from lgint._model.frames import ZERO, Frame, Frames, in_node
from lgint._model.joints import TREE_JOINTS
from lgint._model.laws import ForceLaw, ReadTangent, StateMaker, StrainLaw, TurnedLaw, TurnedLoad
from lgint._model.motion import coordinate_motion, motion
from lgint._model.parameters import DECLARED, row_of
from lgint._model.record import (
    EDGES,
    BodyRow,
    ControlRow,
    ForceRow,
    JointRow,
    LoadRow,
    Matrix,
    Record,
    Vector,
    partners,
)

GRAVITY: Final = "gravity"
_EDGES: Final = frozenset(EDGES.values())
CONTROL: Final = "control"  # stands for a sampled control in the list of what has memory
COM: Final = "com"  # the node of a flexible body at its centre of mass

ROWS: Final = {row["name"]: row["nrows"] for row in _core.ELEMENTS}  # number of constraint rows
_PARAMETERS: Final = {kind: [*declared.parameters.items()] for kind, declared in DECLARED.items()}
MEMORY: Final = {row["name"]: row["nmem"] for row in _core.ELEMENTS}  # number of values of memory
KINKS: Final = frozenset(row["name"] for row in _core.ELEMENTS if row["kinks"])  # whose forces or slopes jump


Function = Callable[..., ArrayLike] | ForceLaw | CompiledFunction | None


class Element(NamedTuple):
    """A body, force or joint of the core."""

    kind: str
    name: str
    frames: Sequence[int]  # one or two
    parameters: Sequence[float]
    function: Function = None
    implied: Sequence[int] = ()  # constraint rows that others imply: inactive at first, or omitted without a loop
    loop: int = 0  # a number from 1 on that joints have in common whose rows imply one another
    reads: tuple[int, ...] | None = None  # of a law that is called with a state: the blocks of its differences


class Description(NamedTuple):
    """What a model of the core is made of, in the order in which it takes them."""

    blocks: Sequence[Block]
    frames: NDArray[np.intc]  # (m, 2): block and part
    points: Array  # (m, 6): base and offset
    elements: list[tuple[Any, ...]]  # kind, name, function and its tangent, or None; of laws of a state what they read
    numbers: NDArray[np.intc]  # (n, 5): frames (-1: none), number of parameters, loop, bits of implied rows
    parameters: Array  # of all elements, one after the other

    @classmethod
    def of(cls, blocks: Sequence[Block], frames: Iterable[Frame], elements: Iterable[Element]) -> Description:
        """The description of these parts; the frames are those that there are once all elements are made."""
        names, numbers, parameters = [], list[int](), Vector()
        for kind, name, at, own, function, implied, loop, reads in elements:
            called = _called(name, function) if function else _NO_LAW
            names.append((kind, name, *called) if reads is None else (kind, name, *called, reads))
            bits = sum([1 << row for row in implied]) if implied else 0
            numbers += at[0], at[1] if len(at) == 2 else -1, len(own), loop, bits
            parameters += own
        rows = np.fromiter(chain.from_iterable(frames), np.float64).reshape(-1, 8)
        listed = np.fromiter(numbers, np.intc, len(numbers)).reshape(-1, 5)
        flat = np.fromiter(parameters, np.float64, len(parameters))
        return cls(blocks, rows[:, :2].astype(np.intc), rows[:, 2:].copy(), names, listed, flat)


_NO_LAW: Final = None, None


def _called(name: str, function: Function) -> tuple[Any, Any]:
    """The function that the core calls, and that of its derivatives, or None; a compiled one gives both in one call."""
    if isinstance(function, CompiledFunction):
        return function.capsule(f"the function of {name!r}"), None
    if isinstance(function, ForceLaw):
        return function.function, function.tangent
    return function, getattr(function, "tangent", None)


class JointIndices(NamedTuple):
    """The numbers by which the core knows a joint."""

    element: int
    blocks: tuple[int, int]  # the blocks of both bodies; -1: the ground
    frames: tuple[int, int]
    slide: tuple[int, int]  # its slide is the distance between these frames along the axis of the first one
    link: int | None  # if the joint holds a link, the number of that link in its tree
    # of such a joint: for each coordinate, the frame of its link, and its index in q and in v within the block
    coordinates: dict[str, tuple[int, int, int]]
    # the first index and the number of its coordinates and of its velocities, likewise
    held: tuple[tuple[int, int], tuple[int, int]]
    forces: tuple[int, ...]  # the elements of drives and force laws in it


class Maker(NamedTuple):
    """A function that makes one element of the core from the record."""

    owners: tuple[str, ...]  # names of the parts of the model whose numbers the element depends on
    make: Callable[..., Element]
    arguments: tuple[Any, ...]  # those before the record
    share: Callable[[Record, str], tuple[int, Vector]] | None  # of each owner: where they start, and its parameters

    def remade(self, record: Record, owner: str) -> tuple[int, Sequence[float]]:
        """The parameters that depend on an owner, and where they start among those of the element."""
        if self.share is None:
            return 0, self.make(*self.arguments, record).parameters
        return self.share(record, owner)


# of a maker; most are used once, and need no name
Parts = tuple[
    tuple[str, ...], Callable[..., Element], tuple[Any, ...], Callable[[Record, str], tuple[int, Vector]] | None
]


@dataclass(frozen=True)
class Compiled:
    """A system of the core, and the numbers by which it knows the named parts of a model."""

    record: Record
    core: _core.Model
    parameters: Array  # of all elements, one after the other
    starts: list[int]  # where those of each element start, and where the last ones end
    weights: slice  # those of all weights: mass and gravity of each body
    frames: dict[str, int]  # the frames at the COMs of bodies, at nodes and at supports
    joints: dict[str, JointIndices]
    supports: dict[str, int]  # the elements of supports
    memory: list[tuple[str, int]]  # kind and number of values of the elements that have memory, in the order of `mem`
    has_kinks: bool  # whether some force, or its slope, jumps somewhere along a motion
    states: StateMaker | None  # which laws are called with; None: no law is

    @cached_property
    def makers(self) -> list[Maker]:
        """One for each element."""
        return [Maker(*parts) for parts in _makers(self.record, Frames(self.record), {})]

    @cached_property
    def owned(self) -> dict[str, list[int]]:
        """The elements that depend on each part of the model."""
        owned: dict[str, list[int]] = {}
        for element, maker in enumerate(self.makers):
            for owner in maker.owners:
                owned.setdefault(owner, []).append(element)
        return owned


def described(record: Record, frames: Frames, joints: dict[str, JointIndices]) -> Description:
    """The description of the system of a record, whose frames are given; enters the indices of all joints."""
    elements = (make(*arguments, record) for _, make, arguments, _ in _makers(record, frames, joints))
    return Description.of(blocks_of(record), frames, elements)


def compiled(record: Record) -> Compiled:
    """The system that a record describes."""
    frames, joints = Frames(record), dict[str, JointIndices]()
    description = described(record, frames, joints)
    starts = [*accumulate(description.numbers[:, 2].tolist(), initial=0)]
    bodies, weights = frames.elements()
    weighed = slice(starts[bodies], starts[bodies + weights])
    supports = {name: i for i, name in enumerate(record["supports"])}
    memory = [(element[0], MEMORY[element[0]]) for element in description.elements if MEMORY[element[0]]]
    memory += [(CONTROL, 1 + value_count(row)) for row in record.get("controls", {}).values() if row["every"]]
    controls = _controls(record, frames, joints)
    states = StateMaker() if controls or max(map(len, description.elements)) > 4 else None
    core = _core.Model(*description, states, controls)
    numbers = description.parameters, starts, weighed
    has_kinks = any(element[0] in KINKS for element in description.elements)
    return Compiled(record, core, *numbers, frames.named, joints, supports, memory, has_kinks, states)


def _makers(record: Record, frames: Frames, joints: dict[str, JointIndices]) -> Iterator[Parts]:
    """The parts of the makers of all elements, in their order; enters the indices of all joints in `joints`."""
    yield from _supports(record, frames)
    yield from _inertia(record, frames)
    yield from _weights(record, frames)
    joints |= _joint_indices(record, frames)
    for name, indices in joints.items():
        if indices.link is None:
            yield (name,), _joint, (name, indices.frames), None
    for name, force in record["forces"].items():
        yield (name,), _force, (name, _attached(force, frames), joints), None
    yield from _efforts(record, frames, joints)


_NOT_HELD: Final[tuple[dict[str, tuple[int, int, int]], Any]] = {}, ((0, 0), (0, 0))


def _joint_indices(record: Record, frames: Frames) -> dict[str, JointIndices]:
    """The indices of joints, whose elements follow those of bodies and weights and come before those of forces."""
    number = sum(frames.elements())
    forces: dict[str, tuple[int, ...]] = {}
    for i, force in enumerate(record["forces"].values(), number + len(record["joints"]) - len(frames.holders)):
        if "joint" in force:
            forces[force["joint"]] = *forces.get(force["joint"], ()), i
    trees = {block: element for element, block in enumerate(frames.trees, len(record["supports"]))}
    found_joints = {}
    for name, joint in record["joints"].items():
        one, other = partners(joint)
        first, second = joint["points"]
        ends = a, b = frames.at(one, first), frames.at(other, second)
        blocks = frames.block(one), frames.block(other)
        slide = (frames.at(one, joint["slide_point"]), b) if "slide_point" in joint else ends
        held = joint.get("holds")
        element, link = (trees[blocks[1]], frames.links[other].last) if held else (number, None)
        found, span = (frames.coordinates(joint, b), frames.span(joint)) if held else _NOT_HELD
        found_joints[name] = JointIndices(element, blocks, ends, slide, link, found, span, forces.get(name, ()))
        number += not held
    return found_joints


def start_memory(model: Compiled, record: Record) -> Array:
    """The memory from which that of a start follows: angles of joints from half a turn on, also as forces keep them."""
    memory = np.zeros(model.core.nmem)
    for name, held in held_values(model, record).items():
        memory[held.stop - len(record["controls"][name]["states"]) : held.stop] = [
            *record["controls"][name]["states"].values()
        ]
    for name, joint in record["joints"].items():
        if "angle" in joint:
            for element in (model.joints[name].element, *model.joints[name].forces):
                *_, first, count = model.core.rows(element)
                memory[first : first + min(count, 1)] = joint["angle"]
    efforts = sum(map(element_count, record.get("controls", {}).values()))
    for element, force in enumerate(record["forces"].values(), len(model.starts) - 1 - efforts - len(record["forces"])):
        if "angles" in force:
            *_, first, count = model.core.rows(element)
            memory[first : first + count] = force["angles"]
    return memory


def held_values(model: Compiled, record: Record) -> dict[str, slice]:
    """Where the values of sampled controls are in the memory, behind a number that is zero before the first sample."""
    found, end = {}, sum(count for kind, count in model.memory if kind != CONTROL)
    for name, row in record.get("controls", {}).items():
        if row["every"]:
            first, end = end + 1, end + 1 + value_count(row)
            found[name] = slice(first, end)
    return found


def parameters_of(model: Compiled, parameters: Array, record: Record, owners: Set[str]) -> Array:
    """The parameters of all elements of a model, of which those that depend on some parts of a record are made anew."""
    made: Array = parameters.copy()
    if GRAVITY in owners:
        made[model.weights].reshape(-1, 4)[:, 1:] = record["gravity"]
    for owner in owners:
        for element in model.owned.get(owner, ()):
            first, own = model.makers[element].remade(record, owner)
            start = model.starts[element] + first
            made[start : start + len(own)] = own
    return made


# ---- elements ----


def _element(
    kind: str,
    name: str,
    frames: tuple[int, ...],
    values: dict[str, Any],
    function: Function = None,
    implied: Sequence[int] = (),
    loop: int = 0,
) -> Element:
    """An element with its parameters by name, in the order of the row of its kind."""
    parameters: Vector = []
    for key, declared in _PARAMETERS[kind]:
        value = values[key]
        if type(value) is float:
            parameters.append(value)
        elif type(value) is str:
            parameters.append(declared.choices.index(value))
        else:
            parameters += value if type(value) is list and value and type(value[0]) is float else _flat(value)
    return Element(kind, name, frames, parameters, function, implied, loop)


def _flat(values: Any) -> Iterable[float]:
    """All numbers of an array, of a list, or of a list of lists; a single number."""
    if isinstance(values, np.ndarray):
        return cast(Vector, values.ravel().tolist())
    if isinstance(values, (int, float)):
        return (values,)
    return chain.from_iterable(values) if values and isinstance(values[0], list) else values


def _supports(record: Record, frames: Frames) -> Iterator[Parts]:
    """The frames in space that bodies attach to, with their motions."""
    for name in record["supports"]:
        yield (name,), _support, (name, frames.com(name)), None


def _support(name: str, at: int, record: Record) -> Element:
    support = record["supports"][name]
    return _element("support", name, (at,), dict(support), motion(name, support))


def _inertia(record: Record, frames: Frames) -> Iterator[Parts]:
    """One element for each tree, and then for each rigid or flexible body."""
    for links in frames.trees.values():
        yield (*links,), _tree, (links, frames, frames.origin(links[0])), partial(_share, frames=frames)
    for name, body in record["bodies"].items():
        if body["modes"]:
            yield (name,), _modal_body, (name, frames.com(name)), None
        elif name not in frames.links:
            yield (name,), _rigid_body, (name, _moment(body, frames.coms[name]), frames.origin(name)), None


def _tree(links: list[str], frames: Frames, at: int, record: Record) -> Element:
    values = {"links": [number for name in links for number in _links(record, name, frames)]}
    return _element("tree", f"{links[0]}.tree", (at,), values)


def _share(record: Record, name: str, frames: Frames) -> tuple[int, Vector]:
    """Where the parameters of a body start in those of its tree, and these parameters."""
    own, link = _links(record, name, frames), frames.links[name]
    return len(own) // (link.last - link.first + 1) * link.first, own


def _modal_body(name: str, at: int, record: Record) -> Element:
    return _element("modal_body", name, (at,), _modal(record["bodies"][name]))


def _moment(body: BodyRow, com: Sequence[float]) -> Vector | None:
    """The inertia (6,) of a unit mass at the COM about the node, in the node's axes; None: they coincide."""
    if not any(com):
        return None
    c = in_node(body, np.array(com))
    return _six((c @ c * np.eye(3) - np.outer(c, c)).tolist())


def _rigid_body(name: str, moment: Vector | None, at: int, record: Record) -> Element:
    """A body with its inertia about the node in the node's axes."""
    body = record["bodies"][name]
    inertia = body["inertia"] or []
    if body["reference"] is not None:
        inertia = in_node(body, in_node(body, np.array(inertia)).T).tolist()
    six, mass = _six(inertia), body["mass"]
    if moment is not None:
        six = [own + mass * more for own, more in zip(six, moment, strict=True)]
    return _element("rigid_body", name, (at,), {"mass": mass, "inertia": six})


def _six(inertia: Matrix) -> Vector:
    """The entries xx, yy, zz, xy, xz, yz of a symmetric matrix."""
    (xx, xy, xz), (_, yy, yz), (*_, zz) = inertia
    return [xx, yy, zz, xy, xz, yz]


def _links(record: Record, name: str, frames: Frames) -> Vector:
    """The parameters of the links on which a body is: those of its joint, and the last one with its own inertia.

    Of each: its parent, its joint, its pose on the parent at coordinate zero, and its inertia.
    """
    body, links, holder = record["bodies"][name], frames.links[name], frames.holders.get(name)
    if holder is None:
        parent, R, point, axes = -1, _IDENTITY, body["pivot"]["point"] if body["pivot"] else ZERO, _IDENTITY
        motions = root_motions(body)
    else:
        joint = record["joints"][holder]
        first, axes = np.array(joint["triads"])
        x, y, z = joint.get("slide_point", joint["points"][0])
        a, b, c = ZERO if joint["first"] == "ground" else frames.coms[joint["first"]]
        parent = frames.links[joint["first"]].last if joint["first"] != "ground" else -1
        R, point, motions = first @ axes.T, (x + a, y + b, z + c), TREE_JOINTS[joint["kind"]]
    inertia = body["mass"], *frames.coms[name], *_six(body["inertia"] or [])
    values: Vector = []
    for number, (kind, axis) in enumerate(motions, links.first):
        last = number == links.last
        values += parent, _MOTIONS.index(kind), not last, *R.ravel().tolist(), *point, *axes[:, axis].tolist()
        values += inertia if last else (0.0,) * 10
        parent, R, point = number, _IDENTITY, ZERO
    return values


_MOTIONS: Final = ("turn", "slide", "node")
_IDENTITY: Final = np.eye(3)


def _modal(body: BodyRow) -> dict[str, Any]:
    modes = body["modes"] or {}
    nodes = [(node["X"], np.transpose(node["Phi"]), np.transpose(node["Psi"])) for node in modes["nodes"].values()]
    arrays = [modes[name] for name in ("shapes", "mixed", "products", "stiffness", "damping")]
    data = np.concatenate([np.ravel(values) for values in (*arrays, *(array for node in nodes for array in node))])
    return {"mass": body["mass"], "first": modes["first"], "second": modes["second"], "data": data}


def _weights(record: Record, frames: Frames) -> Iterator[Parts]:
    """Gravity at the COM of each body."""
    if not any(record["gravity"]):
        return
    for name, body in record["bodies"].items():
        at = frames.com(f"{name}.{COM}" if body["modes"] else name)
        yield (name,), _weight, (name, at), None


def _weight(name: str, at: int, record: Record) -> Element:
    values = {"mass": record["bodies"][name]["mass"], "gravity": record["gravity"]}
    return _element("gravity", f"{name}.gravity", (at,), values)


def _joint(name: str, frames: tuple[int, int], record: Record) -> Element:
    """The element of a joint that has constraint rows."""
    joint, rows = record["joints"][name], _rows(record, name)
    if "triads" not in joint:
        return _element(joint["kind"], name, frames, in_nodes(record, joint, partners(joint)), None, *rows)
    if joint["kind"] in _EDGES:
        return _edge(record, name, frames)
    if "of" in joint:
        pieces, function = coordinate_motion(name, joint["motion"])
        return _element(joint["kind"], name, frames, {"motion": pieces, **_axes(record, joint)}, function, *rows)
    if "coupled" in joint:
        return _element(joint["kind"], name, frames, {**joint, **_axes(record, joint)}, None, *rows)
    values = _axes(record, joint)
    values["carrier"] = joint["carrier"]
    return _element(joint["kind"], name, frames, values, None, *rows)


def _rows(record: Record, name: str) -> tuple[Sequence[int], int]:
    """The rows of a joint that others imply, and its loop."""
    dropped = record["dropped"]
    return dropped.get(name, ()), record.get("loops", {}).get(name, 0) if dropped else 0


def _edge(record: Record, name: str, frames: tuple[int, int]) -> Element:
    """An edge of a rod; its reference strain is given in section axes."""
    joint = record["joints"][name]
    values = {**joint, **_axes(record, joint), **_source(joint["reference"])}
    function, constrained = joint["reference"].get("function"), ROWS[joint["kind"]]
    if function and constrained and not isinstance(function, CompiledFunction):
        function = StrainLaw(name, function, constrained)
    return _element(joint["kind"], name, frames, values, function, *_rows(record, name))


def _axes(record: Record, joint: JointRow) -> dict[str, Any]:
    """The triads of a joint in the axes of its nodes."""
    (one, other), (first, second) = partners(joint), joint["triads"]
    a, b = _reference(record, one), _reference(record, other)
    axes_a = _turned(a, first)
    axes_b = axes_a if second is first and a is b else _turned(b, second)
    return {"axes_a": axes_a, "axes_b": axes_b, "axis": axes_a[2::3]}


def _turned(reference: Matrix | None, triad: Matrix) -> Vector:
    """A matrix of columns in body axes in those of the body's node, row by row."""
    if reference is None:
        return [x + 0.0 for row in triad for x in row]  # without negative zeros
    turned: Vector = (np.array(reference) @ np.array(triad)).ravel().tolist()
    return turned


def _turn(record: Record, who: str) -> Array:
    """Rotation (3, 3) from the axes of a body to those of its node."""
    reference = _reference(record, who)
    return np.eye(3) if reference is None else np.array(reference)


def _reference(record: Record, who: str) -> Any:
    body = record["bodies"].get(who)
    return body["reference"] if body else None


def _attached(force: ForceRow, frames: Frames) -> tuple[int, ...]:
    """The frames of a force on bodies; those of a law are two."""
    if "joint" in force:
        return ()
    at = tuple(frames.at(who, point) for who, point in zip(force["bodies"], force["points"], strict=True))
    return (*at, frames.at("ground", ZERO)) if "function" in force and len(at) == 1 else at


def _force(name: str, at: tuple[int, ...], joints: dict[str, JointIndices], record: Record) -> Element:
    force = record["forces"][name]
    if "joint" in force:
        return _joint_force(record, name, force, joints[force["joint"]])
    if "load" in force:
        return _load(record, name, force, at)
    if "function" in force:
        if force["kind"] != "law":
            return _element(force["kind"], name, at, {}, _given_law(force))
        law = _element("force_law", name, at, {"nbodies": len(force["bodies"])}, _law(record, force))
        return law._replace(reads=_reads(record, force))
    values = in_nodes(record, force, force["bodies"])
    if "curves" in force:
        values["curves"] = _curves(force)
    return _element(force["kind"], name, at, values)


def _curves(force: ForceRow) -> Vector:
    """The points of curves as the core takes them, of each their number and both values of all; zero for none."""
    found: Vector = []
    for points in force["curves"]:
        found.append(float(len(points[0]) if points else 0))
        found += chain.from_iterable(points)
    return found


def in_nodes(record: Record, entry: ForceRow | JointRow, bodies: Sequence[str]) -> dict[str, Any]:
    """The parameters of an entry, those that are given in the axes of a body in those of its node."""
    values = cast(dict[str, Any], dict(entry))
    for name, declared in DECLARED[entry["kind"]].parameters.items():
        if declared.axes != "inertial" and _reference(record, who := bodies[declared.axes == "second"]) is not None:
            values[name] = declared.turned(values[name], _turn(record, who))
    return values


def _joint_force(record: Record, name: str, force: ForceRow, indices: JointIndices) -> Element:
    """A drive or a law on the coordinate of a joint: that of a link, a slide, or an angle."""
    values: dict[str, Any] = dict(force)
    function: Function = _given_law(force) if "function" in force else None
    if "curves" in force:
        values["curves"] = _curves(force)
    if "motion" in force:
        values["motion"], function = coordinate_motion(name, force["motion"])
    elif "load" in force:
        values |= _source(force["load"])
        function = force["load"].get("function")
    if indices.link is not None:
        at = indices.coordinates[force["coordinate"]][0]
        element = _element(f"coordinate_{force['kind']}", name, (at,), values, function)
    else:
        values |= _axes(record, record["joints"][force["joint"]])
        frames = indices.slide if force["coordinate"] == "slide" else indices.frames
        element = _element(row_of(force), name, frames, values, function)
    return element._replace(reads=_reads(record, force)) if "function" in force else element


def _reads(record: Record, force: ForceRow) -> tuple[int, ...] | None:
    """The blocks of the differences of a law that is called with a state, none if it has a tangent; None: it is not."""
    if not takes_one(force["function"]):
        return None
    if force["tangent"] is not None:
        return ()
    names = force.get("reads")
    blocks = {body["block"] for name, body in record["bodies"].items() if names is None or name in names}
    return tuple(sorted(blocks))


def _given_law(force: ForceRow) -> ForceLaw | CompiledFunction:
    """The law as the user gave it."""
    function = force["function"]
    return function if isinstance(function, CompiledFunction) else ForceLaw(function, force["tangent"])


def _law(record: Record, force: ForceRow) -> ForceLaw | TurnedLaw | CompiledFunction:
    """The law in the axes of the nodes."""
    law = _given_law(force)
    if all(_reference(record, who) is None for who in force["bodies"]):
        return law
    turns = np.array([_turn(record, who) for who in force["bodies"]])
    if isinstance(law, CompiledFunction):
        return law.turned(turns)
    return TurnedLaw(law, turns if len(turns) > 1 else turns[0])


def _load(record: Record, name: str, force: ForceRow, at: tuple[int, ...]) -> Element:
    """A force with values that may change with time."""
    load = force["load"]
    turn = _reference(record, force["bodies"][0]) if force.get("axes") == "body" else None
    function = load.get("function")
    if function and turn is not None:
        turned = np.array(turn)
        function = function.turned(turned) if isinstance(function, CompiledFunction) else TurnedLoad(function, turned)
    values = in_nodes(record, force, force["bodies"]) | _source(load, turn)
    return _element(force["kind"], name, at, values, function)


def _source(load: LoadRow, turn: Any = None) -> dict[str, Any]:
    """Parameters of a function of time: 0, vector; 1, number of times, times, vectors; or 2 for a Python function."""
    if "function" in load:
        return {"source": 2, "data": load.get("kinks", ())}
    vectors = np.array(load["vector"] if "vector" in load else load["values"])
    turned = vectors if turn is None else vectors @ np.array(turn).T
    if "vector" in load:
        return {"source": 0, "data": turned}
    return {"source": 1, "data": np.concatenate([[len(load["times"])], load["times"], turned.ravel()])}


# ---- controls ----


def value_count(row: ControlRow) -> int:
    """How many values a control has."""
    return len(row["joints"]) + 6 * len(row["bodies"]) + len(row["states"])


def element_count(row: ControlRow) -> int:
    """How many elements take the values of a control."""
    return len(row["joints"]) + len(row["bodies"]) + (row["block"] is not None)


def _controls(
    record: Record, frames: Frames, joints: dict[str, JointIndices]
) -> list[tuple[str, Any, Any, int, float, NDArray[np.intc]]]:
    """The controls as the core takes them."""
    starts = first_velocities(blocks_of(record)) if "controls" in record else []
    found = []
    for name, row in record.get("controls", {}).items():
        reads = _read(record, frames, joints, starts, name)
        function: Any = row["function"]
        tangent = row["tangent"]
        if isinstance(function, CompiledFunction):
            function = function.capsule(f"the function of control {name!r}")
        if tangent is not None:
            tangent = ReadTangent(name, tangent, tuple(reads))
        velocities = np.array([] if row["every"] else reads, np.intc)
        found.append((name, function, tangent, value_count(row), row["every"] or 0.0, velocities))
    return found


def _read(record: Record, frames: Frames, joints: dict[str, JointIndices], starts: list[int], name: str) -> list[int]:
    """The velocities on which the values of a control may depend, or on whose displacements they may."""
    controls = record["controls"]
    if (names := controls[name]["reads"]) is None:
        return [*range(starts[-1])]
    found = set[int]()

    def add(block: int | None, first: int = 0, count: int | None = None) -> None:
        if block is not None and block >= 0:
            start, end = starts[block : block + 2]
            found.update(range(start + first, end if count is None else start + first + count))

    def add_body(who: str) -> None:
        if who not in frames.links:
            add(frames.block(who))
            return
        for link in frames.path(who):
            add(frames.block(who), frames.links[link].first, frames.links[link].last - frames.links[link].first + 1)

    for read in (name, *names):
        if read in controls:
            add(controls[read]["block"])
        elif read in joints and joints[read].link is not None:
            add(joints[read].blocks[1], *joints[read].held[1])
        elif read in joints:
            for who in partners(record["joints"][read]):
                add_body(who)
        else:
            add_body(read)
    return sorted(found)


def _efforts(record: Record, frames: Frames, joints: dict[str, JointIndices]) -> Iterator[Parts]:
    """The elements that take the values of controls, in the order of these."""
    first = 0
    for name, row in record.get("controls", {}).items():
        for joint, coordinate in row["joints"]:
            yield (name,), _joint_effort, (f"{name}.{joint}", joint, coordinate, joints[joint], first), None
            first += 1
        for who in row["bodies"]:
            yield (name,), _body_effort, (f"{name}.{who}", who, frames.com(who), first), None
            first += 6
        if row["block"] is not None:
            yield (name,), _control_states, (name, frames.states(row["block"]), first), None
        first += len(row["states"])


def _joint_effort(name: str, joint: str, coordinate: str, indices: JointIndices, first: int, record: Record) -> Element:
    if indices.link is not None:
        return _element("coordinate_effort", name, (indices.coordinates[coordinate][0],), {"value": float(first)})
    values = {"value": float(first), **_axes(record, record["joints"][joint])}
    slides = coordinate == "slide"
    frames = indices.slide if slides else indices.frames
    return _element("slide_effort" if slides else "joint_effort", name, frames, values)


def _body_effort(name: str, who: str, at: int, first: int, record: Record) -> Element:
    return _element("body_effort", name, (at,), {"turn": _turn(record, who), "value": float(first)})


def _control_states(name: str, at: int, first: int, record: Record) -> Element:
    return _element("states", name, (at,), {"value": float(first)})
