"""Instructions per step in each part of the code, counted by valgrind's tool callgrind, for `make counts`.

Times depend on the load of a machine; counts of one build repeat within a tenth of a per cent. Counted processes clear
and copy long arrays by vector instructions (`GLIBC`), as callgrind counts a string instruction once for each byte.
Each case of `lgint bench` that is listed here makes a short and a long run under callgrind, which writes a profile for
each call of `lg_integrate`, and likewise for the way back that some runs have. Their difference, divided by that of the
numbers of steps, is the cost of a step, which includes neither the opening of a run nor its first steps.

The parts are **evaluation** of the system (the directory `model` and all that it calls), **following** the unknowns
with q, v and a (the directory `group` and the integrators' functions for this), **solving** (the directory `sparse`),
**norms** and other checks of residuals and states, and the **rest**. A function that several parts call, such as one of
libm, is divided in proportion to the instructions spent under its callers.
"""

from __future__ import annotations

import argparse
import csv
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from lgint import models
from lgint._args import Array, choice
from lgint._model.model import Model
from lgint._run.gradient import gradient
from lgint._run.integrate import integrate
from lgint._tools import bench
from lgint.models._falling_bar import falling_bar
from lgint.models._stiff_chain import stiff_chain

ENTRY, BACK = "lg_integrate", "lg_adjoint_go_back"  # each call of one of them makes one profile
PARTS = ("evaluation", "following", "solving", "norms", "rest")
MORE = 1.1  # largest accepted ratio of a case's count to the committed one

# Explicit methods on systems with constraints, rods, and energy-momentum methods: they are counted, but not timed by
# `lgint bench`.
EULER: Mapping[str, Any] = {"formulation": "euler_parameters"}
TREE: Mapping[str, Any] = {"joint": "revolute", "formulation": "minimal"}
RADAU: Mapping[str, dict[str, Any]] = {
    "": {},
    " by splitting": {"sweeps": "splitting"},
    " in the eigenbasis": {"sweeps": "eigenbasis"},
}
STIFF: Mapping[str, tuple[Callable[..., Model], str, float]] = {
    "constrained top": (models.heavy_top, "top", 1e-4),
    "slider-crank": (models.slider_crank, "slider", 1e-3),
    "chain of 10": (partial(models.pendulum_chain, n=10), "link10", 1e-3),
    "rod of 16 edges": (models.flying_spaghetti, "node16", 1e-3),
    "stiff pair": (partial(stiff_chain, 2), "link2", 1e-2),
}
EXACT: Mapping[str, Any] = {"newton": "full", "newton_rtol": 0.0, "newton_atol": 0.0}
COUNTED: tuple[bench.Case, ...] = tuple(
    bench.Case(f"{name}, {method}", np.nan, model, body, None, h, steps=0, method=method, options=options)
    for name, model, body, method, h, options in (
        ("constrained top", models.heavy_top, "top", "rk44", 1e-4, {}),
        ("chain of 100", partial(models.pendulum_chain, n=100), "link100", "rk44", 1e-4, {}),
        ("tree of 30 links", partial(models.pendulum_chain, n=30, **TREE), "link30", "rk44", 1e-4, {}),
        ("tree of 300 links", partial(models.pendulum_chain, n=300, **TREE), "link300", "rk44", 1e-4, {}),
        ("rod of 100 edges", partial(models.roll_up, edges=100), "node100", "herk5", 1e-5, {}),
        ("rod of 16 edges", models.flying_spaghetti, "node16", "herk5", 1e-3, {}),
        ("rod of 16 edges", models.flying_spaghetti, "node16", "genalpha", 1e-3, {}),
        ("stiff pair", partial(stiff_chain, 2), "link2", "genalpha", 1e-2, {}),
        ("bar of 64 edges", partial(falling_bar, 64, True), "node64", "herk4", 1e-4, {}),
        ("hinged bar of 64 edges", partial(falling_bar, 64, False), "node64", "herk4", 1e-4, {}),
        ("bar of 64 edges on S3R3", partial(falling_bar, 64, True, "S3R3"), "node64", "herk4", 1e-4, {}),
        ("slider-crank to round-off", partial(models.slider_crank, **EULER), "slider", "genalpha", 1e-3, EXACT),
        ("slider-crank to round-off", partial(models.slider_crank, **EULER), "slider", "reml", 1e-3, {}),
        ("pendulum of 32 links", partial(models.pendulum_chain, n=32, **EULER), "link32", "reml", 1e-4, {}),
        ("pendulum of 256 links", partial(models.pendulum_chain, n=256, **EULER), "link256", "reml", 1e-4, {}),
        ("rod of 32 edges", partial(models.flying_spaghetti, edges=32, **EULER), "node32", "emh", 1e-4, {}),
        ("rod of 256 edges", partial(models.flying_spaghetti, edges=256, **EULER), "node256", "emh", 1e-4, {}),
    )
) + tuple(
    bench.Case(f"{name}{way}, radau5", np.nan, model, body, None, h, steps=0, method="radau5", options=options)
    for name, (model, body, h) in STIFF.items()
    for way, options in RADAU.items()
)

