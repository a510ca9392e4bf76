"""Every kind of error: those that the caller can correct before a run, and those that end a run."""

import pickle

import numpy as np
import pytest

from bindings.systems import PENDULUM_START, ball_joint, model, oscillator, pendulum, run, top, top_start
from cores import core_model, described
from lgint import _core

BAD_RUNS = {
    "unknown method": (dict(method="nix"), "there is no method.*rk44.*genalpha"),
    "unknown option": (dict(rho=1.0), "no option 'rho'.*rho_inf.*max_iter"),
    "option out of range": (dict(rho_inf=1.5), "rho_inf.*from 0 to 1.*default 0.9.*1.5"),
    "option NaN": (dict(rho_inf=float("nan")), "rho_inf.*from 0 to 1"),
    "option of another type": (dict(max_iter=2.5), "max_iter.*an integer from 1 to.*2.5"),
    "a flag for a number": (dict(rho_inf=True), "rho_inf.*True"),
    "unknown choice": (dict(sigma="best"), "sigma.*optimal.*'best'"),
    "q too short": (dict(q=[1.0]), r"q must have shape \(2,\), given \(1,\)"),
    "q with an axis too many": (dict(q=[[1.0, 0.0]]), r"q must have shape \(2,\), given \(1, 2\)"),
    "q NaN": (dict(q=[1.0, np.nan]), "q must be finite.*index 1 is nan"),
    "v infinite": (dict(v=[np.inf, 0]), "v must be finite.*index 0 is infinite"),
    "v complex": (dict(v=[1j, 0]), "v must be real numbers.*complex128"),
    "v text": (dict(v=["a", "b"]), "v must be real numbers"),
    "v ragged": (dict(v=[[1], [1, 2]]), "v must be an array"),
    "v missing": (dict(v=None), "v must be real numbers, given None"),
    "h zero": (dict(h=0.0), "h must be a positive number"),
    "h NaN": (dict(h=float("nan")), "h must be a positive number"),
    "t0 NaN": (dict(t0=float("nan")), "t0 must be finite"),
    "t_end before t0": (dict(t_end=-1.0), "t_end must be later than the start at 0, given -1"),
    "stops not ascending": (dict(stops=[0.7, 0.3]), "stops must be ascending times from 0 to 1, given 0.3 at index 1"),
    "save_every zero": (dict(every=0), "save_every must be at least 1"),
    "progress not callable": (dict(progress=3), "progress must be a function"),
    "start not a dict": (dict(start=[1]), "start must be a dict"),
    "start incomplete": (dict(start={"vdot": [0, 0]}), "lam is missing"),
    "start of another method": (
        dict(start={"vdot": [0, 0], "lam": [0], "mem": [], "carry": [1.0]}),
        "had other options",
    ),
    "inconsistent position": (dict(q=[1.0, 0.1]), r"violates.*constraint\[0\] \(position level\)"),
    "inconsistent velocity": (dict(v=[1.0, 0.0]), r"violates.*constraint\[0\] \(velocity level\)"),
}


@pytest.mark.parametrize("name", BAD_RUNS)
def test_bad_arguments_of_a_run_are_named(name):
    given, message = BAD_RUNS[name]
    arguments = {"method": "genalpha", "q": PENDULUM_START[0], "v": PENDULUM_START[1], **given}
    with pytest.raises(ValueError, match=message):
        run(pendulum(), **arguments)


def test_numbers_that_cast_safely_are_taken():
    expected = run(pendulum(), "rk44", *PENDULUM_START)
    for dtype in (np.float32, np.int8, np.int64, bool):
        q, v = (np.array(x, dtype=dtype) for x in PENDULUM_START)
        assert np.array_equal(run(pendulum(), "rk44", q, v)["q"], expected["q"])


def test_the_callers_arrays_are_left_alone():
    q, v = (np.array(x) for x in PENDULUM_START)
    run(pendulum(), "rk44", q, v)
    assert (q.tolist(), v.tolist()) == PENDULUM_START


@pytest.mark.parametrize("value", [3, "3", np.int64(3)])
def test_an_integer_option_takes_integers_only(value):
    if isinstance(value, str):
        with pytest.raises(ValueError, match="index"):
            run(oscillator(), "genalpha", [1, 0], [0, 1], index=value)
    else:
        assert run(oscillator(), "genalpha", [1, 0], [0, 1], index=value)["t"][-1] == 1


