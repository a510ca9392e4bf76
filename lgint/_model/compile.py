"""From the record of a model to the system of the core: blocks, frames and elements."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from functools import partial
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lgint import _core
from lgint._args import Array
from lgint._model.formulations import FORMULATIONS
from lgint._model.laws import ForceLaw, StrainLaw, TurnedLaw, TurnedLoad
from lgint._model.motion import motion
from lgint._model.record import (
    EDGES,
    MINIMAL,
    BodyRow,
    ForceRow,
    JointRow,
    LoadRow,
    Record,
    holders,
    mode_count,
    partners,
)

CARRIERS: Final = ("inertial", "first", "second")
AXES: Final = ("inertial", "body")
GRAVITY: Final = "gravity"
COM: Final = "com"  # the node of a flexible body at its centre of mass

ROWS: Final = {row["name"]: row["nrows"] for row in _core.ELEMENTS}  # number of constraint rows
MEMORY: Final = {row["name"]: row["nmem"] for row in _core.ELEMENTS}  # number of values of memory
_PARAMETERS: Final = {row["name"]: [item["name"] for item in row["parameters"]] for row in _core.ELEMENTS}


# A point that elements attach to: its block (-1: the ground; -2 and less: a support), the part of the body on the block
# (a node, or a link of a tree), and base and offset (6,).
Frame = tuple[int, int, tuple[float, ...]]


class Element(NamedTuple):
    """A body, force or joint of the core."""

    kind: str
    name: str
    frames: Sequence[int]  # one or two
    parameters: Array  # (k,)
    function: Callable[..., ArrayLike] | None = None
    implied: Sequence[int] = ()  # constraint rows that others imply: inactive at first, or omitted without a loop
    loop: int = 0  # a number from 1 on that joints have in common whose rows imply one another


class Description(NamedTuple):
    """What a model of the core is made of, in the order in which it takes them."""

    blocks: Sequence[tuple[str, int]]  # node kind and number of linear coordinates
    frames: NDArray[np.intc]  # (m, 2): block and part
    points: Array  # (m, 6): base and offset
    elements: list[tuple[str, str, Any, Any]]  # kind, name, function and its tangent, or None
    numbers: NDArray[np.intc]  # (n, 5): frames (-1: none), number of parameters, loop, bits of implied rows
    parameters: Array  # of all elements, one after the other

    @classmethod
    def of(cls, blocks: Sequence[tuple[str, int]], frames: Sequence[Frame], elements: Sequence[Element]) -> Description:
        """The description of these parts."""
        numbers = [(*_ends(e), len(e.parameters), e.loop, sum([1 << row for row in e.implied])) for e in elements]
        return cls(
            blocks,
            np.array([frame[:2] for frame in frames], dtype=np.intc).reshape(len(frames), 2),
            np.array([point for _, _, point in frames], dtype=np.float64).reshape(len(frames), 6),
            [(e.kind, e.name, e.function, getattr(e.function, "tangent", None)) for e in elements],
            np.array(numbers, dtype=np.intc).reshape(len(elements), 5),
            np.concatenate([*[e.parameters for e in elements], ()]),
        )


def _ends(element: Element) -> tuple[int, int]:
    first, second = element.frames if len(element.frames) == 2 else (*element.frames, -1)
    return first, second


class JointPlace(NamedTuple):
    """The numbers by which the core knows a joint."""

    element: int
    blocks: tuple[int, int]  # the blocks of both bodies; -1: the ground
    frames: tuple[int, int]
    slide: tuple[int, int]  # its slide is the distance between these frames along the axis of the first one
    link: int | None  # if the joint holds a link, the number of that link in its tree
    forces: list[int]  # the elements of drives and force laws in it


class Maker(NamedTuple):
    """A function that makes one element of the core from the record."""

    owners: tuple[str, ...]  # names of the parts of the model whose numbers the element depends on
    make: Callable[[Record], Element]
    share: Callable[[Record, str], Array] | None = None  # of each owner: equally many parameters, one after the other

    def remade(self, record: Record, owner: str) -> tuple[int, Array]:
        """The parameters that depend on an owner, and where they start among those of the element."""
        if self.share is None:
            return 0, self.make(record).parameters
        own = self.share(record, owner)
        return len(own) * self.owners.index(owner), own


class Compiled(NamedTuple):
    """A system of the core, and the numbers by which it knows the named parts of a model."""

    core: _core.Model
    makers: list[Maker]  # one for each element
    owned: dict[str, list[int]]  # the elements that depend on each part of the model
    parameters: Array  # of all elements, one after the other
    starts: list[int]  # where those of each element start, and where the last ones end
    weights: slice  # those of all weights: mass and gravity of each body
    frames: dict[str, int]  # the frames at the COMs of bodies, at nodes and at supports
    joints: dict[str, JointPlace]
    supports: dict[str, int]  # the elements of supports
    memory: list[tuple[str, int]]  # kind and number of values of the elements that have memory, in the order of `mem`


def compiled(record: Record) -> Compiled:
    """The system that a record describes."""
    frames = Frames(record)
    bodies, weights = [*_supports(record, frames), *_inertia(record, frames)], [*_weights(record, frames)]
    makers = [*bodies, *weights]
    trees = {block: i for i, block in enumerate(frames.trees)}
    joints = {}
    for name, joint in record["joints"].items():
        a, b = (frames.at(who, point) for who, point in zip(partners(joint), joint["points"], strict=True))
        start = frames.at(joint["first"], joint["slide_point"]) if "slide_point" in joint else a
        if joint.get("holds"):
            link, element = frames.links[joint["second"]], trees[record["bodies"][joint["second"]]["block"]]
        else:
            link, element = None, len(makers)
            makers.append(Maker((name,), partial(_joint, name=name, frames=(a, b))))
        first, second = (frames.block(who) for who in partners(joint))
        joints[name] = JointPlace(element, (first, second), (a, b), (start, b), link, [])
    for name, force in record["forces"].items():
        if "joint" in force:
            joints[force["joint"]].forces.append(len(makers))
        makers.append(Maker((name,), partial(_force, name=name, at=_attached(force, frames), joints=joints)))
    elements = [maker.make(record) for maker in makers]
    named = frames.named()
    supports = {name: i for i, name in enumerate(record["supports"])}
    description = Description.of(_blocks(record), frames.rows(), elements)
    starts = [0, *np.cumsum(description.numbers[:, 2]).tolist()]
    weighed = slice(starts[len(bodies)], starts[len(bodies) + len(weights)])
    memory = [(element.kind, MEMORY[element.kind]) for element in elements if MEMORY[element.kind]]
    core = _core.Model(*description)
    owned: dict[str, list[int]] = {}
    for element, maker in enumerate(makers):
        for owner in maker.owners:
            owned.setdefault(owner, []).append(element)
    return Compiled(core, makers, owned, description.parameters, starts, weighed, named, joints, supports, memory)


def start_memory(model: Compiled, record: Record) -> Array:
    """The memory from which that of a start follows: angles of joints from half a turn on, also as forces keep them."""
    memory = np.zeros(model.core.nmem)
    for name, joint in record["joints"].items():
        if "angle" in joint:
            for element in (model.joints[name].element, *model.joints[name].forces):
                *_, place, count = model.core.rows(element)
                memory[place : place + min(count, 1)] = joint["angle"]
    return memory


def parameters_of(model: Compiled, parameters: Array, record: Record, owners: Set[str]) -> Array:
    """The parameters of all elements of a model, of which those that depend on some parts of a record are made anew."""
    made: Array = parameters.copy()
    if GRAVITY in owners:
        made[model.weights].reshape(-1, 4)[:, 1:] = record["gravity"]
    for owner in owners:
        for element in model.owned.get(owner, ()):
            place, own = model.makers[element].remade(record, owner)
            start = model.starts[element] + place
            made[start : start + len(own)] = own
    return made


# ---- blocks and frames ----


def _blocks(record: Record) -> list[tuple[str, int]]:
    """Node kind and number of linear coordinates of each block."""
    blocks: dict[int, tuple[str, int]] = {}
    for body in record["bodies"].values():
        if body["formulation"] == MINIMAL:
            blocks[body["block"]] = "Rn", blocks.get(body["block"], ("Rn", 0))[1] + 1
        else:
            row = FORMULATIONS[body["formulation"]]
            blocks[body["block"]] = row.pivot if body["pivot"] else row.node, mode_count(body)
    return [blocks[block] for block in sorted(blocks)]


class Frames:
    """The points of a model that elements attach to; equal ones are shared."""

    def __init__(self, record: Record) -> None:
        self._bodies = record["bodies"]
        self._supports = {name: -2 - i for i, name in enumerate(record["supports"])}
        self._nodes = {
            f"{name}.{node}": (body["block"], part)
            for name, body in self._bodies.items()
            if body["modes"]
            for part, node in enumerate(body["modes"]["nodes"], 1)
        }
        self.holders = holders(record["joints"])
        self.coms = {name: _com(record, name, self.holders.get(name)) for name in self._bodies}
        self.trees: dict[int, list[str]] = {}  # links by block, parents first
        for name in self.holders:
            self.trees.setdefault(self._bodies[name]["block"], []).append(name)
        self.links = {name: part for links in self.trees.values() for part, name in enumerate(links)}
        self._found: dict[Frame, int] = {}

    def at(self, who: str, point: Iterable[float]) -> int:
        """Number of the frame at a point of a body, of a support or of the ground, or at a node."""
        return self._found.setdefault(self._frame(who, point), len(self._found))

    def block(self, who: str) -> int:
        """The block of a body or a node, -1 for the ground and for supports."""
        if who in self._nodes:
            return self._nodes[who][0]
        return self._bodies[who]["block"] if who in self._bodies else -1

    def origin(self, name: str) -> int:
        """Number of the frame at the point of a body that its coordinates describe."""
        return self.at(name, -self.coms[name])

    def rows(self) -> list[Frame]:
        """The frames in the order of their numbers."""
        return list(self._found)

    def named(self) -> dict[str, int]:
        """Frames of the COMs of all bodies, of all nodes and of all supports."""
        return {name: self.at(name, _ZERO) for name in (*self._bodies, *self._nodes, *self._supports)}

    def _frame(self, who: str, point: Iterable[float]) -> Frame:
        if who == "ground":
            return -1, 0, (*map(float, point), *_ZERO)
        if who in self._supports:
            return self._supports[who], 0, (*_ZERO, *map(float, point))
        if who in self._nodes:
            block, part = self._nodes[who]
            return block, part, (*_ZERO, *_ZERO)
        body = self._bodies[who]
        offset = _in_node(body, np.array([*point]) + self.coms[who]) + 0.0  # without negative zeros
        base = body["pivot"]["point"] if body["pivot"] else _ZERO
        return body["block"], self.links.get(who, 0), (*map(float, base), *map(float, offset))


_ZERO: Final = (0.0, 0.0, 0.0)


def _com(record: Record, name: str, holder: str | None) -> Array:
    """The vector (3,) in body axes from the point that the coordinates describe to the COM.

    `holder` is the joint that holds the body if it is a link.
    """
    if holder is not None:
        return -np.array(record["joints"][holder]["points"][1])
    pivot = record["bodies"][name]["pivot"]
    return np.array(pivot["com"]) if pivot else np.zeros(3)


def _in_node(body: BodyRow, x: Array) -> Array:
    """Components (..., 3) in the axes of the body's node of vectors given in body axes."""
    turned: Array = x if body["reference"] is None else x @ np.array(body["reference"]).T
    return turned


