"""`lgint bench --trees`: trees in minimal coordinates, compared with MuJoCo and Pinocchio where they are installed.

All three programs take steps of the same Runge-Kutta method of order four on the same trees: one `mj_step` of MuJoCo;
four calls of Pinocchio's articulated-body algorithm, with as many of `integrate`. The models of the peers are made from
the record of ours. States are compared after some steps or, as the programs integrate rotations differently,
accelerations at the start if the root is free.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import numpy as np

from lgint import models
from lgint._args import Array, choice
from lgint._model.model import Model
from lgint._rotation import quaternion_of_matrix
from lgint._run.integrate import integrate
from lgint._tools.bench_clock import seconds_a_step, short_and_long
from lgint._tools.bench_file import append
from lgint.models._branched_arm import branched_arm

LINKS: Final = (6, 10, 30, 100, 300)
H: Final = 1e-3  # s
COMPARED: Final = 50  # steps after which states are compared
WORK: Final = 30_000  # links times steps that are timed
FREE: Final = "free"  # the kind of joint with which a root is entered


@dataclass(frozen=True)
class Result:
    """A row of the table and of the file; NaN without the peer."""

    case: str
    links: int
    lgint_us: float  # processor time of a step
    mujoco_us: float
    pinocchio_us: float
    mujoco_error: float  # largest difference of coordinates, rad or m, or of accelerations, relative to the largest
    pinocchio_error: float


@dataclass(frozen=True)
class Link:
    """A link as the record has it: its parent's number (-1: the ground), and its joint in the axes of both."""

    name: str
    parent: int
    kind: str
    mass: float
    inertia: Array  # about the COM
    points: Array  # (2, 3): of the joint, from the COM of the parent and of the link
    triads: Array  # (2, 3, 3): of the joint, with its axis last


def links_of(model: Model) -> list[Link]:
    """The links of the trees of a model, parents first, and before them the root if that is a body."""
    record = model.record()
    held = {row["second"]: row for row in record["joints"].values() if row.get("holds")}
    roots = [name for name in record["bodies"] if name not in held]
    numbers = {name: i for i, name in enumerate((*roots, *held))}
    nowhere, axes = np.zeros((2, 3)), np.array([np.eye(3)] * 2)
    bodies = record["bodies"]
    return [
        Link(name, -1, FREE, bodies[name]["mass"], np.array(bodies[name]["inertia"]), nowhere, axes) for name in roots
    ] + [
        Link(
            name,
            numbers.get(row["first"], -1),
            row["kind"],
            record["bodies"][name]["mass"],
            np.array(record["bodies"][name]["inertia"]),
            np.array(row["points"]),
            np.array(row["triads"]),
        )
        for name, row in held.items()
    ]


def load(name: str) -> ModuleType | None:
    """A peer's package, None if it is not installed."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


# ---- MuJoCo ----


class MuJoCo:
    """The same tree in MuJoCo: every link's frame is at its COM, and its joint is where the record has it."""

    def __init__(self, mujoco: Any, model: Model) -> None:
        self.mujoco = mujoco
        kinds = {"revolute": mujoco.mjtJoint.mjJNT_HINGE, "prismatic": mujoco.mjtJoint.mjJNT_SLIDE}
        spec = mujoco.MjSpec()
        spec.option.timestep = H
        spec.option.gravity = model.record()["gravity"]
        spec.option.integrator = mujoco.mjtIntegrator.mjINT_RK4
        spec.option.disableflags = mujoco.mjtDisableBit.mjDSBL_CONSTRAINT | mujoco.mjtDisableBit.mjDSBL_SENSOR
        spec.compiler.inertiafromgeom = False
        bodies = [spec.worldbody]
        for link in links_of(model):
            turn = link.triads[0] @ link.triads[1].T
            body = bodies[link.parent + 1].add_body(name=link.name, pos=link.points[0] - turn @ link.points[1])
            body.quat = quaternion_of_matrix(turn)
            I = link.inertia  # noqa: E741
            body.mass, body.explicitinertial = link.mass, True
            body.ipos = np.zeros(3)
            body.fullinertia = [I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]]
            if link.kind == FREE:
                body.add_freejoint()
            else:
                body.add_joint(type=kinds[link.kind], pos=link.points[1], axis=link.triads[1][:, 2])
            bodies.append(body)
        self.model = spec.compile()
        self.data = mujoco.MjData(self.model)
        self.start = model.q0, model.v0
        if has_free_root(model):
            self.start = np.concatenate([model.q0[:3], quaternion_of_matrix(_rotation(model)), model.q0[12:]]), model.v0

    def _reset(self) -> None:
        self.mujoco.mj_resetData(self.model, self.data)
        self.data.qpos[:], self.data.qvel[:] = self.start

    def accelerations(self) -> Array:
        """Those at the start."""
        self._reset()
        self.mujoco.mj_forward(self.model, self.data)
        return np.array(self.data.qacc)

    def run(self, steps: int) -> Array:
        """Coordinates after this number of steps from the start."""
        self._reset()
        self.mujoco.mj_step(self.model, self.data, steps)
        return np.array(self.data.qpos)