BAD_MODELS = {
    "unknown kind": (([("SO4", 0)], [], []), "SO4"),
    "block too large": (([("Rn", 2**31)], [], []), "n of a block must be below 2\\^31, given 2147483648"),
    "block beyond all integers": (([("Rn", 2**80)], [], []), "n of a block must be below 2\\^31"),
    "unknown element": (([("R3xSO3", 0)], [(0, [0] * 6)], [("nix", "b", [0], [], None)]), "nix"),
    "block not there": (([("R3xSO3", 0)], [(3, [0] * 6)], []), "frame"),
    "frame not there": (([("R3xSO3", 0)], [(0, [0] * 6)], [("gravity", "g", [7], [1, 0, 0, 1], None)]), "g"),
    "frame missing": (([("R3xSO3", 0)], [(0, [0] * 6)], [("gravity", "g", [-1], [1, 0, 0, 1], None)]), "g"),
    "parameter missing": (([("R3xSO3", 0)], [(0, [0] * 6)], [("gravity", "g", [0], [1, 0], None)]), "g: .*parameters"),
    "row that is not there": (
        ([("R3xSO3", 0)], [(0, [0] * 6)], [("gravity", "g", [0], [1, 0, 0, 1], None, [0])]),
        "g: no such constraint row in a loop",
    ),
    "function not callable": (
        ([("R3xSO3", 0)], [(0, [0] * 6)], [("force", "f", [0], [0, 2], 3.0)]),
        "function of element f must be a function or None",
    ),
    "no inertia": (([("SO3", 0)], [], []), "inertia"),
}


@pytest.mark.parametrize("name", BAD_MODELS)
def test_bad_models_are_refused(name):
    given, message = BAD_MODELS[name]
    with pytest.raises(ValueError, match=message):
        core_model(*given)


BAD_CALLABLES = {
    "mass not callable": (dict(mass=3), "mass must be a function"),
    "mass missing": (dict(mass=None), "mass and force must be functions"),
    "constraint without jacobian": (dict(constraint_jacobian=None), "belong together"),
    "kinks NaN": (dict(kinks=[np.nan]), "kinks must be finite"),
}


@pytest.mark.parametrize("name", BAD_CALLABLES)
def test_bad_callable_systems_are_refused(name):
    given, message = BAD_CALLABLES[name]
    with pytest.raises(ValueError, match=message):
        pendulum(**given)


@pytest.mark.parametrize("blocks", [[], [("Rn", 0)], [("Rn", -2)], [("SO3", 3)], [("nix", 0)]])
def test_bad_blocks_are_refused(blocks):
    with pytest.raises(ValueError, match="block|node kind"):
        _core.CallableSystem(blocks, 0, {"mass": lambda t, q: np.eye(3), "force": lambda t, q, v: v}, ())


BODY = ("rigid_body", "b", [0], [1.0, 1, 1, 1, 0, 0, 0])
DESCRIPTION = described([("R3xSO3", 0)], [(0, [0] * 6)], [BODY])
NOT_FRAMES, NOT_NUMBERS = "frames must be an intc array of shape .1, 2.", "numbers must be an intc array .*1, 5"
NOT_BLOCKS, NOT_ELEMENTS = "blocks are .kind, n.", "elements are .type, name, function, tangent."
NOT_POINTS, NOT_A_FUNCTION = "points must have shape .n, 6.", "function of element g must be a function or None"

