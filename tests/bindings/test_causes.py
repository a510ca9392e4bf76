"""A failed run names the row, the body or the element at fault, in whatever script the name is written."""

import signal

import numpy as np
import pytest

import lgint

BALL = dict(mass=1.0, inertia=np.ones(3))


def failure(kind, model, method, **arguments):
    """The exception with which a run fails, as it must."""
    with pytest.raises(kind) as caught:
        lgint.integrate(model, method, **{"t_end": 1.0, **arguments})
    return caught.value


# ---- names in any script ----


@pytest.mark.parametrize("character", ["é", "я", "力", "🌀"])
@pytest.mark.parametrize("length", range(70, 76))
def test_a_long_name_is_cut_between_characters(character, length):
    """Names have 70 to 300 bytes: wherever the buffer cuts them, there is a report and a trajectory."""
    name = "a" * (length % 4) + character * length
    builder = lgint.ModelBuilder()
    builder.add_body("b", **BALL)
    builder.add_spring("ground", "b", stiffness=1.0, length=1.0, name=name)
    error = failure(lgint.ConvergenceError, builder.build(), "rk44", h=0.1)
    shown = error.report["what"].removeprefix("the force of ")
    assert name.startswith(shown) and 60 < len(shown.encode()) <= 64
    assert shown in str(error) and "\ufffd" not in str(error)
    assert len(error.trajectory.t) == 0


@pytest.mark.parametrize("length", range(36, 84, 7))
def test_a_long_row_name_arrives(length):
    """The name of a constraint row is shortened in the same way when the start violates it."""
    builder = lgint.ModelBuilder()
    builder.add_body("b", **BALL)
    builder.add_joint("spherical", "ground", "b", point=(1.0, 0.0, 0.0), name="ö" * length)
    model = builder.build()
    with pytest.raises(ValueError, match="violates the constraints: ö+.*velocity level"):
        lgint.integrate(model.with_state(v=model.v0 + 1.0), "rk44", t_end=1.0, h=0.1)


# ---- singular matrices ----


def loose():
    """A point mass on a line that vanishes at t = 0.5, without a declared kink."""
    return lgint.CallableModel(
        "Rn",
        [0.0, 0.0],
        [1.0, 0.0],
        mass=lambda t, q: np.eye(2),
        force=lambda t, q, v: [0.0, 0.0],
        constraint=lambda t, q: [q[1] * (t < 0.5)],
        constraint_jacobian=lambda t, q: [[0.0, float(t < 0.5)]],
        constraint_acceleration=lambda t, q, v: [0.0],
    )


def test_an_adaptive_run_keeps_the_singular_matrix_as_its_cause():
    error = failure(lgint.SingularError, loose(), "dopri5", rtol=1e-6)
    assert error.report["status"] == "SINGULAR" and error.report["what"] == "constraint[0]"
    assert "discontinuity" not in str(error) and "redundant joints" in str(error)
    assert error.trajectory.t[-1] == pytest.approx(0.5, abs=1e-9)


def test_a_fixed_step_names_the_same_row():
    assert failure(lgint.SingularError, loose(), "rk44", h=0.04).report["what"] == "constraint[0]"


def test_a_body_without_inertia_is_named():
    builder = lgint.ModelBuilder()
    builder.add_body("first", **BALL)
    builder.add_body("flat", mass=1.0, inertia=(1.0, 1.0, 0.0))
    for method in ("rk44", "genalpha"):
        error = failure(lgint.SingularError, builder.build(), method, h=0.1)
        assert error.report["what"] == "velocity 5 of flat"


# ---- forces that are not finite, values that blow up ----


@pytest.mark.parametrize("method", ["rk44", "genalpha", "hht"])
def test_a_spring_without_a_direction_is_named(method):
    builder = lgint.ModelBuilder()
    builder.add_body("b", **BALL)
    builder.add_spring("ground", "b", stiffness=1.0, length=1.0, name="coil")
    error = failure(lgint.ConvergenceError, builder.build(), method, h=0.1)
    assert error.report["status"] == "UNDEFINED" and error.report["what"] == "the force of coil"
    assert "length zero" in str(error) and "blew up" not in str(error)


