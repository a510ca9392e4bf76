"""Links on hinges with stiff, damped drives, to compare methods for stiff systems."""

from __future__ import annotations

from typing import Final

from lgint._build.builder import ModelBuilder
from lgint._build.parts import ground
from lgint._model.model import Model

STIFFNESS: Final = 1e6  # N m/rad
DAMPING: Final = 1e4  # N m s/rad


def stiff_chain(n: int = 10, formulation: str = "R3xSO3") -> Model:
    """Links of two kinds, which hang from one another on hinges, with a stiff, damped drive in every second one."""
    kinds = ((1.0, (0.02, 0.03, 0.02), 0.5), (0.6, (0.01, 0.02, 0.02), 0.4))  # mass, inertia, position of the COM
    builder = ModelBuilder(gravity=(0.0, 0.0, -9.81), formulation=formulation)
    for i in range(n):
        mass, inertia, com = kinds[i % 2]
        link, before = f"link{i + 1}", f"link{i}" if i else ground
        builder.add_body(link, mass=mass, inertia=inertia, position=(i + com, 0.0, 0.0))
        builder.add_joint("revolute", before, link, point=(i, 0, 0), axis=(0, 1, 0), name=f"hinge{i + 1}")
        if i % 2:
            builder.add_joint_drive(f"hinge{i + 1}", stiffness=STIFFNESS, damping=DAMPING)
    return builder.build()
