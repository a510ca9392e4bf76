"""The start of a system from the last state of a run, with the memory of joints, drives and rods."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from lgint._args import Array, listing, shown


def memory_of(system: Any) -> list[tuple[str, int]]:
    """Kind and number of values of the elements that have memory, in the order of the memory."""
    compiled = getattr(system, "_compiled", None)  # systems of functions have none
    return compiled.memory if compiled else []


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


def last_state(system: Any, run: Any) -> tuple[Array, Array, Array]:
    """q, v and memory of the last state of a run; ValueError if the system cannot start with them."""
    for what, here, there in (
        ("coordinates", *(model.core.factors for model in (system, run.model))),
        ("joints, drives or rods", memory_of(system), memory_of(run.model)),
    ):
        if here != there:
            raise ValueError(f"q: this run belongs to a system with other {what}; give coordinates and velocities")
    if not len(run):
        raise ValueError("q: this run has no state")
    parts = ("q", "v", "mem") if system.core.nmem else ("q", "v")
    state = _parts_of(run, parts)
    memory = state.get("mem", system.mem0)
    own = sum(count for _, count in memory_of(system))
    count = len(memory) if memory.shape == system.mem0.shape else own  # other redundant rows are chosen afresh
    return state["q"], state["v"], np.append(memory[:count], system.mem0[count:])


def _parts_of(run: Any, parts: tuple[str, ...]) -> dict[str, Array]:
    """Parts of the last state; the state at the end of a run has all of them, whatever the run saves."""
    if run.t[-1] == run.end["t"][-1]:
        return {name: run.end[name][-1] for name in parts}
    lacking = [name for name in parts if not hasattr(run, name)]
    if lacking:
        raise ValueError(
            f"q: this run has not kept {listing(lacking)} of its state at t = {run.t[-1]:g}; name it in the run's "
            "`save`, or give coordinates and velocities"
        )
    return {name: getattr(run, name)[-1] for name in parts}
