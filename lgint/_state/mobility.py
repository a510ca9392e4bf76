"""The degrees of freedom of a model, and which joints take them away."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from lgint import _html
from lgint._model.loops import BARELY, Loop, loops
from lgint._model.model import Model
from lgint._model.record import holders
from lgint._model.system import System


@dataclass(frozen=True)
class Mobility:
    """The degrees of freedom of a model in its start, and which joints take them away: see `Model.mobility`.

    Attributes
    ----------
    degrees_of_freedom : int
        What bodies bring minus what joints take: the number of independent velocities.
    bodies : dict of str to int
        The freedoms that each body brings; a link of a tree brings those of the joint that holds it.
    joints : dict of str to int
        The freedoms that the rows of each joint take; redundant rows take none.
    redundant : list of str
        Names of the rows that follow from others, which come before them.
    nonholonomic : dict of str to int
        How many of the freedoms that each joint takes are only of velocity, as those of a rolling wheel: without
        them there are as many independent coordinates.
    """

    degrees_of_freedom: int
    bodies: Mapping[str, int]
    joints: Mapping[str, int]
    redundant: list[str]
    nonholonomic: Mapping[str, int]

    def __repr__(self) -> str:
        lines = [self._title(), *(f"{name}: {n}" for name, n in self._changes())]
        return "\n".join([*lines, *(f"redundant: {row}" for row in self.redundant)])

    def _repr_html_(self) -> str:
        rows: list[tuple[str, object]] = [*self._changes()]
        rows += [(row, "redundant") for row in self.redundant]
        return _html.table(self._title(), (), rows)

    def _title(self) -> str:
        n = self.degrees_of_freedom
        count = sum(self.nonholonomic.values())
        return f"{n} degree{'' if n == 1 else 's'} of freedom" + (f", {n + count} coordinates" if count else "")

    def _changes(self) -> list[tuple[str, str]]:
        brought = [(name, f"{n:+d}") for name, n in self.bodies.items()]
        return brought + [(name, f"{-n:+d}{self._of_velocity(name)}") for name, n in self.joints.items()]

    def _of_velocity(self, joint: str) -> str:
        count = self.nonholonomic.get(joint, 0)
        return f" ({-count:+d} of velocity alone)" if count else ""


def mobility(model: System) -> Mobility:
    """See `Model.mobility`."""
    if not isinstance(model, Model):
        raise ValueError(
            f"mobility: a {type(model).__name__} has no bodies and joints; it has {model.nv} velocities and {model.nc} "
            "constraint rows"
        )
    whole: Model = model.complete.with_state(model.q0)
    dependent = sorted(row for loop in loops(whole) if not loop.is_regular() for row in _dependent(model, whole, loop))
    own = ((name, joint) for name, joint in whole.joints.items() if not joint.get("holds"))
    joints = [name for name, joint in own if joint.get("row") != "shared"]
    counted = set(range(whole.nc)) - set(dependent)
    taken = {name: len(counted & set(whole.rows(name))) for name in joints}
    of_velocity = counted & set(whole.core.nonholonomic)
    nonholonomic = {name: len(of_velocity & set(whole.rows(name))) for name in joints}
    brought = _brought(whole)
    free = sum(brought.values()) - sum(taken.values())
    redundant = [whole.row_names[row] for row in dependent]
    return Mobility(free, brought, taken, redundant, {name: n for name, n in nonholonomic.items() if n})


def _dependent(model: Model, whole: Model, loop: Loop) -> list[int]:
    """The rows of a loop that depend on those before them, joint by joint."""
    dropped = model.record()["dropped"]
    rows, barely = (loop.dependent(loop.q, loop.v, *tolerance) for tolerance in ((), (BARELY,)))
    held = len(barely) == sum(len(dropped.get(joint, ())) for joint in loop.joints)  # as the model was built
    own = loop.split(barely if held else rows)
    return [whole.rows(joint).start + row for joint, numbers in own.items() for row in numbers]


def _brought(model: Model) -> dict[str, int]:
    """The freedoms of each body; on a block of several bodies the root has what the others' joints do not bring."""
    starts = [v for _, _, _, v, *_ in model.core.blocks]
    left = np.diff([*starts, model.nv]) - [own for *_, own, _ in model.core.blocks]
    held = {body: model.joint_indices(joint).held[1][1] for body, joint in holders(dict(model.joints)).items()}
    for body, count in held.items():
        left[model.bodies[body]["block"]] -= count
    return {name: held.get(name, int(left[body["block"]])) for name, body in model.bodies.items()}
