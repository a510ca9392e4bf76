"""Generalized-alpha in all its variants: orders, constraint residuals, damping, Newton's method and its options."""

import copy
from collections import Counter

import numpy as np
import pytest
from scipy.signal import lfilter

import lgint
from battery import T_END, observed_order, rotation_error, slow_top, top_by_scipy
from face.systems import double_pendulum
from kinds import FORMULATIONS, LIE

INDICES = (3, 2, "stabilized")
SIGMAS = (0.0, 1.0, "optimal")
FORMS = ("exact", "printed", "printed_half")
STEPS = (200, 400, 800)


def errors_at_the_end(model, method, steps, **options):
    """Errors at the end: rows for q, v and lam, a column for each number of steps."""
    R, w, _, force = top_by_scipy()
    rows = []
    for n in steps:
        run = lgint.integrate(model, method, t_end=T_END, h=T_END / n, **options)
        rows.append(
            [
                rotation_error(run.rotation("top")[-1], R),
                np.linalg.norm(run.angular_velocity("top")[-1] - w),
                np.linalg.norm(run.lam[-1, :3] - force),
            ]
        )
    return np.array(rows).T


def assert_second_order(text, steps, errors):
    for name, row in zip(("q", "v", "lam"), errors, strict=True):
        observed = observed_order(steps, row)
        assert abs(observed - 2) < 0.15, f"{text} {name}: order {observed:.3f}, errors {row}"


# ---- orders ----


@pytest.mark.parametrize("formulation, sigma", [*((f, s) for f in LIE for s in SIGMAS), ("euler_parameters", 1.0)])
@pytest.mark.parametrize("index", INDICES)
def test_order(index, formulation, sigma):
    errors = errors_at_the_end(slow_top(formulation), "genalpha", STEPS, rho_inf=0.8, sigma=sigma, index=index)
    assert_second_order(f"{index} {formulation} {sigma}", STEPS, errors)


@pytest.mark.parametrize("form", FORMS[1:])
@pytest.mark.parametrize("index", INDICES)
def test_order_of_the_printed_algorithms(index, form):
    for sigma in (1.0, "optimal"):
        errors = errors_at_the_end(slow_top("SE3"), "genalpha", STEPS, rho_inf=0.8, sigma=sigma, index=index, form=form)
        assert_second_order(f"{form} {index} {sigma}", STEPS, errors)


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("method, options", [("newmark", {}), ("genalpha", dict(rho_inf=1.0, index="stabilized"))])
def test_order_without_damping(method, options, formulation):
    assert_second_order(
        f"{method} {formulation}", STEPS, errors_at_the_end(slow_top(formulation), method, STEPS, **options)
    )


@pytest.mark.parametrize("sigma", SIGMAS)
@pytest.mark.parametrize("index", INDICES)
@pytest.mark.parametrize("formulation", ["R3xSO3", "euler_parameters"])
def test_optimal_start(formulation, index, sigma):
    """With the plain start, the largest error of the multipliers, which is at the first steps, is of first order."""
    model = slow_top(formulation)
    fine = lgint.integrate(model, "rk67", t_end=0.02, h=5e-5)
    largest = {}
    for start in ("plain", "optimal"):
        rows = []
        for h in (1e-3, 5e-4, 2.5e-4):
            common = dict(rho_inf=0.8, sigma=sigma, index=index, newton="full")  # the last errors are below tolerances
            run = lgint.integrate(model, "genalpha", t_end=0.02, h=h, start=start, **common)
            same = np.rint(run.t / 5e-5).astype(int)
            rows.append([np.abs(getattr(run, x) - getattr(fine, x)[same]).max() for x in ("q", "v", "lam")])
        largest[start] = [np.log2(a / b) for a, b in zip(rows[-2], rows[-1], strict=True)]
    assert np.allclose(largest["optimal"], 2, atol=0.1)
    assert np.allclose(largest["plain"], [2, 2, 1], atol=0.15)


@pytest.mark.parametrize("options, most", [({}, 0.1), ({"start": "optimal"}, 5e-3), ({"index": "stabilized"}, 3e-3)])
def test_multipliers_ring_after_plain_starts_alone(options, most):
    """After the start, and after an action with which the run begins anew."""

    def pause(t, q, v):
        return t - 0.0303

    pause.action = lambda state: state
    model = lgint.models.heavy_top(formulation="R3xSO3")
    run = lgint.integrate(model, "genalpha", t_end=0.06, h=1e-3, events=pause, **options)
    once = np.append(True, np.diff(run.t) > 0)
    fine = lgint.integrate(model, "radau5", t_end=0.06, rtol=1e-10, t_eval=run.t[once])
    error = np.abs(run.lam[once] - fine.lam).max(axis=1) / np.abs(fine.lam).max()
    for largest in (error[1:20].max(), error[32:50].max()):
        assert 0.3 * most < largest < most


