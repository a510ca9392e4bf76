"""What follows from states: strains of rods, positions of joints, and the forces and moments in both."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from lgint._args import Array, choice
from lgint._model.joints import joint_coordinate
from lgint._model.model import Model
from lgint._model.multipliers import complete_multipliers
from lgint._model.record import partners
from lgint._model.rod import Rod
from lgint._state.bodies import BodyAccessors, rotate


class JointAccessors(BodyAccessors):
    """The accessors of bodies, rods and joints."""

    __slots__ = ()

    # ---- rods ----

    def strain(self, rod: str | Rod) -> Array:
        """Strains of a rod in the axes of its sections: shear along d1 and d2, stretch, bending, torsion.

        Parameters
        ----------
        rod : str or Rod
            The rod's name, or what `add_rod` returned.

        Returns
        -------
        ndarray, shape (..., edges, 6)
            Shear and stretch (1 at the unstrained length), bending about d1 and d2 and torsion in 1/m.
        """
        return self._edges(rod, np.zeros(self.model.nc))[0]

    def stress(self, rod: str | Rod) -> Array:
        """Forces and moments in the edges of a rod; those against constrained strains are the constraint forces.

        Parameters
        ----------
        rod : str or Rod
            The rod's name, or what `add_rod` returned.

        Returns
        -------
        ndarray, shape (..., edges, 6)
            N along and N m about the section's axes, in the order of `strain`.
        """
        return self._edges(rod, self.lam)[1]

    def line(self, rod: str | Rod) -> Array:
        """The line of a rod.

        Parameters
        ----------
        rod : str or Rod
            The rod's name, or what `add_rod` returned.

        Returns
        -------
        ndarray, shape (..., nodes, 3)
            Inertial positions of its nodes, m.
        """
        model = self.multibody()
        return model.motions(model.rod(rod)["nodes"], self.q, self.v, self.clock)[0]

    def _edges(self, rod: str | Rod, lam: Array) -> tuple[Array, Array]:
        """Strains and stresses of a rod."""
        model = self.multibody()
        elements = [model.joint_indices(edge).element for edge in model.rod(rod)["edges"]]
        return model.core.strain(elements, self.clock, self.q, self.v, lam, self._static, self._memory)

    # ---- joints ----

    @property
    def angle_names(self) -> list[str]:
        """Joints that have an angle (revolute, cylindrical, planar), in the order of `joint_angles`."""
        return [*self.multibody().with_angle]

    def joint_angle(self, name: str) -> Array:
        """Angle of the second body relative to the first about the joint's axis; it counts full turns.

        In the model's start it has the value given to `add_joint`, by default zero.

        Parameters
        ----------
        name : str
            Joint.

        Returns
        -------
        ndarray, shape (...)
            rad.

        Raises
        ------
        ValueError
            If the joint has no angle.
        """
        entry = self.multibody().angle_places.get(name) if isinstance(name, str) else None
        if entry is None:
            return self.joint_position(name, "angle")  # raises the error
        part, column = entry
        found: Array = getattr(self, part)[..., column]
        return found

    def joint_position(self, name: str, coordinate: str | None = None) -> Array:
        """Angle of a joint, or its slide: the distance of the second body along the axis, which is fixed to the first.

        Parameters
        ----------
        name : str
            Joint.
        coordinate : str, optional
            "angle" (revolute, cylindrical, planar) or "slide" (prismatic, cylindrical, inline). Default: the one
            that the joint has, or the angle if it has both.

        Returns
        -------
        ndarray, shape (...)
            rad or m.

        Raises
        ------
        ValueError
            If the joint has no such coordinate.
        """
        model = self.multibody()
        joint = model.joint(name)
        which = joint_coordinate(name, joint["kind"], coordinate)
        if joint.get("holds"):
            return self.q[..., model.coordinate_of(name, which, 0)]
        if which == "angle":
            return self.mem[..., model.angle_places[name][1]]
        axis, _, distance, _ = self._slide(model, name)
        return dot(axis, distance)

    def joint_rate(self, name: str, coordinate: str | None = None) -> Array:
        """Rate of the coordinate that `joint_position` gives.

        Parameters
        ----------
        name : str
            Joint.
        coordinate : str, optional
            "angle" (revolute, cylindrical, planar) or "slide" (prismatic, cylindrical, inline). Default: the one
            that the joint has, or the angle if it has both.

        Returns
        -------
        ndarray, shape (...)
            rad/s or m/s.

        Raises
        ------
        ValueError
            If the joint has no such coordinate.
        """
        model = self.multibody()
        joint = model.joint(name)
        which = joint_coordinate(name, joint["kind"], coordinate)
        if joint.get("holds"):
            return self.v[..., model.coordinate_of(name, which, 1)]
        if which == "slide":
            axis, omega, distance, velocity = self._slide(model, name)
            return dot(axis, velocity - np.cross(omega, distance))
        first, second = (model.joint_kinematics(name, slot, self.q, self.v, self.clock) for slot in (0, 1))
        axis = first[1] @ model.joint_triad(name, 0)[:, 2]
        return dot(axis, rotate(second[1], second[3]) - rotate(first[1], first[3]))

    def _slide(self, model: Model, name: str) -> tuple[Array, Array, Array, Array]:
        """The joint's axis, its angular velocity, and position and velocity of the second point relative to the first.

        The axis is fixed to the first body. All are inertial, (..., 3).
        """
        indices = model.joint_indices(name)
        first, second = (model.core.kinematics(frame, self.q, self.v, self.clock) for frame in indices.slide)
        axis = model.joint_kinematics(name, 0, self.q, self.v, self.clock)[1] @ model.joint_triad(name, 0)[:, 2]
        return axis, rotate(first[1], first[3]), second[0] - first[0], second[2] - first[2]

    def joint_angles(self) -> Array:
        """Angles of all joints that have one.

        Returns
        -------
        ndarray, shape (..., joints)
            rad; columns as in `angle_names`.
        """
        return self._of_angles(0, self.joint_angle)

    def joint_rates(self) -> Array:
        """Rates of the angles that `joint_angles` gives.

        Returns
        -------
        ndarray, shape (..., joints)
            rad/s; columns as in `angle_names`.
        """
        return self._of_angles(1, partial(self.joint_rate, coordinate="angle"))

    def _of_angles(self, level: int, one: Callable[[str], Array]) -> Array:
        """Angles (`level` 0) or their rates, by one index into q or v if all joints with an angle are in trees."""
        indices = self.multibody().angle_indices
        if indices is not None:
            found: Array = (self.q, self.v)[level][..., indices[level]]
            return found
        angles = [one(name) for name in self.angle_names]
        return np.stack(angles, axis=-1) if angles else np.empty((*np.shape(self.t), 0))

    def all_multipliers(self) -> Array:
        """Multipliers of all rows of `model.complete`, redundant ones included.

        They are zero for inactive rows. For a model built with redundant="minimum_norm" they have the least Euclidean
        norm (counting N and N m alike) among all multipliers that have the same effect on the bodies as `lam`.

        Returns
        -------
        ndarray, shape (..., rows)
            N and N m.
        """
        model = self.multibody()
        if not model.dropped:
            return self.lam
        return complete_multipliers(model, self.q, self.v, self.lam, self._body_axes)

    def reaction(self, name: str, frame: str = "inertial", on: str = "second", drives: bool = False) -> Array:
        """Force and moment that a joint exerts on a body, at the joint's point of that body.

        By default they are those of the constraints alone, without the drives and force laws in the joint.

        For a support they are what it exerts on everything attached to it, at its position; `drives` has no effect.

        Parameters
        ----------
        name : str
            Joint or support.
        frame : str
            "inertial"; "body": axes of the body acted on, or of the support; "joint": the joint's axes e1, e2, e3 on
            that body, where e3 is the axis of the joint.
        on : str
            "second" (the second partner of the joint) or "first".
        drives : bool
            Include what the drives and force laws in the joint exert.

        Returns
        -------
        ndarray, shape (..., 6)
            Force, N, and moment, N m.

        Raises
        ------
        ValueError
            For an unknown name, frame or side.
        """
        model = self.multibody()
        if name in [*model.supports]:
            return self._supporting(model, name, choice("frame", frame, ("inertial", "body")))
        joint = model.joint(name)
        choice("frame", frame, ("inertial", "body", "joint"))
        slot = ("first", "second").index(choice("side", on, ("first", "second")))
        wrench = (self._held if joint.get("holds") else self._constrained)(model, name, slot)
        if drives:
            wrench = wrench + self._driven(model, name, slot)
        return self._turned(model, name, wrench, frame, slot)

    def _constrained(self, model: Model, name: str, slot: int) -> Array:
        """What the constraint rows and the stresses of a joint exert, in inertial axes."""
        # the core gives the force in inertial axes and the moment in those of the body's node
        lam = self.all_multipliers()
        whole, indices = model if model.nc == lam.shape[-1] else model.complete, model.joint_indices(name)
        element = whole.joint_indices(name).element
        how = self._static, self._body_axes, self._memory
        wrench = whole.core.reaction(element, slot, self.clock, self.q, self.v, lam, *how)
        return self._inertial(model, indices.frames[slot], wrench)

    def _inertial(self, model: Model, frame: int, wrench: Array) -> Array:
        """A wrench on a frame, with its moment turned to inertial axes."""
        R = model.core.kinematics(frame, self.q, self.v, self.clock)[1]
        return np.concatenate([wrench[..., :3], rotate(R, wrench[..., 3:])], axis=-1)

    def _held(self, model: Model, name: str, slot: int) -> Array:
        """The reaction in the joint that holds a link of a tree, in inertial axes."""
        indices = model.joint_indices(name)
        return self._on(model, name, slot, self._transmitted(model, indices.element, indices.link or 0))

    def _driven(self, model: Model, name: str, slot: int) -> Array:
        """What the drives and laws in a joint exert, in inertial axes."""
        indices = model.joint_indices(name)
        total = np.zeros((*np.shape(self.t), 6))
        for element in indices.forces:
            end = 1 if indices.link is None else 0  # a force on the coordinate of a link has the link's frame alone
            state = self.clock, self.q, self.v, self.mem, self._loads, self._static
            total += model.core.exerted(element, end, *state)[0]
        return self._on(model, name, slot, total)

    def _on(self, model: Model, name: str, slot: int, wrench: Array) -> Array:
        """Takes an inertial wrench on the second body, at its point, to the body in `slot`, at that body's point."""
        if slot == 1:
            return wrench
        first, second = (model.joint_kinematics(name, end, self.q, self.v, self.clock)[0] for end in (0, 1))
        moment = wrench[..., 3:] + np.cross(second - first, wrench[..., :3])
        return -np.concatenate([wrench[..., :3], moment], axis=-1)

    def _transmitted(self, model: Model, element: int, link: int) -> Array:
        """Force and moment in inertial axes, (..., 6), in the joint of a link of a tree, or at a support."""
        state = (self.clock, self.q, self.v, self.vdot, self.lam, self.mem)
        return model.core.transmitted(element, link, *state, self._loads, self._static, self._body_axes)

    def _supporting(self, model: Model, name: str, frame: str) -> Array:
        """The reaction of a support."""
        wrench = self._transmitted(model, model.supports[name], 0)
        return wrench if frame == "inertial" else _seen_from(self.rotation(name), wrench)

    def _turned(self, model: Model, name: str, wrench: Array, frame: str, slot: int) -> Array:
        """Turns a wrench from inertial axes to those of a joint, or of the body in its slot."""
        body = partners(model.joint(name))[slot]
        if frame == "inertial" or (frame == "body" and body == "ground"):
            return wrench
        if frame == "body":
            R = model.kinematics(body, self.q, self.v, self.clock)[1]
        else:
            R = model.joint_kinematics(name, slot, self.q, self.v, self.clock)[1] @ model.joint_triad(name, slot)
        return _seen_from(R, wrench)


def dot(x: Array, y: Array) -> Array:
    """Scalar products along the last axis."""
    product: Array = np.einsum("...i,...i", x, y)
    return product


def _seen_from(R: Array, wrench: Array) -> Array:
    """Inertial wrenches (..., 6) in the axes R (..., 3, 3)."""
    back = np.swapaxes(R, -1, -2)
    return np.concatenate([rotate(back, wrench[..., :3]), rotate(back, wrench[..., 3:])], axis=-1)
