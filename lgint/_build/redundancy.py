"""Redundant constraint rows: found at the start, named, and left out.

Rows can depend on one another only around a closed loop of bodies and joints (see `_model/loops.py`), so that an open
tree costs no algebra at all, and a model of many small loops costs as much as their sum. In each loop the rows of B,
scaled to length one, are factored joint by joint, with pivoting inside a joint, so that rows of the joints added last
are the redundant ones.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from lgint import _core
from lgint._args import Array, choice
from lgint._model import massless
from lgint._model.loops import BARELY, TOLERANCE, Dropped, Loop, loops
from lgint._model.model import Model

RESIDUAL = 1e-8  # largest residual of a consistent start, as in `build`
CLOSED = 1e-10  # largest residual of rows that follow from others
SHARE = 1e3  # rows that contradict each other share what is left of a gap among fewer rows than so many
NEARLY = 1e-4  # rows with smaller remainders are nearly redundant
HALVINGS = 12  # of a step towards a consistent configuration
NAMED = 4  # violated rows at most
NEARBY = 1e-2  # displacement by which the mechanism is moved to test whether a dependence persists, rad
LATER = 1e-2  # time, s, at which it is tested whether motions contradict each other


def resolve(model: Model, start: str, redundant: str) -> Model:
    """The model itself, or one without its redundant rows; see `ModelBuilder.build`.

    Raises
    ------
    ValueError
        Naming the joints and rows, if they contradict each other, if they depend on each other at the start only, or if
        they are redundant and `redundant` is "error".
    """
    choice("redundant", redundant, ("error", "drop", "minimum_norm"))
    dropped: Dropped = {}
    members: dict[str, int] = {}
    for loop in loops(model):
        rows = _dependent(loop, start)
        if rows:
            number = len(set(members.values())) + 1
            members |= dict.fromkeys(loop.joints, number)
        dropped.update(rows)
    if not dropped:
        return model
    if redundant == "error":
        raise ValueError(
            f"redundant constraints: {describe(model, dropped)}; the joints added before imply them. Use joints "
            'with fewer rows, or let build(redundant="drop") leave the rows out, or build(redundant="minimum_norm") '
            "share the reactions as well"
        )
    return Model({**model.record(), "dropped": dropped, "loops": members, "redundant": redundant})


def describe(model: Model, dropped: Mapping[str, Sequence[int]]) -> str:
    """The rows by joint: "bc: translation along z, rotation about e1; cd: ..."."""
    parts = []
    for name, rows in dropped.items():
        first = model.rows(name).start
        labels = [model.row_names[first + row].removeprefix(f"{name}: ").removeprefix(name) for row in rows]
        parts.append(f"{name}: {', '.join(labels)}")
    return "; ".join(parts)


# ---- the rows of a loop ----


def _dependent(loop: Loop, start: str) -> Dropped:
    """Rows of the loop that follow from the others, by joint.

    ValueError if they contradict the others, follow from them at the start only, or nearly follow from them.
    """
    if loop.is_regular():
        return {}
    q = _onto(loop.core, loop.q, loop.v) if start == "project" else loop.q
    rows = loop.dependent(q, loop.v)
    if not rows:
        return {}
    try:
        return _lasting(loop, q, rows)
    except _core.SingularError:
        nearly = sorted({*loop.dependent(q, loop.v, NEARLY)} - {*rows})
        if not nearly:
            _refuse_open(loop.core, loop.row_names(), q, loop.v)
            raise
        raise ValueError(
            f"nearly redundant constraints: {describe(loop.model, loop.split(nearly))}; these rows differ by less than "
            f"{NEARLY:g} from what those of the other joints imply, which is too little to find their multipliers. "
            "Align these joints, or release rotations"
        ) from None
    except ValueError:
        fewer = loop.dependent(q, loop.v, BARELY)
        if len(fewer) == len(rows):
            raise
        try:  # joints that are hardly misaligned may hold each other
            return _lasting(loop, q, fewer)
        except (ValueError, _core.IntegrationError):
            pass
        raise


def _lasting(loop: Loop, q: Array, rows: list[int]) -> Dropped:
    """These rows by joint; ValueError if they do not follow from the others."""
    dropped = loop.split(rows)
    kept, text = loop.compile(dropped), describe(loop.model, dropped)
    try:
        q, v = kept.project(0.0, q, loop.v)
    except _core.ConvergenceError:
        _refuse_open(loop.core, loop.row_names(), q, loop.v)
        raise
    size = loop.size(q, v)
    gap = _violation(loop.core, q, v, size)
    violated = gap > RESIDUAL
    elsewhere = _onto(loop.core, _moved(kept, q), v) if violated else q
    if violated and _violation(loop.core, elsewhere, v, size) > min(RESIDUAL, gap / SHARE):
        raise ValueError(
            f"contradictory constraints: {text}; no position of the bodies was found that satisfies these rows and "
            "those of the joints added before. Check the points and axes of these joints"
        )
    nearby = _violation_nearby(loop.core, kept, q, v, size)
    if not violated and CLOSED <= nearby < 10 * gap:
        raise ValueError(
            f"open loop: {_gaps(loop, q, v)}; the joints added before imply these rows, but leave them open by so much "
            "(m, rad), and no motion closes them. Move the points and turn the axes of these joints by it, or use "
            "joints with fewer rows"
        )
    if violated or nearby >= CLOSED:
        raise ValueError(
            f"singular start: {text}; these rows depend on those of the other joints in this configuration, but not in "
            "configurations next to it. Start from another one"
        )
    if not _lasts_in_time(loop.core, kept, q, v):
        raise ValueError(
            f"contradictory constraints: {text}; motions that are prescribed for joints agree with these rows at the "
            "start only. Prescribe fewer motions"
        )
    return dropped


def _violation(core: _core.Model, q: Array, v: Array, size: float) -> float:
    """Largest residual at position level, relative to the size of the loop."""
    return float(np.abs(core.residual(0.0, q, v)[0]).max() / size)


def _onto(core: _core.Model, q: Array, v: Array) -> Array:
    """A configuration near q that satisfies all rows, dependent or not, as well as possible.

    By the Gauss-Newton method, whose steps are halved until the rows are satisfied better.
    """
    phi = core.residual(0.0, q, v)[0]
    for _ in range(100):
        if np.abs(phi).max(initial=0.0) < 1e-14:
            break
        B = core.evaluate(0.0, q, v, want=["B"])["B"]
        step = np.linalg.lstsq(B, -phi, rcond=TOLERANCE)[0]
        for _ in range(HALVINGS):
            there = core.retract(q, step)
            left = core.residual(0.0, there, v)[0]
            if np.linalg.norm(left) < np.linalg.norm(phi):
                break
            step /= 2
        else:
            break
        q, phi = there, left
    return q


def closed(model: Model) -> Model:
    """The model with the nearest consistent start.

    ValueError with the rows that are violated where none is found.
    """
    try:
        return model.with_state(project=True)
    except _core.IntegrationError:
        whole = model.complete
        q = _refuse_open(whole.core, whole.row_names, model.q0, model.v0)
    try:
        return model.with_state(q, project=True)
    except _core.SingularError as error:
        massless.explain(error, model)
        raise


def _refuse_open(core: _core.Model, names: Sequence[str], q: Array, v: Array) -> Array:
    """A configuration near q that satisfies all rows; ValueError with the rows that are violated if none is found."""
    q = _onto(core, q, v)
    phi = np.abs(core.residual(0.0, q, v)[0])
    worst = [f"{names[row]} ({phi[row]:.3g})" for row in np.argsort(-phi)[:NAMED] if phi[row] > RESIDUAL]
    if worst:
        raise ValueError(
            f"no start was found that satisfies all constraints; violated are, where they are satisfied best: "
            f"{', '.join(worst)}. Check the points and axes of these joints, or start nearer to a consistent start"
        ) from None
    return q


def _moved(kept: _core.Model, q: Array) -> Array:
    """The configuration after a short motion in a direction that the rows of `kept` leave free; q if there is none."""
    _, direction = kept.project(0.0, q, np.random.default_rng(0).standard_normal(kept.nv), position=False)
    size = float(np.abs(direction).max())
    return kept.retract(q, NEARBY / size * direction) if size > RESIDUAL else q


def _violation_nearby(complete: _core.Model, kept: _core.Model, q: Array, v: Array, size: float) -> float:
    """The largest residual of all rows after a small motion of the mechanism under the rows of `kept`."""
    try:
        q, v = kept.project(0.0, _moved(kept, q), v)
    except _core.IntegrationError:
        return float("inf")
    return _violation(complete, q, v, size)


def _gaps(loop: Loop, q: Array, v: Array) -> str:
    """The rows that are violated most, and by how much."""
    phi = np.abs(loop.core.residual(0.0, q, v)[0])
    names = loop.row_names()
    return ", ".join(f"{names[row]} ({phi[row]:.3g})" for row in np.argsort(-phi)[:NAMED] if phi[row] > 0.1 * phi.max())


def _lasts_in_time(complete: _core.Model, kept: _core.Model, q: Array, v: Array) -> bool:
    """Whether all rows still hold when the motions of joints have moved the mechanism under the rows of `kept`."""
    if np.array_equal(complete.residual(LATER, q, v)[0], complete.residual(0.0, q, v)[0]):
        return True
    try:
        q, v = kept.project(LATER, q, v)
    except _core.IntegrationError:
        return True  # a motion that is too fast for this test, which then decides nothing
    return float(np.abs(complete.residual(LATER, q, v)[0]).max() / (1 + np.abs(q).max())) < RESIDUAL
