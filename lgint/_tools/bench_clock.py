"""The processor time of a step, for `lgint bench`."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import numpy as np


def short_and_long(steps: int) -> tuple[int, int]:
    """The steps of a short and of a long run."""
    return max(steps // 5, 1), steps


def seconds_a_step(runs: Sequence[Callable[[int], object] | None], counts: tuple[int, int], repeat: int) -> list[float]:
    """Seconds per step of functions that make a given number of steps; NaN for None.

    The difference of a short and a long run counts, so that what a run costs outside its steps cancels, and of several
    repetitions the least time. Functions take turns. After each change a run is not counted: the caches hold the data
    of another function, which would burden only the first of the two runs whose difference counts.
    """
    least = np.array([[np.inf if run else np.nan] * 2 for run in runs])
    for _ in range(repeat):
        for i, run in enumerate(runs):
            if run is None:
                continue
            if len(runs) > 1:
                run(counts[0])
            for j, count in enumerate(counts):
                start = time.process_time()
                run(count)
                least[i, j] = min(least[i, j], time.process_time() - start)
    span = max(counts[1] - counts[0], 1)
    return [float(seconds) for seconds in (least[:, 1] - least[:, 0]) / span]