BEND = 0.25 * T_END


def pushed_top():
    """A body on a joint under a force from a table, which has a kink at a quarter of the time."""
    builder = lgint.ModelBuilder(gravity=(0, 0, -9.81), formulation="R3xSO3")
    top = builder.add_body(
        "top",
        mass=15.0,
        inertia=(0.23, 0.47, 0.25),
        position=(0, 1, 0),
        velocity=(3, 0, -1),
        angular_velocity=(-1, 4, -3),
    )
    builder.add_joint("spherical", lgint.ground, top, point=(0, 0, 0), name="pivot")
    builder.add_force(top, force=(np.array([0, BEND, 1]), np.array([[0, 0, 0], [60, 0, 40], [0, 0, 0.0]])))
    return builder.build()


def jolted_pendulum():
    """A point on a circle; at a quarter of the time a force sets in abruptly."""

    def force(t, q, v):
        return np.array([3.0, -9.81]) if t > BEND else np.array([0, -9.81])

    return lgint.CallableModel(
        ("Rn", 2),
        [1.0, 0.0],
        [0.0, 2.0],
        mass=lambda t, q: np.diag([1.0, 2.0]),
        force=force,
        constraint=lambda t, q: np.array([q @ q - 1]) / 2,
        constraint_jacobian=lambda t, q: q[None, :],
        constraint_acceleration=lambda t, q, v: np.array([-(v @ v)]),
        tangent=lambda t, q, v, a, lam: (lam[0] * np.eye(2), np.zeros((2, 2))),
        kinks=[BEND],
    )


@pytest.mark.parametrize("index", INDICES)
@pytest.mark.parametrize("model", [pushed_top(), jolted_pendulum()], ids=["bend", "jump"])
def test_order_across_kinks_and_landings(model, index):
    """The load has a kink, and stops off the grid change the step size."""
    stops = [0.3137 * T_END, 0.7719 * T_END]
    steps = (100, 200, 400)
    fine = lgint.integrate(model, "rk67", t_end=T_END, h=1e-3, stops=stops)
    errors = []
    for n in steps:
        run = lgint.integrate(model, "genalpha", t_end=T_END, h=T_END / n, stops=stops, rho_inf=0.7, index=index)
        assert np.ptp(run.h[1:]) > 0 and BEND in run.t
        errors.append([np.abs(getattr(run, x)[-1] - getattr(fine, x)[-1]).max() for x in ("q", "v", "lam")])
    assert_second_order(f"{index}", steps, np.array(errors).T)


@pytest.mark.parametrize("index", INDICES)
def test_order_with_uneven_steps(index):
    """Steps of 1.2 h and 0.8 h alternate.

    In index 3 the error h^2 of the velocities alternates with h and its rate enters the multipliers, which are then of
    first order.
    """
    R, w, _, force = top_by_scipy()
    errors = []
    for n in STEPS:
        stepper = lgint.Stepper(slow_top("R3xSO3"), "genalpha", rho_inf=0.3, index=index)
        for i in range(n):
            stepper.step((0.8 if i % 2 else 1.2) * T_END / n)
        Q = stepper.q[3:].reshape(3, 3)
        errors.append([rotation_error(Q, R), np.linalg.norm(stepper.v[3:] - w), np.linalg.norm(stepper.lam - force)])
    orders = [observed_order(STEPS, row) for row in np.array(errors).T]
    assert np.allclose(orders, [2, 2, 1 if index == 3 else 2], atol=0.15)


# ---- the Lie group term ----

# Error of the rotation divided by that of geom1, at rho_inf = 0.9.
RATIOS = [
    ("exact", 1.0, 0.504),
    ("exact", "optimal", 0.0),
    ("printed", 0.0, 1.0),
    ("printed", 1.0, 2.011),
    ("printed_half", 1.0, 1.261),
    ("printed", "optimal", 1.0025),
    ("printed_half", "optimal", 0.5036),
]


def lie_term_error(**options):
    model = lgint.models.lie_term()
    fine = lgint.integrate(model, "rk67", t_end=1.0, h=2e-3)
    run = lgint.integrate(model, "genalpha", t_end=1.0, h=1e-3, rho_inf=0.9, newton="full", **options)
    return rotation_error(run.rotation("body")[-1], fine.rotation("body")[-1])


