"""Warnings about runs and equilibria in which errors have grown, each given once for the worst of several runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lgint._args import warn
from lgint._run.methods import ROWS

GROWN = 0.1  # of the rates; soon after, velocities become wrong and then positions
NEAR = 1e-2  # if the cosine of the middle angle is smaller, errors are amplified so much that a warning is given

Results = Sequence[Mapping[str, Any]]


def warn_of_rates(method: str, results: Results) -> None:
    """Warns of the largest alternating error in rates."""
    rates = [result["stats"]["parasitic_rate"] or 0.0 for result in results]
    most = max(rates)
    if most >= GROWN:
        body, t = _where(results, rates.index(most), "parasite")
        warn(
            f"{method}: the alternating error in the rates of {body} has grown to {most:.0%} of their size at "
            f"t = {t:.9g}, and velocities are wrong by as much; {ROWS[method]['steadier']} conserves the same "
            "quantities without this error"
        )


def warn_of_angles(results: Results, clock: str = "t") -> None:
    """Warns of the nearest approach to the singularity of Tait-Bryan angles; q' has terms divided by the cosine."""
    cosines = [result["stats"]["least_cosine"] for result in results]
    least = min(cosines)
    if least < NEAR:
        body, t = _where(results, cosines.index(least), "nearest")
        warn(
            f"the Tait-Bryan angles of {body} come near their singularity at {clock} = {t:.9g} (cosine {least:.1e}), "
            "where errors grow; use another formulation for that body, such as R3xSO3, or another reference rotation"
        )


def _where(results: Results, run: int, what: str) -> tuple[str, float]:
    """The body, with the number of the run if there are several, and the time."""
    body, t = results[run][what]
    return (f"{body} of run {run}" if len(results) > 1 else body), t
