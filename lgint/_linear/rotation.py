"""`lgint.equilibrium(model, spin=...)`: steady rotation as a trajectory of states, one for each factor of the loads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from lgint._args import Array, listing
from lgint._core import ConvergenceError
from lgint._linear.steady import Balance, Turning, check_steady, net_torque, spin_of, variant_loads
from lgint._model.model import Model
from lgint._model.system import System
from lgint._run.trajectory import Trajectory
from lgint._state.bodies import EQUILIBRIUM


def steady_rotation(
    model: System, factors: Array, options: Mapping[str, Any], spin: Any, rotating: Sequence[str] | None
) -> Trajectory:
    """See `lgint.equilibrium`."""
    if not isinstance(model, Model):
        raise ValueError(f"spin: a {type(model).__name__} has no bodies to turn")
    turning = Turning(model, spin_of(model, spin, rotating), options["time"])
    motion = turning.moving(model.q0, model.mem0 if model.core.nmem else None)
    at = Balance(motion, start_multipliers(turning, motion, float(factors[0])), float(factors[0]))
    kept = {**options, "spin": [list(map(float, spin[0])), list(map(float, spin[1])), float(spin[2])]}
    kept["rotating"] = None if rotating is None else list(rotating)
    found: list[Balance] = []
    corrections = 0
    for factor in factors:
        at = at._replace(load=float(factor))
        try:
            at, count = turning.solved(at, options["max_iter"])
        except ConvergenceError as error:
            if names := variant_loads(turning, at):
                raise ValueError(
                    f"spin: {listing(names)} changes as the bodies turn, and no steady rotation was found"
                ) from error
            if left := net_torque(turning, at):
                raise ValueError(f"spin: no steady rotation was found; where the search began {left}") from error
            error.trajectory = trajectory(model, kept, found, corrections, -1)
            error.report = {"status": "no_equilibrium", "t": found[-1].load if found else 0.0, "what": str(error)}
            raise
        check_steady(turning, at)
        found.append(at)
        corrections += count
    return trajectory(model, kept, found, corrections, 0)


def start_multipliers(turning: Turning, motion: Any, load: float) -> Array:
    """A first guess: the multipliers that balance the forces best."""
    core = turning.model.core
    if not core.nrows or turning.space.sparse:
        return np.zeros(core.nrows)
    found = core.evaluate(*motion[:4], mem=motion.mem, want=("Ma", "gyro", "force", "B"), load=load)
    rest = found["Ma"] + found["gyro"] - found["force"]
    guess: Array = -np.linalg.lstsq(found["B"].T, rest, rcond=None)[0]
    return guess


def trajectory(
    model: Model, options: Mapping[str, Any], found: Sequence[Balance], corrections: int, status: int
) -> Trajectory:
    """The states as a trajectory, whose times are the factors of the loads."""
    n, core = len(found), model.core
    loads = np.array([at.load for at in found])

    def column(width: int, values: list[Any]) -> Array:
        return np.array(values, dtype=float).reshape(n, width)

    columns = {
        "t": loads,
        "h": np.diff(loads, prepend=0.0),
        "error": np.full(n, np.nan),
        "q": column(model.nq, [at.motion.q for at in found]),
        "v": column(model.nv, [at.motion.v for at in found]),
        "vdot": column(model.nv, [at.motion.a for at in found]),
        "lam": column(model.nc, [at.lam for at in found]),
        "mem": column(core.nmem, [at.motion.mem if core.nmem else [] for at in found]),
    }
    end = {name: values[-1:] for name, values in columns.items()}
    rest = {"extra": np.full((n, 1), -1.0), "carry": np.zeros(0), "end": end, "knots": None, "status": status}
    stats = {"steps": n, "newton_iterations": corrections}
    return Trajectory(model, EQUILIBRIUM, dict(options), {**columns, **rest, "stats": stats})
