"""`LagrangianModel`: a system given by its mass matrix, its potential and its constraints."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike

from lgint._args import Array, array, checked_function, shown
from lgint._model.callable import CallableModel, check_eigenvalues, vector
from lgint._model.compiled import is_compiled
from lgint._model.gradients import STEP, contradiction, gradient_of
from lgint._model.missing import MissingFunction
from lgint._model.model import Model
from lgint._model.system import FACTORIES, System

Function = Callable[..., ArrayLike]

# the gradients and the functions that they belong to
GRADIENTS: Final = {"mass_gradient": "mass", "potential_gradient": "potential", "constraint_jacobian": "constraint"}


class LagrangianModel(CallableModel):
    """A system with the kinetic energy v^T M(q) v / 2, the potential V(q) and constraints g(q) = 0, v = dq/dt in R^n.

    Its equations of motion are M(q) v' + gyro = force(t, q, v) - grad V(q) - G(q)^T lam, g(q) = 0, with the gyroscopic
    terms gyro = (dM/dt) v - grad(v^T M v / 2). M may be singular if every motion that the constraints allow has
    kinetic energy.

    Parameters
    ----------
    q0, v0 : array_like, shape (n,)
        The start.
    mass : function q -> (n, n)
        Symmetric and positive semidefinite.
    potential : function q -> float
        V, J.
    constraint : function q -> (nc,), optional
        g, zero where the constraints hold.
    mass_gradient : function q -> (n, n, n), optional
        Entry [i, j, k] is the derivative of M_ij by q_k.
    potential_gradient : function q -> (n,), optional
        Derivative of V by q.
    constraint_jacobian : function q -> (nc, n), optional
        G, the derivative of the constraint by q.
    force : function (t, q, v) -> (n,), optional
        All forces that the potential does not contain.
    kinks : sequence of float
        Times at which `force` is not smooth; steps end there.
    nrows : int, optional
        Number of constraint rows nc. Default: the length of `constraint(q0)`.

    Attributes
    ----------
    given : dict
        The functions as they were given, by the names of the arguments.
    gradients : dict
        For each of the three gradients "given", or how it is formed: by "complex step", which is exact to round-off, if
        the function accepts complex q and agrees with differences near the start, otherwise by "differences" with four
        points. These take n and 4 n calls of the function. `trajectory.stats.gradients_formed` counts the gradients
        formed in a run.

    Raises
    ------
    ValueError
        For wrong shapes, NaN, a mass matrix that is not symmetric or has a negative eigenvalue at the start, and
        gradients that deviate near the start from differences of their function by more than 1e-4 of an entry and by
        more than the error of the differences. An exception inside a function reaches the caller unchanged.
    """

    given: dict[str, Any]
    gradients: dict[str, str]

    def __init__(
        self,
        q0: ArrayLike,
        v0: ArrayLike,
        mass: Function,
        potential: Function,
        constraint: Function | None = None,
        mass_gradient: Function | None = None,
        potential_gradient: Function | None = None,
        constraint_jacobian: Function | None = None,
        force: Function | None = None,
        kinks: Sequence[float] = (),
        *,
        nrows: int | None = None,
    ) -> None:
        given = {
            "mass": mass,
            "potential": potential,
            "constraint": constraint,
            "mass_gradient": mass_gradient,
            "potential_gradient": potential_gradient,
            "constraint_jacobian": constraint_jacobian,
            "force": force,
        }
        _check_given(given)
        q, v = vector("q0", q0), vector("v0", v0)
        if nrows is None:
            nrows = 0 if constraint is None else vector("constraint(q0)", constraint(q.copy())).size
        shapes = {"mass": (q.size, q.size), "potential": (), "constraint": (nrows,), "force": (q.size,)}
        _check_values(given, shapes, q, v)
        self.given = given
        complete, self.gradients = _with_gradients(given, q)
        super().__init__("Rn", q, v, **_verbs(complete), kinks=kinks, nrows=nrows, steps=_steps(complete))

    @property
    def has_potential(self) -> bool:
        """Whether all forces follow from the potential, because no others were given."""
        return self.given["force"] is None

    def record(self) -> dict[str, Any]:
        """Keyword arguments from which `LagrangianModel` makes the model again, and where it came from.

        Returns
        -------
        dict
            By the names of the arguments, with "origin" and "reference".
        """
        start = {"q0": self.q0.tolist(), "v0": self.v0.tolist()}
        note = {"reference": self.reference, "origin": self.origin}
        return {**start, **self.given, "kinks": self.kinks, "nrows": self._nrows, **note}

    def __reduce__(self) -> tuple[Any, ...]:
        record = self.record()
        if self.origin is not None:  # the factory makes the functions again, which may not pickle
            record = {name: value for name, value in record.items() if name not in self.given}
        return rebuilt, ("LagrangianModel", record), self._pickled()

    def __repr__(self) -> str:
        return f"<lgint.LagrangianModel nq={self.nq} nc={self.nc}>"


def rebuilt(kind: str, record: dict[str, Any]) -> System:
    """The system of the type named `kind`, from its record. If a factory made it, the factory makes it again."""
    if kind == "Model":
        return Model(record)  # type: ignore[arg-type]
    if kind == "CallableModel":
        return CallableModel(**record)
    origin, reference = record["origin"], record["reference"]
    if origin is not None and origin["factory"] in FACTORIES:
        made: System = FACTORIES[origin["factory"]](**origin["parameters"])
        return made.with_state(record["q0"], record["v0"])
    own = {name: value for name, value in record.items() if name not in ("origin", "reference")}
    model = LagrangianModel(**own)
    model.reference, model.origin = reference, origin
    return model


# ---- checks of arguments ----


def _check_given(given: dict[str, Function | None]) -> None:
    for name, value in given.items():
        if value is None and name in ("mass", "potential"):
            raise ValueError(f"{name}: a function is required")
        if is_compiled(value):
            raise ValueError(
                f"{name}: a Python function expected, got {shown(value)}; CallableModel takes compiled ones"
            )
        if value is not None:
            checked_function(name, value)
    if given["constraint"] is None and given["constraint_jacobian"] is not None:
        raise ValueError("constraint_jacobian requires constraint")


def _check_values(given: dict[str, Function | None], shapes: dict[str, tuple[int, ...]], q: Array, v: Array) -> None:
    """ValueError unless the values at the start have the right shapes and the mass matrix is symmetric."""
    array("v0", v, q.shape)
    whole = shapes | {gradient: (*shapes[name], q.size) for gradient, name in GRADIENTS.items()}
    for name, function in given.items():
        if function is None or isinstance(function, MissingFunction):
            continue
        text, arguments = ("force(0, q0, v0)", (0.0, q, v)) if name == "force" else (f"{name}(q0)", (q.copy(),))
        value = array(text, function(*arguments), whole[name])
        if name == "mass":
            _check_mass(value)


def _check_mass(M: Array) -> None:
    """ValueError unless the mass matrix at the start is symmetric and positive semidefinite."""
    if np.abs(M - M.T).max() > 1e-12 * np.abs(M).max():
        raise ValueError(f"mass(q0): a symmetric matrix expected, got {M.tolist()}")
    check_eigenvalues("mass(q0)", M)


def _check_gradient(gradient: str, given: Function, name: str, function: Function, points: Sequence[Array]) -> None:
    """ValueError if the gradient contradicts its function at one of the points."""
    for q in points:
        expected = contradiction(given, function, q)
        if expected is not None:
            raise ValueError(
                f"{gradient}: the gradient of {name} expected, got {np.asarray(given(q.copy())).tolist()} at "
                f"q = {q.tolist()}, where differences of {name} give {expected.tolist()}"
            )


def _check_shapes(name: str, function: Function, points: Sequence[Array]) -> None:
    """ValueError if the values at several points have different shapes."""
    shapes = [np.shape(function(q.copy())) for q in points]
    for q, shape in zip(points, shapes, strict=True):
        if shape != shapes[0]:
            raise ValueError(
                f"{name}: values of one shape expected, got {shapes[0]} at q = {points[0].tolist()} and {shape} at "
                f"q = {q.tolist()}"
            )


# ---- functions for the core ----


def _steps(functions: dict[str, Any]) -> dict[str, Any]:
    """The functions of (t, q) that energy-momentum methods need in addition to those of other methods."""
    _, potential, _, mass_gradient, potential_gradient, *_ = functions.values()
    return {
        "potential": lambda t, q: potential(q),
        "potential_gradient": lambda t, q: potential_gradient(q),
        "mass_gradient": lambda t, q: mass_gradient(q),
    }


def _with_gradients(given: dict[str, Function | None], q: Array) -> tuple[dict[str, Any], dict[str, str]]:
    """All functions, with the gradients that were not given, and how each gradient is formed."""
    complete: dict[str, Any] = dict(given)
    kinds = {}
    near = np.random.default_rng(0).uniform(-1e-2, 1e-2, (2, q.size)) * (1 + np.abs(q))
    for gradient, name in GRADIENTS.items():
        function = given[name]
        points, own = [q, *(q + near)], given[gradient]
        if own is not None:
            kinds[gradient] = "given"
        if function is None or isinstance(function, MissingFunction):
            complete[gradient] = function if own is None else own
            continue
        _check_shapes(name, function, [*points, q + 2 * STEP, q - 2 * STEP])
        if own is None:
            complete[gradient], kinds[gradient] = gradient_of(function, points)
        elif not isinstance(own, MissingFunction):
            _check_gradient(gradient, own, name, function, points[1:])
    return complete, kinds


def _verbs(functions: dict[str, Any]) -> dict[str, Any]:
    """Arguments of `CallableModel`."""
    mass, potential, constraint, mass_gradient, potential_gradient, constraint_jacobian, load = functions.values()

    def force(t: float, q: Array, v: Array) -> Array:
        rest: Array = -np.asarray(potential_gradient(q))
        return rest if load is None else rest + np.asarray(load(t, q, v))

    def gyro(t: float, q: Array, v: Array) -> Array:
        turned: Array = np.asarray(mass_gradient(q)).T @ v  # [k, j] = sum over i of v_i dM_ij/dq_k, as M is symmetric
        result: Array = v @ turned - turned @ v / 2
        return result

    def energy(t: float, q: Array, v: Array) -> tuple[Any, Any]:
        return v @ np.asarray(mass(q)) @ v / 2, potential(q)

    return {
        "mass": lambda t, q: mass(q),
        "force": force,
        "gyro": gyro,
        "constraint": None if constraint is None else lambda t, q: constraint(q),
        "constraint_jacobian": None if constraint is None else lambda t, q: constraint_jacobian(q),
        "energy": energy,
    }