@pytest.mark.parametrize("form, sigma, ratio", RATIOS)
def test_lie_group_term(form, sigma, ratio):
    assert lie_term_error(form=form, sigma=sigma) / lie_term_error(sigma=0.0) == pytest.approx(ratio, abs=1e-3)


# ---- constraints ----


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("index", INDICES)
def test_constraint_residuals(index, formulation, form):
    """Index 3 satisfies constraints at position level, index 2 at velocity level with a drift of order two, the
    stabilised form at both.
    """
    drift = []
    for h in (1e-3, 5e-4):
        options = dict(index=index, form=form, newton_rtol=1e-12, newton="full")  # which goes on to round-off
        run = lgint.integrate(slow_top(formulation), "genalpha", t_end=0.2, h=h, **options)
        position, velocity = (np.abs(run.constraint_residual(level)).max() for level in ("position", "velocity"))
        if index != 2:
            assert position < 1e-14
        if index != 3:
            assert velocity < 2e-12
        drift.append(position if index == 2 else velocity)
    if (
        form == "exact" and index != "stabilized" and formulation not in ("SE3", "S3R3")
    ):  # the formulations left out keep a fixed point exactly
        assert drift[1] > 1e-8
        assert 1.7 < np.log2(drift[0] / drift[1]) < 2.3


# ---- damping ----


def oscillator(omega):
    return lgint.CallableModel(
        ("Rn", 1),
        [1.0],
        [0.0],
        mass=lambda t, q: np.eye(1),
        force=lambda t, q, v: -(omega**2) * q,
        tangent=lambda t, q, v, a, lam: ([[omega**2]], [[0.0]]),
    )


@pytest.mark.parametrize("rho_inf", [0.0, 0.3, 0.65, 0.9, 1.0])
def test_damping_at_infinite_frequency(rho_inf):
    """For a linear oscillator with h omega = 1e6, the matrix of a step in (h v, h^2 a, h^2 vdot) has the triple
    eigenvalue -rho_inf.
    """
    h = 1e-3
    model = oscillator(1e6 / h)
    before = lgint.integrate(model, "genalpha", t_end=h, h=h, rho_inf=rho_inf)
    columns = []
    for v, a, vdot in np.eye(3):
        start = copy.deepcopy(before)
        for name, value in (("q", -1e-12 * vdot), ("v", v / h), ("vdot", vdot / h**2)):
            start.end[name][-1] = value
        start.carry[0] = a / h**2
        start.carry[2] = 0  # forgets earlier steps, whose unknowns do not belong to this state
        run = lgint.integrate(model, "genalpha", t_end=2 * h, h=h, rho_inf=rho_inf, start=start)
        columns.append([run.v[-1, 0] * h, run.carry[0] * h**2, run.vdot[-1, 0] * h**2])
    step = np.array(columns).T
    assert np.allclose(np.poly(step), np.poly([-rho_inf] * 3), rtol=1e-9, atol=1e-11)
    assert np.cbrt(-np.linalg.det(step)) == pytest.approx(rho_inf, abs=1.01e-4)


@pytest.mark.parametrize("newton", ["full", "modified", "auto"])
@pytest.mark.parametrize("rho_inf", [0.0, 0.5, 0.9, 1.0])
def test_damping_does_not_depend_on_the_first_guess(rho_inf, newton):
    """On a stiff oscillator with h omega = 1e6, a guess of the size of omega^2 q leaves nothing but its round-off,
    eps (h omega)^2, in the coordinates.
    """
    h, omega = 1e-3, 1e9
    model, common = oscillator(omega), dict(t_end=20 * h, h=h, rho_inf=rho_inf, newton=newton)
    run = lgint.integrate(model, "genalpha", **common)
    plain = lgint.integrate(model, "genalpha", **common, predictor="plain", newton_rtol=1e-13)
    noise = np.finfo(float).eps * (h * omega) ** 2
    for name in ("q", "v", "vdot"):
        values, exact = getattr(run, name), getattr(plain, name)
        assert np.abs(values - exact).max() < 4 * noise * np.abs(exact).max()


# ---- what is carried to a resumed run ----

