"""What follows from states: the motion of bodies, and the system as a whole, the same in every formulation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike

from lgint import _core
from lgint._args import Array, array, choice, listing
from lgint._model.model import Kinematics, Model
from lgint._model.multipliers import rows_in_bodies
from lgint._model.system import System
from lgint._rotation import attitudes, continuous, quaternion_of_matrix
from lgint._state.momenta import momenta
from lgint.modal import COM

EQUILIBRIUM: Final = "equilibrium"  # the method of equilibria, whose times are load factors
UNSTABLE: Final = "unstable"  # their `extra`: in how many directions a state is unstable, -1 if it is not known
AT_A_TIME = 100_000  # kinematics, for each body and state, that are computed at once

_WITH_MOMENTA: Final = [row["name"] for row in _core.METHODS if row["extra"] == "p"]
_WITH_INVERSE: Final = [row["name"] for row in _core.METHODS if row["energy"] == "p.v/2 + V"]


class BodyAccessors:
    """Accessors of a `Trajectory`, whose arrays have an axis for its states in front, and of a `State` without it."""

    __slots__ = ()

    model: System
    method: str | None
    options: Mapping[str, Any]
    t: Any  # a float, or an array (n,)
    q: Array
    v: Array
    vdot: Array
    lam: Array
    mem: Array
    extra: Mapping[str, Array]

    @property
    def row_names(self) -> list[str]:
        """Names of the constraint rows in the order of `lam`; they say in which axes the rows are."""
        model = self.model
        return rows_in_bodies(model) if self._body_axes and isinstance(model, Model) else model.row_names

    @property
    def _body_axes(self) -> bool:
        """Whether the multipliers belong to rows in the axes of bodies."""
        return bool(self.options.get("equivariant", False))

    @property
    def _static(self) -> bool:
        """Whether the states are equilibria at rest, in which prescribed motions stand still."""
        return self.method == EQUILIBRIUM and self.options.get("spin") is None

    @property
    def clock(self) -> Any:
        """Times at which functions of time are evaluated for the states."""
        if self.method != EQUILIBRIUM:  # nearly always: `t` is read first, as loops over states do so often
            return self.t
        return np.full(np.shape(self.t), float(self.options["time"]))

    @property
    def _loads(self) -> Any:
        """Factors of the loads on the states."""
        return self.t if self.method == EQUILIBRIUM else 1.0

    @property
    def stable(self) -> Any:
        """Whether each state of `lgint.equilibrium` is stable; None where loads or laws have no potential.

        An equilibrium is stable where the potential energy has a minimum among the positions that the joints allow;
        `extra["unstable"]` is the number of independent directions (..., 1) in which it falls instead, -1 for None.
        None also stands for a neutral equilibrium, where the energy falls in no direction but is constant in one, up to
        round-off, and for states of other runs and of files without this number.
        """
        directions = self.extra.get(UNSTABLE, np.full((*np.shape(self.t), 1), -1.0))[..., 0].tolist()
        return [*map(_judged, directions)] if isinstance(directions, list) else _judged(directions)

    @property
    def _memory(self) -> Array | None:
        """Memory of the system in the states; None if it was not kept."""
        raise NotImplementedError

    # ---- bodies ----

    def multibody(self) -> Model:
        """The model, which must have bodies and joints.

        Returns
        -------
        Model
            The model.

        Raises
        ------
        ValueError
            If the model is a system of functions.
        """
        if not isinstance(self.model, Model):
            raise ValueError(
                f"a {type(self.model).__name__} has no bodies or joints; its states have t, q, v, vdot, lam, "
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
            Body, support, "ground", or "name.node", a node of a flexible body; "name.com" is its COM.

        Returns
        -------
        ndarray, shape (..., 3)
            Positions in inertial axes, m.

        Raises
        ------
        ValueError
            For an unknown name, and for a model without bodies.
        """
        model = self.model if isinstance(self.model, Model) else self.multibody()
        return model.positions(name, self.q, self.v, self.clock)

    def rotation(self, name: str) -> Array:
        """Rotation from body to inertial axes.

        Parameters
        ----------
        name : str
            Body, support, "ground", or "name.node", a node of a flexible body; "name.com" is its COM.

        Returns
        -------
        ndarray, shape (..., 3, 3)
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
            Body, support, "ground", or "name.node", a node of a flexible body; "name.com" is its COM.

        Returns
        -------
        ndarray, shape (..., 4)
            Scalar first; w >= 0 in a `State` and at the start of a `Trajectory`, then without jumps of sign.

        Raises
        ------
        ValueError
            For an unknown name, and for a model without bodies.
        """
        found = quaternion_of_matrix(self.rotation(name))
        return continuous(found) if found.ndim > 1 else found

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
        ndarray, shape (...)
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
        length: Array = np.linalg.norm(self.q[..., first : first + 4], axis=-1)
        return length - 1

    def velocity(self, name: str) -> Array:
        """Inertial velocity of a body's COM, or of the origin of a flexible body's floating frame.

        Parameters
        ----------
        name : str
            Body, support, "ground", or "name.node", a node of a flexible body; "name.com" is its COM.

        Returns
        -------
        ndarray, shape (..., 3)
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
            Body, support, "ground", or "name.node", a node of a flexible body; "name.com" is its COM.

        Returns
        -------
        ndarray, shape (..., 3)
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
        ndarray, shape (..., modes)
            In the units of the shapes.

        Raises
        ------
        ValueError
            If the body is rigid.
        """
        return self.q[..., self.multibody().modal(name)[0]]

    def modal_rates(self, name: str) -> Array:
        """Rates of the modal coordinates of a flexible body.

        Parameters
        ----------
        name : str
            Flexible body.

        Returns
        -------
        ndarray, shape (..., modes)
            Per second.

        Raises
        ------
        ValueError
            If the body is rigid.
        """
        return self.v[..., self.multibody().modal(name)[1]]

    def point(self, name: str, X: ArrayLike) -> Array:
        """Inertial position of a point that is fixed to a body.

        Parameters
        ----------
        name : str
            Body, support, "ground", or "name.node", a node of a flexible body; "name.com" is its COM.
        X : array_like, shape (3,)
            The point in body axes from the COM, m.

        Returns
        -------
        ndarray, shape (..., 3)
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
            Body, support, "ground", or "name.node", a node of a flexible body; "name.com" is its COM.
        X : array_like, shape (3,)
            The point in body axes from the COM, m.

        Returns
        -------
        ndarray, shape (..., 3)
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

    def energy(self, kind: str | None = None, body: str | None = None) -> Array:
        """Energy of the whole system, or of one body.

        Parameters
        ----------
        kind : str, optional
            "total", "kinetic" or "potential" (of gravity and springs); or "generalized": p.v - T + V with the momentum
            p of the state, and p.v/2 + V for "mph", whose v is the inverse mass times p. Energy-momentum methods
            conserve the generalized energy if all forces have a potential. Default: the kind that the method
            conserves, which `energy_kind` names: "generalized" if the states have a momentum, otherwise "total".
            Between steps the generalized energy has the error of p, which is interpolated linearly.
        body : str, optional
            The energy of this body alone: "kinetic", "potential", which is that of its weight and, for flexible bodies,
            of its deformation, or "total", the default. Springs and rods between bodies belong to none of them.

        Returns
        -------
        ndarray, shape (...)
            J.

        Raises
        ------
        ValueError
            For another kind or an unknown body, and for "generalized" of one body or of states without a momentum.
        """
        if body is not None:
            choice("kind of energy of a body", kind or "total", ("total", "kinetic", "potential"))
            kinetic, potential = self._energies_of(body)
            return {"kinetic": kinetic, "potential": potential}.get(kind or "total", kinetic + potential)
        if kind is None:
            kind = self.energy_kind
        choice("kind of energy", kind, ("total", "kinetic", "potential", "generalized"))
        kinetic, potential = self.model.core.energy(self.clock, self.q, self.v, self._loads, self._memory)
        if kind == "generalized":
            work: Array = np.einsum("...i,...i", self._momenta(), self.v)
            if self.method in _WITH_INVERSE:
                return work / 2 + potential  # with the inertia about e, which the kinetic energy of v leaves out
            return work - kinetic + potential  # an error of v, such as the round-off of q over h, enters squared
        return {"total": kinetic + potential, "kinetic": kinetic[()], "potential": potential[()]}[kind]

    def _energies_of(self, name: str) -> tuple[Array, Array]:
        """Kinetic and potential energy of a body."""
        model = self.multibody()
        body = model.body(name)
        x, _, xdot, omega = self._kinematics(f"{name}.{COM}" if body["modes"] else name)
        weight: Array = -self._loads * body["mass"] * (x @ np.array(model.record()["gravity"]))
        if not body["modes"]:
            spin = np.einsum("...i,ij,...j", omega, np.array(body["inertia"]), omega)
            return (body["mass"] * np.einsum("...i,...i", xdot, xdot) + spin) / 2, weight
        momenta = model.core.evaluate(self.clock, self.q, self.v, self.v, want="Ma")["Ma"]
        own = slice(model.core.blocks[body["block"]][3], model.modal(name)[1].stop)
        eta = self.modal(name)
        strain = np.einsum("...i,ij,...j", eta, model.modes(name).stiffness, eta) / 2
        return np.einsum("...i,...i", momenta[..., own], self.v[..., own]) / 2, weight + strain

    def _momenta(self) -> Array:
        if "p" not in self.extra:
            of = f"the states of {self.method!r} have" if self.method else "this state has"
            raise ValueError(f"{of} no momentum; those of {listing(_WITH_MOMENTA)} do")
        return self.extra["p"]

    def momentum(self) -> Array:
        """Linear momentum of all bodies.

        If the states have a momentum p (`extra["p"]`), it is computed from p, even where p differs from M v.

        Returns
        -------
        ndarray, shape (..., 3)
            In inertial axes, kg m/s.
        """
        if "p" in self.extra:
            return momenta(self.multibody(), self.q, self.extra["p"])[0]
        bodies = self.multibody().bodies
        masses = np.array([body["mass"] for body in bodies.values()])
        coms = [f"{name}.{COM}" if body["modes"] else name for name, body in bodies.items()]
        total = np.zeros((*np.shape(self.t), 3))
        for states, (_, _, xdot, _) in self._motions(coms):
            total[states] = np.einsum("b,...bi->...i", masses, xdot)
        return total

    def angular_momentum(self) -> Array:
        """Angular momentum of all bodies about the origin.

        If the states have a momentum p (`extra["p"]`), it is computed from p, even where p differs from M v.

        Returns
        -------
        ndarray, shape (..., 3)
            In inertial axes, kg m^2/s.
        """
        if "p" in self.extra:
            return momenta(self.multibody(), self.q, self.extra["p"])[1]
        bodies = self.multibody().bodies
        rigid = {name: body for name, body in bodies.items() if not body["modes"]}
        masses = np.array([body["mass"] for body in rigid.values()])
        inertia = np.reshape([body["inertia"] for body in rigid.values()], (-1, 3, 3))
        total = np.zeros((*np.shape(self.t), 3))
        for states, (x, R, xdot, omega) in self._motions(list(rigid)):
            total[states] = np.einsum("b,...bi->...i", masses, np.cross(x, xdot))
            total[states] += np.einsum("...bij,...bj->...i", R, np.einsum("bjk,...bk->...bj", inertia, omega))
        for name in bodies.keys() - rigid.keys():
            total += self._modal_angular_momentum(name)
        return total

    def _motions(self, names: Sequence[str]) -> Iterator[tuple[Any, Kinematics]]:
        """Kinematics of bodies for so few states at a time that arrays stay small, with the index of these states."""
        model, t = self.multibody(), np.asarray(self.clock)
        many = max(AT_A_TIME // max(len(names), 1), 1)
        parts = [slice(first, first + many) for first in range(0, len(t), many)] if t.ndim else [()]
        for states in parts:
            yield states, model.motions(names, self.q[states], self.v[states], t[states])

    def _modal_angular_momentum(self, name: str) -> Array:
        model = self.multibody()
        x, R, xdot, omega = self._kinematics(name)
        own = model.modes(name).angular_momentum(
            rotate(np.swapaxes(R, -1, -2), xdot), omega, self.modal(name), self.modal_rates(name)
        )
        total: Array = model.bodies[name]["mass"] * np.cross(x, self.velocity(f"{name}.{COM}")) + rotate(R, own)
        return total

    def constraint_residual(self, level: str = "position") -> Array:
        """Residuals of the constraint rows.

        Redundant rows that are inactive are evaluated too: what the active ones do not imply shows here.

        Parameters
        ----------
        level : str
            "position" or "velocity".

        Returns
        -------
        ndarray, shape (..., nc)
            In the units of the rows (m, rad, 1; at velocity level per second), in the order of `row_names`.
        """
        levels = ("position", "velocity")
        choice("level", level, levels)
        core, memory = self.model.core, self._memory
        whole = getattr(self.model, "complete", self.model)
        if whole.nc == self.model.nc:  # models of older files lack their inactive rows
            core = whole.core
            memory = None if memory is None else memory[..., : core.nmem]  # its end says which rows are active
        residual: Array = core.residual(self.clock, self.q, self.v, memory)[levels.index(level)]
        return residual


def _judged(directions: float) -> bool | None:
    """Whether a state is stable, from the number of directions in which the energy falls."""
    return None if directions < 0 else directions == 0


def rotate(R: Array, x: Array) -> Array:
    """R x: (..., 3, 3), (..., 3) -> (..., 3)."""
    rotated: Array = np.einsum("...ij,...j->...i", R, x)
    return rotated
