"""References in the pages: authors and year, with a link to the page of references."""

import re
from pathlib import Path

LETTERS = {
    r"\"u": "ü",
    r"\"o": "ö",
    r"\ss": "ß",
    r"\&": "&",
    r"\_": "_",
    r"\o": "ø",
    r"\l": "ł",
}
Fields = dict[str, str]
LINE = 120  # columns of a page
MARK = re.compile(r"(?:[-+*=~:]+|#+|\d+[.)])$|[>|]")  # not at the beginning of a line


def entries(bibliography: Path) -> dict[str, Fields]:
    """Return the fields of every entry as plain text, by its key."""
    text = re.sub(r"\n {4,}", " ", bibliography.read_text())  # values of two lines
    found = re.findall(r"^@\w+\{(\w+),\n(.*?)^\}", text, re.MULTILINE | re.DOTALL)
    field = re.compile(r"^\s*(\w+)\s*=\s*\{(.*)\},?$", re.MULTILINE)
    return {key: {n: plain(v) for n, v in field.findall(body)} for key, body in found}


def plain(text: str) -> str:
    """Return a text without the marks of LaTeX, except for formulas."""
    parts = re.split(r"(\$.*?\$)", text)
    return "".join(part if part[:1] == "$" else unmarked(part) for part in parts)


def unmarked(text: str) -> str:
    """Return a text without braces, and with its accented letters and dashes."""
    text = text.replace(r"\"{u}", r"\"u")
    for mark, letter in LETTERS.items():
        text = text.replace(mark, letter)
    return re.sub(r"[{}]", "", text).replace("--", "–")


def papers_in(bibliography: Path) -> dict[str, str]:
    """Return authors and year of every entry, by its key."""
    return {
        key: f"{family_names(fields['author'])} ({fields['year']})"
        for key, fields in entries(bibliography).items()
    }


def family_names(authors: str) -> str:
    """Return "Chung and Hulbert", or "Howell et al." for more than three."""
    *others, last = [name.split(",")[0] for name in authors.split(" and ")]
    if len(others) > 2:
        return f"{others[0]} et al."
    return f"{', '.join(others)} and {last}" if others else last


def reference_list(bibliography: Path) -> str:
    """Return every entry below its key, to which links lead."""
    found = sorted(entries(bibliography).items())
    return "\n".join(
        f"## {key}\n\n{wrapped(reference(fields))}\n" for key, fields in found
    )


def reference(fields: Fields) -> str:
    """Return the text of an entry."""
    authors = fields["author"].replace(" and ", "; ")
    where = fields.get("journal") or fields.get("publisher", "")
    numbered = f"{where} {fields.get('volume', '')}".strip()
    parts = [numbered, fields.get("pages", ""), fields.get("note", "")]
    line = f"{authors} ({fields['year']}). *{fields['title']}*."
    details = ", ".join(part for part in parts if part)
    line += f" {details.rstrip('.')}." if details else ""
    if "doi" in fields:
        line += f" [doi:{fields['doi']}](https://doi.org/{fields['doi']})"
    return line


def cite(reference: str, papers: dict[str, str], folder: str = "") -> str:
    """Return a reference in which every known key and every page is a link."""
    linked = re.sub(r"docs/(\w+)", rf"[\1]({folder}\1.md)", reference or "–")
    return re.sub(
        r"\w+",
        lambda word: citation(word[0], papers, folder) if word[0] in papers else word[0],
        linked,
    )


def citation(key: str, papers: dict[str, str], folder: str = "") -> str:
    """Return authors and year, with a link to the entry."""
    return f"[{papers[key]}]({folder}references.md#{key})"


def wrapped(text: str, indent: str = "") -> str:
    """Return text in lines of at most 120 columns; all but the first are indented.

    No line begins with a mark that would make a list or a heading of it.
    """
    lines: list[list[str]] = [[]]
    for word in text.split():
        if len(" ".join([*lines[-1], word])) + len(indent) <= LINE or not lines[-1]:
            lines[-1].append(word)
            continue
        lines.append([word])
        while MARK.match(lines[-1][0]) and len(lines[-2]) > 1:
            lines[-1].insert(0, lines[-2].pop())
    return f"\n{indent}".join(map(" ".join, lines))
