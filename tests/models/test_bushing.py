"""Bushings: forces by their formula and by Exudyn, exchanged bodies, curves, large turns, energy and frequencies."""

import numpy as np
import pytest
from scipy.interpolate import PchipInterpolator
from scipy.linalg import eigh
from scipy.spatial.transform import Rotation

import lgint
from kinds import FREE, MOMENTUM
from lgint import groups
from lgint._tools import bench_exudyn

RNG = np.random.default_rng(2)
A = RNG.normal(size=(6, 6))
STIFFNESS = np.diag([100.0, 200, 300, 40, 50, 60]) + A @ A.T
DAMPING = np.diag([1.0, 2, 3, 0.4, 0.5, 0.6]) + 0.1 * A.T @ A
PRELOAD = np.array([5.0, -3, 2, 0.4, -0.3, 0.5])
TABLE = ([-0.2, -0.1, 0.0, 0.3, 0.5], [-40.0, -10.0, 0.0, 20.0, 90.0])
ENDS = [(0.4, 0.1, 0.0), (0.55, 0.0, 0.2)]
TURNS = Rotation.from_rotvec([(0.2, -0.3, 0.1), (0.5, 0.2, -0.3)]).as_matrix()
MOVING = {"a": ((0, 0, 0), (0.3, -0.2, 0.1), (0.4, 0.3, -0.6)), "b": ((1, 0.2, 0), (-0.1, 0.3, 0.2), (-0.3, 0.5, 0.2))}


def pair(formulation="R3xSO3", exchanged=False, **how):
    """Two free bodies with a bushing between two frames that do not coincide."""
    b = lgint.ModelBuilder(formulation=formulation)
    for name, (x, v, w) in MOVING.items():
        b.add_body(name, mass=1.0, inertia=(0.1, 0.2, 0.25), position=x, velocity=v, angular_velocity=w)
        if formulation == "minimal":
            b.add_joint("free", lgint.ground, name, point=x, name=f"root {name}")
    args = {"stiffness": STIFFNESS, "damping": DAMPING, "preload": PRELOAD, "point": ENDS, "rotation": TURNS, **how}
    if exchanged:
        args |= {"preload": -args["preload"], "point": args["point"][::-1], "rotation": args["rotation"][::-1]}
    b.add_bushing(*("ba" if exchanged else "ab"), name="bushing", **args)
    return b.build()


def pose(x, R):
    g = np.eye(4)
    g[:3, :3], g[:3, 3] = R, x
    return g


def by_formula(run, i):
    """The wrenches -T^-T(x) s and T^-T(-x) s on the frames of b and a, in their axes, from the groups' functions."""
    g, twist = [], []
    for name, point, turn in zip("ab", ENDS, TURNS, strict=True):
        x = np.array(point) - MOVING[name][0]
        R = run.rotation(name)[i]
        g.append(pose(run.point(name, x)[i], R @ turn))
        velocity = g[-1][:3, :3].T @ run.point_velocity(name, x)[i]
        twist.append(np.concatenate([velocity, turn.T @ run.angular_velocity(name)[i]]))
    xi = groups.se3.log(np.linalg.inv(g[0]) @ g[1])
    plus, minus = groups.se3.tangent_inv(xi), groups.se3.tangent_inv(-xi)
    s = STIFFNESS @ xi + DAMPING @ (plus @ twist[1] - minus @ twist[0]) - PRELOAD
    return [np.kron(np.eye(2), h[:3, :3]) @ w for h, w in zip(g, (minus.T @ s, -plus.T @ s), strict=True)]


@pytest.mark.parametrize("formulation", [*FREE, "minimal"])
def test_the_forces_are_those_of_the_formula(formulation):
    run = lgint.integrate(pair(formulation), "rk44", t_end=0.2, h=2e-3)
    for i in (0, 60, -1):
        for name, expected in zip("ab", by_formula(run, i), strict=True):
            found = run.force("bushing", on=name)
            assert np.allclose(found.values[i], expected, rtol=0, atol=1e-11 * np.abs(expected).max())
    assert np.allclose(found.point, run.point("b", np.subtract(ENDS[1], MOVING["b"][0])), rtol=0, atol=1e-15)


