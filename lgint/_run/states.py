"""States of a run at its saved times, and what belongs to the run as a whole."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from lgint import _core, _html
from lgint._args import Array
from lgint._model.system import System
from lgint._run.dense import LATER, DenseOutput
from lgint._run.methods import ROWS, shown_options
from lgint._state.bodies import EQUILIBRIUM, UNSTABLE
from lgint._state.mechanics import MechanicsAccessors

PARTS: Final = tuple(_core.PARTS)


@dataclass(frozen=True)
class Stats:
    """The cost of a run.

    Attributes
    ----------
    steps : int
        Accepted steps; each part of a step that was halved is one.
    rejected : int
        Steps that error control rejected.
    failed : int
        Rejected steps that could not be carried out.
    retries : int
        Steps of implicit methods that failed and were tried again at half their size (the option `retry`).
    newton_iterations : int
        Linear solves of Newton's method.
    jacobians : int
        Evaluations of tangents, which are the matrices that Newton's method formed.
    factorisations : int
        Factorisations of matrices.
    newton_factorisations : int or None
        Those by Newton's method: of matrices with tangents, and of the second matrix of stabilised index 2. None
        in files of versions that did not record it.
    mass_factorisations : int or None
        The others, of masses with constraint rows: for accelerations, projections and starts.
    force_evaluations : int
        Evaluations of the forces.
    dense_fallbacks : int
        Factorisations that were left to doubled precision, or to LAPACK's dense one.
    gradients_formed : int
        Gradients that a LagrangianModel was not given and formed by complex steps or differences.
    wall_time : float
        s.
    h_used : float
        The largest step taken, s.
    newton : str or None
        How Newton's method solved the steps, "auto", "full" or "modified"; None if there was nothing to solve.
    least_cosine : float or None
        The least cosine of any body's middle Tait-Bryan angle over all steps; 1 if no body has such angles, None in
        files of versions that did not record it.
    parasitic_rate : float or None
        With "eml", "reml" and "null_eml" the rates of Euler parameters have a part along the parameters, which has no
        meaning. This is the largest value, over all bodies and steps, of this part divided by the largest rates of the
        body so far. It tells how far the alternating error of these methods has grown. None for other methods and for
        systems of functions.
    """

    steps: int = 0
    rejected: int = 0
    failed: int = 0
    retries: int = 0
    newton_iterations: int = 0
    jacobians: int = 0
    factorisations: int = 0
    newton_factorisations: int | None = None
    force_evaluations: int = 0
    dense_fallbacks: int = 0
    gradients_formed: int = 0
    wall_time: float = 0.0
    h_used: float = 0.0
    newton: str | None = None
    least_cosine: float | None = None
    parasitic_rate: float | None = None

    @property
    def mass_factorisations(self) -> int | None:
        return None if self.newton_factorisations is None else self.factorisations - self.newton_factorisations


class Abscissa(NamedTuple):
    """What `t` means, for tables and pictures: times, or the load factors of equilibria."""

    name: str
    plural: str
    label: str  # of an axis
    before: str  # text before a value
    after: str  # and after it
    units: str
    about: str


TIME: Final = Abscissa("time", "times", "t / s", "t = ", " s", "s", "time")
LOAD: Final = Abscissa("load", "load factors", "load factor", "load factor ", "", "1", "factor of the loads")


class States(MechanicsAccessors):
    """States of a run at its saved times, and what follows from them. The attributes are explained in `Trajectory`."""

    method: str
    options: dict[str, Any]
    t: Array
    extra: dict[str, Array]

    _later: Callable[[], dict[str, Array]]  # computes the parts LATER when one is read; absent if they are there

    def __init__(self, model: System, method: str, options: Mapping[str, Any], result: Mapping[str, Any]) -> None:
        self.model = model
        self.method = method
        self.options = dict(options)
        self.t = result["t"]
        self.h: Array = result["h"]
        self.error: Array = result["error"]
        for name in PARTS:
            if name in result:
                setattr(self, name, result[name])
        self.saved: dict[str, Array] = result.get("saved", {})
        self.carry: Array = result["carry"]
        self.extra = _extra(method, result.get("extra"))
        self.end: dict[str, Array] = result["end"]
        self._slopes: Array | None = result.get("derivatives")  # rows of `sensitivity_of`
        self._parameters: list[str] = result.get("parameters", [])
        knots = result["knots"]
        self.sol: DenseOutput | None = None
        if knots and len(knots["t"]):
            explicit = bool(ROWS[method]["explicit"])
            self.sol = DenseOutput(model, knots, float(self.end["t"][-1]), index_1=explicit)
        events = result.get("events") or (None, None, None)
        self.t_events: list[Array] | None = events[0]
        self.q_events: list[Array] | None = events[1]
        self.v_events: list[Array] | None = events[2]
        self.status: int = result.get("status", 0)
        self._counts: Mapping[str, Any] = result["stats"]

    @functools.cached_property
    def stats(self) -> Stats:
        """What the run took."""
        return _stats(self._counts, self.h)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            if name in LATER and "_later" in vars(self):
                vars(self).update(vars(self).pop("_later")())
                return vars(self)[name]
            if name in PARTS:
                raise AttributeError(f"{name} was not kept: the run's argument `save` does not name it")
            raise AttributeError(f"a trajectory has no attribute {name!r}")

    def __len__(self) -> int:
        return len(self.t)

    def __repr__(self) -> str:
        times = f", {self.abscissa.before}{self.t[0]:g} ... {self.t[-1]:g}" if len(self) else ""
        return f"<lgint.Trajectory {self.method}: {len(self)} states{times}>"

    def _repr_html_(self) -> str:
        axis, unit = self.abscissa, self.abscissa.after
        ends = {0: "at its end", 1: "at an event", -1: "by a failure"}
        rows: list[tuple[str, object]] = [
            ("model", repr(self.model)),
            ("options", shown_options(self.method, self.options) or "defaults"),
            ("states", len(self)),
            (axis.plural, f"{self.t[0]:g}{unit} ... {self.t[-1]:g}{unit}" if len(self) else "none"),
            ("ended", ends[self.status]),
            (
                "steps",
                f"{self.stats.steps}, {self.stats.rejected} rejected, {self.stats.retries} retried, "
                f"at most {self.stats.h_used:g}{unit}",
            ),
            ("evaluations", self.stats.force_evaluations),
            ("Newton iterations", f"{self.stats.newton_iterations}, {self.stats.newton or 'no'} Newton"),
            ("wall time", f"{self.stats.wall_time:.3g} s"),
        ]
        return _html.table(f"Trajectory by {self.method}", (), rows)

    @property
    def abscissa(self) -> Abscissa:
        """The names and units of `t`."""
        return LOAD if self.method == EQUILIBRIUM else TIME

    @property
    def _memory(self) -> Array | None:
        """Memory of the system in the states, (n, nmem); None if it was not kept."""
        return vars(self).get("mem")


def _extra(method: str, values: Array | None) -> dict[str, Array]:
    """What the states of a method have in addition to q, v, vdot and lam, by name."""
    name = ROWS[method]["extra"] if method in ROWS else UNSTABLE
    return {name: values} if name and values is not None else {}


_COUNTED: Final = frozenset(field.name for field in fields(Stats))


def _stats(given: Mapping[str, Any], h: Array) -> Stats:
    values = {name: value for name, value in given.items() if name in _COUNTED}
    values.setdefault("force_evaluations", given.get("evaluations", 0))
    if "h_used" not in values:
        values["h_used"] = max(h.tolist(), default=0.0) if len(h) < 100 else float(h.max())
    return Stats(**values)