@pytest.mark.parametrize("method", ["euler", "rk44", "dopri5"])
def test_the_body_that_blows_up_is_named(method):
    """A spring that is far too stiff for an explicit method, and another body at rest, which must not be named."""
    builder = lgint.ModelBuilder()
    builder.add_body("calm", **BALL)
    builder.add_body("wild", **BALL, velocity=(1.0, 0.0, 0.0))
    builder.add_cartesian_spring("ground", "wild", stiffness=(1e6, 1e6, 1e6), name="coil")
    error = failure(lgint.ConvergenceError, builder.build(), method, t_end=1e3, h=1.0)
    assert error.report["status"] == "NOT_FINITE" and "blew up" in str(error)
    assert error.report["what"] in ("the force of coil", "coordinates of wild", "velocities of wild")
    assert len(error.trajectory.t) > 1


# ---- Newton's method ----


def test_newton_names_the_worst_row():
    """A single iteration per step is not enough for a fast top at large steps."""
    model = lgint.models.heavy_top()
    error = failure(lgint.ConvergenceError, model, "genalpha", h=0.05, max_iter=1)
    what = error.report["what"].removeprefix("the largest residual is in ")
    assert error.report["status"] == "NO_CONVERGENCE"
    assert what in model.row_names or what in [f"velocity {i} of top" for i in range(6)]


# ---- laws that jump ----


def coulomb(rate):
    return -5 * np.sign(rate)


def rubbing(friction, **options):
    """A wheel that turns at 0.08 rad/s against a law of its rate."""
    builder = lgint.ModelBuilder(**options)
    builder.add_body("wheel", **BALL, angular_velocity=(0.0, 0.0, 0.08))
    law = lambda t, x, R, xdot, omega: [0, 0, 0, 0, 0, friction(omega[2])]  # noqa: E731
    builder.add_force_law(law, bodies="wheel", name="friction")
    return builder.build()


def rubbing_pair():
    """The same wheel on another one, on two axes."""
    builder = lgint.ModelBuilder()
    builder.add_body("calm", **BALL)
    builder.add_body("wheel", **BALL, angular_velocity=(0.0, 0.0, 0.08))

    def law(t, x, R, xdot, omega):
        torque = coulomb(omega[1, 2] - omega[0, 2])
        return [[0, 0, 0, 0, 0, -torque], [0, 0, 0, 0, 0, torque]]

    builder.add_force_law(law, bodies=("calm", "wheel"), name="friction")
    return builder.build()


def rubbing_joint(kind, **options):
    """A body that moves in its joint at a rate of 0.08; a smooth law comes first."""
    builder = lgint.ModelBuilder(**options)
    builder.add_body("body", **BALL)
    builder.add_joint(kind, "ground", "body", point=(0.0, 0.0, 0.0), axis=(0.0, 0.0, 1.0), name="joint")
    builder.add_force_law(lambda t, x, rate: -0.1 * rate, joint="joint", name="smooth")
    builder.add_force_law(lambda t, x, rate: coulomb(rate) - 20 * rate, joint="joint", name="friction")
    model = builder.build()
    start = np.zeros(len(model.v0))
    start[{1: 0, 6: 2 if kind == "prismatic" else 5}[len(start)]] = 0.08
    return model.with_state(v=start)


@pytest.mark.parametrize("method", ["genalpha", "hht", "newmark", "emh", "eml"])
def test_a_law_that_jumps_is_suspected(method):
    model = rubbing(coulomb, formulation="euler_parameters")
    error = failure(lgint.ConvergenceError, model, method, h=1e-2)
    assert error.report["what"].startswith("the largest residual is in")
    assert "the law friction jumps near this state: make it smooth, like tanh(w/eps)" in str(error)


@pytest.mark.parametrize(
    "model",
    [
        rubbing_pair(),
        rubbing_joint("revolute"),
        rubbing_joint("prismatic"),
        rubbing_joint("revolute", formulation="minimal"),
        rubbing_joint("prismatic", formulation="minimal"),
    ],
    ids=["two bodies", "angle", "slide", "angle of a tree", "slide of a tree"],
)
@pytest.mark.parametrize("method", ["genalpha", "newmark"])
def test_it_is_found_wherever_laws_act(model, method):
    error = failure(lgint.ConvergenceError, model, method, h=1e-2)
    assert "the law friction jumps near this state" in str(error)


