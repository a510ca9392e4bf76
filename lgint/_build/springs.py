"""The part of the builder that adds what is elastic between two bodies: springs and bushings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike

from lgint._args import array
from lgint._build.elements import ElementBuilder, Where
from lgint._build.parts import Partner
from lgint._rotation import rotation as rotation_matrix

Table = tuple[ArrayLike, ArrayLike]
AXES: Final = 6  # of a bushing: along three axes, and about them


class SpringBuilder(ElementBuilder):
    """The part of `ModelBuilder` that adds springs and bushings."""

    def add_spring(
        self,
        a: Partner,
        b: Partner,
        *,
        stiffness: float,
        damping: float = 0.0,
        length: float | None = None,
        point: ArrayLike | None = None,
        point_a: ArrayLike | None = None,
        point_b: ArrayLike | None = None,
        name: str | None = None,
    ) -> str:
        """Adds a spring with a damper along the line between two points (kinon2024, 5.1).

        Parameters
        ----------
        a, b : str or lgint.ground
            The two bodies.
        stiffness : float
            N/m.
        damping : float
            N s/m.
        length : float, optional
            Unstretched length, m; default: the distance at the start. Points may coincide where there is no preload.
        point : array_like, shape (2, 3), optional
            The two points, inertial, in the start configuration.
        point_a, point_b : array_like, shape (3,), optional
            The same points in body axes from the COM (on the ground: inertial). Default: the COMs.
        name : str, optional
            By which `Model.values` and messages refer to it. Default: made from the names of the bodies.

        Returns
        -------
        str
            Its name.

        Raises
        ------
        ValueError
            For unknown bodies, wrong shapes, and a name in use.
        """
        values = {"stiffness": stiffness, "damping": damping, "length": length}
        return self._declared("spring", (a, b), Where(point, None, point_a, point_b), name, values)

    def add_cartesian_spring(
        self,
        a: Partner,
        b: Partner,
        *,
        stiffness: ArrayLike,
        damping: ArrayLike = (0.0, 0.0, 0.0),
        offset: ArrayLike | None = None,
        point: ArrayLike | None = None,
        point_a: ArrayLike | None = None,
        point_b: ArrayLike | None = None,
        name: str | None = None,
    ) -> str:
        """Adds three springs with dampers along the inertial axes (holzinger2024, 4.2).

        The force on `b` is -(stiffness (d - offset) + damping d') with d = x_b - x_a.

        Parameters
        ----------
        a, b : str or lgint.ground
            The two bodies.
        stiffness, damping : array_like, shape (3,)
            Along the inertial axes, N/m and N s/m.
        offset : array_like, shape (3,), optional
            The d of no force, m; default: that of the start.
        point : array_like, shape (3,) or (2, 3), optional
            Inertial, in the start configuration: one point for both bodies, or one each.
        point_a, point_b : array_like, shape (3,), optional
            The same points in body axes from the COM (on the ground: inertial). Default: the COMs.
        name : str, optional
            By which `Model.values` and messages refer to it. Default: made from the names of the bodies.

        Returns
        -------
        str
            Its name.

        Raises
        ------
        ValueError
            For unknown bodies, wrong shapes, and a name in use.
        """
        values = {"stiffness": stiffness, "damping": damping, "offset": offset}
        return self._declared("cartesian_spring", (a, b), Where(point, None, point_a, point_b), name, values, "spring")

    def add_bushing(
        self,
        a: Partner,
        b: Partner,
        *,
        stiffness: ArrayLike | Sequence[float | Table],
        damping: ArrayLike | None = None,
        preload: ArrayLike | None = None,
        point: ArrayLike,
        rotation: ArrayLike | None = None,
        name: str | None = None,
    ) -> str:
        """Adds a bushing: springs and dampers along and about three axes between two bodies.

        Each body has a frame, and x (6,) is the logarithm on SE(3) of the pose of the second frame relative to the
        first: a displacement, then a rotation vector. The force and the moment along x are
        -(stiffness x + damping x') + preload. Neither body is preferred: with a and b exchanged, and the sign of the
        preload, all wrenches stay the same. Frames may turn against each other by up to 330 degrees.

        Parameters
        ----------
        a, b : str or lgint.ground
            The two bodies.
        stiffness : array_like, shape (6,) or (6, 6), or six numbers and tables
            Along and about the axes of the bushing, N/m and N m/rad; or a symmetric matrix without negative
            eigenvalues. In a sequence of six, an entry may be a table instead: displacements (m or rad), ascending, and
            the forces (N or N m) that pull back there. The curve through them is smooth and monotone wherever they are
            (PCHIP), and straight beyond them.
        damping : array_like, shape (6,) or (6, 6), optional
            N s/m and N m s/rad. Default: none.
        preload : array_like, shape (6,), optional
            Force and moment on the second body where both frames coincide, in the axes of the bushing, N and N m.
        point : array_like, shape (3,) or (2, 3)
            The origin of both frames, inertial, in the start configuration; or of one each.
        rotation : array_like, shape (3, 3) or (4,), or (2, 3, 3) or (2, 4), optional
            From the axes of both frames to inertial axes, in the start configuration, a matrix or a unit quaternion; or
            one each. Default: inertial axes.
        name : str, optional
            By which `Model.values` and messages refer to it. Default: made from the names of the bodies.

        Returns
        -------
        str
            Its name.

        Raises
        ------
        ValueError
            For unknown bodies, wrong shapes, values that are not valid, and a name in use.
        """
        label = "a bushing" if name is None else repr(name)
        matrix, curves = _stiffness(f"stiffness of {label}", stiffness)
        turns = _frames(f"rotation of {label}", rotation)
        axes = [self._at(self._partner(who)).components(R) for who, R in zip((a, b), turns, strict=True)]
        values = {"axes_a": axes[0], "axes_b": axes[1], "stiffness": matrix, "damping": damping, "preload": preload}
        kind = "bushing" if curves is None else "curved_bushing"
        more = {} if curves is None else {"curves": curves}
        return self._declared(kind, (a, b), Where(point), name, {**values, **more}, "bushing")


def _frames(what: str, rotation: ArrayLike | None) -> list[Any]:
    """The rotations of both frames of a bushing."""
    if rotation is None:
        return [np.eye(3)] * 2
    given = array(what, rotation, (3, 3), (4,), (2, 3, 3), (2, 4))
    each = given if given.shape[0] == 2 else [given, given]
    return [rotation_matrix(what, R) for R in each]


def _stiffness(what: str, given: Any) -> tuple[Any, list[list[list[float]]] | None]:
    """The stiffness of a bushing, and its curves, one for each axis, empty where it has none; None: no axis has one."""
    tables = [_is_table(entry) for entry in given] if isinstance(given, Sequence) and len(given) == AXES else []
    if not any(tables):
        return given, None
    curves = [curve(f"{what}, axis {i}", *given[i]) if table else [] for i, table in enumerate(tables)]
    return [0.0 if table else entry for entry, table in zip(given, tables, strict=True)], curves


def _is_table(entry: Any) -> bool:
    """Whether an entry is a pair of sequences."""
    return isinstance(entry, (list, tuple)) and len(entry) == 2 and all(np.ndim(values) > 0 for values in entry)


def curve(what: str, x: ArrayLike, y: ArrayLike) -> list[list[float]]:
    """The points of a curve: at least two, with ascending x."""
    at = array(f"the first values of {what}", x)
    if at.ndim != 1 or len(at) < 2 or not (np.diff(at) > 0).all():
        raise ValueError(f"{what}: at least two values, ascending, expected first, got {x!r}")
    return [at.tolist(), array(f"the second values of {what}", y, at.shape).tolist()]
