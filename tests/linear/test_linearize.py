"""Linearised systems: in every formulation, against values from other sources, against differences, and refusals."""

import numpy as np
import pytest
from scipy.linalg import expm

import lgint
from kinds import FREE
from lgint._linear import terms as linear_terms
from lgint._linear.course import held
from lgint._linear.frame import Frame
from lgint._linear.linearization import terms_of
from linear.spinning import FORMULATIONS, GOVERNOR, MAST, ROTOR, governor, mast, rotor
from models.test_redundant import parallelogram, parallelogram_q

pytestmark = pytest.mark.filterwarnings("ignore:inertia of:UserWarning")


def follower(formulation, rate=20.0):
    """Two bars under a follower force, with dampers and a rotor: gyroscopic, circulatory and dissipative."""
    b = lgint.ModelBuilder(gravity=(-9.81, 0, 0), formulation=formulation)
    b.add_body("lower", mass=2.0, inertia=(0.05, 0.3, 0.35), position=(0.5, 0, 0))
    b.add_joint("spherical", lgint.ground, "lower", point=(0, 0, 0), name="foot")
    b.add_body("upper", mass=1.5, inertia=(0.04, 0.2, 0.25), position=(1.5, 0, 0))
    b.add_joint("spherical", "lower", "upper", point=(1, 0, 0), name="knee")
    for name, x, k, d in (("lower", 0.4, (300, 900, 700), (1, 5, 3)), ("upper", 1.8, (0, 400, 800), (0, 2, 4))):
        b.add_cartesian_spring(lgint.ground, name, stiffness=k, damping=d, point=(x, 0.1, 0.2), name=f"at {name}")
    b.add_force("upper", force=(-100.0, 0, 0), local_point=(0.5, 0, 0), frame="body", name="push")
    b.add_body("rotor", mass=1.0, inertia=(0.2, 0.1, 0.1), position=(1.2, 0, 0), angular_velocity=(rate, 0, 0))
    b.add_joint("revolute", "upper", "rotor", point=(1.2, 0, 0), axis=(1, 0, 0), name="bearing")
    return b.build()


SYSTEMS = {
    "governor": (governor, "spindle"),
    "rotor": (lambda formulation: rotor(formulation, damping=20.0), "ground"),
    "mast": (mast, lgint.ground),
    "follower": (follower, "ground"),
}


def linearized(name, formulation, **ports):
    system, frame = SYSTEMS[name]
    return lgint.linearize(system(formulation).state(), frame=frame, **ports)


def relative(found, expected):
    return np.abs(found - expected).max() / np.abs(expected).max()


# ---- values from other sources ----


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_the_governor_oscillates_as_a_model_of_two_coordinates_does(formulation):
    found = lgint.linearize(governor(formulation).state(), frame="spindle").eigenvalues
    assert np.abs(found - GOVERNOR).min() < 1e-6
    assert np.abs(found - np.conj(GOVERNOR)).min() < 1e-6
    assert np.sort(np.abs(found))[:2].max() < 1e-5  # the spindle may be turned


def hanging_cart(formulation, push, tilt):
    """A cart under a constant force, with a wheel that spins, and a bob that hangs at an angle."""
    b = lgint.ModelBuilder(gravity=(0, 0, -9.81), formulation=formulation)
    b.add_body("cart", mass=4.0, inertia=(0.1, 0.1, 0.1))
    b.add_joint("prismatic", lgint.ground, "cart", point=(0, 0, 0), axis=(1, 0, 0), name="rail")
    b.add_body("wheel", mass=1.0, inertia=(0.2, 0.1, 0.1), angular_velocity=(20.0, 0, 0))
    b.add_joint("revolute", "cart", "wheel", point=(0, 0, 0), axis=(1, 0, 0), name="axle")
    b.add_body("bob", mass=2.0, inertia=(0.1, 0.1, 0.1), position=(-0.5 * np.sin(tilt), 0, -0.5 * np.cos(tilt)))
    b.add_joint("revolute", "cart", "bob", point=(0, 0, 0), axis=(0, 1, 0), name="pin")
    b.add_force("cart", force=(push, 0, 0))
    return b.build(start="project")


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_a_cart_that_accelerates_steadily_is_time_invariant(formulation):
    """The equations of its perturbations have constant coefficients where the bob hangs along g - a, and only there."""
    g, a, M, m, arm, J = 9.81, 3.0, 5.0, 2.0, 0.5, 0.1
    tilt = np.arctan2(a, g)
    found = lgint.linearize(hanging_cart(formulation, (M + m) * a, tilt).state()).eigenvalues
    mass = (M + m) * (m * arm**2 + J) - (m * arm * np.cos(tilt)) ** 2
    frequency = np.sqrt(m * arm * np.hypot(g, a) * (M + m) / mass)
    assert np.abs(found - 1j * frequency).min() < 1e-9
    with pytest.raises(ValueError, match="not time-invariant in the frame at rest"):
        lgint.linearize(hanging_cart(formulation, (M + m) * a, 0.1).state())


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_the_rotor_has_the_frequencies_of_the_closed_form(formulation):
    found = lgint.linearize(rotor(formulation).state())
    axial = np.sqrt(1e6 / 10)
    assert np.abs(found.frequencies - np.sort([*ROTOR, axial])).max() < 5.1e-5
    assert np.abs(found.damping_ratios).max() < 1e-9


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_the_mast_with_a_rotor_has_the_frequencies_that_runs_show(formulation):
    assert np.abs(lgint.linearize(mast(formulation).state()).frequencies - MAST).max() < 5.1e-3


