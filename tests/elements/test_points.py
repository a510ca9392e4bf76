"""Point masses: elements on them against differences, runs against closed forms, and the elements that are refused."""

import numpy as np
import pytest

from bindings.systems import run
from cores import core_model
from elements.rows import AXIS, OTHER, ROWS, TRIAD, accepted, difference, start_of, tangent_and_difference
from elements.test_pairs import check_tangent, undamped
from elements.test_tree import parameters_of, random_links

MASSES = (1.5, 0.7)
BODY = (2.0, 2.0, 3.0, 4.0, 0.1, -0.2, 0.3)
NODE = (0.0,) * 6
OFF_NODE = (0.0, 0, 0, 0.3, -0.2, 0.5)

OTHERS = ("Rn", "ground", "R3xSO3", "SE3", "euler_parameters", "tait_bryan", "tree")


def points(elements, frames=(), n=2):
    """A model of point masses: mass i has block i and frame i; further frames and elements follow."""
    parts = [("point", f"mass{i}", (i,), (MASSES[i % 2],), None) for i in range(n)]
    return core_model([("Rn", 3)] * n, [*[(i, NODE) for i in range(n)], *frames], [*parts, *elements])


def pair(element, other):
    """An element between a frame of another kind and a point mass, which is the last block."""
    blocks = {"ground": [], "tree": [("Rn", 2)]}.get(other, [(other, 3 if other == "Rn" else 0)])
    body = {
        "ground": [],
        "tree": [("tree", "other", (0,), parameters_of(random_links([-1, 0])), None)],
        "Rn": [("point", "other", (0,), (0.7,), None)],
    }.get(other, [("rigid_body", "other", (0,), BODY, None)])
    frame = {"ground": (-1, OFF_NODE), "tree": (0, OFF_NODE, 1), "Rn": (0, NODE)}.get(other, (0, OFF_NODE))
    k = len(blocks)
    frames = [(0, NODE), frame, (k, NODE)]
    ends = (1, 2) if ROWS[element.kind]["nframes"] == 2 else (2,)
    parts = [*body, ("point", "mass", (2,), (1.5,), None), element.on(ends)]
    return core_model([*blocks, ("Rn", 3)], frames, parts)


def state(model, seed):
    rng = np.random.default_rng(seed)
    q = model.retract(start_of(model), rng.normal(size=model.nv))
    v, a, lam = rng.normal(size=model.nv), rng.normal(size=model.nv), rng.normal(size=model.nrows)
    if model.blocks[0][0] == "euler_parameters":
        q[3:7] /= np.linalg.norm(q[3:7])
        v[3:7] -= q[3:7] * (q[3:7] @ v[3:7])
    return q, v, a, lam


ALL = [
    (element, other)
    for other in OTHERS
    for row in ROWS.values()
    if row["family"] != "body"
    for element in accepted(row, lambda element, other=other: pair(element, other))
]
IDS = [f"{element}-{other}" for element, other in ALL]


def test_what_fits_point_masses():
    """An element fits if it needs no rotation of the mass and exerts no moment on it."""
    fits = {"gravity", "force", "spring", "cartesian_spring", "distance", "spherical", "inline"}
    assert {element.kind for element, _ in ALL} >= fits
    assert not {"torque", "revolute", "rigid", "joint_drive"} & {element.kind for element, _ in ALL}


@pytest.mark.parametrize("element, other", ALL, ids=IDS)
def test_rows_are_derivatives(element, other):
    model = pair(element, other)
    q, v, _, _ = state(model, 1)
    got = model.evaluate(0.0, q, v, want=("B", "phidot", "zeta", "Z"))

    def level(name, w):
        return difference(lambda s: model.evaluate(0.0, model.retract(q, s * w), v, want=(name,))[name])

    w = np.random.default_rng(2).normal(size=model.nv)
    assert np.allclose(got["B"] @ w, level("phi", w), rtol=0, atol=1e-8)
    assert np.allclose(got["phidot"], got["B"] @ v, rtol=0, atol=1e-12)
    assert np.allclose(got["zeta"], -level("phidot", v), rtol=0, atol=1e-7)
    assert np.allclose(got["Z"] @ w, level("phidot", w), rtol=0, atol=1e-7)


