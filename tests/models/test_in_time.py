"""Arguments that vary with time: numbers, tables, pieces and functions in every place that takes any of them."""

import numpy as np
import pytest

import lgint

W, A = 2.0, 0.3
TIMES = [0.0, 0.1, 0.4, 0.5]
TABLE = [[0, 0, 0], [0.1, 0, 0], [0.3, 0.2, 0], [0.3, 0.1, 0.0]]


def hung(motion, kinks=()):
    """A ball in a support that moves."""
    b = lgint.ModelBuilder(gravity=(0, 0, -9.81))
    b.add_support("hand", motion=motion, kinks=kinks)
    b.add_body("ball", mass=1.0, inertia=(1, 1, 1))
    b.add_joint("spherical", "hand", "ball", point=b._supports["hand"].start.x, name="pin")
    return b.build(start="project")


def bar(motion=None, torque=0.0, kinks=()):
    """A bar with a drive, in a slide or about a pin."""
    b = lgint.ModelBuilder(formulation="minimal")
    b.add_body("bar", mass=2.0, inertia=(0.2, 0.2, 0.01), position=(0, 0, -0.5))
    b.add_joint("revolute", lgint.ground, "bar", point=(0, 0, 0), axis=(1, 0, 0), name="pin")
    b.add_joint_drive("pin", stiffness=300.0, damping=20.0, motion=motion, torque=torque, kinks=kinks, name="motor")
    return b.build()


def rod(load=None, strain=None, clamped=(0,), kinks=()):
    b = lgint.ModelBuilder()
    b.add_rod("rod", start=(0, 0, 0), end=(1, 0, 0), edges=2, stiffness=(50, 50, 100, 5, 5, 5), constraints=None,
              inertia=(1, 0.01, 0.01, 0.02), damping=(0.1,) * 6, load=load, reference_strain=strain, clamped=clamped,
              kinks=kinks)  # fmt: skip
    return b.build()


def ball(**load):
    b = lgint.ModelBuilder()
    b.add_body("ball", mass=1.0, inertia=(1, 1, 1))
    b.add_force("ball", **load)
    return b.build()


def tendon(tension, kinks=()):
    b = lgint.ModelBuilder()
    b.add_body("ball", mass=1.0, inertia=(1, 1, 1), position=(1, 0, 0))
    b.add_tendon([lgint.ground, "ball"], tension=tension, kinks=kinks)
    return b.build()


def ramp(*vector):
    """A value that rises from t = 0.2 on, as a function and as a table."""
    given = np.array(vector) if len(vector) > 1 else vector[0]
    return lambda t: max(t - 0.2, 0.0) * given, ([0.0, 0.2, 1.2], [0 * given, 0 * given, given])


REFERENCE = np.array([0, 0, 1.0, 0, 0, 0])
BEND = ramp(0.0, 0.0, 0.0, 0.4, 0.0, 0.0)
VALUES = {
    "force": (lambda given, kinks: ball(force=given, kinks=kinks), ramp(3.0, 1.0, 2.0)),
    "torque": (lambda given, kinks: ball(torque=given, frame="body", kinks=kinks), ramp(3.0, 1.0, 2.0)),
    "tension": (tendon, ramp(2.0)),
    "drive": (lambda given, kinks: bar(torque=given, kinks=kinks), ramp(2.0)),
    "load of a rod": (lambda given, kinks: rod(load=given, kinks=kinks), ramp(0.0, 1.0, 0.5)),
    "strain": (
        lambda given, kinks: rod(strain=given, kinks=kinks),
        (lambda t: REFERENCE + BEND[0](t), (BEND[1][0], [REFERENCE + value for value in BEND[1][1]])),
    ),
}


@pytest.mark.parametrize("which", VALUES)
def test_a_function_with_kinks_is_the_table_with_these_corners(which):
    """Where steps land on the kink, both are smooth inside each step, and equal up to round-off."""
    make, (function, table) = VALUES[which]
    runs = [lgint.integrate(make(*given), "genalpha", t_end=0.5, h=0.03) for given in ((function, (0.2,)), (table, ()))]
    assert all(run.t.tolist().count(0.2) == 1 for run in runs)
    assert np.abs(runs[0].v[-1]).max() > 1e-3
    np.testing.assert_allclose(runs[0].v, runs[1].v, rtol=0, atol=1e-12)
    with pytest.raises(ValueError, match=r"kinks of .*: they belong to functions"):
        make(table, (0.2,))


QUADRATIC = np.array([W, -1.0, 0.5]), np.array([2 * A, 0.1, -0.3])


def quadratic(t):
    rate, second = QUADRATIC
    return 0.5 * second * t**2 + rate * t, second * t + rate, second


@pytest.mark.parametrize("turns", [False, True])
def test_a_support_takes_what_a_joint_motion_takes(turns):
    """Pieces are the function that they describe; a vector is the pose at rest."""

    def function(t):
        moved = np.array(quadratic(t))
        return np.hstack([moved, moved[:, ::-1]]) if turns else moved

    pieces = [[t, *np.ravel(function(t))] for t in (0.0, 0.25)]
    runs = [lgint.integrate(hung(given), "rk44", t_end=0.5, h=0.02) for given in (function, pieces)]
    assert runs[1].t.tolist().count(0.25) == 1
    for name in ("hand", "ball"):
        np.testing.assert_allclose(runs[0].position(name)[-1], runs[1].position(name)[-1], rtol=0, atol=1e-10)
    vector = np.array([0.1, 0.2, 0.3, 0.4, -0.5, 0.6])[: 6 if turns else 3]
    still = [hung(given) for given in (vector, lambda t: np.array([vector, 0 * vector, 0 * vector]))]
    runs = [lgint.integrate(model, "rk44", t_end=0.1, h=0.02) for model in still]
    np.testing.assert_allclose(runs[0].rotation("hand"), runs[1].rotation("hand"), rtol=0, atol=1e-15)
    np.testing.assert_allclose(runs[0].position("hand"), np.tile(vector[:3], (6, 1)), rtol=0, atol=1e-15)
    np.testing.assert_allclose(runs[0].q, runs[1].q, rtol=0, atol=1e-12)


