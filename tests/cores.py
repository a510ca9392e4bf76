"""Models of the core from rows of plain values, and the bits of their results."""

import numpy as np

from kinds import NODES
from lgint import ConvergenceError, _core
from lgint._model.compile import Description, Element


def node_and_modes(kind, n):
    """The block of a node with n linear coordinates, if any; of R^n and first-order equations, their own values."""
    return ((kind, 0), ("Rn", n)) if n and kind not in ("Rn", "first_order") else (kind, n)


def described(blocks, frames, elements):
    """The description of a model.

    Blocks are (kind, n) or tuples of them, frames (block, (base, offset)) or (block, (base, offset), part), and
    elements (kind, name, frames, parameters), perhaps with a function and the numbers of dropped rows.
    """
    places = [(block, part[0] if part else 0, *point) for block, point, *part in frames]
    parts = [
        Element(kind, name, at, np.array(values, float).tolist(), *more) for kind, name, at, values, *more in elements
    ]
    return Description.of(blocks, places, parts)


CONTROLLED = {row["name"] for row in _core.ELEMENTS if row["control"]}


def control(at):
    """Ten values that are smooth in the state, which is given as (t, q, v)."""
    t, q, v = at
    i = np.arange(1.0, 11.0)
    along_q, along_v = np.cos(np.outer(i, range(1, len(q) + 1))), np.sin(np.outer(i, range(1, len(v) + 1)))
    return 0.3 + 0.2 * t + np.sin(i + along_q @ q) + along_v @ v


def core_model(blocks, frames, elements):
    """The model of such rows, with a control if there are elements that take values of one."""
    parts = described(blocks, frames, elements)
    if all(kind not in CONTROLLED for kind, *_ in elements):
        return _core.Model(*parts)
    factors = [factor for block in blocks for factor in ([block] if isinstance(block[0], str) else block)]
    nv = sum(n or NODES[kind]["nv"] for kind, n in factors)
    rows = [("control", control, None, 10, 0.0, np.arange(nv, dtype=np.intc))]
    return _core.Model(*parts, lambda at: (at.t, at.q, at.v), rows)


def has_steps(core):
    """Whether a system has the terms of a step between two states: all bodies in Euler parameters, and no control."""
    if {(kind.removesuffix("_fixed"), n) for kind, n, *_ in core.blocks} != {("euler_parameters", 0)}:
        return False
    try:
        core.evaluate_pair(0.0, 1.0, np.zeros(core.nq), np.zeros(core.nq), mem=np.zeros(core.nmem))
    except (ValueError, ConvergenceError) as error:
        return "this system has no terms of a step" not in str(error)
    return True


def bits(core, q, mem=None):
    """Everything that a system returns at a random state near q: terms, energies, steps, names of rows, flags."""
    rng = np.random.default_rng(7)
    mem = np.zeros(core.nmem) if mem is None else mem
    first, second = (core.retract(q, 1e-2 * rng.normal(size=core.nv)) for _ in range(2))
    v, a, lam = rng.normal(size=core.nv), rng.normal(size=core.nv), rng.normal(size=core.nrows)
    found = core.evaluate(0.1, first, v, a, lam, mem=mem)
    found["energy"] = np.array(core.energy(0.1, first, v, mem=mem))
    if has_steps(core):
        for equivariant in (False, True):
            step = core.evaluate_pair(0.1, 1e-2, first, second, lam=lam, mem=mem, equivariant=equivariant)
            found |= {f"{name} of a step, {equivariant}": value for name, value in step.items()}
    flags = [core.constant_mass, core.conservative, core.has_potential, core.needs_gil, core.nmem, core.widths]
    return {name: np.asarray(value).tobytes() for name, value in found.items()}, core.row_names, flags


def motion(model, q0, q1):
    """The change along which forces do work in the conserving form: q1 - q0, with Cayley vectors for quaternions."""
    dq = q1 - q0
    for kind, _, first, *_ in model.blocks:
        e = slice(first + 3, first + 7) if kind == "euler_parameters" else slice(first, first + 4)
        middle = (q0[e] + q1[e]) / 2
        dq[e] *= middle @ middle / (q0[e] @ q1[e])
    return dq
