"""Runs cases, prints reference, our number and their difference line by line, and writes them as a table."""

from __future__ import annotations

import csv
import sys
import time
import traceback
from collections.abc import Iterator, Sequence
from pathlib import Path

from lgint._validation.case import Case, Number

HEAD = ("case", "title", "source", "published", "number", "reference", "here", "difference", "verdict", "why")
FILE = "validation.csv"


def run(cases: Sequence[Case], out: Path) -> int:
    """Runs the cases one by one and returns the exit status: 1 if one of them failed or differs."""
    out.mkdir(parents=True, exist_ok=True)
    rows: list[list[str]] = []
    bad: list[str] = []
    for row in cases:
        begin = time.process_time()
        numbers = _numbers(row)
        print(f"{row.name}: {row.title} ({row.source}), {time.process_time() - begin:.1f} s")
        for number in numbers:
            print(f"  {line(number)}")
        rows += [cells(row, number) for number in numbers]
        if not numbers or not all(number.holds for number in numbers):
            bad.append(row.name)
    _write(rows, out / FILE)
    print(f"{len(cases) - len(bad)} of {len(cases)} cases agree{': not ' + ', '.join(bad) if bad else ''}")
    return int(bool(bad))


def _numbers(row: Case) -> Sequence[Number]:
    """The numbers of a case; none, after its traceback, if it fails."""
    try:
        return row.run()
    except Exception:
        print(traceback.format_exc(), file=sys.stderr)
        return ()


def line(number: Number) -> str:
    """A number of a case in one line."""
    reason = f" ({number.why})" if number.why else ""
    text = f"{number.what}: {number.reference}, here {ours(number)}, difference {number.difference:.1e}"
    return f"{verdict(number)}: {text}{reason}"


def verdict(number: Number) -> str:
    """In one or two words."""
    if not number.holds:
        return "differs"
    return "reference is wrong" if number.wrong else "agrees"


def ours(number: Number) -> str:
    """Our number with one significant digit more than the printed one."""
    digits = number.reference.lower().partition("e")[0].replace(".", "").lstrip("+-0")
    return f"{number.ours:.{max(len(digits), 1) + 1}g}"


def cells(row: Case, number: Number) -> list[str]:
    """The line of the table."""
    case = [row.name, row.title, row.source, "yes" if row.published else "no"]
    return [
        *case,
        number.what,
        number.reference,
        ours(number),
        f"{number.difference:.1e}",
        verdict(number),
        number.why,
    ]


def _write(rows: Sequence[Sequence[str]], path: Path) -> None:
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([HEAD, *rows])


def read(path: Path) -> Iterator[dict[str, str]]:
    """The lines of a table."""
    with path.open(newline="") as file:
        yield from csv.DictReader(file)
