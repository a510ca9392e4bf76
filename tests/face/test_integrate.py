"""`integrate` and `Stepper`: schedules, errors, callable models."""

import logging
import os
import pickle
import re
import signal
import sys
import threading
from html import escape, unescape
from itertools import product

import numpy as np
import pytest

import lgint
from face import systems
from face.tops import functions
from kinds import BODIES, METHODS, MOMENTUM


@pytest.fixture(scope="module")
def top():
    return lgint.models.heavy_top()


# ---- errors that the caller can correct before a run ----

BAD = [
    ({"method": "rk45"}, "method 'rk45'.*'rk44'"),
    ({"h": None}, "h: a step size is required"),
    ({"h": 0.0}, "h must be a positive number, given 0"),
    ({"h": -1e-3}, "h must be a positive number, given -0.001"),
    ({"h": np.nan}, "h: finite"),
    ({"h": "small"}, "h: numbers"),
    ({"t_end": 0.0}, "t_end must be later than the start at 0, given 0"),
    ({"t_end": np.inf}, "t_end: finite"),
    ({"t0": np.nan}, "t0: finite"),
    ({"save_every": 0}, "save_every: a whole number"),
    ({"save_every": 1.5}, "save_every: a whole number"),
    ({"stops": [0.5, 2.0]}, "stops must be ascending times from 0 to 1, given 2 at index 1"),
    ({"stops": [np.nan]}, "stops: finite"),
    ({"start": 3}, "start: a trajectory"),
    ({"t_eval": [0.5, 0.1]}, "t_eval must be ascending times from 0 to 1, given 0.1 at index 1"),
    ({"t_eval": [0.5, 1.1]}, "t_eval must be ascending times from 0 to 1, given 1.1 at index 1"),
    ({"rtol": 1e-6}, "no option 'rtol'.*methods that have it: ode23, dopri5"),
    ({"method": "ode23", "safety": 0.8}, "safety: it belongs to error control"),
    ({"method": "ode23", "rtol": -1.0}, "rtol"),
    (
        {"method": "ode23", "rtol": [1.0, 2.0]},
        "rtol and atol must be one number, or an array of nv = 6 or 2 nv, given 2 numbers for rtol",
    ),
    ({"method": "ode23", "rtol": 1e-3, "first_step": 0.1}, "first_step: h gives the first step"),
    ({"method": "ode23", "rtol": 0.0, "atol": 0.0}, "rtol and atol are both zero"),
    ({"method": "ode23", "rtol": 1e-3, "min_step": 1.0, "max_step": 0.5}, "min_step is above max_step: 1 and 0.5"),
    ({"method": "ode23", "rtol": 1e-3, "control": "P"}, "control"),
    ({"project": "somewhere"}, "project"),
    ({"events": 3.0}, "events"),
    ({"events": [len, 3.0]}, "events: functions"),
    ({"rho_inf": 0.9}, "rho_inf"),
    ({"method": "genalpha", "rho_inf": 1.5}, "rho_inf"),
    ({"method": "genalpha", "rho_inf": np.nan}, "rho_inf"),
    ({"method": "genalpha", "sigma": "best"}, "sigma.*optimal"),
    ({"method": "genalpha", "max_iter": 2.5}, "max_iter"),
]


@pytest.mark.parametrize(("given", "message"), BAD, ids=lambda value: str(value)[:40])
def test_bad_arguments(top, given, message):
    arguments = {"method": "rk44", "t_end": 1.0, "h": 1e-2, **given}
    with pytest.raises(ValueError, match=message):
        lgint.integrate(top, **arguments)


def test_bad_models(top):
    with pytest.raises(ValueError, match="model: a model, or a list of models, expected, got 'heavy_top'"):
        lgint.integrate("heavy_top", "rk44", t_end=1.0, h=0.1)
    run = lgint.integrate(top, "rk44", t_end=1e-3, h=1e-3)
    with pytest.raises(ValueError, match="cannot be resumed by 'euler'"):
        lgint.integrate(top, "euler", t_end=1.0, h=0.1, start=run)
    with pytest.raises(ValueError, match="another model"):
        lgint.integrate(lgint.models.free_body(), "rk44", t_end=1.0, h=0.1, start=run)


def test_an_inconsistent_state_is_refused(top):
    with pytest.raises(ValueError, match="fixed_point"):
        lgint.integrate(top.with_state(v=top.v0 + 1.0), "rk44", t_end=1.0, h=0.1)


