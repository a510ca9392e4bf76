"""study: errors and observed orders of a method over a list of step sizes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lgint._args import Array, number
from lgint._model.model import System
from lgint._run.integrate import integrate, method_info
from lgint._run.trajectory import Trajectory

QUANTITIES = ("q", "v", "lam")


@dataclass(frozen=True)
class Study:
    """Errors at the end of runs with several step sizes, and the orders between neighbours.

    Attributes
    ----------
    method : str
    options : dict
    order, order_lam : int
        What the method's row promises for q and v, and for the multipliers.
    h : ndarray, shape (n,)
        Step sizes, s.
    errors : dict of ndarray, shape (n,)
        Largest component of the error of "q" (in local coordinates, against the reference), "v" and "lam".
    trajectories : tuple of Trajectory
    """

    method: str
    options: dict[str, Any]
    order: int
    order_lam: int
    h: Array
    errors: dict[str, Array]
    trajectories: tuple[Trajectory, ...]

    @property
    def orders(self) -> dict[str, Array]:
        """Observed orders (n - 1,): log of the ratio of errors over the log of the ratio of steps."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return {name: np.diff(np.log(error)) / np.diff(np.log(self.h)) for name, error in self.errors.items()}

    def __str__(self) -> str:
        names = [name for name in QUANTITIES if name in self.errors]
        shown = ", ".join(f"{key}={value}" for key, value in self.options.items())
        lines = [f"{self.method}({shown}), order {self.order}"]
        lines.append(f"{'h':>10}" + "".join(f"{'error in ' + name:>16}{'order':>8}" for name in names))
        for i, h in enumerate(self.h):
            cells = [f"{self.errors[name][i]:16.3e}{_order(self.orders[name], i)}" for name in names]
            lines.append(f"{h:10.3g}" + "".join(cells))
        return "\n".join(lines)


def study(
    model: System,
    method: str,
    steps: Sequence[float],
    *,
    t_end: float,
    reference: Trajectory | None = None,
    **options: Any,
) -> Study:
    """Integrates with every step size and compares the end with a reference.

    Parameters
    ----------
    model : Model or CallableModel
    method : str
    steps : sequence of float
        At least two step sizes, s.
    t_end : float
        End of the runs, s.
    reference : Trajectory, optional
        A better run of the same model to `t_end`. Default: the same method with an eighth of the smallest step.
    **options
        Of the method.

    Returns
    -------
    Study
        `print` it for a table.
    """
    h = np.array([number("steps", step, positive=True) for step in steps])
    if len(h) < 2:
        raise ValueError(f"steps: at least two step sizes expected, got {len(h)}")

    def run(step: float) -> Trajectory:
        return integrate(model, method, t_end=t_end, h=step, save_every=_LAST, **options)

    best = run(float(h.min()) / 8) if reference is None else reference
    if abs(best.t[-1] - t_end) > 1e-12 * abs(t_end):
        raise ValueError(f"reference: a run to t = {t_end:g} expected, this one ends at {best.t[-1]:g}")
    trajectories = tuple(run(float(step)) for step in h)
    compared = [end_errors(trajectory, best) for trajectory in trajectories]
    info = method_info(method)
    return Study(
        method,
        dict(options),
        info["order"],
        info["order_lambda"] or info["order"],
        h,
        {name: np.array([errors[name] for errors in compared]) for name in compared[0]},
        trajectories,
    )


_LAST = 10**9  # save_every that keeps the start and the end only


def end_errors(trajectory: Trajectory, reference: Trajectory) -> dict[str, float]:
    """Largest components of the differences between the last states: q in local coordinates, v, lam if there are."""
    local = trajectory.model.core.difference(reference.q[-1], trajectory.q[-1])
    errors = {"q": local, "v": trajectory.v[-1] - reference.v[-1], "lam": trajectory.lam[-1] - reference.lam[-1]}
    return {name: float(np.abs(error).max()) for name, error in errors.items() if error.size}


def _order(orders: Array, i: int) -> str:
    return " " * 8 if i == 0 else f"{orders[i - 1]:8.2f}"
