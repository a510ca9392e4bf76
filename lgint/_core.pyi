"""The compiled core. Private: the public face is the package `lgint`.

Everything is float64 and C-contiguous; arrays of another dtype that cast safely are converted, NaN and wrong shapes
raise ValueError naming the argument, what was given and what would work.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

class IntegrationError(RuntimeError):
    """A run failed. `report` is a dict (status, step, t, h, iteration, residual, what, and `block`, the number of the
    block of coordinates that `what` names, or None); `result` the dict that `integrate` would have returned, up to the
    last accepted step; `trajectory` is set by the package."""

    report: dict[str, Any]
    result: dict[str, Any]
    trajectory: Any

class ConvergenceError(IntegrationError): ...
class SingularError(IntegrationError): ...
class StepSizeError(IntegrationError): ...

class Interrupted(KeyboardInterrupt):
    report: dict[str, Any]
    result: dict[str, Any]
    trajectory: Any

class System:
    """What integrators see of a model (lg_system). Base of Model and CallableSystem; not created directly."""

    nq: int
    nv: int
    nrows: int  # constraint rows, the blocks' own rows last
    nmem: int
    widths: dict[str, int]  # width of each part of a state
    constant_mass: bool
    needs_gil: bool  # runs call Python functions of the system
    conservative: bool  # all forces at rest are known to have a potential, which `energy` contains
    has_potential: bool  # they are known to have one, of which `energy` may contain a part only
    # kind of the first factor, velocities behind it (R^n: all), first q, first v, own rows, first own row
    blocks: list[tuple[str, int, int, int, int, int]]
    factors: list[tuple[str, int, int, int, int]]  # of all blocks: kind, n, first q, first v, block
    nonholonomic: list[int]
    row_names: list[str]

    # Queries. They accept any leading axes, the same ones in all arguments that have some: t (...,), q (..., nq),
    # v and a (..., nv), lam (..., nrows), mem (..., nmem).
    # the terms of the waist that `want` names; all by default
    def evaluate(
        self,
        t: ArrayLike,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike | None = None,  # this, lam and mem are zero if they are not given
        lam: ArrayLike | None = None,
        *,
        mem: ArrayLike | None = None,
        want: str | Sequence[str] | None = None,  # of "Ma" "gyro" "force" "Btlam" "phi" "phidot" "zeta" "B" "Z" "S"
        k: ArrayLike = (0.0, 0.0, 1.0),  # (..., 3), chain of S: d(q, v, a)/du = k[i] X[i]
        X: ArrayLike
        | None = None,  # (..., 3, nv, nv), block diagonal; diag(I, X_r) on R^3 x rotation. None: identities
        t_in: ArrayLike | None = None,
        wa: ArrayLike = 1.0,
        load: ArrayLike = 1.0,  # factor of all loads and of gravity
        body_axes: bool = False,  # rows of joints and their multipliers in the axes of bodies
        static: bool = False,  # prescribed motions are taken at rest
    ) -> dict[str, Array]: ...  # B, Z dense (..., nrows, nv); S dense (..., nv, nv)
    # the derivatives of these terms by one of the numbers for which a model was `differentiated`
    def derivative(
        self,
        parameter: int,
        t: ArrayLike,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike | None = None,
        lam: ArrayLike | None = None,
        *,
        mem: ArrayLike | None = None,
        want: str | Sequence[str] | None = None,
        k: ArrayLike = (0.0, 0.0, 1.0),
        X: ArrayLike | None = None,
        wa: ArrayLike = 1.0,
        load: ArrayLike = 1.0,
        body_axes: bool = False,
        static: bool = False,
    ) -> dict[str, Array]: ...
    # derivatives of B a - zeta by q and v at fixed a; ValueError if some row has none in closed form
    def acceleration_rows(
        self,
        t: ArrayLike,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        *,
        mem: ArrayLike | None = None,
        body_axes: bool = False,
        static: bool = False,
    ) -> tuple[Array, Array]: ...
    def linearise(
        self,
        t: ArrayLike,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike | None = None,
        lam: ArrayLike | None = None,
        *,
        mem: ArrayLike | None = None,
    ) -> tuple[Array, Array, Array]: ...  # derivatives of the residual by q, v and a, in one evaluation
    # the entries of these and of B, in the places that `sparsity` gives: rows and columns of the former, then of the
    # latter. Some places occur twice; the entries there have to be added.
    def sparse(
        self,
        t: ArrayLike,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike | None = None,
        lam: ArrayLike | None = None,
        *,
        mem: ArrayLike | None = None,
        want: str | Sequence[str] | None = None,  # of "K" "D" "M" "B"
        load: ArrayLike = 1.0,  # these as in `evaluate`
        body_axes: bool = False,
        static: bool = False,
    ) -> dict[str, Array]: ...
    def sparsity(self) -> tuple[NDArray[np.intc], NDArray[np.intc], NDArray[np.intc], NDArray[np.intc]]: ...
    # a step from q0 to q1 by discrete gradients, or with `midpoint` by those at the middle
    def evaluate_pair(
        self,
        t: ArrayLike,
        h: ArrayLike,
        q0: ArrayLike,
        q1: ArrayLike,
        *,
        lam: ArrayLike | None = None,
        mem: ArrayLike | None = None,
        midpoint: bool = False,
        equivariant: bool = False,
        want: str | Sequence[str] | None = None,  # of "force" "Gtlam" "phi" "G" "B" "S"
    ) -> dict[str, Array]: ...  # S: the derivative of Gtlam - force by q1
    # T, V; load: factor of the loads, (...,). Without mem, here and below, edges of rods are next to their reference
    def energy(
        self, t: ArrayLike, q: ArrayLike, v: ArrayLike, load: ArrayLike = 1.0, mem: ArrayLike | None = None
    ) -> tuple[Array, Array]: ...
    def retract(self, q: ArrayLike, theta: ArrayLike) -> Array: ...
    def difference(self, q0: ArrayLike, q1: ArrayLike) -> Array: ...
    def remember(
        self,
        t: ArrayLike,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        mem: ArrayLike,
        span: ArrayLike = 0.0,
        theta: ArrayLike | None = None,
    ) -> Array: ...
    def sample(self, t: ArrayLike, q: ArrayLike, v: ArrayLike, mem: ArrayLike) -> Array: ...
    # the change of mem after a step or at a start, by those of q and v at both ends, (..., 4, nv), and of mem_from
    def follow(
        self,
        parameter: int,
        t: ArrayLike,
        q: ArrayLike,
        v: ArrayLike,
        mem: ArrayLike,
        mem_from: ArrayLike,
        change: ArrayLike,
        dmem: ArrayLike,
        *,
        t_from: ArrayLike = 0.0,
        q_from: ArrayLike | None = None,
        v_from: ArrayLike | None = None,
    ) -> Array: ...
    # factors of mem with which forces are the same, and their kinks at the state far away
    def stretch(self, t: ArrayLike, q: ArrayLike, v: ArrayLike, mem: ArrayLike) -> Array: ...
    def residual(
        self, t: ArrayLike, q: ArrayLike, v: ArrayLike, mem: ArrayLike | None = None, static: bool = False
    ) -> tuple[Array, Array]: ...  # phi, phidot
    def initial(
        self,
        t: ArrayLike,
        q: ArrayLike,
        v: ArrayLike,
        mem: ArrayLike | None = None,
        *,
        load: ArrayLike = 1.0,  # these as in `evaluate`
        body_axes: bool = False,
        static: bool = False,
        check: bool = True,  # the state must satisfy the constraints
    ) -> tuple[Array, Array]: ...  # a, lam
    def project(
        self,
        t: ArrayLike,
        q: ArrayLike,
        v: ArrayLike,
        mem: ArrayLike | None = None,
        *,
        position: bool = True,
        velocity: bool = True,
    ) -> tuple[Array, Array]: ...  # the nearest (in the mass metric) consistent q, v
    # derivatives of these by a number by which phi and phidot at a consistent start have the derivatives `slopes`
    def project_slopes(
        self, t: ArrayLike, q: ArrayLike, v: ArrayLike, slopes: ArrayLike, mem: ArrayLike | None = None
    ) -> tuple[Array, Array]: ...  # dq, dv (..., nv)
    # how many numbers the factors hold, of the matrix with tangents or of that with the mass alone
    def matrix_values(self, *, tangents: bool = True) -> int: ...
    def solve_dense_count(self) -> int: ...

class Instant:
    """A point of a run, as the core shows it to a function.

    Its arrays are read-only. They are copied when they are first read, or at the end of the call if somebody keeps the
    instant.
    """

    t: Final[float]
    q: Final[Array]
    v: Final[Array]
    mem: Final[Array | None]  # as it was left at this point, or at an earlier one; None: zeros
    age: Final[float]  # the time since that point
    theta: Final[Array | None]  # the displacement since that point (nv); None: age v

class Model(System):
    def __new__(
        cls,
        blocks: Sequence[tuple[str, int] | tuple[tuple[str, int], ...]],  # (kind, n), or tuples of such factors
        frames: NDArray[np.intc],  # (m, 2): block (-1: the ground, -2 and less: a support) and part of the body on it
        points: ArrayLike,  # (m, 6): base and offset
        # type, name, function or None, its tangent or None; of a law of the state also the blocks that it reads
        elements: Sequence[tuple[Any, ...]],
        numbers: NDArray[np.intc],  # (n, 4): frames (-1: none), number of parameters, bits of dropped constraint rows
        parameters: Array,  # of all elements, one after the other
        states: Callable[[Instant], Any] | None = None,  # what makes the states with which such laws are called
        # name, function, its tangent or None, number of values, period of samples or 0, velocities that it reads
        controls: Sequence[tuple[str, Any, Any, int, float, NDArray[np.intc]]] = (),
    ) -> Model: ...
    # x (..., n, 3), R (..., n, 3, 3), xdot (..., n, 3), omega (..., n, 3) of n frames in one pass, by their numbers in
    # `frames`; without the axis n if `frames` is a single number
    def kinematics(
        self, frames: int | Sequence[int], q: ArrayLike, v: ArrayLike, t: ArrayLike = 0.0
    ) -> tuple[Array, Array, Array, Array]: ...
    # x alone
    def positions(self, frames: int | Sequence[int], q: ArrayLike, v: ArrayLike, t: ArrayLike = 0.0) -> Array: ...
    # inertial and angular acceleration (..., n, 3), the latter in body axes, of frames as in `kinematics`
    def accelerations(
        self, frames: int | Sequence[int], q: ArrayLike, v: ArrayLike, a: ArrayLike, t: ArrayLike = 0.0
    ) -> tuple[Array, Array]: ...
    # (..., 6, nv) and (..., 6): derivative of a frame's velocity (inertial) and angular velocity (body axes) by v, and
    # both accelerations at v' = 0; slot: the number of the frame
    def jacobian(
        self, slot: int, q: ArrayLike, v: ArrayLike, t: ArrayLike = 0.0, static: bool = False
    ) -> tuple[Array, Array]: ...
    # (..., 6): inertial force and body moment of the element's rows on its frame in `slot`
    def reaction(
        self,
        element: int,
        slot: int,
        t: ArrayLike,
        q: ArrayLike,
        v: ArrayLike,
        lam: ArrayLike,
        static: bool = False,  # prescribed motions are taken at rest
        body_axes: bool = False,  # the multipliers belong to rows in the axes of bodies
        mem: ArrayLike | None = None,
    ) -> Array: ...
    # (..., 6): inertial force and moment that a force exerts on its frame in `slot`; (..., 3): the frame's position;
    # (...,): the power there, or that of both bodies for a force on the coordinate of a tree
    def exerted(
        self,
        element: int,
        slot: int,
        t: ArrayLike,
        q: ArrayLike,
        v: ArrayLike,
        mem: ArrayLike,
        load: ArrayLike = 1.0,  # factor of the loads
        static: bool = False,
    ) -> tuple[Array, Array, Array]: ...
    # (...,): gap at the point `slot` of a contact; (..., 3): the point, the normal out of the second body and the force
    # on the first one
    def contact(
        self, element: int, slot: int, t: ArrayLike, q: ArrayLike, v: ArrayLike, mem: ArrayLike
    ) -> tuple[Array, Array, Array, Array]: ...
    # (...,): tension, length and rate of the elastic tendon of which the element is a piece
    def tendon(
        self, element: int, t: ArrayLike, q: ArrayLike, v: ArrayLike, mem: ArrayLike
    ) -> tuple[Array, Array, Array]: ...
    def strain(
        self,
        elements: int | Sequence[int],
        t: ArrayLike,
        q: ArrayLike,
        v: ArrayLike,
        lam: ArrayLike,
        static: bool = False,
        mem: ArrayLike | None = None,
    ) -> tuple[Array, Array]: ...  # strain and stress, (..., n, 6), of edges of rods
    # (..., 6): inertial force and moment with which the joint of a tree's link holds it, at the link's origin
    def transmitted(
        self,
        element: int,
        link: int,
        t: ArrayLike,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        lam: ArrayLike,
        mem: ArrayLike,
        load: ArrayLike,  # factor of the loads
        static: bool,  # prescribed motions are taken at rest
        body_axes: bool = False,  # the multipliers belong to rows in the axes of bodies
    ) -> Array: ...
    def rows(self, element: int) -> tuple[int, int, int, int]: ...  # row, nrows, mem, nmem
    # a model with the same shape and plans, and other parameters of all elements
    def varied(self, parameters: Array, states: Callable[[Instant], Any] | None = None) -> Model: ...
    # the same model with derivatives of its terms by n numbers: of each its size and how many parameters and ends of
    # elements change with it; of all of them numbers and rates of parameters, ends, and motions of their frames
    def differentiated(
        self,
        sizes: Array,
        counts: NDArray[np.intc],
        parameters: NDArray[np.intc],
        rates: Array,
        ends: NDArray[np.intc],
        motions: Array,
    ) -> Model: ...

class CallableSystem(System):
    """A system that calls Python functions, which take a float and read-only NumPy arrays and return values that NumPy
    converts to arrays. At a kink, t is one rounding error to the side on which functions are evaluated. An
    exception inside a function stops the run and is raised unchanged. Derivatives that are not given are formed by
    differences."""

    def __new__(
        cls,
        blocks: Sequence[tuple[str, int] | tuple[tuple[str, int], ...]],  # (kind, n), or tuples of such factors
        nrows: int,  # rows of joints, without the blocks' own rows
        functions: dict[str, Callable[..., Any] | None],  # by name, below; mass and force are needed
        kinks: ArrayLike,
        constant_mass: bool = False,
    ) -> CallableSystem: ...
    # mass(t, q) -> (nv, nv), force(t, q, v) -> (nv,), gyro(t, q, v) -> (nv,)
    # constraint(t, q) -> (nrows,), constraint_jacobian(t, q) -> (nrows, nv)
    # constraint_acceleration(t, q, v) -> (nrows,): zeta = -(dB/dt) v - explicit time terms
    # tangent(t, q, v, a, lam) -> (K, D), both (nv, nv) and without the blocks' own rows:
    #   K = d(M a + gyro - force + B^T lam)/dq, D = d(gyro - force)/dv
    # energy(t, q, v) -> (T, V)
    # for energy-momentum methods, on a single block R^n: potential(t, q), potential_gradient(t, q) -> (nv,),
    #   mass_gradient(t, q) -> (nv, nv, nv), the derivative's index last

def integrate(
    system: System,
    method: str,
    t0: float,
    t_end: float,
    h: float,
    save_every: int,
    q: ArrayLike,
    v: ArrayLike,
    start: dict[str, Any]
    | None,  # of a run to resume: vdot, lam, mem, carry, its options, and whether parameters have changed
    options: dict[str, Any],
    progress: Callable[[float], None] | None = None,
    t_eval: ArrayLike | None = None,
    on_step: Callable[..., Any]
    | None = None,  # (Instant, both_ends) of each step's end -> end of the run, or that with dq and dv there;
    # both_ends() -> t, q, v, a, lam, mem, None, curve, derivatives
    dense: bool = False,
    stops: ArrayLike | None = None,  # ascending, from t0 to t_end
    on_rows: Callable[[dict[str, Any]], object] | None = None,
    room: int = 0,
    ends: bool = False,  # whether on_step may end the run; otherwise one that could not reach t_end is refused or ended
    kept: float = 0.0,  # bytes of each state that on_rows keeps in memory
    others: int = 0,  # further runs of the same size, which have to fit into memory beside this one
    on_stop: Callable[..., Any]
    | None = None,  # t, q, v, mem where on_step stops -> None, or (q, v, mem, goes_on[, dq, dv])
    slopes: tuple[int, ArrayLike | None, ArrayLike | None]
    | None = None,  # number of parameters, and derivatives of q and v at the start, parameter by parameter; None, None
    # for a run whose derivatives are found backwards
    watch: tuple[object, ...] = ...,  # compiled events: on_step is only called where one of them may be in the step
    on_mark: Callable[[int, float, Array, Array, dict[str, Array]], object]
    | None = None,  # step, t, q, v, start before steps 0, 1, 3, 6, 10, ..., with which a run goes on from there
    tape: float = 0.0,  # bytes that a tape of all steps may take, for `adjoint`; 0: there is none
) -> dict[str, Any]:
    """Runs from t0 through the stops to t_end; each interval between stops and kinks is cut into ceil(length / h) equal
    steps. progress(t) is called about every 50 ms, on_step with the end of every step; if it returns a time, the run
    ends there. on_rows is called when there are `room` states, or a second after the last call, and takes them: a dict
    as this function returns, whose end and carry resume the run after them; the result has the states that are left. On
    failure the exception's `result` holds everything that was computed.

    t (n,), h (n,), error (n,), q (n, nq), v and vdot (n, nv), lam (n, nrows), mem (n, nmem); carry (of the last
    state only); end (that state, the same fields); knots (both ends of every step: t, q, v, vdot, lam; or None); stats:
    steps, rejected, failed, retries, newton_iterations, jacobians, factorisations, evaluations, dense_fallbacks,
    least_cosine, parasitic_rate, wall_time; nearest (the body with the least cosine of Tait-Bryan angles, and its
    time), parasite (the same of the largest parasitic rate), tape (only if one was asked for; None if it would have
    taken more). With rtol or atol among the options, h is not read. The
    arrays are the memory of the record itself."""

def adjoint(
    system: System,
    method: str,
    t0: float,
    t_end: float,  # of the whole run, as are h and stops
    h: float,
    q: ArrayLike,
    v: ArrayLike,
    start: dict[str, Any],  # what on_mark of `integrate` got
    options: dict[str, Any],
    stops: ArrayLike | None,
    steps: int,  # of the segment; 0: only its start
    slopes: tuple[int, ArrayLike | None, ArrayLike | None],  # with arrays in the segment with which the run begins
    rows: tuple[ArrayLike, ArrayLike],  # times of saved states, and derivatives by q, v, vdot and lam of each
    state: ArrayLike | None,  # derivatives by the state at the end of the segment; what is missing is zero
    gradient: ArrayLike,  # so far
    progress: Callable[[float], None] | None = None,
    tape: object = None,  # of the whole run; None: the steps are taken once more
    before: int = 0,  # steps on the tape before those of the segment
    cut: bool = False,  # an event has cut the last step: `state` belongs to the end of the whole step
    /,
) -> tuple[int, Array, Array]:
    """A segment of a run backwards: the number of rows that are left, which are those of earlier segments, the
    derivatives by the state at its start, and the gradient with the share of the segment."""

def ensemble(
    systems: Sequence[System],  # of the same nq, nv and nmem
    method: str,
    t0: float,
    t_end: float,
    h: float,
    save_every: int,
    q: ArrayLike,  # (n, nq)
    v: ArrayLike,  # (n, nv)
    mem: ArrayLike,  # (n, nmem), a guess
    options: dict[str, Any],
    progress: Callable[[float], None] | None = None,  # of the number of runs that are done
    t_eval: ArrayLike | None = None,
    stops: ArrayLike | None = None,
) -> list[tuple[dict[str, Any], IntegrationError | None]]:
    """One run for each system, without Python between the runs. Returns for each run what `integrate` returns, and None
    or the exception of a run that failed, which is not raised."""

def equilibrium(
    system: System,
    t: float,  # time at which loads are taken
    loads: ArrayLike,  # factors
    q: ArrayLike,  # where the search begins
    v: ArrayLike,  # of which values of first-order equations count
    mem: ArrayLike,  # a guess of the memory there
    rtol: float,
    atol: float,
    max_iter: int,
    has_potential: bool,  # all forces at rest follow from a potential
    leaves: bool,  # unstable equilibria, if there is a potential
    progress: Callable[[float], object] | None,  # called now and then with the last factor
    /,
) -> dict[str, Any]:
    """Equilibria under the load factors: what `integrate` returns, with states whose t are the factors, and without
    knots and carry; extra (n, 1): in how many directions they are unstable, -1 without a potential. Each search
    begins in the equilibrium before. On failure the exception's `result` holds what was found so far."""