def test_redundant_rows_are_singular_in_a_run():
    """If `build` did not look for redundant rows, the run does not start, and the error names one of them."""
    model = lgint.CallableModel(
        [("Rn", 2)],
        [0.0, 0.0],
        [0.0, 1.0],
        mass=lambda t, q: np.eye(2),
        force=lambda t, q, v: np.array([1.0, 0.0]),
        constraint=lambda t, q: np.array([q[0], 2 * q[0]]),
        constraint_jacobian=lambda t, q: np.array([[1.0, 0.0], [2.0, 0.0]]),
    )
    with pytest.raises(lgint.SingularError) as caught:
        lgint.integrate(model, "rk44", t_end=1.0, h=0.1)
    assert caught.value.report["status"] == "SINGULAR"
    assert caught.value.report["what"] in model.row_names
    assert repr(caught.value.trajectory) == "<lgint.Trajectory rk44: 0 states>"


# ---- schedules ----


def test_steps_are_equal_and_at_most_h(top):
    run = lgint.integrate(top, "rk44", t_end=1e-2, h=3e-3)
    assert run.stats.steps == 4
    assert np.allclose(run.t, np.linspace(0, 1e-2, 5), rtol=1e-15)
    assert np.allclose(run.h[1:], 2.5e-3, rtol=1e-12)
    assert run.stats.h_used == pytest.approx(2.5e-3)


def test_a_ratio_that_is_whole_but_for_round_off(top):
    assert lgint.integrate(top, "rk44", t_end=0.3, h=0.1 / 100).stats.steps == 300


def test_stops_are_landed_on(top):
    run = lgint.integrate(top, "rk44", t_end=1e-2, h=1e-3, stops=[3.3e-3, 7e-3])
    assert {0.0, 3.3e-3, 7e-3, 1e-2} <= set(run.t)
    assert run.h.max() <= 1e-3 * (1 + 1e-12)


def test_save_every(top):
    every = lgint.integrate(top, "rk44", t_end=1e-2, h=1e-3)
    third = lgint.integrate(top, "rk44", t_end=1e-2, h=1e-3, save_every=3)
    assert np.array_equal(third.t, every.t[[0, 3, 6, 9, 10]])
    assert np.array_equal(third.q, every.q[[0, 3, 6, 9, 10]])


def test_kinks_of_tables_are_landed_on():
    b = lgint.ModelBuilder()
    b.add_body("body", mass=2.0, inertia=(1, 1, 1))
    b.add_force("body", force=([0.0, 0.25, 1.0], [[0, 0, 0], [4, 0, 0], [0, 0, 0]]))
    run = lgint.integrate(b.build(), "rk44", t_end=2.0, h=0.3)
    assert {0.25, 1.0} <= set(run.t)
    # the integral of force / mass, which is exact for piecewise linear forces
    assert np.allclose(run.velocity("body")[-1], (1.0, 0, 0), atol=1e-14)


def test_t0_is_the_time_of_the_forces():
    b = lgint.ModelBuilder()
    b.add_body("body", mass=1.0, inertia=(1, 1, 1))
    b.add_force("body", torque=lambda t: (0, 0, 2 * t))
    run = lgint.integrate(b.build(), "rk44", t0=1.0, t_end=2.0, h=0.1)
    assert run.t[0] == 1.0
    assert run.angular_velocity("body")[-1, 2] == pytest.approx(3.0, rel=1e-13)


@pytest.mark.parametrize("method", BODIES)
def test_stepper_takes_the_same_steps(method):
    top = lgint.models.heavy_top(formulation=BODIES[method])
    run = lgint.integrate(top, method, t_end=5e-3, h=1e-3)
    stepper = lgint.Stepper(top, method)
    for _ in range(5):
        stepper.step(run.h[-1])
    assert stepper.t == pytest.approx(5e-3)
    assert np.allclose(stepper.q, run.q[-1], rtol=0, atol=1e-12)
    assert np.allclose(stepper.v, run.v[-1], rtol=0, atol=1e-9)
    with pytest.raises(ValueError, match="h must be a positive number"):
        stepper.step(-1.0)


# ---- during a run ----


