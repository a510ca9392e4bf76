"""The tables of forms on the page on energy-momentum methods: copy what it prints.

With the name of a file it writes the figures of the equivariant form there;
`both_forms_before.csv` has those of the version before turns were Cayley vectors.
"""

import csv
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import lgint

BEFORE = Path(__file__).with_name("both_forms_before.csv")
EULER: dict[str, Any] = {"formulation": "euler_parameters"}
ALL, ABOUT_X, ABOUT_Z = slice(None), slice(0, 1), slice(2, 3)
PARTS = ("energy", "linear", "angular", "reach", "error", "time")


@dataclass(frozen=True)
class Case:
    """A model with the end and the step of its runs, and what they conserve."""

    model: Any
    end: float
    h: float
    early: float  # where attitudes are compared
    begin: float = 0.0  # the end of loads
    energy: bool = True
    linear: bool = False
    angular: slice | None = None  # these components


def rigid_joint() -> lgint.Model:
    """Two free bodies with arms to a rigid joint."""
    b, spin = lgint.ModelBuilder(**EULER), np.array([1.0, 2.0, -1.5])
    for i, x in enumerate(np.array([[-0.4, 0.1, 0.0], [0.5, -0.2, 0.3]])):
        b.add_body(
            f"body{i}",
            mass=1.0 + i,
            inertia=(0.1, 0.2, 0.15 + 0.1 * i),
            position=x,
            velocity=(0.1, 0.2, -0.3) + np.cross(spin, x),
            angular_velocity=spin,
        )
    b.add_joint("rigid", "body0", "body1", point=(0.1, 0.4, -0.2))
    return b.build()


def hub() -> lgint.Model:
    """A body that spins with a rod of six edges, whose first node a rigid joint holds."""
    b, spin = lgint.ModelBuilder(**EULER), np.array([0.4, 0.2, 3.0])
    moves, nodes = (0.3, -0.1, 0.2), np.linspace((0.2, 0, 0), (1.2, 0, 0), 7)
    b.add_body(
        "hub", mass=2.0, inertia=(0.1, 0.2, 0.25), velocity=moves, angular_velocity=spin
    )
    b.add_rod(
        "arm",
        nodes=nodes,
        attached={0: "hub"},
        stiffness=(4e3, 4e3, 1e4, 30.0, 20.0, 15.0),
        inertia=(0.5, 2e-3, 3e-3, 5e-3),
        velocity=np.add(moves, np.cross(spin, nodes)),
        **EULER,
    )
    return b.build(start="project")


FREE: dict[str, Any] = {"linear": True, "angular": ALL}
DRIVEN: dict[str, Any] = {"energy": False}
GIVEN: dict[str, dict[str, Any]] = {  # what is not the default of a model
    "rotor": {"damping": 0.0, "gravity": 0.0, "omega0": (20944.0, 50.0, 0.0)},
    "crank_drive_v8": {"torque": 0.0, "omega0": 100.0},
}
RUNS: dict[str, tuple[tuple[float, ...], dict[str, Any]]] = {
    "free_body": ((5.0, 0.01, 0.1), {"angular": ALL}),
    "lie_term": ((5.0, 0.01, 0.5), DRIVEN),
    "single_axis": ((5.0, 0.01, 0.05), DRIVEN),
    "steady_top": ((1.0, 0.002, 0.1), {"angular": ABOUT_Z}),
    "heavy_top": ((1.0, 0.001, 0.1), {"angular": ABOUT_Z}),
    "rotor": ((0.1, 1e-5, 5e-4), {"angular": ABOUT_X}),
    "mass_spring": ((10.0, 0.1, 1.0), {}),
    "spring_pendulum": ((1.0, 0.01, 0.1), {"angular": ABOUT_Z}),
    "pendulum_chain": ((1.0, 0.002, 0.5), {}),
    "slider_crank": ((2.0, 0.002, 0.5), {}),
    "crank_drive_v8": ((1.0, 5e-4, 0.05), {}),
    "puma560": ((1.0, 0.001, 0.5), DRIVEN),
    "four_bar": ((20.0, 0.1, 0.5, 1.0), FREE),
    "roll_up": ((5.0, 0.01, 0.5), DRIVEN),
    "flying_spaghetti": ((40.0, 0.05, 0.5, 5.0), FREE),
}


def model(name: str) -> Any:
    """One of `lgint.models`, its bodies in Euler parameters."""
    bodies = EULER if "formulation" in lgint.models.parameters(name) else {}
    return lgint.models.get(name)(**GIVEN.get(name, {}), **bodies)


def cases() -> dict[str, Case]:
    """The models by their names in the tables."""
    named = {f"`{n}`": Case(model(n), *run, **how) for n, (run, how) in RUNS.items()}
    free = {"rigid joint": rigid_joint(), "hub with a rod": hub()}
    return named | {name: Case(of, 5.0, 0.01, 0.5, **FREE) for name, of in free.items()}