# Runs with derivatives, and the same runs without them.
DIFFERENTIATED: Mapping[str, tuple[Callable[[], Model], str, Sequence[str]]] = {
    "top": (models.heavy_top, "top", [f"top.inertia[{i},{i}]" for i in range(3)] + ["top.mass", "gravity[2]"]),
    "links": (
        partial(models.pendulum_chain, n=100),
        "link100",
        [f"link{i}.mass" for i in range(20, 101, 20)],
    ),
    "tree": (partial(models.pendulum_chain, n=100, **TREE), "link100", [f"link{i}.mass" for i in range(20, 101, 20)]),
}
COUNTED += tuple(
    bench.Case(f"{name} by {p} parameters", np.nan, model, body, None, 1e-3, steps=0, options=options)
    for name, (model, body, names) in DIFFERENTIATED.items()
    for p in ((0,) if name == "tree" else (0, 1, 5))
    for options in [{"sensitivity": names[:p]} if p else {}]
)

# The same derivatives backwards, where `integrate` is followed by a pass over the steps that it has kept.
BACKWARDS: Mapping[str, tuple[str, int, str]] = {
    **{f"{name} backwards by {p} parameters": (name, p, "genalpha") for name in DIFFERENTIATED for p in (1, 5)},
    **{
        f"top backwards by {p} parameters, {method}": ("top", p, method)
        for method in ("rk44", "herk3", "radau5")
        for p in (1, 5)
    },
    **{f"tree backwards by {p} parameters, rk44": ("tree", p, "rk44") for p in (1, 5)},
}
COUNTED += tuple(
    bench.Case(name, np.nan, *DIFFERENTIATED[which][:2], None, 1e-3, steps=0, method=method)
    for name, (which, _, method) in BACKWARDS.items()
)
COUNTED += tuple(
    bench.Case(
        f"{name} by 0 parameters, {method}", np.nan, *DIFFERENTIATED[name][:2], None, 1e-3, steps=0, method=method
    )
    for name, method in [("top", "rk44"), ("top", "herk3"), ("top", "radau5"), ("tree", "rk44")]
)

# steps of the short and the long run
STEPS: Mapping[str, tuple[int, int]] = {
    "constrained top": (100, 300),
    "free top, rk44": (100, 600),
    "free top, rk67": (100, 600),
    "rotor": (100, 400),
    "rotor, rk44": (100, 600),
    "slider-crank": (50, 250),
    "Puma 560": (40, 140),
    "Puma 560 minimal": (50, 150),
    "chain of 10": (50, 250),
    "chain of 100": (40, 80),
    "constrained top, herk5": (50, 250),
    "chain of 100, herk5": (10, 30),
    "constrained top, rk44": (50, 250),
    "chain of 100, rk44": (5, 25),
    "tree of 30 links, rk44": (5, 25),
    "tree of 300 links, rk44": (3, 9),
    "rod of 100 edges, herk5": (5, 25),
    "rod of 16 edges, herk5": (10, 60),
    "rod of 16 edges, genalpha": (50, 250),
    "bar of 64 edges, herk4": (10, 60),
    "hinged bar of 64 edges, herk4": (10, 60),
    "bar of 64 edges on S3R3, herk4": (10, 60),
    "stiff pair, genalpha": (20, 100),
    **{f"top by {p} parameters": (50, 150) for p in (0, 1, 5)},
    **{f"links by {p} parameters": (10, 20) for p in (0, 1, 5)},
    **{f"top backwards by {p} parameters": (50, 150) for p in (1, 5)},
    **{f"links backwards by {p} parameters": (10, 20) for p in (1, 5)},
    **{f"top by 0 parameters, {method}": (100, 300) for method in ("rk44", "herk3", "radau5")},
    **{name: (100, 300) for name, (which, _, method) in BACKWARDS.items() if which == "top" and method != "genalpha"},
    **{f"tree by 0 parameters{method}": (3, 7) for method in ("", ", rk44")},
    **{name: (3, 7) for name, (which, *_) in BACKWARDS.items() if which == "tree"},
    **{f"{name}{way}, radau5": (20, 100 if name == "stiff pair" else 120) for name in STIFF for way in RADAU},
    "slider-crank to round-off, genalpha": (50, 550),
    "slider-crank to round-off, reml": (50, 550),
    "pendulum of 32 links, reml": (5, 25),
    "pendulum of 256 links, reml": (5, 25),
    "rod of 32 edges, emh": (5, 25),
    "rod of 256 edges, emh": (3, 9),
}