VARIANTS = [
    dict(newton="full"),
    dict(newton="full", index="stabilized"),
    dict(newton=None, index=2),
    dict(newton="modified"),
    dict(newton="modified", index=2),
    dict(newton="modified", index="stabilized"),
    dict(newton="modified", index="stabilized", form="printed", sigma="optimal"),
    dict(newton="modified", tangent_terms="force", tangent_operator=False),
    dict(newton="modified", predictor="plain"),
    dict(newton="modified", predictor="plain", index="stabilized"),
    dict(predictor="plain", index=2),
    dict(index=3),
    dict(index=2),
    dict(index="stabilized"),
    dict(newton="modified", start="optimal"),
    dict(rho_inf=1.0, index="stabilized"),
    dict(rho_inf=1.0, index=2, newton="modified"),
    dict(start="optimal", form="printed_half"),
    dict(index="stabilized", scaling=False, sigma=0.0),
]


@pytest.mark.parametrize("options", VARIANTS, ids=lambda o: "-".join(map(str, o.values())))
def test_resumed_at_any_step_bit_for_bit(options):
    model = double_pendulum("R3xSO3", "euler_parameters")
    h, n = 2e-3, 20
    whole = lgint.integrate(model, "genalpha", t_end=n * h, h=h, **options)
    rest = {key: value for key, value in options.items() if key != "start"}
    for stop in range(1, n):
        first = lgint.integrate(model, "genalpha", t_end=float(whole.t[stop]), h=h, **options)
        run = lgint.integrate(model, "genalpha", t_end=n * h, h=h, start=first, **rest)
        for name in ("t", "q", "v", "vdot", "lam"):
            assert np.array_equal(getattr(run, name), getattr(whole, name)[stop:]), (stop, name)


# ---- Newton's method ----


def spent(**options):
    model = lgint.models.heavy_top()
    run = lgint.integrate(model, "genalpha", **{**dict(t_end=0.2, h=5e-4, newton="full"), **options})
    return run, run.stats.newton_iterations / run.stats.steps, run.stats.jacobians / run.stats.steps


@pytest.mark.parametrize(
    "options",
    [
        dict(newton="modified"),
        dict(newton="modified", predictor="plain"),
        dict(tangent_terms="force"),
        dict(tangent_operator=False),
        dict(tangent_operator=False, tangent_terms="force", newton="modified"),
        dict(tangent_operator=False, tangent_terms="force", newton="modified", predictor="plain"),
        dict(predictor="extrapolate"),
        dict(scaling=False),
    ],
    ids=str,
)
@pytest.mark.parametrize("index", INDICES)
@pytest.mark.parametrize("formulation", ["R3xSO3", "SE3", "euler_parameters"])
def test_options_of_the_solver_change_the_way_and_not_the_solution(formulation, index, options):
    model = slow_top(formulation)
    common = dict(t_end=0.1, h=1e-3, index=index, newton_rtol=1e-11)
    plain = lgint.integrate(model, "genalpha", **common, predictor="plain")
    run = lgint.integrate(model, "genalpha", **common, **options)
    for name, tolerance in (("q", 1e-10), ("v", 1e-8), ("lam", 1e-6)):
        assert np.allclose(getattr(run, name), getattr(plain, name), rtol=0, atol=tolerance * 1e2)
    if "newton" in options:  # a matrix may be renewed in nearly every step, but not in every iteration
        assert run.stats.jacobians < run.stats.newton_iterations
    if options.get("predictor") == "plain":
        assert run.stats.jacobians < 0.5 * plain.stats.jacobians
        assert run.stats.factorisations < 0.6 * plain.stats.factorisations


@pytest.mark.parametrize("index", INDICES)
def test_extrapolation_halves_the_iterations(index):
    assert spent(h=1e-4, index=index, predictor="plain")[1] == 2
    run, iterations, _ = spent(h=1e-4, index=index)
    assert iterations < 1.05
    assert run.stats.force_evaluations < (2.2 if index == "stabilized" else 1.2) * run.stats.steps
    assert spent(h=1e-4, index=index, newton="modified")[1] < 4


def test_what_is_tested():
    """A step takes one iteration and one evaluation, and every eighth step one evaluation more."""
    run, iterations, _ = spent(h=1e-4)
    assert iterations == pytest.approx(1.0, abs=0.01)
    assert run.stats.force_evaluations / run.stats.steps == pytest.approx(9 / 8, abs=0.03)
    run, iterations, _ = spent(h=1e-4, predictor="plain")
    assert run.stats.force_evaluations / run.stats.steps == pytest.approx(3, abs=0.01)


