"""The table of both forms on the page on energy-momentum methods: copy what it prints."""

import time

import numpy as np

import lgint

EULER = {"formulation": "euler_parameters"}
# model, end, step, when energy and momenta begin to be constant
MODELS = {
    "free_body": (lgint.models.free_body(), 5.0, 0.01, 0.0),
    "steady_top": (lgint.models.steady_top(), 1.0, 0.002, 0.0),
    "four_bar": (lgint.models.four_bar(), 20.0, 0.1, 1.0),
    "heavy_top": (lgint.models.heavy_top(**EULER), 1.0, 0.001, 0.0),
    "slider_crank": (lgint.models.slider_crank(**EULER), 1.0, 0.002, 0.0),
    "pendulum_chain": (lgint.models.pendulum_chain(**EULER), 1.0, 0.002, 0.0),
    "flying_spaghetti": (lgint.models.flying_spaghetti(**EULER), 40.0, 0.05, 5.0),
}
# all of the angular momentum is constant, or that about the vertical
FREE = {"free_body", "four_bar", "flying_spaghetti"}
VERTICAL = {"steady_top", "heavy_top"}


def run(model, method, end, h, equivariant):
    """The run, or how far it has come, and its processor time per step."""
    begin = time.process_time()
    try:
        found = lgint.integrate(model, method, t_end=end, h=h, equivariant=equivariant)
    except lgint.IntegrationError as failed:
        found = failed.trajectory
    return found, (time.process_time() - begin) / found.stats.steps


def row(name, method):
    """A line of the table: the two forms side by side."""
    model, end, h, begin = MODELS[name]
    early = lgint.integrate(model, "dopri5", t_end=0.5, rtol=1e-10, atol=1e-10)
    body = "rod" if name == "slider_crank" else list(model.bodies)[-1]
    part = slice(None) if name in FREE else slice(2, 3)
    cells, times = [], []
    for equivariant in (False, True):
        found, spent = run(model, method, end, h, equivariant)
        late = found.t >= begin - 1e-9
        L = found.angular_momentum()[late]
        apart = np.abs(L - L[0])[:, part].max() / np.abs(L).max()
        energy = np.ptp(found.energy("generalized")[late]) / found.energy("kinetic").max()
        short, _ = run(model, method, 0.5, h, equivariant)
        error = np.abs(short.rotation(body)[-1] - early.rotation(body)[-1]).max()
        kept = f"{apart:.0e}" if name in FREE | VERTICAL else "-"
        cells.append([f"{energy:.0e}", kept, f"{found.t[-1]:.3g}", f"{error:.1e}"])
        times.append(spent)
    pairs = [f"{printed} / {kept}" for printed, kept in zip(*cells, strict=True)]
    cells = [f"`{name}`, {h}", f"`{method}`", *pairs, f"{times[1] / times[0]:.1f}"]
    return f"| {' | '.join(cells)} |"


def main() -> None:
    """Print the table."""
    for name in MODELS:
        for method in ("reml", "emh"):
            print(row(name, method), flush=True)


if __name__ == "__main__":
    main()