def test_neither_body_is_preferred():
    one, other = (lgint.integrate(pair(exchanged=x), "genalpha", t_end=0.5, h=1e-3) for x in (False, True))
    assert np.abs(one.q - other.q).max() < 1e-12
    for name in "ab":
        wrenches = [run.force("bushing", on=name).values for run in (one, other)]
        assert np.abs(wrenches[0] - wrenches[1]).max() < 1e-11
    assert np.allclose(one.energy("potential"), other.energy("potential"), rtol=0, atol=1e-12)
    assert np.ptp(one.momentum(), axis=0).max() < 1e-12


def test_energy_goes_into_damping():
    """The power of the bushing is the change of its potential and what damping takes; without damping all is kept."""
    run = lgint.integrate(pair(), "dopri5", t_end=0.5, rtol=1e-10, atol=1e-12, dense_output=True)
    total = run.energy("total")
    assert np.all(np.diff(total) < 0)
    assert np.abs(run.energy("kinetic") - run.energy("kinetic")[0] - run.work("bushing")).max() < 1e-8
    for how in ({}, {"stiffness": [TABLE, 200, 300, 40, 50, TABLE]}):
        free = lgint.integrate(pair(damping=None, **how), "dopri5", t_end=0.5, rtol=1e-11, atol=1e-13)
        assert np.ptp(free.energy("total")) < 1e-8 * np.abs(free.energy("kinetic")).max()


@pytest.mark.parametrize("method", MOMENTUM)
def test_momentum_methods_conserve(method):
    curved = {"stiffness": [TABLE, 200, 300, 40, 50, TABLE], "damping": None}
    run = lgint.integrate(pair("euler_parameters", **curved), method, t_end=0.2, h=0.01)
    assert np.ptp(run.angular_momentum(), axis=0).max() < 1e-12
    assert np.ptp(run.energy()) < 1e-11 or method in ("mpl", "mph")  # midpoint rules


# ---- closed forms ----


@pytest.mark.parametrize("formulation", [*FREE, "minimal"])
def test_frequencies_of_a_body_on_a_bushing(formulation):
    b = lgint.ModelBuilder(formulation=formulation)
    b.add_body("body", mass=2.0, inertia=(0.1, 0.2, 0.25))
    if formulation == "minimal":
        b.add_joint("free", lgint.ground, "body", point=(0, 0, 0), name="free")
    at = np.array([0.3, -0.1, 0.2])
    b.add_bushing(lgint.ground, "body", stiffness=STIFFNESS, point=at, rotation=TURNS[0])
    H = np.kron(np.eye(2), TURNS[0].T) @ np.block([[np.eye(3), -groups.so3.hat(at)], [np.zeros((3, 3)), np.eye(3)]])
    squares = eigh(H.T @ STIFFNESS @ H, np.diag([2.0, 2, 2, 0.1, 0.2, 0.25]), eigvals_only=True)
    found = lgint.linearize(b.build().state()).frequencies
    assert np.allclose(np.sort(found) ** 2, squares, rtol=1e-10, atol=0)


def hanging(**how):
    b = lgint.ModelBuilder(gravity=(0, 0, -9.81))
    b.add_body("load", mass=3.0, inertia=(0.1, 0.1, 0.1))
    b.add_bushing(lgint.ground, "load", point=(0, 0, 0), name="mount", **how)
    return b.build()


def test_a_preload_carries_a_weight():
    """k z = p - m g, and the curve where it has this force."""
    rest = lgint.equilibrium(hanging(stiffness=[500.0] * 6, preload=(0, 0, 9.43, 0, 0, 0)))
    assert np.isclose(rest.position("load")[-1, 2], (9.43 - 3 * 9.81) / 500, rtol=1e-9)
    rest = lgint.equilibrium(hanging(stiffness=[500.0, 500.0, TABLE, 500.0, 500.0, 500.0]))
    z = rest.position("load")[-1, 2]
    assert -0.2 < z < -0.1 and np.isclose(PchipInterpolator(*TABLE)(z), -3 * 9.81, rtol=1e-9)


