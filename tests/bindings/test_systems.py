"""System, Model and CallableSystem at single points and over batches."""

import numpy as np
import pytest

from bindings.systems import GRAVITY, model, pendulum, top, top_start
from lgint import _core

BALL = ("spherical", "ball", [2, 1], [0.0, *np.eye(3).ravel(), *np.eye(3).ravel()], None)
VERBS = ["Ma", "gyro", "force", "Btlam", "phi", "phidot", "zeta", "B", "Z", "S"]


def test_the_verbs_of_the_pendulum_are_those_on_paper(rng):
    q, v, a, lam, k = *rng.normal(size=(3, 2)), rng.normal(size=1), rng.normal(size=3)
    X = rng.normal(size=(3, 2, 2))
    got = pendulum().evaluate(0.0, q, v, a, lam, want=VERBS, k=k, X=X, wa=0.7)
    expected = {
        "Ma": a,
        "gyro": [0, 0],
        "force": [0, -GRAVITY],
        "Btlam": lam * q,
        "phi": [0.5 * (q @ q - 1)],
        "phidot": [q @ v],
        "zeta": [-(v @ v)],
        "B": [q],
        "Z": [v],
        "S": lam[0] * k[0] * X[0] + 0.7 * k[2] * X[2],
    }
    for name in VERBS:
        assert got[name] == pytest.approx(np.array(expected[name]), abs=1e-8), name


def test_a_users_tangent_is_used(rng):
    K, D = rng.normal(size=(2, 3, 3))
    system = _core.CallableSystem(
        [("SO3", 0)],
        0,
        {
            "mass": lambda t, q: np.diag([1.0, 2, 3]),
            "force": lambda t, q, v: np.zeros(3),
            "tangent": lambda t, q, v, a, lam: (K, D),
        },
        (),
    )
    point = 0.0, np.eye(3).ravel(), np.zeros(3), np.zeros(3)
    S = system.evaluate(*point, want=["S"], k=(2, 3, 4))["S"]
    assert pytest.approx(2 * K + 3 * D + 4 * np.diag([1.0, 2, 3])) == S
    half = system.evaluate(*point, want=["S"], k=(2, 3, 4), wa=0.5)["S"]
    assert half == pytest.approx(2 * np.diag([1.0, 2, 3]), abs=1e-8)  # K holds for wa = 1: differences are used


def as_callable(core, kind):
    """A copy of the system whose functions are Python functions that evaluate the compiled one."""

    def ask(name):
        def verb(t, q, v=None):
            return core.evaluate(t, q, np.zeros(core.nv) if v is None else v, want=[name])[name][slice_of[name]]

        return verb

    joint = core.nrows - core.blocks[0][4]
    slice_of = {"gyro": slice(None), "force": slice(None), "phi": slice(joint), "B": slice(joint)}

    def mass(t, q):
        columns = [core.evaluate(t, q, np.zeros(core.nv), e, want=["Ma"])["Ma"] for e in np.eye(core.nv)]
        return np.array(columns).T

    names = {"force": "force", "gyro": "gyro", "constraint": "phi", "constraint_jacobian": "B"}
    functions = {name: ask(term) for name, term in names.items()}
    return _core.CallableSystem([(kind, 0)], joint, {"mass": mass, **functions}, ())


@pytest.mark.parametrize("kind", ["R3xSO3", "SE3", "S3R3", "euler_parameters"])
def test_differences_agree_with_the_compiled_verbs(kind, rng):
    core = model(BALL, kind=kind)
    twin = as_callable(core, kind)
    assert (twin.nq, twin.nv, twin.nrows) == (core.nq, core.nv, core.nrows)
    assert [block[:5] for block in twin.blocks] == [block[:5] for block in core.blocks]

    theta, v, a = rng.normal(size=(3, core.nv))
    q = core.retract(identity(kind), 0.3 * theta)
    lam, X = rng.normal(size=core.nrows), rng.normal(size=(3, core.nv, core.nv))
    if kind in ("R3xSO3", "euler_parameters"):  # integrators give these kinds links of the form diag(I, X_r)
        X[:, :3], X[:, :, :3], X[:, :3, :3] = 0, 0, np.eye(3)
    for k in np.eye(3).tolist() + [[0.3, -0.7, 1.1]]:
        arguments = dict(want=VERBS, k=k, X=X, wa=0.8)
        expected, got = (s.evaluate(0.0, q, v, a, lam, **arguments) for s in (core, twin))
        for name in VERBS:
            tolerance = 2e-8 if name in ("S", "Z", "zeta") else 1e-12
            scale = 1 + np.abs(expected[name]).max(initial=0.0)
            assert np.abs(got[name] - expected[name]).max(initial=0.0) < tolerance * scale, (name, k)