# ---- elements ----


def _element(
    kind: str,
    name: str,
    frames: tuple[int, ...],
    values: dict[str, Any],
    function: Callable[..., ArrayLike] | None = None,
    implied: Sequence[int] = (),
    loop: int = 0,
) -> Element:
    """An element with its parameters by name, in the order of the row of its kind."""
    flat = [np.asarray(values[parameter], dtype=np.float64).ravel() for parameter in _PARAMETERS[kind]]
    return Element(kind, name, frames, np.concatenate([*flat, ()]), function, implied, loop)


def _supports(record: Record, frames: Frames) -> Iterator[Maker]:
    """The frames in space that bodies attach to, with their motions."""
    for name in record["supports"]:
        yield Maker((name,), partial(_support, name=name, at=(frames.at(name, _ZERO),)))


def _support(record: Record, name: str, at: tuple[int, ...]) -> Element:
    support = record["supports"][name]
    return _element("support", name, at, dict(support), motion(name, support))


def _inertia(record: Record, frames: Frames) -> Iterator[Maker]:
    """One element for each tree, and then for each rigid or flexible body."""
    for links in frames.trees.values():
        link = partial(_link, frames=frames)
        yield Maker((*links,), partial(_tree, links=links, link=link, at=(frames.origin(links[0]),)), link)
    for name, body in record["bodies"].items():
        if body["modes"]:
            yield Maker((name,), partial(_modal_body, name=name, at=(frames.at(name, _ZERO),)))
        elif name not in frames.links:
            c = _in_node(body, frames.coms[name])
            moment = c @ c * np.eye(3) - np.outer(c, c)
            yield Maker((name,), partial(_rigid_body, name=name, moment=moment, at=(frames.origin(name),)))


