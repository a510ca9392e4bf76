"""Radau IIA: orders on every formulation, stiff joints, contact, errors and tolerances, large turns, failures."""

import functools

import numpy as np
import pytest

import lgint
from battery import observed_order, rotation_error, slow_top, start_of, top_by_scipy
from kinds import FORMULATIONS

WITH_TOLERANCES = [m for m in lgint.methods() if any(o["name"] == "rtol" for o in lgint.method_info(m)["options"])]
METHODS = {"radau3": (2, 3), "radau5": (3, 5)}  # stages, order


def pendulums(stiffness=1e6, damping=1e4, links=2):
    """Links in a row that are hinged about y, with a drive in every second hinge: the pair, or a chain of it."""
    b = lgint.ModelBuilder(gravity=(0, 0, -9.81))
    partner = lgint.ground
    for i in range(links):
        heavy = i % 2 == 0
        x, back = 1.8 * (i // 2) + (0.5 if heavy else 1.4), 0.5 if heavy else 0.4
        inertia = (0.02, 0.03, 0.02) if heavy else (0.01, 0.02, 0.02)
        b.add_body(f"link{i}", mass=1.0 if heavy else 0.6, inertia=inertia, position=(x, 0, 0))
        hinge = b.add_joint("revolute", partner, f"link{i}", point=(x - back, 0, 0), axis=(0, 1, 0), name=f"hinge{i}")
        if not heavy:
            b.add_joint_drive(hinge, stiffness=stiffness, damping=damping)
        partner = f"link{i}"
    return b.build()


@functools.cache
def stiff_velocities():
    """The velocities of the pair after 1 s, as `radau5` gives them with many steps and `herk5` with h = 4e-6."""
    return lgint.integrate(pendulums(), "radau5", t_end=1.0, h=1 / 800, save_every=800).v[-1]


def velocity_error(run):
    return np.abs(run.v[-1] - stiff_velocities()).max()


# ---- orders ----


@pytest.mark.parametrize("constrained", [False, True], ids=["free", "constrained"])
@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("method", METHODS)
def test_order_of_coordinates_velocities_and_multipliers(method, formulation, constrained):
    """The saved multipliers have the order of q and v, although those of the stages have that of their number."""
    order = METHODS[method][1]
    omega0 = start_of(formulation, 5)
    model = slow_top(formulation, constrained, omega0=omega0)
    R, w, _, force = top_by_scipy(omega0)
    steps = (20, 40, 80) if order == 5 else (40, 80, 160)
    errors = []
    for n in steps:
        run = lgint.integrate(model, method, t_end=0.5, h=0.5 / n)
        error = [rotation_error(run.rotation("top")[-1], R), np.abs(run.angular_velocity("top")[-1] - w).max()]
        errors.append(error + ([np.abs(run.lam[-1, :3] - force).max()] if constrained else []))
        if constrained:
            residuals = [np.abs(run.constraint_residual(level)).max() for level in ("position", "velocity")]
            assert residuals[0] < 1e-14 and residuals[1] < 1e-12
    for column in np.transpose(errors):
        assert observed_order(steps, column) == pytest.approx(order, abs=0.3)


@pytest.mark.parametrize(
    ("model", "steps"),
    [
        (functools.partial(lgint.models.pendulum_chain, n=3, joint="revolute", formulation="minimal"), (50, 100)),
        (functools.partial(lgint.models.pendulum_chain, n=3, joint="spherical", formulation="minimal"), (50, 100)),
        (lgint.models.slider_crank, (20, 40)),
        (functools.partial(lgint.models.roll_up, edges=2, damping=0.0), (10, 20)),
    ],
    ids=["tree", "tree of spherical joints", "slider-crank", "rod"],
)
@pytest.mark.parametrize("method", METHODS)
def test_order_on_mechanisms_and_rods(method, model, steps):
    system, order = model(), METHODS[method][1]
    t_end = 0.2
    best = lgint.integrate(system, "rk67", t_end=t_end, h=t_end / 4000, save_every=4000)
    runs = [lgint.integrate(system, method, t_end=t_end, h=t_end / n, save_every=n) for n in steps]
    errors = [np.abs(run.v[-1] - best.v[-1]).max() for run in runs]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.4), errors