def wrapped(d: ArrayLike, triads: ArrayLike, radii: ArrayLike, /) -> tuple[float, float, float]: ...
def expected(element: int, parameter: int, values: ArrayLike, /) -> str | None:
    """What a parameter, given by its places in ELEMENTS and in the row, has to be; None if the values are that."""

def interpolate(
    system: System,
    times: ArrayLike,  # (m,)
    t: ArrayLike,  # (n,) ascending
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    lam: ArrayLike,
    mem: ArrayLike = ...,  # if not given, none is found
    extra: ArrayLike | None = ...,  # (n, k): what the method adds to a state; k = 0 if not given
    curve: ArrayLike | None = ...,  # (n, 2 nv k): F_0 ... F_k-1 of the steps that end at the knots, if not given none
    index_1: bool = ...,  # vdot and lam of the index-1 equations instead of interpolated ones
    /,
) -> dict[str, Array]: ...  # t, q, v, vdot, lam, mem and perhaps extra at `times`

# a compiled function as Model takes it: its place in SIGNATURES, how messages name it, its addresses
def compiled(
    signature: int,
    what: str,
    address: int,
    data: int = 0,
    has_tangent: bool = False,
    scale: float = 1.0,
    rest: tuple[float, float, float] = ...,
    turns: ArrayLike | None = None,
) -> object: ...

