"""Energy-momentum and midpoint schemes on systems given by M(q), V(q), g(q), against the formulas of kinon2024."""

import numpy as np
import pytest
from scipy.optimize import root

import lgint
from battery import precession_error

METHODS = [name for name in lgint.methods() if "LagrangianModel" in (lgint.method_info(name)["needs"] or "")]
PAPER = {  # model, keywords, h, t_end
    "mass_spring": ("mass_spring", {}, 0.1, 10.0),
    "mass_spring, code": ("mass_spring", {"variant": "code"}, 0.1, 10.0),
    "spring_pendulum": ("spring_pendulum", {}, 0.01, 1.0),
}


@pytest.fixture(params=PAPER)
def case(request):
    name, parameters, h, t_end = PAPER[request.param]
    return lgint.models.get(name)(**parameters), h, t_end


def momentum(model, q, v):
    """M(q) v"""
    return np.einsum("nij,nj->ni", [model.given["mass"](x) for x in q], v)


# ---- the printed formulas ----


def discrete(f, gradient, q0, q1):
    """(71)"""
    dq, middle = q1 - q0, np.asarray(gradient((q0 + q1) / 2))
    return middle + (f(q1) - f(q0) - middle @ dq) / (dq @ dq) * dq


def printed_step(model, kind, q0, v0, p0, h, guess):
    """q, v, p, lam at the end of a step: (72) with (129) to (131), or (132), solved for all unknowns at once."""
    given = {name: f for name, f in model.given.items() if f is not None}
    M, V, dV, n, m = given["mass"], given["potential"], given["potential_gradient"], model.nv, model.nc

    def T(q, v):
        return v @ np.asarray(M(q)) @ v / 2

    def dT(q, v):
        return np.einsum("i,ijk,j->k", v, given["mass_gradient"](q), v) / 2

    def rows(q):
        return np.asarray(given["constraint"](q)) if m else np.zeros(0)

    def jacobian(q):
        return np.asarray(given["constraint_jacobian"](q)) if m else np.zeros((0, n))

    def equations(x):
        q, v, p, lam = np.split(x, [n, 2 * n, 3 * n])
        q_m, v_m, p_m = (q0 + q) / 2, (v0 + v) / 2, (p0 + p) / 2
        if kind == "midpoint":
            slope, fibre, pull, G = dT(q_m, v_m), np.asarray(M(q_m)) @ v_m, np.asarray(dV(q_m)), jacobian(q_m)
        else:
            slope = sum(discrete(lambda x, w=w: T(x, w), lambda x, w=w: dT(x, w), q0, q) for w in (v0, v)) / 2
            fibre = (np.asarray(M(q0)) + np.asarray(M(q))) @ v_m / 2
            pull = discrete(V, dV, q0, q)
            G = np.array(
                [discrete(lambda x, i=i: rows(x)[i], lambda x, i=i: jacobian(x)[i], q0, q) for i in range(m)]
            ).reshape(m, n)
        return np.concatenate([q - q0 - h * v_m, p - p0 - h * (slope - pull - G.T @ lam), p_m - fibre, rows(q)])

    found = root(equations, guess, tol=1e-13)
    assert np.abs(found.fun).max() < 1e-12
    return np.split(found.x, [n, 2 * n, 3 * n])


@pytest.mark.parametrize("method", ["eml", "reml", "mpl"])
def test_steps_are_those_of_the_printed_formulas(case, method):
    model, h, _ = case
    run = lgint.integrate(model, method, t_end=4 * h, h=h, equivariant=False)
    kind = "midpoint" if method == "mpl" else "discrete"
    for i in range(4):
        guess = np.concatenate([run.q[i + 1], run.v[i + 1], run.extra["p"][i + 1], run.lam[i + 1]]) + 1e-4
        q, v, p, lam = printed_step(model, kind, run.q[i], run.v[i], run.extra["p"][i], h, guess)
        for found, expected in ((run.q, q), (run.v, v), (run.extra["p"], p), (run.lam, lam)):
            assert np.abs(found[i + 1] - expected).max(initial=0.0) < 2e-10
        assert np.allclose(run.vdot[i + 1], (run.v[i + 1] - run.v[i]) / h, atol=1e-12)


# ---- what is conserved ----


@pytest.mark.parametrize("equivariant", [False, True])
@pytest.mark.parametrize("method", ["eml", "reml"])
def test_the_generalized_energy_is_constant(case, method, equivariant):
    """As in Figs. 2 and 4 of kinon2024 it is constant to round-off; the constraint holds at the end of every step."""
    model, h, t_end = case
    run = lgint.integrate(model, method, t_end=t_end, h=h, equivariant=equivariant)
    energy = run.energy("generalized")
    assert np.ptp(energy) < 1e-12 * abs(energy[0]) and np.ptp(run.energy("kinetic")) > 0.05 * energy[0]
    assert np.abs(run.constraint_residual()).max(initial=0.0) < 1e-14


