"""The part of the builder that adds contacts without slip: wheels that roll, and knife edges."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from lgint._args import Array, array, shown
from lgint._build.elements import ElementBuilder, Where
from lgint._build.parts import Partner, ground
from lgint._rotation import norm, triad_about

UP = (0.0, 0.0, 1.0)


class RollingBuilder(ElementBuilder):
    """The part of `ModelBuilder` that adds rows of velocity alone."""

    def add_rolling(
        self,
        body: Partner,
        *,
        radius: float,
        axis: ArrayLike,
        tube: float = 0.0,
        plane: tuple[ArrayLike, ArrayLike] | None = None,
        local_point: ArrayLike | None = None,
        name: str | None = None,
    ) -> str:
        """Lets a disk, a wheel or a torus roll on a plane without slip.

        The contact is one row of positions; that nothing slips are two rows of velocity alone (nonholonomic ones),
        along two directions in the plane. The multipliers are minus the force on the body, along the normal and
        these directions. The wheel cannot lift off, and must not lie flat.

        Parameters
        ----------
        body : str
            The body of the wheel.
        radius : float
            Of the wheel's circle, m.
        axis : array_like, shape (3,)
            The wheel's axis, in body axes; any length but zero.
        tube : float
            The radius of a tube around the circle, m: the wheel is a torus whose centre is `radius` + `tube` above the
            plane when it is upright. Default: a thin disk.
        plane : tuple of two array_like, shape (3,), optional
            A point of the plane and its normal, which points to the side of the wheel, inertial. Default: z = 0, with
            the wheel above; the directions of the rows are then x and y.
        local_point : array_like, shape (3,), optional
            The wheel's centre in body axes from the COM. Default: the COM.
        name : str, optional
            By which accessors and messages refer to it. Default: made from the name of the body.

        Returns
        -------
        str
            Its name.

        Raises
        ------
        ValueError
            For unknown bodies, wrong shapes, vectors of length zero, a radius that is not positive, a negative tube,
            and a wheel that lies flat at the start.
        """
        partner = self._moving("body of a wheel", body)
        given = ((0.0, 0.0, 0.0), UP) if plane is None else plane
        if not isinstance(given, Sequence) or len(given) != 2:
            raise ValueError(f"plane: a point and a normal expected, ((x, y, z), (nx, ny, nz)), got {shown(plane)}")
        point, normal = given
        normal = direction("normal of the plane", normal)
        along = direction("axis of the wheel", axis)
        if 1 - abs(normal @ (self._at(partner).R @ along)) < 1e-12:
            raise ValueError(f"axis: the wheel on {partner!r} lies flat on its plane at the start; it has to stand")
        triad = np.eye(3) if np.array_equal(normal, UP) else triad_about(normal)
        return self._declared(
            "rolling",
            (ground, partner),
            Where(None, None, array("point of the plane", point, (3,)), local_point),
            self._free_name(f"{partner}.rolling") if name is None else name,
            {"plane": triad, "axis": along, "radius": radius, "tube": tube},
        )

    def add_knife_edge(
        self, body: Partner, *, local_point: ArrayLike, normal: ArrayLike, name: str | None = None
    ) -> str:
        """Keeps a point of a body from moving along a direction that is fixed in the body, like a blade or a skate.

        This is one row of velocity alone (a nonholonomic one); its multiplier is minus the force on the body along the
        direction.

        Parameters
        ----------
        body : str
            The body.
        local_point : array_like, shape (3,)
            The point in body axes, from the COM.
        normal : array_like, shape (3,)
            The direction in body axes; any length but zero.
        name : str, optional
            By which accessors and messages refer to it. Default: made from the name of the body.

        Returns
        -------
        str
            Its name.

        Raises
        ------
        ValueError
            For unknown bodies, wrong shapes, and a normal of length zero.
        """
        partner = self._moving("body of a knife edge", body)
        return self._declared(
            "knife_edge",
            (ground, partner),
            Where(None, None, None, array("local_point of a knife edge", local_point, (3,))),
            self._free_name(f"{partner}.knife_edge") if name is None else name,
            {"normal": direction("normal of the knife edge", normal)},
        )


def direction(what: str, given: ArrayLike) -> Array:
    """A vector as a unit vector."""
    vector = array(what, given, (3,))
    length = norm(vector)
    if not length > 0:
        raise ValueError(f"{what}: a vector of any length but zero expected, got {shown(given)}")
    unit: Array = vector / length
    return unit