# ---- Pinocchio ----


class Pinocchio:
    """The same tree in Pinocchio: the axes of every joint are those of its triads, so that it is about or along z."""

    def __init__(self, pinocchio: Any, model: Model) -> None:
        self.pin = pinocchio
        kinds = {"revolute": pinocchio.JointModelRZ, "prismatic": pinocchio.JointModelPZ}
        kinds[FREE] = pinocchio.JointModelFreeFlyer
        self.model = pinocchio.Model()
        self.model.gravity.linear = np.array(model.record()["gravity"])
        links, numbers = links_of(model), [0]
        for link in links:
            pose = pinocchio.SE3(link.triads[0], link.points[0])
            if link.parent >= 0:  # from the joint that holds the parent, not from its COM
                pose = self._com(links[link.parent]) * pose
            joint = self.model.addJoint(numbers[link.parent + 1], kinds[link.kind](), pose, link.name)
            inertia = pinocchio.Inertia(link.mass, np.zeros(3), link.inertia)
            self.model.appendBodyToJoint(joint, inertia, self._com(link))
            numbers.append(joint)
        self.data = self.model.createData()
        self.start = model.q0, model.v0
        if has_free_root(model):
            R, v = _rotation(model), model.v0
            w, *xyz = quaternion_of_matrix(R)
            self.start = (
                np.concatenate([model.q0[:3], xyz, [w], model.q0[12:]]),
                np.concatenate([R.T @ v[:3], v[3:]]),
            )
        self.turn = _rotation(model) if has_free_root(model) else None

    def accelerations(self) -> Array:
        """Those at the start; of a free root in inertial axes, as ours."""
        q, v = self.start
        a = np.array(self.pin.aba(self.model, self.data, q, v, np.zeros(self.model.nv)))
        if self.turn is not None:
            a[:3] = self.turn @ (a[:3] + np.cross(v[3:6], v[:3]))
        return a

    def _com(self, link: Link) -> Any:
        """The frame of a link's COM in that of its joint."""
        return self.pin.SE3(link.triads[1].T, -link.triads[1].T @ link.points[1])

    def run(self, steps: int) -> Array:
        """Coordinates after this number of steps from the start."""
        aba, integrate_q = self.pin.aba, self.pin.integrate
        m, d, none = self.model, self.data, np.zeros(self.model.nv)
        q, v = (x.copy() for x in self.start)
        for _ in range(steps):
            a1 = aba(m, d, q, v, none).copy()
            v2 = v + 0.5 * H * a1
            a2 = aba(m, d, integrate_q(m, q, 0.5 * H * v), v2, none).copy()
            v3 = v + 0.5 * H * a2
            a3 = aba(m, d, integrate_q(m, q, 0.5 * H * v2), v3, none).copy()
            v4 = v + H * a3
            a4 = aba(m, d, integrate_q(m, q, H * v3), v4, none)
            q = integrate_q(m, q, H / 6 * (v + 2 * v2 + 2 * v3 + v4))
            v = v + H / 6 * (a1 + 2 * a2 + 2 * a3 + a4)
        return np.array(q)