# settings of the counted process with which no array is long enough for string instructions
GLIBC = ":".join(f"glibc.cpu.x86_rep_{name}_threshold={2**40}" for name in ("stosb", "movsb"))

# Parts by directory and by the name of the function around a line; the first rule that fits counts. A function without
# a rule belongs to the part of its caller.
RULES: Sequence[tuple[str, re.Pattern[str], re.Pattern[str]]] = tuple(
    (part, re.compile(room), re.compile(name))
    for part, room, name in (
        ("evaluation", "model", ""),
        ("solving", "sparse", ""),
        ("norms", "solve|integrator", "norm|excess|noise|measure|max_abs|finite"),
        ("following", "group", ""),
        ("following", "integrator", "follow|predict|correct|polynomial|move|retract|slopes|group"),
    )
)


# ---- profiles ----


class Function(NamedTuple):
    """A function that is called, identified by its file and its name."""

    file: str
    name: str


@dataclass
class Costs:
    """Instructions of one function: its own by line, and those spent under each function that it calls."""

    lines: dict[tuple[str, int], int] = field(default_factory=lambda: defaultdict(int))
    calls: dict[Function, int] = field(default_factory=lambda: defaultdict(int))


Profile = dict[Function, Costs]


def parse(text: str) -> Profile:
    """Read a profile in callgrind's format without compression: `--compress-strings=no --compress-pos=no`."""
    profile: Profile = defaultdict(Costs)
    costs, file, callee_file, callee, inclusive = Costs(), "", "", "", False
    for line in text.splitlines():
        key, equals, value = line.partition("=")
        if line[:1].isdigit():
            number, cost = (int(word) for word in line.split()[:2])
            if inclusive:
                costs.calls[Function(callee_file, callee)] += cost
                inclusive, callee_file = False, file
            else:
                costs.lines[file, number] += cost
        elif equals and key in ("fl", "fi", "fe"):
            file = callee_file = value
        elif equals and key == "fn":
            costs = profile[Function(file, value)]
        elif equals and key in ("cfl", "cfi"):
            callee_file = value
        elif equals and key == "cfn":
            callee = value
        elif equals and key == "calls":
            inclusive = True
    return dict(profile)


# ---- parts ----


