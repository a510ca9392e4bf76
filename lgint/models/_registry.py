"""The registry of benchmark models: a decorator registers a factory and marks its models with the factory's name."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from lgint._args import choice
from lgint._model.system import FACTORIES, System

P = ParamSpec("P")
S = TypeVar("S", bound=System)


def benchmark(reference: str) -> Callable[[Callable[P, S]], Callable[P, S]]:
    """Registers a factory, all of whose parameters are keywords with defaults.

    Its models have its name, its arguments and `reference`, which its help shows as well.
    """

    def register(factory: Callable[P, S]) -> Callable[P, S]:
        defaults = {name: row.default for name, row in inspect.signature(factory).parameters.items()}

        @functools.wraps(factory)
        def signed(*args: P.args, **kwargs: P.kwargs) -> S:
            for name in kwargs:
                choice(f"parameter of {factory.__name__}", name, defaults)
            return factory(*args, **kwargs).with_origin(factory.__name__, {**defaults, **kwargs}, reference)

        signed.__doc__ = f"{inspect.getdoc(factory)}\n\nReferences\n----------\n{reference}"
        FACTORIES[factory.__name__] = signed
        return signed

    return register


def names() -> list[str]:
    """Names of the benchmark models.

    Returns
    -------
    list of str
        In alphabetical order.
    """
    return sorted(FACTORIES)


def get(name: str) -> Callable[..., Any]:
    """The function that makes a benchmark model.

    Parameters
    ----------
    name : str
        One of `names()`.

    Returns
    -------
    function
        It takes the parameters of the model as keywords.

    Raises
    ------
    ValueError
        For an unknown name.
    """
    return FACTORIES[choice("model", name, names())]


def parameters(name: str) -> dict[str, Any]:
    """Keywords of a benchmark model with their defaults.

    Parameters
    ----------
    name : str
        One of `names()`.

    Returns
    -------
    dict
        Defaults by name, in the order of the function.

    Raises
    ------
    ValueError
        For an unknown name.
    """
    return {key: value.default for key, value in inspect.signature(get(name)).parameters.items()}
