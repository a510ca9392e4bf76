"""Error control of generalized-alpha: its estimate, errors that follow tolerances on stiff systems, what is refused."""

import functools

import numpy as np
import pytest

import lgint
from battery import slow_top

ALPHA = ["genalpha", "newmark", "hht"]  # the methods of the family
RHO = (0.0, 0.3, 0.5, 0.9, 1.0)


# ---- the estimate is the error of the step ----


def parameters(rho, sigma):
    """alpha_m, alpha_f, and what the local errors of q and v have as factors."""
    alpha_m, alpha_f = (2 * rho - 1) / (1 + rho), rho / (1 + rho)
    Delta = alpha_m - alpha_f
    gamma = 0.5 - Delta
    beta = 0.25 * (gamma + 0.5) ** 2
    return (
        alpha_m,
        alpha_f,
        beta,
        gamma,
        1 / 6 - beta - Delta / 2,
        1 / 12 + Delta * (alpha_m - 0.5 - Delta),
        0.25 * (1 / 3 - sigma * beta / gamma),
    )


@pytest.mark.parametrize("rho", RHO)
def test_constants_of_the_local_error(rho):
    """A step along vdot = t^3 from exact values, with the a_n that the recursion has in the long run."""
    alpha_m, alpha_f, beta, gamma, Cq, Cv, _ = parameters(rho, 1.0)
    t, errors = 1.0, []
    for h in (1e-2, 5e-3):
        Delta = alpha_m - alpha_f
        a = t**3 + Delta * h * 3 * t**2 + Delta * (alpha_m - 0.5) * h**2 * 6 * t
        end = ((1 - alpha_f) * (t + h) ** 3 + alpha_f * t**3 - alpha_m * a) / (1 - alpha_m)
        q = h * t**4 / 4 + h**2 * ((0.5 - beta) * a + beta * end)
        v = h * ((1 - gamma) * a + gamma * end)
        errors.append([((t + h) ** 5 - t**5) / 20 - q, v - ((t + h) ** 4 - t**4) / 4])
    for i, (constant, rate) in enumerate(((Cq, 3 * t**2), (Cv, 6 * t))):
        found = [error[i] / h**3 / rate for error, h in zip(errors, (1e-2, 5e-3), strict=True)]
        assert 2 * found[1] - found[0] == pytest.approx(constant, abs=2e-4)  # extrapolated to h = 0


def local_errors(run, i, parts=8):
    """The errors of step i in q, as a rotation vector, and in v, from a fine solution of the same step."""
    model = run.model.with_state(run.q[i], run.v[i])
    fine = lgint.integrate(model, "rk67", t_end=run.h[i + 1], h=run.h[i + 1] / parts)
    R, Rfine = run.rotation("top")[i + 1], fine.rotation("top")[-1]
    return np.concatenate([lgint.groups.so3.log(R.T @ Rfine), run.v[i + 1] - fine.v[-1]])


@pytest.mark.parametrize("sigma", [0.0, 1.0, 3.0])
@pytest.mark.parametrize("rho", RHO[:4])
def test_the_estimate_is_the_error_of_the_step(rho, sigma):
    """Entry by entry, by tolerances that leave out the others; without damping the start would go on oscillating."""
    model, step = slow_top("R3xSO3", constrained=False), 60
    nv = model.nv
    rotation = np.arange(nv)[-3:]
    common = dict(t_end=0.1, h=1e-3, rho_inf=rho, sigma=sigma, control="none", newton_rtol=1e-12, newton="full")
    run = lgint.integrate(model, "genalpha", **common, atol=1.0)
    true = local_errors(run, step)
    estimated = []
    for entry in [*rotation, *(nv + rotation)]:
        atol = np.full(2 * nv, 1e30)
        atol[entry] = 1e-12
        single = lgint.integrate(model, "genalpha", **common, atol=atol)
        estimated.append(single.error[step + 1] * np.sqrt(2 * nv) * 1e-12)
    true = np.abs(np.concatenate([true[:3], true[3:][rotation]]))
    scale = np.repeat([true[:3].max(), true[3:].max()], 3)
    assert (np.abs(estimated - true) < 0.06 * scale).all()


def twisted(sigma):
    """`lie_term`: constant angular acceleration, so that the whole error is the Lie group term of q."""
    return lgint.models.lie_term(), {"sigma": sigma, "rho_inf": 0.9}


