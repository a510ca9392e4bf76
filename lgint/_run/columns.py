"""The columns of a folder: NumPy files to which rows are appended, and which a crash of the machine may shorten."""

from __future__ import annotations

import io
import os
import zlib
from collections.abc import Mapping
from math import prod
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from lgint._args import Array

if TYPE_CHECKING:
    from pathlib import Path

HEADER: Final = 128  # bytes; NumPy leaves room in a header for the number of rows to grow


def header(rows: int, shape: tuple[int, ...]) -> bytes:
    """The first bytes of an .npy file."""
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(file, {"descr": "<f8", "fortran_order": False, "shape": (rows, *shape)})
    assert file.tell() == HEADER
    return file.getvalue()


def row_shape(path: Path) -> tuple[int, ...]:
    """The shape of a row of a column."""
    with open(path, "rb") as file:
        np.lib.format.read_magic(file)
        shape, _, dtype = np.lib.format.read_array_header_1_0(file)
    if dtype != np.float64:
        raise ValueError(f"{path.name} has values of type {dtype}; float64 expected")
    return tuple(shape[1:])


def column(path: Path, rows: int) -> Array:
    """The first `rows` rows of a column, mapped from the disk."""
    shape = (rows, *row_shape(path))
    return np.empty(shape) if 0 in shape else np.memmap(path, np.float64, "r", HEADER, shape)


def checksum(values: Array) -> int:
    """A checksum of the last row of a column."""
    return zlib.crc32(np.ascontiguousarray(values[-1:], dtype=np.float64).tobytes())


def rows_held(folder: Path, rows: int, tails: Mapping[str, int | None]) -> int:
    """How many of these rows all columns hold; `tails` has the checksums of their last rows, None if unknown."""
    return min([rows, *(_rows_of(folder / f"{name}.npy", rows, tail) for name, tail in tails.items())])


def _rows_of(path: Path, rows: int, tail: int | None) -> int:
    """How many of these rows a file has: it may be shorter, or end in zeros where rows were never written."""
    if not path.exists() or not _has_header(path):
        return 0
    width = prod(row_shape(path))
    whole = rows if width == 0 else min(rows, (os.path.getsize(path) - HEADER) // (8 * width))
    if width == 0 or whole == 0:
        return whole
    values = np.memmap(path, np.uint64, "r", HEADER, (whole, width))
    if whole == rows and tail in (None, checksum(values.view(np.float64))):
        return rows
    if tail in (None, checksum(np.zeros((1, width)))):
        return whole
    return min(_rows_before_zeros(values), rows - 1)


def _has_header(path: Path) -> bool:
    with open(path, "rb") as file:
        start = file.read(HEADER)
    return len(start) == HEADER and any(start)


def _rows_before_zeros(values: NDArray[np.uint64]) -> int:
    """The number of rows before the zeros at the end, which may begin in the middle of a row, or of a number.

    A number that has lost bytes lacks its last one, which holds the sign and exponent and is zero only below 1e-306.
    """
    at_once = 4096
    for end in range(len(values), 0, -at_once):
        begin = max(end - at_once, 0)
        (written,) = values[begin:end].any(axis=1).nonzero()
        if len(written):
            last = begin + int(written[-1])
            return last + 1 if values[last, -1] >> 56 else last
    return 0
