"""The runs of `tests/files/runs`, and the numbers that they must give whatever version reads them.

They have format 4, in which files hold only the options that were given, and are not to be written again:
`python tests/files/recorded.py FOLDER` writes them to another folder, with `numbers.json`.
"""

import json
import sys
from pathlib import Path

import numpy as np

import lgint
from lgint._run.keep import Keeper

RUNS = Path(__file__).parent / "runs"
GRAVITY = (0.0, 0.0, -9.81)


def hinge(speed=2.0):
    """A bar on a hinge about y with a spring drive, whose rest is more than one turn away."""
    builder = lgint.ModelBuilder(gravity=GRAVITY)
    builder.add_body(
        "bar",
        mass=2.0,
        inertia=(0.02, 0.2, 0.2),
        position=(0.5, 0, 0),
        velocity=(0, 0, -0.5 * speed),
        angular_velocity=(0, speed, 0),
    )
    builder.add_joint("revolute", lgint.ground, "bar", point=(0, 0, 0), axis=(0, 1, 0), name="pin")
    builder.add_joint_drive("pin", stiffness=3.0, damping=0.2, motion=[(0.0, 8.0, 0.0, 0.0)])
    return builder.build()


def rod():
    """A clamped cantilever that is bent and twisted, and sags."""
    builder = lgint.ModelBuilder(gravity=GRAVITY)
    builder.add_rod(
        "rod",
        start=(0, 0, 0),
        end=(1, 0, 0),
        edges=3,
        stiffness=(1e3, 1e3, 1e4, 20.0, 30.0, 25.0),
        inertia=(1.0, 1e-3, 1e-3, 2e-3),
        reference_strain=(0.0, 0.0, 1.0, 0.2, -0.3, 0.5),
        damping=(0.0, 0.0, 1.0, 0.1, 0.1, 0.1),
        clamped=[0],
        formulation="S3R3",
    )
    return builder.build()


# the model, the method, and the arguments of the run
CASES = {
    "top_full": (lgint.models.heavy_top, "genalpha", {"t_end": 0.05, "h": 5e-3, "newton": "full"}),
    "top_modified": (lgint.models.heavy_top, "genalpha", {"t_end": 0.05, "h": 5e-3, "newton": "modified"}),
    "top_defaults": (lgint.models.heavy_top, "genalpha", {"t_end": 0.05, "h": 5e-3}),
    "top_se3": (lambda: lgint.models.heavy_top(formulation="SE3"), "genalpha", {"t_end": 0.05, "h": 5e-3}),
    "bars_eml": (lgint.models.four_bar, "eml", {"t_end": 0.05, "h": 5e-3}),
    "bars_equivariant": (lgint.models.four_bar, "eml", {"t_end": 0.05, "h": 5e-3, "equivariant": True}),
    "top_mph": (
        lambda: lgint.models.heavy_top(formulation="euler_parameters"),
        "mph",
        {"t_end": 0.05, "h": 5e-3},
    ),
    "crank_hht": (
        lambda: lgint.models.slider_crank(formulation="euler_parameters"),
        "hht",
        {"t_end": 0.05, "h": 5e-3},
    ),
    "hinge_drive": (hinge, "genalpha", {"t_end": 2.0, "h": 1e-2, "save_every": 10}),
    "hinge_turns": (lambda: hinge(speed=12.0), "dopri5", {"t_end": 3.0, "rtol": 1e-7, "save_every": 5}),
    "hinge_dense": (lambda: hinge(speed=12.0), "rk44", {"t_end": 0.5, "h": 1e-2, "dense_output": True}),
    "rod": (rod, "genalpha", {"t_end": 0.05, "h": 2.5e-3, "save_every": 2}),
    "rod_explicit": (rod, "rk44", {"t_end": 2e-3, "h": 1e-4}),
    "crank_herk2": (lgint.models.slider_crank, "herk2", {"t_end": 0.02, "h": 1e-3, "save_every": 5}),
    "crank_herk3": (lgint.models.slider_crank, "herk3", {"t_end": 0.02, "h": 1e-3, "save_every": 2}),
    "crank_herk5": (lgint.models.slider_crank, "herk5", {"t_end": 0.05, "rtol": 1e-8}),
}
IN_FOLDERS = ("top_full", "top_modified", "bars_eml", "hinge_drive", "hinge_turns", "rod", "crank_herk2")
INTERRUPTED = ("top_full", "bars_eml", "hinge_turns", "crank_herk3")  # their folders, before the end


