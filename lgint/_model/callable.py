"""`CallableModel`: a system that consists of Python functions on arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from types import MappingProxyType
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike

from lgint import _core
from lgint._args import Array, array, checked_function, choice
from lgint._model.compiled import CompiledFunction, checked, is_compiled
from lgint._model.system import System

Factor = str | tuple[str, int]
Space = Factor | Sequence[Factor | Sequence[Factor]]


class CallableModel(System):
    """A system of functions: M(t, q) v' + gyro(t, q, v) = force(t, q, v) - B(t, q)^T lam, constraint(t, q) = 0.

    Each function may be compiled, of the type `lgint.signatures.callable`; if all are, runs do not need the GIL.

    Parameters
    ----------
    space : str, tuple or list of them
        The configuration space: node kinds such as "SO3", "R3xSO3", "SE3", "S3R3", and ("Rn", n) for coordinates in R^n
        ("Rn" alone takes n from `q0`). The coordinates of the blocks follow each other, and so do the velocities. An
        item that is a list of kinds is one block, their product, such as `["SO3", ("Rn", 2)]`. Kinds with constraint
        rows of their own (Euler parameters) add these rows; they come last in `lam`.
    q0, v0 : array_like, shapes (nq,), (nv,)
        The start. Velocities are left-trivialised, which means body axes for rotations.
    mass : function (t, q) -> (nv, nv)
        M, symmetric and positive semidefinite.
    force : function (t, q, v) -> (nv,)
        Applied forces, in the direction in which they act.
    gyro : function (t, q, v) -> (nv,), optional
        Velocity-dependent inertia terms, such as omega x J omega. Default zero.
    constraint : function (t, q) -> (nc,), optional
        Zero where the constraints hold.
    constraint_jacobian : function (t, q) -> (nc, nv)
        B with d(constraint)/dt = B v + explicit time terms. Required with `constraint`.
    constraint_acceleration : function (t, q, v) -> (nc,), optional
        zeta = -(dB/dt) v - explicit time terms, so that B v' = zeta. Default: by differences.
    tangent : function (t, q, v, a, lam) -> K, D, optional
        Derivatives (nv, nv) of M a + gyro - force + B^T lam with respect to q (along q exp) and v. Default: by
        differences.
    energy : function (t, q, v) -> T, V, optional
        Kinetic and potential energy, J, for `Trajectory.energy`.
    kinks : sequence of float
        Times at which the functions are not smooth; steps end there.
    nrows : int, optional
        Number of constraint rows nc, required if the constraint is compiled. Default: the length of
        `constraint(0, q0)`.
    steps : mapping of str to function
        Functions that energy-momentum methods need; `LagrangianModel` provides them.

    Raises
    ------
    ValueError
        For unknown kinds, wrong shapes, NaN in the start, a constraint without its Jacobian, or a mass matrix with a
        negative eigenvalue at the start. An exception inside a function stops the run and reaches the caller unchanged.
    """

    def __init__(
        self,
        space: Space,
        q0: ArrayLike,
        v0: ArrayLike,
        mass: Callable[..., ArrayLike],
        force: Callable[..., ArrayLike],
        gyro: Callable[..., ArrayLike] | None = None,
        constraint: Callable[..., ArrayLike] | None = None,
        constraint_jacobian: Callable[..., ArrayLike] | None = None,
        constraint_acceleration: Callable[..., ArrayLike] | None = None,
        tangent: Callable[..., Any] | None = None,
        energy: Callable[..., Any] | None = None,
        kinks: Sequence[float] = (),
        *,
        nrows: int | None = None,
        steps: Mapping[str, Callable[..., Any]] = MappingProxyType({}),
    ) -> None:
        self.reference = ""
        self.functions = {
            "mass": mass,
            "force": force,
            "gyro": gyro,
            "constraint": constraint,
            "constraint_jacobian": constraint_jacobian,
            "constraint_acceleration": constraint_acceleration,
            "tangent": tangent,
            "energy": energy,
        }
        self.functions = {name: _user_function(name, function) for name, function in self.functions.items()}
        _check_functions(self.functions)
        constraint = self.functions["constraint"]
        self.kinks = [float(kink) for kink in vector("kinks", kinks)]
        q = vector("q0", q0)
        self.space = _blocks(space, q)
        if nrows is None and isinstance(constraint, CompiledFunction):
            raise ValueError("nrows: the number of rows of a compiled constraint expected")
        if nrows is None:
            nrows = 0 if constraint is None else vector("constraint(0, q0)", constraint(0.0, q)).size
        if not isinstance(nrows, (int, np.integer)) or nrows < 0:
            raise ValueError(f"nrows: a whole number >= 0 expected, got {nrows!r}")
        self._nrows = int(nrows)
        functions = {name: _for_core(name, function) for name, function in {**self.functions, **steps}.items()}
        self.core = _core.CallableSystem(self.space, self._nrows, functions, self.kinks)
        self._set_start(q, v0)
        self._check_mass()

    def _check_mass(self) -> None:
        """ValueError if the mass matrix at the start has a negative eigenvalue; runs find other errors."""
        mass: Any = self.functions["mass"]
        try:
            if isinstance(mass, CompiledFunction):
                (values,) = mass.values(0.0, self.q0, None, None, None, self.nv**2, self.nv**2)
                M = array("mass", values.reshape(self.nv, self.nv))
            else:
                M = array("mass", mass(0.0, self.q0.copy()), (self.nv, self.nv))
        except Exception:  # it may only be defined at later times
            return
        check_eigenvalues("mass(0, q0)", M)

    def record(self) -> dict[str, Any]:
        """Keyword arguments from which `CallableModel` rebuilds the model.

        Returns
        -------
        dict
            By the names of the arguments.
        """
        return {
            "space": self.space,
            "q0": self.q0.tolist(),
            "v0": self.v0.tolist(),
            **self.functions,
            "kinks": self.kinks,
            "nrows": self._nrows,
        }

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (self.record(),), self._pickled()

    def __repr__(self) -> str:
        return f"<lgint.CallableModel nq={self.nq} nv={self.nv} nc={self.nc}>"


def _rebuild(record: dict[str, Any]) -> CallableModel:
    return CallableModel(**record)


def check_eigenvalues(name: str, M: Array) -> None:
    """ValueError if a symmetric mass matrix has an eigenvalue that is negative beyond round-off."""
    least = float(np.linalg.eigvalsh(M)[0])
    if least < -1e-10 * np.abs(M).max():
        raise ValueError(f"{name}: no negative eigenvalue expected, got {least:.3g} of {M.tolist()}")


def _user_function(name: str, function: Any) -> Any:
    """A function of the user, as it is or compiled."""
    return checked(name, function, "callable") if is_compiled(function) else function


def _for_core(name: str, function: Any) -> Any:
    return function.capsule(name) if isinstance(function, CompiledFunction) else function


def _check_functions(functions: dict[str, Any]) -> None:
    for name, value in functions.items():
        if value is not None:
            checked_function(name, value)
        elif name in ("mass", "force"):
            raise ValueError(f"{name}: a function is required")
    if (functions["constraint"] is None) != (functions["constraint_jacobian"] is None):
        raise ValueError("constraint and constraint_jacobian belong together: give both or neither")
    if functions["constraint"] is None and functions["constraint_acceleration"] is not None:
        raise ValueError("constraint_acceleration requires constraint and constraint_jacobian")


def _blocks(space: Space, q: np.ndarray) -> list[Any]:
    """(kind, n) of every block, or a tuple of them; n is 0 except for R^n. ValueError if `q` is not in that space."""
    if space == "Rn":
        space = ("Rn", len(q))
    listed: list[Any] = [space] if _is_factor(space) else _list("space", space)
    blocks = [[_factor(factor) for factor in (item if _is_product(item) else [item])] for item in listed]
    rows = {row["name"]: row for row in _core.NODES}
    sizes = [n if kind == "Rn" else rows[kind]["nq"] for kind, n in chain(*blocks)]
    array("q0", q, (sum(sizes),))
    return [tuple(factors) if len(factors) > 1 else factors[0] for factors in blocks]


_WITH_DIMENSION: Final = ("Rn", "first_order")


def _factor(item: Any) -> tuple[str, int]:
    if not _is_factor(item):
        raise ValueError(f'space: kinds of space or pairs such as ("Rn", 2) expected, got {item!r}')
    kind, n = (item, 0) if isinstance(item, str) else (item[0], int(item[1]))
    choice("kind of space", kind, [row["name"] for row in _core.NODES])
    if (kind in _WITH_DIMENSION) != (n > 0):
        raise ValueError(
            f'space: ("Rn", n) or ("first_order", n) with n >= 1, or the name of another kind, expected, got {item!r}'
        )
    return kind, n


def _is_product(item: object) -> bool:
    return isinstance(item, (tuple, list)) and len(item) > 0 and not _is_pair(item)


def _is_factor(item: object) -> bool:
    return isinstance(item, str) or _is_pair(item)


def _is_pair(item: object) -> bool:
    return (
        isinstance(item, (tuple, list))
        and len(item) == 2
        and isinstance(item[0], str)
        and isinstance(item[1], (int, np.integer))
    )


def _list(name: str, value: Any) -> list[Any]:
    try:
        return list(value)
    except TypeError:
        raise ValueError(f"{name}: a list expected, got {value!r}") from None


def vector(name: str, value: ArrayLike) -> Array:
    """A one-dimensional array of any length."""
    given = array(name, value)
    return array(name, given, (given.size,))
