"""Texts that stand for values: equal values have the same text, in every process and on every machine."""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from lgint._model.model import System


def key_of(value: Any) -> str:
    """A text for numbers, strings, arrays, lists, dicts, functions and models."""
    return json.dumps(_plain(value), sort_keys=True)


def digest(value: Any) -> str:
    """A short text for a long one."""
    return hashlib.sha256(key_of(value).encode()).hexdigest()


def _plain(value: Any) -> Any:
    """What JSON can hold, which writes every bit of a number; 1 and 1.0 are the same."""
    if isinstance(value, (np.ndarray, np.generic)):
        return _plain(value.tolist())
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return int(value) if value.is_integer() else value
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, Mapping):
        return {str(name): _plain(item) for name, item in value.items()}
    if isinstance(value, System):
        return {"model": type(value).__name__, "record": _plain(value.record())}
    if isinstance(value, functools.partial):
        return {"function": _plain(value.func), "arguments": [_plain(value.args), _plain(value.keywords)]}
    return f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', type(value).__qualname__)}"
