"""Two masses and two springs in redundant coordinates, with a singular mass matrix."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from lgint._args import Array, array, choice, number
from lgint._model.lagrangian import LagrangianModel
from lgint.models._registry import benchmark

# masses and the factor in the potential
VARIANTS = {"paper": ((1.0, 1.0), 0.25), "code": ((2.0, 1.0), 0.5)}


@benchmark("kinon2024 5.1")
def mass_spring(
    *,
    variant: str = "paper",
    mass: ArrayLike | None = None,
    stiffness: ArrayLike = (1.0, 3.0),
    rest_length: float = 1.0,
    width: float = 0.1,
    elongation: ArrayLike = (0.0, 0.0),
    rate: ArrayLike = (1.0, -1.0),
) -> LagrangianModel:
    """Two masses on springs in redundant coordinates, with a singular mass matrix.

    One mass hangs on a spring, and a second one on a spring that begins at the first mass; q = (x1, q2, x2).

    x1 and x2 are the elongations of the springs, and q2 is the position where the second spring begins. The constraint
    ((q2 - x1)^2 - (rest_length + width)^2) / 2 = 0 ties it to the first mass. The kinetic energy m1 v1^2 / 2 +
    m2 (v2 + v3)^2 / 2 depends on v2 and v3 only through their sum.

    Parameters
    ----------
    variant : str
        "paper": masses (1, 1) and the potential sum of k (x^2 + x^4) / 4, as printed. "code": masses (2, 1) and the
        potential sum of k (x^2 + x^4) / 2, as in the authors' published inputs.
    mass : array_like, shape (2,), optional
        Masses, kg. Default: as `variant` says.
    stiffness : array_like, shape (2,)
        Constants k of the springs, N/m.
    rest_length : float
        Rest length of the first spring, m.
    width : float
        Width of the first mass, m.
    elongation, rate : array_like, shape (2,)
        Elongations of the springs and their rates at the start in m and m/s.

    Returns
    -------
    LagrangianModel
        It starts as described above.
    """
    masses, factor = VARIANTS[choice("variant", variant, VARIANTS)]
    m1, m2 = array("mass", masses if mass is None else mass, (2,))
    k1, k2 = array("stiffness", stiffness, (2,))
    x, rates = array("elongation", elongation, (2,)), array("rate", rate, (2,))
    distance = number("rest_length", rest_length, positive=True) + number("width", width, nonnegative=True)
    M = np.array([[m1, 0.0, 0.0], [0.0, m2, m2], [0.0, m2, m2]])

    def potential(q: Array) -> float:
        energy: float = factor * (k1 * (q[0] ** 2 + q[0] ** 4) + k2 * (q[2] ** 2 + q[2] ** 4))
        return energy

    def potential_gradient(q: Array) -> list[float]:
        return [factor * k1 * (2 * q[0] + 4 * q[0] ** 3), 0.0, factor * k2 * (2 * q[2] + 4 * q[2] ** 3)]

    return LagrangianModel(
        q0=(x[0], x[0] + distance, x[1]),
        v0=(rates[0], rates[0], rates[1]),
        mass=lambda q: M,
        potential=potential,
        constraint=lambda q: [((q[1] - q[0]) ** 2 - distance**2) / 2],
        mass_gradient=lambda q: np.zeros((3, 3, 3)),
        potential_gradient=potential_gradient,
        constraint_jacobian=lambda q: [[q[0] - q[1], q[1] - q[0], 0.0]],
    )
