"""Benchmark models, one file each. Every parameter of the papers is a keyword with the papers' value.

`lgint.models.names()` lists them; each function returns a `lgint.Model` that knows where it comes from (`.reference`)
and rebuilds itself with other keywords (`.with_parameters`).
"""

from lgint.models._registry import get, names, parameters
from lgint.models.free_body import free_body
from lgint.models.heavy_top import heavy_top
from lgint.models.pendulum_chain import pendulum_chain

__all__ = ["free_body", "get", "heavy_top", "names", "parameters", "pendulum_chain"]
