"""The rows of the methods, read from the core once."""

from __future__ import annotations

from typing import Any, Final

from lgint import _core

ROWS: Final[dict[str, dict[str, Any]]] = {row["name"]: row for row in _core.METHODS}
OPTIONS: Final = {option["name"] for row in ROWS.values() for option in row["options"]}
