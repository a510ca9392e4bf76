"""Two facts about half-explicit methods as printed, shown by a program in NumPy (`top_by_numpy`) and by lgint.

Lam_1 = lam_n lets V_2 leave the constraint: the position drifts. lambda by (15) has one order less than q and v.
Mending one leaves the other.
"""

import numpy as np
import pytest

import lgint
from battery import observed_order, top_by_scipy
from exact import exact
from top_by_numpy import OMEGA, top

T_END, STEPS = 0.0625, 2 ** np.array([8, 9])  # h = 2^-12 and 2^-13
ORDER = {"herk2": 2, "herk3": 3, "herk4": 4}


def tableau_of(method):
    tableau = lgint.method_info(method)["tableau"]
    return [[float(exact(a)) for a in row] for row in tableau["A"]], *(
        [float(exact(a)) for a in tableau[name]] for name in "bd"
    )


def runs(space, method, *, consistent_stage, d=None):
    A, b, own = tableau_of(method)
    return [top(space, A, b, d or own, n, T_END, consistent_stage=consistent_stage) for n in STEPS]


def order_of(made, name):
    """The observed order of multipliers, which are in the axes of the body."""
    R, _, _, force = top_by_scipy(tuple(OMEGA), T_END)
    return observed_order(STEPS, [np.linalg.norm(run[name] - R.T @ force) for run in made])


@pytest.mark.parametrize("method", ["herk2", "herk3"])
def test_the_first_multipliers_decide_about_the_drift(method):
    """It does on SE(3) only: on SO(3)xR^3 there is drift, 2.8e-5 and 9.2e-8 m at h = 2^-12."""

    def residual(space, consistent_stage):
        return top(space, *tableau_of(method), 512, 0.125, consistent_stage=consistent_stage)["residual"]

    assert residual("SE3", False) == pytest.approx({"herk2": 4.26e-5, "herk3": 3.07e-9}[method], rel=0.01)
    assert residual("SE3", True) < 1e-14
    direct = residual("R3xSO3", True)
    assert direct == pytest.approx({"herk2": 2.79e-5, "herk3": 9.23e-8}[method], rel=0.01)


@pytest.mark.parametrize("consistent_stage", [False, True])
@pytest.mark.parametrize("method", ORDER)
def test_where_multipliers_are_taken_from_decides_about_their_order(method, consistent_stage):
    """(15) loses an order whatever the first stage is; with it, the solution of index 1 at the end loses none."""
    made = runs("R3xSO3", method, consistent_stage=consistent_stage)
    assert order_of(made, "(15)") == pytest.approx(ORDER[method] - 1, abs=0.1)
    if consistent_stage:
        assert order_of(made, "index 1") == pytest.approx(ORDER[method], abs=0.1)


def test_other_weights_of_herk2_have_order_two_and_a_smaller_drift():
    """d = (0, 1) instead of (1/2, 1/2) is a comment in the authors' configuration for p = 2."""
    made = runs("SE3", "herk2", consistent_stage=False, d=[0.0, 1.0])
    assert order_of(made, "(15)") == pytest.approx(2, abs=0.05)
    assert observed_order(STEPS, [run["residual"] for run in made]) == pytest.approx(3, abs=0.05)


@pytest.mark.parametrize("first_stage", ["consistent", "printed"])
@pytest.mark.parametrize("space", ["R3xSO3", "SE3"])
@pytest.mark.parametrize("method", ORDER)
def test_both_forms_are_those_of_the_program(method, space, first_stage):
    A, b, d = tableau_of(method)
    theirs = top(space, A, b, d, 16, 2.0**-6, consistent_stage=first_stage == "consistent")
    model = lgint.models.heavy_top(formulation=space, constraint_frame="body")
    ours = lgint.integrate(model, method, t_end=2.0**-6, h=2.0**-10, first_stage=first_stage)
    lam = theirs["index 1" if first_stage == "consistent" else "(15)"]
    assert np.allclose(ours.rotation("top")[-1], theirs["R"], rtol=0, atol=1e-12)
    assert np.allclose(ours.position("top")[-1], theirs["x"], rtol=0, atol=1e-12)
    assert np.allclose(ours.v[-1], theirs["v"], rtol=0, atol=1e-10)
    assert np.allclose(np.abs(ours.lam[-1]), np.abs(lam), rtol=1e-9)


@pytest.mark.parametrize(
    ("frame", "first_stage", "residual"),
    [
        ("body", "printed", 0.113),
        ("inertial", "printed", 0.702),
        ("body", "consistent", 0),
        ("inertial", "consistent", 0),
    ],
)
def test_the_drift_after_a_long_run_depends_on_the_axes_of_the_constraint(frame, first_stage, residual):
    """The drift of the fast top on SE(3) after 50 s; with the consistent form it is round-off, 1.5e-14 m, in both."""
    model = lgint.models.heavy_top(formulation="SE3", constraint_frame=frame)
    run = lgint.integrate(model, "herk2", t_end=50.0, h=2.0**-10, first_stage=first_stage, save_every=1000)
    assert np.abs(run.constraint_residual("position")[-1]).max() == pytest.approx(residual, rel=0.01, abs=5e-14)
