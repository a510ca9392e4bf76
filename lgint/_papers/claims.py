"""Claims: a statement of a paper, our number for it, and a rule that decides whether the two agree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

ABOUT = 10**0.5  # largest factor between numbers that are "about" the same
VERDICTS = ("reproduced", "differs", "not resolved")


@dataclass(frozen=True)
class Claim:
    """A statement of a paper and whether it holds here.

    Attributes
    ----------
    text : str
        What is claimed.
    paper : str
        The paper's value, as text.
    ours : str
        The value found here.
    holds : bool
    why : str
        Why it does not hold, if that is known; empty if it holds.
    resolved : bool
        Whether the run is fine enough to refute it. A full run always is.
    """

    text: str
    paper: str
    ours: str
    holds: bool
    why: str = ""
    resolved: bool = True

    @property
    def verdict(self) -> str:
        """One of `VERDICTS`."""
        failed = "differs" if self.resolved else "not resolved"
        return "reproduced" if self.holds else failed

    def __str__(self) -> str:
        reason = f" ({self.why})" if self.why else ""
        return f"{self.verdict}: {self.text}: paper {self.paper}, here {self.ours}{reason}"


def verdict(claims: Sequence[Claim]) -> str:
    """The verdict on an artifact with these claims: the worst one, "differs" before "not resolved"."""
    found = {claim.verdict for claim in claims}
    return next(word for word in ("differs", "not resolved", "reproduced") if word in found)


def needs_full_run(*claims: Claim) -> list[Claim]:
    """Claims that a quick run, which is too short or too coarse, can confirm but not refute."""
    return [replace(claim, resolved=False) for claim in claims]


def of_full_run(claims: Sequence[Claim]) -> list[Claim]:
    """The claims of a full run, which can confirm and refute all of them."""
    return [replace(claim, resolved=True) for claim in claims]


def slope(text: str, paper: float, ours: float, within: float = 0.15, why: str = "") -> Claim:
    """An order of convergence that agrees with the paper's up to `within`."""
    return _claim(text, f"{paper:g}", _shown(ours, ".2f"), abs(ours - paper) <= within, why)


def close(text: str, paper: ArrayLike, ours: ArrayLike, rel: float, why: str = "") -> Claim:
    """Numbers whose relative difference from the paper's is at most `rel`; the worst one of several is shown."""
    theirs, found = np.atleast_1d(np.asarray(paper, float)), np.atleast_1d(np.asarray(ours, float))
    error = np.abs(found - theirs) / np.abs(theirs)
    worst = int(np.argmax(np.where(np.isnan(error), np.inf, error)))
    return _claim(text, f"{theirs[worst]:.6g}", _shown(found[worst], ".6g"), bool(error[worst] <= rel), why)


def equal(text: str, paper: int, ours: int, why: str = "") -> Claim:
    """Whole numbers that are the same."""
    return _claim(text, str(paper), str(ours), paper == ours, why)


def within_factor(text: str, paper: float, ours: float, factor: float = ABOUT, why: str = "") -> Claim:
    """Positive numbers of about the same size: their ratio is between 1/factor and factor."""
    with np.errstate(divide="ignore", invalid="ignore"):
        distance = abs(np.log(ours / paper))
    stated = f"about {paper:.3g} (within a factor of {factor:.2g})"
    return _claim(text, stated, _shown(ours), bool(distance <= np.log(factor)), why)


def less(text: str, smaller: float, larger: float, times: float = 1.0, why: str = "") -> Claim:
    """The first number is smaller than the second by at least the factor `times`."""
    wanted = "first < second" if times == 1.0 else f"first < second / {times:g}"
    return _claim(text, wanted, f"{_shown(smaller)} and {_shown(larger)}", smaller * times < larger, why)


def ratio(text: str, paper: float, over: float, under: float, rel: float = 0.1, why: str = "") -> Claim:
    """A ratio of two numbers that agrees with the paper's up to `rel`."""
    return close(text, paper, over / under, rel, why)


ALIKE = 1.03  # numbers count as alike if their ratio is at most this


def contrast(text: str, paper: float, ours: float, why: str = "") -> Claim:
    """A ratio that agrees with the paper's.

    If the paper's numbers are alike, ours must be, too. Otherwise the logarithm of our ratio must be between half and
    twice that of the paper's, with the same sign.
    """
    theirs, found = np.log(paper), np.log(ours)
    if abs(theirs) <= np.log(ALIKE):
        return _claim(text, f"{paper:.3g}, alike", _shown(ours), bool(abs(found) <= np.log(ALIKE)), why)
    return _claim(text, f"{paper:.3g}", _shown(ours), bool(0.5 <= found / theirs <= 2), why)


def below(text: str, value: float, bound: float, why: str = "") -> Claim:
    """A number that is at most the bound."""
    return _claim(text, f"at most {bound:.3g}", _shown(value), value <= bound, why)


def above(text: str, value: float, bound: float, why: str = "") -> Claim:
    """A number that is at least the bound."""
    return _claim(text, f"at least {bound:.3g}", _shown(value), value >= bound, why)


def _claim(text: str, paper: str, ours: str, holds: bool, why: str) -> Claim:
    return Claim(text, paper, ours, bool(holds), "" if holds else why, resolved=NONE not in ours)


NONE = "none"  # shown for a number that the run does not provide


def _shown(number: float, form: str = ".3g") -> str:
    return NONE if np.isnan(number) else format(number, form)


def fitted(steps: ArrayLike, errors: ArrayLike) -> float:
    """Slope of the line through errors over steps on doubly logarithmic scales."""
    h, error = np.log(np.asarray(steps, float)), np.log(np.asarray(errors, float))
    return float(np.polyfit(h, error, 1)[0])