def test_the_lie_group_term_governs_the_steps():
    """With sigma = 0 the error of q alone sets the steps; with sigma = gamma/(3 beta) it vanishes."""
    model, options = twisted(0.0)
    fine = lgint.integrate(model, "rk67", t_end=1.0, h=1e-3)
    R, ratios = next(iter(fine.model.bodies)), []
    tolerances = 10.0 ** np.arange(-3, -9, -1)
    for tol in tolerances:
        run = lgint.integrate(model, "genalpha", t_end=1.0, atol=tol, **options)
        error = lgint.groups.so3.log(fine.rotation(R)[-1].T @ run.rotation(R)[-1])
        ratios.append(np.linalg.norm(error) / tol ** (2 / 3))
        assert np.abs(run.v[-1] - fine.v[-1]).max() < 1e-9
    assert max(ratios) < 4 * min(ratios) and 0.01 < min(ratios) < 1
    free = lgint.integrate(model, "genalpha", t_end=1.0, atol=1e-8, **twisted("optimal")[1])
    assert free.stats.steps < 0.1 * run.stats.steps


# ---- errors follow tolerances ----


def stiff_chain(links, stiffness=1e6, damping=1e4):
    """Links of 1 kg and 0.6 kg in turn, hinged about y; drives in every second hinge. They fall from a level line."""
    b = lgint.ModelBuilder(gravity=(0, 0, -9.81))
    x, before = 0.0, lgint.ground
    for i in range(links):
        mass, inertia, com, length = ((1.0, (0.02, 0.03, 0.02), 0.5, 1.0), (0.6, (0.01, 0.02, 0.02), 0.4, 0.8))[i % 2]
        link = b.add_body(f"link{i}", mass=mass, inertia=inertia, position=(x + com, 0, 0))
        hinge = b.add_joint("revolute", before, link, point=(x, 0, 0), axis=(0, 1, 0))
        if i % 2:
            b.add_joint_drive(hinge, stiffness=stiffness, damping=damping)
        x, before = x + length, link
    return b.build()


HEIGHT, BUFFER, GRAVITY = 0.05, 1e6, 9.81


def buffer(**more):
    """1 kg that falls on a spring which only pushes."""
    force = lambda t, q, v: np.array([-GRAVITY - BUFFER * min(q[0], 0.0)])  # noqa: E731
    return lgint.CallableModel("Rn", [HEIGHT], [0.0], mass=lambda t, q: np.eye(1), force=force, **more)


def through_the_buffer():
    """Times from the first contact to some way up again, and the exact positions and velocities there."""
    speed, omega = np.sqrt(2 * GRAVITY * HEIGHT), np.sqrt(BUFFER)
    rest = GRAVITY / omega**2  # in contact x = -rest + rest cos - speed/omega sin
    contact = (2 * np.pi - 2 * np.arctan2(speed / omega, rest)) / omega
    s, up = np.linspace(0, contact, 40), np.linspace(0, 0.5 * speed / GRAVITY, 20)[1:]
    x = [rest * (np.cos(omega * s) - 1) - speed / omega * np.sin(omega * s), speed * up - GRAVITY * up**2 / 2]
    v = [-rest * omega * np.sin(omega * s) - speed * np.cos(omega * s), speed - GRAVITY * up]
    times = speed / GRAVITY + np.concatenate([s, contact + up])
    return times, np.concatenate(x), np.concatenate(v), len(s)


def by(model, t_end, method, h, **options):
    return lgint.integrate(model, method, t_end=t_end, h=h, **options).q[-1]


@functools.cache
def case(name):
    """A model, the end of its run, and q there."""
    if name == "top":
        return slow_top("R3xSO3"), 0.5, by(slow_top("R3xSO3"), 0.5, "herk5", 2e-4)
    if name == "rotor":
        return lgint.models.rotor(), 0.01, by(lgint.models.rotor(), 0.01, "rk67", 2e-6)
    if name == "rod":
        return lgint.models.roll_up(), 0.2, by(lgint.models.roll_up(), 0.2, "herk5", 5e-5)
    chain = stiff_chain(10)
    return chain, 0.5, by(chain, 0.5, "genalpha", 5e-5, rho_inf=0.5, index="stabilized")


TOLERANCES = 10.0 ** np.arange(-3, -9, -1)  # five decades


@pytest.mark.parametrize("method", ALPHA)
@pytest.mark.parametrize("name", ["top", "rotor", "rod", "chain"])
def test_error_over_tolerance_is_constant_over_five_decades(name, method):
    """Without damping the chain resolves its vibrations at loose tolerances; all else keeps within a factor of ten."""
    model, t_end, exact = case(name)
    runs = [lgint.integrate(model, method, t_end=t_end, rtol=tol, atol=tol) for tol in TOLERANCES]
    ratios = [np.abs(run.q[-1] - exact).max() / tol ** (2 / 3) for run, tol in zip(runs, TOLERANCES, strict=True)]
    if (name, method) == ("chain", "newmark"):
        assert max(ratios) < 0.5 and max(ratios[3:]) < 2 * min(ratios[3:])
    else:
        assert max(ratios) < 10 * min(ratios) and max(ratios) < 1
    assert all(run.stats.rejected <= 10 and run.stats.failed == 0 for run in runs)


