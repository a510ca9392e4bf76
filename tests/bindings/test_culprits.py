"""A failed run names the row, the body or the element at fault, in whatever script the name is written."""

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
    """Names have 70 to 300 bytes: wherever the buffer ends, the report and the trajectory arrive."""
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
    """A spring that is far too stiff for an explicit method, and beside it a body at rest, which is not to be named."""
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