def test_a_curve_is_that_of_scipy():
    """Force and potential along an axis, between the points; straight lines continue it."""
    spline, x = PchipInterpolator(*TABLE), np.linspace(-0.2, 0.5, 71)
    model = hanging(stiffness=[0.0, 0.0, TABLE, 1.0, 1.0, 1.0])
    weight = 3 * 9.81
    for z in x:
        state = model.state(joints={"load": ((0, 0, z), np.eye(3))})
        assert np.isclose(state.force("mount").force[2], -spline(z), rtol=1e-13, atol=1e-13)
        assert np.isclose(state.energy("potential") - weight * z, spline.integrate(0, z), rtol=1e-12, atol=1e-13)
    for end, beyond in ((-0.2, -0.3), (0.5, 0.9)):
        straight = spline(end) + spline.derivative()(end) * (beyond - end)
        state = model.state(joints={"load": ((0, 0, beyond), np.eye(3))})
        assert np.isclose(state.force("mount").force[2], -straight, rtol=1e-13)


# ---- large turns ----


def spun(moment):
    b = lgint.ModelBuilder()
    b.add_body("wheel", mass=1.0, inertia=(0.1, 0.1, 0.2))
    b.add_bushing(
        lgint.ground, "wheel", stiffness=(100, 100, 100, 5, 5, 2.0), damping=[0.5] * 6, point=(0, 0, 0), name="mount"
    )
    b.add_force("wheel", torque=(0, 0, moment))
    return b.build()


def test_turns_of_more_than_half_a_turn():
    """The moment grows on beyond half a turn, also in a run that is resumed, and a run ends before a full one."""
    whole = lgint.integrate(spun(8.0), "genalpha", t_end=2.0, h=2e-3)
    R = whole.rotation("wheel")
    angle = np.unwrap(np.arctan2(R[:, 1, 0], R[:, 0, 0]))
    expected = -2 * angle - 0.5 * whole.angular_velocity("wheel")[:, 2]
    assert angle[-1] > 3.7 and np.allclose(whole.force("mount").moment[:, 2], expected, rtol=0, atol=1e-11)
    first = lgint.integrate(spun(8.0), "genalpha", t_end=1.8, h=2e-3)
    rest = lgint.integrate(first.model, "genalpha", t_end=2.0, h=2e-3, start=first)
    assert rest.q[-1].tobytes() == whole.q[-1].tobytes()
    with pytest.raises(lgint.IntegrationError, match="the sides of mount have turned by more than 330 degrees"):
        lgint.integrate(spun(14.0), "genalpha", t_end=10.0, h=2e-3)


def test_a_start_at_half_a_turn_has_no_side():
    b = lgint.ModelBuilder()
    b.add_body("wheel", mass=1.0, inertia=(0.1, 0.1, 0.2))
    turns = [np.eye(3), np.diag([-1.0, -1.0, 1.0])]
    b.add_bushing(lgint.ground, "wheel", stiffness=[1.0] * 6, point=(0, 0, 0), rotation=turns, name="mount")
    with pytest.raises(ValueError, match="mount starts half a turn from its rotation without moment"):
        b.build()


# ---- Exudyn ----


def by_exudyn(exudyn, R, r, turn, K, C, moving):
    """The forces, inertial, and moments, in body axes, on two bodies of unit inertia at their COMs."""
    a = np.array([0.1, 0.2, 0.3])
    poses = (a, R), (a + R @ r, R @ Rotation.from_rotvec(turn).as_matrix())

    def build(peer):
        bodies = [peer.body(1.0, (1, 1, 1), x, *v, R) for (x, R), v in zip(poses, moving, strict=True)]
        peer.mbs.AddObject(
            peer.items.ObjectConnectorRigidBodySpringDamper(
                markerNumbers=[peer.marker(body, (0, 0, 0)) for body in bodies],
                stiffness=np.diag(K),
                damping=np.diag(C),
                useIntrinsicFormulation=True,
            )
        )

    peer = bench_exudyn.Peer(exudyn, build)
    solver, settings = exudyn.MainSolverImplicitSecondOrder(), exudyn.SimulationSettings()
    settings.solutionSettings.writeSolutionToFile = False
    settings.timeIntegration.verboseMode = 0
    solver.InitializeSolver(peer.mbs, settings)
    solver.ComputeODE2RHS(peer.mbs)
    return poses, np.reshape(np.array(solver.GetSystemResidual())[:12], (2, 6))