@pytest.mark.parametrize("element, other", ALL, ids=IDS)
def test_tangent_is_the_derivative_of_the_residual(element, other):
    model = pair(element, other)
    k, rng = (0.3, -0.7, 1.9), np.random.default_rng(4)
    X = [np.eye(model.nv) for _ in range(3)]
    for matrix in X:
        matrix[-3:, -3:] += 0.3 * rng.normal(size=(3, 3))
    got, expected, _ = tangent_and_difference(model, state(model, 3), k, X, rng.normal(size=model.nv))
    assert np.abs(got - expected).max() < 3e-8 * (1 + np.abs(expected).max())


@pytest.mark.parametrize("other", ["Rn", "ground"])
def test_discrete_gradient_between_two_points(other):
    """Its work is the change of the potential; its tangent includes the rotation of the line between the points."""
    element = undamped(next(element for element, _ in ALL if element.kind == "spring"))
    model = pair(element, other)
    q, v, _, lam = state(model, 3)
    step = q, q + 0.5 * v, lam, 0.3
    form = {"equivariant": True}
    force = model.evaluate_pair(0.2, 0.3, *step[:2], want=("force",), **form)["force"]
    V = model.energy(0.0, np.array(step[:2]), np.zeros((2, model.nv)))[1]
    assert abs(V[1] - V[0] + force @ (step[1] - q)) < 1e-14 * (1 + np.abs(V).max())
    check_tangent(model, step, False, **form)


def test_inertia_is_the_mass():
    model = points([])
    q, v, a, _ = state(model, 5)
    got = model.evaluate(0.0, q, v, a, want=("Ma", "gyro", "S"))
    M = np.repeat(MASSES, 3)
    assert np.array_equal(got["Ma"], M * a) and np.array_equal(got["S"], np.diag(M)) and not got["gyro"].any()
    assert np.isclose(model.energy(0.0, q, v)[0], v @ (M * v) / 2, rtol=1e-15)
    x, R, xdot, omega = model.kinematics(1, q, v)
    assert np.array_equal(x, q[3:]) and np.array_equal(xdot, v[3:])
    assert np.array_equal(R, np.eye(3)) and not omega.any()


# ---- motions ----


def test_two_masses_on_a_spring():
    """The masses move along the line between them: their distance oscillates with the reduced mass."""
    m, k, length, stretch, t = np.prod(MASSES) / np.sum(MASSES), 30.0, 1.1, 0.2, 2.0
    n, drift = np.array([0.48, -0.6, 0.64]), np.array([0.3, 0.1, -0.2])
    model = points([("spring", "spring", (0, 1), (k, 0.0, length), None)])
    q = np.concatenate([np.zeros(3), (length + stretch) * n])
    v = np.concatenate([drift, drift])
    end = run(model, "rk44", q, v, t_end=t, h=1e-3)
    a, b = end["q"][-1].reshape(2, 3)
    centre = (MASSES[0] * a + MASSES[1] * b) / sum(MASSES)
    assert np.allclose(centre, MASSES[1] / sum(MASSES) * q[3:] + drift * t, rtol=0, atol=1e-12)
    assert np.allclose(b - a, (length + stretch * np.cos(np.sqrt(k / m) * t)) * n, rtol=0, atol=1e-9)


def dumbbell():
    """Two masses at a fixed distance, with weight; they turn about their centre at a constant rate."""
    length, rate = 1.3, 2.0
    share = np.array([-MASSES[1], MASSES[0]]) / sum(MASSES)  # distances from the centre, as parts of the length
    gravity, push = np.array([0.0, 0.0, -9.81]), np.array([0.5, 0.2, 1.0])
    weights = [("gravity", f"weight{i}", (i,), (MASSES[i], *gravity), None) for i in range(2)]
    model = points([*weights, ("distance", "rod", (0, 1), (length,), None)])

    def exact(t):
        e, across = [np.cos(rate * t), np.sin(rate * t), 0.0], [-np.sin(rate * t), np.cos(rate * t), 0.0]
        q = push * t + gravity * t**2 / 2 + length * np.outer(share, e)
        return q.ravel(), (push + gravity * t + length * rate * np.outer(share, across)).ravel()

    reduced = np.prod(MASSES) / np.sum(MASSES)
    return model, exact, reduced * length * rate**2