def test_a_run_of_the_mast_shows_both_frequencies():
    """The spectrum of a small motion has its peaks there, and not where axes that turn with each body put them."""
    model = mast("R3xSO3")
    moved = model.with_state(model.q0, model.v0 + 1e-4 * np.eye(model.nv)[3], project=True)
    run = lgint.integrate(moved, "dopri5", t_end=60.0, h=2e-3, rtol=1e-9, atol=1e-12, t_eval=np.arange(0, 60, 0.005))
    rates = run.velocity("mast")[:, :2] * np.hanning(len(run))[:, None]
    spectrum = np.abs(np.fft.rfft(rates, 2**17, axis=0)).sum(axis=1)
    omega = 2 * np.pi * np.fft.rfftfreq(2**17, 0.005)
    peaks = [omega[i] for i in range(1, len(omega) - 1) if spectrum[i] == spectrum[max(i - 2, 0) : i + 3].max()]
    tall = [peak for peak in peaks if spectrum[np.searchsorted(omega, peak)] > 0.05 * spectrum.max()]
    assert {min(MAST, key=lambda own: abs(own - peak)) for peak in tall} == set(MAST)
    assert max(min(abs(own - peak) for own in MAST) for peak in tall) < 0.05


# ---- the same in every formulation, and against differences ----


@pytest.mark.parametrize("formulation", [each for each in FORMULATIONS if each != "R3xSO3"])
@pytest.mark.parametrize("name", SYSTEMS)
def test_all_matrices_are_the_same_in_every_formulation(name, formulation):
    forces = [("force", body, (0.1, 0.2, 0.3)) for body in SYSTEMS[name][0]("SE3").bodies]
    ports = {"inputs": [*forces, ("torque", forces[0][1])], "outputs": [("energy", "potential")]}
    found, expected = linearized(name, formulation, **ports), linearized(name, "R3xSO3", **ports)
    assert found.coordinates == expected.coordinates
    for matrix in ("M", "D", "K", "A", "B", "C", "D_feed", "basis"):
        a, b = getattr(found, matrix), getattr(expected, matrix)
        assert np.abs(a - b).max() <= 2e-8 * np.abs(b).max() + 1e-9, matrix


