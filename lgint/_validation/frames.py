"""Frames and rings of slender rods: where they snap through, and where they leave their plane."""

from __future__ import annotations

import numpy as np

from lgint._args import Array
from lgint._build.builder import ModelBuilder
from lgint._build.parts import ground
from lgint._model.model import Model
from lgint._run.equilibrium import equilibrium
from lgint._validation.case import Number, case
from lgint._validation.rods import limit
from lgint._validation.roots import root

RAM = 1000.0  # stiffness of the spring through which Lee's frame is pressed down
DOWN = (0.1, 0.2, 0.3, 0.4)  # of the end of that spring, before the load is greatest


def _descent(t: float) -> Array:
    """The motion of the end of the spring, which has gone down by t."""
    return np.array([(0.2, 0, 1 - t), (0, 0, -1), (0, 0, 0)])


def _lee(edges: int) -> tuple[Model, str]:
    """A post and a beam of length one, hinged at their feet, and the node at which they are pressed down."""
    builder = ModelBuilder()
    ends = {"post": ((0, 0, 0), (0, 0, 1)), "beam": ((0, 0, 1), (1, 0, 1))}
    post, beam = (
        builder.add_rod(
            name,
            start=start,
            end=end,
            edges=edges,
            stiffness=(1, 1, 1, 900, 1, 900),
            inertia=(1, 1, 1, 1),
            constraints="inextensible",
        )
        for name, (start, end) in ends.items()
    )
    builder.add_joint("rigid", post.nodes[-1], beam.nodes[0], point=(0, 0, 1))
    builder.add_joint("revolute", ground, post.nodes[0], point=(0, 0, 0), axis=(0, 1, 0))
    builder.add_joint("revolute", ground, beam.nodes[-1], point=(1, 0, 1), axis=(0, 1, 0))
    builder.add_support("ram", motion=_descent)
    loaded = beam.nodes[edges // 5]
    builder.add_cartesian_spring("ram", loaded, stiffness=(0, 0, RAM), point=(0.2, 0, 1))
    return builder.build(redundant="drop"), loaded


@case(
    "lee-frame",
    title="Lee's frame, a post and a beam hinged at their feet, under a load at a fifth of the beam: P L^2/(E I)",
    source="Lee, Manuel and Rossow 1968; Leahu-Aluas and Abed-Meraim 2011, table 11; the equations of the elastica, "
    "solved by shooting to ten digits",
)
def lee() -> list[Number]:
    """Loads on the way, and the greatest one, at which it snaps through; the stiff spring leads past that point."""
    from scipy.optimize import minimize_scalar

    def greatest(edges: int) -> Array:
        model, loaded = _lee(edges)
        for t in DOWN:
            model = model.with_state(equilibrium(model, time=t))

        def load(t: float) -> float:
            return RAM * float(equilibrium(model, time=t).position(loaded)[-1, 2] - (1 - t))

        best = minimize_scalar(lambda t: -load(t), bounds=(0.4, 0.45), method="bounded", options={"xatol": 1e-4})
        return np.array([-best.fun])

    coarse = "what the finite elements of the source leave; our 20 edges leave 0.03"
    passed = [
        Number(f"load at a deflection of {lowered} L/1.2", digits, _load_at(lowered / 1.2), 0.05, coarse)
        for lowered, digits in LOWERED.items()
    ]
    return [*passed, Number("critical load, elastica", "18.5587", float(limit(greatest, (10, 20, 40))[0]))]


LOWERED = {0.32687: "16.57", 0.49916: "18.59", 0.58826: "16.01"}  # deflection / m and load / kN for L = 1.2 m


def _load_at(deflection: float, edges: int = 20) -> float:
    """The load that lowers the loaded point so far."""
    model, loaded = _lee(edges)
    for t in (t for t in DOWN if t < deflection):
        model = model.with_state(equilibrium(model, time=t))

    def excess(t: float) -> float:
        return float(1 - equilibrium(model, time=t).position(loaded)[-1, 2]) - deflection

    return RAM * (root(excess, deflection + 0.01, deflection + 0.03, xtol=1e-8) - deflection)


def _softest(model: Model, factor: float = 1.0, neutral: int = 0) -> float:
    """The sum of the least eigenvalues of the stiffness on the constraints: one, and those of neutral directions."""
    rest = equilibrium(model, loads=(factor,), leave_saddles=False).state(-1)
    K, free = rest.stiffness_matrix(), np.eye(model.nv)
    if model.nc:
        Q, _ = np.linalg.qr(rest.constraint_matrix().T, mode="complete")
        free = Q[:, model.nc :]
    return float(np.linalg.eigvalsh(free.T @ (K + K.T) @ free)[: 1 + neutral].sum())


E, L, HIGH, THIN = 71240.0, 240.0, 30.0, 0.6  # of the strips of the right-angle frame
EI, GJ = E * HIGH * THIN**3 / 12, E / (2 * 1.31) * HIGH * THIN**3 / 3


def _strips(edges: int) -> Model:
    """Two strips that meet at a right angle; the supports let them turn about the normal only, and one slides."""
    left, apex, right = np.array([(-L, -L, 0), (0, 0, 0), (L, -L, 0)]) / np.sqrt(2)
    builder = ModelBuilder()
    legs = []
    for name, foot in (("left", left), ("right", right)):
        along = -foot / L
        axes = np.stack([(0, 0, 1), np.cross(along, (0, 0, 1)), along], axis=1)
        leg = builder.add_rod(
            name,
            nodes=np.linspace(foot, apex, edges + 1),
            rotations=np.broadcast_to(axes, (edges + 1, 3, 3)),
            stiffness=(1e7, 1e7, 1e7, E * THIN * HIGH**3 / 12, EI, GJ),
            inertia=(1, 1, 1, 1),
            constraints=None,
        )
        legs.append(leg)
    builder.add_joint("rigid", legs[0].nodes[-1], legs[1].nodes[-1], point=apex)
    builder.add_joint("revolute", ground, legs[0].nodes[0], point=left, axis=(0, 0, 1))
    builder.add_body("slide", mass=1.0, inertia=(1, 1, 1), position=right)
    builder.add_joint("prismatic", ground, "slide", point=right, axis=(1, 0, 0))
    builder.add_joint("revolute", "slide", legs[1].nodes[0], point=right, axis=(0, 0, 1))
    builder.add_force(legs[0].nodes[0], torque=(0, 0, 1))
    builder.add_force(legs[1].nodes[0], torque=(0, 0, -1))
    return builder.build()


@case(
    "right-angle-frame",
    title="a right-angle frame of two thin strips of 240 x 30 x 0.6 under end moments, which leaves its plane",
    source="Argyris et al. 1979; closed form pi sqrt(E I G J)/L",
    published=False,
)
def right_angle() -> list[Number]:
    """In its plane it is stiff enough to stay as it is."""

    def critical(edges: int) -> Array:
        model = _strips(edges)
        return np.array([root(lambda moment: _softest(model, moment), 500.0, 800.0, xtol=1e-3)])

    exact = np.pi * np.sqrt(EI * GJ) / L
    return [Number("critical moment", f"{exact:.1f}", float(limit(critical, (4, 8, 16))[0]))]


@case(
    "twisted-ring",
    title="a straight rod bent to a ring and twisted: turns from which it leaves its plane, for E I/(G J) = 1 and 1.3",
    source="Michell 1890; Zajac 1962; closed form sqrt(3) E I/(G J)",
    published=False,
)
def twisted_ring() -> list[Number]:
    """Ends that were turned against each other before they were joined; all sections may roll without any work."""

    def critical(edges: int, softer: float) -> float:
        phi = 2 * np.pi * np.arange(edges) / edges

        def softest(turns: float) -> float:
            builder = ModelBuilder()
            builder.add_rod(
                "ring",
                nodes=np.stack([np.cos(phi), np.sin(phi), 0 * phi], axis=1),
                closed=True,
                stiffness=(1e4, 1e4, 1e4, 1, 1, 1 / softer),
                inertia=(1, 1, 1, 1),
                reference_strain=(0, 0, 1, 0, 0, -turns),
                constraints=None,
                clamped=(0,),
            )
            return _softest(builder.build(), neutral=1)

        expected = np.sqrt(3) * softer
        return root(softest, 0.9 * expected, 1.2 * expected, xtol=1e-6)

    ratios = (1.0, 1.3)
    found = limit(lambda edges: np.array([critical(edges, ratio) for ratio in ratios]), (12, 24, 48))
    return [
        Number(f"E I/(G J) = {ratio}", f"{np.sqrt(3) * ratio:.3f}", float(turns))
        for ratio, turns in zip(ratios, found, strict=True)
    ]
