"""Arms on a free body, for benchmarks of trees."""

from __future__ import annotations

import numpy as np

from lgint._build.builder import ModelBuilder
from lgint._model.model import Model


def branched_arm(arms: int = 3, links: int = 10) -> Model:
    """Arms of links on hinges, the axes of which differ, on a body that is free in space."""
    b = ModelBuilder(gravity=(0, 0, -9.81), formulation="minimal")
    rates = np.random.default_rng(1).normal(size=(arms, links))
    b.add_body(
        "root", mass=5.0, inertia=(0.3, 0.4, 0.5), velocity=(0.1, 0.2, 0.3), angular_velocity=(0.5, -0.4, 0.3),
        formulation="R3xSO3",
    )  # fmt: skip
    for arm, angle in enumerate(2 * np.pi * np.arange(arms) / arms):
        along, before = np.array([np.cos(angle), np.sin(angle), 0.0]), "root"
        for i in range(links):
            name, point = f"arm{arm}.{i}", (0.2 + 0.1 * i) * along
            b.add_body(name, mass=0.5, inertia=(0.002, 0.003, 0.004), position=point + 0.05 * along)
            axis = np.roll((0.8, 0.0, 0.6), i)
            b.add_joint("revolute", before, name, point=point, axis=axis, rate=rates[arm, i])
            before = name
    return b.build()
