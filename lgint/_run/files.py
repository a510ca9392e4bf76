"""Files of trajectories: named arrays and a JSON text, in NumPy's .npz format; nothing in them is ever executed."""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from os import PathLike
from typing import IO, TYPE_CHECKING, Any, Final

import numpy as np

from lgint import _core
from lgint._args import Array, path_of, shown
from lgint._model.compiled import CompiledFunction
from lgint._model.missing import MissingFunction
from lgint._run import older

if TYPE_CHECKING:
    from zipfile import ZipFile, ZipInfo

FORMAT: Final = 5
_STATE: Final = "|".join(name for name in _core.COLUMNS if name not in ("extra", "curve"))
_MEMBER: Final = re.compile(
    rf"((end_|knots_)?({_STATE})|knots_(extra|curve)|about|carry|(saved|extra)_\w+|[tqv]_events_\d+)\.npy"
)
_IN_TIME: Final = ("load", "motion", "reference")  # entries that may hold a function of time
_FUNCTION: Final = {"lgint": "function"}  # replaces a function, which cannot be saved; with the name of a compiled one


def path_for(path: object, suffixes: Sequence[str], others: str) -> str:
    """The argument `path` as text with one of these suffixes, or none; `others` says what writes other formats."""
    text = path_of(path)
    suffix = os.path.splitext(text)[1].lower()
    if suffix and suffix not in suffixes:
        ends = " or ".join(filter(None, (", ".join(suffixes[:-1]), suffixes[-1])))
        raise ValueError(f"path: a name that ends in {ends} expected, got {shown(text)}; {others}")
    return text


def write(path: str | PathLike[str], about: Mapping[str, Any], arrays: Mapping[str, Array]) -> None:
    """Writes the file completely or not at all: when it is complete, a temporary file in the folder replaces `path`."""
    text = np.array(text_of(about))
    with replacing(os.path.realpath(path_of(path))) as file:
        np.savez(file, allow_pickle=False, about=text, **arrays)


def read(path: str | PathLike[str]) -> tuple[dict[str, Any], dict[str, Array]]:
    """Reads what `write` wrote, with `MissingFunction` for functions; any defect of the file raises ValueError."""
    import zipfile

    with open(path, "rb") as file, defects(path):
        with zipfile.ZipFile(file) as archive:
            members = archive.infolist()
            _check_members(members, os.fstat(file.fileno()).st_size)
            arrays = {info.filename.removesuffix(".npy"): _array(archive, info) for info in members}
        return about_of(str(arrays.pop("about"))), arrays


def text_of(about: Mapping[str, Any]) -> str:
    """The description in a file as JSON text, with the file's format."""
    return json.dumps({"format": FORMAT, **about}, default=_plain)


def load_text(text: str) -> dict[str, Any]:
    """The contents of the text in the present format; ValueError if its own format is unknown."""
    about = json.loads(text)
    found = about.get("format") if isinstance(about, dict) else None
    if found not in (older.FORMAT, FORMAT):
        raise ValueError(f"its format is {found}; this version reads the formats {older.FORMAT} and {FORMAT}")
    return {**older.updated(about), "format": FORMAT} if found == older.FORMAT else about


def about_of(text: str) -> dict[str, Any]:
    """The contents of the text, with `MissingFunction` for functions."""
    about: dict[str, Any] = _with_functions(load_text(text), "")
    return about


@contextmanager
def defects(path: str | PathLike[str]) -> Iterator[None]:
    """Turns any exception while a file is read into a ValueError with its path."""
    try:
        yield
    except Exception as error:
        import zipfile

        if isinstance(error, zipfile.BadZipFile):
            what = "it is not an .npz file, or it is incomplete"
        else:
            what = f"it has no {error}" if isinstance(error, KeyError) else f"{error}"
        raise ValueError(f"{os.fsdecode(path)}: not a trajectory saved by this version of lgint: {what}") from error


def _check_members(members: Sequence[ZipInfo], size: int) -> None:
    """ValueError for members that `write` does not write, before any of them is read."""
    from zipfile import ZIP_STORED

    names = [info.filename for info in members]
    for info in members:
        if not _MEMBER.fullmatch(info.filename) or names.count(info.filename) > 1:
            raise ValueError(f"{shown(info.filename)} is not a part of a run")
        if info.compress_type != ZIP_STORED:
            raise ValueError(f"{info.filename} is compressed; arrays of runs never are")
    if sum(info.file_size for info in members) > size:
        raise ValueError("its arrays are larger than the file")


def _array(archive: ZipFile, info: ZipInfo) -> Array:
    """Reads one array of numbers or text, never of objects, whose size must be that of the file's data."""
    with archive.open(info) as member:
        if np.lib.format.read_magic(member) != (1, 0):
            raise ValueError(f"{info.filename} is not an array")
        shape, fortran, dtype = np.lib.format.read_array_header_1_0(member)
        size = math.prod(shape) * dtype.itemsize
        if dtype.kind not in "fU" or fortran or info.file_size != member.tell() + size:
            raise ValueError(f"{info.filename} does not have the expected type or size")
        array = np.empty(math.prod(shape), dtype)
        member.readinto(array.view(np.uint8))  # type: ignore[attr-defined]
        return array.reshape(shape)


@contextmanager
def replacing(target: str) -> Iterator[IO[bytes]]:
    """A new file that replaces `target` when it is complete. A device or a pipe is written to directly."""
    if os.path.exists(target) and not os.path.isfile(target):
        with open(target, "wb") as file:
            yield file
        return
    import secrets
    import shutil

    temporary = f"{target}.{secrets.token_hex(4)}.part"
    try:
        with open(temporary, "xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if os.path.exists(target):
            shutil.copymode(target, temporary)
        os.replace(temporary, target)
        _sync_folder(os.path.dirname(target))
    except BaseException:
        if os.path.exists(temporary):
            os.unlink(temporary)
        raise


def _sync_folder(path: str) -> None:
    """Writes the names of a folder's files to the disk, if the system can do so."""
    if os.name == "posix":
        folder = os.open(path or ".", os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


# ---- what JSON cannot hold ----


def _plain(value: object) -> object:
    """A value in a form that JSON can hold: arrays become lists, and functions a placeholder."""
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    if isinstance(value, CompiledFunction):
        return {**_FUNCTION, "compiled": value.name}
    if isinstance(value, MissingFunction) and value.compiled is not None:
        return {**_FUNCTION, "compiled": value.compiled}
    if callable(value):
        return _FUNCTION
    raise TypeError(f"{value!r} cannot be saved")


def _with_functions(value: Any, owner: str) -> Any:
    """The record with a `MissingFunction` for every placeholder; `owner` is the name of the entry that contains it."""
    if isinstance(value, list):
        return [_entry(owner, item, owner) for item in value] if _nested(value) else value
    if not isinstance(value, dict):
        return value
    return {key: _entry(key, item, owner) for key, item in value.items()}


def _entry(key: str, value: Any, owner: str) -> Any:
    if isinstance(value, dict) and _FUNCTION.items() <= value.items():
        what = f"the {key} of {owner!r}" if key in ("function", "tangent") else repr(key)
        return MissingFunction(what, value.get("compiled"))
    return _with_functions(value, owner if key in _IN_TIME else key)


def _nested(value: list[Any]) -> bool:
    return any(isinstance(item, (list, dict)) for item in value)