@pytest.mark.parametrize("name", SYSTEMS)
def test_terms_are_differences_of_the_residual(name):
    """On R^3xSO(3), where motions that are perturbed in the frame can be written down."""
    found = linearized(name, "R3xSO3")
    model, state, frame, N = found.state.model, found.state, found.frame, found.basis
    a, lam = state.accelerations()
    x, R, v, omega = model.motions(list(model.bodies), state.q, state.v)
    Q, W, h = frame.axes, np.cross(np.eye(3), frame.rate), 1e-3
    so3 = lgint.groups.so3

    def residual(y, rate, second):
        """Of the motion with the perturbation y, rate and second derivative, by one formula for each derivative."""
        q, v1, a1 = np.empty((len(x), 12)), np.empty((len(x), 6)), np.empty((len(x), 6))
        eta, eta1, eta2 = (np.reshape(N @ each, (-1, 2, 3)) for each in (y, rate, second))
        for i in range(len(x)):
            d, d1, d2 = (each[i] for each in (eta, eta1, eta2))
            d1, d2 = d1 + d @ W.T, d2 + 2 * d1 @ W.T + d @ (W @ W).T
            s, s1, s2 = Q @ d[1], Q @ d1[1], Q @ d2[1]
            turn, spin = so3.exp(s), R[i] @ omega[i]
            alpha = R[i] @ a[6 * i + 3 : 6 * i + 6]
            spun = so3.tangent(-s) @ s1 + turn @ spin
            # the derivative of this: the tangent operator changes with s, and the turn with what is added to the spin
            e = 1e-4
            rates = [so3.tangent(-(s + k * e * s1)) @ (s1 + k * e * s2) for k in (1, -1)]
            spun1 = (rates[0] - rates[1]) / (2 * e) + turn @ alpha + np.cross(so3.tangent(-s) @ s1, turn @ spin)
            own = turn @ R[i]
            q[i] = *(x[i] + Q @ d[0]), *own.ravel()
            v1[i] = *(v[i] + Q @ d1[0]), *(own.T @ spun)
            a1[i] = *(a[6 * i : 6 * i + 3] + Q @ d2[0]), *(own.T @ spun1)
        terms = model.core.evaluate(0.0, q.ravel(), v1.ravel(), a1.ravel(), lam, mem=state.mem)
        return terms["Ma"] + terms["gyro"] - terms["force"] + terms["Btlam"]

    parts = zip(N.reshape(-1, 6, N.shape[1]), R, strict=True)
    Y = np.concatenate([np.concatenate([Q @ n[:3], r.T @ Q @ n[3:]]) for n, r in parts])
    n, zero = N.shape[1], np.zeros(N.shape[1])
    rate = max(1.0, np.abs(frame.rate).max())
    for level, matrix, size in ((0, found.K, h), (1, found.D, h * rate), (2, found.M, h * rate**2)):
        for i in range(n):
            step = [size * np.eye(n)[i] if k == level else zero for k in range(3)]
            back = [-each for each in step]
            difference = Y.T @ (residual(*step) - residual(*back)) / (2 * size)
            scale = np.abs(found.K).max() / rate**level
            assert np.abs(difference - matrix[:, i]).max() < 2e-5 * scale


def shifted(run, base, frame, h, labels):
    """The perturbations of a state from another one, and their rates, in the frame as it has turned after h."""
    after = frame.later(h)
    found = []
    for label in labels:
        name, _, component = label.rpartition(".")
        i = "xyz".index(component[-1])
        if component.startswith("r"):
            theta = lgint.groups.so3.log(run.rotation(name) @ base.rotation(name).T)
            rate = base.rotation(name) @ (run.angular_velocity(name) - base.angular_velocity(name))
        else:
            theta = run.position(name) - base.position(name)
            rate = run.velocity(name) - base.velocity(name)
        own = after.axes.T @ theta
        found.append((own[i], (after.axes.T @ rate - np.cross(frame.rate, own))[i]))
    return np.array(found).T.ravel()


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("name", ["governor", "follower"])
def test_A_is_the_derivative_of_the_flow(name, formulation):
    """Perturbed starts of a run lead to exp(A h) times what they began with, to second order."""
    found = linearized(name, formulation)
    model, n, h, e = found.state.model, len(found.M), 0.05, 1e-5
    terms, N = found._terms, found._terms.free[0]
    flow, start = np.empty((2 * n, 2 * n)), np.empty((2 * n, 2 * n))
    for i in range(2 * n):
        y, rate = e * np.eye(2 * n)[i][:n], e * np.eye(2 * n)[i][n:]
        ends, begins = [], []
        for s in (1, -1):
            q = model.core.retract(model.q0, s * terms.Y @ N @ y)
            v = model.v0 + s * (terms.Y @ N @ rate + terms.W @ N @ y)
            run = lgint.integrate(model.with_state(q, v, project=True), "rk67", t_end=h, h=h / 40)
            begins.append(shifted(run.state(0), found.state, found.frame, 0.0, found.coordinates))
            ends.append(shifted(run.state(-1), found.state, found.frame, 0.0, found.coordinates))
            base = lgint.integrate(model, "rk67", t_end=h, h=h / 40).state(-1)
            ends[-1] = shifted(run.state(-1), base, found.frame, h, found.coordinates)
        flow[:, i], start[:, i] = (ends[0] - ends[1]) / (2 * e), (begins[0] - begins[1]) / (2 * e)
    expected = expm(h * found.A)
    assert np.abs(start - np.eye(2 * n)).max() < 1e-5
    assert relative(flow, expected) < 1e-5


def test_the_follower_has_all_kinds_of_terms():
    """Otherwise the tests above would not see them."""
    found = linearized("follower", "R3xSO3")
    assert np.abs(found.D - found.D.T).max() > 1  # gyroscopic
    assert np.abs(found.K - found.K.T).max() > 1  # circulatory
    assert np.linalg.eigvalsh(found.D + found.D.T).max() > 1  # dissipative


# ---- inputs and outputs ----


