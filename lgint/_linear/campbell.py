"""`campbell`: frequencies of turning systems over the rate at which they turn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from lgint import _html
from lgint._args import Array, array, shown
from lgint._linear import pictures
from lgint._linear.linearization import linearize
from lgint._linear.modes import Mode
from lgint._model.record import ground
from lgint._model.system import System, checked
from lgint._run.equilibrium import equilibrium

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Campbell:
    """Frequencies over the rate of a rotation; `lgint.campbell` returns it.

    Attributes
    ----------
    rates : ndarray, shape (k,)
        rad/s.
    modes : list of list of Mode
        The oscillating modes at each rate, by increasing frequency.
    """

    def __init__(self, rates: Array, modes: list[list[Mode]], n: int) -> None:
        self.rates, self.modes, self._n = rates, modes, n

    @property
    def frequencies(self) -> Array:
        """Shape (k, n), rad/s, increasing in each row; NaN where there are fewer."""
        return self._table([[mode.frequency for mode in row] for row in self.modes])

    @property
    def damping_ratios(self) -> Array:
        """Shape (k, n), for each of the frequencies."""
        return self._table([[mode.damping_ratio for mode in row] for row in self.modes])

    def _table(self, rows: list[list[float]]) -> Array:
        table = np.full((len(rows), self._n), np.nan)
        for values, row in zip(table, rows, strict=True):
            values[: len(row)] = row
        return table

    def plot(self, *, orders: Sequence[float] = (1,), ax: Any = None) -> Figure:
        """The Campbell diagram, as a matplotlib figure.

        Parameters
        ----------
        orders : sequence of float
            Multiples of the rate that are drawn as lines.
        ax : matplotlib axes, optional
            Where to draw.

        Returns
        -------
        matplotlib.figure.Figure
            The figure.
        """
        return pictures.campbell(self.rates, self.frequencies, self.damping_ratios, orders, ax)

    def __repr__(self) -> str:
        return f"<lgint.Campbell: {len(self.rates)} rates, {self.rates[0]:g} ... {self.rates[-1]:g} rad/s>"

    def _repr_html_(self) -> str:
        head = ("rate / (rad/s)", *(f"frequency {i + 1} / (rad/s)" for i in range(self._n)))
        rows = [
            (f"{rate:g}", *("" if np.isnan(each) else f"{each:.6g}" for each in row))
            for rate, row in zip(self.rates, self.frequencies, strict=True)
        ]
        return _html.table("Campbell diagram", head, rows)


def campbell(
    model: System,
    rates: ArrayLike,
    *,
    axis: ArrayLike,
    point: ArrayLike = (0.0, 0.0, 0.0),
    rotating: Sequence[str] | None = None,
    frame: Any = ground,
    n: int = 10,
) -> Campbell:
    """Frequencies of a system that turns steadily, over the rate.

    At each rate `lgint.equilibrium` finds the steady rotation, starting from that at the previous rate, and
    `lgint.linearize` linearises it.

    Parameters
    ----------
    model : Model
        The model; its velocities `v0` are ignored.
    rates : array_like, shape (k,)
        Rates in rad/s, in the order in which they are followed.
    axis, point : array_like, shape (3,)
        The axis of the rotation, inertial, at the model's start.
    rotating : sequence of str, optional
        Names of the bodies that turn; the others are at rest. Default: all bodies turn.
    frame : lgint.ground or str
        The frame of `linearize`: at rest, which suits round rotors, or a body that turns.
    n : int
        How many frequencies are kept for each rate, the lowest ones.

    Returns
    -------
    Campbell
        `rates`, `frequencies` (k, n), `damping_ratios` (k, n), `modes`; `plot()` draws the diagram.

    Raises
    ------
    ValueError
        As `lgint.equilibrium` and `lgint.linearize`.
    """
    given = np.atleast_1d(array("rates", rates))
    if given.ndim != 1 or not given.size:
        raise ValueError(f"rates: a list of rates expected, got {shown(rates)}")
    if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or n < 1:
        raise ValueError(f"n: a positive whole number expected, got {shown(n)}")
    found, at = [], checked(model)
    for rate in given:
        at = at.with_state(equilibrium(at, spin=(axis, point, rate), rotating=rotating))
        found.append(oscillating(linearize(at.state(), frame=frame).shapes(2 * int(n) + 6))[: int(n)])
    return Campbell(given, found, int(n))


def oscillating(modes: Sequence[Mode]) -> list[Mode]:
    """Modes with positive frequencies, in increasing order."""
    return sorted((mode for mode in modes if mode.frequency > 0), key=lambda mode: mode.frequency)
