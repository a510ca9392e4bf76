"""Quantities that artifacts derive from studies: table columns, orders, ratios of errors and of costs."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import ArrayLike

from lgint._args import Array
from lgint._papers.claims import Claim, slope
from lgint._papers.pictures import arrived
from lgint._tools.orders import SPREAD
from lgint._tools.results import Comparison, Study


def columns(studies: Mapping[str, Study], *names: str) -> dict[str, ArrayLike]:
    """Columns of a CSV file: setting, step size, and these quantities from `Study.columns`."""
    found = Comparison(dict(studies)).columns()
    return {"setting": found["setting"], "h (s)": found["h"], **{name: found[name] for name in names}}


def flat(groups: Mapping[str, Mapping[str, Study]]) -> dict[str, Study]:
    """The studies of several groups under labels that begin with the group."""
    return {f"{group}: {label}": study for group, studies in groups.items() for label, study in studies.items()}


def orders(
    studies: Mapping[str, Study], what: str, expected: Mapping[str, float], why: str = "", of: str = ""
) -> list[Claim]:
    """A claim for each study that its errors have the expected order; the claim names the steps.

    The order of the asymptotic range must be within 10 % of the expected one, the same tolerance by which orders within
    a range may differ from the order of the range.
    """
    claims = []
    for label, order in expected.items():
        found = studies[label].asymptotic[what]
        where = f"h = {found.h[0]:.3g} ... {found.h[-1]:.3g} s" if len(found.h) else "no asymptotic range"
        text = f"{of}order of {label}, {where}"
        claims.append(slope(text, order, found.order, SPREAD * max(1.0, order), why))
    return claims


def failed(study: Study) -> int:
    """The number of runs that did not reach their end."""
    return len(study.failures)


def finest(study: Study, what: str) -> float:
    """The error with the smallest step."""
    return float(study.errors[what][-1])


def apart(one: Study, other: Study, values: Callable[[Study], Array]) -> float:
    """Geometric mean of the ratios of a quantity in two studies, over the steps for which both runs completed."""
    x, y = values(one), values(other)
    both = np.isfinite(x) & np.isfinite(y) & (x > 0) & (y > 0)
    return float(np.exp(np.mean(np.log(x[both] / y[both])))) if both.any() else np.nan


def errors_of(what: str) -> Callable[[Study], Array]:
    """The errors of a study, for `apart`."""
    return lambda study: study.errors[what]


def costs_of(what: str) -> Callable[[Study], Array]:
    """The costs of a study, for `apart`; NaN where the run failed."""
    return lambda study: arrived(study, what)


def time_for(study: Study, what: str, error: float) -> float:
    """Processor time at which the error is reached, between runs by interpolation in logarithms; NaN outside."""
    return _cost_for(study, what, error, study.seconds)


def steps_for(study: Study, what: str, error: float) -> float:
    """Steps per second of the motion at which the error is reached, in the same way."""
    return _cost_for(study, what, error, 1 / study.h)


def _cost_for(study: Study, what: str, error: float, cost: Array) -> float:
    errors = study.errors[what]
    good = np.isfinite(errors) & (errors > 0)
    x, y = np.log(errors[good])[::-1], np.log(cost[good])[::-1]
    if not len(x) or not x.min() <= np.log(error) <= x.max():
        return float("nan")
    return float(np.exp(np.interp(np.log(error), *_ascending(x, y))))


def _ascending(x: Array, y: Array) -> tuple[Array, Array]:
    """Points ordered by x whose y never rises with x: the best that is known to reach each error."""
    order = np.argsort(x)
    return x[order], np.minimum.accumulate(y[order])
