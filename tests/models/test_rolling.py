"""Wheels that roll and knife edges: rows of velocity alone in every family of methods."""

import functools

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import lgint
from battery import observed_order
from lgint._tools import bench_exudyn

LIVELY = dict(lean=0.4, precession=3.0, spin=-5.0)  # no steady circle
INERTIA = np.array([0.06, 0.12, 0.08])
TURNING = dict(speed=-1.0, turning=4.0)
T_END = 1.0
AT = np.linspace(0.0, T_END, 9)[1:]  # errors are means over these times, so that they vanish nowhere by chance
INDICES = [("genalpha", {"index": index}) for index in (3, 2, "stabilized")]
STEPPER = {name: lgint.method_info(name)["stepper"] for name in lgint.methods()}
CONSISTENT = {"first_stage": "consistent"}
PLAIN = [(name, CONSISTENT if kind == "herk" else {}) for name, kind in STEPPER.items() if kind != "conserve"] + INDICES
CONSERVING = [name for name, kind in STEPPER.items() if kind == "conserve"]


def ids(case):
    return "-".join(map(str, (case[0], *case[1].values())))


# ---- the two models without the library ----


def sleigh(t, m=1.0, inertia=0.2, b=0.4, v0=0.5, w0=3.0):
    """The speed of the knife edge, angular velocity and heading of Chaplygin's sleigh."""
    J = inertia + m * b**2
    V = np.hypot(v0, w0 * np.sqrt(J / m))
    start = np.arctanh(v0 / V)
    tau = start + m * b * V / J * t
    heading = np.sqrt(J / m) / b * 2 * (np.arctan(np.tanh(tau / 2)) - np.arctan(np.tanh(start / 2)))
    return V * np.tanh(tau), V * np.sqrt(m / J) / np.cosh(tau), heading


def disk_terms(R, w, m=1.0, r=0.5, g=9.81):
    """Angular acceleration of a rolling disk and the force of the plane: with the arm r e from the contact,

    v = w x r e,  m v' = F - m g z,  H' = -r e x F.
    """
    z, u = np.array([0.0, 0.0, 1.0]), R[:, 1]
    s = u @ z
    e = (z - s * u) / np.sqrt(1 - s**2)
    u_rate = np.cross(w, u)
    s_rate = u_rate @ z
    e_rate = -(s_rate * u + s * u_rate) / np.sqrt(1 - s**2) + e * s * s_rate / (1 - s**2)
    inertia = R @ np.diag([0.25, 0.5, 0.25]) @ R.T * m * r**2
    hat = lgint.groups.so3.hat(r * e)
    known = m * np.cross(w, r * e_rate) + m * g * z  # F = m w' x r e + known
    left = inertia - m * hat @ hat
    w_rate = np.linalg.solve(left, -np.cross(w, inertia @ w) - np.cross(r * e, known))
    return w_rate, -m * hat @ w_rate + known, np.cross(w, r * e)


@functools.cache
def disk():
    """x, R, body angular velocity, and the force of the plane on the disk at the times AT, by SciPy."""
    start = lgint.models.rolling_disk(**LIVELY).state()
    R, x = start.rotation("disk"), start.position("disk")
    w = R @ start.angular_velocity("disk")

    def rhs(t, y):
        R, w = y[3:12].reshape(3, 3), y[12:]
        w_rate, _, v = disk_terms(R, w)
        return np.concatenate([v, (lgint.groups.so3.hat(w) @ R).ravel(), w_rate])

    y0 = np.concatenate([x, R.ravel(), w])
    y = solve_ivp(rhs, (0, T_END), y0, method="DOP853", t_eval=AT, rtol=1e-13, atol=1e-14).y.T
    R = y[:, 3:12].reshape(-1, 3, 3)
    force = [disk_terms(*each)[1] for each in zip(R, y[:, 12:], strict=True)]
    return y[:, :3], R, np.einsum("nji,nj->ni", R, y[:, 12:]), np.array(force)


# ---- orders ----


