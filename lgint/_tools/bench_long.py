"""`lgint bench --long`: time per link and step of chains of 100 to 10 000 links.

The arithmetic per link is the same at every length; longer models leave the caches of the processor. With full Newton's
method every step of `genalpha` forms and factors a matrix at every length.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from lgint import models
from lgint._args import choice
from lgint._run.integrate import integrate
from lgint._tools.bench_file import append

LINKS: Final = (100, 1000, 10_000)
STEPS: Final = (10, 50)  # of the short and the long run, whose difference counts
METHODS: Final[dict[str, dict[str, Any]]] = {"genalpha": {"newton": "full"}, "rk44": {}}
H: Final = 1e-4  # s


@dataclass(frozen=True)
class Result:
    """A row of the table and of the file."""

    case: str
    method: str
    links: int
    ns: float  # nanoseconds per link and step
    ratio: float  # to those of the shortest chain


def seconds_a_step(run: Callable[[int], object], repeat: int) -> float:
    """Processor time of a step, without what a run without steps would take."""
    least = [float("inf")] * 2
    for _ in range(repeat):
        for i, steps in enumerate(STEPS):
            start = time.process_time()
            run(steps)
            least[i] = min(least[i], time.process_time() - start)
    return (least[1] - least[0]) / (STEPS[1] - STEPS[0])


def measure(method: str, links: tuple[int, ...], repeat: int) -> Iterator[Result]:
    """One row for each length; short runs are repeated more often."""
    first = 0.0
    for n in links:
        model = models.pendulum_chain(n=n)

        def run(steps: int, model: Any = model) -> None:
            integrate(model, method, t_end=steps * H, h=H, save_every=steps, **METHODS[method])

        ns = 1e9 * seconds_a_step(run, repeat * max(1, links[-1] // (10 * n))) / n
        first = first or ns
        yield Result("chain", method, n, ns, ns / first)


def run(only: str = "", repeat: int = 3, machine: str = "", out: Path | None = None) -> list[Result]:
    """Runs the methods whose names contain `only`, prints the table, and appends it to `out` if that is given."""
    if not any(only in method for method in METHODS):
        choice("case", only, tuple(METHODS))
    print(f"{'':<10} {'links':>6} {'ns a link and step':>19} {'ratio':>6}")
    results = []
    for method in METHODS:
        for result in measure(method, LINKS, repeat) if only in method else []:
            results.append(result)
            print(_line(result), flush=True)
    if out is not None:
        append(results, out, machine)
    return results


def _line(r: Result) -> str:
    return f"{r.method:<10} {r.links:6d} {r.ns:19.0f} {r.ratio:6.2f}"
