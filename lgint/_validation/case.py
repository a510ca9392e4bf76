"""What a validation case is: numbers of one source on one system, and the function that computes them here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal


@dataclass(frozen=True)
class Number:
    """A number of the source and ours.

    Attributes
    ----------
    what : str
        What it is, with its unit: "tip, x / m".
    reference : str
        As printed, digit by digit.
    ours : float
    within : float, optional
        The difference that counts as agreement; by default one unit in the last digit that is printed.
    why : str
        If the numbers differ, or agree less closely than printed: why. Required if `within` is given.
    wrong : bool
        Whether the printed number is wrong, for which `why` has the evidence; then ours has to differ from it.
    """

    what: str
    reference: str
    ours: float
    within: float | None = None
    why: str = ""
    wrong: bool = False

    def __post_init__(self) -> None:
        if (self.within is not None or self.wrong) and not self.why:
            raise ValueError(f"why: a reason expected where {self.what!r} may differ from what is printed")

    @property
    def difference(self) -> float:
        """Ours less that of the source."""
        return self.ours - float(self.reference)

    @property
    def tolerance(self) -> float:
        """The difference that counts as agreement."""
        return last_digit(self.reference) if self.within is None else self.within

    @property
    def holds(self) -> bool:
        """Whether the numbers agree, or differ where the printed one is wrong."""
        return (abs(self.difference) <= self.tolerance) != self.wrong


def last_digit(printed: str) -> float:
    """One unit in the last digit of a printed number."""
    exponent = Decimal(printed).as_tuple().exponent
    if not isinstance(exponent, int):
        raise ValueError(f"reference: a finite number expected, got {printed!r}")
    return float(Decimal(1).scaleb(exponent))


@dataclass(frozen=True)
class Case:
    """A row of the validation page.

    Attributes
    ----------
    name : str
        Short, for the command line.
    title : str
        The system and what is compared, in one line.
    source : str
        Author, year and where in the work the numbers stand; or the closed form.
    published : bool
        Whether others have published the numbers; otherwise they come from a closed form.
    run : function
        run() -> the numbers.
    """

    name: str
    title: str
    source: str
    published: bool
    run: Callable[[], Sequence[Number]]


def case(
    name: str, *, title: str, source: str, published: bool = True
) -> Callable[[Callable[[], Sequence[Number]]], Case]:
    """Makes a row from the function that it decorates; `catalogue` finds it in the module."""

    def register(run: Callable[[], Sequence[Number]]) -> Case:
        return Case(name, title, source, published, run)

    return register
