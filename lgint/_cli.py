"""The command `lgint`: list, run, reproduce, bench, demo. Exit status 0: done, 1: a run failed, 2: bad usage."""

from __future__ import annotations

import argparse
import ast
import inspect
import os
import signal
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from lgint import _core, models
from lgint._args import choice
from lgint._papers import catalogue, runner
from lgint._papers.output import FORMATS
from lgint._run.integrate import integrate, method_info, methods
from lgint._run.trajectory import Trajectory
from lgint._validation import catalogue as validation
from lgint._validation import table
from lgint._version import VERSION


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command; returns its exit status. Messages go to standard error."""
    try:
        status = _main(arguments)
        sys.stdout.flush()
    except BrokenPipeError:  # the reader, such as `head`, has closed the pipe; the rest of the output is discarded
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + signal.SIGPIPE
    return status


def _main(arguments: Sequence[str] | None) -> int:
    try:
        given = _parser().parse_args(arguments)
    except SystemExit as stop:  # argparse has printed its message
        return int(stop.code or 0)
    try:
        status: int = given.command(given)
    except BrokenPipeError:
        raise
    except (ValueError, TypeError, OSError, ImportError) as error:
        print(f"lgint: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("lgint: interrupted", file=sys.stderr)
        return 130
    return status


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="lgint", description="Lie group time integrators for multibody systems.")
    parser.add_argument("--version", action="version", version=f"lgint {VERSION}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    listing = commands.add_parser("list", help="models, methods, artifacts of papers and validation cases")
    what = ("models", "methods", "artifacts", "validation")
    listing.add_argument("what", nargs="?", choices=what, help="default: all of them")
    listing.set_defaults(command=_list)
    for add in (_run_parser, _reproduce_parser, _bench_parser):
        add(commands)

    demo = commands.add_parser("demo", help="the heavy top under several methods, a table and a picture")
    demo.add_argument("--out", type=Path, default=Path("demo"), help="directory of the picture (default: demo)")
    demo.set_defaults(command=_demo)

    return parser


def _run_parser(commands: Any) -> None:
    run = commands.add_parser("run", help="integrate a model")
    run.add_argument("model", help="one of `lgint list models`")
    run.add_argument("--method", required=True, help="one of `lgint list methods`")
    run.add_argument("--h", type=float, help="step size, s; optional with --set rtol=... (adaptive steps)")
    run.add_argument("--t-end", type=float, required=True, help="end of the run, s")
    run.add_argument("--formulation", help="formulation of the bodies, such as R3xSO3 or SE3")
    run.add_argument(
        "--set",
        nargs="+",
        action="extend",
        default=[],
        metavar="NAME=VALUE",
        help="parameters of the model or options of the method",
    )
    run.add_argument("--save-every", type=int, default=1, metavar="N", help="keep every Nth state")
    run.add_argument("-o", "--out", type=Path, help="save the trajectory (.npz)")
    run.add_argument("--plot", type=Path, help="save a picture (.png, .pdf, .svg)")
    run.add_argument("--progress", action="store_true", help="show a progress bar")
    run.set_defaults(command=_run)


def _reproduce_parser(commands: Any) -> None:
    reproduce = commands.add_parser("reproduce", help="reproduce figures and tables of papers and compare them")
    which = "all, the key of a paper, KEY/ARTIFACT, validation or validation/CASE; see `lgint list`"
    reproduce.add_argument("which", help=which)
    reproduce.add_argument("--quick", action="store_true", help="take fewer steps, which leaves some claims unresolved")
    reproduce.add_argument("--strict", action="store_true", help="exit status 1 if anything differs from its paper")
    reproduce.add_argument("--out", type=Path, default=Path("reproduced"), metavar="DIR", help="default: reproduced")
    reproduce.add_argument("--jobs", type=int, metavar="N", help="number of processes (default: one for each core)")
    reproduce.add_argument(
        "--format", nargs="+", choices=FORMATS, default=["png"], help="of the pictures (default: png)"
    )
    reproduce.set_defaults(command=_reproduce)


def _bench_parser(commands: Any) -> None:
    bench = commands.add_parser("bench", help="microseconds per step, compared with Exudyn if it is installed")
    bench.add_argument("--only", default="", metavar="TEXT", help="only cases whose names contain this text")
    bench.add_argument("--rods", action="store_true", help="rods, compared with PyElastica if it is installed")
    bench.add_argument("--long", action="store_true", help="time per link of chains of 100 to 10 000 links")
    bench.add_argument("--trees", action="store_true", help="trees, compared with MuJoCo and Pinocchio if installed")
    bench.add_argument("--stiff", action="store_true", help="time at equal error, compared with SUNDIALS IDA and Radau")
    bench.add_argument("--methods", nargs="+", default=[], metavar="NAME", help="with --stiff: our methods to run")
    bench.add_argument("--repeat", type=int, default=9, metavar="N", help="take the least of N times (default: 9)")
    bench.add_argument("--machine", default="", metavar="NAME", help="name of this machine in the table and the file")
    bench.add_argument("-o", "--out", type=Path, help="append the rows to this file (.csv)")
    bench.set_defaults(command=_bench)


# ---- list ----


def _list(given: argparse.Namespace) -> int:
    parts = {
        "models": _list_models,
        "methods": _list_methods,
        "artifacts": _list_artifacts,
        "validation": _list_validation,
    }
    for name, show in parts.items():
        if given.what in (None, name):
            print(name)
            show()
    return 0


def _list_models() -> None:
    for name in models.names():
        print(f"  {name:<16} {_first_line(models.get(name))}")
        for parameter, default in models.parameters(name).items():
            print(f"      {parameter:<20} (default {default})")


def _list_methods() -> None:
    for name in methods():
        info = method_info(name)
        print(f"  {name:<16} order {info['order']}  {info['doc']}")
        for option in info["options"]:
            print(f"      {option['name']:<20} {option['doc']} (default {option['default']})")


def _list_validation() -> None:
    for row in validation.cases():
        print(f"  {f'{validation.KEY}/{row.name}':<28} {row.title} ({row.source})")


def _list_artifacts() -> None:
    for row in catalogue.artifacts():
        print(f"  {row.key:<28} {row.shows}")


def _first_line(function: object) -> str:
    return (inspect.getdoc(function) or "").split("\n")[0]


# ---- run ----


def _run(given: argparse.Namespace) -> int:
    known = models.parameters(given.model)
    settings = dict(_setting(text) for text in given.set)
    if given.formulation is not None:
        settings["formulation"] = given.formulation
    model = models.get(given.model)(**{name: value for name, value in settings.items() if name in known})
    options = {name: value for name, value in settings.items() if name not in known}
    allowed = [option["name"] for option in method_info(given.method)["options"]]
    arguments = inspect.signature(integrate).parameters
    for name in options:
        choice("parameter or option", name, [*known, *allowed, *arguments])
    schedule = {"t_end": given.t_end, "h": given.h, "save_every": given.save_every, "progress": given.progress}
    try:
        trajectory = integrate(model, given.method, **schedule, **options)
    except (_core.IntegrationError, _core.Interrupted) as error:
        if len(error.trajectory):
            _write(given, error.trajectory)
        print(f"lgint: {error}", file=sys.stderr)
        return 130 if isinstance(error, KeyboardInterrupt) else 1
    _write(given, trajectory)
    print(_summary(given.model, trajectory))
    return 0


def _setting(text: str) -> tuple[str, Any]:
    """name=value; a value that is not a Python literal is a string."""
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise ValueError(f"--set: NAME=VALUE expected, got {text!r}")
    try:
        return name, ast.literal_eval(value)
    except (ValueError, SyntaxError):
        return name, value


def _write(given: argparse.Namespace, trajectory: Trajectory) -> None:
    if given.out is not None:
        trajectory.save(given.out)
    if given.plot is not None:
        trajectory.plot().savefig(given.plot, dpi=150)


def _summary(name: str, run: Trajectory) -> str:
    stats, energy = run.stats, run.energy()
    most = "at most " if np.ptp(run.h[1:]) > 1e-9 * stats.h_used else ""
    lines = [
        f"{name} by {run.method}: t = {run.t[0]:g} ... {run.t[-1]:g} s "
        f"in {stats.steps} steps of {most}{stats.h_used:g} s, {stats.wall_time:.3g} s of wall time",
        f"{run.energy_kind} energy {energy[-1]:.12g} J, changed by {energy[-1] - energy[0]:.3e} J",
    ]
    if run.model.nc:
        position, velocity = (abs(run.constraint_residual(level)).max() for level in ("position", "velocity"))
        lines.append(f"largest constraint residual {position:.2e} (position), {velocity:.2e} (velocity)")
    if stats.retries:
        lines.append(f"{stats.retries} steps failed and were taken in halves")
    if stats.newton_iterations:
        lines.append(f"{stats.newton_iterations / stats.steps:.2f} Newton iterations per step")
    return "\n".join(lines)


# ---- reproduce, bench and demo ----


def _reproduce(given: argparse.Namespace) -> int:
    if given.which.split("/")[0] == validation.KEY:
        if given.format != ["png"]:
            raise ValueError("--format: validation has no pictures")
        return table.run(validation.select(given.which), given.out)
    rows = catalogue.select(given.which)
    jobs = runner.cores() if given.jobs is None else given.jobs
    if jobs < 1:
        raise ValueError(f"--jobs: a positive number expected, got {jobs}")
    kept = {"quick": given.quick, "strict": given.strict, "out": given.out, "jobs": jobs}
    return runner.run(rows, **kept, formats=given.format)


def _bench(given: argparse.Namespace) -> int:
    if find_spec("lgint._tools.bench") is None:
        raise ImportError(
            "bench: the benchmarks are part of the sources only; run `pip install --editable .[bench]` in the folder "
            "of the sources, and then `lgint bench`"
        )
    from lgint._tools import bench, bench_long, bench_rods, bench_stiff, bench_trees

    if given.methods and not given.stiff:
        raise ValueError("--methods: it belongs to --stiff")
    if given.stiff:
        bench_stiff.run(given.only, given.repeat, given.machine, given.out, given.methods)
        return 0
    tables = ((given.trees, bench_trees.run), (given.rods, bench_rods.run), (given.long, bench_long.run))
    measure = next((table for asked, table in tables if asked), bench.run)
    measure(given.only, given.repeat, given.machine, given.out)
    return 0


def _demo(given: argparse.Namespace) -> int:
    from lgint._tools import demo

    print(f"\nwrote {demo.run(given.out)}")
    return 0
