"""Progress on standard error: a bar of tqdm, or a percentage."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np

from lgint._args import shown


@contextmanager
def progress_bar(
    wanted: bool | Callable[[float], None], begin: float, end: float, unit: str
) -> Iterator[Callable[[float], None] | None]:
    """A function of a number between `begin` and `end` that shows progress: `wanted` itself, or one that moves a bar.

    It is None if no progress is wanted.
    """
    if not (callable(wanted) or wanted is None or isinstance(wanted, (bool, np.bool_))):
        raise ValueError(f"progress: True, False or a function of a number expected, got {shown(wanted)}")
    if callable(wanted) or not wanted:
        yield wanted or None
        return
    try:
        from tqdm import tqdm
    except ImportError:
        yield lambda t: print(f"\r{100 * (t - begin) / (end - begin):5.1f} %", end="", file=sys.stderr, flush=True)
        print("\r100.0 %", file=sys.stderr)
        return
    counts = "{n:.3g}/{total:.3g} " + unit
    with tqdm(total=end - begin, unit=unit, bar_format="{l_bar}{bar}| " + counts + " [{elapsed}<{remaining}]") as bar:

        def move(t: float) -> None:
            bar.update(t - begin - bar.n)

        yield move
        bar.update(bar.total - bar.n)