def disk_errors(run):
    x, R, omega, force = disk()
    at = run.t.searchsorted(AT - 1e-9)
    turned = lgint.groups.so3.log(np.swapaxes(R, 1, 2) @ run.rotation("disk")[at])
    errors = run.position("disk")[at] - x, turned, run.angular_velocity("disk")[at] - omega
    errors = *errors, -run.lam[at][:, [1, 2, 0]] - force
    return [np.linalg.norm(each) for each in errors]


def sleigh_errors(run):
    at = run.t.searchsorted(AT - 1e-9)
    v, omega, heading = sleigh(AT, v0=-1.0, w0=4.0)
    R = run.rotation("sleigh")[at]
    speed = np.einsum("ni,ni->n", R[:, :, 0], run.point_velocity("sleigh", (-0.4, 0.0, 0.0))[at])
    turned = np.angle(np.exp(1j * (np.arctan2(R[:, 1, 0], R[:, 0, 0]) - heading)))
    return [np.linalg.norm(each) for each in (turned, run.angular_velocity("sleigh")[at, 2] - omega, speed - v)]


MODELS = {
    "disk": (functools.partial(lgint.models.rolling_disk, **LIVELY), disk_errors),
    "sleigh": (functools.partial(lgint.models.chaplygin_sleigh, **TURNING), sleigh_errors),
}
COARSEST = {1: 1600, 2: 200, 3: 120, 4: 64, 5: 80, 6: 24, 8: 8}


def observed(model, errors, method, coarsest=None, count=None, **options):
    first = coarsest or COARSEST[lgint.method_info(method)["order"]]
    steps = [first * 2**i for i in range(3)]
    rows = [errors(lgint.integrate(model, method, t_end=T_END, h=T_END / n, **options))[:count] for n in steps]
    return [observed_order(steps, column) for column in np.array(rows).T]


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("case", PLAIN, ids=ids)
def test_orders_of_coordinates_velocities_and_multipliers(case, name):
    (method, options), (model, errors) = case, MODELS[name]
    order = lgint.method_info(method)["order"]
    for found in observed(model(), errors, method, 24 if method == "radau5" else None, **options):
        assert abs(found - order) < (0.15 if order < 5 else 0.5 if order < 8 else 0.7)


@pytest.mark.parametrize("equivariant", [True, False])
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("method", CONSERVING)
def test_orders_of_methods_with_momenta(method, name, equivariant):
    model, errors = MODELS[name]
    made = model(formulation="euler_parameters")
    for found in observed(made, errors, method, 128, 3, equivariant=equivariant):
        assert abs(found - 2) < 0.15


@pytest.mark.parametrize("equivariant", [True, False])
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("method", [name for name in CONSERVING if name not in ("mpl", "mph")])
def test_methods_with_discrete_gradients_keep_the_energy(method, name, equivariant):
    model = MODELS[name][0](formulation="euler_parameters")
    run = lgint.integrate(model, method, t_end=T_END, h=0.02, equivariant=equivariant)
    assert np.ptp(run.energy()) < 1e-12
    assert run.stats.newton_iterations < 5 * run.stats.steps  # as with an exact tangent


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize(
    ("order", "options"),
    [(1, {"modified": False}), (2, {"modified": False, "alpha": 0.0}), (2, {"modified": True, "transport": True})],
)
def test_orders_of_hht_as_printed(order, options, name):
    """They are those without nonholonomic rows."""
    model, errors = MODELS[name]
    made = model(formulation="euler_parameters")
    for found in observed(made, errors, "hht", 400, 3, **options):
        assert abs(found - order) < 0.15


@pytest.mark.parametrize("modified", [True, False])
def test_hht_as_printed_has_velocities_without_slip(modified):
    model = lgint.models.rolling_disk(formulation="euler_parameters", **LIVELY)
    run = lgint.integrate(model, "hht", t_end=0.1, h=1e-3, modified=modified)
    assert np.abs(run.constraint_residual("velocity")[:, [1, 2]]).max() < 1e-12


# ---- against Exudyn ----


