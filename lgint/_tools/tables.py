"""Tables of results: as text, and for pandas."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pandas import DataFrame


def text(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table as text, whose first column is aligned left and all others right."""
    widths = [max(len(row[i]) for row in (head, *rows)) for i in range(len(head))]
    lines = [title]
    for first, *others in (head, *rows):
        cells = [cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True)]
        lines.append("  ".join([first.ljust(widths[0]), *cells]).rstrip())
    return "\n".join(lines)


def frame(columns: Mapping[str, Any], index: Sequence[str]) -> DataFrame:
    """A data frame of these columns; those named in `index` become its index."""
    try:
        import pandas
    except ImportError as error:
        raise ImportError("to_pandas needs pandas: pip install 'lgint[tables]'") from error
    return pandas.DataFrame(dict(columns)).set_index(list(index))
