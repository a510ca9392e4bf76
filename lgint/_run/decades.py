"""Ticks of logarithmic axes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FEW = 8  # up to this many decades there are also grid lines between powers of ten
SHORTEST = 0.8  # decades; an axis is made at least this long, so that it has two of the ticks 1, 2, 5, 10, ...


def decades(axes: Axes, letter: str) -> None:
    """Sets the ticks of an axis, "x" or "y", whose scale is already logarithmic.

    There are labels at powers of ten, or at 1, 2 and 5 times these if there would be fewer than two, and thin grid
    lines between them. A limit close to a power of ten is moved to it.
    """
    from matplotlib.ticker import LogFormatterSciNotation, LogLocator, NullFormatter

    axis = getattr(axes, f"{letter}axis")
    low, high = np.log10(getattr(axes, f"get_{letter}lim")())
    low, high = (low - (room := max(0, (SHORTEST - high + low) / 2)), high + room)
    down, up = np.floor(low), np.ceil(high)
    low, high = down - 0.02 if low - down < 0.2 else low, up + 0.02 if up - high < 0.2 else high
    getattr(axes, f"set_{letter}lim")(10**low, 10**high)
    if np.floor(high) - np.ceil(low) >= 1:
        axis.set_major_locator(LogLocator(base=10, numticks=9))
    else:
        axis.set_major_locator(LogLocator(base=10, subs=(1, 2, 5), numticks=99))
        axis.set_major_formatter(LogFormatterSciNotation(labelOnlyBase=False, minor_thresholds=(np.inf, np.inf)))
    axis.set_minor_locator(LogLocator(base=10, subs=tuple(range(2, 10)), numticks=99 if high - low < FEW else 2))
    axis.set_minor_formatter(NullFormatter())
    axes.grid(which="minor", axis=letter, alpha=0.12)