def wheel():
    """A body of three different inertias that rolls in a general direction and leans."""
    R = Rotation.from_euler("zx", [0.7, -0.4]).as_matrix()
    omega, axis = np.array([0.3, -4.0, 0.9]), R[:, 1]
    up = (np.array([0.0, 0.0, 1.0]) - axis[2] * axis) / np.sqrt(1 - axis[2] ** 2)
    b = lgint.ModelBuilder(gravity=(0.0, 0.0, -9.81))
    place = {"position": 0.5 * up * (0, 0, 1), "rotation": R}
    rates = {"velocity": np.cross(R @ omega, 0.5 * up), "angular_velocity": omega}
    b.add_body("disk", mass=1.5, inertia=INERTIA, **place, **rates)
    b.add_rolling("disk", radius=0.5, axis=(0.0, 1.0, 0.0), name="rolling")
    return b.build()


def by_exudyn(state, slip=(0.0, 0.0, 0.0)):
    """The multipliers and the rates of the rows across and along, and normal to the plane.

    The multipliers are those of a start, where Exudyn takes accelerations with B a = 0.
    """
    import exudyn
    from exudyn import itemInterface as items

    e, velocity = state.quaternion("disk"), state.velocity("disk") + slip
    w, x, y, z = e
    rate = np.array([[-x, -y, -z], [w, -z, y], [z, w, -x], [-y, x, w]]) @ state.angular_velocity("disk") / 2
    mbs = exudyn.SystemContainer().AddSystem()
    start = {"referenceCoordinates": [*state.position("disk"), *e], "initialVelocities": [*velocity, *rate]}
    node = mbs.AddNode(items.NodeRigidBodyEP(**start))
    body = mbs.AddObject(items.ObjectRigidBody(physicsMass=1.5, physicsInertia=[*INERTIA, 0, 0, 0], nodeNumber=node))
    ends = [mbs.AddMarker(items.MarkerBodyRigid(bodyNumber=at)) for at in (mbs.AddObject(items.ObjectGround()), body)]
    mbs.AddObject(items.ObjectJointRollingDisc(markerNumbers=ends, discRadius=0.5, discAxis=[0, 1, 0]))
    mass = mbs.AddMarker(items.MarkerBodyMass(bodyNumber=body))
    mbs.AddLoad(items.LoadMassProportional(markerNumber=mass, loadVector=[0, 0, -9.81]))
    mbs.Assemble()
    settings = exudyn.SimulationSettings()
    settings.solutionSettings.writeSolutionToFile = False
    settings.timeIntegration.verboseMode = 0
    solver = exudyn.MainSolverImplicitSecondOrder()
    solver.InitializeSolver(mbs, settings)
    multipliers = mbs.systemData.GetAECoordinates()[1:]
    solver.ComputeAlgebraicEquations(mbs, True)
    return multipliers, solver.GetSystemResidual()[-3:]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # Exudyn's own
def test_forces_and_slips_are_those_of_exudyn():
    if bench_exudyn.load() is None:
        pytest.skip("Exudyn is not installed")
    model = wheel()
    state, slip = model.state(), np.array([0.3, -0.2, 0.0])
    across = state.rotation("disk")[:, 1] * (1, 1, 0)
    across /= np.linalg.norm(across)
    axes = np.array([across, np.cross(across, (0, 0, 1)), (0, 0, 1)])  # of Exudyn's rows
    M, B = state.mass_matrix(), state.constraint_matrix()
    whole = np.block([[M, B.T], [B, np.zeros((3, 3))]])
    lam = np.linalg.solve(whole, np.concatenate([state.generalized_force(), np.zeros(3)]))[6:]
    assert np.allclose(axes @ lam[[1, 2, 0]], by_exudyn(state)[0], rtol=0, atol=1e-10)
    assert np.abs(lam).min() > 0.05

    slips = model.core.residual(0.0, model.q0, model.v0 + [*slip, 0, 0, 0])[1]
    assert np.allclose(axes @ slips[[1, 2, 0]], by_exudyn(state, slip)[1], rtol=0, atol=1e-10)
    assert np.abs(slips).max() > 0.1


# ---- energy, circles, small motions ----