def _tree(record: Record, links: list[str], link: Callable[[Record, str], Array], at: tuple[int, ...]) -> Element:
    values = {"links": np.concatenate([link(record, name) for name in links])}
    return _element("tree", f"{links[0]}.tree", at, values)


def _modal_body(record: Record, name: str, at: tuple[int, ...]) -> Element:
    return _element("modal_body", name, at, _modal(record["bodies"][name]))


def _rigid_body(record: Record, name: str, moment: Array, at: tuple[int, ...]) -> Element:
    """A body with its inertia about the node in the node's axes; `moment` is that of a unit mass at the COM."""
    body = record["bodies"][name]
    own = _in_node(body, _in_node(body, np.array(body["inertia"])).T)
    return _element("rigid_body", name, at, {"mass": body["mass"], "inertia": _six(own + body["mass"] * moment)})


def _six(inertia: Array) -> Array:
    """The entries xx, yy, zz, xy, xz, yz of a symmetric matrix."""
    six: Array = inertia.ravel()[_SIX]
    return six


_SIX: Final = np.array([0, 4, 8, 1, 2, 5])


def _link(record: Record, name: str, frames: Frames) -> Array:
    """The parameters of a link: its parent, its joint, its pose on the parent at coordinate zero, and its inertia."""
    joint, body = record["joints"][frames.holders[name]], record["bodies"][name]
    parent, (first, second) = joint["first"], np.array(joint["triads"])
    place = np.array(joint.get("slide_point", joint["points"][0]))
    if parent != "ground":
        place = place + frames.coms[parent]
    return np.concatenate(
        [
            [frames.links[parent] if parent != "ground" else -1.0, joint["kind"] == "prismatic"],
            (first @ second.T).ravel(),
            place,
            second[:, 2],
            [body["mass"]],
            frames.coms[name],
            _six(np.array(body["inertia"])),
        ]
    )


