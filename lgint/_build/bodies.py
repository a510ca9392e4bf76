"""The part of the builder that adds bodies."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from lgint._args import array, choice, number
from lgint._build.body import IDENTITY, START_TOLERANCE, ZERO, Body, com_and_pivot
from lgint._build.flexible import ModalBody
from lgint._build.parts import Parts
from lgint._build.support import support
from lgint._build.timed import Motion
from lgint._model.checks import inertia_matrix
from lgint._model.formulations import FORMULATIONS
from lgint._model.names import FormulationName
from lgint._model.record import MINIMAL
from lgint._rotation import RotationLike, cross
from lgint._rotation import rotation as rotation_matrix
from lgint.modal import Modes

AT_REST: Final = (0.0, 0.0, 0.0)


class BodyBuilder(Parts):
    """The part of `ModelBuilder` that adds bodies."""

    def add_body(
        self,
        name: str,
        *,
        mass: float,
        inertia: ArrayLike,
        position: ArrayLike | None = None,
        rotation: RotationLike | None = None,
        velocity: ArrayLike | None = None,
        angular_velocity: ArrayLike = AT_REST,
        formulation: FormulationName | None = None,
        pivot: ArrayLike | None = None,
        com: ArrayLike | None = None,
        reference: RotationLike | None = None,
    ) -> str:
        """Adds a rigid body.

        Parameters
        ----------
        name : str
            By which joints, forces and accessors refer to it.
        mass : float
            kg, positive.
        inertia : array_like, shape (3,), (6,) or (3, 3)
            About the COM in body axes, kg m^2: the diagonal; (xx, yy, zz, xy, xz, yz); or the matrix.
        position, velocity : array_like, shape (3,)
            Of the COM, inertial axes, m and m/s. Default zero.
        rotation : array_like, shape (3, 3), (4,) or (3,), or a SciPy Rotation
            From body to inertial axes: matrix, unit quaternion (scalar first) or rotation vector (rad). Default: the
            identity.
        angular_velocity : array_like, shape (3,)
            Body axes, rad/s.
        formulation : str, optional
            How the body is stored, see the page on conventions: "R3xSO3", "R3xS3", "R3xRV", "SE3", "S3R3",
            "euler_parameters", "tait_bryan", or "minimal": the body's first joint defines its coordinates. Default:
            the builder's.
        pivot : array_like, shape (3,), optional
            Inertial point about which the body turns. The body then has rotational coordinates only, and the velocity
            of its COM follows from them.
        com : array_like, shape (3,), optional
            With `pivot`: from the pivot to the COM in body axes, in place of `position`.
        reference : array_like, shape (3, 3), (4,) or (3,), or a SciPy Rotation, optional
            Rotation from body to inertial axes at which Tait-Bryan angles are zero; the singularity is a quarter turn
            away. Default: the identity. Other formulations do not depend on it.

        Returns
        -------
        str
            Its name.

        Raises
        ------
        ValueError
            For a name in use, wrong shapes, NaN, a mass that is not positive, an inertia that is not symmetric positive
            semidefinite, an invalid rotation. An inertia that violates the triangle inequality is a warning.
        """
        self._new_name("body", name)
        R = IDENTITY if rotation is None else rotation_matrix(f"rotation of {name!r}", rotation)
        still = angular_velocity is AT_REST
        omega = ZERO if still else array(f"angular_velocity of {name!r}", angular_velocity, (3,))
        x, fixed = com_and_pivot(name, R, position, pivot, com)
        v = ZERO if velocity is None else array(f"velocity of {name!r}", velocity, (3,))
        if fixed is not None:
            turning = cross(R @ omega, x - fixed)
            if velocity is not None and np.abs(v - turning).max() > START_TOLERANCE * (1 + np.abs(turning).max()):
                raise ValueError(f"velocity of {name!r}: about its pivot the COM moves with {turning}, got {v}")
            v = turning
        body = Body(
            name,
            number(f"mass of {name!r}", mass, positive=True),
            inertia_matrix(name, inertia),
            x,
            R,
            v,
            omega,
            self._formulation if formulation is None else choice("formulation", formulation, (*FORMULATIONS, MINIMAL)),
            fixed,
            None if reference is None else rotation_matrix(f"reference of {name!r}", reference),
        )
        if body.formulation == MINIMAL and pivot is not None:
            raise ValueError(
                f"pivot of {name!r}: in minimal coordinates a body's joint defines the axis about which it turns"
            )
        return self._add_body(body)

    def _add_body(self, body: Body) -> str:
        """Adds a body that has been checked and returns its name."""
        self._bodies[body.name] = body
        self._names[body.name] = None
        if body.formulation == MINIMAL:
            self._without_joint.add(body.name)
        else:
            self._blocks[body.name] = len(self._parts)
            self._parts.append(body)
        return body.name

    def add_support(
        self,
        name: str,
        *,
        position: ArrayLike = (0.0, 0.0, 0.0),
        rotation: RotationLike | None = None,
        motion: Motion | None = None,
        kinks: ArrayLike = (),
    ) -> str:
        """Adds a frame in space, at rest or in a given motion.

        Joints, springs and rods attach to it as to a body; it has no mass and no coordinates. A trajectory gives its
        position, rotation and velocity, and as `reaction` the force and moment with which it acts on what is attached.

        Parameters
        ----------
        name : str
            By which joints, forces and accessors refer to it.
        position : array_like, shape (3,)
            Inertial, m; at rest. A motion gives the position itself.
        rotation : array_like, shape (3, 3), (4,) or (3,), or a SciPy Rotation
            From the support's to inertial axes, as in `add_body`. Default: the identity.
        motion : array_like, shape (3,) or (6,), table, pieces or function, optional
            The position (m) and, in six values, a rotation vector psi (rad, inertial axes), with which the support has
            the rotation exp(psi) times `rotation`. A vector, at rest. Or a table, a tuple (times (m,), values (m, 3)
            or (m, 6)): the cubic spline through its values that rests before and after them. Or quadratic pieces, shape
            (pieces, 10) or (pieces, 19): rows of the time at which a piece begins, and there values, rates and second
            rates; the first piece also holds before its time, and the last one has no end. Or a function of time that
            returns values, rates and second rates, (3, 3) or (3, 6).
        kinks : array_like, shape (k,)
            Times at which the second rate of a function jumps; steps end there.

        Returns
        -------
        str
            Its name.

        Raises
        ------
        ValueError
            For a name in use, wrong shapes, and motions that `add_joint_motion` refuses as well. A run ends where a
            function or its rate jumps.
        """
        self._new_name("support", name)
        start = array(f"position of {name!r}", position, (3,))
        R = IDENTITY if rotation is None else rotation_matrix(f"rotation of {name!r}", rotation)
        self._supports[name] = support(name, start, R, motion, kinks)
        self._names[name] = None
        return name

    def add_modal_body(
        self,
        name: str,
        modes: Modes,
        *,
        position: ArrayLike = (0.0, 0.0, 0.0),
        rotation: RotationLike | None = None,
        velocity: ArrayLike = (0.0, 0.0, 0.0),
        angular_velocity: ArrayLike = (0.0, 0.0, 0.0),
        eta: ArrayLike | None = None,
        eta_rate: ArrayLike | None = None,
        formulation: FormulationName | None = None,
    ) -> str:
        """Adds a flexible body in modal coordinates.

        Joints and forces on `name` act on the floating frame, those on "name.node" on a node of `modes`, which moves
        with the deformation ("name.com" is the centre of mass).

        Parameters
        ----------
        name : str
            By which joints, forces and accessors refer to it.
        modes : lgint.modal.Modes
            From `lgint.modal.beam` or `lgint.modal.particles`.
        position, velocity : array_like, shape (3,)
            Of the origin of the floating frame, inertial axes, m and m/s.
        rotation : array_like, shape (3, 3), (4,) or (3,), or a SciPy Rotation
            From floating to inertial axes, as in `add_body`. Default: the identity.
        angular_velocity : array_like, shape (3,)
            Of the floating frame in its axes, rad/s.
        eta, eta_rate : array_like, shape (n,)
            Modal coordinates and their rates at the start. Default: zero.
        formulation : str, optional
            Of the floating frame. Default: the builder's.

        Returns
        -------
        str
            Its name.

        Raises
        ------
        ValueError
            For a name in use, wrong shapes, NaN, an invalid rotation, formulation "minimal".
        """
        self._new_name("body", name)
        if not isinstance(modes, Modes):
            raise ValueError(f"modes of {name!r}: what lgint.modal.beam or particles returns expected, got {modes!r}")
        zero = np.zeros(modes.n)
        flexible = ModalBody(
            Body(
                name,
                modes.mass,
                modes.inertia,
                array(f"position of {name!r}", position, (3,)),
                IDENTITY if rotation is None else rotation_matrix(f"rotation of {name!r}", rotation),
                array(f"velocity of {name!r}", velocity, (3,)),
                array(f"angular_velocity of {name!r}", angular_velocity, (3,)),
                choice("formulation", self._formulation if formulation is None else formulation, FORMULATIONS),
                None,
            ),
            modes,
            zero if eta is None else array(f"eta of {name!r}", eta, (modes.n,)),
            zero if eta_rate is None else array(f"eta_rate of {name!r}", eta_rate, (modes.n,)),
        )
        for node in modes.nodes:
            self._new_name("node", f"{name}.{node}")
        self._bodies[name], self._blocks[name] = flexible.frame, len(self._parts)
        self._nodes |= {f"{name}.{node}": flexible.at(node) for node in modes.nodes}
        self._names |= dict.fromkeys([name, *(f"{name}.{node}" for node in modes.nodes)])
        self._parts.append(flexible)
        return name
