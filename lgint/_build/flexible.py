"""One flexible body: its floating frame, its modes, and the positions of its nodes at the start."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lgint._args import Array
from lgint._build.body import Body, State, row, states
from lgint._model.record import BodyRow
from lgint._rotation import matrix_of_quaternion
from lgint.modal import Modes


@dataclass(frozen=True)
class ModalBody:
    """A flexible body as a caller described it, checked; `frame` is its floating frame."""

    frame: Body
    modes: Modes
    eta: Array
    rates: Array

    def state(self) -> State:
        """Coordinates and velocities at the start."""
        [(q, v)] = states([self.frame])
        return (*q, self.eta), (*v, self.rates)

    def at(self, name: str) -> Body:
        """A node in the start configuration."""
        node = self.modes.nodes[name]
        a = node.Psi @ self.eta / 2
        turned = matrix_of_quaternion(np.array([1.0, *a]) / np.sqrt(1 + a @ a))
        R = self.frame.R
        position = self.frame.x + R @ (node.X + node.Phi @ self.eta)
        return self.frame._replace(name=f"{self.frame.name}.{name}", x=position, R=R @ turned)

    def row(self, block: int) -> BodyRow:
        """The record of the body."""
        return {**row(self.frame, block), "inertia": None, "modes": self.modes.record()}
