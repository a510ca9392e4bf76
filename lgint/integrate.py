"""integrate: from a model and the name of a method to a trajectory."""

from __future__ import annotations

import copy
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lgint import _core
from lgint._args import Array, array, choice, number
from lgint.model import System
from lgint.trajectory import Trajectory


def methods() -> list[str]:
    """Names of the methods."""
    return [row["name"] for row in _core.method_rows()]


def method_info(name: str) -> dict[str, Any]:
    """What is known of a method: name, order, order_lambda, reference, doc, options (name, type, default, range)."""
    rows = {row["name"]: row for row in _core.method_rows()}
    return copy.deepcopy(rows[choice("method", name, rows)])


def integrate(
    model: System,
    method: str,
    *,
    t_end: float,
    h: float | None = None,
    t0: float = 0.0,
    save_every: int = 1,
    stops: ArrayLike | None = None,
    start: Trajectory | str | None = None,
    progress: bool = False,
    **options: Any,
) -> Trajectory:
    """Integrates a model from `t0` to `t_end`.

    Parameters
    ----------
    model : Model or CallableModel
    method : str
        One of `lgint.methods()`.
    t_end : float
        Later than `t0`, s.
    h : float
        Step size, s. Each interval between stops (`t0`, `stops`, the model's kinks, `t_end`) is cut into
        ceil(length / h) equal steps, so the steps taken are at most `h`.
    t0 : float
        Start time, s. With `start` the run goes on from that trajectory's end instead.
    save_every : int
        Every how many steps a state is kept; the start and the end always are.
    stops : array_like, optional
        Times between `t0` and `t_end` to land on.
    start : Trajectory or str, optional
        Resume this run: from its last state and with its memory, bit for bit. A name is the option of that name, for
        methods which have one; a run that is resumed keeps its own.
    progress : bool
        Show a progress bar on standard error (with tqdm, if it is installed).
    **options
        Of the method, see `lgint.method_info`.

    Returns
    -------
    Trajectory

    Raises
    ------
    ValueError
        For what can be mended before the run: unknown methods and options, values out of range, an inconsistent start.
    ConvergenceError, SingularError, StepSizeError, Interrupted
        During the run, with `.report` and the `.trajectory` up to the last accepted state.
    """
    if not isinstance(model, System):
        raise ValueError(f"model: a model expected, got {type(model).__name__}")
    choice("method", method, methods())
    step = _step(h)
    start = _start_option(start, options)
    begin, q, v, memory = _start(model, method, t0, start)
    times = _stops(begin, number("t_end", t_end), stops)
    every = _count("save_every", save_every)
    with _progress(progress, begin, float(times[-1])) as report:
        try:
            result = _core.integrate(model.core, method, begin, times, step, every, q, v, memory, options, report)
        except (_core.IntegrationError, _core.Interrupted) as error:
            error.trajectory = Trajectory(model, method, options, error.result)
            raise
    return Trajectory(model, method, options, result)


class Stepper:
    """One step at a time.

    Parameters
    ----------
    model : Model or CallableModel
    method : str
    t0 : float
        Start time, s.
    start : Trajectory or str, optional
        Go on from the end of this run. A name is the option of that name.
    **options
        Of the method.
    """

    def __init__(
        self, model: System, method: str, *, t0: float = 0.0, start: Trajectory | str | None = None, **options: Any
    ) -> None:
        choice("method", method, methods())
        start = _start_option(start, options)
        begin, q, v, memory = _start(model, method, t0, start)
        self.model = model
        self._core = _core.Stepper(model.core, method, begin, q, v, memory, options)

    def step(self, h: float) -> None:
        """Goes on by `h` seconds. A step that fails raises and leaves the state as it was."""
        self._core.step(_step(h))

    @property
    def t(self) -> float:
        """Time, s."""
        return self._core.t

    @property
    def q(self) -> Array:
        """Coordinates (nq,)."""
        return self._core.q

    @property
    def v(self) -> Array:
        """Velocities (nv,)."""
        return self._core.v

    @property
    def vdot(self) -> Array:
        """Accelerations (nv,)."""
        return self._core.vdot

    @property
    def lam(self) -> Array:
        """Multipliers (nc,)."""
        return self._core.lam


def _step(h: float | None) -> float:
    if h is None:
        raise ValueError("h: the step size is needed")
    return number("h", h, positive=True)


def _count(name: str, value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
        raise ValueError(f"{name}: a whole number >= 1 expected, got {value!r}")
    return int(value)


def _start_option(start: Trajectory | str | None, options: dict[str, Any]) -> Trajectory | None:
    """Puts the option `start` where it belongs; returns the run to resume."""
    if isinstance(start, str):
        options["start"] = start
        return None
    if isinstance(start, Trajectory) and "start" in start.options:
        options["start"] = start.options["start"]
    return start


def _start(
    model: System, method: str, t0: float, start: Trajectory | None
) -> tuple[float, Array, Array, dict[str, Array] | None]:
    """Start time, q, v, and the memory of a run that goes on."""
    if start is None:
        return number("t0", t0), model.q0, model.v0, None
    if not isinstance(start, Trajectory):
        raise ValueError(f"start: a trajectory expected, got {type(start).__name__}")
    if start.method != method:
        raise ValueError(f"start: a run by {start.method!r} cannot be resumed by {method!r}; see model.with_state")
    if start.q.shape[1] != model.nq or start.v.shape[1] != model.nv:
        raise ValueError("start: this trajectory belongs to another model")
    memory = {"a": start.vdot[-1], "lam": start.lam[-1], "mem": start.mem[-1], "carry": start.carry}
    return float(start.t[-1]), start.q[-1], start.v[-1], memory


def _stops(t0: float, t_end: float, stops: ArrayLike | None) -> Array:
    """Ascending times to land on, the last is t_end."""
    if not t_end > t0:
        raise ValueError(f"t_end: a time after the start at {t0:g} expected, got {t_end:g}")
    if stops is None:
        return np.array([t_end])
    inner = np.unique(array("stops", stops))
    if inner.size and not (inner[0] > t0 and inner[-1] <= t_end):
        raise ValueError(f"stops: times between {t0:g} and {t_end:g} expected, got {stops!r}")
    return np.unique(np.append(inner, t_end))


@contextmanager
def _progress(wanted: bool, t0: float, t_end: float) -> Iterator[Callable[[float], None] | None]:
    """A function of time that moves a progress bar, or None."""
    if not wanted:
        yield None
        return
    try:
        from tqdm import tqdm
    except ImportError:
        yield lambda t: print(f"\r{100 * (t - t0) / (t_end - t0):5.1f} %", end="", file=sys.stderr, flush=True)
        print("\r100.0 %", file=sys.stderr)
        return
    with tqdm(
        total=t_end - t0, unit="s", bar_format="{l_bar}{bar}| {n:.3g}/{total:.3g} s [{elapsed}<{remaining}]"
    ) as bar:

        def move(t: float) -> None:
            bar.update(t - t0 - bar.n)

        yield move
        bar.update(bar.total - bar.n)
