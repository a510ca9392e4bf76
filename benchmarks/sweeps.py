"""Sweeps of the heavy top: the gain by threads, and the cost of a run beside that of its steps; appends to sweeps.csv.

    python benchmarks/sweeps.py "name of this machine"

The machine must be idle. All settings take turns, and the least time of several repetitions counts.
"""

import csv
import datetime
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

import lgint
from lgint._sweep.execute import cpu_count

REPEAT = 5
STEPS = 1000  # of each run, of 1 ms


def sweep(model: Any, name: str, runs: int, threads: int) -> tuple[float, float]:
    """Wall time of a sweep over a mass, and the time of all of its runs in the core, s."""
    spent: list[float] = []

    def note(run: lgint.Trajectory) -> float:
        spent.append(run.stats.wall_time)
        return 0.0

    with ThreadPoolExecutor(threads) as pool:
        begin = time.perf_counter()
        lgint.sweep(
            model,
            {name: np.linspace(5.0, 20.0, runs)},
            "genalpha",
            {"none": note},
            t_end=1e-3 * STEPS,
            h=1e-3,
            save_every=100,
            executor=pool,
        )
        return time.perf_counter() - begin, sum(spent)


def main(machine: str) -> None:
    """Measure, print, and append a row for each setting."""
    made = lgint.models.heavy_top()
    count = cpu_count()
    settings: dict[str, Callable[[], tuple[float, float]]] = {
        f"{threads} thread{'s' if threads > 1 else ''}": lambda n=threads: sweep(made, "top.mass", 2000, n)
        for threads in range(1, count + 1)
    }
    settings["a function makes the models"] = lambda: sweep(lgint.models.heavy_top, "mass", 1000, 1)
    settings["values of a model are changed"] = lambda: sweep(made, "top.mass", 1000, 1)
    rows: dict[str, tuple[float, float]] = {}
    for _ in range(REPEAT):
        for name, measure in settings.items():
            rows[name] = min(rows.get(name, (np.inf, 1.0)), measure())

    now = datetime.datetime.now().isoformat(timespec="minutes")
    path = Path(__file__).with_name("sweeps.csv")
    new = not path.exists()
    with open(path, "a", newline="") as file:
        writer = csv.writer(file)
        if new:
            writer.writerow(["date", "machine", "lgint", "case", "seconds", "ratio"])
        for name, (wall, core) in rows.items():
            # of threads: how many times as fast as one; else: the whole time over that of the runs in the core
            ratio = rows["1 thread"][0] / wall if "thread" in name else wall / core
            writer.writerow([now, machine, lgint.__version__, name, f"{wall:.4g}", f"{ratio:.3f}"])
            print(f"{name:30} {wall:8.3f} s   {ratio:.3f}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "")
