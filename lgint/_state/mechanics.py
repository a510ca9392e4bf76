"""What follows from states: the matrices and forces of the equations of motion, and the Jacobians of bodies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import ArrayLike

from lgint._args import Array, array, choice, flag
from lgint._model.model import GROUND, Model
from lgint._state.bodies import rotate
from lgint._state.controls import ControlAccessors

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Sparse = Any  # a csr_array, or a list of them

CHAINS = {"K": (1.0, 0.0, 0.0), "D": (0.0, 1.0, 0.0), "M": (0.0, 0.0, 1.0)}  # d(q, v, a)/du of each derivative


class MechanicsAccessors(ControlAccessors):
    """All accessors: those of bodies, rods, joints and elements, and of the equations of motion."""

    __slots__ = ()

    # ---- the equations of motion ----

    def mass_matrix(self, sparse: bool = False) -> Array | Sparse:
        """The mass matrix M.

        Parameters
        ----------
        sparse : bool
            Return a `scipy.sparse.csr_array` (for a trajectory a list of them, one per state).

        Returns
        -------
        ndarray, shape (..., nv, nv)
            Symmetric; in the units of the velocities of the formulation.
        """
        return self._matrix("M", sparse)

    def constraint_matrix(self, sparse: bool = False) -> Array | Sparse:
        """The matrix B of the constraint rows, whose rates are B v and what moving supports add.

        Parameters
        ----------
        sparse : bool
            Return a `scipy.sparse.csr_array` (for a trajectory a list of them, one per state).

        Returns
        -------
        ndarray, shape (..., nc, nv)
            Rows in the order of `row_names`; inactive rows are zero.
        """
        return self._matrix("B", sparse)

    def stiffness_matrix(self, sparse: bool = False) -> Array | Sparse:
        """The derivative of r = M vdot + gyro - force + B^T lam by q.

        It contains the derivatives of all terms at the state's `vdot` and `lam`: those of springs and loads, but also
        those of inertia and of constraint forces.

        Parameters
        ----------
        sparse : bool
            Return a `scipy.sparse.csr_array` (for a trajectory a list of them, one per state).

        Returns
        -------
        ndarray, shape (..., nv, nv)
            By displacements in local coordinates, as velocities have them: column i is the derivative along q exp(s
            e_i). In general it is not symmetric.
        """
        return self._matrix("K", sparse)

    def damping_matrix(self, sparse: bool = False) -> Array | Sparse:
        """The derivative of r = M vdot + gyro - force + B^T lam by v, gyroscopic terms included.

        Parameters
        ----------
        sparse : bool
            Return a `scipy.sparse.csr_array` (for a trajectory a list of them, one per state).

        Returns
        -------
        ndarray, shape (..., nv, nv)
            In general it is not symmetric.
        """
        return self._matrix("D", sparse)

    def generalized_force(self) -> Array:
        """All forces except those of the constraints and of M vdot: M vdot = generalized_force - B^T lam.

        Returns
        -------
        ndarray, shape (..., nv)
            Applied forces minus gyroscopic terms and those of moving supports, N and N m.
        """
        self._need_forces("generalized force")
        found = self.model.core.evaluate(
            self.clock, self.q, self.v, mem=self._memory, want=("gyro", "force"), **self._how
        )
        return found["force"] - found["gyro"]

    def accelerations(self) -> tuple[Array, Array]:
        """Accelerations and multipliers that follow from t, q and v by the equations of motion.

        Unlike `vdot` and `lam`, which belong to the method of the run, they do not depend on where the state comes
        from. The constraints are imposed on the accelerations alone, so that a state of a run need not satisfy them
        exactly.

        Returns
        -------
        vdot : ndarray, shape (..., nv)
            Accelerations.
        lam : ndarray, shape (..., nc)
            Multipliers in the order of `row_names`.

        Raises
        ------
        SingularError
            Naming a row, if the constraints of the state depend on each other.
        """
        self._need_forces("accelerations")
        return self.model.core.initial(self.clock, self.q, self.v, self._memory, check=False, **self._how)

    @property
    def _how(self) -> dict[str, Any]:
        """In which form, and under which loads, the core evaluates the states."""
        return {"load": self._loads, "static": self._static, "body_axes": self._body_axes}

    def _evaluated(
        self, want: str, a: Array | None = None, lam: Array | None = None, k: Sequence[float] = (0.0, 0.0, 1.0)
    ) -> Array:
        core = self.model.core
        return core.evaluate(self.clock, self.q, self.v, a, lam, mem=self._memory, want=want, k=k, **self._how)[want]

    def _matrix(self, which: str, sparse: bool) -> Any:
        if which in ("K", "D"):
            self._need_forces("stiffness or damping")
        a, lam = (self.vdot, self.lam) if which == "K" else (None, None)
        if flag("sparse", sparse):
            return self._sparse(which, a, lam)
        return self._evaluated("B") if which == "B" else self._evaluated("S", a, lam, CHAINS[which])

    def _sparse(self, which: str, a: Array | None, lam: Array | None) -> Sparse:
        core = self.model.core
        values = core.sparse(self.clock, self.q, self.v, a, lam, mem=self._memory, want=which, **self._how)[which]
        indices = core.sparsity()[2:] if which == "B" else core.sparsity()[:2]
        shape = (core.nrows if which == "B" else core.nv, core.nv)
        if values.ndim == 1:
            return _csr(values, indices, shape)
        return [_csr(each, indices, shape) for each in values]

    # ---- bodies ----

    def jacobian(self, body: str, local_point: ArrayLike | None = None, frame: str = "inertial") -> Array:
        """The derivative of the velocity of a body's point, and of its angular velocity, by v.

        Parameters
        ----------
        body : str
            Body, support, "ground", or "name.node", a node of a flexible body; "name.com" is its COM.
        local_point : array_like, shape (3,), optional
            The point in body axes from the COM, m. Default: the COM.
        frame : str
            The axes in which both velocities are taken, "inertial" or "body".

        Returns
        -------
        ndarray, shape (..., 6, nv)
            Velocity, then angular velocity: they are the Jacobian times v, and the motion of supports in addition.

        Raises
        ------
        ValueError
            For an unknown body or frame, and for a model without bodies.
        """
        return self._jacobian(body, local_point, frame)[0]

    def jacobian_bias(self, body: str, local_point: ArrayLike | None = None, frame: str = "inertial") -> Array:
        """What has to be added to `jacobian` times vdot to obtain the acceleration and the angular acceleration.

        Parameters
        ----------
        body : str
            Body, support, "ground", or "name.node", a node of a flexible body; "name.com" is its COM.
        local_point : array_like, shape (3,), optional
            The point in body axes from the COM, m. Default: the COM.
        frame : str
            The axes in which the inertial acceleration of the point and the angular acceleration are taken, "inertial"
            or "body".

        Returns
        -------
        ndarray, shape (..., 6)
            Acceleration, m/s^2, then angular acceleration, rad/s^2, at vdot = 0.

        Raises
        ------
        ValueError
            For an unknown body or frame, and for a model without bodies.
        """
        return self._jacobian(body, local_point, frame)[1]

    def _jacobian(self, body: str, local_point: ArrayLike | None, frame: str) -> tuple[Array, Array]:
        choice("frame", frame, ("inertial", "body"))
        point = None if local_point is None else array("local_point", local_point, (3,))
        J, bias, R, omega = self._in_body(self.multibody(), body)
        if point is not None:
            J[..., :3, :] -= R @ skew(point) @ J[..., 3:, :]
            swing = np.cross(bias[..., 3:], point) + np.cross(omega, np.cross(omega, point))
            bias[..., :3] += rotate(R, swing)
        turned = slice(3, 6) if frame == "inertial" else slice(0, 3)
        turn = R if frame == "inertial" else np.swapaxes(R, -1, -2)
        J[..., turned, :] = turn @ J[..., turned, :]
        bias[..., turned] = rotate(turn, bias[..., turned])
        return J, bias

    def _in_body(self, model: Model, body: str) -> tuple[Array, Array, Array, Array]:
        """Jacobian and bias with linear parts in inertial and angular ones in body axes, rotation, angular velocity."""
        _, R, _, omega = model.kinematics(body, self.q, self.v, self.clock)
        if body == GROUND:
            return np.zeros((*self.q.shape[:-1], 6, model.nv)), np.zeros((*self.q.shape[:-1], 6)), R, omega
        J, bias = model.core.jacobian(model.frame(body), self.q, self.v, self.clock, self._static)
        own = model.bodies.get(body)
        if own is not None and own["reference"] is not None:
            turn = np.array(own["reference"])  # from body to node axes
            J[..., 3:, :], bias[..., 3:] = turn.T @ J[..., 3:, :], bias[..., 3:] @ turn
        return J, bias, R, omega


# the methods that give values of states
ACCESSORS: Final = [
    name for name in dir(MechanicsAccessors) if name[0] != "_" and callable(getattr(MechanicsAccessors, name))
]


def skew(x: Array) -> Array:
    """The matrix (3, 3) of the vector product with x (3,)."""
    return np.cross(np.eye(3), x)


def _csr(values: Array, indices: tuple[Any, Any], shape: tuple[int, int]) -> csr_array:
    try:
        from scipy.sparse import coo_array
    except ImportError as error:
        raise ImportError("sparse matrices need SciPy: pip install scipy") from error
    return coo_array((values, indices), shape=shape).tocsr()
