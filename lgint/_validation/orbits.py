"""Stars, satellites and vibrations of points: systems that the user writes as functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lgint._args import Array
from lgint._model.callable import CallableModel
from lgint._run.integrate import integrate
from lgint._state.state import State
from lgint._validation.case import Number, case
from lgint._validation.roots import root

SHARP: dict[str, Any] = {"rtol": 1e-13, "atol": 1e-13}


def _points(q: ArrayLike, v: ArrayLike, acceleration: Callable[[float, Array, Array], Array]) -> CallableModel:
    """Coordinates in R^n with the mass one and the acceleration given at (t, q, v)."""
    q = np.ravel(q)
    return CallableModel(("Rn", len(q)), q, np.ravel(v), lambda t, q: np.eye(len(q)), acceleration)


def _stars(masses: Array, x: ArrayLike, v: ArrayLike) -> CallableModel:
    """Points in a plane that attract each other, with a constant of gravitation of one."""

    def pull(t: float, q: Array, v: Array) -> Array:
        apart = q.reshape(-1, 1, 2) - q.reshape(1, -1, 2)
        distance = np.linalg.norm(apart, axis=2) + np.diag(np.full(len(masses), np.inf))
        return np.asarray(-np.einsum("j,ijk->ik", masses, apart / distance[..., None] ** 3).ravel())

    return _points(x, v, pull)


PLEIADES = (  # x and y after 3 units of time
    ("0.3706139143970502", "-3.943437585517392"),
    ("3.237284092057233", "-3.271380973972550"),
    ("-3.222559032418324", "5.225081843456543"),
    ("0.6597091455775310", "-2.590612434977470"),
    ("0.3425581707156584", "1.198213693392275"),
    ("1.562172101400631", "-0.2429682344935824"),
    ("-0.7003092922212495", "1.091449240428980"),
)


@case(
    "pleiades",
    title="seven stars in a plane with close encounters, after 3 units of time",
    source="Hairer, Norsett and Wanner 1993, sect. II.10; Mazzia and Magherini 2008, Test Set for IVP Solvers",
)
def pleiades() -> list[Number]:
    """The mass of star i is i."""
    x = [(3, 3), (3, -3), (-1, 2), (-3, 0), (2, 0), (-2, -4), (2, 4)]
    v = [(0, 0), (0, 0), (0, 0), (0, -1.25), (0, 1), (1.75, 0), (-1.5, 0)]
    run = integrate(_stars(np.arange(1.0, 8.0), x, v), "dop853", t_end=3.0, **SHARP)
    close = "what close encounters make of round-off"
    return [
        Number(f"star {i + 1}, {axis}", printed[k], float(run.q[-1, 2 * i + k]), 1e-10, close)
        for i, printed in enumerate(PLEIADES)
        for k, axis in enumerate("xy")
    ]


@case(
    "figure-eight",
    title="three equal stars that follow each other along an eight: the first one after the period 6.32591398",
    source="Chenciner and Montgomery 2000, p. 881",
)
def eight() -> list[Number]:
    """It comes back to its start, which is printed as well."""
    x, v = np.array([0.97000436, -0.24308753]), np.array([0.93240737, 0.86473146])
    model = _stars(np.ones(3), [x, -x, 0 * x], [v / 2, v / 2, -v])
    end = integrate(model, "dop853", t_end=6.32591398, **SHARP).q[-1]
    rounded = "the start and the period are printed with eight digits, whose rounding grows along the orbit"
    printed = ("0.97000436", "-0.24308753")
    return [Number(axis, p, float(z), 5e-8, rounded) for axis, p, z in zip("xy", printed, end, strict=False)]


@case(
    "arenstorf-orbit",
    title="a satellite that goes round the earth and the moon along Arenstorf's orbit: the period",
    source="Arenstorf 1963; Hairer, Norsett and Wanner 1993, sect. II.0",
)
def arenstorf() -> list[Number]:
    """In axes that turn with the moon; the satellite comes back to the axis between them."""
    moon = 0.012277471

    def pull(t: float, q: Array, v: Array) -> Array:
        earth, near = q + (moon, 0), q - (1 - moon, 0)
        turning = q + 2 * np.array([v[1], -v[0]])
        pulled = (1 - moon) * earth / np.hypot(*earth) ** 3 + moon * near / np.hypot(*near) ** 3
        return np.asarray(turning - pulled)

    def crossing(state: State) -> float:
        return float(state.q[1]) if state.t > 17 else 1.0

    model = _points((0.994, 0), (0, -2.00158510637908252240537862224), pull)
    run = integrate(model, "dop853", t_end=17.1, events=crossing, **SHARP)
    period = run.t_events[0][0] if run.t_events else np.nan
    return [
        Number("period", "17.0652165601579625588917206249", float(period), 1e-10, "round-off along an unstable orbit")
    ]


def _trace(a: float, q: float) -> float:
    """That of the matrix which takes the state of x'' + (a - 2 q cos 2t) x = 0 through half a turn."""

    def swing(start: Sequence[float]) -> Array:
        model = _points(start[:1], start[1:], lambda t, x, v: (2 * q * np.cos(2 * t) - a) * x)
        run = integrate(model, "dop853", t_end=np.pi, **SHARP)
        return np.array([run.q[-1, 0], run.v[-1, 0]])

    return float(swing((1, 0))[0] + swing((0, 1))[1])


@case(
    "mathieu",
    title="a mass on a spring whose stiffness varies, x'' + (a - 10 cos 2t) x = 0: the least stable a",
    source="Abramowitz and Stegun 1964, table 20.1 (characteristic value a_0 at q = 5)",
)
def mathieu() -> list[Number]:
    """By Floquet's theory: the motion repeats itself after half a turn."""
    found = root(lambda a: _trace(a, 5.0) - 2, -5.802, -5.798, xtol=1e-10)
    return [Number("a", "-5.80004602", found)]
