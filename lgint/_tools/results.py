"""`Study` and `Comparison`: the results of studies, with tables, data frames and diagrams."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from lgint import _html
from lgint._args import Array, choice
from lgint._run.trajectory import Trajectory
from lgint._tools import tables
from lgint._tools.drifts import shown_name
from lgint._tools.orders import Asymptotic, asymptotic, between

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from pandas import DataFrame

    from lgint._tools.convergence import Curve

ABSCISSAE = {"h": "h / s", "steps": "steps", "seconds": "processor time / s", "tolerance": "rtol"}


@dataclass(frozen=True, repr=False)
class Study:
    """Errors, observed orders and costs of one method with several step sizes or tolerances.

    Attributes
    ----------
    method : str
        Name of the method.
    options : dict
        Its options.
    order : int
        The method's nominal order for q, v and the multipliers.
    h : ndarray, shape (n,)
        Sizes of the steps taken, s: each interval is cut into equal steps, at most as long as the given one. If they
        differ, as between stops, this is the largest one; for runs with error control it is the mean. Orders are slopes
        over these sizes.
    tolerance : ndarray, shape (n,), or None
        The relative tolerances of runs with error control.
    errors : dict of ndarray, shape (n,)
        Errors at the end of the runs: the largest components for "q" (in local coordinates), "v" and "lam". If the
        reference stores its bodies differently, "q" is their position and rotation vector, m and rad, and "v" their
        inertial velocity and angular velocity in body axes; "lam" exists only if formulations and rows are the same.
        The errors of observables are Euclidean norms, by their names. Runs that failed have NaN.
    maxima : dict of ndarray, shape (n,)
        The largest such errors over the run, if they were requested.
    drifts : dict of ndarray, shape (n,)
        The largest drift of each invariant over the run.
    energy_kind : str or None
        The kind of energy that the name "energy" stands for among the invariants: "generalized" or "total".
    seconds : ndarray, shape (n,)
        Processor time of the runs, s.
    trajectories : tuple of Trajectory
        The runs; a run that failed has what was computed.
    failures : dict of int to str
        The messages of the runs that failed, by their indices.
    """

    method: str
    options: dict[str, Any]
    order: int
    h: Array
    errors: dict[str, Array]
    trajectories: tuple[Trajectory, ...]
    tolerance: Array | None = None
    maxima: dict[str, Array] = field(default_factory=dict)
    drifts: dict[str, Array] = field(default_factory=dict)
    seconds: Array = field(default_factory=lambda: np.empty(0))
    failures: dict[int, str] = field(default_factory=dict)
    energy_kind: str | None = None

    @property
    def orders(self) -> dict[str, Array]:
        """Observed orders (n - 1,) between neighbours: log of the ratio of errors divided by that of steps."""
        return {name: between(self.h, error) for name, error in self.errors.items()}

    @property
    def asymptotic(self) -> dict[str, Asymptotic]:
        """The order (`.order`) of each quantity in its asymptotic range, and the step sizes of that range (`.h`)."""
        return {name: asymptotic(self.h, error) for name, error in self.errors.items()}

    @property
    def _drift_labels(self) -> dict[str, str]:
        """What tables and diagrams call the drifts."""
        return {name: f"drift of {shown_name(name, self.energy_kind)}" for name in self.drifts}

    @property
    def steps(self) -> Array:
        """Steps (n,) that the runs took."""
        return np.array([run.stats.steps for run in self.trajectories])

    @property
    def newton_iterations(self) -> Array:
        """Mean number of Newton iterations (n,) per step."""
        return np.array([run.stats.newton_iterations / max(run.stats.steps, 1) for run in self.trajectories])

    def __str__(self) -> str:
        return tables.text(self._caption(), self._head(), self._rows())

    def __repr__(self) -> str:
        return f"<lgint.Study {self._title()}: h = {self.h[0]:.3g} ... {self.h[-1]:.3g}>"

    def _repr_html_(self) -> str:
        return _html.table(self._caption(), self._head(), self._rows())

    def _title(self) -> str:
        shown = ", ".join(f"{key}={value}" for key, value in self.options.items())
        return f"{self.method}({shown}), order {self.order}"

    def _caption(self) -> str:
        found = [f"{name} {order}" for name, order in self.asymptotic.items() if len(order.h)]
        return self._title() + ("; observed " if found else "") + ", ".join(found)

    def _head(self) -> list[str]:
        head = ["h"] if self.tolerance is None else ["rtol"]
        for name in self.errors:
            head += [f"error in {name}", "order"] + ([f"most in {name}"] if name in self.maxima else [])
        return [*head, *self._drift_labels.values(), "steps", "time / s"]

    def _rows(self) -> list[list[str]]:
        first = self.h if self.tolerance is None else self.tolerance
        return [[f"{value:.3g}", *self._cells(i)] for i, value in enumerate(first)]

    def _cells(self, i: int) -> Iterator[str]:
        for name, orders in self.orders.items():
            yield f"{self.errors[name][i]:.3e}"
            yield f"{orders[i - 1]:.2f}" if i else ""
            if name in self.maxima:
                yield f"{self.maxima[name][i]:.3e}"
        yield from (f"{drift[i]:.3e}" for drift in self.drifts.values())
        yield f"{self.steps[i]}"
        yield f"{self.seconds[i]:.3g}"

    def to_pandas(self) -> DataFrame:
        """A row for each run with its errors, drifts and costs; needs pandas.

        Returns
        -------
        pandas.DataFrame
            With the index "h".
        """
        return tables.frame(self.columns(), ["h"])

    def columns(self) -> dict[str, Array]:
        """What `to_pandas` holds, as arrays.

        Returns
        -------
        dict of ndarray, shape (n,)
            By name.
        """
        found = {"h": self.h, **({} if self.tolerance is None else {"tolerance": self.tolerance})}
        for title, values in (("error", self.errors), ("maximum", self.maxima), ("drift", self.drifts)):
            found |= {f"{title}_{name}": column for name, column in values.items()}
        return found | {"steps": self.steps, "newton_iterations": self.newton_iterations, "seconds": self.seconds}

    def plot(
        self, what: str | None = None, *, against: str = "h", maximum: bool = False, ax: Axes | None = None
    ) -> Figure:
        """The errors on logarithmic axes, with triangles for the observed orders; needs matplotlib.

        Parameters
        ----------
        what : str, optional
            One quantity: "q", "v", "lam", or the name of an observable or an invariant. Default: all of them.
        against : {"h", "steps", "seconds", "tolerance"}
            The abscissa; with "seconds" the plot is a work-precision diagram.
        maximum : bool
            Show the largest errors over the run instead of those at its end.
        ax : matplotlib axes, optional
            Axes in which to draw one quantity.

        Returns
        -------
        matplotlib.figure.Figure
            The figure, which notebooks show and `savefig` saves.

        Raises
        ------
        ValueError
            For a quantity that the study does not have, and for `ax` with several quantities.
        """
        return Comparison({self.method: self}).plot(what, against=against, maximum=maximum, ax=ax)

    def curve(self, label: str, what: str, *, against: str = "h", maximum: bool = False) -> Curve:
        """One quantity as a line of a diagram.

        Parameters
        ----------
        label : str
            Label of the line.
        what : str
            One quantity: "q", "v", "lam", or the name of an observable or an invariant.
        against : {"h", "steps", "seconds", "tolerance"}
            The abscissa; with "seconds" the plot is a work-precision diagram.
        maximum : bool
            Show the largest errors over the run instead of those at its end.

        Returns
        -------
        Curve
            Its points, and the range in which it shows its order.
        """
        from lgint._tools.convergence import Curve

        y = self.drifts[what] if what in self.drifts else (self.maxima if maximum else self.errors)[what]
        found = asymptotic(self.h, y) if against == "h" else Asymptotic(np.nan, self.h[:0])
        implicit = any(run.stats.newton_iterations for run in self.trajectories)
        return Curve(label, self._abscissa(against), y, implicit, found.order, found.h)

    def _abscissa(self, against: str) -> Array:
        choice("against", against, ABSCISSAE)
        if against == "tolerance" and self.tolerance is None:
            raise ValueError('against: a study of fixed steps has no tolerances; choose "h", "steps" or "seconds"')
        return np.asarray(getattr(self, against), float)


@dataclass(frozen=True, repr=False)
class Comparison(Mapping[str, Study]):
    """Several studies with labels: `comparison[label]` is one of them.

    Attributes
    ----------
    studies : dict of Study
        The studies by their labels.
    failures : dict of str
        The messages of settings without a study by their labels, if failures are kept.
    """

    studies: dict[str, Study]
    failures: dict[str, str] = field(default_factory=dict)

    def __getitem__(self, label: str) -> Study:
        return self.studies[label]

    def __iter__(self) -> Iterator[str]:
        return iter(self.studies)

    def __len__(self) -> int:
        return len(self.studies)

    def __repr__(self) -> str:
        return f"<lgint.Comparison of {len(self)} studies>"

    def __str__(self) -> str:
        made = [f"{label}: {study}" for label, study in self.items()]
        return "\n\n".join([*made, *(f"{label}: {message}" for label, message in self.failures.items())])

    def _repr_html_(self) -> str:
        made = [
            _html.table(f"{label}: {study._caption()}", study._head(), study._rows()) for label, study in self.items()
        ]
        return "\n".join([*made, *(f"<p>{escape(f'{label}: {text}')}</p>" for label, text in self.failures.items())])

    def to_pandas(self) -> DataFrame:
        """A row for each run with its errors, drifts and costs; needs pandas.

        Returns
        -------
        pandas.DataFrame
            With the index (setting, h).
        """
        return tables.frame(self.columns(), ["setting", "h"])

    def columns(self) -> dict[str, Any]:
        """What `to_pandas` holds, as arrays.

        Returns
        -------
        dict of ndarray or list
            By name; NaN where a study does not have a quantity.
        """
        parts = [study.columns() for study in self.values()]
        names = dict.fromkeys(name for part in parts for name in part)
        found: dict[str, Any] = {"setting": [label for label, study in self.items() for _ in study.h]}
        for name in names:
            found[name] = np.concatenate([part.get(name, np.full(len(part["h"]), np.nan)) for part in parts])
        return found

    def plot(
        self, what: str | None = None, *, against: str = "h", maximum: bool = False, ax: Axes | None = None
    ) -> Figure:
        """Errors on logarithmic axes, a line for each study, with triangles for the observed orders; needs matplotlib.

        Implicit methods are dashed. Each triangle has the slope of the order that the line beside it shows in its
        asymptotic range.

        Parameters
        ----------
        what : str, optional
            One quantity: "q", "v", "lam", or the name of an observable or an invariant. Default: all of them.
        against : {"h", "steps", "seconds", "tolerance"}
            The abscissa; with "seconds" the plot is a work-precision diagram.
        maximum : bool
            Show the largest errors over the run instead of those at its end.
        ax : matplotlib axes, optional
            Axes in which to draw one quantity.

        Returns
        -------
        matplotlib.figure.Figure
            The figure, which notebooks show and `savefig` saves.

        Raises
        ------
        ValueError
            For a quantity that the study does not have, and for `ax` with several quantities.
        """
        from lgint._tools import convergence

        known = self._quantities(maximum)
        names = list(known) if what is None else [choice("what", what, known)]

        def draw(panel: Axes, name: str) -> None:
            curves = [
                study.curve(label, name, against=against, maximum=maximum)._replace(look=look)
                for look, (label, study) in enumerate(self.items())
                if name in study.errors or name in study.drifts
            ]
            convergence.errors(panel, curves, ABSCISSAE[choice("against", against, ABSCISSAE)], known[name])

        return convergence.panels(names, draw, ax)

    def _quantities(self, maximum: bool) -> dict[str, str]:
        """Name and label of every quantity that at least one study has."""
        kind = "largest error" if maximum else "error"
        found: dict[str, str] = {}
        for study in self.values():
            found |= {name: f"{kind} in {name}" for name in (study.maxima if maximum else study.errors)}
            found |= study._drift_labels
        if not found:
            raise ValueError("maximum: these studies have no errors over the run; make them with maximum=True")
        return found