K, C, SAME = (100.0, 200, 300, 40, 50, 60), (1.0, 2, 3, 0.4, 0.5, 0.6), (100.0, 100, 100, 50, 50, 50)
STILL = ((np.zeros(3), np.zeros(3)),) * 2
GOING = (((0.3, -0.2, 0.1), (0.4, 0.3, -0.6)), ((-0.1, 0.3, 0.2), (-0.3, 0.5, 0.2)))
CASES = {
    "displaced": ((0.1, 0.2, 0.3), (0, 0, 0), K, C, STILL),
    "a screw about one axis": ((0, 0, 0.3), (0, 0, 0.4), K, C, STILL),
    "turned": ((0, 0, 0), (0.2, -0.3, 0.4), SAME, C, STILL),
    "moving": ((0, 0, 0), (0, 0, 0), K, C, GOING),
}


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # Exudyn's own
@pytest.mark.parametrize("case", CASES)
def test_against_exudyn(case):
    """Both take the logarithm of the relative pose. Exudyn puts the forces along it into the mean frame.

    That agrees with the gradient of the potential where x and K x are along the same screw, but not in general, where
    Exudyn's forces have no potential.
    """
    if (exudyn := bench_exudyn.load()) is None:
        pytest.skip("Exudyn is not installed")
    r, turn, K, C, moving = CASES[case]
    R = Rotation.from_rotvec([0.3, 0.2, -0.4]).as_matrix()
    poses, expected = by_exudyn(exudyn, R, np.array(r), turn, K, C, moving)
    b = lgint.ModelBuilder()
    for name, (x, R), (v, w) in zip("ab", poses, moving, strict=True):
        b.add_body(name, mass=1.0, inertia=(1, 1, 1), position=x, rotation=R, velocity=v, angular_velocity=w)
    where = {"point": [x for x, _ in poses], "rotation": [R for _, R in poses]}
    b.add_bushing("a", "b", stiffness=K, damping=C, name="bushing", **where)
    state = b.build().state()
    for name, (_, R), forces in zip("ab", poses, expected, strict=True):
        found = state.force("bushing", on=name)
        assert np.allclose(found.force, forces[:3], rtol=0, atol=1e-10)
        assert np.allclose(R.T @ found.moment, forces[3:], rtol=0, atol=1e-10)


# ---- arguments ----

WRONG = [
    ({"stiffness": [1.0] * 5}, r"stiffness of 'bushing': shape \(6, 6\) or \(6,\) expected, got \(5,\)"),
    ({"stiffness": [-1.0] * 6}, "a symmetric matrix without negative eigenvalues expected"),
    (
        {"stiffness": [([0, 0], [1, 2]), 1, 1, 1, 1, 1]},
        "axis 0: at least two values, ascending",
    ),
    ({"stiffness": [([0, 1], [1]), 1, 1, 1, 1, 1]}, r"second values of stiffness of 'bushing', axis 0: shape \(2,\)"),
    ({"rotation": np.ones((3, 3))}, "rotation of 'bushing'"),
    ({"point": (0, 0)}, r"point of 'bushing': shape \(3,\) or \(2, 3\) expected"),
    ({"preload": 1.0}, r"preload of 'bushing': shape \(6,\) expected"),
]


@pytest.mark.parametrize(("how", "message"), WRONG)
def test_bad_arguments(how, message):
    with pytest.raises(ValueError, match=message):
        pair(**how)


def test_a_bushing_that_exerts_nothing_is_refused():
    b = lgint.ModelBuilder()
    b.add_body("body", mass=1.0, inertia=(1, 1, 1))
    for values in ({}, {"damping": np.zeros(6)}, {"damping": np.zeros((6, 6)), "preload": (0,) * 6}):
        with pytest.raises(ValueError, match="stiffness of 'mount': only zeros, .*: give one of them"):
            b.add_bushing(lgint.ground, "body", stiffness=(0,) * 6, point=(0, 0, 0), name="mount", **values)
    for values in ({"damping": (1,) + (0,) * 5}, {"preload": (1,) + (0,) * 5}):
        b.add_bushing(lgint.ground, "body", stiffness=(0,) * 6, point=(0, 0, 0), **values)
