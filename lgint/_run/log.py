"""What single runs tell the logger "lgint"."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lgint._run.trajectory import Trajectory

LOG = logging.getLogger("lgint")
LOG.addHandler(logging.NullHandler())  # programs that do not ask for messages get none


def begins(method: str, begin: float, end: float) -> None:
    """A run begins, at the level INFO."""
    LOG.info("%s runs from t = %g s to %g s", method, begin, end)


def ends(method: str, run: Trajectory) -> None:
    """A run has ended, at the level INFO."""
    if LOG.isEnabledFor(logging.INFO):
        stats = run.stats
        LOG.info("%s ended at t = %g s: %d steps in %.3g s", method, run.t[-1], stats.steps, stats.wall_time)


def fails(method: str, error: BaseException) -> None:
    """A run has failed, or was interrupted, at the level WARNING."""
    LOG.warning("%s failed: %s", method, error)
