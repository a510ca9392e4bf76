"""Random models: of all rows of the core, with bodies in all formulations, each built from a seed.

A recipe adds an element of its row to a draft, with bodies that it makes or finds there. Rows that their parameters
determine need none of their own; any other new row does, and `test_random_models.py` fails without it.
"""

from __future__ import annotations

import functools
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

import lgint
from compiled import compiled
from elements.rows import ROWS, candidates
from kinds import FORMULATIONS, FREE
from lgint._build.contacts import PAIRS
from lgint._model.compile import Frames, described
from lgint._model.joints import JOINTS, TREE_JOINTS
from lgint._model.parameters import DECLARED, WHOLE
from models import random_robots

TURNS = ("revolute", "cylindrical", "planar")
SLIDES = ("prismatic", "cylindrical", "inline")

BUILT_FROM_C_ALONE = {"point"}  # no function of the builder adds it


# ---- functions of time, and laws ----


def pulse(t):
    return 0.4 * np.sin(3 * t)


def push(t):
    return np.array([0.3 * np.sin(3 * t), 0.2 * t, 0.1])


def swing(t):
    return np.array([0.2 * np.sin(2 * t), 0.4 * np.cos(2 * t), -0.8 * np.sin(2 * t)])


def travel(t):
    return np.outer(swing(t), [1.0, 0.5, 0.0, 0.2, 0.0, 0.1])


def torque(t, x, rate):
    return -3.0 * x - 0.2 * rate**3 + t


def torque_slopes(t, x, rate):
    return -3.0, -0.6 * rate**2


def wrench(t, x, R, xdot, omega):
    return np.concatenate([-0.3 * x - 0.1 * xdot**3, -0.1 * omega], axis=-1)


def law_of_state(state):
    return np.concatenate([-0.2 * state.velocity("body0"), [0.1, 0.0, 0.0]])


def effort_of_time(state):
    return np.array([0.3 * np.sin(state.t)])


def pushes_and_integrates(state):
    (x,) = state.control("control").states.values()
    return np.array([*(-0.3 * state.velocity("body0")), 0.0, 0.1 * x, 0.0, 1.0 - x])


# ---- drafts ----


class Draft:
    """A builder with the means to add random parts to it."""

    def __init__(self, seed: Any, formulations: list[str]) -> None:
        self.rng = np.random.default_rng(seed)
        self.formulations = formulations
        self.b = lgint.ModelBuilder(gravity=self.rng.normal(size=3))
        self.places: dict[str, np.ndarray] = {}
        self.body()

    def choose(self, *of: Any) -> Any:
        return of[self.rng.integers(len(of))]

    def vector(self, size: int = 3, scale: float = 1.0) -> np.ndarray:
        return self.rng.uniform(-scale, scale, size)

    def positive(self, size: Any = None) -> Any:
        return self.rng.uniform(0.3, 3.0, size)

    def size(self, count: Any = None) -> Any:
        return self.rng.uniform(0.2, 0.5, count)

    def turn(self) -> np.ndarray:
        return Rotation.random(rng=self.rng).as_matrix()

    def formulation(self) -> str:
        return str(self.choose(*(name for name in self.formulations if name != "minimal")))

    def body(self, formulation: str | None = None, position: Any = None, still: bool = False) -> str:
        """A rigid body near the last one, which moves unless it has to be still."""
        name = f"body{len(self.places)}"
        formulation = self.formulation() if formulation is None else formulation
        x = 3 * len(self.places) * np.eye(3)[0] + self.vector() if position is None else np.asarray(position)
        R = self.turn()
        motion = {} if still else {"velocity": self.vector(), "angular_velocity": self.vector()}
        A = self.vector((3, 3))
        self.b.add_body(
            name,
            mass=self.positive(),
            inertia=np.eye(3) + 0.1 * (A + A.T),
            position=x,
            rotation=R,
            reference=R if formulation.startswith("tait_bryan") else None,
            formulation=formulation,
            **({} if formulation == "minimal" else motion),
        )
        self.places[name] = x
        return name

    def other(self) -> Any:
        """The ground or a body that is there already."""
        return self.choose(lgint.ground, *self.places)

    def joint(self, kinds: tuple[str, ...], minimal: bool | None = None) -> str:
        """A joint between the ground or a body and a new one, which may be a link of a tree."""
        may = "minimal" in self.formulations or minimal
        minimal = bool(may and self.rng.random() < 0.4) if minimal is None else minimal
        kind = self.choose(*(kind for kind in kinds if not minimal or kind in TREE_JOINTS))
        bodies = [name for name in self.places if self.b._can_be_root(name) or name in self.b._links]
        first = self.choose(lgint.ground, *bodies) if minimal else self.other()
        new = self.body("minimal" if minimal else None, still=True)
        axes = self.turn()
        axis = {} if kind in ("spherical", "rigid", "free") else {"axis": axes[0]}
        axis |= {"second_axis": axes[1]} if kind == "universal" else {}
        axis |= {"rate": 0.5 if len(TREE_JOINTS[kind]) == 1 else self.vector(len(TREE_JOINTS[kind]))} if minimal else {}
        point = self.places[new] + self.vector(scale=0.3)
        return str(self.b.add_joint(kind, first, new, point=point, **axis, name=f"joint{len(self.b._joints)}"))

    def along(self, where: str) -> dict[str, str]:
        """A joint and its coordinate, for a row of forces in it."""
        minimal = where == "coordinate"
        coordinate = self.choose("angle", "slide") if minimal else {"joint": "angle"}.get(where, where)
        return {"joint": self.joint(TURNS if coordinate == "angle" else SLIDES, minimal), "coordinate": coordinate}


