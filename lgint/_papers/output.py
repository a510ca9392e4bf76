"""Files of an artifact, and the table of verdicts."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from itertools import zip_longest
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from lgint._papers.claims import Claim
from lgint._papers.pictures import Picture
from lgint._papers.registry import Artifact, Result

HEAD = ("paper", "artifact", "run", "verdict", "claim", "in the paper", "here", "why")


FORMATS = ("png", "svg", "pdf")


def write(artifact: Artifact, result: Result, folder: Path, formats: Sequence[str] = FORMATS[:1]) -> None:
    """Writes the CSV, and the picture in these formats if there is one, as `folder`/paper/name.*"""
    base = folder / artifact.paper
    base.mkdir(parents=True, exist_ok=True)
    _write_columns(base / f"{artifact.name}.csv", result.columns)
    if result.picture is not None:
        _draw(result.picture, artifact.ours, [base / f"{artifact.name}.{suffix}" for suffix in formats])


def _write_columns(path: Path, columns: Mapping[str, ArrayLike]) -> None:
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip_longest(*([_cell(x) for x in np.atleast_1d(values)] for values in columns.values())))


def _cell(value: object) -> object:
    return f"{value:.10g}" if isinstance(value, (float, np.floating)) else value


def _draw(picture: Picture, ours: str, paths: Sequence[Path]) -> None:
    from matplotlib import rc_context

    from lgint._run import plot

    # equal runs write equal files
    with plot.style(), rc_context({"svg.hashsalt": "lgint"}):
        figure = plot.Picture(figsize=picture.size, layout="constrained")
        picture.draw(figure)
        if ours:
            figure.supxlabel(f"ours: {ours}", fontsize=7, color="0.4", wrap=True)
        for path in paths:
            dated = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}
            figure.savefig(path, metadata=dated.get(path.suffix))


def update_verdicts(path: Path, run: str, made: Mapping[str, Sequence[Claim]]) -> None:
    """Writes the claims of these artifacts, by key, into a table that keeps the rows of other artifacts."""
    rows: list[list[str]] = [row for row in _rows(path) if f"{row[0]}/{row[1]}" not in made]
    for key, claims in made.items():
        rows += [[*key.split("/"), run, c.verdict, c.text, c.paper, c.ours, c.why] for c in claims]
    rows.sort(key=lambda row: row[:2])
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(HEAD)
        writer.writerows(rows)


def _rows(path: Path) -> list[list[str]]:
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return list(csv.reader(file))[1:]