def test_a_failing_function_arrives_unchanged_with_its_type():
    class Odd(Exception):
        pass

    def pull(t):
        if t > 0.5:
            raise Odd("enough")
        return (0, 0, 0)

    b = lgint.ModelBuilder()
    b.add_body("body", mass=1.0, inertia=(1, 1, 1))
    b.add_force("body", force=pull)
    with pytest.raises(Odd, match="enough"):
        lgint.integrate(b.build(), "rk44", t_end=1.0, h=0.1)


def test_a_function_with_a_wrong_shape():
    b = lgint.ModelBuilder()
    b.add_body("body", mass=1.0, inertia=(1, 1, 1))
    with pytest.raises(ValueError, match=r"force of 'pull': .* shape \(3,\) expected; at t = 0 the shape is \(2,\)"):
        b.add_force("body", force=lambda t: (0, 0), name="pull")
    b.add_force("body", force=lambda t: (0, 0, 0)[: 2 + (t < 0.5)], name="late")
    with pytest.raises(ValueError, match="late"):
        lgint.integrate(b.build(), "rk44", t_end=1.0, h=0.1)


def test_interruption_returns_the_trajectory_so_far():
    """Ctrl-C is sent at the beginning of a run of many minutes."""
    model = lgint.models.pendulum_chain(n=2)
    threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    with pytest.raises(lgint.Interrupted) as caught:
        lgint.integrate(model, "rk44", t_end=1e4, h=1e-5, save_every=1000)
    so_far = caught.value.trajectory
    assert 0 < so_far.t[-1] < 1e4
    assert np.ptp(so_far.energy()) < 1e-9
    assert caught.value.report["status"] == "INTERRUPTED"
    rest = lgint.integrate(model, "rk44", t_end=so_far.t[-1] + 1e-3, h=1e-5, start=so_far)
    assert rest.t[0] == so_far.t[-1]


@pytest.mark.parametrize("with_tqdm", [True, False])
def test_progress(capsys, monkeypatch, with_tqdm):
    if not with_tqdm:
        monkeypatch.setitem(sys.modules, "tqdm", None)
    run = lgint.integrate(lgint.models.heavy_top(), "rk44", t_end=2.0, h=1e-4, save_every=1000, progress=True)
    assert run.t[-1] == 2.0
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "100" in captured.err


def test_method_info():
    for name in lgint.methods():
        info = lgint.method_info(name)
        assert info["name"] == name
        assert info["order"] >= 1
        assert info["reference"]
        assert info["doc"]
        for option in info["options"]:
            assert option["doc"]
    with pytest.raises(ValueError, match="method 'rk4'.*'rk44'"):
        lgint.method_info("rk4")
    assert len(set(lgint.methods())) == len(lgint.methods()) > len(METHODS) > 10


@pytest.mark.parametrize("method", lgint.methods())
def test_method_info_prints_as_a_table(method):
    info = lgint.method_info(method)
    text, html = str(info), info._repr_html_()
    assert isinstance(info, dict) and text == repr(info) and max(map(len, text.splitlines())) <= 150
    assert text.startswith(f"{method}: {info['doc']}\n") and html.count("<table>") == 2
    for shown in (text, html):
        assert info["reference"] in unescape(shown)
    words = " ".join(text.split())
    for option in info["options"]:
        [line] = [line for line in text.splitlines() if line.startswith(f"  {option['name']} ")]
        assert line.split()[1] == repr(option["default"]) and option["doc"] in words
        assert f"<td>{option['name']}</td><td>{escape(repr(option['default']))}</td>" in html


# ---- formulations and callables ----


@pytest.mark.parametrize("pair", [("SE3", "euler_parameters"), ("euler_parameters", "R3xRV"), ("S3R3", "R3xS3")])
def test_double_pendulum_agrees_between_formulations(pair):
    runs = [lgint.integrate(systems.double_pendulum(*p), "rk67", t_end=1.0, h=2e-3) for p in (("R3xSO3",) * 2, pair)]
    for name in ("upper", "lower"):
        assert np.abs(runs[0].rotation(name) - runs[1].rotation(name)).max() < 1e-9
        assert np.abs(runs[0].velocity(name) - runs[1].velocity(name)).max() < 1e-8
    assert np.abs(runs[0].joint_angles() - runs[1].joint_angles()).max() < 1e-9
    assert np.abs(runs[0].reaction("elbow") - runs[1].reaction("elbow")).max() < 1e-7
    assert np.ptp(runs[0].energy()) < 1e-9


