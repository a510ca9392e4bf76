"""`Stepper`: a run whose caller chooses the size of every step."""

from __future__ import annotations

from typing import Any

import numpy as np

from lgint import _core
from lgint._args import Array, choice, number
from lgint._model.system import System, checked
from lgint._run.methods import ROWS
from lgint._run.options import all_options, check_options, inherited
from lgint._run.start import Start, start_of, start_option
from lgint._run.trajectory import Trajectory
from lgint._state.state import CARRY, State


class _States:
    """What all states of a stepper have in common."""

    def __init__(self, model: System, method: str, options: dict[str, Any]) -> None:
        self.model, self.method, self.options = model, method, options
        ends = np.cumsum([0, *(model.core.widths[name] for name in _core.PARTS)]).tolist()
        self.slices = dict(zip(_core.PARTS, map(slice, ends[:-1], ends[1:]), strict=True))
        self.slices[CARRY] = slice(ends[-1], None)
        if ROWS[method]["extra"]:  # the carry begins with it
            self.slices["extra"] = slice(ends[-1], ends[-1] + model.nv)


class _Present:
    """The source of a state: a copy of the present state of a stepper."""

    __slots__ = ("_common", "_t", "_values")

    def __init__(self, common: _States, t: float, values: Array) -> None:
        self._common, self._t, self._values = common, t, values

    @property
    def model(self) -> System:
        return self._common.model

    @property
    def method(self) -> str:
        return self._common.method

    @property
    def options(self) -> dict[str, Any]:
        return self._common.options

    def _part(self, row: int, name: str) -> Any:
        if name == "t":
            return self._t
        if name != "extra":
            return self._values[self._common.slices[name]]
        own = self._common.slices.get("extra")
        return {} if own is None else {ROWS[self.method]["extra"]: self._values[own]}

    def _single(self, row: int) -> _Present:
        return self


class Stepper:
    """Takes one step at a time, of a size that the caller chooses.

    Its attributes are read-only. A copy (`copy.copy`, `copy.deepcopy`) continues independently from the same state, bit
    for bit.

    Parameters
    ----------
    model : Model, CallableModel or LagrangianModel
        The model, whose start is that of the stepper.
    method : str
        One of `lgint.methods()`.
    t0 : float
        Start time, s.
    start : Trajectory or str, optional
        Continue from the end of this run. A string is the option `start` of methods that have one.
    **options
        Options of the method.

    Raises
    ------
    ValueError
        For unknown methods and options, and for `rtol` and `atol`: a stepper takes the steps that it is given.
    """

    __slots__ = ("__weakref__", "_core", "_given", "_kept", "_method", "_model", "_states")

    def __init__(
        self, model: System, method: str, *, t0: float = 0.0, start: Trajectory | str | None = None, **options: Any
    ) -> None:
        choice("method", method, ROWS)
        check_options(method, options, Stepper)
        for name in ("rtol", "atol"):
            if options.get(name) is not None:
                raise ValueError(
                    f"{name}: a Stepper takes the steps it is given; lgint.integrate lets the method choose them"
                )
        start = start_option(start, options)
        state = start_of(checked(model), method, t0, start, all_options(method, options, {}))
        kept = inherited(start, options, own_steps=True)
        self._begin(model, method, state.inheriting(kept), options, kept)

    def _begin(self, model: System, method: str, state: Start, given: dict[str, Any], kept: dict[str, Any]) -> None:
        self._model = model
        self._method = method
        self._given = given
        self._kept = kept
        self._core = _core.Stepper(model.core, method, *state, given)
        self._states = _States(model, method, all_options(method, given, kept))

    def __copy__(self) -> Stepper:
        core, twin = self._core, object.__new__(type(self))
        memory = {name: getattr(core, name) for name in ("vdot", "lam", "mem", "carry")}
        # if the start leaves accelerations undetermined, the copy starts in the same way
        state = Start(core.t, core.q, core.v, {"mem": core.mem} if np.isnan(core.vdot).any() else memory)
        twin._begin(self._model, self._method, state.inheriting(self._kept), self._given, self._kept)
        return twin

    def __deepcopy__(self, memo: dict[int, Any]) -> Stepper:
        return self.__copy__()  # models do not change

    def step(self, h: float) -> None:
        """Advances by one step. A step that fails raises an exception and leaves the state unchanged.

        If the model has kinks inside this interval, several steps are taken, which end on the kinks.

        Parameters
        ----------
        h : float
            Size of the step, s.

        Raises
        ------
        IntegrationError
            If the step fails: `ConvergenceError`, `SingularError` or `StepSizeError`.
        """
        self._core.step(number("h", h))

    def __repr__(self) -> str:
        return f"<lgint.Stepper {self.method}: t = {self.t:g}>"

    @property
    def model(self) -> System:
        """The model."""
        return self._model

    @property
    def method(self) -> str:
        """The name of the method."""
        return self._method

    @property
    def t(self) -> float:
        """Time, s."""
        return self._core.t

    @property
    def q(self) -> Array:
        """Coordinates (nq,), read-only."""
        return _read_only(self._core.q)

    @property
    def v(self) -> Array:
        """Velocities (nv,), read-only."""
        return _read_only(self._core.v)

    @property
    def state(self) -> State:
        """The present state with the accessors of a `Trajectory`; later steps do not change it."""
        return State(_Present(self._states, self._core.t, self._core.copy()))

    @property
    def vdot(self) -> Array:
        """Accelerations (nv,), read-only."""
        return _read_only(self._core.vdot)

    @property
    def lam(self) -> Array:
        """Multipliers (nc,), read-only."""
        return _read_only(self._core.lam)


def _read_only(values: Array) -> Array:
    """Makes a copy of a part of the state read-only, as a change of the copy would not change the state."""
    values.setflags(write=False)
    return values
