"""Small systems that are made directly with the compiled core."""

import numpy as np

from cores import core_model
from lgint import _core

GRAVITY = 9.81
IDENTITY = np.eye(3).ravel()
AT_REST = np.concatenate([np.zeros(3), IDENTITY])  # q of one R3xSO3 body at the origin


def oscillator(kinks=(), constant_mass=False, **functions):
    """Two uncoupled unit oscillators, q'' = -q, with every function that any method needs."""
    given = {
        "mass": lambda t, q: np.eye(2),
        "force": lambda t, q, v: -q,
        "potential": lambda t, q: q @ q / 2,
        "potential_gradient": lambda t, q: q,
        "mass_gradient": lambda t, q: np.zeros((2, 2, 2)),
        **functions,
    }
    return _core.CallableSystem([("Rn", 2)], 0, given, kinks, constant_mass)


def pendulum(kinks=(), **functions):
    """A unit mass on the unit circle in the plane."""
    given = {
        "mass": lambda t, q: np.eye(2),
        "force": lambda t, q, v: np.array([0.0, -GRAVITY]),
        "constraint": lambda t, q: [0.5 * (q @ q - 1)],
        "constraint_jacobian": lambda t, q: q[None, :],
        **functions,
    }
    return _core.CallableSystem([("Rn", 2)], 1, given, kinks)


PENDULUM_START = ([1.0, 0.0], [0.0, 0.0])
BODY = ("rigid_body", "body", [0], [2.0, 0.3, 0.4, 0.5, 0, 0, 0], None)
WEIGHT = ("gravity", "weight", [0], [2.0, 0, 0, -GRAVITY], None)


def ball_joint(name):
    """The description of a spherical joint between frames 2 (ground) and 1 (body)."""
    return ("spherical", name, [2, 1], [0.0, *IDENTITY, *IDENTITY], None)


def model(*more, kind="R3xSO3"):
    """One body under gravity, with frames at its centre of mass, 1 m below it, and at the origin of the ground."""
    frames = [(0, [0.0] * 6), (0, [0, 0, 0, 0, 0, -1.0]), (-1, [0.0] * 6)]
    return core_model([(kind, 0)], frames, [BODY, WEIGHT, *more])


def top(kind="R3xSO3"):
    """The body on a ball joint at the origin."""
    return model(ball_joint("ball"), kind=kind)


def top_start():
    """The centre of mass is at (0, 0.6, 0.8), and the top spins about its axis."""
    R = np.array([[1, 0, 0], [0, 0.8, 0.6], [0, -0.6, 0.8]])
    omega = np.array([0.1, 0.2, 20.0])
    lever = R @ [0, 0, 1.0]
    return np.concatenate([lever, R.ravel()]), np.concatenate([np.cross(R @ omega, lever), omega])


def top_start_in_euler_parameters():
    """The same start: the top is turned about x by the angle between (0, 0.6, 0.8) and the vertical."""
    (q, v), half = top_start(), -np.arcsin(0.6) / 2
    s, x, (a, b, c) = np.cos(half), np.sin(half), v[3:] / 2
    return np.append(q[:3], [s, x, 0.0, 0.0]), np.append(v[:3], [-x * a, s * a, s * b - x * c, s * c + x * b])


def run(system, method, q, v, *, t_end=1.0, h=0.01, every=1, stops=None, start=None, t0=0.0, progress=None, **options):
    """Calls `_core.integrate` with defaults; a `start` that is a string is the option `start` of the method."""
    if isinstance(start, str):
        start, options = None, {**options, "start": start}
    return _core.integrate(system, method, t0, t_end, h, every, q, v, start, options, progress, stops=stops)


def last(result):
    """The last state of a run in the form that resumes it, followed by its q and v."""
    start = {"vdot": result["vdot"][-1], "lam": result["lam"][-1], "mem": result["mem"][-1], "carry": result["carry"]}
    return result["q"][-1], result["v"][-1], start


def same_bits(first, second):
    """Whether two results hold the same numbers, apart from the time that the runs took."""
    names = [name for name in first if name not in ("stats", "end", "knots", "nearest", "parasite")]
    if any(first[name] != second[name] for name in ("nearest", "parasite")):
        return False
    return all(first[name].tobytes() == second[name].tobytes() for name in names)


def pushed_top(kind="R3xSO3"):
    """The top under a small force that a Python function of time returns."""
    return model(ball_joint("ball"), ("force", "push", [0], [0.0, 2.0], lambda t: [0.1 * t, 0.0, 0.0]), kind=kind)