@pytest.mark.parametrize("formulation", ["R3xSO3", "euler_parameters", "minimal"])
def test_static_gains_are_those_of_equilibria(formulation):
    """C A^-1 B is how outputs of equilibria change with small loads, those of multipliers included."""
    e = 1e-3

    def arm(push, twist):
        b = lgint.ModelBuilder(gravity=(0, 0, -9.81), formulation=formulation)
        b.add_body("upper", mass=2.0, inertia=(0.2, 0.3, 0.25), position=(0.4, 0.1, 0.2))
        b.add_body("lower", mass=1.0, inertia=(0.05, 0.1, 0.12), position=(0.9, 0.3, 0.1))
        b.add_joint("revolute", lgint.ground, "upper", point=(0, 0, 0), axis=(0.6, 0, 0.8), name="shoulder")
        b.add_joint("revolute", "upper", "lower", point=(0.7, 0.2, 0.1), axis=(0, 1, 0), name="elbow")
        for name, k in (("shoulder", 80.0), ("elbow", 60.0)):
            b.add_joint_drive(name, stiffness=k, torque=push if name == "elbow" else 0.0, name=f"in {name}")
        b.add_force("lower", force=(0, 0, twist), local_point=(0.1, 0, 0), name="load")
        return b.build()

    outputs = [("joint_angle", "shoulder"), ("position", "lower"), ("reaction", "shoulder")]
    outputs = outputs[:2] if formulation == "minimal" else outputs
    rest = lgint.equilibrium(arm(0, 0))
    found = lgint.linearize(rest.state(-1), [("joint", "elbow"), ("force", "lower", (0.1, 0, 0))], outputs)
    gains = found.D_feed - found.C @ np.linalg.solve(found.A, found.B)
    for column, loads in ((0, (e, 0)), (3, (0, e))):
        values = []
        for s in (1, -1):
            state = lgint.equilibrium(arm(*(s * np.array(loads)))).state(-1)
            values.append(np.concatenate([np.ravel(getattr(state, name)(*rest)) for name, *rest in outputs]))
        expected = (values[0] - values[1]) / (2 * e)
        assert np.abs(gains[:, column] - expected).max() < 1e-6 * np.abs(expected).max()


def test_reactions_in_trees_have_no_inputs():
    state, other = follower("minimal").state(), follower("SE3").state()
    found, expected = (lgint.linearize(each, outputs=[("reaction", "foot")]) for each in (state, other))
    assert relative(found.C, expected.C) < 1e-9
    with pytest.raises(ValueError, match="the reaction of 'foot'.*does not include inputs"):
        lgint.linearize(state, [("force", "rotor")], [("reaction", "foot")])


def test_accelerations_feed_through():
    b = lgint.ModelBuilder()
    b.add_body("block", mass=4.0, inertia=(1, 2, 3))
    found = lgint.linearize(b.build().state(), [("force", "block"), ("torque", "block")], [("acceleration", "block")])
    assert np.abs(found.D_feed - np.concatenate([np.eye(3) / 4, np.zeros((3, 3))], axis=1)).max() < 1e-12
    assert found.input_names == [f"{kind} block {axis}" for kind in ("force", "torque") for axis in "xyz"]
    assert found.output_names == [f"acceleration block[{i}]" for i in range(3)]
    system = found.to_scipy()
    assert (system.A == found.A).all() and (system.D == found.D_feed).all()


# ---- large systems ----


def cantilever(edges, constraints=None, slenderness=20.0):
    """A rod clamped at one end; EI = rhoA = L = 1."""
    area = slenderness**2
    b = lgint.ModelBuilder()
    b.add_rod(
        "rod",
        start=(0, 0, 0),
        end=(1, 0, 0),
        edges=edges,
        stiffness=(0.4 * area, 0.4 * area, area, 1.0, 1.0, 0.8),
        inertia=(1.0, 1 / area, 1 / area, 2 / area),
        constraints=constraints,
        clamped=(0,),
    )
    return b.build()


@pytest.mark.parametrize("constraints", [None, "kirchhoff"])
def test_sparse_modes_are_those_of_the_dense_matrices(constraints, monkeypatch):
    model = cantilever(12, constraints)
    dense = lgint.linearize(model.state()).shapes(8)
    monkeypatch.setattr(linear_terms, "LARGE", 1)
    sparse = lgint.linearize(model.state()).shapes(8)
    assert len(sparse) == 8
    for a, b in zip(dense, sparse, strict=True):
        assert abs(a.eigenvalue - b.eigenvalue) < 1e-7 * abs(a.eigenvalue)
        assert abs(np.abs(np.vdot(a.values, b.values)) / np.linalg.norm(a.values) / np.linalg.norm(b.values)) < 1 + 1e-9