def test_every_step_after_a_change_of_size_is_tested():
    """Steps of 1e-4 s and 0.9e-4 s alternate: each evaluates the residual after its last correction as well."""
    ends = np.cumsum(np.tile([1e-4, 0.9e-4], 100))
    for newton in ("full", "modified"):
        run, _, _ = spent(h=1e-4, stops=ends[:-1], t_end=ends[-1], newton=newton)
        assert run.stats.steps == 200 and np.ptp(run.h[1:]) > 9e-6
        assert run.stats.force_evaluations >= run.stats.steps + run.stats.newton_iterations


def counting_pendulum(calls, kinks=(), length=1.0):
    """A pendulum that counts evaluations by time; nothing happens at its kinks."""

    def force(t, q, v):
        calls[round(t, 9)] += 1
        return -np.sin(q) / length

    def tangent(t, q, v, a, lam):
        return [[np.cos(q[0]) / length]], [[0.0]]

    return lgint.CallableModel(("Rn", 1), [1.0], [0.0], lambda t, q: np.eye(1), force, tangent=tangent, kinks=kinks)


@pytest.mark.parametrize("newton", ["full", "modified", "auto"])
@pytest.mark.parametrize("method", ["genalpha", "newmark"])
def test_the_step_after_a_kink_is_tested(method, newton):
    """Every step takes one iteration; one that is tested evaluates the residual after it as well.

    A kink is declared after every fifth step, so that no step is tested because seven have not been.
    """
    calls, h = Counter(), 1e-2
    model = counting_pendulum(calls, kinks=np.arange(1, 10) * 5 * h)
    run = lgint.integrate(model, method, t_end=50 * h, h=h, newton=newton)
    assert run.stats.newton_iterations == run.stats.steps == 50
    count = np.array([calls[round(i * h, 9)] for i in range(1, 51)]).reshape(10, 5)
    assert np.all(count[:, 0] == 2)
    assert np.all(count[:, 2:4] == 1)  # the fifth of the other steps has the evaluation at the kink as well


@pytest.mark.parametrize("newton", ["full", "modified", "auto"])
@pytest.mark.parametrize("method", ["genalpha", "newmark"])
def test_the_first_step_after_a_reset_is_tested(method, newton):
    """Runs begin with a reset, resumed ones only if the model has changed."""
    calls, h = Counter(), 1e-2
    model, other = counting_pendulum(calls), counting_pendulum(calls, length=1 + 1e-9)
    run = lgint.integrate(model, method, t_end=3 * h, h=h, newton=newton)
    assert calls[h] == 2 and calls[3 * h] == 1
    for resumed, expected in ((model, 1), (other, 2)):
        calls.clear()
        lgint.integrate(resumed, method, t_end=4 * h, h=h, newton=newton, start=run)
        assert calls[4 * h] == expected


@pytest.mark.parametrize("form", ["printed", "printed_half"])
def test_printed_forms_have_the_plain_predictor(form):
    """By default they give the bits of predictor="plain", which tests every correction; "extrapolate" is refused."""
    run, _, _ = spent(form=form, t_end=0.02)  # soon after, "printed_half" leaves the solution
    plain, _, _ = spent(form=form, predictor="plain", t_end=0.02)
    assert run.q.tobytes() == plain.q.tobytes() and run.lam.tobytes() == plain.lam.tobytes()
    assert run.stats.force_evaluations >= run.stats.steps + run.stats.newton_iterations
    with pytest.raises(ValueError, match='predictor "extrapolate" needs form "exact"'):
        spent(form=form, predictor="extrapolate")


def test_a_matrix_is_kept_where_that_pays():
    """On the top, a reused matrix takes three iterations instead of one, which is more than a new matrix costs.

    On a chain, the second step with a matrix takes one more iteration, and a new matrix costs nearly three.
    """
    _, iterations, matrices = spent(h=1e-4, newton="modified")
    assert 0.85 < matrices < 1 < iterations < 1.3
    run = lgint.integrate(lgint.models.pendulum_chain(n=20), "genalpha", t_end=0.2, h=1e-3, newton="modified")
    assert 0.15 < run.stats.jacobians / run.stats.steps < 0.7
    assert 1.5 < run.stats.newton_iterations / run.stats.steps < 3


