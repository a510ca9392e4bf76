"""Pictures of linearised systems."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from lgint._args import Array, number
from lgint._linear.modes import Mode
from lgint._linear.terms import Terms
from lgint._run.scene import COLORS, GREY
from lgint._run.trajectory import Trajectory
from lgint._state.state import State

if TYPE_CHECKING:
    from matplotlib.figure import Figure

UNSTABLE: Final = 1e-6  # damping ratios below the negative of this are not round-off
FRAMES: Final = 41  # of the view of a mode


def axes_of(ax: Any) -> Any:
    """The axes to draw in: those given, or those of a new figure."""
    if ax is not None:
        return ax
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError("pictures need matplotlib: pip install 'lgint[plot]'") from error
    return Figure(figsize=(6.4, 4.8), layout="constrained").subplots()


def plane(values: Any, ax: Any) -> Figure:
    """Eigenvalues in the complex plane."""
    ax = axes_of(ax)
    ax.axvline(0.0, color=GREY, linewidth=0.8)
    ax.plot(values.real, values.imag, "x", color=COLORS[0])
    ax.set_xlabel("real part / (1/s)")
    ax.set_ylabel("imaginary part / (rad/s)")
    figure: Figure = ax.figure
    return figure


def campbell(rates: Array, frequencies: Array, damping: Array, orders: Sequence[float], ax: Any) -> Figure:
    """Frequencies over the rate; unstable modes are marked."""
    ax = axes_of(ax)
    at = np.broadcast_to(rates[:, None], frequencies.shape)
    unstable = damping < -UNSTABLE
    ax.plot(at[~unstable], frequencies[~unstable], ".", color=COLORS[0], label="frequencies")
    if unstable.any():
        ax.plot(at[unstable], frequencies[unstable], "x", color=COLORS[1], label="unstable")
    for order in orders:
        ax.plot(rates, order * rates, "--", color=GREY, linewidth=0.8, label=f"{order:g} x rate")
    ax.set_xlabel("rate / (rad/s)")
    ax.set_ylabel("frequency / (rad/s)")
    if np.isfinite(frequencies).any():
        ax.set_ylim(0, 1.05 * np.nanmax(frequencies))
    ax.legend()
    figure: Figure = ax.figure
    return figure


def view(state: State, terms: Terms, mode: Mode, amplitude: float) -> Any:
    """A mode over one period; without oscillation, back and forth."""
    size = number("amplitude", amplitude, positive=True) * _size(state)
    turns = np.exp(1j * np.linspace(0, 2 * np.pi, FRAMES))
    moved = size * np.real(np.outer(turns, terms.Y @ mode.z))
    q = terms.space.model.core.retract(np.broadcast_to(state.q, (FRAMES, state.q.size)), moved)
    period = 2 * np.pi / mode.frequency if mode.frequency > 0 else 1.0
    return _run(state, np.linspace(0, period, FRAMES), q).view(3.0, frames=FRAMES, paths=False)


def _size(state: State) -> float:
    x = np.array([state.position(name) for name in state.multibody().bodies])
    return float(np.ptp(np.concatenate([x, np.zeros((1, 3))]), axis=0).max()) or 1.0


def _run(state: State, t: Any, q: Any) -> Trajectory:
    """States one after the other, as a trajectory without velocities."""
    model, n = state.model, len(t)
    columns: dict[str, Any] = {"t": t, "h": np.zeros(n), "error": np.full(n, np.nan), "q": q}
    columns |= {"v": np.zeros((n, model.nv)), "vdot": np.zeros((n, model.nv)), "lam": np.zeros((n, model.nc))}
    rest = {"carry": np.zeros(0), "end": {"t": t[-1:]}, "knots": None, "stats": {}}
    return Trajectory(model, "mode", {}, {**columns, **rest})
