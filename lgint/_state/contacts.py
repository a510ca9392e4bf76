"""What follows from states: where shapes touch."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

from lgint._args import Array, choice
from lgint._state.joints import dot
from lgint._state.outputs import OutputAccessors

CONTACT: Final = "contact_"  # names of elements of contacts begin with this, before the names of their shapes
POINTS: Final = {"sphere": 1, "capsule": 2, "disc": 4, "box": 8}
BOXES: Final = "contact_box_box"  # has the corners of the second box as well, after those of the first one


class Contact(NamedTuple):
    """The points of a contact: one of a sphere, the two ends of a capsule, four of a disc, the eight corners of a box.

    Those of a disc are on its rim, the deepest one first and the others at quarter turns from it. Between boxes, the
    corners of the second one follow those of the first.

    Attributes
    ----------
    gap : ndarray, shape (..., points)
        Distance of the two surfaces, m; negative where they overlap.
    point : ndarray, shape (..., points, 3)
        Inertial position midway between the surfaces, m.
    normal : ndarray, shape (..., points, 3)
        Unit vector from the first body to the second one, in inertial axes.
    force : ndarray, shape (..., points, 3)
        The force on the second body in inertial axes, N.
    """

    gap: Array
    point: Array
    normal: Array
    force: Array

    @property
    def normal_force(self) -> Array:
        """The force (..., points) along the normal, N; never negative."""
        return dot(self.force, self.normal)

    @property
    def friction(self) -> Array:
        """The force (..., points, 3) across the normal on the second body, in inertial axes, N."""
        return self.force - self.normal_force[..., None] * self.normal


class ContactAccessors(OutputAccessors):
    """The accessors of forces and accelerations, and those of contacts."""

    __slots__ = ()

    def contact(self, name: str) -> Contact:
        """The points at which a contact may touch, with gaps, normals and forces.

        Parameters
        ----------
        name : str
            A contact that `add_contact` has added.

        Returns
        -------
        Contact
            Arrays with an axis for the points.

        Raises
        ------
        ValueError
            For an unknown name.
        """
        model = self.multibody()
        forces = model.forces
        rows: dict[str, Any] = {key: row for key, row in forces.items() if row["kind"].startswith(CONTACT)}
        if not rows:
            raise ValueError(
                f"unknown contact {name!r}: the model has no contacts; `ModelBuilder.add_contact` adds them, with "
                "stiffness=0 for gaps and impacts alone"
            )
        row = rows[choice("contact", name, rows)]
        element = model.elements - len(forces) + [*forces].index(name)
        points = POINTS[row["kind"].split("_")[1]] * (2 if row["kind"].startswith(BOXES) else 1)
        found = [model.core.contact(element, k, self.clock, self.q, self.v, self.mem) for k in range(points)]
        gap = np.stack([each[0] for each in found], axis=-1)
        point, normal, force = (np.stack([each[i] for each in found], axis=-2) for i in (1, 2, 3))
        sign = 1.0 if row.get("turned") else -1.0
        return Contact(gap, point, sign * normal, sign * force)

    def gap(self, name: str) -> Array:
        """The least gap of a contact: the distance of its two shapes, negative where they overlap.

        As a function of `events`, with the `direction` -1 it finds where the shapes touch, and with 1 where they part.

        Parameters
        ----------
        name : str
            A contact that `add_contact` has added.

        Returns
        -------
        ndarray, shape (...)
            m.

        Raises
        ------
        ValueError
            For an unknown name.
        """
        least: Array = self.contact(name).gap.min(axis=-1)
        return least
