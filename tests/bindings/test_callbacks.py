"""Python functions that a run calls: what they are given, what they may return, and how their exceptions arrive."""

import traceback

import numpy as np
import pytest

from bindings.systems import PENDULUM_START, model, oscillator, pendulum, run, top_start
from lgint import _core

DEFAULTS = {
    "mass": lambda t, q: np.eye(2),
    "force": lambda t, q, v: np.array([0.0, -9.81]),
    "gyro": lambda t, q, v: np.zeros(2),
    "constraint": lambda t, q: [0.5 * (q @ q - 1)],
    "constraint_jacobian": lambda t, q: q[None, :],
    "constraint_acceleration": lambda t, q, v: [-(v @ v)],
}
TANGENT = {"tangent": lambda t, q, v, a, lam: (lam[0] * np.eye(2), np.zeros((2, 2)))}


class Failure(Exception):
    """The exception that the failing function raises."""


def failing(function, at, error):
    """A copy of `function` that raises `error` when it is called for the `at`-th time."""
    count = 0

    def fails_here(*arguments):
        nonlocal count
        count += 1
        if count == at:
            raise error
        return function(*arguments)

    return fails_here


@pytest.mark.parametrize(
    "name, method",
    [*((name, "genalpha") for name in [*DEFAULTS, *TANGENT]), *((name, "rk44") for name in DEFAULTS)],
)
@pytest.mark.parametrize("at", [1, 2, 9])
def test_an_exception_arrives_unchanged(name, at, method):
    functions = {**DEFAULTS, **TANGENT}
    error = Failure("on purpose")
    system = pendulum(**{**functions, name: failing(functions[name], at, error)})
    with pytest.raises(Failure) as caught:
        for _ in range(9):
            run(system, method, *PENDULUM_START, t_end=0.2)
    assert caught.value is error
    assert error.args == ("on purpose",) and error.__cause__ is None and error.__context__ is None
    assert traceback.extract_tb(error.__traceback__)[-1].name == "fails_here"
    assert run(system, method, *PENDULUM_START)["t"][-1] == 1


WRONG = {
    "mass": (lambda t, q: np.eye(3), r"mass\(t, q\) must have shape \(2, 2\), given \(3, 3\)"),
    "force": (lambda t, q, v: [np.nan], r"force\(t, q, v\) must have shape \(2,\)"),
    "gyro": (lambda t, q, v: [0, np.nan], r"gyro\(t, q, v\) must be finite"),
    "constraint": (lambda t, q: 0.0, r"constraint\(t, q\) must have shape \(1,\), given \(\)"),
    "constraint_jacobian": (lambda t, q: q, r"constraint_jacobian\(t, q\) must have shape \(1, 2\), given"),
    "constraint_acceleration": (lambda t, q, v: 1j, r"constraint_acceleration\(t, q, v\) must be real"),
    "tangent": (lambda t, q, v, a, lam: np.eye(2), r"tangent\(t, q, v, a, lam\) must have shape \(2, 2, 2\)"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_results_name_the_function_and_the_shape(name):
    function, message = WRONG[name]
    system = pendulum(**{**DEFAULTS, **TANGENT, name: function})
    with pytest.raises(ValueError, match=message):
        run(system, "genalpha", *PENDULUM_START)


def test_wrong_energy_is_named():
    with pytest.raises(ValueError, match=r"returned by energy\(t, q, v\) must have shape \(2,\)"):
        oscillator(energy=lambda t, q, v: 1.0).energy(0.0, [1, 0], [0, 1])
    with pytest.raises(ValueError, match="has no energy"):
        oscillator().energy(0.0, [1, 0], [0, 1])


def test_arguments_are_read_only_copies():
    seen = []

    def force(t, q, v):
        seen.append((t, q, v))
        return -q

    run(oscillator(force=force), "euler", [1.0, 0.0], [0.0, 1.0], t_end=0.02)
    (t, q, v), later = seen[0], seen[-1]
    assert isinstance(t, float) and q.tolist() == [1, 0] and v.tolist() == [0, 1]
    assert later[1].tolist() != q.tolist()
    with pytest.raises(ValueError, match="read-only"):
        q[0] = 2.0


def test_a_system_may_be_used_inside_its_own_functions():
    def force(t, q, v):
        inner = other.evaluate(t, q, v, want=["force"])["force"]
        return 0.5 * inner + 0.5 * oscillator().evaluate(t, q, v, want=["force"])["force"]

    other = oscillator()
    expected = run(other, "genalpha", [1.0, 0.0], [0.0, 1.0])
    assert np.array_equal(run(oscillator(force=force), "genalpha", [1.0, 0.0], [0.0, 1.0])["q"], expected["q"])


# ---- functions of time in a compiled model ----


def pushed(function):
    """One body under gravity and a force given by a function of time."""
    return model(("force", "push", [0], [0.0, 2.0], function))


def test_a_function_of_time_drives_a_body():
    push = pushed(lambda t: [6.0 * t, 0.0, 2.0 * 9.81])
    result = run(push, "rk44", np.concatenate([np.zeros(3), np.eye(3).ravel()]), np.zeros(6))
    assert result["q"][-1, :3] == pytest.approx([0.5, 0.0, 0.0], abs=1e-12)  # from m x'' = 6 t with m = 2


def test_a_failing_function_of_time_arrives_unchanged():
    error = Failure("push")
    push = pushed(failing(lambda t: [0.0, 0.0, 0.0], 30, error))
    q, v = top_start()
    with pytest.raises(Failure) as caught:
        run(push, "rk44", q, v)
    assert caught.value is error
    with pytest.raises(ValueError, match=r"function of element push must have shape \(3,\), given \(2,\)"):
        run(pushed(lambda t: [0, 0]), "rk44", q, v)
    with pytest.raises(ValueError, match="push must be finite"):
        run(pushed(lambda t: [0, 0, np.nan]), "rk44", q, v)


# ---- stepping ----


def test_a_step_that_fails_leaves_the_stepper_as_it_was():
    error = Failure("step")
    system = oscillator(force=failing(lambda t, q, v: -q, 40, error))
    stepper = _core.Stepper(system, "rk44", 0.0, [1.0, 0.0], [0.0, 1.0], None, {})
    while True:
        before = stepper.t, stepper.q.tobytes(), stepper.v.tobytes(), stepper.carry.tobytes()
        try:
            stepper.step(0.1)
        except Failure as caught:
            assert caught is error
            break
    assert (stepper.t, stepper.q.tobytes(), stepper.v.tobytes(), stepper.carry.tobytes()) == before
    assert stepper.stats["steps"] >= 5
    stepper.step(0.1)
    assert stepper.q[0] == pytest.approx(np.cos(stepper.t), abs=1e-5)


def test_a_stepper_refuses_to_step_inside_its_own_step():
    messages = []

    def force(t, q, v):
        if box:
            with pytest.raises(RuntimeError, match="in the middle of a step") as caught:
                box[0].step(0.1)
            messages.append(str(caught.value))
        return -q

    box = []
    box.append(_core.Stepper(oscillator(force=force), "euler", 0.0, [1.0, 0.0], [0.0, 1.0], None, {}))
    box[0].step(0.1)
    assert messages