# ---- the table ----


def has_free_root(model: Model) -> bool:
    """Whether the root of the tree is a body."""
    return links_of(model)[0].kind == FREE


def _rotation(model: Model) -> Array:
    return model.q0[3:12].reshape(3, 3)


def cases() -> Iterator[tuple[str, Callable[[], Model]]]:
    """The models by name."""
    for n in LINKS:
        yield f"chain of {n}", partial(models.pendulum_chain, n=n, joint="revolute", formulation="minimal")
    yield "branched arm", branched_arm


def compare(model: Model, peer: MuJoCo | Pinocchio) -> float:
    """The largest difference of coordinates after some steps, or of accelerations, relative to the largest."""
    if has_free_root(model):
        a = model.core.initial(0.0, model.q0, model.v0)[0]
        return float(np.abs(a - peer.accelerations()).max() / np.abs(a).max())
    ours = integrate(model, "rk44", t_end=COMPARED * H, h=H, save_every=COMPARED).q[-1]
    return float(np.abs(ours - peer.run(COMPARED)).max())


def run(only: str = "", repeat: int = 9, machine: str = "", out: Path | None = None) -> list[Result]:
    """Runs the cases whose names contain `only`, prints the table, and appends it to `out` if that is given."""
    found = [(name, make) for name, make in cases() if only in name]
    if not found:
        choice("case", only, [name for name, _ in cases()])
    mujoco, pinocchio = load("mujoco"), load("pinocchio")
    print(f"trees; MuJoCo is {'' if mujoco else 'not '}installed, Pinocchio is {'' if pinocchio else 'not '}installed")
    print(f"{'':<14} {'lgint us':>9} {'MuJoCo us':>10} {'ratio':>6} {'Pinocchio us':>12} {'ratio':>6}", end=" ")
    print(f"{'differences':>17}")
    results = []
    for name, make in found:
        results.append(_measure(name, make(), mujoco, pinocchio, repeat))
        print(_line(results[-1]), flush=True)
    _print_exponent(results)
    if out is not None:
        append(results, out, machine)
    return results


def _measure(name: str, model: Model, mujoco: Any, pinocchio: Any, repeat: int) -> Result:
    links = len(links_of(model))
    steps = max(WORK // links, 10)

    def ours(count: int) -> None:
        integrate(model, "rk44", t_end=count * H, h=H, save_every=count)

    peers = [MuJoCo(mujoco, model) if mujoco else None, Pinocchio(pinocchio, model) if pinocchio else None]
    runs: list[Callable[[int], object] | None] = [ours, *(peer.run if peer else None for peer in peers)]
    times = [1e6 * seconds for seconds in seconds_a_step(runs, short_and_long(steps), repeat)]
    errors = [compare(model, peer) if peer else np.nan for peer in peers]
    return Result(name, links, *(float(x) for x in (*times, *errors)))


def _line(r: Result) -> str:
    mujoco = f"{r.mujoco_us:10.2f} {r.mujoco_us / r.lgint_us:6.2f}"
    pinocchio = f"{r.pinocchio_us:12.2f} {r.pinocchio_us / r.lgint_us:6.2f}"
    return f"{r.case:<14} {r.lgint_us:9.2f} {mujoco} {pinocchio} {r.mujoco_error:8.0e} {r.pinocchio_error:8.0e}"


def exponent(results: list[Result]) -> float:
    """The power p in (time of a step) ~ (number of links)^p, from the chain of 30 to that of 300; NaN without them."""
    times = {r.links: r.lgint_us for r in results if r.case.startswith("chain")}
    return float(np.log10(times[300] / times[30])) if {30, 300} <= times.keys() else np.nan


def _print_exponent(results: list[Result]) -> None:
    if not np.isnan(exponent(results)):
        print(
            f"from 30 to 300 links the time of a step of lgint grows with their number to the {exponent(results):.2f}"
        )
