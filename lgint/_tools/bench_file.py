"""The CSV files of benchmarks, to which every run appends."""

from __future__ import annotations

import csv
import datetime
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from lgint._version import VERSION


def append(results: Sequence[Any], out: Path, machine: str, **versions: str) -> None:
    """Appends results, which are dataclasses, to a file with the time, the machine and the versions of the codes."""
    now = datetime.datetime.now().isoformat(timespec="minutes")
    about = {"date": now, "machine": machine, "lgint": VERSION, **versions}
    rows = [{**about, **{key: _text(value) for key, value in asdict(result).items()}} for result in results]
    new = not out.exists()
    out.parent.mkdir(parents=True, exist_ok=True)
    with out.open("a", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        if new:
            writer.writeheader()
        writer.writerows(rows)


def _text(value: object) -> object:
    return f"{value:.4g}" if isinstance(value, float) else value
