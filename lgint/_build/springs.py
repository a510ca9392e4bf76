"""The part of the builder that adds what is elastic between two bodies: springs and bushings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, TypeGuard, cast

import numpy as np
from numpy.typing import ArrayLike

from lgint._args import array, choice, number, shown, takes_one
from lgint._build.elements import ElementBuilder, Where
from lgint._build.parts import Partner
from lgint._model.compiled import is_compiled, user_function
from lgint._model.joints import joint_coordinate
from lgint._model.record import ForceRow
from lgint._rotation import RotationLike, direction, stored, triad_about
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
        stiffness: float | None = None,
        damping: float | Table = 0.0,
        length: float | None = None,
        force: Table | Callable[[float, float, float], float] | None = None,
        tangent: Callable[[float, float, float], ArrayLike] | bool | None = None,
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
        stiffness : float, optional
            N/m; or give `force`. Like damping and stiffness of all springs it may be negative, as in studies of
            snap-through and of self-excitation: such a spring pushes away from its unstretched length.
        damping : float or table
            N s/m; or rates (m/s), ascending, and the forces there, which pull where the spring lengthens, as a smooth
            monotone curve through (0, 0).
        length : float, optional
            Unstretched length, m; default: the distance at the start. Points may coincide where there is no preload.
        force : table or callable, optional
            What pulls the points together, N, instead of a stiffness and a length: lengths (m), ascending, and forces,
            through which the curve is smooth and monotone wherever they are (PCHIP) and beyond which it is straight; or
            a function(t, length, rate), which may be compiled (`lgint.signatures.joint_law`). A curve has a potential,
            counted from its first length; a function has none.
        tangent : callable, optional
            Of a function: its derivatives by length and rate, for the same arguments; True if a compiled function
            writes them. Default: central differences.
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
            For unknown bodies, wrong shapes, a stiffness with a force or neither, and a name in use.
        """
        label, where = "a spring" if name is None else repr(name), Where(point, None, point_a, point_b)
        if (stiffness is None) == (force is None):
            raise ValueError(f"{label}: give a stiffness, or a table or a function as force")
        if callable(force) or is_compiled(force):
            return self._pull(label, (a, b), where, name, force, tangent, damping, length)
        if tangent is not None:
            raise ValueError(f"tangent of {label}: only a force that is a function takes one")
        if force is None and not is_table(damping):
            given = {"stiffness": stiffness, "damping": damping, "length": length}
            return self._declared("spring", (a, b), where, name, given)
        if force is not None and length is not None:
            raise ValueError(f"length of {label}: the table of the force already defines it")
        curved = _spring_values(label, (stiffness or 0.0) if force is None else force, damping, 0.0)
        if force is None:
            ends = self._ends(label, self._partner(a), self._partner(b), point, point_a, point_b, (2, 3))
            curved["rest"] = ends.length if length is None else number(f"length of {label}", length)
        return self._declared("distance_spring", (a, b), where, name, curved, "spring")

    def _pull(
        self,
        label: str,
        bodies: tuple[Partner, Partner],
        where: Where,
        name: str | None,
        force: Any,
        tangent: Any,
        *others: object,
    ) -> str:
        """Adds a spring whose force a function gives."""
        if others != (0.0, None):
            raise ValueError(f"{label}: a function includes damping and length; leave them out")
        force, tangent = user_function(label, force, "joint_law", tangent)
        if takes_one(force):
            raise ValueError(f"force of {label}: a function(t, length, rate) expected, and no function of a state")
        name = self._declared("distance_law", bodies, where, name, {}, "spring")
        self._forces[name].update({"function": force, "tangent": tangent})
        return name

    def add_joint_spring(
        self,
        joint: str,
        *,
        stiffness: float | Table,
        damping: float | Table = 0.0,
        rest: float = 0.0,
        coordinate: str | None = None,
        name: str | None = None,
    ) -> str:
        """Adds a spring with a damper on the coordinate of a joint, as a torsion spring in a hinge.

        Parameters
        ----------
        joint : str
            Name of a joint that has an angle, through full turns, or a slide, as in `add_joint_drive`.
        stiffness : float or table
            N m/rad or N/m; or coordinates less `rest` (rad or m), ascending, and the torques or forces that pull back
            there, as a curve like that of `add_spring`. Its energy is a part of the potential energy.
        damping : float or table
            N m s/rad or N s/m; or rates and torques or forces, a curve through (0, 0).
        rest : float
            The coordinate without force, rad or m.
        coordinate : str, optional
            "angle" or "slide", where the joint has both. Default: the angle if there is one.
        name : str, optional
            By which `Model.values` and messages refer to it. Default: made from the names of the bodies.

        Returns
        -------
        str
            Its name.

        Raises
        ------
        ValueError
            For a joint that is unknown or has no such coordinate, wrong shapes, and a name in use.
        """
        there = self._joints[choice("joint", joint, self._joints)]
        which = joint_coordinate(joint, there["kind"], coordinate)
        label = f"the spring in {joint!r}" if name is None else repr(name)
        values = _spring_values(label, stiffness, damping, rest)
        name = self._force_name("spring", there["first"], there["second"], name)
        row = {"kind": "spring", "joint": joint, "coordinate": which, **values}
        return self._enter(self._forces, name, cast(ForceRow, row))

    def add_torsion_spring(
        self,
        a: Partner,
        b: Partner,
        *,
        axis: ArrayLike,
        stiffness: float | Table,
        damping: float | Table = 0.0,
        rest: float = 0.0,
        name: str | None = None,
    ) -> str:
        """Adds a torsion spring about an axis between two bodies, which need no joint.

        Parameters
        ----------
        a, b : str or lgint.ground
            The two bodies. Their angle counts from the start, through full turns, about an axis that each of them
            keeps; both axes should not come near a right angle to each other.
        axis : array_like, shape (3,)
            Inertial, in the start configuration.
        stiffness, damping : float or table
            As in `add_joint_spring`.
        rest : float
            The angle without moment, rad.
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
        label = "a torsion spring" if name is None else repr(name)
        values = _spring_values(label, stiffness, damping, rest)
        triad = triad_about(direction(f"axis of {label}", axis))
        axes = [self._at(self._partner(who)).components(triad) for who in (a, b)]
        given = {"axes_a": axes[0], "axes_b": axes[1], **values}
        return self._declared("joint_spring", (a, b), Where(), name, given, "torsion")

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
        rotation: RotationLike | None = None,
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
        rotation : array_like, shape (3, 3), (4,) or (3,), or a SciPy Rotation, optional
            From the axes of both frames to inertial axes, in the start configuration, as in `add_body`; or one each,
            in an array with a leading axis of length 2 or a SciPy Rotation of length 2. Default: inertial axes.
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
        if curves is None and not any(_acts(label, key, values[key]) for key in ("stiffness", "damping", "preload")):
            raise ValueError(
                f"stiffness of {label}: only zeros, got {shown(stiffness)}, and neither damping nor preload; "
                "such a bushing exerts nothing: give one of them"
            )
        kind = "bushing" if curves is None else "curved_bushing"
        more = {} if curves is None else {"curves": curves}
        return self._declared(kind, (a, b), Where(point), name, {**values, **more}, "bushing")


def _acts(label: str, key: str, given: Any) -> bool:
    """Whether a parameter is given and has an entry other than zero."""
    return given is not None and bool(array(f"{key} of {label}", given).any())


def _frames(what: str, rotation: RotationLike | None) -> list[Any]:
    """The rotations of both frames of a bushing."""
    if rotation is None:
        return [np.eye(3)] * 2
    given = array(what, stored(rotation), (3, 3), (4,), (3,), (2, 3, 3), (2, 4), (2, 3))
    each = given if given.shape[0] == 2 else [given, given]
    return [rotation_matrix(what, R) for R in each]


def _stiffness(what: str, given: Any) -> tuple[Any, list[list[list[float]]] | None]:
    """The stiffness of a bushing, and its curves, one for each axis, empty where it has none; None: no axis has one."""
    tables = [is_table(entry) for entry in given] if isinstance(given, Sequence) and len(given) == AXES else []
    if not any(tables):
        return given, None
    curves = [curve(f"{what}, axis {i}", *given[i]) if table else [] for i, table in enumerate(tables)]
    return [0.0 if table else entry for entry, table in zip(given, tables, strict=True)], curves


def _spring_values(label: str, stiffness: float | Table, damping: float | Table, rest: float) -> dict[str, Any]:
    """The parameters of a spring, whose stiffness and damping may be curves."""
    values: dict[str, Any] = {"rest": number(f"rest of {label}", rest)}
    curves = []
    for key, given in (("stiffness", stiffness), ("damping", damping)):
        what = f"{key} of {label}"
        curves.append(curve(what, *given) if is_table(given) else [])
        values[key] = 0.0 if curves[-1] else number(what, given)
    if curves[1] and not any(x == y == 0 for x, y in zip(*curves[1], strict=True)):
        raise ValueError(f"damping of {label}: the point (0, 0) expected, since dampers have no force at rest")
    return {**values, "curves": curves}


def is_table(entry: Any) -> TypeGuard[Table]:
    """Whether an entry is a pair of sequences."""
    return isinstance(entry, (list, tuple)) and len(entry) == 2 and all(np.ndim(values) > 0 for values in entry)


def curve(what: str, x: ArrayLike, y: ArrayLike) -> list[list[float]]:
    """The points of a curve: at least two, with ascending x."""
    at = array(f"the first values of {what}", x)
    if at.ndim != 1 or len(at) < 2 or not (np.diff(at) > 0).all():
        raise ValueError(f"{what}: at least two values, ascending, expected first, got {x!r}")
    return [at.tolist(), array(f"the second values of {what}", y, at.shape).tolist()]