@pytest.mark.parametrize(
    ("method", "options"), [("genalpha", {"rho_inf": rho}) for rho in RHO] + [("newmark", {}), ("hht", {})]
)
def test_a_stiff_one_sided_buffer(method, options):
    """In the contact of 3 ms error/tol^(2/3) is constant. After it the error is smaller, and scatters with where
    steps meet the kinks of the force. Fixed steps of the same error are many more."""
    times, x, v, n = through_the_buffer()
    ratios = []
    for tol in TOLERANCES:
        run = lgint.integrate(buffer(), method, t_end=0.3, rtol=tol, atol=tol, t_eval=times, **options)
        errors = np.abs(run.q[:, 0] - x), np.abs(run.v[:, 0] - v)
        ratios.append([errors[0][:n].max(), errors[1][:n].max(), errors[0][n:].max(), errors[1][n:].max()])
        assert run.stats.rejected < 25 and run.stats.failed == 0
    ratios /= TOLERANCES[:, None] ** (2 / 3)
    assert (ratios.max(axis=0) < [0.004, 6, 0.2, 3]).all()
    assert (ratios.max(axis=0) < 5 * ratios.min(axis=0))[:2].all()
    fixed = lgint.integrate(buffer(), method, t_end=0.3, h=1e-4, t_eval=times, **options)
    assert np.abs(fixed.v[:n, 0] - v[:n]).max() > ratios[3, 1] * TOLERANCES[3] ** (2 / 3)
    assert fixed.stats.steps > 8 * lgint.integrate(buffer(), method, t_end=0.3, rtol=1e-6, **options).stats.steps


def test_after_a_buffer_errors_scatter_by_where_its_kinks_lie_in_steps():
    """With declared kinks error/tol^(2/3) is constant within a factor of ten over five decades; without them it
    scatters as much at one tolerance, as soon as steps begin a little differently."""
    times, _, v, n = through_the_buffer()
    model, declared = buffer(), buffer(kinks=[times[0], times[n - 1]])

    def ratio(model, tol, **options):
        run = lgint.integrate(model, "genalpha", t_end=0.3, rtol=tol, atol=tol, t_eval=times, **options)
        return np.abs(run.v[n:, 0] - v[n:]).max() / tol ** (2 / 3)

    over_tolerances = [ratio(declared, tol) for tol in 10.0 ** -np.arange(3.5, 8.6, 0.5)]
    over_starts = [ratio(model, 1e-6, first_step=h) for h in np.linspace(1e-4, 3e-4, 12)]
    assert max(over_tolerances) < 10 * min(over_tolerances)
    assert max(over_starts) > 20 * min(over_starts)


@pytest.mark.parametrize("index", [2, "stabilized"])
@pytest.mark.parametrize("sigma", [0.0, 1.0, "optimal", -2.0])
@pytest.mark.parametrize("rho", RHO)
def test_every_damping_and_sigma_is_safe(rho, sigma, index):
    """At most ten rejected steps; the estimate from the carried accelerations would need hundreds."""
    for name in ("top", "chain"):
        model, t_end, exact = case(name)
        run = lgint.integrate(model, "genalpha", t_end=t_end, rtol=1e-5, rho_inf=rho, sigma=sigma, index=index)
        assert run.stats.rejected <= 10 and run.stats.failed == 0, name
        assert np.abs(run.q[-1] - exact).max() < 3 * 1e-5 ** (2 / 3), name


def test_adaptive_steps_cost_more_where_errors_of_fixed_steps_cancel():
    """The slider-crank turns at a nearly constant rate (docs/step_control.md)."""
    model = lgint.models.slider_crank()
    exact = by(model, 2.0, "herk5", 5e-4)
    fixed = lgint.integrate(model, "genalpha", t_end=2.0, h=2e-3, index="stabilized")
    adaptive = lgint.integrate(model, "genalpha", t_end=2.0, rtol=1e-7)
    errors = [np.abs(run.q[-1] - exact).max() for run in (fixed, adaptive)]
    assert 0.5 < errors[1] / errors[0] < 2 and 4 < adaptive.stats.steps / fixed.stats.steps < 6


# ---- which runs have error control ----