class Source:
    """Finds the function of the C core that contains a line."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._functions: dict[str, list[str]] = {}

    def function(self, file: str, line: int) -> str:
        """Name of the function around a line, or "" if there is none."""
        path = self.root / inside(file)
        if file not in self._functions:
            self._functions[file] = functions(path.read_text()) if path.is_file() else []
        names = self._functions[file]
        return names[line - 1] if 0 < line <= len(names) else ""


def part_of(file: str, name: str) -> str:
    """The part of a function by the rules; "" if its caller decides."""
    room = inside(file).partition("/")[0]
    return next((part for part, rooms, names in RULES if rooms.fullmatch(room) and names.search(name)), "")


def inside(file: str) -> str:
    """Path below csrc/; "" for a file outside the core."""
    return file.rpartition("/csrc/")[2] if "/csrc/" in file else ""


def functions(text: str) -> list[str]:
    """The name of the function that contains each line of a C file, including signatures; "" outside functions."""
    names: list[str] = []
    head, in_body = "", False
    for line in text.splitlines():
        signature = re.match(r"\w[\w\s*]*?\b(\w+)\(", line)
        if signature and not in_body:
            head = signature.group(1)
        names.append(head)
        in_body = in_body or line.startswith("{")
        if line.startswith("}") or (not in_body and line.endswith(";")):
            head, in_body = "", False
    return names


Shares = dict[str, float]  # a fraction for each part
Spent = dict[tuple[str, str], float]  # instructions by part and function
CLOSED = {"evaluation", "solving"}  # all functions called from these parts belong to them


def divide(profile: Profile, source: Source) -> Spent:
    """Instructions by part and function."""
    spent: Spent = defaultdict(float)
    for function, callers in shares_of_callers(profile).items():
        own = part_of(*function)
        for (file, line), count in profile[function].lines.items():
            name = source.function(file, line) or function.name
            for part, share in moved(callers, part_of(file, name) or own).items():
                spent[part, f"{inside(file) or Path(file).name}: {name}"] += share * count
    return spent


def by_part(spent: Spent) -> Shares:
    """Instructions of each part."""
    return {part: sum(count for (own, _), count in spent.items() if own == part) for part in PARTS}


def moved(callers: Shares, own: str) -> Shares:
    """Shares of a function by those of its callers; all but those of closed parts go to `own`, if it is given."""
    if not own:
        return callers
    shares = {part: share for part, share in callers.items() if part in CLOSED}
    shares[own] = shares.get(own, 0.0) + 1.0 - sum(shares.values())
    return shares


def shares_of_callers(profile: Profile, sweeps: int = 30) -> dict[Function, Shares]:
    """For each function the shares of its callers' parts, in proportion to the instructions spent under each caller.

    The shares of callers follow from those of their own callers; iteration finds them, as call graphs are shallow.
    """
    callers: dict[Function, list[tuple[Function, int]]] = defaultdict(list)
    for caller, costs in profile.items():
        for callee, count in costs.calls.items():
            if callee in profile and callee != caller and count > 0:
                callers[callee].append((caller, count))
    shares: dict[Function, Shares] = {function: {"rest": 1.0} for function in profile}
    for _ in range(sweeps):
        parts = {function: moved(shares[function], part_of(*function)) for function in profile}
        for function, edges in callers.items():
            shares[function] = _mean([(parts[caller], count) for caller, count in edges])
    return shares


def _mean(weighted: Sequence[tuple[Shares, int]]) -> Shares:
    mean: Shares = defaultdict(float)
    whole = sum(weight for _, weight in weighted)
    for shares, weight in weighted:
        for part, share in shares.items():
            mean[part] += share * weight / whole
    return dict(mean)


# ---- runs ----


def count(names: Sequence[str], source: Source) -> dict[str, Spent]:
    """Instructions per step of each case, by part and function. Raises FileNotFoundError without valgrind."""
    valgrind = shutil.which("valgrind")
    if valgrind is None:
        raise FileNotFoundError("counting instructions needs valgrind, which is not installed (or not on PATH)")
    spent: dict[str, Spent] = {name: defaultdict(float) for name in names}
    for entry, cases in ((ENTRY, names), (BACK, [name for name in names if name in BACKWARDS])):
        with tempfile.TemporaryDirectory() as folder:
            profiles = _profiles(valgrind, entry, cases, Path(folder)) if cases else []
        runs = [divide(profile, source) for profile in profiles]
        for i, name in enumerate(cases):
            for key, instructions in _a_step(runs[2 * i], runs[2 * i + 1], STEPS[name]).items():
                spent[name][key] += instructions
    return {**spent}


def _a_step(less: Spent, more: Spent, steps: tuple[int, int]) -> Spent:
    """Instructions per step: the difference of the longer and the shorter run over that of their steps."""
    keys = {**less, **more}
    return {key: (more.get(key, 0.0) - less.get(key, 0.0)) / (steps[1] - steps[0]) for key in keys}


def _profiles(valgrind: str, entry: str, names: Sequence[str], folder: Path) -> list[Profile]:
    """Profiles of the calls of `entry` in the short and the long run of each case, in this order."""
    out = folder / "profile"
    options = [
        *("--tool=callgrind", "--compress-strings=no", "--compress-pos=no"),
        *(f"--toggle-collect={entry}", f"--dump-after={entry}", f"--callgrind-out-file={out}"),
    ]
    program = "import sys; from lgint._tools import bench_counts; bench_counts.run_cases(sys.argv[1:])"
    done = subprocess.run(
        [valgrind, *options, sys.executable, "-c", program, *names],
        cwd=folder,
        env={
            **os.environ,
            "PYTHONPATH": str(Path(__file__).parents[2]),
            "OPENBLAS_NUM_THREADS": "1",
            "GLIBC_TUNABLES": GLIBC,
        },
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise RuntimeError(f"the runs under valgrind failed:\n{done.stderr}")
    profiles = [
        parse(file.read_text()) for i in range(2 * len(names)) if (file := folder / f"profile.{i + 1}").exists()
    ]
    if len(profiles) < 2 * len(names):
        raise RuntimeError(f"{len(profiles)} profiles for {2 * len(names)} runs: is there still a function {entry}?")
    if not any(inside(function.file) for function in profiles[0]):
        raise RuntimeError("the profiles name no source file of csrc: build the extension with CFLAGS=-g")
    return profiles


def go_back(case: bench.Case, model: Model, which: str, p: int, steps: int) -> None:
    """The derivatives of the last position of the body by p parameters, backwards."""
    gradient(
        *(model, case.method, last_position, DIFFERENTIATED[which][2][:p]),
        outputs=[("position", case.body)],
        t_end=steps * case.h,
        h=case.h,
        every_state=False,
    )


def last_position(t: Array, x: Array) -> tuple[float, list[Array]]:
    """A cost whose derivatives take next to no work."""
    slope = np.zeros_like(x)
    slope[-1] = 1.0
    return float(x[-1].sum()), [slope]


def run_cases(names: Sequence[str]) -> None:
    """Make the short and the long run of each case; this is what runs under valgrind."""
    cases = {case.name: case for case in (*bench.CASES, *COUNTED)}
    for name in names:
        case = cases[name]
        model = case.model()
        for steps in STEPS[name]:
            if name in BACKWARDS:
                go_back(case, model, *BACKWARDS[name][:2], steps)
                continue
            integrate(model, case.method, t_end=steps * case.h, h=case.h, save_every=steps, **case.options)


# ---- the table and the file ----


def read(path: Path) -> dict[str, Shares]:
    """Read counts from a CSV file."""
    with path.open(newline="") as file:
        return {row["case"]: {part: float(row[part]) for part in PARTS} for row in csv.DictReader(file)}


def write(counts: Mapping[str, Shares], path: Path) -> None:
    """Write counts to a CSV file, rounded to whole instructions per step."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["case", *PARTS, "total"])
        for name, parts in counts.items():
            writer.writerow([name, *(round(parts[part]) for part in PARTS), round(sum(parts.values()))])


