"""What stands for a function that a file or a pickle could not hold."""

from __future__ import annotations

from lgint._args import Array


class MissingFunctionError(RuntimeError):
    """A function was called that could not be saved to a file."""


class MissingFunction:
    """Replaces a function that could not be saved; raises when it is called."""

    def __init__(self, what: str, compiled: str | None) -> None:
        self.what = what
        self.compiled = compiled  # name of a compiled function, "" if it has none; None: a Python function

    def __call__(self, *args: object) -> Array:
        """Raises MissingFunctionError, a RuntimeError."""
        kind = "a Python function" if self.compiled is None else f"the compiled function {self.compiled!r}"
        if self.compiled == "":
            kind = "a compiled function without a name"
        raise MissingFunctionError(f"{self.what} is {kind} and was not saved; rebuild the model to run it")