# ---- recipes ----


def rigid_body(d: Draft) -> None:
    if d.rng.random() < 0.5:
        d.body()
    else:
        x, R = d.vector(), d.turn()
        formulation = d.formulation()
        values = {"mass": d.positive(), "inertia": (1.0, 1.1, 1.2), "com": d.vector(), "rotation": R}
        d.b.add_body("turning", pivot=x, **values, formulation=formulation, angular_velocity=d.vector(), reference=R)


def tree(d: Draft) -> None:
    """Some links one after the other, or a robot of a file."""
    if d.rng.random() < 0.5 and not d.b._links:
        base = d.choose("free", "fixed", *(name for name in d.places if d.b._can_be_root(name)))
        with tempfile.TemporaryDirectory() as folder:
            robot = random_robots.text(d.rng, int(d.rng.integers(1, 5)), mass=base == "free")
            random_robots.add(
                d.b,
                Path(folder),
                robot,
                base=base,
                prefix=f"robot{len(d.places)}.",
                position=d.vector(),
                rotation=d.turn(),
            )
        return
    for _ in range(d.rng.integers(1, 4)):
        d.joint(TREE_JOINTS, minimal=True)


def modal_body(d: Draft) -> None:
    modes = lgint.modal.beam(1.0, mass=1.0, bending=20.0, section=(0.01, 0.01), modes=2, elements=4, damping=0.1)
    formulation = d.formulation()
    d.b.add_modal_body("beam", modes, position=d.vector() + (0, 0, 5), rotation=d.turn(), formulation=formulation)
    node = d.choose("beam", *(f"beam.{node}" for node in modes.nodes))
    d.b.add_cartesian_spring(node, d.other(), stiffness=d.positive(3), damping=d.positive(3))


def states(d: Draft) -> None:
    d.b.add_control(
        pushes_and_integrates,
        bodies="body0",
        states=["x"],
        every=None,
        reads=d.choose(None, ["body0"]),
        name="control",
    )


def support(d: Draft) -> None:
    motion = d.choose(None, travel, compiled("travel", "motion"), ([0.0, 1.0], [[0.0] * 6, [0.1] * 6]))
    d.b.add_support("rail", position=d.vector(), motion=motion)
    body = d.body()
    d.b.add_bushing("rail", body, stiffness=d.positive(6), damping=d.positive(6), point=d.places[body])


def load(d: Draft, kind: str) -> None:
    given = d.choose(d.vector(), ([0.0, 0.01, 1.0], d.vector((3, 3))), push, compiled("push", "load"))
    at = {"local_point": d.vector()} if kind == "force" else {}
    d.b.add_force(d.body(), **{kind: given}, **at, frame=d.choose("body", "inertial"))


