"""Peers of `lgint bench --stiff`: codes for F(t, y, y') = 0 on our own equations, redundant and stabilised (GGL).

y = (q, v, lam, mu) in Euler parameters: see `benchmarks/ggl.c`, which evaluates the residual by the terms of the core
and is compiled here. A function compiled by numba calls it for IDA, so that a call from the peer takes about a
microsecond more than the residual itself; the table's times have this overhead subtracted, as if the peer had called C.
The Jacobian is analytic and sparse: stiffness, damping, mass and B come from one evaluation. It lacks only the
derivative of B^T mu by q, which vanishes with mu.
"""

from __future__ import annotations

import ctypes
import importlib
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import numpy as np

from lgint._args import Array
from lgint._model.model import Model

ROOT: Final = Path(__file__).parents[2]
FLAGS: Final = ("-std=c11", "-O3", "-ffp-contract=off", "-fno-wrapv", "-Wall", "-Wextra", "-shared", "-fPIC")
SYSTEM_OFFSET: Final = object.__basicsize__  # of the pointer to the system in an object of the core: bind/system.h
UNCHECKED: Final = 1e12  # atol of multipliers, which take no part in the errors, as in our own methods
DENSE: Final = {"IDA": 300, "scipy_dae Radau": 150}  # unknowns up to which the dense solver of a peer is faster