# ---- stiff joints ----


def test_the_stiff_pair_takes_few_steps():
    assert velocity_error(lgint.integrate(pendulums(), "radau5", t_end=1.0, h=1 / 57)) < 3e-8
    assert velocity_error(lgint.integrate(pendulums(), "radau5", t_end=1.0, h=1 / 80)) < 1e-8
    slow = lgint.integrate(pendulums(), "genalpha", t_end=1.0, h=1 / 400)
    assert velocity_error(slow) > 1e-5


@pytest.mark.slow
def test_the_stiff_pair_agrees_with_a_half_explicit_method():
    run = lgint.integrate(pendulums(), "herk5", t_end=1.0, h=4e-6, save_every=250_000)
    assert velocity_error(run) < 1e-10


@pytest.mark.parametrize("method", METHODS)
def test_errors_are_in_proportion_to_the_tolerance(method):
    """Over five decades; those of `radau5` are rescaled, as the order of its estimate is lower than its own."""
    tolerances = 10.0 ** np.arange(-4, -10, -1) if method == "radau5" else 10.0 ** np.arange(-3, -9, -1)
    runs = [lgint.integrate(pendulums(), method, t_end=1.0, rtol=tol, atol=tol) for tol in tolerances]
    ratios = [velocity_error(run) / tol for run, tol in zip(runs, tolerances, strict=True)]
    assert max(ratios) < 10 * min(ratios) and 0.05 < min(ratios) and max(ratios) < 20
    assert all(run.stats.rejected <= 6 and run.stats.failed == 0 for run in runs)


def test_a_first_step_that_is_too_long_costs_few_others():
    """The error of a first step is divided twice by the operator of a stage."""
    run = lgint.integrate(pendulums(), "radau5", t_end=1.0, rtol=1e-5, atol=1e-5, first_step=0.01)
    assert run.stats.rejected <= 5 and velocity_error(run) < 1e-5


def test_a_chain_of_stiff_joints():
    model = pendulums(links=10)
    runs = [lgint.integrate(model, "radau5", t_end=0.5, rtol=tol, atol=tol) for tol in (1e-5, 1e-7, 1e-11)]
    errors = [np.abs(run.v[-1] - runs[-1].v[-1]).max() for run in runs[:2]]
    assert errors[0] < 1e-4 and errors[1] < 1e-6 and runs[1].stats.steps < 120


def test_an_undamped_stiff_joint_is_damped_until_the_step_resolves_it():
    model = pendulums(stiffness=1e4, damping=0.0)
    best = lgint.integrate(model, "herk5", t_end=1.0, h=2e-5, save_every=50_000)
    run = {n: lgint.integrate(model, "radau5", t_end=1.0, h=1 / n, save_every=n) for n in (50, 1600, 3200)}
    error = {n: np.abs(r.v[-1] - best.v[-1]).max() for n, r in run.items()}
    still = np.abs(run[50].v[-1, 4] - run[50].v[-1, 10])  # the relative rate in the hinge
    assert error[50] < 0.05 and still < 1e-3 < np.abs(best.v[-1, 4] - best.v[-1, 10])
    assert error[1600] < 1e-4 and np.log2(error[1600] / error[3200]) == pytest.approx(5, abs=0.3)


# ---- contact ----


def test_a_ball_rebounds_from_a_stiff_contact():
    """A spring of 1e8 N/m that only pushes; the ball leaves it with the energy it came with."""
    b = lgint.ModelBuilder(gravity=(0, 0, -9.81))
    b.add_body("ball", mass=1.0, inertia=np.full(3, 0.004), position=(0, 0, 0.6), angular_velocity=(1, 2, 3))

    def law(t, x, R, xdot, omega):
        return np.array([0, 0, 1e8 * max(0.1 - x[2], 0.0), 0, 0, 0])

    b.add_force_law(law, bodies="ball")
    run = lgint.integrate(b.build(), "radau5", t_end=1.2, rtol=1e-6, atol=1e-9)  # two impacts
    energy = 0.5 * run.v[-1, 2] ** 2 + 9.81 * (run.q[-1, 2] - 0.1)
    assert energy == pytest.approx(9.81 * 0.5, rel=1e-4) and run.stats.steps < 150
    assert run.q[:, 2].min() == pytest.approx(0.1 - np.sqrt(2 * 9.81 * 0.5 / 1e8), abs=3e-5)


