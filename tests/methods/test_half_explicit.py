"""Half-explicit methods: orders, drift, and the formulas of a step and of its error estimate."""

import numpy as np
import pytest

import lgint
from battery import observed_order, rotation_error, slow_top, top_by_scipy
from exact import exact
from kinds import EXPLICIT_ONLY, FORMULATIONS, NODES

ROWS = {name: lgint.method_info(name) for name in lgint.methods()}
METHODS = [name for name, row in ROWS.items() if row["stepper"] == "herk"]
PAIRS = [name for name in METHODS if ROWS[name]["tableau"]["b_hat"]]
ORDER = {name: ROWS[name]["order"] for name in METHODS}
PROJECTIONS = ("none", "position", "velocity", "both")
FIRST_STAGES = ("consistent", "printed")

# ---- orders ----

SEMIDIRECT = [name for name in FORMULATIONS if NODES[name]["position"] == "body"]
SLOW, SPUN, TURNED, FAST = (1.0, 16.0, -4.0), (30.0, 20.0, 10.0), (5.0, -4.0, 60.0), (0.0, 150.0, -4.61538)
# Initial angular velocity, end, and the coarsest step for which two halvings are asymptotic. On the fast top, with its
# constraint in the axes of the body, that needs short steps; slower motions allow longer ones.
HALVINGS = {2: (SLOW, 0.5, 2.0**-10), 3: (SLOW, 0.5, 2.0**-8), 4: (SLOW, 0.5, 2.0**-8), 5: (SPUN, 0.25, 2.0**-9)}
OTHER_HALVINGS = {
    (3, "tait_bryan"): ((5.0, 4.0, 6.0), 0.25, 2.0**-9),
    (3, "tait_bryan_omega"): (SLOW, 0.25, 2.0**-9),
    (4, "tait_bryan"): ((8.0, 1.0, -6.0), 0.25, 2.0**-8),
    **{(5, name): (FAST, 0.125, 2.0**-9) for name in SEMIDIRECT},
    (5, "euler_parameters"): (TURNED, 0.125, 2.0**-10),
    (5, "tait_bryan"): ((10.0, 3.0, 15.0), 0.125, 2.0**-8),
    (5, "tait_bryan_omega"): ((20.0, -5.0, 20.0), 0.125, 2.0**-9),
}


def errors_of(method, formulation, frame, halvings, **options):
    """Step sizes, and errors of attitude, angular velocity and multipliers and of the constraints at both levels."""
    omega0, t_end, coarsest = halvings
    R, w, _, force = top_by_scipy(omega0, t_end)
    force = force if frame == "inertial" else R.T @ force
    top = slow_top(formulation, omega0=omega0, constraint_frame=frame)
    steps, rows = [round(t_end / coarsest) * 2**i for i in range(3)], []
    for n in steps:
        run = lgint.integrate(top, method, t_end=t_end, h=t_end / n, **options)
        residuals = [np.abs(run.constraint_residual(level)).max() for level in ("position", "velocity")]
        attitude, velocity = rotation_error(run.rotation("top")[-1], R), run.angular_velocity("top")[-1] - w
        rows.append([attitude, np.linalg.norm(velocity), np.linalg.norm(run.lam[-1, :3] - force), *residuals])
    return steps, np.transpose(rows)


@pytest.mark.parametrize("frame", ["inertial", "body"])
@pytest.mark.parametrize("formulation", (*FORMULATIONS, *EXPLICIT_ONLY))
@pytest.mark.parametrize("method", METHODS)
def test_orders_of_the_consistent_form(method, formulation, frame):
    """q, v, the multipliers and the drift have the order of the method; on semidirect products nothing drifts."""
    p = ORDER[method]
    halvings = OTHER_HALVINGS.get((p, formulation), HALVINGS[p])
    steps, (q, v, lam, drift, velocity) = errors_of(method, formulation, frame, halvings, first_stage="consistent")
    assert observed_order(steps, q) == pytest.approx(p, abs=0.15)
    assert observed_order(steps, v) == pytest.approx(p, abs=0.16)
    early = (method, formulation) == ("herk5", "tait_bryan_omega")  # here lam has not reached its range yet
    assert observed_order(steps, lam) == pytest.approx(p, abs=0.4 if early else 0.15)
    assert velocity.max() < 2e-12
    if formulation in SEMIDIRECT:
        assert drift.max() < 2e-14
    else:
        assert observed_order(steps, drift) == pytest.approx(p, abs=0.15)


