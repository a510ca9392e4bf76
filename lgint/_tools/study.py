"""study: errors and observed orders of a method over a list of step sizes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lgint import _html
from lgint._args import Array, number
from lgint._model.model import System
from lgint._run.integrate import integrate, method_info
from lgint._run.trajectory import Trajectory

QUANTITIES = ("q", "v", "lam")


@dataclass(frozen=True, repr=False)
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
        rows = [f"{h:>10}" + "".join(f"{error:>16}{order:>8}" for error, order in cells) for h, *cells in self._rows()]
        return "\n".join([self._title(), *rows])

    def __repr__(self) -> str:
        return f"<lgint.Study {self._title()}: h = {self.h[0]:g} ... {self.h[-1]:g}>"

    def _repr_html_(self) -> str:
        head, *rows = [[h, *(cell for pair in cells for cell in pair)] for h, *cells in self._rows()]
        return _html.table(self._title(), head, rows)

    def _title(self) -> str:
        shown = ", ".join(f"{key}={value}" for key, value in self.options.items())
        return f"{self.method}({shown}), order {self.order}"

    def _rows(self) -> Iterator[tuple[Any, ...]]:
        """The table as texts, its head first: the step size, and for each quantity the error and the order."""
        names, orders = [name for name in QUANTITIES if name in self.errors], self.orders
        yield "h", *((f"error in {name}", "order") for name in names)
        for i, h in enumerate(self.h):
            yield (
                f"{h:.3g}",
                *((f"{self.errors[name][i]:.3e}", f"{orders[name][i - 1]:.2f}" if i else "") for name in names),
            )


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