# name, pointer and context of a capsule; None: it is something else
def capsule(object: object, /) -> tuple[str | None, int, int] | None: ...

# the rows of the core's tables, made once for all users, who must not change them
METHODS: list[dict[str, Any]]
"""name, order, error_order (the estimated error of a step is O(h^error_order)), stepper, explicit (whether it is),
needs (what it requires of a system, in words, or None), extra (what it adds to a state, or None), momentum (its kind,
"livens" or "hamilton", if states have one; else None), energy (its formula for states with a momentum,
"p.v - T + V" or "p.v/2 + V"; else None),
steadier (a method that conserves the same and has no parasitic rates, or None), reference, doc,
options [dict(name, type, default, low, high, choices, doc)], tableau: None or, for Runge-Kutta methods,
dict(A, b, c, b_hat, order_hat, d) of exact numbers as strings; d: weights of a half-explicit method's multipliers."""

ELEMENTS: list[dict[str, Any]]
"""family (body, force or joint), name, doc, reference, nframes, nrows, nmem, law (whether it calls a function of the
user for its wrenches),
locked and pairs (None, or for a joint of two triads the axes 1, 2, 3 along which its points stay together, and the
axes of the first and the second body that stay normal to each other),
parameters [dict(name, unit, doc, shape, count, valid, axes, default, choices, of_shape)], in which shape is None and
count -1 for a parameter that takes all remaining values; valid (any, positive, nonnegative, unit vector, rotation,
symmetric, semidefinite or choice); axes (inertial, first or second); default (required, zero, distance, separation or
axes), example (valid values, if the descriptors do not define what is valid)"""