def identity(kind):
    """The unit element of a node kind, as it is stored."""
    rotation = np.eye(3).ravel() if kind in ("R3xSO3", "SE3") else np.array([1.0, 0, 0, 0])
    return np.concatenate([np.zeros(3), rotation])


def test_rheonomic_constraints_by_differences():
    system = _core.CallableSystem(
        [("Rn", 1)],
        1,
        {
            "mass": lambda t, q: [[1.0]],
            "force": lambda t, q, v: [0.0],
            "constraint": lambda t, q: [q[0] - np.sin(2 * t)],
            "constraint_jacobian": lambda t, q: [[1.0]],
        },
        (),
    )
    got = system.evaluate(0.3, [0.0], [0.5], want=["phidot", "zeta"])
    assert got["phidot"] == pytest.approx([0.5 - 2 * np.cos(0.6)], abs=1e-10)
    assert got["zeta"] == pytest.approx([-4 * np.sin(0.6)], abs=1e-6)


# ---- batches ----


def test_leading_axes_go_through(rng):
    core = top()
    q0, v0 = top_start()
    theta, v = 0.1 * rng.normal(size=(2, 4, 3, core.nv))
    q = core.retract(np.broadcast_to(q0, (4, 3, 12)), theta)
    assert q.shape == (4, 3, 12)
    assert core.difference(np.broadcast_to(q0, q.shape), q) == pytest.approx(theta, abs=1e-14)
    assert core.retract(q0, theta).tobytes() == q.tobytes()  # the batch has the bits of single calls

    T, V = core.energy(0.0, q, v)
    phi, phidot = core.residual(np.zeros((4, 3)), q, v)
    x, R, xdot, omega = core.kinematics(1, q, v)
    wrench = core.reaction(2, 1, 0.0, q, v, np.ones(3))
    assert T.shape == V.shape == (4, 3) and phi.shape == phidot.shape == (4, 3, 3)
    assert x.shape == xdot.shape == omega.shape == (4, 3, 3) and R.shape == (4, 3, 3, 3)
    assert wrench.shape == (4, 3, 6)

    for i in np.ndindex(4, 3):
        assert (T[i], V[i]) == tuple(float(x) for x in core.energy(0.0, q[i], v[i]))
        one = core.evaluate(0.0, q[i], v[i], want=["phi", "phidot"])
        assert phi[i].tolist() == one["phi"].tolist() and phidot[i].tolist() == one["phidot"].tolist()
        assert x[i] == pytest.approx(q[i][:3] - q[i][3:].reshape(3, 3)[:, 2])
        assert R[i].ravel().tolist() == q[i][3:].tolist() and omega[i] == pytest.approx(v[i][3:])


def test_terms_go_over_leading_axes(rng):
    core = model(BALL, kind="euler_parameters")
    q, v = rng.normal(size=(2, 3, 7)), rng.normal(size=(2, 3, 7))
    k, t, load, h = rng.normal(size=(2, 3, 3)), *rng.normal(size=(2, 2, 3)), rng.uniform(0.1, 1.0, size=(2, 3))
    X = np.einsum("abi,ij->abij", rng.normal(size=(2, 3, 7)), np.eye(7))[:, :, None] * np.ones((3, 1, 1))
    terms = core.evaluate(t, q, v, v, np.ones(4), k=k, X=X, load=load)
    pair = core.evaluate_pair(t, h, q, q[:, ::-1], lam=np.ones(4))
    assert list(terms) == VERBS and terms["B"].shape == (2, 3, 4, 7)
    assert list(pair) == ["force", "Gtlam", "phi", "G", "B", "S"] and pair["phi"].shape == (2, 3, 4)
    for i in np.ndindex(2, 3):
        one = core.evaluate(t[i], q[i], v[i], v[i], np.ones(4), k=k[i], X=X[i], load=load[i])
        step = core.evaluate_pair(t[i], h[i], q[i], q[:, ::-1][i], lam=np.ones(4))
        assert all(terms[name][i].tobytes() == one[name].tobytes() for name in VERBS)
        assert all(pair[name][i].tobytes() == step[name].tobytes() for name in pair)


