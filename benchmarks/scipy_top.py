"""The heavy top about its fixed point in SciPy and in lgint: processor time of a run and its error.

    python benchmarks/scipy_top.py "name of this machine"

appends to benchmarks/scipy.csv. In SciPy the state is a unit quaternion and the body angular velocity, and the
right-hand side is a Python function. The error is the largest entry of the
difference between the rotation matrix after one second and that of a run by `rk67` with a step of 1e-5 s.
"""

import csv
import datetime
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy.integrate import solve_ivp

import lgint

Array = np.ndarray
MASS, GRAVITY = 15.0, -9.81  # the centre of mass is at (0, 1, 0) in body axes
INERTIA = (0.234375 + MASS, 0.46875, 0.234375 + MASS)  # about the fixed point
START = np.array([1.0, 0.0, 0.0, 0.0, 0.0, 150.0, -4.61538])
RUNS = [("SciPy", solver, tolerance) for solver in ("RK45", "DOP853", "LSODA") for tolerance in (1e-6, 1e-9)]
RUNS += [("lgint", "dopri5", tolerance) for tolerance in (1e-6, 1e-9)]
REPEAT = 5


def rotation(e: Array) -> Array:
    """Rotation matrix of a quaternion."""
    w, x, y, z = e / np.linalg.norm(e)
    skew = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + 2 * w * skew + 2 * skew @ skew


def rate(t: float, state: Array) -> list[float]:
    """Derivative of quaternion and angular velocity, in plain numbers, which is faster than on arrays of three."""
    w, x, y, z, a, b, c = state.tolist()
    (A, B, C), weight = INERTIA, MASS * GRAVITY
    moment_x, moment_z = weight * (1 - 2 * (x * x + y * y)), -weight * 2 * (x * z - w * y)
    return [
        *(-0.5 * (x * a + y * b + z * c), 0.5 * (w * a + y * c - z * b)),
        *(0.5 * (w * b + z * a - x * c), 0.5 * (w * c + x * b - y * a)),
        *((moment_x + (B - C) * b * c) / A, (C - A) * c * a / B, (moment_z + (A - B) * a * b) / C),
    ]


def solve(program: str, solver: str, tolerance: float, top: lgint.Model) -> Array:
    """Rotation matrix after one second."""
    if program == "SciPy":
        return rotation(solve_ivp(rate, (0.0, 1.0), START, method=solver, rtol=tolerance, atol=tolerance).y[:4, -1])
    return lgint.integrate(top, solver, t_end=1.0, rtol=tolerance, atol=tolerance).rotation("top")[-1]


def timed(run: Callable[[], Array]) -> tuple[float, Array]:
    """The least processor time of several repetitions in ms, and the result."""
    least, result = np.inf, run()
    for _ in range(REPEAT):
        begin = time.process_time()
        result = run()
        least = min(least, time.process_time() - begin)
    return 1e3 * least, result


def main(machine: str, path: Path) -> None:
    """Print the table and append it to a file."""
    top = lgint.models.heavy_top(constrained=False, omega0=START[4:])
    exact = lgint.integrate(top, "rk67", t_end=1.0, h=1e-5).rotation("top")[-1]
    about = {"date": datetime.datetime.now().isoformat(timespec="minutes"), "machine": machine}
    rows = []
    for program, solver, tolerance in RUNS:
        ms, result = timed(lambda: solve(program, solver, tolerance, top))  # noqa: B023
        error = np.abs(result - exact).max()
        print(f"{program:<6} {solver:<7} {tolerance:7.0e} {ms:8.2f} ms {error:9.1e}")
        columns = {"program": program, "solver": solver, "tolerance": f"{tolerance:g}", "ms": f"{ms:.4g}"}
        rows.append({**about, **columns, "error": f"{error:.4g}"})
    new = not path.exists()
    with path.open("a", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        if new:
            writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main(sys.argv[1], Path(__file__).with_name("scipy.csv"))
