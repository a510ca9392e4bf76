"""What pictures and tables of convergence studies have in common."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from lgint._args import Array
from lgint._papers.claims import Claim, slope
from lgint._tools import axes as look
from lgint._tools.study import ABSCISSAE, Comparison, Study

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


class Panel(NamedTuple):
    """A diagram of several studies: errors, iterations or processor times over step sizes, or errors over times."""

    title: str
    studies: Mapping[str, Study]
    what: str
    ylabel: str
    against: str = "h"


COSTS = ("newton_iterations", "seconds")


def draw(*parts: Panel) -> Callable[[Figure], None]:
    """A function that draws panels side by side, with one legend."""

    def paint(figure: Figure) -> None:
        from lgint._tools import convergence  # needs matplotlib, which naming the artifacts does not

        for axes, part in zip(look.panels(figure, 1, len(parts)), parts, strict=True):
            if part.what in COSTS:
                _costs(axes, part)
            else:
                curves = [s.curve(label, part.what, against=part.against) for label, s in part.studies.items()]
                convergence.errors(axes, curves, ABSCISSAE[part.against], part.ylabel)
            axes.set_title(part.title)
        convergence.legend(figure, "upper")

    return paint


def _costs(axes: Axes, part: Panel) -> None:
    lines = {label: (study.h, _arrived(study, part.what)) for label, study in part.studies.items()}
    look.curves(axes, lines)
    if part.what == "seconds":
        look.logarithmic(axes, "h / s", part.ylabel)
    else:
        axes.set(xscale="log", xlabel="h / s", ylabel=part.ylabel)


def _arrived(study: Study, what: str) -> Array:
    """A cost of each run that reached its end, NaN for the others."""
    values = np.array(getattr(study, what), float)
    values[list(study.failures)] = np.nan
    return values


def columns(studies: Mapping[str, Study], *names: str) -> dict[str, ArrayLike]:
    """Columns of a CSV file: setting, step size, and these quantities out of `Study.columns`."""
    found = Comparison(dict(studies)).columns()
    return {"setting": found["setting"], "h (s)": found["h"], **{name: found[name] for name in names}}


def orders(
    studies: Mapping[str, Study], what: str, expected: Mapping[str, float], within: float = 0.2, why: str = ""
) -> list[Claim]:
    """A claim for each study that its errors have an order, which says for which steps that is so."""
    claims = []
    for label, order in expected.items():
        found = studies[label].asymptotic[what]
        where = f"h = {found.h[0]:.3g} ... {found.h[-1]:.3g} s" if len(found.h) else "no asymptotic range"
        claims.append(slope(f"order of {label}, {where}", order, found.order, within, why))
    return claims


def failed(study: Study) -> int:
    """How many runs did not reach their end."""
    return len(study.failures)


def finest(study: Study, what: str) -> float:
    """The error with the smallest step."""
    return float(study.errors[what][-1])


def apart(one: Study, other: Study, values: Callable[[Study], Array]) -> float:
    """Geometric mean of the ratios of a number of two studies, over the steps at which both arrived."""
    x, y = values(one), values(other)
    both = np.isfinite(x) & np.isfinite(y) & (x > 0) & (y > 0)
    return float(np.exp(np.mean(np.log(x[both] / y[both])))) if both.any() else np.nan


def errors_of(what: str) -> Callable[[Study], Array]:
    """The errors of a study, for `apart`."""
    return lambda study: study.errors[what]


def costs_of(what: str) -> Callable[[Study], Array]:
    """The costs of a study, for `apart`; NaN where the run failed."""
    return lambda study: _arrived(study, what)


def time_for(study: Study, what: str, error: float) -> float:
    """Processor time at which the error is reached, between runs by interpolation in logarithms; NaN outside."""
    errors, seconds = study.errors[what], study.seconds
    good = np.isfinite(errors) & (errors > 0)
    x, y = np.log(errors[good])[::-1], np.log(seconds[good])[::-1]
    if not len(x) or not x.min() <= np.log(error) <= x.max():
        return float("nan")
    return float(np.exp(np.interp(np.log(error), *_ascending(x, y))))


def _ascending(x: Array, y: Array) -> tuple[Array, Array]:
    """Points ordered by x whose y never rises with x: the best that is known to reach each error."""
    order = np.argsort(x)
    return x[order], np.minimum.accumulate(y[order])
