"""The names of methods, their options, joints and formulations as types, from which editors complete them."""

from __future__ import annotations

from typing import Literal, TypedDict

from numpy.typing import ArrayLike

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


class MethodOptions(TypedDict, total=False):
    """The options of all methods; `method_info` says which of them a method has, with their defaults and meaning."""

    project: Literal["none", "position", "velocity", "both"] | None
    rtol: ArrayLike
    atol: ArrayLike
    first_step: float
    max_step: float
    min_step: float
    safety: float
    max_increase: float
    max_decrease: float
    control: Literal["I", "PI", "predictive", "paper", "none"]
    first_stage: Literal["consistent", "printed"]
    rho_inf: float
    sigma: float | Literal["optimal"]
    index: int | Literal["stabilized"]
    form: Literal["exact", "printed", "printed_half"]
    predictor: Literal["extrapolate", "plain"]
    newton: Literal["full", "modified", "auto"]
    renew_after: int
    tangent_terms: Literal["all", "force"]
    tangent_operator: bool
    scaling: bool
    newton_rtol: float
    newton_atol: float
    max_iter: int
    retry: int
    alpha: float
    modified: bool | None
    transport: bool | None
    sweeps: Literal["auto", "splitting", "eigenbasis"]
    equivariant: bool
    guess: Literal["euler", "previous", "extrapolate"]
    hamiltonian: Literal["polynomial", "exact", "published"]