def compare(counts: Mapping[str, Shares], committed: Mapping[str, Shares]) -> list[str]:
    """Messages about cases that need too many instructions compared with the committed counts, or have none there."""
    faults = []
    for name, parts in counts.items():
        if name not in committed:
            faults.append(f"{name}: no committed count")
            continue
        now, before = sum(parts.values()), sum(committed[name].values())
        if now > MORE * before:
            faults.append(
                f"{name}: {now:.0f} instructions per step, {now / before:.2f} times the committed {before:.0f}"
            )
    return faults


def table(counts: Mapping[str, Shares], committed: Mapping[str, Shares]) -> str:
    """One line per case: instructions per step by part, their sum, and its ratio to the committed sum."""
    lines = [f"{'':<36}" + "".join(f"{title:>11}" for title in (*PARTS, "total", "committed", "ratio"))]
    for name, parts in counts.items():
        total, before = sum(parts.values()), sum(committed.get(name, {}).values())
        lines.append(f"{name:<36}" + "".join(f"{value:11.0f}" for value in (*(parts[part] for part in PARTS), total)))
        if before:
            lines[-1] += f"{before:11.0f}{total / before:11.3f}"
    return "\n".join(lines)


def most_expensive(spent: Spent, n: int) -> str:
    """The `n` functions of each part that need most instructions per step."""
    lines = []
    for part in PARTS:
        found = sorted(((count, name) for (own, name), count in spent.items() if own == part), reverse=True)
        lines += [f"{part:<12}{count:11.0f}  {name}" for count, name in found[:n]]
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Count, print, write and compare. Exit status 0: no more than committed, 1: more, 2: nothing was counted."""
    parser = argparse.ArgumentParser(
        prog="make counts", description="Instructions per step, next to the committed ones."
    )
    parser.add_argument("--only", default="", metavar="TEXT", help="cases whose names contain this text")
    parser.add_argument("--share", type=int, default=1, metavar="N", help="one in N of these cases")
    parser.add_argument(
        "--functions", type=int, default=0, metavar="N", help="show the N most expensive functions of each part"
    )
    parser.add_argument("--source", type=Path, default=Path("csrc"), help="the core's sources (default: csrc)")
    parser.add_argument("--committed", type=Path, default=Path("benchmarks/instructions.csv"), help="to compare with")
    parser.add_argument("-o", "--out", type=Path, help="file for the new counts (.csv)")
    given = parser.parse_args(arguments)
    names = [name for name in STEPS if given.only in name][:: given.share]
    try:
        if not names:
            choice("case", given.only, list(STEPS))
        committed = read(given.committed) if given.committed.exists() else {}
        spent = count(names, Source(given.source))
    except (ValueError, OSError, RuntimeError) as error:
        print(f"make counts: {error}", file=sys.stderr)
        return 2
    counts = {name: by_part(each) for name, each in spent.items()}
    print(table(counts, committed))
    for name in names if given.functions else ():
        print(f"\n{name}\n{most_expensive(spent[name], given.functions)}")
    if given.out is not None:
        write(counts, given.out)
    faults = compare(counts, committed)
    for fault in faults:
        print(fault, file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