def whole(d: Draft, kind: str) -> None:
    """An element by its row alone, with the values that are its example, or that its declarations suggest."""
    flat, values = list(next(candidates(ROWS[kind]))), {}
    for name, parameter in DECLARED[kind].parameters.items():
        count = int(np.prod(parameter.shape))
        values[name], flat = np.reshape(flat[:count], parameter.shape), flat[count:]
    one = DECLARED[kind].frames == 1
    bodies = [d.body()] if one else [d.other(), d.body(still=DECLARED[kind].family == "joint")]
    at = {"local_point": d.vector()} if one else {"point": d.vector((2, 3))}
    d.b.add_element(kind, *bodies, **at, **values)


def distance(d: Draft) -> None:
    d.b.add_distance(d.other(), d.body(still=True), point_b=d.vector(), point_a=d.vector())


def wind(d: Draft) -> None:
    d.b.add_drag(d.body(), drag=d.positive(3), wind=d.choose(push, d.vector(), ([0.0, 1.0], d.vector((2, 3)))))


def bushing(d: Draft, curved: bool) -> None:
    table = ([-1.0, 0.0, 0.5, 1.0], [-3.0, 0.0, 1.0, 4.0])
    values = [d.choose(table, d.positive()) if curved and axis < 5 else d.positive() for axis in range(6)]
    first, body = d.other(), d.body()
    values = {"stiffness": [*values[:5], table] if curved else values, "damping": 0.1 * d.positive(6)}
    d.b.add_bushing(first, body, **values, preload=d.vector(6), point=d.places[body] + d.vector(), rotation=d.turn())


def tension(d: Draft) -> None:
    pull = d.choose(2.0, pulse, ([0.0, 1.0], [1.0, 2.0]), compiled("pull", "load"))
    d.b.add_tendon([d.other(), d.body(), d.body()], tension=pull, local_points=d.vector((3, 3), 0.3))


def tendon(d: Draft, pulleys: bool) -> None:
    """An elastic tendon over three bodies, perhaps round a pulley in the middle and from a drum."""
    bodies = [d.body(), d.body(), d.body()]
    first, middle, last = (d.places[name] for name in bodies)
    axis = np.cross(middle - first, last - middle + (0, 0.3, 0.4))
    rounds = {1: (axis, 0.2)} | ({0: (axis, 0.1, 2.0)} if d.rng.random() < 0.5 else {})
    values = {"stiffness": 10 * d.positive(), "damping": d.positive(), "pulleys": rounds if pulleys else None}
    d.b.add_tendon(bodies, **values, rest_length=d.choose(None, 1.0))


def drive(d: Draft, where: str) -> None:
    motion = d.choose(None, swing, 0.3, compiled("swing", "motion"), ([0.0, 1.0], [0.0, 0.2]))
    d.b.add_joint_drive(**d.along(where), torque=d.positive(), stiffness=d.positive(), damping=0.3, motion=motion)


def saturated_drive(d: Draft, where: str) -> None:
    d.b.add_joint_drive(**d.along(where), torque=0.1, stiffness=d.positive(), damping=0.3, saturation=d.positive())


def joint_load(d: Draft, where: str) -> None:
    torque = d.choose(pulse, ([0.0, 0.01, 1.0], [0.0, 1.0, 0.5]), compiled("pull", "load"))
    d.b.add_joint_drive(**d.along(where), torque=torque)


def joint_law(d: Draft, where: str) -> None:
    function, tangent = d.choose((torque, None), (torque, torque_slopes), (compiled("torque", "joint_law"), True))
    d.b.add_force_law(function, **d.along(where), tangent=tangent)


def joint_effort(d: Draft, where: str) -> None:
    at = d.along(where)
    every = d.choose(None, 2e-3)
    d.b.add_control(
        effort_of_time, joints=f"{at['joint']}.{at['coordinate']}", reads=None if every else [], every=every
    )


def joint_spring(d: Draft, where: str) -> None:
    stiffness = d.choose(d.positive(), ([-1.0, 0.0, 1.0], [-2.0, 0.0, 3.0]))
    damping = d.choose(0.2, ([-1.0, 0.0, 2.0], [-2.0, 0.0, 3.0]))
    d.b.add_joint_spring(**d.along(where), stiffness=stiffness, damping=damping, rest=0.1)


