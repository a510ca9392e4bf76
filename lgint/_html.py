"""Tables for notebooks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def table(title: str, head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """An HTML table; cells are shown as their text."""
    lines = ["<table>", f"<caption>{escaped(title)}</caption>"]
    if head:
        lines.append(_row("th", head))
    lines += [_row("td", row) for row in rows]
    return "\n".join([*lines, "</table>"])


def _row(tag: str, cells: Sequence[object]) -> str:
    return "<tr>" + "".join(f"<{tag}>{escaped(str(cell))}</{tag}>" for cell in cells) + "</tr>"


def escaped(text: str) -> str:
    """A text in which HTML finds no tags."""
    from html import escape

    return escape(text)