def test_a_jump_where_the_run_begins_is_found():
    """A pendulum at rest, whose friction is zero only at that point."""
    builder = lgint.ModelBuilder(gravity=(0.0, 0.0, -9.81))
    builder.add_body("arm", **BALL, position=(1.0, 0.0, 0.0))
    builder.add_joint("revolute", "ground", "arm", point=(0.0, 0.0, 0.0), axis=(0.0, 1.0, 0.0), name="hinge")
    builder.add_force_law(lambda t, angle, rate: 4 * coulomb(rate), joint="hinge", name="friction")
    error = failure(lgint.ConvergenceError, builder.build(), "genalpha", h=1e-2)
    assert error.report["step"] == 0 and "the law friction jumps" in str(error)


def test_the_force_of_a_callable_model_is_a_law():
    model = lgint.CallableModel(
        "Rn",
        [0.0, 1.0],
        [0.1, 0.0],
        mass=lambda t, q: np.eye(2),
        force=lambda t, q, v: [coulomb(v[0]), -q[1]],
    )
    error = failure(lgint.ConvergenceError, model, "genalpha", h=1e-2)
    assert "the law force jumps near this state" in str(error)


@pytest.mark.parametrize(
    "friction",
    [
        lambda w: -5 * np.tanh(w / 1e-6),
        lambda w: -5e3 * w * abs(w),
        lambda w: -5 * np.sign(w) * np.sqrt(abs(w)),
        lambda w: (w + 1e3) - 1e3 - w,
    ],
    ids=["steep", "stiff", "root", "round-off"],
)
def test_a_smooth_law_is_not_suspected(friction):
    """The start has a rate at which the wheel is about to stop, and Newton's method has one iteration."""
    builder = lgint.ModelBuilder()
    builder.add_body("wheel", mass=1.0, inertia=(1.0, 2.0, 3.0), angular_velocity=(0.7, -0.8, 1e-3))
    law = lambda t, x, R, xdot, omega: [0, 0, 0, 0, 0, friction(omega[2])]  # noqa: E731
    builder.add_force_law(law, bodies="wheel", name="friction")
    error = failure(lgint.ConvergenceError, builder.build(), "genalpha", h=0.5, max_iter=1)
    assert "jumps" not in str(error) and "a smaller h" in str(error)


def test_an_explicit_method_is_no_reason_to_suspect_laws():
    lgint.integrate(rubbing(coulomb), "rk44", t_end=0.1, h=1e-2)


class Fenced:
    """Friction with a fence at rates that a run does not reach, but the search for jumps does."""

    def __init__(self, climb):
        self.climb, self.calls = climb, 0

    def __call__(self, rate):
        self.calls += 1
        if rate > 0.1:
            self.climb()
        return coulomb(rate)


def test_the_search_calls_a_law_72_times_at_most():
    """The search calls a law that jumps at all points; the fence ends the other search at once, without an error."""

    def refuse():
        raise ArithmeticError("too fast")

    free, fenced = Fenced(lambda: None), Fenced(refuse)
    assert "jumps" in str(failure(lgint.ConvergenceError, rubbing(free), "genalpha", h=1e-2))
    error = failure(lgint.ConvergenceError, rubbing(fenced), "genalpha", h=1e-2)
    assert "jumps" not in str(error) and "a smaller h" in str(error)
    assert error.__cause__ is None and error.__context__ is None
    assert free.calls - fenced.calls + 1 == 72


def test_ctrl_c_during_the_search_is_not_lost():
    model = rubbing(Fenced(lambda: signal.raise_signal(signal.SIGINT)))
    with pytest.raises(KeyboardInterrupt):
        lgint.integrate(model, "genalpha", t_end=1.0, h=1e-2)


def test_a_stepper_goes_on_after_the_search():
    """A failed step does not change the state: a run of smaller steps has the same bits with and without it."""
    model = rubbing(coulomb)
    runs = [lgint.Stepper(model, "genalpha") for _ in range(2)]
    for run in runs:
        run.step(1e-2)
    with pytest.raises(lgint.ConvergenceError, match="the law friction jumps"):
        runs[1].step(2e-2)
    for run in runs:
        run.step(1e-3)
    np.testing.assert_array_equal(runs[0].v, runs[1].v)
