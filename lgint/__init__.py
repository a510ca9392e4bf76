"""Lie group time integrators for constrained rotating multibody systems.

Public names only; see `lgint.models`, `lgint.integrate`, `lgint.ModelBuilder` and `lgint.groups` to begin with.
"""

from lgint import groups, modal, models
from lgint._core import ConvergenceError, IntegrationError, Interrupted, SingularError, StepSizeError
from lgint.build import ModelBuilder, ground
from lgint.callable import CallableModel
from lgint.check import check
from lgint.dense import DenseOutput, DenseState
from lgint.integrate import Stepper, integrate, method_info, methods
from lgint.model import Model
from lgint.study import study
from lgint.trajectory import Trajectory, load
from lgint.tree import dh_links

__version__ = "0.1.0"

__all__ = [
    "CallableModel",
    "ConvergenceError",
    "DenseOutput",
    "DenseState",
    "IntegrationError",
    "Interrupted",
    "Model",
    "ModelBuilder",
    "SingularError",
    "StepSizeError",
    "Stepper",
    "Trajectory",
    "check",
    "dh_links",
    "ground",
    "groups",
    "integrate",
    "load",
    "method_info",
    "methods",
    "modal",
    "models",
    "study",
]