@pytest.mark.parametrize(
    ("pair", "method"),
    [
        *product([("R3xSO3", "R3xSO3"), ("SE3", "euler_parameters")], METHODS),
        *product([("euler_parameters", "euler_parameters")], MOMENTUM),
    ],
)
def test_every_method_runs_the_double_pendulum(pair, method):
    best = lgint.integrate(systems.double_pendulum(), "rk67", t_end=0.2, h=1e-3)
    run = lgint.integrate(systems.double_pendulum(*pair), method, t_end=0.2, h=1e-4)
    bound = 2e-3 if lgint.method_info(method)["order"] == 1 else 1e-5
    assert np.abs(run.position("lower")[-1] - best.position("lower")[-1]).max() < bound


@pytest.mark.parametrize("method", METHODS)
def test_callable_top_agrees_with_the_compiled_one(method):
    options = {"newton": "full"} if "newton" in {row["name"] for row in lgint.method_info(method)["options"]} else {}
    compiled = lgint.integrate(lgint.models.heavy_top(), method, t_end=0.02, h=5e-4, **options)
    run = lgint.integrate(lgint.CallableModel("R3xSO3", **functions()), method, t_end=0.02, h=5e-4, **options)
    assert np.abs(run.q - compiled.q).max() < 1e-10
    assert np.abs(run.v - compiled.v).max() < 1e-10 * 150
    assert np.abs(run.lam - compiled.lam).max() < 1e-8 * np.abs(compiled.lam).max()
    assert np.allclose(run.energy() - run.energy()[0], compiled.energy() - compiled.energy()[0], atol=1e-6)
    assert np.allclose(run.constraint_residual(), compiled.constraint_residual(), atol=1e-10)
    with pytest.raises(ValueError, match="no bodies"):
        run.position("top")


def test_callable_top_without_derivatives():
    """Differences replace the tangent and the acceleration of the constraint."""
    given = {**functions(), "tangent": None, "constraint_acceleration": None}
    compiled = lgint.integrate(lgint.models.heavy_top(), "genalpha", t_end=0.01, h=5e-4)
    run = lgint.integrate(lgint.CallableModel("R3xSO3", **given), "genalpha", t_end=0.01, h=5e-4)
    assert np.abs(run.q - compiled.q).max() < 1e-7


def test_callable_in_plain_coordinates():
    """A harmonic oscillator with a push that begins at a kink."""
    model = lgint.CallableModel(
        "Rn", [1.0], [0.0], mass=lambda t, q: [[2.0]], force=lambda t, q, v: -8 * q + (t > 0.3), kinks=[0.3]
    )
    run = lgint.integrate(model, "rk67", t_end=1.0, h=0.02)
    w, s = 2.0, run.t[-1] - 0.3
    assert 0.3 in run.t
    assert run.q[-1, 0] == pytest.approx(np.cos(w) + (1 - np.cos(w * s)) / 8, abs=1e-9)


BAD_CALLABLES = [
    ({"space": "SO4"}, "kind of space 'SO4'"),
    ({"space": [("Rn", 0)]}, "Rn"),
    ({"q0": np.zeros(3)}, r"q0: shape \(12,\) expected, got \(3,\)"),
    ({"v0": np.full(6, np.nan)}, "v: finite"),
    ({"v0": np.zeros(5)}, r"v: shape \(6,\) expected"),
    ({"mass": None}, "mass: a function is required"),
    (
        {"mass": lambda t, q: np.diag([1.0, 1, 1, -1, 1, 1])},
        r"mass\(0, q0\): no negative eigenvalue expected, got -1 of",
    ),
    ({"mass": lambda t, q: np.eye(6)[::-1]}, r"mass\(0, q0\): no negative eigenvalue expected, got -1 of"),
    ({"gyro": 3.0}, "gyro: a function expected"),
    ({"constraint_jacobian": None}, "belong together"),
    ({"constraint": None, "constraint_jacobian": None}, "constraint_acceleration requires"),
    ({"kinks": [np.inf]}, "kinks: finite"),
]


@pytest.mark.parametrize(("given", "message"), BAD_CALLABLES, ids=[message for _, message in BAD_CALLABLES])
def test_bad_callables(given, message):
    with pytest.raises(ValueError, match=message):
        lgint.CallableModel(**{"space": "R3xSO3", **functions(), **given})