@pytest.mark.parametrize("frame", ["inertial", "body"])
@pytest.mark.parametrize("formulation", (*FORMULATIONS, *EXPLICIT_ONLY))
@pytest.mark.parametrize("method", METHODS)
def test_orders_of_the_printed_form(method, formulation, frame):
    """q and v have the order of the method, multipliers at least one less, and the drift at least the same order."""
    p, semidirect = ORDER[method], formulation in SEMIDIRECT
    halvings = OTHER_HALVINGS.get((p, formulation), HALVINGS[p])
    steps, (q, v, lam, drift, velocity) = errors_of(method, formulation, frame, halvings, first_stage="printed")
    assert observed_order(steps, q) == pytest.approx(p, abs=0.15)
    assert observed_order(steps, v) == pytest.approx(p, abs=0.15)
    assert observed_order(steps, lam) > p - 1 - 0.15
    assert velocity.max() < 2e-12
    if semidirect and p >= 4:
        assert observed_order(steps, lam) == pytest.approx(p, abs=0.15)
        assert drift.max() < 1e-13
    elif semidirect:
        assert observed_order(steps, drift) == pytest.approx({2: 2, 3: 4}[p], abs=0.15)
    else:
        assert observed_order(steps, drift) == pytest.approx(p, abs=0.15)


@pytest.mark.parametrize("formulation", ["R3xSO3", "R3xS3", "R3xRV"])
@pytest.mark.parametrize("method", METHODS)
def test_printed_multipliers_have_one_order_less_on_direct_products(method, formulation):
    """It shows on the fast top with its constraint in the axes of the body, for steps below about 2^-10."""
    finest = {2: 2.0**-13, 3: 2.0**-12, 4: 2.0**-12, 5: 2.0**-11}
    halvings = FAST, 0.0625, finest[ORDER[method]]
    steps, (q, v, lam, *_) = errors_of(method, formulation, "body", halvings, first_stage="printed")
    assert observed_order(steps, lam) == pytest.approx(ORDER[method] - 1, abs=0.15)


@pytest.mark.parametrize("first_stage", FIRST_STAGES)
@pytest.mark.parametrize("project", PROJECTIONS[1:])
@pytest.mark.parametrize("formulation", ["R3xSO3", "SE3", "euler_parameters"])
@pytest.mark.parametrize("method", METHODS)
def test_projection_keeps_the_order_and_removes_the_drift(method, formulation, project, first_stage):
    p = ORDER[method]
    halvings = OTHER_HALVINGS.get((p, formulation), HALVINGS[p])
    options = dict(project=project, first_stage=first_stage)
    steps, (q, v, lam, drift, velocity) = errors_of(method, formulation, "inertial", halvings, **options)
    assert observed_order(steps, q) == pytest.approx(p, abs=0.2) and observed_order(steps, v) > p - 0.2
    assert observed_order(steps, lam) > p - (first_stage == "printed") - 0.15
    assert drift.max() < 1e-13 or project == "velocity"
    assert velocity.max() < 2e-12 or project == "position"


@pytest.mark.parametrize("formulation", (*FORMULATIONS, *EXPLICIT_ONLY))
@pytest.mark.parametrize("method", METHODS)
def test_projection_removes_the_drift_in_every_formulation(method, formulation):
    """This holds in both scalings of the constraint and includes the unit length of quaternions."""
    for frame in ("inertial", "body"):
        run = lgint.integrate(
            slow_top(formulation, omega0=SLOW, constraint_frame=frame), method, t_end=0.1, h=0.01, project="both"
        )
        assert np.abs(run.constraint_residual("position")).max() < 1e-13
        assert np.abs(run.constraint_residual("velocity")).max() < 2e-12


