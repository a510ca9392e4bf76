"""A warning about runs in which the alternating error of rates has grown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lgint._args import warn
from lgint._run.methods import ROWS

GROWN = 0.1  # of the rates; soon after, velocities become wrong and then positions


def warn_of_rates(method: str, results: Sequence[Mapping[str, Any]]) -> None:
    """Warns once, about the largest parasitic rate in the results of several runs."""
    rates = [result["stats"]["parasitic_rate"] or 0.0 for result in results]
    most = max(rates)
    if most < GROWN:
        return
    run = rates.index(most)
    body, t = results[run]["parasite"]
    which = f" of run {run}" if len(results) > 1 else ""
    warn(
        f"{method}: the alternating error in the rates of {body}{which} has grown to {most:.0%} of their size at "
        f"t = {t:.9g}, and velocities are wrong by as much; {ROWS[method]['steadier']} conserves the same quantities "
        "without this error"
    )