def test_the_energy_of_a_disk_stays_for_100_s():
    run = lgint.integrate(lgint.models.rolling_disk(**LIVELY), "dopri5", t_end=100.0, rtol=1e-11, save_every=10)
    assert np.ptp(run.energy()) < 1e-8 * run.energy()[0]
    assert np.abs(run.constraint_residual("position")).max() < 1e-13
    assert np.abs(run.constraint_residual("velocity")).max() < 1e-13


@pytest.mark.parametrize("formulation", ["R3xSO3", "SE3", "R3xRV", "euler_parameters"])
def test_a_disk_rolls_in_a_steady_circle(formulation):
    """Its COM moves at r spin on a circle that it goes round in 2 pi/precession."""
    model = lgint.models.rolling_disk(formulation=formulation)
    spin = model.state().angular_velocity("disk")[1]
    run = lgint.integrate(model, "dopri5", t_end=np.pi, h=np.pi / 400)
    x = run.position("disk")
    centre, radius = np.array([0.0, 0.5 * spin / 2.0]), abs(0.5 * spin / 2.0)
    assert np.allclose(np.linalg.norm(x[:, :2] - centre, axis=1), radius, rtol=0, atol=1e-9)
    assert np.allclose(x[-1], x[0], rtol=0, atol=1e-8) and np.ptp(x[:, 2]) < 1e-9
    assert np.ptp(run.lam[:, 0]) < 1e-7 * 9.81 and run.lam[0, 0] == pytest.approx(-9.81)


@pytest.mark.parametrize("formulation", ["R3xSO3", "SE3", "euler_parameters", "tait_bryan"])
@pytest.mark.parametrize("spin", [2.0, 6.0])
def test_the_lean_of_an_upright_disk(spin, formulation):
    """Its frequency is omega^2 = (12 spin^2 - 4 g/r)/5; below spin^2 = g/(3 r) it falls over."""
    model = lgint.models.rolling_disk(formulation=formulation, lean=0.0, precession=0.0, spin=spin)
    found = lgint.linearize(model.state())
    square = (12 * spin**2 - 4 * 9.81 / 0.5) / 5
    values = found.eigenvalues[-2:]
    assert np.allclose(np.sort_complex(values**2), -square, rtol=1e-12)
    assert np.abs(found.eigenvalues[:-2]).max() < 1e-6
    assert found.M is None and found.D is None and found.K is None
    assert found.A.shape == (8, 8) and len(found.coordinates) == 5 and len(found.state_names) == 8


def test_small_motions_about_a_circle_in_the_frame_that_turns_with_it():
    """Against the derivatives of the reduced equations: the lean, and omega in axes that do not spin with the disk."""
    start = lgint.models.rolling_disk().state()
    lean, omega = 0.3, start.angular_velocity("disk")

    def rates(y):
        axes = Rotation.from_euler("x", y[0]).as_matrix()  # along the path, the axis of the disk, up along the disk
        turning = np.array([y[1], y[3] * np.tan(y[0]), y[3]])  # of these axes
        return np.array([y[1], *(axes.T @ disk_terms(axes, axes @ y[1:])[0] - np.cross(turning, y[1:]))])

    y, step = np.array([lean, *omega]), 1e-5
    assert np.abs(rates(y)).max() < 1e-12
    A = np.array([rates(y + step * d) - rates(y - step * d) for d in np.eye(4)]).T / (2 * step)
    expected = np.linalg.eigvals(A)
    frame = ((0, 0, 1), (0, 0.25 * omega[1], 0), 2.0)
    found = lgint.linearize(start, frame=frame).eigenvalues
    for value in expected[np.abs(expected) > 1e-3]:
        assert np.abs(found - value).min() < 1e-7
    with pytest.raises(ValueError, match="not time-invariant in the frame at rest"):
        lgint.linearize(start)


def test_outputs_and_inputs_of_a_linearised_sleigh():
    """A sleigh that moves straight ahead: a force across at the COM turns it, and its turning decays."""
    model = lgint.models.chaplygin_sleigh(turning=0.0, speed=2.0)
    found = lgint.linearize(model.state(), inputs=[("torque", "sleigh")], outputs=[("angular_velocity", "sleigh")])
    J = 0.2 + 0.4**2
    assert sorted(found.eigenvalues.real)[0] == pytest.approx(-0.4 * 2.0 / J, rel=1e-10)
    at = found.state_names.index("d/dt sleigh.rz")
    assert found.A[at, at] == pytest.approx(-0.4 * 2.0 / J) and found.B[at, 2] == pytest.approx(1 / J)
    assert np.allclose(found.C[2], np.eye(len(found.A))[at], atol=1e-9)


