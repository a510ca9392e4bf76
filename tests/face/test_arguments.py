"""Bad input always raises a ValueError that names the argument; it never crashes and is never reinterpreted."""

import numpy as np
import pytest

import lgint
from cores import core_model
from lgint import _core

ONE = dict(mass=lambda t, q: np.eye(1), force=lambda t, q, v: -q)
HUGE = 10**400  # too large for a float64
BODY = dict(mass=1.0, inertia=(1.0, 1.0, 1.0))


def builder():
    made = lgint.ModelBuilder()
    made.add_body("a", **BODY)
    return made


def body(**arguments):
    return lgint.ModelBuilder().add_body("a", **{**BODY, **arguments})


def run(method="rk44", **arguments):
    return lgint.integrate(lgint.models.heavy_top(), method, **{"t_end": 0.01, "h": 1e-3, **arguments})


def event(value, **attributes):
    def function(t, q, v):
        return value

    for name, attribute in attributes.items():
        setattr(function, name, attribute)
    return run(events=function)


def callable_model(space="Rn", q0=(0.0,), **arguments):
    return lgint.CallableModel(space, q0, q0, **ONE, **arguments)


def sweep(parameters):
    return lgint.sweep(
        lgint.models.heavy_top, parameters, "rk44", t_end=0.01, h=1e-3, observables={"t": lambda run: run.t[-1]}
    )


def study(steps):
    return lgint.study(lgint.models.heavy_top(), "rk44", steps, t_end=0.01)


def law(bodies):
    return builder().add_force_law(lambda *state: np.zeros(6), bodies=bodies)