@pytest.mark.parametrize("method", ALPHA)
def test_a_controlled_run_is_stabilised_unless_index_2_is_asked_for(method):
    model, options = slow_top("R3xSO3"), dict(t_end=0.1, rtol=1e-5)
    plain = lgint.integrate(model, method, **options)
    same = lgint.integrate(model, method, **options, index="stabilized")
    assert plain.q.tobytes() == same.q.tobytes() and plain.lam.tobytes() == same.lam.tobytes()
    assert plain.options["index"] == same.options["index"] == "stabilized"
    rest = lgint.integrate(model, method, start=plain, t_end=plain.t[-1] + 0.01, h=1e-3)
    assert rest.options["index"] == "stabilized" and len(rest) > 1
    assert lgint.integrate(model, method, **options, index=2).lam.tobytes() != plain.lam.tobytes()
    reason = 'index 3 takes no tolerances: changes of h disturb its multipliers, .* take index 2 or "stabilized"'
    with pytest.raises(ValueError, match=reason):
        lgint.integrate(model, method, **options, index=3)
    free = slow_top("R3xSO3", constrained=False)  # without constraints the indices do not differ
    runs = [lgint.integrate(free, method, **options, **index) for index in ({}, {"index": 3}, {"index": 2})]
    assert len({run.q.tobytes() for run in runs}) == 1


@pytest.mark.parametrize("method", ["genalpha", "hht"])
def test_fixed_steps_have_index_3_by_default(method):
    model, options = slow_top("R3xSO3"), dict(t_end=0.1, h=2e-3)
    plain, given = (lgint.integrate(model, method, **options, **index) for index in ({}, {"index": 3}))
    assert plain.options["index"] == 3 and plain.lam.tobytes() == given.lam.tobytes()
    recorded = lgint.integrate(model, method, **options, rtol=1e-6, control="none")
    assert recorded.options["index"] == 3
    assert recorded.lam.tobytes() == plain.lam.tobytes() and (recorded.error[1:] > 0).all()


@pytest.mark.parametrize("form", ["printed", "printed_half"])
def test_printed_forms_have_no_error_estimate(form):
    for control in ({}, {"control": "none", "h": 1e-3}):
        with pytest.raises(ValueError, match='rtol, atol: the forms as printed have no error estimate; form "exact"'):
            lgint.integrate(slow_top("R3xSO3"), "genalpha", t_end=0.1, rtol=1e-5, form=form, index=2, **control)


@pytest.mark.parametrize("modified", [True, False])
def test_printed_schemes_of_hht_refuse_tolerances_by_name(modified):
    for name in ("rtol", "atol"):
        with pytest.raises(ValueError, match=f"{name}: the scheme chosen by modified has no such option"):
            lgint.integrate(slow_top("euler_parameters"), "hht", t_end=0.1, modified=modified, **{name: 1e-5})


# ---- going on ----


@pytest.mark.parametrize("method", ALPHA)
def test_error_control_can_begin_and_end_between_runs(method):
    """Without constraints, or with the same index, either run continues the other; the steps before are not known."""
    for model, index in ((slow_top("R3xSO3", constrained=False), {}), (slow_top("R3xSO3"), {"index": "stabilized"})):
        fixed = lgint.integrate(model, method, t_end=0.1, h=2e-3, **index)
        controlled = lgint.integrate(model, method, t_end=0.2, start=fixed, rtol=1e-6, h=2e-3)
        assert (
            controlled.h[1] <= 2e-3 * (1 + 1e-9)
            and (controlled.error[1:] <= 1).all()
            and controlled.stats.rejected < 10
        )
        back = lgint.integrate(model, method, t_end=0.3, start=controlled, h=2e-3)
        assert np.allclose(np.diff(back.t), 2e-3)
        exact = lgint.integrate(model, "rk67", t_end=0.3, h=1e-3)
        assert np.abs(back.q[-1] - exact.q[-1]).max() < 0.02


def test_a_run_does_not_go_on_with_another_index():
    fixed = lgint.integrate(slow_top("R3xSO3"), "genalpha", t_end=0.1, h=2e-3)
    with pytest.raises(ValueError, match="index 3 takes no tolerances"):
        lgint.integrate(slow_top("R3xSO3"), "genalpha", t_end=0.2, start=fixed, rtol=1e-6)
    with pytest.raises(ValueError, match="start: the resumed run had other options, on which its data depend"):
        lgint.integrate(slow_top("R3xSO3"), "genalpha", t_end=0.2, start=fixed, rtol=1e-6, index="stabilized")


def test_a_step_that_fails_is_halved_at_most_as_often_as_retry_says():
    def force(t, q, v):
        return np.array([1e300]) if t > 0.5 else -q

    model = lgint.CallableModel("Rn", [1.0], [0.0], mass=lambda t, q: np.eye(1), force=force)
    for most in (0, 3, None):
        with pytest.raises(lgint.ConvergenceError) as caught:
            lgint.integrate(model, "genalpha", t_end=1.0, rtol=1e-4, retry=most)
        run = caught.value.trajectory
        assert run.stats.failed == run.stats.rejected == run.stats.retries + 1
        assert run.stats.failed > (10 if most is None else most) and run.t[-1] <= 0.5
        assert most != 0 or run.stats.failed == 1