@pytest.mark.parametrize("method", METHODS)
def test_no_impact_is_passed_over(method):
    """From several heights: steps to the impact are rejected, and none that goes through it is accepted."""

    def law(t, x, R, xdot, omega):
        return np.array([0, 0, 1e8 * max(-x[2], 0.0), 0, 0, 0])

    for height in (0.5, 1.4, 2.15, 2.3, 2.4):
        b = lgint.ModelBuilder(gravity=(0, 0, -9.81))
        b.add_body("ball", mass=1.0, inertia=np.full(3, 0.004), position=(0, 0, height))
        b.add_force_law(law, bodies="ball")
        run = lgint.integrate(b.build(), method, t_end=1.5 * np.sqrt(2 * height / 9.81), rtol=1e-6, atol=1e-9)
        energy = 0.5 * run.v[-1, 2] ** 2 + 9.81 * run.q[-1, 2]
        assert energy == pytest.approx(9.81 * height, rel=1e-4), height


# ---- turns ----


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_a_step_of_three_quarters_of_a_radian_converges(formulation):
    model = slow_top(formulation, omega0=start_of(formulation, 5))
    run = lgint.integrate(model, "radau5", t_end=0.5, h=0.75 / 16)
    R, _, _, _ = top_by_scipy(start_of(formulation, 5))
    assert rotation_error(run.rotation("top")[-1], R) < 2e-2
    assert run.stats.newton_iterations < 20 * run.stats.steps


def spinning(rate, formulation="R3xSO3"):
    b = lgint.ModelBuilder(formulation=formulation)
    b.add_body("disc", mass=1.0, inertia=(1.0, 2.0, 3.0), angular_velocity=(0, 0.01, rate))
    return b.build()


@pytest.mark.parametrize("formulation", ["R3xSO3", "SE3", "R3xS3"])
def test_a_step_of_more_than_half_a_turn(formulation):
    """It is refused by name with fixed steps, and shortened with tolerances."""
    assert lgint.integrate(spinning(3.0, formulation), "radau5", t_end=2.0, h=1.0).t[-1] == 2.0
    with pytest.raises(lgint.IntegrationError, match="disc turns by 3.3[0-9]* rad in a step, where half a turn"):
        lgint.integrate(spinning(3.3, formulation), "radau5", t_end=2.0, h=1.0)
    run = lgint.integrate(spinning(3.3, formulation), "radau5", t_end=5.0, rtol=1e-2, first_step=2.0)
    assert run.stats.rejected > 0 and run.h.max() < np.pi / 3.3 * (1 + 1e-3)


# ---- Newton's method ----


def test_statistics_count_each_kind_of_matrix():
    model = slow_top("R3xSO3")
    run = lgint.integrate(model, "radau5", t_end=0.5, h=0.01, sweeps="splitting")
    assert run.stats.jacobians % 3 == 0 and 1.5 * run.stats.steps < run.stats.jacobians <= 3 * run.stats.steps
    assert run.stats.newton_factorisations == run.stats.jacobians
    assert run.stats.newton_iterations < 7 * run.stats.steps
    masses = run.stats.mass_factorisations  # at the start, and at the end of each step
    assert 2 * run.stats.steps <= masses <= 3 * run.stats.steps + 1


KEPT = {
    "slider-crank": (lgint.models.slider_crank, 1e-3),
    "rod": (functools.partial(lgint.models.flying_spaghetti, edges=4), 2e-3),
    "stiff pair": (pendulums, 1e-3),
}


@pytest.mark.parametrize("case", KEPT)
@pytest.mark.parametrize("method", METHODS)
def test_matrices_serve_many_steps_and_change_nothing(method, case):
    build, h = KEPT[case]
    model = build()
    run = lgint.integrate(model, method, t_end=200 * h, h=h, save_every=200)
    assert run.stats.jacobians < 0.5 * METHODS[method][0] * run.stats.steps
    assert run.stats.factorisations - run.stats.jacobians < 3 * run.stats.steps + 3  # of masses
    stepper = lgint.Stepper(model, method)  # steps of two sizes share no matrix
    for i in range(200):
        stepper.step(h * (1 + (-1) ** i * 2e-6))
    assert np.abs(run.v[-1] - stepper.v).max() < 1e-6 * np.abs(run.v[-1]).max()


