"""A warning of runs in which the alternating error of rates has grown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lgint._args import warn
from lgint._run.methods import ROWS

GROWN = 0.1  # of the rates; velocities and then positions become wrong soon after


def warn_of_rates(method: str, results: Sequence[Mapping[str, Any]]) -> None:
    """Warns once of the largest parasitic rate in results of the core, each of a run."""
    rates = [result["stats"]["parasitic_rate"] or 0.0 for result in results]
    most = max(rates)
    if most < GROWN:
        return
    run = rates.index(most)
    body, t = results[run]["parasite"]
    which = f" of run {run}" if len(results) > 1 else ""
    warn(
        f"{method}: the alternating error in the rates of {body}{which} has grown to {most:.0%} of their size at "
        f"t = {t:.9g}, and velocities are wrong by as much; {ROWS[method]['steadier']} conserves the same without it"
    )
