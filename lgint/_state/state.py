"""`State`: a system at one point in time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, NoReturn, Protocol

import numpy as np

from lgint import _core
from lgint._args import Array
from lgint._model.laws import Moment
from lgint._model.system import System
from lgint._state.impacts import Contacts, named, velocities_after
from lgint._state.mechanics import MechanicsAccessors

PARTS: Final = ("t", *_core.PARTS, "extra")  # what a state consists of; "extra" is a dict of arrays
CARRY: Final = "carry"  # everything else on which later steps of a run depend, where a state has it


class Source(Protocol):
    """Where states come from; it has the parts of several states, by numbers, or of a single one, number 0."""

    @property
    def model(self) -> System:
        """The system."""

    @property
    def method(self) -> str | None:
        """The method of the run to which the states belong, if any."""

    @property
    def options(self) -> Mapping[str, Any]:
        """The options of that run."""

    def _part(self, row: int, name: str) -> Any:
        """A part of a state, its arrays read-only; an AttributeError if there is none."""

    def _enter(self, row: int, known: dict[str, Any]) -> None:
        """Enters those of t, q and v that a state has, and what all states have in common."""

    def _single(self, row: int) -> Source:
        """A source of this state alone."""


class _Owner:
    """What all states of a source have in common; it is in a state's `__dict__` once it has been read."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, state: State | None, owner: type) -> Any:
        if state is None:
            return self
        known = state.__dict__
        found = known[self._name] = getattr(known["_source"], self._name)
        return found


