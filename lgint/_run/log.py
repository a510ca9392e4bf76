"""What single runs tell the logger "lgint"."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from logging import Logger

    from lgint._run.trajectory import Trajectory


@cache
def logger() -> Logger:
    """The logger; the first run imports the module, which `import lgint` has no use for."""
    import logging

    found = logging.getLogger("lgint")
    found.addHandler(logging.NullHandler())  # programs that do not ask for messages get none
    return found


def begins(method: str, begin: float, end: float) -> None:
    """A run begins, at the level INFO."""
    logger().info("%s runs from t = %g s to %g s", method, begin, end)


def ends(method: str, run: Trajectory) -> None:
    """A run has ended, at the level INFO."""
    from logging import INFO

    if logger().isEnabledFor(INFO):
        stats = run.stats
        logger().info("%s ended at t = %g s: %d steps in %.3g s", method, run.t[-1], stats.steps, stats.wall_time)


def fails(method: str, error: BaseException) -> None:
    """A run has failed, or was interrupted, at the level WARNING."""
    logger().warning("%s failed: %s", method, error)