@pytest.mark.parametrize("case", KEPT)
@pytest.mark.parametrize("method", METHODS)
def test_a_resumed_run_has_the_same_matrices(method, case):
    """Bit for bit, wherever it is cut, and whatever has been computed in between."""
    build, h = KEPT[case]
    model = build()
    whole = lgint.integrate(model, method, t_end=24 * h, h=h)
    for cut in (*range(1, 12), 17):
        part = lgint.integrate(model, method, t_end=cut * h, h=h)
        rest = lgint.integrate(model, method, t_end=24 * h, h=h, start=part)
        assert rest.q[-1].tobytes() == whole.q[-1].tobytes() and rest.lam[-1].tobytes() == whole.lam[-1].tobytes()


# ---- the eigenbasis ----


def matrices(method):
    """Factorisations of one state in the eigenbasis: a complex matrix, and with three stages a real one."""
    return METHODS[method][0] - 1


@pytest.mark.parametrize("constrained", [False, True], ids=["free", "constrained"])
@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("method", METHODS)
def test_the_eigenbasis_solves_the_same_equations(method, formulation, constrained):
    model = slow_top(formulation, constrained, omega0=start_of(formulation, 5))
    by_stage, together = (
        lgint.integrate(model, method, t_end=0.1, h=0.005, sweeps=sweeps) for sweeps in ("splitting", "eigenbasis")
    )
    stats = together.stats
    assert stats.newton_factorisations == matrices(method) * stats.jacobians > 0  # no step needed the splitting
    assert stats.newton_iterations < 7 * stats.steps
    for name in ("q", "v", "lam"):
        given, expected = getattr(together, name), getattr(by_stage, name)
        if expected.size:
            assert np.abs(given - expected).max() < 1e-9 * (1e-3 + np.abs(expected).max())


@pytest.mark.parametrize("sweeps", ["auto", "eigenbasis"])
@pytest.mark.parametrize("case", KEPT)
@pytest.mark.parametrize("method", METHODS)
def test_a_resumed_run_goes_the_same_way(method, case, sweeps):
    """Bit for bit, its carry included, before and after counted work takes another way."""
    build, h = KEPT[case]
    model = build()
    options = {"h": h, "sweeps": sweeps}
    whole = lgint.integrate(model, method, t_end=48 * h, **options)
    for cut in (1, 7, 15, 16, 17, 20, 31, 32, 33, 41):
        part = lgint.integrate(model, method, t_end=cut * h, **options)
        rest = lgint.integrate(model, method, t_end=48 * h, start=part, **options)
        assert rest.q[-1].tobytes() == whole.q[-1].tobytes() and rest.lam[-1].tobytes() == whole.lam[-1].tobytes()
        assert rest.carry.tobytes() == whole.carry.tobytes()


@pytest.mark.parametrize("sweeps", ["auto", "eigenbasis"])
def test_a_stepper_that_goes_back_takes_the_way_of_then(sweeps):
    build, h = KEPT["rod"]
    stepper = lgint.Stepper(build(), "radau5", sweeps=sweeps)

    def advance(n):
        for _ in range(n):
            stepper.step(h)
        return stepper.q.tobytes()

    advance(12)
    then = stepper.snapshot()
    first = advance(10)
    stepper.restore(then)
    assert advance(10) == first


def test_counted_work_takes_the_way_with_less():
    """Thin rods by the eigenbasis after sixteen steps; on the fast top it cannot pay, and no bit changes."""
    rod, h = lgint.models.flying_spaghetti(), 1e-3
    early, late = (lgint.integrate(rod, "radau5", t_end=n * h, h=h).stats for n in (16, 60))
    by_stage = [lgint.integrate(rod, "radau5", t_end=n * h, h=h, sweeps="splitting").stats for n in (16, 60)]
    assert early.newton_iterations == by_stage[0].newton_iterations
    taken = late.newton_iterations - early.newton_iterations
    assert taken < 3.2 * 44 and taken < 0.65 * (by_stage[1].newton_iterations - by_stage[0].newton_iterations)

    top, h = lgint.models.heavy_top(), 1e-4
    runs = [lgint.integrate(top, "radau5", t_end=60 * h, h=h, sweeps=sweeps) for sweeps in ("auto", "splitting")]
    assert runs[0].q.tobytes() == runs[1].q.tobytes() and runs[0].lam.tobytes() == runs[1].lam.tobytes()


