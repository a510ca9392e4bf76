"""`equilibrium`: the state in which a model is at rest under its loads."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lgint import _core
from lgint._args import Array, array, flag, number
from lgint._model.model import Model
from lgint._model.sensitivity import differentiated, number_named
from lgint._model.system import FROM_HIGHER_LAYERS, System, checked, refuse_samples
from lgint._run.grown import warn_of_angles
from lgint._run.integrate import count
from lgint._run.progress import progress_bar
from lgint._run.sensitivity import parameters_of
from lgint._run.trajectory import Trajectory
from lgint._state.bodies import EQUILIBRIUM
from lgint._state.functions import refuse_functions
from lgint._state.rest import Rest, slopes_at_rest
from lgint._state.slopes import START


def equilibrium(
    model: System,
    loads: ArrayLike = (1.0,),
    *,
    spin: Any = None,
    rotating: Sequence[str] | None = None,
    time: float = 0.0,
    newton_rtol: float = 1e-8,
    newton_atol: float = 1e-10,
    max_iter: int = 1000,
    leave_saddles: bool = True,
    progress: bool | Callable[[float], None] = False,
    sensitivity: Sequence[str] | None = None,
) -> Trajectory:
    """Static equilibrium under increasing loads.

    Each search begins at the previous state, the first one at the model's start. It uses Newton's method on the
    configuration space, damped so that far from equilibrium it follows the motion in a viscous fluid. If it finds an
    unstable equilibrium, such as the straight state of a column above its buckling load, it moves to a state of lower
    potential energy and continues until it ends in a stable equilibrium.

    Parameters
    ----------
    model : Model, CallableModel or LagrangianModel
        Its velocities `v0` are ignored.
    loads : array_like, shape (n,)
        Increasing factors of all loads: gravity, applied forces and torques, the tension of tendons, and the constant
        torques and forces of drives. Springs, the controlled motion of drives, laws of `add_force_law`, reference
        strains and prescribed motions do not depend on them. A load step for which no equilibrium is found is halved,
        down to 1/1024 of the distance between two factors. A system of functions has one force, in which loads cannot
        be told from springs: it accepts only (1,).
    spin : tuple, optional
        (axis, point, rate): instead of rest, a steady rotation at this rate, rad/s, about an axis in inertial axes
        through a point, in the model's start. Positions, centrifugal loads included, follow by Newton's method from the
        start; the phase about the axis is held. Stability is not decided: `linearize` gives the eigenvalues. The
        arguments `newton_rtol`, `newton_atol`, `leave_saddles` and `progress` have no meaning then.
    rotating : sequence of str, optional
        The bodies that turn, with `spin`; the others are at rest. The axis is then fixed in the first of these bodies
        that is attached to anything else, and moves with it. Default: all bodies turn, about an axis at rest.
    time : float
        Time at which loads, laws and prescribed motions that depend on time are evaluated, s.
    newton_rtol, newton_atol : float
        The force rows have converged when the root mean square of their residuals is at most `newton_rtol` times that
        of their terms plus `newton_atol`. One more correction follows, so that the error is round-off.
    max_iter : int
        Corrections in one step of the loads, including those that are not accepted.
    leave_saddles : bool
        False: unstable equilibria are kept as they are found. If loads or laws have no potential, stability cannot be
        decided, and the equilibrium that is found is kept as well.
    progress : bool or function
        True: show a progress bar on standard error (with tqdm, if it is installed). A function is called about every
        50 ms with the last factor reached.
    sensitivity : list of str, optional
        Numbers of `model.values` by which the states are differentiated: `traj.sensitivity` has the derivatives of the
        states, and `traj.derivative("position", "tip")` those of any accessor. Not with `spin`.

    Returns
    -------
    Trajectory
        It has one state for each factor, and `t` holds the factors. `stable` says whether each state is stable; it is
        None if a state is neutral, like that of a round column that may bend to any side, or if the loads have no
        potential. Velocities and accelerations are zero, and `lam`, which `reaction` reads, holds the multipliers.
        Energies are computed with the factor of each state. `model.with_state(traj)` begins in the last state.

    Raises
    ------
    ValueError
        If the factors do not increase, or if a system of functions is given other factors than 1. With `spin`, naming
        loads, supports and joints that do not allow a steady rotation, or what leaves a net torque about the axis.
    SingularError
        If nothing determines an equilibrium, as with a body that nothing supports, or if the search ends where
        Tait-Bryan angles are singular; the message names the body.
    ConvergenceError
        If no equilibrium, or no stable one, is found even with the smallest load step.

    `SingularError`, `ConvergenceError` and `Interrupted` have `.report` (its `t` is the last factor reached, `h` the
    step that failed) and the `.trajectory` so far.
    """
    factors = _factors(checked(model), loads)
    refuse_samples(model, "equilibrium")
    options: dict[str, Any] = {
        "time": number("time", time),
        "newton_rtol": number("newton_rtol", newton_rtol, nonnegative=True),
        "newton_atol": number("newton_atol", newton_atol, nonnegative=True),
        "max_iter": count("max_iter", max_iter),
        "leave_saddles": flag("leave_saddles", leave_saddles),
    }
    names = None if sensitivity is None else _names(model, sensitivity)
    if spin is not None:
        if names:
            raise ValueError("sensitivity: a steady rotation has no derivatives; leave it or `spin` out")
        return _turning(model, factors, options, (spin, rotating), progress)
    if rotating is not None:
        raise ValueError("rotating: it needs spin=(axis, point, rate)")
    tolerances = options["newton_rtol"], options["newton_atol"]
    arguments = model.core, options["time"], factors, model.q0, model.v0, model.mem0
    settings = *tolerances, options["max_iter"], model.has_potential, options["leave_saddles"]
    try:
        with progress_bar(progress, 0, factors[-1], "load") as report:
            result = _core.equilibrium(*arguments, *settings, report)
    except BaseException as error:
        so_far = getattr(error, "result", None)
        if isinstance(so_far, dict):
            error.trajectory = _trajectory(model, options, so_far, status=-1)  # type: ignore[attr-defined]
        raise
    warn_of_angles([result], "load factor")
    if names:
        result |= {"parameters": names, "derivatives": _slopes(model, names, options["time"], result)}
    return _trajectory(model, options, result, status=0)


def _names(model: System, given: Sequence[str]) -> list[str]:
    """The argument `sensitivity`; ValueError for what does not move an equilibrium."""
    names = parameters_of(given)
    if not isinstance(model, Model):
        raise ValueError(f"sensitivity: a {type(model).__name__} has no parameters")
    if model.bristles.any():
        raise ValueError(
            "sensitivity: with bristles of contacts an equilibrium depends on the corrections that lead to it, and "
            "jumps with their number; integrate with sensitivity until the motion has died away"
        )
    for name in names:
        if name.startswith(START):
            raise ValueError(f"sensitivity: {name!r}: an equilibrium does not depend on the start")
        number_named(model, name)
    return [*names]


def _slopes(model: System, names: list[str], time: float, result: Mapping[str, Any]) -> Array:
    """The derivatives of the states as the rows of a run have them; nothing moves."""
    assert isinstance(model, Model)
    core, rows = differentiated(model, names), []
    refuse_functions(model, names, time, result["q"][0], np.zeros(model.nv), "sensitivity")
    for load, q, lam, mem in zip(*(result[part] for part in ("t", "q", "lam", "mem")), strict=True):
        rest = Rest(time, q, lam, mem if core.nmem else None, float(load), True)
        dq, dlam = slopes_at_rest(core, len(names), rest)
        rows.append(np.concatenate([dq.ravel(), np.zeros(2 * dq.size), dlam.ravel()]))
    return np.array(rows)


def _turning(model: System, factors: Array, options: dict[str, Any], how: tuple[Any, Any], progress: Any) -> Trajectory:
    """The steady rotation under the loads, by an upper layer."""
    changed = {"newton_rtol": 1e-8, "newton_atol": 1e-10, "leave_saddles": True}
    given = [name for name, default in changed.items() if options[name] != default] + ["progress"] * bool(progress)
    if given:
        raise ValueError(f"{given[0]}: it has no meaning with spin; leave it out")
    found: Trajectory = FROM_HIGHER_LAYERS["steady_rotation"](model, factors, options, *how)
    return found


def _factors(model: System, loads: ArrayLike) -> Array:
    given = array("loads", loads)
    factors = np.atleast_1d(given)
    if factors.ndim != 1 or not factors.size or (np.diff(factors) <= 0).any():
        raise ValueError(f"loads: increasing factors expected, got {loads!r}")
    if not isinstance(model, Model) and factors.tolist() != [1.0]:
        raise ValueError(
            f"loads: the force of a {type(model).__name__} is one function, in which loads cannot be told from "
            f"springs; (1,) expected, got {loads!r}. To increase the loads in steps, make a model for each factor and "
            "start it in the last equilibrium by with_state"
        )
    return factors


def _trajectory(model: System, options: dict[str, Any], result: dict[str, Any], *, status: int) -> Trajectory:
    return Trajectory(model, EQUILIBRIUM, options, {**result, "status": status})
