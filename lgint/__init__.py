"""Lie group time integrators for constrained rotating multibody systems.

It has public names only; `lgint.models`, `lgint.integrate`, `lgint.ModelBuilder` and `lgint.groups` are good ones to
begin with.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from lgint import _built, groups, inertia, modal, models, signatures  # noqa: F401
from lgint._args import guess
from lgint._build.builder import ModelBuilder
from lgint._build.dh import dh_links
from lgint._build.parts import ground
from lgint._build.sections import section
from lgint._core import ConvergenceError, IntegrationError, Interrupted, SingularError, StepSizeError
from lgint._model.callable import CallableModel
from lgint._model.lagrangian import LagrangianModel
from lgint._model.model import Model
from lgint._model.system import FROM_HIGHER_LAYERS as _FROM_HIGHER_LAYERS
from lgint._run.dense import DenseOutput, DenseState
from lgint._run.equilibrium import equilibrium
from lgint._run.events import event
from lgint._run.integrate import integrate, method_info, methods
from lgint._run.stepper import Stepper
from lgint._run.trajectory import Trajectory, load
from lgint._state.outputs import Wrench
from lgint._state.start import state_of  # noqa: F401
from lgint._state.state import State
from lgint._version import VERSION as __version__

if TYPE_CHECKING:
    from lgint._linear.buckling import Buckling, buckling
    from lgint._linear.campbell import Campbell, campbell
    from lgint._linear.linearization import Linearization, linearize
    from lgint._linear.modes import Mode
    from lgint._model.check import check
    from lgint._run.ensemble import Ensemble
    from lgint._run.fit import FitProblem, fit_problem
    from lgint._run.gradient import gradient
    from lgint._sweep.sample import sample
    from lgint._sweep.sweep import sweep
    from lgint._tools.drifts import Drift, drift
    from lgint._tools.results import Comparison, Study
    from lgint._tools.rod_steps import rod_step_limit
    from lgint._tools.study import compare, study

# names whose modules, which few programs need, are imported when they are first used
_LATER = {
    "Buckling": "_linear.buckling",
    "Campbell": "_linear.campbell",
    "Comparison": "_tools.results",
    "Drift": "_tools.drifts",
    "Ensemble": "_run.ensemble",
    "FitProblem": "_run.fit",
    "Linearization": "_linear.linearization",
    "Mode": "_linear.modes",
    "Study": "_tools.results",
    "buckling": "_linear.buckling",
    "campbell": "_linear.campbell",
    "check": "_model.check",
    "compare": "_tools.study",
    "drift": "_tools.drifts",
    "fit_problem": "_run.fit",
    "gradient": "_run.gradient",
    "linearize": "_linear.linearization",
    "rod_step_limit": "_tools.rod_steps",
    "sample": "_sweep.sample",
    "study": "_tools.study",
    "sweep": "_sweep.sweep",
}

__all__ = [
    "Buckling",
    "CallableModel",
    "Campbell",
    "Comparison",
    "ConvergenceError",
    "DenseOutput",
    "DenseState",
    "Drift",
    "Ensemble",
    "FitProblem",
    "IntegrationError",
    "Interrupted",
    "LagrangianModel",
    "Linearization",
    "Mode",
    "Model",
    "ModelBuilder",
    "SingularError",
    "State",
    "StepSizeError",
    "Stepper",
    "Study",
    "Trajectory",
    "Wrench",
    "__version__",
    "buckling",
    "campbell",
    "check",
    "compare",
    "dh_links",
    "drift",
    "equilibrium",
    "event",
    "fit_problem",
    "gradient",
    "ground",
    "groups",
    "inertia",
    "integrate",
    "linearize",
    "load",
    "method_info",
    "methods",
    "modal",
    "models",
    "rod_step_limit",
    "sample",
    "section",
    "signatures",
    "study",
    "sweep",
]


def _steady_rotation(*arguments: Any) -> Trajectory:
    from lgint._linear.rotation import steady_rotation

    return steady_rotation(*arguments)


_FROM_HIGHER_LAYERS["steady_rotation"] = _steady_rotation  # for `equilibrium`, which belongs to a lower layer

if not TYPE_CHECKING:  # with it, type checkers would accept any name

    def __getattr__(name: str) -> Any:
        if name in _LATER:
            globals()[name] = value = getattr(import_module(f"lgint.{_LATER[name]}"), name)
            return value
        meant = dict.fromkeys(("simulate", "solve", "solve_ivp", "run", "odeint"), "integrate")
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}{guess(name, __all__, meant)}")


def __dir__() -> list[str]:
    return __all__
