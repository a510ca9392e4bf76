"""Units of parameters, as far as models and docstrings give them."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from lgint._model.model import Model
from lgint._model.system import System

_TIMES: Final = ("t_end", "h", "t0", "first_step", "max_step", "min_step")
_UNIT: Final = re.compile(r"(?:kg|m|s|N|rad)(?:\^\d)?(?:[ /](?:kg|m|s|N|rad)(?:\^\d)?)*")


def units_of(source: Callable[..., System] | System, names: list[str], given: Mapping[str, str]) -> dict[str, str]:
    """Units by the names of parameters; those in `given` take precedence."""
    known = {name: "s" for name in _TIMES} | _documented(source) | dict(given)
    if isinstance(source, Model):
        known |= {name: source.unit(name) for name in names if name in source.values and name not in known}
    return {name: known[name] for name in names if name in known}


def _documented(source: Any) -> dict[str, str]:
    """Units that the docstring of a function of `lgint.models` gives at the end of a parameter's first sentence."""
    if isinstance(source, System):
        from lgint._model.system import FACTORIES

        source = FACTORIES.get(source.origin["factory"]) if source.origin else None
    found: dict[str, str] = {}
    text = inspect.getdoc(source) or ""
    for names, said in re.findall(r"^(\w[\w, ]*) : .*\n((?:    .*\n?)+)", text, re.MULTILINE):
        sentence = " ".join(said.split()).partition(". ")[0].removesuffix(".").partition(";")[0]
        unit = sentence.rpartition(",")[2].strip()
        if _UNIT.fullmatch(unit):
            found |= dict.fromkeys(names.split(", "), unit)
    return found