def test_a_rod_of_2000_edges_has_the_frequencies_of_a_beam():
    found = lgint.linearize(cantilever(2000, "kirchhoff", 1000.0).state())
    lowest = [mode.frequency for mode in found.shapes(4)]
    assert np.abs(np.array(lowest) / np.repeat([1.8751041, 4.6940911], 2) ** 2 - 1).max() < 1e-4


# ---- systems of functions ----


def test_a_system_of_functions_is_linearised_in_its_coordinates():
    g, length = 9.81, 0.7
    model = lgint.LagrangianModel(
        q0=[0.0, -length], v0=[0.0, 0.0], mass=lambda q: np.eye(2), potential=lambda q: g * q[1],
        constraint=lambda q: [q @ q - length**2],
    )  # fmt: skip
    found = lgint.linearize(model.state())
    assert found.coordinates == ["q[0]"]
    assert np.abs(found.frequencies - np.sqrt(g / length)).max() < 1e-6
    with pytest.raises(ValueError, match="no bodies"):
        lgint.linearize(model.state(), frame="arm")
    with pytest.raises(ValueError, match="has no bodies"):
        lgint.linearize(model.state(), frame=((0, 0, 1), (0, 0, 0), 2.0))


def test_functions_on_rotations_are_linearised_in_axes_of_the_body():
    """A free body with a steady spin about x: seen from it, its axis goes round at the rate of Euler's equations."""
    J, rate = np.array([0.1, 0.25, 0.25]), 4.0

    def gyro(t, q, v):
        return np.cross(v, J * v)

    model = lgint.CallableModel(
        "SO3", np.eye(3).ravel(), [rate, 0, 0], lambda t, q: np.diag(J), lambda t, q, v: np.zeros(3), gyro=gyro
    )
    found = lgint.linearize(model.state())
    seen = abs(J[0] - J[1]) / J[1] * rate  # of the angular velocity in body axes; from a frame at rest J[0] / J[1] rate
    assert found.frequencies == pytest.approx([seen, rate], rel=1e-6)
    for text in (repr(found), found._repr_html_()):
        assert "in its local coordinates, in axes that move with rotations" in text
    assert "Linearization in its coordinates" in repr(lgint.linearize(controlled()[0].state()))
    moved = lgint.CallableModel(
        "SO3", np.eye(3).ravel(), [rate, 1.0, 0], lambda t, q: np.diag(J), lambda t, q, v: np.zeros(3), gyro=gyro
    )
    with pytest.raises(ValueError, match="axes that move with rotations: .* along the motion. Give a state in"):
        lgint.linearize(moved.state())


# ---- refusals ----


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_systems_that_change_in_the_frame_are_refused(formulation):
    for model, frame in ((governor(formulation), "ground"), (mast(formulation), "rotor")):
        with pytest.raises(ValueError, match=r"not time-invariant in the frame .* Give a frame that turns"):
            lgint.linearize(model.state(), frame=frame)


def test_a_state_on_its_way_is_refused():
    b = lgint.ModelBuilder(gravity=(0, 0, -9.81))
    b.add_body("bar", mass=2.0, inertia=(0.1, 0.1, 0.01), position=(0.5, 0, 0))
    b.add_joint("revolute", lgint.ground, "bar", point=(0, 0, 0), axis=(0, 1, 0), name="pin")
    with pytest.raises(ValueError, match="not time-invariant"):
        lgint.linearize(b.build(start="project").state())


def stiff_ring(edges):
    phi = 2 * np.pi * np.arange(edges) / edges
    nodes = np.stack([np.cos(phi), np.sin(phi), 0 * phi], axis=1)
    b = lgint.ModelBuilder()
    b.add_rod("ring", nodes=nodes, closed=True, stiffness=(1e7, 1e7, 1e7, 1, 1, 1), inertia=(1, 1e-7, 1e-7, 2e-7))
    return b.build().state()


def stiff_chain(edges):
    b = lgint.ModelBuilder(gravity=(0, 0, -1))
    b.add_rod(
        "chain", start=(0, 0, 0), end=(0, 0, -1), edges=edges, stiffness=(1e4, 1e4, 1e6, 1e-7, 1e-7, 1e-3),
        inertia=(1, 1e-6, 1e-6, 1e-6), clamped=(0,),
    )  # fmt: skip
    return lgint.equilibrium(b.build()).state(-1)


