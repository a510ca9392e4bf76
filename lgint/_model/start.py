"""The start of a system from the last state of a run, with the memory of joints, drives and rods."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import numpy as np

from lgint import _core
from lgint._args import Array, listing, shown

# numbers at each point of elements whose memory is that of bristles; the first is zero where bodies are apart
FOLLOWS: Final = {row["name"]: row["follows"] for row in _core.ELEMENTS if row["follows"]}


def memory_of(system: Any) -> list[tuple[str, int]]:
    """Kind and number of values of the elements that have memory, in the order of the memory."""
    compiled = getattr(system, "_compiled", None)  # systems of functions have none
    return compiled.memory if compiled else []


def bristle_points(system: Any) -> Array:
    """For each number of the memory which one is the first of its point, if it is one of bristles; otherwise -1."""
    first, begin = np.full(system.core.nmem, -1), 0
    for kind, count in memory_of(system):
        if kind in FOLLOWS:
            own = np.arange(count)
            first[begin + own] = begin + own - own % FOLLOWS[kind]
        begin += count
    return first


def coordinates(q: Any) -> Any:
    """Returns `q`; ValueError for states of dense output, which lack a run's memory."""
    if isinstance(q, Mapping) or hasattr(q, "q") or hasattr(q, "states"):
        raise ValueError(
            "q: a run, one of its states, or coordinates expected (for a state between steps give run.at(t)), "
            f"got {shown(q)}"
        )
    return q


def space_names(system: Any) -> list[str]:
    """The blocks of the configuration by their factors, such as "SE3" or "SO3 x Rn(2)"."""
    names: dict[int, list[str]] = {}
    for kind, n, *_, block in system.core.factors:
        names.setdefault(block, []).append(f"{kind}({n})" if n else kind)
    return [" x ".join(factors) for factors in names.values()]


class Taken(NamedTuple):
    """What is known of a start that is a state of a run, or of another model.

    It does not refer to that run, so that models which start in one another's runs do not keep all of these in memory.
    """

    core: Any  # the system of the core of the state's model
    record: Mapping[str, Any] | None  # that model, unless the start belongs to the same system of the core
    method: str | None
    options: Mapping[str, Any]
    residual: Array  # of the constraints in the state's own model, (2, nc), at position and velocity level
    end: Mapping[str, Array] | None  # the other parts of the state and its carry, where it has one

    def with_other_v(self) -> Taken:
        """The same of a start with other velocities, which satisfy the constraints."""
        return self._replace(residual=self.residual * [[1.0], [0.0]], end=None)

    def without_core(self, own: Any) -> Taken:
        """The same for another process, where records are compared; `own`: the system whose start it is."""
        return self._replace(core=None, record=own.record() if self.record is None else self.record)


def taken(system: Any, state: Any) -> tuple[tuple[Array, Array, Array], Taken]:
    """q, v and memory of a state, and what else is known of it; ValueError if the system cannot start with them."""
    own = state.model
    for what, of in (
        ("coordinates", lambda model: model.core.factors),
        ("joints, drives or rods", memory_of),
        ("bodies", _bodies_of),
        ("trees", _links_of),
        ("controls", _controls_of),
    ):
        if of(system) != of(own):
            raise ValueError(f"q: this state belongs to a system with other {what}; give coordinates and velocities")
    q, v, mem = _parts_of(state, ("q", "v", "mem") if system.core.nmem else ("q", "v"))
    residual = own.core.residual(state.clock, q, v, mem if own.core.nmem else None, state._static)
    known = Taken(
        own.core,
        None if own.core is system.core else own.record(),
        state.method,
        state.options,
        np.abs(np.stack(residual)),
        _end_of(state),
    )
    count = len(mem) if mem.shape == system.mem0.shape else sum(count for _, count in memory_of(system))
    return (q, v, np.append(mem[:count], system.mem0[count:])), known  # other redundant rows are chosen afresh


def _bodies_of(system: Any) -> list[tuple[str, int]]:
    """The bodies and their blocks; systems of functions have none."""
    return [(name, row["block"]) for name, row in getattr(system, "bodies", {}).items()]


def _links_of(system: Any) -> list[tuple[str, str, str]]:
    """The joints whose coordinates are those of trees, and what they connect."""
    joints = getattr(system, "joints", {}).items()
    return [(name, row["first"], row["second"]) for name, row in joints if row.get("holds")]


def _controls_of(system: Any) -> list[tuple[str, list[str]]]:
    """The controls that have values in v or in the memory, and the names of their states."""
    controls = getattr(system, "controls", {})
    return [(name, [*row["states"]]) for name, row in controls.items() if row["states"] or row["every"]]


def _parts_of(state: Any, parts: tuple[str, ...]) -> list[Array]:
    """Parts of a state, of which the memory may be empty."""
    lacking = [name for name in parts if not hasattr(state, name)]
    if lacking:
        raise ValueError(
            f"q: this run has not kept {listing(lacking)} of its state at t = {state.t:g}; name it in the run's "
            "`save`, or give coordinates and velocities"
        )
    return [*(getattr(state, name) for name in parts), *([np.empty(0)] if len(parts) == 2 else [])]


def _end_of(state: Any) -> Mapping[str, Array] | None:
    """What a run needs besides q and v to continue from this state; None if the state lacks it."""
    parts = ("vdot", "lam", "mem", "carry")
    found = {name: getattr(state, name) for name in parts} if hasattr(state, "carry") else None
    return None if found is None or np.isnan(found["vdot"]).any() else found