# ---- the formulas of a step ----

MASS, INERTIA, COM = 15.0, np.diag([0.234375, 0.46875, 0.234375]), np.array([0.0, 1.0, 0.0])
M = np.diag([MASS] * 3 + list(np.diag(INERTIA)))
so3 = lgint.groups.so3


def rows_of(R):
    """B of x - R com = 0; phi' = B v."""
    return np.hstack([np.eye(3), R @ so3.hat(COM)])


def step_of_the_top(method, x, R, v, vdot, lam, h):
    """A step by (12)-(15) of tumiotto2024 on R^3 x SO(3): x, R, v, lam, the last acceleration, and embedded x, R, v."""
    tableau = ROWS[method]["tableau"]
    A, d = [[float(exact(a)) for a in row] for row in tableau["A"]], [float(exact(a)) for a in tableau["d"]]
    end, stages = tableau["A"].index(tableau["b"]) if tableau["b"] in tableau["A"] else None, len(A) - 1
    rates, slopes, multipliers = [v], [vdot], [lam]

    def place(row):
        theta = h * sum(a * K for a, K in zip(row, rates, strict=False))
        return x + theta[:3], R @ so3.exp(theta[3:]), theta

    def solve(R_i, V_i, row, R_next):
        i = len(slopes) if len(slopes) < stages else stages - 1
        known = v + h * sum(a * k for a, k in zip(row[:i], slopes, strict=False))
        force = np.concatenate([[0, 0, -9.81 * MASS], -np.cross(V_i[3:], INERTIA @ V_i[3:])])
        matrix = np.block([[M, rows_of(R_i).T], [rows_of(R_next), np.zeros((3, 3))]])
        solution = np.linalg.solve(matrix, np.concatenate([force, -rows_of(R_next) @ known / (h * row[i])]))
        return solution[:6], solution[6:], known + h * row[i] * solution[:6]

    points = {}
    (x_i, R_i, theta), V_i = place(A[1]), v + h * A[1][0] * vdot
    for i in range(1, stages):
        rates.append(np.concatenate([V_i[:3], so3.tangent_inv(theta[3:]) @ V_i[3:]]))
        x_next, R_next, theta = place(A[i + 1])
        if i == stages - 1 and tableau["b_hat"]:
            b_hat = [float(exact(a)) for a in tableau["b_hat"]]
            x_hat, R_hat, _ = place(b_hat)
            embedded = x_hat, R_hat, solve(R_i, V_i, b_hat, R_hat)[2]
        k, Lam, V_next = solve(R_i, V_i, A[i + 1], R_next)
        slopes.append(k), multipliers.append(Lam)
        x_i, R_i, V_i = x_next, R_next, V_next
        points[i + 1] = x_i, R_i, V_i
    lam_end = sum(weight * Lam for weight, Lam in zip(d, multipliers, strict=False))
    return *points[end], lam_end, slopes[-1], embedded if tableau["b_hat"] else None


@pytest.mark.parametrize("method", METHODS)
def test_a_step_is_that_of_the_paper(method):
    run = lgint.integrate(slow_top("R3xSO3"), method, t_end=0.06, h=0.02, first_stage="printed")
    for i in range(3):
        before = run.position("top")[i], run.rotation("top")[i], run.v[i], run.vdot[i], run.lam[i]
        x, R, v, lam, last, _ = step_of_the_top(method, *before, 0.02)
        assert np.allclose(run.position("top")[i + 1], x, rtol=0, atol=1e-13)
        assert np.allclose(run.rotation("top")[i + 1], R, rtol=0, atol=1e-13)
        assert np.allclose(run.v[i + 1], v, rtol=0, atol=1e-12)
        assert np.allclose(run.lam[i + 1], lam, rtol=1e-10)
        force = np.concatenate([[0, 0, -9.81 * MASS], -np.cross(v[3:], INERTIA @ v[3:])])
        assert np.allclose(run.vdot[i + 1], np.linalg.solve(M, force - rows_of(R).T @ lam), rtol=1e-9, atol=1e-9)
        assert ORDER[method] < 4 or np.allclose(run.vdot[i + 1], last, rtol=1e-10, atol=1e-9)


