"""The names of methods, joints and formulations as types, from which editors complete them."""

from __future__ import annotations

from typing import Literal

Explicit = Literal["euler", "midpoint", "rk33", "rk44", "rk67", "ode23", "dopri5", "dop853"]
HalfExplicit = Literal["herk2", "herk3", "herk4", "herk5"]
Implicit = Literal["genalpha", "newmark", "hht", "radau3", "radau5"]
Conserving = Literal["eml", "reml", "null_eml", "mpl", "emh", "mph"]
LowerPair = Literal["revolute", "prismatic", "cylindrical", "universal", "planar", "spherical"]
Other = Literal["inline", "rigid", "distance", "free"]
Lie = Literal["R3xSO3", "R3xS3", "R3xRV", "SE3", "S3R3"]
Classical = Literal["euler_parameters", "euler_parameters_omega", "tait_bryan", "tait_bryan_omega", "minimal"]

# any other string is accepted here, as callers compute names, and refused when it is used
Method = Explicit | HalfExplicit | Implicit | Conserving | str
JointName = LowerPair | Other | str
FormulationName = Lie | Classical | str
