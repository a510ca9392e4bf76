"""Half-explicit methods on mechanisms, rods and moving constraints; error control, resumed runs, evaluations."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import lgint
from battery import end_error, observed_order, rotation_error, slow_top
from face.tops import functions

METHODS = [name for name in lgint.methods() if lgint.method_info(name)["stepper"] == "herk"]
ORDER = {name: lgint.method_info(name)["order"] for name in METHODS}
FIRST_STAGES = ("consistent", "printed")

# ---- constraints that move, singular masses ----


def swing(calls=None, rate=0.0, force=lambda t, q, v: np.array([0.0, -9.81]) - 3 * v):
    """A point mass on a massless rod of length one whose other end moves along x as 0.3 sin 4t; `rate` of its angle."""
    calls = {} if calls is None else calls

    def support(t):
        s, c = np.sin(4 * t), np.cos(4 * t)
        return np.array([0.3 * s, 0.0]), np.array([1.2 * c, 0.0]), np.array([-4.8 * s, 0.0])

    def counted(name, function):
        def call(*arguments):
            calls[name] = calls.get(name, 0) + 1
            return function(*arguments)

        return call

    def constraint(t, q):
        d = q - support(t)[0]
        return np.array([0.5 * (d @ d - 1)])

    def acceleration(t, q, v):
        s, s1, s2 = support(t)
        return np.array([(q - s) @ s2 - (v - s1) @ (v - s1)])

    return lgint.CallableModel(
        "Rn",
        [0.8, -0.6],
        [1.2 + 0.6 * rate, 0.8 * rate],
        mass=counted("mass", lambda t, q: np.eye(2)),
        force=counted("force", force),
        constraint=counted("constraint", constraint),
        constraint_acceleration=counted("acceleration", acceleration),
        constraint_jacobian=counted("jacobian", lambda t, q: (q - support(t)[0])[None]),
    )


def motion(acceleration, start, t_end):
    """Eight times at equal distances, and the angle and rate of a pendulum with acceleration(t, angle, rate) there."""
    times = np.linspace(0, t_end, 9)[1:]
    y = solve_ivp(
        lambda t, y: [y[1], acceleration(t, *y)], (0, t_end), start, "DOP853", times, rtol=1e-13, atol=1e-14
    ).y
    return times, *y


def at_eighths(values):
    return values[:: (len(values) - 1) // 8][1:]


@pytest.mark.parametrize("project", ["none", "both"])
@pytest.mark.parametrize("method", METHODS)
def test_a_constraint_that_moves_in_time_keeps_the_order(method, project):
    def acceleration(t, angle, rate):
        drag = 3 * (rate + 1.2 * np.cos(4 * t) * np.cos(angle))
        return -9.81 * np.sin(angle) + 4.8 * np.sin(4 * t) * np.cos(angle) - drag

    t, angle, rate = motion(acceleration, [np.arctan2(0.8, 0.6), 5.0], 0.5)
    place = np.transpose([0.3 * np.sin(4 * t) + np.sin(angle), -np.cos(angle)])
    velocity = np.transpose([1.2 * np.cos(4 * t) + rate * np.cos(angle), rate * np.sin(angle)])
    steps = {2: [80, 160, 320], 3: [40, 80, 160], 4: [24, 48, 96], 5: [32, 48, 64]}[ORDER[method]]
    runs = [lgint.integrate(swing(rate=5.0), method, t_end=0.5, h=0.5 / n, project=project) for n in steps]
    for name, values in (("q", place), ("v", velocity)):
        errors = [np.linalg.norm(at_eighths(getattr(run, name)) - values) for run in runs]
        assert observed_order(steps, errors) == pytest.approx(ORDER[method], abs=0.2)


@pytest.mark.parametrize("first_stage", FIRST_STAGES)
@pytest.mark.parametrize("method", METHODS)
def test_each_stage_evaluates_forces_once_and_rows_once(method, first_stage):
    """Printed steps do not need the acceleration terms of the constraints; consistent ones do once, at their end."""
    calls = {}
    model = swing(calls)
    counts = []
    for n in (4, 14):
        calls.clear()
        lgint.integrate(model, method, t_end=0.1 * n, h=0.1, first_stage=first_stage)
        counts.append(dict(calls))
    consistent = first_stage == "consistent"
    stages = {"herk2": 1, "herk3": 2, "herk4": 4, "herk5": 6}[method]
    slope = ORDER[method] < 4  # these need one more evaluation, for the acceleration of the new state
    if consistent and not slope:
        stages, slope = stages - 1, True  # in place of the stage at the end of the step
    per_step = {name: (counts[1][name] - counts[0][name]) / 10 for name in counts[0]}
    assert per_step["force"] == stages + slope and per_step["acceleration"] == consistent
    assert per_step["jacobian"] == stages + 1 + slope


@pytest.mark.parametrize("method", METHODS)
def test_a_system_of_functions_is_the_compiled_one(method):
    functional = lgint.CallableModel("R3xSO3", **functions())
    for project in ("none", "both"):
        runs = [
            lgint.integrate(model, method, t_end=0.02, h=1e-3, project=project)
            for model in (functional, lgint.models.heavy_top())
        ]
        for name, size in (("q", 1.0), ("v", 1e2), ("vdot", 1e4), ("lam", 1e5)):
            assert np.abs(getattr(runs[0], name) - getattr(runs[1], name)).max() < 1e-9 * size


def thin_rod():
    """A pendulum without inertia about its own axis on a revolute joint: M is singular, the system is not."""
    builder = lgint.ModelBuilder(gravity=(0, 0, -9.81))
    builder.add_body(
        "rod",
        mass=2.0,
        inertia=(0.5, 0.0, 0.5),
        position=(0, 1.0, 0),
        angular_velocity=(1.0, 0, 0),
        velocity=(0, 0, 1.0),
    )
    builder.add_joint("revolute", lgint.ground, "rod", point=(0, 0, 0), axis=(1, 0, 0))
    return builder.build()


@pytest.mark.parametrize("project", ["none", "both"])
@pytest.mark.parametrize("method", METHODS)
def test_no_regular_mass_is_needed(method, project):
    _, angle, _ = motion(lambda t, angle, _: -2.0 * 9.81 * np.cos(angle) / 2.5, [0.0, 1.0], 0.4)
    steps, errors = {2: [160, 320, 640], 3: [40, 80, 160], 4: [24, 48, 96], 5: [8, 16, 32]}[ORDER[method]], []
    for n in steps:
        run = lgint.integrate(thin_rod(), method, t_end=0.4, h=0.4 / n, project=project)
        place = at_eighths(run.position("rod"))
        errors.append(np.linalg.norm([place[:, 1] - np.cos(angle), place[:, 2] - np.sin(angle)]))
    assert observed_order(steps, errors) == pytest.approx(ORDER[method], abs=0.2)


# ---- mechanisms ----


def loaded_chain():
    """Four links; a force from a table with kinks at 0.05 and 0.1 s pushes the last one."""
    chain = lgint.ModelBuilder(gravity=(0, 0, -9.81))
    before = lgint.ground
    for i in range(4):
        name = f"link{i + 1}"
        chain.add_body(name, mass=0.1, inertia=(1e-4, 1e-3, 1e-3), position=(0.1 + 0.2 * i, 0, 0))
        chain.add_joint("spherical", before, name, point=(0.2 * i, 0, 0))
        before = name
    chain.add_force("link4", force=([0.0, 0.05, 0.1], [[0, 0, 0], [0, 3, 2], [0, 0, 0]]))
    return chain.build()


MECHANISMS = {
    "slider_crank": (lambda: lgint.models.slider_crank(), "rod", 0.2, 2e-3),
    "crank_drive_v8": (lambda: lgint.models.crank_drive_v8(omega0=100.0), "conrod1", 4e-3, 2e-4),
    "chain": (loaded_chain, "link4", 0.15, 2e-3),
}


@pytest.mark.parametrize("name", MECHANISMS)
def test_mechanisms_reach_the_solution_of_another_method(name):
    """Against dopri5 at a tight tolerance, half the step divides the error by 2^p, even across kinks of a table."""
    make, body, t_end, h = MECHANISMS[name]
    model = make()
    best = lgint.integrate(model, "dopri5", t_end=t_end, rtol=1e-12, atol=1e-12)

    def error(run):
        return np.linalg.norm(run.position(body)[-1] - best.position(body)[-1]) + rotation_error(
            run.rotation(body)[-1], best.rotation(body)[-1]
        )

    for method in ("herk4", "herk5"):
        errors = [error(lgint.integrate(model, method, t_end=t_end, h=h / k)) for k in (1, 2)]
        assert errors[1] < 1e-6 and errors[0] / errors[1] > 2 ** (ORDER[method] - 0.5) or errors[1] < 2e-11
    adaptive = lgint.integrate(model, "herk5", t_end=t_end, rtol=1e-8, atol=1e-8)
    assert error(adaptive) < 1e-6


def limit_of_order(errors):
    """The order for h -> 0 from steps h, h/2 and h/4, if the observed order approaches it in proportion to h."""
    first, second = np.log2(errors[0] / errors[1]), np.log2(errors[1] / errors[2])
    return 2 * second - first


# Step sizes 2^-k, from k on, show the orders of multipliers and of the drift.
COARSEST = {"slider_crank": 9, "roll_up": 10}


@pytest.mark.parametrize("formulation", ["R3xSO3", "SE3"])
@pytest.mark.parametrize("name", COARSEST)
@pytest.mark.parametrize("method", ["herk2", "herk3"])
def test_a_consistent_first_stage_on_mechanisms_and_rods(method, name, formulation):
    """Multipliers gain an order. The drift has the same order in both forms: chains of bodies leave their constraint
    on semidirect products too; that of herk2 is over ten times smaller with a consistent first stage."""
    model, steps = getattr(lgint.models, name)(formulation=formulation), 2.0 ** -(COARSEST[name] + np.arange(3))
    best = lgint.integrate(model, "dopri5", t_end=0.25, rtol=1e-12, atol=1e-12)
    largest = {}
    for first_stage in FIRST_STAGES:
        runs = [lgint.integrate(model, method, t_end=0.25, h=h, first_stage=first_stage) for h in steps]
        drift = [np.abs(run.constraint_residual("position")).max() for run in runs]
        assert limit_of_order(drift) == pytest.approx(ORDER[method], abs=0.15)
        largest[first_stage] = drift[-1]
        if first_stage == "consistent":
            errors = [np.linalg.norm(run.lam[-1] - best.lam[-1]) for run in runs]
            assert limit_of_order(errors) == pytest.approx(ORDER[method], abs=0.1)
    assert method == "herk3" or largest["printed"] > 10 * largest["consistent"]


# ---- error control ----


def test_the_global_error_follows_the_tolerance():
    """It falls monotonically for tolerances from 1e-4 to 1e-10, and stays within two and a half decades of them."""
    tolerances = 10.0 ** -np.arange(4, 11)
    for project in ("none", "both"):
        runs = [
            lgint.integrate(slow_top("R3xSO3"), "herk5", t_end=0.5, rtol=tol, atol=tol, project=project)
            for tol in tolerances
        ]
        errors = np.array([end_error(run)[0] for run in runs])
        assert (np.diff(errors) < 0).all()
        assert np.ptp(np.log10(errors / tolerances)) < 2.5


@pytest.mark.parametrize("formulation", ["R3xSO3", "SE3", "euler_parameters"])
def test_projection_hardly_changes_the_number_of_steps(formulation):
    for tol in (1e-6, 1e-9):
        counts = [
            lgint.integrate(slow_top(formulation), "herk5", t_end=1.0, rtol=tol, project=project).stats.steps
            for project in ("none", "position", "velocity", "both")
        ]
        assert max(counts) < 1.05 * min(counts)


def test_rejected_and_failed_steps_leave_no_trace():
    """After a step that was too long, a run continues as if that step had not been tried."""

    def force(t, q, v):
        return np.array([0.0, -9.81 if q[1] < -0.55 else np.nan])  # undefined where a long step would end

    for model, first in ((slow_top("R3xSO3"), 0.5), (swing(force=force), 5.0)):
        options = dict(rtol=1e-6, control="I", safety=0.3)  # with this choice the next step is not rejected
        long = lgint.integrate(model, "herk5", t_end=0.1, first_step=first, **options)
        assert long.stats.rejected > 0
        short = lgint.integrate(model, "herk5", t_end=0.1, first_step=long.h[1], **options)
        assert short.stats.rejected < long.stats.rejected
        for name in ("q", "v", "vdot", "lam"):
            assert getattr(long, name)[1].tobytes() == getattr(short, name)[1].tobytes()


@pytest.mark.parametrize("options", [{"h": 0.01}, {"h": 0.01, "project": "both"}, {"rtol": 1e-6}])
@pytest.mark.parametrize("formulation", ["SE3", "euler_parameters"])
@pytest.mark.parametrize("method", METHODS)
def test_a_resumed_run_gives_the_same_bits(method, formulation, options):
    if "rtol" in options and method != "herk5":
        options = {"h": 0.02, "project": "position"}
    top = slow_top(formulation)
    whole = lgint.integrate(top, method, t_end=0.2, stops=[0.1], **options)
    half = lgint.integrate(top, method, t_end=0.1, **options)
    rest = lgint.integrate(top, method, t_end=0.2, start=half, **options)
    for name in ("q", "v", "vdot", "lam", "t"):
        assert getattr(rest, name)[-1].tobytes() == getattr(whole, name)[-1].tobytes()
    assert half.stats.steps + rest.stats.steps == whole.stats.steps


# ---- rods ----

RODS = {"roll_up": lgint.models.roll_up, "flying_spaghetti": lgint.models.flying_spaghetti}
# End, and the smallest of three numbers of steps per second for which the order can be observed.
ROD_STEPS = {
    "roll_up": {2: (0.25, 1024), 3: (0.25, 512), 4: (0.25, 512), 5: (1.0, 256)},
    "flying_spaghetti": {2: (0.25, 1024), 3: (0.25, 1024), 4: (0.25, 512), 5: (1.0, 384)},
}


@pytest.mark.parametrize("formulation", ["S3R3", "R3xSO3"])
@pytest.mark.parametrize("rod", RODS)
def test_orders_on_rods(rod, formulation):
    """The number of edges is fixed; references are fine runs of herk5."""
    model = RODS[rod](formulation=formulation)
    best = {t: lgint.integrate(model, "herk5", t_end=t, h=2.0**-12) for t in (0.25, 1.0)}
    for method in METHODS:
        t_end, coarsest = ROD_STEPS[rod][ORDER[method]]
        runs = [lgint.integrate(model, method, t_end=t_end, h=1.0 / (coarsest * 2**i)) for i in range(3)]
        assert all(np.abs(run.constraint_residual("velocity")).max() < 1e-12 for run in runs)
        for name in ("q", "v"):
            errors = [np.linalg.norm(getattr(run, name)[-1] - getattr(best[t_end], name)[-1]) for run in runs]
            assert limit_of_order(errors) == pytest.approx(ORDER[method], abs=0.15), (method, name)


# Bounds of the drift up to t = 0.5 at h = 2^-9 and 2^-10. On the direct product herk4 has 2.5e-12 at 2^-10.
ROD_DRIFT = {"S3R3": (5e-11, 1e-12), "R3xSO3": (1e-10, 4e-12)}


@pytest.mark.parametrize("formulation", ROD_DRIFT)
@pytest.mark.parametrize("rod", RODS)
def test_rods_satisfy_their_constraints(rod, formulation):
    """Residuals fall with h, nearly to round-off at h = 2^-10; with projection they are round-off."""
    model, bounds = RODS[rod](formulation=formulation), ROD_DRIFT[formulation]
    for method in ("herk4", "herk5"):
        runs = [lgint.integrate(model, method, t_end=0.5, h=2.0**-k) for k in (8, 9, 10)]
        drift = [np.abs(run.constraint_residual("position")).max() for run in runs]
        assert drift[0] > 5 * drift[1] > 25 * drift[2] or drift[1] < 1e-13
        assert drift[1] < bounds[0] and drift[2] < (bounds[1] if method == "herk4" else 1e-12)
    run = lgint.integrate(model, "herk2", t_end=0.25, h=2.0**-9, project="both")
    assert np.abs(run.constraint_residual("position")).max() < 1e-13


@pytest.mark.parametrize("formulation", ROD_DRIFT)
@pytest.mark.parametrize(("method", "coarsest"), [("herk2", 2.0**-9), ("herk3", 2.0**-10), ("herk4", 2.0**-8)])
def test_drift_of_a_rod_has_the_order_of_the_method(method, coarsest, formulation):
    """The drift of herk5 is lost in round-off before its order can be observed."""
    model = lgint.models.roll_up(formulation=formulation)
    runs = [lgint.integrate(model, method, t_end=0.25, h=coarsest / 2**i) for i in range(3)]
    drift = [np.abs(run.constraint_residual("position")).max() for run in runs]
    assert limit_of_order(drift) == pytest.approx(ORDER[method], abs=0.15)


@pytest.mark.parametrize(("rod", "low", "high"), [("roll_up", 950, 1050), ("flying_spaghetti", 1100, 1300)])
def test_adaptive_rods_with_the_settings_of_the_paper(rod, low, high):
    """(22); the authors' roll-up takes 982 steps. Projection changes the number of steps by less than 5 %."""
    settings = dict(first_step=1e-3, atol=1e-8, rtol=1e-6, control="I", safety=0.8, max_decrease=0.2, max_increase=5)
    runs = [lgint.integrate(RODS[rod](), "herk5", t_end=5.0, project=p, **settings) for p in ("none", "both")]
    steps = [run.stats.steps for run in runs]
    assert low < min(steps) <= max(steps) < min(high, 1.05 * min(steps))
    assert rod != "roll_up" or runs[0].stats.rejected == runs[1].stats.rejected == 0


def test_the_global_error_on_the_spaghetti_follows_the_tolerance():
    spaghetti, tolerances = RODS["flying_spaghetti"](), 10.0 ** -np.arange(4, 11)
    best = lgint.integrate(spaghetti, "herk5", t_end=0.5, rtol=1e-12, atol=1e-12)
    runs = [lgint.integrate(spaghetti, "herk5", t_end=0.5, rtol=tol, atol=tol) for tol in tolerances]
    errors = np.array([np.linalg.norm(run.q[-1] - best.q[-1]) for run in runs])
    assert (np.diff(errors) < 0).all() and np.ptp(np.log10(errors / tolerances)) < 2.5
