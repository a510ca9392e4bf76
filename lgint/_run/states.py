"""States of a run: its bodies, and the system as a whole. They mean the same in every formulation."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from lgint import _core, _html
from lgint._args import Array, array, choice, listing
from lgint._model.model import Kinematics, Model, System
from lgint._model.multipliers import rows_in_bodies
from lgint._rotation import attitudes, continuous, quaternion_of_matrix
from lgint._run.dense import LATER, DenseOutput
from lgint._run.methods import ROWS, shown_options
from lgint._run.momenta import momenta
from lgint.modal import COM

EQUILIBRIUM: Final = "equilibrium"  # the method of trajectories whose times are load factors
UNSTABLE: Final = "unstable"  # their `extra`: in how many directions a state is unstable, -1 if it is not known


PARTS: Final = tuple(_core.PARTS)
AT_A_TIME = 100_000  # bodies times states whose kinematics are computed at once


@dataclass(frozen=True)
class Stats:
    """The cost of a run.

    Attributes
    ----------
    steps : int
        Accepted steps.
    rejected : int
        Steps that error control rejected.
    failed : int
        Rejected steps that could not be carried out.
    newton_iterations : int
        Linear solves of Newton's method.
    jacobians : int
        Evaluations of tangents, which are the matrices that Newton's method formed.
    factorisations : int
        Factorisations of matrices.
    force_evaluations : int
        Evaluations of the forces.
    dense_fallbacks : int
        Factorisations for which LAPACK's dense one was needed.
    gradients_formed : int
        Gradients that a LagrangianModel was not given and formed by complex steps or differences.
    wall_time : float
        s.
    h_used : float
        The largest step taken, s.
    newton : str or None
        How Newton's method solved the steps, "auto", "full" or "modified"; None if there was nothing to solve.
    least_cosine : float or None
        The least cosine of any body's middle Tait-Bryan angle over all steps; 1 if no body has such angles, None in
        files of versions that did not record it.
    parasitic_rate : float or None
        With "eml", "reml" and "null_eml" the rates of Euler parameters have a part along the parameters, which has no
        meaning. This is the largest value, over all bodies and steps, of this part divided by the largest rates of the
        body so far. It tells how far the alternating error of these methods has grown. None for other methods and for
        systems of functions.
    """

    steps: int = 0
    rejected: int = 0
    failed: int = 0
    newton_iterations: int = 0
    jacobians: int = 0
    factorisations: int = 0
    force_evaluations: int = 0
    dense_fallbacks: int = 0
    gradients_formed: int = 0
    wall_time: float = 0.0
    h_used: float = 0.0
    newton: str | None = None
    least_cosine: float | None = None
    parasitic_rate: float | None = None


class Abscissa(NamedTuple):
    """What `t` means, for tables and pictures: times, or the load factors of equilibria."""

    name: str
    plural: str
    label: str  # of an axis
    before: str  # text before a value
    after: str  # and after it
    units: str
    about: str


TIME: Final = Abscissa("time", "times", "t / s", "t = ", " s", "s", "time")
LOAD: Final = Abscissa("load", "load factors", "load factor", "load factor ", "", "1", "factor of the loads")


class States:
    """States of a run at its saved times, and what follows from them. The attributes are explained in `Trajectory`."""

    q: Array
    v: Array
    vdot: Array
    lam: Array
    mem: Array
    _later: Callable[[], dict[str, Array]]  # computes the parts LATER when one is read; absent if they are there

    def __init__(self, model: System, method: str, options: Mapping[str, Any], result: Mapping[str, Any]) -> None:
        self.model = model
        self.method = method
        self.options = dict(options)
        self.t: Array = result["t"]
        self.h: Array = result["h"]
        self.error: Array = result["error"]
        for name in PARTS:
            if name in result:
                setattr(self, name, result[name])
        self.saved: dict[str, Array] = result.get("saved", {})
        self.carry: Array = result["carry"]
        self.extra: dict[str, Array] = _extra(method, result.get("extra"))
        self.end: dict[str, Array] = result["end"]
        knots = result["knots"]
        self.sol: DenseOutput | None = None
        if knots and len(knots["t"]):
            explicit = bool(ROWS[method]["tableau"])
            self.sol = DenseOutput(model, knots, float(self.end["t"][-1]), index_1=explicit)
        events = result.get("events") or (None, None, None)
        self.t_events: list[Array] | None = events[0]
        self.q_events: list[Array] | None = events[1]
        self.v_events: list[Array] | None = events[2]
        self.status: int = result.get("status", 0)
        self.stats = _stats(result["stats"], self.h)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            if name in LATER and "_later" in vars(self):
                vars(self).update(vars(self).pop("_later")())
                return vars(self)[name]
            if name in PARTS:
                raise AttributeError(f"{name} was not kept: the run's argument `save` does not name it")
            raise AttributeError(f"a trajectory has no attribute {name!r}")

    def __len__(self) -> int:
        return len(self.t)

    def __repr__(self) -> str:
        times = f", {self.abscissa.before}{self.t[0]:g} ... {self.t[-1]:g}" if len(self) else ""
        return f"<lgint.Trajectory {self.method}: {len(self)} states{times}>"

    def _repr_html_(self) -> str:
        axis, unit = self.abscissa, self.abscissa.after
        ends = {0: "at its end", 1: "at an event", -1: "by a failure"}
        rows: list[tuple[str, object]] = [
            ("model", repr(self.model)),
            ("options", shown_options(self.method, self.options) or "defaults"),
            ("states", len(self)),
            (axis.plural, f"{self.t[0]:g}{unit} ... {self.t[-1]:g}{unit}" if len(self) else "none"),
            ("ended", ends[self.status]),
            ("steps", f"{self.stats.steps}, {self.stats.rejected} rejected, at most {self.stats.h_used:g}{unit}"),
            ("evaluations", self.stats.force_evaluations),
            ("Newton iterations", f"{self.stats.newton_iterations}, {self.stats.newton or 'no'} Newton"),
            ("wall time", f"{self.stats.wall_time:.3g} s"),
        ]
        return _html.table(f"Trajectory by {self.method}", (), rows)

    @property
    def row_names(self) -> list[str]:
        """Names of the constraint rows in the order of `lam`; they say in which axes the rows are."""
        model = self.model
        return rows_in_bodies(model) if self._invariant and isinstance(model, Model) else model.row_names

    @property
    def stable(self) -> list[bool | None]:
        """Whether each state of `lgint.equilibrium` is stable; None where loads or laws have no potential.

        An equilibrium is stable where the potential energy has a minimum among the positions that the joints allow;
        `extra["unstable"]` is the number of independent directions (n, 1) in which it falls instead, -1 for None. None
        also stands for a neutral equilibrium, where the energy falls in no direction but is constant in one, up to
        round-off, and for states of other runs and of files without this number.
        """
        found = self.extra.get(UNSTABLE, np.full((len(self), 1), -1.0))
        return [None if n < 0 else bool(n == 0) for n in found[:, 0]]

    @property
    def _invariant(self) -> bool:
        """Whether the multipliers belong to rows in the axes of bodies."""
        return bool(self.options.get("equivariant", False))

    @property
    def _static(self) -> bool:
        """Whether the states are equilibria, whose times are load factors."""
        return self.method == EQUILIBRIUM

    @property
    def abscissa(self) -> Abscissa:
        """The names and units of `t`."""
        return LOAD if self._static else TIME

    @property
    def clock(self) -> Array:
        """Times (n,) at which functions of time are evaluated for the states."""
        return np.full(len(self), float(self.options["time"])) if self._static else self.t

    @property
    def _loads(self) -> Array:
        """Factors (n,) of the loads on the states."""
        return self.t if self._static else np.ones(len(self))

    @property
    def _memory(self) -> Array | None:
        """Memory of the system in the states, (n, nmem); None if it was not kept."""
        return vars(self).get("mem")

    # ---- bodies ----

    def multibody(self) -> Model:
        """The model, which must have bodies and joints.

        Returns
        -------
        Model
            The model of the run.

        Raises
        ------
        ValueError
            If the model is a system of functions.
        """
        if not isinstance(self.model, Model):
            raise ValueError(
                f"a {type(self.model).__name__} has no bodies or joints; its trajectory has t, q, v, vdot, lam, "
                "energy and constraint_residual"
            )
        return self.model

    def _kinematics(self, name: str) -> tuple[Array, Array, Array, Array]:
        return self.multibody().kinematics(name, self.q, self.v, self.clock)

    def position(self, name: str) -> Array:
        """Inertial position of a body's COM, or of the origin of a flexible body's floating frame.

        Parameters
        ----------
        name : str
            Body, support, or "name.node", a node of a flexible body; "name.com" is its COM.

        Returns
        -------
        ndarray, shape (n, 3)
            Positions in inertial axes, m.

        Raises
        ------
        ValueError
            For an unknown name, and for a model without bodies.
        """
        return self._kinematics(name)[0]

    def rotation(self, name: str) -> Array:
        """Rotation from body to inertial axes.

        Parameters
        ----------
        name : str
            Body, support, or "name.node", a node of a flexible body; "name.com" is its COM.

        Returns
        -------
        ndarray, shape (n, 3, 3)
            Rotation matrices.

        Raises
        ------
        ValueError
            For an unknown name, and for a model without bodies.
        """
        return self._kinematics(name)[1]

    def quaternion(self, name: str) -> Array:
        """The rotation from body to inertial axes as unit quaternions.

        Parameters
        ----------
        name : str
            Body, support, or "name.node", a node of a flexible body; "name.com" is its COM.

        Returns
        -------
        ndarray, shape (n, 4)
            Scalar first; w >= 0 at the start, then without jumps of sign.

        Raises
        ------
        ValueError
            For an unknown name, and for a model without bodies.
        """
        return continuous(quaternion_of_matrix(self.rotation(name)))

    def unit_length_error(self, name: str) -> Array:
        """By how much the four parameters that store a rotation as a quaternion differ from unit length.

        It stays at round-off if the storage is kept on the unit sphere or a constraint row requires unit length, and
        drifts with "euler_parameters_omega".

        Parameters
        ----------
        name : str
            Body.

        Returns
        -------
        ndarray, shape (n,)
            |e| - 1.

        Raises
        ------
        ValueError
            If the body's rotation is not stored as a quaternion.
        """
        model = self.multibody()
        body = model.body(name)
        kind, _, begin, *_ = model.core.blocks[body["block"]]
        offset, count = attitudes()[kind]
        if count != 4:
            raise ValueError(f"the rotation of {name!r} is not stored as a quaternion: {body['formulation']!r}")
        first = begin + offset
        length: Array = np.linalg.norm(self.q[:, first : first + 4], axis=1)
        return length - 1

    def velocity(self, name: str) -> Array:
        """Inertial velocity of a body's COM, or of the origin of a flexible body's floating frame.

        Parameters
        ----------
        name : str
            Body, support, or "name.node", a node of a flexible body; "name.com" is its COM.

        Returns
        -------
        ndarray, shape (n, 3)
            Velocities in inertial axes, m/s.

        Raises
        ------
        ValueError
            For an unknown name, and for a model without bodies.
        """
        return self._kinematics(name)[2]

    def angular_velocity(self, name: str) -> Array:
        """Angular velocity of a body in its own axes.

        Parameters
        ----------
        name : str
            Body, support, or "name.node", a node of a flexible body; "name.com" is its COM.

        Returns
        -------
        ndarray, shape (n, 3)
            In body axes, rad/s.

        Raises
        ------
        ValueError
            For an unknown name, and for a model without bodies.
        """
        return self._kinematics(name)[3]

    def modal(self, name: str) -> Array:
        """Modal coordinates of a flexible body.

        Parameters
        ----------
        name : str
            Flexible body.

        Returns
        -------
        ndarray, shape (n, modes)
            In the units of the shapes.

        Raises
        ------
        ValueError
            If the body is rigid.
        """
        return self.q[:, self.multibody().modal(name)[0]]

    def modal_rates(self, name: str) -> Array:
        """Rates of the modal coordinates of a flexible body.

        Parameters
        ----------
        name : str
            Flexible body.

        Returns
        -------
        ndarray, shape (n, modes)
            Per second.

        Raises
        ------
        ValueError
            If the body is rigid.
        """
        return self.v[:, self.multibody().modal(name)[1]]

    def point(self, name: str, X: ArrayLike) -> Array:
        """Inertial position of a point that is fixed to a body.

        Parameters
        ----------
        name : str
            Body, support, or "name.node", a node of a flexible body; "name.com" is its COM.
        X : array_like, shape (3,)
            The point in body axes from the COM, m.

        Returns
        -------
        ndarray, shape (n, 3)
            Positions in inertial axes, m.

        Raises
        ------
        ValueError
            For an unknown name, and for a model without bodies.
        """
        x, R, _, _ = self._kinematics(name)
        return x + R @ array("X", X, (3,))

    def point_velocity(self, name: str, X: ArrayLike) -> Array:
        """Inertial velocity of a point that is fixed to a body.

        Parameters
        ----------
        name : str
            Body, support, or "name.node", a node of a flexible body; "name.com" is its COM.
        X : array_like, shape (3,)
            The point in body axes from the COM, m.

        Returns
        -------
        ndarray, shape (n, 3)
            Velocities in inertial axes, m/s.

        Raises
        ------
        ValueError
            For an unknown name, and for a model without bodies.
        """
        _, R, xdot, omega = self._kinematics(name)
        return xdot + rotate(R, np.cross(omega, array("X", X, (3,))))

    # ---- the whole system ----

    @property
    def energy_kind(self) -> str:
        """The kind of energy that `energy()` gives: "generalized" of states with a momentum p, else "total"."""
        return "generalized" if "p" in self.extra else "total"

    def energy(self, kind: str | None = None) -> Array:
        """Energy of the whole system.

        Parameters
        ----------
        kind : str, optional
            "total", "kinetic" or "potential" (of gravity and springs); or "generalized": p.v - T + V with the momentum
            p of the state, and p.v/2 + V for "mph", whose v is the inverse mass times p. Energy-momentum methods
            conserve the generalized energy if all forces have a potential. Default: the kind that the method
            conserves, which `energy_kind` names: "generalized" if the states have a momentum, otherwise "total".
            Between steps the generalized energy has the error of p, which is interpolated linearly.

        Returns
        -------
        ndarray, shape (n,)
            J.

        Raises
        ------
        ValueError
            For another kind, and for "generalized" where the states have no momentum.
        """
        if kind is None:
            kind = self.energy_kind
        choice("kind of energy", kind, ("total", "kinetic", "potential", "generalized"))
        kinetic, potential = self.model.core.energy(self.clock, self.q, self.v, self._loads, self._memory)
        if kind == "generalized":
            work: Array = np.einsum("ni,ni->n", self._momenta(), self.v)
            if any(option["name"] == "hamiltonian" for option in ROWS[self.method]["options"]):
                return work / 2 + potential  # with the inertia about e, which the kinetic energy of v leaves out
            return work - kinetic + potential  # an error of v, such as the round-off of q over h, enters squared
        return {"total": kinetic + potential, "kinetic": kinetic, "potential": potential}[kind]

    def _momenta(self) -> Array:
        if "p" not in self.extra:
            names = [name for name, row in ROWS.items() if row["extra"] == "p"]
            raise ValueError(f"the states of {self.method!r} have no momentum; those of {listing(names)} do")
        return self.extra["p"]

    def momentum(self) -> Array:
        """Linear momentum of all bodies.

        If the states have a momentum p (`extra["p"]`), it is computed from p, even where p differs from M v.

        Returns
        -------
        ndarray, shape (n, 3)
            In inertial axes, kg m/s.
        """
        if "p" in self.extra:
            return momenta(self.multibody(), self.q, self.extra["p"])[0]
        bodies = self.multibody().bodies
        masses = np.array([body["mass"] for body in bodies.values()])
        coms = [f"{name}.{COM}" if body["modes"] else name for name, body in bodies.items()]
        total = np.zeros((len(self), 3))
        for states, (_, _, xdot, _) in self._motions(coms):
            total[states] = np.einsum("b,nbi->ni", masses, xdot)
        return total

    def angular_momentum(self) -> Array:
        """Angular momentum of all bodies about the origin.

        If the states have a momentum p (`extra["p"]`), it is computed from p, even where p differs from M v.

        Returns
        -------
        ndarray, shape (n, 3)
            In inertial axes, kg m^2/s.
        """
        if "p" in self.extra:
            return momenta(self.multibody(), self.q, self.extra["p"])[1]
        bodies = self.multibody().bodies
        rigid = {name: body for name, body in bodies.items() if not body["modes"]}
        masses = np.array([body["mass"] for body in rigid.values()])
        inertia = np.reshape([body["inertia"] for body in rigid.values()], (-1, 3, 3))
        total = np.zeros((len(self), 3))
        for states, (x, R, xdot, omega) in self._motions(list(rigid)):
            total[states] = np.einsum("b,nbi->ni", masses, np.cross(x, xdot))
            total[states] += np.einsum("nbij,nbj->ni", R, np.einsum("bjk,nbk->nbj", inertia, omega))
        for name in bodies.keys() - rigid.keys():
            total += self._modal_angular_momentum(name)
        return total

    def _motions(self, names: Sequence[str]) -> Iterator[tuple[slice, Kinematics]]:
        """Kinematics of bodies, for so many states at a time that the arrays stay small."""
        many = max(AT_A_TIME // max(len(names), 1), 1)
        for first in range(0, len(self), many):
            states = slice(first, first + many)
            yield states, self.multibody().motions(names, self.q[states], self.v[states], self.clock[states])

    def _modal_angular_momentum(self, name: str) -> Array:
        model = self.multibody()
        x, R, xdot, omega = self._kinematics(name)
        own = model.modes(name).angular_momentum(
            rotate(np.swapaxes(R, 1, 2), xdot), omega, self.modal(name), self.modal_rates(name)
        )
        total: Array = model.bodies[name]["mass"] * np.cross(x, self.velocity(f"{name}.{COM}")) + rotate(R, own)
        return total

    def constraint_residual(self, level: str = "position") -> Array:
        """Residuals of all constraint rows.

        Parameters
        ----------
        level : str
            "position" or "velocity".

        Returns
        -------
        ndarray, shape (n, nc)
            In the units of the rows (m, rad, 1; at velocity level per second), in the order of `row_names`.
        """
        levels = ("position", "velocity")
        choice("level", level, levels)
        return self.model.core.residual(self.clock, self.q, self.v, self._memory)[levels.index(level)]


def _extra(method: str, values: Array | None) -> dict[str, Array]:
    """What the states of a method have in addition to q, v, vdot and lam, by name."""
    name = ROWS[method]["extra"] if method in ROWS else UNSTABLE
    return {name: values} if name and values is not None else {}


_COUNTED: Final = frozenset(field.name for field in fields(Stats))


def _stats(given: Mapping[str, Any], h: Array) -> Stats:
    values = {name: value for name, value in given.items() if name in _COUNTED}
    values.setdefault("force_evaluations", given.get("evaluations", 0))
    if "h_used" not in values:
        values["h_used"] = max(h.tolist(), default=0.0) if len(h) < 100 else float(h.max())
    return Stats(**values)


def rotate(R: Array, x: Array) -> Array:
    """R x for rows: (n, 3, 3), (n, 3) -> (n, 3)."""
    rotated: Array = np.einsum("nij,nj->ni", R, x)
    return rotated