def reactions(run):
    """Of all joints that are constraints, in inertial axes (states, joints, 6)."""
    names = [name for name, joint in run.model.joints.items() if not joint.get("holds")]
    return np.stack([run.reaction(name) for name in names], axis=1) if names else np.zeros((len(run), 0, 6))


def resumed(run, arguments, **options):
    """A run that continues from the end of `run` for the same time again; `arguments` are those of `run`."""
    steps = {name: value for name, value in arguments.items() if name in ("h", "save_every", "rtol")}
    end = 2 * arguments["t_end"]
    return lgint.integrate(run.model, run.method, t_end=end, start=run, **steps, **options)


def numbers_of(run, later):
    """The numbers that a run and the one that resumes it must give."""
    chosen = run[:: max(len(run) // 4, 1)]
    some = {
        "t": chosen.t,
        "energy": chosen.energy(),
        "reactions": reactions(chosen),
        "angles": chosen.joint_angles(),
        "later_t": later.t[-1:],
        "later_q": later.q[-1],
        "later_v": later.v[-1],
        "later_lam": later.lam[-1],
        "later_energy": later.energy()[-1:],
        "later_reactions": reactions(later)[-1],
        "later_angles": later.joint_angles()[-1],
    }
    if run.model.rods:
        some |= {"stress": chosen.stress("rod"), "later_stress": later.stress("rod")[-1]}
    if run.sol:
        middle = run.at([0.123, 0.456])
        some |= {"dense_q": middle.q, "dense_v": middle.v, "dense_angles": middle.joint_angles()}
    return {name: np.asarray(values).tolist() for name, values in some.items()}


def rest_numbers(run):
    """The numbers that an equilibrium of the rod must give."""
    return {"t": run.t.tolist(), "energy": run.energy().tolist(), "stress": run.stress("rod").tolist()}


def write(folder):
    """Writes all runs, as files and as folders, and their numbers."""
    folder.mkdir(parents=True, exist_ok=True)
    numbers = {}
    for name, (make, method, arguments) in CASES.items():
        run = lgint.integrate(make(), method, **arguments)
        run.save(folder / f"{name}.npz")
        if name in IN_FOLDERS:
            lgint.integrate(make(), method, **arguments, path=folder / name)
        given = {key: value for key, value in arguments.items() if key in ("newton", "equivariant")}
        numbers[name] = numbers_of(run, resumed(run, arguments, **given))
    rest = lgint.equilibrium(rod(), [0.5, 1.0])
    rest.save(folder / "rod_rest.npz")
    numbers["rod_rest"] = rest_numbers(rest)
    for name in INTERRUPTED:
        make, method, arguments = CASES[name]
        _interrupt(make(), method, arguments, folder / f"{name}_interrupted")
    (folder / "numbers.json").write_text(json.dumps(numbers, indent=0))


def _interrupt(model, method, arguments, folder):
    """A run in a folder that ends abruptly in the middle, as if it had been killed; rows are written four at a time."""
    room, take = Keeper.room, Keeper.take

    def tired(keeper, rows):
        take(keeper, rows)
        if rows["t"][-1] > arguments["t_end"] / 2:
            raise InterruptedError

    Keeper.room, Keeper.take = staticmethod(lambda model: 4), tired
    try:
        lgint.integrate(model, method, **arguments, path=folder)
    except InterruptedError:
        (folder / "end.npz").unlink()
    finally:
        Keeper.room, Keeper.take = room, take


if __name__ == "__main__":
    write(Path(sys.argv[1]))
