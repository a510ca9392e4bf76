"""A free rod that is thrown by a force and a moment at its end."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from lgint._args import array, number
from lgint._build.builder import ModelBuilder
from lgint._model.model import Model
from lgint.models._registry import benchmark


@benchmark("tumiotto2024 4.2; Simo and Vu-Quoc 1988")
def flying_spaghetti(
    *,
    formulation: str = "S3R3",
    edges: int = 16,
    length: float = 10.0,
    rhoA: float = 1.0,
    rhoJ: ArrayLike = (10.0, 10.0, 10.0),
    shear_stiffness: ArrayLike = 1e4,
    bending_stiffness: ArrayLike = 500.0,
    damping: ArrayLike = 0.0,
    constraints: str | None = "kirchhoff",
) -> Model:
    """A free rod that is thrown by a force and a moment at its end.

    The rod "rod" leads from (0.6 L, 0, 0) to (0, 0.8 L, 0); the force and the moment act on "node0".

    The force is g(t)/10 along x, and the moment is g(t) (0, -1/2, -1), both in inertial axes; g rises from 0 to 200 at
    t = 2.5 and falls to 0 at t = 5.

    Parameters
    ----------
    formulation : str
        Formulation of the nodes "node0" ...; see `ModelBuilder.add_body`.
    edges : int
        Number of edges.
    length : float
        Length L, m.
    rhoA : float
        Mass per length, kg/m.
    rhoJ : array_like, shape (3,)
        Moments of inertia per length, kg m.
    shear_stiffness : float or array_like, shape (3,)
        Stiffness against shear along d1 and d2 and against stretch, N.
    bending_stiffness : float or array_like, shape (3,)
        Stiffness against bending about d1 and d2 and against torsion, N m^2.
    damping : float or array_like, shape (6,)
        C_d of the stress C (w - w0) + 2 C_d w', N s and N m^2 s.
    constraints : str or None
        "kirchhoff": no shear; "inextensible": neither shear nor stretch; None: no constraints.

    Returns
    -------
    Model
        It starts as described above.
    """
    span = number("length", length, positive=True)
    stiffness = [
        np.broadcast_to(array(name, value, (), (3,)), (3,))
        for name, value in (("shear_stiffness", shear_stiffness), ("bending_stiffness", bending_stiffness))
    ]
    builder = ModelBuilder()
    rod = builder.add_rod(
        "rod",
        start=(0.6 * span, 0.0, 0.0),
        end=(0.0, 0.8 * span, 0.0),
        edges=edges,
        stiffness=np.concatenate(stiffness),
        inertia=[number("rhoA", rhoA, positive=True), *array("rhoJ", rhoJ, (3,))],
        damping=np.broadcast_to(array("damping", damping, (), (6,)), (6,)),
        constraints=constraints,
        prefix="",
        formulation=formulation,
    )
    times, g = (0.0, 2.5, 5.0), np.array([[0.0], [200.0], [0.0]])
    force, torque = (times, g * (0.1, 0.0, 0.0)), (times, g * (0.0, -0.5, -1.0))
    builder.add_force(rod.nodes[0], force=force, torque=torque, name="throw")
    return builder.build()