@pytest.mark.parametrize("method", ["eml", "reml"])
def test_the_generalized_energy_is_constant_in_a_long_run(method):
    run = lgint.integrate(lgint.models.mass_spring(), method, t_end=200.0, h=0.1, save_every=10)
    energy = run.energy("generalized")
    assert np.ptp(energy) < 1e-12 * energy[0]


def test_the_total_energy_differs_where_the_mass_depends_on_q():
    """Prop. 4.6 and Fig. 4: a constant mass has p = M v and one energy, a variable one a deviation of order 1e-4."""
    springs = lgint.integrate(lgint.models.mass_spring(), "eml", t_end=10.0, h=0.1)
    assert np.abs(springs.extra["p"] - momentum(springs.model, springs.q, springs.v)).max() < 1e-12
    assert np.abs(springs.energy("total") - springs.energy("generalized")).max() < 1e-12
    pendulum = lgint.integrate(lgint.models.spring_pendulum(), "eml", t_end=1.0, h=0.01)
    assert 5e-5 < np.ptp(pendulum.energy("total")) < 5e-4
    assert np.abs(pendulum.extra["p"] - momentum(pendulum.model, pendulum.q, pendulum.v)).max() > 1e-5


@pytest.mark.parametrize("method", ["eml", "mph", "genalpha"])
def test_the_energy_of_a_run_is_that_which_its_method_conserves(method, tmp_path):
    """This also holds for chosen states, a file and a plot; without their momenta, states only have T + V."""
    kind = "total" if method == "genalpha" else "generalized"
    arguments = {"method": method, "t_end": 0.1, "h": 0.01}
    run = lgint.integrate(lgint.models.spring_pendulum(), **arguments, dense_output=True)
    run.save(tmp_path / "run.npz")
    for one in (run, run[3:], run.at([0.013, 0.05]), lgint.load(tmp_path / "run.npz")):
        assert one.energy_kind == kind and np.array_equal(one.energy(), one.energy(kind))
    axes = run.plot("energy").axes[0]
    assert axes.get_title() == f"change of {kind} energy"
    assert np.array_equal(axes.lines[0].get_ydata(), run.energy(kind) - run.energy(kind)[0])
    bare = lgint.integrate(run.model, **arguments, save=["q", "v"])
    assert bare.energy_kind == "total" and np.array_equal(bare.energy(), run.energy("total"))


def loss_of_momentum(method, h, **options):
    p = lgint.integrate(lgint.models.spring_pendulum(), method, t_end=1.0, h=h, **options).extra["p"][:, 2]
    return np.ptp(p)


def test_the_momentum_of_a_cyclic_coordinate():
    """The equivariant gradient keeps it; with the printed one, it changes by an error of the order of the scheme."""
    losses = [loss_of_momentum("eml", h, equivariant=False) for h in (0.01, 0.005)]
    assert losses[0] > 1e-5 and 1.8 < np.log2(losses[0] / losses[1]) < 2.2
    for method in METHODS:
        assert loss_of_momentum(method, 0.01) < 1e-12


def test_midpoint_rules_keep_the_energy_at_their_order():
    for method in ("mpl", "mph"):
        off = [
            np.ptp(lgint.integrate(lgint.models.spring_pendulum(), method, t_end=1.0, h=h).energy("generalized"))
            for h in (0.01, 0.005)
        ]
        assert off[0] > 1e-5 and 1.8 < np.log2(off[0] / off[1]) < 2.2


def test_at_rest_nothing_moves():
    """With q1 = q0, the discrete gradient has no direction along which to be corrected."""
    model = lgint.models.mass_spring(elongation=(0.0, 0.0), rate=(0.0, 0.0))
    for method in ("eml", "reml", "mpl"):
        run = lgint.integrate(model, method, t_end=1.0, h=0.1)
        assert np.abs(run.q - run.q[0]).max() < 1e-15 and np.abs(run.extra["p"]).max() < 1e-15


@pytest.mark.parametrize("rate", [1e-3, 1e-6, 1e-9])
def test_slow_motion_is_robust(rate):
    """If q1 - q0 is short, the gradient at the middle replaces the discrete one."""
    model = lgint.models.mass_spring(elongation=(0.0, 0.0), rate=(rate, -rate))
    run = lgint.integrate(model, "eml", t_end=2.0, h=0.05)
    assert np.ptp(run.energy("generalized")) < 1e-13 * rate
    best = lgint.integrate(model, "rk67", t_end=2.0, h=0.05)
    assert np.abs(run.q[-1] - best.q[-1]).max() < 1e-2 * rate + 1e-15


