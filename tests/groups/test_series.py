"""Coefficient functions against 50 digits, log-spaced over (0, 330 degrees] and next to every switch of formulas."""

import mpmath as mp
import numpy as np
import pytest

from lgint import _core

DIGITS = 90  # of which the closed forms lose up to 40 at 1e-8


def sinc(x):
    return mp.sin(x) / x


def cosc(x):
    return (1 - mp.cos(x)) / x**2


def sincc(x):
    return (x - mp.sin(x)) / x**3


def cotc(x):
    return (1 - x / 2 * mp.cot(x / 2)) / x**2


REFERENCE = {
    "sinc": sinc,
    "cosc": cosc,
    "sincc": sincc,
    "cotc": cotc,
    "cosc_d": lambda x: (sinc(x) - 2 * cosc(x)) / x**2,
    "sincc_d": lambda x: (cosc(x) - 3 * sincc(x)) / x**2,
    "cotc_d": lambda x: (sincc(x) / sinc(x / 2) ** 2 - 2 * cotc(x)) / x**2,
    "cotc_dd": lambda x: (
        (8 / x**2 - 3 / (2 * x) * mp.cot(x / 2) - (3 + x * mp.cot(x / 2)) / (4 * mp.sin(x / 2) ** 2)) / x**4
    ),
}
LIMIT = {
    "sinc": 1.0,
    "cosc": 1 / 2,
    "sincc": 1 / 6,
    "cotc": 1 / 12,
    "cosc_d": -1 / 12,
    "sincc_d": -1 / 60,
    "cotc_d": 1 / 360,
    "cotc_dd": 1 / 3780,
}
SWEEP = np.concatenate([np.geomspace(1e-8, np.pi, 400), np.radians(np.linspace(180, 330, 300)[1:])])
# between short and long series: x = 0.06; between series and closed forms: x^2 = 2, 10, 13 and 20
SWITCHES = np.concatenate([s * (1 + np.linspace(-1e-3, 1e-3, 21)) for s in [0.06, *np.sqrt([2.0, 10.0, 13.0, 20.0])]])


def relative_errors(name, angles):
    x2 = angles**2
    computed = getattr(_core, f"series_{name}")(x2)
    with mp.workdps(DIGITS):
        exact = [REFERENCE[name](mp.sqrt(mp.mpf(float(y)))) for y in x2]
        return np.array([float(abs((mp.mpf(float(c)) - e) / e)) for c, e in zip(computed, exact, strict=True)])


@pytest.mark.parametrize("name", REFERENCE)
def test_up_to_330_degrees(name):
    assert relative_errors(name, SWEEP).max() < 1e-15


@pytest.mark.parametrize("name", REFERENCE)
def test_switches(name):
    assert relative_errors(name, SWITCHES).max() < 2e-15


@pytest.mark.parametrize("name", REFERENCE)
def test_at_zero(name):
    value = getattr(_core, f"series_{name}")(0.0)
    assert abs(value - LIMIT[name]) <= np.spacing(abs(LIMIT[name]))


@pytest.mark.parametrize("name", REFERENCE)
def test_nan_passes_through(name):
    """Without a warning, as in all operations on groups."""
    value = getattr(_core, f"series_{name}")([np.nan, 0.0])
    assert np.isnan(value[0]) and np.isfinite(value[1])


@pytest.mark.parametrize("name", REFERENCE)
def test_many_turns(name):
    """Beyond pi, away from zeros and poles at multiples of pi, the error is that of rounding the angle."""
    angles = np.pi * (np.arange(1, 41)[:, None] + np.linspace(0.15, 0.85, 8)).ravel()
    assert relative_errors(name, angles).max() < 3e-14
