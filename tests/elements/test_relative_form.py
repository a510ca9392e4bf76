"""The conserving form of a step in NumPy, which only uses what elements exert at rest."""

import numpy as np
import pytest

import lgint
from elements.rows import JOINTS, ROWS, rigid
from elements.test_pairs import KINDS, random_step, undamped

so3, s3 = lgint.groups.so3, lgint.groups.s3
ARMS = np.array([(0.3, -0.2, 0.1), (-0.7, -0.2, 0.6)])  # of the two frames: rows.rigid
T, H = 0.2, 0.3
WITH_AXES = [e for e in JOINTS if e.kind != "distance" and e.parameters[0] != 0]  # those of a body


def turns(e):
    """d(turn) = turns(e) de, along inertial axes."""
    w, v = e[0], e[1:]
    return 2 / (e @ e) * np.hstack([-v[:, None], w * np.eye(3) + so3.hat(v)])


def frames(q):
    """Points of the two frames and rotations of their bodies."""
    x, e = np.split(q.reshape(2, 7), [3], axis=1)
    R = [s3.rotation(of) for of in e]
    return [x[i] + R[i] @ ARMS[i] for i in range(2)], R


def relative(q, a):
    (p, R), b = frames(q), 1 - a
    return R[a].T @ (p[b] - p[a]), R[a].T @ R[b]


def placed(r, S, a):
    """Coordinates at which frame a is at the origin, with the inertial axes, and the other one at (r, S)."""
    q, b = np.zeros((2, 7)), 1 - a
    q[a] = [*-ARMS[a], 1, 0, 0, 0]
    q[b] = [*(r - S @ ARMS[b]), *s3.exp(so3.log(S))]
    return q.ravel()


def wrench_on_other(generalized, S, q, a):
    """Force in the axes of frame a, and moment in those of the other frame, from forces on velocities."""
    b = 1 - a
    F, on_e = np.split(generalized.reshape(2, 7)[b], [3])
    e = q.reshape(2, 7)[b, 3:]
    moment = turns(e) @ on_e / 4 - np.cross(S @ ARMS[b], F)  # turns turns^T = 4
    return np.concatenate([F, S.T @ moment])


def spread(fm, q0, q1, a, S_m, beta):
    """Forces on the velocities of both bodies."""
    b, out = 1 - a, np.zeros((2, 7))
    (p0, R0), (p1, R1) = frames(q0), frames(q1)
    mean = [0.5 * (R0[i] + R1[i]) for i in range(2)]
    d = 0.5 * (p0[b] - p0[a] + p1[b] - p1[a])
    angle = np.linalg.norm(beta)
    product = mean[a] @ S_m @ so3.hat(fm[3:]) @ mean[b].T
    on_b = angle / (2 * np.sin(angle / 2)) * so3.vee(0.5 * (product - product.T))
    F = mean[a] @ fm[:3]
    for i, force, moment in ((b, F, on_b), (a, -F, -on_b - np.cross(d, F))):
        e = 0.5 * (q0 + q1).reshape(2, 7)[i, 3:]
        out[i] = [*force, *(turns(e).T @ (moment + np.cross(mean[i] @ ARMS[i], force)))]
    return out.ravel()


def discrete(gradient_at, change, q0, q1, a):
    """The gradient in the step of a function that changes as given, on the velocities of both bodies."""
    (r0, S0), (r1, S1) = relative(q0, a), relative(q1, a)
    beta = so3.log(S0.T @ S1)
    y, S_m = np.concatenate([r1 - r0, beta]), S0 @ so3.exp(beta / 2)
    middle = placed(0.5 * (r0 + r1), S_m, a)
    g = wrench_on_other(gradient_at(middle), S_m, middle, a)
    Wy = y * np.repeat([1.0, r0 @ r0 + np.sum(ARMS**2)], 3)
    return spread(g + (change - g @ y) / (y @ Wy) * Wy, q0, q1, a, S_m, beta)


@pytest.mark.parametrize("length", [0.05, 0.5])
@pytest.mark.parametrize("element", WITH_AXES, ids=str)
def test_elements_between_bodies(element, length):
    """`carrier` chooses the body in whose axes rows are; otherwise it is the first one."""
    model, n = rigid(KINDS[0], undamped(element)), ROWS[element.kind]["nrows"]
    q0, q1, lam, _ = random_step(model, rigid(KINDS[0]), 4, length)
    a = int(len(element.parameters) == 19 and element.parameters[0] == 2)
    got = model.evaluate_pair(T, H, q0, q1, lam=lam, equivariant=True, want=("force", "G", "phi"))
    start = model.evaluate_pair(T, H, q0, q0, lam=lam, equivariant=True, want=("phi",))["phi"]
    V = model.energy(T, np.array([q0, q1]), np.zeros((2, 14)))[1]

    def at_rest(name):
        return lambda q: model.evaluate(T + H / 2, q, 0 * q, want=(name,))[name]

    changes = [-np.diff(V)[0], *(got["phi"] - start)[:n]]
    gradients = [at_rest("force"), *(lambda q, i=i: at_rest("B")(q)[i] for i in range(n))]
    for found, gradient, change in zip([got["force"], *got["G"]], gradients, changes, strict=False):
        expected = discrete(gradient, change, q0, q1, a)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-13 * (1 + np.abs(expected).max()))


def test_tangents_are_continuous_in_the_angle():
    """Small angles have a series of the derivative of |beta|/(2 sin(|beta|/2)): it ends at 0.1, where both agree."""
    model = rigid(KINDS[0], next(element for element in WITH_AXES if element.kind == "edge"))
    q0, _, lam, _ = random_step(model, rigid(KINDS[0]), 4)
    x, e = np.split(q0.reshape(2, 7), [3], axis=1)
    tangents = []
    for angle in (0.1 - 1e-14, 0.1 + 1e-14):
        turned = s3.compose(e[1], s3.exp(angle * np.array([2, -1, 2]) / 3))
        q1 = np.concatenate([x[0], e[0], x[1], turned])
        tangents.append(model.evaluate_pair(T, H, q0, q1, lam=lam, equivariant=True, want=("S",))["S"])
    assert np.abs(np.diff(tangents, axis=0)).max() < 1e-12 * np.abs(tangents).max()
