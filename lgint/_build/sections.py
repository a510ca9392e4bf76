"""Cross-sections of rods: stiffness, inertia and damping from a shape and a material."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lgint._args import Array, choice, number


@dataclass(frozen=True, eq=False)
class Section:
    """A cross-section for `ModelBuilder.add_rod`. The directors d1 and d2 are its principal axes, d3 is normal to it.

    Attributes
    ----------
    stiffness : ndarray, shape (6,)
        Against shear along d1 and d2 and stretch (N), bending about d1 and d2 and torsion (N m^2).
    inertia : ndarray, shape (4,)
        Mass per length (kg/m) and moments of inertia per length about d1, d2 and d3 (kg m).
    damping : ndarray, shape (6,)
        As `add_rod` takes it: half the relaxation time times the stiffness.
    area : float
        m^2.
    """

    stiffness: Array
    inertia: Array
    damping: Array
    area: float


def section(
    shape: str,
    E: float,
    G: float,
    rho: float,
    *,
    radius: float | None = None,
    inner_radius: float | None = None,
    width: float | None = None,
    height: float | None = None,
    relaxation: float = 0.0,
) -> Section:
    """Stiffness and inertia of a cross-section of one material.

    Parameters
    ----------
    shape : str
        "circle" (radius), "tube" (radius, inner_radius) or "rectangle" (width along d1, height along d2).
    E, G : float
        Young's modulus and shear modulus, Pa.
    rho : float
        Density, kg/m^3.
    radius, inner_radius, width, height : float
        m; those that the shape has.
    relaxation : float
        Time tau of a viscous part of the stress, s: stress = stiffness (strain + tau rate of strain).

    Returns
    -------
    Section
        Shear stiffness has the correction of Cowper (1966), torsion of a rectangle the series of Saint-Venant.

    Raises
    ------
    ValueError
        For an unknown shape, dimensions that it lacks or does not have, numbers that are not positive, and results
        beyond the range of numbers.
    """
    needed = {"circle": ("radius",), "tube": ("radius", "inner_radius"), "rectangle": ("width", "height")}
    given = {"radius": radius, "inner_radius": inner_radius, "width": width, "height": height}
    sizes = [_size(shape, name, given[name]) for name in needed[choice("shape of a section", shape, needed)]]
    for name, value in given.items():
        if value is not None and name not in needed[shape]:
            raise ValueError(f"section {shape!r} takes no {name}, only {' and '.join(needed[shape])}")
    young, shear = number("E", E, positive=True), number("G", G, positive=True)
    poisson = young / (2 * shear) - 1
    shaped = _rectangle if shape == "rectangle" else _round
    density, time = number("rho", rho, positive=True), number("relaxation", relaxation, nonnegative=True)
    with np.errstate(over="ignore", under="ignore", invalid="ignore", divide="ignore"):
        area, I1, I2, torsion, correction = shaped(sizes, poisson)
        stiffness = np.array([correction * shear * area] * 2 + [young * area, young * I1, young * I2, shear * torsion])
        inertia = density * np.array([area, I1, I2, I1 + I2])
        damping = 0.5 * time * stiffness
    numbers = np.concatenate([stiffness, inertia])
    if not ((numbers > 0) & np.isfinite(numbers)).all() or not np.isfinite(damping).all():
        used = ", ".join(f"{name}={given[name]!r}" for name in needed[shape])
        raise ValueError(
            f"section {shape!r}: the stiffness {stiffness.tolist()} or the inertia {inertia.tolist()} is beyond the "
            f"range of numbers; give other sizes than {used}, or other E, G, rho or relaxation"
        )
    return Section(stiffness, inertia, damping, float(area))


def _size(shape: str, name: str, value: float | None) -> np.float64:
    if value is None:
        raise ValueError(f"section {shape!r} needs a {name}")
    size: np.float64 = np.float64(number(name, value, positive=True))  # whose powers overflow to infinity
    return size


def _round(sizes: Sequence[np.float64], nu: float) -> tuple[float, float, float, float, float]:
    """Area, second moments about d1 and d2, torsion constant and shear correction of a circle or a tube."""
    radius, inner = (*sizes, np.float64(0.0))[:2]
    if inner >= radius:
        raise ValueError(f"inner_radius: less than the radius {radius:g} expected, got {inner:g}")
    second = np.pi / 4 * (radius**4 - inner**4)
    m = (inner / radius) ** 2
    correction = 6 * (1 + nu) * (1 + m) ** 2 / ((7 + 6 * nu) * (1 + m) ** 2 + (20 + 12 * nu) * m)
    return np.pi * (radius**2 - inner**2), second, second, 2 * second, correction


def _rectangle(sizes: Sequence[np.float64], nu: float) -> tuple[float, float, float, float, float]:
    """The same numbers for a rectangle."""
    width, height = sizes
    long, short = max(width, height), min(width, height)
    odd = np.arange(1, 2000, 2)
    series = np.sum(np.tanh(odd * np.pi * long / (2 * short)) / odd**5)
    torsion = long * short**3 * (1 / 3 - 64 * short / (np.pi**5 * long) * series)
    correction = 10 * (1 + nu) / (12 + 11 * nu)
    return width * height, width * height**3 / 12, height * width**3 / 12, float(torsion), correction