# ---- order, and the methods compared ----


@pytest.mark.parametrize("method", METHODS)
def test_order_two_in_q_v_and_p(method):
    model = lgint.models.spring_pendulum(axial_stiffness=30.0)
    best = lgint.integrate(model, "rk67", t_end=1.0, h=2e-3)
    exact = (best.q[-1], best.v[-1], momentum(model, best.q[-1:], best.v[-1:])[0])
    errors = []
    for n in (32, 64, 128):
        run = lgint.integrate(model, method, t_end=1.0, h=1.0 / n)
        found = (run.q[-1], run.v[-1], run.extra["p"][-1])
        errors.append([np.abs(a - b).max() for a, b in zip(found, exact, strict=True)])
    rates = np.log2(np.array(errors[:-1]) / errors[1:])
    assert np.abs(rates - 2).max() < 0.15 and np.max(errors[-1]) < 1e-3


def test_the_reduced_scheme_is_the_same(case):
    model, h, t_end = case
    first, *others = (lgint.integrate(model, method, t_end=t_end, h=h) for method in ("eml", "reml", "null_eml"))
    for other in others:
        for name in ("q", "v", "lam"):
            assert np.abs(getattr(first, name) - getattr(other, name)).max(initial=0.0) < 1e-9
        assert np.abs(first.extra["p"] - other.extra["p"]).max() < 1e-9


def test_the_hamiltonian_rule_has_the_velocities_of_its_momenta():
    model = lgint.models.spring_pendulum()
    livens, hamilton = (lgint.integrate(model, method, t_end=0.5, h=0.01) for method in ("mpl", "mph"))
    assert np.abs(livens.q - hamilton.q).max() < 1e-11
    assert np.abs(livens.extra["p"] - hamilton.extra["p"]).max() < 1e-10
    assert np.abs(momentum(model, hamilton.q, hamilton.v) - hamilton.extra["p"]).max() < 1e-12
    assert np.abs(livens.v - hamilton.v).max() > 1e-6


@pytest.mark.parametrize("method", ["eml", "mpl"])
def test_every_first_guess_leads_to_the_same_step(case, method):
    model, h, _ = case
    guesses = ("euler", "previous", "extrapolate")
    ends = [lgint.integrate(model, method, t_end=5 * h, h=h, guess=guess).q[-1] for guess in guesses]
    assert np.abs(np.diff(ends, axis=0)).max() < 1e-11


def test_a_better_guess_saves_iterations():
    """Each guess knows one more derivative of q than the one before."""
    model = lgint.models.spring_pendulum()
    spent = [
        lgint.integrate(model, "eml", t_end=0.2, h=1e-3, guess=guess).stats.newton_iterations
        for guess in ("previous", "euler", "extrapolate")
    ]
    assert spent[0] > spent[1] > spent[2]


# ---- quaternions as coordinates, whose mass matrix is singular ----


def body_rates(e):
    """G(e) of (35a): half the body angular velocity is G(e) e'."""
    w, x, y, z = e
    return np.array([[-x, w, z, -y], [-y, -z, w, x], [-z, y, -x, w]])


def inertial_rates(e):
    """E(e) of (35b)"""
    w, x, y, z = e
    return np.array([[-x, w, -z, y], [-y, z, w, -x], [-z, -y, x, w]])


def steady_top(regular=False):
    """Section 5.4 of kinon2024 in quaternions, with the mass matrix (46), or (140) and its exact gradient."""
    model = lgint.models.steady_top(formulation="R3xSO3")
    body = model.body("body")
    m, l = body["mass"], body["pivot"]["com"][2]  # noqa: E741
    J = np.diag(np.diag(body["inertia"]) + m * l**2 * np.array([1, 1, 0]))
    e0, omega = np.array([np.cos(np.pi / 6), np.sin(np.pi / 6), 0, 0]), model.v0

    def mass(e):
        G = body_rates(e)
        return 4 * G.T @ J @ G + 2 * regular * np.trace(J) * np.outer(e, e)

    return lgint.LagrangianModel(
        e0,
        body_rates(e0).T @ omega / 2,
        mass=mass,
        potential=lambda e: m * 9.81 * l * (e[0] ** 2 - e[1] ** 2 - e[2] ** 2 + e[3] ** 2),
        constraint=lambda e: [(e @ e - 1) / 2],
    )


