"""Samples of parameters: runs for a sweep, drawn from ranges and distributions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from lgint._args import Array, array, shown
from lgint._run.integrate import count


def sample(parameters: Mapping[str, Any], n: int, *, engine: Any = None, seed: int = 0) -> list[dict[str, Any]]:
    """Draws `n` runs for `lgint.sweep`.

    Parameters
    ----------
    parameters : dict
        By name: a range (low, high), whose ends may be vectors; or a distribution of `scipy.stats` with its parameters
        (anything that has a function `ppf`).
    n : int
        Number of runs.
    engine : optional
        A class that draws points in the unit cube: an engine of `scipy.stats.qmc`, such as ``qmc.Sobol`` or
        ``qmc.LatinHypercube``. Default: independent random numbers.
    seed : int
        The same seed gives the same runs.

    Returns
    -------
    list of dict
        The parameters of each run by name.

    Raises
    ------
    ValueError
        For a number of runs below one, an engine that is not a class, and parameters that are neither a range nor a
        distribution.
    """
    if not isinstance(parameters, Mapping):
        raise ValueError(f"parameters: ranges or distributions by name expected, got {shown(parameters)}")
    count("n", n)
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0:
        raise ValueError(f"seed: a whole number >= 0 expected, got {shown(seed)}")
    if not (engine is None or isinstance(engine, type)):
        raise ValueError(f"engine: a class of scipy.stats.qmc, such as qmc.Sobol, expected, got {shown(engine)}")
    draws = {name: _draw(name, given) for name, given in parameters.items()}
    d = sum(int(np.prod(shape)) for shape, _ in draws.values())
    rng = np.random.default_rng(seed)
    cube = rng.random((n, d)) if engine is None else engine(d, rng=rng).random(n)
    columns: dict[str, Any] = {}
    first = 0
    for name, (shape, quantile) in draws.items():
        size = int(np.prod(shape))
        columns[name] = quantile(cube[:, first : first + size].reshape(n, *shape))
        first += size
    return [{name: _value(values[i]) for name, values in columns.items()} for i in range(n)]


def _draw(name: str, given: Any) -> tuple[tuple[int, ...], Any]:
    """The shape of a value, and the function that turns uniform numbers (n, ...) into values (n, ...)."""
    if hasattr(given, "ppf"):
        return (), given.ppf
    if not isinstance(given, (tuple, list)) or len(given) != 2:
        raise ValueError(f"{name}: a range (low, high) or a distribution expected, got {shown(given)}")
    low, high = (array(f"{end} of {name}", value) for end, value in zip(("low", "high"), given, strict=True))
    if () not in (low.shape, high.shape) and low.shape != high.shape:
        raise ValueError(f"{name}: low and high of the same shape expected, got {low.shape} and {high.shape}")
    low, high = np.broadcast_arrays(low, high)

    def between(u: Array) -> Array:
        values: Array = low + u * (high - low)
        return values

    return low.shape, between


def _value(value: Any) -> Any:
    return value if np.ndim(value) else float(value)