def test_only_what_is_wanted_is_returned():
    core, (q, v) = top(), top_start()
    everything = core.evaluate(0.0, q, v)
    for want in ("Ma", ["Ma"], ("S", "phi", "S"), []):
        got = core.evaluate(0.0, q, v, want=want)
        assert set(got) == ({want} if isinstance(want, str) else set(want))
        assert all(got[name].tobytes() == everything[name].tobytes() for name in got)
    default = core.evaluate(0.0, q, v, None, None, mem=None, want=None, k=(0, 0, 1), X=[np.eye(6)] * 3, t_in=None)
    assert all(default[name].tobytes() == everything[name].tobytes() for name in VERBS)


def test_a_list_of_frames_adds_an_axis(rng):
    core = top()
    q0, v0 = top_start()
    q = core.retract(np.broadcast_to(q0, (4, 12)), rng.normal(size=(4, 6)))
    for listed in ([1, 0, 1], (1, 0, 1), np.array([1, 0, 1])):
        many = core.kinematics(listed, q, v0, np.zeros(4))
        assert [x.shape for x in many] == [(4, 3, 3), (4, 3, 3, 3), (4, 3, 3), (4, 3, 3)]
        for i, frame in enumerate((1, 0, np.int64(1))):
            for some, one in zip(many, core.kinematics(frame, q, v0), strict=True):
                assert np.ascontiguousarray(some[:, i]).tobytes() == one.tobytes()
    assert [x.shape for x in core.kinematics([], q, v0)] == [(4, 0, 3), (4, 0, 3, 3), (4, 0, 3), (4, 0, 3)]


def test_solves_at_many_points_are_those_at_each(rng):
    core = top()
    q0, v0 = top_start()
    q = core.retract(np.broadcast_to(q0, (4, 12)), 0.1 * rng.normal(size=(4, 6)))
    q, v = core.project(0.0, q, v0 + rng.normal(size=(4, 6)))
    a, lam = core.initial(0.0, q, v)
    assert np.abs(core.residual(0.0, q, v)).max() < 1e-10
    assert a.shape == (4, 6) and lam.shape == (4, 3)
    for i in range(4):
        one = core.initial(0.0, q[i], v[i])
        assert a[i].tobytes() == one[0].tobytes() and lam[i].tobytes() == one[1].tobytes()


def test_energy_is_kinetic_then_potential():
    q, v = top_start()
    T, V = top().energy(0.0, q, v)
    assert float(T) == pytest.approx(0.5 * (2 * v[:3] @ v[:3] + v[3:] @ (np.array([0.3, 0.4, 0.5]) * v[3:])))
    assert float(V) == pytest.approx(2 * GRAVITY * q[2])


def test_empty_batches_stay_empty():
    core = top()
    T, _ = core.energy(0.0, np.empty((0, 12)), np.empty((0, 6)))
    assert T.shape == (0,) and core.kinematics(0, np.empty((0, 12)), np.empty((0, 6)))[1].shape == (0, 3, 3)