class _Part:
    """A part of a state, which is taken from the source when it is first read."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, state: State | None, owner: type) -> Any:
        if state is None:
            return self
        known = state.__dict__
        found = known[self._name] = known["_source"]._part(known["_row"], self._name)
        return found


class _Motion(_Part):
    """The same of time, coordinates and velocities, which nearly all accessors need: one call brings all of them."""

    def __get__(self, state: State | None, owner: type) -> Any:
        if state is None:
            return self
        known = state.__dict__
        known["_source"]._enter(known["_row"], known)
        found = known.get(self._name)
        return super().__get__(state, owner) if found is None else found


class State(MechanicsAccessors):
    """A system at one point in time: what `Model.state`, `Trajectory.state` and `Stepper.state` return.

    It is read-only and has the accessors of a `Trajectory` without the first axis: `state.position("arm")` has the
    shape (3,), and `state.joint_angle("elbow")` is a number.

    Attributes
    ----------
    model : Model, CallableModel or LagrangianModel
        The system.
    method : str or None
        The method of the run from which the state was taken, and None for other states.
    options : dict
        The options of that run.
    t : float
        Time, s; after `lgint.equilibrium`, the factor of the loads.
    q : ndarray, shape (nq,)
        Coordinates in the model's formulation.
    v : ndarray, shape (nv,)
        Velocities in the model's formulation.
    vdot : ndarray, shape (nv,)
        Accelerations. Those of a run belong to its method; other states compute them when they are first read.
    lam : ndarray, shape (nc,)
        Multipliers of the constraint rows, likewise.
    extra : dict
        What else the states of the method have: "p", the momenta (nv,) of methods that carry them.

    Raises
    ------
    AttributeError
        When a part is read that the state lacks: one that the run has not kept, or `vdot` and `lam` inside a function
        that is called while they are not known yet. Also for every attempt to change a state.
    """

    def __init__(self, source: Source, row: int = 0) -> None:
        own = self.__dict__  # past __setattr__
        own["_source"] = source
        own["_row"] = row

    if TYPE_CHECKING:
        t: float
        _source: Source
        _row: int
    else:
        model, method, options = (_Owner() for _ in range(3))
        t, q, v = (_Motion() for _ in range(3))
        vdot, lam, mem, extra, carry = (_Part() for _ in range(5))

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"{name}: a state is read-only; model.state(...) makes another one")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"{name}: a state is read-only")

    @property
    def _memory(self) -> Array | None:
        return getattr(self, "mem", None)

    @property
    def _without_forces(self) -> str:
        source = self._source
        return source.lacking if isinstance(source, Parts) and source.method is None else ""

    def _need_forces(self, what: str) -> None:
        if isinstance(self._source, Inside):
            raise AttributeError(f"this state has no {what}: {self._source.lacking}")

    @property
    def _hit(self) -> str | None:
        return getattr(self._source, "hit", None)

    def after_impact(self, contacts: Contacts, *, restitution: float = 0.0, tangential: str = "free") -> State:
        """The state after an impact: the velocities jump where bodies have touched, and nothing else changes.

        The impulses are those of a compression without restitution, in which no impulse pulls and no contact closes
        further, times 1 + `restitution`; where others are driven into contact by this, they stop. Constraints hold,
        and the kinetic energy of the velocities that they leave free never grows.

        Parameters
        ----------
        contacts : str, tuple or sequence of them
            The names of contacts that `add_contact` has added, of which all points with a gap of at most 1e-6 m take
            part; or (body, local_point, normal) or (body, local_point, normal, other body): a point of the body, m, in
            its axes from its COM, and the inertial direction in which it may leave the other one, by default the
            ground.
        restitution : float
            From 0 to 1: the part of the compression's normal impulses that follows it.
        tangential : str
            "free": no impulses across the normals. "stick": points with a normal impulse do not slide afterwards.

        Returns
        -------
        State
            At the same time, with the same coordinates.

        Raises
        ------
        ValueError
            For unknown names, a contact that is open, and one whose rate no impulse can change.
        """
        v = velocities_after(self, contacts, restitution, tangential)
        return State(Independent(self.model, self.t, self.q, v, self.mem, check=False, hit=named(contacts)))

    def __copy__(self) -> State:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> State:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return State, (self._source._single(self._row),)

    def __repr__(self) -> str:
        return f"<lgint.State t = {self.t:g}: {self.model!r}>"


class Parts:
    """The source of one state whose parts are given; `lacking` says why there are no others.

    Without a method it is the source of a state inside a function that a run calls.
    """

    def __init__(
        self, model: System, parts: Mapping[str, Any], lacking: str, method: str | None = None, options: Any = None
    ) -> None:
        self.model, self.method, self.options = model, method, options or {}
        self._parts, self.lacking = parts, lacking

    def _part(self, row: int, name: str) -> Any:
        """A part of the state."""
        if name in self._parts:
            return read_only(self._parts[name])
        if name == "extra":
            return {}
        raise AttributeError(f"this state has no {name}: {self.lacking}")

    def _enter(self, row: int, known: dict[str, Any]) -> None:
        """Enters time, coordinates and velocities."""
        enter(self, self._parts, known)

    def _single(self, row: int) -> Parts:
        """The source itself."""
        return self


class Shown(Parts):
    """The source of a state with which the core calls a function; its arrays are copied when they are first read."""

    def __init__(self, model: System, at: _core.Instant | Moment, lacking: str) -> None:
        super().__init__(model, {}, lacking)
        self._at = at

    def _part(self, row: int, name: str) -> Any:
        """A part of the state."""
        return read_only(getattr(self._at, name)) if name in _SHOWN else super()._part(row, name)

    def _enter(self, row: int, known: dict[str, Any]) -> None:
        """Enters the time; coordinates and velocities are parts."""
        known["t"], known["model"], known["method"] = self._at.t, self.model, self.method

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_at": Moment(*(getattr(self._at, name) for name in Moment._fields))}


_SHOWN: Final = ("t", "q", "v", "mem")


class Inside(Shown):
    """The source of a state inside an evaluation of the equations of motion, which calls a function with it.

    The memory at `at` is an earlier one of the system, or None for zeros.
    """

    def __init__(self, model: System, at: _core.Instant | Moment) -> None:
        super().__init__(model, at, _BEFORE)

    def _part(self, row: int, name: str) -> Any:
        """A part of the state; the memory follows from the rest of it."""
        if name != "mem":
            return super()._part(row, name)
        core, at = self.model.core, self._at
        before = np.zeros(core.nmem) if at.mem is None else at.mem
        return read_only(core.remember(at.t, at.q, at.v, np.zeros(core.nv), before, at.age, at.theta))


_BEFORE: Final = "the function is called before forces are known, and accelerations and multipliers follow from them"


def state_inside(model: System, at: _core.Instant | Moment) -> State:
    """A state inside an evaluation."""
    return State(Inside(model, at))


class Independent:
    """The source of a state that belongs to no run: the accelerations and multipliers follow from the rest of it."""

    method: Final = None
    options: Final[Mapping[str, Any]] = {}

    def __init__(
        self, model: System, t: float, q: Array, v: Array, mem: Array, *, check: bool = True, hit: str | None = None
    ) -> None:
        self.model = model
        self.hit = hit  # the contacts of the impact after which it is, for messages
        self._guess = mem  # of its memory
        self._check = check  # whether q and v must satisfy the constraints
        self._known: dict[str, Any] = {"t": t, "q": q, "v": v, "extra": {}}

    def _part(self, row: int, name: str) -> Any:
        """A part of the state."""
        if name == CARRY:
            raise AttributeError("this state has no carry: it belongs to no run")
        if name not in self._known:
            self._known |= self._memory() if name == "mem" else self._accelerations()
        return read_only(self._known[name])

    def _memory(self) -> dict[str, Array]:
        model, (t, q, v, _) = self.model, [*self._known.values()][:4]
        if t == 0 and q is model.q0 and v is model.v0 and self._guess is model.mem0:
            return {"mem": model.start_memory}
        return {"mem": model.core.remember(t, q, v, np.zeros(model.nv), self._guess)}

    def _accelerations(self) -> dict[str, Array]:
        t, q, v, _ = [*self._known.values()][:4]
        found = self.model.core.initial(t, q, v, self._guess, check=self._check)
        return dict(zip(("vdot", "lam"), found, strict=True))

    def _enter(self, row: int, known: dict[str, Any]) -> None:
        """Enters time, coordinates and velocities."""
        enter(self, self._known, known)

    def _single(self, row: int) -> Independent:
        """The source itself."""
        return self


def enter(source: Source, parts: Mapping[str, Any], known: dict[str, Any]) -> None:
    """Enters those of t, q and v that are among these parts: see `Source._enter`."""
    for name in ("t", "q", "v"):
        if name in parts:
            known[name] = read_only(parts[name])
    known["model"], known["method"] = source.model, source.method


def read_only(values: Any) -> Any:
    """A view of an array, or of those in a dict, that cannot be written to; numbers stay as they are."""
    if isinstance(values, dict):
        return {name: read_only(array) for name, array in values.items()}
    if isinstance(values, np.ndarray) and values.flags.writeable:
        values = values[...]
        values.flags.writeable = False
    return values
