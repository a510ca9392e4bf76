"""`linearize`: a system near a steady motion, its eigenvalues and its shapes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from lgint import _html
from lgint._args import Array, shown, warn
from lgint._core import SingularError
from lgint._linear import gradients, pictures
from lgint._linear.frame import Frame, frame_of, is_ground
from lgint._linear.invariance import CHANGE, check_invariant
from lgint._linear.modes import ROUND_OFF, Mode, dense_modes, hidden, sorted_values, sparse_modes
from lgint._linear.perturb import Motion
from lgint._linear.ports import Direction, Input, Output, derivatives, rate_row, state_at
from lgint._linear.terms import How, Space, Terms
from lgint._model.joints import NODES
from lgint._model.model import Model
from lgint._model.record import ground
from lgint._model.system import System, refuse_samples
from lgint._state.rest import Rest
from lgint._state.state import State

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MASSLESS: Final = 1e-13  # least ratio of eigenvalues of the scaled mass matrix
MOVES: Final = 1e-6  # velocities and accelerations, SI units, of a state that is not at rest
ZERO: Final = 1e-3  # derivatives of outputs, in SI units, below which changes may be round-off
SHOWN: Final = 12  # modes in a table
PROBES: Final = 4  # directions in which the terms of large systems are compared


class Linearization:
    """A system linearised about a motion in which it is time-invariant; `lgint.linearize` returns it.

    Attributes
    ----------
    state : State
        The state about which it is linearised.
    coordinates : list of str
        The perturbations y by which the others are determined, such as "arm.x" (m) and "arm.rx" (rad): displacements
        of COMs and small rotations, both in the axes of the frame.
    M, D, K : ndarray, shape (n, n), or None
        M y'' + D y' + K y is the generalized force on y; D has gyroscopic and K circulatory terms. None if there are
        nonholonomic constraints, under which y has no second-order equations.
    basis : ndarray, shape (perturbations, n)
        The perturbations of all bodies that belong to y; `labels` names its rows.
    A, B, C, D_feed : ndarray
        State space: x' = A x + B u and outputs C x + D_feed u, with x = (y, y', s, p, p'), where s are the values of
        first-order equations and p the prescribed coordinates that are inputs; `state_names` names x. Nonholonomic
        constraints leave only some of y' in x, as many as are independent.
    input_names, output_names : list of str
        The names of u and of the outputs.
    """

    def __init__(self, state: State, frame: Any, inputs: Sequence[Any], outputs: Sequence[Any]) -> None:
        self.state = state
        self._where = _where(frame, state.model)
        self.frame: Frame = frame_of(state, frame)
        self._inputs = [Input(each, state) for each in _listed("inputs", inputs)]
        self._outputs = [Output(each, state) for each in _listed("outputs", outputs)]
        self._terms = terms_of(state, self.frame)
        N, poses = (self._probes(), []) if self._is_large else self._terms.free
        self._forces(self._terms)
        self._check_reactions()
        rates = None if self._is_large else self._terms.rates
        self._later = check_invariant(self._terms, N, poses, rates, self._where)
        self._check_motions()
        if self._outputs:
            self._check_outputs()

    @property
    def _is_large(self) -> bool:
        return self._terms.space.sparse

    def _probes(self) -> Array:
        """Some directions that the constraints allow."""
        rng = np.random.default_rng(1)
        return sparse_modes(self._terms).projected(rng.standard_normal((self._terms.space.nz, PROBES)))

    # ---- second order ----

    @property
    def coordinates(self) -> list[str]:
        """Names of the perturbations y."""
        return [self._terms.space.labels[i] for i in self._terms.free[1]]

    @property
    def labels(self) -> list[str]:
        """Names of the perturbations of all bodies, the rows of `basis`."""
        return list(self._terms.space.labels)

    @cached_property
    def basis(self) -> Array:
        """The perturbations of all bodies that belong to y."""
        found: Array = np.asarray(self._terms.poses @ self._terms.free[0], dtype=float)
        return found

    @cached_property
    def _second_order(self) -> tuple[Array, Array, Array]:
        return self._terms.on(self._terms.free[0])

    @property
    def M(self) -> Any:
        """The inertia."""
        return self._moving(0)

    @property
    def D(self) -> Any:
        """Damping and gyroscopic terms."""
        return self._moving(1)

    @property
    def K(self) -> Any:
        """Stiffness and circulatory terms."""
        return self._moving(2)

    def _moving(self, which: int) -> Array | None:
        """The part of M, D or K that belongs to y; None for a nonholonomic system."""
        n = len(self.coordinates)
        return None if len(self._terms.slips) else self._second_order[which][:n, :n]

    # ---- state space ----

    @cached_property
    def _inverse(self) -> Array:
        M = self._to_rates.T @ self._second_order[0] @ self._to_rates
        size = np.sqrt(np.maximum(np.diag(M), np.finfo(float).tiny))
        values, axes = np.linalg.eigh(M / np.outer(size, size))
        if len(values) and values[0] < MASSLESS * values[-1]:
            moving = [self.coordinates[i] for i in self._terms.rates.chosen]
            name = [*moving, *self._terms.space.state_labels][int(np.argmax(np.abs(axes[:, 0])))]
            raise SingularError(f"linearize: nothing has inertia in the direction of {name}")
        inverse: Array = np.linalg.inv(M).astype(float)
        return inverse

    @cached_property
    def A(self) -> Array:
        """The matrix of x' = A x, x = (y, y', s, p, p')."""
        n, count = len(self._own), self._prescribed.shape[1]
        whole = np.zeros((n + 2 * count, n + 2 * count))
        whole[:n, :n] = self._own
        first = len(self.coordinates)
        _, D, K = self._of_motions
        whole[:first, n:] = np.concatenate(self._rates_of_motions, axis=1)
        whole[first:n, n:] = -self._inverse @ np.concatenate([K, D], axis=1)
        whole[n : n + count, n + count :] = np.eye(count)
        return whole

    @cached_property
    def _to_rates(self) -> Array:
        """T of w = (y', s) = T (u, s) + Q y: the rates of y by those in x."""
        V, count = self._terms.rates.V, len(self._terms.space.states)
        both = np.zeros((len(V) + count, V.shape[1] + count))
        both[: len(V), : V.shape[1]] = V
        both[len(V) :, V.shape[1] :] = np.eye(count)
        return both

    @cached_property
    def _of_rates(self) -> Array:
        """The forces by w: D, and M Q because w' = T (u', s') + Q y'."""
        M, D, _ = self._second_order
        Q = np.zeros_like(M)
        n = len(self.coordinates)
        Q[:n, :n] = self._terms.rates.Q
        found: Array = D + M @ Q
        return found

    @cached_property
    def _own(self) -> Array:
        """The part of A without the states of inputs."""
        n, T, Q = len(self.coordinates), self._to_rates, self._terms.rates.Q
        w = np.concatenate([np.concatenate([Q, np.zeros((len(T) - n, n))]), T], axis=1)
        forces = self._of_rates @ w
        forces[:, :n] += self._second_order[2][:, :n]
        return np.concatenate([w[:n], -self._inverse @ (T.T @ forces)])

    @cached_property
    def _prescribed(self) -> Array:
        """The perturbations z (nz, motions) in which a prescribed coordinate changes by one and y does not change."""
        terms, (N, chosen) = self._terms, self._terms.free
        names = [each.motion for each in self._inputs if each.motion]
        B, found = _dense(terms.B), np.zeros((terms.space.nz, len(names)))
        for column, name in zip(found.T, names, strict=True):
            row = self.state.multibody().rows(name).start
            z = np.linalg.lstsq(B, (terms.rows == row).astype(float), rcond=None)[0]
            z /= rate_row(self.state, name) @ (terms.Y @ z)
            column[:] = z - N @ (terms.poses @ z)[chosen]
        return found

    @cached_property
    def _of_motions(self) -> tuple[Array, Array, Array]:
        """The forces on y and s by accelerations, rates and values of prescribed coordinates."""
        terms, N, P = self._terms, self._terms.free[0], self._prescribed
        rest = len(terms.space.states)
        P = np.concatenate([P, np.zeros((rest, P.shape[1]))])

        def on(matrix: Any) -> Array:
            found = np.asarray(matrix @ P)
            return np.concatenate([N.T @ found[: terms.space.nz], found[terms.space.nz :]])

        M, D, K, T = on(terms.M), on(terms.D), on(terms.K), self._to_rates.T
        by_value, by_rate = (np.concatenate([each, np.zeros((rest, P.shape[1]))]) for each in self._rates_of_motions)
        inertia = self._second_order[0]
        D = D + self._of_rates @ by_rate + inertia @ by_value
        return T @ (M + inertia @ by_rate), T @ D, T @ (K + self._of_rates @ by_value)

    @cached_property
    def _rates_of_motions(self) -> tuple[Array, Array]:
        """What p and p' add to y' so that nonholonomic rows hold, (n, motions) each."""
        terms, (N, _), P, (V, _, chosen) = self._terms, self._terms.free, self._prescribed, self._terms.rates
        by_value, by_rate = np.zeros((len(V), P.shape[1])), np.zeros((len(V), P.shape[1]))
        rest = [i for i in range(len(V)) if i not in chosen]
        if rest:
            G = terms.B[terms.slips]
            by_value[rest] = -np.linalg.solve((G @ N)[:, rest], terms.C @ P)
            by_rate[rest] = -np.linalg.solve((G @ N)[:, rest], G @ P)
        return by_value, by_rate

    @property
    def state_names(self) -> list[str]:
        """Names of x: y and its rates, values of first-order equations, prescribed coordinates and their rates."""
        motions = [each.motion for each in self._inputs if each.motion]
        names = [[*self.coordinates], self._terms.space.state_labels, motions]
        moving = [names[0][i] for i in self._terms.rates.chosen]
        rates = [[f"d/dt {name}" for name in each] for each in (moving, motions)]
        return [*names[0], *rates[0], *names[1], *names[2], *rates[1]]

    @cached_property
    def B(self) -> Array:
        """What inputs add to x'."""
        N, nz = self._terms.free[0], self._terms.space.nz
        on_all = np.asarray(self._terms.X.T @ self._forces(self._terms))
        moved = self._moved_inputs
        on_y = self._to_rates.T @ np.concatenate([N.T @ on_all[:nz], on_all[nz:]]) - self._of_motions[0] @ moved
        above = np.zeros((N.shape[1], on_y.shape[1]))
        return np.concatenate([above, self._inverse @ on_y, np.zeros_like(moved), moved])

    @property
    def _moved_inputs(self) -> Array:
        """The matrix (motions, inputs) of ones where an input is the acceleration of a prescribed coordinate."""
        columns = [bool(each.motion) for each in self._inputs for _ in each.names]
        return np.eye(len(columns))[np.flatnonzero(columns)]

    def _forces(self, terms: Terms) -> Array:
        """The generalized forces (nv, inputs) of one unit of each input."""
        model = terms.space.model
        state = state_at(model, terms.motion, terms.lam)
        found = [each.forces(state, terms.frame) for each in self._inputs]
        return np.concatenate([np.zeros((model.nv, 0)), *found], axis=1)

    @cached_property
    def _of_outputs(self) -> Array:
        return self._outputs_of(self._terms)

    @property
    def C(self) -> Array:
        """The derivatives of outputs by x."""
        return self._of_outputs[:, : len(self.A)]

    @property
    def D_feed(self) -> Array:
        """The derivatives of outputs by inputs."""
        return self._of_outputs[:, len(self.A) :]

    @property
    def input_names(self) -> list[str]:
        """Names of the columns of B."""
        return [name for each in self._inputs for name in each.names]

    @property
    def output_names(self) -> list[str]:
        """Names of the rows of C."""
        return [name for each in self._outputs for name in each.names]

    def _outputs_of(self, terms: Terms) -> Array:
        """C and D_feed, side by side."""
        N = self._terms.free[0]
        n, size = N.shape[1], len(self.A) + len(self.input_names)
        pushes = np.concatenate([np.zeros((terms.space.model.nv, len(self.A))), self._forces(terms)], axis=1)
        whole = np.concatenate([self.A, self.B], axis=1)
        identity, E, P = np.eye(size), _dense(terms.space.E), self._prescribed
        ends = np.cumsum([n, self._terms.rates.V.shape[1], E.shape[1], P.shape[1], P.shape[1]])
        y, _, s, p, p_rate = np.split(identity[: ends[-1]], ends[:-1])
        rate, _, s_rate, _, p_second = np.split(whole, ends[:-1])
        second = rate[:, : len(self.A)] @ whole
        z, z_rate, z_second = N @ y + P @ p, N @ rate + P @ p_rate, N @ second + P @ p_second
        dq, dv = terms.Y @ z, terms.Y @ z_rate + terms.W @ z + E @ s
        da = terms.Y @ z_second + terms.W1 @ z_rate + terms.W0 @ z + E @ s_rate
        K, D, M, B = terms.derivatives
        left = pushes - (M @ da + D @ dv + K @ dq)
        dlam = np.linalg.lstsq(np.asarray(_dense(B)).T, left, rcond=None)[0]
        found = derivatives(self._outputs, terms.space.model, terms.motion, terms.lam, Direction(dq, dv, da, dlam))
        return found

    def _check_reactions(self) -> None:
        for each in self._outputs:
            if self._inputs and each.balances_forces:
                raise ValueError(
                    f"outputs: the reaction of {each.arguments[0]!r}, a joint in minimal coordinates, follows from a "
                    "balance of forces that does not include inputs; leave out the inputs, or use another formulation"
                )

    def _check_motions(self) -> None:
        P = self._prescribed if any(each.motion for each in self._inputs) else np.zeros((0, 0))
        now = self._terms.B @ P if P.size else P
        if P.size and max(np.abs(each.B @ P - now).max() for each in self._later) > CHANGE * np.abs(now).max():
            raise ValueError(f"inputs: the effect of a prescribed motion is not time-invariant in {self._where}")

    def _check_outputs(self) -> None:
        """A ValueError naming an output that changes with time in the frame."""
        now, change = self._of_outputs, 0 * self._of_outputs
        for each in self._later:
            change = np.maximum(change, np.abs(self._outputs_of(each) - now))
        size = np.abs(now).max(initial=0)
        for name, a, off in zip(self.output_names, now, change, strict=True):
            if off.max(initial=0) > CHANGE * max(float(np.abs(a).max(initial=0)), 1e-4 * size, ZERO):
                raise ValueError(
                    f"outputs: {name!r} is not time-invariant in {self._where}: its derivatives change along the motion"
                )

    def to_scipy(self) -> Any:
        """The system as a `scipy.signal.StateSpace`.

        Returns
        -------
        scipy.signal.StateSpace
            With A, B, C and D_feed; without outputs, all of x is its output.

        Raises
        ------
        ImportError
            Without SciPy.
        """
        try:
            from scipy.signal import StateSpace
        except ImportError as error:
            raise ImportError("to_scipy needs SciPy: pip install scipy") from error
        if not self._outputs:
            return StateSpace(self.A, self.B, np.eye(len(self.A)), np.zeros((len(self.A), self.B.shape[1])))
        return StateSpace(self.A, self.B, self.C, self.D_feed)

    # ---- eigenvalues ----

    @cached_property
    def eigenvalues(self) -> Any:
        """All eigenvalues of A, by their absolute values, pairs side by side, 1/s; complex.

        Prescribed coordinates that are inputs, with eigenvalues of zero, are left out. Those below 1e-7 of the largest
        cannot be told from zero.
        """
        return sorted_values(np.linalg.eigvals(self._own))

    def derivative(self, parameter: str) -> Any:
        """Derivatives of the eigenvalues by a number of the model, at rest.

        They are exact up to rounding: the derivatives of the matrices include the change of the equilibrium.

        Parameters
        ----------
        parameter : str
            A number of `model.values`, such as "arm.mass" or "arm.inertia[0,1]".

        Returns
        -------
        ndarray, shape (n,)
            Complex, in the order of `eigenvalues`, 1/s per unit of the parameter. The derivatives of equal eigenvalues
            are those of the eigenvalues into which these split when the parameter changes, in the same order for the
            conjugate ones. NaN for equal eigenvalues with fewer vectors (at critical damping) and for those that cannot
            be told from zero.

        Raises
        ------
        ValueError
            If the model has no such number, if the state moves, under nonholonomic constraints, if bristles of contacts
            are bent to their limit, and for systems of functions.
        SingularError
            If no equilibrium follows the parameter.
        """
        motion, how, model = self._terms.motion, self._terms.how, self.state.model
        if not isinstance(model, Model):
            raise ValueError("derivative: a system of functions has no parameters")
        if np.abs(motion.v).max(initial=0) > MOVES or np.abs(motion.a).max(initial=0) > MOVES:
            raise ValueError("derivative: the state moves; linearize a state at rest, as `equilibrium` finds it")
        rest = Rest(motion.t, motion.q, self._terms.lam, motion.mem, how.load, how.static)
        return gradients.eigenvalue_slopes(model, rest, self.eigenvalues, parameter)

    @cached_property
    def _least(self) -> float:
        """The value in 1/s below which eigenvalues cannot be told from zero; warns if some of these oscillate."""
        sizes = np.abs(self.eigenvalues)
        largest = float(sizes.max(initial=0))
        least = ROUND_OFF * largest
        small = int((sizes <= least).sum())
        lost = hidden(self._second_order, len(self.coordinates), small) if small and not len(self._terms.slips) else 0
        if lost:
            warn(
                f"linearize: the {lost} lowest modes that oscillate are lost in round-off: their eigenvalues cannot be "
                f"told from zero beside the largest, {largest:.3g} 1/s; replace the stiffest parts by constraints, or "
                "give them less stiffness or more inertia"
            )
        return least

    @property
    def _oscillating(self) -> Any:
        values = self.eigenvalues
        values = values[(values.imag > 0) & (np.abs(values) > self._least)]
        return values[np.argsort(values.imag, kind="stable")]

    @property
    def frequencies(self) -> Array:
        """The positive imaginary parts of the eigenvalues, in increasing order, rad/s.

        A warning says how many are missing because they cannot be told from zero (not under nonholonomic constraints).
        """
        found: Array = self._oscillating.imag
        return found

    @property
    def damping_ratios(self) -> Array:
        """Minus the real parts divided by the absolute values, for each of `frequencies`."""
        values = self._oscillating
        ratios: Array = -values.real / np.abs(values)
        return ratios

    def shapes(self, n: int = 6) -> list[Mode]:
        """The n modes whose eigenvalues have the smallest absolute values.

        For large systems they are found by shift and invert on sparse matrices; for chains the time grows linearly with
        the number of bodies.

        Parameters
        ----------
        n : int
            How many; fewer are returned if there are fewer.

        Returns
        -------
        list of Mode
            Each has `eigenvalue`, `frequency`, `damping_ratio`, `displacement(body)` and `rotation(body)`; a conjugate
            pair is represented by the member with a positive imaginary part.

        Raises
        ------
        ValueError
            Unless n is a positive whole number.
        """
        if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or n < 1:
            raise ValueError(f"n: a positive whole number expected, got {shown(n)}")
        if self._is_large:
            return sparse_modes(self._terms).lowest(int(n))
        return dense_modes(self._terms, self._own, self._least)[: int(n)]

    # ---- pictures ----

    def plot(self, *, ax: Any = None) -> Figure:
        """The eigenvalues in the complex plane, as a matplotlib figure.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw. Several calls with the same axes make a root locus.

        Returns
        -------
        matplotlib.figure.Figure
            The figure.
        """
        return pictures.plane(self.eigenvalues, ax)

    def view(self, mode: int = 0, *, amplitude: float = 0.1) -> Any:
        """A moving picture of a mode in three dimensions, which can be turned with the mouse; needs plotly.

        Parameters
        ----------
        mode : int
            Its number in `shapes`, from 0 on.
        amplitude : float
            Largest displacement as a fraction of the size of the system.

        Returns
        -------
        View
            As that of a run.

        Raises
        ------
        ValueError
            If there is no such mode, and for an amplitude that is not positive.
        ImportError
            Without plotly.
        """
        if isinstance(mode, bool) or not isinstance(mode, (int, np.integer)) or mode < 0:
            raise ValueError(f"mode: the number of a mode, from 0 on, expected, got {shown(mode)}")
        found = self.shapes(int(mode) + 1)
        if mode >= len(found):
            raise ValueError(f"mode: there are {len(found)} modes, got {mode}")
        return pictures.view(self.state, self._terms, found[mode], amplitude)

    def _listed(self) -> list[Mode]:
        return self.shapes(SHOWN)

    def __repr__(self) -> str:
        lines = [f"  {_shown_value(mode.eigenvalue)}" for mode in self._listed()]
        return "\n".join([f"<lgint.Linearization in {self._where}, eigenvalues (1/s):", *lines]) + ">"

    def _repr_html_(self) -> str:
        rows = [
            (i, _shown_value(mode.eigenvalue), f"{mode.frequency:.6g}", f"{mode.damping_ratio:.3g}", mode.largest)
            for i, mode in enumerate(self._listed())
        ]
        head = ("mode", "eigenvalue / (1/s)", "frequency / (rad/s)", "damping ratio", "largest")
        return _html.table(f"Linearization in {self._where}", head, rows)