def error_at_end(run):
    w, x, y, z = run.q[-1]
    axis = np.array([2 * (x * z + w * y), 2 * (y * z - w * x), w * w - x * x - y * y + z * z])
    return precession_error(axis, run.t[-1])


@pytest.mark.parametrize(("method", "regular"), [("mpl", False), ("mph", True)])
def test_the_paper_s_error_of_the_steady_top(method, regular):
    """The error is 0.068 at h = 0.01, as in Fig. 13, and of order two; p keeps the vertical angular momentum."""
    model = steady_top(regular)
    runs = [lgint.integrate(model, method, t_end=0.1, h=h) for h in (0.01, 0.005, 0.0025)]
    errors = [error_at_end(run) for run in runs]
    assert errors[0] == pytest.approx(0.0680, abs=5e-5)
    assert 1.9 < np.log2(errors[1] / errors[2]) < 2.1
    momenta = np.array([inertial_rates(e) @ p / 2 for e, p in zip(runs[0].q, runs[0].extra["p"], strict=True)])
    assert np.ptp(momenta[:, 2]) < 1e-12 * momenta[0, 2] and np.ptp(momenta[:, 0]) > 0.1 * momenta[0, 2]


def test_quaternions_stay_of_unit_length_and_normal_to_their_rates_at_the_middle():
    """By (94), q_mid . v_mid = 0, whereas q . v does not vanish at the ends; the generalized energy is constant."""
    run = lgint.integrate(steady_top(), "eml", t_end=0.1, h=0.0025)
    middle = np.einsum("ni,ni->n", run.q[1:] + run.q[:-1], run.v[1:] + run.v[:-1])
    assert np.abs(middle).max() < 1e-12 * np.abs(run.v).max()
    assert np.abs(np.einsum("ni,ni->n", run.q, run.v)).max() > 1e-6
    assert np.abs(np.linalg.norm(run.q, axis=1) - 1).max() < 1e-15
    energy = run.energy("generalized")
    assert np.ptp(energy) < 1e-13 * energy[0]


# ---- forces ----


def damped(**more):
    given = lgint.models.spring_pendulum().given
    functions = {name: given[name] for name in ("mass", "potential", "mass_gradient", "potential_gradient")}
    return lgint.LagrangianModel([1.05, np.pi / 2, 0.0], [0.0, 1.0, 1.0], **functions, **more)


@pytest.mark.parametrize("method", ["eml", "reml"])
def test_the_energy_changes_by_the_work_of_the_forces(method):
    """In every step this work is h F . v_mid, with F at the middle."""
    h = 0.01

    def force(t, q, v):
        return np.array([np.cos(3 * t), 0.0, 0.2]) - 0.5 * v * q[0]

    run = lgint.integrate(damped(force=force), method, t_end=0.5, h=h)
    middles = zip(run.t[:-1] + h / 2, (run.q[:-1] + run.q[1:]) / 2, np.diff(run.q, axis=0) / h, strict=True)
    work = [h * force(t, q, v) @ v for t, q, v in middles]
    assert np.abs(np.diff(run.energy("generalized")) - work).max() < 1e-13 and np.abs(work).max() > 1e-3


def test_the_momentum_is_kept_at_a_kink():
    """If the run started afresh there, p would be M v."""
    runs = [
        lgint.integrate(damped(force=lambda t, q, v: -0.1 * v, kinks=kinks), "eml", t_end=0.4, h=0.01, stops=[0.2])
        for kinks in ([], [0.2])
    ]
    assert np.abs(runs[0].q - runs[1].q).max() < 1e-12 and np.abs(runs[0].extra["p"] - runs[1].extra["p"]).max() < 1e-12
    apart = runs[1].extra["p"] - momentum(runs[1].model, runs[1].q, runs[1].v)
    assert np.abs(apart[20]).max() > 1e-6


# ---- the momentum as part of the state ----


@pytest.mark.parametrize("method", METHODS)
def test_resumed_runs_have_the_same_bits(method, tmp_path):
    model = lgint.models.spring_pendulum()
    whole = lgint.integrate(model, method, t_end=0.2, h=0.01, stops=[0.1])
    first = lgint.integrate(model, method, t_end=0.1, h=0.01)
    first.save(tmp_path / "run.npz")
    loaded = lgint.load(tmp_path / "run.npz")
    assert np.array_equal(loaded.extra["p"], first.extra["p"])
    assert np.array_equal(loaded.energy("generalized"), first.energy("generalized"))
    for begin in (first, loaded):
        rest = lgint.integrate(model, method, t_end=0.2, h=0.01, start=begin)
        for values in ("q", "v", "vdot"):
            assert getattr(rest, values).tobytes() == getattr(whole, values)[10:].tobytes()
        assert rest.extra["p"].tobytes() == whole.extra["p"][10:].tobytes()