def _modal(body: BodyRow) -> dict[str, Any]:
    modes = body["modes"] or {}
    nodes = [(node["X"], np.transpose(node["Phi"]), np.transpose(node["Psi"])) for node in modes["nodes"].values()]
    arrays = [modes[name] for name in ("shapes", "mixed", "products", "stiffness", "damping")]
    data = np.concatenate([np.ravel(values) for values in (*arrays, *(array for node in nodes for array in node))])
    return {"mass": body["mass"], "first": modes["first"], "second": modes["second"], "data": data}


def _weights(record: Record, frames: Frames) -> Iterator[Maker]:
    """Gravity at the COM of each body."""
    if not any(record["gravity"]):
        return
    for name, body in record["bodies"].items():
        at = frames.at(f"{name}.{COM}" if body["modes"] else name, _ZERO)
        yield Maker((name,), partial(_weight, name=name, at=(at,)))


def _weight(record: Record, name: str, at: tuple[int, ...]) -> Element:
    values = {"mass": record["bodies"][name]["mass"], "gravity": record["gravity"]}
    return _element("gravity", f"{name}.gravity", at, values)


def _joint(record: Record, name: str, frames: tuple[int, int]) -> Element:
    """The element of a joint that has constraint rows."""
    joint, rows = record["joints"][name], _rows(record, name)
    if "triads" not in joint:
        return _element(joint["kind"], name, frames, dict(joint), None, *rows)
    if joint["kind"] in EDGES.values():
        return _edge(record, name, frames)
    values = {"carrier": CARRIERS.index(joint["carrier"]), **_axes(record, joint)}
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
    if function and constrained:
        function = StrainLaw(name, function, constrained)
    return _element(joint["kind"], name, frames, values, function, *_rows(record, name))