def torsion_spring(d: Draft, where: str) -> None:
    if where != "joint" or d.rng.random() < 0.5:
        joint_spring(d, where)
    else:
        d.b.add_torsion_spring(d.other(), d.body(), axis=d.vector(), stiffness=d.positive(), damping=0.1)


def stop(d: Draft, where: str) -> None:
    """Limits of a joint, which it is beyond at the start."""
    joint, coordinate = d.along(where).values()
    kind = d.b._joints[joint]["kind"]
    row = d.b._stop_of(kind, joint, (0.2, 0.5), 100.0, 0.1)
    d.b._add_stop(joint, {**row, "coordinate": coordinate})


def distance_spring(d: Draft) -> None:
    table = ([0.5, 2.0, 9.0], [-1.0, 2.0, 3.0])
    d.b.add_spring(d.other(), d.body(), force=table, damping=d.choose(0.3, ([-1.0, 0.0, 2.0], [-2.0, 0.0, 3.0])))


def distance_law(d: Draft) -> None:
    function, tangent = d.choose((torque, None), (torque, torque_slopes), (compiled("torque", "joint_law"), True))
    d.b.add_spring(d.other(), d.body(), force=function, tangent=tangent, point_b=d.vector())


def force_law(d: Draft) -> None:
    function, tangent = d.choose((wrench, None), (law_of_state, None), (compiled("wrench", "law"), True))
    two = d.rng.random() < 0.4 and function is wrench
    d.b.add_force_law(function, tangent=tangent, bodies=[d.other(), d.body()] if two else d.body())


def body_effort(d: Draft) -> None:
    states(d)


SHAPES: dict[str, Callable[[Draft, Any], tuple[Any, ...]]] = {
    "plane": lambda d, at: ("plane", at, d.vector()),
    "sphere": lambda d, at: ("sphere", at, d.size()),
    "capsule": lambda d, at: ("capsule", at + d.vector((2, 3), 0.3), d.size()),
    "disc": lambda d, at: ("disc", at, d.vector(), d.size()),
    "box": lambda d, at: ("box", at, d.size(3), d.turn()),
}


def contact(d: Draft, pair: tuple[str, str], bristle: bool) -> None:
    """Two shapes that touch, or nearly, between two bodies, or a body and the ground."""
    first, near = d.body(), d.vector(scale=0.5)
    near += d.places[first]
    second = lgint.ground if pair[1] == "plane" and d.rng.random() < 0.5 else d.body(position=near)
    at = d.vector(scale=0.1), near if second is lgint.ground else d.vector(scale=0.1)
    friction = {"bristle": (30.0, 1.0)} if bristle else {"regularization": 0.1}
    values = {"stiffness": 10 * d.positive(), "exponent": d.choose(1.0, 1.5, 2.0), "damping": d.choose(0.0, 0.1)}
    shapes = [SHAPES[kind](d, center) for kind, center in zip(pair, at, strict=True)]
    d.b.add_contact(first, second, shapes=shapes, **values, friction=0.4, **friction)


def joint(d: Draft, kind: str) -> None:
    d.joint((kind,), minimal=False)


def rod(d: Draft, constraints: str | None) -> None:
    x = d.vector() + (0, 0, 8)
    d.b.add_rod(
        "rod",
        start=x,
        end=x + d.vector() + (0, 1.2, 0),
        edges=3,
        stiffness=(50, 50, 80, 3, 3, 2),
        inertia=(1.0, 0.02, 0.02, 0.04),
        damping=0.1 * d.positive(6),
        constraints=constraints,
        clamped=d.choose((), (0,)),
        load=d.choose(None, push, (0.1, 0.0, 0.2)),
        drag=d.choose(None, 0.1),
        formulation=d.formulation(),
    )


def motion(d: Draft, coordinate: str) -> None:
    kinds = TURNS if coordinate == "angle" else SLIDES
    course = d.choose(swing, ([0.0, 1.0], [0.0, 0.2]), compiled("swing", "motion"))
    d.b.add_joint_motion(d.joint(kinds), course, coordinate=coordinate)