# ---- geometry ----


def test_a_torus_keeps_its_height_and_its_energy():
    """Its centre is at r cos(lean) + rho, and its contact, vertically below the circle's lowest point, at rest."""
    r, rho, R = 0.3, 0.1, Rotation.from_euler("x", 0.5).as_matrix()
    axis, omega, n = R[:, 1], np.array([0.5, 4.0, 1.0]), np.array([0.0, 0.0, 1.0])
    arm = -r * (n - axis[2] * axis) / np.sqrt(1 - axis[2] ** 2) - rho * n
    b = lgint.ModelBuilder(gravity=(0.0, 0.0, -9.81))
    rates = {"velocity": -np.cross(R @ omega, arm), "angular_velocity": omega}
    b.add_body("tyre", mass=1.0, inertia=INERTIA, position=(0, 0, -arm[2]), rotation=R, **rates)
    assert b.add_rolling("tyre", radius=r, tube=rho, axis=(0, 2, 0)) == "tyre.rolling"
    run = lgint.integrate(b.build(), "dopri5", t_end=2.0, rtol=1e-11)
    sine = run.rotation("tyre")[:, 2, 1]
    assert np.allclose(run.position("tyre")[:, 2], r * np.sqrt(1 - sine**2) + rho, rtol=0, atol=1e-13)
    assert np.ptp(run.energy()) < 1e-9 and np.ptp(sine) > 0.1


def test_a_wheel_rolls_down_a_slope_that_is_not_through_the_origin():
    b = lgint.ModelBuilder(gravity=(0.0, 0.0, -9.81))
    up = np.array([0.0, -0.3, 1.0]) / np.sqrt(1.09)
    b.add_body("wheel", mass=2.0, inertia=INERTIA, position=(1, 2, 3) + 0.3 * up)
    b.add_rolling("wheel", radius=0.3, axis=(1, 0, 0), plane=((1, 2, 3), (0, -0.3, 1)), name="rolling")
    run = lgint.integrate(b.build(), "radau5", t_end=1.0, h=0.05)
    acceleration = 9.81 * 0.3 / np.sqrt(1.09) / (1 + INERTIA[0] / (2.0 * 0.3**2))
    assert np.linalg.norm(run.position("wheel")[-1] - run.position("wheel")[0]) == pytest.approx(acceleration / 2)
    pushed = run.reaction("rolling")[-1, :3]  # on the wheel: the normal force, and friction up the slope
    assert pushed @ up == pytest.approx(2 * 9.81 / np.sqrt(1.09))
    assert np.linalg.norm(pushed - (pushed @ up) * up) == pytest.approx(INERTIA[0] * acceleration / 0.3**2)


def test_the_reaction_of_the_plane_balances_weight_and_inertia():
    state = lgint.models.rolling_disk(**LIVELY).state()
    force = disk_terms(state.rotation("disk"), state.rotation("disk") @ state.angular_velocity("disk"))[1]
    assert np.allclose(state.reaction("rolling")[:3], force, rtol=1e-13)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda b: b.add_rolling("wheel", radius=0.3, axis=(0, 0, 1)), "axis: the wheel on 'wheel' lies flat"),
        (lambda b: b.add_rolling("wheel", radius=0.3, axis=(0, 0, 0)), "axis of the wheel: a vector of any length but"),
        (lambda b: b.add_rolling("wheel", radius=0.0, axis=(0, 1, 0)), "radius of 'wheel.rolling': a positive number"),
        (lambda b: b.add_rolling("wheel", radius=1.0, axis=(0, 1, 0), tube=-1), "tube of 'wheel.rolling'"),
        (lambda b: b.add_rolling("wheel", radius=1.0, axis=(0, 1, 0), plane=(0, 0, 1)), "plane: a point and a normal"),
        (lambda b: b.add_rolling(lgint.ground, radius=1.0, axis=(0, 1, 0)), "body of a wheel: a body expected"),
        (lambda b: b.add_knife_edge("wheel", local_point=(0, 0), normal=(0, 1, 0)), "local_point of a knife edge"),
        (lambda b: b.add_knife_edge("wheel", local_point=(0, 0, 0), normal=(0, 0, 0)), "normal of the knife edge"),
        (lambda b: b.add_knife_edge("whel", local_point=(0, 0, 0), normal=(0, 1, 0)), "whel"),
    ],
)
def test_what_makes_no_sense_is_refused(call, message):
    b = lgint.ModelBuilder()
    b.add_body("wheel", mass=1.0, inertia=INERTIA, position=(0, 0, 0.3))
    with pytest.raises(ValueError, match=message):
        call(b)