BAD = {
    "mass, text": (lambda: body(mass="3"), "mass of 'a': numbers expected, got '3'"),
    "mass, text as an object": (lambda: body(mass=np.array("3", dtype=object)), "mass of 'a': numbers expected"),
    "mass, bytes": (lambda: body(mass=b"3"), "mass of 'a': numbers expected"),
    "mass, complex": (lambda: body(mass=1 + 0j), "mass of 'a': numbers expected"),
    "mass, a time": (lambda: body(mass=np.timedelta64(3)), "mass of 'a': numbers expected"),
    "mass, none": (lambda: body(mass=None), "mass of 'a': finite numbers expected, got None"),
    "mass, huge": (lambda: body(mass=HUGE), "mass of 'a': numbers expected, got 1000"),
    "mass, too huge to print": (lambda: body(mass=10**5000), "mass of 'a': numbers expected, got a huge int"),
    "inertia, huge": (lambda: body(inertia=(HUGE, 1, 1)), "inertia of 'a': numbers expected"),
    "inertia, texts": (lambda: body(inertia=("1", "1", "1")), "inertia of 'a': numbers expected"),
    "inertia, masked": (lambda: body(inertia=np.ma.array([1.0, 1, 1], mask=[0, 1, 0])), "inertia of 'a': numbers"),
    "velocities, masked": (
        lambda: lgint.models.heavy_top().with_state(v=np.ma.array(np.zeros(6), mask=[1, 0, 0, 0, 0, 0])),
        "v: numbers expected",
    ),
    "gravity, huge": (lambda: lgint.ModelBuilder(gravity=(0, 0, HUGE)), "gravity: numbers expected"),
    "modes, a number": (lambda: lgint.ModelBuilder().add_modal_body("a", 5), "modes of 'a': .*lgint.modal.*got 5"),
    "a force on the ground": (lambda: builder().add_force("ground", force=(1, 0, 0)), "body of a force.*ground"),
    "a force on lgint.ground": (lambda: builder().add_force(lgint.ground, force=(1, 0, 0)), "body of a force.*ground"),
    "bodies, a number": (lambda: law(5), "bodies of a force law: .*got 5"),
    "bodies, a list of numbers": (lambda: law([5]), "unknown body 5"),
    "a body, a list": (lambda: run().position(["top"]), r"unknown body \['top'\]"),
    "an event of None": (lambda: event(None), "event function: a number expected at t = 0, got None"),
    "an event of text": (lambda: event("3"), "event function: a number expected at t = 0, got '3'"),
    "an event of an array": (lambda: event(np.zeros(3)), "event function: a number expected at t = 0, got"),
    "an event, complex": (lambda: event(1j), "event function: a number expected at t = 0, got"),
    "an event, huge": (lambda: event(HUGE), "event function: a number expected at t = 0, got"),
    "an event, NaN": (lambda: event(np.nan), "event function: a number expected at t = 0, got nan"),
    "direction, text": (lambda: event(1.0, direction="up"), "event function: direction: numbers expected"),
    "an event, a truth value": (lambda: event(True), "event function: a number expected at t = 0, got True"),
    "an event, a comparison": (lambda: event(np.float64(1) > 0), "event function: a number expected at t = 0, got"),
    "direction, made": (lambda: lgint.event(abs, direction="x"), "event abs: direction: numbers expected, got 'x'"),
    "direction, NaN": (lambda: lgint.event(abs, direction=np.nan), "event abs: direction: finite numbers expected"),
    "terminal, made": (lambda: lgint.event(abs, terminal=-1), "event abs: terminal: .* positive number .* got -1"),
    "terminal, text": (lambda: lgint.event(abs, terminal="yes"), "event abs: terminal: .* got 'yes'"),
    "action, made": (lambda: lgint.event(abs, action=3), "event abs: action: a function of a State expected, got 3"),
    "the frame of the ground": (lambda: builder().build().frame("ground"), "the ground has no frame.*choose from"),
    "a robot by its number": (lambda: lgint.ModelBuilder().add_urdf(3), "path: the name of a file .* expected, got 3"),
    "a load without time": (
        lambda: builder().add_force("a", force=lambda: (1, 0, 0)),
        r"force.*: a function of t expected, got one of \(\)",
    ),
    "a support without time": (
        lambda: builder().add_support("s", motion=lambda: np.zeros((3, 3))),
        r"motion of 's': a function of t expected, got one of \(\)",
    ),
    "a control without a state": (
        lambda: builder().add_control(lambda: [0.0] * 6, bodies="a"),
        r"function of control 'control': a function of state expected, got one of \(\)",
    ),
    "stops, a matrix": (lambda: run(stops=[[0.005, 0.01]]), r"stops: a list of times expected, got .* \(1, 2\)"),
    "t_eval, a matrix": (lambda: run(t_eval=[[0.005, 0.01]]), r"t_eval: a list of times expected, got .* \(1, 2\)"),
    "progress, a number": (lambda: run(progress=3), "progress: True, False or a function of a number expected, got 3"),
    "a file by its number": (lambda: lgint.load(1), "path: the name of a file or folder expected, got 1"),
    "a file, True": (lambda: lgint.load(True), "path: the name of a file or folder expected, got True"),
    "a stepper of a list": (lambda: lgint.Stepper([], "rk44"), r"model: a model expected, got \[\]"),
    "a check of a name": (lambda: lgint.check("heavy_top"), "model: a model expected, got 'heavy_top'"),
    "a check at no point": (lambda: lgint.check(lgint.models.heavy_top(), points=0), "points: a whole number >= 1"),
    "an equilibrium of nothing": (lambda: lgint.equilibrium(None), "model: a model expected, got None"),
    "a sweep over nothing": (lambda: sweep({}), "parameters: at least one run expected, got none"),
    "a study of one step": (lambda: study(1e-3), "steps: a list of step sizes expected, got 0.001"),
    "a study of equal steps": (lambda: study([1e-3, 1e-3]), "steps: at least two different step sizes"),
    "save_every, huge": (lambda: run(save_every=10**30), "save_every: a whole number from 1 to 2147483647"),
    "save_every, a fraction": (lambda: run(save_every=2.5), "save_every: a whole number"),
    "t_end, huge": (lambda: run(t_end=HUGE), "t_end: numbers expected"),
    "h, text": (lambda: run(h="1e-3"), "h: numbers expected"),
    "rtol, huge": (lambda: run("dopri5", rtol=HUGE), "rtol: numbers expected"),
    "max_iter, huge": (lambda: run("genalpha", max_iter=10**30), "max_iter"),
    "rho_inf, huge": (lambda: run("genalpha", rho_inf=HUGE), "rho_inf"),
    "space, a number": (lambda: callable_model(5), "space: a list expected, got 5"),
    "space, no size": (lambda: callable_model([("Rn", None)]), "space: .*got 'Rn'"),
    "space, an empty pair": (lambda: callable_model([()]), r"space: .*\(\)"),
    "nrows, text": (lambda: callable_model(nrows="x"), "nrows: a whole number >= 0 expected, got 'x'"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_a_value_error_that_names_it(case):
    call, message = BAD[case]
    with pytest.raises(ValueError, match=message):
        call()


def test_a_masked_array_without_masked_values_counts():
    assert body(inertia=np.ma.array([1.0, 1, 1])) == "a"
    with pytest.raises(ValueError, match="v must be real numbers, given an array with masked values"):
        core = lgint.models.heavy_top().core
        core.energy(0.0, lgint.models.heavy_top().q0, np.ma.array(np.zeros(6), mask=[0, 0, 0, 0, 0, 1]))


def test_a_single_time_counts_as_a_list_of_one():
    assert run(t_eval=0.005).t.tolist() == [0.005]
    assert 0.0055 in run(stops=0.0055).t


NAMED = {
    "body": lambda name: lgint.ModelBuilder().add_body(name, **BODY),
    "joint": lambda name: builder().add_joint("spherical", "ground", "a", point=(0, 0, 0), name=name),
    "force": lambda name: builder().add_force("a", force=(1, 0, 0), name=name),
    "spring": lambda name: builder().add_spring("ground", "a", stiffness=1.0, length=1.0, name=name),
}


@pytest.mark.parametrize("what", NAMED)
@pytest.mark.parametrize("name", ["x\0y", "\0", "\ud800", "a\udfff"])
def test_names_that_the_core_cannot_hold(what, name):
    with pytest.raises(ValueError, match=f"name of a {what}: no NUL"):
        NAMED[what](name)


# ---- sizes beyond the integers of the core ----


@pytest.mark.parametrize("blocks", [[70000], [2**31 - 1], [2**30] * 4, [40000, 40000], [30000] * 5])
def test_spaces_whose_matrices_no_integer_measures(blocks):
    """If nv^2 of a block, or the sum over blocks, exceeds 2^31, the space is refused before anything is allocated."""
    spaces = [("Rn", n) for n in blocks]
    with pytest.raises(ValueError, match="too large"):
        _core.CallableSystem(spaces, 0, ONE, ())
    with pytest.raises(ValueError, match="Rn: too many coordinates"):
        core_model(spaces, [], [])


def test_rows_whose_jacobian_no_integer_measures():
    rows = dict(constraint=lambda t, q: q, constraint_jacobian=lambda t, q: q)
    with pytest.raises(ValueError, match="too large"):
        _core.CallableSystem([("Rn", 3)], 2**30, {**rows, **ONE}, ())
    with pytest.raises(ValueError, match="too many coordinates"):
        core_model([("Rn", 2**31 - 1)], [], [])


def test_the_largest_sizes_that_fit_are_made():
    assert _core.CallableSystem([("Rn", 5000)] * 5, 0, ONE, ()).nv == 25000
    with pytest.raises(ValueError, match="too large"):  # a callable system has one mass matrix for all velocities
        _core.CallableSystem([("Rn", 20000)] * 5, 0, ONE, ())
