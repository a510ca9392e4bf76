"""Times at equal errors: the ladder of one code's runs, from coarse to fine."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np


@dataclass
class Ladder:
    """The runs of one code: seconds and errors, from the coarsest to the finest."""

    code: str
    seconds: list[float] = field(default_factory=list)
    errors: list[float] = field(default_factory=list)

    def at(self, error: float) -> float:
        """Seconds at an error: on the front of runs for which no other one is both faster and more accurate."""
        front: list[tuple[float, float]] = []
        for seconds, found in sorted(zip(self.seconds, self.errors, strict=True)):
            if not front or found < front[-1][1]:
                front.append((seconds, found))
        if not front or front[-1][1] > error:
            return float("nan")
        times, errors = np.log(np.array(front)).T
        return float(np.exp(np.interp(-np.log(error), -errors, times)))
