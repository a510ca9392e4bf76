"""`lgint bench`: microseconds per step, beside Exudyn if it is installed.

Both run the same model with the same step, in turns: a long and a short run each, so that the cost of a run outside its
steps cancels. The least processor time of several repetitions counts. lgint runs with the options that a case names
and its defaults for all others; of an implicit method Exudyn runs full and modified Newton, of which the faster one
counts. A ratio between unequal errors would mean nothing, so each row also has the
distances of both final positions from that of a fine run, and the ratio at equal error: with a method of order p, the
code whose error is f times larger at the same step needs steps that are shorter by f^(1/p).
"""

from __future__ import annotations

import os
import platform
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from lgint import models
from lgint._args import Array, choice
from lgint._model.model import Model
from lgint._run.integrate import integrate, method_info
from lgint._run.trajectory import Trajectory
from lgint._tools import bench_exudyn
from lgint._tools.bench_clock import seconds_a_step, short_and_long
from lgint._tools.bench_exudyn import Peer
from lgint._tools.bench_file import append


@dataclass(frozen=True)
class Case:
    """One row: a model in both programs, a method, and the target."""

    name: str
    target: float  # ratio to the peer's time; NaN: no target
    model: Callable[[], Model]
    body: str  # its position is compared
    peer: Callable[[Peer], None] | None  # None: the peer has no such method
    h: float  # s
    steps: int
    method: str = "genalpha"
    options: Mapping[str, Any] = field(default_factory=dict)
    fine: tuple[str, int] = ("rk67", 4)  # method of the fine run, and its steps per step
    linear: str = "EXUdense"  # the peer's fastest linear solver for this model


TARGET = 12.0
CHAINS = ((10, 20.0, 1000), (100, 16.0, 500), (400, 14.0, 200))  # bars, target, steps
ROUND_OFF = 1e-11  # m; smaller errors say nothing about the methods
WORSE = 1.1  # largest accepted ratio of the error to the peer's at the same step


def _named(model: str, method: str) -> str:
    return model if method == "genalpha" else f"{model}, {method}"


def _top(method: str, constrained: bool, **more: Any) -> Case:
    return Case(
        name=_named("constrained top" if constrained else "free top", method),
        method=method,
        model=lambda: models.heavy_top(constrained=constrained),
        body="top",
        h=1e-4,
        steps=2500 if constrained else 20000,
        **{"target": TARGET, "peer": bench_exudyn.top if constrained else bench_exudyn.free_top, **more},
    )


def _rotor(name: str, **more: Any) -> Case:
    return Case(
        name=name,
        target=TARGET,
        model=models.rotor,
        body="rotor",
        peer=bench_exudyn.rotor,
        h=1e-5,
        steps=20000,
        **more,
    )


def _slider_crank() -> Case:
    return Case(
        name="slider-crank",
        target=TARGET,
        model=models.slider_crank,
        body="slider",
        peer=bench_exudyn.slider_crank,
        h=1e-3,
        steps=1000,
        linear="EigenDense",
    )


def _puma(minimal: bool) -> Case:
    """The Puma up to 0.4 s; from 0.5 s on the desired motion brakes, and Exudyn's steps would not end at that kink."""

    def model() -> Model:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the published inertias of links 1 and 3
            return models.puma560(formulation="minimal" if minimal else "R3xSO3")

    return Case(
        name="Puma 560 minimal" if minimal else "Puma 560",
        target=np.nan if minimal else TARGET,
        model=model,
        body="link6",
        peer=bench_exudyn.puma560_minimal if minimal else bench_exudyn.puma560,
        h=1e-3,
        steps=400,
        linear="EXUdense" if minimal else "EigenDense",
    )


def _chain(n: int, target: float, steps: int, method: str = "genalpha", **more: Any) -> Case:
    return Case(
        name=_named(f"chain of {n}", method),
        method=method,
        target=target,
        model=lambda: models.pendulum_chain(n=n),
        body=f"link{n}",
        h=1e-3,
        steps=steps,
        linear="EigenSparse",
        **{"peer": bench_exudyn.chain(n), **more},
    )


CASES: Sequence[Case] = (
    _top("genalpha", True),
    _top("rk44", False, fine=("rk67", 8)),
    _top("rk67", False, fine=("rk67", 8)),
    _rotor("rotor"),
    _rotor(
        "rotor, printed_half", options={"form": "printed_half"}
    ),  # the peer's algorithm, with which errors are equal
    _rotor("rotor, rk44", method="rk44"),
    _slider_crank(),
    _puma(minimal=False),
    _puma(minimal=True),
    *(_chain(n, target, steps) for n, target, steps in CHAINS),
    _top("herk5", True, target=np.nan, peer=None),
    _chain(100, np.nan, 500, "herk5", peer=None),
)