# ---- figures of a run ----


def run(case: Case, method: str, end: float, **options: Any) -> lgint.Trajectory:
    """The run, or how far it has come."""
    try:
        return lgint.integrate(case.model, method, t_end=end, h=case.h, **options)
    except lgint.IntegrationError as failed:
        assert failed.trajectory is not None
        return failed.trajectory


def seconds_per_step(case: Case, method: str, **options: Any) -> float:
    """Processor time, the least of some runs over 200 steps or as many as it takes."""
    times = []
    for _ in range(5):
        begin = time.process_time()
        found = run(case, method, min(case.end, 200 * case.h), **options)
        times.append((time.process_time() - begin) / found.stats.steps)
    return min(times)


def moved(values: np.ndarray, components: slice = ALL) -> float:
    """How far they are from their start, over the largest of all components."""
    return float(np.abs(values - values[0])[:, components].max() / np.abs(values).max())


def figures(case: Case, method: str, equivariant: bool) -> dict[str, float]:
    """What the table has of a form; NaN: not conserved."""
    found = run(case, method, case.end, equivariant=equivariant)
    late = found.t >= case.begin - 1e-9
    of = dict.fromkeys(PARTS, np.nan) | {"reach": float(found.t[-1])}
    if case.energy:
        E = found.energy("generalized")[late]
        of["energy"] = float(np.ptp(E) / found.energy("kinetic").max())
    if case.linear:
        of["linear"] = moved(found.momentum()[late])
    if case.angular is not None:
        of["angular"] = moved(turning(case, found)[late], case.angular)
    of["error"] = error(case, method, equivariant)
    of["time"] = seconds_per_step(case, method, equivariant=equivariant)
    of["time"] /= seconds_per_step(case, "genalpha")
    return of


def turning(case: Case, found: lgint.Trajectory) -> np.ndarray:
    """The angular momentum; of coordinates their momenta, of which one is that."""
    bodies = isinstance(case.model, lgint.Model)
    return found.angular_momentum() if bodies else found.extra["p"]


def error(case: Case, method: str, equivariant: bool) -> float:
    """The largest of all attitudes, or coordinates, against a run of dopri5."""
    tight = {"rtol": 1e-10, "atol": 1e-10}
    best = lgint.integrate(case.model, "dopri5", t_end=case.early, **tight)
    found = run(case, method, case.early, equivariant=equivariant)
    if not isinstance(case.model, lgint.Model):
        return float(np.abs(found.q[-1] - best.q[-1]).max())
    errors = [found.rotation(b)[-1] - best.rotation(b)[-1] for b in case.model.bodies]
    return float(np.abs(errors).max())


def methods(case: Case) -> tuple[str, ...]:
    """Those that run the model."""
    return ("reml", "emh") if isinstance(case.model, lgint.Model) else ("reml",)


# ---- tables ----


def cell(part: str, values: list[float]) -> str:
    """Several figures of a kind."""
    form = {"reach": ".3g", "error": ".1e", "time": ".1f"}.get(part, ".0e")
    if np.isnan(values).any():
        return "-"
    texts = [format(value, form) if value else "0" for value in values]
    return texts[0] if len({*texts}) == 1 and part == "reach" else " / ".join(texts)


def lines(name: str, case: Case, method: str, before: dict[str, float]) -> list[str]:
    """A line of each of the two tables: printed, before, after."""
    printed, kept = (figures(case, method, form) for form in (False, True))
    all_three = {part: [printed[part], before[part], kept[part]] for part in PARTS}
    cells = {part: cell(part, values) for part, values in all_three.items()}
    heads = (name, f"{name}, {case.h:g}, {case.early:g}")
    both_parts = zip(heads, (PARTS[:3], PARTS[3:]), strict=True)
    return [
        f"| {head} | `{method}` | {' | '.join(cells[part] for part in parts)} |"
        for head, parts in both_parts
    ]


def earlier() -> dict[tuple[str, str], dict[str, float]]:
    """The figures of before, by name and method."""
    with BEFORE.open(newline="") as file:
        rows = list(csv.DictReader(file))
    return {
        (row["model"], row["method"]): {part: float(row[part]) for part in PARTS}
        for row in rows
    }


def tables() -> None:
    """Print both tables."""
    rows = earlier()
    printed: list[list[str]] = []
    for name, case in cases().items():
        for method in methods(case):
            printed.append(lines(name, case, method, rows[name, method]))
    for table in zip(*printed, strict=True):
        print("\n".join(line for line in table if "| - | - | - |" not in line))
        print()


def record(path: str) -> None:
    """Write the figures of the equivariant form to a file."""
    with open(path, "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["model", "method", *PARTS])
        for name, case in cases().items():
            for method in methods(case):
                kept = figures(case, method, True)
                writer.writerow([name, method, *(f"{kept[part]:.3g}" for part in PARTS)])


if __name__ == "__main__":
    record(sys.argv[1]) if len(sys.argv) > 1 else tables()
