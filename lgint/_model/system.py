"""What all systems are to their users: a system of the core, its start, and copies with other values."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from lgint import _core
from lgint._args import Array, array, choice, flag, guess, listing, shown
from lgint._model.record import Origin
from lgint._model.start import Taken, coordinates, taken
from lgint._model.values import Value, own_values
from lgint._rotation import valid_rotations

S = TypeVar("S", bound="System")


def checked(model: object) -> System:
    """`model` if it is a model; ValueError otherwise."""
    if not isinstance(model, System):
        raise ValueError(f"model: a model expected, got {shown(model)}")
    return model


def refuse_samples(model: System, what: str) -> None:
    """ValueError if the model has a sampled control, whose values do not follow from its state."""
    for name in model.sampled:
        raise ValueError(
            f"{what}: control {name!r} is sampled, so that its efforts do not follow from the state; "
            "add it without `every` to see the system that it approximates"
        )


class System:
    """A system of the core and its start, as `integrate` takes it. Base class of `Model` and `CallableModel`.

    Attributes
    ----------
    core : _core.System
        It has the functions: residual, energy, retract, difference, evaluate, ...
    q0, v0 : ndarray, shapes (nq,) and (nv,)
        The start, read-only.
    mem0 : ndarray
        The memory of joints, drives and rods at the start, such as full turns of angles; read-only.
    reference : str
        The source of the system, "" if unknown.
    origin : dict or None
        The function of `lgint.models` that made the system ("factory") and its arguments ("parameters").
    """

    core: _core.System
    q0: Array
    v0: Array
    mem0: Array
    reference: str
    origin: Origin | None = None
    _taken: Taken | None = None  # from which state the start was taken
    _exact: bool = False  # whether q0 has the bits of a state, whose quaternions may have drifted from unit length

    def _set_start(self, q: ArrayLike, v: ArrayLike, memory: ArrayLike = (), *, exact: bool = False) -> None:
        given = array("q", q, (self.nq,))
        self._exact = exact
        self.q0 = given if exact else valid_rotations(self.core.factors, given)
        self.v0 = array("v", v, (self.nv,))
        self.mem0 = array("mem0", memory, (self.core.nmem,))
        for part in (self.q0, self.v0, self.mem0):
            part.setflags(write=False)
        self.__dict__.pop("start_memory", None)

    @property
    def nq(self) -> int:
        """Number of coordinates."""
        return self.core.nq

    @property
    def nv(self) -> int:
        """Number of velocities."""
        return self.core.nv

    @property
    def nc(self) -> int:
        """Number of constraint rows, including the blocks' own rows."""
        return self.core.nrows

    @property
    def sampled(self) -> Sequence[str]:
        """Names of sampled controls."""
        return ()

    @property
    def has_potential(self) -> bool:
        """Whether all forces at rest are known to have a potential, which `energy` may contain only in part."""
        return self.core.has_potential

    @property
    def row_names(self) -> list[str]:
        """Names of the constraint rows, in the order of the multipliers."""
        return list(self.core.row_names)

    def record(self) -> Mapping[str, Any]:
        """Plain data (numbers, strings, lists, functions) from which the system can be rebuilt.

        Returns
        -------
        mapping
            The data.
        """
        raise NotImplementedError

    def with_state(
        self: S,
        q: Any = None,
        v: ArrayLike | None = None,
        *,
        project: bool = False,
        joints: Mapping[str, Any] | None = None,
        rates: Mapping[str, Any] | None = None,
    ) -> S:
        """The same system with another start; what is None stays as it is. The compiled system is shared.

        Parameters
        ----------
        q : State, Trajectory or array_like, shape (nq,), optional
            A state of this system or of one like it (`run.state(10)`, `stepper.state`), or a run, of which the last
            state is taken: with its velocities and its whole memory, so that angles keep their turns. It may violate
            the constraints by as much as it did in its own model. Give its time to `integrate` as `t0`. A run from the
            last state of a run, or from the state of a stepper, continues it bit for bit if it has the same method and
            options. Or coordinates in the formulation of the system; angles are then the nearest to those of the
            previous start.
        v : array_like, shape (nv,), optional
            Velocities.
        project : bool
            Take the nearest start, in the mass metric, that satisfies the constraints.
        joints, rates : dict, optional
            Coordinates of joints and poses of bodies by name, and their rates, as in `state`; q and v are then arrays.

        Returns
        -------
        Model, CallableModel or LagrangianModel
            The system with the other start.

        Raises
        ------
        ValueError
            For wrong shapes, NaN and invalid rotations (a matrix that is not orthogonal or a quaternion that is not of
            unit length; one whose length is off by less than 1e-5 is normalised with a warning). Also for a state of a
            system with other bodies, coordinates or another memory, for a run without states, and for a run whose
            `save` has left out what is needed of a state.
        """
        flag("project", project)
        if joints is not None or rates is not None:
            return self.with_state(self.state(coordinates(q), v, joints=joints, rates=rates), project=project)
        other = self._copy()
        start: tuple[Any, ...] = (self.q0, self.v0, self.mem0)
        known = self._taken if q is None else None
        if hasattr(q, "end"):
            if not len(q):
                raise ValueError("q: this run has no state")
            q = q.state(-1)
        if isinstance(getattr(q, "model", None), System):
            start, known = taken(self, q)
        elif q is not None:
            start = coordinates(q), self.v0, self.mem0
        exact = not project and (known is not None or (q is None and self._exact))
        q, velocities, memory = start
        other._taken = (known if v is None else known.with_other_v()) if exact and known and known.method else None
        v = velocities if v is None else v
        if project:
            q, v = self.core.project(0.0, q, v, memory)
        other._set_start(q, v, memory, exact=exact)
        return other

    def state(
        self,
        q: ArrayLike | None = None,
        v: ArrayLike | None = None,
        t: float = 0.0,
        *,
        joints: Mapping[str, Any] | None = None,
        rates: Mapping[str, Any] | None = None,
    ) -> Any:
        """The system at one point in time, with the accessors of a run: `model.state().position("arm")`.

        Parameters
        ----------
        q : array_like, shape (nq,), optional
            Coordinates; by default those of the start. Angles are the nearest to those of the start.
        v : array_like, shape (nv,), optional
            Velocities; by default those of the start.
        t : float
            Time, s.
        joints : dict, optional
            Coordinates of joints by their names, which replace those of q: an angle, rad, or a slide, m; [slide, angle]
            of cylindrical joints, two angles about e1 and e2 of universal ones, two slides and an angle of planar ones;
            of spherical joints the rotation, (3, 3) or (4,), from the axes of the second body to those of the first. By
            the name of a body that no joint holds to the ground its pose: a position, (3,), and a rotation. All other
            joints stay as they are at q; in closed loops they move as little as closing them needs.
        rates : dict, optional
            Rates of the same, which replace v; of spherical joints the relative angular velocity, (3,), in the axes of
            the second body, and of bodies the inertial velocity and the body angular velocity. All other joints have
            the rates that they have at the start, or in closed loops the nearest ones. States of controls stay.

        Returns
        -------
        State
            Its accelerations and multipliers are computed when they are first read.

        Raises
        ------
        ValueError
            For wrong shapes, NaN and invalid rotations, for names of no joint or body, and if there is no position
            or no velocity with the given values.
        """
        return FROM_HIGHER_LAYERS["state"](self, q, v, t, joints, rates)

    def inverse_dynamics(
        self,
        q: ArrayLike,
        v: ArrayLike,
        vdot: ArrayLike,
        t: ArrayLike = 0.0,
        *,
        actuators: Sequence[str] | None = None,
        redundant: str = "error",
    ) -> Array:
        """The forces that a motion takes, in addition to those that the model has.

        They are tau in M vdot + gyro - force + B^T lam = S^T tau, where `force` holds the weights, springs and drives
        of the model, and the efforts of its controls. Those of sampled controls are not among them: they are held
        values, which do not follow from a motion. The motion is taken as given, whether or not it satisfies the
        constraints.

        Parameters
        ----------
        q, v, vdot : array_like, shapes (..., nq), (..., nv) and (..., nv)
            Coordinates, velocities and accelerations, with the same leading axes in all that have any. Angles of joints
            are the nearest to those of the model's start.
        t : array_like, shape (...)
            Times, s.
        actuators : sequence of str, optional
            Joints that have an actuator: "shoulder", or "screw.angle" and "screw.slide" where a joint has both. Row i
            of S is the derivative of the rate of coordinate i by v. Default: S is the identity, so that tau are the
            generalized forces of a system without constraint rows.
        redundant : str
            What to do if several efforts of actuators give the motion: raise an "error", or share by "least_norm".

        Returns
        -------
        ndarray, shape (..., nv) or (..., actuators)
            Generalized forces, or the efforts of the actuators: torques, N m, and forces along slides, N.

        Raises
        ------
        ValueError
            Without `actuators`, if the model has constraint rows. With `actuators`, naming them, if their efforts
            cannot give the motion, or, unless `redundant` is "least_norm", if they depend on each other or do no work;
            naming rows, if the constraints are singular. Also for unknown joints and wrong shapes.
        """
        efforts: Array = FROM_HIGHER_LAYERS["inverse_dynamics"](self, q, v, vdot, t, actuators, redundant)
        return efforts

    def inverse_dynamics_derivatives(
        self, q: ArrayLike, v: ArrayLike, vdot: ArrayLike, t: ArrayLike = 0.0
    ) -> tuple[Array, Array, Array]:
        """Derivatives of the generalized forces that `inverse_dynamics` returns without `actuators`.

        Parameters
        ----------
        q, v, vdot : array_like, shapes (..., nq), (..., nv) and (..., nv)
            Coordinates, velocities and accelerations, with the same leading axes in all that have any.
        t : array_like, shape (...)
            Times, s.

        Returns
        -------
        dq, dv, dvdot : ndarray, shapes (..., nv, nv)
            By q (in local coordinates: column i along q exp(s e_i)), by v, and by vdot, which is the mass matrix.

        Raises
        ------
        ValueError
            If the model has constraint rows, and for wrong shapes.
        """
        found: tuple[Array, Array, Array] = FROM_HIGHER_LAYERS["inverse_dynamics_derivatives"](self, q, v, vdot, t)
        return found

    def mobility(self) -> Any:
        """The degrees of freedom at the system's start, the freedoms that bodies bring, and those that joints take.

        Returns
        -------
        Mobility
            `degrees_of_freedom`, and by name what each body brings and each joint takes; printed as a table.

        Raises
        ------
        ValueError
            If the model is a system of functions, which has no bodies and joints.
        """
        return FROM_HIGHER_LAYERS["mobility"](self)

    def _pickled(self) -> dict[str, Any] | None:
        """What a pickle holds besides the arguments: from which state the start was taken."""
        return None if self._taken is None else {"_taken": self._taken.without_core(self)}

    @functools.cached_property
    def start_memory(self) -> Array:
        """The memory of the system at its start, at t = 0."""
        found = self.core.remember(0.0, self.q0, self.v0, np.zeros(self.nv), self.mem0)
        found.setflags(write=False)
        return found

    def _copy(self: S) -> S:
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        for name in ("complete", "start_memory"):
            other.__dict__.pop(name, None)
        return other

    @property
    def parameters(self) -> dict[str, Any]:
        """Keywords of the function of `lgint.models` that made the model; empty for all other models."""
        return dict(self.origin["parameters"]) if self.origin else {}

    @functools.cached_property
    def _values(self) -> dict[str, Value]:
        return {}

    @property
    def values(self) -> dict[str, Any]:
        """Numbers that `with_parameters` can change, such as "arm.mass"; empty for systems of functions."""
        return {}

    def with_parameters(self: S, **parameters: Any) -> S:
        """The model with other parameters.

        Parameters
        ----------
        **parameters
            Keywords of the function of `lgint.models` that made the model; it is called again and determines the start.
            Or, for every model with bodies, names of `values`: the model then keeps its start and its compiled shape,
            so that this takes some microseconds:
            ``model.with_parameters(**{"arm.mass": 2.0, "gravity": (0, 0, -1.62)})``. A name that is both is taken as
            the keyword, unless what is given only has the shape of the value.

        Returns
        -------
        Model, CallableModel or LagrangianModel
            The new model; this one does not change.

        Raises
        ------
        ValueError
            If the model has no such parameter, or its value does not make sense.
        """
        own = own_values(parameters, self._values, self.parameters, lambda: self.values)
        keywords = {name: value for name, value in parameters.items() if name not in own}
        model = self._made_again(keywords) if keywords else self
        return model._with_values({name: parameters[name] for name in own})

    def _made_again(self: S, keywords: Mapping[str, Any]) -> S:
        """The model that this model's factory makes from other keywords."""
        if self.origin is None:
            name = next(iter(keywords))
            raise ValueError(
                f"with_parameters: {name!r} is not a value of this model{guess(name, [*self._values])}; its values are "
                f"{listing([*self._values])}. The keywords of a function of lgint.models are accepted "
                "only by models as that function made them; build this model again to change anything else"
            )
        for name in keywords:
            choice("parameter", name, list(dict.fromkeys([*self.origin["parameters"], *self.values])))
        factory = FACTORIES[choice("model", self.origin["factory"], FACTORIES)]
        made: S = factory(**{**self.origin["parameters"], **keywords})
        return made

    def _with_values(self: S, values: Mapping[str, Any]) -> S:
        return self

    def variants(
        self: S,
        values: Mapping[str, Iterable[Any]] | None = None,
        *,
        q: ArrayLike | None = None,
        v: ArrayLike | None = None,
    ) -> list[S]:
        """Models of the same shape, which `integrate` runs one after the other in a single call.

        Parameters
        ----------
        values : dict of lists or arrays, optional
            For names of `with_parameters`, n values each, along the first axis of an array.
        q, v : array_like, shapes (n, nq) and (n, nv), optional
            Starts, as in `with_state`.

        Returns
        -------
        list of Model, CallableModel or LagrangianModel
            One for each of the n values.

        Raises
        ------
        ValueError
            Without any name, and for different numbers of values.
        """
        if not isinstance(values, (Mapping, type(None))):
            raise ValueError(f"values: lists by the names of with_parameters expected, got {shown(values)}")
        given = {name: _several(name, each) for name, each in (values or {}).items()}
        states = {name: array(name, state) for name, state in (("q", q), ("v", v)) if state is not None}
        for name, state in states.items():
            if state.ndim != 2:
                raise ValueError(f"{name}: shape (n, n{name}) expected, got {state.shape}")
        counts = {name: len(each) for name, each in given.items()} | {name: len(q) for name, q in states.items()}
        if len(set(counts.values())) != 1:
            raise ValueError(f"variants: at least one name, and equally many values for all, expected, got {counts}")
        made = []
        for i in range(next(iter(counts.values()))):
            model = self.with_parameters(**{name: each[i] for name, each in given.items()})
            made.append(model.with_state(**{name: state[i] for name, state in states.items()}) if states else model)
        return made

    def with_origin(self: S, factory: str, parameters: Mapping[str, Any], reference: str) -> S:
        """The same model with a record of the function of `lgint.models` that made it.

        Parameters
        ----------
        factory : str
            Name of the function.
        parameters : mapping
            Its arguments.
        reference : str
            Paper and section from which the model comes.

        Returns
        -------
        Model, CallableModel or LagrangianModel
            The model with this record.
        """
        other = self._copy()
        other.origin = {"factory": factory, "parameters": dict(parameters)}
        other.reference = reference
        return other

    def __copy__(self: S) -> S:
        return self

    def __deepcopy__(self: S, memo: dict[int, Any]) -> S:
        return self


def _several(name: str, given: Iterable[Any]) -> list[Any]:
    """The values of a parameter as a list."""
    if isinstance(given, (str, bytes)) or not np.iterable(given):
        raise ValueError(f"{name}: a list of values expected, got {shown(given)}")
    return [*given]


# functions that make models, by name, for `System.with_parameters`; `lgint.models` adds its own
FACTORIES: Final[dict[str, Callable[..., Any]]] = {}


# methods of models that need more than this package has, by name; `_state` adds its own
FROM_HIGHER_LAYERS: Final[dict[str, Callable[..., Any]]] = {}