MASSES = {
    "held by the constraint": lambda t, q: np.diag([1.0, 0.0]),
    "round-off": lambda t, q: np.diag([1.0, -1e-17]),
    "infinite before the start": lambda t, q: np.diag([1.0, 1 / t]),
}


@pytest.mark.parametrize("mass", MASSES.values(), ids=[*MASSES])
def test_masses_that_are_semidefinite(mass):
    model = lgint.CallableModel(
        "Rn",
        [1.0, 0.0],
        [0.0, 0.0],
        mass=mass,
        force=lambda t, q, v: -q,
        constraint=lambda t, q: q[1:],
        constraint_jacobian=lambda t, q: [[0.0, 1.0]],
    )
    run = lgint.integrate(model, "rk44", t0=0.5, t_end=1.5, h=1e-2)
    assert run.q[-1, 0] == pytest.approx(np.cos(1.0), abs=1e-8)


@pytest.mark.parametrize("verb", ["mass", "force", "gyro", "constraint", "constraint_jacobian", "energy"])
def test_wrong_shapes_from_a_callable_name_the_verb(verb):
    model = lgint.CallableModel("R3xSO3", **{**functions(), verb: lambda *args: np.zeros(5)})
    with pytest.raises(ValueError, match=verb):
        lgint.integrate(model, "rk44", t_end=0.01, h=1e-3).energy()


def _unit_mass(t, q):
    return np.eye(2)


def _pull(t, q, v):
    return -q


def test_callable_models_of_named_functions_pickle():
    model = lgint.CallableModel("Rn", [1.0, 0.0], [0.0, 1.0], _unit_mass, _pull).with_state(v=[0.0, 2.0])
    twin = pickle.loads(pickle.dumps(model))
    runs = [lgint.integrate(m, "rk44", t_end=1.0, h=0.1) for m in (model, twin)]
    assert runs[0].q.tobytes() == runs[1].q.tobytes()
    assert runs[1].v[0].tolist() == [0.0, 2.0]


# ---- suggestions for misspelt names ----


@pytest.mark.parametrize(
    ("given", "guess"),
    [
        ({"dt": 1e-3}, "h"),
        ({"h": 1e-3, "rho": 0.9}, "rho_inf"),
        ({"h": 1e-3, "t_evl": [0.0]}, "t_eval"),
        ({"h": 1e-3, "sigm": 1.0}, "sigma"),
    ],
)
def test_unknown_options_come_with_a_guess(given, guess):
    name = list(given)[-1]
    with pytest.raises(ValueError, match=f"no option '{name}' .did you mean '{guess}'.*its options are: rho_inf"):
        lgint.integrate(lgint.models.heavy_top(), "genalpha", t_end=1.0, **given)


def test_guesses_elsewhere():
    with pytest.raises(ValueError, match="no option 'rho' .did you mean 'rho_inf'"):
        lgint.Stepper(lgint.models.heavy_top(), "genalpha", rho=0.9)
    with pytest.raises(ValueError, match="no option 'rho'; its options are"):  # rk44 has nothing similar
        lgint.Stepper(lgint.models.heavy_top(), "rk44", rho=0.9)
    with pytest.raises(AttributeError, match="'heavytop' .did you mean 'heavy_top'"):
        lgint.models.heavytop  # noqa: B018
    with pytest.raises(AttributeError, match="no attribute 'zeppelin'$"):
        lgint.models.zeppelin  # noqa: B018


def test_runs_tell_the_logger_when_they_begin_end_and_fail(caplog):
    top = lgint.models.heavy_top()
    with caplog.at_level(logging.INFO, "lgint"):
        lgint.integrate(top, "genalpha", t_end=0.01, h=1e-3)
        with pytest.raises(lgint.ConvergenceError):
            lgint.integrate(top, "genalpha", t_end=1.0, h=0.2, max_iter=1)
    begins, ends, again, fails = caplog.records
    assert begins.getMessage() == "genalpha runs from t = 0 s to 0.01 s"
    assert re.fullmatch(r"genalpha ended at t = 0.01 s: 10 steps in [\d.e-]+ s", ends.getMessage())
    assert again.levelno == logging.INFO
    assert fails.levelno == logging.WARNING
    assert "did not converge" in fails.getMessage()
