"""study: errors and observed orders of a method over a list of step sizes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lgint import _html
from lgint._args import Array, listing, number
from lgint._model.model import Model, System
from lgint._model.record import mode_count
from lgint._rotation import vector_of_matrix
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
    order : int
        What the method promises for q, v and the multipliers.
    h : ndarray, shape (n,)
        Step sizes, s.
    errors : dict of ndarray, shape (n,)
        Largest component of the error of "q" (in local coordinates), "v" and "lam". If the reference stores its
        bodies otherwise, "q" is their position and rotation vector, m and rad, and "v" their inertial velocity and
        angular velocity in body axes; "lam" is there only if formulations and rows are the same.
    trajectories : tuple of Trajectory
    """

    method: str
    options: dict[str, Any]
    order: int
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
    model : Model, CallableModel or LagrangianModel
    method : str
    steps : sequence of float
        At least two step sizes, s.
    t_end : float
        End of the runs, s.
    reference : Trajectory, optional
        A more accurate run of the same model to `t_end`, by any method and step size, in any formulation of the bodies.
        Default: the same method with an eighth of the smallest step.
    **options
        Of the method.

    Returns
    -------
    Study
        `print` it for a table.

    Raises
    ------
    ValueError
        For fewer than two steps, error control, a reference of other bodies, and runs that do not reach `t_end`.
    """
    h = np.array([number("steps", step, positive=True) for step in steps])
    if len(h) < 2:
        raise ValueError(f"steps: at least two step sizes expected, got {len(h)}")

    _check_steps(options)

    def run(step: float) -> Trajectory:
        return integrate(model, method, t_end=t_end, h=step, save_every=_LAST, **options)

    best = run(float(h.min()) / 8) if reference is None else reference
    _check_end("reference", best, t_end)
    comparison = _comparison(model, best.model)
    trajectories = tuple(run(float(step)) for step in h)
    for trajectory in trajectories:
        _check_end("events", trajectory, t_end)
    compared = [_end_errors(comparison, trajectory, best) for trajectory in trajectories]
    return Study(
        method,
        dict(options),
        method_info(method)["order"],
        h,
        {name: np.array([errors[name] for errors in compared]) for name in compared[0]},
        trajectories,
    )


_LAST = 10**9  # save_every that keeps the start and the end only


def _check_steps(options: Mapping[str, Any]) -> None:
    """ValueError for options with which `h` is not the size of all steps."""
    for name in ("rtol", "atol"):
        if options.get(name) is not None and options.get("control") != "none":
            raise ValueError(f"{name}: a study compares fixed steps; with {name} the steps would follow the error")


def _check_end(name: str, trajectory: Trajectory, t_end: float) -> None:
    end = trajectory.end["t"]
    if not len(end) or abs(end[-1] - t_end) > 1e-12 * abs(t_end):
        ended = f"this one ends at {end[-1]:g}" if len(end) else "this one has no state"
        raise ValueError(f"{name}: a run to t = {t_end:g} expected, {ended}")


# ---- how far two last states are apart ----

_Comparison = Callable[[Trajectory, Trajectory], dict[str, Array]]


def _comparison(model: System, other: System) -> _Comparison:
    """How states of the two models are compared: by coordinates, or by what bodies do where these differ."""
    if _same_space(model, other):
        return _coordinate_errors
    if not (isinstance(model, Model) and isinstance(other, Model)):
        raise ValueError(
            "reference: the run of a system of functions compares with runs on the same space only; its blocks are "
            f"{_kinds(other)}, those of the model are {_kinds(model)}"
        )
    if _bodies(model) != _bodies(other):
        raise ValueError(f"reference: its bodies are {listing(list(other.bodies))}, not {listing(list(model.bodies))}")
    return _body_errors


def _same_space(model: System, other: System) -> bool:
    """Whether coordinates of two models mean the same."""
    if not (isinstance(model, Model) and isinstance(other, Model)):
        return _kinds(model) == _kinds(other)
    return _kinds(model) == _kinds(other) and _places(model) == _places(other)


def _places(model: Model) -> list[Any]:
    """The block of each body, and the rotation at which its angles are zero, if it has any."""
    return [(name, body["block"], body["reference"]) for name, body in model.bodies.items()]


def _kinds(model: System) -> str:
    return ", ".join(f"{kind}({n})" if n else kind for kind, n, *_ in model.core.blocks)


def _bodies(model: Model) -> dict[str, int]:
    return {name: mode_count(body) for name, body in model.bodies.items()}


def _end_errors(comparison: _Comparison, trajectory: Trajectory, reference: Trajectory) -> dict[str, float]:
    """Largest components of the differences between the last states: of q, v, and lam if its rows are the same."""
    errors = comparison(trajectory, reference)
    if _same_space(trajectory.model, reference.model) and trajectory.row_names == reference.row_names:
        errors["lam"] = trajectory.end["lam"][-1] - reference.end["lam"][-1]
    return {name: float(np.abs(error).max()) for name, error in errors.items() if error.size}


def _coordinate_errors(trajectory: Trajectory, reference: Trajectory) -> dict[str, Array]:
    end, best = trajectory.end, reference.end
    return {
        "q": trajectory.model.core.difference(best["q"][-1], end["q"][-1]),
        "v": end["v"][-1] - best["v"][-1],
    }


def _body_errors(trajectory: Trajectory, reference: Trajectory) -> dict[str, Array]:
    """Position and rotation vector of each body from where the reference has it, and both velocities."""
    q, v = [], []
    for name in trajectory.multibody().bodies:
        (x, R, xdot, omega), (x0, R0, xdot0, omega0) = (_body(run, name) for run in (trajectory, reference))
        q += [x - x0, vector_of_matrix(R0.T @ R)]
        v += [xdot - xdot0, omega - omega0]
        (eta, eta_rate), (eta0, eta_rate0) = (_modal(run, name) for run in (trajectory, reference))
        q.append(eta - eta0)
        v.append(eta_rate - eta_rate0)
    return {"q": np.concatenate(q), "v": np.concatenate(v)}


def _body(run: Trajectory, name: str) -> tuple[Array, Array, Array, Array]:
    return run.multibody().kinematics(name, run.end["q"][-1], run.end["v"][-1])


def _modal(run: Trajectory, name: str) -> tuple[Array, Array]:
    """Modal coordinates and rates of a body; none if it is rigid."""
    model = run.multibody()
    places = model.modal(name) if mode_count(model.bodies[name]) else (slice(0), slice(0))
    return run.end["q"][-1][places[0]], run.end["v"][-1][places[1]]
