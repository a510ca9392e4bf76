"""Dense output is exact at the ends of steps, has the stated orders, and does not affect the steps."""

import numpy as np
import pytest

import lgint
from battery import T_END, observed_order, slow_top
from kinds import BODIES, LIE, MOMENTUM

OTHERS = ("rk44", "dopri5", "dop853", "genalpha")


def fine(model, n, every):
    """n steps over T_END, of which every `every`-th is kept; their errors are far below those of interpolation."""
    return lgint.integrate(model, "rk67", t_end=T_END, h=T_END / n, save_every=every)


def interpolation_errors(model, best, intervals, index_1):
    """Errors of q, v, vdot and lam in the middle of each of `intervals` steps between exact states."""
    knots = slice(None, None, (len(best) - 1) // intervals)
    dense = lgint.DenseOutput(
        model,
        {name: getattr(best, name)[knots] for name in ("t", "q", "v", "vdot", "lam", "mem")},
        T_END,
        index_1=index_1,
    )
    away = ~np.isin(best.t, best.t[knots])
    found = dense(best.t[away])
    q = [model.core.difference(a, b) for a, b in zip(best.q[away], found.q, strict=True)]
    rest = (np.abs(getattr(found, name) - getattr(best, name)[away]).max() for name in ("v", "vdot", "lam"))
    return np.abs(q).max(), *rest


@pytest.mark.parametrize(("index_1", "orders"), [(True, (6, 5, 5, 5)), (False, (6, 5, 3, 2))])
@pytest.mark.parametrize("formulation", [*LIE, "euler_parameters"])
def test_orders_of_the_interpolation(formulation, index_1, orders):
    model = slow_top(formulation)
    best = fine(model, 3200, 10)
    steps = [20, 40, 80]
    errors = np.transpose([interpolation_errors(model, best, n, index_1) for n in steps])
    for name, column, order in zip(("q", "v", "vdot", "lam"), errors, orders, strict=True):
        assert abs(observed_order(steps, column) - order) < 0.5, f"{formulation} {name}: {column}"


@pytest.mark.parametrize("method", [*OTHERS, *MOMENTUM])
def test_exact_at_the_ends(method):
    model = slow_top("SE3" if method in OTHERS else BODIES[method])
    run = lgint.integrate(model, method, t_end=0.2, h=0.01, dense_output=True)
    found = run.sol(run.t)
    for name in ("q", "v", "vdot", "lam"):
        assert np.array_equal(getattr(found, name), getattr(run, name))
    one = run.sol(0.1)
    assert one.q.shape == (model.nq,) and one.lam.shape == (model.nc,)
    assert run.sol([[0.1, 0.15]]).v.shape == (1, 2, model.nv)
    q, v, *_ = one
    assert np.array_equal(q, one.q) and np.array_equal(v, one.v)


@pytest.mark.parametrize("options", [{"h": 0.01}, {"rtol": 1e-5}], ids=["fixed", "adaptive"])
@pytest.mark.parametrize("formulation", ["R3xSO3", "SE3", "euler_parameters"])
@pytest.mark.parametrize("method", ["dopri5", "dop853"])
def test_t_eval_does_not_change_the_steps(method, formulation, options):
    model = slow_top(formulation)
    alone = lgint.integrate(model, method, t_end=0.5, **options)
    plain = lgint.integrate(model, method, t_end=0.5, dense_output=True, **options)
    assert plain.q.tobytes() == alone.q.tobytes() and plain.lam.tobytes() == alone.lam.tobytes()
    own = 3 if lgint.method_info(method)["tableau"]["curve"] else 0  # further evaluations for a step
    assert plain.stats.force_evaluations == alone.stats.force_evaluations + own * plain.stats.steps
    times = np.concatenate(
        [[0.0], np.sort(np.random.default_rng(3).uniform(0, 0.5, 200)), plain.t[[len(plain) // 2, -1]]]
    )
    times.sort()
    run = lgint.integrate(model, method, t_end=0.5, t_eval=times, **options)
    assert np.array_equal(run.t, times)
    found = plain.sol(times)
    for name in ("q", "v", "vdot", "lam"):
        assert getattr(run, name).tobytes() == getattr(found, name).tobytes()
    asked = np.unique(np.searchsorted(plain.t, np.setdiff1d(times, plain.t))).size  # steps with a time inside
    assert run.stats.steps == plain.stats.steps
    assert run.stats.force_evaluations == alone.stats.force_evaluations + own * asked
    assert run.end["q"].tobytes() == plain.q[-1:].tobytes()
    best = lgint.integrate(model, "rk67", t_end=0.5, h=1e-3, dense_output=True).sol(times)
    assert np.abs(run.q - best.q).max() < 2e-4 and np.abs(run.v - best.v).max() < 2e-3


def pendulum(stiffness=None):
    """A body on a hinge; optionally a second one on a spring between the two centres of mass."""
    builder = lgint.ModelBuilder(gravity=(0, 0, -9.81))
    builder.add_body("arm", mass=2.0, inertia=(0.1, 0.2, 0.3), position=(0.5, 0, 0))
    builder.add_joint("revolute", lgint.ground, "arm", point=(0, 0, 0), axis=(0, 1, 0), name="hinge")
    if stiffness:
        builder.add_body("load", mass=1.0, inertia=(0.1, 0.2, 0.3), position=(1.5, 0, 0))
        builder.add_spring("arm", "load", stiffness=stiffness)
    return builder.build()


def errors_inside(model, method, best, n, **options):
    """Largest errors of q, v, vdot and lam inside n steps, and of the rows of position and velocity."""
    run = lgint.integrate(model, method, t_end=T_END, h=T_END / n, dense_output=True, **options)
    found = run.sol(best.t)
    q = [model.core.difference(a, b) for a, b in zip(best.q, found.q, strict=True)]
    errors = [np.abs(q).max(), *(np.abs(getattr(found, x) - getattr(best, x)).max() for x in ("v", "vdot", "lam"))]
    inside = run.at(best.t)
    return [*errors, *(np.abs(inside.constraint_residual(level)).max() for level in ("position", "velocity"))]


@pytest.mark.parametrize("project", ["none", "both"])
@pytest.mark.parametrize("formulation", ["R3xSO3", "SE3", "euler_parameters", "euler_parameters_omega"])
def test_dop853_has_order_seven_inside_its_steps(formulation, project):
    """The local error is O(h^8) in all parts, and the constraints hold to it."""
    model = slow_top(formulation)
    best = lgint.integrate(model, "dop853", t_end=T_END, h=T_END / 192, save_every=3)
    steps = [12, 24, 48] if formulation != "euler_parameters" else [6, 12, 24]
    errors = np.transpose([errors_inside(model, "dop853", best, n, project=project) for n in steps])
    for name, column in zip(("q", "v", "vdot", "lam", "phi", "phidot"), errors, strict=True):
        exact = name.startswith("phi") and column.max() < 1e-12  # on SE3 the pivot stays where it is
        assert exact or abs(observed_order(steps, column) - 8) < 0.6, f"{formulation} {name}: {column}"


def test_dop853_follows_a_body_through_more_than_half_a_turn():
    """A step may turn a body by less than a full turn, at which local coordinates end."""
    builder = lgint.ModelBuilder()
    builder.add_body("b", mass=1.0, inertia=(1.0, 2.0, 3.0), angular_velocity=(0.01, 0.02, 3.6))
    model = builder.build()
    run = lgint.integrate(model, "dop853", t_end=2.0, h=1.0, dense_output=True)
    best = lgint.integrate(model, "dop853", t_end=2.0, h=0.01)
    found = run.sol(best.t)
    errors = [model.core.difference(a, b) for a, b in zip(best.q, found.q, strict=True)]
    assert 1.1 * np.pi < np.abs(run.h.max() * run.v[:, 5]).max() < 2 * np.pi
    assert np.abs(errors).max() < 1e-3 and np.abs(found.v - best.v).max() < 1e-3 * np.abs(best.v).max()


@pytest.mark.parametrize("method", ["dopri5", "herk5", "dop853"])
def test_reactions_between_steps_are_those_of_steps_that_end_there(method):
    """A straight line between the steps is off by 1 %, although the motion is correct to 1e-6."""
    model, times = pendulum(), np.linspace(0.05, 1.95, 39)
    run = lgint.integrate(model, method, t_end=2.0, rtol=1e-6, t_eval=times, dense_output=True)
    stops = lgint.integrate(model, "dopri5", t_end=2.0, rtol=1e-11, atol=1e-11, stops=times)
    there = np.searchsorted(stops.t, times - 1e-12)
    best, line = stops.reaction("hinge")[there], np.interp(times, run.sol.knots["t"], run.sol.knots["lam"][:, 2])
    for found in (run, run.at(times)):
        assert np.abs(found.reaction("hinge") - best).max() < 1e-5 * np.abs(best).max()
        assert np.abs(found.vdot - stops.vdot[there]).max() < 1e-5 * np.abs(stops.vdot).max()
    assert np.abs(line - stops.lam[there, 2]).max() > 0.01 * np.abs(stops.lam[:, 2]).max()


def test_implicit_methods_keep_accelerations_of_their_steps():
    """Through a spring so stiff that its vibration is far below the step, an error of q of 1e-7 m is a large force."""
    times = np.arange(20, 99) * 0.01 + 0.005
    run = lgint.integrate(pendulum(1e8), "genalpha", t_end=1.0, h=0.01, dense_output=True)
    line = np.transpose([np.interp(times, run.t, column) for column in run.lam.T])
    assert np.allclose(run.sol(times).lam, line, rtol=1e-12)
    curve = np.transpose([np.interp(times, run.t, column) for column in run.vdot.T])
    assert np.abs(run.sol(times).vdot - curve).max() < 1e-2 * np.abs(run.vdot).max()


def test_accelerations_between_steps_are_computed_when_they_are_read(tmp_path):
    """They are computed later, so that q and v of a loaded run need no function of the model."""
    builder = lgint.ModelBuilder(gravity=(0, 0, -9.81))
    builder.add_body("arm", mass=2.0, inertia=(0.1, 0.2, 0.3), position=(0.5, 0, 0))
    builder.add_joint("spherical", lgint.ground, "arm", point=(0, 0, 0))
    builder.add_force_law(lambda t, *_: (0, 0, np.sin(t), 0, 0, 0), bodies="arm", name="wave")
    run = lgint.integrate(builder.build(), "dopri5", t_end=0.5, rtol=1e-6, dense_output=True)
    run.save(tmp_path / "run.npz")
    loaded = lgint.load(tmp_path / "run.npz")
    assert np.array_equal(loaded.sol(0.3).q, run.sol(0.3).q)
    assert np.array_equal(loaded.at([0.3]).v, run.at([0.3]).v)
    with pytest.raises(RuntimeError, match="wave"):
        _ = loaded.sol(0.3).lam
    assert len(run.sol(0.3)) == 4 and np.array_equal(run.sol(0.3)[3], run.at([0.3]).lam[0])


@pytest.mark.parametrize("method", MOMENTUM)
def test_momenta_at_times_of_t_eval(method):
    """They are those of the steps at their ends and linear in between; the steps have the same bits."""
    model = slow_top("euler_parameters")
    plain = lgint.integrate(model, method, t_end=0.1, h=0.01)
    times = np.sort(np.append(plain.t, plain.t[:-1] + 0.0025))
    run = lgint.integrate(model, method, t_end=0.1, h=0.01, t_eval=times)
    p = plain.extra["p"]
    assert run.extra["p"][::2].tobytes() == p.tobytes() and run.q[::2].tobytes() == plain.q.tobytes()
    assert np.allclose(run.extra["p"][1::2], 0.75 * p[:-1] + 0.25 * p[1:], rtol=0, atol=1e-11 * np.abs(p).max())
    assert run.stats.newton_iterations == plain.stats.newton_iterations


def test_the_velocity_is_that_of_the_curve():
    """v(t) is the left-trivialised rate of q(t), inside steps and across their ends."""
    run = lgint.integrate(slow_top("SE3"), "dopri5", t_end=0.3, rtol=1e-5, dense_output=True)
    core, d = run.model.core, 1e-6
    for t in np.linspace(0.01, 0.29, 23):
        rate = core.difference(run.sol(t - d).q, run.sol(t + d).q) / (2 * d)
        assert np.allclose(rate, run.sol(t).v, atol=1e-7)


@pytest.mark.parametrize("method", ["dopri5", "dop853"])
def test_a_run_with_t_eval_can_be_resumed(method):
    model = slow_top("R3xSO3")
    whole = lgint.integrate(model, method, t_end=0.5, rtol=1e-6, stops=[0.25])
    first = lgint.integrate(model, method, t_end=0.25, rtol=1e-6, t_eval=[0.1, 0.2])
    second = lgint.integrate(model, method, t_end=0.5, rtol=1e-6, start=first)
    assert first.t[-1] == 0.2 and first.end["t"][0] == second.t[0] == 0.25
    assert second.q[-1].tobytes() == whole.q[-1].tobytes()
    none = lgint.integrate(model, method, t_end=0.25, rtol=1e-6, t_eval=[])
    assert len(none) == 0 and none.end["q"].tobytes() == first.end["q"].tobytes()


def test_both_sides_of_a_kink():
    b = lgint.ModelBuilder()
    b.add_body("b", mass=1.0, inertia=(1, 1, 1))
    b.add_force("b", force=([0.0, 0.5, 0.5 + 1e-9], [[0, 0, 0], [0, 0, 0], [6, 0, 0]]))
    run = lgint.integrate(b.build(), "rk44", t_end=1.0, h=0.25, dense_output=True)
    t = np.linspace(0, 1, 41)
    found = run.sol(t)
    assert np.allclose(found.q[:, 0], 3 * np.maximum(t - 0.5, 0) ** 2, atol=1e-8)
    assert np.allclose(found.v[:, 0], 6 * np.maximum(t - 0.5, 0), atol=1e-7)
    assert np.allclose(found.vdot[t < 0.5, 0], 0, atol=1e-12) and np.allclose(found.vdot[t > 0.5, 0], 6)


def test_a_kink_itself_belongs_to_what_follows():
    """At a jump of the accelerations the states and dense output have those just after it."""
    b = lgint.ModelBuilder(gravity=(0, 0, 0))
    b.add_body("wheel", mass=1.0, inertia=(1, 1, 1))
    b.add_joint("revolute", lgint.ground, "wheel", point=(0, 0, 0), axis=(0, 0, 1), name="axle")
    b.add_joint_drive("axle", damping=2.0, motion=[(0.0, 0.0, 0.0, 0.0), (0.5, 0.0, 3.0, 0.0)])
    run = lgint.integrate(b.build(), "rk44", t_end=1.0, h=0.125, dense_output=True)
    assert run.vdot[4, -1] == pytest.approx(6.0)
    assert run.sol([0.5]).vdot[0, -1] == pytest.approx(6.0)
    assert run.sol([0.499]).vdot[0, -1] == pytest.approx(0.0, abs=1e-12)


def test_angles_at_t_eval_count_turns():
    b = lgint.ModelBuilder()
    b.add_body("wheel", mass=1.0, inertia=(1, 1, 1), angular_velocity=(0, 0, 20.0))
    b.add_joint("revolute", lgint.ground, "wheel", point=(0, 0, 0), axis=(0, 0, 1))
    model = b.build()
    times = np.linspace(0.0, 2.0, 77)
    between = lgint.integrate(model, "rk44", t_end=2.0, h=5e-3, t_eval=times)
    assert np.allclose(between.joint_angles()[:, 0], 20.0 * times, atol=1e-10)
    assert between.joint_angles()[-1, 0] > 6 * np.pi


def test_times_outside_are_refused():
    run = lgint.integrate(slow_top("R3xSO3"), "rk44", t_end=0.1, h=0.01, dense_output=True)
    for t in (-1e-9, 0.1001, np.nan):
        with pytest.raises(ValueError, match="t: "):
            run.sol(t)
    assert "10 steps" in repr(run.sol)
    assert lgint.integrate(slow_top("R3xSO3"), "rk44", t_end=0.1, h=0.01).sol is None


@pytest.mark.parametrize("method", ["dopri5", "dop853"])
def test_saved_and_loaded(method, tmp_path):
    run = lgint.integrate(slow_top("S3R3"), method, t_end=0.2, rtol=1e-5, dense_output=True, t_eval=[0.05, 0.1])
    run.save(tmp_path / "run.npz")
    loaded = lgint.load(tmp_path / "run.npz")
    times = np.linspace(0, 0.2, 17)
    assert loaded.sol is not None and loaded.sol(times).q.tobytes() == run.sol(times).q.tobytes()
    assert np.array_equal(loaded.error, run.error) and np.array_equal(loaded.end["q"], run.end["q"])


def test_states_at_one_time_and_at_wrong_times():
    run = lgint.integrate(lgint.models.heavy_top(), "rk44", t_end=0.01, h=1e-3, dense_output=True)
    assert np.array_equal(run.sol.states(0.005)["q"], run.sol.states([0.005])["q"])
    assert run.sol.later(0.005)["lam"].shape == (1, 3)
    for wrong in (1.0, np.nan, "a", [[0.001]]):
        with pytest.raises(ValueError, match="^t: "):
            run.sol.states(wrong)