BAD_CALLS = [
    (lambda s: s.retract(np.zeros((2, 12)), np.zeros((3, 6))), "leading axes of theta"),
    (lambda s: s.retract(np.zeros(12), np.zeros(5)), r"theta must have shape \(..., 6\), given \(5\,\)"),
    (lambda s: s.difference(np.zeros(11), np.zeros(12)), r"q0 must have shape \(..., 12\)"),
    (lambda s: s.kinematics(3, np.zeros(12), np.zeros(6)), "frame must be from 0 to 2, given 3"),
    (lambda s: s.kinematics([0, -1], np.zeros(12), np.zeros(6)), "frame must be from 0 to 2, given -1"),
    (lambda s: s.kinematics([1.5], np.zeros(12), np.zeros(6)), "frames must be an integer below .*, given 1.5"),
    (lambda s: s.kinematics(2**40, np.zeros(12), np.zeros(6)), "frames must be an integer below .*, given 1099511"),
    (lambda s: s.strain([0], 0.0, *top_start(), np.zeros(3)), "element 0 is not an edge of a rod"),
    (lambda s: s.transmitted(0, 0, 0.0, *top_start(), np.zeros(6), np.zeros(3), [], 1, 0), "element 0 is not a tree"),
    (lambda s: s.reaction(9, 0, 0.0, np.zeros(12), np.zeros(6), np.zeros(3)), "element must be from 0 to 2"),
    (lambda s: s.reaction(2, 2, 0.0, np.zeros(12), np.zeros(6), np.zeros(3)), "slot must be from 0 to 1"),
    (lambda s: s.evaluate_pair(0.0, 0.1, np.zeros(12), np.zeros(12)), "this system has no terms of a step"),
    (lambda s: s.rows(-1), "element must be from 0 to 2"),
    (
        lambda s: s.evaluate(0.0, np.zeros(12), np.zeros(6), want=["M"]),
        "want must be a sequence of names out of Ma, .*'M'",
    ),
    (lambda s: s.evaluate(0.0, np.zeros(12), np.zeros(6), want=3), "want must be a sequence"),
    (lambda s: s.evaluate(0.0, np.zeros(12), np.zeros(6), want=["S"], k=[1, 2]), r"k must have shape \(..., 3\)"),
    (
        lambda s: s.evaluate(0.0, np.zeros(12), np.zeros(6), want=["S"], X=[None]),
        "X must be real numbers",
    ),
    (lambda s: s.evaluate(0.0, np.zeros(12), np.zeros(6), want=["S"], X=np.ones((3, 6, 5))), r"X must have shape"),
    (lambda s: s.initial(np.nan, *top_start()), "t must be finite"),
    (lambda s: s.initial(0.0, top_start()[0], np.ones(6)), r"violates.*velocity level"),
]


@pytest.mark.parametrize("call, message", BAD_CALLS)
def test_bad_arguments_of_one_point_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call(top())


# ---- solves at one point ----


def test_initial_satisfies_the_equations():
    core, (q, v) = top(), top_start()
    a, lam = core.initial(0.0, q, v)
    got = core.evaluate(0.0, q, v, a, lam, want=["Ma", "gyro", "force", "Btlam", "B", "zeta"])
    assert got["Ma"] + got["gyro"] - got["force"] + got["Btlam"] == pytest.approx(np.zeros(6), abs=1e-10)
    assert got["B"] @ a == pytest.approx(got["zeta"], abs=1e-10)
    assert core.solve_dense_count() == 0


def test_project_moves_onto_the_constraints_and_no_further(rng):
    core, (q, v) = top(), top_start()
    assert [x.tobytes() for x in core.project(0.0, q, v)] == [q.tobytes(), v.tobytes()] or np.allclose(
        core.project(0.0, q, v)[1], v, atol=1e-13
    )
    q1, v1 = core.retract(q, 1e-3 * rng.normal(size=6)), v + rng.normal(size=6)
    q2, v2 = core.project(0.0, q1, v1)
    phi, phidot = core.residual(0.0, q2, v2)
    assert np.abs(phi).max() < 1e-14 and np.abs(phidot).max() < 1e-12
    assert core.project(0.0, q1, v1, position=False)[0].tobytes() == q1.tobytes()
    assert core.project(0.0, q1, v1, velocity=False)[1].tobytes() == v1.tobytes()

    got = core.evaluate(0.0, q2, v2, v2 - v1, want=["Ma", "B"])
    along = np.linalg.lstsq(got["B"].T, got["Ma"], rcond=None)
    assert along[1].size == 1 or np.abs(got["B"].T @ along[0] - got["Ma"]).max() < 1e-9  # M dv lies in the range of B^T


def test_rows_and_names():
    core = top()
    assert core.rows(2) == (0, 3, 0, 0) and core.rows(0)[1] == 0
    assert len(core.row_names) == core.nrows == 3 and all(name.startswith("ball") for name in core.row_names)
    assert core.blocks == [("R3xSO3", 0, 0, 0, 0, 3)] and core.constant_mass is True
    assert (core.nq, core.nv, core.nmem) == (12, 6, 0)


def test_reaction_of_the_resting_top_carries_its_weight():
    core = top()
    q, v = np.array([0, 0, 1.0, *np.eye(3).ravel()]), np.zeros(6)
    _, lam = core.initial(0.0, q, v)
    assert core.reaction(2, 1, 0.0, q, v, lam) == pytest.approx([0, 0, 2 * GRAVITY, 0, 0, 0], abs=1e-12)
    assert core.reaction(2, 0, 0.0, q, v, lam)[:3] == pytest.approx([0, 0, -2 * GRAVITY], abs=1e-12)
    assert not core.reaction(0, 0, 0.0, q, v, lam).any()
