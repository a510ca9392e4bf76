"""`drift`: how far quantities that the motion conserves drift in runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from lgint import _html
from lgint._args import Array, choice, for_each, functions_by_name, listing, shown
from lgint._run.trajectory import Trajectory
from lgint._tools import tables

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from pandas import DataFrame

Quantity = Callable[[Trajectory], Any]
Invariants = Sequence[str | Quantity] | Mapping[str, Quantity]

ENERGY = "energy"

# name: the values (n,) or (n, k) of a run, and whether their change since the start is taken or they themselves
Quantities = dict[str, tuple[Quantity, bool]]
_NAMED: Quantities = {
    ENERGY: (lambda run: run.energy(), True),
    "generalized_energy": (lambda run: run.energy("generalized"), True),
    "momentum": (lambda run: run.momentum(), True),
    "angular_momentum": (lambda run: run.angular_momentum(), True),
    "position_residual": (lambda run: run.constraint_residual("position"), False),
    "velocity_residual": (lambda run: run.constraint_residual("velocity"), False),
}


def deviations(run: Trajectory, chosen: Quantities, energy: str | None) -> dict[str, Array]:
    """For each invariant of a run, by name, the largest component (n,) of its deviation from the start.

    `energy` is the kind of energy that the name "energy" stands for, None if it was not requested.
    """
    named: Quantities = {ENERGY: (lambda run: run.energy(energy), True)} if energy else {}
    return {
        name: _deviation(for_each(f"invariants: {name!r}", values(run), len(run)), change)
        for name, (values, change) in {**chosen, **named}.items()
    }


def kind_of_energy(chosen: Quantities, runs: Iterable[Trajectory]) -> str | None:
    """The kind of energy that the name "energy" stands for in all runs; None if it is not requested."""
    return one_kind(run.energy_kind for run in runs) if chosen.get(ENERGY) is _NAMED[ENERGY] else None


def one_kind(kinds: Iterable[str]) -> str:
    """The common kind of several energies; if they differ, the total one, which all states have."""
    different = {*kinds}
    return different.pop() if len(different) == 1 else "total"


def shown_name(name: str, energy: str | None) -> str:
    """The label of an invariant in tables and diagrams; `energy` as in `deviations`."""
    words = name.replace("_", " ")
    return f"{energy} {words}" if energy and name == ENERGY else words


def _deviation(values: Array, change: bool) -> Array:
    flat = np.abs(values - values[:1] if change else values).reshape(len(values), -1)
    return np.asarray(flat.max(axis=1, initial=0.0))


def quantities(invariants: Invariants) -> Quantities:
    """Invariants by their names; ValueError for anything else."""
    if isinstance(invariants, str) or callable(invariants):
        invariants = [invariants]
    if isinstance(invariants, Mapping):
        named = functions_by_name("invariants", invariants)
        return {name: (function, True) for name, function in named.items()}
    if not np.iterable(invariants):
        raise ValueError(
            "invariants: a list of names or functions of a trajectory, or a dict of functions by name, expected, got "
            f"{shown(invariants)}"
        )
    entries = [_entry(entry) for entry in invariants]
    if len(dict(entries)) < len(entries):
        names = listing([name for name, _ in entries])
        raise ValueError(f"invariants: different names expected, got {names}; give functions as a dict by name")
    return dict(entries)


def _entry(entry: str | Quantity) -> tuple[str, tuple[Quantity, bool]]:
    if callable(entry):
        return getattr(entry, "__name__", repr(entry)), (entry, True)
    name = choice("invariants", entry, _NAMED)
    return name, _NAMED[name]


@dataclass(frozen=True, repr=False)
class Drift:
    """How far invariants drifted in each of several runs.

    Attributes
    ----------
    t : dict of ndarray, shape (n,)
        The times of each run by its label, s.
    values : dict of dict of ndarray, shape (n,)
        By the label of each run and the name of each invariant: the largest component of its change since the start of
        the run; of "position_residual" and "velocity_residual" the largest component itself.
    energy_kind : str or None
        The kind of energy that the name "energy" stands for in all runs, "generalized" or "total".
    """

    t: dict[str, Array]
    values: dict[str, dict[str, Array]]
    energy_kind: str | None = None

    @property
    def largest(self) -> dict[str, dict[str, float]]:
        """The largest drift over each run."""
        return self._each(lambda drift: float(np.max(drift)))

    @property
    def last(self) -> dict[str, dict[str, float]]:
        """The drift at the end of each run."""
        return self._each(lambda drift: float(drift[-1]))

    def _each(self, number: Callable[[Array], float]) -> dict[str, dict[str, float]]:
        return {label: {name: number(drift) for name, drift in run.items()} for label, run in self.values.items()}

    @property
    def names(self) -> list[str]:
        """Names of the invariants."""
        return list(dict.fromkeys(name for run in self.values.values() for name in run))

    def __repr__(self) -> str:
        return f"<lgint.Drift {', '.join(self.names)}: {len(self.values)} runs>"

    def __str__(self) -> str:
        return tables.text(self._title(), self._head(), self._rows())

    def _repr_html_(self) -> str:
        return _html.table(self._title(), self._head(), self._rows())

    def _labels(self) -> list[str]:
        return [shown_name(name, self.energy_kind) for name in self.names]

    def _title(self) -> str:
        return "drift over the run, and at its end"

    def _head(self) -> list[str]:
        return ["run", *(cell for name in self._labels() for cell in (name, "at the end"))]

    def _rows(self) -> list[list[str]]:
        largest, last = self.largest, self.last
        cells = [[[largest[label].get(name), last[label].get(name)] for name in self.names] for label in self.values]
        texts = [[_shown(number) for pair in row for number in pair] for row in cells]
        return [[label, *row] for label, row in zip(self.values, texts, strict=True)]

    def to_pandas(self) -> DataFrame:
        """One row for each run and time, with a column for each invariant; needs pandas.

        Returns
        -------
        pandas.DataFrame
            With the index (run, t).
        """
        labels = [label for label, t in self.t.items() for _ in t]
        columns: dict[str, Any] = {"run": labels, "t": np.concatenate(list(self.t.values()))}
        for name in self.names:
            runs = [self.values[label].get(name, np.full(len(t), np.nan)) for label, t in self.t.items()]
            columns[name] = np.concatenate(runs)
        return tables.frame(columns, ["run", "t"])

    def plot(self, *, ax: Axes | None = None) -> Figure:
        """The drift of each invariant over time, on a logarithmic axis; needs matplotlib.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Axes in which to draw; there must be only one invariant.

        Returns
        -------
        matplotlib.figure.Figure
            The figure, which notebooks show and `savefig` saves.

        Raises
        ------
        ValueError
            For `ax` with several invariants.
        """
        from lgint._tools import convergence

        return convergence.over_time(self.t, self.values, dict(zip(self.names, self._labels(), strict=True)), ax)


def _shown(number: float | None) -> str:
    return "" if number is None else f"{number:.3e}"


def drift(runs: Trajectory | Mapping[str, Trajectory], invariants: Invariants = ("energy",)) -> Drift:
    """How far quantities that the motion conserves drift in one or several runs.

    Parameters
    ----------
    runs : Trajectory or mapping of str to Trajectory
        One run, which is labelled by its method, or several runs with labels. Their saved states are evaluated.
    invariants : sequence or mapping
        The names "energy", "generalized_energy", "momentum", "angular_momentum", "position_residual" and
        "velocity_residual" (of the constraints), and functions of a trajectory that give (n,) or (n, k) values, a row
        for each state; or a mapping of names to such functions. "energy" stands for the same kind in all runs, which
        labels name: the generalized energy if all have it, as runs of energy-momentum methods do, otherwise the total
        one.

    Returns
    -------
    Drift
        `print` it for a table, `plot` it, or take `.largest` for numbers.

    Raises
    ------
    ValueError
        For anything but trajectories with states, unknown names of invariants, and functions without a real value for
        each state.
    """
    if not isinstance(runs, (Trajectory, Mapping)):
        raise ValueError(f"runs: a trajectory, or a mapping of labels to trajectories, expected, got {shown(runs)}")
    named = {runs.method: runs} if isinstance(runs, Trajectory) else dict(runs)
    for label, run in named.items():
        if not isinstance(run, Trajectory) or not len(run):
            raise ValueError(f"runs: trajectories with states expected, got {run!r} as {label!r}")
    chosen = quantities(invariants)
    kind = kind_of_energy(chosen, named.values())
    return Drift(
        {label: run.t for label, run in named.items()},
        {label: deviations(run, chosen, kind) for label, run in named.items()},
        kind,
    )