def consistent(x, R, v):
    """Accelerations and multipliers of the index-1 equations of x - R com = 0."""
    w = v[3:]
    force = np.concatenate([[0, 0, -9.81 * MASS], -np.cross(w, INERTIA @ w), R @ np.cross(w, np.cross(w, COM))])
    solution = np.linalg.solve(np.block([[M, rows_of(R).T], [rows_of(R), np.zeros((3, 3))]]), force)
    return solution[:6], solution[6:]


@pytest.mark.parametrize("project", PROJECTIONS)
@pytest.mark.parametrize("method", METHODS)
def test_a_consistent_step_begins_and_ends_with_the_index_1_equations(method, project):
    """Its q and v are those of the paper's step from there; stages that only serve the printed form are left out."""
    run = lgint.integrate(slow_top("R3xSO3"), method, t_end=0.06, h=0.02, first_stage="consistent", project=project)
    for i in range(3):
        before = run.position("top")[i], run.rotation("top")[i], run.v[i]
        x, R, v, *_ = step_of_the_top(method, *before, *consistent(*before), 0.02)
        if project == "none":
            assert np.allclose(run.position("top")[i + 1], x, rtol=0, atol=1e-13)
            assert np.allclose(run.rotation("top")[i + 1], R, rtol=0, atol=1e-13)
            assert np.allclose(run.v[i + 1], v, rtol=0, atol=1e-12)
        vdot, lam = consistent(run.position("top")[i + 1], run.rotation("top")[i + 1], run.v[i + 1])
        assert np.allclose(run.vdot[i + 1], vdot, rtol=1e-9, atol=1e-9)
        assert np.allclose(run.lam[i + 1], lam, rtol=1e-10)


@pytest.mark.parametrize("first_stage", FIRST_STAGES)
@pytest.mark.parametrize("project", PROJECTIONS)
@pytest.mark.parametrize("method", PAIRS)
def test_the_error_is_that_of_the_step_before_its_projection(method, project, first_stage):
    """The error is (21), for which the last stage is solved once more with the embedded weights."""
    h, rtol, atol = 0.02, np.geomspace(1e-4, 1e-2, 12), np.geomspace(3e-3, 1e-4, 12)
    fixed = dict(h=h, rtol=rtol, atol=atol, control="none", first_stage=first_stage)
    run = lgint.integrate(slow_top("R3xSO3"), method, t_end=3 * h, project=project, **fixed)
    for i in range(3):
        before = run.position("top")[i], run.rotation("top")[i], run.v[i], run.vdot[i], run.lam[i]
        x, R, v, _, _, (x_hat, R_hat, v_hat) = step_of_the_top(method, *before, h)
        e = np.concatenate([x - x_hat, so3.log(R_hat.T @ R), v - v_hat])
        moved = run.position("top")[i + 1] - before[0], so3.log(before[1].T @ run.rotation("top")[i + 1])
        way = np.concatenate([*np.abs(moved), np.maximum(np.abs(run.v[i]), np.abs(run.v[i + 1]))])
        assert run.error[i + 1] == pytest.approx(np.sqrt(np.mean((e / (atol + rtol * way)) ** 2)), rel=1e-8)


@pytest.mark.parametrize("project", PROJECTIONS)
@pytest.mark.parametrize("formulation", ["R3xSO3", "SE3", "euler_parameters"])
@pytest.mark.parametrize("method", PAIRS)
def test_the_error_of_one_step_has_the_order_of_the_method(method, formulation, project):
    top, sizes = slow_top(formulation), 2.0 ** -np.arange(7, 10)
    options = dict(atol=1.0, control="none", project=project)
    errors = [lgint.integrate(top, method, t_end=h, h=h, **options).error[-1] for h in sizes]
    assert np.polyfit(np.log(sizes), np.log(errors), 1)[0] == pytest.approx(ORDER[method], abs=0.15)