def test_a_matrix_is_kept_again_once_the_motion_is_slow():
    """A fast pendulum needs a new matrix in most steps, but hardly any once dampers have brought it to rest."""
    builder = lgint.ModelBuilder(gravity=(0, 0, -9.81), formulation="R3xSO3")
    motion = dict(velocity=(-20, 0, 50), angular_velocity=(50, 0, 20))
    builder.add_body("bar", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0, 1, 0), **motion)
    builder.add_joint("spherical", lgint.ground, "bar", point=(0, 0, 0))
    for point in ((0, 1, 0), (0.5, 1, 0), (0, 1, 0.5)):
        damper = dict(stiffness=np.zeros(3), damping=np.full(3, 0.5))
        builder.add_cartesian_spring(lgint.ground, "bar", **damper, point_a=point, point_b=point)
    model = builder.build()
    options = dict(h=1e-3, newton="modified", save_every=100)
    fast = lgint.integrate(model, "genalpha", t_end=0.2, **options)
    slow = lgint.integrate(model, "genalpha", t_end=4.0, start=fast, **options)
    rest = lgint.integrate(model, "genalpha", t_end=5.0, start=slow, **options)
    assert fast.stats.jacobians > 0.8 * fast.stats.steps
    assert rest.stats.jacobians < 0.1 * rest.stats.steps


@pytest.mark.parametrize("sigma", [*SIGMAS, 0.4])
@pytest.mark.parametrize("formulation", ["R3xSO3", "SE3"])
def test_the_matrix_is_exact_for_large_turns(formulation, sigma):
    """The rotor turns by 0.21 rad per step: with dv/dtheta up to third order alone, steps would need two iterations."""
    rotor = lgint.models.rotor(formulation=formulation)
    run = lgint.integrate(rotor, "genalpha", t_end=1e-3, h=1e-5, sigma=sigma, newton="full")
    assert np.abs(run.angular_velocity("rotor")).max() * 1e-5 > 0.2
    assert run.stats.newton_iterations <= 1.02 * run.stats.steps


@pytest.mark.parametrize("newton", ["full", "modified", "auto"])
@pytest.mark.parametrize("stiffness, h", [(1e6, 1e-3), (1e6, 1e-4), (1e5, 1e-3), (1e4, 1e-3)])
def test_undeclared_contact(stiffness, h, newton):
    """A mass of 1 kg falls on a spring that only pushes, without a declared kink.

    The deviation from a run with iterations down to round-off is at most ten times the tolerance.
    """

    def force(t, q, v):
        return np.array([-9.81 - stiffness * min(q[0], 0.0)])

    def tangent(t, q, v, a, lam):
        return [[stiffness * (q[0] < 0)]], [[0.0]]

    model = lgint.CallableModel(("Rn", 1), [0.05], [0.0], mass=lambda t, q: np.eye(1), force=force, tangent=tangent)
    common = dict(t_end=0.5, h=h, newton=newton)
    run = lgint.integrate(model, "genalpha", **common)
    exact = lgint.integrate(model, "genalpha", **common, predictor="plain", newton_rtol=1e-13, newton_atol=0.0)
    assert exact.q.min() < -1e-4 and np.abs(exact.v).max() > 0.95  # it bounces
    assert np.abs(run.v - exact.v).max() < 10 * 1e-8 * np.abs(exact.v).max()
    assert np.abs(run.q - exact.q).max() < 10 * 1e-8 * np.abs(exact.q).max()


def laws(with_tangent, calls):
    """Two bodies on ball joints, and a spring with a damper between them as a Python function."""
    builder = lgint.ModelBuilder(gravity=(0, 0, -9.81), formulation="R3xSO3")
    for i in range(2):
        start = dict(position=(0, 0.5 + i, 0), velocity=(0, 0, 0), angular_velocity=(0, 3, 0))
        builder.add_body(f"body{i}", mass=1.0, inertia=(0.1, 0.12, 0.1), **start)
    builder.add_joint("spherical", lgint.ground, "body0", point=(0, 0, 0), name="shoulder")
    builder.add_joint("spherical", "body0", "body1", point=(0, 1, 0), name="elbow")
    K = np.zeros((12, 12))
    for i, j, sign in ((0, 0, 1), (1, 1, 1), (0, 1, -1), (1, 0, -1)):
        K[6 * i : 6 * i + 3, 6 * j : 6 * j + 3] = sign * np.eye(3)

    def law(t, x, R, xdot, omega):
        calls.append(t)
        pull = 10 * (x[1] - x[0]) + (xdot[1] - xdot[0])
        return np.array([[*pull, 0, 0, 0], [*-pull, 0, 0, 0]])

    def tangent(t, x, R, xdot, omega):
        return np.array([-10 * K, -K])

    builder.add_force_law(law, bodies=("body0", "body1"), tangent=tangent if with_tangent else None)
    builder.add_force("body0", force=lambda t: (0.0, 0.0, np.sin(t)))
    return builder.build()