@pytest.mark.parametrize(("of_edges", "edges"), [(stiff_ring, 24), (stiff_chain, 12)])
def test_stiff_thin_rods_at_rest_are_in_equilibrium(of_edges, edges):
    """Round-off of their large forces accelerates the small inertias of their sections, which hardly move."""
    found = np.array([mode.frequency for mode in lgint.linearize(of_edges(edges)).shapes(12)])
    if of_edges is stiff_chain:
        assert np.abs(found[:6:2] / [1.2024, 2.7600, 4.3269] - 1).max() < 0.04  # half the zeros of J0
    else:
        bending = found[found > 1]  # after the motions of the whole ring, whose zeros round-off splits
        assert len(found) - len(bending) <= 7 and found[found <= 1].max() < 0.2
        assert np.abs(bending[:4] / (6 / np.sqrt(5)) - 1).max() < 0.02  # in the plane as well as out of it


def test_modes_that_round_off_hides_are_named():
    """Beside the stiff direction of a strip the lowest modes in the soft one, from 3.5 rad/s on, are round-off."""
    b = lgint.ModelBuilder()
    b.add_rod(
        "strip", start=(0, 0, 0), end=(0, 0, 1), edges=32, stiffness=(1e6, 1e6, 1e6, 1, 1e7, 1),
        inertia=(1, 1e-8, 1e-8, 2e-8), clamped=(0,),
    )  # fmt: skip
    found = lgint.linearize(b.build().state())
    with pytest.warns(UserWarning, match=r"the [1-9]\d* lowest modes that oscillate are lost in round-off"):
        assert found.frequencies[0] > 10.0


def bent_strip(edges):
    b = lgint.ModelBuilder()
    rod = b.add_rod(
        "strip", start=(0, 0, 0), end=(1, 0, 0), edges=edges, stiffness=(1e7, 1e7, 1e7, 1, 1, 1),
        inertia=(1, 1e-7, 1e-7, 2e-7), clamped=(0,),
    )  # fmt: skip
    b.add_force(rod.nodes[-1], force=(0, 0, 1e-3))
    return b.build().state()


@pytest.mark.parametrize("edges", [8, 104])
def test_a_stiff_thin_rod_that_a_force_bends_is_refused(edges):
    with pytest.raises(ValueError, match="not time-invariant"):
        lgint.linearize(bent_strip(edges))


def test_large_systems_are_followed_as_small_ones(monkeypatch):
    state, found = bent_strip(8), []
    for large in (linear_terms.LARGE, 1):
        monkeypatch.setattr(linear_terms, "LARGE", large)
        terms = terms_of(state, Frame(np.eye(3), np.zeros(3), np.zeros(3)))
        found.append(held(terms, 0.01).a)
    assert relative(found[1], found[0]) < 1e-6
    assert relative(found[0], terms.motion.a) > 0.1


@pytest.mark.parametrize("period", [0.05, 0.025, 0.05 * (5**0.5 - 1) / 2])
def test_a_stiffness_that_oscillates_is_refused_at_every_period(period):
    """At rest later times are compared, of which none but one can be a multiple of a period."""

    def force(t, q, v):
        return -(40.0 + 5 * np.sin(2 * np.pi * t / period)) * q

    model = lgint.CallableModel(("Rn", 1), [0.0], [0.0], lambda t, q: np.eye(1), force)
    with pytest.raises(ValueError, match=r"the stiffness of 'q\[0\]' changes within"):
        lgint.linearize(model.state())


def test_unknown_names_are_refused():
    state = governor("R3xSO3").state()
    for ports, text in (
        ({"inputs": [("joint", "slid")]}, "did you mean 'slide'"),
        ({"inputs": [("joint", 3)]}, "unknown joint 3"),
        ({"inputs": [("joint", "rod1")]}, "has neither an angle nor a slide"),
        ({"inputs": [("force", "bal1")]}, "did you mean 'ball1'"),
        ({"inputs": [("torqe", "ball1")]}, "did you mean 'torque'"),
        ({"inputs": [("force", "ball1", (0, 0))]}, r"shape \(3,\) expected"),
        ({"inputs": ("joint", "slide")}, r"\[\('joint', 'slide'\)\]"),
        ({"inputs": [("joint",)]}, "pairs such as"),
        ({"inputs": [("torque", "ball1", (0, 0, 0))]}, "too many"),
        ({"outputs": [("joint_angel", "hinge1")]}, "did you mean 'joint_angle'"),
        ({"outputs": [("joint_angle", "hinge3")]}, "did you mean 'hinge"),
        ({"outputs": [("position",)]}, "missing 1 required"),
        ({"outputs": [("energy_kind",)]}, "no numbers"),
        ({"outputs": [("position", "ball1")]}, "not time-invariant in the frame of body 'spindle'"),
        ({"frame": "spindel"}, "did you mean 'spindle'"),
        ({"frame": ((0, 0, 0), (0, 0, 0), 1.0)}, "not zero expected"),
        ({"frame": 3.0}, r"\(axis, point, rate\) expected"),
    ):
        with pytest.raises(ValueError, match=text):
            lgint.linearize(state, **{"frame": "spindle", **ports})
    with pytest.raises(ValueError, match="state: a state expected"):
        lgint.linearize(governor("R3xSO3"))