def test_a_moved_support_is_saved_with_its_pieces(tmp_path):
    run = lgint.integrate(hung([[0.0, *np.ravel(quadratic(0.0))]]), "rk44", t_end=0.1, h=0.02)
    run.save(tmp_path / "run.npz")
    again = lgint.integrate(lgint.load(tmp_path / "run.npz").model, "rk44", t_end=0.1, h=0.02)
    assert np.array_equal(again.q, run.q)


def test_tables_of_motions_end_steps_at_their_times():
    """The third derivative of a spline jumps there, which would cost an order."""
    for model in (hung((TIMES, TABLE)), bar(motion=(TIMES, [row[0] for row in TABLE]))):
        run = lgint.integrate(model, "rk44", t_end=0.6, h=0.035)
        assert set(TIMES) <= set(run.t.tolist())


@pytest.mark.parametrize(
    ("motion", "message"),
    [
        ([[0.0, *range(9)], [1.0, *range(9)]], r"its coordinate jumps at t = 1 from 6 to 0"),
        ([[0.0, *range(8)]], r"a vector of 3 or 6 numbers, a list of rows of 10 or 19 numbers.*got the shape \(1, 9\)"),
        (1.0, r"a vector of 3 or 6 numbers.*got the shape \(\)"),
        (lambda t: ([max(t - 0.5, 0), 0, 0], [float(t >= 0.5), 0, 0], [0, 0, 0]), r"near t = 0\.5 the acceleration"),
        (lambda t: ([t**3, 0, 0], [3 * t**2, 0, 0], [5 * t, 0, 0]), r"near t = 0\.13 the acceleration"),
    ],
)
def test_supports_refuse_what_joint_motions_refuse(motion, message):
    with pytest.raises(ValueError, match=f"motion of 'hand': .*{message}"):
        hung(motion)


def jumping(level):
    """A coordinate or a rate that jumps at t = 0.3."""

    def motion(t):
        late = t >= 0.3
        return (
            t + (0.1 * late if level == "coordinate" else 2 * late * (t - 0.3)),
            1.0 + 2 * late * (level == "rate"),
            0.0,
        )

    return motion


def along_y(motion):
    return lambda t: [[0.0, value, 0.0] for value in motion(t)]


@pytest.mark.parametrize("level", ["coordinate", "rate"])
@pytest.mark.parametrize("options", [{"h": 0.013}, {"h": 0.01}, {"rtol": 1e-6, "atol": 1e-8}], ids=str)
@pytest.mark.parametrize("which", ["hand", "motor"])
def test_a_jump_of_a_function_ends_the_run(which, options, level):
    model = hung(along_y(jumping(level))) if which == "hand" else bar(jumping(level))
    with pytest.raises(lgint.IntegrationError, match=rf"the {level} of {which} jumps from .* at t = 0.3") as failure:
        lgint.integrate(model, "dopri5", t_end=0.6, **options)
    kept = failure.value.trajectory
    assert 0 < 0.3 - kept.t[-1] < options.get("h", 0.3) * (1 + 1e-9)


@pytest.mark.parametrize("level", ["coordinate", "rate"])
def test_the_motion_of_a_drive_may_jump_at_its_kinks(level):
    """As that of pieces does; both land there."""
    motion = jumping(level)
    pieces = [[0.0, 0.0, 1.0, 0.0], [0.3, *motion(0.3)]]
    runs = [
        lgint.integrate(bar(given, kinks=kinks), "rk44", t_end=0.6, h=0.013)
        for given, kinks in ((motion, [0.3]), (pieces, ()))
    ]
    np.testing.assert_allclose(runs[0].q, runs[1].q, rtol=0, atol=1e-12)
    # a support would need infinite forces
    with pytest.raises(lgint.IntegrationError, match=rf"the {level} of hand jumps from .* at t = 0.3"):
        lgint.integrate(hung(along_y(motion), kinks=[0.3]), "rk44", t_end=0.6, h=0.013)


def test_both_sides_of_a_kink_of_a_support_have_their_own_second_rate():
    """The step that ends at the kink takes the acceleration before it, as that of pieces does."""

    def motion(t):
        late = max(t - 0.3, 0.0)
        return [[0.0, 0.0, value] for value in (late**2, 2 * late, 2.0 * (t >= 0.3))]

    pieces = [[0.0, *[0.0] * 9], [0.3, *[0.0] * 8, 2.0]]
    runs = [
        lgint.integrate(hung(given, kinks), "rk44", t_end=0.6, h=0.05)
        for given, kinks in ((motion, [0.3]), (pieces, ()))
    ]
    np.testing.assert_allclose(runs[0].reaction("pin"), runs[1].reaction("pin"), rtol=0, atol=1e-9)
    assert runs[0].reaction("pin")[-1][2] == pytest.approx(11.81, abs=1e-9)
    for run in runs:
        np.testing.assert_allclose(run.position("ball"), run.position("hand"), rtol=0, atol=1e-12)
