"""Derivatives of a state at rest by parameters: the implicit function theorem on the equations of statics."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

from lgint import _core
from lgint._args import Array

ROUND_OFF: Final = 16 * np.finfo(float).eps  # of an equation, relative to its terms
BALANCED: Final = 1e-8  # residual of equations without a unique solution, relative to the largest term


class Rest(NamedTuple):
    """A state at rest, and how it is evaluated."""

    t: float
    q: Array
    lam: Array
    mem: Array | None
    load: float
    static: bool

    def moved(self, core: _core.System, dq: Array, dlam: Array, dmem: Array) -> Rest:
        """The state displaced by dq, with other multipliers and bristles."""
        mem = None if self.mem is None else self.mem + dmem
        return self._replace(q=core.retract(self.q, dq), lam=self.lam + dlam, mem=mem)

    def bristles(self, core: _core.System, dq: Array, parameter: int) -> Array:
        """The change of bristles (nmem,), which bend as the state is displaced by dq with a parameter."""
        if self.mem is None:
            return np.zeros(0)
        still = np.zeros(core.nv)
        change = np.stack([still, still, dq, still])
        return core.follow(parameter, self.t, self.q, still, self.mem, self.mem, change, 0 * self.mem)

    def terms(self, core: _core.System, *want: str, parameter: int | None = None, **options: Any) -> dict[str, Array]:
        """Terms there, or their derivatives by a parameter."""
        still = np.zeros(core.nv)
        where = self.t, self.q, still, still, self.lam
        given = {"mem": self.mem, "want": want, "load": self.load, "static": self.static, **options}
        return core.evaluate(*where, **given) if parameter is None else core.derivative(parameter, *where, **given)


def slopes_at_rest(core: _core.System, count: int, rest: Rest) -> tuple[Array, Array]:
    """Derivatives dq (count, nv), left-trivialised, and dlam (count, nc) by all numbers of the core's derivatives.

    A SingularError if no equilibrium follows a change of a number. The state does not move in directions that nothing
    determines.
    """
    now = rest.terms(core, "S", "B", k=(1.0, 0.0, 0.0))
    K, B = now["S"], now["B"]
    matrix = np.block([[K, B.T], [B, np.zeros((len(B), len(B)))]])
    right = np.empty((len(matrix), count))
    for i in range(count):
        by = rest.terms(core, "force", "Btlam", "phi", parameter=i)
        right[:, i] = -np.concatenate([by["Btlam"] - by["force"], by["phi"]])
    size = np.maximum(np.abs(matrix).max(axis=1, initial=0), np.finfo(float).tiny)  # of each equation
    scaled = matrix / size[:, None]
    found = np.zeros_like(right)
    for _ in range(2):  # the second time removes the round-off of the first
        found += np.linalg.lstsq(scaled, (right - matrix @ found) / size[:, None], rcond=1e-13)[0]
    off = np.abs(right - matrix @ found)
    if (off > BALANCED * np.abs(right).max(initial=0) + ROUND_OFF * (np.abs(matrix) @ np.abs(found))).any():
        raise _core.SingularError(
            "the equilibrium does not follow the parameters: it is about to buckle, or nothing holds a body"
        )
    return found[: core.nv].T, found[core.nv :].T