NODES: list[dict[str, Any]]
"""name, nq, nv (0: the block's n), nown, linear, reference, identity (the coordinates of the identity),
place (how the position is described: none, no_body, fixed, inertial or body), storage (of the rotation: matrix,
quaternion, vector, angles or None), pivot (the kind of a body fixed at a point, or None), rates (whether velocities
are rates of the storage instead of angular velocities), explicit_only (whether q' = A(q) v with a matrix A that
implicit methods cannot use)"""

GROUPS: list[dict[str, Any]]
"""name, dim (of the algebra), shape (of an element), hat_shape of the Lie groups"""

COLUMNS: list[str]
"""Names of the arrays of a record of states: those of a step, t, h and error; extra; and the parts of a state"""

PARTS: list[str]
"""Names of the arrays of a state: q, v, vdot, lam, mem"""

class Stepper:
    def __new__(
        cls,
        system: System,
        method: str,
        t0: float,
        q: ArrayLike,
        v: ArrayLike,
        start: dict[str, Any] | None,
        options: dict[str, Any],
    ) -> Stepper: ...
    def step(self, h: float, efforts: ArrayLike | None = None) -> None: ...  # split at the kinks inside
    def copy(self) -> Array: ...  # the parts in the order of PARTS, then the carry; read-only
    def restore(self, t: float, copy: Array, efforts: Array) -> None: ...
    t: float
    q: Array
    v: Array
    vdot: Array
    lam: Array
    mem: Array
    carry: Array
    efforts: Array
    stats: dict[str, Any]

# gufuncs of csrc/group/operations.c: <group>_<operation>, such as so3_exp, and a few that not every group has
SIGNATURES: list[tuple[str, str]]
"""Names and types in C of the functions that users compile."""
