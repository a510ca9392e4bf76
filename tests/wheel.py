"""Checks an installed wheel from a folder without the sources; run by hand or by `make wheel`."""

import subprocess
import sys
from pathlib import Path

import numpy as np

import lgint
from lgint import _core

if Path(lgint.__file__).is_relative_to(Path(__file__).parents[1] / "lgint"):
    sys.exit("lgint comes from the source folder, not from a wheel")

top = lgint.integrate(lgint.models.heavy_top(), "genalpha", t_end=0.1, h=1e-3, sigma="optimal")
reference = lgint.integrate(lgint.models.heavy_top(formulation="SE3"), "dopri5", t_end=0.1, rtol=1e-10, atol=1e-10)
np.testing.assert_allclose(top.rotation("top")[-1], reference.rotation("top")[-1], atol=1e-3)

# nothing holds this pendulum in its horizontal start: the tangent is singular there, and LAPACK is called
builder = lgint.ModelBuilder(gravity=(0, 0, -9.81))
builder.add_body("bar", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(1, 0, 0))
builder.add_joint("revolute", lgint.ground, "bar", point=(0, 0, 0), axis=(0, 1, 0))
hanging = lgint.equilibrium(builder.build())
np.testing.assert_allclose(hanging.position("bar")[-1], (0, 0, -1), atol=1e-12)
if not hanging.stats.dense_fallbacks:
    sys.exit("LAPACK was not called")

command = [sys.executable, "-m", "lgint", "run", "heavy_top", "--method", "rk44", "--h", "1e-3", "--t-end", "0.01"]
subprocess.run(command, check=True)

command = [sys.executable, "-m", "lgint", "bench"]
bench = subprocess.run(command, capture_output=True, text=True)
if bench.returncode != 2 or "part of the sources only" not in bench.stderr:
    sys.exit(f"lgint bench does not ask for the sources: {bench.stderr}")

module = Path(_core.__file__).read_bytes()
if sys.platform == "linux" and (b".symtab" in module or b".debug_info" in module):
    sys.exit(f"the extension is not stripped, and has {len(module) / 1e6:.1f} MB")

print(f"lgint {lgint.__version__} from {Path(lgint.__file__).parent} works")
