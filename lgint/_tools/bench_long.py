"""`lgint bench --long`: time per link and step of chains of 100 to 10 000 links, at rest and in motion.

The arithmetic of an evaluation and of a matrix per link is the same at every length; longer models leave the caches of
the processor. Full Newton's method forms and factors a matrix in every step; with the default, chains of different
lengths form different numbers of matrices. A chain that starts at rest moves ever less from link to link.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any, Final

import numpy as np

from lgint import models
from lgint._args import choice
from lgint._model.model import Model
from lgint._run.integrate import integrate
from lgint._tools.bench_clock import seconds_a_step
from lgint._tools.bench_file import append

LINKS: Final = (100, 1000, 10_000)
STEPS: Final = (10, 50)  # of the short and the long run, whose difference counts
METHODS: Final[dict[str, tuple[str, dict[str, Any]]]] = {
    "genalpha": ("genalpha", {}),
    "genalpha, full Newton": ("genalpha", {"newton": "full"}),
    "rk44": ("rk44", {}),
}
STARTS: Final = ("at rest", "moving")
H: Final = 1e-4  # s
LENGTH: Final = 0.1  # m, of a link
SPEED: Final = 10.0  # m/s, of the free end of a moving chain


@dataclass(frozen=True)
class Result:
    """A row of the table and of the file."""

    case: str  # how the chain starts
    method: str
    links: int
    ns: float  # nanoseconds per link and step
    ratio: float  # to those of the shortest chain


def chain(n: int, start: str) -> Model:
    """A chain of n links, at rest or turning about the vertical axis through its fixed end."""
    model = models.pendulum_chain(n=n, length=LENGTH)
    if start == "at rest":
        return model
    v = np.zeros((n, 6))
    v[:, 1] = SPEED * (np.arange(n) + 0.5) / n
    v[:, 5] = SPEED / (n * LENGTH)
    return model.with_state(v=v.ravel())


def measure(method: str, start: str, links: tuple[int, ...], repeat: int) -> Iterator[Result]:
    """One row for each length; short runs are repeated more often."""
    first = 0.0
    name, options = METHODS[method]
    for n in links:
        model = chain(n, start)

        def run(steps: int, model: Model = model) -> None:
            integrate(model, name, t_end=steps * H, h=H, save_every=steps, **options)

        (seconds,) = seconds_a_step([run], STEPS, repeat * max(1, links[-1] // (10 * n)))
        ns = 1e9 * seconds / n
        first = first or ns
        yield Result(start, method, n, ns, ns / first)


def run(only: str = "", repeat: int = 3, machine: str = "", out: Path | None = None) -> list[Result]:
    """Runs the methods whose names contain `only`, prints the table, and appends it to `out` if that is given."""
    if not any(only in method for method in METHODS):
        choice("case", only, tuple(METHODS))
    print(f"{'':<22} {'start':<8} {'links':>6} {'ns a link and step':>19} {'ratio':>6}")
    results = []
    for method, start in product((method for method in METHODS if only in method), STARTS):
        for result in measure(method, start, LINKS, repeat):
            results.append(result)
            print(_line(result), flush=True)
    if out is not None:
        append(results, out, machine)
    return results


def _line(r: Result) -> str:
    return f"{r.method:<22} {r.case:<8} {r.links:6d} {r.ns:19.0f} {r.ratio:6.2f}"
