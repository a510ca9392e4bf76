"""The part of the builder that couples coordinates of joints: gears, differentials, belts and screws."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from lgint._args import number, shown
from lgint._build.elements import ElementBuilder
from lgint._model.joints import joint_coordinate
from lgint._model.record import JointRow


class Term(NamedTuple):
    """A coordinate of a joint and its factor."""

    joint: str
    coordinate: str  # "angle" or "slide"
    factor: float


class CouplingBuilder(ElementBuilder):
    """The part of `ModelBuilder` that adds couplings."""

    def add_coupling(self, coordinates: Mapping[str, float], *, offset: float = 0.0, name: str | None = None) -> str:
        """Couples coordinates of joints by one constraint row: the sum of factors times coordinates is constant.

        Gears, differentials, belts and screws are couplings. Angles count through full turns.

        Parameters
        ----------
        coordinates : mapping of str to float
            The factor of each coordinate, a number other than zero; the coordinate is named by its joint, or by
            "joint.angle" or "joint.slide" where the joint has both. A joint alone stands for its angle if there is one.
            Joints with an angle are revolute, cylindrical and planar, those with a slide prismatic, cylindrical and
            inline, in maximal or minimal coordinates.
        offset : float, optional
            The value of the sum, in rad or m.
        name : str, optional
            By which results and messages refer to it. Default: made from the names of the joints.

        Returns
        -------
        str
            Its name. `Trajectory.force` gives the multiplier of the row by it; a factor times the multiplier is the
            effort in a joint, as a motor would exert it: the torque (N m) about its axis or the force (N) along it on
            the second body.

        Raises
        ------
        ValueError
            For joints that are unknown or have no such coordinate, coordinates that are named twice, factors that are
            zero, and a name in use. `build` refuses a start whose coordinates have another sum.

        Examples
        --------
        A screw with a lead of 5 mm; two gears would be ``{"wheel": 3, "pinion": 1}``.

        >>> import lgint
        >>> builder = lgint.ModelBuilder(formulation="minimal")
        >>> builder.add_body("nut", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0, 0, 0))
        'nut'
        >>> where = {"point": (0, 0, 0), "axis": (0, 0, 1)}
        >>> builder.add_joint("cylindrical", lgint.ground, "nut", **where, name="screw")
        'screw'
        >>> builder.add_coupling({"screw.slide": 1, "screw.angle": -0.005 / 6.2831853})
        'screw.coupling'
        """
        if not isinstance(coordinates, Mapping) or not coordinates:
            raise ValueError(
                f'coordinates: factors by the names of coordinates expected, such as {{"wheel": 3, "pinion": 1}}; got '
                f"{shown(coordinates)}"
            )
        terms: dict[tuple[str, str], Term] = {}
        for key, factor in coordinates.items():
            term = self._term(key, factor)
            if term[:2] in terms:
                raise ValueError(f"coordinates: the {term.coordinate} of {term.joint!r} is named twice")
            terms[term[:2]] = term
        joints = [*dict.fromkeys(term.joint for term in terms.values())]
        name = self._free_name(f"{'-'.join(joints)}.coupling") if name is None else name
        names = [name, *(f"{name}.{i}" for i in range(1, len(terms)))]
        for each in names:
            self._new_name("coupling", each)
        offset = number(f"offset of {name!r}", offset)
        for each, term in zip(names, terms.values(), strict=True):
            self._enter(self._joints, each, self._row_of(name, term, offset if each == name else 0.0, each == name))
        return name

    def _term(self, key: str, factor: float) -> Term:
        stem, _, last = key.rpartition(".") if isinstance(key, str) else ("", "", "")
        if key not in self._joints and stem in self._joints and last in ("angle", "slide"):
            joint, wanted = stem, last
        elif key in self._joints:
            joint, wanted = key, None
        else:
            known = ", ".join(map(repr, self._joints)) or "none"
            raise ValueError(
                f'coordinates: the name of a joint, alone or with ".angle" or ".slide", expected, got {key!r}; joints '
                f"are: {known}"
            )
        which = joint_coordinate(joint, self._joints[joint]["kind"], wanted)
        value = number(f"factor of {key!r}", factor)
        if value == 0:
            raise ValueError(f"factor of {key!r}: a number other than zero expected, got 0")
        return Term(joint, which, value)

    def _row_of(self, name: str, term: Term, offset: float, is_first: bool) -> JointRow:
        return {
            **self._along(term.joint, term.coordinate),
            "kind": f"{term.coordinate}_coupling",
            "coupling": name,
            "coupled": term.joint,
            "factor": term.factor,
            "offset": offset,
            "row": "own" if is_first else "shared",
        }