def test_a_body_that_speeds_up_is_no_frame():
    b = lgint.ModelBuilder()
    b.add_body("wheel", mass=1.0, inertia=(1, 1, 1), angular_velocity=(0, 0, 3))
    b.add_force("wheel", torque=(0, 0, 2.0))
    with pytest.raises(ValueError, match="does not turn at a constant rate"):
        lgint.linearize(b.build().state(), frame="wheel")


def test_singular_constraints_name_rows():
    state = parallelogram(0.7).build().state(parallelogram_q(0.0))
    with pytest.raises(lgint.SingularError, match="(last|bar.|bar.-bar.): (translation|rotation)"):
        lgint.linearize(state)


def test_a_direction_without_inertia_is_named():
    b = lgint.ModelBuilder()
    b.add_body("needle", mass=1.0, inertia=(0.0, 0.1, 0.1))
    with pytest.raises(lgint.IntegrationError, match="needle"):
        lgint.linearize(b.build().state())


# ---- pictures ----


def test_pictures_and_tables():
    found = linearized("governor", "R3xSO3")
    assert "-1.55368 + 18.8343i" in found._repr_html_() and "-1.55368 + 18.8343i" in repr(found)
    axes = found.plot().axes[0]
    assert len(axes.lines[-1].get_xdata()) == 4
    assert found.plot(ax=axes) is axes.figure
    assert len(found.view(1).figure.frames) > 10
    mode = found.shapes(3)[1]
    assert abs(mode.eigenvalue - GOVERNOR) < 1e-6 and np.abs(mode.displacement("sleeve")[:2]).max() < 1e-9
    assert np.abs(mode.values).max() == 1 and mode.rotation("ball1").shape == (3,)
    with pytest.raises(ValueError, match="there are 2 modes"):
        found.view(7)
    with pytest.raises(ValueError, match="unknown body 'bal'"):
        mode.displacement("bal")
    for bad in (0, 1.5, True):
        with pytest.raises(ValueError, match="n: a positive whole number"):
            found.shapes(bad)


# ---- values of first-order equations ----


def controlled(k=40.0, d=1.5, gain=(30.0, 12.0, 4.0)):
    """A mass on a spring with a filtered PI control, as functions: x'' = (-k x - d x' + u)/2, s1' = -x, u = gains."""
    p, i, a = gain

    def force(t, q, v):
        x, rate, integral, filtered = q[0], v[0], v[1], v[2]
        effort = i * integral - p * filtered
        return np.array([-k * x - d * rate + effort, -x, a * (x - filtered)])

    model = lgint.CallableModel(
        [("Rn", 1), ("first_order", 2)], [0.0], [0.0, 0.0, 0.0], lambda t, q: np.diag([2.0, 1.0, 1.0]), force
    )
    A = np.array([[0, 1, 0, 0], [-k / 2, -d / 2, i / 2, -p / 2], [-1, 0, 0, 0], [a, 0, 0, -a]])
    return model, A


def test_values_of_first_order_equations_have_one_row_each():
    model, A = controlled()
    found = lgint.linearize(model.state(), outputs=[("v",)])
    assert found.state_names == ["q[0]", "d/dt q[0]", "state[0]", "state[1]"]
    assert np.abs(found.A - A).max() < 1e-6 and found.M.shape == found.K.shape == (1, 1)
    assert np.abs(found.C - np.eye(4)[1:]).max() < 1e-9
    modes = found.shapes(4)
    expected = np.linalg.eigvals(A)
    for mode in modes:
        assert np.abs(expected - mode.eigenvalue).min() < 1e-6 and mode.states.shape == (2,)


# ---- prescribed motions ----


