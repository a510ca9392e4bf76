"""Sweeps of the heavy top: the gain by threads, and the cost of a run beside that of its steps; appends to sweeps.csv.

    python benchmarks/sweeps.py "name of this machine"

All settings take turns. Of the gain by threads, for which the machine must be idle, the least wall time of several
repetitions counts; of the cost of runs, the median ratio of processor times.
"""

import csv
import datetime
import statistics
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

import lgint
from lgint._sweep.execute import cpu_count

REPEAT = 7
STEPS = 1000  # of each run, of 1 ms
RUN: dict[str, Any] = {"t_end": 1e-3 * STEPS, "h": 1e-3, "save_every": 100}
MASSES = 5.0, 20.0


def sweep(model: Any, name: str, runs: int, threads: int) -> None:
    """A sweep over a mass."""
    masses = np.linspace(*MASSES, runs)
    with ThreadPoolExecutor(threads) as pool:
        lgint.sweep(model, {name: masses}, "genalpha", {"none": lambda run: 0.0}, executor=pool, **RUN)


def took(work: Callable[[], object], clock: Callable[[], float] = time.process_time) -> float:
    """The time that something takes by a clock, s."""
    begin = clock()
    work()
    return clock() - begin


def gains() -> dict[str, tuple[float, float]]:
    """By the number of threads: wall time, and how many times as fast as one."""
    made, threads = lgint.models.heavy_top(), range(1, cpu_count() + 1)
    walls = dict.fromkeys(threads, np.inf)
    for _ in range(REPEAT):
        for n in threads:
            walls[n] = min(walls[n], took(lambda n=n: sweep(made, "top.mass", 2000, n), time.perf_counter))
    return {f"{n} thread{'s' if n > 1 else ''}": (wall, walls[1] / wall) for n, wall in walls.items()}


def costs() -> dict[str, tuple[float, float]]:
    """Of sweeps on one thread: processor time, and its ratio to that of the same runs in one call of the core."""
    made, runs = lgint.models.heavy_top(), 1000
    models = made.variants({"top.mass": np.linspace(*MASSES, runs)})
    cases: dict[str, Callable[[], object]] = {
        "a function makes the models": lambda: sweep(lgint.models.heavy_top, "mass", runs, 1),
        "values of a model are changed": lambda: sweep(made, "top.mass", runs, 1),
    }
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in cases}
    for _ in range(REPEAT):
        core = took(lambda: lgint.integrate(models, "genalpha", **RUN))
        for name, case in cases.items():
            spent = took(case)
            found[name].append((spent / core, spent))
    ratios = {name: statistics.median_low(pairs) for name, pairs in found.items()}
    return {name: (spent, ratio) for name, (ratio, spent) in ratios.items()}


def main(machine: str) -> None:
    """Measure, print, and append a row for each setting."""
    rows = gains() | costs()
    now = datetime.datetime.now().isoformat(timespec="minutes")
    path = Path(__file__).with_name("sweeps.csv")
    new = not path.exists()
    with open(path, "a", newline="") as file:
        writer = csv.writer(file)
        if new:
            writer.writerow(["date", "machine", "lgint", "case", "seconds", "ratio"])
        for name, (seconds, ratio) in rows.items():
            writer.writerow([now, machine, lgint.__version__, name, f"{seconds:.4g}", f"{ratio:.3f}"])
            print(f"{name:30} {seconds:8.3f} s   {ratio:.3f}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "")
