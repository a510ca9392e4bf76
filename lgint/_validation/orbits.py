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


ENRIGHT = "Enright and Pryce 1987, ACM TOMS algorithm 648, problem"
SHORT_OF = "the source prints sixteen digits; our tolerances are 1e-13 in each step"

PLANETS = (  # mass, position, velocity per 100 days, and the position after 2000 days
    ("Jupiter", 0.954786104043e-3, (3.42947415189, 3.35386959711, 1.35494901715),
     (-0.557160570446, 0.505696783289, 0.230578543901),
     ("-4.792730224323733", "-2.420550725448973", "-0.9212509306014886")),
    ("Saturn", 0.285583733151e-3, (6.64145542550, 5.97156957878, 2.18231499728),
     (-0.415570776342, 0.365682722812, 0.169143213293),
     ("-4.217310404035213", "7.356202947498970", "3.223785985421212")),
    ("Uranus", 0.437273164546e-4, (11.2630437207, 14.6952576794, 6.27960525067),
     (-0.325325669158, 0.189706021964, 0.0877265322780),
     ("4.035559443262270", "17.19865528670555", "7.478910794233703")),
    ("Neptune", 0.517759138449e-4, (-30.1552268759, 1.65699966404, 1.43785752721),
     (-0.0240476254170, -0.287659532608, -0.117219543175),
     ("-29.98759326324844", "-4.107310937550929", "-0.9277008321754407")),
    ("Pluto", 0.277777777778e-5, (-21.1238353380, 28.4465098142, 15.3882659679),
     (-0.176860753121, -0.216393453025, -0.0148647893090),
     ("-24.42125302518482", "23.81459045746554", "14.92096306951359")),
)  # fmt: skip


@case(
    "outer-planets",
    title="five outer planets that attract each other, as seen from the sun, after 2000 days",
    source=f"{ENRIGHT} C5",
)
def planets() -> list[Number]:
    """Positions in astronomical units; the inner planets are a part of the sun."""
    gravitation, sun = 2.95912208286, 1.00000597682
    masses = np.array([row[1] for row in PLANETS])

    def pull(t: float, q: Array, v: Array) -> Array:
        x = q.reshape(-1, 3)
        near = x / np.linalg.norm(x, axis=1)[:, None] ** 3
        apart = x[:, None] - x[None]
        distance = np.linalg.norm(apart, axis=2) + np.diag(np.full(len(x), np.inf))
        others = np.einsum("j,ijk->ik", masses, apart / distance[..., None] ** 3) + masses @ near
        return np.asarray(-gravitation * (sun * near + others).ravel())

    model = _points([row[2] for row in PLANETS], [row[3] for row in PLANETS], pull)
    x = integrate(model, "dop853", t_end=20.0, **SHARP).q[-1].reshape(-1, 3)
    return [
        Number(f"{row[0]}, {axis}", row[4][k], float(x[i, k]), 1e-10, SHORT_OF)
        for i, row in enumerate(PLANETS)
        for k, axis in enumerate("xyz")
    ]


@case(
    "eccentric-orbit",
    title="a satellite on an ellipse of eccentricity 0.9, with a period of 2 pi, after 20 units of time",
    source=f"{ENRIGHT} D5",
)
def ellipse() -> list[Number]:
    """It starts where it is nearest."""

    def pull(t: float, q: Array, v: Array) -> Array:
        return np.asarray(-q / np.hypot(*q) ** 3)

    run = integrate(_points((0.1, 0), (0, 19**0.5), pull), "dop853", t_end=20.0, **SHARP)
    printed = ("-1.295266250987574", "0.4003938963792321", "-0.6775390924707566", "-0.1270838154278686")
    found = (*run.q[-1], *run.v[-1])
    names = ("x", "y", "velocity x", "velocity y")
    return [Number(n, p, float(z), 1e-10, SHORT_OF) for n, p, z in zip(names, printed, found, strict=True)]


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


def _on_a_sphere() -> Array:
    """Twenty points on four circles of latitude, where they start."""
    circles = ((3, 13, 3 / 8), (7, 29, 1 / 8), (6, 7, -2 / 15), (4, 17, -3 / 10))
    found = []
    for count, part, latitude in circles:
        angle, rise = 2 * np.pi * np.arange(1, count + 1) / count + np.pi / part, np.pi * latitude
        x, y = np.cos(angle) * np.cos(rise), np.sin(angle) * np.cos(rise)
        found.append(np.stack([x, y, np.full(count, np.sin(rise))], axis=1))
    return np.concatenate(found)


def _repelled() -> CallableModel:
    """Points that repel each other by the inverse of their distance and stay on the sphere, with drag."""
    many = 20

    def apart(q: Array) -> tuple[Array, Array]:
        """All differences of positions, and the squares of the distances."""
        between = q.reshape(many, 1, 3) - q.reshape(1, many, 3)
        return between, np.sum(between**2, axis=2) + np.diag(np.full(many, np.inf))

    def force(t: float, q: Array, v: Array) -> Array:
        between, square = apart(q)
        return np.asarray(np.sum(between / square[..., None], axis=1).ravel() - v / 2)

    def tangent(t: float, q: Array, v: Array, a: Array, lam: Array) -> tuple[Array, Array]:
        between, square = apart(q)
        once, twice = np.eye(3) / square[..., None, None], 2 / square[..., None, None] ** 2
        pairs = once - twice * between[..., :, None] * between[..., None, :]
        K = pairs.transpose(0, 2, 1, 3).copy()
        each = np.arange(many)
        K[each, :, each, :] = 2 * lam[:, None, None] * np.eye(3) - pairs.sum(axis=1)
        return K.reshape(3 * many, 3 * many), np.eye(3 * many) / 2

    def rows(t: float, q: Array) -> Array:
        return np.asarray(np.einsum("ik,ij->ijk", 2 * q.reshape(many, 3), np.eye(many)).reshape(many, 3 * many))

    return CallableModel(
        ("Rn", 3 * many),
        _on_a_sphere().ravel(),
        np.zeros(3 * many),
        lambda t, q: np.eye(3 * many),
        force,
        constraint=lambda t, q: np.sum(q.reshape(many, 3) ** 2, axis=1) - 1,
        constraint_jacobian=rows,
        constraint_acceleration=lambda t, q, v: -2 * np.sum(v.reshape(many, 3) ** 2, axis=1),
        tangent=tangent,
    )


FEKETE = (  # x, y and z of the first three points after 1000 units of time
    ("-0.4070263380333202", "0.3463758772791802", "0.8451942450030429"),
    ("0.07752934752521549", "-0.2628662719972299", "0.9617122871829146"),
    ("0.7100577833343567", "0.1212948055586120", "0.6936177005172217"),
)


@case(
    "fekete",
    title="twenty points on a sphere that repel each other and come to rest: three of them after 1000 units of time",
    source="Mazzia and Magherini 2008, Test Set for IVP Solvers, Fekete problem",
)
def fekete() -> list[Number]:
    """They come to rest where the product of all distances is greatest."""
    tolerance = 1e-8
    q = integrate(_repelled(), "radau5", t_end=1000.0, rtol=tolerance, atol=tolerance).q[-1]
    return [
        Number(f"point {i + 1}, {axis}", printed[k], float(q[3 * i + k]), tolerance, "the tolerance of our run")
        for i, printed in enumerate(FEKETE)
        for k, axis in enumerate("xyz")
    ]
