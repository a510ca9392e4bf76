"""Benchmark models, one file each. Every parameter of the papers is a keyword with the papers' value.

`lgint.models.names()` lists them. Each function returns a `lgint.Model`, or a `lgint.LagrangianModel` if there are no
bodies. A model names its source (`.reference`) and can be made again with other keywords (`.with_parameters`).
"""

from typing import TYPE_CHECKING, NoReturn

from lgint._args import guess
from lgint.models._chaplygin_sleigh import chaplygin_sleigh
from lgint.models._crank_drive_v8 import crank_drive_v8
from lgint.models._flying_spaghetti import flying_spaghetti
from lgint.models._four_bar import four_bar
from lgint.models._free_body import free_body
from lgint.models._heavy_top import heavy_top
from lgint.models._lie_term import lie_term
from lgint.models._mass_spring import mass_spring
from lgint.models._pendulum_chain import pendulum_chain
from lgint.models._puma560 import puma560
from lgint.models._quadruped import quadruped
from lgint.models._registry import get, names, parameters
from lgint.models._robot_arm import robot_arm
from lgint.models._roll_up import roll_up
from lgint.models._rolling_disk import rolling_disk
from lgint.models._rotor import rotor
from lgint.models._single_axis import single_axis
from lgint.models._slider_crank import slider_crank
from lgint.models._spring_pendulum import spring_pendulum
from lgint.models._steady_top import steady_top

__all__ = [
    "chaplygin_sleigh",
    "crank_drive_v8",
    "flying_spaghetti",
    "four_bar",
    "free_body",
    "get",
    "heavy_top",
    "lie_term",
    "mass_spring",
    "names",
    "parameters",
    "pendulum_chain",
    "puma560",
    "quadruped",
    "robot_arm",
    "roll_up",
    "rolling_disk",
    "rotor",
    "single_axis",
    "slider_crank",
    "spring_pendulum",
    "steady_top",
]

if not TYPE_CHECKING:  # with it, type checkers would accept any name

    def __getattr__(name: str) -> NoReturn:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}{guess(name, __all__)}")


def __dir__() -> list[str]:
    return __all__