@pytest.mark.parametrize("sweeps", ["auto", "eigenbasis"])
def test_what_the_eigenbasis_does_not_solve_the_splitting_does(sweeps):
    """Bodies that turn far in a step are not those of one state."""
    model = slow_top("R3xSO3", omega0=start_of("R3xSO3", 5))
    by_stage, run = (
        lgint.integrate(model, "radau5", t_end=1.5, h=0.75 / 16, sweeps=way) for way in ("splitting", sweeps)
    )
    assert np.abs(run.q - by_stage.q).max() < 1e-9
    assert run.stats.newton_iterations < 3 * by_stage.stats.newton_iterations


@pytest.mark.parametrize("method", METHODS)
def test_a_law_that_fails_in_the_eigenbasis_leaves_the_state(method):
    calls, limit = [0], [np.inf]

    def law(t, x, R, xdot, omega):
        calls[0] += 1
        if calls[0] >= limit[0]:
            raise RuntimeError("enough")
        return np.array([-40 * x[0], 0, 0, 0, 0, 0])

    b = lgint.ModelBuilder()
    b.add_body("block", mass=1.0, inertia=(1, 2, 3), velocity=(1.0, 0, 0), angular_velocity=(1, 2, 3))
    b.add_force_law(law, bodies="block", name="spring")
    model = b.build()
    whole = lgint.integrate(model, method, t_end=0.1, h=0.01, sweeps="eigenbasis")
    for stop in range(3, calls[0], 7):
        calls[0], limit[0] = 0, stop
        with pytest.raises(RuntimeError, match="enough") as caught:
            lgint.integrate(model, method, t_end=0.1, h=0.01, sweeps="eigenbasis")
        limit[0] = np.inf
        first = caught.value.trajectory
        rest = lgint.integrate(model, method, t_end=0.1, h=0.01, sweeps="eigenbasis", start=first)
        assert rest.q[-1].tobytes() == whole.q[-1].tobytes()


@pytest.mark.parametrize("method", METHODS)
def test_the_eigenbasis_takes_fixed_steps(method):
    model = slow_top("R3xSO3")
    with pytest.raises(ValueError, match='sweeps="eigenbasis" takes fixed steps'):
        lgint.integrate(model, method, t_end=0.1, rtol=1e-6, sweeps="eigenbasis")
    recorded = {"rtol": 1e-6, "control": "none"}
    plain, run, by_stage = (
        lgint.integrate(model, method, t_end=0.1, h=0.005, sweeps=sweeps, **options)
        for sweeps, options in (("eigenbasis", {}), ("eigenbasis", recorded), ("splitting", recorded))
    )
    assert run.q.tobytes() == plain.q.tobytes()
    assert run.error[1] == pytest.approx(by_stage.error[1], rel=0.1)  # before any matrix is older than its step
    assert (run.error[1:] < 1.1 * by_stage.error[1:]).all()


@pytest.mark.parametrize("method", METHODS)
def test_steps_up_to_fifty_times_longer_are_extrapolated(method):
    """Beyond that they begin with accelerations, like a first step: round-off would be magnified too much."""
    model, h = lgint.models.slider_crank(), 1e-5
    run = lgint.integrate(model, method, t_end=20 * h, h=h)

    def both(ratio):
        t = run.t[-1]
        later = {"t_end": t + ratio * h, "h": ratio * h}
        first = model.with_state(run.q[-1], run.v[-1])
        runs = lgint.integrate(model, method, start=run, **later), lgint.integrate(first, method, t0=t, **later)
        return [run.stats.newton_iterations for run in runs]

    extrapolated, anew = both(40)
    assert extrapolated < anew
    extrapolated, anew = both(60)
    assert extrapolated == anew


def test_a_stepper_that_goes_back_has_the_matrices_of_then():
    stepper = lgint.Stepper(lgint.models.slider_crank(), "radau5")

    def advance(n):
        for _ in range(n):
            stepper.step(1e-3)
        return stepper.q.tobytes()

    advance(9)
    then = stepper.snapshot()
    first = advance(13)
    stepper.restore(then)
    assert advance(13) == first


