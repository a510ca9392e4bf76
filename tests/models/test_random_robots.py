"""Random robots of URDF files, whose loops joints of the builder close."""

import os

import numpy as np
import pytest
from scipy.optimize import least_squares
from scipy.spatial.transform import Rotation

import lgint
from lgint._build import redundancy
from models import random_robots

MANY = int(os.environ.get("LGINT_FUZZ", "8"))
CLOSING = ("revolute", "spherical", "universal", "cylindrical", "prismatic", "planar", "inline", "rigid", "distance")
AXES = {"spherical": 0, "rigid": 0, "universal": 2}
METHODS = {
    "genalpha": {"index": "stabilized"},
    "genalpha, index 3": {},
    "radau5": {},
    "herk5": {},
    "dopri5": {"project": "both"},
}
GAP = 0.02  # m, by which a loop is open at the start


def closed(seed, folder, gap):
    """A builder of a robot whose last link a joint ties to the ground or to another link, `gap` apart at the start."""
    rng = np.random.default_rng([seed, 3])
    b = lgint.ModelBuilder(gravity=rng.normal(size=3))
    kinds = ("revolute", "continuous", "prismatic", "planar", "floating", "fixed")
    text = random_robots.text(rng, int(rng.integers(3, 7)), kinds, chain=rng.random() < 0.7)
    formulation = str(rng.choice(["minimal", "minimal", "R3xSO3", "SE3"]))
    robot = random_robots.add(b, folder, text, base=str(rng.choice(["fixed", "free"])), formulation=formulation)
    moving = [name for name in b._bodies]
    for _ in range(rng.integers(1, 3)):
        second = str(rng.choice(moving))
        first = str(rng.choice(["ground", *(name for name in moving if name != second)]))
        ends = lgint.ground if first == "ground" else first, second
        add_closing(b, rng, ends, gap)
    return b, robot


def add_closing(b, rng, ends, gap):
    kind = str(rng.choice(CLOSING))
    x, off = rng.uniform(-1, 1, 3), gap * rng.uniform(-1, 1, 3)
    at = [b._at(b._partner(who)) for who in ends]
    points = {"point_a": at[0].local(x), "point_b": at[1].local(x + off)}
    if kind == "distance":
        points["point_b"] = at[1].local(x + (0.4, 0.3, 0.2))
        b.add_distance(*ends, **points, length=np.sqrt(0.29) + off[0])
        return
    axes = Rotation.random(rng=rng).as_matrix()
    given = [{}, {"axis": axes[0]}, {"axis": axes[0], "second_axis": axes[1]}][AXES.get(kind, 1)]
    b.add_joint(kind, *ends, **points, **given)


def residual(model, method):
    """The largest residual of all rows in a run, those that were left out among them."""
    options = {"h": 1e-3, **METHODS[method]}
    run = lgint.integrate(model, method.partition(",")[0], t_end=5e-3, **options)
    core = model.complete.core
    return max(np.abs(core.residual(0.0, q, v)[0]).max() for q, v in zip(run.q, run.v, strict=True))


def check_closed(seed, folder):
    """A loop that is closed at the start is built, whatever is redundant, and stays closed."""
    model = closed(seed, folder, 0.0)[0].build(start="project", redundant="drop")
    assert residual(model, [*METHODS][seed % len(METHODS)]) < 1e-10, seed


def check_open(seed, folder, monkeypatch):
    """A loop that is open at the start is closed and stays so, or is refused by its rows, and cannot be closed."""
    b = closed(seed, folder, GAP)[0]
    try:
        model = b.build(start="project", redundant="drop")
    except ValueError as error:
        assert any(name in str(error) for name in b._joints), error
        assert gap_left(b, monkeypatch) > 1e-8, (seed, str(error))
        return False
    assert residual(model, [*METHODS][seed % len(METHODS)]) < 1e-10, seed
    return True


def gap_left(b, monkeypatch):
    """The residual of a configuration that SciPy finds near the start, from all rows."""
    with monkeypatch.context() as without:
        without.setattr(redundancy, "resolve", lambda model, *_: model)
        without.setattr(redundancy, "closed", lambda model: model)
        model = b.build(start="project")
    q = model.q0
    for _ in range(20):
        found = least_squares(
            lambda x, q=q: model.core.residual(0.0, model.core.retract(q, x), model.v0)[0],
            np.zeros(model.nv),
            xtol=1e-15,
            ftol=1e-15,
            gtol=1e-15,
            max_nfev=20,
        )
        q = model.core.retract(q, found.x)
        if np.abs(found.fun).max() < 1e-12:
            break
    return np.abs(found.fun).max()


def test_loops_of_robots_are_built_and_closed(tmp_path):
    for seed in range(80):
        check_closed(seed, tmp_path)


def test_open_loops_of_robots_are_closed_or_named(tmp_path, monkeypatch):
    built = [check_open(seed, tmp_path, monkeypatch) for seed in range(16)]
    assert 3 < sum(built) < 13


@pytest.mark.slow
@pytest.mark.parametrize("share", range(8))
def test_many_loops_of_robots(share, tmp_path, monkeypatch):
    for seed in range(80 + share, 80 * (1 + MANY), 8):
        check_closed(seed, tmp_path)
    for seed in range(16 + share, 16 * (1 + MANY), 8):
        check_open(seed, tmp_path, monkeypatch)