def method_options(name):
    return lgint.method_info(name)["options"]


def test_which_newton_is_used():
    """The default decides itself; None is what older versions chose: modified where tangents are differences of Python
    functions, else full."""
    calls = []
    cases = [
        (laws(False, calls), "modified"),
        (laws(True, calls), "full"),
        (jolted_pendulum(), "full"),
        (oscillator(1.0), "full"),
        (lgint.models.heavy_top(), "full"),
        (lgint.CallableModel(("Rn", 1), [1.0], [0.0], lambda t, q: np.eye(1), lambda t, q, v: -q), "modified"),
    ]
    with_newton = [name for name in lgint.methods() if "newton" in (o["name"] for o in method_options(name))]
    assert {"genalpha", "newmark", "hht"} <= set(with_newton)
    for model, once in cases:
        for method in with_newton:
            run = lgint.integrate(model, method, t_end=1e-2, h=1e-3)
            assert run.options["newton"] == run.stats.newton == "auto"
            assert lgint.integrate(model, method, t_end=1e-2, h=1e-3, newton=None).stats.newton == once
            for newton in ("full", "modified", "auto"):
                assert lgint.integrate(model, method, t_end=1e-2, h=1e-3, newton=newton).stats.newton == newton
    assert lgint.integrate(lgint.models.heavy_top(), "rk44", t_end=1e-2, h=1e-3).stats.newton is None


def test_a_law_is_called_no_more_often_than_needed():
    calls, spent = [], {}
    model = laws(False, calls)
    for newton in ("auto", "full"):
        calls.clear()
        run = lgint.integrate(model, "genalpha", t_end=0.5, h=1e-3, newton=newton)
        spent[newton] = len(calls) / run.stats.steps
    assert spent["full"] > 48  # central differences along poses and twists of two bodies
    assert 1 < spent["auto"] < 8


@pytest.mark.parametrize("newton", ["full", "modified", "auto"])
@pytest.mark.parametrize("index", INDICES)
@pytest.mark.parametrize("h", [1e-5, 1e-6])
def test_multipliers_at_small_steps_are_no_worse_than_with_the_plain_predictor(h, index, newton):
    """The comparison allows for the noise that the index leaves in them, and for the tolerance."""
    model, rho_inf, steps = lgint.models.heavy_top(), 0.8, 200
    fine = lgint.integrate(model, "rk44", t_end=steps * h, h=10 * h)
    errors = []
    for predictor in ("plain", "extrapolate"):
        common = dict(t_end=steps * h, h=h, rho_inf=rho_inf, newton=newton)
        run = lgint.integrate(model, "genalpha", index=index, predictor=predictor, **common)
        errors.append(np.abs(run.lam[100::10] - fine.lam[10:]).max())
    level, size = (2, np.abs(fine.q).max()) if index == 3 else (1, np.abs(fine.v).max())
    noise = 15.0 * noise_gain(rho_inf, level) * np.finfo(float).eps * (1 + size) / h**level
    assert errors[1] < errors[0] + noise + 1e-8 * np.abs(fine.lam).max()


def noise_gain(rho_inf, level):
    """Root mean square of h^2 vdot (level 2) if positions have white noise of size one, or of h vdot (level 1) if
    velocities have it, from the impulse response of Newmark's formulas and the weighted accelerations.
    """
    alpha_m, alpha_f = (2 * rho_inf - 1) / (1 + rho_inf), rho_inf / (1 + rho_inf)
    gamma = 0.5 - alpha_m + alpha_f
    beta = 0.25 * (gamma + 0.5) ** 2
    newmark = [beta, gamma + 0.5 - 2 * beta, 0.5 - gamma + beta] if level == 2 else [gamma, 1 - gamma]
    over = np.polymul([1, -2, 1] if level == 2 else [1, -1], [1 - alpha_m, alpha_m])
    under = np.polymul(newmark, [1 - alpha_f, alpha_f])
    return np.sqrt((lfilter(over, under, np.eye(1, 400)[0]) ** 2).sum())


