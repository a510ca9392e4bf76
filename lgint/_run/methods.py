"""The rows of the methods, read from the core once."""

from __future__ import annotations

import functools
from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import Any, Final

import numpy as np

from lgint import _core

ROWS: Final[dict[str, dict[str, Any]]] = {row["name"]: row for row in _core.METHODS}
OPTIONS: Final = {option["name"] for row in ROWS.values() for option in row["options"]}


@functools.cache
def defaults(method: str) -> Mapping[str, Any]:
    """The defaults of a method's options by name; None where the option's text says what happens without a value."""
    return MappingProxyType({option["name"]: option["default"] for option in ROWS[method]["options"]})


@functools.cache
def control_options(method: str) -> list[str]:
    """Options that only error control uses: the rows from rtol on."""
    names = [*defaults(method)]
    return names[names.index("rtol") :] if "rtol" in names else []


def contradicted(options: Mapping[str, Any], given: Mapping[str, Any], names: Collection[str]) -> list[str]:
    """Those of these options whose given values differ from the ones in `options`."""
    return [name for name in names if name in given and name in options and given[name] != options[name]]


def shown_options(method: str, options: Mapping[str, Any]) -> str:
    """The options that are not at their defaults, as text."""
    usual = defaults(method) if method in ROWS else {}
    return ", ".join(
        f"{name}={value!r}"
        for name, value in options.items()
        if name not in usual or not np.array_equal(value, usual[name])
    )
