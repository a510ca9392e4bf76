"""A cantilever that an end moment rolls up into a ring."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from lgint._args import array, number
from lgint._build.builder import ModelBuilder
from lgint._model.model import Model
from lgint.models._registry import benchmark


@benchmark("tumiotto2024 4.1; Simo and Vu-Quoc 1986")
def roll_up(
    *,
    formulation: str = "S3R3",
    edges: int = 8,
    length: float = 10.0,
    rhoA: float = 1.0,
    rhoJ: ArrayLike = (10.0, 10.0, 10.0),
    shear_stiffness: ArrayLike = 1e4,
    bending_stiffness: ArrayLike = 500.0,
    damping: ArrayLike = 100.0,
    constraints: str | None = "kirchhoff",
) -> Model:
    """A clamped rod that an end moment rolls up into a ring.

    The rod "rod" lies along x and is clamped at "node0"; from t = 0 on, the moment 2 pi C_K / L about y acts at its
    free end.

    It comes to rest as a closed ring, where its potential energy is 2 pi^2 C_K / L. `bending_stiffness=5e4` gives the
    stiffer rod of the paper's Fig. 12.

    Parameters
    ----------
    formulation : str
        Formulation of the nodes "node1" ...; see `ModelBuilder.add_body`.
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
        Stiffness C_K against bending about d1 and d2 and against torsion, N m^2.
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
    K = np.broadcast_to(array("bending_stiffness", bending_stiffness, (), (3,)), (3,))
    builder = ModelBuilder()
    rod = builder.add_rod(
        "rod",
        start=(0.0, 0.0, 0.0),
        end=(span, 0.0, 0.0),
        edges=edges,
        stiffness=[*np.broadcast_to(array("shear_stiffness", shear_stiffness, (), (3,)), (3,)), *K],
        inertia=[number("rhoA", rhoA, positive=True), *array("rhoJ", rhoJ, (3,))],
        damping=np.broadcast_to(array("damping", damping, (), (6,)), (6,)),
        constraints=constraints,
        clamped=(0,),
        prefix="",
        formulation=formulation,
    )
    builder.add_force(rod.nodes[-1], torque=(0.0, 2 * np.pi * K[1] / span, 0.0), name="moment")
    return builder.build()