def test_a_failed_step_names_the_body_and_the_law():
    b = lgint.ModelBuilder()
    b.add_body("block", mass=1.0, inertia=(1, 1, 1), velocity=(1.0, 0, 0))
    b.add_force_law(lambda t, x, R, v, w: np.array([-1e6 * np.sign(v[0]), 0, 0, 0, 0, 0]), bodies="block", name="rub")
    with pytest.raises(lgint.ConvergenceError, match="velocity 0 of block.*rub") as caught:
        lgint.integrate(b.build(), "radau5", t_end=1.0, h=0.01)
    assert caught.value.trajectory.t[-1] == 0


def test_the_predictive_law():
    """h times the smaller of the laws of the last error, and of the last two errors and sizes (hairer1996, IV.8)."""
    model = slow_top("R3xSO3")
    run = lgint.integrate(model, "dopri5", t_end=0.5, rtol=1e-7, control="predictive", safety=0.6)
    assert run.stats.rejected == 0
    h, error = run.h[1:-3], run.error[1:-3]
    old = np.maximum(error[:-2], 1e-2)
    plain = 0.6 * error[1:-1] ** -0.2
    factor = plain * np.minimum(1, h[1:-1] / h[:-2] * (old / error[1:-1]) ** 0.2)
    assert np.allclose(h[2:], h[1:-1] * np.clip(factor, 0.2, 5), rtol=1e-9)
    assert (factor < plain).any() and lgint.method_info("radau5")["options"][-1]["default"] == "predictive"


# ---- dense output ----


@pytest.mark.parametrize("stiff", [False, True], ids=["top", "stiff pair"])
def test_states_inside_steps_have_the_order_of_the_ends(stiff):
    model, t_end, steps = (pendulums(), 1.0, (25, 50, 100)) if stiff else (slow_top("R3xSO3"), 0.5, (10, 20, 40))
    times = np.linspace(0.1, 0.97, 57) * t_end
    best = lgint.integrate(model, "radau5", h=t_end / 800, t_end=t_end, t_eval=times)
    runs = [lgint.integrate(model, "radau5", h=t_end / n, t_end=t_end, t_eval=times) for n in steps]
    for name in ("q", "v"):
        errors = [np.abs(getattr(run, name) - getattr(best, name)).max() for run in runs]
        assert 4.5 < observed_order(steps, errors) < 6.5


def test_multipliers_inside_steps_from_the_equations_there():
    """Between steps they are on straight lines; from the interpolated q and v they are of order five."""
    model, t_end, steps = lgint.models.slider_crank(), 1.0, (100, 200)
    best = lgint.integrate(model, "radau5", t_end=t_end, h=2.5e-4)
    lines, found = [], []
    for n in steps:
        run = lgint.integrate(model, "radau5", t_end=t_end, h=t_end / n, dense_output=True)
        times = (np.arange(3, n - 1, 4) + 0.5) * t_end / n
        exact = best.lam[np.round(times / 2.5e-4).astype(int)]
        lam = [model.with_state(run.at(t), project=True).state().lam for t in times]
        lines.append(np.abs(run.at(times).lam - exact).max())
        found.append(np.abs(lam - exact).max())
    assert 0.8 < np.log2(lines[0] / lines[1]) < 2.5 and lines[1] > 0.1
    assert np.log2(found[0] / found[1]) == pytest.approx(5, abs=0.5) and found[1] < 0.01


# ---- tolerances ----


@pytest.mark.parametrize("method", WITH_TOLERANCES)
def test_a_relative_tolerance_below_round_off_is_refused(method):
    for rtol in (1e-15, 1e-300, np.geomspace(1e-6, 1e-15, 6)):
        with pytest.raises(ValueError, match="rtol must be 0 or at least 2.2e-15, which is round-off, given 1e-"):
            lgint.integrate(slow_top("R3xSO3"), method, t_end=1.0, rtol=rtol)
    assert lgint.integrate(slow_top("R3xSO3"), method, t_end=1e-3, rtol=0.0, atol=1e-6).t[-1] == 1e-3
