"""The benchmark models of `lgint bench` in Exudyn, as fast as it runs them: nothing is written, printed or plotted.

Bodies have Lie group nodes with rotation vectors (NodeRigidBodyRotVecLG), as Exudyn's Lie group integrators want them.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import sys
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from lgint._args import Array

SOLVERS = {"rk44": "RK44", "rk67": "RK67"}


def load() -> Any:
    """The package `exudyn` without its range checks, or None if it is not installed."""
    sys.exudynFast = True  # type: ignore[attr-defined]  # read once, at the import
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            return importlib.import_module("exudyn")
    except ImportError:
        return None


class Peer:
    """A model in Exudyn and the settings of one method."""

    def __init__(self, exudyn: Any, build: Callable[[Peer], None], method: str, options: Mapping[str, Any]) -> None:
        self.exudyn = exudyn
        self.items = importlib.import_module("exudyn.itemInterface")
        self._system = exudyn.SystemContainer()
        self.mbs = self._system.AddSystem()
        self.ground = self.mbs.AddObject(self.items.ObjectGround())
        self.last, self.at = -1, [0.0, 0.0, 0.0]
        build(self)
        self.mbs.Assemble()
        self._method, self._options = method, options

    def body(self, mass: float, inertia: Any, x: Any = (0, 0, 0), v: Any = (0, 0, 0), omega: Any = (0, 0, 0)) -> int:
        """A rigid body, unturned at the start; it is the one whose position is compared, if it is the last."""
        node = self.mbs.AddNode(
            self.items.NodeRigidBodyRotVecLG(referenceCoordinates=[*x, 0, 0, 0], initialVelocities=[*v, *omega])
        )
        self.last = self.mbs.AddObject(
            self.items.ObjectRigidBody(physicsMass=mass, physicsInertia=[*inertia, 0, 0, 0], nodeNumber=node)
        )
        return int(self.last)

    def marker(self, body: int, x: Any) -> int:
        """A point of a body, in its axes, with an orientation."""
        return int(self.mbs.AddMarker(self.items.MarkerBodyRigid(bodyNumber=body, localPosition=list(x))))

    def gravity(self, body: int, g: Any) -> None:
        """Weight of a body."""
        marker = self.mbs.AddMarker(self.items.MarkerBodyMass(bodyNumber=body))
        self.mbs.AddLoad(self.items.LoadMassProportional(markerNumber=marker, loadVector=list(g)))

    def run(self, h: float, steps: int) -> None:
        """`steps` steps of size h from the start."""
        settings = self.exudyn.SimulationSettings()
        time = settings.timeIntegration
        time.numberOfSteps, time.endTime = steps, steps * h
        time.adaptiveStep = time.automaticStepSize = False
        time.verboseMode = time.verboseModeFile = 0
        settings.solutionSettings.writeSolutionToFile = False
        settings.solutionSettings.solutionWritePeriod = settings.solutionSettings.sensorsWritePeriod = steps * h
        settings.displayStatistics = settings.displayComputationTime = False
        time.generalizedAlpha.spectralRadius = 0.9
        time.newton.useModifiedNewton = self._options.get("newton") == "modified"
        time.explicitIntegration.computeEndOfStepAccelerations = False
        if self._options.get("sparse"):
            settings.linearSolverType = self.exudyn.LinearSolverType.EigenSparse
        kinds = self.exudyn.DynamicSolverType
        time.solverType = getattr(kinds, SOLVERS[self._method]) if self._method in SOLVERS else kinds.GeneralizedAlpha
        self.mbs.SolveDynamic(settings, solverType=time.solverType)

    def position(self) -> Array:
        """Of the point that is compared, (3,), m, after a run."""
        kind = self.exudyn.OutputVariableType.Position
        return np.array(self.mbs.GetObjectOutputBody(self.last, kind, localPosition=self.at))


def top(peer: Peer) -> None:
    """The heavy top with six coordinates and a spherical joint."""
    omega = np.array([0.0, 150.0, -4.61538])
    com = np.array([0.0, 1.0, 0.0])
    body = peer.body(15.0, (0.234375, 0.46875, 0.234375), com, np.cross(omega, com), omega)
    ends = [peer.marker(peer.ground, (0, 0, 0)), peer.marker(body, -com)]
    peer.mbs.AddObject(peer.items.SphericalJoint(markerNumbers=ends))
    peer.gravity(body, (0, 0, -9.81))


def free_top(peer: Peer) -> None:
    """The heavy top as a rotation: the node is the fixed point, and the weight at the COM has its opposite there."""
    mass, com = 15.0, np.array([0.0, 1.0, 0.0])
    inertia = np.array([0.234375, 0.46875, 0.234375]) + mass * (com @ com - com**2)
    body = peer.body(mass, inertia, omega=(0.0, 150.0, -4.61538))
    peer.at = com.tolist()
    for x, sign in ((com, 1.0), (0 * com, -1.0)):
        point = peer.mbs.AddMarker(peer.items.MarkerBodyPosition(bodyNumber=body, localPosition=x.tolist()))
        peer.mbs.AddLoad(peer.items.LoadForceVector(markerNumber=point, loadVector=[0, 0, -9.81 * mass * sign]))


def rotor(peer: Peer) -> None:
    """The fast rotor on two supports."""
    k, d, left, right, mass = 4000.0, 5.165093, 0.11, 0.09, 1.223
    body = peer.body(mass, (0.001541, 0.000812, 0.000812), omega=(20944.0, 0, 0))
    for x, axes in ((-left, np.ones(3)), (right, np.array([0.0, 1.0, 1.0]))):
        ends = [peer.marker(peer.ground, (x, 0, 0)), peer.marker(body, (x, 0, 0))]
        peer.mbs.AddObject(
            peer.items.CartesianSpringDamper(
                markerNumbers=ends, stiffness=(k * axes).tolist(), damping=(d * axes).tolist()
            )
        )
    moment = [0.0, 0.0, ((left + right) / 2 - left) * mass * 9.81]
    peer.mbs.AddLoad(peer.items.LoadTorqueVector(markerNumber=peer.marker(body, (0, 0, 0)), loadVector=moment))


def chain(n: int) -> Callable[[Peer], None]:
    """`pendulum_chain` with n bars and spherical joints."""

    def build(peer: Peer) -> None:
        length, width, density = 0.1, 0.01, 1000.0
        mass = density * length * width**2
        inertia = mass / 12 * np.array([2 * width**2, length**2 + width**2, length**2 + width**2])
        before, end = peer.ground, (0.0, 0.0, 0.0)
        for i in range(n):
            body = peer.body(mass, inertia, ((i + 0.5) * length, 0, 0))
            ends = [peer.marker(before, end), peer.marker(body, (-length / 2, 0, 0))]
            peer.mbs.AddObject(peer.items.SphericalJoint(markerNumbers=ends))
            peer.gravity(body, (0, 0, -9.81))
            before, end = body, (length / 2, 0.0, 0.0)

    return build