def load(name: str) -> Any:
    """A peer's package, None if it is not installed."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def compiled(root: Path = ROOT) -> ctypes.CDLL:
    """The library made of ggl.c in the sources at `root`."""
    folder = Path(tempfile.mkdtemp(prefix="lgint_ggl"))
    try:
        out = folder / "ggl.so"
        source = root / "benchmarks" / "ggl.c"
        subprocess.run(["cc", *FLAGS, f"-I{root / 'csrc'}", str(source), "-o", str(out), "-lm"], check=True)
        return ctypes.CDLL(str(out))
    finally:
        shutil.rmtree(folder)


class Problem:
    """The equations of a model in Euler parameters, for codes that solve F(t, y, y') = 0."""

    def __init__(self, model: Model, library: ctypes.CDLL) -> None:
        core = model.core
        self.model, self.nv, self.nrows = model, model.nv, model.nc
        self.size = 2 * (self.nv + self.nrows)
        self._system = ctypes.c_void_p.from_address(id(core) + SYSTEM_OFFSET).value
        pointer, long = ctypes.c_void_p, ctypes.c_long
        library.ggl_work.argtypes, library.ggl_work.restype = [pointer], long
        self._function = library.ggl_residual
        self._function.argtypes = [pointer, pointer, pointer, ctypes.c_double, pointer, pointer, pointer]
        self._function.restype = ctypes.c_int
        self._repeat = library.ggl_repeat
        self._repeat.argtypes, self._repeat.restype = [pointer] * 6 + [long], None
        self._work = np.zeros(library.ggl_work(self._system) + 1)
        self._mem = np.array([*model.mem0, 0.0])
        self.residual = self._fast() or self._plain
        self._find_entries()

    def _plain(self, t: float, y: Array, yp: Array, res: Array) -> None:
        at = (array.ctypes.data for array in (y, yp, res))
        self._function(self._system, self._mem.ctypes.data, self._work.ctypes.data, t, *at)

    def _fast(self) -> Callable[..., None] | None:
        """The residual as a function of numba, which takes arrays with less overhead than ctypes does."""
        numba = load("numba")
        if numba is None:
            return None
        function, system = self._function, self._system
        mem, work = self._mem.ctypes.data, self._work.ctypes.data

        @numba.njit
        def residual(t, y, yp, res):  # type: ignore[no-untyped-def]
            function(system, mem, work, t, y.ctypes.data, yp.ctypes.data, res.ctypes.data)

        return residual  # type: ignore[no-any-return]

    def start(self) -> tuple[Array, Array]:
        """The start: y and y'."""
        model = self.model
        a, lam = model.core.initial(0.0, model.q0, model.v0, model.mem0)
        none = np.zeros(self.nrows)
        return np.concatenate([model.q0, model.v0, lam, none]), np.concatenate([model.v0, a, none, none])

    def overhead(self, calls: int = 20_000) -> float:
        """Seconds that a call of `residual` takes in addition to the residual itself."""
        y, yp = self.start()
        res = np.zeros(self.size)
        self.residual(0.0, y, yp, res)
        begin = time.process_time()
        for _ in range(calls):
            self.residual(0.0, y, yp, res)
        between = time.process_time()
        at = (array.ctypes.data for array in (y, yp, res))
        self._repeat(self._system, self._mem.ctypes.data, self._work.ctypes.data, *at, calls)
        return max(2 * between - begin - time.process_time(), 0.0) / calls

    # ---- the Jacobian ----

    def _find_entries(self) -> None:
        """Rows and columns of all entries, by pieces: dF/dy = (-1, B^T, K, D, B^T, B, Z, B), dF/dy' = (1, M)."""
        row, column, rb, cb = (np.asarray(x, dtype=np.int64) for x in self.model.core.sparsity())
        nv, nc = self.nv, self.nrows
        one, self._rows = np.arange(nv), (rb, cb)
        lam, mu, pos, vel = 2 * nv, 2 * nv + nc, 2 * nv, 2 * nv + nc
        y = [
            (one, nv + one),
            (cb, mu + rb),
            (nv + row, column),
            (nv + row, nv + column),
            (nv + cb, lam + rb),
            (pos + rb, cb),
            (vel + rb, cb),
            (vel + rb, nv + cb),
        ]
        yp = [(one, one), (nv + row, nv + column)]
        rows, columns = (np.concatenate([piece[i] for piece in (*y, *yp)]) for i in (0, 1))
        self._split = sum(len(piece[0]) for piece in y)
        entries, self._slot = np.unique(columns * self.size + rows, return_inverse=True)  # column by column
        self.indices, self._columns = entries % self.size, entries // self.size
        self.indptr = np.searchsorted(self._columns, np.arange(self.size + 1))

    def _parts(self, t: float, y: Array, yp: Array) -> tuple[Array, Array]:
        """The entries of dF/dy and of dF/dy'."""
        nv, nc = self.nv, self.nrows
        q, v, lam, a = y[:nv], y[nv : 2 * nv], y[2 * nv : 2 * nv + nc], yp[nv : 2 * nv]
        core, mem = self.model.core, self.model.mem0
        found = core.sparse(t, q, v, a, lam, mem=mem)
        Z = core.evaluate(t, q, v, mem=mem, want="Z")["Z"][self._rows]
        B, one = found["B"], np.ones(nv)
        return np.concatenate([-one, B, found["K"], found["D"], B, B, Z, B]), np.concatenate([one, found["M"]])

    def jacobian(self, t: float, y: Array, yp: Array, weight: float) -> Array:
        """The entries of dF/dy + weight dF/dy' in compressed columns."""
        by_y, by_yp = self._parts(t, y, yp)
        return self._summed(np.concatenate([by_y, weight * by_yp]))

    def _summed(self, entries: Array) -> Array:
        """One value for each place of the matrix, at which several entries may meet."""
        values = np.zeros(len(self.indices))
        np.add.at(values, self._slot, entries)
        return values

    def jacobians(self, t: float, y: Array, yp: Array) -> tuple[Any, Any]:
        """dF/dy and dF/dy' as sparse matrices."""
        from scipy.sparse import csc_array

        parts = self._parts(t, y, yp)
        none = [np.zeros(len(parts[0])), np.zeros(len(parts[1]))]
        pairs = (np.concatenate([parts[0], none[1]]), np.concatenate([none[0], parts[1]]))
        values = (self._summed(pair) for pair in pairs)
        shape = (self.size, self.size)
        first, second = (csc_array((x, self.indices, self.indptr), shape=shape) for x in values)
        return first, second


def ida(problem: Problem, solver: str, rtol: float, t_end: float) -> tuple[Array, int]:
    """SUNDIALS IDA through scikit-sundae: y at the end, and the number of residuals."""
    from scipy.sparse import csc_matrix

    sksundae = importlib.import_module("sksundae")
    nv, nc = problem.nv, problem.nrows

    def jacobian(t: float, y: Array, yp: Array, res: Array, cj: float, out: Array) -> None:
        values = problem.jacobian(t, y, yp, cj)
        if out.ndim == 1:
            out[:] = values
        else:
            out[problem.indices, problem._columns] = values

    shape = (problem.size, problem.size)
    ones = csc_matrix((np.ones(len(problem.indices)), problem.indices, problem.indptr), shape=shape)
    more = {"sparsity": ones} if solver == "sparse" else {}
    dae = sksundae.ida.IDA(
        problem.residual,
        jacfn=jacobian,
        linsolver=solver,
        algebraic_idx=np.arange(2 * nv, problem.size),
        rtol=rtol,
        atol=np.repeat([rtol, UNCHECKED], [2 * nv, 2 * nc]),
        max_num_steps=10**7,
        **more,
    )
    found = dae.solve(np.array([0.0, t_end]), *problem.start())
    if not found.success:
        raise RuntimeError(f"IDA: {found.message}")
    return np.array(found.y[-1]), int(found.nfev)


def radau(problem: Problem, solver: str, rtol: float, t_end: float) -> tuple[Array, int]:
    """SciPy's Radau method for F(t, y, y') = 0, of the package scipy_dae."""
    solve_dae = importlib.import_module("scipy_dae.integrate").solve_dae
    calls = 0

    def residual(t: float, y: Array, yp: Array) -> Array:
        nonlocal calls
        calls += 1
        res = np.empty(problem.size)
        problem.residual(t, np.ascontiguousarray(y), np.ascontiguousarray(yp), res)
        return res

    nv, nc = problem.nv, problem.nrows
    atol = np.repeat([rtol, UNCHECKED], [2 * nv, 2 * nc])
    dense = solver == "dense"

    def jacobians(t: float, y: Array, yp: Array) -> tuple[Any, Any]:
        pair = problem.jacobians(t, y, yp)
        return (pair[0].toarray(), pair[1].toarray()) if dense else pair

    found = solve_dae(
        residual, (0.0, t_end), *problem.start(), method="Radau", rtol=rtol, atol=atol, jac=jacobians, t_eval=[t_end]
    )
    if not found.success:
        raise RuntimeError(f"Radau: {found.message}")
    return np.array(found.y[:, -1]), calls