def _shown_value(value: complex) -> str:
    return f"{value.real:.6g} {'+' if value.imag >= 0 else '-'} {abs(value.imag):.6g}i"


def _dense(matrix: Any) -> Array:
    dense: Array = matrix if isinstance(matrix, np.ndarray) else matrix.toarray()
    return dense


def _where(frame: Any, model: System) -> str:
    if not isinstance(model, Model):
        curved = not all(NODES[kind]["linear"] for kind, *_ in model.core.factors)
        return "its local coordinates, in axes that move with rotations" if curved else "its coordinates"
    if is_ground(frame):
        return "the frame at rest"
    return f"the frame of body {frame!r}" if isinstance(frame, str) else "the turning frame"


def _listed(name: str, given: Any) -> Sequence[Any]:
    if isinstance(given, str) or not isinstance(given, Sequence):
        raise ValueError(f"{name}: a list expected, got {shown(given)}")
    if given and isinstance(given[0], str):
        raise ValueError(f"{name}: a list of {name} expected, [{tuple(given)!r}], got {shown(given)}")
    return given


def terms_of(state: State, frame: Frame) -> Terms:
    """The terms at a state, with the accelerations and multipliers that follow from its q and v."""
    refuse_samples(state.model, "linearize")
    how = How(float(state._loads), state._static)
    mem = state._memory if state.model.core.nmem else None
    motion, core = Motion(float(state.clock), state.q, state.v, state.v, mem), state.model.core
    a, lam = core.initial(*motion[:3], mem, check=False, load=how.load, static=how.static)
    return Terms(Space(state.model), motion._replace(a=a), lam, frame, how)