def crane(formulation, motion=0.0):
    """A trolley whose position is prescribed, with a load on a rigid bar and a damper in the hinge."""
    b = lgint.ModelBuilder(gravity=(0, 0, -9.81), formulation=formulation)
    b.add_body("trolley", mass=5.0, inertia=(1, 1, 1))
    b.add_joint("prismatic", lgint.ground, "trolley", point=(0, 0, 0), axis=(1, 0, 0), name="rail")
    b.add_body("load", mass=2.0, inertia=(0.1, 0.1, 0.1), position=(0, 0, -1.5))
    b.add_joint("revolute", "trolley", "load", point=(0, 0, 0), axis=(0, 1, 0), name="hinge")
    b.add_joint_drive("hinge", stiffness=0.0, damping=0.8, name="damper")
    b.add_joint_motion("rail", motion, name="servo")
    return b.build()


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_a_prescribed_motion_is_an_input(formulation):
    """Against the equation of the pendulum on a trolley, and against a run."""
    outputs = [("joint_angle", "hinge"), ("joint_position", "rail"), ("force", "servo"), ("acceleration", "load")]
    found = lgint.linearize(crane(formulation).state(), [("motion", "servo")], outputs)
    J, arm, mass = 2.0 * 1.5**2 + 0.1, 1.5, 2.0
    assert found.state_names[-2:] == ["servo", "d/dt servo"] and len(found.A) == 4
    values = np.sort_complex(np.roots([J, 0.8, mass * 9.81 * arm]))
    assert np.abs(np.sort_complex(found.eigenvalues) - values).max() < 1e-9
    # the transfer from the acceleration to the angle: (J s^2 + d s + m g l) theta = m l x''
    s = 2.0j
    transfer = found.C @ np.linalg.solve(s * np.eye(4) - found.A, found.B) + found.D_feed
    angle = mass * arm / (J * s**2 + 0.8 * s + mass * 9.81 * arm)
    assert abs(transfer[0, 0] - angle) < 1e-8 and abs(transfer[1, 0] - 1 / s**2) < 1e-9
    assert abs(transfer[2, 0] - (7.0 - mass * arm * s**2 * angle)) < 1e-7
    assert abs(transfer[3, 0] - (1 - arm * s**2 * angle)) < 1e-7
    with pytest.raises(ValueError, match="did you mean 'servo'"):
        lgint.linearize(crane(formulation).state(), [("motion", "serva")])


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_a_mechanism_whose_coordinates_are_all_prescribed_has_these_as_states(formulation):
    """Two links with a motion in each hinge: the effort is that of inverse dynamics."""
    b = lgint.ModelBuilder(formulation=formulation)
    b.add_body("inner", mass=1.0, inertia=(1, 1, 1))
    b.add_joint("revolute", lgint.ground, "inner", point=(0, 0, 0), axis=(0, 0, 1), name="shoulder")
    b.add_body("outer", mass=1.0, inertia=(1, 1, 1), position=(1, 0, 0))
    b.add_joint("revolute", "inner", "outer", point=(0.5, 0, 0), axis=(0, 0, 1), name="elbow")
    for joint in ("shoulder", "elbow"):
        b.add_joint_motion(joint, 0.0, name=f"at {joint}")
    inputs = [("motion", "at shoulder"), ("motion", "at elbow"), ("force", "outer")]
    found = lgint.linearize(b.build().state(), inputs, [("joint_angle", "elbow"), ("force", "at shoulder")])
    assert found.M.shape == (0, 0) and found.coordinates == [] and found.shapes() == []
    assert found.state_names == ["at shoulder", "at elbow", "d/dt at shoulder", "d/dt at elbow"]
    assert (found.A == np.eye(4, k=2)).all() and (found.B == np.eye(4, 5, -2)).all()
    assert np.abs(found.C - np.eye(2, 4, 1) * [[1], [0]]).max() < 1e-9
    # inertias 1 + 1 + 1^2 and 1 + 1 * 0.5, and a force across at the distance 1
    assert np.abs(found.D_feed[1] - (3, 1.5, 0, -1, 0)).max() < 1e-9


@pytest.mark.parametrize("formulation", FREE)
def test_a_system_without_degrees_of_freedom_has_empty_matrices(formulation):
    b = lgint.ModelBuilder(gravity=(0, 0, -9.81), formulation=formulation)
    b.add_body("block", mass=1.0, inertia=(1, 1, 1))
    b.add_joint("rigid", lgint.ground, "block", point=(0, 0, 0), name="weld")
    model = b.build()
    found = lgint.linearize(model.state(), [("force", "block")], [("reaction", "weld")])
    for matrix, shape in (("M", (0, 0)), ("A", (0, 0)), ("B", (0, 3)), ("C", (6, 0)), ("basis", (6, 0))):
        assert getattr(found, matrix).shape == shape, matrix
    assert np.abs(found.D_feed[:3] + np.eye(3)).max() < 1e-12  # the joint carries the force
    assert found.eigenvalues.size == found.frequencies.size == 0 and "at rest" in repr(found)
    diagram = lgint.campbell(model, [0.0], axis=(0, 0, 1))
    assert diagram.modes == [[]] and np.isnan(diagram.frequencies).all()
    assert diagram.plot().axes and found.plot().axes