def test_a_start_that_slips_is_refused_or_projected():
    b = lgint.ModelBuilder()
    b.add_body("wheel", mass=1.0, inertia=INERTIA, position=(0, 0, 0.3), velocity=(1, 0, 0))
    b.add_rolling("wheel", radius=0.3, axis=(0, 1, 0))
    with pytest.raises(ValueError, match="wheel.rolling: slip along e1"):
        b.build()
    rolls = b.build(start="project").state()
    assert rolls.velocity("wheel")[0] == pytest.approx(0.3 * rolls.angular_velocity("wheel")[1]) != 0


# ---- starts, states, statics, cars ----


def test_positions_are_projected_without_rows_of_velocity_alone():
    """The shortest way back to the plane, in the mass metric, is along M^-1 of the gradient of the contact alone."""
    model = lgint.models.rolling_disk(**LIVELY)
    q = model.core.retract(model.q0, 1e-5 * np.array([0.3, -0.2, 0.9, 0.4, 0.1, -0.6]))
    found, v = model.core.project(0.0, q, model.v0)
    way, M = model.core.difference(q, found), model.state().mass_matrix()
    gradient = model.state().constraint_matrix()[0]
    along = np.linalg.solve(M, gradient)
    assert np.abs(way - along * (way @ way) / (way @ along)).max() < 1e-4 * np.abs(way).max()
    assert np.abs(model.core.residual(0.0, found, v)).max() < 1e-13


def test_mobility_counts_rows_of_velocity_alone_apart():
    found = lgint.models.rolling_disk().mobility()
    assert (found.degrees_of_freedom, found.joints, found.nonholonomic) == (3, {"rolling": 3}, {"rolling": 2})
    assert "3 degrees of freedom, 5 coordinates" in repr(found) and "rolling: -3 (-2 of velocity alone)" in repr(found)


def sled(y=0.0):
    """A sled on a plane between two springs, with a blade along it; they hold it wherever the blade can go."""
    b = lgint.ModelBuilder(gravity=(0, 0, -9.81))
    b.add_body("sled", mass=1.0, inertia=INERTIA, position=(0, y, 0))
    b.add_joint("planar", lgint.ground, "sled", point=(0, 0, 0), axis=(0, 0, 1), name="plane")
    b.add_knife_edge("sled", local_point=(0, 0, 0), normal=(0, 1, 0), name="blade")
    for anchor, end in (((1.0, 0.5, 0), 0.3), ((-1.0, -0.1, 0), -0.3)):
        b.add_spring(lgint.ground, "sled", stiffness=50.0, length=0.2, point_a=anchor, point_b=(end, 0, 0))
    return b.build()


def test_rest_is_where_the_blade_can_go_and_its_reaction_balances():
    rests = [lgint.equilibrium(sled(y)).state(-1) for y in (0.0, 0.1)]
    for rest in rests:
        accelerations, lam = rest.accelerations()
        assert np.abs(accelerations).max() < 1e-12 and np.allclose(lam, rest.lam, rtol=1e-10, atol=1e-10)
        assert abs(rest.reaction("blade")[:3] @ rest.rotation("sled")[:, 1]) > 1
    assert np.linalg.norm(rests[0].position("sled") - rests[1].position("sled")) > 0.05


