"""`Stepper`: a run whose caller chooses the size of every step."""

from __future__ import annotations

from typing import Any

from lgint import _core
from lgint._args import Array, choice, number
from lgint._model.model import System, checked
from lgint._run.methods import ROWS
from lgint._run.options import check_options, inherited
from lgint._run.start import start_of, start_option
from lgint._run.trajectory import Trajectory


class Stepper:
    """One step at a time, of sizes that the caller chooses.

    Parameters
    ----------
    model : Model, CallableModel or LagrangianModel
        What moves; its start is that of the stepper.
    method : str
        One of `lgint.methods()`.
    t0 : float
        Start time, s.
    start : Trajectory or str, optional
        Continue from the end of this run. A name is the option of that name.
    **options
        Of the method.

    Raises
    ------
    ValueError
        For unknown methods and options, and for `rtol` and `atol`: a stepper takes the steps that it is given.
    """

    def __init__(
        self, model: System, method: str, *, t0: float = 0.0, start: Trajectory | str | None = None, **options: Any
    ) -> None:
        choice("method", method, ROWS)
        check_options(method, options, Stepper)
        for name in ("rtol", "atol"):
            if options.get(name) is not None:
                raise ValueError(
                    f"{name}: a Stepper takes the steps it is given; lgint.integrate lets the method choose them"
                )
        start = start_option(start, options)
        state = start_of(checked(model), method, t0, start)
        begin, q, v, memory = state.inheriting(inherited(start, options, own_steps=True))
        self.model = model
        self.method = method
        self._core = _core.Stepper(model.core, method, begin, q, v, memory, options)

    def step(self, h: float) -> None:
        """Advances by one step. A step that fails raises an exception and leaves the state unchanged.

        If the model has kinks inside this interval, several steps are taken, which end on the kinks.

        Parameters
        ----------
        h : float
            Size of the step, s.

        Raises
        ------
        IntegrationError
            If the step fails: `ConvergenceError`, `SingularError` or `StepSizeError`.
        """
        self._core.step(number("h", h))

    def __repr__(self) -> str:
        return f"<lgint.Stepper {self.method}: t = {self.t:g}>"

    @property
    def t(self) -> float:
        """Time, s."""
        return self._core.t

    @property
    def q(self) -> Array:
        """Coordinates (nq,)."""
        return self._core.q

    @property
    def v(self) -> Array:
        """Velocities (nv,)."""
        return self._core.v

    @property
    def vdot(self) -> Array:
        """Accelerations (nv,)."""
        return self._core.vdot

    @property
    def lam(self) -> Array:
        """Multipliers (nc,)."""
        return self._core.lam