def _axes(record: Record, joint: JointRow) -> dict[str, Any]:
    """The triads of a joint in the axes of its nodes."""
    pairs = zip(partners(joint), joint["triads"], strict=True)
    axes_a, axes_b = (_turn(record, who) @ np.array(triad) for who, triad in pairs)
    return {"axes_a": axes_a, "axes_b": axes_b, "axis": axes_a[:, 2]}


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
    return (*at, frames.at("ground", _ZERO)) if "function" in force and len(at) == 1 else at


def _force(record: Record, name: str, at: tuple[int, ...], joints: dict[str, JointPlace]) -> Element:
    force = record["forces"][name]
    if "joint" in force:
        return _joint_force(record, name, force, joints[force["joint"]])
    if force["kind"] == "tension":
        return _element("tension", name, at, _source(force["load"]), force["load"].get("function"))
    if "load" in force:
        return _load(record, name, force, at)
    if "function" in force:
        return _element("force_law", name, at, {"bodies": len(force["bodies"])}, _law(record, force))
    if force["kind"] == "drag":
        turn = _turn(record, force["bodies"][0])
        return _element("drag", name, at, {"drag": turn @ np.array(force["drag"]) @ turn.T})
    return _element(force["kind"], name, at, dict(force))


def _joint_force(record: Record, name: str, force: ForceRow, place: JointPlace) -> Element:
    """A drive or a law on the coordinate of a joint: that of a link, a slide, or an angle."""
    values = dict(force)
    function = ForceLaw(force["function"], force["tangent"]) if "function" in force else None
    if place.link is not None:
        return _element(f"coordinate_{force['kind']}", name, place.frames[1:], values, function)
    values |= _axes(record, record["joints"][force["joint"]])
    if force["coordinate"] == "slide":
        return _element(f"slide_{force['kind']}", name, place.slide, values, function)
    return _element(f"joint_{force['kind']}", name, place.frames, values, function)


def _law(record: Record, force: ForceRow) -> ForceLaw | TurnedLaw:
    """The law in the axes of the nodes."""
    law = ForceLaw(force["function"], force["tangent"])
    if all(_reference(record, who) is None for who in force["bodies"]):
        return law
    turns = np.array([_turn(record, who) for who in force["bodies"]])
    return TurnedLaw(law, turns if len(turns) > 1 else turns[0])


def _load(record: Record, name: str, force: ForceRow, at: tuple[int, ...]) -> Element:
    """A force or torque."""
    load, axes = force["load"], AXES.index(force["axes"])
    turn = _reference(record, force["bodies"][0]) if force["axes"] == "body" else None
    function = load.get("function")
    if function and turn is not None:
        function = TurnedLoad(function, np.array(turn))
    return _element(force["kind"], name, at, {"axes": axes, **_source(load, turn)}, function)


def _source(load: LoadRow, turn: Any = None) -> dict[str, Any]:
    """Parameters of a function of time: 0, vector; 1, number of times, times, vectors; or 2 for a Python function."""
    if "function" in load:
        return {"source": 2, "data": ()}
    vectors = np.array(load["vector"] if "vector" in load else load["values"])
    turned = vectors if turn is None else vectors @ np.array(turn).T
    if "vector" in load:
        return {"source": 0, "data": turned}
    return {"source": 1, "data": np.concatenate([[len(load["times"])], load["times"], turned.ravel()])}