@pytest.mark.parametrize("method", ["genalpha", "rk44"])
def test_a_dumbbell_falls_and_turns(method):
    model, exact, tension = dumbbell()
    errors = []
    for h in (0.02, 0.01):
        end = run(model, method, *exact(0.0), t_end=1.0, h=h)
        errors.append(np.abs(end["q"][-1] - exact(1.0)[0]).max())
    order = {"genalpha": 2, "rk44": 4}[method]
    assert abs(np.log2(errors[0] / errors[1]) - order) < 0.3
    q, v = exact(0.3)
    assert np.isclose(abs(model.initial(0.3, q, v)[1][0]), tension, rtol=1e-12)


def test_a_rope_of_masses():
    n = 20
    rods = [("distance", f"rod{i}", (i, i + 1), (1.0,), None) for i in range(n - 1)]
    weights = [("gravity", f"weight{i}", (i,), (MASSES[i % 2], 0, 0, -9.81), None) for i in range(n)]
    hook = ("spherical", "hook", (n, 0), (0.0, *np.eye(3).ravel(), *np.eye(3).ravel()), None)
    model = points([hook, *rods, *weights], frames=[(-1, NODE)], n=n)
    q = np.column_stack([np.arange(n), np.zeros(n), np.zeros(n)]).ravel()
    end = run(model, "genalpha", q, np.zeros(3 * n), t_end=0.3)
    x = end["q"][-1].reshape(n, 3)
    assert end["stats"]["dense_fallbacks"] == 0
    assert np.allclose(np.linalg.norm(np.diff(x, axis=0), axis=1), 1, rtol=0, atol=1e-10) and x[-1, 2] < -0.3


def test_a_mass_is_sufficient_for_its_rod():
    """Around a hub the fill grows linearly: each rod is eliminated after its mass, before the hub."""

    def fill(n):
        blocks = [("R3xSO3", 0), *[("Rn", 3)] * n]
        parts = [("rigid_body", "hub", (0,), BODY, None)]
        parts += [("point", f"mass{i}", (i,), (1.0,), None) for i in range(1, n + 1)]
        parts += [("distance", f"rod{i}", (0, i), (1.0,), None) for i in range(1, n + 1)]
        return core_model(blocks, [(i, NODE) for i in range(n + 1)], parts).matrix_values()

    assert fill(30) - fill(20) == fill(20) - fill(10)


# ---- what does not fit ----

TURNING = [
    ("torque", (0.0, 0.0, 1.0, 2.0, 3.0)),
    ("force", (1.0, 0.0, 1.0, 2.0, 3.0)),
    ("revolute", (0.0, *TRIAD, *OTHER)),
    ("rigid", (0.0, *TRIAD, *OTHER)),
    ("spherical", (1.0, *TRIAD, *OTHER)),
    ("inline", (2.0, *TRIAD, *OTHER)),
    ("joint_drive", (*TRIAD, *OTHER, 3.0, 20.0, 0.7)),
    ("slide_drive", (*AXIS, 0.3, 2.0, 0.7)),
]


@pytest.mark.parametrize("element, parameters", TURNING, ids=[name for name, _ in TURNING])
def test_what_turns_is_refused(element, parameters):
    ends = (0, 1) if ROWS[element]["nframes"] == 2 else (0,)
    with pytest.raises(ValueError, match=r"part: this element needs a body that can turn, and a point mass cannot"):
        points([(element, "part", ends, parameters, None)])


def test_points_that_make_no_sense():
    with pytest.raises(ValueError, match="mass0: a frame cannot be offset from a point mass"):
        points([], frames=[(0, OFF_NODE)])
    with pytest.raises(ValueError, match="mass: a positive number expected"):
        core_model([("Rn", 3)], [(0, NODE)], [("point", "p", (0,), (0.0,), None)])
    for kind, n in (("Rn", 2), ("R3xSO3", 0)):
        with pytest.raises(ValueError, match="kind Rn with three coordinates"):
            core_model([(kind, n)], [(0, NODE)], [("point", "p", (0,), (1.0,), None)])
