"""`Stepper`: a run whose caller chooses the size of every step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from lgint import _core
from lgint._args import Array, array, choice, flag, number, shown
from lgint._model.names import Method, MethodOptions
from lgint._model.system import System, checked
from lgint._run.methods import ROWS
from lgint._run.options import all_options, check_options, inherited
from lgint._run.start import Start, start_of, start_option
from lgint._run.trajectory import Trajectory
from lgint._state.state import CARRY, State

if TYPE_CHECKING:
    from typing_extensions import Unpack


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

    def _enter(self, row: int, known: dict[str, Any]) -> None:
        common, values = self._common, self._values
        known["t"], known["model"], known["method"] = self._t, common.model, common.method
        known["q"], known["v"] = values[common.slices["q"]], values[common.slices["v"]]

    def _single(self, row: int) -> _Present:
        return self


class Snapshot:
    """What `Stepper.snapshot` returns: everything on which the next steps depend. It does not change.

    Attributes
    ----------
    t : float
        Time, s.
    state : State
        The state at that time.
    """

    __slots__ = ("_common", "_efforts", "_values", "t")

    def __init__(self, common: _States, core: _core.Stepper) -> None:
        self._common, self.t, self._values, self._efforts = common, core.t, core.copy(), core.efforts

    @property
    def state(self) -> State:
        """The state."""
        return State(_Present(self._common, self.t, self._values))

    def __repr__(self) -> str:
        return f"<lgint.Snapshot of {self._common.method}: t = {self.t:g}>"


class Stepper:
    """Takes one step at a time, of a size that the caller chooses.

    Its attributes are read-only; `set` and `restore` change the state. A copy (`copy.copy`, `copy.deepcopy`) continues
    independently from the same state, bit for bit.

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
        self,
        model: System,
        method: Method,
        *,
        t0: float = 0.0,
        start: Trajectory | str | None = None,
        **options: Unpack[MethodOptions],
    ) -> None:
        given: dict[str, Any] = {**options}
        choice("method", method, ROWS)
        check_options(method, given, Stepper)
        for name in ("rtol", "atol"):
            if given.get(name) is not None:
                raise ValueError(
                    f"{name}: a Stepper takes the steps it is given; lgint.integrate lets the method choose them"
                )
        start = start_option(start, given)
        state = start_of(checked(model), method, t0, start, all_options(method, given, {}))
        kept = inherited(start, given, own_steps=True)
        self._begin(model, method, state.inheriting(kept), given, kept)

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
        twin._core.restore(core.t, core.copy(), core.efforts)
        return twin

    def __deepcopy__(self, memo: dict[int, Any]) -> Stepper:
        return self.__copy__()  # models do not change

    def step(self, h: float, efforts: ArrayLike | None = None) -> None:
        """Advances by one step. A step that fails raises an exception and leaves the state unchanged.

        If the model has kinks inside this interval, several steps are taken, which end on the kinks.

        Parameters
        ----------
        h : float
            Size of the step, s.
        efforts : array_like, shape (nv,), optional
            Generalized forces that act in addition to those of the model and are held over the step, such as the
            torques of a controller: N and N m on the velocities `v` of the model's formulation. Where they differ from
            those of the previous step, the step begins anew, as it does after a kink. Default: none.

        Raises
        ------
        IntegrationError
            If the step fails: `ConvergenceError`, `SingularError` or `StepSizeError`.
        ValueError
            For efforts of a wrong shape or that are not finite.
        """
        if efforts is None:
            self._core.step(number("h", h))
        else:
            self._core.step(number("h", h), efforts)

    def set(
        self,
        state: State | Trajectory | None = None,
        *,
        q: ArrayLike | None = None,
        v: ArrayLike | None = None,
        project: bool = False,
    ) -> None:
        """Continues from another state.

        Parameters
        ----------
        state : State or Trajectory, optional
            A state of this model or of one like it, or a run, of which the last state is taken: with its time, its
            velocities and its memory, as `Model.with_state` takes it.
        q, v : array_like, shapes (nq,) and (nv,), optional
            Coordinates and velocities instead, at the present time; what is None stays as it is. Angles are the nearest
            to the present ones.
        project : bool
            Take the nearest state, in the mass metric, that satisfies the constraints.

        Raises
        ------
        ValueError
            For both a state and coordinates, or neither, for what `Model.with_state` refuses, and for a state that
            violates the constraints.
        """
        flag("project", project)
        if (state is None) == (q is None and v is None):
            raise ValueError("set: give either a state, or q, v or both")
        if state is not None and not isinstance(state, (State, Trajectory)):
            raise ValueError(f"state: a State or a Trajectory expected, got {shown(state)}")
        t, model = self._core.t, self._model
        if state is None:
            model = model.with_state(self.state).with_state(
                None if q is None else array("q", q, (model.nq,)), None if v is None else array("v", v, (model.nv,))
            )
            if project:
                model = model.with_state(*model.core.project(t, model.q0, model.v0, model.mem0))
        else:
            model = model.with_state(state)
            t = float(np.atleast_1d(state.t)[-1])
            if project:
                model = model.with_state(*model.core.project(t, model.q0, model.v0, model.mem0))
        start = start_of(model, self._method, t, None, self._states.options)
        self._begin(self._model, self._method, start.inheriting(self._kept), self._given, self._kept)

    def snapshot(self) -> Snapshot:
        """Everything on which the next steps depend, for `restore`: to step back, as co-simulation does.

        Returns
        -------
        Snapshot
            It also has the state, as `snapshot.state`.
        """
        return Snapshot(self._states, self._core)

    def restore(self, snapshot: Snapshot) -> None:
        """Returns to a snapshot: the next steps are then the same, bit for bit, as they were after it.

        Parameters
        ----------
        snapshot : Snapshot
            Of this stepper, or of one that has the same model, method and options; an equal model that was built again
            or unpickled is another one.

        Raises
        ------
        ValueError
            For a snapshot of another model, method or other options.
        """
        if not isinstance(snapshot, Snapshot):
            raise ValueError(f"snapshot: what Stepper.snapshot() returned expected, got {shown(snapshot)}")
        own, there = self._states, snapshot._common
        if there.method != own.method or there.options != own.options:
            raise ValueError(
                f"snapshot: it belongs to {there.method!r} with the options {there.options}, "
                f"this stepper to {own.method!r} with {own.options}"
            )
        if there.model.core is not own.model.core:
            raise ValueError(
                f"snapshot: its model, {there.model!r}, is another object than that of this stepper, {own.model!r}; "
                "models that are built again, copied or unpickled are other objects even if they are equal. "
                "`set(snapshot.state)` starts from its state if that suits the model"
            )
        self._core.restore(snapshot.t, snapshot._values, snapshot._efforts)

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