@pytest.mark.parametrize("formulation", ["R3xSO3", "minimal"])
def test_a_cart_with_two_wheels_on_one_axle_leaves_out_the_redundant_slip(formulation):
    """Both wheels forbid the same slip across; in minimal coordinates they are links of the tree of the frame."""
    b = lgint.ModelBuilder(gravity=(0, 0, -9.81))
    b.add_body("frame", mass=5.0, inertia=(0.2, 0.3, 0.4), position=(0.0, 0, 0.25), velocity=(1.0, 0, 0))
    b.add_joint("planar", lgint.ground, "frame", point=(0, 0, 0.25), axis=(0, 0, 1), name="floor")
    for side in (-1, 1):
        name = f"wheel{side}"
        moving = {} if formulation == "minimal" else {"velocity": (1, 0, 0), "angular_velocity": (0, 4, 0)}
        at = (0, 0.4 * side, 0.25)
        b.add_body(name, mass=0.5, inertia=(0.01, 0.02, 0.01), position=at, formulation=formulation, **moving)
        spin = {"rate": 4.0} if formulation == "minimal" else {}
        b.add_joint("revolute", "frame", name, point=at, axis=(0, 1, 0), name=f"axle{side}", **spin)
        b.add_rolling(name, radius=0.25, axis=(0, 1, 0), name=f"rolling{side}")
    with pytest.raises(ValueError, match="redundant constraints: .*slip along e2"):
        b.build()
    model = b.build(redundant="drop")
    assert model.mobility().degrees_of_freedom == 2
    run = lgint.integrate(model, "genalpha", t_end=0.5, h=1e-2, index="stabilized")
    assert np.allclose(run.position("frame")[-1], (0.5, 0, 0.25), rtol=0, atol=1e-10)
    assert np.allclose(run.joint_angle("axle1")[-1], 2.0)


# ---- runs ----

ALL = [(name, {}) for name in lgint.methods() if STEPPER[name] != "conserve"] + INDICES[1:]
ALL += [(name, {"equivariant": True}) for name in CONSERVING]


@pytest.mark.parametrize("case", ALL, ids=ids)
def test_a_run_resumes_bit_for_bit(case, tmp_path):
    (method, options), whole = case, {"t_end": 0.4, "h": 0.02}
    model = lgint.models.rolling_disk(formulation="euler_parameters", **LIVELY)
    run = lgint.integrate(model, method, **whole, **options)
    half = lgint.integrate(model, method, t_end=0.2, h=0.02, **options)
    half.save(tmp_path / "half.npz")
    rest = lgint.integrate(model, method, **whole, start=lgint.load(tmp_path / "half.npz"), **options)
    for name in ("q", "v", "lam"):
        assert np.array_equal(getattr(run, name)[-1], getattr(rest, name)[-1])


@pytest.mark.parametrize("case", ALL, ids=ids)
def test_a_function_that_fails_leaves_what_was_computed(case):
    (method, options), model = case, lgint.models.rolling_disk(formulation="euler_parameters", **LIVELY)
    b = lgint.ModelBuilder(gravity=(0, 0, -9.81), formulation="euler_parameters")
    start, calm = model.state(), []

    def push(t):
        if t > 0.1 and not calm:
            raise RuntimeError("no push")
        return np.array([0.1, 0.0, 0.0])

    place = {"position": start.position("disk"), "rotation": start.rotation("disk")}
    rates = {"velocity": start.velocity("disk"), "angular_velocity": start.angular_velocity("disk")}
    b.add_body("disk", mass=1.0, inertia=(0.0625, 0.125, 0.0625), **place, **rates)
    b.add_rolling("disk", radius=0.5, axis=(0, 1, 0))
    b.add_force("disk", force=push)
    made = b.build()
    with pytest.raises(RuntimeError, match="no push") as caught:
        lgint.integrate(made, method, t_end=0.2, h=0.02, **options)
    before = caught.value.trajectory
    calm.append(True)
    run = lgint.integrate(made, method, t_end=0.2, h=0.02, **options)
    assert 3 <= len(before.t) <= 6 and np.array_equal(before.q, run.q[: len(before.t)])
