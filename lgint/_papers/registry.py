"""What an artifact is: a figure or table of a paper, and the function that makes it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from numpy.typing import ArrayLike

from lgint._papers.claims import Claim
from lgint._papers.pictures import Picture


@dataclass(frozen=True)
class Result:
    """The result of making an artifact.

    Attributes
    ----------
    columns : mapping
        Values (n,) by name with unit: the columns of the CSV file; short columns are filled with blanks.
    claims : list of Claim
        At least one.
    picture : Picture, optional
        None for a table.
    """

    columns: Mapping[str, ArrayLike]
    claims: list[Claim]
    picture: Picture | None = None

    def __post_init__(self) -> None:
        if not self.claims:
            raise ValueError("claims: at least one expected; without a claim nothing is judged")


@dataclass(frozen=True)
class Artifact:
    """A row of the registry.

    Attributes
    ----------
    paper : str
        Key in the bibliography, or "beyond".
    name : str
    shows : str
        One sentence.
    reproduced : str
        The statement that counts as reproduced.
    make : function
        make(quick) -> Result; `quick` takes fewer steps.
    timed : bool
        Whether it measures processor time; it is then made alone.
    ours : str
        What the paper does not say and was chosen here, such as a list of steps; it may be empty.
    """

    paper: str
    name: str
    shows: str
    reproduced: str
    make: Callable[[bool], Result]
    timed: bool = False
    ours: str = ""

    @property
    def key(self) -> str:
        """paper/name."""
        return f"{self.paper}/{self.name}"


def artifact(
    paper: str, name: str, *, shows: str, reproduced: str, timed: bool = False, ours: str = ""
) -> Callable[[Callable[[bool], Result]], Artifact]:
    """Makes a row of the registry from the function that it decorates; `catalogue` finds it in the module."""

    def register(make: Callable[[bool], Result]) -> Artifact:
        return Artifact(paper, name, shows, reproduced, make, timed, ours)

    return register
