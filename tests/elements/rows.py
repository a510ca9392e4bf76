"""Elements and node kinds as their rows describe them: values that a row accepts, and small systems to test them on."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

from cores import core_model, node_and_modes
from kinds import NODES
from lgint import _core

ROWS: dict[str, dict[str, Any]] = {row["name"]: row for row in _core.ELEMENTS}

TRIAD = Rotation.from_rotvec([0.3, -0.5, 0.8]).as_matrix().ravel()
OTHER = Rotation.from_rotvec([-0.7, 0.2, 0.4]).as_matrix().ravel()
AXIS = (0.48, -0.6, 0.64)
INERTIA = (2.0, 3.0, 4.0, 0.1, -0.2, 0.3)
RESTS = ((-1.0, 0.2, 0.3, 4.0), (1.0, 2.0, 3.0), ())  # for a parameter that takes all remaining values
VALUES = np.random.default_rng(1).uniform(0.3, 3.0, 100)


class Element(NamedTuple):
    """The name of a row, and parameters that it accepts."""

    kind: str
    parameters: tuple[float, ...]
    function: Callable[..., Any] | None = None

    def on(self, ends: tuple[int, ...]) -> tuple[Any, ...]:
        """The element as a model takes it: its name is "part", and it attaches to as many of the frames as it needs."""
        return self.kind, "part", ends[: ROWS[self.kind]["nframes"]], self.parameters, self.function

    def __str__(self) -> str:
        switches = "".join(f"-{value:g}" for value in self.parameters[:2] if value in (0, 1, 2))
        return self.kind + switches


def law(*arguments: Any) -> Any:
    """A function that suits every element with a function: of time, of a coordinate, or of poses and twists.

    It is linear in the state.
    """
    if len(arguments) == 1:
        return 1 + arguments[0], 2.0, -3.0
    if len(arguments) == 3:
        return 0.3 - 2 * arguments[1] - 0.7 * arguments[2]
    _, x, _, xdot, omega = arguments
    return np.concatenate([-2 * x - 0.3 * xdot, -0.4 * omega], axis=-1)


def rigid(kinds: tuple[str, ...], element: Element | None = None, support: bool = False) -> _core.Model:
    """Two bodies with an element between them.

    Body i has frame 2 i at its node, and frame 2 i + 1 beside it, where the element attaches. With
    `support`, the model has a support as well.
    """
    frames, elements = [], []
    for i in range(2):
        frames += [(i, (0.0,) * 6), (i, (0.0, 0.0, 0.0, 0.3 - i, -0.2, 0.5 * i + 0.1))]
        elements.append(("rigid_body", f"body{i}", (2 * i,), (1.5 + i, *INERTIA), None))
    if support:
        frames.append((-2, (0.0,) * 6))
    if element:
        elements.append(element.on((4,) if support else (1, 3)))
    return core_model([(kind, 0) for kind in kinds], frames, elements)


def tree(element: Element | None = None) -> _core.Model:
    """The tree that is the example of its row, with the element on a frame of its link."""
    elements = [("tree", "tree", (0,), ROWS["tree"]["example"], None)]
    frames = [(0, (0.0,) * 6, 0), (0, (0.0, 0, 0, 0.3, 0.1, -0.2), 0)]
    return core_model([("Rn", 1)], frames, [*elements, *([element.on((1,))] if element else [])])


# ---- values ----


def candidates(row: dict[str, Any]) -> Iterator[tuple[float, ...]]:
    """Values for all parameters of a row, as their descriptors suggest."""
    if row["example"]:
        yield tuple(row["example"])
        return
    triads, values = iter((TRIAD, OTHER)), iter(VALUES)
    choices: list[Any] = []
    for parameter in row["parameters"]:
        count, unit, valid = parameter["count"], parameter["unit"], parameter["valid"]
        if count == -1:
            choices.append(RESTS)
        elif valid == "rotation":
            choices.append((next(triads),))
        elif valid == "unit vector":
            choices.append((AXIS,))
        elif valid in ("symmetric", "semidefinite"):
            A = np.reshape([*itertools.islice(values, count)], parameter["shape"])
            choices.append(((A @ A.T).ravel(),))
        elif valid == "choice":
            choices.append([(float(i),) for i in range(len(parameter["choices"]))])
        elif parameter["name"] == "value":  # of a control
            choices.append(((3.0,),))
        elif (count, unit) == (1, ""):
            choices.append(((0.0,), (1.0,), (2.0,)))
        elif unit == "kg m^2" and count == 6:
            choices.append((INERTIA,))
        else:
            choices.append((tuple(itertools.islice(values, count)),))
    for pieces in itertools.product(*choices):
        yield tuple(float(value) for piece in pieces for value in piece)


def accepted(row: dict[str, Any], model: Callable[[Element], _core.Model]) -> list[Element]:
    """The elements of a row that a model accepts; if they differ in the number of remaining values, the longest."""
    found: dict[tuple[float, ...], Element] = {}
    fixed = sum(max(parameter["count"], 0) for parameter in row["parameters"])
    for parameters in candidates(row):
        for function in (None, law):
            element = Element(row["name"], parameters, function)
            if parameters[:fixed] not in found and takes(model, element):
                found[parameters[:fixed]] = element
    return list(found.values())


def takes(model: Callable[[Element], _core.Model], element: Element) -> bool:
    """Whether a model can be made with the element."""
    try:
        model(element)
    except ValueError:
        return False
    return True


ON_BODIES = [
    element
    for row in ROWS.values()
    if row["family"] != "body"
    for element in accepted(row, lambda element: rigid(("SE3", "R3xS3"), element))
]
ON_TREES = [
    element
    for row in ROWS.values()
    if row["family"] == "force" and not any(element.kind == row["name"] for element in ON_BODIES)
    for element in accepted(row, tree)
]
SUPPORTS = [
    element
    for row in ROWS.values()
    if row["family"] == "body"
    for element in accepted(row, lambda element: rigid(("SE3", "R3xS3"), element, support=True))
]
JOINTS = [element for element in ON_BODIES if ROWS[element.kind]["family"] == "joint"]


def bodies() -> Iterator[tuple[Element, tuple[str, int]]]:
    """Every row of bodies on every block, a node kind with up to three linear coordinates, that it accepts.

    Supports have no block, and tests/models/test_supports.py tests them.
    """
    for row in ROWS.values():
        if row["family"] == "body":
            for block in itertools.product(NODES, range(4)):
                for element in accepted(row, lambda element, block=block: body_on(block, element)):
                    yield element, block


def body_on(block: tuple[str, int], element: Element) -> _core.Model:
    """A model of this body alone."""
    return core_model([node_and_modes(*block)], [(0, (0.0,) * 6, 0)], [element.on((0,))])


# ---- points ----


def start_of(model: _core.Model) -> np.ndarray:
    """Coordinates at which positions are zero and rotations the identity."""
    pieces = [
        np.zeros(0 if NODES[kind]["position"] == "none" else n) if n else NODES[kind]["identity"]
        for kind, n, *_ in model.factors
    ]
    return np.concatenate(pieces)


def random_point(model: _core.Model, bare: _core.Model, seed: int) -> tuple[np.ndarray, ...]:
    """q, v, a, lam in general position that satisfy the own rows of blocks; `bare` is the model without joints."""
    rng = np.random.default_rng(seed)
    q = model.retract(start_of(model), rng.normal(size=model.nv))
    v, a, lam = rng.normal(size=model.nv), rng.normal(size=model.nv), rng.normal(size=model.nrows)
    q, v = bare.project(0.0, q, v)
    return q, v, a, lam


def random_links(model: _core.Model, rng: np.random.Generator) -> list[np.ndarray]:
    """Matrices of a chain as integrators form them.

    On direct products, positions and rotations are not coupled; R^n has the identity.
    """
    X = [np.eye(model.nv) for _ in range(3)]
    for kind, _, _, first, *_ in model.factors:
        n = NODES[kind]["nv"]
        for matrix in X:
            block = np.eye(n) + 0.3 * rng.normal(size=(n, n))
            if NODES[kind]["position"] == "inertial":
                block[:3], block[3:, :3] = np.eye(3, n), 0
            matrix[first : first + n, first : first + n] = block
    return X


# ---- differences ----


def difference(f: Callable[[float], Any], eps: float = 1e-6) -> Any:
    """Fourth-order central difference of f at 0."""
    return (8 * (f(eps) - f(-eps)) - (f(2 * eps) - f(-2 * eps))) / (12 * eps)


def tangent_and_difference(
    model: _core.Model,
    point: tuple[np.ndarray, ...],
    k: tuple[float, ...],
    X: list[np.ndarray],
    du: np.ndarray,
    eps: float = 1e-6,
    mem: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """S du for a chain, the difference of the residual along it that it has to equal, and the residual."""
    q, v, a, lam = point
    wa = 0.8
    S = model.evaluate(0.0, q, v, a, lam, mem=mem, want=("S",), k=k, X=X, wa=wa)["S"]

    def residual(s: float) -> np.ndarray:
        q1 = model.retract(q, s * k[0] * (X[0] @ du))
        v1, a1 = v + s * k[1] * (X[1] @ du), a + s * k[2] * (X[2] @ du)
        r = model.evaluate(0.0, q1, v1, a1, lam, mem=mem, want=("Ma", "gyro", "force", "Btlam"))
        return wa * r["Ma"] + r["gyro"] - r["force"] + r["Btlam"]

    return S @ du, difference(residual, eps), residual(0.0)