@dataclass(frozen=True)
class Result:
    """A row of the table and of the CSV file. Times are microseconds per step, errors m; NaN without a peer."""

    case: str
    method: str
    h: float
    steps: int
    lgint_us: float
    lgint_error: float
    lgint_iterations: float
    exudyn_us: float
    exudyn_error: float
    ratio: float
    equal: float  # ratio at equal error
    target: float

    @property
    def verdict(self) -> str:
        """Whether the ratio reaches the target and the error is no worse than the peer's."""
        if not (self.ratio > 0 and self.target > 0):
            return ""
        reached = "reached" if self.ratio >= self.target else f"missed by {self.target / self.ratio:.2f}"
        worse = max(self.lgint_error, ROUND_OFF) / max(self.exudyn_error, ROUND_OFF)
        return reached if worse <= WORSE else f"{reached}, error {worse:.2g} times the peer's"


def run(only: str = "", repeat: int = 9, machine: str = "", out: Path | None = None) -> list[Result]:
    """Runs the cases, prints the table, and writes it to `out` if that is given.

    Parameters
    ----------
    only : str
        Cases whose names contain this text.
    repeat : int
        How often each run is timed; the least time counts.
    machine : str
        Name of the machine for the table and the file. Default: the platform's.
    out : path, optional
        CSV file, to which rows are appended if it exists.
    """
    cases = [case for case in CASES if only in case.name]
    if not cases:
        choice("case", only, [case.name for case in CASES])
    exudyn = bench_exudyn.load()
    name = machine or f"{platform.machine()}, {os.cpu_count()} cores, {platform.system()}"
    peer = f"compared with Exudyn {exudyn.__version__}" if exudyn else "without comparison, as exudyn is not installed"
    print(f"{name}; lgint {peer}")
    print(HEADER)
    results = []
    for case in cases:
        results.append(measure(case, exudyn, repeat, case.steps))
        print(_line(results[-1]), flush=True)
    if out is not None:
        append(results, out, name, exudyn=exudyn.__version__ if exudyn else "")
    return results


def measure(case: Case, exudyn: Any, repeat: int, steps: int) -> Result:
    """One row of the table; `exudyn` is the package, or None."""
    model = case.model()
    method, finer = case.fine
    exact = integrate(model, method, t_end=steps * case.h, h=case.h / finer, save_every=steps * finer)
    fine = exact.position(case.body)[-1]
    newtons = () if not (exudyn and case.peer) else ("full", "modified") if case.method == "genalpha" else ("full",)
    peers = [Peer(exudyn, case.peer, case.method, newton, case.linear) for newton in newtons if case.peer]

    def ours(count: int) -> Trajectory:
        return integrate(model, case.method, t_end=count * case.h, h=case.h, save_every=count, **case.options)

    us, *others = seconds_a_step([ours, *(partial(peer.run, case.h) for peer in peers)], short_and_long(steps), repeat)
    peer_us = min(others, default=np.nan)
    trajectory = ours(steps)
    error = _distance(trajectory.position(case.body)[-1], fine)
    peer_error = _distance(peers[others.index(peer_us)].position(), fine) if peers else np.nan
    order = method_info(case.method)["order"]
    return Result(
        case.name,
        case.method,
        case.h,
        steps,
        1e6 * us,
        error,
        trajectory.stats.newton_iterations / steps,
        1e6 * peer_us,
        peer_error,
        peer_us / us,
        peer_us / us * (max(peer_error, ROUND_OFF) / max(error, ROUND_OFF)) ** (1 / order),
        case.target,
    )


HEADER = f"{'':<36} {'lgint us':>9} {'Exudyn us':>10} {'ratio':>6} {'at equal error':>14} {'target':>6}"
HEADER += f"  {'lgint error':>11} {'Exudyn error':>12}"


def _line(r: Result) -> str:
    target = f"{r.target:6.0f}" if r.target > 0 else " " * 6
    peer = f"{r.exudyn_us:10.3f} {r.ratio:6.1f} {r.equal:14.1f} {target}" if r.ratio > 0 else " " * 39
    errors = f"{r.lgint_error:11.2e} {r.exudyn_error:12.2e}" if r.ratio > 0 else f"{r.lgint_error:11.2e}"
    return f"{r.case:<36} {r.lgint_us:9.3f} {peer}  {errors}  {r.verdict}".rstrip()


def _distance(x: Array, y: Array) -> float:
    return float(np.linalg.norm(x - y))