# ---- without constraints ----


@pytest.mark.parametrize("method", METHODS)
def test_without_constraints_they_are_the_runge_kutta_methods_of_their_tables(method):
    tableau = ROWS[method]["tableau"]
    stages = max(i for i, b in enumerate(tableau["b"]) if exact(b) != 0) + 1
    A = [[float(exact(a)) for a in row] for row in tableau["A"]]
    b, c = ([float(exact(a)) for a in tableau[name]] for name in "bc")

    def force(t, q, v):
        return np.array([np.sin(3 * t) - q[0] * v[1], q[0] - q[1] ** 3])

    mass, h, y = np.array([[2.0, 0.3], [0.3, 1.0]]), 0.1, np.array([1.0, 0.0, 0.0, 0.5])
    model = lgint.CallableModel("Rn", y[:2], y[2:], mass=lambda t, q: mass, force=force)
    run = lgint.integrate(model, method, t_end=5 * h, h=h)
    for n in range(5):
        K = []
        for i in range(stages):
            Y = y + h * sum((a * k for a, k in zip(A[i], K, strict=False)), np.zeros(4))
            K.append(np.concatenate([Y[2:], np.linalg.solve(mass, force((n + c[i]) * h, Y[:2], Y[2:]))]))
        y = y + h * sum(weight * k for weight, k in zip(b, K, strict=False))
        assert np.allclose(np.concatenate([run.q[n + 1], run.v[n + 1]]), y, rtol=0, atol=1e-14)


@pytest.mark.parametrize("options", [{"h": 0.01}, {"rtol": 1e-8}], ids=["fixed", "adaptive"])
@pytest.mark.parametrize("formulation", [name for name in (*FORMULATIONS, *EXPLICIT_ONLY) if not NODES[name]["nown"]])
def test_herk5_without_constraints_is_dopri5(formulation, options):
    top = lgint.models.heavy_top(formulation=formulation, constrained=False, omega0=(14.0, 2.0, -3.0))
    runs = [lgint.integrate(top, method, t_end=0.3, **options) for method in ("herk5", "dopri5")]
    assert runs[0].q.tobytes() == runs[1].q.tobytes() and runs[0].error.tobytes() == runs[1].error.tobytes()
    assert runs[0].stats.factorisations == runs[1].stats.factorisations


@pytest.mark.parametrize("damping", [0.0, 3.0])
@pytest.mark.parametrize("formulation", [name for name in (*FORMULATIONS, *EXPLICIT_ONLY) if not NODES[name]["nown"]])
@pytest.mark.parametrize("method", METHODS)
def test_a_body_without_constraints_takes_its_own_steps_beside_one_with_them(method, formulation, damping):
    runs = []
    for joint in (False, True):
        builder = lgint.ModelBuilder(gravity=(0, 0, -9.81))
        for name, x in (("free", 0.0), ("bound", 2.0)):
            builder.add_body(
                name,
                mass=2.0,
                inertia=np.diag([0.3, 0.2, 0.4]),
                position=(x, 0.5, 0.0),
                angular_velocity=(1.0, 4.0, -2.0),
                formulation=formulation,
            )
        springs = {"stiffness": 200.0, "damping": damping, "length": 0.4, "point_a": (0.0, 1.0, 1.0)}
        builder.add_spring(lgint.ground, "free", point_b=(0.1, 0.7, -0.2), **springs)
        if joint:
            builder.add_joint("spherical", lgint.ground, "bound", point=(2.0, 0.5, 0.0))
        runs.append(lgint.integrate(builder.build(), method, t_end=0.2, h=0.01))
    for one in ("position", "rotation", "velocity", "angular_velocity"):
        alone, beside = (getattr(run, one)("free") for run in runs)
        assert np.allclose(alone, beside, rtol=0, atol=1e-12)
