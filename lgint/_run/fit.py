"""`fit_problem`: residuals of runs against measurements, and their Jacobian, for least squares."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike

from lgint import _core
from lgint._args import Array, array, listing, shown
from lgint._model.model import Model
from lgint._model.names import Method
from lgint._run.integrate import integrate
from lgint._run.numbers import Numbers
from lgint._run.outputs import Output, outputs_of
from lgint._run.sensitivity import Named, parameters_of
from lgint._run.trajectory import Trajectory

RANK: Final = 1e-10  # singular values below this, relative to the largest one, are zero
OWN: Final = ("t_eval", "sensitivity", "save", "path", "start")  # arguments that the problem itself gives, or refuses


class FitProblem:
    """Differences of runs from measurements, as functions of parameters; `fit_problem` makes it.

    Attributes
    ----------
    model : Model
        As given; its values are the first guess.
    parameters : list of str
        Names of the parameters.
    x0 : ndarray, shape (p,)
        Their values in `model`.
    """

    def __init__(
        self,
        model: Model,
        numbers: Numbers,
        outputs: list[Output],
        times: Array,
        measured: list[Array],
        weights: list[Array],
        run: Callable[..., Trajectory],
    ) -> None:
        self.model = model
        self.parameters = list(numbers.names)
        self.x0: Array = numbers.present()
        self._numbers, self._outputs, self._times, self._run = numbers, outputs, times, run
        self._measured, self._weights = measured, weights
        self._known = [~np.isnan(values) for values in measured]
        self._last: tuple[bytes, Trajectory] | None = None

    def __repr__(self) -> str:
        count = sum(int(known.sum()) for known in self._known)
        return f"<lgint.FitProblem: {len(self.parameters)} parameters, {count} measured numbers>"

    def run(self, x: ArrayLike) -> Trajectory:
        """The run with these values of the parameters; that of the last values is kept.

        Parameters
        ----------
        x : array_like, shape (p,)
            Values of the parameters.

        Returns
        -------
        Trajectory
            Its states are at the times of the data, with `sensitivity`; its `model` has these values.

        Raises
        ------
        ValueError
            For values that the model refuses.
        IntegrationError
            If the run fails. The message ends with the values of the parameters, and `trajectory` has what was
            computed.
        """
        values = array("x", x, self.x0.shape)
        key = values.tobytes()
        if self._last is None or self._last[0] != key:
            self._last = None
            try:
                model = self._numbers.model(values)
                self._last = key, self._run(model, self._numbers.named(values, model))
            except (_core.IntegrationError, ValueError, ArithmeticError) as error:
                error.args = (f"{error} [with {self._shown(values)}]",)
                raise
        return self._last[1]

    def fun(self, x: ArrayLike) -> Array:
        """Weighted residuals, those of one output after those of the other.

        Parameters
        ----------
        x : array_like, shape (p,)
            Values of the parameters.

        Returns
        -------
        ndarray, shape (m,)
            (output - measured) * weight, without missing measurements.
        """
        found = [output.of(self.run(x)) for output in self._outputs]
        parts = zip(found, self._measured, self._weights, self._known, strict=True)
        return np.concatenate([((value - data) * weight)[known] for value, data, weight, known in parts])

    def jac(self, x: ArrayLike) -> Array:
        """Derivatives of `fun`, by the run of `fun` if x is the same.

        Parameters
        ----------
        x : array_like, shape (p,)
            Values of the parameters.

        Returns
        -------
        ndarray, shape (m, p)
            Exact for the steps of the run.
        """
        run = self.run(x)
        parts = zip(self._outputs, self._weights, self._known, strict=True)
        rows = [(output.slopes(run) * weight[..., None])[known] for output, weight, known in parts]
        return np.concatenate(rows)

    def covariance(self, x: ArrayLike) -> Array:
        """Covariance of the parameters at the solution, s^2 (J^T J)^-1 with s^2 = r^T r / (m - p).

        The residuals' own variance scales it, so that only ratios of weights count. The square roots of its diagonal
        are the standard errors.

        Parameters
        ----------
        x : array_like, shape (p,)
            Values of the parameters, at which the sum of the squares of `fun` is least.

        Returns
        -------
        ndarray, shape (p, p)
            In units of the parameters.

        Raises
        ------
        ValueError
            If there are no more measurements than parameters, or if they do not determine the parameters, which the
            message names.
        """
        r, J = self.fun(x), self.jac(x)
        m, p = J.shape
        if m <= p:
            raise ValueError(f"data: {m} measured numbers are too few for the variance with {p} parameters")
        size = np.linalg.norm(J, axis=0)
        unseen = [name for name, own in zip(self.parameters, size, strict=True) if not own]
        if unseen:
            raise ValueError(f"parameters: the data do not depend on {listing(unseen)}; leave them out")
        _, singular, V = np.linalg.svd(J / size, full_matrices=False)
        if singular[-1] < RANK * singular[0]:
            share = np.abs(V[-1]) > 0.1
            together = [name for name, own in zip(self.parameters, share, strict=True) if own]
            raise ValueError(f"parameters: the data do not tell {listing(together)} apart; leave one of them out")
        half = V / singular[:, None] / size
        found: Array = (r @ r) / (m - p) * (half.T @ half)
        return found

    def _shown(self, values: Array) -> str:
        return ", ".join(f"{name} = {value:.9g}" for name, value in zip(self.parameters, values, strict=True))


def fit_problem(
    model: Model,
    method: Method,
    data: Sequence[ArrayLike],
    parameters: Sequence[str],
    *,
    outputs: Sequence[Any],
    weights: Sequence[ArrayLike] | None = None,
    **arguments: Any,
) -> FitProblem:
    """The fit of parameters to measurements as a problem of least squares.

    ``least_squares(problem.fun, problem.x0, problem.jac, x_scale="jac")`` of SciPy solves it, with bounds, loss
    functions and scaling as they are there. `fun` and `jac` share one run for each x.

    Parameters
    ----------
    model : Model
        Its values, and its start, are the first guess.
    method : str
        One of `lgint.methods()` that has derivatives.
    data : sequence of array_like
        Increasing times (n,), s, followed by one array for each of the `outputs` with its values at these times. NaN
        means that a value is missing, which may be whole components.
    parameters : list of str
        Names as in `integrate(..., sensitivity=)`: numbers of `model.values`, and of the start.
    outputs : list of tuples
        What was measured: the name of a method of trajectories, and its arguments: ``[("joint_angle", "pin"),
        ("position", "tip")]``.
    weights : sequence of array_like, optional
        For each output a number, or an array that broadcasts to its data: 1/sigma, of the measurements' standard
        deviation. Default: 1.
    **arguments
        What else `integrate` takes: `h`, options of the method, ... `t_end` may be left out; it is the last time of
        the data.

    Returns
    -------
    FitProblem
        It has `fun(x)`, `jac(x)`, `x0`, `covariance(x)`, and the runs as `run(x)`.

    Raises
    ------
    ValueError
        Naming the argument: for data of other shapes than the outputs, parameters that the model does not have,
        methods without derivatives, and arguments that belong to other runs.
    """
    if not isinstance(model, Model):
        raise ValueError(f"model: a model of bodies expected, got {shown(model)}")
    for name in OWN:
        if name in arguments:
            raise ValueError(f"{name}: a fit cannot have it; its runs start in the model and end with the data")
    names = parameters_of(parameters, "parameters")
    wanted = outputs_of(outputs)
    times, measured = _measured(data, len(wanted))
    numbers = Numbers(model, names, float(arguments.get("t0", 0.0)))
    given = {"t_end": times[-1], **arguments, "t_eval": times}

    def run(variant: Model, sensitivity: Named) -> Trajectory:
        found: Trajectory = integrate(variant, method, sensitivity=sensitivity, **given)
        if len(found) < len(times):
            raise ValueError(f"data: an event ended the run at t = {found.end['t'][-1]:g}, before the last time")
        return found

    problem = FitProblem(model, numbers, wanted, times, measured, _weights(weights, measured), run)
    first = problem.run(problem.x0)
    for output, values in zip(wanted, measured, strict=True):
        shape = output.of(first).shape
        if shape != values.shape:
            raise ValueError(f"data: {output} has the shape {shape}, but its data have {values.shape}")
    return problem


def _measured(data: Sequence[ArrayLike], count: int) -> tuple[Array, list[Array]]:
    """Times, and the values of each output."""
    if isinstance(data, (str, np.ndarray)) or not isinstance(data, Sequence) or len(data) != 1 + count:
        raise ValueError(
            f"data: times and one array for each of {count} outputs, (t, values, ...), expected, got {shown(data)}"
        )
    times = array("data: times", data[0])
    if times.ndim != 1 or not times.size or (np.diff(times) <= 0).any():
        raise ValueError(f"data: increasing times (n,) expected first, got {shown(data[0])}")
    return times, [_values(values, i) for i, values in enumerate(data[1:])]


def _values(given: ArrayLike, i: int) -> Array:
    """The values of output i, in which NaN is allowed."""
    values = np.array(given, dtype=float) if np.asarray(given).dtype.kind in "biuf" else np.empty(())
    array(f"data: values of output {i}", np.where(np.isnan(values), 0.0, values) if values.ndim else given)
    if values.ndim and np.isnan(values).all():
        raise ValueError(f"data: all values of output {i} are missing")
    return values


def _weights(given: Sequence[ArrayLike] | None, measured: list[Array]) -> list[Array]:
    if given is None:
        return [np.ones(values.shape) for values in measured]
    if isinstance(given, str) or not np.iterable(given) or len(given) != len(measured):
        raise ValueError(
            f"weights: one number or array for each of {len(measured)} outputs expected, got {shown(given)}"
        )
    found = []
    for i, (weight, values) in enumerate(zip(given, measured, strict=True)):
        own = array(f"weights: those of output {i}", weight)
        if (own <= 0).any():
            raise ValueError(f"weights: positive numbers expected for output {i}, got {shown(weight)}")
        try:
            found.append(np.broadcast_to(own, values.shape))
        except ValueError as error:
            raise ValueError(
                f"weights: those of output {i} have the shape {own.shape}, which does not broadcast to {values.shape}"
            ) from error
    return found
