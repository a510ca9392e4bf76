"""`Trajectory`, the result of `integrate`: states and their diagnostics, files and pictures."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from os import PathLike
from types import NoneType
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import ArrayLike

from lgint import _core
from lgint._args import Array, array, choice, number, path_of, shown
from lgint._model.lagrangian import rebuilt
from lgint._model.system import System
from lgint._run import files, folder, tables
from lgint._run.dense import KNOT, OWN
from lgint._run.memory import completed, layout_of
from lgint._run.methods import ROWS
from lgint._run.sensitivity import Sensitivity, derivative, sensitivity_of, slopes_inside, slopes_width
from lgint._run.states import PARTS, States
from lgint._state.bodies import EQUILIBRIUM
from lgint._state.state import CARRY, Parts, State, read_only
from lgint._state.state import PARTS as STATE_PARTS

if TYPE_CHECKING:
    from matplotlib.animation import FuncAnimation
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from pandas import DataFrame
    from xarray import Dataset

    from lgint._run.cameras import Plane
    from lgint._run.view import View

OPTIONAL_STATS: Final = {
    "newton": (str, NoneType),
    **dict.fromkeys(("least_cosine", "newton_factorisations", "parasitic_rate"), (int, float, NoneType)),
}
STEP: Final = tuple(_core.COLUMNS[: _core.COLUMNS.index("extra")])
STATE: Final = (*STEP, *PARTS)
SLOPES: Final = "derivatives"  # by parameters, in results and in files
SAVED: Final = "saved_"  # in files, before the names of saved quantities


class Trajectory(States):
    """States of a run at its saved times.

    Attributes
    ----------
    model : Model, CallableModel or LagrangianModel
    method : str
    options : dict
        The value of every option of the method: as given to `integrate`, as inherited from the run that was resumed, or
        the default of the version that made the run. None: the method decides, as the option's text says.
    t : ndarray, shape (n,)
        Times, s; after `lgint.equilibrium`, factors of the loads.
    h : ndarray, shape (n,)
        Sizes of the steps that led to these times, 0 at the start, s; after `lgint.equilibrium`, by how much the last
        load step raised the factor.
    error : ndarray, shape (n,)
        Errors of these steps, as norms divided by the tolerance, at most 1; NaN without error control.
    q : ndarray, shape (n, nq)
        Coordinates in the model's formulation.
    v : ndarray, shape (n, nv)
        Velocities in the model's formulation.
    vdot : ndarray, shape (n, nv)
        Accelerations, the derivatives of the velocities.
    lam : ndarray, shape (n, nc)
        Multipliers of the constraint rows.
    row_names : list of str
        Names of the multipliers' rows.
    extra : dict
        What else the states of the method have: "p", the momenta (n, nv) of methods that carry them.
    sol : DenseOutput or None
        The solution at any time, if the run was made with `dense_output`.
    t_events : list of ndarray, or None
        For each event function the times of its events, (k,).
    q_events : list of ndarray, or None
        For each event function the coordinates there, (k, nq).
    v_events : list of ndarray, or None
        For each event function the velocities there, (k, nv).
    status : int
        0: the run reached its end; 1: an event ended it; -1: it failed.
    end : dict
        The end of the run, from which `start=` continues: `t`, `q`, `v`, ... as above with n = 1. With `t_eval`, `at`
        and indices it may differ from the last state that is kept.
    saved : dict
        The quantities that the argument `save` of `integrate` defines, by name, with a value for each state.
    stats : Stats
        The cost of the run.
    """

    # ---- derivatives ----

    @property
    def sensitivity(self) -> Sensitivity | None:
        """Derivatives of the states by the parameters that `integrate(..., sensitivity=)` names; None without them.

        `parameters` has their names, `dq`, `dv`, `dvdot` (n, nv, p) and `dlam` (n, nc, p) the derivatives. Those of q
        are left-trivialised: a change dp moves q to q exp(dq dp), block by block. `dmem` has those of the values that
        sampled controls hold, and of bristles of contacts: (n, nmem, p), in the places of `mem`, or (n, 0, p) in a
        model without both. Units: those of v times s, of v, vdot, lam and of the memory, over that of the parameter.
        """
        return None if self._slopes is None else sensitivity_of(self._parameters, self._slopes, self.model)

    def derivative(self, accessor: str, *arguments: Any, **keywords: Any) -> Array:
        """Derivatives of what a method of the trajectory gives by the parameters of its `sensitivity`.

        They follow from those of the states by differences of the sixth order along them, which leave about 1e-11 of
        the largest value; the explicit influence of a parameter, such as that of a mass on the energy, is included.

        Parameters
        ----------
        accessor : str
            Name of the method: ``run.derivative("position", "tip")``.
        *arguments, **keywords
            Its arguments.

        Returns
        -------
        ndarray, shape (n, ..., p)
            With the unit of the quantity over that of the parameter, along the last axis.

        Raises
        ------
        ValueError
            Without sensitivities, and for anything but a method with a value for each state.
        """
        return derivative(self, accessor, arguments, keywords)

    # ---- chosen states ----

    def at(self, times: ArrayLike) -> Trajectory:
        """The trajectory at other times, by dense output; the run must have been made with `dense_output=True`.

        Parameters
        ----------
        times : array_like, shape (n,) or ()
            Increasing times within the run, s.

        Returns
        -------
        Trajectory
            With the same accessors, and with what belongs to the run as a whole: `stats`, `sol`, events, and the
            `end` from which it can be resumed. `h` is the size of the step in which a time lies, and `error` is NaN.

        Raises
        ------
        ValueError
            Without dense output, and for times that do not increase or lie outside the run.
        """
        if self.sol is None:
            raise ValueError("at: this trajectory has no dense output; integrate with dense_output=True")
        wanted = np.atleast_1d(array("times", times))
        if wanted.ndim != 1 or (np.diff(wanted) <= 0).any():
            raise ValueError(f"times: increasing times expected, got {shown(times)}")
        if wanted.size and not (wanted[0] >= self.sol.t_min and wanted[-1] <= self.sol.t_max):
            raise ValueError(
                f"times: times between {self.sol.t_min:g} and {self.sol.t_max:g} expected, got {shown(times)}"
            )
        found = self._with({**self.sol.states(wanted), "error": np.full(wanted.size, np.nan)})
        found._later = partial(self.sol.later, wanted)
        found._parameters = self._parameters
        found._add_slopes()
        return found

    def _add_slopes(self) -> None:
        """Takes the derivatives of its states from dense output, if that has them."""
        if self.sol is not None and SLOPES in self.sol.knots:
            self._slopes = slopes_inside(self, self.sol, self.t)

    def __getitem__(self, index: int | slice | ArrayLike) -> Trajectory:
        """Some of the states, as a trajectory: `run[0]`, `run[-1]`, `run[::10]`, `run[run.t > 0.5]`.

        What belongs to the run as a whole stays: `stats`, `sol`, events, and the `end` from which it can be resumed.

        Parameters
        ----------
        index : int, slice or array_like
            A whole number, a slice that goes forward, a mask (n,) of True and False, or increasing whole numbers.

        Returns
        -------
        Trajectory
            With the chosen states.

        Raises
        ------
        ValueError
            For any other index.
        IndexError
            For a number that is not among the states.
        """
        rows = self._rows(index)
        columns = {name: getattr(self, name)[rows] for name in self._parts}
        chosen = self._with({**columns, **{name: values[rows] for name, values in self.extra.items()}})
        chosen.saved = {name: values[rows] for name, values in self.saved.items()}
        chosen._parameters = self._parameters
        chosen._slopes = None if self._slopes is None else self._slopes[rows]
        return chosen

    def state(self, index: int | None = None, *, t: float | None = None) -> State:
        """One of the states, as a `State`: it has the same accessors, without the first axis.

        Parameters
        ----------
        index : int, optional
            Its number; negative numbers count from the end.
        t : float, optional
            Its time instead, s: one of the saved times or, with dense output, any time of the run.

        Returns
        -------
        State
            It refers to the run. The last state of a run also has what the next step depends on, so that a run from
            `model.with_state(state)` continues this one.

        Raises
        ------
        ValueError
            Unless either a whole number or a time is given, and for a time that was not saved without dense output.
        IndexError
            For a number that is not among the states.
        """
        if (index is None) == (t is None):
            raise ValueError("state: the number of a state, state(10), or its time, state(t=0.5), expected")
        if t is not None:
            return self._state_at(number("t", t))
        if isinstance(index, bool) or not isinstance(index, (int, np.integer)):
            raise ValueError(f"index: a whole number expected, got {shown(index)}; state(t=0.5) takes a time")
        count = len(self.t)
        if not -count <= index < count:
            raise IndexError(f"index: {index} is not one of the {count} states")
        return State(self, int(index) % count)

    def _state_at(self, t: float) -> State:
        """The state at a time, as it was saved or by dense output."""
        row = int(np.searchsorted(self.t, t))
        if row < len(self) and self.t[row] == t:
            return State(self, row)
        if self.sol is None:
            raise ValueError(f"t: no state was saved at {t:g}; integrate with dense_output=True, or with t in t_eval")
        return State(self.at(t))

    def _part(self, row: int, name: str) -> Any:
        """A part of one of the states, for `State`."""
        own = self.__dict__
        if name == "t":
            return own["t"].item(row)
        if name in PARTS and name in own:
            found = own[name][row]
            found.setflags(write=False)
            return found
        if name == "extra":
            return {key: read_only(values[row]) for key, values in self.extra.items()}
        at_end = row == len(self.t) - 1 and self.t[row] == self.end["t"][-1]
        if name == CARRY:
            if not (at_end and self.carry.size) or self._parameters:  # the carry also has derivatives
                raise AttributeError("only the last state of a run has carry")
            return read_only(self.carry)
        if at_end and getattr(self, name, None) is None:
            return read_only(self.end[name][-1])
        return read_only(getattr(self, name)[row])

    def _enter(self, row: int, known: dict[str, Any]) -> None:
        """Enters those of t, q and v that a state has, and what all states have in common."""
        own = self.__dict__
        known["t"], known["model"], known["method"] = own["t"].item(row), own["model"], own["method"]
        for name in ("q", "v"):
            if name in own:
                part = known[name] = own[name][row]
                part.setflags(False)

    def _single(self, row: int) -> Parts:
        """One of the states alone, for `State`."""
        found = {}
        for name in (*STATE_PARTS, CARRY):
            with suppress(AttributeError):
                found[name] = self._part(row, name)
        return Parts(self.model, found, "the run has not kept it", self.method, self.options)

    def _rows(self, index: Any) -> Any:
        """The index that NumPy uses for rows; a ValueError if it would change their order."""
        if isinstance(index, slice):
            if not (isinstance(index.step, (int, np.integer, type(None))) and (index.step is None or index.step > 0)):
                raise ValueError(f"index: states go forward in time; a positive step expected, got {index.step}")
            if not all(end is None or hasattr(end, "__index__") for end in (index.start, index.stop)):
                raise ValueError(f"index: whole numbers expected, got {index}; run[run.t > 0.5] selects by time")
            return index
        if isinstance(index, (int, np.integer)) and not isinstance(index, bool):
            if not -len(self) <= index < len(self):
                raise IndexError(f"index: {index} is not one of the {len(self)} states")
            return slice(index % len(self), index % len(self) + 1)
        given = np.empty(()) if isinstance(index, tuple) else np.asarray(index)
        if given.shape == (len(self),) and given.dtype == bool:
            return given
        if given.ndim == 1 and given.dtype.kind in "iu":
            rows = np.arange(len(self))[given]
            if (np.diff(rows) > 0).all():
                return rows
        raise ValueError(
            "index: a whole number, a slice, a mask with a value for each state, or increasing whole numbers expected, "
            f"got {shown(index)}"
        )

    def _with(self, columns: Mapping[str, Array]) -> Trajectory:
        """The same run with other states."""
        rest = {name: values for name, values in columns.items() if name in STATE}
        extra = [columns[name] for name in columns.keys() - rest.keys()]
        result: dict[str, Any] = {**rest, "carry": self.carry, "end": self.end, "status": self.status}
        result |= {"extra": extra[0]} if extra else {}
        result |= {"knots": self.sol.knots if self.sol else None, "stats": vars(self.stats)}
        if self.t_events is not None:
            result["events"] = (self.t_events, self.q_events, self.v_events)
        return Trajectory(self.model, self.method, self.options, result)

    @property
    def _parts(self) -> list[str]:
        """Names of the parts of the states that were kept, times and steps included."""
        return [name for name in STATE if hasattr(self, name)]

    # ---- tables ----

    def to_xarray(self) -> Dataset:
        """An xarray Dataset with the times and the names of coordinates, constraint rows, bodies and joints as labels.

        It holds `h`, `error`, `q`, `v`, `vdot`, `lam`, the momenta "p" if the method has them, and the energies; for
        bodies "position", "quaternion", "velocity" and "angular_velocity", for joints "joint_angle". Attributes give
        units and meaning. The coordinates of a body are labelled by its name and a number, those of a tree by the names
        of its joints. The first axis is "time", or "load" after `lgint.equilibrium`.

        Returns
        -------
        xarray.Dataset
            With one variable for each quantity.
        """
        return tables.dataset(self)

    def to_pandas(self) -> DataFrame:
        """A pandas DataFrame with a row for each state and the columns of `to_xarray`.

        A column has a quantity, a name and a component: `table["position", "top", "z"]`, `table["q", "top[0]", ""]`,
        `table["kinetic_energy", "", ""]`. `table.attrs["units"]` gives the units by quantity.

        Returns
        -------
        pandas.DataFrame
            With the index "time", or "load" after `lgint.equilibrium`.
        """
        return tables.frame(self)

    # ---- files ----

    def save(self, path: str | PathLike[str]) -> None:
        """Writes an .npz file that `lgint.load` reads, with the model's record, so that every accessor works again.

        Python functions inside the model are not saved: they raise when the loaded model calls them. An existing
        file of that name is replaced when the new one is complete, and is kept if writing fails.

        Parameters
        ----------
        path : str or path
            Name of the file, with its suffix ".npz", or without one.

        Raises
        ------
        ValueError
            For another suffix.
        """
        about = {
            "method": self.method,
            "options": self.options,
            "stats": vars(self.stats),
            "model": type(self.model).__name__,
            "record": self.model.record(),
            "memory": layout_of(self.model),
            "status": self.status,
            "parts": self._parts,
            "events": None if self.t_events is None else len(self.t_events),
        }
        about |= {"parameters": self._parameters} if self._parameters else {}
        tables = "to_pandas() and to_xarray() give tables that can be written in other formats"
        files.write(files.path_for(path, (".npz",), tables), about, self._arrays())

    def _arrays(self) -> dict[str, Any]:
        """What `save` writes, under flat names."""
        arrays: dict[str, Any] = {name: getattr(self, name) for name in (*self._parts, "carry")}
        arrays |= {SLOPES: self._slopes} if self._slopes is not None else {}
        arrays |= {SAVED + name: values for name, values in self.saved.items()}
        arrays |= {f"extra_{name}": values for name, values in self.extra.items()}
        arrays |= {f"end_{name}": self.end[name] for name in STATE}
        if self.sol:
            arrays |= {f"knots_{name}": values for name, values in self.sol.knots.items()}
        if self.t_events is not None:
            arrays |= event_arrays((self.t_events, self.q_events or [], self.v_events or []))
        return arrays

    # ---- pictures ----

    def plot(self, what: str | None = None, *, ax: Axes | None = None, figsize: ArrayLike | None = None) -> Figure:
        """A matplotlib figure, which notebooks show and `savefig` saves.

        If a panel does not show all bodies, its title names up to twelve of the others.

        Parameters
        ----------
        what : str, optional
            A single panel: "paths", "angular_velocities", "energy" or "residuals"; for a system without bodies
            "coordinates" and "velocities" instead of the first two. Default: all of these that have something to show.
            With bodies also "reactions" of joints and supports, "forces", as `force` gives them, and "joint_angles";
            of wrenches, the magnitudes of force and moment.
        ax : matplotlib axes, optional
            Axes in which to draw one panel; by default "paths" on axes with projection "3d", the second one on others.
        figsize : array_like, shape (2,), optional
            Width and height of the figure, inches; by default it follows from the number of panels.

        Returns
        -------
        matplotlib.figure.Figure
            The figure, which `pyplot` does not manage.

        Raises
        ------
        ValueError
            For another panel, for axes that do not suit the panel, and for `ax` and `figsize` together.
        """
        from lgint._run import plot

        return plot.trajectory(self, what, ax, figsize)

    def animate(
        self,
        seconds: float = 10.0,
        *,
        fps: float = 25.0,
        trail: bool | Sequence[str] = True,
        camera: ArrayLike | None = None,
        size: ArrayLike = (800, 640),
        plane: Plane | None = None,
        dark: bool = False,
        boxes: Mapping[str, ArrayLike] | None = None,
    ) -> FuncAnimation:
        """A film of the run: a matplotlib animation that shows what `view` shows.

        Notebooks play it, and `save` writes it to a file: "film.gif", "film.mp4", for which matplotlib needs the
        program ffmpeg, or "film.html"; `save(path, progress=True)` shows a progress bar.

        It shows the run at equal time intervals: from dense output if there is any, otherwise each picture shows the
        nearest saved state.

        Parameters
        ----------
        seconds : float
            How long it lasts, s.
        fps : float
            Pictures per second.
        trail : bool or sequence of str
            The bodies whose centres of mass leave a trail. True: all bodies if there are at most eight, and the last
            nodes of rods.
        camera : array_like, shape (2,), optional
            Elevation above the plane of x and y and azimuth from x towards y, in degrees, of the side from which it is
            seen. Default: (20, -57).
        size : array_like, shape (2,)
            Width and height, pixels.
        plane : str, optional
            "xy", "xz" or "yz": the film shows this plane, without perspective, seen along its normal.
        dark : bool
            Whether it is light on dark.
        boxes : dict, optional
            The edges of boxes by the names of bodies, as in `view`.

        Returns
        -------
        matplotlib.animation.FuncAnimation
            The animation.

        Raises
        ------
        ValueError
            For values out of range, unknown bodies, and for `camera` and `plane` together.
        """
        from lgint._run import film

        options = film.Options(seconds, fps, trail, camera, size, plane, dark, boxes)
        return film.animation(self, options)

    def view(
        self,
        seconds: float | None = None,
        *,
        frames: int | None = None,
        boxes: Mapping[str, ArrayLike] | None = None,
        paths: bool | Sequence[str] = True,
        camera: ArrayLike | None = None,
        plane: Plane | None = None,
        dark: bool | None = None,
    ) -> View:
        """A view in three dimensions that can be turned with the mouse and has a slider for the time; needs plotly.

        Notebooks show it, and `save("view.html")` writes it as a web page; neither needs a server or a network.
        `save("view.gif")` and `save("view.mp4")` write a film of it.

        Rods are tubes, springs are coils, revolute joints are pins about their axes, and slides are sleeves on rails.
        A body has the shapes of its contacts and its rolling wheel. Without any, it is a box with its mass and its
        inertia, or bars between its joints, if the box is slender or contains the centre of mass of another body.
        Planes of contacts and rolling wheels are as large as the scene.

        Parameters
        ----------
        seconds : float, optional
            How long the whole run lasts when it is played. Default: real time, but between 1 s and 60 s.
        frames : int, optional
            The number of states, at equal time intervals: from dense output if there is any, otherwise the nearest
            saved states, each of them once. Default: 25 for each second, but between 51 and 201.
        boxes : dict, optional
            The edges (3,) of boxes by the names of bodies, along the body's axes, m; these bodies are always boxes.
        paths : bool or sequence of str
            The bodies for whose centres of mass paths are drawn. True: all bodies if there are at most eight, and the
            last nodes of rods.
        camera : array_like, shape (2,), optional
            Elevation above the plane of x and y and azimuth from x towards y, in degrees, of the side from which it is
            seen at first. Default: (20, -57).
        plane : str, optional
            "xy", "xz" or "yz": at first this plane is seen along its normal, without perspective.
        dark : bool, optional
            Whether it is light on dark. Default: as the page around it, or as the system of the reader.

        Returns
        -------
        View
            Its `figure` is plotly's, in which camera, colours or titles can be changed.

        Raises
        ------
        ValueError
            For values out of range, unknown bodies, and for `camera` and `plane` together.
        """
        from lgint._run import view

        return view.view(self, view.Options(seconds, frames, boxes, paths, camera, plane, dark))


def load(path: str | PathLike[str]) -> Trajectory:
    """The trajectory of a file that `Trajectory.save` wrote, or of the folder of `integrate(..., path=)`.

    Nothing in a file is executed. The arrays of a folder stay on the disk and are read where they are used; the folder
    of a run that has not ended, or was killed, gives the states that are complete.

    Parameters
    ----------
    path : str or path
        File or folder.

    Returns
    -------
    Trajectory
        With all accessors and, for a file, everything that it held when it was saved.

    Raises
    ------
    ValueError
        If the file is damaged, or was not written by `Trajectory.save` or `integrate`.
    """
    path = path_of(path)
    about, arrays = folder.read(path) if os.path.isdir(path) else files.read(path)
    with files.defects(path):
        return loaded(about, arrays, rebuilt(about["model"], about["record"]), finite=not os.path.isdir(path))


def loaded(about: Mapping[str, Any], arrays: Mapping[str, Array], model: System, *, finite: bool = False) -> Trajectory:
    """The trajectory in a file of a run of `model`; `finite`: check that all states are finite."""
    result: dict[str, Any] = {name: arrays[name] for name in (*about["parts"], "carry")}
    result["saved"] = {name[len(SAVED) :]: values for name, values in arrays.items() if name.startswith(SAVED)}
    result["parameters"] = about.get("parameters") or about.get("arguments", {}).get("sensitivity") or []
    result |= {SLOPES: arrays[SLOPES]} if SLOPES in arrays else {}
    extra = [values for name, values in arrays.items() if name.startswith("extra_")]
    result |= {"extra": extra[0]} if extra else {}
    result["end"] = {name: arrays[f"end_{name}"] for name in STATE}
    own = {"extra"} & result.keys() | {name for name in ("curve", SLOPES) if f"knots_{name}" in arrays}
    knots = (*KNOT, *sorted(own)) if "knots_t" in arrays else ()
    result["knots"] = {name: arrays[f"knots_{name}"] for name in knots}
    if about["events"] is not None:
        result["events"] = [[arrays[f"{kind}_events_{i}"] for i in range(about["events"])] for kind in "tqv"]
    result |= {"stats": about["stats"], "status": about["status"]}
    for states in (result, result["end"], result["knots"]):
        if "mem" in states:
            states["mem"] = completed(model, about.get("memory"), states)
    _check_texts(model, about)
    _check_arrays(model, result, finite)
    method = choice("method", about["method"], [*ROWS, EQUILIBRIUM])
    _check_others(result, goes_on=method in ROWS and len(result["end"]["t"]) > 0)
    return Trajectory(model, method, about["options"], result)


def event_arrays(events: Sequence[Sequence[Array]]) -> dict[str, Array]:
    """The times, coordinates and velocities of events, of each function, under flat names for files."""
    return {
        f"{kind}_events_{i}": values
        for kind, column in zip("tqv", events, strict=True)
        for i, values in enumerate(column)
    }


def _check_texts(model: System, about: Mapping[str, Any]) -> None:
    """ValueError for entries of a file that are of other types than their readers expect."""
    origin = model.origin
    named = isinstance(origin, dict) and isinstance(origin.get("factory"), str)
    if origin is not None and not (named and isinstance(origin.get("parameters"), dict)):
        raise ValueError(f"origin: the name of a function and its parameters expected, got {shown(origin)}")
    if isinstance(about["status"], bool) or about["status"] not in (-1, 0, 1):
        raise ValueError(f"status: -1, 0 or 1 expected, got {shown(about['status'])}")
    for name, value in about["stats"].items():
        expected = OPTIONAL_STATS.get(name, (int, float))
        if not isinstance(value, expected):
            raise ValueError(f"stats: {name} cannot be {shown(value)}")


def _check_others(result: Mapping[str, Any], *, goes_on: bool) -> None:
    """ValueError unless everything saved besides the states is numeric; a run that `goes_on` must have a carry."""
    carry = result["carry"]
    if carry.dtype != float or carry.ndim != 1 or (goes_on and not carry.size):
        raise ValueError(f"carry: a list of numbers expected, got {carry.dtype} of {carry.shape}")
    for name, values in result["saved"].items():
        if values.dtype != float or values.shape[:1] != result["t"].shape:
            raise ValueError(
                f"{name}: numbers for each of {len(result['t'])} states expected, got {values.dtype} of {values.shape}"
            )


def _check_arrays(model: System, result: Mapping[str, Any], finite: bool) -> None:
    """ValueError unless the arrays of a file have the shapes of the model's states and, if `finite`, are finite."""
    # methods whose states have a momentum start without accelerations where these are not determined
    undetermined = ("h", "error", "vdot", "lam") if "extra" in result else ("h", "error")
    widths = {name: (width,) for name, width in model.core.widths.items()}
    if "extra" in result:
        widths["extra"] = result["extra"].shape[1:]
    if SLOPES in result:
        widths[SLOPES] = (slopes_width(model, len(result["parameters"])),)
        if result[SLOPES].shape[1:] == (len(result["parameters"]) * (3 * model.nv + model.nc),) != widths[SLOPES]:
            raise ValueError("it lacks the derivatives of the values that sampled controls hold; make the run again")
    events = zip(*result.get("events", ()), strict=True)
    tables = [result, result["end"], result["knots"], *(dict(zip("tqv", event, strict=True)) for event in events)]
    for table in tables:
        for name in table.keys() & {*STATE, *OWN}:
            width = table[name].shape[1:] if name == "curve" else widths.get(name, ())
            values, shape = table[name], (len(table["t"]), *width)
            if values.dtype != float or values.shape != shape:
                raise ValueError(f"{name}: numbers of shape {shape} expected, got {values.dtype} of {values.shape}")
            if finite and name not in undetermined and not np.isfinite(values).all():
                raise ValueError(f"{name}: finite numbers expected")