def linearize(
    state: State, inputs: Sequence[Any] = (), outputs: Sequence[Any] = (), *, frame: Any = ground
) -> Linearization:
    """Linearises a system about the motion on which a state lies.

    The perturbations of all bodies, the displacement of the COM and a small rotation, are measured in one frame, so
    that the result is the same in every formulation. The system must be time-invariant in this frame. In the frame at
    rest this holds for a state in equilibrium, for rotors with round supports, and for a system that accelerates
    without turning while its parts keep their relative places; a mechanism that turns as a whole needs a frame that
    turns with it. To check this, the terms are compared with those at two later times along the motion whose ratio is
    irrational; the later one is when the fastest body has turned by 0.1 rad or moved by a tenth of the size of the
    system, and at most 0.05 s away. Changes at other times are not noticed.

    Systems of functions have no bodies and no frame. They are linearised in their local coordinates: a perturbation y
    leads from q to q exp(y). Where q has rotations, y is in axes that move with them, as the velocities are.

    Parameters
    ----------
    state : State
        `model.state(...)`, `run.state(-1)`, ... Accelerations and multipliers follow from its q and v.
    inputs : sequence of tuple
        External inputs: ("joint", name) is an effort in the coordinate of a joint, as in `inverse_dynamics`;
        ("force", body) and ("force", body, point) are three forces in the axes of the frame at the COM or a point (3,)
        in body axes; ("torque", body) are three moments in these axes. ("motion", name) is the acceleration of a
        coordinate that `add_joint_motion` prescribes, in addition to the one it has; the change of the coordinate and
        its rate are then states. ("control", name) is what is added to the efforts of a control, in its joints and then
        on its bodies, there as ("force", body) and ("torque", body).
    outputs : sequence of tuple
        Accessors of a state with their arguments, such as ("joint_angle", "shoulder") or ("reaction", "pin"). Of
        ("control", "pid") the efforts and then the states, as its function orders them.
    frame : lgint.ground, str or tuple
        The frame at rest; a body, with which the frame turns; or (axis, point, rate), an axis in inertial axes and the
        rate about it, rad/s: a frame whose axes are the inertial ones at the time of the state.

    Returns
    -------
    Linearization
        `M`, `D`, `K`, `A`, `B`, `C`, `D_feed`, `eigenvalues`, `frequencies`, `damping_ratios`, `shapes(n)`.

    Raises
    ------
    ValueError
        If the system is not time-invariant in the frame, for sampled controls, and for unknown bodies, joints and
        outputs.
    SingularError
        Naming rows, if the constraints of the state depend on each other, or naming a direction without inertia.
    """
    if not isinstance(state, State):
        raise ValueError(
            f"state: a state expected, model.state() or run.state(-1), got {type(state).__name__} {shown(state)}"
        )
    return Linearization(state, frame, inputs, outputs)
