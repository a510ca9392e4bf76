"""A warning about runs and equilibria that came near the singularity of Tait-Bryan angles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lgint._args import warn

NEAR = 1e-2  # if the cosine of the middle angle is smaller, errors are amplified so much that a warning is given


def warn_of_angles(results: Sequence[Mapping[str, Any]], clock: str = "t") -> None:
    """Warns once, about the nearest approach in the results of several runs; q' has terms divided by the cosine."""
    cosines = [result["stats"]["least_cosine"] for result in results]
    least = min(cosines)
    if least >= NEAR:
        return
    run = cosines.index(least)
    body, t = results[run]["nearest"]
    which = f" of run {run}" if len(results) > 1 else ""
    warn(
        f"the Tait-Bryan angles of {body}{which} come near their singularity at {clock} = {t:.9g} "
        f"(cosine {least:.1e}), where errors grow; use another formulation for that body, such as R3xSO3, or another "
        "reference rotation"
    )