BAD_DESCRIPTIONS = {
    "frames of another type": ("frames", DESCRIPTION.frames.astype(np.int64), NOT_FRAMES),
    "frames with an axis too many": ("frames", DESCRIPTION.frames[None], NOT_FRAMES),
    "frames with a column too many": ("frames", np.zeros((1, 3), np.intc), NOT_FRAMES),
    "frames without points": ("frames", np.zeros((2, 2), np.intc), NOT_FRAMES),
    "points that are short": ("points", np.zeros((1, 3)), NOT_POINTS),
    "points NaN": ("points", np.full((1, 6), np.nan), "points must be finite"),
    "blocks that are not tuples": ("blocks", [["SO3", 0]], "blocks must be tuples, given .'SO3', 0."),
    "blocks that are short": ("blocks", [("SO3",)], NOT_BLOCKS),
    "blocks that are a number": ("blocks", 3, "not iterable"),
    "elements that are not tuples": ("elements", ["abcd"], "elements must be tuples, given 'abcd'"),
    "elements that are short": ("elements", [("gravity", "g", None)], NOT_ELEMENTS),
    "a name that is not text": ("elements", [("gravity", 3, None, None)], NOT_ELEMENTS),
    "a name with NUL": ("elements", [("gravity", "g\0", None, None)], "null"),
    "a type that is not known": ("elements", [("nix", "g", None, None)], "nix: no such element"),
    "a function that is a number": ("elements", [("gravity", "g", 1.0, None)], NOT_A_FUNCTION),
    "a tangent that is a number": ("elements", [("gravity", "g", sum, 1.0)], NOT_A_FUNCTION),
    "numbers of two elements": ("numbers", np.zeros((2, 5), np.intc), NOT_NUMBERS),
    "a frame beyond the last": ("numbers", np.array([[1, -1, 7, 0, 0]], np.intc), "b: no such frame"),
    "a negative count": (
        "numbers",
        np.array([[0, -1, -1, 0, 0]], np.intc),
        "parameters must have as many values.*given 7",
    ),
    "a row that is not there": (
        "numbers",
        np.array([[0, -1, 7, 0, -1]], np.intc),
        "b: no such constraint row in a loop",
    ),
    "a loop beyond the last": ("numbers", np.array([[0, -1, 7, 2, 0]], np.intc), "b: no such constraint row in a loop"),
    "parameters of two axes": ("parameters", np.ones((1, 7)), "parameters must have shape .n,."),
    "parameters NaN": ("parameters", np.full(7, np.nan), "b: mass: a finite number expected, got nan"),
    "too few parameters": ("parameters", np.ones(6), "parameters must have as many values.*given 6"),
    "too many parameters": ("parameters", np.ones(8), "parameters must have as many values.*given 8"),
}


@pytest.mark.parametrize("name", BAD_DESCRIPTIONS)
def test_bad_descriptions_are_refused(name):
    field, value, message = BAD_DESCRIPTIONS[name]
    with pytest.raises((ValueError, TypeError), match=message):
        _core.Model(*DESCRIPTION._replace(**{field: value}))


def test_parameters_of_a_variant_must_be_as_many_and_finite():
    system, parameters = _core.Model(*DESCRIPTION), DESCRIPTION.parameters
    for wrong in (parameters[:-1], np.append(parameters, 0), []):
        with pytest.raises(ValueError, match="parameters"):
            system.varied(wrong)
    with pytest.raises(ValueError, match="b: mass: a finite number expected, got nan"):
        system.varied(parameters * np.nan)
    assert system.varied(2 * parameters).varied(parameters).nv == 6


def test_a_function_of_an_unknown_name_is_refused():
    with pytest.raises(ValueError, match="functions has an unknown name: .*'masses'"):
        oscillator(masses=lambda t, q: np.eye(2))


# ---- during a run ----


def test_newton_that_does_not_converge_leaves_everything_up_to_there():
    q, v = top_start()
    with pytest.raises(_core.ConvergenceError, match="at t = .* in step .* of size h = 0.4.*smaller h") as caught:
        run(top(), "genalpha", q, v, t_end=100.0, h=0.4, every=1000)
    report, result = caught.value.report, caught.value.result
    assert report["status"] in ("NO_CONVERGENCE", "NOT_FINITE")
    assert report["t"] == result["t"][-1]
    assert result["stats"]["steps"] == report["step"]
    assert len(result["t"]) == 1 + (report["step"] > 0)
    assert all(np.isfinite(result[name]).all() for name in ("t", "q", "v", "vdot", "lam"))
    assert isinstance(caught.value, _core.IntegrationError) and isinstance(caught.value, RuntimeError)


def test_values_that_blow_up_are_a_convergence_error():
    system = oscillator(force=lambda t, q, v: [1e308, 0.0])
    with pytest.raises(_core.ConvergenceError, match="infinite or not a number") as caught:
        run(system, "euler", [0.0, 0.0], [0.0, 0.0], t_end=10.0, h=1.0)
    assert caught.value.report["status"] == "NOT_FINITE"
    assert np.isfinite(caught.value.result["q"]).all()


def test_redundant_joints_are_singular():
    twice = model(ball_joint("first"), ball_joint("second"))
    with pytest.raises(_core.SingularError, match="redundant") as caught:
        run(twice, "genalpha", *top_start())
    assert caught.value.report["what"].startswith(("first", "second"))
    assert caught.value.result["t"].shape == (0,)
    assert caught.value.result["q"].shape == (0, 12)


def test_exceptions_survive_pickling():
    with pytest.raises(_core.SingularError) as caught:
        run(model(ball_joint("first"), ball_joint("second")), "genalpha", *top_start())
    copy = pickle.loads(pickle.dumps(caught.value))
    assert copy.report == caught.value.report and str(copy) == str(caught.value)
