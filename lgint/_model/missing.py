"""What stands for a function that a file or a pickle could not hold."""

from __future__ import annotations

from lgint._args import Array


class MissingFunctionError(RuntimeError):
    """A function was called that could not be saved to a file."""


class MissingFunction:
    """Replaces a function that could not be saved; raises when it is called."""

    def __init__(self, what: str, kind: str) -> None:
        self.what, self.kind = what, kind

    def __call__(self, *args: object) -> Array:
        """Raises MissingFunctionError, a RuntimeError."""
        raise MissingFunctionError(f"{self.what} is {self.kind} and was not saved; rebuild the model to run it")


def missing(what: str, compiled: str | None = None) -> MissingFunction:
    """What stands for a Python function, or for a compiled one of this name."""
    return MissingFunction(what, f"the compiled function {compiled!r}" if compiled else "a Python function")