def coupling(d: Draft, coordinate: str) -> None:
    kinds = TURNS if coordinate == "angle" else SLIDES
    factors = {f"{d.joint(kinds)}.{coordinate}": d.positive(), f"{d.joint(TURNS)}.angle": -d.positive()}
    d.b.add_coupling(factors)


def rolling(d: Draft) -> None:
    body, normal, axis = d.body(still=True), d.vector(), d.vector()
    d.b.add_rolling(body, radius=1.0, axis=axis, tube=d.choose(0.0, 0.2), plane=(d.places[body] - normal, normal))


def knife_edge(d: Draft) -> None:
    d.b.add_knife_edge(d.body(), local_point=d.vector(), normal=d.vector())


def recipe(row: str) -> Callable[[Draft], None] | None:
    """What adds an element of a row to a draft; None: nothing that is known here."""
    bare = row.removeprefix("contact_").removesuffix("_bristle")
    if row.startswith("contact_") and (*bare.split("_"),) in PAIRS:
        return functools.partial(contact, pair=(*bare.split("_"),), bristle=row.endswith("_bristle"))
    where, _, what = row.partition("_")
    if where in ("joint", "slide", "coordinate") and what in IN_JOINTS:
        return functools.partial(IN_JOINTS[what], where=where)
    if row in RECIPES:
        return RECIPES[row]
    if row in JOINTS:
        return functools.partial(joint, kind=row)
    return functools.partial(whole, kind=row) if row in WHOLE else None


IN_JOINTS: dict[str, Callable[..., None]] = {
    "drive": drive,
    "saturated_drive": saturated_drive,
    "load": joint_load,
    "law": joint_law,
    "effort": joint_effort,
    "spring": torsion_spring,
    "stop": stop,
}
RECIPES: dict[str, Callable[[Draft], None]] = {
    "rigid_body": rigid_body,
    "tree": tree,
    "modal_body": modal_body,
    "states": states,
    "support": support,
    "gravity": rigid_body,
    "force": functools.partial(load, kind="force"),
    "torque": functools.partial(load, kind="torque"),
    "bushing": functools.partial(bushing, curved=False),
    "curved_bushing": functools.partial(bushing, curved=True),
    "wind_drag": wind,
    "tension": tension,
    "elastic_tendon": functools.partial(tendon, pulleys=False),
    "wrapped_tendon": functools.partial(tendon, pulleys=True),
    "distance_spring": distance_spring,
    "distance_law": distance_law,
    "force_law": force_law,
    "body_effort": body_effort,
    "distance": distance,
    "edge": functools.partial(rod, constraints=None),
    "kirchhoff_edge": functools.partial(rod, constraints="kirchhoff"),
    "inextensible_edge": functools.partial(rod, constraints="inextensible"),
    "angle_motion": functools.partial(motion, coordinate="angle"),
    "slide_motion": functools.partial(motion, coordinate="slide"),
    "angle_coupling": functools.partial(coupling, coordinate="angle"),
    "slide_coupling": functools.partial(coupling, coordinate="slide"),
    "rolling": rolling,
    "knife_edge": knife_edge,
}
REACHED = [name for name in ROWS if name not in BUILT_FROM_C_ALONE]
ONCE = {
    "states",
    "body_effort",
    "modal_body",
    "edge",
    "kirchhoff_edge",
    "inextensible_edge",
    "support",
}  # by their names


def rows_of(model: lgint.Model) -> set[str]:
    """The rows of a model's elements."""
    record = model._record
    return {kind for kind, *_ in described(record, Frames(record), {}).elements}


def random_model(seed: int, count: int = 3) -> lgint.Model:
    """The model of a seed: len(REACHED) of them, one after the other, have all rows between them."""
    rng = np.random.default_rng([seed, 7])
    formulations = [FORMULATIONS, ["euler_parameters"], [*FORMULATIONS, "minimal"], [*FREE, "minimal"]][seed % 4]
    d = Draft([seed, 8], formulations)
    first = REACHED[seed % len(REACHED)]
    others = [str(name) for name in rng.permutation(REACHED) if name not in ONCE][: count - 1]
    for row in (first, *others):
        found = recipe(row)
        assert found is not None, row
        found(d)
    return d.b.build(start="project", redundant="drop")
