"""Runs that could never end: steps that are accepted and do not grow, and more steps than any run can take."""

import numpy as np
import pytest

import lgint


def oscillator():
    return lgint.CallableModel("Rn", [1.0, 0.0], [0.0, 0.5], mass=lambda t, q: np.eye(2), force=lambda t, q, v: -q)


def at_rest():
    return lgint.models.heavy_top(omega0=(0, 0, 0))


ENDLESS = {  # steps that are accepted and never grow
    "a denormal tolerance": (lgint.models.heavy_top, dict(atol=1e-320)),
    "the resolution of t": (lgint.models.heavy_top, dict(rtol=1e-6, safety=0.01)),
    "max_step": (lgint.models.heavy_top, dict(rtol=1e-6, max_step=1e-20)),
    "no increase": (at_rest, dict(rtol=1e-6, max_increase=1.0, first_step=1e-100)),
    "a late end": (lgint.models.heavy_top, dict(rtol=1e-6, t_end=1e300)),
}


@pytest.mark.parametrize("case", ENDLESS)
def test_steps_that_would_never_reach_the_end(case):
    model, given = ENDLESS[case]
    with pytest.raises(
        lgint.StepSizeError, match=r"the last 1000 steps advanced the motion by .* s on average, and .* s are left"
    ) as caught:
        lgint.integrate(model(), "dopri5", **{"t_end": 1.0, **given})
    run = caught.value.trajectory
    left = given.get("t_end", 1.0) - run.t[-1]
    assert (run.t[-1] - run.t[-1001]) / 1000 < left / 2**50 and run.stats.steps % 1000 == 0


def test_a_run_that_an_event_may_end_goes_on():
    """t_end may stand for infinity; an event that does not end the run changes nothing."""

    def event(t, q, v):
        return t - 2.5

    schedules = ({"h": 1e-3}, {"rtol": 1e-6, "max_step": 1e-2})
    for schedule in schedules:
        with pytest.raises((ValueError, lgint.StepSizeError), match="t_end"):
            lgint.integrate(oscillator(), "dopri5", t_end=1e300, events=event, **schedule)
    event.terminal = True
    for schedule in schedules:
        run = lgint.integrate(oscillator(), "dopri5", t_end=1e300, events=event, **schedule)
        assert run.t[-1] == pytest.approx(2.5, abs=1e-14) and run.status == 1


def test_small_steps_at_the_start_may_grow():
    """A first step of 1e-300 s is 1 s after 430 steps that grow by a factor of five."""
    run = lgint.integrate(at_rest(), "dopri5", t_end=1.0, rtol=1e-6, h=1e-300)
    assert run.t[-1] == 1.0 and 400 < run.stats.steps < 500
    slow = lgint.integrate(at_rest(), "dopri5", t_end=1.0, rtol=1e-6, h=1e-12, max_increase=1.01)
    assert slow.t[-1] == 1.0 and slow.stats.steps > 2000


REASONS = {
    "min_step": (dict(rtol=1e-9, min_step=1e-3), "min_step allows no smaller step.*lower min_step"),
    "t": (dict(rtol=1e-6, t0=1e14, t_end=1e14 + 1), "no number lies between the times.*; relax the tolerances or look"),
    "round-off": (dict(atol=1e-300), "a smaller step would be lost in round-off"),
    "last bits": (dict(atol=1e-16, t_end=1e-3), "a smaller step would be lost in round-off"),
}


@pytest.mark.parametrize("reason", REASONS)
def test_the_reason_why_no_smaller_step_is_tried(reason):
    given, message = REASONS[reason]
    with pytest.raises(lgint.StepSizeError, match=f"the step size is too small: the error .*{message}"):
        lgint.integrate(lgint.models.heavy_top(), "dopri5", **{"t_end": 1.0, **given})


@pytest.mark.parametrize("given", [dict(h=1e-20), dict(h=5e-324), dict(h=1e-3, t_end=1e300)], ids=str)
@pytest.mark.parametrize("method", ["euler", "genalpha"])
def test_more_fixed_steps_than_any_run_can_take(method, given):
    with pytest.raises(ValueError, match="h = .* is too small, or t_end too late: from t = 0 to .* it would take"):
        lgint.integrate(lgint.models.heavy_top(), method, **{"t_end": 1.0, "save_every": 10**9, **given})