def test_momenta_at_any_time():
    model = lgint.models.spring_pendulum()
    fine = lgint.integrate(model, "eml", t_end=0.1, h=0.01)
    run = lgint.integrate(model, "eml", t_end=0.1, h=0.01, t_eval=[0.0, 0.025, 0.03, 0.1])
    p = fine.extra["p"]
    assert np.allclose(run.extra["p"], [p[0], (p[2] + p[3]) / 2, p[3], p[10]], atol=1e-12)


def test_a_step_that_fails_leaves_the_state():
    """Wherever a run is interrupted, the resumed run has the same bits as an uninterrupted one."""
    calls = [0, np.inf]

    def force(t, q, v):
        calls[0] += 1
        if calls[0] >= calls[1]:
            raise ArithmeticError("enough")
        return -0.1 * v

    model = damped(force=force)
    whole = lgint.integrate(model, "eml", t_end=0.1, h=0.01)
    for place in (30, 47, 60):
        calls[:] = [0, place]
        with pytest.raises(ArithmeticError) as caught:
            lgint.integrate(model, "eml", t_end=0.1, h=0.01)
        calls[1] = np.inf
        rest = lgint.integrate(model, "eml", t_end=0.1, h=0.01, start=caught.value.trajectory)
        assert rest.q[-1].tobytes() == whole.q[-1].tobytes()
        assert rest.extra["p"][-1].tobytes() == whole.extra["p"][-1].tobytes()


def massless():
    """The second coordinate has neither mass nor constraint; dV/dq2 = 0 determines it."""
    return lgint.LagrangianModel(
        [1.0, -0.5],
        [0.0, 0.0],
        mass=lambda q: np.diag([1.0, 0.0]),
        potential=lambda q: q[0] ** 2 + q[0] * q[1] + q[1] ** 2,
    )


def test_a_start_whose_accelerations_are_not_determined(tmp_path):
    """With q2 = -q1/2, the first coordinate moves in the potential 3/4 q1^2."""
    run = lgint.integrate(massless(), "eml", t_end=1.0, h=0.01)
    assert np.isnan(run.vdot[0]).all() and np.isfinite(run.vdot[1:]).all()
    assert run.q[-1, 0] == pytest.approx(np.cos(np.sqrt(1.5)), abs=1e-4)
    assert np.abs(run.q[:, 0] + 2 * run.q[:, 1]).max() < 1e-12
    run.save(tmp_path / "run.npz")
    assert np.array_equal(lgint.load(tmp_path / "run.npz").vdot, run.vdot, equal_nan=True)
    with pytest.raises(lgint.SingularError):
        lgint.integrate(massless(), "rk44", t_end=1.0, h=0.01)


# ---- what does not work ----


def functions_alone():
    return lgint.CallableModel("Rn", [0.0], [1.0], mass=lambda t, q: np.eye(1), force=lambda t, q, v: -q)


def test_messages_name_what_a_method_needs():
    for method in METHODS:
        with pytest.raises(ValueError, match=f"{method} needs a LagrangianModel, .*or rigid bodies"):
            lgint.integrate(functions_alone(), method, t_end=1.0, h=0.1)
    with pytest.raises(ValueError, match="emh needs rigid bodies .*; genalpha, .* accept any model"):
        lgint.integrate(lgint.models.mass_spring(), "emh", t_end=1.0, h=0.1)
    for begin in (lgint.models.mass_spring(), massless()):
        with pytest.raises(ValueError, match="mph needs the inverse of the mass matrix, which is singular"):
            lgint.integrate(begin, "mph", t_end=1.0, h=0.1)
    with pytest.raises(ValueError, match="the states of 'rk44' have no momentum; those of 'eml', 'reml'"):
        lgint.integrate(lgint.models.mass_spring(), "rk44", t_end=0.1, h=0.1).energy("generalized")


def test_too_long_a_step_is_a_failure_with_a_trajectory():
    """A step is far longer than the period of the spring: 17 rad."""
    with pytest.raises(lgint.ConvergenceError) as caught:
        lgint.integrate(lgint.models.spring_pendulum(axial_stiffness=3e6), "eml", t_end=1.0, h=0.01)
    so_far = caught.value.trajectory
    assert np.isfinite(so_far.q).all() and np.ptp(so_far.energy()) < 1e-12 * so_far.energy()[0]
