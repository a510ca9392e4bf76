"""The benchmark models of `lgint bench` in Exudyn, with its fastest settings: nothing is written, printed or plotted.

Bodies have Lie group nodes with rotation vectors (NodeRigidBodyRotVecLG), which Exudyn's Lie group integrators require.
Data are read from the modules of the models of lgint, so that both codes have the same numbers.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from lgint._args import Array
from lgint._rotation import vector_of_matrix
from lgint.models._puma560 import LINKS, after_link
from lgint.models._slider_crank import ARM, A, B, C

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
    """A model in Exudyn, and the settings of one method.

    `linear` is the name of Exudyn's linear solver.
    """

    def __init__(
        self,
        exudyn: Any,
        build: Callable[[Peer], None],
        method: str = "genalpha",
        newton: str = "full",
        linear: str = "EXUdense",
    ) -> None:
        self.exudyn = exudyn
        self.items = importlib.import_module("exudyn.itemInterface")
        self._system = exudyn.SystemContainer()
        self.mbs = self._system.AddSystem()
        self.ground = self.mbs.AddObject(self.items.ObjectGround())
        self.last, self.at = -1, [0.0, 0.0, 0.0]
        self._commands: list[Callable[[float], None]] = []
        self.position: Callable[[], Array] = self._position_of_last
        build(self)
        self.mbs.Assemble()
        self._method, self._newton, self._linear = method, newton, linear

    def body(
        self,
        mass: float,
        inertia: Any,
        x: Any = (0, 0, 0),
        v: Any = (0, 0, 0),
        omega: Any = (0, 0, 0),
        R: Array | None = None,
    ) -> int:
        """A rigid body, with `omega` in its own axes. The position of the last body is compared."""
        turn = np.zeros(3) if R is None else vector_of_matrix(R)
        node = self.mbs.AddNode(
            self.items.NodeRigidBodyRotVecLG(referenceCoordinates=[*x, *turn], initialVelocities=[*v, *omega])
        )
        self.last = self.mbs.AddObject(
            self.items.ObjectRigidBody(physicsMass=mass, physicsInertia=[*inertia, 0, 0, 0], nodeNumber=node)
        )
        return int(self.last)

    def marker(self, body: int, x: Any, R: Array | None = None) -> int:
        """A point of a body with axes R, both given in the axes of the body; by default R is the identity."""
        frame = self.exudyn.HT(rotation=np.eye(3) if R is None else R, translation=list(x))
        return int(self.mbs.AddMarker(self.items.MarkerBodyRigid(bodyNumber=body, localHT=frame)))

    def gravity(self, body: int, g: Any) -> None:
        """Weight of a body."""
        marker = self.mbs.AddMarker(self.items.MarkerBodyMass(bodyNumber=body))
        self.mbs.AddLoad(self.items.LoadMassProportional(markerNumber=marker, loadVector=list(g)))

    def each_step(self, command: Callable[[float], None]) -> None:
        """Calls `command` before each step with the time at its end, to set values that depend on time."""

        def before(_mbs: Any, t: float) -> bool:
            command(t)
            return True

        self._commands.append(command)
        self.mbs.SetPreStepUserFunction(before)

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
        time.newton.useModifiedNewton = self._newton == "modified"
        time.explicitIntegration.computeEndOfStepAccelerations = False
        settings.linearSolverType = getattr(self.exudyn.LinearSolverType, self._linear)
        kinds = self.exudyn.DynamicSolverType
        time.solverType = getattr(kinds, SOLVERS[self._method]) if self._method in SOLVERS else kinds.GeneralizedAlpha
        for command in self._commands:
            command(0.0)  # sets the values for the initial accelerations
        self.mbs.SolveDynamic(settings, solverType=time.solverType)

    def _position_of_last(self) -> Array:
        """Position of the point that is compared, (3,), m, after a run."""
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
    """The heavy top in rotational coordinates alone: its node is the fixed point, where a force balances the weight."""
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


def slider_crank(peer: Peer) -> None:
    """The crank, the rod and the slider with their four joints."""
    x_axis, down = np.array([1.0, 0.0, 0.0]), (0, 0, -9.81)
    R = np.column_stack([(C - B) / 0.3, np.array([0.0, 2.0, -1.0]) / np.sqrt(5), np.array([5.0, 2, 4]) / np.sqrt(45)])
    spin, half = 6.0 * x_axis, (C - B) / 2
    crank = peer.body(0.12, (1e-4, 1e-5, 1e-4), A + ARM / 2, np.cross(spin, ARM / 2), spin)
    omega = R.T @ np.array([1.92, -0.96, 0.48])
    rod = peer.body(0.5, (4e-4, 4e-3, 4e-3), (B + C) / 2, (0.12, -0.24, 0), omega, R)
    slider = peer.body(2.0, (1e-4, 1e-4, 1e-4), C, 0.24 * x_axis)
    for body in (crank, rod, slider):
        peer.gravity(body, down)

    axes = np.column_stack([np.array([0.0, 1, 0]), np.array([0.0, 0, 1]), x_axis])  # the third one turns freely
    ends = [peer.marker(peer.ground, A, axes), peer.marker(crank, -ARM / 2, axes)]
    peer.mbs.AddObject(peer.items.RevoluteJointZ(markerNumbers=ends))
    ends = [peer.marker(crank, ARM / 2), peer.marker(rod, -R.T @ half)]
    peer.mbs.AddObject(peer.items.SphericalJoint(markerNumbers=ends))
    # only the last rotation is constrained: the first axis of the slider stays normal to the second axis of the rod
    ends = [peer.marker(slider, (0, 0, 0)), peer.marker(rod, R.T @ half)]
    peer.mbs.AddObject(peer.items.GenericJoint(markerNumbers=ends, constrainedAxes=[1, 1, 1, 0, 0, 1]))
    ends = [peer.marker(peer.ground, C), peer.marker(slider, (0, 0, 0))]
    peer.mbs.AddObject(peer.items.PrismaticJointX(markerNumbers=ends))
    peer.last = slider


# gains of the Puma's drives: torque P (phi_d - phi) + D (phi_d' - phi'), with phi_d = GOAL 2 t^2 up to 0.5 s
GOAL = np.deg2rad([-120.0, 60.0, -200.0, 90.0, 90.0, 45.0])
P = np.array([40000.0, 40000.0, 40000.0, 100.0, 100.0, 10.0])
D = np.array([400.0, 400.0, 100.0, 1.0, 1.0, 0.1])


# the part of the torques that depends on time alone: FEED[0] t^2 + FEED[1] t
FEED = (2 * P * GOAL, 4 * D * GOAL)


def puma560(peer: Peer) -> None:
    """Six bodies with revolute joints, each with a torsional spring and damper for -P phi - D phi'.

    The rest of the torque depends on time alone and is set once per step, for its end, where generalized-alpha
    evaluates forces. That is exact, and faster in Exudyn than a compiled GenericODE2 that couples the bodies with a
    coordinate that follows the desired motion.
    """
    R, origin = np.eye(3), np.zeros(3)
    before, R_before, com_before = peer.ground, np.eye(3), np.zeros(3)
    drives = []
    for link, p, d in zip(LINKS, P, D, strict=True):
        axes, position = R, origin
        R, origin = after_link(link, 0.0, R, origin)
        com = origin + R @ link.com
        body = peer.body(link.mass, link.inertia, com, R=R)
        peer.gravity(body, (0, 0, -9.81))
        ends = [
            peer.marker(before, R_before.T @ (position - com_before), R_before.T @ axes),
            peer.marker(body, R.T @ (position - com), R.T @ axes),
        ]
        peer.mbs.AddObject(peer.items.RevoluteJointZ(markerNumbers=ends))
        drive = peer.items.TorsionalSpringDamper(markerNumbers=ends, stiffness=p, damping=d)
        drives.append(peer.mbs.AddObject(drive))
        before, R_before, com_before = body, R, com

    # the parameter has the sign of the spring's torque, which opposes the rotation
    feed = list(zip(drives, (-FEED[0]).tolist(), (-FEED[1]).tolist(), strict=True))
    set_parameter = peer.mbs.SetObjectParameter

    def command(t: float) -> None:
        square = t * t
        for drive, a, b in feed:
            set_parameter(drive, "torque", a * square + b * t)

    peer.each_step(command)


def puma560_minimal(peer: Peer) -> None:
    """The six joint angles in a kinematic tree, with its own position and velocity control."""
    n = len(LINKS)
    zero = [0.0] * n
    node = peer.mbs.AddNode(
        peer.items.NodeGenericODE2(
            referenceCoordinates=zero, initialCoordinates=zero, initialCoordinates_t=zero, numberOfODE2Coordinates=n
        )
    )
    # a joint's frame turns about the axis before the link's own transform, which leads on to the next joint
    transforms = [after_link(link, 0.0, np.eye(3), np.zeros(3)) for link in LINKS]
    frames = [(np.eye(3), np.zeros(3)), *transforms[:-1]]
    tree = peer.mbs.AddObject(
        peer.items.ObjectKinematicTree(
            nodeNumber=node,
            gravity=[0, 0, -9.81],
            jointTypes=[peer.exudyn.JointType.RevoluteZ] * n,
            linkParents=np.arange(n) - 1,
            jointTransformations=peer.exudyn.Matrix3DList([R for R, _ in frames]),
            jointOffsets=peer.exudyn.Vector3DList([x for _, x in frames]),
            linkInertiasCOM=peer.exudyn.Matrix3DList(
                [R @ np.diag(link.inertia) @ R.T for link, (R, _) in zip(LINKS, transforms, strict=True)]
            ),
            linkCOMs=peer.exudyn.Vector3DList(
                [x + R @ link.com for link, (R, x) in zip(LINKS, transforms, strict=True)]
            ),
            linkMasses=[link.mass for link in LINKS],
            jointForceVector=zero,
            jointPositionOffsetVector=zero,
            jointVelocityOffsetVector=zero,
            jointPControlVector=P,
            jointDControlVector=D,
        )
    )

    def command(t: float) -> None:
        peer.mbs.SetObjectParameter(tree, "jointForceVector", FEED[0] * (t * t) + FEED[1] * t)

    def position() -> Array:
        R, origin = np.eye(3), np.zeros(3)
        angles = peer.mbs.GetNodeOutput(node, peer.exudyn.OutputVariableType.Coordinates)
        for link, angle in zip(LINKS, angles, strict=True):
            R, origin = after_link(link, angle, R, origin)
        return np.asarray(origin + R @ LINKS[-1].com)

    peer.each_step(command)
    peer.position = position


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