@pytest.mark.parametrize("scaling", [True, False])
@pytest.mark.parametrize("index", INDICES)
@pytest.mark.parametrize(
    "model", [lgint.models.heavy_top(), double_pendulum("SE3", "euler_parameters")], ids=["top", "two"]
)
def test_tiny_steps(model, index, scaling):
    """Every step of 1e-7 s converges. In index 3, accelerations have the round-off of positions over h^2, and
    multipliers have it times the mass; in the other two, both have that of velocities over h.
    """
    h, rho_inf = 1e-7, 0.8
    common = dict(index=index, scaling=scaling, rho_inf=rho_inf, newton="full")
    run = lgint.integrate(model, "genalpha", t_end=2e-5, h=h, **common)
    fine = lgint.integrate(model, "rk44", t_end=2e-5, h=1e-6)
    assert run.stats.newton_iterations <= 3 * run.stats.steps
    assert np.abs(run.q[-1] - fine.q[-1]).max() < 1e-12
    assert np.abs(run.v[-1] - fine.v[-1]).max() < 1e-6 * np.abs(fine.v[-1]).max()
    assert run.stats.dense_fallbacks == 0

    late = slice(100, None, 10)  # the start's transient has died out
    vdot, lam = (np.abs(getattr(run, x)[late] - getattr(fine, x)[10:]).max() for x in ("vdot", "lam"))
    level, size = (2, np.abs(run.q).max()) if index == 3 else (1, np.abs(run.v).max())
    noise = noise_gain(rho_inf, level) * np.finfo(float).eps * (1 + size) / h**level
    assert 0.02 * noise < vdot < 2 * noise
    terms = model.core.evaluate(fine.t[-1], fine.q[-1], fine.v[-1], fine.vdot[-1], fine.lam[-1], want=("S", "B"))
    back = np.linalg.pinv(terms["B"].T) @ terms["S"]  # lam from M vdot + B^T lam = 0
    assert lam < 2 * noise * np.abs(back).sum(axis=1).max()
    if index != 3:
        assert lam < 1e-8 * np.abs(fine.lam).max()


@pytest.mark.parametrize("index", INDICES)
def test_failure_leaves_the_state(index):
    """In the step that fails, the top would turn by many radians."""
    model = lgint.models.heavy_top()
    stepper = lgint.Stepper(model, "genalpha", index=index, max_iter=3)
    stepper.step(1e-4)
    before = [np.array(x) for x in (stepper.q, stepper.v, stepper.vdot, stepper.lam)]
    with pytest.raises(lgint.IntegrationError) as caught:
        stepper.step(0.5)
    assert stepper.t == 1e-4
    assert all(
        np.array_equal(a, b) for a, b in zip(before, (stepper.q, stepper.v, stepper.vdot, stepper.lam), strict=True)
    )
    assert caught.value.report["h"] == 0.5
    stepper.step(1e-4)


def test_combinations_that_make_no_sense_are_refused():
    model = lgint.models.heavy_top()
    for options in (
        dict(index=4),
        dict(index="both"),
        dict(form="printed", predictor="extrapolate"),
        dict(newton="half"),
    ):
        with pytest.raises(ValueError, match="|".join(options)):
            lgint.integrate(model, "genalpha", t_end=1e-3, h=1e-3, **options)
    with pytest.raises(ValueError, match="rho_inf"):
        lgint.integrate(model, "newmark", t_end=1e-3, h=1e-3, rho_inf=0.9)


def held_pendulum(stiffness, formulation):
    """Two bodies on ball joints, the second of which is held by a stiff spring."""
    builder = lgint.ModelBuilder(gravity=(0, 0, -9.81), formulation=formulation)
    builder.add_body("upper", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0.5, 0, 0))
    builder.add_body("lower", mass=1.0, inertia=(0.1, 0.12, 0.1), position=(1.5, 0, 0))
    builder.add_joint("spherical", lgint.ground, "upper", point=(0, 0, 0), name="shoulder")
    builder.add_joint("spherical", "upper", "lower", point=(1, 0, 0), name="elbow")
    builder.add_spring(
        lgint.ground, "lower", stiffness=stiffness, damping=1.0, point_a=(2, 0.3, 1.0), point_b=(2, 0, 0)
    )
    return builder.build()


@pytest.mark.parametrize("formulation", ["R3xSO3", "SE3", "euler_parameters"])
@pytest.mark.parametrize("index, most", [(3, 2.1), (2, 2.1), ("stabilized", 3.5)])
def test_stiff_springs_cost_no_iterations(index, most, formulation):
    """At 1e12 N/m, the residual that remains comes from the round-off of the coordinates."""
    for stiffness, more in ((1e8, 0), (1e12, 1.6)):
        model = held_pendulum(stiffness, formulation)
        stats = lgint.integrate(model, "genalpha", t_end=0.05, h=1e-3, index=index, rho_inf=0.5, newton="full").stats
        assert stats.newton_iterations < (most + more) * stats.steps
