"""The part of the builder that adds controls: functions of the state with states of their own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from numpy.typing import ArrayLike

from lgint._args import choice, number, shown
from lgint._build.contacts import ContactBuilder
from lgint._build.parts import Partner
from lgint._model.compiled import user_function
from lgint._model.joints import joint_coordinate
from lgint._model.record import ControlRow


class ControlBuilder(ContactBuilder):
    """The part of `ModelBuilder` that adds controls."""

    def add_control(
        self,
        function: Callable[[Any], ArrayLike],
        *,
        joints: str | Sequence[str] = (),
        bodies: Partner | Sequence[Partner] = (),
        reads: str | Sequence[str] | None = None,
        states: Mapping[str, float] | Sequence[str] = (),
        every: float | None = None,
        tangent: Callable[[Any], ArrayLike] | bool | None = None,
        name: str | None = None,
    ) -> str:
        """A function of the state that gives efforts in joints, forces and moments on bodies, and rates of own states.

        Runs with a control written in Python hold the GIL. Energy-momentum methods do not run controls. With `every` it
        is a sampled control: the function is called at the start and at multiples of `every`, on which steps end, with
        the accepted state there, and its values are held in between. It is also called where the action of an event
        returns a new state of the model.

        Parameters
        ----------
        function : callable or compiled function
            function(state), with a `State` that has everything but what follows from forces. It returns one array: an
            effort for each of `joints`, N m about its axis or N along it, which acts on the second body of the joint,
            and the opposite one on the first; six values for each of `bodies`, a force at its COM in inertial axes and
            a moment in body axes; and for each of `states` its rate or, with `every`, its new value. Inside the
            function, ``state.control(name).states`` holds the present states. A compiled function of the type
            `lgint.signatures.control` has q and v of the model and these states instead of a `State`.
        joints : str or sequence of str
            Joints with an angle or a slide: "shoulder", or "screw.angle" and "screw.slide" where a joint has both.
        bodies : str or sequence of str
            Bodies, or nodes of flexible bodies.
        reads : str or sequence of str, optional
            Joints, bodies and other controls, also those that are added later, on which the values depend, besides the
            control's own states; `build` refuses other names. In minimal coordinates a joint is its own coordinates,
            and a body those of all joints that carry it; otherwise a joint is both of its bodies. Without a tangent the
            derivatives take two calls for each displacement and each velocity of these, and implicit methods solve for
            all of them together. Default: everything.
        states : sequence of str or dict of str to float
            Names of its own states, and their values at the start; by default zero.
        every : float, optional
            The period of samples, s. Default: the function is called in every evaluation of the equations of motion.
        tangent : callable or bool, optional
            tangent(state), shape (2, values, nv): the derivatives of the values by displacements along v, and by v. The
            states of controls are a part of v, behind those of bodies. True if a compiled function writes them; those
            by velocities that `reads` does not name are then taken as zero. Default: central differences.
        name : str, optional
            By which results and messages refer to it. Default: "control".

        Returns
        -------
        str
            Its name.

        Raises
        ------
        ValueError
            For unknown joints and bodies, joints without such a coordinate, a control that neither acts nor has states,
            a period that is not positive, a name in use, and what cannot be called.
        """
        name = self._free_name("control") if name is None else name
        self._new_name("control", name)
        label = f"control {name!r}"
        called, slopes = user_function(label, function, "control", tangent)
        row: ControlRow = {
            "function": called,
            "tangent": slopes,
            "joints": [self._coordinate(f"joint of {label}", joint) for joint in _listed("joints", joints)],
            "bodies": [self._moving(f"body of {label}", body) for body in _listed("bodies", bodies)],
            "states": _starts(label, states),
            "every": None if every is None else number(f"every of {label}", every, positive=True),
            "reads": None if reads is None else _listed(f"reads of {label}", reads),
            "block": None,
        }
        if every is not None and (tangent is not None or reads is not None):
            which = "reads" if tangent is None else "tangent"
            raise ValueError(f"{which} of {label}: the values of a sampled control are held, and need no derivatives")
        if not row["joints"] and not row["bodies"] and not row["states"]:
            raise ValueError(f"{label} neither acts nor has states; give joints, bodies or states")
        for what, given in (("joint", row["joints"]), ("body", row["bodies"])):
            for one in given:
                if given.count(one) > 1:  # type: ignore[arg-type]
                    raise ValueError(f"{label}: each {what} once expected, got {shown(given)}")
        for body in row["bodies"]:
            self._check_coordinates(body)
        self._names[name] = None
        self._controls[name] = row
        return name

    def _coordinate(self, what: str, name: Any) -> list[str]:
        """A joint and its coordinate, from "joint", "joint.angle" or "joint.slide"."""
        joint, _, which = name.rpartition(".") if isinstance(name, str) else ("", "", "")
        if name not in self._joints and joint in self._joints and which in ("angle", "slide"):
            return [joint, joint_coordinate(joint, self._joints[joint]["kind"], which)]
        choice(what, name, self._joints)
        return [name, joint_coordinate(name, self._joints[name]["kind"], None)]

    def _readable(self, name: str) -> list[str] | None:
        """What a control reads, whose names are known when the model is built; without those that have no state."""
        if (names := self._controls[name]["reads"]) is None:
            return None
        fixed = ("ground", *self._supports)
        known = [*self._joints, *self._bodies, *self._nodes, *self._controls, *fixed]
        return [read for read in names if choice(f"reads of control {name!r}", read, known) not in fixed]


def _listed(what: str, given: Any) -> list[Any]:
    """A list of names; a single one may be given as it is."""
    if isinstance(given, (list, tuple)):
        return list(given)
    if isinstance(given, str):
        return [given]
    raise ValueError(f"{what}: a list of names expected, got {shown(given)}")


def _starts(label: str, states: Any) -> dict[str, float]:
    """The start values of the states, by name."""
    if isinstance(states, Mapping):
        given = dict(states)
    else:
        names = _listed(f"states of {label}", states)
        given = dict.fromkeys(names, 0.0)
        if len(given) < len(names):
            raise ValueError(f"states of {label}: each name once expected, got {shown(states)}")
    for name in given:
        if not isinstance(name, str) or not name:
            raise ValueError(f"states of {label}: names, or a dict of names and start values, expected, got {name!r}")
    return {name: number(f"state {name!r} of {label}", value) for name, value in given.items()}
