"""Steps that are much shorter than those around them, and forces that Newton's method cannot follow."""

import numpy as np
import pytest

import lgint

FAMILY = [
    ("genalpha", {"index": 3}),
    ("genalpha", {"index": 2}),
    ("genalpha", {"index": "stabilized"}),
    ("newmark", {"index": 2}),
    ("hht", {"index": 2}),
    ("radau3", {}),
    ("radau5", {}),
]


@pytest.mark.parametrize("short", [1e-12, 1e-9])
@pytest.mark.parametrize(("method", "options"), FAMILY, ids=str)
def test_a_very_short_step_between_others_changes_nothing(method, options, short):
    """Stops close to each other ask for one; what it leaves of accelerations is round-off."""
    model = lgint.models.heavy_top(omega0=(1, 16, -4))
    plain = lgint.integrate(model, method, t_end=0.2, h=1e-3, **options)
    stopped = lgint.integrate(model, method, t_end=0.2, h=1e-3, stops=[0.1, 0.1 + short], **options)
    assert len(stopped) == len(plain) + 1
    scale = np.abs(plain.v[-1]).max()
    assert np.abs(stopped.q[-1] - plain.q[-1]).max() < 1e-4
    assert np.abs(stopped.v[-1] - plain.v[-1]).max() < 1e-4 * scale
    assert np.abs(stopped.lam[-1] - plain.lam[-1]).max() < 1e-2 * np.abs(plain.lam[-1]).max()


def stopped_by_friction(method, place, slope, force, start, h):
    """The velocity after ten steps, in which friction that changes sign over `slope` stops a mass; None: no run."""
    b = lgint.ModelBuilder()
    b.add_body("b", mass=1.0, inertia=(1, 1, 1), position=(place, 0, 0), velocity=(start, 0, 0))

    def law(t, x, R, xdot, omega):
        return np.array([-force * np.tanh(xdot[0] / slope), 0, 0, 0, 0, 0])

    b.add_force_law(law, bodies="b")
    try:
        return lgint.integrate(b.build(), method, t_end=10 * h, h=h, retry=10).v[-1, 0]
    except lgint.ConvergenceError:
        return None


@pytest.mark.parametrize("method", ["genalpha", "newmark", "hht", "radau3", "radau5"])
@pytest.mark.parametrize(
    ("place", "slope", "force", "start", "h"),
    [(0, 1e-6, 1e3, 5e-5, 1e-7), (7e6, 1e-4, 10, 1e-3, 1e-4), (1e3, 1e-6, 1e2, 1.2e-5, 1e-7)],
)
def test_corrections_that_do_not_shrink_are_no_round_off(method, place, slope, force, start, h):
    """Friction that stops a body at once: where displacements are below the round-off of places, velocities are not."""
    end = stopped_by_friction(method, place, slope, force, start, h)
    assert end is None or abs(end) < 0.05 * slope


@pytest.mark.parametrize("unit", [1e-3, 1, 1e3, 1e6])
@pytest.mark.parametrize("method", ["genalpha", "newmark", "hht", "radau3", "radau5"])
def test_round_off_does_not_depend_on_the_unit_of_length(method, unit):
    """The same motion in kilometres and in millimetres."""
    place, slope, force, start = (unit * x for x in (1e3, 1e-6, 1e2, 1.2e-5))
    end = stopped_by_friction(method, place, slope, force, start, 1e-7)
    assert end is not None and abs(end) < 0.05 * slope


ALPHA = [case for case in FAMILY if not case[0].startswith("radau")]


def twirled(method, options, **more):
    """A stepper of a top that may be stopped by a force."""
    stop = []

    def law(t, x, R, xdot, omega):
        return np.full(6, np.nan if stop else 0.0)

    b = lgint.ModelBuilder(gravity=(0, 0, -9.81))
    b.add_body(
        "top",
        mass=15.0,
        inertia=(0.23, 0.25, 0.3),
        position=(0, 1, 0),
        velocity=(4, 0, 0),
        angular_velocity=(0, 16, -4),
    )
    b.add_joint("spherical", lgint.ground, "top", point=(0, 0, 0))
    b.add_force_law(law, bodies="top")
    return lgint.Stepper(b.build(), method, **options, **more), stop


@pytest.mark.parametrize(("method", "options"), ALPHA, ids=str)
def test_a_step_that_begins_anew_and_fails_leaves_the_state(method, options):
    """The history of earlier steps is a part of it."""
    steppers = [twirled(method, options, newton="modified") for _ in range(2)]
    for stepper, _ in steppers:
        for h in (1e-3, 1e-3, 1e-9):
            stepper.step(h)
    (stepper, stop), (other, _) = steppers
    stop.append(1)
    with pytest.raises(lgint.ConvergenceError):
        stepper.step(1e-3)
    stop.clear()
    for h in (1e-9, 1e-3, 1e-3):
        for one, _ in steppers:
            one.step(h)
        for name in ("q", "v", "vdot", "lam"):
            assert getattr(stepper.state, name).tobytes() == getattr(other.state, name).tobytes(), name


@pytest.mark.parametrize(("factor", "anew"), [(900, False), (1100, True)])
@pytest.mark.parametrize("method", ["genalpha", "newmark", "hht"])
def test_steps_begin_anew_after_one_that_was_a_thousand_times_shorter(method, factor, anew):
    """Then the step is that of a run that begins there."""

    def pendulum(q, v):
        return lgint.CallableModel("Rn", q, v, mass=lambda t, q: np.eye(1), force=lambda t, q, v: -9.81 * np.sin(q))

    stepper = lgint.Stepper(pendulum([1.0], [0.3]), method)
    for h in (1e-2, 1e-2, 1e-5):
        stepper.step(h)
    fresh = lgint.Stepper(pendulum(stepper.q, stepper.v), method, t0=stepper.t)
    for one in (stepper, fresh):
        one.step(1e-5 * factor)
    same = [getattr(stepper, name).tobytes() == getattr(fresh, name).tobytes() for name in ("q", "v", "vdot")]
    assert all(same) == anew


@pytest.mark.parametrize("method", ["genalpha", "newmark", "hht"])
def test_a_very_short_step_between_adaptive_ones_rejects_none(method):
    """The error of the velocities is not measured against what the short step has left."""
    model = lgint.models.heavy_top(omega0=(1, 16, -4))
    plain = lgint.integrate(model, method, t_end=0.1, rtol=1e-5)
    stopped = lgint.integrate(model, method, t_end=0.1, rtol=1e-5, stops=[0.05, 0.05 + 1e-10])
    assert stopped.stats.rejected <= plain.stats.rejected + 2 and stopped.stats.steps < plain.stats.steps + 10
